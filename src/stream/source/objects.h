/* Objects from rows: which columns say where, who, when and with which words. */
#ifndef CLEAVE_STREAM_OBJECTS_H
#define CLEAVE_STREAM_OBJECTS_H

#include "stream/query/object.h"
#include "stream/query/terms.h"
#include "stream/source/rows.h"

/* Names of columns, several with commas between; the words of several are put together. NULL: a
 * well-known name, if there is one (lon, lng, longitude, x; lat, latitude, y; id; time, time_ms,
 * timestamp, date, datetime; text, title, name, place; keywords, tags). "": none. */
struct cleave__object_columns {
    const char *x, *y, *id, *time, *text, *keywords;
};

struct cleave__objects_options {
    struct cleave__rows_options rows;
    struct cleave__object_columns columns;
    const struct cleave__space *space;
    struct cleave__terms *terms; /* words are looked up there, or added if `add` */
    bool add;
    const struct cleave_intern *fields; /* names of measures, by number; may be NULL */
};

struct cleave__objects_counts {
    uint64_t rows, refused, without_words, words, unknown_words, late;
    uint64_t clock_ms; /* the latest time of an object */
};

struct cleave__objects;

/* Everything in the options is borrowed until close. CLEAVE_NOT_FOUND names a column that is not
 * there. */
enum cleave_status cleave__objects_open(const struct cleave__objects_options *options,
                                        struct cleave__objects **out, struct cleave_error *error);
void cleave__objects_close(struct cleave__objects *objects);
/* The next object, its arrays in `arena`. CLEAVE_BAD_INPUT and CLEAVE_LIMIT refuse this row alone
 * and count it (rows.h); CLEAVE_END. */
enum cleave_status cleave__objects_next(struct cleave__objects *objects, struct cleave_arena *arena,
                                        struct cleave__object *out, struct cleave_error *error);
/* The id as text, trimmed; empty if none. Valid until the next. */
struct cleave__value cleave__objects_id(const struct cleave__objects *objects);
struct cleave__rows *cleave__objects_rows(struct cleave__objects *objects);
const struct cleave__objects_counts *cleave__objects_counts(const struct cleave__objects *objects);
bool cleave__objects_have_words(const struct cleave__objects *objects); /* a column gives them */
bool cleave__objects_have_times(const struct cleave__objects *objects);
bool cleave__objects_have_ids(const struct cleave__objects *objects);

/* A thing's number from its id's text: a whole number is itself, other text its hash with the
 * highest bit set, so that the two do not meet. Not 0. */
uint64_t cleave__thing_number(const char *text, size_t length);

/* Appends the words of one value: text is cut; keywords are split at , ; and |, or are a list. */
enum cleave_status cleave__value_words(const struct cleave__rows *rows, struct cleave__value value,
                                       bool is_text, struct cleave__terms *terms, bool add,
                                       struct cleave__term_list *list, struct cleave_error *error);

#endif
