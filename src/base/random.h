/* Seeded random numbers: xoshiro256** (Blackman and Vigna), seeded by splitmix64. The same seed
 * gives the same sequence on every machine. */
#ifndef CLEAVE_BASE_RANDOM_H
#define CLEAVE_BASE_RANDOM_H

#include <stdint.h>

struct cleave_random {
    uint64_t state[4];
};

void cleave__random_seed(struct cleave_random *random, uint64_t seed);
uint64_t cleave__random_next(struct cleave_random *random);
/* Uniform in [0, bound); bound > 0. No modulo bias. */
uint64_t cleave__random_below(struct cleave_random *random, uint64_t bound);
/* Uniform in [low, high], both included. */
int64_t cleave__random_between(struct cleave_random *random, int64_t low, int64_t high);
/* Uniform in [0, 1). */
double cleave__random_real(struct cleave_random *random);
void cleave__random_shuffle(struct cleave_random *random, uint32_t *items, uint32_t count);
/* A fixed bijective mix of 64 bits (splitmix64's finaliser): stable hashing of integers. */
uint64_t cleave__mix64(uint64_t x);

#endif
