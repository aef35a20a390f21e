/* The cache around a policy: the pool of nodes, what is counted, what is released. */
#include "graph/cache/cache.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "graph/cache/index.h"
#include "graph/cache/state.h"

enum { NODES_FIRST = 64, NODES_MAX = 1 << 30 };

_Static_assert(sizeof(struct cleave__cache_node) == 64, "a node is one line");

/* Room for one more node. */
static bool reserve_node(struct cleave__cache *cache)
{
    if (cache->free_node || cache->node_top < cache->node_capacity)
        return true;
    if (cache->node_capacity >= NODES_MAX)
        return false;
    uint32_t grown = cache->node_capacity ? cache->node_capacity * 2 : NODES_FIRST;
    /* Each step that succeeds leaves a sound cache; the capacity changes when all have. */
    struct cleave__cache_node *nodes = aligned_alloc(sizeof *nodes, (size_t)grown * sizeof *nodes);
    if (!nodes)
        return false;
    if (cache->nodes)
        memcpy(nodes, cache->nodes, (size_t)cache->node_capacity * sizeof *nodes);
    free(cache->nodes);
    cache->nodes = nodes;
    if (!cleave__cache_index_reserve(cache, grown) ||
        (cache->policy->reserve && !cache->policy->reserve(cache, grown)))
        return false;
    cache->node_capacity = grown;
    return true;
}

static uint32_t take_node(struct cleave__cache *cache, uint64_t key)
{
    uint32_t node = cache->free_node;
    if (node)
        cache->free_node = cache->nodes[node].link[0].older;
    else
        node = cache->node_top++;
    assert(node && node < cache->node_capacity);
    cache->nodes[node] = (struct cleave__cache_node){.key = key};
    cache->node_count++;
    cleave__cache_index_add(cache, key, node);
    return node;
}

static void give_node(struct cleave__cache *cache, uint32_t node)
{
    cleave__cache_index_remove(cache, cache->nodes[node].key);
    cache->nodes[node].queue = 0;
    cache->nodes[node].resident = false;
    cache->nodes[node].link[0].older = cache->free_node;
    cache->free_node = node;
    cache->node_count--;
}

/* An entry stops being one; why is the caller's to count. */
static void leave(struct cleave__cache *cache, uint32_t node)
{
    struct cleave__cache_node *n = &cache->nodes[node];
    assert(n->resident);
    n->resident = false;
    cache->used -= cleave__cache_cost(cache, node);
    cache->counts.entries--;
    cache->counts.bytes -= n->size;
    if (cache->options.release)
        cache->options.release(cache->options.context, n->key, n->value);
}

void cleave__cache_evict_to_ghost(struct cleave__cache *cache, uint32_t node)
{
    leave(cache, node);
    cache->counts.evictions++;
    cache->counts.evicted_bytes += cache->nodes[node].size;
}

void cleave__cache_evict(struct cleave__cache *cache, uint32_t node)
{
    cleave__cache_evict_to_ghost(cache, node);
    give_node(cache, node);
}

void cleave__cache_drop_ghost(struct cleave__cache *cache, uint32_t node)
{
    assert(!cache->nodes[node].resident);
    give_node(cache, node);
}

enum cleave_status cleave__cache_new(const struct cleave__cache_options *options,
                                     struct cleave__cache **out, struct cleave_error *error)
{
    const struct cleave__cache_policy *policy = options->choice.policy;
    if (!policy)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "no cache policy was chosen");
    if (!options->capacity || options->capacity > CLEAVE_CACHE_CAPACITY_MAX)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "the capacity of a cache is a number from 1 to 2^60");
    if (policy->needs_future && !options->next_use)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "%s needs to know the requests to come",
                                policy->name);
    struct cleave__cache *cache = calloc(1, sizeof *cache + policy->state_bytes);
    if (!cache)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a cache");
    cache->policy = policy;
    cache->options = *options;
    cache->capacity = options->capacity;
    cache->node_top = 1;
    cache->state = cache + 1;
    if (policy->start)
        policy->start(cache);
    if (!reserve_node(cache)) {
        cleave__cache_free(cache);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a cache");
    }
    cache->nodes[0] = (struct cleave__cache_node){0};
    *out = cache;
    return CLEAVE_OK;
}

static void release_all(struct cleave__cache *cache)
{
    for (uint32_t node = 1; node < cache->node_top; node++) {
        if (cache->nodes[node].resident)
            leave(cache, node);
    }
}

void cleave__cache_free(struct cleave__cache *cache)
{
    if (!cache)
        return;
    release_all(cache);
    if (cache->policy->stop)
        cache->policy->stop(cache);
    free(cache->nodes);
    free(cache->slots);
    free(cache);
}

