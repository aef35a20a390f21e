/* Which shards may hold a row of a box.
 *
 * Without exceptions the box's term on the key column decides: points one by one, small integer
 * ranges value by value, other ranges by overlap. With exceptions the box is cut into cells, one
 * for each combination of the values that it lists for the key and the exceptions' columns; a
 * cell that one exception holds wholly has that one's shard alone, any other cell has the map's
 * answer and the shards of all exceptions that overlap it. With a second key (and so no exceptions)
 * that one's term decides alike. Errs on the side of more. */
#include <assert.h>
#include <stdio.h>

#include "tables/route/image.h"
#include "tables/route/mix.h"

enum {
    CELLS_MAX = 4096,
    RANGE_CELLS_MAX = 64 /* values of an integer range on a column that is not the key */
};

/* The values that a box lists for one column, one after the other. */
struct points {
    uint32_t column;
    const struct cleave_term *term;
    const struct cleave_derived_key *derived; /* the term is on its column, not on `column` */
    uint64_t count;
    uint32_t range;
    uint64_t step;
    struct cleave_value value; /* the current one, plain */
};

static const struct cleave_term *term_of(const struct cleave_box *box, uint32_t column)
{
    for (uint32_t i = 0; i < box->term_count; i++) {
        if (box->terms[i].column == column)
            return &box->terms[i];
    }
    return NULL;
}

/* Number of values of a range when they can be listed, else 0. */
static inline uint64_t listed(const struct cleave_range *range)
{
    if (range->flags == 0 && range->low.kind == CLEAVE_INTEGER &&
        range->high.kind == CLEAVE_INTEGER) {
        if (range->low.integer > range->high.integer)
            return 0;
        uint64_t span = (uint64_t)range->high.integer - (uint64_t)range->low.integer;
        return span < CLEAVE_ENUMERATE_MAX ? span + 1 : 0;
    }
    return cleave__range_is_point(range);
}

/* The key that a derived column's value tells; false when it tells none. */
static bool derive(const struct cleave_derived_key *derived, const struct cleave_value *value,
                   struct cleave_value *key)
{
    char digits[24];
    const char *text = value->text;
    size_t length = value->length;
    if (value->kind == CLEAVE_NULL)
        return false;
    if (value->kind == CLEAVE_INTEGER) {
        length = (size_t)snprintf(digits, sizeof digits, "%lld", (long long)value->integer);
        text = digits;
    }
    size_t prefix = strlen(derived->prefix), suffix = strlen(derived->suffix);
    if (length <= prefix + suffix || memcmp(text, derived->prefix, prefix) != 0 ||
        memcmp(text + length - suffix, derived->suffix, suffix) != 0)
        return false;
    bool negative = text[prefix] == '-';
    size_t at = prefix + negative, end = length - suffix;
    uint64_t magnitude = 0;
    if (at == end)
        return false;
    for (; at < end; at++) {
        unsigned digit = (unsigned char)text[at] - (unsigned)'0';
        if (digit > 9 || magnitude > ((uint64_t)INT64_MAX - digit) / 10)
            return false;
        magnitude = magnitude * 10 + digit;
    }
    *key = (struct cleave_value){.kind = CLEAVE_INTEGER};
    key->integer = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

static void set_value(struct points *points)
{
    const struct cleave_range *range = &points->term->ranges[points->range];
    if (points->derived) {
        derive(points->derived, &range->low, &points->value); /* tried before: it succeeds */
        return;
    }
    points->value = range->low.kind == CLEAVE_NUMBER ? cleave__plain(&range->low) : range->low;
    if (points->value.kind == CLEAVE_INTEGER)
        points->value.integer = (int64_t)((uint64_t)points->value.integer + points->step);
}

/* Starts over at the first value. */
static void first_value(struct points *points)
{
    points->range = 0;
    points->step = 0;
    set_value(points);
}

static bool next_value(struct points *points)
{
    if (++points->step >= listed(&points->term->ranges[points->range])) {
        points->step = 0;
        if (++points->range >= points->term->range_count)
            return false;
    }
    set_value(points);
    return true;
}

/* All ranges of the term listable, `most` values of proper ranges at most: their number, else 0. */
static uint64_t list_term(const struct cleave_term *term, uint64_t most)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < term->range_count; i++) {
        uint64_t n = listed(&term->ranges[i]);
        total += n;
        if (n == 0 || total > CELLS_MAX || (n > 1 && total > most))
            return 0;
    }
    return total;
}

