/* A plain grid: a range is answered by looking at every cell of it. Evaluators that were met carry
 * the number of the search, so that nothing is cleared between two. */
#include <stdlib.h>
#include <string.h>

#include "stream/route/locator.h"

struct scan {
    struct cleave__agrid *grid; /* for its cells */
    uint32_t search;
    uint32_t met[]; /* [evaluators]: the last search that met it */
};

static enum cleave_status create(const struct cleave__grid *grid,
                                 const struct cleave__cells *partitions, uint32_t evaluators,
                                 void **self, struct cleave_error *error)
{
    struct cleave__agrid *cells;
    enum cleave_status status = cleave__agrid_new(grid, partitions, evaluators, &cells, error);
    if (status)
        return status;
    struct scan *scan = calloc(1, sizeof *scan + evaluators * sizeof *scan->met);
    if (!scan) {
        cleave__agrid_free(cells);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u evaluators", evaluators);
    }
    scan->grid = cells;
    *self = scan;
    return CLEAVE_OK;
}

static void destroy(void *self)
{
    struct scan *scan = self;
    if (scan)
        cleave__agrid_free(scan->grid);
    free(scan);
}

static uint32_t point(void *self, double x, double y)
{
    return cleave__agrid_point(((struct scan *)self)->grid, x, y);
}

static uint32_t range(void *self, struct cleave__cells cells, uint32_t *out)
{
    struct scan *scan = self;
    uint32_t count = 0;
    if (++scan->search == 0) {
        memset(scan->met, 0, scan->grid->evaluators * sizeof *scan->met);
        scan->search = 1;
    }
    for (uint32_t y = cells.y0; y <= cells.y1; y++) {
        const uint16_t *row = scan->grid->cell + (size_t)y * scan->grid->grid.columns;
        for (uint32_t x = cells.x0; x <= cells.x1; x++) {
            if (scan->met[row[x]] == scan->search)
                continue;
            scan->met[row[x]] = scan->search;
            out[count++] = row[x];
        }
    }
    return count;
}

static size_t bytes(const void *self)
{
    const struct scan *scan = self;
    return sizeof *scan + scan->grid->evaluators * sizeof *scan->met +
           cleave__agrid_bytes(scan->grid);
}

const struct cleave__locator_ops cleave__locator_scan = {
    .name = "scan",
    .summary = "every cell of the range is looked at",
    .create = create,
    .destroy = destroy,
    .point = point,
    .range = range,
    .bytes = bytes,
};
