/* From a graph to the hypergraph that placers divide.
 *
 * `edges`: a net of two users for each pair that is tied, both ways counting once, of weight 1; to
 * cut few is to have few hops. `traversals`: a net for each query, of the users it reads; a shard
 * that a net touches besides the first is a remote request of the batched executor, so that km1 is
 * exactly what that executor pays on those queries. */
#ifndef CLEAVE_GRAPH_SHAPE_SHAPE_H
#define CLEAVE_GRAPH_SHAPE_SHAPE_H

#include "cleave/hypergraph.h"
#include "cleave/progress.h"
#include "graph/query/query.h"

enum cleave__graph_shape { CLEAVE__SHAPE_EDGES, CLEAVE__SHAPE_TRAVERSALS };

/* What a user weighs; several at once are several constraints. */
enum cleave__graph_balance {
    CLEAVE__BALANCE_VERTICES = 1, /* one */
    CLEAVE__BALANCE_EDGES = 2,    /* the edges it keeps */
    CLEAVE__BALANCE_READS = 4,    /* how often queries read it */
};

/* reads[v]: how many of the queries (that of `query` from each of `source` [sources]) read user v,
 * a query reading the users nearer than its hops. `reads` is [vertices], overwritten. O(edges
 * read). */
enum cleave_status cleave__graph_reads(const struct cleave__graph *graph,
                                       const struct cleave__query *query, const uint32_t *source,
                                       uint32_t sources, uint64_t *reads,
                                       const struct cleave_progress *progress,
                                       struct cleave_error *error);

/* `balance`: a set of the above, its members the weights in that order; `reads` may be NULL where
 * they are not asked for. The caller frees. Net weights are 1; traversals that read the same users
 * are one net with their number as weight. */
enum cleave_status cleave__graph_shape_edges(const struct cleave__graph *graph, unsigned balance,
                                             const uint64_t *reads, struct cleave_hypergraph **out,
                                             struct cleave_error *error);
/* CLEAVE_LIMIT when the queries read more than 2^31 users in all: ask for fewer. */
enum cleave_status
cleave__graph_shape_traversals(const struct cleave__graph *graph, const struct cleave__query *query,
                               const uint32_t *source, uint32_t sources, unsigned balance,
                               const uint64_t *reads, const struct cleave_progress *progress,
                               struct cleave_hypergraph **out, struct cleave_error *error);

/* Weights of users as above, vertex-major; NULL when memory is out. `*weights`: how many each. */
int64_t *cleave__graph_weigh(const struct cleave__graph *graph, unsigned balance,
                             const uint64_t *reads, uint32_t *weights);

/* The users that a query reads, the source first; `seen` [vertices] holds marks below `mark`.
 * Returns how many are in `out` [vertices]. */
uint32_t cleave__graph_read_set(const struct cleave__graph *graph,
                                const struct cleave__query *query, uint32_t source, uint32_t *seen,
                                uint32_t mark, uint32_t *out);

#endif
