/* Batches on SQLite, by redo.
 *
 * A transaction that stays open after a batch is not in the file: its work is done for the answers
 * and undone, and its changes are kept as statements, with their parameters put in. The next batch
 * does them again first; a commit does all in one transaction of SQLite's, and a prepare puts the
 * statements into a table:
 *
 *     cleave_prepared(name, statements, changes, undo)
 *
 * from where finishing does them and removes the row in one transaction. So no session keeps the
 * file's only write lock between calls, and a batch on many files cannot end in a deadlock.
 *
 * The caller guarantees that between the first doing and the last nothing runs that conflicts with
 * it (as any coordinator with locks or an order of its own does). What the redo changes is
 * counted: another number of rows than at first is an error, and nothing is done. Functions that
 * give another value each time (CURRENT_TIMESTAMP, random()) are called again.
 *
 * Idea: logical redo logs, as in H-Store's command logging. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "store/sqlite.h"

static uint64_t total_changes(const struct cleave__sqlite *s)
{
    return (uint64_t)sqlite3_total_changes64(s->db);
}

void cleave__sqlite_forget(struct cleave__sqlite *s)
{
    sqlite3_finalize(s->fill);
    s->fill = NULL;
    if (!sqlite3_get_autocommit(s->db))
        (void)cleave__sqlite_run(s, "ROLLBACK", NULL);
    cleave__text_clear(&s->redo);
    cleave__text_clear(&s->undo);
    s->changes = 0;
    s->held = false;
}

enum cleave_status cleave__sqlite_redo(struct cleave__sqlite *s, const char *statements,
                                       uint64_t changes, struct cleave_error *error)
{
    uint64_t before = total_changes(s);
    enum cleave_status status = cleave__sqlite_run(s, statements, error);
    uint64_t done = total_changes(s) - before;
    if (!status && done != changes)
        return cleave_error_set(error, CLEAVE_CORRUPT,
                                "%.200s: work that was done before changed %" PRIu64
                                " rows, now %" PRIu64 ": something that conflicts ran in between",
                                s->shown, changes, done);
    return status;
}

enum cleave_status cleave__sqlite_enter(struct cleave__sqlite *s, bool write,
                                        struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    if (write && !s->writes) {
        assert(!s->held);
        status = cleave__sqlite_run(s, "PRAGMA journal_mode=WAL", error);
        s->writes = !status;
    }
    if (!status && !s->held)
        status = cleave__sqlite_run(s, write ? "BEGIN IMMEDIATE" : "BEGIN", error);
    if (!status && (s->held || s->redo.count))
        status = cleave__sqlite_run(s, "SAVEPOINT cleave_work", error);
    if (!status && s->redo.count)
        status = cleave__sqlite_redo(s, s->redo.data, s->changes, error);
    return status;
}

enum cleave_status cleave__sqlite_leave(struct cleave__sqlite *s, struct cleave_error *error)
{
    if (s->held)
        return cleave__sqlite_run(s, "ROLLBACK TO cleave_work; RELEASE cleave_work", error);
    return cleave__sqlite_run(s, "ROLLBACK", error);
}

static enum cleave_status bind(struct cleave__sqlite *s, sqlite3_stmt *prepared,
                               const struct cleave_store_statement *statement,
                               struct cleave_error *error)
{
    for (uint32_t p = 0; p < statement->parameter_count; p++) {
        char name[16];
        sqlite3_snprintf(sizeof name, name, "$%u", p + 1);
        int index = sqlite3_bind_parameter_index(prepared, name);
        const char *text = statement->parameters[p].text;
        int code = index && text ? sqlite3_bind_text(prepared, index, text, -1, SQLITE_STATIC) : 0;
        if (code)
            return cleave__sqlite_fail(s, code, statement->text, error);
    }
    return CLEAVE_OK;
}

static enum cleave_status take_row(struct cleave__sqlite *s, sqlite3_stmt *prepared,
                                   struct cleave_arena *arena, uint32_t columns,
                                   struct cleave_error *error)
{
    for (uint32_t c = 0; c < columns; c++) {
        const char *text;
        struct cleave_arena_mark mark = cleave__arena_mark(&s->scratch);
        enum cleave_status status = cleave__sqlite_cell(s, prepared, (int)c, &text, error);
        if (status)
            return status;
        if (text && !(text = cleave__arena_copy(arena, text, strlen(text))))
            return cleave__sqlite_no_memory(s, error);
        cleave__arena_rewind(&s->scratch, mark);
        if (!CLEAVE_PUSH(&s->cells, text))
            return cleave__sqlite_no_memory(s, error);
    }
    return CLEAVE_OK;
}

static enum cleave_status take_answer(struct cleave__sqlite *s, sqlite3_stmt *prepared,
                                      const char *statement, struct cleave_arena *arena,
                                      struct cleave_store_answer *answer,
                                      struct cleave_error *error)
{
    uint32_t columns = (uint32_t)sqlite3_column_count(prepared), rows = 0;
    uint64_t before = total_changes(s);
    int code;
    s->cells.count = 0;
    while ((code = sqlite3_step(prepared)) == SQLITE_ROW) {
        enum cleave_status status = take_row(s, prepared, arena, columns, error);
        if (status)
            return status;
        rows++;
    }
    if (code != SQLITE_DONE)
        return cleave__sqlite_fail(s, code, statement, error);
    const char **names = cleave__arena_array(arena, columns, sizeof *names);
    const char **values = cleave__arena_array(arena, s->cells.count, sizeof *values);
    if (!names || !values)
        return cleave__sqlite_no_memory(s, error);
    if (s->cells.count)
        memcpy(values, s->cells.data, s->cells.count * sizeof *values);
    for (uint32_t c = 0; c < columns; c++) {
        const char *name = sqlite3_column_name(prepared, (int)c);
        if (!name || !(names[c] = cleave__arena_copy(arena, name, strlen(name))))
            return cleave__sqlite_no_memory(s, error);
    }
    bool reads = sqlite3_stmt_readonly(prepared);
    uint64_t changed =
        !reads && total_changes(s) != before ? (uint64_t)sqlite3_changes64(s->db) : 0;
    *answer = (struct cleave_store_answer){reads ? rows : changed, columns, rows, names, values};
    return CLEAVE_OK;
}

/* What was changed, as text, to be done again. */
static enum cleave_status keep(struct cleave__sqlite *s, sqlite3_stmt *prepared,
                               struct cleave_error *error)
{
    char *text = sqlite3_expanded_sql(prepared);
    bool kept = text && cleave__text_add(&s->redo, text) && cleave__text_add(&s->redo, "\n;\n");
    sqlite3_free(text);
    return kept ? CLEAVE_OK : cleave__sqlite_no_memory(s, error);
}

