/* The schema of an SQLite file, from its pragmas. */
#include <stdlib.h>
#include <string.h>

#include "tables/load/inside.h"
#include "tables/source/schema_build.h"

struct reading {
    struct cleave_build build;
    struct cleave_build_key key; /* of the rows that are being read */
    char last[200];              /* table and name of that key */
    uint32_t table;
    uint32_t columns[CLEAVE_KEY_COLUMNS_MAX];
    const char *targets[CLEAVE_KEY_COLUMNS_MAX];
};

static enum cleave_status no_memory(struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "SQLite's schema: out of memory");
}

static enum cleave_status take_view(void *context, uint32_t count, const char *const *values,
                                    struct cleave_error *error)
{
    struct reading *r = context;
    uint32_t table;
    (void)count;
    enum cleave_status status = cleave__build_table(&r->build, values[0], 0, &table, error);
    if (!status && !(r->build.tables.data[table].view = cleave__build_string(&r->build, "")))
        status = no_memory(error);
    return status;
}

/* table, column, type, not null, default, hidden, place in the primary key */
static enum cleave_status take_column(void *context, uint32_t count, const char *const *values,
                                      struct cleave_error *error)
{
    struct reading *r = context;
    (void)count;
    uint32_t table = cleave__build_find(&r->build, values[0]);
    enum cleave_status status = CLEAVE_OK;
    if (table == CLEAVE_ABSENT)
        status = cleave__build_table(&r->build, values[0], 0, &table, error);
    const char *type = *values[2] ? values[2] : "text";
    struct cleave_build_column column = {
        .name = values[1],
        .type_name = type,
        .type = cleave__type_of_name(type),
        .fallback = strcmp(values[5], "0") ? CLEAVE_DEFAULT_GENERATED
                    : values[4]            ? CLEAVE_DEFAULT_VALUE
                                           : CLEAVE_DEFAULT_NONE,
        .not_null = strcmp(values[3], "0") != 0 || strcmp(values[6], "0") != 0,
    };
    return status ? status : cleave__build_column(&r->build, table, &column, 0, error);
}

static enum cleave_status end_key(struct reading *r, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    if (r->key.count)
        status = cleave__build_key(&r->build, r->table, &r->key, error);
    r->key = (struct cleave_build_key){.target_table = CLEAVE_ABSENT};
    return status;
}

/* table, key, kind (p, u, f), column, target table, target column; sorted so that a key's columns
 * follow each other in order */
static enum cleave_status take_key(void *context, uint32_t count, const char *const *values,
                                   struct cleave_error *error)
{
    struct reading *r = context;
    char now[200];
    (void)count;
    snprintf(now, sizeof now, "%s/%s/%s", values[2], values[1], values[0]);
    enum cleave_status status = CLEAVE_OK;
    if (strcmp(now, r->last))
        status = end_key(r, error);
    snprintf(r->last, sizeof r->last, "%s", now);
    r->table = cleave__build_find(&r->build, values[0]);
    if (status || r->table == CLEAVE_ABSENT || !values[3])
        return status;
    uint32_t column = cleave__build_find_column(&r->build.tables.data[r->table], values[3]);
    if (column == CLEAVE_ABSENT || r->key.count == CLEAVE_KEY_COLUMNS_MAX)
        return CLEAVE_OK;
    r->key.kind = *values[2] == 'p'   ? CLEAVE_KEY_PRIMARY
                  : *values[2] == 'u' ? CLEAVE_KEY_UNIQUE
                                      : CLEAVE_KEY_FOREIGN;
    r->key.columns = r->columns;
    r->columns[r->key.count++] = column;
    if (r->key.kind != CLEAVE_KEY_FOREIGN)
        return CLEAVE_OK;
    r->key.target = cleave__build_string(&r->build, values[4]);
    r->key.target_names = r->targets;
    if (!r->key.target)
        return no_memory(error);
    if (values[5]) { /* else the target's primary key */
        r->targets[r->key.target_count++] = cleave__build_string(&r->build, values[5]);
        if (!r->targets[r->key.target_count - 1])
            return no_memory(error);
    }
    return CLEAVE_OK;
}

#define OURS(alias)                                                                                \
    alias ".type = 'table' AND " alias ".name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND " alias        \
          ".name NOT LIKE 'cleave\\_%' ESCAPE '\\' "

enum cleave_status cleave__load_source_sqlite(struct cleave__load *load, struct cleave_error *error)
{
    static const char views[] = "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name";
    static const char columns[] =
        "SELECT m.name, c.name, c.type, c.\"notnull\", c.dflt_value, c.hidden, c.pk FROM "
        "sqlite_schema m, pragma_table_xinfo(m.name) c WHERE " OURS("m") "AND c.hidden <> 1 "
                                                                         "ORDER BY m.name, c.cid";
    static const char keys[] =
        "SELECT * FROM (SELECT m.name AS t, '' AS k, 'p' AS kind, c.name AS col, NULL, NULL, c.pk "
        "AS at FROM sqlite_schema m, pragma_table_info(m.name) c WHERE " OURS(
            "m") "AND c.pk > 0 "
                 "UNION ALL SELECT m.name, i.name, 'u', x.name, NULL, NULL, x.seqno FROM "
                 "sqlite_schema m, pragma_index_list(m.name) i, pragma_index_info(i.name) x "
                 "WHERE " OURS("m") "AND i.\"unique\" AND NOT i.partial AND i.origin <> 'pk' AND "
                                    "NOT EXISTS (SELECT 1 FROM pragma_index_info(i.name) e WHERE "
                                    "e.name IS NULL) "
                                    "UNION ALL SELECT m.name, f.id, 'f', f.\"from\", f.\"table\", "
                                    "f.\"to\", f.seq FROM sqlite_schema m, "
                                    "pragma_foreign_key_list(m.name) f WHERE " OURS(
                                        "m") ") ORDER BY kind, t, k, at";
    struct reading r = {.key.target_table = CLEAVE_ABSENT};
    enum cleave_status status = cleave__build_init(&r.build, load->shown, error);
    if (!status)
        status = cleave__load_query(load, views, take_view, &r, error);
    if (!status)
        status = cleave__load_query(load, columns, take_column, &r, error);
    if (!status)
        status = cleave__load_query(load, keys, take_key, &r, error);
    if (!status)
        status = end_key(&r, error);
    if (!status && r.build.tables.count == 0)
        status = cleave_error_set(error, CLEAVE_BAD_INPUT, "%.300s: it has no tables", load->shown);
    if (!status)
        status = cleave__build_finish(&r.build, &load->owned, error);
    cleave__build_free(&r.build);
    return status;
}
