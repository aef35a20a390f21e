/* HGP on workloads whose best placement is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scheme/database.h"

enum { MANY = 400 };

struct script {
    char *list[MANY];
    uint32_t count;
};

static void add(struct script *script, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(struct script *script, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    assert_true(script->count < MANY);
    assert_true(vasprintf(&script->list[script->count++], format, arguments) >= 0);
    va_end(arguments);
}

static struct cleave_case *open_script(const char *ddl, const struct script *script,
                                       uint32_t held_out)
{
    return database_open(ddl, (const char *const *)script->list, script->count - held_out,
                         held_out);
}

static void script_free(struct script *script)
{
    for (uint32_t i = 0; i < script->count; i++)
        free(script->list[i]);
}

/* Compares HGP alone; the oracle must agree. */
static struct cleave_comparison place(const struct cleave_case *kase, uint32_t shards,
                                      const struct cleave_steer *steer)
{
    const struct cleave_steer defaults = CLEAVE_STEER_DEFAULTS;
    const struct cleave_scheme *hgp = cleave__scheme_find("hgp");
    struct cleave_comparison comparison;
    struct cleave_error error = {.message = ""};
    if (cleave__compare(kase, &hgp, 1, shards, 1, steer ? steer : &defaults, NULL, &comparison,
                        &error))
        fail_msg("%s", error.message);
    if (!comparison.verified)
        fail_msg("%s", comparison.disagreement);
    return comparison;
}

/* Shards of the table's key from one value to another, in steps: how often it changes. */
static uint32_t changes(const struct cleave_case *kase, const struct cleave_lookup *lookup,
                        uint32_t table, int64_t first, int64_t last, int64_t step, uint32_t *used)
{
    uint32_t found = 0, before = CLEAVE_ABSENT;
    bool seen[1024] = {false};
    *used = 0;
    for (int64_t v = first; v <= last; v += step) {
        struct cleave_value row[8] = {{.kind = CLEAVE_INTEGER, .integer = v}};
        uint32_t shard =
            cleave__lookup_row(lookup, table, row, kase->schema->tables[table].column_count);
        found += before != CLEAVE_ABSENT && shard != before;
        *used += !seen[shard];
        seen[shard] = true;
        before = shard;
    }
    return found;
}

/* Windows of 10 around multiples of 100, over 0..1599: shards hold runs of the domain. */
static void test_integer_ranges(void **state)
{
    (void)state;
    struct script script = {.count = 0};
    for (int i = 0; i < 160; i++)
        add(&script, "SELECT * FROM reading WHERE at BETWEEN %d AND %d", i * 7 % 160 * 10,
            i * 7 % 160 * 10 + 9);
    struct cleave_case *kase =
        open_script("CREATE TABLE reading (at bigint PRIMARY KEY, v numeric)", &script, 0);
    struct cleave_comparison comparison = place(kase, 4, NULL);
    const struct cleave_layout *layout = &comparison.results[0].layout;
    if (!layout->tables[0].replicated) {
        assert_int_equal(layout->maps[layout->tables[0].map].otherwise, CLEAVE_MAP_NEAREST);
        uint32_t used, found = changes(kase, comparison.results[0].lookup, 0, 0, 1599, 1, &used);
        assert_int_equal(used, 4);
        assert_true(found <= 16);
        assert_true(comparison.results[0].evaluation.train.distributed <= 4);
        assert_true(comparison.results[0].evaluation.imbalance_access <= 0.11);
    }
    cleave__comparison_free(&comparison);
    struct cleave_steer steer = CLEAVE_STEER_DEFAULTS;
    steer.replication = false;
    comparison = place(kase, 4, &steer);
    layout = &comparison.results[0].layout;
    assert_int_equal(layout->maps[layout->tables[0].map].otherwise, CLEAVE_MAP_NEAREST);
    uint32_t used, found = changes(kase, comparison.results[0].lookup, 0, 0, 1599, 1, &used);
    assert_int_equal(used, 4);
    assert_true(found <= 16);
    assert_true(comparison.results[0].evaluation.train.distributed <= 4);
    cleave__comparison_free(&comparison);
    cleave__case_free(kase);
    script_free(&script);
}

static void test_timestamp_ranges(void **state)
{
    (void)state;
    struct script script = {.count = 0};
    for (int i = 0; i < 112; i++) {
        int day = i * 5 % 28 + 1, hour = i % 4 * 6;
        add(&script,
            "SELECT * FROM event WHERE at >= '2024-02-%02d %02d:00' AND at < '2024-02-%02d "
            "%02d:59';INSERT INTO event VALUES ('2024-02-%02d %02d:30', 'x')",
            day, hour, day, hour + 5, day, hour + 1);
    }
    struct cleave_case *kase =
        open_script("CREATE TABLE event (at timestamp, what text)", &script, 0);
    struct cleave_comparison comparison = place(kase, 3, NULL);
    const struct cleave_layout *layout = &comparison.results[0].layout;
    assert_false(layout->tables[0].replicated);
    assert_int_equal(layout->maps[layout->tables[0].map].otherwise, CLEAVE_MAP_NEAREST);
    struct cleave_value start;
    struct cleave_arena arena = {0};
    assert_int_equal(
        cleave__value_parse(CLEAVE_TYPE_TIMESTAMP, "2024-02-01 00:00", 16, &arena, &start), 0);
    cleave__arena_free(&arena);
    int64_t hour = INT64_C(3600000000);
    uint32_t used, found = changes(kase, comparison.results[0].lookup, 0, start.integer,
                                   start.integer + 28 * 24 * hour, hour, &used);
    assert_int_equal(used, 3);
    assert_true(found <= 12);
    assert_true(comparison.results[0].evaluation.train.distributed <= 3);
    cleave__comparison_free(&comparison);
    cleave__case_free(kase);
    script_free(&script);
}

