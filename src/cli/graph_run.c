/* cleave graph run: a sharded graph at work, on simulated machines or on threads, swept over any
 * option. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/output.h"
#include "cli/graph_run.h"
#include "report/json.h"

#define REAL_OF(k, t, d, s)                                                                        \
    {                                                                                              \
        .key = k, .title = t, .type = CLEAVE_REPORT_REAL, .decimals = d, .scale = s                \
    }
#define WHOLE_OF(k, t)                                                                             \
    {                                                                                              \
        .key = k, .title = t, .type = CLEAVE_REPORT_INTEGER                                        \
    }
const struct cleave_report_column cleave__graph_run_columns[CLEAVE_RUN_COLUMNS] = {
    [CLEAVE_RUN_PLACEMENT] = {.key = "placement", .title = "placement"},
    [CLEAVE_RUN_EXECUTOR] = {.key = "executor", .title = "executor"},
    [CLEAVE_RUN_SHARDS] = WHOLE_OF("shards", "shards"),
    [CLEAVE_RUN_P50] = REAL_OF("latency_ms.p50", "p50 ms", 3, 1),
    [CLEAVE_RUN_P99] = REAL_OF("latency_ms.p99", "p99 ms", 3, 1),
    [CLEAVE_RUN_P999] = REAL_OF("latency_ms.p999", "p99.9 ms", 3, 1),
    [CLEAVE_RUN_MEAN] = REAL_OF("latency_ms.mean", NULL, 3, 1),
    [CLEAVE_RUN_RATE] = REAL_OF("queries_per_s", "queries/s", 0, 1),
    [CLEAVE_RUN_HOPS] = REAL_OF("hops_per_query", NULL, 2, 1),
    [CLEAVE_RUN_REQUESTS] = REAL_OF("requests_per_query", "requests", 2, 1),
    [CLEAVE_RUN_REMOTE] = REAL_OF("remote_requests_per_query", "remote", 2, 1),
    [CLEAVE_RUN_READS] = REAL_OF("reads_per_query", "reads", 2, 1),
    [CLEAVE_RUN_BYTES] = REAL_OF("bytes_per_query", "bytes", 0, 1),
    [CLEAVE_RUN_QUEUE] = WHOLE_OF("queue_most", "queue"),
    [CLEAVE_RUN_WAITING] = REAL_OF("waiting_ms.p99", NULL, 3, 1),
    [CLEAVE_RUN_BUSIEST] = REAL_OF("busiest", "busiest %", 1, 100),
    [CLEAVE_RUN_IMBALANCE] = REAL_OF("imbalance.reads", "imb. reads %", 1, 100),
    [CLEAVE_RUN_HITS] = REAL_OF("cache.hit_ratio", "hits %", 2, 100),
    [CLEAVE_RUN_CACHE_REQUESTS] = WHOLE_OF("cache.requests", NULL),
    [CLEAVE_RUN_CACHE_MISSES] = WHOLE_OF("cache.misses", NULL),
    [CLEAVE_RUN_INVALIDATIONS] = WHOLE_OF("cache.invalidations", NULL),
    [CLEAVE_RUN_HOT] = REAL_OF("hot.reads_per_user", NULL, 2, 1),
    [CLEAVE_RUN_COLD] = REAL_OF("hot.reads_per_other_user", NULL, 2, 1),
    [CLEAVE_RUN_CHANGED] = WHOLE_OF("change.lists", "changed"),
    [CLEAVE_RUN_MOVES] = WHOLE_OF("change.moves", "moves"),
    [CLEAVE_RUN_MOVES_GIVEN_UP] = WHOLE_OF("change.moves_given_up", NULL),
    [CLEAVE_RUN_MOVED] = WHOLE_OF("change.users_moved", "moved"),
    [CLEAVE_RUN_FORWARDED] = WHOLE_OF("change.forwarded", "forwarded"),
    [CLEAVE_RUN_COPIED] = WHOLE_OF("copies.users", "copied"),
    [CLEAVE_RUN_COPIED_BYTES] = WHOLE_OF("copies.bytes", NULL),
    [CLEAVE_RUN_COPY_READS] = WHOLE_OF("copies.reads", "copy reads"),
    [CLEAVE_RUN_ELSEWHERE] = WHOLE_OF("copies.sent_elsewhere", NULL),
    [CLEAVE_RUN_AMPLIFIED] = REAL_OF("copies.messages_per_change", "msgs/change", 2, 1),
    [CLEAVE_RUN_AMPLIFIED_BYTES] = REAL_OF("copies.bytes_per_change", NULL, 1, 1),
    [CLEAVE_RUN_CRASHES] = WHOLE_OF("faults.crashes", "crashes"),
    [CLEAVE_RUN_REPEATED] = WHOLE_OF("faults.requests_repeated", "repeated"),
    [CLEAVE_RUN_VERIFIED] = {.key = "verified", .title = "verified", .type = CLEAVE_REPORT_BOOLEAN},
};

static double per(uint64_t sum, uint64_t count)
{
    return count ? (double)sum / (double)count : (double)NAN;
}

/* The figures of a row, by column; NAN where there is none. */
static void figures(const struct cleave__served *r, uint32_t shards, double *out)
{
    for (uint32_t c = 0; c < CLEAVE_RUN_COLUMNS; c++)
        out[c] = (double)NAN;
    out[CLEAVE_RUN_P50] = (double)r->p50_ns * 1e-6;
    out[CLEAVE_RUN_P99] = (double)r->p99_ns * 1e-6;
    out[CLEAVE_RUN_P999] = (double)r->p999_ns * 1e-6;
    out[CLEAVE_RUN_MEAN] = r->mean_ns * 1e-6;
    out[CLEAVE_RUN_RATE] = r->queries_per_s;
    out[CLEAVE_RUN_HOPS] = per(r->hops, r->queries);
    out[CLEAVE_RUN_REQUESTS] = per(r->requests, r->queries);
    out[CLEAVE_RUN_REMOTE] = per(r->remote_requests, r->queries);
    out[CLEAVE_RUN_READS] = per(r->reads, r->queries);
    out[CLEAVE_RUN_BYTES] = r->bytes ? per(r->bytes, r->queries) : (double)NAN;
    out[CLEAVE_RUN_WAITING] = (double)r->waiting_p99_ns * 1e-6;
    out[CLEAVE_RUN_BUSIEST] = r->busiest;
    out[CLEAVE_RUN_IMBALANCE] = per(r->reads_most * shards, r->shard_reads) - 1;
    out[CLEAVE_RUN_AMPLIFIED] = per(r->copy_messages, r->changes);
    out[CLEAVE_RUN_AMPLIFIED_BYTES] = per(r->copy_sent, r->changes);
    out[CLEAVE_RUN_HITS] = per(r->cache.hits, r->cache.requests);
    out[CLEAVE_RUN_HOT] = per(r->hot_reads, r->hot);
    out[CLEAVE_RUN_COLD] = per(r->cold_reads, r->cold);
}

