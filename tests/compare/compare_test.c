/* Comparing: the recount sees a sabotaged layout; counts by hand; limits of nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scheme/database.h"

static const char ddl[] = "CREATE TABLE a (id int PRIMARY KEY, v int);"
                          "CREATE TABLE b (id int PRIMARY KEY, v int);"
                          "CREATE TABLE copied (id int PRIMARY KEY, v int)";

/* Places a and b round robin, `copied` on every shard. */
static enum cleave_status place_right(const struct cleave_scheme_input *input,
                                      struct cleave_arena *arena, struct cleave_layout *layout,
                                      const char **notes, struct cleave_error *error)
{
    (void)error;
    if (!cleave__layout_start(input->schema, input->shards, arena, layout))
        abort();
    layout->maps[0].otherwise = CLEAVE_MAP_ROUND_ROBIN;
    layout->tables[2].replicated = true;
    *notes = "";
    return CLEAVE_OK;
}

static const struct cleave_scheme right = {"right", "by hand", place_right};

static struct cleave_comparison compare(const struct cleave_case *kase, uint32_t shards,
                                        const struct cleave_steer *steer)
{
    const struct cleave_steer defaults = CLEAVE_STEER_DEFAULTS;
    const struct cleave_scheme *schemes[] = {&right};
    struct cleave_comparison comparison;
    struct cleave_error error = {.message = ""};
    if (cleave__compare(kase, schemes, 1, shards, 1, steer ? steer : &defaults, NULL, &comparison,
                        &error))
        fail_msg("%s", error.message);
    return comparison;
}

static const char *script[] = {
    "SELECT * FROM a WHERE id = 1; SELECT * FROM b WHERE id = 4",         /* shard 1 */
    "SELECT * FROM a WHERE id = 1; SELECT * FROM b WHERE id = 5",         /* 1, 2: reads */
    "SELECT * FROM a WHERE id = 1; UPDATE b SET v = 1 WHERE id = 5",      /* 1, 2: writes */
    "SELECT * FROM copied WHERE id = 9",                                  /* any */
    "UPDATE copied SET v = 2 WHERE id = 9",                               /* all: writes */
    "SELECT * FROM copied WHERE id = 9; UPDATE a SET v = 1 WHERE id = 3", /* 0 */
    "SELECT * FROM a WHERE v = 3",                                        /* all: reads */
    "SELECT * FROM a WHERE id IN (0, 3, 6)",                              /* 0 */
    "SELECT * FROM a WHERE id = NULL",                                    /* nothing: left out */
};
enum { SCRIPT = sizeof script / sizeof *script };

static void test_counts(void **state)
{
    (void)state;
    struct cleave_case *kase = database_open(ddl, script, SCRIPT, 0);
    struct cleave_comparison comparison = compare(kase, 3, NULL);
    const struct cleave_count *count = &comparison.results[0].evaluation.train;
    assert_true(comparison.verified);
    assert_int_equal(count->transactions, SCRIPT - 1);
    assert_int_equal(count->distributed, 4);
    assert_int_equal(count->read_only_distributed, 2);
    assert_int_equal(count->write_distributed, 2);
    assert_int_equal(count->parts, 1 + 2 + 2 + 1 + 3 + 1 + 3 + 1);
    double accesses = 0, work = 0;
    for (int s = 0; s < 3; s++) {
        accesses += count->accesses[s];
        work += count->work[s];
    }
    assert_true(accesses == 14 && work == 4 + 2.0 * 10);
    assert_true(count->accesses[0] == 5 || count->accesses[0] == 4);
    cleave__comparison_free(&comparison);
    cleave__case_free(kase);
}

/* The recount must notice every kind of wrong layout: what the lookup table does is compared with
 * what the layout says, so each sabotage changes the layout after the table was built. */
static void sabotage(void (*wreck)(struct cleave_layout *layout))
{
    struct cleave_case *kase = database_open(ddl, script, SCRIPT, 0);
    struct cleave_comparison comparison = compare(kase, 3, NULL);
    struct cleave_layout wrong = comparison.results[0].layout;
    wreck(&wrong);
    struct cleave_oracle *oracle;
    struct cleave_error error;
    assert_int_equal(cleave__oracle_new(kase->schema, &oracle, &error), CLEAVE_OK);
    const struct cleave_layout *layouts[] = {&wrong};
    struct cleave_oracle_count counted = {0};
    for (size_t i = 0; i < kase->kept_train.list.count; i++)
        assert_int_equal(cleave__oracle_count(oracle, &kase->kept_train.list.data[i], layouts, 1,
                                              &counted, NULL, &error),
                         CLEAVE_OK);
    assert_int_not_equal(counted.distributed, comparison.results[0].evaluation.train.distributed);
    cleave__oracle_free(oracle);
    cleave__comparison_free(&comparison);
    cleave__case_free(kase);
}

