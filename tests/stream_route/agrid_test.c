/* The A-Grid and its peers: every evaluator that a range meets, each once; and moves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stream/route/locator.h"
#include "stream_route/maps.h"
#include "support/failalloc.h"
#include "support/property.h"

enum { MOST = 1000 };

static void *must(void *memory)
{
    assert_non_null(memory);
    return memory;
}

/* The seed's Figure 2(c), y upwards: what Tornado's walk meets there. */
static void by_hand(void **state)
{
    (void)state;
    struct cleave__grid grid = cleave__grid_make(0, 0, 4, 4, 4, 4);
    const struct cleave__cells partitions[] = {
        {0, 0, 1, 3}, {2, 0, 3, 0}, {2, 1, 2, 3}, {1, 1, 0, 0}, {3, 1, 3, 3}};
    struct cleave__agrid *agrid;
    struct cleave_error error;
    uint32_t out[5];
    assert_int_equal(cleave__agrid_new(&grid, partitions, 5, &agrid, &error), 0);
    assert_true(cleave__agrid_check(agrid));
    assert_int_equal(cleave__agrid_point(agrid, 0.5, 3.5), 0);
    assert_int_equal(cleave__agrid_point(agrid, -7, 99), 0); /* outside belongs to the border */
    assert_int_equal(cleave__agrid_point(agrid, 99, 2), 4);
    assert_int_equal(cleave__agrid_range(agrid, (struct cleave__cells){1, 2, 3, 3}, out), 3);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], 2);
    assert_int_equal(out[2], 4);
    assert_int_equal(cleave__agrid_range(agrid, (struct cleave__cells){3, 0, 3, 0}, out), 1);
    assert_int_equal(out[0], 1);
    assert_int_equal(cleave__agrid_range(agrid, (struct cleave__cells){0, 0, 9, 9}, out), 4);
    assert_int_equal(cleave__agrid_range(agrid, CLEAVE__NO_CELLS, out), 0);

    /* Moves: a strip, a corner, all, and what leaves no rectangles. */
    assert_false(cleave__agrid_move(agrid, 0, 2, (struct cleave__cells){1, 1, 1, 3}));
    assert_false(cleave__agrid_move(agrid, 0, 2, (struct cleave__cells){1, 0, 1, 3}));
    assert_false(cleave__agrid_move(agrid, 0, 0, (struct cleave__cells){1, 0, 1, 3}));
    assert_false(cleave__agrid_move(agrid, 2, 0, (struct cleave__cells){1, 0, 1, 3}));
    assert_false(cleave__agrid_move(agrid, 0, 9, (struct cleave__cells){1, 0, 1, 3}));
    assert_true(cleave__agrid_move(agrid, 0, 3, (struct cleave__cells){1, 0, 1, 3}));
    assert_true(cleave__agrid_move(agrid, 3, 1, (struct cleave__cells){1, 0, 1, 0})); /* corner */
    assert_true(cleave__agrid_move(agrid, 4, 2, (struct cleave__cells){3, 1, 3, 3}));
    assert_true(cleave__agrid_check(agrid));
    assert_true(cleave__cells_empty(cleave__agrid_partition(agrid, 4)));
    assert_true(
        cleave__cells_equal(cleave__agrid_partition(agrid, 1), (struct cleave__cells){1, 0, 3, 0}));
    assert_true(
        cleave__cells_equal(cleave__agrid_partition(agrid, 3), (struct cleave__cells){1, 1, 1, 3}));
    cleave__agrid_free(agrid);
}

static void refuse(const struct cleave__cells *partitions, uint32_t evaluators, const char *why)
{
    struct cleave__grid grid = cleave__grid_make(0, 0, 1, 1, 3, 2);
    struct cleave__agrid *agrid = NULL;
    struct cleave_error error;
    assert_int_equal(cleave__agrid_new(&grid, partitions, evaluators, &agrid, &error),
                     CLEAVE_BAD_ARGUMENT);
    assert_null(agrid);
    assert_string_equal(error.message, why);
}