static void whole_figures(struct cleave_report *report, uint32_t base,
                          const struct cleave__served *r)
{
    const struct {
        enum cleave_graph_run_column column;
        uint64_t value;
    } figure[] = {{CLEAVE_RUN_CHANGED, r->changes},
                  {CLEAVE_RUN_MOVES, r->moves},
                  {CLEAVE_RUN_MOVES_GIVEN_UP, r->moves_given_up},
                  {CLEAVE_RUN_MOVED, r->moved},
                  {CLEAVE_RUN_FORWARDED, r->forwarded},
                  {CLEAVE_RUN_COPIED, r->copied},
                  {CLEAVE_RUN_COPIED_BYTES, r->copied_bytes},
                  {CLEAVE_RUN_COPY_READS, r->copy_reads},
                  {CLEAVE_RUN_ELSEWHERE, r->elsewhere},
                  {CLEAVE_RUN_CRASHES, r->crashes},
                  {CLEAVE_RUN_REPEATED, r->repeated}};
    for (uint32_t i = 0; i < sizeof figure / sizeof *figure; i++)
        cleave__report_integer(report, base + figure[i].column, (int64_t)figure[i].value);
}

static enum cleave_report_type type_of(const struct cleave_sweep *sweep)
{
    return sweep->type == CLEAVE_SWEEP_WHOLE  ? CLEAVE_REPORT_INTEGER
           : sweep->type == CLEAVE_SWEEP_REAL ? CLEAVE_REPORT_REAL
                                              : CLEAVE_REPORT_TEXT;
}

