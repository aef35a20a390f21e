/* Louvain on the bipartite graph of vertices and nets (Heuer and Schlag 2017): an edge leads from a
 * net to each of its pins, and nets fall into communities like vertices, which no one asks for
 * later. Where nets are few beside vertices (below 3/4 of them) a net of weight w and s pins is
 * worth w * degree / s to a vertex, which makes small nets and busy vertices count; else just w.
 * When every net has two pins, the graph itself takes the place of the bipartite one.
 *
 * Leiden's refinement is left out: it costs a fifth more, and partitions gain nothing by it. */
#include "place/multilevel/community.h"

#include <string.h>

#include "place/multilevel/louvain.h"

enum { COUNTED_PINS_MAX = 1000, VISITS = 6 };

struct bipartite {
    const struct cleave__level *level;
    struct cleave__weighted_graph graph;
    uint64_t *offset;
    uint32_t *neighbour;
    int64_t *weight;  /* if plain */
    double *factor;   /* else */
    bool plain;       /* no nodes for nets */
    bool by_degree;   /* worth w * degree / s instead of w */
    double scale;     /* turns worth into an integer weight */
    uint32_t *node;   /* [nets]: its node, or UINT32_MAX */
    uint32_t *degree; /* [vertices]: counted nets */
};

static bool counted(const struct cleave__level *l, uint32_t e)
{
    uint64_t size = l->net_offset[e + 1] - l->net_offset[e];
    return l->net_weight[e] > 0 && size >= 2 && size <= COUNTED_PINS_MAX;
}

static double worth(const struct bipartite *b, uint32_t v, uint32_t e)
{
    const struct cleave__level *l = b->level;
    double w = (double)l->net_weight[e];
    if (!b->by_degree)
        return w;
    return w * b->degree[v] / (double)(l->net_offset[e + 1] - l->net_offset[e]);
}

/* Counts nodes and edges; chooses the model and the scale. Returns the number of listed edges. */
static uint64_t survey(struct bipartite *b)
{
    const struct cleave__level *l = b->level;
    uint64_t pins = 0;
    uint32_t nets = 0;
    b->plain = true;
    memset(b->degree, 0, l->vertices * sizeof *b->degree);
    for (uint32_t e = 0; e < l->nets; e++) {
        b->node[e] = UINT32_MAX;
        if (!counted(l, e) || nets == UINT32_MAX - 1 - l->vertices)
            continue;
        uint64_t size = l->net_offset[e + 1] - l->net_offset[e];
        b->node[e] = l->vertices + nets++;
        b->plain = b->plain && size == 2;
        pins += size;
        for (uint64_t i = l->net_offset[e]; i < l->net_offset[e + 1]; i++)
            b->degree[l->pin[i]]++;
    }
    b->by_degree = !b->plain && nets < 0.75 * l->vertices;
    double sum = 0;
    for (uint32_t e = 0; e < l->nets; e++) {
        for (uint64_t i = l->net_offset[e]; b->node[e] != UINT32_MAX && i < l->net_offset[e + 1];
             i++)
            sum += worth(b, l->pin[i], e);
    }
    /* A power of two, so that equal worths give equal weights, and whole ones stay whole. */
    b->scale = 1;
    while (sum * b->scale < 0x1p44 && b->by_degree && sum > 0)
        b->scale *= 2;
    while (sum * b->scale > 0x1p50)
        b->scale /= 2;
    b->graph.nodes = l->vertices + (b->plain ? 0 : nets);
    return b->plain ? pins : 2 * pins;
}

static void fill(struct bipartite *b)
{
    const struct cleave__level *l = b->level;
    uint64_t used = 0;
    for (uint32_t v = 0; v < l->vertices; v++) {
        b->offset[v] = used;
        if (!b->plain)
            b->factor[v] = b->by_degree ? b->degree[v] : 1;
        for (uint64_t j = l->vertex_offset[v]; j < l->vertex_offset[v + 1]; j++) {
            uint32_t e = l->incident[j];
            if (b->node[e] == UINT32_MAX)
                continue;
            const uint32_t *pin = l->pin + l->net_offset[e];
            uint32_t other = pin[0] == v ? pin[1] : pin[0];
            if (b->plain)
                b->weight[used] = (int64_t)(worth(b, v, e) * b->scale + 0.5);
            b->neighbour[used++] = b->plain ? other : b->node[e];
        }
    }
    for (uint32_t e = 0; e < l->nets && !b->plain; e++) {
        if (b->node[e] == UINT32_MAX)
            continue;
        uint64_t size = l->net_offset[e + 1] - l->net_offset[e];
        b->offset[b->node[e]] = used;
        memcpy(b->neighbour + used, l->pin + l->net_offset[e], size * sizeof *b->neighbour);
        used += size;
        b->factor[b->node[e]] =
            (double)l->net_weight[e] * b->scale / (b->by_degree ? (double)size : 1);
    }
    b->offset[b->graph.nodes] = used;
    b->graph.offset = b->offset;
    b->graph.neighbour = b->neighbour;
    b->graph.weight = b->weight;
    b->graph.factor = b->factor;
}

/* Numbers of vertices alone, by first vertex; all without a counted net share one. */
static uint32_t number_vertices(const struct bipartite *b, const uint32_t *found, uint32_t *number,
                                uint32_t *community)
{
    uint32_t count = 0, alone = UINT32_MAX;
    memset(number, 0xff, b->graph.nodes * sizeof *number);
    for (uint32_t v = 0; v < b->level->vertices; v++) {
        uint32_t *slot = b->degree[v] ? &number[found[v]] : &alone;
        if (*slot == UINT32_MAX)
            *slot = count++;
        community[v] = *slot;
    }
    return count;
}

enum cleave_status cleave__communities(struct cleave__search *search,
                                       const struct cleave__level *level, uint32_t *community,
                                       uint32_t *count)
{
    struct cleave_arena *arena = &search->arena;
    struct cleave_arena_mark mark = cleave__arena_mark(arena);
    struct bipartite b = {.level = level};
    enum cleave_status status = CLEAVE_NO_MEMORY;
    b.node = cleave__arena_array(arena, level->nets, sizeof *b.node);
    b.degree = cleave__arena_array(arena, level->vertices, sizeof *b.degree);
    if (!b.node || !b.degree)
        goto done;
    uint64_t edges = survey(&b);
    b.offset = cleave__arena_array(arena, (size_t)b.graph.nodes + 1, sizeof *b.offset);
    b.neighbour = cleave__arena_array(arena, edges, sizeof *b.neighbour);
    if (b.plain)
        b.weight = cleave__arena_array(arena, edges, sizeof *b.weight);
    else
        b.factor = cleave__arena_array(arena, b.graph.nodes, sizeof *b.factor);
    uint32_t *found = cleave__arena_array(arena, b.graph.nodes, sizeof *found);
    uint32_t *number = cleave__arena_array(arena, b.graph.nodes, sizeof *number);
    if (!b.offset || !b.neighbour || (b.plain ? !b.weight : !b.factor) || !found || !number)
        goto done;
    fill(&b);
    const struct cleave__louvain_options options = {
        .visits = VISITS,
        .stop = search->progress ? search->progress->stop : NULL,
    };
    uint32_t all;
    status = cleave__louvain(arena, &search->random, &b.graph, &options, found, &all);
    if (!status)
        *count = number_vertices(&b, found, number, community);
done:
    cleave__arena_rewind(arena, mark);
    return status;
}
