/* The public call: checks the request, works out quotas and limits, runs a placer on scratch
 * memory, measures the answer independently, and only then fills the caller's array. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/shardset.h"
#include "model/measures.h"
#include "place/placer.h"

enum { THREADS_MAX = 256 };

double cleave__request_share(const struct cleave__request *request, uint32_t b)
{
    return request->options->target_share ? request->options->target_share[b] : 1;
}

double cleave__request_share_sum(const struct cleave__request *request)
{
    double sum = 0;
    for (uint32_t b = 0; b < request->blocks; b++)
        sum += cleave__request_share(request, b);
    return sum;
}

static double epsilon_of(const struct cleave_partition_options *options, uint32_t c)
{
    return options->epsilons ? options->epsilons[c] : options->epsilon;
}

static enum cleave_status check_options(const struct cleave_hypergraph *h,
                                        const struct cleave_partition_options *o,
                                        struct cleave_error *error)
{
    const enum cleave_status bad = CLEAVE_BAD_ARGUMENT;
    if (o->blocks < 1 || o->blocks > CLEAVE_SHARDS_MAX)
        return cleave_error_set(error, bad, "%u blocks: must be 1 to %d", o->blocks,
                                CLEAVE_SHARDS_MAX);
    for (uint32_t c = 0; c < h->weights; c++) {
        double e = epsilon_of(o, c);
        if (!(e >= 0 && e <= 1e9))
            return cleave_error_set(error, bad, "epsilon is %g: must be 0 or more", e);
    }
    if ((unsigned)o->objective > CLEAVE_SOED)
        return cleave_error_set(error, bad, "unknown objective %d", (int)o->objective);
    if ((unsigned)o->preset > CLEAVE_QUALITY)
        return cleave_error_set(error, bad, "unknown preset %d", (int)o->preset);
    if (o->threads > THREADS_MAX)
        return cleave_error_set(error, bad, "%u threads: at most %d", o->threads, THREADS_MAX);
    for (uint32_t c = 0; o->underweight && c < h->weights; c++) {
        if (!(o->underweight[c] >= 0 && o->underweight[c] <= 1))
            return cleave_error_set(error, bad, "underweight is %g: must be 0 to 1",
                                    o->underweight[c]);
    }
    for (uint32_t b = 0; o->target_share && b < o->blocks; b++) {
        if (!(o->target_share[b] > 1e-100 && o->target_share[b] < 1e100))
            return cleave_error_set(error, bad, "target share of block %u is %g: must be positive",
                                    b, o->target_share[b]);
    }
    for (uint32_t v = 0; o->fixed && v < h->vertices; v++) {
        if (o->fixed[v] != CLEAVE_FREE && (o->fixed[v] < 0 || (uint32_t)o->fixed[v] >= o->blocks))
            return cleave_error_set(error, bad,
                                    "vertex %u is fixed to block %d, but blocks are 0 to %u", v,
                                    o->fixed[v], o->blocks - 1);
    }
    for (uint32_t v = 0; o->warm_start && v < h->vertices; v++) {
        if (o->warm_start[v] >= o->blocks)
            return cleave_error_set(error, bad,
                                    "vertex %u starts in block %u, but blocks are 0 to %u", v,
                                    o->warm_start[v], o->blocks - 1);
    }
    if (!o->warm_start && (o->warm_refine_only || o->migration_budget))
        return cleave_error_set(error, bad,
                                "refining or a migration budget needs an earlier answer to start "
                                "from");
    if (o->migration_budget < 0)
        return cleave_error_set(error, bad, "migration budget is negative");
    for (uint32_t i = 0; i < o->apart_count; i++) {
        for (int j = 0; j < 2; j++) {
            if (o->apart[i][j] >= h->vertices)
                return cleave_error_set(error, bad, "pair %u to keep apart names vertex %u of %u",
                                        i, o->apart[i][j], h->vertices);
        }
        if (o->apart[i][0] == o->apart[i][1])
            return cleave_error_set(error, bad, "vertex %u cannot be kept apart from itself",
                                    o->apart[i][0]);
    }
    return CLEAVE_OK;
}

static void request_free(struct cleave__request *request)
{
    free(request->quota);
    free(request->limit);
    free(request->floor);
}

static enum cleave_status request_init(struct cleave__request *request,
                                       const struct cleave_hypergraph *h,
                                       const struct cleave_partition_options *o,
                                       struct cleave_error *error)
{
    *request = (struct cleave__request){0};
    enum cleave_status status = check_options(h, o, error);
    if (status)
        return status;
    *request = (struct cleave__request){
        .hypergraph = h, .options = o, .blocks = o->blocks, .weights = h->weights};
    size_t cells = (size_t)o->blocks * h->weights;
    request->quota = malloc(cells * sizeof *request->quota);
    request->limit = malloc(cells * sizeof *request->limit);
    if (o->underweight)
        request->floor = malloc(cells * sizeof *request->floor);
    if (!request->quota || !request->limit || (o->underweight && !request->floor)) {
        request_free(request);
        *request = (struct cleave__request){0};
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u blocks", o->blocks);
    }
    double whole = cleave__request_share_sum(request);
    for (uint32_t c = 0; c < h->weights; c++) {
        int64_t total = 0;
        for (uint32_t v = 0; v < h->vertices; v++)
            total += h->vertex_weight[(size_t)v * h->weights + c];
        for (uint32_t b = 0; b < o->blocks; b++) {
            size_t at = (size_t)b * h->weights + c;
            request->quota[at] = cleave__share_of(cleave__request_share(request, b), whole, total);
            request->limit[at] = cleave__block_limit(request->quota[at], epsilon_of(o, c));
            if (request->floor)
                request->floor[at] = cleave__block_floor(cleave__request_share(request, b) / whole,
                                                         total, o->underweight[c]);
        }
    }
    return CLEAVE_OK;
}

/* Fills `result` but `seconds`; `weight` [blocks * W] is left holding the block weights. */
static enum cleave_status measure(const struct cleave__request *request, const uint32_t *block,
                                  int64_t *weight, struct cleave_partition_result *result,
                                  struct cleave_error *error)
{
    const struct cleave_hypergraph *h = request->hypergraph;
    uint32_t k = request->blocks, W = h->weights;
    uint32_t *mark = malloc(k * sizeof *mark);
    if (!mark)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u blocks", k);
    struct cleave_partition_result r = {.balanced = true};
    r.cut = cleave__measure_cut(h, block);
    r.km1 = cleave__measure_km1(h, block, k, mark);
    r.soed = r.cut + r.km1;
    cleave__measure_weights(h, block, k, weight);
    double whole = cleave__request_share_sum(request);
    for (uint32_t c = 0; c < W; c++) {
        double total = 0;
        for (uint32_t b = 0; b < k; b++)
            total += (double)weight[(size_t)b * W + c];
        r.imbalance[c] = total > 0 ? -1 : 0;
        for (uint32_t b = 0; b < k && total > 0; b++) {
            double share = cleave__request_share(request, b) / whole * total;
            double over = (double)weight[(size_t)b * W + c] / share - 1;
            if (over > r.imbalance[c])
                r.imbalance[c] = over;
        }
        for (uint32_t b = 0; b < k; b++) {
            size_t at = (size_t)b * W + c;
            if (weight[at] > request->limit[at] ||
                (request->floor && weight[at] < request->floor[at]))
                r.balanced = false;
        }
    }
    free(mark);
    *result = r;
    return CLEAVE_OK;
}

