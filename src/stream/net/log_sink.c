#include "stream/net/log_sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/runtime.h"

struct pending { /* a message of matches, until all of its objects are there */
    struct cleave_promise promise;
    uint32_t waits; /* 0: free */
};

struct sink {
    const struct cleave__log_sink_seat *seat;
    CLEAVE_VECTOR(struct pending) pending;
    CLEAVE_VECTOR(uint32_t) free_ones;
    struct cleave_writer text;
};

static void destroy(void *self)
{
    struct sink *sink = self;
    CLEAVE_VECTOR_FREE(&sink->pending);
    CLEAVE_VECTOR_FREE(&sink->free_ones);
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

static void put_text(struct cleave_writer *writer, const char *text)
{
    cleave__put_bytes(writer, text, strlen(text));
}

static void put_number(struct cleave_writer *writer, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    put_text(writer, text);
}

/* A request to the log of one object. False: the run is over. */
static bool tell(struct sink *sink, struct cleave_context *context, uint64_t object,
                 const uint8_t *ids, uint32_t count, const uint8_t *note, uint32_t note_length,
                 uint32_t index)
{
    struct cleave_writer *w = &sink->text;
    char id[24], subject[24];
    int id_length = snprintf(id, sizeof id, "%" PRIu64, object);
    int subject_length = snprintf(subject, sizeof subject, "%" PRIu32, sink->seat->index);
    w->count = 0;
    cleave__put8(w, (uint8_t)id_length);
    cleave__put_bytes(w, id, (size_t)id_length);
    cleave__put8(w, (uint8_t)subject_length);
    cleave__put_bytes(w, subject, (size_t)subject_length);
    put_text(w, "{\"object\":");
    cleave__put_bytes(w, id, (size_t)id_length);
    put_text(w, ",\"queries\":[");
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            put_text(w, ",");
        put_number(w, cleave__load64(ids + (size_t)i * 8));
    }
    put_text(w, "]");
    if (note_length) {
        put_text(w, ",\"row\":");
        cleave__put_bytes(w, note, note_length);
    }
    put_text(w, "}");
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
    sink->pending.data[index] = (struct pending){cleave__get_promise(&reader), 0};
    cleave__get64(&reader); /* when it was sent */
    while (cleave__left(&reader)) {
        struct cleave__found found;
        if (!cleave__found_read(sink->seat->world, &reader, &found)) {
            cleave__stream_corrupt(context, "matches that are cut short");
            return;
        }
        cleave__counter_add(found.count ? watch->matched : watch->unmatched, 1);
        if (!found.count)
            continue;
        cleave__counter_add(watch->matches, found.count);
        if (!tell(sink, context, found.object, found.ids, found.count, found.note,
                  found.note_length, index))
            return;
        sink->pending.data[index].waits++;
    }
    if (!sink->pending.data[index].waits)
        finish(sink, context, index);
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct sink *sink = self;
    if (message->sort != CLEAVE_REPLY) {
        take(sink, context, message);
        return;
    }
    uint32_t index = (uint32_t)message->tag;
    if (--sink->pending.data[index].waits == 0)
        finish(sink, context, index);
}

const struct cleave_actor_ops cleave__log_sink_ops = {"sink", create, destroy, receive, NULL};
