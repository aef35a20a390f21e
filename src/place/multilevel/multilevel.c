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
#include "place/multilevel/driver.h"

enum {
    BATCH = 8,
    EXACT_VERTICES_MAX = 64,
    SMALL = 20000,
    DOUBTFUL_STARTS = 2,
    COMMUNITY_PINS_MAX = 1 << 20
};

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

static void report(struct cleave__driver *d, uint32_t more)
{
    const struct cleave_progress *p = d->search.progress;
    if (p && p->report)
        p->report(p->context, "partition", d->done, d->rounds);
    d->done += more;
}

/* Done when nothing can be better. */
static bool perfect(const struct cleave__driver *d)
{
    return d->proven ||
           (d->pooled && d->pool[0].score.cost == 0 && cleave__score_sound(&d->pool[0].score));
}

/* Puts what was found in its place in the pool, if it is good enough and no other scores the same.
 */
static enum cleave_status consider(struct cleave__driver *d, const struct cleave__attempt *attempt)
{
    uint32_t at = 0;
    while (at < d->pooled && !cleave__score_less(&attempt->score, &d->pool[at].score))
        at++;
    if (!attempt->affordable || at == CLEAVE__POOL ||
        (at > 0 && !cleave__score_less(&d->pool[at - 1].score, &attempt->score)))
        return CLEAVE_OK;
    uint32_t last = d->pooled < CLEAVE__POOL ? d->pooled : CLEAVE__POOL - 1;
    struct cleave__solution fresh = d->pool[last];
    if (!fresh.block &&
        !(fresh.block = cleave__arena_alloc(&d->search.arena, cleave__block_bytes(d))))
        return CLEAVE_NO_MEMORY;
    if (last == d->pooled)
        d->pooled++;
    for (uint32_t i = last; i > at; i--)
        d->pool[i] = d->pool[i - 1];
    fresh.score = attempt->score;
    memcpy(fresh.block, attempt->block, cleave__block_bytes(d));
    d->pool[at] = fresh;
    return CLEAVE_OK;
}

static void equip(const struct cleave__driver *d, struct cleave__attempt *a,
                  struct cleave__pool *pool)
{
    a->driver = d;
    a->search.progress = d->search.progress;
    a->search.effort = d->search.effort;
    a->search.room = d->search.room;
    a->search.pool = pool;
}

static void run_attempt(void *context, uint32_t task, uint32_t worker)
{
    (void)worker;
    cleave__attempt_run((struct cleave__attempt *)context + task);
}

void cleave__attempt_alone(struct cleave__driver *d, struct cleave__attempt *a)
{
    equip(d, a, d->search.pool);
    cleave__attempt_run(a);
    cleave__arena_free(&a->search.arena);
}

/* Runs attempts that were prepared with `run` and block[], and pools what they find, in order. One
 * alone has the pool's threads for itself; several share them. */
enum cleave_status cleave__attempts_run(struct cleave__driver *d, struct cleave__attempt *batch,
                                        uint32_t count)
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

bool cleave__attempt_ready(struct cleave__driver *d, struct cleave__attempt *a, uint64_t stream)
{
    cleave__random_seed(&a->search.random,
                        cleave__mix64(d->options->seed + 1) ^ cleave__mix64(stream));
    if (!a->block)
        a->block = malloc(cleave__block_bytes(d));
    return a->block != NULL;
}

/* One attempt from the best there is, or from what is in `from`. */
enum cleave_status cleave__attempt_one(struct cleave__driver *d, struct cleave__attempt *a,
                                       enum cleave_status (*run)(struct cleave__attempt *),
                                       uint64_t stream, const uint32_t *from)
{
    if (!cleave__attempt_ready(d, a, stream))
        return CLEAVE_NO_MEMORY;
    a->run = run;
    if (from)
        memcpy(a->block, from, cleave__block_bytes(d));
    return cleave__attempts_run(d, a, 1);
}

