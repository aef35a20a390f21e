/* Inside the runtime: what every transport shares. An actor's channels, outbox, requests and timers
 * are handled here, once; a transport only moves encoded frames, keeps mailboxes, the clock and the
 * timers' heap, and decides who runs when.
 *
 * Thread rule: everything of an actor but its `mail` is touched only by whoever runs the actor, and
 * the transport sees to it that this is one thread at a time, each seeing what the last one wrote.
 */
#ifndef CLEAVE_RUNTIME_CORE_H
#define CLEAVE_RUNTIME_CORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/vector.h"
#include "runtime/channels.h"
#include "runtime/frame.h"
#include "runtime/runtime.h"
#include "runtime/tickets.h"
#include "runtime/transport.h"
#include "runtime/watch.h"

/* A message that met a full mailbox. */
struct cleave__parked {
    struct cleave__parked *next;
    struct cleave_frame frame; /* not yet numbered; its body is below */
    uint8_t body[];
};

/* Where an actor is; all but the first on nats alone. */
enum cleave__actor_sort {
    CLEAVE__ACTOR_HERE,
    CLEAVE__ACTOR_ELSEWHERE, /* in another process */
    CLEAVE__ACTOR_GROUP,     /* whoever of a group */
    CLEAVE__ACTOR_LOG        /* a stream of the server's */
};

struct cleave__actor {
    /* What every message needs, on one cache line. */
    uint32_t number, mailbox_most;
    const struct cleave_actor_ops *ops; /* NULL: the outside, number 0, or not here */
    void *self;                         /* NULL while crashed */
    void *mail;                         /* the transport's */
    struct cleave__channels channels;
    uint32_t parked; /* messages in the outbox, which is spread over the channels */
    bool started;

    struct cleave_actor_stats stats;
    struct cleave__watch *watch; /* NULL: nobody reads them while it runs */
    struct cleave__tickets requests, timers;
    uint64_t last_number;  /* of a request (times 2, plus 1 if it has a timeout) or timer */
    uint64_t crash_number; /* last_number at the last crash: older answers are late */
    CLEAVE_VECTOR(uint32_t) blocked; /* peers with parked messages, as they were found full */
    struct cleave_random random;
    CLEAVE_VECTOR(uint8_t) saved;
    uint32_t node;
    enum cleave__actor_sort sort;
    char *name;
    const void *argument;
    struct cleave_distribution service;
    uint64_t service_per_byte_ps;
};

struct cleave_context {
    struct cleave_runtime *runtime;
    struct cleave__actor *actor; /* whose turn it is */
    void *worker;                /* the transport's */
    uint64_t now_ns;             /* when `clock_read` */
    bool clock_read;             /* a transport whose clock runs by itself clears it each message */
    uint64_t spent_ns;           /* sim: asked for by cleave__context_spend in this turn */
    struct cleave_writer writer;
};

struct cleave_runtime {
    struct cleave_runtime_options options; /* defaults filled in */
    const struct cleave_transport_ops *transport;
    void *state;                                  /* the transport's */
    CLEAVE_VECTOR(struct cleave__actor *) actors; /* by number; 0 is the outside */
    struct cleave_context outside;
    bool measures;      /* waiting and busy times are taken */
    atomic_bool ending; /* an actor ends the run */
    atomic_bool failed; /* `failure` is set, under the lock */
    pthread_mutex_t lock;
    struct cleave_error failure;
    atomic_ullong planted; /* messages counted for options.plant_at */
};

/* ---- for transports ---- */

/* The run ends with this error, unless another came first. */
void cleave__runtime_fail(struct cleave_runtime *runtime, enum cleave_status status,
                          const char *format, ...) CLEAVE_PRINTF(3, 4);
/* What is sent from now on leads nowhere. (When an actor ends the run, turns under way go on to
 * their end, and what they send is there in the next run.) */
static inline bool cleave__runtime_failed(struct cleave_runtime *runtime)
{
    return atomic_load_explicit(&runtime->failed, memory_order_relaxed);
}
/* Whether the run is to end now. */
static inline bool cleave__runtime_over(struct cleave_runtime *runtime)
{
    return cleave__runtime_failed(runtime) ||
           atomic_load_explicit(&runtime->ending, memory_order_relaxed);
}
/* The first turn of the context's actor; nothing if it had one. */
void cleave__actor_start(struct cleave_context *context);
/* Hands the context's actor a frame of its mailbox, where it waited for `waited_ns` (if the runtime
 * measures). */
void cleave__actor_take(struct cleave_context *context, const uint8_t *bytes, size_t size,
                        uint64_t waited_ns);
/* A frame of the actor's mailbox is lost by a fault: the next one in its channel is no surprise. */
void cleave__actor_lose(struct cleave_context *context, const uint8_t *bytes, size_t size);
/* Offers parked messages once more, in the order of each channel. True when none is left. O(peers
 * that were full + messages that are not parked any more). */
bool cleave__actor_drain(struct cleave_context *context);
/* State, outbox, requests and timers are gone; made anew by _restart. */
void cleave__actor_crash(struct cleave_context *context);
void cleave__actor_restart(struct cleave_context *context);
/* Numbers a frame and writes its bytes for a channel. */
void cleave__channel_write(struct cleave_runtime *runtime, struct cleave__channel *channel,
                           const struct cleave_frame *frame, uint8_t *to);
/* A timer's message, CLEAVE_FRAME_HEADER_BYTES. */
void cleave__timer_write(struct cleave_runtime *runtime, uint32_t actor, uint64_t number,
                         uint8_t *to);
/* Nothing can run: whether that is an end or a fault (a cycle of full mailboxes, a request without
 * an answer), which then becomes the run's failure. */
void cleave__runtime_settle(struct cleave_runtime *runtime);
/* Only the cycles, while nobody has a turn. True if there is one. */
bool cleave__runtime_find_cycle(struct cleave_runtime *runtime);

/* The run ends with the names along a cycle of full mailboxes, of which the first
 * CLEAVE__CYCLE_TOLD are given (one more than are told). */
enum { CLEAVE__CYCLE_TOLD = 9 };
void cleave__runtime_fail_cycle(struct cleave_runtime *runtime, const uint32_t *actors,
                                size_t count);

static inline uint64_t cleave__now_ns(struct cleave_context *context)
{
    if (!context->clock_read) {
        context->now_ns = context->runtime->transport->now_ns(context->runtime->state);
        context->clock_read = true;
    }
    return context->now_ns + context->spent_ns;
}

/* ---- inside ---- */

/* Throws the outbox away. */
void cleave__actor_unpark(struct cleave__actor *actor);
/* Memory is out: the run's failure. */
void cleave__runtime_no_memory(struct cleave_runtime *runtime);
bool cleave__actor_check(const struct cleave_runtime *runtime, const struct cleave__actor *actor);

#endif
