/* The lines of several files as one stream, with a look ahead that is read again later.
 *
 * Memory: the look ahead (bounded by its caller), then one line. */
#ifndef CLEAVE_TABLES_SOURCE_TRACE_LINES_H
#define CLEAVE_TABLES_SOURCE_TRACE_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/input.h"
#include "base/vector.h"
#include "cleave/progress.h"

/* A line longer than this is cut and marked: no statement that may be kept comes near it. */
enum { CLEAVE_TRACE_LINE_MAX = 8 << 20 };

struct cleave_trace_line {
    const char *text; /* valid until the next call; without its newline */
    size_t length;
    uint32_t file;
    uint64_t number; /* in its file, from 1 */
    bool cut;        /* longer than CLEAVE_TRACE_LINE_MAX: only its beginning is here */
};

struct cleave_trace_kept_line {
    size_t offset, length;
    uint64_t number;
    uint32_t file;
    bool cut;
};

struct cleave_trace_lines {
    const char *const *paths;
    uint32_t path_count, next_path;
    struct cleave_input *input;
    const struct cleave_progress *progress;
    uint64_t total;                 /* unpacked bytes taken from the files */
    uint64_t in_file, since_report; /* of them from the present one; since the last report */
    CLEAVE_VECTOR(char) ahead;
    CLEAVE_VECTOR(struct cleave_trace_kept_line) kept;
    size_t replayed;
    enum cleave_status ahead_status; /* what ended the look ahead: given again in its place */
    struct cleave_error ahead_error;
};

/* CLEAVE_END behind the last line of the last file. */
enum cleave_status cleave__trace_lines_next(struct cleave_trace_lines *lines,
                                            struct cleave_trace_line *out,
                                            struct cleave_error *error);
/* Reads up to `bytes` more (at least one line) into the look ahead; false when memory is out. An
 * error or the end stops it early. The lines come again from _next. */
bool cleave__trace_lines_look_ahead(struct cleave_trace_lines *lines, size_t bytes);
/* The i-th line of the look ahead; call only before _next. */
struct cleave_trace_line cleave__trace_lines_ahead(const struct cleave_trace_lines *lines,
                                                   size_t i);
void cleave__trace_lines_free(struct cleave_trace_lines *lines);

#endif
