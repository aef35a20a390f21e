/* What literals say: numbers, strings with their escapes. */
#include <string.h>

#include "tables/sql/number.h"
#include "tables/sql/scalar.h"

void *cleave__binding_alloc(struct cleave_binding *binding, size_t count, size_t size)
{
    void *result = cleave__arena_array(binding->arena, count, size);
    if (!result)
        binding->out_of_memory = true;
    return result;
}

bool cleave__any_number(struct cleave_binding *b, const char *text, size_t length,
                        struct cleave_value *out)
{
    int64_t integer;
    if (cleave__integer_parse(text, length, &integer)) {
        *out = cleave__integer_value(integer);
        return true;
    }
    enum cleave_status status = cleave__number_parse(text, length, b->arena, out);
    b->out_of_memory |= status == CLEAVE_NO_MEMORY;
    if (status)
        return false;
    if (cleave__number_to_integer(out->text, out->length, &integer))
        *out = cleave__integer_value(integer);
    return true;
}

struct cleave_scalar cleave__number_scalar(struct cleave_binding *b, const char *text,
                                           size_t length, bool negate)
{
    struct cleave_scalar scalar = {.kind = CLEAVE_SCALAR_NUMBER};
    if (!cleave__any_number(b, text, length, &scalar.value))
        return cleave_scalar_unknown;
    bool plain = memchr(text, '.', length) == NULL && memchr(text, 'e', length) == NULL &&
                 memchr(text, 'E', length) == NULL;
    scalar.sure = plain;
    if (!negate)
        return scalar;
    if (scalar.value.kind == CLEAVE_INTEGER) {
        scalar.value.integer = -scalar.value.integer; /* it was written without a sign: >= 0 */
        return scalar;
    }
    char *copy = cleave__binding_alloc(b, 1, (size_t)scalar.value.length + 1);
    if (!copy)
        return cleave_scalar_unknown;
    *copy = '-';
    memcpy(copy + 1, scalar.value.text, scalar.value.length);
    if (!cleave__any_number(b, copy, (size_t)scalar.value.length + 1, &scalar.value))
        return cleave_scalar_unknown;
    return scalar;
}

static bool hex_digits(const char *p, const char *end, int least, int most, uint32_t *out,
                       int *count)
{
    uint32_t value = 0;
    int n = 0;
    for (; n < most && p + n < end; n++) {
        char c = p[n];
        uint32_t digit;
        if (c >= '0' && c <= '9')
            digit = (uint32_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (uint32_t)(c - 'a' + 10);
        else if (c >= 'A' && c <= 'F')
            digit = (uint32_t)(c - 'A' + 10);
        else
            break;
        value = value * 16 + digit;
    }
    *out = value;
    *count = n;
    return n >= least;
}

static char *put_code_point(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* One backslash escape at `p` (past the backslash). NULL: refused. */
static const char *unescape_one(const char *p, const char *end, char **to)
{
    static const char from[] = "bfnrt", into[] = "\b\f\n\r\t";
    uint32_t code;
    int count;
    const char *simple = memchr(from, *p, sizeof from - 1);
    if (simple) {
        *(*to)++ = into[simple - from];
        return p + 1;
    }
    if (*p >= '0' && *p <= '7') {
        code = 0;
        for (count = 0; count < 3 && p < end && *p >= '0' && *p <= '7'; count++)
            code = code * 8 + (uint32_t)(*p++ - '0');
        if ((code & 0xff) == 0)
            return NULL;
        *(*to)++ = (char)code;
        return p;
    }
    if (*p == 'x') {
        if (!hex_digits(p + 1, end, 1, 2, &code, &count)) {
            *(*to)++ = 'x';
            return p + 1;
        }
        if (code == 0)
            return NULL;
        *(*to)++ = (char)code;
        return p + 1 + count;
    }
    if (*p == 'u' || *p == 'U') {
        int digits = *p == 'u' ? 4 : 8;
        if (!hex_digits(p + 1, end, digits, digits, &code, &count) || code == 0 ||
            code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            return NULL; /* surrogate pairs too: rare, and then the value is just not known */
        *to = put_code_point(*to, code);
        return p + 1 + count;
    }
    *(*to)++ = *p;
    return p + 1;
}

struct cleave_scalar cleave__string_scalar(struct cleave_binding *b,
                                           const struct cleave_token *token)
{
    struct cleave_scalar scalar = {.kind = CLEAVE_SCALAR_LITERAL};
    const char *p = token->body, *end = p + token->body_length;
    scalar.value = cleave__text_value(p, token->body_length);
    bool escapes = token->kind == CLEAVE_TOKEN_ESCAPE_STRING;
    if (token->kind == CLEAVE_TOKEN_DOLLAR_STRING ||
        (!memchr(p, '\'', token->body_length) && !(escapes && memchr(p, '\\', token->body_length))))
        return scalar;
    char *copy = cleave__binding_alloc(b, 1, token->body_length + 1);
    if (!copy)
        return cleave_scalar_unknown;
    char *to = copy;
    while (p < end) {
        if (*p == '\\' && escapes) {
            if (++p == end)
                return cleave_scalar_unknown;
            p = unescape_one(p, end, &to);
            if (!p)
                return cleave_scalar_unknown;
        } else {
            if (*p == '\'')
                p++; /* the first of a pair */
            if (p < end)
                *to++ = *p++;
        }
    }
    scalar.value = cleave__text_value(copy, (size_t)(to - copy));
    return scalar;
}
