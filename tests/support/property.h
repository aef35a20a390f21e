/* Property tests with shrinking. A property draws all its randomness from a source; when it fails,
 * the recorded draws are shrunk (dropped, zeroed, halved) while it keeps failing, and the smallest
 * failing run is repeated with `source->verbose` set, so that the property can print its input. */
#ifndef CLEAVE_TESTS_PROPERTY_H
#define CLEAVE_TESTS_PROPERTY_H

#include <stdbool.h>
#include <stdint.h>

struct property_source {
    bool verbose; /* print what you built: this is the smallest failing case */
    struct property_state *state;
};

/* Uniform in [0, bound), bound >= 1; smaller is simpler. While shrinking, past the recorded draws
 * it gives 0. */
uint64_t property_draw(struct property_source *source, uint64_t bound);
int64_t property_between(struct property_source *source, int64_t low, int64_t high);

typedef bool (*property_check)(struct property_source *source, void *context);

/* Runs `cases` cases (times CLEAVE_PROPERTY_SCALE from the environment, if set) from a seed that is
 * CLEAVE_PROPERTY_SEED or fixed by `name`. True when all held; else prints name, seed and case. */
bool property_run(const char *name, property_check check, void *context, unsigned cases);

#endif
