/* Decisions: by hand, held against every operation there is, over long runs; from cells the same as
 * from sums; reports as bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stream_balance/load.h"
#include "support/failalloc.h"
#include "support/property.h"

static struct cleave__balance_report report(struct cleave__cells cells, uint64_t cost,
                                            uint64_t queries)
{
    return (struct cleave__balance_report){.cells = cells, .cost = cost, .queries = queries};
}

/* X at the left; Y and Z, which merge, at the right; one idle. */
static void by_hand(void **state)
{
    (void)state;
    struct cleave__balance_options options = {.beta = 1, .spare = 1};
    struct cleave__balance_report r[4] = {
        report((struct cleave__cells){0, 0, 3, 7}, 100, 10),
        report((struct cleave__cells){4, 0, 7, 3}, 10, 5),
        report((struct cleave__cells){4, 4, 7, 7}, 20, 3),
        report(CLEAVE__NO_CELLS, 0, 0),
    };
    r[0].can_split = true;
    r[0].split = (struct cleave__balance_part){{0, 4, 3, 7}, 45, 6};
    struct cleave__balance_decision d = cleave__balance_decide(r, 4, &options);
    assert_int_equal(d.kind, CLEAVE__BALANCE_SPLIT_MERGE);
    assert_true(d.gain == 45 && d.overhead == 9); /* 100 - 55; 6 of X and 3 of Z */
    assert_int_equal(d.step_count, 2);
    assert_int_equal(d.steps[0].from, 0); /* relief first, as one is idle */
    assert_int_equal(d.steps[0].to, 3);
    assert_int_equal(d.steps[1].from, 2);
    assert_int_equal(d.steps[1].to, 1);
    options.spare = 0;
    d = cleave__balance_decide(r, 4, &options);
    assert_int_equal(d.kind, CLEAVE__BALANCE_SPLIT);
    assert_true(d.gain == 45 && d.overhead == 6);
    d = cleave__balance_decide(r, 3, &options); /* none idle: merging first makes one so */
    assert_int_equal(d.kind, CLEAVE__BALANCE_SPLIT_MERGE);
    assert_int_equal(d.steps[0].from, 2);
    assert_int_equal(d.steps[0].to, 1);
    assert_int_equal(d.steps[1].from, 0);
    assert_int_equal(d.steps[1].to, 2);

    /* X and Y share a whole border: columns, estimated. */
    struct cleave__balance_report s[2] = {report((struct cleave__cells){0, 0, 3, 7}, 100, 10),
                                          report((struct cleave__cells){4, 0, 7, 7}, 40, 99)};
    d = cleave__balance_decide(s, 2, &options);
    assert_int_equal(d.kind, CLEAVE__BALANCE_VERTICAL);
    assert_int_equal(d.side, CLEAVE__RIGHT);
    assert_true(d.gain == 30 && d.overhead == 3); /* 100 - 140 / 2; 10 queries * 30 % */
    assert_int_equal(d.neighbour_cost, 40);
    assert_true(cleave__cells_empty(d.steps[0].cells));
    s[0].refused = 1 << CLEAVE__RIGHT;
    assert_int_equal(cleave__balance_decide(s, 2, &options).kind, CLEAVE__BALANCE_NONE);
    s[0].refused = 0;
    options.beta = 10; /* 30 is not above 30 */
    assert_int_equal(cleave__balance_decide(s, 2, &options).kind, CLEAVE__BALANCE_NONE);
    options.beta = 0;
    options.kinds = 1 << CLEAVE__BALANCE_HORIZONTAL;
    assert_int_equal(cleave__balance_decide(s, 2, &options).kind, CLEAVE__BALANCE_NONE);
    options.kinds = 0;
    s[0].edge[CLEAVE__RIGHT] = 45; /* more than half the difference */
    d = cleave__balance_decide(s, 2, &options);
    assert_true(d.gain == 15);
    s[0].edge[CLEAVE__RIGHT] = 60; /* as much as all of it */
    assert_int_equal(cleave__balance_decide(s, 2, &options).kind, CLEAVE__BALANCE_NONE);
    s[0].edge[CLEAVE__RIGHT] = UINT64_MAX; /* one column: all of it would go */
    assert_int_equal(cleave__balance_decide(s, 2, &options).kind, CLEAVE__BALANCE_NONE);

    /* A corner: Y beside the upper rows of X makes them its own. */
    struct cleave__balance_report t[3] = {report((struct cleave__cells){0, 0, 3, 7}, 100, 10),
                                          report((struct cleave__cells){4, 5, 7, 7}, 20, 1),
                                          report((struct cleave__cells){4, 0, 7, 4}, 90, 1)};
    t[0].corner_count = 1;
    t[0].corners[0].neighbour = 1;
    t[0].corners[0].part = (struct cleave__balance_part){{0, 5, 3, 7}, 30, 4};
    options.beta = 2;
    d = cleave__balance_decide(t, 3, &options);
    assert_int_equal(d.kind, CLEAVE__BALANCE_CORNER);
    assert_true(d.gain == 30 && d.overhead == 8); /* 100 - max(70, 50) */
    assert_int_equal(d.steps[0].to, 1);
    t[0].corners[0].part.cells.y0 = 6; /* a report of before */
    t[2].refused = 1 << CLEAVE__ABOVE;
    assert_int_equal(cleave__balance_decide(t, 3, &options).kind, CLEAVE__BALANCE_NONE);
    t[2].refused = 0;
    t[2].cost = 100; /* as costly as the first, which nothing helps */
    d = cleave__balance_decide(t, 3, &options);
    assert_int_equal(d.kind, CLEAVE__BALANCE_HORIZONTAL);
    assert_int_equal(d.steps[0].from, 2);
    assert_string_equal(cleave__balance_kind_name(CLEAVE__BALANCE_SPLIT_MERGE), "split-merge");
}

