/* Postings by key: a hash table of lines that grows one bucket at a time.
 *
 * A *key* is (level, cell, term), or (level, cell, term, second term); here it is 32 bits of hash
 * and whether it is a pair. A bucket is a line of four postings; when a fifth comes the last place
 * holds the number of an overflow line instead. A posting keeps the upper 24 bits of its hash (the
 * lower 8 are its bucket's), so keys may collide: a table's answer is a guess to be verified.
 *
 * Growth is linear hashing (Litwin 1980): whenever more than 5/2 postings a bucket are there, the
 * next bucket in turn is split in two by one more bit of the hash. No stall; but buckets whose turn
 * has not come have up to twice the load of the others. Shrinking is the same backwards.
 *
 * Before a bucket is read, its *filter* is: 64 bits a bucket, always exact. A posting sets, from
 * the top six bits of its hash, a bit for each of the 4 x 4 parts of its cell that its box meets;
 * an object asks for the bit of the part that it is in. So the filter knows places four times finer
 * than keys do, and turns away most keys that are there but not near, besides those that are not.
 *
 * Invariants: places of a chain are filled from the front, no overflow line is empty; a posting
 * lies in the bucket of its hash; filters are exact. */
#ifndef CLEAVE_STREAM_TABLE_H
#define CLEAVE_STREAM_TABLE_H

#include "stream/index/pages.h"

enum {
    /* The lower 8 bits of a posting's head. */
    CLEAVE__KIND_MASK = 7,
    CLEAVE__KIND_EMPTY = 0,
    CLEAVE__KIND_POSTING = 1,
    CLEAVE__KIND_LIST = 2,  /* `slot` is a list's number: the key has many postings, elsewhere */
    CLEAVE__KIND_NEXT = 3,  /* `slot` is an overflow line's */
    CLEAVE__KIND_PAIRS = 4, /* `slot` postings of this hash lie under pairs (_pairs_bits) */
    CLEAVE__HEAD_PAIR = 8,  /* the key is a pair */
    CLEAVE__HEAD_TWIN = 16  /* the same slot is, or may be, in this chain again with this tag; or
                               a list with it is there */
};
#define CLEAVE__HEAD_TAG 0xffffff00u
#define CLEAVE__HEAD_KEY (CLEAVE__HEAD_TAG | CLEAVE__HEAD_PAIR)

struct cleave__posting {
    uint32_t head;
    uint32_t slot;
    uint8_t box[4];     /* in 256ths of the cell */
    uint32_t signature; /* of a CONTAINS query's other terms */
};

enum { CLEAVE__LINE_POSTINGS = 4, CLEAVE__BUCKETS_LEAST = 256 };

struct cleave__line {
    struct cleave__posting postings[CLEAVE__LINE_POSTINGS];
};

struct cleave__table {
    struct cleave__pages lines;    /* of buckets */
    struct cleave__pages overflow; /* lines; free ones chained by postings[0].slot */
    struct cleave__pages filter;   /* uint64_t, by bucket */
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
    uint32_t at =
        hash & table->high; /* without a branch: it would be guessed wrong half the time */
    return at & (table->low | (0u - (uint32_t)(at < table->buckets)));
}
/* Which of the 4 x 4 parts of a cell has a place in it, in 256ths. */
static inline uint32_t cleave__quarter(uint8_t x, uint8_t y)
{
    return (uint32_t)(x >> 6 | y >> 6 << 2);
}
static inline uint64_t *cleave__table_filter(const struct cleave__table *table, uint32_t bucket)
{
    return (uint64_t *)(void *)table->filter.chunks[bucket >> table->filter.shift] +
           (bucket & table->filter.mask);
}
/* Whether anything of this hash may be in that part. */
static inline uint32_t cleave__table_may(const struct cleave__table *table, uint32_t bucket,
                                         uint32_t hash, uint32_t quarter)
{
    return (uint32_t)(*cleave__table_filter(table, bucket) >> (hash >> 26 ^ quarter << 2)) & 1u;
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

/* Of a PAIRS posting: which second terms there are, a bit of 64 for each; those gone may be in. */
static inline uint64_t cleave__pairs_bits(const struct cleave__posting *posting)
{
    uint32_t low;
    __builtin_memcpy(&low, posting->box, sizeof low);
    return (uint64_t)posting->signature << 32 | low;
}

/* Asks for the lines that are split or joined next. */
static inline void cleave__table_foresee(const struct cleave__table *table)
{
    uint32_t source = table->buckets - (table->low + 1);
    __builtin_prefetch(cleave__table_line(table, source + 2), 1);
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
/* The PAIRS posting of a hash (not of a pair), or NULL; valid until the next insert or remove. */
struct cleave__posting *cleave__table_pairs(struct cleave__table *table, uint32_t hash);
/* Up to `most` of that hash and key: their count. */
uint32_t cleave__table_collect(const struct cleave__table *table, uint32_t hash, uint32_t pair,
                               struct cleave__posting *out, uint32_t most);
size_t cleave__table_bytes(const struct cleave__table *table);
bool cleave__table_check(const struct cleave__table *table);

#endif
