/* A partition under change; see the header. */
#include "place/multilevel/state.h"

#include <stdlib.h>
#include <string.h>

/* A net of many more pins than blocks keeps, behind its slots, where each block's slot is. */
static uint32_t *positions(const struct cleave__state *s, uint32_t e)
{
    const struct cleave__level *l = s->level;
    uint32_t k = s->target->blocks;
    if (k <= 8 || l->net_offset[e + 1] - l->net_offset[e] < 2 * (uint64_t)k)
        return NULL;
    return (uint32_t *)(s->slot + l->net_offset[e] + k); /* [k]: 1 + slot, 0 if none */
}

static struct cleave__slot *find_slot(const struct cleave__state *s, uint32_t e, uint32_t b)
{
    struct cleave__slot *slot = s->slot + s->level->net_offset[e];
    uint32_t used = s->used[e];
    if (used > 8) {
        const uint32_t *position = positions(s, e);
        if (position)
            return position[b] ? slot + (position[b] - 1) : NULL;
    }
    for (uint32_t i = 0; i < used; i++) {
        if (slot[i].block == b)
            return &slot[i];
    }
    return NULL;
}

/* One pin more in b; the count before. */
static uint32_t pin_enters(struct cleave__state *s, uint32_t e, uint32_t b)
{
    struct cleave__slot *slot = find_slot(s, e, b);
    if (slot)
        return slot->count++;
    uint32_t *position = positions(s, e);
    s->slot[s->level->net_offset[e] + s->used[e]++] = (struct cleave__slot){b, 1};
    if (position)
        position[b] = s->used[e];
    return 0;
}

/* One pin less in b; the count before. */
static uint32_t pin_leaves(struct cleave__state *s, uint32_t e, uint32_t b)
{
    struct cleave__slot *slot = find_slot(s, e, b);
    uint32_t before = slot->count--;
    if (before == 1) {
        struct cleave__slot *first = s->slot + s->level->net_offset[e];
        uint32_t *position = positions(s, e);
        *slot = first[--s->used[e]];
        if (position) {
            position[slot->block] = (uint32_t)(slot - first) + 1;
            position[b] = 0;
        }
    }
    return before;
}

static bool counts_cut(const struct cleave__state *s)
{
    return s->target->objective != CLEAVE_KM1;
}

static bool counts_km1(const struct cleave__state *s)
{
    return s->target->objective != CLEAVE_CUT;
}

static int64_t net_cost(const struct cleave__state *s, uint32_t e)
{
    int64_t touched = s->used[e];
    if (touched <= 1)
        return 0;
    int64_t w = s->level->net_weight[e];
    return (counts_cut(s) ? w : 0) + (counts_km1(s) ? w * (touched - 1) : 0);
}

static bool counts_apart(const struct cleave__state *s, uint32_t b)
{
    return !s->target->width || s->target->width[b] == 1;
}

/* Works the affinities of v out into `row`, which is zero on entry at least for all blocks that v's
 * nets touch; those are listed in s->near, their number returned. */
static uint32_t gather_row(struct cleave__state *s, uint32_t v, int64_t *row)
{
    const struct cleave__level *l = s->level;
    bool cut = counts_cut(s), km1 = counts_km1(s);
    uint32_t own = s->block[v], near = 0;
    if (++s->stamp == 0) {
        memset(s->marked, 0, s->target->blocks * sizeof *s->marked);
        s->stamp = 1;
    }
    for (uint64_t j = l->vertex_offset[v]; j < l->vertex_offset[v + 1]; j++) {
        uint32_t e = l->incident[j];
        uint32_t others = (uint32_t)(l->net_offset[e + 1] - l->net_offset[e]) - 1;
        const struct cleave__slot *slot = s->slot + l->net_offset[e];
        s->looks += s->used[e];
        for (uint32_t i = 0; i < s->used[e]; i++) {
            uint32_t b = slot[i].block, count = slot[i].count - (b == own);
            row[b] += ((km1 && count > 0) + (cut && others && count == others)) * l->net_weight[e];
            if (s->marked[b] != s->stamp) {
                s->marked[b] = s->stamp;
                s->near[near++] = b;
            }
        }
    }
    return near;
}

static void fill_row(struct cleave__state *s, uint32_t v, int64_t *row)
{
    memset(row, 0, s->target->blocks * sizeof *row);
    gather_row(s, v, row);
}

