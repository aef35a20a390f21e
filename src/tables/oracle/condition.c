/* WHERE, ON and the like -> condition nodes. Whatever is not understood becomes TRUE, both as it
 * stands and under NOT, so that no row that might count is lost. */
#include "tables/oracle/compile.h"

#include <string.h>

static struct oracle_node *anything(struct oracle_program *p)
{
    return cleave__oracle_truth(p, true);
}

/* Operators by their number; NOT maps each to its complement. */
enum comparison { LESS, LESS_EQUAL, EQUAL, NOT_EQUAL, GREATER_EQUAL, GREATER, OTHER };

static enum comparison comparison_of(const char *name)
{
    static const char *const names[] = {"<", "<=", "=", "<>", ">=", ">"};
    for (int i = 0; i < OTHER; i++) {
        if (!strcmp(name, names[i]))
            return (enum comparison)i;
    }
    return OTHER;
}

static enum comparison complement(enum comparison c)
{
    static const enum comparison to[] = {GREATER_EQUAL, GREATER,    NOT_EQUAL, EQUAL,
                                         LESS,          LESS_EQUAL, OTHER};
    return to[c];
}

static enum comparison mirrored(enum comparison c)
{
    static const enum comparison to[] = {GREATER,    GREATER_EQUAL, EQUAL, NOT_EQUAL,
                                         LESS_EQUAL, LESS,          OTHER};
    return to[c];
}

/* variable <c> value */
static struct oracle_node *compare_value(struct oracle_program *p, uint32_t variable,
                                         enum comparison c, const struct cleave_value *value)
{
    struct cleave_range range = {.low = *value, .high = *value};
    struct cleave_range other = range;
    switch (c) {
    case LESS:
        range.flags = CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_OPEN;
        break;
    case LESS_EQUAL:
        range.flags = CLEAVE_LOW_UNBOUNDED;
        break;
    case EQUAL:
        break;
    case GREATER_EQUAL:
        range.flags = CLEAVE_HIGH_UNBOUNDED;
        break;
    case GREATER:
        range.flags = CLEAVE_HIGH_UNBOUNDED | CLEAVE_LOW_OPEN;
        break;
    case NOT_EQUAL:
        range.flags = CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_OPEN;
        other.flags = CLEAVE_HIGH_UNBOUNDED | CLEAVE_LOW_OPEN;
        return cleave__oracle_join(p, ORACLE_OR, cleave__oracle_range(p, variable, &range),
                                   cleave__oracle_range(p, variable, &other));
    case OTHER:
        return anything(p);
    }
    return cleave__oracle_range(p, variable, &range);
}

static struct oracle_node *compare(struct oracle_program *p, enum comparison c,
                                   const struct oracle_expr *a, const struct oracle_expr *b)
{
    struct cleave_value value;
    if (c == OTHER)
        return anything(p);
    if (a->kind == ORACLE_EXPR_NULL || b->kind == ORACLE_EXPR_NULL)
        return cleave__oracle_truth(p, false);
    if (a->kind != ORACLE_EXPR_VARIABLE) {
        const struct oracle_expr *swap = a;
        a = b;
        b = swap;
        c = mirrored(c);
    }
    if (a->kind != ORACLE_EXPR_VARIABLE)
        return anything(p);
    if (b->kind == ORACLE_EXPR_VARIABLE)
        return c == EQUAL ? cleave__oracle_equal(p, ORACLE_EQUAL, a->variable, b->variable)
                          : anything(p);
    if (!cleave__oracle_value(p, b, p->variables.data[a->variable].type, &value))
        return anything(p);
    return compare_value(p, a->variable, c, &value);
}

static const json_t *row_items(const json_t *node)
{
    return json_object_get(cleave__oracle_is(node, "RowExpr"), "args");
}

