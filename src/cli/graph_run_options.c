#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "cli/graph_run.h"

enum {
    KEY_TRANSPORT = 0x3000,
    KEY_WORKERS,
    KEY_MAILBOX,
    KEY_WARM,
    KEY_HOT,
    KEY_DELAY,
    KEY_SERVICE,
    KEY_HIT,
    KEY_MISS,
    KEY_SOURCE_PAST_CACHE,
    KEY_CHANGE_EVERY,
    KEY_MOVE_MOST,
    KEY_MANAGE_EVERY,
    KEY_SPLIT,
    KEY_FAULTS,
    KEY_FAULT_WITHIN,
    KEY_RETRY,
    KEY_PLOT,
    KEY_Y,
    KEY_RUN_AXIS = 0x3800 /* and the axis */
};

static const struct cleave_sweep defaults[CLEAVE_RUN_AXES] = {
    [CLEAVE_RUN_AXIS_CLIENTS] = {"clients", CLEAVE_SWEEP_WHOLE, 1, 100000, {{16}}, 1, 0},
    [CLEAVE_RUN_AXIS_OUTSTANDING] = {"outstanding", CLEAVE_SWEEP_WHOLE, 1, 10000, {{1}}, 1, 0},
    [CLEAVE_RUN_AXIS_COORDINATORS] = {"coordinators", CLEAVE_SWEEP_WHOLE, 1, 1000, {{2}}, 1, 0},
    [CLEAVE_RUN_AXIS_CACHE] = {"cache", CLEAVE_SWEEP_WORD, 0, 0, {{.word = "none"}}, 1, 0},
    [CLEAVE_RUN_AXIS_CAPACITY] = {"capacity", CLEAVE_SWEEP_WHOLE, 1, 1e18, {{100}}, 1, 0},
    [CLEAVE_RUN_AXIS_REPLICATE] = {"replicate", CLEAVE_SWEEP_WHOLE, 0, 1e15, {{0}}, 1, 0},
    [CLEAVE_RUN_AXIS_CHANGES] = {"changes", CLEAVE_SWEEP_WHOLE, 0, 1e9, {{0}}, 1, 0},
    [CLEAVE_RUN_AXIS_MOVES] = {"moves", CLEAVE_SWEEP_WHOLE, 0, 1e9, {{0}}, 1, 0},
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0,
     "Who is at work (times such as 2ms, lognormal:1ms,0.5; docs/runtime.md):", 6},
    {"transport", KEY_TRANSPORT, "sim|threads", 0, "Virtual time, or real threads (sim)", 6},
    {"workers", KEY_WORKERS, "N", 0, "Threads of the threads transport, 1 to 256 (2)", 6},
    {"clients", KEY_RUN_AXIS + CLEAVE_RUN_AXIS_CLIENTS, "N", 0, "In closed loop (16)", 6},
    {"outstanding", KEY_RUN_AXIS + CLEAVE_RUN_AXIS_OUTSTANDING, "N", 0,
     "Queries that a client has under way (1)", 6},
    {"coordinators", KEY_RUN_AXIS + CLEAVE_RUN_AXIS_COORDINATORS, "N", 0,
     "They take the clients' queries in turn (2)", 6},
    {"mailbox", KEY_MAILBOX, "N", 0, "Messages that a mailbox holds (1024)", 6},
    {"hot", KEY_HOT, "USERS:SHARE", 0,
     "Draw the users asked about: the first share of USERS (0.01) gets SHARE (0.25) of the queries",
     6},
    {"warm", KEY_WARM, "N", 0, "Latencies without the first N queries (0)", 6},
    {"delay", KEY_DELAY, "TIME", 0, "sim: of a message between machines (lognormal:200us,0.5)", 6},
    {"service", KEY_SERVICE, "TIME", 0, "sim: a shard's work for a message (5us)", 6},
    {"hit", KEY_HIT, "TIME", 0, "sim: and for a list from its cache (1us)", 6},
    {"miss", KEY_MISS, "TIME", 0, "sim: and for a list from its store (20us)", 6},
    {"cache", KEY_RUN_AXIS + CLEAVE_RUN_AXIS_CACHE, "POLICY", 0,
     "Each shard's, as in cleave cache; none (none)", 6},
    {"capacity", KEY_RUN_AXIS + CLEAVE_RUN_AXIS_CAPACITY, "N", 0, "Of each, in lists (100)", 6},
    {"source-past-cache", KEY_SOURCE_PAST_CACHE, NULL, 0,
     "A query's own user is read past the cache, as graphshard lab does", 6},
    {NULL, 0, NULL, 0, "What changes meanwhile:", 7},
    {"changes", KEY_RUN_AXIS + CLEAVE_RUN_AXIS_CHANGES, "N", 0,
     "Edges and users come and go: so many changes of lists (0)", 7},
    {"change-every", KEY_CHANGE_EVERY, "TIME", 0, "One in this time (1ms)", 7},
    {"replicate", KEY_RUN_AXIS + CLEAVE_RUN_AXIS_REPLICATE, "BYTES", 0,
     "Copy the users of most observed reads a byte to every shard: so many bytes in all (0)", 7},
    {"split", KEY_SPLIT, NULL, 0, "Half of the busiest shard moves to the idlest, once", 7},
    {"moves", KEY_RUN_AXIS + CLEAVE_RUN_AXIS_MOVES, "N", 0,
     "Users move from shard to shard at random, so many times (0)", 7},
    {"move-most", KEY_MOVE_MOST, "N", 0, "Users in a move, at most (100)", 7},
    {"manage-every", KEY_MANAGE_EVERY, "TIME", 0, "Before copying, splitting and each move (10ms)",
     7},
    {"faults", KEY_FAULTS, "N", 0,
     "sim: crashes, cuts, losses and slowness of shards and coordinators, by the seed (0)", 7},
    {"fault-within", KEY_FAULT_WITHIN, "TIME", 0, "They begin within this time (1s)", 7},
    {"retry", KEY_RETRY, "TIME", 0, "With faults: what has no answer by then is asked again (50ms)",
     7},
    {NULL, 0, NULL, 0, "Output:", 8},
    {"plot", KEY_PLOT, "FILE.svg", 0, "Draw the sweep over the first number with several values",
     8},
    {"y", KEY_Y, "NAME", 0, "What is drawn, by its name in --json (latency_ms.p99)", 8},
    {0}};

