/* Comparisons of columns with constants and with each other -> condition nodes. What a comparison
 * does not surely say, it does not say. */
#include "tables/oracle/compile.h"

#include <string.h>

static struct oracle_node *anything(struct oracle_program *p)
{
    return cleave__oracle_truth(p, true);
}

enum oracle_comparison cleave__oracle_comparison(const char *name)
{
    static const char *const names[] = {"<", "<=", "=", "<>", ">=", ">"};
    for (int i = 0; i < ORACLE_OTHER; i++) {
        if (!strcmp(name, names[i]))
            return (enum oracle_comparison)i;
    }
    return ORACLE_OTHER;
}

enum oracle_comparison cleave__oracle_complement(enum oracle_comparison c)
{
    static const enum oracle_comparison to[] = {
        ORACLE_GREATER_EQUAL, ORACLE_GREATER,    ORACLE_NOT_EQUAL, ORACLE_EQUALS,
        ORACLE_LESS,          ORACLE_LESS_EQUAL, ORACLE_OTHER};
    return to[c];
}

static enum oracle_comparison mirrored(enum oracle_comparison c)
{
    static const enum oracle_comparison to[] = {
        ORACLE_GREATER,    ORACLE_GREATER_EQUAL, ORACLE_EQUALS, ORACLE_NOT_EQUAL,
        ORACLE_LESS_EQUAL, ORACLE_LESS,          ORACLE_OTHER};
    return to[c];
}

/* No value at all: what is compared with NULL, say. */
static struct oracle_node *nothing(struct oracle_program *p, const struct oracle_expr *a)
{
    return a->kind == ORACLE_EXPR_VARIABLE ? cleave__oracle_set(p, a->variable, NULL, 0)
                                           : cleave__oracle_truth(p, false);
}

static struct oracle_node *below(struct oracle_program *p, uint32_t variable,
                                 struct cleave_value value, bool open)
{
    return cleave__oracle_range(
        p, variable,
        &(struct cleave_range){
            .high = value,
            .flags = (uint8_t)(CLEAVE_LOW_UNBOUNDED | (open ? CLEAVE_HIGH_OPEN : 0))});
}

static struct oracle_node *above(struct oracle_program *p, uint32_t variable,
                                 struct cleave_value value, bool open)
{
    return cleave__oracle_range(
        p, variable,
        &(struct cleave_range){
            .low = value,
            .flags = (uint8_t)(CLEAVE_HIGH_UNBOUNDED | (open ? CLEAVE_LOW_OPEN : 0))});
}

/* An integer column and a number that no integer equals. */
static struct oracle_node *compare_fraction(struct oracle_program *p, uint32_t variable,
                                            enum oracle_comparison c,
                                            const struct cleave_value *number)
{
    struct cleave_value at = {.kind = CLEAVE_INTEGER};
    int past = cleave__oracle_floor(number, &at.integer);
    bool is_less = c == ORACLE_LESS || c == ORACLE_LESS_EQUAL;
    if (c == ORACLE_EQUALS)
        return cleave__oracle_set(p, variable, NULL, 0);
    if (c == ORACLE_NOT_EQUAL || (past && is_less == (past > 0)))
        return cleave__oracle_null(p, variable, false);
    if (past)
        return cleave__oracle_set(p, variable, NULL, 0);
    return is_less ? below(p, variable, at, false) : above(p, variable, at, true);
}

/* A boolean column is one of two values, so that what is below or above one is a value too. */
static struct oracle_node *compare_boolean(struct oracle_program *p, uint32_t variable,
                                           enum oracle_comparison c, int64_t than)
{
    struct cleave_value *values = cleave__arena_array(p->arena, 2, sizeof *values);
    uint32_t count = 0;
    if (!values) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return anything(p);
    }
    for (int64_t i = 0; i < 2; i++) {
        if (c == ORACLE_NOT_EQUAL       ? i != than
            : c == ORACLE_LESS          ? i < than
            : c == ORACLE_LESS_EQUAL    ? i <= than
            : c == ORACLE_GREATER       ? i > than
            : c == ORACLE_GREATER_EQUAL ? i >= than
                                        : true)
            values[count++] = (struct cleave_value){.kind = CLEAVE_INTEGER, .integer = i};
    }
    return cleave__oracle_set(p, variable, values, count);
}

