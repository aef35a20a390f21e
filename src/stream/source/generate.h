/* Objects and queries made up, the same for the same options on every machine.
 *
 * Objects crowd around hot spots and have words of a Zipf distribution: term 0 is the most
 * frequent. A query stands where an object might be and asks for some of the words that this object
 * would have. Defaults are those of the workload that Tornado's and FAST's authors used, as
 * measured for this project: 64 hot spots, 100,000 words, 8 an object, 3 a query, all of them
 * wanted, a range of a hundredth of the space's side.
 *
 * Objects and queries are two streams of one seed: either can be drawn alone, in any mixture.
 * Positions and words use only operations that IEEE 754 fixes to the bit. */
#ifndef CLEAVE_STREAM_GENERATE_H
#define CLEAVE_STREAM_GENERATE_H

#include "stream/query/object.h"

enum {
    CLEAVE__STREAM_WORDS_MOST = 64, /* of an object */
    CLEAVE__STREAM_VOCABULARY_MOST = 1 << 24,
    CLEAVE__STREAM_THINGS_MOST = 1 << 28
};

struct cleave__stream_options {
    uint64_t seed;
    struct cleave__space space;
    uint32_t hot_spots;  /* 0: everywhere alike */
    double spread;       /* of a hot spot: standard deviation, a share of the space's sides */
    double background;   /* share of objects that are anywhere */
    double move;         /* how far hot spots go in a million objects, a share of the sides */
    double scale;        /* coordinates are multiplied by it, from the lower left: the seed's sf */
    uint32_t vocabulary; /* at least `words` */
    double zipf;         /* the word of rank r comes in proportion to 1 / r^zipf */
    uint32_t words;      /* an object's, all different */
    uint32_t keywords;   /* a query's; at most `words`, unless a band gives them */
    double band;         /* where a query's keywords come from: 0 the least frequent words, 1 the
                            most frequent; negative: the object's */
    double contains;     /* share of queries that want all of their keywords */
    double range;        /* side of a query's rectangle, a share of the space's sides */
    double circles;      /* share of queries with a circle; its diameter is that side */
    uint32_t things;     /* that send objects and go in small steps; 0: objects have no ids */
    double step;         /* of a thing, at most, a share of the space's sides */
    uint32_t measures;   /* numbers from 0 to 100 that an object has: fields 0, 1, ... */
    uint32_t filters;    /* of a query: half the range of that many of those fields */
    double objects_per_s;
    uint64_t start_ms, lifetime_ms; /* of the clock; of a query, on average (0: for ever) */
    uint32_t events;                /* that queries want: enum cleave__event, ORed */
};

extern const struct cleave__stream_options cleave__stream_defaults;

struct cleave__stream_generator;

/* CLEAVE_BAD_ARGUMENT says which option makes no sense. O(vocabulary + things). */
enum cleave_status cleave__stream_generator_new(const struct cleave__stream_options *options,
                                                struct cleave__stream_generator **out,
                                                struct cleave_error *error);
void cleave__stream_generator_free(struct cleave__stream_generator *generator);

/* The next one. Arrays are valid until the next of its kind. O(words) expected. */
void cleave__stream_next_object(struct cleave__stream_generator *generator,
                                struct cleave__object *out);
/* `now`: number of the object that it comes after, for its end and for hot spots that move. Ids are
 * 1, 2, ...; subscriber 0. */
void cleave__stream_next_query(struct cleave__stream_generator *generator, uint64_t now,
                               struct cleave__query *out);
/* Many, with arrays in `arena`. */
enum cleave_status cleave__stream_next_objects(struct cleave__stream_generator *generator,
                                               uint32_t count, struct cleave_arena *arena,
                                               struct cleave__object *out,
                                               struct cleave_error *error);
bool cleave__stream_generator_check(const struct cleave__stream_generator *generator);

#endif
