/* Flow refinement: cuts of a pair against every assignment there is, what it promises to keep on
 * random partitions, the same answer with any number of threads, and failing allocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "place/multilevel/flow_part.h"
#include "place/nets.h"
#include "support/failalloc.h"
#include "support/property.h"

enum { N = 16, E = 24, SIZE = 6, K = 4, W = 2, TINY = 9 };

struct world {
    struct cleave__search search;
    struct cleave__level raw;
    const struct cleave__level *level;
    struct cleave__target target;
    struct cleave__state state;
    uint64_t net_offset[E + 1], vertex_offset[N + 1];
    uint32_t pin[E * SIZE], incident[E * SIZE], home[N], apart_offset[N + 1], apart[2 * N];
    int64_t weight[N * W], net_weight[E], home_cost[N], limit[K * W], quota[K * W], floor[K * W];
    int32_t fixed[N];
    uint32_t least[K], identity[N], block[N];
};

/* Blocks 2 .. k - 1 get fixed vertices only when `tiny`; limits are then out of the way. */
static bool draw_world(struct property_source *s, struct world *w, bool tiny)
{
    memset(w, 0, sizeof *w);
    uint32_t n = 2 + (uint32_t)property_draw(s, (tiny ? TINY : N) - 1);
    uint32_t nets = (uint32_t)property_draw(s, E + 1), k = 2 + (uint32_t)property_draw(s, K - 1);
    static const enum cleave_objective objectives[] = {CLEAVE_KM1, CLEAVE_CUT, CLEAVE_SOED};
    const struct nets arrays = {w->net_offset, w->vertex_offset, w->pin, w->incident,
                                w->net_weight};
    draw_nets(s, &arrays, n, nets, 2, SIZE - 1);
    uint32_t weights = 1 + (uint32_t)property_draw(s, W);
    int64_t total[W] = {0};
    for (uint32_t i = 0; i < n * weights; i++) {
        w->weight[i] = property_between(s, 0, 5);
        total[i % weights] += w->weight[i];
    }
    for (uint32_t i = 0; i < k * weights; i++) {
        w->quota[i] = total[i % weights] / k + property_between(s, 0, 2);
        w->limit[i] = w->quota[i] + property_between(s, 0, 6);
        w->floor[i] = w->quota[i] - property_between(s, 0, 6);
        w->floor[i] = w->floor[i] > 0 ? w->floor[i] : 0;
        if (tiny)
            w->quota[i] = w->limit[i] = 1000;
    }
    for (uint32_t v = 0; v < n; v++) {
        w->block[v] = (uint32_t)property_draw(s, k);
        w->fixed[v] = property_draw(s, 5) == 1 ? (int32_t)w->block[v] : CLEAVE_FREE;
        if (tiny && w->block[v] > 1)
            w->fixed[v] = (int32_t)w->block[v];
        w->home[v] = (uint32_t)property_draw(s, k);
        w->home_cost[v] = property_between(s, 0, 5);
        w->identity[v] = v;
    }
    for (uint32_t b = 0; b < k; b++)
        w->least[b] = tiny ? 0 : (uint32_t)property_draw(s, 3);
    bool home = property_draw(s, 3) == 1 && !tiny, apart = property_draw(s, 3) == 1 && !tiny;
    for (uint32_t v = 0; v < n; v++) {
        bool paired = (v | 1) < n && (v % 4 < 2);
        w->apart_offset[v + 1] = w->apart_offset[v] + paired;
        if (paired)
            w->apart[w->apart_offset[v]] = v ^ 1;
    }
    w->raw = (struct cleave__level){.vertices = n,
                                    .nets = nets,
                                    .weights = weights,
                                    .net_offset = w->net_offset,
                                    .pin = w->pin,
                                    .vertex_offset = w->vertex_offset,
                                    .incident = w->incident,
                                    .weight = w->weight,
                                    .net_weight = w->net_weight,
                                    .fixed = w->fixed,
                                    .home = home ? w->home : NULL,
                                    .home_cost = home ? w->home_cost : NULL,
                                    .apart_offset = apart ? w->apart_offset : NULL,
                                    .apart = apart ? w->apart : NULL};
    w->target = (struct cleave__target){.blocks = k,
                                        .weights = weights,
                                        .objective = objectives[property_draw(s, 3)],
                                        .limit = w->limit,
                                        .quota = w->quota,
                                        .floor = !tiny && property_draw(s, 2) ? w->floor : NULL,
                                        .least = w->least,
                                        .budget = home ? property_between(s, 0, 30) : INT64_MAX};
    w->level = cleave__level_contract(&w->search.arena, &w->search.arena, &w->raw, w->identity, n);
    return w->level &&
           cleave__state_init(&w->state, &w->search.arena, w->level, &w->target, w->block,
                              property_draw(s, 2) ? cleave__full_room(w->level, k) : 0);
}

