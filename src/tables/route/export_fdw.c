/* DDL of a PostgreSQL that stands before the shards: native partitions that are foreign tables.
 *
 * Explicit values become LIST partitions, one a shard; all other values a DEFAULT partition that is
 * partitioned again: by HASH (PostgreSQL's own), by LIST of the remainder (exact), or by RANGE
 * (exact). Steps (NEAREST) are RANGE partitions. Foreign tables live in a schema of their own for
 * each shard, so that no name collides. A trigger refuses updates of a key that would have to move
 * the row: postgres_fdw would push them down and leave the row where it is. */
#include <stdio.h>
#include <stdlib.h>

#include "tables/route/export.h"
#include "tables/route/image.h"

enum { NAME_MAX_BYTES = 63 };

struct fdw {
    const struct cleave_lookup *lookup;
    const struct cleave_export_options *options;
    struct cleave_words *w;
    /* The table at hand. */
    const struct cleave_table *table;
    const struct cleave_key_index *map;
    uint32_t index;
    enum cleave_type type;
    const char *key;
    bool nullable;
    uint32_t pieces; /* partitions named so far */
};

static void put_text(struct cleave_words *w, const char *text, size_t length)
{
    struct cleave_value value = {.kind = CLEAVE_TEXT, .text = text};
    value.length = (uint32_t)length;
    cleave__words_value(w, &value, CLEAVE_TYPE_TEXT, 0);
}

/* An option's text with "{}" replaced, as a literal. */
static void put_option(struct fdw *f, const char *name, const char *pattern, uint32_t shard)
{
    struct cleave_words text = {.grows = true};
    for (const char *at = pattern; *at;) {
        if (at[0] == '{' && at[1] == '}') {
            cleave__words_add(&text, "%u", shard);
            at += 2;
        } else {
            cleave__words_bytes(&text, at++, 1);
        }
    }
    cleave__words_add(f->w, "%s ", name);
    put_text(f->w, text.data ? text.data : "", text.length);
    f->w->failed = f->w->failed || text.failed;
    free(text.data);
}

static void put_servers(struct fdw *f)
{
    const struct cleave_export_options *o = f->options;
    for (uint32_t s = 0; s < f->lookup->shards; s++) {
        cleave__words_add(f->w,
                          "CREATE SERVER cleave_shard_%u FOREIGN DATA WRAPPER postgres_fdw "
                          "OPTIONS (",
                          s);
        put_option(f, "host", o->host ? o->host : "shard-{}", s);
        cleave__words_add(f->w, ", ");
        put_option(f, "port", o->port ? o->port : "5432", s);
        cleave__words_add(f->w, ", ");
        put_option(f, "dbname", o->database ? o->database : "postgres", s);
        cleave__words_add(f->w,
                          ");\nCREATE USER MAPPING FOR CURRENT_USER SERVER cleave_shard_%u;\n"
                          "CREATE SCHEMA cleave_shard_%u;\n",
                          s, s);
    }
}

/* The declared type, when it is one that DDL can repeat; serial types lose their sequence. */
static void put_type(struct cleave_words *w, const char *type)
{
    static const char *const serials[][2] = {
        {"smallserial", "smallint"}, {"serial2", "smallint"}, {"serial", "integer"},
        {"serial4", "integer"},      {"bigserial", "bigint"}, {"serial8", "bigint"},
    };
    for (size_t i = 0; i < sizeof serials / sizeof *serials; i++) {
        if (strcmp(type, serials[i][0]) == 0)
            type = serials[i][1];
    }
    bool plain = *type != 0;
    for (const char *c = type; *c; c++)
        plain = plain && ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                          (*c >= '0' && *c <= '9') || strchr(" _.,()[]", *c));
    if (plain)
        cleave__words_add(w, "%s", type);
    else
        cleave__words_name(w, type);
}

static void put_columns(struct fdw *f)
{
    cleave__words_add(f->w, " (");
    for (uint32_t i = 0; i < f->table->column_count; i++) {
        const struct cleave_column *column = &f->table->columns[i];
        cleave__words_add(f->w, i ? ",\n  " : "\n  ");
        cleave__words_name_part(f->w, column->name);
        cleave__words_add(f->w, " ");
        put_type(f->w, column->type_name);
        cleave__words_add(f->w, column->not_null ? " NOT NULL" : "");
    }
    cleave__words_add(f->w, ")");
}

