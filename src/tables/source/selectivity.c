/* What share of a table's rows has its column's value in a range: the estimate that query
 * optimizers make (Selinger's, with most common values and an equi-depth histogram for the rest, as
 * PostgreSQL gathers them).
 *
 * With statistics: NULL by the null fraction; a point by its frequency if it is a common value,
 * else an equal part of what the common values leave; a range by the common values in it plus the
 * histogram's share of the rest, interpolated linearly within a bucket (text: by the first bytes
 * after the bucket's common prefix). Estimates add up: cutting a range in pieces, which do not
 * overlap, gives pieces whose shares sum to the whole's, points apart (they are counted by
 * frequency, not by width).
 *
 * Without: a point is 1/distinct, and the distinct values of a column that is unique by itself are
 * the rows, of a boolean 2, of any other 200 (PostgreSQL's guess), but never more than the rows. A
 * range over integers holds as many of the distinct values as it is wide, at most a third of the
 * rows when one end is open, else 1/200; one with an open end is a third. NULLs are none in a
 * column that is NOT NULL, else 1/200. */
#include "tables/source/selectivity.h"

#include <string.h>

static const double guess_distinct = 200;
static const double guess_null = 0.005;
static const double guess_open_range = 1.0 / 3;
static const double guess_closed_range = 0.005;

static double clamp(double share)
{
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* Canonical decimal text -> double, the same on every machine. */
static double number_value(const struct cleave_value *value)
{
    if (value->kind == CLEAVE_INTEGER)
        return (double)value->integer;
    double result = 0, scale = 1;
    bool fraction = false, negative = false;
    for (uint32_t i = 0; i < value->length; i++) {
        char c = value->text[i];
        if (c == '-')
            negative = true;
        else if (c == '.')
            fraction = true;
        else if (!fraction)
            result = result * 10 + (c - '0');
        else if (scale < 1e17) {
            scale *= 10;
            result += (c - '0') / scale;
        }
    }
    return negative ? -result : result;
}

/* How far `value` lies between text bounds: their common prefix is cut, then the next bytes are
 * read as digits of a number. The digits' base is the span of characters that a value of this kind
 * uses (digits, upper case, lower case, else all bytes). */
static double text_between(const struct cleave_value *low, const struct cleave_value *high,
                           const struct cleave_value *value)
{
    const struct cleave_value *all[3] = {low, high, value};
    uint32_t prefix = 0, shorter = low->length < high->length ? low->length : high->length;
    while (prefix < shorter && low->text[prefix] == high->text[prefix])
        prefix++;
    unsigned least = 255, most = 0;
    for (int i = 0; i < 3; i++) {
        for (uint32_t b = prefix; b < all[i]->length && b < prefix + 8; b++) {
            unsigned byte = (unsigned char)all[i]->text[b];
            least = byte < least ? byte : least;
            most = byte > most ? byte : most;
        }
    }
    static const unsigned char spans[][2] = {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}};
    for (int i = 0; i < 3; i++) {
        if (least <= spans[i][1] && most >= spans[i][0]) {
            least = least < spans[i][0] ? least : spans[i][0];
            most = most > spans[i][1] ? most : spans[i][1];
        }
    }
    if (most < least)
        return 0.5;
    double position[3], base = (double)(most - least) + 2; /* digit 0: the text has ended */
    for (int i = 0; i < 3; i++) {
        double weight = 1;
        position[i] = 0;
        for (uint32_t b = prefix; b < all[i]->length && b < prefix + 8; b++) {
            weight /= base;
            position[i] += weight * ((unsigned char)all[i]->text[b] - least + 1);
        }
    }
    double width = position[1] - position[0];
    return width > 0 ? clamp((position[2] - position[0]) / width) : 0.5;
}

/* How far `value` lies between two bounds, 0..1; `closed`: the high one belongs to the bucket. */
static double between(const struct cleave_value *low, const struct cleave_value *high,
                      const struct cleave_value *value, bool closed)
{
    if (low->kind == CLEAVE_TEXT || high->kind == CLEAVE_TEXT || value->kind == CLEAVE_TEXT)
        return low->kind == high->kind && low->kind == value->kind ? text_between(low, high, value)
                                                                   : 0.5;
    if (low->kind == CLEAVE_INTEGER && high->kind == CLEAVE_INTEGER &&
        value->kind == CLEAVE_INTEGER) {
        /* Differences of int64 fit uint64. */
        double width = (double)((uint64_t)high->integer - (uint64_t)low->integer) + closed;
        double part = (double)((uint64_t)value->integer - (uint64_t)low->integer);
        return width > 0 ? clamp(part / width) : 1;
    }
    double width = number_value(high) - number_value(low);
    return width > 0 ? clamp((number_value(value) - number_value(low)) / width) : 0.5;
}

