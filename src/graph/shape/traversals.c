/* A net for each query: the users it reads. Queries that read the same are one heavier net, found
 * by a hash of the sorted set. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "graph/shape/shape.h"
#include "model/hypergraph.h"

enum { PULSE_EVERY = 1 << 8 };

struct nets {
    CLEAVE_VECTOR(uint64_t) offset;
    CLEAVE_VECTOR(uint32_t) pin;
    CLEAVE_VECTOR(int64_t) weight;
    uint32_t *slot; /* net + 1, or 0; [mask + 1] */
    uint32_t mask;
};

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Adds a net of sorted pins, or one to the weight of the same net. False when memory is out. */
static bool add(struct nets *nets, const uint32_t *pin, uint32_t count)
{
    uint32_t at = (uint32_t)XXH3_64bits(pin, count * sizeof *pin) & nets->mask;
    for (; nets->slot[at]; at = (at + 1) & nets->mask) {
        uint32_t e = nets->slot[at] - 1;
        uint64_t begin = nets->offset.data[e], size = nets->offset.data[e + 1] - begin;
        if (size == count && !memcmp(nets->pin.data + begin, pin, count * sizeof *pin)) {
            nets->weight.data[e]++;
            return true;
        }
    }
    if (!CLEAVE_RESERVE(&nets->pin, nets->pin.count + count) || !CLEAVE_PUSH(&nets->weight, 1) ||
        !CLEAVE_PUSH(&nets->offset, nets->pin.count + count))
        return false;
    memcpy(nets->pin.data + nets->pin.count, pin, count * sizeof *pin);
    nets->pin.count += count;
    nets->slot[at] = (uint32_t)nets->weight.count;
    return true;
}

static enum cleave_status collect(const struct cleave__graph *g, const struct cleave__query *query,
                                  const uint32_t *source, uint32_t sources, struct nets *nets,
                                  const struct cleave_progress *progress,
                                  struct cleave_error *error)
{
    uint32_t size = 64;
    size_t n = (size_t)g->vertices + 1;
    enum cleave_status status = CLEAVE_OK;
    while (size < 2 * (uint64_t)sources && size < 1u << 31)
        size *= 2;
    nets->mask = size - 1;
    nets->slot = calloc(size, sizeof *nets->slot);
    uint32_t *seen = calloc(n, sizeof *seen), *set = malloc(n * sizeof *set);
    if (!nets->slot || !seen || !set || !CLEAVE_PUSH(&nets->offset, 0))
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a net a query");
    for (uint32_t q = 0; q < sources && !status; q++) {
        uint32_t count = cleave__graph_read_set(g, query, source[q], seen, q + 1, set);
        qsort(set, count, sizeof *set, compare);
        if (nets->pin.count + count > INT32_MAX)
            status = cleave_error_set(error, CLEAVE_LIMIT,
                                      "queries read more users than can be placed by: ask for "
                                      "fewer to train by");
        else if (!add(nets, set, count))
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a net a query");
        if (!status && progress && q % PULSE_EVERY == 0) {
            if (progress->report)
                progress->report(progress->context, "collecting traversals", q, sources);
            if (progress->stop && *progress->stop)
                status = cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
        }
    }
    free(seen);
    free(set);
    return status;
}

enum cleave_status
cleave__graph_shape_traversals(const struct cleave__graph *graph, const struct cleave__query *query,
                               const uint32_t *source, uint32_t sources, unsigned balance,
                               const uint64_t *reads, const struct cleave_progress *progress,
                               struct cleave_hypergraph **out, struct cleave_error *error)
{
    struct nets nets = {0};
    enum cleave_status status = collect(graph, query, source, sources, &nets, progress, error);
    struct cleave_hypergraph *h = status ? NULL : calloc(1, sizeof *h);
    if (h) {
        h->vertices = graph->vertices;
        h->vertex_weight = cleave__graph_weigh(graph, balance, reads, &h->weights);
    }
    if (!status && (!h || !h->vertex_weight || !CLEAVE_RESERVE(&nets.pin, 1) ||
                    !CLEAVE_RESERVE(&nets.weight, 1))) {
        cleave_hypergraph_free(h);
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a net a query");
    }
    if (!status) { /* the arrays become the hypergraph's */
        h->nets = (uint32_t)nets.weight.count;
        h->net_offset = nets.offset.data;
        h->pin = nets.pin.data;
        h->net_weight = nets.weight.data;
        nets.offset.data = NULL;
        nets.pin.data = NULL;
        nets.weight.data = NULL;
        status = cleave__hypergraph_adopt(h, out, error);
    }
    CLEAVE_VECTOR_FREE(&nets.offset);
    CLEAVE_VECTOR_FREE(&nets.pin);
    CLEAVE_VECTOR_FREE(&nets.weight);
    free(nets.slot);
    return status;
}
