/* The multilevel placer: looks for good partitions in several ways that depend on size, and keeps
 * the best: fewest violations first, then least cost, the earliest of equals.
 *
 * Ways: an earlier answer refined; fresh starts by recursive bipartition and k-way refinement;
 * recombination of the best few (what two agree on is merged, the rest searched again); V-cycles;
 * for small instances tabu search, and branch and bound for tiny ones; vector bin packing when
 * nothing so far is balanced. */
#include <string.h>
#include <stdlib.h>

#include "place/multilevel/problem.h"
#include "place/multilevel/search.h"

enum { POOL = 8, TABU_STEPS_MAX = 20000, EXACT_VERTICES_MAX = 64, EXACT_NODES = 200000 };

struct solution {
    uint32_t *block; /* [level vertices] */
    struct cleave__score score;
};

struct driver {
    struct cleave__search search;
    struct cleave__problem problem;
    const struct cleave_partition_options *options;
    uint32_t *block;  /* [level vertices]: the one being worked on */
    uint32_t *within; /* [level vertices]: scratch of recombination */
    struct solution pool[POOL];
    uint32_t pooled; /* best first */
};

static void report(const struct driver *d, uint64_t done, uint64_t total)
{
    const struct cleave_progress *p = d->search.progress;
    if (p && p->report)
        p->report(p->context, "partition", done, total);
}

static const struct cleave__level *level_of(const struct driver *d)
{
    return d->problem.level;
}

static uint32_t blocks_of(const struct driver *d)
{
    return d->problem.target.blocks;
}

static size_t block_bytes(const struct driver *d)
{
    return level_of(d)->vertices * sizeof *d->block;
}

/* Done when nothing can be better. */
static bool perfect(const struct driver *d)
{
    return d->pooled && d->pool[0].score.cost == 0 && cleave__score_sound(&d->pool[0].score);
}

/* Puts block[] in its place in the pool, if it is good enough and no other scores the same. */
static enum cleave_status consider(struct driver *d)
{
    struct cleave_arena_mark mark = cleave__arena_mark(&d->search.arena);
    struct cleave__state state;
    bool ok = cleave__state_init(&state, &d->search.arena, level_of(d), &d->problem.target,
                                 d->block, 0);
    struct cleave__score score = state.score;
    bool affordable = ok && state.moved <= d->problem.target.budget;
    cleave__arena_rewind(&d->search.arena, mark);
    if (!ok)
        return CLEAVE_NO_MEMORY;
    uint32_t at = 0;
    while (at < d->pooled && !cleave__score_less(&score, &d->pool[at].score))
        at++;
    if (!affordable || at == POOL ||
        (at > 0 && !cleave__score_less(&d->pool[at - 1].score, &score)))
        return CLEAVE_OK;
    uint32_t last = d->pooled < POOL ? d->pooled++ : POOL - 1;
    struct solution fresh = d->pool[last];
    for (uint32_t i = last; i > at; i--)
        d->pool[i] = d->pool[i - 1];
    fresh.score = score;
    memcpy(fresh.block, d->block, block_bytes(d));
    d->pool[at] = fresh;
    return CLEAVE_OK;
}

static uint32_t coarsest_size(const struct driver *d)
{
    return 160 * (blocks_of(d) > 2 ? blocks_of(d) : 2);
}

static enum cleave_status tabu(struct driver *d, uint64_t work)
{
    struct cleave_arena_mark mark = cleave__arena_mark(&d->search.arena);
    struct cleave__state state;
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (cleave__state_init(&state, &d->search.arena, level_of(d), &d->problem.target, d->block,
                           cleave__full_room(level_of(d), blocks_of(d)))) {
        uint64_t steps = cleave__tabu_iterations(level_of(d), &d->problem.target, work);
        status = cleave__refine_tabu(&d->search, &state,
                                     steps < TABU_STEPS_MAX ? steps : TABU_STEPS_MAX);
        if (!status)
            status = cleave__refine_fm(&d->search, &state, 3);
    }
    cleave__arena_rewind(&d->search.arena, mark);
    return status ? status : consider(d);
}

