/* One or two values of any kind -> shard, exact, in place inside the lookup table's bytes.
 *
 * Records hold the whole values; a directory by the top bits of the key's hash (XXH3) gives where
 * each bucket's records begin (about four a bucket, ascending by hash). INTEGER 5 and NUMBER "5"
 * are different here: callers pass values through cleave__plain first. */
#ifndef CLEAVE_TABLES_ROUTE_TUPLE_MAP_H
#define CLEAVE_TABLES_ROUTE_TUPLE_MAP_H

#include "base/bytes.h"
#include "cleave/status.h"
#include "tables/sql/value.h"

struct cleave_tuple_map {
    uint32_t width; /* values a key: 1 or 2 */
    uint32_t count;
    uint8_t bucket_bits;
    const uint8_t *directory; /* [2^bucket_bits + 1], 32 bits each: offsets into records */
    const uint8_t *records;
};

struct cleave_tuple_entry {
    struct cleave_value value[2]; /* text points into the map */
    uint32_t shard;
};

/* A value in its one form: a NUMBER that is an integer of 64 bits becomes that INTEGER. */
struct cleave_value cleave__plain(const struct cleave_value *value);

void cleave__put_value(struct cleave_writer *out, const struct cleave_value *value);
/* Text points into the reader's bytes. Fails the reader when it is not a value. */
struct cleave_value cleave__get_value(struct cleave_reader *reader);

/* `entries` need no order; CLEAVE_BAD_ARGUMENT when a key comes twice, CLEAVE_LIMIT past 4 GiB. */
enum cleave_status cleave__tuple_map_encode(const struct cleave_tuple_entry *entries,
                                            uint32_t count, uint32_t width,
                                            struct cleave_writer *out);
bool cleave__tuple_map_decode(struct cleave_reader *reader, uint32_t width, uint32_t shards,
                              struct cleave_tuple_map *out);
/* `key` points to `width` plain values. */
bool cleave__tuple_map_find(const struct cleave_tuple_map *map, const struct cleave_value *key,
                            uint32_t *shard);
/* All entries, in the map's own order; `out` has room for map->count. */
void cleave__tuple_map_list(const struct cleave_tuple_map *map, struct cleave_tuple_entry *out);

#endif
