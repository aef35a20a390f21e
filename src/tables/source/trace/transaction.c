/* The session machine's rules; see session.h for them in words.
 *
 * Accounting: a statement is counted in `statements` when its step is run or fails, and at the same
 * time in one other counter, except that those which join an open transaction wait in its work
 * until that commits (kept), rolls back, or is lost. */
#include "tables/source/trace/transaction.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tables/sql/analyze.h"
#include "tables/sql/split.h"

enum { PREPARED_BYTES_MAX = 1 << 20, ASIDE_MAX = 1024 };

uint64_t cleave__count_statements(struct cleave_span text)
{
    const char *at = text.text, *end = at + text.length;
    struct cleave_piece piece;
    uint64_t count = 0;
    while (cleave__split_next(&at, end, &piece))
        count++;
    return count ? count : 1;
}

static size_t work_bytes(const struct cleave_trace_work *work)
{
    return work ? work->bytes.count : 0;
}

static uint64_t work_count(const struct cleave_trace_work *work)
{
    return work ? work->statements.count : 0;
}

/* Takes the open transaction away from the session; statements that did not fit are counted. */
static struct cleave_trace_work *detach(struct cleave_machine *m, struct cleave_session *x)
{
    struct cleave_trace_work *work = x->work;
    x->work = NULL;
    m->held_bytes -= work_bytes(work);
    if (work)
        m->counters->statements_oversized += work->dropped;
    return work;
}

static bool deliver(struct cleave_machine *m, struct cleave_trace_work *work, const char *label,
                    uint32_t file, bool explicit_block)
{
    uint64_t count = work_count(work);
    if (work && work->dropped) {
        m->counters->statements_oversized += count;
        m->counters->transactions_oversized++;
        count = 0;
    }
    if (count == 0) {
        cleave__work_drop(m->works, work);
        return true;
    }
    if (!cleave__work_finish(m->works, work, label, file)) {
        cleave__work_drop(m->works, work);
        return false;
    }
    m->counters->statements_kept += count;
    m->counters->transactions++;
    if (!explicit_block) {
        if (count == 1)
            m->counters->transactions_autocommit++;
        else
            m->counters->transactions_implicit++;
    }
    return true;
}

static bool commit(struct cleave_machine *m, struct cleave_session *x)
{
    bool explicit_block = x->block != CLEAVE_BLOCK_IMPLICIT;
    x->block = CLEAVE_BLOCK_NONE;
    return deliver(m, detach(m, x), x->label, x->file, explicit_block);
}

static void roll_back(struct cleave_machine *m, struct cleave_session *x)
{
    bool explicit_block = x->block >= CLEAVE_BLOCK_OPEN;
    struct cleave_trace_work *work = detach(m, x);
    m->counters->statements_rolled_back += work_count(work);
    if (explicit_block || work_count(work))
        m->counters->transactions_rolled_back++;
    cleave__work_drop(m->works, work);
    x->block = CLEAVE_BLOCK_NONE;
}

bool cleave__session_lose(struct cleave_machine *m, struct cleave_session *x)
{
    bool was_open = x->block != CLEAVE_BLOCK_NONE;
    struct cleave_trace_work *work = detach(m, x);
    m->counters->statements_lost += work_count(work);
    if (was_open)
        m->counters->transactions_lost++;
    cleave__work_drop(m->works, work);
    x->block = CLEAVE_BLOCK_NONE;
    return true;
}

/* --- SQL-level PREPARE --- */

/* A name as the server sees it: unquoted, or folded to lower case. Compares equal forms only. */
static bool names_match(const char *a, size_t a_length, const char *b, size_t b_length)
{
    bool a_quoted = a_length >= 2 && a[0] == '"', b_quoted = b_length >= 2 && b[0] == '"';
    if (a_quoted)
        a++, a_length -= 2;
    if (b_quoted)
        b++, b_length -= 2;
    if (a_length != b_length)
        return false;
    return a_quoted && b_quoted ? memcmp(a, b, a_length) == 0 : strncasecmp(a, b, a_length) == 0;
}

