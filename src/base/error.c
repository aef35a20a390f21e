/* Status names and error lines. Cost: formatting only. Thread rule: touches nothing shared. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cleave/status.h"

const char *cleave_status_name(enum cleave_status status)
{
    switch (status) {
#define X(name, code, text, meaning)                                                               \
    case CLEAVE_##name:                                                                            \
        return text;
        CLEAVE_STATUS_LIST(X)
#undef X
    }
    return "unknown status";
}

enum cleave_status cleave_error_set(struct cleave_error *error, enum cleave_status status,
                                    const char *format, ...)
{
    if (!error)
        return status;
    va_list arguments;
    va_start(arguments, format);
    char line[sizeof error->message];
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (char *c = line; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
    }
    error->status = status;
    memcpy(error->message, line, sizeof line);
    return status;
}
