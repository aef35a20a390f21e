/* INSERT, UPDATE, DELETE and MERGE: what they read as any query does, what they write, where an
 * UPDATE moves rows to, and which rows ON CONFLICT meets. */
#include <stdlib.h>
#include <string.h>

#include "tables/sql/compile.h"

bool cleave__is_change(const PgQuery__Node *node)
{
    return node->node_case == PG_QUERY__NODE__NODE_INSERT_STMT ||
           node->node_case == PG_QUERY__NODE__NODE_UPDATE_STMT ||
           node->node_case == PG_QUERY__NODE__NODE_DELETE_STMT ||
           node->node_case == PG_QUERY__NODE__NODE_MERGE_STMT;
}

static struct cleave_scope *new_scope(struct cleave_compile *c, struct cleave_scope *outer,
                                      uint32_t block)
{
    struct cleave_scope *scope = cleave__compile_alloc(c, 1, sizeof *scope);
    scope->outer = outer;
    scope->block = block;
    return scope;
}

static const struct cleave_table *table_of(const struct cleave_compile *c, uint32_t table)
{
    return &c->catalog->schema->tables[table];
}

static uint32_t column_index(const struct cleave_table *table, const char *name)
{
    return name ? cleave__schema_column(table, name, strlen(name)) : CLEAVE_ABSENT;
}

static bool key_has(const struct cleave_key *key, uint32_t column)
{
    for (uint32_t i = 0; i < key->count; i++) {
        if (key->columns[i] == column)
            return true;
    }
    return false;
}

/* ---- SET ---- */

static int compare_assignments(const void *a, const void *b)
{
    const struct cleave_assignment *x = a, *y = b;
    return (x->column > y->column) - (x->column < y->column);
}

/* The constant on the right side of one assignment, or NULL; visits the rest. */
static const struct cleave_expression *assigned_value(struct cleave_compile *c,
                                                      struct cleave_scope *scope, uint32_t block,
                                                      const PgQuery__ResTarget *target)
{
    const PgQuery__Node *value = target->val;
    if (value && value->node_case == PG_QUERY__NODE__NODE_MULTI_ASSIGN_REF) {
        const PgQuery__MultiAssignRef *multiple = value->multi_assign_ref;
        const PgQuery__Node *source = multiple->source;
        size_t at = multiple->colno > 0 ? (size_t)multiple->colno - 1 : SIZE_MAX;
        if (source && source->node_case == PG_QUERY__NODE__NODE_ROW_EXPR) {
            value = at < source->row_expr->n_args ? source->row_expr->args[at] : NULL;
        } else { /* (a, b) = (SELECT ...): read once, for the first column */
            if (source && at == 0)
                cleave__compile_visit(c, scope, block, &source->base);
            return NULL;
        }
    }
    const struct cleave_expression *constant =
        target->n_indirection ? NULL : cleave__compile_value(c, value);
    if (!constant && value)
        cleave__compile_visit(c, scope, block, &value->base);
    return constant;
}

/* The assignments that matter: columns ascending, distinct. True when one that may move the row is
 * among them. */
static bool assignments(struct cleave_compile *c, struct cleave_scope *scope, uint32_t block,
                        PgQuery__Node *const *targets, size_t count,
                        const struct cleave_columns *columns, uint32_t reference,
                        const struct cleave_assignment **out, uint32_t *out_count)
{
    struct cleave_assignment *list = cleave__compile_keep(c, count ? count : 1, sizeof *list);
    uint32_t n = 0;
    bool key = false;
    for (size_t i = 0; i < count; i++) {
        if (targets[i]->node_case != PG_QUERY__NODE__NODE_RES_TARGET)
            continue;
        const PgQuery__ResTarget *target = targets[i]->res_target;
        const struct cleave_expression *value = assigned_value(c, scope, block, target);
        uint32_t matches;
        uint32_t at =
            target->name ? cleave__columns_find(columns, target->name, &matches) : CLEAVE_NONE;
        if (at == CLEAVE_NONE || reference == CLEAVE_NONE)
            continue;
        /* Through a view the name may be another one's. */
        const struct cleave_node *node = &c->nodes.items[columns->nodes.items[at]];
        if (node->reference != reference)
            continue;
        list[n++] = (struct cleave_assignment){node->column, value};
        key |= c->catalog->places[c->references.items[reference].table][node->column];
    }
    qsort(list, n, sizeof *list, compare_assignments);
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (distinct == 0 || list[distinct - 1].column != list[i].column)
            list[distinct++] = list[i];
    }
    *out = list;
    *out_count = distinct;
    return key;
}

