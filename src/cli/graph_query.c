/* cleave graph query: one question, answered on shards by every executor, and what each cost. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/graph_far.h"
#include "graph/oracle/oracle.h"
#include "report/json.h"
#include "report/report.h"

enum { KEY_FROM = 0x3000, KEY_ALL, KEY_CHECK, KEY_PATIENCE, SHOWN = 20 };

struct arguments {
    struct cleave_graph_arguments graph;
    struct cleave_nats_arguments nats;
    const char *from;
    bool all, check;
    uint64_t patience_s;
};

struct asked {
    struct cleave__graph *graph;
    struct cleave__sharded *sharded;
    struct cleave__execution *execution;
    struct cleave__graph_oracle *oracle;
    struct cleave_report report;
    uint32_t *owner, *train;
    uint32_t *answer, answers;   /* of the first executor */
    struct cleave_graph_far far; /* if it is served elsewhere */
    bool verified, checked;
    char wrong[300];
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "The question:", 1},
    {"from", KEY_FROM, "ID", 0, "The user to start from", 1},
    {"check", KEY_CHECK, NULL, 0, "Hold the answer of processes against the unsharded graph", 1},
    {"patience", KEY_PATIENCE, "S", 0, "And give up after so many seconds, 1 to 100 (30)", 1},
    {"all", KEY_ALL, NULL, 0, "Print every answer, not the first 20 only", 6},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        for (int i = 0; i < 4; i++)
            state->child_inputs[i] = &a->graph;
        state->child_inputs[4] = &a->graph.common;
        state->child_inputs[5] = &a->nats;
        return 0;
    case KEY_CHECK:
        a->check = true;
        return 0;
    case KEY_PATIENCE:
        a->patience_s = (uint64_t)cleave__option_integer(state, "--patience", value, 1, 100);
        return 0;
    case KEY_FROM:
        a->from = value;
        return 0;
    case KEY_ALL:
        a->all = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is no option; name a file with --edges", value);
        return 0;
    case ARGP_KEY_END:
        if (!a->from)
            argp_error(state, "reachable from whom? --from ID");
        if (a->graph.placement_count == 0)
            a->graph.placements[a->graph.placement_count++] = "hash";
        if (a->graph.placement_count > 1)
            argp_error(state, "--placements: one only; cleave graph compare takes several");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct cleave_report_column columns[] = {
    {.key = "executor", .title = "executor"},
    {.key = "hops", .title = "hops", .type = CLEAVE_REPORT_INTEGER},
    {.key = "requests", .title = "requests", .type = CLEAVE_REPORT_INTEGER},
    {.key = "remote_requests", .title = "remote", .type = CLEAVE_REPORT_INTEGER},
    {.key = "reads", .title = "reads", .type = CLEAVE_REPORT_INTEGER},
    {.key = "looks", .title = "looks", .type = CLEAVE_REPORT_INTEGER},
    {.key = "rounds", .title = "rounds", .type = CLEAVE_REPORT_INTEGER},
    {.key = "answers", .title = "answers", .type = CLEAVE_REPORT_INTEGER},
    {.key = "verified", .title = "verified", .type = CLEAVE_REPORT_BOOLEAN},
};

static enum cleave_status no_memory(struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the query");
}

static enum cleave_status set_up(const struct arguments *a, struct asked *x,
                                 struct cleave__query *query,
                                 const struct cleave_progress *progress, struct cleave_error *error)
{
    struct cleave__graph_plan plan;
    uint32_t trained;
    enum cleave_status status = cleave__graph_open(&a->graph, progress, &x->graph, error);
    if (!status)
        status = cleave__graph_plan_of(&a->graph, x->graph, progress, &plan, error);
    if (!status)
        status = cleave__query_sources(x->graph, plan.train, plan.seed, &x->train, &trained, error);
    if (status)
        return status;
    *query = plan.query;
    x->checked = !a->nats.told || a->check;
    if (!cleave__graph_find(x->graph, a->from, strlen(a->from), &query->source))
        return cleave_error_set(error, CLEAVE_NOT_FOUND, "--from: the graph has no user '%.100s'",
                                a->from);
    const struct cleave__graph_place_request request = {.graph = x->graph,
                                                        .shards = plan.shards,
                                                        .balance = plan.balance,
                                                        .epsilon = plan.epsilon,
                                                        .query = &plan.query,
                                                        .source = x->train,
                                                        .sources = trained,
                                                        .preset = plan.preset,
                                                        .starts = plan.starts,
                                                        .threads = plan.threads,
                                                        .seed = plan.seed,
                                                        .progress = progress};
    x->owner = malloc(((size_t)x->graph->vertices + 1) * sizeof *x->owner);
    x->answer = malloc(((size_t)x->graph->vertices + 1) * sizeof *x->answer);
    if (!x->owner || !x->answer)
        return no_memory(error);
    if (x->checked)
        status = cleave__graph_oracle_new(x->graph, &x->oracle, error);
    if (!status && a->nats.told)
        status = cleave__graph_far_open(&x->far, &a->nats, x->graph, NULL, NULL, NULL, NULL, error);
    if (status || a->nats.told)
        return status;
    status = cleave__graph_place(&request, plan.placements[0], x->owner, NULL, error);
    if (!status)
        status = cleave__sharded_new(x->graph, plan.shards, x->owner, &x->sharded, error);
    if (!status)
        status = cleave__execution_new(x->graph, x->sharded, &x->execution, error);
    return status;
}

