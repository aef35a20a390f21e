/* Lookup tables in words and for other programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "route/json_model.h"
#include "route/model.h"
#include "support/failalloc.h"
#include "tables/route/explain.h"
#include "tables/route/export.h"
#include "tables/route/image.h"

static struct cleave_value integer(int64_t x)
{
    struct cleave_value value = {.kind = CLEAVE_INTEGER};
    value.integer = x;
    return value;
}

static struct cleave_value text(const char *bytes)
{
    struct cleave_value value = {.kind = CLEAVE_TEXT, .text = bytes};
    value.length = (uint32_t)strlen(bytes);
    return value;
}

static enum cleave_status build(struct cleave_lookup **out, struct cleave_error *error)
{
    static struct cleave_column warehouse[] = {
        {.name = "w_id", .type_name = "integer", .type = CLEAVE_TYPE_INTEGER, .not_null = true}};
    static struct cleave_column stock[] = {
        {.name = "s_w_id", .type_name = "integer", .type = CLEAVE_TYPE_INTEGER, .not_null = true},
        {.name = "s_i_id", .type_name = "integer", .type = CLEAVE_TYPE_INTEGER, .not_null = true}};
    static struct cleave_column subscriber[] = {
        {.name = "s_id", .type_name = "bigserial", .type = CLEAVE_TYPE_INTEGER, .not_null = true},
        {.name = "sub nbr", .type_name = "character varying(15)", .type = CLEAVE_TYPE_TEXT}};
    static struct cleave_column day[] = {
        {.name = "d", .type_name = "date", .type = CLEAVE_TYPE_DATE},
        {.name = "order", .type_name = "text", .type = CLEAVE_TYPE_TEXT}};
    static uint32_t zero = 0;
    static struct cleave_foreign_key foreign = {1, &zero, 1, &zero};
    static struct cleave_table tables[] = {
        {.name = "stock",
         .column_count = 2,
         .columns = stock,
         .foreign_count = 1,
         .foreigns = &foreign},
        {.name = "warehouse", .column_count = 1, .columns = warehouse, .primary = {1, &zero}},
        {.name = "item", .column_count = 1, .columns = warehouse},
        {.name = "crm.subscriber", .column_count = 2, .columns = subscriber},
        {.name = "Odd\nName", .column_count = 2, .columns = day},
    };
    struct cleave_schema schema = {.tables = tables, .table_count = 5};
    struct cleave_value entries[] = {integer(1), integer(2), integer(3), integer(4), integer(7)};
    uint32_t shards[] = {0, 1, 1, 0, 0};
    struct cleave_value days[] = {integer(0), integer(86400000000)};
    struct cleave_value quotes[] = {{.kind = CLEAVE_NULL}, text("it's\na"), text("z\xff")};
    uint32_t quote_shards[] = {1, 2, 0};
    struct cleave_key_map maps[] = {
        {5, entries, shards, CLEAVE_MAP_HASH, 0, NULL},
        {0, NULL, NULL, CLEAVE_MAP_ROUND_ROBIN, 0, NULL},
        {0, NULL, NULL, CLEAVE_MAP_RANGE, 2, days},
        {3, quotes, quote_shards, CLEAVE_MAP_NEAREST, 0, NULL},
    };
    struct cleave_exception exceptions[5];
    for (uint32_t i = 0; i < 5; i++)
        exceptions[i] = (struct cleave_exception){
            2, {0, 1}, {{integer(1), integer(1), 0}, {integer(70 + i), integer(70 + i), 0}}, 2};
    exceptions[4].range[1] = (struct cleave_range){integer(100), integer(0), CLEAVE_HIGH_UNBOUNDED};
    struct cleave_table_layout placed[5] = {{0}};
    placed[0].exceptions = exceptions;
    placed[0].exception_count = 5;
    placed[2].replicated = true;
    placed[3].map = 1;
    placed[3].derived_count = 1;
    placed[3].derived[0] = (struct cleave_derived_key){1, "", "x", 3};
    placed[4].map = 2;
    struct cleave_layout layout = {&schema, 3, placed, 3, maps, NULL};
    return cleave__lookup_build(&layout, out, error);
}

static struct cleave_lookup *must_build(void)
{
    struct cleave_lookup *lookup = NULL;
    struct cleave_error error = {0};
    if (build(&lookup, &error) != CLEAVE_OK)
        fail_msg("%s", error.message);
    return lookup;
}

static void test_words(void **state)
{
    (void)state;
    struct cleave_lookup *lookup = must_build();
    char *words;
    assert_int_equal(cleave__lookup_explain(lookup, 0, &words, NULL), CLEAVE_OK);
    assert_string_equal(
        words,
        "stock: by s_w_id;\n"
        "  1, 4, 7 -> shard 0;\n"
        "  2, 3 -> shard 1;\n"
        "  other values by hash;\n"
        "  5 exceptions by (s_w_id, s_i_id), e.g. (1, 70) -> shard 2, (1, 71) -> shard 2, (1, 72) "
        "-> "
        "shard 2, ...\n"
        "warehouse: by w_id, like stock by s_w_id\n"
        "item: on every shard\n"
        "crm.subscriber: by s_id, or by sub nbr read as a number before 'x';\n"
        "  all values by the remainder of division by 3\n"
        "Odd Name: by d;\n"
        "  below '1970-01-01' -> shard 0;\n"
        "  '1970-01-01' to below '1970-01-02' -> shard 1;\n"
        "  from '1970-01-02' on -> shard 2\n");
    free(words);
    cleave__lookup_release(lookup);
}

/* Copies by two keys: said in words and in JSON, the second one lost elsewhere. */
static void test_two_keys(void **state)
{
    (void)state;
    struct cleave_column columns[] = {
        {.name = "u_id", .type_name = "int", .type = CLEAVE_TYPE_INTEGER},
        {.name = "i id", .type_name = "int", .type = CLEAVE_TYPE_INTEGER}};
    struct cleave_table tables[] = {{.name = "useracct"}, {.name = "review"}, {.name = "trust"}};
    for (uint32_t t = 0; t < 3; t++) {
        tables[t].column_count = 2;
        tables[t].columns = columns;
    }
    struct cleave_schema schema = {.tables = tables, .table_count = 3};
    struct cleave_value entries[] = {integer(1), integer(2)};
    uint32_t shards[] = {1, 0};
    struct cleave_key_map maps[] = {{2, entries, shards, CLEAVE_MAP_HASH, 0, NULL},
                                    {0, NULL, NULL, CLEAVE_MAP_ROUND_ROBIN, 0, NULL}};
    struct cleave_table_layout placed[3] = {{0}};
    placed[1] = (struct cleave_table_layout){.key_column = 1, .map = 1, .twice = true};
    placed[2] = (struct cleave_table_layout){.twice = true, .second_column = 1};
    struct cleave_layout layout = {&schema, 2, placed, 2, maps, NULL};
    static const char *const want[] = {
        "useracct: by u_id; 2 -> shard 0; 1 -> shard 1; other values by hash\n"
        "review: a copy by i id; all values by the remainder of division by 2; "
        "and one by u_id, like useracct by u_id\n"
        "trust: a copy by u_id, like useracct by u_id, and one by i id, like useracct by u_id\n",
        /* Nobody explained either map before. */
        "useracct: on every shard\n"
        "review: a copy by i id;\n  all values by the remainder of division by 2;\n"
        "  and one by u_id;\n  2 -> shard 0;\n  1 -> shard 1;\n  other values by hash\n"
        "trust: a copy by u_id, like review by u_id, and one by i id, like review by u_id\n",
        "useracct: on every shard\nreview: on every shard\n"
        "trust: a copy by u_id; 2 -> shard 0; 1 -> shard 1; other values by hash; "
        "and one by i id, like u_id\n"};
    for (uint32_t t = 0; t < 3; t++) {
        struct cleave_lookup *lookup;
        char *out;
        size_t length;
        assert_int_equal(cleave__lookup_build(&layout, &lookup, NULL), CLEAVE_OK);
        assert_int_equal(cleave__lookup_explain(lookup, 0, &out, NULL), CLEAVE_OK);
        assert_string_equal(out, want[t]);
        free(out);
        for (int target = 0; target < 3 && t == 0; target++) {
            static const char *const say[] = {
                "\"map\": 1, \"second_key\": \"u_id\", \"second_map\": 0, ",
                "-- The copy of each row by u_id cannot be kept",
                "-- WARNING: the copy of each row by u_id cannot be kept"};
            assert_int_equal(cleave__lookup_export(lookup, (enum cleave_export_target)target, NULL,
                                                   &out, &length, NULL),
                             CLEAVE_OK);
            if (!strstr(out, say[target]))
                fail_msg("no '%s' in %s", say[target], out);
            if (target == CLEAVE_EXPORT_CITUS)
                assert_non_null(strstr(out, "create_distributed_table('review', 'i id', "));
            free(out);
        }
        cleave__lookup_release(lookup);
        placed[t].replicated = true;
    }
}