static enum cleave_status start_fresh(struct driver *d)
{
    enum cleave_status status =
        cleave__multilevel(&d->search, &d->problem.free_level, &d->problem.target, coarsest_size(d),
                           cleave__bisect, NULL, d->block);
    return status ? status : consider(d);
}

/* Coarsening and refinement once more, within block[]'s own blocks or finer. */
static enum cleave_status cycle(struct driver *d, const uint32_t *within)
{
    enum cleave_status status =
        cleave__multilevel(&d->search, level_of(d), &d->problem.target, coarsest_size(d), NULL,
                           within ? within : d->block, d->block);
    return status ? status : consider(d);
}

static enum cleave_status start_warm(struct driver *d)
{
    const struct cleave_hypergraph *h = d->problem.request->hypergraph;
    const struct cleave__level *level = level_of(d);
    const uint32_t *warm = d->options->warm_start;
    for (uint32_t v = h->vertices; v > 0; v--)
        d->block[d->problem.unit[v - 1]] = warm[v - 1]; /* a group's first member decides */
    for (uint32_t u = 0; u < level->vertices; u++) {
        if (level->home)
            d->block[u] = level->home[u];
        if (level->fixed[u] != CLEAVE_FREE)
            d->block[u] = (uint32_t)level->fixed[u];
    }
    enum cleave_status status = consider(d);
    for (uint32_t i = 0; i < 2 && !status; i++)
        status = cycle(d, NULL);
    return status;
}

/* Merges what two of the pool agree on and searches what is left, from the better one. */
static enum cleave_status recombine(struct driver *d)
{
    uint32_t a = (uint32_t)cleave__random_below(&d->search.random, d->pooled);
    uint32_t b = (uint32_t)cleave__random_below(&d->search.random, d->pooled - 1);
    b += b >= a;
    if (a > b) {
        uint32_t held = a;
        a = b;
        b = held;
    }
    memcpy(d->block, d->pool[a].block, block_bytes(d));
    for (uint32_t v = 0; v < level_of(d)->vertices; v++)
        d->within[v] = d->pool[a].block[v] * blocks_of(d) + d->pool[b].block[v];
    return cycle(d, d->within);
}

static enum cleave_status try_exact(struct driver *d, bool *proven)
{
    struct cleave_arena_mark mark = cleave__arena_mark(&d->search.arena);
    struct cleave__state state;
    memcpy(d->block, d->pool[0].block, block_bytes(d));
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (cleave__state_init(&state, &d->search.arena, level_of(d), &d->problem.target, d->block, 0))
        status = cleave__exact(&d->search, &state, EXACT_NODES, proven);
    cleave__arena_rewind(&d->search.arena, mark);
    return status ? status : consider(d);
}

