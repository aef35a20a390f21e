/* The server store: a session is a connection of libpq's.
 *
 * A batch is one round trip (postgres_batch.c). Dates, numbers and bytes come in one form whatever
 * the server's settings are; its notices are not told. A server that is gone without a word is
 * noticed by TCP keepalives within a minute. Time limits that the server sets for its people are
 * lifted, since a session waits for its other shards; those that a URL asks for stay. */
#include <stdlib.h>
#include <string.h>

#include "store/postgres.h"

struct cleave__postgres *cleave__postgres_of(struct cleave_store_session *session)
{
    return (struct cleave__postgres *)session;
}

enum cleave_status cleave__postgres_no_memory(struct cleave__postgres *p,
                                              struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "%.300s: out of memory", p->shown);
}

/* What to do about it, for errors whose text does not tell; `state` is NULL when a connection was
 * refused. */
static const char *advice(const char *state, const char *message)
{
    static const struct {
        const char *state, *text, *advice;
    } list[] = {
        {"53100", "", ": make room on the server's disk and try again"},
        {"53200", "prepared transactions",
         ": raise max_prepared_transactions in postgresql.conf and restart the server"},
        {"53200", "shared memory",
         ": raise max_locks_per_transaction in postgresql.conf and restart the server"},
        {"53300", "", ": raise max_connections in postgresql.conf, or use fewer clients"},
        {NULL, "too many clients",
         ": raise max_connections in postgresql.conf, or use fewer clients"},
        {NULL, "connection slots are reserved",
         ": raise max_connections in postgresql.conf, or use fewer clients"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        bool same =
            state && list[i].state ? strcmp(list[i].state, state) == 0 : state == list[i].state;
        if (same && strstr(message, list[i].text))
            return list[i].advice;
    }
    return "";
}

/* A server that goes down may say so before the connection is seen to be lost. */
static enum cleave_status status_of(const struct cleave__postgres *p, const PGresult *result,
                                    const char *state)
{
    const char *severity =
        result ? PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED) : NULL;
    if (PQstatus(p->connection) == CONNECTION_BAD ||
        (severity && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0)))
        return CLEAVE_IO;
    if (state && strncmp(state, "53", 2) == 0)
        return CLEAVE_LIMIT;
    return CLEAVE_BAD_INPUT;
}

enum cleave_status cleave__postgres_fail(struct cleave__postgres *p, const PGresult *result,
                                         const char *statement, struct cleave_error *error)
{
    char line[CLEAVE__LINE_SIZE], more[CLEAVE__EXCERPT_SIZE] = "", excerpt[CLEAVE__EXCERPT_SIZE];
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *message = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    const char *detail = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL) : NULL;
    const char *context = result ? PQresultErrorField(result, PG_DIAG_CONTEXT) : NULL;
    enum cleave_status status = status_of(p, result, state);
    if (!message)
        message = PQerrorMessage(p->connection);
    cleave__store_line(*message ? message : "the connection is lost", line, sizeof line);
    if (status == CLEAVE_IO)
        return cleave_error_set(error, status, "%.160s: %.300s", p->shown, line);
    if (state && strcmp(state, "55000") == 0 && strstr(message, "prepared transactions"))
        return cleave_error_set(error, CLEAVE_UNSUPPORTED,
                                "%.160s: the server has no prepared transactions: set "
                                "max_prepared_transactions in postgresql.conf to its "
                                "max_connections, and restart it",
                                p->shown);
    if (detail || (context && strncmp(context, "COPY", 4) == 0))
        cleave__store_line(detail ? detail : context, more, sizeof more);
    if (!statement)
        return cleave_error_set(error, status, "%.160s: %.200s%s%s%s", p->shown, line,
                                *more ? ": " : "", more, advice(state, message));
    cleave__store_excerpt(statement, excerpt, sizeof excerpt);
    return cleave_error_set(error, status, "%.130s: %.140s%s%.100s%s: in: %s", p->shown, line,
                            *more ? ": " : "", more, advice(state, message), excerpt);
}

enum cleave_status cleave__postgres_run(struct cleave__postgres *p, const char *statement,
                                        struct cleave_error *error)
{
    PGresult *result = PQexec(p->connection, statement);
    ExecStatusType kind = PQresultStatus(result);
    enum cleave_status status = CLEAVE_OK;
    if (kind != PGRES_COMMAND_OK && kind != PGRES_TUPLES_OK)
        status = cleave__postgres_fail(p, result, statement, error);
    PQclear(result);
    return status;
}