/* Ten thousand values are folded or cut, whatever they are. */
static void test_long_lists(void **state)
{
    (void)state;
    struct cleave_column column = {.name = "id", .type_name = "int", .type = CLEAVE_TYPE_INTEGER};
    struct cleave_table table = {.name = "t", .column_count = 1, .columns = &column};
    struct cleave_schema schema = {.tables = &table, .table_count = 1};
    enum { MANY = 10000 };
    struct cleave_value *entries = malloc(MANY * sizeof *entries);
    uint32_t *shards = malloc(MANY * sizeof *shards);
    assert_true(entries && shards);
    for (uint32_t i = 0; i < MANY; i++) {
        entries[i] = integer(i < 5000 ? (int64_t)i - 10 : (int64_t)i * 2);
        shards[i] = i < 5000 ? 0 : 1;
    }
    struct cleave_key_map map = {MANY, entries, shards, CLEAVE_MAP_HASH, 0, NULL};
    struct cleave_table_layout placed = {0};
    struct cleave_layout layout = {&schema, 2, &placed, 1, &map, NULL};
    struct cleave_lookup *lookup;
    assert_int_equal(cleave__lookup_build(&layout, &lookup, NULL), CLEAVE_OK);
    char *words;
    assert_int_equal(cleave__lookup_explain(lookup, 3, &words, NULL), CLEAVE_OK);
    assert_string_equal(words, "t: by id; -10 to 4989 -> shard 0; 10000, 10002, 10004, ... (5000 "
                               "values) -> shard 1; other values by hash\n");
    free(words);
    cleave__lookup_release(lookup);
    free(entries);
    free(shards);
}

