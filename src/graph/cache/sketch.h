/* How often keys were asked for lately, roughly and in little memory: a count-min sketch with
 * conservative update (Cormode and Muthukrishnan 2005; Estan and Varghese 2002), four rows of
 * counters up to 15, all halved from time to time so that the past fades (TinyLFU: Einziger,
 * Friedman, Manes, ACM TOS 2017). Without a halving, an estimate is never under the true count
 * (or 15). Deterministic; starts as all zeroes; not thread safe. */
#ifndef CLEAVE_GRAPH_CACHE_SKETCH_H
#define CLEAVE_GRAPH_CACHE_SKETCH_H

#include <stdbool.h>
#include <stdint.h>

enum { CLEAVE_SKETCH_MAX = 15 };

struct cleave__sketch {
    uint8_t *counters; /* [2 * (mask + 1)]: four rows, half a byte a counter */
    uint64_t mask;     /* width of a row - 1; the width is a power of two */
};

/* Rows of at least `width` counters; what was counted stays. False: no memory, nothing changed. */
bool cleave__sketch_reserve(struct cleave__sketch *sketch, uint64_t width);
void cleave__sketch_free(struct cleave__sketch *sketch);
void cleave__sketch_clear(struct cleave__sketch *sketch);

void cleave__sketch_add(struct cleave__sketch *sketch, uint64_t key);
unsigned cleave__sketch_estimate(const struct cleave__sketch *sketch, uint64_t key);
/* Halves every counter, rounding down. O(width). */
void cleave__sketch_halve(struct cleave__sketch *sketch);
uint64_t cleave__sketch_bytes(const struct cleave__sketch *sketch);

#endif
