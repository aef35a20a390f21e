/* The source's tables against the lookup table's: a lookup table that was made for another state of
 * the schema is refused, table and column named. What must be known of each table besides is
 * gathered here: which columns rows have, which of them routing reads. */
#include <stdio.h>
#include <string.h>

#include "tables/load/inside.h"

static enum cleave_status drifted(const struct cleave__load *load, const char *what,
                                  struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_BAD_INPUT,
                            "%.150s is not the database that the lookup table was made for: "
                            "%.200s; place it again",
                            load->shown, what);
}

static bool is_float(const char *type)
{
    static const char *const names[] = {"real", "float", "double"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strncmp(type, names[i], strlen(names[i])) == 0)
            return true;
    }
    return false;
}

static enum cleave_status match_columns(struct cleave__load *load, struct cleave__load_table *table,
                                        struct cleave_error *error)
{
    const struct cleave_table *source = table->source;
    const struct cleave_table *known = &load->lookup->schema.tables[table->lookup_table];
    char what[250];
    table->columns =
        cleave__arena_array(&load->arena, source->column_count, sizeof *table->columns);
    if (!table->columns)
        return cleave__load_no_memory(error);
    table->column_count = source->column_count;
    for (uint32_t c = 0; c < known->column_count; c++) {
        const char *name = known->columns[c].name;
        if (cleave__schema_column(source, name, strlen(name)) != CLEAVE_ABSENT)
            continue;
        snprintf(what, sizeof what, "table %.80s has no column %.80s", source->name, name);
        return drifted(load, what, error);
    }
    for (uint32_t c = 0; c < source->column_count; c++) {
        const struct cleave_column *column = &source->columns[c];
        uint32_t at = cleave__schema_column(known, column->name, strlen(column->name));
        if (at == CLEAVE_ABSENT) {
            snprintf(what, sizeof what, "column %.80s of table %.80s is not in the lookup table",
                     column->name, source->name);
            return drifted(load, what, error);
        }
        if (load->ops != &cleave__sqlite && known->columns[at].type != column->type) {
            snprintf(what, sizeof what, "column %.60s.%.60s is of type %.40s, not %.40s",
                     source->name, column->name, column->type_name, known->columns[at].type_name);
            return drifted(load, what, error);
        }
        /* SQLite tells less of types than the lookup table does. */
        const struct cleave_column *typed =
            load->ops == &cleave__sqlite ? &known->columns[at] : column;
        table->columns[c] = (struct cleave__load_column){
            .name = column->name,
            .type_name = typed->type_name,
            .type = typed->type,
            .lookup_column = at,
            .not_null = column->not_null,
            .exact = typed->type == CLEAVE_TYPE_NUMBER && !is_float(typed->type_name)};
    }
    return CLEAVE_OK;
}

static enum cleave_status match_tables(struct cleave__load *load, struct cleave_error *error)
{
    const struct cleave_schema *known = &load->lookup->schema;
    char what[250];
    load->tables =
        cleave__arena_zalloc(&load->arena, (load->schema->table_count + 1) * sizeof *load->tables);
    if (!load->tables)
        return cleave__load_no_memory(error);
    for (uint32_t t = 0; t < known->table_count; t++) {
        const char *name = known->tables[t].name;
        uint32_t at = cleave__schema_table(load->schema, name, strlen(name));
        bool is_view = at != CLEAVE_ABSENT && load->schema->tables[at].view;
        if (known->tables[t].view || (at != CLEAVE_ABSENT && !is_view))
            continue;
        snprintf(what, sizeof what, is_view ? "%.200s is a view" : "there is no table %.200s",
                 name);
        return drifted(load, what, error);
    }
    for (uint32_t t = 0; t < load->schema->table_count; t++) {
        const struct cleave_table *source = &load->schema->tables[t];
        uint32_t at = cleave__schema_table(known, source->name, strlen(source->name));
        if (source->view) {
            if (!cleave__load_remark(load, "view %.200s: not brought", source->name))
                return cleave__load_no_memory(error);
            continue;
        }
        if (at == CLEAVE_ABSENT || known->tables[at].view) {
            snprintf(what, sizeof what, "table %.200s is not in the lookup table", source->name);
            return drifted(load, what, error);
        }
        struct cleave__load_table *table = &load->tables[load->table_count++];
        table->source = source;
        table->lookup_table = at;
        enum cleave_status status = match_columns(load, table, error);
        if (status)
            return status;
    }
    return CLEAVE_OK;
}

