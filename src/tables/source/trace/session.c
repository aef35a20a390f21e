/* The table of sessions, and what each log entry does to one. The transaction rules themselves are
 * in transaction.c.
 *
 * Sessions live in a chained hash table (XXH3 of the key) and in a list by last use. Invariant: a
 * session's `held` text is the statement whose outcome or parameters the log has yet to tell;
 * it is settled before anything else happens in the session. */
#include "tables/source/trace/session.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "tables/source/trace/transaction.h"

enum { SESSIONS_MAX = 1 << 14, BUCKETS = 1 << 14 };

struct cleave_sessions {
    struct cleave_machine machine;
    const struct cleave_trace_options *options;
    struct cleave_session **bucket;
    struct cleave_session *newest, *oldest; /* by last use */
    uint32_t count;
};

struct cleave_sessions *cleave__sessions_new(const struct cleave_trace_options *options,
                                             struct cleave_trace_counters *counters,
                                             struct cleave_trace_works *works)
{
    struct cleave_sessions *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->bucket = calloc(BUCKETS, sizeof *s->bucket);
    if (!s->bucket) {
        free(s);
        return NULL;
    }
    s->options = options;
    s->machine.counters = counters;
    s->machine.works = works;
    return s;
}

static void unlink_use(struct cleave_sessions *s, struct cleave_session *x)
{
    *(x->newer ? &x->newer->older : &s->newest) = x->older;
    *(x->older ? &x->older->newer : &s->oldest) = x->newer;
    x->newer = x->older = NULL;
}

static void link_newest(struct cleave_sessions *s, struct cleave_session *x)
{
    x->newer = NULL;
    x->older = s->newest;
    if (s->newest)
        s->newest->newer = x;
    else
        s->oldest = x;
    s->newest = x;
}

static void remove_session(struct cleave_sessions *s, struct cleave_session *x)
{
    struct cleave_session **at = &s->bucket[x->hash % BUCKETS];
    while (*at != x)
        at = &(*at)->chain;
    *at = x->chain;
    unlink_use(s, x);
    s->count--;
    cleave__session_release(&s->machine, x);
    free(x);
}

/* Settles what is held (a last error strikes it, else it is done), loses an open transaction. */
static bool end_session(struct cleave_sessions *s, struct cleave_session *x)
{
    bool ok = !x->error_waits || cleave__session_fail(&s->machine, x, (struct cleave_span){"", 0});
    ok = ok && cleave__session_settle(&s->machine, x) && cleave__session_lose(&s->machine, x);
    remove_session(s, x);
    return ok;
}

static struct cleave_session *find(struct cleave_sessions *s, struct cleave_span key, uint64_t hash)
{
    for (struct cleave_session *x = s->bucket[hash % BUCKETS]; x; x = x->chain) {
        if (x->hash == hash && x->key_length == key.length &&
            memcmp(x->key, key.text, key.length) == 0)
            return x;
    }
    return NULL;
}

static struct cleave_session *find_key(struct cleave_sessions *s, struct cleave_span key)
{
    if (key.length > CLEAVE_SESSION_KEY_MAX)
        key.length = CLEAVE_SESSION_KEY_MAX;
    return find(s, key, XXH3_64bits(key.text, key.length));
}

static struct cleave_session *obtain(struct cleave_sessions *s, struct cleave_span key,
                                     struct cleave_span label)
{
    if (key.length > CLEAVE_SESSION_KEY_MAX)
        key.length = CLEAVE_SESSION_KEY_MAX;
    if (label.length > CLEAVE_SESSION_KEY_MAX)
        label.length = CLEAVE_SESSION_KEY_MAX;
    uint64_t hash = XXH3_64bits(key.text, key.length);
    struct cleave_session *x = find(s, key, hash);
    if (x) {
        if (x != s->newest) {
            unlink_use(s, x);
            link_newest(s, x);
        }
        while (s->machine.held_bytes > CLEAVE_HELD_MAX && s->oldest != x) {
            if (!end_session(s, s->oldest))
                return NULL;
        }
        return x;
    }
    while (s->count >= SESSIONS_MAX) {
        if (!end_session(s, s->oldest))
            return NULL;
    }
    x = calloc(1, sizeof *x + key.length + label.length + 2);
    if (!x)
        return NULL;
    x->hash = hash;
    x->key_length = (uint32_t)key.length;
    x->key = x->names;
    memcpy(x->names, key.text, key.length);
    char *name = x->names + key.length + 1;
    for (size_t i = 0; i < label.length; i++)
        name[i] = label.text[i] ? label.text[i] : '?';
    x->label = name;
    x->chain = s->bucket[hash % BUCKETS];
    s->bucket[hash % BUCKETS] = x;
    link_newest(s, x);
    s->count++;
    return x;
}

