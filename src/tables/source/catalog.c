/* The schema of a live PostgreSQL database (12 or later), its sizes and statistics, through libpq.
 *
 * One read-only transaction. The same builder takes it as takes DDL, so that a database and its
 * dump give the same schema: partitions folded into their topmost parent, keys of partitions and
 * partial or expression indexes left out, what belongs to an extension left out. */
#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

#include "tables/source/schema_build.h"
#include "tables/source/sizes.h"

struct catalog {
    PGconn *connection;
    struct cleave_build build;
    struct cleave_intern oids;      /* text of the table's oid */
    CLEAVE_VECTOR(uint32_t) tables; /* by id in oids: table of the build */
    struct cleave_arena scratch;    /* of one row */
    struct cleave_stats_batch *batch;
    char origin[200];
    struct cleave_error *error;
};

#define OURS                                                                                       \
    " n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'"   \
    " AND c.relpersistence <> 't'"                                                                 \
    " AND c.relname !~ '^cleave_(decisions|loads|moves|plan|shard|incoming_[0-9]+)$'"              \
    " AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass"              \
    " AND d.objid = c.oid AND d.deptype = 'e') "
#define NAMES(list, relation, most)                                                                \
    "(SELECT array_agg(a.attname::text ORDER BY u.at) FROM unnest(" list                           \
    ") WITH ORDINALITY u(number, at) JOIN pg_attribute a ON a.attrelid = " relation                \
    " AND a.attnum = u.number WHERE u.at <= " most ")"

static const char tables_query[] =
    "SELECT c.oid, n.nspname, c.relname,"
    " CASE WHEN c.relispartition THEN pg_partition_root(c.oid)::oid END,"
    " CASE WHEN c.relkind = 'v' THEN pg_get_viewdef(c.oid) END"
    " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND" OURS
    "ORDER BY c.relispartition, n.nspname COLLATE \"C\", c.relname COLLATE \"C\"";

/* A domain's base type, constraints and default hold for the column. */
static const char columns_query[] =
    "WITH RECURSIVE base AS ("
    " SELECT oid, oid AS root, typtype, typbasetype, typnotnull, typdefault IS NOT NULL AS filled"
    " FROM pg_type UNION ALL"
    " SELECT b.oid, t.oid, t.typtype, t.typbasetype, b.typnotnull OR t.typnotnull,"
    " b.filled OR t.typdefault IS NOT NULL"
    " FROM base b JOIN pg_type t ON b.typtype = 'd' AND t.oid = b.typbasetype)"
    "SELECT c.oid, a.attname, format_type(a.atttypid, a.atttypmod), format_type(b.root, NULL),"
    " a.attnotnull OR (t.typtype = 'd' AND b.typnotnull),"
    " CASE WHEN a.attgenerated <> '' THEN 'g' WHEN a.attidentity <> '' THEN 'i'"
    " WHEN a.atthasdef OR (t.typtype = 'd' AND b.filled) THEN 'd' ELSE '' END"
    " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid"
    " JOIN base b ON b.oid = a.atttypid AND b.typtype <> 'd'"
    " WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition"
    " AND a.attnum > 0 AND NOT a.attisdropped AND" OURS "ORDER BY c.oid, a.attnum";

static const char keys_query[] =
    "SELECT c.oid, k.contype, k.conname, " NAMES("k.conkey", "c.oid", "32") ", k.confrelid, " NAMES(
        "k.confkey", "k.confrelid",
        "32") " FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid"
              " JOIN pg_namespace n ON n.oid = c.relnamespace"
              " WHERE k.contype IN ('p', 'u', 'f') AND NOT c.relispartition AND k.conparentid = 0 "
              "AND" OURS "UNION ALL "
              "SELECT c.oid, 'u', x.relname, " NAMES(
                  "i.indkey::int2[]", "c.oid",
                  "i.indnkeyatts") ", 0, NULL"
                                   " FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN "
                                   "pg_class x ON x.oid = i.indexrelid"
                                   " JOIN pg_namespace n ON n.oid = c.relnamespace"
                                   " WHERE i.indisunique AND i.indpred IS NULL AND i.indexprs IS "
                                   "NULL AND i.indisvalid"
                                   " AND NOT c.relispartition AND c.relkind IN ('r', 'p', 'm')"
                                   " AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid "
                                   "= i.indexrelid"
                                   " AND k.contype IN ('p', 'u') AND k.conrelid = c.oid) AND" OURS
                                   "ORDER BY 1, 2, 3";