enum cleave_status cleave_partition_measure(const struct cleave_hypergraph *hypergraph,
                                            const struct cleave_partition_options *options,
                                            const uint32_t *block,
                                            struct cleave_partition_result *result,
                                            struct cleave_error *error)
{
    struct cleave__request request;
    enum cleave_status status = request_init(&request, hypergraph, options, error);
    if (status)
        return status;
    int64_t *weight = malloc((size_t)request.blocks * request.weights * sizeof *weight);
    if (!weight)
        status =
            cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u blocks", request.blocks);
    for (uint32_t v = 0; v < hypergraph->vertices && !status; v++) {
        if (block[v] >= request.blocks)
            status = cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                      "vertex %u is in block %u, but blocks are 0 to %u", v,
                                      block[v], request.blocks - 1);
    }
    if (!status)
        status = measure(&request, block, weight, result, error);
    free(weight);
    request_free(&request);
    return status;
}

/* Tells the first promise that `block` does not keep; CLEAVE_OK when all are kept. */
static enum cleave_status judge(const struct cleave__request *request, const uint32_t *block,
                                const int64_t *weight, struct cleave_error *error)
{
    const struct cleave_hypergraph *h = request->hypergraph;
    const struct cleave_partition_options *o = request->options;
    uint32_t W = request->weights;
    size_t worst = 0;
    double most = 0;
    for (size_t at = 0; at < (size_t)request->blocks * W; at++) {
        int64_t limit = request->limit[at], excess = weight[at] - limit;
        double over = (double)excess / (double)(limit > 0 ? limit : 1);
        if (excess > 0 && over > most) {
            most = over;
            worst = at;
        }
    }
    if (most > 0)
        return cleave_error_set(error, CLEAVE_UNSATISFIABLE,
                                "no balanced placement found: block %zu carries %" PRId64
                                " of weight %zu, %" PRId64 " over its limit %" PRId64
                                "; allow a larger epsilon, fewer blocks or lighter vertices",
                                worst / W, weight[worst], worst % W,
                                weight[worst] - request->limit[worst], request->limit[worst]);
    for (size_t at = 0; request->floor && at < (size_t)request->blocks * W; at++) {
        if (weight[at] < request->floor[at])
            return cleave_error_set(
                error, CLEAVE_UNSATISFIABLE,
                "no balanced placement found: block %zu carries %" PRId64 " of weight %zu, %" PRId64
                " under its lower bound %" PRId64 "; allow a larger underweight, or fewer blocks",
                at / W, weight[at], at % W, request->floor[at] - weight[at], request->floor[at]);
    }
    for (uint32_t i = 0; i < o->apart_count; i++) {
        if (block[o->apart[i][0]] == block[o->apart[i][1]])
            return cleave_error_set(error, CLEAVE_UNSATISFIABLE,
                                    "vertices %u and %u are to be kept apart, but both are in "
                                    "block %u",
                                    o->apart[i][0], o->apart[i][1], block[o->apart[i][0]]);
    }
    if (o->together) {
        /* One representative a number: the numbers are any, so go by a table of first vertices. */
        uint32_t size = 16;
        while (size < 2 * (uint64_t)h->vertices && size < 1u << 31)
            size *= 2;
        uint32_t *first = calloc(size, sizeof *first); /* vertex + 1 */
        if (!first)
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory to judge a placement");
        for (uint32_t v = 0; v < h->vertices; v++) {
            if (!o->together[v])
                continue;
            uint32_t at = (uint32_t)cleave__mix64(o->together[v]) & (size - 1);
            while (first[at] && o->together[first[at] - 1] != o->together[v])
                at = (at + 1) & (size - 1);
            if (!first[at])
                first[at] = v + 1;
            uint32_t u = first[at] - 1;
            if (block[u] != block[v]) {
                free(first);
                return cleave_error_set(error, CLEAVE_UNSATISFIABLE,
                                        "vertices %u and %u are to stay together (group %u), but "
                                        "are in blocks %u and %u",
                                        u, v, o->together[v], block[u], block[v]);
            }
        }
        free(first);
    }
    if (o->migration_budget > 0) {
        int64_t moved = 0;
        for (uint32_t v = 0; v < h->vertices; v++)
            moved += block[v] != o->warm_start[v] ? h->vertex_weight[(size_t)v * W] : 0;
        if (moved > o->migration_budget)
            return cleave_error_set(error, CLEAVE_UNSATISFIABLE,
                                    "fixed vertices and groups force %" PRId64
                                    " of weight to move, past the budget of %" PRId64,
                                    moved, o->migration_budget);
    }
    return CLEAVE_OK;
}

