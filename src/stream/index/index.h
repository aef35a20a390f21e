/* The spatio-textual index, put together: what its files share.
 *
 * A query has one record (record.h), whose number is its slot, and *postings*: under a key (level,
 * cell, term) for every cell of its level that its boxes meet and
 *
 *   its rarest term          if it is CONTAINS (or its two rarest, a pair: see below)
 *   each of its terms        if it is OVERLAPS
 *   CLEAVE__NO_TERM          if it has none
 *
 * A key's postings lie in the chain of a bucket (table.h) while they are few. When CLEAVE__PAIRED
 * of one hash are there, those of CONTAINS queries with a second term move to the keys (level,
 * cell, term, second term), and a posting of kind PAIRS stays to tell so; those that come later go
 * there at once. When CLEAVE__LONG of other postings are there, or of one pair, they move to a list
 * (list.h), and a posting of kind LIST stays. Both only make things faster: where memory for it is
 * out, a posting stays where it was; it is looked for in the list, in the chain, and under its
 * pair.
 *
 * An object has a query once although a query has many postings: it looks into one cell a level;
 * postings of a list have their exact key; of a chain a candidate is verified against the record,
 * with the key: only the posting under the query's own level and rarest terms counts, of OVERLAPS
 * only the one under the least term that both have. What is left are *twins*, postings of one query
 * under keys whose hashes are equal: they are marked, and an object that one of them has has its
 * answers sorted and each kept once. */
#ifndef CLEAVE_STREAM_INDEX_H
#define CLEAVE_STREAM_INDEX_H

#include "stream/index/list.h"
#include "stream/index/matcher.h"
#include "stream/index/pyramid.h"
#include "stream/index/rarity.h"
#include "stream/index/record.h"
#include "stream/index/table.h"

#define CLEAVE__NO_LIST UINT32_MAX
enum { CLEAVE__LONG = 12, CLEAVE__PAIRED = 6 };

struct cleave__index {
    struct cleave__pyramid pyramid;
    struct cleave__pages records; /* cleave__record, by slot */
    struct cleave__pages ends;    /* uint64_t ms, by slot, of those that end; grown when one does */
    uint32_t slot_count, free_slot, live;
    struct cleave__table table;
    struct cleave__pages lists; /* cleave__list, by number */
    uint32_t list_count, free_list;
    uint64_t list_postings;
    struct cleave__rarity rarity;
    uint32_t seen; /* objects, to learn from some */
    struct cleave__levels {
        uint32_t suited[CLEAVE__LEVELS]; /* queries that the level suits */
        uint32_t used[CLEAVE__LEVELS];   /* queries that are on it */
        uint32_t mask;                   /* levels that are used */
    } levels[2];                         /* of queries without terms, and with */
    size_t more_bytes;                   /* of records */
    uint32_t hash_mask;                  /* ~0; a test makes hashes collide */
    bool has_avx2;
};

/* A level's cell, hashed; then a term, or a pair: hash of (hash of the cell, term), second. */
static inline uint32_t cleave__cell_hash(uint32_t level, uint32_t column, uint32_t row)
{
    uint64_t x = (uint64_t)level << 56 ^ (uint64_t)row << 28 ^ column;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(x >> 32);
}
static inline uint32_t cleave__key_hash(uint32_t cell_hash, uint32_t term)
{
    uint32_t x = cell_hash ^ term * 0x9e3779b1u;
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}
/* A term's bit of 64; signatures of 32 bits have it folded. */
static inline uint64_t cleave__term_bit(uint32_t term)
{
    return UINT64_C(1) << (term * 0x9e3779b1u >> 26);
}
static inline uint32_t cleave__fold(uint64_t bits)
{
    return (uint32_t)(bits | bits >> 32);
}

static inline struct cleave__record *cleave__index_record(const struct cleave__index *index,
                                                          uint32_t slot)
{
    return cleave__pages_at(&index->records, slot);
}
static inline uint64_t cleave__index_end_ms(const struct cleave__index *index, uint32_t slot)
{
    return *(const uint64_t *)cleave__pages_at(&index->ends, slot);
}
static inline struct cleave__list *cleave__index_list(const struct cleave__index *index,
                                                      uint32_t number)
{
    return cleave__pages_at(&index->lists, number);
}

struct cleave__key {
    uint32_t level, column, row, term, second; /* second: CLEAVE__NO_TERM, not a pair */
};

/* As the table's `create`; hashes are ANDed with `hash_mask`, so that a test can make them equal.
 */
enum cleave_status cleave__index_create(const struct cleave__matcher_options *options,
                                        uint32_t hash_mask, void **self,
                                        struct cleave_error *error);

uint32_t cleave__index_hash(const struct cleave__index *index, const struct cleave__key *key);
/* The number of the list of exactly this key, or CLEAVE__NO_LIST. */
uint32_t cleave__index_find_list(const struct cleave__index *index, const struct cleave__key *key);

/* Adds 1 or takes it away (UINT32_MAX) for a record. */
void cleave__levels_count(const struct cleave__index *index, struct cleave__levels levels[2],
                          const struct cleave__record *record, uint32_t by);

/* Asks for the lines that posting a query will need, while there is other work to do. */
void cleave__index_foresee(const struct cleave__index *index, const struct cleave__query *query,
                           uint32_t level, uint32_t first);
/* The postings of the live record in `slot`. Post: false when memory is out, and then none of them
 * is there. */
bool cleave__index_post(struct cleave__index *index, uint32_t slot);
void cleave__index_unpost(struct cleave__index *index, uint32_t slot);

enum cleave_status cleave__index_match(void *self, const struct cleave__object *objects,
                                       uint32_t count, struct cleave__matches *out,
                                       uint32_t *candidates, struct cleave_error *error);
bool cleave__index_check(const void *self);

#endif