/* Communities guide the first merges: k-way levels keep to them as long as they get on with it. */
static enum cleave_status find_communities(struct cleave__driver *d)
{
    uint32_t count;
    d->community = cleave__arena_alloc(&d->search.arena, cleave__block_bytes(d));
    if (!d->community)
        return CLEAVE_NO_MEMORY;
    return cleave__communities(&d->search, cleave__level_of(d), d->community, &count);
}

/* Each start has its own stream, so that more starts never lose what fewer found. */
static enum cleave_status start_all(struct cleave__driver *d, struct cleave__attempt *batch,
                                    uint32_t from, uint32_t to)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t s = from, count; s < to && !status && !perfect(d); s += count) {
        count = to - s < BATCH ? to - s : BATCH;
        for (uint32_t i = 0; i < count; i++) {
            if (!cleave__attempt_ready(d, &batch[i], (uint64_t)s + i + 77))
                return CLEAVE_NO_MEMORY;
            batch[i].run = cleave__attempt_fresh;
            /* Now and then without, for what communities hide. */
            batch[i].within = (s + i) % 3 < 2 ? d->community : NULL;
        }
        status = cleave__attempts_run(d, batch, count);
    }
    for (uint32_t i = 0; i < BATCH; i++)
        batch[i].within = NULL;
    return status;
}

/* Merges what two of the pool agree on and searches what is left, from the better one. */
static enum cleave_status recombine_all(struct cleave__driver *d, struct cleave__attempt *batch,
                                        uint32_t pairs)
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
                within[i] = malloc(cleave__block_bytes(d));
            if (!within[i] || !cleave__attempt_ready(d, &batch[i], (uint64_t)r + i + 1000077)) {
                status = CLEAVE_NO_MEMORY;
                goto done;
            }
            batch[i].run = cleave__attempt_search;
            batch[i].within = within[i];
            memcpy(batch[i].block, d->pool[x < y ? x : y].block, cleave__block_bytes(d));
            for (uint32_t v = 0; v < cleave__level_of(d)->vertices; v++)
                within[i][v] = d->pool[x].block[v] * cleave__blocks_of(d) + d->pool[y].block[v];
        }
        status = cleave__attempts_run(d, batch, count);
    }
done:
    for (uint32_t i = 0; i < BATCH / 2; i++) {
        free(within[i]);
        batch[i].within = NULL;
    }
    return status;
}

static enum cleave_status start_warm(struct cleave__driver *d, struct cleave__attempt *a)
{
    const struct cleave_hypergraph *h = d->problem.request->hypergraph;
    const struct cleave__level *level = cleave__level_of(d);
    const uint32_t *warm = d->options->warm_start;
    if (!cleave__attempt_ready(d, a, 1))
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
    enum cleave_status status = cleave__attempt_one(d, a, cleave__attempt_keep, 1, NULL);
    for (uint32_t i = 0; i < 2 && !status; i++)
        status = cleave__attempt_one(d, a, cleave__attempt_cycle, 2 + i, NULL);
    if (!status && d->small)
        status = cleave__attempt_one(d, a, cleave__attempt_search, 4, NULL);
    return status;
}

static enum cleave_status merge_all(struct cleave__driver *d, struct cleave__attempt *batch)
{
    for (uint32_t i = 0; i < 2; i++) {
        if (!cleave__attempt_ready(d, &batch[i], UINT64_C(2000077) + i))
            return CLEAVE_NO_MEMORY;
        batch[i].run = cleave__attempt_merged;
        batch[i].merge = 2 << i;
        batch[i].within = d->community;
    }
    enum cleave_status status = cleave__attempts_run(d, batch, 2);
    batch[0].within = batch[1].within = NULL;
    return status;
}

