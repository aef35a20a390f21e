/* The fewest blocks that meet every one of some sets: a hitting set, by growing depth. */
#include <string.h>

#include "place/replicate_state.h"

/* Can `depth` blocks meet all masks? Branches on the blocks of the mask with fewest of them. */
static bool meets(const uint16_t *masks, uint32_t count, uint32_t chosen, uint32_t depth)
{
    uint32_t open = 0;
    int fewest = 17;
    for (uint32_t i = 0; i < count; i++) {
        if (masks[i] & chosen)
            continue;
        int bits = __builtin_popcount(masks[i]);
        if (bits < fewest) {
            fewest = bits;
            open = masks[i];
        }
    }
    if (!open)
        return true;
    if (depth == 0)
        return false;
    for (; open; open &= open - 1) {
        if (meets(masks, count, chosen | (open & -open), depth - 1))
            return true;
    }
    return false;
}

static int order(const void *left, const void *right)
{
    const uint16_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Exact: the sets as masks over the at most 16 blocks of `asked_set`. */
static uint32_t hit_exactly(struct cleave__copies *c, uint32_t count)
{
    uint32_t bits = 0, kept = 0;
    memset(c->masks, 0, count * sizeof *c->masks);
    for (uint32_t w = 0; w < c->words; w++) {
        for (uint64_t left = c->asked_set[w]; left; left &= left - 1, bits++) {
            uint64_t bit = left & -left;
            for (uint32_t i = 0; i < count; i++) {
                if (c->unserved[i][w] & bit)
                    c->masks[i] |= (uint16_t)(1u << bits);
            }
        }
    }
    qsort(c->masks, count, sizeof *c->masks, order);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || c->masks[i] != c->masks[kept - 1])
            c->masks[kept++] = c->masks[i];
    }
    uint32_t depth = 1;
    while (!meets(c->masks, kept, 0, depth))
        depth++;
    return depth;
}

static uint32_t hit_greedily(struct cleave__copies *c, uint32_t count)
{
    uint32_t taken = 0;
    for (; count; taken++) {
        uint32_t best = 0, kept = 0;
        memset(c->tally, 0, c->blocks * sizeof *c->tally);
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t w = 0; w < c->words; w++) {
                for (uint64_t left = c->unserved[i][w]; left; left &= left - 1)
                    c->tally[w * 64 + (uint32_t)__builtin_ctzll(left)]++;
            }
        }
        for (uint32_t b = 1; b < c->blocks; b++)
            best = c->tally[b] > c->tally[best] ? b : best;
        for (uint32_t i = 0; i < count; i++) {
            if (!(c->unserved[i][best / 64] >> (best % 64) & 1))
                c->unserved[kept++] = c->unserved[i];
        }
        count = kept;
    }
    return taken;
}

uint32_t cleave__copies_hit(struct cleave__copies *c, uint32_t count)
{
    if (count <= 1)
        return count;
    bool common = false;
    uint32_t asked = 0;
    for (uint32_t w = 0; w < c->words; w++) {
        uint64_t all = UINT64_MAX, any = 0;
        for (uint32_t i = 0; i < count; i++) {
            all &= c->unserved[i][w];
            any |= c->unserved[i][w];
        }
        common |= all != 0;
        c->asked_set[w] = any;
        asked += (uint32_t)__builtin_popcountll(any);
    }
    if (common)
        return 1;
    return asked <= CLEAVE_COPIES_EXACT ? hit_exactly(c, count) : hit_greedily(c, count);
}
