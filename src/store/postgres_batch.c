/* Batches on PostgreSQL: BEGIN, the statements, and COMMIT or PREPARE TRANSACTION in one round
 * trip, by libpq's pipeline mode. Once a statement fails, the server passes over the rest of its
 * pipeline, the end of the transaction too; a ROLLBACK follows. Pipeline mode lasts from send to
 * receive, without blocking, so that neither side waits for the other to read. */
#include <assert.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/postgres.h"

enum { FINISH_SIZE = CLEAVE_PREPARED_NAME_MOST + 40 };

static bool queue(struct cleave__postgres *p, const char *text,
                  const struct cleave_store_parameter *parameters, uint32_t count)
{
    _Static_assert(sizeof(struct cleave_store_parameter) == sizeof(const char *), "one pointer");
    return PQsendQueryParams(p->connection, text, (int)count, NULL, (const char *const *)parameters,
                             NULL, NULL, 0);
}

static const char *end_text(const struct cleave_store_batch *batch, char *buffer)
{
    switch (batch->end) {
    case CLEAVE_BATCH_OPEN:
        return NULL;
    case CLEAVE_BATCH_COMMIT:
        return "COMMIT";
    case CLEAVE_BATCH_ROLLBACK:
        return "ROLLBACK";
    case CLEAVE_BATCH_PREPARE:
        snprintf(buffer, FINISH_SIZE, "PREPARE TRANSACTION '%s'", batch->name);
        return buffer;
    }
    return NULL;
}

/* Nothing to ask the server for. */
static bool is_idle(const struct cleave__postgres *p, const struct cleave_store_batch *batch)
{
    return batch->count == 0 && !p->open &&
           (batch->end == CLEAVE_BATCH_ROLLBACK || batch->end == CLEAVE_BATCH_COMMIT);
}

enum cleave_status cleave__postgres_send(struct cleave_store_session *session,
                                         const struct cleave_store_batch *batch,
                                         struct cleave_error *error)
{
    struct cleave__postgres *p = cleave__postgres_of(session);
    assert(!p->batch && !p->finishing && !p->filling);
    char buffer[FINISH_SIZE];
    enum cleave_status status = cleave__store_batch_check(p->shown, batch, error);
    if (status)
        return status;
    p->begins = !p->open;
    if (!is_idle(p, batch)) {
        bool sent = PQenterPipelineMode(p->connection) && !PQsetnonblocking(p->connection, 1);
        sent = sent && (!p->begins || queue(p, "BEGIN", NULL, 0));
        for (uint32_t i = 0; sent && i < batch->count; i++)
            sent = queue(p, batch->statements[i].text, batch->statements[i].parameters,
                         batch->statements[i].parameter_count);
        const char *last = end_text(batch, buffer);
        sent = sent && (!last || queue(p, last, NULL, 0));
        sent = sent && PQpipelineSync(p->connection) && PQflush(p->connection) >= 0;
        if (!sent) {
            status = cleave__postgres_fail(p, NULL, NULL, error);
            /* Half a pipeline cannot be taken back. */
            return status == CLEAVE_BAD_INPUT
                       ? cleave_error_set(error, CLEAVE_IO, "%.200s: out of memory", p->shown)
                       : status;
        }
    }
    p->batch = batch;
    return CLEAVE_OK;
}

/* Gets everything out, taking in what comes meanwhile. */
static bool flush(struct cleave__postgres *p)
{
    int left;
    while ((left = PQflush(p->connection)) == 1) {
        struct pollfd ready = {PQsocket(p->connection), POLLIN | POLLOUT, 0};
        if (poll(&ready, 1, -1) > 0 && (ready.revents & (POLLIN | POLLERR | POLLHUP)) &&
            !PQconsumeInput(p->connection))
            return false;
    }
    return left == 0 && !PQsetnonblocking(p->connection, 0);
}

static bool copy_answer(const PGresult *result, struct cleave_arena *arena,
                        struct cleave_store_answer *answer)
{
    uint32_t columns = (uint32_t)PQnfields(result), rows = (uint32_t)PQntuples(result);
    const char **names = cleave__arena_array(arena, columns, sizeof *names);
    const char **values = cleave__arena_array(arena, (size_t)rows * columns, sizeof *values);
    if (!names || !values)
        return false;
    for (uint32_t c = 0; c < columns; c++) {
        const char *name = PQfname(result, (int)c);
        if (!(names[c] = cleave__arena_copy(arena, name, strlen(name))))
            return false;
    }
    for (uint32_t i = 0; i < rows * columns; i++) {
        int row = (int)(i / columns), column = (int)(i % columns);
        values[i] = NULL;
        if (!PQgetisnull(result, row, column) &&
            !(values[i] = cleave__arena_copy(arena, PQgetvalue(result, row, column),
                                             (size_t)PQgetlength(result, row, column))))
            return false;
    }
    uint64_t affected = strtoull(PQcmdTuples((PGresult *)result), NULL, 10);
    *answer = (struct cleave_store_answer){affected, columns, rows, names, values};
    return true;
}

