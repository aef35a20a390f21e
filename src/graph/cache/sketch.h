/* How often keys were asked for lately, roughly and in little memory: a count-min sketch with
 * conservative update (Cormode and Muthukrishnan 2005; Estan and Varghese 2002), four counters a
 * key up to 15, all halved from time to time so that the past fades (TinyLFU: Einziger, Friedman,
 * Manes, ACM TOS 2017). A key's four lie in one block, a line of the processor's cache (blocking:
 * Putze, Sanders, Singler 2007). Without a halving, an estimate is never under the true count (or
 * 15). Deterministic; starts as all zeroes; not thread safe. */
#ifndef CLEAVE_GRAPH_CACHE_SKETCH_H
#define CLEAVE_GRAPH_CACHE_SKETCH_H

#include <stdbool.h>
#include <stdint.h>

enum { CLEAVE_SKETCH_MAX = 15 };

struct cleave__sketch {
    struct cleave__sketch_block *blocks; /* [mask + 1] */
    uint64_t mask;                       /* blocks - 1; their number is a power of two */
};

/* 64 bytes: four rows of 16 counters. */
struct cleave__sketch_block {
    uint8_t row[4][16];
};

/* Room for `keys` keys at 16 bytes each; what was counted stays. False: no memory, nothing changed.
 */
bool cleave__sketch_reserve(struct cleave__sketch *sketch, uint64_t keys);
void cleave__sketch_free(struct cleave__sketch *sketch);
void cleave__sketch_clear(struct cleave__sketch *sketch);

void cleave__sketch_add(struct cleave__sketch *sketch, uint64_t key);
unsigned cleave__sketch_estimate(const struct cleave__sketch *sketch, uint64_t key);
/* Halves every counter, rounding down. O(blocks). */
void cleave__sketch_halve(struct cleave__sketch *sketch);
uint64_t cleave__sketch_bytes(const struct cleave__sketch *sketch);

#endif
