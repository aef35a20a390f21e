/* The splitter: where statements end, and what their first words say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/property.h"
#include "tables/sql/split.h"

/* The statements of `text`, joined by "|". */
static void expect(const char *text, const char *expected)
{
    char out[4096] = "";
    size_t used = 0;
    const char *at = text, *end = text + strlen(text);
    struct cleave_piece piece;
    while (cleave__split_next(&at, end, &piece)) {
        if (used)
            out[used++] = '|';
        memcpy(out + used, piece.text, piece.length);
        used += piece.length;
        out[used] = 0;
    }
    assert_string_equal(out, expected);
}

static void where_statements_end(void **state)
{
    (void)state;
    expect("", "");
    expect(" ;; -- nothing\n /* at ; all */ ;", "");
    expect("select 1", "select 1");
    expect("select 1; select 2 ;", "select 1|select 2");
    expect("select ';', \"a;b\" ; x", "select ';', \"a;b\"|x");
    expect("select 'it''s;' ; x", "select 'it''s;'|x");
    expect("select '\\'; x", "select '\\'|x");
    expect("select E'\\';' ; x", "select E'\\';'|x");
    expect("select e'''\\\\' ; x", "select e'''\\\\'|x");
    expect("select U&'\\0041;', b'1;' ; x", "select U&'\\0041;', b'1;'|x");
    expect("select $$ ; $$ ; x", "select $$ ; $$|x");
    expect("select $a$ ; $b$ $$ $a$ ; x", "select $a$ ; $b$ $$ $a$|x");
    expect("select a$b$c; x", "select a$b$c|x");
    expect("select $1; x", "select $1|x");
    expect("select 1 -- ; 'quote\n; x", "select 1 -- ; 'quote|x");
    expect("select /* ; /* ; */ ' */ 1; x", "select /* ; /* ; */ ' */ 1|x");
    expect("select 5-3; x", "select 5-3|x");
    expect("select 'open; x", "select 'open; x");
    expect("select /* open; x", "select /* open; x");
    expect("select $$ open; x", "select $$ open; x");
}

static void bodies(void **state)
{
    (void)state;
    const char *rule = "create rule r as on insert to t do (select 1; select 2)";
    char text[512];
    strcpy(text, rule);
    strcat(text, "; x");
    char expected[512];
    strcpy(expected, rule);
    strcat(expected, "|x");
    expect(text, expected);
    expect("create function f() returns int begin atomic select 1; select case when true then 1 "
           "end; end; x",
           "create function f() returns int begin atomic select 1; select case when true then 1 "
           "end; end|x");
    expect("create or replace procedure p() language sql begin atomic; end; begin; end",
           "create or replace procedure p() language sql begin atomic; end|begin|end");
    expect("begin; select (1; 2", "begin|select (1|2");
}

static void verb(const char *text, enum cleave_verb expected, const char *name)
{
    struct cleave_piece piece;
    cleave__split_classify(text, strlen(text), &piece);
    assert_int_equal(piece.verb, expected);
    assert_int_equal(piece.name_length, strlen(name));
    if (*name)
        assert_memory_equal(piece.name, name, strlen(name));
}

static void first_words(void **state)
{
    (void)state;
    verb("BEGIN", CLEAVE_VERB_BEGIN, "");
    verb("/* x */ begin isolation level serializable", CLEAVE_VERB_BEGIN, "");
    verb("start transaction read only", CLEAVE_VERB_BEGIN, "");
    verb("commit;", CLEAVE_VERB_COMMIT, "");
    verb("end transaction", CLEAVE_VERB_COMMIT, "");
    verb("commit prepared 'a b'", CLEAVE_VERB_COMMIT_PREPARED, "'a b'");
    verb("ROLLBACK", CLEAVE_VERB_ROLLBACK, "");
    verb("abort work", CLEAVE_VERB_ROLLBACK, "");
    verb("rollback to s", CLEAVE_VERB_ROLLBACK_TO, "s");
    verb("rollback work to savepoint \"S\"", CLEAVE_VERB_ROLLBACK_TO, "\"S\"");
    verb("rollback prepared 'x'", CLEAVE_VERB_ROLLBACK_PREPARED, "'x'");
    verb("savepoint s", CLEAVE_VERB_SAVEPOINT, "s");
    verb("release s", CLEAVE_VERB_RELEASE, "s");
    verb("prepare q (int) as select 1", CLEAVE_VERB_PREPARE, "q");
    verb("prepare transaction 'x'", CLEAVE_VERB_PREPARE_TRANSACTION, "'x'");
    verb("prepare transaction as select 1", CLEAVE_VERB_PREPARE, "transaction");
    verb("execute q(1)", CLEAVE_VERB_EXECUTE, "q");
    verb("deallocate prepare q", CLEAVE_VERB_DEALLOCATE, "q");
    verb("discard all", CLEAVE_VERB_DISCARD, "all");
    verb("((select 1))", CLEAVE_VERB_SELECT, "");
    verb("with a as (select 1) select 1", CLEAVE_VERB_SELECT, "");
    verb("copy t from stdin", CLEAVE_VERB_COPY, "");
    verb("merge into t", CLEAVE_VERB_DML, "");
    verb("vacuum", CLEAVE_VERB_KNOWN, "");
    verb("beginning", CLEAVE_VERB_OTHER, "");
    verb("", CLEAVE_VERB_OTHER, "");
    verb("-- only", CLEAVE_VERB_OTHER, "");
    struct cleave_piece piece;
    cleave__split_classify("commit and chain", 16, &piece);
    assert_true(piece.chain);
    cleave__split_classify("commit and no chain", 19, &piece);
    assert_false(piece.chain);
}

/* Text that is fed line by line ends where it ends when fed whole, whatever it holds. */
static bool lines_or_whole(struct property_source *source, void *context)
{
    (void)context;
    static const char *const tokens[] = {"select ", "'",       "''",        "\"",     "$$",   "$a$",
                                         "--",      "/*",      "*/",        ";",      "\n",   "E'",
                                         "\\",      "(",       ")",         "1",      "a",    " ",
                                         "x",       "create ", "function ", "begin ", "end ", "$1"};
    char text[512];
    size_t length = 0;
    uint64_t count = property_draw(source, 40);
    for (uint64_t i = 0; i < count; i++) {
        const char *token = tokens[property_draw(source, sizeof tokens / sizeof *tokens)];
        memcpy(text + length, token, strlen(token));
        length += strlen(token);
    }
    text[length++] = '\n';
    struct cleave_splitter whole = {0}, parts = {0};
    size_t at = 0, end = 0, used = 0;
    bool whole_ended = cleave__split_feed(&whole, text, length, &end);
    bool parts_ended = false;
    while (at < length && !parts_ended) {
        const char *newline = memchr(text + at, '\n', length - at);
        size_t line = (size_t)(newline - text) - at;
        parts_ended = cleave__split_feed(&parts, text + at, line, &used);
        at += used;
        if (!parts_ended && used == line) {
            parts_ended = cleave__split_feed(&parts, "\n", 1, &used);
            at++;
        }
    }
    bool same = whole_ended == parts_ended && end == at && whole.some == parts.some &&
                whole.mode == parts.mode;
    if (!same && source->verbose)
        print_error("whole %d at %zu, by line %d at %zu: %.*s\n", whole_ended, end, parts_ended, at,
                    (int)length, text);
    return same;
}

static void by_line(void **state)
{
    (void)state;
    assert_true(property_run("split-lines-or-whole", lines_or_whole, NULL, 20000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_statements_end),
        cmocka_unit_test(bodies),
        cmocka_unit_test(first_words),
        cmocka_unit_test(by_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
