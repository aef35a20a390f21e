/* FROM: tables, joins, nested queries, CTEs and views -> relations of a scope and conditions.
 *
 * A nested query is a block of its own; the columns it yields are the inner variables themselves,
 * so a constant known on either side is known on both. A LEFT JOIN's ON binds only the padded
 * side: its node says "ON holds, or the whole side is NULL". */
#include "tables/oracle/compile.h"

#include <string.h>

enum { EXPANSIONS_MAX = 500 };

uint32_t cleave__oracle_table(const struct oracle_program *p, const json_t *range_var)
{
    const char *schema = cleave__oracle_text(range_var, "schemaname");
    const char *name = cleave__oracle_text(range_var, "relname");
    char qualified[512];
    size_t a = strlen(schema), b = strlen(name);
    if (a == 0)
        return cleave__schema_table(p->schema, name, b);
    if (a + b + 2 > sizeof qualified)
        return CLEAVE_ABSENT;
    memcpy(qualified, schema, a);
    qualified[a] = '.';
    memcpy(qualified + a + 1, name, b + 1);
    return cleave__schema_table(p->schema, qualified, a + b + 1);
}

static const char *alias_of(const json_t *body, const char *otherwise)
{
    const char *alias = cleave__oracle_text(json_object_get(body, "alias"), "aliasname");
    return *alias ? alias : otherwise;
}

/* Column aliases: `AS x (a, b)`. A table so renamed becomes a list of outputs. */
static void rename_columns(struct oracle_program *p, struct oracle_scope *scope,
                           struct oracle_relation *r, const json_t *names)
{
    size_t count = json_array_size(names);
    if (count == 0)
        return;
    if (r->kind == ORACLE_RELATION_TABLE) {
        struct oracle_scope alone = {
            .block = scope->block, .relations = r, .relation_count = 1, .relation_capacity = 1};
        struct oracle_outputs outputs = {0};
        cleave__oracle_star(p, &alone, NULL, 0, 1, &outputs);
        r->outputs = outputs;
        r->kind = ORACLE_RELATION_OUTPUTS;
    }
    if (r->kind == ORACLE_RELATION_OUTPUTS) {
        for (size_t i = 0; i < count && i < r->outputs.count; i++)
            r->outputs.items[i].name = cleave__oracle_string(json_array_get(names, i));
    }
}

static struct oracle_relation nested_query(struct oracle_program *p, struct oracle_scope *scope,
                                           struct oracle_scope *outer, const json_t *query,
                                           struct oracle_list *where)
{
    struct oracle_relation r = {.name = "", .kind = ORACLE_RELATION_OUTPUTS};
    const json_t *select = cleave__oracle_is(query, "SelectStmt");
    if (select)
        cleave__oracle_push(p, where,
                            cleave__oracle_subquery(p, scope, outer, select,
                                                    cleave__oracle_shape(select, false),
                                                    &r.outputs));
    else
        r.kind = ORACLE_RELATION_OPAQUE;
    return r;
}

static void forget(struct oracle_outputs *outputs)
{
    for (uint32_t i = 0; i < outputs->count; i++)
        outputs->items[i].expr = (struct oracle_expr){.kind = ORACLE_EXPR_UNKNOWN};
}

/* The query of a CTE read once more, for what it says; its rows were counted before. */
static struct oracle_relation read_again(struct oracle_program *p, struct oracle_scope *scope,
                                         struct oracle_cte *cte, struct oracle_list *where)
{
    struct oracle_relation r = {.name = cte->name, .kind = ORACLE_RELATION_OUTPUTS};
    const json_t *select = cleave__oracle_is(cte->query, "SelectStmt");
    struct oracle_shape shape = {ORACLE_FLOW_NONE, true};
    if (select)
        shape.proves = cleave__oracle_shape(select, false).proves;
    bool blank = cte->recursive || cte->uses != 1;
    p->shadow++;
    struct oracle_node *node =
        cleave__oracle_subquery(p, scope, cte->scope, cte->query, shape, &r.outputs);
    p->shadow--;
    if (blank)
        forget(&r.outputs);
    else
        cleave__oracle_push(p, where, node);
    return r;
}

static struct oracle_relation expand_cte(struct oracle_program *p, struct oracle_scope *scope,
                                         struct oracle_cte *cte, struct oracle_list *where)
{
    struct oracle_relation r = {.name = cte->name, .kind = ORACLE_RELATION_OPAQUE};
    if (cte->active)
        return r;
    if (++p->expansions > EXPANSIONS_MAX) {
        cleave__oracle_fail(p, CLEAVE_LIMIT);
        return r;
    }
    cte->active = true;
    if (cte->alone) {
        r = read_again(p, scope, cte, where);
    } else {
        cte->compiled = true;
        r = nested_query(p, scope, cte->scope, cte->query, where);
    }
    cte->active = false;
    r.name = cte->name;
    rename_columns(p, scope, &r, cte->aliases);
    return r;
}