/* The result of one queued statement, and the NULL after it. */
static enum cleave_status take(struct cleave__postgres *p, const char *statement,
                               struct cleave_arena *arena, struct cleave_store_answer *answer,
                               struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    bool any = false;
    PGresult *result;
    while ((result = PQgetResult(p->connection))) {
        ExecStatusType kind = PQresultStatus(result);
        if (status)
            ;
        else if (kind != PGRES_COMMAND_OK && kind != PGRES_TUPLES_OK && kind != PGRES_EMPTY_QUERY)
            status = cleave__postgres_fail(p, result, statement, error);
        else if (answer && !copy_answer(result, arena, answer))
            status = cleave__postgres_no_memory(p, error);
        any = true;
        PQclear(result);
        if (PQstatus(p->connection) == CONNECTION_BAD)
            break;
    }
    if (!any && !status)
        status = cleave__postgres_fail(p, NULL, NULL, error);
    return status;
}

/* Reads on to the sync, and leaves pipeline mode. */
static enum cleave_status finish_pipeline(struct cleave__postgres *p, struct cleave_error *error)
{
    for (int empty = 0; empty < 2 && PQstatus(p->connection) == CONNECTION_OK;) {
        PGresult *result = PQgetResult(p->connection);
        ExecStatusType kind = PQresultStatus(result);
        empty = result ? 0 : empty + 1;
        PQclear(result);
        if (result && kind == PGRES_PIPELINE_SYNC)
            break;
    }
    if (PQstatus(p->connection) == CONNECTION_OK && PQexitPipelineMode(p->connection))
        return CLEAVE_OK;
    return cleave__postgres_fail(p, NULL, NULL, error);
}

enum cleave_status cleave__postgres_receive(struct cleave_store_session *session,
                                            struct cleave_arena *arena,
                                            struct cleave_store_answer *answers, uint32_t *failed,
                                            struct cleave_error *error)
{
    struct cleave__postgres *p = cleave__postgres_of(session);
    const struct cleave_store_batch *batch = p->batch;
    char buffer[FINISH_SIZE];
    assert(batch);
    p->batch = NULL;
    if (is_idle(p, batch))
        return CLEAVE_OK;
    enum cleave_status status = flush(p) ? CLEAVE_OK : cleave__postgres_fail(p, NULL, NULL, error);
    if (!status && p->begins)
        status = take(p, "BEGIN", arena, NULL, error);
    uint32_t at = 0;
    while (!status && at < batch->count) {
        status = take(p, batch->statements[at].text, arena, &answers[at], error);
        at += !status;
    }
    const char *last = end_text(batch, buffer);
    if (!status && last)
        status = take(p, last, arena, NULL, error);
    enum cleave_status ended = finish_pipeline(p, status ? NULL : error);
    if (status && ended && error) /* a connection that is lost is what matters */
        error->status = ended;
    status = ended ? ended : status;
    p->open = batch->end == CLEAVE_BATCH_OPEN;
    if (status) {
        cleave__postgres_forget(p);
        if (failed)
            *failed = at;
    }
    return status;
}

enum cleave_status cleave__postgres_send_finish(struct cleave_store_session *session,
                                                const char *name, bool commit,
                                                struct cleave_error *error)
{
    struct cleave__postgres *p = cleave__postgres_of(session);
    char text[FINISH_SIZE];
    assert(!p->batch && !p->finishing && !p->filling && !p->open);
    enum cleave_status status = cleave__store_name_check(p->shown, name, error);
    if (status)
        return status;
    snprintf(text, sizeof text, "%s PREPARED '%s'", commit ? "COMMIT" : "ROLLBACK", name);
    if (!queue(p, text, NULL, 0))
        return cleave__postgres_fail(p, NULL, NULL, error);
    p->finishing = true;
    return CLEAVE_OK;
}

enum cleave_status cleave__postgres_receive_finish(struct cleave_store_session *session,
                                                   struct cleave_error *error)
{
    struct cleave__postgres *p = cleave__postgres_of(session);
    enum cleave_status status = CLEAVE_OK;
    PGresult *result = PQgetResult(p->connection);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    assert(p->finishing);
    p->finishing = false;
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        status = cleave__postgres_fail(p, result, NULL, error);
    if (status == CLEAVE_BAD_INPUT && state && strcmp(state, "42704") == 0) {
        status = CLEAVE_NOT_FOUND;
        if (error)
            error->status = status;
    }
    PQclear(result);
    cleave__postgres_forget(p);
    return status;
}