/* "(int, text) AS body" -> body. */
static bool body_of(struct cleave_span rest, struct cleave_span *body)
{
    size_t i = cleave__split_skip_blank(rest.text, rest.length);
    if (i < rest.length && rest.text[i] == '(') {
        size_t depth = 0;
        for (; i < rest.length; i++) {
            if (rest.text[i] == '(')
                depth++;
            else if (rest.text[i] == ')' && --depth == 0)
                break;
        }
        i += i < rest.length;
    }
    i += cleave__split_skip_blank(rest.text + i, rest.length - i);
    if (i + 2 >= rest.length || strncasecmp(rest.text + i, "as", 2) != 0)
        return false;
    i += 2;
    i += cleave__split_skip_blank(rest.text + i, rest.length - i);
    *body = (struct cleave_span){rest.text + i, rest.length - i};
    return body->length > 0;
}

static void forget(struct cleave_session *x, const char *name, size_t length)
{
    for (struct cleave_prepared **at = &x->prepared; *at;) {
        struct cleave_prepared *p = *at;
        if (name && !names_match(p->bytes, p->name_length, name, length)) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        x->prepared_bytes -= p->name_length + p->body_length;
        free(p);
    }
}

static bool remember(struct cleave_session *x, const struct cleave_piece *piece)
{
    struct cleave_span body;
    if (!piece->name || !body_of((struct cleave_span){piece->rest, piece->rest_length}, &body))
        return true;
    forget(x, piece->name, piece->name_length);
    size_t size = piece->name_length + body.length;
    if (size > PREPARED_BYTES_MAX - x->prepared_bytes)
        return true; /* its EXECUTEs will count as unbound unless the log shows the body */
    struct cleave_prepared *p = malloc(sizeof *p + size);
    if (!p)
        return false;
    *p = (struct cleave_prepared){x->prepared, piece->name_length, body.length};
    memcpy(p->bytes, piece->name, piece->name_length);
    memcpy(p->bytes + piece->name_length, body.text, body.length);
    x->prepared = p;
    x->prepared_bytes += size;
    return true;
}

/* The body of the statement that EXECUTE names: from the DETAIL, else from the session. */
static bool find_body(const struct cleave_session *x, const struct cleave_piece *piece,
                      struct cleave_span detail, struct cleave_span *body)
{
    struct cleave_span shown;
    if (piece->name && cleave__detail_is_prepare(detail, &shown)) {
        struct cleave_piece source;
        cleave__split_classify(shown.text, shown.length, &source);
        if (source.verb != CLEAVE_VERB_PREPARE) {
            *body = (struct cleave_span){source.text, source.length};
            return source.length > 0; /* prepared by protocol, run by SQL */
        }
        if (source.name &&
            names_match(source.name, source.name_length, piece->name, piece->name_length))
            return body_of((struct cleave_span){source.rest, source.rest_length}, body);
    }
    for (const struct cleave_prepared *p = x->prepared; p && piece->name; p = p->next) {
        if (names_match(p->bytes, p->name_length, piece->name, piece->name_length)) {
            *body = (struct cleave_span){p->bytes + p->name_length, p->body_length};
            return true;
        }
    }
    return false;
}

/* --- two-phase commit --- */

static bool set_aside(struct cleave_machine *m, struct cleave_session *x,
                      const struct cleave_piece *piece)
{
    if (x->block != CLEAVE_BLOCK_OPEN)
        return true;
    if (!piece->name)
        return commit(m, x);
    while (m->aside && (m->aside_count >= ASIDE_MAX || m->held_bytes > CLEAVE_HELD_MAX)) {
        struct cleave_aside *oldest = m->aside; /* counts as committed */
        m->aside = oldest->next;
        m->aside_count--;
        m->held_bytes -= work_bytes(oldest->work);
        bool ok = deliver(m, oldest->work, oldest->label, oldest->file, true);
        free(oldest->label);
        free(oldest);
        if (!ok)
            return false;
    }
    struct cleave_aside *aside = malloc(sizeof *aside + piece->name_length);
    char *label = strdup(x->label);
    if (!aside || !label) {
        free(aside);
        free(label);
        return false;
    }
    x->block = CLEAVE_BLOCK_NONE;
    *aside = (struct cleave_aside){NULL, detach(m, x), x->file, label, piece->name_length};
    memcpy(aside->id, piece->name, piece->name_length);
    m->held_bytes += work_bytes(aside->work);
    struct cleave_aside **last = &m->aside;
    while (*last)
        last = &(*last)->next;
    *last = aside;
    m->aside_count++;
    return true;
}

