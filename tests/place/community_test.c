/* Communities: planted ones are found, small graphs come near the best modularity there is, and
 * whatever the input, communities are connected, numbered and the same for a seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "place/multilevel/community.h"
#include "place/multilevel/louvain.h"
#include "support/failalloc.h"
#include "support/property.h"

enum { NODES = 40, EDGES = 80, PINS_MAX = 60000 };

/* Nets written one after another, then given their transpose. */
struct nets {
    struct cleave__level level;
    uint64_t *net_offset, *vertex_offset;
    uint32_t *pin, *incident;
    int64_t *net_weight;
};

static void nets_begin(struct nets *h, uint32_t vertices)
{
    *h = (struct nets){.level = {.vertices = vertices}};
    h->net_offset = test_calloc(PINS_MAX, sizeof *h->net_offset);
    h->net_weight = test_calloc(PINS_MAX, sizeof *h->net_weight);
    h->pin = test_calloc(PINS_MAX, sizeof *h->pin);
    h->incident = test_calloc(PINS_MAX, sizeof *h->incident);
    h->vertex_offset = test_calloc(vertices + 2, sizeof *h->vertex_offset);
}

/* A net keeps its distinct pins; it may be left with one. */
static void nets_add(struct nets *h, const uint32_t *pin, uint32_t count, int64_t weight)
{
    uint32_t e = h->level.nets;
    uint64_t end = h->net_offset[e];
    for (uint32_t i = 0; i < count; i++) {
        bool known = false;
        for (uint64_t j = h->net_offset[e]; j < end && count < 100; j++)
            known = known || h->pin[j] == pin[i];
        if (!known)
            h->pin[end++] = pin[i];
    }
    h->net_weight[e] = weight;
    h->net_offset[++h->level.nets] = end;
}

static const struct cleave__level *nets_end(struct nets *h)
{
    uint32_t n = h->level.vertices;
    for (uint64_t i = 0; i < h->net_offset[h->level.nets]; i++)
        h->vertex_offset[h->pin[i] + 2]++;
    for (uint32_t v = 0; v < n; v++)
        h->vertex_offset[v + 2] += h->vertex_offset[v + 1];
    for (uint32_t e = 0; e < h->level.nets; e++) {
        for (uint64_t i = h->net_offset[e]; i < h->net_offset[e + 1]; i++)
            h->incident[h->vertex_offset[h->pin[i] + 1]++] = e;
    }
    h->level.net_offset = h->net_offset;
    h->level.pin = h->pin;
    h->level.vertex_offset = h->vertex_offset;
    h->level.incident = h->incident;
    h->level.net_weight = h->net_weight;
    return &h->level;
}

static void nets_free(struct nets *h)
{
    test_free(h->net_offset);
    test_free(h->net_weight);
    test_free(h->pin);
    test_free(h->incident);
    test_free(h->vertex_offset);
}

static enum cleave_status find(const struct cleave__level *level, uint64_t seed,
                               uint32_t *community, uint32_t *count)
{
    struct cleave__search search = {0};
    cleave__random_seed(&search.random, seed);
    enum cleave_status status = cleave__communities(&search, level, community, count);
    cleave__arena_free(&search.arena);
    return status;
}

/* The share of items whose label is the commonest one of their group. */
static double purity(const uint32_t *label, const uint32_t *group, uint32_t n)
{
    uint32_t agreed = 0;
    for (uint32_t g = 0; g < n; g++) {
        uint32_t most = 0;
        for (uint32_t l = 0; l < n; l++) {
            uint32_t here = 0;
            for (uint32_t v = 0; v < n; v++)
                here += group[v] == g && label[v] == l;
            most = here > most ? here : most;
        }
        agreed += most;
    }
    return (double)agreed / n;
}

/* 12 cliques of 6, each tied to the next by one net: as nets of two pins, and of three. */
static void test_ring_of_cliques(void **state)
{
    (void)state;
    enum { CLIQUES = 12, SIZE = 6, N = CLIQUES * SIZE };
    for (uint32_t size = 2; size <= 3; size++) {
        struct nets h;
        nets_begin(&h, N);
        for (uint32_t c = 0; c < CLIQUES; c++) {
            uint32_t base = c * SIZE;
            for (uint32_t i = 0; i < SIZE; i++) {
                for (uint32_t j = i + 1; j < SIZE; j++) {
                    uint32_t pin[3] = {base + i, base + j, base + (i + j) % SIZE};
                    nets_add(&h, pin, size, 1);
                }
            }
            nets_add(&h, (uint32_t[]){base, (base + SIZE + 1) % N}, 2, 1);
        }
        uint32_t community[N], count;
        assert_int_equal(find(nets_end(&h), size, community, &count), CLEAVE_OK);
        assert_int_equal(count, CLIQUES);
        for (uint32_t v = 0; v < N; v++)
            assert_int_equal(community[v], v / SIZE);
        nets_free(&h);
    }
}

