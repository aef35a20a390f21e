/* Memory that is freed all at once, or back to a mark.
 *
 * Invariant: every pointer handed out stays valid until a rewind to an earlier mark or a free.
 * Alignment is 16 bytes. Allocation never zeroes. */
#ifndef CLEAVE_BASE_ARENA_H
#define CLEAVE_BASE_ARENA_H

#include <stddef.h>

struct cleave_arena_block;

struct cleave_arena {
    struct cleave_arena_block *block; /* newest first */
    size_t reserved;                  /* bytes held from malloc */
};

struct cleave_arena_mark {
    struct cleave_arena_block *block;
    size_t used;
};

/* An arena starts as all zeroes: `struct cleave_arena a = {0};` */
void cleave__arena_free(struct cleave_arena *arena);

/* NULL when malloc fails or `size` is absurd; `size` 0 gives a unique non-NULL pointer. */
void *cleave__arena_alloc(struct cleave_arena *arena, size_t size);
void *cleave__arena_zalloc(struct cleave_arena *arena, size_t size);
/* count * size with overflow checked. */
void *cleave__arena_array(struct cleave_arena *arena, size_t count, size_t size);
/* Copies `length` bytes and adds a NUL. */
char *cleave__arena_copy(struct cleave_arena *arena, const char *bytes, size_t length);

struct cleave_arena_mark cleave__arena_mark(const struct cleave_arena *arena);
/* Gives back all that was allocated since `mark`; keeps one block cached. */
void cleave__arena_rewind(struct cleave_arena *arena, struct cleave_arena_mark mark);

#endif
