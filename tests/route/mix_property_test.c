/* A mix of two random lookup tables against brute force: every row, piece by piece, and boxes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failalloc.h"
#include "route/model.h"
#include "tables/route/mix.h"

enum { SET_WORDS = 4, TABLES = 2 };

struct world {
    struct model from, to;
    struct cleave_lookup *a, *b;
    struct cleave__mix *mix;
};

static bool build(struct property_source *source, struct world *world)
{
    struct cleave_error error = {0};
    *world = (struct world){0};
    model_random(source, &world->from);
    model_random_like(source, &world->from, &world->to);
    uint32_t pieces = 1 + (uint32_t)property_draw(source, 9);
    bool good = cleave__lookup_build(&world->from.layout, &world->a, &error) == CLEAVE_OK &&
                cleave__lookup_build(&world->to.layout, &world->b, &error) == CLEAVE_OK &&
                cleave__mix_new(world->a, world->b, pieces, &world->mix, &error) == CLEAVE_OK;
    if (!good && source->verbose)
        printf("  %s\n", error.message);
    return good;
}

static void end(struct property_source *source, struct world *world, bool good)
{
    if (!good && source->verbose) {
        model_print(&world->from);
        model_print(&world->to);
        for (uint32_t p = 0; world->mix && p < cleave__mix_pieces(world->mix); p++)
            printf("  piece %u %s\n", p, cleave__mix_moved(world->mix, p) ? "moved" : "still");
    }
    cleave__mix_free(world->mix);
    cleave__lookup_release(world->a);
    cleave__lookup_release(world->b);
    model_free(&world->to);
    model_free(&world->from);
}

/* Some pieces, in an order that is allowed. */
static bool move_some(struct property_source *source, struct world *world)
{
    uint64_t odds = property_draw(source, 5);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t p = 0; p < cleave__mix_pieces(world->mix); p++) {
            if (!cleave__mix_moved(world->mix, p) && cleave__mix_ready(world->mix, p) &&
                property_draw(source, 4) < odds)
                cleave__mix_move(world->mix, p);
        }
        if (!cleave__mix_check(world->mix))
            return false;
    }
    return true;
}

/* Until all has moved, what B copies is on all shards that A has. */
static struct cleave_shardset homes(const struct world *world, const struct cleave_layout *layout,
                                    uint32_t t, const struct cleave_value *row, bool first,
                                    bool second)
{
    struct cleave_shardset set = {{0}};
    uint32_t shard = model_row(layout, t, row);
    if (shard == CLEAVE_SHARDS_MAX)
        cleave__shardset_fill(&set, layout == &world->to.layout && !cleave__mix_done(world->mix) &&
                                            layout->shards < world->from.layout.shards
                                        ? world->from.layout.shards
                                        : layout->shards);
    else if (first)
        cleave__shardset_add(&set, shard);
    if (layout->tables[t].twice && second)
        cleave__shardset_add(&set, model_second(layout, t, row));
    return set;
}

static const struct cleave_layout *side(const struct world *world, uint32_t piece)
{
    return piece != CLEAVE_MIX_NONE && !cleave__mix_moved(world->mix, piece) ? &world->from.layout
                                                                             : &world->to.layout;
}

