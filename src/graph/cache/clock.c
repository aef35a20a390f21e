/* First in, first out, but an entry that was used since it was last looked at gets another round
 * (Corbato 1968, as a queue: FIFO with reinsertion). One bit an entry. */
#include "graph/cache/state.h"

enum { QUEUE = 1 };

struct clock {
    struct cleave__cache_list queue;
};

static void hit(struct cleave__cache *cache, uint32_t node)
{
    cache->nodes[node].mark = 1;
}

static void evict_one(struct cleave__cache *cache)
{
    struct clock *s = cache->state;
    while (cache->nodes[s->queue.oldest].mark) {
        uint32_t node = s->queue.oldest;
        cache->nodes[node].mark = 0;
        cleave__cache_make_newest(cache, &s->queue, 0, node);
    }
    uint32_t out = s->queue.oldest;
    cleave__cache_unlink(cache, &s->queue, 0, out);
    cleave__cache_evict(cache, out);
}

static enum cleave__cache_verdict admit(struct cleave__cache *cache, uint32_t node,
                                        uint32_t recalled)
{
    struct clock *s = cache->state;
    (void)recalled;
    while (cache->used + cleave__cache_cost(cache, node) > cache->capacity)
        evict_one(cache);
    cache->nodes[node].queue = QUEUE;
    cleave__cache_push_newest(cache, &s->queue, 0, node);
    return CLEAVE_CACHE_KEPT;
}

static void forget(struct cleave__cache *cache, uint32_t node)
{
    struct clock *s = cache->state;
    cleave__cache_unlink(cache, &s->queue, 0, node);
}

static bool check(const struct cleave__cache *cache, const char **why)
{
    const struct clock *s = cache->state;
    for (uint32_t n = s->queue.newest; n; n = cache->nodes[n].link[0].older) {
        if (cache->nodes[n].mark > 1)
            return cleave__cache_true(false, "a used bit is not a bit", why);
    }
    return cleave__cache_list_check(cache, &s->queue, 0, QUEUE, why) &&
           cleave__cache_true(s->queue.count == cache->counts.entries, "an entry is in no queue",
                              why);
}

const struct cleave__cache_policy cleave__cache_clock = {
    .name = "clock",
    .summary = "first in, first out; what was used gets another round",
    .state_bytes = sizeof(struct clock),
    .hit = hit,
    .admit = admit,
    .forget = forget,
    .check = check,
};
