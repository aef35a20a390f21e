/* Arena: a chain of malloc'd blocks, newest first; blocks double up to 1 MiB.
 * alloc is O(1) amortised; rewind is O(blocks dropped). Not thread safe. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 4096, LARGEST_STEP = 1 << 20, ALIGNMENT = 16 };

struct cleave_arena_block {
    struct cleave_arena_block *next;
    size_t capacity;
    size_t used;
    size_t padding;
    unsigned char bytes[];
};

_Static_assert(sizeof(struct cleave_arena_block) % ALIGNMENT == 0, "block header keeps alignment");

void cleave__arena_free(struct cleave_arena *arena)
{
    struct cleave_arena_block *block = arena->block;
    while (block) {
        struct cleave_arena_block *next = block->next;
        free(block);
        block = next;
    }
    *arena = (struct cleave_arena){0};
}

void *cleave__arena_alloc(struct cleave_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 4)
        return NULL;
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (size == 0)
        size = ALIGNMENT;
    struct cleave_arena_block *block = arena->block;
    if (!block || block->capacity - block->used < size) {
        size_t capacity = block ? block->capacity * 2 : FIRST_BLOCK;
        if (capacity > LARGEST_STEP)
            capacity = LARGEST_STEP;
        if (capacity < size)
            capacity = size;
        struct cleave_arena_block *fresh = malloc(sizeof *fresh + capacity);
        if (!fresh)
            return NULL;
        fresh->next = block;
        fresh->capacity = capacity;
        fresh->used = 0;
        arena->block = fresh;
        arena->reserved += capacity;
        block = fresh;
    }
    void *result = block->bytes + block->used;
    block->used += size;
    return result;
}

void *cleave__arena_zalloc(struct cleave_arena *arena, size_t size)
{
    void *result = cleave__arena_alloc(arena, size);
    if (result)
        memset(result, 0, size);
    return result;
}

void *cleave__arena_array(struct cleave_arena *arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / 4 / size)
        return NULL;
    return cleave__arena_alloc(arena, count * size);
}

char *cleave__arena_copy(struct cleave_arena *arena, const char *bytes, size_t length)
{
    char *copy = cleave__arena_alloc(arena, length + 1);
    if (!copy)
        return NULL;
    if (length)
        memcpy(copy, bytes, length);
    copy[length] = 0;
    return copy;
}

struct cleave_arena_mark cleave__arena_mark(const struct cleave_arena *arena)
{
    return (struct cleave_arena_mark){arena->block, arena->block ? arena->block->used : 0};
}

void cleave__arena_rewind(struct cleave_arena *arena, struct cleave_arena_mark mark)
{
    /* A mark taken before the first block keeps the oldest block, emptied. */
    while (arena->block && arena->block != mark.block) {
        struct cleave_arena_block *block = arena->block;
        if (!mark.block && !block->next) {
            block->used = 0;
            return;
        }
        arena->block = block->next;
        arena->reserved -= block->capacity;
        free(block);
    }
    if (arena->block)
        arena->block->used = mark.used;
}
