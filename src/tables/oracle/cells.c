/* Pieces of a column's domain: cutting them by constants, narrowing, comparing. */
#include "tables/oracle/cells.h"

#include <stdlib.h>

static bool is_text(const struct cleave_value *value)
{
    return value->kind == CLEAVE_TEXT;
}

/* Ends of a piece of the integers become integers that belong to it. False: nothing is left. */
static bool close_low(struct cleave_range *a)
{
    if (a->flags & CLEAVE_LOW_UNBOUNDED || is_text(&a->low))
        return true;
    bool open = a->flags & CLEAVE_LOW_OPEN;
    if (a->low.kind == CLEAVE_NUMBER) {
        struct cleave_value floor = {.kind = CLEAVE_INTEGER};
        int past = cleave__oracle_floor(&a->low, &floor.integer);
        if (past > 0)
            return false;
        if (past < 0) {
            a->flags = (uint8_t)((a->flags & ~CLEAVE_LOW_OPEN) | CLEAVE_LOW_UNBOUNDED);
            return true;
        }
        open = open || cleave__value_compare(&floor, &a->low) != 0;
        a->low = floor;
    }
    if (open && a->low.integer == INT64_MAX)
        return false;
    a->low.integer += open;
    a->flags = (uint8_t)(a->flags & ~CLEAVE_LOW_OPEN);
    return true;
}

static bool close_high(struct cleave_range *a)
{
    if (a->flags & CLEAVE_HIGH_UNBOUNDED || is_text(&a->high))
        return true;
    bool open = a->flags & CLEAVE_HIGH_OPEN;
    if (a->high.kind == CLEAVE_NUMBER) {
        struct cleave_value floor = {.kind = CLEAVE_INTEGER};
        int past = cleave__oracle_floor(&a->high, &floor.integer);
        if (past < 0)
            return false;
        if (past > 0) {
            a->flags = (uint8_t)((a->flags & ~CLEAVE_HIGH_OPEN) | CLEAVE_HIGH_UNBOUNDED);
            return true;
        }
        open = open && cleave__value_compare(&floor, &a->high) == 0;
        a->high = floor;
    }
    if (open && a->high.integer == INT64_MIN)
        return false;
    a->high.integer -= open;
    a->flags = (uint8_t)(a->flags & ~CLEAVE_HIGH_OPEN);
    return true;
}

/* narrows `a` by `b`; false when nothing is left. Numbers and text do not mix: such a bound says
 * nothing. */
bool cleave__oracle_narrow(struct cleave_range *a, const struct cleave_range *b, bool integer)
{
    if (!(b->flags & CLEAVE_LOW_UNBOUNDED)) {
        int order = a->flags & CLEAVE_LOW_UNBOUNDED ? 1
                    : is_text(&a->low) != is_text(&b->low)
                        ? 0
                        : cleave__value_compare(&b->low, &a->low);
        bool tighter =
            order == 0 && (b->flags & CLEAVE_LOW_OPEN) && !is_text(&a->low) == !is_text(&b->low);
        if (order > 0 || tighter) {
            a->low = b->low;
            a->flags = (uint8_t)((a->flags & ~(CLEAVE_LOW_UNBOUNDED | CLEAVE_LOW_OPEN)) |
                                 (b->flags & CLEAVE_LOW_OPEN));
        }
    }
    if (!(b->flags & CLEAVE_HIGH_UNBOUNDED)) {
        int order = a->flags & CLEAVE_HIGH_UNBOUNDED ? -1
                    : is_text(&a->high) != is_text(&b->high)
                        ? 0
                        : cleave__value_compare(&b->high, &a->high);
        bool tighter =
            order == 0 && (b->flags & CLEAVE_HIGH_OPEN) && !is_text(&a->high) == !is_text(&b->high);
        if (order < 0 || tighter) {
            a->high = b->high;
            a->flags = (uint8_t)((a->flags & ~(CLEAVE_HIGH_UNBOUNDED | CLEAVE_HIGH_OPEN)) |
                                 (b->flags & CLEAVE_HIGH_OPEN));
        }
    }
    if (integer && !(close_low(a) && close_high(a)))
        return false;
    if (a->flags & (CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_UNBOUNDED) ||
        is_text(&a->low) != is_text(&a->high))
        return true;
    int order = cleave__value_compare(&a->low, &a->high);
    return order < 0 || (order == 0 && !(a->flags & (CLEAVE_LOW_OPEN | CLEAVE_HIGH_OPEN)));
}

static int value_order(const void *a, const void *b)
{
    return cleave__value_compare(a, b);
}

/* Adds (low, high) unless it is empty; NULL for an end that is open to infinity. */
static void add_between(const struct cleave_value *low, const struct cleave_value *high,
                        bool integer, struct oracle_cell *cells, uint32_t *count)
{
    struct cleave_range all = {.flags = CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_UNBOUNDED};
    struct cleave_range cut = all;
    if (low) {
        cut.low = *low;
        cut.flags = (uint8_t)((cut.flags & ~CLEAVE_LOW_UNBOUNDED) | CLEAVE_LOW_OPEN);
    }
    if (high) {
        cut.high = *high;
        cut.flags = (uint8_t)((cut.flags & ~CLEAVE_HIGH_UNBOUNDED) | CLEAVE_HIGH_OPEN);
    }
    if (cleave__oracle_narrow(&all, &cut, integer))
        cells[(*count)++] = (struct oracle_cell){.between = true, .range = all};
}

