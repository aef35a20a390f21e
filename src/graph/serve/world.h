/* What the actors that serve a graph have in common: who is who, what is asked, and the messages.
 *
 * Actors are numbered in the order of spawning: shards, coordinators, clients, the writer, the
 * mover. All of it is set before the run and changed by nobody. */
#ifndef CLEAVE_GRAPH_SERVE_WORLD_H
#define CLEAVE_GRAPH_SERVE_WORLD_H

#include "base/histogram.h"
#include "graph/cache/cache.h"
#include "graph/serve/serve.h"
#include "graph/serve/users.h"
#include "runtime/actor.h"

struct cleave__world {
    const struct cleave__graph *graph;
    const struct cleave__serving *serving;
    uint32_t window; /* requests that a coordinator has under way at most */
    bool tracked;    /* lists change: answers tell which version of each was read */
};

/* The argument of an actor: the how many-th of its kind. */
struct cleave__seat {
    const struct cleave__world *world;
    uint32_t index;
};

static inline uint32_t cleave__shard_actor(uint32_t shard)
{
    return 1 + shard;
}
static inline uint32_t cleave__coordinator_actor(const struct cleave__world *world, uint32_t index)
{
    return 1 + world->serving->shards + index;
}
static inline uint32_t cleave__client_actor(const struct cleave__world *world, uint32_t index)
{
    return cleave__coordinator_actor(world, world->serving->coordinators) + index;
}

enum cleave__graph_kind {
    CLEAVE__GRAPH_QUERY = 1, /* client to coordinator: u64 number, u32 source */
    CLEAVE__GRAPH_ANSWER,    /* and back: see coordinator.c */
    CLEAVE__GRAPH_READ,      /* coordinator to shard: u32 flags, u32 users each */
    CLEAVE__GRAPH_LISTS,     /* and back: records as cleave__user_write has them */
    CLEAVE__GRAPH_FORWARD_READ,
    CLEAVE__GRAPH_CHANGE, /* writer to shard */
    CLEAVE__GRAPH_CHANGED,
    CLEAVE__GRAPH_FORWARD_CHANGE,
    CLEAVE__GRAPH_INVALIDATE, /* owner of a replicated user to the others, and back */
    CLEAVE__GRAPH_INVALID,
    CLEAVE__GRAPH_UPDATE,
    CLEAVE__GRAPH_REPLICATE, /* mover to owner */
    CLEAVE__GRAPH_REPLICAS,  /* mover to coordinators */
    CLEAVE__GRAPH_DONE,      /* an answer without words */
    CLEAVE__GRAPH_AGAIN,     /* to clients: the final queries */
    CLEAVE__GRAPH_LOAD,      /* mover to shard: what is read how often; and back */
    CLEAVE__GRAPH_LOADS
};

/* Flags of a read. */
enum {
    CLEAVE__READ_BRIEF = 1,   /* degree and label alone */
    CLEAVE__READ_PRIMARY = 2, /* not from a copy */
    CLEAVE__READ_SOURCE = 4   /* a query's own user */
};
/* Instead of a degree: ask the owner. */
#define CLEAVE__ELSEWHERE UINT32_MAX

extern const struct cleave_actor_ops cleave__shard_ops, cleave__coordinator_ops,
    cleave__graph_client_ops;

#endif
