/* The sim transport: one thread, a clock that jumps from event to event, one seed.
 *
 * Same seed, same events to the byte on every machine: nothing is drawn but from the world's and
 * the actors' own random streams, events of one instant keep the order in which they were caused,
 * times are whole nanoseconds, and draws use no libm (portable.h). */
#include <stdlib.h>

#include "runtime/sim/world.h"

static enum cleave_status open_world(struct cleave_runtime *runtime, void **state,
                                     struct cleave_error *error)
{
    struct cleave__world *world = calloc(1, sizeof *world);
    if (!world)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the simulated world");
    *state = world;
    world->runtime = runtime;
    world->context.runtime = runtime;
    world->agenda_end = &world->agenda;
    cleave__random_seed(&world->random, runtime->options.seed);
    return cleave__world_plan_faults(world, error);
}

static void close_world(void *state)
{
    struct cleave__world *world = state;
    for (size_t e = 0; e < world->events.heap.count; e++) {
        if (world->events.heap.data[e].what == CLEAVE__EVENT_ARRIVE)
            free(world->events.heap.data[e].parcel);
    }
    for (size_t m = 0; m < world->machines.count; m++)
        free(world->machines.data[m]);
    CLEAVE_VECTOR_FREE(&world->machines);
    CLEAVE_VECTOR_FREE(&world->events.heap);
    CLEAVE_VECTOR_FREE(&world->faults);
    cleave__timers_free(&world->timers);
    cleave__parcels_free(&world->parcels);
    free(world->context.writer.data);
    free(world);
}

static bool need_machines(struct cleave__world *world, uint32_t node)
{
    const struct cleave_sim_options *options = &world->runtime->options.sim;
    while (world->machines.count <= node) {
        struct cleave__machine *machine = calloc(1, sizeof *machine);
        if (!machine || !CLEAVE_PUSH(&world->machines, machine)) {
            free(machine);
            return false;
        }
        machine->end = &machine->ready;
        if (world->machines.count <= options->node_count)
            machine->limits = options->nodes[world->machines.count - 1];
    }
    return true;
}

static enum cleave_status add(void *state, struct cleave__actor *actor, struct cleave_error *error)
{
    enum { NODES_MOST = 1 << 20 };
    if (actor->node >= NODES_MOST)
        return cleave_error_set(error, CLEAVE_LIMIT, "%s is on node %u: there are at most %d",
                                actor->name, actor->node, NODES_MOST);
    struct cleave__mail *mail = calloc(1, sizeof *mail);
    actor->mail = mail;
    if (!mail || !need_machines(state, actor->node))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for an actor");
    mail->actor = actor;
    mail->end = &mail->first;
    return CLEAVE_OK;
}

static void drop(void *state, struct cleave__actor *actor)
{
    struct cleave__mail *mail = actor->mail;
    (void)state;
    if (!mail)
        return;
    free(mail->serving);
    while (mail->first) {
        struct cleave__parcel *next = mail->first->next;
        free(mail->first);
        mail->first = next;
    }
    cleave__waiters_free(&mail->waiters);
    free(mail);
}

static uint64_t now_ns(void *state)
{
    return ((struct cleave__world *)state)->now_ns;
}

static bool timer_set(struct cleave_context *context, uint64_t at_ns, uint64_t number,
                      uint64_t *handle)
{
    struct cleave__world *world = context->runtime->state;
    return cleave__timers_set(&world->timers, at_ns, context->actor->number, number, handle);
}

static void timer_cancel(struct cleave_context *context, uint64_t handle)
{
    struct cleave__world *world = context->runtime->state;
    cleave__timers_cancel(&world->timers, handle);
}

static void fire(struct cleave__world *world)
{
    struct cleave__timer timer = cleave__timers_take(&world->timers);
    struct cleave__parcel *parcel = cleave__parcels_new(&world->parcels, CLEAVE_FRAME_HEADER_BYTES);
    if (!parcel) {
        cleave__runtime_no_memory(world->runtime);
        return;
    }
    cleave__timer_write(world->runtime, timer.actor, timer.number, parcel->bytes);
    parcel->sent_ns = world->now_ns;
    parcel->reserved = true;
    cleave__world_trace(world, CLEAVE_TRACE_TIMER, timer.actor, NULL, timer.number);
    cleave__world_arrive(world, cleave__world_mail(world, timer.actor), parcel);
}

