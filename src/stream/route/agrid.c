/* The A-Grid; see the header. */
#include "stream/route/agrid.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { NOBODY = UINT16_MAX };

static uint16_t at(const struct cleave__agrid *agrid, uint32_t x, uint32_t y)
{
    if (x >= agrid->grid.columns || y >= agrid->grid.rows)
        return NOBODY;
    return agrid->cell[(size_t)y * agrid->grid.columns + x];
}

/* A partition with its stitches, from cells that are right already. */
static struct cleave__agrid_part pack(const struct cleave__agrid *agrid, struct cleave__cells c)
{
    if (cleave__cells_empty(c))
        return (struct cleave__agrid_part){1, 1, 0, 0, NOBODY, NOBODY};
    return (struct cleave__agrid_part){(uint16_t)c.x0,
                                       (uint16_t)c.y0,
                                       (uint16_t)c.x1,
                                       (uint16_t)c.y1,
                                       at(agrid, c.x0, c.y1 + 1),
                                       at(agrid, c.x1 + 1, c.y0)};
}

struct cleave__cells cleave__agrid_partition(const struct cleave__agrid *agrid, uint32_t evaluator)
{
    const struct cleave__agrid_part *p = &agrid->part[evaluator];
    return (struct cleave__cells){p->x0, p->y0, p->x1, p->y1};
}

void cleave__agrid_free(struct cleave__agrid *agrid)
{
    if (!agrid)
        return;
    free(agrid->cell);
    free(agrid->part);
    free(agrid);
}

static void paint(struct cleave__agrid *agrid, struct cleave__cells cells, uint16_t evaluator)
{
    for (uint32_t y = cells.y0; y <= cells.y1; y++) {
        uint16_t *row = agrid->cell + (size_t)y * agrid->grid.columns;
        for (uint32_t x = cells.x0; x <= cells.x1; x++)
            row[x] = evaluator;
    }
}

/* Paints every partition on a grid of NOBODY, so that what is amiss shows. */
static enum cleave_status fill(struct cleave__agrid *agrid, const struct cleave__cells *partitions,
                               struct cleave_error *error)
{
    uint32_t columns = agrid->grid.columns, rows = agrid->grid.rows;
    uint64_t cells = 0;
    memset(agrid->cell, 0xff, (size_t)columns * rows * sizeof *agrid->cell);
    for (uint32_t e = 0; e < agrid->evaluators; e++) {
        struct cleave__cells p = partitions[e];
        if (cleave__cells_empty(p))
            continue;
        if (p.x1 >= columns || p.y1 >= rows)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "evaluator %u has cell (%u, %u) of a grid of %u x %u", e, p.x1,
                                    p.y1, columns, rows);
        for (uint32_t y = p.y0; y <= p.y1; y++) {
            uint16_t *row = agrid->cell + (size_t)y * columns;
            for (uint32_t x = p.x0; x <= p.x1; x++) {
                if (row[x] != NOBODY)
                    return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                            "evaluators %u and %u both have cell (%u, %u)", row[x],
                                            e, x, y);
                row[x] = (uint16_t)e;
            }
        }
        cells += cleave__cells_count(p);
    }
    if (cells == (uint64_t)columns * rows) {
        for (uint32_t e = 0; e < agrid->evaluators; e++)
            agrid->part[e] = pack(agrid, partitions[e]);
        return CLEAVE_OK;
    }
    uint32_t free_cell = 0;
    while (agrid->cell[free_cell] != NOBODY)
        free_cell++;
    return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "no evaluator has cell (%u, %u)",
                            free_cell % columns, free_cell / columns);
}

enum cleave_status cleave__agrid_new(const struct cleave__grid *grid,
                                     const struct cleave__cells *partitions, uint32_t evaluators,
                                     struct cleave__agrid **out, struct cleave_error *error)
{
    assert(grid->columns >= 1 && grid->columns <= CLEAVE__GRID_SIDE_MOST);
    assert(grid->rows >= 1 && grid->rows <= CLEAVE__GRID_SIDE_MOST);
    if (evaluators == 0 || evaluators > CLEAVE__EVALUATORS_MOST)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "evaluators are from 1 to %u, not %u",
                                CLEAVE__EVALUATORS_MOST, evaluators);
    struct cleave__agrid *agrid = calloc(1, sizeof *agrid);
    if (agrid) {
        agrid->grid = *grid;
        agrid->evaluators = evaluators;
        agrid->cell = malloc((size_t)grid->columns * grid->rows * sizeof *agrid->cell);
        agrid->part = malloc(evaluators * sizeof *agrid->part);
    }
    enum cleave_status status =
        agrid && agrid->cell && agrid->part
            ? fill(agrid, partitions, error)
            : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a grid of %u x %u",
                               grid->columns, grid->rows);
    if (status == CLEAVE_OK)
        *out = agrid;
    else
        cleave__agrid_free(agrid);
    return status;
}

