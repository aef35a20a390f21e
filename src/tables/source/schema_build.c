/* Filling a schema under construction. See schema_build.h for the invariants. */
#include "tables/source/schema_build.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum cleave_status cleave__build_init(struct cleave_build *build, const char *origin,
                                      struct cleave_error *error)
{
    *build = (struct cleave_build){.origin = origin};
    build->schema = calloc(1, sizeof *build->schema);
    if (!build->schema)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory", origin);
    return CLEAVE_OK;
}

void cleave__build_free(struct cleave_build *build)
{
    for (size_t i = 0; i < build->tables.count; i++) {
        CLEAVE_VECTOR_FREE(&build->tables.data[i].columns);
        CLEAVE_VECTOR_FREE(&build->tables.data[i].keys);
        CLEAVE_VECTOR_FREE(&build->tables.data[i].children);
    }
    CLEAVE_VECTOR_FREE(&build->tables);
    CLEAVE_VECTOR_FREE(&build->name_table);
    cleave__intern_free(&build->names);
    cleave__schema_free(build->schema);
    *build = (struct cleave_build){0};
}

enum cleave_status cleave__build_fail(const struct cleave_build *build, size_t line,
                                      enum cleave_status status, struct cleave_error *error,
                                      const char *format, ...)
{
    char text[sizeof error->message];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (line)
        return cleave_error_set(error, status, "%s:%zu: %s", build->origin, line, text);
    return cleave_error_set(error, status, "%s: %s", build->origin, text);
}

static enum cleave_status no_memory(const struct cleave_build *build, size_t line,
                                    struct cleave_error *error)
{
    return cleave__build_fail(build, line, CLEAVE_NO_MEMORY, error, "out of memory");
}

char *cleave__build_string(struct cleave_build *build, const char *text)
{
    return cleave__arena_copy(&build->schema->arena, text, strlen(text));
}

uint32_t cleave__build_find(const struct cleave_build *build, const char *name)
{
    uint32_t id = cleave__intern_find(&build->names, name, strlen(name));
    return id < build->name_table.count ? build->name_table.data[id] : CLEAVE_ABSENT;
}

uint32_t cleave__build_find_column(const struct cleave_build_table *table, const char *name)
{
    for (uint32_t i = 0; i < table->columns.count; i++) {
        const struct cleave_build_column *column = &table->columns.data[i];
        if (!column->dropped && strcmp(column->name, name) == 0)
            return i;
    }
    return CLEAVE_ABSENT;
}

uint32_t cleave__build_top(const struct cleave_build *build, uint32_t table)
{
    /* Folding refuses cycles, so this ends. */
    while (build->tables.data[table].folded_into != CLEAVE_ABSENT)
        table = build->tables.data[table].folded_into;
    return table;
}

/* Makes `name` lead to `table` (CLEAVE_ABSENT: to nothing). */
static bool bind_name(struct cleave_build *build, const char *name, uint32_t table)
{
    uint32_t id = cleave__intern_add(&build->names, name, strlen(name));
    if (id == CLEAVE_INTERN_NONE)
        return false;
    while (build->name_table.count <= id) {
        if (!CLEAVE_PUSH(&build->name_table, CLEAVE_ABSENT))
            return false;
    }
    build->name_table.data[id] = table;
    return true;
}

enum cleave_status cleave__build_table(struct cleave_build *build, const char *name, size_t line,
                                       uint32_t *out, struct cleave_error *error)
{
    uint32_t earlier = cleave__build_find(build, name);
    if (earlier != CLEAVE_ABSENT) {
        size_t first = build->tables.data[earlier].line;
        if (first)
            return cleave__build_fail(build, line, CLEAVE_BAD_INPUT, error,
                                      "\"%s\" is defined twice (first on line %zu)", name, first);
        return cleave__build_fail(build, line, CLEAVE_BAD_INPUT, error, "\"%s\" is defined twice",
                                  name);
    }
    if (build->tables.count >= CLEAVE_TABLES_MAX)
        return cleave__build_fail(build, line, CLEAVE_LIMIT, error, "more than %d tables",
                                  CLEAVE_TABLES_MAX);
    char *copy = cleave__build_string(build, name);
    uint32_t index = (uint32_t)build->tables.count;
    if (!copy || !CLEAVE_PUSH(&build->tables, (struct cleave_build_table){
                                                  .name = copy,
                                                  .line = line,
                                                  .folded_into = CLEAVE_ABSENT,
                                              }))
        return no_memory(build, line, error);
    if (!bind_name(build, copy, index)) {
        build->tables.count--;
        return no_memory(build, line, error);
    }
    *out = index;
    return CLEAVE_OK;
}

