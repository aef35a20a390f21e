/* One key map of a lookup table: explicit entries, NULL, and the rule for all other values.
 *
 * Maps whose rule is HASH or ROUND_ROBIN are asked for points only: integers in an integer map,
 * other kinds in a tuple map. Maps whose rule is RANGE or NEAREST need order: an ordered integer
 * map when all entries are integers, else an array of values. Of a NEAREST map only the entries
 * where the shard changes are kept: the others say nothing. */
#ifndef CLEAVE_TABLES_ROUTE_KEY_MAP_H
#define CLEAVE_TABLES_ROUTE_KEY_MAP_H

#include "base/shardset.h"
#include "tables/route/integer_map.h"
#include "tables/route/layout.h"
#include "tables/route/tuple_map.h"

struct cleave_key_index {
    uint32_t shards;
    enum cleave_map_default otherwise;
    uint32_t null_shard;
    bool null_explicit;
    struct cleave_integer_map integers;
    struct cleave_tuple_map tuples; /* HASH, ROUND_ROBIN */
    uint32_t value_count;           /* RANGE, NEAREST with entries that are not all integers */
    struct cleave_value *values;
    uint32_t *value_shards;
    uint32_t bound_count; /* RANGE */
    struct cleave_value *bounds;
    struct cleave_shardset explicit_shards; /* of entries other than NULL's */
    struct cleave_shardset may;             /* all that a value other than NULL may get */
};

/* Tests the map's rules first: CLEAVE_BAD_ARGUMENT names `where` (a map of a layout). */
enum cleave_status cleave__key_index_encode(const struct cleave_key_map *map, uint32_t shards,
                                            const char *where, struct cleave_writer *out,
                                            struct cleave_error *error);
/* CLEAVE_CORRUPT (no message) when a rule is broken; arrays go into `arena`. */
enum cleave_status cleave__key_index_decode(struct cleave_reader *reader, uint32_t shards,
                                            struct cleave_arena *arena,
                                            struct cleave_key_index *out);
uint32_t cleave__key_index_shard(const struct cleave_key_index *index,
                                 const struct cleave_value *value);
/* Adds the shards that values of a range (not a point) may get. HASH and ROUND_ROBIN: integer
 * ranges of up to CLEAVE_ENUMERATE_MAX values go value by value, others everywhere. */
void cleave__key_index_range(const struct cleave_key_index *index, const struct cleave_range *range,
                             struct cleave_shardset *shards);
enum { CLEAVE_ENUMERATE_MAX = 4096 };

/* Explicit entries other than NULL, sorted by value; malloc'd arrays (NULL when there are none). */
enum cleave_status cleave__key_index_list(const struct cleave_key_index *index, uint32_t *count,
                                          struct cleave_value **values, uint32_t **shards);

#endif
