/* The inside of a PostgreSQL session; see postgres.c. */
#ifndef CLEAVE_STORE_POSTGRES_H
#define CLEAVE_STORE_POSTGRES_H

#include <libpq-fe.h>

#include "base/vector.h"
#include "store/words.h"

struct cleave__postgres {
    PGconn *connection;
    struct cleave_arena arena; /* of the session */
    const char *shown;
    bool open; /* a transaction is */

    /* What was sent and not received yet. */
    const struct cleave_store_batch *batch;
    bool begins; /* the batch begins the transaction */
    bool finishing;

    struct { /* of fill_row, on its way */
        char *data;
        size_t count, capacity;
    } rows;
    bool filling;
};

struct cleave__postgres *cleave__postgres_of(struct cleave_store_session *session);

enum cleave_status cleave__postgres_no_memory(struct cleave__postgres *p,
                                              struct cleave_error *error);
/* What a failed result, or (NULL) the connection, says, in one line; `statement` may be NULL. */
enum cleave_status cleave__postgres_fail(struct cleave__postgres *p, const PGresult *result,
                                         const char *statement, struct cleave_error *error);
/* A statement of our own whose rows are of no interest; waits for it. */
enum cleave_status cleave__postgres_run(struct cleave__postgres *p, const char *statement,
                                        struct cleave_error *error);
/* After a failure: no transaction is open, what is still to come is read. The first error stays. */
void cleave__postgres_forget(struct cleave__postgres *p);

enum cleave_status cleave__postgres_send(struct cleave_store_session *session,
                                         const struct cleave_store_batch *batch,
                                         struct cleave_error *error);
enum cleave_status cleave__postgres_receive(struct cleave_store_session *session,
                                            struct cleave_arena *arena,
                                            struct cleave_store_answer *answers, uint32_t *failed,
                                            struct cleave_error *error);
enum cleave_status cleave__postgres_send_finish(struct cleave_store_session *session,
                                                const char *name, bool commit,
                                                struct cleave_error *error);
enum cleave_status cleave__postgres_receive_finish(struct cleave_store_session *session,
                                                   struct cleave_error *error);
enum cleave_status cleave__postgres_prepared(struct cleave_store_session *session,
                                             const char *prefix, struct cleave_arena *arena,
                                             const char *const **names, uint32_t *count,
                                             struct cleave_error *error);
enum cleave_status cleave__postgres_hold(struct cleave_store_session *session, const char *name,
                                         struct cleave_error *error);
enum cleave_status cleave__postgres_tables(struct cleave_store_session *session,
                                           struct cleave_arena *arena,
                                           const struct cleave_store_table **tables,
                                           uint32_t *count, struct cleave_error *error);
enum cleave_status cleave__postgres_fill_begin(struct cleave_store_session *session,
                                               const char *table, const char *const *columns,
                                               uint32_t count, struct cleave_error *error);
enum cleave_status cleave__postgres_fill_row(struct cleave_store_session *session,
                                             const char *const *values, uint32_t count,
                                             struct cleave_error *error);
enum cleave_status cleave__postgres_fill_end(struct cleave_store_session *session,
                                             struct cleave_error *error);
enum cleave_status cleave__postgres_scan(struct cleave_store_session *session, const char *query,
                                         enum cleave_status (*each)(void *context, uint32_t columns,
                                                                    const char *const *values,
                                                                    struct cleave_error *error),
                                         void *context, struct cleave_error *error);

#endif
