/* Recursive bipartition: the blocks are divided in two halves, the vertices likewise by a
 * multilevel bipartition whose coarsest level is solved many times over (grown greedily, grown by
 * distance, at random), and each part goes on alone.
 *
 * Room is shared out so that every later cut still has some: a half may take its share of what is
 * there, plus an equal part of the slack for each cut still to come. */
#include <string.h>

#include "place/multilevel/heap.h"
#include "place/multilevel/search.h"

enum { ATTEMPTS = 6, TABU_WORK = 400000 };

enum growth { GREEDY, NEAREST, RANDOM };

struct grow {
    struct cleave__state *state;
    struct cleave__heap heap;
    bool *tried;
    uint32_t side;
    enum growth growth;
    int64_t arrivals;
};

static void reached(void *context, uint32_t u, uint32_t b, int64_t delta)
{
    struct grow *g = context;
    struct cleave__state *s = g->state;
    (void)b;
    (void)delta;
    if (g->tried[u] || s->block[u] == g->side || s->level->fixed[u] != CLEAVE_FREE)
        return;
    if (g->growth == GREEDY) {
        const int64_t *row = s->affinity + (size_t)u * 2;
        cleave__heap_set(&g->heap, u, row[g->side] - row[1 - g->side]);
    } else if (!cleave__heap_has(&g->heap, u)) {
        cleave__heap_set(&g->heap, u, -g->arrivals++);
    }
}

static bool full(const struct cleave__state *s, uint32_t side)
{
    uint32_t W = s->level->weights;
    for (uint32_t c = 0; c < W; c++) {
        int64_t quota = s->target->quota[(size_t)side * W + c];
        if (quota > 0 && s->weight[(size_t)side * W + c] >= quota)
            return true;
    }
    return false;
}

static bool fits(const struct cleave__state *s, uint32_t v, uint32_t side)
{
    uint32_t W = s->level->weights;
    for (uint32_t c = 0; c < W; c++) {
        size_t at = (size_t)side * W + c;
        if (s->weight[at] + s->level->weight[(size_t)v * W + c] > s->target->limit[at])
            return false;
    }
    return true;
}

/* Everything free starts on the other side; `side` grows until it has its quota. */
static void grow_side(struct grow *g, const uint32_t *order)
{
    struct cleave__state *s = g->state;
    const struct cleave__level *l = s->level;
    for (uint32_t v = 0; v < l->vertices; v++)
        s->block[v] = l->fixed[v] != CLEAVE_FREE ? (uint32_t)l->fixed[v] : 1 - g->side;
    cleave__state_recount(s);
    memset(g->tried, 0, l->vertices * sizeof *g->tried);
    cleave__heap_clear(&g->heap);
    g->arrivals = 0;
    /* Fixed vertices are where growth begins, if there are any. */
    for (uint32_t v = 0; v < l->vertices && g->growth != RANDOM; v++) {
        if (l->fixed[v] != (int32_t)g->side)
            continue;
        for (uint64_t j = l->vertex_offset[v]; j < l->vertex_offset[v + 1]; j++) {
            uint32_t e = l->incident[j];
            for (uint64_t i = l->net_offset[e]; i < l->net_offset[e + 1]; i++)
                reached(g, l->pin[i], g->side, 0);
        }
    }
    uint32_t next = 0;
    while (!full(s, g->side)) {
        uint32_t v;
        if (g->heap.count) {
            v = cleave__heap_pop(&g->heap);
        } else {
            while (next < l->vertices &&
                   (g->tried[order[next]] || l->fixed[order[next]] != CLEAVE_FREE))
                next++;
            if (next == l->vertices)
                break;
            v = order[next];
        }
        g->tried[v] = true;
        if (fits(s, v, g->side))
            cleave__state_move(s, v, g->side, g->growth == RANDOM ? NULL : reached, g);
    }
}

static enum cleave_status portfolio(struct cleave__search *search,
                                    const struct cleave__level *level,
                                    const struct cleave__target *target, uint32_t *block)
{
    static const enum growth growths[ATTEMPTS] = {GREEDY, NEAREST, GREEDY, GREEDY, NEAREST, RANDOM};
    uint32_t n = level->vertices;
    struct cleave_arena *arena = &search->arena;
    struct cleave_arena_mark mark = cleave__arena_mark(arena);
    struct cleave__state state;
    struct grow grow = {.state = &state};
    uint32_t *best = cleave__arena_array(arena, n, sizeof *best);
    uint32_t *order = cleave__arena_array(arena, n, sizeof *order);
    grow.tried = cleave__arena_array(arena, n, sizeof *grow.tried);
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (!best || !order || !grow.tried || !cleave__heap_init(&grow.heap, arena, n))
        goto done;
    for (uint32_t v = 0; v < n; v++) {
        order[v] = v;
        block[v] = 0;
    }
    if (!cleave__state_init(&state, arena, level, target, block, true))
        goto done;
    struct cleave__score record = {0};
    for (uint32_t attempt = 0; attempt < ATTEMPTS; attempt++) {
        cleave__random_shuffle(&search->random, order, n);
        grow.growth = growths[attempt];
        grow.side = (uint32_t)cleave__random_below(&search->random, 2);
        grow_side(&grow, order);
        status = cleave__rebalance(search, &state);
        if (!status)
            status = cleave__refine_fm(search, &state, 4);
        if (status)
            goto done;
        if (attempt == 0 || cleave__score_less(&state.score, &record)) {
            record = state.score;
            memcpy(best, block, n * sizeof *best);
        }
    }
    memcpy(block, best, n * sizeof *best);
    cleave__state_recount(&state);
    uint64_t steps = cleave__tabu_iterations(&state, TABU_WORK), most = 50 + 20 * (uint64_t)n;
    status = cleave__refine_tabu(search, &state, steps < most ? steps : most);
    if (!status && state.score.overload) {
        status = cleave__pack(search, &state);
        if (!status)
            status = cleave__refine_fm(search, &state, 4);
    }
done:
    cleave__arena_rewind(arena, mark);
    return status;
}

