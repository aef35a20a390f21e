/* Copies of chosen vertices: what is said to be saved is saved, by a recount and by brute force. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleave/replicate.h"
#include "place/replicate_state.h"
#include "support/failalloc.h"
#include "support/property.h"

enum { VERTICES_MAX = 300, NETS_MAX = 400, BLOCKS_MAX = 70 };

struct instance {
    struct cleave_hypergraph *h;
    uint32_t block[VERTICES_MAX], vertices[VERTICES_MAX];
    int64_t write_cost[VERTICES_MAX], budget[2], block_budget[2 * BLOCKS_MAX];
    struct cleave_replicate_options o;
};

static struct instance *make(struct property_source *source, uint32_t most_vertices,
                             uint32_t most_nets, uint32_t most_blocks, uint32_t most_chosen)
{
    struct instance *it = calloc(1, sizeof *it);
    static uint64_t offset[NETS_MAX + 1];
    static uint32_t pin[NETS_MAX * 12];
    static int64_t weight[2 * VERTICES_MAX], net_weight[NETS_MAX];
    uint32_t n = 1 + (uint32_t)property_draw(source, most_vertices);
    uint32_t nets = (uint32_t)property_draw(source, most_nets + 1), used = 0;
    for (uint32_t e = 0; e < nets; e++) {
        uint32_t pins = 1 + (uint32_t)property_draw(source, 8);
        for (uint32_t p = 0; p < pins; p++)
            pin[used++] = (uint32_t)property_draw(source, n);
        offset[e + 1] = used;
        net_weight[e] = (int64_t)property_draw(source, 4);
    }
    for (uint32_t i = 0; i < 2 * n; i++)
        weight[i] = (int64_t)property_draw(source, 3);
    struct cleave_error error;
    if (cleave_hypergraph_new(n, nets, offset, pin, 2, weight, net_weight, &it->h, &error))
        abort();
    it->o.blocks = 1 + (uint32_t)property_draw(source, most_blocks);
    it->o.objective = (enum cleave_objective)property_draw(source, 3);
    for (uint32_t v = 0; v < n; v++)
        it->block[v] = (uint32_t)property_draw(source, it->o.blocks);
    for (uint32_t v = 0; v < n && it->o.count < most_chosen; v++) {
        if (property_draw(source, 4) == 0)
            continue;
        it->vertices[it->o.count] = n - 1 - v;
        it->write_cost[it->o.count++] = (int64_t)property_draw(source, 3);
    }
    it->o.vertices = it->vertices;
    if (property_draw(source, 4))
        it->o.write_cost = it->write_cost;
    if (property_draw(source, 3) == 0) {
        it->budget[0] = (int64_t)property_draw(source, 8);
        it->budget[1] = (int64_t)property_draw(source, 30);
        it->o.budget = it->budget;
    }
    if (property_draw(source, 3) == 0) {
        for (uint32_t i = 0; i < 2 * it->o.blocks; i++)
            it->block_budget[i] = (int64_t)property_draw(source, 5);
        it->o.block_budget = it->block_budget;
    }
    return it;
}

static void unmake(struct instance *it)
{
    cleave_hypergraph_free(it->h);
    free(it);
}

static void print(const struct instance *it)
{
    printf("%u blocks, objective %d\n", it->o.blocks, (int)it->o.objective);
    for (uint32_t e = 0; e < it->h->nets; e++) {
        printf("net %u, weight %lld:", e, (long long)it->h->net_weight[e]);
        for (uint64_t i = it->h->net_offset[e]; i < it->h->net_offset[e + 1]; i++)
            printf(" %u", it->h->pin[i]);
        printf("\n");
    }
    for (uint32_t v = 0; v < it->h->vertices; v++)
        printf("vertex %u in %u\n", v, it->block[v]);
    for (uint32_t i = 0; i < it->o.count; i++)
        printf("chosen %u, write cost %lld\n", it->vertices[i],
               it->o.write_cost ? (long long)it->write_cost[i] : 0LL);
}

/* ---- brute force, at most 16 blocks ---- */

/* Blocks of each vertex as bits. */
static void spread(const struct instance *it, const uint32_t *sets, uint32_t *where)
{
    for (uint32_t v = 0; v < it->h->vertices; v++)
        where[v] = 1u << it->block[v];
    for (uint32_t i = 0; i < it->o.count; i++)
        where[it->vertices[i]] = sets[i];
}

