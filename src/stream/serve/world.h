/* What the actors of a stream have in common: who is who, and the messages.
 *
 * Actors are numbered in the order of spawning: evaluators, routers, sinks (one, or one for each
 * evaluator), feeders, balancer; where they are apart, then the group of all routers. */
#ifndef CLEAVE_STREAM_SERVE_WORLD_H
#define CLEAVE_STREAM_SERVE_WORLD_H

#include "model/tiling.h"
#include "runtime/actor.h"
#include "stream/serve/serve.h"

/* Counts for others to read while it runs: all NULL where nobody does. */
struct cleave__stream_watch {
    struct cleave_counter *accepted, *acknowledged; /* objects, by the feeder */
    struct cleave_gauge *under_way;
    struct cleave_counter *pruned;    /* by routers */
    struct cleave_counter *unmatched; /* by evaluators; by the sink, where it is told of them */
    struct cleave_counter *matched, *matches;  /* objects that a query has, pairs; by the sink */
    struct cleave_timing *matching;            /* ns from the feeder to the sink, of an object */
    struct cleave_counter *queries, *removals; /* by the feeder */
};

struct cleave__stream_world {
    const struct cleave__streaming *streaming;
    bool durable; /* there are faults: evaluators save, everything is asked again */
    uint32_t batch, window;
    struct cleave__stream_watch *watch;
};

/* The argument of an actor: the how many-th of its kind. */
struct cleave__stream_seat {
    const struct cleave__stream_world *world;
    uint32_t index;
};

static inline uint32_t cleave__evaluator_actor(uint32_t evaluator)
{
    return 1 + evaluator;
}
static inline uint32_t cleave__router_actor(const struct cleave__stream_world *world,
                                            uint32_t index)
{
    return 1 + world->streaming->evaluators + index;
}
/* One that all evaluators tell, or one for each. */
static inline uint32_t cleave__sink_count(const struct cleave__stream_world *world)
{
    return world->streaming->sinks > 1 || world->streaming->apart ? world->streaming->evaluators
                                                                  : 1;
}
static inline uint32_t cleave__sink_actor(const struct cleave__stream_world *world,
                                          uint32_t evaluator)
{
    return cleave__router_actor(world, world->streaming->routers) +
           (cleave__sink_count(world) > 1 ? evaluator : 0);
}
static inline uint32_t cleave__feeder_actor(const struct cleave__stream_world *world,
                                            uint32_t index)
{
    return cleave__sink_actor(world, 0) + cleave__sink_count(world) + index;
}
static inline uint32_t cleave__balancer_actor(const struct cleave__stream_world *world)
{
    return cleave__feeder_actor(world, world->streaming->feeders ? world->streaming->feeders : 1);
}
/* Where actors are apart: whichever router lives. */
static inline uint32_t cleave__any_router(const struct cleave__stream_world *world)
{
    return cleave__balancer_actor(world) + 1;
}

/* How many messages the feeder may be ahead of the oldest one that is not acknowledged, if things
 * are tracked: what comes before an object of the same thing waits for it in the sink. */
enum { CLEAVE__HELD_MOST = 1 << 24 }; /* objects that wait there */
static inline uint64_t cleave__stream_ahead_most(const struct cleave__stream_world *world)
{
    uint64_t ahead = (uint64_t)world->streaming->routers * world->window * 4;
    uint64_t most = CLEAVE__HELD_MOST / world->batch - 1;
    return ahead < most ? ahead : most;
}

/* Objects travel as a head and records (cleave__object_write):
 *     u64 sent_ns     by the feeder
 *     u64 done_ms     every object of an earlier time is acknowledged
 *     u64 settled     every change of a query of a lower version is, too
 * What was found of them: u64 number, u32 count, u64 ids, for each object that a query has; with
 * faults for every object. If things are tracked, for every object that has an id, too: after the
 * number u64 thing, u64 sequence, u64 time, and after each query's id u64 its end and, where sinks
 * are apart, u8 its events. Where they are, then u32 length and an object's note. Changes of
 * queries travel as records: u8 op, u64 version, u32 cover, the query; before them, from the feeder
 * u64 settled, from routers u32 stamp (the evaluator's epoch that the router knew), u32 tries (that
 * were in vain: who waits for others with it does so as long) and u64 settled. */
