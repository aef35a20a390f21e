/* What the tracker says about itself, and every invariant of it. */
#include <stdlib.h>

#include "stream/track/inside.h"

void cleave__track_events_clear(struct cleave__track_events *events)
{
    events->items.count = 0;
    cleave__arena_rewind(&events->names, (struct cleave_arena_mark){0});
}

void cleave__track_events_free(struct cleave__track_events *events)
{
    CLEAVE_VECTOR_FREE(&events->items);
    cleave__arena_free(&events->names);
}

const struct cleave__track_counts *cleave__tracker_counts(const struct cleave__tracker *t)
{
    return &t->counts;
}

uint64_t cleave__tracker_things(const struct cleave__tracker *t)
{
    return t->thing_count;
}

size_t cleave__tracker_bytes(const struct cleave__tracker *t)
{
    return sizeof *t + t->bytes + cleave__map_bytes(&t->thing_of) +
           cleave__map_bytes(&t->known_of) + t->things.capacity * sizeof *t->things.data +
           t->known.capacity * sizeof *t->known.data +
           t->free_known.capacity * sizeof *t->free_known.data +
           t->scratch.capacity * sizeof *t->scratch.data;
}

static int rising(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

bool cleave__tracker_each(const struct cleave__tracker *t,
                          bool (*each)(void *context, uint64_t thing, const uint64_t *queries,
                                       uint32_t count),
                          void *context)
{
    CLEAVE_VECTOR(uint64_t) ids = {0};
    bool fine = true;
    for (uint32_t at = t->seen.first; at != CLEAVE__NO_THING && fine;) {
        const struct cleave__thing *thing = &t->things.data[at];
        fine = CLEAVE_RESERVE(&ids, (size_t)thing->inside.count + 1);
        ids.count = 0;
        for (uint32_t i = 0; i < thing->inside.count && fine; i++) {
            const struct cleave__known *known = &t->known.data[thing->inside.items[i]];
            if (known->live)
                ids.data[ids.count++] = known->id;
        }
        if (fine && ids.count)
            qsort(ids.data, ids.count, sizeof *ids.data, rising);
        fine = fine && each(context, thing->id, ids.data, (uint32_t)ids.count);
        at = thing->seen.after;
    }
    CLEAVE_VECTOR_FREE(&ids);
    return fine;
}

static bool count_items(const struct cleave__tracker *t, const uint32_t *items, uint32_t count,
                        uint32_t *held)
{
    for (uint32_t i = 0; i < count; i++) {
        if (items[i] >= t->known.count || t->known.data[items[i]].id == 0 ||
            (i && items[i] <= items[i - 1]))
            return false;
        held[items[i]]++;
    }
    return true;
}

static bool check_thing(const struct cleave__tracker *t, const struct cleave__thing *thing,
                        uint32_t *held, size_t *bytes)
{
    *bytes += thing->name_length + thing->inside.capacity * sizeof *thing->inside.items +
              thing->early_capacity * sizeof *thing->early;
    if (!count_items(t, thing->inside.items, thing->inside.count, held) ||
        (t->options.wait_most == 0 && thing->inside.count == 0) ||
        thing->early_count > t->options.wait_most || thing->seen_ms > t->clock_ms)
        return false;
    for (uint32_t i = 0; i < thing->early_count; i++) {
        const struct cleave__early *early = &thing->early[i];
        *bytes += early->count * sizeof *early->items;
        if (early->sequence <= (i ? thing->early[i - 1].sequence : thing->next) ||
            !count_items(t, early->items, early->count, held))
            return false;
    }
    return true;
}

/* Every list goes through its things once, in order of time. */
static bool check_list(const struct cleave__tracker *t, bool wait, uint64_t wanted)
{
    const struct cleave__ends *ends = wait ? &t->wait : &t->seen;
    uint32_t before = CLEAVE__NO_THING;
    uint64_t count = 0, time_ms = 0;
    for (uint32_t at = ends->first; at != CLEAVE__NO_THING;) {
        const struct cleave__thing *thing = &t->things.data[at];
        const struct cleave__links *links = wait ? &thing->wait : &thing->seen;
        uint64_t when = wait ? thing->wait_ms : thing->seen_ms;
        if (links->before != before || thing->id == 0 || when < time_ms || ++count > wanted ||
            (wait && thing->early_count == 0))
            return false;
        time_ms = when;
        before = at;
        at = links->after;
    }
    return count == wanted && ends->last == before;
}

bool cleave__tracker_check(const struct cleave__tracker *t)
{
    uint32_t *held = calloc(t->known.count + 1, sizeof *held);
    uint64_t things = 0, waiting = 0, early = 0, live = 0;
    size_t bytes = 0, unused = 0;
    bool right = held && cleave__map_check(&t->thing_of) && cleave__map_check(&t->known_of);
    for (size_t i = 0; i < t->things.count && right; i++) {
        const struct cleave__thing *thing = &t->things.data[i];
        if (thing->id == 0)
            continue;
        const uint64_t *place = cleave__map_find(&t->thing_of, thing->id);
        things++;
        waiting += thing->early_count > 0;
        early += thing->early_count;
        right = place && *place == i && check_thing(t, thing, held, &bytes);
    }
    for (size_t i = 0; i < t->known.count && right; i++) {
        const struct cleave__known *known = &t->known.data[i];
        const uint64_t *place = known->live ? cleave__map_find(&t->known_of, known->id) : NULL;
        live += known->live;
        unused += known->id == 0;
        right = known->held == held[i] && (!known->live || (place && *place == i)) &&
                (known->live || known->held || known->id == 0);
    }
    free(held);
    return right && things == t->thing_count && things == t->thing_of.count && early == t->held &&
           live == t->known_of.count && unused == t->free_known.count && bytes == t->bytes &&
           t->held <= t->options.held_most && t->thing_count <= t->options.things_most &&
           check_list(t, false, things) && check_list(t, true, waiting);
}
