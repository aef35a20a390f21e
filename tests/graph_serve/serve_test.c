/* Graphs at work: answers are the oracle's, costs are those that src/graph/route counts, on sim and
 * on threads; sim repeats; nothing leaks when memory runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/route/executor.h"
#include "graph/serve/serve.h"
#include "graph/world.h"
#include "support/failalloc.h"
#include "support/nats_server.h"

static struct nats_server server;

struct world {
    struct cleave__graph *graph;
    uint32_t *owner, *source;
    struct cleave__serving serving;
};

static struct world draw_world(struct property_source *source)
{
    struct world w = {.graph = world_graph(source)};
    uint32_t n = w.graph->vertices, shards = 1 + (uint32_t)property_draw(source, 5);
    uint32_t queries = 1 + (uint32_t)property_draw(source, 40);
    struct cleave_error error;
    w.owner = malloc(n * sizeof *w.owner);
    w.source = malloc(queries * sizeof *w.source);
    for (uint32_t v = 0; v < n; v++)
        w.owner[v] = (uint32_t)property_draw(source, shards);
    for (uint32_t i = 0; i < queries; i++)
        w.source[i] = (uint32_t)property_draw(source, n);
    w.serving = (struct cleave__serving){
        .transport = &cleave__sim,
        .threads = 2,
        .seed = property_draw(source, 1000),
        .shards = shards,
        .coordinators = 1 + (uint32_t)property_draw(source, 3),
        .clients = 1 + (uint32_t)property_draw(source, 4),
        .outstanding = 1 + (uint32_t)property_draw(source, 4),
        .mailbox_most = 1 + (uint32_t)property_draw(source, 20),
        .owner = w.owner,
        .executor = (enum cleave__serving_executor)property_draw(source, 3),
        .query = world_query(source, w.graph),
        .source = w.source,
        .sources = queries,
        .cached = property_draw(source, 2),
        .capacity = 1 + property_draw(source, 10),
        .delay = {.kind = CLEAVE_UNIFORM, .high_ns = 1000},
        .miss = {.kind = CLEAVE_CONSTANT, .low_ns = 10}};
    if (cleave__cache_choice_parse("lru", 3, &w.serving.cache, &error))
        abort();
    return w;
}

static void free_world(struct world *w)
{
    cleave__graph_free(w->graph);
    free(w->owner);
    free(w->source);
}

/* What src/graph/route counts for the same queries. */
static struct cleave__graph_cost counted(const struct world *w)
{
    static const char *const names[] = {"direct", "batched", "early"};
    struct cleave__sharded *sharded;
    struct cleave__execution *execution;
    struct cleave__graph_cost sum = {0};
    struct cleave__query query = w->serving.query;
    struct cleave_error error;
    if (cleave__sharded_new(w->graph, w->serving.shards, w->owner, &sharded, &error) ||
        cleave__execution_new(w->graph, sharded, &execution, &error))
        abort();
    for (uint32_t i = 0; i < w->serving.sources; i++) {
        query.source = w->source[i];
        cleave__execute(execution, cleave__executor_find(names[w->serving.executor]), &query);
        sum.hops += execution->cost.hops;
        sum.requests += execution->cost.requests;
        sum.remote_requests += execution->cost.remote_requests;
        sum.reads += execution->cost.reads;
        sum.looks += execution->cost.looks;
        sum.rounds += execution->cost.rounds;
    }
    cleave__execution_free(execution);
    cleave__sharded_free(sharded);
    return sum;
}

