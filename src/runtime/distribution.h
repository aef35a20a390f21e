/* Distributions of times, as text says them, and draws from them.
 *
 *     constant:2ms          always 2 ms                       2ms        the same
 *     uniform:1ms,3ms       each nanosecond from 1 to 3 ms alike
 *     lognormal:1ms,0.5     median 1 ms; the logarithm's standard deviation is 0.5
 *     pareto:1ms,1.5        at least 1 ms; P(more than x) = (1 ms / x)^1.5
 *     empirical:FILE        the samples of a file, one a line, each as likely; # begins a comment
 *
 * A time is a number and ns, us, ms or s (a bare 0 needs none). Nothing drawn is longer than
 * CLEAVE_DISTRIBUTION_MOST_NS (11.5 days): a heavy tail is cut there. A draw is a function of the
 * random numbers alone, the same on every machine (portable.h; Marsaglia's polar method for the
 * normal deviate, inversion for Pareto). Reading allocates only for samples. */
#ifndef CLEAVE_RUNTIME_DISTRIBUTION_H
#define CLEAVE_RUNTIME_DISTRIBUTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/random.h"
#include "cleave/status.h"

#define CLEAVE_DISTRIBUTION_MOST_NS UINT64_C(1000000000000000)

enum cleave_distribution_kind {
    CLEAVE_CONSTANT,
    CLEAVE_UNIFORM,
    CLEAVE_LOGNORMAL,
    CLEAVE_PARETO,
    CLEAVE_EMPIRICAL
};

/* All zeroes is "constant:0". May be copied; only the first copy is freed. */
struct cleave_distribution {
    enum cleave_distribution_kind kind;
    uint64_t low_ns;   /* the constant; the least; the median of a lognormal */
    uint64_t high_ns;  /* of a uniform */
    double shape;      /* sigma of a lognormal, alpha of a Pareto */
    uint64_t *samples; /* of an empirical one, ascending */
    size_t sample_count;
};

/* Reads `text`; an error names what is wrong in it (for a file, the line). */
enum cleave_status cleave__distribution_parse(const char *text, struct cleave_distribution *out,
                                              struct cleave_error *error);
/* A time alone ("2.5ms"). */
enum cleave_status cleave__duration_parse(const char *text, uint64_t *out_ns,
                                          struct cleave_error *error);
void cleave__distribution_free(struct cleave_distribution *distribution);

uint64_t cleave__distribution_draw(const struct cleave_distribution *distribution,
                                   struct cleave_random *random);

#endif
