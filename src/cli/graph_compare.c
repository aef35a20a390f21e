/* cleave graph compare: placements and executors on one workload, swept over any option. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/output.h"
#include "cli/graph.h"
#include "report/json.h"
#include "report/plot.h"
#include "report/report.h"

enum { KEY_PLOT = 0x3000, KEY_Y };

/* Measures in the order of their columns; swept options come before them. */
enum column {
    LOCAL,
    PLACEMENT,
    EXECUTOR,
    SHARDS,
    HOPS,
    HOPS_SAVED,
    REQUESTS,
    REQUESTS_SAVED,
    REMOTE,
    READS,
    LOOKS,
    ROUNDS,
    ANSWERS,
    CUT,
    IMBALANCE_VERTICES,
    IMBALANCE_EDGES,
    IMBALANCE_READS,
    BALANCED,
    SECONDS,
    VERIFIED,
    COLUMNS
};

#define REAL_OF(k, t, d, s)                                                                        \
    {                                                                                              \
        .key = k, .title = t, .type = CLEAVE_REPORT_REAL, .decimals = d, .scale = s                \
    }
static const struct cleave_report_column columns[COLUMNS] = {
    [LOCAL] = {.key = "local", .title = "local", .type = CLEAVE_REPORT_INTEGER},
    [PLACEMENT] = {.key = "placement", .title = "placement"},
    [EXECUTOR] = {.key = "executor", .title = "executor"},
    [SHARDS] = {.key = "shards", .title = "shards", .type = CLEAVE_REPORT_INTEGER},
    [HOPS] = REAL_OF("hops_per_query", "hops", 2, 1),
    [HOPS_SAVED] = REAL_OF("hops_saved", "saved %", 2, 100),
    [REQUESTS] = REAL_OF("requests_per_query", "requests", 2, 1),
    [REQUESTS_SAVED] = REAL_OF("requests_saved", "saved %", 2, 100),
    [REMOTE] = REAL_OF("remote_requests_per_query", "remote", 2, 1),
    [READS] = REAL_OF("reads_per_query", NULL, 2, 1),
    [LOOKS] = REAL_OF("looks_per_query", NULL, 2, 1),
    [ROUNDS] = REAL_OF("rounds_per_query", NULL, 2, 1),
    [ANSWERS] = REAL_OF("answers_per_query", "answers", 1, 1),
    [CUT] = REAL_OF("cut", "cut %", 2, 100),
    [IMBALANCE_VERTICES] = REAL_OF("imbalance.vertices", "imb. users %", 1, 100),
    [IMBALANCE_EDGES] = REAL_OF("imbalance.edges", "edges %", 1, 100),
    [IMBALANCE_READS] = REAL_OF("imbalance.reads", "reads %", 1, 100),
    [BALANCED] = {.key = "balanced", .type = CLEAVE_REPORT_BOOLEAN},
    [SECONDS] = REAL_OF("seconds", "seconds", 2, 1),
    [VERIFIED] = {.key = "verified", .title = "verified", .type = CLEAVE_REPORT_BOOLEAN},
};

struct arguments {
    struct cleave_graph_arguments graph;
    const char *plot;
    enum column y;
    bool has_y;
};

struct output {
    struct arguments *a;
    struct cleave_report_column columns[CLEAVE_GRAPH_AXES + COLUMNS];
    enum cleave_graph_axis swept[CLEAVE_GRAPH_AXES]; /* that have a column of their own */
    uint32_t swept_count, x_axis;                    /* x_axis: CLEAVE_GRAPH_AXES for none */
    struct cleave_report report;
    struct cleave_plot plot;
    uint64_t answers;
    bool verified;
    char wrong[400];
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Output:", 6},
    {"plot", KEY_PLOT, "FILE.svg", 0, "Draw the sweep over the first option with several values",
     6},
    {"y", KEY_Y, "NAME", 0, "What is drawn, by its name in --json (hops_per_query)", 6},
    {0}};

