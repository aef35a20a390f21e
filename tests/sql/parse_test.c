/* The parser's guard: hostile depth and length end in a status, never in a crash, and whatever
 * passes the guard really fits the worker's stack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pg_query/pg_query.pb-c.h>

#include "tables/sql/analyze.h"
#include "tables/sql/parse.h"

static struct cleave_parser *parser;

static int set_up(void **state)
{
    (void)state;
    return cleave__parser_new(&parser, NULL) != CLEAVE_OK;
}

static int tear_down(void **state)
{
    (void)state;
    cleave__parser_free(parser);
    return 0;
}

static enum cleave_status parse(const char *text, size_t length, struct cleave_error *error)
{
    struct cleave_arena arena = {0};
    PgQuery__ParseResult *tree = NULL;
    enum cleave_status status = cleave__parse_protobuf(parser, text, length, &arena, &tree, error);
    assert_true((status == CLEAVE_OK) == (tree != NULL));
    cleave__arena_free(&arena);
    char *json = NULL;
    assert_int_equal(cleave__parse_json(parser, text, length, &json, NULL), status);
    assert_true((status == CLEAVE_OK) == (json != NULL));
    free(json);
    return status;
}

/* head, then `count` times `piece`, then `middle`, then `count` times `close`, then tail. */
static char *build(const char *head, const char *piece, size_t count, const char *middle,
                   const char *close)
{
    size_t size = strlen(head) + count * (strlen(piece) + strlen(close)) + strlen(middle) + 1;
    char *text = malloc(size);
    assert_non_null(text);
    char *p = stpcpy(text, head);
    for (size_t i = 0; i < count; i++)
        p = stpcpy(p, piece);
    p = stpcpy(p, middle);
    for (size_t i = 0; i < count; i++)
        p = stpcpy(p, close);
    return text;
}

static void accepts_and_refuses(void **state)
{
    (void)state;
    struct cleave_error error;
    assert_int_equal(parse("SELECT 1", 8, NULL), CLEAVE_OK);
    assert_int_equal(parse("", 0, NULL), CLEAVE_OK);
    assert_int_equal(parse("SELECT 1; SELECT 2", 18, NULL), CLEAVE_OK);
    assert_int_equal(parse("SELECT 1garbage past the length", 8, NULL), CLEAVE_OK);
    assert_int_equal(parse("SELEC 1", 7, &error), CLEAVE_BAD_INPUT);
    assert_string_equal(error.message, "syntax error at or near \"SELEC\" (character 1)");
    assert_int_equal(parse("SELECT 'a", 9, &error), CLEAVE_BAD_INPUT);
    assert_int_equal(parse("SELECT \0 1", 10, &error), CLEAVE_BAD_INPUT);
    assert_non_null(strstr(error.message, "NUL at byte 7"));
    assert_int_equal(parse("SELECT /* open", 14, NULL), CLEAVE_BAD_INPUT);
    assert_int_equal(parse("SELECT $$ open", 14, NULL), CLEAVE_BAD_INPUT);
}

struct shape {
    const char *head, *piece, *middle, *close;
    size_t largest; /* pieces that pass the guard */
};

/* Every way to make a tree deep: at the bound it parses, one past it is refused, and 100,000 too.
 */
static void depth_is_bounded(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {"SELECT ", "(", "1", ")", CLEAVE_NESTING_MAX},
        {"SELECT ", "CASE WHEN true THEN ", "1", " END", CLEAVE_NESTING_MAX},
        {"SELECT ", "(SELECT ", "1", ")", CLEAVE_NESTING_MAX},
        {"SELECT * FROM ", "(SELECT * FROM ", "t", ") AS s", CLEAVE_NESTING_MAX},
        {"SELECT ", "ARRAY[", "1", "]", CLEAVE_NESTING_MAX},
        {"SELECT ", "f(", "1", ")", CLEAVE_NESTING_MAX},
        {"SELECT ", "a + ", "1", "", CLEAVE_PARSE_CHAIN_MAX},
        {"SELECT ", "- ", "a", "", CLEAVE_PARSE_CHAIN_MAX},
        {"SELECT ", "NOT ", "a", "", CLEAVE_PARSE_CHAIN_MAX},
        {"SELECT a", "::int", "", "", CLEAVE_PARSE_CHAIN_MAX},
        {"SELECT a", " COLLATE \"C\"", "", "", CLEAVE_PARSE_CHAIN_MAX},
        {"SELECT a", " AT TIME ZONE b", "", "", CLEAVE_PARSE_CHAIN_MAX},
        {"SELECT 1", " UNION ALL SELECT 1", "", "", CLEAVE_PARSE_CHAIN_MAX},
        {"SELECT 1 FROM a", " NATURAL JOIN a", "", "", CLEAVE_PARSE_CHAIN_MAX},
        {"SELECT a", " || a", "", "", CLEAVE_PARSE_CHAIN_MAX},
        {"SELECT a", " OPERATOR(pg_catalog.+) 1", "", "", CLEAVE_PARSE_CHAIN_MAX - 1},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct shape *s = &shapes[i];
        struct cleave_error error = {0};
        char *text = build(s->head, s->piece, s->largest, s->middle, s->close);
        enum cleave_status status = parse(text, strlen(text), &error);
        if (status)
            print_message("%s%s...: %s\n", s->head, s->piece, error.message);
        assert_int_equal(status, CLEAVE_OK);
        free(text);
        for (size_t more = s->largest + 1; more <= 100000; more += 99999 - s->largest) {
            text = build(s->head, s->piece, more, s->middle, s->close);
            assert_int_equal(parse(text, strlen(text), &error), CLEAVE_LIMIT);
            free(text);
        }
    }
}

/* What is long but flat passes: AND, OR, IN lists, VALUES rows. */
static void flat_is_not_deep(void **state)
{
    (void)state;
    static const char *const flat[][3] = {
        {"SELECT * FROM t WHERE a = 1", " OR a = 2", ""},
        {"SELECT * FROM t WHERE a = 1", " AND a = 2 + 3", ""},
        {"SELECT * FROM t WHERE a IN (1", ", -5 + 7", ")"},
        {"INSERT INTO t VALUES (1, 2)", ", (- 3, 4)", ""},
    };
    for (size_t i = 0; i < sizeof flat / sizeof *flat; i++) {
        char *text = build(flat[i][0], flat[i][1], 20000, flat[i][2], "");
        assert_int_equal(parse(text, strlen(text), NULL), CLEAVE_OK);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_and_refuses),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(flat_is_not_deep),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
