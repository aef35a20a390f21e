/* From a request to the problem the search works on; see the header. */
#include "place/multilevel/problem.h"

#include <string.h>

#include "base/random.h"

/* Numbers the units: a block's fixed vertices, a group, or a single vertex each. A group that holds
 * vertices fixed to different blocks goes with the first of them; the others stay fixed. */
static bool find_units(struct cleave__problem *p, struct cleave_arena *arena, uint32_t *units)
{
    const struct cleave_hypergraph *h = p->request->hypergraph;
    const struct cleave_partition_options *o = p->request->options;
    uint32_t n = h->vertices, size = 16;
    while (size < 2 * (uint64_t)n && size < 1u << 31)
        size *= 2;

    p->unit = cleave__arena_array(arena, n, sizeof *p->unit);
    struct cleave_arena_mark mark = cleave__arena_mark(arena);
    uint32_t *first = cleave__arena_zalloc(arena, size * sizeof *first); /* vertex + 1, by group */
    int32_t *seat = cleave__arena_array(arena, n, sizeof *seat); /* by first vertex: its block */
    uint32_t *pool = cleave__arena_array(arena, p->request->blocks, sizeof *pool);
    if (!p->unit || !first || !seat || !pool)
        return false;
    memset(pool, 0xff, p->request->blocks * sizeof *pool);
    for (uint32_t pass = 0; pass < 2; pass++) {
        /* First pass: where each group sits, if anywhere. Second: numbers. */
        uint32_t count = 0;
        for (uint32_t v = 0; v < n; v++) {
            int32_t block = o->fixed ? o->fixed[v] : CLEAVE_FREE;
            uint32_t head = v;
            if (o->together && o->together[v]) {
                uint32_t at = (uint32_t)cleave__mix64(o->together[v]) & (size - 1);
                while (first[at] && o->together[first[at] - 1] != o->together[v])
                    at = (at + 1) & (size - 1);
                if (!first[at])
                    first[at] = v + 1;
                head = first[at] - 1;
            }
            if (pass == 0) {
                if (head == v)
                    seat[v] = CLEAVE_FREE;
                if (seat[head] == CLEAVE_FREE)
                    seat[head] = block;
                continue;
            }
            if (block == CLEAVE_FREE)
                block = seat[head];
            if (block != CLEAVE_FREE) {
                if (pool[block] == CLEAVE__NONE)
                    pool[block] = count++;
                p->unit[v] = pool[block];
            } else {
                p->unit[v] = head == v ? count++ : p->unit[head];
            }
        }
        *units = count;
    }
    cleave__arena_rewind(arena, mark);
    return true;
}

/* Symmetric lists of the pairs to keep apart. */
static bool list_apart(struct cleave__problem *p, struct cleave_arena *arena,
                       struct cleave__level *raw)
{
    const struct cleave_partition_options *o = p->request->options;
    if (o->apart_count == 0 || o->apart_count > UINT32_MAX / 2)
        return o->apart_count == 0;
    uint32_t *offset = cleave__arena_zalloc(arena, ((size_t)raw->vertices + 2) * sizeof *offset);
    uint32_t *apart = cleave__arena_array(arena, 2 * (size_t)o->apart_count, sizeof *apart);
    if (!offset || !apart)
        return false;
    for (uint32_t i = 0; i < o->apart_count; i++) {
        offset[o->apart[i][0] + 2]++;
        offset[o->apart[i][1] + 2]++;
    }
    for (uint32_t v = 0; v < raw->vertices; v++)
        offset[v + 2] += offset[v + 1];
    for (uint32_t i = 0; i < o->apart_count; i++) {
        apart[offset[o->apart[i][0] + 1]++] = o->apart[i][1];
        apart[offset[o->apart[i][1] + 1]++] = o->apart[i][0];
    }
    raw->apart_offset = offset;
    raw->apart = apart;
    return true;
}

static uint32_t unit_of(const struct cleave__problem *p, uint32_t v)
{
    return p->unit ? p->unit[v] : v;
}

/* A unit's home is where most of its first weight is now; the rest of it moves in any case, and all
 * of it is counted when it leaves home (never less than what really moves). The budget that is left
 * is the target's. */
static bool find_homes(struct cleave__problem *p, struct cleave_arena *arena, uint32_t units)
{
    const struct cleave_hypergraph *h = p->request->hypergraph;
    const struct cleave_partition_options *o = p->request->options;
    p->target.budget = INT64_MAX;
    if (!o->migration_budget)
        return true;

    struct cleave__level *level = (struct cleave__level *)p->level;
    uint32_t *home = cleave__arena_array(arena, units, sizeof *home);
    int64_t *cost = cleave__arena_zalloc(arena, units * sizeof *cost);
    uint32_t *offset = cleave__arena_zalloc(arena, ((size_t)units + 2) * sizeof *offset);
    uint32_t *member = cleave__arena_array(arena, h->vertices, sizeof *member);
    int64_t *there = cleave__arena_zalloc(arena, p->request->blocks * sizeof *there);
    if (!home || !cost || !offset || !member || !there)
        return false;
    for (uint32_t v = 0; v < h->vertices; v++)
        offset[unit_of(p, v) + 2]++;
    for (uint32_t u = 0; u < units; u++)
        offset[u + 2] += offset[u + 1];
    for (uint32_t v = 0; v < h->vertices; v++)
        member[offset[unit_of(p, v) + 1]++] = v;
    int64_t unavoidable = 0;
    for (uint32_t u = 0; u < units; u++) {
        uint32_t best = CLEAVE__NONE;
        int64_t all = 0;
        for (uint32_t i = offset[u]; i < offset[u + 1]; i++) {
            uint32_t v = member[i], b = o->warm_start[v];
            there[b] += h->vertex_weight[(size_t)v * h->weights];
            all += h->vertex_weight[(size_t)v * h->weights];
        }
        for (uint32_t i = offset[u]; i < offset[u + 1]; i++) {
            uint32_t b = o->warm_start[member[i]];
            if (best == CLEAVE__NONE || there[b] > there[best])
                best = b;
        }
        if (level->fixed[u] != CLEAVE_FREE)
            best = (uint32_t)level->fixed[u];
        home[u] = best;
        cost[u] = there[best];
        unavoidable += all - there[best];
        for (uint32_t i = offset[u]; i < offset[u + 1]; i++)
            there[o->warm_start[member[i]]] = 0;
    }
    level->home = home;
    level->home_cost = cost;
    p->target.budget = o->migration_budget > unavoidable ? o->migration_budget - unavoidable : 0;
    return true;
}