static bool decide_aside(struct cleave_machine *m, const struct cleave_piece *piece, bool committed)
{
    struct cleave_aside **at = &m->aside;
    while (*at && !(piece->name && (*at)->id_length == piece->name_length &&
                    memcmp((*at)->id, piece->name, piece->name_length) == 0))
        at = &(*at)->next;
    struct cleave_aside *aside = *at;
    if (!aside)
        return true; /* prepared before the log began */
    *at = aside->next;
    m->aside_count--;
    m->held_bytes -= work_bytes(aside->work);
    bool ok = true;
    if (committed) {
        ok = deliver(m, aside->work, aside->label, aside->file, true);
    } else {
        m->counters->statements_rolled_back += work_count(aside->work);
        m->counters->transactions_rolled_back++;
        cleave__work_drop(m->works, aside->work);
    }
    free(aside->label);
    free(aside);
    return ok;
}

bool cleave__machine_finish(struct cleave_machine *m)
{
    while (m->aside) {
        struct cleave_piece piece = {.name = m->aside->id, .name_length = m->aside->id_length};
        if (!decide_aside(m, &piece, true))
            return false;
    }
    return true;
}

void cleave__machine_release(struct cleave_machine *m)
{
    while (m->aside) {
        struct cleave_aside *aside = m->aside;
        m->aside = aside->next;
        cleave__work_drop(m->works, aside->work);
        free(aside->label);
        free(aside);
    }
    cleave__bindings_free(&m->bindings);
}

/* --- running a step --- */

/* Puts a statement into the open transaction. */
static bool join(struct cleave_machine *m, struct cleave_session *x, struct cleave_span text,
                 const struct cleave_bindings *bindings)
{
    if (text.length > CLEAVE_STATEMENT_MAX) {
        m->counters->statements_oversized++;
        return true;
    }
    if (!x->work && !(x->work = cleave__work_take(m->works)))
        return false;
    size_t before = work_bytes(x->work);
    bool ok = cleave__work_add(x->work, text.text, text.length,
                               bindings ? bindings->parameters.data : NULL,
                               bindings ? (uint32_t)bindings->parameters.count : 0);
    m->held_bytes += work_bytes(x->work) - before;
    if (ok && bindings)
        m->counters->parameters_cut += bindings->cut;
    return ok;
}

static bool run_data(struct cleave_machine *m, struct cleave_session *x,
                     const struct cleave_piece *piece, const struct cleave_step *step)
{
    struct cleave_span text = {piece->text, piece->length}, rest;
    if (x->block == CLEAVE_BLOCK_FAILED) {
        roll_back(m, x); /* it ran, so the failed transaction had ended unseen */
        x->block = CLEAVE_BLOCK_NONE;
    }
    if (x->block == CLEAVE_BLOCK_NONE)
        x->block = step->simple && step->in_block ? CLEAVE_BLOCK_OPEN : CLEAVE_BLOCK_IMPLICIT;
    if (piece->verb == CLEAVE_VERB_EXECUTE) {
        if (!find_body(x, piece, step->detail, &text)) {
            m->counters->statements_unbound++;
            return true;
        }
        return cleave__bindings_of_arguments(
                   &m->bindings, (struct cleave_span){piece->rest, piece->rest_length}) &&
               join(m, x, text, &m->bindings);
    }
    if (!cleave__detail_is_parameters(step->detail, &rest))
        return join(m, x, text, NULL);
    return cleave__bindings_of_detail(&m->bindings, rest) && join(m, x, text, &m->bindings);
}

