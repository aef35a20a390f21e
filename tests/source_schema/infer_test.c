/* Schemas from statements alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "describe.h"
#include "failalloc.h"
#include "tables/source/schema_infer.h"

static void expect(const char *const *statements, const char *wanted)
{
    struct cleave_schema_observer *observer;
    struct cleave_schema *schema = NULL;
    struct cleave_error error = {0};
    assert_int_equal(cleave__schema_observer_new("trace", &observer, &error), CLEAVE_OK);
    for (size_t i = 0; statements[i]; i++) {
        if (cleave__schema_observe(observer, statements[i], strlen(statements[i]), NULL, 0, &error))
            fail_msg("%s: %s", statements[i], error.message);
    }
    if (cleave__schema_observer_finish(observer, &schema, &error))
        fail_msg("%s", error.message);
    assert_true(schema_check(schema));
    char *text = schema_describe(schema, false);
    assert_string_equal(text, wanted);
    free(text);
    cleave__schema_free(schema);
    cleave__schema_observer_free(observer);
}

#define EXPECT(wanted, ...) expect((const char *const[]){__VA_ARGS__, NULL}, wanted)

static void test_types(void **state)
{
    (void)state;
    EXPECT(
        "t (a bigint, b numeric, c text, d date, e timestamp without time zone, f boolean, g "
        "uuid, h bigint, i text, j numeric, k text)\n",
        "SELECT 1 FROM t WHERE a = 5 AND b > 1.5 AND 'x' = c AND d BETWEEN '2020-01-01' AND "
        "'2020-01-31' AND e < '2020-01-01 10:00:00'",
        "UPDATE t SET f = true, g = '0123abcd-0123-0123-0123-0123456789ab' WHERE h IN ('1', '2')",
        "SELECT * FROM t WHERE i = '007' AND j = 3",
        "SELECT * FROM t WHERE j = 3.5 AND k LIKE 'x%'");
    /* What does not fit together is text; casts and lists count. */
    EXPECT("t (a text, b bigint, c date, d bigint, e text)\n", "SELECT a FROM t WHERE a = '12'",
           "SELECT a FROM t WHERE a = 'x12'",
           "SELECT 1 FROM t WHERE b = ANY (ARRAY[1, 2]) AND c = '1.1.2020'::date",
           "SELECT 1 FROM t WHERE d = 5000000000 AND e IS NULL");
}

static void test_scopes(void **state)
{
    (void)state;
    EXPECT("a (id bigint, x bigint)\nb (id bigint, y text)\ns.c (z bigint)\n",
           "SELECT p.id, q.y FROM a p JOIN b AS q USING (id) WHERE p.x = 3 AND q.id = 4",
           "SELECT 1 FROM a WHERE EXISTS (SELECT 1 FROM s.c AS r WHERE r.z = a.id AND r.z = 1)",
           "SELECT id AS alias FROM a ORDER BY alias");
    EXPECT("a (id bigint)\n",
           "WITH w AS (SELECT id FROM a WHERE id = 1), v AS (SELECT k FROM w WHERE k = 2) "
           "SELECT w.id, v.k, w.other FROM w, v",
           "SELECT relname FROM pg_class WHERE oid = 1", "SELECT n FROM generate_series(1, 3) AS n",
           "SELECT a FROM a WHERE ctid = '(0,1)'",
           "SELECT q.l FROM (SELECT id AS l FROM a) q WHERE q.l = 5", "SELECT id FROM a");
    EXPECT("t (a bigint, b text, n bigint)\n",
           "INSERT INTO t (a, b) VALUES (1, 'x'), (2, NULL) ON CONFLICT (a) DO UPDATE SET n = "
           "excluded.n + 1 WHERE t.n > 3 RETURNING a AS got");
    EXPECT("a (y text, x bigint)\nb (z text, x bigint)\n",
           "UPDATE a SET y = b.z FROM b WHERE a.x = b.x AND a.x = 1",
           "DELETE FROM b USING a WHERE b.x = 7", "COPY a (x, y) FROM STDIN");
}

/* As TPC-C clients write: columns without their tables. */
static void test_unqualified(void **state)
{
    (void)state;
    EXPECT("district (d_next_o_id text, d_w_id bigint, d_id bigint)\n"
           "order_line (ol_o_id text, ol_w_id bigint, ol_d_id bigint)\n"
           "stock (s_w_id text, s_i_id text, s_quantity bigint)\n",
           "SELECT count(DISTINCT s_i_id) FROM order_line, stock, district WHERE ol_w_id = 1 AND "
           "ol_d_id = d_id AND s_quantity < 10",
           "SELECT d_next_o_id FROM district WHERE d_w_id = 1 AND d_id = 2",
           "UPDATE stock SET s_w_id = s_w_id", "SELECT ol_o_id FROM order_line");
    /* Nobody to tell: left out. */
    EXPECT("a ()\nb ()\n", "SELECT x FROM a, b WHERE y = 3");
}

