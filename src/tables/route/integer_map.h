/* 64-bit keys -> shards, exact for absent keys, in place inside the lookup table's bytes.
 *
 * Keys are unsigned and order-preserving (cleave__key_of_integer flips the sign bit). Three forms;
 * the builder takes the smallest that serves:
 *   DENSE    one number a key of the domain [low, low + span], when most keys are there;
 *   MIXED    the key's offset in the domain goes through a bijection of its d bits; the top b bits
 *            choose a bucket, the others are stored (quotienting, as in Cleary's compact hash
 *            tables), sorted within the bucket, each with its shard beside it: d - b + s bits;
 *   ORDERED  the same without the bijection, so that ranks and ranges can be asked.
 * About 69 - log2 n + s bits an entry at worst. A bucket holds 4 to 8 entries on average and is
 * read through; one that is long (ORDERED, uneven keys) is searched by halves. */
#ifndef CLEAVE_TABLES_ROUTE_INTEGER_MAP_H
#define CLEAVE_TABLES_ROUTE_INTEGER_MAP_H

#include "base/bytes.h"
#include "cleave/status.h"

enum cleave_integer_form {
    CLEAVE_FORM_EMPTY,
    CLEAVE_FORM_DENSE,
    CLEAVE_FORM_MIXED,
    CLEAVE_FORM_ORDERED
};

struct cleave_integer_map {
    uint8_t form;
    uint8_t key_bits, bucket_bits, shard_bits;
    uint8_t wide; /* a directory of 32-bit starts; else of 16-bit differences from an even spread */
    uint32_t count;
    uint64_t low, span;
    const uint8_t *directory; /* [2^bucket_bits + 1] first entry of each bucket */
    const uint8_t *entries;   /* bits: remainder, then shard */
};

static inline uint64_t cleave__key_of_integer(int64_t x)
{
    return (uint64_t)x ^ UINT64_C(1) << 63;
}
static inline int64_t cleave__integer_of_key(uint64_t key)
{
    return (int64_t)(key ^ UINT64_C(1) << 63);
}

struct cleave_integer_entry {
    uint64_t key;
    uint32_t shard;
};

/* `entries` sorted by key, distinct, shards < `shards`. Appends to `out`. */
enum cleave_status cleave__integer_map_encode(const struct cleave_integer_entry *entries,
                                              uint32_t count, uint32_t shards, bool ordered,
                                              struct cleave_writer *out);
/* Takes the map at the reader's place and tests all of it; false when it breaks a rule. */
bool cleave__integer_map_decode(struct cleave_reader *reader, uint32_t shards, bool ordered,
                                struct cleave_integer_map *out);
bool cleave__integer_map_find(const struct cleave_integer_map *map, uint64_t key, uint32_t *shard);
/* ORDERED only: how many keys are below `key`, and the shard of the i-th. */
uint32_t cleave__integer_map_rank(const struct cleave_integer_map *map, uint64_t key);
uint32_t cleave__integer_map_shard(const struct cleave_integer_map *map, uint32_t index);
/* All entries, sorted by key; `out` has room for map->count. */
void cleave__integer_map_list(const struct cleave_integer_map *map,
                              struct cleave_integer_entry *out);

#endif
