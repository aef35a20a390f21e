/* Distinct sets of numbers, each with how often it came: transactions that touch the same things
 * are one net. Open addressing on XXH3 over one growing array; 4 bytes a number and about 32 a set.
 */
#ifndef CLEAVE_TABLES_SHAPE_NETSET_H
#define CLEAVE_TABLES_SHAPE_NETSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vector.h"

struct cleave_netset { /* starts as all zeroes */
    uint32_t count;
    CLEAVE_VECTOR(uint64_t) offsets; /* [count + 1]; empty while count is 0 */
    CLEAVE_VECTOR(uint32_t) items;   /* of each set, ascending and distinct */
    CLEAVE_VECTOR(uint64_t) times;   /* [count] */
    CLEAVE_VECTOR(uint32_t) hashes;  /* [count] */
    uint32_t *slots;                 /* set + 1, or 0 */
    uint32_t slot_mask;
};

/* Adds `times` occurrences of a set; sorts `items` and drops repeats in place. An empty set is
 * passed over. False when memory is out (nothing is added then) or 2^30 sets are held. */
bool cleave__netset_add(struct cleave_netset *set, uint32_t *items, size_t count, uint64_t times);
void cleave__netset_free(struct cleave_netset *set);

#endif
