/* See key_map.h. Asking: points and ranges. Encoding is in key_map_code.c. */
#include "tables/route/key_map.h"

/* Numbers against an integer-only ordered map: the integer at or below, -1 or 1 when that is past
 * int64. `exact`: the number is that integer. */
static int floor_of_number(const struct cleave_value *number, int64_t *floor, bool *exact)
{
    uint32_t at = 0;
    bool negative = number->length && number->text[0] == '-';
    uint64_t magnitude = 0;
    *exact = true;
    for (at = negative; at < number->length && number->text[at] != '.'; at++) {
        unsigned digit = (unsigned char)number->text[at] - (unsigned)'0';
        if (digit > 9 || magnitude > (UINT64_MAX - digit) / 10)
            return negative ? -1 : 1;
        magnitude = magnitude * 10 + digit;
    }
    for (at++; at < number->length; at++)
        *exact = *exact && number->text[at] == '0';
    if (negative && !*exact)
        magnitude++;
    if (magnitude > (uint64_t)INT64_MAX + negative || (negative && magnitude == 0 && !*exact))
        return negative ? -1 : 1;
    *floor = (int64_t)(negative ? 0 - magnitude : magnitude);
    return 0;
}

static uint32_t integer_rank(const struct cleave_key_index *index, int64_t value, bool or_equal)
{
    uint64_t key = cleave__key_of_integer(value);
    if (or_equal && key == UINT64_MAX)
        return index->integers.count;
    return cleave__integer_map_rank(&index->integers, key + or_equal);
}

/* How many ordered entries are below `value` (or equal to it). */
static uint32_t rank_of(const struct cleave_key_index *index, const struct cleave_value *value,
                        bool or_equal)
{
    if (index->value_count) {
        uint32_t low = 0, high = index->value_count;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            int order = cleave__value_compare(&index->values[middle], value);
            if (order < 0 || (order == 0 && or_equal))
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }
    if (value->kind == CLEAVE_INTEGER)
        return integer_rank(index, value->integer, or_equal);
    if (value->kind == CLEAVE_NULL)
        return 0;
    if (value->kind == CLEAVE_TEXT)
        return index->integers.count;
    int64_t floor;
    bool exact;
    int past = floor_of_number(value, &floor, &exact);
    if (past)
        return past < 0 ? 0 : index->integers.count;
    return integer_rank(index, floor, !exact || or_equal);
}

static uint32_t ordered_count(const struct cleave_key_index *index)
{
    return index->value_count ? index->value_count : index->integers.count;
}

static uint32_t ordered_shard(const struct cleave_key_index *index, uint32_t at)
{
    return index->value_count ? index->value_shards[at]
                              : cleave__integer_map_shard(&index->integers, at);
}

static uint32_t bounds_below(const struct cleave_key_index *index, const struct cleave_value *value,
                             bool or_equal)
{
    uint32_t low = 0, high = index->bound_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = cleave__value_compare(&index->bounds[middle], value);
        if (order < 0 || (order == 0 && or_equal))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t nearest_shard(const struct cleave_key_index *index, uint32_t rank)
{
    return ordered_count(index) ? ordered_shard(index, rank ? rank - 1 : 0) : 0;
}

static uint32_t point_shard(const struct cleave_key_index *index, const struct cleave_value *value)
{
    uint32_t shard;
    switch (index->otherwise) {
    case CLEAVE_MAP_NEAREST:
        return nearest_shard(index, rank_of(index, value, true));
    case CLEAVE_MAP_RANGE: {
        if (ordered_count(index)) {
            uint32_t end = rank_of(index, value, true);
            if (end > rank_of(index, value, false))
                return ordered_shard(index, end - 1);
        }
        return bounds_below(index, value, true);
    }
    case CLEAVE_MAP_HASH:
    case CLEAVE_MAP_ROUND_ROBIN:
        break;
    }
    if (value->kind == CLEAVE_INTEGER) {
        if (cleave__integer_map_find(&index->integers, cleave__key_of_integer(value->integer),
                                     &shard))
            return shard;
        if (index->otherwise == CLEAVE_MAP_ROUND_ROBIN) {
            int64_t rest = value->integer % (int64_t)index->shards;
            return (uint32_t)(rest < 0 ? rest + (int64_t)index->shards : rest);
        }
    } else if (cleave__tuple_map_find(&index->tuples, value, &shard)) {
        return shard;
    }
    return cleave__value_shard(value, index->shards);
}

uint32_t cleave__key_index_shard(const struct cleave_key_index *index,
                                 const struct cleave_value *value)
{
    if (value->kind == CLEAVE_NULL)
        return index->null_shard;
    if (value->kind == CLEAVE_NUMBER) {
        struct cleave_value plain = cleave__plain(value);
        return point_shard(index, &plain);
    }
    return point_shard(index, value);
}

static void add_ordered(const struct cleave_key_index *index, uint32_t low, uint32_t high,
                        struct cleave_shardset *shards)
{
    for (uint32_t i = low; i < high; i++) {
        cleave__shardset_add(shards, ordered_shard(index, i));
        if ((i - low) % 64 != 63)
            continue;
        bool full = true; /* nothing that entries can add is missing */
        for (uint32_t w = 0; w < CLEAVE_SHARDS_MAX / 64; w++)
            full = full && !(index->explicit_shards.words[w] & ~shards->words[w]);
        if (full)
            return;
    }
}

void cleave__key_index_range(const struct cleave_key_index *index, const struct cleave_range *range,
                             struct cleave_shardset *shards)
{
    bool from_start = range->flags & CLEAVE_LOW_UNBOUNDED;
    bool to_end = range->flags & CLEAVE_HIGH_UNBOUNDED;
    bool low_open = range->flags & CLEAVE_LOW_OPEN, high_open = range->flags & CLEAVE_HIGH_OPEN;
    if (index->otherwise == CLEAVE_MAP_HASH || index->otherwise == CLEAVE_MAP_ROUND_ROBIN) {
        if (!from_start && !to_end && range->low.kind == CLEAVE_INTEGER &&
            range->high.kind == CLEAVE_INTEGER && range->low.integer <= range->high.integer) {
            uint64_t span = (uint64_t)range->high.integer - (uint64_t)range->low.integer;
            if (span < CLEAVE_ENUMERATE_MAX) {
                struct cleave_value value = range->low;
                for (uint64_t i = 0; i <= span; i++) {
                    value.integer = (int64_t)((uint64_t)range->low.integer + i);
                    cleave__shardset_add(shards, point_shard(index, &value));
                }
                return;
            }
        }
        cleave__shardset_or(shards, &index->may);
        return;
    }
    /* Ordered entries inside the range are [low, high); those at or below its start are `low` too
     * when the range is open there. */
    uint32_t low = from_start ? 0 : rank_of(index, &range->low, low_open);
    uint32_t high = to_end ? ordered_count(index) : rank_of(index, &range->high, !high_open);
    if (index->otherwise == CLEAVE_MAP_NEAREST) {
        /* Values before the range's first entry get the nearest one below, or the first of all. */
        cleave__shardset_add(
            shards, nearest_shard(index, from_start ? 0 : rank_of(index, &range->low, true)));
        add_ordered(index, low, high, shards);
        return;
    }
    add_ordered(index, low, high, shards);
    uint32_t first = from_start ? 0 : bounds_below(index, &range->low, true);
    uint32_t last = to_end ? index->bound_count : bounds_below(index, &range->high, !high_open);
    for (uint32_t i = first; i <= last; i++)
        cleave__shardset_add(shards, i);
}
