/* cleave tables repartition: rows from where one lookup table has them to where another does, while
 * nothing else runs. With transactions meanwhile: `tables replay --repartition`. */
#include <inttypes.h>
#include <jansson.h>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/tables_shards.h"
#include "report/json.h"
#include "tables/replay/replay.h"

enum { KEY_FROM = 0x5000, KEY_TO, KEY_PIECES };

struct arguments {
    struct cleave_options common;
    const char *from_path, *to_path;
    struct cleave_shard_arguments shards;
    struct cleave_replay_options replay;
};

static const struct argp_option options[] = {
    {"from", KEY_FROM, "FILE", 0, "The lookup table that says where rows are", 0},
    {"to", KEY_TO, "FILE", 0, "The one that says where they are to go; it may have more shards", 0},
    {"shards", CLEAVE_KEY_SHARDS, "URL", 0, "Where the shards are, {} is a shard's number", 0},
    {"shard", CLEAVE_KEY_SHARD, "URL", 0, "Shard 0, then shard 1, ... one by one (repeatable)", 0},
    CLEAVE_CLUSTER_OPTION(0),
    {"coordinator", CLEAVE_KEY_COORDINATOR, "NAME", 0, "Whose transactions these are (replay)", 0},
    {"pieces", KEY_PIECES, "N", 0, "Pieces by key, a key map (64)", 0},
    {"patience", CLEAVE_KEY_PATIENCE, "SECONDS", 0,
     "How long to wait for a shard that is gone (30)", 0},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->common;
        return 0;
    case KEY_FROM:
        a->from_path = value;
        return 0;
    case KEY_TO:
        a->to_path = value;
        return 0;
    case CLEAVE_KEY_COORDINATOR:
        a->replay.coordinator = cleave__option_coordinator(state, value);
        return 0;
    case KEY_PIECES:
        a->replay.pieces = (uint32_t)cleave__option_integer(state, "--pieces", value, 1, 4096);
        return 0;
    case CLEAVE_KEY_PATIENCE:
        a->replay.patience_s = cleave__option_real(state, "--patience", value, 0.1, 1e6);
        return 0;
    case ARGP_KEY_END:
        if (!a->from_path || !a->to_path)
            argp_error(state, "two lookup tables are needed: --from FILE and --to FILE");
        if (!cleave__shard_given(&a->shards))
            argp_error(state, "no shards: give --shards URL, or --cluster DIR");
        if (a->common.csv)
            argp_error(state, "there is no table here to print as CSV");
        return 0;
    default:
        return cleave__shard_parse(state, &a->shards, key, value) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

static enum cleave_status nothing(void *context, struct cleave_trace_transaction *out,
                                  struct cleave_error *error)
{
    (void)context, (void)out, (void)error;
    return CLEAVE_END;
}

static enum cleave_status print(const struct arguments *a, const struct cleave_shift_result *shift,
                                struct cleave_error *error)
{
    if (a->common.json)
        return cleave__json_write(
            json_pack("{s:I, s:I, s:I, s:I, s:f, s:b}", "pieces", (json_int_t)shift->pieces,
                      "moves", (json_int_t)shift->moves, "rows", (json_int_t)shift->rows,
                      "begun_anew", (json_int_t)shift->again, "seconds", shift->seconds, "whole",
                      (int)shift->whole),
            stdout, error);
    printf("%" PRIu32 " pieces in %" PRIu32 " moves, %" PRIu64 " rows, %.1f s%s\n", shift->pieces,
           shift->moves, shift->rows, shift->seconds, shift->whole ? "" : "; NOT whole");
    return CLEAVE_OK;
}

int cleave__command_tables_repartition(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cleave__options_argp, 0, "Common:", 9}, {0}};
    static const struct argp argp = {
        options,
        parse,
        NULL,
        "Moves rows between shards, from where one lookup table has them to where another does, "
        "piece by piece, each in one distributed transaction. Stopped or killed, the same command "
        "goes on. Nothing else may change the tables meanwhile: `tables replay --repartition` is "
        "for that.",
        children,
        NULL,
        NULL};
    static struct arguments a; /* large: URLs */
    a = (struct arguments){.common = CLEAVE_OPTIONS_DEFAULT, .replay.clients = 1};
    cleave__options_parse(&argp, argc, argv, &a);
    struct cleave_error error = {0};
    struct cleave_arena arena = {0};
    struct cleave_terminal terminal;
    struct cleave_lookup *from = NULL, *to = NULL;
    struct cleave_replay_result result = {0};
    cleave__interrupt_catch();
    cleave__terminal_init(&terminal, a.common.quiet);
    enum cleave_status status = cleave__lookup_open(a.from_path, &from, &error);
    if (!status)
        status = cleave__lookup_open(a.to_path, &to, &error);
    if (!status) {
        uint32_t shards = cleave__lookup_shards(from), more = cleave__lookup_shards(to);
        status = cleave__shard_urls(&a.shards, more > shards ? more : shards, &arena,
                                    &a.replay.urls, &error);
    }
    a.replay.lookup = from;
    a.replay.repartition = to;
    a.replay.lookup_name = a.from_path;
    a.replay.repartition_name = a.to_path;
    a.replay.source = (struct cleave_replay_source){nothing, NULL};
    a.replay.progress = &terminal.progress;
    if (!status)
        status = cleave__replay(&a.replay, &result, &error);
    cleave__terminal_clear(&terminal);
    if (!status)
        status = print(&a, &result.shift, &error);
    bool whole = result.shift.whole;
    cleave__replay_result_free(&result);
    cleave__lookup_release(from);
    cleave__lookup_release(to);
    cleave__arena_free(&arena);
    return status ? cleave__command_fail(&error) : whole ? CLEAVE_EXIT_OK : CLEAVE_EXIT_FAILED;
}
