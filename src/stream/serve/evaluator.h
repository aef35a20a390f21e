/* The state of an evaluator: queries in a matcher, cells, terms that queries need, moves.
 *
 * What summaries in routers must have, so that no object is kept away wrongly: for each query held
 * here its *cover*: all terms of OVERLAPS, one of CONTAINS (the router chose it), CLEAVE__ANY_TERM
 * of a query without terms. `need` counts for each term the covers that have it; a term counted 0
 * is one that routers still know and nobody needs. When lazy cleaning has come round such terms are
 * *shed*: the evaluator's epoch rises, routers forget those terms unless they were added by
 * somebody who knew the new epoch already. A query decided on by a router before it knew of the
 * epoch is told to all routers (*keep*) before it is acknowledged. Nothing is shed in a move. */
#ifndef CLEAVE_STREAM_SERVE_EVALUATOR_H
#define CLEAVE_STREAM_SERVE_EVALUATOR_H

#include "base/map.h"
#include "move/move.h"
#include "stream/balance/central.h"
#include "stream/serve/world.h"

struct cleave__held_query {
    uint64_t id, version;
    uint32_t cover;
};

struct cleave__record { /* a change of a query */
    enum cleave__change_of_query op;
    uint64_t version;
    uint32_t cover;
    struct cleave__query query;
};

/* Something that waits for answers of others. */
struct cleave__stream_pending {
    uint32_t serial; /* 0: free */
    uint32_t waits;
    struct cleave_promise promise; /* to be answered then */
    uint32_t tries;                /* of a copy, in vain */
    uint64_t move;                 /* not 0: a copy of changes, in this move; no promise */
    uint32_t waiter;               /* of a copy: another that waits for it, or 0 */
    uint8_t *body;                 /* of the copy, to send it again */
    size_t length;
};

struct cleave__evaluator {
    const struct cleave__stream_seat *seat;
    const struct cleave__matcher_ops *ops;
    void *matcher;
    struct cleave__map slot_of;                    /* id to slot */
    CLEAVE_VECTOR(struct cleave__held_query) held; /* by slot; id 0: none */
    struct cleave__map removed; /* durable: id to version, of removed queries: a late copy of their
                                 * storing must not bring them back */
    struct cleave__cells own;
    struct cleave__move_end end;
    struct cleave__aggregates *sums;
    struct cleave__cell_loads
        *loads;             /* centralized: of every cell; costs outside `own` are stale */
    uint64_t incoming_cost; /* of cells that come */
    /* Of this evaluator, another after each crash; and of the source of the cells that come. */
    uint64_t life, incoming_life;
    uint32_t refused; /* sides where a shift was asked for in vain; see balance/decide.h */

    struct cleave__map need; /* term to count */
    uint64_t useless;        /* terms in it with count 0 */
    uint32_t epoch;
    CLEAVE_VECTOR(uint32_t) shedding; /* terms, until every router has answered */
    uint32_t shed_waits, shed_epoch;
    /* Routers that were restarted have asked for all terms: what was confirmed in others before
     * this epoch is not; by router, how far it has answered that, and the life that asked last. */
    uint32_t doubt_epoch;
    uint32_t *doubted;
    uint64_t *router_life;
    uint32_t cleaning; /* next slot to visit */
    /* After cells have left: slots below `sweep_to` from `sweeping` on may hold queries that meet
     * no cell of this evaluator. They match nothing and go bit by bit, but before other cells come.
     */
    uint32_t sweeping, sweep_to;
    uint64_t done_ms;
    uint64_t settled; /* durable: every change of a lower version is acknowledged; what comes of one
                       * and is not here is a late copy, and `removed` need not have it */

    CLEAVE_VECTOR(struct cleave__stream_pending) pending;
    uint32_t serial, copies; /* copies: not answered, of the move under way */

    /* What a move takes, as it was when copying began: slots by piece. */
    uint64_t listed_move;
    CLEAVE_VECTOR(struct cleave__held_query) listed; /* cover: slot */
    CLEAVE_VECTOR(uint32_t) listed_at;               /* [pieces + 1] */

    struct cleave_context *context; /* of the message under way */
    struct cleave_arena arena;      /* of one message */
    CLEAVE_VECTOR(struct cleave__object) objects;
    CLEAVE_VECTOR(uint32_t) candidates;
    struct cleave__matches matches;

    /* Kept: the last snapshot, what is behind it, `end.in_number` then (evaluator_keep.c). */
    size_t snapshot_bytes, journal_bytes;
    uint64_t saved_move;
    uint64_t taken_piece; /* at hand, in the message under way */
    const uint8_t *taken;
    size_t taken_length;

    uint64_t load, candidates_seen, forwarded, expired, shed_terms, moved_queries;
    uint64_t load_messages, load_bytes;
    uint64_t step_most_ns; /* the longest that a move's message has taken here */
};

