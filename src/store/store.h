/* A SQL store: one shard, or the unsharded database, behind one table of operations.
 *
 * `sqlite` is a file in this process, `postgres` a server reached by libpq. A *session* is one
 * connection; any number may be open to one store, each used by one thread at a time. Work goes in
 * *batches*: statements that belong to one transaction, and how it goes on after them. Sending
 * does not wait, so that several stores work side by side; a batch is received before the next is
 * sent on its session.
 *
 * Distributed transactions: a batch that ends with CLEAVE_BATCH_PREPARE makes the work so far
 * durable under a name, and it is neither visible nor lost until it is committed or rolled back by
 * that name, from any session, after a crash too. Names are at most CLEAVE_PREPARED_NAME_MOST bytes
 * of letters, digits, "_", "-", ".".
 *
 * Errors name the store (its URL without a password), and the statement if there is one, in one
 * line. After a failed statement (CLEAVE_BAD_INPUT; CLEAVE_CONFLICT: given up for another's sake,
 * so that it may do when begun anew) the transaction is rolled back and the session can go on;
 * after CLEAVE_IO (the connection is lost, the server is gone) it can only be closed. */
#ifndef CLEAVE_STORE_STORE_H
#define CLEAVE_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "cleave/status.h"

enum { CLEAVE_PREPARED_NAME_MOST = 100 };

struct cleave_store_session;

struct cleave_store_parameter { /* of $1.. */
    const char *text;           /* NULL: SQL's NULL */
};

struct cleave_store_statement {
    const char *text; /* one statement, NUL-terminated, without a semicolon */
    const struct cleave_store_parameter *parameters;
    uint32_t parameter_count;
};

enum cleave_batch_end {
    CLEAVE_BATCH_OPEN,     /* the transaction stays open */
    CLEAVE_BATCH_COMMIT,   /* here alone */
    CLEAVE_BATCH_ROLLBACK, /* also of one that failed already, or is not open */
    CLEAVE_BATCH_PREPARE   /* under `name` */
};

/* The first batch after an end begins a transaction. Borrowed until it is received. */
struct cleave_store_batch {
    const struct cleave_store_statement *statements;
    uint32_t count;
    enum cleave_batch_end end;
    const char *name;
};

/* Of one statement. Values are text as the store's own client would print it. */
struct cleave_store_answer {
    uint64_t affected; /* rows that were inserted, changed, removed; or returned */
    uint32_t columns, rows;
    const char *const *names;  /* [columns] */
    const char *const *values; /* [rows * columns], row by row; NULL: SQL's NULL */
};

struct cleave_store_table { /* as the store has it */
    const char *name;       /* as cleave_schema has names: without "public." */
    uint32_t column_count;
    const char *const *columns, *const *types; /* [column_count] */
};

/* Required, all of them. */
struct cleave_store_ops {
    const char *name;
    enum cleave_status (*open)(const char *url, struct cleave_store_session **out,
                               struct cleave_error *error);
    void (*close)(struct cleave_store_session *session);

    enum cleave_status (*send)(struct cleave_store_session *session,
                               const struct cleave_store_batch *batch, struct cleave_error *error);
    /* `answers` [count of the batch] live in `arena`. On a failed statement nothing is left open or
     * prepared, and `*failed` (may be NULL) is its index (of the end itself: the count). */
    enum cleave_status (*receive)(struct cleave_store_session *session, struct cleave_arena *arena,
                                  struct cleave_store_answer *answers, uint32_t *failed,
                                  struct cleave_error *error);

    /* Of a prepared transaction. CLEAVE_NOT_FOUND: there is none of that name (any more). send_ and
     * receive_ as above; one is sent, then received. */
    enum cleave_status (*send_finish)(struct cleave_store_session *session, const char *name,
                                      bool commit, struct cleave_error *error);
    enum cleave_status (*receive_finish)(struct cleave_store_session *session,
                                         struct cleave_error *error);
    /* Names that begin with `prefix`, in `arena`. */
    enum cleave_status (*prepared)(struct cleave_store_session *session, const char *prefix,
                                   struct cleave_arena *arena, const char *const **names,
                                   uint32_t *count, struct cleave_error *error);

    /* Claims a name, in this database, until the session is closed or its process is gone.
     * CLEAVE_CONFLICT: another session has it; the error says who. Nothing may be open. */
    enum cleave_status (*hold)(struct cleave_store_session *session, const char *name,
                               struct cleave_error *error);

    /* What tables there are, in `arena`, sorted by name; cleave's own (cleave_...) are left out. */
    enum cleave_status (*tables)(struct cleave_store_session *session, struct cleave_arena *arena,
                                 const struct cleave_store_table **tables, uint32_t *count,
                                 struct cleave_error *error);
    /* Rows into a table, within the open transaction (begun if there is none). `columns` [count] or
     * NULL: all, in order. A row that a constraint refuses fails fill_row, fill_end, or the batch
     * after them. */
    enum cleave_status (*fill_begin)(struct cleave_store_session *session, const char *table,
                                     const char *const *columns, uint32_t count,
                                     struct cleave_error *error);
    enum cleave_status (*fill_row)(struct cleave_store_session *session, const char *const *values,
                                   uint32_t count, struct cleave_error *error);
    enum cleave_status (*fill_end)(struct cleave_store_session *session,
                                   struct cleave_error *error);
    /* Every row of a query, in bounded memory; a status of `each` other than CLEAVE_OK stops, and
     * may end the open transaction without a trace. */
    enum cleave_status (*scan)(struct cleave_store_session *session, const char *query,
                               enum cleave_status (*each)(void *context, uint32_t columns,
                                                          const char *const *values,
                                                          struct cleave_error *error),
                               void *context, struct cleave_error *error);
};

extern const struct cleave_store_ops cleave__sqlite, cleave__postgres;

/* By a URL: postgres://..., postgresql://... or a libpq connection string ("host=... port=...");
 * sqlite:FILE, or a path. `{}` in a URL stands for the shard's number (cleave__store_url). */
const struct cleave_store_ops *cleave__store_of(const char *url);
/* `url` with every "{}" replaced by `shard`, in `arena`; NULL: memory is out. */
const char *cleave__store_url(const char *url, uint32_t shard, struct cleave_arena *arena);
/* Without its password, for messages, in `arena`. */
const char *cleave__store_shown(const char *url, struct cleave_arena *arena);
/* The same text for two sessions to one database, whatever their URLs; never for two databases.
 * Nothing may be open in the session. */
enum { CLEAVE_IDENTITY_SIZE = 300 };
enum cleave_status cleave__store_identity(const char *url, struct cleave_store_session *session,
                                          char identity[CLEAVE_IDENTITY_SIZE],
                                          struct cleave_error *error);

#endif
