/* Questions: checking them, and drawing whom they are about. */
#include "graph/query/query.h"

#include <stdlib.h>

#include "base/random.h"

enum cleave_status cleave__query_check(const struct cleave__graph *graph,
                                       const struct cleave__query *query,
                                       struct cleave_error *error)
{
    const enum cleave_status bad = CLEAVE_BAD_ARGUMENT;
    if (query->source >= graph->vertices)
        return cleave_error_set(error, bad, "a query from user number %u of %u", query->source,
                                graph->vertices);
    if (query->hops < 1 || query->hops > CLEAVE__HOPS_MAX)
        return cleave_error_set(error, bad, "%u hops: must be 1 to %d", query->hops,
                                CLEAVE__HOPS_MAX);
    if (query->by_label && !graph->label)
        return cleave_error_set(error, bad, "a query by label, but the graph has no labels");
    if (query->by_label && query->label >= graph->labels)
        return cleave_error_set(error, bad, "label number %u of %u", query->label, graph->labels);
    if (query->by_id && !graph->number)
        return cleave_error_set(error, bad, "a query by a range of ids, but ids are text");
    if (query->top && !query->limit)
        return cleave_error_set(error, bad, "the top how many? Give a limit");
    return CLEAVE_OK;
}

/* Floyd's sampling would need a set; a bit a user is as good and keeps them in order. */
enum cleave_status cleave__query_sources(const struct cleave__graph *graph, uint32_t count,
                                         uint64_t seed, uint32_t **out, uint32_t *drawn,
                                         struct cleave_error *error)
{
    uint32_t n = graph->vertices;
    if (count > n)
        count = n;
    uint32_t *source = malloc(((size_t)count + 1) * sizeof *source);
    if (!source)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u queries", count);
    struct cleave_random random;
    cleave__random_seed(&random, seed);
    uint32_t used = 0;
    /* Selection sampling (Knuth's algorithm S): each of what is left with its fair chance. */
    for (uint32_t v = 0; v < n && used < count; v++) {
        if (count - used == n - v || cleave__random_below(&random, n - v) < count - used)
            source[used++] = v;
    }
    *out = source;
    *drawn = used;
    return CLEAVE_OK;
}
