/* The multilevel placer: looks for good partitions in several ways that depend on size, and keeps
 * the best: fewest violations first, then least cost, the earliest of equals.
 *
 * Ways: an earlier answer refined; fresh starts by recursive bipartition and k-way refinement;
 * recombination of the best few (what two agree on is merged, the rest searched again); for small
 * instances a V-cycle and tabu search, and branch and bound for tiny ones; vector bin packing when
 * nothing so far is balanced. */
#include <stdlib.h>
#include <string.h>

#include "place/multilevel/community.h"
#include "place/multilevel/problem.h"
#include "place/multilevel/search.h"

enum { POOL = 8, BATCH = 8, TABU_STEPS_MAX = 20000, EXACT_VERTICES_MAX = 64, EXACT_NODES = 200000 };
enum { TABU_WORK = 3000000, SMALL = 20000, PACK_TABU_MAX = 4000000, COMMUNITY_PINS_MAX = 1 << 20 };

static const struct cleave__effort efforts[] = {
    [CLEAVE_FAST] = {.bipartitions = 2, .attempts = 4, .fm_rounds = 3, .starts = 1},
    [CLEAVE_DEFAULT] = {.bipartitions = 4,
                        .attempts = 6,
                        .fm_rounds = 8,
                        .flow_rounds = 2,
                        .flow_effort = 60,
                        .starts = 1},
    [CLEAVE_QUALITY] = {.bipartitions = 4,
                        .attempts = 6,
                        .fm_rounds = 8,
                        .flow_rounds = 2,
                        .flow_effort = 100,
                        .starts = 2},
};

struct solution {
    uint32_t *block; /* [level vertices] */
    struct cleave__score score;
};

/* One way to a partition, on its own memory and random numbers. */
struct attempt {
    struct cleave__search search;
    const struct driver *driver;
    enum cleave_status (*run)(struct attempt *attempt);
    uint32_t *block;        /* [level vertices]: what it starts from, then what it found */
    const uint32_t *within; /* [level vertices]: what may merge; NULL: any */
    struct cleave__score score;
    uint64_t tabu_work; /* single steps */
    bool affordable;
    bool proven; /* nothing can be better */
    enum cleave_status status;
};

struct driver {
    struct cleave__search search;
    struct cleave__problem problem;
    const struct cleave_partition_options *options;
    struct solution pool[POOL];
    uint32_t pooled;       /* best first */
    uint32_t *community;   /* [level vertices] */
    uint32_t done, rounds; /* of the work, for the progress */
    bool proven;           /* the best is the best there is */
    const int64_t *strict; /* the limits proper, while others are aimed at; the floors likewise */
    const int64_t *strict_floor;
    bool small; /* so small that tabu search over everything pays */
};

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
    return level_of(d)->vertices * sizeof(uint32_t);
}

/* What a step of tabu search looks at. */
static uint64_t moves_of(const struct driver *d)
{
    return (uint64_t)level_of(d)->vertices * blocks_of(d) * (1 + level_of(d)->weights);
}

static void report(struct driver *d, uint32_t more)
{
    const struct cleave_progress *p = d->search.progress;
    if (p && p->report)
        p->report(p->context, "partition", d->done, d->rounds);
    d->done += more;
}

/* Done when nothing can be better. */
static bool perfect(const struct driver *d)
{
    return d->proven ||
           (d->pooled && d->pool[0].score.cost == 0 && cleave__score_sound(&d->pool[0].score));
}

/* Puts what was found in its place in the pool, if it is good enough and no other scores the same.
 */
static enum cleave_status consider(struct driver *d, const struct attempt *attempt)
{
    uint32_t at = 0;
    while (at < d->pooled && !cleave__score_less(&attempt->score, &d->pool[at].score))
        at++;
    if (!attempt->affordable || at == POOL ||
        (at > 0 && !cleave__score_less(&d->pool[at - 1].score, &attempt->score)))
        return CLEAVE_OK;
    uint32_t last = d->pooled < POOL ? d->pooled : POOL - 1;
    struct solution fresh = d->pool[last];
    if (!fresh.block && !(fresh.block = cleave__arena_alloc(&d->search.arena, block_bytes(d))))
        return CLEAVE_NO_MEMORY;
    if (last == d->pooled)
        d->pooled++;
    for (uint32_t i = last; i > at; i--)
        d->pool[i] = d->pool[i - 1];
    fresh.score = attempt->score;
    memcpy(fresh.block, attempt->block, block_bytes(d));
    d->pool[at] = fresh;
    return CLEAVE_OK;
}

static uint32_t coarsest_size(const struct driver *d)
{
    return 160 * (blocks_of(d) > 2 ? blocks_of(d) : 2);
}

