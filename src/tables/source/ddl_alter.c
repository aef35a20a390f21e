/* ALTER TABLE, renames, moves between schemas, DROP. What concerns neither columns nor keys nor
 * partitions is passed over. Children by INHERITS follow unless ONLY was said. */
#include <string.h>

#include "tables/source/ddl.h"

static struct cleave_build_table *table_at(struct cleave_ddl *ddl, uint32_t table)
{
    return &ddl->build.tables.data[table];
}

/* Calls `change` for the table and, if `descend`, everything that inherits from it, each once. */
struct change {
    enum cleave_status (*apply)(struct cleave_ddl *ddl, uint32_t table, bool top,
                                const struct change *change);
    const PgQuery__AlterTableCmd *command;
    const char *old_name, *new_name; /* of a column to rename */
};

static enum cleave_status walk(struct cleave_ddl *ddl, uint32_t table, bool descend,
                               const struct change *change)
{
    CLEAVE_VECTOR(uint32_t) queue = {0};
    uint32_t visit = ++ddl->build.visit;
    enum cleave_status status = change->apply(ddl, table, true, change);
    table_at(ddl, table)->visit = visit;
    if (status || !descend)
        return status;
    for (uint32_t at = table;;) {
        const struct cleave_build_table *it = table_at(ddl, at);
        for (size_t i = 0; i < it->children.count && !status; i++) {
            uint32_t child = it->children.data[i];
            if (table_at(ddl, child)->visit == visit || table_at(ddl, child)->dropped)
                continue;
            table_at(ddl, child)->visit = visit;
            status = change->apply(ddl, child, false, change);
            if (!status && !CLEAVE_PUSH(&queue, child))
                status = cleave__ddl_no_memory(ddl);
        }
        if (status || queue.count == 0)
            break;
        at = queue.data[--queue.count];
    }
    CLEAVE_VECTOR_FREE(&queue);
    return status;
}

static enum cleave_status lacks(struct cleave_ddl *ddl, uint32_t table, const char *column)
{
    return cleave__ddl_fail(ddl, -1, CLEAVE_BAD_INPUT, "\"%s\" has no column \"%s\"",
                            table_at(ddl, table)->name, column);
}

static enum cleave_status apply_add(struct cleave_ddl *ddl, uint32_t table, bool top,
                                    const struct change *change)
{
    const PgQuery__AlterTableCmd *command = change->command;
    if (!command->def || command->def->node_case != PG_QUERY__NODE__NODE_COLUMN_DEF)
        return CLEAVE_OK;
    const PgQuery__ColumnDef *definition = command->def->column_def;
    bool there =
        cleave__build_find_column(table_at(ddl, table), definition->colname) != CLEAVE_ABSENT;
    if (there && (!top || command->missing_ok))
        return CLEAVE_OK;
    return cleave__ddl_add_column(ddl, table, definition);
}

static enum cleave_status apply_drop(struct cleave_ddl *ddl, uint32_t table, bool top,
                                     const struct change *change)
{
    const PgQuery__AlterTableCmd *command = change->command;
    uint32_t column = cleave__build_find_column(table_at(ddl, table), command->name);
    if (column != CLEAVE_ABSENT)
        cleave__build_drop_column(&ddl->build, table, column);
    else if (top && !command->missing_ok && !table_at(ddl, table)->partial)
        return lacks(ddl, table, command->name);
    return CLEAVE_OK;
}

static enum cleave_status apply_rename(struct cleave_ddl *ddl, uint32_t table, bool top,
                                       const struct change *change)
{
    struct cleave_build_table *it = table_at(ddl, table);
    uint32_t column = cleave__build_find_column(it, change->old_name);
    if (column == CLEAVE_ABSENT)
        return top && !it->partial && !it->view ? lacks(ddl, table, change->old_name) : CLEAVE_OK;
    if (cleave__build_find_column(it, change->new_name) != CLEAVE_ABSENT)
        return cleave__ddl_fail(ddl, -1, CLEAVE_BAD_INPUT, "\"%s\" has a column \"%s\" already",
                                it->name, change->new_name);
    it->columns.data[column].name = cleave__build_string(&ddl->build, change->new_name);
    return it->columns.data[column].name ? CLEAVE_OK : cleave__ddl_no_memory(ddl);
}

