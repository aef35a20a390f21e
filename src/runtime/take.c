/* A message taken up by its actor: the checks of its channel, then `receive`. And what a crash
 * takes. */
#include <stdlib.h>

#include "runtime/core.h"

void cleave__actor_start(struct cleave_context *context)
{
    struct cleave__actor *actor = context->actor;
    if (actor->started || !actor->ops || cleave__runtime_over(context->runtime))
        return;
    actor->started = true;
    if (actor->ops->start)
        actor->ops->start(actor->self, context, actor->saved.count ? actor->saved.data : NULL,
                          actor->saved.count);
}

/* The frame is of this actor, and the next of its channel. */
static bool check_frame(struct cleave_context *context, const uint8_t *bytes, size_t size,
                        struct cleave_frame *frame)
{
    struct cleave_runtime *runtime = context->runtime;
    struct cleave__actor *actor = context->actor;
    struct cleave_error error;
    if (cleave__frame_decode(bytes, size, runtime->options.checksums, frame, &error)) {
        cleave__runtime_fail(runtime, error.status, "%s: %s", actor->name, error.message);
        return false;
    }
    if (frame->receiver != actor->number || frame->sender >= runtime->actors.count) {
        cleave__runtime_fail(runtime, CLEAVE_CORRUPT,
                             "%s, which is actor %u, got a message from %u to %u", actor->name,
                             actor->number, frame->sender, frame->receiver);
        return false;
    }
    if (frame->flags & CLEAVE_FRAME_TIMER)
        return true;
    struct cleave__channel *channel = cleave__channels_need(&actor->channels, frame->sender);
    if (!channel) {
        cleave__runtime_no_memory(runtime);
        return false;
    }
    if (frame->sequence != channel->received + 1) {
        cleave__runtime_fail(
            runtime, CLEAVE_CORRUPT,
            "from %s to %s, message %llu came after message %llu: one is %s",
            runtime->actors.data[frame->sender]->name, actor->name,
            (unsigned long long)frame->sequence, (unsigned long long)channel->received,
            frame->sequence > channel->received ? "lost or late" : "there twice, or late");
        return false;
    }
    channel->received = frame->sequence;
    return true;
}

/* The answer to a request of this actor. False: the message is not for it, or wrong. */
static bool take_reply(struct cleave_context *context, const struct cleave_frame *frame,
                       struct cleave_message *message)
{
    struct cleave_runtime *runtime = context->runtime;
    struct cleave__actor *actor = context->actor;
    struct cleave__ticket request, timer;
    uint64_t number = frame->correlation;
    if (!cleave__tickets_take(&actor->requests, number, &request)) {
        /* Elsewhere may be two processes that are the same actor, until one of them is gone. */
        if (number & 1 || number / 2 <= actor->crash_number ||
            runtime->actors.data[frame->sender]->sort != CLEAVE__ACTOR_HERE)
            actor->stats.late++;
        else
            cleave__runtime_fail(runtime, CLEAVE_CORRUPT, "%s answers a request of %s that %s",
                                 runtime->actors.data[frame->sender]->name, actor->name,
                                 number / 2 <= actor->last_number ? "has its answer already"
                                                                  : "was never made");
        return false;
    }
    if (request.handle && cleave__tickets_take(&actor->timers, request.handle, &timer))
        runtime->transport->timer_cancel(context, timer.handle);
    if (runtime->measures && !cleave__histogram_add(&actor->stats.answering_ns,
                                                    cleave__now_ns(context) - request.since_ns, 1))
        cleave__runtime_no_memory(runtime);
    message->sort = CLEAVE_REPLY;
    message->tag = request.tag;
    return true;
}

/* A timer, or a timeout. False: cancelled while it was on its way. */
static bool take_timer(struct cleave_context *context, const struct cleave_frame *frame,
                       struct cleave_message *message)
{
    struct cleave__actor *actor = context->actor;
    struct cleave__ticket timer, request;
    if (!cleave__tickets_take(&actor->timers, frame->correlation, &timer))
        return false;
    message->sort = CLEAVE_TIMER;
    message->tag = timer.tag;
    if (timer.timeout) {
        if (!cleave__tickets_take(&actor->requests, timer.tag, &request))
            return false;
        message->sort = CLEAVE_TIMEOUT;
        message->sender = request.peer;
        message->tag = request.tag;
    }
    actor->stats.timers++;
    return true;
}

