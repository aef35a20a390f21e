/* Constants: reading them as values of a type, casts, arithmetic and arrays.
 *
 * Whatever PostgreSQL would round, cut or read by the session's settings is refused: the caller
 * then takes the condition to say nothing. */
#include "tables/oracle/compile.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { DAY_DIGITS_MAX = 18, TEXT_MAX = 1 << 24 };
static const int64_t day_us = INT64_C(86400000000);

static struct oracle_expr unknown(void)
{
    return (struct oracle_expr){.kind = ORACLE_EXPR_UNKNOWN};
}

static bool read_as(struct oracle_program *p, enum cleave_type type, const char *text,
                    size_t length, struct cleave_value *out)
{
    enum cleave_status status = cleave__value_parse(type, text, length, p->arena, out);
    if (status == CLEAVE_NO_MEMORY)
        cleave__oracle_fail(p, status);
    return status == CLEAVE_OK;
}

bool cleave__oracle_number(struct oracle_program *p, const char *text, size_t length,
                           struct cleave_value *out)
{
    struct cleave_value whole;
    if (read_as(p, CLEAVE_TYPE_INTEGER, text, length, out))
        return true;
    if (!read_as(p, CLEAVE_TYPE_NUMBER, text, length, out))
        return false;
    if (!memchr(out->text, '.', out->length) &&
        read_as(p, CLEAVE_TYPE_INTEGER, out->text, out->length, &whole))
        *out = whole;
    return true;
}

/* INTEGER as NUMBER. */
static bool spell(struct oracle_program *p, struct cleave_value *value)
{
    if (value->kind != CLEAVE_INTEGER)
        return true;
    char *text = cleave__arena_alloc(p->arena, 24);
    if (!text) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return false;
    }
    int length = snprintf(text, 24, "%lld", (long long)value->integer);
    *value = (struct cleave_value){.kind = CLEAVE_NUMBER, .length = (uint32_t)length, .text = text};
    return true;
}

/* Digits that count: those between the first and the last that is not zero. */
static unsigned digits_of(const struct cleave_value *number)
{
    unsigned first = 0, last = 0, at = 0;
    for (uint32_t i = 0; i < number->length; i++) {
        if (!isdigit((unsigned char)number->text[i]))
            continue;
        at++;
        if (number->text[i] == '0')
            continue;
        if (!first)
            first = at;
        last = at;
    }
    return first ? last - first + 1 : 0;
}

static bool number_as(struct oracle_program *p, struct cleave_value value, enum oracle_sort sort,
                      struct cleave_value *out)
{
    if (sort == ORACLE_SORT_INTEGER) {
        *out = value;
        return true;
    }
    if (!cleave__oracle_sort_is_number(sort) || !spell(p, &value))
        return false;
    /* Floats tell numbers apart up to so many digits. */
    if ((sort == ORACLE_SORT_DOUBLE && digits_of(&value) > 15) ||
        (sort == ORACLE_SORT_REAL && digits_of(&value) > 6))
        return false;
    *out = value;
    return true;
}

/* A time of day is followed by a zone. */
static bool names_zone(const char *text, size_t length)
{
    const char *colon = memchr(text, ':', length);
    if (!colon)
        return false;
    for (const char *c = colon; c < text + length; c++) {
        if (*c == '+' || *c == '-' || isalpha((unsigned char)*c))
            return true;
    }
    return false;
}

