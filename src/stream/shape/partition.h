/* The first partitions of a grid, before any load is known from running.
 *
 *   kd       the costliest partition is split, where the greater half is least, until there are
 *            enough or nothing can be split: Tornado's, for the load of a sample
 *   uniform  partitions of the same size, as near as cells allow, whatever the load: to compare
 * with
 *
 * Both tile the grid. Evaluators without a partition (spare ones, and those that there are no cells
 * for) are the last and have CLEAVE__NO_CELLS. */
#ifndef CLEAVE_STREAM_SHAPE_PARTITION_H
#define CLEAVE_STREAM_SHAPE_PARTITION_H

#include "stream/shape/costs.h"

/* Into `partitions` [evaluators]; `spare` < evaluators stay idle. Costs are summed. Cells of equal
 * cost are split across the longer side. O(evaluators * log). */
enum cleave_status cleave__partition_kd(const struct cleave__costs *costs, uint32_t evaluators,
                                        uint32_t spare, struct cleave__cells *partitions,
                                        struct cleave_error *error);
void cleave__partition_uniform(uint32_t columns, uint32_t rows, uint32_t evaluators, uint32_t spare,
                               struct cleave__cells *partitions);

#endif
