/* The steps of the multilevel partitioner, each in its own file, and what they share. All give
 * CLEAVE_OK, CLEAVE_NO_MEMORY or CLEAVE_INTERRUPTED, without a message: the driver says it. Scratch
 * memory is taken from the arena and given back. */
#ifndef CLEAVE_PLACE_MULTILEVEL_SEARCH_H
#define CLEAVE_PLACE_MULTILEVEL_SEARCH_H

#include "base/pool.h"
#include "base/random.h"
#include "place/multilevel/state.h"

/* What a preset spends. */
struct cleave__effort {
    uint32_t bipartitions; /* multilevel runs for each cut of the initial partition, at most */
    uint32_t attempts;     /* seeds grown on each of their coarsest levels */
    uint32_t fm_rounds;
    uint32_t flow_rounds;
    uint32_t flow_effort; /* for each pin of a level: pins that flows may look at */
    uint32_t starts;      /* at least; more where they are cheap, and half as many recombinations */
};

struct cleave__search {
    struct cleave_arena arena;
    struct cleave_random random;
    const struct cleave_progress *progress;
    struct cleave__effort effort;
    size_t room;               /* bytes for a cache of affinities */
    struct cleave__pool *pool; /* NULL: the caller alone */
};

static inline bool cleave__stopped(const struct cleave__search *search)
{
    return search->progress && search->progress->stop && *search->progress->stop;
}

/* Nets with more pins tell coarsening little about nearness. */
enum { CLEAVE__RATED_PINS_MAX = 500 };

/* coarsen.c: clusters of one level by heavy edges. Vertices merge only within one `restrict_to`
 * value (NULL: any), never past `cap` [weights], nor to fewer than `least` clusters. */
enum cleave_status cleave__cluster(struct cleave__search *search, const struct cleave__level *level,
                                   const uint32_t *restrict_to, const int64_t *cap, uint32_t least,
                                   uint32_t *cluster, uint32_t *clusters);

/* label.c: moves border vertices to their best block while that gains. */
enum cleave_status cleave__refine_labels(struct cleave__search *search, struct cleave__state *state,
                                         uint32_t rounds);

/* fm.c: localised k-way Fiduccia-Mattheyses with rollback to the best prefix. So many looks of the
 * state (state.h) and one local search's last step more, at most. */
enum { CLEAVE__FM_LOOKS_A_PIN = 1000, CLEAVE__FM_LOOKS_FREE = 100000000 };
enum cleave_status cleave__refine_fm(struct cleave__search *search, struct cleave__state *state,
                                     uint32_t rounds);

/* tabu.c: tabu search over all moves, through unbalanced states; for small instances, with a cache
 * for all affinities. Never ends worse than it began. */
enum cleave_status cleave__refine_tabu(struct cleave__search *search, struct cleave__state *state,
                                       uint64_t iterations);
/* How many iterations cost about as much as `work` single steps. */
uint64_t cleave__tabu_iterations(const struct cleave__level *level,
                                 const struct cleave__target *target, uint64_t work);

/* rebalance.c: repairs missing vertices, conflicts and overload at the least cost it finds. */
enum cleave_status cleave__rebalance(struct cleave__search *search, struct cleave__state *state);

/* smooth.c: lessens the overload of several weights by moves that no step of its own need lessen;
 * false, and nothing moved, when it comes out no better. */
bool cleave__smooth(struct cleave__search *search, struct cleave__state *state);

/* pack.c: places all free vertices anew by vector bin packing, nets ignored. */
enum cleave_status cleave__pack(struct cleave__search *search, struct cleave__state *state);

/* exact.c: branch and bound. `*proven` when it ended within `nodes`: block[] is then optimal. */
enum cleave_status cleave__exact(struct cleave__search *search, struct cleave__state *state,
                                 uint64_t nodes, bool *proven);

/* portfolio.c: the best of several bipartitions of a small level. */
enum cleave_status cleave__portfolio(struct cleave__search *search,
                                     const struct cleave__level *level,
                                     const struct cleave__target *target, uint32_t *block);

/* bisect.c: a k-way partition by recursive bipartition, each one multilevel itself. */
enum cleave_status cleave__bisect(struct cleave__search *search, const struct cleave__level *level,
                                  const struct cleave__target *target, uint32_t *block);

/* hierarchy.c: coarsens, gets a partition of the coarsest level from `initial`, refines it level by
 * level. */
typedef enum cleave_status cleave__initial(struct cleave__search *search,
                                           const struct cleave__level *coarsest,
                                           const struct cleave__target *target, uint32_t *block);
struct cleave__cycle {
    uint32_t coarsest;        /* vertices of the coarsest level, about */
    cleave__initial *initial; /* NULL: block[] is the partition to start from */
    const uint32_t *within;   /* only vertices of one number merge, as long as that gets on; NULL:
                                 any. Without `initial`, these must be vertices of one block, and
                                 it holds to the end */
    uint32_t flow_rounds;
};
enum cleave_status cleave__multilevel(struct cleave__search *search,
                                      const struct cleave__level *level,
                                      const struct cleave__target *target,
                                      const struct cleave__cycle *cycle, uint32_t *block);

/* Repairs and refines in the way that fits the size. */
enum cleave_status cleave__refine(struct cleave__search *search, struct cleave__state *state);

/* Room for the affinities of all vertices. */
static inline size_t cleave__full_room(const struct cleave__level *level, uint32_t blocks)
{
    return ((size_t)level->vertices + 64) * blocks * sizeof(int64_t);
}

#endif
