/* How often which value occurred: log-linear buckets, as HdrHistogram has them.
 *
 * Values below 128 have a bucket each; from there every power of two is cut into 64 equal buckets,
 * so that a bucket's middle is within 0.8 % of any value in it. All of uint64_t fits. Buckets come
 * 64 at a time (512 bytes) when first needed: a histogram of a narrow range is small, an empty one
 * has five words. Adding is O(1), a quantile O(buckets). Not thread safe: one a thread, merged at
 * the end.
 *
 * Invariant: the buckets' counts add up to `count`; `low` and `high` are values that occurred. */
#ifndef CLEAVE_BASE_HISTOGRAM_H
#define CLEAVE_BASE_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

enum { CLEAVE_HISTOGRAM_ROWS = 59, CLEAVE_HISTOGRAM_COLUMNS = 64 };

/* Starts as all zeroes. */
struct cleave_histogram {
    uint64_t count, low, high; /* `low` and `high` mean nothing while `count` is 0 */
    uint64_t sum;              /* of the values; stays at UINT64_MAX once it gets there */
    uint64_t **row;            /* [CLEAVE_HISTOGRAM_ROWS], [64] each; NULL: all zero */
};

void cleave__histogram_free(struct cleave_histogram *histogram);
/* `times` more of `value`. False: memory is out, nothing was added. */
bool cleave__histogram_add(struct cleave_histogram *histogram, uint64_t value, uint64_t times);
/* All of `from` into `into`. False: memory is out, `into` is as it was. */
bool cleave__histogram_merge(struct cleave_histogram *into, const struct cleave_histogram *from);
/* The value that a share `quantile` (0 to 1) of all values does not exceed: within 0.8 %, exact at
 * 0 (the least) and 1 (the greatest). 0 when empty. */
uint64_t cleave__histogram_quantile(const struct cleave_histogram *histogram, double quantile);
/* 0 when empty. */
double cleave__histogram_mean(const struct cleave_histogram *histogram);
/* Whether the invariant holds. */
bool cleave__histogram_check(const struct cleave_histogram *histogram);

#endif
