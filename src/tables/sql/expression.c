/* Evaluation of constant expressions. See expression.h.
 *
 * Arithmetic is exact or refused: int64 with overflow checked, decimals through 128 bits. */
#include "tables/sql/expression.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tables/sql/datetime.h"
#include "tables/sql/number.h"

static const struct cleave_scalar unknown = {.kind = CLEAVE_SCALAR_UNKNOWN};

static struct cleave_value text_value(const char *text, size_t length)
{
    return (struct cleave_value){.kind = CLEAVE_TEXT, .length = (uint32_t)length, .text = text};
}

static struct cleave_value integer_value(int64_t integer)
{
    return (struct cleave_value){.kind = CLEAVE_INTEGER, .integer = integer};
}

static void *allocate(struct cleave_binding *b, size_t count, size_t size)
{
    void *result = cleave__arena_array(b->arena, count, size);
    if (!result)
        b->out_of_memory = true;
    return result;
}

/* Any number, as INTEGER when it is a whole one that fits. */
static bool parse_number(struct cleave_binding *b, const char *text, size_t length,
                         struct cleave_value *out)
{
    int64_t integer;
    if (cleave__integer_parse(text, length, &integer)) {
        *out = integer_value(integer);
        return true;
    }
    enum cleave_status status = cleave__number_parse(text, length, b->arena, out);
    b->out_of_memory |= status == CLEAVE_NO_MEMORY;
    if (status)
        return false;
    if (cleave__number_to_integer(out->text, out->length, &integer))
        *out = integer_value(integer);
    return true;
}

