/* See number.h. */
#include "tables/sql/number.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void trim(const char **text, size_t *length)
{
    while (*length && is_blank(**text))
        (*text)++, (*length)--;
    while (*length && is_blank((*text)[*length - 1]))
        (*length)--;
}

bool cleave__integer_parse(const char *text, size_t length, int64_t *out)
{
    trim(&text, &length);
    bool negative = length && *text == '-';
    if (length && (*text == '-' || *text == '+'))
        text++, length--;
    if (length == 0)
        return false;
    int64_t value = 0; /* kept negative: that side holds one more */
    for (size_t i = 0; i < length; i++) {
        if (!is_digit(text[i]) || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, text[i] - '0', &value))
            return false;
    }
    if (!negative) {
        if (value == INT64_MIN)
            return false;
        value = -value;
    }
    *out = value;
    return true;
}

/* Is it what number_parse would write? */
static bool is_canonical(const char *text, size_t length)
{
    size_t i = length && *text == '-';
    bool negative = i;
    if (i == length || !is_digit(text[i]))
        return false;
    if (text[i] == '0' && i + 1 < length && text[i + 1] != '.')
        return false;
    if (text[i] == '0' && i + 1 == length)
        return !negative;
    while (i < length && is_digit(text[i]))
        i++;
    if (i == length)
        return true;
    if (text[i++] != '.' || i == length)
        return false;
    while (i < length && is_digit(text[i]))
        i++;
    return i == length && text[length - 1] != '0';
}

/* The pieces of a written number: value = 0.digits * 10^point, with the dot left out. */
struct written {
    bool negative;
    const char *digits; /* digits and at most one '.', zeros at the ends included */
    size_t length;
    int64_t exponent;
};

static bool split(const char *text, size_t length, struct written *out)
{
    out->negative = length && *text == '-';
    if (length && (*text == '-' || *text == '+'))
        text++, length--;
    size_t i = 0, digits = 0, dots = 0;
    for (; i < length && (is_digit(text[i]) || text[i] == '.'); i++) {
        if (text[i] == '.')
            dots++;
        else
            digits++;
    }
    if (digits == 0 || dots > 1)
        return false;
    out->digits = text;
    out->length = i;
    out->exponent = 0;
    if (i == length)
        return true;
    if (text[i] != 'e' && text[i] != 'E')
        return false;
    i++;
    bool down = i < length && text[i] == '-';
    if (i < length && (text[i] == '-' || text[i] == '+'))
        i++;
    if (i == length)
        return false;
    for (; i < length; i++) {
        if (!is_digit(text[i]))
            return false;
        if (out->exponent < 1000000)
            out->exponent = out->exponent * 10 + (text[i] - '0');
    }
    if (down)
        out->exponent = -out->exponent;
    return true;
}

enum cleave_status cleave__number_parse(const char *text, size_t length, struct cleave_arena *arena,
                                        struct cleave_value *out)
{
    trim(&text, &length);
    if (length <= CLEAVE_NUMBER_MAX && is_canonical(text, length)) {
        *out =
            (struct cleave_value){.kind = CLEAVE_NUMBER, .length = (uint32_t)length, .text = text};
        return CLEAVE_OK;
    }
    struct written w;
    if (!split(text, length, &w))
        return CLEAVE_BAD_INPUT;
    /* Significant digits [first, last] and how many digits stand before the point. */
    size_t first = 0;
    while (first < w.length && (w.digits[first] == '0' || w.digits[first] == '.'))
        first++;
    if (first == w.length) {
        *out = (struct cleave_value){.kind = CLEAVE_NUMBER, .length = 1, .text = "0"};
        return CLEAVE_OK;
    }
    size_t last = w.length - 1;
    while (w.digits[last] == '0' || w.digits[last] == '.')
        last--;
    const char *dot = memchr(w.digits, '.', w.length);
    size_t dot_at = dot ? (size_t)(dot - w.digits) : w.length;
    int64_t before =
        (int64_t)dot_at - (int64_t)first; /* < 0: zeros after the point, plus the dot */
    if (before < 0)
        before++;
    before += w.exponent;
    size_t count = last - first + 1 - (dot_at > first && dot_at < last);
    if (count > CLEAVE_NUMBER_MAX || before > CLEAVE_NUMBER_MAX || before < -CLEAVE_NUMBER_MAX)
        return CLEAVE_BAD_INPUT;
    char *written = cleave__arena_alloc(arena, 2 * CLEAVE_NUMBER_MAX + 8);
    if (!written)
        return CLEAVE_NO_MEMORY;
    char *p = written;
    if (w.negative)
        *p++ = '-';
    int64_t position = 0; /* digits written so far, counted from the first before the point */
    if (before <= 0) {
        *p++ = '0';
        *p++ = '.';
        for (int64_t i = before; i < 0; i++)
            *p++ = '0';
    }
    for (size_t i = first; i <= last; i++) {
        if (w.digits[i] == '.')
            continue;
        if (before > 0 && position == before)
            *p++ = '.';
        *p++ = w.digits[i];
        position++;
    }
    for (; position < before; position++)
        *p++ = '0';
    if (p - written > CLEAVE_NUMBER_MAX)
        return CLEAVE_BAD_INPUT;
    *out = (struct cleave_value){
        .kind = CLEAVE_NUMBER, .length = (uint32_t)(p - written), .text = written};
    return CLEAVE_OK;
}

static int compare_magnitude(const char *a, uint32_t a_length, const char *b, uint32_t b_length)
{
    const char *a_dot = memchr(a, '.', a_length), *b_dot = memchr(b, '.', b_length);
    size_t a_whole = a_dot ? (size_t)(a_dot - a) : a_length;
    size_t b_whole = b_dot ? (size_t)(b_dot - b) : b_length;
    if (a_whole != b_whole)
        return a_whole < b_whole ? -1 : 1;
    /* Same number of digits before the point: text order is number order. */
    size_t common = a_length < b_length ? a_length : b_length;
    int order = memcmp(a, b, common);
    if (order)
        return order < 0 ? -1 : 1;
    return (a_length > b_length) - (a_length < b_length);
}

int cleave__number_compare(const char *a, uint32_t a_length, const char *b, uint32_t b_length)
{
    bool a_negative = *a == '-', b_negative = *b == '-';
    if (a_negative != b_negative)
        return a_negative ? -1 : 1;
    if (a_negative)
        return compare_magnitude(b + 1, b_length - 1, a + 1, a_length - 1);
    return compare_magnitude(a, a_length, b, b_length);
}

bool cleave__number_to_integer(const char *text, uint32_t length, int64_t *out)
{
    return !memchr(text, '.', length) && cleave__integer_parse(text, length, out);
}

bool cleave__number_floor(const char *text, uint32_t length, int64_t *out)
{
    const char *dot = memchr(text, '.', length);
    size_t whole = dot ? (size_t)(dot - text) : length;
    int64_t value;
    bool negative = *text == '-';
    if (!cleave__integer_parse(text, whole, &value) ||
        (negative && dot && __builtin_sub_overflow(value, 1, &value))) {
        *out = negative ? INT64_MIN : INT64_MAX;
        return false;
    }
    *out = value;
    return true;
}

uint32_t cleave__number_digits(const char *text, uint32_t length)
{
    uint32_t digits = 0, zeros = 0;
    for (uint32_t i = 0; i < length; i++) {
        if (!is_digit(text[i]) || (text[i] == '0' && digits == 0))
            continue;
        if (text[i] == '0') {
            zeros++;
        } else {
            digits += zeros + 1;
            zeros = 0;
        }
    }
    return digits;
}
