/* A turn: parked messages first, then up to a batch of the mailbox; at its end the places taken up
 * are given back and those who waited for them are woken. */
#include "runtime/threads/crew.h"

enum cleave__offer cleave__crew_offer(struct cleave_context *context,
                                      struct cleave__channel *channel,
                                      const struct cleave_frame *frame, bool forced)
{
    struct cleave_runtime *runtime = context->runtime;
    struct cleave__box *box = runtime->actors.data[frame->receiver]->mail;
    bool reserved = frame->flags & CLEAVE_FRAME_REPLY, wakes = false;
    uint64_t sent_ns = runtime->measures ? cleave__now_ns(context) : 0;
    enum cleave__offer offered = CLEAVE__SENT;
    pthread_mutex_lock(&box->lock);
    if (!reserved && !forced && box->used >= box->actor->mailbox_most) {
        offered = CLEAVE__FULL;
        if (!cleave__waiters_waits(&box->waiters, channel->waiting) &&
            !cleave__waiters_add(&box->waiters, context->actor->number, &channel->waiting))
            offered = CLEAVE__FAILED;
    } else {
        if (channel->waiting && channel->parked <= 1) { /* the last one that waited */
            if (cleave__waiters_waits(&box->waiters, channel->waiting))
                cleave__waiters_withdraw(&box->waiters, channel->waiting);
            channel->waiting = 0;
        }
        uint8_t *to = cleave__box_append(
            box, &(struct cleave__record){.size = (uint32_t)cleave__frame_bytes(frame),
                                          .reserved = reserved,
                                          .sent_ns = sent_ns});
        if (to) {
            cleave__channel_write(runtime, channel, frame, to);
            wakes = !box->scheduled;
            box->scheduled = true;
        } else {
            offered = CLEAVE__FAILED;
        }
    }
    pthread_mutex_unlock(&box->lock);
    if (offered == CLEAVE__FAILED)
        cleave__runtime_no_memory(runtime);
    if (wakes)
        cleave__crew_runnable(runtime->state, context->worker, box);
    return offered;
}

void cleave__crew_fire(struct cleave__crew *crew, struct cleave__worker *worker, uint32_t actor,
                       uint64_t number)
{
    struct cleave__box *box = crew->runtime->actors.data[actor]->mail;
    pthread_mutex_lock(&box->lock);
    uint8_t *to = cleave__box_append(
        box, &(struct cleave__record){.size = CLEAVE_FRAME_HEADER_BYTES, .reserved = true});
    bool wakes = to && !box->scheduled;
    if (to) {
        cleave__timer_write(crew->runtime, actor, number, to);
        box->scheduled = true;
    }
    pthread_mutex_unlock(&box->lock);
    if (!to)
        cleave__runtime_no_memory(crew->runtime);
    if (wakes)
        cleave__crew_runnable(crew, worker, box);
}

void cleave__crew_wake(struct cleave__crew *crew, struct cleave__worker *worker,
                       struct cleave__box *box)
{
    pthread_mutex_lock(&box->lock);
    bool runs = box->asleep;
    box->asleep = false;
    box->woke = !runs;
    pthread_mutex_unlock(&box->lock);
    if (runs)
        cleave__crew_runnable(crew, worker, box);
}

static void receive_batch(struct cleave__worker *worker, struct cleave__box *box)
{
    struct cleave_context *context = &worker->context;
    struct cleave_runtime *runtime = context->runtime;
    for (uint32_t n = 0; n < runtime->options.batch; n++) {
        struct cleave__record record;
        const uint8_t *bytes = cleave__box_next(box, &record);
        if (!bytes)
            break;
        if (worker->crew->hooks)
            worker->crew->hooks->taken(box, &record, bytes);
        context->clock_read = false;
        uint64_t waited_ns = 0;
        if (runtime->measures && record.sent_ns) {
            waited_ns = cleave__now_ns(context);
            waited_ns = waited_ns > record.sent_ns ? waited_ns - record.sent_ns : 0;
        }
        cleave__actor_take(context, bytes, record.size, waited_ns);
        if (box->actor->parked || cleave__runtime_over(runtime))
            break;
    }
}

/* What becomes of the actor after its turn. */
static void end_turn(struct cleave__worker *worker, struct cleave__box *box)
{
    enum { WAKE_AT_ONCE = 64 };
    struct cleave__actor *actor = box->actor;
    uint32_t waiters[WAKE_AT_ONCE];
    const struct cleave__crew_hooks *hooks = worker->crew->hooks;
    if (hooks)
        hooks->flush(worker, box);
    pthread_mutex_lock(&box->lock);
    box->used -= box->credits;
    box->credits = 0;
    if (hooks)
        hooks->refill(worker->crew, box);
    /* As many as there is room for: each delivers a message, or finds others faster. */
    uint32_t room = box->used < actor->mailbox_most ? actor->mailbox_most - box->used : 0;
    uint32_t count =
        cleave__box_pop_waiters(box, waiters, room < WAKE_AT_ONCE ? room : WAKE_AT_ONCE);
    bool again;
    if (actor->parked || !actor->ops || (hooks && hooks->waits(box))) {
        again = box->woke;
        box->woke = false;
        box->asleep = !again;
        box->sleeps += !again;
    } else {
        again = box->left > 0 || box->incoming_messages > 0;
        box->scheduled = again;
    }
    pthread_mutex_unlock(&box->lock);
    /* From here on the actor may run elsewhere. */
    while (count) {
        for (uint32_t i = 0; i < count; i++)
            cleave__crew_wake(worker->crew, worker,
                              worker->context.runtime->actors.data[waiters[i]]->mail);
        room -= count;
        if (count < WAKE_AT_ONCE || room == 0)
            break;
        pthread_mutex_lock(&box->lock);
        count = cleave__box_pop_waiters(box, waiters, room < WAKE_AT_ONCE ? room : WAKE_AT_ONCE);
        pthread_mutex_unlock(&box->lock);
    }
    if (again)
        cleave__crew_requeue(worker, box);
    else
        atomic_fetch_sub_explicit(&worker->crew->active, 1, memory_order_acq_rel);
}

void cleave__crew_turn(struct cleave__worker *worker, struct cleave__box *box)
{
    struct cleave_context *context = &worker->context;
    struct cleave_runtime *runtime = context->runtime;
    struct cleave__actor *actor = box->actor;
    context->actor = actor;
    context->clock_read = false;
    uint64_t began_ns = runtime->measures ? cleave__now_ns(context) : 0;
    cleave__actor_start(context);
    const struct cleave__crew_hooks *hooks = worker->crew->hooks;
    if ((!actor->parked || cleave__actor_drain(context)) && !cleave__runtime_over(runtime) &&
        !(hooks && hooks->waits(box))) {
        if (cleave__box_begin(box))
            cleave__runtime_fail(runtime, CLEAVE_CORRUPT,
                                 "the mailbox of %s holds more than the %u messages it may",
                                 actor->name, actor->mailbox_most);
        receive_batch(worker, box);
    }
    if (runtime->measures) {
        context->clock_read = false;
        actor->stats.busy_ns += cleave__now_ns(context) - began_ns;
    }
    end_turn(worker, box);
}