static void what_does_not_tile(void **state)
{
    (void)state;
    refuse((struct cleave__cells[]){{0, 0, 2, 0}, {0, 1, 1, 1}}, 2, "no evaluator has cell (2, 1)");
    refuse((struct cleave__cells[]){{0, 0, 2, 1}, {1, 1, 1, 1}}, 2,
           "evaluators 0 and 1 both have cell (1, 1)");
    refuse((struct cleave__cells[]){{0, 0, 3, 1}}, 1,
           "evaluator 0 has cell (3, 1) of a grid of 3 x 2");
    refuse(NULL, 0, "evaluators are from 1 to 4096, not 0");
    refuse(NULL, 4097, "evaluators are from 1 to 4096, not 4097");
}

static void the_globe(void **state)
{
    (void)state;
    struct cleave__grid grid = cleave__grid_make(-180, -90, 180, 90, 36, 18);
    const struct cleave__cells partitions[] = {
        {0, 0, 8, 17}, {9, 0, 17, 17}, {18, 0, 26, 17}, {27, 0, 35, 17}};
    struct cleave__agrid *agrid;
    struct cleave_error error;
    struct cleave__cells ranges[CLEAVE__REGION_BOXES_MOST];
    struct cleave__region region = {.x0 = 170, .y0 = 0, .x1 = -170, .y1 = 10};
    uint32_t out[4];
    assert_int_equal(cleave__agrid_new(&grid, partitions, 4, &agrid, &error), 0);
    assert_int_equal(cleave__region_prepare(&cleave__globe, &region, &error), 0);
    uint32_t count = cleave__region_ranges(&cleave__globe, &grid, &region, ranges);
    assert_int_equal(count, 2);
    assert_int_equal(cleave__agrid_ranges(agrid, ranges, count, out), 2);
    assert_int_equal(out[0], 3);
    assert_int_equal(out[1], 0);
    struct cleave__cells hull = cleave__ranges_hull(ranges, count);
    assert_true(cleave__cells_equal(hull, (struct cleave__cells){0, 9, 35, 10}));
    /* Almost all round: the ranges share the first evaluator, which is given once. */
    region = (struct cleave__region){.x0 = -100, .y0 = 0, .x1 = -140, .y1 = 10};
    assert_int_equal(cleave__region_prepare(&cleave__globe, &region, &error), 0);
    count = cleave__region_ranges(&cleave__globe, &grid, &region, ranges);
    assert_int_equal(cleave__agrid_ranges(agrid, ranges, count, out), 4);
    cleave__agrid_free(agrid);
}

/* 20,000 ranges on 1024 x 1024 cells: Tornado's published code misses partitions, so the check
 * sees; its algorithm as it is written, and ours, do not. */
static void the_dominant_cell(void **state)
{
    (void)state;
    enum { SIDE = 1024, EVALUATORS = 256, RANGES = 20000 };
    struct cleave__grid grid = cleave__grid_make(0, 0, 1, 1, SIDE, SIDE);
    struct cleave__cells *partitions = must(calloc(EVALUATORS, sizeof *partitions));
    uint8_t seen[EVALUATORS] = {0};
    uint32_t out[EVALUATORS], missed, wrong = 0;
    struct cleave_random random;
    struct cleave__agrid *agrid;
    struct cleave_error error;
    cleave__random_seed(&random, 256);
    maps_random(&random, SIDE, SIDE, EVALUATORS, EVALUATORS, partitions);
    assert_int_equal(cleave__agrid_new(&grid, partitions, EVALUATORS, &agrid, &error), 0);
    for (int i = 0; i < RANGES; i++) {
        struct cleave__cells range = maps_range_of(&random, SIDE, SIDE, 0.01);
        uint32_t count = maps_algorithm_1(agrid, range, true, out);
        wrong += !maps_right(partitions, EVALUATORS, range, out, count, seen, &missed);
        count = maps_algorithm_1(agrid, range, false, out);
        assert_true(maps_right(partitions, EVALUATORS, range, out, count, seen, &missed));
        count = cleave__agrid_range(agrid, range, out);
        assert_true(maps_right(partitions, EVALUATORS, range, out, count, seen, &missed));
    }
    printf("published code: %u of %d ranges miss a partition\n", wrong, RANGES);
    assert_true(wrong > 20);
    cleave__agrid_free(agrid);
    free(partitions);
}

