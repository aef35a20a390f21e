/* The partitioner's promises on instances too large for brute force: constraints of every kind,
 * the same answer for the same seed, warm starts and budgets, every state checked on the way. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "cleave/partition.h"
#include "support/failalloc.h"

/* `groups` clusters of `size` vertices: many nets inside, few between, two weights a vertex. */
static struct cleave_hypergraph *planted(uint32_t groups, uint32_t size, uint64_t seed)
{
    uint32_t n = groups * size, nets = 4 * n, used = 0;
    uint64_t *offset = calloc(nets + 1, sizeof *offset);
    uint32_t *pin = calloc(4 * (size_t)nets, sizeof *pin);
    int64_t *weight = calloc(2 * (size_t)n, sizeof *weight);
    struct cleave_random random;
    cleave__random_seed(&random, seed);
    for (uint32_t e = 0; e < nets; e++) {
        uint32_t group = (uint32_t)cleave__random_below(&random, groups);
        bool across = e % 40 == 0;
        for (int i = 0; i < 4; i++)
            pin[used++] = across ? (uint32_t)cleave__random_below(&random, n)
                                 : group * size + (uint32_t)cleave__random_below(&random, size);
        offset[e + 1] = used;
    }
    for (uint32_t v = 0; v < n; v++) {
        weight[2 * v] = 1 + (int64_t)cleave__random_below(&random, 9);
        weight[2 * v + 1] = (int64_t)cleave__random_below(&random, 4);
    }
    struct cleave_hypergraph *h = NULL;
    struct cleave_error error;
    assert_int_equal(cleave_hypergraph_new(n, nets, offset, pin, 2, weight, NULL, &h, &error), 0);
    free(offset);
    free(pin);
    free(weight);
    return h;
}

static uint32_t *blocks_for(const struct cleave_hypergraph *h)
{
    uint32_t *block = malloc(((size_t)h->vertices + 1) * sizeof *block);
    assert_non_null(block);
    return block;
}

static struct cleave_partition_result run(const struct cleave_hypergraph *h,
                                          const struct cleave_partition_options *o, uint32_t *block)
{
    struct cleave_partition_result r = {0}, recount = {0};
    struct cleave_error error = {0};
    enum cleave_status status = cleave_partition(h, o, block, &r, &error);
    if (status)
        fail_msg("status %d: %s", status, error.message);
    assert_int_equal(cleave_partition_measure(h, o, block, &recount, &error), 0);
    assert_int_equal(r.cut, recount.cut);
    assert_int_equal(r.km1, recount.km1);
    assert_true(r.balanced && recount.balanced);
    return r;
}

static void finds_what_was_planted(void **state)
{
    (void)state;
    struct cleave_hypergraph *h = planted(8, 100, 1);
    uint32_t *block = blocks_for(h);
    struct cleave_partition_options o = {.blocks = 8, .epsilon = 0.1, .objective = CLEAVE_KM1};
    struct cleave_partition_result r = run(h, &o, block);
    uint32_t planted_block[800];
    for (uint32_t v = 0; v < 800; v++)
        planted_block[v] = v / 100;
    struct cleave_partition_result known;
    struct cleave_error error;
    assert_int_equal(cleave_partition_measure(h, &o, planted_block, &known, &error), 0);
    assert_true(r.km1 <= known.km1);
    free(block);
    cleave_hypergraph_free(h);
}

static void same_seed_same_answer(void **state)
{
    (void)state;
    struct cleave_hypergraph *h = planted(5, 120, 2);
    uint32_t *a = blocks_for(h), *b = blocks_for(h);
    for (uint32_t k = 2; k <= 17; k += 5) {
        struct cleave_partition_options o = {.blocks = k, .epsilon = 0.05, .seed = k, .starts = 2};
        run(h, &o, a);
        run(h, &o, b);
        assert_memory_equal(a, b, h->vertices * sizeof *a);
    }
    free(a);
    free(b);
    cleave_hypergraph_free(h);
}

