/* The A-Grid: whose cell is this, and which evaluators does a range of cells meet?
 *
 * Each cell of a fine grid holds its evaluator's number, and a map holds each evaluator's
 * rectangle, its *partition*. A point is one look-up. A range is answered by neighbour-based
 * search: from a partition one steps over its border to the next, never to a cell between. The
 * *dominant* cell of a partition in a range is the lower left one of what they share. Every
 * partition but the first has one parent in the range: the partition to the left of its dominant
 * cell or, on the range's left border, the one below. So the walk meets each partition once, keeps
 * no marks, and its answer is its own queue: O(answer), however many evaluators and cells there
 * are. Partitions are stitched to the next at two corners, so that cells are looked at along the
 * range's lower and left borders only; the map is 12 bytes a partition and stays in a near cache.
 *
 * Invariants (cleave__agrid_check): partitions are rectangles that tile the grid; a cell's number
 * is that of the partition that has it; stitches are what the cells say. An idle evaluator has no
 * cells.
 *
 * Ideas: Tornado's neighbour-based routing (Mahmood et al.), without its visited array; its
 * published code does not always step on to the dominant cell, and misses partitions
 * (docs/stream-routing.md). Corner stitching (Ousterhout), half of it.
 *
 * Thread rule: any number of readers, or one writer. */
#ifndef CLEAVE_STREAM_ROUTE_AGRID_H
#define CLEAVE_STREAM_ROUTE_AGRID_H

#include <stddef.h>

#include "model/tiling.h"
#include "stream/query/space.h"

enum { CLEAVE__EVALUATORS_MOST = 4096 };

struct cleave__agrid_part {
    uint16_t x0, y0, x1, y1; /* both ends included; idle: x0 > x1 */
    uint16_t up, right;      /* who has (x0, y1 + 1), and (x1 + 1, y0); nobody: UINT16_MAX */
};

struct cleave__agrid {
    struct cleave__grid grid;
    uint32_t evaluators;
    uint16_t *cell;                  /* [rows * columns]: evaluators */
    struct cleave__agrid_part *part; /* [evaluators] */
};

/* `partitions` [evaluators] tile the grid; idle ones are CLEAVE__NO_CELLS. CLEAVE_BAD_ARGUMENT says
 * what does not. O(cells). The caller frees. */
enum cleave_status cleave__agrid_new(const struct cleave__grid *grid,
                                     const struct cleave__cells *partitions, uint32_t evaluators,
                                     struct cleave__agrid **out, struct cleave_error *error);
void cleave__agrid_free(struct cleave__agrid *agrid);

/* The evaluator of a point, wherever it lies (outside belongs to border cells). O(1). */
static inline uint32_t cleave__agrid_point(const struct cleave__agrid *agrid, double x, double y)
{
    return agrid->cell[cleave__grid_cell(&agrid->grid, x, y)];
}
/* The evaluators that a range of cells meets, each once, into `out` [evaluators]; their count. What
 * of the range is past the grid is cut off. O(count). */
uint32_t cleave__agrid_range(const struct cleave__agrid *agrid, struct cleave__cells range,
                             uint32_t *out);

/* The ranges of cells of a prepared region's boxes; their count, from 1 to
 * CLEAVE__REGION_BOXES_MOST. They may share cells. */
uint32_t cleave__region_ranges(const struct cleave__space *space, const struct cleave__grid *grid,
                               const struct cleave__region *region,
                               struct cleave__cells ranges[CLEAVE__REGION_BOXES_MOST]);
/* The least range that has all of these, 1 or more. */
struct cleave__cells cleave__ranges_hull(const struct cleave__cells *ranges, uint32_t count);
/* As cleave__agrid_range, of several ranges: each evaluator once. */
uint32_t cleave__agrid_ranges(const struct cleave__agrid *agrid, const struct cleave__cells *ranges,
                              uint32_t count, uint32_t *out);

struct cleave__cells cleave__agrid_partition(const struct cleave__agrid *agrid, uint32_t evaluator);

/* Gives cells of one evaluator to another. False, and nothing changes, unless they are the first's,
 * and both have rectangles (or the first none) afterwards. O(cells moved + evaluators). */
bool cleave__agrid_move(struct cleave__agrid *agrid, uint32_t from, uint32_t to,
                        struct cleave__cells cells);

size_t cleave__agrid_bytes(const struct cleave__agrid *agrid);
/* Every invariant. O(cells). */
bool cleave__agrid_check(const struct cleave__agrid *agrid);

#endif
