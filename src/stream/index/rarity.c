/* How often terms come; see rarity.h. */
#include "stream/index/rarity.h"

#include <stdlib.h>
#include <string.h>

#include "stream/index/record.h"

void cleave__rarity_free(struct cleave__rarity *rarity)
{
    free(rarity->counts);
    *rarity = (struct cleave__rarity){0};
}

/* The counts of a term, made if there are none yet; NULL: it has none. */
static struct cleave__term_counts *counts_of(struct cleave__rarity *rarity, uint32_t term)
{
    if (term < rarity->capacity)
        return &rarity->counts[term];
    if (term >= CLEAVE__RARITY_TERMS_MOST)
        return NULL;
    uint32_t capacity = rarity->capacity ? rarity->capacity : 1024;
    while (capacity <= term)
        capacity += capacity / 4;
    struct cleave__term_counts *counts = realloc(rarity->counts, capacity * sizeof *counts);
    if (!counts)
        return NULL;
    memset(counts + rarity->capacity, 0, (capacity - rarity->capacity) * sizeof *counts);
    rarity->counts = counts;
    rarity->capacity = capacity;
    return &counts[term];
}

static void halve(struct cleave__rarity *rarity)
{
    for (uint32_t i = 0; i < rarity->capacity; i++) {
        rarity->counts[i].objects /= 2;
        rarity->counts[i].queries /= 2;
    }
}

void cleave__rarity_see(struct cleave__rarity *rarity, const struct cleave__object *object)
{
    for (uint32_t i = 0; i < object->term_count; i++) {
        struct cleave__term_counts *counts = counts_of(rarity, object->terms[i]);
        if (counts && ++counts->objects == UINT16_MAX)
            halve(rarity);
    }
}

static struct cleave__term_counts look(const struct cleave__rarity *rarity, uint32_t term)
{
    return term < rarity->capacity ? rarity->counts[term] : (struct cleave__term_counts){0};
}

static bool rarer(const struct cleave__rarity *rarity, uint32_t a, uint32_t b)
{
    struct cleave__term_counts x = look(rarity, a), y = look(rarity, b);
    if (x.objects != y.objects)
        return x.objects < y.objects;
    return x.queries != y.queries ? x.queries < y.queries : a > b;
}

void cleave__rarity_pick(struct cleave__rarity *rarity, const struct cleave__query *query,
                         uint32_t *first, uint32_t *second)
{
    *first = *second = CLEAVE__NO_TERM;
    for (uint32_t i = 0; i < query->term_count; i++) {
        uint32_t term = query->terms[i];
        struct cleave__term_counts *counts = counts_of(rarity, term);
        if (counts && ++counts->queries == UINT16_MAX)
            halve(rarity);
        if (*first == CLEAVE__NO_TERM || rarer(rarity, term, *first)) {
            *second = *first;
            *first = term;
        } else if (*second == CLEAVE__NO_TERM || rarer(rarity, term, *second)) {
            *second = term;
        }
    }
}
