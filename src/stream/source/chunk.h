/* Bytes of a file or pipe as they come: a window that slides over them, so that rows are read in
 * bounded memory, and nothing waits for more than one row needs.
 *
 * [at, end) of `data` is at hand. Fill keeps it and may move it. */
#ifndef CLEAVE_STREAM_CHUNK_H
#define CLEAVE_STREAM_CHUNK_H

#include "base/input.h"
#include "base/vector.h"
#include "cleave/progress.h"

struct cleave__chunk {
    struct cleave_input *input;
    const char *path;                   /* for messages; borrowed */
    const struct cleave_progress *stop; /* may be NULL */
    char *data;
    size_t at, end, capacity;
    uint64_t line; /* of `at`, from 1; the reader counts */
    bool ended;    /* nothing comes after `end` */
};

enum cleave_status cleave__chunk_open(struct cleave__chunk *chunk, const char *path,
                                      const struct cleave_progress *stop,
                                      struct cleave_error *error);
void cleave__chunk_close(struct cleave__chunk *chunk);
/* At least one byte more, or `ended`. Waits; CLEAVE_INTERRUPTED if told to stop meanwhile.
 * CLEAVE_LIMIT when [at, end) is `most` bytes already. */
enum cleave_status cleave__chunk_fill(struct cleave__chunk *chunk, size_t most,
                                      struct cleave_error *error);
/* True if a fill would not wait. */
bool cleave__chunk_ready(const struct cleave__chunk *chunk);
/* The line at `at`, without its end; *next is where the next begins. The same errors; CLEAVE_END
 * when nothing is left. Moves nothing. */
enum cleave_status cleave__chunk_line(struct cleave__chunk *chunk, size_t most, size_t *length,
                                      size_t *next, struct cleave_error *error);
/* Past the next line end, however far. */
enum cleave_status cleave__chunk_skip_line(struct cleave__chunk *chunk, struct cleave_error *error);

#endif
