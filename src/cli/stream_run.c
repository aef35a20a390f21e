/* cleave stream run: routers, evaluators and a balancer at work on a stream, and its answer held
 * against one without shards. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/observe.h"
#include "cli/stream_play.h"
#include "cli/stream_script.h"
#include "report/json.h"

struct arguments {
    struct cleave_options common;
    struct cleave_stream_space space;
    struct cleave_stream_made made;
    struct cleave_stream_files files;
    struct cleave_stream_play_arguments play;
    struct cleave_observe_arguments observe;
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->space;
        state->child_inputs[1] = &a->files;
        state->child_inputs[2] = &a->made;
        state->child_inputs[3] = &a->play;
        state->child_inputs[4] = &a->common;
        state->child_inputs[5] = &a->observe;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s': files are given by --objects and --queries", value);
        return 0;
    case ARGP_KEY_END:
        if (a->files.objects && !a->files.queries)
            argp_error(state, "which queries? --queries FILE");
        if (a->files.queries && !a->files.objects && !a->play.generate)
            a->files.objects = "-";
        if (a->files.queries && a->play.generate)
            argp_error(state, "either files or --generate");
        if (a->files.objects && !strcmp(a->files.objects, "-") && !strcmp(a->files.queries, "-"))
            argp_error(state, "objects and queries cannot both come from standard input");
        if (a->files.objects && !a->space.told)
            cleave__stream_space_default(&a->space, CLEAVE__GLOBE);
        if (a->common.csv)
            argp_error(state, "--csv: a run is no table; --json has everything");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&cleave__stream_space_argp, 0, NULL, 1},
                                             {&cleave__stream_files_argp, 0, NULL, 2},
                                             {&cleave__stream_made_argp, 0, NULL, 3},
                                             {&cleave__stream_play_argp, 0, NULL, 4},
                                             {&cleave__options_argp, 0, "Common:", 9},
                                             {&cleave__observe_argp, 0, NULL, 0},
                                             {0}};
static const struct argp argp = {
    NULL,
    parse,
    "",
    "Runs a stream through routers and evaluators, in virtual time or on threads, balances it "
    "while "
    "it flows, and holds every match against an unsharded matcher.\n\n"
    "  cleave stream run --generate 1000000,100000 --scale 0.5 --balance adaptive\n"
    "  cleave stream run --objects cities.tsv.gz --queries fences.csv --transport threads",
    children,
    NULL,
    NULL};

/* ---- output ---- */

static json_t *rebalance_json(const struct cleave__rebalance *r)
{
    json_t *item = json_object();
    json_object_set_new(item, "kind", json_string(cleave__balance_kind_name(r->kind)));
    json_object_set_new(item, "from", json_integer(r->from));
    json_object_set_new(item, "to", json_integer(r->to));
    json_object_set_new(item, "gain", json_real(r->gain));
    json_object_set_new(item, "cost", json_real(r->cost));
    json_object_set_new(item, "moved_queries", json_integer((json_int_t)r->moved_queries));
    json_object_set_new(item, "moved_cells", json_integer((json_int_t)r->moved_cells));
    json_object_set_new(item, "at_ms", json_real((double)r->at_ns * 1e-6));
    json_object_set_new(item, "took_ms", json_real((double)r->took_ns * 1e-6));
    json_object_set_new(item, "done", json_boolean(r->done));
    return item;
}

