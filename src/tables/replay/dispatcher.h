/* The dispatcher and the reference of a replay. */
#ifndef CLEAVE_TABLES_REPLAY_DISPATCHER_H
#define CLEAVE_TABLES_REPLAY_DISPATCHER_H

#include "runtime/actor.h"
#include "tables/replay/decide.h"
#include "tables/replay/order.h"
#include "tables/replay/replay.h"
#include "tables/replay/shift.h"
#include "tables/replay/wire.h"
#include "tables/shape/workload.h"

struct cleave__dispatch_arguments {
    const struct cleave_replay_options *options;
    const struct cleave__replay_world *world;
    uint32_t window;
    uint32_t first_client, reference, late; /* actors; reference 0: none */
    struct cleave__mix *mix;                /* of a repartition; NULL: none */
    const uint32_t *mover;                  /* its actor, which is spawned later */
};

/* A transaction inside the window. */
struct cleave__dispatch_slot {
    bool used, done, referenced;      /* its clients' answer, the reference's is here */
    uint64_t number;                  /* among those handed out */
    uint64_t read;                    /* among those of the trace */
    uint32_t counted;                 /* in the workload; CLEAVE_ABSENT: not */
    struct cleave_arena arena, again; /* again: of a plan by a later map */
    struct cleave__planned planned;   /* its accesses live in `arena` */
    struct cleave_writer message;
    struct cleave__outcome outcome, reference;
};

struct cleave__dispatcher {
    const struct cleave__dispatch_arguments *arguments;
    struct cleave__planner *planner;
    struct cleave__shift_gate *gate; /* NULL: nothing moves */
    struct cleave__planner *both[2]; /* of the two placements, to see what they refuse */
    bool gone;                       /* the mover was told to begin */
    struct cleave__order *order;
    uint64_t admitted;
    struct cleave_workload workload;     /* what was handed out, for counting once more */
    CLEAVE_VECTOR(uint32_t) failed;      /* of them, those that were rolled back */
    struct cleave__dispatch_slot *slots; /* [window] */
    uint32_t *places;                    /* [window]: place in the order -> slot */
    bool *busy;                          /* [clients] */
    uint32_t slots_used;
    bool ended;
    bool waiting;           /* for a timer of the rate */
    uint64_t stall;         /* the timer that sees whether anything comes back; 0: none is set */
    uint64_t last_reply_ns; /* when a client answered */
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
extern const struct cleave_actor_ops cleave__late_ops;      /* likewise; late.c */

/* ---- inside: dispatcher_shift.c, what a repartition adds ---- */

enum cleave_status cleave__dispatcher_watch(struct cleave__dispatcher *dispatcher,
                                            struct cleave_error *error);
/* Plans into a slot. CLEAVE_UNSUPPORTED: one of the two placements refuses it. `*waits`: what is
 * between them does, so it is to wait until all has moved. */
enum cleave_status cleave__dispatcher_plan(struct cleave__dispatcher *dispatcher,
                                           const struct cleave_trace_transaction *transaction,
                                           struct cleave__dispatch_slot *slot, bool *waits,
                                           struct cleave_error *error);
/* Whether a slot may begin now, which it then has; planned anew if pieces have moved. */
bool cleave__dispatcher_pass(struct cleave__dispatcher *dispatcher, struct cleave_context *context,
                             uint32_t index, uint32_t place);
/* A client's answer is here. */
void cleave__dispatcher_over(struct cleave__dispatcher *dispatcher, struct cleave_context *context,
                             uint32_t index);
/* Tells the mover to begin when it is time. */
void cleave__dispatcher_go(struct cleave__dispatcher *dispatcher, struct cleave_context *context);

#endif