static bool locators_agree(struct property_source *source, void *context)
{
    (void)context;
    struct cleave_random random;
    struct cleave_error error;
    uint32_t columns = 1 + (uint32_t)property_draw(source, 64);
    uint32_t rows = 1 + (uint32_t)property_draw(source, 64);
    uint32_t most = columns * rows < MOST ? columns * rows : MOST;
    uint32_t active = 1 + (uint32_t)property_draw(source, most);
    uint32_t evaluators = active + (uint32_t)property_draw(source, 3);
    cleave__random_seed(&random, property_draw(source, UINT64_MAX));
    struct cleave__grid grid = cleave__grid_make(0, 0, columns, rows, columns, rows);
    struct cleave__cells partitions[MOST + 2];
    uint8_t seen[MOST + 2] = {0};
    uint32_t out[MOST + 2], missed;
    bool right = true;
    maps_random(&random, columns, rows, active, evaluators, partitions);
    if (source->verbose)
        printf("%u x %u cells, %u of %u evaluators\n", columns, rows, active, evaluators);
    for (uint32_t l = 0; cleave__locators[l]; l++) {
        const struct cleave__locator_ops *ops = cleave__locators[l];
        void *self;
        if (ops->create(&grid, partitions, evaluators, &self, &error))
            return false;
        for (int i = 0; i < 50; i++) {
            struct cleave__cells range = maps_range(&random, columns, rows);
            uint32_t count = ops->range(self, range, out);
            right = right && maps_right(partitions, evaluators, range, out, count, seen, &missed) &&
                    cleave__cells_have(partitions[ops->point(self, range.x0 + 0.5, range.y1 + 0.5)],
                                       range.x0, range.y1);
            if (!right && source->verbose)
                printf("%s: cells %u..%u x %u..%u: %u found, %u missed\n", ops->name, range.x0,
                       range.x1, range.y0, range.y1, count, missed);
        }
        right = right && ops->bytes(self) > 0;
        ops->destroy(self);
    }
    return right;
}

static void every_locator(void **state)
{
    (void)state;
    assert_true(property_run("locators", locators_agree, NULL, 200));
}

