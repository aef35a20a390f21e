/* The state of a shard: what it owns, and the cache in front of it. */
#ifndef CLEAVE_GRAPH_SERVE_SHARD_H
#define CLEAVE_GRAPH_SERVE_SHARD_H

#include "graph/serve/world.h"

struct cleave__shard {
    const struct cleave__seat *seat;
    struct cleave__users own;    /* whom this shard answers for */
    struct cleave__cache *cache; /* values are copies of records, by pointer; or NULL */
    uint64_t reads;
};

/* Every structure's invariants, and that no copy in the cache is older than what is owned. */
bool cleave__shard_check(const struct cleave__shard *shard, const char **why);

#endif