static enum column column_of(struct argp_state *state, const char *name)
{
    for (uint32_t c = 0; c < COLUMNS; c++) {
        if (columns[c].type == CLEAVE_REPORT_REAL && !strcmp(columns[c].key, name))
            return (enum column)c;
    }
    argp_error(state, "--y takes a figure of --json, such as requests_per_query, not '%s'", name);
    return HOPS;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        for (int i = 0; i < 5; i++)
            state->child_inputs[i] = &a->graph;
        state->child_inputs[5] = &a->graph.common;
        return 0;
    case KEY_PLOT:
        a->plot = value;
        return 0;
    case KEY_Y:
        a->y = column_of(state, value);
        a->has_y = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is no option; name a file with --edges", value);
        return 0;
    case ARGP_KEY_END:
        if (a->has_y && !a->plot)
            argp_error(state, "--y goes with --plot FILE.svg");
        if (!a->graph.placement_count) {
            static const char *const usual[] = {"hash", "community", "balanced"};
            for (int i = 0; i < 3; i++)
                a->graph.placements[a->graph.placement_count++] = usual[i];
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static bool has_local(const struct cleave_graph_arguments *a)
{
    return a->generator && strstr(a->generator->uses, "local");
}

/* A column for every swept option that has none yet; what x is. */
static void lay_out(struct output *o)
{
    struct cleave_graph_arguments *a = &o->a->graph;
    o->x_axis = CLEAVE_GRAPH_AXES;
    for (uint32_t i = 0; i < CLEAVE_GRAPH_AXES; i++) {
        const struct cleave_sweep *s = &a->axis[i];
        if (s->count < 2)
            continue;
        if (o->x_axis == CLEAVE_GRAPH_AXES && s->type != CLEAVE_SWEEP_WORD)
            o->x_axis = i;
        if (i == CLEAVE_AXIS_SHARDS || (i == CLEAVE_AXIS_LOCAL && has_local(a)))
            continue;
        static const enum cleave_report_type types[] = {[CLEAVE_SWEEP_WHOLE] =
                                                            CLEAVE_REPORT_INTEGER,
                                                        [CLEAVE_SWEEP_REAL] = CLEAVE_REPORT_REAL,
                                                        [CLEAVE_SWEEP_WORD] = CLEAVE_REPORT_TEXT};
        const char *key = i == CLEAVE_AXIS_SEED ? "seed" : s->name;
        o->columns[o->swept_count] = (struct cleave_report_column){
            .key = key, .title = key, .type = types[s->type], .decimals = 3};
        o->swept[o->swept_count++] = (enum cleave_graph_axis)i;
    }
    memcpy(o->columns + o->swept_count, columns, sizeof columns);
    struct cleave_report_column *local = &o->columns[o->swept_count + LOCAL];
    if (!has_local(a))
        local->title = NULL;
    if (o->a->graph.axis[CLEAVE_AXIS_LIMIT].count < 2 && !cleave__graph_now(a, CLEAVE_AXIS_LIMIT) &&
        !a->target_label && !a->has_degree && !a->has_id)
        o->columns[o->swept_count + ANSWERS].title = NULL;
    cleave__report_init(&o->report, o->columns, o->swept_count + COLUMNS);
}

static double per(uint64_t sum, uint32_t count)
{
    return count ? (double)sum / count : 0;
}

static double saved(double figure, double of)
{
    return of > 0 ? 1 - figure / of : 0;
}

/* The figures of a row; `first`: the first placement's with this executor; `direct`: this
 * placement's with the direct executor, or NULL. */
static void figures(const struct cleave__graph_row *row, const struct cleave__graph_row *first,
                    const struct cleave__graph_row *direct, double *out)
{
    uint32_t n = row->queries;
    for (uint32_t c = 0; c < COLUMNS; c++)
        out[c] = (double)NAN;
    out[HOPS] = per(row->cost.hops, n);
    out[REQUESTS] = per(row->cost.requests, n);
    out[REMOTE] = per(row->cost.remote_requests, n);
    out[READS] = per(row->cost.reads, n);
    out[LOOKS] = per(row->cost.looks, n);
    out[ROUNDS] = per(row->cost.rounds, n);
    out[ANSWERS] = per(row->answers, n);
    out[CUT] = row->cut;
    out[IMBALANCE_VERTICES] = row->imbalance_vertices;
    out[IMBALANCE_EDGES] = row->imbalance_edges;
    out[IMBALANCE_READS] = row->imbalance_reads;
    out[SECONDS] = row->seconds;
    if (first != row)
        out[HOPS_SAVED] = saved(out[HOPS], per(first->cost.hops, n));
    if (direct && direct != row)
        out[REQUESTS_SAVED] = saved(out[REQUESTS], per(direct->cost.requests, n));
}

static bool swept_cells(struct output *o, char *name, size_t size, double *x)
{
    struct cleave_graph_arguments *a = &o->a->graph;
    for (uint32_t i = 0; i < o->swept_count; i++) {
        union cleave_sweep_value value = cleave__sweep_now(&a->axis[o->swept[i]]);
        switch (a->axis[o->swept[i]].type) {
        case CLEAVE_SWEEP_WHOLE:
            cleave__report_integer(&o->report, i, (int64_t)value.whole);
            break;
        case CLEAVE_SWEEP_REAL:
            cleave__report_real(&o->report, i, value.real);
            break;
        case CLEAVE_SWEEP_WORD:
            if (!cleave__report_text(&o->report, i, value.word))
                return false;
            break;
        }
    }
    /* A series of the plot is told apart by all options swept but x. */
    for (uint32_t i = 0; i < CLEAVE_GRAPH_AXES; i++) {
        const struct cleave_sweep *s = &a->axis[i];
        union cleave_sweep_value value = cleave__sweep_now(s);
        double number = s->type == CLEAVE_SWEEP_WHOLE  ? (double)value.whole
                        : s->type == CLEAVE_SWEEP_REAL ? value.real
                                                       : 0;
        size_t used = strlen(name);
        if (i == o->x_axis)
            *x = number;
        else if (s->count > 1 && s->type == CLEAVE_SWEEP_WORD)
            snprintf(name + used, size - used, " %s", value.word);
        else if (s->count > 1)
            snprintf(name + used, size - used, " %s %g", s->name, number);
    }
    return true;
}

static bool add_row(struct output *o, const struct cleave__graph_row *row,
                    const struct cleave__graph_row *first, const struct cleave__graph_row *direct)
{
    struct cleave_graph_arguments *a = &o->a->graph;
    double value[COLUMNS], x = 0;
    uint32_t base = o->swept_count;
    char name[200];
    figures(row, first, direct, value);
    snprintf(name, sizeof name, "%s%s%s", row->placement, a->executor_count > 1 ? " " : "",
             a->executor_count > 1 ? row->executor : "");
    if (!cleave__report_row(&o->report) || !swept_cells(o, name, sizeof name, &x) ||
        !cleave__report_text(&o->report, base + PLACEMENT, row->placement) ||
        !cleave__report_text(&o->report, base + EXECUTOR, row->executor))
        return false;
    if (has_local(a))
        cleave__report_integer(&o->report, base + LOCAL,
                               (int64_t)cleave__graph_now(a, CLEAVE_AXIS_LOCAL));
    cleave__report_integer(&o->report, base + SHARDS,
                           (int64_t)cleave__graph_now(a, CLEAVE_AXIS_SHARDS));
    for (uint32_t c = 0; c < COLUMNS; c++) {
        if (columns[c].type == CLEAVE_REPORT_REAL)
            cleave__report_real(&o->report, base + c, value[c]);
    }
    cleave__report_boolean(&o->report, base + BALANCED, row->balanced);
    cleave__report_boolean(&o->report, base + VERIFIED, row->verified);
    o->answers += row->queries;
    if (!row->verified && o->verified) {
        o->verified = false;
        snprintf(o->wrong, sizeof o->wrong, "%.60s, %s: %s", row->placement, row->executor,
                 row->wrong);
    }
    return !o->a->plot || cleave__plot_add(&o->plot, name, x, value[o->a->y]);
}

static enum cleave_status run_point(void *context, const struct cleave__graph *graph,
                                    const struct cleave_progress *progress,
                                    struct cleave_error *error)
{
    struct output *o = context;
    struct cleave_graph_arguments *a = &o->a->graph;
    struct cleave__graph_plan plan;
    uint32_t rows = a->placement_count * a->executor_count, direct = a->executor_count;
    struct cleave__graph_row *row = malloc(((size_t)rows + 1) * sizeof *row);
    enum cleave_status status = CLEAVE_OK;
    if (!row)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the comparison");
    if (!status)
        status = cleave__graph_plan_of(a, graph, progress, &plan, error);
    if (!status)
        status = cleave__graph_compare(graph, &plan, row, error);
    for (uint32_t e = 0; e < a->executor_count; e++) {
        if (!strcmp(a->executors[e]->name, "direct"))
            direct = e;
    }
    for (uint32_t r = 0; r < rows && !status; r++) {
        uint32_t e = r % a->executor_count;
        if (!add_row(o, &row[r], &row[e], direct < a->executor_count ? &row[r - e + direct] : NULL))
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the table");
    }
    free(row);
    return status;
}

static enum cleave_status print_json(struct output *o, struct cleave_error *error)
{
    struct cleave_graph_arguments *a = &o->a->graph;
    json_t *root = json_object();
    uint64_t seed = a->axis[CLEAVE_AXIS_SEED].value[0].whole;
    json_object_set_new(root, "graph",
                        a->generator ? json_string(a->generator->name)
                                     : cleave__json_text(a->edges, strlen(a->edges)));
    json_object_set_new(root, "seed", cleave__json_unsigned(seed));
    json_object_set_new(root, "rows", cleave__report_json(&o->report));
    json_object_set_new(root, "answers", json_integer((json_int_t)o->answers));
    json_object_set_new(root, "verified", json_boolean(o->verified));
    if (!o->verified)
        json_object_set_new(root, "wrong", cleave__json_text(o->wrong, strlen(o->wrong)));
    return cleave__json_write(root, stdout, error);
}

static enum cleave_status print_table(struct output *o, struct cleave_error *error)
{
    struct winsize size;
    uint32_t width =
        isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    if (o->a->graph.common.csv)
        return cleave__report_print_csv(&o->report, stdout, error);
    enum cleave_status status = cleave__report_print(&o->report, stdout, width, error);
    if (!status && o->verified)
        printf("\nverified: %" PRIu64 " answers, all as from the unsharded graph\n", o->answers);
    return status;
}

static enum cleave_status draw(struct output *o, struct cleave_error *error)
{
    struct cleave__output file;
    char title[200], y_title[60];
    const struct cleave_graph_arguments *a = &o->a->graph;
    snprintf(title, sizeof title, "%s, %" PRIu64 " hops",
             a->generator ? a->generator->name : a->edges,
             a->axis[CLEAVE_AXIS_HOPS].value[0].whole);
    o->plot.title = title;
    o->plot.x_title = a->axis[o->x_axis].name;
    snprintf(y_title, sizeof y_title, "%s", columns[o->a->y].key);
    for (char *c = y_title; *c; c++)
        *c = *c == '_' || *c == '.' ? ' ' : *c;
    o->plot.y_title = y_title;
    enum cleave_status status = cleave__output_open(&file, o->a->plot, error);
    if (status)
        return status;
    struct cleave_error why;
    status = cleave__plot_write(&o->plot, file.file, &why);
    if (!status)
        return cleave__output_commit(&file, error);
    cleave__output_abandon(&file);
    return cleave_error_set(error, status, "%.200s: %.300s", o->a->plot, why.message);
}

int cleave__command_graph_compare(int argc, char **argv)
{
    struct argp_child children[] = {{&cleave__graph_source_argp, 0, NULL, 0},
                                    {&cleave__graph_query_argp, 0, NULL, 0},
                                    {&cleave__graph_place_argp, 0, NULL, 0},
                                    {&cleave__graph_executor_argp, 0, NULL, 0},
                                    {&cleave__graph_queries_argp, 0, NULL, 0},
                                    {&cleave__options_argp, 0, "Common:", 9},
                                    {0}};
    const struct argp argp = {options,
                              parse,
                              "",
                              "Compares placements and ways to carry out queries on one graph: "
                              "hops, requests, balance; every "
                              "answer is compared with the unsharded graph's. Options that take a "
                              "number take a list or a "
                              "range too (2,4,8 or 0..8), and are swept.",
                              children,
                              NULL,
                              NULL};
    static struct arguments a; /* large: sweeps */
    static struct output o;
    a = (struct arguments){.graph.common = CLEAVE_OPTIONS_DEFAULT, .graph.sweeps = true, .y = HOPS};
    cleave__graph_defaults(&a.graph);
    cleave__options_parse(&argp, argc, argv, &a);
    cleave__graph_settle(&a.graph);
    o = (struct output){.a = &a, .verified = true};
    lay_out(&o);
    struct cleave_error error;
    struct cleave_terminal terminal;
    enum cleave_status status = CLEAVE_OK;
    if (a.plot && o.x_axis == CLEAVE_GRAPH_AXES)
        status = cleave_error_set(&error, CLEAVE_BAD_ARGUMENT,
                                  "--plot: give some option several values, such as --local 0..8");
    cleave__interrupt_catch();
    cleave__terminal_init(&terminal, a.graph.common.quiet);
    if (!status)
        status = cleave__graph_sweep(&a.graph, &terminal.progress, run_point, &o, &error);
    cleave__terminal_clear(&terminal);
    if (!status && a.plot)
        status = draw(&o, &error);
    if (!status)
        status = a.graph.common.json ? print_json(&o, &error) : print_table(&o, &error);
    if (!status && !o.verified)
        status = cleave_error_set(&error, CLEAVE_CORRUPT, "NOT verified: %s", o.wrong);
    cleave__report_free(&o.report);
    cleave__plot_free(&o.plot);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}
