/* Random sessions, written down as the server would log them, in every format and style; what is
 * read must be exactly what the sessions committed, and every count must add up. The generator
 * knows the answer because it makes the transactions first and the log from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/vector.h"
#include "support/property.h"
#include "tables/source/trace.h"

enum { SESSIONS = 4, EVENTS_MAX = 400, TEXT_MAX = 256 };

enum kind { SIMPLE, EXECUTE, DISCONNECT };

struct event {
    int session;
    enum kind kind;
    bool fails;
    char text[TEXT_MAX + 2];
    char detail[TEXT_MAX]; /* of an execute: "$1 = ..." */
};

struct out {
    char *data;
    size_t count, capacity;
};

/* What one session should give: transactions as text, in order. */
struct expected {
    struct out committed[SESSIONS];
    struct event events[SESSIONS][EVENTS_MAX];
    size_t count[SESSIONS];
};

static void put(struct out *o, const char *text)
{
    size_t length = strlen(text);
    assert_true(CLEAVE_RESERVE(o, o->count + length + 1));
    memcpy(o->data + o->count, text, length + 1);
    o->count += length;
}

/* A statement with something awkward in it. */
static void make_text(struct property_source *source, char *text, int parameters)
{
    /* No "\r\n": a line end in the plain and csv logs, whichever the client meant. */
    static const char *const awkward[] = {
        "1",         "'a'",          "'it''s'",     "';'",       "\"a\"\"b\"", "'x\ny'",
        "-- c;\n 2", "/* ; ' */ 3",  "$$;'$$",      "E'\\';'",   "'\xc3\xa9'", "'\\'",
        "'a\tb'",    "'{\"k\": 1}'", "'a, $1 = 5'", "'LOG:  x'", "',\",'",
    };
    int used = snprintf(text, TEXT_MAX, "select %s",
                        awkward[property_draw(source, sizeof awkward / sizeof *awkward)]);
    for (int i = 0; i < parameters; i++)
        used += snprintf(text + used, TEXT_MAX - (size_t)used, ", $%d", i + 1);
    snprintf(text + used, TEXT_MAX - (size_t)used, ", %d", (int)property_draw(source, 1000));
}

/* Parameter values, as the log's DETAIL and as they should be read. */
static void make_parameters(struct property_source *source, int count, char *detail, char *values)
{
    static const char *const logged[] = {"'1'",    "NULL", "'it''s'",
                                         "'a\nb'", "''",   "'x, $2 = ''y'''"};
    static const char *const meant[] = {"1", "NULL", "it's", "a\nb", "", "x, $2 = 'y'"};
    *detail = *values = 0;
    for (int i = 0; i < count; i++) {
        uint64_t which = property_draw(source, sizeof logged / sizeof *logged);
        sprintf(detail + strlen(detail), "%s$%d = %s", i ? ", " : "", i + 1, logged[which]);
        sprintf(values + strlen(values), "<%s>", meant[which]);
    }
}

static void add(struct expected *e, int session, enum kind kind, const char *text,
                const char *detail, bool fails)
{
    struct event *event = &e->events[session][e->count[session]++];
    event->session = session;
    event->kind = kind;
    event->fails = fails;
    strcpy(event->text, text);
    strcpy(event->detail, detail);
}

/* One data statement; its reading is appended to `reads` unless it fails. */
static bool data(struct property_source *source, struct expected *e, int session, bool fails,
                 char *reads)
{
    char text[TEXT_MAX], detail[TEXT_MAX], values[TEXT_MAX];
    if (property_draw(source, 2)) {
        int parameters = (int)property_draw(source, 3);
        make_text(source, text, parameters);
        make_parameters(source, parameters, detail, values);
        add(e, session, EXECUTE, text, detail, fails);
    } else {
        make_text(source, text, 0);
        *values = 0;
        char with_semicolon[TEXT_MAX + 2];
        snprintf(with_semicolon, sizeof with_semicolon, "%s%s", text,
                 property_draw(source, 2) ? ";" : "");
        add(e, session, SIMPLE, with_semicolon, "", fails);
    }
    if (!fails)
        sprintf(reads + strlen(reads), "[%s%s]", text, values);
    return !fails;
}

static void control(struct property_source *source, struct expected *e, int session,
                    const char *text)
{
    add(e, session, property_draw(source, 2) ? SIMPLE : EXECUTE, text, "", false);
}

static void commit(struct expected *e, int session, const char *reads)
{
    if (*reads) {
        put(&e->committed[session], reads);
        put(&e->committed[session], "\n");
    }
}

