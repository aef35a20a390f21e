/* What an evaluator knows of its load without keeping a figure for each cell: sums of its objects'
 * costs by column, by row and overall, and of its queries.
 *
 * An object's cost is what matching it took (its keywords and the candidates looked at). Adding one
 * is O(1). Costs are halved now and then, so that what is past fades.
 *
 * A query counts by where its range of cells begins and ends, in columns and in rows, also past the
 * partition: so it is O(1) too, the queries on either side of any line are known exactly, those
 * across it on both, and nothing changes when the partition does. The evaluator adds a query when
 * it first holds it and removes it when it no longer does; each query that is held meets the
 * partition.
 *
 * When cells are given away, cost goes with them: along the cut exactly, across it in proportion,
 * as if rows and columns were independent. What is taken is spread evenly over the cells taken.
 * Both err within the partition only, never in its sum, and halving forgets the error.
 *
 * Invariants (cleave__aggregates_check): columns' and rows' costs each sum up to the overall one,
 * to the unit, and are 0 outside the partition.
 *
 * Idea: Tornado's row, column and overall aggregates; its split search in O(columns + rows).
 * Thread rule: one thread at a time. */
#ifndef CLEAVE_STREAM_BALANCE_AGGREGATES_H
#define CLEAVE_STREAM_BALANCE_AGGREGATES_H

#include "cleave/status.h"
#include "model/tiling.h"

struct cleave__aggregates {
    uint32_t columns, rows; /* of the grid */
    uint64_t cost, queries; /* overall */
    uint64_t *column_cost, *row_cost;
    /* How many queries begin (end) in this column (row). */
    uint32_t *column_first, *column_last, *row_first, *row_last;
};

/* A part of a partition that could go elsewhere. */
struct cleave__balance_part {
    struct cleave__cells cells;
    uint64_t cost;
    uint64_t queries; /* that meet it: those to transfer */
};

enum cleave_status cleave__aggregates_new(uint32_t columns, uint32_t rows,
                                          struct cleave__aggregates **out,
                                          struct cleave_error *error);
void cleave__aggregates_free(struct cleave__aggregates *aggregates);
/* As if new. */
void cleave__aggregates_clear(struct cleave__aggregates *aggregates);

static inline void cleave__aggregates_object(struct cleave__aggregates *aggregates, uint32_t column,
                                             uint32_t row, uint64_t cost)
{
    aggregates->cost += cost;
    aggregates->column_cost[column] += cost;
    aggregates->row_cost[row] += cost;
}
/* A query whose range (of all of its boxes; not cut to the partition) comes or goes. */
void cleave__aggregates_add_query(struct cleave__aggregates *aggregates,
                                  struct cleave__cells range);
void cleave__aggregates_remove_query(struct cleave__aggregates *aggregates,
                                     struct cleave__cells range);

/* Halves every cost, rounded down overall. O(columns + rows of the partition). */
void cleave__aggregates_decay(struct cleave__aggregates *aggregates,
                              struct cleave__cells partition);

/* `part` leaves `partition` (see cleave__cells_cut) with its cost, which is returned. Queries that
 * leave with it are removed by the caller. */
uint64_t cleave__aggregates_give(struct cleave__aggregates *aggregates,
                                 struct cleave__cells partition, struct cleave__cells part);
/* `part` has come with this cost. */
void cleave__aggregates_take(struct cleave__aggregates *aggregates, struct cleave__cells part,
                             uint64_t cost);

/* The cost and queries of a part that reaches across the whole partition in one direction and, in
 * the other, begins or ends with it. O(its lines). */
struct cleave__balance_part cleave__aggregates_part(const struct cleave__aggregates *aggregates,
                                                    struct cleave__cells partition,
                                                    struct cleave__cells part);
/* The line that splits the partition with the least difference of cost; of equals the one that
 * moves fewer queries, columns before rows. `moved`: the side with fewer queries, or else the upper
 * one. False: one cell. O(columns + rows of the partition). */
bool cleave__aggregates_split(const struct cleave__aggregates *aggregates,
                              struct cleave__cells partition, struct cleave__balance_part *moved);
/* The strip at a side that, given to a neighbour with this cost, makes the greater of both costs
 * least; the narrowest such. False: none makes it less than this partition's. */
bool cleave__aggregates_shift(const struct cleave__aggregates *aggregates,
                              struct cleave__cells partition, enum cleave__side side,
                              uint64_t neighbour_cost, struct cleave__balance_part *moved);

/* The cost of the narrowest strip at a side that costs anything and is not all; UINT64_MAX: none.
 */
uint64_t cleave__aggregates_edge(const struct cleave__aggregates *aggregates,
                                 struct cleave__cells partition, enum cleave__side side);

bool cleave__aggregates_check(const struct cleave__aggregates *aggregates,
                              struct cleave__cells partition);

#endif
