#include "tables/shape/netset.h"

#include <string.h>
#include <xxhash.h>

enum { SETS_MAX = 1 << 30 };

static int compare(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static bool grow(struct cleave_netset *set)
{
    uint32_t size = set->slots ? (set->slot_mask + 1) * 2 : 64;
    uint32_t *slots = calloc(size, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t at = set->hashes.data[i] & (size - 1);
        while (slots[at])
            at = (at + 1) & (size - 1);
        slots[at] = i + 1;
    }
    free(set->slots);
    set->slots = slots;
    set->slot_mask = size - 1;
    return true;
}

static bool equal(const struct cleave_netset *set, uint32_t i, const uint32_t *items, size_t count)
{
    uint64_t start = set->offsets.data[i];
    return set->offsets.data[i + 1] - start == count &&
           memcmp(set->items.data + start, items, count * sizeof *items) == 0;
}

bool cleave__netset_add(struct cleave_netset *set, uint32_t *items, size_t count, uint64_t times)
{
    if (count == 0)
        return true;
    qsort(items, count, sizeof *items, compare);
    size_t kept = 1;
    for (size_t i = 1; i < count; i++) {
        if (items[i] != items[kept - 1])
            items[kept++] = items[i];
    }
    if ((!set->slots || set->count + 1 > (set->slot_mask + 1) / 2) && !grow(set))
        return false;
    uint32_t hash = (uint32_t)XXH3_64bits(items, kept * sizeof *items);
    uint32_t at = hash & set->slot_mask;
    for (; set->slots[at]; at = (at + 1) & set->slot_mask) {
        uint32_t i = set->slots[at] - 1;
        if (set->hashes.data[i] == hash && equal(set, i, items, kept)) {
            set->times.data[i] += times;
            return true;
        }
    }
    if (set->count == SETS_MAX || !CLEAVE_RESERVE(&set->offsets, (size_t)set->count + 2) ||
        !CLEAVE_RESERVE(&set->items, set->items.count + kept) ||
        !CLEAVE_RESERVE(&set->times, (size_t)set->count + 1) ||
        !CLEAVE_RESERVE(&set->hashes, (size_t)set->count + 1))
        return false;
    memcpy(set->items.data + set->items.count, items, kept * sizeof *items);
    set->offsets.data[set->count] = set->items.count;
    set->items.count += kept;
    set->offsets.data[set->count + 1] = set->items.count;
    set->offsets.count = (size_t)set->count + 2;
    set->times.data[set->times.count++] = times;
    set->hashes.data[set->hashes.count++] = hash;
    set->slots[at] = ++set->count;
    return true;
}

void cleave__netset_free(struct cleave_netset *set)
{
    CLEAVE_VECTOR_FREE(&set->offsets);
    CLEAVE_VECTOR_FREE(&set->items);
    CLEAVE_VECTOR_FREE(&set->times);
    CLEAVE_VECTOR_FREE(&set->hashes);
    free(set->slots);
    *set = (struct cleave_netset){0};
}
