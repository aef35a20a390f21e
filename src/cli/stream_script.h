/* Files of queries and objects as a script, to be played. */
#ifndef CLEAVE_CLI_STREAM_SCRIPT_H
#define CLEAVE_CLI_STREAM_SCRIPT_H

#include "cli/stream.h"
#include "stream/oracle/script.h"

/* All queries, then the objects. `space` receives the space, with the queries' extent as its bounds
 * if it is a plane that nobody bounded; the script (all zeroes) refers to it. The caller frees the
 * script, after an error too. */
enum cleave_status cleave__stream_script_read(const struct cleave_stream_files *files,
                                              const struct cleave_stream_space *about,
                                              const struct cleave_progress *progress,
                                              struct cleave__space *space,
                                              struct cleave__stream_script *script,
                                              struct cleave_error *error);

#endif