/* The best net gain of all operations that start at X, straight from cells and queries. */
static double best_from(const struct load *load, uint32_t x,
                        const struct cleave__balance_options *options)
{
    const struct cleave__cells *p = load->partition;
    struct cleave__balance_part half;
    struct cleave__cells joined, strip;
    enum cleave__side side;
    double cost = (double)load_cost(load, p[x]), best = 0, beta = options->beta;
    bool splits = cleave__aggregates_split(load->sums[x], p[x], &half);
    double other = cost - (double)half.cost,
           worse = other > (double)half.cost ? other : (double)half.cost;
    uint32_t idle = 0;
    for (uint32_t e = 0; e < load->evaluators; e++)
        idle += cleave__cells_empty(p[e]);
#define OFFER(net) (best = (net) > best ? (net) : best)
    if (splits && idle > options->spare)
        OFFER(cost - worse - beta * (double)half.queries);
    for (uint32_t y = 0; y < load->evaluators; y++) {
        if (y == x || cleave__cells_empty(p[y]))
            continue;
        double theirs = (double)load_cost(load, p[y]);
        for (uint32_t z = 0; splits && z < load->evaluators; z++) {
            if (z == x || z == y || cleave__cells_empty(p[z]) ||
                !cleave__cells_join(p[y], p[z], &joined))
                continue;
            double merged = (double)load_cost(load, joined);
            OFFER(cost - (merged > worse ? merged : worse) -
                  beta * (double)(half.queries + load_queries(load, p[z])));
        }
        if (theirs < cost && cleave__cells_border(p[x], p[y], &side) &&
            !(load->report[x].refused >> side & 1)) {
            uint32_t lines = side < CLEAVE__BELOW ? p[x].x1 - p[x].x0 : p[x].y1 - p[x].y0;
            double moved = 0;
            for (uint32_t n = 1; n <= lines && moved == 0; n++)
                moved = (double)load_cost(load, cleave__cells_strip(p[x], side, n));
            bool helps = moved > 0 && moved < cost - theirs;
            moved = moved > (cost - theirs) / 2 ? moved : (cost - theirs) / 2;
            if (helps)
                OFFER(cost - theirs - moved -
                      beta * (double)load_queries(load, p[x]) * (moved / cost));
        }
        if (cleave__cells_corner(p[x], p[y], &strip)) {
            double moved = (double)load_cost(load, strip);
            double after = cost - moved > theirs + moved ? cost - moved : theirs + moved;
            OFFER(cost - after - beta * (double)load_queries(load, strip));
        }
    }
#undef OFFER
    return best;
}

