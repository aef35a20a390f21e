/* The embedded store: a file, in WAL mode with synchronous=NORMAL. What is committed or prepared
 * survives the death of the process, but the last moments may be lost with the machine.
 *
 * SQLite has one writer at a time, for the whole file. So that sessions which work on several files
 * never wait for each other in a ring, none keeps the file between two calls: see sqlite_batch.c.
 * Whoever finds the file taken asks again soon, for PATIENCE_NS. A file that did not exist is made,
 * and taken away again when nothing was put into it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

#include "store/sqlite.h"

static const uint64_t PATIENCE_NS = 60000000000, NAP_MOST_NS = 4000000;

bool cleave__text_add(struct cleave__text *text, const char *more)
{
    size_t length = strlen(more);
    if (!CLEAVE_RESERVE(text, text->count + length + 1))
        return false;
    memcpy(text->data + text->count, more, length + 1);
    text->count += length;
    return true;
}

void cleave__text_clear(struct cleave__text *text)
{
    text->count = 0;
    if (text->data)
        *text->data = 0;
}

struct cleave__sqlite *cleave__sqlite_of(struct cleave_store_session *session)
{
    return (struct cleave__sqlite *)session;
}

enum cleave_status cleave__sqlite_no_memory(struct cleave__sqlite *s, struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "%.300s: out of memory", s->shown);
}

static enum cleave_status status_of(int code)
{
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return CLEAVE_NO_MEMORY;
    case SQLITE_FULL:
    case SQLITE_BUSY:
        return CLEAVE_LIMIT;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_PERM:
        return CLEAVE_IO;
    default:
        return CLEAVE_BAD_INPUT;
    }
}

enum cleave_status cleave__sqlite_fail(struct cleave__sqlite *s, int code, const char *statement,
                                       struct cleave_error *error)
{
    enum cleave_status status = status_of(code);
    char line[CLEAVE__LINE_SIZE], excerpt[CLEAVE__EXCERPT_SIZE];
    int number = sqlite3_system_errno(s->db);
    cleave__store_line(sqlite3_errmsg(s->db), line, sizeof line);
    if ((code & 0xff) == SQLITE_FULL)
        return cleave_error_set(error, status, "%.200s: the disk is full; make room and try again",
                                s->shown);
    if (status == CLEAVE_LIMIT)
        return cleave_error_set(error, status,
                                "%.200s: another process has kept the file for a minute (%s)",
                                s->shown, line);
    if (status == CLEAVE_IO && number)
        return cleave_error_set(error, status, "%.200s: %s: %s", s->shown, line, strerror(number));
    if (status == CLEAVE_IO || status == CLEAVE_NO_MEMORY || !statement)
        return cleave_error_set(error, status, "%.200s: %s", s->shown, line);
    cleave__store_excerpt(statement, excerpt, sizeof excerpt);
    return cleave_error_set(error, status, "%.150s: %.160s: in: %s", s->shown, line, excerpt);
}

/* Naps of random length, longer each time, so that all who wait get their turn. */
static int busy(void *context, int times)
{
    struct cleave__sqlite *s = context;
    uint64_t now = cleave__clock_ns();
    if (times == 0)
        s->busy_since_ns = now;
    if (now - s->busy_since_ns > PATIENCE_NS)
        return 0;
    s->draw = s->draw * 6364136223846793005u + 1442695040888963407u;
    uint64_t most = 100000ull << (times < 6 ? times : 6);
    most = most < NAP_MOST_NS ? most : NAP_MOST_NS;
    cleave__nap_ns(most / 2 + (s->draw >> 33) % most);
    return 1;
}

