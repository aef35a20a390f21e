#include "cli/stream_play.h"

#include <string.h>

enum {
    KEY_GENERATE = 0x6000,
    KEY_EVALUATORS,
    KEY_ROUTERS,
    KEY_TRANSPORT,
    KEY_WORKERS,
    KEY_GRID,
    KEY_FIRST,
    KEY_SPARE,
    KEY_SAMPLE,
    KEY_ROUTING,
    KEY_SUMMARY,
    KEY_MATCHER,
    KEY_BALANCE,
    KEY_CENTRALIZED,
    KEY_BALANCE_EVERY,
    KEY_BETA,
    KEY_BATCH,
    KEY_WINDOW,
    KEY_UNCHECKED,
    KEY_TRACK,
    KEY_DELAY,
    KEY_ROUTE_OBJECT,
    KEY_ROUTE_QUERY,
    KEY_KEYWORD,
    KEY_MATCH_OBJECT,
    KEY_MATCH_CANDIDATE,
    KEY_STORE_QUERY,
    KEY_MESSAGE,
    KEY_FAULTS,
    KEY_ROUTER_FAULTS,
    KEY_BALANCER_CRASHES,
    KEY_FAULT_WITHIN,
    KEY_RETRY
};

static const struct argp_option options[] = {
    {"generate", KEY_GENERATE, "OBJECTS,QUERIES", 0,
     "Make up so many (100000,10000): what happens when no files are given", 3},
    {NULL, 0, NULL, 0, "Who is at work:", 4},
    {"evaluators", KEY_EVALUATORS, "N", 0, "They hold the queries (8)", 4},
    {"routers", KEY_ROUTERS, "N", 0, "They take objects and queries in turn (2)", 4},
    {"transport", KEY_TRANSPORT, "sim|threads", 0, "Virtual time, or real threads (sim)", 4},
    {"workers", KEY_WORKERS, "N", 0, "Threads of the threads transport (2)", 4},
    {"grid", KEY_GRID, "N", 0, "Cells in a row and in a column of the fine grid (64)", 4},
    {"first", KEY_FIRST, "kd|uniform", 0,
     "First partitions: by the cost of a sample, or of one size (kd)", 4},
    {"spare", KEY_SPARE, "N", 0, "Evaluators that wait for splits (1 if balanced, else 0)", 4},
    {"sample", KEY_SAMPLE, "N", 0, "Objects and queries that first partitions are made for (10000)",
     4},
    {"routing", KEY_ROUTING, "agrid|text|broadcast", 0,
     "By place and words; or, to compare with, by words alone, or queries everywhere (agrid)", 4},
    {"summary", KEY_SUMMARY, "forward|broadcast|none", 0,
     "What routers tell each other of queries: new keywords, every keyword; none: objects go by "
     "place alone (forward)",
     4},
    {"matcher", KEY_MATCHER, "NAME", 0, "index, cells or scan (index)", 4},
    {"balance", KEY_BALANCE, "adaptive|static|forced", 0,
     "forced: each kind of operation in turn, anywhere (static)", 4},
    {"centralized", KEY_CENTRALIZED, NULL, 0,
     "Evaluators send figures of every cell, to compare what balancing takes", 4},
    {"balance-every", KEY_BALANCE_EVERY, "TIME", 0, "Time between looks at the load (10ms)", 4},
    {"beta", KEY_BETA, "X", 0, "What moving a query costs, beside an object's cost (1)", 4},
    {"batch", KEY_BATCH, "N", 0, "Objects, or queries, in a message (256)", 4},
    {"window", KEY_WINDOW, "N", 0, "Messages under way to a router (8)", 4},
    {"track", KEY_TRACK, NULL, 0,
     "Work out who enters and leaves which query, of things with ids (--things)", 4},
    {"unchecked", KEY_UNCHECKED, NULL, 0, "Do not match everything again without shards", 4},
    {NULL, 0, NULL, 0, "On sim (times such as 2us, lognormal:1ms,0.5; docs/runtime.md):", 5},
    {"delay", KEY_DELAY, "TIME", 0, "Of a message between machines (lognormal:100us,0.5)", 5},
    {"route-object", KEY_ROUTE_OBJECT, "TIME", 0, "A router's work for an object (100ns)", 5},
    {"route-query", KEY_ROUTE_QUERY, "TIME", 0, "and for a query (180ns)", 5},
    {"keyword", KEY_KEYWORD, "TIME", 0, "and for another router's keyword (60ns)", 5},
    {"match-object", KEY_MATCH_OBJECT, "TIME", 0, "An evaluator's for an object (140ns)", 5},
    {"match-candidate", KEY_MATCH_CANDIDATE, "TIME", 0, "and for a query looked at (3ns)", 5},
    {"store-query", KEY_STORE_QUERY, "TIME", 0, "and for storing one (650ns)", 5},
    {"message", KEY_MESSAGE, "TIME", 0, "Anybody's for a message, within a machine (65ns)", 5},
    {"faults", KEY_FAULTS, "N", 0, "Crashes, cuts, losses, slowness of evaluators (0)", 5},
    {"router-faults", KEY_ROUTER_FAULTS, "N", 0, "The same of routers (0)", 5},
    {"balancer-crashes", KEY_BALANCER_CRASHES, "N", 0, "and crashes of the balancer (0)", 5},
    {"fault-within", KEY_FAULT_WITHIN, "TIME", 0, "They begin within this time (100ms)", 5},
    {"retry", KEY_RETRY, "TIME", 0, "With faults: asked again without an answer by then (20ms)", 5},
    {0}};

