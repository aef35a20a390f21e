/* Inside the threads transport: workers, their run queues, and who watches the timers. The nats
 * transport is a crew too, with `hooks` for what comes from and goes to the network.
 *
 * Each worker has a queue of actors that have something to do; it takes from its own, else steals
 * from another's. An actor made runnable goes to the queue of the worker that caused it, where its
 * message is warm. A worker without work waits: a millisecond while others are busy (then it looks
 * for something to steal), else until the next timer. A worker whose queue holds two or more calls
 * one that waits.
 *
 * `active` counts actors that are in a queue or have a turn, and what the hooks have under way to
 * this process. Only they, and timers, make others active: when it falls to 0 and no timer is set,
 * nothing can ever happen again, unless the crew is `open`: other processes send to it. */
#ifndef CLEAVE_RUNTIME_THREADS_CREW_H
#define CLEAVE_RUNTIME_THREADS_CREW_H

#include "base/pool.h"
#include "runtime/threads/box.h"
#include "runtime/timers.h"

struct cleave__worker {
    _Alignas(128) pthread_mutex_t lock;
    struct cleave__box *first, **end; /* under the lock, as is the next */
    uint32_t length;
    /* its own */
    struct cleave_context context;
    struct cleave__crew *crew;
    uint32_t number, turns;
};

/* What the nats transport does around a turn. */
struct cleave__crew_hooks {
    /* A message of the mailbox is about to be taken up. */
    void (*taken)(struct cleave__box *box, const struct cleave__record *record,
                  const uint8_t *bytes);
    /* A turn is over; its places are not yet given back. */
    void (*flush)(struct cleave__worker *worker, struct cleave__box *box);
    /* Under the mailbox's lock: there is room in it. */
    void (*refill)(struct cleave__crew *crew, struct cleave__box *box);
    /* The actor is to have no turn until it is woken. Under the mailbox's lock, or not. */
    bool (*waits)(struct cleave__box *box);
    /* Of an open crew with nothing to do: something is to come all the same. */
    bool (*expects)(struct cleave__crew *crew);
};

struct cleave__crew {
    struct cleave_runtime *runtime;
    const struct cleave__crew_hooks *hooks; /* NULL: none */
    bool open;                              /* others may make actors active at any time */
    bool serves;                            /* a run does not end when nothing is left to do */
    struct cleave__pool *pool;
    struct cleave__worker *workers;
    uint32_t worker_count;
    uint64_t began_ns; /* of the monotonic clock */

    _Alignas(128) atomic_uint active;
    _Alignas(128) atomic_uint idle; /* workers that wait */
    atomic_ullong next_timer_ns;    /* UINT64_MAX: none */
    atomic_ullong next_stuck_ns;    /* when to look for cycles again */

    _Alignas(128) pthread_mutex_t lock;
    pthread_cond_t change;
    struct cleave__timers timers;
    bool ended;  /* this run */
    bool called; /* by another thread, maybe just before a worker began to wait */
    bool interrupted;
    uint64_t until_ns;
    const struct cleave_progress *progress;
};

/* queue.c */
/* To the worker's queue (NULL: the actor's usual one), and counted as active. */
void cleave__crew_runnable(struct cleave__crew *crew, struct cleave__worker *worker,
                           struct cleave__box *box);
/* Its own first, then the others'; NULL if there is none. */
struct cleave__box *cleave__crew_find(struct cleave__worker *worker);
/* Back to the end of the queue; it stays active. */
void cleave__crew_requeue(struct cleave__worker *worker, struct cleave__box *box);

/* turn.c */
enum cleave__offer cleave__crew_offer(struct cleave_context *context,
                                      struct cleave__channel *channel,
                                      const struct cleave_frame *frame, bool forced);
/* Puts a timer's message into its actor's mailbox. */
void cleave__crew_fire(struct cleave__crew *crew, struct cleave__worker *worker, uint32_t actor,
                       uint64_t number);
void cleave__crew_turn(struct cleave__worker *worker, struct cleave__box *box);
/* There may be room now for what an actor has parked. */
void cleave__crew_wake(struct cleave__crew *crew, struct cleave__worker *worker,
                       struct cleave__box *box);

/* stuck.c */
/* Any thread. A cycle of full mailboxes ends the run. O(actors). */
void cleave__crew_find_stuck(struct cleave__crew *crew);

/* threads.c: the operations of the transport; those with hooks use them too. `crew` is all zeroes
 * but for its hooks; on failure it is closed. */
enum cleave_status cleave__crew_open(struct cleave__crew *crew, struct cleave_runtime *runtime,
                                     struct cleave_error *error);
void cleave__crew_close(struct cleave__crew *crew);
enum cleave_status cleave__crew_add(void *state, struct cleave__actor *actor,
                                    struct cleave_error *error);
void cleave__crew_drop(void *state, struct cleave__actor *actor);
uint64_t cleave__crew_now_ns(void *state);
bool cleave__crew_timer_set(struct cleave_context *context, uint64_t at_ns, uint64_t number,
                            uint64_t *handle);
void cleave__crew_timer_cancel(struct cleave_context *context, uint64_t handle);
enum cleave_status cleave__crew_run(void *state, uint64_t until_ns,
                                    const struct cleave_progress *progress,
                                    struct cleave_error *error);
bool cleave__crew_check(void *state);
/* Any thread: a worker that waits looks again. */
void cleave__crew_call(struct cleave__crew *crew);

#endif
