/* SELECT: levels, WITH, set operations, VALUES, and how far facts may pass between a subquery and
 * the query around it. */
#include <string.h>

#include "tables/sql/compile.h"

enum { ROWS_TOGETHER_MAX = 64 }; /* VALUES rows kept as rows; more are kept column by column */

static struct cleave_scope *new_scope(struct cleave_compile *c, struct cleave_scope *outer,
                                      uint32_t block)
{
    struct cleave_scope *scope = cleave__compile_alloc(c, 1, sizeof *scope);
    scope->outer = outer;
    scope->block = block;
    return scope;
}

/* Outputs under the same names without anything known about them. */
static struct cleave_columns blank_columns(struct cleave_compile *c, uint32_t block,
                                           const struct cleave_columns *columns)
{
    struct cleave_columns blank = {.open = columns->open};
    for (uint32_t i = 0; i < columns->names.count; i++)
        cleave__columns_add(c, &blank, columns->names.items[i], cleave__compile_node(c, block));
    return blank;
}

static struct cleave_columns rename(struct cleave_compile *c, const struct cleave_columns *columns,
                                    PgQuery__Node *const *names, size_t count)
{
    struct cleave_columns renamed = {.open = false};
    cleave__columns_append(c, &renamed, columns);
    for (size_t i = 0; i < count && i < renamed.names.count; i++) {
        const char *name = cleave__node_string(names[i]);
        if (name)
            renamed.names.items[i] = name;
    }
    return renamed;
}

/* ---- outputs ---- */

/* The name PostgreSQL gives an output that has none. */
static const char *output_name(const PgQuery__Node *node)
{
    if (!node)
        return NULL;
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_COLUMN_REF: {
        const PgQuery__ColumnRef *reference = node->column_ref;
        return reference->n_fields ? cleave__node_string(reference->fields[reference->n_fields - 1])
                                   : NULL;
    }
    case PG_QUERY__NODE__NODE_FUNC_CALL: {
        const PgQuery__FuncCall *call = node->func_call;
        return call->n_funcname ? cleave__node_string(call->funcname[call->n_funcname - 1]) : NULL;
    }
    case PG_QUERY__NODE__NODE_TYPE_CAST: {
        const char *name = output_name(node->type_cast->arg);
        const PgQuery__TypeName *type = node->type_cast->type_name;
        if (!name && type && type->n_names)
            name = cleave__node_string(type->names[type->n_names - 1]);
        return name;
    }
    case PG_QUERY__NODE__NODE_COLLATE_CLAUSE:
        return output_name(node->collate_clause->arg);
    case PG_QUERY__NODE__NODE_SUB_LINK: {
        const PgQuery__Node *query = node->sub_link->subselect;
        if (node->sub_link->sub_link_type != PG_QUERY__SUB_LINK_TYPE__EXPR_SUBLINK || !query ||
            query->node_case != PG_QUERY__NODE__NODE_SELECT_STMT ||
            query->select_stmt->n_target_list != 1 ||
            query->select_stmt->target_list[0]->node_case != PG_QUERY__NODE__NODE_RES_TARGET)
            return NULL;
        const PgQuery__ResTarget *target = query->select_stmt->target_list[0]->res_target;
        return target->name && *target->name ? target->name : output_name(target->val);
    }
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
        return "coalesce";
    default:
        return NULL;
    }
}

/* "*" or "alias.*": true, with the columns it stands for. */
static bool star(struct cleave_compile *c, struct cleave_scope *scope, const PgQuery__Node *value,
                 struct cleave_columns *out)
{
    if (!value || value->node_case != PG_QUERY__NODE__NODE_COLUMN_REF ||
        value->column_ref->n_fields == 0)
        return false;
    const PgQuery__ColumnRef *reference = value->column_ref;
    size_t last = reference->n_fields - 1;
    if (reference->fields[last]->node_case != PG_QUERY__NODE__NODE_A_STAR)
        return false;
    if (last == 0) {
        cleave__columns_append(c, out, &scope->columns);
        return true;
    }
    const char *alias = cleave__node_string(reference->fields[last - 1]);
    const char *schema = last > 1 ? cleave__node_string(reference->fields[last - 2]) : NULL;
    const struct cleave_item *item = alias ? cleave__scope_item(scope, schema, alias) : NULL;
    if (item)
        cleave__columns_append(c, out, &item->columns);
    else
        out->open = true;
    return true;
}

