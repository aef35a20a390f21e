#include "tables/compare/case.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- keeping raw transactions ---- */

static bool copy_statement(struct cleave_arena *arena, const struct cleave_trace_statement *from,
                           struct cleave_trace_statement *to)
{
    *to = *from;
    to->text = cleave__arena_copy(arena, from->text, from->length);
    struct cleave_parameter *parameters =
        cleave__arena_array(arena, from->parameter_count, sizeof *parameters);
    if (!to->text || !parameters)
        return false;
    for (uint32_t p = 0; p < from->parameter_count; p++) {
        parameters[p] = from->parameters[p];
        if (!parameters[p].text)
            continue;
        parameters[p].text =
            cleave__arena_copy(arena, from->parameters[p].text, from->parameters[p].length);
        if (!parameters[p].text)
            return false;
    }
    to->parameters = parameters;
    return true;
}

static bool keep(struct cleave_case *kase, struct cleave_kept *kept, uint32_t index,
                 const struct cleave_trace_transaction *transaction)
{
    struct cleave_trace_statement *statements =
        cleave__arena_array(&kase->arena, transaction->statement_count, sizeof *statements);
    struct cleave_trace_transaction copy = *transaction;
    if (!statements)
        return false;
    for (uint32_t s = 0; s < transaction->statement_count; s++) {
        if (!copy_statement(&kase->arena, &transaction->statements[s], &statements[s]))
            return false;
    }
    copy.statements = statements;
    copy.session = NULL;
    return CLEAVE_PUSH(&kept->list, copy) && CLEAVE_PUSH(&kept->index, index);
}

/* ---- reading ---- */

static enum cleave_status add(struct cleave_case *kase, struct cleave_workload *workload,
                              struct cleave_kept *kept, uint64_t most,
                              const struct cleave_trace_transaction *transaction,
                              struct cleave_error *error)
{
    bool added;
    enum cleave_status status =
        cleave__workload_add(workload, kase->analyzer, transaction, &added, error);
    if (!status && added && kept->list.count < most &&
        !keep(kase, kept, workload->transactions - 1, transaction))
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the raw statements");
    return status;
}

static enum cleave_status read_benchmark(const struct cleave_case_source *source,
                                         struct cleave_case *kase, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    uint64_t total = source->transactions + source->held_out;
    for (uint64_t i = 0; !status && i < total; i++) {
        struct cleave_trace_transaction transaction;
        bool train = i < source->transactions;
        status = cleave__generator_next(kase->generator, &transaction, NULL, error);
        if (!status)
            status = add(kase, train ? &kase->train : &kase->held_out,
                         train ? &kase->kept_train : &kase->kept_held_out, source->keep,
                         &transaction, error);
        if (!status && source->progress && source->progress->stop && *source->progress->stop)
            status = cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
    }
    return status;
}

static void sum_counters(struct cleave_trace_counters *total,
                         const struct cleave_trace_counters *part)
{
#define X(name, text) total->name += part->name;
    CLEAVE_TRACE_COUNTERS(X)
#undef X
}

static void note(struct cleave_case *kase, const char *path, uint64_t line, const char *why,
                 const char *text, size_t length)
{
    char words[400];
    if (kase->note_count == CLEAVE_CASE_NOTES)
        return;
    int n = snprintf(words, sizeof words, "%.120s:%" PRIu64 ": %.120s: %.*s%s", path, line, why,
                     (int)(length < 100 ? length : 100), text, length > 100 ? "..." : "");
    for (char *c = words; *c; c++)
        *c = (unsigned char)*c < ' ' || *c == 127 ? ' ' : *c;
    const char *copy = n > 0 ? cleave__arena_copy(&kase->arena, words, strlen(words)) : NULL;
    if (copy)
        kase->notes[kase->note_count++] = copy;
}

/* Half of the room is for statements. */
static void note_entry(void *context, const char *path, uint64_t line, const char *text,
                       size_t length)
{
    struct cleave_case *kase = context;
    if (kase->note_count < CLEAVE_CASE_NOTES / 2)
        note(kase, path, line, "no log entry", text, length);
}