static void keeps_every_constraint(void **state)
{
    (void)state;
    struct cleave_hypergraph *h = planted(6, 60, 3);
    uint32_t n = h->vertices, *block = blocks_for(h), *together = calloc(n, sizeof *together);
    int32_t *fixed = malloc(n * sizeof *fixed);
    static const uint32_t apart[][2] = {{0, 1}, {1, 2}, {0, 2}, {100, 101}};
    static const double share[] = {4, 2, 1, 1};
    for (uint32_t v = 0; v < n; v++) {
        fixed[v] = v % 50 == 7 ? (int32_t)(v / 50 % 4) : CLEAVE_FREE;
        together[v] = v % 30 == 5 ? 77 : v % 90 == 11 ? 5 : 0;
    }
    struct cleave_partition_options o = {.blocks = 4,
                                         .epsilon = 0.08,
                                         .target_share = share,
                                         .fixed = fixed,
                                         .together = together,
                                         .apart = apart,
                                         .apart_count = 4,
                                         .seed = 5};
    run(h, &o, block);
    for (uint32_t v = 0; v < n; v++) {
        assert_true(fixed[v] == CLEAVE_FREE || (uint32_t)fixed[v] == block[v]);
        assert_true(together[v] != 77 || block[v] == block[5]);
        assert_true(together[v] != 5 || block[v] == block[11]);
    }
    for (uint32_t i = 0; i < 4; i++)
        assert_int_not_equal(block[apart[i][0]], block[apart[i][1]]);
    free(block);
    free(together);
    free(fixed);
    cleave_hypergraph_free(h);
}

static void warm_start_and_budget(void **state)
{
    (void)state;
    struct cleave_hypergraph *h = planted(4, 150, 4);
    uint32_t n = h->vertices, *first = blocks_for(h), *second = blocks_for(h);
    struct cleave_partition_options o = {.blocks = 4, .epsilon = 0.05, .seed = 1};
    struct cleave_partition_result a = run(h, &o, first);
    /* Spoil it a little; refining gets back within a budget, and never leaves more than allowed. */
    for (uint32_t v = 0; v + 10 < n; v += 37) {
        uint32_t held = first[v];
        first[v] = first[v + 10];
        first[v + 10] = held;
    }
    struct cleave_partition_result spoilt;
    struct cleave_error error;
    assert_int_equal(cleave_partition_measure(h, &o, first, &spoilt, &error), 0);
    o.warm_start = first;
    o.warm_refine_only = true;
    struct cleave_partition_result refined = run(h, &o, second);
    assert_true(refined.cut <= spoilt.cut);
    assert_true(refined.cut <= a.cut + (spoilt.cut - a.cut) / 2);
    for (int64_t budget = 1; budget < 400; budget *= 3) {
        o.migration_budget = budget;
        o.warm_refine_only = budget % 2;
        o.epsilon = 0.3; /* room enough that nothing has to move */
        struct cleave_partition_result r = run(h, &o, second);
        int64_t moved = 0;
        for (uint32_t v = 0; v < n; v++)
            moved += first[v] != second[v] ? h->vertex_weight[2 * v] : 0;
        assert_true(moved <= budget);
        assert_true(r.cut <= spoilt.cut);
    }
    free(first);
    free(second);
    cleave_hypergraph_free(h);
}

static void no_block_is_empty(void **state)
{
    (void)state;
    struct cleave_hypergraph *h = planted(3, 70, 5);
    uint32_t *block = blocks_for(h), count[210];
    for (uint32_t k = 1; k <= 210; k += 19) {
        struct cleave_partition_options o = {.blocks = k, .epsilon = 20, .seed = k, .starts = 1};
        run(h, &o, block);
        memset(count, 0, sizeof count);
        for (uint32_t v = 0; v < h->vertices; v++)
            count[block[v]]++;
        for (uint32_t b = 0; b < k; b++)
            assert_true(count[b] > 0);
    }
    free(block);
    cleave_hypergraph_free(h);
}

