/* The least often used since it came leaves; of several, the one that has had its count longest.
 *
 * Buckets of one count each, in a list by rising count: O(1) a request (Shah, Mitra, Matani 2010).
 * Invariants: no bucket is empty, counts rise, an entry's `mark` is its bucket. A count is not
 * kept once the entry has left. Buckets live in a pool one larger than the nodes': every entry may
 * have its own, and a hit needs one before it gives the old one back. */
#include <stdlib.h>
#include <string.h>

#include "graph/cache/state.h"

enum { QUEUE = 1 };

struct bucket {
    uint64_t uses;
    struct cleave__cache_list entries;
    uint32_t more, less; /* buckets; 0: none */
};

struct lfu {
    struct bucket *buckets; /* [capacity]; 0 is nobody, its `more` the bucket of fewest uses */
    uint32_t capacity, top, free_bucket; /* the free through `more` */
};

static uint32_t take_bucket(struct lfu *s, uint64_t uses, uint32_t after)
{
    uint32_t b = s->free_bucket;
    if (b)
        s->free_bucket = s->buckets[b].more;
    else
        b = s->top++;
    uint32_t more = s->buckets[after].more;
    s->buckets[b] = (struct bucket){.uses = uses, .more = more, .less = after};
    s->buckets[after].more = b;
    s->buckets[more].less = b;
    return b;
}

static void enter(struct cleave__cache *cache, uint32_t node, uint64_t uses, uint32_t after)
{
    struct lfu *s = cache->state;
    uint32_t b = s->buckets[after].more;
    if (!b || s->buckets[b].uses != uses)
        b = take_bucket(s, uses, after);
    cache->nodes[node].mark = b;
    cleave__cache_push_newest(cache, &s->buckets[b].entries, 0, node);
}

static void take_out(struct cleave__cache *cache, uint32_t node)
{
    struct lfu *s = cache->state;
    uint32_t number = cache->nodes[node].mark;
    struct bucket *b = &s->buckets[number];
    cleave__cache_unlink(cache, &b->entries, 0, node);
    if (b->entries.count)
        return;
    s->buckets[b->less].more = b->more;
    s->buckets[b->more].less = b->less;
    b->more = s->free_bucket;
    s->free_bucket = number;
}

static void hit(struct cleave__cache *cache, uint32_t node)
{
    struct lfu *s = cache->state;
    uint32_t old = cache->nodes[node].mark;
    struct bucket *b = &s->buckets[old];
    /* Alone in its bucket, with no bucket for the next count: the bucket counts on. */
    if (b->entries.count == 1 && (!b->more || s->buckets[b->more].uses > b->uses + 1)) {
        b->uses++;
        return;
    }
    uint64_t uses = b->uses + 1;
    bool alone = b->entries.count == 1;
    uint32_t after = alone ? b->less : old;
    take_out(cache, node);
    enter(cache, node, uses, after);
}

static enum cleave__cache_verdict admit(struct cleave__cache *cache, uint32_t node,
                                        uint32_t recalled)
{
    struct lfu *s = cache->state;
    (void)recalled;
    while (cache->used + cleave__cache_cost(cache, node) > cache->capacity) {
        uint32_t out = s->buckets[s->buckets[0].more].entries.oldest;
        take_out(cache, out);
        cleave__cache_evict(cache, out);
    }
    cache->nodes[node].queue = QUEUE;
    enter(cache, node, 1, 0);
    return CLEAVE_CACHE_KEPT;
}

static bool reserve(struct cleave__cache *cache, uint32_t nodes)
{
    struct lfu *s = cache->state;
    struct bucket *grown = realloc(s->buckets, ((size_t)nodes + 1) * sizeof *grown);
    if (!grown)
        return false;
    if (!s->buckets) {
        grown[0] = (struct bucket){0};
        s->top = 1;
    }
    s->buckets = grown;
    s->capacity = nodes + 1;
    return true;
}

static void clear(struct cleave__cache *cache)
{
    struct lfu *s = cache->state;
    s->buckets[0] = (struct bucket){0};
    s->top = 1;
    s->free_bucket = 0;
}

static void stop(struct cleave__cache *cache)
{
    struct lfu *s = cache->state;
    free(s->buckets);
}

static uint64_t memory_bytes(const struct cleave__cache *cache)
{
    const struct lfu *s = cache->state;
    return (uint64_t)s->capacity * sizeof *s->buckets;
}

static bool check(const struct cleave__cache *cache, const char **why)
{
    const struct lfu *s = cache->state;
    uint64_t entries = 0, uses = 0;
    uint32_t less = 0;
    for (uint32_t b = s->buckets[0].more; b; b = s->buckets[b].more) {
        const struct bucket *bucket = &s->buckets[b];
        if (!bucket->entries.count || bucket->uses <= uses || bucket->less != less)
            return cleave__cache_true(false, "a bucket is empty or out of order", why);
        if (!cleave__cache_list_check(cache, &bucket->entries, 0, QUEUE, why))
            return false;
        for (uint32_t n = bucket->entries.newest; n; n = cache->nodes[n].link[0].older) {
            if (cache->nodes[n].mark != b)
                return cleave__cache_true(false, "an entry is in another's bucket", why);
        }
        entries += bucket->entries.count;
        uses = bucket->uses;
        less = b;
    }
    return cleave__cache_true(s->buckets[0].less == less && entries == cache->counts.entries &&
                                  s->top <= s->capacity,
                              "an entry is in no bucket", why);
}

const struct cleave__cache_policy cleave__cache_lfu = {
    .name = "lfu",
    .summary = "the least often used leaves",
    .state_bytes = sizeof(struct lfu),
    .hit = hit,
    .admit = admit,
    .forget = take_out,
    .check = check,
    .stop = stop,
    .reserve = reserve,
    .clear = clear,
    .memory_bytes = memory_bytes,
};
