/* Clusters vertices along heavy nets: a vertex joins the neighbouring cluster to which its nets tie
 * it most, a net of weight w and s pins counting w / (s - 1) once, divided by the root of the
 * cluster's weight. Nets with very many pins tell little about nearness and are left out of the
 * rating (nowhere else). Ties go to vertices still alone, then at random. Isolated vertices are
 * bundled. A level shrinks by at most 2.5, so that refinement gets enough levels. (After the
 * heavy-edge clustering of Karypis and Kumar 1999 and Catalyurek and Aykanat 1999.) */
#include <math.h>
#include <string.h>

#include "place/multilevel/search.h"

enum { RATED_PINS_MAX = 500 };

struct clustering {
    const struct cleave__level *level;
    const uint32_t *restrict_to;
    const int64_t *cap;
    uint32_t *leader; /* [vertices]: the cluster, named by one of its vertices */
    int64_t *weight;  /* [vertices * weights], by leader */
    int32_t *fixed;   /* [vertices], by leader */
    bool *matched;    /* in a cluster of two or more */
    double *rating;   /* [vertices], by leader; 0 outside a call */
    uint32_t *seen;   /* [vertices], by leader: last net that rated it + 1; 0 outside a call */
    uint32_t *near;   /* leaders rated */
    double scale[CLEAVE_WEIGHTS_MAX]; /* turns a weight into a multiple of the mean vertex's */
};

static bool may_join(const struct clustering *x, uint32_t v, uint32_t to)
{
    const struct cleave__level *l = x->level;
    uint32_t W = l->weights;
    if (x->restrict_to && x->restrict_to[v] != x->restrict_to[to])
        return false;
    if (l->home && l->home[v] != l->home[to])
        return false;
    if (x->fixed[v] != CLEAVE_FREE && x->fixed[to] != CLEAVE_FREE && x->fixed[v] != x->fixed[to])
        return false;
    for (uint32_t c = 0; c < W; c++) {
        int64_t w = x->weight[(size_t)v * W + c];
        if (w && x->weight[(size_t)to * W + c] + w > x->cap[c])
            return false;
    }
    for (uint32_t i = l->apart_offset ? l->apart_offset[v] : 0;
         l->apart_offset && i < l->apart_offset[v + 1]; i++) {
        if (x->leader[l->apart[i]] == to)
            return false;
    }
    return true;
}

static void join(struct clustering *x, uint32_t v, uint32_t to)
{
    uint32_t W = x->level->weights;
    x->leader[v] = to;
    x->matched[v] = x->matched[to] = true;
    if (x->fixed[v] != CLEAVE_FREE)
        x->fixed[to] = x->fixed[v];
    for (uint32_t c = 0; c < W; c++)
        x->weight[(size_t)to * W + c] += x->weight[(size_t)v * W + c];
}

/* How heavy a cluster is for the eye: the root of its weight in mean vertices, averaged over the
 * constraints. Dividing by it keeps clusters of like size without forbidding a strong tie. */
static double reluctance(const struct clustering *x, uint32_t leader)
{
    uint32_t W = x->level->weights;
    double load = 0;
    for (uint32_t c = 0; c < W; c++)
        load += (double)x->weight[(size_t)leader * W + c] * x->scale[c];
    return sqrt(load > 0.1 ? load : 0.1);
}

static void set_scales(struct clustering *x)
{
    uint32_t n = x->level->vertices, W = x->level->weights;
    for (uint32_t c = 0; c < W; c++) {
        double total = 0;
        for (uint32_t v = 0; v < n; v++)
            total += (double)x->level->weight[(size_t)v * W + c];
        x->scale[c] = total > 0 ? (double)n / total / W : 0;
    }
}

/* A vertex that lies only in huge nets still has neighbours: a few of them, at random. */
static uint32_t sample_huge_nets(struct clustering *x, uint32_t v, struct cleave_random *random)
{
    const struct cleave__level *l = x->level;
    uint32_t near = 0, nets = 0;
    for (uint64_t j = l->vertex_offset[v]; j < l->vertex_offset[v + 1] && nets < 8; j++) {
        uint32_t e = l->incident[j];
        uint64_t size = l->net_offset[e + 1] - l->net_offset[e];
        if (size <= RATED_PINS_MAX || l->net_weight[e] == 0)
            continue;
        nets++;
        double score = (double)l->net_weight[e] / (double)(size - 1);
        for (int i = 0; i < 16; i++) {
            uint64_t at = l->net_offset[e] + cleave__random_below(random, size);
            uint32_t to = x->leader[l->pin[at]];
            if (to == v)
                continue;
            if (x->rating[to] == 0)
                x->near[near++] = to;
            x->rating[to] += score;
        }
    }
    return near;
}

