/* Queries and objects for the tests of matchers: few places and few words, so that they meet. */
#ifndef CLEAVE_TESTS_STREAM_INDEX_RANDOM_WORLD_H
#define CLEAVE_TESTS_STREAM_INDEX_RANDOM_WORLD_H

#include "stream/index/matcher.h"
#include "support/property.h"

/* What a case is like, drawn once. */
struct random_world {
    struct cleave__space space;
    uint32_t vocabulary; /* of terms */
    uint32_t stride;     /* between terms' numbers */
    uint32_t most_terms; /* of a query, and twice as many of an object */
    uint32_t places;     /* distinct coordinates a side; 0: any */
    bool filters, ends, circles;
};

struct random_world random_world(struct property_source *source);

/* Arrays are in `arena`. */
struct cleave__query random_query(struct property_source *source, const struct random_world *world,
                                  struct cleave_arena *arena, uint64_t id);
struct cleave__object random_object(struct property_source *source,
                                    const struct random_world *world, struct cleave_arena *arena);

#endif
