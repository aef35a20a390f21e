/* One walk over the tree by its own description of its fields, as src/tables/sql/visit.c does. */
#include "tables/replay/shape.h"

#include <pg_query/pg_query.pb-c.h>
#include <string.h>

#include "base/vector.h"

/* What is seen anywhere in the tree. */
struct seen {
    uint32_t functions, sublinks, selects;
    bool qualified;
    CLEAVE_VECTOR(const char *) relations;
    CLEAVE_VECTOR(const char *) named; /* by WITH */
    CLEAVE_VECTOR(const char *) set;   /* columns, by UPDATE, ON CONFLICT, MERGE */
    bool failed;
};

static void look(const ProtobufCMessage *message, struct seen *seen);

static void look_set(PgQuery__Node *const *list, size_t count, struct seen *seen)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = list[i]->node_case == PG_QUERY__NODE__NODE_RES_TARGET
                               ? list[i]->res_target->name
                               : NULL;
        seen->failed = (name && !CLEAVE_PUSH(&seen->set, name)) || seen->failed;
    }
}

static void look_children(const ProtobufCMessage *message, struct seen *seen)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    const char *base = (const char *)message;
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        if (field->type != PROTOBUF_C_TYPE_MESSAGE)
            continue;
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            size_t count;
            ProtobufCMessage *const *items;
            memcpy(&count, base + field->quantifier_offset, sizeof count);
            memcpy(&items, base + field->offset, sizeof items);
            for (size_t j = 0; j < count; j++)
                look(items[j], seen);
            continue;
        }
        if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
            uint32_t which;
            memcpy(&which, base + field->quantifier_offset, sizeof which);
            if (which != field->id)
                continue;
        }
        const ProtobufCMessage *child;
        memcpy(&child, base + field->offset, sizeof child);
        look(child, seen);
    }
}

static void look(const ProtobufCMessage *message, struct seen *seen)
{
    if (!message)
        return;
    const char *name = message->descriptor->short_name;
    if (strcmp(name, "RangeVar") == 0) {
        const PgQuery__RangeVar *relation = (const PgQuery__RangeVar *)message;
        seen->qualified = seen->qualified || (relation->schemaname && *relation->schemaname);
        seen->failed = !CLEAVE_PUSH(&seen->relations, relation->relname) || seen->failed;
    } else if (strcmp(name, "CommonTableExpr") == 0) {
        const PgQuery__CommonTableExpr *with = (const PgQuery__CommonTableExpr *)message;
        seen->failed = !CLEAVE_PUSH(&seen->named, with->ctename) || seen->failed;
    }
    if (strcmp(name, "UpdateStmt") == 0) {
        const PgQuery__UpdateStmt *update = (const PgQuery__UpdateStmt *)message;
        look_set(update->target_list, update->n_target_list, seen);
    } else if (strcmp(name, "OnConflictClause") == 0) {
        const PgQuery__OnConflictClause *clause = (const PgQuery__OnConflictClause *)message;
        look_set(clause->target_list, clause->n_target_list, seen);
    } else if (strcmp(name, "MergeWhenClause") == 0) {
        const PgQuery__MergeWhenClause *clause = (const PgQuery__MergeWhenClause *)message;
        look_set(clause->target_list, clause->n_target_list, seen);
    }
    seen->functions += strcmp(name, "FuncCall") == 0 || strcmp(name, "GroupingFunc") == 0 ||
                       strcmp(name, "SQLValueFunction") == 0 || strcmp(name, "RangeFunction") == 0;
    seen->sublinks += strcmp(name, "SubLink") == 0;
    seen->selects += strcmp(name, "SelectStmt") == 0;
    look_children(message, seen);
}

static bool copy(struct cleave_arena *arena, const char *text, const char **out)
{
    *out = cleave__arena_copy(arena, text, strlen(text));
    return *out != NULL;
}

static bool take_relations(const struct seen *seen, struct cleave_arena *arena,
                           struct cleave__shape *out)
{
    out->relations = cleave__arena_array(arena, seen->relations.count + 1, sizeof *out->relations);
    if (!out->relations)
        return false;
    for (size_t i = 0; i < seen->relations.count; i++) {
        bool with = false;
        for (size_t j = 0; j < seen->named.count; j++)
            with = with || strcmp(seen->relations.data[i], seen->named.data[j]) == 0;
        if (!with && !copy(arena, seen->relations.data[i], &out->relations[out->relation_count++]))
            return false;
    }
    return true;
}

static bool take_set(const struct seen *seen, struct cleave_arena *arena, struct cleave__shape *out)
{
    out->set = cleave__arena_array(arena, seen->set.count + 1, sizeof *out->set);
    if (!out->set)
        return false;
    for (size_t i = 0; i < seen->set.count; i++) {
        if (!copy(arena, seen->set.data[i], &out->set[out->set_count++]))
            return false;
    }
    return true;
}

/* The name of ORDER BY name; NULL of anything else, which may not be a column of the answer. */
static const char *plain_name(const PgQuery__Node *node)
{
    if (!node || node->node_case != PG_QUERY__NODE__NODE_COLUMN_REF ||
        node->column_ref->n_fields != 1 ||
        node->column_ref->fields[0]->node_case != PG_QUERY__NODE__NODE_STRING)
        return NULL;
    return node->column_ref->fields[0]->string->sval;
}

