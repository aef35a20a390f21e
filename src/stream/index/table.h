/* Postings by key: a hash table of lines that grows one bucket at a time.
 *
 * A *key* is (level, cell, term), or (level, cell, term, second term); here it is 32 bits of hash
 * and whether it is a pair. A bucket is a line of four postings; when a fifth comes the last place
 * holds the number of an overflow line instead. A posting keeps the upper 24 bits of its hash (the
 * lower 8 are its bucket's), so keys may collide: a table's answer is a guess to be verified.
 *
 * Growth is linear hashing (Litwin 1980): whenever more than 11/4 postings a bucket are there, the
 * next bucket in turn is split in two by one more bit of the hash. No stall; the load stays even.
 * Shrinking is the same backwards.
 *
 * Before a bucket is read, its *filter* is: 16 bits a bucket, one set for each posting by the top
 * four bits of its hash, always exact. 2 bytes a bucket stay in near caches where the buckets do
 * not, and turn away five of six keys that nobody asks for.
 *
 * Invariants: places of a chain are filled from the front, no overflow line is empty; a posting
 * lies in the bucket of its hash; filters are exact. */
#ifndef CLEAVE_STREAM_TABLE_H
#define CLEAVE_STREAM_TABLE_H

#include "stream/index/pages.h"

enum {
    /* The lower 8 bits of a posting's head. */
    CLEAVE__KIND_MASK = 3,
    CLEAVE__KIND_EMPTY = 0,
    CLEAVE__KIND_POSTING = 1,
    CLEAVE__KIND_LIST = 2, /* `slot` is a list's number: the key has many postings, elsewhere */
    CLEAVE__KIND_NEXT = 3, /* `slot` is an overflow line's */
    CLEAVE__HEAD_PAIR = 4,
    CLEAVE__HEAD_TWIN = 8, /* the same slot is, or may be, in this chain again with this tag; or
                              a list with it is there */
    CLEAVE__HEAD_OVERLAPS = 16
};
#define CLEAVE__HEAD_TAG 0xffffff00u
#define CLEAVE__HEAD_KEY (CLEAVE__HEAD_TAG | CLEAVE__HEAD_PAIR)

struct cleave__posting {
    uint32_t head;
    uint32_t slot;
    uint8_t box[4];     /* in 256ths of the cell; of a list 0 */
    uint32_t signature; /* of a CONTAINS query's other terms */
};

enum { CLEAVE__LINE_POSTINGS = 4, CLEAVE__BUCKETS_LEAST = 256 };

struct cleave__line {
    struct cleave__posting postings[CLEAVE__LINE_POSTINGS];
};

struct cleave__table {
    struct cleave__pages lines;    /* of buckets */
    struct cleave__pages overflow; /* lines; free ones chained by postings[0].slot */
    uint16_t *filter;
    uint32_t filter_capacity;
    uint32_t buckets;
    uint32_t low, high; /* masks: low + 1 <= buckets < high + 1 = 2 (low + 1) */
    uint32_t overflow_used, overflow_free, overflow_free_count;
    uint64_t postings; /* of both kinds */
};

/* False: no memory; `table` may then be freed. */
bool cleave__table_init(struct cleave__table *table);
void cleave__table_free(struct cleave__table *table);

static inline uint32_t cleave__table_bucket(const struct cleave__table *table, uint32_t hash)
{
    uint32_t at = hash & table->high;
    return at < table->buckets ? at : at & table->low;
}
/* Whether anything may have this hash. */
static inline uint32_t cleave__table_may(const struct cleave__table *table, uint32_t bucket,
                                         uint32_t hash)
{
    return table->filter[bucket] >> (hash >> 28) & 1u;
}
static inline const struct cleave__line *cleave__table_line(const struct cleave__table *table,
                                                            uint32_t bucket)
{
    return cleave__pages_at(&table->lines, bucket);
}
/* The line after this one in its chain, or NULL. */
static inline const struct cleave__line *cleave__table_next(const struct cleave__table *table,
                                                            const struct cleave__line *line)
{
    const struct cleave__posting *last = &line->postings[CLEAVE__LINE_POSTINGS - 1];
    return (last->head & CLEAVE__KIND_MASK) == CLEAVE__KIND_NEXT
               ? cleave__pages_at(&table->overflow, last->slot)
               : NULL;
}
static inline uint32_t cleave__table_head(uint32_t hash, uint32_t flags)
{
    return (hash & CLEAVE__HEAD_TAG) | flags;
}

/* Makes the next insert succeed. */
bool cleave__table_reserve(struct cleave__table *table);
/* `posting.head` has kind and flags; the tag is put here. Yields how many postings (not lists) of
 * the same key and tag there are now. May split a bucket. */
uint32_t cleave__table_insert(struct cleave__table *table, uint32_t hash,
                              struct cleave__posting posting);
/* Removes one of that key, kind and slot; false: there is none. May join two buckets. */
bool cleave__table_remove(struct cleave__table *table, uint32_t hash, uint32_t flags,
                          uint32_t slot);
/* Up to `most` of that hash and key: their count. */
uint32_t cleave__table_collect(const struct cleave__table *table, uint32_t hash, uint32_t pair,
                               struct cleave__posting *out, uint32_t most);
size_t cleave__table_bytes(const struct cleave__table *table);
bool cleave__table_check(const struct cleave__table *table);

#endif
