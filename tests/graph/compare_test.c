/* Shapes, placements and comparisons: what they promise about each other; every allocation may
 * fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "graph/compare/compare.h"
#include "graph/files.h"
#include "graph/source/generate.h"
#include "graph/source/stats.h"
#include "graph/world.h"
#include "support/failalloc.h"

enum { MOST = 32 };

/* km1 of traversals is what the batched executor pays in remote requests; the cut of edges counts a
 * pair once, tied one way or both; read counts are what is read. */
static bool shapes_tell_costs(struct property_source *source, void *context)
{
    (void)context;
    struct cleave_error error = {0};
    struct cleave__graph *g = world_graph(source);
    struct cleave__query q = {.hops = 1 + (uint32_t)property_draw(source, 4)};
    uint32_t shards = 1 + (uint32_t)property_draw(source, 4), owner[MOST], all[MOST];
    unsigned balance = 1 + (unsigned)property_draw(source, 7);
    uint64_t reads[MOST], seen = 0;
    for (uint32_t v = 0; v < g->vertices; v++) {
        owner[v] = (uint32_t)property_draw(source, shards);
        all[v] = v;
    }
    struct cleave_hypergraph *traversals = NULL, *edges = NULL;
    struct cleave__sharded *sharded = NULL;
    struct cleave__execution *x = NULL;
    if (cleave__graph_reads(g, &q, all, g->vertices, reads, NULL, &error) ||
        cleave__graph_shape_traversals(g, &q, all, g->vertices, balance, reads, NULL, &traversals,
                                       &error) ||
        cleave__graph_shape_edges(g, balance, reads, &edges, &error) ||
        cleave__sharded_new(g, shards, owner, &sharded, &error) ||
        cleave__execution_new(g, sharded, &x, &error))
        abort();
    struct cleave__graph_cost sum = {0};
    for (uint32_t v = 0; v < g->vertices; v++) {
        q.source = v;
        cleave__execute(x, cleave__executor_find("batched"), &q);
        sum.remote_requests += x->cost.remote_requests;
        sum.reads += x->cost.reads;
        seen += reads[v];
    }
    const struct cleave_partition_options o = {.blocks = shards, .epsilon = 1e9};
    struct cleave_partition_result by_traversals, by_edges;
    bool ok = !cleave_hypergraph_check(traversals, &error) &&
              !cleave_hypergraph_check(edges, &error) &&
              !cleave_partition_measure(traversals, &o, owner, &by_traversals, &error) &&
              !cleave_partition_measure(edges, &o, owner, &by_edges, &error);
    /* A shard asked on two levels is two requests, but one block more: equal up to two hops. */
    ok = ok && (q.hops <= 2 ? by_traversals.km1 == (int64_t)sum.remote_requests
                            : by_traversals.km1 <= (int64_t)sum.remote_requests);
    ok = ok && seen == sum.reads;
    uint64_t cut = 0;
    for (uint32_t v = 0; v < g->vertices; v++) {
        for (uint64_t i = g->offset[v]; i < g->offset[v + 1]; i++)
            cut += owner[v] != owner[g->target[i]];
    }
    ok = ok && by_edges.cut <= (int64_t)cut && 2 * by_edges.cut >= (int64_t)cut;
    if (source->verbose)
        world_print(g, &q);
    cleave_hypergraph_free(traversals);
    cleave_hypergraph_free(edges);
    cleave__execution_free(x);
    cleave__sharded_free(sharded);
    cleave__graph_free(g);
    return ok;
}

static void shapes(void **state)
{
    (void)state;
    assert_true(property_run("shapes", shapes_tell_costs, NULL, 5000));
}

static struct cleave__graph *community_graph(uint32_t users, uint32_t local)
{
    const struct cleave__generate_options o = {
        .users = users, .communities = 8, .degree = 4, .local = local, .seed = 3};
    struct cleave__graph *g;
    struct cleave_error error;
    assert_int_equal(
        cleave__graph_generate(cleave__graph_generator_find("communities"), &o, &g, &error), 0);
    return g;
}

/* Every placement by name, every executor: verified, and with the figures that must be. */
static void all_placements(void **state)
{
    (void)state;
    const char *names[32];
    const struct cleave__executor *executors[3];
    struct cleave__graph_row row[32 * 3];
    struct cleave_error error;
    uint32_t count = 0;
    for (; cleave__graph_placement_at(count); count++)
        names[count] = cleave__graph_placement_at(count)->name;
    for (uint32_t e = 0; e < 3; e++)
        executors[e] = cleave__executor_at(e);
    struct cleave__graph *g = community_graph(400, 4);
    const struct cleave__graph_plan plan = {.placements = names,
                                            .placement_count = count,
                                            .executors = executors,
                                            .executor_count = 3,
                                            .query = {.hops = 2},
                                            .queries = 100,
                                            .train = 100,
                                            .shards = 4,
                                            .balance =
                                                CLEAVE__BALANCE_VERTICES | CLEAVE__BALANCE_READS,
                                            .epsilon = 0.1,
                                            .seed = 5};
    assert_int_equal(cleave__graph_compare(g, &plan, row, &error), 0);
    for (uint32_t r = 0; r < count * 3; r++) {
        if (!row[r].verified)
            fail_msg("%s %s: %s", row[r].placement, row[r].executor, row[r].wrong);
        assert_int_equal(row[r].queries, 100);
        assert_int_equal(row[r].cost.reads, 500);
        if (!strcmp(row[r].executor, "direct"))
            assert_int_equal(row[r].cost.requests, 500);
        if (!strcmp(row[r].placement, "community")) {
            assert_int_equal(row[r].cost.hops, 0); /* all edges are local */
            assert_true(row[r].cut == 0 && row[r].imbalance_vertices == 0);
        }
        if (!strcmp(row[r].placement, "hash"))
            assert_true(row[r].cut > 0.6 && row[r].imbalance_vertices == 0);
    }
    cleave__graph_free(g);
}

