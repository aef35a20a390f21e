/* TPC-C: the mix, how terminals take turns, the distributions, and that the trace agrees with
 * itself (orders in sequence, deliveries in order, stock-level lists made of what was ordered).
 * That it agrees with the rows is checked on a real PostgreSQL by postgres_test.sh. */
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "property.h"
#include "reading.h"
#include "tables/source/generate_tpcc.h"

static uint32_t kind_index(const char *kind)
{
    static const char *const kinds[] = {"NewOrder", "Payment", "OrderStatus", "Delivery",
                                        "StockLevel"};
    for (uint32_t i = 0; i < 5; i++) {
        if (strcmp(kinds[i], kind) == 0)
            return i;
    }
    fail_msg("no kind %s", kind);
    return 0;
}

static void test_mix(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        uint32_t deck, expected[5];
    } cases[] = {
        {"warehouses=2", 100, {45, 43, 4, 4, 4}},
        {"warehouses=2 mix=1/0/0/0/2", 3, {1, 0, 0, 0, 2}},
    };
    for (size_t c = 0; c < 2; c++) {
        struct cleave_generator *g = open_benchmark("tpcc", cases[c].words, 8);
        for (uint32_t round = 0; round < 10; round++) {
            uint32_t counts[5] = {0};
            for (uint32_t i = 0; i < cases[c].deck; i++) {
                const char *kind;
                next_transaction(g, &kind);
                counts[kind_index(kind)]++;
            }
            assert_memory_equal(counts, cases[c].expected, sizeof counts);
        }
        cleave__generator_free(g);
    }
}

/* After n transactions each warehouse has started n / W or one more, and each terminal likewise
 * after whole rounds; so also when there are fewer transactions than terminals. */
static bool turns_hold(struct property_source *source, void *context)
{
    (void)context;
    uint32_t w = 1 + (uint32_t)property_draw(source, 30);
    uint32_t n = 1 + (uint32_t)property_draw(source, 600);
    char words[100];
    snprintf(words, sizeof words, "warehouses=%u items=10 customers-per-district=10", w);
    struct cleave_generator *g = open_benchmark("tpcc", words, property_draw(source, 1000));
    uint32_t counts[31] = {0}, terminals[31][11] = {{0}};
    for (uint32_t i = 0; i < n; i++) {
        struct cleave_trace_transaction t = next_transaction(g, NULL);
        uint32_t warehouse, terminal;
        if (sscanf(t.session, "w%u.t%u", &warehouse, &terminal) != 2 || warehouse < 1 ||
            warehouse > w || terminal < 1 || terminal > 10)
            return false;
        counts[warehouse]++;
        terminals[warehouse][terminal]++;
    }
    bool holds = true;
    for (uint32_t i = 1; i <= w; i++) {
        holds = holds && (counts[i] == n / w || counts[i] == n / w + (n % w > 0));
        for (uint32_t j = 1; j <= 10; j++) {
            uint32_t rounds = n / (w * 10);
            holds = holds && (terminals[i][j] == rounds || terminals[i][j] == rounds + 1);
        }
    }
    if (!holds && source->verbose)
        printf("%u warehouses, %u transactions\n", w, n);
    cleave__generator_free(g);
    return holds;
}

static void test_turns(void **state)
{
    (void)state;
    assert_true(property_run("terminals take turns", turns_hold, NULL, 60));
}

static void test_home(void **state)
{
    (void)state;
    struct cleave_generator *g =
        open_benchmark("tpcc", "warehouses=5 items=100 customers-per-district=30", 3);
    for (uint32_t i = 0; i < 2000; i++) {
        const char *kind;
        struct cleave_trace_transaction t = next_transaction(g, &kind);
        const char *first = t.statements[0].text;
        long warehouse = number_after(t.session, "w"), terminal = number_after(t.session, ".t");
        if (starts(first, "SELECT d_next_o_id")) { /* StockLevel: the terminal's own district */
            assert_int_equal(number_after(first, "d_w_id = "), warehouse);
            assert_int_equal(number_after(first, "d_id = "), terminal);
        } else if (strcmp(kind, "Payment") == 0) {
            assert_int_equal(number_after(first, "WHERE w_id = "), warehouse);
        } else {
            assert_int_equal(number_after(first, "_w_id = "), warehouse);
        }
    }
    cleave__generator_free(g);
}

/* Rates within 4 standard deviations of what the standard asks for. */
static void near(double count, double total, double share, const char *what)
{
    double mean = total * share, variance = mean * (1 - share);
    double off = count - mean;
    if (off * off > 16 * variance)
        fail_msg("%s: %g of %g, expected %g", what, count, total, mean);
}

