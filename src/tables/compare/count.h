/* One way to count for every scheme: transactions of a workload, routed by a lookup table. */
#ifndef CLEAVE_TABLES_COMPARE_COUNT_H
#define CLEAVE_TABLES_COMPARE_COUNT_H

#include "tables/route/lookup.h"
#include "tables/scheme/scheme.h"

struct cleave_count {
    uint64_t transactions, distributed, read_only_distributed, write_distributed;
    uint64_t parts;   /* shards touched, summed over transactions (a replicated read touches one) */
    double *accesses; /* [shards]: transactions that touch it */
    double *work;     /* [shards]: those, a part of a distributed one weighed by `coordination` */
};

/* Arrays live in `arena`. O(distinct boxes + accesses). */
enum cleave_status cleave__count(const struct cleave_lookup *lookup,
                                 const struct cleave_workload *workload, double coordination,
                                 struct cleave_arena *arena, struct cleave_count *out,
                                 struct cleave_error *error);

/* The shards that one transaction touches, routed box by box afresh: as _count has it, slower. */
void cleave__touch(const struct cleave_lookup *lookup, const struct cleave_workload *workload,
                   uint32_t transaction, struct cleave_shardset *out);

/* Estimated size of each shard ([shards], in `arena`), copies included, in bytes where every
 * table's row bytes are known, else in rows: explicit values by selectivity, the rest as the
 * default says. */
enum cleave_status cleave__shard_sizes(const struct cleave_layout *layout,
                                       const struct cleave_workload *workload,
                                       struct cleave_arena *arena, double **out,
                                       struct cleave_error *error);

/* max / mean - 1; 0 when all are 0. */
double cleave__imbalance(const double *load, uint32_t count);

#endif