static bool as_counted(struct property_source *source, void *transport)
{
    struct world w = draw_world(source);
    struct cleave__served served, again;
    struct cleave_error error;
    struct cleave__graph_cost cost = counted(&w);
    const struct cleave__query *q = &w.serving.query;
    /* Under a limit, how far a search goes depends on which user is asked first. */
    bool exact = w.serving.executor != CLEAVE__SERVE_EARLY || !q->limit || q->top;
    w.serving.transport = transport;
    if (transport == &cleave__nats)
        w.serving.nats = nats_server_world(&server);
    if (source->verbose)
        world_print(w.graph, q);
    bool ok = !cleave__graph_serve(w.graph, &w.serving, &served, &error);
    if (!ok && source->verbose)
        printf("%s\n", error.message);
    if (ok && !served.verified && source->verbose)
        printf("%s\n", served.wrong);
    ok = ok && served.verified && served.queries == w.serving.sources &&
         (!exact || (served.hops == cost.hops && served.requests == cost.requests &&
                     served.remote_requests == cost.remote_requests && served.reads == cost.reads &&
                     served.looks == cost.looks && served.rounds == cost.rounds));
    if (ok && transport == &cleave__sim)
        ok = !cleave__graph_serve(w.graph, &w.serving, &again, &error) &&
             !memcmp(&served, &again, offsetof(struct cleave__served, wrong));
    free_world(&w);
    return ok;
}

static void on_sim(void **state)
{
    (void)state;
    assert_true(property_run("serve on sim", as_counted, (void *)(uintptr_t)&cleave__sim, 400));
}

static void on_threads(void **state)
{
    (void)state;
    assert_true(
        property_run("serve on threads", as_counted, (void *)(uintptr_t)&cleave__threads, 60));
}

static void on_nats(void **state)
{
    (void)state;
    if (!nats_server_installed())
        return;
    assert_true(nats_server_start(&server));
    bool good = property_run("serve on nats", as_counted, (void *)(uintptr_t)&cleave__nats, 60);
    nats_server_stop(&server);
    assert_true(good);
}

static struct world small_world(uint32_t *owner, uint32_t *source)
{
    struct cleave__edges edges = {0};
    struct world w = {0};
    struct cleave_error error;
    for (uint32_t v = 0; v < 6; v++) {
        assert_true(CLEAVE_PUSH(&edges.end, v) && CLEAVE_PUSH(&edges.end, (v + 1) % 6));
        owner[v] = v % 2;
        source[v] = v;
    }
    assert_int_equal(cleave__graph_build(6, &edges, true, &w.graph, &error), CLEAVE_OK);
    CLEAVE_VECTOR_FREE(&edges.end);
    w.serving = (struct cleave__serving){.transport = &cleave__sim,
                                         .shards = 2,
                                         .coordinators = 1,
                                         .clients = 2,
                                         .outstanding = 1,
                                         .owner = owner,
                                         .executor = CLEAVE__SERVE_BATCHED,
                                         .query = {.hops = 2},
                                         .source = source,
                                         .sources = 6,
                                         .cached = true,
                                         .capacity = 2};
    assert_int_equal(cleave__cache_choice_parse("lru", 3, &w.serving.cache, &error), CLEAVE_OK);
    return w;
}

static bool attempt(void *context)
{
    struct world *w = context;
    struct cleave__served served = {.queries = 12345};
    struct cleave_error error;
    enum cleave_status status = cleave__graph_serve(w->graph, &w->serving, &served, &error);
    return status ? status == CLEAVE_NO_MEMORY && served.queries == 12345
                  : served.verified && served.queries == 6;
}

static void memory_runs_out(void **state)
{
    uint32_t owner[6], source[6];
    struct world w = small_world(owner, source);
    (void)state;
    assert_true(failalloc_run("serve", attempt, &w, 1));
    cleave__graph_free(w.graph);
}

static void bad_owners_are_refused(void **state)
{
    uint32_t owner[6], source[6];
    struct world w = small_world(owner, source);
    struct cleave__served served;
    struct cleave_error error;
    (void)state;
    owner[3] = 7; /* on no shard */
    assert_int_equal(cleave__graph_serve(w.graph, &w.serving, &served, &error),
                     CLEAVE_BAD_ARGUMENT);
    cleave__graph_free(w.graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(on_sim), cmocka_unit_test(on_threads),
                                       cmocka_unit_test(on_nats), cmocka_unit_test(memory_runs_out),
                                       cmocka_unit_test(bad_owners_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