static void test_rates(void **state)
{
    (void)state;
    struct cleave_generator *g =
        open_benchmark("tpcc", "warehouses=10 customers-per-district=1000", 21);
    double orders = 0, lines = 0, remote_lines = 0, remote_orders = 0, not_local = 0;
    double payments = 0, remote_payments = 0, lookups = 0, by_name = 0;
    uint32_t line_counts[11] = {0}, supply[11] = {0};
    for (uint32_t i = 0; i < 40000; i++) {
        const char *kind;
        struct cleave_trace_transaction t = next_transaction(g, &kind);
        long home = number_after(t.session, "w");
        uint32_t count = 0, remote = 0;
        for (uint32_t j = 0; j < t.statement_count; j++) {
            const char *sql = t.statements[j].text;
            long v[12];
            if (starts(sql, "INSERT INTO order_line")) {
                assert_int_equal(values_of(sql, v, 12), 8);
                assert_int_equal(v[0], home);
                assert_true(v[5] >= 1 && v[5] <= 10 && v[4] >= 1 && v[4] <= 100000 && v[6] >= 1 &&
                            v[6] <= 10);
                count++;
                remote += v[5] != home;
                supply[v[5]] += home == 3 && v[5] != home;
            } else if (starts(sql, "INSERT INTO orders")) {
                values_of(sql, v, 12);
                not_local += v[5] == 0;
                assert_int_equal(number_after(t.statements[0].text, "c_id = "), v[3]);
            } else if (starts(sql, "SELECT c_id, ") || starts(sql, "SELECT c_first") ||
                       starts(sql, "SELECT c_balance")) {
                lookups++;
                by_name += starts(sql, "SELECT c_id, ");
            } else if (starts(sql, "INSERT INTO history")) {
                values_of(sql, v, 12);
                payments++;
                assert_int_equal(v[4], home);
                remote_payments += v[2] != home;
                assert_true(v[2] != home || v[1] == v[3]);
            }
        }
        if (strcmp(kind, "NewOrder") == 0) {
            orders++;
            assert_true(count >= 5 && count <= 15);
            assert_int_equal(t.statement_count, 5 + 4 * count);
            line_counts[count - 5]++;
            lines += count;
            remote_lines += remote;
            remote_orders += remote > 0;
        }
    }
    near(remote_lines, lines, 0.01, "remote lines");
    near(remote_orders, orders, 0.09516, "orders with a remote line"); /* mean of 1 - 0.99^n */
    assert_true(not_local == remote_orders);
    near(remote_payments, payments, 0.15, "remote payments");
    near(by_name, lookups, 0.60, "lookups by name");
    double shares[11], others[9];
    uint32_t from[9], at = 0;
    for (uint32_t i = 0; i < 11; i++)
        shares[i] = 1.0 / 11;
    assert_true(chi_square(line_counts, shares, 11) < 29.6); /* 99.9 % of 10 degrees */
    for (uint32_t w = 1; w <= 10; w++) {
        if (w != 3) {
            others[at] = 1.0 / 9;
            from[at++] = supply[w];
        }
    }
    assert_int_equal(supply[3], 0);
    assert_true(chi_square(from, others, 9) < 26.1); /* 8 degrees */
    cleave__generator_free(g);
}

/* NURand's exact distribution, by enumeration, against a long draw. */
static void test_nurand(void **state)
{
    (void)state;
    static const struct tpcc_nurand ranges[] = {
        {255, 173, 0, 999}, {15, 3, 1, 40}, {1, 0, 1, 10}, {1023, 911, 1, 3000}};
    for (size_t r = 0; r < 4; r++) {
        const struct tpcc_nurand *range = &ranges[r];
        uint32_t span = range->high - range->low + 1;
        double *shares = calloc(span, sizeof *shares);
        for (uint32_t a = 0; a <= range->a; a++) {
            for (uint32_t x = range->low; x <= range->high; x++)
                shares[((a | x) + range->c) % span] += 1.0 / (range->a + 1.0) / span;
        }
        struct cleave_random random;
        cleave__random_seed(&random, r);
        uint32_t *counts = calloc(span, sizeof *counts);
        uint32_t draws = span * 200;
        for (uint32_t i = 0; i < draws; i++) {
            uint32_t x = cleave__tpcc_nurand(range, &random);
            assert_true(x >= range->low && x <= range->high);
            counts[x - range->low]++;
        }
        /* Cells of small expectation are put together, so that the statistic means something. */
        double pooled = 0, statistic = 0, freedom = -1;
        uint32_t pooled_count = 0;
        for (uint32_t i = 0; i < span; i++) {
            pooled += shares[i] * draws;
            pooled_count += counts[i];
            if (pooled < 10 && i + 1 < span)
                continue;
            statistic +=
                (pooled_count - pooled) * (pooled_count - pooled) / (pooled > 0 ? pooled : 1);
            freedom++;
            pooled = 0;
            pooled_count = 0;
        }
        double off = statistic - freedom; /* variance of the statistic: 2 * freedom */
        assert_true(off * off < 16 * 2 * freedom + 100);
        free(shares);
        free(counts);
    }
}

