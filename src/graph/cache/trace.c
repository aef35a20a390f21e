/* Reading a trace of requests; see the header for what a line may be. */
#include "graph/cache/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "base/intern.h"
#include "base/vector.h"

enum { LINE_MAX_BYTES = 1 << 16, REPORT_EVERY = 1 << 14 };

struct reading {
    const char *path;
    struct cleave_input *input;
    enum cleave__cache_trace_format format;
    struct cleave_intern keys;
    CLEAVE_VECTOR(uint32_t) requests;
    CLEAVE_VECTOR(uint64_t) sizes;
    uint64_t bytes, resized;
};

struct words {
    const char *key;
    size_t key_length;
    const char *size; /* NULL: the line does not end in a whole number of its own */
    size_t size_length;
    bool two; /* the key is one word */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Takes the line apart; `key_length` is that of the key before a size, if there is one. */
static struct words split(const char *line, size_t length)
{
    const char *end = line + length;
    while (line < end && is_blank(*line))
        line++;
    while (end > line && is_blank(end[-1]))
        end--;
    struct words w = {.key = line, .key_length = (size_t)(end - line)};
    const char *digits = end;
    while (digits > line && is_digit(digits[-1]))
        digits--;
    if (digits == end || digits == line || !is_blank(digits[-1]))
        return w;
    const char *key_end = digits;
    while (is_blank(key_end[-1])) /* the line does not start with a blank */
        key_end--;
    w.size = digits;
    w.size_length = (size_t)(end - digits);
    w.two = true;
    for (const char *at = line; at < key_end; at++)
        w.two &= !is_blank(*at);
    w.key_length = (size_t)(key_end - line);
    return w;
}

static enum cleave_status fail(const struct reading *r, enum cleave_status status, const char *what,
                               struct cleave_error *error)
{
    return cleave_error_set(error, status, "%s:%llu: %s",
                            strcmp(r->path, "-") ? r->path : "standard input",
                            (unsigned long long)cleave__input_line_number(r->input), what);
}

static enum cleave_status read_size(const struct reading *r, const struct words *w, uint64_t *out,
                                    struct cleave_error *error)
{
    uint64_t size = 0;
    if (!w->size)
        return fail(r, CLEAVE_BAD_INPUT,
                    "no size at the end of the line; if no line has one, say --format keys", error);
    for (size_t i = 0; i < w->size_length; i++) {
        size = size * 10 + (uint64_t)(w->size[i] - '0');
        if (size > CLEAVE_TRACE_SIZE_MAX)
            return fail(r, CLEAVE_LIMIT, "a size past 2^48 bytes", error);
    }
    *out = size ? size : 1;
    return CLEAVE_OK;
}

static enum cleave_status take_request(struct reading *r, const char *line, size_t length,
                                       struct cleave_error *error)
{
    struct words w = split(line, length);
    if (!w.key_length)
        return CLEAVE_OK;
    if (r->format == CLEAVE_TRACE_GUESS)
        r->format = w.size && w.two ? CLEAVE_TRACE_SIZED : CLEAVE_TRACE_KEYS;
    uint64_t size = 1;
    if (r->format == CLEAVE_TRACE_SIZED) {
        enum cleave_status status = read_size(r, &w, &size, error);
        if (status)
            return status;
    } else if (w.size) {
        w.key_length = (size_t)(w.size + w.size_length - w.key);
    }
    uint32_t known = r->keys.count, object = cleave__intern_add(&r->keys, w.key, w.key_length);
    if (object == CLEAVE_INTERN_NONE || !CLEAVE_PUSH(&r->requests, object))
        return fail(r, CLEAVE_NO_MEMORY, "out of memory", error);
    if (r->format != CLEAVE_TRACE_SIZED)
        return CLEAVE_OK;
    if (object < known) {
        r->resized += r->sizes.data[object] != size;
        return CLEAVE_OK;
    }
    if (!CLEAVE_PUSH(&r->sizes, size))
        return fail(r, CLEAVE_NO_MEMORY, "out of memory", error);
    r->bytes += size;
    if (r->bytes > CLEAVE_TRACE_BYTES_MAX)
        return fail(r, CLEAVE_LIMIT, "the objects are larger than 2^60 bytes together", error);
    return CLEAVE_OK;
}

static enum cleave_status read_lines(struct reading *r, const struct cleave_progress *progress,
                                     struct cleave_error *error)
{
    for (;;) {
        const char *line;
        size_t length;
        enum cleave_status status =
            cleave__input_line(r->input, LINE_MAX_BYTES, &line, &length, error);
        if (status == CLEAVE_END)
            return CLEAVE_OK;
        if (status == CLEAVE_LIMIT)
            return fail(r, CLEAVE_LIMIT, "a line longer than 65536 bytes", error);
        if (!status)
            status = take_request(r, line, length, error);
        if (status)
            return status;
        if (progress && r->requests.count % REPORT_EVERY == 0) {
            if (progress->stop && *progress->stop)
                return cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
            if (progress->report)
                progress->report(progress->context, "requests read", r->requests.count, 0);
        }
    }
}

enum cleave_status cleave__cache_trace_read(const char *path,
                                            enum cleave__cache_trace_format format,
                                            const struct cleave_progress *progress,
                                            struct cleave__cache_trace *out,
                                            struct cleave_error *error)
{
    struct reading r = {.path = path, .format = format};
    enum cleave_status status = cleave__input_open(path, &r.input, error);
    if (status)
        return status;
    status = read_lines(&r, progress, error);
    if (!status && !r.requests.count)
        status = cleave_error_set(error, CLEAVE_BAD_INPUT, "%s: no request in it; a line a request",
                                  strcmp(path, "-") ? path : "standard input");
    if (status) {
        CLEAVE_VECTOR_FREE(&r.requests);
        CLEAVE_VECTOR_FREE(&r.sizes);
    } else {
        *out = (struct cleave__cache_trace){
            .request = r.requests.data,
            .requests = r.requests.count,
            .size = r.sizes.data,
            .objects = r.keys.count,
            .bytes = r.bytes,
            .resized = r.resized,
        };
    }
    cleave__intern_free(&r.keys);
    cleave__input_close(r.input);
    return status;
}

void cleave__cache_trace_free(struct cleave__cache_trace *trace)
{
    free(trace->request);
    free(trace->size);
    *trace = (struct cleave__cache_trace){0};
}
