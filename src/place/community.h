/* Who belongs together: as the caller says, or as modularity finds. Not for other rooms. */
#ifndef CLEAVE_PLACE_COMMUNITY_H
#define CLEAVE_PLACE_COMMUNITY_H

#include "place/placer.h"

/* community[vertices] gets numbers below *count: the request's own, else those found by Leiden's
 * method on the graph of two-pin nets, or on that of vertices and nets where larger ones are among
 * them (nets past 1,000 pins left out). CLEAVE_BAD_ARGUMENT for a number that is not below the
 * vertices'. O(pins) a level of aggregation. */
enum cleave_status cleave__community_of(const struct cleave__request *request, uint32_t *community,
                                        uint32_t *count, struct cleave_error *error);

#endif