static uint32_t read_count(struct argp_state *state, const char *option, const char *value,
                           int64_t low, int64_t high)
{
    return (uint32_t)cleave__option_integer(state, option, value, low, high);
}

static error_t parse_times(int key, char *value, struct argp_state *state,
                           struct cleave_stream_play_arguments *a)
{
    struct cleave__streaming *s = &a->play.streaming;
    const struct {
        int key;
        const char *option;
        uint64_t *out;
    } times[] = {{KEY_BALANCE_EVERY, "--balance-every", &s->balance_every_ns},
                 {KEY_ROUTE_OBJECT, "--route-object", &s->service.route_object_ns},
                 {KEY_ROUTE_QUERY, "--route-query", &s->service.route_query_ns},
                 {KEY_KEYWORD, "--keyword", &s->service.keyword_ns},
                 {KEY_MATCH_OBJECT, "--match-object", &s->service.match_object_ns},
                 {KEY_MATCH_CANDIDATE, "--match-candidate", &s->service.match_candidate_ns},
                 {KEY_STORE_QUERY, "--store-query", &s->service.store_query_ns},
                 {KEY_MESSAGE, "--message", &s->service.message_ns},
                 {KEY_FAULT_WITHIN, "--fault-within", &a->fault_within_ns},
                 {KEY_RETRY, "--retry", &a->retry_ns}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        if (times[i].key != key)
            continue;
        *times[i].out = cleave__option_time(state, times[i].option, value);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static uint64_t all_faults(const struct cleave_stream_play_arguments *a)
{
    return (uint64_t)a->fault_count + a->router_faults + a->balancer_crashes;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    static const char *const transports[] = {"sim", "threads", NULL};
    static const char *const firsts[] = {"kd", "uniform", NULL};
    static const char *const routings[] = {"agrid", "text", "broadcast", NULL};
    static const char *const summaries[] = {"forward", "broadcast", "none", NULL};
    static const char *const balances[] = {"static", "adaptive", "forced", NULL};
    struct cleave_stream_play_arguments *a = state->input;
    struct cleave__streaming *s = a ? &a->play.streaming : NULL;
    struct cleave_error error;
    switch (key) {
    case KEY_GENERATE:
        a->generate = true;
        cleave__stream_generate_read(state, value, &a->objects, &a->queries);
        return 0;
    case KEY_EVALUATORS:
        s->evaluators = read_count(state, "--evaluators", value, 1, 4096);
        return 0;
    case KEY_ROUTERS:
        s->routers = read_count(state, "--routers", value, 1, 1000);
        return 0;
    case KEY_TRANSPORT:
        s->transport = cleave__option_choice(state, "--transport", value, transports)
                           ? &cleave__threads
                           : &cleave__sim;
        return 0;
    case KEY_WORKERS:
        s->threads = read_count(state, "--workers", value, 1, 256);
        return 0;
    case KEY_GRID:
        a->play.grid_side = read_count(state, "--grid", value, 1, CLEAVE__GRID_SIDE_MOST);
        return 0;
    case KEY_FIRST:
        a->play.first =
            (enum cleave__first_partition)cleave__option_choice(state, "--first", value, firsts);
        return 0;
    case KEY_SPARE:
        a->play.spare = read_count(state, "--spare", value, 0, 4095);
        return 0;
    case KEY_SAMPLE:
        a->play.sample = read_count(state, "--sample", value, 1, 100000000);
        return 0;
    case KEY_ROUTING:
        s->routing = (enum cleave__streaming_routing)cleave__option_choice(state, "--routing",
                                                                           value, routings);
        return 0;
    case KEY_SUMMARY:
        s->summary = (enum cleave__streaming_summary)cleave__option_choice(state, "--summary",
                                                                           value, summaries);
        return 0;
    case KEY_MATCHER:
        s->matcher = cleave__stream_matcher(state, value);
        return 0;
    case KEY_BALANCE:
        s->balance = (enum cleave__streaming_balance)cleave__option_choice(state, "--balance",
                                                                           value, balances);
        return 0;
    case KEY_CENTRALIZED:
        s->centralized = true;
        return 0;
    case KEY_BETA:
        s->beta = cleave__option_real(state, "--beta", value, 0, 1e12);
        return 0;
    case KEY_BATCH:
        s->batch = read_count(state, "--batch", value, 1, 4096);
        return 0;
    case KEY_WINDOW:
        s->window = read_count(state, "--window", value, 1, 1000);
        return 0;
    case KEY_TRACK:
        s->track = true;
        return 0;
    case KEY_UNCHECKED:
        a->play.unchecked = true;
        return 0;
    case KEY_DELAY:
        cleave__distribution_free(&s->delay);
        s->delay = (struct cleave_distribution){0};
        if (cleave__distribution_parse(value, &s->delay, &error))
            argp_error(state, "--delay: %s", error.message);
        return 0;
    case KEY_FAULTS:
        a->fault_count = read_count(state, "--faults", value, 0, CLEAVE_STREAM_FAULTS_MAX);
        return 0;
    case KEY_ROUTER_FAULTS:
        a->router_faults = read_count(state, "--router-faults", value, 0, CLEAVE_STREAM_FAULTS_MAX);
        return 0;
    case KEY_BALANCER_CRASHES:
        a->balancer_crashes =
            read_count(state, "--balancer-crashes", value, 0, CLEAVE_STREAM_FAULTS_MAX);
        return 0;
    case ARGP_KEY_END:
        if (a->play.spare == UINT32_MAX)
            a->play.spare = s->balance == CLEAVE__BALANCE_STATIC || s->evaluators == 1 ? 0 : 1;
        if (a->play.spare >= s->evaluators)
            argp_error(state, "--spare: of %u evaluators at least one has cells", s->evaluators);
        if (s->balance != CLEAVE__BALANCE_STATIC && !s->balance_every_ns)
            argp_error(state, "--balance-every: more than no time");
        if (s->routing != CLEAVE__ROUTING_AGRID &&
            (s->balance != CLEAVE__BALANCE_STATIC || all_faults(a) || s->track))
            argp_error(state, "--routing: only agrid is balanced, tracked, and outlives faults");
        if (all_faults(a) && s->transport != &cleave__sim)
            argp_error(state, "--faults: on sim only");
        if (all_faults(a) > CLEAVE_STREAM_FAULTS_MAX)
            argp_error(state, "--faults, --router-faults, --balancer-crashes: at most %d in all",
                       CLEAVE_STREAM_FAULTS_MAX);
        if (all_faults(a) && !a->retry_ns)
            argp_error(state, "--retry: with faults, more than no time");
        return 0;
    default:
        return parse_times(key, value, state, a);
    }
}

const struct argp cleave__stream_play_argp = {options, parse, NULL, NULL, NULL, NULL, NULL};

/* Times are as `cleave stream compare calibrate` gave them on one core of a shared machine. */
void cleave__stream_play_default(struct cleave_stream_play_arguments *a)
{
    *a = (struct cleave_stream_play_arguments){
        .objects = 100000,
        .queries = 10000,
        .fault_within_ns = 100000000,
        .retry_ns = 20000000,
        .play = {.grid_side = 64,
                 .spare = UINT32_MAX,
                 .sample = 10000,
                 .streaming = {.transport = &cleave__sim,
                               .threads = 2,
                               .evaluators = 8,
                               .routers = 2,
                               .matcher = &cleave__matcher_index,
                               .balance_every_ns = 10000000,
                               .beta = 1,
                               .delay = {.kind = CLEAVE_LOGNORMAL, .low_ns = 100000, .shape = 0.5},
                               .service = {.route_object_ns = 100,
                                           .route_query_ns = 180,
                                           .keyword_ns = 60,
                                           .match_object_ns = 140,
                                           .match_candidate_ns = 3,
                                           .store_query_ns = 650,
                                           .message_ns = 65}}}};
}

void cleave__stream_play_settle(struct cleave_stream_play_arguments *a, uint64_t seed,
                                const struct cleave_progress *progress)
{
    struct cleave__streaming *s = &a->play.streaming;
    s->seed = seed;
    s->progress = progress;
    if (!all_faults(a))
        return;
    struct cleave_fault *faults = a->faults;
    cleave__faults_draw(seed, (1u << CLEAVE_FAULT_KINDS) - 1, a->fault_within_ns, s->evaluators,
                        faults, a->fault_count);
    faults += a->fault_count;
    cleave__faults_draw(seed + 1, (1u << CLEAVE_FAULT_KINDS) - 1, a->fault_within_ns, s->routers,
                        faults, a->router_faults);
    for (uint32_t i = 0; i < a->router_faults; i++)
        faults[i].first_node += s->evaluators;
    faults += a->router_faults;
    cleave__faults_draw(seed + 2, 1u << CLEAVE_FAULT_CRASH, a->fault_within_ns, 1, faults,
                        a->balancer_crashes);
    for (uint32_t i = 0; i < a->balancer_crashes; i++)
        faults[i].actor = cleave__stream_actor(s, CLEAVE__ROLE_BALANCER, 0);
    s->faults = a->faults;
    s->fault_count = (size_t)all_faults(a);
    s->retry_ns = a->retry_ns;
}

void cleave__stream_play_release(struct cleave_stream_play_arguments *a)
{
    cleave__distribution_free(&a->play.streaming.delay);
}
