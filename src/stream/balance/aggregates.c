/* An evaluator's load by column, by row and overall; see the header.
 *
 * Scaling rounds prefix sums and takes their differences, so that columns and rows lose the same
 * and their sums stay equal to the unit. */
#include "stream/balance/aggregates.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The columns, or the rows, of a partition. */
struct lines {
    uint64_t *cost;
    uint32_t *first, *last;
    uint32_t low, high; /* of the partition */
};

static struct lines columns_of(const struct cleave__aggregates *a, struct cleave__cells cells)
{
    return (struct lines){a->column_cost, a->column_first, a->column_last, cells.x0, cells.x1};
}
static struct lines rows_of(const struct cleave__aggregates *a, struct cleave__cells cells)
{
    return (struct lines){a->row_cost, a->row_first, a->row_last, cells.y0, cells.y1};
}

enum cleave_status cleave__aggregates_new(uint32_t columns, uint32_t rows,
                                          struct cleave__aggregates **out,
                                          struct cleave_error *error)
{
    size_t lines = (size_t)columns + rows;
    struct cleave__aggregates *a = calloc(1, sizeof *a);
    uint64_t *costs = calloc(lines, sizeof *costs);
    uint32_t *counts = calloc(lines * 2, sizeof *counts);
    if (!a || !costs || !counts) {
        free(a);
        free(costs);
        free(counts);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for sums of %u x %u cells",
                                columns, rows);
    }
    a->columns = columns;
    a->rows = rows;
    a->column_cost = costs;
    a->row_cost = costs + columns;
    a->column_first = counts;
    a->column_last = counts + columns;
    a->row_first = counts + (size_t)columns * 2;
    a->row_last = a->row_first + rows;
    *out = a;
    return CLEAVE_OK;
}

void cleave__aggregates_free(struct cleave__aggregates *aggregates)
{
    if (!aggregates)
        return;
    free(aggregates->column_cost);
    free(aggregates->column_first);
    free(aggregates);
}

void cleave__aggregates_clear(struct cleave__aggregates *a)
{
    size_t lines = (size_t)a->columns + a->rows;
    memset(a->column_cost, 0, lines * sizeof *a->column_cost);
    memset(a->column_first, 0, lines * 2 * sizeof *a->column_first);
    a->cost = a->queries = 0;
}

void cleave__aggregates_add_query(struct cleave__aggregates *a, struct cleave__cells range)
{
    a->queries++;
    a->column_first[range.x0]++;
    a->column_last[range.x1]++;
    a->row_first[range.y0]++;
    a->row_last[range.y1]++;
}

void cleave__aggregates_remove_query(struct cleave__aggregates *a, struct cleave__cells range)
{
    assert(a->queries && a->column_first[range.x0] && a->column_last[range.x1]);
    assert(a->row_first[range.y0] && a->row_last[range.y1]);
    a->queries--;
    a->column_first[range.x0]--;
    a->column_last[range.x1]--;
    a->row_first[range.y0]--;
    a->row_last[range.y1]--;
}

/* Multiplies by share / of, of 1 or less: what is below the sum's whole units is cut off. */
static void scale(struct lines lines, uint64_t share, uint64_t of)
{
    uint64_t sum = 0, scaled = 0;
    for (uint32_t i = lines.low; i <= lines.high; i++) {
        sum += lines.cost[i];
        uint64_t next = (uint64_t)((unsigned __int128)sum * share / of);
        lines.cost[i] = next - scaled;
        scaled = next;
    }
}

void cleave__aggregates_decay(struct cleave__aggregates *a, struct cleave__cells partition)
{
    if (cleave__cells_empty(partition))
        return;
    scale(columns_of(a, partition), 1, 2);
    scale(rows_of(a, partition), 1, 2);
    a->cost /= 2;
}

static uint64_t sum_of(struct lines lines, uint32_t low, uint32_t high)
{
    uint64_t sum = 0;
    for (uint32_t i = low; i <= high; i++)
        sum += lines.cost[i];
    return sum;
}

uint64_t cleave__aggregates_give(struct cleave__aggregates *a, struct cleave__cells partition,
                                 struct cleave__cells part)
{
    assert(cleave__cells_within(part, partition));
    bool by_rows = part.x0 == partition.x0 && part.x1 == partition.x1;
    struct lines along = by_rows ? rows_of(a, partition) : columns_of(a, partition);
    struct lines across = by_rows ? columns_of(a, partition) : rows_of(a, partition);
    uint32_t low = by_rows ? part.y0 : part.x0, high = by_rows ? part.y1 : part.x1;
    uint64_t given = sum_of(along, low, high);
    if (given == 0)
        return 0;
    memset(along.cost + low, 0, (high - low + 1) * sizeof *along.cost);
    scale(across, a->cost - given, a->cost);
    a->cost -= given;
    return given;
}

static void spread(struct lines lines, uint64_t cost)
{
    uint64_t count = lines.high - lines.low + 1, before = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t next = (uint64_t)((unsigned __int128)cost * (i + 1) / count);
        lines.cost[lines.low + i] += next - before;
        before = next;
    }
}

void cleave__aggregates_take(struct cleave__aggregates *a, struct cleave__cells part, uint64_t cost)
{
    spread(columns_of(a, part), cost);
    spread(rows_of(a, part), cost);
    a->cost += cost;
}

