/* Random graphs, random placements, random queries, every executor: always the oracle's answer, and
 * costs that agree with each other. The oracle itself against powers of the adjacency matrix; and
 * planted faults that must be seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/oracle/oracle.h"
#include "graph/route/executor.h"
#include "graph/world.h"

enum { MOST = 32 };

/* Who is at distance 1..hops by the matrix: walk[h][v] tells whether a walk of h edges leads to v.
 */
static uint32_t by_matrix(const struct cleave__graph *g, const struct cleave__query *q,
                          uint32_t *out)
{
    static bool walk[8][MOST];
    memset(walk, 0, sizeof walk);
    walk[0][q->source] = true;
    uint32_t count = 0;
    for (uint32_t h = 0; h < q->hops; h++) {
        for (uint32_t v = 0; v < g->vertices; v++) {
            for (uint64_t i = g->offset[v]; walk[h][v] && i < g->offset[v + 1]; i++)
                walk[h + 1][g->target[i]] = true;
        }
    }
    for (uint32_t v = 0; v < g->vertices; v++) {
        uint32_t nearest = 0, degree = cleave__graph_degree(g, v);
        while (nearest <= q->hops && !walk[nearest][v])
            nearest++;
        bool in = nearest >= 1 && nearest <= q->hops && (!q->exactly || nearest == q->hops) &&
                  (!q->by_label || g->label[v] == q->label) &&
                  (!q->by_degree || (degree >= q->degree_low && degree <= q->degree_high)) &&
                  (!q->by_id || (v + 1u >= q->id_low && v + 1u <= q->id_high));
        if (in)
            out[count++] = v;
    }
    return count;
}

static bool oracle_agrees(const struct cleave__graph *g, const struct cleave__query *q,
                          struct cleave__graph_oracle *oracle)
{
    uint32_t wanted[MOST], count, wanted_count = by_matrix(g, q, wanted);
    cleave__graph_oracle_ask(oracle, q);
    const uint32_t *users = cleave__graph_oracle_users(oracle, &count);
    return count == wanted_count && !memcmp(users, wanted, count * sizeof *users);
}

static bool costs_agree(const struct cleave__graph_cost *c, const struct cleave__query *q)
{
    const struct cleave__graph_cost *direct = &c[0], *batched = &c[1], *early = &c[2];
    bool free_of_limit = !q->limit || q->top;
    return direct->requests == direct->reads + direct->looks && direct->hops == batched->hops &&
           direct->reads == batched->reads && direct->looks == batched->looks &&
           direct->rounds == batched->rounds && batched->requests <= direct->requests &&
           batched->remote_requests <= direct->remote_requests && early->reads <= batched->reads &&
           early->looks <= batched->looks && early->hops <= batched->hops &&
           (!free_of_limit || !memcmp(early, batched, sizeof *early));
}

static bool answers_are_right(struct property_source *source, void *context)
{
    (void)context;
    struct cleave_error error = {0};
    struct cleave__graph *g = world_graph(source);
    uint32_t shards = 1 + (uint32_t)property_draw(source, 6), owner[MOST];
    for (uint32_t v = 0; v < g->vertices; v++)
        owner[v] = (uint32_t)property_draw(source, shards);
    struct cleave__sharded *sharded = NULL;
    struct cleave__execution *x = NULL;
    struct cleave__graph_oracle *oracle = NULL;
    if (cleave__sharded_new(g, shards, owner, &sharded, &error) ||
        cleave__execution_new(g, sharded, &x, &error) ||
        cleave__graph_oracle_new(g, &oracle, &error))
        abort();
    bool ok = !cleave__sharded_check(sharded, g, &error);
    for (uint32_t turn = 0; ok && turn < 3; turn++) { /* what one query leaves must not harm */
        struct cleave__query q = world_query(source, g);
        struct cleave__graph_cost cost[3];
        ok = !cleave__query_check(g, &q, &error) && oracle_agrees(g, &q, oracle);
        for (uint32_t e = 0; ok && cleave__executor_at(e); e++) {
            cleave__execute(x, cleave__executor_at(e), &q);
            cost[e] = x->cost;
            ok = !cleave__graph_oracle_accepts(oracle, x->answer, x->answer_count, &error);
        }
        ok = ok && costs_agree(cost, &q);
        if (source->verbose && !ok) {
            world_print(g, &q);
            printf("%s\n", error.message);
        }
    }
    cleave__graph_oracle_free(oracle);
    cleave__execution_free(x);
    cleave__sharded_free(sharded);
    cleave__graph_free(g);
    return ok;
}