struct cleave_columns cleave__compile_outputs(struct cleave_compile *c, struct cleave_scope *scope,
                                              uint32_t block, PgQuery__Node *const *targets,
                                              size_t count)
{
    struct cleave_columns columns = {.open = false};
    for (size_t i = 0; i < count; i++) {
        if (targets[i]->node_case != PG_QUERY__NODE__NODE_RES_TARGET) {
            cleave__compile_visit(c, scope, block, &targets[i]->base);
            continue;
        }
        const PgQuery__ResTarget *target = targets[i]->res_target;
        const PgQuery__Node *value = target->val;
        if (star(c, scope, value, &columns))
            continue;
        const char *name = target->name && *target->name ? target->name : output_name(value);
        uint32_t node = CLEAVE_NONE;
        if (value && value->node_case == PG_QUERY__NODE__NODE_COLUMN_REF)
            node = cleave__scope_column(c, scope, value->column_ref);
        if (node == CLEAVE_NONE) {
            const struct cleave_expression *constant = cleave__compile_value(c, value);
            node = cleave__compile_node(c, block);
            if (constant) {
                c->nodes.items[node].type.family = CLEAVE_FAMILY_ANY;
                cleave__compile_condition_add(
                    c, block,
                    cleave__formula_atom(c, node, CLEAVE_OPERATOR_NOT_DISTINCT, constant));
            } else if (value) {
                cleave__compile_visit(c, scope, block, &value->base);
            }
        }
        cleave__columns_add(c, &columns, name, node);
    }
    return columns;
}

/* ---- VALUES ---- */

struct cleave_columns cleave__compile_values(struct cleave_compile *c, struct cleave_scope *scope,
                                             uint32_t block, PgQuery__Node *const *lists,
                                             size_t count)
{
    struct cleave_columns columns = {.open = false};
    size_t width = 0;
    for (size_t r = 0; r < count; r++) {
        bool list = lists[r]->node_case == PG_QUERY__NODE__NODE_LIST;
        if (list && (r == 0 || lists[r]->list->n_items < width))
            width = lists[r]->list->n_items;
        if (!list)
            width = 0;
    }
    for (size_t i = 0; i < width; i++) {
        char *name = cleave__compile_alloc(c, 32, 1);
        char *p = stpcpy(name, "column");
        char digits[24];
        int n = 0;
        for (size_t v = i + 1; v; v /= 10)
            digits[n++] = (char)('0' + v % 10);
        while (n)
            *p++ = digits[--n];
        uint32_t node = cleave__compile_node(c, block);
        c->nodes.items[node].type.family = CLEAVE_FAMILY_ANY;
        cleave__columns_add(c, &columns, name, node);
    }
    bool together = count <= ROWS_TOGETHER_MAX;
    const struct cleave_formula **atoms =
        cleave__compile_alloc(c, count * width + 1, sizeof *atoms);
    bool *known = cleave__compile_alloc(c, width + 1, sizeof *known);
    for (size_t i = 0; i < width; i++)
        known[i] = true;
    for (size_t r = 0; r < count; r++) {
        for (size_t i = 0; i < width; i++) {
            const PgQuery__Node *item = lists[r]->list->items[i];
            const struct cleave_expression *value = cleave__compile_value(c, item);
            known[i] &= value != NULL;
            size_t at = together ? r * width + i : i * count + r;
            if (value)
                atoms[at] = cleave__formula_atom(c, columns.nodes.items[i],
                                                 CLEAVE_OPERATOR_NOT_DISTINCT, value);
            else
                cleave__compile_visit(c, scope, block, &item->base);
        }
    }
    static const struct cleave_formula formula_true = {.kind = CLEAVE_FORMULA_TRUE};
    size_t groups = together ? count : width, size = together ? width : count;
    const struct cleave_formula **parts = cleave__compile_alloc(c, groups + 1, sizeof *parts);
    for (size_t g = 0; g < groups; g++) {
        for (size_t k = 0; k < size; k++) {
            if (!known[together ? k : g])
                atoms[g * size + k] = &formula_true;
        }
        parts[g] = cleave__formula_join(c, together ? CLEAVE_FORMULA_AND : CLEAVE_FORMULA_OR,
                                        atoms + g * size, (uint32_t)size);
    }
    if (groups && width)
        cleave__compile_condition_add(
            c, block,
            cleave__formula_join(c, together ? CLEAVE_FORMULA_OR : CLEAVE_FORMULA_AND, parts,
                                 (uint32_t)groups));
    return columns;
}