enum cleave_status cleave__build_rename(struct cleave_build *build, uint32_t table,
                                        const char *name, size_t line, struct cleave_error *error)
{
    struct cleave_build_table *it = &build->tables.data[table];
    if (strcmp(it->name, name) == 0)
        return CLEAVE_OK;
    if (cleave__build_find(build, name) != CLEAVE_ABSENT)
        return cleave__build_fail(build, line, CLEAVE_BAD_INPUT, error,
                                  "cannot rename \"%s\" to \"%s\": that name is taken", it->name,
                                  name);
    char *copy = cleave__build_string(build, name);
    if (!copy || !bind_name(build, copy, table))
        return no_memory(build, line, error);
    bind_name(build, it->name, CLEAVE_ABSENT); /* known already: cannot fail */
    it->name = copy;
    return CLEAVE_OK;
}

void cleave__build_drop(struct cleave_build *build, uint32_t table)
{
    struct cleave_build_table *it = &build->tables.data[table];
    bind_name(build, it->name, CLEAVE_ABSENT); /* known already: cannot fail */
    it->dropped = true;
}

enum cleave_status cleave__build_column(struct cleave_build *build, uint32_t table,
                                        const struct cleave_build_column *column, size_t line,
                                        struct cleave_error *error)
{
    struct cleave_build_table *it = &build->tables.data[table];
    if (cleave__build_find_column(it, column->name) != CLEAVE_ABSENT)
        return cleave__build_fail(build, line, CLEAVE_BAD_INPUT, error,
                                  "column \"%s\" of \"%s\" is defined twice", column->name,
                                  it->name);
    if (it->columns.count >= CLEAVE_COLUMNS_MAX)
        return cleave__build_fail(build, line, CLEAVE_LIMIT, error,
                                  "\"%s\" has more than %d columns, PostgreSQL's limit", it->name,
                                  CLEAVE_COLUMNS_MAX);
    if (build->column_total >= CLEAVE_COLUMNS_TOTAL_MAX)
        return cleave__build_fail(build, line, CLEAVE_LIMIT, error, "more than %d columns in all",
                                  CLEAVE_COLUMNS_TOTAL_MAX);
    struct cleave_build_column copy = *column;
    copy.name = cleave__build_string(build, column->name);
    copy.type_name = cleave__build_string(build, column->type_name);
    if (!copy.name || !copy.type_name || !CLEAVE_PUSH(&it->columns, copy))
        return no_memory(build, line, error);
    build->column_total++;
    return CLEAVE_OK;
}

static bool key_has(uint32_t count, const uint32_t *columns, uint32_t column)
{
    for (uint32_t i = 0; columns && i < count; i++) {
        if (columns[i] == column)
            return true;
    }
    return false;
}

void cleave__build_drop_column(struct cleave_build *build, uint32_t table, uint32_t column)
{
    struct cleave_build_table *it = &build->tables.data[table];
    it->columns.data[column].dropped = true;
    bool was_target = false;
    for (size_t i = 0; i < it->keys.count; i++) {
        struct cleave_build_key *key = &it->keys.data[i];
        if (!key->dropped && key_has(key->count, key->columns, column)) {
            key->dropped = true;
            was_target |= key->kind != CLEAVE_KEY_FOREIGN;
        }
    }
    if (!was_target) /* only a key's column can be referred to */
        return;
    for (size_t t = 0; t < build->tables.count; t++) {
        struct cleave_build_table *other = &build->tables.data[t];
        for (size_t i = 0; i < other->keys.count; i++) {
            struct cleave_build_key *key = &other->keys.data[i];
            if (key->kind == CLEAVE_KEY_FOREIGN && key->target_table == table &&
                key_has(key->target_count, key->target_columns, column))
                key->dropped = true;
        }
    }
}

