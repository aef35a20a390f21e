/* Prepared transactions, tables, and rows in bulk on SQLite.
 *
 * Rows that are filled in go to a staging table cleave_fill_N first, whose columns have no type, so
 * that each value is there as it was given. What the transaction redoes (sqlite_batch.c) is the
 * copying from there, which is where a wrong value shows: at the batch that ends it. A staging
 * table outlives a prepare, and goes when the prepared transaction is finished. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "store/sqlite.h"

#define OWN_TABLES "name LIKE 'cleave\\_%' ESCAPE '\\'"

static enum cleave_status bind_text(struct cleave__sqlite *s, sqlite3_stmt *statement, int index,
                                    const char *text, struct cleave_error *error)
{
    int code = text ? sqlite3_bind_text(statement, index, text, -1, SQLITE_TRANSIENT)
                    : sqlite3_bind_null(statement, index);
    return code ? cleave__sqlite_fail(s, code, NULL, error) : CLEAVE_OK;
}

/* Prepares a query of our own with one text bound, if there is one. */
static enum cleave_status query(struct cleave__sqlite *s, const char *text, const char *value,
                                sqlite3_stmt **out, struct cleave_error *error)
{
    enum cleave_status status = cleave__sqlite_prepare(s, text, out, NULL, error);
    if (!status && value)
        status = bind_text(s, *out, 1, value, error);
    if (status) {
        sqlite3_finalize(*out);
        *out = NULL;
    }
    return status;
}

/* SQLITE_ROW or SQLITE_DONE in `*code`. */
static enum cleave_status step(struct cleave__sqlite *s, sqlite3_stmt *statement, int *code,
                               struct cleave_error *error)
{
    *code = sqlite3_step(statement);
    return *code == SQLITE_ROW || *code == SQLITE_DONE ? CLEAVE_OK
                                                       : cleave__sqlite_fail(s, *code, NULL, error);
}

static enum cleave_status one_number(struct cleave__sqlite *s, const char *text, int64_t *out,
                                     struct cleave_error *error)
{
    sqlite3_stmt *statement = NULL;
    int code;
    enum cleave_status status = query(s, text, NULL, &statement, error);
    if (!status)
        status = step(s, statement, &code, error);
    if (!status)
        *out = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return status;
}

static enum cleave_status has_prepared(struct cleave__sqlite *s, bool *out,
                                       struct cleave_error *error)
{
    int64_t count = 0;
    enum cleave_status status = one_number(
        s, "SELECT count(*) FROM sqlite_schema WHERE name = 'cleave_prepared'", &count, error);
    *out = count > 0;
    return status;
}

enum cleave_status cleave__sqlite_store(struct cleave__sqlite *s, const char *name,
                                        struct cleave_error *error)
{
    sqlite3_stmt *insert = NULL;
    enum cleave_status status = cleave__sqlite_run(
        s,
        "CREATE TABLE IF NOT EXISTS cleave_prepared(name TEXT PRIMARY KEY, statements TEXT NOT "
        "NULL, changes INTEGER NOT NULL, undo TEXT NOT NULL)",
        error);
    if (!status)
        status = query(s, "INSERT INTO cleave_prepared VALUES (?, ?, ?, ?)", name, &insert, error);
    if (!status)
        status = bind_text(s, insert, 2, s->redo.count ? s->redo.data : "", error);
    if (!status)
        status = bind_text(s, insert, 4, s->undo.count ? s->undo.data : "", error);
    if (!status) {
        sqlite3_bind_int64(insert, 3, (sqlite3_int64)s->changes);
        int code = sqlite3_step(insert);
        if ((code & 0xff) == SQLITE_CONSTRAINT)
            status = cleave_error_set(error, CLEAVE_BAD_INPUT,
                                      "%.200s: a transaction \"%s\" is prepared already", s->shown,
                                      name);
        else if (code != SQLITE_DONE)
            status = cleave__sqlite_fail(s, code, NULL, error);
    }
    sqlite3_finalize(insert);
    return status;
}

enum cleave_status cleave__sqlite_send_finish(struct cleave_store_session *session,
                                              const char *name, bool commit,
                                              struct cleave_error *error)
{
    struct cleave__sqlite *s = cleave__sqlite_of(session);
    assert(!s->batch && !s->finishing && !s->held && !s->redo.count);
    enum cleave_status status = cleave__store_name_check(s->shown, name, error);
    if (status)
        return status;
    snprintf(s->finish_name, sizeof s->finish_name, "%s", name);
    s->finish_commits = commit;
    s->finishing = true;
    return CLEAVE_OK;
}

/* What was stored; in the scratch arena, since a table that a query has open cannot be dropped. */
struct stored {
    const char *statements, *undo;
    uint64_t changes;
};

