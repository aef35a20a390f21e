/* A schema from the statements themselves: the traces are read once for it, then again as a case.
 */
#include <string.h>

#include "tables/compare/case.h"
#include "tables/source/schema_infer.h"

enum { OBSERVED = 200000 }; /* transactions looked at: later ones bring few new tables */

static enum cleave_status observe(struct cleave_schema_observer *observer,
                                  const struct cleave_case_source *source, const char *const *paths,
                                  uint32_t count, struct cleave_error *error)
{
    struct cleave_trace *trace;
    struct cleave_trace_options options = source->trace;
    options.progress = source->progress;
    enum cleave_status status = cleave__trace_open(paths, count, &options, &trace, error);
    if (status)
        return status;
    uint64_t limit = source->limit && source->limit < OBSERVED ? source->limit : OBSERVED;
    for (uint64_t i = 0; !status && i < limit; i++) {
        struct cleave_trace_transaction transaction;
        status = cleave__trace_next(trace, &transaction, error);
        for (uint32_t s = 0; !status && s < transaction.statement_count; s++) {
            const struct cleave_trace_statement *statement = &transaction.statements[s];
            struct cleave_error ignored; /* the case counts what cannot be parsed */
            if (cleave__schema_observe(observer, statement->text, statement->length,
                                       statement->parameters, statement->parameter_count,
                                       &ignored) == CLEAVE_NO_MEMORY)
                status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the schema");
        }
    }
    cleave__trace_close(trace);
    return status == CLEAVE_END ? CLEAVE_OK : status;
}

enum cleave_status cleave__case_infer_schema(const struct cleave_case_source *source,
                                             struct cleave_schema **out, struct cleave_error *error)
{
    for (uint32_t i = 0; i < source->trace_count + source->held_out_trace_count; i++) {
        const char *path = i < source->trace_count
                               ? source->traces[i]
                               : source->held_out_traces[i - source->trace_count];
        if (strcmp(path, "-") == 0)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "standard input can be read only once: give a schema with it");
    }
    struct cleave_schema_observer *observer;
    enum cleave_status status = cleave__schema_observer_new("the trace", &observer, error);
    if (status)
        return status;
    status = observe(observer, source, source->traces, source->trace_count, error);
    if (!status && source->held_out_trace_count)
        status =
            observe(observer, source, source->held_out_traces, source->held_out_trace_count, error);
    if (!status)
        status = cleave__schema_observer_finish(observer, out, error);
    cleave__schema_observer_free(observer);
    return status;
}