struct cleave__balance_part cleave__aggregates_part(const struct cleave__aggregates *a,
                                                    struct cleave__cells partition,
                                                    struct cleave__cells part)
{
    assert(cleave__cells_within(part, partition));
    bool by_rows = part.x0 == partition.x0 && part.x1 == partition.x1;
    struct lines lines = by_rows ? rows_of(a, partition) : columns_of(a, partition);
    uint32_t low = by_rows ? part.y0 : part.x0, high = by_rows ? part.y1 : part.x1;
    struct cleave__balance_part out = {part, sum_of(lines, low, high), a->queries};
    for (uint32_t i = high + 1; i <= lines.high; i++) /* begin past it */
        out.queries -= lines.first[i];
    for (uint32_t i = lines.low; i < low; i++) /* end before it */
        out.queries -= lines.last[i];
    return out;
}

/* The best line between two lines i and i + 1 so far; upper parts go from i + 1. */
struct best {
    bool found, by_rows, upper;
    uint32_t after;
    uint64_t difference, cost, queries;
};

static void search(const struct cleave__aggregates *a, struct lines lines, bool by_rows,
                   struct best *best)
{
    uint64_t below = 0, begin_above = 0, ended = 0;
    for (uint32_t i = lines.low; i <= lines.high; i++)
        begin_above += lines.first[i];
    for (uint32_t i = lines.low; i < lines.high; i++) {
        below += lines.cost[i];
        begin_above -= lines.first[i];
        ended += lines.last[i];
        uint64_t above = a->cost - below;
        uint64_t difference = below > above ? below - above : above - below;
        uint64_t lower_queries = a->queries - begin_above, upper_queries = a->queries - ended;
        bool upper = upper_queries <= lower_queries;
        uint64_t queries = upper ? upper_queries : lower_queries;
        if (best->found && (difference > best->difference ||
                            (difference == best->difference && queries >= best->queries)))
            continue;
        *best = (struct best){true, by_rows, upper, i, difference, upper ? above : below, queries};
    }
}

bool cleave__aggregates_split(const struct cleave__aggregates *a, struct cleave__cells partition,
                              struct cleave__balance_part *moved)
{
    struct best best = {0};
    if (cleave__cells_empty(partition))
        return false;
    search(a, columns_of(a, partition), false, &best);
    search(a, rows_of(a, partition), true, &best);
    if (!best.found)
        return false;
    struct cleave__cells cells = partition;
    if (best.by_rows && best.upper)
        cells.y0 = best.after + 1;
    else if (best.by_rows)
        cells.y1 = best.after;
    else if (best.upper)
        cells.x0 = best.after + 1;
    else
        cells.x1 = best.after;
    *moved = (struct cleave__balance_part){cells, best.cost, best.queries};
    return true;
}

bool cleave__aggregates_shift(const struct cleave__aggregates *a, struct cleave__cells partition,
                              enum cleave__side side, uint64_t neighbour_cost,
                              struct cleave__balance_part *moved)
{
    bool by_rows = side == CLEAVE__BELOW || side == CLEAVE__ABOVE;
    struct lines lines = by_rows ? rows_of(a, partition) : columns_of(a, partition);
    bool from_low = side == CLEAVE__LEFT || side == CLEAVE__BELOW;
    uint32_t best_width = 0, count = lines.high - lines.low + 1;
    uint64_t best = a->cost, strip = 0;
    if (cleave__cells_empty(partition))
        return false;
    for (uint32_t width = 1; width < count; width++) {
        strip += lines.cost[from_low ? lines.low + width - 1 : lines.high - width + 1];
        uint64_t rest = a->cost - strip, theirs = neighbour_cost + strip;
        uint64_t worst = rest > theirs ? rest : theirs;
        if (worst < best) {
            best = worst;
            best_width = width;
        }
    }
    if (best_width == 0)
        return false;
    *moved =
        cleave__aggregates_part(a, partition, cleave__cells_strip(partition, side, best_width));
    return true;
}

uint64_t cleave__aggregates_edge(const struct cleave__aggregates *a, struct cleave__cells partition,
                                 enum cleave__side side)
{
    bool by_rows = side == CLEAVE__BELOW || side == CLEAVE__ABOVE;
    struct lines lines = by_rows ? rows_of(a, partition) : columns_of(a, partition);
    bool from_low = side == CLEAVE__LEFT || side == CLEAVE__BELOW;
    for (uint32_t width = 1; lines.low + width <= lines.high; width++) {
        uint64_t cost = lines.cost[from_low ? lines.low + width - 1 : lines.high - width + 1];
        if (cost)
            return cost;
    }
    return UINT64_MAX;
}

/* Costs sum up to `cost` within, and are 0 outside; queries to `queries` anywhere. */
static bool lines_check(struct lines lines, uint32_t count, uint64_t cost, uint64_t queries)
{
    uint64_t first = 0, last = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (lines.cost[i] && (i < lines.low || i > lines.high))
            return false;
        first += lines.first[i];
        last += lines.last[i];
        if (last > first)
            return false;
        cost -= lines.cost[i];
    }
    return cost == 0 && first == queries && last == queries;
}

bool cleave__aggregates_check(const struct cleave__aggregates *a, struct cleave__cells partition)
{
    return lines_check(columns_of(a, partition), a->columns, a->cost, a->queries) &&
           lines_check(rows_of(a, partition), a->rows, a->cost, a->queries);
}
