/* Which format a trace is in, from its first lines: each format says of how many it could make
 * sense, and the first that explains enough of them is taken, most peculiar first. */
#include <stdio.h>
#include <string.h>

#include "tables/source/trace/reader.h"

enum { LOOK_AHEAD = 256 << 10, LEARN_AHEAD = 16 << 20, SAMPLE = 1000 };

static const char *const format_names[] = {"auto",   "SQL",     "id TAB statement",
                                           "csvlog", "jsonlog", "stderr"};

static struct cleave_trace_line first_line(const struct cleave_trace *t)
{
    for (size_t i = 0; i < t->lines.kept.count; i++) {
        struct cleave_trace_line line = cleave__trace_lines_ahead(&t->lines, i);
        if (line.length)
            return line;
    }
    return (struct cleave_trace_line){.text = ""};
}

/* A known statement or a psql command comes first, and the text is text. */
static bool looks_sql(const struct cleave_trace *t)
{
    const char *at = t->lines.ahead.data;
    size_t size = t->lines.ahead.count < 65536 ? t->lines.ahead.count : 65536;
    struct cleave_piece piece;
    bool command = false;
    for (size_t i = 0; i < t->lines.kept.count && i < SAMPLE; i++) {
        struct cleave_trace_line line = cleave__trace_lines_ahead(&t->lines, i);
        if (memchr(line.text, 0, line.length < 65536 ? line.length : 65536))
            return false;
    }
    /* Lines of the look ahead end in NUL: skip blanks, comments and psql commands line by line. */
    size_t i = 0;
    bool comment = false;
    for (; i < t->lines.kept.count; i++) {
        struct cleave_trace_line line = cleave__trace_lines_ahead(&t->lines, i);
        if (comment) {
            comment = !memmem(line.text, line.length, "*/", 2);
            continue;
        }
        size_t blank = cleave__split_skip_blank(line.text, line.length);
        if (blank == line.length) {
            const char *open = memmem(line.text, line.length, "/*", 2);
            comment = open && !memmem(open, line.length - (size_t)(open - line.text), "*/", 2);
            continue;
        }
        if (line.text[blank] == '\\') {
            command = true;
            continue;
        }
        break;
    }
    if (i == t->lines.kept.count)
        return command || t->lines.kept.count > 0;
    at += t->lines.kept.data[i].offset;
    size -= size > t->lines.kept.data[i].offset ? t->lines.kept.data[i].offset : size;
    cleave__split_classify(at, strnlen(at, size), &piece);
    return piece.verb != CLEAVE_VERB_OTHER;
}

static enum cleave_trace_format best(struct cleave_trace *t)
{
    size_t lines = 0, json = 0, csv = 0, tab = 0, indented = 0, fitting = 0;
    for (size_t i = 0; i < t->lines.kept.count && lines < SAMPLE; i++) {
        struct cleave_trace_line line = cleave__trace_lines_ahead(&t->lines, i);
        if (line.length == 0)
            continue;
        lines++;
        indented += line.text[0] == '\t';
        json += cleave__jsonlog_looks(line.text, line.length);
        csv += cleave__csvlog_looks(line.text, line.length);
        tab += cleave__tab_looks(line.text, line.length);
    }
    if (json && json * 2 >= lines)
        return CLEAVE_TRACE_JSONLOG;
    if (csv && csv * 10 >= lines)
        return CLEAVE_TRACE_CSVLOG;
    if (tab && tab * 10 >= lines * 6)
        return CLEAVE_TRACE_TAB;
    struct cleave_prefix guess;
    if (cleave__prefix_guess(&t->lines, &guess, &fitting) && fitting * 10 >= lines - indented)
        return CLEAVE_TRACE_STDERR;
    return looks_sql(t) ? CLEAVE_TRACE_SQL : CLEAVE_TRACE_AUTO;
}

