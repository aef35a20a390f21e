/* Random tilings, random ranges, and the searches that answers are held against. */
#ifndef CLEAVE_TESTS_STREAM_ROUTE_MAPS_H
#define CLEAVE_TESTS_STREAM_ROUTE_MAPS_H

#include "base/random.h"
#include "stream/route/agrid.h"

/* Splits a random partition at a random line until `active` have cells; the rest of `partitions`
 * [evaluators] are idle, and the order is shuffled. */
void maps_random(struct cleave_random *random, uint32_t columns, uint32_t rows, uint32_t active,
                 uint32_t evaluators, struct cleave__cells *partitions);
struct cleave__cells maps_range(struct cleave_random *random, uint32_t columns, uint32_t rows);
/* A range of this share of the grid's area, as near as cells allow, of random shape. */
struct cleave__cells maps_range_of(struct cleave_random *random, uint32_t columns, uint32_t rows,
                                   double share);
/* Whether out [count] has every evaluator that a range meets, and each once; `seen` [evaluators] is
 * all 0 and is left so. *missed is how many are not there. */
bool maps_right(const struct cleave__cells *partitions, uint32_t evaluators,
                struct cleave__cells range, const uint32_t *out, uint32_t count, uint8_t *seen,
                uint32_t *missed);
/* Neighbour-based search as Tornado's Algorithm 1 has it, with a queue and marks. `published`: as
 * its published code does it, which enters a partition where it happens to come from instead of at
 * the dominant cell, unless that lies on the range's border. */
uint32_t maps_algorithm_1(const struct cleave__agrid *agrid, struct cleave__cells range,
                          bool published, uint32_t *out);

#endif
