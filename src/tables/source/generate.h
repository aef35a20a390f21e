/* Benchmarks as traces: deterministic transactions of TPC-C, TATP and Epinions as SQL text with
 * literal constants, plus their schema and row counts. One seed gives one trace on every machine;
 * the transactions after the first N (held out) continue the same stream. */
#ifndef CLEAVE_TABLES_SOURCE_GENERATE_H
#define CLEAVE_TABLES_SOURCE_GENERATE_H

#include "tables/source/schema.h"
#include "tables/source/trace.h"

struct cleave_benchmark_option { /* name=value, as the command line gives them */
    const char *name, *value;
};

struct cleave_generator;

struct cleave_benchmark { /* one static registry row each */
    const char *name, *summary;
    /* Options it understands, one line each, for --help; NULL-terminated pairs name, text. */
    const char *const (*options)[2];
};

/* Rows of the registry, 0.. until NULL. */
const struct cleave_benchmark *cleave__benchmark_at(uint32_t index);

/* CLEAVE_NOT_FOUND for an unknown name, CLEAVE_BAD_ARGUMENT for an unknown or senseless option. */
enum cleave_status cleave__generator_new(const char *benchmark,
                                         const struct cleave_benchmark_option *options,
                                         uint32_t option_count, uint64_t seed,
                                         struct cleave_generator **out,
                                         struct cleave_error *error);
/* The schema with row counts filled in; borrowed. */
const struct cleave_schema *cleave__generator_schema(const struct cleave_generator *generator);
const char *cleave__generator_ddl(const struct cleave_generator *generator);
/* The next transaction, valid until the next call; never ends. `*kind` (may be NULL) receives the
 * transaction's type name ("NewOrder"). */
enum cleave_status cleave__generator_next(struct cleave_generator *generator,
                                          struct cleave_trace_transaction *out, const char **kind,
                                          struct cleave_error *error);
void cleave__generator_free(struct cleave_generator *generator);

#endif
