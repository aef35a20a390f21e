/* What an actor is, and all that it may do.
 *
 * An actor is a state and a function that takes one message at a time. It shares nothing: it knows
 * other actors by number, sends them bytes, and sees the world through the context it is handed.
 * So its behaviour is a function of the messages it gets, in order, with the clock and the random
 * numbers it is given; the same code runs in virtual time (sim), on a few threads (threads), and
 * wherever another transport puts it.
 *
 * What holds on every transport:
 * - One message at a time; `receive` is never entered twice for one actor.
 * - Messages of one sender to one receiver arrive in the order sent, each once. Between several
 *   senders nothing is promised.
 * - Mailboxes are bounded, and a full one never drops. A message that meets a full mailbox is
 *   parked with its sender; once `receive` has returned, a sender with parked messages gets no turn
 *   until all of them are delivered. No thread waits. What one call of `receive` sends is thus all
 *   that can be parked.
 * - The answer to a request has a place of its own in the asker's mailbox, as has a timer: neither
 *   can meet a full one, so that asking and answering cannot block each other. Questions can: two
 *   actors that fill each other's mailboxes with questions (or other messages) wait for each other
 *   for ever, and so does one that overfills its own; the run then ends with their names.
 * - A request is answered once. One without a timeout that is never answered is an error at the
 *   run's end; with one, the actor hears of the timeout and a late answer is dropped.
 * - What an actor does wrong (an unknown receiver, a second answer), or memory that runs out,
 *   ends the run with an error: sending has no status to check.
 *
 * Thread rule: a context belongs to the call it was passed to. Costs: a send copies the body once
 * and takes some 50 to 100 ns; everything else is O(1) and cheaper. */
#ifndef CLEAVE_RUNTIME_ACTOR_H
#define CLEAVE_RUNTIME_ACTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/random.h"
#include "cleave/status.h"

struct cleave_context;

enum cleave_message_sort {
    CLEAVE_MESSAGE, /* sent */
    CLEAVE_REQUEST, /* sent, and to be answered: `promise` */
    CLEAVE_REPLY,   /* the answer to a request of this actor: `tag` */
    CLEAVE_TIMEOUT, /* no answer came in time: `tag` */
    CLEAVE_TIMER    /* a timer of this actor: `tag` */
};

/* Where an answer goes. May be kept, copied and sent along: whoever holds it may answer, once. */
struct cleave_promise {
    uint32_t requester;
    uint64_t correlation;
};

/* Valid until `receive` returns, as are the bytes of the body. */
struct cleave_message {
    enum cleave_message_sort sort;
    uint32_t sender; /* 0: the owner of the runtime. Of a timeout: who did not answer */
    uint32_t kind;   /* as the sender chose it; 0 for a timeout or a timer */
    uint64_t tag;    /* of a reply, timeout or timer: what this actor gave when it asked */
    struct cleave_promise promise; /* of a request */
    const uint8_t *body;           /* [length] */
    size_t length;
};

/* Behaviour, one constant table a kind of actor. */
struct cleave_actor_ops {
    const char *name; /* of the kind: "shard" */
    /* Makes the state. `argument` is what was given to spawn; also called after a crash. */
    enum cleave_status (*create)(const void *argument, void **self, struct cleave_error *error);
    void (*destroy)(void *self);
    void (*receive)(void *self, struct cleave_context *context,
                    const struct cleave_message *message);
    /* Optional: before the first message, and again after a crash and restart, with what the actor
     * saved last (NULL, 0: nothing). */
    void (*start)(void *self, struct cleave_context *context, const uint8_t *saved, size_t length);
};

/* This actor's number. */
uint32_t cleave__context_self(const struct cleave_context *context);
/* Since the runtime was made: virtual, or of the real clock. */
uint64_t cleave__context_now_ns(struct cleave_context *context);
/* A stream of its own for each actor, derived from the run's seed. */
struct cleave_random *cleave__context_random(struct cleave_context *context);
/* A writer emptied for this message's body, to save an allocation; one at a time. */
struct cleave_writer *cleave__context_writer(struct cleave_context *context);

/* `body` may be NULL when `length` is 0; at most CLEAVE_FRAME_BODY_MOST (16 MiB). */
void cleave__context_send(struct cleave_context *context, uint32_t receiver, uint32_t kind,
                          const void *body, size_t length);
/* A message that asks for an answer, which comes as CLEAVE_REPLY with `tag`. `timeout_ns` 0: wait
 * for ever. */
void cleave__context_request(struct cleave_context *context, uint32_t receiver, uint32_t kind,
                             const void *body, size_t length, uint64_t timeout_ns, uint64_t tag);
void cleave__context_answer(struct cleave_context *context, struct cleave_promise promise,
                            uint32_t kind, const void *body, size_t length);

/* CLEAVE_TIMER with `tag` comes after `delay_ns`, once. The timer's number, never 0. */
uint64_t cleave__context_timer(struct cleave_context *context, uint64_t delay_ns, uint64_t tag);
/* False if it has come already. */
bool cleave__context_cancel(struct cleave_context *context, uint64_t timer);

/* Keeps a copy of these bytes past a crash, in place of what was saved before. What one call of
 * `receive` saves and sends takes effect together. */
void cleave__context_save(struct cleave_context *context, const void *bytes, size_t length);
/* Keeps these too, behind what was saved and appended before: `start` gets all of it, one after
 * the other. For states that are too large to be saved at each change. */
void cleave__context_append(struct cleave_context *context, const void *bytes, size_t length);
/* Work that takes time: on sim the actor is busy that much longer, and what it sends from here on
 * leaves later (at most CLEAVE_DISTRIBUTION_MOST_NS a turn, 11.5 days). Elsewhere work takes the
 * time it takes, and this does nothing. */
void cleave__context_spend(struct cleave_context *context, uint64_t ns);
/* Ends the run, in good order: nothing more is received; what is on its way stays there. */
void cleave__context_end(struct cleave_context *context);
/* Ends the run with an error, to which the actor's name is added. */
void cleave__context_fail(struct cleave_context *context, enum cleave_status status,
                          const char *format, ...) CLEAVE_PRINTF(3, 4);

#endif