static void read_times(struct argp_state *state, const char *option, const char *value,
                       struct cleave_distribution *out)
{
    struct cleave_error error;
    struct cleave_distribution read;
    if (cleave__distribution_parse(value, &read, &error)) {
        argp_error(state, "%s: %s", option, error.message);
        return;
    }
    cleave__distribution_free(out);
    *out = read;
}

static void read_hot(struct argp_state *state, struct cleave_graph_run_arguments *a,
                     const char *value)
{
    char *end;
    a->hot_users = strtod(value, &end);
    bool ok = end != value && *end == ':';
    const char *second = end + 1;
    a->hot_share = ok ? strtod(second, &end) : 0;
    if (!ok || end == second || *end || !(a->hot_users > 0 && a->hot_users <= 1) ||
        !(a->hot_share >= 0 && a->hot_share <= 1))
        argp_error(state, "--hot takes two shares such as 0.01:0.25, not '%s'", value);
    a->has_hot = true;
}

static uint64_t read_time(struct argp_state *state, const char *option, const char *value)
{
    uint64_t ns = cleave__option_time(state, option, value);
    if (!ns)
        argp_error(state, "%s: more than no time", option);
    return ns;
}

static uint32_t column_of(struct argp_state *state, const char *name)
{
    for (uint32_t c = 0; c < CLEAVE_RUN_COLUMNS; c++) {
        if (cleave__graph_run_columns[c].type == CLEAVE_REPORT_REAL &&
            !strcmp(cleave__graph_run_columns[c].key, name))
            return c;
    }
    argp_error(state, "--y takes a figure of --json, such as queries_per_s, not '%s'", name);
    return CLEAVE_RUN_P99;
}

