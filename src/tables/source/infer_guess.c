/* What type a column may have, from the constants it meets. */
#include <string.h>

#include "tables/source/infer.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t skip_digits(const char *text, size_t length, size_t at)
{
    while (at < length && is_digit(text[at]))
        at++;
    return at;
}

/* A number as people write it; *whole: without fraction and exponent. Leading zeros make it text:
 * "007" is a code. */
static bool is_number(const char *text, size_t length, bool *whole)
{
    size_t at = length && (text[0] == '-' || text[0] == '+');
    size_t start = at, end = skip_digits(text, length, at);
    if (end - start > 1 && text[start] == '0')
        return false;
    bool digits = end > start;
    *whole = end == length && end - start <= 18;
    if (end < length && text[end] == '.') {
        size_t fraction = end + 1;
        end = skip_digits(text, length, fraction);
        digits |= end > fraction;
    }
    if (digits && end < length && (text[end] == 'e' || text[end] == 'E')) {
        size_t exponent = end + 1;
        if (exponent < length && (text[exponent] == '-' || text[exponent] == '+'))
            exponent++;
        end = skip_digits(text, length, exponent);
        digits = end > exponent;
    }
    return digits && end == length;
}

static bool is_date(const char *text, size_t length)
{
    static const char shape[] = "dddd-dd-dd";
    for (size_t i = 0; i < sizeof shape - 1; i++) {
        if (i >= length || (shape[i] == 'd' ? !is_digit(text[i]) : text[i] != '-'))
            return false;
    }
    return true;
}

static bool is_uuid(const char *text, size_t length)
{
    if (length != 36)
        return false;
    for (size_t i = 0; i < length; i++) {
        bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
        char c = text[i];
        bool hex = is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        if (hyphen ? c != '-' : !hex)
            return false;
    }
    return true;
}

enum cleave_guess cleave__guess_string(const char *text, size_t length)
{
    bool whole;
    if (is_number(text, length, &whole))
        return whole ? CLEAVE_GUESS_DIGITS : CLEAVE_GUESS_NUMBER;
    if (is_date(text, length)) {
        if (length == 10)
            return CLEAVE_GUESS_DATE;
        return text[10] == ' ' || text[10] == 'T' ? CLEAVE_GUESS_TIMESTAMP : CLEAVE_GUESS_TEXT;
    }
    return is_uuid(text, length) ? CLEAVE_GUESS_UUID : CLEAVE_GUESS_TEXT;
}

enum cleave_guess cleave__guess_number(const char *text, size_t length)
{
    bool whole;
    return is_number(text, length, &whole) && whole ? CLEAVE_GUESS_INTEGER : CLEAVE_GUESS_NUMBER;
}

enum cleave_guess cleave__guess_type_name(const char *name)
{
    switch (cleave__type_of_name(name)) {
    case CLEAVE_TYPE_INTEGER:
        return CLEAVE_GUESS_INTEGER;
    case CLEAVE_TYPE_NUMBER:
        return CLEAVE_GUESS_NUMBER;
    case CLEAVE_TYPE_BOOLEAN:
        return CLEAVE_GUESS_BOOLEAN;
    case CLEAVE_TYPE_DATE:
        return CLEAVE_GUESS_DATE;
    case CLEAVE_TYPE_TIMESTAMP:
        return CLEAVE_GUESS_TIMESTAMP;
    case CLEAVE_TYPE_UUID:
        return CLEAVE_GUESS_UUID;
    default:
        return CLEAVE_GUESS_TEXT;
    }
}

enum cleave_guess cleave__guess_merge(enum cleave_guess a, enum cleave_guess b)
{
    if (a > b) {
        enum cleave_guess swap = a;
        a = b;
        b = swap;
    }
    if (a == b || a == CLEAVE_GUESS_NONE)
        return b;
    bool numbers = a >= CLEAVE_GUESS_DIGITS && b <= CLEAVE_GUESS_NUMBER;
    bool times = a == CLEAVE_GUESS_DATE && b == CLEAVE_GUESS_TIMESTAMP;
    return numbers || times ? b : CLEAVE_GUESS_TEXT;
}

enum cleave_type cleave__guess_type(enum cleave_guess guess, const char **type_name)
{
    static const struct {
        enum cleave_type type;
        const char *name;
    } types[] = {
        [CLEAVE_GUESS_NONE] = {CLEAVE_TYPE_TEXT, "text"},
        [CLEAVE_GUESS_DIGITS] = {CLEAVE_TYPE_INTEGER, "bigint"},
        [CLEAVE_GUESS_INTEGER] = {CLEAVE_TYPE_INTEGER, "bigint"},
        [CLEAVE_GUESS_NUMBER] = {CLEAVE_TYPE_NUMBER, "numeric"},
        [CLEAVE_GUESS_BOOLEAN] = {CLEAVE_TYPE_BOOLEAN, "boolean"},
        [CLEAVE_GUESS_DATE] = {CLEAVE_TYPE_DATE, "date"},
        [CLEAVE_GUESS_TIMESTAMP] = {CLEAVE_TYPE_TIMESTAMP, "timestamp without time zone"},
        [CLEAVE_GUESS_UUID] = {CLEAVE_TYPE_UUID, "uuid"},
        [CLEAVE_GUESS_TEXT] = {CLEAVE_TYPE_TEXT, "text"},
    };
    *type_name = types[guess].name;
    return types[guess].type;
}