/* Random moves, some of them absurd, beside a list of rectangles. */
static bool moves(struct property_source *source, void *context)
{
    (void)context;
    enum { EVALUATORS = 12 };
    struct cleave_random random;
    struct cleave_error error;
    struct cleave__agrid *agrid;
    uint32_t columns = 1 + (uint32_t)property_draw(source, 16);
    uint32_t rows = 1 + (uint32_t)property_draw(source, 16);
    uint32_t most = columns * rows < EVALUATORS ? columns * rows : EVALUATORS;
    uint32_t active = 1 + (uint32_t)property_draw(source, most);
    cleave__random_seed(&random, property_draw(source, UINT64_MAX));
    struct cleave__grid grid = cleave__grid_make(0, 0, columns, rows, columns, rows);
    struct cleave__cells partitions[EVALUATORS];
    maps_random(&random, columns, rows, active, EVALUATORS, partitions);
    if (cleave__agrid_new(&grid, partitions, EVALUATORS, &agrid, &error))
        return false;
    bool right = cleave__agrid_check(agrid);
    for (int i = 0; i < 60 && right; i++) {
        uint32_t from = (uint32_t)cleave__random_below(&random, EVALUATORS + 1);
        uint32_t to = (uint32_t)cleave__random_below(&random, EVALUATORS);
        struct cleave__cells cells = maps_range(&random, columns, rows), strip, a, b;
        bool holds = from < EVALUATORS && !cleave__cells_empty(partitions[from]);
        if (holds && cleave__random_below(&random, 4)) {
            struct cleave__cells p = partitions[from];
            enum cleave__side side = (enum cleave__side)cleave__random_below(&random, 4);
            uint32_t lines = side < CLEAVE__BELOW ? p.x1 - p.x0 + 1 : p.y1 - p.y0 + 1;
            cells =
                cleave__cells_strip(p, side, 1 + (uint32_t)cleave__random_below(&random, lines));
            if (cleave__cells_corner(p, partitions[to], &strip) && cleave__random_below(&random, 2))
                cells = strip;
        }
        bool wanted = holds && from != to && cleave__cells_cut(partitions[from], cells, &a) &&
                      cleave__cells_join(partitions[to], cells, &b);
        if (cleave__agrid_move(agrid, from, to, cells) != wanted)
            right = false;
        if (wanted) {
            partitions[from] = a;
            partitions[to] = b;
        }
        right = right && cleave__agrid_check(agrid) &&
                cleave__cells_tile(columns, rows, partitions, EVALUATORS);
        for (uint32_t e = 0; e < EVALUATORS; e++)
            right = right && cleave__cells_equal(partitions[e], cleave__agrid_partition(agrid, e));
    }
    cleave__agrid_free(agrid);
    return right;
}

static void every_move(void **state)
{
    (void)state;
    assert_true(property_run("agrid-moves", moves, NULL, 500));
}

/* Damage is seen. */
static void check_sees(void **state)
{
    (void)state;
    struct cleave__grid grid = cleave__grid_make(0, 0, 1, 1, 4, 4);
    const struct cleave__cells partitions[] = {{0, 0, 1, 3}, {2, 0, 3, 3}};
    struct cleave__agrid *agrid;
    struct cleave_error error;
    assert_int_equal(cleave__agrid_new(&grid, partitions, 2, &agrid, &error), 0);
    agrid->cell[5] = 1;
    assert_false(cleave__agrid_check(agrid));
    agrid->cell[5] = 0;
    assert_true(cleave__agrid_check(agrid));
    agrid->part[1].x0 = 3;
    assert_false(cleave__agrid_check(agrid));
    agrid->part[1].x0 = 2;
    agrid->part[1].y1 = 4;
    assert_false(cleave__agrid_check(agrid));
    agrid->part[1].y1 = 3;
    assert_true(cleave__agrid_check(agrid));
    agrid->part[0].right = 0;
    assert_false(cleave__agrid_check(agrid));
    cleave__agrid_free(agrid);
}

static bool attempt(void *context)
{
    const struct cleave__locator_ops *ops = context;
    struct cleave__grid grid = cleave__grid_make(0, 0, 1, 1, 4, 4);
    const struct cleave__cells partitions[] = {{0, 0, 1, 3}, {2, 0, 3, 3}};
    struct cleave_error error = {0};
    void *self = NULL;
    enum cleave_status status = ops->create(&grid, partitions, 2, &self, &error);
    ops->destroy(self);
    return !status || (status == CLEAVE_NO_MEMORY && !self && error.message[0]);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (uint32_t l = 0; cleave__locators[l]; l++) {
        struct cleave__locator_ops ops = *cleave__locators[l];
        assert_true(failalloc_run(ops.name, attempt, &ops, 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),       cmocka_unit_test(what_does_not_tile),
        cmocka_unit_test(the_globe),     cmocka_unit_test(the_dominant_cell),
        cmocka_unit_test(every_locator), cmocka_unit_test(every_move),
        cmocka_unit_test(check_sees),    cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
