/* Building, checking, writing and reading back hypergraphs; measures on cases done by hand. Files
 * of every kind: readers_test.c; damaged ones: hostile_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleave/hypergraph.h"
#include "model/measures.h"
#include "support/property.h"

static char path[] = "cleave-model-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int descriptor = mkstemp(path);
    return descriptor < 0 || close(descriptor);
}

static int drop_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void build_and_check(void **state)
{
    (void)state;
    const uint64_t offset[] = {0, 3, 5, 5};
    const uint32_t pin[] = {2, 0, 2, 1, 3};
    struct cleave_hypergraph *h = NULL;
    struct cleave_error error;
    assert_int_equal(cleave_hypergraph_new(4, 3, offset, pin, 1, NULL, NULL, &h, &error),
                     CLEAVE_OK);
    assert_int_equal(h->net_offset[3], 4); /* the repeated pin is gone, the empty net stays */
    assert_int_equal(h->pin[0], 2);
    assert_int_equal(h->pin[1], 0);
    assert_int_equal(cleave_hypergraph_check(h, &error), CLEAVE_OK);
    /* Each invariant broken in turn is seen. */
    h->pin[1] = 2;
    assert_int_equal(cleave_hypergraph_check(h, &error), CLEAVE_CORRUPT);
    h->pin[1] = 9;
    assert_int_equal(cleave_hypergraph_check(h, &error), CLEAVE_CORRUPT);
    h->pin[1] = 0;
    h->incident[0] = 1;
    assert_int_equal(cleave_hypergraph_check(h, &error), CLEAVE_CORRUPT);
    h->incident[0] = 0;
    h->vertex_weight[0] = -1;
    assert_int_equal(cleave_hypergraph_check(h, &error), CLEAVE_CORRUPT);
    h->vertex_weight[0] = 1;
    h->net_offset[1] = 9;
    assert_int_equal(cleave_hypergraph_check(h, &error), CLEAVE_CORRUPT);
    h->net_offset[1] = 2;
    assert_int_equal(cleave_hypergraph_check(h, &error), CLEAVE_OK);
    cleave_hypergraph_free(h);
    cleave_hypergraph_free(NULL);
}

static void refuses_nonsense(void **state)
{
    (void)state;
    const uint64_t offset[] = {0, 2}, backwards[] = {0, 2, 1}, late[] = {1, 2};
    const uint32_t pin[] = {0, 1}, far[] = {0, 7};
    const int64_t negative[] = {1, -1}, huge[] = {INT64_MAX, 1}, one[] = {1};
    struct cleave_hypergraph *h = NULL;
    struct cleave_error e;
    assert_int_equal(cleave_hypergraph_new(2, 1, offset, far, 1, NULL, NULL, &h, &e),
                     CLEAVE_BAD_ARGUMENT);
    assert_int_equal(cleave_hypergraph_new(2, 2, backwards, pin, 1, NULL, NULL, &h, &e),
                     CLEAVE_BAD_ARGUMENT);
    assert_int_equal(cleave_hypergraph_new(2, 1, late, pin, 1, NULL, NULL, &h, &e),
                     CLEAVE_BAD_ARGUMENT);
    assert_int_equal(cleave_hypergraph_new(2, 1, offset, pin, 1, negative, NULL, &h, &e),
                     CLEAVE_BAD_ARGUMENT);
    assert_int_equal(cleave_hypergraph_new(2, 1, offset, pin, 1, huge, NULL, &h, &e),
                     CLEAVE_BAD_ARGUMENT);
    assert_int_equal(cleave_hypergraph_new(2, 1, offset, pin, 1, NULL, huge, &h, &e),
                     CLEAVE_BAD_ARGUMENT);
    assert_int_equal(cleave_hypergraph_new(2, 1, offset, pin, 0, one, NULL, &h, &e),
                     CLEAVE_BAD_ARGUMENT);
    assert_int_equal(cleave_hypergraph_new(2, 1, offset, pin, 9, one, NULL, &h, &e),
                     CLEAVE_BAD_ARGUMENT);
    assert_null(h);
}

