/* A bipartition under change: what cleave__state is for two sides only, and much faster. Every
 * vertex's gain (how much its move to the other side lowers the weight of nets cut) is kept exact.
 * Migration budgets are not known here; everything else is. Memory: O(vertices + nets). */
#ifndef CLEAVE_PLACE_MULTILEVEL_TWO_H
#define CLEAVE_PLACE_MULTILEVEL_TWO_H

#include "place/multilevel/heap.h"
#include "place/multilevel/search.h"

struct cleave__two {
    const struct cleave__level *level;
    const struct cleave__target
        *target;    /* of two blocks; cost is the cut, whatever the objective */
    uint32_t *side; /* [vertices]: 0 or 1; the caller's array */
    uint32_t *pins; /* [2 * nets]: pins a net has on each side */
    int64_t *gain;  /* [vertices] */
    int64_t weight[2 * CLEAVE_WEIGHTS_MAX];
    uint32_t free_count[2];
    struct cleave__score score;
    struct cleave__heap heap[2]; /* of vertices by the side they are on, keyed by gain */
    bool *locked;                /* [vertices] */
};

/* Counts everything from side[]. False when memory is out. O(pins). */
bool cleave__two_init(struct cleave__two *two, struct cleave_arena *arena,
                      const struct cleave__level *level, const struct cleave__target *target,
                      uint32_t *side);
void cleave__two_recount(struct cleave__two *two);

/* Gains of queued vertices are kept up to date in the heaps. With `queue`, vertices that a net just
 * cut or uncut concerns are queued too, unless locked or fixed. */
void cleave__two_move(struct cleave__two *two, uint32_t v, bool queue);

/* May v change sides without breaking anything more than it is broken now? */
bool cleave__two_admissible(const struct cleave__two *two, uint32_t v);

/* The side that is fuller for its quota. */
static inline uint32_t cleave__two_fuller(const struct cleave__two *two)
{
    const int64_t *quota = two->target->quota;
    uint32_t W = two->level->weights;
    double most = 0;
    uint32_t side = 0;
    for (uint32_t at = 0; at < 2 * W; at++) {
        double fill = (double)two->weight[at] / (double)(quota[at] > 0 ? quota[at] : 1);
        if (fill > most) {
            most = fill;
            side = at >= W;
        }
    }
    return side;
}

/* two_fm.c: localised Fiduccia-Mattheyses with rollback to the best prefix. */
enum cleave_status cleave__two_refine(struct cleave__search *search, struct cleave__two *two,
                                      uint32_t rounds);
/* Repairs what is violated by way of cleave__rebalance. */
enum cleave_status cleave__two_repair(struct cleave__search *search, struct cleave__two *two);

/* Compares all that is kept up to date with a fresh count. */
bool cleave__two_check(const struct cleave__two *two, const char **why);

#endif
