/* Costs of cells, and their sums; see the header.
 *
 * A query adds 1 at the lower left of its range and takes it away past its ends; summing up over
 * both directions gives the count of each cell. sum[y][x] is the cost of all cells below and left
 * of (x, y), both excluded. */
#include "stream/shape/costs.h"

#include <assert.h>
#include <stdlib.h>

enum { COUNTED_MOST = INT32_MAX };

struct cleave__costs {
    uint32_t columns, rows;
    uint32_t objects, queries; /* counted */
    bool summed;
    uint32_t *object; /* [rows * columns] */
    int32_t *query;   /* [(rows + 1) * (columns + 1)]: differences */
    uint64_t *sum;    /* [(rows + 1) * (columns + 1)] */
};

enum cleave_status cleave__costs_new(uint32_t columns, uint32_t rows, struct cleave__costs **out,
                                     struct cleave_error *error)
{
    size_t cells = (size_t)columns * rows, corners = ((size_t)columns + 1) * (rows + 1);
    struct cleave__costs *costs = calloc(1, sizeof *costs);
    if (costs) {
        costs->columns = columns;
        costs->rows = rows;
        costs->object = calloc(cells, sizeof *costs->object);
        costs->query = calloc(corners, sizeof *costs->query);
        costs->sum = calloc(corners, sizeof *costs->sum);
    }
    if (!costs || !costs->object || !costs->query || !costs->sum) {
        cleave__costs_free(costs);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for costs of %u x %u cells",
                                columns, rows);
    }
    *out = costs;
    return CLEAVE_OK;
}

void cleave__costs_free(struct cleave__costs *costs)
{
    if (!costs)
        return;
    free(costs->object);
    free(costs->query);
    free(costs->sum);
    free(costs);
}

void cleave__costs_object(struct cleave__costs *costs, uint32_t column, uint32_t row)
{
    assert(!costs->summed && column < costs->columns && row < costs->rows);
    if (costs->objects == COUNTED_MOST)
        return;
    costs->objects++;
    costs->object[(size_t)row * costs->columns + column]++;
}

void cleave__costs_query(struct cleave__costs *costs, struct cleave__cells range)
{
    assert(!costs->summed && !cleave__cells_empty(range));
    assert(range.x1 < costs->columns && range.y1 < costs->rows);
    if (costs->queries == COUNTED_MOST)
        return;
    size_t width = (size_t)costs->columns + 1;
    int32_t *low = costs->query + range.y0 * width, *high = costs->query + (range.y1 + 1) * width;
    costs->queries++;
    low[range.x0]++;
    low[range.x1 + 1]--;
    high[range.x0]--;
    high[range.x1 + 1]++;
}

void cleave__costs_sum(struct cleave__costs *costs)
{
    size_t width = (size_t)costs->columns + 1;
    assert(!costs->summed);
    costs->summed = true;
    for (uint32_t y = 0; y < costs->rows; y++) {
        int32_t *query = costs->query + y * width;
        const uint32_t *object = costs->object + (size_t)y * costs->columns;
        const uint64_t *below = costs->sum + y * width;
        uint64_t *sum = costs->sum + (y + 1) * width, row = 0;
        int64_t covering = 0;
        for (uint32_t x = 0; x < costs->columns; x++) {
            if (y)
                query[x] = (int32_t)(query[x] + (int64_t)query[(ptrdiff_t)x - (ptrdiff_t)width]);
            covering += query[x];
            row += ((uint64_t)object[x] + 1) * ((uint64_t)covering + 1);
            sum[x + 1] = below[x + 1] + row;
        }
    }
    free(costs->object);
    free(costs->query);
    costs->object = NULL;
    costs->query = NULL;
}

uint64_t cleave__costs_of(const struct cleave__costs *costs, struct cleave__cells c)
{
    assert(costs->summed);
    if (cleave__cells_empty(c))
        return 0;
    size_t width = (size_t)costs->columns + 1;
    const uint64_t *low = costs->sum + c.y0 * width, *high = costs->sum + (c.y1 + 1) * width;
    return high[c.x1 + 1] - high[c.x0] - low[c.x1 + 1] + low[c.x0];
}

uint32_t cleave__costs_columns(const struct cleave__costs *costs)
{
    return costs->columns;
}

uint32_t cleave__costs_rows(const struct cleave__costs *costs)
{
    return costs->rows;
}