/* A derived column that the box pins to texts which all tell a key. */
static bool list_derived(const struct cleave_lookup *lookup, uint32_t table,
                         const struct cleave_box *box, struct points *points)
{
    const struct cleave_table_index *index = &lookup->tables[table];
    enum cleave_type type = lookup->schema.tables[table].columns[index->key_column].type;
    if (type != CLEAVE_TYPE_INTEGER && type != CLEAVE_TYPE_NUMBER)
        return false;
    for (uint32_t d = 0; d < index->derived_count; d++) {
        const struct cleave_derived_key *derived = &index->derived[d];
        const struct cleave_term *term = term_of(box, derived->column);
        if (!term || term->range_count == 0 || term->range_count > CELLS_MAX)
            continue;
        uint32_t i = 0;
        struct cleave_value key;
        while (i < term->range_count && listed(&term->ranges[i]) == 1 &&
               derive(derived, &term->ranges[i].low, &key))
            i++;
        if (i < term->range_count)
            continue;
        *points = (struct points){index->key_column, term, derived, i, 0, 0, {0}};
        return true;
    }
    return false;
}

/* The map's answer for a term on its key column (or none). */
static void add_term(const struct cleave_key_index *map, bool nullable,
                     const struct cleave_term *term, struct cleave_shardset *shards)
{
    if (!term) {
        cleave__shardset_or(shards, &map->may);
        if (nullable)
            cleave__shardset_add(shards, map->null_shard);
        return;
    }
    for (uint32_t i = 0; i < term->range_count; i++) {
        const struct cleave_range *range = &term->ranges[i];
        if (listed(range) == 1)
            cleave__shardset_add(shards, cleave__key_index_shard(map, &range->low));
        else if (!cleave__range_is_empty(range))
            cleave__key_index_range(map, range, shards);
    }
}

struct cells {
    uint32_t count;
    struct points points[CLEAVE_RELEVANT_MAX];
};

static const struct cleave_value *cell_value(const struct cells *cells, uint32_t column)
{
    for (uint32_t i = 0; i < cells->count; i++) {
        if (cells->points[i].column == column)
            return &cells->points[i].value;
    }
    return NULL;
}

static bool next_cell(struct cells *cells)
{
    for (uint32_t i = 0; i < cells->count; i++) {
        if (next_value(&cells->points[i]))
            return true;
        first_value(&cells->points[i]);
    }
    return false;
}

/* False when the box is empty. */
static bool make_cells(const struct cleave_lookup *lookup, uint32_t table,
                       const struct cleave_box *box, bool insert, struct cells *cells)
{
    const struct cleave_table_index *index = &lookup->tables[table];
    uint64_t product = 1;
    cells->count = 0;
    for (uint32_t i = 0; i < index->relevant_count; i++) {
        struct points points = {.column = index->relevant[i]};
        points.term = term_of(box, points.column);
        if (points.term && points.term->range_count == 0)
            return false;
        if (points.term)
            points.count = list_term(points.term, i ? RANGE_CELLS_MAX : CELLS_MAX);
        if (points.count == 0 && (i || insert || !list_derived(lookup, table, box, &points)))
            continue;
        if (product * points.count > CELLS_MAX)
            continue;
        product *= points.count;
        first_value(&points);
        cells->points[cells->count++] = points;
    }
    return true;
}

