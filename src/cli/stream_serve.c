/* cleave stream serve: a router, an evaluator or the balancer of a world on
 * NATS, as a process of its own. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/nats_options.h"
#include "cli/observe.h"
#include "cli/stream_missing.h"
#include "cli/stream_play.h"
#include "cli/stream_script.h"
#include "stream/net/names.h"
#include "stream/net/process.h"

enum {
    KEY_ROLE = 0x7300,
    KEY_SEAT,
    KEY_EVALUATORS,
    KEY_ROUTERS,
    KEY_PUBLISHERS,
    KEY_GRID,
    KEY_SPARE,
    KEY_SAMPLE,
    KEY_GENERATE,
    KEY_SUMMARY,
    KEY_MATCHER,
    KEY_BALANCE,
    KEY_BALANCE_EVERY,
    KEY_BETA,
    KEY_BATCH,
    KEY_WINDOW,
    KEY_RETRY,
    KEY_TRACK
};

struct arguments {
    struct cleave_options common;
    struct cleave_nats_arguments nats;
    struct cleave_observe_arguments observe;
    struct cleave_stream_space space;
    struct cleave_stream_made made;
    struct cleave_stream_files files;
    int role; /* -1: not told */
    int64_t seat;
    bool makes; /* an option of the world was given */
    bool generate;
    struct cleave__net_world world;
    struct cleave__stream_play play; /* for the first partitions */
};

static const struct argp_option options[] = {
    {"role", KEY_ROLE, "NAME", 0, "router, evaluator, balancer or tracker", 2},
    {"seat", KEY_SEAT, "N", 0, "Which of its kind, from 0 (0)", 2},
    {NULL, 0, NULL, 0, "A new world, by its balancer; the others take what it says:", 3},
    {"evaluators", KEY_EVALUATORS, "N", 0, "They hold the queries (4)", 3},
    {"routers", KEY_ROUTERS, "N", 0, "They take objects and queries (2)", 3},
    {"publishers", KEY_PUBLISHERS, "N", 0, "At once, at most (16)", 3},
    {"grid", KEY_GRID, "N", 0, "Cells in a row and in a column of the fine grid (64)", 3},
    {"spare", KEY_SPARE, "N", 0, "Evaluators that wait for splits (1 if balanced, else 0)", 3},
    {"generate", KEY_GENERATE, NULL, 0,
     "First partitions for a made-up workload, as its options say; else by "
     "--objects and "
     "--queries, a sample; else all of one size",
     3},
    {"sample", KEY_SAMPLE, "N", 0, "Objects and queries of it that are looked at (10000)", 3},
    {"summary", KEY_SUMMARY, "forward|broadcast|none", 0, "What routers tell each other (forward)",
     3},
    {"matcher", KEY_MATCHER, "NAME", 0, "index, cells or scan (index)", 3},
    {"balance", KEY_BALANCE, "adaptive|static|forced", 0, "Cells move, or stay (adaptive)", 3},
    {"balance-every", KEY_BALANCE_EVERY, "TIME", 0, "Time between looks at the load (1s)", 3},
    {"beta", KEY_BETA, "X", 0, "What moving a query costs, beside an object's cost (1)", 3},
    {"batch", KEY_BATCH, "N", 0, "Objects, or queries, in a message (256)", 3},
    {"window", KEY_WINDOW, "N", 0, "Messages under way to a router (8)", 3},
    {"track", KEY_TRACK, NULL, 0,
     "Queries may ask who enters and leaves: things are tracked, by a process of --role tracker",
     3},
    {"retry", KEY_RETRY, "TIME", 0, "Asked again without an answer by then (500ms)", 3},
    {0}};

