/* The fast path and the recount agree, transaction by transaction: on benchmark traces, and on
 * random statements and layouts. Two sets of shards agree when they are equal, or both have
 * several. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "fast.h"
#include "random_layout.h"
#include "random_sql.h"
#include "tables/route/lookup.h"
#include "tables/source/generate.h"
#include "tables/sql/analyze.h"
#include "world.h"

static struct world *world;
static struct cleave_analyzer *analyzer;

static void print_set(const char *name, const struct cleave_shardset *set, uint32_t shards)
{
    fprintf(stderr, "  %s:", name);
    for (uint32_t s = 0; s < shards; s++) {
        if (cleave__shardset_has(set, s))
            fprintf(stderr, " %u", s);
    }
    fprintf(stderr, "\n");
}

static bool has_exceptions(const struct cleave_layout *layout)
{
    for (uint32_t t = 0; t < layout->schema->table_count; t++) {
        if (layout->tables[t].exception_count)
            return true;
    }
    return false;
}

/* With two keys, knowing more may lead to another copy. */
static bool has_copies(const struct cleave_layout *layout)
{
    for (uint32_t t = 0; t < layout->schema->table_count; t++) {
        if (layout->tables[t].twice)
            return true;
    }
    return false;
}

static bool agree(struct cleave_oracle *oracle, struct cleave_analyzer *by,
                  const struct cleave_layout *layout, const struct cleave_lookup *lookup,
                  const struct cleave_trace_transaction *transaction, bool fast_may_add,
                  bool verbose)
{
    struct cleave_touch fast;
    struct cleave_shardset slow;
    bool fast_touches, touches, writes;
    if (!world_touch_fast(by, lookup, transaction, &fast, &fast_touches) ||
        cleave__oracle_touch(oracle, transaction, &layout, 1, UINT32_MAX, &slow, &touches, &writes,
                             NULL) != CLEAVE_OK)
        return false;
    /* Once there are two shards, more of them change nothing, whatever else the transaction does.
     */
    bool several = cleave__shardset_count(&fast.shards) > 1 && cleave__shardset_count(&slow) > 1;
    if (fast_touches == touches && (several || !memcmp(&fast.shards, &slow, sizeof slow)))
        return true;
    struct cleave_shardset both = fast.shards;
    cleave__shardset_or(&both, &slow);
    if (fast_may_add && fast_touches >= touches &&
        (has_copies(layout) || !memcmp(&both, &fast.shards, sizeof both)))
        return true;
    /* Beside exceptions it matters what counts as one range: `y = 0 OR y > 0` are two boxes to the
     * one and one range to the other, `y <> 1 AND y >= 0` the other way round. */
    if (has_exceptions(layout) && fast_touches == touches &&
        (!memcmp(&both, &slow, sizeof both) || !memcmp(&both, &fast.shards, sizeof both)))
        return true;
    if (verbose) {
        for (uint32_t i = 0; i < transaction->statement_count; i++)
            fprintf(stderr, "%s\n", transaction->statements[i].text);
        random_layout_print(layout);
        fprintf(stderr, "touches a table: fast %d, recount %d\n", fast_touches, touches);
        print_set("fast", &fast.shards, layout->shards);
        print_set("recount", &slow, layout->shards);
    }
    return false;
}

static bool same_shards(struct property_source *source, void *context)
{
    static struct sql_statement statement;
    struct cleave_arena_mark mark = cleave__arena_mark(&world->arena);
    struct cleave_lookup *lookup;
    struct cleave_error error;
    (void)context;
    random_layout(source, world, true);
    sql_random(source, &statement, true);
    struct cleave_trace_statement text = {.text = statement.text, .length = statement.length};
    struct cleave_trace_transaction transaction = {.statements = &text, .statement_count = 1};
    if (cleave__lookup_build(&world->layout, &lookup, &error) != CLEAVE_OK) {
        fprintf(stderr, "%s\n", error.message);
        return false;
    }
    /* Outer joins: the fast path says nothing of a side that may be padded unless a condition on
     * its own rules the padding out; the recount looks at all of them together. */
    bool outer = statement.kind >= SQL_LEFT && statement.kind <= SQL_FULL;
    bool good = agree(world->oracle, analyzer, &world->layout, lookup, &transaction, outer,
                      source->verbose);
    cleave__lookup_release(lookup);
    cleave__arena_rewind(&world->arena, mark);
    return good;
}

