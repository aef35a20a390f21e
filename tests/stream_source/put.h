/* Text as a file that goes with its descriptor. */
#ifndef CLEAVE_TESTS_STREAM_PUT_H
#define CLEAVE_TESTS_STREAM_PUT_H

#include <stddef.h>

/* The descriptor, to be closed; `path` [64] is its name. */
int put_bytes(const void *bytes, size_t length, char *path);

#endif
