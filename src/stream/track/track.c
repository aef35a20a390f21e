/* Who is inside which query; see the header. */
#include "stream/track/track.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "stream/track/inside.h"

static enum cleave_status no_memory(struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory to track things");
}

/* Lists. `which` is the offset of the links in a thing. */
static struct cleave__links *links(struct cleave__tracker *t, uint32_t thing, bool wait)
{
    struct cleave__thing *at = &t->things.data[thing];
    return wait ? &at->wait : &at->seen;
}

static void link_last(struct cleave__tracker *t, uint32_t thing, bool wait)
{
    struct cleave__ends *ends = wait ? &t->wait : &t->seen;
    *links(t, thing, wait) = (struct cleave__links){ends->last, CLEAVE__NO_THING};
    if (ends->last == CLEAVE__NO_THING)
        ends->first = thing;
    else
        links(t, ends->last, wait)->after = thing;
    ends->last = thing;
}

static void unlink_thing(struct cleave__tracker *t, uint32_t thing, bool wait)
{
    struct cleave__ends *ends = wait ? &t->wait : &t->seen;
    struct cleave__links at = *links(t, thing, wait);
    if (at.before == CLEAVE__NO_THING)
        ends->first = at.after;
    else
        links(t, at.before, wait)->after = at.after;
    if (at.after == CLEAVE__NO_THING)
        ends->last = at.before;
    else
        links(t, at.after, wait)->before = at.before;
}

/* Known queries. */
static void let_go(struct cleave__tracker *t, uint32_t number)
{
    struct cleave__known *known = &t->known.data[number];
    assert(known->held > 0);
    if (--known->held == 0 && !known->live) {
        known->id = 0;
        t->free_known.data[t->free_known.count++] = number;
    }
}

enum cleave_status cleave__tracker_add(struct cleave__tracker *t, uint64_t query,
                                       struct cleave_error *error)
{
    assert(!cleave__map_find(&t->known_of, query));
    if (!CLEAVE_RESERVE(&t->known, t->known.count + 1) ||
        !CLEAVE_RESERVE(&t->free_known, t->known.count + 1))
        return no_memory(error);
    uint64_t *place = cleave__map_put(&t->known_of, query);
    if (!place)
        return no_memory(error);
    uint32_t number = t->free_known.count ? t->free_known.data[--t->free_known.count]
                                          : (uint32_t)t->known.count++;
    t->known.data[number] = (struct cleave__known){query, 0, true};
    *place = number;
    return CLEAVE_OK;
}

