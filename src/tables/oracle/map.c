/* Reading a key map: a point by its explicit entry, else by the default; an interval of up to 4096
 * integers value by value where the default has no order, a wider one wherever it may send
 * anything. */
#include "tables/oracle/map.h"

#include <stdio.h>
#include <string.h>

/* First entry whose value is not below `value` (not below or equal, when `after`). */
static uint32_t lower(const struct cleave_value *values, uint32_t count,
                      const struct cleave_value *value, bool after)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = cleave__value_compare(&values[middle], value);
        if (order < 0 || (order == 0 && after))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A NUMBER without a fraction is that integer. */
static bool whole_number(const struct cleave_value *value, int64_t *out)
{
    char text[24];
    int used = 0;
    long long number;
    if (value->kind == CLEAVE_INTEGER) {
        *out = value->integer;
        return true;
    }
    if (value->kind != CLEAVE_NUMBER || value->length == 0 || value->length > 19)
        return false;
    memcpy(text, value->text, value->length);
    text[value->length] = 0;
    if (strspn(text, "-0123456789") != value->length ||
        sscanf(text, "%lld%n", &number, &used) != 1 || used != (int)value->length)
        return false;
    *out = number;
    return true;
}

static uint32_t map_point(const struct cleave_key_map *map, uint32_t shards,
                          const struct cleave_value *value)
{
    uint32_t at = lower(map->entries, map->entry_count, value, false);
    if (at < map->entry_count && cleave__value_compare(&map->entries[at], value) == 0)
        return map->entry_shards[at];
    if (value->kind == CLEAVE_NULL)
        return 0;
    int64_t number;
    uint32_t nulls = map->entry_count && map->entries[0].kind == CLEAVE_NULL;
    switch (map->otherwise) {
    case CLEAVE_MAP_RANGE:
        return lower(map->bounds, map->bound_count, value, true);
    case CLEAVE_MAP_NEAREST:
        if (map->entry_count == nulls)
            return 0;
        return map->entry_shards[at > nulls ? at - 1 : nulls];
    case CLEAVE_MAP_ROUND_ROBIN:
        if (whole_number(value, &number)) {
            int64_t rest = number % (int64_t)shards;
            return (uint32_t)(rest < 0 ? rest + (int64_t)shards : rest);
        }
        break;
    case CLEAVE_MAP_HASH:
        break;
    }
    return cleave__value_shard(value, shards);
}

/* An interval of the key (never NULL). */
static void map_interval(const struct cleave_key_map *map, uint32_t shards,
                         const struct cleave_range *range, uint32_t enough,
                         struct cleave_shardset *out)
{
    struct oracle_cell cell = {.range = *range};
    if (map->otherwise == CLEAVE_MAP_HASH || map->otherwise == CLEAVE_MAP_ROUND_ROBIN) {
        uint64_t count = cleave__oracle_cell_integers(&cell, ORACLE_KEY_VALUES_MAX);
        struct cleave_value value = range->low;
        if (count == 0)
            cleave__shardset_fill(out, shards);
        for (uint64_t i = 0; i < count && cleave__shardset_count(out) < enough; i++) {
            value.integer = (int64_t)((uint64_t)range->low.integer + i);
            cleave__shardset_add(out, map_point(map, shards, &value));
        }
        return;
    }
    bool from_start = range->flags & CLEAVE_LOW_UNBOUNDED;
    bool to_end = range->flags & CLEAVE_HIGH_UNBOUNDED;
    uint32_t nulls = map->entry_count && map->entries[0].kind == CLEAVE_NULL;
    uint32_t first = from_start ? nulls
                                : lower(map->entries, map->entry_count, &range->low,
                                        range->flags & CLEAVE_LOW_OPEN);
    uint32_t last = to_end ? map->entry_count
                           : lower(map->entries, map->entry_count, &range->high,
                                   !(range->flags & CLEAVE_HIGH_OPEN));
    for (uint32_t i = first; i < last && cleave__shardset_count(out) < enough; i++)
        cleave__shardset_add(out, map->entry_shards[i]);
    if (map->otherwise == CLEAVE_MAP_RANGE) {
        uint32_t low = from_start ? 0 : lower(map->bounds, map->bound_count, &range->low, true);
        uint32_t high = to_end ? map->bound_count
                               : lower(map->bounds, map->bound_count, &range->high,
                                       !(range->flags & CLEAVE_HIGH_OPEN));
        for (uint32_t i = low; i <= high && i < shards; i++)
            cleave__shardset_add(out, i);
    } else if (map->entry_count == nulls) {
        cleave__shardset_add(out, 0);
    } else { /* the values before the interval's first entry */
        uint32_t at = from_start ? nulls : lower(map->entries, map->entry_count, &range->low, true);
        cleave__shardset_add(out, map->entry_shards[at > nulls ? at - 1 : nulls]);
    }
}

void cleave__oracle_map(const struct cleave_key_map *map, uint32_t shards,
                        const struct oracle_cell *cell, uint32_t enough,
                        struct cleave_shardset *out)
{
    static const struct cleave_value null = {.kind = CLEAVE_NULL};
    if (cell->is_null)
        cleave__shardset_add(out, map_point(map, shards, &null));
    else if (cleave__oracle_cell_point(cell))
        cleave__shardset_add(out, map_point(map, shards, &cell->range.low));
    else
        map_interval(map, shards, &cell->range, enough, out);
}
