/* A layout says where every row of every table lives. Every scheme (HGP, SH, PKH, PKR, PKRR, CMRR,
 * AllR) makes one; the lookup table is its compact, immutable form; all counting goes through it.
 *
 * A row of table T lives:
 *   1. on every shard, when T is replicated;
 *   2. else, if it lies in an exception (a rectangle over at most two columns), on that one's
 * shard. Exceptions of a table do not overlap;
 *   3. else where T's key map sends the value of T's key column: explicit entry first, then the
 *      map's default. NULL goes to shard 0 unless the map has an explicit NULL entry;
 *   4. and, when T has a second key, also where the second map sends the value of that column (one
 *      copy when both agree). Such a table has no exceptions.
 *
 * Which copies a statement touches, when T has a second key, is decided for each reference to T in
 * the statement as a whole (an access, with all its boxes). A read is served by the copies of one
 * key: of the shards that any of its rows may have by the first key, and of those by the second,
 * the smaller set; the first when they are as many. A write touches the copies of both. Looking
 * for the rows that an INSERT ... ON CONFLICT may meet is part of its write.
 *
 * Derived keys: another column of T can tell the key value, when the layout says so ("sub_nbr is
 * s_id in decimal, padded"). It is used for routing predicates on that column; it never decides
 * where a row lives. With two keys it tells the first. */
#ifndef CLEAVE_TABLES_ROUTE_LAYOUT_H
#define CLEAVE_TABLES_ROUTE_LAYOUT_H

#include "tables/source/schema.h"
#include "tables/sql/access.h"

enum cleave_map_default {
    CLEAVE_MAP_HASH,        /* cleave__value_shard */
    CLEAVE_MAP_ROUND_ROBIN, /* integers: value mod k; other kinds: as HASH */
    CLEAVE_MAP_RANGE,       /* shard i holds [bounds[i-1], bounds[i]) */
    CLEAVE_MAP_NEAREST, /* the shard of the nearest explicit entry at or below, else the first */
};

struct cleave_key_map {
    uint32_t entry_count; /* explicit: sorted by value, distinct */
    struct cleave_value *entries;
    uint32_t *entry_shards;
    enum cleave_map_default otherwise;
    uint32_t bound_count; /* RANGE: shards - 1 rising bounds */
    struct cleave_value *bounds;
};

/* key = the decimal number in `column`'s text after cutting `prefix` and `suffix`. */
struct cleave_derived_key {
    uint32_t column;
    const char *prefix, *suffix; /* "" when nothing is to cut */
    uint64_t support;            /* transactions that showed it; every one agreed */
};

struct cleave_exception {
    uint32_t range_count; /* 1 or 2 */
    uint32_t column[2];
    struct cleave_range range[2];
    uint32_t shard;
};

enum { CLEAVE_DERIVED_MAX = 4 };

struct cleave_table_layout {
    bool replicated;
    uint32_t key_column;                /* ignored when replicated */
    uint32_t map;                       /* index into maps */
    bool twice;                         /* rows have a copy by a second key */
    uint32_t second_column, second_map; /* when `twice` */
    uint32_t derived_count;
    struct cleave_derived_key derived[CLEAVE_DERIVED_MAX];
    uint32_t exception_count;
    struct cleave_exception *exceptions;
};

struct cleave_layout {
    const struct cleave_schema *schema; /* borrowed */
    uint32_t shards;
    struct cleave_table_layout *tables; /* [schema->table_count]; views are ignored */
    uint32_t map_count;
    struct cleave_key_map *maps; /* tables that move together share one */
    struct cleave_arena *arena;  /* what the pointers live in; borrowed */
};

#endif