static error_t parse_world(int key, char *value, struct argp_state *state, struct arguments *a)
{
    static const char *const summaries[] = {"forward", "broadcast", "none", NULL};
    static const char *const balances[] = {"static", "adaptive", "forced", NULL};
    struct cleave__net_world *w = &a->world;
    const struct {
        int key;
        const char *option;
        uint32_t *out;
        int64_t low, high;
    } counts[] = {{KEY_EVALUATORS, "--evaluators", &w->evaluators, 1, 4096},
                  {KEY_ROUTERS, "--routers", &w->routers, 1, 1000},
                  {KEY_PUBLISHERS, "--publishers", &w->publishers, 1, CLEAVE__PUBLISHERS_MOST},
                  {KEY_GRID, "--grid", &a->play.grid_side, 1, CLEAVE__GRID_SIDE_MOST},
                  {KEY_SPARE, "--spare", &a->play.spare, 0, 4095},
                  {KEY_SAMPLE, "--sample", &a->play.sample, 1, 100000000},
                  {KEY_BATCH, "--batch", &w->batch, 1, 4096},
                  {KEY_WINDOW, "--window", &w->window, 1, 1000}};
    bool made = a->makes;
    a->makes = true;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (counts[i].key == key) {
            *counts[i].out = (uint32_t)cleave__option_integer(state, counts[i].option, value,
                                                              counts[i].low, counts[i].high);
            return 0;
        }
    }
    switch (key) {
    case KEY_GENERATE:
        a->generate = true;
        return 0;
    case KEY_SUMMARY:
        w->summary = (enum cleave__streaming_summary)cleave__option_choice(state, "--summary",
                                                                           value, summaries);
        return 0;
    case KEY_MATCHER:
        w->matcher = cleave__stream_matcher(state, value);
        return 0;
    case KEY_BALANCE:
        w->balance = (enum cleave__streaming_balance)cleave__option_choice(state, "--balance",
                                                                           value, balances);
        return 0;
    case KEY_BALANCE_EVERY:
        w->balance_every_ns = cleave__option_time(state, "--balance-every", value);
        return 0;
    case KEY_TRACK:
        w->track = true;
        return 0;
    case KEY_BETA:
        w->beta = cleave__option_real(state, "--beta", value, 0, 1e12);
        return 0;
    case KEY_RETRY:
        w->retry_ns = cleave__option_time(state, "--retry", value);
        return 0;
    default:
        a->makes = made;
        return ARGP_ERR_UNKNOWN;
    }
}

static void settle(struct argp_state *state, struct arguments *a)
{
    const uint64_t hour_ns = UINT64_C(3600000000000);
    if (a->role < 0)
        argp_error(state, "which --role: router, evaluator, balancer or tracker?");
    if (a->role != CLEAVE__NET_BALANCER && (a->makes || a->generate || a->files.queries))
        argp_error(state, "options of the world are the balancer's: others take what it says");
    if ((a->role == CLEAVE__NET_BALANCER || a->role == CLEAVE__NET_TRACKER) && a->seat > 0)
        argp_error(state, "--seat: there is one balancer, and one tracker");
    if (a->files.objects && !a->files.queries)
        argp_error(state, "a sample is of objects and queries: --queries FILE");
    if (a->files.queries && !a->files.objects)
        argp_error(state, "a sample is of objects and queries: --objects FILE");
    if (a->files.queries && a->generate)
        argp_error(state, "either files or --generate");
    if (a->world.balance_every_ns < 1000000 || a->world.balance_every_ns > hour_ns)
        argp_error(state, "--balance-every: from 1ms to an hour");
    if (a->world.retry_ns < 1000000 || a->world.retry_ns > hour_ns)
        argp_error(state, "--retry: from 1ms to an hour");
    if (a->play.spare == UINT32_MAX)
        a->play.spare = a->world.balance == CLEAVE__BALANCE_STATIC || a->world.evaluators == 1;
    if (a->play.spare >= a->world.evaluators)
        argp_error(state, "--spare: of %" PRIu32 " evaluators at least one has cells",
                   a->world.evaluators);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    static const char *const roles[] = {"router", "evaluator", "balancer", "tracker", NULL};
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->nats;
        state->child_inputs[1] = &a->space;
        state->child_inputs[2] = &a->files;
        state->child_inputs[3] = &a->made;
        state->child_inputs[4] = &a->observe;
        state->child_inputs[5] = &a->common;
        return 0;
    case KEY_ROLE:
        a->role = (int)cleave__option_choice(state, "--role", value, roles);
        return 0;
    case KEY_SEAT:
        a->seat = cleave__option_integer(state, "--seat", value, 0, 4095);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is too much", value);
        return 0;
    case ARGP_KEY_END:
        settle(state, a);
        return 0;
    default:
        return parse_world(key, value, state, a);
    }
}

/* ---- a new world ---- */

static enum cleave_status describe(struct arguments *a, const struct cleave_progress *progress,
                                   struct cleave_error *error)
{
    struct cleave__net_world *w = &a->world;
    struct cleave__stream_script script = {0};
    struct cleave__space space = a->space.space;
    struct cleave__streaming streaming = {0};
    uint32_t side = a->play.grid_side;
    enum cleave_status status = CLEAVE_OK;
    w->partitions = calloc(w->evaluators, sizeof *w->partitions);
    if (!w->partitions)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for partitions");
    a->play.first = CLEAVE__FIRST_UNIFORM;
    if (a->files.queries) {
        status = cleave__stream_script_read(&a->files, &a->space, progress, &space, &script, error);
        a->play.script = &script;
        a->play.first = CLEAVE__FIRST_KD;
    } else if (a->generate) {
        cleave__stream_made_settle(&a->made, a->common.seed);
        a->play.made = &a->made.options;
        a->play.objects = a->play.queries = a->play.sample;
        a->play.first = CLEAVE__FIRST_KD;
    }
    w->space = space;
    w->grid = cleave__grid_make(space.bounds.x0, space.bounds.y0, space.bounds.x1, space.bounds.y1,
                                side, side);
    w->replicas = a->nats.replicas;
    cleave__net_world_streaming(w, &streaming);
    if (!status)
        status = cleave__stream_play_partition(&a->play, &streaming, w->partitions, error);
    cleave__stream_script_free(&script);
    return status;
}

