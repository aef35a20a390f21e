/* CREATE TABLE: columns, constraints, LIKE, INHERITS, OF, partitions; unique indexes. */
#include <string.h>

#include "tables/source/ddl.h"

/* Bits of LIKE ... INCLUDING, as PostgreSQL numbers them. */
enum {
    LIKE_DEFAULTS = 1 << 3,
    LIKE_GENERATED = 1 << 4,
    LIKE_IDENTITY = 1 << 5,
    LIKE_INDEXES = 1 << 6
};

static struct cleave_build_table *table_at(struct cleave_ddl *ddl, uint32_t table)
{
    return &ddl->build.tables.data[table];
}

enum cleave_status cleave__ddl_column(struct cleave_ddl *ddl, uint32_t table, const char *name,
                                      uint32_t *out)
{
    const struct cleave_build_table *it = table_at(ddl, table);
    *out = cleave__build_find_column(it, name);
    if (*out != CLEAVE_ABSENT || !it->partial)
        return CLEAVE_OK;
    struct cleave_build_column column = {.name = name, .type_name = "text"};
    enum cleave_status status =
        cleave__build_column(&ddl->build, table, &column, cleave__ddl_line(ddl, -1), ddl->error);
    if (!status)
        *out = (uint32_t)(it->columns.count - 1);
    return status;
}

/* Names of columns -> indexes in `table`. */
static enum cleave_status key_columns(struct cleave_ddl *ddl, uint32_t table, size_t count,
                                      PgQuery__Node **names, int location, uint32_t *out)
{
    const struct cleave_build_table *it = table_at(ddl, table);
    if (count > CLEAVE_KEY_COLUMNS_MAX)
        return cleave__ddl_fail(ddl, location, CLEAVE_LIMIT,
                                "a key of \"%s\" has %zu columns; PostgreSQL allows %d", it->name,
                                count, CLEAVE_KEY_COLUMNS_MAX);
    for (size_t i = 0; i < count; i++) {
        const char *name = cleave__ddl_string(names[i]);
        enum cleave_status status = cleave__ddl_column(ddl, table, name, &out[i]);
        if (status)
            return status;
        if (out[i] == CLEAVE_ABSENT)
            return cleave__ddl_fail(ddl, location, CLEAVE_BAD_INPUT,
                                    "a key of \"%s\" names column \"%s\", which it lacks", it->name,
                                    name);
    }
    return CLEAVE_OK;
}

static enum cleave_status add_foreign(struct cleave_ddl *ddl, uint32_t table,
                                      const PgQuery__Constraint *constraint,
                                      struct cleave_build_key *key)
{
    const PgQuery__RangeVar *target = constraint->pktable;
    const char *names[CLEAVE_KEY_COLUMNS_MAX];
    uint32_t columns[CLEAVE_KEY_COLUMNS_MAX];
    if (!target)
        return CLEAVE_OK;
    key->kind = CLEAVE_KEY_FOREIGN;
    key->target_table = cleave__ddl_find(ddl, target);
    key->target = key->target_table != CLEAVE_ABSENT
                      ? table_at(ddl, key->target_table)->name
                      : cleave__ddl_new_name(ddl, target->schemaname, target->relname);
    if (!key->target)
        return cleave__ddl_no_memory(ddl);
    key->target_count = (uint32_t)constraint->n_pk_attrs;
    if (constraint->n_pk_attrs && key->target_table != CLEAVE_ABSENT) {
        enum cleave_status status =
            key_columns(ddl, key->target_table, constraint->n_pk_attrs, constraint->pk_attrs,
                        constraint->location, columns);
        if (status)
            return status;
        key->target_columns = columns;
    } else if (constraint->n_pk_attrs) {
        for (size_t i = 0; i < constraint->n_pk_attrs && i < CLEAVE_KEY_COLUMNS_MAX; i++)
            names[i] = cleave__ddl_string(constraint->pk_attrs[i]);
        key->target_names = names;
    }
    return cleave__build_key(&ddl->build, table, key, ddl->error);
}