static bool text_as(struct oracle_program *p, const struct cleave_value *text, bool is_parameter,
                    enum oracle_sort sort, struct cleave_value *out)
{
    struct cleave_value value, moment;
    switch (sort) {
    case ORACLE_SORT_OPAQUE:
        return false;
    case ORACLE_SORT_INTEGER: /* a quoted literal must be whole; a parameter may be a numeric */
        return cleave__oracle_number(p, text->text, text->length, &value) &&
               (value.kind == CLEAVE_INTEGER || is_parameter) && number_as(p, value, sort, out);
    case ORACLE_SORT_NUMERIC:
    case ORACLE_SORT_DOUBLE:
    case ORACLE_SORT_REAL:
        return cleave__oracle_number(p, text->text, text->length, &value) &&
               number_as(p, value, sort, out);
    case ORACLE_SORT_DATE:
        if (!read_as(p, CLEAVE_TYPE_DATE, text->text, text->length, &value))
            return false;
        /* A parameter with a time of day was a timestamp, not to be cut to its day. */
        if (is_parameter &&
            (!read_as(p, CLEAVE_TYPE_TIMESTAMP, text->text, text->length, &moment) ||
             names_zone(text->text, text->length) || moment.integer != value.integer))
            return false;
        *out = value;
        return true;
    case ORACLE_SORT_TIMESTAMP:
        if (names_zone(text->text, text->length))
            return false;
        break;
    default:
        break;
    }
    return read_as(p, cleave__oracle_sort_type(sort), text->text, text->length, out) &&
           out->kind != CLEAVE_NULL;
}

static bool is_texts(enum oracle_sort sort)
{
    return sort == ORACLE_SORT_STRING || sort == ORACLE_SORT_CHAR;
}

static bool typed_as(struct oracle_program *p, const struct oracle_expr *a, enum oracle_sort to,
                     const char *type_name, struct cleave_value *out)
{
    enum oracle_sort from = a->sort;
    if (to == ORACLE_SORT_OPAQUE)
        return false;
    if (from == ORACLE_SORT_LABEL || to == ORACLE_SORT_LABEL) {
        if (from != to || !a->type_name || !type_name)
            return false;
        *out = a->value;
        return true;
    }
    if (cleave__oracle_sort_is_number(from) && cleave__oracle_sort_is_number(to)) {
        struct cleave_value value = a->value, whole;
        bool is_float = from == ORACLE_SORT_REAL || from == ORACLE_SORT_DOUBLE;
        if (is_float && from != to && (to != ORACLE_SORT_INTEGER || digits_of(&value) > 6))
            return false;
        if (value.kind == CLEAVE_NUMBER && !memchr(value.text, '.', value.length) &&
            read_as(p, CLEAVE_TYPE_INTEGER, value.text, value.length, &whole))
            value = whole;
        return number_as(p, value, to, out);
    }
    if (from == to || (from == ORACLE_SORT_DATE && to == ORACLE_SORT_TIMESTAMP) ||
        (from == ORACLE_SORT_TIMESTAMP && to == ORACLE_SORT_DATE)) {
        *out = a->value;
        return true;
    }
    return is_texts(from) && is_texts(to) && text_as(p, &a->value, false, to, out);
}

bool cleave__oracle_convert(struct oracle_program *p, const struct oracle_expr *a,
                            enum oracle_sort sort, const char *type_name, struct cleave_value *out)
{
    if (a->kind == ORACLE_EXPR_LITERAL)
        return text_as(p, &a->value, a->parameter, sort, out);
    if (a->kind == ORACLE_EXPR_TYPED)
        return typed_as(p, a, sort, type_name, out);
    if (a->kind != ORACLE_EXPR_NUMBER)
        return false;
    if (sort == ORACLE_SORT_LABEL && a->value.kind == CLEAVE_INTEGER) {
        struct cleave_value text = a->value; /* a domain over a number, in all likelihood */
        if (!spell(p, &text))
            return false;
        *out = text;
        out->kind = CLEAVE_TEXT;
        return true;
    }
    return number_as(p, a->value, sort, out);
}

static size_t decimals_of(const struct cleave_value *value)
{
    const char *point =
        value->kind == CLEAVE_NUMBER ? memchr(value->text, '.', value->length) : NULL;
    return point ? (size_t)(value->text + value->length - point - 1) : 0;
}

