/* The random numbers of graphshard lab, to the bit: StdRng of Rust's rand 0.8 is ChaCha with 12
 * rounds (Bernstein 2008), keyed by the 64-bit seed through PCG32 (O'Neill 2014). Used where a
 * graph must equal the lab's; everything else draws from base/random.h. */
#ifndef CLEAVE_GRAPH_SOURCE_STANDARD_RANDOM_H
#define CLEAVE_GRAPH_SOURCE_STANDARD_RANDOM_H

#include <stdint.h>

struct cleave__standard_random {
    uint32_t key[8];
    uint64_t block;    /* number of the next one */
    uint32_t word[16]; /* of the current block */
    uint32_t at;       /* words given; 16: none left */
};

void cleave__standard_seed(struct cleave__standard_random *random, uint64_t seed);
/* Uniform in [low, high], both included; low <= high. */
uint64_t cleave__standard_between(struct cleave__standard_random *random, uint64_t low,
                                  uint64_t high);

#endif
