/* The checks of comparisons, first shown to fail: a locator that is wrong, a sink without memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stream/compare/calibrate.h"
#include "stream/compare/experiment.h"
#include "stream/compare/locate.h"
#include "support/failalloc.h"

enum { SIDE = 8 };

struct lie {
    uint32_t calls, from; /* from this call on it answers wrongly */
};

/* Two evaluators: left and right half. */
static uint32_t truth(uint32_t column)
{
    return column >= SIDE / 2;
}

static uint32_t point(void *self, double x, double y)
{
    struct lie *lie = self;
    (void)y;
    return lie->calls++ >= lie->from ? !truth((uint32_t)x) : truth((uint32_t)x);
}

static uint32_t range(void *self, struct cleave__cells cells, uint32_t *out)
{
    struct lie *lie = self;
    uint32_t count = 0;
    if (!truth(cells.x0))
        out[count++] = 0;
    if (truth(cells.x1))
        out[count++] = 1;
    return lie->calls++ >= lie->from && count ? count - 1 : count;
}

static void a_wrong_locator(void **state)
{
    (void)state;
    const double points[] = {1.5, 1.5, 6.5, 1.5, 3.5, 7.5};
    const uint16_t wanted[] = {0, 1, 0};
    const struct cleave__cells ranges[] = {{0, 0, 7, 7}, {0, 0, 1, 1}, {5, 0, 5, 7}};
    const uint32_t both[] = {1, 0}, left[] = {0}, right[] = {1};
    const uint64_t digests[] = {cleave__locate_digest(both, 2), cleave__locate_digest(left, 1),
                                cleave__locate_digest(right, 1)};
    static const uint32_t froms[] = {0, 1, 2, 9};
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t from = froms[i];
        struct lie lie = {0, from == 9 ? UINT32_MAX : from};
        struct cleave__locate_way way = {"lie", &lie, point, range};
        double ns = cleave__locate_points_ns(&way, points, 3, wanted, 2);
        assert_int_equal(ns >= 0, from == 9);
        lie.calls = 0;
        ns = cleave__locate_ranges_ns(&way, ranges, 3, 2, digests, 2);
        assert_int_equal(ns >= 0, from == 9);
    }
}

static bool no_room(void *context, const struct cleave__compare_row *row)
{
    (void)row;
    ++*(int *)context;
    return false;
}

static struct cleave__stream_play small(const struct cleave__stream_options *made)
{
    return (struct cleave__stream_play){
        .made = made,
        .objects = 500,
        .queries = 100,
        .grid_side = 16,
        .sample = 100,
        .streaming = {.transport = &cleave__sim,
                      .evaluators = 4,
                      .routers = 2,
                      .matcher = &cleave__matcher_index,
                      .balance_every_ns = 1000000,
                      .delay = {.kind = CLEAVE_CONSTANT, .low_ns = 1000}}};
}

/* Every part ends with its error when the first row meets no memory. */
static void a_full_sink(void **state)
{
    (void)state;
    for (uint32_t i = 0; cleave__compare_parts[i]; i++) {
        const struct cleave__compare_part *part = cleave__compare_parts[i];
        struct cleave__stream_options made = cleave__stream_defaults;
        double x = part->x[0] < 1000 ? part->x[0] : 1000;
        int rows = 0;
        struct cleave__compare_setting setting = {
            .play = small(&made), .costs = {.scan_candidate_ns = 1}, .x = &x, .x_count = 1};
        struct cleave__compare_sink sink = {no_room, &rows};
        struct cleave_error error;
        assert_int_equal(part->run(&setting, &sink, &error), CLEAVE_NO_MEMORY);
        assert_int_equal(rows, 1);
        assert_true(part->x_count && part->figures >> part->y & 1);
    }
}

static bool keep(void *context, const struct cleave__compare_row *row)
{
    *(struct cleave__compare_row *)context = *row;
    return true;
}

/* A row has what the run had, and says what its check said. */
static void a_row(void **state)
{
    (void)state;
    struct cleave__stream_options made = cleave__stream_defaults;
    struct cleave__stream_play play = small(&made);
    struct cleave__compare_row row;
    struct cleave__compare_sink sink = {keep, &row};
    struct cleave_error error;
    made.words = 3;
    made.vocabulary = 5;
    assert_int_equal(cleave__compare_play(&play, "agrid", 7, &sink, &error), CLEAVE_OK);
    assert_true(row.verified && row.x == 7);
    assert_true(row.value[CLEAVE__COMPARE_MATCHES] > 0);
    assert_true(row.value[CLEAVE__COMPARE_OBJECTS_PER_S] > 0);
    assert_true(row.value[CLEAVE__COMPARE_NS] != row.value[CLEAVE__COMPARE_NS]); /* NaN: none */
    assert_string_equal(row.way, "agrid");
}

static void costs(void **state)
{
    (void)state;
    struct cleave__stream_options made = cleave__stream_defaults;
    struct cleave__stream_play play = small(&made);
    struct cleave__stream_costs costs = {0};
    struct cleave_error error;
    assert_int_equal(cleave__stream_calibrate(&play, &costs, &error), CLEAVE_OK);
    const struct cleave__streaming_service *s = &costs.service;
    assert_true(s->route_object_ns && s->route_query_ns && s->keyword_ns && s->match_object_ns &&
                s->match_candidate_ns && s->store_query_ns && s->message_ns);
    assert_true(costs.scan_candidate_ns && costs.cells_candidate_ns);
    play.queries = 0;
    costs.scan_candidate_ns = 77;
    assert_int_equal(cleave__stream_calibrate(&play, &costs, &error), CLEAVE_BAD_ARGUMENT);
    assert_int_equal(costs.scan_candidate_ns, 77);
}

static bool attempt(void *context)
{
    const struct cleave__compare_part *part = context;
    struct cleave__stream_options made = cleave__stream_defaults;
    double x = part->x[0];
    struct cleave__compare_row row;
    struct cleave__compare_setting setting = {.play = small(&made), .x = &x, .x_count = 1};
    struct cleave__compare_sink sink = {keep, &row};
    struct cleave_error error = {0};
    made.vocabulary = 50;
    setting.play.objects = 40;
    setting.play.queries = 10;
    enum cleave_status status = part->run(&setting, &sink, &error);
    return !status || (status == CLEAVE_NO_MEMORY && error.message[0]);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct cleave__compare_part parts[] = {cleave__compare_points, cleave__compare_ranges,
                                           cleave__compare_words, cleave__compare_scale};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_true(failalloc_run(parts[i].name, attempt, &parts[i], 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_locator),
        cmocka_unit_test(a_full_sink),
        cmocka_unit_test(a_row),
        cmocka_unit_test(costs),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
