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
            struct cleave_shardset copies = {{0}}, all = {{0}};
            if (want == CLEAVE_SHARDS_MAX)
                cleave__shardset_fill(&all, model.layout.shards);
            else
                cleave__shardset_add(&all, want);
            if (model.layout.tables[t].twice)
                cleave__shardset_add(&all, model_second(&model.layout, t, row));
            cleave__lookup_row_shards(lookup, t, row, MODEL_COLUMNS, &copies);
            good = good && !memcmp(&copies, &all, sizeof all);
        }
    }
    if (!good && source->verbose)
        model_print(&model);
    cleave__lookup_release(lookup);
    model_free(&model);
    return good;
}

/* The rows of a box, sent by each key as layout.h says. */
static void rows_of_box(const struct model *model, uint32_t t, const struct cleave_box *box,
                        struct cleave_shardset want[2])
{
    struct cleave_value row[MODEL_COLUMNS];
    for (uint32_t i = 0; model_nth_row(model, i, row); i++) {
        if (!model_box_holds(box, row))
            continue;
        cleave__shardset_add(&want[0], model_row(&model->layout, t, row));
        if (model->layout.tables[t].twice)
            cleave__shardset_add(&want[1], model_second(&model->layout, t, row));
    }
}

static bool holds(const struct cleave_shardset *set, const struct cleave_shardset *part)
{
    struct cleave_shardset all = *set;
    cleave__shardset_or(&all, part);
    return !memcmp(&all, set, sizeof all);
}

/* What an access touches, given the shards of its rows by each key. */
static struct cleave_shardset served(const struct cleave_shardset by[2], bool twice, bool write)
{
    struct cleave_shardset set = by[0];
    if (twice && write)
        cleave__shardset_or(&set, &by[1]);
    else if (twice && cleave__shardset_count(&by[1]) < cleave__shardset_count(&by[0]))
        set = by[1];
    return set;
}

/* Every row of a box lies on one of its shards, by either key; on point boxes the set is exact. An
 * access of several boxes is served by one key. */
static bool boxes_cover(struct property_source *source, void *context)
{
    (void)context;
    struct model model;
    model_random(source, &model);
    struct cleave_lookup *lookup = build(&model, source->verbose);
    bool good = lookup != NULL;
    struct cleave_box boxes[12];
    struct cleave_shardset access_by[2][2] = {{{{0}}}}, full;
    bool insert = property_draw(source, 2), write = insert || property_draw(source, 2);
    uint32_t together = (uint32_t)property_draw(source, 4); /* boxes of one access */
    cleave__shardset_clear(&full);
    cleave__shardset_fill(&full, model.layout.shards);
    for (uint32_t b = 0; good && b < 12; b++) {
        struct cleave_box *box = &boxes[b];
        bool points = property_draw(source, 3) == 0;
        model_box(source, &model, points, box);
        for (uint32_t t = 0; good && t < 2; t++) {
            struct cleave_shardset got = {{0}}, by[2] = {{{0}}}, want[2] = {{{0}}};
            bool twice = model.layout.tables[t].twice;
            if (model.layout.tables[t].replicated)
                continue;
            rows_of_box(&model, t, box, want);
            for (uint32_t k = 0; k < (twice ? 2 : 1); k++) {
                cleave__lookup_box_by(lookup, t, box, insert, k, &by[k]);
                good = good && holds(&by[k], &want[k]) && holds(&full, &by[k]) &&
                       (!points || holds(&want[k], &by[k]));
                if (b < together)
                    cleave__shardset_or(&access_by[t][k], &by[k]);
            }
            struct cleave_shardset expected = served(points ? want : by, twice, write);
            cleave__lookup_box(lookup, t, box, insert, write, &got);
            good = good && !memcmp(&got, &expected, sizeof got);
            if (!good && source->verbose) {
                printf("  table %u points %d insert %d write %d: got %u shards, by key %u, %u\n", t,
                       points, insert, write, cleave__shardset_count(&got),
                       cleave__shardset_count(&want[0]), cleave__shardset_count(&want[1]));
                model_print_box(box);
                model_print(&model);
            }
        }
    }
    for (uint32_t t = 0; good && t < 2; t++) {
        struct cleave_access access = {
            .table = t, .write = write, .insert = insert, .box_count = together};
        struct cleave_touch touch = {.distributed = false};
        access.boxes = boxes;
        cleave__lookup_accesses(lookup, &access, 1, &touch);
        struct cleave_shardset expected = served(access_by[t], model.layout.tables[t].twice, write);
        if (model.layout.tables[t].replicated && write && together)
            expected = full;
        good = !memcmp(&touch.shards, &expected, sizeof expected) &&
               touch.distributed == (cleave__shardset_count(&expected) > 1);
        if (!good && source->verbose)
            printf("  table %u: %u boxes together\n", t, together);
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
        cleave__lookup_box(lookup, 0, &box, false, false, &got);
        cleave__lookup_box(lookup, 0, &box, true, true, &inserted);
        good = cleave__shardset_count(&got) == 1 && cleave__shardset_has(&got, want) &&
               cleave__shardset_count(&inserted) == shards;
        number.length--; /* the suffix is gone: no number, so anywhere */
        range = (struct cleave_range){number, number, 0};
        cleave__lookup_box(lookup, 0, &box, false, false, &got);
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