static bool take_order(const PgQuery__SelectStmt *select, struct cleave_arena *arena,
                       struct cleave__shape *out)
{
    out->sorted = select->n_sort_clause > 0;
    out->keys = cleave__arena_array(arena, select->n_sort_clause + 1, sizeof *out->keys);
    if (!out->keys)
        return false;
    for (size_t i = 0; i < select->n_sort_clause; i++) {
        const PgQuery__Node *node = select->sort_clause[i];
        const char *name = node->node_case == PG_QUERY__NODE__NODE_SORT_BY
                               ? plain_name(node->sort_by->node)
                               : NULL;
        if (!name)
            break;
        if (!copy(arena, name, &out->keys[out->key_count++]))
            return false;
    }
    return true;
}

static bool take_select(const PgQuery__SelectStmt *select, const struct seen *seen,
                        struct cleave_arena *arena, struct cleave__shape *out)
{
    out->kind = CLEAVE__SHAPE_QUERY;
    out->nested = seen->selects > 1 || seen->named.count;
    out->rowwise = seen->selects == 1 && !seen->named.count && seen->relations.count == 1 &&
                   !seen->functions && !seen->sublinks && !select->n_distinct_clause &&
                   !select->n_group_clause && !select->having_clause && !select->n_window_clause &&
                   !select->n_sort_clause && !select->limit_offset && !select->limit_count &&
                   !select->n_values_lists;
    if (select->into_clause)
        out->kind = CLEAVE__SHAPE_OTHER;
    return take_order(select, arena, out);
}

static bool take_insert(const PgQuery__InsertStmt *insert, const struct seen *seen,
                        struct cleave_arena *arena, struct cleave__shape *out)
{
    const PgQuery__SelectStmt *rows =
        insert->select_stmt && insert->select_stmt->node_case == PG_QUERY__NODE__NODE_SELECT_STMT
            ? insert->select_stmt->select_stmt
            : NULL;
    out->kind = CLEAVE__SHAPE_INSERT;
    out->values = rows && rows->n_values_lists > 0;
    out->row_count = rows ? (uint32_t)rows->n_values_lists : 1; /* DEFAULT VALUES */
    out->nested = seen->sublinks || seen->named.count || seen->selects > 1;
    out->conflict = insert->on_conflict_clause != NULL;
    out->returning = insert->n_returning_list > 0;
    return copy(arena, insert->relation->relname, &out->target);
}

static bool take(const PgQuery__Node *node, const struct seen *seen, struct cleave_arena *arena,
                 struct cleave__shape *out)
{
    out->kind = CLEAVE__SHAPE_OTHER;
    out->qualified = seen->qualified;
    if (!take_relations(seen, arena, out) || !take_set(seen, arena, out))
        return false;
    if (node->node_case == PG_QUERY__NODE__NODE_SELECT_STMT)
        return take_select(node->select_stmt, seen, arena, out);
    if (node->node_case == PG_QUERY__NODE__NODE_INSERT_STMT)
        return take_insert(node->insert_stmt, seen, arena, out);
    if (node->node_case == PG_QUERY__NODE__NODE_UPDATE_STMT) {
        const PgQuery__UpdateStmt *update = node->update_stmt;
        out->kind = CLEAVE__SHAPE_UPDATE;
        out->nested = seen->sublinks || seen->named.count || update->n_from_clause;
        out->returning = update->n_returning_list > 0;
        return copy(arena, update->relation->relname, &out->target);
    }
    if (node->node_case == PG_QUERY__NODE__NODE_DELETE_STMT) {
        const PgQuery__DeleteStmt *delete = node->delete_stmt;
        out->kind = CLEAVE__SHAPE_DELETE;
        out->nested = seen->sublinks || seen->named.count || delete->n_using_clause;
        out->returning = delete->n_returning_list > 0;
        return copy(arena, delete->relation->relname, &out->target);
    }
    return true;
}

enum cleave_status cleave__shape_read(struct cleave_parser *parser, const char *text, size_t length,
                                      struct cleave_arena *arena, struct cleave__shape *out,
                                      struct cleave_error *error)
{
    struct cleave_arena tree_arena = {0};
    PgQuery__ParseResult *tree;
    struct cleave__shape shape = {0};
    struct seen seen = {0};
    enum cleave_status status =
        cleave__parse_protobuf(parser, text, length, &tree_arena, &tree, error);
    if (!status && (tree->n_stmts != 1 || !tree->stmts[0]->stmt))
        status = cleave_error_set(error, CLEAVE_BAD_INPUT, "not one statement: %.60s", text);
    if (!status) {
        look(&tree->stmts[0]->stmt->base, &seen);
        if (seen.failed || !take(tree->stmts[0]->stmt, &seen, arena, &shape))
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a statement");
    }
    CLEAVE_VECTOR_FREE(&seen.relations);
    CLEAVE_VECTOR_FREE(&seen.named);
    CLEAVE_VECTOR_FREE(&seen.set);
    cleave__arena_free(&tree_arena);
    if (!status)
        *out = shape;
    return status;
}
