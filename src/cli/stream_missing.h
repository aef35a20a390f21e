/* Which processes of a world on NATS are waited for, in a line. */
#ifndef CLEAVE_CLI_STREAM_MISSING_H
#define CLEAVE_CLI_STREAM_MISSING_H

#include <stdbool.h>

struct cleave_log;

/* `names`: all that are missing now, or NULL. To standard error, if not quiet, and to the log,
 * which may be NULL. Any thread. */
void cleave__stream_tell_missing(const char *world, const char *names, bool quiet,
                                 struct cleave_log *log);

#endif