static bool is_none(const char *word)
{
    return !strcmp(word, "none");
}

static error_t parse_axis(struct cleave_graph_run_arguments *a, int key, char *value,
                          struct argp_state *state)
{
    uint32_t i = (uint32_t)key - KEY_RUN_AXIS;
    if (key < KEY_RUN_AXIS || i >= CLEAVE_RUN_AXES)
        return ARGP_ERR_UNKNOWN;
    cleave__sweep_parse(state, &a->axis[i], value);
    for (uint32_t v = 0; i == CLEAVE_RUN_AXIS_CACHE && v < a->axis[i].count; v++) {
        const char *word = a->axis[i].value[v].word;
        struct cleave__cache_choice choice;
        struct cleave_error error;
        if (is_none(word))
            continue;
        a->cached = true;
        if (cleave__cache_choice_parse(word, strlen(word), &choice, &error))
            argp_error(state, "--cache: %s", error.message);
        else if (cleave__cache_policy_needs_future(choice.policy))
            argp_error(state, "--cache: %s needs to know the future, which a shard does not", word);
    }
    return 0;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    static const char *const transports[] = {"sim", "threads", NULL};
    struct cleave_graph_run_arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        for (int i = 0; i < 5; i++)
            state->child_inputs[i] = &a->graph;
        state->child_inputs[5] = &a->graph.common;
        state->child_inputs[6] = &a->observe;
        state->child_inputs[7] = &a->nats;
        return 0;
    case KEY_TRANSPORT:
        a->threaded = cleave__option_choice(state, "--transport", value, transports) == 1;
        return 0;
    case KEY_WORKERS:
        a->workers = (uint32_t)cleave__option_integer(state, "--workers", value, 1, 256);
        return 0;
    case KEY_MAILBOX:
        a->mailbox_most = (uint32_t)cleave__option_integer(state, "--mailbox", value, 1, 1 << 20);
        return 0;
    case KEY_WARM:
        a->warm = (uint32_t)cleave__option_integer(state, "--warm", value, 0, 2000000000);
        return 0;
    case KEY_HOT:
        read_hot(state, a, value);
        return 0;
    case KEY_DELAY:
        read_times(state, "--delay", value, &a->delay);
        return 0;
    case KEY_SERVICE:
        read_times(state, "--service", value, &a->service);
        return 0;
    case KEY_HIT:
        read_times(state, "--hit", value, &a->hit);
        return 0;
    case KEY_MISS:
        read_times(state, "--miss", value, &a->miss);
        return 0;
    case KEY_SOURCE_PAST_CACHE:
        a->source_past_cache = true;
        return 0;
    case KEY_CHANGE_EVERY:
        a->change_every_ns = read_time(state, "--change-every", value);
        return 0;
    case KEY_MOVE_MOST:
        a->move_most = (uint32_t)cleave__option_integer(state, "--move-most", value, 1, 1 << 20);
        return 0;
    case KEY_MANAGE_EVERY:
        a->manage_every_ns = read_time(state, "--manage-every", value);
        return 0;
    case KEY_SPLIT:
        a->split = true;
        return 0;
    case KEY_FAULTS:
        a->fault_count =
            (uint32_t)cleave__option_integer(state, "--faults", value, 0, CLEAVE_RUN_FAULTS_MAX);
        return 0;
    case KEY_FAULT_WITHIN:
        a->fault_within_ns = read_time(state, "--fault-within", value);
        return 0;
    case KEY_RETRY:
        a->retry_ns = read_time(state, "--retry", value);
        return 0;
    case KEY_PLOT:
        a->plot = value;
        return 0;
    case KEY_Y:
        a->y = column_of(state, value);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is no option; name a file with --edges", value);
        return 0;
    case ARGP_KEY_END:
        if (a->fault_count && a->threaded)
            argp_error(state, "--faults: only simulated machines fail (--transport sim)");
        for (uint32_t i = CLEAVE_RUN_AXIS_REPLICATE; i <= CLEAVE_RUN_AXIS_MOVES; i++) {
            for (uint32_t v = 0; v < a->axis[i].count; v++)
                a->changing = a->changing || a->axis[i].value[v].whole;
        }
        a->changing = a->changing || a->split || a->fault_count;
        if (a->nats.told && (a->changing || a->cached || a->threaded))
            argp_error(state,
                       "--nats, --name: clients alone are here; nothing changes, fails or is "
                       "cached, and there is no --transport to choose");
        if (a->nats.told && a->graph.placement_count)
            argp_error(state, "--placements: the processes that serve the graph have placed it");
        if (!a->graph.placement_count)
            a->graph.placements[a->graph.placement_count++] = "hash";
        return 0;
    default:
        return parse_axis(a, key, value, state);
    }
}

