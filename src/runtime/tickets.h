/* What an actor waits for: answers to its requests, and its timers, by number.
 *
 * Open addressing, linear probing, at most half full; a ticket that leaves moves those behind it
 * up, so that there are no graves. */
#ifndef CLEAVE_RUNTIME_TICKETS_H
#define CLEAVE_RUNTIME_TICKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cleave__ticket {
    uint64_t number; /* 0: free slot */
    uint64_t tag;    /* what the actor gave */
    uint64_t handle; /* of a timer: the transport's; of a request: its timeout's number, or 0 */
    uint64_t since_ns;
    uint32_t peer; /* of a request: who is asked */
    bool timeout;  /* of a timer: `tag` is the number of a request */
};

struct cleave__tickets {
    struct cleave__ticket *slots;
    uint32_t mask, count;
};

void cleave__tickets_free(struct cleave__tickets *tickets);
/* False when memory is out. `ticket.number` is not there yet. */
bool cleave__tickets_add(struct cleave__tickets *tickets, struct cleave__ticket ticket);
/* Valid until the next add or take; NULL if there is none. */
struct cleave__ticket *cleave__tickets_find(const struct cleave__tickets *tickets, uint64_t number);
/* Takes the ticket out; false if there is none. */
bool cleave__tickets_take(struct cleave__tickets *tickets, uint64_t number,
                          struct cleave__ticket *out);
bool cleave__tickets_check(const struct cleave__tickets *tickets);

#endif