void cleave__actor_take(struct cleave_context *context, const uint8_t *bytes, size_t size,
                        uint64_t waited_ns)
{
    struct cleave_runtime *runtime = context->runtime;
    struct cleave__actor *actor = context->actor;
    struct cleave_frame frame;
    if (!check_frame(context, bytes, size, &frame))
        return;
    struct cleave_message message = {.sort = CLEAVE_MESSAGE,
                                     .sender = frame.sender,
                                     .kind = frame.kind,
                                     .body = frame.body,
                                     .length = frame.length};
    if (frame.flags & CLEAVE_FRAME_TIMER) {
        if (!take_timer(context, &frame, &message))
            return;
    } else {
        actor->stats.received++;
        actor->stats.bytes_received += frame.length;
        if (runtime->measures && !cleave__histogram_add(&actor->stats.waiting_ns, waited_ns, 1)) {
            cleave__runtime_no_memory(runtime);
            return;
        }
    }
    if (frame.flags & CLEAVE_FRAME_REQUEST) {
        message.sort = CLEAVE_REQUEST;
        message.promise = (struct cleave_promise){frame.sender, frame.correlation};
    } else if (frame.flags & CLEAVE_FRAME_REPLY && !take_reply(context, &frame, &message)) {
        return;
    }
    actor->ops->receive(actor->self, context, &message);
    if (actor->watch)
        cleave__watch_publish(actor->watch, &actor->stats);
}

void cleave__actor_lose(struct cleave_context *context, const uint8_t *bytes, size_t size)
{
    struct cleave_frame frame;
    if (check_frame(context, bytes, size, &frame) && !(frame.flags & CLEAVE_FRAME_TIMER))
        context->actor->stats.lost++;
}

void cleave__actor_crash(struct cleave_context *context)
{
    struct cleave__actor *actor = context->actor;
    actor->ops->destroy(actor->self);
    actor->self = NULL;
    actor->started = false;
    cleave__actor_unpark(actor);
    for (uint32_t i = 0; actor->timers.slots && i <= actor->timers.mask; i++) {
        if (actor->timers.slots[i].number)
            context->runtime->transport->timer_cancel(context, actor->timers.slots[i].handle);
    }
    cleave__tickets_free(&actor->timers);
    cleave__tickets_free(&actor->requests);
    actor->crash_number = actor->last_number;
    actor->stats.crashes++;
}

void cleave__actor_restart(struct cleave_context *context)
{
    struct cleave__actor *actor = context->actor;
    struct cleave_error error = {0};
    enum cleave_status status = actor->ops->create(actor->argument, &actor->self, &error);
    if (status)
        cleave__runtime_fail(context->runtime, status, "%s does not restart: %s", actor->name,
                             error.message);
    else
        cleave__actor_start(context);
}

bool cleave__actor_check(const struct cleave_runtime *runtime, const struct cleave__actor *actor)
{
    uint32_t parked = 0, blocked = 0;
    for (uint32_t i = 0; actor->channels.slots && i <= actor->channels.mask; i++) {
        const struct cleave__channel *channel = &actor->channels.slots[i];
        uint32_t count = 0;
        for (const struct cleave__parked *p = channel->first; p; p = p->next, count++) {
            if (p->frame.receiver != channel->key - 1 || (!p->next && p != channel->last))
                return false;
        }
        if (count != channel->parked || channel->key > runtime->actors.count)
            return false;
        parked += count;
        blocked += count > 0;
    }
    for (size_t i = 0; i < actor->blocked.count; i++) {
        const struct cleave__channel *channel =
            cleave__channels_find(&actor->channels, actor->blocked.data[i]);
        if (!channel || !channel->parked)
            return false;
    }
    return parked == actor->parked && blocked == actor->blocked.count &&
           cleave__channels_check(&actor->channels) && cleave__tickets_check(&actor->requests) &&
           cleave__tickets_check(&actor->timers);
}