static int64_t naive_nets(const struct instance *it, const uint32_t *where)
{
    int64_t sum = 0;
    for (uint32_t e = 0; e < it->h->nets; e++) {
        int best = 99;
        for (uint32_t set = 0; set < 1u << it->o.blocks; set++) {
            bool all = true;
            for (uint64_t i = it->h->net_offset[e]; i < it->h->net_offset[e + 1]; i++)
                all &= (where[it->h->pin[i]] & set) != 0;
            if (all && __builtin_popcount(set) < best)
                best = __builtin_popcount(set);
        }
        if (best > 1)
            sum += it->h->net_weight[e] * (it->o.objective == CLEAVE_CUT   ? 1
                                           : it->o.objective == CLEAVE_KM1 ? best - 1
                                                                           : best);
    }
    return sum;
}

static bool within_budgets(const struct instance *it, const uint32_t *sets)
{
    for (uint32_t c = 0; c < 2; c++) {
        int64_t all = 0;
        for (uint32_t b = 0; b < it->o.blocks; b++) {
            int64_t here = 0;
            for (uint32_t i = 0; i < it->o.count; i++) {
                uint32_t v = it->vertices[i];
                if (b != it->block[v] && sets[i] >> b & 1)
                    here += it->h->vertex_weight[2 * v + c];
            }
            if (it->o.block_budget && here > it->block_budget[2 * b + c])
                return false;
            all += here;
        }
        if (it->o.budget && all > it->budget[c])
            return false;
    }
    return true;
}

static int64_t naive_cost(const struct instance *it, const uint32_t *sets)
{
    uint32_t where[VERTICES_MAX];
    spread(it, sets, where);
    int64_t sum = naive_nets(it, where);
    for (uint32_t i = 0; i < it->o.count && it->o.write_cost; i++)
        sum += it->write_cost[i] * (__builtin_popcount(sets[i]) - 1);
    return sum;
}

/* The least cost of all choices of copies from vertex i on. */
static int64_t optimum(const struct instance *it, uint32_t *sets, uint32_t i)
{
    if (i == it->o.count)
        return within_budgets(it, sets) ? naive_cost(it, sets) : INT64_MAX;
    int64_t best = INT64_MAX;
    uint32_t home = 1u << it->block[it->vertices[i]];
    for (uint32_t set = 0; set < 1u << it->o.blocks; set++) {
        if (!(set & home))
            continue;
        sets[i] = set;
        int64_t cost = optimum(it, sets, i + 1);
        best = cost < best ? cost : best;
    }
    return best;
}

static bool same(const struct cleave_replicate_result *a, const struct cleave_replicate_result *b)
{
    return a->before == b->before && a->nets == b->nets && a->writes == b->writes &&
           a->saved == b->saved && a->copies == b->copies && a->added[0] == b->added[0] &&
           a->added[1] == b->added[1];
}

struct totals {
    int64_t saved, possible;
    uint32_t cases, optimal;
};

static bool agrees_with_brute_force(struct property_source *source, void *context)
{
    struct totals *totals = context;
    struct instance *it = make(source, 7, 7, 4, 4);
    struct cleave_copies copies;
    struct cleave_replicate_result said, recount;
    struct cleave_error error = {0};
    uint32_t sets[VERTICES_MAX] = {0};
    bool ok = cleave_replicate(it->h, &it->o, it->block, &copies, &said, &error) == CLEAVE_OK;
    ok = ok &&
         cleave_replicate_measure(it->h, &it->o, it->block, &copies, &recount, &error) == CLEAVE_OK;
    if (ok) {
        for (uint32_t i = 0; i < copies.count; i++) {
            for (uint64_t j = copies.offset[i]; j < copies.offset[i + 1]; j++)
                sets[i] |= 1u << copies.block[j];
        }
        int64_t cost = naive_cost(it, sets);
        ok = same(&said, &recount) && cost == said.nets + said.writes && said.saved >= 0 &&
             within_budgets(it, sets);
        int64_t best = optimum(it, sets, 0);
        ok = ok && best <= cost;
        totals->saved += said.saved;
        totals->possible += said.before - best;
        totals->cases++;
        totals->optimal += best == cost;
        cleave_copies_free(&copies);
    }
    if (!ok && source->verbose)
        print(it);
    unmake(it);
    return ok;
}

