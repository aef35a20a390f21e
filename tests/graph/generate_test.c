/* Generators: what each promises, and that a seed gives one graph. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/source/generate.h"
#include "graph/source/standard_random.h"
#include "graph/source/stats.h"
#include "support/property.h"

static struct cleave__graph *make(const char *name, const struct cleave__generate_options *options)
{
    struct cleave__graph *g = NULL;
    struct cleave_error error = {0};
    if (cleave__graph_generate(cleave__graph_generator_find(name), options, &g, &error))
        fail_msg("%s: %s", name, error.message);
    if (cleave__graph_check(g, &error))
        fail_msg("%s: %s", name, error.message);
    return g;
}

static const struct cleave__generate_options usual = {.users = 300,
                                                      .communities = 7,
                                                      .degree = 8,
                                                      .local = 5,
                                                      .hubs = 20,
                                                      .to_hubs = 3,
                                                      .sizes = {100, 50, 9},
                                                      .size_count = 3,
                                                      .mixing = 0.2,
                                                      .seed = 7};

static void local_edges_are_as_many_as_asked(void **state)
{
    (void)state;
    static const char *const names[] = {"communities", "graphshard", "uneven"};
    for (int n = 0; n < 3; n++) {
        struct cleave__graph *g = make(names[n], &usual);
        assert_int_equal(g->vertices, n == 2 ? 159 : 300);
        assert_int_equal(g->labels, n == 2 ? 3 : 7);
        assert_int_equal(g->remarks.duplicates + g->remarks.loops, 0);
        for (uint32_t v = 0; v < g->vertices; v++) {
            uint32_t inside = 0;
            assert_int_equal(cleave__graph_degree(g, v), 8);
            assert_true(v == 0 || g->label[v] >= g->label[v - 1]); /* consecutive */
            for (uint64_t i = g->offset[v]; i < g->offset[v + 1]; i++)
                inside += g->label[g->target[i]] == g->label[v];
            assert_int_equal(inside, 5);
        }
        cleave__graph_free(g);
    }
}

static void hubs_are_followed(void **state)
{
    (void)state;
    struct cleave__graph *g = make("hub", &usual);
    for (uint32_t v = 0; v < g->vertices; v++) {
        uint32_t hubs = 0;
        assert_int_equal(cleave__graph_degree(g, v), 8);
        for (uint64_t i = g->offset[v]; i < g->offset[v + 1]; i++)
            hubs += g->target[i] < 20;
        assert_int_equal(hubs, 3);
    }
    assert_null(g->label);
    cleave__graph_free(g);
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The hidden graph is the open one by other names: the same in-degrees, in another order. */
static void hidden_is_the_same_graph(void **state)
{
    (void)state;
    struct cleave__graph *g[2] = {make("communities", &usual), make("hidden", &usual)};
    uint32_t in[2][300] = {{0}};
    assert_null(g[1]->label);
    for (int i = 0; i < 2; i++) {
        for (uint64_t e = 0; e < cleave__graph_edges(g[i]); e++)
            in[i][g[i]->target[e]]++;
    }
    assert_memory_not_equal(in[0], in[1], sizeof in[0]);
    for (int i = 0; i < 2; i++) {
        qsort(in[i], 300, sizeof in[i][0], compare);
        cleave__graph_free(g[i]);
    }
    assert_memory_equal(in[0], in[1], sizeof in[0]);
}

static void heavy_tails(void **state)
{
    (void)state;
    struct cleave__generate_options o = usual;
    struct cleave__graph_stats s;
    struct cleave_error error;
    o.users = 3000;
    struct cleave__graph *g = make("rmat", &o);
    assert_int_equal(cleave__graph_stats(g, &s, &error), 0);
    assert_int_equal(s.edges + g->remarks.duplicates + g->remarks.loops, 3000 * 8);
    assert_true(s.out_most > 10 * (s.out_median + 1));
    cleave__graph_free(g);

    o.degree = 15;
    g = make("lfr", &o);
    assert_int_equal(cleave__graph_stats(g, &s, &error), 0);
    assert_true(g->labels > 5);
    double drawn = (double)(s.edges + g->remarks.duplicates + g->remarks.loops) / 3000;
    assert_true(drawn > 12 && drawn < 19);
    double inside = (double)s.label_inside / (double)s.edges; /* repeated ones are mostly inside */
    assert_true(inside > 0.68 && inside < 0.85);
    assert_true(s.out_most >= 8 * s.out_median);
    cleave__graph_free(g);
}

static void a_seed_gives_one_graph(void **state)
{
    (void)state;
    for (uint32_t i = 0; cleave__graph_generator_at(i); i++) {
        struct cleave__generate_options o = usual;
        const char *name = cleave__graph_generator_at(i)->name;
        struct cleave__graph *a = make(name, &o), *b = make(name, &o);
        o.seed++;
        struct cleave__graph *c = make(name, &o);
        uint64_t edges = cleave__graph_edges(a);
        assert_int_equal(edges, cleave__graph_edges(b));
        assert_memory_equal(a->target, b->target, edges * sizeof *a->target);
        assert_true(edges != cleave__graph_edges(c) ||
                    memcmp(a->target, c->target, edges * sizeof *a->target));
        cleave__graph_free(a);
        cleave__graph_free(b);
        cleave__graph_free(c);
    }
}

static void senseless_options_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct cleave__generate_options options;
    } bad[] = {
        {"communities", {.users = 10, .communities = 0, .degree = 1}},
        {"communities", {.users = 10, .communities = 11, .degree = 1}},
        {"communities", {.users = 10, .communities = 2, .degree = 1, .local = 2}},
        {"communities", {.users = 10, .communities = 2, .degree = 5, .local = 5}},
        {"communities", {.users = 10, .communities = 2, .degree = 6, .local = 0}},
        {"communities", {.users = 0, .communities = 1}},
        {"uneven", {.users = 10, .degree = 1}},
        {"uneven", {.users = 10, .degree = 1, .sizes = {5, 0}, .size_count = 2}},
        {"hub", {.users = 10, .hubs = 10, .degree = 1}},
        {"hub", {.users = 10, .hubs = 0, .degree = 1}},
        {"hub", {.users = 10, .hubs = 2, .degree = 3, .to_hubs = 2}},
        {"hub", {.users = 10, .hubs = 2, .degree = 9, .to_hubs = 1}},
        {"lfr", {.users = 10, .degree = 10}},
        {"lfr", {.users = 10, .degree = 2, .mixing = 2}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct cleave__graph *g = NULL;
        struct cleave_error error = {0};
        assert_int_equal(cleave__graph_generate(cleave__graph_generator_find(bad[i].name),
                                                &bad[i].options, &g, &error),
                         CLEAVE_BAD_ARGUMENT);
        assert_null(g);
        assert_true(error.message[0]);
    }
}

