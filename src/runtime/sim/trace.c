/* Every event, told to whoever listens, and summed up in the digest. */
#include "runtime/sim/world.h"

void cleave__trace_encode(const struct cleave_trace_event *event,
                          uint8_t to[CLEAVE_TRACE_EVENT_BYTES])
{
    cleave__store64(to, event->at_ns);
    to[8] = event->what;
    cleave__store32(to + 9, event->actor);
    cleave__store32(to + 13, event->sender);
    cleave__store32(to + 17, event->kind);
    cleave__store32(to + 21, event->length);
    cleave__store64(to + 25, event->sequence);
}

static uint64_t mix(uint64_t digest, uint64_t value)
{
    digest = (digest ^ value) * UINT64_C(0x9fb21c651e98df25);
    return digest ^ digest >> 28;
}

static void tell(struct cleave__world *world, const struct cleave_trace_event *event)
{
    const struct cleave_sim_options *options = &world->runtime->options.sim;
    uint64_t digest = mix(world->digest, event->at_ns);
    digest = mix(digest, (uint64_t)event->actor << 32 | event->sender);
    digest = mix(digest, (uint64_t)event->kind << 32 | event->length);
    world->digest = mix(digest, event->sequence << 8 | event->what);
    if (options->trace)
        options->trace(options->trace_context, event);
}

void cleave__world_trace(struct cleave__world *world, enum cleave_trace_what what, uint32_t actor,
                         const struct cleave_frame *frame, uint64_t sequence)
{
    static const struct cleave_frame none = {0};
    frame = frame ? frame : &none;
    tell(world, &(struct cleave_trace_event){.at_ns = world->now_ns,
                                             .what = (uint8_t)what,
                                             .actor = actor,
                                             .sender = frame->sender,
                                             .kind = frame->kind,
                                             .length = frame->length,
                                             .sequence = sequence});
}

void cleave__world_trace_parcel(struct cleave__world *world, enum cleave_trace_what what,
                                const struct cleave__parcel *parcel)
{
    const uint8_t *bytes = parcel->bytes;
    tell(world, &(struct cleave_trace_event){.at_ns = world->now_ns,
                                             .what = (uint8_t)what,
                                             .actor = cleave__load32(bytes + 16),
                                             .sender = cleave__load32(bytes + 12),
                                             .kind = cleave__load32(bytes + 4),
                                             .length = cleave__load32(bytes + 8),
                                             .sequence = cleave__load64(bytes + 32)});
}
