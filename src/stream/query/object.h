/* Objects that stream by, and queries that stand: what they are, when they match, their bytes.
 *
 * A keyword is a *term*: a number that the edge of the system gave to a normalised word (terms.h).
 * A query has an object when the object is in its region, has all of its terms (CONTAINS) or one of
 * them (OVERLAPS), keeps every filter, and is not later than the query's end. A query without terms
 * asks for none: place alone decides. */
#ifndef CLEAVE_STREAM_OBJECT_H
#define CLEAVE_STREAM_OBJECT_H

#include "base/arena.h"
#include "base/bytes.h"
#include "stream/query/space.h"

/* Terms are less than this by two at least. */
#define CLEAVE__NO_TERM UINT32_MAX

enum {
    CLEAVE__TERMS_MOST = 4096,
    CLEAVE__FILTERS_MOST = 16,
    CLEAVE__FIELDS_MOST = 64,
    CLEAVE__NOTE_MOST = 1 << 16
};

/* A number that an object has: a magnitude, a price. `field` is a number as terms are. */
struct cleave__measure {
    uint32_t field;
    double value; /* not NaN */
};

struct cleave__filter {
    uint32_t field;
    double low, high; /* both included; an object without the field is not had */
};

/* Arrays are borrowed. */
struct cleave__object {
    uint64_t number;   /* of this message, rising in the order of arrival; from 1 */
    uint64_t id;       /* of the thing that sends; 0: none, so that it enters and leaves nothing */
    uint64_t sequence; /* of the thing's objects, from 1; 0: nobody asks */
    uint64_t time_ms;  /* of the stream's clock */
    double x, y;       /* canonical */
    uint32_t term_count, measure_count;
    const uint32_t *terms;                  /* rising, each once */
    const struct cleave__measure *measures; /* fields rising, each once */
    const uint8_t *note; /* [note_length]: goes along, for whoever is told of its matches */
    uint32_t note_length;
};

enum cleave__predicate { CLEAVE__OVERLAPS, CLEAVE__CONTAINS };

/* Of what a subscriber is told. */
enum cleave__event {
    CLEAVE__EVENT_MATCH = 1, /* every object that matches */
    CLEAVE__EVENT_ENTER = 2, /* the thing's last object did not match, this one does */
    CLEAVE__EVENT_EXIT = 4,  /* and the other way; or the thing has been silent for too long */
    CLEAVE__EVENT_EXPIRE = 8 /* the query has ended by its own time */
};

#define CLEAVE__NEVER UINT64_MAX

struct cleave__query {
    uint64_t id; /* not 0; one live query has it */
    uint64_t subscriber;
    uint64_t end_ms;              /* objects of this time or later do not match; CLEAVE__NEVER */
    struct cleave__region region; /* prepared */
    enum cleave__predicate predicate; /* without terms: either, the same */
    uint32_t events;                  /* enum cleave__event, ORed */
    uint32_t term_count, filter_count;
    const uint32_t *terms; /* rising, each once */
    const struct cleave__filter *filters;
};

/* Straight from the definition above: O(terms). */
bool cleave__query_has(const struct cleave__space *space, const struct cleave__query *query,
                       const struct cleave__object *object);
/* The parts of it that are not about the region. */
bool cleave__terms_match(const struct cleave__query *query, const struct cleave__object *object);
bool cleave__filters_match(const struct cleave__query *query, const struct cleave__object *object);

/* A query whose arrays are its own: they lie in *arrays, which the caller frees (NULL: it has
 * none). False: memory is out. Their size is cleave__query_arrays. */
bool cleave__query_copy(const struct cleave__query *query, struct cleave__query *out,
                        void **arrays);
static inline size_t cleave__query_arrays(const struct cleave__query *query)
{
    return query->filter_count * sizeof *query->filters + query->term_count * sizeof *query->terms;
}

/* Bytes, and back. What is read is checked (orders, finite numbers, known kinds); its arrays are in
 * `arena`, a note in the bytes that were read. False: the reader has failed, or memory is out (then
 * *no_memory is true). */
void cleave__object_write(const struct cleave__object *object, struct cleave_writer *writer);
bool cleave__object_read(struct cleave_reader *reader, struct cleave_arena *arena,
                         struct cleave__object *out, bool *no_memory);
void cleave__query_write(const struct cleave__query *query, struct cleave_writer *writer);
bool cleave__query_read(struct cleave_reader *reader, struct cleave_arena *arena,
                        struct cleave__query *out, bool *no_memory);

#endif
