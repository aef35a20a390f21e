/* The invariants of a cache, walked in full. */
#include "graph/cache/cache.h"
#include "graph/cache/index.h"

bool cleave__cache_list_check(const struct cleave__cache *cache,
                              const struct cleave__cache_list *list, unsigned which, uint8_t queue,
                              const char **why)
{
    uint64_t cost = 0;
    uint32_t count = 0, newer = 0;
    for (uint32_t node = list->newest; node; node = cache->nodes[node].link[which].older) {
        const struct cleave__cache_node *n = &cache->nodes[node];
        if (node >= cache->node_top || !n->queue || (queue && n->queue != queue))
            return cleave__cache_true(false, "a list holds a node of another", why);
        if (n->link[which].newer != newer || ++count > cache->node_count)
            return cleave__cache_true(false, "a list's links disagree", why);
        cost += cleave__cache_cost(cache, node);
        newer = node;
    }
    return cleave__cache_true(list->oldest == newer && list->count == count && list->cost == cost,
                              "a list's ends, count or cost are wrong", why);
}

static bool check_nodes(const struct cleave__cache *cache, const char **why)
{
    uint64_t entries = 0, bytes = 0, used = 0, nodes = 0, slots = 0;
    for (uint32_t node = 1; node < cache->node_top; node++) {
        const struct cleave__cache_node *n = &cache->nodes[node];
        if (!n->queue) {
            if (n->resident)
                return cleave__cache_true(false, "a free node holds an entry", why);
            continue;
        }
        nodes++;
        if (cleave__cache_index_find(cache, n->key) != node)
            return cleave__cache_true(false, "a node is not found by its key", why);
        entries += n->resident;
        bytes += n->resident ? n->size : 0;
        used += n->resident ? cleave__cache_cost(cache, node) : 0;
    }
    for (uint64_t i = 0; i <= cache->slot_mask; i++)
        slots += cache->slots[i].node != 0;
    return cleave__cache_true(slots == nodes && nodes == cache->node_count,
                              "the index and the pool differ", why) &&
           cleave__cache_true(entries == cache->counts.entries && bytes == cache->counts.bytes &&
                                  used == cache->used,
                              "entries or bytes are miscounted", why);
}

bool cleave__cache_check(const struct cleave__cache *cache, const char **why)
{
    const struct cleave__cache_counts *c = &cache->counts;
    return cleave__cache_true(!cache->nodes[0].resident && !cache->nodes[0].queue,
                              "node 0 is somebody", why) &&
           cleave__cache_true(cache->used <= cache->capacity, "more is held than fits", why) &&
           cleave__cache_true(c->insertions == c->evictions + c->invalidations + c->entries,
                              "comings and goings do not add up", why) &&
           check_nodes(cache, why) && cache->policy->check(cache, why);
}
