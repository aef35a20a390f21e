/* The dispatcher and the reference of a replay. */
#ifndef CLEAVE_TABLES_REPLAY_DISPATCHER_H
#define CLEAVE_TABLES_REPLAY_DISPATCHER_H

#include "runtime/actor.h"
#include "tables/replay/order.h"
#include "tables/replay/replay.h"
#include "tables/replay/wire.h"
#include "tables/shape/workload.h"

struct cleave__dispatch_arguments {
    const struct cleave_replay_options *options;
    const struct cleave__replay_world *world;
    uint32_t window;
    uint32_t first_client, reference; /* actors; reference 0: none */
};

/* A transaction inside the window. */
struct cleave__dispatch_slot {
    bool used, done, referenced; /* its clients' answer, the reference's is here */
    uint64_t number;             /* among those replayed */
    struct cleave_arena arena;
    struct cleave__planned planned;
    struct cleave_writer message;
    struct cleave__outcome outcome, reference;
};

struct cleave__dispatcher {
    const struct cleave__dispatch_arguments *arguments;
    struct cleave__planner *planner;
    struct cleave__order *order;
    struct cleave_workload workload;     /* what was replayed, for counting once more */
    struct cleave__dispatch_slot *slots; /* [window] */
    uint32_t *places;                    /* [window]: place in the order -> slot */
    bool *busy;                          /* [clients] */
    uint32_t slots_used;
    bool ended;
    bool waiting; /* for a timer of the rate */
    uint64_t began_ns;
    struct cleave_replay_result result; /* `counted` and what is read; without times */
};

extern const struct cleave_actor_ops cleave__dispatcher_ops;

struct cleave__reference {
    const struct cleave__replay_world *world;
    struct cleave__port port;
    struct cleave_arena arena;
};

extern const struct cleave_actor_ops cleave__reference_ops; /* its argument: the world */

#endif
