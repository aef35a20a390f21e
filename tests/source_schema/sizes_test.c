/* Row counts from YAML, statistics from JSON and CSV. The dumps of a real server are compared in
 * catalog_test.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "describe.h"
#include "tables/source/sizes.h"

static const char ddl[] =
    "CREATE TABLE item (id int PRIMARY KEY, name text NOT NULL, at date, ok boolean);"
    "CREATE TABLE s.orders (id bigint PRIMARY KEY, total numeric);"
    "CREATE VIEW v AS SELECT * FROM item;"
    "CREATE TABLE m (id int) PARTITION BY LIST (id); CREATE TABLE m1 PARTITION OF m DEFAULT;";

static struct cleave_schema *make(void)
{
    struct cleave_schema *schema = NULL;
    struct cleave_error error = {0};
    if (cleave__schema_parse_ddl(ddl, strlen(ddl), "ddl", &schema, &error))
        fail_msg("%s", error.message);
    return schema;
}

static struct cleave_table *table(struct cleave_schema *schema, const char *name)
{
    uint32_t index = cleave__schema_table(schema, name, strlen(name));
    assert_int_not_equal(index, CLEAVE_ABSENT);
    return &schema->tables[index];
}

static void test_yaml(void **state)
{
    (void)state;
    struct cleave_schema *schema = make();
    static const char text[] = "# sizes\ntables:\n  item: 100_000\n";
    static const char fine[] = "# sizes\ntables:\n  item: 1e5\n  \"s.orders\": {rows: 30000, "
                               "row_bytes: 24.5}\n  m:\n    row_bytes: 8\n";
    struct cleave_error error = {0};
    assert_int_equal(cleave__sizes_parse_yaml(schema, text, strlen(text), "y", &error),
                     CLEAVE_BAD_INPUT);
    assert_string_equal(error.message,
                        "y:3: rows cannot be \"100_000\"; give a number from 0 to 1e+15");
    assert_int_equal(cleave__sizes_parse_yaml(schema, fine, strlen(fine), "y", &error), CLEAVE_OK);
    assert_float_equal(table(schema, "item")->rows, 100000, 0);
    assert_int_equal(table(schema, "item")->size_origin, CLEAVE_SIZE_GIVEN);
    assert_float_equal(table(schema, "orders")->rows, 30000, 0);
    assert_float_equal(table(schema, "orders")->row_bytes, 24.5, 0);
    assert_float_equal(table(schema, "m")->row_bytes, 8, 0);
    assert_int_equal(table(schema, "m")->size_origin, CLEAVE_SIZE_TRACE);
    cleave__schema_free(schema);
}

static void test_yaml_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum cleave_status status;
        const char *message;
    } cases[] = {
        {"", CLEAVE_BAD_INPUT, "y:1: expected \"tables:\"; the file is empty"},
        {"- a\n", CLEAVE_BAD_INPUT,
         "y:1: expected \"tables:\" and below it a line a table, \"name: rows\""},
        {"item: 5\n", CLEAVE_BAD_INPUT,
         "y:1: expected \"tables:\", once, and nothing else at this level"},
        {"tables:\n  item: 5\n  nothing: 7\n", CLEAVE_NOT_FOUND,
         "y:3: the schema has no table \"nothing\""},
        {"tables:\n  item: -5\n", CLEAVE_BAD_INPUT,
         "y:2: rows cannot be \"-5\"; give a number from 0 to 1e+15"},
        {"tables:\n  item: .nan\n", CLEAVE_BAD_INPUT,
         "y:2: rows cannot be \".nan\"; give a number from 0 to 1e+15"},
        {"tables:\n  item: 1e99\n", CLEAVE_BAD_INPUT,
         "y:2: rows cannot be \"1e99\"; give a number from 0 to 1e+15"},
        {"tables:\n  item: 0x10\n", CLEAVE_BAD_INPUT,
         "y:2: rows cannot be \"0x10\"; give a number from 0 to 1e+15"},
        {"tables:\n  item:\n", CLEAVE_BAD_INPUT,
         "y:2: rows cannot be \"\"; give a number from 0 to 1e+15"},
        {"tables:\n  item: 1\n  public.item: 2\n", CLEAVE_BAD_INPUT,
         "y:3: \"public.item\" is given twice (first on line 2)"},
        {"tables:\n  v: 1\n", CLEAVE_BAD_INPUT, "y:2: \"v\" is a view and has no rows of its own"},
        {"tables:\n  m1: 1\n", CLEAVE_BAD_INPUT,
         "y:2: \"m1\" is a partition; give the rows of \"m\""},
        {"tables:\n  item: {row: 1}\n", CLEAVE_BAD_INPUT,
         "y:2: expected \"rows\" or \"row_bytes\""},
        {"tables:\n  item: {rows: 1, rows: 2}\n", CLEAVE_BAD_INPUT, "y:2: \"rows\" given twice"},
        {"tables:\n  item: [1]\n", CLEAVE_BAD_INPUT, "y:2: expected a number"},
        {"tables:\n  ? [a]\n  : 1\n", CLEAVE_BAD_INPUT, "y:2: expected a table's name"},
        {"tables: {item: 1}\n---\ntables: {}\n", CLEAVE_BAD_INPUT,
         "y:2: expected one document only"},
        {"tables: {item: 1", CLEAVE_BAD_INPUT, "y:2: did not find expected ',' or '}'"},
        {"tables: &a {item: *a}", CLEAVE_BAD_INPUT, "y:1: expected a number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cleave_schema *schema = make();
        struct cleave_error error = {0};
        assert_int_equal(
            cleave__sizes_parse_yaml(schema, cases[i].text, strlen(cases[i].text), "y", &error),
            cases[i].status);
        assert_string_equal(error.message, cases[i].message);
        assert_float_equal(table(schema, "item")->rows, 0, 0); /* all or nothing */
        cleave__schema_free(schema);
    }
}