static bool say(const struct property_source *s, const char *what, long long a, long long b)
{
    if (s->verbose)
        printf("%s: %lld, %lld\n", what, a, b);
    return false;
}

static void print(const struct world *w)
{
    const struct cleave__level *l = w->level;
    printf("k %u, W %u, objective %d\n", w->target.blocks, l->weights, (int)w->target.objective);
    for (uint32_t v = 0; v < l->vertices; v++)
        printf("vertex %u: block %u, fixed %d, weight %lld\n", v, w->block[v], l->fixed[v],
               (long long)l->weight[(size_t)v * l->weights]);
    for (uint32_t e = 0; e < l->nets; e++) {
        printf("net of weight %lld:", (long long)l->net_weight[e]);
        for (uint64_t i = l->net_offset[e]; i < l->net_offset[e + 1]; i++)
            printf(" %u", l->pin[i]);
        printf("\n");
    }
}

/* What the proposal for blocks 0 and 1 saves; applied when asked to. */
static bool propose(struct world *w, const struct cleave__flow_options *o, bool apply,
                    int64_t *gain)
{
    struct cleave__flow flow;
    uint32_t seed[E], move[N], moves = 0;
    for (uint32_t e = 0; e < w->level->nets; e++)
        seed[e] = e;
    struct cleave__flow_pair pair = {
        .state = &w->state, .options = o, .block = {0, 1}, .seed = seed, .seeds = w->level->nets};
    bool ok = cleave__flow_init(&flow, &w->search, w->level);
    flow.work_limit = UINT64_MAX;
    ok = ok && cleave__flow_region(&flow, &pair);
    if (ok)
        *gain = cleave__flow_cut(&flow, &pair, move, &moves);
    for (uint32_t i = 0; ok && apply && i < moves; i++)
        cleave__state_move(&w->state, move[i], 1 - w->block[move[i]], NULL, NULL);
    cleave__arena_free(&flow.arena);
    return ok;
}

/* The least cost over all assignments of the free vertices of blocks 0 and 1 to these. */
static int64_t brute_force(struct world *w)
{
    uint32_t free[N], count = 0;
    for (uint32_t v = 0; v < w->level->vertices; v++) {
        if (w->block[v] < 2 && w->level->fixed[v] == CLEAVE_FREE)
            free[count++] = v;
    }
    int64_t best = w->state.score.cost;
    for (uint32_t code = 0; code < 1u << count; code++) {
        for (uint32_t i = 0; i < count; i++)
            w->block[free[i]] = code >> i & 1;
        cleave__state_recount(&w->state);
        best = w->state.score.cost < best ? w->state.score.cost : best;
    }
    return best;
}

static bool least_cut(struct property_source *s, void *context)
{
    (void)context;
    struct world w;
    const struct cleave__flow_options o = {
        .rounds = 1, .alpha = 16, .distance = 1000, .pins = 100000};
    bool ok = draw_world(s, &w, true);
    int64_t gain = 0, before = w.state.score.cost;
    if (ok && s->verbose)
        print(&w);
    ok = ok && propose(&w, &o, true, &gain) &&
         (w.state.score.cost == before - gain || say(s, "gain", gain, before - w.state.score.cost));
    int64_t best = ok ? brute_force(&w) : 0;
    ok = ok && (best == before - gain || say(s, "least cut", best, before - gain));
    cleave__arena_free(&w.search.arena);
    return ok;
}

static bool keeps_promises(struct property_source *s, void *context)
{
    (void)context;
    struct world w;
    const struct cleave__flow_options o = {.rounds = (uint32_t)property_draw(s, 4),
                                           .alpha = (uint32_t)property_draw(s, 20),
                                           .distance = (uint32_t)property_draw(s, 4),
                                           .pins = property_draw(s, 40),
                                           .effort = property_draw(s, 4) == 1 ? 100 : 0};
    const struct cleave__flow_options filled = {
        .rounds = 1, .alpha = 1 + o.alpha, .distance = 1 + o.distance, .pins = 1 + o.pins};
    const char *why = "";
    bool ok = draw_world(s, &w, false);
    struct cleave__score before = w.state.score;
    int64_t moved = w.state.moved, gain = 0;
    if (ok && s->verbose)
        print(&w);
    /* What is proposed saves what it says, at no expense. */
    ok = ok && propose(&w, &filled, true, &gain) &&
         (w.state.score.cost == before.cost - gain ||
          say(s, "gain", gain, before.cost - w.state.score.cost)) &&
         (!cleave__score_less(&before, &w.state.score) || say(s, "proposal", 0, 0));
    struct cleave__score first = w.state.score;
    ok = ok && cleave__refine_flow(&w.search, &w.state, &o) == CLEAVE_OK &&
         (!cleave__score_less(&first, &w.state.score) ||
          say(s, "worse", first.cost, w.state.score.cost)) &&
         (cleave__state_check(&w.state, &why) || say(s, why, 0, 0)) &&
         (w.state.moved <= w.target.budget || w.state.moved <= moved ||
          say(s, "budget", moved, w.state.moved));
    for (uint32_t v = 0; ok && v < w.level->vertices; v++)
        ok = w.fixed[v] == CLEAVE_FREE || (uint32_t)w.fixed[v] == w.block[v] ||
             say(s, "fixed", v, w.block[v]);
    cleave__arena_free(&w.search.arena);
    return ok;
}