static struct oracle_relation expand_view(struct oracle_program *p, struct oracle_scope *scope,
                                          uint32_t index, struct oracle_list *where)
{
    const struct cleave_table *view = &p->schema->tables[index];
    struct oracle_relation r = {.name = view->name, .kind = ORACLE_RELATION_OPAQUE};
    const json_t *query = p->view ? p->view(p->view_context, index) : NULL;
    if (!query)
        return r;
    if (++p->expansions > EXPANSIONS_MAX) { /* or a view that names itself */
        cleave__oracle_fail(p, CLEAVE_LIMIT);
        return r;
    }
    const char *text = p->text;
    size_t length = p->length;
    const struct cleave_parameter *parameters = p->parameters;
    const json_t *statement = p->statement;
    p->statement = query;
    p->text = view->view;
    p->length = strlen(view->view);
    p->parameters = NULL;
    uint32_t parameter_count = p->parameter_count;
    p->parameter_count = 0;
    r = nested_query(p, scope, NULL, query, where);
    p->statement = statement;
    p->text = text;
    p->length = length;
    p->parameters = parameters;
    p->parameter_count = parameter_count;
    r.name = view->name;
    for (uint32_t i = 0; r.outputs.count == view->column_count && i < view->column_count; i++)
        r.outputs.items[i].name = view->columns[i].name;
    return r;
}

static void range_var(struct oracle_program *p, struct oracle_scope *scope, const json_t *body,
                      struct oracle_list *where)
{
    const char *name = cleave__oracle_text(body, "relname");
    struct oracle_relation r = {.name = name, .kind = ORACLE_RELATION_OPAQUE};
    struct oracle_cte *cte =
        json_object_get(body, "schemaname") ? NULL : cleave__oracle_cte(scope, name);
    uint32_t table = cte ? CLEAVE_ABSENT : cleave__oracle_table(p, body);
    if (cte) {
        r = expand_cte(p, scope, cte, where);
    } else if (table != CLEAVE_ABSENT && p->schema->tables[table].view) {
        r = expand_view(p, scope, table, where);
    } else if (table != CLEAVE_ABSENT) {
        r.reference = cleave__oracle_reference(p, table, scope->block);
        if (r.reference == ORACLE_NONE)
            return;
        r.kind = ORACLE_RELATION_TABLE;
        cleave__oracle_target(p, r.reference, scope->block, false, false);
    }
    r.name = alias_of(body, name);
    rename_columns(p, scope, &r, json_object_get(json_object_get(body, "alias"), "colnames"));
    cleave__oracle_relation_add(p, scope, &r);
}

static void from_item(struct oracle_program *p, struct oracle_scope *scope, const json_t *node,
                      struct oracle_list *where);

/* left.name = right.name, and the one column that stands for both. */
static void merge_column(struct oracle_program *p, struct oracle_scope *scope, const char *name,
                         const uint32_t at[3], const char *type, struct oracle_list *on)
{
    struct oracle_expr l, r;
    struct oracle_merged m = {.name = name, .first = at[0], .last = at[2]};
    bool has_l = cleave__oracle_resolve_among(p, scope, at[0], at[1], name, &l);
    bool has_r = cleave__oracle_resolve_among(p, scope, at[1], at[2], name, &r);
    if (has_l && has_r) {
        if (l.kind == ORACLE_EXPR_VARIABLE)
            cleave__oracle_push(p, on, cleave__oracle_bind(p, l.variable, &r));
        else if (r.kind == ORACLE_EXPR_VARIABLE)
            cleave__oracle_push(p, on, cleave__oracle_bind(p, r.variable, &l));
    }
    if (!strcmp(type, "JOIN_FULL"))
        m.expr = (struct oracle_expr){.kind = ORACLE_EXPR_UNKNOWN};
    else if (!strcmp(type, "JOIN_RIGHT"))
        m.expr = has_r ? r : (struct oracle_expr){.kind = ORACLE_EXPR_UNKNOWN};
    else if (has_l && (l.kind != ORACLE_EXPR_UNKNOWN || strcmp(type, "JOIN_INNER") != 0 || !has_r))
        m.expr = l;
    else
        m.expr = has_r && !strcmp(type, "JOIN_INNER")
                     ? r
                     : (struct oracle_expr){.kind = ORACLE_EXPR_UNKNOWN};
    cleave__oracle_merged_add(p, scope, &m);
}