/* One block far over a tiny limit: limits widened by as much stay within int64. */
static void far_over_a_tiny_limit(void **state)
{
    (void)state;
    enum { N = 200, K = 1024 };
    static int64_t weight[N];
    static double share[K];
    static uint32_t block[N];
    for (uint32_t v = 0; v < N; v++)
        weight[v] = v < 2 ? INT64_C(1) << 40 : 1;
    for (uint32_t b = 0; b < K; b++)
        share[b] = b ? 1e-18 : 1;
    static const uint64_t offset[] = {0, 2};
    static const uint32_t pin[] = {0, 2}, apart[][2] = {{0, 1}};
    struct cleave_hypergraph *h = NULL;
    struct cleave_error error = {0};
    struct cleave_partition_result r;
    assert_int_equal(cleave_hypergraph_new(N, 1, offset, pin, 1, weight, NULL, &h, &error), 0);
    struct cleave_partition_options o = {.blocks = K,
                                         .preset = CLEAVE_FAST,
                                         .target_share = share,
                                         .apart = apart,
                                         .apart_count = 1};
    assert_int_equal(cleave_partition(h, &o, block, &r, &error), CLEAVE_UNSATISFIABLE);
    assert_true(block[0] != block[1]);
    cleave_hypergraph_free(h);
}

/* A floor that no one can reach, two vertices of which either breaks the limit: repair ends, and
 * soon (the whole test is stopped by its timeout else). */
static void floors_out_of_reach(void **state)
{
    (void)state;
    enum { N = 30000 };
    int64_t *weight = malloc(N * sizeof *weight);
    uint32_t *block = malloc(N * sizeof *block);
    assert_true(weight && block);
    for (uint32_t v = 0; v < N; v++)
        weight[v] = v < 2 ? INT64_C(1) << 40 : 1;
    static const uint64_t offset[] = {0, 2};
    static const uint32_t pin[] = {0, 2};
    static const double share[] = {1e-6, 1}, underweight[] = {0};
    struct cleave_hypergraph *h = NULL;
    struct cleave_error error = {0};
    assert_int_equal(cleave_hypergraph_new(N, 1, offset, pin, 1, weight, NULL, &h, &error), 0);
    struct cleave_partition_options o = {
        .blocks = 2, .preset = CLEAVE_FAST, .target_share = share, .underweight = underweight};
    assert_int_equal(cleave_partition(h, &o, block, NULL, &error), CLEAVE_UNSATISFIABLE);
    cleave_hypergraph_free(h);
    free(weight);
    free(block);
}

/* Batches, bipartitions, flows and starts are shared by threads; the answer is that of one. */
static void threads_agree(void **state)
{
    (void)state;
    enum { N = 9000 };
    uint64_t *offset = malloc((N + 1) * sizeof *offset);
    uint32_t *pin = malloc(4 * N * sizeof *pin), *first = malloc(N * sizeof *first),
             *other = malloc(N * sizeof *other);
    int64_t *weight = malloc(2 * N * sizeof *weight);
    assert_true(offset && pin && first && other && weight);
    for (uint32_t e = 0; e < N; e++) {
        offset[e] = 4 * (uint64_t)e;
        for (uint32_t i = 0; i < 4; i++)
            pin[4 * e + i] = (e + i * i * (1 + e % 7) + (e % 50 == 0 ? i * 997 : 0)) % N;
        weight[2 * e] = 1;
        weight[2 * e + 1] = e % 5;
    }
    offset[N] = 4 * N;
    struct cleave_hypergraph *h = NULL;
    struct cleave_error error = {0};
    assert_int_equal(cleave_hypergraph_new(N, N, offset, pin, 2, weight, NULL, &h, &error), 0);
    for (uint32_t preset = 0; preset < 3; preset++) {
        struct cleave_partition_options o = {.blocks = 6,
                                             .epsilon = 0.05,
                                             .objective = (enum cleave_objective)preset,
                                             .preset = (enum cleave_preset)preset,
                                             .seed = 3};
        assert_int_equal(cleave_partition(h, &o, first, NULL, &error), 0);
        for (o.threads = 2; o.threads <= 4; o.threads *= 2) {
            assert_int_equal(cleave_partition(h, &o, other, NULL, &error), 0);
            assert_memory_equal(first, other, N * sizeof *first);
        }
    }
    cleave_hypergraph_free(h);
    free(offset);
    free(pin);
    free(first);
    free(other);
    free(weight);
}