bool cleave__oracle_store(struct oracle_program *p, const struct oracle_expr *a,
                          enum oracle_sort sort, const char *type_name, struct cleave_value *out)
{
    int64_t first = type_name ? cleave__oracle_modifier(type_name, 0) : -1;
    int64_t second = type_name ? cleave__oracle_modifier(type_name, 1) : -1;
    if (!cleave__oracle_convert(p, a, sort, type_name, out))
        return false;
    switch (sort) {
    case ORACLE_SORT_INTEGER:
        return out->kind == CLEAVE_INTEGER;
    case ORACLE_SORT_NUMERIC:
        return first < 0 || decimals_of(out) <= (size_t)(second < 0 ? 0 : second);
    case ORACLE_SORT_CHAR:
        if (first < 0 && type_name && strncasecmp(type_name, "bpchar", 6) != 0)
            first = 1;
        /* fall through */
    case ORACLE_SORT_STRING:
        return first < 0 || out->length <= first ||
               (out->length > 0 && out->text[out->length - 1] != ' ');
    case ORACLE_SORT_DATE:
        return out->integer % day_us == 0;
    case ORACLE_SORT_TIMESTAMP:
    case ORACLE_SORT_TIMESTAMPTZ:
    case ORACLE_SORT_TIME:
        return first < 0 || first >= 6 || out->integer % 1000000 == 0;
    default:
        return true;
    }
}

/* --- casts --- */

/* Text of what || or a cast to text makes of a constant. */
static bool text_of(struct oracle_program *p, const struct oracle_expr *a, struct cleave_value *out)
{
    if (a->kind == ORACLE_EXPR_LITERAL ||
        (a->kind == ORACLE_EXPR_TYPED && a->sort == ORACLE_SORT_STRING)) {
        *out = a->value;
        return true;
    }
    bool whole = a->value.kind == CLEAVE_INTEGER &&
                 ((a->kind == ORACLE_EXPR_NUMBER && a->sure) ||
                  (a->kind == ORACLE_EXPR_TYPED && a->sort == ORACLE_SORT_INTEGER));
    *out = a->value;
    if (!whole || !spell(p, out))
        return false;
    out->kind = CLEAVE_TEXT;
    return true;
}

/* Does a cast with this modifier leave the value as it is? */
static bool fits(const struct cleave_value *value, enum oracle_sort sort, int64_t modifier)
{
    switch (sort) {
    case ORACLE_SORT_STRING:
    case ORACLE_SORT_CHAR:
        return value->length <= modifier;
    case ORACLE_SORT_NUMERIC:
        return (int64_t)decimals_of(value) <= modifier;
    case ORACLE_SORT_TIMESTAMP:
    case ORACLE_SORT_TIMESTAMPTZ:
    case ORACLE_SORT_TIME:
        return modifier >= 6 || value->integer % 1000000 == 0;
    default:
        return true;
    }
}

enum oracle_sort cleave__oracle_cast_sort(const json_t *type)
{
    const json_t *names = json_object_get(type, "names");
    size_t count = json_array_size(names);
    const char *name = cleave__oracle_last(names);
    if (count == 0 || count > 3 || json_object_get(type, "arrayBounds") ||
        cleave__oracle_flag(type, "setof") || cleave__oracle_flag(type, "pct_type"))
        return ORACLE_SORT_OPAQUE;
    /* The parser writes char(3) as pg_catalog.bpchar: a plain "char" is the quoted one. */
    if (!strcmp(name, "char") ||
        (count > 1 && strcmp(cleave__oracle_string(json_array_get(names, 0)), "pg_catalog") != 0))
        return ORACLE_SORT_LABEL;
    return cleave__oracle_sort(cleave__type_of_name(name), name);
}

