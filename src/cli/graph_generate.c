/* cleave graph generate: a made-up graph as an edge list, and its labels. */
#include <inttypes.h>

#include "base/output.h"
#include "cli/graph.h"

enum { KEY_LABELS_OUT = 0x3000, KEY_LABELS };

struct arguments {
    struct cleave_graph_arguments graph;
    const char *output, *labels;
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Output:", 6},
    {"output", 'o', "FILE", 0, "The edges, a line each: source and target (standard output)", 6},
    {"labels-output", KEY_LABELS_OUT, "FILE", 0, "A line a user: id and community", 6},
    {"labels", KEY_LABELS, "FILE", OPTION_HIDDEN, NULL, 6}, /* else short for the one above */
    {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->graph;
        state->child_inputs[1] = &a->graph.common;
        return 0;
    case 'o':
        a->output = value;
        return 0;
    case KEY_LABELS_OUT:
        a->labels = value;
        return 0;
    case KEY_LABELS:
        argp_error(state, "--labels is read; --labels-output FILE is written");
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is no option; name a generator with --generate", value);
        return 0;
    case ARGP_KEY_END:
        if (!a->graph.generator)
            argp_error(state, "which graph? --generate NAME");
        cleave__option_apart(state, "--output", a->output ? a->output : "-", "--labels-output",
                             a->labels);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum cleave_status write_edges(FILE *out, const struct cleave__drawn *drawn,
                                      const struct cleave_progress *progress,
                                      struct cleave_error *error)
{
    for (size_t i = 0; i < drawn->edges.end.count; i += 2) {
        fprintf(out, "%" PRIu32 " %" PRIu32 "\n", drawn->edges.end.data[i] + 1,
                drawn->edges.end.data[i + 1] + 1);
        if (i % (1 << 16) == 0 && *progress->stop)
            return cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
    }
    return CLEAVE_OK;
}

/* Both files, or neither: each is written in full before the first takes its place. */
static enum cleave_status write_all(const struct arguments *a, const struct cleave__drawn *drawn,
                                    const struct cleave_progress *progress,
                                    struct cleave_error *error)
{
    struct cleave__output edges = {0}, labels = {0};
    if (a->labels && !drawn->community)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "--labels-output: this generator tells no communities");
    enum cleave_status status = CLEAVE_OK;
    if (a->labels)
        status = cleave__output_open(&labels, a->labels, error);
    if (!status)
        status = cleave__output_open(&edges, a->output ? a->output : "-", error);
    for (uint32_t v = 0; v < drawn->users && !status && a->labels; v++)
        fprintf(labels.file, "%" PRIu32 " %" PRIu32 "\n", v + 1, drawn->community[v]);
    if (!status)
        status = write_edges(edges.file, drawn, progress, error);
    /* A failed flush is what the commit of the edges then tells. */
    if (!status && fflush(edges.file) == 0 && a->labels)
        status = cleave__output_commit(&labels, error);
    if (!status)
        status = cleave__output_commit(&edges, error);
    cleave__output_abandon(&edges);
    cleave__output_abandon(&labels);
    return status;
}

int cleave__command_graph_generate(int argc, char **argv)
{
    struct argp_child children[] = {
        {&cleave__graph_made_argp, 0, NULL, 0}, {&cleave__options_argp, 0, "Common:", 9}, {0}};
    const struct argp argp = {
        options,  parse, "",  "Writes a made-up graph, the same for the same options and seed.",
        children, NULL,  NULL};
    static struct arguments a; /* large: sweeps */
    static struct cleave__generate_options made;
    a = (struct arguments){.graph.common = CLEAVE_OPTIONS_DEFAULT};
    cleave__graph_defaults(&a.graph);
    cleave__options_parse(&argp, argc, argv, &a);
    cleave__graph_settle(&a.graph);
    struct cleave_error error;
    struct cleave_terminal terminal;
    struct cleave__drawn drawn = {0};
    cleave__interrupt_catch();
    cleave__terminal_init(&terminal, a.graph.common.quiet);
    enum cleave_status status =
        cleave__graph_generate_options(&a.graph, &terminal.progress, &made, &error);
    if (!status)
        status = cleave__graph_draw(a.graph.generator, &made, &drawn, &error);
    cleave__terminal_clear(&terminal);
    if (!status)
        status = write_all(&a, &drawn, &terminal.progress, &error);
    cleave__drawn_free(&drawn);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}
