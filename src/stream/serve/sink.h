/* The state of the sink: every match, or their digest. */
#ifndef CLEAVE_STREAM_SERVE_SINK_H
#define CLEAVE_STREAM_SERVE_SINK_H

#include "base/histogram.h"
#include "base/map.h"
#include "stream/serve/world.h"

struct cleave__sink {
    const struct cleave__stream_seat *seat;
    uint64_t matches, digest;
    struct cleave__map done; /* with faults: objects whose matches are here. What is found of them
                              * later, sent again, is passed over: by then there may be queries that
                              * the object came before */
    uint64_t redelivered;    /* matches passed over */
    struct cleave_histogram latency_ns; /* a message's, for each of its matches */
    CLEAVE_VECTOR(struct cleave__matched_pair) kept;
};

/* Of one match; digests add up whatever the order. */
uint64_t cleave__match_digest(uint64_t object, uint64_t query);
/* Sorts what was kept and counts what came twice. */
void cleave__sink_settle(struct cleave__sink *sink, struct cleave__streamed *out);

#endif
