/* What the multilevel placer works on: the request's vertices merged to units (the fixed vertices
 * of a block are one, so is a group that stays together), as a working level, with the target. */
#ifndef CLEAVE_PLACE_MULTILEVEL_PROBLEM_H
#define CLEAVE_PLACE_MULTILEVEL_PROBLEM_H

#include "place/multilevel/state.h"
#include "place/placer.h"

struct cleave__problem {
    const struct cleave__request *request;
    const struct cleave__level *level;
    struct cleave__level free_level; /* the same without a migration budget, for fresh starts */
    uint32_t *unit;  /* [hypergraph vertices]: vertex of `level`; NULL: the same number */
    uint32_t giants; /* units too heavy for any block, at most blocks - 1 */
    uint32_t *least; /* [blocks] */
    struct cleave__target target;
};

/* All memory is the arena's. False when there is none. O(pins). */
bool cleave__problem_init(struct cleave__problem *problem, struct cleave_arena *arena,
                          const struct cleave__request *request);

#endif