/* PRIMARY KEY or UNIQUE USING INDEX: the index becomes the constraint. */
static enum cleave_status use_index(struct cleave_ddl *ddl, uint32_t table,
                                    const PgQuery__Constraint *constraint)
{
    const char *name = constraint->indexname;
    struct cleave_build_table *it = table_at(ddl, table);
    for (size_t i = 0; i < it->keys.count; i++) {
        struct cleave_build_key *key = &it->keys.data[i];
        if (key->dropped || key->kind != CLEAVE_KEY_UNIQUE || strcmp(key->name, name) != 0)
            continue;
        if (constraint->conname[0]) {
            key->name = cleave__build_string(&ddl->build, constraint->conname);
            if (!key->name)
                return cleave__ddl_no_memory(ddl);
        }
        if (constraint->contype != PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY)
            return CLEAVE_OK;
        struct cleave_build_key primary = *key;
        primary.kind = CLEAVE_KEY_PRIMARY;
        key->dropped = true;
        return cleave__build_key(&ddl->build, table, &primary, ddl->error);
    }
    return cleave__ddl_fail(ddl, constraint->location, CLEAVE_BAD_INPUT,
                            "\"%s\" has no plain unique index \"%s\"", it->name, name);
}

/* A constraint on `column` (its own definition) or, with CLEAVE_ABSENT, on named columns. */
static enum cleave_status add_constraint(struct cleave_ddl *ddl, uint32_t table, uint32_t column,
                                         const PgQuery__Constraint *constraint)
{
    struct cleave_build_table *it = table_at(ddl, table);
    struct cleave_build_column *own = column == CLEAVE_ABSENT ? NULL : &it->columns.data[column];
    uint32_t columns[CLEAVE_KEY_COLUMNS_MAX] = {column};
    struct cleave_build_key key = {
        .name = constraint->conname[0] ? constraint->conname : NULL,
        .count = 1,
        .columns = columns,
        .target_table = CLEAVE_ABSENT,
        .line = cleave__ddl_line(ddl, constraint->location),
    };
    bool foreign = constraint->contype == PG_QUERY__CONSTR_TYPE__CONSTR_FOREIGN;
    bool primary = constraint->contype == PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY;
    if (it->folded_into != CLEAVE_ABSENT &&
        (foreign || primary || constraint->contype == PG_QUERY__CONSTR_TYPE__CONSTR_UNIQUE))
        return CLEAVE_OK; /* holds for a part of the rows only */
    switch (constraint->contype) {
    case PG_QUERY__CONSTR_TYPE__CONSTR_NOTNULL:
        if (own)
            own->not_null = true;
        return CLEAVE_OK;
    case PG_QUERY__CONSTR_TYPE__CONSTR_DEFAULT:
        if (own)
            own->fallback = CLEAVE_DEFAULT_VALUE;
        return CLEAVE_OK;
    case PG_QUERY__CONSTR_TYPE__CONSTR_IDENTITY:
        if (own) {
            own->fallback = CLEAVE_DEFAULT_IDENTITY;
            own->not_null = true;
        }
        return CLEAVE_OK;
    case PG_QUERY__CONSTR_TYPE__CONSTR_GENERATED:
        if (own)
            own->fallback = CLEAVE_DEFAULT_GENERATED;
        return CLEAVE_OK;
    case PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY:
    case PG_QUERY__CONSTR_TYPE__CONSTR_UNIQUE:
    case PG_QUERY__CONSTR_TYPE__CONSTR_FOREIGN:
        break;
    default:
        return CLEAVE_OK;
    }
    if (constraint->indexname[0])
        return use_index(ddl, table, constraint);
    if (!own) {
        size_t count = foreign ? constraint->n_fk_attrs : constraint->n_keys;
        PgQuery__Node **names = foreign ? constraint->fk_attrs : constraint->keys;
        enum cleave_status status =
            key_columns(ddl, table, count, names, constraint->location, columns);
        if (status)
            return status;
        key.count = (uint32_t)count;
    }
    if (foreign)
        return add_foreign(ddl, table, constraint, &key);
    key.kind = primary ? CLEAVE_KEY_PRIMARY : CLEAVE_KEY_UNIQUE;
    return cleave__build_key(&ddl->build, table, &key, ddl->error);
}

enum cleave_status cleave__ddl_add_constraint(struct cleave_ddl *ddl, uint32_t table,
                                              const PgQuery__Constraint *constraint)
{
    return add_constraint(ddl, table, CLEAVE_ABSENT, constraint);
}