/* One more access like `reference`: the same rows, changed. */
static uint32_t copy_reference(struct cleave_compile *c, uint32_t reference)
{
    struct cleave_reference copy = c->references.items[reference];
    copy.like = reference;
    CLEAVE_APPEND(c, &c->references, copy);
    return c->references.count - 1;
}

/* RETURNING: a column that was assigned is no longer what the conditions said. */
static struct cleave_columns returning(struct cleave_compile *c, struct cleave_scope *scope,
                                       uint32_t block, PgQuery__Node *const *targets, size_t count,
                                       uint32_t reference, const struct cleave_assignment *assigned,
                                       uint32_t assigned_count)
{
    struct cleave_columns columns = cleave__compile_outputs(c, scope, block, targets, count);
    for (uint32_t i = 0; i < columns.nodes.count; i++) {
        const struct cleave_node *node = &c->nodes.items[columns.nodes.items[i]];
        for (uint32_t a = 0; a < assigned_count; a++) {
            if (node->reference == reference && node->column == assigned[a].column) {
                columns.nodes.items[i] = cleave__compile_node(c, block);
                break;
            }
        }
    }
    return columns;
}

static struct cleave_columns compile_update(struct cleave_compile *c, struct cleave_scope *scope,
                                            uint32_t block, const PgQuery__UpdateStmt *update)
{
    uint32_t first_block = c->blocks.count;
    struct cleave_columns target;
    uint32_t reference = cleave__compile_target(c, scope, block, update->relation, &target);
    cleave__columns_append(c, &scope->columns, &target);
    for (size_t i = 0; i < update->n_from_clause; i++) {
        struct cleave_columns part = cleave__compile_from(c, scope, block, update->from_clause[i]);
        cleave__columns_append(c, &scope->columns, &part);
    }
    cleave__compile_where(c, scope, block, update->where_clause);
    cleave__reduce_joins(c, first_block);
    const struct cleave_assignment *assigned;
    uint32_t count;
    if (assignments(c, scope, block, update->target_list, update->n_target_list, &target, reference,
                    &assigned, &count)) {
        uint32_t moved = copy_reference(c, reference);
        c->references.items[moved].assigned = assigned;
        c->references.items[moved].assigned_count = count;
    }
    return returning(c, scope, block, update->returning_list, update->n_returning_list, reference,
                     assigned, count);
}

static struct cleave_columns compile_delete(struct cleave_compile *c, struct cleave_scope *scope,
                                            uint32_t block, const PgQuery__DeleteStmt *delete)
{
    uint32_t first_block = c->blocks.count;
    struct cleave_columns target;
    cleave__compile_target(c, scope, block, delete->relation, &target);
    cleave__columns_append(c, &scope->columns, &target);
    for (size_t i = 0; i < delete->n_using_clause; i++) {
        struct cleave_columns part = cleave__compile_from(c, scope, block, delete->using_clause[i]);
        cleave__columns_append(c, &scope->columns, &part);
    }
    cleave__compile_where(c, scope, block, delete->where_clause);
    cleave__reduce_joins(c, first_block);
    return cleave__compile_outputs(c, scope, block, delete->returning_list,
                                   delete->n_returning_list);
}

/* ---- INSERT ---- */

/* Does a value keep its identity on its way from an output into a column? */
static bool is_stored_unchanged(const struct cleave_domain_type *from,
                                const struct cleave_domain_type *to)
{
    bool bounded = to->modifier >= 0;
    if (from->family == CLEAVE_FAMILY_INTEGER && to->family == CLEAVE_FAMILY_NUMERIC)
        return true;
    if (from->family != to->family && from->family != CLEAVE_FAMILY_ANY)
        return false;
    switch (to->family) {
    case CLEAVE_FAMILY_OPAQUE:
    case CLEAVE_FAMILY_ANY:
        return false;
    case CLEAVE_FAMILY_NUMERIC:
    case CLEAVE_FAMILY_TIMESTAMP:
    case CLEAVE_FAMILY_TIMESTAMPTZ:
    case CLEAVE_FAMILY_TIME: /* may be rounded */
        return !bounded || (from->family == to->family && from->modifier >= 0 &&
                            from->modifier <= to->modifier);
    case CLEAVE_FAMILY_OTHER:
        return from->family == CLEAVE_FAMILY_ANY ||
               (from->name && to->name && strcmp(from->name, to->name) == 0);
    default:
        return true;
    }
}