void cleave__cache_clear(struct cleave__cache *cache)
{
    cache->counts.invalidations += cache->counts.entries;
    release_all(cache);
    cache->free_node = 0;
    cache->node_top = 1;
    cache->node_count = 0;
    cache->entries_peak = 0;
    memset(cache->slots, 0, (size_t)(cache->slot_mask + 1) * sizeof *cache->slots);
    if (cache->policy->clear)
        cache->policy->clear(cache);
    else
        memset(cache->state, 0, cache->policy->state_bytes);
    if (cache->policy->start)
        cache->policy->start(cache);
}

static void invalidate(struct cleave__cache *cache, uint32_t node)
{
    cache->policy->forget(cache, node);
    leave(cache, node);
    cache->counts.invalidations++;
    give_node(cache, node);
}

bool cleave__cache_invalidate(struct cleave__cache *cache, uint64_t key)
{
    uint32_t node = cleave__cache_index_find(cache, key);
    if (!cache->nodes[node].resident)
        return false;
    invalidate(cache, node);
    return true;
}

bool cleave__cache_get(struct cleave__cache *cache, uint64_t key, uint64_t version,
                       struct cleave__cache_entry *out)
{
    uint32_t node = cleave__cache_index_find(cache, key);
    if (cache->nodes[node].resident && cache->nodes[node].version < version) {
        invalidate(cache, node);
        node = 0;
    }
    if (!cache->nodes[node].resident) {
        cache->counts.misses++;
        if (cache->policy->miss)
            cache->policy->miss(cache, key);
        return false;
    }
    cache->counts.hits++;
    if (cache->policy->hit)
        cache->policy->hit(cache, node);
    const struct cleave__cache_node *n = &cache->nodes[node];
    if (out)
        *out = (struct cleave__cache_entry){n->size, n->value, n->version};
    return true;
}

static void replace_value(struct cleave__cache *cache, uint32_t node,
                          const struct cleave__cache_entry *entry)
{
    struct cleave__cache_node *n = &cache->nodes[node];
    if (cache->options.release && n->value != entry->value)
        cache->options.release(cache->options.context, n->key, n->value);
    n->value = entry->value;
    n->version = entry->version;
}

/* The policy takes the node in, or it goes. */
static bool admit(struct cleave__cache *cache, uint32_t node,
                  const struct cleave__cache_entry *entry, uint64_t size, uint32_t recalled)
{
    struct cleave__cache_node *n = &cache->nodes[node];
    n->size = size;
    n->value = entry->value;
    n->version = entry->version;
    n->mark = 0;
    enum cleave__cache_verdict verdict = cache->policy->admit(cache, node, recalled);
    if (verdict == CLEAVE_CACHE_REFUSED)
        cleave__cache_drop_ghost(cache, node);
    if (verdict != CLEAVE_CACHE_KEPT)
        return false;
    n->resident = true;
    cache->used += cleave__cache_cost(cache, node);
    cache->counts.bytes += size;
    cache->counts.entries++;
    cache->counts.insertions++;
    if (cache->entries_peak < cache->counts.entries)
        cache->entries_peak = cache->counts.entries;
    return true;
}

enum cleave_status cleave__cache_put(struct cleave__cache *cache, uint64_t key,
                                     const struct cleave__cache_entry *entry, bool *kept,
                                     struct cleave_error *error)
{
    uint64_t size = entry->size ? entry->size : 1;
    uint32_t node = cleave__cache_index_find(cache, key), recalled = 0;
    if (cache->nodes[node].resident) {
        if (cache->nodes[node].size == size) {
            replace_value(cache, node, entry);
            if (kept)
                *kept = true;
            return CLEAVE_OK;
        }
        invalidate(cache, node); /* frees a node: none has to be found below */
        node = 0;
    }
    if (cache->options.in_bytes ? size > cache->capacity : size > CLEAVE_CACHE_CAPACITY_MAX) {
        cache->counts.refused++;
        if (kept)
            *kept = false;
        return CLEAVE_OK;
    }
    if (!node && !reserve_node(cache))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a cache of more entries");
    if (node)
        recalled = cache->policy->recall(cache, node);
    else
        node = take_node(cache, key);
    bool taken = admit(cache, node, entry, size, recalled);
    cache->counts.refused += !taken;
    if (kept)
        *kept = taken;
    return CLEAVE_OK;
}

struct cleave__cache_counts cleave__cache_counts(const struct cleave__cache *cache)
{
    struct cleave__cache_counts counts = cache->counts;
    counts.requests = counts.hits + counts.misses;
    return counts;
}

bool cleave__cache_holds(const struct cleave__cache *cache, uint64_t key)
{
    return cache->nodes[cleave__cache_index_find(cache, key)].resident;
}

uint64_t cleave__cache_memory_bytes(const struct cleave__cache *cache)
{
    uint64_t policy = cache->policy->memory_bytes ? cache->policy->memory_bytes(cache) : 0;
    return sizeof *cache + cache->policy->state_bytes + policy +
           (uint64_t)cache->node_capacity * sizeof *cache->nodes +
           (cache->slot_mask + 1) * sizeof *cache->slots;
}
