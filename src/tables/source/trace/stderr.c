/* The server's plain log: a prefix, a severity, a message; what follows on lines that begin with a
 * tab belongs to it. DETAIL, STATEMENT and the like are lines with a prefix of their own, matched
 * to the session they name.
 *
 * A line that fits neither is counted as a bad entry and ends the entry before it. Through syslog,
 * the pieces of one message come as numbered lines, between those of other processes: then each
 * process has its own open entry. */
#include <stdlib.h>
#include <string.h>

#include "tables/source/trace/reader.h"

bool cleave__vxid_in_block(struct cleave_span vxid)
{
    const char *slash = vxid.length ? memchr(vxid.text, '/', vxid.length) : NULL;
    if (!slash)
        return false;
    size_t left = vxid.length - (size_t)(slash + 1 - vxid.text);
    return left > 0 && !(left == 1 && slash[1] == '0');
}

static bool add(struct cleave_trace_pending *p, struct cleave_span s)
{
    if (!CLEAVE_RESERVE(&p->names, p->names.count + s.length + 1))
        return false;
    if (s.length)
        memcpy(p->names.data + p->names.count, s.text, s.length);
    p->names.count += s.length;
    return true;
}

static bool flush(struct cleave_trace *t, struct cleave_trace_pending *p)
{
    if (!p->open)
        return true;
    p->open = false;
    const char *names = p->names.data + p->pid;
    struct cleave_trace_entry entry = {
        .severity = p->severity,
        .session = {names, p->key},
        .label = {names + p->key, p->label},
        .user = {names + p->key + p->label, p->user},
        .database = {names + p->key + p->label + p->user, p->database},
        .message = {p->text.data, p->text.count},
        .in_block = p->in_block,
        .file = p->file,
    };
    return cleave__sessions_entry(t->sessions, &entry);
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

static bool begin(struct cleave_trace_pending *p, const struct cleave_trace_line *line,
                  const struct cleave_prefix_match *match)
{
    static const struct cleave_span at_sign = {"@", 1}, alone = {"log", 3};
    p->open = true;
    p->dropped = false;
    p->severity = match->severity;
    p->file = line->file;
    p->in_block = cleave__vxid_in_block(match->vxid);
    p->text.count = 0;
    p->names.count = p->pid;
    if (p->text.capacity > 1 << 20)
        CLEAVE_VECTOR_FREE(&p->text);
    /* The key: a session id; else the pid with whatever tells its users apart; else anything. */
    struct cleave_span label = match->pid;
    bool ok;
    if (match->session_id.length) {
        label = match->session_id;
        ok = add(p, label);
    } else if (match->pid.length) {
        ok = add(p, match->pid) && add(p, at_sign) && add(p, match->remote) &&
             add(p, match->started);
    } else if (match->remote.length) {
        label = match->remote;
        ok = add(p, match->remote);
    } else if (match->user.length || match->database.length) {
        label = match->user;
        ok = add(p, match->user) && add(p, at_sign) && add(p, match->database);
    } else {
        label = alone;
        ok = add(p, alone);
    }
    p->key = p->names.count - p->pid;
    p->label = label.length;
    p->user = match->user.length;
    p->database = match->database.length;
    ok = ok && add(p, label) && add(p, match->user) && add(p, match->database);
    return ok && append(p, line->text + match->message, line->length - match->message);
}

/* The open entry of the process, or the slot for one: an unused one, else the one silent longest.
 */
static bool slot_of(struct cleave_trace *t, struct cleave_span pid,
                    struct cleave_trace_pending **out)
{
    if (!t->syslog && !(t->syslog = calloc(CLEAVE_SYSLOG_OPEN_MAX, sizeof *t->syslog)))
        return false;
    struct cleave_trace_pending *oldest = &t->syslog[0];
    for (size_t i = 0; i < CLEAVE_SYSLOG_OPEN_MAX; i++) {
        struct cleave_trace_pending *p = &t->syslog[i];
        if (p->pid == pid.length && p->pid && memcmp(p->names.data, pid.text, p->pid) == 0) {
            oldest = p;
            break;
        }
        if (p->used < oldest->used)
            oldest = p;
    }
    oldest->used = ++t->syslog_clock;
    *out = oldest;
    if (oldest->pid == pid.length && memcmp(oldest->names.data, pid.text, pid.length) == 0)
        return true;
    if (!flush(t, oldest))
        return false;
    oldest->pid = oldest->names.count = 0;
    bool ok = add(oldest, pid);
    oldest->pid = oldest->names.count;
    return ok;
}

/* rsyslog writes a tab as #011. */
static size_t tab_at(const char *text, size_t length)
{
    return length && text[0] == '\t' ? 1 : length >= 4 && memcmp(text, "#011", 4) == 0 ? 4 : 0;
}

static bool syslog_line(struct cleave_trace *t, const struct cleave_trace_line *line)
{
    struct cleave_syslog header;
    struct cleave_prefix_match match;
    struct cleave_trace_pending *p;
    if (!cleave__syslog_header(line->text, line->length, &header)) {
        t->counters.lines_passed++; /* another program's line, or "last message repeated" */
        return true;
    }
    if (!slot_of(t, header.pid, &p))
        return false;
    struct cleave_trace_line rest = *line;
    rest.text += header.rest;
    rest.length -= header.rest;
    bool fits = cleave__prefix_match(&t->prefix, rest.text, rest.length, &match);
    /* The message's later pieces hold its DETAIL, or just more of its text. */
    if (fits && (header.chunk <= 1 || match.severity >= CLEAVE_SEVERITY_DETAIL)) {
        if (match.severity >= CLEAVE_SEVERITY_DETAIL)
            t->counters.lines_continued++;
        else
            t->counters.lines_entry++;
        if (!flush(t, p))
            return false;
        if (!match.pid.length)
            match.pid = header.pid;
        return begin(p, &rest, &match);
    }
    size_t tab = tab_at(rest.text, rest.length);
    if (header.chunk == 1 || (header.chunk == 0 && !tab && !p->open)) {
        t->counters.lines_entry++;
        cleave__trace_bad(t, line->text, line->length);
        return flush(t, p);
    }
    t->counters.lines_continued++;
    if (!p->open)
        return true;
    return (!tab || append(p, "\n", 1)) && append(p, rest.text + tab, rest.length - tab);
}

bool cleave__stderr_line(struct cleave_trace *t, const struct cleave_trace_line *line)
{
    struct cleave_trace_pending *p = &t->pending;
    struct cleave_prefix_match match;
    if (t->prefix.syslog)
        return syslog_line(t, line);
    if (line->length == 0 || line->text[0] == '\t') {
        if (line->length == 0 && !p->open) {
            t->counters.lines_passed++;
            return true;
        }
        t->counters.lines_continued++;
        if (!p->open)
            return true; /* of a bad entry, or the log begins within one */
        size_t skip = line->length > 0;
        return append(p, "\n", 1) && append(p, line->text + skip, line->length - skip);
    }
    if (!flush(t, p))
        return false;
    t->counters.lines_entry++;
    if (!cleave__prefix_match(&t->prefix, line->text, line->length, &match)) {
        cleave__trace_bad(t, line->text, line->length);
        return true;
    }
    return begin(p, line, &match);
}

bool cleave__stderr_finish(struct cleave_trace *t)
{
    for (size_t i = 0; t->syslog && i < CLEAVE_SYSLOG_OPEN_MAX; i++) {
        if (!flush(t, &t->syslog[i]))
            return false;
    }
    return flush(t, &t->pending);
}

void cleave__stderr_free(struct cleave_trace *t)
{
    for (size_t i = 0; t->syslog && i < CLEAVE_SYSLOG_OPEN_MAX; i++) {
        CLEAVE_VECTOR_FREE(&t->syslog[i].text);
        CLEAVE_VECTOR_FREE(&t->syslog[i].names);
    }
    free(t->syslog);
}