/* Any options give a graph or are refused. */
static bool any_options(struct property_source *source, void *context)
{
    (void)context;
    uint32_t row = (uint32_t)property_draw(source, 7);
    struct cleave__generate_options o = {
        .users = (uint32_t)property_draw(source, 60),
        .communities = (uint32_t)property_draw(source, 12),
        .degree = (uint32_t)property_draw(source, 12),
        .local = (uint32_t)property_draw(source, 8),
        .hubs = (uint32_t)property_draw(source, 12),
        .to_hubs = (uint32_t)property_draw(source, 8),
        .size_count = (uint32_t)property_draw(source, 4),
        .mixing = (double)property_draw(source, 5) / 4,
        .seed = property_draw(source, 1000),
    };
    for (uint32_t i = 0; i < o.size_count; i++)
        o.sizes[i] = (uint32_t)property_draw(source, 20);
    struct cleave__graph *g = NULL;
    struct cleave_error error = {0};
    enum cleave_status status =
        cleave__graph_generate(cleave__graph_generator_at(row), &o, &g, &error);
    bool ok = status ? status == CLEAVE_BAD_ARGUMENT && !g : !cleave__graph_check(g, &error);
    if (source->verbose)
        print_message("%s, %u users, degree %u: %s\n", cleave__graph_generator_at(row)->name,
                      o.users, o.degree, error.message);
    cleave__graph_free(g);
    return ok;
}

static void property(void **state)
{
    (void)state;
    assert_true(property_run("generators", any_options, NULL, 3000));
}

/* That they are the lab's to the bit is shown by the golden test of whole graphs. */
static void standard_numbers_are_uniform(void **state)
{
    (void)state;
    struct cleave__standard_random random;
    uint32_t count[10] = {0};
    cleave__standard_seed(&random, 42);
    for (int i = 0; i < 10000; i++)
        count[cleave__standard_between(&random, 5, 14) - 5]++;
    for (int i = 0; i < 10; i++)
        assert_true(count[i] > 880 && count[i] < 1120);
    assert_int_equal(cleave__standard_between(&random, 3, 3), 3);
    (void)cleave__standard_between(&random, 0, UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local_edges_are_as_many_as_asked),
        cmocka_unit_test(hubs_are_followed),
        cmocka_unit_test(hidden_is_the_same_graph),
        cmocka_unit_test(heavy_tails),
        cmocka_unit_test(a_seed_gives_one_graph),
        cmocka_unit_test(senseless_options_are_refused),
        cmocka_unit_test(property),
        cmocka_unit_test(standard_numbers_are_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
