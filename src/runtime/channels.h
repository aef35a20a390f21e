/* What an actor knows of each actor it has sent to or heard from.
 *
 * Open addressing by the peer's number, linear probing, at most half full; entries never leave.
 * A pointer stays valid until the next cleave__channels_need. */
#ifndef CLEAVE_RUNTIME_CHANNELS_H
#define CLEAVE_RUNTIME_CHANNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cleave__link;
struct cleave__parked;

struct cleave__channel {
    uint32_t key;            /* the peer's number + 1; 0: free slot */
    uint32_t parked;         /* messages to the peer that wait for room in its mailbox */
    uint64_t sent, received; /* sequence numbers: last one used, last one taken */
    struct cleave__parked *first, *last; /* of the parked ones; the owner of the map frees */
    uint64_t waiting;                    /* transport: ticket of the wait for the peer's mailbox */
    uint64_t arrival_ns;                 /* sim: when the last message to the peer arrives */
    struct cleave__link *link;           /* nats: what the two have with each other */
};

struct cleave__channels {
    struct cleave__channel *slots;
    uint32_t mask, count;
};

void cleave__channels_free(struct cleave__channels *channels);
/* NULL if there is none. */
struct cleave__channel *cleave__channels_find(const struct cleave__channels *channels,
                                              uint32_t peer);
/* Found or added; NULL when memory is out. */
struct cleave__channel *cleave__channels_need(struct cleave__channels *channels, uint32_t peer);
bool cleave__channels_check(const struct cleave__channels *channels);

#endif
