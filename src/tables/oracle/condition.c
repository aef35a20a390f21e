/* WHERE, ON and the like -> condition nodes. Whatever is not understood becomes TRUE, both as it
 * stands and under NOT, so that no row that might count is lost. */
#include "tables/oracle/compile.h"

#include <string.h>

static struct oracle_node *anything(struct oracle_program *p)
{
    return cleave__oracle_truth(p, true);
}

enum { ROW_MAX = 64, ORDERED_ROW_MAX = 8 };

/* How a condition stands: under NOT; and whether the whole can hold only if it does, so that a
 * nested query's conditions are those of the query around it. */
struct standing {
    bool negated, positive;
};

static const json_t *row_items(const json_t *node)
{
    return json_object_get(cleave__oracle_is(node, "RowExpr"), "args");
}

/* a <c> b for expressions or rows of them. Rows compare from the left, as SQL says. */
static struct oracle_node *compare_nodes(struct oracle_program *p, struct oracle_scope *scope,
                                         enum oracle_comparison c, const json_t *a, const json_t *b)
{
    const json_t *rows_a = row_items(a), *rows_b = row_items(b);
    size_t count = json_array_size(rows_a);
    if (!rows_a && !rows_b) {
        struct oracle_expr x = cleave__oracle_expr(p, scope, a);
        struct oracle_expr y = cleave__oracle_expr(p, scope, b);
        return cleave__oracle_compare(p, c, &x, &y);
    }
    bool equality = c == ORACLE_EQUALS || c == ORACLE_NOT_EQUAL;
    if (!rows_a || !rows_b || count != json_array_size(rows_b) || count == 0 || count > ROW_MAX ||
        c == ORACLE_OTHER)
        return anything(p);
    enum oracle_comparison strict = c == ORACLE_LESS_EQUAL      ? ORACLE_LESS
                                    : c == ORACLE_GREATER_EQUAL ? ORACLE_GREATER
                                                                : c;
    if (!equality && count > ORDERED_ROW_MAX) { /* what the first columns say */
        struct oracle_expr x = cleave__oracle_expr(p, scope, json_array_get(rows_a, 0));
        struct oracle_expr y = cleave__oracle_expr(p, scope, json_array_get(rows_b, 0));
        return cleave__oracle_compare(
            p, strict == ORACLE_LESS ? ORACLE_LESS_EQUAL : ORACLE_GREATER_EQUAL, &x, &y);
    }
    struct oracle_node *rest = NULL;
    for (size_t i = count; i-- > 0;) {
        struct oracle_expr x = cleave__oracle_expr(p, scope, json_array_get(rows_a, i));
        struct oracle_expr y = cleave__oracle_expr(p, scope, json_array_get(rows_b, i));
        if (!rest) {
            rest = cleave__oracle_compare(p, c, &x, &y);
        } else if (equality) {
            rest = cleave__oracle_join(p, c == ORACLE_EQUALS ? ORACLE_AND : ORACLE_OR,
                                       cleave__oracle_compare(p, c, &x, &y), rest);
        } else {
            struct oracle_node *tie = cleave__oracle_compare(p, ORACLE_EQUALS, &x, &y);
            rest = cleave__oracle_join(p, ORACLE_OR, cleave__oracle_compare(p, strict, &x, &y),
                                       cleave__oracle_join(p, ORACLE_AND, tie, rest));
        }
    }
    return rest;
}

/* a [NOT] IN (items). */
static struct oracle_node *in_list(struct oracle_program *p, struct oracle_scope *scope,
                                   const json_t *a, const json_t *items, bool negated)
{
    size_t count = json_array_size(items);
    struct oracle_list parts = {0};
    if (!row_items(a)) {
        struct oracle_expr x = cleave__oracle_expr(p, scope, a);
        struct oracle_expr *list = cleave__arena_array(p->arena, count, sizeof *list);
        if (!list || count > UINT32_MAX) {
            cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
            return anything(p);
        }
        for (size_t i = 0; i < count; i++)
            list[i] = cleave__oracle_expr(p, scope, json_array_get(items, i));
        return cleave__oracle_in(p, &x, list, (uint32_t)count, negated);
    }
    for (size_t i = 0; i < count && p->status == CLEAVE_OK; i++) {
        struct oracle_node *one = compare_nodes(
            p, scope, negated ? ORACLE_NOT_EQUAL : ORACLE_EQUALS, a, json_array_get(items, i));
        if (!CLEAVE_PUSH(&parts.items, one))
            cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
    }
    struct oracle_node *node = cleave__oracle_many(p, negated ? ORACLE_AND : ORACLE_OR,
                                                   parts.items.data, parts.items.count);
    CLEAVE_VECTOR_FREE(&parts.items);
    return node;
}

