/* From a schema under construction to the immutable one: foreign keys resolved, what was dropped
 * left out, partitions folded into their parents, keys put in one order whatever order they came
 * in, and the names that lookups accept gathered. */
#include "tables/source/schema_build.h"

#include <string.h>

struct finish {
    struct cleave_build *build;
    struct cleave_error *error;
    uint32_t *table_map;   /* build table -> schema table, or CLEAVE_ABSENT */
    uint32_t **column_map; /* of a kept table: build column -> schema column */
};

static enum cleave_status no_memory(const struct finish *f)
{
    return cleave__build_fail(f->build, 0, CLEAVE_NO_MEMORY, f->error, "out of memory");
}

static const struct cleave_build_key *primary_of(const struct cleave_build_table *table)
{
    for (size_t i = 0; i < table->keys.count; i++) {
        if (!table->keys.data[i].dropped && table->keys.data[i].kind == CLEAVE_KEY_PRIMARY)
            return &table->keys.data[i];
    }
    return NULL;
}

/* Fills target_table and target_columns of a foreign key, or drops it when it cannot matter. */
static enum cleave_status resolve(const struct finish *f, const struct cleave_build_table *owner,
                                  struct cleave_build_key *key)
{
    struct cleave_build *build = f->build;
    struct cleave_arena *arena = &build->schema->arena;
    if (key->target_table == CLEAVE_ABSENT)
        key->target_table = cleave__build_find(build, key->target);
    if (key->target_table == CLEAVE_ABSENT)
        return cleave__build_fail(build, key->line, CLEAVE_BAD_INPUT, f->error,
                                  "a foreign key of \"%s\" refers to table \"%s\", which is not "
                                  "defined; add its CREATE TABLE",
                                  owner->name, key->target);
    const struct cleave_build_table *named = &build->tables.data[key->target_table];
    if (named->dropped || named->ignored) {
        key->dropped = true;
        return CLEAVE_OK;
    }
    if (named->view)
        return cleave__build_fail(build, key->line, CLEAVE_BAD_INPUT, f->error,
                                  "a foreign key of \"%s\" refers to \"%s\", which is a view",
                                  owner->name, named->name);
    key->target_table = cleave__build_top(build, key->target_table);
    const struct cleave_build_table *target = &build->tables.data[key->target_table];
    if (target->dropped || target->ignored) {
        key->dropped = true;
        return CLEAVE_OK;
    }
    if (key->target_count == 0) {
        const struct cleave_build_key *primary = primary_of(target);
        if (!primary)
            primary = primary_of(named);
        if (!primary)
            return cleave__build_fail(build, key->line, CLEAVE_BAD_INPUT, f->error,
                                      "a foreign key of \"%s\" refers to \"%s\" without naming "
                                      "columns, and that table has no primary key",
                                      owner->name, named->name);
        if (primary->count != key->count)
            return cleave__build_fail(build, key->line, CLEAVE_BAD_INPUT, f->error,
                                      "a foreign key of \"%s\" has %u columns, but the primary "
                                      "key of \"%s\" has %u",
                                      owner->name, (unsigned)key->count, named->name,
                                      (unsigned)primary->count);
        bool own = primary >= target->keys.data && primary < target->keys.data + target->keys.count;
        const struct cleave_build_table *holder = own ? target : named;
        key->target_count = key->count;
        key->target_columns = NULL;
        key->target_names = cleave__arena_array(arena, key->count, sizeof(char *));
        if (!key->target_names)
            return no_memory(f);
        for (uint32_t i = 0; i < key->count; i++)
            key->target_names[i] = holder->columns.data[primary->columns[i]].name;
    } else if (key->target_columns && named != target) {
        /* A partition's columns may stand in another order: go by name. */
        key->target_names = cleave__arena_array(arena, key->count, sizeof(char *));
        if (!key->target_names)
            return no_memory(f);
        for (uint32_t i = 0; i < key->count; i++)
            key->target_names[i] = named->columns.data[key->target_columns[i]].name;
        key->target_columns = NULL;
    }
    if (key->target_columns) {
        for (uint32_t i = 0; i < key->count; i++)
            key->dropped |= target->columns.data[key->target_columns[i]].dropped;
        return CLEAVE_OK;
    }
    key->target_columns = cleave__arena_array(arena, key->count, sizeof(uint32_t));
    if (!key->target_columns)
        return no_memory(f);
    for (uint32_t i = 0; i < key->count; i++) {
        key->target_columns[i] = cleave__build_find_column(target, key->target_names[i]);
        if (key->target_columns[i] == CLEAVE_ABSENT)
            return cleave__build_fail(build, key->line, CLEAVE_BAD_INPUT, f->error,
                                      "a foreign key of \"%s\" refers to column \"%s\", which "
                                      "\"%s\" lacks",
                                      owner->name, key->target_names[i], target->name);
    }
    return CLEAVE_OK;
}

