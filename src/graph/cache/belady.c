/* Belady's MIN: what is asked for again last leaves. A bound for the others: with entries of one
 * size, no policy that takes in what was just asked for misses less (Belady, IBM Systems Journal
 * 1966; Mattson et al. 1970). With sizes it is only a good guess: the true bound is NP-hard.
 *
 * A heap of the entries by their next request (later first, then the smaller key). Invariant: a
 * node's `mark` is its place in the heap. O(log entries) a request. */
#include <stdlib.h>

#include "graph/cache/state.h"

enum { QUEUE = 1 };

struct belady {
    uint32_t *heap; /* [capacity], nodes, from place 0 */
    uint64_t *next; /* [capacity], by node: number of its next request, or UINT64_MAX */
    uint32_t count, capacity;
};

/* When the key of the get that was last will be asked for again. */
static uint64_t next_use(const struct cleave__cache *cache)
{
    uint64_t now = cache->counts.hits + cache->counts.misses;
    return now && now <= cache->options.next_uses ? cache->options.next_use[now - 1] : UINT64_MAX;
}

static bool before(const struct cleave__cache *cache, uint32_t a, uint32_t b)
{
    const struct belady *s = cache->state;
    if (s->next[a] != s->next[b])
        return s->next[a] > s->next[b];
    return cache->nodes[a].key < cache->nodes[b].key;
}

static void put_at(struct cleave__cache *cache, uint32_t place, uint32_t node)
{
    struct belady *s = cache->state;
    s->heap[place] = node;
    cache->nodes[node].mark = place;
}

static void rise(struct cleave__cache *cache, uint32_t place)
{
    struct belady *s = cache->state;
    uint32_t node = s->heap[place];
    for (; place && before(cache, node, s->heap[(place - 1) / 2]); place = (place - 1) / 2)
        put_at(cache, place, s->heap[(place - 1) / 2]);
    put_at(cache, place, node);
}

static void sink(struct cleave__cache *cache, uint32_t place)
{
    struct belady *s = cache->state;
    uint32_t node = s->heap[place];
    for (;;) {
        uint32_t below = 2 * place + 1;
        if (below + 1 < s->count && before(cache, s->heap[below + 1], s->heap[below]))
            below++;
        if (below >= s->count || !before(cache, s->heap[below], node))
            break;
        put_at(cache, place, s->heap[below]);
        place = below;
    }
    put_at(cache, place, node);
}

static void take_out(struct cleave__cache *cache, uint32_t node)
{
    struct belady *s = cache->state;
    uint32_t place = cache->nodes[node].mark, last = s->heap[--s->count];
    if (last == node)
        return;
    put_at(cache, place, last);
    rise(cache, place);
    sink(cache, cache->nodes[last].mark);
}

static void hit(struct cleave__cache *cache, uint32_t node)
{
    struct belady *s = cache->state;
    s->next[node] = next_use(cache);
    rise(cache, cache->nodes[node].mark);
    sink(cache, cache->nodes[node].mark);
}

static enum cleave__cache_verdict admit(struct cleave__cache *cache, uint32_t node,
                                        uint32_t recalled)
{
    struct belady *s = cache->state;
    (void)recalled;
    while (cache->used + cleave__cache_cost(cache, node) > cache->capacity) {
        uint32_t out = s->heap[0];
        take_out(cache, out);
        cleave__cache_evict(cache, out);
    }
    cache->nodes[node].queue = QUEUE;
    s->next[node] = next_use(cache);
    put_at(cache, s->count++, node);
    rise(cache, s->count - 1);
    return CLEAVE_CACHE_KEPT;
}

static bool reserve(struct cleave__cache *cache, uint32_t nodes)
{
    struct belady *s = cache->state;
    uint32_t *heap = realloc(s->heap, (size_t)nodes * sizeof *heap);
    if (!heap)
        return false;
    s->heap = heap;
    uint64_t *next = realloc(s->next, (size_t)nodes * sizeof *next);
    if (!next)
        return false;
    s->next = next;
    s->capacity = nodes;
    return true;
}

static void clear(struct cleave__cache *cache)
{
    struct belady *s = cache->state;
    s->count = 0;
}

static void stop(struct cleave__cache *cache)
{
    struct belady *s = cache->state;
    free(s->heap);
    free(s->next);
}

static uint64_t memory_bytes(const struct cleave__cache *cache)
{
    const struct belady *s = cache->state;
    return (uint64_t)s->capacity * (sizeof *s->heap + sizeof *s->next);
}

static bool check(const struct cleave__cache *cache, const char **why)
{
    const struct belady *s = cache->state;
    for (uint32_t place = 0; place < s->count; place++) {
        uint32_t node = s->heap[place];
        if (cache->nodes[node].mark != place || !cache->nodes[node].resident)
            return cleave__cache_true(false, "the heap and the entries differ", why);
        if (place && before(cache, node, s->heap[(place - 1) / 2]))
            return cleave__cache_true(false, "the heap is out of order", why);
    }
    return cleave__cache_true(s->count == cache->counts.entries, "an entry is not in the heap",
                              why);
}

const struct cleave__cache_policy cleave__cache_belady = {
    .name = "belady",
    .summary = "what is asked for again last leaves: the bound",
    .state_bytes = sizeof(struct belady),
    .needs_future = true,
    .hit = hit,
    .admit = admit,
    .forget = take_out,
    .check = check,
    .stop = stop,
    .reserve = reserve,
    .clear = clear,
    .memory_bytes = memory_bytes,
};