/* The blocks first .. first + count - 1 of `target`, for the vertices of `level`. */
static void halve(const struct cleave__level *level, const struct cleave__target *target,
                  uint32_t first, uint32_t count, uint32_t left, int64_t *quota, int64_t *limit,
                  uint32_t *least)
{
    uint32_t W = level->weights, cuts = 0;
    while ((1u << cuts) < count)
        cuts++;
    for (uint32_t c = 0; c < W; c++) {
        int64_t here = 0;
        double room[2] = {0, 0}, share[2] = {0, 0};
        for (uint32_t v = 0; v < level->vertices; v++)
            here += level->weight[(size_t)v * W + c];
        for (uint32_t b = 0; b < count; b++) {
            room[b >= left] += (double)target->limit[(size_t)(first + b) * W + c];
            share[b >= left] += (double)target->quota[(size_t)(first + b) * W + c];
        }
        for (uint32_t side = 0; side < 2; side++) {
            double all = room[0] + room[1], whole = share[0] + share[1];
            double fair = whole > 0 ? (double)here * (share[side] / whole) : (double)here / 2;
            double most = fair;
            if (here > 0 && all > (double)here)
                most = fair * (1 + (all / (double)here - 1) / cuts);
            if (most > room[side])
                most = room[side];
            int64_t aim = (int64_t)fair + ((double)(int64_t)fair < fair);
            quota[(size_t)side * W + c] = aim;
            limit[(size_t)side * W + c] = (int64_t)most > aim ? (int64_t)most : aim;
        }
    }
    least[0] = least[1] = 0;
    for (uint32_t b = 0; b < count; b++)
        least[b >= left] += target->least[first + b];
}

/* The best of several multilevel bipartitions, coarsened to different sizes: large coarsest levels
 * hold finer solutions, small ones force global choices, and which matters no one knows before. */
static enum cleave_status bisect_well(struct cleave__search *search,
                                      const struct cleave__level *level,
                                      const struct cleave__target *target, uint32_t least,
                                      uint32_t *side)
{
    static const uint32_t coarsest[] = {120, 40, 80, 30};
    uint32_t n = level->vertices;
    struct cleave_arena_mark mark = cleave__arena_mark(&search->arena);
    uint32_t *best = cleave__arena_array(&search->arena, n, sizeof *best);
    struct cleave__score record = {0};
    enum cleave_status status = best ? CLEAVE_OK : CLEAVE_NO_MEMORY;
    for (uint32_t i = 0; i < sizeof coarsest / sizeof *coarsest && !status; i++) {
        struct cleave_arena_mark inner = cleave__arena_mark(&search->arena);
        struct cleave__state state;
        status =
            cleave__multilevel(search, level, target, coarsest[i] > least ? coarsest[i] : least,
                               portfolio, NULL, side);
        if (!status && !cleave__state_init(&state, &search->arena, level, target, side, false))
            status = CLEAVE_NO_MEMORY;
        if (!status && (i == 0 || cleave__score_less(&state.score, &record))) {
            record = state.score;
            memcpy(best, side, n * sizeof *best);
        }
        cleave__arena_rewind(&search->arena, inner);
        if (n <= least || (!status && record.cost == 0 && cleave__score_sound(&record)))
            break;
    }
    if (!status)
        memcpy(side, best, n * sizeof *best);
    cleave__arena_rewind(&search->arena, mark);
    return status;
}

