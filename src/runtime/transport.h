/* What carries messages, as a table of operations: the seam between actors and the world.
 *
 * A transport owns mailboxes, clock, timers and turns; runtime/core.h does the rest. It may put
 * actors on threads or in processes: nothing here assumes that two actors share memory. Offering a
 * message may be refused (the receiver's mailbox is full, or no credit for it is left); the
 * transport then remembers who asked and has the outbox drained (cleave__actor_drain) once there
 * may be room. */
#ifndef CLEAVE_RUNTIME_TRANSPORT_H
#define CLEAVE_RUNTIME_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "cleave/progress.h"
#include "cleave/status.h"

struct cleave_context;
struct cleave_frame;
struct cleave_runtime;
struct cleave__actor;
struct cleave__channel;

enum cleave__offer {
    CLEAVE__SENT,
    CLEAVE__FULL,  /* and the transport will call back */
    CLEAVE__FAILED /* the run is over: cleave__runtime_fail was called */
};

struct cleave_transport_ops {
    const char *name;
    enum cleave_status (*open)(struct cleave_runtime *runtime, void **state,
                               struct cleave_error *error);
    void (*close)(void *state);
    /* An actor more: its mailbox. Undone by `drop`, which must also bear an actor not yet added. */
    enum cleave_status (*add)(void *state, struct cleave__actor *actor, struct cleave_error *error);
    void (*drop)(void *state, struct cleave__actor *actor);
    /* Takes a message of the context's actor. Replies always have room, and whatever is `forced`.
     * Sent means: written by cleave__channel_write, in the order of calls. */
    enum cleave__offer (*offer)(struct cleave_context *context, struct cleave__channel *channel,
                                const struct cleave_frame *frame, bool forced);
    uint64_t (*now_ns)(void *state);
    /* At that time a frame made by cleave__timer_write is put into the mailbox of the context's
     * actor. False: memory is out. */
    bool (*timer_set)(struct cleave_context *context, uint64_t at_ns, uint64_t number,
                      uint64_t *handle);
    void (*timer_cancel)(struct cleave_context *context, uint64_t handle);
    /* Until nothing is left to do, `until_ns` (0: no bound), or cleave__runtime_over. Its own
     * status is about the run itself; failures of actors are in the runtime. */
    enum cleave_status (*run)(void *state, uint64_t until_ns,
                              const struct cleave_progress *progress, struct cleave_error *error);
    bool (*check)(void *state);
    /* Optional: actors of other processes, groups, logs; an actor as a member of a group. */
    bool reaches_out;
    enum cleave_status (*join)(void *state, struct cleave__actor *actor,
                               struct cleave__actor *group, struct cleave_error *error);
    /* Optional: keeps what is saved (`anew`) or appended beyond this process; false: it does not,
     * for this actor. */
    bool (*save)(struct cleave_context *context, bool anew, const void *bytes, size_t length);
    /* Optional: nothing comes in any more; before actors are dropped. */
    void (*hush)(void *state);
    /* Optional: how many messages of a channel are known to be lost; UINT64_MAX: nobody knows. */
    uint64_t (*lost)(void *state, const struct cleave__actor *receiver, uint32_t sender);
    /* Optional. */
    uint64_t (*digest)(void *state);
    bool virtual_time; /* clock readings are free */
};

#endif
