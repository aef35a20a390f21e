/* cleave graph place: a shard for every user, by the users' own ids. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "cli/graph.h"
#include "report/json.h"
#include "report/report.h"

enum { KEY_HYPERGRAPH = 0x3000 };

struct arguments {
    struct cleave_graph_arguments graph;
    const char *output, *hypergraph;
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Output:", 6},
    {"output", 'o', "FILE", 0, "A line a user: id and shard (standard output)", 6},
    {"hypergraph", KEY_HYPERGRAPH, "FILE", 0,
     "Write what is divided as .hgr too, its vertices in the order of the output", 6},
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
    case KEY_HYPERGRAPH:
        a->hypergraph = value;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is no option; name a file with --edges", value);
        return 0;
    case ARGP_KEY_END:
        if (a->graph.placement_count == 0)
            a->graph.placements[a->graph.placement_count++] = "multilevel";
        if (a->graph.placement_count > 1)
            argp_error(state, "--placements: one only; cleave graph compare takes several");
        cleave__option_apart(state, "--output", a->output ? a->output : "-", "--hypergraph",
                             a->hypergraph);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum cleave_status write_owner(const char *path, const struct cleave__graph *graph,
                                      const uint32_t *owner, struct cleave_error *error)
{
    struct cleave__output output;
    enum cleave_status status = cleave__output_open(&output, path, error);
    if (status)
        return status;
    for (uint32_t v = 0; v < graph->vertices; v++) {
        char buffer[24];
        size_t length;
        const char *id = cleave__graph_id(graph, v, buffer, &length);
        bool quoted = memchr(id, ' ', length) || memchr(id, ',', length) ||
                      memchr(id, ';', length) || memchr(id, '\t', length) || *id == '#' ||
                      *id == '%';
        if (quoted)
            putc('"', output.file);
        fwrite(id, 1, length, output.file);
        fprintf(output.file, "%s %" PRIu32 "\n", quoted ? "\"" : "", owner[v]);
    }
    return cleave__output_commit(&output, error);
}

static const struct cleave_report_column columns[] = {
    {.key = "placement", .title = "placement"},
    {.key = "vertices", .title = "users", .type = CLEAVE_REPORT_INTEGER},
    {.key = "edges", .title = "edges", .type = CLEAVE_REPORT_INTEGER},
    {.key = "shards", .title = "shards", .type = CLEAVE_REPORT_INTEGER},
    {.key = "cut",
     .title = "cut",
     .unit = "%",
     .type = CLEAVE_REPORT_REAL,
     .decimals = 2,
     .scale = 100},
    {.key = "balanced", .title = "balanced", .type = CLEAVE_REPORT_BOOLEAN},
    {.key = "seconds", .title = "seconds", .type = CLEAVE_REPORT_REAL, .decimals = 2},
};

static enum cleave_status print(const struct arguments *a, const struct cleave__graph *graph,
                                const uint32_t *owner, const struct cleave__graph_placed *placed,
                                struct cleave_error *error)
{
    struct cleave_report report;
    uint64_t cut = 0, edges = cleave__graph_edges(graph);
    bool taken = !a->output || !strcmp(a->output, "-");
    FILE *out = taken ? stderr : stdout;
    enum cleave_status status = CLEAVE_OK;
    if (taken && a->graph.common.quiet)
        return CLEAVE_OK;
    for (uint32_t v = 0; v < graph->vertices; v++) {
        for (uint64_t i = graph->offset[v]; i < graph->offset[v + 1]; i++)
            cut += owner[v] != owner[graph->target[i]];
    }
    cleave__report_init(&report, columns, sizeof columns / sizeof *columns);
    if (!cleave__report_row(&report) || !cleave__report_text(&report, 0, a->graph.placements[0])) {
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the table");
    } else {
        cleave__report_integer(&report, 1, graph->vertices);
        cleave__report_integer(&report, 2, (int64_t)edges);
        cleave__report_integer(&report, 3,
                               (int64_t)cleave__graph_now(&a->graph, CLEAVE_AXIS_SHARDS));
        cleave__report_real(&report, 4, edges ? (double)cut / (double)edges : 0);
        cleave__report_boolean(&report, 5, placed->balanced);
        cleave__report_real(&report, 6, placed->seconds);
        if (a->graph.common.json) {
            json_t *rows = cleave__report_json(&report);
            json_t *row = rows ? json_incref(json_array_get(rows, 0)) : NULL;
            json_decref(rows);
            status = cleave__json_write(row, out, error);
        } else {
            status = a->graph.common.csv ? cleave__report_print_csv(&report, out, error)
                                         : cleave__report_print(&report, out, 0, error);
        }
    }
    cleave__report_free(&report);
    return status;
}

static enum cleave_status run(const struct arguments *a, const struct cleave__graph *graph,
                              uint32_t *owner, const struct cleave_progress *progress,
                              struct cleave__graph_placed *placed, struct cleave_error *error)
{
    struct cleave__graph_plan plan;
    uint32_t *train = NULL, trained = 0;
    enum cleave_status status = cleave__graph_plan_of(&a->graph, graph, progress, &plan, error);
    if (!status)
        status = cleave__query_sources(graph, plan.train, plan.seed, &train, &trained, error);
    if (status)
        return status;
    const struct cleave__graph_place_request request = {.graph = graph,
                                                        .shards = plan.shards,
                                                        .balance = plan.balance,
                                                        .epsilon = plan.epsilon,
                                                        .query = &plan.query,
                                                        .source = train,
                                                        .sources = trained,
                                                        .preset = plan.preset,
                                                        .starts = plan.starts,
                                                        .threads = plan.threads,
                                                        .seed = plan.seed,
                                                        .progress = progress};
    struct cleave_hypergraph *h = NULL;
    if (a->hypergraph) {
        status = cleave__graph_place_shape(&request, plan.placements[0], &h, error);
        if (!status)
            status = cleave_hypergraph_write_hgr(h, a->hypergraph, error);
        cleave_hypergraph_free(h);
    }
    if (!status)
        status = cleave__graph_place(&request, plan.placements[0], owner, placed, error);
    free(train);
    return status;
}

int cleave__command_graph_place(int argc, char **argv)
{
    struct argp_child children[] = {{&cleave__graph_source_argp, 0, NULL, 0},
                                    {&cleave__graph_query_argp, 0, NULL, 0},
                                    {&cleave__graph_place_argp, 0, NULL, 0},
                                    {&cleave__options_argp, 0, "Common:", 9},
                                    {0}};
    const struct argp argp = {
        options,  parse, "",  "Places the users of a graph on shards and writes where each one is.",
        children, NULL,  NULL};
    static struct arguments a; /* large: sweeps */
    a = (struct arguments){.graph.common = CLEAVE_OPTIONS_DEFAULT};
    cleave__graph_defaults(&a.graph);
    cleave__options_parse(&argp, argc, argv, &a);
    cleave__graph_settle(&a.graph);
    struct cleave_error error;
    struct cleave_terminal terminal;
    struct cleave__graph *graph = NULL;
    struct cleave__graph_placed placed;
    uint32_t *owner = NULL;
    cleave__interrupt_catch();
    cleave__terminal_init(&terminal, a.graph.common.quiet);
    enum cleave_status status = cleave__graph_open(&a.graph, &terminal.progress, &graph, &error);
    if (!status && !(owner = malloc(((size_t)graph->vertices + 1) * sizeof *owner)))
        status = cleave_error_set(&error, CLEAVE_NO_MEMORY, "no memory for users");
    if (!status)
        status = run(&a, graph, owner, &terminal.progress, &placed, &error);
    cleave__terminal_clear(&terminal);
    if (!status)
        status = write_owner(a.output ? a.output : "-", graph, owner, &error);
    if (!status)
        status = print(&a, graph, owner, &placed, &error);
    cleave__graph_free(graph);
    free(owner);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}
