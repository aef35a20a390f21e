/* cleave graph stats: what a graph looks like, and what was left out of its file. */
#include <inttypes.h>
#include <jansson.h>

#include "cli/graph.h"
#include "graph/source/stats.h"
#include "report/json.h"

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct cleave_graph_arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = a;
        state->child_inputs[1] = &a->common;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is no option; name a file with --edges", value);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print_text(const struct cleave__graph *g, const struct cleave__graph_stats *s)
{
    const struct cleave__graph_remarks *r = &g->remarks;
    double mean = g->vertices ? (double)s->edges / g->vertices : 0;
    printf("%" PRIu32 " users, %" PRIu64 " edges, %.2f a user\n", g->vertices, s->edges, mean);
    printf("edges out of a user: at most %" PRIu32 ", half have %" PRIu32 " or fewer, %" PRIu32
           " users none\n",
           s->out_most, s->out_median, s->without_out);
    printf("edges into a user: at most %" PRIu32 ", half have %" PRIu32 " or fewer, %" PRIu32
           " users none\n",
           s->in_most, s->in_median, s->without_in);
    printf("mutual edges: %" PRIu64 "\n", s->mutual);
    printf("components: %" PRIu32 ", the largest of %" PRIu32 " users\n", s->components,
           s->largest);
    printf("left out: %" PRIu64 " repeated edges, %" PRIu64 " from users to themselves\n",
           r->duplicates, r->loops);
    if (r->header)
        printf("the first line names columns\n");
    if (r->further_fields)
        printf("%" PRIu64 " lines have fields after the second, which are passed over\n",
               r->further_fields);
    if (g->label)
        printf("labels: %" PRIu32 "; %.2f %% of edges within one; %" PRIu64
               " users without, %" PRIu64 " labels of others\n",
               g->labels, s->edges ? 100 * (double)s->label_inside / (double)s->edges : 0,
               r->unlabelled, r->stray_labels);
}

static enum cleave_status print_json(const struct cleave__graph *g,
                                     const struct cleave__graph_stats *s,
                                     struct cleave_error *error)
{
    const struct cleave__graph_remarks *r = &g->remarks;
    json_t *labels = json_null();
    if (g->label)
        labels = json_pack("{s:I, s:I, s:I, s:I}", "count", (json_int_t)g->labels, "edges_within",
                           (json_int_t)s->label_inside, "unlabelled", (json_int_t)r->unlabelled,
                           "stray", (json_int_t)r->stray_labels);
    json_t *out = json_pack("{s:I, s:I, s:I}", "most", (json_int_t)s->out_most, "median",
                            (json_int_t)s->out_median, "without", (json_int_t)s->without_out);
    json_t *in = json_pack("{s:I, s:I, s:I}", "most", (json_int_t)s->in_most, "median",
                           (json_int_t)s->in_median, "without", (json_int_t)s->without_in);
    json_t *root = json_pack(
        "{s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:I, s:o}", "vertices",
        (json_int_t)g->vertices, "edges", (json_int_t)s->edges, "out_degree", out, "in_degree", in,
        "mutual", (json_int_t)s->mutual, "components", (json_int_t)s->components,
        "largest_component", (json_int_t)s->largest, "lines", (json_int_t)r->lines, "duplicates",
        (json_int_t)r->duplicates, "loops", (json_int_t)r->loops, "header", (int)r->header,
        "further_fields", (json_int_t)r->further_fields, "labels", labels);
    return cleave__json_write(root, stdout, error);
}

static void print_csv(const struct cleave__graph *g, const struct cleave__graph_stats *s)
{
    printf("vertices,edges,out_most,in_most,mutual,components,largest_component,duplicates,loops\n"
           "%" PRIu32 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32
           ",%" PRIu64 ",%" PRIu64 "\n",
           g->vertices, s->edges, s->out_most, s->in_most, s->mutual, s->components, s->largest,
           g->remarks.duplicates, g->remarks.loops);
}

int cleave__command_graph_stats(int argc, char **argv)
{
    struct argp_child children[] = {
        {&cleave__graph_source_argp, 0, NULL, 0}, {&cleave__options_argp, 0, "Common:", 9}, {0}};
    const struct argp argp = {
        NULL,     parse, "",  "Tells what a graph looks like: users, edges, degrees, components.",
        children, NULL,  NULL};
    static struct cleave_graph_arguments a; /* large: sweeps */
    a = (struct cleave_graph_arguments){.common = CLEAVE_OPTIONS_DEFAULT};
    cleave__graph_defaults(&a);
    cleave__options_parse(&argp, argc, argv, &a);
    cleave__graph_settle(&a);
    struct cleave_error error;
    struct cleave_terminal terminal;
    struct cleave__graph *graph = NULL;
    struct cleave__graph_stats stats;
    cleave__interrupt_catch();
    cleave__terminal_init(&terminal, a.common.quiet);
    enum cleave_status status = cleave__graph_open(&a, &terminal.progress, &graph, &error);
    if (!status)
        status = cleave__graph_stats(graph, &stats, &error);
    cleave__terminal_clear(&terminal);
    if (!status && a.common.json)
        status = print_json(graph, &stats, &error);
    else if (!status && a.common.csv)
        print_csv(graph, &stats);
    else if (!status)
        print_text(graph, &stats);
    cleave__graph_free(graph);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}