/* Of a transaction some of whose statements were not understood. */
static void note_statements(struct cleave_case *kase, const struct cleave_trace *trace,
                            const struct cleave_trace_transaction *transaction)
{
    const char *path;
    uint64_t line = cleave__trace_line(trace, &path);
    struct cleave_arena scratch = {0};
    for (uint32_t s = 0; s < transaction->statement_count; s++) {
        const struct cleave_trace_statement *text = &transaction->statements[s];
        struct cleave_statement statement;
        struct cleave_error why;
        enum cleave_status status =
            cleave__analyze(kase->analyzer, text->text, text->length, text->parameters,
                            text->parameter_count, &scratch, &statement, &why);
        if (status == CLEAVE_BAD_INPUT || status == CLEAVE_LIMIT)
            note(kase, path, line, why.message, text->text, text->length);
    }
    cleave__arena_free(&scratch);
}

static enum cleave_status read_traces(const struct cleave_case_source *source,
                                      struct cleave_case *kase, const char *const *paths,
                                      uint32_t count, struct cleave_workload *workload,
                                      struct cleave_kept *kept, struct cleave_error *error)
{
    struct cleave_trace *trace;
    struct cleave_trace_options options = source->trace;
    options.progress = source->progress;
    options.bad = note_entry;
    options.bad_context = kase;
    enum cleave_status status = cleave__trace_open(paths, count, &options, &trace, error);
    if (status)
        return status;
    struct cleave_trace_transaction transaction;
    while (!status && (!source->limit || workload->transactions < source->limit)) {
        status = cleave__trace_next(trace, &transaction, error);
        uint64_t unparsed = workload->unparsed + workload->oversized;
        if (!status)
            status = add(kase, workload, kept, source->keep, &transaction, error);
        if (!status && workload->unparsed + workload->oversized != unparsed &&
            kase->note_count < CLEAVE_CASE_NOTES)
            note_statements(kase, trace, &transaction);
    }
    if (status == CLEAVE_END)
        status = CLEAVE_OK;
    if (!status) {
        sum_counters(&kase->counters, cleave__trace_counters(trace));
        const char *words = cleave__trace_describe(trace);
        if (!kase->format && words)
            kase->format = cleave__arena_copy(&kase->arena, words, strlen(words));
    }
    cleave__trace_close(trace);
    return status;
}

/* Moves the last part of the training workload to the held-out one. */
static enum cleave_status split(struct cleave_case *kase, double fraction,
                                struct cleave_error *error)
{
    struct cleave_workload whole = kase->train;
    uint32_t cut =
        whole.transactions - (uint32_t)((double)whole.transactions * (fraction < 0 ? 0 : fraction));
    cleave__workload_init(&kase->train, whole.schema);
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t t = 0; !status && t < whole.transactions; t++)
        status = cleave__workload_copy(t < cut ? &kase->train : &kase->held_out, &whole, t, error);
#define X(name) kase->train.name = whole.name;
    X(statements)
    X(unparsed)
    X(oversized)
    X(foreign)
    X(opaque)
    X(empty_transactions)
#undef X
    cleave__workload_free(&whole);
    struct cleave_kept *from = &kase->kept_train, *to = &kase->kept_held_out;
    size_t stay = 0;
    while (stay < from->index.count && from->index.data[stay] < cut)
        stay++;
    for (size_t i = stay; !status && i < from->index.count; i++) {
        if (!CLEAVE_PUSH(&to->list, from->list.data[i]) ||
            !CLEAVE_PUSH(&to->index, from->index.data[i] - cut))
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the held-out part");
    }
    from->list.count = from->index.count = stay;
    return status;
}

/* ---- schema and sizes ---- */