void cleave__graph_run_parse(int argc, char **argv, struct cleave_graph_run_arguments *a)
{
    struct argp_child children[] = {
        {&cleave__graph_source_argp, 0, NULL, 0},
        {&cleave__graph_query_argp, 0, NULL, 0},
        {&cleave__graph_place_argp, 0, NULL, 0},
        {&cleave__graph_executor_argp, 0, NULL, 0},
        {&cleave__graph_queries_argp, 0, NULL, 0},
        {&cleave__options_argp, 0, "Common:", 9},
        {&cleave__observe_argp, 0, NULL, 0},
        {&cleave__nats_argp, 0, "A graph that processes serve (cleave graph serve):", 8},
        {0}};
    const struct argp argp = {
        options,
        parse,
        "",
        "Runs queries on shards at work: latency, throughput, queues, caches, "
        "in virtual time that repeats to the last digit for a seed, or on "
        "threads; every answer is compared with the unsharded graph's. "
        "Options that take a number take a list or a range too, and are "
        "swept.",
        children,
        NULL,
        NULL};
    enum { US = 1000, MS = 1000 * US };
    *a = (struct cleave_graph_run_arguments){
        .graph.common = CLEAVE_OPTIONS_DEFAULT,
        .graph.sweeps = true,
        .workers = 2,
        .mailbox_most = 1024,
        .move_most = 100,
        .change_every_ns = 1 * MS,
        .manage_every_ns = 10 * MS,
        .retry_ns = 50 * MS,
        .fault_within_ns = 1000 * MS,
        .y = CLEAVE_RUN_P99,
        .delay = {.kind = CLEAVE_LOGNORMAL, .low_ns = 200 * US, .shape = 0.5},
        .service = {.kind = CLEAVE_CONSTANT, .low_ns = 5 * US},
        .hit = {.kind = CLEAVE_CONSTANT, .low_ns = 1 * US},
        .miss = {.kind = CLEAVE_CONSTANT, .low_ns = 20 * US}};
    cleave__graph_defaults(&a->graph);
    memcpy(a->axis, defaults, sizeof defaults);
    cleave__nats_arguments_default(&a->nats);
    cleave__options_parse(&argp, argc, argv, a);
    cleave__graph_settle(&a->graph);
}

void cleave__graph_run_release(struct cleave_graph_run_arguments *a)
{
    cleave__distribution_free(&a->delay);
    cleave__distribution_free(&a->service);
    cleave__distribution_free(&a->hit);
    cleave__distribution_free(&a->miss);
    cleave__nats_arguments_free(&a->nats);
}

