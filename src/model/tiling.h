/* Rectangles of cells that grow, shrink and tile a grid: what partitions of a plane are made of. */
#ifndef CLEAVE_MODEL_TILING_H
#define CLEAVE_MODEL_TILING_H

#include "model/grid.h"

/* Sides and the axis that a line across them has. */
enum cleave__side { CLEAVE__LEFT, CLEAVE__RIGHT, CLEAVE__BELOW, CLEAVE__ABOVE, CLEAVE__SIDES };

static inline bool cleave__cells_equal(struct cleave__cells a, struct cleave__cells b)
{
    return a.x0 == b.x0 && a.y0 == b.y0 && a.x1 == b.x1 && a.y1 == b.y1;
}
/* Whether `inner`, not empty, lies in `outer`. */
static inline bool cleave__cells_within(struct cleave__cells inner, struct cleave__cells outer)
{
    return !cleave__cells_empty(inner) && inner.x0 >= outer.x0 && inner.x1 <= outer.x1 &&
           inner.y0 >= outer.y0 && inner.y1 <= outer.y1;
}

/* `whole` without `part`; false unless `part` is in it and what stays is a rectangle or nothing. */
bool cleave__cells_cut(struct cleave__cells whole, struct cleave__cells part,
                       struct cleave__cells *out);
/* `a` and `b`, disjoint, together; false unless that is a rectangle. Either may be empty. */
bool cleave__cells_join(struct cleave__cells a, struct cleave__cells b, struct cleave__cells *out);
/* The side of `a` where the whole of `b` touches the whole of it; false: there is none such. */
bool cleave__cells_border(struct cleave__cells a, struct cleave__cells b, enum cleave__side *side);
/* The first `lines` rows or columns of `cells` from a side inwards; 0 < lines <= their number. */
struct cleave__cells cleave__cells_strip(struct cleave__cells cells, enum cleave__side side,
                                         uint32_t lines);
/* The strip that `a` can give to `b` in a corner shift: `b` touches a part of one side of `a` that
 * ends in a corner of both, so that the rows (columns) of `a` beside it make `b` longer, and `a`
 * loses them all. False: `b` is no such neighbour. */
bool cleave__cells_corner(struct cleave__cells a, struct cleave__cells b,
                          struct cleave__cells *strip);
/* Whether `parts` cover each cell of the grid once; empty ones are none. O(count^2). */
bool cleave__cells_tile(uint32_t columns, uint32_t rows, const struct cleave__cells *parts,
                        uint32_t count);

#endif