static void brute_force(void **state)
{
    (void)state;
    struct totals totals = {0};
    assert_true(property_run("replicate, brute force", agrees_with_brute_force, &totals, 4000));
    printf("saved %lld of %lld possible; optimal in %u of %u cases\n", (long long)totals.saved,
           (long long)totals.possible, totals.optimal, totals.cases);
    assert_true(totals.saved * 100 >= totals.possible * 97);
}

static bool recount_agrees(struct property_source *source, void *context)
{
    (void)context;
    struct instance *it = make(source, VERTICES_MAX, NETS_MAX - 1, BLOCKS_MAX, VERTICES_MAX);
    struct cleave_copies copies, again;
    struct cleave_replicate_result said, recount, twice;
    struct cleave_error error = {0};
    bool ok = cleave_replicate(it->h, &it->o, it->block, &copies, &said, &error) == CLEAVE_OK &&
              cleave_replicate(it->h, &it->o, it->block, &again, &twice, &error) == CLEAVE_OK;
    if (ok) {
        ok = cleave_replicate_measure(it->h, &it->o, it->block, &copies, &recount, &error) ==
                 CLEAVE_OK &&
             same(&said, &recount) && said.saved >= 0 && same(&said, &twice) &&
             copies.offset[copies.count] == again.offset[copies.count] &&
             memcmp(copies.block, again.block,
                    copies.offset[copies.count] * sizeof *copies.block) == 0;
        cleave_copies_free(&copies);
        cleave_copies_free(&again);
    }
    if (!ok && source->verbose)
        printf("%s; said %lld + %lld, recount %lld + %lld\n", error.message, (long long)said.nets,
               (long long)said.writes, (long long)recount.nets, (long long)recount.writes);
    unmake(it);
    return ok;
}

static void recount(void **state)
{
    (void)state;
    assert_true(property_run("replicate, recount", recount_agrees, NULL, 150));
}

/* Copies added and dropped at random: costs kept up to date are the recount's at every step. */
static bool is_counted_right(const struct instance *it, const struct cleave__copies *state)
{
    static uint64_t offset[VERTICES_MAX + 1];
    static uint32_t blocks[VERTICES_MAX * BLOCKS_MAX];
    struct cleave_copies copies = {it->o.count, offset, blocks};
    struct cleave_replicate_result r;
    struct cleave_error error;
    uint64_t used = 0;
    for (uint32_t s = 0; s < it->o.count; s++) {
        for (uint32_t b = 0; b < it->o.blocks; b++) {
            if (cleave__copies_has(state, s, b))
                blocks[used++] = b;
        }
        offset[s + 1] = used;
    }
    return cleave_replicate_measure(it->h, &it->o, it->block, &copies, &r, &error) == CLEAVE_OK &&
           r.nets == state->nets && r.writes == state->writes && r.copies == state->copies &&
           r.added[0] == state->added[0] && r.added[1] == state->added[1];
}

static bool stays_right(struct property_source *source, void *context)
{
    (void)context;
    struct instance *it = make(source, 30, 30, property_draw(source, 4) ? 6 : BLOCKS_MAX, 30);
    struct cleave__copies state;
    struct cleave_error error;
    if (cleave__copies_init(&state, it->h, &it->o, it->block, &error))
        abort();
    bool ok = is_counted_right(it, &state);
    for (uint32_t step = 0; ok && it->o.count && step < 40; step++) {
        uint32_t s = (uint32_t)property_draw(source, it->o.count);
        uint32_t b = (uint32_t)property_draw(source, it->o.blocks);
        int64_t before = state.nets + state.writes, fell = 0;
        if (!cleave__copies_has(&state, s, b)) {
            cleave__copies_gains(&state, s);
            int64_t gain = state.gain[b];
            fell = cleave__copies_add(&state, s, b);
            /* Past 16 blocks in question a cover is no least one: then gains are estimates. */
            ok = it->o.blocks > 16 || gain == fell + (it->o.write_cost ? it->write_cost[s] : 0);
        } else if (b != it->block[it->vertices[s]]) {
            fell = cleave__copies_drop(&state, s, b);
        }
        ok = ok && before - fell == state.nets + state.writes && is_counted_right(it, &state);
    }
    cleave__copies_free(&state);
    if (!ok && source->verbose)
        print(it);
    unmake(it);
    return ok;
}

static void state_is_kept_up(void **state)
{
    (void)state;
    assert_true(property_run("replicate, state", stays_right, NULL, 600));
}