static struct oracle_node *like(struct oracle_program *p, struct oracle_scope *scope,
                                const json_t *a, const json_t *pattern, bool negated)
{
    struct oracle_expr x = cleave__oracle_expr(p, scope, a), y, mark;
    const json_t *call = cleave__oracle_is(pattern, "FuncCall");
    const json_t *args = json_object_get(call, "args");
    bool escaped = json_array_size(args) == 2 &&
                   !strcmp(cleave__oracle_last(json_object_get(call, "funcname")), "like_escape");
    if (escaped)
        mark = cleave__oracle_expr(p, scope, json_array_get(args, 1));
    y = cleave__oracle_expr(p, scope, escaped ? json_array_get(args, 0) : pattern);
    if (negated)
        return x.kind == ORACLE_EXPR_VARIABLE ? cleave__oracle_strict(p, x.variable, ORACLE_NONE)
                                              : anything(p);
    return cleave__oracle_like(p, &x, &y, escaped ? &mark : NULL);
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
    struct oracle_node *node = either(
        p, negated, compare_nodes(p, scope, negated ? ORACLE_LESS : ORACLE_GREATER_EQUAL, x, low),
        compare_nodes(p, scope, negated ? ORACLE_GREATER : ORACLE_LESS_EQUAL, x, high));
    if (!symmetric)
        return node;
    struct oracle_node *flipped = either(
        p, negated, compare_nodes(p, scope, negated ? ORACLE_LESS : ORACLE_GREATER_EQUAL, x, high),
        compare_nodes(p, scope, negated ? ORACLE_GREATER : ORACLE_LESS_EQUAL, x, low));
    return either(p, !negated, node, flipped);
}

static struct oracle_node *any_of(struct oracle_program *p, struct oracle_scope *scope,
                                  const struct oracle_expr *a, const json_t *array,
                                  const json_t *element, bool negated)
{
    const json_t *body = cleave__oracle_is(array, "A_ArrayExpr");
    const json_t *listed = json_object_get(body, "elements");
    struct oracle_expr *items = NULL;
    uint32_t count = (uint32_t)json_array_size(listed);
    if (!body) {
        struct oracle_expr text = cleave__oracle_expr(p, NULL, array);
        if (text.kind == ORACLE_EXPR_NULL)
            return cleave__oracle_in(p, a, &text, 1, false);
        return cleave__oracle_elements(p, &text, element, &items, &count)
                   ? cleave__oracle_in(p, a, items, count, negated)
                   : NULL;
    }
    items = cleave__arena_array(p->arena, count, sizeof *items);
    if (!items) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        items[i] = cleave__oracle_expr(p, scope, json_array_get(listed, i));
        if (items[i].kind == ORACLE_EXPR_VARIABLE)
            return NULL;
        if (element)
            items[i] = cleave__oracle_cast(p, &items[i], element);
    }
    return cleave__oracle_in(p, a, items, count, negated);
}

struct oracle_node *cleave__oracle_any(struct oracle_program *p, struct oracle_scope *scope,
                                       const struct oracle_expr *a, const json_t *array,
                                       enum oracle_comparison c)
{
    const json_t *cast = cleave__oracle_is(array, "TypeCast");
    if (a->kind != ORACLE_EXPR_VARIABLE)
        return NULL;
    if (!cast)
        return any_of(p, scope, a, array, NULL, c == ORACLE_NOT_EQUAL);
    const json_t *type = json_object_get(cast, "typeName");
    if (json_array_size(json_object_get(type, "arrayBounds")) != 1 ||
        json_object_get(type, "typmods"))
        return NULL;
    /* A shallow copy: names stay those of the statement's tree. */
    json_t *element = json_copy((json_t *)type);
    struct oracle_node *node = NULL;
    if (!element || json_object_del(element, "arrayBounds") != 0)
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
    else if (cleave__oracle_cast_sort(element) != ORACLE_SORT_OPAQUE)
        node = any_of(p, scope, a, json_object_get(cast, "arg"), element, c == ORACLE_NOT_EQUAL);
    json_decref(element);
    return node;
}

