/* CREATE TABLE and what follows the rows, for each kind of target.
 *
 * SQLite keeps dates and times as text in ISO form, numbers by its NUMERIC affinity, and booleans
 * as 0 and 1 (rows.c brings values into that form); it gets no defaults, checks and indexes of
 * PostgreSQL's, and no foreign keys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/load/inside.h"

static enum cleave_status push(struct cleave__load_script *script, struct cleave_words *words,
                               struct cleave_error *error)
{
    char *text =
        words->failed ? NULL : cleave__arena_copy(script->arena, words->data, words->length);
    struct cleave_store_statement statement = {.text = text};
    bool pushed = text && CLEAVE_PUSH(&script->statements, statement);
    words->length = 0;
    return pushed ? CLEAVE_OK : cleave__load_no_memory(error);
}

/* SQLite has one name space: it takes the whole name as one. */
static void put_name(struct cleave_words *w, const struct cleave__load_target *target,
                     const char *name)
{
    if (target->sqlite)
        cleave__words_name_part(w, name);
    else
        cleave__words_name(w, name);
}

static const char *sqlite_type(const struct cleave__load_column *column)
{
    switch (column->type) {
    case CLEAVE_TYPE_INTEGER:
        return "INTEGER";
    case CLEAVE_TYPE_NUMBER:
        return column->exact ? "NUMERIC" : "REAL";
    case CLEAVE_TYPE_BOOLEAN:
        return "BOOLEAN";
    default:
        return "TEXT";
    }
}

/* PostgreSQL's words for types that SQLite's users write and it does not know. */
static const char *postgres_type(const char *type)
{
    static const char *const words[][2] = {
        {"blob", "bytea"},        {"datetime", "timestamp"},      {"tinyint", "smallint"},
        {"mediumint", "integer"}, {"double", "double precision"}, {"clob", "text"}};
    char lower[40];
    snprintf(lower, sizeof lower, "%s", type);
    for (char *c = lower; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(lower, words[i][0]) == 0)
            return words[i][1];
    }
    return type;
}

static void put_columns(struct cleave_words *w, const struct cleave__load_target *target,
                        const struct cleave__load_table *table)
{
    for (uint32_t c = 0; c < table->column_count; c++) {
        const struct cleave__load_column *column = &table->columns[c];
        cleave__words_add(w, c ? ", " : "");
        cleave__words_name_part(w, column->name);
        cleave__words_add(w, " ");
        if (target->sqlite)
            cleave__words_add(w, "%s", sqlite_type(column));
        else
            cleave__words_type(w, postgres_type(column->type_name));
        if (column->collation && !target->sqlite)
            cleave__words_add(w, " COLLATE %s", column->collation);
        if (column->generated && !target->sqlite)
            cleave__words_add(w, " GENERATED ALWAYS AS (%s) STORED", column->generated);
        if (column->fallback && !target->sqlite)
            cleave__words_add(w, " DEFAULT %s", column->fallback);
        if (column->not_null)
            cleave__words_add(w, " NOT NULL");
    }
}

static void put_key(struct cleave_words *w, const char *what,
                    const struct cleave__load_table *table, uint32_t count, const uint32_t *columns)
{
    cleave__words_add(w, "%s (", what);
    for (uint32_t i = 0; i < count; i++) {
        cleave__words_add(w, i ? ", " : "");
        cleave__words_name_part(w, table->source->columns[columns[i]].name);
    }
    cleave__words_add(w, ")");
}

static void put_table(struct cleave_words *w, const struct cleave__load_target *target,
                      const struct cleave__load_table *table)
{
    const struct cleave_table *source = table->source;
    cleave__words_add(w, "CREATE TABLE ");
    put_name(w, target, source->name);
    cleave__words_add(w, " (");
    put_columns(w, target, table);
    if (source->primary.count)
        put_key(w, ", PRIMARY KEY", table, source->primary.count, source->primary.columns);
    for (uint32_t u = 0; u < source->unique_count; u++)
        put_key(w, ", UNIQUE", table, source->uniques[u].count, source->uniques[u].columns);
    for (size_t i = 0; !target->sqlite && i < table->checks.count; i++) {
        cleave__words_add(w, ", CONSTRAINT ");
        cleave__words_name_part(w, table->checks.data[i].name);
        cleave__words_add(w, " %s", table->checks.data[i].text);
    }
    cleave__words_add(w, ")");
}

static enum cleave_status put_schema(struct cleave_words *w,
                                     const struct cleave__load_target *target,
                                     const struct cleave__load_table *table,
                                     struct cleave__load_script *script, struct cleave_error *error)
{
    const char *dot = strchr(table->source->name, '.');
    if (!dot)
        return CLEAVE_OK;
    if (target->sqlite)
        return cleave_error_set(error, CLEAVE_UNSUPPORTED,
                                "%.200s: SQLite has no schemas, and so no table %.200s",
                                target->shown, table->source->name);
    char *schema =
        cleave__arena_copy(script->arena, table->source->name, (size_t)(dot - table->source->name));
    if (!schema)
        return cleave__load_no_memory(error);
    cleave__words_add(w, "CREATE SCHEMA IF NOT EXISTS ");
    cleave__words_name_part(w, schema);
    return push(script, w, error);
}

