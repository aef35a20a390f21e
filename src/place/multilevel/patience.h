/* What both kinds of FM share. When a local search gives up: the gains so far make it unlikely that
 * it ever climbs back. (Osipov and Sanders 2010.) */
#ifndef CLEAVE_PLACE_MULTILEVEL_PATIENCE_H
#define CLEAVE_PLACE_MULTILEVEL_PATIENCE_H

#include "place/multilevel/state.h"

/* A search grows from so many border vertices; levels this small are searched as a whole first. */
enum { CLEAVE__FM_SEEDS = 16, CLEAVE__FM_WHOLE_MAX = 400 };

struct cleave__patience {
    double count, mean, squares;
    double enough;
};

static inline struct cleave__patience cleave__patience_for(uint32_t vertices)
{
    struct cleave__patience p = {.enough = 8};
    for (uint32_t i = vertices; i > 1; i /= 3) /* a logarithm that is the same on every machine */
        p.enough++;
    return p;
}

static inline void cleave__patience_reset(struct cleave__patience *p)
{
    p->count = p->mean = p->squares = 0;
}

static inline bool cleave__patience_over(struct cleave__patience *p, double gain)
{
    p->count++;
    double d = gain - p->mean;
    p->mean += d / p->count;
    p->squares += d * (gain - p->mean);
    if (p->count < p->enough)
        return false;
    double variance = p->squares / (p->count - 1);
    return p->mean < 0 ? p->count * p->mean * p->mean > variance : p->count > 10 * p->enough + 200;
}

/* Did a round of searches bring enough for another? A sounder partition always, else 0.1 %. */
static inline bool cleave__round_paid(const struct cleave__score *before,
                                      const struct cleave__score *after)
{
    int64_t gained = before->cost - after->cost;
    return after->overload < before->overload || after->conflicts < before->conflicts ||
           after->missing < before->missing ||
           (gained > 0 && (double)gained >= 0.001 * (double)before->cost);
}

#endif
