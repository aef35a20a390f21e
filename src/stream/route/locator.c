/* The list of locators, and the A-Grid as one. */
#include "stream/route/locator.h"

static enum cleave_status create(const struct cleave__grid *grid,
                                 const struct cleave__cells *partitions, uint32_t evaluators,
                                 void **self, struct cleave_error *error)
{
    struct cleave__agrid *agrid;
    enum cleave_status status = cleave__agrid_new(grid, partitions, evaluators, &agrid, error);
    if (status == CLEAVE_OK)
        *self = agrid;
    return status;
}

static void destroy(void *self)
{
    cleave__agrid_free(self);
}

static uint32_t point(void *self, double x, double y)
{
    return cleave__agrid_point(self, x, y);
}

static uint32_t range(void *self, struct cleave__cells cells, uint32_t *out)
{
    return cleave__agrid_range(self, cells, out);
}

static size_t bytes(const void *self)
{
    return cleave__agrid_bytes(self);
}

const struct cleave__locator_ops cleave__locator_agrid = {
    .name = "agrid",
    .summary = "neighbour-based search over the partitions' borders",
    .create = create,
    .destroy = destroy,
    .point = point,
    .range = range,
    .bytes = bytes,
};

const struct cleave__locator_ops *const cleave__locators[] = {
    &cleave__locator_agrid, &cleave__locator_scan, &cleave__locator_bitset, &cleave__locator_rtree,
    NULL};
