/* The multilevel placer: turns a request into a working level (groups merged, fixed vertices of one
 * block made one), looks for good partitions in several ways that depend on size, and keeps the
 * best: fewest violations first, then least cost, the earliest of equals.
 *
 * Ways: an earlier answer refined; fresh starts by recursive bipartition and k-way refinement;
 * V-cycles on the best; for small instances tabu search, and branch and bound for tiny ones; vector
 * bin packing when nothing so far is balanced. */
#include <stdlib.h>
#include <string.h>

#include "place/multilevel/search.h"
#include "place/placer.h"

struct driver {
    struct cleave__search search;
    const struct cleave__request *request;
    const struct cleave__level *level; /* what is partitioned */
    struct cleave__level free_level;   /* the same without a budget, for fresh starts */
    uint32_t *unit;                    /* [hypergraph vertices]: vertex of `level` */
    uint32_t *least;
    struct cleave__target target;
    uint32_t *block, *best; /* [level vertices] */
    struct cleave__score record;
    bool any;
};

/* Step numbers for progress: one a start, and one for the end. */
static void report(const struct driver *d, uint64_t done, uint64_t total)
{
    const struct cleave_progress *p = d->search.progress;
    if (p && p->report)
        p->report(p->context, "partition", done, total);
}

/* Numbers the units: a block's fixed vertices, a group, or a single vertex each. A group that holds
 * vertices fixed to different blocks goes with the first of them; the others stay fixed. */
static bool find_units(struct driver *d, uint32_t *units)
{
    const struct cleave_hypergraph *h = d->request->hypergraph;
    const struct cleave_partition_options *o = d->request->options;
    uint32_t n = h->vertices, size = 16;
    while (size < 2 * (uint64_t)n && size < 1u << 31)
        size *= 2;
    struct cleave_arena *arena = &d->search.arena;
    d->unit = cleave__arena_array(arena, n, sizeof *d->unit);
    struct cleave_arena_mark mark = cleave__arena_mark(arena);
    uint32_t *first = cleave__arena_zalloc(arena, size * sizeof *first); /* vertex + 1, by group */
    int32_t *seat = cleave__arena_array(arena, n, sizeof *seat); /* by first vertex: its block */
    uint32_t *pool = cleave__arena_array(arena, d->request->blocks, sizeof *pool);
    if (!d->unit || !first || !seat || !pool)
        return false;
    memset(pool, 0xff, d->request->blocks * sizeof *pool);
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
                d->unit[v] = pool[block];
            } else {
                d->unit[v] = head == v ? count++ : d->unit[head];
            }
        }
        *units = count;
    }
    cleave__arena_rewind(arena, mark);
    return true;
}

