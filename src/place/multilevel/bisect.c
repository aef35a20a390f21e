/* Recursive bipartition: the blocks are divided in two halves, the vertices likewise by the best of
 * several multilevel bipartitions, and each part goes on alone. All bipartitions of a depth are
 * independent, so threads share them.
 *
 * Room is shared out so that every later cut still has some: a half may take its share of what is
 * there, plus an equal part of the slack for each cut still to come. */
#include <string.h>

#include "place/multilevel/two.h"

enum { COARSEST_KINDS = 4 };

/* Blocks first .. first + count - 1, and the vertices that belong in them. */
struct part {
    const struct cleave__level *level;
    const uint32_t *vertex; /* [level vertices]: its number in the whole; NULL: the same */
    uint32_t first, count;
    /* What its bipartition is asked to be. */
    struct cleave__level sided; /* `level` with vertices fixed to sides */
    struct cleave__target two;
    int64_t quota[2 * CLEAVE_WEIGHTS_MAX], limit[2 * CLEAVE_WEIGHTS_MAX];
    int64_t floor[2 * CLEAVE_WEIGHTS_MAX];
    uint32_t least[2], width[2];
};

/* One try at one part. */
struct trial {
    const struct part *part;
    uint32_t *side; /* [level vertices] */
    struct cleave__score score;
    uint64_t seed;
    uint32_t number;
    enum cleave_status status;
};

struct trials {
    const struct cleave__search *search;
    struct trial *trial;
};

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

/* Large coarsest levels hold finer solutions, small ones force global choices; which matters no one
 * knows before, so tries differ in it. */
static void run_trial(void *context, uint32_t task, uint32_t worker)
{
    static const uint32_t coarsest[COARSEST_KINDS] = {120, 40, 80, 30};
    const struct trials *trials = context;
    struct trial *t = &trials->trial[task];
    const struct part *part = t->part;
    struct cleave__search search = *trials->search;
    search.arena = (struct cleave_arena){0};
    search.pool = NULL;
    cleave__random_seed(&search.random, t->seed);
    (void)worker;
    uint32_t size = coarsest[t->number % COARSEST_KINDS], enough = 2 * part->count;
    const struct cleave__cycle cycle = {.coarsest = size > enough ? size : enough,
                                        .initial = cleave__portfolio};
    t->status = cleave__multilevel(&search, &part->sided, &part->two, &cycle, t->side);
    struct cleave__state state;
    if (!t->status &&
        !cleave__state_init(&state, &search.arena, &part->sided, &part->two, t->side, 0))
        t->status = CLEAVE_NO_MEMORY;
    if (!t->status)
        t->score = state.score;
    cleave__arena_free(&search.arena);
}

static bool prepare(struct cleave__search *search, const struct cleave__target *target,
                    struct part *p)
{
    uint32_t n = p->level->vertices, left = p->count / 2;
    int32_t *fixed = cleave__arena_array(&search->arena, n, sizeof *fixed);
    if (!fixed)
        return false;
    p->width[0] = left;
    p->width[1] = p->count - left;
    halve(p->level, target, p->first, p->count, left, p->quota, p->limit, p->floor, p->least);
    p->two = (struct cleave__target){.blocks = 2,
                                     .weights = target->weights,
                                     .objective = CLEAVE_CUT,
                                     .limit = p->limit,
                                     .quota = p->quota,
                                     .floor = target->floor ? p->floor : NULL,
                                     .least = p->least,
                                     .width = p->width,
                                     .budget = INT64_MAX};
    for (uint32_t v = 0; v < n; v++)
        fixed[v] = p->level->fixed[v] == CLEAVE_FREE
                       ? CLEAVE_FREE
                       : (uint32_t)p->level->fixed[v] >= p->first + left;
    p->sided = *p->level;
    p->sided.fixed = fixed;
    return true;
}