static bool joint_agrees(struct property_source *source, void *context)
{
    (void)context;
    struct instance *it = make(source, 40, 60, 5, 40);
    struct cleave_partition_options o = {.blocks = it->o.blocks,
                                         .epsilon = (double)property_draw(source, 4) / 4,
                                         .objective = it->o.objective,
                                         .preset = CLEAVE_FAST,
                                         .seed = 1};
    uint32_t plain[VERTICES_MAX];
    struct cleave_copies copies;
    struct cleave_replicate_result said, recount;
    struct cleave_partition_result divided, measured;
    struct cleave_error error = {0};
    int32_t fixed[VERTICES_MAX];
    uint32_t together[VERTICES_MAX], pair[1][2] = {{0, it->h->vertices - 1}};
    if (property_draw(source, 3) == 0) {
        o.warm_start = it->block;
        o.migration_budget = (int64_t)property_draw(source, 3) * 5;
    }
    for (uint32_t v = 0; v < it->h->vertices; v++) {
        fixed[v] = property_draw(source, 5) ? CLEAVE_FREE : (int32_t)it->block[v];
        together[v] = property_draw(source, 6) ? 0 : 7;
    }
    if (property_draw(source, 3) == 0)
        o.fixed = fixed;
    if (property_draw(source, 4) == 0)
        o.together = together;
    if (property_draw(source, 4) == 0 && it->h->vertices > 1) {
        o.apart = (const uint32_t(*)[2])pair;
        o.apart_count = 1;
    }
    enum cleave_status status =
        cleave_replicate_partition(it->h, &o, &it->o, plain, &divided, &copies, &said, &error);
    bool ok = status == CLEAVE_OK || status == CLEAVE_UNSATISFIABLE;
    if (ok) {
        ok = cleave_replicate_measure(it->h, &it->o, plain, &copies, &recount, &error) ==
                 CLEAVE_OK &&
             same(&said, &recount) && said.saved >= 0 &&
             cleave_partition_measure(it->h, &o, plain, &measured, &error) == CLEAVE_OK &&
             measured.km1 == divided.km1 && measured.cut == divided.cut &&
             (status || measured.balanced);
        for (uint32_t c = 0; ok && c < 2; c++)
            ok = !it->o.budget || said.added[c] <= it->budget[c];
        int64_t moved = 0;
        for (uint32_t v = 0; !status && v < it->h->vertices; v++) {
            moved += plain[v] != it->block[v] ? it->h->vertex_weight[2 * v] : 0;
            ok = ok && (!o.fixed || fixed[v] == CLEAVE_FREE || plain[v] == (uint32_t)fixed[v]);
        }
        ok = ok && (status || !o.migration_budget || moved <= o.migration_budget) &&
             (status || !o.apart || plain[pair[0][0]] != plain[pair[0][1]]);
        cleave_copies_free(&copies);
    }
    if (!ok && source->verbose) {
        print(it);
        printf("status %d: %s\n", (int)status, error.message);
    }
    unmake(it);
    return ok;
}

static void joint(void **state)
{
    (void)state;
    assert_true(property_run("replicate, joint", joint_agrees, NULL, 120));
}

/* Two groups that share nothing but vertices which both read: at once, nothing is cut. */
static void dividing_minds_copies(void **state)
{
    (void)state;
    enum { GROUP = 6, SHARED = 4, N = 2 * GROUP + SHARED };
    uint64_t offset[200] = {0};
    uint32_t pin[600], used = 0, nets = 0, block[N], chosen[SHARED];
    for (uint32_t g = 0; g < 2; g++) {
        for (uint32_t a = 0; a < GROUP; a++) {
            for (uint32_t s = 0; s < SHARED; s++) {
                pin[used++] = g * GROUP + a;
                pin[used++] = g * GROUP + (a + 1) % GROUP;
                pin[used++] = 2 * GROUP + s;
                offset[++nets] = used;
            }
        }
    }
    for (uint32_t s = 0; s < SHARED; s++)
        chosen[s] = 2 * GROUP + s;
    struct cleave_hypergraph *h;
    struct cleave_error error;
    assert_int_equal(cleave_hypergraph_new(N, nets, offset, pin, 1, NULL, NULL, &h, &error), 0);
    struct cleave_partition_options o = {.blocks = 2, .objective = CLEAVE_KM1, .seed = 1};
    struct cleave_replicate_options c = {.vertices = chosen, .count = SHARED};
    struct cleave_copies copies;
    struct cleave_replicate_result r;
    assert_int_equal(cleave_replicate_partition(h, &o, &c, block, NULL, &copies, &r, &error), 0);
    assert_int_equal(r.nets, 0);
    assert_int_equal(r.copies, SHARED);
    cleave_copies_free(&copies);
    c.count = 99;
    assert_int_equal(cleave_replicate_partition(h, &o, &c, block, NULL, &copies, &r, &error),
                     CLEAVE_BAD_ARGUMENT);
    c.count = SHARED;
    o.blocks = 0;
    assert_int_equal(cleave_replicate_partition(h, &o, &c, block, NULL, &copies, &r, &error),
                     CLEAVE_BAD_ARGUMENT);
    cleave_hypergraph_free(h);
}

