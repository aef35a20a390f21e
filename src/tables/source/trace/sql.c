/* Plain SQL files: statements end at semicolons; BEGIN and COMMIT delimit, else each statement is a
 * transaction. psql's backslash commands and the data lines of COPY FROM stdin are passed over.
 * Each file is one session. */
#include <string.h>
#include <strings.h>

#include "tables/source/trace/reader.h"

static struct cleave_span session_of(const struct cleave_trace *t, uint32_t file)
{
    const char *path = t->lines.paths[file];
    const char *slash = strrchr(path, '/');
    const char *name = slash && slash[1] ? slash + 1 : path;
    return (struct cleave_span){name, strlen(name)};
}

static bool reads_data(const struct cleave_piece *piece)
{
    if (piece->verb != CLEAVE_VERB_COPY)
        return false;
    for (size_t i = 0; i + 5 <= piece->length; i++) {
        if ((piece->text[i] | 32) == 's' && strncasecmp(piece->text + i, "stdin", 5) == 0)
            return true;
    }
    return false;
}

static bool run(struct cleave_trace *t)
{
    struct cleave_trace_pending *p = &t->pending;
    bool dropped = p->dropped;
    t->counters.entries++;
    t->counters.entries_statement++;
    p->open = p->dropped = false;
    size_t length = p->text.count;
    p->text.count = 0;
    if (dropped) {
        t->counters.statements++;
        t->counters.statements_oversized++;
        CLEAVE_VECTOR_FREE(&p->text);
        return true;
    }
    struct cleave_piece piece;
    cleave__split_classify(p->text.data, length, &piece);
    t->copying = reads_data(&piece);
    return cleave__sessions_string(t->sessions, session_of(t, p->file),
                                   (struct cleave_span){p->text.data, length}, p->file);
}

static bool append(struct cleave_trace_pending *p, const char *text, size_t length)
{
    if (p->dropped || p->text.count + length > CLEAVE_TRACE_LINE_MAX) {
        p->dropped = true;
        return true;
    }
    if (!CLEAVE_RESERVE(&p->text, p->text.count + length + 1))
        return false;
    memcpy(p->text.data + p->text.count, text, length);
    p->text.count += length;
    return true;
}

bool cleave__sql_line(struct cleave_trace *t, const struct cleave_trace_line *line)
{
    struct cleave_trace_pending *p = &t->pending;
    if (p->open && p->file != line->file && !cleave__sql_finish(t))
        return false;
    p->file = line->file;
    if (t->copying) {
        t->counters.lines_passed++;
        t->copying = !(line->length == 2 && memcmp(line->text, "\\.", 2) == 0);
        return true;
    }
    size_t at = 0;
    bool continued = t->splitter.some, began = false;
    while (!t->splitter.some && !cleave__split_is_open(&t->splitter) && at < line->length &&
           (line->text[at] == ' ' || line->text[at] == '\t'))
        at++;
    if (!t->splitter.some && !cleave__split_is_open(&t->splitter) && at < line->length &&
        line->text[at] == '\\') {
        t->counters.lines_passed++;
        return true;
    }
    while (at < line->length) {
        size_t used = 0;
        bool ended = cleave__split_feed(&t->splitter, line->text + at, line->length - at, &used);
        if (!append(p, line->text + at, used))
            return false;
        at += used;
        if (!ended)
            break;
        if (t->splitter.some) {
            began = true;
            if (!run(t))
                return false;
        }
        p->text.count = 0;
        t->splitter = (struct cleave_splitter){0};
    }
    size_t used = 0;
    cleave__split_feed(&t->splitter, "\n", 1, &used);
    began |= t->splitter.some;
    if (continued)
        t->counters.lines_continued++;
    else if (began)
        t->counters.lines_entry++;
    else
        t->counters.lines_passed++;
    p->open = t->splitter.some || cleave__split_is_open(&t->splitter);
    if (!p->open)
        p->text.count = 0;
    else if (!append(p, "\n", 1))
        return false;
    if (line->cut)
        p->dropped = true;
    return true;
}

bool cleave__sql_finish(struct cleave_trace *t)
{
    struct cleave_trace_pending *p = &t->pending;
    bool ok = true;
    if (p->open && cleave__split_is_open(&t->splitter)) {
        /* a quote or comment that nothing closes */
        cleave__trace_bad(t, p->text.data, p->text.count);
    } else if (p->open) {
        ok = run(t);
    }
    p->open = p->dropped = t->copying = false;
    p->text.count = 0;
    t->splitter = (struct cleave_splitter){0};
    return ok && cleave__sessions_end(t->sessions);
}
