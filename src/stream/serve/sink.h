/* The state of the sink: every match, or their digest. */
#ifndef CLEAVE_STREAM_SERVE_SINK_H
#define CLEAVE_STREAM_SERVE_SINK_H

#include "base/histogram.h"
#include "base/map.h"
#include "stream/serve/world.h"
#include "stream/track/track.h"

/* Who enters and leaves what. Starts as all zeroes. */
struct cleave__tracking {
    struct cleave__tracker *tracker;
    struct cleave__map ends; /* of queries that had something: by id */
    struct cleave__track_events events;
    CLEAVE_VECTOR(uint64_t) ids; /* of the message at hand */
    uint64_t entered, left, digest;
};
/* `wait_most`: messages of one thing that may come early. */
enum cleave_status cleave__tracking_begin(struct cleave__tracking *tracking, uint32_t wait_most,
                                          struct cleave_error *error);
void cleave__tracking_free(struct cleave__tracking *tracking);
/* `message->queries` end at `ends` [count]. What ends with a query is not counted. */
enum cleave_status cleave__tracking_message(struct cleave__tracking *tracking,
                                            const struct cleave__track_message *message,
                                            const uint64_t *ends, struct cleave_error *error);

struct cleave__sink {
    const struct cleave__stream_seat *seat;
    uint64_t matches, digest;
    bool keeps;              /* every match */
    struct cleave__map done; /* with faults: objects whose matches are here, since when. What is
                              * found of them later, sent again, is passed over: by then there may
                              * be queries that the object came before */
    uint64_t redelivered;    /* matches passed over */
    struct cleave_histogram latency_ns; /* a message's, for each of its matches */
    struct cleave__tracking tracking;
    CLEAVE_VECTOR(struct cleave__matched_pair) kept;
};

/* Of one match; digests add up whatever the order. */
uint64_t cleave__match_digest(uint64_t object, uint64_t query);
/* Of one who enters, or leaves. */
uint64_t cleave__passage_digest(uint64_t thing, uint64_t query, uint64_t sequence, bool exits);
/* Sinks that did not know of each other, into the first; see serve.h. False: memory is out. */
bool cleave__sinks_join(struct cleave__sink *const *sinks, uint32_t count);
/* Sorts what was kept and counts what came twice. */
void cleave__sink_settle(struct cleave__sink *sink, struct cleave__streamed *out);

#endif
