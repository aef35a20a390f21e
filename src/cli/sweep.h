/* Options that take several values: "4", "2,4,8", "0..8", "0..100..25" (a step), and mixtures of
 * these. A command that has some runs once for every combination, the last option varying fastest.
 */
#ifndef CLEAVE_CLI_SWEEP_H
#define CLEAVE_CLI_SWEEP_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

enum { CLEAVE_SWEEP_MAX = 256 };
enum cleave_sweep_type { CLEAVE_SWEEP_WHOLE, CLEAVE_SWEEP_REAL, CLEAVE_SWEEP_WORD };

union cleave_sweep_value {
    uint64_t whole;
    double real;
    const char *word;
};

struct cleave_sweep {
    const char *name; /* of the option, without dashes */
    enum cleave_sweep_type type;
    double low, high; /* of numbers; whole ones to UINT64_MAX where high is 2^64 */
    union cleave_sweep_value value[CLEAVE_SWEEP_MAX];
    uint32_t count; /* at least 1 */
    uint32_t at;    /* which one it is now */
};

/* Reads an option's values, or ends the process with one line. Words are cut out of `text` in
 * place, at commas. */
void cleave__sweep_parse(struct argp_state *state, struct cleave_sweep *sweep, char *text);
/* Goes to the next combination; false after the last, when all are back at their first. `*changed`:
 * the first of them that has changed. */
bool cleave__sweep_next(struct cleave_sweep *sweeps, uint32_t count, uint32_t *changed);

static inline union cleave_sweep_value cleave__sweep_now(const struct cleave_sweep *sweep)
{
    return sweep->value[sweep->at];
}

#endif
