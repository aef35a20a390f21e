/* Benchmarks as traces: deterministic transactions of TPC-C, TATP and Epinions as SQL text with
 * literal constants, plus their schema and row counts. One seed gives one trace on every machine;
 * the transactions after the first N (held out) continue the same stream. */
#ifndef CLEAVE_TABLES_SOURCE_GENERATE_H
#define CLEAVE_TABLES_SOURCE_GENERATE_H

#include "tables/source/schema.h"
#include "tables/source/trace.h"

#include <stdio.h>

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
                                         struct cleave_generator **out, struct cleave_error *error);
/* The schema with row counts filled in; borrowed. */
const struct cleave_schema *cleave__generator_schema(const struct cleave_generator *generator);
const char *cleave__generator_ddl(const struct cleave_generator *generator);
/* The next transaction, valid until the next call; never ends. `*kind` (may be NULL) receives the
 * transaction's type name ("NewOrder"). */
enum cleave_status cleave__generator_next(struct cleave_generator *generator,
                                          struct cleave_trace_transaction *out, const char **kind,
                                          struct cleave_error *error);
void cleave__generator_free(struct cleave_generator *generator);

/* The initial database, which the transactions' by-name lookups, deliveries and so on agree with,
 * however many transactions were generated already. Tables come in the order of the DDL, which
 * puts a referenced table first. */
struct cleave_generated_row {
    uint32_t table; /* index in cleave__generator_schema */
    const char *name;
    uint32_t count;            /* every column, in the DDL's order */
    const char *const *values; /* text as COPY takes it, unescaped; NULL is SQL's NULL */
};
/* Calls `each` for every row; a status other than CLEAVE_OK stops and is returned. O(1) memory. */
enum cleave_status cleave__generator_rows(
    const struct cleave_generator *generator,
    enum cleave_status (*each)(void *context, const struct cleave_generated_row *row,
                               struct cleave_error *error),
    void *context, struct cleave_error *error);

/* Writers to an open stream; CLEAVE_IO when it refuses. Rows: COPY blocks for psql, or INSERT
 * statements of many rows. A transaction: "BEGIN;", its statements, "COMMIT;", a line each. */
enum cleave_rows_format { CLEAVE_ROWS_COPY, CLEAVE_ROWS_INSERT };
enum cleave_status cleave__generator_write_rows(const struct cleave_generator *generator,
                                                enum cleave_rows_format format, FILE *stream,
                                                struct cleave_error *error);
enum cleave_status
cleave__generator_write_transaction(const struct cleave_trace_transaction *transaction,
                                    FILE *stream, struct cleave_error *error);
/* Row counts and widths as YAML, as cleave__sizes_read_yaml takes them. */
enum cleave_status cleave__generator_write_sizes(const struct cleave_generator *generator,
                                                 FILE *stream, struct cleave_error *error);

#endif