/* Work on block[] as a state with a cache of so many bytes. */
static enum cleave_status on_state(struct attempt *a, size_t room,
                                   enum cleave_status (*work)(struct attempt *,
                                                              struct cleave__state *))
{
    const struct driver *d = a->driver;
    struct cleave_arena_mark mark = cleave__arena_mark(&a->search.arena);
    struct cleave__state state;
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (cleave__state_init(&state, &a->search.arena, level_of(d), &d->problem.target, a->block,
                           room))
        status = work(a, &state);
    cleave__arena_rewind(&a->search.arena, mark);
    return status;
}

static enum cleave_status tabu_on(struct attempt *a, struct cleave__state *state)
{
    uint64_t steps = cleave__tabu_iterations(state->level, state->target, a->tabu_work);
    enum cleave_status status =
        cleave__refine_tabu(&a->search, state, steps < TABU_STEPS_MAX ? steps : TABU_STEPS_MAX);
    return status ? status : cleave__refine_fm(&a->search, state, 3);
}

static enum cleave_status tabu(struct attempt *a, uint64_t work)
{
    a->tabu_work = work;
    return on_state(a, cleave__full_room(level_of(a->driver), blocks_of(a->driver)), tabu_on);
}

/* A fresh start by recursive bipartition. */
static enum cleave_status start_fresh(struct attempt *a)
{
    const struct driver *d = a->driver;
    const struct cleave__cycle cycle = {.coarsest = coarsest_size(d),
                                        .initial = cleave__bisect,
                                        .within = a->within,
                                        .flow_rounds = a->search.effort.flow_rounds};
    enum cleave_status status = cleave__multilevel(&a->search, &d->problem.free_level,
                                                   &d->problem.target, &cycle, a->block);
    return !status && d->small && !level_of(d)->home ? tabu(a, TABU_WORK) : status;
}

/* Coarsening and refinement once more, within block[]'s own blocks or finer. */
static enum cleave_status cycle_again(struct attempt *a)
{
    const struct driver *d = a->driver;
    const struct cleave__cycle again = {.coarsest = coarsest_size(d),
                                        .within = a->within ? a->within : a->block,
                                        .flow_rounds = a->search.effort.flow_rounds};
    return cleave__multilevel(&a->search, level_of(d), &d->problem.target, &again, a->block);
}

static enum cleave_status cycle_and_search(struct attempt *a)
{
    enum cleave_status status = cycle_again(a);
    return !status && a->driver->small ? tabu(a, TABU_WORK) : status;
}

static enum cleave_status keep(struct attempt *a)
{
    (void)a;
    return CLEAVE_OK;
}

static enum cleave_status exact_on(struct attempt *a, struct cleave__state *state)
{
    return cleave__exact(&a->search, state, EXACT_NODES, &a->proven);
}

static enum cleave_status try_exact(struct attempt *a)
{
    return on_state(a, 0, exact_on);
}

static enum cleave_status pack_on(struct attempt *a, struct cleave__state *state)
{
    enum cleave_status status = cleave__pack(&a->search, state);
    return status ? status : cleave__refine(&a->search, state);
}

/* Nothing so far keeps the limits: pack from scratch, then win back cost. */
static enum cleave_status pack(struct attempt *a)
{
    enum cleave_status status = on_state(a, a->search.room, pack_on);
    return !status && moves_of(a->driver) <= PACK_TABU_MAX ? tabu(a, 2 * TABU_WORK) : status;
}

static enum cleave_status repair_on(struct attempt *a, struct cleave__state *state)
{
    return cleave__refine(&a->search, state);
}

static enum cleave_status repair(struct attempt *a)
{
    return on_state(a, a->search.room, repair_on);
}

static enum cleave_status score_on(struct attempt *a, struct cleave__state *state)
{
    a->score = state->score;
    a->affordable = state->moved <= state->target->budget;
    return CLEAVE_OK;
}

static void run_attempt(void *context, uint32_t task, uint32_t worker)
{
    struct attempt *a = (struct attempt *)context + task;
    (void)worker;
    a->status = a->run(a);
    if (!a->status)
        a->status = on_state(a, 0, score_on);
}

static void equip(const struct driver *d, struct attempt *a, struct cleave__pool *pool)
{
    a->driver = d;
    a->search.progress = d->search.progress;
    a->search.effort = d->search.effort;
    a->search.room = d->search.room;
    a->search.pool = pool;
}

/* Runs attempts that were prepared with `run` and block[], and pools what they find, in order. One
 * alone has the pool's threads for itself; several share them. */
