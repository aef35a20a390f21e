/* What leaves: frames into a link's batch, batches to the server at a turn's end, credit. */
#include <assert.h>
#include <stdio.h>

#include "runtime/nats/saved.h"

static struct cleave__nats *nats_of(struct cleave_context *context)
{
    return context->runtime->state;
}

/* ---- to the server ---- */

void cleave__nats_publish(struct cleave__nats *nats, const char *subject, const void *bytes,
                          size_t size, bool here)
{
    if (here)
        atomic_fetch_add(&nats->crew.active, 1);
    natsStatus status = natsConnection_Publish(nats->dial.connection, subject, bytes, (int)size);
    if (!status)
        return;
    /* Without a connection, or as it breaks: lost, or sent by the next one. The mark then tells. */
    if (status == NATS_NO_MEMORY)
        cleave__runtime_no_memory(nats->crew.runtime);
    else if (status != NATS_INSUFFICIENT_BUFFER && status != NATS_CONNECTION_DISCONNECTED &&
             status != NATS_IO_ERROR && status != NATS_TIMEOUT && status != NATS_SSL_ERROR &&
             status != NATS_STALE_CONNECTION && status != NATS_CONNECTION_CLOSED)
        cleave__nats_fail(nats, CLEAVE_IO, "cannot send to the NATS server: %s",
                          natsStatus_GetText(status));
}

static const struct cleave__box *peer_of(const struct cleave__wire *wire, uint32_t peer)
{
    return wire->nats->crew.runtime->actors.data[peer]->mail;
}

/* Under the lock of the link's mailbox: what every envelope says. */
static struct cleave__envelope describe(struct cleave__wire *wire, struct cleave__link *link,
                                        enum cleave__envelope_sort sort,
                                        const struct cleave__box *to)
{
    struct cleave__nats *nats = wire->nats;
    struct cleave__envelope envelope = {
        .sort = sort,
        .sender = wire->box->actor->number,
        .receiver = link->peer,
        .life = nats->life,
        .receiver_life = link->life,
        .charged = sort == CLEAVE__ENVELOPE_FRAMES ? link->charged : link->gone_charged,
        .credit = cleave__link_credit(link)};
    link->told = envelope.credit;
    link->owes = false;
    if (!cleave__link_has_credit(link, to->actor->mailbox_most))
        envelope.flags = CLEAVE__ENVELOPE_STARVED;
    if (to->actor->sort == CLEAVE__ACTOR_GROUP)
        envelope.flags = CLEAVE__ENVELOPE_GROUP;
    return envelope;
}

/* Those that come back are numbered as they leave, so that a mark is behind all that it counts. */
void cleave__nats_publish_held(struct cleave__nats *nats, const struct cleave__box *to,
                               uint8_t *bytes, size_t size)
{
    bool here = cleave__nats_is_here(to);
    if (here) {
        pthread_mutex_lock(&nats->publish_lock);
        cleave__envelope_renumber(bytes, size, ++nats->published);
    }
    cleave__nats_publish(nats, to->wire->subject, bytes, size, here);
    if (here)
        pthread_mutex_unlock(&nats->publish_lock);
}

static void post(struct cleave__wire *wire, const struct cleave__box *to,
                 struct cleave__envelope *envelope, uint8_t *bytes, size_t size)
{
    bool here = cleave__nats_is_here(to);
    bool carries =
        envelope->sort == CLEAVE__ENVELOPE_FRAMES || envelope->sort == CLEAVE__ENVELOPE_PIECE;
    if (wire->saved && carries) {
        cleave__envelope_write(envelope, bytes, size);
        cleave__saved_hold(wire->saved, to, bytes, size, NULL);
        return;
    }
    struct cleave__nats *nats = wire->nats;
    envelope->number = 0;
    if (here) {
        pthread_mutex_lock(&nats->publish_lock);
        envelope->number = ++nats->published;
    }
    cleave__envelope_write(envelope, bytes, size);
    cleave__nats_publish(nats, to->wire->subject, bytes, size, here);
    if (here)
        pthread_mutex_unlock(&nats->publish_lock);
}

void cleave__nats_tell(struct cleave__wire *wire, struct cleave__link *link,
                       enum cleave__envelope_sort sort)
{
    uint8_t bytes[CLEAVE__ENVELOPE_BYTES + 8];
    bool probes = sort == CLEAVE__ENVELOPE_PROBE;
    const struct cleave__box *to = wire->nats->boxes.data[link->peer];
    pthread_mutex_lock(&wire->box->lock);
    struct cleave__envelope envelope = describe(wire, link, sort, to);
    cleave__store64(bytes + CLEAVE__ENVELOPE_BYTES, link->gone);
    pthread_mutex_unlock(&wire->box->lock);
    post(wire, to, &envelope, bytes, CLEAVE__ENVELOPE_BYTES + (probes ? 8 : 0));
}

