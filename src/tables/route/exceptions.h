/* The exceptions of one table: rectangles over one or two columns, each with its shard.
 *
 * Exceptions over the same columns form a group. Those that are points (the usual case: a few
 * rows that live elsewhere) sit in a map from the point to its shard: an integer map over both
 * numbers packed together when they fit 64 bits, else a tuple map; beside it, for boxes that name
 * one column only, each axis lists its distinct values, their points, and the union of their
 * shards. The others ("spans") form an interval tree over the axis with more distinct starts.
 * Only the maps and the spans are stored; the rest is made on opening. */
#ifndef CLEAVE_TABLES_ROUTE_EXCEPTIONS_H
#define CLEAVE_TABLES_ROUTE_EXCEPTIONS_H

#include "base/shardset.h"
#include "tables/route/integer_map.h"
#include "tables/route/layout.h"
#include "tables/route/tuple_map.h"

struct cleave_exception_point {
    uint32_t at[2]; /* index of its value in each axis */
    uint32_t shard;
};

struct cleave_exception_axis {
    uint32_t value_count;
    struct cleave_value *values; /* distinct, rising */
    uint32_t *run;               /* [value_count + 1] into order */
    uint32_t *order;             /* points by (this axis, the other) */
    uint32_t *summary;           /* by value: index of a set of shards */
};

struct cleave_exception_group {
    uint32_t width; /* columns: 1 or 2, rising */
    uint32_t column[2];
    uint32_t point_count;
    int64_t low[2]; /* packed points: offsets from here, this wide */
    uint8_t bits[2];
    struct cleave_integer_map packed;
    struct cleave_tuple_map tuples;
    struct cleave_exception_point *points;
    struct cleave_exception_axis axis[2];
    uint32_t set_count;
    struct cleave_shardset *sets;
    uint32_t span_count;
    struct cleave_exception *spans; /* columns as the group's; sorted by start on span_axis */
    uint32_t span_axis;
    uint32_t *span_furthest; /* by tree node: the span of its subtree that ends last */
    struct cleave_shardset point_shards, span_shards; /* unions */
};

struct cleave_exceptions {
    uint32_t group_count;
    struct cleave_exception_group *groups;
};

enum cleave_status cleave__exceptions_encode(const struct cleave_table_layout *layout,
                                             uint32_t shards, uint32_t column_count,
                                             const char *table, struct cleave_writer *out,
                                             struct cleave_error *error);
/* CLEAVE_CORRUPT without a message. */
enum cleave_status cleave__exceptions_decode(struct cleave_reader *reader, uint32_t shards,
                                             uint32_t column_count, struct cleave_arena *arena,
                                             struct cleave_exceptions *out);

/* The shard of the exception that holds the point; `values` are the group's columns' (plain). */
bool cleave__exception_find(const struct cleave_exception_group *group,
                            const struct cleave_value *const values[2], uint32_t *shard);
/* What a box says of one column: a value, or a term's ranges, or nothing. */
struct cleave_extent {
    const struct cleave_value *value; /* plain; NULL: see term */
    const struct cleave_term *term;   /* NULL: anything */
};
/* Adds the shards of exactly those exceptions of the group that overlap the extents. True when one
 * exception covers them wholly. */
bool cleave__exception_overlap(const struct cleave_exception_group *group,
                               const struct cleave_extent extents[2],
                               struct cleave_shardset *shards);
/* All exceptions of a group, points first; malloc'd array. */
enum cleave_status cleave__exception_list(const struct cleave_exception_group *group,
                                          uint32_t *count, struct cleave_exception **out);

/* The order of ranges along an axis, NULL before everything, unbounded ends outermost. */
int cleave__range_compare_start(const struct cleave_range *a, const struct cleave_range *b);
int cleave__range_compare_end(const struct cleave_range *a, const struct cleave_range *b);
/* All of a lies before all of b. */
bool cleave__range_before(const struct cleave_range *a, const struct cleave_range *b);

/* Builds points, axes, sets and the tree of a decoded group. */
enum cleave_status cleave__exception_index(struct cleave_exception_group *group, uint32_t shards,
                                           struct cleave_arena *arena);

#endif