/* Every table carries its tenant; whatever the keys' type, no transaction is distributed, later
 * ones included. */
static void tenants(const char *type, const char *format)
{
    struct script script = {.count = 0};
    char ddl[600], id[60];
    snprintf(ddl, sizeof ddl,
             "CREATE TABLE tenant (id %s PRIMARY KEY);"
             "CREATE TABLE project (tenant %s REFERENCES tenant, id int, PRIMARY KEY (tenant, id));"
             "CREATE TABLE task (tenant %s, project int, id int, done bool, PRIMARY KEY (tenant, "
             "project, id), FOREIGN KEY (tenant, project) REFERENCES project (tenant, id));"
             "CREATE TABLE plan (id int PRIMARY KEY, price numeric)",
             type, type, type);
    for (int i = 0; i < 200; i++) {
        snprintf(id, sizeof id, format, i * 13 % 40);
        add(&script,
            "SELECT * FROM tenant WHERE id = %s; SELECT * FROM plan WHERE id = %d; SELECT * FROM "
            "project WHERE tenant = %s AND id = %d; UPDATE task SET done = true WHERE tenant = %s "
            "AND project = %d AND id = %d",
            id, i % 3, id, i % 7, id, i % 7, i % 11);
    }
    struct cleave_case *kase = open_script(ddl, &script, 80);
    struct cleave_comparison comparison = place(kase, 4, NULL);
    const struct cleave_evaluation *e = &comparison.results[0].evaluation;
    assert_int_equal(e->train.distributed, 0);
    assert_int_equal(e->held_out.distributed, 0);
    assert_true(e->imbalance_access <= 0.11);
    assert_true(comparison.results[0].layout.tables[database_table(kase, "plan")].replicated);
    cleave__comparison_free(&comparison);
    cleave__case_free(kase);
    script_free(&script);
}

static void test_tenants(void **state)
{
    (void)state;
    tenants("int", "%d");
    tenants("text", "'tenant %d é'");
    tenants("uuid", "'6ba7b810-9dad-11d1-80b4-00c04fd4%04d'");
    tenants("numeric", "%d.5");
}

static void test_null_keys(void **state)
{
    (void)state;
    struct script script = {.count = 0};
    for (int i = 0; i < 60; i++) {
        add(&script,
            "SELECT * FROM job WHERE owner IS NULL; UPDATE job SET n = 1 WHERE owner IS NULL");
        add(&script, "UPDATE job SET n = %d WHERE owner = %d", i, i % 6);
        add(&script, "INSERT INTO job VALUES (NULL, %d)", i);
    }
    struct cleave_case *kase = open_script("CREATE TABLE job (owner int, n int)", &script, 0);
    struct cleave_comparison comparison = place(kase, 3, NULL);
    assert_false(comparison.results[0].layout.tables[0].replicated);
    assert_int_equal(comparison.results[0].evaluation.train.distributed, 0);
    cleave__comparison_free(&comparison);
    cleave__case_free(kase);
    script_free(&script);
}

static void test_edges(void **state)
{
    (void)state;
    const char *ddl = "CREATE TABLE t (id int PRIMARY KEY, v int)";
    struct script script = {.count = 0};
    add(&script, "SELECT * FROM t WHERE id = 3");
    struct cleave_case *kase = open_script(ddl, &script, 0);
    for (uint32_t shards = 1; shards <= 1024; shards = shards * 32) {
        struct cleave_comparison comparison = place(kase, shards, NULL);
        assert_int_equal(comparison.results[0].evaluation.train.distributed, 0);
        assert_int_equal(comparison.results[0].evaluation.train.transactions, 1);
        cleave__comparison_free(&comparison);
    }
    cleave__case_free(kase);
    for (int i = 0; i < 30; i++)
        add(&script, "INSERT INTO t VALUES (%d, 1)", i);
    kase = open_script(ddl, &script, 5);
    struct cleave_comparison comparison = place(kase, 4, NULL);
    assert_false(comparison.results[0].layout.tables[0].replicated);
    assert_int_equal(comparison.results[0].evaluation.held_out.distributed, 0);
    cleave__comparison_free(&comparison);
    cleave__case_free(kase);
    script_free(&script);
    /* Read only: copies cost nothing in transactions. */
    script.count = 0;
    for (int i = 0; i < 30; i++)
        add(&script, "SELECT * FROM t WHERE v = %d; SELECT * FROM t WHERE id = %d", i, i);
    kase = open_script(ddl, &script, 5);
    comparison = place(kase, 4, NULL);
    assert_int_equal(comparison.results[0].evaluation.train.distributed, 0);
    cleave__comparison_free(&comparison);
    cleave__case_free(kase);
    script_free(&script);
}