static enum cleave_status work(struct cleave__sqlite *s,
                               const struct cleave_store_statement *statement, bool keeps,
                               struct cleave_arena *arena, struct cleave_store_answer *answer,
                               struct cleave_error *error)
{
    sqlite3_stmt *prepared = NULL;
    const char *text = cleave__store_unlocked(statement->text, &s->scratch);
    if (!text)
        return cleave__sqlite_no_memory(s, error);
    enum cleave_status status = cleave__sqlite_prepare(s, text, &prepared, NULL, error);
    if (status || !prepared) {
        *answer = (struct cleave_store_answer){0};
        return status;
    }
    uint64_t before = total_changes(s);
    status = bind(s, prepared, statement, error);
    if (!status)
        status = take_answer(s, prepared, statement->text, arena, answer, error);
    if (!status && keeps && !sqlite3_stmt_readonly(prepared)) {
        status = keep(s, prepared, error);
        s->changes += total_changes(s) - before;
    }
    sqlite3_finalize(prepared);
    return status;
}

static bool may_write(const struct cleave_store_batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        const char *at = batch->statements[i].text;
        struct cleave__sql_token token = cleave__sql_token(&at);
        if (!cleave__sql_is(&token, "SELECT") && !cleave__sql_is(&token, "VALUES"))
            return true;
    }
    return false;
}

static enum cleave_status end(struct cleave__sqlite *s, const struct cleave_store_batch *batch,
                              struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    switch (batch->end) {
    case CLEAVE_BATCH_OPEN:
        return cleave__sqlite_leave(s, error);
    case CLEAVE_BATCH_ROLLBACK:
        break;
    case CLEAVE_BATCH_COMMIT:
        if (s->undo.count)
            status = cleave__sqlite_run(s, s->undo.data, error);
        if (!status)
            status = cleave__sqlite_run(s, "COMMIT", error);
        break;
    case CLEAVE_BATCH_PREPARE:
        status = cleave__sqlite_run(s, "ROLLBACK TO cleave_work", error);
        if (!status)
            status = cleave__sqlite_store(s, batch->name, error);
        if (!status)
            status = cleave__sqlite_run(s, "COMMIT", error);
        break;
    }
    cleave__sqlite_forget(s);
    return status;
}

enum cleave_status cleave__sqlite_send(struct cleave_store_session *session,
                                       const struct cleave_store_batch *batch,
                                       struct cleave_error *error)
{
    struct cleave__sqlite *s = cleave__sqlite_of(session);
    assert(!s->batch && !s->finishing && !s->fill);
    enum cleave_status status = cleave__store_batch_check(s->shown, batch, error);
    if (!status)
        s->batch = batch;
    return status;
}

enum cleave_status cleave__sqlite_receive(struct cleave_store_session *session,
                                          struct cleave_arena *arena,
                                          struct cleave_store_answer *answers, uint32_t *failed,
                                          struct cleave_error *error)
{
    struct cleave__sqlite *s = cleave__sqlite_of(session);
    const struct cleave_store_batch *batch = s->batch;
    assert(batch);
    s->batch = NULL;
    bool prepares = batch->end == CLEAVE_BATCH_PREPARE;
    bool ends_well = batch->end == CLEAVE_BATCH_COMMIT || prepares;
    uint32_t at = 0;
    if (batch->end == CLEAVE_BATCH_ROLLBACK && batch->count == 0) {
        cleave__sqlite_forget(s);
        return CLEAVE_OK;
    }
    bool write = prepares || s->redo.count || (ends_well && s->held) || may_write(batch);
    enum cleave_status status = cleave__sqlite_enter(s, write, error);
    if (!status && prepares && !s->held && !s->redo.count)
        status = cleave__sqlite_run(s, "SAVEPOINT cleave_work", error);
    while (!status && at < batch->count) {
        status = work(s, &batch->statements[at], batch->end == CLEAVE_BATCH_OPEN || prepares, arena,
                      &answers[at], error);
        cleave__arena_rewind(&s->scratch, (struct cleave_arena_mark){0});
        at += !status;
    }
    if (!status)
        status = end(s, batch, error);
    if (status) {
        cleave__sqlite_forget(s);
        if (failed)
            *failed = at;
    }
    return status;
}
