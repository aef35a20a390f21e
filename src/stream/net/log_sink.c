#include "stream/net/log_sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "move/move.h"
#include "runtime/runtime.h"
#include "stream/net/log_text.h"

enum { TRIES_FIRST = 3 };
#define TAG_TRACKER (UINT64_C(1) << 32)

struct pending { /* a message of matches, until all of its objects are there */
    struct cleave_promise promise;
    uint32_t waits;            /* 0: free */
    uint32_t tries;            /* to tell the tracker, in vain */
    struct cleave_writer seen; /* for it */
};

struct sink {
    const struct cleave__log_sink_seat *seat;
    CLEAVE_VECTOR(struct pending) pending;
    CLEAVE_VECTOR(uint32_t) free_ones;
    struct cleave_writer text;
    CLEAVE_VECTOR(uint64_t) ids;
};

static void destroy(void *self)
{
    struct sink *sink = self;
    for (size_t i = 0; i < sink->pending.count; i++)
        free(sink->pending.data[i].seen.data);
    CLEAVE_VECTOR_FREE(&sink->pending);
    CLEAVE_VECTOR_FREE(&sink->free_ones);
    CLEAVE_VECTOR_FREE(&sink->ids);
    free(sink->text.data);
    free(sink);
}

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    struct sink *sink = calloc(1, sizeof *sink);
    if (!sink)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a sink");
    sink->seat = argument;
    *self = sink;
    return CLEAVE_OK;
}

/* A request to the log of one object, which these queries [count] have. False: the run is over. */
static bool tell(struct sink *sink, struct cleave_context *context,
                 const struct cleave__found *found, const uint64_t *ids, uint32_t count,
                 uint32_t index)
{
    struct cleave_writer *w = &sink->text;
    char id[24], subject[24];
    snprintf(id, sizeof id, "%" PRIu64, found->object);
    snprintf(subject, sizeof subject, "%" PRIu32, sink->seat->index);
    cleave__log_begin(w, id, subject);
    cleave__log_text(w, "{\"object\":");
    cleave__log_number(w, found->object);
    cleave__log_text(w, ",");
    cleave__log_numbers(w, "queries", (const uint8_t *)ids, count, 8);
    if (found->note_length) {
        cleave__log_text(w, ",\"row\":");
        cleave__put_bytes(w, found->note, found->note_length);
    }
    cleave__log_text(w, "}");
    if (w->failed) {
        cleave__stream_no_memory(context);
        return false;
    }
    cleave__context_request(context, sink->seat->log, 0, w->data, w->count, 0, index);
    return true;
}

static uint32_t new_pending(struct sink *sink)
{
    if (sink->free_ones.count)
        return sink->free_ones.data[--sink->free_ones.count];
    if (!CLEAVE_RESERVE(&sink->free_ones, sink->pending.count + 1) ||
        !CLEAVE_PUSH(&sink->pending, (struct pending){0}))
        return UINT32_MAX;
    return (uint32_t)sink->pending.count - 1;
}

static void finish(struct sink *sink, struct cleave_context *context, uint32_t index)
{
    cleave__stream_answer(context, sink->pending.data[index].promise, CLEAVE__STREAM_DONE);
    sink->free_ones.data[sink->free_ones.count++] = index;
}

/* Of things, to the tracker: until it answers. */
static void tell_tracker(struct sink *sink, struct cleave_context *context, uint32_t index)
{
    const struct pending *p = &sink->pending.data[index];
    uint64_t retry_ns = sink->seat->world->streaming->retry_ns;
    uint32_t tries = p->tries + TRIES_FIRST;
    cleave__context_request(
        context, sink->seat->tracker, CLEAVE__STREAM_SEEN, p->seen.data, p->seen.count,
        cleave__pause_ns(retry_ns, tries < CLEAVE__TRIES_MOST ? tries : CLEAVE__TRIES_MOST),
        TAG_TRACKER | index);
}

/* Queries that want every match of theirs, into sink->ids. False: memory is out. */
static bool wanted(struct sink *sink, const struct cleave__found *found)
{
    sink->ids.count = 0;
    if (!CLEAVE_RESERVE(&sink->ids, (size_t)found->count + 1))
        return false;
    for (uint32_t i = 0; i < found->count; i++) {
        const uint8_t *at = found->ids + (size_t)i * found->step;
        if (found->step < 17 || at[16] & CLEAVE__EVENT_MATCH)
            sink->ids.data[sink->ids.count++] = cleave__load64(at);
    }
    return true;
}

static void take(struct sink *sink, struct cleave_context *context,
                 const struct cleave_message *message)
{
    struct cleave_reader reader = cleave__body(message);
    const struct cleave__stream_watch *watch = sink->seat->world->watch;
    uint32_t index = new_pending(sink);
    if (index == UINT32_MAX) {
        cleave__stream_no_memory(context);
        return;
    }
    struct pending *p = &sink->pending.data[index];
    p->promise = cleave__get_promise(&reader);
    p->waits = p->tries = 0;
    p->seen.count = 0;
    cleave__get64(&reader); /* when it was sent */
    while (cleave__left(&reader)) {
        struct cleave__found found;
        const uint8_t *from = reader.at;
        if (!cleave__found_read(sink->seat->world, &reader, &found)) {
            cleave__stream_corrupt(context, "matches that are cut short");
            return;
        }
        if (!wanted(sink, &found)) {
            cleave__stream_no_memory(context);
            return;
        }
        if (found.thing)
            cleave__put_bytes(&p->seen, from, (size_t)(reader.at - from));
        uint32_t count = (uint32_t)sink->ids.count;
        cleave__counter_add(count ? watch->matched : watch->unmatched, 1);
        if (!count)
            continue;
        cleave__counter_add(watch->matches, count);
        if (!tell(sink, context, &found, sink->ids.data, count, index))
            return;
        p->waits++;
    }
    if (p->seen.failed) {
        cleave__stream_no_memory(context);
        return;
    }
    if (p->seen.count) {
        tell_tracker(sink, context, index);
        p->waits++;
    }
    if (!p->waits)
        finish(sink, context, index);
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct sink *sink = self;
    uint32_t index = (uint32_t)message->tag;
    if (message->sort == CLEAVE_TIMEOUT) {
        sink->pending.data[index].tries = cleave__tries_more(sink->pending.data[index].tries);
        tell_tracker(sink, context, index);
    } else if (message->sort != CLEAVE_REPLY) {
        take(sink, context, message);
    } else if (--sink->pending.data[index].waits == 0) {
        finish(sink, context, index);
    }
}

const struct cleave_actor_ops cleave__log_sink_ops = {"sink", create, destroy, receive, NULL};
