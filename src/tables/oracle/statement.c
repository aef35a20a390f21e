/* INSERT, UPDATE, DELETE, MERGE, COPY and the few utility statements that read or write rows.
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

/* The table that is written, as a relation of the scope; ORACLE_NONE when the schema lacks it. A
 * view stands for the table it reads, whose rows are then marked as written. */
static uint32_t written_table(struct oracle_program *p, struct oracle_scope *scope,
                              const json_t *relation, struct oracle_list *where)
{
    uint32_t table = cleave__oracle_table(p, relation);
    struct oracle_relation r = {.name = alias_of(relation), .kind = ORACLE_RELATION_OPAQUE};
    r.reference = ORACLE_NONE;
    if (table != CLEAVE_ABSENT && p->schema->tables[table].view) {
        struct oracle_cte *none = scope->ctes; /* a CTE does not hide a table that is written */
        size_t first = p->targets.count;
        scope->ctes = NULL;
        json_t *item = json_pack("[{s:O}]", "RangeVar", (json_t *)relation);
        if (!item)
            cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        else
            cleave__oracle_from(p, scope, item, where);
        json_decref(item);
        scope->ctes = none;
        for (size_t i = first; i < p->targets.count; i++) {
            if (p->blocks.data[p->targets.data[i].block].parent == scope->block)
                p->targets.data[i].write = true;
        }
        return ORACLE_NONE;
    }
    if (table != CLEAVE_ABSENT) {
        r.reference = cleave__oracle_reference(p, table);
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

/* A new row's column is what `expr` says. */
static void give(struct oracle_program *p, uint32_t reference, uint32_t column,
                 const struct oracle_expr *expr, struct oracle_list *where)
{
    if (cleave__oracle_column_find(p, reference, column) != ORACLE_NONE)
        return; /* named twice: an error when run */
    if (expr->kind == ORACLE_EXPR_VARIABLE)
        cleave__oracle_alias(p, reference, column, expr->variable);
    else if (expr->kind != ORACLE_EXPR_UNKNOWN)
        cleave__oracle_push(
            p, where, cleave__oracle_holds(p, cleave__oracle_column(p, reference, column), expr));
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

    if (rows && !json_object_get(select, "withClause")) {
        cleave__oracle_nested(p, scope, rows);
        const json_t *item;
        size_t i, count = json_array_size(rows);
        json_array_foreach(rows, i, item)
        {
            const json_t *items = json_object_get(cleave__oracle_is(item, "List"), "items");
            struct oracle_list own = {0};
            if (!known || p->status != CLEAVE_OK)
                break;
            uint32_t reference = cleave__oracle_reference(p, table);
            uint32_t block =
                count == 1 ? scope->block : cleave__oracle_block(p, scope->block, true);
            if (reference == ORACLE_NONE || block == ORACLE_NONE)
                break;
            give_row(p, scope, reference, columns, items, count == 1 ? where : &own);
            cleave__oracle_target(p, reference, block, true, true);
            if (count == 1)
                row = reference;
            else
                close_block(p, block, &own);
        }
    } else {
        struct oracle_outputs given = {0};
        if (select) {
            uint32_t block = cleave__oracle_block(p, scope->block, true);
            struct oracle_node *choice = cleave__oracle_node(p, ORACLE_CHOICE);
            uint32_t *blocks = cleave__arena_alloc(p->arena, sizeof *blocks);
            if (block == ORACLE_NONE || !choice || !blocks) {
                cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
                return;
            }
            cleave__oracle_select(p, select, scope, block, &given);
            blocks[0] = block;
            choice->blocks = blocks;
            choice->count = 1;
            cleave__oracle_push(p, where, choice);
        }
        if (known)
            row = cleave__oracle_reference(p, table);
        for (uint32_t i = 0; row != ORACLE_NONE && i < given.count; i++) {
            uint32_t column = insert_column(p, row, columns, i);
            if (column != CLEAVE_ABSENT)
                give(p, row, column, &given.items[i].expr, where);
        }
        cleave__oracle_target(p, row, scope->block, true, true);
    }

    struct oracle_relation r = {.name = alias_of(relation), .kind = ORACLE_RELATION_OPAQUE};
    if (row != ORACLE_NONE) {
        r.kind = ORACLE_RELATION_TABLE;
        r.reference = row;
    }
    cleave__oracle_relation_add(p, scope, &r);
    const json_t *conflict = json_object_get(body, "onConflictClause");
    cleave__oracle_nested(p, scope, conflict);
    cleave__oracle_targets_list(p, scope, json_object_get(body, "returningList"), outputs);
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
                     const json_t *assignments)
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
    uint32_t fresh = cleave__oracle_reference(p, p->references.data[old].table);
    uint32_t block = cleave__oracle_block(p, scope->block, false);
    bool *set = cleave__arena_zalloc(p->arena, table->column_count);
    if (fresh == ORACLE_NONE || block == ORACLE_NONE || !set) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return;
    }
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
        give(p, fresh, column, &expr, &own);
    }
    for (uint32_t c = 0; c < table->column_count; c++) {
        if (!set[c])
            cleave__oracle_alias(p, fresh, c, cleave__oracle_column(p, old, c));
    }
    close_block(p, block, &own);
    cleave__oracle_target(p, fresh, block, true, true);
}

