#include "stream/net/things.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "stream/track/track.h"

enum { THINGS_MOST = 1 << 28, TRACKED = CLEAVE__EVENT_ENTER | CLEAVE__EVENT_EXIT };

struct early { /* bytes == NULL: free */
    uint64_t order;
    uint8_t *bytes;
    uint32_t length, after; /* the next of its thing, by order; 0: none, else its place + 1 */
};

struct known { /* a query, as an object had it last */
    uint64_t id, end_ms;
    uint8_t events;
};

struct cleave__net_things {
    const struct cleave__stream_world *world;
    struct cleave__tracker *tracker;
    struct cleave__map next;    /* thing -> the order whose turn it is */
    struct cleave__map waiting; /* thing -> its first early one's place + 1 */
    struct cleave__map place;   /* query -> of known */
    CLEAVE_VECTOR(struct known) known;
    CLEAVE_VECTOR(struct early) early;
    CLEAVE_VECTOR(uint32_t) free_ones; /* room for all */
    uint64_t early_count;
    struct cleave__track_events events;
    CLEAVE_VECTOR(uint64_t) ids, entered, left;
    bool (*each)(void *context, const struct cleave__net_passage *passage);
    void *context;
};

static uint64_t order_of(const struct cleave__found *found)
{
    const uint64_t within = (UINT64_C(1) << CLEAVE__NET_NUMBER_BITS) - 1;
    return (found->object & ~within) | (found->sequence & within);
}

static uint64_t first_of(uint64_t order)
{
    return (order >> CLEAVE__NET_NUMBER_BITS << CLEAVE__NET_NUMBER_BITS) + 1;
}

static enum cleave_status no_memory(struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory to track things");
}

enum cleave_status cleave__net_things_new(const struct cleave__stream_world *world,
                                          struct cleave__net_things **out,
                                          struct cleave_error *error)
{
    const struct cleave__track_options options = {.held_most = 1, .things_most = THINGS_MOST};
    struct cleave__net_things *t = calloc(1, sizeof *t);
    if (!t)
        return no_memory(error);
    t->world = world;
    enum cleave_status status = cleave__tracker_new(&options, &t->tracker, error);
    if (status)
        cleave__net_things_free(t);
    else
        *out = t;
    return status;
}

void cleave__net_things_free(struct cleave__net_things *t)
{
    if (!t)
        return;
    cleave__tracker_free(t->tracker);
    cleave__map_free(&t->next);
    cleave__map_free(&t->waiting);
    cleave__map_free(&t->place);
    for (size_t i = 0; i < t->early.count; i++)
        free(t->early.data[i].bytes);
    CLEAVE_VECTOR_FREE(&t->known);
    CLEAVE_VECTOR_FREE(&t->early);
    CLEAVE_VECTOR_FREE(&t->free_ones);
    CLEAVE_VECTOR_FREE(&t->ids);
    CLEAVE_VECTOR_FREE(&t->entered);
    CLEAVE_VECTOR_FREE(&t->left);
    cleave__track_events_free(&t->events);
    free(t);
}

uint64_t cleave__net_things_waiting(const struct cleave__net_things *t)
{
    return t->early_count;
}

/* ---- an object whose turn it is ---- */

/* The query is known, as it is now. False: memory is out. */
static bool know(struct cleave__net_things *t, uint64_t id, uint64_t end_ms, uint8_t events)
{
    uint64_t *place = cleave__map_find(&t->place, id);
    if (!place) {
        if (cleave__tracker_add(t->tracker, id, NULL) ||
            !CLEAVE_PUSH(&t->known, (struct known){.id = id}))
            return false;
        place = cleave__map_put(&t->place, id);
        if (!place)
            return false;
        *place = t->known.count - 1;
    }
    t->known.data[*place].end_ms = end_ms;
    t->known.data[*place].events = events;
    return true;
}

