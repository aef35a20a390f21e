/* Communities given or found; see the header. */
#include <string.h>

#include "place/community.h"
#include "place/multilevel/louvain.h"

enum { COUNTED_PINS_MAX = 1000, ROUNDS = 2, SCALE = 1 << 10 };

struct bipartite {
    const struct cleave_hypergraph *h;
    struct cleave__weighted_graph graph;
    uint64_t *offset;
    uint32_t *neighbour;
    int64_t *weight;
    bool plain; /* all counted nets have two pins: no nodes for nets */
};

static uint64_t size_of(const struct cleave_hypergraph *h, uint32_t e)
{
    return h->net_offset[e + 1] - h->net_offset[e];
}

static bool counted(const struct cleave_hypergraph *h, uint32_t e)
{
    return h->net_weight[e] > 0 && size_of(h, e) >= 2 && size_of(h, e) <= COUNTED_PINS_MAX;
}

/* A net of s pins is worth 1 / (s - 1) of its weight to each, in whole parts, at least one. */
static int64_t worth(const struct bipartite *b, uint32_t e)
{
    if (b->plain)
        return b->h->net_weight[e];
    int64_t w = b->h->net_weight[e], others = (int64_t)size_of(b->h, e) - 1;
    return w > INT64_C(1) << 40 ? w / others + 1 : w * SCALE / others + 1;
}

static void fill(struct bipartite *b)
{
    const struct cleave_hypergraph *h = b->h;
    uint64_t used = 0;
    for (uint32_t v = 0; v < h->vertices; v++) {
        b->offset[v] = used;
        for (uint64_t i = h->vertex_offset[v]; i < h->vertex_offset[v + 1]; i++) {
            uint32_t e = h->incident[i];
            if (!counted(h, e))
                continue;
            const uint32_t *pin = h->pin + h->net_offset[e];
            b->neighbour[used] = !b->plain ? h->vertices + e : pin[0] == v ? pin[1] : pin[0];
            b->weight[used++] = worth(b, e);
        }
    }
    for (uint32_t e = 0; e < h->nets && !b->plain; e++) {
        b->offset[h->vertices + e] = used;
        for (uint64_t i = h->net_offset[e]; counted(h, e) && i < h->net_offset[e + 1]; i++) {
            b->neighbour[used] = h->pin[i];
            b->weight[used++] = worth(b, e);
        }
    }
    b->offset[b->graph.nodes] = used;
    b->graph.offset = b->offset;
    b->graph.neighbour = b->neighbour;
    b->graph.weight = b->weight;
}

static enum cleave_status find(const struct cleave__request *request, struct cleave_arena *arena,
                               uint32_t *community, uint32_t *count)
{
    const struct cleave_hypergraph *h = request->hypergraph;
    const struct cleave_progress *progress = request->options->progress;
    struct bipartite b = {.h = h, .plain = true};
    uint64_t pins = 0;
    for (uint32_t e = 0; e < h->nets; e++) {
        if (!counted(h, e))
            continue;
        b.plain = b.plain && size_of(h, e) == 2;
        pins += size_of(h, e);
    }
    if (!b.plain && h->nets > UINT32_MAX - 1 - h->vertices)
        return CLEAVE_LIMIT;
    b.graph.nodes = h->vertices + (b.plain ? 0 : h->nets);
    uint64_t edges = b.plain ? pins : 2 * pins;
    b.offset = cleave__arena_array(arena, (size_t)b.graph.nodes + 1, sizeof *b.offset);
    b.neighbour = cleave__arena_array(arena, edges, sizeof *b.neighbour);
    b.weight = cleave__arena_array(arena, edges, sizeof *b.weight);
    uint32_t *found = cleave__arena_array(arena, b.graph.nodes, sizeof *found);
    uint32_t *number = cleave__arena_array(arena, b.graph.nodes, sizeof *number);
    if (!b.offset || !b.neighbour || !b.weight || !found || !number)
        return CLEAVE_NO_MEMORY;
    fill(&b);
    struct cleave_random random;
    cleave__random_seed(&random, request->options->seed);
    const struct cleave__louvain_options options = {
        .rounds = ROUNDS, .refine = true, .stop = progress ? progress->stop : NULL};
    uint32_t all;
    enum cleave_status status = cleave__louvain(arena, &random, &b.graph, &options, found, &all);
    if (status)
        return status;
    *count = 0;
    memset(number, 0xff, b.graph.nodes * sizeof *number);
    for (uint32_t v = 0; v < h->vertices; v++) { /* nets have numbers too: vertices' alone */
        if (number[found[v]] == UINT32_MAX)
            number[found[v]] = (*count)++;
        community[v] = number[found[v]];
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__community_of(const struct cleave__request *request, uint32_t *community,
                                        uint32_t *count, struct cleave_error *error)
{
    const uint32_t *given = request->options->community;
    uint32_t n = request->hypergraph->vertices;
    if (!given) {
        struct cleave_arena arena = {0};
        enum cleave_status status = find(request, &arena, community, count);
        cleave__arena_free(&arena);
        if (status == CLEAVE_INTERRUPTED)
            return cleave_error_set(error, status, "stopped");
        return status
                   ? cleave_error_set(error, status, "cannot find communities of %u vertices: %s",
                                      n, cleave_status_name(status))
                   : CLEAVE_OK;
    }
    uint32_t most = 0;
    for (uint32_t v = 0; v < n; v++) {
        if (given[v] >= n)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "vertex %u is in community %u: numbers must be below %u", v,
                                    given[v], n);
        community[v] = given[v];
        most = given[v] >= most ? given[v] + 1 : most;
    }
    *count = most;
    return CLEAVE_OK;
}
