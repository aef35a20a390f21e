#include "runtime/channels.h"

#include <stdlib.h>

static uint32_t home_of(uint32_t key)
{
    return key * 0x9e3779b1u >> 7;
}

void cleave__channels_free(struct cleave__channels *channels)
{
    free(channels->slots);
    *channels = (struct cleave__channels){0};
}

static struct cleave__channel *slot_of(const struct cleave__channels *channels, uint32_t key)
{
    for (uint32_t at = home_of(key);; at++) {
        struct cleave__channel *slot = &channels->slots[at & channels->mask];
        if (slot->key == key || slot->key == 0)
            return slot;
    }
}

struct cleave__channel *cleave__channels_find(const struct cleave__channels *channels,
                                              uint32_t peer)
{
    if (!channels->slots)
        return NULL;
    struct cleave__channel *slot = slot_of(channels, peer + 1);
    return slot->key ? slot : NULL;
}

static bool grow(struct cleave__channels *channels)
{
    struct cleave__channels fresh = {.mask = channels->slots ? channels->mask * 2 + 1 : 3};
    fresh.slots = calloc((size_t)fresh.mask + 1, sizeof *fresh.slots);
    if (!fresh.slots)
        return false;
    fresh.count = channels->count;
    for (uint32_t at = 0; channels->slots && at <= channels->mask; at++) {
        if (channels->slots[at].key)
            *slot_of(&fresh, channels->slots[at].key) = channels->slots[at];
    }
    free(channels->slots);
    *channels = fresh;
    return true;
}

struct cleave__channel *cleave__channels_need(struct cleave__channels *channels, uint32_t peer)
{
    struct cleave__channel *slot = cleave__channels_find(channels, peer);
    if (slot)
        return slot;
    if ((!channels->slots || (channels->count + 1) * 2 > channels->mask + 1) && !grow(channels))
        return NULL;
    slot = slot_of(channels, peer + 1);
    slot->key = peer + 1;
    channels->count++;
    return slot;
}

bool cleave__channels_check(const struct cleave__channels *channels)
{
    uint32_t count = 0;
    for (uint32_t at = 0; channels->slots && at <= channels->mask; at++) {
        const struct cleave__channel *slot = &channels->slots[at];
        count += slot->key != 0;
        if (slot->key && slot_of(channels, slot->key) != slot)
            return false;
    }
    return count == channels->count && (!channels->slots || count * 2 <= channels->mask + 1);
}
