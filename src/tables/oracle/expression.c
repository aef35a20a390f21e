/* Values in expressions: a plain column, a constant, a bound parameter, or "could be anything".
 *
 * libpg_query 15 leaves integers <= 0 out of its JSON, so these are read again from the
 * statement's text at the place the node names. Casts around constants are dropped: a constant is
 * typed by the column it meets. */
#include "tables/oracle/compile.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static struct oracle_expr unknown(void)
{
    return (struct oracle_expr){.kind = ORACLE_EXPR_UNKNOWN};
}

static struct oracle_expr constant(const char *text, size_t length)
{
    return (struct oracle_expr){.kind = ORACLE_EXPR_CONSTANT, .text = text, .length = length};
}

/* The integer <= 0 written at byte `at`: "0", "-5", "- 5", "-(-(-5))". */
static struct oracle_expr written_integer(struct oracle_program *p, json_int_t at)
{
    bool minus = false;
    size_t i = (size_t)at;
    if (!p->text || at < 0 || i >= p->length)
        return unknown();
    while (i < p->length && !isdigit((unsigned char)p->text[i])) {
        if (p->length - i > 1 && p->text[i] == '-' && p->text[i + 1] == '-') {
            while (i < p->length && p->text[i] != '\n')
                i++;
        } else if (p->length - i > 1 && p->text[i] == '/' && p->text[i + 1] == '*') {
            unsigned nested = 1;
            for (i += 2; i < p->length && nested > 0; i++) {
                if (p->length - i > 1 && p->text[i] == '*' && p->text[i + 1] == '/')
                    nested--, i++;
                else if (p->length - i > 1 && p->text[i] == '/' && p->text[i + 1] == '*')
                    nested++, i++;
            }
        } else if (p->text[i] == '-' || p->text[i] == '(' || isspace((unsigned char)p->text[i])) {
            minus |= p->text[i] == '-';
            i++;
        } else {
            return unknown();
        }
    }
    size_t end = i;
    while (end < p->length && isdigit((unsigned char)p->text[end]))
        end++;
    if (end == i)
        return unknown();
    if (!minus) {
        for (size_t d = i; d < end; d++) {
            if (p->text[d] != '0')
                return unknown(); /* then the tree would have had it */
        }
    }
    char *text = cleave__arena_alloc(p->arena, end - i + 2);
    if (!text) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return unknown();
    }
    size_t length = 0;
    if (minus)
        text[length++] = '-';
    memcpy(text + length, p->text + i, end - i);
    length += end - i;
    text[length] = 0;
    return constant(text, length);
}

static struct oracle_expr literal(struct oracle_program *p, const json_t *body)
{
    const json_t *value;
    if (cleave__oracle_flag(body, "isnull"))
        return (struct oracle_expr){.kind = ORACLE_EXPR_NULL};
    if ((value = json_object_get(body, "ival"))) {
        const json_t *number = json_object_get(value, "ival");
        if (!json_is_integer(number)) {
            const json_t *location = json_object_get(body, "location");
            return written_integer(p, json_is_integer(location) ? json_integer_value(location) : 0);
        }
        char *text = cleave__arena_alloc(p->arena, 24);
        if (!text) {
            cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
            return unknown();
        }
        int length = snprintf(text, 24, "%lld", (long long)json_integer_value(number));
        return constant(text, (size_t)length);
    }
    if ((value = json_object_get(body, "fval"))) {
        const char *text = cleave__oracle_text(value, "fval");
        return *text ? constant(text, strlen(text)) : unknown();
    }
    if ((value = json_object_get(body, "boolval")))
        return cleave__oracle_flag(value, "boolval") ? constant("true", 4) : constant("false", 5);
    if ((value = json_object_get(body, "sval"))) {
        const json_t *text = json_object_get(value, "sval");
        return constant(json_is_string(text) ? json_string_value(text) : "",
                        json_string_length(text));
    }
    return unknown();
}

static struct oracle_expr parameter(struct oracle_program *p, const json_t *body)
{
    json_int_t number = json_integer_value(json_object_get(body, "number"));
    if (number < 1 || number > (json_int_t)p->parameter_count || !p->text)
        return unknown();
    const struct cleave_parameter *bound = &p->parameters[number - 1];
    if (bound->is_null)
        return (struct oracle_expr){.kind = ORACLE_EXPR_NULL};
    if (bound->is_cut || !bound->text)
        return unknown();
    return constant(bound->text, bound->length);
}

static struct oracle_expr column(struct oracle_program *p, const struct oracle_scope *scope,
                                 const json_t *body)
{
    const json_t *fields = json_object_get(body, "fields");
    size_t count = json_array_size(fields);
    if (count == 0)
        return unknown();
    const char *name = cleave__oracle_string(json_array_get(fields, count - 1));
    const char *qualifier =
        count > 1 ? cleave__oracle_string(json_array_get(fields, count - 2)) : NULL;
    if (!*name)
        return unknown();
    return cleave__oracle_resolve(p, scope, qualifier, name);
}

struct oracle_expr cleave__oracle_expr(struct oracle_program *p, const struct oracle_scope *scope,
                                       const json_t *node)
{
    const json_t *body;
    bool cast = false;
    while ((body = cleave__oracle_is(node, "TypeCast"))) {
        node = json_object_get(body, "arg");
        cast = true;
    }
    if ((body = cleave__oracle_is(node, "A_Const")))
        return literal(p, body);
    if ((body = cleave__oracle_is(node, "ParamRef")))
        return parameter(p, body);
    if (!cast && (body = cleave__oracle_is(node, "ColumnRef")))
        return column(p, scope, body);
    return unknown();
}

bool cleave__oracle_value(struct oracle_program *p, const struct oracle_expr *expr,
                          enum cleave_type type, struct cleave_value *out)
{
    if (expr->kind != ORACLE_EXPR_CONSTANT)
        return false;
    enum cleave_status status = cleave__value_parse(type, expr->text, expr->length, p->arena, out);
    if (status == CLEAVE_NO_MEMORY)
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
    return status == CLEAVE_OK && out->kind != CLEAVE_NULL;
}

struct oracle_node *cleave__oracle_bind(struct oracle_program *p, uint32_t variable,
                                        const struct oracle_expr *expr, bool null_equal)
{
    struct cleave_value value;
    if (variable == ORACLE_NONE)
        return cleave__oracle_truth(p, true);
    switch (expr->kind) {
    case ORACLE_EXPR_VARIABLE:
        return cleave__oracle_equal(p, null_equal ? ORACLE_SAME : ORACLE_EQUAL, variable,
                                    expr->variable);
    case ORACLE_EXPR_NULL:
        return null_equal ? cleave__oracle_null(p, variable, true) : cleave__oracle_truth(p, false);
    case ORACLE_EXPR_CONSTANT:
        if (cleave__oracle_value(p, expr, p->variables.data[variable].type, &value))
            return cleave__oracle_range(p, variable,
                                        &(struct cleave_range){.low = value, .high = value});
        return cleave__oracle_truth(p, true);
    case ORACLE_EXPR_UNKNOWN:
        break;
    }
    return cleave__oracle_truth(p, true);
}
