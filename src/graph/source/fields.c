/* Lines of fields; see the header. Memory is one line. */
#include "graph/source/fields.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/source/graph.h"

enum { LINE_BYTES_MAX = 1 << 20 };

enum cleave_status cleave__fields_open(struct cleave__fields *fields, const char *path,
                                       struct cleave_error *error)
{
    *fields = (struct cleave__fields){.path = strcmp(path, "-") ? path : "standard input"};
    return cleave__input_open(path, &fields->input, error);
}

void cleave__fields_close(struct cleave__fields *fields)
{
    cleave__input_close(fields->input);
    fields->input = NULL;
}

enum cleave_status cleave__fields_fail(const struct cleave__fields *fields,
                                       struct cleave_error *error, const char *format, ...)
{
    char text[300];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return cleave_error_set(error, CLEAVE_BAD_INPUT, "%.150s:%" PRIu64 ": %s", fields->path,
                            cleave__input_line_number(fields->input), text);
}

static bool is_gap(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == ';';
}

/* The next field of [*at, end); false when there is none, or a quote is not closed (`*open`). */
static bool take(const char **at, const char *end, const char **field, size_t *length, bool *open)
{
    const char *s = *at;
    while (s < end && is_gap(*s))
        s++;
    if (s == end) {
        *at = s;
        return false;
    }
    if (*s == '"') {
        const char *close = memchr(s + 1, '"', (size_t)(end - s - 1));
        *open = !close || (close + 1 < end && !is_gap(close[1]));
        if (*open)
            return false;
        *field = s + 1;
        *length = (size_t)(close - s - 1);
        *at = close + 1;
        return true;
    }
    *field = s;
    while (s < end && !is_gap(*s))
        s++;
    *length = (size_t)(s - *field);
    *at = s;
    return true;
}

enum cleave_status cleave__fields_next(struct cleave__fields *f, const char *what,
                                       struct cleave_error *error)
{
    for (;;) {
        const char *line;
        size_t length;
        enum cleave_status status =
            cleave__input_line(f->input, LINE_BYTES_MAX, &line, &length, error);
        if (status == CLEAVE_LIMIT)
            return cleave__fields_fail(f, error, "a line of more than %d bytes", LINE_BYTES_MAX);
        if (status)
            return status;
        if (cleave__input_line_number(f->input) == 1 && length >= 3 &&
            !memcmp(line, "\xef\xbb\xbf", 3)) {
            line += 3;
            length -= 3;
        }
        const char *at = line, *end = line + length;
        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
        if (at == end || *at == '#' || *at == '%')
            continue;
        bool open = false;
        if (!take(&at, end, &f->first, &f->first_length, &open) ||
            !take(&at, end, &f->second, &f->second_length, &open))
            return cleave__fields_fail(
                f, error,
                open ? "a quote is not closed before the next field; wanted: %s"
                     : "only one field; a line holds %s",
                what);
        if (f->first_length == 0 || f->first_length > CLEAVE__ID_BYTES_MAX ||
            f->second_length == 0 || f->second_length > CLEAVE__ID_BYTES_MAX)
            return cleave__fields_fail(f, error, "a field must have 1 to %d bytes",
                                       CLEAVE__ID_BYTES_MAX);
        const char *ignored;
        size_t ignored_length;
        f->further = take(&at, end, &ignored, &ignored_length, &open) || open;
        return CLEAVE_OK;
    }
}
