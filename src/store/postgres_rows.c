/* Prepared transactions, tables, and rows in bulk (COPY) on PostgreSQL. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "store/postgres.h"

enum { FILL_BYTES = 1 << 16 };

/* A query of our own with one parameter or none. */
static enum cleave_status query(struct cleave__postgres *p, const char *text, const char *parameter,
                                PGresult **out, struct cleave_error *error)
{
    PGresult *result =
        PQexecParams(p->connection, text, parameter ? 1 : 0, NULL, &parameter, NULL, NULL, 0);
    if (PQresultStatus(result) == PGRES_TUPLES_OK) {
        *out = result;
        return CLEAVE_OK;
    }
    enum cleave_status status = cleave__postgres_fail(p, result, text, error);
    PQclear(result);
    cleave__postgres_forget(p);
    return status;
}

static const char *copy_cell(const PGresult *result, int row, int column,
                             struct cleave_arena *arena)
{
    return cleave__arena_copy(arena, PQgetvalue(result, row, column),
                              (size_t)PQgetlength(result, row, column));
}

enum cleave_status cleave__postgres_prepared(struct cleave_store_session *session,
                                             const char *prefix, struct cleave_arena *arena,
                                             const char *const **names, uint32_t *count,
                                             struct cleave_error *error)
{
    struct cleave__postgres *p = cleave__postgres_of(session);
    PGresult *result;
    enum cleave_status status =
        query(p,
              "SELECT gid FROM pg_prepared_xacts WHERE database = current_database() AND "
              "starts_with(gid, $1) ORDER BY gid COLLATE \"C\"",
              prefix, &result, error);
    if (status)
        return status;
    uint32_t rows = (uint32_t)PQntuples(result);
    const char **list = cleave__arena_array(arena, rows, sizeof *list);
    bool copied = list;
    for (uint32_t r = 0; copied && r < rows; r++)
        copied = (list[r] = copy_cell(result, (int)r, 0, arena));
    PQclear(result);
    if (!copied)
        return cleave__postgres_no_memory(p, error);
    *names = list;
    *count = rows;
    return CLEAVE_OK;
}

enum cleave_status cleave__postgres_hold(struct cleave_store_session *session, const char *name,
                                         struct cleave_error *error)
{
    struct cleave__postgres *p = cleave__postgres_of(session);
    PGresult *result;
    /* A client that is gone without a word is noticed within a minute. */
    enum cleave_status status =
        cleave__postgres_run(p,
                             "SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; "
                             "SET tcp_keepalives_count = 3",
                             error);
    if (!status)
        status = query(p,
                       "SELECT pg_try_advisory_lock(h), (SELECT min(pid) FROM pg_locks WHERE "
                       "locktype = 'advisory' AND granted AND database = (SELECT oid FROM "
                       "pg_database WHERE datname = current_database()) AND objsubid = 1 AND "
                       "classid::bigint << 32 | objid::bigint = h) FROM "
                       "hashtextextended('cleave ' || $1, 0) AS h",
                       name, &result, error);
    if (status)
        return status;
    if (PQntuples(result) != 1 || *PQgetvalue(result, 0, 0) != 't')
        status = cleave_error_set(error, CLEAVE_CONFLICT,
                                  "\"%.60s\" is held by the server process %.20s of %.200s", name,
                                  PQgetvalue(result, 0, 1), p->shown);
    PQclear(result);
    return status;
}

/* Tables, partitioned ones as one, foreign ones; a row a column, and one for a table of none. */
static const char tables_query[] =
    "SELECT name, attname, type FROM (SELECT CASE n.nspname WHEN 'public' THEN '' ELSE n.nspname "
    "|| '.' END || c.relname AS name, a.attname, format_type(a.atttypid, a.atttypmod) AS type, "
    "a.attnum FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN "
    "pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped WHERE c.relkind "
    "IN ('r', 'p', 'f') AND NOT c.relispartition AND n.nspname NOT IN ('pg_catalog', "
    "'information_schema') AND n.nspname !~ '^(pg_(toast|temp)|cleave_)' AND c.relname !~ "
    "'^cleave_' AND c.relpersistence <> 't' AND NOT EXISTS (SELECT FROM pg_depend d WHERE "
    "d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')) AS found ORDER BY "
    "name COLLATE \"C\", attnum";

