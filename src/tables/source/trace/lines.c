/* Lines of many files in order. The look ahead keeps copies; _next gives those first, then drops
 * them. An error met while looking ahead is given when its place in the stream is reached. */
#include "tables/source/trace/lines.h"

#include <stdlib.h>
#include <string.h>

enum { REPORT_EVERY = 8 << 20, STOP_EVERY = 1 << 16 };

static enum cleave_status tell(struct cleave_trace_lines *lines, struct cleave_error *error)
{
    const struct cleave_progress *progress = lines->progress;
    uint64_t now = cleave__input_bytes(lines->input), bytes = now - lines->in_file;
    lines->in_file = now;
    lines->total += bytes;
    lines->since_report += bytes;
    if (lines->since_report < STOP_EVERY || !progress)
        return CLEAVE_OK;
    if (progress->stop && *progress->stop)
        return cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped while reading the trace");
    if (lines->since_report >= REPORT_EVERY) {
        lines->since_report = 0;
        if (progress->report)
            progress->report(progress->context, "reading", lines->total, 0);
    }
    return CLEAVE_OK;
}

static enum cleave_status read_line(struct cleave_trace_lines *lines, struct cleave_trace_line *out,
                                    struct cleave_error *error)
{
    for (;;) {
        enum cleave_status status = CLEAVE_OK;
        if (!lines->input) {
            if (lines->next_path == lines->path_count)
                return cleave_error_set(error, CLEAVE_END, "end of the trace");
            status = cleave__input_open(lines->paths[lines->next_path], &lines->input, error);
            if (status)
                return status;
            lines->next_path++;
        }
        struct cleave_trace_line line = {0};
        status = cleave__input_line(lines->input, CLEAVE_TRACE_LINE_MAX, &line.text, &line.length,
                                    error);
        if (status == CLEAVE_END) {
            status = tell(lines, error);
            if (status)
                return status;
            lines->in_file = 0;
            cleave__input_close(lines->input);
            lines->input = NULL;
            continue;
        }
        if (status && status != CLEAVE_LIMIT)
            return status;
        line.cut = status == CLEAVE_LIMIT;
        line.file = lines->next_path - 1;
        line.number = cleave__input_line_number(lines->input);
        if (line.number == 1 && line.length >= 3 && memcmp(line.text, "\xef\xbb\xbf", 3) == 0) {
            line.text += 3; /* a byte order mark */
            line.length -= 3;
        }
        status = tell(lines, error);
        if (status)
            return status;
        *out = line;
        return CLEAVE_OK;
    }
}

enum cleave_status cleave__trace_lines_next(struct cleave_trace_lines *lines,
                                            struct cleave_trace_line *out,
                                            struct cleave_error *error)
{
    if (lines->replayed < lines->kept.count) {
        *out = cleave__trace_lines_ahead(lines, lines->replayed++);
        return CLEAVE_OK;
    }
    if (lines->kept.capacity) {
        CLEAVE_VECTOR_FREE(&lines->ahead);
        CLEAVE_VECTOR_FREE(&lines->kept);
        lines->replayed = 0;
    }
    if (lines->ahead_status)
        return cleave_error_set(error, lines->ahead_status, "%s", lines->ahead_error.message);
    return read_line(lines, out, error);
}

bool cleave__trace_lines_look_ahead(struct cleave_trace_lines *lines, size_t bytes)
{
    size_t goal = lines->ahead.count + bytes;
    while (lines->ahead.count < goal && !lines->ahead_status) {
        struct cleave_trace_line line;
        lines->ahead_status = read_line(lines, &line, &lines->ahead_error);
        if (lines->ahead_status == CLEAVE_NO_MEMORY)
            return false;
        if (lines->ahead_status)
            break;
        if (!CLEAVE_RESERVE(&lines->ahead, lines->ahead.count + line.length + 1) ||
            !CLEAVE_PUSH(&lines->kept,
                         (struct cleave_trace_kept_line){lines->ahead.count, line.length,
                                                         line.number, line.file, line.cut}))
            return false;
        memcpy(lines->ahead.data + lines->ahead.count, line.text, line.length);
        lines->ahead.data[lines->ahead.count + line.length] = 0;
        lines->ahead.count += line.length + 1;
    }
    return true;
}

struct cleave_trace_line cleave__trace_lines_ahead(const struct cleave_trace_lines *lines, size_t i)
{
    const struct cleave_trace_kept_line *kept = &lines->kept.data[i];
    return (struct cleave_trace_line){.text = lines->ahead.data + kept->offset,
                                      .length = kept->length,
                                      .file = kept->file,
                                      .number = kept->number,
                                      .cut = kept->cut};
}

void cleave__trace_lines_free(struct cleave_trace_lines *lines)
{
    cleave__input_close(lines->input);
    lines->input = NULL;
    CLEAVE_VECTOR_FREE(&lines->ahead);
    CLEAVE_VECTOR_FREE(&lines->kept);
}