/* variable <c> value, which is of the variable's sort. */
static struct oracle_node *compare_value(struct oracle_program *p, uint32_t variable,
                                         enum oracle_comparison c, struct cleave_value value)
{
    enum oracle_sort sort = p->variables.data[variable].sort;
    bool equality = c == ORACLE_EQUALS || c == ORACLE_NOT_EQUAL;
    if (sort == ORACLE_SORT_OPAQUE || (sort == ORACLE_SORT_LABEL && !equality))
        return anything(p);
    if (sort == ORACLE_SORT_INTEGER && value.kind == CLEAVE_NUMBER)
        return compare_fraction(p, variable, c, &value);
    if (cleave__oracle_sort_is_integer(sort) && value.kind != CLEAVE_INTEGER)
        return anything(p);
    if (sort == ORACLE_SORT_REAL) { /* 0.1 as a real is above 0.1: bounds are taken in */
        if (c == ORACLE_NOT_EQUAL)
            return anything(p);
        c = c == ORACLE_LESS ? ORACLE_LESS_EQUAL : c == ORACLE_GREATER ? ORACLE_GREATER_EQUAL : c;
    }
    if (sort == ORACLE_SORT_BOOLEAN && c != ORACLE_EQUALS && c != ORACLE_OTHER)
        return compare_boolean(p, variable, c, value.integer);
    switch (c) {
    case ORACLE_EQUALS:
        return cleave__oracle_range(p, variable,
                                    &(struct cleave_range){.low = value, .high = value});
    case ORACLE_NOT_EQUAL:
        return cleave__oracle_join(p, ORACLE_OR, below(p, variable, value, true),
                                   above(p, variable, value, true));
    case ORACLE_LESS:
    case ORACLE_LESS_EQUAL:
        return below(p, variable, value, c == ORACLE_LESS);
    case ORACLE_GREATER:
    case ORACLE_GREATER_EQUAL:
        return above(p, variable, value, c == ORACLE_GREATER);
    case ORACLE_OTHER:
        break;
    }
    return anything(p);
}

/* Do equal values of the two have one form? Numbers do, and texts of one type. */
static bool comparable(const struct oracle_program *p, uint32_t a, uint32_t b)
{
    const struct oracle_variable *x = &p->variables.data[a], *y = &p->variables.data[b];
    bool exact_x = x->sort == ORACLE_SORT_INTEGER || x->sort == ORACLE_SORT_NUMERIC;
    bool exact_y = y->sort == ORACLE_SORT_INTEGER || y->sort == ORACLE_SORT_NUMERIC;
    if (exact_x && exact_y)
        return true;
    if (x->sort == ORACLE_SORT_ANY || y->sort == ORACLE_SORT_ANY)
        return x->sort != ORACLE_SORT_OPAQUE && y->sort != ORACLE_SORT_OPAQUE;
    if (x->sort == ORACLE_SORT_LABEL)
        return y->sort == ORACLE_SORT_LABEL && x->type_name && y->type_name &&
               !strcmp(x->type_name, y->type_name);
    return x->sort == y->sort && x->sort != ORACLE_SORT_OPAQUE;
}

