#include "runtime/sim/events.h"

#include <assert.h>

enum { CHILDREN = 4 };

static bool before(const struct cleave__event *a, const struct cleave__event *b)
{
    return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->order < b->order);
}

bool cleave__events_add(struct cleave__events *events, struct cleave__event event)
{
    if (!CLEAVE_RESERVE(&events->heap, events->heap.count + 1))
        return false;
    event.order = events->order++;
    struct cleave__event *heap = events->heap.data;
    size_t at = events->heap.count++;
    while (at > 0 && before(&event, &heap[(at - 1) / CHILDREN])) {
        heap[at] = heap[(at - 1) / CHILDREN];
        at = (at - 1) / CHILDREN;
    }
    heap[at] = event;
    return true;
}

const struct cleave__event *cleave__events_next(const struct cleave__events *events)
{
    return events->heap.count ? &events->heap.data[0] : NULL;
}

struct cleave__event cleave__events_take(struct cleave__events *events)
{
    assert(events->heap.count);
    struct cleave__event *heap = events->heap.data, first = heap[0];
    size_t count = --events->heap.count, at = 0;
    struct cleave__event last = heap[count];
    for (size_t child; (child = at * CHILDREN + 1) < count;) {
        size_t end = child + CHILDREN < count ? child + CHILDREN : count, least = child;
        for (size_t i = child + 1; i < end; i++) {
            if (before(&heap[i], &heap[least]))
                least = i;
        }
        if (!before(&heap[least], &last))
            break;
        heap[at] = heap[least];
        at = least;
    }
    if (count)
        heap[at] = last;
    return first;
}

bool cleave__events_check(const struct cleave__events *events)
{
    for (size_t i = 1; i < events->heap.count; i++) {
        if (before(&events->heap.data[i], &events->heap.data[(i - 1) / CHILDREN]))
            return false;
    }
    return true;
}
