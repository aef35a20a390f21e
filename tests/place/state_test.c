/* The state of a partition under random moves: what is kept up to date equals a fresh count after
 * every move, gains are what moves then cost, and merging or cutting out levels keeps them sound.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "place/multilevel/two.h"
#include "place/nets.h"
#include "support/property.h"

enum { N = 12, E = 14, K = 4, W = 2 };

struct world {
    struct cleave_arena arena;
    struct cleave__level raw;
    const struct cleave__level *level;
    struct cleave__target target;
    uint64_t net_offset[E + 1], vertex_offset[N + 1];
    uint32_t pin[E * 6], incident[E * 6], home[N], apart_offset[N + 1], apart[2 * N];
    int64_t weight[N * W], net_weight[E], home_cost[N], limit[K * W], floor[K * W];
    int32_t fixed[N];
    uint32_t least[K], width[K], identity[N], block[N];
};

static void draw_world(struct property_source *s, struct world *w)
{
    memset(w, 0, sizeof *w);
    uint32_t n = 2 + (uint32_t)property_draw(s, N - 1), nets = (uint32_t)property_draw(s, E + 1);
    uint32_t k = 1 + (uint32_t)property_draw(s, K);
    const struct nets arrays = {w->net_offset, w->vertex_offset, w->pin, w->incident,
                                w->net_weight};
    draw_nets(s, &arrays, n, nets, 0, 6);
    for (uint32_t i = 0; i < n * W; i++)
        w->weight[i] = property_between(s, 0, 9);
    for (uint32_t i = 0; i < k * W; i++)
        w->limit[i] = property_between(s, 0, 40);
    for (uint32_t i = 0; i < k * W; i++)
        w->floor[i] = property_draw(s, (uint64_t)w->limit[i] + 1);
    for (uint32_t v = 0; v < n; v++) {
        w->fixed[v] = property_draw(s, 5) == 1 ? (int32_t)property_draw(s, k) : CLEAVE_FREE;
        w->home[v] = (uint32_t)property_draw(s, k);
        w->home_cost[v] = property_between(s, 0, 5);
        w->block[v] = w->fixed[v] >= 0 ? (uint32_t)w->fixed[v] : (uint32_t)property_draw(s, k);
        w->identity[v] = v;
    }
    for (uint32_t b = 0; b < k; b++) {
        w->least[b] = (uint32_t)property_draw(s, 3);
        w->width[b] = 1 + (uint32_t)property_draw(s, 2);
    }
    /* Pairs v, v + 1 for some even v. */
    for (uint32_t v = 0; v < n; v++) {
        bool paired = (v | 1) < n && (v % 4 < 2);
        w->apart_offset[v + 1] = w->apart_offset[v] + paired;
        if (paired)
            w->apart[w->apart_offset[v]] = v ^ 1;
    }
    w->raw = (struct cleave__level){.vertices = n,
                                    .nets = nets,
                                    .weights = W,
                                    .net_offset = w->net_offset,
                                    .pin = w->pin,
                                    .vertex_offset = w->vertex_offset,
                                    .incident = w->incident,
                                    .weight = w->weight,
                                    .net_weight = w->net_weight,
                                    .fixed = w->fixed,
                                    .home = w->home,
                                    .home_cost = w->home_cost,
                                    .apart_offset = w->apart_offset,
                                    .apart = w->apart};
    w->target = (struct cleave__target){.blocks = k,
                                        .weights = W,
                                        .objective = (enum cleave_objective)property_draw(s, 3),
                                        .limit = w->limit,
                                        .quota = w->limit,
                                        .floor = property_draw(s, 2) ? w->floor : NULL,
                                        .least = w->least,
                                        .width = w->width,
                                        .budget = property_between(s, 0, 30)};
}

static bool say(const struct property_source *s, const char *what, const char *why)
{
    if (s->verbose)
        printf("%s: %s\n", what, why);
    return false;
}

