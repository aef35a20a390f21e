/* Loading a case for a command, and telling people what was read. */
#include <inttypes.h>
#include <jansson.h>

#include "cli/tables.h"
#include "report/json.h"
#include "tables/refine/constraints.h"

enum cleave_status cleave__tables_load(struct cleave_tables_arguments *arguments,
                                       struct cleave_terminal *terminal, struct cleave_case **out,
                                       struct cleave_error *error)
{
    struct cleave_case_source *source = &arguments->source;
    source->traces = arguments->traces;
    source->held_out_traces = arguments->held_out_traces;
    source->benchmark_options = arguments->benchmark_options;
    source->seed = arguments->common.seed;
    source->keep = arguments->verify;
    cleave__interrupt_catch();
    cleave__terminal_init(terminal, arguments->common.quiet);
    source->progress = &terminal->progress;
    enum cleave_status status = cleave__case_load(source, out, error);
    cleave__terminal_clear(terminal);
    if (status || !arguments->constraints)
        return status;
    arguments->steer = (struct cleave_steer)CLEAVE_STEER_DEFAULTS;
    status = cleave__constraints_read(arguments->constraints, (*out)->schema, arguments->shards,
                                      &arguments->arena, &arguments->steer, error);
    if (status)
        cleave__case_free(*out);
    cleave__tables_override(arguments);
    return status;
}

void cleave__tables_describe(const struct cleave_case *kase, FILE *out)
{
    const struct cleave_workload *parts[2] = {&kase->train, &kase->held_out};
    uint64_t unparsed = 0, oversized = 0, foreign = 0, empty = 0, opaque = 0;
    for (int i = 0; i < 2; i++) {
        unparsed += parts[i]->unparsed;
        oversized += parts[i]->oversized;
        foreign += parts[i]->foreign;
        empty += parts[i]->empty_transactions;
        opaque += parts[i]->opaque;
    }
    fprintf(out, "%" PRIu32 " transactions to place by, %" PRIu32 " held out",
            kase->train.transactions, kase->held_out.transactions);
    fprintf(out, kase->format ? "; %s\n" : "\n", kase->format);
    if (kase->format) {
        const struct {
            uint64_t count;
            const char *text;
        } left_out[] = {
#define X(name, text) {kase->counters.name, text},
            CLEAVE_TRACE_COUNTERS(X)
#undef X
        };
        for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
            if (left_out[i].count)
                fprintf(out, "  %12" PRIu64 "  %s\n", left_out[i].count, left_out[i].text);
        }
    }
    if (empty)
        fprintf(out, "  %12" PRIu64 "  transactions that touch no table of the schema (left out)\n",
                empty);
    if (foreign)
        fprintf(out, "  %12" PRIu64 "  statements about relations that the schema lacks\n",
                foreign);
    if (unparsed)
        fprintf(out, "  %12" PRIu64 "  statements that could not be understood\n", unparsed);
    if (oversized)
        fprintf(out, "  %12" PRIu64 "  statements past the size or nesting limit\n", oversized);
    if (opaque)
        fprintf(out,
                "  %12" PRIu64 "  statements that may touch more than they say (functions, DO)\n",
                opaque);
    if (kase->schema_inferred)
        fprintf(out, "  no schema given: tables and columns are as the statements use them\n");
    if (kase->sizes_estimated)
        fprintf(out, "  sizes of %" PRIu32 " tables are estimated from the trace\n",
                kase->sizes_estimated);
}

struct json_t *cleave__tables_describe_json(const struct cleave_case *kase)
{
    json_t *root = json_object();
    if (!root)
        return NULL;
#define X(name, text)                                                                              \
    json_object_set_new(root, #name, json_integer((json_int_t)kase->counters.name));
    CLEAVE_TRACE_COUNTERS(X)
#undef X
#define SUM(name)                                                                                  \
    json_object_set_new(root, #name,                                                               \
                        json_integer((json_int_t)(kase->train.name + kase->held_out.name)));
    SUM(unparsed)
    SUM(oversized)
    SUM(foreign)
    SUM(opaque)
    SUM(empty_transactions)
#undef SUM
    json_object_set_new(root, "format", kase->format ? json_string(kase->format) : json_null());
    json_object_set_new(root, "schema_inferred", json_boolean(kase->schema_inferred));
    json_object_set_new(root, "sizes_estimated", json_integer(kase->sizes_estimated));
    return root;
}

struct json_t *cleave__tables_count_json(const struct cleave_count *count)
{
    return json_pack("{s:I, s:I, s:I}", "distributed", (json_int_t)count->distributed,
                     "read_only_distributed", (json_int_t)count->read_only_distributed,
                     "write_distributed", (json_int_t)count->write_distributed);
}
