#include "runtime/nats/link.h"

#include <stdlib.h>

static uint32_t home_of(uint32_t peer)
{
    return (peer + 1) * 0x9e3779b1u >> 7;
}

void cleave__links_free(struct cleave__links *links)
{
    for (uint32_t s = 0; links->slots && s <= links->mask; s++) {
        if (!links->slots[s])
            continue;
        free(links->slots[s]->piece.data);
        free(links->slots[s]->batch.data);
        free(links->slots[s]);
    }
    free(links->slots);
    *links = (struct cleave__links){0};
}

static struct cleave__link **slot_of(const struct cleave__links *links, uint32_t peer)
{
    for (uint32_t at = home_of(peer);; at++) {
        struct cleave__link **slot = &links->slots[at & links->mask];
        if (!*slot || (*slot)->peer == peer)
            return slot;
    }
}

struct cleave__link *cleave__links_find(const struct cleave__links *links, uint32_t peer)
{
    return links->slots ? *slot_of(links, peer) : NULL;
}

static bool grow(struct cleave__links *links)
{
    struct cleave__links fresh = {.mask = links->slots ? links->mask * 2 + 1 : 3,
                                  .count = links->count};
    fresh.slots = calloc((size_t)fresh.mask + 1, sizeof(struct cleave__link *));
    if (!fresh.slots)
        return false;
    for (uint32_t s = 0; links->slots && s <= links->mask; s++) {
        if (links->slots[s])
            *slot_of(&fresh, links->slots[s]->peer) = links->slots[s];
    }
    free(links->slots);
    *links = fresh;
    return true;
}

struct cleave__link *cleave__links_need(struct cleave__links *links, uint32_t peer)
{
    struct cleave__link *link = cleave__links_find(links, peer);
    if (link)
        return link;
    if ((!links->slots || (links->count + 1) * 2 > links->mask + 1) && !grow(links))
        return NULL;
    link = calloc(1, sizeof *link);
    if (!link)
        return NULL;
    link->peer = peer;
    *slot_of(links, peer) = link;
    links->count++;
    return link;
}

bool cleave__link_hear(struct cleave__link *link, const struct cleave__envelope *envelope,
                       uint64_t own_life)
{
    if (envelope->life < link->life)
        return false;
    if (envelope->life > link->life) {
        if (link->life)
            link->credited = link->charged; /* what its earlier life had is gone with it */
        link->life = envelope->life;
        link->epoch++;
        link->last = link->lost = link->seen = link->told = 0;
        link->held = 0;
        link->heard = envelope->life == own_life; /* one's own messages are heard from the first */
        link->starved = false;
        link->piece.count = 0;
    }
    if (envelope->receiver_life == own_life && envelope->credit > link->credited)
        link->credited = envelope->credit < link->charged ? envelope->credit : link->charged;
    if (!(envelope->flags & CLEAVE__ENVELOPE_GROUP)) {
        if (envelope->charged > link->seen)
            link->seen = envelope->charged;
        link->starved = envelope->flags & CLEAVE__ENVELOPE_STARVED;
    }
    return true;
}

bool cleave__link_take(struct cleave__link *link, uint64_t sequence, uint64_t *lost)
{
    if (sequence <= link->last)
        return false;
    uint64_t missing = link->heard ? sequence - link->last - 1 : 0;
    *lost += missing;
    link->lost += missing;
    link->heard = true;
    link->last = sequence;
    return true;
}

void cleave__link_skip(struct cleave__link *link, uint64_t sequence, uint64_t *lost)
{
    if (sequence <= link->last)
        return;
    uint64_t missing = link->heard ? sequence - link->last : 0;
    *lost += missing;
    link->lost += missing;
    link->heard = true;
    link->last = sequence;
}

void cleave__link_release(struct cleave__link *link, uint16_t epoch, uint32_t count)
{
    if (epoch == link->epoch)
        link->held -= count;
}

bool cleave__link_owes(const struct cleave__link *link, uint32_t window)
{
    uint64_t credit = cleave__link_credit(link), untold = credit - link->told;
    return credit > link->told && (link->starved || untold >= (window + 3) / 4);
}

bool cleave__link_check(const struct cleave__link *link)
{
    return link->credited <= link->charged && link->gone_charged <= link->charged &&
           link->held <= link->seen && link->told <= cleave__link_credit(link) &&
           link->staged <= link->given;
}

bool cleave__links_check(const struct cleave__links *links)
{
    uint32_t count = 0;
    for (uint32_t s = 0; links->slots && s <= links->mask; s++) {
        const struct cleave__link *link = links->slots[s];
        count += link != NULL;
        if (link && (*slot_of(links, link->peer) != link || !cleave__link_check(link)))
            return false;
    }
    return count == links->count && (!links->slots || count * 2 <= links->mask + 1);
}