static void happen(struct cleave__world *world)
{
    struct cleave__event event = cleave__events_take(&world->events);
    if (event.what == CLEAVE__EVENT_BEGIN || event.what == CLEAVE__EVENT_END) {
        cleave__world_fault(world, event.actor, event.what == CLEAVE__EVENT_BEGIN);
        return;
    }
    struct cleave__mail *mail = cleave__world_mail(world, event.actor);
    if (event.what == CLEAVE__EVENT_ARRIVE)
        cleave__world_arrive(world, mail, event.parcel);
    else if (event.life != mail->life)
        return;
    else if (event.what == CLEAVE__EVENT_DONE)
        cleave__world_done(world, mail);
    else
        cleave__world_idle(world, mail);
}

/* Beyond it, sums of times might overflow. */
#define CLOCK_MOST_NS (UINT64_MAX / 4)

/* First turns, in order of spawning, each holding a processor even if none is free. */
static void start_actors(struct cleave__world *world)
{
    struct cleave_runtime *runtime = world->runtime;
    for (; world->started < runtime->actors.count && !cleave__runtime_over(runtime);
         world->started++) {
        struct cleave__mail *mail = cleave__world_mail(world, (uint32_t)world->started);
        if (!mail->actor->ops)
            continue;
        mail->busy = true;
        cleave__world_machine(world, mail->actor->node)->busy++;
        cleave__actor_start(cleave__world_turn(world, mail));
        cleave__world_turn_over(world, mail);
    }
}

static enum cleave_status run(void *state, uint64_t until_ns,
                              const struct cleave_progress *progress, struct cleave_error *error)
{
    struct cleave__world *world = state;
    struct cleave_runtime *runtime = world->runtime;
    enum { LOOK_EVERY = 4096, REPORT_EVERY = LOOK_EVERY * 64, STUCK_EVERY = LOOK_EVERY * 16 };
    start_actors(world);
    for (uint64_t n = 1;; n++) {
        cleave__world_agenda(world);
        if (runtime->options.sim.check_always && !cleave__runtime_over(runtime) &&
            !cleave__runtime_check(runtime))
            cleave__runtime_fail(runtime, CLEAVE_CORRUPT, "a check fails at %llu ns",
                                 (unsigned long long)world->now_ns);
        if (cleave__runtime_over(runtime))
            return CLEAVE_OK;
        const struct cleave__event *event = cleave__events_next(&world->events);
        const struct cleave__timer *timer = cleave__timers_next(&world->timers);
        if (!timer && world->events.heap.count == world->begins) {
            cleave__runtime_settle(runtime);
            return CLEAVE_OK;
        }
        bool timer_first = timer && (!event || timer->at_ns <= event->at_ns);
        uint64_t at_ns = timer_first ? timer->at_ns : event->at_ns;
        if (until_ns && at_ns > until_ns) {
            if (world->now_ns < until_ns)
                world->now_ns = until_ns;
            return CLEAVE_OK;
        }
        if (at_ns > CLOCK_MOST_NS) {
            cleave__runtime_fail(runtime, CLEAVE_LIMIT,
                                 "the simulated clock runs out after 146 years");
            return CLEAVE_OK;
        }
        world->now_ns = at_ns;
        if (timer_first)
            fire(world);
        else
            happen(world);
        if (n % STUCK_EVERY == 0) {
            /* Others may go on for ever; with the agenda empty, who is parked has met full
             * mailboxes. */
            cleave__world_agenda(world);
            cleave__runtime_find_cycle(runtime);
        }
        if (progress && n % LOOK_EVERY == 0) {
            if (progress->stop && *progress->stop)
                return cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
            if (progress->report && n % REPORT_EVERY == 0)
                progress->report(progress->context, "simulating", n, 0);
        }
    }
}

static bool check(void *state)
{
    return cleave__world_check(state);
}

static uint64_t digest(void *state)
{
    return ((struct cleave__world *)state)->digest;
}

const struct cleave_transport_ops cleave__sim = {.name = "sim",
                                                 .open = open_world,
                                                 .close = close_world,
                                                 .add = add,
                                                 .drop = drop,
                                                 .offer = cleave__world_offer,
                                                 .now_ns = now_ns,
                                                 .timer_set = timer_set,
                                                 .timer_cancel = timer_cancel,
                                                 .run = run,
                                                 .check = check,
                                                 .digest = digest,
                                                 .virtual_time = true};