static void an_unknown_placement(void **state)
{
    (void)state;
    struct cleave__graph *g = community_graph(40, 4);
    struct cleave_error error;
    uint32_t owner[40];
    struct cleave__graph_place_request r = {.graph = g, .shards = 2, .epsilon = 0.1};
    assert_int_equal(cleave__graph_place(&r, "nowhere", owner, NULL, &error), CLEAVE_NOT_FOUND);
    assert_int_equal(cleave__graph_place(&r, "@absent.file", owner, NULL, &error),
                     CLEAVE_NOT_FOUND);
    r.shards = 0;
    assert_int_equal(cleave__graph_place(&r, "hash", owner, NULL, &error), CLEAVE_BAD_ARGUMENT);
    cleave__graph_free(g);
}

static char edges_path[] = "cleave-edges-XXXXXX", labels_path[] = "cleave-labels-XXXXXX";

static bool attempt_file(void *context)
{
    (void)context;
    struct cleave__graph *g = NULL;
    struct cleave_error error = {0};
    struct cleave__graph_stats stats;
    enum cleave_status status = cleave__graph_read(edges_path, true, NULL, &g, &error);
    if (!status)
        status = cleave__graph_read_labels(g, labels_path, &error);
    if (!status)
        status = cleave__graph_stats(g, &stats, &error);
    cleave__graph_free(g);
    return !status || (status == CLEAVE_NO_MEMORY && error.message[0]);
}

static bool attempt_generate(void *context)
{
    const struct cleave__generate_options o = {.users = 30,
                                               .communities = 2,
                                               .degree = 3,
                                               .local = 2,
                                               .hubs = 5,
                                               .to_hubs = 1,
                                               .sizes = {9, 6},
                                               .size_count = 2,
                                               .mixing = 0.3};
    struct cleave__graph *g = NULL;
    struct cleave_error error = {0};
    enum cleave_status status = cleave__graph_generate(context, &o, &g, &error);
    cleave__graph_free(g);
    return !status || (status == CLEAVE_NO_MEMORY && error.message[0]);
}

static bool attempt_compare(void *context)
{
    const char *const names[] = {"hash", "balanced", "traversals"};
    const struct cleave__executor *executor[] = {cleave__executor_find("early")};
    const struct cleave__graph_plan plan = {
        .placements = names,
        .placement_count = 3,
        .executors = executor,
        .executor_count = 1,
        .query = {.hops = 2, .limit = 5, .by_degree = true, .degree_high = 10},
        .queries = 5,
        .train = 5,
        .shards = 2,
        .balance = CLEAVE__BALANCE_READS,
        .preset = CLEAVE_FAST,
        .epsilon = 0.5};
    struct cleave__graph_row row[3];
    struct cleave_error error = {0};
    enum cleave_status status = cleave__graph_compare(context, &plan, row, &error);
    return status ? status == CLEAVE_NO_MEMORY && error.message[0]
                  : row[0].verified && row[1].verified && row[2].verified;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    files_put(labels_path, "ann red\nbob blue\n7 red\n");
    files_put(edges_path, "ann bob\nbob,carla\ncarla 7\n");
    assert_true(failalloc_run("read words", attempt_file, NULL, 1));
    files_put(labels_path, "1 red\n3 blue\n");
    files_put(edges_path, "a b\n3 1\n1 2\n");
    assert_true(failalloc_run("read numbers", attempt_file, NULL, 1));
    for (uint32_t i = 0; cleave__graph_generator_at(i); i++)
        assert_true(failalloc_run("generate", attempt_generate,
                                  (void *)(uintptr_t)cleave__graph_generator_at(i), 1));
    struct cleave__graph *g = community_graph(48, 3);
    assert_true(failalloc_run("compare", attempt_compare, g, 1));
    cleave__graph_free(g);
}

static int set_up(void **state)
{
    (void)state;
    files_make(edges_path);
    files_make(labels_path);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(edges_path) || unlink(labels_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes),
        cmocka_unit_test(all_placements),
        cmocka_unit_test(an_unknown_placement),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
