/* Copies of chosen vertices in further blocks of a partition.
 *
 * A vertex lives in block[v]: that is its first copy. A chosen vertex may have further copies, at
 * most one a block. A net is served by any one copy of each of its pins: it needs the fewest blocks
 * that hold a copy of every pin, and costs what a net over that many blocks does (CUT: its weight
 * when more than one; KM1: weight * (blocks - 1); SOED: weight * blocks when more than one). Each
 * further copy costs its vertex's write cost besides: what must be written in two places is written
 * twice. So a transaction that writes a copied vertex is charged as a reader and for the write: an
 * upper bound on the blocks that it touches.
 *
 * The fewest blocks are found exactly when at most 16 blocks are in question, after those that hold
 * a pin's only copy and whatever these serve are put aside; past that, by the block that serves
 * most pins again and again (ties: the lowest number). */
#ifndef CLEAVE_REPLICATE_H
#define CLEAVE_REPLICATE_H

#include <stdint.h>

#include "cleave/hypergraph.h"
#include "cleave/partition.h"
#include "cleave/progress.h"

/* Zero-initialise, then set what matters. All pointers are borrowed for the call. */
struct cleave_replicate_options {
    uint32_t blocks; /* k, 1 to 1024; required */
    enum cleave_objective objective;
    const uint32_t *vertices;  /* [count], distinct: may have further copies */
    const int64_t *write_cost; /* [count], >= 0: of each further copy; NULL: none costs anything */
    uint32_t count;
    const int64_t *budget;       /* [W], >= 0: weight of all further copies together; NULL: any */
    const int64_t *block_budget; /* [blocks * W], >= 0: of those in one block; NULL: any */
    const struct cleave_progress *progress; /* NULL: silent, not stoppable */
};

/* The blocks of chosen vertex i (vertices[i]): block[offset[i]] .. block[offset[i + 1]), rising,
 * the vertex's own among them. */
struct cleave_copies {
    uint32_t count;
    uint64_t *offset; /* [count + 1] */
    uint32_t *block;
};

struct cleave_replicate_result {
    int64_t before;  /* the objective with no further copy */
    int64_t nets;    /* the objective with them */
    int64_t writes;  /* write costs of further copies */
    int64_t saved;   /* before - nets - writes; never negative after cleave_replicate */
    uint64_t copies; /* further copies */
    int64_t added[CLEAVE_WEIGHTS_MAX]; /* their weight, each constraint */
};

/* Picks further copies so that nets + writes is low, within the budgets. Greedy by saving (for the
 * weight it takes, where there is a budget), then by groups of pins that keep one net in a block,
 * then copies that save nothing are dropped; in that order until nothing changes. The same answer
 * on any machine. `*out` is the caller's, to free with cleave_copies_free; `result` may be NULL.
 * CLEAVE_LIMIT: write costs that could sum past 2^60. */
CLEAVE_API enum cleave_status cleave_replicate(const struct cleave_hypergraph *hypergraph,
                                               const struct cleave_replicate_options *options,
                                               const uint32_t *block, struct cleave_copies *out,
                                               struct cleave_replicate_result *result,
                                               struct cleave_error *error);

/* Independent recount of what copies cost. Budgets are not looked at. CLEAVE_BAD_ARGUMENT: copies
 * that do not fit the chosen vertices and blocks. */
CLEAVE_API enum cleave_status
cleave_replicate_measure(const struct cleave_hypergraph *hypergraph,
                         const struct cleave_replicate_options *options, const uint32_t *block,
                         const struct cleave_copies *copies, struct cleave_replicate_result *result,
                         struct cleave_error *error);

/* Divides and copies at once: where a vertex is cheap to copy, its nets need not be kept together
 * for it. Partitions without the pins of chosen vertices that are written less than read (write
 * cost * blocks <= weight of their nets), moves these to their best blocks, and copies; where that
 * leaves copies wanting (budgets), partitions as it is and copies too, and keeps what costs less in
 * nets + writes. `partition` holds for the first copies alone: their balance, fixed vertices, and
 * so on; blocks, objective and progress are its own, those of `copying` are ignored. Returns and
 * fills block and `result` as cleave_partition does; `out` and `copied` also when the status is
 * CLEAVE_UNSATISFIABLE. */
CLEAVE_API enum cleave_status
cleave_replicate_partition(const struct cleave_hypergraph *hypergraph,
                           const struct cleave_partition_options *partition,
                           const struct cleave_replicate_options *copying, uint32_t *block,
                           struct cleave_partition_result *result, struct cleave_copies *out,
                           struct cleave_replicate_result *copied, struct cleave_error *error);

/* NULL is fine; leaves zeroes. */
CLEAVE_API void cleave_copies_free(struct cleave_copies *copies);

#endif