static bool gather_tables(const PGresult *result, struct cleave_arena *arena,
                          struct cleave_store_table **tables, uint32_t *count)
{
    uint32_t rows = (uint32_t)PQntuples(result), n = 0;
    struct cleave_store_table *list = cleave__arena_array(arena, rows, sizeof *list);
    const char **columns = cleave__arena_array(arena, rows, sizeof *columns);
    const char **types = cleave__arena_array(arena, rows, sizeof *types);
    if (!list || !columns || !types)
        return false;
    for (uint32_t r = 0; r < rows; r++) {
        if (!n || strcmp(list[n - 1].name, PQgetvalue(result, (int)r, 0))) {
            const char *name = copy_cell(result, (int)r, 0, arena);
            if (!name)
                return false;
            list[n++] = (struct cleave_store_table){name, 0, &columns[r], &types[r]};
        }
        columns[r] = copy_cell(result, (int)r, 1, arena);
        types[r] = copy_cell(result, (int)r, 2, arena);
        if (!columns[r] || !types[r])
            return false;
        list[n - 1].column_count += !PQgetisnull(result, (int)r, 1);
    }
    *tables = list;
    *count = n;
    return true;
}

enum cleave_status cleave__postgres_tables(struct cleave_store_session *session,
                                           struct cleave_arena *arena,
                                           const struct cleave_store_table **tables,
                                           uint32_t *count, struct cleave_error *error)
{
    struct cleave__postgres *p = cleave__postgres_of(session);
    PGresult *result;
    struct cleave_store_table *list;
    uint32_t found;
    enum cleave_status status = query(p, tables_query, NULL, &result, error);
    if (status)
        return status;
    bool gathered = gather_tables(result, arena, &list, &found);
    PQclear(result);
    if (!gathered)
        return cleave__postgres_no_memory(p, error);
    *tables = list;
    *count = found;
    return CLEAVE_OK;
}

static bool add(struct cleave__postgres *p, const char *bytes, size_t length)
{
    if (!CLEAVE_RESERVE(&p->rows, p->rows.count + length))
        return false;
    memcpy(p->rows.data + p->rows.count, bytes, length);
    p->rows.count += length;
    return true;
}

/* "name", or "schema"."name" of what has a dot. */
static bool add_table(struct cleave__postgres *p, const char *table, struct cleave_arena *arena)
{
    const char *dot = strchr(table, '.'), *name = dot ? dot + 1 : table;
    char *schema = dot ? cleave__arena_copy(arena, table, (size_t)(dot - table)) : NULL;
    const char *first = schema ? cleave__store_quoted(schema, arena) : "";
    const char *second = cleave__store_quoted(name, arena);
    return (schema || !dot) && first && second && add(p, first, strlen(first)) &&
           (!dot || add(p, ".", 1)) && add(p, second, strlen(second));
}

enum cleave_status cleave__postgres_fill_begin(struct cleave_store_session *session,
                                               const char *table, const char *const *columns,
                                               uint32_t count, struct cleave_error *error)
{
    struct cleave__postgres *p = cleave__postgres_of(session);
    struct cleave_arena scratch = {0};
    enum cleave_status status = CLEAVE_OK;
    assert(!p->batch && !p->finishing && !p->filling);
    p->rows.count = 0;
    bool added = add(p, "COPY ", 5) && add_table(p, table, &scratch);
    for (uint32_t i = 0; added && columns && i < count; i++) {
        const char *name = cleave__store_quoted(columns[i], &scratch);
        added = name && add(p, i ? ", " : " (", 2) && add(p, name, strlen(name));
    }
    added = added && (!columns || !count || add(p, ")", 1)) && add(p, " FROM STDIN", 12);
    if (!added)
        status = cleave__postgres_no_memory(p, error);
    if (!status && !p->open)
        status = cleave__postgres_run(p, "BEGIN", error);
    if (!status) {
        PGresult *result = PQexec(p->connection, p->rows.data);
        if (PQresultStatus(result) != PGRES_COPY_IN)
            status = cleave__postgres_fail(p, result, p->rows.data, error);
        PQclear(result);
    }
    cleave__arena_free(&scratch);
    p->rows.count = 0;
    p->open = p->filling = !status;
    if (status)
        cleave__postgres_forget(p);
    return status;
}

/* Ends the COPY; the server says now what was wrong with the rows. */
static enum cleave_status end_copy(struct cleave__postgres *p, const char *why,
                                   struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    PGresult *result;
    p->filling = false;
    p->rows.count = 0;
    if (PQputCopyEnd(p->connection, why) <= 0)
        status = cleave__postgres_fail(p, NULL, NULL, error);
    while (PQstatus(p->connection) == CONNECTION_OK && (result = PQgetResult(p->connection))) {
        if (!status && PQresultStatus(result) != PGRES_COMMAND_OK)
            status = cleave__postgres_fail(p, result, NULL, error);
        PQclear(result);
    }
    if (!status && PQstatus(p->connection) != CONNECTION_OK)
        status = cleave__postgres_fail(p, NULL, NULL, error);
    if (status)
        cleave__postgres_forget(p);
    return status;
}