/* Groups of vertices, scattered; nine nets of ten lie within a group. Dense enough for one model of
 * worth, and sparse enough, with longer nets, for the other. */
static void test_planted(void **state)
{
    (void)state;
    enum { GROUPS = 6, N = 300 };
    for (uint32_t sparse = 0; sparse < 2; sparse++) {
        struct cleave_random random;
        cleave__random_seed(&random, 5 + sparse);
        uint32_t group[N], community[N], count;
        for (uint32_t v = 0; v < N; v++)
            group[v] = (uint32_t)cleave__random_below(&random, GROUPS);
        struct nets h;
        nets_begin(&h, N);
        for (uint32_t e = 0; e < (sparse ? N * 7 / 10 : 4 * N); e++) {
            uint32_t pin[12], size = 0, g = (uint32_t)cleave__random_below(&random, GROUPS);
            uint32_t most = (sparse ? 6 : 2) + (uint32_t)cleave__random_below(&random, 4);
            bool stray = cleave__random_below(&random, 10) == 0;
            while (size < most) {
                uint32_t v = (uint32_t)cleave__random_below(&random, N);
                if (stray || group[v] == g)
                    pin[size++] = v;
            }
            nets_add(&h, pin, size, 1 + (int64_t)cleave__random_below(&random, 3));
        }
        assert_int_equal(find(nets_end(&h), 1, community, &count), CLEAVE_OK);
        assert_true(purity(community, group, N) > 0.95);
        assert_true(purity(group, community, N) > 0.95);
        nets_free(&h);
    }
}

/* A net of over 1000 pins neither joins two cliques nor lets its other pins stand alone. */
static void test_huge_net(void **state)
{
    (void)state;
    enum { N = 1100 };
    static uint32_t all[N], community[N];
    struct nets h;
    nets_begin(&h, N);
    for (uint32_t v = 0; v < N; v++)
        all[v] = v;
    nets_add(&h, all, N, 1000000);
    nets_add(&h, all, 5, 1);
    nets_add(&h, all + 5, 5, 1);
    uint32_t count;
    assert_int_equal(find(nets_end(&h), 1, community, &count), CLEAVE_OK);
    assert_int_equal(count, 3);
    for (uint32_t v = 0; v < N; v++)
        assert_int_equal(community[v], v < 5 ? 0 : v < 10 ? 1 : 2);
    nets_free(&h);
}

static void test_nothing(void **state)
{
    (void)state;
    struct nets h;
    uint32_t community[4] = {9, 9, 9, 9}, count = 9;
    nets_begin(&h, 0);
    assert_int_equal(find(nets_end(&h), 1, community, &count), CLEAVE_OK);
    assert_int_equal(count, 0);
    nets_free(&h);
    nets_begin(&h, 4);
    nets_add(&h, (uint32_t[]){0, 1, 2}, 3, 0);
    assert_int_equal(find(nets_end(&h), 1, community, &count), CLEAVE_OK);
    assert_int_equal(count, 1);
    for (uint32_t v = 0; v < 4; v++)
        assert_int_equal(community[v], 0);
    nets_free(&h);
}

/* The largest sums of weights that hypergraphs may have. */
static void test_heavy(void **state)
{
    (void)state;
    for (uint32_t size = 2; size <= 4; size++) {
        struct nets h;
        nets_begin(&h, 40);
        for (uint32_t v = 0; v < 40; v += 4) {
            uint32_t pin[4] = {v, v + 1, v + 2, v + 3};
            for (uint32_t i = 0; i + size <= 4; i++)
                nets_add(&h, pin + i, size, (INT64_C(1) << 60) / 160);
            nets_add(&h, (uint32_t[]){v, (v + 5) % 40}, 2, 1);
        }
        uint32_t community[40], count;
        assert_int_equal(find(nets_end(&h), 1, community, &count), CLEAVE_OK);
        assert_int_equal(count, 10);
        nets_free(&h);
    }
}

