/* Placing the users of a graph: every placer of src/place on the graph's edges, the partitioner on
 * its traversals too, graphshard lab's hash, and placements that a file holds. */
#ifndef CLEAVE_GRAPH_PLACE_PLACE_H
#define CLEAVE_GRAPH_PLACE_PLACE_H

#include "cleave/partition.h"
#include "graph/shape/shape.h"

/* All pointers are borrowed. Zero-initialise, then set what matters. */
struct cleave__graph_place_request {
    const struct cleave__graph *graph;
    uint32_t shards;
    unsigned balance; /* a set of enum cleave__graph_balance; 0: vertices */
    double epsilon;   /* allowed overweight of a shard */
    const struct cleave__query
        *query;             /* what queries ask, the source apart: for reads, traversals */
    const uint32_t *source; /* [sources]: of the queries to place by */
    uint32_t sources;
    enum cleave_preset preset;
    uint32_t starts; /* independent tries of the partitioner, the best kept; 0: as it sees fit */
    uint32_t threads;
    uint64_t seed;
    const struct cleave_progress *progress;
};

struct cleave__graph_placed {
    bool balanced;  /* every shard within epsilon of its share of every weight */
    double seconds; /* making the hypergraph included */
};

struct cleave__graph_placement {
    const char *name, *summary;
};

/* Index 0.. until NULL. */
const struct cleave__graph_placement *cleave__graph_placement_at(uint32_t index);
bool cleave__graph_placement_exists(const char *name);

/* Fills owner[vertices] by the placement of that name, or, for "@FILE", from the file
 * (graph/source/read.h). `placed` may be NULL. CLEAVE_NOT_FOUND for a name that is not there. */
enum cleave_status cleave__graph_place(const struct cleave__graph_place_request *request,
                                       const char *name, uint32_t *owner,
                                       struct cleave__graph_placed *placed,
                                       struct cleave_error *error);

/* The hypergraph that the placement of that name divides: traversals for "traversals", else edges.
 * The caller frees. */
enum cleave_status cleave__graph_place_shape(const struct cleave__graph_place_request *request,
                                             const char *name, struct cleave_hypergraph **out,
                                             struct cleave_error *error);

#endif
