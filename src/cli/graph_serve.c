/* cleave graph serve: one process of a graph that many serve behind NATS: a shard, or a
 * coordinator.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/graph_far.h"
#include "cli/observe.h"
#include "runtime/distribution.h"

enum {
    KEY_ROLE = 0x3000,
    KEY_SEAT,
    KEY_COORDINATORS,
    KEY_CLIENTS,
    KEY_WORKERS,
    KEY_MAILBOX,
    KEY_RETRY,
    KEY_RETRY_MOST
};

struct arguments {
    struct cleave_graph_arguments graph;
    struct cleave_nats_arguments nats;
    struct cleave_observe_arguments observe;
    enum cleave__graph_part part;
    bool has_seat, says_placement;
    uint32_t seat, coordinators, clients, workers, mailbox_most;
    uint64_t retry_ns, retry_most_ns;
    const struct cleave_progress *progress;
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Which process this is:", 1},
    {"role", KEY_ROLE, "shard|coordinator", 0, "What it does", 1},
    {"seat", KEY_SEAT, "I", 0, "Which of these it is, from 0 on", 1},
    {"workers", KEY_WORKERS, "N", 0, "Threads, 1 to 256 (1)", 1},
    {NULL, 0, NULL, 0, "Agreed on by whoever starts first:", 2},
    {"coordinators", KEY_COORDINATORS, "N", 0, "They take the queries in turn (2)", 2},
    {"clients", KEY_CLIENTS, "N", 0, "That may ask at once (64)", 2},
    {"mailbox", KEY_MAILBOX, "N", 0, "Messages that a mailbox holds (1024)", 2},
    {"retry", KEY_RETRY, "TIME", 0, "What has no answer by then is asked again (50ms)", 2},
    {"retry-most", KEY_RETRY_MOST, "TIME", 0, "Ever later, but not later than this (2s)", 2},
    {0}};

static uint64_t read_time(struct argp_state *state, const char *option, const char *value)
{
    uint64_t ns = cleave__option_time(state, option, value);
    if (!ns || ns > UINT64_C(3600000000000))
        argp_error(state, "%s: more than no time, and an hour at most", option);
    return ns;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    static const char *const roles[] = {"shard", "coordinator", NULL};
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        for (int i = 0; i < 3; i++)
            state->child_inputs[i] = &a->graph;
        state->child_inputs[3] = &a->nats;
        state->child_inputs[4] = &a->observe;
        state->child_inputs[5] = &a->graph.common;
        return 0;
    case KEY_ROLE:
        a->part = cleave__option_choice(state, "--role", value, roles) ? CLEAVE__PART_COORDINATOR
                                                                       : CLEAVE__PART_SHARD;
        return 0;
    case KEY_SEAT:
        a->seat =
            (uint32_t)cleave__option_integer(state, "--seat", value, 0, CLEAVE__SEATS_MOST - 1);
        a->has_seat = true;
        return 0;
    case KEY_COORDINATORS:
        a->coordinators = (uint32_t)cleave__option_integer(state, "--coordinators", value, 1, 400);
        return 0;
    case KEY_CLIENTS:
        a->clients =
            (uint32_t)cleave__option_integer(state, "--clients", value, 1, CLEAVE__SEATS_MOST);
        return 0;
    case KEY_WORKERS:
        a->workers = (uint32_t)cleave__option_integer(state, "--workers", value, 1, 256);
        return 0;
    case KEY_MAILBOX:
        a->mailbox_most =
            (uint32_t)cleave__option_integer(state, "--mailbox", value, 1024, 1 << 20);
        return 0;
    case KEY_RETRY:
        a->retry_ns = read_time(state, "--retry", value);
        return 0;
    case KEY_RETRY_MOST:
        a->retry_most_ns = read_time(state, "--retry-most", value);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is no option; name a file with --edges", value);
        return 0;
    case ARGP_KEY_END:
        if (a->part == CLEAVE__PART_ALL || !a->has_seat)
            argp_error(state, "which process is this? --role shard|coordinator --seat I");
        a->says_placement = a->graph.placement_count > 0;
        if (!a->says_placement)
            a->graph.placements[a->graph.placement_count++] = "hash";
        if (a->graph.placement_count > 1)
            argp_error(state, "--placements: one only");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The options say how, if nobody has been here before. */
