/* Recursive bipartition: the blocks are divided in two halves, the vertices likewise by a
 * multilevel bipartition whose coarsest level is solved many times over (grown greedily, grown by
 * distance, at random), and each part goes on alone.
 *
 * Room is shared out so that every later cut still has some: a half may take its share of what is
 * there, plus an equal part of the slack for each cut still to come. */
#include <string.h>

#include "place/multilevel/two.h"

enum { COARSEST_KINDS = 4 };

enum growth { GREEDY, NEAREST, RANDOM };

struct grow {
    struct cleave__two *two;
    struct cleave__heap heap; /* NEAREST: who was reached, the first on top */
    bool *tried;
    uint32_t side;
    int64_t arrivals;
};

static bool full(const struct cleave__two *t, uint32_t side)
{
    uint32_t W = t->level->weights;
    for (uint32_t c = 0; c < W; c++) {
        int64_t quota = t->target->quota[(size_t)side * W + c];
        if (quota > 0 && t->weight[(size_t)side * W + c] >= quota)
            return true;
    }
    return false;
}

static bool fits(const struct cleave__two *t, uint32_t v, uint32_t side)
{
    uint32_t W = t->level->weights;
    for (uint32_t c = 0; c < W; c++) {
        size_t at = (size_t)side * W + c;
        if (t->weight[at] + t->level->weight[(size_t)v * W + c] > t->target->limit[at])
            return false;
    }
    return true;
}

/* The neighbours of v wait in the order of their discovery. */
static void reach_from(struct grow *g, uint32_t v)
{
    const struct cleave__level *l = g->two->level;
    for (uint64_t j = l->vertex_offset[v]; j < l->vertex_offset[v + 1]; j++) {
        uint32_t e = l->incident[j];
        /* A net is walked once: by the first of its pins to come over. */
        if (l->fixed[v] == CLEAVE_FREE && g->two->pins[2 * (size_t)e + g->side] != 1)
            continue;
        for (uint64_t i = l->net_offset[e]; i < l->net_offset[e + 1]; i++) {
            uint32_t u = l->pin[i];
            if (!g->tried[u] && g->two->side[u] != g->side && l->fixed[u] == CLEAVE_FREE &&
                !cleave__heap_has(&g->heap, u))
                cleave__heap_set(&g->heap, u, -g->arrivals++);
        }
    }
}

/* Everything free starts on the other side; `side` grows until it has its quota: by the vertex that
 * gains most, by distance, or at random. */
static void grow_side(struct grow *g, enum growth growth, const uint32_t *order)
{
    struct cleave__two *t = g->two;
    const struct cleave__level *l = t->level;
    struct cleave__heap *heap = growth == GREEDY ? &t->heap[1 - g->side] : &g->heap;
    for (uint32_t v = 0; v < l->vertices; v++)
        t->side[v] = l->fixed[v] != CLEAVE_FREE ? (uint32_t)l->fixed[v] : 1 - g->side;
    cleave__two_recount(t);
    memset(g->tried, 0, l->vertices * sizeof *g->tried);
    g->arrivals = 0;
    /* Fixed vertices are where growth begins, if there are any. */
    for (uint32_t v = 0; v < l->vertices && growth != RANDOM; v++) {
        if (l->fixed[v] == (int32_t)g->side)
            reach_from(g, v);
    }
    while (growth == GREEDY && g->heap.count) {
        uint32_t v = cleave__heap_pop(&g->heap);
        cleave__heap_set(heap, v, t->gain[v]);
    }
    uint32_t next = 0;
    while (!full(t, g->side)) {
        uint32_t v;
        if (heap->count) {
            v = cleave__heap_pop(heap);
        } else {
            while (next < l->vertices &&
                   (g->tried[order[next]] || l->fixed[order[next]] != CLEAVE_FREE))
                next++;
            if (next == l->vertices)
                break;
            v = order[next];
        }
        g->tried[v] = true;
        t->locked[v] = true; /* not queued again */
        if (!fits(t, v, g->side))
            continue;
        cleave__two_move(t, v, growth == GREEDY);
        if (growth == NEAREST)
            reach_from(g, v);
    }
    cleave__heap_clear(&t->heap[0]);
    cleave__heap_clear(&t->heap[1]);
    cleave__heap_clear(&g->heap);
    memset(t->locked, 0, l->vertices * sizeof *t->locked);
}