/* ---- asking ---- */

/* A line of the table, and the users of the first. `right` counts if it was checked. */
static enum cleave_status add_row(struct asked *x, const char *executor,
                                  const struct cleave__graph_cost *cost, const uint32_t *user,
                                  uint32_t users, struct cleave_error *error)
{
    struct cleave_error why;
    bool first = !cleave__report_rows(&x->report);
    bool right = !x->checked || !cleave__graph_oracle_accepts(x->oracle, user, users, &why);
    if (first) {
        memcpy(x->answer, user, users * sizeof *x->answer);
        x->answers = users;
    }
    if (!right && x->verified) {
        x->verified = false;
        snprintf(x->wrong, sizeof x->wrong, "%s: %.200s", executor, why.message);
    }
    if (!cleave__report_row(&x->report) || !cleave__report_text(&x->report, 0, executor))
        return no_memory(error);
    const uint64_t figure[] = {cost->hops,  cost->requests, cost->remote_requests,
                               cost->reads, cost->looks,    cost->rounds,
                               users};
    for (uint32_t i = 0; i < sizeof figure / sizeof *figure; i++)
        cleave__report_integer(&x->report, 1 + i, (int64_t)figure[i]);
    if (x->checked)
        cleave__report_boolean(&x->report, 8, right);
    return CLEAVE_OK;
}

/* What a process answered. */
struct told {
    struct asked *asked;
    const char *executor;
    enum cleave_status status;
    struct cleave_error *error;
};

static void take_answer(void *context, const struct cleave__graph_answer *answer)
{
    struct told *told = context;
    const struct cleave__graph_cost cost = {.hops = answer->hops,
                                            .requests = answer->requests,
                                            .remote_requests = answer->remote_requests,
                                            .reads = answer->reads,
                                            .looks = answer->looks,
                                            .rounds = answer->rounds};
    for (uint32_t i = 0; i < answer->users && !told->status; i++) {
        if (answer->user[i] >= told->asked->graph->vertices ||
            answer->users > told->asked->graph->vertices)
            told->status = cleave_error_set(told->error, CLEAVE_CORRUPT,
                                            "an answer that names a user who does not exist");
    }
    if (!told->status)
        told->status =
            add_row(told->asked, told->executor, &cost, answer->user, answer->users, told->error);
}

/* Each executor in turn asks the processes that serve the graph. */
static enum cleave_status ask_far(const struct arguments *a, struct asked *x,
                                  const struct cleave__query *query,
                                  const struct cleave_progress *progress,
                                  struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t e = 0; e < a->graph.executor_count && !status; e++) {
        const char *name = a->graph.executors[e]->name;
        struct told told = {x, name, CLEAVE_OK, error};
        struct cleave__served served;
        status = cleave__graph_far_sit(&x->far, (uint32_t)a->patience_s, progress, error);
        struct cleave__serving serving = {.transport = &cleave__nats,
                                          .nats = x->far.nats,
                                          .threads = 1,
                                          .seed = a->graph.common.seed,
                                          .outstanding = 1,
                                          .executor = cleave__serving_executor_of(name),
                                          .query = *query,
                                          .source = &query->source,
                                          .sources = 1,
                                          .part = CLEAVE__PART_CLIENT,
                                          .seat = x->far.seat,
                                          .patience_ns = a->patience_s * UINT64_C(1000000000),
                                          .unchecked = true,
                                          .told = take_answer,
                                          .told_to = &told,
                                          .progress = progress};
        cleave__agreement_apply(&x->far.agreement, &serving);
        if (!status)
            status = cleave__graph_serve(x->graph, &serving, &served, error);
        if (!status)
            status = told.status;
    }
    return status;
}