/* The ALTER COLUMN family. */
static enum cleave_status apply_column(struct cleave_ddl *ddl, uint32_t table, bool top,
                                       const struct change *change)
{
    const PgQuery__AlterTableCmd *command = change->command;
    uint32_t index;
    enum cleave_status status = cleave__ddl_column(ddl, table, command->name, &index);
    if (status)
        return status;
    if (index == CLEAVE_ABSENT)
        return top ? lacks(ddl, table, command->name) : CLEAVE_OK;
    struct cleave_build_column *column = &table_at(ddl, table)->columns.data[index];
    switch (command->subtype) {
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AlterColumnType:
        if (command->def && command->def->node_case == PG_QUERY__NODE__NODE_COLUMN_DEF)
            return cleave__ddl_type(ddl, command->def->column_def->type_name, column);
        break;
    case PG_QUERY__ALTER_TABLE_TYPE__AT_SetNotNull:
        column->not_null = true;
        break;
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropNotNull:
        column->not_null = false;
        break;
    case PG_QUERY__ALTER_TABLE_TYPE__AT_ColumnDefault:
        column->fallback = command->def ? CLEAVE_DEFAULT_VALUE : CLEAVE_DEFAULT_NONE;
        break;
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddIdentity:
        column->fallback = CLEAVE_DEFAULT_IDENTITY;
        column->not_null = true;
        break;
    default: /* DROP IDENTITY, DROP EXPRESSION */
        column->fallback = CLEAVE_DEFAULT_NONE;
    }
    return CLEAVE_OK;
}

static enum cleave_status drop_constraint(struct cleave_ddl *ddl, uint32_t table, const char *name)
{
    struct cleave_build_table *it = table_at(ddl, table);
    for (size_t i = 0; i < it->keys.count; i++) {
        if (strcmp(it->keys.data[i].name, name) == 0)
            it->keys.data[i].dropped = true;
    }
    return CLEAVE_OK; /* a CHECK constraint is not ours */
}

static const PgQuery__RangeVar *relation_of(const PgQuery__Node *node)
{
    if (node && node->node_case == PG_QUERY__NODE__NODE_PARTITION_CMD)
        return node->partition_cmd->name;
    if (node && node->node_case == PG_QUERY__NODE__NODE_RANGE_VAR)
        return node->range_var;
    return NULL;
}

/* ATTACH, DETACH, INHERIT, NO INHERIT: between `table` and the one the command names. */
static enum cleave_status apply_family(struct cleave_ddl *ddl, uint32_t table,
                                       const PgQuery__AlterTableCmd *command)
{
    const PgQuery__RangeVar *relation = relation_of(command->def);
    if (!relation)
        return CLEAVE_OK;
    uint32_t other = cleave__ddl_find(ddl, relation);
    if (other == CLEAVE_ABSENT)
        return cleave__ddl_fail(ddl, relation->location, CLEAVE_BAD_INPUT,
                                "table \"%s\" is not defined before this", relation->relname);
    switch (command->subtype) {
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AttachPartition:
        return cleave__ddl_fold(ddl, table, other, relation->location);
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddInherit:
        if (!CLEAVE_PUSH(&table_at(ddl, other)->children, table))
            return cleave__ddl_no_memory(ddl);
        return CLEAVE_OK;
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropInherit: {
        struct cleave_build_table *parent = table_at(ddl, other);
        size_t kept = 0;
        for (size_t i = 0; i < parent->children.count; i++) {
            if (parent->children.data[i] != table)
                parent->children.data[kept++] = parent->children.data[i];
        }
        parent->children.count = kept;
        return CLEAVE_OK;
    }
    default: /* DETACH: a partition made by PARTITION OF takes its parent's columns along */
        break;
    }
    struct cleave_build_table *partition = table_at(ddl, other);
    if (partition->folded_into != table)
        return CLEAVE_OK;
    partition->folded_into = CLEAVE_ABSENT;
    enum cleave_status status = CLEAVE_OK;
    bool bare = partition->columns.count == 0;
    for (size_t i = 0; bare && i < table_at(ddl, table)->columns.count && !status; i++) {
        const struct cleave_build_column *column = &table_at(ddl, table)->columns.data[i];
        if (!column->dropped)
            status = cleave__build_column(&ddl->build, other, column, cleave__ddl_line(ddl, -1),
                                          ddl->error);
    }
    return status;
}

/* What a command is about, as far as we keep it. */
enum concern { NOTHING, ADD, DROP, COLUMN, CONSTRAINT, UNCONSTRAIN, FAMILY };

