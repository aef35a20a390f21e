/* Pieces of data change shard while requests arrive. One implementation, for whatever has pieces:
 * users of a graph, cells of a grid.
 *
 * A *mover* has pieces moved from a *source* to a *target*; *routers* are all who send requests for
 * pieces to whom they think has them. What happens, after Tornado's moving of cells:
 *
 * 1. Copying. The source sends piece by piece and answers for all of them. A change is made at the
 *    source; to a piece that was sent already it is sent too (cleave__move_changed).
 * 2. Forwarding, once the target has acknowledged all that was sent and no change is under way. The
 *    source answers nothing for these pieces and forwards every request to the target. The mover
 *    gives routers the new map; each, on taking it, sends a *barrier* down its channel to the
 *    source. Channels are in order: behind the barrier comes no request by the old map.
 * 3. After the last barrier the source drops the pieces and passes the barrier on, behind all that
 *    it forwarded: after it the target may give the pieces away again.
 *
 * At each moment one shard answers for a piece, and it has every change made before: what is atomic
 * on one shard stays so across a move.
 *
 * Faults. A source or target that crashes while copying leaves the old map: the source has
 * forgotten the move, and begins anew when the mover asks again, or the mover gives up. From
 * forwarding on the move is saved and goes on after a restart: the new map. Everything is a request
 * that is repeated when no answer comes (after `retry_ns`, then twice as long each time); all that
 * can come twice is recognised by the move's number. A mover has one move at a time, with rising
 * numbers, and goes on after a crash with what it saved.
 *
 * The parts live inside actors: they are handed the messages that are theirs. Thread rule: that of
 * the actor. Memory that runs out ends the run, as in all sending. */
#ifndef CLEAVE_MOVE_MOVE_H
#define CLEAVE_MOVE_MOVE_H

#include "base/vector.h"
#include "runtime/actor.h"

enum cleave__move_kind {
    CLEAVE__MOVE_BEGIN = 0x4d00, /* mover to source: number, target, routers, pieces */
    CLEAVE__MOVE_PIECE,          /* source to target: number, piece, content */
    CLEAVE__MOVE_MAP,            /* mover to router: number, source, target, pieces */
    CLEAVE__MOVE_BARRIER,        /* router to source: number */
    CLEAVE__MOVE_CLOSE,          /* source to target: the barrier passed on */
    CLEAVE__MOVE_FINISH,         /* mover to source: number */
    CLEAVE__MOVE_ABORT,          /* mover to source: number */
    CLEAVE__MOVE_DISCARD,        /* mover to target: number */
    CLEAVE__MOVE_MOVED,          /* answers */
    CLEAVE__MOVE_ABORTED,
    CLEAVE__MOVE_DONE,
    CLEAVE__MOVE_KINDS_END
};
/* Tags of requests and timers that are a move's have this in their highest byte. */
#define CLEAVE__MOVE_TAG (UINT64_C(0x4d) << 56)

static inline bool cleave__move_message(const struct cleave_message *message)
{
    if (message->sort == CLEAVE_MESSAGE || message->sort == CLEAVE_REQUEST)
        return message->kind >= CLEAVE__MOVE_BEGIN && message->kind < CLEAVE__MOVE_KINDS_END;
    return message->tag >> 56 == CLEAVE__MOVE_TAG >> 56;
}

/* What has pieces. All required but `keep` and `took`. */
struct cleave__move_ops {
    /* The content of a piece. */
    void (*write)(void *holder, uint64_t piece, struct cleave_writer *writer);
    /* Content comes; older than what is held, it is passed over. False: memory is out, or it makes
     * no sense. */
    bool (*take)(void *holder, uint64_t piece, struct cleave_reader *reader);
    /* These pieces are not this holder's any more, or came and never were; rising. */
    void (*drop)(void *holder, const uint64_t *pieces, size_t count);
    /* These have come, and are this holder's from now on. */
    void (*keep)(void *holder, const uint64_t *pieces, size_t count);
    /* A change to it is under way. */
    bool (*busy)(void *holder, uint64_t piece);
    /* Saves everything, cleave__move_end_write included, if the run has crashes. */
    void (*save)(void *holder, struct cleave_context *context);
    /* Optional, in place of saving everything: this piece was taken. What was kept is read back
     * with cleave__move_end_note for each piece behind what _write wrote; the first piece of a
     * move (of another `in_number`) changes more than that, and must be kept with everything. */
    void (*took)(void *holder, struct cleave_context *context, uint64_t piece);
};