static bool moves_agree(struct property_source *s, void *context)
{
    (void)context;
    struct world w;
    draw_world(s, &w);
    const char *why;
    bool ok = true;
    struct cleave__state state;
    w.level = cleave__level_contract(&w.arena, &w.arena, &w.raw, w.identity, w.raw.vertices);
    ok = w.level && (cleave__level_check(w.level, &why) || say(s, "level", why));
    if (property_draw(s, 2))
        w.level = &w.raw; /* the first level may have nets of one pin, or none */
    ok = ok &&
         cleave__state_init(&state, &w.arena, w.level, &w.target, w.block, property_draw(s, 2));
    for (uint32_t i = 0; i < 20 && ok; i++) {
        uint32_t v = (uint32_t)property_draw(s, w.raw.vertices);
        uint32_t to = (uint32_t)property_draw(s, w.target.blocks);
        const int64_t *row = cleave__state_affinity(&state, v);
        int64_t gain = row[to] - row[state.block[v]];
        struct cleave__score before = state.score;
        int64_t overload = cleave__state_overload_delta(&state, v, to);
        int64_t conflicts = cleave__state_conflict_delta(&state, v, to);
        if (to == state.block[v])
            continue;
        cleave__state_move(&state, v, to, NULL, NULL);
        ok = (state.score.cost == before.cost - gain || say(s, "move", "gain")) &&
             (state.score.overload == before.overload + overload || say(s, "move", "overload")) &&
             (state.score.conflicts == before.conflicts + conflicts ||
              say(s, "move", "conflicts")) &&
             (cleave__state_check(&state, &why) || say(s, "after a move", why));
    }
    cleave__arena_free(&w.arena);
    return ok;
}

/* The same for two sides: every gain, queued or not, is what the move then brings. */
static bool sides_agree(struct property_source *s, void *context)
{
    (void)context;
    struct world w;
    draw_world(s, &w);
    const char *why;
    struct cleave__two two;
    struct cleave__search search = {0};
    w.target.blocks = 2;
    for (uint32_t v = 0; v < w.raw.vertices; v++) {
        w.block[v] &= 1;
        w.fixed[v] = w.fixed[v] > 1 ? CLEAVE_FREE : w.fixed[v];
        if (w.fixed[v] != CLEAVE_FREE)
            w.block[v] = (uint32_t)w.fixed[v];
    }
    bool ok = cleave__two_init(&two, &search.arena, &w.raw, &w.target, w.block);
    for (uint32_t i = 0; i < 20 && ok; i++) {
        uint32_t v = (uint32_t)property_draw(s, w.raw.vertices);
        bool may = cleave__two_admissible(&two, v), queue = property_draw(s, 2);
        struct cleave__score before = two.score;
        int64_t gain = two.gain[v];
        if (w.fixed[v] != CLEAVE_FREE || cleave__heap_has(&two.heap[two.side[v]], v))
            continue;
        cleave__two_move(&two, v, queue);
        ok = (two.score.cost == before.cost - gain || say(s, "two", "gain")) &&
             (!may ||
              (two.score.overload <= before.overload && two.score.conflicts <= before.conflicts) ||
              say(s, "two", "admissible, but breaks more")) &&
             (cleave__two_check(&two, &why) || say(s, "two", why));
        for (uint32_t u = 0; u < w.raw.vertices && ok; u++) {
            struct cleave__heap *heap = &two.heap[two.side[u]];
            ok = !cleave__heap_has(heap, u) || heap->key[u] == two.gain[u] ||
                 say(s, "two", "a stale key");
        }
    }
    cleave__heap_clear(&two.heap[0]);
    cleave__heap_clear(&two.heap[1]);
    struct cleave__score before = two.score;
    ok = ok && !cleave__two_refine(&search, &two, 3) &&
         (cleave__two_check(&two, &why) || say(s, "two, refined", why)) &&
         (!cleave__score_less(&before, &two.score) || say(s, "two, refined", "made it worse"));
    before.cost = INT64_MAX; /* repair may cost */
    ok = ok && !cleave__two_repair(&search, &two) &&
         (cleave__two_check(&two, &why) || say(s, "two, repaired", why)) &&
         (!cleave__score_less(&before, &two.score) || say(s, "two, repaired", "made it worse"));
    for (uint32_t v = 0; v < w.raw.vertices && ok; v++)
        ok = w.fixed[v] == CLEAVE_FREE || (uint32_t)w.fixed[v] == w.block[v];
    cleave__arena_free(&search.arena);
    return ok;
}