static void wreck_copy(struct cleave_layout *layout)
{
    layout->tables[2].replicated = false;
}

static void wreck_key(struct cleave_layout *layout)
{
    layout->tables[0].key_column = 1;
}

static void wreck_map(struct cleave_layout *layout)
{
    static struct cleave_value one = {.kind = CLEAVE_INTEGER, .integer = 1};
    static uint32_t shard = 2;
    layout->maps[0].entries = &one;
    layout->maps[0].entry_shards = &shard;
    layout->maps[0].entry_count = 1;
}

static void wreck_exception(struct cleave_layout *layout)
{
    static struct cleave_exception exception = {.range_count = 1, .column = {0}, .shard = 1};
    exception.range[0].low = exception.range[0].high =
        (struct cleave_value){.kind = CLEAVE_INTEGER, .integer = 3};
    layout->tables[0].exceptions = &exception;
    layout->tables[0].exception_count = 1;
}

static void test_sabotage(void **state)
{
    (void)state;
    sabotage(wreck_copy);
    sabotage(wreck_key);
    sabotage(wreck_map);
    sabotage(wreck_exception);
}

static void test_verified(void **state)
{
    (void)state;
    /* The raw text that was kept is not what was counted. */
    struct cleave_case *kase = database_open(ddl, script, SCRIPT, 0);
    static const char other[] = "UPDATE copied SET v = 2 WHERE id = 1";
    struct cleave_trace_statement statement = {.text = other, .length = sizeof other - 1};
    kase->kept_train.list.data[3].statements = &statement;
    kase->kept_train.list.data[3].statement_count = 1;
    struct cleave_comparison comparison = compare(kase, 3, NULL);
    assert_false(comparison.verified);
    assert_non_null(strstr(comparison.disagreement, "right, training transaction 3"));
    assert_non_null(strstr(comparison.disagreement, "counted local, recounted distributed"));
    cleave__comparison_free(&comparison);
    /* Nothing kept: nothing verified. */
    kase->kept_train.list.count = 0;
    comparison = compare(kase, 3, NULL);
    assert_false(comparison.verified);
    assert_int_equal(comparison.verified_transactions, 0);
    assert_string_equal(comparison.disagreement, "");
    cleave__comparison_free(&comparison);
    cleave__case_free(kase);
}

static void test_nodes(void **state)
{
    (void)state;
    struct cleave_case *kase = database_open(ddl, script, SCRIPT, 0);
    static const struct {
        struct cleave_node node;
        const char *says;
    } limits[] = {{{.storage_bytes = 1}, "storage"},
                  {{.accesses = 2}, "accesses"},
                  {{.network = 0.5}, "network"},
                  {{.accesses = 1e9}, NULL}};
    for (int i = 0; i < 4; i++) {
        struct cleave_node nodes[2] = {{0}, limits[i].node};
        struct cleave_steer steer = CLEAVE_STEER_DEFAULTS;
        steer.nodes = nodes;
        steer.node_count = 2;
        struct cleave_comparison comparison = compare(kase, 3, &steer);
        const struct cleave_evaluation *e = &comparison.results[0].evaluation;
        assert_int_equal(e->feasible, limits[i].says == NULL);
        if (limits[i].says) {
            assert_non_null(strstr(e->infeasible, "shard 1: "));
            assert_non_null(strstr(e->infeasible, limits[i].says));
        } else {
            assert_string_equal(e->infeasible, "");
        }
        cleave__comparison_free(&comparison);
    }
    cleave__case_free(kase);
}

static void test_imbalance(void **state)
{
    (void)state;
    assert_true(cleave__imbalance((double[]){0, 0}, 2) == 0);
    assert_true(cleave__imbalance((double[]){5}, 1) == 0);
    assert_true(cleave__imbalance((double[]){3, 1}, 2) == 0.5);
    assert_true(cleave__imbalance((double[]){4, 0, 0, 0}, 4) == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),    cmocka_unit_test(test_sabotage),
        cmocka_unit_test(test_verified),  cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_imbalance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
