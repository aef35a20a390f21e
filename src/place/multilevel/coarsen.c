/* Clusters vertices along heavy nets: a vertex joins the neighbouring cluster to which its nets tie
 * it most, a net of weight w and s pins counting w / (s - 1) once, divided by the root of the
 * cluster's weight. Nets with very many pins tell little about nearness and are left out of the
 * rating (nowhere else). Ties go to vertices still alone, then at random. Isolated vertices are
 * bundled. A level shrinks by at most 2.5, so that refinement gets enough levels. (After the
 * heavy-edge clustering of Karypis and Kumar 1999 and Catalyurek and Aykanat 1999.)
 *
 * Large levels go in batches: threads find the vertices of a batch their clusters, as these were
 * before the batch; then they join one by one, in order, where that is still allowed. What comes
 * out depends on the size of the batch, never on the number of threads. */
#include <math.h>
#include <string.h>

#include "place/multilevel/search.h"

enum { BATCHED_MIN = 8192, BATCHES = 64, CHUNK = 64 };

/* What one thread rates with; all zero outside a call. */
struct rater {
    double *rating; /* [vertices], by leader */
    uint32_t *seen; /* [vertices], by leader: last net that rated it + 1 */
    uint32_t *near; /* leaders rated */
};

struct clustering {
    const struct cleave__level *level;
    const uint32_t *restrict_to;
    const int64_t *cap;
    uint32_t *leader;                 /* [vertices]: the cluster, named by one of its vertices */
    int64_t *weight;                  /* [vertices * weights], by leader */
    int32_t *fixed;                   /* [vertices], by leader */
    bool *matched;                    /* in a cluster of two or more */
    uint64_t seed;                    /* of the draws among equals */
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
static uint32_t sample_huge_nets(const struct clustering *x, struct rater *r, uint32_t v,
                                 uint64_t *draw)
{
    const struct cleave__level *l = x->level;
    uint32_t near = 0, nets = 0;
    for (uint64_t j = l->vertex_offset[v]; j < l->vertex_offset[v + 1] && nets < 8; j++) {
        uint32_t e = l->incident[j];
        uint64_t size = l->net_offset[e + 1] - l->net_offset[e];
        if (size <= CLEAVE__RATED_PINS_MAX || l->net_weight[e] == 0)
            continue;
        nets++;
        double score = (double)l->net_weight[e] / (double)(size - 1);
        for (int i = 0; i < 16; i++) {
            uint64_t at = l->net_offset[e] + (*draw = cleave__mix64(*draw)) % size;
            uint32_t to = x->leader[l->pin[at]];
            if (to == v)
                continue;
            if (r->rating[to] == 0)
                r->near[near++] = to;
            r->rating[to] += score;
        }
    }
    return near;
}

static uint32_t best_cluster(const struct clustering *x, struct rater *r, uint32_t v)
{
    const struct cleave__level *l = x->level;
    uint32_t near = 0;
    uint64_t draw = x->seed + v;
    for (uint64_t j = l->vertex_offset[v]; j < l->vertex_offset[v + 1]; j++) {
        uint32_t e = l->incident[j];
        uint64_t size = l->net_offset[e + 1] - l->net_offset[e];
        if (size > CLEAVE__RATED_PINS_MAX || size < 2)
            continue;
        double score = (double)l->net_weight[e] / (double)(size - 1);
        for (uint64_t i = l->net_offset[e]; i < l->net_offset[e + 1]; i++) {
            uint32_t to = x->leader[l->pin[i]];
            /* Once a net, however many of its pins the cluster holds. */
            if (to == v || score == 0 || r->seen[to] == e + 1)
                continue;
            r->seen[to] = e + 1;
            if (r->rating[to] == 0)
                r->near[near++] = to;
            r->rating[to] += score;
        }
    }
    if (near == 0)
        near = sample_huge_nets(x, r, v, &draw);
    uint32_t best = CLEAVE__NONE, ties = 0;
    double most = 0;
    for (uint32_t i = 0; i < near; i++) {
        uint32_t to = r->near[i];
        r->seen[to] = 0;
        double rating = r->rating[to] / reluctance(x, to);
        r->rating[to] = 0;
        if (rating < most || !may_join(x, v, to))
            continue;
        if (rating > most || (best != CLEAVE__NONE && x->matched[best] && !x->matched[to])) {
            ties = 1;
        } else if ((x->matched[to] && !x->matched[best]) ||
                   (draw = cleave__mix64(draw)) % ++ties != 0) {
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

/* A batch: order[0 .. count - 1] and where each of them would go. */
struct batch {
    const struct clustering *x;
    struct rater *rater; /* [threads] */
    const uint32_t *order;
    uint32_t *choice;
    uint32_t count;
};

static void rate_chunk(void *context, uint32_t task, uint32_t worker)
{
    const struct batch *b = context;
    for (uint32_t i = task * CHUNK; i < (task + 1) * CHUNK && i < b->count; i++) {
        uint32_t v = b->order[i];
        b->choice[i] = b->x->matched[v] ? CLEAVE__NONE : best_cluster(b->x, &b->rater[worker], v);
    }
}

/* Joins the batch's vertices one by one; the number of clusters then. Who was chosen may have
 * joined another meanwhile: that one will do, if it may be. */
static uint32_t join_batch(struct clustering *x, const struct batch *b, uint32_t clusters,
                           uint32_t enough)
{
    for (uint32_t i = 0; i < b->count && clusters > enough; i++) {
        uint32_t v = b->order[i], to = b->choice[i];
        if (to == CLEAVE__NONE || x->matched[v])
            continue;
        to = x->leader[to];
        if (!may_join(x, v, to))
            to = best_cluster(x, b->rater, v);
        if (to == CLEAVE__NONE)
            continue;
        join(x, v, to);
        clusters--;
    }
    return clusters;
}

static bool rater_init(struct rater *r, struct cleave_arena *arena, uint32_t n)
{
    r->rating = cleave__arena_zalloc(arena, n * sizeof *r->rating);
    r->seen = cleave__arena_zalloc(arena, n * sizeof *r->seen);
    r->near = cleave__arena_array(arena, n, sizeof *r->near);
    return r->rating && r->seen && r->near;
}

/* Clusters until `enough` are left, or every vertex had its turn. */
static enum cleave_status cluster_all(struct cleave__search *search, struct clustering *x,
                                      const uint32_t *order, uint32_t enough, uint32_t *clusters)
{
    struct cleave_arena *arena = &search->arena;
    uint32_t n = x->level->vertices, size = n < BATCHED_MIN ? 1 : n / BATCHES;
    struct cleave__pool *pool = size == 1 ? NULL : search->pool;
    struct batch batch = {.x = x};
    uint32_t threads = cleave__pool_threads(pool);
    batch.rater = cleave__arena_array(arena, threads, sizeof *batch.rater);
    batch.choice = cleave__arena_array(arena, size, sizeof *batch.choice);
    if (!batch.rater || !batch.choice)
        return CLEAVE_NO_MEMORY;
    for (uint32_t t = 0; t < threads; t++) {
        if (!rater_init(&batch.rater[t], arena, n))
            return CLEAVE_NO_MEMORY;
    }
    *clusters = n;
    for (uint32_t i = 0; i<n && * clusters> enough; i += size) {
        batch.order = order + i;
        batch.count = n - i < size ? n - i : size;
        cleave__pool_run(pool, (batch.count + CHUNK - 1) / CHUNK, rate_chunk, &batch);
        *clusters = join_batch(x, &batch, *clusters, enough);
        if ((size > 1 || i % 4096 == 0) && cleave__stopped(search))
            return CLEAVE_INTERRUPTED;
    }
    return CLEAVE_OK;
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
    uint32_t *order = cleave__arena_array(arena, n, sizeof *order);
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (!x.weight || !x.fixed || !x.matched || !order)
        goto done;
    status = CLEAVE_OK;
    set_scales(&x);
    memcpy(x.weight, level->weight, (size_t)n * W * sizeof *x.weight);
    memcpy(x.fixed, level->fixed, n * sizeof *x.fixed);
    for (uint32_t v = 0; v < n; v++)
        x.leader[v] = order[v] = v;
    cleave__random_shuffle(&search->random, order, n);
    x.seed = cleave__random_next(&search->random);
    uint32_t count = n, enough = (uint32_t)((double)n / 2.5);
    status = cluster_all(search, &x, order, enough < least ? least : enough, &count);
    if (status)
        goto done;
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
