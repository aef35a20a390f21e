/* TATP: the mix, the s_id distribution, sub_nbr, and inserts that name a facility in the rows. */
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "reading.h"

static void test_mix(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        uint32_t weight;
    } expected[] = {{"GetSubscriberData", 35},  {"GetNewDestination", 10},
                    {"GetAccessData", 35},      {"UpdateSubscriberData", 2},
                    {"UpdateLocation", 14},     {"InsertCallForwarding", 2},
                    {"DeleteCallForwarding", 2}};
    struct cleave_generator *g = open_benchmark("tatp", "subscribers=1000", 2);
    uint32_t counts[7] = {0}, by_number = 0;
    for (uint32_t i = 0; i < 2000; i++) {
        const char *kind;
        struct cleave_trace_transaction t = next_transaction(g, &kind);
        for (uint32_t k = 0; k < 7; k++)
            counts[k] += strcmp(expected[k].kind, kind) == 0;
        by_number += strstr(t.statements[0].text, "sub_nbr = '") != NULL;
    }
    for (uint32_t k = 0; k < 7; k++)
        assert_int_equal(counts[k], expected[k].weight * 20);
    assert_int_equal(by_number, 18 * 20);
    cleave__generator_free(g);
}

/* ((rand(0, A) | rand(1, P)) mod P) + 1 by enumeration of its two draws, in 16 equal cells. */
static void test_distribution(void **state)
{
    (void)state;
    enum { P = 5000, A = 65535, CELLS = 16, DRAWS = 100000 };
    double shares[CELLS] = {0}, even[CELLS];
    for (uint32_t a = 0; a <= A; a += 5) { /* every fifth: exact enough, and quick */
        for (uint32_t p = 1; p <= P; p += 3)
            shares[((a | p) % P) * CELLS / P]++;
    }
    double sum = 0;
    for (uint32_t i = 0; i < CELLS; i++)
        sum += shares[i];
    for (uint32_t i = 0; i < CELLS; i++) {
        shares[i] /= sum;
        even[i] = 1.0 / CELLS;
    }
    for (uint32_t uniform = 0; uniform < 2; uniform++) {
        struct cleave_generator *g =
            open_benchmark("tatp",
                           uniform ? "subscribers=5000 mix=1/0/0/0/0/0/0 distribution=uniform"
                                   : "subscribers=5000 mix=1/0/0/0/0/0/0",
                           6);
        uint32_t counts[CELLS] = {0};
        for (uint32_t i = 0; i < DRAWS; i++) {
            long s = number_after(next_transaction(g, NULL).statements[0].text, "s_id = ");
            assert_true(s >= 1 && s <= P);
            counts[(s - 1) * CELLS / P]++;
        }
        double right = chi_square(counts, uniform ? even : shares, CELLS);
        double wrong = chi_square(counts, uniform ? shares : even, CELLS);
        if (right > 50 || wrong < 200) /* 99.9 % of 15 degrees: 37.7, and the table is sampled */
            fail_msg("%s: %g, the other way %g", uniform ? "uniform" : "non-uniform", right, wrong);
        cleave__generator_free(g);
    }
}

enum { SUBSCRIBERS = 400 };
struct facilities {
    uint8_t types[SUBSCRIBERS + 1], access[SUBSCRIBERS + 1];
    uint32_t counts[5], forwards[4], active, all;
};

static enum cleave_status note(void *context, const struct cleave_generated_row *row,
                               struct cleave_error *error)
{
    (void)error;
    struct facilities *f = context;
    long s = atol(row->values[0]);
    assert_true(s >= 1 && s <= SUBSCRIBERS);
    if (strcmp(row->name, "subscriber") == 0) {
        char number[16];
        snprintf(number, sizeof number, "%015ld", s);
        assert_string_equal(row->values[1], number);
    } else if (strcmp(row->name, "special_facility") == 0) {
        f->types[s] |= (uint8_t)(1 << atoi(row->values[1]));
        f->active += row->values[2][0] == '1';
        f->all++;
    } else if (strcmp(row->name, "access_info") == 0) {
        f->access[s] |= (uint8_t)(1 << atoi(row->values[1]));
    } else {
        assert_true(f->types[s] >> atoi(row->values[1]) & 1);
        assert_int_equal(atoi(row->values[2]) % 8, 0);
        int length = atoi(row->values[3]) - atoi(row->values[2]);
        assert_true(length >= 1 && length <= 8);
    }
    return CLEAVE_OK;
}

static void test_inserts_have_a_facility(void **state)
{
    (void)state;
    struct cleave_generator *g = open_benchmark("tatp", "subscribers=400 mix=0/0/0/0/0/1/0", 9);
    struct facilities f = {0};
    assert_int_equal(cleave__generator_rows(g, note, &f, NULL), CLEAVE_OK);
    for (uint32_t s = 1; s <= SUBSCRIBERS; s++) {
        assert_true(f.types[s] && f.access[s]);
        f.counts[__builtin_popcount(f.types[s])]++;
    }
    for (uint32_t n = 1; n <= 4; n++)
        assert_true(f.counts[n] > 60 && f.counts[n] < 140);
    assert_true(f.active * 100 > f.all * 80 && f.active * 100 < f.all * 90);
    for (uint32_t i = 0; i < 2000; i++) {
        struct cleave_trace_transaction t = next_transaction(g, NULL);
        assert_int_equal(t.statement_count, 3);
        long v[5];
        assert_int_equal(values_of(t.statements[2].text, v, 5), 4);
        assert_true(f.types[v[0]] >> v[1] & 1);
        assert_int_equal(number_after(t.statements[1].text, "s_id = "), v[0]);
        assert_int_equal(number_after(t.statements[0].text, "sub_nbr = '"), v[0]);
    }
    cleave__generator_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mix),
        cmocka_unit_test(test_distribution),
        cmocka_unit_test(test_inserts_have_a_facility),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
