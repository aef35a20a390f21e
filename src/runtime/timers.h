/* Timers of all actors of a transport: a heap by time, then by order of setting, from which any may
 * be taken out. Set, cancel and take are O(log n). Not thread safe. */
#ifndef CLEAVE_RUNTIME_TIMERS_H
#define CLEAVE_RUNTIME_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vector.h"

struct cleave__timer {
    uint64_t at_ns, order;
    uint64_t number; /* the actor's ticket */
    uint32_t actor;
    uint32_t generation; /* of the slot: an old handle finds another */
    uint32_t position;   /* in the heap; UINT32_MAX: free slot */
};

struct cleave__timers {
    CLEAVE_VECTOR(struct cleave__timer) slots;
    CLEAVE_VECTOR(uint32_t) heap; /* slots, least first */
    CLEAVE_VECTOR(uint32_t) free; /* as long as slots, so that giving back cannot fail */
    uint64_t order;
};

void cleave__timers_free(struct cleave__timers *timers);
/* False: memory is out. */
bool cleave__timers_set(struct cleave__timers *timers, uint64_t at_ns, uint32_t actor,
                        uint64_t number, uint64_t *handle);
/* Nothing happens if it is gone. */
void cleave__timers_cancel(struct cleave__timers *timers, uint64_t handle);
/* The next one; NULL if there is none. */
const struct cleave__timer *cleave__timers_next(const struct cleave__timers *timers);
/* Takes the next one out. */
struct cleave__timer cleave__timers_take(struct cleave__timers *timers);
bool cleave__timers_check(const struct cleave__timers *timers);

#endif
