#include "runtime/waiters.h"

#include <assert.h>
#include <string.h>

enum { WITHDRAWN = UINT32_MAX };

void cleave__waiters_free(struct cleave__waiters *waiters)
{
    CLEAVE_VECTOR_FREE(&waiters->actors);
    *waiters = (struct cleave__waiters){0};
}

bool cleave__waiters_add(struct cleave__waiters *waiters, uint32_t actor, uint64_t *ticket)
{
    if (!CLEAVE_PUSH(&waiters->actors, actor))
        return false;
    waiters->count++;
    *ticket = waiters->gone + (waiters->actors.count - waiters->first);
    return true;
}

void cleave__waiters_withdraw(struct cleave__waiters *waiters, uint64_t ticket)
{
    size_t at = waiters->first + (size_t)(ticket - waiters->gone - 1);
    assert(ticket > waiters->gone && at < waiters->actors.count);
    waiters->count -= waiters->actors.data[at] != WITHDRAWN;
    waiters->actors.data[at] = WITHDRAWN;
}

uint32_t cleave__waiters_take(struct cleave__waiters *waiters)
{
    uint32_t actor = WITHDRAWN;
    while (actor == WITHDRAWN && waiters->first < waiters->actors.count) {
        actor = waiters->actors.data[waiters->first++];
        waiters->gone++;
    }
    waiters->count -= actor != WITHDRAWN;
    size_t left = waiters->actors.count - waiters->first;
    if (left <= waiters->first) { /* half of it is over: moved up, at O(1) for each that is */
        if (left)
            memmove(waiters->actors.data, waiters->actors.data + waiters->first,
                    left * sizeof *waiters->actors.data);
        waiters->actors.count = left;
        waiters->first = 0;
    }
    return actor;
}

bool cleave__waiters_check(const struct cleave__waiters *waiters)
{
    uint32_t count = 0;
    for (size_t i = waiters->first; i < waiters->actors.count; i++)
        count += waiters->actors.data[i] != WITHDRAWN;
    return waiters->first <= waiters->actors.count && count == waiters->count;
}
