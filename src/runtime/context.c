/* What an actor asks of its context: sending, asking, answering, timers, and the outbox that takes
 * what meets a full mailbox. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/core.h"

uint32_t cleave__context_self(const struct cleave_context *context)
{
    return context->actor->number;
}

uint64_t cleave__context_now_ns(struct cleave_context *context)
{
    return cleave__now_ns(context);
}

struct cleave_random *cleave__context_random(struct cleave_context *context)
{
    return &context->actor->random;
}

struct cleave_writer *cleave__context_writer(struct cleave_context *context)
{
    context->writer.count = 0;
    context->writer.failed = false;
    return &context->writer;
}

/* ---- planted bugs, and numbering ---- */

static bool plant_hits(struct cleave_runtime *runtime, enum cleave_plant plant)
{
    return runtime->options.plant == plant &&
           atomic_fetch_add(&runtime->planted, 1) + 1 == runtime->options.plant_at;
}

void cleave__channel_write(struct cleave_runtime *runtime, struct cleave__channel *channel,
                           const struct cleave_frame *frame, uint8_t *to)
{
    struct cleave_frame numbered = *frame;
    numbered.sequence = ++channel->sent;
    cleave__frame_encode(&numbered, runtime->options.checksums, to);
    if (runtime->options.plant == CLEAVE_PLANT_FLIP && plant_hits(runtime, CLEAVE_PLANT_FLIP))
        to[runtime->options.checksums ? 4 : 32] ^= 1; /* its kind; its sequence number */
}

void cleave__timer_write(struct cleave_runtime *runtime, uint32_t actor, uint64_t number,
                         uint8_t *to)
{
    const struct cleave_frame frame = {
        .flags = CLEAVE_FRAME_TIMER, .sender = actor, .receiver = actor, .correlation = number};
    cleave__frame_encode(&frame, runtime->options.checksums, to);
}

static enum cleave__offer offer(struct cleave_context *context, struct cleave__channel *channel,
                                const struct cleave_frame *frame)
{
    struct cleave_runtime *runtime = context->runtime;
    bool forced = false;
    switch (runtime->options.plant) {
    case CLEAVE_PLANT_NOTHING:
    case CLEAVE_PLANT_FLIP:
        break;
    case CLEAVE_PLANT_LOSE:
        if (plant_hits(runtime, CLEAVE_PLANT_LOSE)) {
            channel->sent++;
            return CLEAVE__SENT;
        }
        break;
    case CLEAVE_PLANT_TWICE:
        if (plant_hits(runtime, CLEAVE_PLANT_TWICE) &&
            runtime->transport->offer(context, channel, frame, true) == CLEAVE__SENT) {
            channel->sent--;
            forced = true;
        }
        break;
    case CLEAVE_PLANT_OVERFILL:
        forced = atomic_fetch_add(&runtime->planted, 1) + 1 >= runtime->options.plant_at;
        break;
    }
    return runtime->transport->offer(context, channel, frame, forced);
}

/* ---- sending ---- */

static void count_sent(struct cleave__actor *actor, const struct cleave_frame *frame)
{
    actor->stats.sent++;
    actor->stats.bytes_sent += frame->length;
}

static void park(struct cleave_context *context, struct cleave__channel *channel,
                 const struct cleave_frame *frame)
{
    struct cleave__actor *actor = context->actor;
    struct cleave__parked *parked = malloc(sizeof *parked + frame->length);
    if (!parked || (!channel->parked && !CLEAVE_PUSH(&actor->blocked, frame->receiver))) {
        free(parked);
        cleave__runtime_no_memory(context->runtime);
        return;
    }
    parked->next = NULL;
    parked->frame = *frame;
    if (frame->length)
        memcpy(parked->body, frame->body, frame->length);
    parked->frame.body = parked->body;
    if (channel->parked++)
        channel->last->next = parked;
    else
        channel->first = parked;
    channel->last = parked;
    actor->parked++;
    actor->stats.parkings++;
}

