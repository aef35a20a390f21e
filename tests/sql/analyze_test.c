/* The analyzer beyond single constructs: templates and parameters, bounds, errors, allocations. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "describe.h"
#include "failalloc.h"
#include "tables/sql/compile.h"
#include "tables/sql/fingerprint.h"
#include "tables/sql/parse.h"

static const char ddl[] =
    "CREATE TABLE t (id int PRIMARY KEY, a bigint, b text, n numeric(6,2), at timestamptz,"
    " day date, ok bool, code char(3), ref uuid);"
    "CREATE TABLE u (x int, y int, z text);"
    "CREATE TABLE wide (c1 int, c2 int, c3 int, c4 int, c5 int, c6 int, c7 int, c8 int, c9 int);";

static struct cleave_schema *schema;
static struct cleave_analyzer *analyzer;
static struct cleave_arena arena;

static int set_up(void **state)
{
    (void)state;
    return cleave__schema_parse_ddl(ddl, strlen(ddl), "ddl", &schema, NULL) ||
           cleave__analyzer_new(schema, &analyzer, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    cleave__arena_free(&arena);
    cleave__analyzer_free(analyzer);
    cleave__schema_free(schema);
    return 0;
}

static struct cleave_statement run(const char *sql, const struct cleave_parameter *parameters,
                                   uint32_t count)
{
    struct cleave_statement statement;
    struct cleave_error error = {0};
    if (cleave__analyze(analyzer, sql, strlen(sql), parameters, count, &arena, &statement, &error))
        fail_msg("%s: %s", sql, error.message);
    return statement;
}

static void expect_bound(const char *sql, const struct cleave_parameter *parameters, uint32_t count,
                         const char *expected)
{
    struct cleave_statement statement = run(sql, parameters, count);
    char text[4096];
    describe_statement(schema, &statement, text, sizeof text);
    if (strcmp(text, expected) != 0)
        fail_msg("%s\n  expected %s\n  found    %s", sql, expected, text);
}

static void expect(const char *sql, const char *expected)
{
    expect_bound(sql, NULL, 0, expected);
}

static void literals_are_bound_again(void **state)
{
    (void)state;
    struct cleave_analyzer_stats before, after;
    cleave__analyzer_stats(analyzer, &before);
    uint32_t id = run("SELECT * FROM t WHERE id = 1 AND b = 'x' AND n > 1.5", NULL, 0).template_id;
    assert_int_equal(
        run("SELECT * FROM t WHERE id = 22 AND b = 'it''s' AND n > 3", NULL, 0).template_id, id);
    assert_int_equal(
        run("SELECT *   FROM t -- words\n WHERE id = 1 /* x */ AND b = $$x$$ AND n > 0", NULL, 0)
            .template_id,
        id);
    cleave__analyzer_stats(analyzer, &after);
    assert_int_equal(after.statements - before.statements, 3);
    assert_int_equal(after.parsed - before.parsed, 1);
    assert_int_equal(after.templates - before.templates, 1);
    expect("SELECT * FROM t WHERE id = 22 AND b = 'it''s' AND n > 3",
           "r t{id=22 b='it''s' n=(3..]}");
    expect("SELECT * FROM t WHERE id = 7 AND b = $q$it's$q$ AND n > 1e1",
           "r t{id=7 b='it''s' n=(10..]}");
    /* Signs, brackets and casts belong to the template, their constants do not. */
    expect("SELECT * FROM t WHERE id = -5 AND a = - (3)", "r t{id=-5 a=-3}");
    expect("SELECT * FROM t WHERE id = -6 AND a = - (4)", "r t{id=-6 a=-4}");
    expect("SELECT * FROM t WHERE id = - -7 AND a=+8", "r t{id=7 a=8}");
    expect("SELECT * FROM t WHERE id = - -9 AND a=+1", "r t{id=9 a=1}");
    expect("SELECT * FROM t WHERE id=-2147483648 OR id=-9223372036854775808",
           "r t{id=-9223372036854775808,-2147483648}");
    expect("SELECT * FROM t WHERE day = '2020-01-01'::date", "r t{day='2020-01-01'}");
    expect("SELECT * FROM t WHERE day = '2021-02-03'::date", "r t{day='2021-02-03'}");
    expect("SELECT * FROM t WHERE day = DATE '2020-01-01' + 31", "r t{day='2020-02-01'}");
    expect("SELECT * FROM t WHERE day = DATE '2020-01-01' + 1", "r t{day='2020-01-02'}");
    expect("SELECT * FROM t WHERE b = E'a\\n\\u00e9\\x41\\101'", "r t{b='a\n\xc3\xa9"
                                                                 "AA'}");
    expect("SELECT * FROM t WHERE b = E'b\\''", "r t{b='b'''}");
    /* Strings of rare kinds are part of the template. */
    expect("SELECT * FROM t WHERE b = U&'\\0041' AND id = 1", "r t{id=1 b='A'}");
    expect("SELECT * FROM t WHERE b = U&'\\0042' AND id = 1", "r t{id=1 b='B'}");
    expect("SELECT * FROM t WHERE b = 'one '\n 'two' AND id = 3", "r t{id=3 b='one two'}");
    expect("SELECT * FROM t WHERE b = 'six '\n 'ten' AND id = 4", "r t{id=4 b='six ten'}");
    expect("SELECT * FROM t WHERE b = 'ab'::varchar(3)", "r t{b='ab'}");
    expect("SELECT * FROM t WHERE b = 'ab'::varchar(1)", "r t{*}");
    expect("SELECT * FROM t WHERE n = 1.25::numeric(5,2)", "r t{n=1.25}");
    expect("SELECT * FROM t WHERE n = 1.256::numeric(5,1)", "r t{*}");
    expect("SELECT * FROM t WHERE true AND NOT false AND id = 1", "r t{id=1}");
}

