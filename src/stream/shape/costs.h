/* What the cells of a grid cost, from a sample of objects and queries: the product of how many
 * objects fall into a cell and how many queries cover it, both counted from 1. The cost of a
 * rectangle of cells is the sum of theirs.
 *
 * First counts come in, a query in O(1) by the corners of its range; then they are summed up once,
 * so that the cost of any rectangle is O(1). At most 2^31 objects and queries are counted, so that
 * sums fit. Thread rule: one thread until summed, then any number of readers.
 *
 * Idea: Tornado's Equation 2, as its published code counts. */
#ifndef CLEAVE_STREAM_SHAPE_COSTS_H
#define CLEAVE_STREAM_SHAPE_COSTS_H

#include "cleave/status.h"
#include "model/tiling.h"

struct cleave__costs;

/* 16 bytes a cell. The caller frees. */
enum cleave_status cleave__costs_new(uint32_t columns, uint32_t rows, struct cleave__costs **out,
                                     struct cleave_error *error);
void cleave__costs_free(struct cleave__costs *costs);
void cleave__costs_object(struct cleave__costs *costs, uint32_t column, uint32_t row);
void cleave__costs_query(struct cleave__costs *costs, struct cleave__cells range);
/* Once, after which nothing is counted and the next may be asked. O(cells). */
void cleave__costs_sum(struct cleave__costs *costs);
/* Of cells within the grid; 0 of none. O(1). */
uint64_t cleave__costs_of(const struct cleave__costs *costs, struct cleave__cells cells);
uint32_t cleave__costs_columns(const struct cleave__costs *costs);
uint32_t cleave__costs_rows(const struct cleave__costs *costs);

#endif
