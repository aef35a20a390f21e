/* Loads with every allocation failing in turn: an error and nothing left, or all of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/store.h"
#include "support/failalloc.h"
#include "tables/load/load.h"

static char folder[] = "/tmp/cleave-load-XXXXXX";

struct world {
    struct cleave_generator *generator;
    struct cleave_lookup *lookup;
    char paths[3][100], source[100];
    const char *shards[2];
    bool live; /* from the file `source` */
};

/* Every table by its s_id, which each has. */
static void build(struct world *w)
{
    struct cleave_benchmark_option option = {"subscribers", "5"};
    struct cleave_error error;
    if (cleave__generator_new("tatp", &option, 1, 1, &w->generator, &error))
        fail_msg("%s", error.message);
    const struct cleave_schema *schema = cleave__generator_schema(w->generator);
    struct cleave_table_layout placed[8];
    assert_true(schema->table_count <= 8);
    memset(placed, 0, sizeof placed);
    for (uint32_t t = 0; t < schema->table_count; t++) {
        placed[t].key_column = cleave__schema_column(&schema->tables[t], "s_id", 4);
        assert_int_not_equal(placed[t].key_column, CLEAVE_ABSENT);
    }
    placed[schema->table_count - 1].replicated = true;
    struct cleave_key_map map = {.otherwise = CLEAVE_MAP_HASH};
    struct cleave_layout layout = {schema, 2, placed, 1, &map, NULL};
    if (cleave__lookup_build(&layout, &w->lookup, &error))
        fail_msg("%s", error.message);
    for (int i = 0; i < 3; i++)
        snprintf(w->paths[i], sizeof w->paths[i], "%s/%d.db", folder, i);
    snprintf(w->source, sizeof w->source, "%s/source.db", folder);
    w->shards[0] = w->paths[0];
    w->shards[1] = w->paths[1];
}

static bool attempt(void *context)
{
    struct world *w = context;
    struct cleave_load_options options = {.shards = w->shards,
                                          .shard_count = 2,
                                          .reference = w->paths[2],
                                          .from = w->live ? w->source : NULL,
                                          .generator = w->live ? NULL : w->generator};
    struct cleave_load_result result;
    struct cleave_error error;
    enum cleave_status status = cleave__load_run(w->lookup, &options, &result, &error);
    bool right = status == CLEAVE_OK || strstr(error.message, "out of memory") != NULL;
    if (!status) {
        for (uint32_t t = 0; t < result.table_count; t++) {
            const struct cleave_load_table *table = &result.tables[t];
            uint64_t there = table->shard_rows[0] + table->shard_rows[1];
            right = right && there == (table->replicated ? 2 : 1) * table->rows &&
                    (table->rows == 5 || strcmp(table->name, "subscriber"));
        }
        cleave__load_free(&result);
    }
    if (!right)
        printf("status %d: %s\n", status, error.message);
    for (int i = 0; i < 3; i++)
        unlink(w->paths[i]);
    return right;
}

static void without_memory(void **state)
{
    struct world w = {0};
    (void)state;
    build(&w);
    assert_true(failalloc_run_thread("load, generated", attempt, &w, 3));

    struct cleave_load_options options = {
        .shards = w.shards, .shard_count = 2, .reference = w.source, .generator = w.generator};
    struct cleave_load_result result;
    struct cleave_error error;
    if (cleave__load_run(w.lookup, &options, &result, &error))
        fail_msg("%s", error.message);
    cleave__load_free(&result);
    unlink(w.paths[0]);
    unlink(w.paths[1]);
    w.live = true;
    assert_true(failalloc_run_thread("load, live", attempt, &w, 3));
    unlink(w.source);
    cleave__lookup_release(w.lookup);
    cleave__generator_free(w.generator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_memory)};
    if (!mkdtemp(folder))
        return 1;
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    return failures + (rmdir(folder) != 0); /* nothing is left */
}
