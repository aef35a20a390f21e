/* Cutting a graph into shards; see the header. */
#include "graph/route/sharded.h"

#include <stdlib.h>
#include <string.h>

void cleave__sharded_free(struct cleave__sharded *sharded)
{
    if (!sharded)
        return;
    for (uint32_t s = 0; sharded->shard && s < sharded->shards; s++) {
        free(sharded->shard[s].user);
        free(sharded->shard[s].offset);
        free(sharded->shard[s].target);
        free(sharded->shard[s].label);
    }
    free(sharded->shard);
    free(sharded->owner);
    free(sharded->place);
    free(sharded);
}

static bool fill(struct cleave__sharded *x, const struct cleave__graph *g, uint32_t s,
                 uint64_t edges)
{
    struct cleave__graph_shard *shard = &x->shard[s];
    size_t users = (size_t)shard->users + 1;
    shard->user = malloc(users * sizeof *shard->user);
    shard->offset = malloc(users * sizeof *shard->offset);
    shard->target = malloc((edges + 1) * sizeof *shard->target);
    shard->label = g->label ? malloc(users * sizeof *shard->label) : NULL;
    if (!shard->user || !shard->offset || !shard->target || (g->label && !shard->label))
        return false;
    shard->offset[0] = 0;
    return true;
}

enum cleave_status cleave__sharded_new(const struct cleave__graph *graph, uint32_t shards,
                                       const uint32_t *owner, struct cleave__sharded **out,
                                       struct cleave_error *error)
{
    const struct cleave__graph *g = graph;
    size_t n = (size_t)g->vertices + 1;
    struct cleave__sharded *x = calloc(1, sizeof *x);
    uint64_t *edges = calloc(shards, sizeof *edges);
    if (x) {
        x->vertices = g->vertices;
        x->shards = shards;
        x->owner = malloc(n * sizeof *x->owner);
        x->place = malloc(n * sizeof *x->place);
        x->shard = calloc(shards, sizeof *x->shard);
    }
    bool ok = x && edges && x->owner && x->place && x->shard;
    for (uint32_t v = 0; ok && v < g->vertices; v++) {
        x->owner[v] = owner[v];
        x->place[v] = x->shard[owner[v]].users++;
        edges[owner[v]] += cleave__graph_degree(g, v);
    }
    for (uint32_t s = 0; ok && s < shards; s++)
        ok = fill(x, g, s, edges[s]);
    for (uint32_t v = 0; ok && v < g->vertices; v++) {
        struct cleave__graph_shard *shard = &x->shard[owner[v]];
        uint32_t at = x->place[v], degree = cleave__graph_degree(g, v);
        uint64_t used = shard->offset[at];
        shard->user[at] = v;
        if (shard->label)
            shard->label[at] = g->label[v];
        if (degree)
            memcpy(shard->target + used, g->target + g->offset[v], degree * sizeof *shard->target);
        shard->offset[at + 1] = used + degree;
    }
    free(edges);
    if (!ok) {
        cleave__sharded_free(x);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a graph on %u shards",
                                shards);
    }
    *out = x;
    return CLEAVE_OK;
}

enum cleave_status cleave__sharded_check(const struct cleave__sharded *x,
                                         const struct cleave__graph *graph,
                                         struct cleave_error *error)
{
    uint64_t users = 0;
    for (uint32_t s = 0; s < x->shards; s++)
        users += x->shard[s].users;
    if (users != x->vertices || x->vertices != graph->vertices)
        return cleave_error_set(error, CLEAVE_CORRUPT, "shards hold %llu users of %u",
                                (unsigned long long)users, graph->vertices);
    for (uint32_t v = 0; v < x->vertices; v++) {
        if (x->owner[v] >= x->shards)
            return cleave_error_set(error, CLEAVE_CORRUPT, "user number %u is on no shard", v);
        const struct cleave__graph_shard *shard = &x->shard[x->owner[v]];
        uint32_t at = x->place[v], degree = cleave__graph_degree(graph, v);
        if (at >= shard->users || shard->user[at] != v)
            return cleave_error_set(error, CLEAVE_CORRUPT, "user number %u is not where it should",
                                    v);
        if (shard->offset[at + 1] - shard->offset[at] != degree ||
            (degree && memcmp(shard->target + shard->offset[at], graph->target + graph->offset[v],
                              degree * sizeof *graph->target)) ||
            (graph->label && shard->label[at] != graph->label[v]))
            return cleave_error_set(error, CLEAVE_CORRUPT,
                                    "user number %u has another list or label on its shard", v);
    }
    return CLEAVE_OK;
}
