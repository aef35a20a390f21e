/* INSERT, UPDATE, DELETE and MERGE.
 *
 * A row that is written anew (INSERT, or UPDATE of a key column) is a reference of its own, whose
 * columns are bound to what the statement says of them; columns it leaves open could be anything.
 */
#include "tables/oracle/compile.h"

#include <string.h>

static const char *alias_of(const json_t *relation)
{
    const char *alias = cleave__oracle_text(json_object_get(relation, "alias"), "aliasname");
    return *alias ? alias : cleave__oracle_text(relation, "relname");
}

/* The table that is written, as a relation of the scope; ORACLE_NONE when the schema lacks it, or
 * it is a view: a view over one table passes the change on, so that its rows count as written. */
uint32_t cleave__oracle_written_table(struct oracle_program *p, struct oracle_scope *scope,
                                      const json_t *relation, struct oracle_list *where)
{
    uint32_t table = cleave__oracle_table(p, relation);
    struct oracle_relation r = {.name = alias_of(relation), .kind = ORACLE_RELATION_OPAQUE};
    r.reference = ORACLE_NONE;
    if (table != CLEAVE_ABSENT && p->schema->tables[table].view) {
        struct oracle_cte *ctes = scope->ctes; /* they do not hide a table that is written */
        size_t first = p->targets.count;
        json_t *item = json_pack("[{s:O}]", "RangeVar", (json_t *)relation);
        if (!item)
            cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        scope->ctes = NULL;
        cleave__oracle_from(p, scope, item, where);
        scope->ctes = ctes;
        json_decref(item);
        if (p->targets.count == first + 1) {
            struct oracle_target *only = &p->targets.data[first];
            only->write = p->blocks.data[only->block].parent == scope->block &&
                          p->blocks.data[only->block].flow == ORACLE_FLOW_ALL;
        }
        return ORACLE_NONE;
    }
    if (table != CLEAVE_ABSENT) {
        r.reference = cleave__oracle_reference(p, table, scope->block);
        if (r.reference != ORACLE_NONE)
            r.kind = ORACLE_RELATION_TABLE;
    }
    cleave__oracle_relation_add(p, scope, &r);
    return r.reference;
}

static const struct cleave_table *table_of(const struct oracle_program *p, uint32_t reference)
{
    return &p->schema->tables[p->references.data[reference].table];
}

static uint32_t column_named(const struct oracle_program *p, uint32_t reference, const char *name)
{
    return cleave__schema_column(table_of(p, reference), name, strlen(name));
}

/* Does a value keep its identity on its way from a column into another? */
static bool stored_unchanged(const struct oracle_variable *from, const struct cleave_column *to)
{
    enum oracle_sort sort = cleave__oracle_sort(to->type, to->type_name);
    const char *into = to->type_name ? to->type_name : "";
    unsigned at = sort == ORACLE_SORT_NUMERIC && strchr(into, ',') ? 1 : 0;
    int64_t bound = cleave__oracle_modifier(into, at), own = -1;
    if (sort == ORACLE_SORT_NUMERIC && at == 0 && bound >= 0)
        bound = 0; /* numeric(5) has no fraction */
    if (from->sort == ORACLE_SORT_INTEGER && sort == ORACLE_SORT_NUMERIC)
        return true;
    if (from->sort == ORACLE_SORT_ANY)
        return sort != ORACLE_SORT_OPAQUE &&
               (bound < 0 || sort == ORACLE_SORT_STRING || sort == ORACLE_SORT_CHAR);
    if (from->sort != sort || sort == ORACLE_SORT_OPAQUE)
        return false;
    if (from->type_name) {
        own = cleave__oracle_modifier(from->type_name,
                                      sort == ORACLE_SORT_NUMERIC && strchr(from->type_name, ','));
        if (sort == ORACLE_SORT_NUMERIC && own >= 0 && !strchr(from->type_name, ','))
            own = 0;
    }
    switch (sort) {
    case ORACLE_SORT_NUMERIC:
    case ORACLE_SORT_TIMESTAMP:
    case ORACLE_SORT_TIMESTAMPTZ:
    case ORACLE_SORT_TIME: /* may be rounded */
        return bound < 0 || (own >= 0 && own <= bound);
    case ORACLE_SORT_LABEL:
        return from->type_name && !strcmp(from->type_name, into);
    default:
        return true;
    }
}

