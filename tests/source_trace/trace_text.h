/* Reads a trace given as text and prints what came out, so that a test is text in, text out. */
#ifndef CLEAVE_TESTS_TRACE_TEXT_H
#define CLEAVE_TESTS_TRACE_TEXT_H

#include "tables/source/trace.h"

struct trace_text {
    enum cleave_status
        status; /* of the open, or of the last _next: CLEAVE_END when all went well */
    char message[500], describe[512];
    struct cleave_trace_counters counters;
    /* One line a transaction: "SESSION: statement | statement" with " [$1, NULL, cut]" behind a
     * statement that has parameters; newlines within a statement show as "\n". */
    char *out;
};

/* Writes `length` bytes (or strlen when 0) to a temporary file and reads it. The caller frees
 * with trace_text_free. Fails the test when the counters do not add up. */
struct trace_text trace_text_read(const char *text, size_t length,
                                  const struct cleave_trace_options *options);
/* The same for files. */
struct trace_text trace_text_files(const char *const *paths, uint32_t count,
                                   const struct cleave_trace_options *options);
void trace_text_free(struct trace_text *t);
/* Reads `text` and compares: fails the test, showing both, when it gives anything else. */
void trace_text_expect(const char *text, const char *expected);

/* A file with these bytes; the name is the caller's to unlink and free. */
char *trace_text_file(const void *bytes, size_t length);

#endif