/* One statement of a step. */
static bool run_piece(struct cleave_machine *m, struct cleave_session *x,
                      const struct cleave_piece *piece, const struct cleave_step *step)
{
    m->counters->statements++;
    switch (piece->verb) {
    case CLEAVE_VERB_OTHER:
    case CLEAVE_VERB_COPY:
    case CLEAVE_VERB_SELECT:
    case CLEAVE_VERB_DML:
    case CLEAVE_VERB_KNOWN:
    case CLEAVE_VERB_EXECUTE:
        return run_data(m, x, piece, step);
    default:
        break;
    }
    m->counters->statements_control++;
    bool failed = x->block == CLEAVE_BLOCK_FAILED, ok = true;
    switch (piece->verb) {
    case CLEAVE_VERB_BEGIN:
        if (failed)
            roll_back(m, x); /* BEGIN cannot run there: the end went unseen */
        x->block = CLEAVE_BLOCK_OPEN;
        break;
    case CLEAVE_VERB_COMMIT:
    case CLEAVE_VERB_ROLLBACK:
        if (failed || piece->verb == CLEAVE_VERB_ROLLBACK)
            roll_back(m, x);
        else
            ok = commit(m, x);
        if (piece->chain)
            x->block = CLEAVE_BLOCK_OPEN;
        break;
    case CLEAVE_VERB_ROLLBACK_TO:
        if (failed)
            x->block = CLEAVE_BLOCK_OPEN;
        break;
    case CLEAVE_VERB_PREPARE_TRANSACTION:
        if (failed)
            roll_back(m, x);
        else
            ok = set_aside(m, x, piece);
        break;
    case CLEAVE_VERB_COMMIT_PREPARED:
        ok = decide_aside(m, piece, true);
        break;
    case CLEAVE_VERB_ROLLBACK_PREPARED:
        ok = decide_aside(m, piece, false);
        break;
    case CLEAVE_VERB_PREPARE:
        ok = remember(x, piece);
        break;
    case CLEAVE_VERB_DEALLOCATE:
        if (piece->name && strncasecmp(piece->name, "all", 3) == 0 && piece->name_length == 3)
            forget(x, NULL, 0);
        else if (piece->name)
            forget(x, piece->name, piece->name_length);
        break;
    case CLEAVE_VERB_DISCARD:
        if (piece->name && strncasecmp(piece->name, "all", 3) == 0 && piece->name_length == 3)
            forget(x, NULL, 0);
        break;
    default: /* SAVEPOINT, RELEASE */
        break;
    }
    return ok;
}

bool cleave__session_run(struct cleave_machine *m, struct cleave_session *x,
                         const struct cleave_step *step)
{
    const char *at = step->text.text, *end = at + step->text.length;
    struct cleave_piece piece;
    bool any = false;
    if (step->simple) {
        while (cleave__split_next(&at, end, &piece)) {
            any = true;
            if (!run_piece(m, x, &piece, step))
                return false;
        }
    } else {
        cleave__split_classify(step->text.text, step->text.length, &piece);
        any = cleave__split_skip_blank(piece.text, piece.length) < piece.length;
        if (any && !run_piece(m, x, &piece, step))
            return false;
    }
    if (!any) {
        m->counters->statements++;
        m->counters->statements_empty++;
    }
    return x->block == CLEAVE_BLOCK_IMPLICIT ? commit(m, x) : true;
}

bool cleave__step_wants_detail(const struct cleave_step *step)
{
    if (!step->simple) {
        const char *at = step->text.text, *end = at + step->text.length;
        while (at < end && (at = memchr(at, '$', (size_t)(end - at)))) {
            at++;
            if (at < end && *at >= '1' && *at <= '9')
                return true;
        }
        return false;
    }
    /* SQL EXECUTE, even behind other statements of the string. */
    const char *at = step->text.text;
    size_t left = step->text.length;
    while (left >= 7) {
        const char *e = memchr(at, 'e', left),
                   *upper = memchr(at, 'E', e ? (size_t)(e - at) : left);
        e = upper ? upper : e;
        if (!e || left - (size_t)(e - at) < 7)
            return false;
        if (strncasecmp(e, "execute", 7) == 0)
            return true;
        left -= (size_t)(e - at) + 1;
        at = e + 1;
    }
    return false;
}

/* --- holding a step until its fate is known --- */

bool cleave__session_hold(struct cleave_machine *m, struct cleave_session *x,
                          const struct cleave_step *step, bool done)
{
    size_t size = step->text.length + step->detail.length;
    if (!CLEAVE_RESERVE(&x->held, size + 1))
        return false;
    memcpy(x->held.data, step->text.text, step->text.length);
    memcpy(x->held.data + step->text.length, step->detail.text ? step->detail.text : "",
           step->detail.length);
    x->held.count = size;
    x->held_text = step->text.length;
    x->held_detail = step->detail.length;
    x->held_simple = step->simple;
    x->held_in_block = step->in_block;
    x->held_done = done;
    x->holds = true;
    m->held_bytes += size;
    return true;
}