static struct cleave_parameter text(const char *value)
{
    return (struct cleave_parameter){.text = value, .length = strlen(value)};
}

static void parameters_are_bound(void **state)
{
    (void)state;
    struct cleave_parameter p[3] = {text("5"), text("abc"), text("2020-01-01 10:00:00+02")};
    expect_bound("SELECT * FROM t WHERE id = $1 AND b = $2 AND at < $3", p, 3,
                 "r t{id=5 b='abc' at=[..'2020-01-01 07:59:59.999999']}");
    expect_bound("SELECT * FROM t WHERE id = $1 AND b = $2", p, 1, "r t{id=5}");
    expect_bound("SELECT * FROM t WHERE id = $1 + 1 AND a = $1 - 10", p, 1, "r t{id=6 a=-5}");
    expect_bound("SELECT * FROM t WHERE id = $1 / 2", p, 1, "r t{*}"); /* 2 or 2.5 */
    expect_bound("SELECT * FROM t WHERE id = $1::int / 2", p, 1, "r t{id=2}");
    expect_bound("SELECT * FROM t WHERE b LIKE $2 || '%'", p, 2, "r t{b=['abc'..'abd')}");
    expect_bound("SELECT * FROM t WHERE ($1 IS NULL OR id = $1) AND ($2 IS NOT NULL OR id = 9)", p,
                 2, "r t{id=5}");
    expect_bound("SELECT * FROM t, u WHERE id = $1 AND x = $1", p, 1, "r t{id=5}, r u{x=5}");
    expect_bound("INSERT INTO u VALUES ($1, 3, $2)", p, 2, "i u{x=5 y=3 z='abc'}");
    p[0].is_null = true;
    expect_bound("SELECT * FROM t WHERE id = $1", p, 1, "r t{-}");
    expect_bound("SELECT * FROM t WHERE id IS NOT DISTINCT FROM $1", p, 1, "r t{id=NULL}");
    expect_bound("SELECT * FROM t WHERE ($1 IS NULL OR id = $1)", p, 1, "r t{*}");
    p[0].is_null = false;
    p[0].is_cut = true;
    expect_bound("SELECT * FROM t WHERE id = $1", p, 1, "r t{*}");
    p[0] = text("{1,2,\"3\",NULL}");
    expect_bound("SELECT * FROM t WHERE id = ANY($1)", p, 1, "r t{id=1,2,3}");
    expect_bound("SELECT * FROM t WHERE id <> ALL($1::int[])", p, 1, "r t{-}");
    p[0] = text("{}");
    expect_bound("SELECT * FROM t WHERE id = ANY($1)", p, 1, "r t{-}");
    p[0] = text("{{1},{2}}");
    expect_bound("SELECT * FROM t WHERE id = ANY($1)", p, 1, "r t{*}");
    p[0] = text("5.5");
    expect_bound("SELECT * FROM t WHERE id < $1", p, 1, "r t{id=[..5]}");
    expect_bound("SELECT * FROM t WHERE id = $1", p, 1, "r t{-}");
    p[0] = text("not a number");
    expect_bound("SELECT * FROM t WHERE id = $1", p, 1, "r t{*}");
}

/* What starts with a pattern's prefix is in its range, whatever the bytes: overlong forms, halves
 * of pairs, ends without a successor. */