static struct cleave__load_table *table_named(struct cleave__load *load, const char *name)
{
    for (uint32_t t = 0; t < load->table_count; t++) {
        if (strcmp(load->tables[t].source->name, name) == 0)
            return &load->tables[t];
    }
    return NULL;
}

struct cleave__load_column *cleave__load_column_named(struct cleave__load *load, const char *table,
                                                      const char *column)
{
    struct cleave__load_table *found = table_named(load, table);
    uint32_t at =
        found ? cleave__schema_column(found->source, column, strlen(column)) : CLEAVE_ABSENT;
    return at == CLEAVE_ABSENT ? NULL : &found->columns[at];
}

/* table, column, 's' when generated, 'i' an identity, expression */
static enum cleave_status take_default(void *context, uint32_t count, const char *const *values,
                                       struct cleave_error *error)
{
    struct cleave__load *load = context;
    struct cleave__load_column *column = cleave__load_column_named(load, values[0], values[1]);
    (void)count;
    if (!column || !values[3])
        return CLEAVE_OK;
    /* Its sequence was left behind, and told. */
    if ((strstr(values[3], "nextval(") && !column->sequence) || *values[2] == 'i')
        return CLEAVE_OK;
    const char *text = cleave__arena_copy(&load->arena, values[3], strlen(values[3]));
    if (*values[2])
        column->generated = text;
    else
        column->fallback = text;
    return text ? CLEAVE_OK : cleave__load_no_memory(error);
}

/* table, 'c' or 'i', name, text */
static enum cleave_status take_extra(void *context, uint32_t count, const char *const *values,
                                     struct cleave_error *error)
{
    struct cleave__load *load = context;
    struct cleave__load_table *table = table_named(load, values[0]);
    (void)count;
    if (!table)
        return CLEAVE_OK;
    char *name = cleave__arena_copy(&load->arena, values[2], strlen(values[2]));
    char *text = cleave__arena_copy(&load->arena, values[3], strlen(values[3]));
    if (!name || !text)
        return cleave__load_no_memory(error);
    char *only = *values[1] == 'i' ? strstr(text, " ON ONLY ") : NULL; /* of a partitioned table */
    if (only)
        memmove(only + 4, only + 9, strlen(only + 9) + 1);
    struct cleave__load_extra extra = {name, text};
    bool pushed = *values[1] == 'i' ? CLEAVE_PUSH(&table->indexes, extra)
                                    : CLEAVE_PUSH(&table->checks, extra);
    return pushed ? CLEAVE_OK : cleave__load_no_memory(error);
}

/* table, column, collation */
static enum cleave_status take_collation(void *context, uint32_t count, const char *const *values,
                                         struct cleave_error *error)
{
    struct cleave__load *load = context;
    struct cleave__load_column *column = cleave__load_column_named(load, values[0], values[1]);
    (void)count;
    if (!column)
        return CLEAVE_OK;
    column->collation = cleave__arena_copy(&load->arena, values[2], strlen(values[2]));
    return column->collation ? CLEAVE_OK : cleave__load_no_memory(error);
}

/* A query of the parent gives the child's rows too: brought as two tables they would be there
 * twice.
 */
static enum cleave_status refuse_inherited(void *context, uint32_t count, const char *const *values,
                                           struct cleave_error *error)
{
    (void)context, (void)count;
    return cleave_error_set(error, CLEAVE_UNSUPPORTED,
                            "table %.150s inherits from %.150s, which shards cannot keep; make it "
                            "a partition, or a table of its own",
                            values[0], values[1]);
}

#define NAME CLEAVE__LOAD_NAME
#define OURS                                                                                       \
    "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') AND NOT "         \
    "c.relispartition AND n.nspname NOT IN ('pg_catalog', 'information_schema') "

