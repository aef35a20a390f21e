/* Distances by waves over the whole graph, then a look at every user. */
#include "graph/oracle/oracle.h"

#include <stdlib.h>
#include <string.h>

enum { FAR = UINT32_MAX };

struct cleave__graph_oracle {
    const struct cleave__graph *graph;
    struct cleave__query query;
    uint32_t *distance; /* [vertices] */
    uint32_t *reached;  /* [vertices]: in the order found, the source first */
    uint32_t *users;    /* [vertices] */
    uint32_t *best;     /* [vertices]: users by degree, for top */
    uint32_t *seen;     /* [vertices]: number of the check that saw it last */
    uint32_t reached_count, count, checks;
};

enum cleave_status cleave__graph_oracle_new(const struct cleave__graph *graph,
                                            struct cleave__graph_oracle **out,
                                            struct cleave_error *error)
{
    struct cleave__graph_oracle *o = calloc(1, sizeof *o);
    size_t n = (size_t)graph->vertices + 1;
    if (o) {
        o->graph = graph;
        o->distance = malloc(n * sizeof *o->distance);
        o->reached = malloc(n * sizeof *o->reached);
        o->users = malloc(n * sizeof *o->users);
        o->best = malloc(n * sizeof *o->best);
        o->seen = calloc(n, sizeof *o->seen);
    }
    if (!o || !o->distance || !o->reached || !o->users || !o->best || !o->seen) {
        cleave__graph_oracle_free(o);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for reference answers");
    }
    for (uint32_t v = 0; v < graph->vertices; v++)
        o->distance[v] = FAR;
    *out = o;
    return CLEAVE_OK;
}

void cleave__graph_oracle_free(struct cleave__graph_oracle *oracle)
{
    if (!oracle)
        return;
    free(oracle->distance);
    free(oracle->reached);
    free(oracle->users);
    free(oracle->best);
    free(oracle->seen);
    free(oracle);
}

static bool chosen(const struct cleave__graph_oracle *o, uint32_t v)
{
    const struct cleave__query *q = &o->query;
    uint64_t degree = o->graph->offset[v + 1] - o->graph->offset[v];
    if (o->distance[v] == 0 || o->distance[v] == FAR || o->distance[v] > q->hops)
        return false;
    if (q->exactly && o->distance[v] != q->hops)
        return false;
    if (q->by_label && o->graph->label[v] != q->label)
        return false;
    if (q->by_degree && (degree < q->degree_low || degree > q->degree_high))
        return false;
    return !q->by_id || (o->graph->number[v] >= q->id_low && o->graph->number[v] <= q->id_high);
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int compare_by_degree(const void *a, const void *b, void *context)
{
    const struct cleave__graph *g = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint64_t dx = g->offset[x + 1] - g->offset[x], dy = g->offset[y + 1] - g->offset[y];
    return dx != dy ? (dx < dy) - (dx > dy) : (x > y) - (x < y);
}

void cleave__graph_oracle_ask(struct cleave__graph_oracle *o, const struct cleave__query *query)
{
    const struct cleave__graph *g = o->graph;
    for (uint32_t i = 0; i < o->reached_count; i++)
        o->distance[o->reached[i]] = FAR; /* of the query before */
    o->query = *query;
    o->distance[query->source] = 0;
    o->reached[0] = query->source;
    o->reached_count = 1;
    for (uint32_t at = 0; at < o->reached_count; at++) {
        uint32_t v = o->reached[at];
        for (uint64_t i = g->offset[v]; o->distance[v] < query->hops && i < g->offset[v + 1]; i++) {
            if (o->distance[g->target[i]] != FAR)
                continue;
            o->distance[g->target[i]] = o->distance[v] + 1;
            o->reached[o->reached_count++] = g->target[i];
        }
    }
    o->count = 0;
    for (uint32_t i = 0; i < o->reached_count; i++) {
        if (chosen(o, o->reached[i]))
            o->users[o->count++] = o->reached[i];
    }
    qsort(o->users, o->count, sizeof *o->users, compare);
    if (query->top) {
        memcpy(o->best, o->users, o->count * sizeof *o->best);
        qsort_r(o->best, o->count, sizeof *o->best, compare_by_degree, (void *)(uintptr_t)g);
    }
}

const uint32_t *cleave__graph_oracle_users(const struct cleave__graph_oracle *oracle,
                                           uint32_t *count)
{
    *count = oracle->count;
    return oracle->users;
}

enum cleave_status cleave__graph_oracle_accepts(struct cleave__graph_oracle *o,
                                                const uint32_t *user, uint32_t count,
                                                struct cleave_error *error)
{
    const struct cleave__query *q = &o->query;
    uint64_t wanted = q->limit && q->limit < o->count ? q->limit : o->count;
    if (count != wanted)
        return cleave_error_set(error, CLEAVE_CORRUPT, "%u users answered where %llu are right",
                                count, (unsigned long long)wanted);
    o->checks++;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = user[i];
        if (v >= o->graph->vertices || !chosen(o, v))
            return cleave_error_set(error, CLEAVE_CORRUPT,
                                    "user number %u answered, who does not belong", v);
        if (o->seen[v] == o->checks)
            return cleave_error_set(error, CLEAVE_CORRUPT, "user number %u answered twice", v);
        o->seen[v] = o->checks;
        if (q->top && v != o->best[i])
            return cleave_error_set(error, CLEAVE_CORRUPT,
                                    "user number %u answered in place %u, where number %u belongs",
                                    v, i + 1, o->best[i]);
    }
    return CLEAVE_OK;
}