/* The columns an INSERT fills, in its order. */
static uint32_t target_columns(struct cleave_compile *c, const struct cleave_table *table,
                               PgQuery__Node *const *names, size_t count, uint32_t **out)
{
    uint32_t n = count ? (uint32_t)count : table->column_count;
    *out = cleave__compile_alloc(c, (size_t)n + 1, sizeof **out);
    for (uint32_t i = 0; i < n; i++) {
        (*out)[i] = i;
        if (!count)
            continue;
        const PgQuery__ResTarget *target =
            names[i]->node_case == PG_QUERY__NODE__NODE_RES_TARGET ? names[i]->res_target : NULL;
        (*out)[i] = target && target->n_indirection == 0 ? column_index(table, target->name)
                                                         : CLEAVE_ABSENT;
    }
    return n;
}

/* VALUES as a list of rows: columns ascending, one expression (or NULL) each. */
static const struct cleave_program *value_rows(struct cleave_compile *c, struct cleave_scope *scope,
                                               uint32_t block, const struct cleave_table *table,
                                               const uint32_t *targets, uint32_t target_count,
                                               PgQuery__Node *const *lists, size_t count)
{
    struct cleave_program *rows = cleave__compile_keep(c, 1, sizeof *rows);
    uint32_t *place = cleave__compile_alloc(c, (size_t)table->column_count + 1, sizeof *place);
    uint32_t *columns = cleave__compile_keep(c, (size_t)target_count + 1, sizeof *columns);
    for (uint32_t i = 0; i < target_count; i++) {
        if (targets[i] < table->column_count)
            place[targets[i]] = i + 1;
    }
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (place[i])
            columns[rows->column_count++] = i;
    }
    if (count > UINT32_MAX)
        cleave__compile_fail(c, CLEAVE_LIMIT, "too many rows");
    rows->row_count = (uint32_t)count;
    rows->columns = columns;
    rows->values = cleave__compile_keep(c, count * rows->column_count + 1, sizeof *rows->values);
    for (uint32_t r = 0; r < rows->row_count; r++) {
        if (lists[r]->node_case != PG_QUERY__NODE__NODE_LIST)
            continue;
        const PgQuery__List *list = lists[r]->list;
        const struct cleave_expression **values = rows->values + (size_t)r * rows->column_count;
        for (uint32_t k = 0; k < rows->column_count; k++) {
            uint32_t at = place[columns[k]] - 1;
            if (at < list->n_items)
                values[k] = cleave__compile_value(c, list->items[at]);
        }
        for (size_t i = 0; i < list->n_items; i++)
            cleave__compile_visit(c, scope, block, &list->items[i]->base);
    }
    return rows;
}

/* Is the column given by the INSERT, or else not made up by the server? A generated number or uuid
 * meets no row that is there. */
static bool may_conflict(const struct cleave_compile *c, uint32_t table,
                         const struct cleave_key *key, const uint32_t *targets,
                         uint32_t target_count)
{
    for (uint32_t k = 0; k < key->count; k++) {
        bool given = false;
        for (uint32_t i = 0; i < target_count; i++)
            given |= targets[i] == key->columns[k];
        enum cleave_family family = c->catalog->types[table][key->columns[k]].family;
        if (!given && table_of(c, table)->columns[key->columns[k]].has_default &&
            (family == CLEAVE_FAMILY_INTEGER || family == CLEAVE_FAMILY_UUID))
            return false;
    }
    return true;
}

