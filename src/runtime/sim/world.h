/* Inside the sim transport: actors' mailboxes, the nodes they sit on, and the clock.
 *
 * Everything that may happen next stands in the heap of events, the heap of timers, or the agenda:
 * the list of actors to look at before time moves on, because their mailbox, their outbox or their
 * node changed. One turn never starts another: it only adds to the agenda.
 *
 * A place in a mailbox is taken when a message is sent and given back when it is taken up: what is
 * under way counts. (That room is known to the sender at once is a simplification.) */
#ifndef CLEAVE_RUNTIME_SIM_WORLD_H
#define CLEAVE_RUNTIME_SIM_WORLD_H

#include "runtime/core.h"
#include "runtime/sim/events.h"
#include "runtime/sim/parcels.h"
#include "runtime/timers.h"
#include "runtime/waiters.h"

enum cleave__event_what {
    CLEAVE__EVENT_ARRIVE, /* a parcel reaches its mailbox */
    CLEAVE__EVENT_DONE,   /* the service of a message ends: it is received */
    CLEAVE__EVENT_IDLE,   /* the time that the actor asked for is over */
    CLEAVE__EVENT_BEGIN,  /* of a fault */
    CLEAVE__EVENT_END
};

struct cleave__mail {
    struct cleave__actor *actor;
    struct cleave__parcel *first, **end; /* oldest first */
    struct cleave__parcel *serving;      /* taken up, its service not over */
    uint32_t queued;                     /* in the list */
    uint32_t used;                       /* of the capacity: in the list or under way */
    struct cleave__waiters waiters;      /* actors that met it full */
    uint64_t serve_ns;                   /* of `serving` */
    struct cleave__mail *next_agenda, *next_ready;
    bool on_agenda, drain; /* drain: the outbox has somewhere to go */
    bool busy, ready;      /* holds a processor; waits for one */
    bool down;
    uint16_t life;
};

struct cleave__machine {
    struct cleave_host limits;
    uint32_t busy;                     /* processors */
    struct cleave__mail *ready, **end; /* actors that wait for one */
    uint64_t link_free_ns;
};

struct cleave__world {
    struct cleave_runtime *runtime;
    struct cleave_context context; /* of every turn */
    uint64_t now_ns;
    struct cleave__events events;
    struct cleave__timers timers;
    struct cleave__parcels parcels;
    struct cleave__mail *agenda, **agenda_end;
    CLEAVE_VECTOR(struct cleave__machine *) machines;
    CLEAVE_VECTOR(uint32_t) faults; /* under way: hold, lose, slow */
    size_t begins;                  /* events of faults to come: no reason to go on */
    struct cleave_random random;    /* of delays and service times */
    uint64_t digest;
    size_t started; /* actors below had their first turn */
};

/* world.c */
void cleave__world_schedule(struct cleave__world *world, struct cleave__event event);
void cleave__world_note(struct cleave__world *world, struct cleave__mail *mail);
/* Makes the context that of this actor, now. */
struct cleave_context *cleave__world_turn(struct cleave__world *world, struct cleave__mail *mail);
/* The actor got its processor; what it asked for (spend) is still to pass. */
void cleave__world_turn_over(struct cleave__world *world, struct cleave__mail *mail);
void cleave__world_arrive(struct cleave__world *world, struct cleave__mail *mail,
                          struct cleave__parcel *parcel);
void cleave__world_done(struct cleave__world *world, struct cleave__mail *mail);
void cleave__world_idle(struct cleave__world *world, struct cleave__mail *mail);
/* Gives a place of the mailbox back, and wakes one who waits for it. */
void cleave__world_room(struct cleave__world *world, struct cleave__mail *mail);
void cleave__world_agenda(struct cleave__world *world);
struct cleave__machine *cleave__world_machine(struct cleave__world *world, uint32_t node);
bool cleave__world_check(const struct cleave__world *world);
static inline struct cleave__mail *cleave__world_mail(const struct cleave__world *world,
                                                      uint32_t actor)
{
    return world->runtime->actors.data[actor]->mail;
}

/* network.c */
enum cleave__offer cleave__world_offer(struct cleave_context *context,
                                       struct cleave__channel *channel,
                                       const struct cleave_frame *frame, bool forced);

/* The actor of this channel no longer waits for room in the mailbox. */
void cleave__world_withdraw(struct cleave__mail *mail, struct cleave__channel *channel);

/* fault.c */
enum cleave_status cleave__world_plan_faults(struct cleave__world *world,
                                             struct cleave_error *error);
void cleave__world_fault(struct cleave__world *world, uint32_t fault, bool begins);

/* trace.c */
void cleave__world_trace(struct cleave__world *world, enum cleave_trace_what what, uint32_t actor,
                         const struct cleave_frame *frame, uint64_t sequence);
void cleave__world_trace_parcel(struct cleave__world *world, enum cleave_trace_what what,
                                const struct cleave__parcel *parcel);

#endif