/* ---- cases by hand ---- */

/* `groups` blocks of two vertices, tied by a net; vertex 0 is read by a net of every group. */
static struct cleave_hypergraph *hub(uint32_t groups)
{
    uint64_t offset[64] = {0};
    uint32_t pin[256], used = 0, nets = 0;
    for (uint32_t g = 0; g < groups; g++) {
        pin[used++] = 0;
        pin[used++] = 1 + 2 * g;
        pin[used++] = 2 + 2 * g;
        offset[++nets] = used;
    }
    struct cleave_hypergraph *h;
    struct cleave_error error;
    assert_int_equal(
        cleave_hypergraph_new(1 + 2 * groups, nets, offset, pin, 1, NULL, NULL, &h, &error), 0);
    return h;
}

static void hub_is_copied_where_it_pays(void **state)
{
    (void)state;
    struct cleave_hypergraph *h = hub(5);
    uint32_t block[11] = {0}, chosen = 0;
    for (uint32_t v = 1; v < 11; v++)
        block[v] = (v - 1) / 2;
    int64_t cost = 0, budget = 2;
    struct cleave_replicate_options o = {
        .blocks = 5, .objective = CLEAVE_KM1, .vertices = &chosen, .write_cost = &cost, .count = 1};
    struct cleave_copies copies;
    struct cleave_replicate_result r;
    struct cleave_error error;
    assert_int_equal(cleave_replicate(h, &o, block, &copies, &r, &error), 0);
    assert_int_equal(r.before, 4);
    assert_int_equal(r.saved, 4);
    assert_int_equal(r.copies, 4);
    assert_int_equal(copies.offset[1], 5);
    cleave_copies_free(&copies);
    o.budget = &budget;
    assert_int_equal(cleave_replicate(h, &o, block, &copies, &r, &error), 0);
    assert_int_equal(r.saved, 2);
    assert_int_equal(r.added[0], 2);
    cleave_copies_free(&copies);
    cost = 1; /* a copy saves as much as its writes cost: none is made */
    assert_int_equal(cleave_replicate(h, &o, block, &copies, &r, &error), 0);
    assert_int_equal(r.copies, 0);
    cleave_copies_free(&copies);
    cleave_hypergraph_free(h);
}

/* Two pins hold the net in block 0; only copies of both help. */
static void pairs_are_seen(void **state)
{
    (void)state;
    uint64_t offset[] = {0, 4};
    uint32_t pin[] = {0, 1, 2, 3}, block[] = {0, 0, 1, 1}, chosen[] = {0, 1};
    int64_t weight[] = {5};
    for (int objective = CLEAVE_CUT; objective <= CLEAVE_SOED; objective++) {
        struct cleave_hypergraph *h;
        struct cleave_copies copies;
        struct cleave_replicate_result r;
        struct cleave_error error;
        assert_int_equal(cleave_hypergraph_new(4, 1, offset, pin, 1, NULL, weight, &h, &error), 0);
        struct cleave_replicate_options o = {.blocks = 2,
                                             .objective = (enum cleave_objective)objective,
                                             .vertices = chosen,
                                             .count = 2};
        assert_int_equal(cleave_replicate(h, &o, block, &copies, &r, &error), 0);
        assert_int_equal(r.nets, 0);
        assert_int_equal(r.copies, 2);
        cleave_copies_free(&copies);
        cleave_hypergraph_free(h);
    }
}