/* Merging vertices of one block changes neither cost nor weights; refinements end consistent and no
 * worse; fixed vertices stay. */
static bool steps_agree(struct property_source *s, void *context)
{
    (void)context;
    struct world w;
    draw_world(s, &w);
    const char *why;
    uint32_t n = w.raw.vertices, cluster[N], coarse_block[N], count, map_count = 0;
    struct cleave__search search = {0};
    cleave__random_seed(&search.random, property_draw(s, 1000));
    struct cleave__state fine, coarse;
    w.target.budget = INT64_MAX;
    const struct cleave__level *level =
        cleave__level_contract(&search.arena, &search.arena, &w.raw, w.identity, n);
    bool ok = level && cleave__state_init(&fine, &search.arena, level, &w.target, w.block, true);
    const int64_t cap[W] = {20, 20};
    ok = ok && !cleave__cluster(&search, level, w.block, cap, 1, cluster, &count);
    for (uint32_t v = 0; v < n && ok; v++) {
        map_count = cluster[v] >= map_count ? cluster[v] + 1 : map_count;
        coarse_block[cluster[v]] = w.block[v];
    }
    ok = ok && map_count == count;
    for (uint32_t v = 0; v < n && ok; v++)
        ok = coarse_block[cluster[v]] == w.block[v] || say(s, "cluster", "across blocks");
    const struct cleave__level *merged =
        ok ? cleave__level_contract(&search.arena, &search.arena, level, cluster, count) : NULL;
    ok = ok && merged && (cleave__level_check(merged, &why) || say(s, "merged level", why)) &&
         cleave__state_init(&coarse, &search.arena, merged, &w.target, coarse_block, true) &&
         (coarse.score.cost == fine.score.cost || say(s, "merged", "cost")) &&
         (coarse.score.overload == fine.score.overload || say(s, "merged", "overload")) &&
         (coarse.score.conflicts == fine.score.conflicts || say(s, "merged", "conflicts"));
    for (uint32_t step = 0; step < 6 && ok; step++) {
        struct cleave__score before = fine.score;
        bool proven;
        enum cleave_status status = step == 0   ? cleave__rebalance(&search, &fine)
                                    : step == 1 ? cleave__refine_labels(&search, &fine, 3)
                                    : step == 2 ? cleave__refine_fm(&search, &fine, 3)
                                    : step == 3 ? cleave__refine_tabu(&search, &fine, 50)
                                    : step == 4 ? cleave__pack(&search, &fine)
                                                : cleave__exact(&search, &fine, 2000, &proven);
        if (step == 0 || step == 4) /* these repair; cost may rise */
            before.cost = fine.score.cost;
        ok = !status && (cleave__state_check(&fine, &why) || say(s, "after a step", why)) &&
             (!cleave__score_less(&before, &fine.score) || say(s, "a step", "made it worse"));
        for (uint32_t v = 0; v < n && ok; v++)
            ok = w.fixed[v] == CLEAVE_FREE || (uint32_t)w.fixed[v] == w.block[v];
    }
    cleave__arena_free(&search.arena);
    return ok;
}

static bool parts_agree(struct property_source *s, void *context)
{
    (void)context;
    struct world w;
    draw_world(s, &w);
    const char *why;
    uint32_t side[N], *back;
    bool split = property_draw(s, 2), ok = true;
    for (uint32_t v = 0; v < w.raw.vertices; v++)
        side[v] = (uint32_t)property_draw(s, 2);
    for (uint32_t which = 0; which < 2 && ok; which++) {
        const struct cleave__level *part =
            cleave__level_extract(&w.arena, &w.raw, side, which, split, &back);
        ok = part && (cleave__level_check(part, &why) || say(s, "part", why));
        int64_t inside = 0, expected = 0;
        for (uint32_t e = 0; ok && e < part->nets; e++)
            inside += part->net_weight[e];
        for (uint32_t e = 0; ok && e < w.raw.nets; e++) {
            uint32_t here = 0;
            uint32_t size = (uint32_t)(w.net_offset[e + 1] - w.net_offset[e]);
            for (uint64_t i = w.net_offset[e]; i < w.net_offset[e + 1]; i++)
                here += side[w.pin[i]] == which;
            if (here >= 2 && (split || here == size))
                expected += w.net_weight[e];
        }
        ok = ok && (inside == expected || say(s, "part", "weight of nets"));
        for (uint32_t v = 0; ok && v < part->vertices; v++)
            ok = side[back[v]] == which && part->fixed[v] == w.fixed[back[v]];
    }
    cleave__arena_free(&w.arena);
    return ok;
}

