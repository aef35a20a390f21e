/* Who is inside which query: turns "this object matched these" into enter, exit and expire.
 *
 * A *thing* sends objects one after the other. Its messages say which queries had each of them; a
 * query that had the last and not this one is left, one the other way is entered. Messages of one
 * thing may come out of order, for they come from several evaluators: they carry numbers 1, 2, ...
 * without gaps, and one that comes early waits, until those before it are there or the wait is
 * over: `wait_most` messages of the thing, `wait_ms` of the clock, `held_most` messages in all.
 * Then the gap is passed over and counted, and what comes late for it is counted and changes
 * nothing.
 *
 * A thing silent for `ttl_ms` leaves everything. The clock is the latest time that was told. A
 * query must be known (_add) before a message names it; when it ends (_end) nobody leaves it, it
 * expires once. Memory: about 100 B a thing that is inside of something or may wait, 16 B a known
 * query, 4 B for each that a thing is inside of. Thread rule: one thread at a time. */
#ifndef CLEAVE_STREAM_TRACK_H
#define CLEAVE_STREAM_TRACK_H

#include "base/arena.h"
#include "stream/query/object.h"

struct cleave__track_options {
    uint64_t ttl_ms;      /* 0: things may be silent for ever */
    uint32_t wait_most;   /* 0: messages come in order, their numbers are not looked at */
    uint64_t wait_ms;     /* 0: no bound by the clock */
    uint32_t held_most;   /* at least 1 */
    uint32_t things_most; /* past it the one silent for longest leaves everything, and is counted */
};

struct cleave__track_message {
    uint64_t thing, sequence, time_ms;
    const uint64_t *queries; /* ids, in any order, each once */
    uint32_t count;
    const char *name; /* of the thing, for what it is told when silent; NULL: none */
    size_t name_length;
};

struct cleave__track_event {
    enum cleave__event kind; /* enter, exit, expire */
    uint64_t thing;          /* 0 for expire */
    uint64_t query;
    uint64_t time_ms;  /* of the message; of silence, the clock */
    uint64_t sequence; /* of the message; 0: silence, or expire */
    const char *name;  /* with sequence 0: the thing's, in `names`; else NULL */
    size_t name_length;
};
struct cleave__track_events {
    CLEAVE_VECTOR(struct cleave__track_event) items;
    struct cleave_arena names;
};

struct cleave__track_counts {
    uint64_t messages, entered, left, expired;
    uint64_t waited;          /* messages that came early */
    uint64_t gaps;            /* messages passed over */
    uint64_t late;            /* messages that came for a gap, or twice */
    uint64_t unknown;         /* queries that messages named and nobody knew (any more) */
    uint64_t silent, evicted; /* things that left by silence, for want of room */
};

struct cleave__tracker;

enum cleave_status cleave__tracker_new(const struct cleave__track_options *options,
                                       struct cleave__tracker **out, struct cleave_error *error);
void cleave__tracker_free(struct cleave__tracker *tracker);

/* A query's id, which no known query has. */
enum cleave_status cleave__tracker_add(struct cleave__tracker *tracker, uint64_t query,
                                       struct cleave_error *error);
/* It has ended: appends its expire. Unknown ids do nothing. O(1): things forget it later. */
enum cleave_status cleave__tracker_end(struct cleave__tracker *tracker, uint64_t query,
                                       uint64_t time_ms, struct cleave__track_events *events,
                                       struct cleave_error *error);
/* Appends what follows, in order. CLEAVE_NO_MEMORY leaves everything as it was. O(queries inside).
 */
enum cleave_status cleave__tracker_message(struct cleave__tracker *tracker,
                                           const struct cleave__track_message *message,
                                           struct cleave__track_events *events,
                                           struct cleave_error *error);
/* The clock is at least `now_ms`: waits that are over, things that have been silent for too long.
 * After CLEAVE_NO_MEMORY some of it is done; call again. */
enum cleave_status cleave__tracker_tick(struct cleave__tracker *tracker, uint64_t now_ms,
                                        struct cleave__track_events *events,
                                        struct cleave_error *error);

void cleave__track_events_clear(struct cleave__track_events *events);
void cleave__track_events_free(struct cleave__track_events *events);
const struct cleave__track_counts *cleave__tracker_counts(const struct cleave__tracker *tracker);
uint64_t cleave__tracker_things(const struct cleave__tracker *tracker);
/* What each thing is inside of (ids rising), the one silent for longest first. False: `each` said
 * so, or memory is out. */
bool cleave__tracker_each(const struct cleave__tracker *tracker,
                          bool (*each)(void *context, uint64_t thing, const uint64_t *queries,
                                       uint32_t count),
                          void *context);
size_t cleave__tracker_bytes(const struct cleave__tracker *tracker); /* of memory that it holds */
bool cleave__tracker_check(const struct cleave__tracker *tracker);   /* every invariant */

#endif