enum cleave_status cleave_partition(const struct cleave_hypergraph *hypergraph,
                                    const struct cleave_partition_options *options, uint32_t *block,
                                    struct cleave_partition_result *result,
                                    struct cleave_error *error)
{
    double start = cleave__clock_s();
    const struct cleave__placer *placer = cleave__placer_find(options->placer);
    if (!placer) {
        char names[300];
        cleave__placer_names(names, sizeof names);
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "no placer '%.100s'; there are: %s",
                                options->placer, names);
    }
    struct cleave__request request;
    enum cleave_status status = request_init(&request, hypergraph, options, error);
    if (status)
        return status;
    uint32_t n = hypergraph->vertices;
    uint32_t *scratch = malloc(((size_t)n + 1) * sizeof *scratch);
    int64_t *weight = malloc((size_t)request.blocks * request.weights * sizeof *weight);
    if (!scratch || !weight)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u vertices", n);
    if (!status)
        status = placer->place(&request, scratch, error);
    struct cleave_partition_result r;
    if (!status)
        status = measure(&request, scratch, weight, &r, error);
    if (!status)
        status = judge(&request, scratch, weight, error);
    if (!status || status == CLEAVE_UNSATISFIABLE) {
        if (n)
            memcpy(block, scratch, n * sizeof *block);
        r.seconds = cleave__clock_s() - start;
        if (result)
            *result = r;
    }
    free(scratch);
    free(weight);
    request_free(&request);
    return status;
}
