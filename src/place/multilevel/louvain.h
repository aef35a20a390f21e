/* Communities of a weighted graph by modularity: local moving and aggregation (Louvain: Blondel et
 * al. 2008), the moving driven by a queue and each community refined before it is aggregated
 * (Leiden: Traag, Waltman and van Eck 2019).
 *
 * All arithmetic is on integers, so that a seed gives the same communities on every machine. */
#ifndef CLEAVE_PLACE_MULTILEVEL_LOUVAIN_H
#define CLEAVE_PLACE_MULTILEVEL_LOUVAIN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/random.h"
#include "cleave/status.h"

/* Undirected: an edge is listed at both ends with one weight, a loop twice at its node. Parallel
 * edges are allowed. */
struct cleave__weighted_graph {
    uint32_t nodes;
    const uint64_t *offset;    /* [nodes + 1] */
    const uint32_t *neighbour; /* [offset[nodes]] */
    const int64_t *weight;     /* [offset[nodes]], >= 0; NULL: by `factor` */
    const double *factor; /* [nodes], >= 0: an edge weighs its ends' product, rounded; NULL: 1 */
};

enum { CLEAVE__RESOLUTION_ONE = 1000 };

struct cleave__louvain_options {
    uint32_t resolution; /* in thousandths; more gives smaller communities; 0: 1000 */
    uint32_t visits;     /* a node is looked at so often on a level, on average; 0: no bound */
    uint32_t rounds;     /* times all is done anew from the communities found; 0: once */
    bool refine;         /* Leiden's refinement; else communities are aggregated as they are */
    const volatile sig_atomic_t *stop; /* may be NULL */
};

/* community[nodes] gets numbers 0 .. *count - 1, by first node. Each community is connected, and
 * modularity is never below that of nodes on their own. Nodes without edges stay alone.
 *
 * CLEAVE_LIMIT when the sum of weights times the resolution is past 63 bits, CLEAVE_NO_MEMORY,
 * CLEAVE_INTERRUPTED; without a message. O(edges) a level with `visits`; memory O(nodes + edges)
 * from the arena, given back. */
enum cleave_status cleave__louvain(struct cleave_arena *arena, struct cleave_random *random,
                                   const struct cleave__weighted_graph *graph,
                                   const struct cleave__louvain_options *options,
                                   uint32_t *community, uint32_t *count);

/* Modularity of communities numbered below `count`, -resolution .. 1; 0 for a graph without weight.
 * `total` [count] is scratch. O(nodes + edges). */
double cleave__modularity(const struct cleave__weighted_graph *graph, const uint32_t *community,
                          uint32_t count, uint32_t resolution, double *total);

#endif