static void forget_rows(struct cleave__cache *cache, uint32_t vertices)
{
    if (cache->row)
        memset(cache->row, 0, vertices * sizeof *cache->row);
    for (uint32_t r = 0; r < cache->rows; r++)
        cache->owner[r] = CLEAVE__NONE;
    cache->next = 0;
}

void cleave__state_recount(struct cleave__state *s)
{
    const struct cleave__level *l = s->level;
    uint32_t k = s->target->blocks, W = l->weights;
    memset(s->weight, 0, (size_t)k * W * sizeof *s->weight);
    memset(s->free_count, 0, k * sizeof *s->free_count);
    memset(s->used, 0, l->nets * sizeof *s->used);
    s->score = (struct cleave__score){0};
    s->moved = 0;
    for (uint32_t v = 0; v < l->vertices; v++) {
        uint32_t b = s->block[v];
        for (uint32_t c = 0; c < W; c++)
            s->weight[(size_t)b * W + c] += l->weight[(size_t)v * W + c];
        s->free_count[b] += l->fixed[v] == CLEAVE_FREE;
        if (l->home && l->home[v] != b)
            s->moved += l->home_cost[v];
        for (uint32_t i = l->apart_offset ? l->apart_offset[v] : 0;
             l->apart_offset && i < l->apart_offset[v + 1]; i++)
            s->score.conflicts +=
                l->apart[i] < v && s->block[l->apart[i]] == b && counts_apart(s, b);
    }
    for (uint32_t e = 0; e < l->nets; e++) {
        uint32_t *position = positions(s, e);
        if (position)
            memset(position, 0, k * sizeof *position);
        for (uint64_t i = l->net_offset[e]; i < l->net_offset[e + 1]; i++)
            pin_enters(s, e, s->block[l->pin[i]]);
        s->score.cost += net_cost(s, e);
    }
    for (uint32_t b = 0; b < k; b++) {
        for (uint32_t c = 0; c < W; c++)
            s->score.overload +=
                cleave__violation(s->target, (size_t)b * W + c, s->weight[(size_t)b * W + c]);
        if (s->free_count[b] < s->target->least[b])
            s->score.missing += s->target->least[b] - s->free_count[b];
    }
    forget_rows(&s->cache, l->vertices);
}

static uint64_t degree(const struct cleave__level *l, uint32_t v)
{
    return l->vertex_offset[v + 1] - l->vertex_offset[v];
}

/* The least power of two that so few vertices have as nets that half of the rows can hold theirs.
 */
static uint64_t dear_from(const struct cleave__level *l, uint32_t rows)
{
    uint32_t count[64] = {0}, bit = 63;
    for (uint32_t v = 0; v < l->vertices; v++)
        count[degree(l, v) ? 63 - __builtin_clzll(degree(l, v)) : 0]++;
    for (uint32_t held = 0; bit > 0 && held + count[bit] <= rows / 2; bit--)
        held += count[bit];
    return UINT64_C(2) << bit;
}

static bool cache_init(struct cleave__cache *cache, struct cleave_arena *arena,
                       const struct cleave__level *level, uint32_t blocks, size_t room)
{
    uint32_t vertices = level->vertices;
    if (blocks > CLEAVE__ROW_MAX || room == 0)
        return true;
    size_t rows = room / (blocks * sizeof *cache->value);
    rows = rows < 8 ? 8 : rows;
    cache->rows = rows < vertices ? (uint32_t)rows : vertices;
    cache->row = cleave__arena_array(arena, vertices, sizeof *cache->row);
    cache->value = cleave__arena_array(arena, (size_t)cache->rows * blocks, sizeof *cache->value);
    cache->owner = cleave__arena_array(arena, cache->rows, sizeof *cache->owner);
    cache->dear = cache->rows < vertices ? dear_from(level, cache->rows) : 0;
    return cache->row && cache->value && cache->owner;
}

