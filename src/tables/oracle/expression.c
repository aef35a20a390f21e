/* Values in expressions: a plain column, a constant, a bound parameter, or "could be anything".
 *
 * libpg_query 15 leaves integers <= 0 out of its JSON, so these are read again from the
 * statement's text at the place the node names. */
#include "tables/oracle/compile.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static struct oracle_expr unknown(void)
{
    return (struct oracle_expr){.kind = ORACLE_EXPR_UNKNOWN};
}

static struct oracle_expr number(struct oracle_program *p, const char *text, size_t length)
{
    struct oracle_expr out = {.kind = ORACLE_EXPR_NUMBER};
    if (!cleave__oracle_number(p, text, length, &out.value))
        return unknown();
    out.sure =
        !memchr(text, '.', length) && !memchr(text, 'e', length) && !memchr(text, 'E', length);
    return out;
}

static struct oracle_expr quoted(const char *text, size_t length, bool is_parameter)
{
    if (length > UINT32_MAX)
        return unknown();
    return (struct oracle_expr){
        .kind = ORACLE_EXPR_LITERAL,
        .value = {.kind = CLEAVE_TEXT, .length = (uint32_t)length, .text = text},
        .parameter = is_parameter};
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
    return number(p, text, length);
}

static struct oracle_expr literal(struct oracle_program *p, const json_t *body)
{
    const json_t *value;
    if (cleave__oracle_flag(body, "isnull"))
        return (struct oracle_expr){.kind = ORACLE_EXPR_NULL};
    if ((value = json_object_get(body, "ival"))) {
        const json_t *integer = json_object_get(value, "ival");
        if (!json_is_integer(integer)) {
            const json_t *location = json_object_get(body, "location");
            return written_integer(p, json_is_integer(location) ? json_integer_value(location) : 0);
        }
        char *text = cleave__arena_alloc(p->arena, 24);
        if (!text) {
            cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
            return unknown();
        }
        int length = snprintf(text, 24, "%lld", (long long)json_integer_value(integer));
        return number(p, text, (size_t)length);
    }
    if ((value = json_object_get(body, "fval"))) {
        const char *text = cleave__oracle_text(value, "fval");
        return *text ? number(p, text, strlen(text)) : unknown();
    }
    if ((value = json_object_get(body, "boolval")))
        return (struct oracle_expr){
            .kind = ORACLE_EXPR_TYPED,
            .sort = ORACLE_SORT_BOOLEAN,
            .value = {.kind = CLEAVE_INTEGER, .integer = cleave__oracle_flag(value, "boolval")}};
    if ((value = json_object_get(body, "sval"))) {
        const json_t *text = json_object_get(value, "sval");
        return quoted(json_is_string(text) ? json_string_value(text) : "", json_string_length(text),
                      false);
    }
    return unknown();
}

static struct oracle_expr parameter(struct oracle_program *p, const json_t *body)
{
    json_int_t at = json_integer_value(json_object_get(body, "number"));
    if (at < 1 || at > (json_int_t)p->parameter_count || !p->text)
        return unknown();
    const struct cleave_parameter *bound = &p->parameters[at - 1];
    if (bound->is_null)
        return (struct oracle_expr){.kind = ORACLE_EXPR_NULL};
    if (bound->is_cut || !bound->text)
        return unknown();
    return quoted(bound->text, bound->length, true);
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

bool cleave__oracle_is_constant(const struct oracle_expr *expr)
{
    return expr->kind == ORACLE_EXPR_NUMBER || expr->kind == ORACLE_EXPR_LITERAL ||
           expr->kind == ORACLE_EXPR_TYPED;
}

static bool is_arithmetic(const char *name)
{
    return name[0] && ((strchr("+-*/%", name[0]) && !name[1]) || !strcmp(name, "||"));
}

static struct oracle_expr calculation(struct oracle_program *p, const struct oracle_scope *scope,
                                      const json_t *body)
{
    const json_t *names = json_object_get(body, "name");
    const char *name = cleave__oracle_last(names);
    const json_t *a = json_object_get(body, "lexpr"), *b = json_object_get(body, "rexpr");
    struct oracle_expr zero = {
        .kind = ORACLE_EXPR_NUMBER, .sure = true, .value = {.kind = CLEAVE_INTEGER}};
    if (!b || json_array_size(names) != 1 || !is_arithmetic(name) ||
        strcmp(cleave__oracle_text(body, "kind"), "AEXPR_OP") != 0)
        return unknown();
    struct oracle_expr right = cleave__oracle_expr(p, scope, b);
    if (a)
        return cleave__oracle_calculate(p, name, cleave__oracle_expr(p, scope, a), right);
    if (*name == '-')
        return cleave__oracle_calculate(p, "-", zero, right);
    return *name == '+' && right.kind != ORACLE_EXPR_VARIABLE ? right : unknown();
}

/* A column under a cast that changes no value stays that column. */
static struct oracle_expr cast(struct oracle_program *p, const struct oracle_scope *scope,
                               const json_t *body)
{
    const json_t *type = json_object_get(body, "typeName");
    struct oracle_expr inner = cleave__oracle_expr(p, scope, json_object_get(body, "arg"));
    if (inner.kind != ORACLE_EXPR_VARIABLE)
        return cleave__oracle_cast(p, &inner, type);
    enum oracle_sort from = p->variables.data[inner.variable].sort;
    enum oracle_sort to = cleave__oracle_cast_sort(type);
    bool same = from == to && from != ORACLE_SORT_LABEL && from != ORACLE_SORT_OPAQUE;
    if (json_object_get(type, "typmods") ||
        !(same || (from == ORACLE_SORT_INTEGER && to == ORACLE_SORT_NUMERIC)))
        return unknown();
    return inner;
}

struct oracle_expr cleave__oracle_expr(struct oracle_program *p, const struct oracle_scope *scope,
                                       const json_t *node)
{
    const json_t *body;
    struct oracle_expr out = unknown();
    if ((body = cleave__oracle_is(node, "A_Const")))
        return literal(p, body);
    if ((body = cleave__oracle_is(node, "ParamRef")))
        return parameter(p, body);
    if ((body = cleave__oracle_is(node, "ColumnRef")))
        return column(p, scope, body);
    if (!cleave__oracle_enter(p))
        return out;
    if ((body = cleave__oracle_is(node, "TypeCast")))
        out = cast(p, scope, body);
    else if ((body = cleave__oracle_is(node, "A_Expr")))
        out = calculation(p, scope, body);
    cleave__oracle_leave(p);
    return out;
}
