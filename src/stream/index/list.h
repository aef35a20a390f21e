/* A long list: all postings of one key, when they are too many for the chain of a bucket.
 *
 * Postings lie by sixteens with each part together (sixteen x0, sixteen y0, ...), so that sixteen
 * boxes are tested by a few vector instructions; its key is exact. A list is cut in *segments* by
 * slot, by linear hashing, each of a few hundred: so a posting is found by its slot without a map,
 * and nothing large is ever copied. Order within a segment means nothing. */
#ifndef CLEAVE_STREAM_LIST_H
#define CLEAVE_STREAM_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/index/pyramid.h"

enum { CLEAVE__BLOCK = 16 };
/* The upper two bits of a slot in a list. */
#define CLEAVE__SLOT_OVERLAPS 0x80000000u
#define CLEAVE__SLOT_EXACT 0x40000000u /* strictly inside, and the signature: that decides it */
#define CLEAVE__SLOT_MASK 0x3fffffffu

struct cleave__block {
    uint8_t x0[CLEAVE__BLOCK], y0[CLEAVE__BLOCK], x1[CLEAVE__BLOCK], y1[CLEAVE__BLOCK];
    uint32_t signature[CLEAVE__BLOCK];
    uint32_t slot[CLEAVE__BLOCK];
};

struct cleave__segment {
    struct cleave__block *blocks;
    uint32_t count, block_capacity;
};

struct cleave__list {
    _Alignas(64) struct cleave__segment first;
    struct cleave__segment *others; /* segment 1 and so on */
    uint32_t segment_count, other_capacity;
    uint32_t column, row, term, second; /* the key; second: CLEAVE__NO_TERM unless a pair */
    uint32_t count;                     /* of postings */
    uint32_t next;                      /* of a free list */
    uint8_t level;
    bool live;
};

static inline const struct cleave__segment *cleave__list_segment(const struct cleave__list *list,
                                                                 uint32_t i)
{
    return i ? &list->others[i - 1] : &list->first;
}

/* One posting of a list. `slot` has its flags. */
struct cleave__item {
    uint8_t box[4];
    uint32_t signature, slot;
};

/* False: no memory, nothing has changed. */
bool cleave__list_add(struct cleave__list *list, struct cleave__item item);
/* The slot without flags; false: it is not there. */
bool cleave__list_remove(struct cleave__list *list, uint32_t slot);
bool cleave__list_find(const struct cleave__list *list, uint32_t slot, struct cleave__item *out);
/* Frees the postings; the key stays. */
void cleave__list_clear(struct cleave__list *list);
size_t cleave__list_bytes(const struct cleave__list *list);
bool cleave__list_check(const struct cleave__list *list);

#endif