static void test_constants(void **state)
{
    (void)state;
    struct tpcc tpcc = {.warehouses = 1, .items = 100000, .customers = 3000};
    uint32_t loads[4] = {0};
    for (uint64_t seed = 0; seed < 2000; seed++) {
        tpcc.seed = seed;
        cleave__tpcc_constants(&tpcc);
        assert_int_equal(tpcc.run_name.a, 255);
        assert_int_equal(tpcc.customer.a, 1023);
        assert_int_equal(tpcc.item.a, 8191);
        int delta = abs((int)tpcc.run_name.c - (int)tpcc.load_name.c);
        assert_true(delta >= 65 && delta <= 119 && delta != 96 && delta != 112);
        assert_true(tpcc.run_name.c <= 255 && tpcc.customer.c <= 1023 && tpcc.item.c <= 8191);
        loads[tpcc.load_name.c / 64]++;
    }
    for (uint32_t i = 0; i < 4; i++)
        assert_true(loads[i] > 400 && loads[i] < 600);
}

static void test_names(void **state)
{
    (void)state;
    char name[TPCC_NAME_BYTES];
    cleave__tpcc_last_name(0, name);
    assert_string_equal(name, "BARBARBAR");
    cleave__tpcc_last_name(371, name);
    assert_string_equal(name, "PRICALLYOUGHT");
    cleave__tpcc_last_name(999, name);
    assert_string_equal(name, "EINGEINGEING");

    /* By brute force: the middle one of all of that name by first name. */
    struct tpcc tpcc = {.seed = 4, .warehouses = 2, .items = 100, .customers = 3000};
    cleave__tpcc_constants(&tpcc);
    uint32_t several = 0;
    for (uint32_t number = 0; number < 1000; number += 7) {
        uint32_t chosen = cleave__tpcc_customer_named(&tpcc, 2, 7, number), before = 0, all = 0;
        char middle[TPCC_NAME_BYTES], first[TPCC_NAME_BYTES];
        cleave__tpcc_first_name(&tpcc, 2, 7, chosen, middle);
        assert_int_equal(cleave__tpcc_name_number(&tpcc, 2, 7, chosen), number);
        for (uint32_t c = 1; c <= 3000; c++) {
            if (cleave__tpcc_name_number(&tpcc, 2, 7, c) != number)
                continue;
            cleave__tpcc_first_name(&tpcc, 2, 7, c, first);
            all++;
            before += strcmp(first, middle) < 0;
        }
        several += all > 1;
        assert_int_equal(before, (all + 1) / 2 - 1);
    }
    assert_true(several > 60);
    CLEAVE_VECTOR_FREE(&tpcc.named);
}

