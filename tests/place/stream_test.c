/* Placers that look at vertices or communities one after another: limits kept, fixed vertices kept,
 * graphshard lab's rules followed, and every allocation may fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleave/partition.h"
#include "support/failalloc.h"
#include "support/property.h"

static const char *const names[] = {"ldg",       "fennel",   "restream",
                                    "community", "balanced", "balanced-split"};
enum { NAMES = sizeof names / sizeof *names, LIMITED = 3 };

/* `cliques` cliques of `size` vertices, each joined to the next by one edge; shuffled so that
 * vertex v of clique c is v * cliques + c. */
static struct cleave_hypergraph *chain_of_cliques(uint32_t cliques, uint32_t size)
{
    uint64_t offset[2000] = {0};
    uint32_t pin[4000], used = 0, nets = 0;
    struct cleave_hypergraph *h;
    struct cleave_error error;
    for (uint32_t c = 0; c < cliques; c++) {
        for (uint32_t i = 0; i < size; i++) {
            for (uint32_t j = i + 1; j < size; j++) {
                pin[used++] = i * cliques + c;
                pin[used++] = j * cliques + c;
                offset[++nets] = used;
            }
        }
        if (c + 1 < cliques) {
            pin[used++] = c;
            pin[used++] = c + 1;
            offset[++nets] = used;
        }
    }
    assert_int_equal(
        cleave_hypergraph_new(cliques * size, nets, offset, pin, 1, NULL, NULL, &h, &error), 0);
    return h;
}

/* Communities are found: no clique is divided, and whole ones are dealt out in turn. */
static void communities_are_found(void **state)
{
    (void)state;
    struct cleave_hypergraph *h = chain_of_cliques(8, 8);
    struct cleave_partition_result r;
    struct cleave_error error;
    uint32_t block[64];
    for (uint32_t i = LIMITED; i < NAMES; i++) {
        const struct cleave_partition_options o = {
            .blocks = 4, .epsilon = 0.03, .placer = names[i]};
        assert_int_equal(cleave_partition(h, &o, block, &r, &error), 0);
        assert_true(r.balanced && r.cut <= 7);
        for (uint32_t v = 8; v < 64; v++)
            assert_int_equal(block[v], block[v % 8]);
    }
    cleave_hypergraph_free(h);
}

/* The same with nets of three pins, for which nets become nodes of the graph. */
static void communities_of_larger_nets(void **state)
{
    (void)state;
    uint64_t offset[100] = {0};
    uint32_t pin[300], used = 0, nets = 0, block[24];
    struct cleave_hypergraph *h;
    struct cleave_partition_result r;
    struct cleave_error error;
    for (uint32_t c = 0; c < 4; c++) {
        for (uint32_t i = 0; i < 6; i++) {
            pin[used++] = c * 6 + i;
            pin[used++] = c * 6 + (i + 1) % 6;
            pin[used++] = c * 6 + (i + 2) % 6;
            offset[++nets] = used;
        }
    }
    assert_int_equal(cleave_hypergraph_new(24, nets, offset, pin, 1, NULL, NULL, &h, &error), 0);
    const struct cleave_partition_options o = {.blocks = 4, .epsilon = 0, .placer = "community"};
    assert_int_equal(cleave_partition(h, &o, block, &r, &error), 0);
    assert_int_equal(r.cut, 0);
    cleave_hypergraph_free(h);
}

/* Graphshard lab's rules on given communities of 4, 3, 2, 1, 1 vertices. */
static void given_communities(void **state)
{
    (void)state;
    static const uint32_t community[] = {0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4};
    static const uint32_t in_turn[] = {0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 0};
    static const uint32_t by_load[] = {0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3};
    uint64_t offset[] = {0};
    uint32_t block[11];
    struct cleave_hypergraph *h;
    struct cleave_error error;
    assert_int_equal(cleave_hypergraph_new(11, 0, offset, NULL, 1, NULL, NULL, &h, &error), 0);
    struct cleave_partition_options o = {.blocks = 4, .community = community};
    o.placer = "community";
    assert_int_equal(cleave_partition(h, &o, block, NULL, &error), CLEAVE_UNSATISFIABLE);
    assert_memory_equal(block, in_turn, sizeof in_turn);
    o.placer = "balanced";
    assert_int_equal(cleave_partition(h, &o, block, NULL, &error), CLEAVE_UNSATISFIABLE);
    assert_memory_equal(block, by_load, sizeof by_load);
    o.placer = "balanced-split"; /* the limit is 3: the first is poured into two */
    assert_int_equal(cleave_partition(h, &o, block, NULL, &error), 0);
    assert_true(block[0] == block[1] && block[1] == block[2] && block[3] != block[0]);
    assert_true(block[4] == block[5] && block[5] == block[6]);
    static const uint32_t senseless[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11};
    o.community = senseless;
    assert_int_equal(cleave_partition(h, &o, block, NULL, &error), CLEAVE_BAD_ARGUMENT);
    cleave_hypergraph_free(h);
}

/* LDG follows neighbours until a block is full; a star's leaves cannot all follow its centre. */
static void ldg_by_hand(void **state)
{
    (void)state;
    uint64_t offset[] = {0, 2, 4, 6, 8, 10};
    uint32_t pin[] = {0, 1, 0, 2, 0, 3, 0, 4, 0, 5}, block[6];
    static const uint32_t wanted[] = {0, 0, 0, 1, 1, 1};
    struct cleave_hypergraph *h;
    struct cleave_error error;
    assert_int_equal(cleave_hypergraph_new(6, 5, offset, pin, 1, NULL, NULL, &h, &error), 0);
    const struct cleave_partition_options o = {.blocks = 2, .placer = "ldg"};
    assert_int_equal(cleave_partition(h, &o, block, NULL, &error), 0);
    assert_memory_equal(block, wanted, sizeof wanted);
    cleave_hypergraph_free(h);
}

