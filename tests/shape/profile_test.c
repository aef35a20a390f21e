/* What a workload shows about columns: counts, classes, derived keys, ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scheme/database.h"

enum { MANY = 200 };

static char texts[MANY][600];
static const char *list[MANY];

static void say(uint32_t i, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(uint32_t i, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(texts[i], sizeof texts[i], format, arguments);
    va_end(arguments);
    list[i] = texts[i];
}

static uint32_t class_of(const struct cleave_case *kase, const char *table, const char *column)
{
    return kase->profile.class_of[database_number(kase, table, column)];
}

static void test_counts(void **state)
{
    (void)state;
    const char *script[] = {
        "SELECT * FROM a WHERE x = 1 AND y > 3; SELECT * FROM a WHERE x = 1 AND y > 3",
        "SELECT * FROM a WHERE x IN (1, 2); UPDATE a SET y = 1 WHERE x = 2",
        "INSERT INTO a VALUES (4, 5)",
        "SELECT * FROM b WHERE z = 'one'",
    };
    struct cleave_case *kase =
        database_open("CREATE TABLE a (x int, y int); CREATE TABLE b (z text)", script, 4, 0);
    const struct cleave_profile *p = &kase->profile;
    const struct cleave_table_profile *a = &p->tables[0];
    assert_int_equal(a->accesses, 4);
    assert_int_equal(a->reads, 1);
    assert_int_equal(a->writes, 2);
    const struct cleave_column_profile *x = &p->columns[database_number(kase, "a", "x")];
    const struct cleave_column_profile *y = &p->columns[database_number(kase, "a", "y")];
    assert_int_equal(x->accesses, 4);
    assert_int_equal(x->points, 4);
    assert_int_equal(x->distinct, 3);
    assert_true(x->integers);
    assert_int_equal(y->accesses, 2);
    assert_int_equal(y->points, 1);
    assert_int_equal(y->distinct, 1);
    assert_false(p->columns[database_number(kase, "b", "z")].integers);
    cleave__case_free(kase);
}

static void test_foreign_classes(void **state)
{
    (void)state;
    const char *script[] = {"SELECT * FROM c WHERE p = 1 AND q = 2"};
    struct cleave_case *kase =
        database_open("CREATE TABLE a (x int PRIMARY KEY);"
                      "CREATE TABLE b (x int REFERENCES a, y int, PRIMARY KEY (x, y));"
                      "CREATE TABLE c (p int, q int, parent int, id int PRIMARY KEY, FOREIGN KEY "
                      "(q, p) REFERENCES b (y, x));"
                      "ALTER TABLE c ADD FOREIGN KEY (parent) REFERENCES c (id)",
                      script, 1, 0);
    assert_int_equal(class_of(kase, "a", "x"), class_of(kase, "b", "x"));
    assert_int_equal(class_of(kase, "a", "x"), class_of(kase, "c", "p"));
    assert_int_equal(class_of(kase, "b", "y"), class_of(kase, "c", "q"));
    assert_int_not_equal(class_of(kase, "a", "x"), class_of(kase, "b", "y"));
    assert_int_equal(class_of(kase, "c", "parent"), class_of(kase, "c", "id"));
    /* A class is named by its least column. */
    assert_int_equal(class_of(kase, "c", "p"), database_number(kase, "a", "x"));
    cleave__case_free(kase);
}

/* Without declared keys, columns that show the same values together are one class. */
static void test_seen_classes(void **state)
{
    (void)state;
    for (int disagreeing = 0; disagreeing <= 20; disagreeing += 10) {
        for (uint32_t i = 0; i < 40; i++)
            say(i, "SELECT * FROM a WHERE x = %u; SELECT * FROM b WHERE y = %u AND n = 7", i % 9,
                (int)i < disagreeing ? 50 + i : i % 9);
        struct cleave_case *kase =
            database_open("CREATE TABLE a (x int); CREATE TABLE b (y int, n int)", list, 40, 0);
        bool joined = class_of(kase, "a", "x") == class_of(kase, "b", "y");
        assert_int_equal(joined, disagreeing == 0);
        assert_int_not_equal(class_of(kase, "a", "x"), class_of(kase, "b", "n"));
        cleave__case_free(kase);
    }
    /* Two values, or fewer than eight transactions, are no evidence. */
    for (uint32_t i = 0; i < 40; i++)
        say(i, "SELECT * FROM a WHERE x = %u; SELECT * FROM b WHERE y = %u", i % 2, i % 2);
    const char *ddl = "CREATE TABLE a (x int); CREATE TABLE b (y int)";
    struct cleave_case *kase = database_open(ddl, list, 40, 0);
    assert_int_not_equal(class_of(kase, "a", "x"), class_of(kase, "b", "y"));
    cleave__case_free(kase);
    for (uint32_t i = 0; i < 7; i++)
        say(i, "SELECT * FROM a WHERE x = %u; SELECT * FROM b WHERE y = %u", i, i);
    kase = database_open(ddl, list, 7, 0);
    assert_int_not_equal(class_of(kase, "a", "x"), class_of(kase, "b", "y"));
    cleave__case_free(kase);
}

static const char spelt_ddl[] = "CREATE TABLE s (id int PRIMARY KEY, nbr text UNIQUE, other int)";