/* a <c> b for expressions or rows of them. Rows compare from the left, as SQL says. */
static struct oracle_node *compare_nodes(struct oracle_program *p, struct oracle_scope *scope,
                                         enum comparison c, const json_t *a, const json_t *b)
{
    const json_t *rows_a = row_items(a), *rows_b = row_items(b);
    if (!rows_a && !rows_b) {
        struct oracle_expr x = cleave__oracle_expr(p, scope, a);
        struct oracle_expr y = cleave__oracle_expr(p, scope, b);
        return compare(p, c, &x, &y);
    }
    size_t count = json_array_size(rows_a);
    if (!rows_a || !rows_b || count != json_array_size(rows_b) || count == 0 || c == OTHER)
        return anything(p);
    enum comparison strict = c == LESS_EQUAL ? LESS : c == GREATER_EQUAL ? GREATER : c;
    struct oracle_node *rest = NULL;
    for (size_t i = count; i-- > 0;) {
        struct oracle_expr x = cleave__oracle_expr(p, scope, json_array_get(rows_a, i));
        struct oracle_expr y = cleave__oracle_expr(p, scope, json_array_get(rows_b, i));
        if (!rest) {
            rest = compare(p, c, &x, &y);
        } else if (c == EQUAL) {
            rest = cleave__oracle_join(p, ORACLE_AND, compare(p, c, &x, &y), rest);
        } else if (c == NOT_EQUAL) {
            rest = cleave__oracle_join(p, ORACLE_OR, compare(p, c, &x, &y), rest);
        } else {
            struct oracle_node *tie =
                cleave__oracle_join(p, ORACLE_AND, compare(p, EQUAL, &x, &y), rest);
            rest = cleave__oracle_join(p, ORACLE_OR, compare(p, strict, &x, &y), tie);
        }
    }
    return rest;
}

/* a [NOT] IN (items). */
static struct oracle_node *in_list(struct oracle_program *p, struct oracle_scope *scope,
                                   const json_t *a, const json_t *items, bool negated)
{
    size_t count = json_array_size(items);
    if (count == 0)
        return anything(p);
    struct oracle_expr x = cleave__oracle_expr(p, scope, a);
    if (!negated && x.kind == ORACLE_EXPR_VARIABLE) { /* all constants: one set */
        struct cleave_value *values = cleave__arena_array(p->arena, count, sizeof *values);
        uint32_t kept = 0;
        size_t i = 0;
        if (!values) {
            cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
            return anything(p);
        }
        for (; i < count; i++) {
            struct oracle_expr y = cleave__oracle_expr(p, scope, json_array_get(items, i));
            if (y.kind == ORACLE_EXPR_NULL)
                continue;
            if (!cleave__oracle_value(p, &y, p->variables.data[x.variable].type, &values[kept]))
                break;
            kept++;
        }
        if (i == count)
            return cleave__oracle_set(p, x.variable, values, kept);
    }
    struct oracle_list parts = {0};
    for (size_t i = 0; i < count && p->status == CLEAVE_OK; i++) {
        struct oracle_node *one =
            compare_nodes(p, scope, negated ? NOT_EQUAL : EQUAL, a, json_array_get(items, i));
        if (!CLEAVE_PUSH(&parts.items, one))
            cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
    }
    struct oracle_node *node = cleave__oracle_many(p, negated ? ORACLE_AND : ORACLE_OR,
                                                   parts.items.data, parts.items.count);
    CLEAVE_VECTOR_FREE(&parts.items);
    return node;
}