/* A new row's column is what `expr` says. */
static void give(struct oracle_program *p, uint32_t reference, uint32_t column,
                 const struct oracle_expr *expr, struct oracle_list *where)
{
    if (cleave__oracle_column_find(p, reference, column) != ORACLE_NONE)
        return; /* named twice: an error when run */
    if (expr->kind == ORACLE_EXPR_VARIABLE) {
        if (stored_unchanged(&p->variables.data[expr->variable],
                             &table_of(p, reference)->columns[column]))
            cleave__oracle_push(p, where,
                                cleave__oracle_equal(p, ORACLE_SAME,
                                                     cleave__oracle_column(p, reference, column),
                                                     expr->variable));
    } else if (expr->kind != ORACLE_EXPR_UNKNOWN) {
        cleave__oracle_push(
            p, where, cleave__oracle_holds(p, cleave__oracle_column(p, reference, column), expr));
    }
}

/* Which column the i-th given value goes to. */
static uint32_t insert_column(const struct oracle_program *p, uint32_t reference,
                              const json_t *columns, size_t i)
{
    if (json_array_size(columns) == 0)
        return i < table_of(p, reference)->column_count ? (uint32_t)i : CLEAVE_ABSENT;
    const json_t *target = cleave__oracle_is(json_array_get(columns, i), "ResTarget");
    if (!target || json_object_get(target, "indirection"))
        return CLEAVE_ABSENT;
    return column_named(p, reference, cleave__oracle_text(target, "name"));
}

static void give_row(struct oracle_program *p, struct oracle_scope *scope, uint32_t reference,
                     const json_t *columns, const json_t *items, struct oracle_list *where)
{
    const json_t *item;
    size_t i;
    json_array_foreach(items, i, item)
    {
        uint32_t column = insert_column(p, reference, columns, i);
        if (column == CLEAVE_ABSENT)
            continue;
        struct oracle_expr expr = cleave__oracle_expr(p, scope, item);
        give(p, reference, column, &expr, where);
    }
}

static void close_block(struct oracle_program *p, uint32_t block, struct oracle_list *where)
{
    struct oracle_node *node = cleave__oracle_close(p, where);
    if (block != ORACLE_NONE)
        p->blocks.data[block].where = node;
}

static bool key_has(const struct cleave_key *key, uint32_t column)
{
    for (uint32_t i = 0; i < key->count; i++) {
        if (key->columns[i] == column)
            return true;
    }
    return false;
}

/* A column of a primary key, a unique constraint or a foreign key. */
static bool is_key_column(const struct cleave_table *table, uint32_t column)
{
    if (key_has(&table->primary, column))
        return true;
    for (uint32_t i = 0; i < table->unique_count; i++) {
        if (key_has(&table->uniques[i], column))
            return true;
    }
    for (uint32_t i = 0; i < table->foreign_count; i++) {
        struct cleave_key key = {table->foreigns[i].count, table->foreigns[i].columns};
        if (key_has(&key, column))
            return true;
    }
    return false;
}

static struct oracle_expr assigned(struct oracle_program *p, struct oracle_scope *scope,
                                   const json_t *value)
{
    const json_t *many = cleave__oracle_is(value, "MultiAssignRef");
    if (many) {
        const json_t *row =
            json_object_get(cleave__oracle_is(json_object_get(many, "source"), "RowExpr"), "args");
        json_int_t at = json_integer_value(json_object_get(many, "colno"));
        if (!row || at < 1)
            return (struct oracle_expr){.kind = ORACLE_EXPR_UNKNOWN};
        value = json_array_get(row, (size_t)at - 1);
    }
    return cleave__oracle_expr(p, scope, value);
}

