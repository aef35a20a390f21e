#include "stream/net/tracker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/runtime.h"
#include "stream/net/log_text.h"
#include "stream/net/things.h"

enum { JOURNAL_LEAST = 1 << 18, HEAD_BYTES = 250, ID_BYTES = 23 };

struct outgoing { /* a message to the log; bytes NULL: it is there */
    uint8_t *bytes;
    size_t length;
};

struct asked { /* who is answered once so many messages are there */
    struct cleave_promise promise;
    uint64_t needs;
};

/* Messages are numbered from 1; all up to `told` are in the log, outgoing[at + i] is number
 * told + 1 + i. */
struct tracker {
    const struct cleave__net_tracker_seat *seat;
    struct cleave__net_things *things;
    uint64_t told, made;
    CLEAVE_VECTOR(struct outgoing) outgoing;
    CLEAVE_VECTOR(struct asked) asked; /* in order, from asked_at on */
    size_t at, asked_at;
    size_t snapshot_bytes, journal_bytes;
    struct cleave_writer text;
};

static void destroy(void *self)
{
    struct tracker *t = self;
    cleave__net_things_free(t->things);
    for (size_t i = t->at; i < t->outgoing.count; i++)
        free(t->outgoing.data[i].bytes);
    CLEAVE_VECTOR_FREE(&t->outgoing);
    CLEAVE_VECTOR_FREE(&t->asked);
    free(t->text.data);
    free(t);
}

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    struct tracker *t = calloc(1, sizeof *t);
    if (!t)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a tracker");
    t->seat = argument;
    enum cleave_status status = cleave__net_things_new(t->seat->world, &t->things, error);
    if (status)
        destroy(t);
    else
        *self = t;
    return status;
}

/* ---- messages ---- */

static bool add_outgoing(struct tracker *t, const uint8_t *bytes, size_t length)
{
    uint8_t *copy = malloc(length + 1);
    if (!copy || !CLEAVE_PUSH(&t->outgoing, (struct outgoing){copy, length})) {
        free(copy);
        return false;
    }
    if (length)
        memcpy(copy, bytes, length);
    return true;
}

/* One message, of so many ids of both. */
static bool write_one(struct tracker *t, const struct cleave__found *found, const uint64_t *entered,
                      uint32_t entered_count, const uint64_t *left, uint32_t left_count)
{
    struct cleave_writer *w = &t->text;
    char id[24];
    snprintf(id, sizeof id, "e%" PRIu64, ++t->made);
    cleave__log_begin(w, id, "tracker");
    cleave__log_text(w, "{\"object\":");
    cleave__log_number(w, found->object);
    cleave__log_text(w, ",\"thing\":");
    cleave__log_number(w, found->thing);
    cleave__log_text(w, ",\"sequence\":");
    cleave__log_number(w, found->sequence);
    cleave__log_text(w, ",");
    cleave__log_numbers(w, "entered", (const uint8_t *)entered, entered_count, 8);
    cleave__log_text(w, ",");
    cleave__log_numbers(w, "left", (const uint8_t *)left, left_count, 8);
    if (found->note_length) {
        cleave__log_text(w, ",\"row\":");
        cleave__put_bytes(w, found->note, found->note_length);
    }
    cleave__log_text(w, "}");
    return !w->failed && add_outgoing(t, w->data, w->count);
}

static bool passed(void *context, const struct cleave__net_passage *p)
{
    struct tracker *t = context;
    size_t room = t->seat->most - HEAD_BYTES;
    room = room > p->found->note_length ? room - p->found->note_length : 0;
    uint32_t most = room > ID_BYTES ? (uint32_t)(room / ID_BYTES) : 1;
    for (uint32_t entered = 0, left = 0; entered < p->entered_count || left < p->left_count;) {
        uint32_t e = p->entered_count - entered, l = p->left_count - left;
        e = e < most ? e : most;
        l = l < most - e ? l : most - e;
        if (!write_one(t, p->found, p->entered + entered, e, p->left + left, l))
            return false;
        entered += e;
        left += l;
    }
    return true;
}

static void send(struct tracker *t, struct cleave_context *context, uint64_t number)
{
    const struct outgoing *one = &t->outgoing.data[t->at + (number - t->told - 1)];
    if (one->bytes)
        cleave__context_request(context, t->seat->log, 0, one->bytes, one->length, 0, number);
}

/* All messages up to this one are there. */
static void forget(struct tracker *t, uint64_t told)
{
    while (t->told < told) {
        free(t->outgoing.data[t->at++].bytes);
        t->told++;
    }
    if (t->at > 1024 && t->at * 2 > t->outgoing.count) {
        t->outgoing.count -= t->at;
        memmove(t->outgoing.data, t->outgoing.data + t->at,
                t->outgoing.count * sizeof *t->outgoing.data);
        t->at = 0;
    }
}

static void answer(struct tracker *t, struct cleave_context *context)
{
    while (t->asked_at < t->asked.count && t->asked.data[t->asked_at].needs <= t->told)
        cleave__stream_answer(context, t->asked.data[t->asked_at++].promise, CLEAVE__STREAM_DONE);
    if (t->asked_at == t->asked.count)
        t->asked_at = t->asked.count = 0;
    if (t->asked_at > 1024 && t->asked_at * 2 > t->asked.count) {
        t->asked.count -= t->asked_at;
        memmove(t->asked.data, t->asked.data + t->asked_at, t->asked.count * sizeof *t->asked.data);
        t->asked_at = 0;
    }
}

