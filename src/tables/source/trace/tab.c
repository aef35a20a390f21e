/* "id TAB statement", one a line.
 *
 * When the trace has BEGIN of its own, an id is a session and the session rules hold. Else
 * consecutive lines of one id in one file are a run of one or several transactions, parted where
 * template.c has learned that they begin (and at COMMIT and ROLLBACK, if there are any). The look
 * ahead that it learns from is bounded, so that standard input works. */
#include <stdlib.h>
#include <string.h>

#include "tables/source/trace/reader.h"
#include "tables/source/trace/template.h"
#include "tables/sql/analyze.h"

enum { ID_MAX = 64 };

struct cleave_templates {
    struct cleave_boundaries boundaries;
    struct cleave_trace_work *work;
    uint64_t lines; /* of the run so far */
    uint32_t previous, file;
    size_t id_length;
    char id[ID_MAX + 1];
};

/* Splits the line; false when it is not of this form. */
static bool parts(const char *line, size_t length, struct cleave_span *id,
                  struct cleave_span *statement)
{
    const char *tab = memchr(line, '\t', length < ID_MAX + 1 ? length : ID_MAX + 1);
    if (!tab || tab == line)
        return false;
    for (const char *c = line; c < tab; c++) {
        if ((unsigned char)*c <= ' ')
            return false;
    }
    *id = (struct cleave_span){line, (size_t)(tab - line)};
    *statement = (struct cleave_span){tab + 1, length - (size_t)(tab + 1 - line)};
    return true;
}

bool cleave__tab_looks(const char *line, size_t length)
{
    struct cleave_span id, statement;
    struct cleave_piece piece;
    if (!parts(line, length, &id, &statement))
        return false;
    cleave__split_classify(statement.text, statement.length, &piece);
    return piece.verb != CLEAVE_VERB_OTHER;
}

static bool same_run(const struct cleave_templates *s, struct cleave_span id, uint32_t file)
{
    return s->lines && s->file == file && s->id_length == id.length &&
           memcmp(s->id, id.text, id.length) == 0;
}

static void enter_run(struct cleave_templates *s, struct cleave_span id, uint32_t file)
{
    memcpy(s->id, id.text, id.length);
    s->id[id.length] = 0;
    s->id_length = id.length;
    s->file = file;
    s->lines = 0;
    s->previous = CLEAVE_TEMPLATE_NONE;
}

bool cleave__tab_learn(struct cleave_trace *t)
{
    struct cleave_templates *s = calloc(1, sizeof *s);
    if (!s)
        return false;
    t->templates = s;
    CLEAVE_VECTOR(uint32_t) sequence = {0}; /* template; the high half of a pair: begins a run */
    CLEAVE_VECTOR(bool) begins = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < t->lines.kept.count; i++) {
        struct cleave_trace_line line = cleave__trace_lines_ahead(&t->lines, i);
        struct cleave_span id, statement;
        struct cleave_piece piece;
        if (!parts(line.text, line.length, &id, &statement))
            continue;
        cleave__split_classify(statement.text, statement.length, &piece);
        t->blocks |= piece.verb == CLEAVE_VERB_BEGIN;
        bool fresh = !same_run(s, id, line.file);
        if (fresh)
            enter_run(s, id, line.file);
        s->lines++;
        uint32_t template = cleave__template_of(&s->boundaries, piece.text, piece.length, true);
        ok = CLEAVE_PUSH(&sequence, template) && CLEAVE_PUSH(&begins, fresh) &&
             (!fresh || cleave__boundaries_note_start(&s->boundaries, template));
    }
    s->boundaries.previous = s->boundaries.run_start = CLEAVE_TEMPLATE_NONE;
    for (size_t i = 0; ok && i < sequence.count; i++)
        ok = cleave__boundaries_note_step(&s->boundaries, sequence.data[i], begins.data[i]);
    if (ok)
        cleave__boundaries_decide(&s->boundaries);
    CLEAVE_VECTOR_FREE(&sequence);
    CLEAVE_VECTOR_FREE(&begins);
    s->lines = 0;
    return ok;
}