static enum cleave_status put_columns(const struct finish *f, uint32_t from)
{
    struct cleave_build_table *source = &f->build->tables.data[from];
    struct cleave_schema *schema = f->build->schema;
    struct cleave_table *table = &schema->tables[f->table_map[from]];
    uint32_t live = 0;
    for (size_t i = 0; i < source->columns.count; i++)
        live += !source->columns.data[i].dropped;
    table->columns = cleave__arena_zalloc(&schema->arena, live * sizeof *table->columns);
    uint32_t *map = cleave__arena_array(&schema->arena, source->columns.count, sizeof *map);
    if (!table->columns || !map)
        return no_memory(f);
    f->column_map[from] = map;
    table->name = source->name;
    table->view = source->view;
    for (size_t i = 0; i < source->columns.count; i++) {
        const struct cleave_build_column *column = &source->columns.data[i];
        map[i] = CLEAVE_ABSENT;
        if (column->dropped)
            continue;
        map[i] = table->column_count;
        table->columns[table->column_count++] = (struct cleave_column){
            .name = column->name,
            .type_name = column->type_name,
            .type = column->type,
            .not_null = column->not_null,
            .has_default = column->fallback != CLEAVE_DEFAULT_NONE,
        };
    }
    return CLEAVE_OK;
}

static void map_columns(uint32_t count, uint32_t *columns, const uint32_t *map)
{
    for (uint32_t i = 0; i < count; i++)
        columns[i] = map[columns[i]];
}

static int compare_columns(uint32_t a_count, const uint32_t *a, uint32_t b_count, const uint32_t *b)
{
    for (uint32_t i = 0; i < a_count && i < b_count; i++) {
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    }
    return (a_count > b_count) - (a_count < b_count);
}

static int compare_keys(const void *a, const void *b)
{
    const struct cleave_key *x = a, *y = b;
    return compare_columns(x->count, x->columns, y->count, y->columns);
}

static int compare_foreigns(const void *a, const void *b, void *context)
{
    const struct cleave_foreign_key *x = a, *y = b;
    const struct cleave_schema *schema = context;
    int order = compare_columns(x->count, x->columns, y->count, y->columns);
    if (order == 0)
        order = strcmp(schema->tables[x->target_table].name, schema->tables[y->target_table].name);
    if (order == 0)
        order = compare_columns(x->count, x->target_columns, y->count, y->target_columns);
    return order;
}

static void sort_keys(struct cleave_table *table, struct cleave_schema *schema)
{
    uint32_t kept = 0;
    if (table->unique_count)
        qsort(table->uniques, table->unique_count, sizeof *table->uniques, compare_keys);
    for (uint32_t i = 0; i < table->unique_count; i++) {
        if (compare_keys(&table->uniques[i], &table->primary) == 0 ||
            (kept && compare_keys(&table->uniques[i], &table->uniques[kept - 1]) == 0))
            continue;
        table->uniques[kept++] = table->uniques[i];
    }
    table->unique_count = kept;
    kept = 0;
    if (table->foreign_count)
        qsort_r(table->foreigns, table->foreign_count, sizeof *table->foreigns, compare_foreigns,
                schema);
    for (uint32_t i = 0; i < table->foreign_count; i++) {
        if (kept && compare_foreigns(&table->foreigns[i], &table->foreigns[kept - 1], schema) == 0)
            continue;
        table->foreigns[kept++] = table->foreigns[i];
    }
    table->foreign_count = kept;
}

static enum cleave_status put_keys(const struct finish *f, uint32_t from)
{
    struct cleave_build_table *source = &f->build->tables.data[from];
    struct cleave_schema *schema = f->build->schema;
    struct cleave_table *table = &schema->tables[f->table_map[from]];
    uint32_t uniques = 0, foreigns = 0;
    for (size_t i = 0; i < source->keys.count; i++) {
        uniques += source->keys.data[i].kind == CLEAVE_KEY_UNIQUE;
        foreigns += source->keys.data[i].kind == CLEAVE_KEY_FOREIGN;
    }
    table->uniques = cleave__arena_array(&schema->arena, uniques, sizeof *table->uniques);
    table->foreigns = cleave__arena_array(&schema->arena, foreigns, sizeof *table->foreigns);
    if (!table->uniques || !table->foreigns)
        return no_memory(f);
    for (size_t i = 0; i < source->keys.count; i++) {
        struct cleave_build_key *key = &source->keys.data[i];
        if (key->dropped)
            continue;
        map_columns(key->count, key->columns, f->column_map[from]);
        if (key->kind == CLEAVE_KEY_PRIMARY) {
            table->primary = (struct cleave_key){key->count, key->columns};
        } else if (key->kind == CLEAVE_KEY_UNIQUE) {
            table->uniques[table->unique_count++] = (struct cleave_key){key->count, key->columns};
        } else {
            map_columns(key->count, key->target_columns, f->column_map[key->target_table]);
            table->foreigns[table->foreign_count++] = (struct cleave_foreign_key){
                key->count, key->columns, f->table_map[key->target_table], key->target_columns};
        }
    }
    sort_keys(table, schema);
    return CLEAVE_OK;
}

