/* Building, checking, writing and reading back hypergraphs; measures on cases done by hand. */
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
#include "support/failalloc.h"
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

static void put(const char *text, size_t length)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, length, f), length);
    assert_int_equal(fclose(f), 0);
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

static void reads_formats(void **state)
{
    (void)state;
    struct cleave_hypergraph *h = NULL;
    struct cleave_error error;
    const char hgr[] =
        "% comment\n2 3 11\r\n5 1 2\n% another\n7 3 2 1\n1 10\n2 20\n3 30\n\n% end\n";
    put(hgr, sizeof hgr - 1);
    assert_int_equal(cleave_hypergraph_read_hgr(path, &h, &error), CLEAVE_OK);
    assert_int_equal(h->weights, 2);
    assert_int_equal(h->net_weight[1], 7);
    assert_int_equal(h->vertex_weight[5], 30);
    assert_int_equal(h->pin[2], 2);
    cleave_hypergraph_free(h);

    const char graph[] = "3 2 111 2\n9 1 2 2 5\n9 3 4 1 5 3 6\n9 5 6 2 6\n";
    put(graph, sizeof graph - 1);
    assert_int_equal(cleave_hypergraph_read_graph(path, &h, &error), CLEAVE_OK);
    assert_int_equal(h->nets, 2);
    assert_int_equal(h->weights, 2);
    assert_int_equal(h->net_weight[1], 6);
    assert_int_equal(h->vertex_weight[4], 5);
    assert_int_equal(cleave_hypergraph_check(h, &error), CLEAVE_OK);
    cleave_hypergraph_free(h);

    const char fix[] = "-1\n0\n  3  \n";
    put(fix, sizeof fix - 1);
    int32_t *fixed = NULL;
    assert_int_equal(cleave_fix_read(path, 3, &fixed, &error), CLEAVE_OK);
    assert_int_equal(fixed[0], CLEAVE_FREE);
    assert_int_equal(fixed[2], 3);
    free(fixed);
}

struct hostile {
    const char *text;
    size_t length; /* 0: strlen */
    const char *says;
};

typedef enum cleave_status reader(const char *path, struct cleave_hypergraph **out,
                                  struct cleave_error *error);

static void refuse(reader *read, const struct hostile *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct cleave_hypergraph *h = NULL;
        struct cleave_error error = {0};
        put(cases[i].text, cases[i].length ? cases[i].length : strlen(cases[i].text));
        enum cleave_status status = read(path, &h, &error);
        if (status == CLEAVE_OK || h || !strstr(error.message, cases[i].says) ||
            strchr(error.message, '\n'))
            fail_msg("case %zu (%.30s): status %d, '%s'", i, cases[i].text, status, error.message);
    }
}