/* The trace against itself, with any options. */
static bool stream_holds(struct property_source *source, void *context)
{
    (void)context;
    enum { W = 4, RING = 4000 };
    uint32_t w = 1 + (uint32_t)property_draw(source, W);
    uint32_t items = 10 + (uint32_t)property_draw(source, 300);
    uint32_t customers = 10 + (uint32_t)property_draw(source, 1200);
    char words[200];
    snprintf(words, sizeof words,
             "warehouses=%u items=%u customers-per-district=%u remote-item=%u remote-payment=%u "
             "mix=%u/5/5/%u/20",
             w, items, customers, (unsigned)property_draw(source, 101),
             (unsigned)property_draw(source, 101), 1 + (unsigned)property_draw(source, 60),
             (unsigned)property_draw(source, 20));
    struct cleave_generator *g = open_benchmark("tpcc", words, property_draw(source, 1000));
    uint32_t next_order[W + 1][11], oldest[W + 1][11];
    static uint8_t ordered[W + 1][11][RING][310 / 8 + 2]; /* items of the run's orders, as bits */
    memset(ordered, 0, sizeof ordered);
    for (uint32_t i = 0; i <= W; i++) {
        for (uint32_t d = 0; d < 11; d++) {
            next_order[i][d] = customers + 1;
            oldest[i][d] = customers - customers * 3 / 10 + 1;
        }
    }
    bool holds = true;
    for (uint32_t n = 0; n < 400 && holds; n++) {
        const char *kind;
        struct cleave_trace_transaction t = next_transaction(g, &kind);
        long list_w = 0, list_d = 0, list_from = 0, list_to = 0;
        for (uint32_t j = 0; j < t.statement_count && holds; j++) {
            const char *sql = t.statements[j].text;
            long v[12];
            if (starts(sql, "INSERT INTO orders")) {
                holds = values_of(sql, v, 12) == 6 && v[2] == (long)next_order[v[0]][v[1]]++ &&
                        v[3] >= 1 && v[3] <= (long)customers;
            } else if (starts(sql, "INSERT INTO order_line")) {
                holds = values_of(sql, v, 12) == 8 && v[4] >= 1 && v[4] <= (long)items &&
                        v[5] >= 1 && v[5] <= (long)w;
                ordered[v[0]][v[1]][v[2] - customers][v[4] / 8] |= (uint8_t)(1 << v[4] % 8);
            } else if (starts(sql, "DELETE FROM new_order")) {
                long dw = number_after(sql, "no_w_id = "), d = number_after(sql, "no_d_id = ");
                holds = number_after(sql, "no_o_id = ") == (long)oldest[dw][d]++ &&
                        oldest[dw][d] <= next_order[dw][d];
            } else if (starts(sql, "SELECT DISTINCT")) {
                list_w = number_after(sql, "ol_w_id = ");
                list_d = number_after(sql, "ol_d_id = ");
                list_from = number_after(sql, "ol_o_id >= ");
                list_to = number_after(sql, "ol_o_id < ");
                holds = list_to == (long)next_order[list_w][list_d] &&
                        (list_from == list_to - 20 || (list_from == 1 && list_to < 21));
            } else if (starts(sql, "SELECT count(*) FROM stock")) {
                /* Ascending, distinct, and holding every item ordered in the run. */
                const char *c = strstr(sql, "IN (") + 4;
                long last = 0;
                uint8_t listed[310 / 8 + 2] = {0};
                for (; *c && *c != ')'; c += *c == ',' ? 2 : 0) {
                    char *end;
                    long item = strtol(c, &end, 10);
                    holds = holds && item > last && item <= (long)items;
                    listed[item / 8] |= (uint8_t)(1 << item % 8);
                    last = item;
                    c = end;
                }
                for (long o = list_from; o < list_to && holds; o++) {
                    for (uint32_t b = 0; o > (long)customers && b < sizeof listed; b++)
                        holds =
                            holds && (ordered[list_w][list_d][o - customers][b] & ~listed[b]) == 0;
                }
            }
        }
    }
    if (!holds && source->verbose)
        printf("%s\n", words);
    cleave__generator_free(g);
    return holds;
}

static void test_stream(void **state)
{
    (void)state;
    assert_true(property_run("a TPC-C trace agrees with itself", stream_holds, NULL, 25));
}

static void test_join(void **state)
{
    (void)state;
    struct cleave_generator *g =
        open_benchmark("tpcc", "warehouses=1 stock-level=join mix=0/0/0/0/1", 1);
    struct cleave_trace_transaction t = next_transaction(g, NULL);
    assert_int_equal(t.statement_count, 2);
    assert_non_null(strstr(t.statements[1].text, "JOIN stock"));
    cleave__generator_free(g);
}

/* When all is delivered only the ten queries remain. */
static void test_nothing_to_deliver(void **state)
{
    (void)state;
    struct cleave_generator *g =
        open_benchmark("tpcc", "warehouses=1 items=10 customers-per-district=10 mix=0/0/0/1/0", 1);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(next_transaction(g, NULL).statement_count, 70);
    assert_int_equal(next_transaction(g, NULL).statement_count, 10);
    cleave__generator_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mix),    cmocka_unit_test(test_turns),
        cmocka_unit_test(test_home),   cmocka_unit_test(test_rates),
        cmocka_unit_test(test_nurand), cmocka_unit_test(test_constants),
        cmocka_unit_test(test_names),  cmocka_unit_test(test_stream),
        cmocka_unit_test(test_join),   cmocka_unit_test(test_nothing_to_deliver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