enum cleave__stream_kind {
    CLEAVE__STREAM_OBJECTS = 1,   /* feeder to router */
    CLEAVE__STREAM_OBJECTS_AGAIN, /* the same, again: no summary may keep any away */
    CLEAVE__STREAM_EVALUATE,      /* router to evaluator */
    CLEAVE__STREAM_EVALUATE_ON,   /* evaluator to evaluator: promise, u64 pairs, them, head, objects
                                   */
    CLEAVE__STREAM_MATCHES,       /* evaluator to sink: promise, u64 sent_ns, found */
    CLEAVE__STREAM_CHANGES,       /* feeder to router: records */
    CLEAVE__STREAM_STORE,         /* router to evaluator: head, records */
    CLEAVE__STREAM_STORE_ON,      /* evaluator to evaluator: u32 tries, records */
    CLEAVE__STREAM_COPY,          /* the same while it copies: u64 move, records */
    CLEAVE__STREAM_KEYWORDS,      /* router to router: u32 adds, triples, confirmed triples */
    CLEAVE__STREAM_KEEP,          /* evaluator to router: u32 stamp, u32 terms */
    CLEAVE__STREAM_SHED,          /* evaluator to router: u32 epoch, u32 terms */
    CLEAVE__STREAM_TELL,          /* router to evaluator: u64 life. Answer: u32 epoch, u32 terms */
    CLEAVE__STREAM_DOUBT,         /* evaluator to router: u32 epoch. Answer: the same */
    CLEAVE__STREAM_OPEN,          /* balancer to router: u64 move, u32 from, to: it begins */
    CLEAVE__STREAM_DRAIN,         /* balancer to router: all have the new map; see router.h */
    CLEAVE__STREAM_SHUT,          /* balancer to router: u64 move: it is over */
    CLEAVE__STREAM_LOAD,          /* balancer to evaluator */
    CLEAVE__STREAM_SHIFT,         /* balancer to evaluator: where to cut */
    CLEAVE__STREAM_OVER,          /* feeder to balancer: nothing more will come */
    CLEAVE__STREAM_DONE,          /* answers */
    CLEAVE__STREAM_ASTRAY,        /* not for this evaluator, by what it knows */
    CLEAVE__STREAM_SEEN           /* sink to tracker (stream/net): found */
};

enum cleave__change_of_query { CLEAVE__STORE = 1, CLEAVE__REMOVE = 2 };

struct cleave__objects_head {
    uint64_t sent_ns, done_ms, settled;
};
enum { CLEAVE__OBJECTS_HEAD_BYTES = 24 };

extern const struct cleave_actor_ops cleave__evaluator_ops, cleave__router_ops, cleave__sink_ops,
    cleave__feeder_ops, cleave__balancer_ops;

static inline struct cleave_reader cleave__body(const struct cleave_message *message)
{
    return (struct cleave_reader){message->body, message->body + message->length, false};
}

/* watch.c */
enum cleave_status cleave__stream_watch_make(struct cleave__stream_watch *watch,
                                             const struct cleave__streaming *streaming,
                                             struct cleave_error *error);

/* What was found of one object, borrowed from the message. */
struct cleave__found {
    uint64_t object, thing, sequence, time_ms; /* but for the first if things are tracked, else 0 */
    uint32_t count, step;      /* ids [count], u64 each `step` bytes; if tracked, u64 an end */
    const uint8_t *ids, *note; /* behind each, and if apart u8 its events */
    uint32_t note_length;
};

/* serve.c */
enum cleave_status cleave__stream_world_make(const struct cleave__streaming *streaming,
                                             struct cleave__stream_world *out,
                                             struct cleave_error *error);
/* Messages in the mailbox of any of them, so that none ever fills. */
uint32_t cleave__stream_mailbox_most(const struct cleave__stream_world *world);

/* words.c */
/* False: cut short. */
bool cleave__found_read(const struct cleave__stream_world *world, struct cleave_reader *reader,
                        struct cleave__found *out);
void cleave__put_head(struct cleave_writer *writer, const struct cleave__objects_head *head);
struct cleave__objects_head cleave__get_head(struct cleave_reader *reader);
void cleave__put_promise(struct cleave_writer *writer, struct cleave_promise promise);
struct cleave_promise cleave__get_promise(struct cleave_reader *reader);
void cleave__stream_no_memory(struct cleave_context *context);
void cleave__stream_corrupt(struct cleave_context *context, const char *what);
/* Answers without words. */
void cleave__stream_answer(struct cleave_context *context, struct cleave_promise promise,
                           enum cleave__stream_kind kind);
/* Sends a request, which was sent `tries` times in vain, or ends the run if the writer has failed.
 */
void cleave__stream_request(struct cleave_context *context,
                            const struct cleave__stream_world *world, uint32_t to,
                            enum cleave__stream_kind kind, const struct cleave_writer *writer,
                            uint32_t tries, uint64_t tag);

/* An evaluator's first cells. */
struct cleave__cells cleave__stream_partition(const struct cleave__streaming *streaming,
                                              uint32_t evaluator);

/* The cells that a query's boxes meet. */
struct cleave__ranges {
    struct cleave__cells cells[CLEAVE__REGION_BOXES_MOST];
    struct cleave__cells hull; /* of all of them */
    uint32_t count;
};
struct cleave__ranges cleave__query_ranges(const struct cleave__streaming *streaming,
                                           const struct cleave__query *query);
bool cleave__ranges_meet(const struct cleave__ranges *ranges, struct cleave__cells cells);
/* The rectangle of rising cell numbers that fill one. */
struct cleave__cells cleave__pieces_cells(const struct cleave__grid *grid, uint64_t first,
                                          uint64_t last);

#endif
