#include "tables/compare/scan.h"

#include <stdlib.h>
#include <string.h>

struct cleave_scan {
    const struct cleave_case_source *source;
    struct cleave_case *kase;
    struct cleave_trace *trace; /* NULL for a benchmark */
    uint64_t read;              /* transactions; of a trace those that touch a table */
    bool ended;
};

enum cleave_status cleave__scan_open(const struct cleave_case_source *source,
                                     struct cleave_scan **out, struct cleave_error *error)
{
    struct cleave_scan *scan = calloc(1, sizeof *scan);
    struct cleave_case *kase = calloc(1, sizeof *kase);
    if (!scan || !kase) {
        free(scan);
        free(kase);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the workload");
    }
    scan->source = source;
    scan->kase = kase;
    kase->benchmark = source->benchmark;
    enum cleave_status status = cleave__case_load_schema(source, kase, error);
    if (!status)
        status = cleave__analyzer_new(kase->schema, &kase->analyzer, error);
    struct cleave_trace_options options = source->trace;
    options.progress = source->progress;
    if (!status && !source->benchmark)
        status =
            cleave__trace_open(source->traces, source->trace_count, &options, &scan->trace, error);
    if (status) {
        cleave__scan_close(scan);
        return status;
    }
    cleave__workload_init(&kase->train, kase->schema);
    *out = scan;
    return CLEAVE_OK;
}

const struct cleave_case *cleave__scan_case(const struct cleave_scan *scan)
{
    return scan->kase;
}

static enum cleave_status next(struct cleave_scan *scan, struct cleave_trace_transaction *out,
                               struct cleave_error *error)
{
    const struct cleave_case_source *source = scan->source;
    const struct cleave_progress *progress = source->progress;
    uint64_t limit = source->benchmark ? source->transactions : source->limit;
    if ((source->benchmark || limit) && scan->read >= limit)
        return CLEAVE_END;
    if (progress && progress->stop && *progress->stop)
        return cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
    return source->benchmark ? cleave__generator_next(scan->kase->generator, out, NULL, error)
                             : cleave__trace_next(scan->trace, out, error);
}

/* What was read so far, as a case says it. */
static enum cleave_status note(struct cleave_scan *scan, const struct cleave_workload *part,
                               struct cleave_error *error)
{
    struct cleave_case *kase = scan->kase;
    kase->train.transactions += part->transactions;
#define X(name) kase->train.name += part->name;
    X(statements)
    X(unparsed)
    X(oversized)
    X(foreign)
    X(opaque)
    X(empty_transactions)
#undef X
    if (!scan->trace)
        return CLEAVE_OK;
    kase->counters = *cleave__trace_counters(scan->trace);
    const char *words = cleave__trace_describe(scan->trace);
    if (kase->format || !words)
        return CLEAVE_OK;
    kase->format = cleave__arena_copy(&kase->arena, words, strlen(words));
    return kase->format ? CLEAVE_OK
                        : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the workload");
}

enum cleave_status cleave__scan_next(struct cleave_scan *scan, uint32_t most,
                                     struct cleave_workload *part, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    cleave__workload_init(part, scan->kase->schema);
    while (!scan->ended && part->transactions < most) {
        struct cleave_trace_transaction transaction;
        bool added = false;
        status = next(scan, &transaction, error);
        if (!status)
            status = cleave__workload_add(part, scan->kase->analyzer, &transaction, &added, error);
        if (status == CLEAVE_END)
            scan->ended = true;
        else if (status)
            return status;
        else
            scan->read += added || scan->source->benchmark;
    }
    status = note(scan, part, error);
    return status ? status : part->transactions ? CLEAVE_OK : CLEAVE_END;
}

void cleave__scan_close(struct cleave_scan *scan)
{
    if (!scan)
        return;
    cleave__trace_close(scan->trace);
    cleave__case_free(scan->kase);
    free(scan);
}
