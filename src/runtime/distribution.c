#include "runtime/distribution.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/portable.h"

void cleave__distribution_free(struct cleave_distribution *distribution)
{
    free(distribution->samples);
    *distribution = (struct cleave_distribution){0};
}

/* In (0, 1]. */
static double positive_real(struct cleave_random *random)
{
    return 1.0 - cleave__random_real(random);
}

/* sqrt is exact to the last bit by IEEE 754. */
static double normal(struct cleave_random *random)
{
    for (;;) {
        double u = 2 * cleave__random_real(random) - 1, v = 2 * cleave__random_real(random) - 1;
        double s = u * u + v * v;
        if (s < 1 && s > 1e-300)
            return u * sqrt(-2 * cleave__portable_log(s) / s);
    }
}

static uint64_t capped(double ns)
{
    return ns < (double)CLEAVE_DISTRIBUTION_MOST_NS ? (uint64_t)ns : CLEAVE_DISTRIBUTION_MOST_NS;
}

uint64_t cleave__distribution_draw(const struct cleave_distribution *d,
                                   struct cleave_random *random)
{
    switch (d->kind) {
    case CLEAVE_CONSTANT:
        return d->low_ns;
    case CLEAVE_UNIFORM:
        return d->low_ns + cleave__random_below(random, d->high_ns - d->low_ns + 1);
    case CLEAVE_LOGNORMAL:
        return capped((double)d->low_ns * cleave__portable_exp(d->shape * normal(random)));
    case CLEAVE_PARETO:
        return capped(
            (double)d->low_ns *
            cleave__portable_exp(-cleave__portable_log(positive_real(random)) / d->shape));
    case CLEAVE_EMPIRICAL:
        return d->samples[cleave__random_below(random, d->sample_count)];
    }
    return 0;
}