/* `level` holds what belongs in those blocks; vertex[v] is its number in block[]. */
static enum cleave_status divide(struct cleave__search *search, const struct cleave__level *level,
                                 const uint32_t *vertex, const struct cleave__target *target,
                                 uint32_t first, uint32_t count, uint32_t *block)
{
    uint32_t n = level->vertices;
    if (count == 1 || n == 0) {
        for (uint32_t v = 0; v < n; v++)
            block[vertex ? vertex[v] : v] = first;
        return CLEAVE_OK;
    }
    struct cleave_arena *arena = &search->arena;
    struct cleave_arena_mark mark = cleave__arena_mark(arena);
    uint32_t left = count / 2;
    int64_t quota[2 * CLEAVE_WEIGHTS_MAX], limit[2 * CLEAVE_WEIGHTS_MAX];
    uint32_t least[2], width[2] = {left, count - left};
    halve(level, target, first, count, left, quota, limit, least);
    const struct cleave__target two = {.blocks = 2,
                                       .weights = target->weights,
                                       .objective = CLEAVE_CUT,
                                       .limit = limit,
                                       .quota = quota,
                                       .least = least,
                                       .width = width,
                                       .budget = INT64_MAX};
    struct cleave__level sided = *level;
    int32_t *fixed = cleave__arena_array(arena, n, sizeof *fixed);
    uint32_t *side = cleave__arena_array(arena, n, sizeof *side);
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (!fixed || !side)
        goto done;
    for (uint32_t v = 0; v < n; v++)
        fixed[v] = level->fixed[v] == CLEAVE_FREE ? CLEAVE_FREE
                                                  : (uint32_t)level->fixed[v] >= first + left;
    sided.fixed = fixed;
    status = bisect_well(search, &sided, &two, 2 * count, side);
    for (uint32_t which = 0; which < 2 && !status; which++) {
        struct cleave_arena_mark inner = cleave__arena_mark(arena);
        uint32_t *back;
        const struct cleave__level *part = cleave__level_extract(
            arena, level, side, which, target->objective != CLEAVE_CUT, &back);
        status = CLEAVE_NO_MEMORY;
        if (part) {
            for (uint32_t v = 0; v < part->vertices && vertex; v++)
                back[v] = vertex[back[v]];
            status =
                divide(search, part, back, target, first + (which ? left : 0), width[which], block);
        }
        cleave__arena_rewind(arena, inner);
    }
done:
    cleave__arena_rewind(arena, mark);
    return status;
}

/* The same with heavy vertices seated first, by packing: those heavier than the room a block has to
 * spare, which no later cut could accommodate. */
static enum cleave_status divide_seated(struct cleave__search *search,
                                        const struct cleave__level *level,
                                        const struct cleave__target *target, uint32_t *block)
{
    uint32_t n = level->vertices, W = level->weights, k = target->blocks;
    struct cleave_arena *arena = &search->arena;
    struct cleave_arena_mark mark = cleave__arena_mark(arena);
    struct cleave__level seated = *level;
    int32_t *fixed = cleave__arena_array(arena, n, sizeof *fixed);
    struct cleave__state state;
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (!fixed || !cleave__state_init(&state, arena, level, target, block, false))
        goto done;
    status = cleave__pack(search, &state);
    if (status)
        goto done;
    double spare[CLEAVE_WEIGHTS_MAX] = {0};
    for (uint32_t c = 0; c < W; c++) {
        for (uint32_t b = 0; b < k; b++)
            spare[c] +=
                (double)(target->limit[(size_t)b * W + c] - state.weight[(size_t)b * W + c]) / k;
    }
    for (uint32_t v = 0; v < n; v++) {
        fixed[v] = level->fixed[v];
        for (uint32_t c = 0; c < W; c++) {
            double w = (double)level->weight[(size_t)v * W + c];
            if (w > 0 && w > spare[c])
                fixed[v] = (int32_t)block[v];
        }
    }
    seated.fixed = fixed;
    /* Seated vertices no longer count as free; the final blocks still get their due later. */
    struct cleave__target relaxed = *target;
    uint32_t *least = cleave__arena_zalloc(arena, k * sizeof *least);
    status = CLEAVE_NO_MEMORY;
    if (!least)
        goto done;
    relaxed.least = least;
    status = divide(search, &seated, NULL, &relaxed, 0, k, block);
done:
    cleave__arena_rewind(arena, mark);
    return status;
}

enum cleave_status cleave__bisect(struct cleave__search *search, const struct cleave__level *level,
                                  const struct cleave__target *target, uint32_t *block)
{
    struct cleave_arena_mark mark = cleave__arena_mark(&search->arena);
    enum cleave_status status = divide(search, level, NULL, target, 0, target->blocks, block);
    if (status)
        return status;
    /* Unbalanced so far: repaired, is it better than with heavy vertices seated first? */
    struct cleave__state first, second;
    uint32_t *other = cleave__arena_array(&search->arena, level->vertices, sizeof *other);
    bool affinity = cleave__affinity_fits(level, target->blocks);
    status = CLEAVE_NO_MEMORY;
    if (!other || !cleave__state_init(&first, &search->arena, level, target, block, affinity))
        goto done;
    status = CLEAVE_OK;
    if (!first.score.overload)
        goto done;
    memcpy(other, block, level->vertices * sizeof *other);
    status = divide_seated(search, level, target, other);
    if (status)
        goto done;
    status = CLEAVE_NO_MEMORY;
    if (!cleave__state_init(&second, &search->arena, level, target, other, affinity))
        goto done;
    status = cleave__refine(search, &first);
    if (!status)
        status = cleave__refine(search, &second);
    if (!status && cleave__score_less(&second.score, &first.score))
        memcpy(block, other, level->vertices * sizeof *other);
done:
    cleave__arena_rewind(&search->arena, mark);
    return status;
}