enum cleave_status cleave__case_load_schema(const struct cleave_case_source *source,
                                            struct cleave_case *kase, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    if (source->benchmark) {
        status = cleave__generator_new(source->benchmark, source->benchmark_options,
                                       source->benchmark_option_count, source->seed,
                                       &kase->generator, error);
        if (!status)
            kase->schema = (struct cleave_schema *)cleave__generator_schema(kase->generator);
        return status;
    }
    if (source->schema_path)
        status = cleave__schema_read_ddl(source->schema_path, &kase->schema, error);
    else if (source->catalog)
        status = cleave__schema_read_catalog(source->catalog, &kase->schema, error);
    else
        status = cleave__case_infer_schema(source, &kase->schema, error);
    kase->schema_inferred = !source->schema_path && !source->catalog;
    if (!status && source->stats_path)
        status = cleave__sizes_read_stats(kase->schema, source->stats_path, error);
    if (!status && source->sizes_path)
        status = cleave__sizes_read_yaml(kase->schema, source->sizes_path, error);
    return status;
}

/* Tables of unknown size count as many rows as the trace tells apart. */
static void estimate_sizes(struct cleave_case *kase)
{
    struct cleave_schema *schema = kase->schema;
    for (uint32_t t = 0; t < schema->table_count; t++) {
        struct cleave_table *table = &schema->tables[t];
        if (table->rows > 0 || table->view || kase->profile.tables[t].accesses == 0)
            continue;
        double rows = 1;
        for (size_t b = 0; b < kase->train.boxes.count; b++)
            rows += kase->train.boxes.data[b].table == t;
        table->rows = rows;
        table->size_origin = CLEAVE_SIZE_TRACE;
        kase->sizes_estimated++;
    }
}

enum cleave_status cleave__case_load(const struct cleave_case_source *source,
                                     struct cleave_case **out, struct cleave_error *error)
{
    struct cleave_case *kase = calloc(1, sizeof *kase);
    if (!kase)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the case");
    kase->benchmark = source->benchmark;
    enum cleave_status status = cleave__case_load_schema(source, kase, error);
    if (!status)
        status = cleave__analyzer_new(kase->schema, &kase->analyzer, error);
    cleave__workload_init(&kase->train, kase->schema);
    cleave__workload_init(&kase->held_out, kase->schema);
    if (!status && source->benchmark) {
        status = read_benchmark(source, kase, error);
    } else if (!status) {
        status = read_traces(source, kase, source->traces, source->trace_count, &kase->train,
                             &kase->kept_train, error);
        if (!status && source->held_out_trace_count)
            status =
                read_traces(source, kase, source->held_out_traces, source->held_out_trace_count,
                            &kase->held_out, &kase->kept_held_out, error);
        else if (!status)
            status = split(kase, source->held_out_fraction, error);
    }
    if (!status && kase->train.transactions == 0)
        status = cleave_error_set(
            error, CLEAVE_BAD_INPUT,
            "no committed transaction touches a table of the schema (%llu statements read, %llu "
            "not understood, %llu about other relations): is this the right schema?",
            (unsigned long long)kase->train.statements, (unsigned long long)kase->train.unparsed,
            (unsigned long long)kase->train.foreign);
    if (!status)
        status = cleave__profile_build(&kase->train, &kase->profile, error);
    if (status) {
        cleave__case_free(kase);
        return status;
    }
    estimate_sizes(kase);
    *out = kase;
    return CLEAVE_OK;
}

static void kept_free(struct cleave_kept *kept)
{
    CLEAVE_VECTOR_FREE(&kept->list);
    CLEAVE_VECTOR_FREE(&kept->index);
}

void cleave__case_free(struct cleave_case *kase)
{
    if (!kase)
        return;
    cleave__profile_free(&kase->profile);
    cleave__workload_free(&kase->train);
    cleave__workload_free(&kase->held_out);
    kept_free(&kase->kept_train);
    kept_free(&kase->kept_held_out);
    cleave__analyzer_free(kase->analyzer);
    if (kase->generator)
        cleave__generator_free(kase->generator);
    else
        cleave__schema_free(kase->schema);
    cleave__arena_free(&kase->arena);
    free(kase);
}
