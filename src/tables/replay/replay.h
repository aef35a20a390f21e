/* A trace run through the router on real shards, and every answer compared with the unsharded
 * database's.
 *
 * Actors on the `threads` transport: a *dispatcher* reads the trace in order, plans (plan.h) and
 * hands transactions out as their order allows (order.h); *clients* run them (client.h); the
 * *reference* runs the same transactions, one after the other, on the unsharded database. Clients
 * and the reference block while a store works, so there are as many threads as of them.
 *
 * A transaction whose statement fails is rolled back on every shard and counted as refused; it must
 * fail on the unsharded database too, and one that fails on one side alone is a difference.
 *
 * Right means: each statement's answer is the reference's (digest.h), the transactions that had
 * more than one shard take part are those that counting says (compare/count.h), and at the end the
 * shards hold the reference's rows, each where the lookup table says (audit.h). */
#ifndef CLEAVE_TABLES_REPLAY_REPLAY_H
#define CLEAVE_TABLES_REPLAY_REPLAY_H

#include "cleave/progress.h"
#include "tables/replay/world.h"
#include "tables/source/trace.h"

/* Where transactions come from: CLEAVE_END after the last; valid until the next call. Called from
 * one thread at a time. */
struct cleave_replay_source {
    enum cleave_status (*next)(void *context, struct cleave_trace_transaction *out,
                               struct cleave_error *error);
    void *context;
};

struct cleave_shift_result { /* of a repartition */
    uint32_t pieces, moves;  /* that moved in this run; in so many switches */
    uint64_t rows;           /* that were put where they had not been */
    uint64_t staged, caught; /* rows written to staging; of them again, by catching up */
    uint64_t rounds, again;  /* of catching up; moves begun anew */
    uint64_t held;           /* transactions that had to wait */
    double longest_hold_ms, seconds;
    bool whole; /* every piece has moved */
};

/* All zeroes is a good start, but for the first three. Borrowed. */
struct cleave_replay_options {
    const struct cleave_lookup *lookup;
    const char *const *urls; /* [shards] */
    struct cleave_replay_source source;
    const char *reference;   /* URL of the unsharded database; NULL: nothing is compared */
    const char *coordinator; /* letters, digits, "_", at most 40; NULL: "replay" */
    uint32_t clients;        /* 0: 8 */
    uint64_t limit;          /* transactions to read; 0: all */
    double rate;             /* transactions a second at most; 0: as fast as can be */
    uint64_t seed;
    bool unordered;    /* conflicting transactions side by side: nothing can be compared */
    double patience_s; /* for a shard that is gone; 0: 30 */
    struct cleave_metrics *metrics; /* counts there while it runs; NULL: nowhere */
    /* Live repartition (shift.h): from `lookup` to this one while transactions run. `urls` are as
     * many as the larger has shards. It begins when `repartition_at` transactions were read, or at
     * the source's end; the run ends when all has moved. Transactions that cannot be planned under
     * both are refused. */
    const struct cleave_lookup *repartition;
    const char *lookup_name, *repartition_name; /* files, for the command that goes on; or NULL */
    uint64_t repartition_at;
    uint32_t pieces;                /* by key, a key map; 0: 64 */
    uint32_t batch_rows, move_rows; /* a copying transaction's, a switch's, about; 0: 2000, 4000 */
    const struct cleave_progress *progress;
    /* A refused transaction is told as it comes, also one that fails on both sides (or on the
     * shards, when nothing is compared); may be NULL. From another thread. */
    void (*refused)(void *context, uint64_t number, const char *why);
    void *refused_context;
    /* For tests: after a transaction was committed; and points within commits (world.h). */
    void (*acknowledged)(void *context, uint64_t number);
    void (*at)(void *context, const char *point);
    void *test_context;
    uint32_t shift_plant; /* enum cleave__shift_plant */
};

struct cleave_replay_counts {
    uint64_t transactions, distributed, read_only_distributed, write_distributed, parts;
};

enum { CLEAVE_REPLAY_TOLD = 5 };

struct cleave_replay_result {
    uint64_t read, replayed, refused, empty; /* read = replayed + refused + empty */
    uint64_t failed;       /* of those refused: a statement failed on the shards */
    uint64_t failed_alone; /* on one side alone, this or the other: among `different` */
    uint64_t statements;   /* of those replayed */
    struct cleave_replay_counts counted, predicted;
    uint64_t two_phase;        /* transactions committed in two phases */
    uint64_t prepared;         /* parts prepared for them */
    uint64_t retries, unknown; /* begun anew (a shard lost, another in the way); outcomes that had
                                  to be found out */
    uint64_t compared, different, lost; /* statements; lost: their answers went down */
    char differences[CLEAVE_REPLAY_TOLD][300];
    uint64_t *shard_transactions; /* [shards]: that it took part in; freed by _result_free */
    double seconds, tx_per_s, p50_ms, p99_ms;
    struct cleave_shift_result shift;
    struct cleave_replay_counts phase[3]; /* counted before, during and after the repartition */
    uint32_t recovered_committed, recovered_rolled_back, foreign; /* by the sweep before */
};

/* Begins and ends with a recovery sweep. After CLEAVE_INTERRUPTED and errors too every transaction
 * is either whole on its shards or not there, or waits for cleave__recover if a shard is gone. */
enum cleave_status cleave__replay(const struct cleave_replay_options *options,
                                  struct cleave_replay_result *out, struct cleave_error *error);
void cleave__replay_result_free(struct cleave_replay_result *result);
/* Counted = predicted, and no answer differs. */
bool cleave__replay_right(const struct cleave_replay_result *result);

#endif
