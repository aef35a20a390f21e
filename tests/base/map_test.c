/* The map against a plain list, at every step; every allocation failing in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/map.h"
#include "base/random.h"
#include "failalloc.h"

enum { KEYS = 300 };

static void against_a_list(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct cleave_random random;
        cleave__random_seed(&random, seed);
        struct cleave__map map = {0};
        bool has[KEYS] = {0};
        uint64_t holds[KEYS] = {0}, spread = seed % 2 ? 1 : 0x9e3779b97f4a7c15;
        uint32_t count = 0;
        for (int step = 0; step < 5000; step++) {
            uint64_t k = cleave__random_below(&random, KEYS), key = k * spread;
            uint64_t *found = cleave__map_find(&map, key);
            assert_int_equal(found != NULL, has[k]);
            if (found)
                assert_int_equal(*found, holds[k]);
            if (cleave__random_below(&random, 5) < (step / 1000 % 2 ? 1u : 3u)) {
                uint64_t *put = cleave__map_put(&map, key);
                assert_non_null(put);
                assert_int_equal(*put, has[k] ? holds[k] : 0);
                count += !has[k];
                has[k] = true;
                *put = holds[k] = cleave__random_next(&random);
            } else {
                assert_int_equal(cleave__map_remove(&map, key), has[k]);
                count -= has[k];
                has[k] = false;
            }
            assert_int_equal(map.count + map.has_zero, count);
            if (step % 50 == 0)
                assert_true(cleave__map_check(&map));
        }
        size_t at = 0;
        uint64_t key, value, sum = 0;
        while (cleave__map_next(&map, &at, &key, &value))
            sum += key ^ value;
        for (uint64_t k = 0; k < KEYS; k++)
            sum -= has[k] ? (k * spread) ^ holds[k] : 0;
        assert_int_equal(sum, 0);
        cleave__map_free(&map);
    }
}

static bool fill(void *context)
{
    (void)context;
    struct cleave__map map = {0};
    uint64_t put = 0;
    for (uint64_t key = 1; key <= 200; key++)
        put += cleave__map_put(&map, key) != NULL;
    bool right = cleave__map_check(&map) && map.count == put;
    cleave__map_free(&map);
    return right;
}

static void without_memory(void **state)
{
    (void)state;
    assert_true(failalloc_run("map", fill, NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_a_list),
                                       cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