static void test_stop(void **state)
{
    (void)state;
    volatile sig_atomic_t stop = 1;
    struct cleave_progress progress = {.stop = &stop};
    struct cleave__search search = {.progress = &progress};
    uint32_t community[2], count = 7;
    struct nets h;
    nets_begin(&h, 2);
    nets_add(&h, (uint32_t[]){0, 1}, 2, 1);
    assert_int_equal(cleave__communities(&search, nets_end(&h), community, &count),
                     CLEAVE_INTERRUPTED);
    assert_int_equal(count, 7);
    cleave__arena_free(&search.arena);
    nets_free(&h);
}

static bool say(const struct property_source *s, const char *what)
{
    if (s->verbose)
        printf("%s\n", what);
    return false;
}

/* Numbered by first use, below count? */
static bool numbered(const uint32_t *label, uint32_t n, uint32_t count)
{
    uint32_t next = 0;
    for (uint32_t v = 0; v < n; v++) {
        if (label[v] > next)
            return false;
        next += label[v] == next;
    }
    return next == count;
}

/* Spreads labels along nets until nothing changes: a community is connected when one of its
 * vertices reaches all. */
static bool connected(const struct cleave__level *l, const uint32_t *community, uint32_t start)
{
    bool reached[NODES] = {0}, more = true;
    reached[start] = true;
    while (more) {
        more = false;
        for (uint32_t e = 0; e < l->nets; e++) {
            bool touched = false;
            for (uint64_t i = l->net_offset[e]; i < l->net_offset[e + 1]; i++)
                touched = touched || reached[l->pin[i]];
            for (uint64_t i = l->net_offset[e]; i < l->net_offset[e + 1]; i++) {
                uint32_t v = l->pin[i];
                if (touched && l->net_weight[e] && !reached[v] && community[v] == community[start])
                    reached[v] = more = true;
            }
        }
    }
    for (uint32_t v = 0; v < l->vertices; v++) {
        if (community[v] == community[start] && !reached[v])
            return false;
    }
    return true;
}

static bool hypergraphs_hold(struct property_source *s, void *context)
{
    (void)context;
    struct nets h;
    uint32_t n = (uint32_t)property_draw(s, property_draw(s, 2) ? 12 : NODES + 1);
    uint32_t longest = 2 + (uint32_t)property_draw(s, 5);
    nets_begin(&h, n);
    for (uint32_t e = (uint32_t)property_draw(s, 2 * n + 1); e > 0 && n > 0; e--) {
        uint32_t pin[8], size = (uint32_t)property_draw(s, longest);
        for (uint32_t i = 0; i < size; i++)
            pin[i] = (uint32_t)property_draw(s, n);
        nets_add(&h, pin, size, property_between(s, 0, 3));
    }
    const struct cleave__level *level = nets_end(&h);
    uint32_t community[NODES], again[NODES], count, second, alone = UINT32_MAX;
    uint64_t seed = property_draw(s, 5);
    bool ok = find(level, seed, community, &count) == CLEAVE_OK || say(s, "status");
    ok = ok && (numbered(community, n, count) || say(s, "numbers"));
    for (uint32_t v = 0; v < n && ok; v++) {
        bool counted = false;
        for (uint64_t j = level->vertex_offset[v]; j < level->vertex_offset[v + 1]; j++) {
            uint32_t e = level->incident[j];
            counted = counted ||
                      (level->net_weight[e] && level->net_offset[e + 1] - level->net_offset[e] > 1);
        }
        if (counted) {
            ok = connected(level, community, v) || say(s, "connected");
        } else {
            ok = alone == UINT32_MAX || community[v] == alone || say(s, "isolated");
            alone = community[v];
        }
    }
    ok = ok && find(level, seed, again, &second) == CLEAVE_OK && second == count;
    ok = ok && (memcmp(community, again, n * sizeof *again) == 0 || say(s, "repeated"));
    nets_free(&h);
    return ok;
}

/* A graph as lists at both ends, loops and parallel edges included. */
struct graph {
    struct cleave__weighted_graph graph;
    uint64_t offset[NODES + 1];
    uint32_t neighbour[2 * EDGES];
    int64_t weight[2 * EDGES];
};

