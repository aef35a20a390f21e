/* What may be concluded from comparing a column of a type with a constant. */
#ifndef CLEAVE_TABLES_ORACLE_SORT_H
#define CLEAVE_TABLES_ORACLE_SORT_H

#include "tables/sql/value.h"

enum oracle_sort {
    ORACLE_SORT_ANY,    /* no type of its own: VALUES, unnest; that of what it equals */
    ORACLE_SORT_OPAQUE, /* nothing: one value has several texts (json, citext, interval, arrays) */
    ORACLE_SORT_LABEL,  /* equality of texts, no order: enums, domains, types not known */
    ORACLE_SORT_INTEGER,
    ORACLE_SORT_NUMERIC,
    ORACLE_SORT_DOUBLE,
    ORACLE_SORT_REAL,
    ORACLE_SORT_BOOLEAN,
    ORACLE_SORT_DATE,
    ORACLE_SORT_TIMESTAMP,
    ORACLE_SORT_TIMESTAMPTZ,
    ORACLE_SORT_TIME,
    ORACLE_SORT_UUID,
    ORACLE_SORT_CHAR,
    ORACLE_SORT_STRING,
};

/* `name` as declared, or as the parser writes it in a cast; NULL: the type alone decides. */
enum oracle_sort cleave__oracle_sort(enum cleave_type type, const char *name);
enum cleave_type cleave__oracle_sort_type(enum oracle_sort sort);
/* The n-th number (0, 1) in the name's brackets, or -1. */
int64_t cleave__oracle_modifier(const char *name, unsigned n);
bool cleave__oracle_sort_is_number(enum oracle_sort sort);
/* Values are kept as INTEGER: the next one is one further. */
bool cleave__oracle_sort_is_integer(enum oracle_sort sort);

/* The integer at or below a NUMBER. Past int64: -1 or 1 tells on which side, `*out` is left alone.
 */
int cleave__oracle_floor(const struct cleave_value *number, int64_t *out);

#endif
