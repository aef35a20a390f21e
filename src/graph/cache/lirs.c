/* LIRS: entries whose last two uses lie close together (LIR) hold most of the cache; the others
 * (HIR) a small rest, in the queue Q. A stack S of recency holds the LIR entries, and what was used
 * since the oldest of them: HIR entries and ghosts. A HIR key used again while in S has a shorter
 * distance than the oldest LIR entry, and takes its place. Jiang and Zhang: LIRS, an efficient low
 * inter-reference recency set replacement policy, SIGMETRICS 2002.
 *
 * While the cache fills, all are LIR. With sizes, a new key that does not fit beside the LIR
 * entries is not kept but remembered in S, as if it had been evicted at once: no LIR entry makes
 * way for it.
 *
 * Invariants: the bottom of S is LIR, or S is empty; a HIR entry is in Q, and perhaps in S; a ghost
 * is in S and in the list of ghosts, oldest eviction first; LIR entries cost at most the capacity
 * less the HIR share. Left open by the paper: the HIR share (it uses 1 %) and a bound on S, whose
 * ghosts could grow without end; here at most `stack` times the capacity, the oldest ghosts go. */
#include "graph/cache/state.h"

enum { LIR = 1, HIR, GHOST };
enum { STACK, QUEUE }; /* a node's links: in S; in Q or among the ghosts */
enum { PARAMETER_HIR, PARAMETER_STACK };

static const struct cleave__cache_parameter parameters[] = {
    {"hir", "share kept for entries of long distance", 0.01, 0, 1},
    {"stack", "most that the stack remembers, in capacities", 2, 1, 100},
    {0},
};

struct lirs {
    struct cleave__cache_list stack, queue, ghosts;
    uint64_t lir, lir_limit, stack_limit; /* costs */
};

/* `mark` of a node: it is in S. */

static void start(struct cleave__cache *cache)
{
    struct lirs *s = cache->state;
    const double *p = cache->options.choice.parameter;
    uint64_t hir = cleave__cache_share(cache, p[PARAMETER_HIR], 1);
    s->lir_limit = hir < cache->capacity ? cache->capacity - hir : 0;
    s->stack_limit = cleave__cache_share(cache, p[PARAMETER_STACK], 1);
}

static void leave_stack(struct cleave__cache *cache, uint32_t node)
{
    struct lirs *s = cache->state;
    cleave__cache_unlink(cache, &s->stack, STACK, node);
    cache->nodes[node].mark = 0;
}

static void top_of_stack(struct cleave__cache *cache, uint32_t node)
{
    struct lirs *s = cache->state;
    if (cache->nodes[node].mark)
        cleave__cache_unlink(cache, &s->stack, STACK, node);
    cache->nodes[node].mark = 1;
    cleave__cache_push_newest(cache, &s->stack, STACK, node);
}

/* Takes from the bottom of S what is not LIR. */
static void prune(struct cleave__cache *cache)
{
    struct lirs *s = cache->state;
    while (s->stack.oldest && cache->nodes[s->stack.oldest].queue != LIR) {
        uint32_t node = s->stack.oldest;
        leave_stack(cache, node);
        if (cache->nodes[node].queue == GHOST) {
            cleave__cache_unlink(cache, &s->ghosts, QUEUE, node);
            cleave__cache_drop_ghost(cache, node);
        }
    }
}

/* LIR entries past their share become HIR, the oldest first. */
static void demote(struct cleave__cache *cache)
{
    struct lirs *s = cache->state;
    while (s->lir > s->lir_limit) {
        uint32_t node = s->stack.oldest;
        leave_stack(cache, node);
        s->lir -= cleave__cache_cost(cache, node);
        cache->nodes[node].queue = HIR;
        cleave__cache_push_newest(cache, &s->queue, QUEUE, node);
        prune(cache);
    }
}

static void become_lir(struct cleave__cache *cache, uint32_t node)
{
    struct lirs *s = cache->state;
    top_of_stack(cache, node);
    cache->nodes[node].queue = LIR;
    s->lir += cleave__cache_cost(cache, node);
    demote(cache);
}

static void bound_stack(struct cleave__cache *cache)
{
    struct lirs *s = cache->state;
    while (s->stack.cost > s->stack_limit && s->ghosts.count) {
        uint32_t oldest = s->ghosts.oldest;
        cleave__cache_unlink(cache, &s->ghosts, QUEUE, oldest);
        leave_stack(cache, oldest);
        cleave__cache_drop_ghost(cache, oldest);
    }
}

static void hit(struct cleave__cache *cache, uint32_t node)
{
    struct lirs *s = cache->state;
    struct cleave__cache_node *n = &cache->nodes[node];
    if (n->queue == LIR) {
        cleave__cache_make_newest(cache, &s->stack, STACK, node);
        prune(cache);
    } else if (n->mark) {
        cleave__cache_unlink(cache, &s->queue, QUEUE, node);
        become_lir(cache, node);
    } else {
        cleave__cache_make_newest(cache, &s->queue, QUEUE, node);
        top_of_stack(cache, node);
        prune(cache);
        bound_stack(cache);
    }
}

