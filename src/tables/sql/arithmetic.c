/* Arithmetic on constants: exact or refused. int64 with overflow checked, decimals through 128
 * bits, dates and whole days. */
#include <string.h>

#include "tables/sql/datetime.h"
#include "tables/sql/scalar.h"

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
    char *text = cleave__binding_alloc(b, 1, (size_t)n + 2);
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
    return cleave__any_number(b, text, (size_t)(p - text), out);
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
        if (!cleave__any_number(b, scalar->value.text, scalar->value.length, &scalar->value))
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

struct cleave_scalar cleave__calculate(struct cleave_binding *b, enum cleave_expression_kind kind,
                                       struct cleave_scalar x, struct cleave_scalar y)
{
    if (x.kind == CLEAVE_SCALAR_NULL || y.kind == CLEAVE_SCALAR_NULL)
        return (struct cleave_scalar){.kind = CLEAVE_SCALAR_NULL};
    struct cleave_scalar result = {.kind = CLEAVE_SCALAR_NUMBER};
    if (kind == CLEAVE_EXPRESSION_ADD &&
        (add_days(&x, &y, false, &result) || add_days(&y, &x, false, &result)))
        return result;
    if (kind == CLEAVE_EXPRESSION_SUBTRACT && add_days(&x, &y, true, &result))
        return result;
    result = (struct cleave_scalar){.kind = CLEAVE_SCALAR_NUMBER};
    if (!operand(b, &x) || !operand(b, &y))
        return cleave_scalar_unknown;
    result.sure = x.sure && y.sure;
    if (x.value.kind == CLEAVE_INTEGER && y.value.kind == CLEAVE_INTEGER) {
        int64_t integer;
        if (!calculate_integers(kind, x.value.integer, y.value.integer, result.sure, &integer))
            return cleave_scalar_unknown;
        result.value = cleave__integer_value(integer);
        return result;
    }
    if (kind == CLEAVE_EXPRESSION_DIVIDE || kind == CLEAVE_EXPRESSION_MODULO ||
        !calculate_decimals(b, kind, &x.value, &y.value, &result.value))
        return cleave_scalar_unknown;
    return result;
}

struct cleave_scalar cleave__negate(struct cleave_binding *b, struct cleave_scalar x)
{
    if (x.kind == CLEAVE_SCALAR_NULL)
        return x;
    if (!operand(b, &x))
        return cleave_scalar_unknown;
    const struct cleave_value zero = cleave__integer_value(0);
    struct cleave_scalar result = x;
    if (x.value.kind == CLEAVE_INTEGER) {
        if (__builtin_sub_overflow((int64_t)0, x.value.integer, &result.value.integer))
            return cleave_scalar_unknown;
    } else if (!calculate_decimals(b, CLEAVE_EXPRESSION_SUBTRACT, &zero, &x.value, &result.value)) {
        return cleave_scalar_unknown;
    }
    return result;
}
