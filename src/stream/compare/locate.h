/* How long ways to find the evaluators of a point and of a range take, every answer held against
 * what it should be. */
#ifndef CLEAVE_STREAM_COMPARE_LOCATE_H
#define CLEAVE_STREAM_COMPARE_LOCATE_H

#include "stream/route/locator.h"

struct cleave__locate_way {
    const char *name;
    void *self;
    uint32_t (*point)(void *self, double x, double y);
    uint32_t (*range)(void *self, struct cleave__cells range, uint32_t *out);
};

/* Of evaluators, whatever their order. */
uint64_t cleave__locate_digest(const uint32_t *out, uint32_t count);
/* Nanoseconds each, the best of some passes; negative: an answer is not the wanted one. Points are
 * x, y, x, y, ... */
double cleave__locate_points_ns(const struct cleave__locate_way *way, const double *points,
                                uint32_t count, const uint16_t *wanted, uint32_t passes);
/* `wanted`: digests. `evaluators`: an answer's most; at most CLEAVE__EVALUATORS_MOST. */
double cleave__locate_ranges_ns(const struct cleave__locate_way *way,
                                const struct cleave__cells *ranges, uint32_t count,
                                uint32_t evaluators, const uint64_t *wanted, uint32_t passes);

#endif
