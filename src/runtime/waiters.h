/* Actors that met a full mailbox, in the order they came: first to wait, first to be woken.
 *
 * Each wait has a ticket, counted from 1; those up to `gone` are over. Whoever waits no longer
 * withdraws, so that nobody is woken in vain in place of another. Adding, withdrawing and taking
 * are O(1) amortised. Not thread safe. */
#ifndef CLEAVE_RUNTIME_WAITERS_H
#define CLEAVE_RUNTIME_WAITERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vector.h"

struct cleave__waiters {
    CLEAVE_VECTOR(uint32_t) actors; /* from `first` on; UINT32_MAX: withdrawn */
    size_t first;
    uint64_t gone;  /* tickets before the first */
    uint32_t count; /* who wait */
};

void cleave__waiters_free(struct cleave__waiters *waiters);
static inline bool cleave__waiters_waits(const struct cleave__waiters *waiters, uint64_t ticket)
{
    return ticket > waiters->gone;
}
/* False: memory is out. */
bool cleave__waiters_add(struct cleave__waiters *waiters, uint32_t actor, uint64_t *ticket);
/* The ticket waits. */
void cleave__waiters_withdraw(struct cleave__waiters *waiters, uint64_t ticket);
/* Takes the first; UINT32_MAX when nobody waits. */
uint32_t cleave__waiters_take(struct cleave__waiters *waiters);
bool cleave__waiters_check(const struct cleave__waiters *waiters);

#endif