static enum cleave_status set_prefix(struct cleave_trace *t, struct cleave_error *error)
{
    struct cleave_trace_line first = first_line(t);
    const char *path = t->lines.paths[first.file];
    size_t fitting = 0;
    if (t->options.line_prefix) {
        struct cleave_prefix_match match;
        struct cleave_syslog header;
        if (cleave__prefix_compile(t->options.line_prefix, &t->prefix, error))
            return CLEAVE_BAD_ARGUMENT;
        for (size_t i = 0; i < t->lines.kept.count && !fitting; i++) {
            struct cleave_trace_line line = cleave__trace_lines_ahead(&t->lines, i);
            fitting = cleave__prefix_match(&t->prefix, line.text, line.length, &match);
            if (!fitting && cleave__syslog_header(line.text, line.length, &header) &&
                cleave__prefix_match(&t->prefix, line.text + header.rest, line.length - header.rest,
                                     &match))
                fitting = t->prefix.syslog = true;
        }
        if (!fitting)
            return cleave_error_set(error, CLEAVE_BAD_INPUT,
                                    "%s:%llu: no line begins with the prefix '%s'; the first is "
                                    "'%.*s'",
                                    path, (unsigned long long)first.number, t->options.line_prefix,
                                    (int)(first.length < 80 ? first.length : 80), first.text);
        return CLEAVE_OK;
    }
    if (!cleave__prefix_guess(&t->lines, &t->prefix, &fitting))
        return cleave_error_set(error, CLEAVE_BAD_INPUT,
                                "%s:%llu: no line of a server log ('...LOG:  ...') among the "
                                "first %zu; the first is '%.*s'",
                                path, (unsigned long long)first.number, t->lines.kept.count,
                                (int)(first.length < 80 ? first.length : 80), first.text);
    return CLEAVE_OK;
}

/* A session or process id, a virtual transaction's backend, or at least a client's port. */
static bool tells_sessions(const struct cleave_prefix *prefix)
{
    bool tells = prefix->syslog;
    for (uint32_t i = 0; i < prefix->count; i++)
        tells |= prefix->ops[i].kind && strchr("cpPvr", prefix->ops[i].kind);
    return tells;
}

enum cleave_status cleave__trace_detect(struct cleave_trace *t, struct cleave_error *error)
{
    if (!cleave__trace_lines_look_ahead(&t->lines, LOOK_AHEAD))
        return cleave__trace_no_memory(t, error);
    struct cleave_trace_line first = first_line(t);
    if (t->lines.kept.count == 0 && t->lines.ahead_status && t->lines.ahead_status != CLEAVE_END)
        return cleave_error_set(error, t->lines.ahead_status, "%s", t->lines.ahead_error.message);
    t->format = t->options.format;
    if (first.length == 0) {
        if (t->format == CLEAVE_TRACE_AUTO || t->format == CLEAVE_TRACE_STDERR)
            t->format = CLEAVE_TRACE_SQL; /* nothing at all: any reader will do */
        snprintf(t->describe, sizeof t->describe, "empty");
    } else {
        if (t->format == CLEAVE_TRACE_AUTO)
            t->format = best(t);
        if (t->format == CLEAVE_TRACE_AUTO)
            return cleave_error_set(
                error, CLEAVE_BAD_INPUT,
                "%s:%llu: no trace format fits (tried csvlog, jsonlog, stderr log, 'id TAB "
                "statement', SQL); the line begins '%.*s'",
                t->lines.paths[first.file], (unsigned long long)first.number,
                (int)(first.length < 60 ? first.length : 60), first.text);
        snprintf(t->describe, sizeof t->describe, "%s", format_names[t->format]);
    }
    if (t->format == CLEAVE_TRACE_STDERR) {
        enum cleave_status status = set_prefix(t, error);
        if (status)
            return status;
        if (t->prefix.free_form)
            snprintf(t->describe, sizeof t->describe,
                     "%s, prefix not recognised (WARNING: sessions may be mixed up; give it with "
                     "--line-prefix)",
                     t->prefix.syslog ? "syslog" : "stderr");
        else
            snprintf(
                t->describe, sizeof t->describe, "%s, prefix '%s'%s",
                t->prefix.syslog ? "syslog" : "stderr", t->prefix.text,
                tells_sessions(&t->prefix)
                    ? ""
                    : " (WARNING: it tells no session: transactions that ran at one time cannot "
                      "be told apart; log with %c or %p)");
    }
    if (t->format == CLEAVE_TRACE_TAB) {
        if (!cleave__trace_lines_look_ahead(&t->lines, LEARN_AHEAD) || !cleave__tab_learn(t))
            return cleave__trace_no_memory(t, error);
    }
    return CLEAVE_OK;
}
