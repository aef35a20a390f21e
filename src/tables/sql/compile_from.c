/* FROM: tables, views, joins, subqueries, functions. Outer joins put their far side into a block of
 * its own; what the conditions rule out is turned into inner joins afterwards. */
#include <string.h>

#include "tables/sql/compile.h"
#include "tables/sql/parse.h"

/* A scope that sees the WITH queries of `scope` and what is outside of it, but not its tables. */
static struct cleave_scope *without_tables(struct cleave_compile *c,
                                           const struct cleave_scope *scope)
{
    struct cleave_scope *made = cleave__compile_alloc(c, 1, sizeof *made);
    made->outer = scope->outer;
    made->ctes = scope->ctes;
    made->block = scope->block;
    return made;
}

static struct cleave_columns copy_columns(struct cleave_compile *c,
                                          const struct cleave_columns *columns)
{
    struct cleave_columns copy = {.open = false};
    cleave__columns_append(c, &copy, columns);
    return copy;
}

static void rename_columns(struct cleave_columns *columns, PgQuery__Node *const *names,
                           size_t count)
{
    for (size_t i = 0; i < count && i < columns->names.count; i++) {
        const char *name = cleave__node_string(names[i]);
        if (name)
            columns->names.items[i] = name;
    }
}

/* Makes columns known under an alias. */
static struct cleave_columns add_item(struct cleave_compile *c, struct cleave_scope *scope,
                                      const PgQuery__Alias *alias, const char *name,
                                      const char *schema, struct cleave_columns columns,
                                      uint32_t first_reference)
{
    if (alias) {
        name = alias->aliasname;
        schema = NULL;
        rename_columns(&columns, alias->colnames, alias->n_colnames);
    }
    struct cleave_item item = {
        .alias = name,
        .schema = schema,
        .columns = columns,
        .first_reference = first_reference,
        .reference_count = c->references.count - first_reference,
    };
    CLEAVE_APPEND(c, &scope->items, item);
    return columns;
}

static struct cleave_columns table_columns(struct cleave_compile *c, uint32_t reference)
{
    const struct cleave_reference *r = &c->references.items[reference];
    const struct cleave_table *table = &c->catalog->schema->tables[r->table];
    struct cleave_columns columns = {.open = false};
    for (uint32_t i = 0; i < table->column_count; i++)
        cleave__columns_add(c, &columns, table->columns[i].name, r->first_node + i);
    return columns;
}

/* A view stands for its query. One that cannot be read leaves the statement opaque. */
static struct cleave_columns view_columns(struct cleave_compile *c, uint32_t table, uint32_t block)
{
    const struct cleave_table *view = &c->catalog->schema->tables[table];
    struct cleave_columns columns = {.open = true};
    PgQuery__ParseResult *tree = NULL;
    enum cleave_status status = CLEAVE_LIMIT;
    if (c->view_depth < CLEAVE_VIEW_DEPTH_MAX)
        status =
            cleave__parse_protobuf_here(view->view, strlen(view->view), &c->temporary, &tree, NULL);
    if (status == CLEAVE_NO_MEMORY)
        cleave__compile_fail(c, status, "no memory for a view");
    PgQuery__Node *query = !status && tree->n_stmts == 1 ? tree->stmts[0]->stmt : NULL;
    if (!query || query->node_case != PG_QUERY__NODE__NODE_SELECT_STMT) {
        c->opaque = 1;
        return columns;
    }
    PgQuery__Node *statement = c->statement;
    c->statement = query;
    c->view_depth++;
    columns = cleave__compile_subquery(c, NULL, block, query->select_stmt, false);
    c->view_depth--;
    c->statement = statement;
    if (view->column_count == columns.names.count) {
        columns = copy_columns(c, &columns);
        for (uint32_t i = 0; i < view->column_count; i++)
            columns.names.items[i] = view->columns[i].name;
    }
    return columns;
}

static const char *schema_name(const PgQuery__RangeVar *variable)
{
    return variable->schemaname && *variable->schemaname ? variable->schemaname : "public";
}