/* Transactions that show a number and its spelling; one of them may disagree. */
static struct cleave_case *spelling(const char *format, int wrong)
{
    char spelt[80];
    for (uint32_t i = 0; i < 30; i++) {
        snprintf(spelt, sizeof spelt, format, (int)i == wrong ? 999 : (int)i % 11 + 1);
        say(i, "SELECT id FROM s WHERE nbr = '%s'; UPDATE s SET other = 1 WHERE id = %u", spelt,
            i % 11 + 1);
    }
    return database_open(spelt_ddl, list, 30, 0);
}

static void test_derived(void **state)
{
    (void)state;
    static const struct {
        const char *format, *prefix, *suffix;
    } forms[] = {{"%015d", "", ""},
                 {"%d", "", ""},
                 {"user:%05d", "user:", ""},
                 {"%d@example.org", "", "@example.org"},
                 {"a1-%03d/z", "a1-", "/z"}};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        struct cleave_case *kase = spelling(forms[f].format, -1);
        assert_int_equal(kase->profile.derivation_count, 1);
        const struct cleave_derivation *d = &kase->profile.derivations[0];
        assert_int_equal(d->column, 1);
        assert_int_equal(d->key_column, 0);
        assert_int_equal(d->support, 30);
        assert_string_equal(d->prefix, forms[f].prefix);
        assert_string_equal(d->suffix, forms[f].suffix);
        cleave__case_free(kase);
        /* One transaction that disagrees kills it, first or last. */
        for (int wrong = 0; wrong < 30; wrong += 29) {
            kase = spelling(forms[f].format, wrong);
            assert_int_equal(kase->profile.derivation_count, 0);
            cleave__case_free(kase);
        }
    }
}

static void test_underived(void **state)
{
    (void)state;
    /* No digits; a prefix that changes; numbers past 64 bits; too few distinct ones. */
    for (size_t f = 0; f < 3; f++) {
        char spelt[80];
        for (uint32_t i = 0; i < 30; i++) {
            if (f == 1)
                snprintf(spelt, sizeof spelt, "%u-%u", i, i % 11 + 1);
            else
                snprintf(spelt, sizeof spelt, f == 0 ? "x" : "99999999999999999999%u", i % 11 + 1);
            say(i, "SELECT id FROM s WHERE nbr = '%s'; UPDATE s SET other = 1 WHERE id = %u", spelt,
                i % 11 + 1);
        }
        struct cleave_case *kase = database_open(spelt_ddl, list, 30, 0);
        assert_int_equal(kase->profile.derivation_count, 0);
        cleave__case_free(kase);
    }
    for (uint32_t i = 0; i < 30; i++)
        say(i, "SELECT id FROM s WHERE nbr = '%u'; UPDATE s SET other = 1 WHERE id = %u", i % 2,
            i % 2);
    struct cleave_case *kase = database_open(spelt_ddl, list, 30, 0);
    assert_int_equal(kase->profile.derivation_count, 0);
    cleave__case_free(kase);
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text, *prefix, *suffix;
        bool good;
        int64_t number;
    } cases[] = {
        {"00012", "", "", true, 12},
        {"user:00012", "user:", "", true, 12},
        {"u7z", "u", "z", true, 7},
        {"u7", "u", "z", false, 0},
        {"u", "u", "", false, 0},
        {"", "", "", false, 0},
        {"-5", "", "", false, 0},
        {"1 2", "", "", false, 0},
        {"aa", "a", "a", false, 0},
        {"922337203685477579", "", "", true, 922337203685477579},
        {"99999999999999999999", "", "", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cleave_value value = {CLEAVE_TEXT, (uint32_t)strlen(cases[i].text), 0,
                                     cases[i].text};
        int64_t number = 0;
        assert_int_equal(cleave__derived_number(&value, cases[i].prefix, cases[i].suffix, &number),
                         cases[i].good);
        assert_int_equal(number, cases[i].number);
    }
    struct cleave_value integer = {.kind = CLEAVE_INTEGER, .integer = 5};
    int64_t number;
    assert_false(cleave__derived_number(&integer, "", "", &number));
}

static void test_rank(void **state)
{
    (void)state;
    /* `b` is asked for most; `a` and `c` as often, `c` with fewer values; `d` never. */
    uint32_t n = 0;
    for (uint32_t i = 0; i < 60; i++)
        say(n++, "SELECT 1 FROM t WHERE b = %u", i);
    for (uint32_t i = 0; i < 40; i++)
        say(n++, "SELECT 1 FROM t WHERE a = %u AND c = %u", i, i % 4);
    for (uint32_t i = 0; i < 40; i++)
        say(n++, "SELECT 1 FROM t WHERE e = %u AND f = %u AND c = 0", i % 4, 3 - i % 4);
    struct cleave_case *kase =
        database_open("CREATE TABLE t (a int, b int, c int, d int, e int, f int)", list, n, 0);
    uint32_t ranked[8];
    assert_int_equal(cleave__profile_rank(&kase->profile, 0, ranked, 8), 5);
    const uint32_t wanted[5] = {2, 1, 4, 5, 0}; /* c 80; b 60; e, f, a 40 */
    assert_memory_equal(ranked, wanted, sizeof wanted);
    assert_int_equal(cleave__profile_rank(&kase->profile, 0, ranked, 2), 2);
    assert_int_equal(cleave__profile_rank(&kase->profile, 0, ranked, 0), 0);
    cleave__case_free(kase);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),       cmocka_unit_test(test_foreign_classes),
        cmocka_unit_test(test_seen_classes), cmocka_unit_test(test_derived),
        cmocka_unit_test(test_underived),    cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