static void update(struct oracle_program *p, const json_t *body, struct oracle_scope *scope,
                   struct oracle_outputs *outputs, struct oracle_list *where)
{
    uint32_t row = written_table(p, scope, json_object_get(body, "relation"), where);
    const json_t *assignments = json_object_get(body, "targetList");
    cleave__oracle_from(p, scope, json_object_get(body, "fromClause"), where);
    cleave__oracle_push(p, where,
                        cleave__oracle_condition(p, scope, json_object_get(body, "whereClause")));
    cleave__oracle_nested(p, scope, assignments);
    cleave__oracle_target(p, row, scope->block, true, false);
    if (row != ORACLE_NONE)
        move_row(p, scope, row, assignments);
    cleave__oracle_targets_list(p, scope, json_object_get(body, "returningList"), outputs);
}

static void delete_rows(struct oracle_program *p, const json_t *body, struct oracle_scope *scope,
                        struct oracle_outputs *outputs, struct oracle_list *where)
{
    uint32_t row = written_table(p, scope, json_object_get(body, "relation"), where);
    cleave__oracle_from(p, scope, json_object_get(body, "usingClause"), where);
    cleave__oracle_push(p, where,
                        cleave__oracle_condition(p, scope, json_object_get(body, "whereClause")));
    cleave__oracle_target(p, row, scope->block, true, false);
    cleave__oracle_targets_list(p, scope, json_object_get(body, "returningList"), outputs);
}

/* MERGE: source LEFT JOIN target, and a new row for each INSERT clause. */
static void merge(struct oracle_program *p, const json_t *body, struct oracle_scope *scope,
                  struct oracle_list *where)
{
    struct oracle_list on = {0};
    uint32_t side = p->side = cleave__oracle_side(p, scope->block);
    uint32_t row = written_table(p, scope, json_object_get(body, "relation"), &on);
    p->side = ORACLE_NONE;
    json_t *source = json_pack("[O]", json_object_get(body, "sourceRelation"));
    if (source)
        cleave__oracle_from(p, scope, source, where);
    json_decref(source);
    cleave__oracle_push(p, &on,
                        cleave__oracle_condition(p, scope, json_object_get(body, "joinCondition")));
    struct oracle_node *outer = cleave__oracle_node(p, ORACLE_OUTER);
    struct oracle_node **children = cleave__arena_array(p->arena, 1, sizeof *children);
    struct oracle_node *condition = cleave__oracle_close(p, &on);
    if (!source || !outer || !children || p->status != CLEAVE_OK) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return;
    }
    children[0] = condition;
    outer->children = children;
    outer->count = 1;
    outer->side[0] = side;
    cleave__oracle_push(p, where, outer);
    cleave__oracle_target(p, row, scope->block, true, false);

    const json_t *item;
    size_t i;
    json_array_foreach(json_object_get(body, "mergeWhenClauses"), i, item)
    {
        const json_t *clause = cleave__oracle_is(item, "MergeWhenClause");
        const char *command = cleave__oracle_text(clause, "commandType");
        const json_t *targets = json_object_get(clause, "targetList");
        cleave__oracle_nested(p, scope, json_object_get(clause, "condition"));
        cleave__oracle_nested(p, scope, targets);
        cleave__oracle_nested(p, scope, json_object_get(clause, "values"));
        if (row == ORACLE_NONE)
            continue;
        if (!strcmp(command, "CMD_UPDATE")) {
            move_row(p, scope, row, targets);
        } else if (!strcmp(command, "CMD_INSERT")) {
            struct oracle_list own = {0};
            uint32_t fresh = cleave__oracle_reference(p, p->references.data[row].table);
            uint32_t block = cleave__oracle_block(p, scope->block, false);
            if (fresh == ORACLE_NONE || block == ORACLE_NONE)
                return;
            give_row(p, scope, fresh, targets, json_object_get(clause, "values"), &own);
            close_block(p, block, &own);
            cleave__oracle_target(p, fresh, block, true, true);
        }
    }
}

/* COPY table FROM or TO; COPY (query) TO. */
static void copy(struct oracle_program *p, const json_t *body, struct oracle_scope *scope,
                 struct oracle_list *where)
{
    const json_t *relation = json_object_get(body, "relation");
    const json_t *query = json_object_get(body, "query");
    if (relation) {
        uint32_t row = written_table(p, scope, relation, where);
        cleave__oracle_target(p, row, scope->block, cleave__oracle_flag(body, "is_from"),
                              cleave__oracle_flag(body, "is_from"));
    } else if (query) {
        uint32_t block = cleave__oracle_block(p, scope->block, true);
        if (block != ORACLE_NONE)
            cleave__oracle_statement(p, query, scope, block, NULL);
    }
}

void cleave__oracle_statement(struct oracle_program *p, const json_t *node,
                              struct oracle_scope *outer, uint32_t block,
                              struct oracle_outputs *outputs)
{
    const json_t *body;
    struct oracle_scope scope = {.outer = outer, .block = block};
    struct oracle_list where = {0};
    if ((body = cleave__oracle_is(node, "SelectStmt"))) {
        cleave__oracle_select(p, body, outer, block, outputs);
        return;
    }
    const char *kind;
    json_t *fields;
    if (!cleave__oracle_enter(p))
        return;
    json_object_foreach((json_t *)node, kind, fields)
        cleave__oracle_with(p, json_object_get(fields, "withClause"), fields, &scope);
    if ((body = cleave__oracle_is(node, "InsertStmt")))
        insert(p, body, &scope, outputs, &where);
    else if ((body = cleave__oracle_is(node, "UpdateStmt")))
        update(p, body, &scope, outputs, &where);
    else if ((body = cleave__oracle_is(node, "DeleteStmt")))
        delete_rows(p, body, &scope, outputs, &where);
    else if ((body = cleave__oracle_is(node, "MergeStmt")))
        merge(p, body, &scope, &where);
    else if ((body = cleave__oracle_is(node, "CopyStmt")))
        copy(p, body, &scope, &where);
    close_block(p, block, &where);
    cleave__oracle_leave(p);
}
