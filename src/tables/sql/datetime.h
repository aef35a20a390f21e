/* Dates and times as microseconds since 1970-01-01 00:00:00 UTC, proleptic Gregorian calendar.
 * 'infinity' and '-infinity' are the ends of int64. */
#ifndef CLEAVE_TABLES_SQL_DATETIME_H
#define CLEAVE_TABLES_SQL_DATETIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLEAVE_DAY_US INT64_C(86400000000)

/* ISO 8601 as PostgreSQL writes and reads it: "2020-01-31", "20200131", "0044-03-15 BC", then (for
 * timestamps, or to be dropped for dates) " " or "T" and "10:11", "10:11:12.5", then "Z", "+02",
 * "-03:30", "+0530", "UTC". Anything that depends on the session ("01/02/2020", "EST", "today") is
 * refused. `*has_zone` may be NULL. */
bool cleave__date_parse(const char *text, size_t length, int64_t *out);
bool cleave__timestamp_parse(const char *text, size_t length, int64_t *out, bool *has_zone);
/* "10:11[:12[.5]]", without a zone. */
bool cleave__time_parse(const char *text, size_t length, int64_t *out);

/* Into `buffer` (at least 48 bytes), NUL-terminated. */
void cleave__date_print(int64_t microseconds, char *buffer);
void cleave__timestamp_print(int64_t microseconds, char *buffer);
void cleave__time_print(int64_t microseconds, char *buffer);

#endif
