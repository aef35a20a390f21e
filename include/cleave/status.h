/* What every cleave function that can fail returns, and the detail it leaves behind.
 *
 * A function returns CLEAVE_OK (0) or a code; results leave through out-parameters and stay
 * untouched on error. The caller's struct cleave_error (may be NULL) receives one line that says
 * where the fault is and what to do about it. */
#ifndef CLEAVE_STATUS_H
#define CLEAVE_STATUS_H

#include <stddef.h>

#if defined(__GNUC__)
#define CLEAVE_API __attribute__((visibility("default")))
#define CLEAVE_PRINTF(a, b) __attribute__((format(printf, a, b)))
#define CLEAVE_MUST_CHECK __attribute__((warn_unused_result))
#else
#define CLEAVE_API
#define CLEAVE_PRINTF(a, b)
#define CLEAVE_MUST_CHECK
#endif

/* X(name, code, short name, what it means) */
#define CLEAVE_STATUS_LIST(X)                                                                      \
    X(OK, 0, "ok", "done")                                                                         \
    X(NO_MEMORY, 1, "no memory", "an allocation failed")                                           \
    X(BAD_ARGUMENT, 2, "bad argument", "the caller's request makes no sense")                      \
    X(BAD_INPUT, 3, "bad input", "a file, statement or value could not be understood")             \
    X(IO, 4, "input/output", "the system refused a read or a write")                               \
    X(UNSATISFIABLE, 5, "unsatisfiable", "no answer meets every constraint")                       \
    X(LIMIT, 6, "limit", "the input is past a stated bound")                                       \
    X(INTERRUPTED, 7, "interrupted", "the caller asked to stop")                                   \
    X(UNSUPPORTED, 8, "unsupported", "well formed, but not handled")                               \
    X(CORRUPT, 9, "corrupt", "a file fails its checksum or its own rules")                         \
    X(NOT_FOUND, 10, "not found", "no such thing")                                                 \
    X(END, 11, "end", "nothing is left to read")                                                   \
    X(CONFLICT, 12, "conflict", "somebody else changed it first")

enum cleave_status {
#define X(name, code, text, meaning) CLEAVE_##name = code,
    CLEAVE_STATUS_LIST(X)
#undef X
};

/* One line of detail. `message` is NUL-terminated, without a newline. */
struct cleave_error {
    enum cleave_status status;
    char message[500];
};

/* Short English name of a status ("bad input"); "unknown status" for a number outside the list. */
CLEAVE_API const char *cleave_status_name(enum cleave_status status);

/* Fills `error` (if not NULL) and returns `status`, so that a failing line reads
 * `return cleave_error_set(error, CLEAVE_BAD_INPUT, "%s:%zu: ...", path, line);`
 * Control characters in the formatted text are replaced, so that a message is always one line. */
CLEAVE_API enum cleave_status cleave_error_set(struct cleave_error *error,
                                               enum cleave_status status, const char *format, ...)
    CLEAVE_PRINTF(3, 4);

#endif
