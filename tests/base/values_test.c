/* Random numbers against published sequences; error lines; sets of shards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/shardset.h"
#include "cleave/status.h"
#include "support/property.h"

static void published_sequences(void **state)
{
    (void)state;
    /* splitmix64 from 1234567 seeds the four words. */
    struct cleave_random random;
    cleave__random_seed(&random, 1234567);
    assert_true(random.state[0] == UINT64_C(6457827717110365317));
    assert_true(random.state[1] == UINT64_C(3203168211198807973));
    assert_true(random.state[2] == UINT64_C(9817491932198370423));
    assert_true(random.state[3] == UINT64_C(4593380528125082431));
    /* xoshiro256** from 1, 2, 3, 4. */
    random = (struct cleave_random){{1, 2, 3, 4}};
    static const uint64_t expected[] = {11520, 0, 1509978240, UINT64_C(1215971899390074240)};
    for (size_t i = 0; i < 4; i++)
        assert_true(cleave__random_next(&random) == expected[i]);
}

static void bounds_hold(void **state)
{
    (void)state;
    struct cleave_random random;
    cleave__random_seed(&random, 5);
    static const uint64_t bounds[] = {1, 2, 3, 7, 1000, UINT64_C(1) << 63, UINT64_MAX};
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
        for (int i = 0; i < 1000; i++)
            assert_true(cleave__random_below(&random, bounds[b]) < bounds[b]);
    }
    static const int64_t ranges[][2] = {{0, 0}, {-3, 3}, {INT64_MIN, INT64_MAX}, {INT64_MIN, 0}};
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        for (int i = 0; i < 1000; i++) {
            int64_t x = cleave__random_between(&random, ranges[r][0], ranges[r][1]);
            assert_true(x >= ranges[r][0] && x <= ranges[r][1]);
        }
    }
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        double x = cleave__random_real(&random);
        assert_true(x >= 0 && x < 1);
        sum += x;
    }
    assert_true(sum > 4800 && sum < 5200);
}

/* chi-squared over 16 cells stays under its 99.99 % point, 44.3 for 15 degrees. */
static void below_is_even(void **state)
{
    (void)state;
    struct cleave_random random;
    cleave__random_seed(&random, 9);
    unsigned cells[16] = {0};
    for (int i = 0; i < 160000; i++)
        cells[cleave__random_below(&random, 16)]++;
    double chi = 0;
    for (int i = 0; i < 16; i++)
        chi += (cells[i] - 10000.0) * (cells[i] - 10000.0) / 10000.0;
    assert_true(chi < 44.3);
}

static void shuffle_permutes(void **state)
{
    (void)state;
    struct cleave_random random;
    cleave__random_seed(&random, 2);
    uint32_t items[100];
    for (uint32_t i = 0; i < 100; i++)
        items[i] = i;
    cleave__random_shuffle(&random, items, 100);
    bool seen[100] = {false}, moved = false;
    for (uint32_t i = 0; i < 100; i++) {
        assert_in_range(items[i], 0, 99);
        assert_false(seen[items[i]]);
        seen[items[i]] = true;
        moved |= items[i] != i;
    }
    assert_true(moved);
    cleave__random_shuffle(&random, items, 0);
    cleave__random_shuffle(&random, items, 1);
}

static void errors_are_one_line(void **state)
{
    (void)state;
    struct cleave_error error = {0};
    assert_int_equal(cleave_error_set(&error, CLEAVE_BAD_INPUT, "a\nb\tc\x7f %s", "d\033[2J"),
                     CLEAVE_BAD_INPUT);
    assert_int_equal(error.status, CLEAVE_BAD_INPUT);
    assert_string_equal(error.message, "a b c  d [2J");
    assert_int_equal(cleave_error_set(NULL, CLEAVE_IO, "nobody listens"), CLEAVE_IO);
    char longer[2000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    cleave_error_set(&error, CLEAVE_IO, "%s", longer);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    /* A message may be built on the one before it. */
    cleave_error_set(&error, CLEAVE_IO, "inner");
    cleave_error_set(&error, CLEAVE_IO, "outer: %s", error.message);
    assert_string_equal(error.message, "outer: inner");
    assert_string_equal(cleave_status_name(CLEAVE_OK), "ok");
    assert_string_equal(cleave_status_name(CLEAVE_BAD_INPUT), "bad input");
    assert_string_equal(cleave_status_name((enum cleave_status)999), "unknown status");
}

static bool sets_agree(struct property_source *source, void *context)
{
    (void)context;
    struct cleave_shardset a, b;
    bool in[CLEAVE_SHARDS_MAX] = {false};
    cleave__shardset_clear(&a);
    uint32_t filled = (uint32_t)property_draw(source, CLEAVE_SHARDS_MAX + 1);
    cleave__shardset_fill(&b, filled);
    bool or_b = property_draw(source, 4) == 0;
    size_t steps = (size_t)property_draw(source, 20);
    for (size_t i = 0; i < steps; i++) {
        uint32_t shard = (uint32_t)property_draw(source, CLEAVE_SHARDS_MAX);
        cleave__shardset_add(&a, shard);
        in[shard] = true;
    }
    if (or_b) {
        cleave__shardset_or(&a, &b);
        for (uint32_t i = 0; i < filled; i++)
            in[i] = true;
    }
    uint32_t count = 0, first = CLEAVE_SHARDS_MAX;
    for (uint32_t i = CLEAVE_SHARDS_MAX; i-- > 0;) {
        if (cleave__shardset_has(&a, i) != in[i])
            return false;
        if (in[i]) {
            count++;
            first = i;
        }
    }
    return cleave__shardset_count(&a) == count && cleave__shardset_first(&a) == first &&
           cleave__shardset_count(&b) == filled;
}

static void shardset_property(void **state)
{
    (void)state;
    assert_true(property_run("sets_agree", sets_agree, NULL, 500));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_sequences), cmocka_unit_test(bounds_hold),
        cmocka_unit_test(below_is_even),       cmocka_unit_test(shuffle_permutes),
        cmocka_unit_test(errors_are_one_line), cmocka_unit_test(shardset_property),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