static bool same(const struct cleave_shardset *a, const struct cleave_shardset *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static bool within(const struct cleave_shardset *part, const struct cleave_shardset *set)
{
    struct cleave_shardset all = *set;
    cleave__shardset_or(&all, part);
    return same(&all, set);
}

static bool rows_agree(struct property_source *source, void *context)
{
    (void)context;
    struct world world;
    bool good = build(source, &world) && move_some(source, &world);
    const struct cleave_lookup *face = good ? cleave__mix_lookup(world.mix) : NULL;
    struct cleave_value row[MODEL_COLUMNS];
    uint32_t piece_of_key[TABLES][MODEL_DOMAIN_MAX];
    memset(piece_of_key, 0xfe, sizeof piece_of_key);
    for (uint32_t i = 0; good && model_nth_row(&world.from, i, row); i++) {
        for (uint32_t t = 0; good && t < TABLES; t++) {
            const struct cleave__mix_table *cut = cleave__mix_table(world.mix, t);
            uint32_t piece = cleave__mix_piece(world.mix, t, row, MODEL_COLUMNS);
            struct cleave_shardset a = homes(&world, &world.from.layout, t, row, true, true);
            struct cleave_shardset b = homes(&world, &world.to.layout, t, row, true, true),
                                   got = {{0}};
            cleave__lookup_row_shards(face, t, row, MODEL_COLUMNS, &got);
            good = same(&got, side(&world, piece) == &world.to.layout ? &b : &a) &&
                   cleave__lookup_row(face, t, row, MODEL_COLUMNS) ==
                       model_row(side(&world, piece), t, row);
            if (cut->kind == CLEAVE__MIX_STILL)
                good = good && piece == CLEAVE_MIX_NONE &&
                       (same(&a, &b) || cleave__mix_done(world.mix));
            else
                good = good && piece >= cut->first && piece < cut->first + cut->count;
            if (cut->kind != CLEAVE__MIX_KEYED)
                continue;
            /* One key, one piece; of both tables if they share a map. */
            uint32_t key = world.to.layout.tables[t].key_column;
            uint32_t at = key ? i / world.from.domains[0].count % world.from.domains[1].count
                              : i % world.from.domains[0].count;
            uint32_t *seen = &piece_of_key[t][at];
            good = good && (*seen == 0xfefefefe || *seen == piece);
            *seen = piece;
            if (t == 1 && world.to.layout.tables[0].map == world.to.layout.tables[1].map &&
                cleave__mix_table(world.mix, 0)->kind == CLEAVE__MIX_KEYED)
                good = good && piece_of_key[0][at] == piece;
        }
        if (!good && source->verbose)
            printf("  row %u\n", i);
    }
    end(source, &world, good);
    return good;
}

/* The shards of a box by one key: all that its rows need, and on points nothing else. */
static bool check_by(const struct world *world, uint32_t t, const struct cleave_box *box,
                     bool insert, bool second, bool points)
{
    const struct cleave_lookup *face = cleave__mix_lookup(world->mix);
    struct cleave_shardset got = {{0}}, want = {{0}}, sides = {{0}};
    uint64_t pieces[SET_WORDS] = {0}, some[SET_WORDS] = {0};
    struct cleave_value row[MODEL_COLUMNS];
    const struct cleave__mix_table *cut = cleave__mix_table(world->mix, t);
    for (uint32_t i = 0; model_nth_row(&world->from, i, row); i++) {
        if (!model_box_holds(box, row))
            continue;
        uint32_t piece = cleave__mix_piece(world->mix, t, row, MODEL_COLUMNS);
        struct cleave_shardset set = homes(world, side(world, piece), t, row, !second, second);
        cleave__shardset_or(&want, &set);
        if (piece != CLEAVE_MIX_NONE)
            some[piece / 64] |= UINT64_C(1) << piece % 64;
    }
    cleave__lookup_box_by(face, t, box, insert, second, &got);
    cleave__mix_box_pieces(world->mix, t, box, insert, pieces);
    bool good = within(&want, &got) && (!points || same(&want, &got));
    for (uint32_t w = 0; w < SET_WORDS; w++) {
        good = good && !(some[w] & ~pieces[w]) &&
               (!points || cut->kind != CLEAVE__MIX_KEYED || some[w] == pieces[w]);
    }
    /* Never more than both together. */
    if (cut->kind == CLEAVE__MIX_KEYED) {
        cleave__lookup_box_by(world->a, t, box, insert, false, &sides);
        cleave__lookup_box_by(world->b, t, box, insert, false, &sides);
        good = good && within(&got, &sides);
    }
    return good;
}

static bool boxes_cover(struct property_source *source, void *context)
{
    (void)context;
    struct world world;
    bool good = build(source, &world) && move_some(source, &world);
    bool insert = property_draw(source, 2);
    for (uint32_t b = 0; good && b < 12; b++) {
        struct cleave_box box;
        bool points = property_draw(source, 3) == 0;
        model_box(source, &world.from, points, &box);
        const struct cleave_lookup *face = cleave__mix_lookup(world.mix);
        for (uint32_t t = 0; good && t < TABLES; t++) {
            if (cleave__lookup_replicated(face, t))
                continue;
            for (uint32_t k = 0; good && k < 1u + cleave__lookup_twice(face, t); k++)
                good = check_by(&world, t, &box, insert, k, points);
            if (!good && source->verbose) {
                printf("  table %u points %d insert %d\n", t, points, insert);
                model_print_box(&box);
            }
        }
    }
    end(source, &world, good);
    return good;
}

/* Whole accesses: before any piece has moved as A has them, after all as B has them; in between
 * every shard is there that a row needs, and copied tables are where reads of them may go. */
static bool accesses_agree(struct property_source *source, void *context)
{
    (void)context;
    struct world world;
    struct cleave_box boxes[3];
    bool good = build(source, &world);
    bool insert = property_draw(source, 2), write = insert || property_draw(source, 2);
    struct cleave_access access = {.write = write, .insert = insert, .boxes = boxes};
    access.table = (uint32_t)property_draw(source, TABLES);
    for (; good && access.box_count < 3; access.box_count++)
        model_box(source, &world.from, property_draw(source, 2), &boxes[access.box_count]);
    struct cleave_touch a = {.distributed = false}, b = a, got;
    if (good) {
        cleave__lookup_accesses(world.a, &access, 1, &a);
        cleave__lookup_accesses(world.b, &access, 1, &b);
    }
    uint32_t pieces = good ? cleave__mix_pieces(world.mix) : 0;
    for (uint32_t moved = 0; good && moved <= pieces; moved++) {
        const struct cleave_lookup *face = cleave__mix_lookup(world.mix);
        got = (struct cleave_touch){.distributed = false};
        cleave__lookup_accesses(face, &access, 1, &got);
        uint32_t copies = cleave__lookup_copies(face);
        good = (moved || memcmp(&got, &a, sizeof got) == 0) &&
               (moved < pieces || memcmp(&got, &b, sizeof got) == 0) &&
               got.distributed == (cleave__shardset_count(&got.shards) > 1) && copies > 0;
        /* A shard without the copies has no row of anything else. */
        struct cleave_value row[MODEL_COLUMNS];
        for (uint32_t i = 0; good && model_nth_row(&world.from, i, row); i++) {
            for (uint32_t t = 0; t < TABLES; t++) {
                struct cleave_shardset set = {{0}};
                bool replicated = cleave__lookup_replicated(face, t);
                cleave__lookup_row_shards(face, t, row, MODEL_COLUMNS, &set);
                for (uint32_t s = 0; s < CLEAVE_SHARDS_MAX; s++) {
                    good = good && (replicated || s < copies || !cleave__shardset_has(&set, s)) &&
                           (!replicated || s >= copies || cleave__shardset_has(&set, s));
                }
            }
        }
        uint32_t next = 0;
        while (moved < pieces && good &&
               (cleave__mix_moved(world.mix, next) || !cleave__mix_ready(world.mix, next)))
            good = ++next < pieces;
        if (moved < pieces && good)
            cleave__mix_move(world.mix, next);
        good =
            good && cleave__mix_check(world.mix) && (moved < pieces || cleave__mix_done(world.mix));
        if (!good && source->verbose)
            printf("  after %u of %u pieces, table %u\n", moved, pieces, access.table);
    }
    end(source, &world, good);
    return good;
}

static void test_rows(void **state)
{
    (void)state;
    assert_true(property_run("mixed rows", rows_agree, NULL, 1000));
}

static void test_boxes(void **state)
{
    (void)state;
    assert_true(property_run("mixed boxes", boxes_cover, NULL, 1000));
}

static void test_accesses(void **state)
{
    (void)state;
    assert_true(property_run("mixed accesses", accesses_agree, NULL, 60));
}

static bool attempt(void *context)
{
    struct world *world = context;
    struct cleave__mix *mix = NULL;
    if (cleave__mix_new(world->a, world->b, 4, &mix, NULL) == CLEAVE_OK)
        cleave__mix_free(mix);
    return true;
}

static bool allocations_fail(struct property_source *source, void *context)
{
    (void)context;
    struct world world;
    bool good = build(source, &world) && failalloc_run("mix", attempt, &world, 1);
    end(source, &world, good);
    return good;
}

static void test_allocations(void **state)
{
    (void)state;
    assert_true(property_run("mix, failing allocations", allocations_fail, NULL, 40));
}

static void test_other_schemas(void **state)
{
    (void)state;
    struct cleave_column columns[1] = {
        {.name = "k", .type_name = "integer", .type = CLEAVE_TYPE_INTEGER}};
    struct cleave_table one[1] = {{.name = "t", .column_count = 1, .columns = columns}}, two[1];
    struct cleave_schema schemas[2] = {{.tables = one, .table_count = 1},
                                       {.tables = two, .table_count = 1}};
    struct cleave_table_layout placed = {.replicated = true};
    struct cleave_lookup *lookups[2];
    struct cleave_error error = {0};
    struct cleave__mix *mix = NULL;
    two[0] = one[0];
    two[0].name = "u";
    for (int i = 0; i < 2; i++) {
        struct cleave_layout layout = {.schema = &schemas[i], .shards = 2, .tables = &placed};
        assert_int_equal(cleave__lookup_build(&layout, &lookups[i], &error), CLEAVE_OK);
    }
    assert_int_equal(cleave__mix_new(lookups[0], lookups[1], 4, &mix, &error), CLEAVE_BAD_ARGUMENT);
    assert_null(mix);
    assert_non_null(strstr(error.message, "table t differs from u"));
    assert_int_equal(cleave__mix_new(lookups[0], lookups[0], 4, &mix, &error), CLEAVE_OK);
    assert_int_equal(cleave__mix_pieces(mix), 0);
    assert_true(cleave__mix_done(mix));
    cleave__mix_free(mix);
    cleave__lookup_release(lookups[0]);
    cleave__lookup_release(lookups[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),          cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_accesses),      cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_other_schemas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
