/* "id TAB statement": where transactions begin when ids are reused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/vector.h"
#include "tables/source/trace/template.h"
#include "trace_text.h"

static void ids_part(void **state)
{
    (void)state;
    trace_text_expect("1\tselect 1\n1\tupdate t set a = 1\n2\tselect 2\n2\tupdate t set a = 2\n"
                      "1\tselect 3\n",
                      "1: select 1 | update t set a = 1\n2: select 2 | update t set a = 2\n"
                      "1: select 3\n");
}

static void same_kind_twice(void **state)
{
    (void)state; /* most runs show one `select 1; update`, one shows it twice */
    trace_text_expect("1\tselect 1\n1\tupdate t set a = 1\n"
                      "2\tselect 2\n2\tupdate t set a = 2\n2\tselect 3\n2\tupdate t set a = 3\n"
                      "3\tselect 4\n3\tupdate t set a = 4\n",
                      "1: select 1 | update t set a = 1\n2: select 2 | update t set a = 2\n"
                      "2: select 3 | update t set a = 3\n3: select 4 | update t set a = 4\n");
}

static void loops_stay_whole(void **state)
{
    (void)state;
    trace_text_expect("1\tselect 1\n1\tupdate t set a = 1\n1\tselect 2\n1\tupdate t set a = 2\n"
                      "2\tselect 3\n2\tupdate t set a = 3\n2\tselect 4\n2\tupdate t set a = 4\n",
                      "1: select 1 | update t set a = 1 | select 2 | update t set a = 2\n"
                      "2: select 3 | update t set a = 3 | select 4 | update t set a = 4\n");
}

static void own_control(void **state)
{
    (void)state; /* with BEGIN in it, an id is a session: interleaved ones too */
    trace_text_expect("a\tBEGIN\nb\tbegin\na\tselect 1\nb\tselect 2\nb\tcommit\na\tselect 3\n"
                      "a\trollback\nc\tselect 4\n",
                      "b: select 2\nc: select 4\n");
    trace_text_expect(
        "1\tselect 1\n1\tselect 2\n1\tcommit\n1\tselect 3\n1\trollback\n1\tselect 4\n",
        "1: select 1 | select 2\n1: select 4\n");
}

static void bad_lines(void **state)
{
    (void)state;
    struct trace_text t = trace_text_read("1\tselect 1\n2\tselect 2\nnonsense\n3\tselect 3\n"
                                          "4\tselect 4\n5\tselect 5\n6\tselect 6\n7\t\n\n",
                                          0, NULL);
    assert_int_equal(t.counters.entries_bad, 1);
    assert_int_equal(t.counters.statements_empty, 1);
    assert_int_equal(t.counters.transactions, 6);
    trace_text_free(&t);
}

static void files_part(void **state)
{
    (void)state;
    char *a = trace_text_file("1\tselect 1\n", 11), *b = trace_text_file("1\tselect 2\n", 11);
    const char *const both[] = {a, b};
    struct trace_text t = trace_text_files(both, 2, NULL);
    assert_string_equal(t.out, "1: select 1\n1: select 2\n");
    trace_text_free(&t);
    unlink(a);
    unlink(b);
    free(a);
    free(b);
}

static void same(const char *a, const char *b, bool expected)
{
    bool equal = cleave__template_hash(a, strlen(a)) == cleave__template_hash(b, strlen(b));
    if (equal != expected)
        fail_msg("'%s' and '%s'", a, b);
}

static void masking(void **state)
{
    (void)state;
    same("SELECT a FROM t WHERE b = 5", "select  a\nfrom t where b=-17.25", true);
    same("insert into t values ('it''s', 1)", "insert into t values ('', 'x')", true);
    same("select 1 where a in (1,2,3)", "select 1 where a in (4, 5)", true);
    same("select a - 1", "select a + 1", false);
    same("select a1", "select a2", false);
    same("select ab", "select a b", false);
    same("select a from t", "select b from t", false);
}

/* A made-up application: five kinds of transaction, the id moves on only when one wrote. */
struct maker {
    struct cleave_random random;
    CLEAVE_VECTOR(char) text;
    CLEAVE_VECTOR(char) expected; /* one digit a transaction: its number of statements */
    unsigned id, statements;
    bool begun;
};

static void statement(struct maker *m, const char *form)
{
    char line[200];
    int length = snprintf(line, sizeof line, "%u\t%s %d\n", m->id, form,
                          (int)cleave__random_below(&m->random, 1000));
    assert_true(CLEAVE_RESERVE(&m->text, m->text.count + (size_t)length + 1));
    memcpy(m->text.data + m->text.count, line, (size_t)length + 1);
    m->text.count += (size_t)length;
    m->statements++;
}

static void transaction(struct maker *m)
{
    m->statements = 0;
    uint64_t kind = cleave__random_below(&m->random, 100);
    bool wrote = true;
    if (kind < 45) {
        statement(m, "select a from orders where a =");
        statement(m, "insert into orders select");
        for (uint64_t i = 3 + cleave__random_below(&m->random, 8); i > 0; i--) {
            statement(m, "select i from item where i =");
            statement(m, "update stock set q = q - 1 where s =");
        }
    } else if (kind < 88) {
        statement(m, "update warehouse set y = y + 1 where w =");
        if (cleave__random_below(&m->random, 10) < 6) /* by name: as status below begins */
            statement(m, "select count(*) from customer where n =");
        statement(m, "select c from customer where c =");
        statement(m, "update customer set b = b - 1 where c =");
    } else if (kind < 92) {
        wrote = false;
        statement(m, "select count(*) from customer where n =");
        statement(m, "select max(o) from orders where c =");
    } else if (kind < 96) {
        wrote = false;
        statement(m, "select d from district where d =");
        statement(m, "select count(*) from stock where d =");
    } else {
        for (int i = 0; i < 10; i++) {
            statement(m, "select n from new_order where d =");
            statement(m, "delete from new_order where d =");
        }
    }
    assert_true(CLEAVE_PUSH(&m->expected, (char)m->statements));
    m->id += wrote;
}

static void learned(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct maker m = {.id = 1};
        cleave__random_seed(&m.random, seed);
        for (int i = 0; i < 2000; i++)
            transaction(&m);
        char *name = trace_text_file(m.text.data, m.text.count);
        const char *path = name;
        struct cleave_trace *trace = NULL;
        assert_int_equal(cleave__trace_open(&path, 1, NULL, &trace, NULL), CLEAVE_OK);
        struct cleave_trace_transaction x;
        size_t count = 0;
        while (!cleave__trace_next(trace, &x, NULL)) {
            assert_true(count < m.expected.count);
            assert_int_equal(x.statement_count, m.expected.data[count++]);
        }
        assert_int_equal(count, m.expected.count);
        cleave__trace_close(trace);
        unlink(name);
        free(name);
        CLEAVE_VECTOR_FREE(&m.text);
        CLEAVE_VECTOR_FREE(&m.expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_part),         cmocka_unit_test(same_kind_twice),
        cmocka_unit_test(loops_stay_whole), cmocka_unit_test(own_control),
        cmocka_unit_test(bad_lines),        cmocka_unit_test(files_part),
        cmocka_unit_test(masking),          cmocka_unit_test(learned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
