/* The state of a router: whose cell is this, which keywords does who need, what is under way. */
#ifndef CLEAVE_STREAM_SERVE_ROUTER_H
#define CLEAVE_STREAM_SERVE_ROUTER_H

#include "base/map.h"
#include "move/move.h"
#include "stream/route/agrid.h"
#include "stream/route/summary.h"
#include "stream/serve/world.h"

/* A message of objects, until all its parts are done. */
struct cleave__router_batch {
    struct cleave_promise promise;
    uint32_t waits;
};

/* What of it went to one evaluator. */
struct cleave__router_part {
    uint32_t batch; /* UINT32_MAX: free */
    uint32_t tries; /* in vain */
    uint8_t *body;  /* durable: to send again; malloc'd */
    size_t length;
};

struct cleave__keyword {
    uint32_t evaluator, term, stamp;
};

/* A message of changes of queries. */
struct cleave__router_group {
    struct cleave_promise promise;
    uint32_t waits;    /* for evaluators and routers, of this attempt */
    uint32_t keywords; /* of them routers that have not answered */
    uint32_t attempt;  /* of any that were in this place */
    uint32_t tries;    /* in vain */
    uint64_t sequence; /* of the attempt, among all */
    uint8_t *body;     /* durable */
    size_t length;
    CLEAVE_VECTOR(struct cleave__keyword) added; /* by this attempt */
};

/* For all terms that an evaluator's queries need, after a restart. */
struct cleave__router_ask {
    bool waits;      /* until it was told, no object is kept from it */
    uint32_t number; /* of the question */
    uint32_t tries;  /* in vain */
};

struct cleave__router {
    const struct cleave__stream_seat *seat;
    struct cleave__agrid *agrid;
    struct cleave__summary *summary;
    uint32_t *epoch;   /* [evaluators]: of summaries, as far as they have said */
    uint32_t *doubted; /* [evaluators]: what was confirmed with an earlier stamp is not */
    struct cleave__router_ask *asks; /* [evaluators] */
    uint64_t life;                   /* durable: how often it was started */
    /* A move under way: its two ends get every object for their cells, whatever the summary says,
     * for keywords that one router adds for the new map another does not look at yet. */
    bool open, mapped; /* mapped: this router has taken the new map */
    uint32_t open_from, open_to;
    uint64_t opened; /* that move's number, or of the last */
    /* Before it is over, all keywords that were sent to other routers by the old map must be there,
     * for those routers add them for the target too as long as it is not. */
    bool draining;
    struct cleave_promise drained;
    uint64_t drain_to; /* groups up to this sequence number */
    struct cleave__move_router move;

    CLEAVE_VECTOR(struct cleave__router_batch) batches;
    CLEAVE_VECTOR(uint32_t) free_batches;
    CLEAVE_VECTOR(struct cleave__router_part) parts;
    CLEAVE_VECTOR(uint32_t) free_parts;
    CLEAVE_VECTOR(struct cleave__router_group) groups;
    CLEAVE_VECTOR(struct cleave__keyword) confirmed; /* since the last message to the others */
    struct cleave__map fresh; /* (evaluator, term) that the group at work has added */

    struct cleave_writer *to;        /* [evaluators]: what goes to each */
    CLEAVE_VECTOR(uint32_t) touched; /* those that have something */
    uint32_t *found;                 /* [evaluators]: a range's */
    uint32_t *frequencies;           /* [frequency_count]: of terms in objects */
    uint32_t frequency_count;
    struct cleave_context *context; /* of the message under way */
    struct cleave_arena arena;      /* of one message */

    uint64_t settled; /* of the group at work */
    uint64_t sequence;
    uint64_t objects, pruned, keyword_messages, keywords, repeated;
};

enum cleave__router_tag {
    CLEAVE__TAG_PART = 1,
    CLEAVE__TAG_STORE = 2,
    CLEAVE__TAG_KEYWORDS = 3,
    CLEAVE__TAG_TELL = 4
};
static inline uint64_t cleave__router_tag(enum cleave__router_tag what, uint32_t attempt,
                                          uint32_t index)
{
    return (uint64_t)what << 48 | (uint64_t)(attempt & 0xffff) << 32 | index;
}

/* router_objects.c */
void cleave__router_objects(struct cleave__router *router, struct cleave_context *context,
                            const struct cleave_message *message);
void cleave__router_part_answered(struct cleave__router *router, struct cleave_context *context,
                                  const struct cleave_message *message);
/* router_queries.c */
void cleave__router_changes(struct cleave__router *router, struct cleave_context *context,
                            const struct cleave_message *message);
void cleave__router_group_answered(struct cleave__router *router, struct cleave_context *context,
                                   const struct cleave_message *message);
/* Answers a drain if nothing is left to wait for. */
void cleave__router_drain(struct cleave__router *router, struct cleave_context *context);
/* router_words.c: the summary, as others tell of it */
void cleave__router_keywords(struct cleave__router *router, struct cleave_context *context,
                             const struct cleave_message *message);
void cleave__router_keep(struct cleave__router *router, struct cleave_context *context,
                         const struct cleave_message *message);
void cleave__router_shed(struct cleave__router *router, struct cleave_context *context,
                         const struct cleave_message *message);
extern const struct cleave__move_router_ops cleave__router_move_ops;
/* router_keep.c: what outlives a crash, and what must be asked for then */
void cleave__router_start(void *self, struct cleave_context *context, const uint8_t *saved,
                          size_t length);
void cleave__router_write(const struct cleave__router *router, struct cleave_writer *writer);
/* If there are faults. */
void cleave__router_save(struct cleave__router *router, struct cleave_context *context);
/* Into one just made. CLEAVE_CORRUPT, CLEAVE_NO_MEMORY: it can only be freed. */
enum cleave_status cleave__router_load(struct cleave__router *router, const uint8_t *saved,
                                       size_t length, struct cleave_error *error);
void cleave__router_ask(struct cleave__router *router, struct cleave_context *context,
                        uint32_t evaluator);
void cleave__router_told(struct cleave__router *router, struct cleave_context *context,
                         const struct cleave_message *message);
/* Nothing of an evaluator is confirmed that was before this epoch. */
void cleave__router_doubt(struct cleave__router *router, struct cleave_context *context,
                          uint32_t evaluator, uint32_t epoch);
void cleave__router_doubts(struct cleave__router *router, struct cleave_context *context,
                           const struct cleave_message *message);

/* The writer for an evaluator, emptied at its first use since `touched` was emptied. */
struct cleave_writer *cleave__router_to(struct cleave__router *router,
                                        struct cleave_context *context, uint32_t evaluator);

#endif
