/* What comes in, on libnats' delivery thread: into the mailbox, or before it. */
#include <stdio.h>

#include "runtime/nats/core.h"

/* ---- into the mailbox ---- */

static bool put_in_overflow(struct cleave__wire *wire, const struct cleave__record *record,
                            const uint8_t *bytes)
{
    struct cleave__bytes *overflow = &wire->overflow;
    size_t whole = cleave__record_bytes(record->size);
    if (wire->overflow_at && wire->overflow_at * 2 >= overflow->count) {
        memmove(overflow->data, overflow->data + wire->overflow_at,
                overflow->count - wire->overflow_at);
        overflow->count -= wire->overflow_at;
        wire->overflow_at = 0;
    }
    if (!CLEAVE_RESERVE(overflow, overflow->count + whole))
        return false;
    memcpy(overflow->data + overflow->count, record, sizeof *record);
    memcpy(overflow->data + overflow->count + sizeof *record, bytes, record->size);
    overflow->count += whole;
    wire->overflow_messages++;
    return true;
}

void cleave__nats_refill(struct cleave__crew *crew, struct cleave__box *box)
{
    struct cleave__wire *wire = box->wire;
    while (wire->overflow_messages) {
        const uint8_t *from = wire->overflow.data + wire->overflow_at;
        struct cleave__record record;
        memcpy(&record, from, sizeof record);
        if (!record.reserved && box->used >= box->actor->mailbox_most)
            break;
        uint8_t *to = cleave__box_append(box, &record);
        if (!to) {
            cleave__runtime_no_memory(crew->runtime);
            break;
        }
        memcpy(to, from + sizeof record, record.size);
        wire->overflow_at += cleave__record_bytes(record.size);
        wire->overflow_messages--;
        cleave__links_find(&wire->links, cleave__load32(to + 12))->staged--;
    }
    if (!wire->overflow_messages)
        wire->overflow.count = wire->overflow_at = 0;
}

struct arrival {
    struct cleave__nats *nats;
    struct cleave__box *box;
    struct cleave__link *link;
    bool loose; /* a group's */
    bool wakes;
};

/* A frame that is to be taken, numbered anew for the mailbox. Under its lock. */
static void put(struct arrival *a, struct cleave_frame frame)
{
    struct cleave__wire *wire = a->box->wire;
    struct cleave__link *link = a->link;
    struct cleave_runtime *runtime = a->nats->crew.runtime;
    bool reserved = frame.flags & CLEAVE_FRAME_REPLY, checked = runtime->options.checksums;
    uint32_t most = a->box->actor->mailbox_most;
    struct cleave__record record = {
        .size = (uint32_t)cleave__frame_bytes(&frame),
        .reserved = reserved,
        .charged = !reserved && !a->loose,
        .epoch = link->epoch,
        .sent_ns = runtime->measures ? cleave__crew_now_ns(&a->nats->crew) : 0};
    bool stages = link->staged || (!reserved && (wire->overflow_messages || a->box->used >= most));
    if (stages && a->loose && wire->overflow_messages / CLEAVE__LOOSE_MOST >= most) {
        wire->lost++; /* whoever asks a group asks again */
        return;
    }
    frame.receiver = a->box->actor->number;
    frame.sequence = link->given + 1;
    bool good;
    if (stages) {
        uint8_t *bytes = malloc(record.size);
        good = bytes;
        if (good)
            cleave__frame_encode(&frame, checked, bytes);
        good = good && put_in_overflow(wire, &record, bytes);
        link->staged += good;
        free(bytes);
    } else {
        uint8_t *to = cleave__box_append(a->box, &record);
        good = to;
        if (good) {
            cleave__frame_encode(&frame, checked, to);
            a->wakes = a->wakes || !a->box->scheduled;
            a->box->scheduled = true;
        }
    }
    if (!good) {
        cleave__runtime_no_memory(runtime);
        return;
    }
    link->given++;
    link->held += record.charged;
    if (link->held > link->seen) /* its envelope said less than it held: not of ours */
        link->seen = link->held;
}

