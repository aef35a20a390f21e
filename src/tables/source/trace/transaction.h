/* One session's transaction: the rules by which statements become committed work. */
#ifndef CLEAVE_TABLES_SOURCE_TRACE_TRANSACTION_H
#define CLEAVE_TABLES_SOURCE_TRACE_TRANSACTION_H

#include "tables/source/trace/session.h"
#include "tables/sql/split.h"

enum {
    CLEAVE_SESSION_KEY_MAX = 200,
    CLEAVE_HELD_MAX = 256 << 20, /* bytes that all open transactions may hold together */
};

enum cleave_block {
    CLEAVE_BLOCK_NONE,
    CLEAVE_BLOCK_IMPLICIT, /* within one string of statements */
    CLEAVE_BLOCK_OPEN,     /* behind BEGIN */
    CLEAVE_BLOCK_FAILED,   /* behind BEGIN and an error */
};

/* One thing the client asked to run. */
struct cleave_step {
    struct cleave_span text, detail;
    bool simple;   /* the text may hold several statements */
    bool in_block; /* it ran within a transaction block, whether or not we saw its BEGIN */
};

/* An SQL-level prepared statement of a session. */
struct cleave_prepared {
    struct cleave_prepared *next;
    size_t name_length, body_length;
    char bytes[]; /* name (folded), body */
};

struct cleave_session {
    struct cleave_session *chain, *newer, *older;
    uint64_t hash;
    const char *key, *label;
    uint32_t key_length, file;
    enum cleave_block block;
    struct cleave_trace_work *work; /* the open transaction; NULL when it is empty */
    struct cleave_prepared *prepared;
    size_t prepared_bytes;
    /* held: a step whose fate or parameters are not known yet */
    CLEAVE_VECTOR(char) held; /* text, then detail */
    size_t held_text, held_detail;
    bool holds, held_simple, held_done, held_in_block;
    bool detail_fits; /* the last entry was the held step's: a DETAIL now is its */
    /* an error whose STATEMENT may still come */
    bool error_open, error_waits, error_fatal, error_syntax, error_filtered;
    char *user, *database;
    char names[]; /* key, label */
};

/* Transactions set aside by PREPARE TRANSACTION, oldest first. */
struct cleave_aside {
    struct cleave_aside *next;
    struct cleave_trace_work *work;
    uint32_t file;
    char *label;
    size_t id_length;
    char id[];
};

/* What all sessions share. */
struct cleave_machine {
    struct cleave_trace_counters *counters;
    struct cleave_trace_works *works;
    struct cleave_bindings bindings;
    struct cleave_aside *aside;
    uint32_t aside_count;
    size_t held_bytes; /* text in open transactions and held steps */
};

uint64_t cleave__count_statements(struct cleave_span text);
/* A DETAIL line can change what the step means. */
bool cleave__step_wants_detail(const struct cleave_step *step);
/* All yield false when memory is out. */
bool cleave__session_run(struct cleave_machine *m, struct cleave_session *x,
                         const struct cleave_step *step);
bool cleave__session_hold(struct cleave_machine *m, struct cleave_session *x,
                          const struct cleave_step *step, bool done);
/* Gives the held step its DETAIL; runs it if it is known to be done. */
bool cleave__session_detail(struct cleave_machine *m, struct cleave_session *x,
                            struct cleave_span detail);
/* Runs the held step, if any: the session has gone on. */
bool cleave__session_settle(struct cleave_machine *m, struct cleave_session *x);
/* An error. `query` is the statement at fault, length 0 when the log does not say. */
bool cleave__session_fail(struct cleave_machine *m, struct cleave_session *x,
                          struct cleave_span query);
/* The session is gone: an open transaction is lost. */
bool cleave__session_lose(struct cleave_machine *m, struct cleave_session *x);
void cleave__session_release(struct cleave_machine *m, struct cleave_session *x);
/* Parts of the rules that have files of their own, and what they share. */
size_t cleave__work_bytes(const struct cleave_trace_work *work);
uint64_t cleave__work_count(const struct cleave_trace_work *work);
/* Takes the open transaction away from the session; NULL when it is empty. */
struct cleave_trace_work *cleave__session_detach(struct cleave_machine *m,
                                                 struct cleave_session *x);
/* Ends the open transaction as committed. */
bool cleave__session_commit(struct cleave_machine *m, struct cleave_session *x);
/* Counts a committed transaction and puts it into the queue, if it has statements. */
bool cleave__machine_deliver(struct cleave_machine *m, struct cleave_trace_work *work,
                             const char *label, uint32_t file, bool explicit_block);
/* prepared.c: PREPARE, DEALLOCATE (name NULL: all), and the body that an EXECUTE runs. */
bool cleave__prepared_remember(struct cleave_session *x, const struct cleave_piece *piece);
void cleave__prepared_forget(struct cleave_session *x, const char *name, size_t length);
bool cleave__prepared_body(const struct cleave_session *x, const struct cleave_piece *piece,
                           struct cleave_span detail, struct cleave_span *body);
/* aside.c: PREPARE TRANSACTION, COMMIT and ROLLBACK PREPARED. */
bool cleave__aside_put(struct cleave_machine *m, struct cleave_session *x,
                       const struct cleave_piece *piece);
bool cleave__aside_decide(struct cleave_machine *m, const struct cleave_piece *piece,
                          bool committed);
/* Commits what is still set aside. */
bool cleave__machine_finish(struct cleave_machine *m);
void cleave__machine_release(struct cleave_machine *m);

#endif