static void logged(struct tracker *t, struct cleave_context *context, uint64_t number)
{
    struct outgoing *one;
    if (number <= t->told || number > t->made)
        return;
    one = &t->outgoing.data[t->at + (number - t->told - 1)];
    free(one->bytes);
    one->bytes = NULL;
    uint64_t told = t->told;
    while (told < t->made && !t->outgoing.data[t->at + (told - t->told)].bytes)
        told++;
    forget(t, told);
    answer(t, context);
}

/* ---- what is kept: u64 length of the snapshot, it, entries ---- */

/* u64 told, u64 made, messages that are not there (u32 length, bytes), things. */
static void save(struct tracker *t, struct cleave_context *context)
{
    struct cleave_writer w = {0};
    cleave__put64(&w, 0);
    cleave__put64(&w, t->told);
    cleave__put64(&w, t->made);
    for (size_t i = t->at; i < t->outgoing.count; i++) {
        const struct outgoing *one = &t->outgoing.data[i];
        cleave__put32(&w, one->bytes ? (uint32_t)one->length : 0);
        if (one->bytes)
            cleave__put_bytes(&w, one->bytes, one->length);
    }
    cleave__net_things_write(t->things, &w);
    if (w.failed) {
        cleave__stream_no_memory(context);
    } else {
        cleave__store64(w.data, w.count - 8);
        cleave__context_save(context, w.data, w.count);
    }
    t->snapshot_bytes = w.count;
    t->journal_bytes = 0;
    free(w.data);
}

/* An entry: u64 told, u32 length, what a sink told. */
static void keep(struct tracker *t, struct cleave_context *context, const uint8_t *bytes,
                 size_t length)
{
    struct cleave_writer *w = &t->text;
    if (!t->snapshot_bytes || t->journal_bytes + length > 2 * t->snapshot_bytes + JOURNAL_LEAST) {
        save(t, context);
        return;
    }
    w->count = 0;
    cleave__put64(w, t->told);
    cleave__put32(w, (uint32_t)length);
    cleave__put_bytes(w, bytes, length);
    if (w->failed)
        cleave__stream_no_memory(context);
    else
        cleave__context_append(context, w->data, w->count);
    t->journal_bytes += w->count;
}

static enum cleave_status load(struct tracker *t, const uint8_t *saved, size_t length,
                               struct cleave_error *error)
{
    struct cleave_reader r = {saved, saved + length, false};
    uint64_t snapshot = cleave__get64(&r);
    r.failed |= snapshot > cleave__left(&r);
    if (!r.failed)
        r.end = r.at + snapshot;
    t->told = cleave__get64(&r);
    t->made = cleave__get64(&r);
    r.failed |= t->made < t->told;
    for (uint64_t n = t->told; n < t->made && !r.failed; n++) {
        uint32_t bytes = cleave__get32(&r);
        const uint8_t *from = cleave__get_bytes(&r, bytes);
        if (from && !add_outgoing(t, from, bytes))
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for what a tracker kept");
        if (from && !bytes) {
            free(t->outgoing.data[t->outgoing.count - 1].bytes);
            t->outgoing.data[t->outgoing.count - 1].bytes = NULL;
        }
    }
    enum cleave_status status =
        r.failed ? CLEAVE_OK : cleave__net_things_read(t->things, &r, error);
    r.failed |= !status && cleave__left(&r);
    r.end = saved + length;
    while (!status && cleave__left(&r)) {
        bool taken;
        uint64_t told = cleave__get64(&r);
        uint32_t bytes = cleave__get32(&r);
        const uint8_t *from = cleave__get_bytes(&r, bytes);
        r.failed |= told > t->made;
        if (r.failed)
            break;
        forget(t, told);
        status = cleave__net_things_take(t->things, from, bytes, passed, t, &taken, error);
    }
    if (!status && r.failed)
        status = cleave_error_set(error, CLEAVE_CORRUPT,
                                  "what a tracker kept makes no sense near byte %zu of %zu",
                                  (size_t)(r.at - saved), length);
    t->snapshot_bytes = snapshot + 8;
    t->journal_bytes = length - t->snapshot_bytes;
    return status;
}

static void start(void *self, struct cleave_context *context, const uint8_t *saved, size_t length)
{
    struct tracker *t = self;
    struct cleave_error error;
    if (!length)
        return;
    enum cleave_status status = load(t, saved, length, &error);
    if (status) {
        cleave__context_fail(context, status, "%s", error.message);
        return;
    }
    for (uint64_t n = t->told + 1; n <= t->made; n++)
        send(t, context, n);
}

/* ---- receiving ---- */

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct tracker *t = self;
    struct cleave_error error;
    uint64_t made = t->made;
    bool taken;
    if (message->sort == CLEAVE_REPLY) {
        logged(t, context, message->tag);
        return;
    }
    if (message->kind != CLEAVE__STREAM_SEEN || message->sort != CLEAVE_REQUEST) {
        cleave__stream_corrupt(context, "a message of a kind unknown to trackers");
        return;
    }
    enum cleave_status status = cleave__net_things_take(t->things, message->body, message->length,
                                                        passed, t, &taken, &error);
    if (status) {
        cleave__context_fail(context, status, "%s", error.message);
        return;
    }
    if (taken)
        keep(t, context, message->body, message->length);
    if (!CLEAVE_PUSH(&t->asked, (struct asked){message->promise, t->made})) {
        cleave__stream_no_memory(context);
        return;
    }
    while (made < t->made)
        send(t, context, ++made);
    answer(t, context);
}

const struct cleave_actor_ops cleave__net_tracker_ops = {"tracker", create, destroy, receive,
                                                         start};
