/* Every kind of file that is read: what it means, and what is said of one that is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleave/hypergraph.h"

static char path[] = "cleave-readers-XXXXXX";

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

typedef enum cleave_status reader(const char *path, struct cleave_hypergraph **out,
                                  struct cleave_error *error);

static struct cleave_hypergraph *read_text(reader *read, const char *text)
{
    struct cleave_hypergraph *h = NULL;
    struct cleave_error error = {0};
    put(text, strlen(text));
    if (read(path, &h, &error))
        fail_msg("%.60s: %s", text, error.message);
    assert_int_equal(cleave_hypergraph_check(h, &error), CLEAVE_OK);
    return h;
}

static void reads_hgr(void **state)
{
    (void)state;
    struct cleave_hypergraph *h = read_text(cleave_hypergraph_read_hgr,
                                            "% comment\n2 3 11\r\n5 1 2  \n% another\n\t7 3 2 1\r\n"
                                            "1 10\n2 20 \t\n3 30\n\n% end\n");
    assert_int_equal(h->weights, 2);
    assert_int_equal(h->net_weight[1], 7);
    assert_int_equal(h->vertex_weight[5], 30);
    assert_int_equal(h->pin[2], 2);
    cleave_hypergraph_free(h);
    /* Formats 0, 1, 10; a byte order mark; a net without pins; a repeated pin; no last newline. */
    h = read_text(cleave_hypergraph_read_hgr, "\xef\xbb\xbf"
                                              "3 2\n1 2\n\n2 1 2");
    assert_int_equal(h->net_offset[1], 2);
    assert_int_equal(h->net_offset[2], 2);
    assert_int_equal(h->net_offset[3], 4);
    assert_int_equal(h->vertex_weight[1], 1);
    cleave_hypergraph_free(h);
    h = read_text(cleave_hypergraph_read_hgr, "\n% first\n\n1 2 1\n0 1 2\n");
    assert_int_equal(h->net_weight[0], 0);
    cleave_hypergraph_free(h);
    h = read_text(cleave_hypergraph_read_hgr, "1 2 10 3\n1 2\n1 2 3\n4 5 0\n");
    assert_int_equal(h->weights, 3);
    assert_int_equal(h->vertex_weight[4], 5);
    assert_int_equal(h->net_weight[0], 1);
    cleave_hypergraph_free(h);
    h = read_text(cleave_hypergraph_read_hgr, "0 0 10\n");
    assert_int_equal(h->weights, 1);
    cleave_hypergraph_free(h);
    h = read_text(cleave_hypergraph_read_hgr, "0 1000000\n");
    assert_int_equal(h->vertices, 1000000);
    cleave_hypergraph_free(h);
}

static void reads_graph(void **state)
{
    (void)state;
    struct cleave_hypergraph *h =
        read_text(cleave_hypergraph_read_graph, "3 2 111 2\n9 1 2 2 5\n9 3 4 1 5 3 6\n9 5 6 2 6\n");
    assert_int_equal(h->nets, 2);
    assert_int_equal(h->weights, 2);
    assert_int_equal(h->net_weight[1], 6);
    assert_int_equal(h->vertex_weight[4], 5);
    cleave_hypergraph_free(h);
    /* Formats 000 and 010 as METIS writes them; vertices without neighbours have blank lines. */
    h = read_text(cleave_hypergraph_read_graph, "4 2 000 0\n3\r\n\r\n1 4\r\n3\r\n");
    assert_int_equal(h->nets, 2);
    assert_int_equal(h->vertex_offset[2] - h->vertex_offset[1], 0);
    cleave_hypergraph_free(h);
    h = read_text(cleave_hypergraph_read_graph, "2 1 10\n7 2\n8 1\n");
    assert_int_equal(h->vertex_weight[1], 8);
    cleave_hypergraph_free(h);
}