static bool equal(const struct cleave_hypergraph *a, const struct cleave_hypergraph *b)
{
    return a->vertices == b->vertices && a->nets == b->nets && a->weights == b->weights &&
           !memcmp(a->net_offset, b->net_offset, (a->nets + 1) * sizeof *a->net_offset) &&
           !memcmp(a->pin, b->pin, a->net_offset[a->nets] * sizeof *a->pin) &&
           !memcmp(a->vertex_offset, b->vertex_offset,
                   (a->vertices + 1) * sizeof *a->vertex_offset) &&
           !memcmp(a->incident, b->incident, a->net_offset[a->nets] * sizeof *a->incident) &&
           !memcmp(a->vertex_weight, b->vertex_weight,
                   a->vertices * a->weights * sizeof *a->vertex_weight) &&
           !memcmp(a->net_weight, b->net_weight, a->nets * sizeof *a->net_weight);
}

static bool round_trips(struct property_source *source, void *context)
{
    (void)context;
    enum { N = 20, E = 20, W = CLEAVE_WEIGHTS_MAX };
    uint32_t n = (uint32_t)property_draw(source, N + 1), e = (uint32_t)property_draw(source, E + 1);
    uint32_t w = 1 + (uint32_t)property_draw(source, W), used = 0;
    uint64_t offset[E + 1] = {0};
    uint32_t pin[E * 6];
    int64_t vertex_weight[N * W], net_weight[E];
    bool plain = property_draw(source, 2) == 0;
    for (uint32_t i = 0; i < e; i++) {
        uint32_t size = n ? (uint32_t)property_draw(source, 6) : 0;
        for (uint32_t j = 0; j < size; j++)
            pin[used++] = (uint32_t)property_draw(source, n);
        offset[i + 1] = used;
        net_weight[i] = property_between(source, 0, 3);
    }
    for (uint32_t i = 0; i < n * w; i++)
        vertex_weight[i] = property_between(source, 0, INT64_C(1) << 40);
    struct cleave_hypergraph *a = NULL, *b = NULL;
    struct cleave_error error;
    if (n == 0)
        w = 1; /* no line tells how many weights no vertex has */
    bool ok = !cleave_hypergraph_new(n, e, offset, pin, plain ? 1 : w, plain ? NULL : vertex_weight,
                                     property_draw(source, 2) ? net_weight : NULL, &a, &error) &&
              !cleave_hypergraph_write_hgr(a, path, &error) &&
              !cleave_hypergraph_read_hgr(path, &b, &error) && equal(a, b) &&
              !cleave_hypergraph_check(b, &error);
    if (!ok && source->verbose)
        printf("%s\n", error.message);
    cleave_hypergraph_free(a);
    cleave_hypergraph_free(b);
    return ok;
}

static void writes_what_it_reads(void **state)
{
    (void)state;
    assert_true(property_run("hgr round trip", round_trips, NULL, 500));
}

static void measures_by_hand(void **state)
{
    (void)state;
    const uint64_t offset[] = {0, 2, 5, 6};
    const uint32_t pin[] = {0, 1, 1, 2, 3, 0};
    const int64_t net_weight[] = {3, 5, 7};
    struct cleave_hypergraph *h;
    struct cleave_error error;
    assert_int_equal(cleave_hypergraph_new(4, 3, offset, pin, 1, NULL, net_weight, &h, &error), 0);
    const uint32_t block[] = {0, 1, 2, 0};
    uint32_t mark[3];
    int64_t weight[3];
    assert_int_equal(cleave__measure_cut(h, block), 8);
    assert_int_equal(cleave__measure_km1(h, block, 3, mark), 13);
    cleave__measure_weights(h, block, 3, weight);
    assert_int_equal(weight[0], 2);
    assert_int_equal(weight[2], 1);
    cleave_hypergraph_free(h);

    assert_int_equal(cleave__share_of(1, 3, 10), 4);
    assert_int_equal(cleave__share_of(1, 49, 49), 1);
    assert_int_equal(cleave__share_of(0.1, 1.0, 70), 7);
    assert_int_equal(cleave__share_of(2, 3, 9), 6);
    assert_int_equal(cleave__share_of(1, 2, 0), 0);
    assert_int_equal(cleave__block_limit(100, 0.03), 103);
    assert_int_equal(cleave__block_limit(5, 0.03), 5);
    assert_int_equal(cleave__block_limit(0, 10), 0);

    const double size[] = {1, 3}, access[] = {0, 0}, even[] = {2, 2};
    assert_true(cleave__skew_factor(2, size, access, 1, 1) == 0.25);
    assert_true(cleave__skew_factor(2, even, size, 1, 2) == 0.5);
    assert_true(cleave__skew_factor(0, NULL, NULL, 1, 1) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(build_and_check),
        cmocka_unit_test(refuses_nonsense),
        cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(measures_by_hand),
    };
    return cmocka_run_group_tests(tests, make_file, drop_file);
}