static enum cleave_status find(struct cleave__sqlite *s, struct stored *out,
                               struct cleave_error *error)
{
    sqlite3_stmt *found = NULL;
    bool there;
    int code = SQLITE_DONE;
    enum cleave_status status = has_prepared(s, &there, error);
    if (!status && there)
        status = query(s, "SELECT statements, undo, changes FROM cleave_prepared WHERE name = ?",
                       s->finish_name, &found, error);
    if (!status && there)
        status = step(s, found, &code, error);
    if (!status && code == SQLITE_DONE) {
        status =
            cleave_error_set(error, CLEAVE_NOT_FOUND, "%.200s: no transaction \"%s\" is prepared",
                             s->shown, s->finish_name);
    } else if (!status) {
        const char *texts[2];
        for (int c = 0; c < 2; c++) {
            const char *text = (const char *)sqlite3_column_text(found, c);
            texts[c] = text ? cleave__arena_copy(&s->scratch, text, strlen(text)) : NULL;
        }
        *out = (struct stored){texts[0], texts[1], (uint64_t)sqlite3_column_int64(found, 2)};
        if (!texts[0] || !texts[1])
            status = cleave__sqlite_no_memory(s, error);
    }
    sqlite3_finalize(found);
    return status;
}

/* Within SQLite's transaction. */
static enum cleave_status finish(struct cleave__sqlite *s, struct cleave_error *error)
{
    struct stored stored = {0};
    sqlite3_stmt *removal = NULL;
    int code;
    enum cleave_status status = find(s, &stored, error);
    if (!status && s->finish_commits)
        status = cleave__sqlite_redo(s, stored.statements, stored.changes, error);
    if (!status)
        status = cleave__sqlite_run(s, stored.undo, error);
    if (!status)
        status =
            query(s, "DELETE FROM cleave_prepared WHERE name = ?", s->finish_name, &removal, error);
    if (!status)
        status = step(s, removal, &code, error);
    sqlite3_finalize(removal);
    return status ? status : cleave__sqlite_run(s, "COMMIT", error);
}

enum cleave_status cleave__sqlite_receive_finish(struct cleave_store_session *session,
                                                 struct cleave_error *error)
{
    struct cleave__sqlite *s = cleave__sqlite_of(session);
    assert(s->finishing);
    s->finishing = false;
    enum cleave_status status = cleave__sqlite_enter(s, true, error);
    if (!status)
        status = finish(s, error);
    cleave__arena_rewind(&s->scratch, (struct cleave_arena_mark){0});
    if (status)
        cleave__sqlite_forget(s);
    return status;
}

/* Pushes the cell's copy. */
static enum cleave_status push_cell(struct cleave__sqlite *s, sqlite3_stmt *statement, int column,
                                    struct cleave_arena *arena, struct cleave_error *error)
{
    const char *text;
    enum cleave_status status = cleave__sqlite_cell(s, statement, column, &text, error);
    if (status)
        return status;
    char *copy = cleave__arena_copy(arena, text ? text : "", text ? strlen(text) : 0);
    return copy && CLEAVE_PUSH(&s->cells, copy) ? CLEAVE_OK : cleave__sqlite_no_memory(s, error);
}

enum cleave_status cleave__sqlite_prepared(struct cleave_store_session *session, const char *prefix,
                                           struct cleave_arena *arena, const char *const **names,
                                           uint32_t *count, struct cleave_error *error)
{
    struct cleave__sqlite *s = cleave__sqlite_of(session);
    sqlite3_stmt *statement = NULL;
    bool there;
    int code = SQLITE_DONE;
    s->cells.count = 0;
    enum cleave_status status = has_prepared(s, &there, error);
    if (!status && there)
        status = query(s,
                       "SELECT name FROM cleave_prepared WHERE substr(name, 1, length(?1)) = ?1 "
                       "ORDER BY name",
                       prefix, &statement, error);
    if (!status && there)
        status = step(s, statement, &code, error);
    while (!status && code == SQLITE_ROW) {
        status = push_cell(s, statement, 0, arena, error);
        if (!status)
            status = step(s, statement, &code, error);
    }
    sqlite3_finalize(statement);
    if (status)
        return status;
    const char **list = cleave__arena_array(arena, s->cells.count, sizeof *list);
    if (!list)
        return cleave__sqlite_no_memory(s, error);
    if (s->cells.count)
        memcpy(list, s->cells.data, s->cells.count * sizeof *list);
    *names = list;
    *count = (uint32_t)s->cells.count;
    return CLEAVE_OK;
}

