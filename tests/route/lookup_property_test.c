/* The lookup table against a literal reading of layout.h: rows, boxes, files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/random.h"
#include "route/model.h"
#include "tables/route/image.h"
#include "tables/route/lookup.h"

static struct cleave_lookup *build(const struct model *model, bool verbose)
{
    struct cleave_lookup *lookup = NULL;
    struct cleave_error error = {0};
    if (cleave__lookup_build(&model->layout, &lookup, &error) != CLEAVE_OK && verbose)
        printf("  build: %s\n", error.message);
    return lookup;
}

static bool rows_agree(struct property_source *source, void *context)
{
    (void)context;
    struct model model;
    model_random(source, &model);
    struct cleave_lookup *lookup = build(&model, source->verbose);
    bool good = lookup != NULL;
    struct cleave_value row[MODEL_COLUMNS];
    for (uint32_t i = 0; good && model_nth_row(&model, i, row); i++) {
        for (uint32_t t = 0; t < 2; t++) {
            uint32_t want = model_row(&model.layout, t, row);
            uint32_t got = cleave__lookup_row(lookup, t, row, MODEL_COLUMNS);
            if (got != want && source->verbose)
                printf("  table %u row %u: got %u, want %u\n", t, i, got, want);
            good = good && got == want;
        }
    }
    if (!good && source->verbose)
        model_print(&model);
    cleave__lookup_release(lookup);
    model_free(&model);
    return good;
}

/* Every row of a box lies on one of its shards; on point boxes the set is exact. */
static bool boxes_cover(struct property_source *source, void *context)
{
    (void)context;
    struct model model;
    model_random(source, &model);
    struct cleave_lookup *lookup = build(&model, source->verbose);
    bool good = lookup != NULL;
    for (uint32_t b = 0; good && b < 12; b++) {
        struct cleave_box box;
        bool points = property_draw(source, 3) == 0, insert = property_draw(source, 2);
        model_box(source, &model, points, &box);
        for (uint32_t t = 0; good && t < 2; t++) {
            struct cleave_shardset got = {{0}}, want = {{0}}, all, extra;
            struct cleave_value row[MODEL_COLUMNS];
            if (model.layout.tables[t].replicated)
                continue;
            cleave__lookup_box(lookup, t, &box, insert, &got);
            for (uint32_t i = 0; model_nth_row(&model, i, row); i++) {
                if (model_box_holds(&box, row))
                    cleave__shardset_add(&want, model_row(&model.layout, t, row));
            }
            all = got;
            cleave__shardset_or(&all, &want);
            good = !memcmp(&all, &got, sizeof all) && (!points || !memcmp(&got, &want, sizeof got));
            cleave__shardset_fill(&all, model.layout.shards);
            extra = all;
            cleave__shardset_or(&extra, &got);
            good = good && !memcmp(&all, &extra, sizeof all);
            if (!good && source->verbose) {
                printf("  table %u points %d: got %u shards, want %u\n", t, points,
                       cleave__shardset_count(&got), cleave__shardset_count(&want));
                model_print_box(&box);
                model_print(&model);
            }
        }
    }
    cleave__lookup_release(lookup);
    model_free(&model);
    return good;
}

