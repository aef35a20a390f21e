/* The inside of an SQLite session; see sqlite.c. */
#ifndef CLEAVE_STORE_SQLITE_H
#define CLEAVE_STORE_SQLITE_H

#include <sqlite3.h>

#include "base/vector.h"
#include "store/words.h"

struct cleave__text { /* growing, NUL-terminated once something is in it */
    char *data;
    size_t count, capacity;
};
bool cleave__text_add(struct cleave__text *text, const char *more);
void cleave__text_clear(struct cleave__text *text);

struct cleave__sqlite {
    sqlite3 *db;
    char *path;
    struct cleave_arena arena, scratch; /* of the session; of one call */
    const char *shown;
    bool created; /* the file, by this session */
    bool writes;  /* the file is set up for it */
    uint64_t busy_since_ns, draw;

    /* The transaction that is open, if any: nothing of it is in the file (sqlite_batch.c). */
    struct cleave__text redo; /* its changes so far, as statements */
    struct cleave__text undo; /* what takes its staging tables away */
    uint64_t changes;         /* rows that running `redo` changes */
    bool held;                /* staging tables are there, in a transaction of SQLite's */

    /* What was sent and not received yet. */
    const struct cleave_store_batch *batch;
    bool finishing, finish_commits;
    char finish_name[CLEAVE_PREPARED_NAME_MOST + 1];

    CLEAVE_VECTOR(const char *) cells; /* of the answer that is being read */

    char *hold_path; /* a file that is locked as long as the session lasts; NULL: none */
    int hold_file;

    /* fill_begin .. fill_end */
    sqlite3_stmt *fill;
    uint32_t fill_columns;
    struct cleave__text fill_redo;
};

struct cleave__sqlite *cleave__sqlite_of(struct cleave_store_session *session);

/* An error in one line with the file; `statement` may be NULL. */
enum cleave_status cleave__sqlite_fail(struct cleave__sqlite *s, int code, const char *statement,
                                       struct cleave_error *error);
enum cleave_status cleave__sqlite_no_memory(struct cleave__sqlite *s, struct cleave_error *error);
/* The first statement of a text, prepared; NULL in `*out` when there is none. `*tail` (may be NULL:
 * there must not be a second) is what follows. */
enum cleave_status cleave__sqlite_prepare(struct cleave__sqlite *s, const char *text,
                                          sqlite3_stmt **out, const char **tail,
                                          struct cleave_error *error);
/* Runs statements whose rows are of no interest. */
enum cleave_status cleave__sqlite_run(struct cleave__sqlite *s, const char *statements,
                                      struct cleave_error *error);
/* A cell as text: NULL of SQL's NULL. Valid until the next step. */
enum cleave_status cleave__sqlite_cell(struct cleave__sqlite *s, sqlite3_stmt *statement,
                                       int column, const char **out, struct cleave_error *error);

/* Begins SQLite's transaction, brings it where the session's is, and ends it again. */
enum cleave_status cleave__sqlite_enter(struct cleave__sqlite *s, bool write,
                                        struct cleave_error *error);
/* Back to what it was before; the session's transaction goes on. */
enum cleave_status cleave__sqlite_leave(struct cleave__sqlite *s, struct cleave_error *error);
/* Ends the session's transaction without a trace. */
void cleave__sqlite_forget(struct cleave__sqlite *s);

/* Redoes one text of statements; CLEAVE_CORRUPT when it changes another number of rows. */
enum cleave_status cleave__sqlite_redo(struct cleave__sqlite *s, const char *statements,
                                       uint64_t changes, struct cleave_error *error);
/* Stores the session's transaction under a name; within SQLite's transaction. */
enum cleave_status cleave__sqlite_store(struct cleave__sqlite *s, const char *name,
                                        struct cleave_error *error);

enum cleave_status cleave__sqlite_send(struct cleave_store_session *session,
                                       const struct cleave_store_batch *batch,
                                       struct cleave_error *error);
enum cleave_status cleave__sqlite_receive(struct cleave_store_session *session,
                                          struct cleave_arena *arena,
                                          struct cleave_store_answer *answers, uint32_t *failed,
                                          struct cleave_error *error);
enum cleave_status cleave__sqlite_send_finish(struct cleave_store_session *session,
                                              const char *name, bool commit,
                                              struct cleave_error *error);
enum cleave_status cleave__sqlite_receive_finish(struct cleave_store_session *session,
                                                 struct cleave_error *error);
enum cleave_status cleave__sqlite_prepared(struct cleave_store_session *session, const char *prefix,
                                           struct cleave_arena *arena, const char *const **names,
                                           uint32_t *count, struct cleave_error *error);
enum cleave_status cleave__sqlite_hold(struct cleave_store_session *session, const char *name,
                                       struct cleave_error *error);
void cleave__sqlite_let_go(struct cleave__sqlite *s);
enum cleave_status cleave__sqlite_tables(struct cleave_store_session *session,
                                         struct cleave_arena *arena,
                                         const struct cleave_store_table **tables, uint32_t *count,
                                         struct cleave_error *error);
enum cleave_status cleave__sqlite_fill_begin(struct cleave_store_session *session,
                                             const char *table, const char *const *columns,
                                             uint32_t count, struct cleave_error *error);
enum cleave_status cleave__sqlite_fill_row(struct cleave_store_session *session,
                                           const char *const *values, uint32_t count,
                                           struct cleave_error *error);
enum cleave_status cleave__sqlite_fill_end(struct cleave_store_session *session,
                                           struct cleave_error *error);
enum cleave_status cleave__sqlite_scan(struct cleave_store_session *session, const char *query,
                                       enum cleave_status (*each)(void *context, uint32_t columns,
                                                                  const char *const *values,
                                                                  struct cleave_error *error),
                                       void *context, struct cleave_error *error);

#endif