uint32_t cleave__histogram_find(const struct cleave_column_stats *stats,
                                const struct cleave_value *value)
{
    uint32_t low = 0, high = stats->bound_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (cleave__value_compare(&stats->bounds[middle], value) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double cleave__histogram_below(const struct cleave_column_stats *stats,
                               const struct cleave_value *value)
{
    uint32_t buckets = stats->bound_count - 1;
    uint32_t at = cleave__histogram_find(stats, value);
    if (at == 0)
        return 0;
    if (at == stats->bound_count)
        return 1;
    double part = between(&stats->bounds[at - 1], &stats->bounds[at], value, at == buckets);
    return (at - 1 + part) / buckets;
}

/* Share of the histogram's values in the range. */
static double histogram_share(const struct cleave_column_stats *stats,
                              const struct cleave_range *range)
{
    double low = 0, high = 1;
    if (!(range->flags & CLEAVE_LOW_UNBOUNDED))
        low = cleave__histogram_below(stats, &range->low);
    if (!(range->flags & CLEAVE_HIGH_UNBOUNDED)) {
        struct cleave_value past = range->high;
        /* Integer bounds are closed: count up to just past the high one. */
        if (past.kind == CLEAVE_INTEGER && past.integer == INT64_MAX)
            high = 1;
        else {
            if (past.kind == CLEAVE_INTEGER && !(range->flags & CLEAVE_HIGH_OPEN))
                past.integer++;
            high = cleave__histogram_below(stats, &past);
        }
    }
    return high > low ? high - low : 0;
}

static bool is_unique(const struct cleave_table *table, uint32_t column)
{
    if (table->primary.count == 1 && table->primary.columns[0] == column)
        return true;
    for (uint32_t i = 0; i < table->unique_count; i++) {
        if (table->uniques[i].count == 1 && table->uniques[i].columns[0] == column)
            return true;
    }
    return false;
}

/* Number of distinct values, known or guessed; >= 1. */
static double distinct_of(const struct cleave_table *table, uint32_t column)
{
    const struct cleave_column *it = &table->columns[column];
    double distinct = guess_distinct;
    if (it->stats.known && it->stats.distinct > 0)
        distinct = it->stats.distinct;
    else if (is_unique(table, column) && table->rows > 0)
        return table->rows < 1 ? 1 : table->rows;
    else if (it->type == CLEAVE_TYPE_BOOLEAN)
        distinct = 2;
    if (table->rows >= 1 && distinct > table->rows)
        distinct = table->rows;
    return distinct < 1 ? 1 : distinct;
}

static double null_share(const struct cleave_column *column)
{
    if (column->stats.known)
        return clamp(column->stats.null_fraction);
    return column->not_null ? 0 : guess_null;
}

/* What the common values and NULLs leave. */
static double rest_of(const struct cleave_column_stats *stats)
{
    double rest = 1 - stats->null_fraction;
    for (uint32_t i = 0; i < stats->common_count; i++)
        rest -= stats->common_frequency[i];
    return clamp(rest);
}

static double point_share(const struct cleave_table *table, uint32_t column,
                          const struct cleave_value *value)
{
    const struct cleave_column *it = &table->columns[column];
    const struct cleave_column_stats *stats = &it->stats;
    double distinct = distinct_of(table, column);
    if (!stats->known)
        return (1 - null_share(it)) / distinct;
    for (uint32_t i = 0; i < stats->common_count; i++) {
        if (cleave__value_compare(&stats->common[i], value) == 0)
            return clamp(stats->common_frequency[i]);
    }
    double others = distinct - stats->common_count;
    double share = rest_of(stats) / (others < 1 ? 1 : others);
    /* No value outside of the common ones is more common than they are. */
    for (uint32_t i = 0; i < stats->common_count; i++) {
        if (share > stats->common_frequency[i])
            share = stats->common_frequency[i];
    }
    return clamp(share);
}

/* Integers in a range with two ends; 0 when it is not one over integers. */
static double integers_in(const struct cleave_range *range)
{
    if (range->low.kind != CLEAVE_INTEGER || range->high.kind != CLEAVE_INTEGER)
        return 0;
    return (double)((uint64_t)range->high.integer - (uint64_t)range->low.integer) + 1;
}

static double guess_range(const struct cleave_table *table, uint32_t column,
                          const struct cleave_range *range)
{
    enum { BOTH = CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_UNBOUNDED };
    if (range->flags & BOTH)
        return guess_open_range;
    double width = integers_in(range), distinct = distinct_of(table, column);
    enum cleave_type type = table->columns[column].type;
    if (width > 0 && (type == CLEAVE_TYPE_INTEGER || type == CLEAVE_TYPE_BOOLEAN)) {
        double share = width / distinct;
        /* A column that is unique by itself is taken to be dense: 1, 2, 3, ... */
        double most =
            is_unique(table, column) || type == CLEAVE_TYPE_BOOLEAN ? 1 : guess_open_range;
        return share < most ? share : most;
    }
    return guess_closed_range;
}

double cleave__selectivity(const struct cleave_table *table, uint32_t column,
                           const struct cleave_range *range)
{
    enum { BOTH = CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_UNBOUNDED };
    const struct cleave_column *it = &table->columns[column];
    const struct cleave_column_stats *stats = &it->stats;
    if (cleave__range_is_empty(range))
        return 0;
    if (cleave__range_is_point(range))
        return range->low.kind == CLEAVE_NULL ? null_share(it)
                                              : point_share(table, column, &range->low);
    if ((range->flags & BOTH) == BOTH)
        return 1 - null_share(it);
    if (!stats->known || (stats->common_count == 0 && stats->bound_count < 2))
        return clamp(guess_range(table, column, range) * (1 - null_share(it)));
    double share = 0, rest = rest_of(stats);
    for (uint32_t i = 0; i < stats->common_count; i++) {
        if (cleave__range_contains(range, &stats->common[i]))
            share += stats->common_frequency[i];
    }
    if (stats->bound_count >= 2)
        share += rest * histogram_share(stats, range);
    else
        share += rest * guess_range(table, column, range);
    return clamp(share);
}
