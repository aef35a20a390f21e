/* Frames under way, in memory that is used again: one list of free ones for each power of two. */
#ifndef CLEAVE_RUNTIME_SIM_PARCELS_H
#define CLEAVE_RUNTIME_SIM_PARCELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cleave__parcel {
    struct cleave__parcel *next; /* in a mailbox, or among the free */
    uint64_t sent_ns;
    uint32_t size; /* of the frame */
    uint8_t room;  /* log2 of the bytes allocated for it */
    bool reserved; /* takes no place of the mailbox's capacity: an answer or a timer */
    uint8_t padding[2];
    uint8_t bytes[];
};

enum { CLEAVE__PARCEL_ROOMS = 26 };

struct cleave__parcels {
    struct cleave__parcel *free[CLEAVE__PARCEL_ROOMS];
};

/* NULL: memory is out. Frames are at most 2^25 bytes. */
struct cleave__parcel *cleave__parcels_new(struct cleave__parcels *parcels, size_t size);
void cleave__parcels_give(struct cleave__parcels *parcels, struct cleave__parcel *parcel);
void cleave__parcels_free(struct cleave__parcels *parcels);

#endif