static struct cleave_scalar number_scalar(struct cleave_binding *b, const char *text, size_t length,
                                          bool negate)
{
    struct cleave_scalar scalar = {.kind = CLEAVE_SCALAR_NUMBER};
    if (!parse_number(b, text, length, &scalar.value))
        return unknown;
    bool plain = memchr(text, '.', length) == NULL && memchr(text, 'e', length) == NULL &&
                 memchr(text, 'E', length) == NULL;
    scalar.sure = plain;
    if (!negate)
        return scalar;
    if (scalar.value.kind == CLEAVE_INTEGER) {
        scalar.value.integer = -scalar.value.integer; /* it was written without a sign: >= 0 */
        return scalar;
    }
    char *copy = allocate(b, 1, (size_t)scalar.value.length + 1);
    if (!copy)
        return unknown;
    *copy = '-';
    memcpy(copy + 1, scalar.value.text, scalar.value.length);
    if (!parse_number(b, copy, (size_t)scalar.value.length + 1, &scalar.value))
        return unknown;
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

static struct cleave_scalar string_scalar(struct cleave_binding *b,
                                          const struct cleave_token *token)
{
    struct cleave_scalar scalar = {.kind = CLEAVE_SCALAR_LITERAL};
    const char *p = token->body, *end = p + token->body_length;
    scalar.value = text_value(p, token->body_length);
    bool escapes = token->kind == CLEAVE_TOKEN_ESCAPE_STRING;
    if (token->kind == CLEAVE_TOKEN_DOLLAR_STRING ||
        (!memchr(p, '\'', token->body_length) && !(escapes && memchr(p, '\\', token->body_length))))
        return scalar;
    char *copy = allocate(b, 1, token->body_length + 1);
    if (!copy)
        return unknown;
    char *to = copy;
    while (p < end) {
        if (*p == '\\' && escapes) {
            if (++p == end)
                return unknown;
            p = unescape_one(p, end, &to);
            if (!p)
                return unknown;
        } else {
            if (*p == '\'')
                p++; /* the first of a pair */
            if (p < end)
                *to++ = *p++;
        }
    }
    scalar.value = text_value(copy, (size_t)(to - copy));
    return scalar;
}

static struct cleave_scalar parameter_scalar(struct cleave_binding *b, uint32_t index)
{
    if (index == 0 || index > b->parameter_count)
        return unknown;
    const struct cleave_parameter *parameter = &b->parameters[index - 1];
    if (parameter->is_cut || parameter->length > UINT32_MAX)
        return unknown;
    if (parameter->is_null)
        return (struct cleave_scalar){.kind = CLEAVE_SCALAR_NULL};
    return (struct cleave_scalar){.kind = CLEAVE_SCALAR_LITERAL,
                                  .parameter = true,
                                  .value = text_value(parameter->text, parameter->length)};
}

/* ---- arithmetic ---- */

struct decimal {
    __int128 digits;
    int scale; /* value = digits / 10^scale */
};

static bool to_decimal(const struct cleave_value *value, struct decimal *out)
{
    if (value->kind == CLEAVE_INTEGER) {
        *out = (struct decimal){value->integer, 0};
        return true;
    }
    *out = (struct decimal){0, 0};
    int digits = 0;
    bool point = false;
    for (uint32_t i = 0; i < value->length; i++) {
        char c = value->text[i];
        if (c == '-')
            continue;
        if (c == '.') {
            point = true;
            continue;
        }
        if (++digits > 18)
            return false;
        out->digits = out->digits * 10 + (c - '0');
        out->scale += point;
    }
    if (value->text[0] == '-')
        out->digits = -out->digits;
    return true;
}

static bool from_decimal(struct cleave_binding *b, struct decimal d, struct cleave_value *out)
{
    char reversed[64];
    int n = 0;
    bool negative = d.digits < 0;
    unsigned __int128 rest = negative ? -(unsigned __int128)d.digits : (unsigned __int128)d.digits;
    while (rest > 0 || n <= d.scale) {
        if (n > 50)
            return false;
        reversed[n++] = (char)('0' + (int)(rest % 10));
        rest /= 10;
    }
    char *text = allocate(b, 1, (size_t)n + 2);
    if (!text)
        return false;
    char *p = text;
    if (negative)
        *p++ = '-';
    while (n > 0) {
        if (n == d.scale)
            *p++ = '.';
        *p++ = reversed[--n];
    }
    return parse_number(b, text, (size_t)(p - text), out);
}

static bool add_decimals(struct decimal x, struct decimal y, bool subtract, struct decimal *out)
{
    /* 18 digits scaled by at most 10^18: far from 2^127. */
    while (x.scale < y.scale)
        x.digits *= 10, x.scale++;
    while (y.scale < x.scale)
        y.digits *= 10, y.scale++;
    out->digits = subtract ? x.digits - y.digits : x.digits + y.digits;
    out->scale = x.scale;
    return true;
}

static bool calculate_decimals(struct cleave_binding *b, enum cleave_expression_kind kind,
                               const struct cleave_value *x, const struct cleave_value *y,
                               struct cleave_value *out)
{
    struct decimal p, q, result;
    if (!to_decimal(x, &p) || !to_decimal(y, &q))
        return false;
    if (kind == CLEAVE_EXPRESSION_MULTIPLY) {
        result = (struct decimal){0, p.scale + q.scale};
        if (__builtin_mul_overflow(p.digits, q.digits, &result.digits))
            return false;
    } else if (!add_decimals(p, q, kind == CLEAVE_EXPRESSION_SUBTRACT, &result)) {
        return false;
    }
    return from_decimal(b, result, out);
}

static bool calculate_integers(enum cleave_expression_kind kind, int64_t x, int64_t y, bool sure,
                               int64_t *out)
{
    switch (kind) {
    case CLEAVE_EXPRESSION_ADD:
        return !__builtin_add_overflow(x, y, out);
    case CLEAVE_EXPRESSION_SUBTRACT:
        return !__builtin_sub_overflow(x, y, out);
    case CLEAVE_EXPRESSION_MULTIPLY:
        return !__builtin_mul_overflow(x, y, out);
    case CLEAVE_EXPRESSION_DIVIDE: /* 7 / 2 is 3 for integer types only */
        if (!sure || y == 0 || (x == INT64_MIN && y == -1))
            return false;
        *out = x / y;
        return true;
    case CLEAVE_EXPRESSION_MODULO:
        if (!sure || y == 0)
            return false;
        *out = y == -1 ? 0 : x % y;
        return true;
    default:
        return false;
    }
}

/* The operand as a number; text that reads as one counts, a typed value must be numeric. */
static bool operand(struct cleave_binding *b, struct cleave_scalar *scalar)
{
    switch (scalar->kind) {
    case CLEAVE_SCALAR_NUMBER:
        return true;
    case CLEAVE_SCALAR_LITERAL:
        if (!parse_number(b, scalar->value.text, scalar->value.length, &scalar->value))
            return false;
        /* A parameter with a fraction may be a double, whose sums are rounded. */
        if (scalar->parameter && scalar->value.kind != CLEAVE_INTEGER)
            return false;
        scalar->kind = CLEAVE_SCALAR_NUMBER;
        scalar->sure = false;
        return true;
    case CLEAVE_SCALAR_TYPED:
        if (scalar->family != CLEAVE_FAMILY_INTEGER && scalar->family != CLEAVE_FAMILY_NUMERIC)
            return false;
        scalar->kind = CLEAVE_SCALAR_NUMBER;
        scalar->sure = scalar->family == CLEAVE_FAMILY_INTEGER;
        return true;
    default:
        return false;
    }
}

static bool add_days(const struct cleave_scalar *day, const struct cleave_scalar *days, bool back,
                     struct cleave_scalar *out)
{
    int64_t step;
    if (day->kind != CLEAVE_SCALAR_TYPED || day->family != CLEAVE_FAMILY_DATE ||
        days->kind != CLEAVE_SCALAR_NUMBER || days->value.kind != CLEAVE_INTEGER || !days->sure ||
        day->value.integer == INT64_MAX || day->value.integer == INT64_MIN)
        return false;
    *out = *day;
    return !__builtin_mul_overflow(days->value.integer, CLEAVE_DAY_US, &step) &&
           !(back ? __builtin_sub_overflow(day->value.integer, step, &out->value.integer)
                  : __builtin_add_overflow(day->value.integer, step, &out->value.integer));
}

static struct cleave_scalar calculate(struct cleave_binding *b,
                                      const struct cleave_expression *expression)
{
    struct cleave_scalar x = cleave__scalar(b, expression->items[0]);
    struct cleave_scalar y = cleave__scalar(b, expression->items[1]);
    if (x.kind == CLEAVE_SCALAR_NULL || y.kind == CLEAVE_SCALAR_NULL)
        return (struct cleave_scalar){.kind = CLEAVE_SCALAR_NULL};
    enum cleave_expression_kind kind = expression->kind;
    struct cleave_scalar result = {.kind = CLEAVE_SCALAR_NUMBER};
    if (kind == CLEAVE_EXPRESSION_ADD &&
        (add_days(&x, &y, false, &result) || add_days(&y, &x, false, &result)))
        return result;
    if (kind == CLEAVE_EXPRESSION_SUBTRACT && add_days(&x, &y, true, &result))
        return result;
    result = (struct cleave_scalar){.kind = CLEAVE_SCALAR_NUMBER};
    if (!operand(b, &x) || !operand(b, &y))
        return unknown;
    result.sure = x.sure && y.sure;
    if (x.value.kind == CLEAVE_INTEGER && y.value.kind == CLEAVE_INTEGER) {
        int64_t integer;
        if (!calculate_integers(kind, x.value.integer, y.value.integer, result.sure, &integer))
            return unknown;
        result.value = integer_value(integer);
        return result;
    }
    if (kind == CLEAVE_EXPRESSION_DIVIDE || kind == CLEAVE_EXPRESSION_MODULO ||
        !calculate_decimals(b, kind, &x.value, &y.value, &result.value))
        return unknown;
    return result;
}

static struct cleave_scalar negate(struct cleave_binding *b,
                                   const struct cleave_expression *expression)
{
    struct cleave_scalar x = cleave__scalar(b, expression->items[0]);
    if (x.kind == CLEAVE_SCALAR_NULL)
        return x;
    if (!operand(b, &x))
        return unknown;
    const struct cleave_value zero = integer_value(0);
    struct cleave_scalar result = x;
    if (x.value.kind == CLEAVE_INTEGER) {
        if (__builtin_sub_overflow((int64_t)0, x.value.integer, &result.value.integer))
            return unknown;
    } else if (!calculate_decimals(b, CLEAVE_EXPRESSION_SUBTRACT, &zero, &x.value, &result.value)) {
        return unknown;
    }
    return result;
}

/* Text of an operand of ||. */
static bool as_text(const struct cleave_scalar *scalar, char buffer[24], const char **text,
                    uint32_t *length)
{
    bool is_text = scalar->kind == CLEAVE_SCALAR_LITERAL ||
                   (scalar->kind == CLEAVE_SCALAR_TYPED && scalar->family == CLEAVE_FAMILY_STRING);
    if (is_text) {
        *text = scalar->value.text;
        *length = scalar->value.length;
        return true;
    }
    bool integer =
        scalar->value.kind == CLEAVE_INTEGER &&
        ((scalar->kind == CLEAVE_SCALAR_NUMBER && scalar->sure) ||
         (scalar->kind == CLEAVE_SCALAR_TYPED && scalar->family == CLEAVE_FAMILY_INTEGER));
    if (!integer)
        return false;
    *length = (uint32_t)snprintf(buffer, 24, "%" PRId64, scalar->value.integer);
    *text = buffer;
    return true;
}

static struct cleave_scalar concatenate(struct cleave_binding *b,
                                        const struct cleave_expression *expression)
{
    struct cleave_scalar x = cleave__scalar(b, expression->items[0]);
    struct cleave_scalar y = cleave__scalar(b, expression->items[1]);
    if (x.kind == CLEAVE_SCALAR_NULL || y.kind == CLEAVE_SCALAR_NULL)
        return unknown; /* arrays ignore it, text does not */
    char x_buffer[24], y_buffer[24];
    const char *x_text, *y_text;
    uint32_t x_length, y_length;
    if (!as_text(&x, x_buffer, &x_text, &x_length) || !as_text(&y, y_buffer, &y_text, &y_length) ||
        (uint64_t)x_length + y_length > 1 << 24)
        return unknown;
    char *text = allocate(b, 1, (size_t)x_length + y_length + 1);
    if (!text)
        return unknown;
    memcpy(text, x_text, x_length);
    memcpy(text + x_length, y_text, y_length);
    return (struct cleave_scalar){.kind = CLEAVE_SCALAR_LITERAL,
                                  .value = text_value(text, (size_t)x_length + y_length)};
}

/* ---- conversion ---- */

static bool number_to_text(struct cleave_binding *b, const struct cleave_value *value,
                           struct cleave_value *out)
{
    if (value->kind != CLEAVE_INTEGER) {
        *out = *value;
        return true;
    }
    char *text = allocate(b, 1, 24);
    if (!text)
        return false;
    int length = snprintf(text, 24, "%" PRId64, value->integer);
    *out = (struct cleave_value){.kind = CLEAVE_NUMBER, .length = (uint32_t)length, .text = text};
    return true;
}

static uint32_t significant_digits(const struct cleave_value *value)
{
    if (value->kind == CLEAVE_NUMBER)
        return cleave__number_digits(value->text, value->length);
    char text[24];
    int length = snprintf(text, sizeof text, "%" PRId64, value->integer);
    return cleave__number_digits(text, (uint32_t)length);
}

/* A number in the form of a numeric family. INTEGER keeps a fraction (kind NUMBER): comparisons
 * round it as their operator asks. Floats tell numbers apart up to 15 (6) digits only. */
static bool convert_number(struct cleave_binding *b, const struct cleave_value *number,
                           enum cleave_family family, struct cleave_value *out)
{
    switch (family) {
    case CLEAVE_FAMILY_INTEGER:
    case CLEAVE_FAMILY_ANY:
        *out = *number;
        return true;
    case CLEAVE_FAMILY_FLOAT8:
        return significant_digits(number) <= 15 && number_to_text(b, number, out);
    case CLEAVE_FAMILY_FLOAT4:
        return significant_digits(number) <= 6 && number_to_text(b, number, out);
    case CLEAVE_FAMILY_NUMERIC:
        return number_to_text(b, number, out);
    default:
        return false;
    }
}

static bool is_numeric(enum cleave_family family)
{
    return family == CLEAVE_FAMILY_INTEGER || family == CLEAVE_FAMILY_NUMERIC ||
           family == CLEAVE_FAMILY_FLOAT8 || family == CLEAVE_FAMILY_FLOAT4;
}

static bool has_trailing_blank(const struct cleave_value *text)
{
    return text->length > 0 && text->text[text->length - 1] == ' ';
}

static bool convert_text(struct cleave_binding *b, const struct cleave_scalar *scalar,
                         enum cleave_family family, struct cleave_value *out)
{
    const char *text = scalar->value.text;
    uint32_t length = scalar->value.length;
    struct cleave_value number;
    int64_t moment;
    bool has_zone;
    switch (family) {
    case CLEAVE_FAMILY_ANY:
    case CLEAVE_FAMILY_OPAQUE:
        return false;
    case CLEAVE_FAMILY_INTEGER:
        /* A quoted literal must be an integer; a parameter may be a numeric. */
        return parse_number(b, text, length, &number) &&
               (number.kind == CLEAVE_INTEGER || scalar->parameter) &&
               convert_number(b, &number, family, out);
    case CLEAVE_FAMILY_NUMERIC:
    case CLEAVE_FAMILY_FLOAT8:
    case CLEAVE_FAMILY_FLOAT4:
        return parse_number(b, text, length, &number) && convert_number(b, &number, family, out);
    case CLEAVE_FAMILY_CHAR:
        /* A parameter may be of type text: compared as such, its blanks count. */
        if (scalar->parameter && has_trailing_blank(&scalar->value))
            return false;
        return cleave__value_parse(CLEAVE_TYPE_CHAR, text, length, b->arena, out) == CLEAVE_OK;
    case CLEAVE_FAMILY_DATE:
        if (!cleave__date_parse(text, length, &moment))
            return false;
        *out = integer_value(moment);
        /* A parameter with a time of day was a timestamp: compared as one, not cut to its day. */
        if (scalar->parameter && (!cleave__timestamp_parse(text, length, &moment, &has_zone) ||
                                  has_zone || moment != out->integer))
            return false;
        return true;
    case CLEAVE_FAMILY_TIMESTAMP:
    case CLEAVE_FAMILY_TIMESTAMPTZ:
        /* A zone is ignored or converted by rules of the session when the column has none. */
        if (!cleave__timestamp_parse(text, length, &moment, &has_zone) ||
            (has_zone && family == CLEAVE_FAMILY_TIMESTAMP))
            return false;
        *out = integer_value(moment);
        return true;
    default: {
        enum cleave_status status =
            cleave__value_parse(cleave__family_type(family), text, length, b->arena, out);
        b->out_of_memory |= status == CLEAVE_NO_MEMORY;
        return status == CLEAVE_OK;
    }
    }
}

static bool convert_typed(struct cleave_binding *b, const struct cleave_scalar *scalar,
                          const struct cleave_domain_type *type, struct cleave_value *out)
{
    enum cleave_family from = scalar->family, to = type->family;
    if (from == CLEAVE_FAMILY_OTHER || to == CLEAVE_FAMILY_OTHER) {
        if (from != to || !scalar->type_name || !type->name)
            return false;
        *out = scalar->value;
        return true;
    }
    if (to == CLEAVE_FAMILY_OPAQUE)
        return false;
    if (is_numeric(from) && is_numeric(to)) {
        /* A float against exact numbers compares as floats: many numbers are equal to it. */
        bool inexact = from == CLEAVE_FAMILY_FLOAT4 || from == CLEAVE_FAMILY_FLOAT8;
        if (inexact && from != to &&
            (to != CLEAVE_FAMILY_INTEGER || significant_digits(&scalar->value) > 6))
            return false;
        struct cleave_value number = scalar->value;
        int64_t integer;
        if (number.kind == CLEAVE_NUMBER &&
            cleave__number_to_integer(number.text, number.length, &integer))
            number = integer_value(integer);
        return convert_number(b, &number, to, out);
    }
    if (from == to || to == CLEAVE_FAMILY_ANY ||
        (from == CLEAVE_FAMILY_DATE && to == CLEAVE_FAMILY_TIMESTAMP) ||
        (from == CLEAVE_FAMILY_TIMESTAMP && to == CLEAVE_FAMILY_DATE)) {
        *out = scalar->value;
        return true;
    }
    bool texts = (from == CLEAVE_FAMILY_STRING || from == CLEAVE_FAMILY_CHAR) &&
                 (to == CLEAVE_FAMILY_STRING || to == CLEAVE_FAMILY_CHAR);
    return texts && !has_trailing_blank(&scalar->value) && convert_text(b, scalar, to, out);
}

bool cleave__scalar_convert(struct cleave_binding *binding, const struct cleave_scalar *scalar,
                            const struct cleave_domain_type *type, struct cleave_value *out)
{
    switch (scalar->kind) {
    case CLEAVE_SCALAR_NULL:
        *out = (struct cleave_value){.kind = CLEAVE_NULL};
        return true;
    case CLEAVE_SCALAR_NUMBER:
        if (type->family == CLEAVE_FAMILY_OTHER && scalar->value.kind == CLEAVE_INTEGER) {
            /* a domain over a number, in all likelihood */
            struct cleave_value text;
            if (!number_to_text(binding, &scalar->value, &text))
                return false;
            *out = text_value(text.text, text.length);
            return true;
        }
        return convert_number(binding, &scalar->value, type->family, out);
    case CLEAVE_SCALAR_LITERAL:
        return convert_text(binding, scalar, type->family, out);
    case CLEAVE_SCALAR_TYPED:
        return convert_typed(binding, scalar, type, out);
    case CLEAVE_SCALAR_UNKNOWN:
    default:
        return false;
    }
}

/* Is the value what a cast to a type with this modifier leaves as it is? */
static bool fits_modifier(const struct cleave_value *value, enum cleave_family family,
                          int64_t modifier)
{
    if (family == CLEAVE_FAMILY_STRING || family == CLEAVE_FAMILY_CHAR)
        return value->length <= modifier;
    if (family == CLEAVE_FAMILY_NUMERIC) {
        const char *point =
            value->kind == CLEAVE_NUMBER ? memchr(value->text, '.', value->length) : NULL;
        return !point || value->text + value->length - point - 1 <= modifier;
    }
    if (family == CLEAVE_FAMILY_TIMESTAMP || family == CLEAVE_FAMILY_TIMESTAMPTZ ||
        family == CLEAVE_FAMILY_TIME)
        return modifier >= 6 || value->integer % 1000000 == 0;
    return true;
}

static struct cleave_scalar cast(struct cleave_binding *b,
                                 const struct cleave_expression *expression)
{
    const struct cleave_domain_type *type = &expression->type;
    struct cleave_scalar x = cleave__scalar(b, expression->items[0]);
    if (x.kind == CLEAVE_SCALAR_NULL || x.kind == CLEAVE_SCALAR_UNKNOWN)
        return x;
    struct cleave_scalar result = {
        .kind = CLEAVE_SCALAR_TYPED, .family = type->family, .type_name = type->name};
    enum cleave_family to = type->family;
    char buffer[24];
    const char *text;
    uint32_t length;
    bool from_text = x.kind == CLEAVE_SCALAR_LITERAL ||
                     (x.kind == CLEAVE_SCALAR_TYPED && x.family == CLEAVE_FAMILY_STRING);
    if (to == CLEAVE_FAMILY_BOOLEAN && x.kind == CLEAVE_SCALAR_NUMBER) {
        if (x.value.kind != CLEAVE_INTEGER)
            return unknown;
        result.value = integer_value(x.value.integer != 0);
    } else if (to == CLEAVE_FAMILY_STRING && !from_text && as_text(&x, buffer, &text, &length)) {
        char *copy = allocate(b, 1, (size_t)length + 1);
        if (!copy)
            return unknown;
        memcpy(copy, text, length);
        result.value = text_value(copy, length);
    } else if (to == CLEAVE_FAMILY_DATE && x.kind == CLEAVE_SCALAR_TYPED &&
               x.family == CLEAVE_FAMILY_TIMESTAMP) {
        if (x.value.integer % CLEAVE_DAY_US != 0)
            return unknown;
        result.value = x.value;
    } else if (from_text) {
        /* Reading text of another type: as a quoted literal, whatever it was. */
        struct cleave_scalar literal = {.kind = CLEAVE_SCALAR_LITERAL, .value = x.value};
        if (!convert_text(b, &literal, to, &result.value))
            return unknown;
    } else {
        if (!cleave__scalar_convert(b, &x, type, &result.value))
            return unknown;
        if (to == CLEAVE_FAMILY_INTEGER && result.value.kind != CLEAVE_INTEGER)
            return unknown; /* it would be rounded */
    }
    if (expression->count > 1) {
        struct cleave_scalar modifier = cleave__scalar(b, expression->items[1]);
        if (modifier.kind != CLEAVE_SCALAR_NUMBER || modifier.value.kind != CLEAVE_INTEGER ||
            !fits_modifier(&result.value, to, modifier.value.integer))
            return unknown;
    }
    return result;
}

struct cleave_scalar cleave__scalar(struct cleave_binding *binding,
                                    const struct cleave_expression *expression)
{
    switch (expression->kind) {
    case CLEAVE_EXPRESSION_SLOT: {
        if (expression->index >= binding->slot_count)
            return unknown;
        const struct cleave_token *slot = &binding->slots[expression->index];
        if (slot->kind == CLEAVE_TOKEN_NUMBER)
            return number_scalar(binding, slot->start, slot->length, expression->negate);
        return string_scalar(binding, slot);
    }
    case CLEAVE_EXPRESSION_PARAMETER:
        return parameter_scalar(binding, expression->index);
    case CLEAVE_EXPRESSION_TEXT:
    case CLEAVE_EXPRESSION_NUMBER: {
        /* A copy, as results may outlive the template. */
        char *text = cleave__arena_copy(binding->arena, expression->text, expression->length);
        if (!text) {
            binding->out_of_memory = true;
            return unknown;
        }
        if (expression->kind == CLEAVE_EXPRESSION_TEXT)
            return (struct cleave_scalar){.kind = CLEAVE_SCALAR_LITERAL,
                                          .value = text_value(text, expression->length)};
        bool negative = expression->length && *text == '-';
        return number_scalar(binding, text + negative, expression->length - negative, negative);
    }
    case CLEAVE_EXPRESSION_BOOLEAN:
        return (struct cleave_scalar){.kind = CLEAVE_SCALAR_TYPED,
                                      .family = CLEAVE_FAMILY_BOOLEAN,
                                      .value = integer_value(expression->index)};
    case CLEAVE_EXPRESSION_NULL:
        return (struct cleave_scalar){.kind = CLEAVE_SCALAR_NULL};
    case CLEAVE_EXPRESSION_CAST:
        return cast(binding, expression);
    case CLEAVE_EXPRESSION_NEGATE:
        return negate(binding, expression);
    case CLEAVE_EXPRESSION_CONCATENATE:
        return concatenate(binding, expression);
    case CLEAVE_EXPRESSION_ARRAY:
    case CLEAVE_EXPRESSION_ARRAY_TEXT:
        return unknown;
    default:
        return calculate(binding, expression);
    }
}

/* ---- arrays ---- */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* One element of an array's text at `*at`; stops before ',' or '}'. */
static bool read_element(struct cleave_binding *b, const char **at, const char *end,
                         struct cleave_scalar *out)
{
    const char *p = *at;
    while (p < end && is_blank(*p))
        p++;
    if (p == end || *p == '{')
        return false;
    *out = (struct cleave_scalar){.kind = CLEAVE_SCALAR_LITERAL};
    if (*p == '"') {
        char *copy = allocate(b, 1, (size_t)(end - p));
        if (!copy)
            return false;
        char *to = copy;
        for (p++; p < end && *p != '"'; p++) {
            if (*p == '\\' && ++p == end)
                return false;
            *to++ = *p;
        }
        if (p == end)
            return false;
        p++;
        while (p < end && is_blank(*p))
            p++;
        out->value = text_value(copy, (size_t)(to - copy));
    } else {
        const char *start = p;
        while (p < end && *p != ',' && *p != '}') {
            if (*p == '"' || *p == '{' || *p == '\\')
                return false;
            p++;
        }
        const char *last = p;
        while (last > start && is_blank(last[-1]))
            last--;
        if (last == start)
            return false;
        out->value = text_value(start, (size_t)(last - start));
        if (last - start == 4 && strncasecmp(start, "null", 4) == 0)
            out->kind = CLEAVE_SCALAR_NULL;
    }
    *at = p;
    return p < end && (*p == ',' || *p == '}');
}

