/* Costs of cells beside a count of each; first partitions beside a search of every line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stream/shape/partition.h"
#include "stream_route/maps.h"
#include "support/failalloc.h"
#include "support/property.h"

enum { SIDE = 14, EVALUATORS = 20 };

struct counts {
    uint32_t columns, rows;
    uint64_t objects[SIDE][SIDE], queries[SIDE][SIDE];
    struct cleave__costs *costs;
};

static void count(struct counts *counts, struct property_source *source)
{
    struct cleave_random random;
    struct cleave_error error;
    memset(counts, 0, sizeof *counts);
    counts->columns = 1 + (uint32_t)property_draw(source, SIDE);
    counts->rows = 1 + (uint32_t)property_draw(source, SIDE);
    uint64_t objects = property_draw(source, 60), queries = property_draw(source, 30);
    cleave__random_seed(&random, property_draw(source, UINT64_MAX));
    assert_int_equal(cleave__costs_new(counts->columns, counts->rows, &counts->costs, &error), 0);
    for (; objects; objects--) {
        uint32_t x = (uint32_t)cleave__random_below(&random, counts->columns);
        uint32_t y = (uint32_t)cleave__random_below(&random, counts->rows);
        counts->objects[y][x]++;
        cleave__costs_object(counts->costs, x, y);
    }
    for (; queries; queries--) {
        struct cleave__cells range = maps_range(&random, counts->columns, counts->rows);
        cleave__costs_query(counts->costs, range);
        for (uint32_t y = range.y0; y <= range.y1; y++) {
            for (uint32_t x = range.x0; x <= range.x1; x++)
                counts->queries[y][x]++;
        }
    }
    cleave__costs_sum(counts->costs);
}

static uint64_t cost_of(const struct counts *counts, struct cleave__cells c)
{
    uint64_t cost = 0;
    for (uint32_t y = c.y0; y <= c.y1; y++) {
        for (uint32_t x = c.x0; x <= c.x1; x++)
            cost += (counts->objects[y][x] + 1) * (counts->queries[y][x] + 1);
    }
    return cost;
}

/* The greater half of the best split; UINT64_MAX: one cell. */
static uint64_t best_split(const struct counts *counts, struct cleave__cells p)
{
    uint64_t best = UINT64_MAX;
    for (int side = 0; side < 4; side += 2) {
        uint32_t lines = side ? p.y1 - p.y0 : p.x1 - p.x0;
        for (uint32_t n = 1; n <= lines; n++) {
            uint64_t part = cost_of(counts, cleave__cells_strip(p, (enum cleave__side)side, n));
            uint64_t rest = cost_of(counts, p) - part, worst = part > rest ? part : rest;
            best = worst < best ? worst : best;
        }
    }
    return best;
}

static bool all_idle(const struct cleave__cells *partitions, uint32_t from, uint32_t to)
{
    for (; from < to; from++) {
        if (!cleave__cells_empty(partitions[from]))
            return false;
    }
    return true;
}

/* One evaluator more: the costliest partition that has two cells is split, as well as can be, and
 * nothing else changes. */
static bool one_more(const struct counts *counts, const struct cleave__cells *few,
                     const struct cleave__cells *more, uint32_t active)
{
    uint32_t changed = active;
    uint64_t most = 0;
    for (uint32_t e = 0; e < active; e++) {
        if (cleave__cells_count(few[e]) > 1 && cost_of(counts, few[e]) > most)
            most = cost_of(counts, few[e]);
        if (cleave__cells_equal(few[e], more[e]))
            continue;
        if (changed != active)
            return false;
        changed = e;
    }
    if (most == 0)
        return changed == active && cleave__cells_empty(more[active]);
    struct cleave__cells whole;
    if (changed == active || cost_of(counts, few[changed]) != most ||
        !cleave__cells_join(more[changed], more[active], &whole) ||
        !cleave__cells_equal(whole, few[changed]))
        return false;
    uint64_t one = cost_of(counts, more[changed]), other = cost_of(counts, more[active]);
    return (one > other ? one : other) == best_split(counts, whole);
}

