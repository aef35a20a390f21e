/* The partitioner, usable alone: a hypergraph in, a block for every vertex out.
 *
 * Objectives, each a sum over the nets that touch more than one block: CUT (weight), KM1 (weight *
 * (blocks touched - 1)) and SOED, the sum of external degrees (weight * blocks touched). */
#ifndef CLEAVE_PARTITION_H
#define CLEAVE_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "cleave/hypergraph.h"
#include "cleave/progress.h"

enum cleave_objective { CLEAVE_CUT, CLEAVE_KM1, CLEAVE_SOED };

/* How much work an answer is worth. */
enum cleave_preset { CLEAVE_DEFAULT, CLEAVE_FAST, CLEAVE_QUALITY };

/* Zero-initialise, then set what matters. All pointers are borrowed for the call. */
struct cleave_partition_options {
    uint32_t blocks;        /* k, 1..; required */
    double epsilon;         /* allowed overweight of a block, each constraint; 0.03 is usual */
    const double *epsilons; /* [W], per constraint; NULL: `epsilon` for all */
    /* [W]: allowed underweight of a block, 0..1, each constraint: it carries at least
     * (1 - underweight) * floor(share * total). NULL: no lower bound. */
    const double *underweight;
    enum cleave_objective objective;
    enum cleave_preset preset;
    const char *placer;         /* registry name (cleave_placer_at); NULL: multilevel */
    const double *target_share; /* [blocks], positive, any scale; NULL: equal shares */
    const int32_t *fixed;       /* [vertices]: block or CLEAVE_FREE; NULL: none */
    const uint32_t *warm_start; /* [vertices]: an earlier answer to start from; NULL: none */
    bool warm_refine_only;      /* with warm_start: refine it, no fresh start beside it */
    int64_t migration_budget;   /* with warm_start: most weight (first constraint) that may leave
                                   its old block; 0: no limit */
    const uint32_t *together; /* [vertices]: vertices of one non-zero number stay together; NULL */
    const uint32_t (*apart)[2]; /* pairs kept in different blocks */
    uint32_t apart_count;
    uint32_t starts;  /* independent tries, best kept; 0: the preset's own number */
    uint32_t threads; /* that work at the same time, the caller's included; 0: 1. Same answer */
    uint64_t seed;
    const struct cleave_progress *progress; /* NULL: silent, not stoppable */
    /* [vertices]: numbers below `vertices`, for the placers "community", "balanced" and
     * "balanced-split"; NULL: found by modularity. */
    const uint32_t *community;
};

struct cleave_partition_result {
    int64_t cut, km1, soed;
    double imbalance[CLEAVE_WEIGHTS_MAX]; /* max over blocks of weight / (share * total) - 1 */
    bool balanced; /* every block within (1 + epsilon) * ceil(share * total), each constraint, and
                      none under its lower bound */
    double seconds;
};

/* Fills block[vertices]. The same seed gives the same answer on any machine, with
 * any number of threads. When no placement
 * found keeps every block within its limit, `block` holds the nearest one, `result->balanced` is
 * false and the status is CLEAVE_UNSATISFIABLE with a message that says what is over by how much.
 * `result` may be NULL. Never an empty block when blocks <= vertices that are free to move. */
CLEAVE_API enum cleave_status cleave_partition(const struct cleave_hypergraph *hypergraph,
                                               const struct cleave_partition_options *options,
                                               uint32_t *block,
                                               struct cleave_partition_result *result,
                                               struct cleave_error *error);

/* Independent recount of a placement: cut, km1, imbalance, balanced. O(pins). */
CLEAVE_API enum cleave_status
cleave_partition_measure(const struct cleave_hypergraph *hypergraph,
                         const struct cleave_partition_options *options, const uint32_t *block,
                         struct cleave_partition_result *result, struct cleave_error *error);

/* One row a placer, from the registry; index 0.. until NULL is returned. */
struct cleave_placer_info {
    const char *name, *summary;
};
CLEAVE_API const struct cleave_placer_info *cleave_placer_at(uint32_t index);

#endif