static void random_statements(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, SQL_DDL, 3);
    world = &w;
    assert_int_equal(cleave__analyzer_new(w.schema, &analyzer, NULL), CLEAVE_OK);
    bool good = property_run("fast path and recount agree", same_shards, NULL, 20000);
    cleave__analyzer_free(analyzer);
    world_close(&w);
    assert_true(good);
}

/* A layout over any schema: keys by hash, range or round robin of a random column of the primary
 * key, some tables replicated. */
static void lay_out(struct cleave_layout *layout, struct cleave_random *random,
                    const struct cleave_schema *schema, uint32_t shards)
{
    struct cleave_arena *arena = layout->arena;
    layout->schema = schema;
    layout->shards = shards;
    layout->map_count = schema->table_count;
    layout->tables = cleave__arena_zalloc(arena, schema->table_count * sizeof *layout->tables);
    layout->maps = cleave__arena_zalloc(arena, schema->table_count * sizeof *layout->maps);
    assert_true(layout->tables && layout->maps);
    for (uint32_t t = 0; t < schema->table_count; t++) {
        const struct cleave_table *table = &schema->tables[t];
        struct cleave_table_layout *l = &layout->tables[t];
        struct cleave_key_map *map = &layout->maps[t];
        l->map = t;
        l->replicated = cleave__random_below(random, 4) == 0;
        if (table->primary.count)
            l->key_column =
                table->primary.columns[cleave__random_below(random, table->primary.count)];
        bool integer =
            table->column_count > 0 && table->columns[l->key_column].type == CLEAVE_TYPE_INTEGER;
        switch (cleave__random_below(random, integer ? 3 : 1)) {
        case 1:
            map->otherwise = CLEAVE_MAP_ROUND_ROBIN;
            break;
        case 2:
            map->otherwise = CLEAVE_MAP_RANGE;
            map->bound_count = shards - 1;
            map->bounds = cleave__arena_array(arena, shards, sizeof *map->bounds);
            assert_non_null(map->bounds);
            for (uint32_t i = 0; i + 1 < shards; i++)
                map->bounds[i] = (struct cleave_value){
                    .kind = CLEAVE_INTEGER,
                    .integer = (int64_t)(i + 1) * (int64_t)(1 + cleave__random_below(random, 3))};
            for (uint32_t i = 1; i + 1 < shards; i++) {
                if (map->bounds[i].integer <= map->bounds[i - 1].integer)
                    map->bounds[i].integer = map->bounds[i - 1].integer + 1;
            }
            break;
        default:
            map->otherwise = CLEAVE_MAP_HASH;
        }
    }
}

static void benchmark_traces(void **state)
{
    (void)state;
    for (uint32_t b = 0; cleave__benchmark_at(b); b++) {
        const char *name = cleave__benchmark_at(b)->name;
        struct cleave_generator *generator;
        struct cleave_error error;
        struct cleave_oracle *oracle;
        struct cleave_analyzer *by;
        struct cleave_random random;
        if (cleave__generator_new(name, NULL, 0, 7, &generator, &error) != CLEAVE_OK)
            fail_msg("%s: %s", name, error.message);
        const struct cleave_schema *schema = cleave__generator_schema(generator);
        assert_int_equal(cleave__oracle_new(schema, &oracle, NULL), CLEAVE_OK);
        assert_int_equal(cleave__analyzer_new(schema, &by, NULL), CLEAVE_OK);
        cleave__random_seed(&random, 11);
        uint32_t different = 0;
        for (int round = 0; round < 8; round++) {
            struct cleave_arena arena = {0};
            struct cleave_layout layout = {.arena = &arena};
            struct cleave_lookup *lookup;
            lay_out(&layout, &random, schema, 2 + (uint32_t)cleave__random_below(&random, 9));
            if (cleave__lookup_build(&layout, &lookup, &error) != CLEAVE_OK)
                fail_msg("%s: %s", name, error.message);
            for (int i = 0; i < 60; i++) {
                struct cleave_trace_transaction transaction;
                const char *kind;
                assert_int_equal(cleave__generator_next(generator, &transaction, &kind, NULL),
                                 CLEAVE_OK);
                different +=
                    !agree(oracle, by, &layout, lookup, &transaction, false, different == 0);
            }
            cleave__lookup_release(lookup);
            cleave__arena_free(&arena);
        }
        cleave__analyzer_free(by);
        cleave__oracle_free(oracle);
        cleave__generator_free(generator);
        assert_int_equal(different, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(benchmark_traces),
                                       cmocka_unit_test(random_statements)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
