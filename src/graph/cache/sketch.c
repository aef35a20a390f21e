/* Count-min with conservative update, in blocks; see the header. */
#include "graph/cache/sketch.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { ROWS = 4, KEYS_A_BLOCK = 4 };

/* The low bits of the hash choose the block, four bits a row from the top the counters. */
static inline unsigned find_counters(const struct cleave__sketch *sketch, uint64_t key,
                                     uint8_t *counter[ROWS])
{
    uint64_t h = cleave__mix64(key);
    struct cleave__sketch_block *block = &sketch->blocks[h & sketch->mask];
    unsigned least = CLEAVE_SKETCH_MAX;
    for (unsigned r = 0; r < ROWS; r++) {
        counter[r] = &block->row[r][h >> (60 - 4 * r) & 15];
        least = *counter[r] < least ? *counter[r] : least;
    }
    return least;
}

bool cleave__sketch_reserve(struct cleave__sketch *sketch, uint64_t keys)
{
    uint64_t old = sketch->blocks ? sketch->mask + 1 : 0, grown = old ? old : 1;
    while (grown * KEYS_A_BLOCK < keys)
        grown *= 2;
    if (grown == old)
        return true;
    struct cleave__sketch_block *blocks = aligned_alloc(sizeof *blocks, grown * sizeof *blocks);
    if (!blocks)
        return false;
    /* The keys of a block come to lie in several: each starts with its counts. */
    for (uint64_t i = 0; i < grown; i++) {
        if (old)
            blocks[i] = sketch->blocks[i & sketch->mask];
        else
            memset(&blocks[i], 0, sizeof blocks[i]);
    }
    free(sketch->blocks);
    *sketch = (struct cleave__sketch){blocks, grown - 1};
    return true;
}

void cleave__sketch_free(struct cleave__sketch *sketch)
{
    free(sketch->blocks);
    *sketch = (struct cleave__sketch){0};
}

void cleave__sketch_clear(struct cleave__sketch *sketch)
{
    memset(sketch->blocks, 0, (size_t)cleave__sketch_bytes(sketch));
}

void cleave__sketch_add(struct cleave__sketch *sketch, uint64_t key)
{
    uint8_t *counter[ROWS];
    unsigned least = find_counters(sketch, key, counter);
    for (unsigned r = 0; r < ROWS && least < CLEAVE_SKETCH_MAX; r++)
        *counter[r] = (uint8_t)(*counter[r] + (*counter[r] == least));
}

unsigned cleave__sketch_estimate(const struct cleave__sketch *sketch, uint64_t key)
{
    uint8_t *counter[ROWS];
    return find_counters(sketch, key, counter);
}

void cleave__sketch_halve(struct cleave__sketch *sketch)
{
    uint8_t *counter = &sketch->blocks[0].row[0][0];
    for (uint64_t i = 0; i < cleave__sketch_bytes(sketch); i++)
        counter[i] /= 2;
}

uint64_t cleave__sketch_bytes(const struct cleave__sketch *sketch)
{
    return sketch->blocks ? (sketch->mask + 1) * sizeof *sketch->blocks : 0;
}
