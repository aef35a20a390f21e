/* Lines of whole numbers; see the header. */
#include "model/numbers.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_MAX_BYTES = 1 << 28 };

enum cleave_status cleave__numbers_open(struct cleave__numbers *numbers, const char *path,
                                        struct cleave_error *error)
{
    *numbers = (struct cleave__numbers){.path = strcmp(path, "-") ? path : "standard input"};
    return cleave__input_open(path, &numbers->input, error);
}

void cleave__numbers_close(struct cleave__numbers *numbers)
{
    cleave__input_close(numbers->input);
    numbers->input = NULL;
}

enum cleave_status cleave__numbers_fail(const struct cleave__numbers *numbers,
                                        struct cleave_error *error, const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    uint64_t line = cleave__input_line_number(numbers->input); /* 0: the file is empty */
    return cleave_error_set(error, CLEAVE_BAD_INPUT, "%.180s:%llu: %s", numbers->path,
                            (unsigned long long)(line ? line : 1), text);
}

enum cleave_status cleave__numbers_line(struct cleave__numbers *numbers, struct cleave_error *error)
{
    for (;;) {
        const char *line;
        size_t length;
        enum cleave_status status =
            cleave__input_line(numbers->input, LINE_MAX_BYTES, &line, &length, error);
        if (status == CLEAVE_LIMIT)
            return cleave__numbers_fail(numbers, error, "line is longer than 256 MiB");
        if (status)
            return status;
        if (numbers->bytes == 0 && length >= 3 && !memcmp(line, "\xef\xbb\xbf", 3)) {
            numbers->bytes += 3; /* a byte order mark */
            line += 3;
            length -= 3;
        }
        numbers->bytes += length + 1;
        if (length && line[0] == '%')
            continue;
        numbers->at = line;
        numbers->end = line + length;
        return CLEAVE_OK;
    }
}

bool cleave__numbers_done(struct cleave__numbers *numbers)
{
    while (numbers->at < numbers->end &&
           (*numbers->at == ' ' || *numbers->at == '\t' || *numbers->at == '\r'))
        numbers->at++;
    return numbers->at == numbers->end;
}

/* Shows the offending word, cut short; control characters are left to cleave_error_set. */
static enum cleave_status fail_word(const struct cleave__numbers *numbers, const char *word,
                                    const char *what, const char *why, struct cleave_error *error)
{
    char shown[33] = {0};
    for (int i = 0; i < 32 && word + i < numbers->end && word[i] != ' ' && word[i] != '\t'; i++)
        shown[i] = (unsigned char)word[i] < 0x80 && word[i] ? word[i] : '?';
    return cleave__numbers_fail(numbers, error, "%s is '%s': %s", what, shown, why);
}

enum cleave_status cleave__numbers_next(struct cleave__numbers *numbers, const char *what,
                                        int64_t low, int64_t high, int64_t *out,
                                        struct cleave_error *error)
{
    if (cleave__numbers_done(numbers))
        return cleave__numbers_fail(numbers, error, "%s is missing", what);
    const char *word = numbers->at, *c = word;
    bool negative = *c == '-';
    if (negative || *c == '+')
        c++;
    uint64_t value = 0;
    const char *digits = c;
    bool overflow = false;
    for (; c < numbers->end && *c >= '0' && *c <= '9'; c++) {
        overflow |= value > (UINT64_MAX - 9) / 10;
        value = value * 10 + (uint64_t)(*c - '0');
    }
    if (c == digits || (c < numbers->end && *c != ' ' && *c != '\t' && *c != '\r'))
        return fail_word(numbers, word, what, "not a whole number", error);
    overflow |= value > INT64_MAX;
    int64_t number = overflow ? 0 : negative ? -(int64_t)value : (int64_t)value;
    if (overflow || number < low || number > high) {
        char why[80];
        snprintf(why, sizeof why, "must be from %lld to %lld", (long long)low, (long long)high);
        return fail_word(numbers, word, what, why, error);
    }
    numbers->at = c;
    *out = number;
    return CLEAVE_OK;
}

enum cleave_status cleave__numbers_finish(struct cleave__numbers *numbers, const char *announced,
                                          struct cleave_error *error)
{
    for (;;) {
        enum cleave_status status = cleave__numbers_line(numbers, error);
        if (status == CLEAVE_END)
            return CLEAVE_OK;
        if (status)
            return status;
        if (!cleave__numbers_done(numbers))
            return cleave__numbers_fail(numbers, error, "more lines than %s", announced);
    }
}
