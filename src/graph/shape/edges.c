/* A net for each pair of users that one or two edges tie. */
#include <stdlib.h>

#include "graph/shape/shape.h"
#include "model/hypergraph.h"

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

enum cleave_status cleave__graph_shape_edges(const struct cleave__graph *graph, unsigned balance,
                                             const uint64_t *reads, struct cleave_hypergraph **out,
                                             struct cleave_error *error)
{
    const struct cleave__graph *g = graph;
    uint64_t edges = cleave__graph_edges(g);
    if (edges > INT32_MAX)
        return cleave_error_set(error, CLEAVE_LIMIT, "%llu edges are more than can be placed",
                                (unsigned long long)edges);
    struct cleave_hypergraph *h = calloc(1, sizeof *h);
    if (h) {
        h->vertices = g->vertices;
        h->net_offset = malloc((edges + 1) * sizeof *h->net_offset);
        h->pin = malloc((2 * edges + 1) * sizeof *h->pin);
        h->vertex_weight = cleave__graph_weigh(g, balance, reads, &h->weights);
    }
    if (!h || !h->net_offset || !h->pin || !h->vertex_weight) {
        cleave_hypergraph_free(h);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a net an edge");
    }
    h->net_offset[0] = 0;
    uint64_t used = 0;
    for (uint32_t v = 0; v < g->vertices; v++) {
        for (uint64_t i = g->offset[v]; i < g->offset[v + 1]; i++) {
            uint32_t to = g->target[i];
            if (to < v && follows(g, to, v))
                continue; /* told from the other side */
            h->pin[used++] = v;
            h->pin[used++] = to;
            h->net_offset[++h->nets] = used;
        }
    }
    return cleave__hypergraph_adopt(h, out, error);
}
