/* A message on its way: the sender's link, the delay, the order of its channel, and faults. */
#include "runtime/sim/world.h"

static bool inside(const struct cleave_fault *fault, uint32_t node)
{
    return node >= fault->first_node && node - fault->first_node < fault->node_count;
}

/* What faults do to a message from one node to another. False: it is lost. */
static bool pass_faults(const struct cleave__world *world, uint32_t from, uint32_t to,
                        uint64_t *arrival_ns)
{
    uint64_t held_until_ns = 0, extra_ns = 0;
    for (size_t i = 0; i < world->faults.count; i++) {
        const struct cleave_fault *fault =
            &world->runtime->options.sim.faults[world->faults.data[i]];
        bool across = inside(fault, from) != inside(fault, to);
        if (fault->kind == CLEAVE_FAULT_LOSE && across)
            return false;
        if (fault->kind == CLEAVE_FAULT_HOLD && across &&
            fault->at_ns + fault->for_ns > held_until_ns)
            held_until_ns = fault->at_ns + fault->for_ns;
        if (fault->kind == CLEAVE_FAULT_SLOW && (inside(fault, from) || inside(fault, to)))
            extra_ns += fault->extra_ns;
    }
    if (held_until_ns > world->now_ns)
        *arrival_ns += held_until_ns - world->now_ns;
    *arrival_ns += extra_ns;
    return true;
}

/* When a message of so many bytes, sent now, has passed the node's outgoing link. */
static uint64_t leave_ns(struct cleave__machine *machine, uint64_t now_ns, uint64_t bytes)
{
    if (!machine->limits.bytes_per_s)
        return now_ns;
    uint64_t begin_ns = machine->link_free_ns > now_ns ? machine->link_free_ns : now_ns;
    /* At most 2^25 bytes: no overflow. */
    machine->link_free_ns = begin_ns + bytes * UINT64_C(1000000000) / machine->limits.bytes_per_s;
    return machine->link_free_ns;
}

void cleave__world_withdraw(struct cleave__mail *mail, struct cleave__channel *channel)
{
    if (cleave__waiters_waits(&mail->waiters, channel->waiting))
        cleave__waiters_withdraw(&mail->waiters, channel->waiting);
    channel->waiting = 0;
}

static enum cleave__offer wait_for_room(struct cleave__world *world, struct cleave__mail *mail,
                                        uint32_t sender, struct cleave__channel *channel)
{
    if (cleave__waiters_waits(&mail->waiters, channel->waiting))
        return CLEAVE__FULL; /* already */
    if (!cleave__waiters_add(&mail->waiters, sender, &channel->waiting)) {
        cleave__runtime_no_memory(world->runtime);
        return CLEAVE__FAILED;
    }
    return CLEAVE__FULL;
}

enum cleave__offer cleave__world_offer(struct cleave_context *context,
                                       struct cleave__channel *channel,
                                       const struct cleave_frame *frame, bool forced)
{
    struct cleave__world *world = context->runtime->state;
    const struct cleave_sim_options *options = &world->runtime->options.sim;
    struct cleave__actor *sender = context->actor;
    struct cleave__mail *mail = cleave__world_mail(world, frame->receiver);
    bool reserved = frame->flags & CLEAVE_FRAME_REPLY;
    if (!reserved && !forced && mail->used >= mail->actor->mailbox_most) {
        cleave__world_trace(world, CLEAVE_TRACE_PARKED, frame->receiver, frame, 0);
        return wait_for_room(world, mail, sender->number, channel);
    }
    if (channel->waiting && channel->parked <= 1) /* the last one that waited */
        cleave__world_withdraw(mail, channel);
    size_t size = cleave__frame_bytes(frame);
    uint64_t now_ns = cleave__now_ns(context), arrival_ns = now_ns;
    if (sender->number) {
        uint32_t from = sender->node, to = mail->actor->node;
        if (from != to)
            arrival_ns = leave_ns(cleave__world_machine(world, from), now_ns, size);
        arrival_ns += cleave__distribution_draw(from == to ? &options->local : &options->remote,
                                                &world->random);
        if (world->faults.count && !pass_faults(world, from, to, &arrival_ns)) {
            mail->actor->stats.lost++;
            cleave__world_trace(world, CLEAVE_TRACE_LOST, frame->receiver, frame, 0);
            return CLEAVE__SENT;
        }
    }
    struct cleave__parcel *parcel = cleave__parcels_new(&world->parcels, size);
    if (!parcel) {
        cleave__runtime_no_memory(world->runtime);
        return CLEAVE__FAILED;
    }
    if (arrival_ns < channel->arrival_ns)
        arrival_ns = channel->arrival_ns;
    channel->arrival_ns = arrival_ns;
    cleave__channel_write(world->runtime, channel, frame, parcel->bytes);
    parcel->sent_ns = now_ns;
    parcel->reserved = reserved;
    mail->used += !reserved;
    cleave__world_trace(world, CLEAVE_TRACE_SENT, frame->receiver, frame, channel->sent);
    if (!cleave__events_add(&world->events, (struct cleave__event){.at_ns = arrival_ns,
                                                                   .parcel = parcel,
                                                                   .actor = frame->receiver,
                                                                   .what = CLEAVE__EVENT_ARRIVE})) {
        mail->used -= !reserved;
        cleave__parcels_give(&world->parcels, parcel);
        cleave__runtime_no_memory(world->runtime);
        return CLEAVE__FAILED;
    }
    return CLEAVE__SENT;
}
