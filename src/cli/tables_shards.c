#include "cli/tables_shards.h"

#include <string.h>

#include "cluster/cluster.h"
#include "tables/replay/decide.h"

const char *cleave__option_coordinator(struct argp_state *state, const char *value)
{
    if (!cleave__coordinator_valid(value))
        argp_error(state, "--coordinator takes 1 to 40 letters, digits and _, not '%s'", value);
    return value;
}

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
