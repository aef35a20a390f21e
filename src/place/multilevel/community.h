/* Communities of a hypergraph: groups of vertices that nets tie to each other more than chance
 * would, found before coarsening, which may then keep to them. */
#ifndef CLEAVE_PLACE_MULTILEVEL_COMMUNITY_H
#define CLEAVE_PLACE_MULTILEVEL_COMMUNITY_H

#include "place/multilevel/search.h"

/* community[vertices] gets numbers 0 .. *count - 1, by first vertex. Vertices without a counted net
 * (one of positive weight and 2 to 1000 pins) share one community; every other community is
 * connected by counted nets. CLEAVE_NO_MEMORY or CLEAVE_INTERRUPTED. O(pins) a level of
 * aggregation, of which there are few; memory O(pins), given back. */
enum cleave_status cleave__communities(struct cleave__search *search,
                                       const struct cleave__level *level, uint32_t *community,
                                       uint32_t *count);

#endif