/* Columns: the options that are swept, then the figures. */
static void lay_out(struct cleave_graph_run *o)
{
    struct cleave_graph_run_arguments *a = o->a;
    for (uint32_t i = 0; i < CLEAVE_GRAPH_AXES + CLEAVE_RUN_AXES; i++) {
        struct cleave_sweep *s =
            i < CLEAVE_GRAPH_AXES ? &a->graph.axis[i] : &a->axis[i - CLEAVE_GRAPH_AXES];
        if (s->count > 1 && s->type != CLEAVE_SWEEP_WORD && !o->x_axis)
            o->x_axis = s;
        if (s->count < 2 || i == CLEAVE_AXIS_SHARDS)
            continue;
        const char *key = i == CLEAVE_AXIS_SEED ? "seed" : s->name;
        o->columns[o->swept_count] = (struct cleave_report_column){
            .key = key, .title = key, .type = type_of(s), .decimals = 3};
        o->swept[o->swept_count++] = s;
    }
    memcpy(o->columns + o->swept_count, cleave__graph_run_columns,
           sizeof cleave__graph_run_columns);
    struct cleave_report_column *figure = o->columns + o->swept_count;
    if (!a->cached)
        figure[CLEAVE_RUN_HITS].title = NULL;
    for (uint32_t c = CLEAVE_RUN_CHANGED; c < CLEAVE_RUN_VERIFIED && !a->changing; c++)
        figure[c].title = NULL;
    if (!a->fault_count)
        figure[CLEAVE_RUN_CRASHES].title = figure[CLEAVE_RUN_REPEATED].title = NULL;
    if (a->threaded || a->nats.told)
        figure[CLEAVE_RUN_BUSIEST].title = NULL;
    if (a->nats.told) /* only they know */
        figure[CLEAVE_RUN_PLACEMENT].title = figure[CLEAVE_RUN_SHARDS].title =
            figure[CLEAVE_RUN_QUEUE].title = figure[CLEAVE_RUN_IMBALANCE].title =
                figure[CLEAVE_RUN_BYTES].title = NULL;
    cleave__report_init(&o->report, o->columns, o->swept_count + CLEAVE_RUN_COLUMNS);
}

static bool swept_cells(struct cleave_graph_run *o)
{
    for (uint32_t i = 0; i < o->swept_count; i++) {
        union cleave_sweep_value value = cleave__sweep_now(o->swept[i]);
        if (o->swept[i]->type == CLEAVE_SWEEP_WHOLE)
            cleave__report_integer(&o->report, i, (int64_t)value.whole);
        else if (o->swept[i]->type == CLEAVE_SWEEP_REAL)
            cleave__report_real(&o->report, i, value.real);
        else if (!cleave__report_text(&o->report, i, value.word))
            return false;
    }
    return true;
}

static double number_of(const struct cleave_sweep *sweep)
{
    union cleave_sweep_value value = cleave__sweep_now(sweep);
    return sweep->type == CLEAVE_SWEEP_WHOLE ? (double)value.whole : value.real;
}

/* A point of the plot: its line is told apart by all options swept but x. */
static bool add_point(struct cleave_graph_run *o, const char *placement, const char *executor,
                      double value)
{
    const struct cleave_graph_arguments *a = &o->a->graph;
    char name[200];
    snprintf(name, sizeof name, "%s%s%s", a->placement_count > 1 ? placement : "",
             a->placement_count > 1 ? " " : "", executor);
    const struct cleave_sweep *shards = &a->axis[CLEAVE_AXIS_SHARDS];
    for (uint32_t i = 0; i <= o->swept_count; i++) {
        const struct cleave_sweep *s = i < o->swept_count ? o->swept[i] : shards;
        size_t used = strlen(name);
        if (s == o->x_axis || s->count < 2)
            continue;
        if (s->type == CLEAVE_SWEEP_WORD)
            snprintf(name + used, sizeof name - used, " %s", cleave__sweep_now(s).word);
        else
            snprintf(name + used, sizeof name - used, " %s %g", s->name, number_of(s));
    }
    return cleave__plot_add(&o->plot, name, number_of(o->x_axis), value);
}

