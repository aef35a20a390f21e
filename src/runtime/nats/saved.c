#include "runtime/nats/saved.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/clock.h"

enum {
    MAGIC = 0x7363,
    VERSION = 1,
    WHOLE = 1, /* sorts: changes, */
    FIRST = 2, /* or a piece of them */
    MIDDLE = 3,
    LAST = 4,
    SAVED = 1,
    APPENDED = 2,
    CHANGE_BYTES = 5,
    WINDOW_S = 600,
    TRY_NS = 100000000,
    WRONG_LAST_SEQUENCE = 10164 /* as of ask.c */
};
static const uint64_t THIS_TURN = UINT64_MAX, RESTORE_NS = UINT64_C(30000000000);

/* ---- changes ---- */

static void put_change(struct cleave_writer *out, bool anew, const void *bytes, size_t length)
{
    if (anew)
        out->count = 0; /* what was before it does not matter */
    cleave__put8(out, anew ? SAVED : APPENDED);
    cleave__put32(out, (uint32_t)length);
    if (length)
        cleave__put_bytes(out, bytes, length);
}

bool cleave__saved_note(struct cleave__saved *saved, bool anew, const void *bytes, size_t length)
{
    put_change(&saved->turn, anew, bytes, length);
    return !saved->turn.failed;
}

bool cleave__saved_apply(struct cleave_writer *out, const uint8_t *changes, size_t size)
{
    struct cleave_reader reader = {changes, changes + size, false};
    while (cleave__left(&reader)) {
        const uint8_t *sort = cleave__get_bytes(&reader, 1);
        uint32_t length = cleave__get32(&reader);
        const uint8_t *bytes = cleave__get_bytes(&reader, length);
        if (!bytes || (*sort != SAVED && *sort != APPENDED))
            return false;
        if (*sort == SAVED)
            out->count = 0;
        if (length)
            cleave__put_bytes(out, bytes, length);
    }
    return !reader.failed;
}

/* ---- messages ---- */

static uint32_t checksum_of(const uint8_t *bytes, size_t size)
{
    return (uint32_t)XXH3_64bits_withSeed(bytes + 8, size - 8, cleave__load32(bytes));
}

static uint8_t *write_message(const struct cleave__saved *saved, uint8_t sort,
                              const uint8_t *content, size_t length)
{
    size_t size = CLEAVE__SAVED_HEAD_BYTES + length;
    uint8_t *bytes = calloc(1, size);
    if (!bytes)
        return NULL;
    cleave__store16(bytes, MAGIC);
    bytes[2] = VERSION;
    bytes[3] = sort;
    cleave__store64(bytes + 8, saved->nats->life);
    cleave__store64(bytes + 16, saved->writes);
    if (length)
        memcpy(bytes + CLEAVE__SAVED_HEAD_BYTES, content, length);
    cleave__store32(bytes + 4, checksum_of(bytes, size));
    return bytes;
}

static bool is_message(const uint8_t *bytes, size_t size)
{
    return size >= CLEAVE__SAVED_HEAD_BYTES && cleave__load16(bytes) == MAGIC &&
           bytes[2] == VERSION && bytes[3] >= WHOLE && bytes[3] <= LAST &&
           cleave__load32(bytes + 4) == checksum_of(bytes, size);
}

/* ---- writing ---- */

static void done(struct cleave__ask *ask, const struct cleave__ack *ack);

static void stream_name(const struct cleave__saved *saved, char *out)
{
    char number[12];
    snprintf(number, sizeof number, "%u", saved->wire->box->actor->number);
    cleave__nats_stream_name(saved->nats->dial.prefix, "saved", number, out);
}

static void purged(struct cleave__ask *ask, const struct cleave__ack *ack)
{
    (void)ask, (void)ack;
}

/* What was before a save in pieces. */
static void purge(struct cleave__saved *saved)
{
    struct cleave__ask *ask = calloc(1, sizeof *ask);
    char name[CLEAVE__SUBJECT_BYTES];
    if (!ask || !(ask->bytes = malloc(CLEAVE__SUBJECT_BYTES + 60))) {
        free(ask);
        cleave__runtime_no_memory(saved->nats->crew.runtime);
        return;
    }
    ask->nats = saved->nats;
    ask->done = purged;
    stream_name(saved, name);
    snprintf(ask->subject, sizeof ask->subject, "$JS.API.STREAM.PURGE.%.150s", name);
    ask->size = (size_t)snprintf((char *)ask->bytes, CLEAVE__SUBJECT_BYTES + 60,
                                 "{\"seq\":%" PRIu64 "}", saved->first);
    cleave__ask_begin(ask);
}