static void prefixes_of_any_bytes(void **state)
{
    (void)state;
    static const unsigned char kinds[] = {'a',  0x7f, 0x80, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0,
                                          0xe0, 0xed, 0xa0, 0xef, 0xf0, 0xf4, 0xf8, 0xff};
    struct cleave_random random;
    cleave__random_seed(&random, 7);
    uint32_t ranges = 0;
    for (uint32_t i = 0; i < 50000; i++) {
        char pattern[16] = "", starts[16];
        uint64_t length = 1 + cleave__random_below(&random, 6);
        for (uint64_t k = 0; k < length; k++)
            pattern[k] = (char)kinds[cleave__random_below(&random, sizeof kinds)];
        snprintf(starts, sizeof starts, "%sx", pattern);
        strcat(pattern, "%");
        struct cleave_parameter given = text(pattern);
        struct cleave_statement statement = run("SELECT * FROM t WHERE b LIKE $1", &given, 1);
        const struct cleave_box *box = &statement.accesses[0].boxes[0];
        struct cleave_value value = {
            .kind = CLEAVE_TEXT, .text = starts, .length = (uint32_t)strlen(starts)};
        if (box->term_count == 1) {
            ranges++;
            if (box->terms[0].range_count != 1 ||
                !cleave__range_contains(&box->terms[0].ranges[0], &value))
                fail_msg("round %" PRIu32 ", bytes %zu", i, strlen(pattern));
        }
        cleave__arena_free(&arena);
    }
    assert_true(ranges > 40000);
}

static void new_rows_keep_what_was_asked(void **state)
{
    (void)state;
    /* No key: the first eight columns, and any column a predicate has named. */
    expect("INSERT INTO wide VALUES (1, 2, 3, 4, 5, 6, 7, 8, 9)",
           "i wide{c1=1 c2=2 c3=3 c4=4 c5=5 c6=6 c7=7 c8=8}");
    expect("SELECT * FROM wide WHERE c9 = 1", "r wide{c9=1}");
    expect("INSERT INTO wide VALUES (1, 2, 3, 4, 5, 6, 7, 8, 9)",
           "i wide{c1=1 c2=2 c3=3 c4=4 c5=5 c6=6 c7=7 c8=8 c9=9}");
}

static void errors_say_where(void **state)
{
    (void)state;
    struct cleave_statement statement = {.access_count = 77};
    struct cleave_error error;
    static char large[CLEAVE_STATEMENT_MAX + 2];
    memset(large, ' ', sizeof large);
    assert_int_equal(
        cleave__analyze(analyzer, large, sizeof large, NULL, 0, &arena, &statement, &error),
        CLEAVE_LIMIT);
    assert_int_equal(cleave__analyze(analyzer, large, CLEAVE_STATEMENT_MAX, NULL, 0, &arena,
                                     &(struct cleave_statement){0}, &error),
                     CLEAVE_OK);
    assert_int_equal(
        cleave__analyze(analyzer, "SELECT FROM t WHERE (", 21, NULL, 0, &arena, &statement, &error),
        CLEAVE_BAD_INPUT);
    assert_string_equal(error.message, "syntax error at end of input (character 22)");
    assert_int_equal(
        cleave__analyze(analyzer, "SELECT 1; SELECT 2", 18, NULL, 0, &arena, &statement, &error),
        CLEAVE_BAD_INPUT);
    assert_int_equal(cleave__analyze(analyzer, "SELECT \0", 8, NULL, 0, &arena, &statement, &error),
                     CLEAVE_BAD_INPUT);
    char deep[3 * CLEAVE_NESTING_MAX];
    memset(deep, '(', sizeof deep);
    memcpy(deep, "SELECT ", 7);
    assert_int_equal(
        cleave__analyze(analyzer, deep, sizeof deep, NULL, 0, &arena, &statement, &error),
        CLEAVE_LIMIT);
    assert_int_equal(statement.access_count, 77);
    expect("", "");
    expect(";", "");
    expect("SELECT * FROM t WHERE id = 1;", "r t{id=1}");
}

static char *repeat(const char *head, const char *format, unsigned count, const char *tail)
{
    char *text_ = malloc(strlen(head) + count * (strlen(format) + 24) + strlen(tail) + 1);
    assert_non_null(text_);
    char *p = stpcpy(text_, head);
    for (unsigned i = 0; i < count; i++)
        p += sprintf(p, format, i, i);
    strcpy(p, tail);
    return text_;
}