enum cleave_status cleave__tracker_end(struct cleave__tracker *t, uint64_t query, uint64_t time_ms,
                                       struct cleave__track_events *events,
                                       struct cleave_error *error)
{
    uint64_t *place = cleave__map_find(&t->known_of, query);
    if (!place)
        return CLEAVE_OK;
    struct cleave__track_event event = {
        .kind = CLEAVE__EVENT_EXPIRE, .query = query, .time_ms = time_ms};
    if (!CLEAVE_PUSH(&events->items, event))
        return no_memory(error);
    uint32_t number = (uint32_t)*place;
    struct cleave__known *known = &t->known.data[number];
    cleave__map_remove(&t->known_of, query);
    known->live = false;
    known->held++; /* so that letting go frees it if nothing else holds it */
    let_go(t, number);
    t->counts.expired++;
    return CLEAVE_OK;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* A message's queries as numbers, rising, in scratch. */
static bool resolve(struct cleave__tracker *t, const struct cleave__track_message *message)
{
    t->scratch.count = 0;
    if (!CLEAVE_RESERVE(&t->scratch, (size_t)message->count + 1))
        return false;
    for (uint32_t i = 0; i < message->count; i++) {
        const uint64_t *place = cleave__map_find(&t->known_of, message->queries[i]);
        if (place)
            t->scratch.data[t->scratch.count++] = (uint32_t)*place;
    }
    if (t->scratch.count > 1)
        qsort(t->scratch.data, t->scratch.count, sizeof *t->scratch.data, compare);
    return true;
}

static void tell(struct cleave__tracker *t, struct cleave__track_events *events,
                 enum cleave__event kind, const struct cleave__thing *thing, uint32_t number,
                 uint64_t sequence, uint64_t time_ms)
{
    struct cleave__track_event event = {.kind = kind,
                                        .thing = thing->id,
                                        .query = t->known.data[number].id,
                                        .time_ms = time_ms,
                                        .sequence = sequence};
    assert(events->items.count < events->items.capacity);
    events->items.data[events->items.count++] = event;
    *(kind == CLEAVE__EVENT_ENTER ? &t->counts.entered : &t->counts.left) += 1;
}

/* The thing is now inside `items` and nothing else; each of them is held once already, by this
 * message. There is room in events for all, and in the set. */
static void apply(struct cleave__tracker *t, struct cleave__thing *thing, const uint32_t *items,
                  uint32_t count, uint64_t sequence, uint64_t time_ms,
                  struct cleave__track_events *events)
{
    struct cleave__places *inside = &thing->inside;
    uint32_t i = 0, j = 0, kept = 0;
    while (i < inside->count || j < count) {
        bool old = j == count || (i < inside->count && inside->items[i] <= items[j]);
        bool fresh = i == inside->count || (j < count && items[j] <= inside->items[i]);
        uint32_t number = old ? inside->items[i] : items[j];
        bool live = t->known.data[number].live;
        if (live && old && !fresh)
            tell(t, events, CLEAVE__EVENT_EXIT, thing, number, sequence, time_ms);
        if (live && fresh && !old)
            tell(t, events, CLEAVE__EVENT_ENTER, thing, number, sequence, time_ms);
        i += old;
        j += fresh;
    }
    for (i = 0; i < inside->count; i++)
        let_go(t, inside->items[i]);
    for (j = 0; j < count; j++) {
        if (t->known.data[items[j]].live)
            inside->items[kept++] = items[j];
        else
            let_go(t, items[j]);
    }
    inside->count = kept;
}

static bool room_inside(struct cleave__tracker *t, struct cleave__places *inside, size_t need)
{
    if (need <= inside->capacity)
        return true;
    size_t grown = need < 4 ? 4 : need + need / 2;
    uint32_t *items = realloc(inside->items, grown * sizeof *items);
    if (!items)
        return false;
    t->bytes += (grown - inside->capacity) * sizeof *items;
    inside->items = items;
    inside->capacity = (uint32_t)grown;
    return true;
}

/* Room for all that could follow at once, so that nothing fails half way. */
static bool room(struct cleave__tracker *t, struct cleave__thing *thing, size_t count,
                 struct cleave__track_events *events)
{
    size_t most = count, all = thing->inside.count + 2 * count;
    for (uint32_t i = 0; i < thing->early_count; i++) {
        most = thing->early[i].count > most ? thing->early[i].count : most;
        all += 2 * (size_t)thing->early[i].count;
    }
    return room_inside(t, &thing->inside, most) &&
           CLEAVE_RESERVE(&events->items, events->items.count + all);
}

static void stop_waiting(struct cleave__tracker *t, struct cleave__thing *thing, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        t->bytes -= thing->early[i].count * sizeof *thing->early[i].items;
        free(thing->early[i].items);
    }
    thing->early_count -= count;
    t->held -= count;
    if (thing->early_count)
        memmove(thing->early, thing->early + count, thing->early_count * sizeof *thing->early);
}

/* Those whose turn it is; `skip`: the gap before the first is passed over. Room is there. */
static void release(struct cleave__tracker *t, uint32_t number, bool skip,
                    struct cleave__track_events *events)
{
    struct cleave__thing *thing = &t->things.data[number];
    uint32_t done = 0;
    if (thing->early_count == 0)
        return;
    if (skip && thing->early[0].sequence > thing->next) {
        t->counts.gaps += thing->early[0].sequence - thing->next;
        thing->next = thing->early[0].sequence;
    }
    for (; done < thing->early_count && thing->early[done].sequence == thing->next; done++) {
        const struct cleave__early *early = &thing->early[done];
        apply(t, thing, early->items, early->count, early->sequence, early->time_ms, events);
        thing->next++;
    }
    stop_waiting(t, thing, done);
    if (thing->early_count == 0) {
        unlink_thing(t, number, true);
    } else if (done) { /* waits anew, for what lacks now */
        unlink_thing(t, number, true);
        thing->wait_ms = t->clock_ms;
        link_last(t, number, true);
    }
}

static void drop(struct cleave__tracker *t, uint32_t number)
{
    struct cleave__thing *thing = &t->things.data[number];
    for (uint32_t i = 0; i < thing->inside.count; i++)
        let_go(t, thing->inside.items[i]);
    if (thing->early_count)
        unlink_thing(t, number, true);
    for (uint32_t i = 0; i < thing->early_count; i++) {
        for (uint32_t k = 0; k < thing->early[i].count; k++)
            let_go(t, thing->early[i].items[k]);
    }
    stop_waiting(t, thing, thing->early_count);
    t->bytes -= thing->inside.capacity * sizeof *thing->inside.items + thing->name_length +
                thing->early_capacity * sizeof *thing->early;
    free(thing->inside.items);
    free(thing->early);
    free(thing->name);
    unlink_thing(t, number, false);
    cleave__map_remove(&t->thing_of, thing->id);
    *thing = (struct cleave__thing){.seen.after = t->free_thing};
    t->free_thing = number;
    t->thing_count--;
}