static void property(void **state)
{
    (void)state;
    assert_true(property_run("executors", answers_are_right, NULL, 20000));
}

/* A ring of ten with chords, cut in two. */
static struct cleave__graph *ring(void)
{
    struct cleave__edges list = {0};
    struct cleave__graph *g;
    struct cleave_error error;
    for (uint32_t v = 0; v < 10; v++) {
        assert_true(CLEAVE_PUSH(&list.end, v) && CLEAVE_PUSH(&list.end, (v + 1) % 10));
        assert_true(CLEAVE_PUSH(&list.end, v) && CLEAVE_PUSH(&list.end, (v + 3) % 10));
    }
    assert_int_equal(cleave__graph_build(10, &list, false, &g, &error), 0);
    CLEAVE_VECTOR_FREE(&list.end);
    return g;
}

/* Faults in executors that the oracle must see. */
static void forget_remote(struct cleave__execution *x)
{
    cleave__run_batched(x);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < x->answer_count; i++) {
        if (x->sharded->owner[x->answer[i]] == x->sharded->owner[x->query->source])
            x->answer[kept++] = x->answer[i];
    }
    x->answer_count = kept;
}

static void answer_twice(struct cleave__execution *x)
{
    cleave__run_direct(x);
    x->answer[x->answer_count - 1] = x->answer[0];
}

static void answer_the_source(struct cleave__execution *x)
{
    cleave__run_direct(x);
    x->answer[0] = x->query->source;
}

static void go_too_far(struct cleave__execution *x)
{
    struct cleave__query farther = *x->query;
    const struct cleave__query *held = x->query;
    farther.hops++;
    x->query = &farther;
    cleave__run_direct(x);
    x->query = held;
}

static void planted_faults_are_seen(void **state)
{
    (void)state;
    static const struct cleave__executor faulty[] = {{"forget", "", forget_remote},
                                                     {"twice", "", answer_twice},
                                                     {"source", "", answer_the_source},
                                                     {"far", "", go_too_far}};
    const uint32_t owner[10] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
    struct cleave_error error;
    struct cleave__graph *g = ring();
    struct cleave__sharded *sharded;
    struct cleave__execution *x;
    struct cleave__graph_oracle *oracle;
    const struct cleave__query q = {.source = 2, .hops = 2};
    assert_int_equal(cleave__sharded_new(g, 2, owner, &sharded, &error), 0);
    assert_int_equal(cleave__execution_new(g, sharded, &x, &error), 0);
    assert_int_equal(cleave__graph_oracle_new(g, &oracle, &error), 0);
    cleave__graph_oracle_ask(oracle, &q);
    for (size_t i = 0; i < sizeof faulty / sizeof *faulty; i++) {
        cleave__execute(x, &faulty[i], &q);
        assert_int_equal(cleave__graph_oracle_accepts(oracle, x->answer, x->answer_count, &error),
                         CLEAVE_CORRUPT);
    }
    cleave__execute(x, cleave__executor_find("direct"), &q);
    assert_int_equal(cleave__graph_oracle_accepts(oracle, x->answer, x->answer_count, &error), 0);
    /* A top in the wrong order. */
    const struct cleave__query top = {.source = 2, .hops = 2, .limit = 3, .top = true};
    cleave__graph_oracle_ask(oracle, &top);
    cleave__execute(x, cleave__executor_find("batched"), &top);
    assert_int_equal(cleave__graph_oracle_accepts(oracle, x->answer, x->answer_count, &error), 0);
    uint32_t held = x->answer[0];
    x->answer[0] = x->answer[1];
    x->answer[1] = held;
    assert_int_equal(cleave__graph_oracle_accepts(oracle, x->answer, x->answer_count, &error),
                     CLEAVE_CORRUPT);
    /* Shards that disagree with the graph. */
    assert_int_equal(cleave__sharded_check(sharded, g, &error), 0);
    sharded->shard[0].target[1]++;
    assert_int_equal(cleave__sharded_check(sharded, g, &error), CLEAVE_CORRUPT);
    sharded->shard[0].target[1]--;
    sharded->owner[4] = 1;
    assert_int_equal(cleave__sharded_check(sharded, g, &error), CLEAVE_CORRUPT);
    cleave__graph_oracle_free(oracle);
    cleave__execution_free(x);
    cleave__sharded_free(sharded);
    cleave__graph_free(g);
}