/* A name of the table's n-th partition; a long one gives way to the table's number. */
static void put_piece_name(struct fdw *f)
{
    char suffix[16];
    uint32_t n = f->pieces++;
    int length = n ? snprintf(suffix, sizeof suffix, "/%u", n) : 0;
    if (length == 0)
        suffix[0] = 0;
    if (strlen(f->table->name) + (size_t)length > NAME_MAX_BYTES) {
        cleave__words_add(f->w, "\"table %u%s\"", f->index, suffix);
        return;
    }
    struct cleave_words name = {.grows = true};
    cleave__words_add(&name, "%s%s", f->table->name, suffix);
    if (name.failed)
        f->w->failed = true;
    else
        cleave__words_name_part(f->w, name.data);
    free(name.data);
}

/* Options that say what the foreign table is called on its shard. */
static void put_remote(struct fdw *f, uint32_t shard)
{
    const char *dot = strchr(f->table->name, '.');
    cleave__words_add(f->w, "\n  SERVER cleave_shard_%u OPTIONS (schema_name ", shard);
    put_text(f->w, dot ? f->table->name : "public", dot ? (size_t)(dot - f->table->name) : 6);
    cleave__words_add(f->w, ", table_name ");
    const char *bare = dot ? dot + 1 : f->table->name;
    put_text(f->w, bare, strlen(bare));
    cleave__words_add(f->w, ")");
}

/* "CREATE FOREIGN TABLE <shard's schema>.<name> PARTITION OF <parent>"; the caller adds the bounds
 * and calls put_remote. */
static void start_leaf(struct fdw *f, const char *parent, uint32_t shard)
{
    cleave__words_add(f->w, "CREATE FOREIGN TABLE cleave_shard_%u.", shard);
    put_piece_name(f);
    cleave__words_add(f->w, " PARTITION OF ");
    if (parent)
        cleave__words_add(f->w, "%s", parent);
    else
        cleave__words_name(f->w, f->table->name);
    cleave__words_add(f->w, " ");
}

static void end_leaf(struct fdw *f, uint32_t shard)
{
    put_remote(f, shard);
    cleave__words_add(f->w, ";\n");
}

static void put_key(struct fdw *f, const char *how)
{
    cleave__words_add(f->w, " PARTITION BY %s (", how);
    cleave__words_name_part(f->w, f->key);
    cleave__words_add(f->w, ")");
}

static bool by_remainder(const struct fdw *f)
{
    return f->map->otherwise == CLEAVE_MAP_ROUND_ROBIN && f->type == CLEAVE_TYPE_INTEGER;
}

/* How values without an entry are partitioned, after the table or the default partition's name. */
static void put_rest_by(struct fdw *f)
{
    uint32_t k = f->lookup->shards;
    if (by_remainder(f)) {
        cleave__words_add(f->w, " PARTITION BY LIST (((");
        cleave__words_name_part(f->w, f->key);
        cleave__words_add(f->w, " %% %u + %u) %% %u))", k, k, k);
    } else {
        put_key(f, f->map->otherwise == CLEAVE_MAP_RANGE ? "RANGE" : "HASH");
    }
}

static void put_bound(struct fdw *f, uint32_t index, bool high)
{
    if (high ? index == f->map->bound_count : index == 0) {
        cleave__words_add(f->w, high ? "MAXVALUE" : "MINVALUE");
        return;
    }
    cleave__words_value(f->w, &f->map->bounds[high ? index : index - 1], f->type, 0);
}

static void put_rest_leaves(struct fdw *f, const char *parent)
{
    uint32_t k = f->lookup->shards;
    if (f->map->otherwise == CLEAVE_MAP_RANGE) {
        for (uint32_t i = 0; i <= f->map->bound_count; i++) {
            /* Equal bounds leave a shard without a range. */
            if (i && i < f->map->bound_count &&
                cleave__value_compare(&f->map->bounds[i - 1], &f->map->bounds[i]) == 0)
                continue;
            start_leaf(f, parent, i);
            cleave__words_add(f->w, "FOR VALUES FROM (");
            put_bound(f, i, false);
            cleave__words_add(f->w, ") TO (");
            put_bound(f, i, true);
            cleave__words_add(f->w, ")");
            end_leaf(f, i);
        }
        return;
    }
    for (uint32_t s = 0; s < k; s++) {
        start_leaf(f, parent, s);
        if (by_remainder(f))
            cleave__words_add(f->w, "FOR VALUES IN (%u)", s);
        else
            cleave__words_add(f->w, "FOR VALUES WITH (MODULUS %u, REMAINDER %u)", k, s);
        end_leaf(f, s);
    }
}