/* Two constants. */
static struct oracle_node *compare_constants(struct oracle_program *p, enum oracle_comparison c,
                                             const struct oracle_expr *a,
                                             const struct oracle_expr *b)
{
    struct cleave_value x, y;
    enum oracle_sort sort;
    const char *type_name = NULL;
    if (!cleave__oracle_is_constant(a) || !cleave__oracle_is_constant(b))
        return anything(p);
    const struct oracle_expr *typed = a->kind == ORACLE_EXPR_TYPED ? a : b;
    if (typed->kind == ORACLE_EXPR_TYPED) {
        sort = typed->sort;
        type_name = typed->type_name;
    } else if (a->kind == ORACLE_EXPR_NUMBER || b->kind == ORACLE_EXPR_NUMBER) {
        sort = ORACLE_SORT_NUMERIC;
    } else {
        sort = ORACLE_SORT_STRING;
    }
    if (sort == ORACLE_SORT_INTEGER)
        sort = ORACLE_SORT_NUMERIC;
    bool equality = c == ORACLE_EQUALS || c == ORACLE_NOT_EQUAL;
    if (sort == ORACLE_SORT_REAL || sort == ORACLE_SORT_DOUBLE || a->parameter || b->parameter ||
        (sort == ORACLE_SORT_LABEL && !equality) ||
        !cleave__oracle_convert(p, a, sort, type_name, &x) ||
        !cleave__oracle_convert(p, b, sort, type_name, &y))
        return anything(p);
    int order = cleave__value_compare(&x, &y);
    bool truth = c == ORACLE_LESS            ? order < 0
                 : c == ORACLE_LESS_EQUAL    ? order <= 0
                 : c == ORACLE_EQUALS        ? order == 0
                 : c == ORACLE_NOT_EQUAL     ? order != 0
                 : c == ORACLE_GREATER_EQUAL ? order >= 0
                                             : order > 0;
    return cleave__oracle_truth(p, truth);
}

/* What is asked of a column that has no type yet. */
struct question {
    enum { COMPARE, DISTINCT, IN } kind;
    enum oracle_comparison comparison;
    bool flag; /* same, negated */
    struct oracle_expr a;
    struct oracle_expr *items;
    uint32_t count;
};

static struct oracle_node *answer(struct oracle_program *p, void *context)
{
    const struct question *q = context;
    switch (q->kind) {
    case COMPARE:
        return cleave__oracle_compare(p, q->comparison, &q->a, &q->items[0]);
    case DISTINCT:
        return cleave__oracle_distinct(p, &q->a, &q->items[0], q->flag);
    case IN:
        return cleave__oracle_in(p, &q->a, q->items, q->count, q->flag);
    }
    return anything(p);
}

static struct oracle_node *ask_later(struct oracle_program *p, struct question question,
                                     const struct oracle_expr *items, uint32_t count)
{
    struct question *kept = cleave__arena_alloc(p->arena, sizeof *kept);
    struct oracle_expr *copy = cleave__arena_array(p->arena, count, sizeof *copy);
    if (!kept || !copy) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return anything(p);
    }
    if (count)
        memcpy(copy, items, count * sizeof *copy);
    *kept = question;
    kept->items = copy;
    kept->count = count;
    return cleave__oracle_late(p, question.a.variable, answer, kept);
}

static bool is_late(const struct oracle_program *p, const struct oracle_expr *a)
{
    return a->kind == ORACLE_EXPR_VARIABLE &&
           p->variables.data[a->variable].sort == ORACLE_SORT_ANY;
}

struct oracle_node *cleave__oracle_compare(struct oracle_program *p, enum oracle_comparison c,
                                           const struct oracle_expr *a, const struct oracle_expr *b)
{
    struct cleave_value value;
    if (c == ORACLE_OTHER || a->kind == ORACLE_EXPR_UNKNOWN || b->kind == ORACLE_EXPR_UNKNOWN)
        return anything(p);
    if (a->kind == ORACLE_EXPR_NULL || b->kind == ORACLE_EXPR_NULL)
        return nothing(p, a->kind == ORACLE_EXPR_NULL ? b : a);
    if (a->kind != ORACLE_EXPR_VARIABLE) {
        const struct oracle_expr *swap = a;
        a = b;
        b = swap;
        c = mirrored(c);
    }
    if (a->kind != ORACLE_EXPR_VARIABLE)
        return compare_constants(p, c, a, b);
    if (b->kind == ORACLE_EXPR_VARIABLE) {
        if (c == ORACLE_EQUALS && comparable(p, a->variable, b->variable))
            return cleave__oracle_equal(p, ORACLE_EQUAL, a->variable, b->variable);
        return cleave__oracle_strict(p, a->variable, b->variable);
    }
    if (is_late(p, a))
        return ask_later(p, (struct question){.kind = COMPARE, .comparison = c, .a = *a}, b, 1);
    const struct oracle_variable *v = &p->variables.data[a->variable];
    if (!cleave__oracle_convert(p, b, v->sort, v->type_name, &value))
        return anything(p);
    return compare_value(p, a->variable, c, value);
}