struct oracle_expr cleave__oracle_cast(struct oracle_program *p, const struct oracle_expr *a,
                                       const json_t *type)
{
    const json_t *names = json_object_get(type, "names");
    const json_t *modifiers = json_object_get(type, "typmods");
    size_t modifier_count = json_array_size(modifiers);
    const char *name = cleave__oracle_last(names);
    struct oracle_expr out = {
        .kind = ORACLE_EXPR_TYPED, .type_name = name, .sort = cleave__oracle_cast_sort(type)};
    if (a->kind == ORACLE_EXPR_UNKNOWN || a->kind == ORACLE_EXPR_VARIABLE)
        return unknown();
    if (out.sort == ORACLE_SORT_OPAQUE || modifier_count > 2 ||
        (modifier_count && out.sort == ORACLE_SORT_LABEL))
        return unknown();
    int64_t modifier = -1;
    if (modifier_count == 1 && out.sort == ORACLE_SORT_NUMERIC) {
        modifier = 0;
    } else if (modifier_count && out.sort != ORACLE_SORT_REAL && out.sort != ORACLE_SORT_DOUBLE) {
        struct oracle_expr m =
            cleave__oracle_expr(p, NULL, json_array_get(modifiers, modifier_count - 1));
        if (m.kind != ORACLE_EXPR_NUMBER || m.value.kind != CLEAVE_INTEGER)
            return unknown();
        modifier = m.value.integer;
    }
    if (a->kind == ORACLE_EXPR_NULL)
        return *a;

    bool from_text = a->kind == ORACLE_EXPR_LITERAL ||
                     (a->kind == ORACLE_EXPR_TYPED && a->sort == ORACLE_SORT_STRING);
    if (out.sort == ORACLE_SORT_BOOLEAN && a->kind == ORACLE_EXPR_NUMBER) {
        if (a->value.kind != CLEAVE_INTEGER)
            return unknown();
        out.value = (struct cleave_value){.kind = CLEAVE_INTEGER, .integer = a->value.integer != 0};
    } else if (out.sort == ORACLE_SORT_DATE && a->kind == ORACLE_EXPR_TYPED &&
               a->sort == ORACLE_SORT_TIMESTAMP) {
        if (a->value.integer % day_us != 0)
            return unknown();
        out.value = a->value;
    } else if (from_text) {
        if (!text_as(p, &a->value, false, out.sort, &out.value))
            return unknown();
    } else if (!(out.sort == ORACLE_SORT_STRING && text_of(p, a, &out.value))) {
        if (!cleave__oracle_convert(p, a, out.sort, name, &out.value) ||
            (out.sort == ORACLE_SORT_INTEGER && out.value.kind != CLEAVE_INTEGER))
            return unknown();
    }
    if (modifier >= 0 && !fits(&out.value, out.sort, modifier))
        return unknown();
    return out;
}

/* --- arithmetic --- */

struct decimal {
    __int128 digits;
    unsigned scale; /* digits / 10^scale */
};

static bool decimal_of(const struct cleave_value *value, struct decimal *out)
{
    *out = (struct decimal){0, 0};
    if (value->kind == CLEAVE_INTEGER) {
        out->digits = value->integer;
        return true;
    }
    unsigned count = 0;
    bool after_point = false;
    for (uint32_t i = 0; i < value->length; i++) {
        char c = value->text[i];
        if (c == '.')
            after_point = true;
        if (!isdigit((unsigned char)c))
            continue;
        if (++count > DAY_DIGITS_MAX)
            return false;
        out->digits = out->digits * 10 + (c - '0');
        out->scale += after_point;
    }
    if (value->length && value->text[0] == '-')
        out->digits = -out->digits;
    return true;
}

static bool decimal_value(struct oracle_program *p, struct decimal d, struct cleave_value *out)
{
    char text[96];
    size_t at = sizeof text;
    bool negative = d.digits < 0;
    unsigned __int128 rest = negative ? -(unsigned __int128)d.digits : (unsigned __int128)d.digits;
    for (unsigned n = 0; rest > 0 || n <= d.scale; n++) {
        if (at < 8)
            return false;
        if (n == d.scale && n > 0)
            text[--at] = '.';
        text[--at] = (char)('0' + (int)(rest % 10));
        rest /= 10;
    }
    if (negative)
        text[--at] = '-';
    char *copy = cleave__arena_copy(p->arena, text + at, sizeof text - at);
    if (!copy) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return false;
    }
    return cleave__oracle_number(p, copy, sizeof text - at, out);
}