/* The place of a row after SET, when that touches a key column. */
static void move_row(struct oracle_program *p, struct oracle_scope *scope, uint32_t old,
                     uint32_t old_block, const json_t *assignments)
{
    const struct cleave_table *table = table_of(p, old);
    struct oracle_list own = {0};
    const json_t *item;
    size_t i;
    bool moves = false;
    json_array_foreach(assignments, i, item)
    {
        const char *name = cleave__oracle_text(cleave__oracle_is(item, "ResTarget"), "name");
        uint32_t column = column_named(p, old, name);
        moves |= column != CLEAVE_ABSENT && is_key_column(table, column);
    }
    if (!moves)
        return;
    uint32_t fresh = cleave__oracle_reference(p, p->references.data[old].table, old_block);
    uint32_t block = cleave__oracle_block(p, old_block, ORACLE_FLOW_ALL);
    bool *set = cleave__arena_zalloc(p->arena, table->column_count);
    if (fresh == ORACLE_NONE || block == ORACLE_NONE || !set) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return;
    }
    p->references.data[fresh].side = p->references.data[old].side;
    p->references.data[fresh].old = old;
    json_array_foreach(assignments, i, item)
    {
        const json_t *target = cleave__oracle_is(item, "ResTarget");
        uint32_t column = column_named(p, old, cleave__oracle_text(target, "name"));
        if (column == CLEAVE_ABSENT)
            continue;
        set[column] = true;
        if (json_object_get(target, "indirection"))
            continue;
        struct oracle_expr expr = assigned(p, scope, json_object_get(target, "val"));
        if (expr.kind != ORACLE_EXPR_VARIABLE) /* another column's value could be any */
            give(p, fresh, column, &expr, &own);
    }
    for (uint32_t c = 0; c < table->column_count; c++) {
        if (!set[c])
            cleave__oracle_alias(p, fresh, c, cleave__oracle_column(p, old, c));
    }
    close_block(p, block, &own);
    cleave__oracle_target(p, fresh, block, true, false);
}

/* RETURNING: a column that SET gave is no longer what the conditions said. */
static void returning(struct oracle_program *p, struct oracle_scope *scope, const json_t *body,
                      uint32_t row, struct oracle_outputs *outputs)
{
    const json_t *item;
    size_t i, first = outputs ? outputs->count : 0;
    cleave__oracle_targets_list(p, scope, json_object_get(body, "returningList"), outputs);
    if (row == ORACLE_NONE || !outputs)
        return;
    json_array_foreach(json_object_get(body, "targetList"), i, item)
    {
        const char *name = cleave__oracle_text(cleave__oracle_is(item, "ResTarget"), "name");
        uint32_t column = column_named(p, row, name);
        uint32_t variable =
            column == CLEAVE_ABSENT ? ORACLE_NONE : cleave__oracle_column_find(p, row, column);
        for (size_t o = first; o < outputs->count && variable != ORACLE_NONE; o++) {
            struct oracle_expr *expr = &outputs->items[o].expr;
            if (expr->kind == ORACLE_EXPR_VARIABLE && expr->variable == variable)
                expr->kind = ORACLE_EXPR_UNKNOWN;
        }
    }
}

/* Can a new row meet an old one in this key? Not when the server makes its value up. */
static bool may_meet(const struct oracle_program *p, uint32_t reference,
                     const struct cleave_key *key, const json_t *columns)
{
    const struct cleave_table *table = table_of(p, reference);
    size_t given = json_array_size(columns);
    for (uint32_t k = 0; k < key->count; k++) {
        const struct cleave_column *column = &table->columns[key->columns[k]];
        bool found = given == 0;
        for (size_t i = 0; i < given && !found; i++)
            found = insert_column(p, reference, columns, i) == key->columns[k];
        if (!found && column->has_default &&
            (column->type == CLEAVE_TYPE_INTEGER || column->type == CLEAVE_TYPE_UUID))
            return false;
    }
    return true;
}