struct oracle_node *cleave__oracle_distinct(struct oracle_program *p, const struct oracle_expr *a,
                                            const struct oracle_expr *b, bool same)
{
    struct cleave_value value;
    if (a->kind != ORACLE_EXPR_VARIABLE) {
        const struct oracle_expr *swap = a;
        a = b;
        b = swap;
    }
    if (a->kind != ORACLE_EXPR_VARIABLE || b->kind == ORACLE_EXPR_UNKNOWN)
        return anything(p);
    if (b->kind == ORACLE_EXPR_NULL)
        return cleave__oracle_null(p, a->variable, same);
    if (b->kind == ORACLE_EXPR_VARIABLE)
        return same && comparable(p, a->variable, b->variable)
                   ? cleave__oracle_equal(p, ORACLE_SAME, a->variable, b->variable)
                   : anything(p);
    if (is_late(p, a))
        return ask_later(p, (struct question){.kind = DISTINCT, .flag = same, .a = *a}, b, 1);
    const struct oracle_variable *v = &p->variables.data[a->variable];
    if (!cleave__oracle_convert(p, b, v->sort, v->type_name, &value))
        return anything(p);
    struct oracle_node *node =
        compare_value(p, a->variable, same ? ORACLE_EQUALS : ORACLE_NOT_EQUAL, value);
    if (same && node->op == ORACLE_RANGE)
        node->lax = true;
    if (same || node->op == ORACLE_TRUE)
        return node;
    return cleave__oracle_join(p, ORACLE_OR, node, cleave__oracle_null(p, a->variable, true));
}

/* a IN (constants) as one set; NULL when some element is not surely known. */
static struct oracle_node *set_of(struct oracle_program *p, const struct oracle_expr *a,
                                  const struct oracle_expr *items, uint32_t count)
{
    const struct oracle_variable *v = &p->variables.data[a->variable];
    struct cleave_value *values = cleave__arena_array(p->arena, count, sizeof *values);
    uint32_t kept = 0;
    if (!values) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return anything(p);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].kind == ORACLE_EXPR_NULL)
            continue;
        if (!cleave__oracle_convert(p, &items[i], v->sort, v->type_name, &values[kept]))
            return NULL;
        bool fraction =
            cleave__oracle_sort_is_integer(v->sort) && values[kept].kind != CLEAVE_INTEGER;
        kept += !fraction; /* no integer equals it */
    }
    return cleave__oracle_set(p, a->variable, values, kept);
}

struct oracle_node *cleave__oracle_in(struct oracle_program *p, const struct oracle_expr *a,
                                      const struct oracle_expr *items, uint32_t count, bool negated)
{
    if (is_late(p, a))
        return ask_later(p, (struct question){.kind = IN, .flag = negated, .a = *a}, items, count);
    if (!negated && a->kind == ORACLE_EXPR_VARIABLE) {
        struct oracle_node *set = set_of(p, a, items, count);
        if (set)
            return set;
    }
    struct oracle_list parts = {0};
    for (uint32_t i = 0; i < count && p->status == CLEAVE_OK; i++) {
        struct oracle_node *one =
            cleave__oracle_compare(p, negated ? ORACLE_NOT_EQUAL : ORACLE_EQUALS, a, &items[i]);
        if (!CLEAVE_PUSH(&parts.items, one))
            cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
    }
    struct oracle_node *node = cleave__oracle_many(p, negated ? ORACLE_AND : ORACLE_OR,
                                                   parts.items.data, parts.items.count);
    CLEAVE_VECTOR_FREE(&parts.items);
    return node;
}

/* The least text above all that start with these bytes, in place; its length, or 0. Whole UTF-8
 * characters are raised, so that the bound is text as well; the bytes' order is the same. A byte
 * that ends no UTF-8 text is a character by itself. */
static size_t raise(char *text, size_t length)
{
    bool whole = true; /* no part of a character is cut off */
    while (length > 0) {
        unsigned char last = (unsigned char)text[length - 1];
        if (last < 0x7f || (last >= 0x80 && last < 0xbf) || (last >= 0xc2 && last < 0xf4) ||
            (whole && last >= 0xc0 && last < 0xff)) {
            text[length - 1] = (char)(last + 1);
            return length;
        }
        whole = whole && last == 0xff;
        length--;
    }
    return 0;
}