/* The two halves of `p` after its best trial, into next[]. */
static bool split(struct cleave__search *search, const struct part *p, const uint32_t *side,
                  bool split_nets, struct part *next)
{
    for (uint32_t which = 0; which < 2; which++) {
        uint32_t *back;
        const struct cleave__level *level =
            cleave__level_extract(&search->arena, p->level, side, which, split_nets, &back);
        if (!level)
            return false;
        for (uint32_t v = 0; v < level->vertices && p->vertex; v++)
            back[v] = p->vertex[back[v]];
        next[which] = (struct part){.level = level,
                                    .vertex = back,
                                    .first = p->first + (which ? p->width[0] : 0),
                                    .count = p->width[which]};
    }
    return true;
}

/* Bipartitions of all parts of one depth. `next` gets twice as many. */
static enum cleave_status divide_depth(struct cleave__search *search,
                                       const struct cleave__target *target, struct part *part,
                                       uint32_t parts, struct part *next)
{
    struct cleave_arena *arena = &search->arena;
    uint32_t each = search->effort.bipartitions, count = 0;
    uint64_t seed = cleave__random_next(&search->random);
    struct trial *trial = cleave__arena_array(arena, (size_t)parts * each, sizeof *trial);
    if (!trial)
        return CLEAVE_NO_MEMORY;
    for (uint32_t p = 0; p < parts; p++) {
        if (!prepare(search, target, &part[p]))
            return CLEAVE_NO_MEMORY;
        uint32_t n = part[p].level->vertices, tries = n <= 2 * part[p].count ? 1 : each;
        for (uint32_t i = 0; i < tries; i++, count++) {
            trial[count] = (struct trial){.part = &part[p], .number = i};
            trial[count].seed = cleave__mix64(seed + ((uint64_t)part[p].first << 32) + i);
            trial[count].side = cleave__arena_array(arena, n, sizeof *trial->side);
            if (!trial[count].side)
                return CLEAVE_NO_MEMORY;
        }
    }
    struct trials trials = {search, trial};
    cleave__pool_run(search->pool, count, run_trial, &trials);
    for (uint32_t i = 0; i < count; i++) {
        if (trial[i].status)
            return trial[i].status;
    }
    for (uint32_t p = 0, i = 0; p < parts; p++) {
        uint32_t best = i;
        for (; i < count && trial[i].part == &part[p]; i++) {
            if (cleave__score_less(&trial[i].score, &trial[best].score))
                best = i;
        }
        if (!split(search, &part[p], trial[best].side, target->objective != CLEAVE_CUT,
                   &next[2 * (size_t)p]))
            return CLEAVE_NO_MEMORY;
    }
    return CLEAVE_OK;
}

/* Depth by depth; parts of one block, or of nothing, are done. */
static enum cleave_status divide(struct cleave__search *search, const struct cleave__level *level,
                                 const struct cleave__target *target, uint32_t *block)
{
    struct cleave_arena *arena = &search->arena;
    struct cleave_arena_mark mark = cleave__arena_mark(arena);
    uint32_t parts = 1;
    struct part *part = cleave__arena_array(arena, 1, sizeof *part);
    enum cleave_status status = part ? CLEAVE_OK : CLEAVE_NO_MEMORY;
    if (part)
        *part = (struct part){.level = level, .count = target->blocks};
    while (!status && parts) {
        uint32_t open = 0;
        for (uint32_t p = 0; p < parts; p++) {
            const struct part here = part[p];
            if (here.count > 1 && here.level->vertices) {
                part[open++] = here;
                continue;
            }
            for (uint32_t v = 0; v < here.level->vertices; v++)
                block[here.vertex ? here.vertex[v] : v] = here.first;
        }
        parts = open;
        struct part *next = cleave__arena_array(arena, 2 * (size_t)parts, sizeof *next);
        if (!next)
            status = CLEAVE_NO_MEMORY;
        else if (parts)
            status = divide_depth(search, target, part, parts, next);
        part = next;
        parts *= 2;
    }
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
    status = divide(search, &seated, &relaxed, block);
done:
    cleave__arena_rewind(arena, mark);
    return status;
}

enum cleave_status cleave__bisect(struct cleave__search *search, const struct cleave__level *level,
                                  const struct cleave__target *target, uint32_t *block)
{
    struct cleave_arena_mark mark = cleave__arena_mark(&search->arena);
    enum cleave_status status = divide(search, level, target, block);
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