static enum cleave_status put(struct cleave__postgres *p, struct cleave_error *error)
{
    int sent = PQputCopyData(p->connection, p->rows.data, (int)p->rows.count);
    p->rows.count = 0;
    if (sent > 0)
        return CLEAVE_OK;
    enum cleave_status status = end_copy(p, "stopped", error);
    return status ? status : cleave__postgres_fail(p, NULL, NULL, error);
}

static bool add_value(struct cleave__postgres *p, const char *value)
{
    if (!value)
        return add(p, "\\N", 2);
    for (;;) {
        size_t plain = strcspn(value, "\\\t\n\r");
        if (!add(p, value, plain))
            return false;
        value += plain;
        if (!*value)
            return true;
        char escaped[2] = {'\\', *value == '\t'   ? 't'
                                 : *value == '\n' ? 'n'
                                 : *value == '\r' ? 'r'
                                                  : '\\'};
        if (!add(p, escaped, 2))
            return false;
        value++;
    }
}

enum cleave_status cleave__postgres_fill_row(struct cleave_store_session *session,
                                             const char *const *values, uint32_t count,
                                             struct cleave_error *error)
{
    struct cleave__postgres *p = cleave__postgres_of(session);
    bool added = true;
    assert(p->filling);
    for (uint32_t c = 0; added && c < count; c++)
        added = (!c || add(p, "\t", 1)) && add_value(p, values[c]);
    if (!added || !add(p, "\n", 1)) {
        (void)end_copy(p, "stopped", NULL);
        cleave__postgres_forget(p);
        return cleave__postgres_no_memory(p, error);
    }
    return p->rows.count < FILL_BYTES ? CLEAVE_OK : put(p, error);
}

enum cleave_status cleave__postgres_fill_end(struct cleave_store_session *session,
                                             struct cleave_error *error)
{
    struct cleave__postgres *p = cleave__postgres_of(session);
    assert(p->filling);
    enum cleave_status status = p->rows.count ? put(p, error) : CLEAVE_OK;
    return status ? status : end_copy(p, NULL, error);
}

static enum cleave_status scan_row(const PGresult *result, const char **values, uint32_t columns,
                                   enum cleave_status (*each)(void *context, uint32_t columns,
                                                              const char *const *values,
                                                              struct cleave_error *error),
                                   void *context, struct cleave_error *error)
{
    for (uint32_t c = 0; c < columns; c++)
        values[c] = PQgetisnull(result, 0, (int)c) ? NULL : PQgetvalue(result, 0, (int)c);
    return each(context, columns, values, error);
}

/* What is still to come of a query that was stopped need not come. */
static void cancel(struct cleave__postgres *p)
{
    char why[256];
    PGcancel *request = PQgetCancel(p->connection);
    if (request)
        (void)!PQcancel(request, why, sizeof why);
    PQfreeCancel(request);
}

enum cleave_status cleave__postgres_scan(struct cleave_store_session *session, const char *text,
                                         enum cleave_status (*each)(void *context, uint32_t columns,
                                                                    const char *const *values,
                                                                    struct cleave_error *error),
                                         void *context, struct cleave_error *error)
{
    struct cleave__postgres *p = cleave__postgres_of(session);
    enum cleave_status status = CLEAVE_OK, stopped = CLEAVE_OK;
    const char **values = NULL;
    PGresult *result;
    assert(!p->batch && !p->finishing && !p->filling);
    if (!PQsendQueryParams(p->connection, text, 0, NULL, NULL, NULL, NULL, 0))
        return cleave__postgres_fail(p, NULL, NULL, error);
    PQsetSingleRowMode(p->connection);
    while (PQstatus(p->connection) == CONNECTION_OK && (result = PQgetResult(p->connection))) {
        ExecStatusType kind = PQresultStatus(result);
        uint32_t columns = (uint32_t)PQnfields(result);
        if (status || stopped) {
            PQclear(result);
            continue;
        }
        if (kind == PGRES_SINGLE_TUPLE) {
            if (!values && !(values = calloc(columns + 1, sizeof *values)))
                status = cleave__postgres_no_memory(p, error);
            else
                stopped = scan_row(result, values, columns, each, context, error);
            if (status || stopped)
                cancel(p);
        } else if (kind != PGRES_TUPLES_OK && kind != PGRES_COMMAND_OK) {
            status = cleave__postgres_fail(p, result, text, error);
        }
        PQclear(result);
    }
    free(values);
    if (!status && PQstatus(p->connection) != CONNECTION_OK)
        status = cleave__postgres_fail(p, NULL, NULL, stopped ? NULL : error);
    if (status || (stopped && PQtransactionStatus(p->connection) == PQTRANS_INERROR))
        cleave__postgres_forget(p);
    return stopped ? stopped : status;
}
