/* A mailbox on threads: messages one after the other in a buffer, behind a lock.
 *
 * Senders append to `incoming`; whoever runs the actor swaps it with the empty `current` at the
 * beginning of a turn and reads that without the lock. So a message costs one short critical
 * section and no allocation once the buffers have grown. A place is given back at the end of the
 * turn.
 *
 * `scheduled`: the actor is in a run queue, has a turn, or sleeps with parked messages; senders
 * then need not wake it. Invariant: used <= mailbox_most; `used` counts those in `incoming`, in
 * `current`, and `credits` taken up in this turn, answers and timers apart. */
#ifndef CLEAVE_RUNTIME_THREADS_BOX_H
#define CLEAVE_RUNTIME_THREADS_BOX_H

#include <pthread.h>

#include "runtime/core.h"
#include "runtime/waiters.h"

struct cleave__bytes {
    uint8_t *data;
    size_t count, capacity;
};

struct cleave__box {
    pthread_mutex_t lock;
    struct cleave__actor *actor;
    /* under the lock */
    struct cleave__bytes incoming;
    uint32_t incoming_messages, used;
    struct cleave__waiters waiters; /* actors that met it full */
    bool scheduled;
    bool asleep;     /* with parked messages, until woken */
    bool woke;       /* woken while it had a turn: not to sleep */
    uint64_t sleeps; /* so far */
    /* of whoever runs the actor */
    struct cleave__bytes current;
    size_t at;
    uint32_t left, credits;
    /* under the run queue's lock */
    struct cleave__box *next;
    struct cleave__wire *wire; /* nats: what it has with others; NULL elsewhere */
};

/* Before each frame in a buffer; the whole is padded to 8 bytes. */
struct cleave__record {
    uint32_t size;  /* of the frame */
    bool reserved;  /* has a place of its own */
    bool charged;   /* nats: cost its sender credit, */
    uint16_t epoch; /* in this life of the sender's process */
    uint64_t sent_ns;
};

static inline size_t cleave__record_bytes(size_t size)
{
    return sizeof(struct cleave__record) + ((size + 7) & ~(size_t)7);
}
/* Room for a frame of `record->size` bytes at the end of `incoming`, under the lock; NULL: memory
 * is out.
 */
uint8_t *cleave__box_append(struct cleave__box *box, const struct cleave__record *record);
/* Takes `incoming` over, if `current` is used up. True if the mailbox is over-full. */
bool cleave__box_begin(struct cleave__box *box);
/* The next frame of `current`, and its record; NULL when there is none. */
const uint8_t *cleave__box_next(struct cleave__box *box, struct cleave__record *record);
/* Under the lock: takes up to `most` waiters; how many there were. */
uint32_t cleave__box_pop_waiters(struct cleave__box *box, uint32_t *out, uint32_t most);
bool cleave__box_check(const struct cleave__box *box);

#endif
