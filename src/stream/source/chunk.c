/* A sliding window of bytes; see the header. */
#include "stream/source/chunk.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { STEP = 1 << 16 };

enum cleave_status cleave__chunk_open(struct cleave__chunk *chunk, const char *path,
                                      const struct cleave_progress *stop,
                                      struct cleave_error *error)
{
    *chunk = (struct cleave__chunk){
        .path = strcmp(path, "-") ? path : "standard input", .stop = stop, .line = 1};
    enum cleave_status status = cleave__input_open(path, &chunk->input, error);
    if (status)
        return status;
    chunk->data = malloc(4 * STEP);
    if (!chunk->data) {
        cleave__chunk_close(chunk);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%.200s: no memory to read", path);
    }
    chunk->capacity = 4 * STEP;
    return CLEAVE_OK;
}

void cleave__chunk_close(struct cleave__chunk *chunk)
{
    if (chunk->input)
        cleave__input_close(chunk->input);
    free(chunk->data);
    chunk->input = NULL;
    chunk->data = NULL;
}

static bool stopped(const struct cleave__chunk *chunk)
{
    return chunk->stop && chunk->stop->stop && *chunk->stop->stop;
}

/* Until there is something to read: a signal ends the wait, where a read would go on. */
static enum cleave_status wait_for(struct cleave__chunk *chunk, struct cleave_error *error)
{
    struct pollfd one = {.fd = cleave__input_waits(chunk->input), .events = POLLIN};
    while (one.fd >= 0 && !stopped(chunk)) {
        int got = poll(&one, 1, 500); /* a signal may come just before the wait */
        if (got > 0 || (got < 0 && errno != EINTR))
            break;
    }
    return stopped(chunk) ? cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped") : CLEAVE_OK;
}

enum cleave_status cleave__chunk_fill(struct cleave__chunk *chunk, size_t most,
                                      struct cleave_error *error)
{
    size_t held = chunk->end - chunk->at, got;
    if (chunk->ended)
        return CLEAVE_OK;
    if (held >= most)
        return cleave_error_set(error, CLEAVE_LIMIT, "more than %zu bytes", most);
    if (chunk->capacity - chunk->end < STEP && chunk->at > 0) {
        memmove(chunk->data, chunk->data + chunk->at, held);
        chunk->at = 0;
        chunk->end = held;
    }
    if (chunk->capacity - chunk->end < STEP &&
        !cleave__vector_reserve(&chunk->data, &chunk->capacity, chunk->capacity + STEP, 1))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%.200s: no memory to read", chunk->path);
    enum cleave_status status = wait_for(chunk, error);
    if (!status)
        status = cleave__input_read(chunk->input, chunk->data + chunk->end,
                                    chunk->capacity - chunk->end, &got, error);
    if (status)
        return status;
    chunk->ended = got == 0;
    chunk->end += got;
    return CLEAVE_OK;
}

bool cleave__chunk_ready(const struct cleave__chunk *chunk)
{
    struct pollfd one = {.fd = chunk->ended ? -1 : cleave__input_waits(chunk->input),
                         .events = POLLIN};
    return one.fd < 0 || poll(&one, 1, 0) > 0;
}

enum cleave_status cleave__chunk_line(struct cleave__chunk *chunk, size_t most, size_t *length,
                                      size_t *next, struct cleave_error *error)
{
    size_t seen = 0;
    for (;;) {
        size_t held = chunk->end - chunk->at;
        char *start = chunk->data + chunk->at,
             *end = held > seen ? memchr(start + seen, '\n', held - seen) : NULL;
        if (end || (chunk->ended && held)) {
            size_t size = end ? (size_t)(end - start) : held;
            *next = chunk->at + size + (end != NULL);
            *length = size && start[size - 1] == '\r' ? size - 1 : size;
            return CLEAVE_OK;
        }
        if (chunk->ended)
            return CLEAVE_END;
        seen = held;
        enum cleave_status status = cleave__chunk_fill(chunk, most, error);
        if (status)
            return status;
    }
}

enum cleave_status cleave__chunk_skip_line(struct cleave__chunk *chunk, struct cleave_error *error)
{
    for (;;) {
        size_t held = chunk->end - chunk->at;
        char *start = chunk->data + chunk->at, *end = held ? memchr(start, '\n', held) : NULL;
        chunk->at = end ? chunk->at + (size_t)(end - start) + 1 : chunk->end;
        chunk->line += end != NULL;
        if (end || chunk->ended)
            return CLEAVE_OK;
        enum cleave_status status = cleave__chunk_fill(chunk, SIZE_MAX, error);
        if (status)
            return status;
    }
}
