/* Which database a session is to, so that two URLs of one are found out whatever their spelling:
 * what is done to both would be done twice, or wait for itself.
 *
 * PostgreSQL: the server's start, to the microsecond and in no session's time zone, and the
 * database's name. SQLite: the file. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/store.h"

enum cleave_status cleave__store_identity(const char *url, struct cleave_store_session *session,
                                          char identity[CLEAVE_IDENTITY_SIZE],
                                          struct cleave_error *error)
{
    const struct cleave_store_ops *ops = cleave__store_of(url);
    if (ops == &cleave__sqlite) {
        const char *path = strncmp(url, "sqlite:", 7) ? url : url + 7;
        struct stat file;
        if (stat(path, &file) == 0)
            snprintf(identity, CLEAVE_IDENTITY_SIZE, "%llu/%llu", (unsigned long long)file.st_dev,
                     (unsigned long long)file.st_ino);
        else
            snprintf(identity, CLEAVE_IDENTITY_SIZE, "%s", path);
        return CLEAVE_OK;
    }
    const struct cleave_store_statement ask = {
        "SELECT current_database() || ' ' || extract(epoch FROM pg_postmaster_start_time()) || ' ' "
        "|| "
        "current_setting('port') || ' ' || current_setting('server_version')",
        NULL, 0};
    const struct cleave_store_batch batch = {&ask, 1, CLEAVE_BATCH_COMMIT, NULL};
    struct cleave_store_answer answer;
    struct cleave_arena arena = {0};
    enum cleave_status status = ops->send(session, &batch, error);
    if (!status)
        status = ops->receive(session, &arena, &answer, NULL, error);
    if (!status)
        snprintf(identity, CLEAVE_IDENTITY_SIZE, "%s", answer.values[0]);
    cleave__arena_free(&arena);
    return status;
}