static void block(struct property_source *source, struct expected *e, int session)
{
    static const char *const begins[] = {"begin", "BEGIN;", "start transaction"};
    static const char *const ends[] = {"commit", "END;", "COMMIT WORK"};
    char reads[4096] = "";
    bool failed = false;
    control(source, e, session, begins[property_draw(source, 3)]);
    uint64_t statements = property_draw(source, 5);
    for (uint64_t i = 0; i < statements; i++) {
        uint64_t what = property_draw(source, 8);
        if (failed && what < 5) { /* the server refuses everything but the end */
            add(e, session, SIMPLE, "select 'refused'", "", true);
        } else if (what == 6 && !failed) {
            control(source, e, session, "savepoint s");
            if (property_draw(source, 2)) {
                data(source, e, session, true, reads);
                control(source, e, session, "rollback to savepoint s");
            } else {
                data(source, e, session, false, reads);
                control(source, e, session, "release s");
            }
        } else if (!failed) {
            failed = !data(source, e, session, what == 7, reads);
        }
    }
    uint64_t end = property_draw(source, 6);
    if (end == 0) {
        add(e, session, DISCONNECT, "", "", false);
    } else if (end == 1) {
        control(source, e, session, "rollback");
    } else {
        control(source, e, session, ends[property_draw(source, 3)]);
        if (!failed)
            commit(e, session, reads);
    }
}

static void string(struct property_source *source, struct expected *e, int session)
{
    char a[TEXT_MAX], b[TEXT_MAX], whole[2 * TEXT_MAX + 8], reads[2 * TEXT_MAX + 8];
    make_text(source, a, 0);
    make_text(source, b, 0);
    if (strlen(a) + strlen(b) > TEXT_MAX - 8)
        return;
    bool fails = property_draw(source, 4) == 3;
    sprintf(whole, "%s ; %s;", a, b);
    sprintf(reads, "[%s][%s]", a, b);
    add(e, session, SIMPLE, whole, "", fails);
    if (!fails)
        commit(e, session, reads);
}

static void make_session(struct property_source *source, struct expected *e, int session)
{
    uint64_t units = property_draw(source, 6);
    for (uint64_t i = 0; i < units; i++) {
        char reads[4096] = "";
        switch (property_draw(source, 4)) {
        case 0:
            data(source, e, session, false, reads);
            commit(e, session, reads);
            break;
        case 1:
            data(source, e, session, true, reads);
            break;
        case 2:
            string(source, e, session);
            break;
        default:
            block(source, e, session);
        }
    }
}

/* --- writing the log --- */

enum format { STDERR, CSV, JSON, FORMATS };

static void put_quoted(struct out *o, enum format format, const char *text)
{
    put(o, "\"");
    for (const char *c = text; *c; c++) {
        char piece[8] = {*c, 0};
        if (format == CSV && *c == '"')
            strcpy(piece, "\"\"");
        else if (format == JSON && (*c == '"' || *c == '\\'))
            sprintf(piece, "\\%c", *c);
        else if (format == JSON && *c == '\n')
            strcpy(piece, "\\n");
        else if (format == JSON && (unsigned char)*c < ' ')
            sprintf(piece, "\\u%04x", *c);
        put(o, piece);
    }
    put(o, "\"");
}

static void put_stderr(struct out *o, int session, const char *severity, const char *text)
{
    char head[128];
    snprintf(head, sizeof head, "2026-11-30 02:21:31.845 UTC [%d] u@d %s:  ", session + 1,
             severity);
    put(o, head);
    for (const char *c = text; *c; c++) {
        char piece[3] = {*c, *c == '\n' ? '\t' : 0, 0};
        put(o, piece);
    }
    put(o, "\n");
}

/* One log entry; detail and query may be empty. */
static void entry(struct out *o, enum format format, int session, const char *severity,
                  const char *message, const char *detail, const char *query)
{
    char head[256];
    if (format == STDERR) {
        put_stderr(o, session, severity, message);
        if (*detail)
            put_stderr(o, session, "DETAIL", detail);
        if (*query)
            put_stderr(o, session, "STATEMENT", query);
        return;
    }
    if (format == CSV) {
        snprintf(head, sizeof head,
                 "2026-11-30 02:21:32.034 UTC,\"u\",\"d\",%d,\"[local]\",6b0cddac.%x,3,\"SELECT\","
                 "2026-11-30 02:21:32 UTC,3/0,0,%s,00000,",
                 session + 1, session + 1, severity);
        put(o, head);
        put_quoted(o, format, message);
        put(o, ",");
        if (*detail)
            put_quoted(o, format, detail);
        put(o, ",,,,,");
        if (*query)
            put_quoted(o, format, query);
        put(o, ",,,\"app\",\"client backend\",,0\n");
        return;
    }
    snprintf(head, sizeof head,
             "{\"timestamp\":\"2026-11-30 02:21:32.034 UTC\",\"pid\":%d,\"session_id\":"
             "\"6b0cddac.%x\",\"error_severity\":\"%s\",\"message\":",
             session + 1, session + 1, severity);
    put(o, head);
    put_quoted(o, format, message);
    if (*detail) {
        put(o, ",\"detail\":");
        put_quoted(o, format, detail);
    }
    if (*query) {
        put(o, ",\"statement\":");
        put_quoted(o, format, query);
    }
    put(o, "}\n");
}

