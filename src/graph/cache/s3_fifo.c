/* S3-FIFO: a small queue where most entries pass through once, a main queue, and a ghost queue of
 * the keys that left the small one. Yang, Zhang, Qiu, Yue, Rashmi: FIFO queues are all you need for
 * cache eviction, SOSP 2023 (Algorithm 1).
 *
 * A new key enters the small queue; one that the ghosts know, the main. `mark` counts uses, up
 * to 3. Room is made in the main queue when it is past its share, else in the small one: its oldest
 * goes to the main queue if used `promote` times (the paper: more than once), else it leaves and
 * its key becomes a ghost. In the main queue a used entry gets another round for each use.
 * Parameters the paper fixes by experiment: the small share (10 %), the ghosts (as many as the main
 * queue holds: 90 % of the capacity). While the cache fills, everything goes to the small queue. */
#include "graph/cache/state.h"

enum { SMALL = 1, MAIN, GHOST };
enum { USES_MAX = 3 };
enum { PARAMETER_SMALL, PARAMETER_GHOST, PARAMETER_PROMOTE };

static const struct cleave__cache_parameter parameters[] = {
    {"small", "share of the small queue", 0.1, 0, 1},
    {"ghost", "ghosts, as a share of the capacity", 0.9, 0, 10},
    {"promote", "uses that take an entry to the main queue", 2, 1, USES_MAX},
    {0},
};

struct s3_fifo {
    struct cleave__cache_list small, main, ghost;
    uint64_t main_limit, ghost_limit;
    uint32_t promote;
};

static void start(struct cleave__cache *cache)
{
    struct s3_fifo *s = cache->state;
    const double *p = cache->options.choice.parameter;
    uint64_t small = cleave__cache_share(cache, p[PARAMETER_SMALL], 1);
    s->main_limit = small < cache->capacity ? cache->capacity - small : 0;
    s->ghost_limit = cleave__cache_share(cache, p[PARAMETER_GHOST], 0);
    s->promote = (uint32_t)p[PARAMETER_PROMOTE];
}

static void hit(struct cleave__cache *cache, uint32_t node)
{
    if (cache->nodes[node].mark < USES_MAX)
        cache->nodes[node].mark++;
}

static void remember(struct cleave__cache *cache, uint32_t node)
{
    struct s3_fifo *s = cache->state;
    cleave__cache_evict_to_ghost(cache, node);
    cache->nodes[node].queue = GHOST;
    cleave__cache_push_newest(cache, &s->ghost, 0, node);
    while (s->ghost.cost > s->ghost_limit) {
        uint32_t oldest = s->ghost.oldest;
        cleave__cache_unlink(cache, &s->ghost, 0, oldest);
        cleave__cache_drop_ghost(cache, oldest);
    }
}

/* Looks at the small queue's oldest: it goes to the main queue or leaves. */
static void pass_small(struct cleave__cache *cache)
{
    struct s3_fifo *s = cache->state;
    uint32_t node = s->small.oldest;
    struct cleave__cache_node *n = &cache->nodes[node];
    cleave__cache_unlink(cache, &s->small, 0, node);
    if (n->mark < s->promote) {
        remember(cache, node);
        return;
    }
    n->mark = 0;
    n->queue = MAIN;
    cleave__cache_push_newest(cache, &s->main, 0, node);
}

static void evict_main(struct cleave__cache *cache)
{
    struct s3_fifo *s = cache->state;
    while (cache->nodes[s->main.oldest].mark) {
        uint32_t node = s->main.oldest;
        cache->nodes[node].mark--;
        cleave__cache_make_newest(cache, &s->main, 0, node);
    }
    uint32_t out = s->main.oldest;
    cleave__cache_unlink(cache, &s->main, 0, out);
    cleave__cache_evict(cache, out);
}

static uint32_t recall(struct cleave__cache *cache, uint32_t node)
{
    struct s3_fifo *s = cache->state;
    cleave__cache_unlink(cache, &s->ghost, 0, node);
    return MAIN;
}

static enum cleave__cache_verdict admit(struct cleave__cache *cache, uint32_t node,
                                        uint32_t recalled)
{
    struct s3_fifo *s = cache->state;
    while (cache->used + cleave__cache_cost(cache, node) > cache->capacity) {
        if (s->main.cost > s->main_limit || !s->small.count)
            evict_main(cache);
        else
            pass_small(cache);
    }
    cache->nodes[node].queue = recalled ? MAIN : SMALL;
    cleave__cache_push_newest(cache, recalled ? &s->main : &s->small, 0, node);
    return CLEAVE_CACHE_KEPT;
}

static void forget(struct cleave__cache *cache, uint32_t node)
{
    struct s3_fifo *s = cache->state;
    cleave__cache_unlink(cache, cache->nodes[node].queue == SMALL ? &s->small : &s->main, 0, node);
}

static bool check(const struct cleave__cache *cache, const char **why)
{
    const struct s3_fifo *s = cache->state;
    for (uint32_t n = s->ghost.newest; n; n = cache->nodes[n].link[0].older) {
        if (cache->nodes[n].resident)
            return cleave__cache_true(false, "a ghost holds an entry", why);
    }
    for (uint32_t n = s->main.newest; n; n = cache->nodes[n].link[0].older) {
        if (cache->nodes[n].mark > USES_MAX)
            return cleave__cache_true(false, "uses are past their bound", why);
    }
    return cleave__cache_list_check(cache, &s->small, 0, SMALL, why) &&
           cleave__cache_list_check(cache, &s->main, 0, MAIN, why) &&
           cleave__cache_list_check(cache, &s->ghost, 0, GHOST, why) &&
           cleave__cache_true(s->small.count + s->main.count == cache->counts.entries &&
                                  s->ghost.count == cache->node_count - cache->counts.entries,
                              "a node is in no queue", why) &&
           cleave__cache_true(s->ghost.cost <= s->ghost_limit, "more ghosts than allowed", why);
}

const struct cleave__cache_policy cleave__cache_s3_fifo = {
    .name = "s3-fifo",
    .summary = "a small queue on probation, a main queue, ghosts",
    .parameters = parameters,
    .state_bytes = sizeof(struct s3_fifo),
    .hit = hit,
    .admit = admit,
    .forget = forget,
    .check = check,
    .start = start,
    .recall = recall,
};