/* The keys in which new rows may meet old ones. */
static const struct cleave_key *conflict_keys(struct cleave_compile *c, uint32_t table,
                                              const PgQuery__InferClause *infer,
                                              const uint32_t *targets, uint32_t target_count,
                                              uint32_t *count)
{
    const struct cleave_table *t = table_of(c, table);
    struct cleave_key *keys = cleave__compile_keep(c, (size_t)t->unique_count + 1, sizeof *keys);
    *count = 0;
    if (infer && infer->n_index_elems) {
        uint32_t *columns = cleave__compile_keep(c, infer->n_index_elems, sizeof *columns);
        uint32_t n = 0;
        for (size_t i = 0; i < infer->n_index_elems; i++) {
            const PgQuery__Node *element = infer->index_elems[i];
            uint32_t column = CLEAVE_ABSENT;
            if (element->node_case == PG_QUERY__NODE__NODE_INDEX_ELEM && element->index_elem->name)
                column = column_index(t, element->index_elem->name);
            const struct cleave_key so_far = {n, columns};
            /* An expression may be any value. */
            if (column != CLEAVE_ABSENT && !key_has(&so_far, column))
                columns[n++] = column;
        }
        keys[(*count)++] = (struct cleave_key){n, columns};
        return keys;
    }
    if (t->primary.count && may_conflict(c, table, &t->primary, targets, target_count))
        keys[(*count)++] = t->primary;
    for (uint32_t i = 0; i < t->unique_count; i++) {
        if (may_conflict(c, table, &t->uniques[i], targets, target_count))
            keys[(*count)++] = t->uniques[i];
    }
    return keys;
}

static void on_conflict(struct cleave_compile *c, struct cleave_scope *scope, uint32_t block,
                        uint32_t reference, const PgQuery__OnConflictClause *clause,
                        const struct cleave_columns *table_columns, const uint32_t *targets,
                        uint32_t target_count)
{
    uint32_t key_count;
    const struct cleave_key *keys = conflict_keys(c, c->references.items[reference].table,
                                                  clause->infer, targets, target_count, &key_count);
    /* SET and WHERE see the table and "excluded". */
    struct cleave_scope *inner = new_scope(c, scope, block);
    inner->items = scope->items;
    inner->columns = scope->columns;
    inner->columns.open = true;
    const struct cleave_assignment *assigned;
    uint32_t count;
    bool key = assignments(c, inner, block, clause->target_list, clause->n_target_list,
                           table_columns, reference, &assigned, &count);
    cleave__compile_visit(c, inner, block,
                          clause->where_clause ? &clause->where_clause->base : NULL);
    if (key_count == 0)
        return;
    bool update = clause->action == PG_QUERY__ON_CONFLICT_ACTION__ONCONFLICT_UPDATE;
    uint32_t met = copy_reference(c, reference);
    struct cleave_reference *r = &c->references.items[met];
    r->insert = false;
    r->write = true; /* DO NOTHING too: looking for the row is part of the INSERT */
    r->conflict = true;
    r->keys = keys;
    r->key_count = key_count;
    if (update && key) {
        uint32_t moved = copy_reference(c, met);
        c->references.items[moved].like = reference;
        c->references.items[moved].assigned = assigned;
        c->references.items[moved].assigned_count = count;
    }
}

