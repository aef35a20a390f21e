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

uint64_t cleave__count_statements(struct cleave_span text)
{
    const char *at = text.text, *end = at + text.length;
    struct cleave_piece piece;
    uint64_t count = 0;
    while (cleave__split_next(&at, end, &piece))
        count++;
    return count ? count : 1;
}

size_t cleave__work_bytes(const struct cleave_trace_work *work)
{
    return work ? work->bytes.count : 0;
}

uint64_t cleave__work_count(const struct cleave_trace_work *work)
{
    return work ? work->statements.count : 0;
}

/* Takes the open transaction away from the session; statements that did not fit are counted. */
struct cleave_trace_work *cleave__session_detach(struct cleave_machine *m, struct cleave_session *x)
{
    struct cleave_trace_work *work = x->work;
    x->work = NULL;
    m->held_bytes -= cleave__work_bytes(work);
    if (work)
        m->counters->statements_oversized += work->dropped;
    return work;
}

bool cleave__machine_deliver(struct cleave_machine *m, struct cleave_trace_work *work,
                             const char *label, uint32_t file, bool explicit_block)
{
    uint64_t count = cleave__work_count(work);
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

bool cleave__session_commit(struct cleave_machine *m, struct cleave_session *x)
{
    bool explicit_block = x->block != CLEAVE_BLOCK_IMPLICIT;
    x->block = CLEAVE_BLOCK_NONE;
    return cleave__machine_deliver(m, cleave__session_detach(m, x), x->label, x->file,
                                   explicit_block);
}

static void roll_back(struct cleave_machine *m, struct cleave_session *x)
{
    bool explicit_block = x->block >= CLEAVE_BLOCK_OPEN;
    struct cleave_trace_work *work = cleave__session_detach(m, x);
    m->counters->statements_rolled_back += cleave__work_count(work);
    if (explicit_block || cleave__work_count(work))
        m->counters->transactions_rolled_back++;
    cleave__work_drop(m->works, work);
    x->block = CLEAVE_BLOCK_NONE;
}

bool cleave__session_lose(struct cleave_machine *m, struct cleave_session *x)
{
    bool was_open = x->block != CLEAVE_BLOCK_NONE;
    struct cleave_trace_work *work = cleave__session_detach(m, x);
    m->counters->statements_lost += cleave__work_count(work);
    if (was_open)
        m->counters->transactions_lost++;
    cleave__work_drop(m->works, work);
    x->block = CLEAVE_BLOCK_NONE;
    return true;
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
    size_t before = cleave__work_bytes(x->work);
    bool ok = cleave__work_add(x->work, text.text, text.length,
                               bindings ? bindings->parameters.data : NULL,
                               bindings ? (uint32_t)bindings->parameters.count : 0);
    m->held_bytes += cleave__work_bytes(x->work) - before;
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
        if (!cleave__prepared_body(x, piece, step->detail, &text)) {
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
            ok = cleave__session_commit(m, x);
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
            ok = cleave__aside_put(m, x, piece);
        break;
    case CLEAVE_VERB_COMMIT_PREPARED:
        ok = cleave__aside_decide(m, piece, true);
        break;
    case CLEAVE_VERB_ROLLBACK_PREPARED:
        ok = cleave__aside_decide(m, piece, false);
        break;
    case CLEAVE_VERB_PREPARE:
        ok = cleave__prepared_remember(x, piece);
        break;
    case CLEAVE_VERB_DEALLOCATE:
        if (piece->name && strncasecmp(piece->name, "all", 3) == 0 && piece->name_length == 3)
            cleave__prepared_forget(x, NULL, 0);
        else if (piece->name)
            cleave__prepared_forget(x, piece->name, piece->name_length);
        break;
    case CLEAVE_VERB_DISCARD:
        if (piece->name && strncasecmp(piece->name, "all", 3) == 0 && piece->name_length == 3)
            cleave__prepared_forget(x, NULL, 0);
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
    return x->block == CLEAVE_BLOCK_IMPLICIT ? cleave__session_commit(m, x) : true;
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
    cleave__work_drop(m->works, cleave__session_detach(m, x));
    let_go(m, x);
    cleave__prepared_forget(x, NULL, 0);
    CLEAVE_VECTOR_FREE(&x->held);
    free(x->user);
    free(x->database);
}