/* Ends the transaction that is being gathered. */
static bool deliver(struct cleave_trace *t, bool committed)
{
    struct cleave_templates *s = t->templates;
    struct cleave_trace_work *work = s->work;
    struct cleave_trace_counters *c = &t->counters;
    s->work = NULL;
    s->previous = CLEAVE_TEMPLATE_NONE;
    if (!work)
        return true;
    uint64_t count = work->statements.count;
    if (work->dropped) {
        c->statements_oversized += count + work->dropped;
        c->transactions_oversized++;
    } else if (!committed) {
        c->statements_rolled_back += count;
        c->transactions_rolled_back++;
    } else if (count) {
        if (!cleave__work_finish(&t->works, work, s->id, s->file)) {
            cleave__work_drop(&t->works, work);
            return false;
        }
        c->statements_kept += count;
        c->transactions++;
        return true;
    }
    cleave__work_drop(&t->works, work);
    return true;
}

static bool gather(struct cleave_trace *t, const struct cleave_piece *piece)
{
    struct cleave_templates *s = t->templates;
    uint32_t template = cleave__template_of(&s->boundaries, piece->text, piece->length, false);
    if (s->work && cleave__boundary_between(&s->boundaries, s->previous, template) &&
        !deliver(t, true))
        return false;
    s->previous = template;
    if (!s->work && !(s->work = cleave__work_take(&t->works)))
        return false;
    if (piece->length > CLEAVE_STATEMENT_MAX) {
        t->counters.statements_oversized++;
        return true;
    }
    return cleave__work_add(s->work, piece->text, piece->length, NULL, 0);
}

static bool statements(struct cleave_trace *t, struct cleave_span text)
{
    const char *at = text.text, *end = at + text.length;
    struct cleave_piece piece;
    bool any = false;
    while (cleave__split_next(&at, end, &piece)) {
        any = true;
        t->counters.statements++;
        bool ok = true;
        switch (piece.verb) {
        case CLEAVE_VERB_BEGIN:
        case CLEAVE_VERB_COMMIT:
        case CLEAVE_VERB_ROLLBACK:
            t->counters.statements_control++;
            ok = deliver(t, piece.verb != CLEAVE_VERB_ROLLBACK);
            break;
        case CLEAVE_VERB_ROLLBACK_TO:
        case CLEAVE_VERB_SAVEPOINT:
        case CLEAVE_VERB_RELEASE:
            t->counters.statements_control++;
            break;
        default:
            ok = gather(t, &piece);
        }
        if (!ok)
            return false;
    }
    if (!any) {
        t->counters.statements++;
        t->counters.statements_empty++;
    }
    return true;
}

bool cleave__tab_line(struct cleave_trace *t, const struct cleave_trace_line *line)
{
    struct cleave_templates *s = t->templates;
    struct cleave_span id, text;
    if (line->length == 0) {
        t->counters.lines_passed++;
        return true;
    }
    t->counters.lines_entry++;
    if (!parts(line->text, line->length, &id, &text)) {
        cleave__trace_bad(t, line->text, line->length);
        return true;
    }
    t->counters.entries++;
    t->counters.entries_statement++;
    if (line->file != s->file && !cleave__tab_finish(t))
        return false;
    if (t->blocks) {
        s->file = line->file;
        return cleave__sessions_string(t->sessions, id, text, line->file);
    }
    if (!same_run(s, id, line->file)) {
        if (!deliver(t, true))
            return false;
        enter_run(s, id, line->file);
    }
    s->lines++;
    return statements(t, text);
}

bool cleave__tab_finish(struct cleave_trace *t)
{
    return (!t->templates || deliver(t, true)) && cleave__sessions_end(t->sessions);
}

void cleave__tab_free(struct cleave_trace *t)
{
    struct cleave_templates *s = t->templates;
    if (!s)
        return;
    cleave__work_drop(&t->works, s->work);
    cleave__boundaries_free(&s->boundaries);
    free(s);
    t->templates = NULL;
}