static struct cleave_columns range_variable(struct cleave_compile *c, struct cleave_scope *scope,
                                            uint32_t block, const PgQuery__RangeVar *variable)
{
    bool qualified = variable->schemaname && *variable->schemaname;
    uint32_t first = c->references.count;
    struct cleave_columns columns = {.open = true};
    struct cleave_cte *cte = qualified ? NULL : cleave__scope_cte(scope, variable->relname);
    if (cte) {
        struct cleave_columns used = cleave__compile_cte_use(c, cte, block);
        columns = copy_columns(c, &used);
        return add_item(c, scope, variable->alias, variable->relname, NULL, columns, first);
    }
    uint32_t table = cleave__compile_table(c, variable);
    if (table == CLEAVE_ABSENT)
        c->unknown_tables++;
    else if (c->catalog->schema->tables[table].view)
        columns = view_columns(c, table, block);
    else
        columns = table_columns(c, cleave__compile_reference(c, table, block));
    return add_item(c, scope, variable->alias, variable->relname, schema_name(variable), columns,
                    first);
}

uint32_t cleave__compile_target(struct cleave_compile *c, struct cleave_scope *scope,
                                uint32_t block, const PgQuery__RangeVar *variable,
                                struct cleave_columns *columns)
{
    uint32_t first = c->references.count;
    uint32_t table = cleave__compile_table(c, variable);
    uint32_t target = CLEAVE_NONE;
    *columns = (struct cleave_columns){.open = true};
    if (table == CLEAVE_ABSENT) {
        c->unknown_tables++;
    } else if (!c->catalog->schema->tables[table].view) {
        target = cleave__compile_reference(c, table, block);
        *columns = table_columns(c, target);
    } else {
        /* A view over one table passes the change on; another one needs a trigger or a rule. */
        *columns = view_columns(c, table, block);
        if (c->references.count == first + 1 && c->references.items[first].block == block)
            target = first;
        else
            c->opaque = 1;
    }
    if (target != CLEAVE_NONE)
        c->references.items[target].write = true;
    add_item(c, scope, variable->alias, variable->relname, schema_name(variable), *columns, first);
    return target;
}

/* ---- joins ---- */

static uint32_t far_side(struct cleave_compile *c, uint32_t block)
{
    uint32_t made = cleave__compile_block(c, block, CLEAVE_FLOW_ALL);
    c->blocks.items[made].nullable = true;
    return made;
}

/* USING and NATURAL: the joined columns come first, once. */
static struct cleave_columns join_columns(struct cleave_compile *c, const PgQuery__JoinExpr *join,
                                          const struct cleave_columns *left,
                                          const struct cleave_columns *right, uint32_t block,
                                          struct cleave_columns *merged,
                                          const struct cleave_formula ***equal, uint32_t *equals)
{
    bool *left_used = cleave__compile_alloc(c, left->names.count + 1, sizeof *left_used);
    bool *right_used = cleave__compile_alloc(c, right->names.count + 1, sizeof *right_used);
    size_t count = join->is_natural ? left->names.count : join->n_using_clause;
    *equal = cleave__compile_alloc(c, count + 1, sizeof **equal);
    *equals = 0;
    for (size_t i = 0; i < count; i++) {
        const char *name =
            join->is_natural ? left->names.items[i] : cleave__node_string(join->using_clause[i]);
        uint32_t matches, other_matches;
        c->work += left->names.count + right->names.count;
        if (!name)
            continue;
        uint32_t x = cleave__columns_find(left, name, &matches);
        uint32_t y = cleave__columns_find(right, name, &other_matches);
        if (x == CLEAVE_NONE || y == CLEAVE_NONE) {
            /* A side that is not known may have the column: then the name says nothing. */
            bool perhaps = !join->is_natural || (right->open && other_matches == 0);
            if (perhaps) {
                if (x != CLEAVE_NONE)
                    left_used[x] = true;
                if (y != CLEAVE_NONE)
                    right_used[y] = true;
                cleave__columns_add(c, merged, name, cleave__compile_node(c, block));
            }
            continue;
        }
        uint32_t p = left->nodes.items[x], q = right->nodes.items[y];
        left_used[x] = right_used[y] = true;
        (*equal)[(*equals)++] = cleave__formula_equal(c, p, q);
        uint32_t node = p;
        if (join->jointype == PG_QUERY__JOIN_TYPE__JOIN_RIGHT)
            node = q;
        else if (join->jointype == PG_QUERY__JOIN_TYPE__JOIN_FULL)
            node = cleave__compile_node(c, block); /* whichever is there */
        cleave__columns_add(c, merged, name, node);
    }
    struct cleave_columns all = copy_columns(c, merged);
    for (uint32_t i = 0; i < left->names.count; i++) {
        if (!left_used[i])
            cleave__columns_add(c, &all, left->names.items[i], left->nodes.items[i]);
    }
    for (uint32_t i = 0; i < right->names.count; i++) {
        if (!right_used[i])
            cleave__columns_add(c, &all, right->names.items[i], right->nodes.items[i]);
    }
    all.open = left->open || right->open;
    return all;
}

