/* Mailboxes, processors and turns in virtual time. */
#include "runtime/sim/world.h"

#include <assert.h>

void cleave__world_schedule(struct cleave__world *world, struct cleave__event event)
{
    if (!cleave__events_add(&world->events, event))
        cleave__runtime_no_memory(world->runtime);
}

void cleave__world_note(struct cleave__world *world, struct cleave__mail *mail)
{
    if (mail->on_agenda)
        return;
    mail->on_agenda = true;
    mail->next_agenda = NULL;
    *world->agenda_end = mail;
    world->agenda_end = &mail->next_agenda;
}

struct cleave_context *cleave__world_turn(struct cleave__world *world, struct cleave__mail *mail)
{
    world->context.actor = mail->actor;
    world->context.now_ns = world->now_ns;
    world->context.clock_read = true;
    world->context.spent_ns = 0;
    return &world->context;
}

struct cleave__machine *cleave__world_machine(struct cleave__world *world, uint32_t node)
{
    return world->machines.data[node];
}

/* Gives the processor back. */
static void release(struct cleave__world *world, struct cleave__mail *mail)
{
    struct cleave__machine *machine = cleave__world_machine(world, mail->actor->node);
    assert(mail->busy && machine->busy > 0);
    mail->busy = false;
    machine->busy--;
    struct cleave__mail *next = machine->ready;
    if (next) {
        machine->ready = next->next_ready;
        if (!machine->ready)
            machine->end = &machine->ready;
        next->ready = false;
        cleave__world_note(world, next);
    }
    cleave__world_note(world, mail);
}

void cleave__world_turn_over(struct cleave__world *world, struct cleave__mail *mail)
{
    uint64_t spent_ns = world->context.spent_ns;
    mail->actor->stats.busy_ns += spent_ns;
    if (spent_ns)
        cleave__world_schedule(world, (struct cleave__event){.at_ns = world->now_ns + spent_ns,
                                                             .actor = mail->actor->number,
                                                             .what = CLEAVE__EVENT_IDLE,
                                                             .life = mail->life});
    else
        release(world, mail);
}

void cleave__world_idle(struct cleave__world *world, struct cleave__mail *mail)
{
    release(world, mail);
}

void cleave__world_room(struct cleave__world *world, struct cleave__mail *mail)
{
    assert(mail->used > 0);
    mail->used--;
    if (mail->used >= mail->actor->mailbox_most)
        return;
    uint32_t waiter = cleave__waiters_take(&mail->waiters);
    if (waiter == UINT32_MAX)
        return;
    struct cleave__mail *other = cleave__world_mail(world, waiter);
    other->drain = true;
    cleave__world_note(world, other);
}

void cleave__world_arrive(struct cleave__world *world, struct cleave__mail *mail,
                          struct cleave__parcel *parcel)
{
    if (mail->down) {
        cleave__world_trace_parcel(world, CLEAVE_TRACE_LOST, parcel);
        cleave__actor_lose(cleave__world_turn(world, mail), parcel->bytes, parcel->size);
        if (!parcel->reserved)
            cleave__world_room(world, mail);
        cleave__parcels_give(&world->parcels, parcel);
        return;
    }
    cleave__world_trace_parcel(world, CLEAVE_TRACE_ARRIVED, parcel);
    parcel->next = NULL;
    *mail->end = parcel;
    mail->end = &parcel->next;
    if (++mail->queued > mail->actor->stats.queue_most)
        mail->actor->stats.queue_most = mail->queued;
    if (mail->used > mail->actor->mailbox_most)
        cleave__runtime_fail(world->runtime, CLEAVE_CORRUPT,
                             "the mailbox of %s holds %u messages and may hold %u",
                             mail->actor->name, mail->used, mail->actor->mailbox_most);
    cleave__world_note(world, mail);
}

void cleave__world_done(struct cleave__world *world, struct cleave__mail *mail)
{
    struct cleave__parcel *parcel = mail->serving;
    mail->serving = NULL;
    mail->actor->stats.busy_ns += mail->serve_ns;
    cleave__actor_take(cleave__world_turn(world, mail), parcel->bytes, parcel->size,
                       parcel->sent_ns);
    cleave__parcels_give(&world->parcels, parcel);
    cleave__world_turn_over(world, mail);
}