static enum cleave_status column_constraints(struct cleave_ddl *ddl, uint32_t table,
                                             uint32_t column, size_t count, PgQuery__Node **nodes)
{
    for (size_t i = 0; i < count; i++) {
        if (nodes[i]->node_case != PG_QUERY__NODE__NODE_CONSTRAINT)
            continue;
        enum cleave_status status = add_constraint(ddl, table, column, nodes[i]->constraint);
        if (status)
            return status;
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__ddl_add_column(struct cleave_ddl *ddl, uint32_t table,
                                          const PgQuery__ColumnDef *definition)
{
    struct cleave_build_column column = {.name = definition->colname};
    enum cleave_status status;
    if (definition->type_name) {
        status = cleave__ddl_type(ddl, definition->type_name, &column);
        if (status)
            return status;
        status = cleave__build_column(&ddl->build, table, &column,
                                      cleave__ddl_line(ddl, definition->location), ddl->error);
        if (status)
            return status;
    } /* else: constraints for a column that OF or PARTITION OF brought along */
    uint32_t index = cleave__build_find_column(table_at(ddl, table), definition->colname);
    if (index == CLEAVE_ABSENT)
        return CLEAVE_OK;
    return column_constraints(ddl, table, index, definition->n_constraints,
                              definition->constraints);
}

/* Copies the live columns of `source` that `table` does not have yet. */
static enum cleave_status copy_columns(struct cleave_ddl *ddl, uint32_t table, uint32_t source,
                                       uint32_t options)
{
    size_t count = table_at(ddl, source)->columns.count;
    for (size_t i = 0; i < count; i++) {
        struct cleave_build_column column = table_at(ddl, source)->columns.data[i];
        if (column.dropped)
            continue;
        if ((column.fallback == CLEAVE_DEFAULT_VALUE && !(options & LIKE_DEFAULTS)) ||
            (column.fallback == CLEAVE_DEFAULT_GENERATED && !(options & LIKE_GENERATED)) ||
            (column.fallback == CLEAVE_DEFAULT_IDENTITY && !(options & LIKE_IDENTITY)))
            column.fallback = CLEAVE_DEFAULT_NONE;
        if (cleave__build_find_column(table_at(ddl, table), column.name) != CLEAVE_ABSENT)
            continue; /* several parents: merged, as PostgreSQL does */
        enum cleave_status status = cleave__build_column(&ddl->build, table, &column,
                                                         cleave__ddl_line(ddl, -1), ddl->error);
        if (status)
            return status;
    }
    return CLEAVE_OK;
}

static enum cleave_status copy_uniques(struct cleave_ddl *ddl, uint32_t table, uint32_t source)
{
    for (size_t i = 0; i < table_at(ddl, source)->keys.count; i++) {
        struct cleave_build_key key = table_at(ddl, source)->keys.data[i];
        uint32_t columns[CLEAVE_KEY_COLUMNS_MAX];
        if (key.dropped || key.kind == CLEAVE_KEY_FOREIGN)
            continue;
        for (uint32_t c = 0; c < key.count; c++)
            columns[c] = cleave__build_find_column(
                table_at(ddl, table), table_at(ddl, source)->columns.data[key.columns[c]].name);
        key.columns = columns;
        key.name = NULL;
        key.line = cleave__ddl_line(ddl, -1);
        enum cleave_status status = cleave__build_key(&ddl->build, table, &key, ddl->error);
        if (status)
            return status;
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__ddl_fold(struct cleave_ddl *ddl, uint32_t parent, uint32_t child,
                                    int location)
{
    struct cleave_build *build = &ddl->build;
    if (build->tables.data[child].folded_into != CLEAVE_ABSENT ||
        cleave__build_top(build, parent) == child)
        return cleave__ddl_fail(ddl, location, CLEAVE_BAD_INPUT,
                                "\"%s\" cannot become a partition of \"%s\": it is one already, or "
                                "the other way round",
                                build->tables.data[child].name, build->tables.data[parent].name);
    build->tables.data[child].folded_into = parent;
    build->tables.data[parent].parent = true;
    return CLEAVE_OK;
}

static enum cleave_status need(struct cleave_ddl *ddl, const PgQuery__RangeVar *relation,
                               const char *why, uint32_t *out)
{
    *out = cleave__ddl_find(ddl, relation);
    if (*out == CLEAVE_ABSENT)
        return cleave__ddl_fail(ddl, relation->location, CLEAVE_BAD_INPUT,
                                "%s table \"%s\", which is not defined before this", why,
                                relation->relname);
    return CLEAVE_OK;
}

static enum cleave_status add_parents(struct cleave_ddl *ddl, uint32_t table,
                                      const PgQuery__CreateStmt *create)
{
    for (size_t i = 0; i < create->n_inh_relations; i++) {
        uint32_t parent;
        if (create->inh_relations[i]->node_case != PG_QUERY__NODE__NODE_RANGE_VAR)
            continue;
        const PgQuery__RangeVar *relation = create->inh_relations[i]->range_var;
        bool partition = create->partbound != NULL;
        enum cleave_status status =
            need(ddl, relation, partition ? "a partition of" : "inherits from", &parent);
        if (status)
            return status;
        if (parent == table)
            return cleave__ddl_fail(ddl, relation->location, CLEAVE_BAD_INPUT,
                                    "a table cannot be its own parent");
        if (partition)
            return cleave__ddl_fold(ddl, parent, table, relation->location);
        if (!CLEAVE_PUSH(&table_at(ddl, parent)->children, table))
            return cleave__ddl_no_memory(ddl);
        status = copy_columns(ddl, table, parent, LIKE_DEFAULTS | LIKE_GENERATED);
        if (status)
            return status;
    }
    return CLEAVE_OK;
}

/* A column that an INHERITS parent has too is merged with it, not defined twice. */
static enum cleave_status own_column(struct cleave_ddl *ddl, uint32_t table, size_t inherited,
                                     const PgQuery__ColumnDef *definition)
{
    struct cleave_build_table *it = table_at(ddl, table);
    uint32_t index = cleave__build_find_column(it, definition->colname);
    if (index == CLEAVE_ABSENT || index >= inherited)
        return cleave__ddl_add_column(ddl, table, definition);
    return column_constraints(ddl, table, index, definition->n_constraints,
                              definition->constraints);
}

static enum cleave_status like(struct cleave_ddl *ddl, uint32_t table,
                               const PgQuery__TableLikeClause *clause)
{
    uint32_t source;
    enum cleave_status status = need(ddl, clause->relation, "LIKE", &source);
    if (status)
        return status;
    if (source == table)
        return cleave__ddl_fail(ddl, clause->relation->location, CLEAVE_BAD_INPUT,
                                "a table cannot be like itself");
    source = cleave__build_top(&ddl->build, source);
    status = copy_columns(ddl, table, source, clause->options);
    if (!status && clause->options & LIKE_INDEXES)
        status = copy_uniques(ddl, table, source);
    return status;
}

/* Columns of CREATE TABLE t OF type. */
static enum cleave_status typed(struct cleave_ddl *ddl, uint32_t table,
                                const PgQuery__TypeName *type)
{
    const char *schema, *name;
    if (!cleave__ddl_split_name(type->n_names, type->names, &schema, &name))
        return CLEAVE_OK;
    uint32_t source = cleave__ddl_find_name(ddl, schema, name);
    if (source == CLEAVE_ABSENT || source == table)
        return cleave__ddl_fail(ddl, type->location, CLEAVE_BAD_INPUT,
                                "type \"%s\" is not defined before this", name);
    return copy_columns(ddl, table, source, 0);
}

enum cleave_status cleave__ddl_create(struct cleave_ddl *ddl, const PgQuery__CreateStmt *create)
{
    const PgQuery__RangeVar *relation = create->relation;
    bool temporary = relation->relpersistence[0] == 't';
    const char *name =
        cleave__ddl_new_name(ddl, temporary ? "pg_temp" : relation->schemaname, relation->relname);
    uint32_t table;
    if (!name)
        return cleave__ddl_no_memory(ddl);
    if (temporary && cleave__build_find(&ddl->build, name) != CLEAVE_ABSENT)
        return CLEAVE_OK; /* another session's */
    if (create->if_not_exists && cleave__build_find(&ddl->build, name) != CLEAVE_ABSENT)
        return CLEAVE_OK;
    enum cleave_status status = cleave__build_table(
        &ddl->build, name, cleave__ddl_line(ddl, relation->location), &table, ddl->error);
    if (status)
        return status;
    table_at(ddl, table)->ignored = temporary;
    if (create->of_typename && (status = typed(ddl, table, create->of_typename)))
        return status;
    if ((status = add_parents(ddl, table, create)))
        return status;
    if (create->partbound)
        return CLEAVE_OK; /* a partition is its parent */
    size_t inherited = table_at(ddl, table)->columns.count;
    for (size_t i = 0; i < create->n_table_elts && !status; i++) {
        const PgQuery__Node *node = create->table_elts[i];
        if (node->node_case == PG_QUERY__NODE__NODE_COLUMN_DEF)
            status = own_column(ddl, table, inherited, node->column_def);
        else if (node->node_case == PG_QUERY__NODE__NODE_TABLE_LIKE_CLAUSE)
            status = like(ddl, table, node->table_like_clause);
    }
    /* Keys may name columns that stand after them. */
    for (size_t i = 0; i < create->n_table_elts && !status; i++) {
        const PgQuery__Node *node = create->table_elts[i];
        if (node->node_case == PG_QUERY__NODE__NODE_CONSTRAINT)
            status = cleave__ddl_add_constraint(ddl, table, node->constraint);
    }
    for (size_t i = 0; i < create->n_constraints && !status; i++) {
        const PgQuery__Node *node = create->constraints[i];
        if (node->node_case == PG_QUERY__NODE__NODE_CONSTRAINT)
            status = cleave__ddl_add_constraint(ddl, table, node->constraint);
    }
    return status;
}

enum cleave_status cleave__ddl_composite(struct cleave_ddl *ddl,
                                         const PgQuery__CompositeTypeStmt *type)
{
    uint32_t table;
    const char *name = cleave__ddl_new_name(ddl, type->typevar->schemaname, type->typevar->relname);
    if (!name)
        return cleave__ddl_no_memory(ddl);
    enum cleave_status status =
        cleave__build_table(&ddl->build, name, cleave__ddl_line(ddl, -1), &table, ddl->error);
    if (status)
        return status;
    table_at(ddl, table)->ignored = true;
    for (size_t i = 0; i < type->n_coldeflist && !status; i++) {
        if (type->coldeflist[i]->node_case == PG_QUERY__NODE__NODE_COLUMN_DEF)
            status = cleave__ddl_add_column(ddl, table, type->coldeflist[i]->column_def);
    }
    return status;
}

enum cleave_status cleave__ddl_unique_index(struct cleave_ddl *ddl, const PgQuery__IndexStmt *index)
{
    uint32_t columns[CLEAVE_KEY_COLUMNS_MAX];
    if (!index->unique || index->where_clause || !index->relation)
        return CLEAVE_OK;
    uint32_t table;
    enum cleave_status status = need(ddl, index->relation, "an index on", &table);
    if (status)
        return status;
    const struct cleave_build_table *it = table_at(ddl, table);
    if (it->folded_into != CLEAVE_ABSENT || it->view)
        return CLEAVE_OK; /* of a partition: holds for a part of the rows only */
    struct cleave_build_key key = {
        .kind = CLEAVE_KEY_UNIQUE,
        .name = index->idxname[0] ? index->idxname : NULL,
        .columns = columns,
        .target_table = CLEAVE_ABSENT,
        .line = cleave__ddl_line(ddl, -1),
    };
    for (size_t i = 0; i < index->n_index_params; i++) {
        const PgQuery__Node *node = index->index_params[i];
        if (node->node_case != PG_QUERY__NODE__NODE_INDEX_ELEM || node->index_elem->expr)
            return CLEAVE_OK; /* unique in an expression, not in columns */
        if (key.count == CLEAVE_KEY_COLUMNS_MAX)
            return cleave__ddl_fail(ddl, -1, CLEAVE_LIMIT, "an index on more than %d columns",
                                    CLEAVE_KEY_COLUMNS_MAX);
        const char *name = node->index_elem->name;
        if ((status = cleave__ddl_column(ddl, table, name, &columns[key.count])))
            return status;
        if (columns[key.count++] == CLEAVE_ABSENT)
            return cleave__ddl_fail(ddl, -1, CLEAVE_BAD_INPUT,
                                    "the index names column \"%s\", which \"%s\" lacks", name,
                                    it->name);
    }
    for (uint32_t i = 0; i < key.count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (columns[i] == columns[j])
                return CLEAVE_OK; /* allowed for an index, and of no use as a key */
        }
    }
    if ((status = cleave__build_key(&ddl->build, table, &key, ddl->error)))
        return status;
    if (!index->idxname[0])
        return CLEAVE_OK;
    uint32_t id = cleave__intern_add(&ddl->index_names, index->idxname, strlen(index->idxname));
    struct cleave_ddl_index where = {table, (uint32_t)(table_at(ddl, table)->keys.count - 1)};
    if (id == CLEAVE_INTERN_NONE)
        return cleave__ddl_no_memory(ddl);
    if (id < ddl->indexes.count)
        ddl->indexes.data[id] = where;
    else if (!CLEAVE_PUSH(&ddl->indexes, where))
        return cleave__ddl_no_memory(ddl);
    return CLEAVE_OK;
}
