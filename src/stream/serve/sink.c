/* The sink takes matches and acknowledges their objects. */
#include "stream/serve/sink.h"

#include <stdlib.h>

#include "base/random.h"

uint64_t cleave__match_digest(uint64_t object, uint64_t query)
{
    return cleave__mix64(cleave__mix64(object) ^ query);
}

static void destroy(void *self)
{
    struct cleave__sink *sink = self;
    cleave__histogram_free(&sink->latency_ns);
    cleave__map_free(&sink->done);
    cleave__tracking_free(&sink->tracking);
    CLEAVE_VECTOR_FREE(&sink->kept);
    free(sink);
}

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    struct cleave__sink *sink = calloc(1, sizeof *sink);
    if (!sink)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a sink");
    sink->seat = argument;
    const struct cleave__stream_world *world = sink->seat->world;
    enum cleave_status status = CLEAVE_OK;
    if (world->streaming->track) /* as many as may come before one that is late */
        status = cleave__tracking_begin(
            &sink->tracking, (uint32_t)((cleave__stream_ahead_most(world) + 1) * world->batch),
            error);
    if (status)
        destroy(sink);
    else
        *self = sink;
    return status;
}

static bool follow(struct cleave__sink *sink, struct cleave__track_message *message,
                   const uint8_t *found)
{
    struct cleave__tracking *t = &sink->tracking;
    uint32_t count = message->count;
    if (!CLEAVE_RESERVE(&t->ids, 2 * (size_t)count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        t->ids.data[i] = cleave__load64(found + (size_t)i * 16);
        t->ids.data[count + i] = cleave__load64(found + (size_t)i * 16 + 8);
    }
    message->queries = t->ids.data;
    return !cleave__tracking_message(t, message, t->ids.data + count, NULL);
}

/* What was found of one object. False: memory is out. */
static bool take(struct cleave__sink *sink, struct cleave_reader *reader, uint64_t took_ns)
{
    const struct cleave__stream_world *world = sink->seat->world;
    uint64_t object = cleave__get64(reader);
    bool track = world->streaming->track;
    struct cleave__track_message message = {0};
    if (track) {
        message.thing = cleave__get64(reader);
        message.sequence = cleave__get64(reader);
        message.time_ms = cleave__get64(reader);
    }
    uint32_t count = cleave__get32(reader), step = track ? 16 : 8;
    const uint8_t *ids = cleave__get_bytes(reader, (uint64_t)count * step);
    if (!ids)
        return true;
    if (world->durable) {
        size_t before = sink->done.count;
        if (!cleave__map_put(&sink->done, object))
            return false;
        if (sink->done.count == before) {
            sink->redelivered += count;
            return true;
        }
    }
    bool ok = !count || cleave__histogram_add(&sink->latency_ns, took_ns, count);
    sink->matches += count;
    cleave__counter_add(world->watch->matches, count);
    cleave__counter_add(count ? world->watch->matched : world->watch->unmatched, 1);
    if (count)
        cleave__timing_add(world->watch->matching, took_ns);
    for (uint32_t i = 0; i < count && ok; i++) {
        uint64_t query = cleave__load64(ids + (size_t)i * step);
        sink->digest += cleave__match_digest(object, query);
        if (world->streaming->keep_matches)
            ok = CLEAVE_PUSH(&sink->kept, (struct cleave__matched_pair){object, query});
    }
    message.count = count;
    return ok && (!message.thing || follow(sink, &message, ids));
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct cleave__sink *sink = self;
    struct cleave_reader reader = cleave__body(message);
    struct cleave_promise promise = cleave__get_promise(&reader);
    uint64_t sent_ns = cleave__get64(&reader);
    uint64_t took_ns = cleave__context_now_ns(context) - sent_ns;
    while (cleave__left(&reader)) {
        if (!take(sink, &reader, took_ns)) {
            cleave__stream_no_memory(context);
            return;
        }
    }
    if (reader.failed)
        cleave__stream_corrupt(context, "matches that are cut short");
    else
        cleave__stream_answer(context, promise, CLEAVE__STREAM_DONE);
}

static int compare(const void *a, const void *b)
{
    const struct cleave__matched_pair *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->query > y->query) - (x->query < y->query);
}

void cleave__sink_settle(struct cleave__sink *sink, struct cleave__streamed *out)
{
    size_t count = 0;
    out->matches = sink->matches;
    out->redelivered = sink->redelivered;
    out->digest = sink->digest;
    out->entered = sink->tracking.entered;
    out->left = sink->tracking.left;
    out->event_digest = sink->tracking.digest;
    if (!sink->kept.count)
        return;
    qsort(sink->kept.data, sink->kept.count, sizeof *sink->kept.data, compare);
    for (size_t i = 0; i < sink->kept.count; i++) {
        const struct cleave__matched_pair *pair = &sink->kept.data[i];
        if (count && compare(&sink->kept.data[count - 1], pair) == 0) {
            out->duplicates++;
            out->digest -= cleave__match_digest(pair->object, pair->query);
        } else {
            sink->kept.data[count++] = *pair;
        }
    }
    sink->kept.count = count;
    out->matches = count;
}

const struct cleave_actor_ops cleave__sink_ops = {"sink", create, destroy, receive, NULL};