/* Weights up to `heaviest`, 0: of very unlike sizes. */
static void draw_graph(struct property_source *s, struct graph *g, uint32_t most, int64_t heaviest)
{
    static const int64_t unlike[] = {0, 1, 1, 10, 30, 100, 1000};
    uint32_t n = 1 + (uint32_t)property_draw(s, most), end[EDGES][2];
    uint32_t edges = (uint32_t)property_draw(s, (property_draw(s, 2) ? EDGES : n) + 1);
    int64_t weight[EDGES];
    for (uint32_t e = 0; e < edges; e++) {
        end[e][0] = (uint32_t)property_draw(s, n);
        end[e][1] = (uint32_t)property_draw(s, n);
        weight[e] = heaviest ? property_between(s, 0, heaviest) : unlike[property_draw(s, 7)];
    }
    memset(g, 0, sizeof *g);
    uint64_t used = 0;
    for (uint32_t v = 0; v < n; v++) {
        for (uint32_t e = 0; e < edges; e++) {
            for (int i = 0; i < 2; i++) {
                if (end[e][i] == v) {
                    g->neighbour[used] = end[e][1 - i];
                    g->weight[used++] = weight[e];
                }
            }
        }
        g->offset[v + 1] = used;
    }
    g->graph = (struct cleave__weighted_graph){
        .nodes = n, .offset = g->offset, .neighbour = g->neighbour, .weight = g->weight};
}

static double modularity(const struct graph *g, const uint32_t *community, uint32_t resolution)
{
    double total[NODES];
    return cleave__modularity(&g->graph, community, g->graph.nodes, resolution, total);
}

static bool find_in_graph(const struct graph *g, const struct cleave__louvain_options *options,
                          uint64_t seed, uint32_t *community, uint32_t *count)
{
    struct cleave_arena arena = {0};
    struct cleave_random random;
    cleave__random_seed(&random, seed);
    enum cleave_status status =
        cleave__louvain(&arena, &random, &g->graph, options, community, count);
    cleave__arena_free(&arena);
    return status == CLEAVE_OK;
}

static bool piece_connected(const struct graph *g, const uint32_t *community, uint32_t start)
{
    bool reached[NODES] = {0}, more = true;
    reached[start] = true;
    while (more) {
        more = false;
        for (uint32_t v = 0; v < g->graph.nodes; v++) {
            for (uint64_t i = g->offset[v]; i < g->offset[v + 1] && reached[v]; i++) {
                uint32_t u = g->neighbour[i];
                if (g->weight[i] && !reached[u] && community[u] == community[start])
                    reached[u] = more = true;
            }
        }
    }
    for (uint32_t v = 0; v < g->graph.nodes; v++) {
        if (community[v] == community[start] && !reached[v])
            return false;
    }
    return true;
}

static bool graphs_hold(struct property_source *s, void *context)
{
    (void)context;
    struct graph g;
    static const int64_t heaviest[] = {0, 5, INT64_C(1) << 40};
    static const uint32_t resolutions[] = {0, 1000, 300, 100, 2500};
    draw_graph(s, &g, property_draw(s, 2) ? 12 : NODES, heaviest[property_draw(s, 3)]);
    struct cleave__louvain_options options = {
        .resolution = resolutions[property_draw(s, 5)],
        .visits = (uint32_t)property_draw(s, 4),
        .rounds = (uint32_t)property_draw(s, 3),
        .refine = property_draw(s, 2),
    };
    uint32_t n = g.graph.nodes, community[NODES], again[NODES], alone[NODES], count, second;
    uint32_t resolution = options.resolution ? options.resolution : 1000;
    uint64_t seed = property_draw(s, 5);
    for (uint32_t v = 0; v < n; v++)
        alone[v] = v;
    bool ok = find_in_graph(&g, &options, seed, community, &count) || say(s, "status");
    ok = ok && (numbered(community, n, count) || say(s, "numbers"));
    for (uint32_t v = 0; v < n && ok; v++)
        ok = piece_connected(&g, community, v) || say(s, "connected");
    double found = ok ? modularity(&g, community, resolution) : 0;
    ok = ok && (found >= modularity(&g, alone, resolution) - 1e-12 || say(s, "below singletons"));
    ok = ok && find_in_graph(&g, &options, seed, again, &second) && second == count;
    ok = ok && (memcmp(community, again, n * sizeof *again) == 0 || say(s, "repeated"));
    options.rounds += 2;
    ok = ok && find_in_graph(&g, &options, seed, again, &second);
    ok = ok && (modularity(&g, again, resolution) >= found - 1e-12 || say(s, "more rounds"));
    return ok;
}

