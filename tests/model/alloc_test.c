/* Every allocation fails in turn while files are read, and while what they say is partitioned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleave/partition.h"
#include "support/failalloc.h"

static char path[] = "cleave-alloc-XXXXXX", groups_path[] = "cleave-groups-XXXXXX",
            pairs_path[] = "cleave-pairs-XXXXXX";

static int make_files(void **state)
{
    (void)state;
    char *paths[] = {path, groups_path, pairs_path};
    for (int i = 0; i < 3; i++) {
        int descriptor = mkstemp(paths[i]);
        if (descriptor < 0 || close(descriptor))
            return 1;
    }
    return 0;
}

static int drop_files(void **state)
{
    (void)state;
    return unlink(path) || unlink(groups_path) || unlink(pairs_path);
}

static void put_to(const char *file, const char *text, size_t length)
{
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, length, f), length);
    assert_int_equal(fclose(f), 0);
}

typedef enum cleave_status reader(const char *path, struct cleave_hypergraph **out,
                                  struct cleave_error *error);

static reader *reader_tried;

static bool attempt_read(void *context)
{
    (void)context;
    struct cleave_hypergraph *h = NULL;
    struct cleave_error error = {0};
    enum cleave_status status = reader_tried(path, &h, &error);
    bool ok =
        status == CLEAVE_OK ? h != NULL : !h && status == CLEAVE_NO_MEMORY && error.message[0];
    cleave_hypergraph_free(h);
    return ok;
}

static void readers_survive_failed_allocations(void **state)
{
    (void)state;
    static const char hgr[] = "3 4 11\n1 1 2\n2 2 3 4 3\n3 4 1\n1 2\n3 4\n5 6\n7 8\n";
    static const char graph[] = "3 2 111 2\n9 1 2 2 5\n9 3 4 1 5 3 6\n9 5 6 2 6\n";
    static const char patoh[] = "0 3 2 4 3 2\n5 0 1\n7 1 2\n1 2 3 4 5 6\n";
    reader_tried = cleave_hypergraph_read_hgr;
    put_to(path, hgr, sizeof hgr - 1);
    assert_true(failalloc_run("read hgr", attempt_read, NULL, 1));
    reader_tried = cleave_hypergraph_read_graph;
    put_to(path, graph, sizeof graph - 1);
    assert_true(failalloc_run("read graph", attempt_read, NULL, 1));
    reader_tried = cleave_hypergraph_read_patoh;
    put_to(path, patoh, sizeof patoh - 1);
    assert_true(failalloc_run("read patoh", attempt_read, NULL, 1));
}

/* A graph whose edges disagree: the search for one may lack memory too. */
static bool attempt_bad_graph(void *context)
{
    (void)context;
    struct cleave_hypergraph *h = NULL;
    struct cleave_error error = {0};
    enum cleave_status status = cleave_hypergraph_read_graph(path, &h, &error);
    return !h && (status == CLEAVE_NO_MEMORY || status == CLEAVE_BAD_INPUT) && error.message[0];
}

/* What the command does: a fix file that is also one of groups, pairs, and the partition. */
static bool attempt_all(void *context)
{
    (void)context;
    struct cleave_hypergraph *h = NULL;
    struct cleave_error error = {0};
    int32_t *fixed = NULL;
    uint32_t *group = NULL, (*pair)[2] = NULL, pairs = 0, block[8];
    enum cleave_status status = cleave_hypergraph_read_hgr(path, &h, &error);
    if (!status)
        status = cleave_fix_read(groups_path, 8, 2, &fixed, &error);
    if (!status)
        status = cleave_together_read(groups_path, 8, &group, &error);
    if (!status)
        status = cleave_apart_read(pairs_path, 8, &pair, &pairs, &error);
    if (!status) {
        for (uint32_t v = 4; v < 8; v++)
            fixed[v] = CLEAVE_FREE;
        static const double underweight[] = {1, 0.9};
        struct cleave_partition_options o = {.blocks = 2,
                                             .epsilon = 0.8,
                                             .underweight = underweight,
                                             .objective = CLEAVE_KM1,
                                             .fixed = fixed,
                                             .together = group,
                                             .apart = (const uint32_t(*)[2])pair,
                                             .apart_count = pairs};
        status = cleave_partition(h, &o, block, NULL, &error);
    }
    free(fixed);
    free(group);
    free(pair);
    cleave_hypergraph_free(h);
    return status == CLEAVE_OK || (status == CLEAVE_NO_MEMORY && error.message[0]);
}

static void all_survives_failed_allocations(void **state)
{
    (void)state;
    static const char asymmetric[] = "4 3 1\n2 5 3 1\n1 5\n1 1 4 8\n3 9\n";
    put_to(path, asymmetric, sizeof asymmetric - 1);
    assert_true(failalloc_run("name an edge told once", attempt_bad_graph, NULL, 1));
    static const char hgr[] = "6 8 11\n1 1 2\n2 2 3 4 3\n3 4 1\n2 5 6 7\n1 7 8\n3 1 8\n"
                              "1 2\n3 4\n5 6\n7 8\n1 2\n3 4\n5 6\n7 8\n";
    put_to(path, hgr, sizeof hgr - 1);
    put_to(groups_path, "1\n0\n0\n1\n0\n0\n0\n0\n", 16);
    put_to(pairs_path, "1 2\n3 5\n", 8);
    assert_true(failalloc_run("read all and partition", attempt_all, NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_survive_failed_allocations),
        cmocka_unit_test(all_survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, make_files, drop_files);
}
