/* What an actor of this process has with one other through the server: both directions' numbers.
 *
 * Out: `charged` messages cost credit so far (answers do not), `credited` is how many of them the
 * peer says to have no more; it may have a window of them. Credit is a sum, not a difference, and
 * sent again on demand: one that is lost is made good by the next.
 *
 * In: a number that is not above the last is old and dropped; a gap is lost, and counted. What the
 * peer says it has charged, minus what is `held` here (in the mailbox or before it), is its credit:
 * so what got lost on the way is credited with the next message or probe.
 *
 * The peer's process has a life; a later one begins all of this anew, an earlier one is not heard.
 * `epoch` counts lives, to know a held message of an earlier one.
 *
 * Invariants: credited <= charged; held <= seen; told <= seen - held in the peer's present life.
 * All of it is under the lock of the actor's mailbox but for what is the runner's. */
#ifndef CLEAVE_RUNTIME_NATS_LINK_H
#define CLEAVE_RUNTIME_NATS_LINK_H

#include "runtime/nats/envelope.h"
#include "runtime/threads/box.h"

enum { CLEAVE__PROBES_MOST = 3 };

struct cleave__link {
    uint32_t peer;
    uint64_t life; /* of the peer's process, the latest heard of; 0: none */
    /* out */
    uint64_t charged, credited;
    bool waiting;                /* the actor has parked messages for want of credit, */
    uint64_t waiting_since_ns;   /* or since it last asked for some, */
    uint32_t probes;             /* which it did so often, at most CLEAVE__PROBES_MOST */
    uint64_t gone, gone_charged; /* last number, and what was charged, of what has left for sure */
    /* in */
    uint64_t last;  /* number heard */
    uint64_t lost;  /* of the peer's present life */
    uint64_t given; /* to the mailbox, numbered anew */
    uint64_t seen, told;
    uint32_t held, staged; /* staged: before the mailbox */
    uint16_t epoch;
    bool heard, starved, owes;
    struct cleave__bytes piece; /* of a large frame, until it is whole */
    /* of whoever runs the actor */
    struct cleave__bytes batch; /* room for an envelope, then frames that leave at the turn's end */
    uint64_t batched;           /* last number in it */
    uint32_t taken;
    uint16_t taken_epoch;
    bool dirty, touched;
};

struct cleave__links {
    struct cleave__link **slots; /* by peer; open addressing, at most half full */
    uint32_t mask, count;
};

void cleave__links_free(struct cleave__links *links);
struct cleave__link *cleave__links_find(const struct cleave__links *links, uint32_t peer);
/* Found or added; NULL: memory is out. Valid until freed. */
struct cleave__link *cleave__links_need(struct cleave__links *links, uint32_t peer);

/* Takes in what an envelope says of lives and credit. False: of an earlier life, not to be heard.
 */
bool cleave__link_hear(struct cleave__link *link, const struct cleave__envelope *envelope,
                       uint64_t own_life);
/* Whether a frame with this number is to be taken; adds to `lost` what is missing before it. */
bool cleave__link_take(struct cleave__link *link, uint64_t sequence, uint64_t *lost);
/* The peer has sent up to this number, before this came: what is missing is lost. */
void cleave__link_skip(struct cleave__link *link, uint64_t sequence, uint64_t *lost);
static inline uint64_t cleave__link_credit(const struct cleave__link *link)
{
    return link->seen - link->held;
}
static inline bool cleave__link_has_credit(const struct cleave__link *link, uint32_t window)
{
    return link->charged - link->credited < window;
}
/* So many messages of that epoch were taken up. */
void cleave__link_release(struct cleave__link *link, uint16_t epoch, uint32_t count);
/* Whether the peer should be told its credit now. `window`: of this actor's mailbox. */
bool cleave__link_owes(const struct cleave__link *link, uint32_t window);
bool cleave__link_check(const struct cleave__link *link);
bool cleave__links_check(const struct cleave__links *links);

#endif