/* The best modularity over all partitions of nodes v and above, given those before. */
static double best_of_all(const struct graph *g, uint32_t *community, uint32_t v, uint32_t used)
{
    if (v == g->graph.nodes)
        return modularity(g, community, 1000);
    double best = -2;
    for (uint32_t c = 0; c <= used; c++) {
        community[v] = c;
        double q = best_of_all(g, community, v + 1, used + (c == used));
        best = q > best ? q : best;
    }
    return best;
}

struct tally {
    double found, best;
};

static bool near_the_best(struct property_source *s, void *context)
{
    struct tally *tally = context;
    struct graph g;
    draw_graph(s, &g, 7, 5);
    const struct cleave__louvain_options options = {.refine = property_draw(s, 2)};
    uint32_t community[NODES], count;
    bool ok = find_in_graph(&g, &options, 1, community, &count);
    double found = ok ? modularity(&g, community, 1000) : 0;
    double best = best_of_all(&g, community, 0, 0);
    tally->found += found;
    tally->best += best;
    return ok && found <= best + 1e-12;
}

static void test_hypergraphs(void **state)
{
    (void)state;
    assert_true(property_run("communities of hypergraphs", hypergraphs_hold, NULL, 3000));
}

static void test_graphs(void **state)
{
    (void)state;
    assert_true(property_run("communities of graphs", graphs_hold, NULL, 20000));
}

static void test_near_the_best(void **state)
{
    (void)state;
    struct tally tally = {0};
    assert_true(property_run("modularity beside the best", near_the_best, &tally, 300));
    assert_true(tally.found > 0.97 * tally.best);
}

/* Modularity of two triangles tied by an edge, by hand: 6/7 - 1/2; and weights that do not fit. */
static void test_by_hand(void **state)
{
    (void)state;
    static const uint64_t offset[] = {0, 2, 4, 7, 10, 12, 14};
    static const uint32_t neighbour[] = {1, 2, 0, 2, 0, 1, 3, 2, 4, 5, 3, 5, 3, 4};
    int64_t weight[14];
    for (int i = 0; i < 14; i++)
        weight[i] = INT64_MAX / 14 / 1000;
    struct graph g = {.graph = {.nodes = 6, .offset = offset, .neighbour = neighbour}};
    struct cleave__louvain_options options = {.refine = true};
    uint32_t community[6], count = 0;
    double total[2];
    for (int weighted = 0; weighted < 2; weighted++) {
        g.graph.weight = weighted ? weight : NULL;
        assert_true(find_in_graph(&g, &options, 1, community, &count));
        assert_int_equal(count, 2);
        for (uint32_t v = 0; v < 6; v++)
            assert_int_equal(community[v], v / 3);
        double q = cleave__modularity(&g.graph, community, 2, 1000, total);
        assert_true(q > 5.0 / 14 - 1e-12 && q < 5.0 / 14 + 1e-12);
    }
    struct cleave_arena arena = {0};
    struct cleave_random random;
    cleave__random_seed(&random, 1);
    options.resolution = 1100;
    assert_int_equal(cleave__louvain(&arena, &random, &g.graph, &options, community, &count),
                     CLEAVE_LIMIT);
    cleave__arena_free(&arena);
}

static bool attempt(void *context)
{
    const struct cleave__level *level = context;
    uint32_t community[30], count;
    enum cleave_status status = find(level, 1, community, &count);
    return status == CLEAVE_OK || status == CLEAVE_NO_MEMORY;
}

static void test_allocations(void **state)
{
    (void)state;
    for (uint32_t size = 2; size <= 3; size++) {
        struct nets h;
        nets_begin(&h, 30);
        for (uint32_t v = 0; v < 30; v++) {
            nets_add(&h, (uint32_t[]){v, (v + 1) % 30, (v + 7) % 30}, size, 1);
            nets_add(&h, (uint32_t[]){v, v / 5 * 5, (v + 1) % 30}, size, 2);
        }
        struct cleave__level level = *nets_end(&h);
        assert_true(failalloc_run("communities", attempt, &level, 1));
        nets_free(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring_of_cliques), cmocka_unit_test(test_planted),
        cmocka_unit_test(test_huge_net),        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_heavy),           cmocka_unit_test(test_stop),
        cmocka_unit_test(test_hypergraphs),     cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_near_the_best),   cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