/* The oldest HIR entry leaves; its key stays in S, if it is there. */
static void evict_one(struct cleave__cache *cache)
{
    struct lirs *s = cache->state;
    uint32_t node = s->queue.oldest;
    cleave__cache_unlink(cache, &s->queue, QUEUE, node);
    if (!cache->nodes[node].mark) {
        cleave__cache_evict(cache, node);
        return;
    }
    cleave__cache_evict_to_ghost(cache, node);
    cache->nodes[node].queue = GHOST;
    cleave__cache_push_newest(cache, &s->ghosts, QUEUE, node);
}

static uint32_t recall(struct cleave__cache *cache, uint32_t node)
{
    struct lirs *s = cache->state;
    cleave__cache_unlink(cache, &s->ghosts, QUEUE, node);
    leave_stack(cache, node); /* not the bottom: that is LIR */
    return LIR;
}

static void make_room(struct cleave__cache *cache, uint64_t cost)
{
    struct lirs *s = cache->state;
    while (cache->used + cost > cache->capacity) {
        if (!s->queue.count) { /* a LIR entry has to go: `cost` is a ghost's, come back */
            uint64_t limit = s->lir_limit;
            s->lir_limit = s->lir - 1;
            demote(cache);
            s->lir_limit = limit;
        }
        evict_one(cache);
    }
}

static enum cleave__cache_verdict admit(struct cleave__cache *cache, uint32_t node,
                                        uint32_t recalled)
{
    struct lirs *s = cache->state;
    struct cleave__cache_node *n = &cache->nodes[node];
    uint64_t cost = cleave__cache_cost(cache, node);
    bool filling = cache->used + cost <= s->lir_limit;
    if (!recalled && !filling && cost > cache->capacity - s->lir) {
        n->queue = GHOST; /* S is not empty: its bottom is LIR */
        cleave__cache_push_newest(cache, &s->ghosts, QUEUE, node);
        top_of_stack(cache, node);
        bound_stack(cache);
        return CLEAVE_CACHE_REMEMBERED;
    }
    make_room(cache, cost);
    if (recalled || filling) {
        become_lir(cache, node);
    } else {
        n->queue = HIR;
        cleave__cache_push_newest(cache, &s->queue, QUEUE, node);
        top_of_stack(cache, node);
        prune(cache);
    }
    bound_stack(cache);
    return CLEAVE_CACHE_KEPT;
}

static void forget(struct cleave__cache *cache, uint32_t node)
{
    struct lirs *s = cache->state;
    if (cache->nodes[node].queue == HIR)
        cleave__cache_unlink(cache, &s->queue, QUEUE, node);
    else
        s->lir -= cleave__cache_cost(cache, node);
    if (cache->nodes[node].mark)
        leave_stack(cache, node);
    prune(cache);
}

static bool check(const struct cleave__cache *cache, const char **why)
{
    const struct lirs *s = cache->state;
    uint64_t lir = 0, lirs = 0, ghosts = 0;
    for (uint32_t n = s->stack.newest; n; n = cache->nodes[n].link[STACK].older) {
        const struct cleave__cache_node *node = &cache->nodes[n];
        if (!node->mark || node->resident == (node->queue == GHOST))
            return cleave__cache_true(false, "the stack holds what does not say so", why);
        lirs += node->queue == LIR;
        lir += node->queue == LIR ? cleave__cache_cost(cache, n) : 0;
        ghosts += node->queue == GHOST;
    }
    uint32_t bottom = s->stack.oldest;
    return cleave__cache_list_check(cache, &s->stack, STACK, 0, why) &&
           cleave__cache_list_check(cache, &s->queue, QUEUE, HIR, why) &&
           cleave__cache_list_check(cache, &s->ghosts, QUEUE, GHOST, why) &&
           cleave__cache_true(!bottom || cache->nodes[bottom].queue == LIR,
                              "the bottom of the stack is not LIR", why) &&
           cleave__cache_true(lir == s->lir && lir <= s->lir_limit, "LIR entries past their share",
                              why) &&
           cleave__cache_true(lirs + s->queue.count == cache->counts.entries &&
                                  ghosts == s->ghosts.count &&
                                  ghosts == cache->node_count - cache->counts.entries,
                              "a node is in no list", why) &&
           cleave__cache_true(!ghosts || s->stack.cost <= s->stack_limit,
                              "the stack remembers too much", why);
}

const struct cleave__cache_policy cleave__cache_lirs = {
    .name = "lirs",
    .summary = "entries whose uses lie close together stay",
    .parameters = parameters,
    .state_bytes = sizeof(struct lirs),
    .hit = hit,
    .admit = admit,
    .forget = forget,
    .check = check,
    .start = start,
    .recall = recall,
};
