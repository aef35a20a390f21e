/* Count-min with conservative update. Counters of rows 0 and 1 at one place share a byte, as do
 * those of rows 2 and 3 (in the second half), each row with a place of its own: row r's counter of
 * place i is the low (r even) or high nibble of byte (r / 2) * width + i. */
#include "graph/cache/sketch.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { ROWS = 4 };

struct place {
    uint64_t byte;
    unsigned shift;
};

static void find_places(const struct cleave__sketch *sketch, uint64_t key, struct place out[ROWS])
{
    uint64_t h = cleave__mix64(key), step = (h >> 32 | h << 32) | 1;
    for (unsigned r = 0; r < ROWS; r++, h += step)
        out[r] = (struct place){r / 2 * (sketch->mask + 1) + (h & sketch->mask), r % 2 * 4};
}

static unsigned count_at(const struct cleave__sketch *sketch, struct place place)
{
    return sketch->counters[place.byte] >> place.shift & 15;
}

bool cleave__sketch_reserve(struct cleave__sketch *sketch, uint64_t width)
{
    uint64_t grown = sketch->counters ? sketch->mask + 1 : 64;
    while (grown < width)
        grown *= 2;
    uint64_t old = sketch->counters ? sketch->mask + 1 : 0;
    if (grown == old)
        return true;
    uint8_t *counters = calloc(2, grown);
    if (!counters)
        return false;
    /* A place of the narrow row becomes several of the wide one: each starts with its count. */
    for (uint64_t i = 0; old && i < grown; i++) {
        counters[i] = sketch->counters[i & sketch->mask];
        counters[grown + i] = sketch->counters[old + (i & sketch->mask)];
    }
    free(sketch->counters);
    *sketch = (struct cleave__sketch){counters, grown - 1};
    return true;
}

void cleave__sketch_free(struct cleave__sketch *sketch)
{
    free(sketch->counters);
    *sketch = (struct cleave__sketch){0};
}

void cleave__sketch_clear(struct cleave__sketch *sketch)
{
    memset(sketch->counters, 0, (size_t)cleave__sketch_bytes(sketch));
}

void cleave__sketch_add(struct cleave__sketch *sketch, uint64_t key)
{
    struct place place[ROWS];
    find_places(sketch, key, place);
    unsigned least = CLEAVE_SKETCH_MAX;
    for (unsigned r = 0; r < ROWS; r++) {
        unsigned count = count_at(sketch, place[r]);
        least = count < least ? count : least;
    }
    for (unsigned r = 0; r < ROWS && least < CLEAVE_SKETCH_MAX; r++) {
        if (count_at(sketch, place[r]) == least)
            sketch->counters[place[r].byte] += (uint8_t)(1u << place[r].shift);
    }
}

unsigned cleave__sketch_estimate(const struct cleave__sketch *sketch, uint64_t key)
{
    struct place place[ROWS];
    find_places(sketch, key, place);
    unsigned least = CLEAVE_SKETCH_MAX;
    for (unsigned r = 0; r < ROWS; r++) {
        unsigned count = count_at(sketch, place[r]);
        least = count < least ? count : least;
    }
    return least;
}

void cleave__sketch_halve(struct cleave__sketch *sketch)
{
    uint64_t bytes = cleave__sketch_bytes(sketch);
    for (uint64_t i = 0; i < bytes; i++)
        sketch->counters[i] = sketch->counters[i] >> 1 & 0x77;
}

uint64_t cleave__sketch_bytes(const struct cleave__sketch *sketch)
{
    return sketch->counters ? 2 * (sketch->mask + 1) : 0;
}