uint32_t cleave__agrid_range(const struct cleave__agrid *agrid, struct cleave__cells range,
                             uint32_t *out)
{
    const struct cleave__agrid_part *part = agrid->part;
    const uint16_t *cell = agrid->cell;
    const size_t columns = agrid->grid.columns;
    if (range.x1 >= agrid->grid.columns)
        range.x1 = agrid->grid.columns - 1;
    if (range.y1 >= agrid->grid.rows)
        range.y1 = agrid->grid.rows - 1;
    if (cleave__cells_empty(range))
        return 0;
    uint32_t count = 0;
    out[count++] = cell[range.y0 * columns + range.x0];
    for (uint32_t i = 0; i < count; i++) {
        struct cleave__agrid_part p = part[out[i]];
        if (p.x1 < range.x1) { /* over the right border, upwards along it */
            uint32_t y = p.y0, end = p.y1 < range.y1 ? p.y1 : range.y1, next = p.right;
            if (y <= range.y0) {
                y = range.y0;
                next = cell[y * columns + p.x1 + 1];
            } else if (part[next].y0 < y) { /* one that began lower down is another's child */
                y = part[next].y1 + 1u;
                next = part[next].up;
            }
            while (y <= end) {
                out[count++] = next;
                y = part[next].y1 + 1u;
                next = part[next].up;
            }
        }
        if (p.x0 <= range.x0 && p.y1 < range.y1) /* up, along the range's left border */
            out[count++] = cell[(p.y1 + 1u) * columns + range.x0];
    }
    return count;
}

uint32_t cleave__region_ranges(const struct cleave__space *space, const struct cleave__grid *grid,
                               const struct cleave__region *region,
                               struct cleave__cells ranges[CLEAVE__REGION_BOXES_MOST])
{
    struct cleave__box boxes[CLEAVE__REGION_BOXES_MOST];
    uint32_t count = cleave__region_boxes(space, region, boxes);
    for (uint32_t i = 0; i < count; i++)
        ranges[i] = cleave__grid_cells(grid, boxes[i].x0, boxes[i].y0, boxes[i].x1, boxes[i].y1);
    return count;
}

struct cleave__cells cleave__ranges_hull(const struct cleave__cells *ranges, uint32_t count)
{
    struct cleave__cells hull = ranges[0];
    for (uint32_t i = 1; i < count; i++) {
        hull.x0 = ranges[i].x0 < hull.x0 ? ranges[i].x0 : hull.x0;
        hull.y0 = ranges[i].y0 < hull.y0 ? ranges[i].y0 : hull.y0;
        hull.x1 = ranges[i].x1 > hull.x1 ? ranges[i].x1 : hull.x1;
        hull.y1 = ranges[i].y1 > hull.y1 ? ranges[i].y1 : hull.y1;
    }
    return hull;
}

uint32_t cleave__agrid_ranges(const struct cleave__agrid *agrid, const struct cleave__cells *ranges,
                              uint32_t count, uint32_t *out)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kept = total;
        uint32_t met[CLEAVE__EVALUATORS_MOST];
        uint32_t more = cleave__agrid_range(agrid, ranges[i], i ? met : out);
        if (i == 0) {
            total = more;
            continue;
        }
        for (uint32_t m = 0; m < more; m++) {
            struct cleave__cells p = cleave__agrid_partition(agrid, met[m]);
            bool again = false;
            for (uint32_t j = 0; j < i && !again; j++)
                again = cleave__cells_meet(p, ranges[j]);
            if (!again)
                out[kept++] = met[m];
        }
        total = kept;
    }
    return total;
}

bool cleave__agrid_move(struct cleave__agrid *agrid, uint32_t from, uint32_t to,
                        struct cleave__cells cells)
{
    struct cleave__cells rest, whole;
    if (from == to || from >= agrid->evaluators || to >= agrid->evaluators ||
        !cleave__cells_cut(cleave__agrid_partition(agrid, from), cells, &rest) ||
        !cleave__cells_join(cleave__agrid_partition(agrid, to), cells, &whole))
        return false;
    paint(agrid, cells, (uint16_t)to);
    for (uint32_t e = 0; e < agrid->evaluators; e++) { /* stitched to where they came from */
        struct cleave__agrid_part *p = &agrid->part[e];
        if (p->up == from)
            p->up = at(agrid, p->x0, p->y1 + 1u);
        if (p->right == from)
            p->right = at(agrid, p->x1 + 1u, p->y0);
    }
    agrid->part[from] = pack(agrid, rest);
    agrid->part[to] = pack(agrid, whole);
    return true;
}

size_t cleave__agrid_bytes(const struct cleave__agrid *agrid)
{
    return sizeof *agrid + (size_t)agrid->grid.columns * agrid->grid.rows * sizeof *agrid->cell +
           agrid->evaluators * sizeof *agrid->part;
}

bool cleave__agrid_check(const struct cleave__agrid *agrid)
{
    uint64_t cells = 0, all = (uint64_t)agrid->grid.columns * agrid->grid.rows;
    for (uint32_t e = 0; e < agrid->evaluators; e++) {
        struct cleave__cells p = cleave__agrid_partition(agrid, e);
        struct cleave__agrid_part packed = pack(agrid, p);
        if (memcmp(&packed, &agrid->part[e], sizeof packed))
            return false;
        if (cleave__cells_empty(p))
            continue;
        if (p.x1 >= agrid->grid.columns || p.y1 >= agrid->grid.rows)
            return false;
        cells += cleave__cells_count(p);
        for (uint32_t y = p.y0; y <= p.y1; y++) {
            for (uint32_t x = p.x0; x <= p.x1; x++) {
                if (agrid->cell[(size_t)y * agrid->grid.columns + x] != e)
                    return false;
            }
        }
    }
    return cells == all;
}