static void check_item(struct cleave_schema *schema)
{
    const struct cleave_table *item = table(schema, "item");
    assert_float_equal(item->rows, 1000, 0);
    assert_int_equal(item->size_origin, CLEAVE_SIZE_CATALOG);
    const struct cleave_column_stats *id = &item->columns[0].stats;
    assert_true(id->known);
    assert_float_equal(id->distinct, 1000, 0);
    assert_int_equal(id->bound_count, 3);
    assert_int_equal(id->bounds[1].integer, 500);
    const struct cleave_column_stats *name = &item->columns[1].stats;
    assert_float_equal(name->null_fraction, 0.25, 0);
    assert_float_equal(name->distinct, 40, 0);
    assert_int_equal(name->common_count, 2);
    assert_float_equal(name->common_frequency[1], 0.125, 0);
    assert_int_equal(name->common[0].length, 8);
    assert_memory_equal(name->common[0].text, "a \"b\",\\c", 8);
    assert_false(item->columns[2].stats.known);
}

static void test_stats(void **state)
{
    (void)state;
    static const char *const dumps[] = {
        "{\"schemaname\":\"public\",\"tablename\":\"item\",\"reltuples\":1000,\"attname\":\"id\","
        "\"null_frac\":0,\"avg_width\":4,\"n_distinct\":-1,\"histogram_bounds\":\"{1,500,1000}\"}\n"
        "\n{\"tablename\":\"item\",\"attname\":\"name\",\"null_frac\":0.25,\"avg_width\":9,"
        "\"n_distinct\":40,\"most_common_vals\":[\"a \\\"b\\\",\\\\c\",\"d\"],"
        "\"most_common_freqs\":[0.5,0.125],\"extra\":{\"x\":[1]},\"correlation\":null}\r\n"
        "{\"schemaname\":\"pg_catalog\",\"tablename\":\"pg_class\",\"attname\":\"x\"}",
        "attname,extra,null_frac,tablename,reltuples,n_distinct,most_common_vals,most_common_freqs,"
        "histogram_bounds,avg_width\r\n"
        "id,,0,item,1000,-1,,,\"{1,500,1000}\",4\r\n"
        "name,\"x\ny\",0.25,item,,40,\"{\"\"a \\\"\"b\\\"\",\\\\c\"\",d}\",\"{0.5,0.125}\",,9\r\n"
        "other,,0.5,unknown,7,5,,,,4\r\n",
    };
    for (size_t i = 0; i < sizeof dumps / sizeof *dumps; i++) {
        struct cleave_schema *schema = make();
        struct cleave_error error = {0};
        if (cleave__sizes_parse_stats(schema, dumps[i], strlen(dumps[i]), "d", &error))
            fail_msg("%s", error.message);
        check_item(schema);
        cleave__schema_free(schema);
    }
}

static void test_stats_bytes(void **state)
{
    (void)state;
    struct cleave_schema *schema = make();
    static const char text[] = "schemaname,relname,reltuples,relpages,row_bytes,attname,null_frac,"
                               "avg_width,n_distinct,inherited\n"
                               "s,orders,100,2,,id,0,8,-1,f\ns,orders,100,2,,total,0.5,6,2,f\n"
                               "public,m,-1,5,,,,,,\npublic,item,4096,10,,id,0,4,-1,f\n";
    assert_int_equal(cleave__sizes_parse_stats(schema, text, strlen(text), "d", NULL), CLEAVE_OK);
    assert_float_equal(table(schema, "s.orders")->row_bytes, 28 + 8 + 3, 0);
    assert_float_equal(table(schema, "m")->rows, 0, 0);
    assert_int_equal(table(schema, "m")->size_origin, CLEAVE_SIZE_TRACE);
    /* Not all widths are known: pages. */
    assert_float_equal(table(schema, "item")->row_bytes, 10 * 8192.0 / 4096, 0);
    cleave__schema_free(schema);
}

