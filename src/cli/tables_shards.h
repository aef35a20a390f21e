/* Where the shards are, and whose transactions: options of tables load, replay, recover and
 * repartition. */
#ifndef CLEAVE_CLI_TABLES_SHARDS_H
#define CLEAVE_CLI_TABLES_SHARDS_H

#include "cli/options.h"
#include "tables/route/lookup.h"

enum { /* of options that several of them have */
       CLEAVE_KEY_LOOKUP = 0x5100,
       CLEAVE_KEY_SHARDS,
       CLEAVE_KEY_SHARD,
       CLEAVE_KEY_CLUSTER,
       CLEAVE_KEY_COORDINATOR,
       CLEAVE_KEY_PATIENCE
};

#define CLEAVE_CLUSTER_OPTION(group)                                                               \
    {                                                                                              \
        "cluster", CLEAVE_KEY_CLUSTER, "DIR", 0,                                                   \
            "The servers of `cleave cluster up --dir DIR`: the first are the shards; the last, "   \
            "if "                                                                                  \
            "there are more, is the reference",                                                    \
            group                                                                                  \
    }

struct cleave_shard_arguments {
    const char *cluster; /* a folder; or */
    const char *pattern; /* with {} for the number; or */
    const char *urls[CLEAVE_SHARDS_MAX];
    uint32_t count; /* of `urls` */
};

/* --coordinator, checked. */
const char *cleave__option_coordinator(struct argp_state *state, const char *value);
/* Takes --shards URL, --shard URL and --cluster DIR; false: it is another option. */
bool cleave__shard_parse(struct argp_state *state, struct cleave_shard_arguments *shards, int key,
                         const char *value);
/* Whether it was said where they are. */
bool cleave__shard_given(const struct cleave_shard_arguments *shards);
/* `*reference`: the last server of the cluster, in `arena`, when it is none of `shards` shards and
 * `*reference` is NULL. */
enum cleave_status cleave__shard_reference(const struct cleave_shard_arguments *arguments,
                                           uint32_t shards, struct cleave_arena *arena,
                                           const char **reference, struct cleave_error *error);
/* One URL of each shard of the lookup table, in `arena`. */
enum cleave_status cleave__shard_urls(const struct cleave_shard_arguments *arguments,
                                      uint32_t shards, struct cleave_arena *arena,
                                      const char *const **out, struct cleave_error *error);

#endif