static enum concern concern_of(const PgQuery__AlterTableCmd *command)
{
    switch (command->subtype) {
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddColumn:
        return ADD;
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropColumn:
        return DROP;
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AlterColumnType:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_SetNotNull:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropNotNull:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_ColumnDefault:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddIdentity:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropIdentity:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropExpression:
        return COLUMN;
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddConstraint:
        return CONSTRAINT;
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropConstraint:
        return UNCONSTRAIN;
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AttachPartition:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DetachPartition:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddInherit:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropInherit:
        return FAMILY;
    default:
        return NOTHING;
    }
}

enum cleave_status cleave__ddl_alter(struct cleave_ddl *ddl, const PgQuery__AlterTableStmt *alter)
{
    if (alter->objtype != PG_QUERY__OBJECT_TYPE__OBJECT_TABLE &&
        alter->objtype != PG_QUERY__OBJECT_TYPE__OBJECT_FOREIGN_TABLE)
        return CLEAVE_OK;
    uint32_t table = cleave__ddl_find(ddl, alter->relation);
    for (size_t i = 0; i < alter->n_cmds; i++) {
        if (alter->cmds[i]->node_case != PG_QUERY__NODE__NODE_ALTER_TABLE_CMD)
            continue;
        const PgQuery__AlterTableCmd *command = alter->cmds[i]->alter_table_cmd;
        struct change change = {.command = command};
        enum concern concern = concern_of(command);
        enum cleave_status status = CLEAVE_OK;
        if (concern == NOTHING)
            continue;
        if (table == CLEAVE_ABSENT) {
            /* A dump with --clean takes things away before it makes them. */
            if (alter->missing_ok || concern == DROP || concern == UNCONSTRAIN)
                continue;
            return cleave__ddl_fail(ddl, alter->relation->location, CLEAVE_BAD_INPUT,
                                    "table \"%s\" is not defined before this ALTER TABLE",
                                    alter->relation->relname);
        }
        if (table_at(ddl, table)->view)
            continue; /* old dumps alter views this way: defaults, owners */
        if (table_at(ddl, table)->folded_into != CLEAVE_ABSENT && concern != FAMILY)
            continue; /* a partition is its parent */
        bool descend = alter->relation->inh;
        if (concern == ADD || concern == DROP || concern == COLUMN) {
            change.apply = concern == ADD ? apply_add : concern == DROP ? apply_drop : apply_column;
            status = walk(ddl, table, descend, &change);
        } else if (concern == CONSTRAINT) {
            if (command->def && command->def->node_case == PG_QUERY__NODE__NODE_CONSTRAINT)
                status = cleave__ddl_add_constraint(ddl, table, command->def->constraint);
        } else if (concern == UNCONSTRAIN) {
            status = drop_constraint(ddl, table, command->name);
        } else {
            status = apply_family(ddl, table, command);
        }
        if (status)
            return status;
    }
    return CLEAVE_OK;
}

static enum cleave_status rename_table(struct cleave_ddl *ddl, uint32_t table, const char *name)
{
    char schema[256];
    const char *old = table_at(ddl, table)->name;
    const char *dot = strchr(old, '.');
    size_t length = dot ? (size_t)(dot - old) : 0;
    if (length >= sizeof schema)
        length = sizeof schema - 1;
    memcpy(schema, old, length);
    schema[length] = 0;
    const char *full = cleave__ddl_new_name(ddl, dot ? schema : "public", name);
    if (!full)
        return cleave__ddl_no_memory(ddl);
    return cleave__build_rename(&ddl->build, table, full, cleave__ddl_line(ddl, -1), ddl->error);
}