/* x = ANY (array), x <> ALL (array), and what NOT makes of them. */
static struct oracle_node *array_test(struct oracle_program *p, struct oracle_scope *scope,
                                      const json_t *body, enum oracle_comparison c, bool all,
                                      bool negated)
{
    if (negated) {
        c = cleave__oracle_complement(c);
        all = !all;
    }
    if ((c != ORACLE_EQUALS && c != ORACLE_NOT_EQUAL) || (c == ORACLE_EQUALS) == all)
        return anything(p);
    struct oracle_expr x = cleave__oracle_expr(p, scope, json_object_get(body, "lexpr"));
    struct oracle_node *node = cleave__oracle_any(p, scope, &x, json_object_get(body, "rexpr"), c);
    return node ? node : anything(p);
}

/* test = output, column by column, for the rows of a nested query. */
static struct oracle_node *equate(struct oracle_program *p, struct oracle_scope *scope,
                                  const json_t *test, const struct oracle_outputs *outputs)
{
    struct oracle_node *link = anything(p);
    const json_t *row = row_items(test);
    size_t width = row ? json_array_size(row) : 1;
    for (size_t i = 0; i < width && i < outputs->count; i++) {
        struct oracle_expr x = cleave__oracle_expr(p, scope, row ? json_array_get(row, i) : test);
        link = cleave__oracle_join(
            p, ORACLE_AND, link,
            cleave__oracle_compare(p, ORACLE_EQUALS, &x, &outputs->items[i].expr));
    }
    return link;
}

/* EXISTS (query), x IN (query), (x, y) IN (query) where they must hold; other nested queries say
 * nothing, but see what is known around them. */
static struct oracle_node *sublink(struct oracle_program *p, struct oracle_scope *scope,
                                   const json_t *body, struct standing at)
{
    const char *kind = cleave__oracle_text(body, "subLinkType");
    const json_t *select = cleave__oracle_is(json_object_get(body, "subselect"), "SelectStmt");
    const json_t *test = json_object_get(body, "testexpr");
    const json_t *names = json_object_get(body, "operName");
    bool any = !strcmp(kind, "ANY_SUBLINK") && (!names || !strcmp(cleave__oracle_last(names), "="));
    bool exists = !strcmp(kind, "EXISTS_SUBLINK");
    bool holds = at.positive && !at.negated && (any || exists);
    struct oracle_outputs outputs = {0};
    cleave__oracle_nested(p, scope, test);
    if (!select)
        return anything(p);
    struct oracle_shape shape = {ORACLE_FLOW_ALL, false};
    if (holds)
        shape = cleave__oracle_shape(select, exists);
    struct oracle_node *node = cleave__oracle_subquery(p, scope, scope, select, shape, &outputs);
    return holds && any ? cleave__oracle_join(p, ORACLE_AND, node, equate(p, scope, test, &outputs))
                        : node;
}

/* x = (query): its one row must be there. NULL when it is something else. */
static struct oracle_node *scalar_query(struct oracle_program *p, struct oracle_scope *scope,
                                        const json_t *x, const json_t *y)
{
    const json_t *link = cleave__oracle_is(y, "SubLink");
    if (!link || strcmp(cleave__oracle_text(link, "subLinkType"), "EXPR_SUBLINK") != 0)
        return NULL;
    const json_t *select = cleave__oracle_is(json_object_get(link, "subselect"), "SelectStmt");
    struct oracle_expr left = cleave__oracle_expr(p, scope, x);
    struct oracle_outputs outputs = {0};
    if (left.kind != ORACLE_EXPR_VARIABLE || !select)
        return NULL;
    struct oracle_node *node = cleave__oracle_subquery(
        p, scope, scope, select, cleave__oracle_shape(select, false), &outputs);
    return cleave__oracle_join(p, ORACLE_AND, node, equate(p, scope, x, &outputs));
}

