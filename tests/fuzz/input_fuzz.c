/* Any bytes as a file, plain or packed: reading by lines and reading whole must agree, or both must
 * refuse. The first byte picks the line limit. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/input.h"

enum { WHOLE_MAX = 4 << 20 }; /* a small packed file may hold gigabytes */

/* Bytes that the lines account for, were each to end in "\n"; returns the status that ended it. */
static enum cleave_status read_lines(const char *path, size_t limit, const char *whole, size_t size)
{
    struct cleave_input *input;
    struct cleave_error error;
    enum cleave_status status = cleave__input_open(path, &input, &error);
    if (status)
        return status;
    size_t at = 0;
    uint64_t number = 0;
    for (;;) {
        const char *line;
        size_t length;
        status = cleave__input_line(input, limit, &line, &length, &error);
        if (status && status != CLEAVE_LIMIT)
            break;
        assert(cleave__input_line_number(input) == ++number);
        if (!whole)
            continue;
        size_t left = size - at;
        const char *end = left ? memchr(whole + at, '\n', left) : NULL;
        size_t expected = end ? (size_t)(end - (whole + at)) : left;
        assert(length <= expected && memcmp(line, whole + at, length) == 0);
        if (status == CLEAVE_OK)
            assert(length == expected ||
                   (length + 1 == expected && whole[at + expected - 1] == '\r'));
        else
            assert(expected > limit);
        at += expected + (end != NULL);
    }
    if (whole)
        assert(status == CLEAVE_END && at == size);
    cleave__input_close(input);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    size_t limit = data[0] < 128 ? data[0] + 1u : (size_t)1 << (data[0] % 22);
    int descriptor = memfd_create("input", 0);
    assert(descriptor >= 0);
    assert(write(descriptor, data + 1, size - 1) == (ssize_t)(size - 1));
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);

    char *whole = NULL;
    size_t whole_size = 0;
    struct cleave_error error;
    enum cleave_status status = cleave__input_slurp(path, WHOLE_MAX, &whole, &whole_size, &error);
    if (status != CLEAVE_LIMIT) {
        enum cleave_status by_lines = read_lines(path, limit, status ? NULL : whole, whole_size);
        assert((status == CLEAVE_OK) == (by_lines == CLEAVE_END));
    }
    if (!status)
        free(whole);
    close(descriptor);
    return 0;
}
