/* From a parse tree to tables and columns in use. Scopes nest as queries do; a name is looked up
 * from the inside out, as PostgreSQL would if it had a catalog. All other parts of the tree are
 * walked by the descriptors that protobuf-c messages carry, so that no kind of expression needs a
 * case of its own. Runs on the parser's large stack: recursion is as deep as the statement nests.
 */
#include <pg_query/pg_query.pb-c.h>
#include <string.h>

#include "tables/source/infer.h"

enum { RELATIONS_MAX = 32 };

struct name {
    const char *text;
    const struct name *next;
};

struct relation {
    const char *alias;
    uint32_t table; /* CLEAVE_ABSENT: a subquery, function or CTE */
};

struct scope {
    const struct scope *outer;
    struct relation relations[RELATIONS_MAX];
    uint32_t count;
    const struct name *ctes;
    /* Output names, which ORDER BY and GROUP BY may mean. */
    size_t output_count;
    PgQuery__Node **outputs;
    bool outputs_are_named;
};

struct walk {
    struct cleave_schema_observer *observer;
};

static void walk_message(struct walk *w, const ProtobufCMessage *message, struct scope *scope);

static void walk_node(struct walk *w, const PgQuery__Node *node, struct scope *scope)
{
    if (node)
        walk_message(w, &node->base, scope);
}

static void walk_list(struct walk *w, size_t count, PgQuery__Node **nodes, struct scope *scope)
{
    for (size_t i = 0; i < count; i++)
        walk_node(w, nodes[i], scope);
}

static const char *string(const PgQuery__Node *node)
{
    return node && node->node_case == PG_QUERY__NODE__NODE_STRING ? node->string->sval : NULL;
}

/* What a constant looks like; NONE for everything that is none. */
static enum cleave_guess guess_of(const struct walk *w, const PgQuery__Node *node)
{
    if (!node)
        return CLEAVE_GUESS_NONE;
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_A_CONST:
        switch (node->a_const->val_case) {
        case PG_QUERY__A__CONST__VAL_IVAL:
            return CLEAVE_GUESS_INTEGER;
        case PG_QUERY__A__CONST__VAL_FVAL: {
            const char *text = node->a_const->fval->fval;
            return cleave__guess_number(text, strlen(text));
        }
        case PG_QUERY__A__CONST__VAL_BOOLVAL:
            return CLEAVE_GUESS_BOOLEAN;
        case PG_QUERY__A__CONST__VAL_SVAL: {
            const char *text = node->a_const->sval->sval;
            return cleave__guess_string(text, strlen(text));
        }
        default:
            return CLEAVE_GUESS_NONE;
        }
    case PG_QUERY__NODE__NODE_PARAM_REF: {
        int32_t number = node->param_ref->number;
        const struct cleave_schema_observer *o = w->observer;
        if (number < 1 || (uint32_t)number > o->parameter_count)
            return CLEAVE_GUESS_NONE;
        const struct cleave_parameter *parameter = &o->parameters[number - 1];
        if (parameter->is_null || parameter->is_cut || !parameter->text)
            return CLEAVE_GUESS_NONE;
        return cleave__guess_string(parameter->text, parameter->length);
    }
    case PG_QUERY__NODE__NODE_TYPE_CAST: {
        const PgQuery__TypeName *type = node->type_cast->type_name;
        if (!type || type->n_names == 0 || type->n_array_bounds)
            return CLEAVE_GUESS_NONE;
        const char *name = string(type->names[type->n_names - 1]);
        return name ? cleave__guess_type_name(name) : CLEAVE_GUESS_NONE;
    }
    default:
        return CLEAVE_GUESS_NONE;
    }
}