static bool kd(struct property_source *source, void *context)
{
    (void)context;
    struct counts counts;
    struct cleave_error error;
    struct cleave__cells few[EVALUATORS], more[EVALUATORS];
    struct cleave_random random;
    count(&counts, source);
    cleave__random_seed(&random, 1);
    bool right = true;
    for (int i = 0; i < 20; i++) {
        struct cleave__cells range = maps_range(&random, counts.columns, counts.rows);
        right = right && cleave__costs_of(counts.costs, range) == cost_of(&counts, range);
    }
    right = right && cleave__costs_of(counts.costs, CLEAVE__NO_CELLS) == 0;
    for (uint32_t active = 1; active <= EVALUATORS && right; active++) {
        uint32_t spare = EVALUATORS - active;
        right = !cleave__partition_kd(counts.costs, EVALUATORS, spare, more, &error) &&
                cleave__cells_tile(counts.columns, counts.rows, more, EVALUATORS) &&
                all_idle(more, active, EVALUATORS);
        if (active > 1)
            right = right && one_more(&counts, few, more, active - 1);
        memcpy(few, more, sizeof few);
    }
    cleave__costs_free(counts.costs);
    return right;
}

static void kd_splits_the_costliest(void **state)
{
    (void)state;
    assert_true(property_run("partition-kd", kd, NULL, 300));
}

static bool uniform(struct property_source *source, void *context)
{
    (void)context;
    struct cleave__cells parts[EVALUATORS];
    uint32_t columns = 1 + (uint32_t)property_draw(source, 200);
    uint32_t rows = 1 + (uint32_t)property_draw(source, 200);
    uint32_t active = 1 + (uint32_t)property_draw(source, EVALUATORS), used = 0;
    uint64_t cells = (uint64_t)columns * rows, least = UINT64_MAX, most = 0;
    cleave__partition_uniform(columns, rows, EVALUATORS, EVALUATORS - active, parts);
    for (uint32_t e = 0; e < EVALUATORS; e++) {
        uint64_t size = cleave__cells_count(parts[e]);
        used += size > 0;
        if (size && size < least)
            least = size;
        most = size > most ? size : most;
    }
    if (source->verbose)
        printf("%u x %u for %u: %u used, %d to %d cells\n", columns, rows, active, used, (int)least,
               (int)most);
    return cleave__cells_tile(columns, rows, parts, EVALUATORS) &&
           all_idle(parts, active, EVALUATORS) && used == (active < cells ? active : cells) &&
           /* Lines are whole: where sides are long they hardly matter. */
           (columns < 100 || rows < 100 || (double)most < 1.25 * (double)least);
}

static void uniform_is_even(void **state)
{
    struct cleave__cells parts[EVALUATORS];
    (void)state;
    for (uint32_t columns = 1; columns <= 6; columns++) { /* hardly a cell each */
        for (uint32_t rows = 1; rows <= 6; rows++) {
            for (uint32_t active = 1; active <= EVALUATORS; active++) {
                uint32_t used = active < columns * rows ? active : columns * rows;
                cleave__partition_uniform(columns, rows, EVALUATORS, EVALUATORS - active, parts);
                assert_true(cleave__cells_tile(columns, rows, parts, EVALUATORS));
                assert_true(all_idle(parts, used, EVALUATORS));
                assert_false(cleave__cells_empty(parts[used - 1]));
            }
        }
    }
    assert_true(property_run("partition-uniform", uniform, NULL, 3000));
}

static bool attempt(void *context)
{
    (void)context;
    struct cleave__costs *costs = NULL;
    struct cleave_error error = {0};
    struct cleave__cells partitions[4];
    enum cleave_status status = cleave__costs_new(5, 5, &costs, &error);
    if (!status) {
        cleave__costs_sum(costs);
        status = cleave__partition_kd(costs, 4, 1, partitions, &error);
    }
    cleave__costs_free(costs);
    return !status || (status == CLEAVE_NO_MEMORY && error.message[0]);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(failalloc_run("partition", attempt, NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kd_splits_the_costliest),
        cmocka_unit_test(uniform_is_even),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