static enum cleave_status read_extras(struct cleave__load *load, struct cleave_error *error)
{
    static const char defaults[] =
        "SELECT " NAME ", a.attname, a.attgenerated, pg_get_expr(d.adbin, d.adrelid) FROM "
        "pg_attrdef d JOIN pg_class c ON c.oid = d.adrelid JOIN pg_attribute a ON a.attrelid = "
        "c.oid AND a.attnum = d.adnum " OURS "UNION ALL SELECT " NAME
        ", a.attname, 'i', '' FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid " OURS
        "AND a.attidentity <> '' AND NOT a.attisdropped ORDER BY 1, 2";
    static const char extras[] =
        "SELECT " NAME ", 'c', k.conname, pg_get_constraintdef(k.oid) FROM pg_constraint k JOIN "
        "pg_class c ON c.oid = k.conrelid " OURS
        "AND k.contype IN ('c', 'x') UNION ALL SELECT " NAME
        ", 'i', x.relname, pg_get_indexdef(x.oid) FROM pg_index i JOIN pg_class c ON c.oid = "
        "i.indrelid JOIN pg_class x ON x.oid = i.indexrelid " OURS
        "AND i.indisvalid AND NOT (i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL) AND "
        "NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.conrelid = "
        "c.oid) ORDER BY 1, 2, 3";
    static const char collations[] =
        "SELECT " NAME ", a.attname, quote_ident(s.nspname) || '.' || quote_ident(o.collname) FROM "
        "pg_attribute a JOIN pg_type t ON t.oid = a.atttypid JOIN pg_collation o ON o.oid = "
        "a.attcollation JOIN pg_namespace s ON s.oid = o.collnamespace JOIN pg_class c ON c.oid = "
        "a.attrelid " OURS
        "AND a.attnum > 0 AND NOT a.attisdropped AND a.attcollation <> t.typcollation ORDER BY 1, "
        "2";
    static const char inherited[] =
        "SELECT " NAME ", i.inhparent::regclass FROM pg_inherits i JOIN pg_class c ON c.oid = "
        "i.inhrelid " OURS "ORDER BY 1, 2";
    enum cleave_status status = cleave__load_query(load, inherited, refuse_inherited, load, error);
    if (!status)
        status = cleave__load_query(load, collations, take_collation, load, error);
    if (!status)
        status = cleave__load_query(load, defaults, take_default, load, error);
    return status ? status : cleave__load_query(load, extras, take_extra, load, error);
}

/* Which columns rows have, and which of them decide where they go. */
static enum cleave_status prepare_rows(struct cleave__load *load, struct cleave__load_table *table,
                                       struct cleave_error *error)
{
    const struct cleave_table_index *index = &load->lookup->tables[table->lookup_table];
    table->filled = cleave__arena_array(&load->arena, table->column_count, sizeof *table->filled);
    table->keys = cleave__arena_array(&load->arena, table->column_count, sizeof *table->keys);
    table->shard_rows =
        cleave__arena_zalloc(&load->arena, (load->lookup->shards + 1) * sizeof *table->shard_rows);
    if (!table->filled || !table->keys || !table->shard_rows)
        return cleave__load_no_memory(error);
    for (uint32_t c = 0; c < table->column_count; c++) {
        uint32_t known = table->columns[c].lookup_column;
        bool reads = known == index->key_column || (index->twice && known == index->second_column);
        for (uint32_t g = 0; g < index->exceptions.group_count; g++) {
            for (uint32_t i = 0; i < index->exceptions.groups[g].width; i++)
                reads = reads || index->exceptions.groups[g].column[i] == known;
        }
        if (table->columns[c].generated && reads && !index->replicated)
            return cleave_error_set(error, CLEAVE_UNSUPPORTED,
                                    "%.150s.%.100s decides where rows go, but it is generated",
                                    table->source->name, table->columns[c].name);
        if (table->columns[c].generated)
            continue;
        if (reads && !index->replicated)
            table->keys[table->key_count++] = table->filled_count;
        table->filled[table->filled_count++] = c;
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__load_tables(struct cleave__load *load, struct cleave_error *error)
{
    enum cleave_status status = match_tables(load, error);
    if (!status && load->ops == &cleave__postgres)
        status = cleave__load_objects(load, error);
    if (!status && load->ops == &cleave__postgres)
        status = read_extras(load, error);
    for (uint32_t t = 0; !status && t < load->table_count; t++)
        status = prepare_rows(load, &load->tables[t], error);
    return status;
}