static void reads_patoh(void **state)
{
    (void)state;
    struct cleave_hypergraph *h =
        read_text(cleave_hypergraph_read_patoh, "% cells from 1\n1 4 2 5\n1 2 3\n3 4\n");
    assert_int_equal(h->vertices, 4);
    assert_int_equal(h->nets, 2);
    assert_int_equal(h->pin[0], 0);
    assert_int_equal(h->pin[4], 3);
    cleave_hypergraph_free(h);
    h = read_text(cleave_hypergraph_read_patoh, "0 3 3 4 2\n5 0 1\n6\n7 1 2\n");
    assert_int_equal(h->net_weight[2], 7);
    assert_int_equal(h->net_offset[2], 2);
    assert_int_equal(h->pin[3], 2);
    assert_int_equal(h->vertex_weight[2], 1);
    cleave_hypergraph_free(h);
    h = read_text(cleave_hypergraph_read_patoh, "0 3 1 2 1\n0 2\n4 5\n\n% weights go on\n6\n");
    assert_int_equal(h->weights, 1);
    assert_int_equal(h->vertex_weight[2], 6);
    cleave_hypergraph_free(h);
    h = read_text(cleave_hypergraph_read_patoh, "1 2 1 2 3 2\r\n9 1 2\r\n1 2 3 4\r\n");
    assert_int_equal(h->weights, 2);
    assert_int_equal(h->vertex_weight[2], 3);
    assert_int_equal(h->net_weight[0], 9);
    cleave_hypergraph_free(h);
    h = read_text(cleave_hypergraph_read_patoh,
                  "1 2 1 2 2 3\n9 1 2\n"); /* no cell weights: 3 idle */
    assert_int_equal(h->weights, 1);
    cleave_hypergraph_free(h);
}

struct hostile {
    const char *text;
    size_t length; /* 0: strlen */
    const char *says;
};

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
#define REFUSE(read, cases) refuse(read, cases, sizeof(cases) / sizeof *(cases))

static void refuses_bad_hgr(void **state)
{
    (void)state;
    static const struct hostile cases[] = {
        {"", 0, "no header; the first line must be \"nets vertices"},
        {"\n", 0, "no header"},
        {"% only a comment\n", 0, "no header"},
        {"3\n", 0, ":1: number of vertices is missing"},
        {"x 3\n", 0, "not a whole number"},
        {"1 2.5\n1 2\n", 0, "not a whole number"},
        {"-1 3\n", 0, "must be from 0"},
        {"1 -3\n", 0, "must be from 0"},
        {"1 3 2\n1 2\n", 0, "must be 0, 1, 10 or 11"},
        {"1 3 10 1 1\n1 2\n", 0, ":1: header has more than"},
        {"1 3 1 1\n1 1 2\n", 0, "format 1 has none"},
        {"1 3 10 9\n1 2\n", 0, "must be from 1 to 8"},
        {"1 3\n1 4\n", 0, ":2: vertex is '4'"},
        {"1 3\n0 1\n", 0, ":2: vertex is '0'"},
        {"1 3\n1 -2\n", 0, "must be from 1"},
        {"1 3\n1 99999999999999999999999\n", 0, "must be from 1"},
        {"1 3\n1 18446744073709551617\n", 0, "must be from 1"},   /* 2^64 + 1 */
        {"1 16\n1 -18446744073709551606\n", 0, "must be from 1"}, /* 10 - 2^64 */
        {"99999999999999999999 3\n", 0, "must be from 0"},
        {"2 3\n1 2\n", 0, ":2: file ends after 1 of the 2 nets"},
        {"1 3\n1 2\n2 3\n", 0, ":3: more lines"},
        {"1 3 1\n\n", 0, "net weight is missing"},
        {"1 3 1\n-5 1 2\n", 0, "must be from 0"},
        {"1 3 10\n1 2\n1\n1\n", 0, "after 2 of the 3 vertex weights"},
        {"1 3 10\n1 2\n1\n-1\n1\n", 0, ":4: vertex weight is '-1'"},
        {"1 3 10\n1 2\n1\n1 2\n1\n", 0, ":4: 2 weights for this vertex, not 1"},
        {"1 3 10 2\n1 2\n1\n1\n1\n", 0, ":3: 1 weights for this vertex, not 2"},
        {"1 3 10\n1 2\n1\n\n1\n1\n", 0, ":4: vertex weight is missing"},
        {"1 2 10\n1 2\n1 2 3 4 5 6 7 8 9\n1\n", 0, "more than 8 weights"},
        {"1 2 10\n1 2\n1152921504606846976\n1152921504606846976\n", 0, ":4: vertex weights sum"},
        {"1 3 1\n1152921504606846976 1 2 3\n", 0, ":2: net weights times pins sum past 2^60"},
        {"0 2147483646\n", 0, ":1: announces 2147483646 vertices, far more than the file"},
        {"4000000000 3\n1 2\n", 0, "number of nets is"},
        {"2147483646 3\n1 2\n", 0, "file ends after 1"},
        {"1 3\n1 \0 2\n", 10, ":2: vertex is '?': not a whole number"},
        {"\xff\xfe\x01\x02\n", 0, "not a whole number"},
        {"1 3\n\xef\xbb\xbf"
         "1 2\n",
         0, "not a whole number"}, /* a byte order mark elsewhere */
        {"1 3\n1,2\n", 0, "not a whole number"},
        {"1 3\n+ 2\n", 0, "not a whole number"},
    };
    REFUSE(cleave_hypergraph_read_hgr, cases);
    struct cleave_hypergraph *h = NULL;
    struct cleave_error error;
    assert_int_equal(cleave_hypergraph_read_hgr("/no/such/file", &h, &error), CLEAVE_NOT_FOUND);
}