/* Under the lock: the next message of what is under way. */
static void write_next(struct cleave__saved *saved)
{
    size_t most = saved->nats->dial.payload_most - 1024 - CLEAVE__SAVED_HEAD_BYTES;
    size_t left = saved->writing.count - saved->written, length = left < most ? left : most;
    bool whole = saved->writing.count <= most;
    uint8_t sort = whole ? WHOLE : !saved->written ? FIRST : length == left ? LAST : MIDDLE;
    struct cleave__ask *ask = calloc(1, sizeof *ask);
    saved->writes++;
    uint8_t *bytes =
        ask ? write_message(saved, sort, saved->writing.data + saved->written, length) : NULL;
    if (!bytes) {
        free(ask);
        cleave__runtime_no_memory(saved->nats->crew.runtime);
        return;
    }
    ask->nats = saved->nats;
    ask->done = done;
    ask->context = saved;
    ask->bytes = bytes;
    ask->size = CLEAVE__SAVED_HEAD_BYTES + length;
    ask->correlation = length;
    ask->expects = true;
    ask->expected = saved->last;
    ask->rolls_up = whole && saved->writing.data[0] == SAVED;
    snprintf(ask->subject, sizeof ask->subject, "%s", saved->subject);
    snprintf(ask->id, sizeof ask->id, "%u-%" PRIu64 "-%" PRIu64, saved->wire->box->actor->number,
             saved->nats->life, saved->writes);
    cleave__ask_begin(ask);
}

/* Under the lock. */
static void write_more(struct cleave__saved *saved)
{
    if (saved->busy || !saved->unwritten.count)
        return;
    struct cleave_writer empty = saved->writing;
    saved->writing = saved->unwritten;
    saved->unwritten = empty;
    saved->unwritten.count = 0;
    saved->written = 0;
    saved->begun = saved->made;
    saved->busy = true;
    write_next(saved);
}

/* Under the lock: what needs no more than is done leaves. */
static void release(struct cleave__saved *saved)
{
    while (saved->held_at < saved->held.count &&
           saved->held.data[saved->held_at].needs <= saved->done) {
        struct cleave__held held = saved->held.data[saved->held_at++];
        saved->held_bytes -= held.size;
        if (held.ask)
            cleave__ask_begin(held.ask);
        else
            cleave__nats_publish_held(saved->nats, held.to, held.bytes, held.size);
        if (!held.ask && cleave__nats_is_here(held.to))
            atomic_fetch_sub(&saved->nats->crew.active, 1); /* it was counted while held */
        free(held.bytes);
    }
    if (saved->held_at == saved->held.count)
        saved->held_at = saved->held.count = 0;
}

static bool is_full(const struct cleave__saved *saved)
{
    return saved->held_bytes + saved->unwritten.count > CLEAVE__HELD_MOST;
}

enum whose { UNDER_WAY, ANOTHERS, UNKNOWN };

/* Who wrote the last message, which is not the expected one: this process what is under way, whose
 * acknowledgement was lost and which was compared with itself when it came again; or another. Not
 * known while no leader answers, or one that is behind. Blocks. */
static enum whose whose_is_last(const struct cleave__saved *saved, uint64_t *sequence)
{
    char name[CLEAVE__SUBJECT_BYTES];
    enum whose whose = UNKNOWN;
    natsMsg *message = NULL;
    jsCtx *js = NULL;
    stream_name(saved, name);
    natsStatus status = natsConnection_JetStream(&js, saved->nats->dial.connection, NULL);
    if (!status)
        status = js_GetLastMsg(&message, js, name, saved->subject, NULL, NULL);
    if (!status && natsMsg_GetSequence(message) > saved->last) {
        const uint8_t *bytes = (const uint8_t *)natsMsg_GetData(message);
        bool ours = is_message(bytes, (size_t)natsMsg_GetDataLength(message)) &&
                    cleave__load64(bytes + 8) == saved->nats->life &&
                    cleave__load64(bytes + 16) == saved->writes;
        whose = ours ? UNDER_WAY : ANOTHERS;
        *sequence = natsMsg_GetSequence(message);
    }
    natsMsg_Destroy(message);
    jsCtx_Destroy(js);
    return whose;
}

