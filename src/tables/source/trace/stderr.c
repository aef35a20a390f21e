/* The server's plain log: a prefix, a severity, a message; what follows on lines that begin with a
 * tab belongs to it. DETAIL, STATEMENT and the like are lines with a prefix of their own, matched
 * to the session they name.
 *
 * A line that fits neither is counted as a bad entry and ends the entry before it. */
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

static bool flush(struct cleave_trace *t)
{
    struct cleave_trace_pending *p = &t->pending;
    if (!p->open)
        return true;
    p->open = false;
    const char *names = p->names.data;
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

static bool begin(struct cleave_trace *t, const struct cleave_trace_line *line,
                  const struct cleave_prefix_match *match)
{
    static const struct cleave_span at_sign = {"@", 1}, alone = {"log", 3};
    struct cleave_trace_pending *p = &t->pending;
    p->open = true;
    p->dropped = false;
    p->severity = match->severity;
    p->file = line->file;
    p->in_block = cleave__vxid_in_block(match->vxid);
    p->text.count = p->names.count = 0;
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
    p->key = p->names.count;
    p->label = label.length;
    p->user = match->user.length;
    p->database = match->database.length;
    ok = ok && add(p, label) && add(p, match->user) && add(p, match->database);
    return ok && append(p, line->text + match->message, line->length - match->message);
}

bool cleave__stderr_line(struct cleave_trace *t, const struct cleave_trace_line *line)
{
    struct cleave_trace_pending *p = &t->pending;
    struct cleave_prefix_match match;
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
    if (!flush(t))
        return false;
    t->counters.lines_entry++;
    if (!cleave__prefix_match(&t->prefix, line->text, line->length, &match)) {
        t->counters.entries++;
        t->counters.entries_bad++;
        return true;
    }
    return begin(t, line, &match);
}

bool cleave__stderr_finish(struct cleave_trace *t)
{
    return flush(t);
}
