/* A schema as text, one line a table in order of names: what the tests compare. */
#ifndef CLEAVE_TESTS_SOURCE_SCHEMA_DESCRIBE_H
#define CLEAVE_TESTS_SOURCE_SCHEMA_DESCRIBE_H

#include "tables/source/schema.h"

/* malloc'd. A table reads
 * "t (a integer!, b text=) key a unique b foreign a -> u x": ! is NOT NULL, = has a default. A view
 * reads "v view (...)"; with `views` its query follows. */
char *schema_describe(const struct cleave_schema *schema, bool views);

/* Every invariant of schema.h; prints the first broken one. */
bool schema_check(const struct cleave_schema *schema);

#endif