static uint32_t costliest(const struct load *load)
{
    uint32_t best = 0;
    for (uint32_t e = 1; e < load->evaluators; e++) {
        if (load->sums[e]->cost > load->sums[best]->cost)
            best = e;
    }
    return best;
}

static bool same_bytes(const struct cleave__balance_report *a,
                       const struct cleave__balance_report *b)
{
    struct cleave_writer one = {0}, other = {0};
    cleave__balance_report_write(a, &one);
    cleave__balance_report_write(b, &other);
    bool same = one.count == other.count && !memcmp(one.data, other.data, one.count);
    free(one.data);
    free(other.data);
    return same;
}

/* The same from every evaluator's cells, sent as bytes. */
static bool central_agrees(struct load *load, const struct cleave__balance_options *options,
                           const struct cleave__balance_decision *wanted)
{
    struct cleave__balance_report reports[LOAD_EVALUATORS_MOST];
    struct cleave_error error;
    struct cleave__aggregates *sums;
    if (cleave__aggregates_new(load->columns, load->rows, &sums, &error))
        return false;
    bool right = true;
    for (uint32_t e = 0; e < load->evaluators; e++) {
        struct cleave_writer writer = {0};
        struct cleave__cells p = CLEAVE__NO_CELLS;
        cleave__aggregates_clear(sums);
        if (!cleave__cells_empty(load->partition[e])) {
            right = right &&
                    !cleave__cell_loads_write(load->cells[e], load->partition[e], &writer, &error);
            struct cleave_reader reader = {writer.data, writer.data + writer.count, false};
            right = right && cleave__cell_loads_read(&reader, sums, &p) && !cleave__left(&reader);
        }
        free(writer.data);
        right = right && cleave__cells_equal(p, load->partition[e]);
        cleave__balance_report_make(sums, e, load->partition, load->evaluators, &reports[e]);
        reports[e].refused = load->report[e].refused;
        right = right && same_bytes(&reports[e], &load->report[e]);
    }
    struct cleave__balance_decision d = cleave__balance_decide(reports, load->evaluators, options);
    cleave__aggregates_free(sums);
    return right && d.kind == wanted->kind && d.gain == wanted->gain &&
           d.overhead == wanted->overhead && d.steps[0].from == wanted->steps[0].from &&
           d.steps[0].to == wanted->steps[0].to;
}

struct seen {
    uint32_t kinds[CLEAVE__BALANCE_KINDS], refused;
};

