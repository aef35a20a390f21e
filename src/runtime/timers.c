#include "runtime/timers.h"

#include <assert.h>

void cleave__timers_free(struct cleave__timers *timers)
{
    CLEAVE_VECTOR_FREE(&timers->slots);
    CLEAVE_VECTOR_FREE(&timers->heap);
    CLEAVE_VECTOR_FREE(&timers->free);
}

static bool before(const struct cleave__timers *timers, uint32_t a, uint32_t b)
{
    const struct cleave__timer *x = &timers->slots.data[a], *y = &timers->slots.data[b];
    return x->at_ns < y->at_ns || (x->at_ns == y->at_ns && x->order < y->order);
}

static void put(struct cleave__timers *timers, uint32_t position, uint32_t slot)
{
    timers->heap.data[position] = slot;
    timers->slots.data[slot].position = position;
}

static void rise(struct cleave__timers *timers, uint32_t at, uint32_t slot)
{
    while (at > 0 && before(timers, slot, timers->heap.data[(at - 1) / 2])) {
        put(timers, at, timers->heap.data[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(timers, at, slot);
}

static void sink(struct cleave__timers *timers, uint32_t at, uint32_t slot)
{
    uint32_t count = (uint32_t)timers->heap.count;
    for (uint32_t child; (child = at * 2 + 1) < count; at = child) {
        if (child + 1 < count &&
            before(timers, timers->heap.data[child + 1], timers->heap.data[child]))
            child++;
        if (!before(timers, timers->heap.data[child], slot))
            break;
        put(timers, at, timers->heap.data[child]);
    }
    put(timers, at, slot);
}

bool cleave__timers_set(struct cleave__timers *timers, uint64_t at_ns, uint32_t actor,
                        uint64_t number, uint64_t *handle)
{
    if (!CLEAVE_RESERVE(&timers->heap, timers->heap.count + 1))
        return false;
    uint32_t slot;
    if (timers->free.count) {
        slot = timers->free.data[--timers->free.count];
    } else {
        if (timers->slots.count >= UINT32_MAX - 1 ||
            !CLEAVE_RESERVE(&timers->free, timers->slots.count + 1) ||
            !CLEAVE_PUSH(&timers->slots, (struct cleave__timer){.position = UINT32_MAX}))
            return false;
        slot = (uint32_t)timers->slots.count - 1;
    }
    struct cleave__timer *timer = &timers->slots.data[slot];
    timer->at_ns = at_ns;
    timer->order = timers->order++;
    timer->number = number;
    timer->actor = actor;
    *handle = (uint64_t)timer->generation << 32 | slot;
    timers->heap.count++;
    rise(timers, (uint32_t)timers->heap.count - 1, slot);
    return true;
}

static void take_out(struct cleave__timers *timers, uint32_t slot)
{
    uint32_t at = timers->slots.data[slot].position;
    uint32_t last = timers->heap.data[--timers->heap.count];
    if (at < timers->heap.count) {
        if (at > 0 && before(timers, last, timers->heap.data[(at - 1) / 2]))
            rise(timers, at, last);
        else
            sink(timers, at, last);
    }
    timers->slots.data[slot].position = UINT32_MAX;
    timers->slots.data[slot].generation++;
    timers->free.data[timers->free.count++] = slot;
}

void cleave__timers_cancel(struct cleave__timers *timers, uint64_t handle)
{
    uint32_t slot = (uint32_t)handle;
    if (slot < timers->slots.count && timers->slots.data[slot].position != UINT32_MAX &&
        timers->slots.data[slot].generation == handle >> 32)
        take_out(timers, slot);
}

const struct cleave__timer *cleave__timers_next(const struct cleave__timers *timers)
{
    return timers->heap.count ? &timers->slots.data[timers->heap.data[0]] : NULL;
}

struct cleave__timer cleave__timers_take(struct cleave__timers *timers)
{
    assert(timers->heap.count);
    struct cleave__timer timer = timers->slots.data[timers->heap.data[0]];
    take_out(timers, timers->heap.data[0]);
    return timer;
}

bool cleave__timers_check(const struct cleave__timers *timers)
{
    for (uint32_t i = 0; i < timers->heap.count; i++) {
        uint32_t slot = timers->heap.data[i];
        if (slot >= timers->slots.count || timers->slots.data[slot].position != i ||
            (i > 0 && before(timers, slot, timers->heap.data[(i - 1) / 2])))
            return false;
    }
    for (size_t i = 0; i < timers->free.count; i++) {
        if (timers->slots.data[timers->free.data[i]].position != UINT32_MAX)
            return false;
    }
    return timers->heap.count + timers->free.count == timers->slots.count;
}