static bool add_row(struct cleave_graph_run *o, const char *placement, const char *executor,
                    const struct cleave__served *r)
{
    double value[CLEAVE_RUN_COLUMNS];
    uint32_t base = o->swept_count,
             shards = (uint32_t)cleave__graph_now(&o->a->graph, CLEAVE_AXIS_SHARDS);
    figures(r, shards, value);
    if (!cleave__report_row(&o->report) || !swept_cells(o) ||
        !cleave__report_text(&o->report, base + CLEAVE_RUN_PLACEMENT, placement) ||
        !cleave__report_text(&o->report, base + CLEAVE_RUN_EXECUTOR, executor))
        return false;
    for (uint32_t c = 0; c < CLEAVE_RUN_COLUMNS; c++) {
        if (cleave__graph_run_columns[c].type == CLEAVE_REPORT_REAL)
            cleave__report_real(&o->report, base + c, value[c]);
    }
    cleave__report_integer(&o->report, base + CLEAVE_RUN_SHARDS, shards);
    cleave__report_integer(&o->report, base + CLEAVE_RUN_QUEUE, (int64_t)r->queue_most);
    if (o->a->cached) {
        cleave__report_integer(&o->report, base + CLEAVE_RUN_CACHE_REQUESTS,
                               (int64_t)r->cache.requests);
        cleave__report_integer(&o->report, base + CLEAVE_RUN_CACHE_MISSES,
                               (int64_t)r->cache.misses);
        cleave__report_integer(&o->report, base + CLEAVE_RUN_INVALIDATIONS,
                               (int64_t)r->cache.invalidations);
    }
    if (o->a->changing)
        whole_figures(&o->report, base, r);
    cleave__report_boolean(&o->report, base + CLEAVE_RUN_VERIFIED, r->verified);
    o->answers += r->queries;
    if (!r->verified && o->verified) {
        o->verified = false;
        snprintf(o->wrong, sizeof o->wrong, "%.60s, %s: %s", placement, executor, r->wrong);
    }
    return !o->a->plot || add_point(o, placement, executor, value[o->a->y]);
}

/* By processes that are elsewhere: this one is a client, with all that clients have under way. */
static enum cleave_status serve_far(struct cleave_graph_run *o, const struct cleave__graph *graph,
                                    struct cleave__serving *serving, struct cleave__served *out,
                                    struct cleave_error *error)
{
    struct cleave_graph_far far;
    uint64_t under_way = (uint64_t)serving->clients * serving->outstanding;
    enum cleave_status status =
        cleave__graph_far_open(&far, &o->a->nats, graph, NULL, NULL, NULL, NULL, error);
    if (status)
        return status;
    cleave__agreement_apply(&far.agreement, serving);
    status = cleave__graph_far_sit(&far, CLEAVE_SEAT_PATIENCE_S, serving->progress, error);
    serving->transport = &cleave__nats;
    serving->nats = far.nats;
    serving->part = CLEAVE__PART_CLIENT;
    serving->seat = far.seat;
    serving->outstanding = (uint32_t)(under_way < serving->sources ? under_way : serving->sources);
    serving->finals = 0;
    serving->patience_ns = UINT64_C(100000000000); /* without any answer */
    if (!status)
        status = cleave__graph_serve(graph, serving, out, error);
    cleave__graph_far_close(&far);
    return status;
}

/* One placement, all executors, and the options of the run, swept. */
static enum cleave_status run_owner(struct cleave_graph_run *o, const struct cleave__graph *graph,
                                    const struct cleave__graph_plan *plan, const char *placement,
                                    const uint32_t *owner, const uint32_t *source,
                                    struct cleave_error *error)
{
    struct cleave_graph_run_arguments *a = o->a;
    enum cleave_status status = CLEAVE_OK;
    uint32_t changed;
    do {
        for (uint32_t e = 0; e < plan->executor_count && !status; e++) {
            struct cleave__serving serving;
            struct cleave__served served;
            status = cleave__graph_run_serving(a, plan, plan->executors[e]->name, owner, source,
                                               &serving, error);
            if (!status)
                status = a->nats.told ? serve_far(o, graph, &serving, &served, error)
                                      : cleave__graph_serve(graph, &serving, &served, error);
            if (!status && !add_row(o, placement, plan->executors[e]->name, &served))
                status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the table");
        }
    } while (!status && cleave__sweep_next(a->axis, CLEAVE_RUN_AXES, &changed));
    return status;
}

static enum cleave_status run_point(void *context, const struct cleave__graph *graph,
                                    const struct cleave_progress *progress,
                                    struct cleave_error *error)
{
    struct cleave_graph_run *o = context;
    struct cleave_graph_run_arguments *a = o->a;
    struct cleave__graph_plan plan;
    uint32_t *source = NULL, *train = NULL, trained = 0;
    uint32_t *owner = malloc(((size_t)graph->vertices + 1) * sizeof *owner);
    enum cleave_status status = cleave__graph_plan_of(&a->graph, graph, progress, &plan, error);
    if (!status && !owner)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for placements");
    if (!status)
        status = cleave__graph_run_sources(a, graph, &plan, &source, error);
    if (!status)
        status = cleave__query_sources(graph, plan.train, plan.seed + 1, &train, &trained, error);
    for (uint32_t p = 0; p < plan.placement_count && !status; p++) {
        status = cleave__graph_place(&(struct cleave__graph_place_request){.graph = graph,
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
                                                                           .progress = progress},
                                     plan.placements[p], owner, NULL, error);
        if (!status)
            status = run_owner(o, graph, &plan, plan.placements[p], owner, source, error);
    }
    free(owner);
    free(source);
    free(train);
    return status;
}