/* A run of decisions, each carried out. */
static bool sequence(struct property_source *source, void *context)
{
    struct seen *seen = context;
    struct cleave_random random;
    struct load load;
    uint32_t columns = 1 + (uint32_t)property_draw(source, 12);
    uint32_t rows = 1 + (uint32_t)property_draw(source, 12);
    uint32_t most = columns * rows < 10 ? columns * rows : 10;
    uint32_t active = 1 + (uint32_t)property_draw(source, most);
    uint32_t evaluators = active + (uint32_t)property_draw(source, 3);
    uint32_t objects = (uint32_t)property_draw(source, 80);
    uint32_t queries = (uint32_t)property_draw(source, 30);
    bool exact = property_draw(source, 2);
    struct cleave__balance_options options = {.beta = (double)property_draw(source, 8) / 4,
                                              .spare = (uint32_t)property_draw(source, 2)};
    cleave__random_seed(&random, property_draw(source, UINT64_MAX));
    load_make(&load, &random, columns, rows, active, evaluators, objects, queries);
    bool right = true;
    for (int step = 0; step < 8 && right; step++) {
        load_report(&load);
        struct cleave__balance_decision d =
            cleave__balance_decide(load.report, evaluators, &options);
        if (source->verbose)
            printf("%s %u -> %u, gain %g, overhead %g\n", cleave__balance_kind_name(d.kind),
                   d.steps[0].from, d.steps[0].to, d.gain, d.overhead);
        if (step == 0)
            right = central_agrees(&load, &options, &d);
        if (exact || step == 0) {
            double best = best_from(&load, costliest(&load), &options), net = d.gain - d.overhead;
            right =
                right && (best > 0 ? net > best * (1 - 1e-12) && net < best * (1 + 1e-12)
                                   : d.kind == CLEAVE__BALANCE_NONE ||
                                         d.steps[0].from != costliest(&load) || d.step_count == 2);
        }
        seen->kinds[d.kind]++;
        if (d.kind == CLEAVE__BALANCE_NONE)
            break;
        uint64_t before = load_worst(&load);
        uint32_t refused = load.report[d.steps[0].from].refused;
        right = right && d.gain > d.overhead && load_apply(&load, &d, exact) &&
                cleave__cells_tile(columns, rows, load.partition, evaluators);
        seen->refused += load.report[d.steps[0].from].refused > refused;
        if (exact) /* no figure is an estimate, so nothing gets worse */
            right = right && load_worst(&load) <= before;
        for (uint32_t e = 0; e < evaluators; e++)
            right = right && cleave__aggregates_check(load.sums[e], load.partition[e]) &&
                    load.sums[e]->queries == load_queries(&load, load.partition[e]);
    }
    load_free(&load);
    return right;
}

static void sequences(void **state)
{
    (void)state;
    struct seen seen = {0};
    assert_true(property_run("balance", sequence, &seen, 10000));
    for (int k = 0; k < CLEAVE__BALANCE_KINDS; k++) {
        printf("%s: %u\n", cleave__balance_kind_name((enum cleave__balance_kind)k), seen.kinds[k]);
        assert_true(seen.kinds[k] > 0);
    }
    assert_int_equal(seen.refused, 0); /* no shift is asked for that finds no line */
}

/* A hot spot under random partitions: rebalancing comes to an end, and to a good one. */
static void it_settles(void **state)
{
    (void)state;
    struct cleave_random random;
    cleave__random_seed(&random, 5);
    double first = 0, last = 0;
    for (int trial = 0; trial < 20; trial++) {
        struct load load;
        load_make(&load, &random, 64, 64, 15, 16, 20000, 300);
        const struct cleave__balance_options options = {.beta = 5, .spare = 1};
        uint64_t all = load_cost(&load, (struct cleave__cells){0, 0, 63, 63});
        int steps = 0;
        first += (double)load_worst(&load) * 15 / (double)all;
        for (;; steps++) {
            load_report(&load);
            struct cleave__balance_decision d = cleave__balance_decide(load.report, 16, &options);
            if (d.kind == CLEAVE__BALANCE_NONE)
                break;
            assert_true(load_apply(&load, &d, true));
            assert_true(steps < 1000);
        }
        double ratio = (double)load_worst(&load) * 15 / (double)all, cell = 0;
        for (uint32_t i = 0; i < 64 * 64; i++) {
            double one = (double)load.cost[i] * 15 / (double)all;
            cell = one > cell ? one : cell;
        }
        assert_true(ratio < 2 || ratio <= cell); /* a cell is not split */
        last += ratio;
        load_free(&load);
    }
    printf("greatest load, of the mean of 15: %.2f, then %.2f\n", first / 20, last / 20);
    assert_true(last < 0.25 * first);
}