void cleave__nats_answer(struct cleave__wire *wire, uint32_t from, uint64_t correlation,
                         uint32_t kind, const void *body, size_t length)
{
    struct cleave__nats *nats = wire->nats;
    struct arrival a = {.nats = nats, .box = wire->box};
    const struct cleave_frame frame = {.kind = kind,
                                       .sender = from,
                                       .length = (uint32_t)length,
                                       .flags = CLEAVE_FRAME_REPLY,
                                       .correlation = correlation,
                                       .body = body};
    bool has_room = false;
    pthread_mutex_lock(&wire->box->lock);
    a.link = cleave__links_need(&wire->links, from);
    if (a.link) {
        put(&a, frame);
        a.link->credited++;
        has_room = a.link->waiting;
        if (has_room)
            atomic_fetch_sub(&nats->waiting, 1);
        a.link->waiting = false;
    }
    pthread_mutex_unlock(&wire->box->lock);
    if (!a.link)
        cleave__runtime_no_memory(nats->crew.runtime);
    if (a.wakes)
        cleave__crew_runnable(&nats->crew, NULL, wire->box);
    if (has_room)
        cleave__crew_wake(&nats->crew, NULL, wire->box);
    if (a.wakes || has_room)
        cleave__crew_call(&nats->crew);
}

static bool take_frame(struct arrival *a, const struct cleave__envelope *envelope,
                       const uint8_t *bytes, size_t size)
{
    struct cleave_frame frame;
    struct cleave_error error;
    if (cleave__frame_decode(bytes, size, false, &frame, &error) ||
        frame.sender != envelope->sender || frame.receiver != envelope->receiver ||
        frame.flags & CLEAVE_FRAME_TIMER)
        return false;
    if (a->loose || cleave__link_take(a->link, frame.sequence, &a->box->wire->lost))
        put(a, frame);
    return true;
}

/* Pieces come one after the other; one that is lost takes its frame along. */
static bool take_piece(struct arrival *a, const struct cleave__envelope *envelope)
{
    struct cleave__bytes *piece = &a->link->piece;
    if (envelope->offset == 0)
        piece->count = 0;
    if (envelope->offset != piece->count)
        return false;
    size_t most = CLEAVE_FRAME_HEADER_BYTES + (size_t)CLEAVE_FRAME_BODY_MOST;
    if (piece->count + envelope->length > most ||
        !CLEAVE_RESERVE(piece, piece->count + envelope->length)) {
        piece->count = 0;
        return false;
    }
    if (envelope->length)
        memcpy(piece->data + piece->count, envelope->content, envelope->length);
    piece->count += envelope->length;
    if (piece->count < CLEAVE_FRAME_HEADER_BYTES ||
        piece->count < CLEAVE_FRAME_HEADER_BYTES + (size_t)cleave__load32(piece->data + 8))
        return true;
    bool good = take_frame(a, envelope, piece->data, piece->count);
    free(piece->data);
    *piece = (struct cleave__bytes){0};
    return good;
}

static bool take_content(struct arrival *a, const struct cleave__envelope *envelope)
{
    struct cleave_reader reader = {envelope->content, envelope->content + envelope->length, false};
    const uint8_t *frame;
    size_t size;
    bool good = true;
    switch (envelope->sort) {
    case CLEAVE__ENVELOPE_FRAMES:
        while (good && cleave__envelope_next(&reader, &frame, &size))
            good = take_frame(a, envelope, frame, size);
        return good && !reader.failed;
    case CLEAVE__ENVELOPE_PIECE:
        return take_piece(a, envelope);
    case CLEAVE__ENVELOPE_PROBE: /* what is missing up to here is lost */
        cleave__link_skip(a->link, cleave__get64(&reader), &a->box->wire->lost);
        return true;
    default:
        return true;
    }
}