/* Leaves everything, and goes. What waits comes first. */
static bool leave_all(struct cleave__tracker *t, uint32_t number,
                      struct cleave__track_events *events)
{
    struct cleave__thing *thing = &t->things.data[number];
    char *name = NULL;
    if (!room(t, thing, 0, events))
        return false;
    if (thing->name) {
        name = cleave__arena_copy(&events->names, thing->name, thing->name_length);
        if (!name)
            return false;
    }
    while (thing->early_count)
        release(t, number, true, events);
    size_t first = events->items.count;
    apply(t, thing, NULL, 0, 0, t->clock_ms, events);
    for (size_t i = first; i < events->items.count; i++) {
        events->items.data[i].name = name;
        events->items.data[i].name_length = thing->name_length;
    }
    drop(t, number);
    return true;
}

static bool copy_name(struct cleave__tracker *t, struct cleave__thing *thing,
                      const struct cleave__track_message *message)
{
    if (thing->name || !message->name)
        return true;
    thing->name = malloc(message->name_length + 1);
    if (!thing->name)
        return false;
    memcpy(thing->name, message->name, message->name_length);
    thing->name_length = message->name_length;
    t->bytes += message->name_length;
    return true;
}

/* The thing, made if it is new; CLEAVE__NO_THING: no memory. */
static uint32_t thing_for(struct cleave__tracker *t, const struct cleave__track_message *message,
                          struct cleave__track_events *events)
{
    const uint64_t *place = cleave__map_find(&t->thing_of, message->thing);
    if (place)
        return (uint32_t)*place;
    if (t->thing_count >= t->options.things_most) {
        if (!leave_all(t, t->seen.first, events))
            return CLEAVE__NO_THING;
        t->counts.evicted++;
    }
    if (t->free_thing == CLEAVE__NO_THING) {
        if (!CLEAVE_RESERVE(&t->things, t->things.count + 1))
            return CLEAVE__NO_THING;
        t->things.data[t->things.count] = (struct cleave__thing){.seen.after = CLEAVE__NO_THING};
        t->free_thing = (uint32_t)t->things.count++;
    }
    uint64_t *fresh = cleave__map_put(&t->thing_of, message->thing);
    if (!fresh)
        return CLEAVE__NO_THING;
    uint32_t number = t->free_thing;
    struct cleave__thing *thing = &t->things.data[number];
    t->free_thing = thing->seen.after;
    *fresh = number;
    *thing = (struct cleave__thing){.id = message->thing, .next = 1, .seen_ms = t->clock_ms};
    link_last(t, number, false);
    t->thing_count++;
    return number;
}

static void seen(struct cleave__tracker *t, uint32_t number)
{
    unlink_thing(t, number, false);
    t->things.data[number].seen_ms = t->clock_ms;
    link_last(t, number, false);
}

/* Keeps the message of scratch for later. */
static bool keep(struct cleave__tracker *t, uint32_t number,
                 const struct cleave__track_message *message)
{
    struct cleave__thing *thing = &t->things.data[number];
    uint32_t *items = NULL;
    if (thing->early_count == thing->early_capacity) {
        size_t capacity = thing->early_capacity, before = capacity;
        if (!cleave__vector_reserve(&thing->early, &capacity, capacity + 1, sizeof *thing->early))
            return false;
        thing->early_capacity = (uint32_t)capacity;
        t->bytes += (capacity - before) * sizeof *thing->early;
    }
    if (t->scratch.count) {
        items = malloc(t->scratch.count * sizeof *items);
        if (!items)
            return false;
        memcpy(items, t->scratch.data, t->scratch.count * sizeof *items);
        t->bytes += t->scratch.count * sizeof *items;
    }
    uint32_t at = thing->early_count++;
    for (; at > 0 && thing->early[at - 1].sequence > message->sequence; at--)
        thing->early[at] = thing->early[at - 1];
    thing->early[at] = (struct cleave__early){message->sequence, message->time_ms, items,
                                              (uint32_t)t->scratch.count};
    for (size_t i = 0; i < t->scratch.count; i++)
        t->known.data[t->scratch.data[i]].held++;
    t->held++;
    if (thing->early_count == 1) {
        thing->wait_ms = t->clock_ms;
        link_last(t, number, true);
    }
    return true;
}

static bool is_there(const struct cleave__thing *thing, uint64_t sequence)
{
    for (uint32_t i = 0; i < thing->early_count; i++) {
        if (thing->early[i].sequence == sequence)
            return true;
    }
    return false;
}