static void join_columns(struct oracle_program *p, struct oracle_scope *scope, const json_t *body,
                         const uint32_t at[3], const char *type, struct oracle_list *on)
{
    const json_t *name;
    size_t i;
    json_array_foreach(json_object_get(body, "usingClause"), i, name)
        merge_column(p, scope, cleave__oracle_string(name), at, type, on);
    if (!cleave__oracle_flag(body, "isNatural"))
        return;
    struct oracle_outputs left = {0}, right = {0};
    cleave__oracle_star(p, scope, NULL, at[0], at[1], &left);
    cleave__oracle_star(p, scope, NULL, at[1], at[2], &right);
    for (uint32_t l = 0; l < left.count; l++) {
        for (uint32_t r = 0; r < right.count; r++) {
            if (!strcmp(left.items[l].name, right.items[r].name)) {
                merge_column(p, scope, left.items[l].name, at, type, on);
                break;
            }
        }
    }
}

static void join(struct oracle_program *p, struct oracle_scope *scope, const json_t *body,
                 struct oracle_list *where)
{
    const char *type = cleave__oracle_text(body, "jointype");
    bool pads_left = !strcmp(type, "JOIN_RIGHT") || !strcmp(type, "JOIN_FULL");
    bool pads_right = !strcmp(type, "JOIN_LEFT") || !strcmp(type, "JOIN_FULL");
    uint32_t before = p->side;
    uint32_t side[2] = {ORACLE_NONE, ORACLE_NONE};
    struct oracle_list on = {0}, left = {0}, right = {0};
    uint32_t at[3] = {scope->relation_count, 0, 0};
    uint32_t inside = 0;

    if (pads_left)
        side[0] = p->side = cleave__oracle_side(p, scope->block);
    from_item(p, scope, json_object_get(body, "larg"), pads_left ? &left : where);
    p->side = before;
    at[1] = scope->relation_count;
    if (pads_right)
        side[1] = p->side = cleave__oracle_side(p, scope->block);
    from_item(p, scope, json_object_get(body, "rarg"), pads_right ? &right : where);
    p->side = before;
    at[2] = scope->relation_count;

    inside = (uint32_t)p->blocks.count;
    join_columns(p, scope, body, at, type, &on);
    cleave__oracle_push(p, &on,
                        cleave__oracle_condition(p, scope, json_object_get(body, "quals"),
                                                 !(pads_left && pads_right)));
    const char *alias = alias_of(body, "");
    if (*alias) {
        struct oracle_relation r = {
            .name = alias, .kind = ORACLE_RELATION_JOIN, .first = at[0], .last = at[2]};
        cleave__oracle_relation_add(p, scope, &r);
    }

    struct oracle_node *part[3] = {cleave__oracle_close(p, &on), cleave__oracle_close(p, &left),
                                   cleave__oracle_close(p, &right)};
    if (!pads_left && !pads_right) {
        cleave__oracle_push(p, where, part[0]);
        return;
    }
    bool full = pads_left && pads_right;
    struct oracle_node *node = cleave__oracle_node(p, full ? ORACLE_FULL : ORACLE_OUTER);
    struct oracle_node **children = cleave__arena_array(p->arena, 3, sizeof *children);
    if (!node || !children || p->status != CLEAVE_OK) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return;
    }
    node->children = children;
    if (full) {
        memcpy(children, part, sizeof part);
        node->count = 3;
        node->side[0] = side[0];
        node->side[1] = side[1];
    } else {
        children[0] = cleave__oracle_many(p, ORACLE_AND, part, 3);
        node->count = 1;
        node->inside[0] = inside;
        node->inside[1] = (uint32_t)p->blocks.count;
        node->side[0] = pads_left ? side[0] : side[1];
    }
    cleave__oracle_push(p, where, node);
}

/* unnest(array, ...): a column for each array, its elements and the NULLs that fill it up. */
static void unnest(struct oracle_program *p, struct oracle_scope *scope, const json_t *args,
                   const char *name, struct oracle_relation *r, struct oracle_list *where)
{
    const json_t *arg;
    size_t i;
    json_array_foreach(args, i, arg)
    {
        uint32_t variable = cleave__oracle_variable(p, ORACLE_SORT_ANY, NULL, scope->block);
        struct oracle_expr column = {.kind = ORACLE_EXPR_VARIABLE, .variable = variable};
        if (variable == ORACLE_NONE)
            return;
        cleave__oracle_output_add(p, &r->outputs, name, column);
        struct oracle_node *member = cleave__oracle_any(p, scope, &column, arg, ORACLE_EQUALS);
        if (member)
            cleave__oracle_push(
                p, where,
                cleave__oracle_join(p, ORACLE_OR, member, cleave__oracle_null(p, variable, true)));
    }
}

