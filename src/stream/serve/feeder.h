/* The state of a feeder.
 *
 * With faults what is not answered is sent again, to the next router: a router that is down does
 * not hold the feed up. An object sent again goes to its evaluator whatever the summaries say, and
 * so to the sink, which takes what is found of it once: so that a copy that is late, at a router
 * which was only slow, is passed over there. Changes of queries have versions.
 *
 * A feeder that was restarted goes on behind all that it had sent: of what had no answer, each may
 * have come to pass or not. It has larger numbers than were ever sent. */
#ifndef CLEAVE_STREAM_SERVE_FEEDER_H
#define CLEAVE_STREAM_SERVE_FEEDER_H

#include "base/histogram.h"
#include "base/map.h"
#include "stream/serve/world.h"

/* A message under way. Which queries or objects are in it is kept for whoever wants to know. */
struct cleave__fed {
    bool used, objects;
    uint32_t router, count;
    uint32_t tries;         /* in vain */
    uint64_t first_version; /* of its changes */
    uint8_t *body;          /* durable: to send it again */
    size_t length;
    uint64_t first_ms;             /* of its objects */
    uint64_t order;                /* among all messages */
    uint64_t sent_ns;              /* for the first time */
    CLEAVE_VECTOR(uint64_t) which; /* numbers of objects; ids of queries << 1 | removed */
};

struct cleave__feeder {
    const struct cleave__stream_seat *seat;
    CLEAVE_VECTOR(struct cleave__fed) fed;
    uint32_t *under_way; /* [routers] */
    bool *silent; /* [routers]: has let something without an answer; gets one message at a time */
    uint32_t in_all;
    uint32_t next_router;
    struct cleave__map sequences;  /* tracked: of things, objects so far */
    struct cleave__map changing;   /* ids of queries with a change under way */
    struct cleave__feed_item item; /* not yet sent */
    bool has_item, ended;
    struct cleave_arena arena; /* the item's */
    struct cleave_writer body; /* of the message being filled */
    struct cleave__fed filling;
    uint64_t step, version, last_ms, order;
    uint64_t objects, queries, removals, repeated;
    uint64_t objects_acknowledged, queries_acknowledged, removals_acknowledged;
    struct cleave_histogram ack_ns; /* apart: of a message of objects, for each of them */
    uint32_t over_tries;
    uint64_t first_object_ns, last_object_ns, first_query_ns, last_query_ns;
};

/* What outlives a crash. Into one just made; CLEAVE_CORRUPT: it can only be freed. */
enum { CLEAVE__FEEDER_KEPT = 12 };
void cleave__feeder_write(struct cleave__feeder *feeder, struct cleave_writer *writer);
enum cleave_status cleave__feeder_load(struct cleave__feeder *feeder, const uint8_t *saved,
                                       size_t length, struct cleave_error *error);

#endif