static int rising(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* What the tracker says, to those who asked. */
static bool pass(struct cleave__net_things *t, const struct cleave__found *found)
{
    t->entered.count = t->left.count = 0;
    for (size_t i = 0; i < t->events.items.count; i++) {
        const struct cleave__track_event *event = &t->events.items.data[i];
        const struct known *known = &t->known.data[*cleave__map_find(&t->place, event->query)];
        bool exits = event->kind == CLEAVE__EVENT_EXIT;
        if (!(known->events & event->kind) || (exits && known->end_ms <= found->time_ms))
            continue;
        if (!(exits ? CLEAVE_PUSH(&t->left, event->query) : CLEAVE_PUSH(&t->entered, event->query)))
            return false;
    }
    if (!t->entered.count && !t->left.count)
        return true;
    /* The tracker's own order is not the same after a restart. */
    if (t->entered.count)
        qsort(t->entered.data, t->entered.count, sizeof *t->entered.data, rising);
    if (t->left.count)
        qsort(t->left.data, t->left.count, sizeof *t->left.data, rising);
    const struct cleave__net_passage passage = {.found = found,
                                                .entered = t->entered.data,
                                                .left = t->left.data,
                                                .entered_count = (uint32_t)t->entered.count,
                                                .left_count = (uint32_t)t->left.count};
    return t->each(t->context, &passage);
}

static bool apply(struct cleave__net_things *t, const struct cleave__found *found)
{
    t->ids.count = 0;
    if (!CLEAVE_RESERVE(&t->ids, (size_t)found->count + 1))
        return false;
    for (uint32_t i = 0; i < found->count; i++) {
        const uint8_t *at = found->ids + (size_t)i * found->step;
        uint64_t id = cleave__load64(at);
        if (!(at[16] & TRACKED))
            continue;
        if (!know(t, id, cleave__load64(at + 8), at[16]))
            return false;
        t->ids.data[t->ids.count++] = id;
    }
    struct cleave__track_message message = {.thing = found->thing,
                                            .time_ms = found->time_ms,
                                            .queries = t->ids.data,
                                            .count = (uint32_t)t->ids.count};
    cleave__track_events_clear(&t->events);
    return !cleave__tracker_message(t->tracker, &message, &t->events, NULL) && pass(t, found);
}

/* ---- order ---- */

/* Keeps it until its turn; false: memory is out. */
static bool keep(struct cleave__net_things *t, uint64_t thing, uint64_t order, const uint8_t *bytes,
                 size_t length, bool *taken)
{
    uint64_t *first = cleave__map_put(&t->waiting, thing);
    if (!first)
        return false;
    uint32_t before = 0, at = (uint32_t)*first;
    while (at && t->early.data[at - 1].order < order) {
        before = at;
        at = t->early.data[at - 1].after;
    }
    if (at && t->early.data[at - 1].order == order)
        return true; /* it waits already */
    if (!t->free_ones.count) {
        if (!CLEAVE_RESERVE(&t->free_ones, t->early.count + 1) ||
            !CLEAVE_PUSH(&t->early, (struct early){0}))
            return false;
        t->free_ones.data[t->free_ones.count++] = (uint32_t)t->early.count;
    }
    uint8_t *copy = malloc(length);
    if (!copy)
        return false;
    memcpy(copy, bytes, length);
    uint32_t fresh = t->free_ones.data[--t->free_ones.count];
    t->early.data[fresh - 1] = (struct early){order, copy, (uint32_t)length, at};
    if (before)
        t->early.data[before - 1].after = fresh;
    else
        *first = fresh;
    t->early_count++;
    *taken = true;
    return true;
}

/* Those of the thing that wait and whose turn it is; `all`: of every one, gaps are passed over. */
static bool release(struct cleave__net_things *t, uint64_t thing, bool all)
{
    bool fine = true;
    for (;;) {
        uint64_t *next = cleave__map_find(&t->next, thing);
        uint64_t *first = cleave__map_find(&t->waiting, thing);
        if (!first || !fine)
            return fine;
        struct early *early = *first ? &t->early.data[*first - 1] : NULL;
        if (!early) {
            cleave__map_remove(&t->waiting, thing);
            return true;
        }
        if (!all && early->order != *next)
            return true;
        struct early one = *early;
        struct cleave_reader reader = {one.bytes, one.bytes + one.length, false};
        struct cleave__found found;
        *next = one.order + 1;
        t->free_ones.data[t->free_ones.count++] = (uint32_t)*first;
        *first = one.after;
        *early = (struct early){0};
        t->early_count--;
        fine = cleave__found_read(t->world, &reader, &found) && apply(t, &found);
        free(one.bytes);
    }
}

/* One object, whose bytes are these. */
static bool take(struct cleave__net_things *t, const struct cleave__found *found,
                 const uint8_t *bytes, size_t length, bool *taken)
{
    uint64_t order = order_of(found), first = first_of(order);
    uint64_t *next = cleave__map_put(&t->next, found->thing);
    if (!next)
        return false;
    if (*next < first) {
        if (!release(t, found->thing, true))
            return false;
        *next = first;
    }
    if (order < *next)
        return true;
    if (order > *next)
        return keep(t, found->thing, order, bytes, length, taken);
    ++*next;
    *taken = true;
    return apply(t, found) && release(t, found->thing, false);
}

enum cleave_status
cleave__net_things_take(struct cleave__net_things *t, const uint8_t *bytes, size_t length,
                        bool (*each)(void *context, const struct cleave__net_passage *passage),
                        void *context, bool *taken, struct cleave_error *error)
{
    struct cleave_reader reader = {bytes, bytes + length, false};
    t->each = each;
    t->context = context;
    *taken = false;
    while (cleave__left(&reader)) {
        const uint8_t *from = reader.at;
        struct cleave__found found;
        if (!cleave__found_read(t->world, &reader, &found) || (found.thing && !found.sequence))
            return cleave_error_set(error, CLEAVE_CORRUPT, "objects that make no sense");
        if (found.thing && !take(t, &found, from, (size_t)(reader.at - from), taken))
            return no_memory(error);
    }
    return CLEAVE_OK;
}

/* ---- kept ---- */

static bool put_inside(void *context, uint64_t thing, const uint64_t *queries, uint32_t count)
{
    struct cleave_writer *w = context;
    cleave__put64(w, thing);
    cleave__put32(w, count);
    for (uint32_t i = 0; i < count; i++)
        cleave__put64(w, queries[i]);
    return true;
}

/* u64 count, and so many: queries (u64 id, u64 end, u8 events); things (u64, u64 next); those that
 * are inside of something (u64, u32 count, u64 ids); objects that wait (u32 length, bytes). */
void cleave__net_things_write(const struct cleave__net_things *t, struct cleave_writer *w)
{
    size_t at = 0;
    uint64_t thing, next;
    cleave__put64(w, t->known.count);
    for (size_t i = 0; i < t->known.count; i++) {
        cleave__put64(w, t->known.data[i].id);
        cleave__put64(w, t->known.data[i].end_ms);
        cleave__put8(w, t->known.data[i].events);
    }
    cleave__put64(w, t->next.count);
    while (cleave__map_next(&t->next, &at, &thing, &next)) {
        cleave__put64(w, thing);
        cleave__put64(w, next);
    }
    cleave__put64(w, cleave__tracker_things(t->tracker));
    if (!cleave__tracker_each(t->tracker, put_inside, w))
        w->failed = true;
    cleave__put64(w, t->early_count);
    for (size_t i = 0; i < t->early.count; i++) {
        const struct early *early = &t->early.data[i];
        if (!early->bytes)
            continue;
        cleave__put32(w, early->length);
        cleave__put_bytes(w, early->bytes, early->length);
    }
}

/* The next three: false when memory is out; what makes no sense fails the reader. */
static bool read_queries(struct cleave__net_things *t, struct cleave_reader *r)
{
    for (uint64_t left = cleave__get64(r); left && !r->failed; left--) {
        uint64_t id = cleave__get64(r), end_ms = cleave__get64(r);
        uint8_t events = cleave__get8(r);
        r->failed |= !id || cleave__map_find(&t->place, id);
        if (!r->failed && !know(t, id, end_ms, events))
            return false;
    }
    for (uint64_t left = cleave__get64(r); left && !r->failed; left--) {
        uint64_t thing = cleave__get64(r), next = cleave__get64(r);
        r->failed |= !thing || next < first_of(next) || cleave__map_find(&t->next, thing);
        uint64_t *place = r->failed ? NULL : cleave__map_put(&t->next, thing);
        if (!r->failed && !place)
            return false;
        if (place)
            *place = next;
    }
    return true;
}

static bool read_inside(struct cleave__net_things *t, struct cleave_reader *r)
{
    for (uint64_t left = cleave__get64(r); left && !r->failed; left--) {
        struct cleave__track_message message = {.thing = cleave__get64(r)};
        message.count = cleave__get32(r);
        const uint8_t *ids = cleave__get_bytes(r, (uint64_t)message.count * 8);
        r->failed |= !message.count || !cleave__map_find(&t->next, message.thing);
        if (r->failed)
            return true;
        t->ids.count = 0;
        if (!CLEAVE_RESERVE(&t->ids, message.count))
            return false;
        for (uint32_t i = 0; i < message.count; i++) {
            uint64_t id = cleave__load64(ids + (size_t)i * 8);
            r->failed |= !cleave__map_find(&t->place, id) || (i && id <= t->ids.data[i - 1]);
            t->ids.data[i] = id;
        }
        message.queries = t->ids.data;
        cleave__track_events_clear(&t->events);
        if (!r->failed && cleave__tracker_message(t->tracker, &message, &t->events, NULL))
            return false;
    }
    return true;
}

static bool read_waiting(struct cleave__net_things *t, struct cleave_reader *r)
{
    for (uint64_t left = cleave__get64(r); left && !r->failed; left--) {
        uint32_t length = cleave__get32(r);
        const uint8_t *bytes = cleave__get_bytes(r, length);
        struct cleave_reader inner = {bytes, bytes + length, false};
        struct cleave__found found;
        bool taken = false;
        if (!bytes || !cleave__found_read(t->world, &inner, &found) || cleave__left(&inner)) {
            r->failed = true;
            return true;
        }
        const uint64_t *next = cleave__map_find(&t->next, found.thing);
        uint64_t order = order_of(&found);
        r->failed |= !next || order <= *next || first_of(order) != first_of(*next);
        if (!r->failed && !keep(t, found.thing, order, bytes, length, &taken))
            return false;
        r->failed |= !taken;
    }
    return true;
}

enum cleave_status cleave__net_things_read(struct cleave__net_things *t, struct cleave_reader *r,
                                           struct cleave_error *error)
{
    if (!read_queries(t, r) || !read_inside(t, r) || !read_waiting(t, r))
        return no_memory(error);
    if (r->failed)
        return cleave_error_set(error, CLEAVE_CORRUPT, "what was kept of things makes no sense");
    return CLEAVE_OK;
}

bool cleave__net_things_check(const struct cleave__net_things *t)
{
    size_t at = 0;
    uint64_t thing, first, early = 0;
    if (!cleave__tracker_check(t->tracker) || !cleave__map_check(&t->next) ||
        !cleave__map_check(&t->waiting) || !cleave__map_check(&t->place) ||
        t->place.count != t->known.count)
        return false;
    while (cleave__map_next(&t->waiting, &at, &thing, &first)) {
        const uint64_t *next = cleave__map_find(&t->next, thing);
        uint64_t before = next ? *next : 0;
        if (!next || !first)
            return false;
        for (uint32_t i = (uint32_t)first; i; i = t->early.data[i - 1].after, early++) {
            if (i > t->early.count || !t->early.data[i - 1].bytes ||
                t->early.data[i - 1].order <= before)
                return false;
            before = t->early.data[i - 1].order;
        }
    }
    return early == t->early_count && early + t->free_ones.count == t->early.count;
}
