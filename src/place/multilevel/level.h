/* The working hypergraph of the multilevel partitioner: one level of a hierarchy.
 *
 * Compressed rows both ways, as in the public hypergraph, plus what must travel with a vertex when
 * it is merged: its fixed block, its home (migration budget) and the vertices it must be kept apart
 * from. Pins of a net are distinct; after the first level, nets have two or more, and no two nets
 * the same (their weights are added). All memory is the caller's arena's. */
#ifndef CLEAVE_PLACE_MULTILEVEL_LEVEL_H
#define CLEAVE_PLACE_MULTILEVEL_LEVEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "cleave/hypergraph.h"

enum { CLEAVE__NONE = UINT32_MAX };

struct cleave__level {
    uint32_t vertices, nets, weights;
    const uint64_t *net_offset;
    const uint32_t *pin;
    const uint64_t *vertex_offset;
    const uint32_t *incident;
    const int64_t *weight; /* [vertices * weights] */
    const int64_t *net_weight;
    const int32_t *fixed;         /* [vertices]: block or CLEAVE_FREE */
    const uint32_t *home;         /* [vertices]: where staying costs nothing; NULL: no budget */
    const int64_t *home_cost;     /* [vertices]: spent from the budget when elsewhere */
    const uint32_t *apart_offset; /* [vertices + 1]; NULL: no such pairs */
    const uint32_t *apart;        /* symmetric lists */
};

/* Merges vertices: cluster[v] < clusters, every number used. Fixed parts of a cluster agree. The
 * transpose (vertex_offset, incident) goes to an arena that may be another one. NULL when memory is
 * out. O(pins). */
struct cleave__level *cleave__level_contract(struct cleave_arena *arena,
                                             struct cleave_arena *transpose,
                                             const struct cleave__level *fine,
                                             const uint32_t *cluster, uint32_t clusters);

/* Works vertex_offset and incident out of the nets. False when memory is out. O(pins). */
bool cleave__level_transpose(struct cleave__level *level, struct cleave_arena *arena);

/* The part of `whole` with side[v] == `which`; `vertex` [new vertices] leads back. Nets that leave
 * the part keep their pins inside when `split`, else are dropped (a net cut once costs no more
 * under the cut objective). NULL when memory is out. */
const struct cleave__level *cleave__level_extract(struct cleave_arena *arena,
                                                  const struct cleave__level *whole,
                                                  const uint32_t *side, uint32_t which, bool split,
                                                  uint32_t **vertex);

/* Tests every invariant above; false with an assertion-friendly reason in *why. O(pins) memory. */
bool cleave__level_check(const struct cleave__level *level, const char **why);

#endif