/* The old row that a new one meets in a key, and where SET moves it to. */
static void meet(struct oracle_program *p, struct oracle_scope *scope, uint32_t row, uint32_t block,
                 const struct cleave_key *key, const json_t *assignments, bool update)
{
    struct oracle_list own = {0};
    uint32_t old = cleave__oracle_reference(p, p->references.data[row].table, block);
    uint32_t inner = cleave__oracle_block(p, block, ORACLE_FLOW_ALL);
    if (old == ORACLE_NONE || inner == ORACLE_NONE)
        return;
    for (uint32_t k = 0; k < key->count; k++) {
        uint32_t variable = cleave__oracle_column_find(p, row, key->columns[k]);
        if (variable == ORACLE_NONE)
            continue;
        cleave__oracle_push(p, &own,
                            cleave__oracle_equal(p, ORACLE_SAME,
                                                 cleave__oracle_column(p, old, key->columns[k]),
                                                 variable));
        cleave__oracle_push(p, &own, cleave__oracle_null(p, variable, false));
    }
    close_block(p, inner, &own);
    cleave__oracle_target(p, old, inner, true, false); /* looking for it is part of the write */
    if (update)
        move_row(p, scope, old, inner, assignments);
}

static void on_conflict(struct oracle_program *p, struct oracle_scope *scope, const json_t *body,
                        uint32_t row, uint32_t block)
{
    const json_t *clause = json_object_get(body, "onConflictClause");
    const json_t *columns = json_object_get(body, "cols"), *element;
    const json_t *elements = json_object_get(json_object_get(clause, "infer"), "indexElems");
    const json_t *assignments = json_object_get(clause, "targetList");
    bool update = !strcmp(cleave__oracle_text(clause, "action"), "ONCONFLICT_UPDATE");
    const struct cleave_table *table = table_of(p, row);
    if (!clause)
        return;
    if (json_array_size(elements)) {
        struct cleave_key key = {
            0, cleave__arena_array(p->arena, json_array_size(elements), sizeof *key.columns)};
        size_t i;
        if (!key.columns) {
            cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
            return;
        }
        json_array_foreach(elements, i, element)
        {
            const char *name = cleave__oracle_text(cleave__oracle_is(element, "IndexElem"), "name");
            uint32_t column = column_named(p, row, name);
            if (column != CLEAVE_ABSENT)
                key.columns[key.count++] = column;
        }
        meet(p, scope, row, block, &key, assignments, update);
        return;
    }
    if (table->primary.count && may_meet(p, row, &table->primary, columns))
        meet(p, scope, row, block, &table->primary, assignments, update);
    for (uint32_t i = 0; i < table->unique_count; i++) {
        if (may_meet(p, row, &table->uniques[i], columns))
            meet(p, scope, row, block, &table->uniques[i], assignments, update);
    }
}

static void insert(struct oracle_program *p, const json_t *body, struct oracle_scope *scope,
                   struct oracle_outputs *outputs, struct oracle_list *where)
{
    const json_t *columns = json_object_get(body, "cols");
    const json_t *select = cleave__oracle_is(json_object_get(body, "selectStmt"), "SelectStmt");
    const json_t *rows = json_object_get(select, "valuesLists");
    const json_t *relation = json_object_get(body, "relation");
    uint32_t table = cleave__oracle_table(p, relation);
    bool known = table != CLEAVE_ABSENT && !p->schema->tables[table].view;
    uint32_t row = ORACLE_NONE; /* the one new row, when there is one kind */

