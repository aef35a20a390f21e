/* Lookup tables on disk: read whole, written whole or not at all (base/output.h). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "tables/route/image.h"

static enum cleave_status io_error(struct cleave_error *error, const char *path, const char *what)
{
    return cleave_error_set(error, CLEAVE_IO, "%s: %s: %s", path, what, strerror(errno));
}

enum cleave_status cleave__lookup_write(const struct cleave_lookup *lookup, const char *path,
                                        struct cleave_error *error)
{
    struct cleave__output output;
    enum cleave_status status = cleave__output_open(&output, path, error);
    if (status)
        return status;
    fwrite(lookup->bytes, 1, lookup->size, output.file); /* commit tells what went wrong */
    return cleave__output_commit(&output, error);
}

/* Fills the buffer; `*got` is less at the end of the file. */
static bool read_all(int file, uint8_t *bytes, size_t size, size_t *got)
{
    *got = 0;
    while (*got < size) {
        ssize_t n = read(file, bytes + *got, size - *got < SSIZE_MAX ? size - *got : SSIZE_MAX);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return true;
}

static enum cleave_status read_image(int file, const char *path, uint8_t **out, size_t *size,
                                     struct cleave_error *error)
{
    struct stat info;
    if (fstat(file, &info) != 0)
        return io_error(error, path, "cannot read");
    if (!S_ISREG(info.st_mode))
        return cleave_error_set(error, CLEAVE_IO, "%s: not a regular file", path);
    uint8_t header[CLEAVE_IMAGE_HEADER];
    size_t got;
    if (!read_all(file, header, sizeof header, &got))
        return io_error(error, path, "cannot read");
    uint64_t total = 0;
    enum cleave_status status = cleave__image_header(header, got, path, &total, error);
    if (status != CLEAVE_OK)
        return status;
    if (total < sizeof header || total != (uint64_t)info.st_size)
        return cleave_error_set(error, CLEAVE_CORRUPT, "%s: %lld bytes, should be %llu", path,
                                (long long)info.st_size, (unsigned long long)total);
    uint8_t *bytes = malloc((size_t)total);
    if (!bytes)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory (%llu bytes)", path,
                                (unsigned long long)total);
    memcpy(bytes, header, sizeof header);
    if (!read_all(file, bytes + sizeof header, (size_t)total - sizeof header, &got)) {
        status = io_error(error, path, "cannot read");
        free(bytes);
        return status;
    }
    *out = bytes;
    *size = sizeof header + got; /* less when it shrank meanwhile: opening tells */
    return CLEAVE_OK;
}

enum cleave_status cleave__lookup_open(const char *path, struct cleave_lookup **out,
                                       struct cleave_error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return io_error(error, path, "cannot open");
    uint8_t *bytes;
    size_t size;
    enum cleave_status status = read_image(file, path, &bytes, &size, error);
    close(file);
    if (status != CLEAVE_OK)
        return status;
    status = cleave__image_open(bytes, size, path, out, error);
    if (status != CLEAVE_OK)
        free(bytes);
    return status;
}