/* A frame that is too large for one message of the server's. */
static void post_pieces(struct cleave__wire *wire, const struct cleave__box *to,
                        struct cleave__envelope *envelope, const uint8_t *frame, size_t size)
{
    size_t most = wire->nats->dial.payload_most - CLEAVE__ENVELOPE_BYTES;
    uint64_t charged = envelope->charged;
    bool costs = !(frame[3] & CLEAVE_FRAME_REPLY);
    uint8_t *bytes = malloc(CLEAVE__ENVELOPE_BYTES + (size < most ? size : most));
    if (!bytes) {
        cleave__runtime_no_memory(wire->nats->crew.runtime);
        return;
    }
    envelope->sort = CLEAVE__ENVELOPE_PIECE;
    for (size_t at = 0; at < size; at += most) {
        size_t length = size - at < most ? size - at : most;
        memcpy(bytes + CLEAVE__ENVELOPE_BYTES, frame + at, length);
        envelope->offset = (uint32_t)at;
        /* It is charged once it is there as a whole. */
        envelope->charged = charged - (costs && at + length < size);
        post(wire, to, envelope, bytes, CLEAVE__ENVELOPE_BYTES + length);
    }
    free(bytes);
}

static void post_batch(struct cleave__wire *wire, struct cleave__link *link)
{
    const struct cleave__box *to = peer_of(wire, link->peer);
    pthread_mutex_lock(&wire->box->lock);
    struct cleave__envelope envelope = describe(wire, link, CLEAVE__ENVELOPE_FRAMES, to);
    pthread_mutex_unlock(&wire->box->lock);
    size_t head = CLEAVE__ENVELOPE_BYTES + 4;
    if (link->batch.count <= wire->nats->dial.payload_most)
        post(wire, to, &envelope, link->batch.data, link->batch.count);
    else /* one frame */
        post_pieces(wire, to, &envelope, link->batch.data + head, link->batch.count - head);
    link->batch.count = 0;
    pthread_mutex_lock(&wire->box->lock);
    link->gone_charged =
        envelope.sort == CLEAVE__ENVELOPE_FRAMES ? envelope.charged : link->charged;
    link->gone = link->batched;
    pthread_mutex_unlock(&wire->box->lock);
}

/* ---- offering ---- */

static bool append(struct cleave_context *context, struct cleave__wire *wire,
                   struct cleave__link *link, struct cleave__channel *channel,
                   const struct cleave_frame *frame)
{
    size_t size = cleave__frame_bytes(frame), most = wire->nats->dial.payload_most;
    most = most < CLEAVE__BATCH_MOST ? most : CLEAVE__BATCH_MOST;
    if (link->batch.count && link->batch.count + 4 + size > most)
        post_batch(wire, link);
    if (!link->batch.count)
        link->batch.count = CLEAVE__ENVELOPE_BYTES;
    if (!CLEAVE_RESERVE(&link->batch, link->batch.count + 4 + size) ||
        (!link->dirty && !CLEAVE_PUSH(&wire->dirty, link)))
        return false;
    link->dirty = true;
    uint8_t *to = link->batch.data + link->batch.count;
    cleave__store32(to, (uint32_t)size);
    cleave__channel_write(context->runtime, channel, frame, to + 4);
    link->batch.count += 4 + size;
    link->batched = channel->sent;
    return true;
}

