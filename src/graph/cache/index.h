/* The hash index of a cache: key to node; see struct cleave__cache_slot. */
#ifndef CLEAVE_GRAPH_CACHE_INDEX_H
#define CLEAVE_GRAPH_CACHE_INDEX_H

#include "graph/cache/state.h"

/* A bijection that carries every bit of the key down to the low ones. */
static inline uint64_t cleave__cache_hash(uint64_t key)
{
    key ^= key >> 32;
    key *= UINT64_C(0xd6e8feb86659fd93);
    return key ^ key >> 32;
}

static inline uint32_t cleave__cache_index_find(const struct cleave__cache *cache, uint64_t key)
{
    for (uint64_t at = cleave__cache_hash(key) & cache->slot_mask;;
         at = (at + 1) & cache->slot_mask) {
        const struct cleave__cache_slot *slot = &cache->slots[at];
        if (!slot->node || slot->key == key)
            return slot->node;
    }
}

/* The key is not there, and there is room. */
void cleave__cache_index_add(struct cleave__cache *cache, uint64_t key, uint32_t node);
/* The key is there. */
void cleave__cache_index_remove(struct cleave__cache *cache, uint64_t key);
/* Room for `nodes`; false: no memory, nothing changed. */
bool cleave__cache_index_reserve(struct cleave__cache *cache, uint32_t nodes);

#endif