static struct oracle_node *operator_node(struct oracle_program *p, struct oracle_scope *scope,
                                         const json_t *body, struct standing at)
{
    const char *kind = cleave__oracle_text(body, "kind");
    const json_t *names = json_object_get(body, "name");
    const json_t *a = json_object_get(body, "lexpr"), *b = json_object_get(body, "rexpr");
    enum oracle_comparison c = cleave__oracle_comparison(cleave__oracle_last(names));
    bool plain = json_array_size(names) == 1 ||
                 (json_array_size(names) == 2 &&
                  !strcmp(cleave__oracle_string(json_array_get(names, 0)), "pg_catalog"));
    struct oracle_node *node = NULL;

    if (!plain)
        c = ORACLE_OTHER;
    if (a && b && !strcmp(kind, "AEXPR_OP")) {
        enum oracle_comparison stands = at.negated ? cleave__oracle_complement(c) : c;
        if (stands == ORACLE_EQUALS && at.positive) {
            node = scalar_query(p, scope, a, b);
            if (node) {
                cleave__oracle_nested(p, scope, a);
                return node;
            }
            node = scalar_query(p, scope, b, a);
            if (node) {
                cleave__oracle_nested(p, scope, b);
                return node;
            }
        }
        cleave__oracle_nested(p, scope, a);
        cleave__oracle_nested(p, scope, b);
        return compare_nodes(p, scope, stands, a, b);
    }
    cleave__oracle_nested(p, scope, a);
    cleave__oracle_nested(p, scope, b);
    if (!a || !b)
        return anything(p);
    if (!strcmp(kind, "AEXPR_IN"))
        return c == ORACLE_OTHER
                   ? anything(p)
                   : in_list(p, scope, a, json_object_get(cleave__oracle_is(b, "List"), "items"),
                             at.negated != (c == ORACLE_NOT_EQUAL));
    if (!strcmp(kind, "AEXPR_LIKE"))
        return like(p, scope, a, b, at.negated != (cleave__oracle_last(names)[0] == '!'));
    if (!strncmp(kind, "AEXPR_BETWEEN", 13) || !strncmp(kind, "AEXPR_NOT_BETWEEN", 17)) {
        const json_t *bounds = json_object_get(cleave__oracle_is(b, "List"), "items");
        return between(p, scope, a, bounds, at.negated != (strstr(kind, "NOT_") != NULL),
                       strstr(kind, "_SYM") != NULL);
    }
    if (!strcmp(kind, "AEXPR_DISTINCT") || !strcmp(kind, "AEXPR_NOT_DISTINCT")) {
        struct oracle_expr x = cleave__oracle_expr(p, scope, a);
        struct oracle_expr y = cleave__oracle_expr(p, scope, b);
        return cleave__oracle_distinct(p, &x, &y, at.negated != (kind[6] == 'N'));
    }
    if (!strcmp(kind, "AEXPR_OP_ANY") || !strcmp(kind, "AEXPR_OP_ALL"))
        return array_test(p, scope, body, c, kind[10] == 'L', at.negated);
    return anything(p);
}

static struct oracle_node *condition(struct oracle_program *p, struct oracle_scope *scope,
                                     const json_t *node, struct standing at);

/* x IS [NOT] TRUE, FALSE or UNKNOWN. */
static struct oracle_node *boolean_test(struct oracle_program *p, struct oracle_scope *scope,
                                        const json_t *body, struct standing at)
{
    const char *kind = cleave__oracle_text(body, "booltesttype");
    const json_t *arg = json_object_get(body, "arg");
    struct oracle_expr x = cleave__oracle_expr(p, scope, arg);
    bool is_not = !strncmp(kind, "IS_NOT_", 7);
    const char *what = kind + (is_not ? 7 : 3);
    bool unknown = !strcmp(what, "UNKNOWN"), wanted = !strcmp(what, "TRUE");
    at.negated ^= is_not;
    if (x.kind != ORACLE_EXPR_VARIABLE) {
        if (!unknown && !at.negated)
            return condition(p, scope, arg, (struct standing){!wanted, at.positive});
        cleave__oracle_nested(p, scope, arg);
        return anything(p);
    }
    if (unknown)
        return cleave__oracle_null(p, x.variable, !at.negated);
    struct oracle_expr truth = {.kind = ORACLE_EXPR_TYPED,
                                .sort = ORACLE_SORT_BOOLEAN,
                                .value = {.kind = CLEAVE_INTEGER, .integer = wanted}};
    return cleave__oracle_distinct(p, &x, &truth, !at.negated);
}

