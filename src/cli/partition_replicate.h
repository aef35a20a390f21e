/* Copies of chosen vertices after `cleave partition`: options, the work, and what is said. */
#ifndef CLEAVE_CLI_PARTITION_REPLICATE_H
#define CLEAVE_CLI_PARTITION_REPLICATE_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "cleave/replicate.h"

struct json_t;

/* A weight, or a share of all of it. */
struct cleave_replica_budget {
    double amount;
    bool percent;
};

/* Input of cleave__replicas_argp, zero-initialised; then what was found. */
struct cleave_replicas {
    const char *costs, *copies; /* --replicate, --copies */
    struct cleave_replica_budget budget[CLEAVE_WEIGHTS_MAX], block_budget[CLEAVE_WEIGHTS_MAX];
    uint32_t budgets, block_budgets; /* weights named */
    bool made;
    uint32_t chosen; /* vertices that may have copies */
    struct cleave_replicate_result result;
};

extern const struct argp cleave__replicas_argp;

/* cleave_partition; with --replicate cleave_replicate_partition, whose copies are recounted
 * (CLEAVE_CORRUPT if the recount disagrees, which is a fault in cleave) and written to --copies. */
enum cleave_status cleave__replicas_partition(struct cleave_replicas *replicas,
                                              const struct cleave_hypergraph *hypergraph,
                                              const struct cleave_partition_options *options,
                                              uint32_t *block,
                                              struct cleave_partition_result *result,
                                              struct cleave_error *error);
/* A line of figures; nothing when none were made. */
void cleave__replicas_print(const struct cleave_replicas *replicas, FILE *out);
/* The same as an object; null when none were made. The caller's reference. */
struct json_t *cleave__replicas_json(const struct cleave_replicas *replicas, uint32_t weights);

#endif