static void refuses_hostile_files(void **state)
{
    (void)state;
    static const struct hostile hgr[] = {
        {"\n", 0, "no header"},
        {"% only a comment\n", 0, "no header"},
        {"3\n", 0, ":1: number of vertices is missing"},
        {"x 3\n", 0, "not a whole number"},
        {"1 2.5\n1 2\n", 0, "not a whole number"},
        {"-1 3\n", 0, "must be from 0"},
        {"1 -3\n", 0, "must be from 0"},
        {"1 3 2\n1 2\n", 0, "must be 0, 1, 10 or 11"},
        {"1 3 0 0\n1 2\n", 0, "more than"},
        {"1 3\n1 4\n", 0, ":2: vertex is '4'"},
        {"1 3\n0 1\n", 0, ":2: vertex is '0'"},
        {"1 3\n1 -2\n", 0, "must be from 1"},
        {"1 3\n1 99999999999999999999999\n", 0, "must be from 1"},
        {"99999999999999999999 3\n", 0, "must be from 0"},
        {"2 3\n1 2\n", 0, "file ends after 1 of the 2 nets"},
        {"1 3\n1 2\n2 3\n", 0, ":3: more lines"},
        {"1 3 1\n\n", 0, "net weight is missing"},
        {"1 3 1\n-5 1 2\n", 0, "must be from 0"},
        {"1 3 10\n1 2\n1\n1\n", 0, "after the weights of 2 of 3"},
        {"1 3 10\n1 2\n1\n-1\n1\n", 0, ":4: vertex weight is '-1'"},
        {"1 3 10\n1 2\n1\n1 2\n1\n", 0, ":4: 2 weights for this vertex, but 1"},
        {"1 2 10\n1 2\n1 2 3 4 5 6 7 8 9\n1\n", 0, "more than 8 weights"},
        {"1 2 10\n1 2\n1152921504606846976\n1152921504606846976\n", 0, "sum past"},
        {"1 3 1\n1152921504606846976 1 2 3\n", 0, "past 2^60"},
        {"0 2147483646\n", 0, "far more than the file"},
        {"4000000000 3\n1 2\n", 0, "number of nets is"},
        {"2147483646 3\n1 2\n", 0, "file ends after 1"},
        {"1 3\n1 \0 2\n", 10, "not a whole number"},
        {"\xff\xfe\x01\x02\n", 0, "not a whole number"},
        {"1 3\n1,2\n", 0, "not a whole number"},
        {"1 3\n+ 2\n", 0, "not a whole number"},
    };
    static const struct hostile graph[] = {
        {"\n\n", 0, "no header"},
        {"2 1 3\n2\n1\n", 0, "digits must be 0 or 1"},
        {"2 1 10 9\n2\n1\n", 0, "must be from 1 to 8"},
        {"2 1\n2\n", 0, "file ends after 1 of the 2"},
        {"2 1\n2\n1\n1\n", 0, "more lines"},
        {"2 1\n1\n1\n", 0, "its own neighbour"},
        {"2 1\n3\n1\n", 0, "neighbour is '3'"},
        {"2 1\n2\n\n", 0, "only one of its two lines"},
        {"2 2\n2\n1\n", 0, "announces 2 edges"},
        {"2 1 1\n2 5\n1 6\n", 0, "another weight"},
        {"2 1 1\n2\n1 6\n", 0, "edge weight is missing"},
        {"2 1 10\n-2 2\n1 1\n", 0, "must be from 0"},
    };
    refuse(cleave_hypergraph_read_hgr, hgr, sizeof hgr / sizeof *hgr);
    refuse(cleave_hypergraph_read_graph, graph, sizeof graph / sizeof *graph);

    static const char *const fixes[] = {"0\n", "0\n1\n2\n", "0\n-2\n", "0 1\n1\n",
                                        "0\n4294967296\n"};
    for (size_t i = 0; i < sizeof fixes / sizeof *fixes; i++) {
        int32_t *fixed = NULL;
        struct cleave_error error;
        put(fixes[i], strlen(fixes[i]));
        assert_int_equal(cleave_fix_read(path, 2, &fixed, &error), CLEAVE_BAD_INPUT);
        assert_null(fixed);
    }
    struct cleave_hypergraph *h = NULL;
    struct cleave_error error;
    assert_int_equal(cleave_hypergraph_read_hgr("/no/such/file", &h, &error), CLEAVE_NOT_FOUND);
}

static bool attempt(void *context)
{
    (void)context;
    struct cleave_hypergraph *h = NULL;
    struct cleave_error error;
    enum cleave_status status = cleave_hypergraph_read_hgr(path, &h, &error);
    bool ok = status == CLEAVE_OK ? h != NULL : !h && status == CLEAVE_NO_MEMORY;
    cleave_hypergraph_free(h);
    return ok;
}

static void survives_failed_allocations(void **state)
{
    (void)state;
    const char text[] = "3 4 11\n1 1 2\n2 2 3 4\n3 4 1\n1 2\n3 4\n5 6\n7 8\n";
    put(text, sizeof text - 1);
    assert_true(failalloc_run("read hgr", attempt, NULL, 1));
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
        cmocka_unit_test(build_and_check),       cmocka_unit_test(refuses_nonsense),
        cmocka_unit_test(writes_what_it_reads),  cmocka_unit_test(reads_formats),
        cmocka_unit_test(refuses_hostile_files), cmocka_unit_test(survives_failed_allocations),
        cmocka_unit_test(measures_by_hand),
    };
    return cmocka_run_group_tests(tests, make_file, drop_file);
}