/* One pin in each of blocks 0 and 1, two in 2: the net stays cut until both have a copy in 2. */
static void a_net_is_gathered(void **state)
{
    (void)state;
    uint64_t offset[] = {0, 4};
    uint32_t pin[] = {0, 1, 2, 3}, block[] = {0, 1, 2, 2}, chosen[] = {0, 1};
    struct cleave_hypergraph *h;
    struct cleave_copies copies;
    struct cleave_replicate_result r;
    struct cleave_error error;
    assert_int_equal(cleave_hypergraph_new(4, 1, offset, pin, 1, NULL, NULL, &h, &error), 0);
    struct cleave_replicate_options o = {
        .blocks = 3, .objective = CLEAVE_CUT, .vertices = chosen, .count = 2};
    assert_int_equal(cleave_replicate(h, &o, block, &copies, &r, &error), 0);
    assert_int_equal(r.saved, 1);
    cleave_copies_free(&copies);
    cleave_hypergraph_free(h);
}

static void refused(const struct cleave_hypergraph *h, const struct cleave_replicate_options *o,
                    const uint32_t *block, enum cleave_status status)
{
    struct cleave_copies copies = {.count = 77};
    struct cleave_replicate_result r;
    struct cleave_error error = {0};
    assert_int_equal(cleave_replicate(h, o, block, &copies, &r, &error), status);
    assert_int_equal(copies.count, 77);
    assert_true(error.message[0] != 0);
}

static void senseless_requests(void **state)
{
    (void)state;
    struct cleave_hypergraph *h = hub(2);
    uint32_t block[5] = {0, 0, 0, 1, 1}, chosen[2] = {0, 1};
    int64_t cost[2] = {0}, budget[1] = {1}, block_budget[2] = {1, 1};
    struct cleave_replicate_options good = {.blocks = 2,
                                            .vertices = chosen,
                                            .write_cost = cost,
                                            .count = 2,
                                            .budget = budget,
                                            .block_budget = block_budget},
                                    o = good;
    o.blocks = 0;
    refused(h, &o, block, CLEAVE_BAD_ARGUMENT);
    o.blocks = 1025;
    refused(h, &o, block, CLEAVE_BAD_ARGUMENT);
    o = good;
    o.objective = (enum cleave_objective)9;
    refused(h, &o, block, CLEAVE_BAD_ARGUMENT);
    o = good;
    o.count = 6;
    refused(h, &o, block, CLEAVE_BAD_ARGUMENT);
    o = good;
    o.vertices = NULL;
    refused(h, &o, block, CLEAVE_BAD_ARGUMENT);
    chosen[1] = 0;
    refused(h, &good, block, CLEAVE_BAD_ARGUMENT);
    chosen[1] = 5;
    refused(h, &good, block, CLEAVE_BAD_ARGUMENT);
    chosen[1] = 1;
    block[2] = 2;
    refused(h, &good, block, CLEAVE_BAD_ARGUMENT);
    block[2] = 0;
    cost[0] = -1;
    refused(h, &good, block, CLEAVE_BAD_ARGUMENT);
    cost[0] = INT64_MAX;
    refused(h, &good, block, CLEAVE_LIMIT);
    cost[0] = 0;
    budget[0] = -1;
    refused(h, &good, block, CLEAVE_BAD_ARGUMENT);
    budget[0] = 1;
    block_budget[1] = -1;
    refused(h, &good, block, CLEAVE_BAD_ARGUMENT);
    block_budget[1] = 1;

    /* A recount of copies that do not fit. */
    struct cleave_replicate_result r;
    struct cleave_error error;
    uint64_t offset[] = {0, 1, 2};
    uint32_t blocks[] = {0, 0};
    struct cleave_copies copies = {2, offset, blocks};
    assert_int_equal(cleave_replicate_measure(h, &good, block, &copies, &r, &error), 0);
    blocks[1] = 1; /* vertex 1 is in block 0 */
    assert_int_equal(cleave_replicate_measure(h, &good, block, &copies, &r, &error),
                     CLEAVE_BAD_ARGUMENT);
    blocks[1] = 2;
    assert_int_equal(cleave_replicate_measure(h, &good, block, &copies, &r, &error),
                     CLEAVE_BAD_ARGUMENT);
    blocks[1] = 0;
    copies.count = 1;
    assert_int_equal(cleave_replicate_measure(h, &good, block, &copies, &r, &error),
                     CLEAVE_BAD_ARGUMENT);
    copies.count = 2;
    offset[1] = 3;
    assert_int_equal(cleave_replicate_measure(h, &good, block, &copies, &r, &error),
                     CLEAVE_BAD_ARGUMENT);
    cleave_copies_free(NULL);
    cleave_hypergraph_free(h);
}

