/* cleave tables recover: what a dead coordinator left, finished. */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/tables_shards.h"
#include "report/json.h"
#include "tables/replay/claim.h"
#include "tables/replay/decide.h"

enum { KEY_EVERYONE = 0x5000 };

struct recover_arguments {
    struct cleave_options common;
    const char *lookup_path;
    struct cleave_shard_arguments shards;
    struct cleave__replay_world world;
    bool everyone;
};

static const struct argp_option recover_options[] = {
    {"lookup", CLEAVE_KEY_LOOKUP, "FILE", 0, "The lookup table that was routed by", 0},
    {"shards", CLEAVE_KEY_SHARDS, "URL", 0, "Where the shards are, {} is a shard's number", 0},
    {"shard", CLEAVE_KEY_SHARD, "URL", 0, "Shard 0, then shard 1, ... one by one (repeatable)", 0},
    CLEAVE_CLUSTER_OPTION(0),
    {"coordinator", CLEAVE_KEY_COORDINATOR, "NAME", 0, "Whose transactions (replay)", 0},
    {"everyone", KEY_EVERYONE, NULL, 0, "Those of every coordinator", 0},
    {"patience", CLEAVE_KEY_PATIENCE, "SECONDS", 0,
     "How long to wait for a shard that is gone (30)", 0},
    {0}};

static error_t parse_recover(int key, char *value, struct argp_state *state)
{
    struct recover_arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->common;
        return 0;
    case CLEAVE_KEY_LOOKUP:
        a->lookup_path = value;
        return 0;
    case CLEAVE_KEY_COORDINATOR:
        a->world.coordinator = cleave__option_coordinator(state, value);
        return 0;
    case KEY_EVERYONE:
        a->everyone = true;
        return 0;
    case CLEAVE_KEY_PATIENCE:
        a->world.patience_ns =
            (uint64_t)(cleave__option_real(state, "--patience", value, 0.1, 1e6) * 1e9);
        return 0;
    case ARGP_KEY_END:
        if (!a->lookup_path)
            argp_error(state, "no lookup table: give --lookup FILE");
        if (!cleave__shard_given(&a->shards))
            argp_error(state, "no shards: give --shards URL, or --cluster DIR");
        if (a->common.csv)
            argp_error(state, "there is no table here to print as CSV");
        return 0;
    default:
        return cleave__shard_parse(state, &a->shards, key, value) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

int cleave__command_tables_recover(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cleave__options_argp, 0, "Common:", 9}, {0}};
    static const struct argp argp = {
        recover_options,
        parse_recover,
        NULL,
        "Finishes what a coordinator that died has left prepared on the shards: committed where "
        "that was decided, else rolled back. Does no harm while one is at work.",
        children,
        NULL,
        NULL};
    static struct recover_arguments a;
    a = (struct recover_arguments){
        .common = CLEAVE_OPTIONS_DEFAULT,
        .world = {.coordinator = "replay", .patience_ns = UINT64_C(30000000000)}};
    cleave__options_parse(&argp, argc, argv, &a);
    struct cleave_error error;
    struct cleave_lookup *lookup = NULL;
    struct cleave_arena arena = {0};
    struct cleave_terminal terminal;
    struct cleave__recovery recovery;
    cleave__interrupt_catch();
    cleave__terminal_init(&terminal, a.common.quiet);
    a.world.stop = terminal.progress.stop;
    enum cleave_status status = cleave__lookup_open(a.lookup_path, &lookup, &error);
    a.world.lookup = lookup;
    if (!status)
        status = cleave__shard_urls(&a.shards, cleave__lookup_shards(lookup), &arena, &a.world.urls,
                                    &error);
    if (!status)
        status = cleave__claim_places(&a.world, false, &error);
    if (!status)
        status = cleave__recover(&a.world, a.everyone, &recovery, &error);
    cleave__terminal_clear(&terminal);
    if (!status && a.common.json)
        status = cleave__json_write(
            json_pack("{s:I, s:I, s:I}", "committed", (json_int_t)recovery.committed, "rolled_back",
                      (json_int_t)recovery.rolled_back, "left_alone", (json_int_t)recovery.foreign),
            stdout, &error);
    else if (!status)
        printf("%" PRIu32 " parts committed, %" PRIu32 " rolled back, %" PRIu32
               " of others left alone\n",
               recovery.committed, recovery.rolled_back, recovery.foreign);
    cleave__lookup_release(lookup);
    cleave__arena_free(&arena);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}