static bool is_system_column(const char *name)
{
    static const char *const names[] = {"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

static const struct cleave_infer_ref nowhere = {CLEAVE_ABSENT, 0};

/* Relations of this scope and of those around it, innermost first. */
static struct cleave_infer_ref note_unqualified(struct walk *w, const struct scope *scope,
                                                const char *name, enum cleave_guess guess)
{
    struct cleave_pending_column pending = {.name = name, .guess = guess};
    for (; scope; scope = scope->outer) {
        for (size_t i = 0; scope->outputs_are_named && i < scope->output_count; i++) {
            const PgQuery__Node *node = scope->outputs[i];
            if (node->node_case == PG_QUERY__NODE__NODE_RES_TARGET &&
                strcmp(node->res_target->name, name) == 0)
                return nowhere;
        }
        for (uint32_t i = 0; i < scope->count; i++) {
            const struct relation *relation = &scope->relations[i];
            bool there = false;
            if (strcmp(relation->alias, name) == 0)
                return nowhere; /* the whole row */
            for (uint32_t k = 0; k < pending.count; k++)
                there |= pending.tables[k] == relation->table;
            if (relation->table == CLEAVE_ABSENT)
                pending.derived = true;
            else if (!there && pending.count < CLEAVE_CANDIDATES_MAX)
                pending.tables[pending.count++] = relation->table;
        }
    }
    if (pending.count == 1 && !pending.derived)
        return cleave__infer_column(w->observer, pending.tables[0], name, guess);
    return pending.count ? cleave__infer_pending(w->observer, &pending) : nowhere;
}

static struct cleave_infer_ref note_column(struct walk *w, const struct scope *scope,
                                           const PgQuery__ColumnRef *reference,
                                           enum cleave_guess guess)
{
    size_t count = reference->n_fields;
    const char *name = count ? string(reference->fields[count - 1]) : NULL;
    if (!name || is_system_column(name)) /* no name: a star */
        return nowhere;
    if (count == 1)
        return note_unqualified(w, scope, name, guess);
    const char *owner = string(reference->fields[count - 2]);
    for (; owner && scope; scope = scope->outer) {
        for (uint32_t i = 0; i < scope->count; i++) {
            if (strcmp(scope->relations[i].alias, owner) != 0)
                continue;
            if (scope->relations[i].table == CLEAVE_ABSENT)
                return nowhere;
            return cleave__infer_column(w->observer, scope->relations[i].table, name, guess);
        }
    }
    return nowhere;
}

static void note_if_column(struct walk *w, const struct scope *scope, const PgQuery__Node *node,
                           enum cleave_guess guess)
{
    if (node && guess != CLEAVE_GUESS_NONE && node->node_case == PG_QUERY__NODE__NODE_COLUMN_REF)
        note_column(w, scope, node->column_ref, guess);
}

static void add_relation(struct scope *scope, const char *alias, uint32_t table)
{
    if (scope->count < RELATIONS_MAX)
        scope->relations[scope->count++] = (struct relation){alias, table};
}

static bool is_cte(const struct scope *scope, const char *name)
{
    for (; scope; scope = scope->outer) {
        for (const struct name *cte = scope->ctes; cte; cte = cte->next) {
            if (strcmp(cte->text, name) == 0)
                return true;
        }
    }
    return false;
}

static uint32_t add_table(struct walk *w, struct scope *scope, const PgQuery__RangeVar *relation)
{
    const char *alias = relation->alias ? relation->alias->aliasname : relation->relname;
    uint32_t table = CLEAVE_ABSENT;
    if (relation->schemaname[0] || !is_cte(scope, relation->relname))
        table = cleave__infer_table(w->observer, relation->schemaname, relation->relname);
    /* Renamed columns (t AS a (x, y)) are not the table's. */
    bool renamed = relation->alias && relation->alias->n_colnames;
    add_relation(scope, alias, renamed ? CLEAVE_ABSENT : table);
    return table;
}

/* A FROM item: relations go into the scope; subqueries and conditions are walked by walk_from. */
static void collect(struct walk *w, struct scope *scope, const PgQuery__Node *node)
{
    if (!node)
        return;
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_RANGE_VAR:
        add_table(w, scope, node->range_var);
        break;
    case PG_QUERY__NODE__NODE_JOIN_EXPR: {
        const PgQuery__JoinExpr *join = node->join_expr;
        uint32_t first = scope->count;
        collect(w, scope, join->larg);
        collect(w, scope, join->rarg);
        for (size_t u = 0; u < join->n_using_clause; u++) {
            const char *name = string(join->using_clause[u]);
            struct cleave_infer_ref ends[2] = {nowhere, nowhere};
            /* Both sides have it; of more than two tables we cannot tell which. */
            for (uint32_t i = 0; name && scope->count - first == 2 && i < 2; i++) {
                uint32_t table = scope->relations[first + i].table;
                if (table != CLEAVE_ABSENT)
                    ends[i] = cleave__infer_column(w->observer, table, name, CLEAVE_GUESS_NONE);
            }
            cleave__infer_equal(w->observer, ends[0], ends[1]);
        }
        if (join->alias)
            add_relation(scope, join->alias->aliasname, CLEAVE_ABSENT);
        break;
    }
    case PG_QUERY__NODE__NODE_RANGE_SUBSELECT:
        if (node->range_subselect->alias)
            add_relation(scope, node->range_subselect->alias->aliasname, CLEAVE_ABSENT);
        break;
    case PG_QUERY__NODE__NODE_RANGE_FUNCTION:
        add_relation(scope,
                     node->range_function->alias ? node->range_function->alias->aliasname : "",
                     CLEAVE_ABSENT);
        break;
    default:
        add_relation(scope, "", CLEAVE_ABSENT);
    }
}

static void walk_from(struct walk *w, struct scope *scope, size_t count, PgQuery__Node **items)
{
    for (size_t i = 0; i < count; i++)
        collect(w, scope, items[i]);
    walk_list(w, count, items, scope);
}

/* CTEs see those before them, and if recursive themselves. */
static void walk_with(struct walk *w, struct scope *scope, const PgQuery__WithClause *with)
{
    for (size_t i = 0; with && i < with->n_ctes; i++) {
        if (with->ctes[i]->node_case != PG_QUERY__NODE__NODE_COMMON_TABLE_EXPR)
            continue;
        const PgQuery__CommonTableExpr *cte = with->ctes[i]->common_table_expr;
        struct name *name = cleave__arena_alloc(&w->observer->scratch, sizeof *name);
        if (!name) {
            w->observer->no_memory = true;
            return;
        }
        *name = (struct name){cte->ctename, scope->ctes};
        if (with->recursive)
            scope->ctes = name;
        walk_node(w, cte->ctequery, scope);
        scope->ctes = name;
    }
}

static void walk_select(struct walk *w, const PgQuery__SelectStmt *select, struct scope *outer)
{
    struct scope scope = {.outer = outer};
    walk_with(w, &scope, select->with_clause);
    if (select->larg)
        walk_select(w, select->larg, &scope);
    if (select->rarg)
        walk_select(w, select->rarg, &scope);
    walk_from(w, &scope, select->n_from_clause, select->from_clause);
    walk_list(w, select->n_distinct_clause, select->distinct_clause, &scope);
    walk_list(w, select->n_target_list, select->target_list, &scope);
    walk_node(w, select->where_clause, &scope);
    walk_node(w, select->having_clause, &scope);
    walk_list(w, select->n_window_clause, select->window_clause, &scope);
    walk_list(w, select->n_values_lists, select->values_lists, &scope);
    walk_node(w, select->limit_count, &scope);
    walk_node(w, select->limit_offset, &scope);
    if (select->larg)
        return; /* ORDER BY of a set operation names outputs only */
    scope.outputs = select->target_list;
    scope.output_count = select->n_target_list;
    scope.outputs_are_named = true;
    walk_list(w, select->n_group_clause, select->group_clause, &scope);
    walk_list(w, select->n_sort_clause, select->sort_clause, &scope);
}

/* SET a = 1, (b, c) = (2, 3) */
static void walk_assignments(struct walk *w, struct scope *scope, uint32_t table, size_t count,
                             PgQuery__Node **targets)
{
    for (size_t i = 0; i < count; i++) {
        if (targets[i]->node_case != PG_QUERY__NODE__NODE_RES_TARGET)
            continue;
        const PgQuery__ResTarget *target = targets[i]->res_target;
        enum cleave_guess guess =
            target->n_indirection ? CLEAVE_GUESS_NONE : guess_of(w, target->val);
        if (table != CLEAVE_ABSENT && target->name[0])
            cleave__infer_column(w->observer, table, target->name, guess);
        walk_node(w, target->val, scope);
    }
}

static void walk_insert(struct walk *w, const PgQuery__InsertStmt *insert, struct scope *outer)
{
    struct scope scope = {.outer = outer};
    walk_with(w, &scope, insert->with_clause);
    if (!insert->relation)
        return;
    const PgQuery__SelectStmt *source =
        insert->select_stmt && insert->select_stmt->node_case == PG_QUERY__NODE__NODE_SELECT_STMT
            ? insert->select_stmt->select_stmt
            : NULL;
    uint32_t table =
        cleave__infer_table(w->observer, insert->relation->schemaname, insert->relation->relname);
    for (size_t c = 0; table != CLEAVE_ABSENT && c < insert->n_cols; c++) {
        if (insert->cols[c]->node_case == PG_QUERY__NODE__NODE_RES_TARGET)
            cleave__infer_column(w->observer, table, insert->cols[c]->res_target->name,
                                 CLEAVE_GUESS_NONE);
    }
    for (size_t r = 0; table != CLEAVE_ABSENT && source && r < source->n_values_lists; r++) {
        const PgQuery__Node *row = source->values_lists[r];
        size_t count = row->node_case == PG_QUERY__NODE__NODE_LIST ? row->list->n_items : 0;
        for (size_t c = 0; c < count && c < CLEAVE_COLUMNS_MAX; c++) {
            enum cleave_guess guess = guess_of(w, row->list->items[c]);
            if (insert->n_cols == 0)
                cleave__infer_nameless(w->observer, table, (uint32_t)c, guess);
            else if (c < insert->n_cols &&
                     insert->cols[c]->node_case == PG_QUERY__NODE__NODE_RES_TARGET &&
                     insert->cols[c]->res_target->n_indirection == 0)
                cleave__infer_column(w->observer, table, insert->cols[c]->res_target->name, guess);
        }
    }
    walk_node(w, insert->select_stmt, &scope);
    const char *alias =
        insert->relation->alias ? insert->relation->alias->aliasname : insert->relation->relname;
    add_relation(&scope, alias, table);
    const PgQuery__OnConflictClause *conflict = insert->on_conflict_clause;
    if (conflict) {
        for (size_t i = 0; conflict->infer && i < conflict->infer->n_index_elems; i++) {
            const PgQuery__Node *node = conflict->infer->index_elems[i];
            if (node->node_case == PG_QUERY__NODE__NODE_INDEX_ELEM && node->index_elem->name[0] &&
                table != CLEAVE_ABSENT)
                cleave__infer_column(w->observer, table, node->index_elem->name, CLEAVE_GUESS_NONE);
        }
        /* "excluded" is asked for by name only: an unqualified column is the table's. */
        struct scope inner = {.outer = &scope};
        add_relation(&inner, "excluded", table);
        walk_assignments(w, &inner, table, conflict->n_target_list, conflict->target_list);
        walk_node(w, conflict->where_clause, &inner);
    }
    walk_list(w, insert->n_returning_list, insert->returning_list, &scope);
}

static void walk_update(struct walk *w, const PgQuery__UpdateStmt *update, struct scope *outer)
{
    struct scope scope = {.outer = outer};
    walk_with(w, &scope, update->with_clause);
    if (!update->relation)
        return;
    uint32_t table = add_table(w, &scope, update->relation);
    walk_from(w, &scope, update->n_from_clause, update->from_clause);
    walk_assignments(w, &scope, table, update->n_target_list, update->target_list);
    walk_node(w, update->where_clause, &scope);
    walk_list(w, update->n_returning_list, update->returning_list, &scope);
}

static void walk_delete(struct walk *w, const PgQuery__DeleteStmt *delete, struct scope *outer)
{
    struct scope scope = {.outer = outer};
    walk_with(w, &scope, delete->with_clause);
    if (!delete->relation)
        return;
    add_table(w, &scope, delete->relation);
    walk_from(w, &scope, delete->n_using_clause, delete->using_clause);
    walk_node(w, delete->where_clause, &scope);
    walk_list(w, delete->n_returning_list, delete->returning_list, &scope);
}

static void walk_copy(struct walk *w, const PgQuery__CopyStmt *copy, struct scope *outer)
{
    walk_node(w, copy->query, outer);
    if (!copy->relation)
        return;
    uint32_t table =
        cleave__infer_table(w->observer, copy->relation->schemaname, copy->relation->relname);
    for (size_t i = 0; table != CLEAVE_ABSENT && i < copy->n_attlist; i++) {
        if (string(copy->attlist[i]))
            cleave__infer_column(w->observer, table, string(copy->attlist[i]), CLEAVE_GUESS_NONE);
    }
}

/* column = constant, column IN (constants), column BETWEEN constants, and turned around. */
static void walk_operator(struct walk *w, const PgQuery__AExpr *expression, struct scope *scope)
{
    const PgQuery__Node *left = expression->lexpr, *right = expression->rexpr;
    if (right && right->node_case == PG_QUERY__NODE__NODE_LIST) {
        for (size_t i = 0; i < right->list->n_items; i++)
            note_if_column(w, scope, left, guess_of(w, right->list->items[i]));
    } else if (expression->kind == PG_QUERY__A__EXPR__KIND__AEXPR_LIKE ||
               expression->kind == PG_QUERY__A__EXPR__KIND__AEXPR_ILIKE ||
               expression->kind == PG_QUERY__A__EXPR__KIND__AEXPR_SIMILAR) {
        note_if_column(w, scope, left, CLEAVE_GUESS_TEXT);
    } else {
        const char *name =
            expression->n_name ? string(expression->name[expression->n_name - 1]) : NULL;
        static const char *const comparisons[] = {"=", "<", ">", "<=", ">=", "<>", "!="};
        for (size_t i = 0; name && i < sizeof comparisons / sizeof *comparisons; i++) {
            if (strcmp(name, comparisons[i]) != 0)
                continue;
            if (expression->kind == PG_QUERY__A__EXPR__KIND__AEXPR_OP) {
                note_if_column(w, scope, left, guess_of(w, right));
                note_if_column(w, scope, right, guess_of(w, left));
                if (left && left->node_case == PG_QUERY__NODE__NODE_COLUMN_REF && right &&
                    right->node_case == PG_QUERY__NODE__NODE_COLUMN_REF)
                    cleave__infer_equal(
                        w->observer, note_column(w, scope, left->column_ref, CLEAVE_GUESS_NONE),
                        note_column(w, scope, right->column_ref, CLEAVE_GUESS_NONE));
            } else if (right && right->node_case == PG_QUERY__NODE__NODE_A_ARRAY_EXPR) {
                for (size_t e = 0; e < right->a_array_expr->n_elements; e++)
                    note_if_column(w, scope, left, guess_of(w, right->a_array_expr->elements[e]));
            }
        }
    }
    walk_node(w, left, scope);
    walk_node(w, right, scope);
}

/* Everything else: into all messages that it holds. */
static void walk_fields(struct walk *w, const ProtobufCMessage *message, struct scope *scope)
{
    const ProtobufCMessageDescriptor *descriptor = message->descriptor;
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
        const char *at = (const char *)message + field->offset;
        const char *quantifier = (const char *)message + field->quantifier_offset;
        if (field->type != PROTOBUF_C_TYPE_MESSAGE)
            continue;
        if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
            uint32_t chosen;
            memcpy(&chosen, quantifier, sizeof chosen);
            if (chosen != field->id)
                continue;
        }
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            size_t count;
            ProtobufCMessage **items;
            memcpy(&count, quantifier, sizeof count);
            memcpy(&items, at, sizeof items);
            for (size_t k = 0; k < count; k++)
                walk_message(w, items[k], scope);
        } else {
            const ProtobufCMessage *item;
            memcpy(&item, at, sizeof item);
            if (item)
                walk_message(w, item, scope);
        }
    }
}

