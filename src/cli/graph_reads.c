/* cleave graph reads: the users whose lists a workload reads, one id a line: what a cache sees. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/output.h"
#include "cli/graph.h"

enum { KEY_NO_SOURCE = 0x3000, PULSE_EVERY = 64 };

struct arguments {
    struct cleave_graph_arguments graph;
    const char *output;
    bool no_source;
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Output:", 6},
    {"output", 'o', "FILE", 0, "Write here instead of standard output", 6},
    {"no-source", KEY_NO_SOURCE, NULL, 0,
     "Leave out each query's own user, as graphshard lab does when it measures caches", 6},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        for (int i = 0; i < 3; i++)
            state->child_inputs[i] = &a->graph;
        state->child_inputs[3] = &a->graph.common;
        return 0;
    case 'o':
        a->output = value;
        return 0;
    case KEY_NO_SOURCE:
        a->no_source = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is no option; name a file with --edges", value);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

struct stream {
    const struct cleave__graph *graph;
    FILE *out;
    bool no_source;
};

static void put(void *context, uint32_t user, uint32_t distance)
{
    struct stream *s = context;
    char buffer[24];
    size_t length;
    if (distance == 0 && s->no_source)
        return;
    const char *id = cleave__graph_id(s->graph, user, buffer, &length);
    fwrite(id, 1, length, s->out);
    putc('\n', s->out);
}

static enum cleave_status run(const struct arguments *a, const struct cleave__graph *graph,
                              FILE *out, const struct cleave_progress *progress,
                              struct cleave_error *error)
{
    struct cleave__query query;
    struct cleave__sharded *whole = NULL;
    struct cleave__execution *execution = NULL;
    uint32_t *source = NULL, sources = 0;
    uint32_t *owner = calloc((size_t)graph->vertices + 1, sizeof *owner); /* one shard */
    struct stream stream = {graph, out, a->no_source};
    enum cleave_status status = cleave__graph_query_of(&a->graph, graph, &query, error);
    if (!status && !owner)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for users");
    if (!status)
        status = cleave__sharded_new(graph, 1, owner, &whole, error);
    if (!status)
        status = cleave__execution_new(graph, whole, &execution, error);
    if (!status)
        status = cleave__query_sources(
            graph, (uint32_t)cleave__graph_now(&a->graph, CLEAVE_AXIS_QUERIES),
            cleave__graph_now(&a->graph, CLEAVE_AXIS_SEED), &source, &sources, error);
    for (uint32_t q = 0; q < sources && !status; q++) {
        execution->on_read = put;
        execution->context = &stream;
        query.source = source[q];
        cleave__execute(execution, cleave__executor_find("early"), &query);
        if (q % PULSE_EVERY == 0 && *progress->stop)
            status = cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
    }
    cleave__execution_free(execution);
    cleave__sharded_free(whole);
    free(source);
    free(owner);
    return status;
}

int cleave__command_graph_reads(int argc, char **argv)
{
    struct argp_child children[] = {{&cleave__graph_source_argp, 0, NULL, 0},
                                    {&cleave__graph_query_argp, 0, NULL, 0},
                                    {&cleave__graph_queries_argp, 0, NULL, 0},
                                    {&cleave__options_argp, 0, "Common:", 9},
                                    {0}};
    const struct argp argp = {
        options,  parse,
        "",       "Writes the sequence of users whose lists a workload reads, one id a line.",
        children, NULL,
        NULL};
    static struct arguments a; /* large: sweeps */
    a = (struct arguments){.graph.common = CLEAVE_OPTIONS_DEFAULT};
    cleave__graph_defaults(&a.graph);
    cleave__options_parse(&argp, argc, argv, &a);
    cleave__graph_settle(&a.graph);
    struct cleave_error error;
    struct cleave_terminal terminal;
    struct cleave__graph *graph = NULL;
    struct cleave__output output;
    cleave__interrupt_catch();
    cleave__terminal_init(&terminal, a.graph.common.quiet);
    enum cleave_status status = cleave__graph_open(&a.graph, &terminal.progress, &graph, &error);
    if (!status)
        status = cleave__output_open(&output, a.output ? a.output : "-", &error);
    if (!status) {
        status = run(&a, graph, output.file, &terminal.progress, &error);
        if (status)
            cleave__output_abandon(&output);
        else
            status = cleave__output_commit(&output, &error);
    }
    cleave__terminal_clear(&terminal);
    cleave__graph_free(graph);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}