/* Whose messages may come to whom. */
static struct cleave__box *receiver_of(struct cleave__nats *nats, const struct cleave__ear *ear,
                                       const struct cleave__envelope *envelope)
{
    bool loose = envelope->flags & CLEAVE__ENVELOPE_GROUP;
    if (envelope->receiver >= nats->boxes.count || envelope->sender >= nats->boxes.count ||
        envelope->sender == 0 || loose != (ear->member > 0))
        return NULL;
    struct cleave__box *sender = nats->boxes.data[envelope->sender];
    struct cleave__box *box = nats->boxes.data[loose ? ear->member : envelope->receiver];
    if (!sender || !box || !cleave__nats_is_here(box) || !box->actor->number)
        return NULL;
    bool elsewhere = sender->actor->sort == CLEAVE__ACTOR_ELSEWHERE;
    return elsewhere || (cleave__nats_is_here(sender) && envelope->life == nats->life) ? box : NULL;
}

static bool take_envelope(struct cleave__nats *nats, struct cleave__box *box,
                          const struct cleave__envelope *envelope)
{
    struct cleave__wire *wire = box->wire;
    struct arrival a = {
        .nats = nats, .box = box, .loose = envelope->flags & CLEAVE__ENVELOPE_GROUP};
    bool good = true, told = false, has_room = false;
    pthread_mutex_lock(&box->lock);
    a.link = cleave__links_need(&wire->links, envelope->sender);
    if (!a.link) {
        cleave__runtime_no_memory(nats->crew.runtime);
    } else if (cleave__link_hear(a.link, envelope, nats->life)) {
        good = take_content(&a, envelope);
        told = envelope->sort == CLEAVE__ENVELOPE_PROBE;
        if (a.link->waiting &&
            cleave__link_has_credit(a.link,
                                    nats->boxes.data[envelope->sender]->actor->mailbox_most)) {
            a.link->waiting = false;
            atomic_fetch_sub(&nats->waiting, 1);
            has_room = true;
        }
    }
    pthread_mutex_unlock(&box->lock);
    if (a.wakes)
        cleave__crew_runnable(&nats->crew, NULL, box);
    if (has_room)
        cleave__crew_wake(&nats->crew, NULL, box);
    if (a.wakes || has_room)
        cleave__crew_call(&nats->crew);
    if (told)
        cleave__nats_tell(wire, a.link, CLEAVE__ENVELOPE_CREDIT);
    return good;
}

/* ---- marks ---- */

void cleave__nats_mark(struct cleave__nats *nats)
{
    uint8_t bytes[CLEAVE__ENVELOPE_BYTES];
    char subject[CLEAVE__SUBJECT_BYTES];
    struct cleave__envelope envelope = {.sort = CLEAVE__ENVELOPE_MARK, .life = nats->life};
    snprintf(subject, sizeof subject, "%s.p.%llu", nats->dial.prefix,
             (unsigned long long)nats->life);
    pthread_mutex_lock(&nats->publish_lock);
    envelope.charged = nats->published;
    cleave__envelope_write(&envelope, bytes, sizeof bytes);
    cleave__nats_publish(nats, subject, bytes, sizeof bytes, false);
    pthread_mutex_unlock(&nats->publish_lock);
}

/* Whether to ask now: each time in vain, twice as long after the last. */
static bool is_due(const struct cleave__link *link, uint64_t now_ns, uint64_t probe_ns)
{
    return link->waiting &&
           (!probe_ns || link->waiting_since_ns + (probe_ns << link->probes) <= now_ns);
}