/* docs/sizes.md gives the same query for psql. */
static const char stats_query[] =
    "SELECT n.nspname, c.relname, t.reltuples, t.relpages, s.attname, s.inherited, s.null_frac,"
    " s.avg_width, s.n_distinct, s.most_common_vals::text, s.most_common_freqs::text,"
    " s.histogram_bounds::text"
    " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " CROSS JOIN LATERAL (SELECT sum(greatest(l.reltuples, 0)) AS reltuples,"
    " sum(l.relpages) AS relpages FROM pg_class l WHERE l.oid = c.oid AND c.relkind <> 'p'"
    " OR c.relkind = 'p' AND l.oid IN (SELECT relid FROM pg_partition_tree(c.oid)"
    " WHERE isleaf)) t"
    " LEFT JOIN pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname"
    " AND s.inherited = (c.relkind = 'p')"
    " WHERE c.relkind IN ('r', 'p', 'm', 'f') AND NOT c.relispartition AND" OURS
    "ORDER BY 1, 2, s.attname";

/* libpq's messages span lines and end in a newline. */
static enum cleave_status refused(struct catalog *catalog, const char *message)
{
    char line[300];
    size_t used = 0;
    for (; *message && used + 1 < sizeof line; message++) {
        char c = *message == '\n' || *message == '\t' ? ' ' : *message;
        if (c != ' ' || (used && line[used - 1] != ' '))
            line[used++] = c;
    }
    while (used && line[used - 1] == ' ')
        used--;
    line[used] = 0;
    return cleave_error_set(catalog->error, CLEAVE_IO, "%s: %s", catalog->origin,
                            used ? line : "the server gave no reason");
}

static enum cleave_status no_memory(struct catalog *catalog)
{
    return cleave_error_set(catalog->error, CLEAVE_NO_MEMORY, "%s: out of memory", catalog->origin);
}

typedef enum cleave_status (*take_row)(struct catalog *catalog, const PGresult *result);

/* Runs a query, row by row as they arrive. */
static enum cleave_status run(struct catalog *catalog, const char *query, take_row take)
{
    PGresult *result;
    enum cleave_status status = CLEAVE_OK;
    if (!PQsendQuery(catalog->connection, query))
        return refused(catalog, PQerrorMessage(catalog->connection));
    PQsetSingleRowMode(catalog->connection);
    /* All results must be read even after an error. */
    while ((result = PQgetResult(catalog->connection))) {
        ExecStatusType kind = PQresultStatus(result);
        if (!status && kind == PGRES_SINGLE_TUPLE)
            status = take ? take(catalog, result) : CLEAVE_OK;
        else if (!status && kind != PGRES_TUPLES_OK && kind != PGRES_COMMAND_OK)
            status = refused(catalog, PQresultErrorMessage(result));
        PQclear(result);
    }
    return status;
}

static const char *value(const PGresult *result, int column)
{
    return PQgetisnull(result, 0, column) ? NULL : PQgetvalue(result, 0, column);
}

/* The table of an oid, or CLEAVE_ABSENT: made since, or not ours. */
static uint32_t table_of(const struct catalog *catalog, const char *oid)
{
    uint32_t id = oid ? cleave__intern_find(&catalog->oids, oid, strlen(oid)) : CLEAVE_INTERN_NONE;
    return id < catalog->tables.count ? catalog->tables.data[id] : CLEAVE_ABSENT;
}

static enum cleave_status take_table(struct catalog *catalog, const PGresult *result)
{
    const char *oid = value(result, 0), *schema = value(result, 1), *name = value(result, 2);
    const char *view = value(result, 4);
    struct cleave_build *build = &catalog->build;
    char full[300];
    uint32_t table;
    if (strcmp(schema, "public") == 0)
        snprintf(full, sizeof full, "%s", name);
    else
        snprintf(full, sizeof full, "%s.%s", schema, name);
    enum cleave_status status = cleave__build_table(build, full, 0, &table, catalog->error);
    if (status)
        return status;
    uint32_t id = cleave__intern_add(&catalog->oids, oid, strlen(oid));
    if (id == CLEAVE_INTERN_NONE || !CLEAVE_PUSH(&catalog->tables, table))
        return no_memory(catalog);
    build->tables.data[table].folded_into = table_of(catalog, value(result, 3));
    if (view) {
        size_t length = strlen(view);
        while (length && strchr("; \n", view[length - 1]))
            length--;
        build->tables.data[table].view = cleave__arena_copy(&build->schema->arena, view, length);
        if (!build->tables.data[table].view)
            return no_memory(catalog);
    }
    return CLEAVE_OK;
}

static const char *without_public(const char *type)
{
    return strncmp(type, "public.", 7) == 0 ? type + 7 : type;
}

static enum cleave_status take_column(struct catalog *catalog, const PGresult *result)
{
    uint32_t table = table_of(catalog, value(result, 0));
    const char *base = value(result, 3), *fallback = value(result, 5);
    if (table == CLEAVE_ABSENT)
        return CLEAVE_OK;
    struct cleave_build_column column = {
        .name = value(result, 1),
        .type_name = without_public(value(result, 2)),
        .type = cleave__type_of_name(base),
        .not_null = *value(result, 4) == 't',
        .fallback = *fallback == 'd'   ? CLEAVE_DEFAULT_VALUE
                    : *fallback == 'i' ? CLEAVE_DEFAULT_IDENTITY
                    : *fallback == 'g' ? CLEAVE_DEFAULT_GENERATED
                                       : CLEAVE_DEFAULT_NONE,
    };
    return cleave__build_column(&catalog->build, table, &column, 0, catalog->error);
}

/* An array of column names -> NUL-terminated names in the scratch arena. */
static bool read_names(struct catalog *catalog, const char *array, const char **out,
                       uint32_t *count)
{
    struct cleave_text *elements;
    size_t most;
    if (!array || !cleave__sizes_array(array, strlen(array), &catalog->scratch, &elements, &most) ||
        most > CLEAVE_KEY_COLUMNS_MAX)
        return false;
    for (size_t i = 0; i < most; i++) {
        out[i] = elements[i].bytes
                     ? cleave__arena_copy(&catalog->scratch, elements[i].bytes, elements[i].length)
                     : NULL;
        if (!out[i])
            return false;
    }
    *count = (uint32_t)most;
    return true;
}

static enum cleave_status take_key(struct catalog *catalog, const PGresult *result)
{
    struct cleave_build *build = &catalog->build;
    const char *names[CLEAVE_KEY_COLUMNS_MAX], *targets[CLEAVE_KEY_COLUMNS_MAX];
    uint32_t columns[CLEAVE_KEY_COLUMNS_MAX];
    uint32_t table = table_of(catalog, value(result, 0));
    char kind = *value(result, 1);
    if (table == CLEAVE_ABSENT)
        return CLEAVE_OK;
    struct cleave_build_key key = {
        .kind = kind == 'p'   ? CLEAVE_KEY_PRIMARY
                : kind == 'u' ? CLEAVE_KEY_UNIQUE
                              : CLEAVE_KEY_FOREIGN,
        .name = value(result, 2),
        .columns = columns,
        .target_table = CLEAVE_ABSENT,
    };
    struct cleave_arena_mark mark = cleave__arena_mark(&catalog->scratch);
    if (!read_names(catalog, value(result, 3), names, &key.count))
        return no_memory(catalog);
    for (uint32_t i = 0; i < key.count; i++) {
        columns[i] = cleave__build_find_column(&build->tables.data[table], names[i]);
        if (columns[i] == CLEAVE_ABSENT)
            return CLEAVE_OK; /* a system column */
    }
    if (kind == 'f') {
        key.target_table = table_of(catalog, value(result, 4));
        if (key.target_table == CLEAVE_ABSENT)
            return CLEAVE_OK; /* belongs to an extension */
        if (!read_names(catalog, value(result, 5), targets, &key.target_count))
            return no_memory(catalog);
        key.target = build->tables.data[key.target_table].name;
        key.target_names = targets;
    }
    enum cleave_status status = cleave__build_key(build, table, &key, catalog->error);
    cleave__arena_rewind(&catalog->scratch, mark);
    return status;
}

static struct cleave_text text_of(const PGresult *result, int column)
{
    if (PQgetisnull(result, 0, column))
        return (struct cleave_text){0};
    return (struct cleave_text){PQgetvalue(result, 0, column),
                                (size_t)PQgetlength(result, 0, column)};
}

static enum cleave_status take_stats(struct catalog *catalog, const PGresult *result)
{
    struct cleave_stats_row row = {
        .schema = text_of(result, 0),
        .table = text_of(result, 1),
        .reltuples = text_of(result, 2),
        .relpages = text_of(result, 3),
        .column = text_of(result, 4),
        .inherited = text_of(result, 5),
        .null_frac = text_of(result, 6),
        .avg_width = text_of(result, 7),
        .n_distinct = text_of(result, 8),
        .most_common_vals = text_of(result, 9),
        .most_common_freqs = text_of(result, 10),
        .histogram_bounds = text_of(result, 11),
    };
    return cleave__stats_add(catalog->batch, 0, &row, catalog->error);
}

static void ignore_notice(void *context, const char *message)
{
    (void)context;
    (void)message;
}

static enum cleave_status open_connection(struct catalog *catalog, const char *connection)
{
    /* What the string itself says comes last and wins. */
    const char *const keywords[] = {"fallback_application_name", "connect_timeout",
                                    "client_encoding", "dbname", NULL};
    const char *const values[] = {"cleave", "10", "UTF8", connection, NULL};
    catalog->connection = PQconnectdbParams(keywords, values, 1);
    if (!catalog->connection)
        return no_memory(catalog);
    PQsetNoticeProcessor(catalog->connection, ignore_notice, NULL);
    if (PQstatus(catalog->connection) != CONNECTION_OK)
        return refused(catalog, PQerrorMessage(catalog->connection));
    const char *database = PQdb(catalog->connection);
    snprintf(catalog->origin, sizeof catalog->origin, "database \"%.100s\"",
             database ? database : "");
    if (PQserverVersion(catalog->connection) < 120000)
        return cleave_error_set(catalog->error, CLEAVE_UNSUPPORTED,
                                "%s: the server is older than PostgreSQL 12; give a dump of its "
                                "schema instead",
                                catalog->origin);
    return CLEAVE_OK;
}

static enum cleave_status read_schema(struct catalog *catalog, const char *connection,
                                      struct cleave_schema **out)
{
    static const char *const prepare[] = {
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        "SET LOCAL search_path = pg_catalog",
        "SET LOCAL datestyle = 'ISO'",
        "SET LOCAL timezone = 'UTC'",
        /* A large catalog takes its time; a limit that the URL asks for stays. */
        ("SELECT set_config(name, '0', true) FROM pg_settings WHERE name = 'statement_timeout' AND "
         "source <> 'client'"),
    };
    enum cleave_status status = open_connection(catalog, connection);
    for (size_t i = 0; !status && i < sizeof prepare / sizeof *prepare; i++)
        status = run(catalog, prepare[i], NULL);
    if (!status)
        status = cleave__build_init(&catalog->build, catalog->origin, catalog->error);
    if (!status)
        status = run(catalog, tables_query, take_table);
    if (!status)
        status = run(catalog, columns_query, take_column);
    if (!status)
        status = run(catalog, keys_query, take_key);
    if (!status && catalog->build.tables.count == 0)
        status = cleave_error_set(catalog->error, CLEAVE_BAD_INPUT,
                                  "%s: it has no tables that this user can see", catalog->origin);
    struct cleave_schema *schema;
    if (!status)
        status = cleave__build_finish(&catalog->build, &schema, catalog->error);
    if (status)
        return status;
    struct cleave_stats_batch batch = {.schema = schema, .origin = catalog->origin};
    catalog->batch = &batch;
    status = run(catalog, stats_query, take_stats);
    if (!status)
        cleave__stats_apply(&batch);
    cleave__stats_free(&batch);
    if (status)
        cleave__schema_free(schema);
    else
        *out = schema;
    return status;
}

enum cleave_status cleave__schema_read_catalog(const char *connection, struct cleave_schema **out,
                                               struct cleave_error *error)
{
    struct catalog catalog = {.error = error, .origin = "PostgreSQL"};
    enum cleave_status status = read_schema(&catalog, connection, out);
    if (catalog.connection)
        PQfinish(catalog.connection);
    cleave__intern_free(&catalog.oids);
    CLEAVE_VECTOR_FREE(&catalog.tables);
    cleave__arena_free(&catalog.scratch);
    cleave__build_free(&catalog.build);
    return status;
}