static bool calculate_decimals(struct oracle_program *p, char op, const struct cleave_value *x,
                               const struct cleave_value *y, struct cleave_value *out)
{
    struct decimal a, b, result;
    if (!decimal_of(x, &a) || !decimal_of(y, &b))
        return false;
    if (op == '*') {
        result.scale = a.scale + b.scale;
        if (__builtin_mul_overflow(a.digits, b.digits, &result.digits))
            return false;
        return decimal_value(p, result, out);
    }
    for (; a.scale < b.scale; a.scale++)
        a.digits *= 10;
    for (; b.scale < a.scale; b.scale++)
        b.digits *= 10;
    result = (struct decimal){op == '+' ? a.digits + b.digits : a.digits - b.digits, a.scale};
    return decimal_value(p, result, out);
}

static bool calculate_integers(char op, int64_t x, int64_t y, bool sure, int64_t *out)
{
    switch (op) {
    case '+':
        return !__builtin_add_overflow(x, y, out);
    case '-':
        return !__builtin_sub_overflow(x, y, out);
    case '*':
        return !__builtin_mul_overflow(x, y, out);
    case '/': /* 7 / 2 is 3 for integers only */
        if (!sure || y == 0 || (x == INT64_MIN && y == -1))
            return false;
        *out = x / y;
        return true;
    default:
        if (!sure || y == 0)
            return false;
        *out = y == -1 ? 0 : x % y;
        return true;
    }
}

static bool as_operand(struct oracle_program *p, struct oracle_expr *a)
{
    if (a->kind == ORACLE_EXPR_LITERAL) {
        if (!cleave__oracle_number(p, a->value.text, a->value.length, &a->value) ||
            (a->parameter && a->value.kind != CLEAVE_INTEGER)) /* it may be a float: rounded */
            return false;
        a->sure = false;
    } else if (a->kind == ORACLE_EXPR_TYPED) {
        if (a->sort != ORACLE_SORT_INTEGER && a->sort != ORACLE_SORT_NUMERIC)
            return false;
        a->sure = a->sort == ORACLE_SORT_INTEGER;
    } else if (a->kind != ORACLE_EXPR_NUMBER) {
        return false;
    }
    a->kind = ORACLE_EXPR_NUMBER;
    return true;
}

static bool days_after(const struct oracle_expr *day, const struct oracle_expr *days, bool back,
                       struct oracle_expr *out)
{
    int64_t step;
    if (day->kind != ORACLE_EXPR_TYPED || day->sort != ORACLE_SORT_DATE ||
        days->kind != ORACLE_EXPR_NUMBER || days->value.kind != CLEAVE_INTEGER || !days->sure ||
        day->value.integer == INT64_MAX || day->value.integer == INT64_MIN)
        return false;
    *out = *day;
    if (__builtin_mul_overflow(days->value.integer, day_us, &step))
        return false;
    return back ? !__builtin_sub_overflow(day->value.integer, step, &out->value.integer)
                : !__builtin_add_overflow(day->value.integer, step, &out->value.integer);
}

static struct oracle_expr concatenate(struct oracle_program *p, const struct oracle_expr *a,
                                      const struct oracle_expr *b)
{
    struct cleave_value x, y;
    if (!text_of(p, a, &x) || !text_of(p, b, &y) || (uint64_t)x.length + y.length > TEXT_MAX)
        return unknown();
    char *text = cleave__arena_alloc(p->arena, (size_t)x.length + y.length + 1);
    if (!text) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return unknown();
    }
    if (x.length)
        memcpy(text, x.text, x.length);
    if (y.length)
        memcpy(text + x.length, y.text, y.length);
    return (struct oracle_expr){
        .kind = ORACLE_EXPR_LITERAL,
        .value = {.kind = CLEAVE_TEXT, .length = x.length + y.length, .text = text}};
}