bool cleave__state_init(struct cleave__state *s, struct cleave_arena *arena,
                        const struct cleave__level *level, const struct cleave__target *target,
                        uint32_t *block, size_t room)
{
    uint32_t k = target->blocks;
    *s = (struct cleave__state){.level = level, .target = target, .block = block};
    s->weight = cleave__arena_array(arena, (size_t)k * level->weights, sizeof *s->weight);
    s->free_count = cleave__arena_array(arena, k, sizeof *s->free_count);
    s->slot = cleave__arena_array(arena, level->net_offset[level->nets], sizeof *s->slot);
    s->used = cleave__arena_array(arena, level->nets, sizeof *s->used);
    s->scratch = cleave__arena_zalloc(arena, k * sizeof *s->scratch);
    s->near = cleave__arena_array(arena, k, sizeof *s->near);
    s->marked = cleave__arena_zalloc(arena, k * sizeof *s->marked);
    if (!s->weight || !s->free_count || !s->slot || !s->used || !s->scratch || !s->near ||
        !s->marked || !cache_init(&s->cache, arena, level, k, room))
        return false;
    cleave__state_recount(s);
    return true;
}

/* The affinities of v in `scratch`, only where its nets touch: the number of those blocks. */
static uint32_t open_scratch(struct cleave__state *s, uint32_t v)
{
    s->scratch[s->block[v]] = 0;
    for (uint64_t j = s->level->vertex_offset[v]; j < s->level->vertex_offset[v + 1]; j++) {
        uint32_t e = s->level->incident[j];
        const struct cleave__slot *slot = s->slot + s->level->net_offset[e];
        for (uint32_t i = 0; i < s->used[e]; i++)
            s->scratch[slot[i].block] = 0;
    }
    return gather_row(s, v, s->scratch);
}

/* The row of v, brought into the cache. */
static const int64_t *cached_row(struct cleave__state *s, uint32_t v)
{
    const int64_t *held = cleave__state_held(s, v);
    if (held)
        return held;
    struct cleave__cache *cache = &s->cache;
    uint32_t r = cache->next;
    while (cache->owner[r] != CLEAVE__NONE && degree(s->level, cache->owner[r]) >= cache->dear &&
           cache->rows < s->level->vertices)
        r = r + 1 < cache->rows ? r + 1 : 0;
    cache->next = r + 1 < cache->rows ? r + 1 : 0;
    if (cache->owner[r] != CLEAVE__NONE)
        cache->row[cache->owner[r]] = 0;
    cache->owner[r] = v;
    cache->row[v] = r + 1;
    int64_t *row = cache->value + (size_t)r * s->target->blocks;
    fill_row(s, v, row);
    return row;
}

const int64_t *cleave__state_affinity(struct cleave__state *s, uint32_t v)
{
    if (s->cache.row)
        return cached_row(s, v);
    fill_row(s, v, s->scratch);
    return s->scratch;
}

int64_t cleave__state_most_gain(struct cleave__state *s, uint32_t v)
{
    uint32_t k = s->target->blocks, own = s->block[v];
    int64_t most = 0, stay;
    if (s->cache.row) {
        const int64_t *row = cached_row(s, v);
        stay = row[own];
        for (uint32_t b = 0; b < k; b++) {
            if (b != own && row[b] > most)
                most = row[b];
        }
        return most - stay;
    }
    for (uint32_t i = 0, near = open_scratch(s, v); i < near; i++) {
        uint32_t b = s->near[i];
        if (b != own && s->scratch[b] > most)
            most = s->scratch[b];
    }
    return most - s->scratch[own];
}

static void change(struct cleave__state *s, uint32_t u, uint32_t b, int64_t delta,
                   cleave__touched *touched, void *context)
{
    uint32_t row = s->cache.row ? s->cache.row[u] : 0;
    if (row)
        s->cache.value[(size_t)(row - 1) * s->target->blocks + b] += delta;
    if (touched)
        touched(context, u, b, delta);
}

/* All pins of e but v change their affinity to b. */
static void change_all(struct cleave__state *s, uint32_t e, uint32_t v, uint32_t b, int64_t delta,
                       cleave__touched *touched, void *context)
{
    const struct cleave__level *l = s->level;
    for (uint64_t i = l->net_offset[e]; i < l->net_offset[e + 1]; i++) {
        if (l->pin[i] != v)
            change(s, l->pin[i], b, delta, touched, context);
    }
}