/* By hand: 0 follows 1 and 2, these follow 3 and 4; 0 and 1 are on shard 0, the others on 1. */
static void costs_by_hand(void **state)
{
    (void)state;
    const uint32_t end[] = {0, 1, 0, 2, 1, 3, 2, 3, 2, 4}, owner[] = {0, 0, 1, 1, 1};
    struct cleave__edges list = {0};
    struct cleave_error error;
    struct cleave__graph *g;
    struct cleave__sharded *sharded;
    struct cleave__execution *x;
    for (int i = 0; i < 10; i++)
        assert_true(CLEAVE_PUSH(&list.end, end[i]));
    assert_int_equal(cleave__graph_build(5, &list, false, &g, &error), 0);
    CLEAVE_VECTOR_FREE(&list.end);
    assert_int_equal(cleave__sharded_new(g, 2, owner, &sharded, &error), 0);
    assert_int_equal(cleave__execution_new(g, sharded, &x, &error), 0);
    struct cleave__query q = {.source = 0, .hops = 2};
    cleave__execute(x, cleave__executor_find("direct"), &q);
    assert_int_equal(x->answer_count, 4);
    assert_int_equal(x->cost.hops, 2); /* 0 -> 2 and 1 -> 3 */
    assert_int_equal(x->cost.requests, 3);
    assert_int_equal(x->cost.remote_requests, 1);
    assert_int_equal(x->cost.rounds, 2);
    q.by_degree = true; /* of 3 and 4 only their shard knows */
    q.degree_high = 100;
    cleave__execute(x, cleave__executor_find("direct"), &q);
    assert_int_equal(x->cost.requests, 5);
    assert_int_equal(x->cost.looks, 2);
    cleave__execute(x, cleave__executor_find("batched"), &q);
    assert_int_equal(x->cost.requests, 4);
    assert_int_equal(x->cost.remote_requests, 2);
    q.limit = 1; /* user 1 is on the source's shard, and its list is needed no more */
    cleave__execute(x, cleave__executor_find("early"), &q);
    assert_int_equal(x->answer_count, 1);
    assert_int_equal(x->cost.remote_requests, 0);
    assert_int_equal(x->cost.reads, 2);
    cleave__execution_free(x);
    cleave__sharded_free(sharded);
    cleave__graph_free(g);
}

static void senseless_queries_are_refused(void **state)
{
    (void)state;
    struct cleave__graph *g = ring();
    struct cleave_error error;
    static const struct cleave__query bad[] = {
        {.source = 10, .hops = 1},
        {.source = 0, .hops = 0},
        {.source = 0, .hops = 65},
        {.source = 0, .hops = 1, .by_label = true},
        {.source = 0, .hops = 1, .top = true},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(cleave__query_check(g, &bad[i], &error), CLEAVE_BAD_ARGUMENT);
    cleave__graph_free(g);
}

static void sources_are_drawn_fairly(void **state)
{
    (void)state;
    struct cleave__graph *g = ring();
    struct cleave_error error;
    uint32_t *source, drawn, count[10] = {0};
    for (uint64_t seed = 0; seed < 1000; seed++) {
        assert_int_equal(cleave__query_sources(g, 3, seed, &source, &drawn, &error), 0);
        assert_int_equal(drawn, 3);
        assert_true(source[0] < source[1] && source[1] < source[2] && source[2] < 10);
        for (int i = 0; i < 3; i++)
            count[source[i]]++;
        free(source);
    }
    for (int i = 0; i < 10; i++)
        assert_true(count[i] > 240 && count[i] < 360);
    assert_int_equal(cleave__query_sources(g, 99, 1, &source, &drawn, &error), 0);
    assert_int_equal(drawn, 10);
    free(source);
    cleave__graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(property),
        cmocka_unit_test(planted_faults_are_seen),
        cmocka_unit_test(costs_by_hand),
        cmocka_unit_test(senseless_queries_are_refused),
        cmocka_unit_test(sources_are_drawn_fairly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
