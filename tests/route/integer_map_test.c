/* Integer maps against sorted arrays: every form, kind of key and number of shards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "support/property.h"
#include "tables/route/integer_map.h"

static int by_key(const void *a, const void *b)
{
    const struct cleave_integer_entry *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static uint32_t fill(struct property_source *source, struct cleave_integer_entry *entries,
                     uint32_t count, uint32_t shards)
{
    struct cleave_random random;
    cleave__random_seed(&random, property_draw(source, 1000));
    uint64_t kind = property_draw(source, 6);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t x = cleave__random_next(&random);
        entries[i].key = kind == 0   ? x
                         : kind == 1 ? i
                         : kind == 2 ? UINT64_MAX - i
                         : kind == 3 ? (i % 2 ? x % 50 : UINT64_MAX - x % 50) /* both ends */
                         : kind == 4 ? x % (count * 3 + 1)
                                     : (uint64_t)i << 33;
        entries[i].shard = (uint32_t)cleave__random_below(&random, shards);
    }
    qsort(entries, count, sizeof *entries, by_key);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (n == 0 || entries[n - 1].key != entries[i].key)
            entries[n++] = entries[i];
    }
    return n;
}

static bool asks_agree(const struct cleave_integer_map *map, bool ordered,
                       const struct cleave_integer_entry *entries, uint32_t count, uint64_t key)
{
    uint32_t rank = 0, shard = UINT32_MAX;
    for (uint32_t low = 0, high = count; low < high; rank = low) {
        uint32_t middle = low + (high - low) / 2;
        if (entries[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    bool there = rank < count && entries[rank].key == key;
    bool found = cleave__integer_map_find(map, key, &shard);
    if (found != there || (found && shard != entries[rank].shard))
        return false;
    return !ordered || (cleave__integer_map_rank(map, key) == rank &&
                        (!there || cleave__integer_map_shard(map, rank) == shard));
}

static bool maps_agree(struct property_source *source, void *context)
{
    (void)context;
    static const uint32_t shard_counts[] = {1, 2, 3, 16, 255, 256, 1024};
    uint32_t shards = shard_counts[property_draw(source, 7)];
    uint32_t count = (uint32_t)property_draw(source, property_draw(source, 8) ? 60 : 3000);
    bool ordered = property_draw(source, 2);
    struct cleave_integer_entry *entries = malloc((count + 1) * sizeof *entries);
    struct cleave_integer_entry *listed = malloc((count + 1) * sizeof *listed);
    assert_true(entries && listed);
    count = fill(source, entries, count, shards);
    struct cleave_writer writer = {0};
    bool good = cleave__integer_map_encode(entries, count, shards, ordered, &writer) == CLEAVE_OK;
    struct cleave_integer_map map;
    struct cleave_reader reader = {.at = writer.data, .end = writer.data + writer.count};
    good = good && cleave__integer_map_decode(&reader, shards, ordered, &map) &&
           reader.at == reader.end && map.count == count;
    for (uint32_t i = 0; good && i < count; i++) {
        good = asks_agree(&map, ordered, entries, count, entries[i].key) &&
               asks_agree(&map, ordered, entries, count, entries[i].key + 1) &&
               asks_agree(&map, ordered, entries, count, entries[i].key - 1) &&
               asks_agree(&map, ordered, entries, count, cleave__mix64(entries[i].key));
    }
    good = good && asks_agree(&map, ordered, entries, count, 0) &&
           asks_agree(&map, ordered, entries, count, UINT64_MAX);
    if (good) {
        cleave__integer_map_list(&map, listed);
        for (uint32_t i = 0; i < count; i++)
            good = good && listed[i].key == entries[i].key && listed[i].shard == entries[i].shard;
    }
    if (!good && source->verbose)
        printf("  %u entries, %u shards, ordered %d\n", count, shards, ordered);
    free(entries);
    free(listed);
    free(writer.data);
    return good;
}

static void test_against_arrays(void **state)
{
    (void)state;
    assert_true(property_run("integer maps", maps_agree, NULL, 3000));
}

static size_t size_of(uint32_t count, uint64_t step, bool random_keys, bool ordered)
{
    struct cleave_integer_entry *entries = malloc(count * sizeof *entries);
    struct cleave_random random;
    assert_non_null(entries);
    cleave__random_seed(&random, 1);
    for (uint32_t i = 0; i < count; i++) {
        entries[i].key = random_keys ? cleave__random_next(&random) : i * step;
        entries[i].shard = (uint32_t)cleave__random_below(&random, 16);
    }
    qsort(entries, count, sizeof *entries, by_key);
    struct cleave_writer writer = {0};
    assert_int_equal(cleave__integer_map_encode(entries, count, 16, ordered, &writer), CLEAVE_OK);
    free(entries);
    free(writer.data);
    return writer.count;
}

static void test_sizes(void **state)
{
    (void)state;
    assert_true(size_of(1000000, 0, true, false) <= 8 * 1000000u);
    assert_true(size_of(1000000, 0, true, true) <= 8 * 1000000u);
    assert_true(size_of(10000, 0, true, false) <= 8 * 10000u);
    assert_true(size_of(1000000, 1, false, false) <= 1000000u);
    assert_true(size_of(1000000, 1000, false, false) <= 4 * 1000000u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_arrays),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