/* From rows (table, column, type), sorted by table. */
static enum cleave_status gather_tables(struct cleave__sqlite *s, struct cleave_arena *arena,
                                        const struct cleave_store_table **tables, uint32_t *count,
                                        struct cleave_error *error)
{
    size_t rows = s->cells.count / 3;
    struct cleave_store_table *list = cleave__arena_array(arena, rows, sizeof *list);
    const char **columns = cleave__arena_array(arena, rows, sizeof *columns);
    const char **types = cleave__arena_array(arena, rows, sizeof *types);
    if (!list || !columns || !types)
        return cleave__sqlite_no_memory(s, error);
    uint32_t n = 0;
    for (size_t r = 0; r < rows; r++) {
        const char *const *row = &s->cells.data[3 * r];
        if (!n || strcmp(list[n - 1].name, row[0]))
            list[n++] = (struct cleave_store_table){row[0], 0, &columns[r], &types[r]};
        columns[r] = row[1];
        types[r] = row[2];
        list[n - 1].column_count++;
    }
    *tables = list;
    *count = n;
    return CLEAVE_OK;
}

enum cleave_status cleave__sqlite_tables(struct cleave_store_session *session,
                                         struct cleave_arena *arena,
                                         const struct cleave_store_table **tables, uint32_t *count,
                                         struct cleave_error *error)
{
    struct cleave__sqlite *s = cleave__sqlite_of(session);
    sqlite3_stmt *statement = NULL;
    int code;
    s->cells.count = 0;
    enum cleave_status status = cleave__sqlite_enter(s, s->redo.count > 0, error);
    if (!status)
        status = query(s,
                       "SELECT m.name, c.name, c.type FROM sqlite_schema m, "
                       "pragma_table_xinfo(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE "
                       "'sqlite\\_%' ESCAPE '\\' AND NOT m." OWN_TABLES
                       " AND c.hidden <> 1 ORDER BY m.name, c.cid",
                       NULL, &statement, error);
    if (!status)
        status = step(s, statement, &code, error);
    while (!status && code == SQLITE_ROW) {
        for (int c = 0; !status && c < 3; c++)
            status = push_cell(s, statement, c, arena, error);
        if (!status)
            status = step(s, statement, &code, error);
    }
    sqlite3_finalize(statement);
    if (!status)
        status = cleave__sqlite_leave(s, error);
    if (!status)
        status = gather_tables(s, arena, tables, count, error);
    if (status)
        cleave__sqlite_forget(s);
    return status;
}

static bool add_list(struct cleave__sqlite *s, struct cleave__text *text,
                     const char *const *columns, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *name = cleave__store_quoted(columns[i], &s->scratch);
        if (!name || !cleave__text_add(text, i ? ", " : "(") || !cleave__text_add(text, name))
            return false;
    }
    return !count || cleave__text_add(text, ")");
}

static enum cleave_status fill_failed(struct cleave__sqlite *s, enum cleave_status status)
{
    cleave__arena_rewind(&s->scratch, (struct cleave_arena_mark){0});
    if (status)
        cleave__sqlite_forget(s);
    return status;
}

enum cleave_status cleave__sqlite_fill_begin(struct cleave_store_session *session,
                                             const char *table, const char *const *columns,
                                             uint32_t count, struct cleave_error *error)
{
    struct cleave__sqlite *s = cleave__sqlite_of(session);
    assert(!s->batch && !s->fill);
    const char *name = cleave__store_quoted(table, &s->scratch);
    cleave__text_clear(&s->fill_redo);
    if (!name || !cleave__text_add(&s->fill_redo, "INSERT INTO ") ||
        !cleave__text_add(&s->fill_redo, name) ||
        !add_list(s, &s->fill_redo, columns, columns ? count : 0))
        return fill_failed(s, cleave__sqlite_no_memory(s, error));
    enum cleave_status status = CLEAVE_OK;
    if (!s->redo.count) { /* else the table may be one that the transaction has made */
        struct cleave__text probe = {0};
        sqlite3_stmt *statement = NULL;
        if (!cleave__text_add(&probe, "SELECT 1 FROM ") || !cleave__text_add(&probe, name))
            status = cleave__sqlite_no_memory(s, error);
        if (!status)
            status = cleave__sqlite_prepare(s, probe.data, &statement, NULL, error);
        sqlite3_finalize(statement);
        free(probe.data);
    }
    s->fill_columns = 0;
    return fill_failed(s, status);
}

