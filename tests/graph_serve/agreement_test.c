/* What processes agree on: read as it was written; whatever the bytes are, an error or something
 * that makes sense; another graph is refused, however little it differs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/serve/agreement.h"
#include "graph/world.h"
#include "support/failalloc.h"

static struct cleave__agreement draw(struct property_source *source,
                                     const struct cleave__graph *graph)
{
    static const uint32_t most[] = {1, 3, 256, 257, 10000};
    struct cleave__agreement a = {.vertices = graph->vertices,
                                  .fingerprint = cleave__graph_fingerprint(graph),
                                  .shards = most[property_draw(source, 5)],
                                  .coordinators = 1 + (uint32_t)property_draw(source, 400),
                                  .clients = 1 + (uint32_t)property_draw(source, 10000),
                                  .mailbox_most = (uint32_t)property_draw(source, 1 << 20),
                                  .retry_ns = 1 + property_draw(source, 1000000000),
                                  .retry_most_ns = property_draw(source, 1000000000)};
    a.owner = malloc(graph->vertices * sizeof *a.owner);
    for (uint32_t v = 0; v < graph->vertices; v++)
        a.owner[v] = (uint32_t)property_draw(source, a.shards);
    return a;
}

static bool same(const struct cleave__agreement *a, const struct cleave__agreement *b)
{
    return a->fingerprint == b->fingerprint && a->vertices == b->vertices &&
           a->shards == b->shards && a->coordinators == b->coordinators &&
           a->clients == b->clients && a->mailbox_most == b->mailbox_most &&
           a->retry_ns == b->retry_ns && a->retry_most_ns == b->retry_most_ns &&
           !memcmp(a->owner, b->owner, a->vertices * sizeof *a->owner);
}

static bool reads_back(struct property_source *source, void *context)
{
    struct cleave__graph *graph = world_graph(source), *other = world_graph(source);
    struct cleave__agreement a = draw(source, graph), got = {0}, torn = {0};
    struct cleave_writer writer = {0};
    struct cleave_error error;
    (void)context;
    cleave__agreement_write(&a, &writer);
    bool good =
        !cleave__agreement_read(writer.data, writer.count, graph, &got, &error) && same(&a, &got);
    if (cleave__graph_fingerprint(other) != a.fingerprint)
        good = good && cleave__agreement_read(writer.data, writer.count, other, &torn, &error) ==
                           CLEAVE_BAD_INPUT;
    size_t length = property_draw(source, 3) ? writer.count : property_draw(source, writer.count);
    for (uint64_t n = property_draw(source, 4); n; n--)
        writer.data[property_draw(source, writer.count)] = (uint8_t)property_draw(source, 256);
    if (!cleave__agreement_read(writer.data, length, graph, &torn, &error)) {
        for (uint32_t v = 0; v < torn.vertices; v++)
            good = good && torn.owner[v] < torn.shards;
        good = good && torn.vertices == graph->vertices && torn.coordinators && torn.clients;
        cleave__agreement_free(&torn);
    }
    cleave__agreement_free(&got);
    cleave__agreement_free(&a);
    free(writer.data);
    cleave__graph_free(graph);
    cleave__graph_free(other);
    return good;
}

static void property(void **state)
{
    (void)state;
    assert_true(property_run("agreement", reads_back, NULL, 2000));
}

/* An edge, an id or a label more or less makes another graph. */
static void fingerprints(void **state)
{
    struct cleave__graph *graph[2];
    struct cleave__edges edges = {0};
    struct cleave_error error;
    (void)state;
    for (uint32_t v = 0; v < 5; v++)
        assert_true(CLEAVE_PUSH(&edges.end, v) && CLEAVE_PUSH(&edges.end, (v + 1) % 5));
    for (int g = 0; g < 2; g++)
        assert_int_equal(cleave__graph_build(5, &edges, false, &graph[g], &error), CLEAVE_OK);
    uint64_t first = cleave__graph_fingerprint(graph[0]);
    assert_true(first == cleave__graph_fingerprint(graph[1]));
    graph[1]->number[4]++;
    assert_true(first != cleave__graph_fingerprint(graph[1]));
    graph[1]->number[4]--;
    graph[1]->target[2] ^= 1;
    assert_true(first != cleave__graph_fingerprint(graph[1]));
    CLEAVE_VECTOR_FREE(&edges.end);
    cleave__graph_free(graph[0]);
    cleave__graph_free(graph[1]);
}

struct bytes {
    const struct cleave__graph *graph;
    struct cleave_writer writer;
};

static bool attempt(void *context)
{
    struct bytes *b = context;
    struct cleave__agreement got;
    struct cleave_error error;
    enum cleave_status status =
        cleave__agreement_read(b->writer.data, b->writer.count, b->graph, &got, &error);
    if (!status)
        cleave__agreement_free(&got);
    return !status || status == CLEAVE_NO_MEMORY;
}

static void memory_runs_out(void **state)
{
    struct cleave__edges edges = {0};
    struct cleave__graph *graph;
    struct cleave_error error;
    uint32_t owner[2] = {0, 1};
    (void)state;
    assert_true(CLEAVE_PUSH(&edges.end, 0) && CLEAVE_PUSH(&edges.end, 1));
    assert_int_equal(cleave__graph_build(2, &edges, true, &graph, &error), CLEAVE_OK);
    CLEAVE_VECTOR_FREE(&edges.end);
    struct bytes b = {.graph = graph};
    cleave__agreement_write(
        &(struct cleave__agreement){.vertices = 2,
                                    .fingerprint = cleave__graph_fingerprint(graph),
                                    .shards = 2,
                                    .coordinators = 1,
                                    .clients = 1,
                                    .retry_ns = 1,
                                    .owner = owner},
        &b.writer);
    assert_true(failalloc_run("agreement", attempt, &b, 1));
    free(b.writer.data);
    cleave__graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(property), cmocka_unit_test(fingerprints),
                                       cmocka_unit_test(memory_runs_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
