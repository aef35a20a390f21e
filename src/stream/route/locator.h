/* Ways to find the evaluators of a point and of a range of cells, beside the A-Grid, to compare: a
 * table of operations, one way a file.
 *
 *   agrid   neighbour-based search over the partitions' borders
 *   scan    every cell of the range is looked at (a plain grid)
 *   bitset  four tables, by first and last column and row, of the evaluators whose partition begins
 *           no later or ends no earlier; the words of four entries ANDed
 *   rtree   a packed R-tree of the partitions
 *
 * All give the same evaluators, each once, in no particular order. Partitions as for
 * cleave__agrid_new. Thread rule: one thread at a time. */
#ifndef CLEAVE_STREAM_ROUTE_LOCATOR_H
#define CLEAVE_STREAM_ROUTE_LOCATOR_H

#include "stream/route/agrid.h"

struct cleave__locator_ops {
    const char *name, *summary;
    enum cleave_status (*create)(const struct cleave__grid *grid,
                                 const struct cleave__cells *partitions, uint32_t evaluators,
                                 void **self, struct cleave_error *error);
    void (*destroy)(void *self);
    uint32_t (*point)(void *self, double x, double y);
    /* Of a range within the grid, not empty; `out` [evaluators]; their count. */
    uint32_t (*range)(void *self, struct cleave__cells range, uint32_t *out);
    size_t (*bytes)(const void *self);
};

extern const struct cleave__locator_ops cleave__locator_agrid, cleave__locator_scan,
    cleave__locator_bitset, cleave__locator_rtree;

/* All of them, ended by NULL. */
extern const struct cleave__locator_ops *const cleave__locators[];

#endif
