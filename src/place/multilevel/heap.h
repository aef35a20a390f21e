/* A binary max-heap of vertices with 64-bit keys that can be changed in place. */
#ifndef CLEAVE_PLACE_MULTILEVEL_HEAP_H
#define CLEAVE_PLACE_MULTILEVEL_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct cleave__heap {
    uint32_t *item;     /* [capacity], the heap */
    uint32_t *position; /* [capacity]: 1 + place of a vertex in `item`; 0: not in it */
    int64_t *key;       /* [capacity], by vertex */
    uint32_t count;
};

bool cleave__heap_init(struct cleave__heap *heap, struct cleave_arena *arena, uint32_t capacity);
/* Inserts, or changes the key of, `v`. */
void cleave__heap_set(struct cleave__heap *heap, uint32_t v, int64_t key);
uint32_t cleave__heap_pop(struct cleave__heap *heap);
void cleave__heap_clear(struct cleave__heap *heap);

static inline bool cleave__heap_has(const struct cleave__heap *heap, uint32_t v)
{
    return heap->position[v] != 0;
}

#endif