/* A chain of ten, its blocks in two pieces or in ten: every least cut costs one net, and only the
 * one in the middle is even. */
static void refine_chain(bool pieces, int64_t cost)
{
    enum { CHAIN = 10 };
    uint64_t net_offset[CHAIN], vertex_offset[CHAIN + 1] = {0};
    uint32_t pin[2 * CHAIN], incident[2 * CHAIN], block[CHAIN], used = 0;
    int64_t weight[CHAIN], net_weight[CHAIN], limit[2] = {9, 9}, quota[2] = {5, 5};
    int32_t fixed[CHAIN];
    uint32_t least[2] = {0};
    for (uint32_t v = 0; v < CHAIN; v++) {
        net_offset[v] = 2 * v;
        pin[2 * v] = v;
        pin[2 * v + 1] = v + 1;
        if (v > 0)
            incident[used++] = v - 1;
        if (v + 1 < CHAIN)
            incident[used++] = v;
        vertex_offset[v + 1] = used;
        weight[v] = 1;
        net_weight[v] = cost;
        fixed[v] = v == 0 ? 0 : v == CHAIN - 1 ? 1 : CLEAVE_FREE;
        block[v] = pieces ? v % 2 : v > 7;
    }
    const struct cleave__level level = {.vertices = CHAIN,
                                        .nets = CHAIN - 1,
                                        .weights = 1,
                                        .net_offset = net_offset,
                                        .pin = pin,
                                        .vertex_offset = vertex_offset,
                                        .incident = incident,
                                        .weight = weight,
                                        .net_weight = net_weight,
                                        .fixed = fixed};
    const struct cleave__target target = {.blocks = 2,
                                          .weights = 1,
                                          .objective = CLEAVE_KM1,
                                          .limit = limit,
                                          .quota = quota,
                                          .least = least,
                                          .budget = INT64_MAX};
    struct cleave__search search = {0};
    struct cleave__state state;
    assert_true(cleave__state_init(&state, &search.arena, &level, &target, block, 0));
    const struct cleave__flow_options o = {.distance = 20};
    assert_int_equal(cleave__refine_flow(&search, &state, &o), CLEAVE_OK);
    assert_true(state.score.cost == cost);
    assert_int_equal(state.weight[0], 5);
    /* Stopped, it says so. */
    const volatile sig_atomic_t stop = 1;
    const struct cleave_progress progress = {.stop = &stop};
    search.progress = &progress;
    assert_int_equal(cleave__refine_flow(&search, &state, &o), CLEAVE_INTERRUPTED);
    cleave__arena_free(&search.arena);
}

static void most_balanced(void **unused)
{
    (void)unused;
    refine_chain(false, 1);
    refine_chain(true, 1);
    refine_chain(true, INT64_C(1) << 56); /* costs as great as the limits of the model allow */
}

/* Points of a grid that share a net with their neighbours, in blocks that know nothing of it. */
enum { SIDE = 24, GRID = SIDE * SIDE, BLOCKS = 6 };

struct grid {
    uint64_t net_offset[GRID + 1], vertex_offset[GRID + 1];
    uint32_t pin[5 * GRID], incident[5 * GRID], block[GRID], least[BLOCKS];
    int64_t weight[2 * GRID], net_weight[GRID], limit[2 * BLOCKS], quota[2 * BLOCKS];
    int32_t fixed[GRID];
    struct cleave__level level;
    struct cleave__target target;
};