static void refuses_bad_graphs(void **state)
{
    (void)state;
    static const struct hostile cases[] = {
        {"\n\n", 0, "no header"},
        {"2 1 3\n2\n1\n", 0, "digits must be 0 or 1"},
        {"2 1 10 9\n2\n1\n", 0, "must be from 0 to 8"},
        {"2 1 0 2\n1 1 2\n1 1 1\n", 0, "format 000 says that vertices have no weights, but 2"},
        {"2 1 10 0\n1 2\n1 1\n", 0, "format 010 says that vertices have weights, but 0"},
        {"2 1\n2\n", 0, "file ends after 1 of the 2"},
        {"2 1\n2\n1\n1\n", 0, "more lines"},
        {"2 1\n1\n1\n", 0, "its own neighbour"},
        {"2 1\n3\n1\n", 0, "neighbour is '3'"},
        {"2 1\n2\n\n", 0, "vertex 1 has neighbour 2, but the line of vertex 2 does not"},
        {"2 1\n\n1\n", 0, "vertex 2 has neighbour 1, but the line of vertex 1 does not"},
        {"3 2\n2 3\n1\n2\n", 0, "vertex 1 has neighbour 3"},
        {"2 2\n2 2\n1\n", 0, "vertex 1 has neighbour 2"},
        {"2 2\n2\n1\n", 0, ":1: announces 2 edges, but the lines hold 1"},
        {"2 1 1\n2 5\n1 6\n", 0, "another weight"},
        {"2 1 1\n2\n1 6\n", 0, "edge weight is missing"},
        {"2 1 10\n-2 2\n1 1\n", 0, "must be from 0"},
        {"2 1 100\n-2 2\n1 1\n", 0, "vertex size is '-2'"},
        {"2 1 1\n2 1152921504606846976\n1 1\n", 0, ":2: net weights times pins"},
    };
    REFUSE(cleave_hypergraph_read_graph, cases);
}

static void refuses_bad_patoh(void **state)
{
    (void)state;
    static const struct hostile cases[] = {
        {"", 0, "must be \"base cells nets pins [scheme [weights]]\""},
        {"1 3 1\n1 2\n", 0, ":1: number of pins is missing"},
        {"2 3 1 2\n1 2\n", 0, "base is '2': must be from 0 to 1"},
        {"1 3 1 2 4\n1 2\n", 0, "weighting scheme is '4'"},
        {"1 3 1 2 1 9\n1 2\n", 0, "number of weights a cell is '9'"},
        {"1 3 1 2 1 1 1\n1 2\n", 0, "header has more"},
        {"1 3 1 3\n1 2\n", 0, ":1: announces 3 pins, but the nets hold 2"},
        {"1 3 1 2\n0 2\n", 0, ":2: vertex is '0': must be from 1 to 3"},
        {"0 3 1 2\n0 3\n", 0, ":2: vertex is '3': must be from 0 to 2"},
        {"0 3 2 2\n0 2\n", 0, "file ends after 1 of the 2 nets"},
        {"0 3 1 2 2\n\n", 0, "net weight is missing"},
        {"0 3 1 2 1\n0 1\n1 2\n", 0, "after 2 of the 3 cell weights"},
        {"0 3 1 2 1\n0 1\n1 2 3 4\n", 0, ":3: more than the 3 cell weights"},
        {"0 3 1 2 1\n0 1\n1 2 3\n4\n", 0, ":4: more lines"},
        {"0 2 1 2 1 2\n0 1\n1 2 3\n", 0, "after 3 of the 4 cell weights"},
        {"0 2147483646 0 0\n", 0, ":1: announces 2147483646 vertices"},
        {"0 2147483646 0 0 1\n", 0, "after 0 of the 2147483646 cell weights"},
        {"0 2 1 9223372036854775807\n0 1\n", 0, "announces 9223372036854775807 pins"},
    };
    REFUSE(cleave_hypergraph_read_patoh, cases);
}