void cleave__actor_unpark(struct cleave__actor *actor)
{
    for (size_t i = 0; i < actor->blocked.count; i++) {
        struct cleave__channel *channel =
            cleave__channels_find(&actor->channels, actor->blocked.data[i]);
        while (channel->first) {
            struct cleave__parked *next = channel->first->next;
            free(channel->first);
            channel->first = next;
        }
        channel->parked = 0;
    }
    actor->blocked.count = 0;
    actor->parked = 0;
}

static bool may_send(struct cleave_context *context, uint32_t receiver, const void *body,
                     size_t length)
{
    struct cleave_runtime *runtime = context->runtime;
    if (cleave__runtime_failed(runtime))
        return false;
    if (receiver == 0 || receiver >= runtime->actors.count)
        cleave__runtime_fail(runtime, CLEAVE_BAD_ARGUMENT,
                             "%s sends to actor %u, which does not exist", context->actor->name,
                             receiver);
    else if (length > CLEAVE_FRAME_BODY_MOST)
        cleave__runtime_fail(runtime, CLEAVE_LIMIT,
                             "%s sends %zu bytes to %s: a message has at most %d",
                             context->actor->name, length, runtime->actors.data[receiver]->name,
                             CLEAVE_FRAME_BODY_MOST);
    else if (body == context->writer.data && context->writer.failed)
        cleave__runtime_no_memory(runtime);
    else
        return true;
    return false;
}

static void put(struct cleave_context *context, const struct cleave_frame *frame)
{
    struct cleave__channel *channel =
        cleave__channels_need(&context->actor->channels, frame->receiver);
    if (!channel) {
        cleave__runtime_no_memory(context->runtime);
        return;
    }
    enum cleave__offer offered = channel->parked ? CLEAVE__FULL : offer(context, channel, frame);
    if (offered == CLEAVE__SENT)
        count_sent(context->actor, frame);
    else if (offered == CLEAVE__FULL)
        park(context, channel, frame);
}

/* Of one channel, until it is empty or its receiver full. */
static enum cleave__offer drain_channel(struct cleave_context *context,
                                        struct cleave__channel *channel)
{
    struct cleave__actor *actor = context->actor;
    while (channel->first) {
        struct cleave__parked *parked = channel->first;
        enum cleave__offer offered = offer(context, channel, &parked->frame);
        if (offered != CLEAVE__SENT)
            return offered;
        count_sent(actor, &parked->frame);
        channel->first = parked->next;
        channel->parked--;
        actor->parked--;
        free(parked);
    }
    return CLEAVE__SENT;
}

bool cleave__actor_drain(struct cleave_context *context)
{
    struct cleave__actor *actor = context->actor;
    size_t kept = 0, at = 0;
    for (; at < actor->blocked.count; at++) {
        uint32_t peer = actor->blocked.data[at];
        struct cleave__channel *channel = cleave__channels_find(&actor->channels, peer);
        enum cleave__offer offered = drain_channel(context, channel);
        if (channel->parked)
            actor->blocked.data[kept++] = peer;
        if (offered == CLEAVE__FAILED)
            break;
    }
    for (at++; at < actor->blocked.count; at++) /* after a failure */
        actor->blocked.data[kept++] = actor->blocked.data[at];
    actor->blocked.count = kept;
    return !actor->parked;
}

void cleave__context_send(struct cleave_context *context, uint32_t receiver, uint32_t kind,
                          const void *body, size_t length)
{
    if (!may_send(context, receiver, body, length))
        return;
    put(context, &(struct cleave_frame){.kind = kind,
                                        .sender = context->actor->number,
                                        .receiver = receiver,
                                        .length = (uint32_t)length,
                                        .body = body});
}

/* ---- asking and answering ---- */

static bool set_timer(struct cleave_context *context, uint64_t delay_ns, uint64_t tag, bool timeout,
                      uint64_t *out)
{
    struct cleave__actor *actor = context->actor;
    uint64_t now_ns = cleave__now_ns(context);
    struct cleave__ticket ticket = {
        .number = ++actor->last_number, .tag = tag, .since_ns = now_ns, .timeout = timeout};
    uint64_t at_ns = delay_ns > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + delay_ns;
    if (!context->runtime->transport->timer_set(context, at_ns, ticket.number, &ticket.handle))
        return false;
    *out = ticket.number;
    if (cleave__tickets_add(&actor->timers, ticket))
        return true;
    context->runtime->transport->timer_cancel(context, ticket.handle);
    return false;
}