static enum cleave_status print(struct cleave_graph_run *o, struct cleave_error *error)
{
    const struct cleave_graph_arguments *a = &o->a->graph;
    struct winsize size;
    if (a->common.json) {
        json_t *root = json_object();
        json_object_set_new(root, "graph",
                            a->generator ? json_string(a->generator->name)
                                         : cleave__json_text(a->edges, strlen(a->edges)));
        json_object_set_new(root, "seed",
                            cleave__json_unsigned(a->axis[CLEAVE_AXIS_SEED].value[0].whole));
        json_object_set_new(root, "transport",
                            json_string(o->a->nats.told  ? "nats"
                                        : o->a->threaded ? "threads"
                                                         : "sim"));
        json_object_set_new(root, "rows", cleave__report_json(&o->report));
        json_object_set_new(root, "answers", json_integer((json_int_t)o->answers));
        json_object_set_new(root, "verified", json_boolean(o->verified));
        if (!o->verified)
            json_object_set_new(root, "wrong", cleave__json_text(o->wrong, strlen(o->wrong)));
        return cleave__json_write(root, stdout, error);
    }
    if (a->common.csv)
        return cleave__report_print_csv(&o->report, stdout, error);
    uint32_t width =
        isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    enum cleave_status status = cleave__report_print(&o->report, stdout, width, error);
    if (!status && o->verified)
        printf("\nverified: %" PRIu64 " answers, all as from the unsharded graph\n", o->answers);
    return status;
}

static enum cleave_status draw(struct cleave_graph_run *o, struct cleave_error *error)
{
    struct cleave__output file;
    const struct cleave_graph_arguments *a = &o->a->graph;
    char title[200], y_title[60];
    snprintf(title, sizeof title, "%s at work", a->generator ? a->generator->name : a->edges);
    snprintf(y_title, sizeof y_title, "%s", cleave__graph_run_columns[o->a->y].key);
    for (char *c = y_title; *c; c++)
        *c = *c == '_' || *c == '.' ? ' ' : *c;
    o->plot.title = title;
    o->plot.x_title = o->x_axis->name;
    o->plot.y_title = y_title;
    enum cleave_status status = cleave__output_open(&file, o->a->plot, error);
    if (status)
        return status;
    status = cleave__plot_write(&o->plot, file.file, error);
    if (status)
        cleave__output_abandon(&file);
    else
        status = cleave__output_commit(&file, error);
    return status;
}

int cleave__command_graph_run(int argc, char **argv)
{
    static struct cleave_graph_run_arguments a; /* large: sweeps */
    static struct cleave_graph_run o;
    struct cleave_error error;
    struct cleave_terminal terminal;
    struct cleave_observe observe;
    cleave__graph_run_parse(argc, argv, &a);
    o = (struct cleave_graph_run){.a = &a, .verified = true};
    lay_out(&o);
    cleave__interrupt_catch();
    cleave__terminal_init(&terminal, a.graph.common.quiet);
    enum cleave_status status = CLEAVE_OK;
    if (a.plot && !o.x_axis)
        status =
            cleave_error_set(&error, CLEAVE_BAD_ARGUMENT,
                             "--plot: give some option several values, such as --clients 8,64");
    if (!status)
        status = cleave__observe_open(&observe, &a.observe, a.graph.common.quiet, &error);
    if (!status) {
        a.metrics = observe.metrics;
        cleave__observe_ready(&observe);
        status = cleave__graph_sweep(&a.graph, &terminal.progress, run_point, &o, &error);
        status = cleave__observe_close(&observe, status, &error);
    }
    cleave__terminal_clear(&terminal);
    if (!status && a.plot)
        status = draw(&o, &error);
    if (!status)
        status = print(&o, &error);
    if (!status && !o.verified)
        status = cleave_error_set(&error, CLEAVE_CORRUPT, "NOT verified: %s", o.wrong);
    cleave__report_free(&o.report);
    cleave__plot_free(&o.plot);
    cleave__graph_run_release(&a);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}
