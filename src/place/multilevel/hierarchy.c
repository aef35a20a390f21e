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
    const struct cleave__flow_options options = {.pool = search->pool, .rounds = rounds};
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
                                       const struct cleave__target *target, bool coarsest,
                                       uint32_t flow_rounds, uint32_t *block)
{
    bool two = target->blocks == 2 && !level->home;
    enum cleave_status status = two ? refine_two(search, level, target, block) : CLEAVE_OK;
    uint64_t steps =
        coarsest ? cleave__tabu_iterations(level, target, search->effort.tabu_work) : 0;
    if (status || (two && !steps && !flow_rounds))
        return status;
    struct cleave_arena_mark mark = cleave__arena_mark(&search->arena);
    struct cleave__state state;
    size_t room = cleave__full_room(level, target->blocks);
    if (!steps)
        room = two ? 0 : room < search->room ? room : search->room;
    if (!cleave__state_init(&state, &search->arena, level, target, block, room))
        status = CLEAVE_NO_MEMORY;
    if (!status && !two)
        status = cleave__refine(search, &state);
    if (!status && steps) {
        uint64_t most = 50 + 20 * (uint64_t)level->vertices;
        status = cleave__refine_tabu(search, &state, steps < most ? steps : most);
    }
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

enum cleave_status cleave__multilevel(struct cleave__search *search,
                                      const struct cleave__level *level,
                                      const struct cleave__target *target,
                                      const struct cleave__cycle *cycle, uint32_t *block)
{
    struct cleave_arena *arena = &search->arena;
    struct cleave_arena_mark mark = cleave__arena_mark(arena);
    const struct cleave__level *levels[LEVELS_MAX] = {level};
    uint32_t *blocks[LEVELS_MAX] = {block}, *map[LEVELS_MAX];
    const uint32_t *within = cycle->within;
    uint32_t coarsest = cycle->coarsest;
    int64_t cap[CLEAVE_WEIGHTS_MAX];
    cluster_caps(level, coarsest, cap);
    enum cleave_status status = CLEAVE_NO_MEMORY;
    uint32_t depth = 0;
    while (levels[depth]->vertices > coarsest && depth + 1 < LEVELS_MAX) {
        uint32_t n = levels[depth]->vertices, count;
        map[depth] = cleave__arena_array(arena, n, sizeof **map);
        if (!map[depth])
            goto done;
        status = cleave__cluster(search, levels[depth], within, cap, coarsest, map[depth], &count);
        if (status)
            goto done;
        if (count > n - n / 20)
            break; /* stuck */
        status = CLEAVE_NO_MEMORY;
        levels[depth + 1] = cleave__level_contract(arena, levels[depth], map[depth], count);
        blocks[depth + 1] = cleave__arena_array(arena, count, sizeof **blocks);
        if (!levels[depth + 1] || !blocks[depth + 1])
            goto done;
        for (uint32_t v = 0; v < n && !cycle->initial; v++)
            blocks[depth + 1][map[depth][v]] = blocks[depth][v];
        if (within) {
            uint32_t *label = cleave__arena_array(arena, count, sizeof *label);
            if (!label)
                goto done;
            for (uint32_t v = 0; v < n; v++)
                label[map[depth][v]] = within[v];
            within = label;
        }
        depth++;
    }
    status = CLEAVE_OK;
    if (cycle->initial)
        status = cycle->initial(search, levels[depth], target, blocks[depth]);
    for (uint32_t bottom = depth;; depth--) {
        if (!status)
            status = refine_level(search, levels[depth], target, depth == bottom,
                                  cycle->flow_rounds, blocks[depth]);
        if (status || depth == 0)
            break;
        for (uint32_t v = 0; v < levels[depth - 1]->vertices; v++)
            blocks[depth - 1][v] = blocks[depth][map[depth - 1][v]];
    }
done:
    cleave__arena_rewind(arena, mark);
    return status;
}
