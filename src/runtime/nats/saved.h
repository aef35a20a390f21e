/* What an actor saves and appends, kept in JetStream: a stream an actor.
 *
 * Each turn's changes are one piece of journal, numbered. One write is under way at a time; what
 * comes meanwhile goes together into the next. What the actor sends in the turn and later is held
 * back until its journal is acknowledged, and leaves in the order it was sent. With too much held
 * or unwritten the actor has no turn until that is better.
 *
 * A message of the stream: 32 bytes (magic "cs", version, sort; checksum; life; number of the
 * write; zero), then changes, each after a byte (1: saved, 2: appended) and its length in 32 bits;
 * or a piece of those, where they are too many for one message. A save that fits one message takes
 * what was before it away (rollup); one in pieces has it purged afterwards.
 *
 * Fencing: each write names the stream's last message that it knows of. A process that finds
 * another's there ends with one clear line; one that starts writes first of all, behind whatever is
 * there, so that one that still runs cannot any more, and reads what is before that. Its life is
 * made the latest of all that have written: else, of two that start at once, one could have the
 * stream and the other be heard, and both would end. Hence a stream of its
 * own: with replicas nats-server 2.9 compares the last message of a subject only before it proposes
 * a write, so that two writers can both win. */
#ifndef CLEAVE_RUNTIME_NATS_SAVED_H
#define CLEAVE_RUNTIME_NATS_SAVED_H

#include "runtime/nats/ask.h"

enum {
    CLEAVE__SAVED_HEAD_BYTES = 32,
    CLEAVE__HELD_MOST = 16 << 20 /* bytes held back and unwritten, before the actor waits */
};

/* What a turn sends: to an actor, or asked of JetStream. */
struct cleave__held {
    uint64_t needs;          /* which journal; CLEAVE__THIS_TURN: as it turns out */
    struct cleave__ask *ask; /* or */
    const struct cleave__box *to;
    uint8_t *bytes;
    size_t size;
};

struct cleave__saved {
    struct cleave__nats *nats;
    struct cleave__wire *wire;
    char subject[CLEAVE__SUBJECT_BYTES];
    /* of whoever runs the actor */
    struct cleave_writer turn; /* changes of this turn */
    /* under the lock */
    pthread_mutex_t lock;
    struct cleave_writer unwritten, writing; /* changes: not yet under way, under way */
    size_t written;                          /* of `writing`, in pieces that are acknowledged */
    uint64_t made, begun, done; /* journals so far, in all; that are under way; acknowledged */
    uint64_t writes;            /* messages of this life */
    uint64_t last;              /* sequence number of the stream's last message */
    uint64_t first;             /* and of the first piece of what is under way */
    bool busy;                  /* something is under way */
    CLEAVE_VECTOR(struct cleave__held) held; /* in order, from `held_at` on */
    size_t held_at, held_bytes;
};

/* Of an actor of this process that is durable: its stream; what it had into actor->saved. Blocks.
 */
enum cleave_status cleave__saved_open(struct cleave__wire *wire, jsCtx *js,
                                      struct cleave_error *error);
void cleave__saved_free(struct cleave__saved *saved);
/* A change of this turn. False: memory is out. */
bool cleave__saved_note(struct cleave__saved *saved, bool anew, const void *bytes, size_t length);
/* The turn is over: its journal begins its way. */
void cleave__saved_turn(struct cleave__saved *saved);
/* Whether what is sent now must be held back; if so it is, and `bytes` copied or `ask` taken over.
 */
bool cleave__saved_hold(struct cleave__saved *saved, const struct cleave__box *to,
                        const uint8_t *bytes, size_t size, struct cleave__ask *ask);
/* Whether the actor must wait. */
bool cleave__saved_is_full(struct cleave__saved *saved);
/* Changes applied to what was saved; false: they are cut off. Memory runs out: `out->failed`. */
bool cleave__saved_apply(struct cleave_writer *out, const uint8_t *changes, size_t size);

#endif