enum cleave_status cleave__oracle_cells(struct cleave_value *values, uint32_t count, bool integer,
                                        bool nullable, struct cleave_arena *arena,
                                        struct oracle_cell **out, uint32_t *out_count)
{
    struct oracle_cell *cells = cleave__arena_array(arena, (size_t)count * 2 + 2, sizeof *cells);
    uint32_t n = 0, distinct = 0;
    if (!cells)
        return CLEAVE_NO_MEMORY;
    if (count)
        qsort(values, count, sizeof *values, value_order);
    for (uint32_t i = 0; i < count; i++) {
        if (values[i].kind != CLEAVE_NULL &&
            (distinct == 0 || cleave__value_compare(&values[distinct - 1], &values[i]) != 0))
            values[distinct++] = values[i];
    }
    if (nullable)
        cells[n++] = (struct oracle_cell){.is_null = true};
    for (uint32_t i = 0; i <= distinct; i++) {
        add_between(i ? &values[i - 1] : NULL, i < distinct ? &values[i] : NULL, integer, cells,
                    &n);
        if (i < distinct)
            cells[n++] = (struct oracle_cell){.range = {.low = values[i], .high = values[i]}};
    }
    *out = cells;
    *out_count = n;
    return CLEAVE_OK;
}

bool cleave__oracle_cell_point(const struct oracle_cell *cell)
{
    return !cell->is_null && cell->range.flags == 0 &&
           cleave__value_compare(&cell->range.low, &cell->range.high) == 0;
}

/* Number of integers in a cell, 0 when it is not a closed interval of integers or too many. */
uint64_t cleave__oracle_cell_integers(const struct oracle_cell *cell, uint64_t most)
{
    if (cell->is_null || cell->range.flags != 0 || cell->range.low.kind != CLEAVE_INTEGER ||
        cell->range.high.kind != CLEAVE_INTEGER)
        return 0;
    uint64_t span = (uint64_t)cell->range.high.integer - (uint64_t)cell->range.low.integer;
    return span < most ? span + 1 : 0;
}

static bool range_is_null(const struct cleave_range *range)
{
    return !(range->flags & (CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_UNBOUNDED)) &&
           range->low.kind == CLEAVE_NULL;
}

/* -1: the cell misses the range, 0: it meets it partly, 1: it lies wholly inside. */
int cleave__oracle_cell_in(const struct oracle_cell *cell, const struct cleave_range *range)
{
    if (cell->is_null || range_is_null(range))
        return cell->is_null && range_is_null(range) ? 1 : -1;
    const struct cleave_range *c = &cell->range;
    if (!(c->flags & CLEAVE_HIGH_UNBOUNDED) && !(range->flags & CLEAVE_LOW_UNBOUNDED)) {
        int order = cleave__value_compare(&c->high, &range->low);
        if (order < 0 ||
            (order == 0 && ((c->flags & CLEAVE_HIGH_OPEN) || (range->flags & CLEAVE_LOW_OPEN))))
            return -1;
    }
    if (!(c->flags & CLEAVE_LOW_UNBOUNDED) && !(range->flags & CLEAVE_HIGH_UNBOUNDED)) {
        int order = cleave__value_compare(&c->low, &range->high);
        if (order > 0 ||
            (order == 0 && ((c->flags & CLEAVE_LOW_OPEN) || (range->flags & CLEAVE_HIGH_OPEN))))
            return -1;
    }
    if (!(range->flags & CLEAVE_LOW_UNBOUNDED)) {
        if (c->flags & CLEAVE_LOW_UNBOUNDED)
            return 0;
        int order = cleave__value_compare(&c->low, &range->low);
        if (order < 0 ||
            (order == 0 && (range->flags & CLEAVE_LOW_OPEN) && !(c->flags & CLEAVE_LOW_OPEN)))
            return 0;
    }
    if (!(range->flags & CLEAVE_HIGH_UNBOUNDED)) {
        if (c->flags & CLEAVE_HIGH_UNBOUNDED)
            return 0;
        int order = cleave__value_compare(&c->high, &range->high);
        if (order > 0 ||
            (order == 0 && (range->flags & CLEAVE_HIGH_OPEN) && !(c->flags & CLEAVE_HIGH_OPEN)))
            return 0;
    }
    return 1;
}

bool cleave__oracle_cell_adjacent(const struct oracle_cell *a, const struct oracle_cell *b)
{
    if (a->is_null || b->is_null || a->range.flags & CLEAVE_HIGH_UNBOUNDED ||
        b->range.flags & CLEAVE_LOW_UNBOUNDED)
        return false;
    bool a_open = a->range.flags & CLEAVE_HIGH_OPEN, b_open = b->range.flags & CLEAVE_LOW_OPEN;
    if (a->range.high.kind == CLEAVE_INTEGER && b->range.low.kind == CLEAVE_INTEGER && !a_open &&
        !b_open)
        return a->range.high.integer != INT64_MAX &&
               a->range.high.integer + 1 == b->range.low.integer;
    return a_open != b_open && cleave__value_compare(&a->range.high, &b->range.low) == 0;
}

bool cleave__oracle_cell_same(const struct oracle_cell *a, const struct oracle_cell *b)
{
    if (a->is_null || b->is_null)
        return a->is_null && b->is_null;
    return a->range.flags == b->range.flags &&
           (a->range.flags & CLEAVE_LOW_UNBOUNDED ||
            cleave__value_compare(&a->range.low, &b->range.low) == 0) &&
           (a->range.flags & CLEAVE_HIGH_UNBOUNDED ||
            cleave__value_compare(&a->range.high, &b->range.high) == 0);
}
