/* What the `cleave tables` subcommands share: naming a case and steering a placement by options. */
#ifndef CLEAVE_CLI_TABLES_H
#define CLEAVE_CLI_TABLES_H

#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "tables/compare/compare.h"

enum { CLEAVE_PATHS_MAX = 4096, CLEAVE_BENCHMARK_OPTIONS_MAX = 32, CLEAVE_OVERRIDES_MAX = 64 };

/* Input of the argp parsers below: set `common` to the defaults, the rest to zeroes, then
 * cleave__tables_defaults. */
struct cleave_tables_arguments {
    struct cleave_options common;
    struct cleave_case_source source;
    const char *traces[CLEAVE_PATHS_MAX], *held_out_traces[CLEAVE_PATHS_MAX];
    struct cleave_benchmark_option benchmark_options[CLEAVE_BENCHMARK_OPTIONS_MAX];
    uint32_t shards;
    struct cleave_steer steer;
    const char *constraints; /* YAML; what is given by option wins over it */
    struct {
        int key;
        char *value;
    } overrides[CLEAVE_OVERRIDES_MAX]; /* steering options in the order given */
    uint32_t override_count;
    uint64_t verify; /* raw transactions of each part to recount */
    struct cleave_arena arena;
};

void cleave__tables_defaults(struct cleave_tables_arguments *arguments);

/* --schema, --trace, --benchmark, --warehouses, ...; positional arguments are trace files. The
 * input of each is a struct cleave_tables_arguments. `cleave__tables_source_argp` is built at first
 * use, since the benchmarks' own options come from their registry. */
const struct argp *cleave__tables_source_argp(void);
/* --benchmark and the benchmarks' own options alone, none of which must be given. */
const struct argp *cleave__tables_benchmark_argp(void);
extern const struct argp cleave__tables_steer_argp; /* --shards, --epsilon, --no-replication, ... */

/* Puts the steering options given over whatever `arguments->steer` holds by now. */
void cleave__tables_override(struct cleave_tables_arguments *arguments);

/* Loads the case, with progress, and then the constraints file, if one is named. */
enum cleave_status cleave__tables_load(struct cleave_tables_arguments *arguments,
                                       struct cleave_terminal *terminal, struct cleave_case **out,
                                       struct cleave_error *error);

/* What was read, what was left out, what had to be guessed: lines on `out`. */
void cleave__tables_describe(const struct cleave_case *kase, FILE *out);
/* The same as JSON; the caller's reference, NULL when memory is out. */
struct json_t *cleave__tables_describe_json(const struct cleave_case *kase);

/* {"transactions", "distributed", ...} as shares and counts. */
struct json_t *cleave__tables_count_json(const struct cleave_count *count);

#endif
