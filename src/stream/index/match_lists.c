/* The lists stage of a match: sixteen boxes at a time against one place; most postings are decided
 * here, without a look at their records (list.h, and what exact means in post.c). */
#include <string.h>

#include "stream/index/match.h"

enum { BLOCKS_AHEAD = 4 };

/* Bits of the places i where (x, y) is in the block's boxes, and where strictly. */
static inline void inside(const struct cleave__block *block, uint8_t x, uint8_t y, uint32_t *at_all,
                          uint32_t *strictly)
{
#if defined(__SSE2__)
    typedef unsigned char bytes __attribute__((vector_size(CLEAVE__BLOCK)));
    typedef char signed_bytes __attribute__((vector_size(CLEAVE__BLOCK)));
    bytes x0, y0, x1, y1, vx = (bytes){0} + x, vy = (bytes){0} + y;
    memcpy(&x0, block->x0, sizeof x0);
    memcpy(&y0, block->y0, sizeof y0);
    memcpy(&x1, block->x1, sizeof x1);
    memcpy(&y1, block->y1, sizeof y1);
    signed_bytes a = (signed_bytes)((vx >= x0) & (vx <= x1) & (vy >= y0) & (vy <= y1));
    signed_bytes b = (signed_bytes)((vx > x0) & (vx < x1) & (vy > y0) & (vy < y1));
    *at_all = (uint32_t)__builtin_ia32_pmovmskb128(a);
    *strictly = (uint32_t)__builtin_ia32_pmovmskb128(b);
#else
    *at_all = *strictly = 0;
    for (uint32_t i = 0; i < CLEAVE__BLOCK; i++) {
        *at_all |= (uint32_t)(x >= block->x0[i] && x <= block->x1[i] && y >= block->y0[i] &&
                              y <= block->y1[i])
                   << i;
        *strictly |=
            (uint32_t)(x > block->x0[i] && x < block->x1[i] && y > block->y0[i] && y < block->y1[i])
            << i;
    }
#endif
}

static void scan_block(struct match *m, const struct cleave__block *block, struct candidate key,
                       uint8_t x, uint8_t y, uint32_t signature)
{
    uint32_t at_all, strictly;
    inside(block, x, y, &at_all, &strictly);
    for (uint32_t left = at_all; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left), slot = block->slot[i];
        uint32_t wants = key.term == CLEAVE__NO_TERM ? 0 : block->signature[i];
        bool overlaps = slot & CLEAVE__SLOT_OVERLAPS;
        if (!overlaps && wants & ~signature)
            continue;
        if (slot & CLEAVE__SLOT_EXACT && strictly >> i & 1 && !(overlaps && wants & signature)) {
            emit(m, key.object, slot & CLEAVE__SLOT_MASK);
        } else {
            key.slot = slot & CLEAVE__SLOT_MASK;
            push_candidate(m, key);
        }
    }
}

/* For all that a block may give, and the candidates that it may have verified before. */
static bool room_for_block(struct match *m)
{
    m->no_memory |=
        !CLEAVE_RESERVE(&m->out->items, m->out->items.count + CLEAVE__BLOCK + CANDIDATES);
    return !m->no_memory;
}

static void scan_list(struct match *m, const struct list_hit *hit)
{
    const struct cleave__list *list = hit->list;
    const struct staged *staged = &m->staged[hit->object];
    uint8_t x = cleave__place_within(staged->x, list->level);
    uint8_t y = cleave__place_within(staged->y, list->level);
    struct candidate key = {.term = list->term,
                            .second = list->second,
                            .object = (uint16_t)hit->object,
                            .level = list->level};
    count_candidates(m, hit->object, list->count);
    for (uint32_t s = 0; s < list->segment_count && !m->no_memory; s++) {
        const struct cleave__segment *segment = cleave__list_segment(list, s);
        uint32_t blocks = (segment->count + CLEAVE__BLOCK - 1) / CLEAVE__BLOCK;
        if (s + 1 < list->segment_count)
            __builtin_prefetch(cleave__list_segment(list, s + 1)->blocks);
        for (uint32_t b = 0; b < blocks && room_for_block(m); b++) {
            const char *ahead =
                (const char *)&segment->blocks[b + BLOCKS_AHEAD < blocks ? b + BLOCKS_AHEAD : b];
            __builtin_prefetch(ahead);
            __builtin_prefetch(ahead + 64);
            __builtin_prefetch(ahead + 128);
            scan_block(m, &segment->blocks[b], key, x, y, staged->signature);
        }
    }
}

void cleave__match_lists(struct match *m)
{
    uint32_t count = m->list_count;
    m->list_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *block = (const char *)m->lists[i].list->first.blocks;
        for (uint32_t k = 0; k < sizeof(struct cleave__block); k += 64)
            __builtin_prefetch(block + k);
    }
    for (uint32_t i = 0; i < count && !m->no_memory; i++)
        scan_list(m, &m->lists[i]);
}