enum cleave__offer cleave__nats_offer(struct cleave_context *context,
                                      struct cleave__channel *channel,
                                      const struct cleave_frame *frame, bool forced)
{
    struct cleave__nats *nats = nats_of(context);
    struct cleave__actor *peer = context->runtime->actors.data[frame->receiver];
    struct cleave__box *own = context->actor->mail;
    if (peer->sort == CLEAVE__ACTOR_HERE && (!nats->loops || context->actor->number == 0))
        return cleave__crew_offer(context, channel, frame, forced);
    struct cleave__wire *wire = own->wire;
    if (peer->sort == CLEAVE__ACTOR_GROUP &&
        CLEAVE__ENVELOPE_BYTES + 4 + cleave__frame_bytes(frame) > nats->dial.payload_most) {
        /* Pieces would go to several of it. */
        cleave__runtime_fail(context->runtime, CLEAVE_LIMIT,
                             "%s: a message of %zu bytes to whoever of %s is too large for the "
                             "NATS server (max_payload)",
                             context->actor->name, cleave__frame_bytes(frame), peer->name);
        return CLEAVE__FAILED;
    }
    if (!channel->link) {
        pthread_mutex_lock(&own->lock);
        channel->link = cleave__links_need(&wire->links, frame->receiver);
        pthread_mutex_unlock(&own->lock);
    }
    struct cleave__link *link = channel->link;
    if (!link) {
        cleave__runtime_no_memory(context->runtime);
        return CLEAVE__FAILED;
    }
    bool costs = !(frame->flags & CLEAVE_FRAME_REPLY) && peer->sort != CLEAVE__ACTOR_GROUP;
    pthread_mutex_lock(&own->lock);
    bool full = costs && !forced && !cleave__link_has_credit(link, peer->mailbox_most);
    if (full && !link->waiting) {
        link->waiting = true;
        link->waiting_since_ns = cleave__now_ns(context);
        link->probes = 0;
        atomic_fetch_add(&nats->waiting, 1);
    } else if (!full && link->waiting) {
        link->waiting = false;
        atomic_fetch_sub(&nats->waiting, 1);
    }
    link->charged += !full && costs;
    pthread_mutex_unlock(&own->lock);
    if (full)
        return CLEAVE__FULL;
    if (peer->sort == CLEAVE__ACTOR_LOG) {
        struct cleave__ask *ask = cleave__log_ask(nats, context, peer->mail, frame);
        if (!ask)
            return CLEAVE__FAILED;
        channel->sent++;
        if (!wire->saved)
            cleave__ask_begin(ask);
        else if (!cleave__saved_hold(wire->saved, NULL, NULL, ask->size, ask))
            cleave__ask_free(ask);
        return CLEAVE__SENT;
    }
    if (append(context, wire, link, channel, frame))
        return CLEAVE__SENT;
    cleave__runtime_no_memory(context->runtime);
    return CLEAVE__FAILED;
}

/* ---- around a turn ---- */

static void taken(struct cleave__box *box, const struct cleave__record *record,
                  const uint8_t *bytes)
{
    struct cleave__wire *wire = box->wire;
    if (!record->charged)
        return;
    uint32_t sender = cleave__load32(bytes + 12);
    struct cleave__link *link = wire->last;
    if (!link || link->peer != sender) {
        pthread_mutex_lock(&box->lock);
        link = cleave__links_find(&wire->links, sender);
        pthread_mutex_unlock(&box->lock);
        wire->last = link;
    }
    if (!link->touched) {
        if (!CLEAVE_PUSH(&wire->touched, link)) {
            cleave__runtime_no_memory(wire->nats->crew.runtime);
            return;
        }
        link->touched = true;
    }
    if (link->taken_epoch != record->epoch) {
        link->taken_epoch = record->epoch;
        link->taken = 0;
    }
    link->taken++;
}

static void flush(struct cleave__worker *worker, struct cleave__box *box)
{
    struct cleave__wire *wire = box->wire;
    (void)worker;
    pthread_mutex_lock(&box->lock);
    for (size_t i = 0; i < wire->touched.count; i++) {
        struct cleave__link *link = wire->touched.data[i];
        cleave__link_release(link, link->taken_epoch, link->taken);
        link->owes = cleave__link_owes(link, box->actor->mailbox_most);
    }
    box->actor->stats.lost += wire->lost;
    wire->lost = 0;
    pthread_mutex_unlock(&box->lock);
    for (size_t i = 0; i < wire->dirty.count; i++) {
        struct cleave__link *link = wire->dirty.data[i];
        if (link->batch.count)
            post_batch(wire, link);
        link->dirty = false;
    }
    wire->dirty.count = 0;
    if (wire->saved)
        cleave__saved_turn(wire->saved);
    for (size_t i = 0; i < wire->touched.count; i++) {
        struct cleave__link *link = wire->touched.data[i];
        link->touched = false;
        link->taken = 0;
        pthread_mutex_lock(&box->lock);
        bool owes = link->owes; /* and no batch took it along, nor did a probe */
        pthread_mutex_unlock(&box->lock);
        if (owes)
            cleave__nats_tell(wire, link, CLEAVE__ENVELOPE_CREDIT);
    }
    wire->touched.count = 0;
}

/* Whoever waits for credit has messages to send and maybe to take. */
static bool expects(struct cleave__crew *crew)
{
    struct cleave__nats *nats = (struct cleave__nats *)crew;
    return atomic_load(&nats->waiting) > 0;
}

static bool waits(struct cleave__box *box)
{
    return box->wire->saved && cleave__saved_is_full(box->wire->saved);
}

const struct cleave__crew_hooks cleave__nats_hooks = {taken, flush, cleave__nats_refill, waits,
                                                      expects};

bool cleave__nats_save(struct cleave_context *context, bool anew, const void *bytes, size_t length)
{
    struct cleave__box *own = context->actor->mail;
    if (!own->wire->saved)
        return false;
    if (!cleave__saved_note(own->wire->saved, anew, bytes, length))
        cleave__runtime_no_memory(context->runtime);
    return true;
}