enum cleave_status cleave__graph_run_sources(const struct cleave_graph_run_arguments *a,
                                             const struct cleave__graph *graph,
                                             const struct cleave__graph_plan *plan, uint32_t **out,
                                             struct cleave_error *error)
{
    uint32_t *drawn = NULL, count = 0, *source = calloc(plan->queries, sizeof *source);
    struct cleave_random random;
    if (!source)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for queries");
    if (a->has_hot) {
        uint32_t hot = (uint32_t)ceil(a->hot_users * graph->vertices), n = graph->vertices;
        cleave__random_seed(&random, plan->seed);
        for (uint32_t i = 0; i < plan->queries; i++) {
            bool inside = cleave__random_real(&random) < a->hot_share || hot >= n;
            source[i] = inside ? (uint32_t)cleave__random_below(&random, hot)
                               : hot + (uint32_t)cleave__random_below(&random, n - hot);
        }
        *out = source;
        return CLEAVE_OK;
    }
    enum cleave_status status =
        cleave__query_sources(graph, plan->queries, plan->seed, &drawn, &count, error);
    for (uint32_t i = 0; i < plan->queries && !status; i++)
        source[i] = drawn[i % count];
    free(drawn);
    if (status)
        free(source);
    else
        *out = source;
    return status;
}

enum cleave_status cleave__graph_run_serving(struct cleave_graph_run_arguments *a,
                                             const struct cleave__graph_plan *plan,
                                             const char *executor, const uint32_t *owner,
                                             const uint32_t *source, struct cleave__serving *out,
                                             struct cleave_error *error)
{
    union cleave_sweep_value now[CLEAVE_RUN_AXES];
    for (uint32_t i = 0; i < CLEAVE_RUN_AXES; i++)
        now[i] = cleave__sweep_now(&a->axis[i]);
    const char *cache = now[CLEAVE_RUN_AXIS_CACHE].word;
    struct cleave__serving serving = {
        .transport = a->threaded ? &cleave__threads : &cleave__sim,
        .threads = a->workers,
        .seed = plan->seed,
        .shards = plan->shards,
        .coordinators = (uint32_t)now[CLEAVE_RUN_AXIS_COORDINATORS].whole,
        .clients = (uint32_t)now[CLEAVE_RUN_AXIS_CLIENTS].whole,
        .outstanding = (uint32_t)now[CLEAVE_RUN_AXIS_OUTSTANDING].whole,
        .mailbox_most = a->mailbox_most,
        .owner = owner,
        .executor = cleave__serving_executor_of(executor),
        .query = plan->query,
        .source = source,
        .sources = plan->queries,
        .warm = a->warm,
        .cached = !is_none(cache),
        .capacity = now[CLEAVE_RUN_AXIS_CAPACITY].whole,
        .source_past_cache = a->source_past_cache,
        .delay = a->delay,
        .service = a->service,
        .hit = a->hit,
        .miss = a->miss,
        .changes = now[CLEAVE_RUN_AXIS_CHANGES].whole,
        .change_every_ns = a->change_every_ns,
        .moves = now[CLEAVE_RUN_AXIS_MOVES].whole,
        .manage_every_ns = a->manage_every_ns,
        .move_most = a->move_most,
        .replicate_bytes = now[CLEAVE_RUN_AXIS_REPLICATE].whole,
        .split = a->split,
        .finals = a->changing ? (plan->queries < 1000 ? plan->queries : 1000) : 0,
        .metrics = a->metrics,
        .progress = plan->progress};
    enum cleave_status status = CLEAVE_OK;
    if (a->fault_count) {
        cleave__faults_draw(plan->seed, (1u << CLEAVE_FAULT_KINDS) - 1, a->fault_within_ns,
                            serving.shards + serving.coordinators, a->faults, a->fault_count);
        serving.faults = a->faults;
        serving.fault_count = a->fault_count;
        serving.crashes = true;
        serving.retry_ns = a->retry_ns;
    }
    if (serving.cached)
        status = cleave__cache_choice_parse(cache, strlen(cache), &serving.cache, error);
    if (!status)
        *out = serving;
    return status;
}
