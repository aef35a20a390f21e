/* METIS 5 (Karypis and Kumar 1998) on the graph that stands for the hypergraph.
 *
 * A net of p pins and weight w becomes the clique of its pins, each edge of weight w / (p - 1); one
 * of more than CLIQUE_PINS pins a ring through them of edges of w / 2: as much weight in all, and
 * linear. Edges between the same two vertices are one edge, the sum; sums are scaled to integers,
 * at least 1. All vertex weights are constraints, each with the allowed overweight epsilon. */
#include <metis.h>
#include <stdlib.h>

#include "peer.h"

enum { CLIQUE_PINS = 1000, SCALE_MOST = 1000, TOTAL_MOST = 1 << 30 };

struct graph {
    idx_t *offset;  /* [vertices + 1] */
    idx_t *other;   /* [offset[vertices]] */
    idx_t *weight;  /* [offset[vertices]] */
    double *direct; /* [offset[vertices]], before scaling */
};

/* Ring neighbours: two a ring net and pin. offset[vertices + 1], other and weight
 * [offset[vertices]]. */
struct rings {
    size_t *offset;
    uint32_t *other;
    double *weight;
};

static uint64_t pins_of(const struct cleave_hypergraph *h, uint32_t net)
{
    return h->net_offset[net + 1] - h->net_offset[net];
}

static struct rings make_rings(const struct cleave_hypergraph *h)
{
    struct rings r = {.offset = peer_allocate((size_t)h->vertices + 2, sizeof *r.offset)};
    for (uint32_t e = 0; e < h->nets; e++) {
        for (uint64_t i = h->net_offset[e]; pins_of(h, e) > CLIQUE_PINS && i < h->net_offset[e + 1];
             i++)
            r.offset[h->pin[i] + 2] += 2;
    }
    for (uint32_t v = 0; v < h->vertices; v++)
        r.offset[v + 2] += r.offset[v + 1];
    r.other = peer_allocate(r.offset[h->vertices + 1], sizeof *r.other);
    r.weight = peer_allocate(r.offset[h->vertices + 1], sizeof *r.weight);
    for (uint32_t e = 0; e < h->nets; e++) {
        uint64_t pins = pins_of(h, e);
        const uint32_t *pin = h->pin + h->net_offset[e];
        for (uint64_t i = 0; pins > CLIQUE_PINS && i < pins; i++) {
            size_t *at = &r.offset[pin[i] + 1]; /* rises to the end of the vertex's range */
            r.weight[*at] = r.weight[*at + 1] = 0.5 * (double)h->net_weight[e];
            r.other[(*at)++] = pin[(i + 1) % pins];
            r.other[(*at)++] = pin[(i + pins - 1) % pins];
        }
    }
    return r;
}

/* Adds `weight` to the edge from the vertex at hand, whose edges begin at `begin`. */
static void add_edge(struct graph *g, size_t *used, size_t begin, size_t *place, uint32_t other,
                     double weight)
{
    if (place[other] <=
        begin) { /* place: index + 1 of the edge to `other`, or an earlier vertex's */
        if (g->other)
            g->other[*used] = (idx_t)other;
        place[other] = ++*used;
        if (g->direct)
            g->direct[*used - 1] = 0;
    }
    if (g->direct)
        g->direct[place[other] - 1] += weight;
}

/* Walks all edges, vertex by vertex; fills what of `g` is allocated. Returns how many. */
static size_t walk(const struct cleave_hypergraph *h, const struct rings *r, struct graph *g)
{
    size_t *place = peer_allocate(h->vertices, sizeof *place), used = 0;
    for (uint32_t v = 0; v < h->vertices; v++) {
        size_t begin = used;
        for (uint64_t i = h->vertex_offset[v]; i < h->vertex_offset[v + 1]; i++) {
            uint32_t e = h->incident[i];
            uint64_t pins = pins_of(h, e);
            for (uint64_t j = h->net_offset[e]; pins <= CLIQUE_PINS && j < h->net_offset[e + 1];
                 j++) {
                if (h->pin[j] != v)
                    add_edge(g, &used, begin, place, h->pin[j],
                             (double)h->net_weight[e] / (double)(pins - 1));
            }
        }
        for (size_t i = r->offset[v]; i < r->offset[v + 1]; i++)
            add_edge(g, &used, begin, place, r->other[i], r->weight[i]);
        if (g->offset)
            g->offset[v + 1] = (idx_t)used;
    }
    free(place);
    return used;
}

