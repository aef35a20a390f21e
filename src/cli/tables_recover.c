/* cleave tables recover: what a dead coordinator left, finished; and the shards as options name
 * them, for replay too. */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/tables_replay.h"
#include "cluster/cluster.h"
#include "report/json.h"
#include "tables/replay/claim.h"
#include "tables/replay/decide.h"

enum { KEY_EVERYONE = 0x5000 };

bool cleave__shard_parse(struct argp_state *state, struct cleave_shard_arguments *shards, int key,
                         const char *value)
{
    if (key == CLEAVE_KEY_SHARDS) {
        shards->pattern = value;
    } else if (key == CLEAVE_KEY_SHARD) {
        if (shards->count == CLEAVE_SHARDS_MAX)
            argp_error(state, "more than %d shards", CLEAVE_SHARDS_MAX);
        shards->urls[shards->count++] = value;
    } else if (key == CLEAVE_KEY_CLUSTER) {
        shards->cluster = value;
    } else {
        return false;
    }
    if ((shards->pattern != NULL) + (shards->count != 0) + (shards->cluster != NULL) > 1)
        argp_error(state, "--shards URL, --shard and --cluster exclude each other");
    return true;
}

bool cleave__shard_given(const struct cleave_shard_arguments *shards)
{
    return shards->pattern || shards->count || shards->cluster;
}

/* The PostgreSQL servers of a cluster, in `arena`. */
static enum cleave_status cluster_urls(const char *folder, struct cleave_arena *arena,
                                       const char ***out, uint32_t *count,
                                       struct cleave_error *error)
{
    struct cleave_cluster *cluster;
    enum cleave_status status = cleave__cluster_open(folder, &cluster, error);
    if (status)
        return status;
    uint32_t size = cleave__cluster_size(cluster), n = 0;
    const char **urls = cleave__arena_zalloc(arena, (size + 1) * sizeof *urls);
    bool copied = urls;
    for (uint32_t i = 0; i < size && copied; i++) {
        const struct cleave_cluster_server *server = cleave__cluster_server(cluster, i);
        if (server->kind != CLEAVE_CLUSTER_POSTGRES)
            continue;
        urls[n] = cleave__arena_copy(arena, server->url, strlen(server->url));
        copied = urls[n++];
    }
    cleave__cluster_free(cluster);
    if (!copied)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the shards");
    *out = urls;
    *count = n;
    return CLEAVE_OK;
}

enum cleave_status cleave__shard_reference(const struct cleave_shard_arguments *arguments,
                                           uint32_t shards, struct cleave_arena *arena,
                                           const char **reference, struct cleave_error *error)
{
    const char **urls;
    uint32_t count;
    if (!arguments->cluster || *reference)
        return CLEAVE_OK;
    enum cleave_status status = cluster_urls(arguments->cluster, arena, &urls, &count, error);
    if (!status && count > shards)
        *reference = urls[count - 1];
    return status;
}

enum cleave_status cleave__shard_urls(const struct cleave_shard_arguments *arguments,
                                      uint32_t shards, struct cleave_arena *arena,
                                      const char *const **out, struct cleave_error *error)
{
    const char **urls;
    uint32_t count;
    if (arguments->cluster) {
        enum cleave_status status = cluster_urls(arguments->cluster, arena, &urls, &count, error);
        if (!status && count < shards)
            status = cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                      "the lookup table has %u shards, but the cluster in %.200s "
                                      "has %u PostgreSQL servers",
                                      shards, arguments->cluster, count);
        if (!status)
            *out = urls;
        return status;
    }
    urls = cleave__arena_zalloc(arena, (shards + 1) * sizeof *urls);
    if (arguments->pattern && shards > 1 && !strstr(arguments->pattern, "{}"))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "--shards URL needs {} for the number of each of %u shards",
                                shards);
    if (!arguments->pattern && arguments->count != shards)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "the lookup table has %u shards, but %u are given with --shard",
                                shards, arguments->count);
    for (uint32_t s = 0; urls && s < shards; s++) {
        urls[s] = arguments->pattern ? cleave__store_url(arguments->pattern, s, arena)
                                     : arguments->urls[s];
        if (!urls[s])
            urls = NULL;
    }
    if (!urls)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the shards");
    *out = urls;
    return CLEAVE_OK;
}

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
        if (!cleave__coordinator_valid(value))
            argp_error(state, "--coordinator takes 1 to 40 letters, digits and _, not '%s'", value);
        a->world.coordinator = value;
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
