/* Adding to the hash index, removing from it, growing it. */
#include "graph/cache/index.h"

#include <stdlib.h>

static void place(struct cleave__cache_slot *slots, uint64_t mask, uint64_t key, uint32_t node)
{
    uint64_t at = cleave__cache_hash(key) & mask;
    while (slots[at].node)
        at = (at + 1) & mask;
    slots[at] = (struct cleave__cache_slot){key, node};
}

void cleave__cache_index_add(struct cleave__cache *cache, uint64_t key, uint32_t node)
{
    place(cache->slots, cache->slot_mask, key, node);
}

void cleave__cache_index_remove(struct cleave__cache *cache, uint64_t key)
{
    struct cleave__cache_slot *slots = cache->slots;
    uint64_t mask = cache->slot_mask, hole = cleave__cache_hash(key) & mask;
    while (slots[hole].key != key || !slots[hole].node)
        hole = (hole + 1) & mask;
    /* What follows moves into the hole unless that would be before its home. */
    for (uint64_t at = (hole + 1) & mask; slots[at].node; at = (at + 1) & mask) {
        uint64_t home = cleave__cache_hash(slots[at].key) & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            slots[hole] = slots[at];
            hole = at;
        }
    }
    slots[hole].node = 0;
}

bool cleave__cache_index_reserve(struct cleave__cache *cache, uint32_t nodes)
{
    uint64_t size = 64;
    while (size < (uint64_t)nodes * 2)
        size *= 2;
    if (cache->slots && size <= cache->slot_mask + 1)
        return true;
    if (size > SIZE_MAX / sizeof *cache->slots)
        return false;
    struct cleave__cache_slot *slots = calloc(size, sizeof *slots);
    if (!slots)
        return false;
    for (uint64_t i = 0; cache->slots && i <= cache->slot_mask; i++) {
        if (cache->slots[i].node)
            place(slots, size - 1, cache->slots[i].key, cache->slots[i].node);
    }
    free(cache->slots);
    cache->slots = slots;
    cache->slot_mask = size - 1;
    return true;
}
