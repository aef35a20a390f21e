#include "stream/net/log_sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "move/move.h"
#include "runtime/runtime.h"
#include "stream/net/log_text.h"

enum { TRIES_FIRST = 3, PARTS = 256 };
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

/* A message of one object and these queries [count] under this id, into sink->text. False: it is
 * too long, or memory is out (then the writer has failed). */
static bool write_one(struct sink *sink, const struct cleave__found *found, const uint64_t *ids,
                      uint32_t count, const char *id)
{
    struct cleave_writer *w = &sink->text;
    char subject[24];
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
    return !w->failed && w->count <= sink->seat->most;
}

/* A request to the log. */
static void request(struct sink *sink, struct cleave_context *context, uint32_t index)
{
    if (sink->text.failed)
        cleave__stream_no_memory(context);
    else
        cleave__context_request(context, sink->seat->log, 0, sink->text.data, sink->text.count, 0,
                                index);
    sink->pending.data[index].waits++;
}

static uint32_t part_of(uint64_t query)
{
    return (uint32_t)(cleave__mix64(query) % PARTS);
}

static int by_part(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    uint32_t p = part_of(x), q = part_of(y);
    return p != q ? (p > q) - (p < q) : (x > y) - (x < y);
}

/* Where the part that begins at `from` ends. */
static uint32_t part_end(const struct sink *sink, uint32_t from)
{
    const uint64_t *ids = sink->ids.data;
    uint32_t to = from + 1;
    while (to < sink->ids.count && part_of(ids[to]) == part_of(ids[from]))
        to++;
    return to;
}

/* An object and the queries of sink->ids: a message, or several. */
static void tell(struct sink *sink, struct cleave_context *context,
                 const struct cleave__found *found, uint32_t index)
{
    uint64_t *ids = sink->ids.data;
    uint32_t count = (uint32_t)sink->ids.count;
    char id[60];
    snprintf(id, sizeof id, "%" PRIu64, found->object);
    if (write_one(sink, found, ids, count, id) || sink->text.failed) {
        request(sink, context, index);
        return;
    }
    qsort(ids, count, sizeof *ids, by_part);
    bool fits = true;
    for (uint32_t from = 0; from < count && fits; from = part_end(sink, from))
        fits = write_one(sink, found, ids + from, part_end(sink, from) - from, id);
    for (uint32_t from = 0; from < count && !sink->text.failed;) {
        uint32_t to = fits ? part_end(sink, from) : from + 1;
        if (fits)
            snprintf(id, sizeof id, "%" PRIu64 ".%" PRIu32, found->object, part_of(ids[from]));
        else
            snprintf(id, sizeof id, "%" PRIu64 "-%" PRIu64, found->object, ids[from]);
        write_one(sink, found, ids + from, to - from, id);
        request(sink, context, index);
        from = to;
    }
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
        tell(sink, context, &found, index);
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
