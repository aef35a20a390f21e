/* Histograms beside sorted arrays: quantiles within 1 %, ends exact, merging as adding; and every
 * allocation fails in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/histogram.h"
#include "base/random.h"
#include "support/failalloc.h"
#include "support/property.h"

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool near(uint64_t got, uint64_t exact)
{
    uint64_t off = got > exact ? got - exact : exact - got;
    return (double)off <= 0.01 * (double)exact;
}

/* Half of the values go to each of two histograms, which are then merged. */
static bool agrees(struct property_source *source, void *context)
{
    (void)context;
    enum { MOST = 400 };
    uint64_t values[MOST], count = property_draw(source, MOST) + 1, sum = 0;
    struct cleave_histogram parts[2] = {{0}, {0}};
    bool good = true;
    for (uint64_t i = 0; i < count; i++) {
        unsigned bits = (unsigned)property_draw(source, 65);
        values[i] = bits == 64 ? UINT64_MAX - property_draw(source, 9)
                               : property_draw(source, (UINT64_C(1) << (bits % 63)) + 1);
        good = good && cleave__histogram_add(&parts[i % 2], values[i], 1) &&
               cleave__histogram_check(&parts[i % 2]);
        sum = values[i] > UINT64_MAX - sum ? UINT64_MAX : sum + values[i];
    }
    good = good && cleave__histogram_merge(&parts[0], &parts[1]) &&
           cleave__histogram_check(&parts[0]) && parts[0].count == count && parts[0].sum == sum;
    qsort(values, count, sizeof *values, by_value);
    for (unsigned percent = 0; good && percent <= 100; percent++) {
        uint64_t rank = (percent * count + 99) / 100;
        uint64_t exact = values[rank ? rank - 1 : 0];
        uint64_t got = cleave__histogram_quantile(&parts[0], percent / 100.0);
        /* 0.07 * 100 is more than 7 in binary: the next value is right too. */
        uint64_t next = values[rank < count ? rank : count - 1];
        good = near(got, exact) || near(got, next);
        if (percent == 0 || percent == 100)
            good = good && got == exact;
        if (!good && source->verbose)
            printf("  %u %% of %llu values: %llu, exactly %llu\n", percent,
                   (unsigned long long)count, (unsigned long long)got, (unsigned long long)exact);
    }
    cleave__histogram_free(&parts[0]);
    cleave__histogram_free(&parts[1]);
    return good;
}

static void test_beside_arrays(void **state)
{
    (void)state;
    assert_true(property_run("histogram", agrees, NULL, 1000));
}

static void test_every_bucket(void **state)
{
    (void)state;
    /* Around every power of two, the value's bucket gives it back within 0.8 %. */
    for (unsigned bit = 0; bit < 64; bit++) {
        for (int64_t off = -1; off <= 1; off++) {
            uint64_t value = (UINT64_C(1) << bit) + (uint64_t)off;
            struct cleave_histogram h = {0};
            assert_true(cleave__histogram_add(&h, value, 2));
            assert_true(cleave__histogram_add(&h, 0, 1));
            assert_true(cleave__histogram_add(&h, UINT64_MAX, 1));
            uint64_t got = cleave__histogram_quantile(&h, 0.6);
            uint64_t error = got > value ? got - value : value - got;
            assert_true((double)error <= 0.008 * (double)value);
            cleave__histogram_free(&h);
        }
    }
}

static void test_check_sees(void **state)
{
    (void)state;
    struct cleave_histogram h = {0};
    assert_int_equal(cleave__histogram_quantile(&h, 0.5), 0);
    assert_true(cleave__histogram_check(&h));
    assert_true(cleave__histogram_add(&h, 1000, 3));
    h.count++;
    assert_false(cleave__histogram_check(&h));
    h.count--;
    h.high = 5000;
    assert_false(cleave__histogram_check(&h));
    cleave__histogram_free(&h);
}

static bool attempt(void *context)
{
    (void)context;
    struct cleave_histogram h[2] = {{0}, {0}};
    bool right = true;
    for (uint64_t i = 0; i < 12; i++) {
        uint64_t before = h[i % 2].count;
        if (!cleave__histogram_add(&h[i % 2], i * i * i * i * 100, 1))
            right = right && h[i % 2].count == before;
        right = right && cleave__histogram_check(&h[i % 2]);
    }
    uint64_t before = h[0].count;
    if (!cleave__histogram_merge(&h[0], &h[1]))
        right = right && h[0].count == before;
    right = right && cleave__histogram_check(&h[0]);
    cleave__histogram_free(&h[0]);
    cleave__histogram_free(&h[1]);
    return right;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    assert_true(failalloc_run("histogram", attempt, NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beside_arrays),
        cmocka_unit_test(test_every_bucket),
        cmocka_unit_test(test_check_sees),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
