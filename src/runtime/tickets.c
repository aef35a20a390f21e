#include "runtime/tickets.h"

#include <stdlib.h>

static uint32_t home_of(uint64_t number)
{
    return (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

void cleave__tickets_free(struct cleave__tickets *tickets)
{
    free(tickets->slots);
    *tickets = (struct cleave__tickets){0};
}

static uint32_t slot_of(const struct cleave__tickets *tickets, uint64_t number)
{
    uint32_t at = home_of(number) & tickets->mask;
    while (tickets->slots[at].number && tickets->slots[at].number != number)
        at = (at + 1) & tickets->mask;
    return at;
}

struct cleave__ticket *cleave__tickets_find(const struct cleave__tickets *tickets, uint64_t number)
{
    if (!tickets->slots)
        return NULL;
    struct cleave__ticket *slot = &tickets->slots[slot_of(tickets, number)];
    return slot->number ? slot : NULL;
}

bool cleave__tickets_add(struct cleave__tickets *tickets, struct cleave__ticket ticket)
{
    if (!tickets->slots || (tickets->count + 1) * 2 > tickets->mask + 1) {
        struct cleave__tickets fresh = {.mask = tickets->slots ? tickets->mask * 2 + 1 : 7};
        fresh.slots = calloc((size_t)fresh.mask + 1, sizeof *fresh.slots);
        if (!fresh.slots)
            return false;
        fresh.count = tickets->count;
        for (uint32_t at = 0; tickets->slots && at <= tickets->mask; at++) {
            if (tickets->slots[at].number)
                fresh.slots[slot_of(&fresh, tickets->slots[at].number)] = tickets->slots[at];
        }
        free(tickets->slots);
        *tickets = fresh;
    }
    tickets->slots[slot_of(tickets, ticket.number)] = ticket;
    tickets->count++;
    return true;
}

bool cleave__tickets_take(struct cleave__tickets *tickets, uint64_t number,
                          struct cleave__ticket *out)
{
    if (!tickets->slots)
        return false;
    uint32_t hole = slot_of(tickets, number);
    if (!tickets->slots[hole].number)
        return false;
    *out = tickets->slots[hole];
    for (uint32_t at = (hole + 1) & tickets->mask; tickets->slots[at].number;
         at = (at + 1) & tickets->mask) {
        uint32_t home = home_of(tickets->slots[at].number) & tickets->mask;
        if (((at - home) & tickets->mask) >= ((at - hole) & tickets->mask)) {
            tickets->slots[hole] = tickets->slots[at];
            hole = at;
        }
    }
    tickets->slots[hole] = (struct cleave__ticket){0};
    tickets->count--;
    return true;
}

bool cleave__tickets_check(const struct cleave__tickets *tickets)
{
    uint32_t count = 0;
    for (uint32_t at = 0; tickets->slots && at <= tickets->mask; at++) {
        count += tickets->slots[at].number != 0;
        if (tickets->slots[at].number && slot_of(tickets, tickets->slots[at].number) != at)
            return false;
    }
    return count == tickets->count && (!tickets->slots || count * 2 <= tickets->mask + 1);
}
