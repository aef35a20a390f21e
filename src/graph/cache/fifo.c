/* First in, first out. Hits change nothing. */
#include "graph/cache/state.h"

enum { QUEUE = 1 };

struct fifo {
    struct cleave__cache_list queue;
};

static enum cleave__cache_verdict admit(struct cleave__cache *cache, uint32_t node,
                                        uint32_t recalled)
{
    struct fifo *s = cache->state;
    (void)recalled;
    while (cache->used + cleave__cache_cost(cache, node) > cache->capacity) {
        uint32_t out = s->queue.oldest;
        cleave__cache_unlink(cache, &s->queue, 0, out);
        cleave__cache_evict(cache, out);
    }
    cache->nodes[node].queue = QUEUE;
    cleave__cache_push_newest(cache, &s->queue, 0, node);
    return CLEAVE_CACHE_KEPT;
}

static void forget(struct cleave__cache *cache, uint32_t node)
{
    struct fifo *s = cache->state;
    cleave__cache_unlink(cache, &s->queue, 0, node);
}

static bool check(const struct cleave__cache *cache, const char **why)
{
    const struct fifo *s = cache->state;
    return cleave__cache_list_check(cache, &s->queue, 0, QUEUE, why) &&
           cleave__cache_true(s->queue.count == cache->counts.entries, "an entry is in no queue",
                              why);
}

const struct cleave__cache_policy cleave__cache_fifo = {
    .name = "fifo",
    .summary = "first in, first out",
    .state_bytes = sizeof(struct fifo),
    .admit = admit,
    .forget = forget,
    .check = check,
};
