/* Restreaming (Nishimura and Ugander 2013): ten passes of LDG, each seeing where the one before put
 * what has not come yet; then ten of Fennel from scratch, its price of size rising by half from
 * pass to pass. The pass with the lowest objective among the balanced ones is kept: LDG does better
 * where communities are plain, Fennel where they are not. */
#include <stdlib.h>
#include <string.h>

#include "model/measures.h"
#include "place/stream.h"

enum { PASSES = 10 };

static bool is_balanced(const struct cleave__stream *stream)
{
    const struct cleave__request *r = stream->request;
    for (size_t at = 0; at < (size_t)r->blocks * r->weights; at++) {
        if (stream->load[at] > r->limit[at])
            return false;
    }
    return true;
}

static int64_t objective(const struct cleave__request *r, const uint32_t *block, uint32_t *mark)
{
    int64_t cut = cleave__measure_cut(r->hypergraph, block);
    if (r->options->objective == CLEAVE_CUT)
        return cut;
    int64_t km1 = cleave__measure_km1(r->hypergraph, block, r->blocks, mark);
    return r->options->objective == CLEAVE_KM1 ? km1 : cut + km1;
}

enum cleave_status cleave__place_restream(const struct cleave__request *request, uint32_t *block,
                                          struct cleave_error *error)
{
    struct cleave__stream stream;
    size_t n = request->hypergraph->vertices;
    enum cleave_status status = cleave__stream_init(&stream, request, block, error);
    if (status)
        return status;
    uint32_t *best = malloc((n + 1) * sizeof *best);
    uint32_t *mark = malloc(request->blocks * sizeof *mark);
    if (!best || !mark)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %zu vertices", n);
    int64_t least = 0;
    bool balanced = false;
    double price = cleave__stream_fennel_price(&stream);
    for (int pass = 0; pass < 2 * PASSES && !status; pass++) {
        if (pass == PASSES)
            cleave__stream_forget(&stream);
        cleave__stream_rewind(&stream);
        if (pass < PASSES)
            status = cleave__stream_pass(&stream, cleave__stream_ldg, 0, error);
        else
            status = cleave__stream_pass(&stream, cleave__stream_fennel, price, error);
        price *= pass < PASSES ? 1 : 1.5;
        if (status)
            break;
        int64_t cost = objective(request, block, mark);
        bool now = is_balanced(&stream);
        if (pass == 0 || now > balanced || (now == balanced && cost < least)) {
            least = cost;
            balanced = now;
            memcpy(best, block, n * sizeof *best);
        }
    }
    if (!status)
        memcpy(block, best, n * sizeof *block);
    free(best);
    free(mark);
    cleave__stream_free(&stream);
    return status;
}
