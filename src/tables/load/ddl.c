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
        if (column->sequence && column->sequence->identity != '-' && !target->sqlite)
            cleave__load_put_identity(w, target, column->sequence);
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

/* Which shard of which load this is (replay/claim.h); what an earlier life knew goes. */
static enum cleave_status put_place(struct cleave_words *w, const struct cleave__load *load,
                                    const struct cleave__load_target *target,
                                    struct cleave__load_script *script, struct cleave_error *error)
{
    static const char *const old[] = {"cleave_shard", "cleave_moves", "cleave_plan"};
    enum cleave_status status = CLEAVE_OK;
    if (load->copies)
        return CLEAVE_OK;
    for (size_t i = 0; !status && i < sizeof old / sizeof *old; i++) {
        cleave__words_add(w, "DROP TABLE IF EXISTS %s", old[i]);
        status = push(script, w, error);
    }
    if (status)
        return status;
    cleave__words_add(w, "CREATE TABLE cleave_shard (load varchar(16) NOT NULL, shard integer NOT "
                         "NULL)");
    status = push(script, w, error);
    if (status)
        return status;
    cleave__words_add(w, "INSERT INTO cleave_shard (load, shard) VALUES ('%s', %d)",
                      strrchr(load->name, '-') + 1, target->reference ? -1 : (int)target->number);
    return push(script, w, error);
}

/* Those behind the defaults of a table: made, or (`owned`) made its own, so that they go with it.
 * One that several columns draw from belongs to the first. */
static enum cleave_status put_sequences(struct cleave_words *w, const struct cleave__load *load,
                                        const struct cleave__load_target *target, uint32_t t,
                                        bool owned, struct cleave__load_script *script,
                                        struct cleave_error *error)
{
    const struct cleave__load_table *table = &load->tables[t];
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t c = 0; !status && c < table->column_count; c++) {
        const struct cleave__load_sequence *sequence = table->columns[c].sequence;
        bool first = sequence && sequence->identity == '-';
        for (uint32_t u = 0; first && u <= t; u++) {
            const struct cleave__load_table *other = &load->tables[u];
            for (uint32_t d = 0; d < (u == t ? c : other->column_count); d++)
                first = first && !(other->columns[d].sequence &&
                                   strcmp(other->columns[d].sequence->name, sequence->name) == 0);
        }
        if (!first)
            continue;
        if (owned) {
            cleave__words_add(w, "ALTER SEQUENCE %s OWNED BY ", sequence->name);
            cleave__words_name(w, table->source->name);
            cleave__words_add(w, ".");
            cleave__words_name_part(w, table->columns[c].name);
            status = push(script, w, error);
            continue;
        }
        if (load->options->replace) {
            cleave__words_add(w, "DROP SEQUENCE IF EXISTS %s", sequence->name);
            status = push(script, w, error);
        }
        if (!status) {
            cleave__load_put_sequence(w, target, sequence);
            status = push(script, w, error);
        }
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
    if (!status)
        status = put_place(&words, load, target, script, error);
    for (size_t i = 0; !status && !target->sqlite && i < load->types.count; i++) {
        cleave__words_add(&words, "CREATE SCHEMA IF NOT EXISTS ");
        cleave__words_name_part(&words, load->types.data[i].name);
        status = push(script, &words, error);
        if (status)
            break;
        cleave__load_put_type(&words, &load->types.data[i]);
        status = push(script, &words, error);
    }
    for (uint32_t t = 0; !status && !target->sqlite && t < load->table_count; t++) {
        status = put_schema(&words, target, &load->tables[t], script, error);
        if (!status)
            status = put_sequences(&words, load, target, t, false, script, error);
    }
    for (uint32_t t = 0; !status && t < load->table_count; t++) {
        status = put_schema(&words, target, &load->tables[t], script, error);
        if (status)
            break;
        put_table(&words, target, &load->tables[t]);
        status = push(script, &words, error);
        if (!status && !target->sqlite)
            status = put_sequences(&words, load, target, t, true, script, error);
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
    if (!target->reference) /* rows that move between shards go and come one table after another */
        cleave__words_add(w, " DEFERRABLE");
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
