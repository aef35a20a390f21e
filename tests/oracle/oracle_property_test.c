/* No shard is missed: on random rows, layouts and statements, every row whose absence would change
 * the result, and every row that is made, lies on a shard that the recount names, and that the fast
 * path names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fast.h"
#include "random_layout.h"
#include "random_sql.h"
#include "world.h"

static struct world *world;
static struct cleave_analyzer *analyzer;

static struct cleave_value value_of(int x)
{
    if (x == SQL_NULL)
        return (struct cleave_value){.kind = CLEAVE_NULL};
    return (struct cleave_value){.kind = CLEAVE_INTEGER, .integer = x};
}

/* layout.h, word for word, for integers. */
static uint32_t row_shard(const struct cleave_layout *layout, uint32_t table, const int *row)
{
    const struct cleave_table_layout *t = &layout->tables[table];
    for (uint32_t e = 0; e < t->exception_count; e++) {
        const struct cleave_exception *exception = &t->exceptions[e];
        bool inside = true;
        for (uint32_t r = 0; r < exception->range_count; r++) {
            struct cleave_value v = value_of(row[exception->column[r]]);
            inside = inside && cleave__range_contains(&exception->range[r], &v);
        }
        if (inside)
            return exception->shard;
    }
    const struct cleave_key_map *map = &layout->maps[t->map];
    struct cleave_value key = value_of(row[t->key_column]);
    uint32_t below = UINT32_MAX, first = UINT32_MAX;
    for (uint32_t i = 0; i < map->entry_count; i++) {
        int order = cleave__value_compare(&map->entries[i], &key);
        if (order == 0)
            return map->entry_shards[i];
        if (map->entries[i].kind == CLEAVE_NULL)
            continue;
        if (first == UINT32_MAX)
            first = map->entry_shards[i];
        if (order < 0)
            below = map->entry_shards[i];
    }
    if (key.kind == CLEAVE_NULL)
        return 0;
    uint32_t bound = 0;
    switch (map->otherwise) {
    case CLEAVE_MAP_HASH:
        return cleave__value_shard(&key, layout->shards);
    case CLEAVE_MAP_ROUND_ROBIN:
        return (uint32_t)(key.integer % layout->shards);
    case CLEAVE_MAP_RANGE:
        while (bound < map->bound_count && map->bounds[bound].integer <= key.integer)
            bound++;
        return bound;
    case CLEAVE_MAP_NEAREST:
        return below != UINT32_MAX ? below : first != UINT32_MAX ? first : 0;
    }
    return 0;
}

static bool no_shard_missed(struct property_source *source, void *context)
{
    static struct sql_statement statement;
    struct sql_table tables[2], less[2];
    struct cleave_arena_mark mark = cleave__arena_mark(&world->arena);
    (void)context;
    random_layout(source, world, false);
    sql_random(source, &statement, false);
    for (int t = 0; t < 2; t++) {
        tables[t].count = (int)property_draw(source, SQL_ROWS_MAX + 1);
        for (int i = 0; i < tables[t].count; i++) {
            for (int c = 0; c < SQL_COLUMNS; c++)
                tables[t].rows[i][c] = property_draw(source, 8) == 7
                                           ? SQL_NULL
                                           : (int)property_draw(source, SQL_DOMAIN);
        }
    }
    if (source->verbose)
        fprintf(stderr, "%s\n", statement.text);

    struct cleave_trace_statement text = {.text = statement.text, .length = statement.length};
    struct cleave_trace_transaction transaction = {.statements = &text, .statement_count = 1};
    const struct cleave_layout *layouts[1] = {&world->layout};
    struct cleave_shardset shards;
    bool touches = false, writes = false, good = true;
    if (cleave__oracle_touch(world->oracle, &transaction, layouts, 1, UINT32_MAX, &shards, &touches,
                             &writes, NULL) != CLEAVE_OK)
        return false;
    struct cleave_lookup *lookup;
    struct cleave_touch fast;
    bool fast_touches;
    if (cleave__lookup_build(&world->layout, &lookup, NULL) != CLEAVE_OK)
        return false;
    good = world_touch_fast(analyzer, lookup, &transaction, &fast, &fast_touches);
    cleave__lookup_release(lookup);
    unsigned long long whole = sql_run(&statement, tables);
    for (uint32_t t = 0; t < 2; t++) {
        if (world->layout.tables[t].replicated)
            continue;
        for (int i = 0; i < tables[t].count; i++) {
            memcpy(less, tables, sizeof less);
            memmove(less[t].rows + i, less[t].rows + i + 1,
                    sizeof less[t].rows[0] * (size_t)(less[t].count - i - 1));
            less[t].count--;
            uint32_t shard = row_shard(&world->layout, t, tables[t].rows[i]);
            if (sql_run(&statement, less) != whole &&
                !(cleave__shardset_has(&shards, shard) &&
                  cleave__shardset_has(&fast.shards, shard))) {
                good = false;
                if (source->verbose)
                    fprintf(stderr,
                            "missed (recount %d, fast %d): row (%d, %d, %d) of %c on shard %u\n",
                            !cleave__shardset_has(&shards, shard),
                            !cleave__shardset_has(&fast.shards, shard), tables[t].rows[i][0],
                            tables[t].rows[i][1], tables[t].rows[i][2], "ab"[t], shard);
            }
        }
    }
    int made[SQL_ROWS_MAX][SQL_COLUMNS], table;
    int count = sql_new_rows(&statement, tables, made, SQL_ROWS_MAX, &table);
    for (int i = 0; i < count; i++) {
        uint32_t shard = row_shard(&world->layout, (uint32_t)table, made[i]);
        /* SET of a column that is no key does not count as a move. */
        if (world->layout.tables[table].replicated ||
            (statement.kind == SQL_UPDATE && statement.set_column == 2))
            continue;
        if (!cleave__shardset_has(&shards, shard) || !cleave__shardset_has(&fast.shards, shard)) {
            good = false;
            if (source->verbose)
                fprintf(stderr, "missed new row (%d, %d, %d) on shard %u\n", made[i][0], made[i][1],
                        made[i][2], shard);
        }
    }
    cleave__arena_rewind(&world->arena, mark);
    return good;
}

static void rows(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, SQL_DDL, 3);
    world = &w;
    assert_int_equal(cleave__analyzer_new(w.schema, &analyzer, NULL), CLEAVE_OK);
    bool good = property_run("oracle misses no shard", no_shard_missed, NULL, 20000);
    cleave__analyzer_free(analyzer);
    world_close(&w);
    assert_true(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