static void passes_help(void **state)
{
    (void)state;
    struct cleave_hypergraph *h = chain_of_cliques(8, 8);
    struct cleave_partition_result r[3];
    struct cleave_error error;
    uint32_t block[64];
    for (int i = 0; i < 3; i++) {
        const struct cleave_partition_options o = {
            .blocks = 4, .epsilon = 0.1, .objective = CLEAVE_CUT, .placer = names[i]};
        assert_int_equal(cleave_partition(h, &o, block, &r[i], &error), 0);
    }
    assert_true(r[2].cut <= r[0].cut);
    cleave_hypergraph_free(h);
}

static struct cleave_hypergraph *draw(struct property_source *source, uint32_t *n)
{
    uint64_t offset[41] = {0};
    uint32_t pin[40 * 4], used = 0, nets = (uint32_t)property_draw(source, 40);
    int64_t weight[40 * 2], net_weight[40];
    struct cleave_hypergraph *h;
    struct cleave_error error;
    *n = 1 + (uint32_t)property_draw(source, 20);
    uint32_t weights = 1 + (uint32_t)property_draw(source, 2);
    for (uint32_t e = 0; e < nets; e++) {
        uint32_t pins = 1 + (uint32_t)property_draw(source, 4);
        for (uint32_t p = 0; p < pins; p++)
            pin[used++] = (uint32_t)property_draw(source, *n);
        offset[e + 1] = used;
        net_weight[e] = property_between(source, 0, 3);
    }
    for (uint32_t i = 0; i < *n * weights; i++)
        weight[i] = property_between(source, 0, 4);
    if (cleave_hypergraph_new(*n, nets, offset, pin, weights, weight, net_weight, &h, &error))
        abort();
    return h;
}

/* Any hypergraph: an answer in range, fixed vertices where they belong; the same twice; and, where
 * every vertex weighs one and nothing is fixed, within limits. */
static bool any_hypergraph(struct property_source *source, void *context)
{
    (void)context;
    uint32_t n, block[2][21], row = (uint32_t)property_draw(source, NAMES);
    struct cleave_hypergraph *h = draw(source, &n);
    struct cleave_error error = {0};
    struct cleave_partition_result r;
    int32_t fixed[21];
    uint32_t community[21];
    struct cleave_partition_options o = {.blocks = 1 + (uint32_t)property_draw(source, 5),
                                         .epsilon = (double)property_draw(source, 4) / 4,
                                         .objective =
                                             (enum cleave_objective)property_draw(source, 3),
                                         .placer = names[row],
                                         .seed = property_draw(source, 100)};
    bool fixes = property_draw(source, 2), given = property_draw(source, 2);
    bool plain = property_draw(source, 2);
    for (uint32_t v = 0; v < n; v++) {
        fixed[v] =
            property_draw(source, 3) ? CLEAVE_FREE : (int32_t)property_draw(source, o.blocks);
        community[v] = (uint32_t)property_draw(source, n);
    }
    for (uint32_t i = 0; plain && i < n * h->weights; i++)
        h->vertex_weight[i] = 1;
    o.fixed = fixes ? fixed : NULL;
    o.community = given ? community : NULL;
    bool ok = true;
    for (int i = 0; i < 2 && ok; i++) {
        enum cleave_status status = cleave_partition(h, &o, block[i], &r, &error);
        ok = !status || status == CLEAVE_UNSATISFIABLE;
        bool limited = row < LIMITED || !strcmp(names[row], "balanced-split");
        ok = ok && (!plain || fixes || !limited || r.balanced);
        for (uint32_t v = 0; v < n && ok; v++)
            ok = block[i][v] < o.blocks &&
                 (!fixes || fixed[v] == CLEAVE_FREE || block[i][v] == (uint32_t)fixed[v]);
    }
    ok = ok && !memcmp(block[0], block[1], n * sizeof block[0][0]);
    if (source->verbose)
        printf("%s, %u vertices, %u blocks: %s\n", names[row], n, o.blocks, error.message);
    cleave_hypergraph_free(h);
    return ok;
}

static void property(void **state)
{
    (void)state;
    assert_true(property_run("streaming and community placers", any_hypergraph, NULL, 20000));
}

struct attempt {
    struct cleave_hypergraph *h;
    const char *placer;
};

static bool attempt(void *context)
{
    const struct attempt *a = context;
    const struct cleave_partition_options o = {.blocks = 3, .epsilon = 0.1, .placer = a->placer};
    struct cleave_error error = {0};
    uint32_t block[12];
    enum cleave_status status = cleave_partition(a->h, &o, block, NULL, &error);
    return !status || status == CLEAVE_UNSATISFIABLE ||
           (status == CLEAVE_NO_MEMORY && error.message[0]);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct attempt a = {.h = chain_of_cliques(3, 4)};
    for (uint32_t i = 0; i < NAMES; i++) {
        a.placer = names[i];
        assert_true(failalloc_run(names[i], attempt, &a, 1));
    }
    cleave_hypergraph_free(a.h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(communities_are_found),
        cmocka_unit_test(communities_of_larger_nets),
        cmocka_unit_test(given_communities),
        cmocka_unit_test(ldg_by_hand),
        cmocka_unit_test(passes_help),
        cmocka_unit_test(property),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
