#include "cli/stream_missing.h"

#include <stdio.h>

#include "base/log.h"

void cleave__stream_tell_missing(const char *world, const char *names, bool quiet,
                                 struct cleave_log *log)
{
    if (!quiet && names)
        fprintf(stderr, "cleave: world '%s' waits for %s: not there, or without an answer\n", world,
                names);
    else if (!quiet)
        fprintf(stderr, "cleave: all processes of world '%s' answer again\n", world);
    if (names)
        CLEAVE_LOG(log, CLEAVE_LOG_WARN, "processes missing", CLEAVE_FIELD_TEXT("missing", names));
    else
        CLEAVE_LOG(log, CLEAVE_LOG_INFO, "processes are back");
}
