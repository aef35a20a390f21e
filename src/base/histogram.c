/* Row 0 holds 0 to 63, row r > 0 the values whose highest bit is r + 5, in steps of 2^(r - 1). */
#include "base/histogram.h"

#include <stdlib.h>

enum { ROWS = CLEAVE_HISTOGRAM_ROWS, COLUMNS = CLEAVE_HISTOGRAM_COLUMNS };

static unsigned row_of(uint64_t value)
{
    return value < COLUMNS ? 0 : 63u - (unsigned)__builtin_clzll(value) - 5;
}

static unsigned column_of(uint64_t value, unsigned row)
{
    return (unsigned)(row ? (value >> (row - 1)) - COLUMNS : value);
}

/* The middle of a bucket, rounded down. */
static uint64_t middle_of(unsigned row, unsigned column)
{
    if (row == 0)
        return column;
    uint64_t step = UINT64_C(1) << (row - 1);
    return (COLUMNS + (uint64_t)column) * step + (step - 1) / 2;
}

void cleave__histogram_free(struct cleave_histogram *histogram)
{
    for (unsigned r = 0; histogram->row && r < ROWS; r++)
        free(histogram->row[r]);
    free(histogram->row);
    *histogram = (struct cleave_histogram){0};
}

static bool need_row(struct cleave_histogram *histogram, unsigned row)
{
    if (!histogram->row && !(histogram->row = calloc(ROWS, sizeof *histogram->row)))
        return false;
    if (!histogram->row[row])
        histogram->row[row] = calloc(COLUMNS, sizeof *histogram->row[row]);
    return histogram->row[row] != NULL;
}

static void widen(struct cleave_histogram *histogram, uint64_t low, uint64_t high)
{
    if (histogram->count == 0 || low < histogram->low)
        histogram->low = low;
    if (histogram->count == 0 || high > histogram->high)
        histogram->high = high;
}

static uint64_t add_up_to_max(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

bool cleave__histogram_add(struct cleave_histogram *histogram, uint64_t value, uint64_t times)
{
    unsigned row = row_of(value);
    if (times == 0)
        return true;
    if (!need_row(histogram, row))
        return false;
    widen(histogram, value, value);
    histogram->row[row][column_of(value, row)] += times;
    histogram->count += times;
    uint64_t product;
    if (__builtin_mul_overflow(value, times, &product))
        product = UINT64_MAX;
    histogram->sum = add_up_to_max(histogram->sum, product);
    return true;
}

bool cleave__histogram_merge(struct cleave_histogram *into, const struct cleave_histogram *from)
{
    if (from->count == 0)
        return true;
    for (unsigned r = 0; r < ROWS; r++) {
        if (from->row[r] && !need_row(into, r))
            return false;
    }
    widen(into, from->low, from->high);
    for (unsigned r = 0; r < ROWS; r++) {
        for (unsigned c = 0; from->row[r] && c < COLUMNS; c++)
            into->row[r][c] += from->row[r][c];
    }
    into->count += from->count;
    into->sum = add_up_to_max(into->sum, from->sum);
    return true;
}

uint64_t cleave__histogram_quantile(const struct cleave_histogram *histogram, double quantile)
{
    if (histogram->count == 0)
        return 0;
    if (!(quantile > 0))
        return histogram->low;
    if (quantile >= 1)
        return histogram->high;
    double exact = quantile * (double)histogram->count;
    uint64_t rank = (uint64_t)exact; /* how many may lie below the answer */
    rank += (double)rank < exact;
    uint64_t passed = 0;
    for (unsigned r = 0; histogram->row && r < ROWS; r++) {
        for (unsigned c = 0; histogram->row[r] && c < COLUMNS; c++) {
            passed += histogram->row[r][c];
            if (passed < rank || histogram->row[r][c] == 0)
                continue;
            uint64_t middle = middle_of(r, c);
            return middle < histogram->low    ? histogram->low
                   : middle > histogram->high ? histogram->high
                                              : middle;
        }
    }
    return histogram->high;
}

double cleave__histogram_mean(const struct cleave_histogram *histogram)
{
    return histogram->count ? (double)histogram->sum / (double)histogram->count : 0;
}

static bool holds(const struct cleave_histogram *histogram, uint64_t value)
{
    unsigned row = row_of(value);
    return histogram->row && histogram->row[row] && histogram->row[row][column_of(value, row)] > 0;
}

bool cleave__histogram_check(const struct cleave_histogram *histogram)
{
    uint64_t count = 0;
    for (unsigned r = 0; histogram->row && r < ROWS; r++) {
        for (unsigned c = 0; histogram->row[r] && c < COLUMNS; c++)
            count += histogram->row[r][c];
    }
    return count == histogram->count &&
           (count == 0 || (histogram->low <= histogram->high && holds(histogram, histogram->low) &&
                           holds(histogram, histogram->high)));
}
