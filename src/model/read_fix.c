/* Files with a line a vertex, one number each: fix files and earlier answers (its block), groups
 * that stay together. And pairs to keep apart, a line each. */
#include "base/vector.h"
#include "cleave/hypergraph.h"
#include "model/limits.h"
#include "model/numbers.h"

typedef CLEAVE_VECTOR(uint32_t) numbers_read;

static enum cleave_status no_memory(const struct cleave__numbers *in, struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "%.200s: no memory after %llu bytes", in->path,
                            (unsigned long long)in->bytes);
}

/* The next line's numbers, as many as `count`, and nothing after them. */
static enum cleave_status read_line(struct cleave__numbers *in, const char *what, int64_t low,
                                    int64_t high, uint32_t count, numbers_read *out,
                                    struct cleave_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        int64_t number;
        enum cleave_status status = cleave__numbers_next(in, what, low, high, &number, error);
        if (status)
            return status;
        if (!CLEAVE_PUSH(out, (uint32_t)number))
            return no_memory(in, error);
    }
    if (!cleave__numbers_done(in))
        return cleave__numbers_fail(in, error, "more than %u number%s on the line", count,
                                    count == 1 ? "" : "s");
    return CLEAVE_OK;
}

static enum cleave_status read_column(struct cleave__numbers *in, uint32_t vertices,
                                      const char *what, int64_t low, int64_t high,
                                      numbers_read *out, struct cleave_error *error)
{
    while (out->count < vertices) {
        enum cleave_status status = cleave__numbers_line(in, error);
        if (status == CLEAVE_END)
            return cleave__numbers_fail(in, error, "file ends after %zu of %u vertices", out->count,
                                        vertices);
        if (!status)
            status = read_line(in, what, low, high, 1, out, error);
        if (status)
            return status;
    }
    return cleave__numbers_finish(in, "the hypergraph has vertices", error);
}

static enum cleave_status read_pairs(struct cleave__numbers *in, uint32_t vertices,
                                     numbers_read *out, struct cleave_error *error)
{
    for (;;) {
        enum cleave_status status = cleave__numbers_line(in, error);
        if (status == CLEAVE_END)
            return CLEAVE_OK;
        if (!status && cleave__numbers_done(in))
            continue;
        if (!status)
            status = read_line(in, "vertex", 1, vertices, 2, out, error);
        if (status)
            return status;
        uint32_t *pair = out->data + out->count - 2;
        if (pair[0] == pair[1])
            return cleave__numbers_fail(in, error, "vertex %u cannot be kept apart from itself",
                                        pair[0]);
        if (out->count / 2 > CLEAVE__VERTICES_MAX)
            return cleave__numbers_fail(in, error, "more than %u pairs", CLEAVE__VERTICES_MAX);
        pair[0]--; /* files count from 1 */
        pair[1]--;
    }
}

/* Ends reading: the array is the caller's, or gone. Never NULL for being empty. */
static enum cleave_status finish(struct cleave__numbers *in, numbers_read *numbers,
                                 enum cleave_status status, struct cleave_error *error)
{
    if (!status && !CLEAVE_RESERVE(numbers, 1))
        status = no_memory(in, error);
    cleave__numbers_close(in);
    if (status)
        CLEAVE_VECTOR_FREE(numbers);
    return status;
}

static enum cleave_status read_file(const char *path, uint32_t vertices, const char *what,
                                    int64_t low, int64_t high, numbers_read *out,
                                    struct cleave_error *error)
{
    struct cleave__numbers in;
    enum cleave_status status = cleave__numbers_open(&in, path, error);
    if (status)
        return status;
    return finish(&in, out, read_column(&in, vertices, what, low, high, out, error), error);
}

enum cleave_status cleave_fix_read(const char *path, uint32_t vertices, uint32_t blocks,
                                   int32_t **out, struct cleave_error *error)
{
    numbers_read fix = {0};
    enum cleave_status status =
        read_file(path, vertices, "block", CLEAVE_FREE, (int64_t)blocks - 1, &fix, error);
    if (!status)
        *out = (int32_t *)fix.data;
    return status;
}

enum cleave_status cleave_together_read(const char *path, uint32_t vertices, uint32_t **out,
                                        struct cleave_error *error)
{
    numbers_read group = {0};
    enum cleave_status status = read_file(path, vertices, "group", 0, UINT32_MAX, &group, error);
    if (!status)
        *out = group.data;
    return status;
}

enum cleave_status cleave_apart_read(const char *path, uint32_t vertices, uint32_t (**out)[2],
                                     uint32_t *count, struct cleave_error *error)
{
    struct cleave__numbers in;
    numbers_read pairs = {0};
    enum cleave_status status = cleave__numbers_open(&in, path, error);
    if (status)
        return status;
    status = finish(&in, &pairs, read_pairs(&in, vertices, &pairs, error), error);
    if (!status) {
        *out = (uint32_t(*)[2])pairs.data;
        *count = (uint32_t)(pairs.count / 2);
    }
    return status;
}
