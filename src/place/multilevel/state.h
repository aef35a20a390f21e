/* A partition under change: blocks, their weights, how many pins each net has in each block, what
 * it costs and what it violates, all kept up to date by cleave__state_move.
 *
 * Affinity. affinity(v, b) is, under km1, the weight of v's nets that have another pin in b; under
 * cut, the weight of v's nets whose other pins are all in b; under soed the sum of both, as the
 * objective is. Under each, moving v from its block a to b lowers the cost by affinity(v, b) -
 * affinity(v, a). A move changes the affinity of others only where a net's pin count passes 0, 1
 * (km1) or all, all but one (cut), which keeps updates cheap; this holds for v's own row without
 * exception, since it never depends on v's block.
 *
 * Affinities are worked out when asked for. A cache of as many rows as its room allows keeps those
 * asked for last and updates them with every move; what is held changes the time, never a value.
 *
 * Memory: O(pins + k), and the room given to the cache. */
#ifndef CLEAVE_PLACE_MULTILEVEL_STATE_H
#define CLEAVE_PLACE_MULTILEVEL_STATE_H

#include <stdbool.h>

#include "cleave/partition.h"
#include "place/multilevel/level.h"

/* What a partition is asked to be. */
struct cleave__target {
    uint32_t blocks;
    uint32_t weights;
    enum cleave_objective objective;
    const int64_t *limit;  /* [blocks * weights] */
    const int64_t *quota;  /* [blocks * weights]: the aim, at most the limit */
    const int64_t *floor;  /* [blocks * weights]: the least, at most the limit; NULL: 0 */
    const uint32_t *least; /* [blocks]: free vertices that must be in it */
    const uint32_t *width; /* [blocks]: final blocks it stands for; NULL: 1 each */
    int64_t budget;        /* most home_cost; INT64_MAX: any */
};

/* How good; compared in this order, less is better. */
struct cleave__score {
    int64_t missing;   /* free vertices that blocks lack */
    int64_t conflicts; /* pairs to be kept apart that are together */
    int64_t overload;  /* sum of relative excess over limits and want under floors, fixed point */
    int64_t cost;
};

struct cleave__slot {
    uint32_t block, count;
};

/* Rows of affinities, for k <= CLEAVE__ROW_MAX: a ring, the oldest row making room unless it is
 * dear to work out anew. */
enum { CLEAVE__ROW_MAX = 64 };
struct cleave__cache {
    uint32_t *row;   /* [vertices]: 1 + its row, 0 if not held; NULL: no cache */
    int64_t *value;  /* [rows * blocks] */
    uint32_t *owner; /* [rows]: vertex, or CLEAVE__NONE */
    uint32_t rows, next;
    uint64_t dear; /* rows of vertices with so many nets stay: at most half of all rows */
};

struct cleave__state {
    const struct cleave__level *level;
    const struct cleave__target *target;
    uint32_t *block;           /* [vertices]; the caller's array */
    int64_t *weight;           /* [blocks * weights] */
    uint32_t *free_count;      /* [blocks]: free vertices in it */
    struct cleave__slot *slot; /* per net from net_offset, `used` of them filled */
    uint32_t *used;            /* [nets]: blocks touched */
    struct cleave__cache cache;
    int64_t *scratch; /* [blocks]: a row worked out on demand */
    uint32_t *near;   /* [blocks]: blocks that the vertex looked at last touches */
    uint32_t *marked; /* [blocks]: `stamp` for those */
    uint32_t stamp;
    uint64_t looks; /* blocks of nets looked at for rows, so far: what rows have cost */
    int64_t moved;  /* of the budget */
    struct cleave__score score;
};

/* Told, amid a move, of every change of affinity(u, block) by `delta`, u not the vertex moved. It
 * may look at rows held, but not ask for others: the counts do not agree before the move is over.
 */
typedef void cleave__touched(void *context, uint32_t u, uint32_t block, int64_t delta);

/* Counts everything from block[]. `room`: bytes for the cache. False when memory is out. O(pins).
 */
bool cleave__state_init(struct cleave__state *state, struct cleave_arena *arena,
                        const struct cleave__level *level, const struct cleave__target *target,
                        uint32_t *block, size_t room);
/* Recounts from block[] after the caller changed it wholesale. */
void cleave__state_recount(struct cleave__state *state);

void cleave__state_move(struct cleave__state *state, uint32_t v, uint32_t to,
                        cleave__touched *touched, void *context);

/* The affinities of v to all blocks, good until the next call for another vertex or a move. */
const int64_t *cleave__state_affinity(struct cleave__state *state, uint32_t v);
/* How much v's best move to another block gains at most, whatever else it breaks. */
int64_t cleave__state_most_gain(struct cleave__state *state, uint32_t v);
/* The row of v if the cache holds it, else NULL. */
static inline const int64_t *cleave__state_held(const struct cleave__state *state, uint32_t v)
{
    uint32_t row = state->cache.row ? state->cache.row[v] : 0;
    return row ? state->cache.value + (size_t)(row - 1) * state->target->blocks : NULL;
}

/* What a move would add (less is better), but for its cost. Conflicts may be asked for `to`
 * CLEAVE__NONE: just leaving. */
int64_t cleave__state_overload_delta(const struct cleave__state *state, uint32_t v, uint32_t to);
int64_t cleave__state_conflict_delta(const struct cleave__state *state, uint32_t v, uint32_t to);
int64_t cleave__state_moved_delta(const struct cleave__state *state, uint32_t v, uint32_t to);

/* May v move to `to` without breaking anything more than it is broken now? */
bool cleave__state_admissible(const struct cleave__state *state, uint32_t v, uint32_t to);
/* The admissible move of v that gains most, ties to the emptier block; CLEAVE__NONE if none. */
uint32_t cleave__state_best(struct cleave__state *state, uint32_t v, int64_t *gain);
/* Has v a net that leaves its block? */
bool cleave__state_on_border(const struct cleave__state *state, uint32_t v);

/* Fullest constraint of a block, 1 being its limit. */
double cleave__state_fill(const struct cleave__state *state, uint32_t b);

static inline int64_t cleave__excess(int64_t weight, int64_t limit)
{
    if (weight <= limit)
        return 0;
    double relative = (double)(weight - limit) / (double)(limit > 0 ? limit : 1) * 1048576.0;
    return 1 + (relative < 17592186044416.0 ? (int64_t)relative : INT64_C(17592186044416));
}

/* By how much a weight is over the limit or under the floor at `at`. */
static inline int64_t cleave__violation(const struct cleave__target *target, size_t at,
                                        int64_t weight)
{
    int64_t violation = cleave__excess(weight, target->limit[at]);
    if (target->floor && weight < target->floor[at])
        violation += 1 + (int64_t)((double)(target->floor[at] - weight) /
                                   (double)target->floor[at] * 1048576.0);
    return violation;
}

/* a better than b? */
static inline bool cleave__score_less(const struct cleave__score *a, const struct cleave__score *b)
{
    if (a->missing != b->missing)
        return a->missing < b->missing;
    if (a->conflicts != b->conflicts)
        return a->conflicts < b->conflicts;
    if (a->overload != b->overload)
        return a->overload < b->overload;
    return a->cost < b->cost;
}
static inline bool cleave__score_sound(const struct cleave__score *score)
{
    return !score->missing && !score->conflicts && !score->overload;
}

/* Compares all that is kept up to date with a fresh count. */
bool cleave__state_check(const struct cleave__state *state, const char **why);

#endif