static enum cleave_status run_batch(struct driver *d, struct attempt *batch, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        equip(d, &batch[i], count == 1 ? d->search.pool : NULL);
    report(d, count);
    cleave__pool_run(d->search.pool, count, run_attempt, batch);
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < count; i++) {
        if (!status)
            status = batch[i].status;
        if (!status)
            status = consider(d, &batch[i]);
        d->proven |= batch[i].proven;
        cleave__arena_free(&batch[i].search.arena);
        batch[i].search = (struct cleave__search){0};
    }
    return status;
}

static bool give_block(struct driver *d, struct attempt *a, uint64_t stream)
{
    cleave__random_seed(&a->search.random,
                        cleave__mix64(d->options->seed + 1) ^ cleave__mix64(stream));
    if (!a->block)
        a->block = malloc(block_bytes(d));
    return a->block != NULL;
}

/* One attempt from the best there is, or from what is in `from`. */
static enum cleave_status run_one(struct driver *d, struct attempt *a,
                                  enum cleave_status (*run)(struct attempt *), uint64_t stream,
                                  const uint32_t *from)
{
    if (!give_block(d, a, stream))
        return CLEAVE_NO_MEMORY;
    a->run = run;
    if (from)
        memcpy(a->block, from, block_bytes(d));
    return run_batch(d, a, 1);
}

/* Communities guide the first merges: k-way levels keep to them as long as they get on with it. */
static enum cleave_status find_communities(struct driver *d)
{
    uint32_t count;
    d->community = cleave__arena_alloc(&d->search.arena, block_bytes(d));
    if (!d->community)
        return CLEAVE_NO_MEMORY;
    return cleave__communities(&d->search, level_of(d), d->community, &count);
}

/* Each start has its own stream, so that more starts never lose what fewer found. */
static enum cleave_status start_all(struct driver *d, struct attempt *batch, uint32_t from,
                                    uint32_t to)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t s = from, count; s < to && !status && !perfect(d); s += count) {
        count = to - s < BATCH ? to - s : BATCH;
        for (uint32_t i = 0; i < count; i++) {
            if (!give_block(d, &batch[i], (uint64_t)s + i + 77))
                return CLEAVE_NO_MEMORY;
            batch[i].run = start_fresh;
            /* Now and then without, for what communities hide. */
            batch[i].within = (s + i) % 3 < 2 ? d->community : NULL;
        }
        status = run_batch(d, batch, count);
    }
    for (uint32_t i = 0; i < BATCH; i++)
        batch[i].within = NULL;
    return status;
}

/* Merges what two of the pool agree on and searches what is left, from the better one. */
static enum cleave_status recombine_all(struct driver *d, struct attempt *batch, uint32_t pairs)
{
    enum cleave_status status = CLEAVE_OK;
    uint32_t *within[BATCH / 2] = {NULL};
    for (uint32_t r = 0, count; r < pairs && !status && d->pooled > 1 && !perfect(d); r += count) {
        count = pairs - r < BATCH / 2 ? pairs - r : BATCH / 2;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t x = (uint32_t)cleave__random_below(&d->search.random, d->pooled);
            uint32_t y = (uint32_t)cleave__random_below(&d->search.random, d->pooled - 1);
            y += y >= x;
            if (!within[i])
                within[i] = malloc(block_bytes(d));
            if (!within[i] || !give_block(d, &batch[i], (uint64_t)r + i + 1000077)) {
                status = CLEAVE_NO_MEMORY;
                goto done;
            }
            batch[i].run = cycle_and_search;
            batch[i].within = within[i];
            memcpy(batch[i].block, d->pool[x < y ? x : y].block, block_bytes(d));
            for (uint32_t v = 0; v < level_of(d)->vertices; v++)
                within[i][v] = d->pool[x].block[v] * blocks_of(d) + d->pool[y].block[v];
        }
        status = run_batch(d, batch, count);
    }
done:
    for (uint32_t i = 0; i < BATCH / 2; i++) {
        free(within[i]);
        batch[i].within = NULL;
    }
    return status;
}

static enum cleave_status start_warm(struct driver *d, struct attempt *a)
{
    const struct cleave_hypergraph *h = d->problem.request->hypergraph;
    const struct cleave__level *level = level_of(d);
    const uint32_t *warm = d->options->warm_start;
    if (!give_block(d, a, 1))
        return CLEAVE_NO_MEMORY;
    for (uint32_t v = h->vertices; v > 0; v--)
        a->block[d->problem.unit ? d->problem.unit[v - 1] : v - 1] =
            warm[v - 1]; /* a group's first member decides */
    for (uint32_t u = 0; u < level->vertices; u++) {
        if (level->home)
            a->block[u] = level->home[u];
        if (level->fixed[u] != CLEAVE_FREE)
            a->block[u] = (uint32_t)level->fixed[u];
    }
    enum cleave_status status = run_one(d, a, keep, 1, NULL);
    for (uint32_t i = 0; i < 2 && !status; i++)
        status = run_one(d, a, cycle_again, 2 + i, NULL);
    if (!status && d->small)
        status = run_one(d, a, cycle_and_search, 4, NULL);
    return status;
}

