/* The multilevel scheme itself: coarsen, partition the coarsest level, refine on the way back. With
 * a partition to start from, only vertices of one block merge, so that every level inherits it (a
 * V-cycle); with two, only vertices that both keep together, so that the coarsest level holds just
 * what they disagree on (recombination). */
#include "place/multilevel/flow.h"
#include "place/multilevel/two.h"

enum { LEVELS_MAX = 60 };

enum cleave_status cleave__refine(struct cleave__search *search, struct cleave__state *state)
{
    enum cleave_status status = cleave__rebalance(search, state);
    if (!status)
        status = cleave__refine_labels(search, state, 2);
    if (!status)
        status = cleave__refine_fm(search, state, search->effort.fm_rounds);
    if (!status && !cleave__score_sound(&state->score))
        status = cleave__rebalance(search, state);
    return status;
}

static enum cleave_status cut_anew(struct cleave__search *search, struct cleave__state *state,
                                   uint32_t rounds)
{
    const struct cleave__flow_options options = {
        .pool = search->pool,
        .rounds = rounds,
        .distance = 3,
        .effort = search->effort.flow_effort * state->level->net_offset[state->level->nets]};
    return cleave__refine_flow(search, state, &options);
}

/* Two blocks have a faster state, as long as no one counts who has moved. */
static enum cleave_status refine_two(struct cleave__search *search,
                                     const struct cleave__level *level,
                                     const struct cleave__target *target, uint32_t *block)
{
    struct cleave_arena_mark mark = cleave__arena_mark(&search->arena);
    struct cleave__two two;
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (cleave__two_init(&two, &search->arena, level, target, block))
        status = cleave__two_repair(search, &two);
    if (!status)
        status = cleave__two_refine(search, &two, search->effort.fm_rounds);
    if (!status)
        status = cleave__two_repair(search, &two);
    cleave__arena_rewind(&search->arena, mark);
    return status;
}

static enum cleave_status refine_level(struct cleave__search *search,
                                       const struct cleave__level *level,
                                       const struct cleave__target *target, uint32_t flow_rounds,
                                       uint32_t *block)
{
    bool two = target->blocks == 2 && !level->home;
    enum cleave_status status = two ? refine_two(search, level, target, block) : CLEAVE_OK;
    if (status || (two && !flow_rounds))
        return status;
    struct cleave_arena_mark mark = cleave__arena_mark(&search->arena);
    struct cleave__state state;
    if (!cleave__state_init(&state, &search->arena, level, target, block, two ? 0 : search->room))
        status = CLEAVE_NO_MEMORY;
    if (!status && !two)
        status = cleave__refine(search, &state);
    if (!status && flow_rounds)
        status = cut_anew(search, &state, flow_rounds);
    cleave__arena_rewind(&search->arena, mark);
    return status;
}

/* How heavy a cluster may get: a fair share of the coarsest level, doubled. */
static void cluster_caps(const struct cleave__level *level, uint32_t coarsest, int64_t *cap)
{
    uint32_t W = level->weights;
    for (uint32_t c = 0; c < W; c++) {
        int64_t total = 0;
        for (uint32_t v = 0; v < level->vertices; v++)
            total += level->weight[(size_t)v * W + c];
        cap[c] = 2 * (total / coarsest) + 1;
    }
}

/* One level, on memory of its own, so that it can go as soon as it has been refined. */
struct rung {
    struct cleave_arena arena;
    struct cleave_arena transpose; /* gone while coarser levels are worked on */
    const struct cleave__level *level;
    uint32_t *block, *map; /* [level vertices]; map: of the finer level's vertices to these */
    const uint32_t *within;
};

static void free_rung(struct rung *rung)
{
    cleave__arena_free(&rung->transpose);
    cleave__arena_free(&rung->arena);
}

/* The next coarser level; `*stuck` when clustering does not get on. */
static enum cleave_status coarsen(struct cleave__search *search, const struct rung *fine,
                                  const struct cleave__cycle *cycle, const int64_t *cap,
                                  struct rung *coarse, bool *stuck)
{
    uint32_t n = fine->level->vertices, count;
    struct cleave_arena *arena = &coarse->arena;
    if (!(coarse->map = cleave__arena_array(arena, n, sizeof *coarse->map)))
        return CLEAVE_NO_MEMORY;
    enum cleave_status status = cleave__cluster(search, fine->level, fine->within, cap,
                                                cycle->coarsest, coarse->map, &count);
    *stuck = !status && count > n - n / 20;
    if (status || *stuck)
        return status;
    coarse->level =
        cleave__level_contract(arena, &coarse->transpose, fine->level, coarse->map, count);
    coarse->block = cleave__arena_array(arena, count, sizeof *coarse->block);
    if (!coarse->level || !coarse->block)
        return CLEAVE_NO_MEMORY;
    for (uint32_t v = 0; v < n && !cycle->initial; v++)
        coarse->block[coarse->map[v]] = fine->block[v];
    if (fine->within) {
        uint32_t *within = cleave__arena_array(arena, count, sizeof *within);
        if (!within)
            return CLEAVE_NO_MEMORY;
        for (uint32_t v = 0; v < n; v++)
            within[coarse->map[v]] = fine->within[v];
        coarse->within = within;
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__multilevel(struct cleave__search *search,
                                      const struct cleave__level *level,
                                      const struct cleave__target *target,
                                      const struct cleave__cycle *cycle, uint32_t *block)
{
    struct rung rung[LEVELS_MAX] = {{.level = level, .block = block, .within = cycle->within}};
    int64_t cap[CLEAVE_WEIGHTS_MAX];
    cluster_caps(level, cycle->coarsest, cap);
    enum cleave_status status = CLEAVE_OK;
    uint32_t depth = 0;
    bool stuck = false;
    while (!status && rung[depth].level->vertices > cycle->coarsest && depth + 1 < LEVELS_MAX) {
        status = coarsen(search, &rung[depth], cycle, cap, &rung[depth + 1], &stuck);
        if (stuck && cycle->initial && rung[depth].within) {
            free_rung(&rung[depth + 1]);
            rung[depth].within = NULL;
            continue;
        }
        if (status || stuck) {
            free_rung(&rung[depth + 1]);
            break;
        }
        if (depth > 0)
            cleave__arena_free(&rung[depth].transpose);
        depth++;
    }
    if (!status && cycle->initial)
        status = cycle->initial(search, rung[depth].level, target, rung[depth].block);
    for (uint32_t bottom = depth;; depth--) {
        if (!status && depth && depth != bottom &&
            !cleave__level_transpose((struct cleave__level *)rung[depth].level,
                                     &rung[depth].transpose))
            status = CLEAVE_NO_MEMORY;
        if (!status)
            status = refine_level(search, rung[depth].level, target, cycle->flow_rounds,
                                  rung[depth].block);
        for (uint32_t v = 0; depth && !status && v < rung[depth - 1].level->vertices; v++)
            rung[depth - 1].block[v] = rung[depth].block[rung[depth].map[v]];
        free_rung(&rung[depth]);
        if (depth == 0)
            return status;
    }
}