static enum cleave_status portfolio(struct cleave__search *search,
                                    const struct cleave__level *level,
                                    const struct cleave__target *target, uint32_t *block)
{
    static const enum growth growths[] = {GREEDY, NEAREST, GREEDY, GREEDY, NEAREST, RANDOM};
    uint32_t n = level->vertices;
    struct cleave_arena *arena = &search->arena;
    struct cleave_arena_mark mark = cleave__arena_mark(arena);
    struct cleave__two two;
    struct grow grow = {.two = &two};
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
    if (!cleave__two_init(&two, arena, level, target, block))
        goto done;
    struct cleave__score record = {0};
    for (uint32_t attempt = 0; attempt < search->effort.attempts; attempt++) {
        cleave__random_shuffle(&search->random, order, n);
        grow.side = (uint32_t)cleave__random_below(&search->random, 2);
        grow_side(&grow, growths[attempt % (sizeof growths / sizeof *growths)], order);
        status = cleave__two_repair(search, &two);
        if (!status)
            status = cleave__two_refine(search, &two, 4);
        if (status)
            goto done;
        if (attempt == 0 || cleave__score_less(&two.score, &record)) {
            record = two.score;
            memcpy(best, block, n * sizeof *best);
        }
    }
    memcpy(block, best, n * sizeof *best);
    if (record.overload) {
        struct cleave__state state;
        status = CLEAVE_NO_MEMORY;
        if (cleave__state_init(&state, arena, level, target, block, cleave__full_room(level, 2)))
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
                  int64_t *floor, uint32_t *least)
{
    uint32_t W = level->weights, cuts = 0;
    while ((1u << cuts) < count)
        cuts++;
    for (uint32_t c = 0; c < W; c++) {
        int64_t here = 0;
        double room[2] = {0, 0}, share[2] = {0, 0}, lack[2] = {0, 0};
        for (uint32_t v = 0; v < level->vertices; v++)
            here += level->weight[(size_t)v * W + c];
        for (uint32_t b = 0; b < count; b++) {
            room[b >= left] += (double)target->limit[(size_t)(first + b) * W + c];
            share[b >= left] += (double)target->quota[(size_t)(first + b) * W + c];
            if (target->floor)
                lack[b >= left] += (double)target->floor[(size_t)(first + b) * W + c];
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
            /* What is to come below divides evenly at best: the floor is raised likewise. */
            double need = lack[side] > 0 ? fair - (fair - lack[side]) / cuts : 0;
            floor[(size_t)side * W + c] = need < lack[side] ? (int64_t)lack[side] : (int64_t)need;
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
    static const uint32_t coarsest[COARSEST_KINDS] = {120, 40, 80, 30};
    uint32_t n = level->vertices;
    struct cleave_arena_mark mark = cleave__arena_mark(&search->arena);
    uint32_t *best = cleave__arena_array(&search->arena, n, sizeof *best);
    struct cleave__score record = {0};
    enum cleave_status status = best ? CLEAVE_OK : CLEAVE_NO_MEMORY;
    for (uint32_t i = 0; i < search->effort.bipartitions && !status; i++) {
        struct cleave_arena_mark inner = cleave__arena_mark(&search->arena);
        uint32_t size = coarsest[i % COARSEST_KINDS];
        struct cleave__state state;
        const struct cleave__cycle cycle = {.coarsest = size > least ? size : least,
                                            .initial = portfolio};
        status = cleave__multilevel(search, level, target, &cycle, side);
        if (!status && !cleave__state_init(&state, &search->arena, level, target, side, 0))
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
    int64_t floor[2 * CLEAVE_WEIGHTS_MAX];
    uint32_t least[2], width[2] = {left, count - left};
    halve(level, target, first, count, left, quota, limit, floor, least);
    const struct cleave__target two = {.blocks = 2,
                                       .weights = target->weights,
                                       .objective = CLEAVE_CUT,
                                       .limit = limit,
                                       .quota = quota,
                                       .floor = target->floor ? floor : NULL,
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
    if (!fixed || !cleave__state_init(&state, arena, level, target, block, 0))
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
    status = CLEAVE_NO_MEMORY;
    if (!other || !cleave__state_init(&first, &search->arena, level, target, block, search->room))
        goto done;
    status = CLEAVE_OK;
    if (!first.score.overload)
        goto done;
    memcpy(other, block, level->vertices * sizeof *other);
    status = divide_seated(search, level, target, other);
    if (status)
        goto done;
    status = CLEAVE_NO_MEMORY;
    if (!cleave__state_init(&second, &search->arena, level, target, other, search->room))
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
