/* A graph cut into shards: each holds its users' lists, degrees and labels, and nothing of others
 * but their numbers. The owner map is what a router knows.
 *
 * Invariants (cleave__sharded_check tells): every user is on the shard that owns it, at its place,
 * and on no other; its list is the whole graph's. */
#ifndef CLEAVE_GRAPH_ROUTE_SHARDED_H
#define CLEAVE_GRAPH_ROUTE_SHARDED_H

#include "graph/source/graph.h"

/* One shard. Targets are users' numbers in the whole graph. */
struct cleave__graph_shard {
    uint32_t users;
    uint32_t *user;   /* [users], rising: their numbers */
    uint64_t *offset; /* [users + 1] */
    uint32_t *target; /* [offset[users]] */
    uint32_t *label;  /* [users], or NULL */
};

struct cleave__sharded {
    uint32_t vertices, shards;
    uint32_t *owner; /* [vertices] */
    uint32_t *place; /* [vertices]: where in its shard */
    struct cleave__graph_shard *shard;
};

/* `owner` [vertices] is below `shards`, 1.. (the caller's duty); it is copied. O(vertices + edges).
 * The caller frees. */
enum cleave_status cleave__sharded_new(const struct cleave__graph *graph, uint32_t shards,
                                       const uint32_t *owner, struct cleave__sharded **out,
                                       struct cleave_error *error);
void cleave__sharded_free(struct cleave__sharded *sharded);
/* CLEAVE_CORRUPT with what is broken. O(vertices + edges). */
enum cleave_status cleave__sharded_check(const struct cleave__sharded *sharded,
                                         const struct cleave__graph *graph,
                                         struct cleave_error *error);

#endif