void cleave__context_request(struct cleave_context *context, uint32_t receiver, uint32_t kind,
                             const void *body, size_t length, uint64_t timeout_ns, uint64_t tag)
{
    struct cleave_runtime *runtime = context->runtime;
    struct cleave__actor *actor = context->actor;
    if (!may_send(context, receiver, body, length))
        return;
    if (actor->requests.count >= runtime->options.requests_most) {
        cleave__runtime_fail(runtime, CLEAVE_LIMIT,
                             "%s has %u requests without an answer, the most it may have",
                             actor->name, actor->requests.count);
        return;
    }
    struct cleave__ticket ticket = {.number = ++actor->last_number * 2 + (timeout_ns > 0),
                                    .tag = tag,
                                    .peer = receiver,
                                    .since_ns = runtime->measures ? cleave__now_ns(context) : 0};
    if ((timeout_ns && !set_timer(context, timeout_ns, ticket.number, true, &ticket.handle)) ||
        !cleave__tickets_add(&actor->requests, ticket)) {
        cleave__runtime_no_memory(runtime);
        return;
    }
    put(context, &(struct cleave_frame){.kind = kind,
                                        .sender = actor->number,
                                        .receiver = receiver,
                                        .length = (uint32_t)length,
                                        .flags = CLEAVE_FRAME_REQUEST,
                                        .correlation = ticket.number,
                                        .body = body});
}

void cleave__context_answer(struct cleave_context *context, struct cleave_promise promise,
                            uint32_t kind, const void *body, size_t length)
{
    if (!may_send(context, promise.requester, body, length))
        return;
    put(context, &(struct cleave_frame){.kind = kind,
                                        .sender = context->actor->number,
                                        .receiver = promise.requester,
                                        .length = (uint32_t)length,
                                        .flags = CLEAVE_FRAME_REPLY,
                                        .correlation = promise.correlation,
                                        .body = body});
}

/* ---- timers ---- */

uint64_t cleave__context_timer(struct cleave_context *context, uint64_t delay_ns, uint64_t tag)
{
    uint64_t number = 0;
    if (!cleave__runtime_failed(context->runtime) &&
        !set_timer(context, delay_ns, tag, false, &number)) {
        cleave__runtime_no_memory(context->runtime);
        return 0;
    }
    return number;
}

bool cleave__context_cancel(struct cleave_context *context, uint64_t timer)
{
    struct cleave__ticket ticket;
    if (!cleave__tickets_take(&context->actor->timers, timer, &ticket))
        return false;
    context->runtime->transport->timer_cancel(context, ticket.handle);
    return true;
}

/* ---- the rest ---- */

static void keep(struct cleave_context *context, bool anew, const void *bytes, size_t length)
{
    struct cleave__actor *actor = context->actor;
    const struct cleave_transport_ops *transport = context->runtime->transport;
    if (transport->save && transport->save(context, anew, bytes, length))
        return;
    if (anew)
        actor->saved.count = 0;
    if (!CLEAVE_RESERVE(&actor->saved, actor->saved.count + length + 1)) {
        cleave__runtime_no_memory(context->runtime);
        return;
    }
    if (length)
        memcpy(actor->saved.data + actor->saved.count, bytes, length);
    actor->saved.count += length;
}

void cleave__context_append(struct cleave_context *context, const void *bytes, size_t length)
{
    keep(context, false, bytes, length);
}

void cleave__context_save(struct cleave_context *context, const void *bytes, size_t length)
{
    keep(context, true, bytes, length);
}

void cleave__context_spend(struct cleave_context *context, uint64_t ns)
{
    uint64_t most_ns = CLEAVE_DISTRIBUTION_MOST_NS - context->spent_ns;
    if (context->runtime->transport->virtual_time)
        context->spent_ns += ns < most_ns ? ns : most_ns;
}

void cleave__context_end(struct cleave_context *context)
{
    atomic_store(&context->runtime->ending, true);
}

void cleave__context_fail(struct cleave_context *context, enum cleave_status status,
                          const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cleave__runtime_fail(context->runtime, status, "%s: %s", context->actor->name, text);
}
