/* Where things lie: one grid a level, each twice as fine as the one above it.
 *
 * A coordinate becomes a whole number below 2^28, its *place*: 0 at the lower border of the space's
 * bounds, the greatest at the upper one; what is outside is as if at the border. Places never go
 * down when the coordinate goes up, so whatever holds for places (an object's lies between those of
 * a box) is necessary for the coordinates, and where it holds strictly it is sufficient. Level L
 * has 2^L x 2^L cells; the upper L bits of a place are its cell, the 8 bits after them where it is
 * within the cell.
 *
 * A query lies on one level, by the larger side of its largest box, and there in every cell that
 * its boxes meet: at most four a box. An object looks into one cell a level. (A pyramid by range
 * size; the finer half of it is what Tornado's one grid lacks.) */
#ifndef CLEAVE_STREAM_PYRAMID_H
#define CLEAVE_STREAM_PYRAMID_H

#include "stream/query/space.h"

enum {
    CLEAVE__PLACE_BITS = 28,
    CLEAVE__LEVELS = 21,
    CLEAVE__QUERY_CELLS_MOST = 4 * CLEAVE__REGION_BOXES_MOST
};

/* Part of a query's region in one cell: the cell, and in 256ths of it the ends, both included, of
 * what its boxes cover. `exact`: a place strictly inside is in the region of a rectangle. */
struct cleave__part {
    uint32_t column, row;
    uint8_t box[4]; /* x0, y0, x1, y1 */
    bool exact;
};

struct cleave__pyramid {
    const struct cleave__space *space;
    double per_x, per_y; /* places in a unit of length */
};

struct cleave__pyramid cleave__pyramid_make(const struct cleave__space *space);

static inline uint32_t cleave__place(double x, double low, double per_unit)
{
    double at = (x - low) * per_unit;
    double most = (1 << CLEAVE__PLACE_BITS) - 1;
    at = at > 0 ? at : 0; /* also not a number, which no canonical point has */
    return (uint32_t)(at < most ? at : most);
}
static inline uint32_t cleave__place_x(const struct cleave__pyramid *pyramid, double x)
{
    return cleave__place(x, pyramid->space->bounds.x0, pyramid->per_x);
}
static inline uint32_t cleave__place_y(const struct cleave__pyramid *pyramid, double y)
{
    return cleave__place(y, pyramid->space->bounds.y0, pyramid->per_y);
}
static inline uint32_t cleave__place_cell(uint32_t place, uint32_t level)
{
    return place >> (CLEAVE__PLACE_BITS - level);
}
static inline uint8_t cleave__place_within(uint32_t place, uint32_t level)
{
    return (uint8_t)(place >> (CLEAVE__PLACE_BITS - 8 - level));
}

/* The level that suits a prepared region: its cells are at least twice as wide as the region if
 * `roomy` (a query with terms: fewer postings), else as wide (one without: shorter lists). */
uint32_t cleave__pyramid_level(const struct cleave__pyramid *pyramid,
                               const struct cleave__region *region, bool roomy);
/* Its parts on that level or a coarser one, each cell once; their count. */
uint32_t cleave__pyramid_parts(const struct cleave__pyramid *pyramid,
                               const struct cleave__region *region, uint32_t level,
                               struct cleave__part parts[CLEAVE__QUERY_CELLS_MOST]);

#endif
