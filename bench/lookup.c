/* What a key costs in a lookup table and in a plain hash table, measured in one run.
 *
 *   bench/lookup [entries...]        (default 10000 1000000 10000000)
 *
 * A table with one integer key column and an explicit entry for each key, 16 shards. Keys: random
 * 64-bit numbers; 1, 2, 3, ...; multiples of 1,000 with gaps. Asked in random order: keys that are
 * there (hit) and numbers of the same domain that are not (miss). `lookup` is one call of
 * cleave__lookup_row, the file's size divided by the entries; `hash` is open addressing with
 * linear probing, 8-byte keys and 4-byte shards, at most 0.7 full. Every answer is checked. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/random.h"
#include "tables/route/lookup.h"

enum { SHARDS = 16, ASKED = 1 << 22 };

struct pair {
    int64_t key;
    uint32_t shard;
};

struct plain { /* the hash table to compare with */
    int64_t *keys;
    uint32_t *shards; /* UINT32_MAX: free */
    uint64_t mask;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *must(void *memory)
{
    if (!memory) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

static struct plain plain_new(const struct pair *pairs, uint32_t count)
{
    struct plain table = {.mask = 15};
    while ((double)(table.mask + 1) * 0.7 < count)
        table.mask = table.mask * 2 + 1;
    table.keys = must(malloc((table.mask + 1) * sizeof *table.keys));
    table.shards = must(malloc((table.mask + 1) * sizeof *table.shards));
    for (uint64_t i = 0; i <= table.mask; i++)
        table.shards[i] = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = cleave__mix64((uint64_t)pairs[i].key) & table.mask;
        while (table.shards[at] != UINT32_MAX)
            at = (at + 1) & table.mask;
        table.keys[at] = pairs[i].key;
        table.shards[at] = pairs[i].shard;
    }
    return table;
}

static uint32_t plain_find(const struct plain *table, int64_t key)
{
    uint64_t at = cleave__mix64((uint64_t)key) & table->mask;
    while (table->shards[at] != UINT32_MAX) {
        if (table->keys[at] == key)
            return table->shards[at];
        at = (at + 1) & table->mask;
    }
    return UINT32_MAX;
}

static int by_key(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static uint32_t fill(struct pair *pairs, uint32_t count, unsigned kind,
                     struct cleave_random *random)
{
    for (uint32_t i = 0; i < count; i++) {
        pairs[i].key = kind == 0 ? (int64_t)cleave__random_next(random)
                       : kind == 1
                           ? (int64_t)i + 1
                           : ((int64_t)i * 3 + (int64_t)cleave__random_below(random, 3)) * 1000;
        pairs[i].shard = (uint32_t)cleave__random_below(random, SHARDS);
    }
    qsort(pairs, count, sizeof *pairs, by_key);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (n == 0 || pairs[n - 1].key != pairs[i].key)
            pairs[n++] = pairs[i];
    }
    return n;
}