static struct cleave_columns compile_insert(struct cleave_compile *c, struct cleave_scope *scope,
                                            uint32_t block, const PgQuery__InsertStmt *insert)
{
    PgQuery__SelectStmt *select =
        insert->select_stmt && insert->select_stmt->node_case == PG_QUERY__NODE__NODE_SELECT_STMT
            ? insert->select_stmt->select_stmt
            : NULL;
    struct cleave_columns none = {.open = true};
    uint32_t table = cleave__compile_table(c, insert->relation);
    if (table == CLEAVE_ABSENT || table_of(c, table)->view) {
        if (table == CLEAVE_ABSENT)
            c->unknown_tables++;
        else
            c->opaque = 1;
        if (select)
            cleave__compile_select(c, scope, block, select);
        scope->columns.open = true;
        return cleave__compile_outputs(c, scope, block, insert->returning_list,
                                       insert->n_returning_list);
    }
    struct cleave_columns columns;
    uint32_t reference = cleave__compile_target(c, scope, block, insert->relation, &columns);
    c->references.items[reference].insert = true;
    uint32_t *targets;
    uint32_t count = target_columns(c, table_of(c, table), insert->cols, insert->n_cols, &targets);
    bool plain_values = select && select->n_values_lists && !select->with_clause &&
                        !select->limit_count && !select->limit_offset;
    /* The new row's names are for ON CONFLICT and RETURNING; the query does not see them. */
    struct cleave_scope *outside = new_scope(c, scope->outer, block);
    outside->ctes = scope->ctes;
    cleave__columns_append(c, &scope->columns, &columns);
    if (!select) { /* DEFAULT VALUES */
        struct cleave_program *rows = cleave__compile_keep(c, 1, sizeof *rows);
        rows->row_count = 1;
        rows->columns = cleave__compile_keep(c, 1, sizeof *rows->columns);
        rows->values = cleave__compile_keep(c, 1, sizeof *rows->values);
        c->references.items[reference].rows = rows;
        count = 0;
    } else if (plain_values) {
        const struct cleave_program *rows =
            value_rows(c, outside, block, table_of(c, table), targets, count, select->values_lists,
                       select->n_values_lists);
        c->references.items[reference].rows = rows;
    } else {
        struct cleave_columns outputs = cleave__compile_subquery(c, outside, block, select, false);
        for (uint32_t i = 0; i < count && i < outputs.nodes.count && !outputs.open; i++) {
            if (targets[i] >= table_of(c, table)->column_count)
                continue;
            uint32_t from = outputs.nodes.items[i];
            uint32_t to = c->references.items[reference].first_node + targets[i];
            if (!is_stored_unchanged(&c->nodes.items[from].type, &c->nodes.items[to].type))
                continue;
            struct cleave_formula *link = cleave__compile_alloc(c, 1, sizeof *link);
            *link = (struct cleave_formula){
                .kind = CLEAVE_FORMULA_EQUAL, .node = to, .other = from}; /* NULLs too */
            cleave__compile_condition_add(c, block, link);
        }
    }
    if (insert->on_conflict_clause)
        on_conflict(c, scope, block, reference, insert->on_conflict_clause, &columns, targets,
                    count);
    struct cleave_columns out =
        cleave__compile_outputs(c, scope, block, insert->returning_list, insert->n_returning_list);
    if (plain_values || insert->on_conflict_clause) {
        none.open = false; /* the row returned may be the old one */
        for (uint32_t i = 0; i < out.names.count; i++)
            cleave__columns_add(c, &none, out.names.items[i], cleave__compile_node(c, block));
        none.open = out.open;
        return none;
    }
    return out;
}

/* ---- MERGE ---- */

static void merge_insert(struct cleave_compile *c, struct cleave_scope *scope, uint32_t block,
                         uint32_t table, const PgQuery__MergeWhenClause *clause)
{
    /* The new row sees the source: a reference in a block inside it. */
    uint32_t inner = cleave__compile_block(c, block, CLEAVE_FLOW_ALL);
    uint32_t reference = cleave__compile_reference(c, table, inner);
    c->references.items[reference].write = c->references.items[reference].insert = true;
    uint32_t *targets;
    uint32_t count =
        target_columns(c, table_of(c, table), clause->target_list, clause->n_target_list, &targets);
    for (uint32_t i = 0; i < count && i < clause->n_values; i++) {
        const PgQuery__Node *value = clause->values[i];
        if (targets[i] >= table_of(c, table)->column_count)
            continue;
        uint32_t to = c->references.items[reference].first_node + targets[i];
        uint32_t from = CLEAVE_NONE;
        if (value->node_case == PG_QUERY__NODE__NODE_COLUMN_REF) {
            from = cleave__scope_column(c, scope, value->column_ref);
        } else {
            const struct cleave_expression *constant = cleave__compile_value(c, value);
            if (constant) {
                from = cleave__compile_node(c, inner);
                c->nodes.items[from].type.family = CLEAVE_FAMILY_ANY;
                cleave__compile_condition_add(
                    c, inner,
                    cleave__formula_atom(c, from, CLEAVE_OPERATOR_NOT_DISTINCT, constant));
            }
        }
        if (from == CLEAVE_NONE ||
            !is_stored_unchanged(&c->nodes.items[from].type, &c->nodes.items[to].type))
            continue;
        struct cleave_formula *link = cleave__compile_alloc(c, 1, sizeof *link);
        *link = (struct cleave_formula){.kind = CLEAVE_FORMULA_EQUAL, .node = to, .other = from};
        cleave__compile_condition_add(c, inner, link);
    }
    cleave__compile_visit_all(c, scope, inner, clause->values, clause->n_values);
}