/* evaluator_store.c */
void cleave__evaluator_changes(struct cleave__evaluator *e, struct cleave_context *context,
                               const struct cleave_message *message);
/* An answer, or none, to a keep, a change sent on or a copy. */
void cleave__evaluator_answered(struct cleave__evaluator *e, struct cleave_context *context,
                                const struct cleave_message *message);
/* False: memory is out. A query that is gone in a version is not stored in it, nor in one before,
 * whoever told of it: the router or the source of a move. */
bool cleave__evaluator_store(struct cleave__evaluator *e, const struct cleave__record *record);
bool cleave__evaluator_gone(struct cleave__evaluator *e, uint64_t id, uint64_t version);
void cleave__evaluator_remove(struct cleave__evaluator *e, uint32_t slot);
bool cleave__record_read(struct cleave_reader *reader, struct cleave_arena *arena,
                         struct cleave__record *out, bool *no_memory);
void cleave__record_write(const struct cleave__record *record, struct cleave_writer *writer);
/* Whether its region is one of the space, and its cover what a router chooses for such a query. */
bool cleave__evaluator_accepts(const struct cleave__evaluator *e, struct cleave__record *record);
bool cleave__evaluator_count_cover(struct cleave__evaluator *e, const struct cleave__query *query,
                                   uint32_t cover, bool more);

/* evaluator_match.c */
void cleave__evaluator_match(struct cleave__evaluator *e, struct cleave_context *context,
                             const struct cleave_message *message);
/* evaluator_clean.c */
void cleave__evaluator_clean(struct cleave__evaluator *e, struct cleave_context *context,
                             uint32_t visits);
/* Goes on with what cells have left behind. */
void cleave__evaluator_sweep(struct cleave__evaluator *e, uint32_t visits);
void cleave__evaluator_shed_answer(struct cleave__evaluator *e, struct cleave_context *context,
                                   const struct cleave_message *message);
void cleave__evaluator_send_shed(struct cleave__evaluator *e, struct cleave_context *context,
                                 uint32_t router, uint32_t tries);
/* evaluator_tell.c: routers that were restarted */
void cleave__evaluator_tell(struct cleave__evaluator *e, struct cleave_context *context,
                            const struct cleave_message *message);
void cleave__evaluator_doubt_answer(struct cleave__evaluator *e, struct cleave_context *context,
                                    const struct cleave_message *message);
void cleave__evaluator_send_doubts(struct cleave__evaluator *e, struct cleave_context *context);
/* Some router has not answered yet. */
bool cleave__evaluator_doubts(const struct cleave__evaluator *e);
/* evaluator_move.c: the ends of moves */
extern const struct cleave__move_ops cleave__evaluator_move_ops;
struct cleave__cells cleave__evaluator_moving(const struct cleave__evaluator *e);
/* The content of a piece; false: memory is out, or it makes no sense. */
bool cleave__evaluator_take(struct cleave__evaluator *e, struct cleave_reader *reader,
                            bool *no_memory);
/* evaluator_keep.c: what outlives a crash */
void cleave__evaluator_write(const struct cleave__evaluator *e, struct cleave_writer *writer);
void cleave__evaluator_save(struct cleave__evaluator *e, struct cleave_context *context);
/* Which queries were removed, for late copies of their storing. Reading adds them; false: memory is
 * out. */
void cleave__evaluator_put_removed(const struct cleave__evaluator *e, struct cleave_writer *writer);
bool cleave__evaluator_get_removed(struct cleave__evaluator *e, struct cleave_reader *reader);
/* Only what has changed: records stored and removed; the piece taken last. */
void cleave__evaluator_keep_changes(struct cleave__evaluator *e, struct cleave_context *context,
                                    const struct cleave_writer *records);
void cleave__evaluator_keep_piece(struct cleave__evaluator *e, struct cleave_context *context);
/* Into one just made. CLEAVE_CORRUPT, CLEAVE_NO_MEMORY: it can only be freed. */
enum cleave_status cleave__evaluator_load(struct cleave__evaluator *e, const uint8_t *saved,
                                          size_t length, struct cleave_error *error);
/* evaluator_load.c */
void cleave__evaluator_tell_load(struct cleave__evaluator *e, struct cleave_context *context,
                                 const struct cleave_message *message);
void cleave__evaluator_tell_shift(struct cleave__evaluator *e, struct cleave_context *context,
                                  const struct cleave_message *message);

bool cleave__evaluator_check(const struct cleave__evaluator *e, const char **why);

enum cleave__evaluator_tag { CLEAVE__TAG_PENDING = 1, CLEAVE__TAG_SHED = 2, CLEAVE__TAG_DOUBT = 3 };
static inline uint64_t cleave__evaluator_tag(enum cleave__evaluator_tag what, uint64_t detail)
{
    return (uint64_t)what << 48 | detail;
}

#endif
