/* Vertices one after another; see the header. */
#include "place/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTED_PINS_MAX = 1000, PULSE_EVERY = 1 << 12 };

enum cleave_status cleave__stream_init(struct cleave__stream *stream,
                                       const struct cleave__request *request, uint32_t *block,
                                       struct cleave_error *error)
{
    size_t cells = (size_t)request->blocks * request->weights;
    *stream = (struct cleave__stream){.request = request, .block = block};
    stream->load = malloc(cells * sizeof *stream->load);
    stream->affinity = malloc(request->blocks * sizeof *stream->affinity);
    if (!stream->load || !stream->affinity) {
        cleave__stream_free(stream);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u blocks",
                                request->blocks);
    }
    cleave__stream_forget(stream);
    cleave__stream_rewind(stream);
    return CLEAVE_OK;
}

void cleave__stream_forget(struct cleave__stream *stream)
{
    for (uint32_t v = 0; v < stream->request->hypergraph->vertices; v++)
        stream->block[v] = CLEAVE__UNPLACED;
}

void cleave__stream_free(struct cleave__stream *stream)
{
    free(stream->load);
    free(stream->affinity);
    stream->load = NULL;
    stream->affinity = NULL;
}

void cleave__stream_rewind(struct cleave__stream *stream)
{
    const struct cleave__request *r = stream->request;
    const int32_t *fixed = r->options->fixed;
    memset(stream->load, 0, (size_t)r->blocks * r->weights * sizeof *stream->load);
    for (uint32_t v = 0; fixed && v < r->hypergraph->vertices; v++) {
        if (fixed[v] != CLEAVE_FREE)
            cleave__stream_put(stream, v, (uint32_t)fixed[v]);
    }
}

void cleave__stream_look(struct cleave__stream *stream, uint32_t vertex)
{
    const struct cleave_hypergraph *h = stream->request->hypergraph;
    for (uint32_t b = 0; b < stream->request->blocks; b++)
        stream->affinity[b] = 0;
    for (uint64_t i = h->vertex_offset[vertex]; i < h->vertex_offset[vertex + 1]; i++) {
        uint32_t e = h->incident[i];
        uint64_t begin = h->net_offset[e], end = h->net_offset[e + 1];
        if (end - begin < 2 || end - begin > COUNTED_PINS_MAX)
            continue;
        double worth = (double)h->net_weight[e] / (double)(end - begin - 1);
        for (uint64_t p = begin; p < end; p++) {
            uint32_t b = stream->block[h->pin[p]];
            if (h->pin[p] != vertex && b != CLEAVE__UNPLACED)
                stream->affinity[b] += worth;
        }
    }
}

double cleave__stream_fill(const struct cleave__stream *stream, uint32_t b, const int64_t *whole)
{
    uint32_t W = stream->request->weights;
    double most = 0;
    for (size_t at = (size_t)b * W; at < ((size_t)b + 1) * W; at++) {
        double fill = whole[at] > 0 ? (double)stream->load[at] / (double)whole[at] : 0;
        most = fill > most ? fill : most;
    }
    return most;
}

bool cleave__stream_fits(const struct cleave__stream *stream, uint32_t vertex, uint32_t b)
{
    const struct cleave__request *r = stream->request;
    const int64_t *weight = r->hypergraph->vertex_weight + (size_t)vertex * r->weights;
    for (uint32_t c = 0; c < r->weights; c++) {
        size_t at = (size_t)b * r->weights + c;
        if (stream->load[at] + weight[c] > r->limit[at])
            return false;
    }
    return true;
}

void cleave__stream_put(struct cleave__stream *stream, uint32_t vertex, uint32_t b)
{
    const struct cleave__request *r = stream->request;
    const int64_t *weight = r->hypergraph->vertex_weight + (size_t)vertex * r->weights;
    for (uint32_t c = 0; c < r->weights; c++)
        stream->load[(size_t)b * r->weights + c] += weight[c];
    stream->block[vertex] = b;
}

void cleave__stream_place(struct cleave__stream *stream, uint32_t vertex,
                          cleave__stream_score *score, double factor)
{
    const struct cleave__request *r = stream->request;
    uint32_t best = CLEAVE__UNPLACED, emptiest = 0;
    double most = 0, best_fill = 0, least_fill = 0;
    for (uint32_t b = 0; b < r->blocks; b++) {
        double fill = cleave__stream_fill(stream, b, r->limit);
        if (b == 0 || fill < least_fill) {
            emptiest = b;
            least_fill = fill;
        }
        if (!cleave__stream_fits(stream, vertex, b))
            continue;
        double s = score(stream, b, factor);
        if (best == CLEAVE__UNPLACED || s > most || (s == most && fill < best_fill)) {
            best = b;
            most = s;
            best_fill = fill;
        }
    }
    cleave__stream_put(stream, vertex, best == CLEAVE__UNPLACED ? emptiest : best);
}

enum cleave_status cleave__stream_pass(struct cleave__stream *stream, cleave__stream_score *score,
                                       double factor, struct cleave_error *error)
{
    const struct cleave_partition_options *o = stream->request->options;
    for (uint32_t v = 0; v < stream->request->hypergraph->vertices; v++) {
        if (v % PULSE_EVERY == 0 && o->progress && o->progress->stop && *o->progress->stop)
            return cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
        if (o->fixed && o->fixed[v] != CLEAVE_FREE)
            continue;
        cleave__stream_look(stream, v);
        cleave__stream_place(stream, v, score, factor);
    }
    return CLEAVE_OK;
}

double cleave__stream_ldg(const struct cleave__stream *stream, uint32_t b, double factor)
{
    (void)factor;
    return stream->affinity[b] * (1 - cleave__stream_fill(stream, b, stream->request->limit));
}

double cleave__stream_fennel(const struct cleave__stream *stream, uint32_t b, double factor)
{
    return stream->affinity[b] -
           factor * sqrt(cleave__stream_fill(stream, b, stream->request->quota));
}

double cleave__stream_fennel_price(const struct cleave__stream *stream)
{
    const struct cleave_hypergraph *h = stream->request->hypergraph;
    double m = 0;
    for (uint32_t e = 0; e < h->nets; e++)
        m += (double)h->net_weight[e];
    return h->vertices ? 1.5 * m / h->vertices : 0;
}