static void done(struct cleave__ask *ask, const struct cleave__ack *ack)
{
    struct cleave__saved *saved = ask->context;
    uint64_t sequence = ack->sequence;
    if (ack->conflict) {
        enum whose whose = whose_is_last(saved, &sequence);
        if (whose == ANOTHERS) {
            cleave__nats_superseded(saved->nats, saved->wire->box->actor);
            return;
        }
        if (whose == UNKNOWN) { /* the same again */
            pthread_mutex_lock(&saved->lock);
            saved->writes--;
            write_next(saved);
            pthread_mutex_unlock(&saved->lock);
            return;
        }
    }
    pthread_mutex_lock(&saved->lock);
    bool was_full = is_full(saved);
    if (saved->written == 0)
        saved->first = sequence;
    saved->last = sequence;
    saved->written += ask->correlation;
    if (saved->written < saved->writing.count) {
        write_next(saved);
    } else {
        if (saved->writing.data[0] == SAVED && !ask->rolls_up)
            purge(saved);
        saved->done = saved->begun;
        saved->busy = false;
        saved->writing.count = 0;
        release(saved);
        write_more(saved);
    }
    bool wakes = was_full && !is_full(saved);
    pthread_mutex_unlock(&saved->lock);
    if (wakes) {
        cleave__crew_wake(&saved->nats->crew, NULL, saved->wire->box);
        cleave__crew_call(&saved->nats->crew);
    }
}

/* ---- around a turn ---- */

void cleave__saved_turn(struct cleave__saved *saved)
{
    struct cleave_writer *turn = &saved->turn;
    pthread_mutex_lock(&saved->lock);
    if (turn->count) {
        saved->made++;
        if (turn->data[0] == SAVED)
            saved->unwritten.count = 0;
        cleave__put_bytes(&saved->unwritten, turn->data, turn->count);
        turn->count = 0;
        if (saved->unwritten.failed)
            cleave__runtime_no_memory(saved->nats->crew.runtime);
        else
            write_more(saved);
    }
    for (size_t h = saved->held.count; h-- > saved->held_at;) {
        if (saved->held.data[h].needs != THIS_TURN)
            break;
        saved->held.data[h].needs = saved->made;
    }
    release(saved);
    pthread_mutex_unlock(&saved->lock);
}

bool cleave__saved_hold(struct cleave__saved *saved, const struct cleave__box *to,
                        const uint8_t *bytes, size_t size, struct cleave__ask *ask)
{
    pthread_mutex_lock(&saved->lock);
    struct cleave__held held = {.needs = THIS_TURN, .ask = ask, .to = to, .size = size};
    bool good = true;
    if (!ask) {
        held.bytes = malloc(size);
        if (held.bytes)
            memcpy(held.bytes, bytes, size);
        good = held.bytes;
    }
    good = good && CLEAVE_PUSH(&saved->held, held);
    if (good && !ask && cleave__nats_is_here(to))
        atomic_fetch_add(&saved->nats->crew.active, 1);
    saved->held_bytes += good ? size : 0;
    pthread_mutex_unlock(&saved->lock);
    if (!good) {
        free(held.bytes);
        cleave__runtime_no_memory(saved->nats->crew.runtime);
    }
    return good;
}

bool cleave__saved_is_full(struct cleave__saved *saved)
{
    pthread_mutex_lock(&saved->lock);
    bool full = is_full(saved);
    pthread_mutex_unlock(&saved->lock);
    return full;
}

/* ---- reading ---- */

/* What was read so far: whole messages are applied, pieces put together first. */
struct reading {
    struct cleave_writer saved, pieces;
    bool in_pieces;
};

static bool take_message(struct reading *reading, const uint8_t *bytes, size_t size)
{
    if (!is_message(bytes, size))
        return false;
    const uint8_t *content = bytes + CLEAVE__SAVED_HEAD_BYTES;
    size_t length = size - CLEAVE__SAVED_HEAD_BYTES;
    if (bytes[3] == WHOLE || bytes[3] == FIRST) /* pieces that were never finished do not count */
        reading->pieces.count = 0;
    if (bytes[3] == WHOLE)
        return cleave__saved_apply(&reading->saved, content, length);
    if (bytes[3] != FIRST && !reading->in_pieces)
        return false;
    reading->in_pieces = bytes[3] != LAST;
    cleave__put_bytes(&reading->pieces, content, length);
    return bytes[3] != LAST ||
           cleave__saved_apply(&reading->saved, reading->pieces.data, reading->pieces.count);
}

