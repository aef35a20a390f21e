/* Binary max-heap with positions; see the header. */
#include "place/multilevel/heap.h"

bool cleave__heap_init(struct cleave__heap *heap, struct cleave_arena *arena, uint32_t capacity)
{
    heap->count = 0;
    heap->item = cleave__arena_array(arena, capacity, sizeof *heap->item);
    heap->position = cleave__arena_zalloc(arena, (size_t)capacity * sizeof *heap->position);
    heap->key = cleave__arena_array(arena, capacity, sizeof *heap->key);
    return heap->item && heap->position && heap->key;
}

static void put(struct cleave__heap *heap, uint32_t at, uint32_t v)
{
    heap->item[at] = v;
    heap->position[v] = at + 1;
}

static void rise(struct cleave__heap *heap, uint32_t at)
{
    uint32_t v = heap->item[at];
    while (at > 0) {
        uint32_t above = (at - 1) / 2;
        if (heap->key[heap->item[above]] >= heap->key[v])
            break;
        put(heap, at, heap->item[above]);
        at = above;
    }
    put(heap, at, v);
}

static void sink(struct cleave__heap *heap, uint32_t at)
{
    uint32_t v = heap->item[at];
    for (;;) {
        uint32_t below = 2 * at + 1;
        if (below >= heap->count)
            break;
        if (below + 1 < heap->count &&
            heap->key[heap->item[below + 1]] > heap->key[heap->item[below]])
            below++;
        if (heap->key[heap->item[below]] <= heap->key[v])
            break;
        put(heap, at, heap->item[below]);
        at = below;
    }
    put(heap, at, v);
}

void cleave__heap_set(struct cleave__heap *heap, uint32_t v, int64_t key)
{
    if (!heap->position[v]) {
        heap->key[v] = key;
        put(heap, heap->count++, v);
        rise(heap, heap->count - 1);
        return;
    }
    int64_t before = heap->key[v];
    heap->key[v] = key;
    if (key > before)
        rise(heap, heap->position[v] - 1);
    else if (key < before)
        sink(heap, heap->position[v] - 1);
}

uint32_t cleave__heap_pop(struct cleave__heap *heap)
{
    uint32_t top = heap->item[0];
    heap->position[top] = 0;
    uint32_t last = heap->item[--heap->count];
    if (heap->count) {
        put(heap, 0, last);
        sink(heap, 0);
    }
    return top;
}

void cleave__heap_clear(struct cleave__heap *heap)
{
    while (heap->count)
        heap->position[heap->item[--heap->count]] = 0;
}
