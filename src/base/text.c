#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void cleave__put_format(struct cleave_writer *to, const char *format, ...)
{
    char line[1001];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length > 0)
        cleave__put_bytes(to, line,
                          (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

void cleave__put_real(struct cleave_writer *to, double value)
{
    char text[40];
    if (isnan(value)) {
        cleave__put_bytes(to, "NaN", 3);
        return;
    }
    if (isinf(value)) {
        cleave__put_bytes(to, value > 0 ? "+Inf" : "-Inf", 4);
        return;
    }
    /* An embedding program may have set a locale whose point is a comma. */
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (digits == 17 || strtod(text, NULL) == value)
            break;
    }
    for (char *c = text; *c; c++) {
        if (*c == ',')
            *c = '.';
    }
    cleave__put_bytes(to, text, strlen(text));
}

uint32_t cleave__utf8_length(const char *text, size_t left)
{
    const unsigned char *b = (const unsigned char *)text;
    if (b[0] < 0x80)
        return 1;
    uint32_t length = b[0] >= 0xf0 ? 4 : b[0] >= 0xe0 ? 3 : 2;
    if (b[0] < 0xc2 || b[0] > 0xf4 || left < length)
        return 0;
    for (uint32_t i = 1; i < length; i++) {
        if ((b[i] & 0xc0) != 0x80)
            return 0;
    }
    if ((b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xed && b[1] > 0x9f) ||
        (b[0] == 0xf0 && b[1] < 0x90) || (b[0] == 0xf4 && b[1] > 0x8f))
        return 0;
    return length;
}