/* ---- set operations ---- */

static struct cleave_columns set_operation(struct cleave_compile *c, struct cleave_scope *scope,
                                           uint32_t block, PgQuery__SelectStmt *select)
{
    /* Each branch sees what is asked of the result's columns; the result knows nothing of its
     * branches, as a row may come from either. */
    uint32_t left_block = cleave__compile_block(c, block, CLEAVE_FLOW_ALL);
    uint32_t right_block = cleave__compile_block(c, block, CLEAVE_FLOW_ALL);
    struct cleave_columns none = {.open = true};
    struct cleave_columns left =
        select->larg ? cleave__compile_select(c, scope, left_block, select->larg) : none;
    struct cleave_columns right =
        select->rarg ? cleave__compile_select(c, scope, right_block, select->rarg) : none;
    struct cleave_columns columns = {.open = left.open};
    for (uint32_t i = 0; i < left.names.count; i++) {
        uint32_t node = cleave__compile_node(c, block);
        cleave__columns_add(c, &columns, left.names.items[i], node);
        if (left.open || right.open || i >= right.nodes.count)
            continue; /* positions are not sure */
        uint32_t x = left.nodes.items[i], y = right.nodes.items[i];
        const struct cleave_domain_type *p = &c->nodes.items[x].type, *q = &c->nodes.items[y].type;
        if (p->family != q->family || (p->family == CLEAVE_FAMILY_OTHER &&
                                       (!p->name || !q->name || strcmp(p->name, q->name) != 0)))
            continue;
        c->nodes.items[node].type = *p;
        struct cleave_formula *link = cleave__compile_alloc(c, 2, sizeof *link);
        link[0] = (struct cleave_formula){.kind = CLEAVE_FORMULA_EQUAL, .node = node, .other = x};
        link[1] = (struct cleave_formula){.kind = CLEAVE_FORMULA_EQUAL, .node = node, .other = y};
        cleave__compile_condition_add(c, left_block, &link[0]);
        cleave__compile_condition_add(c, right_block, &link[1]);
    }
    return columns;
}

/* ---- WITH ---- */

static struct cleave_scope *cte_scope(struct cleave_compile *c, struct cleave_scope *scope,
                                      struct cleave_cte *visible)
{
    struct cleave_scope *made = new_scope(c, scope->outer, scope->block);
    made->ctes = visible;
    return made;
}

