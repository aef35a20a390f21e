/* Two sides from nothing, on a coarsest level: the best of several that are grown greedily, grown
 * by distance or drawn at random, each refined. */
#include <string.h>

#include "place/multilevel/two.h"

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

enum cleave_status cleave__portfolio(struct cleave__search *search,
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
