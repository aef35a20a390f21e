/* Centralized balancing, to compare with: evaluators send a figure for every cell, and the balancer
 * sums up and decides. The decision is the same as from reports (without halving in between, which
 * rounds cells by themselves); what is sent is not, and its bytes are what there is to count.
 *
 * Sent are the cells of the partition that have anything: cost, and how many queries' ranges, cut
 * to the partition, have their lower left and their upper right there. */
#ifndef CLEAVE_STREAM_BALANCE_CENTRAL_H
#define CLEAVE_STREAM_BALANCE_CENTRAL_H

#include "base/bytes.h"
#include "stream/balance/aggregates.h"

struct cleave__cell_load {
    uint64_t cost;
    uint32_t first, last;
};

/* Of one evaluator. */
struct cleave__cell_loads {
    uint32_t columns, rows;
    uint64_t queries;
    struct cleave__cell_load cell[]; /* [rows * columns] */
};

/* 16 bytes a cell; `free` frees. */
enum cleave_status cleave__cell_loads_new(uint32_t columns, uint32_t rows,
                                          struct cleave__cell_loads **out,
                                          struct cleave_error *error);
void cleave__cell_loads_object(struct cleave__cell_loads *loads, uint32_t column, uint32_t row,
                               uint64_t cost);
/* As for cleave__aggregates_add_query. */
void cleave__cell_loads_add_query(struct cleave__cell_loads *loads, struct cleave__cells range);
void cleave__cell_loads_remove_query(struct cleave__cell_loads *loads, struct cleave__cells range);
/* `part` has come with this cost, spread evenly. */
void cleave__cell_loads_take(struct cleave__cell_loads *loads, struct cleave__cells part,
                             uint64_t cost);
/* Forgets all queries, to count them anew, and the costs outside a partition. O(cells). */
void cleave__cell_loads_keep(struct cleave__cell_loads *loads, struct cleave__cells partition);
void cleave__cell_loads_decay(struct cleave__cell_loads *loads);

/* The message for the balancer, of a partition that is not empty. CLEAVE_NO_MEMORY: nothing useful
 * was written. O(cells of the grid). */
enum cleave_status cleave__cell_loads_write(const struct cleave__cell_loads *loads,
                                            struct cleave__cells partition,
                                            struct cleave_writer *writer,
                                            struct cleave_error *error);
/* Back, as the sums that reports are made from, into `aggregates` of the same grid (cleared first;
 * left in any state if it fails). */
bool cleave__cell_loads_read(struct cleave_reader *reader, struct cleave__aggregates *aggregates,
                             struct cleave__cells *partition);

#endif
