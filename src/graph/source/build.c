/* From edges as they come to compressed rows: two counting sorts, by target and then by source,
 * leave every list rising; then loops and repeated targets go. */
#include <stdlib.h>
#include <string.h>

#include "graph/source/graph.h"

struct pair {
    uint32_t from, to;
};

/* Stable counting sort of `count` pairs by one end; `start` [vertices + 1] is scratch. */
static void sort_by(const struct pair *in, struct pair *out, size_t count, uint32_t vertices,
                    bool by_target, uint64_t *start)
{
    memset(start, 0, ((size_t)vertices + 1) * sizeof *start);
    for (size_t i = 0; i < count; i++)
        start[(by_target ? in[i].to : in[i].from) + 1]++;
    for (uint32_t v = 0; v < vertices; v++)
        start[v + 1] += start[v];
    for (size_t i = 0; i < count; i++)
        out[start[by_target ? in[i].to : in[i].from]++] = in[i];
}

/* Fills offset and target from sorted pairs. */
static void fill(struct cleave__graph *g, const struct pair *pair, size_t count)
{
    uint64_t used = 0;
    uint32_t v = 0;
    for (size_t i = 0; i < count; i++) {
        while (v < pair[i].from)
            g->offset[++v] = used;
        if (pair[i].from == pair[i].to)
            g->remarks.loops++;
        else if (used > g->offset[v] && g->target[used - 1] == pair[i].to)
            g->remarks.duplicates++;
        else
            g->target[used++] = pair[i].to;
    }
    while (v < g->vertices)
        g->offset[++v] = used;
}

static void spread(const struct cleave__edges *edges, bool both, struct pair *pair)
{
    size_t used = 0;
    for (size_t i = 0; i < edges->end.count; i += 2) {
        uint32_t from = edges->end.data[i], to = edges->end.data[i + 1];
        pair[used++] = (struct pair){from, to};
        if (both)
            pair[used++] = (struct pair){to, from};
    }
}

enum cleave_status cleave__graph_build(uint32_t vertices, const struct cleave__edges *edges,
                                       bool both, struct cleave__graph **out,
                                       struct cleave_error *error)
{
    size_t count = edges->end.count / 2 * (both ? 2 : 1);
    struct cleave__graph *g = calloc(1, sizeof *g);
    struct pair *first = malloc((count + 1) * sizeof *first);
    struct pair *second = malloc((count + 1) * sizeof *second);
    uint64_t *start = malloc(((size_t)vertices + 1) * sizeof *start);
    if (g) {
        g->vertices = vertices;
        g->offset = calloc((size_t)vertices + 1, sizeof *g->offset);
        g->target = malloc((count + 1) * sizeof *g->target);
        g->number = malloc(((size_t)vertices + 1) * sizeof *g->number);
    }
    bool ok = g && first && second && start && g->offset && g->target && g->number;
    if (ok) {
        spread(edges, both, first);
        sort_by(first, second, count, vertices, true, start);
        sort_by(second, first, count, vertices, false, start);
        fill(g, first, count);
        for (uint32_t v = 0; v < vertices; v++)
            g->number[v] = (uint64_t)v + 1;
        g->remarks.lines = edges->end.count / 2;
        if (both) { /* each line gave two */
            g->remarks.duplicates /= 2;
            g->remarks.loops /= 2;
        }
        uint32_t *fitted = realloc(g->target, (cleave__graph_edges(g) + 1) * sizeof *g->target);
        if (fitted)
            g->target = fitted;
    }
    free(first);
    free(second);
    free(start);
    if (!ok) {
        cleave__graph_free(g);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a graph of %zu edges",
                                count);
    }
    *out = g;
    return CLEAVE_OK;
}