void cleave__nats_probe(struct cleave__nats *nats, uint64_t probe_ns)
{
    uint64_t now_ns = cleave__crew_now_ns(&nats->crew);
    for (size_t b = 1; b < nats->boxes.count; b++) {
        struct cleave__box *box = nats->boxes.data[b];
        if (!box || !cleave__nats_is_here(box))
            continue;
        struct cleave__links *links = &box->wire->links;
        for (uint32_t s = 0;; s++) {
            pthread_mutex_lock(&box->lock);
            struct cleave__link *link = NULL;
            for (; links->slots && s <= links->mask; s++) {
                link = links->slots[s];
                if (link && is_due(link, now_ns, probe_ns) &&
                    nats->boxes.data[link->peer]->actor->sort != CLEAVE__ACTOR_LOG)
                    break;
                link = NULL;
            }
            if (link) {
                link->waiting_since_ns = now_ns;
                link->probes += link->probes < CLEAVE__PROBES_MOST ? 1 : 0;
            }
            pthread_mutex_unlock(&box->lock);
            if (!link)
                break;
            cleave__nats_tell(box->wire, link, CLEAVE__ENVELOPE_PROBE);
        }
    }
}

static void take_mark(struct cleave__nats *nats, uint64_t published)
{
    if (published <= nats->resolved)
        return;
    uint64_t sent = published - nats->resolved;
    uint64_t missing = sent > nats->arrived ? sent - nats->arrived : 0;
    nats->arrived = 0;
    nats->resolved = published;
    cleave__nats_probe(nats, 0); /* before anybody thinks that all is over */
    atomic_fetch_sub(&nats->crew.active, (unsigned)missing);
}

void cleave__nats_announce(struct cleave__nats *nats, const struct cleave__box *box)
{
    uint8_t bytes[CLEAVE__ENVELOPE_BYTES];
    struct cleave__envelope envelope = {.sort = CLEAVE__ENVELOPE_BEGUN,
                                        .sender = box->actor->number,
                                        .receiver = box->actor->number,
                                        .life = nats->life};
    cleave__envelope_write(&envelope, bytes, sizeof bytes);
    cleave__nats_publish(nats, box->wire->subject, bytes, sizeof bytes, false);
}

static void take_begun(struct cleave__nats *nats, const struct cleave__envelope *envelope)
{
    if (envelope->life > nats->life && envelope->receiver < nats->boxes.count &&
        nats->boxes.data[envelope->receiver])
        cleave__nats_superseded(nats, nats->boxes.data[envelope->receiver]->actor);
}

void cleave__nats_refuse(struct cleave__nats *nats)
{
    atomic_fetch_add(&nats->refused, 1);
    cleave__counter_add(nats->told_refused, 1);
}

void cleave__nats_arrive(natsConnection *connection, natsSubscription *subscription,
                         natsMsg *message, void *closure)
{
    struct cleave__ear *ear = closure;
    struct cleave__nats *nats = ear->nats;
    struct cleave__envelope envelope;
    struct cleave_error error;
    (void)connection, (void)subscription;
    /* No run ends while a mailbox counts as noticed whose actor is not in a queue yet: timers that
     * are due then would be the last. */
    unsigned counted = 1;
    atomic_fetch_add(&nats->crew.active, 1);
    pthread_mutex_lock(&nats->lock);
    bool good = !cleave__envelope_read((const uint8_t *)natsMsg_GetData(message),
                                       (size_t)natsMsg_GetDataLength(message), &envelope, &error);
    bool own = good && envelope.life == nats->life;
    if (good && own && envelope.sort == CLEAVE__ENVELOPE_MARK) {
        take_mark(nats, envelope.charged);
    } else if (good && envelope.sort == CLEAVE__ENVELOPE_BEGUN) {
        take_begun(nats, &envelope);
    } else if (good && !nats->closing) {
        struct cleave__box *box = receiver_of(nats, ear, &envelope);
        good = box && take_envelope(nats, box, &envelope);
    }
    if (own && envelope.number > nats->resolved) {
        nats->arrived++;
        counted++;
    }
    if (!good)
        cleave__nats_refuse(nats);
    if (atomic_fetch_sub(&nats->crew.active, counted) == counted)
        cleave__crew_call(&nats->crew);
    pthread_mutex_unlock(&nats->lock);
    natsMsg_Destroy(message);
}