static struct oracle_node *null_test(struct oracle_program *p, struct oracle_scope *scope,
                                     const json_t *body, bool negated)
{
    const json_t *arg = json_object_get(body, "arg"), *row = row_items(arg), *item;
    bool is_null = !strcmp(cleave__oracle_text(body, "nulltesttype"), "IS_NULL");
    cleave__oracle_nested(p, scope, arg);
    if (row) { /* every column is, or every column is not; NOT says neither */
        struct oracle_node *all = anything(p);
        size_t i;
        json_array_foreach(row, i, item)
        {
            struct oracle_expr x = cleave__oracle_expr(p, scope, item);
            if (x.kind == ORACLE_EXPR_VARIABLE && !negated)
                all = cleave__oracle_join(p, ORACLE_AND, all,
                                          cleave__oracle_null(p, x.variable, is_null));
        }
        return all;
    }
    struct oracle_expr x = cleave__oracle_expr(p, scope, arg);
    if (x.kind == ORACLE_EXPR_VARIABLE)
        return cleave__oracle_null(p, x.variable, is_null != negated);
    if (x.kind == ORACLE_EXPR_UNKNOWN)
        return anything(p);
    return cleave__oracle_truth(p, (x.kind == ORACLE_EXPR_NULL) == (is_null != negated));
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
            (void)sublink(p, scope, body, (struct standing){true, false});
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
                                    const json_t *args, bool conjunction, struct standing at)
{
    struct oracle_list parts = {0};
    const json_t *arg;
    size_t i;
    bool all = conjunction != at.negated;
    at.positive = at.positive && all;
    json_array_foreach(args, i, arg)
    {
        if (!CLEAVE_PUSH(&parts.items, condition(p, scope, arg, at)))
            cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
    }
    struct oracle_node *node =
        cleave__oracle_many(p, all ? ORACLE_AND : ORACLE_OR, parts.items.data, parts.items.count);
    CLEAVE_VECTOR_FREE(&parts.items);
    return node;
}

/* A boolean column, or a boolean constant, on its own. */
static struct oracle_node *bare(struct oracle_program *p, struct oracle_scope *scope,
                                const json_t *node, bool negated)
{
    struct oracle_expr x = cleave__oracle_expr(p, scope, node);
    struct oracle_expr truth = {.kind = ORACLE_EXPR_TYPED,
                                .sort = ORACLE_SORT_BOOLEAN,
                                .value = {.kind = CLEAVE_INTEGER, .integer = !negated}};
    struct cleave_value value;
    if (x.kind == ORACLE_EXPR_NULL)
        return cleave__oracle_truth(p, false);
    if (x.kind == ORACLE_EXPR_VARIABLE)
        return cleave__oracle_compare(p, ORACLE_EQUALS, &x, &truth);
    if (cleave__oracle_is_constant(&x) &&
        cleave__oracle_convert(p, &x, ORACLE_SORT_BOOLEAN, NULL, &value))
        return cleave__oracle_truth(p, (value.integer != 0) != negated);
    return anything(p);
}

static struct oracle_node *condition(struct oracle_program *p, struct oracle_scope *scope,
                                     const json_t *node, struct standing at)
{
    const json_t *body;
    struct oracle_node *result = anything(p);
    if (!json_is_object(node) || !cleave__oracle_enter(p))
        return result;
    if ((body = cleave__oracle_is(node, "BoolExpr"))) {
        const char *op = cleave__oracle_text(body, "boolop");
        const json_t *args = json_object_get(body, "args");
        if (!strcmp(op, "NOT_EXPR"))
            result = condition(p, scope, json_array_get(args, 0),
                               (struct standing){!at.negated, at.positive});
        else
            result = junction(p, scope, args, !strcmp(op, "AND_EXPR"), at);
    } else if ((body = cleave__oracle_is(node, "A_Expr"))) {
        result = operator_node(p, scope, body, at);
    } else if ((body = cleave__oracle_is(node, "NullTest"))) {
        result = null_test(p, scope, body, at.negated);
    } else if ((body = cleave__oracle_is(node, "BooleanTest"))) {
        result = boolean_test(p, scope, body, at);
    } else if ((body = cleave__oracle_is(node, "SubLink"))) {
        result = sublink(p, scope, body, at);
    } else {
        cleave__oracle_nested(p, scope, node);
        result = bare(p, scope, node, at.negated);
    }
    cleave__oracle_leave(p);
    return result;
}

struct oracle_node *cleave__oracle_condition(struct oracle_program *p, struct oracle_scope *scope,
                                             const json_t *node, bool positive)
{
    return condition(p, scope, node, (struct standing){false, positive});
}