/* Values without names are no column that has one. */
static void test_nameless(void **state)
{
    (void)state;
    EXPECT("t (column1 bigint, column2 text, column3 date, id bigint)\n",
           "SELECT 1 FROM t WHERE id = 4", "INSERT INTO t VALUES (1, 'a', '2020-01-01')",
           "INSERT INTO t VALUES (2, 'b')");
}

static void test_parameters(void **state)
{
    (void)state;
    static const char text[] = "SELECT 1 FROM t WHERE a = $1 AND b = $2 AND c = $3";
    struct cleave_parameter parameters[] = {
        {.text = "15", .length = 2}, {.text = "2020-02-02", .length = 10}, {.is_null = true}};
    struct cleave_schema_observer *observer;
    struct cleave_schema *schema;
    assert_int_equal(cleave__schema_observer_new("trace", &observer, NULL), CLEAVE_OK);
    assert_int_equal(cleave__schema_observe(observer, text, strlen(text), parameters, 3, NULL),
                     CLEAVE_OK);
    /* The same text again, with another kind of value. */
    parameters[2] = (struct cleave_parameter){.text = "z", .length = 1};
    assert_int_equal(cleave__schema_observe(observer, text, strlen(text), parameters, 3, NULL),
                     CLEAVE_OK);
    parameters[0] = (struct cleave_parameter){.text = "1.5", .length = 3};
    assert_int_equal(cleave__schema_observe(observer, text, strlen(text), parameters, 3, NULL),
                     CLEAVE_OK);
    assert_int_equal(cleave__schema_observer_finish(observer, &schema, NULL), CLEAVE_OK);
    char *described = schema_describe(schema, false);
    assert_string_equal(described, "t (a numeric, b date, c text)\n");
    free(described);
    cleave__schema_free(schema);
    cleave__schema_observer_free(observer);
}

static void test_errors(void **state)
{
    (void)state;
    struct cleave_schema_observer *observer;
    struct cleave_schema *schema;
    struct cleave_error error = {0};
    assert_int_equal(cleave__schema_observer_new("trace", &observer, &error), CLEAVE_OK);
    assert_int_equal(cleave__schema_observe(observer, "SELECT FROM WHERE", 17, NULL, 0, &error),
                     CLEAVE_BAD_INPUT);
    assert_int_equal(cleave__schema_observe(observer, "SELECT 'x", 9, NULL, 0, &error),
                     CLEAVE_BAD_INPUT);
    assert_int_equal(cleave__schema_observe(observer, "SELECT 1; BEGIN", 15, NULL, 0, &error),
                     CLEAVE_OK);
    assert_int_equal(cleave__schema_observer_finish(observer, &schema, &error), CLEAVE_NOT_FOUND);
    assert_string_equal(error.message,
                        "trace: no statement in it names a table; give the schema's DDL");
    cleave__schema_observer_free(observer);
}

static bool attempt(void *context)
{
    static const char *const statements[] = {
        "SELECT a_x, b_y FROM aa, bb WHERE a_z = 1",
        "SELECT a_x FROM aa WHERE a_x = 3",
        "WITH q AS (SELECT 1) INSERT INTO cc VALUES (1, 'x')",
        "UPDATE bb SET b_q = 2",
    };
    struct cleave_schema_observer *observer;
    struct cleave_schema *schema;
    enum cleave_status status = cleave__schema_observer_new("trace", &observer, NULL);
    (void)context;
    if (status)
        return status == CLEAVE_NO_MEMORY;
    for (size_t i = 0; i < sizeof statements / sizeof *statements && !status; i++)
        status =
            cleave__schema_observe(observer, statements[i], strlen(statements[i]), NULL, 0, NULL);
    if (!status && !(status = cleave__schema_observer_finish(observer, &schema, NULL)))
        cleave__schema_free(schema);
    cleave__schema_observer_free(observer);
    return status == CLEAVE_OK || status == CLEAVE_NO_MEMORY;
}

static void test_failing_allocations(void **state)
{
    (void)state;
    assert_true(failalloc_run_thread("infer", attempt, NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_unqualified),
        cmocka_unit_test(test_nameless),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