static bool add_exceptions(const struct cleave_exceptions *exceptions, const struct cells *cells,
                           const struct cleave_box *box, struct cleave_shardset *shards)
{
    for (uint32_t g = 0; g < exceptions->group_count; g++) {
        const struct cleave_exception_group *group = &exceptions->groups[g];
        struct cleave_extent extents[2] = {{0}};
        const struct cleave_value *values[2] = {NULL, NULL};
        bool point = true;
        for (uint32_t i = 0; i < group->width; i++) {
            extents[i].value = values[i] = cell_value(cells, group->column[i]);
            extents[i].term = values[i] ? NULL : term_of(box, group->column[i]);
            point = point && values[i];
        }
        uint32_t shard;
        if (point && cleave__exception_find(group, values, &shard)) {
            cleave__shardset_add(shards, shard);
            return true;
        }
        if (!point && cleave__exception_overlap(group, extents, shards))
            return true;
    }
    return false;
}

bool cleave__box_each_key(const struct cleave_lookup *lookup, uint32_t table,
                          const struct cleave_box *box, bool insert,
                          void (*each)(void *context, const struct cleave_value *key),
                          void *context)
{
    const struct cleave_table_index *index = &lookup->tables[table];
    struct points points = {.column = index->key_column};
    for (uint32_t i = 0; i < box->term_count; i++) {
        if (box->terms[i].range_count == 0)
            return true; /* the box is empty */
    }
    points.term = term_of(box, points.column);
    if (points.term)
        points.count = list_term(points.term, CELLS_MAX);
    if (points.count == 0 && (insert || !list_derived(lookup, table, box, &points)))
        return false;
    first_value(&points);
    do {
        each(context, &points.value);
    } while (next_value(&points));
    return true;
}

void cleave__lookup_box_by(const struct cleave_lookup *lookup, uint32_t table,
                           const struct cleave_box *box, bool insert, bool second,
                           struct cleave_shardset *shards)
{
    assert(table < lookup->schema.table_count);
    if (lookup->mix) {
        const struct cleave_lookup *side = cleave__mix_whole_side(lookup->mix, table);
        assert(side || !second);
        if (side)
            cleave__lookup_box_by(side, table, box, insert, second, shards);
        else
            cleave__mix_box(lookup->mix, table, box, insert, shards);
        return;
    }
    const struct cleave_table_index *index = &lookup->tables[table];
    assert(!index->replicated && (index->twice || !second));
    const struct cleave_key_index *map = &lookup->maps[index->map];
    struct cells cells;
    if (second) {
        add_term(&lookup->maps[index->second_map], index->second_nullable,
                 term_of(box, index->second_column), shards);
        return;
    }
    if (index->exceptions.group_count == 0 && (insert || index->derived_count == 0)) {
        add_term(map, index->key_nullable, term_of(box, index->key_column), shards);
        return;
    }
    if (!make_cells(lookup, table, box, insert, &cells))
        return;
    bool map_added = false;
    do {
        if (add_exceptions(&index->exceptions, &cells, box, shards))
            continue;
        const struct cleave_value *key = cell_value(&cells, index->key_column);
        if (key) {
            cleave__shardset_add(shards, cleave__key_index_shard(map, key));
        } else if (!map_added) {
            add_term(map, index->key_nullable, term_of(box, index->key_column), shards);
            map_added = true;
        }
    } while (next_cell(&cells));
}

void cleave__lookup_serve(const struct cleave_shardset *by_first,
                          const struct cleave_shardset *by_second, bool write,
                          struct cleave_shardset *shards)
{
    bool second = cleave__shardset_count(by_second) < cleave__shardset_count(by_first);
    if (write || !second)
        cleave__shardset_or(shards, by_first);
    if (write || second)
        cleave__shardset_or(shards, by_second);
}

void cleave__lookup_box(const struct cleave_lookup *lookup, uint32_t table,
                        const struct cleave_box *box, bool insert, bool write,
                        struct cleave_shardset *shards)
{
    if (!cleave__lookup_twice(lookup, table)) {
        cleave__lookup_box_by(lookup, table, box, insert, false, shards);
        return;
    }
    struct cleave_shardset by[2] = {{{0}}, {{0}}};
    cleave__lookup_box_by(lookup, table, box, insert, false, &by[0]);
    cleave__lookup_box_by(lookup, table, box, insert, true, &by[1]);
    cleave__lookup_serve(&by[0], &by[1], write, shards);
}
