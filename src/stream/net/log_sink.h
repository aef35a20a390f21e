/* The sink of one evaluator on NATS: every object that queries have becomes a
 * message of the world's stream of matches, and is acknowledged once the
 * servers have it.
 *
 * Its message id is the object's number: what is matched again (by whomever)
 * after a fault is not there twice, as long as it comes within the stream's
 * window of ids. The content is JSON:
 *
 *     {"object": 17, "queries": [3, 5], "row": {...}}
 *
 * Where so many queries have an object that this is too long, they are dealt out by their ids to
 * messages 17.0 to 17.255, or each has its own, 17-3: of what is found again the same is the same.
 *
 * `row` is the object's note, if it has one: JSON as the publisher gave it. Where things are
 * tracked, what was found of them goes to the tracker, too, until that answers (tracker.h). */
#ifndef CLEAVE_STREAM_NET_LOG_SINK_H
#define CLEAVE_STREAM_NET_LOG_SINK_H

#include "stream/serve/world.h"

/* The argument. */
struct cleave__log_sink_seat {
    const struct cleave__stream_world *world;
    uint32_t index;   /* of its evaluator */
    size_t most;      /* bytes of a message of the stream */
    uint32_t log;     /* the stream's actor number */
    uint32_t tracker; /* where things are tracked */
};

extern const struct cleave_actor_ops cleave__log_sink_ops;

#endif