/* WITH RECURSIVE: the part that refers to itself learns the names from the part that does not. */
static void compile_recursive(struct cleave_compile *c, struct cleave_cte *cte, uint32_t block,
                              PgQuery__SelectStmt *select)
{
    struct cleave_scope *scope = new_scope(c, cte->scope, block);
    if (select->with_clause)
        cleave__compile_with(c, scope, select->with_clause);
    struct cleave_columns first = {.open = true};
    cte->in_progress = true;
    cte->columns = first;
    if (select->op == PG_QUERY__SET_OPERATION__SETOP_UNION && select->larg && select->rarg) {
        uint32_t left = cleave__compile_block(c, block, CLEAVE_FLOW_NONE);
        first = cleave__compile_select(c, scope, left, select->larg);
        cte->columns = rename(c, &first, cte->tree->aliascolnames, cte->tree->n_aliascolnames);
        uint32_t right = cleave__compile_block(c, block, CLEAVE_FLOW_NONE);
        cleave__compile_select(c, scope, right, select->rarg);
        cleave__compile_visit_all(c, scope, block, select->sort_clause, select->n_sort_clause);
        cleave__compile_visit(c, scope, block,
                              select->limit_count ? &select->limit_count->base : NULL);
    } else {
        first = cleave__compile_select(c, scope, block, select);
        cte->columns = rename(c, &first, cte->tree->aliascolnames, cte->tree->n_aliascolnames);
    }
    cleave__compile_unused(c, scope->ctes, NULL);
    cte->in_progress = false;
    /* SEARCH and CYCLE add columns. */
    cte->columns.open |= cte->tree->search_clause || cte->tree->cycle_clause;
}

/* The body on its own: what uses it asks nothing of it. */
static void compile_alone(struct cleave_compile *c, struct cleave_cte *cte, uint32_t home)
{
    PgQuery__Node *query = cte->tree->ctequery;
    uint32_t block = cleave__compile_block(c, home, CLEAVE_FLOW_NONE);
    struct cleave_columns columns = {.open = true};
    cte->compiled = true;
    cte->block = CLEAVE_NONE;
    if (query && query->node_case == PG_QUERY__NODE__NODE_SELECT_STMT) {
        if (cleave__scope_cte(cte->scope, cte->name) == cte &&
            cleave__has_name(&query->base, cte->name)) {
            compile_recursive(c, cte, block, query->select_stmt);
            return;
        }
        /* A subquery block of its own decides whether its conditions hold for every row. */
        columns = cleave__compile_subquery(c, cte->scope, block, query->select_stmt, false);
        cte->block = block;
    } else if (query && cleave__is_change(query)) {
        columns = cleave__compile_change(c, cte->scope, block, query);
        cte->block = block;
    } else if (query) {
        cleave__compile_visit(c, cte->scope, block, &query->base);
    }
    cte->columns = rename(c, &columns, cte->tree->aliascolnames, cte->tree->n_aliascolnames);
}

void cleave__compile_with(struct cleave_compile *c, struct cleave_scope *scope,
                          PgQuery__WithClause *with)
{
    struct cleave_cte *last = scope->ctes;
    for (size_t i = 0; i < with->n_ctes; i++) {
        if (with->ctes[i]->node_case != PG_QUERY__NODE__NODE_COMMON_TABLE_EXPR)
            continue;
        struct cleave_cte *cte = cleave__compile_alloc(c, 1, sizeof *cte);
        cte->tree = with->ctes[i]->common_table_expr;
        cte->name = cte->tree->ctename ? cte->tree->ctename : "";
        cte->block = CLEAVE_NONE;
        cte->next = scope->ctes;
        scope->ctes = cte;
    }
    /* Once all are named: a recursive list may look ahead, a plain one only back. */
    for (struct cleave_cte *cte = scope->ctes; cte != last; cte = cte->next) {
        cte->scope = cte_scope(c, scope, with->recursive ? scope->ctes : cte->next);
        cte->uses = cleave__count_names(c, cte->name);
    }
    /* In order: changes always run; what is used more than once (or not at all) stands alone. */
    uint32_t count = 0;
    for (struct cleave_cte *cte = scope->ctes; cte != last; cte = cte->next)
        count++;
    struct cleave_cte **ordered = cleave__compile_alloc(c, (size_t)count + 1, sizeof *ordered);
    uint32_t n = count;
    for (struct cleave_cte *cte = scope->ctes; cte != last; cte = cte->next)
        ordered[--n] = cte;
    for (uint32_t i = 0; i < count; i++) {
        struct cleave_cte *cte = ordered[i];
        bool alone = cte->uses != 1 || !cte->tree->ctequery ||
                     cte->tree->ctequery->node_case != PG_QUERY__NODE__NODE_SELECT_STMT ||
                     cte->tree->ctematerialized == PG_QUERY__CTEMATERIALIZE__CTEMaterializeAlways ||
                     (with->recursive && cleave__has_name(&cte->tree->ctequery->base, cte->name));
        if (alone && !cte->compiled)
            compile_alone(c, cte, scope->block);
    }
}