/* generate_series(a, b): between its ends, whichever is larger. */
static void series(struct oracle_program *p, struct oracle_scope *scope, const json_t *args,
                   const char *name, struct oracle_relation *r, struct oracle_list *where)
{
    uint32_t variable = cleave__oracle_variable(p, ORACLE_SORT_ANY, NULL, scope->block);
    struct oracle_expr column = {.kind = ORACLE_EXPR_VARIABLE, .variable = variable};
    struct oracle_expr ends[2];
    struct oracle_node *way[2];
    if (variable == ORACLE_NONE)
        return;
    cleave__oracle_output_add(p, &r->outputs, name, column);
    for (size_t i = 0; i < 2; i++) {
        ends[i] = cleave__oracle_expr(p, NULL, json_array_get(args, i));
        if (ends[i].kind == ORACLE_EXPR_UNKNOWN)
            return;
    }
    for (size_t i = 0; i < 2; i++)
        way[i] = cleave__oracle_join(
            p, ORACLE_AND, cleave__oracle_compare(p, ORACLE_GREATER_EQUAL, &column, &ends[i]),
            cleave__oracle_compare(p, ORACLE_LESS_EQUAL, &column, &ends[1 - i]));
    cleave__oracle_push(p, where, cleave__oracle_join(p, ORACLE_OR, way[0], way[1]));
}

static void range_function(struct oracle_program *p, struct oracle_scope *scope, const json_t *body,
                           struct oracle_list *where)
{
    const json_t *functions = json_object_get(body, "functions");
    const json_t *first =
        json_object_get(cleave__oracle_is(json_array_get(functions, 0), "List"), "items");
    const json_t *call = cleave__oracle_is(json_array_get(first, 0), "FuncCall");
    const json_t *args = json_object_get(call, "args");
    const char *name = cleave__oracle_last(json_object_get(call, "funcname"));
    struct oracle_relation r = {.name = alias_of(body, name), .kind = ORACLE_RELATION_OUTPUTS};
    cleave__oracle_nested(p, scope, body);
    if (json_array_size(functions) != 1 || json_object_get(body, "coldeflist"))
        name = "";
    if (!strcmp(name, "unnest") && json_array_size(args) > 0)
        unnest(p, scope, args, r.name, &r, where);
    else if (!strcmp(name, "generate_series") && json_array_size(args) >= 2)
        series(p, scope, args, r.name, &r, where);
    else
        r.kind = ORACLE_RELATION_OPAQUE;
    rename_columns(p, scope, &r, json_object_get(json_object_get(body, "alias"), "colnames"));
    cleave__oracle_relation_add(p, scope, &r);
}

static void from_item(struct oracle_program *p, struct oracle_scope *scope, const json_t *node,
                      struct oracle_list *where)
{
    const json_t *body;
    if (!json_is_object(node) || !cleave__oracle_enter(p))
        return;
    if ((body = cleave__oracle_is(node, "RangeVar"))) {
        range_var(p, scope, body, where);
    } else if ((body = cleave__oracle_is(node, "JoinExpr"))) {
        join(p, scope, body, where);
    } else if ((body = cleave__oracle_is(node, "RangeSubselect"))) {
        struct oracle_relation r =
            nested_query(p, scope, scope, json_object_get(body, "subquery"), where);
        r.name = alias_of(body, "");
        rename_columns(p, scope, &r, json_object_get(json_object_get(body, "alias"), "colnames"));
        cleave__oracle_relation_add(p, scope, &r);
    } else if ((body = cleave__oracle_is(node, "RangeFunction"))) {
        range_function(p, scope, body, where);
    } else if ((body = cleave__oracle_is(node, "RangeTableSample"))) {
        from_item(p, scope, json_object_get(body, "relation"), where);
    } else {
        const char *kind;
        json_t *fields;
        struct oracle_relation r = {.name = "", .kind = ORACLE_RELATION_OPAQUE};
        cleave__oracle_nested(p, scope, node);
        json_object_foreach((json_t *)node, kind, fields) r.name = alias_of(fields, "");
        cleave__oracle_relation_add(p, scope, &r);
    }
    cleave__oracle_leave(p);
}

void cleave__oracle_from(struct oracle_program *p, struct oracle_scope *scope, const json_t *items,
                         struct oracle_list *where)
{
    const json_t *item;
    size_t i;
    json_array_foreach(items, i, item) from_item(p, scope, item, where);
}
