/* Whole-or-nothing files; see the header. */
#include "model/output.h"

#include <errno.h>
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

enum cleave_status cleave__output_open(struct cleave__output *output, const char *path,
                                       struct cleave_error *error)
{
    *output = (struct cleave__output){0};
    if (!strcmp(path, "-")) {
        output->file = stdout;
        return CLEAVE_OK;
    }
    struct stat status;
    /* Devices and pipes cannot be replaced by a rename: write them straight. */
    if (!stat(path, &status) && !S_ISREG(status.st_mode)) {
        output->path = strdup(path);
        output->file = output->path ? fopen(path, "w") : NULL;
        if (output->file)
            return CLEAVE_OK;
        int number = output->path ? errno : ENOMEM;
        cleave__output_abandon(output);
        return fail(path, "open it", number, error);
    }
    size_t length = strlen(path);
    output->path = strdup(path);
    output->temporary = malloc(length + sizeof ".XXXXXX");
    if (!output->path || !output->temporary) {
        free(output->path);
        free(output->temporary);
        *output = (struct cleave__output){0};
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: no memory", path);
    }
    memcpy(output->temporary, path, length);
    memcpy(output->temporary + length, ".XXXXXX", sizeof ".XXXXXX");
    int number = 0, descriptor = mkstemp(output->temporary);
    if (descriptor < 0) {
        number = errno;
        free(output->temporary); /* nothing to unlink */
        output->temporary = NULL;
    } else {
        mode_t mask = umask(0);
        umask(mask);
        if (fchmod(descriptor, 0666 & ~mask) || !(output->file = fdopen(descriptor, "w"))) {
            number = errno;
            close(descriptor);
        }
    }
    if (!output->file) {
        cleave__output_abandon(output);
        return fail(path, "create it", number, error);
    }
    return CLEAVE_OK;
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
