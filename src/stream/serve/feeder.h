/* The state of a feeder. */
#ifndef CLEAVE_STREAM_SERVE_FEEDER_H
#define CLEAVE_STREAM_SERVE_FEEDER_H

#include "base/map.h"
#include "stream/serve/world.h"

/* A message under way. Which queries or objects are in it is kept for whoever wants to know. */
struct cleave__fed {
    bool used, objects;
    uint32_t router, count;
    uint64_t first_ms;             /* of its objects */
    uint64_t order;                /* among all messages */
    CLEAVE_VECTOR(uint64_t) which; /* numbers of objects; ids of queries << 1 | removed */
};

struct cleave__feeder {
    const struct cleave__stream_seat *seat;
    CLEAVE_VECTOR(struct cleave__fed) fed;
    uint32_t *under_way; /* [routers] */
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
    uint64_t objects, queries, removals;
    uint64_t first_object_ns, last_object_ns, first_query_ns, last_query_ns;
};

#endif