void cleave__sessions_free(struct cleave_sessions *s)
{
    if (!s)
        return;
    while (s->newest)
        remove_session(s, s->newest);
    cleave__machine_release(&s->machine);
    free(s->bucket);
    free(s);
}

/* A restart or the end of the trace: sessions end in the order in which they were last heard. */
static bool end_all(struct cleave_sessions *s)
{
    bool ok = true;
    while (ok && s->oldest)
        ok = end_session(s, s->oldest);
    return ok;
}

bool cleave__sessions_end(struct cleave_sessions *s)
{
    return end_all(s) && cleave__machine_finish(&s->machine);
}

static bool filtered(const struct cleave_sessions *s, const struct cleave_session *x)
{
    const struct cleave_trace_options *o = s->options;
    return (o->database && x->database && strcmp(o->database, x->database) != 0) ||
           (o->user && x->user && strcmp(o->user, x->user) != 0);
}

/* Remembers a name that the log gives; "[unknown]" is none. */
static bool note_name(char **name, struct cleave_span given)
{
    if (given.length == 0 || given.text[0] == '[' ||
        (*name && strlen(*name) == given.length && memcmp(*name, given.text, given.length) == 0))
        return true;
    char *copy = malloc(given.length + 1); /* a span ends without a NUL: no string function */
    if (!copy)
        return false;
    memcpy(copy, given.text, given.length);
    copy[given.length] = 0;
    free(*name);
    *name = copy;
    return true;
}

static bool note_names(const struct cleave_sessions *s, struct cleave_session *x,
                       struct cleave_span user, struct cleave_span database)
{
    return (!s->options->user || note_name(&x->user, user)) &&
           (!s->options->database || note_name(&x->database, database));
}

static bool on_log(struct cleave_sessions *s, const struct cleave_trace_entry *e,
                   struct cleave_message m)
{
    struct cleave_machine *machine = &s->machine;
    struct cleave_session *x = obtain(s, e->session, e->label);
    if (!x || !note_names(s, x, e->user, e->database))
        return false;
    x->file = e->file;
    x->error_open = false;
    x->detail_fits = false;
    switch (m.kind) {
    case CLEAVE_MESSAGE_CONNECT:
        return end_session(s, x);
    case CLEAVE_MESSAGE_DISCONNECT:
        return end_session(s, x);
    case CLEAVE_MESSAGE_AUTHORIZE:
        return note_names(s, x, cleave__message_field(m.text, "user"),
                          cleave__message_field(m.text, "database"));
    case CLEAVE_MESSAGE_OTHER:
    case CLEAVE_MESSAGE_RESTART:
        return true;
    case CLEAVE_MESSAGE_DURATION:
        return cleave__session_settle(machine, x);
    case CLEAVE_MESSAGE_PARSE:
    case CLEAVE_MESSAGE_FETCH:
        machine->counters->statements++;
        if (filtered(s, x))
            machine->counters->statements_filtered++;
        else
            machine->counters->statements_parse_bind++;
        return cleave__session_settle(machine, x);
    case CLEAVE_MESSAGE_SIMPLE:
    case CLEAVE_MESSAGE_EXECUTE:
        break;
    }
    if (!cleave__session_settle(machine, x))
        return false;
    if (filtered(s, x)) {
        uint64_t count = cleave__count_statements(m.text);
        machine->counters->statements += count;
        machine->counters->statements_filtered += count;
        return true;
    }
    struct cleave_step step = {.text = m.text,
                               .detail = e->detail,
                               .simple = m.kind == CLEAVE_MESSAGE_SIMPLE,
                               .in_block = m.done && e->in_block};
    if (m.done && (e->whole || !cleave__step_wants_detail(&step)))
        return cleave__session_run(machine, x, &step);
    x->detail_fits = !e->whole;
    return cleave__session_hold(machine, x, &step, m.done);
}