static void walk_message(struct walk *w, const ProtobufCMessage *message, struct scope *scope)
{
    const char *name = message->descriptor->short_name;
    if (strcmp(name, "Node") != 0) {
        walk_fields(w, message, scope);
        return;
    }
    const PgQuery__Node *node = (const PgQuery__Node *)message;
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_SELECT_STMT:
        walk_select(w, node->select_stmt, scope);
        break;
    case PG_QUERY__NODE__NODE_INSERT_STMT:
        walk_insert(w, node->insert_stmt, scope);
        break;
    case PG_QUERY__NODE__NODE_UPDATE_STMT:
        walk_update(w, node->update_stmt, scope);
        break;
    case PG_QUERY__NODE__NODE_DELETE_STMT:
        walk_delete(w, node->delete_stmt, scope);
        break;
    case PG_QUERY__NODE__NODE_COPY_STMT:
        walk_copy(w, node->copy_stmt, scope);
        break;
    case PG_QUERY__NODE__NODE_COLUMN_REF:
        note_column(w, scope, node->column_ref, CLEAVE_GUESS_NONE);
        break;
    case PG_QUERY__NODE__NODE_A_EXPR:
        walk_operator(w, node->a_expr, scope);
        break;
    case PG_QUERY__NODE__NODE_RANGE_VAR: /* collected with its FROM */
        break;
    default:
        walk_fields(w, message, scope);
    }
}