static enum cleave_status place(void *context, const struct cleave__graph *graph,
                                struct cleave__agreement *out, struct cleave_error *error)
{
    const struct arguments *a = context;
    struct cleave__graph_plan plan;
    uint32_t *train = NULL, trained;
    enum cleave_status status = cleave__graph_plan_of(&a->graph, graph, a->progress, &plan, error);
    if (!status && plan.shards > CLEAVE__SEATS_MOST)
        status = cleave_error_set(error, CLEAVE_LIMIT, "--shards: at most %d", CLEAVE__SEATS_MOST);
    if (!status)
        status = cleave__query_sources(graph, plan.train, plan.seed, &train, &trained, error);
    if (status)
        return status;
    struct cleave__agreement made = {.shards = plan.shards,
                                     .coordinators = a->coordinators,
                                     .clients = a->clients,
                                     .mailbox_most = a->mailbox_most,
                                     .retry_ns = a->retry_ns,
                                     .retry_most_ns = a->retry_most_ns};
    made.owner = malloc(((size_t)graph->vertices + 1) * sizeof *made.owner);
    if (made.owner)
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
                                                                           .progress = a->progress},
                                     plan.placements[0], made.owner, NULL, error);
    else
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the owners");
    free(train);
    if (status)
        cleave__agreement_free(&made);
    else
        *out = made;
    return status;
}

/* Whoever says by what the world is to be placed means it: a file, by what it says. */
static enum cleave_status check_placement(const struct arguments *a,
                                          const struct cleave__graph *graph,
                                          struct cleave_graph_far *far, struct cleave_error *error)
{
    const char *placement = a->graph.placements[0];
    if (placement[0] != '@')
        return cleave__graph_far_placed(far, a->nats.name, placement, error);
    struct cleave__agreement here = {0};
    enum cleave_status status = place((void *)a, graph, &here, error);
    for (uint32_t v = 0; !status && v < graph->vertices; v++) {
        char buffer[24];
        size_t length;
        if (here.owner[v] == far->agreement.owner[v])
            continue;
        const char *id = cleave__graph_id(graph, v, buffer, &length);
        status = cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                  "%.200s: the world '%s' has user %.*s on shard %" PRIu32
                                  ", not %" PRIu32 ": give the same file, or another --name",
                                  placement + 1, a->nats.name, (int)(length < 60 ? length : 60), id,
                                  far->agreement.owner[v], here.owner[v]);
    }
    cleave__agreement_free(&here);
    return status;
}

