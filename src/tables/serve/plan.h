/* What a workload asks of each shard, transaction by transaction: the input of a simulation.
 *
 * The parts of a transaction are the shards that counting has it touch (compare/count.h), so that
 * a simulation runs as many distributed transactions as were counted. An access is work on every
 * shard that its box leads to; a read of a copied table on the transaction's first part. A read
 * that leads to several shards is gathered. */
#ifndef CLEAVE_TABLES_SERVE_PLAN_H
#define CLEAVE_TABLES_SERVE_PLAN_H

#include "tables/compare/count.h"

struct cleave_plan_part {
    uint32_t shard;
    uint32_t accesses; /* at least 1 */
};

struct cleave_plan {
    uint32_t shards;
    uint32_t transactions;
    CLEAVE_VECTOR(uint64_t) offsets; /* [transactions + 1] */
    CLEAVE_VECTOR(struct cleave_plan_part) parts;
    CLEAVE_VECTOR(bool) writes;      /* [transactions] */
    CLEAVE_VECTOR(uint32_t) gathers; /* [transactions]: reads of several shards */
};

/* All zeroes, but for `shards`, is a plan of nothing. Adds a transaction of `count` >= 1 parts;
 * false: memory is out. */
bool cleave__plan_add(struct cleave_plan *plan, const struct cleave_plan_part *parts,
                      uint32_t count, bool writes, uint32_t gathers);
/* The first `most` transactions of a workload; the caller frees `out`. */
enum cleave_status cleave__plan_make(const struct cleave_lookup *lookup,
                                     const struct cleave_workload *workload, uint32_t most,
                                     struct cleave_plan *out, struct cleave_error *error);
void cleave__plan_free(struct cleave_plan *plan);

#endif