void cleave__infer_walk(struct cleave_schema_observer *observer, const PgQuery__ParseResult *tree)
{
    struct walk w = {observer};
    for (size_t i = 0; i < tree->n_stmts; i++) {
        const PgQuery__Node *node = tree->stmts[i]->stmt;
        switch (node ? node->node_case : PG_QUERY__NODE__NODE__NOT_SET) {
        case PG_QUERY__NODE__NODE_SELECT_STMT:
        case PG_QUERY__NODE__NODE_INSERT_STMT:
        case PG_QUERY__NODE__NODE_UPDATE_STMT:
        case PG_QUERY__NODE__NODE_DELETE_STMT:
        case PG_QUERY__NODE__NODE_COPY_STMT:
            walk_node(&w, node, NULL);
            break;
        case PG_QUERY__NODE__NODE_PREPARE_STMT:
            walk_node(&w, node->prepare_stmt->query, NULL);
            break;
        case PG_QUERY__NODE__NODE_EXPLAIN_STMT:
            walk_node(&w, node->explain_stmt->query, NULL);
            break;
        case PG_QUERY__NODE__NODE_DECLARE_CURSOR_STMT:
            walk_node(&w, node->declare_cursor_stmt->query, NULL);
            break;
        default:
            break; /* names relations in other senses */
        }
    }
}
