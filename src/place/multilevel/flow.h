/* Refinement by maximum flows: pairs of adjacent blocks are cut anew, near their border, with the
 * least cut there is that keeps the limits. It finds what single moves cannot: many vertices change
 * sides at once. (Sanders and Schulz 2011; Heuer, Sanders and Schlag 2019; the balance after Hamann
 * and Strasser 2018 and Gottesbueren, Hamann and Wagner 2019.) */
#ifndef CLEAVE_PLACE_MULTILEVEL_FLOW_H
#define CLEAVE_PLACE_MULTILEVEL_FLOW_H

#include "base/pool.h"
#include "place/multilevel/search.h"

/* Zero-initialise, then set what matters; 0 stands for the default in brackets. */
struct cleave__flow_options {
    struct cleave__pool *pool; /* pairs without a block in common are cut at the same time; NULL:
                                  by the caller alone, with the same outcome */
    uint32_t rounds;           /* most times that any pair is looked at [10] */
    uint32_t alpha;            /* the region may be so large that a block which got all of it would
                                  weigh its quota and `alpha` times its slack [16] */
    uint32_t distance;         /* most nets between the region's vertices and the cut [4] */
    uint64_t pins;             /* most pins of the region's vertices, each side [1 << 18] */
    uint64_t effort;           /* pins looked at in the whole call; then it ends [no limit] */
};

/* Never ends worse than it began; fixed vertices and vertices to be kept apart stay. Needs no
 * affinities. CLEAVE_OK, CLEAVE_NO_MEMORY or CLEAVE_INTERRUPTED; `state` is sound after each.
 * Memory: O(vertices + nets + pins of a region) for each thread. */
enum cleave_status cleave__refine_flow(struct cleave__search *search, struct cleave__state *state,
                                       const struct cleave__flow_options *options);

#endif