/* One LIST partition a shard for its explicit values, NULL among them. */
static void put_lists(struct fdw *f, uint32_t count, const struct cleave_value *values,
                      const uint32_t *shards, bool with_null)
{
    for (uint32_t s = 0; s < f->lookup->shards; s++) {
        bool any = false;
        for (uint32_t i = 0; i <= count; i++) {
            bool null = i == count;
            if (null ? !with_null || f->map->null_shard != s : shards[i] != s)
                continue;
            if (!any)
                start_leaf(f, NULL, s);
            cleave__words_add(f->w, any ? ", " : "FOR VALUES IN (");
            if (null)
                cleave__words_add(f->w, "NULL");
            else
                cleave__words_value(f->w, &values[i], f->type, 0);
            any = true;
        }
        if (any) {
            cleave__words_add(f->w, ")");
            end_leaf(f, s);
        }
    }
}

static void put_steps(struct fdw *f, uint32_t count, const struct cleave_value *values,
                      const uint32_t *shards)
{
    put_columns(f);
    put_key(f, "RANGE");
    cleave__words_add(f->w, ";\n");
    for (uint32_t i = 0; i < (count ? count : 1); i++) {
        uint32_t shard = count ? shards[i] : 0;
        start_leaf(f, NULL, shard);
        cleave__words_add(f->w, "FOR VALUES FROM (");
        if (i == 0)
            cleave__words_add(f->w, "MINVALUE");
        else
            cleave__words_value(f->w, &values[i], f->type, 0);
        cleave__words_add(f->w, ") TO (");
        if (i + 1 >= count)
            cleave__words_add(f->w, "MAXVALUE");
        else
            cleave__words_value(f->w, &values[i + 1], f->type, 0);
        cleave__words_add(f->w, ")");
        end_leaf(f, shard);
    }
    if (f->nullable) {
        start_leaf(f, NULL, f->map->null_shard);
        cleave__words_add(f->w, "DEFAULT");
        end_leaf(f, f->map->null_shard);
    }
}

static void put_tree(struct fdw *f, uint32_t count, const struct cleave_value *values,
                     const uint32_t *shards)
{
    put_columns(f);
    if (count == 0 && !f->nullable) {
        put_rest_by(f);
        cleave__words_add(f->w, ";\n");
        put_rest_leaves(f, NULL);
        return;
    }
    put_key(f, "LIST");
    cleave__words_add(f->w, ";\n");
    put_lists(f, count, values, shards, f->nullable);
    char rest[48];
    snprintf(rest, sizeof rest, "cleave_rest.\"table %u\"", f->index);
    cleave__words_add(f->w, "CREATE TABLE %s PARTITION OF ", rest);
    cleave__words_name(f->w, f->table->name);
    cleave__words_add(f->w, " DEFAULT");
    put_rest_by(f);
    cleave__words_add(f->w, ";\n");
    put_rest_leaves(f, rest);
}

static void put_replicated(struct fdw *f)
{
    cleave__words_add(f->w,
                      "-- On every shard: read from shard 0 here. Writes must be made on each "
                      "shard, so they are refused here.\nCREATE FOREIGN TABLE ");
    cleave__words_name(f->w, f->table->name);
    put_columns(f);
    put_remote(f, 0);
    f->w->length--; /* the closing parenthesis */
    cleave__words_add(f->w, ", updatable 'false');\n");
}

static void put_warnings(struct fdw *f, const struct cleave_table_index *placed)
{
    struct cleave_words *w = f->w;
    uint32_t exceptions = cleave__export_exceptions(f->lookup, f->index);
    if (exceptions)
        cleave__words_add(
            w,
            "-- WARNING: %u exception%s of this table cannot be kept: partitions go by "
            "one column here. Move these\n-- rows to their key's shard, or they will "
            "not be found.\n",
            exceptions, exceptions == 1 ? "" : "s");
    if (placed->derived_count)
        cleave__words_add(w,
                          "-- %u other column%s tell the key; PostgreSQL does not prune by that: "
                          "such reads ask every shard.\n",
                          placed->derived_count, placed->derived_count == 1 ? "" : "s");
    bool own_hash = f->map->otherwise == CLEAVE_MAP_HASH ||
                    (f->map->otherwise == CLEAVE_MAP_ROUND_ROBIN && !by_remainder(f));
    if (own_hash)
        cleave__words_add(w, "-- Values without an entry go by PostgreSQL's hash here, not by "
                             "cleave's: load them through this server.\n");
    if (f->table->primary.count || f->table->unique_count)
        cleave__words_add(w, "-- Its keys are not declared here: foreign partitions cannot carry "
                             "them. The shards enforce them.\n");
}

