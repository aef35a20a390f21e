/* JSON documents for people's scripts: real numbers with 15 digits (0.1 stays 0.1), integers exact
 * to 64 bits, always valid UTF-8. */
#include "report/json.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Length of the well-formed sequence at `s` (Unicode 15, table 3-7), 0 when it is none. */
static size_t sequence_length(const unsigned char *s, size_t left)
{
    unsigned char low = 0x80, high = 0xbf;
    size_t length;
    if (s[0] < 0x80)
        return s[0] != 0;
    if (s[0] >= 0xc2 && s[0] <= 0xdf)
        length = 2;
    else if (s[0] >= 0xe0 && s[0] <= 0xef)
        length = 3;
    else if (s[0] >= 0xf0 && s[0] <= 0xf4)
        length = 4;
    else
        return 0;
    if (s[0] == 0xe0)
        low = 0xa0; /* no overlong forms */
    if (s[0] == 0xed)
        high = 0x9f; /* no surrogates */
    if (s[0] == 0xf0)
        low = 0x90;
    if (s[0] == 0xf4)
        high = 0x8f; /* nothing past U+10FFFF */
    if (left < length || s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++) {
        if (s[i] < 0x80 || s[i] > 0xbf)
            return 0;
    }
    return length;
}

struct json_t *cleave__json_text(const char *text, size_t length)
{
    static const char replacement[] = "\xef\xbf\xbd";
    if (length > SIZE_MAX / 4)
        return NULL;
    char *clean = malloc(length * 3 + 1);
    if (!clean)
        return NULL;
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        size_t step = sequence_length((const unsigned char *)text + i, length - i);
        memcpy(clean + used, step ? text + i : replacement, step ? step : 3);
        used += step ? step : 3;
        i += step ? step : 1;
    }
    json_t *result = json_stringn_nocheck(clean, used);
    free(clean);
    return result;
}

struct json_t *cleave__json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

struct json_t *cleave__json_unsigned(uint64_t value)
{
    return value <= INT64_MAX ? json_integer((json_int_t)value) : json_sprintf("%" PRIu64, value);
}

enum cleave_status cleave__json_write(struct json_t *root, FILE *out, struct cleave_error *error)
{
    if (!root)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "out of memory for the JSON document");
    errno = 0;
    int failed = json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(root);
    if (failed || putc('\n', out) == EOF)
        return cleave_error_set(error, CLEAVE_IO, "cannot write the JSON document: %s",
                                errno ? strerror(errno) : "a write failed");
    return CLEAVE_OK;
}