static void moves(void **state)
{
    (void)state;
    assert_true(property_run("moves agree with a recount", moves_agree, NULL, 3000));
}

static void sides(void **state)
{
    (void)state;
    assert_true(property_run("two sides agree with a recount", sides_agree, NULL, 3000));
}

static void steps(void **state)
{
    (void)state;
    assert_true(property_run("steps keep a partition sound", steps_agree, NULL, 1500));
}

static void parts(void **state)
{
    (void)state;
    assert_true(property_run("parts hold what they should", parts_agree, NULL, 3000));
}

enum { CROWD = 1400, GIANTS = 6, SMALL = 2 * CROWD, NETS = GIANTS + SMALL, BLOCKS = 1024 };

/* A few nets that hold nearly everybody, in as many blocks as there may be: one move into an empty
 * block concerns all of them, and each has a row of a thousand blocks. FM once took minutes. */
static void refinement_is_bounded(void **unused)
{
    (void)unused;
    static uint64_t net_offset[NETS + 1];
    static uint32_t pin[GIANTS * CROWD + 3 * SMALL], block[CROWD], least[BLOCKS];
    static int64_t weight[CROWD], net_weight[NETS], limit[BLOCKS];
    static int32_t fixed[CROWD];
    struct cleave__search search = {0};
    struct cleave__level level = {.vertices = CROWD,
                                  .nets = NETS,
                                  .weights = 1,
                                  .net_offset = net_offset,
                                  .pin = pin,
                                  .weight = weight,
                                  .net_weight = net_weight,
                                  .fixed = fixed};
    const struct cleave__target target = {.blocks = BLOCKS,
                                          .weights = 1,
                                          .limit = limit,
                                          .quota = limit,
                                          .least = least,
                                          .objective = CLEAVE_KM1,
                                          .budget = INT64_MAX};
    struct cleave__state state;
    uint64_t used = 0;
    cleave__random_seed(&search.random, 11);
    for (uint32_t e = 0; e < NETS; e++) {
        uint32_t first = (uint32_t)cleave__random_below(&search.random, CROWD - 3);
        for (uint32_t v = e < GIANTS ? 0 : first; v < (e < GIANTS ? CROWD : first + 3); v++) {
            if (e >= GIANTS || cleave__random_below(&search.random, 100) < 97)
                pin[used++] = v;
        }
        net_offset[e + 1] = used;
        net_weight[e] = (int64_t)cleave__random_below(&search.random, 100);
    }
    for (uint32_t v = 0; v < CROWD; v++) {
        weight[v] = 1;
        fixed[v] = CLEAVE_FREE;
        block[v] = (uint32_t)cleave__random_below(&search.random, BLOCKS);
    }
    for (uint32_t b = 0; b < BLOCKS; b++)
        limit[b] = 10;
    assert_true(cleave__level_transpose(&level, &search.arena));
    assert_true(cleave__state_init(&state, &search.arena, &level, &target, block, 0));
    struct cleave__score before = state.score;
    assert_int_equal(cleave__refine_fm(&search, &state, 8), 0);
    assert_false(cleave__score_less(&before, &state.score));
    uint64_t bound = CLEAVE__FM_LOOKS_FREE + CLEAVE__FM_LOOKS_A_PIN * used;
    assert_true(state.looks <= bound + (uint64_t)CROWD * GIANTS * BLOCKS);
    cleave__arena_free(&search.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(moves), cmocka_unit_test(sides),
                                       cmocka_unit_test(steps), cmocka_unit_test(parts),
                                       cmocka_unit_test(refinement_is_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