static void put_guard(struct fdw *f)
{
    cleave__words_add(f->w, "CREATE TRIGGER cleave_key_stays BEFORE UPDATE ON ");
    cleave__words_name(f->w, f->table->name);
    cleave__words_add(f->w, " FOR EACH ROW\n  WHEN (OLD.");
    cleave__words_name_part(f->w, f->key);
    cleave__words_add(f->w, " IS DISTINCT FROM NEW.");
    cleave__words_name_part(f->w, f->key);
    cleave__words_add(f->w, ") EXECUTE FUNCTION cleave_rest.key_stays();\n");
}

static void put_schema_of(struct fdw *f)
{
    const char *dot = strchr(f->table->name, '.');
    if (!dot)
        return;
    struct cleave_words name = {.grows = true};
    cleave__words_bytes(&name, f->table->name, (size_t)(dot - f->table->name));
    if (name.failed) {
        f->w->failed = true;
    } else {
        cleave__words_add(f->w, "CREATE SCHEMA IF NOT EXISTS ");
        cleave__words_name_part(f->w, name.data);
        cleave__words_add(f->w, ";\n");
    }
    free(name.data);
}

static enum cleave_status put_table(struct fdw *f, uint32_t index)
{
    const struct cleave_table_index *placed = &f->lookup->tables[index];
    f->index = index;
    f->table = &f->lookup->schema.tables[index];
    f->pieces = 0;
    cleave__words_add(f->w, "\n");
    put_schema_of(f);
    if (placed->replicated) {
        put_replicated(f);
        return CLEAVE_OK;
    }
    f->map = &f->lookup->maps[placed->map];
    f->type = f->table->columns[placed->key_column].type;
    f->key = f->table->columns[placed->key_column].name;
    f->nullable = placed->key_nullable;
    put_warnings(f, placed);
    uint32_t count, *shards;
    struct cleave_value *values;
    enum cleave_status status = cleave__key_index_list(f->map, &count, &values, &shards);
    if (status != CLEAVE_OK)
        return status;
    cleave__words_add(f->w, "CREATE TABLE ");
    cleave__words_name(f->w, f->table->name);
    (f->map->otherwise == CLEAVE_MAP_NEAREST ? put_steps : put_tree)(f, count, values, shards);
    put_guard(f);
    free(values);
    free(shards);
    return CLEAVE_OK;
}

enum cleave_status cleave__export_fdw(const struct cleave_lookup *lookup,
                                      const struct cleave_export_options *options,
                                      struct cleave_words *words)
{
    struct fdw f = {.lookup = lookup, .options = options, .w = words};
    uint32_t count, *order = cleave__export_order(lookup, &count);
    if (!order)
        return CLEAVE_NO_MEMORY;
    cleave__words_add(
        words, "-- For an empty database that stands before the shards; each shard has the tables "
               "already.\n"
               "-- Limits of postgres_fdw: no PREPARE TRANSACTION, so a transaction that writes on "
               "several\n"
               "-- shards is not atomic; an UPDATE of a partition key would leave the row on its "
               "old shard\n"
               "-- without an error, so a trigger refuses it; no primary keys or foreign keys "
               "across shards.\n"
               "BEGIN;\n"
               "CREATE EXTENSION IF NOT EXISTS postgres_fdw;\n"
               "CREATE SCHEMA cleave_rest;\n"
               "CREATE FUNCTION cleave_rest.key_stays() RETURNS trigger LANGUAGE plpgsql AS $$\n"
               "BEGIN\n"
               "  RAISE EXCEPTION 'an UPDATE may not change the partition key of %%: delete and "
               "insert the "
               "row', TG_TABLE_NAME;\n"
               "END $$;\n");
    put_servers(&f);
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; status == CLEAVE_OK && i < count; i++)
        status = put_table(&f, order[i]);
    cleave__words_add(words, "\nCOMMIT;\n");
    free(order);
    return status;
}
