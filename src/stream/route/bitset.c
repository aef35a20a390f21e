/* Four tables of bit sets: a partition meets a range when it begins no later than the range ends
 * and ends no earlier than it begins, in columns and in rows. O(evaluators / 64 + answer). */
#include <stdlib.h>

#include "stream/route/locator.h"

struct bitset {
    struct cleave__grid grid;
    uint32_t words; /* a set's */
    /* A set for each column (row): begun: partitions with x0 (y0) at most it; open: with x1 (y1) at
     * least it. */
    uint64_t *column_begun, *column_open, *row_begun, *row_open;
};

static size_t words_in_all(const struct bitset *b)
{
    return ((size_t)b->grid.columns + b->grid.rows) * 2 * b->words;
}

static void fill(uint64_t *begun, uint64_t *open, uint32_t words, uint32_t lines, uint32_t first,
                 uint32_t last, uint32_t evaluator)
{
    uint64_t bit = UINT64_C(1) << (evaluator & 63);
    for (uint32_t i = first; i < lines; i++)
        begun[(size_t)i * words + (evaluator >> 6)] |= bit;
    for (uint32_t i = 0; i <= last; i++)
        open[(size_t)i * words + (evaluator >> 6)] |= bit;
}

static enum cleave_status create(const struct cleave__grid *grid,
                                 const struct cleave__cells *partitions, uint32_t evaluators,
                                 void **self, struct cleave_error *error)
{
    struct cleave__agrid *tiling; /* says what is wrong with them */
    enum cleave_status status = cleave__agrid_new(grid, partitions, evaluators, &tiling, error);
    if (status)
        return status;
    cleave__agrid_free(tiling);
    struct bitset *b = calloc(1, sizeof *b);
    if (b) {
        b->grid = *grid;
        b->words = (evaluators + 63) / 64;
        b->column_begun = calloc(words_in_all(b), sizeof *b->column_begun);
    }
    if (!b || !b->column_begun) {
        free(b);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for bit sets of %u evaluators",
                                evaluators);
    }
    b->column_open = b->column_begun + (size_t)grid->columns * b->words;
    b->row_begun = b->column_open + (size_t)grid->columns * b->words;
    b->row_open = b->row_begun + (size_t)grid->rows * b->words;
    for (uint32_t e = 0; e < evaluators; e++) {
        struct cleave__cells p = partitions[e];
        if (cleave__cells_empty(p))
            continue;
        fill(b->column_begun, b->column_open, b->words, grid->columns, p.x0, p.x1, e);
        fill(b->row_begun, b->row_open, b->words, grid->rows, p.y0, p.y1, e);
    }
    *self = b;
    return CLEAVE_OK;
}

static void destroy(void *self)
{
    struct bitset *b = self;
    if (b)
        free(b->column_begun);
    free(b);
}

static uint32_t range(void *self, struct cleave__cells cells, uint32_t *out)
{
    const struct bitset *b = self;
    const uint64_t *begun_x = b->column_begun + (size_t)cells.x1 * b->words;
    const uint64_t *open_x = b->column_open + (size_t)cells.x0 * b->words;
    const uint64_t *begun_y = b->row_begun + (size_t)cells.y1 * b->words;
    const uint64_t *open_y = b->row_open + (size_t)cells.y0 * b->words;
    uint32_t count = 0;
    for (uint32_t w = 0; w < b->words; w++) {
        for (uint64_t set = begun_x[w] & open_x[w] & begun_y[w] & open_y[w]; set; set &= set - 1)
            out[count++] = w * 64 + (uint32_t)__builtin_ctzll(set);
    }
    return count;
}

/* The one evaluator of a range of one cell. */
static uint32_t point(void *self, double x, double y)
{
    const struct bitset *b = self;
    size_t column = (size_t)cleave__grid_column(&b->grid, x) * b->words;
    size_t row = (size_t)cleave__grid_row(&b->grid, y) * b->words;
    for (uint32_t w = 0;; w++) {
        uint64_t set = b->column_begun[column + w] & b->column_open[column + w] &
                       b->row_begun[row + w] & b->row_open[row + w];
        if (set)
            return w * 64 + (uint32_t)__builtin_ctzll(set);
    }
}

static size_t bytes(const void *self)
{
    const struct bitset *b = self;
    return sizeof *b + words_in_all(b) * sizeof *b->column_begun;
}

const struct cleave__locator_ops cleave__locator_bitset = {
    .name = "bitset",
    .summary = "four tables of bit sets, ANDed",
    .create = create,
    .destroy = destroy,
    .point = point,
    .range = range,
    .bytes = bytes,
};
