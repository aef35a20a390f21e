/* A grid over a rectangle: points to cells, and rectangles of cells.
 *
 * Cells are numbered row by row from the lower left. What lies outside belongs to border cells, and
 * a point further to the right (or higher) never lies in a column (row) further to the left
 * (lower): so a box has a point only if its cells have the point's cell. */
#ifndef CLEAVE_MODEL_GRID_H
#define CLEAVE_MODEL_GRID_H

#include <stdbool.h>
#include <stdint.h>

enum { CLEAVE__GRID_SIDE_MOST = 4096 };

struct cleave__grid {
    double x0, y0;          /* lower left corner */
    double per_x, per_y;    /* cells in a unit of length; positive */
    uint32_t columns, rows; /* from 1 to CLEAVE__GRID_SIDE_MOST */
};

/* Both ends included; empty when x0 > x1. */
struct cleave__cells {
    uint32_t x0, y0, x1, y1;
};

#define CLEAVE__NO_CELLS ((struct cleave__cells){1, 1, 0, 0})

static inline struct cleave__grid cleave__grid_make(double x0, double y0, double x1, double y1,
                                                    uint32_t columns, uint32_t rows)
{
    return (struct cleave__grid){x0, y0, columns / (x1 - x0), rows / (y1 - y0), columns, rows};
}
static inline uint32_t cleave__grid_column(const struct cleave__grid *grid, double x)
{
    double at = (x - grid->x0) * grid->per_x;
    return at >= grid->columns ? grid->columns - 1 : at > 0 ? (uint32_t)at : 0;
}
static inline uint32_t cleave__grid_row(const struct cleave__grid *grid, double y)
{
    double at = (y - grid->y0) * grid->per_y;
    return at >= grid->rows ? grid->rows - 1 : at > 0 ? (uint32_t)at : 0;
}
static inline uint32_t cleave__grid_cell(const struct cleave__grid *grid, double x, double y)
{
    return cleave__grid_row(grid, y) * grid->columns + cleave__grid_column(grid, x);
}
static inline struct cleave__cells cleave__grid_cells(const struct cleave__grid *grid, double x0,
                                                      double y0, double x1, double y1)
{
    return (struct cleave__cells){cleave__grid_column(grid, x0), cleave__grid_row(grid, y0),
                                  cleave__grid_column(grid, x1), cleave__grid_row(grid, y1)};
}
static inline bool cleave__cells_empty(struct cleave__cells c)
{
    return c.x0 > c.x1 || c.y0 > c.y1;
}
static inline uint64_t cleave__cells_count(struct cleave__cells c)
{
    return cleave__cells_empty(c) ? 0 : (uint64_t)(c.x1 - c.x0 + 1) * (c.y1 - c.y0 + 1);
}
static inline bool cleave__cells_have(struct cleave__cells c, uint32_t x, uint32_t y)
{
    return x >= c.x0 && x <= c.x1 && y >= c.y0 && y <= c.y1;
}
static inline bool cleave__cells_meet(struct cleave__cells a, struct cleave__cells b)
{
    return a.x0 <= b.x1 && b.x0 <= a.x1 && a.y0 <= b.y1 && b.y0 <= a.y1 &&
           !cleave__cells_empty(a) && !cleave__cells_empty(b);
}
static inline struct cleave__cells cleave__cells_common(struct cleave__cells a,
                                                        struct cleave__cells b)
{
    if (!cleave__cells_meet(a, b))
        return CLEAVE__NO_CELLS;
    return (struct cleave__cells){a.x0 > b.x0 ? a.x0 : b.x0, a.y0 > b.y0 ? a.y0 : b.y0,
                                  a.x1 < b.x1 ? a.x1 : b.x1, a.y1 < b.y1 ? a.y1 : b.y1};
}

#endif