/* Old tables of the names go; all at once where one may hang on another. */
static enum cleave_status put_drops(struct cleave_words *w, const struct cleave__load *load,
                                    const struct cleave__load_target *target,
                                    struct cleave__load_script *script, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t t = 0; !status && t < load->table_count; t++) {
        cleave__words_add(w, t && !target->sqlite ? ", " : "DROP TABLE IF EXISTS ");
        put_name(w, target, load->tables[t].source->name);
        if (target->sqlite || t + 1 == load->table_count)
            status = push(script, w, error);
    }
    return status;
}

enum cleave_status cleave__load_ddl_before(struct cleave__load *load,
                                           const struct cleave__load_target *target,
                                           struct cleave__load_script *script,
                                           struct cleave_error *error)
{
    struct cleave_words words = {.grows = true};
    enum cleave_status status = CLEAVE_OK;
    if (load->options->replace)
        status = put_drops(&words, load, target, script, error);
    for (uint32_t t = 0; !status && t < load->table_count; t++) {
        status = put_schema(&words, target, &load->tables[t], script, error);
        if (status)
            break;
        put_table(&words, target, &load->tables[t]);
        status = push(script, &words, error);
    }
    free(words.data);
    return status;
}

bool cleave__load_is_local(const struct cleave__load *load, const struct cleave__load_table *table,
                           const struct cleave_foreign_key *foreign)
{
    const struct cleave_table *target = &load->schema->tables[foreign->target_table];
    uint32_t known =
        cleave__schema_table(&load->lookup->schema, target->name, strlen(target->name));
    const struct cleave_table_index *from = &load->lookup->tables[table->lookup_table];
    if (known == CLEAVE_ABSENT)
        return false;
    const struct cleave_table_index *to = &load->lookup->tables[known];
    if (to->replicated)
        return true;
    if (from->replicated || from->twice || from->exceptions.group_count ||
        to->exceptions.group_count || from->map != to->map)
        return false;
    for (uint32_t i = 0; i < foreign->count; i++) {
        const char *name = target->columns[foreign->target_columns[i]].name;
        uint32_t there =
            cleave__schema_column(&load->lookup->schema.tables[known], name, strlen(name));
        if (table->columns[foreign->columns[i]].lookup_column == from->key_column &&
            there == to->key_column)
            return true;
    }
    return false;
}

static enum cleave_status put_foreign(struct cleave_words *w, const struct cleave__load *load,
                                      const struct cleave__load_target *target,
                                      const struct cleave__load_table *table,
                                      const struct cleave_foreign_key *foreign,
                                      struct cleave__load_script *script,
                                      struct cleave_error *error)
{
    const struct cleave_table *to = &load->schema->tables[foreign->target_table];
    cleave__words_add(w, "ALTER TABLE ");
    put_name(w, target, table->source->name);
    put_key(w, " ADD FOREIGN KEY", table, foreign->count, foreign->columns);
    cleave__words_add(w, " REFERENCES ");
    put_name(w, target, to->name);
    cleave__words_add(w, " (");
    for (uint32_t i = 0; i < foreign->count; i++) {
        cleave__words_add(w, i ? ", " : "");
        cleave__words_name_part(w, to->columns[foreign->target_columns[i]].name);
    }
    cleave__words_add(w, ")");
    return push(script, w, error);
}

enum cleave_status cleave__load_ddl_after(struct cleave__load *load,
                                          const struct cleave__load_target *target,
                                          struct cleave__load_script *script,
                                          struct cleave_error *error)
{
    struct cleave_words words = {.grows = true};
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t t = 0; !status && !target->sqlite && t < load->table_count; t++) {
        const struct cleave__load_table *table = &load->tables[t];
        for (size_t i = 0; !status && i < table->indexes.count; i++) {
            cleave__words_add(&words, "%s", table->indexes.data[i].text);
            status = push(script, &words, error);
        }
        for (uint32_t f = 0; !status && f < table->source->foreign_count; f++) {
            const struct cleave_foreign_key *foreign = &table->source->foreigns[f];
            if (target->reference || cleave__load_is_local(load, table, foreign))
                status = put_foreign(&words, load, target, table, foreign, script, error);
        }
    }
    for (uint32_t t = 0; !status && t < load->table_count; t++) {
        cleave__words_add(&words, "SELECT count(*) FROM ");
        put_name(&words, target, load->tables[t].source->name);
        status = push(script, &words, error);
    }
    free(words.data);
    return status;
}