static enum cleave_status probe_on(struct attempt *a, struct cleave__state *state)
{
    enum cleave_status status = cleave__pack(&a->search, state);
    return status ? status : cleave__rebalance(&a->search, state);
}

/* Packed without regard to nets, and repaired: how near the limits can a placement come? */
static enum cleave_status probe(struct attempt *a)
{
    const struct cleave__level *level = level_of(a->driver);
    for (uint32_t v = 0; v < level->vertices; v++)
        a->block[v] = level->fixed[v] != CLEAVE_FREE ? (uint32_t)level->fixed[v]
                      : level->home                  ? level->home[v]
                                                     : 0;
    return on_state(a, 0, probe_on);
}

/* Can the heaviest vertices make balance hard? */
static bool doubtful(const struct driver *d)
{
    const struct cleave__level *level = level_of(d);
    const struct cleave__target *t = &d->problem.target;
    uint32_t W = level->weights;
    for (uint32_t c = 0; c < W; c++) {
        int64_t slack = INT64_MAX, heaviest = 0;
        for (uint32_t b = 0; b < t->blocks; b++) {
            size_t at = (size_t)b * W + c;
            int64_t here = t->limit[at] - t->quota[at];
            slack = here < slack ? here : slack;
        }
        for (uint32_t v = 0; v < level->vertices; v++) {
            int64_t w = level->weight[(size_t)v * W + c];
            heaviest = w > heaviest ? w : heaviest;
        }
        if (heaviest > slack / (W > 1 ? 8 : 1))
            return true;
    }
    return false;
}

/* Where even packing keeps no limits, or a vertex is too heavy for any block, the search aims at
 * what can be reached, lest it give up every net for the last bit of balance. The limits proper are
 * tried again at the end, if they can be kept at all. */
static enum cleave_status relax(struct driver *d, struct attempt *a)
{
    enum cleave_status status = run_one(d, a, probe, 3, NULL);
    if (status || (!a->score.overload && !d->problem.giants))
        return status;
    const struct cleave__target *t = &d->problem.target;
    uint32_t W = t->weights;
    size_t cells = (size_t)t->blocks * W;
    int64_t *limit = cleave__arena_array(&d->search.arena, cells, sizeof *limit);
    int64_t *weight = cleave__arena_zalloc(&d->search.arena, cells * sizeof *weight);
    int64_t *floor = NULL;
    if (t->floor)
        floor = cleave__arena_array(&d->search.arena, cells, sizeof *floor);
    if (!limit || !weight || (t->floor && !floor))
        return CLEAVE_NO_MEMORY;
    for (uint32_t v = 0; v < level_of(d)->vertices; v++) {
        for (uint32_t c = 0; c < W; c++)
            weight[(size_t)a->block[v] * W + c] += level_of(d)->weight[(size_t)v * W + c];
    }
    /* A block that a giant fills leaves its share of the other weights to the others. */
    double spread = (double)t->blocks / (double)(t->blocks - d->problem.giants);
    for (uint32_t c = 0; c < W; c++) {
        double most = spread, least = 1;
        for (size_t at = c; at < cells; at += W) {
            if (t->floor && weight[at] < t->floor[at]) {
                double under = (double)weight[at] / (double)t->floor[at];
                least = under < least ? under : least;
            }
            double over = (double)weight[at] / (double)(t->limit[at] > 0 ? t->limit[at] : 1);
            most = over > most ? over : most;
        }
        most = most > 1 ? most * 1.005 : 1;
        for (size_t at = c; at < cells; at += W) {
            double wide = (double)t->limit[at] * most;
            int64_t room = wide < 0x1p62 ? (int64_t)wide + 1 : INT64_C(1) << 62;
            limit[at] = most > 1 ? room : t->limit[at];
            if (floor)
                floor[at] =
                    least < 1 ? (int64_t)((double)t->floor[at] * least * 0.995) : t->floor[at];
        }
    }
    d->strict = t->limit;
    d->strict_floor = t->floor;
    d->problem.target.limit = limit;
    d->problem.target.floor = floor;
    d->pooled = 0;
    return CLEAVE_OK;
}

