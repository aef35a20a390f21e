/* The shared data: real logs and traces, beside the source tree. Skipped when they are not there.
 * The directory is the first argument. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace_text.h"

static const char *data;

static char *path_of(const char *name)
{
    size_t size = strlen(data) + strlen(name) + 2;
    char *path = malloc(size);
    assert_non_null(path);
    snprintf(path, size, "%s/%s", data, name);
    return path;
}

static struct trace_text read_one(const char *name, const char *database)
{
    char *path = path_of(name);
    struct cleave_trace_options options = {.database = database};
    struct trace_text t = trace_text_files((const char *const *)&path, 1, &options);
    free(path);
    if (t.status != CLEAVE_END)
        fail_msg("%s", t.message);
    return t;
}

static void same_run_logged_thrice(void **state)
{
    (void)state;
    static const char *const names[][3] = {
        {"postgres15-t.csv", "postgres15-t.json", "postgres15-t.log"},
        {"postgres15-u.csv", "postgres15-u.json", "postgres15-u.log"},
    };
    static const uint64_t transactions[] = {20, 27}, failed[] = {1, 1};
    for (int run = 0; run < 2; run++) {
        struct trace_text t[3];
        for (int i = 0; i < 3; i++)
            t[i] = read_one(names[run][i], NULL);
        assert_string_equal(t[0].out, t[1].out);
        assert_string_equal(t[0].out, t[2].out);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(t[i].counters.transactions, transactions[run]);
            assert_int_equal(t[i].counters.statements_failed, failed[run]);
            assert_int_equal(t[i].counters.entries_bad, 0);
            trace_text_free(&t[i]);
        }
    }
}

static void pgbench(void **state)
{
    (void)state;
    struct trace_text t = read_one("postgres12-pgbench-stderr.log.xz", "pgbench");
    assert_int_equal(t.counters.transactions - t.counters.transactions_autocommit, 16254);
    assert_int_equal(t.counters.entries_bad, 0);
    assert_int_equal(t.counters.transactions_lost, 0);
    /* Each is the same five statements, and BEGIN and END are not among them. */
    uint64_t whole = 0;
    for (const char *line = t.out; *line;) {
        const char *end = strchr(line, '\n');
        size_t bars = 0;
        for (const char *c = line; (c = memmem(c, (size_t)(end - c), " | ", 3)); c++)
            bars++;
        if (bars == 4 && memmem(line, (size_t)(end - line), "UPDATE pgbench_accounts", 23) &&
            memmem(line, (size_t)(end - line), "INSERT INTO pgbench_history", 27))
            whole++;
        line = end + 1;
    }
    assert_int_equal(whole, 16254);
    trace_text_free(&t);
}

static size_t occurrences(const char *line, size_t length, const char *what)
{
    size_t count = 0, size = strlen(what);
    for (const char *at = line; (at = memmem(at, (size_t)(line + length - at), what, size)); at++)
        count++;
    return count;
}

static void tpcc(void **state)
{
    (void)state;
    char directory[] = "trace-real-XXXXXX";
    assert_non_null(mkdtemp(directory));
    char *archive = path_of("tpcc-10w-traces.tar.xz"), command[4096];
    snprintf(command, sizeof command, "tar -xJf '%s' -C %s", archive, directory);
    int packed = system(command);
    free(archive);
    static const int clients[] = {2, 4, 7, 10, 14, 16, 20, 22, 25, 27, 30, 32, 36, 39, 43, 45};
    char names[16][64];
    const char *paths[16];
    for (int i = 0; i < 16; i++) {
        snprintf(names[i], sizeof names[i], "%s/%d.sql", directory, clients[i]);
        paths[i] = names[i];
    }
    struct trace_text t = trace_text_files(paths, 16, NULL);
    snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0);
    assert_int_equal(packed, 0);
    assert_int_equal(t.status, CLEAVE_END);
    /* Every transaction is of exactly one of the five kinds. */
    static const char *const marks[] = {"INSERT INTO new_order", "INSERT INTO history",
                                        "SELECT no_o_id FROM new_order",
                                        "c_balance, c_first, c_middle", "AS stock_count"};
    size_t kinds[5] = {0}, districts = 0;
    for (const char *line = t.out; *line;) {
        size_t length = strcspn(line, "\n");
        int present = 0;
        for (int k = 0; k < 5; k++) {
            size_t here = occurrences(line, length, marks[k]);
            if (k == 2)
                districts += here;
            else
                assert_true(here <= 1);
            present += here > 0;
            kinds[k] += here > 0;
        }
        assert_int_equal(present, 1);
        line += length + 1;
    }
    assert_int_equal(kinds[0], 563);
    assert_int_equal(kinds[1], 496);
    assert_int_equal(districts, 363);
    assert_int_equal(kinds[2], 39); /* 36 of ten districts, 3 that found nothing to deliver */
    assert_int_equal(kinds[3], 48);
    assert_int_equal(kinds[4], 50);
    trace_text_free(&t);
}

int main(int count, char **arguments)
{
    if (count < 2)
        return 77;
    data = arguments[1];
    char *probe = path_of("postgres15-t.csv");
    bool there = access(probe, R_OK) == 0;
    free(probe);
    if (!there)
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_run_logged_thrice),
        cmocka_unit_test(pgbench),
        cmocka_unit_test(tpcc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