static struct cleave_columns join(struct cleave_compile *c, struct cleave_scope *scope,
                                  uint32_t block, const PgQuery__JoinExpr *tree)
{
    uint32_t first_item = scope->items.count, first_reference = c->references.count;
    uint32_t left_block = block, right_block = block, on_block = block;
    bool full = tree->jointype == PG_QUERY__JOIN_TYPE__JOIN_FULL;
    if (full || tree->jointype == PG_QUERY__JOIN_TYPE__JOIN_RIGHT)
        left_block = on_block = far_side(c, block);
    if (full || tree->jointype == PG_QUERY__JOIN_TYPE__JOIN_LEFT)
        right_block = on_block = far_side(c, block);
    struct cleave_columns left = cleave__compile_from(c, scope, left_block, tree->larg);
    struct cleave_columns right = cleave__compile_from(c, scope, right_block, tree->rarg);
    struct cleave_columns merged = {.open = false};
    const struct cleave_formula **parts;
    uint32_t count;
    struct cleave_columns all =
        join_columns(c, tree, &left, &right, block, &merged, &parts, &count);
    if (tree->quals) {
        struct cleave_scope *inner = cleave__compile_alloc(c, 1, sizeof *inner);
        *inner = *scope;
        inner->columns = all;
        parts[count++] = cleave__compile_formula(c, inner, on_block, tree->quals, false, !full);
    }
    const struct cleave_formula *on = cleave__formula_join(c, CLEAVE_FORMULA_AND, parts, count);
    if (full) {
        struct cleave_block *l = &c->blocks.items[left_block], *r = &c->blocks.items[right_block];
        l->partner = right_block;
        r->partner = left_block;
        l->partner_on = r->partner_on = on;
    } else {
        cleave__compile_condition_add(c, on_block, on);
    }
    if (tree->join_using_alias)
        add_item(c, scope, tree->join_using_alias, NULL, NULL, copy_columns(c, &merged),
                 c->references.count);
    if (tree->alias) { /* hides the names inside */
        for (uint32_t i = first_item; i < scope->items.count; i++)
            scope->items.items[i].alias = NULL;
        all = add_item(c, scope, tree->alias, NULL, NULL, copy_columns(c, &all), first_reference);
    }
    return all;
}

/* Is the condition never true when everything in `block` is NULL? */
static bool rejects_nulls(struct cleave_compile *c, const struct cleave_formula *f, uint32_t block)
{
    c->work++;
    switch (f->kind) {
    case CLEAVE_FORMULA_FALSE:
        return true;
    case CLEAVE_FORMULA_AND:
        for (uint32_t i = 0; i < f->count; i++) {
            if (rejects_nulls(c, f->children[i], block))
                return true;
        }
        return false;
    case CLEAVE_FORMULA_OR:
        for (uint32_t i = 0; i < f->count; i++) {
            if (!rejects_nulls(c, f->children[i], block))
                return false;
        }
        return true;
    case CLEAVE_FORMULA_ATOM:
        return f->op != CLEAVE_OPERATOR_IS_NULL && f->op != CLEAVE_OPERATOR_DISTINCT &&
               f->op != CLEAVE_OPERATOR_NOT_DISTINCT &&
               cleave__block_within(c, c->nodes.items[f->node].block, block);
    case CLEAVE_FORMULA_EQUAL:
        if (!f->strict)
            return false;
        /* fall through */
    case CLEAVE_FORMULA_STRICT:
        return cleave__block_within(c, c->nodes.items[f->node].block, block) ||
               (f->other != CLEAVE_NONE &&
                cleave__block_within(c, c->nodes.items[f->other].block, block));
    default:
        return false;
    }
}

