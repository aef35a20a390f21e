/* Many schemes on one case, under one way of counting, each recounted by the oracle. */
#ifndef CLEAVE_TABLES_COMPARE_COMPARE_H
#define CLEAVE_TABLES_COMPARE_COMPARE_H

#include "tables/compare/case.h"
#include "tables/compare/count.h"
#include "tables/oracle/oracle.h"

/* What a placement is worth: the numbers that steering, comparing and the page all show. */
struct cleave_evaluation {
    struct cleave_count train, held_out;
    double *sizes;      /* [shards], see cleave__shard_sizes */
    double skew_factor; /* on the training part */
    double imbalance_size, imbalance_access;
    double bottleneck;      /* work of the busiest shard / work of all, unsharded = 1 */
    bool feasible;          /* within every node's capacities */
    const char *infeasible; /* which limit is passed, by how much; "" */
    size_t lookup_bytes;
};

/* Arrays live in `arena`. */
enum cleave_status cleave__evaluate(const struct cleave_case *kase,
                                    const struct cleave_steer *steer,
                                    const struct cleave_layout *layout,
                                    const struct cleave_lookup *lookup, struct cleave_arena *arena,
                                    struct cleave_evaluation *out, struct cleave_error *error);

struct cleave_scheme_result {
    const struct cleave_scheme *scheme;
    struct cleave_layout layout;
    struct cleave_lookup *lookup;
    struct cleave_evaluation evaluation;
    double seconds; /* to place; reading excluded */
    const char *notes;
};

struct cleave_comparison {
    struct cleave_arena arena;
    uint32_t result_count;
    struct cleave_scheme_result *results;
    uint64_t verified_transactions; /* recounted by the oracle, under every scheme */
    bool verified;                  /* all of those agree, and there is at least one */
    const char *disagreement;       /* the first that does not agree; "" */
};

/* Places and evaluates `schemes` [count]; recounts the raw transactions that the case kept. */
enum cleave_status cleave__compare(const struct cleave_case *kase,
                                   const struct cleave_scheme *const *schemes, uint32_t count,
                                   uint32_t shards, uint64_t seed, const struct cleave_steer *steer,
                                   const struct cleave_progress *progress,
                                   struct cleave_comparison *out, struct cleave_error *error);
void cleave__comparison_free(struct cleave_comparison *comparison);

#endif