static void extremes(void **state)
{
    (void)state;
    struct cleave_hypergraph *h = NULL;
    struct cleave_error error = {0};
    struct cleave_partition_result r;
    uint32_t block[4] = {9, 9, 9, 9};
    const uint64_t none[] = {0};
    assert_int_equal(cleave_hypergraph_new(0, 0, none, NULL, 1, NULL, NULL, &h, &error), 0);
    struct cleave_partition_options o = {.blocks = 1024, .epsilon = 0};
    assert_int_equal(cleave_partition(h, &o, block, &r, &error), 0);
    assert_true(r.cut == 0 && r.balanced);
    cleave_hypergraph_free(h);
    /* More blocks than vertices: each vertex has a block of its own. */
    const uint64_t offset[] = {0, 3};
    const uint32_t pin[] = {0, 1, 2};
    assert_int_equal(cleave_hypergraph_new(3, 1, offset, pin, 1, NULL, NULL, &h, &error), 0);
    assert_int_equal(cleave_partition(h, &o, block, &r, &error), 0);
    assert_int_equal(r.km1, 2);
    assert_true(block[0] != block[1] && block[1] != block[2] && block[0] != block[2]);
    o.blocks = 1;
    assert_int_equal(cleave_partition(h, &o, block, &r, &error), 0);
    assert_int_equal(r.km1, 0);
    assert_int_equal(block[3], 9);
    /* Senseless requests touch nothing. */
    const int32_t fixed[] = {0, 1, -1};
    const double share[] = {0};
    const uint32_t warm[] = {0, 0, 1}, apart[][2] = {{2, 2}};
    block[0] = 9;
    static const double under[] = {-0.1}, over[] = {1.1}, no_number[] = {0.0 / 0.0};
    static const uint32_t start[] = {0, 0, 0}, far[][2] = {{0, 3}};
    static const int32_t below[] = {0, 0, -2};
    struct cleave_partition_options bad[] = {
        {.blocks = 1, .underweight = under},
        {.blocks = 1, .underweight = over},
        {.blocks = 1, .underweight = no_number},
        {.blocks = 1, .epsilons = under},
        {.blocks = 1, .objective = (enum cleave_objective)3},
        {.blocks = 1, .preset = (enum cleave_preset)3},
        {.blocks = 1, .threads = 257},
        {.blocks = 1, .migration_budget = -1, .warm_start = start},
        {.blocks = 1, .fixed = below},
        {.blocks = 1, .apart = far, .apart_count = 1},
        {.blocks = 0},
        {.blocks = 1025},
        {.blocks = 1, .epsilon = -0.1},
        {.blocks = 1, .epsilon = 0.0 / 0.0},
        {.blocks = 1, .fixed = fixed},
        {.blocks = 1, .target_share = share},
        {.blocks = 1, .warm_start = warm},
        {.blocks = 1, .warm_refine_only = true},
        {.blocks = 1, .migration_budget = 5},
        {.blocks = 1, .apart = apart, .apart_count = 1},
        {.blocks = 1, .placer = "oracle"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error.message[0] = 0;
        assert_int_equal(cleave_partition(h, &bad[i], block, &r, &error), CLEAVE_BAD_ARGUMENT);
        assert_true(error.message[0] && block[0] == 9);
    }
    /* A vertex that fits nowhere: the nearest answer, and the word for it. */
    cleave_hypergraph_free(h);
    const int64_t weight[] = {100, 1, 1};
    assert_int_equal(cleave_hypergraph_new(3, 1, offset, pin, 1, weight, NULL, &h, &error), 0);
    o.blocks = 2;
    assert_int_equal(cleave_partition(h, &o, block, &r, &error), CLEAVE_UNSATISFIABLE);
    assert_false(r.balanced);
    assert_true(block[0] != block[1] && block[1] == block[2]);
    assert_non_null(strstr(error.message, "carries 100"));
    cleave_hypergraph_free(h);
}

static void every_placer_keeps_fixed(void **state)
{
    (void)state;
    struct cleave_hypergraph *h = planted(4, 50, 6);
    uint32_t *block = blocks_for(h);
    int32_t *fixed = malloc(h->vertices * sizeof *fixed);
    static const double share[] = {3, 1, 1};
    for (uint32_t v = 0; v < h->vertices; v++)
        fixed[v] = v % 9 == 0 ? 2 : CLEAVE_FREE;
    for (uint32_t i = 0; cleave_placer_at(i); i++) {
        struct cleave_partition_options o = {.blocks = 3,
                                             .epsilon = 2,
                                             .placer = cleave_placer_at(i)->name,
                                             .target_share = share,
                                             .fixed = fixed};
        run(h, &o, block);
        for (uint32_t v = 0; v < h->vertices; v++)
            assert_true(v % 9 || block[v] == 2);
    }
    free(fixed);
    free(block);
    cleave_hypergraph_free(h);
}

static volatile sig_atomic_t stop;

static void report(void *context, const char *stage, uint64_t done, uint64_t total)
{
    (void)context;
    assert_non_null(stage);
    assert_true(done <= total);
    stop = 1;
}

static void stops_when_asked(void **state)
{
    (void)state;
    struct cleave_hypergraph *h = planted(10, 200, 7);
    uint32_t *block = blocks_for(h);
    struct cleave_progress progress = {.report = report, .stop = &stop};
    struct cleave_partition_options o = {.blocks = 8, .epsilon = 0.03, .progress = &progress};
    struct cleave_error error;
    memset(block, 0xff, h->vertices * sizeof *block);
    assert_int_equal(cleave_partition(h, &o, block, NULL, &error), CLEAVE_INTERRUPTED);
    for (uint32_t v = 0; v < h->vertices; v++)
        assert_int_equal(block[v], UINT32_MAX);
    free(block);
    cleave_hypergraph_free(h);
}

static bool attempt(void *context)
{
    struct cleave_hypergraph *h = context;
    static const uint32_t apart[][2] = {{0, 1}};
    uint32_t block[80], warm[80];
    for (uint32_t v = 0; v < 80; v++)
        warm[v] = v % 3;
    struct cleave_partition_options o = {.blocks = 3,
                                         .epsilon = 0.2,
                                         .starts = 1,
                                         .warm_start = warm,
                                         .migration_budget = 60,
                                         .apart = apart,
                                         .apart_count = 1};
    struct cleave_error error = {0};
    enum cleave_status status = cleave_partition(h, &o, block, NULL, &error);
    return status == CLEAVE_OK || status == CLEAVE_UNSATISFIABLE ||
           (status == CLEAVE_NO_MEMORY && error.message[0]);
}

static void survives_failed_allocations(void **state)
{
    (void)state;
    struct cleave_hypergraph *h = planted(4, 20, 8);
    assert_true(failalloc_run("partition", attempt, h, 7));
    cleave_hypergraph_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_planted), cmocka_unit_test(same_seed_same_answer),
        cmocka_unit_test(keeps_every_constraint), cmocka_unit_test(warm_start_and_budget),
        cmocka_unit_test(no_block_is_empty),      cmocka_unit_test(extremes),
        cmocka_unit_test(floors_out_of_reach),    cmocka_unit_test(threads_agree),
        cmocka_unit_test(far_over_a_tiny_limit),  cmocka_unit_test(every_placer_keeps_fixed),
        cmocka_unit_test(stops_when_asked),       cmocka_unit_test(survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