static uint32_t starts_of(const struct cleave__driver *d)
{
    if (d->options->starts)
        return d->options->starts;
    uint32_t depth = 1;
    while ((1u << depth) < cleave__blocks_of(d))
        depth++;
    uint64_t size =
        cleave__level_of(d)->net_offset[cleave__level_of(d)->nets] + cleave__level_of(d)->vertices;
    uint64_t cheap = 150000 / (size * depth + 1), starts = d->search.effort.starts;
    if (d->options->preset == CLEAVE_FAST)
        return 1;
    if (cleave__blocks_of(d) == 2 && d->options->preset == CLEAVE_QUALITY)
        starts *= 2; /* two blocks are the cheapest, and vary most */
    starts = cheap > starts ? cheap : starts;
    return starts > 12 ? 12 : (uint32_t)starts;
}

static enum cleave_status search_all(struct cleave__driver *d, struct cleave__attempt *batch)
{
    bool fresh = !(d->options->warm_start && d->options->warm_refine_only);
    bool doubtful = !d->small && cleave__limits_doubtful(d);
    bool several = doubtful && cleave__level_of(d)->weights > 1; /* chance has most to say there */
    uint32_t starts = fresh ? starts_of(d) : 0, pairs;
    if (several && starts == 1 && !d->options->starts)
        starts = d->options->preset == CLEAVE_FAST ? 1 : DOUBTFUL_STARTS;
    pairs = cleave__blocks_of(d) == 2 && d->options->preset == CLEAVE_QUALITY ? starts : starts / 2;
    d->rounds = starts + pairs + d->small + (d->options->warm_start ? 3 : 0);
    enum cleave_status status = CLEAVE_OK;
    if (doubtful)
        status = cleave__limits_relax(d, batch);
    if (!status && d->options->warm_start)
        status = start_warm(d, batch);
    /* They take several times the input's memory. */
    if (!status && fresh && !d->small &&
        cleave__level_of(d)->net_offset[cleave__level_of(d)->nets] <= COMMUNITY_PINS_MAX)
        status = find_communities(d);
    if (!status && fresh)
        status = start_all(d, batch, 0, 1);
    if (!status && fresh && d->pooled && cleave__level_of(d)->vertices <= EXACT_VERTICES_MAX &&
        !perfect(d))
        status = cleave__attempt_one(d, batch, cleave__attempt_exact, 0, d->pool[0].block);
    if (!status && starts > 1)
        status = start_all(d, batch, 1, starts);
    if (!status && fresh && several && !d->strict && !cleave__level_of(d)->home)
        status = cleave__attempt_one(d, batch, cleave__attempt_loose, 3000077, NULL);
    if (!status && fresh && d->pooled && cleave__merging_pays(d, d->pool[0].block))
        status = merge_all(d, batch);
    if (!status)
        status = recombine_all(d, batch, pairs);
    if (!status && d->small && d->pooled && !perfect(d))
        status = cleave__attempt_one(d, batch, cleave__attempt_search, 500, d->pool[0].block);
    if (!status && d->pooled && d->strict)
        return d->problem.giants ? CLEAVE_OK : cleave__limits_tighten(d, batch);
    if (!status && d->pooled && !cleave__score_sound(&d->pool[0].score))
        status = cleave__attempt_one(d, batch, cleave__attempt_pack, 600, d->pool[0].block);
    return status;
}

enum cleave_status cleave__place_multilevel(const struct cleave__request *request, uint32_t *block,
                                            struct cleave_error *error)
{
    const struct cleave_hypergraph *h = request->hypergraph;
    const struct cleave_partition_options *o = request->options;
    uint64_t pins = h->net_offset[h->nets];
    struct cleave__driver d = {.options = o};
    struct cleave__attempt batch[BATCH] = {0};
    if (h->vertices == 0)
        return CLEAVE_OK;
    d.search.progress = o->progress;
    d.search.effort = efforts[o->preset];
    d.search.room = (size_t)(2 * pins) + (1 << 20);
    cleave__random_seed(&d.search.random, o->seed);
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (cleave__problem_init(&d.problem, &d.search.arena, request) &&
        (o->threads <= 1 || (d.search.pool = cleave__pool_new(o->threads)))) {
        d.small = cleave__moves_of(&d) <= SMALL;
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
