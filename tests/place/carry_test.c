/* An old placement carried over: what was placed stays, the rest follows its nets. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "place/carry.h"
#include "support/failalloc.h"
#include "support/property.h"

static struct cleave_hypergraph *chain(uint32_t vertices, const int64_t *weight)
{
    uint64_t offset[64] = {0};
    uint32_t pin[128];
    struct cleave_hypergraph *h;
    struct cleave_error error;
    for (uint32_t e = 0; e + 1 < vertices; e++) {
        pin[2 * e] = e;
        pin[2 * e + 1] = e + 1;
        offset[e + 1] = 2 * (e + 1);
    }
    assert_int_equal(
        cleave_hypergraph_new(vertices, vertices - 1, offset, pin, 1, weight, NULL, &h, &error), 0);
    return h;
}

static void new_vertices_follow_their_nets(void **state)
{
    (void)state;
    const uint32_t no = CLEAVE_NO_BLOCK;
    struct cleave_hypergraph *h = chain(9, NULL);
    uint32_t block[9] = {1, no, no, no, no, no, no, no, 0};
    struct cleave_error error;
    assert_int_equal(cleave__carry_complete(h, 2, block, &error), 0);
    const uint32_t wanted[9] = {1, 1, 1, 1, 0, 0, 0, 0, 0}; /* the middle one: a tie, lower wins */
    assert_memory_equal(block, wanted, sizeof wanted);
    cleave_hypergraph_free(h);
}

static void heavier_nets_win(void **state)
{
    (void)state;
    uint64_t offset[] = {0, 2, 5, 6};
    uint32_t pin[] = {0, 1, 0, 2, 3, 4};
    int64_t net_weight[] = {5, 4, 1};
    uint32_t block[] = {CLEAVE_NO_BLOCK, 2, 1, 1, CLEAVE_NO_BLOCK};
    struct cleave_hypergraph *h;
    struct cleave_error error;
    assert_int_equal(cleave_hypergraph_new(5, 3, offset, pin, 1, NULL, net_weight, &h, &error), 0);
    assert_int_equal(cleave__carry_complete(h, 3, block, &error), 0);
    assert_int_equal(block[0], 2); /* 5 for block 2; 4 for block 1, however many pins are there */
    assert_int_equal(block[4], 0); /* tied to nothing: the lightest */
    cleave_hypergraph_free(h);
}

static void senseless_blocks(void **state)
{
    (void)state;
    struct cleave_hypergraph *h = chain(3, NULL);
    struct cleave_error error;
    uint32_t block[3] = {0, 3, 0};
    assert_int_equal(cleave__carry_complete(h, 3, block, &error), CLEAVE_BAD_ARGUMENT);
    assert_int_equal(cleave__carry_complete(h, 0, block, &error), CLEAVE_BAD_ARGUMENT);
    cleave_hypergraph_free(h);
}

static bool keeps_and_completes(struct property_source *source, void *context)
{
    (void)context;
    uint32_t n = 1 + (uint32_t)property_draw(source, 20),
             nets = (uint32_t)property_draw(source, 20);
    uint32_t k = 1 + (uint32_t)property_draw(source, 5), used = 0, pin[20 * 5], block[21], old[21];
    uint64_t offset[21] = {0};
    for (uint32_t e = 0; e < nets; e++) {
        uint32_t pins = 1 + (uint32_t)property_draw(source, 5);
        for (uint32_t p = 0; p < pins; p++)
            pin[used++] = (uint32_t)property_draw(source, n);
        offset[e + 1] = used;
    }
    for (uint32_t v = 0; v < n; v++)
        old[v] = block[v] =
            property_draw(source, 2) ? (uint32_t)property_draw(source, k) : CLEAVE_NO_BLOCK;
    struct cleave_hypergraph *h;
    struct cleave_error error;
    if (cleave_hypergraph_new(n, nets, offset, pin, 1, NULL, NULL, &h, &error))
        abort();
    bool ok = cleave__carry_complete(h, k, block, &error) == CLEAVE_OK;
    for (uint32_t v = 0; ok && v < n; v++) {
        ok = block[v] < k && (old[v] == CLEAVE_NO_BLOCK || block[v] == old[v]);
        /* A vertex that shares a net with others is with one of them, unless it came first. */
        bool shares = false, joined = false;
        for (uint64_t i = h->vertex_offset[v]; i < h->vertex_offset[v + 1]; i++) {
            uint32_t e = h->incident[i];
            for (uint64_t p = h->net_offset[e]; p < h->net_offset[e + 1]; p++) {
                shares |= old[h->pin[p]] != CLEAVE_NO_BLOCK;
                joined |= h->pin[p] != v && block[h->pin[p]] == block[v];
            }
        }
        ok = ok && (old[v] != CLEAVE_NO_BLOCK || !shares || joined);
    }
    cleave_hypergraph_free(h);
    return ok;
}

static void property(void **state)
{
    (void)state;
    assert_true(property_run("carry", keeps_and_completes, NULL, 3000));
}

static bool attempt(void *context)
{
    uint32_t block[5] = {CLEAVE_NO_BLOCK, 1, CLEAVE_NO_BLOCK, 0, CLEAVE_NO_BLOCK};
    struct cleave_error error;
    enum cleave_status status = cleave__carry_complete(context, 2, block, &error);
    return !status || status == CLEAVE_NO_MEMORY;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct cleave_hypergraph *h = chain(5, NULL);
    assert_true(failalloc_run("carry", attempt, h, 1));
    cleave_hypergraph_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_vertices_follow_their_nets),
        cmocka_unit_test(heavier_nets_win),
        cmocka_unit_test(senseless_blocks),
        cmocka_unit_test(property),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