static bool read_array(struct cleave_binding *b, const char *text, size_t length,
                       struct cleave_scalars *out)
{
    const char *p = text, *end = text + length;
    while (p < end && is_blank(*p))
        p++;
    while (end > p && is_blank(end[-1]))
        end--;
    if (end - p < 2 || *p != '{' || end[-1] != '}')
        return false;
    p++;
    size_t most = 1;
    for (const char *q = p; q < end; q++)
        most += *q == ',';
    out->count = 0;
    out->items = allocate(b, most, sizeof *out->items);
    if (!out->items)
        return false;
    const char *q = p;
    while (q < end && is_blank(*q))
        q++;
    if (*q == '}')
        return q + 1 == end;
    for (;;) {
        if (out->count == most || !read_element(b, &p, end, &out->items[out->count]))
            return false;
        out->count++;
        if (*p++ == '}')
            return p == end;
    }
}

bool cleave__scalar_elements(struct cleave_binding *binding,
                             const struct cleave_expression *expression, struct cleave_scalars *out)
{
    if (expression->kind == CLEAVE_EXPRESSION_ARRAY) {
        out->count = expression->count;
        out->items = allocate(binding, expression->count, sizeof *out->items);
        if (!out->items)
            return false;
        for (uint32_t i = 0; i < expression->count; i++)
            out->items[i] = cleave__scalar(binding, expression->items[i]);
        return true;
    }
    if (expression->kind != CLEAVE_EXPRESSION_ARRAY_TEXT)
        return false;
    struct cleave_scalar text = cleave__scalar(binding, expression->items[0]);
    if (text.kind == CLEAVE_SCALAR_NULL) { /* = ANY(NULL) is never true */
        out->count = 1;
        out->items = allocate(binding, 1, sizeof *out->items);
        if (!out->items)
            return false;
        out->items[0] = text;
        return true;
    }
    if (text.kind != CLEAVE_SCALAR_LITERAL ||
        !read_array(binding, text.value.text, text.value.length, out))
        return false;
    for (uint32_t i = 0; i < out->count; i++) {
        struct cleave_scalar *item = &out->items[i];
        item->parameter = text.parameter;
        if (expression->type.family == CLEAVE_FAMILY_ANY || item->kind != CLEAVE_SCALAR_LITERAL)
            continue;
        struct cleave_scalar typed = {.kind = CLEAVE_SCALAR_TYPED,
                                      .family = expression->type.family,
                                      .type_name = expression->type.name};
        item->parameter = false; /* the cast reads it as a literal of its type */
        *item = convert_text(binding, item, typed.family, &typed.value) ? typed : unknown;
    }
    return true;
}