/* x LIKE pattern: the text before the first wildcard bounds x. */
static struct oracle_node *like(struct oracle_program *p, const struct oracle_expr *x,
                                const struct oracle_expr *pattern, bool negated)
{
    if (x->kind == ORACLE_EXPR_NULL || pattern->kind == ORACLE_EXPR_NULL)
        return cleave__oracle_truth(p, false);
    if (x->kind != ORACLE_EXPR_VARIABLE || pattern->kind != ORACLE_EXPR_CONSTANT)
        return anything(p);
    enum cleave_type type = p->variables.data[x->variable].type;
    if (type != CLEAVE_TYPE_TEXT && type != CLEAVE_TYPE_CHAR)
        return anything(p);
    char *prefix = cleave__arena_alloc(p->arena, pattern->length + 1);
    if (!prefix) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return anything(p);
    }
    size_t length = 0, i = 0;
    for (; i < pattern->length; i++) {
        char c = pattern->text[i];
        if (c == '%' || c == '_')
            break;
        if (c == '\\') {
            if (++i == pattern->length)
                return anything(p); /* an error when run */
            c = pattern->text[i];
        }
        prefix[length++] = c;
    }
    if (i == pattern->length) {
        struct oracle_expr whole = {.kind = ORACLE_EXPR_CONSTANT, .text = prefix, .length = length};
        return compare(p, negated ? NOT_EQUAL : EQUAL, x, &whole);
    }
    if (negated || length == 0)
        return anything(p);
    struct cleave_range range = {
        .low = {.kind = CLEAVE_TEXT, .length = (uint32_t)length, .text = prefix},
        .flags = CLEAVE_HIGH_OPEN};
    char *above = cleave__arena_copy(p->arena, prefix, length);
    if (!above) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return anything(p);
    }
    while (length > 0 && (unsigned char)above[length - 1] == 0xff)
        length--;
    if (length > 0) {
        above[length - 1] = (char)((unsigned char)above[length - 1] + 1);
        range.high =
            (struct cleave_value){.kind = CLEAVE_TEXT, .length = (uint32_t)length, .text = above};
    } else {
        range.flags = CLEAVE_HIGH_UNBOUNDED;
    }
    return cleave__oracle_range(p, x->variable, &range);
}

static struct oracle_node *either(struct oracle_program *p, bool negated, struct oracle_node *a,
                                  struct oracle_node *b)
{
    return cleave__oracle_join(p, negated ? ORACLE_OR : ORACLE_AND, a, b);
}

static struct oracle_node *between(struct oracle_program *p, struct oracle_scope *scope,
                                   const json_t *x, const json_t *bounds, bool negated,
                                   bool symmetric)
{
    if (json_array_size(bounds) != 2)
        return anything(p);
    const json_t *low = json_array_get(bounds, 0), *high = json_array_get(bounds, 1);
    struct oracle_node *node =
        either(p, negated, compare_nodes(p, scope, negated ? LESS : GREATER_EQUAL, x, low),
               compare_nodes(p, scope, negated ? GREATER : LESS_EQUAL, x, high));
    if (!symmetric)
        return node;
    struct oracle_node *flipped =
        either(p, negated, compare_nodes(p, scope, negated ? LESS : GREATER_EQUAL, x, high),
               compare_nodes(p, scope, negated ? GREATER : LESS_EQUAL, x, low));
    return either(p, !negated, node, flipped);
}

/* x IS [NOT] DISTINCT FROM y; `same` when they are to be alike. */
static struct oracle_node *distinct(struct oracle_program *p, struct oracle_scope *scope,
                                    const json_t *a, const json_t *b, bool same)
{
    struct oracle_expr x = cleave__oracle_expr(p, scope, a);
    struct oracle_expr y = cleave__oracle_expr(p, scope, b);
    if (x.kind != ORACLE_EXPR_VARIABLE) {
        struct oracle_expr swap = x;
        x = y;
        y = swap;
    }
    if (x.kind != ORACLE_EXPR_VARIABLE)
        return anything(p);
    if (y.kind == ORACLE_EXPR_NULL)
        return cleave__oracle_null(p, x.variable, same);
    if (y.kind != ORACLE_EXPR_CONSTANT)
        return anything(p); /* two columns may both be NULL */
    struct oracle_node *node = compare(p, same ? EQUAL : NOT_EQUAL, &x, &y);
    if (same)
        return node;
    return cleave__oracle_join(p, ORACLE_OR, node, cleave__oracle_null(p, x.variable, true));
}

