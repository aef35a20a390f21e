/* Byte strings to dense ids 0, 1, 2, ... in order of first appearance.
 *
 * Open addressing on XXH3; the bytes live in one arena, so pointers stay valid for the table's
 * life. Lookup and insert are O(length). Not thread safe. */
#ifndef CLEAVE_BASE_INTERN_H
#define CLEAVE_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct cleave_intern_entry {
    const char *bytes; /* NUL-terminated copy */
    uint32_t length;
    uint32_t hash;
};

struct cleave_intern {
    struct cleave_intern_entry *entries; /* by id */
    uint32_t count, capacity;
    uint32_t *slots; /* id + 1, or 0 */
    uint32_t slot_mask;
    struct cleave_arena arena;
};

enum { CLEAVE_INTERN_NONE = UINT32_MAX };

/* Starts as all zeroes. */
void cleave__intern_free(struct cleave_intern *table);
/* Id of the bytes, added if new; CLEAVE_INTERN_NONE when memory is out. */
uint32_t cleave__intern_add(struct cleave_intern *table, const void *bytes, size_t length);
/* Id of the bytes, or CLEAVE_INTERN_NONE if absent. */
uint32_t cleave__intern_find(const struct cleave_intern *table, const void *bytes, size_t length);

/* To take back what was added last: all since `mark`. O(what is taken back). */
struct cleave_intern_mark {
    uint32_t count;
    struct cleave_arena_mark arena;
};
struct cleave_intern_mark cleave__intern_mark(const struct cleave_intern *table);
void cleave__intern_rewind(struct cleave_intern *table, struct cleave_intern_mark mark);

#endif
