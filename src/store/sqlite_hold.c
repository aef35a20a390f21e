/* A claim on a file of SQLite's: a file beside it, FILE-cleave-NAME, under a lock that the system
 * lets go with its process. Not on the database's own file: to close a second descriptor of that
 * would end SQLite's locks. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite.h"

void cleave__sqlite_let_go(struct cleave__sqlite *s)
{
    if (!s->hold_path)
        return;
    unlink(s->hold_path);
    close(s->hold_file);
    free(s->hold_path);
    s->hold_path = NULL;
}

/* Whether the file that was locked is still the one of that name. */
static bool is_there(const char *path, int file)
{
    struct stat named, locked;
    return stat(path, &named) == 0 && fstat(file, &locked) == 0 && named.st_ino == locked.st_ino &&
           named.st_dev == locked.st_dev;
}

enum cleave_status cleave__sqlite_hold(struct cleave_store_session *session, const char *name,
                                       struct cleave_error *error)
{
    struct cleave__sqlite *s = cleave__sqlite_of(session);
    size_t size = strlen(s->path) + strlen(name) + 20;
    char *path = malloc(size);
    if (!path || s->hold_path) {
        free(path);
        return cleave__sqlite_no_memory(s, error);
    }
    snprintf(path, size, "%s-cleave-%s", s->path, name);
    for (;;) {
        int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (file < 0) {
            enum cleave_status status =
                cleave_error_set(error, CLEAVE_IO, "%.300s: %s", path, strerror(errno));
            free(path);
            return status;
        }
        if (flock(file, LOCK_EX | LOCK_NB) == 0) {
            if (!is_there(path, file)) { /* its last holder has just taken it away */
                close(file);
                continue;
            }
            dprintf(file, "%-20ld\n", (long)getpid());
            s->hold_path = path;
            s->hold_file = file;
            return CLEAVE_OK;
        }
        char pid[21] = "";
        ssize_t length = read(file, pid, sizeof pid - 1);
        pid[length > 0 ? strcspn(pid, " \n") : 0] = 0;
        close(file);
        enum cleave_status status = cleave_error_set(
            error, CLEAVE_CONFLICT, "\"%.60s\" is held by the process %.20s on %.200s", name, pid,
            s->shown);
        free(path);
        return status;
    }
}