void cleave__postgres_forget(struct cleave__postgres *p)
{
    PGresult *result;
    while (PQstatus(p->connection) == CONNECTION_OK && (result = PQgetResult(p->connection)))
        PQclear(result);
    PGTransactionStatusType now = PQtransactionStatus(p->connection);
    if (now == PQTRANS_INTRANS || now == PQTRANS_INERROR)
        PQclear(PQexec(p->connection, "ROLLBACK"));
    p->open = false;
    p->filling = false;
    p->rows.count = 0;
}

static void ignore_notice(void *context, const PGresult *notice)
{
    (void)context;
    (void)notice;
}

static void close_session(struct cleave_store_session *session)
{
    struct cleave__postgres *p = cleave__postgres_of(session);
    if (!p)
        return;
    PQfinish(p->connection);
    CLEAVE_VECTOR_FREE(&p->rows);
    cleave__arena_free(&p->arena);
    free(p);
}

/* What libpq would say of a wrong URL may quote the password, whole or in part. */
static enum cleave_status check_url(struct cleave__postgres *p, const char *url,
                                    struct cleave_error *error)
{
    char *why = NULL;
    PQconninfoOption *parts = PQconninfoParse(url, &why);
    bool parsed = parts, told = why;
    PQfreemem(why);
    PQconninfoFree(parts);
    if (parsed && cleave__store_escaped(url))
        return CLEAVE_OK;
    if (!parsed && !told)
        return cleave__postgres_no_memory(p, error);
    return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                            "%.200s: not a PostgreSQL URL: write "
                            "postgresql://USER@HOST:PORT/DATABASE, with %%-codes for special signs",
                            p->shown);
}

static enum cleave_status connect_to(struct cleave__postgres *p, const char *url,
                                     struct cleave_error *error)
{
    /* What the URL itself says comes last and wins. */
    static const char *const keywords[] = {
        "fallback_application_name", "connect_timeout",  "keepalives_idle",
        "keepalives_interval",       "keepalives_count", "tcp_user_timeout",
        "client_encoding",           "dbname",           NULL};
    const char *const values[] = {"cleave", "10", "30", "10", "3", "60000", "UTF8", url, NULL};
    enum cleave_status status = check_url(p, url, error);
    if (status)
        return status;
    p->connection = PQconnectdbParams(keywords, values, 1);
    if (!p->connection)
        return cleave__postgres_no_memory(p, error);
    if (PQstatus(p->connection) != CONNECTION_OK) {
        char line[CLEAVE__LINE_SIZE];
        cleave__store_line(PQerrorMessage(p->connection), line, sizeof line);
        return cleave_error_set(error, CLEAVE_IO, "%.160s: %s%s", p->shown, line,
                                advice(NULL, line));
    }
    PQsetNoticeReceiver(p->connection, ignore_notice, NULL);
    int version = PQserverVersion(p->connection);
    if (version < 120000)
        return cleave_error_set(error, CLEAVE_UNSUPPORTED,
                                "%.200s: the server is PostgreSQL %d.%d; 12 or later is needed",
                                p->shown, version / 10000,
                                version >= 100000 ? version % 10000 : version / 100 % 100);
    return cleave__postgres_run(
        p,
        "SET DateStyle = 'ISO, MDY'; SET IntervalStyle = 'postgres'; SET extra_float_digits = 1; "
        "SET bytea_output = 'hex'; SET lc_monetary = 'C'; SELECT set_config(name, '0', false) FROM "
        "pg_settings WHERE name IN ('statement_timeout', 'idle_in_transaction_session_timeout', "
        "'idle_session_timeout', 'transaction_timeout') AND setting <> '0' AND source <> 'client'",
        error);
}

static enum cleave_status open_session(const char *url, struct cleave_store_session **out,
                                       struct cleave_error *error)
{
    struct cleave__postgres *p = calloc(1, sizeof *p);
    if (!p)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "PostgreSQL: out of memory");
    const char *shown = cleave__store_shown(url, &p->arena);
    p->shown = shown ? shown : "PostgreSQL";
    enum cleave_status status =
        shown ? connect_to(p, url, error) : cleave__postgres_no_memory(p, error);
    if (status) {
        close_session((struct cleave_store_session *)p);
        return status;
    }
    *out = (struct cleave_store_session *)p;
    return CLEAVE_OK;
}

const struct cleave_store_ops cleave__postgres = {
    .name = "postgres",
    .open = open_session,
    .close = close_session,
    .send = cleave__postgres_send,
    .receive = cleave__postgres_receive,
    .send_finish = cleave__postgres_send_finish,
    .receive_finish = cleave__postgres_receive_finish,
    .prepared = cleave__postgres_prepared,
    .tables = cleave__postgres_tables,
    .fill_begin = cleave__postgres_fill_begin,
    .fill_row = cleave__postgres_fill_row,
    .fill_end = cleave__postgres_fill_end,
    .scan = cleave__postgres_scan,
};
