/* Steering at the terminal: a small language of decisions over a session. */
#ifndef CLEAVE_CLI_TABLES_INTERACT_H
#define CLEAVE_CLI_TABLES_INTERACT_H

#include <stdio.h>

#include "cleave/tables.h"

/* Reads commands from `in` until "stop", the end of input, or Ctrl-C; the session's best placement
 * is then what came of it. A wrong command is explained and changes nothing. */
enum cleave_status cleave__interact(struct cleave_session *session, FILE *in, FILE *out,
                                    struct cleave_error *error);

/* One iteration's figures, and their difference from the last (may be NULL). */
void cleave__interact_show(FILE *out, const struct cleave_session_result *result,
                           const struct cleave_session_result *last);

#endif