/* Symmetric lists of the pairs to keep apart. */
static bool list_apart(struct driver *d, struct cleave__level *raw)
{
    const struct cleave_partition_options *o = d->request->options;
    if (o->apart_count == 0 || o->apart_count > UINT32_MAX / 2)
        return o->apart_count == 0;
    uint32_t *offset =
        cleave__arena_zalloc(&d->search.arena, ((size_t)raw->vertices + 2) * sizeof *offset);
    uint32_t *apart =
        cleave__arena_array(&d->search.arena, 2 * (size_t)o->apart_count, sizeof *apart);
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

/* A unit's home is where most of its first weight is now; the rest of it moves in any case, and all
 * of it is counted when it leaves home (never less than what really moves). The budget that is left
 * is the target's. */
static bool find_homes(struct driver *d, uint32_t units)
{
    const struct cleave_hypergraph *h = d->request->hypergraph;
    const struct cleave_partition_options *o = d->request->options;
    d->target.budget = INT64_MAX;
    if (!o->migration_budget)
        return true;
    struct cleave_arena *arena = &d->search.arena;
    struct cleave__level *level = (struct cleave__level *)d->level;
    uint32_t *home = cleave__arena_array(arena, units, sizeof *home);
    int64_t *cost = cleave__arena_zalloc(arena, units * sizeof *cost);
    uint32_t *offset = cleave__arena_zalloc(arena, ((size_t)units + 2) * sizeof *offset);
    uint32_t *member = cleave__arena_array(arena, h->vertices, sizeof *member);
    int64_t *there = cleave__arena_zalloc(arena, d->request->blocks * sizeof *there);
    if (!home || !cost || !offset || !member || !there)
        return false;
    for (uint32_t v = 0; v < h->vertices; v++)
        offset[d->unit[v] + 2]++;
    for (uint32_t u = 0; u < units; u++)
        offset[u + 2] += offset[u + 1];
    for (uint32_t v = 0; v < h->vertices; v++)
        member[offset[d->unit[v] + 1]++] = v;
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
    d->target.budget = o->migration_budget > unavoidable ? o->migration_budget - unavoidable : 0;
    return true;
}

static bool prepare(struct driver *d)
{
    const struct cleave__request *r = d->request;
    const struct cleave_hypergraph *h = r->hypergraph;
    struct cleave_arena *arena = &d->search.arena;
    uint32_t units, n = h->vertices, k = r->blocks;
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
    d->least = cleave__arena_zalloc(arena, k * sizeof *d->least);
    if (!d->least || !list_apart(d, &raw) || !find_units(d, &units))
        return false;
    d->level = cleave__level_contract(arena, &raw, d->unit, units);
    d->block = cleave__arena_array(arena, units, sizeof *d->block);
    d->best = cleave__arena_array(arena, units, sizeof *d->best);
    if (!d->level || !d->block || !d->best || !find_homes(d, units))
        return false;
    d->free_level = *d->level;
    d->free_level.home = NULL;
    d->free_level.home_cost = NULL;
    d->target.blocks = k;
    d->target.weights = h->weights;
    d->target.objective = r->options->objective;
    d->target.limit = r->limit;
    d->target.quota = r->quota;
    d->target.least = d->least;
    /* No block stays empty if there are enough to go round. */
    uint32_t movable = 0, empty = k;
    for (uint32_t u = 0; u < units; u++) {
        movable += d->level->fixed[u] == CLEAVE_FREE;
        empty -= d->level->fixed[u] != CLEAVE_FREE;
    }
    if (empty <= movable) {
        for (uint32_t b = 0; b < k; b++)
            d->least[b] = 1;
        for (uint32_t u = 0; u < units; u++) {
            if (d->level->fixed[u] != CLEAVE_FREE)
                d->least[d->level->fixed[u]] = 0;
        }
    }
    return true;
}

/* Keeps block[] if it is the best so far. */
static enum cleave_status consider(struct driver *d)
{
    struct cleave_arena_mark mark = cleave__arena_mark(&d->search.arena);
    struct cleave__state state;
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (cleave__state_init(&state, &d->search.arena, d->level, &d->target, d->block, false)) {
        status = CLEAVE_OK;
        if (state.moved <= d->target.budget &&
            (!d->any || cleave__score_less(&state.score, &d->record))) {
            d->any = true;
            d->record = state.score;
            memcpy(d->best, d->block, d->level->vertices * sizeof *d->best);
        }
    }
    cleave__arena_rewind(&d->search.arena, mark);
    return status;
}

static uint64_t pins_of(const struct driver *d)
{
    return d->level->net_offset[d->level->nets] + d->level->vertices;
}

static uint32_t coarsest_size(const struct driver *d)
{
    return 160 * (d->target.blocks > 2 ? d->target.blocks : 2);
}

/* A step of tabu looks at this many (move, constraint) pairs. */
static uint64_t moves_of(const struct driver *d)
{
    return (uint64_t)d->level->vertices * d->target.blocks * (1 + d->level->weights);
}

static enum cleave_status tabu(struct driver *d, uint64_t work)
{
    if (!cleave__affinity_fits(d->level, d->target.blocks))
        return CLEAVE_OK;
    struct cleave_arena_mark mark = cleave__arena_mark(&d->search.arena);
    struct cleave__state state;
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (cleave__state_init(&state, &d->search.arena, d->level, &d->target, d->block, true)) {
        uint64_t steps = cleave__tabu_iterations(&state, work);
        status = cleave__refine_tabu(&d->search, &state, steps < 20000 ? steps : 20000);
        if (!status)
            status = cleave__refine_fm(&d->search, &state, 3);
    }
    cleave__arena_rewind(&d->search.arena, mark);
    return status ? status : consider(d);
}

static enum cleave_status start_fresh(struct driver *d)
{
    enum cleave_status status = cleave__multilevel(
        &d->search, &d->free_level, &d->target, coarsest_size(d), cleave__bisect, false, d->block);
    return status ? status : consider(d);
}

static enum cleave_status start_warm(struct driver *d)
{
    const struct cleave_hypergraph *h = d->request->hypergraph;
    const uint32_t *warm = d->request->options->warm_start;
    for (uint32_t v = h->vertices; v > 0; v--)
        d->block[d->unit[v - 1]] = warm[v - 1]; /* a group's first member decides */
    for (uint32_t u = 0; u < d->level->vertices; u++) {
        if (d->level->home)
            d->block[u] = d->level->home[u];
        if (d->level->fixed[u] != CLEAVE_FREE)
            d->block[u] = (uint32_t)d->level->fixed[u];
    }
    enum cleave_status status = consider(d);
    for (uint32_t cycle = 0; cycle < 2 && !status; cycle++) {
        status = cleave__multilevel(&d->search, d->level, &d->target, coarsest_size(d), NULL, true,
                                    d->block);
        if (!status)
            status = consider(d);
    }
    return status;
}

/* Another round of coarsening and refinement within the best partition's blocks. */
static enum cleave_status cycle(struct driver *d)
{
    memcpy(d->block, d->best, d->level->vertices * sizeof *d->block);
    enum cleave_status status = cleave__multilevel(&d->search, d->level, &d->target,
                                                   coarsest_size(d), NULL, true, d->block);
    return status ? status : consider(d);
}

static enum cleave_status try_exact(struct driver *d, uint64_t nodes, bool *proven)
{
    struct cleave_arena_mark mark = cleave__arena_mark(&d->search.arena);
    struct cleave__state state;
    memcpy(d->block, d->best, d->level->vertices * sizeof *d->block);
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (cleave__state_init(&state, &d->search.arena, d->level, &d->target, d->block, false))
        status = cleave__exact(&d->search, &state, nodes, proven);
    cleave__arena_rewind(&d->search.arena, mark);
    return status ? status : consider(d);
}

/* Nothing so far keeps the limits: pack from scratch, then win back cost. */
static enum cleave_status pack(struct driver *d)
{
    memcpy(d->block, d->best, d->level->vertices * sizeof *d->block);
    struct cleave_arena_mark mark = cleave__arena_mark(&d->search.arena);
    struct cleave__state state;
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (cleave__state_init(&state, &d->search.arena, d->level, &d->target, d->block,
                           cleave__affinity_fits(d->level, d->target.blocks))) {
        status = cleave__pack(&d->search, &state);
        if (!status)
            status = cleave__refine(&d->search, &state);
    }
    cleave__arena_rewind(&d->search.arena, mark);
    return status ? status : consider(d);
}

static uint32_t default_starts(const struct driver *d)
{
    uint32_t depth = 1;
    while ((1u << depth) < d->target.blocks)
        depth++;
    uint64_t starts = 2000000 / (pins_of(d) * depth + 1);
    return starts < 1 ? 1 : starts > 16 ? 16 : (uint32_t)starts;
}

static enum cleave_status search_all(struct driver *d)
{
    const struct cleave_partition_options *o = d->request->options;
    bool small = moves_of(d) <= 200000, proven = false;
    uint32_t starts = o->starts ? o->starts : default_starts(d);
    uint64_t tabu_work = o->starts ? 4000000 : 60000000 / starts;
    if (tabu_work > 4000000)
        tabu_work = 4000000;
    enum cleave_status status = CLEAVE_OK;
    if (o->warm_start) {
        status = start_warm(d);
        if (!status && small)
            status = tabu(d, tabu_work);
    }
    for (uint32_t s = 0; s < starts && !status && !(o->warm_start && o->warm_refine_only); s++) {
        report(d, s, starts + 1);
        cleave__random_seed(&d->search.random,
                            cleave__mix64(o->seed + 1) ^ cleave__mix64((uint64_t)s + 77));
        status = start_fresh(d);
        if (!status && s == 0 && d->any && d->level->vertices <= 64)
            status = try_exact(d, 200000, &proven);
        if (proven)
            return status;
        if (!status && small && !d->level->home)
            status = tabu(d, tabu_work);
        if (d->any && d->record.cost == 0 && cleave__score_sound(&d->record))
            return status;
    }
    if (!status && !d->any) /* every start was past the budget: stay where we are */
        return status;
    report(d, starts, starts + 1);
    if (!status)
        status = cycle(d);
    if (!status && small)
        status = tabu(d, tabu_work);
    if (!status && !cleave__score_sound(&d->record)) {
        status = pack(d);
        if (!status)
            status = tabu(d, small ? 40000000 : 10000000);
    }
    return status;
}

enum cleave_status cleave__place_multilevel(const struct cleave__request *request, uint32_t *block,
                                            struct cleave_error *error)
{
    struct driver d = {.request = request};
    d.search.progress = request->options->progress;
    cleave__random_seed(&d.search.random, request->options->seed);
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (request->hypergraph->vertices == 0)
        return CLEAVE_OK;
    if (prepare(&d))
        status = search_all(&d);
    if (!status) {
        for (uint32_t v = 0; v < request->hypergraph->vertices; v++)
            block[v] = d.best[d.unit[v]];
    }
    cleave__arena_free(&d.search.arena);
    if (status == CLEAVE_NO_MEMORY)
        return cleave_error_set(
            error, status, "no memory to partition %u vertices and %llu pins",
            request->hypergraph->vertices,
            (unsigned long long)request->hypergraph->net_offset[request->hypergraph->nets]);
    if (status == CLEAVE_INTERRUPTED)
        return cleave_error_set(error, status, "partitioning was interrupted");
    return status;
}
