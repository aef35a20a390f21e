/* Instances built around a known answer that greedy steps miss: giant nets that decide which
 * clusters belong together, and weights that fit only when light vertices of one kind make room for
 * heavy ones of the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "cleave/partition.h"
#include "support/failalloc.h"
#include "support/property.h"

struct builder {
    uint32_t nets;
    uint64_t used, *offset;
    uint32_t *pin;
    int64_t *net_weight;
};

static void builder_new(struct builder *b, size_t nets, size_t pins)
{
    *b = (struct builder){.offset = calloc(nets + 1, sizeof *b->offset),
                          .pin = malloc(pins * sizeof *b->pin),
                          .net_weight = malloc(nets * sizeof *b->net_weight)};
    assert_true(b->offset && b->pin && b->net_weight);
}

static void close_net(struct builder *b, int64_t weight)
{
    b->net_weight[b->nets] = weight;
    b->offset[++b->nets] = b->used;
}

static struct cleave_hypergraph *build(struct builder *b, uint32_t vertices, uint32_t weights,
                                       const int64_t *weight)
{
    struct cleave_hypergraph *h = NULL;
    struct cleave_error error;
    assert_int_equal(cleave_hypergraph_new(vertices, b->nets, b->offset, b->pin, weights, weight,
                                           b->net_weight, &h, &error),
                     0);
    free(b->offset);
    free(b->pin);
    free(b->net_weight);
    return h;
}

enum { CLUSTER = 800, MANY = 60, FEW = 30, GIANTS = 4, GIANT_WEIGHT = 30 };

/* Clusters A B C D in a random numbering. Small nets hold each together; MANY ties lie between A
 * and C and between B and D, FEW between A and B and between C and D; giant nets lie in A and B, or
 * in C and D. Two blocks: A B | C D costs 2 * MANY, A C | B D looks better to who does not see
 * giants, and costs 2 * FEW + 2 * GIANTS * GIANT_WEIGHT. */
static struct cleave_hypergraph *giant(struct cleave_random *random)
{
    static const uint32_t tie[4][3] = {{0, 1, FEW}, {2, 3, FEW}, {0, 2, MANY}, {1, 3, MANY}};
    uint32_t n = 4 * CLUSTER, number[4 * CLUSTER];
    struct builder b;
    builder_new(&b, n + 2 * (FEW + MANY + GIANTS), (size_t)5 * n + 4 * GIANTS * CLUSTER + 1000);
    for (uint32_t v = 0; v < n; v++)
        number[v] = v;
    cleave__random_shuffle(random, number, n);
    for (uint32_t v = 0; v < n; v++) {
        b.pin[b.used++] = number[v];
        for (uint64_t more = 1 + cleave__random_below(random, 4); more > 0; more--)
            b.pin[b.used++] = number[v / CLUSTER * CLUSTER + cleave__random_below(random, CLUSTER)];
        close_net(&b, 1);
    }
    for (int t = 0; t < 4; t++) {
        for (uint32_t i = 0; i < tie[t][2]; i++) {
            for (int end = 0; end < 2; end++)
                b.pin[b.used++] =
                    number[tie[t][end] * CLUSTER + cleave__random_below(random, CLUSTER)];
            close_net(&b, 1);
        }
    }
    for (uint32_t g = 0; g < 2 * GIANTS; g++) {
        for (uint32_t i = 0; i < 2 * CLUSTER; i++) {
            if (cleave__random_below(random, 5))
                b.pin[b.used++] = number[g % 2 * 2 * CLUSTER + i];
        }
        close_net(&b, GIANT_WEIGHT);
    }
    return build(&b, n, 1, NULL);
}

static bool sees_giants(struct property_source *s, void *context)
{
    struct cleave_random random;
    struct cleave_error error = {0};
    struct cleave_partition_result r = {0};
    (void)context;
    cleave__random_seed(&random, property_draw(s, 1 << 20));
    struct cleave_hypergraph *h = giant(&random);
    uint32_t *block = malloc(h->vertices * sizeof *block);
    struct cleave_partition_options o = {.blocks = 2,
                                         .epsilon = 0.03,
                                         .objective = CLEAVE_KM1,
                                         .preset =
                                             property_draw(s, 2) ? CLEAVE_FAST : CLEAVE_DEFAULT,
                                         .seed = property_draw(s, 1 << 20)};
    bool held = cleave_partition(h, &o, block, &r, &error) == CLEAVE_OK && r.km1 <= 2 * MANY;
    if (s->verbose)
        printf("preset %d seed %llu: km1 %lld, planted %d\n", (int)o.preset,
               (unsigned long long)o.seed, (long long)r.km1, 2 * MANY);
    free(block);
    cleave_hypergraph_free(h);
    return held;
}