enum cleave_status cleave__sqlite_prepare(struct cleave__sqlite *s, const char *text,
                                          sqlite3_stmt **out, const char **tail,
                                          struct cleave_error *error)
{
    const char *rest = NULL;
    int code = sqlite3_prepare_v2(s->db, text, -1, out, &rest);
    if (code)
        return cleave__sqlite_fail(s, code, text, error);
    if (tail) {
        *tail = rest;
        return CLEAVE_OK;
    }
    struct cleave__sql_token token;
    do
        token = cleave__sql_token(&rest);
    while (token.kind == CLEAVE__SQL_SIGN && *token.at == ';');
    if (token.kind == CLEAVE__SQL_END)
        return CLEAVE_OK;
    sqlite3_finalize(*out);
    char excerpt[CLEAVE__EXCERPT_SIZE];
    cleave__store_excerpt(text, excerpt, sizeof excerpt);
    return cleave_error_set(error, CLEAVE_BAD_INPUT, "%.150s: more than one statement: in: %s",
                            s->shown, excerpt);
}

enum cleave_status cleave__sqlite_run(struct cleave__sqlite *s, const char *statements,
                                      struct cleave_error *error)
{
    while (*statements) {
        sqlite3_stmt *statement;
        const char *text = statements;
        enum cleave_status status = cleave__sqlite_prepare(s, text, &statement, &statements, error);
        if (status)
            return status;
        int code = SQLITE_DONE;
        while (statement && (code = sqlite3_step(statement)) == SQLITE_ROW)
            ;
        if (code != SQLITE_DONE)
            status = cleave__sqlite_fail(s, code, text, error);
        sqlite3_finalize(statement);
        if (status)
            return status;
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__sqlite_cell(struct cleave__sqlite *s, sqlite3_stmt *statement,
                                       int column, const char **out, struct cleave_error *error)
{
    int type = sqlite3_column_type(statement, column);
    *out = NULL;
    if (type == SQLITE_NULL)
        return CLEAVE_OK;
    if (type != SQLITE_BLOB) {
        double real = sqlite3_column_double(statement, column);
        *out = (const char *)sqlite3_column_text(statement, column);
        if (!*out)
            return cleave__sqlite_no_memory(s, error);
        if (type != SQLITE_FLOAT || strtod(*out, NULL) == real)
            return CLEAVE_OK;
        /* SQLite writes 15 digits, which may be another number: rows that move must not change. */
        char *exact = cleave__arena_alloc(&s->scratch, 40);
        if (!exact)
            return cleave__sqlite_no_memory(s, error);
        snprintf(exact, 40, "%.17g", real);
        *out = exact;
        return CLEAVE_OK;
    }
    const unsigned char *bytes = sqlite3_column_blob(statement, column);
    size_t count = (size_t)sqlite3_column_bytes(statement, column);
    char *hex = cleave__arena_alloc(&s->scratch, 2 * count + 3);
    if (!hex)
        return cleave__sqlite_no_memory(s, error);
    memcpy(hex, "\\x", 3);
    for (size_t i = 0; i < count; i++)
        sprintf(hex + 2 + 2 * i, "%02x", bytes[i]);
    *out = hex;
    return CLEAVE_OK;
}

/* PostgreSQL's left(text, n) and right(text, n), in characters; n below 0 leaves so many out. */
static void cut(sqlite3_context *context, int count, sqlite3_value **values)
{
    bool right = sqlite3_user_data(context) != NULL;
    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL ||
        sqlite3_value_type(values[1]) == SQLITE_NULL)
        return;
    const char *text = (const char *)sqlite3_value_text(values[0]);
    int64_t wanted = sqlite3_value_int64(values[1]), length = 0;
    if (!text) {
        sqlite3_result_error_nomem(context);
        return;
    }
    for (const char *c = text; *c; c++)
        length += (*c & 0xc0) != 0x80;
    wanted = wanted < 0 ? wanted + length : wanted;
    wanted = wanted < 0 ? 0 : wanted > length ? length : wanted;
    int64_t split = right ? length - wanted : wanted; /* characters before the cut */
    const char *at = text;
    for (; *at && (split > 0 || (*at & 0xc0) == 0x80); at++)
        split -= (*at & 0xc0) != 0x80;
    if (right)
        sqlite3_result_text(context, at, -1, SQLITE_TRANSIENT);
    else
        sqlite3_result_text(context, text, (int)(at - text), SQLITE_TRANSIENT);
}

static int took(void *context, int columns, char **values, char **names)
{
    (void)columns;
    (void)names;
    *(bool *)context = values[0] && strcmp(values[0], "0") == 0;
    return 0;
}

/* Nothing is in the file, and no other session has it open. */
static bool is_unused(struct cleave__sqlite *s)
{
    bool empty = false;
    sqlite3_busy_handler(s->db, NULL, NULL);
    return !sqlite3_exec(s->db, "SELECT count(*) FROM sqlite_schema", took, &empty, NULL) &&
           empty && !sqlite3_exec(s->db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
}

static void close_session(struct cleave_store_session *session)
{
    struct cleave__sqlite *s = cleave__sqlite_of(session);
    if (!s)
        return;
    bool unused = false;
    if (s->db) {
        cleave__sqlite_forget(s);
        unused = s->created && is_unused(s);
    }
    cleave__sqlite_let_go(s);
    sqlite3_close(s->db);
    if (unused)
        unlink(s->path);
    free(s->path);
    free(s->redo.data);
    free(s->undo.data);
    free(s->fill_redo.data);
    CLEAVE_VECTOR_FREE(&s->cells);
    cleave__arena_free(&s->arena);
    cleave__arena_free(&s->scratch);
    free(s);
}

static enum cleave_status open_file(struct cleave__sqlite *s, struct cleave_error *error)
{
    struct stat there;
    s->created = stat(s->path, &there) != 0 && errno == ENOENT;
    int code = sqlite3_open_v2(
        s->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (!s->db)
        return cleave__sqlite_no_memory(s, error);
    if (code)
        return cleave__sqlite_fail(s, code, NULL, error);
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_busy_handler(s->db, busy, s);
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    if (sqlite3_create_function_v2(s->db, "lft_", 2, flags, NULL, cut, NULL, NULL, NULL) ||
        sqlite3_create_function_v2(s->db, "rght_", 2, flags, s, cut, NULL, NULL, NULL))
        return cleave__sqlite_no_memory(s, error);
    /* Letters' case matters to LIKE, as on PostgreSQL. The last one looks into the file. */
    return cleave__sqlite_run(s,
                              "PRAGMA synchronous=NORMAL; PRAGMA case_sensitive_like=ON; "
                              "PRAGMA schema_version",
                              error);
}

static enum cleave_status open_session(const char *url, struct cleave_store_session **out,
                                       struct cleave_error *error)
{
    const char *path = strncmp(url, "sqlite:", 7) == 0 ? url + 7 : url;
    if (!*path)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "\"%.100s\" names no file", url);
    struct cleave__sqlite *s = calloc(1, sizeof *s);
    if (!s)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%.300s: out of memory", url);
    s->shown = url;
    s->draw = (uintptr_t)s;
    s->path = strdup(path);
    const char *shown = cleave__store_shown(url, &s->arena);
    enum cleave_status status =
        s->path && shown ? open_file(s, error) : cleave__sqlite_no_memory(s, error);
    s->shown = shown;
    if (status) {
        close_session((struct cleave_store_session *)s);
        return status;
    }
    *out = (struct cleave_store_session *)s;
    return CLEAVE_OK;
}

const struct cleave_store_ops cleave__sqlite = {
    .name = "sqlite",
    .open = open_session,
    .close = close_session,
    .send = cleave__sqlite_send,
    .receive = cleave__sqlite_receive,
    .send_finish = cleave__sqlite_send_finish,
    .receive_finish = cleave__sqlite_receive_finish,
    .prepared = cleave__sqlite_prepared,
    .hold = cleave__sqlite_hold,
    .tables = cleave__sqlite_tables,
    .fill_begin = cleave__sqlite_fill_begin,
    .fill_row = cleave__sqlite_fill_row,
    .fill_end = cleave__sqlite_fill_end,
    .scan = cleave__sqlite_scan,
};
