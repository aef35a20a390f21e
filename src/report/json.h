/* Small helpers over jansson: text that may not be UTF-8, and writing a document. */
#ifndef CLEAVE_REPORT_JSON_H
#define CLEAVE_REPORT_JSON_H

#include <stdint.h>
#include <stdio.h>

#include "cleave/status.h"

struct json_t;

/* A JSON string; bytes that are not UTF-8 become U+FFFD, as do NULs. NULL: out of memory. */
struct json_t *cleave__json_text(const char *text, size_t length);
/* A JSON number; null when it is not finite. NULL: out of memory. */
struct json_t *cleave__json_real(double value);
/* A JSON integer; past 2^63 - 1, where there are none here, its digits as text. NULL: out of
 * memory. */
struct json_t *cleave__json_unsigned(uint64_t value);

/* Prints an indented document and a newline, keys in the order of insertion. Takes over `root`;
 * NULL is reported as CLEAVE_NO_MEMORY, so that building steps need no check of their own. */
enum cleave_status cleave__json_write(struct json_t *root, FILE *out, struct cleave_error *error);

#endif
