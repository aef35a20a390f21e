/* Long lists in segments of blocks; see list.h. */
#include "stream/index/list.h"

#include <stdlib.h>
#include <string.h>

enum { SEGMENT_MEAN = 256 };

static struct cleave__segment *segment_at(struct cleave__list *list, uint32_t i)
{
    return i ? &list->others[i - 1] : &list->first;
}

/* Linear hashing by the slot itself: slots are dense. */
static uint32_t segment_of(const struct cleave__list *list, uint32_t slot)
{
    if (list->segment_count <= 1)
        return 0;
    uint32_t low = UINT32_MAX >> __builtin_clz(list->segment_count) >> 1, high = 2 * low + 1;
    uint32_t at = slot & high;
    return at < list->segment_count ? at : at & low;
}

static struct cleave__item get(const struct cleave__segment *segment, uint32_t i)
{
    const struct cleave__block *b = &segment->blocks[i / CLEAVE__BLOCK];
    uint32_t k = i % CLEAVE__BLOCK;
    return (struct cleave__item){
        {b->x0[k], b->y0[k], b->x1[k], b->y1[k]}, b->signature[k], b->slot[k]};
}

static void put(struct cleave__segment *segment, uint32_t i, struct cleave__item item)
{
    struct cleave__block *b = &segment->blocks[i / CLEAVE__BLOCK];
    uint32_t k = i % CLEAVE__BLOCK;
    b->x0[k] = item.box[0];
    b->y0[k] = item.box[1];
    b->x1[k] = item.box[2];
    b->y1[k] = item.box[3];
    b->signature[k] = item.signature;
    b->slot[k] = item.slot;
}

/* No place is inside it. */
static const struct cleave__item nowhere = {{255, 255, 0, 0}, 0, 0};

static bool resize(struct cleave__segment *segment, uint32_t blocks)
{
    struct cleave__block *moved = realloc(segment->blocks, blocks * sizeof *moved);
    if (!moved)
        return false;
    segment->blocks = moved;
    segment->block_capacity = blocks;
    return true;
}

static bool push(struct cleave__segment *segment, struct cleave__item item)
{
    uint32_t block = segment->count / CLEAVE__BLOCK;
    if (block == segment->block_capacity && !resize(segment, block + block / 4 + 1))
        return false;
    if (segment->count % CLEAVE__BLOCK == 0) {
        for (uint32_t k = 1; k < CLEAVE__BLOCK; k++)
            put(segment, segment->count + k, nowhere);
    }
    put(segment, segment->count++, item);
    return true;
}

/* The last takes its place. */
static void drop(struct cleave__segment *segment, uint32_t i)
{
    put(segment, i, get(segment, --segment->count));
    put(segment, segment->count, nowhere);
    uint32_t blocks = (segment->count + CLEAVE__BLOCK - 1) / CLEAVE__BLOCK;
    if (blocks == 0) {
        free(segment->blocks);
        *segment = (struct cleave__segment){0};
    } else if (segment->block_capacity > 2 * blocks) {
        resize(segment, blocks);
    }
}

static bool find(const struct cleave__segment *segment, uint32_t slot, uint32_t *at)
{
    for (uint32_t i = 0; i < segment->count; i++) {
        if ((segment->blocks[i / CLEAVE__BLOCK].slot[i % CLEAVE__BLOCK] & CLEAVE__SLOT_MASK) ==
            slot) {
            *at = i;
            return true;
        }
    }
    return false;
}

/* One segment more: half of one old segment goes there. Nothing happens when memory is out. */
static void grow(struct cleave__list *list)
{
    uint32_t made = list->segment_count;
    if (made - 1 == list->other_capacity) {
        uint32_t capacity = made + made / 2;
        struct cleave__segment *others = realloc(list->others, capacity * sizeof *others);
        if (!others)
            return;
        list->others = others;
        list->other_capacity = capacity;
    }
    uint32_t low = UINT32_MAX >> __builtin_clz(made);
    uint32_t bit = (low + 1) / 2; /* made is in [bit, 2 bit) */
    struct cleave__segment *from = segment_at(list, made - bit);
    uint32_t moving = 0;
    for (uint32_t i = 0; i < from->count; i++)
        moving += (get(from, i).slot & bit) != 0;
    struct cleave__segment to = {0};
    if (moving && !resize(&to, (moving + CLEAVE__BLOCK - 1) / CLEAVE__BLOCK))
        return;
    for (uint32_t i = from->count; i-- > 0;) {
        struct cleave__item item = get(from, i);
        if (item.slot & bit) {
            push(&to, item);
            drop(from, i);
        }
    }
    list->others[made - 1] = to;
    list->segment_count++;
}

bool cleave__list_add(struct cleave__list *list, struct cleave__item item)
{
    if (!push(segment_at(list, segment_of(list, item.slot & CLEAVE__SLOT_MASK)), item))
        return false;
    list->segment_count = list->segment_count ? list->segment_count : 1;
    list->count++;
    if (list->count / SEGMENT_MEAN > list->segment_count)
        grow(list);
    return true;
}

bool cleave__list_remove(struct cleave__list *list, uint32_t slot)
{
    uint32_t at;
    if (list->count == 0)
        return false;
    struct cleave__segment *its = segment_at(list, segment_of(list, slot));
    if (!find(its, slot, &at))
        return false;
    drop(its, at);
    if (--list->count == 0)
        cleave__list_clear(list);
    return true;
}

bool cleave__list_find(const struct cleave__list *list, uint32_t slot, struct cleave__item *out)
{
    uint32_t at;
    if (list->count == 0)
        return false;
    const struct cleave__segment *its = cleave__list_segment(list, segment_of(list, slot));
    if (!find(its, slot, &at))
        return false;
    *out = get(its, at);
    return true;
}

void cleave__list_clear(struct cleave__list *list)
{
    for (uint32_t i = 0; i < list->segment_count; i++)
        free(segment_at(list, i)->blocks);
    free(list->others);
    list->first = (struct cleave__segment){0};
    list->others = NULL;
    list->segment_count = list->other_capacity = list->count = 0;
}

size_t cleave__list_bytes(const struct cleave__list *list)
{
    size_t bytes = list->other_capacity * sizeof *list->others;
    for (uint32_t i = 0; i < list->segment_count; i++)
        bytes += cleave__list_segment(list, i)->block_capacity * sizeof(struct cleave__block);
    return bytes;
}

bool cleave__list_check(const struct cleave__list *list)
{
    uint32_t count = 0;
    if (list->segment_count > list->other_capacity + 1)
        return false;
    for (uint32_t s = 0; s < list->segment_count; s++) {
        const struct cleave__segment *its = cleave__list_segment(list, s);
        uint32_t full = (its->count + CLEAVE__BLOCK - 1) / CLEAVE__BLOCK;
        if (full > its->block_capacity)
            return false;
        count += its->count;
        for (uint32_t i = 0; i < full * CLEAVE__BLOCK; i++) {
            struct cleave__item item = get(its, i);
            if (i >= its->count ? memcmp(&item, &nowhere, sizeof item) != 0
                                : segment_of(list, item.slot & CLEAVE__SLOT_MASK) != s)
                return false;
        }
    }
    return count == list->count;
}
