/* Many placements and executors on one graph and one workload, every answer checked.
 *
 * Placements are made from some queries and judged by others: `train` is drawn by another seed than
 * `queries` (both are every user, when that many are asked for). */
#ifndef CLEAVE_GRAPH_COMPARE_COMPARE_H
#define CLEAVE_GRAPH_COMPARE_COMPARE_H

#include "graph/place/place.h"
#include "graph/route/executor.h"

struct cleave__graph_plan {
    const char *const *placements; /* names, or @FILE; [placement_count] */
    uint32_t placement_count;
    const struct cleave__executor *const *executors; /* [executor_count] */
    uint32_t executor_count;
    struct cleave__query query; /* the source apart */
    uint32_t queries, train;    /* how many to judge by, to place by */
    uint32_t shards;
    unsigned balance;
    double epsilon;
    enum cleave_preset preset;
    uint32_t starts, threads;
    uint64_t seed;
    const struct cleave_progress *progress;
};

struct cleave__graph_row {
    const char *placement, *executor; /* the plan's own */
    uint32_t queries;
    struct cleave__graph_cost cost; /* of all queries */
    uint64_t answers;
    double imbalance_vertices, imbalance_edges, imbalance_reads; /* most over mean, less 1 */
    double cut;      /* share of edges whose ends lie on different shards */
    bool balanced;   /* as asked of the placement */
    double seconds;  /* to place */
    bool verified;   /* every answer is right by the oracle */
    char wrong[200]; /* the first that is not, and why */
};

/* Fills row[placement_count * executor_count], executors within placements. An answer that is wrong
 * is no error: see `verified`. O(queries * edges read * rows). */
enum cleave_status cleave__graph_compare(const struct cleave__graph *graph,
                                         const struct cleave__graph_plan *plan,
                                         struct cleave__graph_row *row, struct cleave_error *error);

#endif
