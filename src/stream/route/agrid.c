/* The A-Grid; see the header. */
#include "stream/route/agrid.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct cleave__agrid_part idle = {1, 1, 0, 0};

static struct cleave__agrid_part pack(struct cleave__cells c)
{
    if (cleave__cells_empty(c))
        return idle;
    return (struct cleave__agrid_part){(uint16_t)c.x0, (uint16_t)c.y0, (uint16_t)c.x1,
                                       (uint16_t)c.y1};
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

/* Paints every partition on a grid of UINT16_MAX, so that what is amiss shows. */
static enum cleave_status fill(struct cleave__agrid *agrid, const struct cleave__cells *partitions,
                               struct cleave_error *error)
{
    uint32_t columns = agrid->grid.columns, rows = agrid->grid.rows;
    uint64_t cells = 0;
    memset(agrid->cell, 0xff, (size_t)columns * rows * sizeof *agrid->cell);
    for (uint32_t e = 0; e < agrid->evaluators; e++) {
        struct cleave__cells p = partitions[e];
        agrid->part[e] = pack(p);
        if (cleave__cells_empty(p))
            continue;
        if (p.x1 >= columns || p.y1 >= rows)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "evaluator %u has cell (%u, %u) of a grid of %u x %u", e, p.x1,
                                    p.y1, columns, rows);
        for (uint32_t y = p.y0; y <= p.y1; y++) {
            uint16_t *row = agrid->cell + (size_t)y * columns;
            for (uint32_t x = p.x0; x <= p.x1; x++) {
                if (row[x] != UINT16_MAX)
                    return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                            "evaluators %u and %u both have cell (%u, %u)", row[x],
                                            e, x, y);
                row[x] = (uint16_t)e;
            }
        }
        cells += cleave__cells_count(p);
    }
    if (cells == (uint64_t)columns * rows)
        return CLEAVE_OK;
    uint32_t free_cell = 0;
    while (agrid->cell[free_cell] != UINT16_MAX)
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
            const uint16_t *column = cell + p.x1 + 1;
            uint32_t y = p.y0, end = p.y1 < range.y1 ? p.y1 : range.y1;
            if (y <= range.y0) {
                y = range.y0;
            } else { /* one that began lower down is another's child */
                struct cleave__agrid_part first = part[column[y * columns]];
                if (first.y0 < y)
                    y = first.y1 + 1u;
            }
            while (y <= end) {
                uint32_t next = column[y * columns];
                out[count++] = next;
                y = part[next].y1 + 1u;
            }
        }
        if (p.x0 <= range.x0 && p.y1 < range.y1) /* up, along the range's left border */
            out[count++] = cell[(p.y1 + 1u) * columns + range.x0];
    }
    return count;
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
    agrid->part[from] = pack(rest);
    agrid->part[to] = pack(whole);
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
