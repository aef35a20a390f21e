/* Two sides: see the header. Gains change only where a net passes from or to having none or one of
 * its pins on a side (Fiduccia and Mattheyses 1982). */
#include "place/multilevel/two.h"

#include <string.h>

static bool counts_apart(const struct cleave__two *t, uint32_t side)
{
    return !t->target->width || t->target->width[side] == 1;
}

/* Conflicts that v's change of sides would add. */
static int64_t conflict_delta(const struct cleave__two *t, uint32_t v)
{
    const struct cleave__level *l = t->level;
    if (!l->apart_offset)
        return 0;
    int64_t delta = 0;
    uint32_t own = t->side[v];
    bool here = counts_apart(t, own), there = counts_apart(t, 1 - own);
    for (uint32_t i = l->apart_offset[v]; i < l->apart_offset[v + 1]; i++)
        delta += t->side[l->apart[i]] == own ? -(int64_t)here : (int64_t)there;
    return delta;
}

static int64_t overload_of(const struct cleave__two *t, uint32_t side, uint32_t c, int64_t weight)
{
    size_t at = (size_t)side * t->level->weights + c;
    return cleave__violation(t->target, at, weight);
}

static int64_t overload_delta(const struct cleave__two *t, uint32_t v)
{
    uint32_t W = t->level->weights, from = t->side[v], to = 1 - from;
    int64_t delta = 0;
    for (uint32_t c = 0; c < W; c++) {
        int64_t w = t->level->weight[(size_t)v * W + c];
        int64_t here = t->weight[from * W + c], there = t->weight[to * W + c];
        if (there + w > t->target->limit[to * W + c] || t->score.overload || t->target->floor)
            delta += overload_of(t, to, c, there + w) - overload_of(t, to, c, there) +
                     overload_of(t, from, c, here - w) - overload_of(t, from, c, here);
    }
    return delta;
}

bool cleave__two_admissible(const struct cleave__two *t, uint32_t v)
{
    uint32_t from = t->side[v];
    return t->level->fixed[v] == CLEAVE_FREE && t->free_count[from] > t->target->least[from] &&
           overload_delta(t, v) <= 0 && (!t->level->apart_offset || conflict_delta(t, v) <= 0);
}

void cleave__two_recount(struct cleave__two *t)
{
    const struct cleave__level *l = t->level;
    uint32_t W = l->weights;
    memset(t->weight, 0, sizeof t->weight);
    memset(t->free_count, 0, sizeof t->free_count);
    memset(t->pins, 0, 2 * (size_t)l->nets * sizeof *t->pins);
    t->score = (struct cleave__score){0};
    for (uint32_t e = 0; e < l->nets; e++) {
        for (uint64_t i = l->net_offset[e]; i < l->net_offset[e + 1]; i++)
            t->pins[2 * (size_t)e + t->side[l->pin[i]]]++;
        t->score.cost +=
            t->pins[2 * (size_t)e] && t->pins[2 * (size_t)e + 1] ? l->net_weight[e] : 0;
    }
    for (uint32_t v = 0; v < l->vertices; v++) {
        uint32_t own = t->side[v];
        int64_t gain = 0;
        for (uint64_t j = l->vertex_offset[v]; j < l->vertex_offset[v + 1]; j++) {
            uint32_t e = l->incident[j];
            const uint32_t *pins = t->pins + 2 * (size_t)e;
            if (pins[1 - own] == 0)
                gain -= pins[own] > 1 ? l->net_weight[e] : 0;
            else if (pins[own] == 1)
                gain += l->net_weight[e];
        }
        t->gain[v] = gain;
        for (uint32_t c = 0; c < W; c++)
            t->weight[own * W + c] += l->weight[(size_t)v * W + c];
        t->free_count[own] += l->fixed[v] == CLEAVE_FREE;
        for (uint32_t i = l->apart_offset ? l->apart_offset[v] : 0;
             l->apart_offset && i < l->apart_offset[v + 1]; i++)
            t->score.conflicts +=
                l->apart[i] < v && t->side[l->apart[i]] == own && counts_apart(t, own);
    }
    for (uint32_t s = 0; s < 2; s++) {
        for (uint32_t c = 0; c < W; c++)
            t->score.overload += overload_of(t, s, c, t->weight[s * W + c]);
        if (t->free_count[s] < t->target->least[s])
            t->score.missing += t->target->least[s] - t->free_count[s];
    }
}