/* x = ANY (ARRAY[...]), x <> ALL (ARRAY[...]), and what NOT makes of them. */
static struct oracle_node *array_test(struct oracle_program *p, struct oracle_scope *scope,
                                      const json_t *body, enum comparison c, bool all, bool negated)
{
    const json_t *array = json_object_get(body, "rexpr");
    const json_t *cast = cleave__oracle_is(array, "TypeCast");
    if (cast)
        array = json_object_get(cast, "arg");
    const json_t *items = json_object_get(cleave__oracle_is(array, "A_ArrayExpr"), "elements");
    if (negated) {
        c = complement(c);
        all = !all;
    }
    if (!items || (c == EQUAL) == all || (c != EQUAL && c != NOT_EQUAL))
        return anything(p);
    return in_list(p, scope, json_object_get(body, "lexpr"), items, c == NOT_EQUAL);
}

static struct oracle_node *operator_node(struct oracle_program *p, struct oracle_scope *scope,
                                         const json_t *body, bool negated)
{
    const char *kind = cleave__oracle_text(body, "kind");
    const char *name = cleave__oracle_last(json_object_get(body, "name"));
    const json_t *a = json_object_get(body, "lexpr"), *b = json_object_get(body, "rexpr");
    enum comparison c = comparison_of(name);

    cleave__oracle_nested(p, scope, a);
    cleave__oracle_nested(p, scope, b);
    if (!a || !b)
        return anything(p);
    if (!strcmp(kind, "AEXPR_OP")) {
        if (!strcmp(name, "~~") || !strcmp(name, "!~~")) {
            struct oracle_expr x = cleave__oracle_expr(p, scope, a);
            struct oracle_expr y = cleave__oracle_expr(p, scope, b);
            return like(p, &x, &y, negated != (name[0] == '!'));
        }
        return compare_nodes(p, scope, negated ? complement(c) : c, a, b);
    }
    if (!strcmp(kind, "AEXPR_IN")) {
        const json_t *items = json_object_get(cleave__oracle_is(b, "List"), "items");
        return in_list(p, scope, a, items, negated != (c == NOT_EQUAL));
    }
    if (!strcmp(kind, "AEXPR_LIKE")) {
        struct oracle_expr x = cleave__oracle_expr(p, scope, a);
        struct oracle_expr y = cleave__oracle_expr(p, scope, b);
        return like(p, &x, &y, negated != (name[0] == '!'));
    }
    if (!strncmp(kind, "AEXPR_BETWEEN", 13) || !strncmp(kind, "AEXPR_NOT_BETWEEN", 17)) {
        const json_t *bounds = json_object_get(cleave__oracle_is(b, "List"), "items");
        return between(p, scope, a, bounds, negated != (strstr(kind, "NOT_") != NULL),
                       strstr(kind, "_SYM") != NULL);
    }
    if (!strcmp(kind, "AEXPR_DISTINCT") || !strcmp(kind, "AEXPR_NOT_DISTINCT"))
        return distinct(p, scope, a, b, negated != (kind[6] == 'N'));
    if (!strcmp(kind, "AEXPR_OP_ANY") || !strcmp(kind, "AEXPR_OP_ALL"))
        return array_test(p, scope, body, c, kind[11] == 'L', negated);
    return anything(p);
}