/* The staging table, and how a row gets into it. */
static enum cleave_status fill_open(struct cleave__sqlite *s, uint32_t columns,
                                    struct cleave_error *error)
{
    struct cleave__text make = {0}, insert = {0};
    char name[40], part[24];
    int64_t number = 0;
    enum cleave_status status = CLEAVE_OK;
    if (!s->held) {
        struct cleave__text redo = s->redo; /* not to be run now */
        s->redo = (struct cleave__text){0};
        status = cleave__sqlite_enter(s, true, error);
        s->redo = redo;
        s->held = !status;
    }
    if (!status)
        status = one_number(s,
                            "SELECT coalesce(max(CAST(substr(name, 13) AS INTEGER)), 0) + 1 FROM "
                            "sqlite_schema WHERE name GLOB 'cleave_fill_*'",
                            &number, error);
    snprintf(name, sizeof name, "cleave_fill_%lld", (long long)number);
    bool added = cleave__text_add(&make, "CREATE TABLE ") && cleave__text_add(&make, name) &&
                 cleave__text_add(&insert, "INSERT INTO ") && cleave__text_add(&insert, name) &&
                 cleave__text_add(&s->fill_redo, " SELECT * FROM ") &&
                 cleave__text_add(&s->fill_redo, name) && cleave__text_add(&s->fill_redo, "\n;\n");
    for (uint32_t c = 0; added && c < columns; c++) {
        snprintf(part, sizeof part, "%sc%u", c ? ", " : "(", c);
        added =
            cleave__text_add(&make, part) && cleave__text_add(&insert, c ? ", ?" : " VALUES (?");
    }
    added = added && cleave__text_add(&make, ")") && cleave__text_add(&insert, ")") &&
            cleave__text_add(&s->undo, "DROP TABLE ") && cleave__text_add(&s->undo, name) &&
            cleave__text_add(&s->undo, ";");
    if (!status && !added)
        status = cleave__sqlite_no_memory(s, error);
    if (!status)
        status = cleave__sqlite_run(s, make.data, error);
    if (!status)
        status = cleave__sqlite_prepare(s, insert.data, &s->fill, NULL, error);
    free(make.data);
    free(insert.data);
    s->fill_columns = columns;
    return status;
}

enum cleave_status cleave__sqlite_fill_row(struct cleave_store_session *session,
                                           const char *const *values, uint32_t count,
                                           struct cleave_error *error)
{
    struct cleave__sqlite *s = cleave__sqlite_of(session);
    enum cleave_status status = s->fill ? CLEAVE_OK : fill_open(s, count, error);
    assert(status || count == s->fill_columns);
    for (uint32_t c = 0; !status && c < count; c++) {
        int code = values[c] ? sqlite3_bind_text(s->fill, (int)c + 1, values[c], -1, SQLITE_STATIC)
                             : sqlite3_bind_null(s->fill, (int)c + 1);
        if (code)
            status = cleave__sqlite_fail(s, code, NULL, error);
    }
    if (!status && sqlite3_step(s->fill) != SQLITE_DONE)
        status = cleave__sqlite_fail(s, sqlite3_errcode(s->db), NULL, error);
    if (!status) {
        sqlite3_reset(s->fill);
        s->changes++;
    }
    return fill_failed(s, status);
}

enum cleave_status cleave__sqlite_fill_end(struct cleave_store_session *session,
                                           struct cleave_error *error)
{
    struct cleave__sqlite *s = cleave__sqlite_of(session);
    if (!s->fill)
        return CLEAVE_OK; /* of no rows */
    sqlite3_finalize(s->fill);
    s->fill = NULL;
    return fill_failed(s, cleave__text_add(&s->redo, s->fill_redo.data)
                              ? CLEAVE_OK
                              : cleave__sqlite_no_memory(s, error));
}

enum cleave_status cleave__sqlite_scan(struct cleave_store_session *session, const char *text,
                                       enum cleave_status (*each)(void *context, uint32_t columns,
                                                                  const char *const *values,
                                                                  struct cleave_error *error),
                                       void *context, struct cleave_error *error)
{
    struct cleave__sqlite *s = cleave__sqlite_of(session);
    sqlite3_stmt *statement = NULL;
    assert(!s->batch && !s->fill);
    enum cleave_status status = cleave__sqlite_enter(s, s->redo.count > 0, error);
    if (!status)
        status = cleave__sqlite_prepare(s, text, &statement, NULL, error);
    uint32_t columns = status ? 0 : (uint32_t)sqlite3_column_count(statement);
    const char **values = cleave__arena_array(&s->scratch, columns, sizeof *values);
    struct cleave_arena_mark mark = cleave__arena_mark(&s->scratch);
    if (!status && !values)
        status = cleave__sqlite_no_memory(s, error);
    enum cleave_status stopped = CLEAVE_OK;
    int code = SQLITE_DONE;
    while (!status && !stopped && statement && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (uint32_t c = 0; !status && c < columns; c++)
            status = cleave__sqlite_cell(s, statement, (int)c, &values[c], error);
        if (!status)
            stopped = each(context, columns, values, error);
        cleave__arena_rewind(&s->scratch, mark);
    }
    if (!status && !stopped && code != SQLITE_DONE)
        status = cleave__sqlite_fail(s, code, text, error);
    sqlite3_finalize(statement);
    if (!status)
        status = cleave__sqlite_leave(s, stopped ? NULL : error);
    status = fill_failed(s, status);
    return stopped ? stopped : status;
}
