/* The tracker of a world on NATS that was made with --track: one process, which is told by all
 * sinks what was found of things' objects and tells the world's stream of matches who enters and
 * leaves, a message an object:
 *
 *     {"object": 17, "thing": 5, "sequence": 2, "entered": [3], "left": [4, 6], "row": {...}}
 *
 * or several, where one would be too long.
 *
 * It keeps a snapshot and a journal of what it was told; a sink is answered once what follows from
 * it is in the stream. Started again it does the same once more: a message's id is its number, so
 * that what is there already is not there twice (within the stream's window of ids). */
#ifndef CLEAVE_STREAM_NET_TRACKER_H
#define CLEAVE_STREAM_NET_TRACKER_H

#include "stream/serve/world.h"

/* The argument. */
struct cleave__net_tracker_seat {
    const struct cleave__stream_world *world;
    uint32_t log; /* the stream's actor number */
    size_t most;  /* bytes of a message of it */
};

extern const struct cleave_actor_ops cleave__net_tracker_ops;

#endif
