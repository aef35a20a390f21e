/* Enter and exit, from what was found of things' objects in whatever order it comes. */
#include "base/random.h"
#include "stream/serve/sink.h"

enum { THINGS_MOST = 1 << 28 };

enum cleave_status cleave__tracking_begin(struct cleave__tracking *t, uint32_t wait_most,
                                          struct cleave_error *error)
{
    struct cleave__track_options options = {
        .wait_most = wait_most, .held_most = CLEAVE__HELD_MOST, .things_most = THINGS_MOST};
    return cleave__tracker_new(&options, &t->tracker, error);
}

void cleave__tracking_free(struct cleave__tracking *t)
{
    if (t->tracker)
        cleave__tracker_free(t->tracker);
    cleave__map_free(&t->ends);
    cleave__track_events_free(&t->events);
    CLEAVE_VECTOR_FREE(&t->ids);
}

uint64_t cleave__passage_digest(uint64_t thing, uint64_t query, uint64_t sequence, bool exits)
{
    return cleave__mix64(cleave__mix64(cleave__mix64(thing) ^ query) ^ (sequence << 1 | exits));
}

enum cleave_status cleave__tracking_message(struct cleave__tracking *t,
                                            const struct cleave__track_message *message,
                                            const uint64_t *ends, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < message->count && !status; i++) {
        if (cleave__map_find(&t->ends, message->queries[i]))
            continue;
        uint64_t *end_ms = cleave__map_put(&t->ends, message->queries[i]);
        if (!end_ms)
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for queries");
        *end_ms = ends[i];
        status = cleave__tracker_add(t->tracker, message->queries[i], error);
    }
    cleave__track_events_clear(&t->events);
    if (!status)
        status = cleave__tracker_message(t->tracker, message, &t->events, error);
    for (size_t i = 0; i < t->events.items.count && !status; i++) {
        const struct cleave__track_event *event = &t->events.items.data[i];
        const uint64_t *end_ms = cleave__map_find(&t->ends, event->query);
        bool exits = event->kind == CLEAVE__EVENT_EXIT;
        if (exits && end_ms && *end_ms <= event->time_ms)
            continue; /* the query has ended: nobody leaves it */
        *(exits ? &t->left : &t->entered) += 1;
        t->digest += cleave__passage_digest(event->thing, event->query, event->sequence, exits);
    }
    return status;
}
