/* Reading lines of whole numbers: what .hgr, .graph and fix files are made of.
 *
 * Wraps base/input: skips comment lines ('%') and a byte order mark, names file and line in every
 * error, and reads numbers with overflow checked. Memory is one line. */
#ifndef CLEAVE_MODEL_NUMBERS_H
#define CLEAVE_MODEL_NUMBERS_H

#include <stdbool.h>

#include "base/input.h"
#include "cleave/status.h"

struct cleave__numbers {
    const char *path;
    struct cleave_input *input;
    const char *at, *end; /* what is left of the current line */
    uint64_t bytes;       /* read so far */
};

enum cleave_status cleave__numbers_open(struct cleave__numbers *numbers, const char *path,
                                        struct cleave_error *error);
void cleave__numbers_close(struct cleave__numbers *numbers);

/* Goes to the next line that is no comment; CLEAVE_END when there is none. */
enum cleave_status cleave__numbers_line(struct cleave__numbers *numbers,
                                        struct cleave_error *error);
/* Is nothing but blanks left of the line? */
bool cleave__numbers_done(struct cleave__numbers *numbers);
/* The next number of the line, within [low, high]; `what` names it in the error. */
enum cleave_status cleave__numbers_next(struct cleave__numbers *numbers, const char *what,
                                        int64_t low, int64_t high, int64_t *out,
                                        struct cleave_error *error);
/* Fills `error` with "path:line: " before the text and gives CLEAVE_BAD_INPUT. */
enum cleave_status cleave__numbers_fail(const struct cleave__numbers *numbers,
                                        struct cleave_error *error, const char *format, ...)
    CLEAVE_PRINTF(3, 4);
/* Fails unless only blank and comment lines are left. */
enum cleave_status cleave__numbers_finish(struct cleave__numbers *numbers, const char *announced,
                                          struct cleave_error *error);

#endif
