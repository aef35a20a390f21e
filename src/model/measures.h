/* What a placement costs and how even it is. Pure functions of hypergraph and block numbers;
 * O(pins) time. `block[v] < blocks` is the caller's duty unless said. */
#ifndef CLEAVE_MODEL_MEASURES_H
#define CLEAVE_MODEL_MEASURES_H

#include <stdbool.h>
#include <stdint.h>

#include "cleave/hypergraph.h"

/* Sum of weights of nets that touch more than one block. */
int64_t cleave__measure_cut(const struct cleave_hypergraph *hypergraph, const uint32_t *block);

/* Sum over nets of weight * (blocks touched - 1). `mark` is scratch, [blocks]. */
int64_t cleave__measure_km1(const struct cleave_hypergraph *hypergraph, const uint32_t *block,
                            uint32_t blocks, uint32_t *mark);

/* Sum over nets cut of weight * blocks touched is cut + km1: no function of its own. */

/* weight[b * W + c]: what block b carries in constraint c. */
void cleave__measure_weights(const struct cleave_hypergraph *hypergraph, const uint32_t *block,
                             uint32_t blocks, int64_t *weight);

/* ceil(part / whole * total) for a share given as part of whole; exact when the shares are equal
 * whole numbers, and forgiving of one rounding otherwise. */
int64_t cleave__share_of(double part, double whole, int64_t total);

/* The most a block may carry: (1 + epsilon) * quota, rounded down. */
int64_t cleave__block_limit(int64_t quota, double epsilon);

/* The least a block may carry: (1 - underweight) * floor(share * total), rounded down. */
int64_t cleave__block_floor(double share, int64_t total, double underweight);

/* The skew factor: 1/n sum_i [ alpha ((s_i - s)/s)^2 + beta ((t_i - t)/t)^2 ] over n shards, with
 * s and t the means of size and access; a term is 0 where its mean is 0. */
double cleave__skew_factor(uint32_t n, const double *size, const double *access, double alpha,
                           double beta);

#endif