static uint64_t service_ns(struct cleave__world *world, const struct cleave__mail *mail,
                           const struct cleave__parcel *parcel)
{
    const struct cleave__actor *actor = mail->actor;
    if (parcel->bytes[3] & CLEAVE_FRAME_TIMER)
        return 0;
    uint64_t body = parcel->size - CLEAVE_FRAME_HEADER_BYTES;
    uint64_t ns = actor->service.low_ns || actor->service.kind != CLEAVE_CONSTANT
                      ? cleave__distribution_draw(&actor->service, &world->random)
                      : 0;
    return ns + (actor->service_per_byte_ps ? body * actor->service_per_byte_ps / 1000 : 0);
}

/* Takes the next message up, if there is one, the actor is free for it, and a processor too. */
static void serve(struct cleave__world *world, struct cleave__mail *mail)
{
    struct cleave__actor *actor = mail->actor;
    struct cleave__parcel *parcel = mail->first;
    if (!parcel || mail->busy || mail->ready || actor->parked)
        return;
    struct cleave__machine *machine = cleave__world_machine(world, actor->node);
    if (machine->limits.servers && machine->busy >= machine->limits.servers) {
        mail->ready = true;
        mail->next_ready = NULL;
        *machine->end = mail;
        machine->end = &mail->next_ready;
        return;
    }
    machine->busy++;
    mail->busy = true;
    mail->first = parcel->next;
    if (!mail->first)
        mail->end = &mail->first;
    mail->queued--;
    if (!parcel->reserved)
        cleave__world_room(world, mail);
    cleave__world_trace_parcel(world, CLEAVE_TRACE_TAKEN, parcel);
    parcel->sent_ns = world->now_ns - parcel->sent_ns; /* from here on: how long it waited */
    mail->serving = parcel;
    mail->serve_ns = service_ns(world, mail, parcel);
    if (mail->serve_ns)
        cleave__world_schedule(world,
                               (struct cleave__event){.at_ns = world->now_ns + mail->serve_ns,
                                                      .actor = actor->number,
                                                      .what = CLEAVE__EVENT_DONE,
                                                      .life = mail->life});
    else
        cleave__world_done(world, mail);
}

void cleave__world_agenda(struct cleave__world *world)
{
    while (world->agenda && !cleave__runtime_over(world->runtime)) {
        struct cleave__mail *mail = world->agenda;
        world->agenda = mail->next_agenda;
        if (!world->agenda)
            world->agenda_end = &world->agenda;
        mail->on_agenda = false;
        if (mail->down)
            continue;
        if (mail->drain) {
            mail->drain = false;
            cleave__actor_drain(cleave__world_turn(world, mail));
        }
        serve(world, mail);
    }
}

bool cleave__world_check(const struct cleave__world *world)
{
    const struct cleave_runtime *runtime = world->runtime;
    uint64_t used = 0, places = 0, busy = 0;
    for (size_t a = 0; a < runtime->actors.count; a++) {
        const struct cleave__mail *mail = runtime->actors.data[a]->mail;
        uint32_t queued = 0;
        struct cleave__parcel *const *end = &mail->first;
        for (; *end; end = &(*end)->next) {
            queued++;
            places += !(*end)->reserved;
        }
        used += mail->used;
        busy += mail->busy;
        if (!cleave__waiters_check(&mail->waiters) || queued != mail->queued ||
            (struct cleave__parcel **)end != mail->end || mail->used > mail->actor->mailbox_most ||
            (mail->serving && !mail->busy) ||
            (mail->down && (mail->first || mail->busy || mail->ready)))
            return false;
    }
    for (size_t e = 0; e < world->events.heap.count; e++) {
        const struct cleave__event *event = &world->events.heap.data[e];
        if (event->what == CLEAVE__EVENT_ARRIVE)
            places += !((struct cleave__parcel *)event->parcel)->reserved;
        if (event->at_ns < world->now_ns)
            return false;
    }
    uint64_t held = 0;
    for (size_t m = 0; m < world->machines.count; m++)
        held += world->machines.data[m]->busy;
    return used == places && busy == held && cleave__events_check(&world->events) &&
           cleave__timers_check(&world->timers);
}