/* The stream's last message: its number (0: there was none), and the life that wrote it (0: purged,
 * or not ours to read). */
static natsStatus find_last(const struct cleave__saved *saved, jsCtx *js, const char *stream,
                            uint64_t *sequence, uint64_t *life, jsErrCode *code)
{
    jsStreamInfo *info = NULL;
    natsMsg *message = NULL;
    *sequence = *life = 0;
    natsStatus status = js_GetStreamInfo(&info, js, stream, NULL, code);
    if (status)
        return status;
    *sequence = info->State.LastSeq;
    bool there = info->State.Msgs > 0;
    jsStreamInfo_Destroy(info);
    if (!there)
        return NATS_OK;
    status = js_GetLastMsg(&message, js, stream, saved->subject, NULL, code);
    if (status == NATS_NOT_FOUND)
        return NATS_OK;
    if (status)
        return status;
    const uint8_t *bytes = (const uint8_t *)natsMsg_GetData(message);
    if (natsMsg_GetSequence(message) != *sequence) /* another came meanwhile */
        status = NATS_TIMEOUT;
    else if (is_message(bytes, (size_t)natsMsg_GetDataLength(message)))
        *life = cleave__load64(bytes + 8);
    natsMsg_Destroy(message);
    return status;
}

/* A message without changes behind the last one: from here on no other process can write, for each
 * names what it wrote last. This process's life is made later than that one's, whatever the clocks:
 * whoever fences last is the one that all others hear. NATS_TIMEOUT: somebody was faster, again. */
static natsStatus fence(struct cleave__saved *saved, jsCtx *js, const char *stream, jsErrCode *code)
{
    uint64_t last, life;
    char number[24];
    natsMsg *message = NULL;
    jsPubAck *ack = NULL;
    natsStatus status = find_last(saved, js, stream, &last, &life, code);
    if (status)
        return status;
    if (life > saved->nats->life)
        saved->nats->life = life + 1;
    uint8_t *bytes = write_message(saved, WHOLE, NULL, 0);
    if (!bytes)
        return NATS_NO_MEMORY;
    snprintf(number, sizeof number, "%" PRIu64, last);
    status = natsMsg_Create(&message, saved->subject, NULL, (const char *)bytes,
                            CLEAVE__SAVED_HEAD_BYTES);
    if (!status)
        status = natsMsgHeader_Set(message, "Nats-Expected-Last-Sequence", number);
    if (!status)
        status = js_PublishMsg(&ack, js, message, NULL, code);
    if (!status)
        saved->last = ack->Sequence;
    else if ((int)*code == JSStreamWrongLastSequenceErr || (int)*code == WRONG_LAST_SEQUENCE)
        status = NATS_TIMEOUT;
    jsPubAck_Destroy(ack);
    natsMsg_Destroy(message);
    free(bytes);
    return status;
}

/* All messages up to the fence. */
static natsStatus read_all(const struct cleave__saved *saved, jsCtx *js, const char *stream,
                           struct reading *reading, bool *corrupt)
{
    natsSubscription *subscription = NULL;
    jsSubOptions options;
    jsErrCode code = 0;
    jsSubOptions_Init(&options);
    options.Stream = stream;
    options.Ordered = true;
    natsStatus status = js_SubscribeSync(&subscription, js, saved->subject, NULL, &options, &code);
    if (!status)
        status = natsSubscription_SetPendingLimits(subscription, -1, -1);
    for (uint64_t at = 0; !status && at < saved->last;) {
        natsMsg *message = NULL;
        status = natsSubscription_NextMsg(&message, subscription, 5000);
        if (status)
            break;
        jsMsgMetaData *about = NULL;
        status = natsMsg_GetMetaData(&about, message);
        at = status ? UINT64_MAX : about->Sequence.Stream;
        jsMsgMetaData_Destroy(about);
        *corrupt = *corrupt || (at <= saved->last &&
                                !take_message(reading, (const uint8_t *)natsMsg_GetData(message),
                                              (size_t)natsMsg_GetDataLength(message)));
        natsMsg_Destroy(message);
    }
    cleave__dial_unsubscribe(&saved->nats->dial, subscription);
    return status;
}

