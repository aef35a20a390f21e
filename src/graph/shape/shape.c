/* What users weigh, and how often queries read them. */
#include "graph/shape/shape.h"

#include <stdlib.h>
#include <string.h>

enum { PULSE_EVERY = 1 << 10 };

uint32_t cleave__graph_read_set(const struct cleave__graph *graph,
                                const struct cleave__query *query, uint32_t source, uint32_t *seen,
                                uint32_t mark, uint32_t *out)
{
    uint32_t count = 1, level_end = 1, distance = 0;
    out[0] = source;
    seen[source] = mark;
    for (uint32_t at = 0; at < count; at++) {
        if (at == level_end) {
            level_end = count;
            distance++;
        }
        if (distance + 1 >= query->hops)
            break; /* what its list leads to is not read */
        for (uint64_t i = graph->offset[out[at]]; i < graph->offset[out[at] + 1]; i++) {
            uint32_t to = graph->target[i];
            if (seen[to] == mark)
                continue;
            seen[to] = mark;
            out[count++] = to;
        }
    }
    return count;
}

enum cleave_status cleave__graph_reads(const struct cleave__graph *graph,
                                       const struct cleave__query *query, const uint32_t *source,
                                       uint32_t sources, uint64_t *reads,
                                       const struct cleave_progress *progress,
                                       struct cleave_error *error)
{
    size_t n = (size_t)graph->vertices + 1;
    uint32_t *seen = calloc(n, sizeof *seen), *set = malloc(n * sizeof *set);
    enum cleave_status status = CLEAVE_OK;
    if (!seen || !set)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory to count reads");
    memset(reads, 0, graph->vertices * sizeof *reads);
    for (uint32_t q = 0; q < sources && !status; q++) {
        uint32_t count = cleave__graph_read_set(graph, query, source[q], seen, q + 1, set);
        for (uint32_t i = 0; i < count; i++)
            reads[set[i]]++;
        if (progress && progress->stop && q % PULSE_EVERY == 0 && *progress->stop)
            status = cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
    }
    free(seen);
    free(set);
    return status;
}

int64_t *cleave__graph_weigh(const struct cleave__graph *graph, unsigned balance,
                             const uint64_t *reads, uint32_t *weights)
{
    uint32_t each = (uint32_t)__builtin_popcount(balance);
    int64_t *weight = malloc(((size_t)graph->vertices * each + 1) * sizeof *weight);
    size_t used = 0;
    for (uint32_t v = 0; weight && v < graph->vertices; v++) {
        if (balance & CLEAVE__BALANCE_VERTICES)
            weight[used++] = 1;
        if (balance & CLEAVE__BALANCE_EDGES)
            weight[used++] = cleave__graph_degree(graph, v);
        if (balance & CLEAVE__BALANCE_READS)
            weight[used++] = (int64_t)reads[v];
    }
    *weights = each;
    return weight;
}