static bool on_error(struct cleave_sessions *s, const struct cleave_trace_entry *e)
{
    struct cleave_session *x = obtain(s, e->session, e->label);
    if (!x || !note_names(s, x, e->user, e->database))
        return false;
    x->file = e->file;
    x->detail_fits = false;
    x->error_open = !e->whole;
    x->error_filtered = filtered(s, x);
    bool fatal = e->severity == CLEAVE_SEVERITY_FATAL;
    bool syntax = e->message.length >= 12 && memcmp(e->message.text, "syntax error", 12) == 0;
    if (x->error_filtered) {
        uint64_t count = e->query.length ? cleave__count_statements(e->query) : 0;
        s->machine.counters->statements += count;
        s->machine.counters->statements_filtered += count;
    } else {
        x->error_fatal = fatal;
        x->error_syntax = syntax;
        if (e->whole) {
            if (!cleave__session_fail(&s->machine, x, e->query))
                return false;
        } else {
            x->error_waits = true;
        }
    }
    return fatal && e->whole ? end_session(s, x) : true;
}

bool cleave__sessions_entry(struct cleave_sessions *s, const struct cleave_trace_entry *e)
{
    struct cleave_machine *machine = &s->machine;
    struct cleave_message m = {0};
    switch (e->severity) {
    case CLEAVE_SEVERITY_LOG:
        m = cleave__message_of(e->message);
        machine->counters->entries++;
        if (m.kind == CLEAVE_MESSAGE_RESTART) {
            machine->counters->entries_other++;
            return end_all(s);
        }
        if (m.kind == CLEAVE_MESSAGE_SIMPLE || m.kind == CLEAVE_MESSAGE_EXECUTE ||
            m.kind == CLEAVE_MESSAGE_PARSE || m.kind == CLEAVE_MESSAGE_FETCH)
            machine->counters->entries_statement++;
        else
            machine->counters->entries_other++;
        break;
    case CLEAVE_SEVERITY_ERROR:
    case CLEAVE_SEVERITY_FATAL:
        machine->counters->entries++;
        machine->counters->entries_error++;
        break;
    case CLEAVE_SEVERITY_NOTICE:
        machine->counters->entries++;
        machine->counters->entries_other++;
        break;
    default: /* an aside of the entry before it: no entry of its own */
        break;
    }
    if (e->session.length == 0)
        return true; /* a background process */
    if (m.kind == CLEAVE_MESSAGE_OTHER && e->severity == CLEAVE_SEVERITY_LOG)
        return true;
    if (e->severity == CLEAVE_SEVERITY_LOG || e->severity == CLEAVE_SEVERITY_ERROR ||
        e->severity == CLEAVE_SEVERITY_FATAL) {
        struct cleave_session *x = obtain(s, e->session, e->label);
        if (!x)
            return false;
        if (x->error_waits) { /* its STATEMENT did not come */
            bool fatal = x->error_fatal;
            if (!cleave__session_fail(machine, x, (struct cleave_span){"", 0}) ||
                (fatal && !end_session(s, x)))
                return false;
        }
        return e->severity == CLEAVE_SEVERITY_LOG ? on_log(s, e, m) : on_error(s, e);
    }
    if (e->severity != CLEAVE_SEVERITY_DETAIL && e->severity != CLEAVE_SEVERITY_STATEMENT)
        return true;
    struct cleave_session *x = find_key(s, e->session);
    if (!x)
        return true;
    if (e->severity == CLEAVE_SEVERITY_DETAIL) {
        if (!x->detail_fits)
            return true;
        x->detail_fits = false;
        return cleave__session_detail(machine, x, e->message);
    }
    if (!x->error_open)
        return true;
    x->error_open = false;
    if (x->error_filtered) {
        uint64_t count = cleave__count_statements(e->message);
        machine->counters->statements += count;
        machine->counters->statements_filtered += count;
        return true;
    }
    bool fatal = x->error_fatal;
    return cleave__session_fail(machine, x, e->message) && (!fatal || end_session(s, x));
}

bool cleave__sessions_string(struct cleave_sessions *s, struct cleave_span session,
                             struct cleave_span text, uint32_t file)
{
    struct cleave_session *x = obtain(s, session, session);
    if (!x)
        return false;
    x->file = file;
    return cleave__session_run(&s->machine, x, &(struct cleave_step){.text = text, .simple = true});
}

bool cleave__sessions_close(struct cleave_sessions *s, struct cleave_span session)
{
    struct cleave_session *x = find_key(s, session);
    return x ? end_session(s, x) : true;
}