static void let_go(struct cleave_machine *m, struct cleave_session *x)
{
    m->held_bytes -= x->held.count;
    x->held.count = 0;
    x->holds = false;
    if (x->held.capacity > 1 << 16)
        CLEAVE_VECTOR_FREE(&x->held);
}

bool cleave__session_settle(struct cleave_machine *m, struct cleave_session *x)
{
    if (!x->holds)
        return true;
    x->holds = false;
    struct cleave_step step = {.text = {x->held.data, x->held_text},
                               .detail = {x->held.data + x->held_text, x->held_detail},
                               .simple = x->held_simple,
                               .in_block = x->held_in_block};
    bool ok = cleave__session_run(m, x, &step);
    let_go(m, x);
    return ok;
}

bool cleave__session_detail(struct cleave_machine *m, struct cleave_session *x,
                            struct cleave_span detail)
{
    if (!x->holds)
        return true;
    if (!CLEAVE_RESERVE(&x->held, x->held_text + detail.length + 1))
        return false;
    m->held_bytes += detail.length - x->held_detail;
    memcpy(x->held.data + x->held_text, detail.text, detail.length);
    x->held_detail = detail.length;
    x->held.count = x->held_text + detail.length;
    return x->held_done ? cleave__session_settle(m, x) : true;
}

/* --- errors --- */

static bool is_control(enum cleave_verb verb)
{
    return verb == CLEAVE_VERB_BEGIN || verb == CLEAVE_VERB_SAVEPOINT ||
           verb == CLEAVE_VERB_COMMIT || verb == CLEAVE_VERB_ROLLBACK ||
           verb == CLEAVE_VERB_ROLLBACK_TO || verb == CLEAVE_VERB_RELEASE;
}

/* A step failed, nobody says where. A single statement did; of a string of several, transaction
 * control before the first other statement is taken to have run, the rest to have failed. A syntax
 * error is found before anything runs. */
static bool fail_text(struct cleave_machine *m, struct cleave_session *x, struct cleave_span text,
                      bool syntax)
{
    const char *at = text.text, *end = at + text.length;
    struct cleave_piece piece;
    struct cleave_step step = {.simple = true};
    bool failed = syntax;
    while (cleave__split_next(&at, end, &piece)) {
        size_t left = (size_t)(end - at);
        bool last = cleave__split_skip_blank(at, left) == left;
        if (!failed && !last && is_control(piece.verb)) {
            if (!run_piece(m, x, &piece, &step))
                return false;
            continue;
        }
        if (!failed && piece.verb == CLEAVE_VERB_COMMIT)
            roll_back(m, x); /* a commit that fails ends the transaction all the same */
        failed = true;
        m->counters->statements++;
        m->counters->statements_failed++;
    }
    return true;
}

bool cleave__session_fail(struct cleave_machine *m, struct cleave_session *x,
                          struct cleave_span query)
{
    bool syntax = x->error_syntax, fatal = x->error_fatal;
    x->error_waits = x->error_syntax = false;
    struct cleave_span text = query;
    bool struck = false;
    if (x->holds) {
        struct cleave_span held = {x->held.data, x->held_text};
        bool same = query.length == held.length && memcmp(query.text, held.text, held.length) == 0;
        bool unsaid = query.length == 0 && !syntax && !fatal;
        if (!x->held_done && (same || unsaid)) {
            text = held;
            struck = true;
        } else if (!cleave__session_settle(m, x)) {
            return false;
        }
    }
    bool ok = text.length ? fail_text(m, x, text, syntax) : true;
    if (struck)
        let_go(m, x);
    if (x->block == CLEAVE_BLOCK_OPEN)
        x->block = CLEAVE_BLOCK_FAILED;
    else if (x->block == CLEAVE_BLOCK_IMPLICIT)
        roll_back(m, x);
    return ok;
}

void cleave__session_release(struct cleave_machine *m, struct cleave_session *x)
{
    cleave__work_drop(m->works, detach(m, x));
    let_go(m, x);
    forget(x, NULL, 0);
    CLEAVE_VECTOR_FREE(&x->held);
    free(x->user);
    free(x->database);
}