struct oracle_expr cleave__oracle_calculate(struct oracle_program *p, const char *op,
                                            struct oracle_expr a, struct oracle_expr b)
{
    struct oracle_expr out = {.kind = ORACLE_EXPR_NUMBER};
    bool known_a = cleave__oracle_is_constant(&a), known_b = cleave__oracle_is_constant(&b);
    if (!strcmp(op, "||"))
        return known_a && known_b ? concatenate(p, &a, &b) : unknown();
    if (a.kind == ORACLE_EXPR_VARIABLE || b.kind == ORACLE_EXPR_VARIABLE)
        return unknown();
    if (a.kind == ORACLE_EXPR_NULL || b.kind == ORACLE_EXPR_NULL)
        return (struct oracle_expr){.kind = ORACLE_EXPR_NULL};
    if (!known_a || !known_b)
        return unknown();
    if ((*op == '+' && (days_after(&a, &b, false, &out) || days_after(&b, &a, false, &out))) ||
        (*op == '-' && days_after(&a, &b, true, &out)))
        return out;
    out = (struct oracle_expr){.kind = ORACLE_EXPR_NUMBER};
    if (!as_operand(p, &a) || !as_operand(p, &b))
        return unknown();
    out.sure = a.sure && b.sure;
    if (a.value.kind == CLEAVE_INTEGER && b.value.kind == CLEAVE_INTEGER) {
        out.value.kind = CLEAVE_INTEGER;
        return calculate_integers(*op, a.value.integer, b.value.integer, out.sure,
                                  &out.value.integer)
                   ? out
                   : unknown();
    }
    if (*op == '/' || *op == '%' || !calculate_decimals(p, *op, &a.value, &b.value, &out.value))
        return unknown();
    return out;
}

/* --- arrays --- */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* One element at text[*at]; leaves *at on the ',' or '}' after it. */
static bool read_element(struct oracle_program *p, const char *text, size_t length, size_t *at,
                         struct oracle_expr *out)
{
    size_t i = *at, n = 0;
    while (i < length && is_blank(text[i]))
        i++;
    char *copy = cleave__arena_alloc(p->arena, length - i + 1);
    if (!copy) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return false;
    }
    bool is_quoted = i < length && text[i] == '"';
    if (is_quoted) {
        for (i++; i < length && text[i] != '"'; i++) {
            if (text[i] == '\\' && ++i == length)
                return false;
            copy[n++] = text[i];
        }
        if (i == length)
            return false;
        i++;
        while (i < length && is_blank(text[i]))
            i++;
    } else {
        for (; i < length && text[i] != ',' && text[i] != '}'; i++) {
            if (strchr("\"{\\", text[i]))
                return false;
            copy[n++] = text[i];
        }
        while (n > 0 && is_blank(copy[n - 1]))
            n--;
        if (n == 0)
            return false;
    }
    if (i >= length || (text[i] != ',' && text[i] != '}'))
        return false;
    *at = i;
    *out =
        (struct oracle_expr){.kind = ORACLE_EXPR_LITERAL,
                             .value = {.kind = CLEAVE_TEXT, .length = (uint32_t)n, .text = copy}};
    if (!is_quoted && n == 4 && !strncasecmp(copy, "null", 4))
        out->kind = ORACLE_EXPR_NULL;
    return true;
}

bool cleave__oracle_elements(struct oracle_program *p, const struct oracle_expr *array,
                             const json_t *type, struct oracle_expr **out, uint32_t *count)
{
    const char *text = array->value.text;
    size_t length = array->value.length, at = 0, most = 1;
    if (array->kind != ORACLE_EXPR_LITERAL)
        return false;
    while (at < length && is_blank(text[at]))
        at++;
    while (length > at && is_blank(text[length - 1]))
        length--;
    if (length - at < 2 || text[at] != '{' || text[length - 1] != '}')
        return false;
    for (size_t i = at; i < length; i++)
        most += text[i] == ',';
    struct oracle_expr *items = cleave__arena_array(p->arena, most, sizeof *items);
    if (!items) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return false;
    }
    *out = items;
    *count = 0;
    at++;
    size_t first = at;
    while (first < length && is_blank(text[first]))
        first++;
    if (first + 1 == length)
        return true;
    for (;;) {
        if (*count == most || !read_element(p, text, length, &at, &items[*count]))
            return false;
        struct oracle_expr *item = &items[(*count)++];
        if (type)
            *item = cleave__oracle_cast(p, item, type);
        else
            item->parameter = array->parameter;
        if (text[at++] == '}')
            return at == length;
    }
}