/* Large statements stay exact where that is cheap and grow wider where it is not. */
static void large_conditions(void **state)
{
    (void)state;
    char *sql = repeat("SELECT * FROM t WHERE id IN (-1", ", %u", 20000, ")");
    struct cleave_statement statement = run(sql, NULL, 0);
    free(sql);
    assert_int_equal(statement.accesses[0].box_count, 1);
    assert_int_equal(statement.accesses[0].boxes[0].terms[0].range_count, 20001);
    sql = repeat("SELECT * FROM t WHERE id = -1", " OR id = %u", 20000, "");
    statement = run(sql, NULL, 0);
    free(sql);
    assert_int_equal(statement.accesses[0].box_count, 1);
    assert_int_equal(statement.accesses[0].boxes[0].terms[0].range_count, 20001);
    sql = repeat("SELECT * FROM t WHERE (id, a) IN ((-1, -1)", ", (%u, %u)", 63, ")");
    assert_int_equal(run(sql, NULL, 0).accesses[0].box_count, 64);
    free(sql);
    sql = repeat("SELECT * FROM t WHERE (id, a) IN ((-1, -1)", ", (%u, %u)", 64, ")");
    statement = run(sql, NULL, 0);
    free(sql);
    assert_int_equal(statement.accesses[0].box_count, 1); /* one box around all */
    assert_int_equal(statement.accesses[0].boxes[0].term_count, 2);
    assert_int_equal(statement.accesses[0].boxes[0].terms[1].range_count, 65);
    /* A product of unions is bounded too. */
    sql = repeat("SELECT * FROM t WHERE true", " AND (id > %u OR a <> %u)", 40, "");
    statement = run(sql, NULL, 0);
    free(sql);
    assert_in_range(statement.accesses[0].box_count, 1, 64);
    sql = repeat("INSERT INTO t (id, a) VALUES (-1, 0)", ", (%u, %u)", 5000, "");
    assert_int_equal(run(sql, NULL, 0).accesses[0].box_count, 5001);
    free(sql);
    sql = repeat("SELECT * FROM t", " LEFT JOIN u u%u ON id = u%u.x", 400, " WHERE id = 3");
    statement = run(sql, NULL, 0);
    free(sql);
    assert_int_equal(statement.access_count, 401);
    sql = repeat("WITH a AS (SELECT 1)", ", q%u AS (SELECT * FROM u WHERE x = %u)", 3000,
                 " SELECT 2");
    assert_int_equal(run(sql, NULL, 0).access_count, 3000);
    free(sql);
    assert_int_equal(statement.accesses[400].boxes[0].term_count, 1);
}

/* Many different statements: memory stays bounded, ids stay apart, answers right. */
static void templates_are_bounded(void **state)
{
    (void)state;
    struct cleave_analyzer *other;
    assert_int_equal(cleave__analyzer_new(schema, &other, NULL), CLEAVE_OK);
    struct cleave_analyzer_stats stats;
    char *list = repeat("", ", %u", 6000, "");
    char *sql = malloc(strlen(list) + 200);
    assert_non_null(sql);
    uint32_t before = 0;
    for (unsigned i = 0; i < 400; i++) { /* some 300 KB of template each */
        struct cleave_statement statement;
        struct cleave_arena own = {0};
        if (!sql || !list)
            break;
        sprintf(sql, "SELECT * FROM t AS t%u WHERE id IN (1%s)", i, list);
        assert_int_equal(cleave__analyze(other, sql, strlen(sql), NULL, 0, &own, &statement, NULL),
                         CLEAVE_OK);
        assert_int_equal(statement.accesses[0].boxes[0].terms[0].range_count, 6000);
        assert_true(i == 0 || statement.template_id == before + 1);
        before = statement.template_id;
        cleave__arena_free(&own);
        cleave__analyzer_stats(other, &stats);
        assert_true(stats.template_bytes < 72 << 20);
    }
    assert_int_equal(stats.parsed, 400);
    assert_int_equal(stats.templates, 400);
    free(sql);
    free(list);
    cleave__analyzer_free(other);
}

/* ---- allocations ---- */

struct compiling {
    struct cleave_catalog catalog;
    PgQuery__ParseResult *tree;
    const char *sql;
};