static void heavy_weights_are_refused(void **state)
{
    (void)state;
    uint64_t offset[] = {0, 2};
    uint32_t pin[] = {0, 1}, block[] = {0, 1}, chosen[] = {0};
    int64_t weight[] = {INT64_C(1) << 59, 1};
    struct cleave_hypergraph *h;
    struct cleave_error error;
    assert_int_equal(cleave_hypergraph_new(2, 1, offset, pin, 1, weight, NULL, &h, &error), 0);
    struct cleave_replicate_options o = {.blocks = 1024, .vertices = chosen, .count = 1};
    refused(h, &o, block, CLEAVE_LIMIT);
    cleave_hypergraph_free(h);
}

static void stops_when_asked(void **state)
{
    (void)state;
    enum { N = 5000 };
    uint64_t *offset = calloc(N + 1, sizeof *offset);
    uint32_t *pin = calloc(2 * N, sizeof *pin), *block = calloc(N + 1, sizeof *block);
    for (uint32_t e = 0; e < N; e++) {
        pin[2 * e] = e;
        pin[2 * e + 1] = e + 1;
        block[e] = e % 2;
        offset[e + 1] = 2 * (e + 1);
    }
    struct cleave_hypergraph *h;
    struct cleave_error error;
    assert_int_equal(cleave_hypergraph_new(N + 1, N, offset, pin, 1, NULL, NULL, &h, &error), 0);
    volatile sig_atomic_t stop = 1;
    struct cleave_progress progress = {.stop = &stop};
    struct cleave_replicate_options o = {
        .blocks = 2, .vertices = pin, .count = 0, .progress = &progress};
    uint32_t *chosen = calloc(N, sizeof *chosen);
    for (uint32_t v = 0; v < N; v++)
        chosen[v] = v;
    o.vertices = chosen;
    o.count = N;
    refused(h, &o, block, CLEAVE_INTERRUPTED);
    free(chosen);
    free(offset);
    free(pin);
    free(block);
    cleave_hypergraph_free(h);
}

static bool attempt(void *context)
{
    struct cleave_hypergraph *h = context;
    uint32_t block[11] = {0}, chosen[3] = {0, 1, 4};
    for (uint32_t v = 1; v < 11; v++)
        block[v] = (v - 1) / 2;
    int64_t budget = 2;
    struct cleave_replicate_options o = {
        .blocks = 5, .objective = CLEAVE_KM1, .vertices = chosen, .count = 3, .budget = &budget};
    struct cleave_copies copies;
    struct cleave_replicate_result r;
    struct cleave_error error;
    enum cleave_status status = cleave_replicate(h, &o, block, &copies, &r, &error);
    if (status)
        return status == CLEAVE_NO_MEMORY;
    status = cleave_replicate_measure(h, &o, block, &copies, &r, &error);
    cleave_copies_free(&copies);
    return !status || status == CLEAVE_NO_MEMORY;
}

static bool attempt_joint(void *context)
{
    struct cleave_hypergraph *h = context;
    uint32_t block[11], chosen[3] = {0, 1, 4};
    struct cleave_partition_options p = {
        .blocks = 2, .objective = CLEAVE_KM1, .preset = CLEAVE_FAST};
    struct cleave_replicate_options o = {.vertices = chosen, .count = 3};
    struct cleave_copies copies;
    struct cleave_error error;
    enum cleave_status status =
        cleave_replicate_partition(h, &p, &o, block, NULL, &copies, NULL, &error);
    if (!status)
        cleave_copies_free(&copies);
    return !status || status == CLEAVE_NO_MEMORY;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct cleave_hypergraph *h = hub(5);
    assert_true(failalloc_run("replicate", attempt, h, 1));
    assert_true(failalloc_run("replicate, joint", attempt_joint, h, 9));
    cleave_hypergraph_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brute_force),           cmocka_unit_test(recount),
        cmocka_unit_test(state_is_kept_up),      cmocka_unit_test(joint),
        cmocka_unit_test(dividing_minds_copies), cmocka_unit_test(hub_is_copied_where_it_pays),
        cmocka_unit_test(pairs_are_seen),        cmocka_unit_test(a_net_is_gathered),
        cmocka_unit_test(senseless_requests),    cmocka_unit_test(heavy_weights_are_refused),
        cmocka_unit_test(stops_when_asked),      cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
