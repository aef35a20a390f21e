#include "put.h"

#include <assert.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int put_bytes(const void *bytes, size_t length, char *path)
{
    int descriptor = memfd_create("input", 0);
    assert(descriptor >= 0);
    ssize_t put = length ? write(descriptor, bytes, length) : 0;
    assert(put == (ssize_t)length);
    (void)put;
    snprintf(path, 64, "/proc/self/fd/%d", descriptor);
    return descriptor;
}