/* The one pin of e, other than v, that is inside (or else outside) b changes. */
static void change_one(struct cleave__state *s, uint32_t e, uint32_t v, uint32_t b, bool inside,
                       int64_t delta, cleave__touched *touched, void *context)
{
    const struct cleave__level *l = s->level;
    for (uint64_t i = l->net_offset[e]; i < l->net_offset[e + 1]; i++) {
        uint32_t u = l->pin[i];
        if (u != v && (s->block[u] == b) == inside) {
            change(s, u, b, delta, touched, context);
            return;
        }
    }
}

void cleave__state_move(struct cleave__state *s, uint32_t v, uint32_t to, cleave__touched *touched,
                        void *context)
{
    const struct cleave__level *l = s->level;
    uint32_t from = s->block[v], W = l->weights;
    if (from == to)
        return;
    bool cut = counts_cut(s), km1 = counts_km1(s);
    s->score.overload += cleave__state_overload_delta(s, v, to);
    if (l->apart_offset)
        s->score.conflicts += cleave__state_conflict_delta(s, v, to);
    if (l->home)
        s->moved += cleave__state_moved_delta(s, v, to);
    if (l->fixed[v] == CLEAVE_FREE) {
        s->score.missing += s->free_count[from]-- <= s->target->least[from];
        s->score.missing -= s->free_count[to]++ < s->target->least[to];
    }
    for (uint32_t c = 0; c < W; c++) {
        s->weight[(size_t)from * W + c] -= l->weight[(size_t)v * W + c];
        s->weight[(size_t)to * W + c] += l->weight[(size_t)v * W + c];
    }
    s->block[v] = to;
    for (uint64_t j = l->vertex_offset[v]; j < l->vertex_offset[v + 1]; j++) {
        uint32_t e = l->incident[j];
        int64_t w = l->net_weight[e];
        uint32_t size = (uint32_t)(l->net_offset[e + 1] - l->net_offset[e]);
        s->score.cost -= net_cost(s, e);
        uint32_t left = pin_leaves(s, e, from) - 1; /* pins in `from` now */
        uint32_t met = pin_enters(s, e, to);        /* pins in `to` before */
        s->score.cost += net_cost(s, e);
        if ((!s->cache.row && !touched) || w == 0)
            continue;
        if (cut) {
            if (left + 1 == size)
                change_all(s, e, v, from, -w, touched, context);
            else if (left + 2 == size)
                change_one(s, e, v, from, false, -w, touched, context);
            if (met + 1 == size)
                change_all(s, e, v, to, w, touched, context);
            else if (met + 2 == size)
                change_one(s, e, v, to, false, w, touched, context);
        }
        if (km1) {
            if (left == 0)
                change_all(s, e, v, from, -w, touched, context);
            else if (left == 1)
                change_one(s, e, v, from, true, -w, touched, context);
            if (met == 0)
                change_all(s, e, v, to, w, touched, context);
            else if (met == 1)
                change_one(s, e, v, to, true, w, touched, context);
        }
    }
}

int64_t cleave__state_overload_delta(const struct cleave__state *s, uint32_t v, uint32_t to)
{
    uint32_t W = s->level->weights, from = s->block[v];
    const struct cleave__target *t = s->target;
    const int64_t *w = s->level->weight + (size_t)v * W;
    int64_t delta = 0;
    for (uint32_t c = 0; c < W; c++) {
        size_t at = (size_t)to * W + c;
        int64_t there = s->weight[at];
        if (there + w[c] > t->limit[at] || t->floor)
            delta += cleave__violation(t, at, there + w[c]) - cleave__violation(t, at, there);
    }
    for (uint32_t c = 0; c < W && (s->score.overload || t->floor); c++) {
        size_t at = (size_t)from * W + c;
        int64_t here = s->weight[at];
        if (here > t->limit[at] || t->floor)
            delta += cleave__violation(t, at, here - w[c]) - cleave__violation(t, at, here);
    }
    return delta;
}

int64_t cleave__state_conflict_delta(const struct cleave__state *s, uint32_t v, uint32_t to)
{
    const struct cleave__level *l = s->level;
    if (!l->apart_offset)
        return 0;
    int64_t delta = 0;
    bool there = to != CLEAVE__NONE && counts_apart(s, to), here = counts_apart(s, s->block[v]);
    for (uint32_t i = l->apart_offset[v]; i < l->apart_offset[v + 1]; i++) {
        uint32_t b = s->block[l->apart[i]];
        delta += (b == to && there) - (b == s->block[v] && here);
    }
    return delta;
}

