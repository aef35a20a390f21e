/* The six simple schemes on small schemas: layouts that build, and the keys that the definitions
 * say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scheme/database.h"

struct placed {
    struct cleave_case *kase;
    struct cleave_comparison comparison;
};

/* All seven schemes, each built, counted and recounted. */
static struct placed place(const char *ddl, const char *const *script, uint32_t count,
                           uint32_t shards)
{
    const struct cleave_steer steer = CLEAVE_STEER_DEFAULTS;
    const struct cleave_scheme *schemes[8];
    uint32_t n = 0;
    while (cleave__scheme_at(n)) {
        schemes[n] = cleave__scheme_at(n);
        n++;
    }
    assert_int_equal(n, 7);
    struct placed placed = {.kase = database_open(ddl, script, count, 0)};
    struct cleave_error error = {.message = ""};
    if (cleave__compare(placed.kase, schemes, n, shards, 1, &steer, NULL, &placed.comparison,
                        &error))
        fail_msg("%s", error.message);
    if (placed.kase->kept_train.list.count && !placed.comparison.verified)
        fail_msg("%s", placed.comparison.disagreement);
    return placed;
}

static void done(struct placed *placed)
{
    cleave__comparison_free(&placed->comparison);
    cleave__case_free(placed->kase);
}

static const struct cleave_scheme_result *result(const struct placed *placed, const char *scheme)
{
    for (uint32_t r = 0; r < placed->comparison.result_count; r++) {
        if (strcmp(placed->comparison.results[r].scheme->name, scheme) == 0)
            return &placed->comparison.results[r];
    }
    fail_msg("no scheme %s", scheme);
    return NULL;
}

/* The column that a scheme cuts a table by; "*" when it is copied. */
static const char *key(const struct placed *placed, const char *scheme, const char *table)
{
    uint32_t t = database_table(placed->kase, table);
    const struct cleave_table_layout *layout = &result(placed, scheme)->layout.tables[t];
    return layout->replicated ? "*"
                              : placed->kase->schema->tables[t].columns[layout->key_column].name;
}

static void test_registry(void **state)
{
    (void)state;
    assert_string_equal(cleave__scheme_find("pkrr")->name, "PKRR");
    assert_string_equal(cleave__scheme_find("allr")->name, "AllR");
    assert_null(cleave__scheme_find("best"));
    assert_null(cleave__scheme_find(""));
    assert_null(cleave__scheme_at(7));
}

static void test_foreign_keys(void **state)
{
    (void)state;
    const char *ddl = "CREATE TABLE house (w int PRIMARY KEY);"
                      "CREATE TABLE district (w int REFERENCES house, d int, PRIMARY KEY (d, w));"
                      "CREATE TABLE buyer (cw int, cd int, c int, PRIMARY KEY (cw, cd, c),"
                      " FOREIGN KEY (cd, cw) REFERENCES district (d, w));"
                      "CREATE TABLE sale (id int PRIMARY KEY, b int, bw int, bd int,"
                      " FOREIGN KEY (bw, bd, b) REFERENCES buyer (cw, cd, c));"
                      "CREATE TABLE item (i int PRIMARY KEY)";
    const char *script[] = {"UPDATE district SET d = 1 WHERE w = 3 AND d = 2",
                            "SELECT * FROM sale s JOIN item ON i = s.id WHERE s.b = 7",
                            "UPDATE sale SET b = 1 WHERE b = 8 AND bw = 2"};
    struct placed placed = place(ddl, script, 3, 3);
    /* SH follows the root's key through composite keys, whatever their order. */
    assert_string_equal(key(&placed, "SH", "house"), "w");
    assert_string_equal(key(&placed, "SH", "district"), "w");
    assert_string_equal(key(&placed, "SH", "buyer"), "cw");
    assert_string_equal(key(&placed, "SH", "sale"), "bw");
    assert_string_equal(key(&placed, "SH", "item"), "*");
    const char *primary[] = {"PKH", "PKR", "PKRR"};
    for (int i = 0; i < 3; i++) {
        assert_string_equal(key(&placed, primary[i], "district"), "d");
        assert_string_equal(key(&placed, primary[i], "buyer"), "cw");
        assert_string_equal(key(&placed, primary[i], "sale"), "id");
        assert_string_equal(key(&placed, primary[i], "item"), "i");
    }
    assert_string_equal(key(&placed, "CMRR", "sale"), "b");
    assert_string_equal(key(&placed, "CMRR", "district"), "d"); /* a tie: more constants */
    assert_string_equal(key(&placed, "AllR", "sale"), "*");
    assert_int_equal(result(&placed, "AllR")->evaluation.train.distributed, 2);
    /* Tables that move together in SH agree row by row. */
    for (int64_t w = -3; w < 20; w++) {
        struct cleave_value row[4] = {{.kind = CLEAVE_INTEGER, .integer = w}};
        uint32_t house = cleave__lookup_row(result(&placed, "SH")->lookup, 0, row, 1);
        assert_int_equal(cleave__lookup_row(result(&placed, "SH")->lookup, 1, row, 2), house);
        assert_true(house < 3);
    }
    done(&placed);
}