struct oracle_node *cleave__oracle_like(struct oracle_program *p, const struct oracle_expr *a,
                                        const struct oracle_expr *pattern,
                                        const struct oracle_expr *escape)
{
    if (a->kind != ORACLE_EXPR_VARIABLE)
        return anything(p);
    struct oracle_node *there = cleave__oracle_null(p, a->variable, false);
    struct oracle_node *strict = cleave__oracle_strict(p, a->variable, ORACLE_NONE);
    enum oracle_sort sort = p->variables.data[a->variable].sort;
    char mark = '\\';
    bool marks = true, wild = false;
    if (pattern->kind == ORACLE_EXPR_NULL)
        return nothing(p, a);
    if (escape) {
        if (escape->kind != ORACLE_EXPR_LITERAL || escape->value.length > 1)
            return strict;
        marks = escape->value.length == 1;
        mark = marks ? escape->value.text[0] : 0;
    }
    if ((sort != ORACLE_SORT_STRING && sort != ORACLE_SORT_CHAR) ||
        !(pattern->kind == ORACLE_EXPR_LITERAL ||
          (pattern->kind == ORACLE_EXPR_TYPED && pattern->sort == ORACLE_SORT_STRING)))
        return strict;
    const struct cleave_value *text = &pattern->value;
    char *prefix = cleave__arena_alloc(p->arena, (size_t)text->length + 1);
    size_t length = 0;
    if (!prefix) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return there;
    }
    for (uint32_t i = 0; i < text->length && !wild; i++) {
        char c = text->text[i];
        if (marks && c == mark) {
            if (++i == text->length)
                return strict; /* an error when run */
            prefix[length++] = text->text[i];
        } else if (c == '%' || c == '_') {
            wild = true;
        } else {
            prefix[length++] = c;
        }
    }
    if (sort == ORACLE_SORT_CHAR) { /* compared with its blanks, kept without */
        while (length > 0 && prefix[length - 1] == ' ')
            length--;
        wild = true;
    }
    struct cleave_value low = {.kind = CLEAVE_TEXT, .length = (uint32_t)length, .text = prefix};
    struct cleave_range range = {.low = low, .high = low};
    if (wild && length == 0)
        return there;
    if (wild) {
        char *high = cleave__arena_copy(p->arena, prefix, length);
        if (!high) {
            cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
            return there;
        }
        range.high.text = high;
        range.high.length = (uint32_t)raise(high, length);
        range.flags = range.high.length ? CLEAVE_HIGH_OPEN : CLEAVE_HIGH_UNBOUNDED;
    }
    return cleave__oracle_range(p, a->variable, &range);
}

struct oracle_node *cleave__oracle_bind(struct oracle_program *p, uint32_t variable,
                                        const struct oracle_expr *expr)
{
    struct oracle_expr self = {.kind = ORACLE_EXPR_VARIABLE, .variable = variable};
    return variable == ORACLE_NONE ? anything(p)
                                   : cleave__oracle_compare(p, ORACLE_EQUALS, &self, expr);
}

struct oracle_node *cleave__oracle_holds(struct oracle_program *p, uint32_t variable,
                                         const struct oracle_expr *expr)
{
    struct cleave_value value;
    if (variable == ORACLE_NONE)
        return anything(p);
    if (expr->kind == ORACLE_EXPR_NULL)
        return cleave__oracle_null(p, variable, true);
    if (expr->kind == ORACLE_EXPR_VARIABLE)
        return comparable(p, variable, expr->variable)
                   ? cleave__oracle_equal(p, ORACLE_SAME, variable, expr->variable)
                   : anything(p);
    const struct oracle_variable *v = &p->variables.data[variable];
    if (!cleave__oracle_is_constant(expr) ||
        !cleave__oracle_store(p, expr, v->sort, v->type_name, &value))
        return anything(p);
    return cleave__oracle_range(p, variable, &(struct cleave_range){.low = value, .high = value});
}
