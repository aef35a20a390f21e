/* DDL of a PostgreSQL that stands before the shards: native partitions that are foreign tables.
 *
 * A table has one partition a shard, by a function of the key that computes what the lookup table
 * says (export_fdw_goes.c), or by RANGE where each shard has one range. Keys of types that no such
 * function is known for: explicit values become LIST partitions, one a shard; all other values a
 * DEFAULT partition that is partitioned again by PostgreSQL's own HASH. postgres_fdw does not send
 * a partition's bounds, so no two partitions may stand for one remote table: where a shard has
 * several, it keeps each in a partition of its own, and the lines that make them there are given as
 * comments "--N: ...".
 * Foreign tables live in a schema of their own for each shard, so that no name collides. A trigger
 * refuses updates of a key: postgres_fdw would leave the row on its shard without an error. */
#include <stdlib.h>
#include <string.h>

#include "tables/route/export_fdw.h"

/* An option's text with "{}" replaced, as a literal; of a list with commas, the shard's item. */
static void put_option(struct cleave_fdw *f, const char *name, const char *pattern, uint32_t shard)
{
    struct cleave_words text = {.grows = true};
    bool list = strchr(pattern, ',');
    for (uint32_t item = 0; list && item < shard && strchr(pattern, ','); item++)
        pattern = strchr(pattern, ',') + 1;
    const char *end = list ? pattern + strcspn(pattern, ",") : pattern + strlen(pattern);
    for (const char *at = pattern; at < end;) {
        if (at[0] == '{' && at[1] == '}') {
            cleave__words_add(&text, "%u", shard);
            at += 2;
        } else {
            cleave__words_bytes(&text, at++, 1);
        }
    }
    cleave__words_add(f->w, "%s ", name);
    cleave__words_literal(f->w, text.data ? text.data : "", text.length);
    f->w->failed = f->w->failed || text.failed;
    free(text.data);
}

static void put_servers(struct cleave_fdw *f)
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
        cleave__words_add(f->w, ");\nCREATE USER MAPPING FOR CURRENT_USER SERVER cleave_shard_%u",
                          s);
        if (o->user) {
            cleave__words_add(f->w, " OPTIONS (");
            put_option(f, "user", o->user, s);
            cleave__words_add(f->w, ")");
        }
        cleave__words_add(f->w, ";\nCREATE SCHEMA cleave_shard_%u;\n", s);
    }
}

static void put_replicated(struct cleave_fdw *f)
{
    cleave__words_add(f->w,
                      "-- On every shard: read from shard 0 here. Writes must be made on each "
                      "shard, so they are refused here.\nCREATE FOREIGN TABLE ");
    cleave__fdw_table_name(f);
    cleave__fdw_columns(f, "\n  ", false);
    cleave__fdw_remote(f, 0, 0, false);
    f->w->length--; /* the closing parenthesis */
    cleave__words_add(f->w, ", updatable 'false');\n");
}

static void put_warnings(struct cleave_fdw *f, const struct cleave_table_index *placed)
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
    if (placed->twice) {
        cleave__words_add(w, "-- WARNING: the copy of each row by ");
        cleave__fdw_part(w, f->table->columns[placed->second_column].name);
        cleave__words_add(w, " cannot be kept: partitions go by one column here. Remove those\n"
                             "-- copies from the shards, or rows will be found twice. Reads by "
                             "that column ask every shard.\n");
    }
    if (placed->derived_count)
        cleave__words_add(w,
                          "-- %u other column%s tell the key; PostgreSQL does not prune by that: "
                          "such reads ask every shard.\n",
                          placed->derived_count, placed->derived_count == 1 ? "" : "s");
    bool by_rest =
        f->map->otherwise == CLEAVE_MAP_HASH || f->map->otherwise == CLEAVE_MAP_ROUND_ROBIN;
    if (by_rest && !cleave__fdw_goes_exactly(f))
        cleave__words_add(w,
                          "-- WARNING: values without an entry go by PostgreSQL's hash here, not "
                          "by cleave's: rows that `cleave tables\n-- load` brought under such "
                          "keys are not found by them. Load these through this server.\n");
    if (f->table->primary.count || f->table->unique_count)
        cleave__words_add(w, "-- Its keys are not declared here: foreign partitions cannot carry "
                             "them. The shards\n-- enforce those that hold the partition key.\n");
}

static void put_guard(struct cleave_fdw *f)
{
    cleave__words_add(f->w, "CREATE TRIGGER cleave_key_stays BEFORE UPDATE ON ");
    cleave__fdw_table_name(f);
    cleave__words_add(f->w, " FOR EACH ROW\n  WHEN (OLD.");
    cleave__fdw_part(f->w, f->key);
    cleave__words_add(f->w, " IS DISTINCT FROM NEW.");
    cleave__fdw_part(f->w, f->key);
    cleave__words_add(f->w, ") EXECUTE FUNCTION cleave_rest.key_stays();\n");
}

static enum cleave_status put_table(struct cleave_fdw *f, uint32_t index)
{
    const struct cleave_table_index *placed = &f->lookup->tables[index];
    f->index = index;
    f->table = &f->lookup->schema.tables[index];
    cleave__words_add(f->w, "\n");
    if (strchr(f->table->name, '.')) {
        cleave__words_add(f->w, "CREATE SCHEMA IF NOT EXISTS ");
        cleave__fdw_schema(f);
        cleave__words_add(f->w, ";\n");
    }
    if (placed->replicated) {
        put_replicated(f);
        return CLEAVE_OK;
    }
    f->map = &f->lookup->maps[placed->map];
    f->type = f->table->columns[placed->key_column].type;
    f->key = f->table->columns[placed->key_column].name;
    f->key_type_name = f->table->columns[placed->key_column].type_name;
    f->nullable = placed->key_nullable;
    put_warnings(f, placed);
    uint32_t count, *shards;
    struct cleave_value *values;
    enum cleave_status status = cleave__key_index_list(f->map, &count, &values, &shards);
    if (status != CLEAVE_OK)
        return status;
    cleave__fdw_tree(f, count, values, shards);
    put_guard(f);
    free(values);
    free(shards);
    return CLEAVE_OK;
}

enum cleave_status cleave__export_fdw(const struct cleave_lookup *lookup,
                                      const struct cleave_export_options *options,
                                      struct cleave_words *words)
{
    struct cleave_fdw f = {.lookup = lookup, .options = options, .w = words, .bounds.grows = true};
    uint32_t count, *order = cleave__export_order(lookup, &count);
    if (!order)
        return CLEAVE_NO_MEMORY;
    cleave__words_add(
        words,
        "-- For an empty database that stands before the shards; a superuser runs it. Each shard "
        "has the tables already, apart\n"
        "-- from those with lines \"--N: ...\" below: these make them on shard N, which keeps "
        "several\n"
        "-- partitions of the table apart. Take them out with: sed -n 's/^--N: //p'\n"
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
    free(f.leaves.data);
    free(f.bounds.data);
    return status;
}
