/* Lookup tables on disk: read whole, written whole or not at all.
 *
 * Writing: a temporary file beside the target, fsync, rename over it, fsync of the directory. A
 * target that is there but is no regular file (a device, a pipe) is written straight. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tables/route/image.h"

static enum cleave_status io_error(struct cleave_error *error, const char *path, const char *what)
{
    return cleave_error_set(error, CLEAVE_IO, "%s: %s: %s", path, what, strerror(errno));
}

static bool write_all(int file, const uint8_t *bytes, size_t size)
{
    while (size) {
        ssize_t n = write(file, bytes, size < SSIZE_MAX ? size : SSIZE_MAX);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0)
                errno = ENOSPC;
            return false;
        }
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

static enum cleave_status write_straight(const struct cleave_lookup *lookup, const char *path,
                                         struct cleave_error *error)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return io_error(error, path, "cannot open");
    bool good = write_all(file, lookup->bytes, lookup->size);
    int saved = errno;
    if (close(file) != 0 && good) {
        good = false;
        saved = errno;
    }
    errno = saved;
    return good ? CLEAVE_OK : io_error(error, path, "cannot write");
}

/* A new file in the target's directory; `name` has room for the target's length + 32. */
static int open_beside(const char *target, char *name, size_t size)
{
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        snprintf(name, size, "%s.%ld-%u.tmp", target, (long)getpid(), attempt);
        int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0 || errno != EEXIST)
            return file;
    }
    return -1;
}

static void sync_directory(const char *target, char *scratch)
{
    strcpy(scratch, target);
    char *slash = strrchr(scratch, '/');
    if (slash)
        slash[slash == scratch] = 0;
    int directory = open(slash ? scratch : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) {
        (void)!fsync(directory); /* not all file systems can; the rename is done either way */
        close(directory);
    }
}

static enum cleave_status write_beside(const struct cleave_lookup *lookup, const char *path,
                                       const char *target, struct cleave_error *error)
{
    size_t size = strlen(target) + 48;
    char *name = malloc(size);
    if (!name)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory", path);
    enum cleave_status status = CLEAVE_OK;
    int file = open_beside(target, name, size);
    if (file < 0) {
        status = io_error(error, path, "cannot create");
        free(name);
        return status;
    }
    struct stat old;
    if (stat(target, &old) == 0)
        (void)!fchmod(file, old.st_mode & 07777);
    if (!write_all(file, lookup->bytes, lookup->size) || fsync(file) != 0)
        status = io_error(error, path, "cannot write");
    if (close(file) != 0 && status == CLEAVE_OK)
        status = io_error(error, path, "cannot write");
    if (status == CLEAVE_OK && rename(name, target) != 0)
        status = io_error(error, path, "cannot replace");
    if (status == CLEAVE_OK)
        sync_directory(target, name);
    else
        unlink(name);
    free(name);
    return status;
}

enum cleave_status cleave__lookup_write(const struct cleave_lookup *lookup, const char *path,
                                        struct cleave_error *error)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return write_beside(lookup, path, path, error);
    if (S_ISDIR(info.st_mode))
        return cleave_error_set(error, CLEAVE_IO, "%s: is a directory", path);
    if (!S_ISREG(info.st_mode))
        return write_straight(lookup, path, error);
    char *target = realpath(path, NULL); /* a symbolic link stays one */
    if (!target)
        return io_error(error, path, "cannot resolve");
    enum cleave_status status = write_beside(lookup, path, target, error);
    free(target);
    return status;
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
