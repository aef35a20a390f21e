/* A case: one database and its workload, loaded and split into training and held-out transactions.
 *
 * The training part is what schemes see; the held-out part is later (or other) transactions that
 * only judge them. The raw statements of a sample of both are kept for the oracle. */
#ifndef CLEAVE_TABLES_COMPARE_CASE_H
#define CLEAVE_TABLES_COMPARE_CASE_H

#include "cleave/progress.h"
#include "tables/shape/profile.h"

/* Where a case comes from. Zero-initialise; pointers are borrowed for the call. Either `benchmark`
 * or `traces` is set; schema from `schema_path` or `catalog`, or (neither) inferred from the
 * statements. */
struct cleave_case_source {
    const char *benchmark;
    const struct cleave_benchmark_option *benchmark_options;
    uint32_t benchmark_option_count;
    uint64_t seed;
    uint64_t transactions, held_out; /* of a benchmark */
    const char *schema_path, *catalog, *sizes_path, *stats_path;
    const char *const *traces;
    uint32_t trace_count;
    const char *const *held_out_traces; /* else the last `held_out_fraction` of `traces` */
    uint32_t held_out_trace_count;
    double held_out_fraction;
    uint64_t limit; /* read at most this many transactions; 0: all */
    uint64_t keep;  /* raw transactions to keep of each part, for the oracle */
    struct cleave_trace_options trace;
    const struct cleave_progress *progress;
};

/* Raw transactions, kept in full. `index[i]` is the transaction's number in its workload. */
struct cleave_kept {
    CLEAVE_VECTOR(struct cleave_trace_transaction) list;
    CLEAVE_VECTOR(uint32_t) index;
};

enum { CLEAVE_CASE_NOTES = 6 };

struct cleave_case {
    struct cleave_schema *schema;
    struct cleave_generator *generator; /* owns the schema when set */
    struct cleave_analyzer *analyzer;
    struct cleave_workload train, held_out;
    struct cleave_profile profile; /* of `train` */
    struct cleave_kept kept_train, kept_held_out;
    struct cleave_arena arena;
    struct cleave_trace_counters counters; /* summed over all files; zero for a benchmark */
    const char *format; /* what the traces turned out to be; NULL for a benchmark */
    const char *benchmark;
    /* Examples of what could not be understood, a line each: where, and why. */
    const char *notes[CLEAVE_CASE_NOTES];
    uint32_t note_count;
    uint32_t sizes_estimated; /* tables whose row counts were guessed from the trace */
    bool schema_inferred;
};

enum cleave_status cleave__case_load(const struct cleave_case_source *source,
                                     struct cleave_case **out, struct cleave_error *error);
/* Schema, sizes and, of a benchmark, the generator: what `kase` (all zeroes) needs before any
 * transaction is read. On failure the caller frees what is there. */
enum cleave_status cleave__case_load_schema(const struct cleave_case_source *source,
                                            struct cleave_case *kase, struct cleave_error *error);
/* Tables and columns as the statements of the traces use them, for when no schema is at hand. */
enum cleave_status cleave__case_infer_schema(const struct cleave_case_source *source,
                                             struct cleave_schema **out,
                                             struct cleave_error *error);
void cleave__case_free(struct cleave_case *kase);

#endif