/* Does a condition that must hold outside of the far side rule its NULLs out? */
static bool is_rejected(struct cleave_compile *c, uint32_t block)
{
    for (uint32_t outer = c->blocks.items[block].home; outer != CLEAVE_NONE;
         outer = c->blocks.items[outer].home) {
        const struct cleave_block *o = &c->blocks.items[outer];
        for (uint32_t i = 0; i < o->conditions.count; i++) {
            if (rejects_nulls(c, o->conditions.items[i], block))
                return true;
        }
        /* Conditions of inner joins and subqueries beside it hold as well. */
        for (uint32_t d = 0; d < o->downs.count; d++) {
            const struct cleave_block *down = &c->blocks.items[o->downs.items[d]];
            for (uint32_t i = 0; i < down->conditions.count; i++) {
                if (rejects_nulls(c, down->conditions.items[i], block))
                    return true;
            }
        }
        if (!o->nullable)
            break;
    }
    return false;
}

void cleave__reduce_joins(struct cleave_compile *c, uint32_t first)
{
    bool changed = true;
    while (changed && c->work < CLEAVE_COMPILE_WORK_MAX) {
        changed = false;
        for (uint32_t i = first; i < c->blocks.count; i++) {
            struct cleave_block *block = &c->blocks.items[i];
            if (!block->nullable || !is_rejected(c, i))
                continue;
            changed = true;
            block->nullable = false;
            CLEAVE_APPEND(c, &c->blocks.items[block->home].downs, i);
            if (block->partner != CLEAVE_NONE) {
                /* FULL becomes LEFT: the join's condition now restricts the other side. */
                struct cleave_block *other = &c->blocks.items[block->partner];
                cleave__compile_condition_add(c, block->partner, block->partner_on);
                other->partner = block->partner = CLEAVE_NONE;
            }
        }
    }
}

/* ---- functions ---- */

static const char *function_name(const PgQuery__FuncCall *call)
{
    return call->n_funcname ? cleave__node_string(call->funcname[call->n_funcname - 1]) : NULL;
}

static uint32_t untyped_node(struct cleave_compile *c, uint32_t block)
{
    uint32_t node = cleave__compile_node(c, block);
    c->nodes.items[node].type.family = CLEAVE_FAMILY_ANY;
    return node;
}

/* unnest(array, ...): one column an array, its elements (and NULLs that fill up shorter arrays). */
static void unnest(struct cleave_compile *c, uint32_t block, const PgQuery__FuncCall *call,
                   const char *name, struct cleave_columns *columns)
{
    for (size_t i = 0; i < call->n_args; i++) {
        uint32_t node = untyped_node(c, block);
        cleave__columns_add(c, columns, name, node);
        const struct cleave_expression *array = cleave__compile_array(c, call->args[i]);
        if (!array)
            continue;
        const struct cleave_formula **parts = cleave__compile_alloc(c, 2, sizeof *parts);
        parts[0] = cleave__formula_atom(c, node, CLEAVE_OPERATOR_IN, array);
        parts[1] = cleave__formula_atom(c, node, CLEAVE_OPERATOR_IS_NULL, NULL);
        cleave__compile_condition_add(c, block,
                                      cleave__formula_join(c, CLEAVE_FORMULA_OR, parts, 2));
    }
}