/* The limits proper once more: repaired, does the best keep them? If not, it stays as it is. */
static enum cleave_status tighten(struct driver *d, struct attempt *a)
{
    d->problem.target.limit = d->strict;
    d->problem.target.floor = d->strict_floor;
    d->strict = NULL;
    if (!give_block(d, a, 700))
        return CLEAVE_NO_MEMORY;
    memcpy(a->block, d->pool[0].block, block_bytes(d));
    a->run = repair;
    equip(d, a, d->search.pool);
    run_attempt(a, 0, 0);
    cleave__arena_free(&a->search.arena);
    if (!a->status && a->affordable && cleave__score_sound(&a->score))
        memcpy(d->pool[0].block, a->block, block_bytes(d));
    return a->status;
}

static uint32_t starts_of(const struct driver *d)
{
    if (d->options->starts)
        return d->options->starts;
    uint32_t depth = 1;
    while ((1u << depth) < blocks_of(d))
        depth++;
    uint64_t size = level_of(d)->net_offset[level_of(d)->nets] + level_of(d)->vertices;
    uint64_t cheap = 150000 / (size * depth + 1), starts = d->search.effort.starts;
    if (d->options->preset == CLEAVE_FAST)
        return 1;
    starts = cheap > starts ? cheap : starts;
    return starts > 12 ? 12 : (uint32_t)starts;
}

static enum cleave_status search_all(struct driver *d, struct attempt *batch)
{
    bool fresh = !(d->options->warm_start && d->options->warm_refine_only);
    uint32_t starts = fresh ? starts_of(d) : 0;
    uint32_t pairs = starts / 2;
    d->rounds = starts + pairs + d->small + (d->options->warm_start ? 3 : 0);
    enum cleave_status status = CLEAVE_OK;
    if (!d->small && doubtful(d))
        status = relax(d, batch);
    if (!status && d->options->warm_start)
        status = start_warm(d, batch);
    /* They take several times the input's memory. */
    if (!status && fresh && !d->small &&
        level_of(d)->net_offset[level_of(d)->nets] <= COMMUNITY_PINS_MAX)
        status = find_communities(d);
    if (!status && fresh)
        status = start_all(d, batch, 0, 1);
    if (!status && fresh && d->pooled && level_of(d)->vertices <= EXACT_VERTICES_MAX && !perfect(d))
        status = run_one(d, batch, try_exact, 0, d->pool[0].block);
    if (!status && starts > 1)
        status = start_all(d, batch, 1, starts);
    if (!status)
        status = recombine_all(d, batch, pairs);
    if (!status && d->small && d->pooled && !perfect(d))
        status = run_one(d, batch, cycle_and_search, 500, d->pool[0].block);
    if (!status && d->pooled && d->strict)
        return d->problem.giants ? CLEAVE_OK : tighten(d, batch);
    if (!status && d->pooled && !cleave__score_sound(&d->pool[0].score))
        status = run_one(d, batch, pack, 600, d->pool[0].block);
    return status;
}

enum cleave_status cleave__place_multilevel(const struct cleave__request *request, uint32_t *block,
                                            struct cleave_error *error)
{
    const struct cleave_hypergraph *h = request->hypergraph;
    const struct cleave_partition_options *o = request->options;
    uint64_t pins = h->net_offset[h->nets];
    struct driver d = {.options = o};
    struct attempt batch[BATCH] = {0};
    if (h->vertices == 0)
        return CLEAVE_OK;
    d.search.progress = o->progress;
    d.search.effort = efforts[o->preset];
    d.search.room = (size_t)(2 * pins) + (1 << 20);
    cleave__random_seed(&d.search.random, o->seed);
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (cleave__problem_init(&d.problem, &d.search.arena, request) &&
        (o->threads <= 1 || (d.search.pool = cleave__pool_new(o->threads)))) {
        d.small = moves_of(&d) <= SMALL;
        status = search_all(&d, batch);
    }
    const uint32_t *found = d.pooled ? d.pool[0].block : batch[0].block;
    for (uint32_t v = 0; v < h->vertices && !status; v++)
        block[v] = found[d.problem.unit ? d.problem.unit[v] : v];
    for (uint32_t i = 0; i < BATCH; i++)
        free(batch[i].block);
    cleave__pool_free(d.search.pool);
    cleave__arena_free(&d.search.arena);
    if (status == CLEAVE_NO_MEMORY)
        return cleave_error_set(error, status, "no memory to partition %u vertices and %llu pins",
                                h->vertices, (unsigned long long)pins);
    if (status == CLEAVE_INTERRUPTED)
        return cleave_error_set(error, status, "partitioning was interrupted");
    return status;
}