/* PostgreSQL's names for unnamed constraints, so that a later DROP CONSTRAINT finds them. */
static const char *default_name(struct cleave_build *build, const struct cleave_build_table *table,
                                const struct cleave_build_key *key)
{
    char name[512];
    const char *dot = strrchr(table->name, '.');
    int used = snprintf(name, sizeof name, "%.64s", dot ? dot + 1 : table->name);
    for (uint32_t i = 0; key->kind != CLEAVE_KEY_PRIMARY && i < key->count; i++) {
        if (used < 256)
            used += snprintf(name + used, sizeof name - (size_t)used, "_%.64s",
                             table->columns.data[key->columns[i]].name);
    }
    snprintf(name + used, sizeof name - (size_t)used, "%s",
             key->kind == CLEAVE_KEY_PRIMARY  ? "_pkey"
             : key->kind == CLEAVE_KEY_UNIQUE ? "_key"
                                              : "_fkey");
    return cleave__build_string(build, name);
}

enum cleave_status cleave__build_key(struct cleave_build *build, uint32_t table,
                                     const struct cleave_build_key *key, struct cleave_error *error)
{
    struct cleave_build_table *it = &build->tables.data[table];
    struct cleave_arena *arena = &build->schema->arena;
    struct cleave_build_key copy = *key;
    if (key->count == 0 || key->count > CLEAVE_KEY_COLUMNS_MAX ||
        key->target_count > CLEAVE_KEY_COLUMNS_MAX)
        return cleave__build_fail(build, key->line, CLEAVE_LIMIT, error,
                                  "a key of \"%s\" has %u columns; PostgreSQL allows 1 to %d",
                                  it->name, (unsigned)key->count, CLEAVE_KEY_COLUMNS_MAX);
    if (key->target_count && key->target_count != key->count)
        return cleave__build_fail(build, key->line, CLEAVE_BAD_INPUT, error,
                                  "a foreign key of \"%s\" has %u columns but refers to %u of "
                                  "\"%s\"",
                                  it->name, (unsigned)key->count, (unsigned)key->target_count,
                                  key->target);
    for (uint32_t i = 0; i < key->count; i++) {
        if (key_has(i, key->columns, key->columns[i]))
            return cleave__build_fail(build, key->line, CLEAVE_BAD_INPUT, error,
                                      "column \"%s\" appears twice in a key of \"%s\"",
                                      it->columns.data[key->columns[i]].name, it->name);
    }
    if (key->kind == CLEAVE_KEY_PRIMARY) {
        for (size_t i = 0; i < it->keys.count; i++) {
            if (!it->keys.data[i].dropped && it->keys.data[i].kind == CLEAVE_KEY_PRIMARY)
                return cleave__build_fail(build, key->line, CLEAVE_BAD_INPUT, error,
                                          "\"%s\" has two primary keys", it->name);
        }
    }
    copy.name = key->name ? cleave__build_string(build, key->name) : default_name(build, it, key);
    copy.columns = cleave__arena_array(arena, key->count, sizeof *copy.columns);
    if (!copy.name || !copy.columns)
        return no_memory(build, key->line, error);
    memcpy(copy.columns, key->columns, key->count * sizeof *copy.columns);
    if (key->target && !(copy.target = cleave__build_string(build, key->target)))
        return no_memory(build, key->line, error);
    if (key->target_names) {
        copy.target_names = cleave__arena_array(arena, key->target_count, sizeof(char *));
        if (!copy.target_names)
            return no_memory(build, key->line, error);
        for (uint32_t i = 0; i < key->target_count; i++) {
            copy.target_names[i] = cleave__build_string(build, key->target_names[i]);
            if (!copy.target_names[i])
                return no_memory(build, key->line, error);
        }
    }
    if (key->target_columns) {
        copy.target_columns =
            cleave__arena_array(arena, key->target_count, sizeof *copy.target_columns);
        if (!copy.target_columns)
            return no_memory(build, key->line, error);
        memcpy(copy.target_columns, key->target_columns,
               key->target_count * sizeof *copy.target_columns);
    }
    if (!CLEAVE_PUSH(&it->keys, copy))
        return no_memory(build, key->line, error);
    for (uint32_t i = 0; key->kind == CLEAVE_KEY_PRIMARY && i < key->count; i++)
        it->columns.data[key->columns[i]].not_null = true;
    return CLEAVE_OK;
}
