/* Standing queries from rows. Columns are known by name, whatever their case:
 *
 *   id                     any text; without it, the number of the query
 *   west south east north  a rectangle (or x0 y0 x1 y1, xmin ymin xmax ymax, minlon ...), or
 *   bbox, box              the four in one, as a list or with commas or blanks between, or
 *   x y radius             a circle (or lon lat ...); the radius in metres or with its unit: 2 km
 *   keywords, tags         words that are one each; split at , ; |
 *   text                   words that are cut as the text of objects is
 *   match, predicate       contains (all of its words: the default) or overlaps (one of them)
 *   filter, filters        mag>=4.5; depth<10; mag=4..5
 *   end, until, expires    when it ends; end_ms counts milliseconds
 *   subscriber             any text
 *   events                 match (the default), enter, exit, expire; several with commas
 *
 * A row without any column of a place asks everywhere. In GeoJSON and TopoJSON the place is the box
 * around the outline, or around a Point with a radius its circle; an id is the feature's own. */
#ifndef CLEAVE_STREAM_QUERIES_H
#define CLEAVE_STREAM_QUERIES_H

#include "stream/query/object.h"
#include "stream/query/terms.h"
#include "stream/source/rows.h"

struct cleave__queries_options {
    struct cleave__rows_options rows;
    const struct cleave__space *space;
    const char *id;               /* column; NULL: id */
    struct cleave__terms *terms;  /* words are added */
    struct cleave_intern *fields; /* names in filters are added */
};

struct cleave__queries;

enum cleave_status cleave__queries_open(const struct cleave__queries_options *options,
                                        struct cleave__queries **out, struct cleave_error *error);
/* Ends the reading; names are kept until _free. */
void cleave__queries_close(struct cleave__queries *queries);
void cleave__queries_free(struct cleave__queries *queries);
/* The next query; arrays are valid until the next call. CLEAVE_BAD_INPUT and CLEAVE_LIMIT refuse
 * this row alone and count it. Ids are 1, 2, ... */
enum cleave_status cleave__queries_next(struct cleave__queries *queries, struct cleave__query *out,
                                        struct cleave_error *error);
uint64_t cleave__queries_refused(const struct cleave__queries *queries);
/* The text of a query's id, NUL-terminated, for as long as the reader lives. */
const char *cleave__queries_id(const struct cleave__queries *queries, uint64_t id, size_t *length);
/* NULL for subscriber 0: none was told. */
const char *cleave__queries_subscriber(const struct cleave__queries *queries, uint64_t subscriber,
                                       size_t *length);
size_t cleave__queries_bytes(const struct cleave__queries *queries); /* of memory that it holds */

/* "mag>=4.5": appends to filters[*count]. */
enum cleave_status cleave__filter_read(const char *text, size_t length,
                                       struct cleave_intern *fields, struct cleave__filter *filters,
                                       uint32_t *count, struct cleave_error *error);

#endif