/* Compiles and binds a tree parsed before, on this thread. */
static bool compile_and_bind(void *context)
{
    struct compiling *given = context;
    struct cleave_fingerprint fingerprint = {0};
    struct cleave_arena keep = {0}, results = {0};
    struct cleave_template compiled;
    struct cleave_error error = {0};
    size_t length = strlen(given->sql);
    enum cleave_status status = cleave__fingerprint_take(&fingerprint, given->sql, length);
    if (!status) {
        struct cleave_compile_input input = {
            .catalog = &given->catalog,
            .named = given->catalog.keep,
            .text = given->sql,
            .length = length,
            .slots = fingerprint.slots.data,
            .slot_count = (uint32_t)fingerprint.slots.count,
            .tree = given->tree,
        };
        status = cleave__compile(&input, &keep, &compiled, &error);
    }
    if (!status) {
        struct cleave_binding binding = {.slots = fingerprint.slots.data,
                                         .slot_count = (uint32_t)fingerprint.slots.count,
                                         .arena = &results};
        struct cleave_statement statement;
        status = cleave__template_bind(&compiled, &given->catalog, &binding, &statement);
    }
    cleave__fingerprint_free(&fingerprint);
    cleave__arena_free(&keep);
    cleave__arena_free(&results);
    return status == CLEAVE_OK || status == CLEAVE_NO_MEMORY;
}

static void compiling_without_memory(void **state)
{
    (void)state;
    /* Long enough to need several blocks of every arena. */
    char *sql =
        repeat("WITH q AS (SELECT x, y FROM u WHERE z LIKE 'a%%') UPDATE t SET id = 5, b = 'x'"
               " FROM q LEFT JOIN u USING (x) WHERE t.id = q.x AND EXISTS (SELECT 1 FROM u k"
               " WHERE k.x = t.id) AND t.a NOT IN (1, 2, 3) AND (t.id IN (3",
               ", %u", 400, ") OR (t.a = 3 AND t.n > 1.50) OR t.b LIKE 'pre%')");
    struct cleave_parser *parser;
    struct cleave_arena tree = {0}, kept = {0};
    struct compiling given = {.sql = sql};
    assert_int_equal(cleave__parser_new(&parser, NULL), CLEAVE_OK);
    assert_int_equal(cleave__parse_protobuf(parser, sql, strlen(sql), &tree, &given.tree, NULL),
                     CLEAVE_OK);
    given.catalog.schema = schema;
    given.catalog.types = cleave__arena_array(&kept, schema->table_count, sizeof(void *));
    given.catalog.keep = cleave__arena_array(&kept, schema->table_count, sizeof(void *));
    given.catalog.places = cleave__arena_array(&kept, schema->table_count, sizeof(void *));
    for (uint32_t t = 0; t < schema->table_count; t++) {
        const struct cleave_table *table = &schema->tables[t];
        given.catalog.types[t] =
            cleave__arena_array(&kept, table->column_count, sizeof **given.catalog.types);
        given.catalog.keep[t] = cleave__arena_zalloc(&kept, table->column_count);
        given.catalog.places[t] = cleave__arena_zalloc(&kept, table->column_count);
        for (uint32_t i = 0; i < table->column_count; i++)
            given.catalog.types[t][i] =
                cleave__domain_type(table->columns[i].type, table->columns[i].type_name);
    }
    assert_true(failalloc_run_thread("compile", compile_and_bind, &given, 1));
    cleave__arena_free(&tree);
    cleave__arena_free(&kept);
    cleave__parser_free(parser);
    free(sql);
}

/* The caller's side: templates are there already or are compiled on the other thread. */
static bool analyze_some(void *context)
{
    struct cleave_analyzer *made = NULL;
    struct cleave_arena own = {0};
    struct cleave_statement statement;
    (void)context;
    enum cleave_status status = cleave__analyzer_new(schema, &made, NULL);
    for (int i = 0; !status && i < 3; i++) {
        static const char sql[] = "SELECT * FROM t WHERE id IN (1, 2) AND b = 'it''s' AND n = 1.50";
        status = cleave__analyze(made, sql, sizeof sql - 1, NULL, 0, &own, &statement, NULL);
    }
    cleave__arena_free(&own);
    cleave__analyzer_free(made);
    return status == CLEAVE_OK || status == CLEAVE_NO_MEMORY;
}

static void analyzing_without_memory(void **state)
{
    (void)state;
    assert_true(failalloc_run_thread("analyze", analyze_some, NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_are_bound_again), cmocka_unit_test(parameters_are_bound),
        cmocka_unit_test(prefixes_of_any_bytes),    cmocka_unit_test(new_rows_keep_what_was_asked),
        cmocka_unit_test(errors_say_where),         cmocka_unit_test(large_conditions),
        cmocka_unit_test(templates_are_bounded),    cmocka_unit_test(compiling_without_memory),
        cmocka_unit_test(analyzing_without_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
