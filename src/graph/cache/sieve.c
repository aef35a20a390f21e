/* SIEVE: a queue in order of arrival, a used bit an entry, and a hand that walks from old to new
 * and takes the first entry not used since it last passed; entries it spares stay where they are.
 * Zhang, Yang, Yue, Vigfusson, Rashmi: SIEVE is simpler than LRU, NSDI 2024.
 *
 * Invariant: the hand is on an entry, or 0: the next walk starts at the oldest. */
#include "graph/cache/state.h"

enum { QUEUE = 1 };

struct sieve {
    struct cleave__cache_list queue;
    uint32_t hand;
};

static void hit(struct cleave__cache *cache, uint32_t node)
{
    cache->nodes[node].mark = 1;
}

static void take_out(struct cleave__cache *cache, uint32_t node)
{
    struct sieve *s = cache->state;
    if (s->hand == node)
        s->hand = cache->nodes[node].link[0].newer;
    cleave__cache_unlink(cache, &s->queue, 0, node);
}

static void evict_one(struct cleave__cache *cache)
{
    struct sieve *s = cache->state;
    if (!s->hand)
        s->hand = s->queue.oldest;
    while (cache->nodes[s->hand].mark) {
        cache->nodes[s->hand].mark = 0;
        s->hand = cache->nodes[s->hand].link[0].newer;
        if (!s->hand)
            s->hand = s->queue.oldest;
    }
    uint32_t out = s->hand;
    take_out(cache, out);
    cleave__cache_evict(cache, out);
}

static enum cleave__cache_verdict admit(struct cleave__cache *cache, uint32_t node,
                                        uint32_t recalled)
{
    struct sieve *s = cache->state;
    (void)recalled;
    while (cache->used + cleave__cache_cost(cache, node) > cache->capacity)
        evict_one(cache);
    cache->nodes[node].queue = QUEUE;
    cleave__cache_push_newest(cache, &s->queue, 0, node);
    return CLEAVE_CACHE_KEPT;
}

static bool check(const struct cleave__cache *cache, const char **why)
{
    const struct sieve *s = cache->state;
    bool hand = !s->hand;
    for (uint32_t n = s->queue.newest; n; n = cache->nodes[n].link[0].older) {
        hand |= n == s->hand;
        if (cache->nodes[n].mark > 1)
            return cleave__cache_true(false, "a used bit is not a bit", why);
    }
    return cleave__cache_list_check(cache, &s->queue, 0, QUEUE, why) &&
           cleave__cache_true(s->queue.count == cache->counts.entries, "an entry is in no queue",
                              why) &&
           cleave__cache_true(hand, "the hand is on nothing", why);
}

const struct cleave__cache_policy cleave__cache_sieve = {
    .name = "sieve",
    .summary = "a hand takes what was not used since it last passed",
    .state_bytes = sizeof(struct sieve),
    .hit = hit,
    .admit = admit,
    .forget = take_out,
    .check = check,
};
