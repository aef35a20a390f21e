/* Progress on a terminal, and Ctrl-C. */
#ifndef CLEAVE_CLI_PROGRESS_H
#define CLEAVE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "cleave/progress.h"

/* Give `&it.progress` to library calls. Not movable after init. */
struct cleave_terminal {
    struct cleave_progress progress;
    uint64_t last_ms; /* of the last line drawn */
    bool drawn;       /* a line is on the terminal */
};

/* Catches Ctrl-C from now on: the first sets `progress.stop`, a second one kills. */
void cleave__interrupt_catch(void);
/* For what serves: SIGTERM from now on does as Ctrl-C. */
void cleave__terminate_catch(void);
/* Until it is caught again, Ctrl-C ends the process at once, with a line that says so: for
 * reading, which may wait for input and has nothing to tidy. */
void cleave__interrupt_release(void);

/* Draws only when standard error is a terminal and not `quiet`; stops on Ctrl-C either way. */
void cleave__terminal_init(struct cleave_terminal *terminal, bool quiet);
/* Wipes the line, if one is there. Call before printing anything. */
void cleave__terminal_clear(struct cleave_terminal *terminal);

#endif
