/* Evaluation of constant expressions. See expression.h. */
#include "tables/sql/expression.h"

#include <string.h>
#include <strings.h>

#include "tables/sql/scalar.h"

static struct cleave_scalar parameter_scalar(struct cleave_binding *b, uint32_t index)
{
    if (index == 0 || index > b->parameter_count)
        return cleave_scalar_unknown;
    const struct cleave_parameter *parameter = &b->parameters[index - 1];
    if (parameter->is_cut || parameter->length > UINT32_MAX)
        return cleave_scalar_unknown;
    if (parameter->is_null)
        return (struct cleave_scalar){.kind = CLEAVE_SCALAR_NULL};
    return (struct cleave_scalar){.kind = CLEAVE_SCALAR_LITERAL,
                                  .parameter = true,
                                  .value = cleave__text_value(parameter->text, parameter->length)};
}

static struct cleave_scalar concatenate(struct cleave_binding *b,
                                        const struct cleave_expression *expression)
{
    struct cleave_scalar x = cleave__scalar(b, expression->items[0]);
    struct cleave_scalar y = cleave__scalar(b, expression->items[1]);
    if (x.kind == CLEAVE_SCALAR_NULL || y.kind == CLEAVE_SCALAR_NULL)
        return cleave_scalar_unknown; /* arrays ignore it, text does not */
    char x_buffer[24], y_buffer[24];
    const char *x_text, *y_text;
    uint32_t x_length, y_length;
    if (!cleave__scalar_text(&x, x_buffer, &x_text, &x_length) ||
        !cleave__scalar_text(&y, y_buffer, &y_text, &y_length) ||
        (uint64_t)x_length + y_length > 1 << 24)
        return cleave_scalar_unknown;
    char *text = cleave__binding_alloc(b, 1, (size_t)x_length + y_length + 1);
    if (!text)
        return cleave_scalar_unknown;
    memcpy(text, x_text, x_length);
    memcpy(text + x_length, y_text, y_length);
    return (struct cleave_scalar){.kind = CLEAVE_SCALAR_LITERAL,
                                  .value = cleave__text_value(text, (size_t)x_length + y_length)};
}

static struct cleave_scalar evaluate_cast(struct cleave_binding *b,
                                          const struct cleave_expression *expression)
{
    struct cleave_scalar x = cleave__scalar(b, expression->items[0]);
    struct cleave_scalar modifier;
    if (expression->count > 1)
        modifier = cleave__scalar(b, expression->items[1]);
    return cleave__cast(b, &expression->type, x, expression->count > 1 ? &modifier : NULL);
}

struct cleave_scalar cleave__scalar(struct cleave_binding *binding,
                                    const struct cleave_expression *expression)
{
    switch (expression->kind) {
    case CLEAVE_EXPRESSION_SLOT: {
        if (expression->index >= binding->slot_count)
            return cleave_scalar_unknown;
        const struct cleave_token *slot = &binding->slots[expression->index];
        if (slot->kind == CLEAVE_TOKEN_NUMBER)
            return cleave__number_scalar(binding, slot->start, slot->length, expression->negate);
        return cleave__string_scalar(binding, slot);
    }
    case CLEAVE_EXPRESSION_PARAMETER:
        return parameter_scalar(binding, expression->index);
    case CLEAVE_EXPRESSION_TEXT:
    case CLEAVE_EXPRESSION_NUMBER: {
        /* A copy, as results may outlive the template. */
        char *text = cleave__arena_copy(binding->arena, expression->text, expression->length);
        if (!text) {
            binding->out_of_memory = true;
            return cleave_scalar_unknown;
        }
        if (expression->kind == CLEAVE_EXPRESSION_TEXT)
            return (struct cleave_scalar){.kind = CLEAVE_SCALAR_LITERAL,
                                          .value = cleave__text_value(text, expression->length)};
        bool negative = expression->length && *text == '-';
        return cleave__number_scalar(binding, text + negative, expression->length - negative,
                                     negative);
    }
    case CLEAVE_EXPRESSION_BOOLEAN:
        return (struct cleave_scalar){.kind = CLEAVE_SCALAR_TYPED,
                                      .family = CLEAVE_FAMILY_BOOLEAN,
                                      .value = cleave__integer_value(expression->index)};
    case CLEAVE_EXPRESSION_NULL:
        return (struct cleave_scalar){.kind = CLEAVE_SCALAR_NULL};
    case CLEAVE_EXPRESSION_CAST:
        return evaluate_cast(binding, expression);
    case CLEAVE_EXPRESSION_NEGATE:
        return cleave__negate(binding, cleave__scalar(binding, expression->items[0]));
    case CLEAVE_EXPRESSION_CONCATENATE:
        return concatenate(binding, expression);
    case CLEAVE_EXPRESSION_ARRAY:
    case CLEAVE_EXPRESSION_ARRAY_TEXT:
        return cleave_scalar_unknown;
    default:
        return cleave__calculate(binding, expression->kind,
                                 cleave__scalar(binding, expression->items[0]),
                                 cleave__scalar(binding, expression->items[1]));
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
        char *copy = cleave__binding_alloc(b, 1, (size_t)(end - p));
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
        out->value = cleave__text_value(copy, (size_t)(to - copy));
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
        out->value = cleave__text_value(start, (size_t)(last - start));
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
    out->items = cleave__binding_alloc(b, most, sizeof *out->items);
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
        out->items = cleave__binding_alloc(binding, expression->count, sizeof *out->items);
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
        out->items = cleave__binding_alloc(binding, 1, sizeof *out->items);
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
        *item = cleave__convert_text(binding, item, typed.family, &typed.value)
                    ? typed
                    : cleave_scalar_unknown;
    }
    return true;
}