/* generate_series(a, b): between its ends, whichever is larger. */
static void series(struct cleave_compile *c, uint32_t block, const PgQuery__FuncCall *call,
                   const char *name, struct cleave_columns *columns)
{
    uint32_t node = untyped_node(c, block);
    cleave__columns_add(c, columns, name, node);
    const struct cleave_expression *a = cleave__compile_value(c, call->args[0]);
    const struct cleave_expression *b = cleave__compile_value(c, call->args[1]);
    if (!a || !b)
        return;
    const struct cleave_formula **sides = cleave__compile_alloc(c, 6, sizeof *sides);
    sides[0] = cleave__formula_atom(c, node, CLEAVE_OPERATOR_GE, a);
    sides[1] = cleave__formula_atom(c, node, CLEAVE_OPERATOR_LE, b);
    sides[2] = cleave__formula_atom(c, node, CLEAVE_OPERATOR_GE, b);
    sides[3] = cleave__formula_atom(c, node, CLEAVE_OPERATOR_LE, a);
    sides[4] = cleave__formula_join(c, CLEAVE_FORMULA_AND, sides, 2);
    sides[5] = cleave__formula_join(c, CLEAVE_FORMULA_AND, sides + 2, 2);
    cleave__compile_condition_add(c, block,
                                  cleave__formula_join(c, CLEAVE_FORMULA_OR, sides + 4, 2));
}

static struct cleave_columns range_function(struct cleave_compile *c, struct cleave_scope *scope,
                                            uint32_t block, const PgQuery__RangeFunction *range)
{
    uint32_t first = c->references.count;
    struct cleave_columns columns = {.open = false};
    cleave__compile_visit(c, scope, block, &range->base);
    const PgQuery__FuncCall *call = NULL;
    if (range->n_functions == 1 && range->n_coldeflist == 0 &&
        range->functions[0]->node_case == PG_QUERY__NODE__NODE_LIST &&
        range->functions[0]->list->n_items > 0 &&
        range->functions[0]->list->items[0]->node_case == PG_QUERY__NODE__NODE_FUNC_CALL)
        call = range->functions[0]->list->items[0]->func_call;
    const char *name = call ? function_name(call) : NULL;
    const char *alias = range->alias ? range->alias->aliasname : name;
    if (name && strcmp(name, "unnest") == 0 && call->n_args > 0)
        unnest(c, block, call, alias, &columns);
    else if (name && strcmp(name, "generate_series") == 0 && call->n_args >= 2)
        series(c, block, call, alias, &columns);
    else
        columns.open = true;
    if (range->ordinality)
        cleave__columns_add(c, &columns, "ordinality", cleave__compile_node(c, block));
    return add_item(c, scope, range->alias, name, NULL, columns, first);
}

struct cleave_columns cleave__compile_from(struct cleave_compile *c, struct cleave_scope *scope,
                                           uint32_t block, PgQuery__Node *node)
{
    struct cleave_columns unknown = {.open = true};
    uint32_t first = c->references.count;
    if (!node)
        return unknown;
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_RANGE_VAR:
        return range_variable(c, scope, block, node->range_var);
    case PG_QUERY__NODE__NODE_JOIN_EXPR:
        return join(c, scope, block, node->join_expr);
    case PG_QUERY__NODE__NODE_RANGE_SUBSELECT: {
        const PgQuery__RangeSubselect *range = node->range_subselect;
        if (!range->subquery || range->subquery->node_case != PG_QUERY__NODE__NODE_SELECT_STMT)
            return unknown;
        struct cleave_scope *outer = range->lateral ? scope : without_tables(c, scope);
        struct cleave_columns columns =
            cleave__compile_subquery(c, outer, block, range->subquery->select_stmt, false);
        columns = copy_columns(c, &columns);
        return add_item(c, scope, range->alias, NULL, NULL, columns, first);
    }
    case PG_QUERY__NODE__NODE_RANGE_FUNCTION:
        return range_function(c, scope, block, node->range_function);
    case PG_QUERY__NODE__NODE_RANGE_TABLE_SAMPLE:
        cleave__compile_visit_all(c, scope, block, node->range_table_sample->args,
                                  node->range_table_sample->n_args);
        return cleave__compile_from(c, scope, block, node->range_table_sample->relation);
    case PG_QUERY__NODE__NODE_RANGE_TABLE_FUNC: {
        cleave__compile_visit(c, scope, block, &node->base);
        return add_item(c, scope, node->range_table_func->alias, NULL, NULL, unknown, first);
    }
    default:
        cleave__compile_visit(c, scope, block, &node->base);
        return unknown;
    }
}