enum cleave__move_phase {
    CLEAVE__MOVE_NONE,
    CLEAVE__MOVE_COPYING,
    CLEAVE__MOVE_FORWARDING,
    CLEAVE__MOVE_PASSING /* dropped; the barrier is on its way to the target */
};

/* Source and target: one in each holder. */
struct cleave__move_end {
    const struct cleave__move_ops *ops;
    void *holder;
    uint64_t retry_ns; /* 0: nothing is ever lost */

    enum cleave__move_phase phase; /* as a source */
    uint64_t number, last_number;  /* of this move; of the last that is over here */
    uint32_t target;
    CLEAVE_VECTOR(uint64_t) pieces;  /* rising */
    CLEAVE_VECTOR(uint32_t) routers; /* whose barrier has not come */
    size_t sent;                     /* pieces[0 .. sent) were sent at least once */
    uint32_t under_way;              /* sendings not acknowledged */
    struct cleave_promise begin, finish;
    bool begin_waits, finish_waits;

    uint64_t in_number;               /* as a target: of the last move that brought something */
    CLEAVE_VECTOR(uint64_t) incoming; /* of that move, until it is closed; rising */
    bool in_closed;                   /* what still comes of it comes too late */
    uint64_t pieces_sent;             /* sendings of content, over all moves */
};

enum cleave__move_where {
    CLEAVE__MOVE_HERE,
    CLEAVE__MOVE_AWAY /* forward to `target` */
};

void cleave__move_end_free(struct cleave__move_end *end);
bool cleave__move_end_check(const struct cleave__move_end *end);
/* Of a message for which cleave__move_message holds. */
void cleave__move_end_receive(struct cleave__move_end *end, struct cleave_context *context,
                              const struct cleave_message *message);
enum cleave__move_where cleave__move_where(const struct cleave__move_end *end, uint64_t piece);
/* A target's: the piece has come, and may not be this holder's yet. Requests sent here by a new
 * map, or forwarded, may be answered; what others send may not. */
bool cleave__move_incoming(const struct cleave__move_end *end, uint64_t piece);
/* After a change to a piece that is here. */
void cleave__move_changed(struct cleave__move_end *end, struct cleave_context *context,
                          uint64_t piece);
/* After a change is no longer under way: it may have been what forwarding waited for. */
void cleave__move_settle(struct cleave__move_end *end, struct cleave_context *context);
/* What must outlive a crash; _read into an end that is all zeroes but for its first three. */
void cleave__move_end_write(const struct cleave__move_end *end, struct cleave_writer *writer);
bool cleave__move_end_read(struct cleave__move_end *end, struct cleave_reader *reader);
/* After _read: this piece had come too, since. False: memory is out. */
bool cleave__move_end_note(struct cleave__move_end *end, uint64_t piece);
/* After a restart: goes on with what was read. */
void cleave__move_end_resume(struct cleave__move_end *end, struct cleave_context *context);

struct cleave__move_router_ops {
    /* These pieces are at `target` from now on; `pieces` is count times u64. */
    void (*map)(void *holder, uint32_t target, const uint8_t *pieces, size_t count);
    void (*save)(void *holder, struct cleave_context *context);
};

struct cleave__move_router {
    const struct cleave__move_router_ops *ops;
    void *holder;
    uint64_t retry_ns;
    uint64_t number; /* of the last map taken */
    uint32_t source; /* who is to get its barrier */
    bool waits;      /* for the barrier's answer */
    bool promised;
    struct cleave_promise promise;
};

void cleave__move_router_receive(struct cleave__move_router *router, struct cleave_context *context,
                                 const struct cleave_message *message);
void cleave__move_router_write(const struct cleave__move_router *router,
                               struct cleave_writer *writer);
bool cleave__move_router_read(struct cleave__move_router *router, struct cleave_reader *reader);
void cleave__move_router_resume(struct cleave__move_router *router, struct cleave_context *context);

