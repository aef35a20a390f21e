/* The exact query, one line of 64 bytes for what verifying a candidate reads.
 *
 * Up to three terms lie in the record; more terms, or filters, lie in an allocation of its own.
 * `first` and `second` are the two rarest terms when the query came: where a CONTAINS query is
 * posted. They stay, whatever is learnt later. A record's place is its query's slot. Ends are kept
 * by the index in an array of their own, which is there only once a query has one. */
#ifndef CLEAVE_STREAM_RECORD_H
#define CLEAVE_STREAM_RECORD_H

#include "stream/index/pages.h"
#include "stream/query/object.h"

#define CLEAVE__NO_TERM UINT32_MAX /* of a query without terms; no term has this number */

enum {
    CLEAVE__RECORD_TERMS = 3,
    /* Bits of `head`; a free record's is 0. */
    CLEAVE__RECORD_LIVE = 1,
    CLEAVE__RECORD_CIRCLE = 2,
    CLEAVE__RECORD_CONTAINS = 4,
    CLEAVE__RECORD_MORE = 8, /* `more` instead of `terms` */
    CLEAVE__RECORD_EVENTS_SHIFT = 4,
    CLEAVE__RECORD_LEVEL_SHIFT = 8,  /* 5 bits */
    CLEAVE__RECORD_COUNT_SHIFT = 13, /* 2 bits, of terms, unless MORE */
    CLEAVE__RECORD_FIRST_SHIFT = 15, /* 2 bits each, which of `terms` */
    CLEAVE__RECORD_SECOND_SHIFT = 17,
    CLEAVE__RECORD_ENDS = 1 << 19 /* has an end, beside the record */
};

struct cleave__more {
    uint32_t term_count, filter_count, first, second; /* terms, not places */
    struct cleave__filter filters[];                  /* then the terms */
};

struct cleave__record {
    double x0, y0, x1, y1; /* of a circle x1 is the radius */
    uint64_t id, subscriber;
    union {
        uint32_t terms[CLEAVE__RECORD_TERMS]; /* rising */
        char more[sizeof(struct cleave__more *)];
        uint32_t next; /* of a free record: the next free slot */
    } of;
    uint32_t head;
};

_Static_assert(sizeof(struct cleave__record) == 64, "a record is a line");

static inline struct cleave__more *cleave__record_more(const struct cleave__record *record)
{
    struct cleave__more *more;
    __builtin_memcpy(&more, record->of.more, sizeof more);
    return more;
}
static inline const uint32_t *cleave__more_terms(const struct cleave__more *more)
{
    return (const uint32_t *)(const void *)(more->filters + more->filter_count);
}
static inline size_t cleave__more_bytes(uint32_t terms, uint32_t filters)
{
    return sizeof(struct cleave__more) + filters * sizeof(struct cleave__filter) +
           terms * sizeof(uint32_t);
}
static inline uint32_t cleave__record_level(const struct cleave__record *record)
{
    return record->head >> CLEAVE__RECORD_LEVEL_SHIFT & 31;
}
static inline uint32_t cleave__record_term_count(const struct cleave__record *record)
{
    return record->head & CLEAVE__RECORD_MORE ? cleave__record_more(record)->term_count
                                              : record->head >> CLEAVE__RECORD_COUNT_SHIFT & 3;
}
static inline const uint32_t *cleave__record_terms(const struct cleave__record *record)
{
    return record->head & CLEAVE__RECORD_MORE ? cleave__more_terms(cleave__record_more(record))
                                              : record->of.terms;
}
/* CLEAVE__NO_TERM if there is no such term. */
uint32_t cleave__record_first(const struct cleave__record *record);
uint32_t cleave__record_second(const struct cleave__record *record);

/* Fills a record whose query has the terms `first` and `second` (or CLEAVE__NO_TERM) as its rarest.
 * False: no memory, and nothing has changed. */
bool cleave__record_fill(struct cleave__record *record, const struct cleave__query *query,
                         uint32_t level, uint32_t first, uint32_t second);
/* Frees what it holds; head becomes 0. */
void cleave__record_clear(struct cleave__record *record);
/* The query but its end; arrays are the record's. */
void cleave__record_query(const struct cleave__record *record, struct cleave__query *out);

/* Whether an object is had, but for the terms and the end. */
bool cleave__record_place(const struct cleave__record *record, const struct cleave__space *space,
                          const struct cleave__object *object);

#endif