bool cleave__two_init(struct cleave__two *t, struct cleave_arena *arena,
                      const struct cleave__level *level, const struct cleave__target *target,
                      uint32_t *side)
{
    uint32_t n = level->vertices;
    *t = (struct cleave__two){.level = level, .target = target, .side = side};
    t->pins = cleave__arena_array(arena, 2 * (size_t)level->nets, sizeof *t->pins);
    t->gain = cleave__arena_array(arena, n, sizeof *t->gain);
    t->locked = cleave__arena_zalloc(arena, n * sizeof *t->locked);
    if (!t->pins || !t->gain || !t->locked || !cleave__heap_init(&t->heap[0], arena, n) ||
        !cleave__heap_init(&t->heap[1], arena, n))
        return false;
    cleave__two_recount(t);
    return true;
}

static void change(struct cleave__two *t, uint32_t u, int64_t delta, bool queue)
{
    t->gain[u] += delta;
    struct cleave__heap *heap = &t->heap[t->side[u]];
    if (cleave__heap_has(heap, u) || (queue && !t->locked[u] && t->level->fixed[u] == CLEAVE_FREE))
        cleave__heap_set(heap, u, t->gain[u]);
}

/* All pins of e but v. */
static void change_all(struct cleave__two *t, uint32_t e, uint32_t v, int64_t delta, bool queue)
{
    const struct cleave__level *l = t->level;
    for (uint64_t i = l->net_offset[e]; i < l->net_offset[e + 1]; i++) {
        if (l->pin[i] != v)
            change(t, l->pin[i], delta, queue);
    }
}

/* The one pin of e on `side` that is not v. */
static void change_one(struct cleave__two *t, uint32_t e, uint32_t v, uint32_t side, int64_t delta,
                       bool queue)
{
    const struct cleave__level *l = t->level;
    for (uint64_t i = l->net_offset[e]; i < l->net_offset[e + 1]; i++) {
        if (l->pin[i] != v && t->side[l->pin[i]] == side) {
            change(t, l->pin[i], delta, queue);
            return;
        }
    }
}

void cleave__two_move(struct cleave__two *t, uint32_t v, bool queue)
{
    const struct cleave__level *l = t->level;
    uint32_t from = t->side[v], to = 1 - from, W = l->weights;
    t->score.overload += overload_delta(t, v);
    if (l->apart_offset)
        t->score.conflicts += conflict_delta(t, v);
    if (l->fixed[v] == CLEAVE_FREE) {
        t->score.missing += t->free_count[from]-- <= t->target->least[from];
        t->score.missing -= t->free_count[to]++ < t->target->least[to];
    }
    for (uint32_t c = 0; c < W; c++) {
        t->weight[from * W + c] -= l->weight[(size_t)v * W + c];
        t->weight[to * W + c] += l->weight[(size_t)v * W + c];
    }
    t->side[v] = to;
    t->score.cost -= t->gain[v];
    for (uint64_t j = l->vertex_offset[v]; j < l->vertex_offset[v + 1]; j++) {
        uint32_t e = l->incident[j];
        uint32_t *pins = t->pins + 2 * (size_t)e;
        int64_t w = l->net_weight[e];
        uint32_t met = pins[to]++, left = --pins[from];
        if (met == 0)
            change_all(t, e, v, w, queue);
        else if (met == 1)
            change_one(t, e, v, to, -w, queue);
        if (left == 0)
            change_all(t, e, v, -w, queue);
        else if (left == 1)
            change_one(t, e, v, from, w, queue);
    }
    t->gain[v] = -t->gain[v];
}

enum cleave_status cleave__two_repair(struct cleave__search *search, struct cleave__two *t)
{
    if (cleave__score_sound(&t->score))
        return CLEAVE_OK;
    struct cleave_arena_mark mark = cleave__arena_mark(&search->arena);
    struct cleave__state state;
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (cleave__state_init(&state, &search->arena, t->level, t->target, t->side, true))
        status = cleave__rebalance(search, &state);
    cleave__arena_rewind(&search->arena, mark);
    if (!status)
        cleave__two_recount(t);
    return status;
}

bool cleave__two_check(const struct cleave__two *t, const char **why)
{
    struct cleave_arena arena = {0};
    struct cleave__two fresh;
    const struct cleave__level *l = t->level;
    *why = NULL;
    if (!cleave__two_init(&fresh, &arena, l, t->target, t->side))
        *why = "out of memory";
    else if (memcmp(fresh.weight, t->weight, sizeof t->weight))
        *why = "weights of the sides";
    else if (memcmp(fresh.free_count, t->free_count, sizeof t->free_count))
        *why = "counts of free vertices";
    else if (memcmp(fresh.pins, t->pins, 2 * (size_t)l->nets * sizeof *t->pins))
        *why = "pins a side";
    else if (memcmp(&fresh.score, &t->score, sizeof t->score))
        *why = "score";
    else if (memcmp(fresh.gain, t->gain, l->vertices * sizeof *t->gain))
        *why = "gains";
    cleave__arena_free(&arena);
    return !*why;
}