struct serving {
    const struct arguments *arguments;
    struct cleave_terminal *terminal;
    struct cleave_observe *observe;
};

static void ready(void *context, const char *name, const char *server)
{
    const struct serving *s = context;
    cleave__terminal_clear(s->terminal);
    if (!s->arguments->common.quiet)
        fprintf(stderr, "cleave: %s of world '%s' is at work, by %s\n", name,
                s->arguments->nats.name, server);
    cleave__observe_ready(s->observe);
    CLEAVE_LOG(s->observe->log, CLEAVE_LOG_INFO, "serving", CLEAVE_FIELD_INTEGER("pid", getpid()),
               CLEAVE_FIELD_TEXT("process", name), CLEAVE_FIELD_TEXT("server", server));
}

static void missing(void *context, const char *names)
{
    const struct serving *s = context;
    cleave__stream_tell_missing(s->arguments->nats.name, names, s->arguments->common.quiet,
                                s->observe->log);
}

static enum cleave_status serve(struct arguments *a, struct cleave_terminal *terminal,
                                struct cleave_observe *observe, struct cleave_error *error)
{
    struct cleave_nats_options nats = cleave__nats_arguments(&a->nats);
    struct cleave__net_session *session = NULL;
    struct serving serving = {a, terminal, observe};
    struct cleave__net_part part = {.role = (enum cleave__net_role)a->role,
                                    .seat = (uint32_t)a->seat,
                                    .metrics = observe->metrics,
                                    .ready = ready,
                                    .missing = missing,
                                    .context = &serving,
                                    .progress = &terminal->progress};
    bool makes = part.role == CLEAVE__NET_BALANCER && a->makes;
    enum cleave_status status = makes ? describe(a, &terminal->progress, error) : CLEAVE_OK;
    if (!status)
        status = cleave__net_session_open(&nats, makes ? &a->world : NULL, &terminal->progress,
                                          &session, error);
    if (!status && makes)
        status = cleave__net_names_stream(session, error);
    cleave__terminal_clear(terminal);
    if (!status)
        status = cleave__net_serve(session, &part, error);
    cleave__net_session_close(session);
    return status;
}

int cleave__command_stream_serve(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cleave__nats_argp, 0, NULL, 1},
                                                 {&cleave__stream_space_argp, 0, NULL, 4},
                                                 {&cleave__stream_files_argp, 0, NULL, 5},
                                                 {&cleave__stream_made_argp, 0, NULL, 6},
                                                 {&cleave__observe_argp, 0, NULL, 8},
                                                 {&cleave__options_argp, 0, "Common:", 9},
                                                 {0}};
    static const struct argp argp = {
        options,
        parse,
        "",
        "Serves a stream's world on NATS, one process a router, an evaluator, "
        "the balancer, the tracker. See "
        "docs/stream-nats.md.\n\n"
        "  cleave stream serve --nats nats://HOST --name fences --role balancer "
        "--evaluators 4",
        children,
        NULL,
        NULL};
    struct arguments a = {.common = CLEAVE_OPTIONS_DEFAULT,
                          .role = -1,
                          .world = {.evaluators = 4,
                                    .routers = 2,
                                    .publishers = 16,
                                    .matcher = &cleave__matcher_index,
                                    .balance = CLEAVE__BALANCE_ADAPTIVE,
                                    .balance_every_ns = 1000000000,
                                    .beta = 1,
                                    .batch = 256,
                                    .window = 8,
                                    .retry_ns = 500000000},
                          .play = {.grid_side = 64, .spare = UINT32_MAX, .sample = 10000}};
    struct cleave_terminal terminal;
    struct cleave_error error;
    a.made = (struct cleave_stream_made){.space = &a.space, .options = cleave__stream_defaults};
    cleave__stream_space_default(&a.space, CLEAVE__GLOBE);
    cleave__nats_arguments_default(&a.nats);
    cleave__options_parse(&argp, argc, argv, &a);
    cleave__interrupt_catch();
    cleave__terminate_catch();
    cleave__terminal_init(&terminal, a.common.quiet);
    struct cleave_observe observe;
    enum cleave_status status = cleave__observe_open(&observe, &a.observe, a.common.quiet, &error);
    if (!status) {
        status = serve(&a, &terminal, &observe, &error);
        status = cleave__observe_close(&observe, status, &error);
    }
    cleave__net_world_free(&a.world);
    cleave__nats_arguments_free(&a.nats);
    cleave__terminal_clear(&terminal);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}
