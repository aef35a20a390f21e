/* Text into a writer: formatted, numbers that every reader takes, UTF-8 that is UTF-8. */
#ifndef CLEAVE_BASE_TEXT_H
#define CLEAVE_BASE_TEXT_H

#include "base/bytes.h"
#include "cleave/status.h"

/* At most 1000 bytes at a time; longer is cut. */
void cleave__put_format(struct cleave_writer *to, const char *format, ...) CLEAVE_PRINTF(2, 3);
/* The shortest decimal that reads back as `value`, with a point whatever the locale; NaN, +Inf and
 * -Inf by these names. */
void cleave__put_real(struct cleave_writer *to, double value);
/* Bytes of the code point at `text`, of which `left` are there: 1 to 4, or 0 if they are no UTF-8
 * (overlong, surrogates and what is past U+10FFFF are none). `left` > 0. */
uint32_t cleave__utf8_length(const char *text, size_t left);

#endif
