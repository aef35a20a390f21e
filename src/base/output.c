/* Whole-or-nothing files; see the header. */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum cleave_status fail(const char *path, const char *what, int number,
                               struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_IO, "%.300s: cannot %s: %s", path, what,
                            strerror(number));
}

/* The file that a path means, symbolic links followed; a copy of the path when nothing is there. */
static char *target_of(const char *path, bool exists)
{
    return exists ? realpath(path, NULL) : strdup(path);
}

/* Opens the temporary neighbour with the mode it is to have. */
static bool open_beside(struct cleave__output *output, mode_t mode)
{
    size_t length = strlen(output->path);
    output->temporary = malloc(length + sizeof ".XXXXXX");
    if (!output->temporary)
        return false;
    memcpy(output->temporary, output->path, length);
    memcpy(output->temporary + length, ".XXXXXX", sizeof ".XXXXXX");
    int descriptor = mkstemp(output->temporary);
    if (descriptor < 0) {
        int number = errno;
        free(output->temporary); /* nothing to unlink */
        output->temporary = NULL;
        errno = number;
        return false;
    }
    if (!fchmod(descriptor, mode) && (output->file = fdopen(descriptor, "w")))
        return true;
    int number = errno;
    close(descriptor);
    errno = number;
    return false;
}

enum cleave_status cleave__output_open(struct cleave__output *output, const char *path,
                                       struct cleave_error *error)
{
    *output = (struct cleave__output){0};
    if (!strcmp(path, "-")) {
        output->file = stdout;
        return CLEAVE_OK;
    }
    if (!*path)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "the name of a file to write is empty");
    struct stat old;
    bool exists = stat(path, &old) == 0;
    mode_t mask = umask(0);
    umask(mask);
    errno = 0;
    output->path = target_of(path, exists);
    bool opened = false;
    if (output->path && exists && !S_ISREG(old.st_mode))
        opened = (output->file = fopen(path, "w")); /* cannot be replaced by a rename */
    else if (output->path)
        opened = open_beside(output, exists ? old.st_mode & 07777 : 0666 & ~mask);
    if (opened)
        return CLEAVE_OK;
    int number = errno ? errno : ENOMEM;
    cleave__output_abandon(output);
    if (number == ENOMEM)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%.300s: no memory", path);
    return fail(path, exists ? "open it" : "create it", number, error);
}

/* A rename is safe when the folder is on disk too; not all file systems can, and it is done anyway.
 */
static void sync_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        slash[slash == path] = 0;
    int folder = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        (void)!fsync(folder);
        close(folder);
    }
}

enum cleave_status cleave__output_commit(struct cleave__output *output, struct cleave_error *error)
{
    const char *name = output->path ? output->path : "standard output";
    enum cleave_status status = CLEAVE_OK;
    errno = 0;
    if (fflush(output->file) || ferror(output->file) ||
        (output->temporary && fsync(fileno(output->file))))
        status = fail(name, "write it", errno ? errno : EIO, error);
    if (output->file != stdout && fclose(output->file) && !status)
        status = fail(name, "write it", errno, error);
    output->file = NULL;
    if (!status && output->temporary) {
        if (rename(output->temporary, output->path)) {
            status = fail(name, "rename the finished file to it", errno, error);
        } else {
            free(output->temporary);
            output->temporary = NULL;
            sync_folder(output->path);
        }
    }
    cleave__output_abandon(output);
    return status;
}

void cleave__output_abandon(struct cleave__output *output)
{
    if (output->file && output->file != stdout)
        fclose(output->file);
    if (output->temporary)
        unlink(output->temporary);
    free(output->temporary);
    free(output->path);
    *output = (struct cleave__output){0};
}
