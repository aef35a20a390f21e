#include "runtime/sim/parcels.h"

#include <assert.h>
#include <stdlib.h>

struct cleave__parcel *cleave__parcels_new(struct cleave__parcels *parcels, size_t size)
{
    unsigned room = size <= 64 ? 6 : 64 - (unsigned)__builtin_clzll(size - 1);
    assert(room < CLEAVE__PARCEL_ROOMS);
    struct cleave__parcel *parcel = parcels->free[room];
    if (parcel)
        parcels->free[room] = parcel->next;
    else if (!(parcel = malloc(sizeof *parcel + ((size_t)1 << room))))
        return NULL;
    *parcel = (struct cleave__parcel){.size = (uint32_t)size, .room = (uint8_t)room};
    return parcel;
}

void cleave__parcels_give(struct cleave__parcels *parcels, struct cleave__parcel *parcel)
{
    parcel->next = parcels->free[parcel->room];
    parcels->free[parcel->room] = parcel;
}

void cleave__parcels_free(struct cleave__parcels *parcels)
{
    for (unsigned room = 0; room < CLEAVE__PARCEL_ROOMS; room++) {
        while (parcels->free[room]) {
            struct cleave__parcel *next = parcels->free[room]->next;
            free(parcels->free[room]);
            parcels->free[room] = next;
        }
    }
}