static bool bytes_back(struct property_source *source, void *context)
{
    (void)context;
    struct cleave_random random;
    struct load load;
    uint32_t evaluators = 1 + (uint32_t)property_draw(source, 8);
    cleave__random_seed(&random, property_draw(source, UINT64_MAX));
    load_make(&load, &random, 9, 9, evaluators, evaluators + 1, 50, 20);
    load_report(&load);
    bool right = true;
    for (uint32_t e = 0; e <= evaluators; e++) {
        struct cleave__balance_report back;
        struct cleave_writer writer = {0};
        load.report[e].refused = !cleave__cells_empty(load.report[e].cells) *
                                 (uint32_t)property_draw(source, 1 << CLEAVE__SIDES);
        cleave__balance_report_write(&load.report[e], &writer);
        struct cleave_reader reader = {writer.data, writer.data + writer.count, false};
        memset(&back, 0xee, sizeof back);
        right = right && cleave__balance_report_read(&reader, 9, 9, &back) &&
                cleave__left(&reader) == 0 && back.cost == load.report[e].cost &&
                back.refused == load.report[e].refused &&
                !memcmp(back.edge, load.report[e].edge, sizeof back.edge) &&
                back.corner_count == load.report[e].corner_count &&
                !memcmp(back.corners, load.report[e].corners, sizeof back.corners) &&
                cleave__cells_equal(back.split.cells, load.report[e].split.cells);
        for (size_t length = 0; length < writer.count; length++) { /* cut short: refused */
            reader = (struct cleave_reader){writer.data, writer.data + length, false};
            right = right && !cleave__balance_report_read(&reader, 9, 9, &back);
        }
        for (int i = 0; i < 50 && right;
             i++) { /* altered: refused, or something that makes sense */
            size_t at = property_draw(source, writer.count);
            uint8_t old = writer.data[at];
            writer.data[at] = (uint8_t)property_draw(source, 256);
            reader = (struct cleave_reader){writer.data, writer.data + writer.count, false};
            if (cleave__balance_report_read(&reader, 9, 9, &back))
                right = cleave__cells_empty(back.cells) ||
                        (back.cells.x1 < 9 && back.cells.y1 < 9 &&
                         (!back.can_split || cleave__cells_within(back.split.cells, back.cells)));
            writer.data[at] = old;
        }
        free(writer.data);
        struct cleave__aggregates *sums = load.sums[e];
        struct cleave__cells p = load.partition[e];
        struct cleave_error error;
        if (cleave__cells_empty(p))
            continue;
        writer = (struct cleave_writer){0};
        right = right && !cleave__cell_loads_write(load.cells[e], p, &writer, &error);
        for (int i = 0; i < 50 && right; i++) {
            size_t at = property_draw(source, writer.count);
            uint8_t old = writer.data[at];
            writer.data[at] = (uint8_t)property_draw(source, 256);
            reader = (struct cleave_reader){writer.data, writer.data + writer.count, false};
            if (cleave__cell_loads_read(&reader, sums, &p))
                right = cleave__aggregates_check(sums, p);
            writer.data[at] = old;
        }
        free(writer.data);
    }
    load_free(&load);
    return right;
}

static void reports_as_bytes(void **state)
{
    (void)state;
    assert_true(property_run("balance-bytes", bytes_back, NULL, 200));
}

static bool attempt(void *context)
{
    (void)context;
    struct cleave__cell_loads *loads = NULL;
    struct cleave_error error = {0};
    struct cleave_writer writer = {0};
    enum cleave_status status = cleave__cell_loads_new(5, 5, &loads, &error);
    if (!status) {
        cleave__cell_loads_object(loads, 3, 3, 7);
        status =
            cleave__cell_loads_write(loads, (struct cleave__cells){0, 0, 4, 4}, &writer, &error);
    }
    free(writer.data);
    free(loads);
    return !status || (status == CLEAVE_NO_MEMORY && error.message[0]);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(failalloc_run("central", attempt, NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(sequences),
        cmocka_unit_test(it_settles),
        cmocka_unit_test(reports_as_bytes),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