static natsStatus read_once(struct cleave__saved *saved, jsCtx *js, const char *stream,
                            struct reading *reading, bool *corrupt, jsErrCode *code)
{
    natsStatus status = fence(saved, js, stream, code);
    reading->saved.count = reading->pieces.count = 0;
    reading->in_pieces = *corrupt = false;
    return status ? status : read_all(saved, js, stream, reading, corrupt);
}

static enum cleave_status restore(struct cleave__saved *saved, jsCtx *js,
                                  struct cleave_error *error)
{
    struct cleave__actor *actor = saved->wire->box->actor;
    struct reading reading = {.in_pieces = false};
    char stream[CLEAVE__SUBJECT_BYTES], what[CLEAVE__SUBJECT_BYTES];
    bool corrupt = false;
    natsStatus status = NATS_OK;
    jsErrCode code = 0;
    stream_name(saved, stream);
    /* The stream may have no leader for some seconds. */
    uint64_t until_ns = cleave__crew_now_ns(&saved->nats->crew) + RESTORE_NS;
    struct cleave_runtime *runtime = saved->nats->crew.runtime;
    /* What the server forbids is heard of elsewhere. */
    while (cleave__crew_now_ns(&saved->nats->crew) < until_ns && !cleave__runtime_failed(runtime)) {
        code = 0;
        status = read_once(saved, js, stream, &reading, &corrupt, &code);
        if (corrupt || !(cleave__dial_passes(status) || code == JSClusterNotAvailErr))
            break;
        cleave__nap_ns(TRY_NS);
    }
    enum cleave_status done = CLEAVE_OK;
    snprintf(what, sizeof what, "%.80s: what it saved, in the stream %.80s", actor->name, stream);
    if (corrupt)
        done =
            cleave_error_set(error, CLEAVE_CORRUPT,
                             "%s, is not what cleave writes there: purge it to begin anew", what);
    else if (cleave__runtime_failed(runtime))
        done = cleave_error_set(error, runtime->failure.status, "%s", runtime->failure.message);
    else if (status)
        done = cleave__stream_refused(error, status, code, what);
    else if (reading.saved.failed || reading.pieces.failed ||
             !CLEAVE_RESERVE(&actor->saved, reading.saved.count + 1))
        done = cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: no memory", what);
    if (!done && reading.saved.count)
        memcpy(actor->saved.data, reading.saved.data, reading.saved.count);
    if (!done)
        actor->saved.count = reading.saved.count;
    free(reading.saved.data);
    free(reading.pieces.data);
    return done;
}

static enum cleave_status make_stream(const struct cleave__saved *saved, jsCtx *js,
                                      struct cleave_error *error)
{
    struct cleave__stream_wish wish = {.window_ns = WINDOW_S * UINT64_C(1000000000),
                                       .rolls_up = true};
    stream_name(saved, wish.name);
    snprintf(wish.subject, sizeof wish.subject, "%s", saved->subject);
    return cleave__stream_make(&saved->nats->dial, js, &wish, error);
}

enum cleave_status cleave__saved_open(struct cleave__wire *wire, jsCtx *js,
                                      struct cleave_error *error)
{
    struct cleave__saved *saved = calloc(1, sizeof *saved);
    if (!saved)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for an actor's journal");
    saved->nats = wire->nats;
    saved->wire = wire;
    snprintf(saved->subject, sizeof saved->subject, "%s.s.%u", wire->nats->dial.prefix,
             wire->box->actor->number);
    pthread_mutex_init(&saved->lock, NULL);
    enum cleave_status status = make_stream(saved, js, error);
    if (!status)
        status = restore(saved, js, error);
    if (status)
        cleave__saved_free(saved);
    else
        wire->saved = saved;
    return status;
}

void cleave__saved_free(struct cleave__saved *saved)
{
    if (!saved)
        return;
    for (size_t h = saved->held_at; h < saved->held.count; h++) {
        if (saved->held.data[h].ask)
            cleave__ask_free(saved->held.data[h].ask);
        free(saved->held.data[h].bytes);
    }
    CLEAVE_VECTOR_FREE(&saved->held);
    free(saved->turn.data);
    free(saved->unwritten.data);
    free(saved->writing.data);
    pthread_mutex_destroy(&saved->lock);
    free(saved);
}
