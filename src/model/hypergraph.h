/* Building a hypergraph without a second copy, for readers. */
#ifndef CLEAVE_MODEL_HYPERGRAPH_H
#define CLEAVE_MODEL_HYPERGRAPH_H

#include "cleave/hypergraph.h"

/* Takes over `draft`: malloc'd, its counts, net_offset and pin filled in, as are vertex_weight and
 * net_weight or NULL (all 1), each array malloc'd by itself; the other two are NULL. Drops repeated
 * pins and transposes. `*out` is `draft` itself; on failure it is freed. O(pins) time; memory
 * beyond the result: none. */
enum cleave_status cleave__hypergraph_adopt(struct cleave_hypergraph *draft,
                                            struct cleave_hypergraph **out,
                                            struct cleave_error *error);

#endif