static void test_odd_schemas(void **state)
{
    (void)state;
    static const struct {
        const char *ddl, *script[3];
    } cases[] = {
        /* no keys at all */
        {"CREATE TABLE a (x int, y text); CREATE TABLE b (z text)",
         {"SELECT * FROM a WHERE x = 1", "INSERT INTO b VALUES ('q')", "DELETE FROM a"}},
        /* a cycle of foreign keys, and one to itself */
        {"CREATE TABLE a (id int PRIMARY KEY, b int); CREATE TABLE b (id int PRIMARY KEY, a int "
         "REFERENCES a (id)); ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b (id);"
         "CREATE TABLE tree (id int PRIMARY KEY, parent int REFERENCES tree (id))",
         {"SELECT * FROM a JOIN b ON b.a = a.id WHERE a.id = 4",
          "INSERT INTO tree VALUES (1, NULL)", "UPDATE tree SET parent = 2 WHERE id = 3"}},
        /* several roots */
        {"CREATE TABLE r1 (id int PRIMARY KEY); CREATE TABLE r2 (id int PRIMARY KEY);"
         "CREATE TABLE c (x int REFERENCES r1, y int REFERENCES r2, PRIMARY KEY (x, y));"
         "CREATE TABLE d (y int REFERENCES r2 PRIMARY KEY)",
         {"SELECT * FROM c WHERE x = 1 AND y = 2", "SELECT * FROM d WHERE y = 3",
          "UPDATE r1 SET id = 2 WHERE id = 1"}},
        /* views, and views of views */
        {"CREATE TABLE a (id int PRIMARY KEY, n int); CREATE VIEW v AS SELECT id, n FROM a WHERE "
         "n > 3; CREATE VIEW w AS SELECT v.id FROM v JOIN a ON a.id = v.id",
         {"SELECT * FROM v WHERE id = 3", "SELECT * FROM w WHERE id = 4",
          "DELETE FROM v WHERE id = 9"}},
        /* text, uuid, date and mixed keys */
        {"CREATE TABLE a (k text PRIMARY KEY); CREATE TABLE b (k uuid PRIMARY KEY, d date);"
         "CREATE TABLE c (k date PRIMARY KEY, b boolean, n numeric(10, 2))",
         {"SELECT * FROM a WHERE k >= 'm' AND k < 'n'",
          "INSERT INTO b VALUES ('6ba7b810-9dad-11d1-80b4-00c04fd430c8', '2024-02-29')",
          "UPDATE c SET b = true WHERE k BETWEEN '2024-01-01' AND '2024-03-01' AND n = 1.50"}},
        /* tables without columns, tables that nothing touches */
        {"CREATE TABLE none (); CREATE TABLE quiet (id int PRIMARY KEY); CREATE TABLE a (id int)",
         {"SELECT * FROM a WHERE id = 1", "SELECT count(*) FROM none", "SELECT 1 FROM a"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint32_t shards = 1; shards <= 100; shards = shards * 5 + 2) {
            struct placed placed = place(cases[i].ddl, cases[i].script, 3, shards);
            for (uint32_t r = 0; r < placed.comparison.result_count; r++) {
                const struct cleave_evaluation *e = &placed.comparison.results[r].evaluation;
                assert_int_equal(e->train.distributed,
                                 e->train.read_only_distributed + e->train.write_distributed);
                if (shards == 1)
                    assert_int_equal(e->train.distributed, 0);
                assert_true(e->imbalance_size >= 0 && e->imbalance_access >= 0);
                assert_true(e->skew_factor >= 0);
            }
            done(&placed);
        }
    }
}

static void test_roots(void **state)
{
    (void)state;
    /* r2 is reached by more tables than r1; what does not reach it is copied. */
    const char *script[] = {"SELECT * FROM c WHERE x = 1 AND y = 2"};
    struct placed placed = place("CREATE TABLE r1 (id int PRIMARY KEY);"
                                 "CREATE TABLE r2 (id int PRIMARY KEY);"
                                 "CREATE TABLE c (x int REFERENCES r1, y int REFERENCES r2);"
                                 "CREATE TABLE d (y int REFERENCES r2)",
                                 script, 1, 2);
    assert_string_equal(key(&placed, "SH", "r1"), "*");
    assert_string_equal(key(&placed, "SH", "r2"), "id");
    assert_string_equal(key(&placed, "SH", "c"), "y");
    assert_string_equal(key(&placed, "SH", "d"), "y");
    done(&placed);
    placed =
        place("CREATE TABLE a (x int PRIMARY KEY, y int); CREATE TABLE b (z int)", script, 1, 2);
    assert_string_equal(key(&placed, "SH", "a"), "x");
    assert_string_equal(key(&placed, "SH", "b"), "z");
    assert_non_null(strstr(result(&placed, "SH")->notes, "no foreign keys"));
    done(&placed);
}

static void test_ranges(void **state)
{
    (void)state;
    char texts[100][80];
    const char *script[100];
    for (int i = 0; i < 100; i++) {
        snprintf(texts[i], sizeof texts[i], "UPDATE a SET v = 1 WHERE id = %d", i * 37 % 100);
        script[i] = texts[i];
    }
    struct placed placed = place("CREATE TABLE a (id int PRIMARY KEY, v int)", script, 100, 4);
    uint32_t before = 0, counts[4] = {0};
    for (int64_t id = -5; id < 110; id++) {
        struct cleave_value row[2] = {{.kind = CLEAVE_INTEGER, .integer = id}};
        uint32_t shard = cleave__lookup_row(result(&placed, "PKR")->lookup, 0, row, 2);
        assert_true(shard >= before && shard < 4);
        before = shard;
        counts[shard] += id >= 0 && id < 100;
        int64_t turn = ((id % 4) + 4) % 4;
        assert_int_equal(cleave__lookup_row(result(&placed, "PKRR")->lookup, 0, row, 2), turn);
    }
    for (int s = 0; s < 4; s++)
        assert_int_equal(counts[s], 25);
    done(&placed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry),    cmocka_unit_test(test_foreign_keys),
        cmocka_unit_test(test_odd_schemas), cmocka_unit_test(test_roots),
        cmocka_unit_test(test_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
