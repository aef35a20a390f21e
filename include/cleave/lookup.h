/* Routing by a lookup table that `cleave tables place` wrote: open it once, ask it everywhere.
 *
 * Thread rule: a struct cleave_lookup never changes, any number of threads may use it at a time; a
 * struct cleave_router is used by one thread at a time and must be freed before its lookup. All
 * inputs are borrowed for the call. Errors leave results untouched. */
#ifndef CLEAVE_LOOKUP_H
#define CLEAVE_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleave/status.h"

enum { CLEAVE_LOOKUP_SHARDS_MAX = 1024, CLEAVE_ROUTE_WHY_MAX = 480 };

struct cleave_lookup;
struct cleave_router;

/* Where to send something. */
struct cleave_route {
    uint32_t count;   /* shards it must go to; 0: any one shard will do */
    uint32_t first;   /* the least of them; 0 when count is 0 */
    bool distributed; /* count > 1 */
    bool writes;
    bool certain; /* false: the text may touch more than the schema tells (functions, tables that
                     the lookup table does not know) */
    uint64_t shards[CLEAVE_LOOKUP_SHARDS_MAX / 64]; /* bit s % 64 of word s / 64 */
    char why[CLEAVE_ROUTE_WHY_MAX];                 /* one line of words */
};

static inline bool cleave_route_has(const struct cleave_route *route, uint32_t shard)
{
    return shard < CLEAVE_LOOKUP_SHARDS_MAX && route->shards[shard / 64] >> (shard % 64) & 1;
}

/* A column's value or a statement's parameter, as text; NULL text is SQL's NULL. */
struct cleave_text {
    const char *text;
    size_t length;
};

/* Reads and tests the whole file. CLEAVE_IO: cannot be read; CLEAVE_CORRUPT: truncated or altered;
 * CLEAVE_UNSUPPORTED: of a newer format. `*out` is the caller's to close. O(file). */
CLEAVE_API enum cleave_status cleave_lookup_open(const char *path, struct cleave_lookup **out,
                                                 struct cleave_error *error);
/* NULL is fine. */
CLEAVE_API void cleave_lookup_close(struct cleave_lookup *lookup);
CLEAVE_API uint32_t cleave_lookup_shards(const struct cleave_lookup *lookup);

/* Where rows of `table` are whose columns have these values ("=", each). Columns left out may be
 * anything. `write`: the rows are to be written, which for a replicated table means every shard,
 * and for one with two keys the copies by both (a read: by one of them).
 * Rows are never missed: when the columns do not tell, the answer is every shard that may hold
 * some. CLEAVE_NOT_FOUND: no such table or column; CLEAVE_BAD_INPUT: a text is no value of its
 * column's type. About 100 ns plus reading the texts. */
CLEAVE_API enum cleave_status cleave_lookup_route_key(const struct cleave_lookup *lookup,
                                                      const char *table, const char *const *columns,
                                                      const struct cleave_text *values,
                                                      uint32_t count, bool write,
                                                      struct cleave_route *out,
                                                      struct cleave_error *error);

/* SQL needs a router, which remembers the statements it has seen (up to their constants). */
CLEAVE_API enum cleave_status cleave_router_new(const struct cleave_lookup *lookup,
                                                struct cleave_router **out,
                                                struct cleave_error *error);
/* NULL is fine. */
CLEAVE_API void cleave_router_free(struct cleave_router *router);

/* Where a transaction goes: `sql` is one or more statements of PostgreSQL, `parameters` are $1, $2,
 * ... CLEAVE_BAD_INPUT: cannot be parsed; CLEAVE_LIMIT: a statement past 1 MiB or nested too
 * deeply. The first time a statement is seen it is parsed (tens of microseconds). */
CLEAVE_API enum cleave_status
cleave_router_route(struct cleave_router *router, const char *sql, size_t length,
                    const struct cleave_text *parameters, uint32_t parameter_count,
                    struct cleave_route *out, struct cleave_error *error);

#endif
