/* ARC: keys seen once lately (T1) and more than once (T2), each with the keys that lately left it
 * (B1, B2); a hit among those moves the target p of T1's share. Megiddo and Modha: ARC, a
 * self-tuning, low overhead replacement cache, FAST 2003 (Figure 4).
 *
 * Invariants, c the capacity: T1 + T2 <= c, T1 + B1 <= c, all four <= 2c, 0 <= p <= c. p is a real
 * number, as in the paper; where capacity is in bytes, sizes replace counts everywhere. */
#include "graph/cache/state.h"

enum { T1 = 1, T2, B1, B2 };

struct arc {
    struct cleave__cache_list list[5]; /* by the names above */
    double target;                     /* of T1's cost: the paper's p */
};

static uint64_t cost_of(const struct arc *s, unsigned which)
{
    return s->list[which].cost;
}

static void move(struct cleave__cache *cache, uint32_t node, unsigned to)
{
    struct arc *s = cache->state;
    struct cleave__cache_node *n = &cache->nodes[node];
    if (n->queue)
        cleave__cache_unlink(cache, &s->list[n->queue], 0, node);
    n->queue = (uint8_t)to;
    cleave__cache_push_newest(cache, &s->list[to], 0, node);
}

static void hit(struct cleave__cache *cache, uint32_t node)
{
    struct arc *s = cache->state;
    if (cache->nodes[node].queue == T2)
        cleave__cache_make_newest(cache, &s->list[T2], 0, node);
    else
        move(cache, node, T2);
}

/* The paper's REPLACE; `from_b2`: the key that room is made for was in B2. */
static void replace(struct cleave__cache *cache, bool from_b2)
{
    struct arc *s = cache->state;
    double t1 = (double)cost_of(s, T1);
    bool first = s->list[T1].count && (t1 > s->target || (from_b2 && t1 == s->target));
    unsigned which = first || !s->list[T2].count ? T1 : T2;
    uint32_t out = s->list[which].oldest;
    cleave__cache_evict_to_ghost(cache, out);
    move(cache, out, which == T1 ? B1 : B2);
}

static void drop_oldest(struct cleave__cache *cache, unsigned which)
{
    struct arc *s = cache->state;
    uint32_t node = s->list[which].oldest;
    cleave__cache_unlink(cache, &s->list[which], 0, node);
    cleave__cache_drop_ghost(cache, node);
}

/* A hit among the ghosts moves the target; says which list it was. */
static uint32_t recall(struct cleave__cache *cache, uint32_t node)
{
    struct arc *s = cache->state;
    uint32_t queue = cache->nodes[node].queue;
    double b1 = (double)cost_of(s, B1), b2 = (double)cost_of(s, B2), c = (double)cache->capacity;
    if (queue == B1)
        s->target += b2 > b1 ? b2 / b1 : 1;
    else
        s->target -= b1 > b2 ? b1 / b2 : 1;
    s->target = s->target < 0 ? 0 : s->target > c ? c : s->target;
    cleave__cache_unlink(cache, &s->list[queue], 0, node);
    cache->nodes[node].queue = 0;
    return queue;
}

/* Case IV: forgets what would be too much. */
static void bound_ghosts(struct cleave__cache *cache, uint64_t cost)
{
    struct arc *s = cache->state;
    uint64_t c = cache->capacity;
    if (cost_of(s, T1) + cost_of(s, B1) + cost > c) {
        while (s->list[B1].count && cost_of(s, T1) + cost_of(s, B1) + cost > c)
            drop_oldest(cache, B1);
        while (cost_of(s, T1) + cost > c) { /* B1 is empty: gone without a trace */
            uint32_t out = s->list[T1].oldest;
            cleave__cache_unlink(cache, &s->list[T1], 0, out);
            cleave__cache_evict(cache, out);
        }
    }
    /* With sizes, B1 may have given less than is needed. */
    while (s->list[B2].count &&
           cost_of(s, T1) + cost_of(s, T2) + cost_of(s, B1) + cost_of(s, B2) + cost > 2 * c)
        drop_oldest(cache, B2);
}

static enum cleave__cache_verdict admit(struct cleave__cache *cache, uint32_t node,
                                        uint32_t recalled)
{
    struct arc *s = cache->state;
    uint64_t cost = cleave__cache_cost(cache, node);
    if (!recalled)
        bound_ghosts(cache, cost);
    while (cache->used + cost > cache->capacity)
        replace(cache, recalled == B2);
    move(cache, node, recalled ? T2 : T1);
    /* A ghost that came back larger. */
    while (cost_of(s, T1) + cost_of(s, T2) + cost_of(s, B1) + cost_of(s, B2) > 2 * cache->capacity)
        drop_oldest(cache, s->list[B2].count ? B2 : B1);
    return CLEAVE_CACHE_KEPT;
}

static void forget(struct cleave__cache *cache, uint32_t node)
{
    struct arc *s = cache->state;
    cleave__cache_unlink(cache, &s->list[cache->nodes[node].queue], 0, node);
}

static bool check(const struct cleave__cache *cache, const char **why)
{
    const struct arc *s = cache->state;
    uint64_t c = cache->capacity, all = 0, nodes = 0;
    for (unsigned which = T1; which <= B2; which++) {
        if (!cleave__cache_list_check(cache, &s->list[which], 0, (uint8_t)which, why))
            return false;
        for (uint32_t n = s->list[which].newest; n; n = cache->nodes[n].link[0].older) {
            if (cache->nodes[n].resident != (which <= T2))
                return cleave__cache_true(false, "a ghost among entries, or the reverse", why);
        }
        all += cost_of(s, which);
        nodes += s->list[which].count;
    }
    return cleave__cache_true(nodes == cache->node_count, "a node is in no list", why) &&
           cleave__cache_true(cost_of(s, T1) + cost_of(s, B1) <= c && all <= 2 * c,
                              "more is remembered than the paper allows", why) &&
           cleave__cache_true(s->target >= 0 && s->target <= (double)c,
                              "the target is out of range", why);
}

const struct cleave__cache_policy cleave__cache_arc = {
    .name = "arc",
    .summary = "recency and frequency, balanced by what lately left each",
    .state_bytes = sizeof(struct arc),
    .hit = hit,
    .admit = admit,
    .forget = forget,
    .check = check,
    .recall = recall,
};