static struct graph make_graph(const struct cleave_hypergraph *h)
{
    struct rings rings = make_rings(h);
    struct graph g = {0};
    size_t edges = walk(h, &rings, &g);
    if (edges > INT32_MAX)
        peer_fail("the clique expansion has %zu edges, more than METIS takes", edges / 2);
    g.offset = peer_allocate((size_t)h->vertices + 1, sizeof *g.offset);
    g.other = peer_allocate(edges, sizeof *g.other);
    g.weight = peer_allocate(edges, sizeof *g.weight);
    g.direct = peer_allocate(edges, sizeof *g.direct);
    walk(h, &rings, &g);
    double total = 0;
    for (size_t i = 0; i < edges; i++)
        total += g.direct[i];
    double scale = total * SCALE_MOST <= TOTAL_MOST ? SCALE_MOST : TOTAL_MOST / total;
    for (size_t i = 0; i < edges; i++) {
        idx_t weight = (idx_t)(g.direct[i] * scale + 0.5);
        g.weight[i] = weight > 0 ? weight : 1;
    }
    free(rings.offset), free(rings.other), free(rings.weight), free(g.direct);
    return g;
}

/* METIS sums weights in 32 bits: larger ones are scaled down, none to nothing. */
static idx_t *make_weights(const struct cleave_hypergraph *h)
{
    idx_t *weight = peer_allocate((size_t)h->vertices * h->weights, sizeof *weight);
    for (uint32_t c = 0; c < h->weights; c++) {
        double total = 0;
        for (uint32_t v = 0; v < h->vertices; v++)
            total += (double)h->vertex_weight[(size_t)v * h->weights + c];
        double scale = total > TOTAL_MOST ? TOTAL_MOST / total : 1;
        for (uint32_t v = 0; v < h->vertices; v++) {
            int64_t w = h->vertex_weight[(size_t)v * h->weights + c];
            idx_t scaled = (idx_t)((double)w * scale + 0.5);
            weight[(size_t)v * h->weights + c] = w > 0 && scaled == 0 ? 1 : scaled;
        }
    }
    return weight;
}

int main(int argc, char **argv)
{
    struct peer_job job;
    peer_start(&job, argc, argv);
    const struct cleave_hypergraph *h = job.hypergraph;
    struct graph g = make_graph(h);
    idx_t *weight = make_weights(h), *block = peer_allocate(h->vertices, sizeof *block);
    idx_t vertices = (idx_t)h->vertices, constraints = (idx_t)h->weights, parts = job.blocks,
          cut = 0;
    real_t most[CLEAVE_WEIGHTS_MAX];
    for (uint32_t c = 0; c < h->weights; c++)
        most[c] = (real_t)(1 + job.epsilon);
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = job.seed;
    options[METIS_OPTION_UFACTOR] = (idx_t)(1000 * job.epsilon + 0.5);
    double before = peer_cpu();
    int status = METIS_PartGraphKway(&vertices, &constraints, g.offset, g.other, weight, NULL,
                                     g.weight, &parts, NULL, most, options, &cut, block);
    job.call = peer_cpu() - before;
    if (status != METIS_OK)
        peer_fail("METIS failed with status %d", status);
    peer_finish(&job, block);
    free(g.offset), free(g.other), free(g.weight), free(weight), free(block);
    return 0;
}