static bool json_keeps_all(struct property_source *source, void *context)
{
    (void)context;
    struct model model;
    model_random(source, &model);
    struct cleave_lookup *lookup = NULL, *again = NULL;
    struct cleave_arena arena = {0};
    struct cleave_schema schema;
    struct cleave_layout layout;
    char *json = NULL;
    size_t length = 0;
    bool good = cleave__lookup_build(&model.layout, &lookup, NULL) == CLEAVE_OK &&
                cleave__lookup_export(lookup, CLEAVE_EXPORT_JSON, NULL, &json, &length, NULL) ==
                    CLEAVE_OK &&
                json_model_read(json, length, &arena, &schema, &layout) &&
                cleave__lookup_build(&layout, &again, NULL) == CLEAVE_OK &&
                again->size == lookup->size &&
                memcmp(again->bytes, lookup->bytes, lookup->size) == 0;
    if (!good && source->verbose) {
        model_print(&model);
        printf("%s\n", json ? json : "no JSON");
    }
    free(json);
    cleave__lookup_release(lookup);
    cleave__lookup_release(again);
    cleave__arena_free(&arena);
    model_free(&model);
    return good;
}

static void test_json(void **state)
{
    (void)state;
    assert_true(property_run("lookup table as JSON and back", json_keeps_all, NULL, 1000));
}

static uint32_t count_of(const char *text, const char *piece)
{
    uint32_t n = 0;
    for (const char *at = text; (at = strstr(at, piece)); at += strlen(piece))
        n++;
    return n;
}