static uint32_t best_cluster(struct clustering *x, uint32_t v, struct cleave_random *random)
{
    const struct cleave__level *l = x->level;
    uint32_t near = 0;
    for (uint64_t j = l->vertex_offset[v]; j < l->vertex_offset[v + 1]; j++) {
        uint32_t e = l->incident[j];
        uint64_t size = l->net_offset[e + 1] - l->net_offset[e];
        if (size > RATED_PINS_MAX || size < 2)
            continue;
        double score = (double)l->net_weight[e] / (double)(size - 1);
        for (uint64_t i = l->net_offset[e]; i < l->net_offset[e + 1]; i++) {
            uint32_t to = x->leader[l->pin[i]];
            /* Once a net, however many of its pins the cluster holds. */
            if (to == v || score == 0 || x->seen[to] == e + 1)
                continue;
            x->seen[to] = e + 1;
            if (x->rating[to] == 0)
                x->near[near++] = to;
            x->rating[to] += score;
        }
    }
    if (near == 0)
        near = sample_huge_nets(x, v, random);
    uint32_t best = CLEAVE__NONE, ties = 0;
    double most = 0;
    for (uint32_t i = 0; i < near; i++) {
        uint32_t to = x->near[i];
        x->seen[to] = 0;
        double rating = x->rating[to] / reluctance(x, to);
        x->rating[to] = 0;
        if (rating < most || !may_join(x, v, to))
            continue;
        if (rating > most || (best != CLEAVE__NONE && x->matched[best] && !x->matched[to])) {
            ties = 1;
        } else if ((x->matched[to] && !x->matched[best]) ||
                   cleave__random_below(random, ++ties) != 0) {
            continue;
        }
        most = rating;
        best = to;
    }
    return best;
}

/* Vertices without nets: any of them go together. */
static uint32_t bundle_isolated(struct clustering *x, uint32_t clusters, uint32_t least)
{
    const struct cleave__level *l = x->level;
    uint32_t open = CLEAVE__NONE;
    for (uint32_t v = 0; v < l->vertices && clusters > least; v++) {
        if (x->matched[v] || l->vertex_offset[v] != l->vertex_offset[v + 1])
            continue;
        if (open != CLEAVE__NONE && may_join(x, v, open)) {
            join(x, v, open);
            clusters--;
        } else {
            open = v;
        }
    }
    return clusters;
}

enum cleave_status cleave__cluster(struct cleave__search *search, const struct cleave__level *level,
                                   const uint32_t *restrict_to, const int64_t *cap, uint32_t least,
                                   uint32_t *cluster, uint32_t *clusters)
{
    uint32_t n = level->vertices, W = level->weights;
    struct cleave_arena *arena = &search->arena;
    struct cleave_arena_mark mark = cleave__arena_mark(arena);
    struct clustering x = {.level = level, .restrict_to = restrict_to, .cap = cap};
    x.leader = cluster;
    x.weight = cleave__arena_array(arena, (size_t)n * W, sizeof *x.weight);
    x.fixed = cleave__arena_array(arena, n, sizeof *x.fixed);
    x.matched = cleave__arena_zalloc(arena, n * sizeof *x.matched);
    x.rating = cleave__arena_zalloc(arena, n * sizeof *x.rating);
    x.seen = cleave__arena_zalloc(arena, n * sizeof *x.seen);
    x.near = cleave__arena_array(arena, n, sizeof *x.near);
    uint32_t *order = cleave__arena_array(arena, n, sizeof *order);
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (!x.weight || !x.fixed || !x.matched || !x.rating || !x.seen || !x.near || !order)
        goto done;
    status = CLEAVE_OK;
    set_scales(&x);
    memcpy(x.weight, level->weight, (size_t)n * W * sizeof *x.weight);
    memcpy(x.fixed, level->fixed, n * sizeof *x.fixed);
    for (uint32_t v = 0; v < n; v++)
        x.leader[v] = order[v] = v;
    cleave__random_shuffle(&search->random, order, n);
    uint32_t count = n, enough = (uint32_t)((double)n / 2.5);
    if (enough < least)
        enough = least;
    for (uint32_t i = 0; i < n && count > enough; i++) {
        uint32_t v = order[i];
        if (x.matched[v])
            continue;
        uint32_t to = best_cluster(&x, v, &search->random);
        if (to != CLEAVE__NONE) {
            join(&x, v, to);
            count--;
        }
        if (i % 4096 == 0 && cleave__stopped(search)) {
            status = CLEAVE_INTERRUPTED;
            goto done;
        }
    }
    if (count > least)
        bundle_isolated(&x, count, least);
    /* Number the clusters by their first vertex. */
    uint32_t *number = order;
    memset(number, 0xff, n * sizeof *number);
    count = 0;
    for (uint32_t v = 0; v < n; v++) {
        uint32_t leader = x.leader[v];
        if (number[leader] == CLEAVE__NONE)
            number[leader] = count++;
        cluster[v] = number[leader];
    }
    *clusters = count;
done:
    cleave__arena_rewind(arena, mark);
    return status;
}
