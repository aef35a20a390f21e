/* The value that splits a range of a column in two halves of equal rows, for refinement: `v` such
 * that the rows below `v` and those from `v` on are as near to equal as the statistics can tell.
 *
 * Over integers (and dates, times) every value is tried, by bisection on the estimate; over numbers
 * and text the candidates are the histogram's bounds and the common values. Without statistics the
 * middle of a bounded range of numbers. */
#include "tables/source/selectivity.h"

#include <string.h>

#include "tables/sql/number.h"

/* Share of rows of `range` below `value`. */
static double below(const struct cleave_table *table, uint32_t column,
                    const struct cleave_range *range, const struct cleave_value *value)
{
    struct cleave_range part = *range;
    part.flags &= (uint8_t)~CLEAVE_HIGH_UNBOUNDED;
    part.high = *value;
    if (value->kind == CLEAVE_INTEGER &&
        (part.low.kind == CLEAVE_INTEGER || part.flags & CLEAVE_LOW_UNBOUNDED)) {
        if (value->integer == INT64_MIN)
            return 0;
        part.high.integer--;
        part.flags &= (uint8_t)~CLEAVE_HIGH_OPEN;
    } else {
        part.flags |= CLEAVE_HIGH_OPEN;
    }
    return cleave__selectivity(table, column, &part);
}

struct pick {
    const struct cleave_table *table;
    uint32_t column;
    const struct cleave_range *range;
    double half;
    struct cleave_value best;
    double best_off;
    bool found;
};

/* Does `value` leave something on both sides? */
static bool splits(const struct cleave_range *range, const struct cleave_value *value)
{
    if (!cleave__range_contains(range, value))
        return false;
    return range->flags & CLEAVE_LOW_UNBOUNDED || cleave__value_compare(value, &range->low) > 0;
}

static void consider(struct pick *pick, const struct cleave_value *value)
{
    if (!splits(pick->range, value))
        return;
    double off = below(pick->table, pick->column, pick->range, value) - pick->half;
    if (off < 0)
        off = -off;
    if (off >= 2 * pick->half && pick->half > 0)
        return; /* all or nothing on one side */
    if (!pick->found || off < pick->best_off ||
        (off == pick->best_off && cleave__value_compare(value, &pick->best) < 0)) {
        pick->best = *value;
        pick->best_off = off;
        pick->found = true;
    }
}

/* Least and greatest value that the statistics know of within the range. */
static bool known_ends(const struct cleave_column_stats *stats, const struct cleave_range *range,
                       struct cleave_value *low, struct cleave_value *high)
{
    bool found = false;
    for (uint32_t pass = 0; pass < 2; pass++) {
        uint32_t count = pass ? stats->bound_count : stats->common_count;
        const struct cleave_value *values = pass ? stats->bounds : stats->common;
        for (uint32_t i = 0; i < count; i++) {
            if (!cleave__range_contains(range, &values[i]))
                continue;
            if (!found || cleave__value_compare(&values[i], low) < 0)
                *low = values[i];
            if (!found || cleave__value_compare(&values[i], high) > 0)
                *high = values[i];
            found = true;
        }
    }
    return found;
}

static bool integer_median(struct pick *pick, struct cleave_value *out)
{
    const struct cleave_range *range = pick->range;
    const struct cleave_column_stats *stats = &pick->table->columns[pick->column].stats;
    struct cleave_value low = range->low, high = range->high, first, last;
    bool known = known_ends(stats, range, &first, &last);
    if (range->flags & CLEAVE_LOW_UNBOUNDED) {
        if (!known)
            return false;
        low = first;
    }
    if (range->flags & CLEAVE_HIGH_UNBOUNDED) {
        if (!known)
            return false;
        high = last;
    }
    if (low.kind != CLEAVE_INTEGER || high.kind != CLEAVE_INTEGER || low.integer >= high.integer)
        return false;
    struct cleave_value value = {.kind = CLEAVE_INTEGER};
    uint64_t width = (uint64_t)high.integer - (uint64_t)low.integer;
    bool informed =
        stats->known && (stats->common_count || stats->bound_count >= 2) && pick->half > 0;
    if (!informed) {
        value.integer = (int64_t)((uint64_t)low.integer + width / 2 + width % 2);
        *out = value;
        return true;
    }
    /* The least offset with half of the rows below it. */
    uint64_t least = 1, most = width;
    while (least < most) {
        uint64_t middle = least + (most - least) / 2;
        value.integer = (int64_t)((uint64_t)low.integer + middle);
        if (below(pick->table, pick->column, range, &value) >= pick->half)
            most = middle;
        else
            least = middle + 1;
    }
    value.integer = (int64_t)((uint64_t)low.integer + least);
    consider(pick, &value);
    value.integer--;
    if (least > 1)
        consider(pick, &value);
    if (!pick->found) { /* one value holds everything */
        value.integer = (int64_t)((uint64_t)low.integer + least);
        pick->best = value;
    }
    *out = pick->best;
    return true;
}

/* A whole number strictly inside a bounded range of numbers. */
static bool middle_number(const struct cleave_range *range, struct cleave_value *out)
{
    int64_t ends[2];
    const struct cleave_value *values[2] = {&range->low, &range->high};
    for (int i = 0; i < 2; i++) {
        if (values[i]->kind == CLEAVE_INTEGER)
            ends[i] = values[i]->integer;
        else if (values[i]->kind != CLEAVE_NUMBER ||
                 !cleave__number_floor(values[i]->text, values[i]->length, &ends[i]))
            return false;
    }
    if (ends[0] >= ends[1])
        return false;
    uint64_t width = (uint64_t)ends[1] - (uint64_t)ends[0];
    struct cleave_value middle = {
        .kind = CLEAVE_INTEGER,
        .integer = (int64_t)((uint64_t)ends[0] + width / 2 + width % 2),
    };
    if (!splits(range, &middle))
        return false;
    *out = middle;
    return true;
}

bool cleave__range_median(const struct cleave_table *table, uint32_t column,
                          const struct cleave_range *range, struct cleave_value *out)
{
    enum { BOTH = CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_UNBOUNDED };
    const struct cleave_column *it = &table->columns[column];
    if (cleave__range_is_empty(range) || cleave__range_is_point(range))
        return false;
    struct pick pick = {.table = table,
                        .column = column,
                        .range = range,
                        .half = cleave__selectivity(table, column, range) / 2};
    bool whole = it->type != CLEAVE_TYPE_TEXT && it->type != CLEAVE_TYPE_NUMBER &&
                 it->type != CLEAVE_TYPE_UUID && it->type != CLEAVE_TYPE_CHAR;
    if (whole)
        return integer_median(&pick, out);
    for (uint32_t i = 0; i < it->stats.bound_count; i++)
        consider(&pick, &it->stats.bounds[i]);
    for (uint32_t i = 0; i < it->stats.common_count; i++)
        consider(&pick, &it->stats.common[i]);
    if (pick.found) {
        *out = pick.best;
        return true;
    }
    return it->type == CLEAVE_TYPE_NUMBER && !(range->flags & BOTH) && middle_number(range, out);
}