static void test_citus(void **state)
{
    (void)state;
    struct cleave_lookup *lookup = must_build();
    char *sql;
    size_t length;
    assert_int_equal(cleave__lookup_export(lookup, CLEAVE_EXPORT_CITUS, NULL, &sql, &length, NULL),
                     CLEAVE_OK);
    assert_int_equal(strlen(sql), length);
    const char *parent =
        strstr(sql, "create_distributed_table('warehouse', 'w_id', colocate_with => 'none')");
    const char *child =
        strstr(sql, "create_distributed_table('stock', 's_w_id', colocate_with => 'warehouse')");
    const char *reference = strstr(sql, "create_reference_table('item')");
    assert_true(reference && parent && child && reference < parent && parent < child);
    assert_non_null(strstr(sql, "create_distributed_table('crm.subscriber', 's_id', "));
    assert_non_null(strstr(sql, "-- 5 exceptions of this table cannot be kept"));
    assert_int_equal(count_of(sql, "isolate_tenant_to_new_shard('warehouse', "), 5);
    assert_non_null(strstr(sql, "'\"Odd\nName\"'"));
    free(sql);
    cleave__lookup_release(lookup);
}

static void test_fdw(void **state)
{
    (void)state;
    struct cleave_lookup *lookup = must_build();
    struct cleave_export_options options = {
        .host = "10.0.0.{}", .port = "54{}", .database = "it's"};
    char *sql;
    size_t length;
    assert_int_equal(
        cleave__lookup_export(lookup, CLEAVE_EXPORT_FDW, &options, &sql, &length, NULL), CLEAVE_OK);
    assert_non_null(strstr(sql, "OPTIONS (host '10.0.0.2', port '542', dbname 'it''s')"));
    assert_non_null(strstr(sql, "(0, 1), (1, 2)"));
    assert_non_null(strstr(sql, "mod(mod(v::numeric, 3) + 3, 3)"));
    assert_non_null(strstr(sql, "(0, '1970-01-01'), (1, '1970-01-02')"));
    assert_non_null(strstr(sql, "s_id bigint NOT NULL"));
    assert_int_equal(count_of(sql, "CREATE TRIGGER cleave_key_stays"), 4);
    assert_non_null(strstr(sql, "WARNING: 5 exceptions"));
    free(sql);
    struct cleave_export_options lists = {.port = "1,2,3", .host = "a,b"};
    struct cleave_error error;
    assert_int_equal(
        cleave__lookup_export(lookup, CLEAVE_EXPORT_FDW, &lists, &sql, &length, &error),
        CLEAVE_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "the list of hosts has 2 items, but there are 3"));
    lists.host = NULL;
    assert_int_equal(
        cleave__lookup_export(lookup, CLEAVE_EXPORT_FDW, &lists, &sql, &length, &error), CLEAVE_OK);
    assert_non_null(strstr(sql, "host 'shard-1', port '2'"));
    free(sql);
    cleave__lookup_release(lookup);
}

static void test_targets(void **state)
{
    (void)state;
    enum cleave_export_target target;
    struct cleave_error error;
    assert_int_equal(cleave__export_target("fdw", &target, &error), CLEAVE_OK);
    assert_int_equal(target, CLEAVE_EXPORT_FDW);
    assert_int_equal(cleave__export_target("vitess", &target, &error), CLEAVE_NOT_FOUND);
}

static bool attempt(void *context)
{
    (void)context;
    struct cleave_lookup *lookup = NULL;
    enum cleave_status status = build(&lookup, NULL);
    for (int target = 0; target <= 3 && status == CLEAVE_OK; target++) {
        char *out = NULL;
        size_t length;
        status = target < 3 ? cleave__lookup_export(lookup, (enum cleave_export_target)target, NULL,
                                                    &out, &length, NULL)
                            : cleave__lookup_explain(lookup, 0, &out, NULL);
        if (status == CLEAVE_OK)
            free(out);
    }
    cleave__lookup_release(lookup);
    return status == CLEAVE_OK || status == CLEAVE_NO_MEMORY;
}

static void test_no_memory(void **state)
{
    (void)state;
    assert_true(failalloc_run("exports", attempt, NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),      cmocka_unit_test(test_two_keys),
        cmocka_unit_test(test_long_lists), cmocka_unit_test(test_json),
        cmocka_unit_test(test_citus),      cmocka_unit_test(test_fdw),
        cmocka_unit_test(test_targets),    cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