static struct cleave_lookup *build(const struct pair *pairs, uint32_t count)
{
    struct cleave_column column = {.name = "id", .type_name = "bigint"};
    column.type = CLEAVE_TYPE_INTEGER;
    column.not_null = true;
    struct cleave_table table = {.name = "t", .column_count = 1, .columns = &column};
    struct cleave_schema schema = {.tables = &table, .table_count = 1};
    struct cleave_key_map map = {.entry_count = count, .otherwise = CLEAVE_MAP_HASH};
    map.entries = must(malloc(count * sizeof *map.entries));
    map.entry_shards = must(malloc(count * sizeof *map.entry_shards));
    for (uint32_t i = 0; i < count; i++) {
        map.entries[i] = (struct cleave_value){.kind = CLEAVE_INTEGER};
        map.entries[i].integer = pairs[i].key;
        map.entry_shards[i] = pairs[i].shard;
    }
    struct cleave_table_layout placed = {0};
    struct cleave_layout layout = {.schema = &schema, .shards = SHARDS, .tables = &placed};
    layout.map_count = 1;
    layout.maps = &map;
    struct cleave_lookup *lookup;
    struct cleave_error error;
    if (cleave__lookup_build(&layout, &lookup, &error) != CLEAVE_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    free(map.entries);
    free(map.entry_shards);
    return lookup;
}

static uint32_t lookup_find(const struct cleave_lookup *lookup, int64_t key)
{
    struct cleave_value value = {.kind = CLEAVE_INTEGER};
    value.integer = key;
    return cleave__lookup_row(lookup, 0, &value, 1);
}

static uint32_t box_find(const struct cleave_lookup *lookup, int64_t key)
{
    struct cleave_value value = {.kind = CLEAVE_INTEGER};
    value.integer = key;
    struct cleave_range range = {value, value, 0};
    struct cleave_term term = {0, 1, &range};
    struct cleave_box box = {1, &term};
    struct cleave_shardset shards = {{0}};
    cleave__lookup_box(lookup, 0, &box, false, false, &shards);
    return cleave__shardset_first(&shards);
}

static void run(uint32_t asked_count, unsigned kind)
{
    static const char *const kinds[] = {"random", "1..n", "sparse"};
    struct cleave_random random;
    cleave__random_seed(&random, 7);
    struct pair *pairs = must(malloc(asked_count * sizeof *pairs));
    struct pair *asked = must(malloc(ASKED * sizeof *asked));
    uint32_t count = fill(pairs, asked_count, kind, &random);
    struct plain plain = plain_new(pairs, count);
    double start = now();
    struct cleave_lookup *lookup = build(pairs, count);
    double built = (now() - start) / 1e9;
    for (unsigned miss = 0; miss < 2; miss++) {
        for (uint32_t i = 0; i < ASKED; i++) {
            asked[i] = pairs[cleave__random_below(&random, count)];
            if (!miss)
                continue;
            do
                asked[i].key +=
                    kind == 1 ? (int64_t)count : 1 + (int64_t)cleave__random_below(&random, 999);
            while (plain_find(&plain, asked[i].key) != UINT32_MAX);
            asked[i].shard = UINT32_MAX;
        }
        uint64_t wrong = 0;
        double times[4];
        times[0] = now();
        for (uint32_t i = 0; i < ASKED; i++)
            wrong += plain_find(&plain, asked[i].key) != asked[i].shard;
        times[1] = now();
        for (uint32_t i = 0; i < ASKED; i++)
            wrong += !miss && lookup_find(lookup, asked[i].key) != asked[i].shard;
        if (miss) { /* answers by the rule: compare with a table that has no entries */
            volatile uint32_t sink = 0;
            for (uint32_t i = 0; i < ASKED; i++)
                sink += lookup_find(lookup, asked[i].key);
        }
        times[2] = now();
        for (uint32_t i = 0; i < ASKED; i++)
            wrong += !miss && box_find(lookup, asked[i].key) != asked[i].shard;
        if (miss) {
            volatile uint32_t sink = 0;
            for (uint32_t i = 0; i < ASKED; i++)
                sink += box_find(lookup, asked[i].key);
        }
        times[3] = now();
        printf("%-7s %9u  %-4s  %6.1f ns  %6.1f ns  %6.1f ns  %6.2f  %6.2f  %6.2f s%s\n",
               kinds[kind], count, miss ? "miss" : "hit", (times[2] - times[1]) / ASKED,
               (times[3] - times[2]) / ASKED, (times[1] - times[0]) / ASKED,
               (double)cleave__lookup_bytes(lookup) / count,
               12.0 * (double)(plain.mask + 1) / count, built, wrong ? "  WRONG" : "");
        if (wrong)
            exit(1);
    }
    cleave__lookup_release(lookup);
    free(plain.keys);
    free(plain.shards);
    free(pairs);
    free(asked);
}

/* Boxes of a table like TPC-C's stock: 10 warehouses by entry, and rows of it that live elsewhere.
 */
static void run_exceptions(uint32_t count)
{
    struct cleave_column columns[2] = {{.name = "w", .type_name = "int"},
                                       {.name = "i", .type_name = "int"}};
    columns[0].type = columns[1].type = CLEAVE_TYPE_INTEGER;
    columns[0].not_null = columns[1].not_null = true;
    struct cleave_table table = {.name = "stock", .column_count = 2, .columns = columns};
    struct cleave_schema schema = {.tables = &table, .table_count = 1};
    struct cleave_key_map map = {.otherwise = CLEAVE_MAP_ROUND_ROBIN};
    struct cleave_exception *exceptions = must(malloc((count + 1) * sizeof *exceptions));
    struct cleave_random random;
    cleave__random_seed(&random, 3);
    for (uint32_t i = 0; i < count; i++) {
        struct cleave_value w = {.kind = CLEAVE_INTEGER, .integer = i % 10 + 1};
        struct cleave_value item = {.kind = CLEAVE_INTEGER, .integer = (i / 10) * 7 + 1};
        exceptions[i] = (struct cleave_exception){2, {0, 1}, {{w, w, 0}, {item, item, 0}}, 0};
        exceptions[i].shard = (uint32_t)cleave__random_below(&random, SHARDS);
    }
    struct cleave_table_layout placed = {.exception_count = count, .exceptions = exceptions};
    struct cleave_layout layout = {&schema, SHARDS, &placed, 1, &map, NULL};
    struct cleave_lookup *lookup;
    if (cleave__lookup_build(&layout, &lookup, NULL) != CLEAVE_OK)
        exit(1);
    double times[3] = {0};
    uint64_t sink = 0;
    for (uint32_t kind = 0; kind < 3; kind++) {
        enum { BOXES = 1 << 20 };
        double start = now();
        for (uint32_t i = 0; i < BOXES; i++) {
            struct cleave_value w = {.kind = CLEAVE_INTEGER}, item = w;
            w.integer = (int64_t)cleave__random_below(&random, 10) + 1;
            item.integer = (int64_t)cleave__random_below(&random, 100000) + 1;
            struct cleave_range ranges[2] = {{w, w, 0}, {item, item, 0}};
            struct cleave_term terms[2] = {{0, 1, &ranges[0]}, {1, 1, &ranges[1]}};
            struct cleave_box box = {kind == 0 ? 2 : 1, kind == 2 ? terms + 1 : terms};
            struct cleave_shardset set = {{0}};
            cleave__lookup_box(lookup, 0, &box, false, false, &set);
            sink += cleave__shardset_first(&set);
        }
        times[kind] = (now() - start) / BOXES;
    }
    printf("%9u  %8.1f ns  %8.1f ns  %8.1f ns  %6.2f%s\n", count, times[0], times[1], times[2],
           count ? (double)cleave__lookup_bytes(lookup) / count : 0.0, sink ? "" : " ");
    cleave__lookup_release(lookup);
    free(exceptions);
}

int main(int argc, char **argv)
{
    static const uint32_t usual[] = {10000, 1000000, 10000000};
    printf("keys      entries  asked  lookup     box        hash       lookup   hash    build\n");
    printf("                          a key      a key      a key      bytes an entry\n");
    for (unsigned kind = 0; kind < 3; kind++) {
        if (argc < 2) {
            for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
                run(usual[i], kind);
        }
        for (int i = 1; i < argc; i++)
            run((uint32_t)strtoul(argv[i], NULL, 10), kind);
    }
    printf("\nexceptions  key, column    key only  column only   bytes an exception\n");
    for (uint32_t count = 0; count <= 100000; count = count ? count * 10 : 100)
        run_exceptions(count);
    return 0;
}
