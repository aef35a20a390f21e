/* Lines of fields: what edge lists, labels and placements are made of. */
#ifndef CLEAVE_GRAPH_SOURCE_FIELDS_H
#define CLEAVE_GRAPH_SOURCE_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/input.h"

struct cleave__fields {
    const char *path; /* borrowed */
    struct cleave_input *input;
    /* Of the current line; valid until the next. */
    const char *first, *second;
    size_t first_length, second_length;
    bool further; /* there are fields after the second */
};

enum cleave_status cleave__fields_open(struct cleave__fields *fields, const char *path,
                                       struct cleave_error *error);
void cleave__fields_close(struct cleave__fields *fields);
/* The next line that is neither blank nor a comment, its first two fields; CLEAVE_END at the end.
 * `what` says what they are, for the error of a line that has only one ("source and target"). */
enum cleave_status cleave__fields_next(struct cleave__fields *fields, const char *what,
                                       struct cleave_error *error);
/* "path:line: " and the text; CLEAVE_BAD_INPUT. */
enum cleave_status cleave__fields_fail(const struct cleave__fields *fields,
                                       struct cleave_error *error, const char *format, ...)
    CLEAVE_PRINTF(3, 4);

#endif