static enum cleave_status print_json(const struct arguments *a,
                                     const struct cleave__stream_played *p,
                                     struct cleave_error *error)
{
    const struct cleave__streamed *r = &p->run;
    json_t *root = json_object(), *latency = json_object(), *rebalances = json_array();
    json_t *load = json_array(), *held = json_array();
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {{"objects", r->objects},
                  {"queries", r->queries},
                  {"matches", r->matches},
                  {"duplicates", r->duplicates},
                  {"entered", r->entered},
                  {"left", r->left},
                  {"missing", p->missing},
                  {"unexpected", p->unexpected},
                  {"pruned", r->pruned},
                  {"forwarded", r->forwarded},
                  {"keyword_messages", r->keyword_messages},
                  {"keywords", r->keywords},
                  {"shed", r->shed},
                  {"expired", r->expired},
                  {"candidates", r->candidates},
                  {"load_bytes", r->load_bytes},
                  {"messages", r->messages},
                  {"bytes", r->bytes},
                  {"matcher_bytes", r->matcher_bytes},
                  {"crashes", r->crashes},
                  {"longest_step_ns", r->step_most_ns},
                  {"repeated", r->repeated},
                  {"redelivered", r->redelivered}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        json_object_set_new(root, counts[i].name, json_integer((json_int_t)counts[i].value));
    char digest[20];
    snprintf(digest, sizeof digest, "%016" PRIx64, r->digest);
    json_object_set_new(root, "digest", json_string(digest));
    json_object_set_new(root, "objects_per_s", json_real(r->objects_per_s));
    json_object_set_new(root, "queries_per_s", json_real(r->queries_per_s));
    json_object_set_new(latency, "p50", json_real((double)r->p50_ns * 1e-6));
    json_object_set_new(latency, "p99", json_real((double)r->p99_ns * 1e-6));
    json_object_set_new(latency, "p999", json_real((double)r->p999_ns * 1e-6));
    json_object_set_new(latency, "most", json_real((double)r->most_ns * 1e-6));
    json_object_set_new(root, "matched_latency_ms", latency);
    for (size_t i = 0; i < r->rebalance_count; i++)
        json_array_append_new(rebalances, rebalance_json(&r->rebalances[i]));
    json_object_set_new(root, "rebalances", rebalances);
    for (uint32_t e = 0; e < a->play.play.streaming.evaluators; e++) {
        json_array_append_new(load, json_integer((json_int_t)r->load[e]));
        json_array_append_new(held, json_integer((json_int_t)r->held[e]));
    }
    json_object_set_new(root, "evaluator_load", load);
    json_object_set_new(root, "evaluator_queries", held);
    json_object_set_new(root, "seed", cleave__json_unsigned(a->common.seed));
    json_object_set_new(root, "against", p->against ? json_string(p->against) : json_null());
    json_object_set_new(root, "verified", p->against ? json_boolean(p->verified) : json_null());
    return cleave__json_write(root, stdout, error);
}

static void print_text(const struct arguments *a, const struct cleave__stream_played *p)
{
    const struct cleave__streamed *r = &p->run;
    uint32_t evaluators = a->play.play.streaming.evaluators;
    uint64_t most = 0, all = 0, kinds[CLEAVE__BALANCE_KINDS] = {0}, moved = 0;
    for (uint32_t e = 0; e < evaluators; e++) {
        most = r->load[e] > most ? r->load[e] : most;
        all += r->load[e];
    }
    printf("objects    %" PRIu64 ", %.0f a second, %" PRIu64
           " kept from their evaluator by summaries\n",
           r->objects, r->objects_per_s, r->pruned);
    printf("queries    %" PRIu64 ", %.0f a second, %" PRIu64 " ended\n", r->queries,
           r->queries_per_s, r->expired);
    printf("matches    %" PRIu64 ", after %.3f ms (p50), %.3f ms (p99), %.3f ms (most)\n",
           r->matches, (double)r->p50_ns * 1e-6, (double)r->p99_ns * 1e-6,
           (double)r->most_ns * 1e-6);
    if (a->play.play.streaming.track)
        printf("things     %" PRIu64 " times one entered a query, %" PRIu64 " times one left\n",
               r->entered, r->left);
    printf("load       the busiest of %" PRIu32 " evaluators has %.2f times the mean\n", evaluators,
           all ? (double)most * evaluators / (double)all : 1.0);
    for (size_t i = 0; i < r->rebalance_count; i++) {
        kinds[r->rebalances[i].done ? r->rebalances[i].kind : 0]++;
        moved += r->rebalances[i].moved_queries;
    }
    if (r->rebalance_count) {
        printf("moves     ");
        for (int k = 1; k < CLEAVE__BALANCE_KINDS; k++) {
            if (kinds[k])
                printf(" %" PRIu64 " %s,", kinds[k],
                       cleave__balance_kind_name((enum cleave__balance_kind)k));
        }
        printf(" %" PRIu64 " queries; %" PRIu64 " objects sent on; %" PRIu64 " given up", moved,
               r->forwarded, kinds[0]);
        if (a->play.play.streaming.transport == &cleave__threads)
            printf("; longest step %.1f ms", (double)r->step_most_ns * 1e-6);
        putchar('\n');
    }
    printf("memory     %.1f MB of queries at the evaluators\n", (double)r->matcher_bytes * 1e-6);
    if (r->crashes || r->repeated)
        printf("faults     %" PRIu64 " crashes, %" PRIu64 " requests repeated, %" PRIu64
               " matches passed over that came again\n",
               r->crashes, r->repeated, r->redelivered);
    if (p->verified)
        printf("\nverified: %" PRIu64 " matches, all as from an unsharded matcher (%s); missing 0, "
               "duplicates 0\n",
               r->matches, p->against);
}

static enum cleave_status play(struct arguments *a, const struct cleave_progress *progress,
                               struct cleave__stream_played *out, struct cleave_error *error)
{
    struct cleave__stream_play *play = &a->play.play;
    cleave__stream_play_settle(&a->play, a->common.seed, progress);
    if (!a->files.objects) {
        cleave__stream_made_settle(&a->made, a->common.seed);
        play->made = &a->made.options;
        play->objects = a->play.objects;
        play->queries = a->play.queries;
        return cleave__stream_play(play, out, error);
    }
    struct cleave__stream_script script = {0};
    struct cleave__space space;
    enum cleave_status status =
        cleave__stream_script_read(&a->files, &a->space, progress, &space, &script, error);
    play->script = &script;
    if (!status)
        status = cleave__stream_play(play, out, error);
    cleave__stream_script_free(&script);
    return status;
}

int cleave__command_stream_run(int argc, char **argv)
{
    static struct arguments a; /* large: faults */
    struct cleave__stream_played played = {0};
    struct cleave_terminal terminal;
    struct cleave_observe observe;
    struct cleave_error error;
    a = (struct arguments){.common = CLEAVE_OPTIONS_DEFAULT};
    a.made = (struct cleave_stream_made){.space = &a.space, .options = cleave__stream_defaults};
    cleave__stream_space_default(&a.space, CLEAVE__PLANE);
    cleave__stream_play_default(&a.play);
    cleave__options_parse(&argp, argc, argv, &a);
    cleave__interrupt_catch();
    cleave__terminal_init(&terminal, a.common.quiet);
    enum cleave_status status = cleave__observe_open(&observe, &a.observe, a.common.quiet, &error);
    if (!status) {
        a.play.play.streaming.metrics = observe.metrics;
        cleave__observe_ready(&observe);
        status = play(&a, &terminal.progress, &played, &error);
        status = cleave__observe_close(&observe, status, &error);
    }
    cleave__terminal_clear(&terminal);
    if (!status && a.common.json)
        status = print_json(&a, &played, &error);
    else if (!status)
        print_text(&a, &played);
    if (!status && played.against && !played.verified)
        status = cleave_error_set(&error, CLEAVE_CORRUPT, "NOT verified: %s", played.wrong);
    cleave__stream_played_free(&played);
    cleave__stream_play_release(&a.play);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}