void cleave__compile_unused(struct cleave_compile *c, struct cleave_cte *from,
                            struct cleave_cte *to)
{
    for (struct cleave_cte *cte = from; cte != to; cte = cte->next) {
        if (!cte->compiled)
            compile_alone(c, cte, cte->scope->block);
    }
}

struct cleave_columns cleave__compile_cte_use(struct cleave_compile *c, struct cleave_cte *cte,
                                              uint32_t block)
{
    if (cte->in_progress)
        return blank_columns(c, block, &cte->columns);
    if (!cte->compiled && cte->uses == 1) {
        cte->compiled = true;
        struct cleave_columns columns =
            cleave__compile_subquery(c, cte->scope, block, cte->tree->ctequery->select_stmt, false);
        return rename(c, &columns, cte->tree->aliascolnames, cte->tree->n_aliascolnames);
    }
    if (!cte->compiled)
        compile_alone(c, cte, cte->scope->block);
    if (cte->in_progress || cte->block == CLEAVE_NONE || cte->uses != 1)
        return blank_columns(c, block, &cte->columns);
    c->blocks.items[cte->block].home = block; /* where its rows may turn into NULLs */
    CLEAVE_APPEND(c, &c->blocks.items[block].downs, cte->block);
    return cte->columns;
}

/* ---- levels ---- */

static void lock_rows(struct cleave_compile *c, const struct cleave_scope *scope,
                      const PgQuery__SelectStmt *select, uint32_t first, uint32_t end)
{
    for (size_t i = 0; i < select->n_locking_clause; i++) {
        if (select->locking_clause[i]->node_case != PG_QUERY__NODE__NODE_LOCKING_CLAUSE)
            continue;
        const PgQuery__LockingClause *clause = select->locking_clause[i]->locking_clause;
        for (uint32_t r = first; r < end && clause->n_locked_rels == 0; r++)
            c->references.items[r].locks = true;
        for (size_t k = 0; k < clause->n_locked_rels; k++) {
            const PgQuery__Node *named = clause->locked_rels[k];
            if (named->node_case != PG_QUERY__NODE__NODE_RANGE_VAR || !named->range_var->relname)
                continue;
            for (uint32_t j = 0; j < scope->items.count; j++) {
                const struct cleave_item *item = &scope->items.items[j];
                if (!item->alias || strcmp(item->alias, named->range_var->relname) != 0)
                    continue;
                for (uint32_t r = 0; r < item->reference_count; r++)
                    c->references.items[item->first_reference + r].locks = true;
            }
        }
    }
}

