/* The lookup table: a layout made compact. Built in memory, or opened from a file; or the face of
 * two of them while data moves from one to the other (mix.h).
 *
 * Integer maps cost at most 8 bytes an entry and answer in tens of nanoseconds; see lookup.c for
 * the structure and docs/lookup-table.md for the file. Immutable, so any number of threads may ask.
 */
#ifndef CLEAVE_TABLES_ROUTE_LOOKUP_H
#define CLEAVE_TABLES_ROUTE_LOOKUP_H

#include "base/shardset.h"
#include "tables/route/layout.h"
#include "tables/sql/analyze.h"

struct cleave_lookup;

/* Copies all it needs, schema names and column types included: the layout may go afterwards. */
enum cleave_status cleave__lookup_build(const struct cleave_layout *layout,
                                        struct cleave_lookup **out, struct cleave_error *error);
void cleave__lookup_release(struct cleave_lookup *lookup);

uint32_t cleave__lookup_shards(const struct cleave_lookup *lookup);
/* Bytes of the compact form (what the file holds, header included). */
size_t cleave__lookup_bytes(const struct cleave_lookup *lookup);

/* Tables are numbered as in the schema it was built from. */
bool cleave__lookup_replicated(const struct cleave_lookup *lookup, uint32_t table);

/* Rows have a copy by each of two keys (layout.h, point 4). */
bool cleave__lookup_twice(const struct cleave_lookup *lookup, uint32_t table);

/* Shard of one row, given by its column values (values[c] of column c; an absent column has kind
 * CLEAVE_NULL): of its copy by the first key. CLEAVE_SHARDS_MAX when the table is replicated. */
uint32_t cleave__lookup_row(const struct cleave_lookup *lookup, uint32_t table,
                            const struct cleave_value *values, uint32_t value_count);
/* Adds the shards of all copies of the row: every shard when the table is replicated. */
void cleave__lookup_row_shards(const struct cleave_lookup *lookup, uint32_t table,
                               const struct cleave_value *values, uint32_t value_count,
                               struct cleave_shardset *shards);
/* Of its copy by the second key; the table has two. */
uint32_t cleave__lookup_second(const struct cleave_lookup *lookup, uint32_t table,
                               const struct cleave_value *values, uint32_t value_count);
/* Whether a row's home depends on this column. */
bool cleave__lookup_decides(const struct cleave_lookup *lookup, uint32_t table, uint32_t column);
/* An analyzer of the lookup table's schema that sees every change of such columns. */
enum cleave_status cleave__lookup_analyzer(const struct cleave_lookup *lookup,
                                           struct cleave_analyzer **out,
                                           struct cleave_error *error);
/* Shards 0 .. this - 1 have every table that is copied everywhere: all, but within a mix (mix.h)
 * whose new shards have none yet. */
uint32_t cleave__lookup_copies(const struct cleave_lookup *lookup);

/* Adds to `shards` every shard that an access of one box touches (the table must not be
 * replicated). An `insert` box without a value for a key column may go anywhere. Never misses a
 * shard that may hold a wanted row, except that a read of a table with two keys is served by the
 * copies of one of them. */
void cleave__lookup_box(const struct cleave_lookup *lookup, uint32_t table,
                        const struct cleave_box *box, bool insert, bool write,
                        struct cleave_shardset *shards);
/* The parts that the above is made of, for accesses of several boxes: the shards of a box by one
 * key, first or (of a table that has two) second; then what the access touches, given the unions
 * over its boxes. */
void cleave__lookup_box_by(const struct cleave_lookup *lookup, uint32_t table,
                           const struct cleave_box *box, bool insert, bool second,
                           struct cleave_shardset *shards);
void cleave__lookup_serve(const struct cleave_shardset *by_first,
                          const struct cleave_shardset *by_second, bool write,
                          struct cleave_shardset *shards);

/* Where a whole transaction goes, under the one counting rule (DESIGN.md): a read of a replicated
 * table is served by any one shard, a write of it touches all; everything else touches the shards
 * of its boxes (with two keys: as layout.h says). `shards` is the set of shards it must touch
 * (empty: any one will do). Distributed means more than one. */
struct cleave_touch {
    struct cleave_shardset shards;
    bool distributed, writes;
};
void cleave__lookup_accesses(const struct cleave_lookup *lookup,
                             const struct cleave_access *accesses, uint32_t access_count,
                             struct cleave_touch *touch); /* accumulates; start from all zeroes */

/* Files: written whole or not at all (temporary file, fsync, rename). A truncated or altered file
 * is CLEAVE_CORRUPT. A file names its tables and columns, so it opens without the schema. */
enum cleave_status cleave__lookup_write(const struct cleave_lookup *lookup, const char *path,
                                        struct cleave_error *error);
enum cleave_status cleave__lookup_open(const char *path, struct cleave_lookup **out,
                                       struct cleave_error *error);
/* The schema kept inside the lookup table (names, types, keys); borrowed. */
const struct cleave_schema *cleave__lookup_schema(const struct cleave_lookup *lookup);

#endif
