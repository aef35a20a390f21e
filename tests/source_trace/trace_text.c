#include "trace_text.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/vector.h"

typedef CLEAVE_VECTOR(char) text;

static void put(text *to, const char *bytes, size_t length)
{
    assert_true(CLEAVE_RESERVE(to, to->count + length * 2 + 1));
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '\n') {
            to->data[to->count++] = '\\';
            to->data[to->count++] = 'n';
        } else {
            to->data[to->count++] = bytes[i];
        }
    }
    to->data[to->count] = 0;
}

static void end_line(text *to)
{
    assert_true(CLEAVE_PUSH(to, '\n'));
    assert_true(CLEAVE_PUSH(to, 0));
    to->count--;
}

static void print(text *to, const struct cleave_trace_transaction *x)
{
    put(to, x->session, strlen(x->session));
    for (uint32_t i = 0; i < x->statement_count; i++) {
        const struct cleave_trace_statement *s = &x->statements[i];
        assert_int_equal(s->text[s->length], 0);
        put(to, i ? " | " : ": ", i ? 3 : 2);
        put(to, s->text, s->length);
        for (uint32_t p = 0; p < s->parameter_count; p++) {
            put(to, p ? ", " : " [", 2);
            if (s->parameters[p].is_null)
                put(to, "NULL", 4);
            else if (s->parameters[p].is_cut)
                put(to, "cut", 3);
            else
                put(to, s->parameters[p].text, s->parameters[p].length);
        }
        if (s->parameter_count)
            put(to, "]", 1);
    }
    end_line(to);
}

struct trace_text trace_text_files(const char *const *paths, uint32_t count,
                                   const struct cleave_trace_options *options)
{
    struct trace_text result = {0};
    struct cleave_error error = {0};
    struct cleave_trace *trace = NULL;
    text out = {0};
    put(&out, "", 0);
    result.status = cleave__trace_open(paths, count, options, &trace, &error);
    if (!result.status) {
        struct cleave_trace_transaction x;
        while (!(result.status = cleave__trace_next(trace, &x, &error)))
            print(&out, &x);
        strncpy(result.describe, cleave__trace_describe(trace), sizeof result.describe - 1);
        result.counters = *cleave__trace_counters(trace);
        struct cleave_error sums = {0};
        if (result.status == CLEAVE_END &&
            cleave__trace_counters_check(&result.counters, &sums) != CLEAVE_OK)
            fail_msg("%s", sums.message);
    }
    if (result.status != CLEAVE_OK && result.status != CLEAVE_END)
        assert_int_equal(error.status, result.status);
    memcpy(result.message, error.message, sizeof result.message);
    cleave__trace_close(trace);
    result.out = out.data;
    return result;
}

char *trace_text_file(const void *bytes, size_t length)
{
    char *name = strdup("trace-test-XXXXXX");
    int file = mkstemp(name);
    assert_true(file >= 0);
    for (size_t done = 0; done < length;) {
        ssize_t wrote = write(file, (const char *)bytes + done, length - done);
        assert_true(wrote > 0);
        done += (size_t)wrote;
    }
    close(file);
    return name;
}

struct trace_text trace_text_read(const char *bytes, size_t length,
                                  const struct cleave_trace_options *options)
{
    char *name = trace_text_file(bytes, length ? length : strlen(bytes));
    struct trace_text result = trace_text_files((const char *const *)&name, 1, options);
    unlink(name);
    free(name);
    return result;
}

void trace_text_free(struct trace_text *t)
{
    free(t->out);
    t->out = NULL;
}

void trace_text_expect(const char *bytes, const char *expected)
{
    struct trace_text t = trace_text_read(bytes, 0, NULL);
    if (t.status != CLEAVE_END)
        fail_msg("%s", t.message);
    assert_string_equal(t.out, expected);
    trace_text_free(&t);
}