static void test_stats_errors(void **state)
{
    (void)state;
#define CSV "tablename,reltuples,attname,null_frac,n_distinct,most_common_vals,most_common_freqs\n"
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "d: nothing in it is about a table of the schema"},
        {"a,b\n1,2\n", "d:1: the header names no column \"tablename\" (see docs/sizes.md)"},
        {"tablename\nother\n", "d: nothing in it is about a table of the schema"},
        {CSV "item,-7,,,,,\n", "d:2: reltuples of \"item\" cannot be \"-7\""},
        {CSV "item,-0.5,,,,,\n", "d:2: reltuples of \"item\" cannot be \"-0.5\""},
        {CSV "item,NaN,,,,,\n", "d:2: reltuples of \"item\" cannot be \"NaN\""},
        {CSV "item,1e300,,,,,\n", "d:2: reltuples of \"item\" cannot be \"1e300\""},
        {CSV "item,5,id,1.5,,,\n", "d:2: null_frac of \"item\" cannot be \"1.5\""},
        {CSV "item,5,id,0,-2,,\n", "d:2: n_distinct of \"item\" cannot be \"-2\""},
        {CSV "item,5,id,0,1,{1},\n", "d:2: most_common_freqs of \"item\" cannot be \"\""},
        {CSV "item,5,id,0,1,{1},\"{0.5,0.5}\"\n",
         "d:2: most_common_freqs of \"item\" cannot be \"{0.5,0.5}\""},
        {CSV "item,5,id,0,1,\"{1,2}\",\"{0.9,0.5}\"\n",
         "d:2: the sum of most_common_freqs of \"item\" cannot be \"{0.9,0.5}\""},
        {CSV "item,5,id,0,1,{1,{0.5}\n", "d:2: most_common_vals of \"item\" cannot be \"{1\""},
        {CSV "item,5\n", "d:2: 2 fields, but the header has 7"},
        {CSV "item,\"5,,,,,\n", "d:2: not CSV as PostgreSQL writes it (see docs/sizes.md)"},
        {"{\"tablename\":\"item\"\n", "d:1: not JSON: '}' expected near end of file"},
        {"{}\n[]\n", "d:2: not a JSON object"},
        {"[1]", "d:1: not a JSON object"},
        {"[{]", "d:1: not JSON: string or '}' expected near ']'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cleave_schema *schema = make();
        struct cleave_error error = {0};
        assert_int_equal(
            cleave__sizes_parse_stats(schema, cases[i].text, strlen(cases[i].text), "d", &error),
            CLEAVE_BAD_INPUT);
        assert_string_equal(error.message, cases[i].message);
        assert_float_equal(table(schema, "item")->rows, 0, 0);
        assert_false(table(schema, "item")->columns[0].stats.known);
        cleave__schema_free(schema);
    }
    struct cleave_schema *schema = make();
    assert_int_equal(cleave__sizes_read_stats(schema, "/nonexistent/x", NULL), CLEAVE_NOT_FOUND);
    assert_int_equal(cleave__sizes_read_yaml(schema, "/nonexistent/x", NULL), CLEAVE_NOT_FOUND);
    cleave__schema_free(schema);
}

/* Values that are no constants of the column's type leave the rest in force. */
static void test_unreadable_values(void **state)
{
    (void)state;
    struct cleave_schema *schema = make();
    static const char text[] = CSV "item,5,at,0,3,\"{x,2020-01-01}\",\"{0.5,0.25}\"\n";
    assert_int_equal(cleave__sizes_parse_stats(schema, text, strlen(text), "d", NULL), CLEAVE_OK);
    const struct cleave_column_stats *stats = &table(schema, "item")->columns[2].stats;
    assert_true(stats->known);
    assert_int_equal(stats->common_count, 0);
    assert_float_equal(stats->distinct, 3, 0);
    cleave__schema_free(schema);
}

static void test_arrays(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int count; /* -1: none */
    } cases[] = {
        {"{}", 0},          {"{a}", 1},           {"{a,b}", 2},
        {"{\"\",NULL}", 2}, {"{\"a,\\\"}\"}", 1}, {"", -1},
        {"{", -1},          {"{a", -1},           {"{a,}", -1},
        {"{,a}", -1},       {"{\"a}", -1},        {"{\"a\"b}", -1},
        {"{a\"b\"}", -1},   {"{{a}}", -1},        {"{\"a\\}", -1},
        {"{\"\\\"}", -1},   {"a}", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cleave_arena arena = {0};
        struct cleave_text *items;
        size_t count = 0;
        bool fine =
            cleave__sizes_array(cases[i].text, strlen(cases[i].text), &arena, &items, &count);
        assert_int_equal(fine, cases[i].count >= 0);
        if (fine)
            assert_int_equal(count, cases[i].count);
        cleave__arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_yaml),         cmocka_unit_test(test_yaml_errors),
        cmocka_unit_test(test_stats),        cmocka_unit_test(test_stats_bytes),
        cmocka_unit_test(test_stats_errors), cmocka_unit_test(test_unreadable_values),
        cmocka_unit_test(test_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
