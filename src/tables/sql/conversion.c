/* Constants in the form of another type, as PostgreSQL converts them where that is sure. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tables/sql/datetime.h"
#include "tables/sql/number.h"
#include "tables/sql/scalar.h"

bool cleave__scalar_text(const struct cleave_scalar *scalar, char buffer[24], const char **text,
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

static bool number_to_text(struct cleave_binding *b, const struct cleave_value *value,
                           struct cleave_value *out)
{
    if (value->kind != CLEAVE_INTEGER) {
        *out = *value;
        return true;
    }
    char *text = cleave__binding_alloc(b, 1, 24);
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

bool cleave__convert_text(struct cleave_binding *b, const struct cleave_scalar *scalar,
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
        return cleave__any_number(b, text, length, &number) &&
               (number.kind == CLEAVE_INTEGER || scalar->parameter) &&
               convert_number(b, &number, family, out);
    case CLEAVE_FAMILY_NUMERIC:
    case CLEAVE_FAMILY_FLOAT8:
    case CLEAVE_FAMILY_FLOAT4:
        return cleave__any_number(b, text, length, &number) &&
               convert_number(b, &number, family, out);
    case CLEAVE_FAMILY_CHAR:
        /* A parameter may be of type text: compared as such, its blanks count. */
        if (scalar->parameter && has_trailing_blank(&scalar->value))
            return false;
        return cleave__value_parse(CLEAVE_TYPE_CHAR, text, length, b->arena, out) == CLEAVE_OK;
    case CLEAVE_FAMILY_DATE:
        if (!cleave__date_parse(text, length, &moment))
            return false;
        *out = cleave__integer_value(moment);
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
        *out = cleave__integer_value(moment);
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
            number = cleave__integer_value(integer);
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
    return texts && !has_trailing_blank(&scalar->value) && cleave__convert_text(b, scalar, to, out);
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
            *out = cleave__text_value(text.text, text.length);
            return true;
        }
        return convert_number(binding, &scalar->value, type->family, out);
    case CLEAVE_SCALAR_LITERAL:
        return cleave__convert_text(binding, scalar, type->family, out);
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

struct cleave_scalar cleave__cast(struct cleave_binding *b, const struct cleave_domain_type *type,
                                  struct cleave_scalar x, const struct cleave_scalar *modifier)
{
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
            return cleave_scalar_unknown;
        result.value = cleave__integer_value(x.value.integer != 0);
    } else if (to == CLEAVE_FAMILY_STRING && !from_text &&
               cleave__scalar_text(&x, buffer, &text, &length)) {
        char *copy = cleave__binding_alloc(b, 1, (size_t)length + 1);
        if (!copy)
            return cleave_scalar_unknown;
        memcpy(copy, text, length);
        result.value = cleave__text_value(copy, length);
    } else if (to == CLEAVE_FAMILY_DATE && x.kind == CLEAVE_SCALAR_TYPED &&
               x.family == CLEAVE_FAMILY_TIMESTAMP) {
        if (x.value.integer % CLEAVE_DAY_US != 0)
            return cleave_scalar_unknown;
        result.value = x.value;
    } else if (from_text) {
        /* Reading text of another type: as a quoted literal, whatever it was. */
        struct cleave_scalar literal = {.kind = CLEAVE_SCALAR_LITERAL, .value = x.value};
        if (!cleave__convert_text(b, &literal, to, &result.value))
            return cleave_scalar_unknown;
    } else {
        if (!cleave__scalar_convert(b, &x, type, &result.value))
            return cleave_scalar_unknown;
        if (to == CLEAVE_FAMILY_INTEGER && result.value.kind != CLEAVE_INTEGER)
            return cleave_scalar_unknown; /* it would be rounded */
    }
    if (modifier &&
        (modifier->kind != CLEAVE_SCALAR_NUMBER || modifier->value.kind != CLEAVE_INTEGER ||
         !fits_modifier(&result.value, to, modifier->value.integer)))
        return cleave_scalar_unknown;
    return result;
}