int64_t cleave__state_moved_delta(const struct cleave__state *s, uint32_t v, uint32_t to)
{
    const struct cleave__level *l = s->level;
    if (!l->home)
        return 0;
    return (l->home[v] != to ? l->home_cost[v] : 0) -
           (l->home[v] != s->block[v] ? l->home_cost[v] : 0);
}

bool cleave__state_admissible(const struct cleave__state *s, uint32_t v, uint32_t to)
{
    const struct cleave__level *l = s->level;
    uint32_t from = s->block[v];
    if (to == from || l->fixed[v] != CLEAVE_FREE || s->free_count[from] <= s->target->least[from])
        return false;
    if (cleave__state_overload_delta(s, v, to) > 0)
        return false;
    if (l->home) {
        int64_t delta = cleave__state_moved_delta(s, v, to);
        if (delta > 0 && s->moved + delta > s->target->budget)
            return false;
    }
    return !l->apart_offset || cleave__state_conflict_delta(s, v, to) <= 0;
}

double cleave__state_fill(const struct cleave__state *s, uint32_t b)
{
    double most = 0;
    for (uint32_t c = 0; c < s->level->weights; c++) {
        size_t at = (size_t)b * s->level->weights + c;
        int64_t limit = s->target->limit[at];
        double fill = (double)s->weight[at] / (double)(limit > 0 ? limit : 1);
        if (fill > most)
            most = fill;
    }
    return most;
}

uint32_t cleave__state_best(struct cleave__state *s, uint32_t v, int64_t *gain)
{
    const struct cleave__level *l = s->level;
    uint32_t k = s->target->blocks, own = s->block[v], best = CLEAVE__NONE;
    if (l->fixed[v] != CLEAVE_FREE || s->free_count[own] <= s->target->least[own])
        return CLEAVE__NONE;
    bool all = s->cache.row != NULL;
    uint32_t count = all ? k : open_scratch(s, v);
    const int64_t *affinity = all ? cached_row(s, v) : s->scratch;
    int64_t most = -1;
    double fill = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t b = all ? i : s->near[i];
        if (b == own || affinity[b] < most || !cleave__state_admissible(s, v, b))
            continue;
        double here = cleave__state_fill(s, b);
        if (affinity[b] > most || here < fill) {
            most = affinity[b];
            best = b;
            fill = here;
        }
    }
    if (best != CLEAVE__NONE)
        *gain = most - affinity[own];
    return best;
}

bool cleave__state_on_border(const struct cleave__state *s, uint32_t v)
{
    const struct cleave__level *l = s->level;
    for (uint64_t j = l->vertex_offset[v]; j < l->vertex_offset[v + 1]; j++) {
        if (s->used[l->incident[j]] > 1)
            return true;
    }
    return false;
}

bool cleave__state_check(const struct cleave__state *s, const char **why)
{
    struct cleave_arena arena = {0};
    struct cleave__state fresh;
    const struct cleave__level *l = s->level;
    uint32_t k = s->target->blocks;
    *why = NULL;
    if (!cleave__state_init(&fresh, &arena, l, s->target, s->block, 0))
        *why = "out of memory";
    else if (memcmp(fresh.weight, s->weight, (size_t)k * l->weights * sizeof *s->weight))
        *why = "block weights";
    else if (memcmp(fresh.free_count, s->free_count, k * sizeof *s->free_count))
        *why = "counts of free vertices";
    else if (memcmp(fresh.used, s->used, l->nets * sizeof *s->used))
        *why = "blocks touched by a net";
    else if (fresh.score.cost != s->score.cost)
        *why = "cost";
    else if (fresh.score.overload != s->score.overload)
        *why = "overload";
    else if (fresh.score.conflicts != s->score.conflicts)
        *why = "conflicts";
    else if (fresh.score.missing != s->score.missing)
        *why = "missing vertices";
    else if (fresh.moved != s->moved)
        *why = "weight moved";
    for (uint32_t v = 0; v < l->vertices && !*why; v++) {
        const int64_t *held = cleave__state_held(s, v);
        if (held && memcmp(held, cleave__state_affinity(&fresh, v), k * sizeof *held))
            *why = "affinities";
    }
    cleave__arena_free(&arena);
    return !*why;
}