static bool add_alias(struct cleave_schema *schema, const char *name, uint32_t table,
                      bool is_partition)
{
    uint32_t before = schema->aliases.count;
    uint32_t id = cleave__intern_add(&schema->aliases, name, strlen(name));
    if (id == CLEAVE_INTERN_NONE)
        return false;
    if (id == before) { /* room was made for one alias each call */
        schema->alias_tables[id] = table;
        schema->alias_public[id] = is_partition;
    } else if (is_partition && !schema->alias_public[id]) {
        schema->alias_tables[id] = table;
        schema->alias_public[id] = true;
    } else if (!schema->alias_public[id] && schema->alias_tables[id] != table) {
        schema->alias_tables[id] = CLEAVE_ABSENT;
    }
    return true;
}

static enum cleave_status put_aliases(const struct finish *f)
{
    struct cleave_build *build = f->build;
    struct cleave_schema *schema = build->schema;
    size_t most = build->tables.count * 2;
    schema->alias_tables = cleave__arena_array(&schema->arena, most, sizeof(uint32_t));
    schema->alias_public = cleave__arena_array(&schema->arena, most, sizeof(bool));
    if (!schema->alias_tables || !schema->alias_public)
        return no_memory(f);
    for (uint32_t i = 0; i < build->tables.count; i++) {
        const struct cleave_build_table *table = &build->tables.data[i];
        if (table->dropped || table->ignored)
            continue;
        uint32_t target = f->table_map[cleave__build_top(build, i)];
        if (target == CLEAVE_ABSENT)
            continue;
        const char *dot = strchr(table->name, '.');
        if (table->folded_into != CLEAVE_ABSENT && !add_alias(schema, table->name, target, !dot))
            return no_memory(f);
        if (dot && dot[1] && !add_alias(schema, dot + 1, target, false))
            return no_memory(f);
    }
    return CLEAVE_OK;
}

static enum cleave_status finish(struct finish *f)
{
    struct cleave_build *build = f->build;
    struct cleave_schema *schema = build->schema;
    uint32_t count = (uint32_t)build->tables.count;
    enum cleave_status status;
    for (uint32_t i = 0; i < count; i++) {
        const struct cleave_build_table *table = &build->tables.data[i];
        f->table_map[i] = CLEAVE_ABSENT;
        if (!table->dropped && !table->ignored && table->folded_into == CLEAVE_ABSENT)
            f->table_map[i] = schema->table_count++;
    }
    schema->tables =
        cleave__arena_zalloc(&schema->arena, schema->table_count * sizeof *schema->tables);
    if (!schema->tables)
        return no_memory(f);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = build->tables.data[i].name;
        if (f->table_map[i] == CLEAVE_ABSENT)
            continue;
        if (cleave__intern_add(&schema->names, name, strlen(name)) != f->table_map[i])
            return no_memory(f);
        if ((status = put_columns(f, i)))
            return status;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct cleave_build_table *table = &build->tables.data[i];
        for (size_t k = 0; f->table_map[i] != CLEAVE_ABSENT && k < table->keys.count; k++) {
            struct cleave_build_key *key = &table->keys.data[k];
            if (!key->dropped && key->kind == CLEAVE_KEY_FOREIGN &&
                (status = resolve(f, table, key)))
                return status;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (f->table_map[i] != CLEAVE_ABSENT && (status = put_keys(f, i)))
            return status;
    }
    return put_aliases(f);
}

enum cleave_status cleave__build_finish(struct cleave_build *build, struct cleave_schema **out,
                                        struct cleave_error *error)
{
    struct finish f = {.build = build, .error = error};
    size_t count = build->tables.count ? build->tables.count : 1;
    enum cleave_status status;
    f.table_map = malloc(count * sizeof *f.table_map);
    f.column_map = calloc(count, sizeof *f.column_map);
    if (!f.table_map || !f.column_map)
        status = no_memory(&f);
    else
        status = finish(&f);
    free(f.table_map);
    free(f.column_map);
    if (status)
        return status;
    *out = build->schema;
    build->schema = NULL;
    return CLEAVE_OK;
}
