/* Numbers for generators: hashes of keys, permutations with an inverse, decks of cards, and a map
 * of what changed. Costs: all O(1), the deck's shuffle O(cards). */
#include <stdlib.h>

#include "tables/source/generate_common.h"

uint64_t cleave__content(uint64_t seed, uint32_t tag, uint64_t a, uint64_t b, uint64_t c,
                         uint64_t d)
{
    const uint64_t step = 0x9e3779b97f4a7c15u;
    uint64_t x = cleave__mix64(seed + step * (tag + 1u));
    x = cleave__mix64((x + step) ^ a);
    x = cleave__mix64((x + step) ^ b);
    x = cleave__mix64((x + step) ^ c);
    return cleave__mix64((x + step) ^ d);
}

uint32_t cleave__content_below(uint64_t hash, uint32_t bound)
{
    return (uint32_t)(((hash >> 32) * bound) >> 32);
}

/* ---- permutations ---- */

enum { ROUNDS = 4 };

struct cleave_permutation cleave__permutation(uint64_t key, uint32_t count)
{
    uint32_t half = 1;
    while (half < 16 && (UINT64_C(1) << (2 * half)) < count)
        half++;
    return (struct cleave_permutation){key, count, half};
}

static uint32_t round_of(const struct cleave_permutation *p, uint32_t round, uint32_t half)
{
    uint64_t mixed = cleave__mix64(p->key + (uint64_t)round * 0x9e3779b97f4a7c15u + half);
    return (uint32_t)mixed & ((UINT32_C(1) << p->half_bits) - 1);
}

uint32_t cleave__permutation_at(const struct cleave_permutation *p, uint32_t index)
{
    uint32_t mask = (UINT32_C(1) << p->half_bits) - 1;
    uint32_t x = index;
    do {
        uint32_t left = x >> p->half_bits, right = x & mask;
        for (uint32_t i = 0; i < ROUNDS; i++) {
            uint32_t next = left ^ round_of(p, i, right);
            left = right;
            right = next;
        }
        x = left << p->half_bits | right;
    } while (x >= p->count); /* walk the cycle until it comes back inside */
    return x;
}

uint32_t cleave__permutation_find(const struct cleave_permutation *p, uint32_t value)
{
    uint32_t mask = (UINT32_C(1) << p->half_bits) - 1;
    uint32_t x = value;
    do {
        uint32_t left = x >> p->half_bits, right = x & mask;
        for (uint32_t i = ROUNDS; i-- > 0;) {
            uint32_t before = right ^ round_of(p, i, left);
            right = left;
            left = before;
        }
        x = left << p->half_bits | right;
    } while (x >= p->count);
    return x;
}

/* ---- decks ---- */

bool cleave__deck_init(struct cleave_deck *deck, const uint32_t *weights, uint32_t kinds)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < kinds; i++)
        sum += weights[i];
    deck->cards = malloc(sum * sizeof *deck->cards);
    if (!deck->cards)
        return false;
    deck->count = 0;
    for (uint32_t i = 0; i < kinds; i++) {
        for (uint32_t j = 0; j < weights[i]; j++)
            deck->cards[deck->count++] = i;
    }
    deck->next = deck->count;
    return true;
}

uint32_t cleave__deck_draw(struct cleave_deck *deck, struct cleave_random *random)
{
    if (deck->next == deck->count) {
        cleave__random_shuffle(random, deck->cards, deck->count);
        deck->next = 0;
    }
    return deck->cards[deck->next++];
}

void cleave__deck_free(struct cleave_deck *deck)
{
    free(deck->cards);
    deck->cards = NULL;
}

/* ---- changes: open addressing, at most two thirds full ---- */

struct cleave_change {
    uint64_t key; /* plus 1; 0 is a free slot */
    uint32_t value;
};

static struct cleave_change *slot_of(struct cleave_change *slots, size_t mask, uint64_t key)
{
    size_t at = (size_t)cleave__mix64(key) & mask;
    while (slots[at].key && slots[at].key != key + 1)
        at = (at + 1) & mask;
    return &slots[at];
}

const uint32_t *cleave__change_find(const struct cleave_change_map *map, uint64_t key)
{
    if (!map->slots)
        return NULL;
    const struct cleave_change *slot = slot_of(map->slots, map->mask, key);
    return slot->key ? &slot->value : NULL;
}

bool cleave__change_set(struct cleave_change_map *map, uint64_t key, uint32_t value)
{
    if (!map->slots || (map->count + 1) * 3 > (map->mask + 1) * 2) {
        size_t size = map->slots ? (map->mask + 1) * 2 : 256;
        struct cleave_change *slots = calloc(size, sizeof *slots);
        if (!slots)
            return false;
        for (size_t i = 0; map->slots && i <= map->mask; i++) {
            if (map->slots[i].key)
                *slot_of(slots, size - 1, map->slots[i].key - 1) = map->slots[i];
        }
        free(map->slots);
        map->slots = slots;
        map->mask = size - 1;
    }
    struct cleave_change *slot = slot_of(map->slots, map->mask, key);
    if (!slot->key) {
        slot->key = key + 1;
        map->count++;
    }
    slot->value = value;
    return true;
}

void cleave__change_free(struct cleave_change_map *map)
{
    free(map->slots);
    *map = (struct cleave_change_map){0};
}