    if (rows && !json_object_get(select, "withClause") && !json_object_get(select, "limitCount") &&
        !json_object_get(select, "limitOffset")) {
        cleave__oracle_nested(p, scope, rows);
        const json_t *item;
        size_t i, count = json_array_size(rows);
        json_array_foreach(rows, i, item)
        {
            const json_t *items = json_object_get(cleave__oracle_is(item, "List"), "items");
            struct oracle_list own = {0};
            if (!known || p->status != CLEAVE_OK)
                break;
            uint32_t reference = cleave__oracle_reference(p, table, scope->block);
            uint32_t block =
                count == 1 ? scope->block : cleave__oracle_block(p, scope->block, ORACLE_FLOW_NONE);
            if (reference == ORACLE_NONE || block == ORACLE_NONE)
                break;
            give_row(p, scope, reference, columns, items, count == 1 ? where : &own);
            cleave__oracle_target(p, reference, block, true, true);
            on_conflict(p, scope, body, reference, block);
            if (count == 1)
                row = reference;
            else
                close_block(p, block, &own);
        }
    } else {
        struct oracle_outputs given = {0};
        if (select) {
            struct oracle_shape shape = {ORACLE_FLOW_ALL,
                                         cleave__oracle_shape(select, false).proves};
            cleave__oracle_push(p, where,
                                cleave__oracle_subquery(p, scope, scope, select, shape, &given));
        }
        if (known)
            row = cleave__oracle_reference(p, table, scope->block);
        for (uint32_t i = 0; row != ORACLE_NONE && i < given.count; i++) {
            uint32_t column = insert_column(p, row, columns, i);
            if (column != CLEAVE_ABSENT)
                give(p, row, column, &given.items[i].expr, where);
        }
        cleave__oracle_target(p, row, scope->block, true, true);
        if (row != ORACLE_NONE)
            on_conflict(p, scope, body, row, scope->block);
    }

    struct oracle_relation r = {.name = alias_of(relation), .kind = ORACLE_RELATION_OPAQUE};
    if (row != ORACLE_NONE) {
        r.kind = ORACLE_RELATION_TABLE;
        r.reference = row;
    }
    cleave__oracle_relation_add(p, scope, &r);
    const json_t *conflict = json_object_get(body, "onConflictClause");
    cleave__oracle_nested(p, scope, conflict);
    size_t known_outputs = outputs ? outputs->count : 0;
    cleave__oracle_targets_list(p, scope, json_object_get(body, "returningList"), outputs);
    for (size_t i = known_outputs; outputs && (rows || conflict) && i < outputs->count; i++)
        outputs->items[i].expr = (struct oracle_expr){.kind = ORACLE_EXPR_UNKNOWN};
}

static void update(struct oracle_program *p, const json_t *body, struct oracle_scope *scope,
                   struct oracle_outputs *outputs, struct oracle_list *where)
{
    uint32_t row = cleave__oracle_written_table(p, scope, json_object_get(body, "relation"), where);
    const json_t *assignments = json_object_get(body, "targetList");
    cleave__oracle_from(p, scope, json_object_get(body, "fromClause"), where);
    cleave__oracle_push(
        p, where, cleave__oracle_condition(p, scope, json_object_get(body, "whereClause"), true));
    cleave__oracle_nested(p, scope, assignments);
    cleave__oracle_target(p, row, scope->block, true, false);
    if (row != ORACLE_NONE)
        move_row(p, scope, row, scope->block, assignments);
    returning(p, scope, body, row, outputs);
}

static void delete_rows(struct oracle_program *p, const json_t *body, struct oracle_scope *scope,
                        struct oracle_outputs *outputs, struct oracle_list *where)
{
    uint32_t row = cleave__oracle_written_table(p, scope, json_object_get(body, "relation"), where);
    cleave__oracle_from(p, scope, json_object_get(body, "usingClause"), where);
    cleave__oracle_push(
        p, where, cleave__oracle_condition(p, scope, json_object_get(body, "whereClause"), true));
    cleave__oracle_target(p, row, scope->block, true, false);
    cleave__oracle_targets_list(p, scope, json_object_get(body, "returningList"), outputs);
}

