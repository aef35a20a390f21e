/* How a column's values compare, finer than enum cleave_type: what a predicate may conclude from a
 * constant depends on it (rounding of floats, zones of timestamps, types whose equality is not that
 * of their texts). */
#ifndef CLEAVE_TABLES_SQL_FAMILY_H
#define CLEAVE_TABLES_SQL_FAMILY_H

#include "tables/sql/value.h"

enum cleave_family {
    CLEAVE_FAMILY_ANY, /* an output without a type of its own: VALUES, SELECT 5 AS x */
    CLEAVE_FAMILY_INTEGER,
    CLEAVE_FAMILY_NUMERIC,
    CLEAVE_FAMILY_FLOAT8,
    CLEAVE_FAMILY_FLOAT4,
    CLEAVE_FAMILY_BOOLEAN,
    CLEAVE_FAMILY_DATE,
    CLEAVE_FAMILY_TIMESTAMP,
    CLEAVE_FAMILY_TIMESTAMPTZ,
    CLEAVE_FAMILY_TIME,
    CLEAVE_FAMILY_UUID,
    CLEAVE_FAMILY_CHAR,
    CLEAVE_FAMILY_STRING,
    CLEAVE_FAMILY_OTHER,  /* enums, domains: equal texts are equal values; no order is known */
    CLEAVE_FAMILY_OPAQUE, /* citext, jsonb, interval, arrays, ...: not even that */
};

struct cleave_domain_type {
    enum cleave_family family;
    const char *name; /* as declared; may be NULL. Tells types of family OTHER apart */
    int32_t modifier; /* varchar(n), char(n): n; numeric(p, s): s; timestamp(p): p; -1: none */
};

/* `name` may be NULL: then the type alone decides. `name` is borrowed. */
struct cleave_domain_type cleave__domain_type(enum cleave_type type, const char *name);
enum cleave_type cleave__family_type(enum cleave_family family);

#endif