static enum cleave_status ask(const struct arguments *a, struct asked *x,
                              const struct cleave__query *query,
                              const struct cleave_progress *progress, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    cleave__report_init(&x->report, columns,
                        sizeof columns / sizeof *columns - (x->checked ? 0 : 1));
    if (x->checked)
        cleave__graph_oracle_ask(x->oracle, query);
    x->verified = true;
    if (a->nats.told)
        return ask_far(a, x, query, progress, error);
    for (uint32_t e = 0; e < a->graph.executor_count && !status; e++) {
        const struct cleave__execution *done = x->execution;
        cleave__execute(x->execution, a->graph.executors[e], query);
        status = add_row(x, a->graph.executors[e]->name, &done->cost, done->answer,
                         done->answer_count, error);
    }
    return status;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static enum cleave_status print(const struct arguments *a, struct asked *x,
                                struct cleave_error *error)
{
    char buffer[24];
    size_t length;
    if (!a->graph.top)
        qsort(x->answer, x->answers, sizeof *x->answer, compare);
    if (a->graph.common.csv)
        return cleave__report_print_csv(&x->report, stdout, error);
    if (a->graph.common.json) {
        json_t *root = json_object(), *users = json_array();
        for (uint32_t i = 0; i < x->answers; i++) {
            const char *id = cleave__graph_id(x->graph, x->answer[i], buffer, &length);
            json_array_append_new(users, cleave__json_text(id, length));
        }
        json_object_set_new(root, "from", cleave__json_text(a->from, strlen(a->from)));
        json_object_set_new(root, "users", users);
        json_object_set_new(root, "executors", cleave__report_json(&x->report));
        json_object_set_new(root, "verified", x->checked ? json_boolean(x->verified) : json_null());
        return cleave__json_write(root, stdout, error);
    }
    enum cleave_status status = cleave__report_print(&x->report, stdout, 0, error);
    if (status)
        return status;
    printf("\n%" PRIu32 " users:", x->answers);
    for (uint32_t i = 0; i < x->answers && (a->all || i < SHOWN); i++) {
        const char *id = cleave__graph_id(x->graph, x->answer[i], buffer, &length);
        putchar(' ');
        fwrite(id, 1, length, stdout);
    }
    puts(!a->all && x->answers > SHOWN ? " ... (--all prints the rest)" : "");
    return CLEAVE_OK;
}

int cleave__command_graph_query(int argc, char **argv)
{
    struct argp_child children[] = {
        {&cleave__graph_source_argp, 0, NULL, 0},
        {&cleave__graph_query_argp, 0, NULL, 0},
        {&cleave__graph_place_argp, 0, NULL, 0},
        {&cleave__graph_executor_argp, 0, NULL, 0},
        {&cleave__options_argp, 0, "Common:", 9},
        {&cleave__nats_argp, 0, "A graph that processes serve (cleave graph serve):", 2},
        {0}};
    const struct argp argp = {options,
                              parse,
                              "",
                              "Answers one query on a placement, prints who is reachable and what "
                              "each executor cost, and "
                              "compares every answer with the unsharded graph's. With --nats or "
                              "--name the processes of cleave graph serve are asked.",
                              children,
                              NULL,
                              NULL};
    static struct arguments a; /* large: sweeps */
    a = (struct arguments){.graph.common = CLEAVE_OPTIONS_DEFAULT, .patience_s = 30};
    cleave__graph_defaults(&a.graph);
    cleave__nats_arguments_default(&a.nats);
    cleave__options_parse(&argp, argc, argv, &a);
    cleave__graph_settle(&a.graph);
    struct cleave_error error;
    struct cleave_terminal terminal;
    struct cleave__query query;
    struct asked x = {0};
    cleave__interrupt_catch();
    cleave__terminal_init(&terminal, a.graph.common.quiet);
    enum cleave_status status = set_up(&a, &x, &query, &terminal.progress, &error);
    if (!status)
        status = ask(&a, &x, &query, &terminal.progress, &error);
    cleave__terminal_clear(&terminal);
    if (!status)
        status = print(&a, &x, &error);
    if (!status && !x.verified)
        status = cleave_error_set(&error, CLEAVE_CORRUPT, "NOT verified: %s", x.wrong);
    cleave__report_free(&x.report);
    cleave__graph_far_close(&x.far);
    cleave__nats_arguments_free(&a.nats);
    cleave__graph_oracle_free(x.oracle);
    cleave__execution_free(x.execution);
    cleave__sharded_free(x.sharded);
    cleave__graph_free(x.graph);
    free(x.owner);
    free(x.train);
    free(x.answer);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}
