/* Names, types, literals and columns of the FDW export. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/route/export_fdw.h"

static bool has_controls(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return true;
    }
    return false;
}

/* Everything below fits a comment line: control characters are escaped. */
void cleave__fdw_part(struct cleave_words *w, const char *name)
{
    if (!has_controls(name, strlen(name))) {
        cleave__words_name_part(w, name);
        return;
    }
    cleave__words_add(w, "U&\"");
    for (; *name; name++) {
        if ((unsigned char)*name < 0x20 || *name == 0x7f)
            cleave__words_add(w, "\\%04x", (unsigned char)*name);
        else
            cleave__words_add(w, *name == '"' ? "\"\"" : *name == '\\' ? "\\\\" : "%c", *name);
    }
    cleave__words_add(w, "\"");
}

void cleave__fdw_value(struct cleave_words *w, const struct cleave_value *value,
                       enum cleave_type type)
{
    if (value->kind != CLEAVE_TEXT || !has_controls(value->text, value->length)) {
        cleave__words_value(w, value, type, 0);
        return;
    }
    cleave__words_add(w, "E'");
    for (uint32_t i = 0; i < value->length; i++) {
        unsigned char c = (unsigned char)value->text[i];
        if (c < 0x20 || c == 0x7f)
            cleave__words_add(w, "\\x%02x", c);
        else if (c == '\'' || c == '\\')
            cleave__words_add(w, "%c%c", c, c);
        else
            cleave__words_bytes(w, &value->text[i], 1);
    }
    cleave__words_add(w, "'");
}

/* The table's schema with its dot, or nothing. */
void cleave__fdw_schema(struct cleave_fdw *f)
{
    const char *dot = strchr(f->table->name, '.');
    if (!dot)
        return;
    struct cleave_words name = {.grows = true};
    cleave__words_bytes(&name, f->table->name, (size_t)(dot - f->table->name));
    if (name.failed)
        f->w->failed = true;
    else
        cleave__fdw_part(f->w, name.data);
    free(name.data);
}

static const char *bare_name(const struct cleave_fdw *f)
{
    const char *dot = strchr(f->table->name, '.');
    return dot ? dot + 1 : f->table->name;
}

void cleave__fdw_table_name(struct cleave_fdw *f)
{
    if (strchr(f->table->name, '.')) {
        cleave__fdw_schema(f);
        cleave__words_add(f->w, ".");
    }
    cleave__fdw_part(f->w, bare_name(f));
}

static void put_key_columns(struct cleave_fdw *f, const char *what, const struct cleave_key *key)
{
    bool has_key = false;
    for (uint32_t i = 0; i < key->count; i++)
        has_key = has_key || strcmp(f->table->columns[key->columns[i]].name, f->key) == 0;
    if (!has_key)
        return;
    cleave__words_add(f->w, ", %s (", what);
    for (uint32_t i = 0; i < key->count; i++) {
        cleave__words_add(f->w, i ? ", " : "");
        cleave__fdw_part(f->w, f->table->columns[key->columns[i]].name);
    }
    cleave__words_add(f->w, ")");
}

/* With the keys that a table partitioned by f->key can carry, for the shards. */
void cleave__fdw_columns(struct cleave_fdw *f, const char *between, bool with_keys)
{
    cleave__words_add(f->w, " (");
    for (uint32_t i = 0; i < f->table->column_count; i++) {
        const struct cleave_column *column = &f->table->columns[i];
        cleave__words_add(f->w, i ? ",%s" : "%s", between);
        cleave__fdw_part(f->w, column->name);
        cleave__words_add(f->w, " ");
        cleave__words_type(f->w, column->type_name);
        cleave__words_add(f->w, column->not_null ? " NOT NULL" : "");
    }
    if (with_keys) {
        put_key_columns(f, "PRIMARY KEY", &f->table->primary);
        for (uint32_t i = 0; i < f->table->unique_count; i++)
            put_key_columns(f, "UNIQUE", &f->table->uniques[i]);
    }
    cleave__words_add(f->w, ")");
}

/* Name of the n-th partition; a long one gives way to the table's number. */
static void make_piece_name(const struct cleave_fdw *f, size_t n, bool with_schema,
                            struct cleave_words *name)
{
    char suffix[24] = "";
    if (n || !with_schema)
        snprintf(suffix, sizeof suffix, "/%zu", n);
    const char *base = with_schema ? f->table->name : bare_name(f);
    if (strlen(base) + strlen(suffix) > CLEAVE_NAME_MAX)
        cleave__words_add(name, "table %u%s", f->index, suffix);
    else
        cleave__words_add(name, "%s%s", base, suffix);
}

void cleave__fdw_piece_name(struct cleave_fdw *f, size_t n, bool with_schema)
{
    struct cleave_words name = {.grows = true};
    make_piece_name(f, n, with_schema, &name);
    if (name.failed)
        f->w->failed = true;
    else
        cleave__fdw_part(f->w, name.data);
    free(name.data);
}

/* Options that say what the n-th partition is called on its shard. */
void cleave__fdw_remote(struct cleave_fdw *f, uint32_t shard, size_t n, bool own_piece)
{
    const char *dot = strchr(f->table->name, '.');
    struct cleave_words name = {.grows = true};
    if (own_piece)
        make_piece_name(f, n, false, &name);
    else
        cleave__words_add(&name, "%s", bare_name(f));
    cleave__words_add(f->w, "\n  SERVER cleave_shard_%u OPTIONS (schema_name ", shard);
    cleave__words_literal(f->w, dot ? f->table->name : "public",
                          dot ? (size_t)(dot - f->table->name) : 6);
    cleave__words_add(f->w, ", table_name ");
    if (name.failed)
        f->w->failed = true;
    else
        cleave__words_literal(f->w, name.data, name.length);
    cleave__words_add(f->w, ")");
    free(name.data);
}
