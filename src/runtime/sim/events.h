/* What is to happen when: a heap with four children a node, by time, then by order of adding, so
 * that events of one instant happen in the order they were caused. Not thread safe. */
#ifndef CLEAVE_RUNTIME_SIM_EVENTS_H
#define CLEAVE_RUNTIME_SIM_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vector.h"

struct cleave__event {
    uint64_t at_ns, order;
    void *parcel;   /* of an arrival */
    uint32_t actor; /* or the fault's number */
    uint16_t what;
    uint16_t life; /* of the actor: an event of an earlier one is void */
};

struct cleave__events {
    CLEAVE_VECTOR(struct cleave__event) heap;
    uint64_t order;
};

/* False: memory is out. `event.order` is set here. */
bool cleave__events_add(struct cleave__events *events, struct cleave__event event);
/* NULL when there is none. */
const struct cleave__event *cleave__events_next(const struct cleave__events *events);
struct cleave__event cleave__events_take(struct cleave__events *events);
bool cleave__events_check(const struct cleave__events *events);

#endif
