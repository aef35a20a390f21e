/* Requests to JetStream that are made until they are answered: to keep a message, to purge.
 *
 * A lost message or acknowledgement, a stream without a leader (some seconds after one was killed),
 * a server that is away: the same is sent again, after 0.25 s and then ever later up to 2 s. Its id
 * (Nats-Msg-Id) is the same too, so that it is kept once. What the stream refuses ends the run, but
 * for a sequence number that is not the expected one: `done` hears of that.
 *
 * What is under way counts as activity of the crew (`active`). */
#ifndef CLEAVE_RUNTIME_NATS_ASK_H
#define CLEAVE_RUNTIME_NATS_ASK_H

#include "runtime/nats/core.h"

struct cleave__ack {
    uint64_t sequence; /* of the message in its stream */
    bool known;        /* its id was there before */
    bool conflict;     /* something else came before it; it is not kept */
};

struct cleave__ask {
    struct cleave__nats *nats;
    /* On libnats' delivery thread, without a lock; the ask is freed afterwards. */
    void (*done)(struct cleave__ask *ask, const struct cleave__ack *ack);
    void *context;      /* of done's */
    uint32_t requester; /* likewise */
    uint64_t correlation;
    char subject[CLEAVE__SUBJECT_BYTES];
    char id[CLEAVE__SUBJECT_BYTES]; /* "": none */
    bool expects; /* the last message of the stream has this number, 0: there was none */
    uint64_t expected;
    bool rolls_up;  /* what the subject had before goes */
    uint8_t *bytes; /* owned */
    size_t size;
    /* inside */
    uint64_t token, at_ns, delay_ns;
};

/* Takes `ask` over, which is from calloc; out of memory ends the run. Any thread. */
void cleave__ask_begin(struct cleave__ask *ask);
/* Sends again what is due. */
void cleave__asks_repeat(struct cleave__nats *nats);
/* Waits until all are answered, for so long at most. */
void cleave__asks_finish(struct cleave__nats *nats, uint64_t most_ns);
void cleave__ask_free(struct cleave__ask *ask);
void cleave__asks_free(struct cleave__nats *nats);
/* What JetStream answered: a message handler, its closure a struct cleave__ear. */
void cleave__asks_arrive(natsConnection *connection, natsSubscription *subscription,
                         natsMsg *message, void *ear);

#endif