/* Derived keys: rows where they hold are never missed; a point gives the key's shard alone. */
static bool derived_cover(struct property_source *source, void *context)
{
    (void)context;
    struct model model;
    model_random(source, &model);
    struct model_domain *key = &model.domains[0];
    *key = (struct model_domain){.type = CLEAVE_TYPE_INTEGER, .count = 12};
    for (uint32_t i = 0; i < 12; i++) {
        key->values[i] = (struct cleave_value){.kind = CLEAVE_INTEGER};
        key->values[i].integer = (int64_t)i - 2;
    }
    uint32_t shards = model.layout.shards;
    struct cleave_value entries[] = {key->values[3], key->values[5], key->values[8]};
    uint32_t entry_shards[3];
    for (uint32_t i = 0; i < 3; i++)
        entry_shards[i] = (uint32_t)property_draw(source, shards);
    struct cleave_key_map map = {3, entries, entry_shards, CLEAVE_MAP_HASH, 0, NULL};
    struct cleave_table_layout table = {.derived_count = 1};
    table.derived[0] = (struct cleave_derived_key){2, "<", "/>", 9};
    struct cleave_exception exception = {1, {0, 0}, {{key->values[4], key->values[6], 0}}, 0};
    exception.shard = (uint32_t)property_draw(source, shards);
    table.exceptions = &exception;
    table.exception_count = (uint32_t)property_draw(source, 2);
    for (uint32_t t = 0; t < 2; t++) {
        model.layout.tables[t] = table;
        model.schema.tables[t].columns[0].type = CLEAVE_TYPE_INTEGER;
        model.schema.tables[t].columns[0].not_null = true;
        model.schema.tables[t].columns[2].type = CLEAVE_TYPE_TEXT;
    }
    model.layout.map_count = 1;
    model.layout.maps = &map;
    struct cleave_lookup *lookup = build(&model, source->verbose);
    bool good = lookup != NULL;
    for (uint32_t i = 0; good && i < 12; i++) {
        char text[32];
        struct cleave_value row[MODEL_COLUMNS] = {key->values[i]};
        struct cleave_value number = {.kind = CLEAVE_TEXT, .text = text};
        number.length =
            (uint32_t)snprintf(text, sizeof text, "<%05lld/>", (long long)key->values[i].integer);
        struct cleave_range range = {number, number, 0};
        struct cleave_term term = {2, 1, &range};
        struct cleave_box box = {1, &term};
        struct cleave_shardset got = {{0}}, inserted = {{0}};
        row[2] = number;
        uint32_t want = model_row(&model.layout, 0, row);
        cleave__lookup_box(lookup, 0, &box, false, &got);
        cleave__lookup_box(lookup, 0, &box, true, &inserted);
        good = cleave__shardset_count(&got) == 1 && cleave__shardset_has(&got, want) &&
               cleave__shardset_count(&inserted) == shards;
        number.length--; /* the suffix is gone: no number, so anywhere */
        range = (struct cleave_range){number, number, 0};
        cleave__lookup_box(lookup, 0, &box, false, &got);
        good = good && cleave__shardset_count(&got) == shards;
        if (!good && source->verbose)
            printf("  key %u of %u shards\n", i, shards);
    }
    cleave__lookup_release(lookup);
    model_free(&model);
    return good;
}

static bool files_agree(struct property_source *source, void *context)
{
    const char *path = context;
    struct model model;
    model_random(source, &model);
    struct cleave_lookup *lookup = build(&model, source->verbose), *opened = NULL;
    struct cleave_error error = {0};
    bool good =
        lookup && cleave__lookup_write(lookup, path, &error) == CLEAVE_OK &&
        cleave__lookup_open(path, &opened, &error) == CLEAVE_OK && opened->size == lookup->size &&
        !memcmp(opened->bytes, lookup->bytes, lookup->size) && opened->schema.table_count == 2 &&
        !strcmp(opened->schema.tables[1].columns[2].name, "c");
    struct cleave_value row[MODEL_COLUMNS];
    for (uint32_t i = 0; good && model_nth_row(&model, i, row); i++)
        good =
            cleave__lookup_row(opened, 0, row, MODEL_COLUMNS) == model_row(&model.layout, 0, row);
    if (!good && source->verbose) {
        printf("  %s\n", error.message);
        model_print(&model);
    }
    cleave__lookup_release(lookup);
    cleave__lookup_release(opened);
    model_free(&model);
    return good;
}

static void test_rows(void **state)
{
    (void)state;
    assert_true(property_run("lookup rows", rows_agree, NULL, 3000));
}

static void test_boxes(void **state)
{
    (void)state;
    assert_true(property_run("lookup boxes", boxes_cover, NULL, 3000));
}

static void test_derived(void **state)
{
    (void)state;
    assert_true(property_run("derived keys", derived_cover, NULL, 200));
}

static void test_files(void **state)
{
    (void)state;
    char path[] = "lookup_property_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    bool good = property_run("lookup files", files_agree, path, 150);
    unlink(path);
    assert_true(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_derived),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
