/* Placing a database's tables from its schema and query log, with a person in the loop.
 *
 * A session holds one case (database and workload), one set of decisions, and the placements made
 * so far. cleave_session_iterate makes the next placement; between two, any decision may be changed
 * or undone. The command (`cleave tables refine`) and the web page are both thin layers over this.
 * One thread at a time uses a session. */
#ifndef CLEAVE_TABLES_H
#define CLEAVE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "cleave/progress.h"
#include "cleave/status.h"

/* Zero-initialise. Strings are borrowed for the call. Give `benchmark`, or `traces` with at most
 * one of `schema` and `catalog` (neither: tables are inferred from the statements). */
struct cleave_session_source {
    const char *benchmark;                     /* tpcc, tatp, epinions */
    const char *const (*benchmark_options)[2]; /* name, value */
    uint32_t benchmark_option_count;
    uint64_t transactions, held_out; /* of a benchmark; 0: 1000 each */
    const char *schema;              /* DDL file */
    const char *catalog;             /* libpq connection string */
    const char *sizes, *stats;       /* files, see docs/sizes.md */
    const char *const *traces;
    uint32_t trace_count;
    double held_out_fraction; /* last share of the traces' transactions that only judges */
    uint32_t shards;          /* 1..1024 */
    uint64_t seed;
    const struct cleave_progress *progress; /* NULL, or valid for the session's life */
};

struct cleave_session;

CLEAVE_API enum cleave_status cleave_session_open(const struct cleave_session_source *source,
                                                  struct cleave_session **out,
                                                  struct cleave_error *error);
CLEAVE_API void cleave_session_close(struct cleave_session *session);

/* ---- decisions; each can be undone ---- */

/* Rows of `table` whose `column` holds `value` (as SQL text); column NULL: the whole table. */
struct cleave_rows {
    const char *table, *column, *value;
};

CLEAVE_API enum cleave_status cleave_session_pin(struct cleave_session *session,
                                                 const struct cleave_rows *rows, uint32_t shard,
                                                 struct cleave_error *error);
CLEAVE_API enum cleave_status cleave_session_together(struct cleave_session *session,
                                                      const struct cleave_rows *a,
                                                      const struct cleave_rows *b,
                                                      struct cleave_error *error);
CLEAVE_API enum cleave_status cleave_session_apart(struct cleave_session *session,
                                                   const struct cleave_rows *a,
                                                   const struct cleave_rows *b,
                                                   struct cleave_error *error);
/* Lets the rows of one key value be divided over shards; takes that back. */
CLEAVE_API enum cleave_status cleave_session_split(struct cleave_session *session,
                                                   const struct cleave_rows *rows,
                                                   struct cleave_error *error);
CLEAVE_API enum cleave_status cleave_session_merge(struct cleave_session *session,
                                                   const struct cleave_rows *rows,
                                                   struct cleave_error *error);
enum cleave_replication {
    CLEAVE_REPLICATION_AUTO,
    CLEAVE_REPLICATION_ALWAYS,
    CLEAVE_REPLICATION_NEVER
};
CLEAVE_API enum cleave_status cleave_session_replicate(struct cleave_session *session,
                                                       const char *table,
                                                       enum cleave_replication mode,
                                                       struct cleave_error *error);
/* Partition `table` by `column`; NULL: chosen from the workload. */
CLEAVE_API enum cleave_status cleave_session_key(struct cleave_session *session, const char *table,
                                                 const char *column, struct cleave_error *error);
/* Weights of the two balances, 0 leaves one out; both also weigh the skew factor. */
CLEAVE_API enum cleave_status cleave_session_weights(struct cleave_session *session, double size,
                                                     double access, struct cleave_error *error);
/* What a node can take; 0: no limit. `share` 0: an equal share. */
CLEAVE_API enum cleave_status cleave_session_capacity(struct cleave_session *session,
                                                      uint32_t shard, double storage,
                                                      double accesses, double network, double share,
                                                      struct cleave_error *error);
CLEAVE_API enum cleave_status cleave_session_epsilon(struct cleave_session *session, double epsilon,
                                                     bool strict, struct cleave_error *error);
/* How refinement goes on: iterations allowed in all, groups split in one, their ranking. */
CLEAVE_API enum cleave_status cleave_session_budget(struct cleave_session *session,
                                                    uint32_t iterations, uint32_t split_top,
                                                    bool rank_by_ratio, struct cleave_error *error);
/* Takes back the last decision; CLEAVE_NOT_FOUND when there is none. */
CLEAVE_API enum cleave_status cleave_session_undo(struct cleave_session *session,
                                                  struct cleave_error *error);

/* ---- placements ---- */

struct cleave_session_result {
    uint32_t iteration; /* 1.. */
    uint64_t train_transactions, train_distributed;
    uint64_t held_out_transactions, held_out_distributed;
    double skew_factor, imbalance_size, imbalance_access;
    bool feasible, balanced;
    const char *infeasible; /* the limit that is passed, or "" */
    uint64_t lookup_bytes;
    uint64_t moved_rows; /* estimated rows on another shard than in the iteration before */
    const char *action;  /* what this iteration did, in words */
    const char *notes;   /* lines of words */
    bool good;           /* feasible, and balanced where that was asked: nothing left to do */
};

/* Makes the next placement: anew after a decision, else by refining the last one. */
CLEAVE_API enum cleave_status cleave_session_iterate(struct cleave_session *session,
                                                     struct cleave_session_result *result,
                                                     struct cleave_error *error);
/* Iterates until the result is good, nothing can be refined, or the budget is spent. `each` (may be
 * NULL) sees every result; it returns false to stop. The best placement stays the session's. */
CLEAVE_API enum cleave_status
cleave_session_run(struct cleave_session *session,
                   bool (*each)(void *context, const struct cleave_session_result *result),
                   void *context, struct cleave_error *error);
/* Result of iteration i (0..); false past the last. Strings live as long as the session. */
CLEAVE_API bool cleave_session_result_at(const struct cleave_session *session, uint32_t i,
                                         struct cleave_session_result *result);
/* The best so far: feasible first, then (when strict) balanced, then fewest distributed. */
CLEAVE_API bool cleave_session_best(const struct cleave_session *session,
                                    struct cleave_session_result *result);

/* ---- what comes out, of the best placement ---- */

CLEAVE_API enum cleave_status cleave_session_write_lookup(const struct cleave_session *session,
                                                          const char *path,
                                                          struct cleave_error *error);
/* The placement in words; malloc'd, the caller frees. */
CLEAVE_API enum cleave_status cleave_session_explain(const struct cleave_session *session,
                                                     char **text, struct cleave_error *error);
/* The decisions as a constraints file that reproduces the result (docs/steering.md). */
CLEAVE_API enum cleave_status cleave_session_save(const struct cleave_session *session,
                                                  const char *path, struct cleave_error *error);
/* Replaces all decisions by those of a file; one step to undo. */
CLEAVE_API enum cleave_status cleave_session_load(struct cleave_session *session, const char *path,
                                                  struct cleave_error *error);

#endif