static void reads_steering(void **state)
{
    (void)state;
    struct cleave_error error = {0};
    int32_t *fixed = NULL;
    uint32_t *group = NULL, (*pair)[2] = NULL, count = 9;
    put("-1\r\n0\n% in between\n  3  \n\n", strlen("-1\r\n0\n% in between\n  3  \n\n"));
    assert_int_equal(cleave_fix_read(path, 3, 4, &fixed, &error), CLEAVE_OK);
    assert_int_equal(fixed[0], CLEAVE_FREE);
    assert_int_equal(fixed[2], 3);
    free(fixed);
    put("0\n4294967295\n7\n", strlen("0\n4294967295\n7\n"));
    assert_int_equal(cleave_together_read(path, 3, &group, &error), CLEAVE_OK);
    assert_int_equal(group[1], UINT32_MAX);
    assert_int_equal(group[2], 7);
    free(group);
    put("1 2\n\n% pairs\n 3\t1 \n", strlen("1 2\n\n% pairs\n 3\t1 \n"));
    assert_int_equal(cleave_apart_read(path, 3, &pair, &count, &error), CLEAVE_OK);
    assert_int_equal(count, 2);
    assert_true(pair[0][0] == 0 && pair[0][1] == 1 && pair[1][0] == 2 && pair[1][1] == 0);
    free(pair);
    put("", strlen(""));
    assert_int_equal(cleave_apart_read(path, 3, &pair, &count, &error), CLEAVE_OK);
    assert_int_equal(count, 0);
    free(pair);
    assert_int_equal(cleave_fix_read(path, 0, 4, &fixed, &error), CLEAVE_OK);
    free(fixed);
}

static void refuses_bad_steering(void **state)
{
    (void)state;
    static const struct hostile fixes[] = {
        {"0\n", 0, ":1: file ends after 1 of 2 vertices"},
        {"0\n1\n1\n", 0, ":3: more lines than the hypergraph has vertices"},
        {"0\n-2\n", 0, ":2: block is '-2': must be from -1 to 1"},
        {"0\n2\n", 0, ":2: block is '2': must be from -1 to 1"},
        {"0 1\n1\n", 0, ":1: more than 1 number on the line"},
        {"0\n\n", 0, ":2: block is missing"},
        {"0\n4294967296\n", 0, "must be from -1"},
    };
    static const struct hostile groups[] = {
        {"0\n-1\n", 0, ":2: group is '-1': must be from 0 to 4294967295"},
        {"0\n4294967296\n", 0, "must be from 0 to 4294967295"},
        {"", 0, "file ends after 0 of 2"},
    };
    static const struct hostile pairs[] = {
        {"1 2\n1\n", 0, ":2: vertex is missing"},
        {"1 3\n", 0, ":1: vertex is '3': must be from 1 to 2"},
        {"0 1\n", 0, ":1: vertex is '0': must be from 1 to 2"},
        {"1 2 1\n", 0, ":1: more than 2 numbers on the line"},
        {"1 2\n% no\n2 2\n", 0, ":3: vertex 2 cannot be kept apart from itself"},
    };
    struct cleave_error error;
    for (size_t i = 0; i < sizeof fixes / sizeof *fixes; i++) {
        int32_t *fixed = NULL;
        put(fixes[i].text, strlen(fixes[i].text));
        assert_int_equal(cleave_fix_read(path, 2, 2, &fixed, &error), CLEAVE_BAD_INPUT);
        assert_null(fixed);
        if (!strstr(error.message, fixes[i].says))
            fail_msg("fix %zu: %s", i, error.message);
    }
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        uint32_t *group = NULL;
        put(groups[i].text, strlen(groups[i].text));
        assert_int_equal(cleave_together_read(path, 2, &group, &error), CLEAVE_BAD_INPUT);
        assert_null(group);
        if (!strstr(error.message, groups[i].says))
            fail_msg("group %zu: %s", i, error.message);
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        uint32_t(*pair)[2] = NULL, count = 9;
        put(pairs[i].text, strlen(pairs[i].text));
        assert_int_equal(cleave_apart_read(path, 2, &pair, &count, &error), CLEAVE_BAD_INPUT);
        assert_true(!pair && count == 9);
        if (!strstr(error.message, pairs[i].says))
            fail_msg("pair %zu: %s", i, error.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_hgr),          cmocka_unit_test(reads_graph),
        cmocka_unit_test(reads_patoh),        cmocka_unit_test(refuses_bad_hgr),
        cmocka_unit_test(refuses_bad_graphs), cmocka_unit_test(refuses_bad_patoh),
        cmocka_unit_test(reads_steering),     cmocka_unit_test(refuses_bad_steering),
    };
    return cmocka_run_group_tests(tests, make_file, drop_file);
}