/* x IS [NOT] TRUE, FALSE or UNKNOWN, for a boolean column. */
static struct oracle_node *boolean_test(struct oracle_program *p, struct oracle_scope *scope,
                                        const json_t *body, bool negated)
{
    const char *kind = cleave__oracle_text(body, "booltesttype");
    struct oracle_expr x = cleave__oracle_expr(p, scope, json_object_get(body, "arg"));
    cleave__oracle_nested(p, scope, json_object_get(body, "arg"));
    if (x.kind != ORACLE_EXPR_VARIABLE || p->variables.data[x.variable].type != CLEAVE_TYPE_BOOLEAN)
        return anything(p);
    bool is_not = !strncmp(kind, "IS_NOT_", 7);
    const char *what = kind + (is_not ? 7 : 3);
    if (is_not)
        negated = !negated;
    if (!strcmp(what, "UNKNOWN"))
        return cleave__oracle_null(p, x.variable, !negated);
    struct cleave_value value = {.kind = CLEAVE_INTEGER, .integer = !strcmp(what, "TRUE")};
    if (!negated)
        return compare_value(p, x.variable, EQUAL, &value);
    value.integer = !value.integer;
    return cleave__oracle_join(p, ORACLE_OR, compare_value(p, x.variable, EQUAL, &value),
                               cleave__oracle_null(p, x.variable, true));
}

static struct oracle_node *null_test(struct oracle_program *p, struct oracle_scope *scope,
                                     const json_t *body, bool negated)
{
    const json_t *arg = json_object_get(body, "arg");
    bool is_null = !strcmp(cleave__oracle_text(body, "nulltesttype"), "IS_NULL");
    struct oracle_expr x = cleave__oracle_expr(p, scope, arg);
    cleave__oracle_nested(p, scope, arg);
    if (x.kind == ORACLE_EXPR_VARIABLE)
        return cleave__oracle_null(p, x.variable, is_null != negated);
    return anything(p);
}

/* EXISTS (query), x IN (query), (x, y) IN (query); other nested queries say nothing. */
static struct oracle_node *sublink(struct oracle_program *p, struct oracle_scope *scope,
                                   const json_t *body, bool negated)
{
    const char *kind = cleave__oracle_text(body, "subLinkType");
    const json_t *query = json_object_get(body, "subselect");
    const json_t *test = json_object_get(body, "testexpr");
    const json_t *names = json_object_get(body, "operName");
    bool any = !strcmp(kind, "ANY_SUBLINK") && (!names || !strcmp(cleave__oracle_last(names), "="));
    bool exists = !strcmp(kind, "EXISTS_SUBLINK");
    const json_t *select = cleave__oracle_is(query, "SelectStmt");

    cleave__oracle_nested(p, scope, test);
    if (!select || !cleave__oracle_enter(p))
        return anything(p);
    uint32_t side = p->side;
    p->side = ORACLE_NONE;
    uint32_t block = cleave__oracle_block(p, scope->block, false);
    struct oracle_outputs outputs = {0};
    if (block != ORACLE_NONE)
        cleave__oracle_select(p, select, scope, block, &outputs);
    p->side = side;
    cleave__oracle_leave(p);
    struct oracle_node *node = NULL;
    if (!negated && (any || exists) && block != ORACLE_NONE)
        node = cleave__oracle_node(p, ORACLE_CHOICE);
    if (!node)
        return anything(p);
    node->blocks = cleave__arena_alloc(p->arena, sizeof *node->blocks);
    if (!node->blocks) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return anything(p);
    }
    node->blocks[0] = block;
    node->count = 1;
    if (!any)
        return node;
    struct oracle_node *link = anything(p);
    const json_t *row = row_items(test);
    size_t width = row ? json_array_size(row) : 1;
    if (width != outputs.count)
        return node;
    for (size_t i = 0; i < width; i++) {
        struct oracle_expr x = cleave__oracle_expr(p, scope, row ? json_array_get(row, i) : test);
        link =
            cleave__oracle_join(p, ORACLE_AND, link, compare(p, EQUAL, &x, &outputs.items[i].expr));
    }
    if (cleave__oracle_select_barrier(select)) {
        node->link = link->op == ORACLE_TRUE ? NULL : link;
    } else {
        struct oracle_block *b = &p->blocks.data[block];
        b->where = cleave__oracle_join(p, ORACLE_AND, b->where ? b->where : anything(p), link);
    }
    return node;
}