static void make_grid(struct grid *g)
{
    memset(g, 0, sizeof *g);
    uint32_t used = 0, count[GRID] = {0};
    for (uint32_t v = 0; v < GRID; v++) {
        uint32_t x = v % SIDE, y = v / SIDE;
        g->pin[used++] = v;
        if (x + 1 < SIDE)
            g->pin[used++] = v + 1;
        if (y + 1 < SIDE)
            g->pin[used++] = v + SIDE;
        if (v % 7 == 0 && x > 0 && y + 1 < SIDE)
            g->pin[used++] = v - 1 + SIDE;
        if (used - g->net_offset[v] < 2)
            g->pin[used++] = v - 1;
        g->net_offset[v + 1] = used;
        g->weight[2 * v] = 1;
        g->weight[2 * v + 1] = 1 + v % 3;
        g->net_weight[v] = 1 + v % 5 / 2;
        g->fixed[v] = CLEAVE_FREE;
        g->block[v] = v / 3 % BLOCKS;
    }
    for (uint32_t i = 0; i < used; i++)
        g->vertex_offset[g->pin[i] + 1]++;
    for (uint32_t v = 0; v < GRID; v++)
        g->vertex_offset[v + 1] += g->vertex_offset[v];
    for (uint32_t e = 0; e < GRID; e++) {
        for (uint64_t i = g->net_offset[e]; i < g->net_offset[e + 1]; i++) {
            uint32_t v = g->pin[i];
            g->incident[g->vertex_offset[v] + count[v]++] = e;
        }
    }
    for (uint32_t b = 0; b < BLOCKS; b++) {
        g->quota[2 * b] = GRID / BLOCKS;
        g->quota[2 * b + 1] = 2 * GRID / BLOCKS;
        g->limit[2 * b] = GRID / BLOCKS * 6 / 5;
        g->limit[2 * b + 1] = 2 * GRID / BLOCKS * 5 / 4;
        g->least[b] = 1;
    }
    g->level = (struct cleave__level){.vertices = GRID,
                                      .nets = GRID,
                                      .weights = 2,
                                      .net_offset = g->net_offset,
                                      .pin = g->pin,
                                      .vertex_offset = g->vertex_offset,
                                      .incident = g->incident,
                                      .weight = g->weight,
                                      .net_weight = g->net_weight,
                                      .fixed = g->fixed};
    g->target = (struct cleave__target){.blocks = BLOCKS,
                                        .weights = 2,
                                        .objective = CLEAVE_KM1,
                                        .limit = g->limit,
                                        .quota = g->quota,
                                        .least = g->least,
                                        .budget = INT64_MAX};
}

static enum cleave_status refine_grid(struct grid *g, uint32_t threads, int64_t *before,
                                      int64_t *after)
{
    struct cleave__search search = {0};
    struct cleave__state state;
    struct cleave__flow_options o = {.pool = cleave__pool_new(threads), .alpha = 30};
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (o.pool && cleave__state_init(&state, &search.arena, &g->level, &g->target, g->block,
                                     cleave__full_room(&g->level, BLOCKS))) {
        *before = state.score.cost;
        status = cleave__refine_flow(&search, &state, &o);
        const char *why;
        if (!cleave__score_sound(&state.score) ||
            (!status && !cleave__state_check(&state, &why) && strcmp(why, "out of memory") != 0))
            status = CLEAVE_BAD_ARGUMENT;
        *after = state.score.cost;
    }
    cleave__pool_free(o.pool);
    cleave__arena_free(&search.arena);
    return status;
}

static void threads_agree(void **unused)
{
    (void)unused;
    static struct grid alone, together;
    int64_t before, after, other;
    make_grid(&alone);
    assert_int_equal(refine_grid(&alone, 1, &before, &after), CLEAVE_OK);
    assert_true(after < before * 4 / 5);
    for (uint32_t threads = 2; threads <= 4; threads += 2) {
        make_grid(&together);
        assert_int_equal(refine_grid(&together, threads, &before, &other), CLEAVE_OK);
        assert_int_equal(after, other);
        assert_memory_equal(alone.block, together.block, sizeof alone.block);
    }
}

static bool attempt(void *context)
{
    struct grid *g = context;
    int64_t before, after = 0;
    make_grid(g);
    enum cleave_status status = refine_grid(g, 2, &before, &after);
    return status == CLEAVE_OK || status == CLEAVE_NO_MEMORY;
}

static void allocations(void **unused)
{
    (void)unused;
    static struct grid grid;
    assert_true(failalloc_run("flow refinement", attempt, &grid, 1));
}

static void cuts(void **unused)
{
    (void)unused;
    assert_true(property_run("a pair's cut is the least", least_cut, NULL, 3000));
}

static void promises(void **unused)
{
    (void)unused;
    assert_true(property_run("flow refinement keeps its promises", keeps_promises, NULL, 6000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts), cmocka_unit_test(promises), cmocka_unit_test(most_balanced),
        cmocka_unit_test(threads_agree), cmocka_unit_test(allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