static void compile_merge(struct cleave_compile *c, struct cleave_scope *scope, uint32_t block,
                          const PgQuery__MergeStmt *merge)
{
    /* Target rows are those that the condition matches with a source row; source rows count
     * whether or not they match: the target is the far side of an outer join. */
    struct cleave_columns source = cleave__compile_from(c, scope, block, merge->source_relation);
    uint32_t side = cleave__compile_block(c, block, CLEAVE_FLOW_ALL);
    c->blocks.items[side].nullable = true;
    struct cleave_columns target;
    uint32_t reference = cleave__compile_target(c, scope, side, merge->relation, &target);
    cleave__columns_append(c, &scope->columns, &target);
    cleave__columns_append(c, &scope->columns, &source);
    cleave__compile_where(c, scope, side, merge->join_condition);
    uint32_t table = reference == CLEAVE_NONE ? CLEAVE_NONE : c->references.items[reference].table;
    bool writes = false;
    for (size_t i = 0; i < merge->n_merge_when_clauses; i++) {
        const PgQuery__Node *node = merge->merge_when_clauses[i];
        if (node->node_case != PG_QUERY__NODE__NODE_MERGE_WHEN_CLAUSE)
            continue;
        const PgQuery__MergeWhenClause *clause = node->merge_when_clause;
        cleave__compile_visit(c, scope, side, clause->condition ? &clause->condition->base : NULL);
        if (clause->command_type == PG_QUERY__CMD_TYPE__CMD_INSERT) {
            if (table != CLEAVE_NONE)
                merge_insert(c, scope, block, table, clause);
            continue;
        }
        if (clause->command_type == PG_QUERY__CMD_TYPE__CMD_DELETE)
            writes = true;
        if (clause->command_type != PG_QUERY__CMD_TYPE__CMD_UPDATE)
            continue;
        writes = true;
        const struct cleave_assignment *assigned;
        uint32_t count;
        if (assignments(c, scope, side, clause->target_list, clause->n_target_list, &target,
                        reference, &assigned, &count)) {
            uint32_t moved = copy_reference(c, reference);
            c->references.items[moved].assigned = assigned;
            c->references.items[moved].assigned_count = count;
        }
    }
    if (reference != CLEAVE_NONE)
        c->references.items[reference].write = writes;
}

struct cleave_columns cleave__compile_change(struct cleave_compile *c, struct cleave_scope *outer,
                                             uint32_t block, PgQuery__Node *node)
{
    struct cleave_scope *scope = new_scope(c, outer, block);
    struct cleave_columns columns = {.open = true};
    PgQuery__WithClause *with = NULL;
    c->writes = true;
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_INSERT_STMT:
        with = node->insert_stmt->with_clause;
        break;
    case PG_QUERY__NODE__NODE_UPDATE_STMT:
        with = node->update_stmt->with_clause;
        break;
    case PG_QUERY__NODE__NODE_DELETE_STMT:
        with = node->delete_stmt->with_clause;
        break;
    case PG_QUERY__NODE__NODE_MERGE_STMT:
        with = node->merge_stmt->with_clause;
        break;
    default:
        return columns;
    }
    if (with)
        cleave__compile_with(c, scope, with);
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_INSERT_STMT:
        if (node->insert_stmt->relation)
            columns = compile_insert(c, scope, block, node->insert_stmt);
        break;
    case PG_QUERY__NODE__NODE_UPDATE_STMT:
        if (node->update_stmt->relation)
            columns = compile_update(c, scope, block, node->update_stmt);
        break;
    case PG_QUERY__NODE__NODE_DELETE_STMT:
        if (node->delete_stmt->relation)
            columns = compile_delete(c, scope, block, node->delete_stmt);
        break;
    default:
        if (node->merge_stmt->relation)
            compile_merge(c, scope, block, node->merge_stmt);
        break;
    }
    cleave__compile_unused(c, scope->ctes, NULL);
    return columns;
}
