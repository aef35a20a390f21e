/* Faults on demand: when they begin and end, crashes, and a plan of them drawn from a seed. */
#include <assert.h>

#include "runtime/sim/world.h"

enum cleave_status cleave__world_plan_faults(struct cleave__world *world,
                                             struct cleave_error *error)
{
    const struct cleave_sim_options *options = &world->runtime->options.sim;
    for (size_t i = 0; i < options->fault_count; i++) {
        const struct cleave_fault *fault = &options->faults[i];
        bool for_ever = fault->for_ns > UINT64_MAX - fault->at_ns;
        if (fault->kind >= CLEAVE_FAULT_KINDS || (for_ever && fault->kind == CLEAVE_FAULT_HOLD) ||
            fault->extra_ns > CLEAVE_DISTRIBUTION_MOST_NS)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "fault %zu makes no sense: an unknown kind, or messages held "
                                    "for ever or slowed by more than 11 days",
                                    i);
        if (!cleave__events_add(&world->events,
                                (struct cleave__event){.at_ns = fault->at_ns,
                                                       .actor = (uint32_t)i,
                                                       .what = CLEAVE__EVENT_BEGIN}) ||
            !CLEAVE_RESERVE(&world->faults, i + 1))
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the faults");
        world->begins++;
    }
    return CLEAVE_OK;
}

static void crash(struct cleave__world *world, struct cleave__mail *mail)
{
    struct cleave__machine *machine = cleave__world_machine(world, mail->actor->node);
    if (mail->down)
        return;
    cleave__world_trace(world, CLEAVE_TRACE_CRASH, mail->actor->number, NULL, 0);
    mail->life++;
    struct cleave_context *context = cleave__world_turn(world, mail);
    if (mail->serving) {
        cleave__actor_lose(context, mail->serving->bytes, mail->serving->size);
        cleave__parcels_give(&world->parcels, mail->serving);
        mail->serving = NULL;
    }
    while (mail->first) {
        struct cleave__parcel *parcel = mail->first;
        mail->first = parcel->next;
        mail->queued--;
        cleave__world_trace_parcel(world, CLEAVE_TRACE_LOST, parcel);
        cleave__actor_lose(context, parcel->bytes, parcel->size);
        if (!parcel->reserved)
            cleave__world_room(world, mail);
        cleave__parcels_give(&world->parcels, parcel);
    }
    mail->end = &mail->first;
    /* Whoever waits for room here tries again, and loses what it sends until the restart. */
    for (uint32_t waiter; (waiter = cleave__waiters_take(&mail->waiters)) != UINT32_MAX;) {
        struct cleave__mail *other = cleave__world_mail(world, waiter);
        other->drain = true;
        cleave__world_note(world, other);
    }
    for (size_t i = 0; i < mail->actor->blocked.count; i++) {
        uint32_t peer = mail->actor->blocked.data[i];
        cleave__world_withdraw(cleave__world_mail(world, peer),
                               cleave__channels_find(&mail->actor->channels, peer));
    }
    cleave__actor_crash(cleave__world_turn(world, mail));
    for (struct cleave__mail **at = &machine->ready; mail->ready;) {
        if (*at == mail) {
            *at = mail->next_ready;
            if (machine->end == &mail->next_ready)
                machine->end = at;
            mail->ready = false;
        } else {
            at = &(*at)->next_ready;
        }
    }
    mail->down = true;
    if (mail->busy) {
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
    }
}

static void restart(struct cleave__world *world, struct cleave__mail *mail)
{
    if (!mail->down)
        return;
    cleave__world_trace(world, CLEAVE_TRACE_RESTART, mail->actor->number, NULL, 0);
    mail->down = false;
    mail->busy = true;
    cleave__world_machine(world, mail->actor->node)->busy++;
    cleave__actor_restart(cleave__world_turn(world, mail));
    cleave__world_turn_over(world, mail);
}

/* Another crash that still lasts keeps the actor down. */
static bool held_down(const struct cleave__world *world, const struct cleave__actor *actor)
{
    const struct cleave_sim_options *options = &world->runtime->options.sim;
    for (size_t i = 0; i < world->faults.count; i++) {
        const struct cleave_fault *fault = &options->faults[world->faults.data[i]];
        if (fault->kind == CLEAVE_FAULT_CRASH &&
            (fault->actor ? fault->actor == actor->number
                          : actor->node >= fault->first_node &&
                                actor->node - fault->first_node < fault->node_count))
            return true;
    }
    return false;
}

void cleave__world_fault(struct cleave__world *world, uint32_t number, bool begins)
{
    const struct cleave_fault *fault = &world->runtime->options.sim.faults[number];
    if (begins) {
        world->begins--;
        world->faults.data[world->faults.count++] = number;
        if (fault->for_ns <= UINT64_MAX - fault->at_ns)
            cleave__world_schedule(world,
                                   (struct cleave__event){.at_ns = fault->at_ns + fault->for_ns,
                                                          .actor = number,
                                                          .what = CLEAVE__EVENT_END});
    } else {
        size_t at = 0;
        while (world->faults.data[at] != number)
            at++;
        world->faults.data[at] = world->faults.data[--world->faults.count];
    }
    if (fault->kind != CLEAVE_FAULT_CRASH)
        return;
    for (size_t a = 1; a < world->runtime->actors.count; a++) {
        struct cleave__mail *mail = cleave__world_mail(world, (uint32_t)a);
        bool down = held_down(world, mail->actor);
        if (begins && down)
            crash(world, mail);
        else if (!begins && !down)
            restart(world, mail);
    }
}

void cleave__faults_draw(uint64_t seed, unsigned kinds, uint64_t horizon_ns, uint32_t node_count,
                         struct cleave_fault *faults, size_t count)
{
    struct cleave_random random;
    assert(node_count > 0);
    cleave__random_seed(&random, seed);
    for (size_t i = 0; i < count; i++) {
        struct cleave_fault *fault = &faults[i];
        uint64_t kind;
        do
            kind = cleave__random_below(&random, CLEAVE_FAULT_KINDS);
        while (kinds && !(kinds >> kind & 1));
        *fault = (struct cleave_fault){.kind = (enum cleave_fault_kind)kind};
        fault->at_ns = cleave__random_below(&random, horizon_ns + 1);
        fault->for_ns = cleave__random_below(&random, horizon_ns / 10 + 1);
        fault->first_node = (uint32_t)cleave__random_below(&random, node_count);
        fault->node_count =
            1 + (uint32_t)cleave__random_below(&random, node_count - fault->first_node);
        fault->extra_ns = cleave__random_below(&random, horizon_ns / 100 + 1);
    }
}