/* Nothing so far keeps the limits: pack from scratch, then win back cost. */
static enum cleave_status pack(struct driver *d)
{
    struct cleave_arena_mark mark = cleave__arena_mark(&d->search.arena);
    struct cleave__state state;
    memcpy(d->block, d->pool[0].block, block_bytes(d));
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (cleave__state_init(&state, &d->search.arena, level_of(d), &d->problem.target, d->block,
                           d->search.room)) {
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
    while ((1u << depth) < blocks_of(d))
        depth++;
    uint64_t size = level_of(d)->net_offset[level_of(d)->nets] + level_of(d)->vertices;
    uint64_t starts = 1500000 / (size * depth + 1);
    return starts < 1 ? 1 : starts > 12 ? 12 : (uint32_t)starts;
}

static enum cleave_status search_all(struct driver *d)
{
    /* A tabu step looks at so many moves. */
    uint64_t moves = (uint64_t)level_of(d)->vertices * blocks_of(d) * (1 + level_of(d)->weights);
    bool small = moves <= 200000, proven = false;
    bool fresh = !(d->options->warm_start && d->options->warm_refine_only);
    uint32_t starts = d->options->starts ? d->options->starts : default_starts(d);
    uint32_t rounds = fresh ? starts + starts / 2 + 2 : 1;
    const uint64_t tabu_work = 10000000;
    enum cleave_status status = CLEAVE_OK;
    if (d->options->warm_start) {
        status = start_warm(d);
        if (!status && small)
            status = tabu(d, tabu_work);
    }
    for (uint32_t s = 0; s < starts && fresh && !status && !perfect(d); s++) {
        report(d, s, rounds);
        /* Each start has its own stream, so that more starts never lose what fewer found. */
        cleave__random_seed(&d->search.random,
                            cleave__mix64(d->options->seed + 1) ^ cleave__mix64((uint64_t)s + 77));
        status = start_fresh(d);
        if (!status && s == 0 && d->pooled && level_of(d)->vertices <= EXACT_VERTICES_MAX &&
            !d->problem.target.floor)
            status = try_exact(d, &proven);
        if (proven)
            return status;
        if (!status && small && !level_of(d)->home)
            status = tabu(d, tabu_work);
    }
    for (uint32_t s = 0; s < starts / 2 && fresh && !status && d->pooled > 1 && !perfect(d); s++) {
        report(d, starts + s, rounds);
        status = recombine(d);
        if (!status && small)
            status = tabu(d, tabu_work);
    }
    report(d, rounds - 1, rounds);
    if (!status && d->pooled && !perfect(d)) {
        memcpy(d->block, d->pool[0].block, block_bytes(d));
        status = cycle(d, NULL);
        if (!status && small)
            status = tabu(d, tabu_work);
    }
    if (!status && d->pooled && !cleave__score_sound(&d->pool[0].score)) {
        status = pack(d);
        if (!status && moves <= 4000000)
            status = tabu(d, 2 * tabu_work);
    }
    return status;
}

static bool driver_init(struct driver *d, const struct cleave__request *request)
{
    struct cleave_arena *arena = &d->search.arena;
    if (!cleave__problem_init(&d->problem, arena, request))
        return false;
    d->block = cleave__arena_array(arena, level_of(d)->vertices, sizeof *d->block);
    d->within = cleave__arena_array(arena, level_of(d)->vertices, sizeof *d->within);
    for (uint32_t i = 0; i < POOL; i++) {
        d->pool[i].block = cleave__arena_array(arena, level_of(d)->vertices, sizeof *d->block);
        if (!d->pool[i].block)
            return false;
    }
    return d->block && d->within;
}

enum cleave_status cleave__place_multilevel(const struct cleave__request *request, uint32_t *block,
                                            struct cleave_error *error)
{
    const struct cleave_hypergraph *h = request->hypergraph;
    struct driver d = {.options = request->options};
    d.search.progress = request->options->progress;
    d.search.effort = (struct cleave__effort){getenv("BP") ? (uint32_t)atoi(getenv("BP")) : 4, getenv("AT") ? (uint32_t)atoi(getenv("AT")) : 6, getenv("FM") ? (uint32_t)atoi(getenv("FM")) : 8, 500000};
    d.search.room = 16 * (size_t)h->net_offset[h->nets] + 24 * (size_t)h->vertices + (1 << 18);
    cleave__random_seed(&d.search.random, request->options->seed);
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (h->vertices == 0)
        return CLEAVE_OK;
    if (driver_init(&d, request))
        status = search_all(&d);
    for (uint32_t v = 0; v < h->vertices && !status; v++)
        block[v] = d.pool[0].block[d.problem.unit[v]];
    cleave__arena_free(&d.search.arena);
    if (status == CLEAVE_NO_MEMORY)
        return cleave_error_set(error, status, "no memory to partition %u vertices and %llu pins",
                                h->vertices, (unsigned long long)h->net_offset[h->nets]);
    if (status == CLEAVE_INTERRUPTED)
        return cleave_error_set(error, status, "partitioning was interrupted");
    return status;
}