/* Its turn has come: now, and then those that waited for it. */
static void take_now(struct cleave__tracker *t, uint32_t number,
                     const struct cleave__track_message *message,
                     struct cleave__track_events *events)
{
    struct cleave__thing *thing = &t->things.data[number];
    for (size_t i = 0; i < t->scratch.count; i++)
        t->known.data[t->scratch.data[i]].held++;
    apply(t, thing, t->scratch.data, (uint32_t)t->scratch.count, message->sequence,
          message->time_ms, events);
    thing->next = message->sequence + 1;
    release(t, number, false, events);
}

static bool take(struct cleave__tracker *t, uint32_t number,
                 const struct cleave__track_message *message, struct cleave__track_events *events)
{
    struct cleave__thing *thing = &t->things.data[number];
    bool ordered = t->options.wait_most > 0;
    if (!copy_name(t, thing, message) || !room(t, thing, t->scratch.count, events))
        return false;
    if (ordered && (message->sequence < thing->next || is_there(thing, message->sequence))) {
        t->counts.late++;
    } else if (!ordered || message->sequence == thing->next) {
        take_now(t, number, message, events);
    } else {
        if (!keep(t, number, message))
            return false;
        t->counts.waited++;
        if (thing->early_count > t->options.wait_most || t->held > t->options.held_most)
            release(t, number, true, events);
    }
    if (!ordered && thing->inside.count == 0)
        drop(t, number); /* nothing to remember */
    else
        seen(t, number);
    return true;
}

enum cleave_status cleave__tracker_message(struct cleave__tracker *t,
                                           const struct cleave__track_message *message,
                                           struct cleave__track_events *events,
                                           struct cleave_error *error)
{
    if (!resolve(t, message))
        return no_memory(error);
    uint64_t clock = t->clock_ms;
    bool fresh = !cleave__map_find(&t->thing_of, message->thing);
    if (fresh && t->options.wait_most == 0 && t->scratch.count == 0) {
        if (message->time_ms > t->clock_ms) /* of nobody, inside of nothing */
            t->clock_ms = message->time_ms;
        t->counts.messages++;
        t->counts.unknown += message->count;
        return CLEAVE_OK;
    }
    uint32_t number = thing_for(t, message, events);
    if (number == CLEAVE__NO_THING)
        return no_memory(error); /* who left for want of room has left */
    if (message->time_ms > t->clock_ms)
        t->clock_ms = message->time_ms;
    if (!take(t, number, message, events)) {
        t->clock_ms = clock;
        if (fresh)
            drop(t, number);
        return no_memory(error);
    }
    t->counts.messages++;
    t->counts.unknown += message->count - t->scratch.count;
    return CLEAVE_OK;
}

enum cleave_status cleave__tracker_tick(struct cleave__tracker *t, uint64_t now_ms,
                                        struct cleave__track_events *events,
                                        struct cleave_error *error)
{
    if (now_ms > t->clock_ms)
        t->clock_ms = now_ms;
    uint64_t wait = t->options.wait_ms, ttl = t->options.ttl_ms;
    while (wait && t->wait.first != CLEAVE__NO_THING) {
        struct cleave__thing *thing = &t->things.data[t->wait.first];
        if (t->clock_ms - thing->wait_ms < wait)
            break;
        if (!room(t, thing, 0, events))
            return no_memory(error);
        release(t, t->wait.first, true, events);
    }
    while (ttl && t->seen.first != CLEAVE__NO_THING) {
        if (t->clock_ms - t->things.data[t->seen.first].seen_ms < ttl)
            break;
        if (!leave_all(t, t->seen.first, events))
            return no_memory(error);
        t->counts.silent++;
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__tracker_new(const struct cleave__track_options *options,
                                       struct cleave__tracker **out, struct cleave_error *error)
{
    if (options->held_most == 0 || options->things_most == 0)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "a tracker needs room for a thing and for a message");
    struct cleave__tracker *t = calloc(1, sizeof *t);
    if (!t)
        return no_memory(error);
    t->options = *options;
    t->free_thing = CLEAVE__NO_THING;
    t->seen = t->wait = (struct cleave__ends){CLEAVE__NO_THING, CLEAVE__NO_THING};
    *out = t;
    return CLEAVE_OK;
}

void cleave__tracker_free(struct cleave__tracker *t)
{
    if (!t)
        return;
    while (t->seen.first != CLEAVE__NO_THING)
        drop(t, t->seen.first);
    cleave__map_free(&t->thing_of);
    cleave__map_free(&t->known_of);
    CLEAVE_VECTOR_FREE(&t->things);
    CLEAVE_VECTOR_FREE(&t->known);
    CLEAVE_VECTOR_FREE(&t->free_known);
    CLEAVE_VECTOR_FREE(&t->scratch);
    free(t);
}
