/* `--simulate` of the commands that compare placements: its options, and the runs. */
#ifndef CLEAVE_CLI_TABLES_SIMULATE_H
#define CLEAVE_CLI_TABLES_SIMULATE_H

#include "cli/tables.h"
#include "tables/serve/simulate.h"

/* Input of the argp parser below; all zeroes at first. What is not given is as
 * cleave__simulation_usual has it, which depends on the number of shards. */
struct cleave_simulate_arguments {
    bool simulate;
    uint32_t clients, machines; /* 0: not given */
    uint64_t transactions;
    uint32_t processors[CLEAVE_SHARDS_MAX], processor_count; /* by node; count 0: not given */
    uint64_t bandwidth[CLEAVE_SHARDS_MAX];
    uint32_t bandwidth_count;
    struct cleave_host hosts[CLEAVE_SHARDS_MAX]; /* both, put together */
    bool has_work, has_prepare, has_gather, has_flush, has_network;
    struct cleave_simulation given;
};

extern const struct argp cleave__tables_simulate_argp;

/* Plays the later part of the workload (the training part, if there is none) under each scheme of
 * the comparison into `out` [result_count]. */
enum cleave_status cleave__tables_simulate(struct cleave_simulate_arguments *arguments,
                                           const struct cleave_case *kase,
                                           const struct cleave_comparison *comparison,
                                           uint64_t seed, const struct cleave_progress *progress,
                                           struct cleave_simulated *out,
                                           struct cleave_error *error);
void cleave__tables_simulate_free(struct cleave_simulate_arguments *arguments);

#endif
