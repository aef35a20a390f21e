/* cleave tables generate: a benchmark as files, to look at or to load into a real database. */
#include <inttypes.h>
#include <string.h>

#include "base/output.h"
#include "cli/tables.h"

enum { KEY_WHAT = 0x3000 };
enum what { TRACE, DDL, ROWS, INSERTS, SIZES };

struct arguments {
    struct cleave_tables_arguments tables;
    uint32_t what;
    const char *output;
};

static const struct argp_option options[] = {
    {"what", KEY_WHAT, "NAME", 0, "trace, ddl, rows (COPY for psql), inserts or sizes (trace)", 0},
    {"output", 'o', "FILE", 0, "Write here instead of standard output", 0},
    {0}};
static const char *const whats[] = {"trace", "ddl", "rows", "inserts", "sizes", NULL};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->tables;
        state->child_inputs[1] = &a->tables.common;
        return 0;
    case KEY_WHAT:
        a->what = cleave__option_choice(state, "--what", value, whats);
        return 0;
    case 'o':
        a->output = value;
        return 0;
    case ARGP_KEY_END:
        if (!a->tables.source.benchmark)
            argp_error(state, "which benchmark? --benchmark tpcc, tatp or epinions");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum cleave_status generate(const struct arguments *a, struct cleave_generator *generator,
                                   FILE *out, const struct cleave_progress *progress,
                                   struct cleave_error *error)
{
    switch ((enum what)a->what) {
    case DDL:
        fputs(cleave__generator_ddl(generator), out);
        return CLEAVE_OK;
    case ROWS:
        return cleave__generator_write_rows(generator, CLEAVE_ROWS_COPY, out, error);
    case INSERTS:
        return cleave__generator_write_rows(generator, CLEAVE_ROWS_INSERT, out, error);
    case SIZES:
        return cleave__generator_write_sizes(generator, out, error);
    case TRACE:
        break;
    }
    enum cleave_status status = CLEAVE_OK;
    for (uint64_t i = 0; !status && i < a->tables.source.transactions; i++) {
        struct cleave_trace_transaction transaction;
        if (*progress->stop)
            return cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
        status = cleave__generator_next(generator, &transaction, NULL, error);
        if (!status)
            status = cleave__generator_write_transaction(&transaction, out, error);
    }
    return status;
}

int cleave__command_tables_generate(int argc, char **argv)
{
    struct argp_child children[] = {
        {cleave__tables_source_argp(), 0, NULL, 0}, {&cleave__options_argp, 0, "Common:", 9}, {0}};
    const struct argp argp = {
        options,  parse,
        "",       "Prints a benchmark: its transactions as SQL, its schema, or its rows.",
        children, NULL,
        NULL};
    static struct arguments a;
    a = (struct arguments){.tables.common = CLEAVE_OPTIONS_DEFAULT};
    cleave__tables_defaults(&a.tables);
    cleave__options_parse(&argp, argc, argv, &a);
    struct cleave_error error;
    struct cleave_terminal terminal;
    struct cleave_generator *generator = NULL;
    struct cleave__output output;
    cleave__interrupt_catch();
    cleave__terminal_init(&terminal, a.tables.common.quiet);
    enum cleave_status status = cleave__generator_new(
        a.tables.source.benchmark, a.tables.benchmark_options,
        a.tables.source.benchmark_option_count, a.tables.common.seed, &generator, &error);
    if (status)
        return cleave__command_fail(&error);
    status = cleave__output_open(&output, a.output ? a.output : "-", &error);
    if (!status) {
        status = generate(&a, generator, output.file, &terminal.progress, &error);
        if (!status)
            status = cleave__output_commit(&output, &error);
        else
            cleave__output_abandon(&output);
    }
    cleave__generator_free(generator);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}
