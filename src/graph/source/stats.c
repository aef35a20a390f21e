/* Counting; components by union of trees with halving of paths (Tarjan and van Leeuwen 1984). */
#include "graph/source/stats.h"

#include <stdlib.h>
#include <string.h>

static uint32_t root(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

static bool follows(const struct cleave__graph *g, uint32_t v, uint32_t to)
{
    uint64_t low = g->offset[v], high = g->offset[v + 1];
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (g->target[middle] < to)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->offset[v + 1] && g->target[low] == to;
}

/* The smallest degree that half the users do not pass; `count` [most + 1] is scratch. */
static uint32_t median(const uint32_t *degree, uint32_t n, uint32_t most, uint32_t *count)
{
    uint64_t below = 0;
    memset(count, 0, ((size_t)most + 1) * sizeof *count);
    for (uint32_t v = 0; v < n; v++)
        count[degree[v]]++;
    for (uint32_t d = 0; d <= most; d++) {
        below += count[d];
        if (2 * below >= n)
            return d;
    }
    return most;
}

enum cleave_status cleave__graph_stats(const struct cleave__graph *graph,
                                       struct cleave__graph_stats *out, struct cleave_error *error)
{
    const struct cleave__graph *g = graph;
    uint32_t n = g->vertices;
    struct cleave__graph_stats s = {.edges = cleave__graph_edges(g)};
    uint32_t *parent = malloc(((size_t)n + 1) * sizeof *parent);
    uint32_t *in = calloc((size_t)n + 1, sizeof *in), *size = calloc((size_t)n + 1, sizeof *size);
    if (!parent || !in || !size) {
        free(parent);
        free(in);
        free(size);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory to look at a graph");
    }
    for (uint32_t v = 0; v < n; v++)
        parent[v] = v;
    for (uint32_t v = 0; v < n; v++) {
        for (uint64_t i = g->offset[v]; i < g->offset[v + 1]; i++) {
            uint32_t to = g->target[i];
            in[to]++;
            s.mutual += follows(g, to, v);
            s.label_inside += g->label && g->label[v] == g->label[to];
            uint32_t a = root(parent, v), b = root(parent, to);
            parent[a > b ? a : b] = a < b ? a : b;
        }
    }
    for (uint32_t v = 0; v < n; v++) {
        uint32_t r = root(parent, v), degree = cleave__graph_degree(g, v);
        s.components += r == v;
        s.largest = ++size[r] > s.largest ? size[r] : s.largest;
        s.out_most = degree > s.out_most ? degree : s.out_most;
        s.in_most = in[v] > s.in_most ? in[v] : s.in_most;
        s.without_out += degree == 0;
        s.without_in += in[v] == 0;
    }
    s.in_median = median(in, n, s.in_most, size); /* degrees are below n */
    for (uint32_t v = 0; v < n; v++)
        in[v] = cleave__graph_degree(g, v);
    s.out_median = median(in, n, s.out_most, size);
    free(parent);
    free(in);
    free(size);
    *out = s;
    return CLEAVE_OK;
}
