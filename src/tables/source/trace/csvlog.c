/* csvlog: 23 columns (up to PostgreSQL 12), 24 (13) or 26 (14 and later); more are let pass.
 *
 * A record ends at a line end outside quotes. When a record was cut (a crash, a full disk) its open
 * quote would swallow the rest of the log: so a line that by itself is a whole record begins a new
 * one even within quotes. (Inside a quoted field a logged record would have its quotes doubled.) */
#include <string.h>

#include "tables/source/trace/reader.h"

enum {
    USER = 1,
    DATABASE = 2,
    PID = 3,
    SESSION = 5,
    VXID = 9,
    SEVERITY = 11,
    MESSAGE = 13,
    DETAIL = 14,
    QUERY = 19,
    COLUMNS_MIN = 22,
    COLUMNS_KEPT = 20,
};

/* Splits a record; unquoted fields lie in `buffer` (of at least `length` bytes). Returns the
 * number of columns, 0 when the quoting is broken. */
static size_t split_record(const char *text, size_t length, char *buffer,
                           struct cleave_span *fields)
{
    size_t count = 0, at = 0;
    char *to = buffer;
    for (;;) {
        struct cleave_span field;
        if (at < length && text[at] == '"') {
            field.text = to;
            for (at++;;) {
                const char *quote = memchr(text + at, '"', length - at);
                if (!quote)
                    return 0;
                size_t size = (size_t)(quote - text) - at;
                memcpy(to, text + at, size);
                to += size;
                at += size + 1;
                if (at >= length || text[at] != '"')
                    break;
                *to++ = '"';
                at++;
            }
            field.length = (size_t)(to - field.text);
        } else {
            const char *comma = memchr(text + at, ',', length - at);
            field.text = text + at;
            field.length = comma ? (size_t)(comma - field.text) : length - at;
            at += field.length;
        }
        if (count < COLUMNS_KEPT)
            fields[count] = field;
        count++;
        if (at >= length)
            return count;
        if (text[at] != ',')
            return 0;
        at++;
    }
}

static bool looks_like_start(const char *s, size_t n)
{
    bool quoted = n && s[0] == '"'; /* not by the server, but by tools that copy the log */
    s += quoted;
    n -= quoted;
    size_t stamp = cleave__prefix_timestamp(s, n);
    if (stamp <= 19 || s[19] != '.')
        return false;
    stamp += quoted && stamp < n && s[stamp] == '"';
    return stamp < n && s[stamp] == ',';
}

static bool odd_quotes(const char *s, size_t n)
{
    bool odd = false;
    const char *end = s + n;
    while (s < end && (s = memchr(s, '"', (size_t)(end - s)))) {
        odd = !odd;
        s++;
    }
    return odd;
}

/* The first columns of a record: user, database, pid, connection, session id of the right form. */
bool cleave__csvlog_looks(const char *line, size_t length)
{
    if (!looks_like_start(line, length))
        return false;
    int commas = 0;
    bool quoted = false;
    size_t at = 0;
    for (; at < length && commas < 5; at++) {
        if (line[at] == '"')
            quoted = !quoted;
        else if (line[at] == ',' && !quoted)
            commas++;
    }
    size_t start = at;
    while (at < length && strchr("0123456789abcdef.", line[at]) && line[at])
        at++;
    return commas == 5 && at > start && at < length && line[at] == ',';
}

static bool record(struct cleave_trace *t, const char *text, size_t length, bool dropped)
{
    struct cleave_span field[COLUMNS_KEPT];
    if (!CLEAVE_RESERVE(&t->scratch, length + 1))
        return false;
    size_t columns = dropped ? 0 : split_record(text, length, t->scratch.data, field);
    size_t word = 0;
    enum cleave_severity severity = CLEAVE_SEVERITY_NONE;
    if (columns >= COLUMNS_MIN)
        severity = cleave__severity_of(field[SEVERITY].text, field[SEVERITY].length, &word);
    if (severity == CLEAVE_SEVERITY_NONE || word != field[SEVERITY].length ||
        severity >= CLEAVE_SEVERITY_DETAIL) {
        cleave__trace_bad(t, text, length);
        return true;
    }
    struct cleave_trace_entry entry = {
        .severity = severity,
        .session = field[SESSION].length ? field[SESSION] : field[PID],
        .user = field[USER],
        .database = field[DATABASE],
        .message = field[MESSAGE],
        .detail = field[DETAIL],
        .query = field[QUERY],
        .whole = true,
        .in_block = cleave__vxid_in_block(field[VXID]),
        .file = t->pending.file,
    };
    entry.label = entry.session;
    return cleave__sessions_entry(t->sessions, &entry);
}

/* Does the line hold a whole record by itself? */
static bool whole_record(struct cleave_trace *t, const char *text, size_t length, bool *whole)
{
    struct cleave_span field[COLUMNS_KEPT];
    size_t word = 0;
    *whole = false;
    if (!cleave__csvlog_looks(text, length))
        return true;
    if (!CLEAVE_RESERVE(&t->scratch, length + 1))
        return false;
    *whole = split_record(text, length, t->scratch.data, field) >= COLUMNS_MIN &&
             cleave__severity_of(field[SEVERITY].text, field[SEVERITY].length, &word) !=
                 CLEAVE_SEVERITY_NONE;
    return true;
}

static bool flush(struct cleave_trace *t)
{
    struct cleave_trace_pending *p = &t->pending;
    if (!p->open)
        return true;
    p->open = p->quoted = false;
    bool ok = record(t, p->text.data, p->text.count, p->dropped);
    p->text.count = 0;
    p->dropped = false;
    if (p->text.capacity > 1 << 20)
        CLEAVE_VECTOR_FREE(&p->text);
    return ok;
}

static bool append(struct cleave_trace_pending *p, const char *text, size_t length)
{
    if (p->dropped || p->text.count + length > CLEAVE_TRACE_LINE_MAX) {
        p->dropped = true;
        return true;
    }
    if (!CLEAVE_RESERVE(&p->text, p->text.count + length + 1))
        return false;
    if (length)
        memcpy(p->text.data + p->text.count, text, length);
    p->text.count += length;
    return true;
}

bool cleave__csvlog_line(struct cleave_trace *t, const struct cleave_trace_line *line)
{
    struct cleave_trace_pending *p = &t->pending;
    bool odd = odd_quotes(line->text, line->length) || line->cut;
    if (p->open) {
        bool fresh = line->file != p->file;
        if (!fresh && !whole_record(t, line->text, line->length, &fresh))
            return false;
        if (!fresh) {
            t->counters.lines_continued++;
            p->quoted ^= odd;
            return append(p, "\n", 1) && append(p, line->text, line->length) &&
                   (p->quoted || flush(t));
        }
        if (!flush(t))
            return false;
    }
    if (line->length == 0) {
        t->counters.lines_passed++;
        return true;
    }
    t->counters.lines_entry++;
    p->file = line->file;
    if (!odd)
        return record(t, line->text, line->length, line->cut);
    p->open = p->quoted = true;
    p->dropped = line->cut;
    p->text.count = 0;
    return append(p, line->text, line->length);
}

bool cleave__csvlog_finish(struct cleave_trace *t)
{
    return flush(t);
}
