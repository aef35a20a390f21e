/* Who is inside of which query, in a world on NATS: what was found of things' objects, in whatever
 * order it comes, becomes who enters and leaves, once each.
 *
 * A thing's objects carry numbers 1, 2, ... in each session of a publisher (their own numbers have
 * the session in their upper bits); one that comes early waits for those before it, one that comes
 * again is passed over. With the first object of a later session what waits of an earlier one has
 * its turn, and what comes of that one still is passed over: a thing is one publisher's at a time.
 * An exit is not told of a query whose end the object has passed.
 *
 * The outcome is a function of what was taken, in order: written and read back in between, it is
 * the same. Memory: some 32 B a thing, 4 B for each query that it is in, what waits. One thread. */
#ifndef CLEAVE_STREAM_NET_THINGS_H
#define CLEAVE_STREAM_NET_THINGS_H

#include "stream/serve/world.h"

enum { CLEAVE__NET_NUMBER_BITS = 40 }; /* of an object's number: within a publisher's session */

struct cleave__net_things;

/* Of one object: ids rising; valid in the call. At least one of the counts is not 0. */
struct cleave__net_passage {
    const struct cleave__found *found;
    const uint64_t *entered, *left;
    uint32_t entered_count, left_count;
};

/* `world` is borrowed: things are tracked there, and sinks apart. */
enum cleave_status cleave__net_things_new(const struct cleave__stream_world *world,
                                          struct cleave__net_things **out,
                                          struct cleave_error *error);
void cleave__net_things_free(struct cleave__net_things *things);

/* Objects as evaluators tell sinks of them (cleave__found_read); such without a thing are passed
 * over. `each` says false when memory is out. *taken: whether anything was new. CLEAVE_CORRUPT, or
 * CLEAVE_NO_MEMORY: it can only be freed. */
enum cleave_status
cleave__net_things_take(struct cleave__net_things *things, const uint8_t *bytes, size_t length,
                        bool (*each)(void *context, const struct cleave__net_passage *passage),
                        void *context, bool *taken, struct cleave_error *error);
/* All of it; and back, into one just made (CLEAVE_CORRUPT: it can only be freed). */
void cleave__net_things_write(const struct cleave__net_things *things,
                              struct cleave_writer *writer);
enum cleave_status cleave__net_things_read(struct cleave__net_things *things,
                                           struct cleave_reader *reader,
                                           struct cleave_error *error);
/* Objects that wait for one before them. */
uint64_t cleave__net_things_waiting(const struct cleave__net_things *things);
bool cleave__net_things_check(const struct cleave__net_things *things);

#endif
