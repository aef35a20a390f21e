/* Text to numbers, times, distances. The text is not NUL-terminated; false: it is none such. */
#ifndef CLEAVE_STREAM_VALUES_H
#define CLEAVE_STREAM_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A finite decimal number, nothing else about it: no "nan", no "0x1". */
bool cleave__text_real(const char *text, size_t length, double *out);
/* Milliseconds since 1970, not before. ISO 8601, "2018-02-07T01:26:13.840Z", with " " for T,
 * without seconds, or a date alone; "+02:00" or none, which is UTC. Or a number: seconds below
 * 10^11, milliseconds below 10^14, microseconds below 10^17, else nanoseconds; `unit_ms` if not 0
 * says what a number counts. */
bool cleave__text_time(const char *text, size_t length, uint64_t unit_ms, uint64_t *out_ms);
/* "500", "500 m", "2.5km", "1mi": metres. `plane`: a number without unit. */
bool cleave__text_distance(const char *text, size_t length, bool plane, double *out);
bool cleave__text_is(const char *text, size_t length, const char *word); /* whatever the case */

#endif