static char *wide_ddl(uint32_t tables, uint32_t columns)
{
    size_t size = (size_t)tables * (60 + columns * 16), used = 0;
    char *ddl = malloc(size);
    assert_non_null(ddl);
    for (uint32_t t = 0; t < tables; t++) {
        used +=
            (size_t)snprintf(ddl + used, size - used, "CREATE TABLE t%u (id int PRIMARY KEY", t);
        for (uint32_t c = 1; c < columns; c++)
            used += (size_t)snprintf(ddl + used, size - used, ", c%u int", c);
        used += (size_t)snprintf(ddl + used, size - used, ");\n");
    }
    return ddl;
}

static void test_wide(void **state)
{
    (void)state;
    struct script script = {.count = 0};
    for (uint32_t i = 0; i < 300; i++)
        add(&script, "UPDATE t%u SET c1 = 1 WHERE id = %u; SELECT * FROM t%u WHERE id = %u", i,
            i % 17, (i + 1) % 300, i % 17);
    char *ddl = wide_ddl(300, 3);
    struct cleave_case *kase = open_script(ddl, &script, 0);
    struct cleave_comparison comparison = place(kase, 4, NULL);
    assert_true(comparison.results[0].evaluation.train.distributed <= 30);
    cleave__comparison_free(&comparison);
    cleave__case_free(kase);
    free(ddl);
    script_free(&script);
    script.count = 0;
    for (uint32_t i = 0; i < 200; i++)
        add(&script, "UPDATE t0 SET c%u = 1 WHERE id = %u AND c%u = 3 AND c%u BETWEEN 3 AND 9",
            i % 199 + 1, i % 23, (i + 5) % 199 + 1, (i + 9) % 199 + 1);
    ddl = wide_ddl(1, 200);
    kase = open_script(ddl, &script, 0);
    comparison = place(kase, 4, NULL);
    assert_int_equal(comparison.results[0].evaluation.train.distributed, 0);
    cleave__comparison_free(&comparison);
    cleave__case_free(kase);
    free(ddl);
    script_free(&script);
}

/* A pin by another column, two of them, and one of a whole table. */
static void test_pins(void **state)
{
    (void)state;
    struct script script = {.count = 0};
    for (int i = 0; i < 120; i++)
        add(&script,
            "UPDATE stock SET q = 1 WHERE w = %d AND i = %d; UPDATE house SET y = 1 WHERE w = %d",
            i % 8, i % 5, i % 8);
    struct cleave_case *kase =
        open_script("CREATE TABLE house (w int PRIMARY KEY, y int);"
                    "CREATE TABLE stock (w int, i int, q int, PRIMARY KEY (w, i));"
                    "CREATE TABLE quiet (w int PRIMARY KEY, note text)",
                    &script, 0);
    struct cleave_rule rules[] = {{CLEAVE_PIN, {"stock", "i", "3"}, {0}, 1},
                                  {CLEAVE_PIN, {"stock", "i", "4"}, {0}, 2},
                                  {CLEAVE_PIN, {"quiet", "w", "5"}, {0}, 3},
                                  {CLEAVE_PIN, {"house", NULL, NULL}, {0}, 2}};
    struct cleave_steer steer = CLEAVE_STEER_DEFAULTS;
    steer.rules = rules;
    steer.rule_count = 4;
    struct cleave_comparison comparison = place(kase, 4, &steer);
    const struct cleave_lookup *lookup = comparison.results[0].lookup;
    for (int64_t w = 0; w < 10; w++) {
        struct cleave_value row[3] = {{.kind = CLEAVE_INTEGER, .integer = w},
                                      {.kind = CLEAVE_INTEGER, .integer = 3}};
        assert_int_equal(cleave__lookup_row(lookup, database_table(kase, "stock"), row, 3), 1);
        row[1].integer = 4;
        assert_int_equal(cleave__lookup_row(lookup, database_table(kase, "stock"), row, 3), 2);
        assert_int_equal(cleave__lookup_row(lookup, database_table(kase, "house"), row, 2), 2);
    }
    assert_int_equal(database_shard(kase, lookup, "quiet", "w", "5"), 3);
    cleave__comparison_free(&comparison);
    cleave__case_free(kase);
    script_free(&script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integer_ranges), cmocka_unit_test(test_timestamp_ranges),
        cmocka_unit_test(test_tenants),        cmocka_unit_test(test_null_keys),
        cmocka_unit_test(test_edges),          cmocka_unit_test(test_wide),
        cmocka_unit_test(test_pins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