void cleave__oracle_nested(struct oracle_program *p, struct oracle_scope *scope, const json_t *node)
{
    const char *key;
    json_t *value;
    size_t i;
    if (p->status != CLEAVE_OK)
        return;
    if (json_is_object(node)) {
        const json_t *body = cleave__oracle_is(node, "SubLink");
        if (body) {
            (void)sublink(p, scope, body, true);
            return;
        }
        json_object_foreach((json_t *)node, key, value)
        {
            if (!json_is_string(value))
                cleave__oracle_nested(p, scope, value);
        }
    } else if (json_is_array(node)) {
        json_array_foreach(node, i, value) cleave__oracle_nested(p, scope, value);
    }
}

static struct oracle_node *junction(struct oracle_program *p, struct oracle_scope *scope,
                                    const json_t *args, bool conjunction, bool negated)
{
    struct oracle_list parts = {0};
    const json_t *arg;
    size_t i;
    json_array_foreach(args, i, arg)
    {
        if (!CLEAVE_PUSH(&parts.items, cleave__oracle_condition(p, scope, arg, negated)))
            cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
    }
    struct oracle_node *node = cleave__oracle_many(
        p, conjunction != negated ? ORACLE_AND : ORACLE_OR, parts.items.data, parts.items.count);
    CLEAVE_VECTOR_FREE(&parts.items);
    return node;
}

/* A boolean column, or a boolean constant, on its own. */
static struct oracle_node *bare(struct oracle_program *p, struct oracle_scope *scope,
                                const json_t *node, bool negated)
{
    struct oracle_expr x = cleave__oracle_expr(p, scope, node);
    if (x.kind == ORACLE_EXPR_NULL)
        return cleave__oracle_truth(p, false);
    struct cleave_value value;
    if (x.kind == ORACLE_EXPR_CONSTANT && cleave__oracle_value(p, &x, CLEAVE_TYPE_BOOLEAN, &value))
        return cleave__oracle_truth(p, (value.integer != 0) != negated);
    if (x.kind == ORACLE_EXPR_VARIABLE &&
        p->variables.data[x.variable].type == CLEAVE_TYPE_BOOLEAN) {
        value = (struct cleave_value){.kind = CLEAVE_INTEGER, .integer = !negated};
        return compare_value(p, x.variable, EQUAL, &value);
    }
    return anything(p);
}

struct oracle_node *cleave__oracle_condition(struct oracle_program *p, struct oracle_scope *scope,
                                             const json_t *node, bool negated)
{
    const json_t *body;
    struct oracle_node *result = anything(p);
    if (!json_is_object(node) || !cleave__oracle_enter(p))
        return result;
    if ((body = cleave__oracle_is(node, "BoolExpr"))) {
        const char *op = cleave__oracle_text(body, "boolop");
        const json_t *args = json_object_get(body, "args");
        if (!strcmp(op, "NOT_EXPR"))
            result = cleave__oracle_condition(p, scope, json_array_get(args, 0), !negated);
        else
            result = junction(p, scope, args, !strcmp(op, "AND_EXPR"), negated);
    } else if ((body = cleave__oracle_is(node, "A_Expr"))) {
        result = operator_node(p, scope, body, negated);
    } else if ((body = cleave__oracle_is(node, "NullTest"))) {
        result = null_test(p, scope, body, negated);
    } else if ((body = cleave__oracle_is(node, "BooleanTest"))) {
        result = boolean_test(p, scope, body, negated);
    } else if ((body = cleave__oracle_is(node, "SubLink"))) {
        result = sublink(p, scope, body, negated);
    } else {
        cleave__oracle_nested(p, scope, node);
        result = bare(p, scope, node, negated);
    }
    cleave__oracle_leave(p);
    return result;
}