enum cleave__mover_state {
    CLEAVE__MOVER_IDLE,
    CLEAVE__MOVER_BEGINNING,
    CLEAVE__MOVER_ABORTING,
    CLEAVE__MOVER_DISCARDING,
    CLEAVE__MOVER_MAPPING,
    CLEAVE__MOVER_FINISHING
};

struct cleave__mover {
    /* A move is over: or it was given up, and the old map holds. */
    void (*done)(void *holder, struct cleave_context *context, bool moved);
    /* Optional: saves everything, cleave__mover_write included, if the mover may crash. */
    void (*save)(void *holder, struct cleave_context *context);
    void *holder;
    uint64_t retry_ns;
    uint32_t tries_most; /* of beginning, before it gives up; 0: never */

    enum cleave__mover_state state;
    uint64_t number;
    uint32_t source, target, tries;
    CLEAVE_VECTOR(uint64_t) pieces;
    CLEAVE_VECTOR(uint32_t) routers; /* all */
    uint32_t mapped;                 /* routers that have answered */
    CLEAVE_VECTOR(bool) has_map;
};

void cleave__mover_free(struct cleave__mover *mover);
/* From idle. `routers` [router_count] and `pieces` [count], rising, are copied. */
void cleave__mover_begin(struct cleave__mover *mover, struct cleave_context *context,
                         uint32_t source, uint32_t target, const uint32_t *routers,
                         uint32_t router_count, const uint64_t *pieces, size_t count);
void cleave__mover_receive(struct cleave__mover *mover, struct cleave_context *context,
                           const struct cleave_message *message);
/* What must outlive a crash; _read into a mover whose first fields alone are set. False: memory is
 * out, or it makes no sense (and the reader has failed). */
void cleave__mover_write(const struct cleave__mover *mover, struct cleave_writer *writer);
bool cleave__mover_read(struct cleave__mover *mover, struct cleave_reader *reader);
/* After a restart: asks again for what was under way. */
void cleave__mover_resume(struct cleave__mover *mover, struct cleave_context *context);
bool cleave__mover_check(const struct cleave__mover *mover);

/* How long to wait for an answer to what was asked `tries` times in vain: twice as long each time,
 * so that of what is late by any time few repeats pile up, and later in steps of 16, so that it
 * comes to be enough however short `retry_ns` is (2^36 times it). */
enum { CLEAVE__TRIES_LONG = 6, CLEAVE__TRIES_MOST = 15 /* as tags of requests count */ };
static inline uint32_t cleave__tries_more(uint32_t tries)
{
    return tries < CLEAVE__TRIES_MOST ? tries + 1 : tries;
}
static inline uint64_t cleave__pause_ns(uint64_t retry_ns, uint32_t tries)
{
    const uint64_t most_ns = UINT64_C(1) << 55; /* a year */
    uint32_t doublings = tries <= 8 ? tries : 8 + 4 * (tries - 8);
    if (retry_ns <= most_ns >> doublings)
        return retry_ns << doublings;
    return retry_ns > most_ns ? retry_ns : most_ns;
}

/* Inside: a request's tag, from what it is, how often it was asked in vain, and up to 48 bits. */
static inline uint64_t cleave__move_tag(uint32_t kind, uint32_t tries, uint64_t detail)
{
    return CLEAVE__MOVE_TAG | (uint64_t)tries << 52 | (uint64_t)(kind - CLEAVE__MOVE_BEGIN) << 48 |
           (detail & ((UINT64_C(1) << 48) - 1));
}
static inline uint32_t cleave__move_tag_kind(uint64_t tag)
{
    return CLEAVE__MOVE_BEGIN + (uint32_t)(tag >> 48 & 0xf);
}
static inline uint32_t cleave__move_tag_tries(uint64_t tag)
{
    return (uint32_t)(tag >> 52 & 0xf);
}
static inline uint64_t cleave__move_tag_detail(uint64_t tag)
{
    return tag & ((UINT64_C(1) << 48) - 1);
}
void cleave__move_no_memory(struct cleave_context *context);
/* A request that is a number and nothing else. */
void cleave__move_request(struct cleave_context *context, uint32_t to, uint32_t kind,
                          uint64_t number, uint64_t retry_ns, uint32_t tries, uint64_t detail);
void cleave__move_answer(struct cleave_context *context, struct cleave_promise promise,
                         enum cleave__move_kind kind);

#endif