/* A new row of MERGE: it sees the source, not the target. */
static void merge_insert(struct oracle_program *p, struct oracle_scope *scope, uint32_t table,
                         const json_t *clause)
{
    struct oracle_list own = {0};
    uint32_t fresh = cleave__oracle_reference(p, table, scope->block);
    uint32_t block = cleave__oracle_block(p, scope->block, ORACLE_FLOW_ALL);
    if (fresh == ORACLE_NONE || block == ORACLE_NONE)
        return;
    give_row(p, scope, fresh, json_object_get(clause, "targetList"),
             json_object_get(clause, "values"), &own);
    close_block(p, block, &own);
    cleave__oracle_target(p, fresh, block, true, true);
}

/* MERGE: source LEFT JOIN target, and a new row for each INSERT clause. */
static void merge(struct oracle_program *p, const json_t *body, struct oracle_scope *scope,
                  struct oracle_list *where)
{
    struct oracle_list on = {0};
    const json_t *relation = json_object_get(body, "relation");
    uint32_t table = cleave__oracle_table(p, relation);
    bool known = table != CLEAVE_ABSENT && !p->schema->tables[table].view;
    json_t *source = json_pack("[O]", json_object_get(body, "sourceRelation"));
    if (source)
        cleave__oracle_from(p, scope, source, where);
    json_decref(source);
    uint32_t side = p->side = cleave__oracle_side(p, scope->block);
    uint32_t row = cleave__oracle_written_table(p, scope, relation, &on);
    p->side = ORACLE_NONE;
    cleave__oracle_push(
        p, &on, cleave__oracle_condition(p, scope, json_object_get(body, "joinCondition"), true));
    struct oracle_node *outer = cleave__oracle_node(p, ORACLE_OUTER);
    struct oracle_node **children = cleave__arena_array(p->arena, 1, sizeof *children);
    struct oracle_node *condition = cleave__oracle_close(p, &on);
    if (!outer || !children || p->status != CLEAVE_OK) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return;
    }
    children[0] = condition;
    outer->children = children;
    outer->count = 1;
    outer->side[0] = side;
    cleave__oracle_push(p, where, outer);

    const json_t *item;
    size_t i;
    bool writes = false;
    json_array_foreach(json_object_get(body, "mergeWhenClauses"), i, item)
    {
        const json_t *clause = cleave__oracle_is(item, "MergeWhenClause");
        const char *command = cleave__oracle_text(clause, "commandType");
        const json_t *targets = json_object_get(clause, "targetList");
        cleave__oracle_nested(p, scope, json_object_get(clause, "condition"));
        cleave__oracle_nested(p, scope, targets);
        cleave__oracle_nested(p, scope, json_object_get(clause, "values"));
        writes |= !strcmp(command, "CMD_UPDATE") || !strcmp(command, "CMD_DELETE");
        if (!strcmp(command, "CMD_UPDATE") && row != ORACLE_NONE)
            move_row(p, scope, row, scope->block, targets);
        else if (!strcmp(command, "CMD_INSERT") && known)
            merge_insert(p, scope, table, clause);
    }
    cleave__oracle_target(p, row, scope->block, writes, false);
}

bool cleave__oracle_change(struct oracle_program *p, const json_t *node, struct oracle_scope *scope,
                           struct oracle_outputs *outputs, struct oracle_list *where)
{
    const json_t *body;
    if ((body = cleave__oracle_is(node, "InsertStmt")))
        insert(p, body, scope, outputs, where);
    else if ((body = cleave__oracle_is(node, "UpdateStmt")))
        update(p, body, scope, outputs, where);
    else if ((body = cleave__oracle_is(node, "DeleteStmt")))
        delete_rows(p, body, scope, outputs, where);
    else if ((body = cleave__oracle_is(node, "MergeStmt")))
        merge(p, body, scope, where);
    else
        return false;
    return true;
}