static enum cleave_status serve(struct arguments *a, struct cleave_observe *observe,
                                struct cleave_terminal *terminal, struct cleave_error *error)
{
    struct cleave__graph *graph = NULL;
    struct cleave_graph_far far = {0};
    struct cleave__served served;
    bool made = false;
    const char *role = a->part == CLEAVE__PART_SHARD ? "shard" : "coordinator";
    enum cleave_status status = cleave__graph_open(&a->graph, a->progress, &graph, error);
    if (!status)
        status = cleave__graph_far_open(&far, &a->nats, graph, a->graph.placements[0], place, a,
                                        &made, error);
    cleave__terminal_clear(terminal);
    uint32_t shards = (uint32_t)cleave__graph_now(&a->graph, CLEAVE_AXIS_SHARDS);
    if (!status &&
        (shards != far.agreement.shards || a->coordinators != far.agreement.coordinators))
        status = cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                  "the world '%s' has %" PRIu32 " shards and %" PRIu32
                                  " coordinators, not %" PRIu32 " and %" PRIu32
                                  ": give the same --shards and --coordinators, or another --name",
                                  a->nats.name, far.agreement.shards, far.agreement.coordinators,
                                  shards, a->coordinators);
    if (!status && !made && a->says_placement)
        status = check_placement(a, graph, &far, error);
    if (!status) {
        uint32_t users = 0;
        for (uint32_t v = 0; v < graph->vertices && a->part == CLEAVE__PART_SHARD; v++)
            users += far.agreement.owner[v] == a->seat;
        if (!a->graph.common.quiet)
            fprintf(stderr,
                    "cleave: %s %" PRIu32 " of the world '%s': %" PRIu32 " shards, %" PRIu32
                    " coordinators, placed %s\n",
                    role, a->seat, a->nats.name, far.agreement.shards, far.agreement.coordinators,
                    made ? "now" : "before");
        CLEAVE_LOG(observe->log, CLEAVE_LOG_INFO, "serving", CLEAVE_FIELD_TEXT("role", role),
                   CLEAVE_FIELD_UNSIGNED("seat", a->seat), CLEAVE_FIELD_TEXT("world", a->nats.name),
                   CLEAVE_FIELD_UNSIGNED("shards", far.agreement.shards),
                   CLEAVE_FIELD_UNSIGNED("users", users), CLEAVE_FIELD_BOOLEAN("placed", made));
        struct cleave__serving serving = {.transport = &cleave__nats,
                                          .nats = far.nats,
                                          .threads = a->workers,
                                          .seed = a->graph.common.seed,
                                          .outstanding = 1,
                                          .part = a->part,
                                          .seat = a->seat,
                                          .metrics = observe->metrics,
                                          .log = observe->log,
                                          .progress = a->progress};
        cleave__agreement_apply(&far.agreement, &serving);
        cleave__observe_ready(observe);
        status = cleave__graph_serve(graph, &serving, &served, error);
        if (status == CLEAVE_INTERRUPTED)
            status = CLEAVE_OK; /* as it should end */
    }
    cleave__graph_far_close(&far);
    cleave__graph_free(graph);
    return status;
}

int cleave__command_graph_serve(int argc, char **argv)
{
    struct argp_child children[] = {{&cleave__graph_source_argp, 0, NULL, 3},
                                    {&cleave__graph_place_argp, 0, NULL, 0},
                                    {&cleave__graph_query_argp, 0, NULL, 0},
                                    {&cleave__nats_argp, 0, "The world:", 1},
                                    {&cleave__observe_argp, 0, NULL, 0},
                                    {&cleave__options_argp, 0, "Common:", 9},
                                    {0}};
    const struct argp argp = {
        options,
        parse,
        "",
        "One process of a graph that many serve behind NATS. All give the same graph; whoever "
        "starts first places it and says how many of each there are, and the others agree. Runs "
        "until it is stopped; one that was killed is started again in the same way.\n\n"
        "  cleave graph serve --edges follows.txt --shards 2 --role shard --seat 0\n"
        "  cleave graph serve --edges follows.txt --shards 2 --role coordinator --seat 0\n"
        "  cleave graph query --edges follows.txt --name cleave --from 12",
        children,
        NULL,
        NULL};
    static struct arguments a; /* large: sweeps */
    struct cleave_terminal terminal;
    struct cleave_observe observe;
    struct cleave_error error;
    enum { MS = 1000000 };
    a = (struct arguments){.graph.common = CLEAVE_OPTIONS_DEFAULT,
                           .coordinators = 2,
                           .clients = 64,
                           .workers = 1,
                           .mailbox_most = 1024,
                           .retry_ns = 50 * MS,
                           .retry_most_ns = UINT64_C(2000) * MS};
    cleave__graph_defaults(&a.graph);
    cleave__nats_arguments_default(&a.nats);
    cleave__options_parse(&argp, argc, argv, &a);
    cleave__graph_settle(&a.graph);
    cleave__interrupt_catch();
    cleave__terminate_catch();
    cleave__terminal_init(&terminal, a.graph.common.quiet);
    a.progress = &terminal.progress;
    enum cleave_status status =
        cleave__observe_open(&observe, &a.observe, a.graph.common.quiet, &error);
    if (!status) {
        status = serve(&a, &observe, &terminal, &error);
        status = cleave__observe_close(&observe, status, &error);
    }
    cleave__terminal_clear(&terminal);
    cleave__nats_arguments_free(&a.nats);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}