static void log_event(struct out *o, enum format format, bool after, const struct event *e)
{
    char message[TEXT_MAX + 80], detail[TEXT_MAX + 16] = "";
    int s = e->session;
    if (*e->detail)
        snprintf(detail, sizeof detail, "parameters: %s", e->detail);
    if (e->kind == DISCONNECT) {
        entry(o, format, s, "LOG", "disconnection: session time: 0:00:00.052 user=u database=d", "",
              "");
        return;
    }
    const char *step = e->kind == SIMPLE ? "statement" : "execute S_1";
    if (after && e->kind == EXECUTE) {
        snprintf(message, sizeof message, "duration: 0.005 ms  parse S_1: %s", e->text);
        entry(o, format, s, "LOG", message, "", "");
        snprintf(message, sizeof message, "duration: 0.005 ms  bind S_1: %s", e->text);
        entry(o, format, s, "LOG", message, detail, "");
    }
    snprintf(message, sizeof message, "%s%s: %s", after ? "duration: 0.124 ms  " : "", step,
             e->text);
    if (!after || !e->fails)
        entry(o, format, s, "LOG", message, detail, "");
    if (e->fails)
        entry(o, format, s, "ERROR", "something is wrong", "Key (id)=(1) is there.", e->text);
}

/* --- reading it back --- */

static void read_back(const struct cleave_trace_transaction *x, struct out *by_session)
{
    /* "6b0cddac.N" or "N" */
    const char *dot = strchr(x->session, '.');
    long session = strtol(dot ? dot + 1 : x->session, NULL, 16) - 1;
    assert_true(session >= 0 && session < SESSIONS);
    struct out *o = &by_session[session];
    for (uint32_t i = 0; i < x->statement_count; i++) {
        const struct cleave_trace_statement *s = &x->statements[i];
        put(o, "[");
        put(o, s->text);
        for (uint32_t p = 0; p < s->parameter_count; p++) {
            put(o, "<");
            put(o, s->parameters[p].is_null ? "NULL" : s->parameters[p].text);
            put(o, ">");
        }
        put(o, "]");
    }
    put(o, "\n");
}

static bool one(struct property_source *source, struct expected *e, enum format format, bool after)
{
    struct out log = {0}, got[SESSIONS] = {{0}};
    put(&log, "");
    entry(&log, format, 0, "LOG", "connection received: host=[local]", "", "");
    size_t at[SESSIONS] = {0};
    for (;;) {
        int open[SESSIONS], count = 0;
        for (int s = 0; s < SESSIONS; s++) {
            if (at[s] < e->count[s])
                open[count++] = s;
        }
        if (!count)
            break;
        int s = open[property_draw(source, (uint64_t)count)];
        log_event(&log, format, after, &e->events[s][at[s]++]);
    }
    char name[] = "trace-property-XXXXXX";
    int file = mkstemp(name);
    assert_true(file >= 0 && write(file, log.data, log.count) == (ssize_t)log.count);
    close(file);
    struct cleave_trace *trace = NULL;
    struct cleave_error error = {0};
    const char *path = name;
    enum cleave_status status = cleave__trace_open(&path, 1, NULL, &trace, &error);
    struct cleave_trace_transaction x;
    while (!status && !(status = cleave__trace_next(trace, &x, &error)))
        read_back(&x, got);
    bool ok = status == CLEAVE_END &&
              !cleave__trace_counters_check(cleave__trace_counters(trace), &error) &&
              cleave__trace_counters(trace)->entries_bad == 0;
    for (int s = 0; s < SESSIONS; s++) {
        put(&got[s], "");
        put(&e->committed[s], "");
        ok = ok && strcmp(got[s].data, e->committed[s].data) == 0;
        if (!ok && source->verbose)
            print_error("%s; session %d, format %d, %s:\n%s\nexpected:\n%s\n", error.message, s + 1,
                        format, after ? "logged after" : "logged before", got[s].data,
                        e->committed[s].data);
    }
    if (!ok && source->verbose)
        print_error("log:\n%s\n", log.data);
    cleave__trace_close(trace);
    unlink(name);
    free(log.data);
    for (int s = 0; s < SESSIONS; s++)
        free(got[s].data);
    return ok;
}

static bool committed_work(struct property_source *source, void *context)
{
    (void)context;
    struct expected *e = calloc(1, sizeof *e);
    assert_non_null(e);
    for (int s = 0; s < SESSIONS; s++)
        make_session(source, e, s);
    bool ok = true;
    for (int format = 0; ok && format < FORMATS; format++)
        ok =
            one(source, e, (enum format)format, true) && one(source, e, (enum format)format, false);
    for (int s = 0; s < SESSIONS; s++)
        free(e->committed[s].data);
    free(e);
    return ok;
}

static void test_committed_work(void **state)
{
    (void)state;
    assert_true(property_run("trace-committed-work", committed_work, NULL, 400));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_committed_work)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