enum { SMALL_MAX = 400, HARD_BLOCKS = 8 };

/* Weights that k blocks can carry evenly, by construction: each block is dealt exactly `unit` of
 * both weights; some by one vertex with most of the first and next to none of the second, the rest
 * by vertices rich in one of them. */
static bool packs_what_fits(struct property_source *s, void *context)
{
    enum { ROOM = 4000 };
    int64_t weight[2 * HARD_BLOCKS * (SMALL_MAX + 2)];
    uint32_t k = 2 + (uint32_t)property_draw(s, HARD_BLOCKS - 1), n = 0;
    (void)context;
    for (uint32_t b = 0; b < k; b++) {
        int64_t left[2] = {ROOM, ROOM};
        if (b % 2 == 0) {
            weight[2 * n] = property_between(s, ROOM / 2, ROOM - ROOM / 8);
            weight[2 * n + 1] = 1;
            left[0] -= weight[2 * n];
            left[1] -= weight[2 * n + 1];
            n++;
        }
        for (uint32_t i = 0; i < SMALL_MAX && (left[0] > 0 || left[1] > 0); i++, n++) {
            /* As rich in a weight as what is left to deal. */
            int64_t parts = SMALL_MAX / 2 - i > 1 ? SMALL_MAX / 2 - i : 1;
            for (int c = 0; c < 2; c++) {
                int64_t share = left[c] / parts + 1;
                int64_t w = property_between(s, share / 2, share + share / 2);
                w = parts == 1 || w > left[c] ? left[c] : w;
                weight[2 * n + (uint32_t)c] = w;
                left[c] -= w;
            }
        }
    }
    struct builder b;
    builder_new(&b, 2 * (size_t)n, 6 * (size_t)n);
    for (uint32_t e = 0; e < 2 * n; e++) {
        for (uint64_t i = 2 + property_draw(s, 2); i > 0; i--)
            b.pin[b.used++] = (uint32_t)property_draw(s, n);
        close_net(&b, 1);
    }
    struct cleave_hypergraph *h = build(&b, n, 2, weight);
    uint32_t *block = malloc(n * sizeof *block);
    struct cleave_error error = {0};
    struct cleave_partition_result r = {0};
    struct cleave_partition_options o = {
        .blocks = k, .epsilon = 0.01, .objective = CLEAVE_KM1, .preset = CLEAVE_FAST};
    bool held = cleave_partition(h, &o, block, &r, &error) == CLEAVE_OK && r.balanced;
    if (s->verbose)
        printf("%u vertices, %u blocks: %s\n", n, k, error.message);
    free(block);
    cleave_hypergraph_free(h);
    return held;
}

static void giants_count(void **state)
{
    (void)state;
    assert_true(property_run("sees_giants", sees_giants, NULL, 3));
}

static void tight_weights_fit(void **state)
{
    (void)state;
    assert_true(property_run("packs_what_fits", packs_what_fits, NULL, 20));
}

struct scarce {
    struct cleave_hypergraph *h;
    uint32_t *block;
    uint32_t attempts;
};

static bool partition_or_say(void *context)
{
    struct scarce *x = context;
    struct cleave_error error = {0};
    const struct cleave_partition_options o = {
        .blocks = 2, .epsilon = 0.03, .objective = CLEAVE_KM1, .preset = CLEAVE_FAST, .seed = 5};
    enum cleave_status status = cleave_partition(x->h, &o, x->block, NULL, &error);
    x->attempts++;
    return status == CLEAVE_OK || (status == CLEAVE_NO_MEMORY && error.message[0]);
}

/* Pieces are made and merged for these nets, which the small hypergraphs of the other test of this
 * kind never need. */
static void giants_survive_failed_allocations(void **state)
{
    (void)state;
    struct cleave_random random;
    cleave__random_seed(&random, 3);
    struct scarce x = {.h = giant(&random)};
    x.block = malloc(x.h->vertices * sizeof *x.block);
    assert_true(failalloc_run("giants", partition_or_say, &x, 131));
    assert_true(x.attempts > 5);
    free(x.block);
    cleave_hypergraph_free(x.h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(giants_count),
        cmocka_unit_test(tight_weights_fit),
        cmocka_unit_test(giants_survive_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