struct cleave_columns cleave__compile_select(struct cleave_compile *c, struct cleave_scope *outer,
                                             uint32_t block, PgQuery__SelectStmt *select)
{
    struct cleave_scope *scope = new_scope(c, outer, block);
    uint32_t first_block = c->blocks.count;
    struct cleave_columns columns;
    c->work++;
    if (select->with_clause)
        cleave__compile_with(c, scope, select->with_clause);
    if (select->n_values_lists) {
        columns =
            cleave__compile_values(c, scope, block, select->values_lists, select->n_values_lists);
    } else if (select->op != PG_QUERY__SET_OPERATION__SETOP_NONE &&
               select->op != PG_QUERY__SET_OPERATION__SET_OPERATION_UNDEFINED) {
        columns = set_operation(c, scope, block, select);
    } else {
        uint32_t first = c->references.count;
        for (size_t i = 0; i < select->n_from_clause; i++) {
            struct cleave_columns part =
                cleave__compile_from(c, scope, block, select->from_clause[i]);
            cleave__columns_append(c, &scope->columns, &part);
        }
        uint32_t end = c->references.count;
        cleave__compile_where(c, scope, block, select->where_clause);
        cleave__reduce_joins(c, first_block);
        columns =
            cleave__compile_outputs(c, scope, block, select->target_list, select->n_target_list);
        lock_rows(c, scope, select, first, end);
        cleave__compile_visit_all(c, scope, block, select->group_clause, select->n_group_clause);
        cleave__compile_visit_all(c, scope, block, select->window_clause, select->n_window_clause);
        cleave__compile_visit_all(c, scope, block, select->distinct_clause,
                                  select->n_distinct_clause);
        cleave__compile_visit(c, scope, block,
                              select->having_clause ? &select->having_clause->base : NULL);
    }
    cleave__compile_visit_all(c, scope, block, select->sort_clause, select->n_sort_clause);
    cleave__compile_visit(c, scope, block, select->limit_count ? &select->limit_count->base : NULL);
    cleave__compile_visit(c, scope, block,
                          select->limit_offset ? &select->limit_offset->base : NULL);
    cleave__compile_unused(c, scope->ctes, NULL);
    return columns;
}

/* What lies between the joins of a query and its rows. */
struct shape {
    enum cleave_flow flow; /* of facts from outside to the joins */
    bool downs;            /* a row outside proves the conditions inside */
    bool merge;            /* nothing at all */
};

static bool has_grouping_sets(const PgQuery__SelectStmt *select)
{
    for (size_t i = 0; i < select->n_group_clause; i++) {
        if (select->group_clause[i]->node_case == PG_QUERY__NODE__NODE_GROUPING_SET)
            return true;
    }
    return false;
}

static struct shape shape_of(const PgQuery__SelectStmt *select, bool exists)
{
    struct shape shape = {CLEAVE_FLOW_ALL, true, false};
    struct cleave_call_summary calls = {false, false, false};
    bool limit = (select->limit_count || select->limit_offset) && !exists;
    if (select->op != PG_QUERY__SET_OPERATION__SETOP_NONE &&
        select->op != PG_QUERY__SET_OPERATION__SET_OPERATION_UNDEFINED) {
        shape.downs = false;
        if (limit)
            shape.flow = CLEAVE_FLOW_MASKED;
        return shape;
    }
    for (size_t i = 0; i < select->n_target_list; i++)
        cleave__summarize_calls(&select->target_list[i]->base, &calls);
    for (size_t i = 0; i < select->n_sort_clause; i++)
        cleave__summarize_calls(&select->sort_clause[i]->base, &calls);
    bool grouped = select->n_group_clause > 0;
    bool distinct_on = select->n_distinct_clause > 0 &&
                       select->distinct_clause[0]->node_case != PG_QUERY__NODE__NODE__NOT_SET;
    bool one_row = !grouped && (calls.aggregate || calls.unknown || select->having_clause);
    if (one_row || has_grouping_sets(select)) {
        shape.flow = CLEAVE_FLOW_MASKED;
        shape.downs = false;
    } else if (limit || distinct_on || calls.window || select->n_window_clause) {
        shape.flow = CLEAVE_FLOW_MASKED;
    } else {
        shape.merge = !grouped;
    }
    return shape;
}

struct cleave_columns cleave__compile_subquery(struct cleave_compile *c, struct cleave_scope *outer,
                                               uint32_t block, PgQuery__SelectStmt *select,
                                               bool exists)
{
    struct shape shape = shape_of(select, exists);
    if (shape.merge)
        return cleave__compile_select(c, outer, block, select);
    uint32_t inner = cleave__compile_block(c, block, shape.flow);
    if (shape.downs)
        CLEAVE_APPEND(c, &c->blocks.items[block].downs, inner);
    return cleave__compile_select(c, outer, inner, select);
}
