/* A bound parameter of a statement: the text of $1, $2, ... as the log or the client gave it. */
#ifndef CLEAVE_TABLES_SQL_PARAMETER_H
#define CLEAVE_TABLES_SQL_PARAMETER_H

#include <stdbool.h>
#include <stddef.h>

struct cleave_parameter {
    const char *text; /* unquoted; borrowed */
    size_t length;
    bool is_null;
    bool is_cut; /* the log cut it short (log_parameter_max_length): its value is unknown */
};

#endif