/* A unit too heavy for any block counts only as heavy as the roomiest one: it fills its block, what
 * lies over is unavoidable, and the search can aim at the rest being balanced. */
static bool clamp_giants(struct cleave__problem *p, struct cleave_arena *arena)
{
    struct cleave__level *level = (struct cleave__level *)p->level;
    uint32_t W = level->weights;
    int64_t *weight = NULL; /* a copy, once there is need of one */
    uint32_t last = CLEAVE__NONE;
    for (uint32_t c = 0; c < W; c++) {
        int64_t roomiest = 0;
        for (uint32_t b = 0; b < p->request->blocks; b++) {
            int64_t limit = p->request->limit[(size_t)b * W + c];
            roomiest = limit > roomiest ? limit : roomiest;
        }
        for (uint32_t u = 0; u < level->vertices; u++) {
            size_t at = (size_t)u * W + c;
            int64_t limit = level->fixed[u] == CLEAVE_FREE
                                ? roomiest
                                : p->request->limit[(size_t)level->fixed[u] * W + c];
            if (level->weight[at] <= limit)
                continue;
            if (!weight) {
                size_t cells = (size_t)level->vertices * W;
                weight = cleave__arena_array(arena, cells, sizeof *weight);
                if (!weight)
                    return false;
                memcpy(weight, level->weight, cells * sizeof *weight);
                level->weight = weight;
            }
            weight[at] = limit;
            if (u != last && p->giants + 1 < p->request->blocks)
                p->giants++;
            last = u;
        }
    }
    return true;
}

/* The request's own arrays serve as the level when every vertex is a unit; else they are merged. */
static bool make_level(struct cleave__problem *p, struct cleave_arena *arena,
                       const struct cleave__level *raw, uint32_t *units)
{
    const struct cleave_partition_options *o = p->request->options;
    if (!o->fixed && !o->together) {
        struct cleave__level *level = cleave__arena_alloc(arena, sizeof *level);
        if (level)
            *level = *raw;
        p->level = level;
        *units = raw->vertices;
    } else if (find_units(p, arena, units)) {
        p->level = cleave__level_contract(arena, arena, raw, p->unit, *units);
    }
    return p->level != NULL;
}

bool cleave__problem_init(struct cleave__problem *p, struct cleave_arena *arena,
                          const struct cleave__request *request)
{
    const struct cleave__request *r = request;
    *p = (struct cleave__problem){.request = request};
    const struct cleave_hypergraph *h = r->hypergraph;

    uint32_t units = 0, n = h->vertices, k = r->blocks;
    struct cleave__level raw = {.vertices = n,
                                .nets = h->nets,
                                .weights = h->weights,
                                .net_offset = h->net_offset,
                                .pin = h->pin,
                                .vertex_offset = h->vertex_offset,
                                .incident = h->incident,
                                .weight = h->vertex_weight,
                                .net_weight = h->net_weight,
                                .fixed = r->options->fixed};
    if (!raw.fixed) {
        int32_t *fixed = cleave__arena_array(arena, n, sizeof *fixed);
        if (!fixed)
            return false;
        for (uint32_t v = 0; v < n; v++)
            fixed[v] = CLEAVE_FREE;
        raw.fixed = fixed;
    }
    p->least = cleave__arena_zalloc(arena, k * sizeof *p->least);
    if (!p->least || !list_apart(p, arena, &raw) || !make_level(p, arena, &raw, &units) ||
        !find_homes(p, arena, units) || !clamp_giants(p, arena))
        return false;
    p->free_level = *p->level;
    p->free_level.home = NULL;
    p->free_level.home_cost = NULL;
    p->target.blocks = k;
    p->target.weights = h->weights;
    p->target.objective = r->options->objective;
    p->target.limit = r->limit;
    p->target.quota = r->quota;
    p->target.floor = r->floor;
    p->target.least = p->least;
    /* No block stays empty if there are enough to go round. */
    uint32_t movable = 0, empty = k;
    for (uint32_t u = 0; u < units; u++) {
        movable += p->level->fixed[u] == CLEAVE_FREE;
        empty -= p->level->fixed[u] != CLEAVE_FREE;
    }
    if (empty <= movable) {
        for (uint32_t b = 0; b < k; b++)
            p->least[b] = 1;
        for (uint32_t u = 0; u < units; u++) {
            if (p->level->fixed[u] != CLEAVE_FREE)
                p->least[p->level->fixed[u]] = 0;
        }
    }
    return true;
}