enum cleave_status cleave__ddl_rename(struct cleave_ddl *ddl, const PgQuery__RenameStmt *rename)
{
    struct change change = {
        .apply = apply_rename, .old_name = rename->subname, .new_name = rename->newname};
    switch (rename->rename_type) {
    case PG_QUERY__OBJECT_TYPE__OBJECT_TABLE:
    case PG_QUERY__OBJECT_TYPE__OBJECT_VIEW:
    case PG_QUERY__OBJECT_TYPE__OBJECT_MATVIEW:
    case PG_QUERY__OBJECT_TYPE__OBJECT_FOREIGN_TABLE:
    case PG_QUERY__OBJECT_TYPE__OBJECT_COLUMN:
    case PG_QUERY__OBJECT_TYPE__OBJECT_TABCONSTRAINT:
        break;
    default:
        return CLEAVE_OK;
    }
    if (!rename->relation)
        return CLEAVE_OK;
    uint32_t table = cleave__ddl_find(ddl, rename->relation);
    if (table == CLEAVE_ABSENT) {
        /* ALTER TABLE also renames sequences and indexes, which we do not keep. */
        if (rename->missing_ok || rename->rename_type == PG_QUERY__OBJECT_TYPE__OBJECT_TABLE)
            return CLEAVE_OK;
        return cleave__ddl_fail(ddl, rename->relation->location, CLEAVE_BAD_INPUT,
                                "\"%s\" is not defined before this", rename->relation->relname);
    }
    if (rename->rename_type == PG_QUERY__OBJECT_TYPE__OBJECT_COLUMN)
        return walk(ddl, table, rename->relation->inh, &change);
    if (rename->rename_type != PG_QUERY__OBJECT_TYPE__OBJECT_TABCONSTRAINT)
        return rename_table(ddl, table, rename->newname);
    struct cleave_build_table *it = table_at(ddl, table);
    for (size_t i = 0; i < it->keys.count; i++) {
        struct cleave_build_key *key = &it->keys.data[i];
        if (key->dropped || strcmp(key->name, rename->subname) != 0)
            continue;
        key->name = cleave__build_string(&ddl->build, rename->newname);
        if (!key->name)
            return cleave__ddl_no_memory(ddl);
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__ddl_move(struct cleave_ddl *ddl,
                                    const PgQuery__AlterObjectSchemaStmt *move)
{
    if (!move->relation)
        return CLEAVE_OK;
    uint32_t table = cleave__ddl_find(ddl, move->relation);
    if (table == CLEAVE_ABSENT)
        return CLEAVE_OK;
    const char *name = cleave__ddl_new_name(ddl, move->newschema, move->relation->relname);
    if (!name)
        return cleave__ddl_no_memory(ddl);
    return cleave__build_rename(&ddl->build, table, name, cleave__ddl_line(ddl, -1), ddl->error);
}

static void drop_table(struct cleave_ddl *ddl, uint32_t table)
{
    struct cleave_build *build = &ddl->build;
    for (uint32_t i = 0; table_at(ddl, table)->parent && i < build->tables.count; i++) {
        if (i != table && !build->tables.data[i].dropped && cleave__build_top(build, i) == table)
            cleave__build_drop(build, i);
    }
    cleave__build_drop(build, table);
}

static void drop_schema(struct cleave_ddl *ddl, const char *schema)
{
    size_t length = strlen(schema);
    bool public = strcmp(schema, "public") == 0;
    for (uint32_t i = 0; i < ddl->build.tables.count; i++) {
        const char *name = table_at(ddl, i)->name;
        bool inside =
            public ? !strchr(name, '.') : strncmp(name, schema, length) == 0 && name[length] == '.';
        if (inside && !table_at(ddl, i)->dropped)
            drop_table(ddl, i);
    }
}

enum cleave_status cleave__ddl_drop(struct cleave_ddl *ddl, const PgQuery__DropStmt *drop)
{
    for (size_t i = 0; i < drop->n_objects; i++) {
        const PgQuery__Node *node = drop->objects[i];
        const char *schema = "", *name = "";
        bool listed =
            node->node_case == PG_QUERY__NODE__NODE_LIST &&
            cleave__ddl_split_name(node->list->n_items, node->list->items, &schema, &name);
        switch (drop->remove_type) {
        case PG_QUERY__OBJECT_TYPE__OBJECT_TABLE:
        case PG_QUERY__OBJECT_TYPE__OBJECT_VIEW:
        case PG_QUERY__OBJECT_TYPE__OBJECT_MATVIEW:
        case PG_QUERY__OBJECT_TYPE__OBJECT_FOREIGN_TABLE: {
            uint32_t table = listed ? cleave__ddl_find_name(ddl, schema, name) : CLEAVE_ABSENT;
            if (table != CLEAVE_ABSENT)
                drop_table(ddl, table);
            break;
        }
        case PG_QUERY__OBJECT_TYPE__OBJECT_INDEX: {
            uint32_t id = listed ? cleave__intern_find(&ddl->index_names, name, strlen(name))
                                 : CLEAVE_INTERN_NONE;
            if (id < ddl->indexes.count) {
                struct cleave_ddl_index where = ddl->indexes.data[id];
                table_at(ddl, where.table)->keys.data[where.key].dropped = true;
            }
            break;
        }
        case PG_QUERY__OBJECT_TYPE__OBJECT_SCHEMA:
            drop_schema(ddl, cleave__ddl_string(node));
            break;
        default:
            break;
        }
    }
    return CLEAVE_OK;
}
