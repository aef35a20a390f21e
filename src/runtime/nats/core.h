/* Inside the nats transport: a crew (threads/crew.h) whose actors also have links to actors behind
 * a server.
 *
 * What an actor sends to one that is reached through the server is written into a batch of their
 * link, and leaves at the end of the turn (or at 64 KB) as one message of the server's. What comes
 * is put into the mailbox by libnats' one delivery thread; if the mailbox is full, before it
 * (`overflow`), which the sender's credit bounds. The keeper, a thread of ours, repeats what may
 * have been lost.
 *
 * Locks, outermost first: `lock` (the table of mailboxes, and everything that comes in), a
 * mailbox's, the crew's and the queues'. The server's library is never called with a mailbox
 * locked. */
#ifndef CLEAVE_RUNTIME_NATS_CORE_H
#define CLEAVE_RUNTIME_NATS_CORE_H

#include "base/map.h"
#include "base/metrics.h"
#include "runtime/nats/jetstream.h"
#include "runtime/nats/link.h"
#include "runtime/threads/crew.h"

enum {
    CLEAVE__BATCH_MOST = 65536,   /* bytes: then a batch leaves before the turn's end */
    CLEAVE__LOOSE_MOST = 16,      /* mailboxes full of a group's messages before one is dropped */
    CLEAVE__PROBE_NS = 100000000, /* how long to wait for credit before asking, if not told */
    CLEAVE__KEEPER_NS = 50000000  /* how often the keeper looks, or twice in what is told */
};

/* Of an actor, beside its mailbox. */
struct cleave__wire {
    struct cleave__nats *nats;
    struct cleave__box *box;
    char *subject; /* where messages to it go */
    struct cleave__links links;
    /* under the mailbox's lock */
    struct cleave__bytes overflow; /* records of messages that found the mailbox full, from `at` */
    size_t overflow_at;
    uint32_t overflow_messages;
    uint64_t lost;               /* not yet in the statistics */
    struct cleave__saved *saved; /* of a durable actor (saved.h) */
    /* of whoever runs the actor */
    struct cleave__link *last; /* whose message was taken up last */
    CLEAVE_VECTOR(struct cleave__link *) dirty;
    CLEAVE_VECTOR(struct cleave__link *) touched;
};

/* A subscription: of an actor, of all, or of one as a member of a group. */
struct cleave__ear {
    struct cleave__nats *nats;
    natsSubscription *subscription;
    uint32_t member; /* who takes a group's messages; 0: whom they name */
};

struct cleave__nats {
    struct cleave__crew crew; /* first: it is the runtime's state too */
    const struct cleave_nats_options *options;
    struct cleave__dial dial;
    _Atomic uint64_t life; /* made later as it begins, where the last one's clock was ahead */
    bool loops;            /* messages between actors of this process go through the server */

    _Alignas(128) pthread_mutex_t lock;        /* what follows */
    CLEAVE_VECTOR(struct cleave__box *) boxes; /* by actor; NULL: gone */
    uint32_t heard_up_to;                      /* actors below have their subscription */
    bool heard_all;                            /* by one subscription */
    bool remotes;                              /* there are actors elsewhere */
    uint64_t resolved; /* messages to oneself known to have come, or to be lost; */
    uint64_t arrived;  /* that came after those */

    pthread_mutex_t publish_lock; /* what follows; innermost */
    uint64_t published;           /* messages to oneself */

    pthread_mutex_t ears_lock; /* what follows */
    pthread_cond_t ears_change, keeper_change;
    uint32_t ears_open; /* subscriptions whose callback may still be called */
    bool closed;        /* the connection */
    bool keeps;         /* the keeper is to go on */

    pthread_mutex_t asks_lock; /* what follows (ask.h) */
    struct cleave__map asks;   /* token -> struct cleave__ask * */
    uint64_t asks_made;

    CLEAVE_VECTOR(struct cleave__ear *) ears; /* of the owner's thread, as are the next */
    pthread_t keeper;
    bool kept; /* it runs */

    _Alignas(128) atomic_uint waiting; /* links that wait for credit */
    atomic_bool disconnects;           /* there were some: messages may be lost */
    atomic_bool closing;
    atomic_ullong disconnected_ns;       /* since when; 0: connected */
    atomic_ullong refused;               /* messages that could not be read, or nobody's */
    struct cleave_counter *told_refused; /* the same, for others to read; NULL: nowhere */
};

/* nats.c. The run ends; workers that wait notice. */
void cleave__nats_fail(struct cleave__nats *nats, enum cleave_status status, const char *format,
                       ...) CLEAVE_PRINTF(3, 4);

/* The run ends: another process is this actor now. */
void cleave__nats_superseded(struct cleave__nats *nats, const struct cleave__actor *actor);

/* send.c */
extern const struct cleave__crew_hooks cleave__nats_hooks;
enum cleave__offer cleave__nats_offer(struct cleave_context *context,
                                      struct cleave__channel *channel,
                                      const struct cleave_frame *frame, bool forced);
/* Whether messages to this actor come back to this process. */
static inline bool cleave__nats_is_here(const struct cleave__box *box)
{
    return box->actor->sort == CLEAVE__ACTOR_HERE;
}
bool cleave__nats_save(struct cleave_context *context, bool anew, const void *bytes, size_t length);
/* To the server; `here` as above. */
void cleave__nats_publish(struct cleave__nats *nats, const char *subject, const void *bytes,
                          size_t size, bool here);
/* The same for what was held back (saved.h). */
void cleave__nats_publish_held(struct cleave__nats *nats, const struct cleave__box *to,
                               uint8_t *bytes, size_t size);
/* An envelope without frames, about this link. A probe (with `content`) or credit. */
void cleave__nats_tell(struct cleave__wire *wire, struct cleave__link *link,
                       enum cleave__envelope_sort sort);

/* arrive.c */
void cleave__nats_arrive(natsConnection *connection, natsSubscription *subscription,
                         natsMsg *message, void *ear);
/* Counts a message that is passed over. Any thread. */
void cleave__nats_refuse(struct cleave__nats *nats);
/* That this process is this actor, from its beginning on. */
void cleave__nats_announce(struct cleave__nats *nats, const struct cleave__box *box);
/* After a reconnection: a mark to oneself. */
void cleave__nats_mark(struct cleave__nats *nats);
/* Moves what waits before the mailbox into it; under the mailbox's lock. */
void cleave__nats_refill(struct cleave__crew *crew, struct cleave__box *box);
/* Asks for credit wherever an actor has waited for it for so long; 0: however long. Under `lock`.
 */
void cleave__nats_probe(struct cleave__nats *nats, uint64_t probe_ns);

/* An answer to a request of the wire's actor, made up here. Any thread, no lock held. */
void cleave__nats_answer(struct cleave__wire *wire, uint32_t from, uint64_t correlation,
                         uint32_t kind, const void *body, size_t length);

/* log.c */
struct cleave__ask;
/* The stream is there. */
enum cleave_status cleave__log_open(struct cleave__nats *nats, jsCtx *js,
                                    const struct cleave__box *box, struct cleave_error *error);
/* A request to a log as what is asked of JetStream; NULL: the run has failed. */
struct cleave__ask *cleave__log_ask(struct cleave__nats *nats, struct cleave_context *context,
                                    const struct cleave__box *log,
                                    const struct cleave_frame *frame);

/* keeper.c */
bool cleave__nats_keep(struct cleave__nats *nats);
void cleave__nats_keep_no_more(struct cleave__nats *nats);

#endif
