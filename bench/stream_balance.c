/* What balancing sends and takes: reports of sums (decentralized) beside figures of every cell
 * (centralized), which lead to the same decision.
 *
 *   bench/stream_balance
 *
 * Objects and queries lie around 64 hot spots, twenty objects a query; partitions are uniform, and
 * a query's range has 2 % of the grid's side. Each line is one round: every evaluator says what it
 * has, once. Then decisions are carried out until none is left: how even is the load? */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/random.h"
#include "stream/balance/central.h"
#include "stream/balance/decide.h"
#include "stream/shape/partition.h"

enum { MOST = 100 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void ok(enum cleave_status status, const struct cleave_error *error)
{
    if (status) {
        fprintf(stderr, "%s\n", error->message);
        exit(1);
    }
}

static void *must(void *memory)
{
    if (!memory) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

static double near(struct cleave_random *random, double centre)
{
    double x = centre;
    for (int i = 0; i < 4; i++)
        x += (cleave__random_real(random) - 0.5) * 0.06;
    return x < 0 ? 0 : x >= 1 ? 0.999 : x;
}

struct world {
    uint32_t side, evaluators, query_count;
    uint64_t *cost;
    struct cleave__cells *queries, partitions[MOST];
    struct cleave__aggregates *sums[MOST];
    struct cleave__balance_report reports[MOST];
};

static void sum_up(struct world *w, uint32_t e)
{
    struct cleave__cells p = w->partitions[e];
    cleave__aggregates_clear(w->sums[e]);
    if (cleave__cells_empty(p))
        return;
    for (uint32_t y = p.y0; y <= p.y1; y++) {
        for (uint32_t x = p.x0; x <= p.x1; x++)
            cleave__aggregates_object(w->sums[e], x, y, w->cost[(size_t)y * w->side + x]);
    }
    for (uint32_t q = 0; q < w->query_count; q++) {
        if (cleave__cells_meet(w->queries[q], p))
            cleave__aggregates_add_query(w->sums[e], w->queries[q]);
    }
}

static double busiest(const struct world *w) /* of the mean */
{
    uint64_t worst = 0, all = 0;
    for (uint32_t e = 0; e < w->evaluators; e++) {
        worst = w->sums[e]->cost > worst ? w->sums[e]->cost : worst;
        all += w->sums[e]->cost;
    }
    return (double)worst * w->evaluators / (double)all;
}

static void move(struct world *w, const struct cleave__balance_step *step,
                 struct cleave__cells cells)
{
    struct cleave__cells rest, whole;
    if (!cleave__cells_cut(w->partitions[step->from], cells, &rest) ||
        !cleave__cells_join(w->partitions[step->to], cells, &whole)) {
        fputs("no rectangle is left\n", stderr);
        exit(1);
    }
    w->partitions[step->from] = rest;
    w->partitions[step->to] = whole;
    sum_up(w, step->from);
    sum_up(w, step->to);
}

static void report(struct world *w)
{
    for (uint32_t e = 0; e < w->evaluators; e++)
        cleave__balance_report_make(w->sums[e], e, w->partitions, w->evaluators, &w->reports[e]);
}

static void run(uint32_t side, uint32_t evaluators, uint32_t objects)
{
    struct world w = {.side = side, .evaluators = evaluators, .query_count = objects / 20};
    const struct cleave__balance_options options = {.beta = 1, .spare = 1};
    struct cleave_random random;
    struct cleave_error error;
    struct cleave_writer sums = {0}, cells = {0};
    double centre[64][2];
    cleave__random_seed(&random, 9);
    for (int i = 0; i < 64; i++) {
        centre[i][0] = cleave__random_real(&random);
        centre[i][1] = cleave__random_real(&random);
    }
    w.cost = must(calloc((size_t)side * side, sizeof *w.cost));
    w.queries = must(malloc(w.query_count * sizeof *w.queries));
    for (uint32_t i = 0; i < objects + w.query_count; i++) {
        uint64_t spot = cleave__random_below(&random, 64);
        spot = cleave__random_below(&random, spot + 1); /* some are hotter */
        double x = near(&random, centre[spot][0]), y = near(&random, centre[spot][1]);
        uint32_t cx = (uint32_t)(x * side), cy = (uint32_t)(y * side);
        uint32_t reach = (uint32_t)(0.01 * side);
        if (i < objects)
            w.cost[(size_t)cy * side + cx] += 8 + cleave__random_below(&random, 30);
        else
            w.queries[i - objects] =
                (struct cleave__cells){cx > reach ? cx - reach : 0, cy > reach ? cy - reach : 0,
                                       cx + reach < side ? cx + reach : side - 1,
                                       cy + reach < side ? cy + reach : side - 1};
    }
    cleave__partition_uniform(side, side, evaluators, 1, w.partitions);
    for (uint32_t e = 0; e < evaluators; e++) {
        ok(cleave__aggregates_new(side, side, &w.sums[e], &error), &error);
        sum_up(&w, e);
    }
    double begin = now();
    report(&w);
    double reporting = (now() - begin) / evaluators;
    for (uint32_t e = 0; e < evaluators; e++) {
        struct cleave__cells p = w.partitions[e];
        struct cleave__cell_loads *loads;
        cleave__balance_report_write(&w.reports[e], &sums);
        if (cleave__cells_empty(p))
            continue;
        ok(cleave__cell_loads_new(side, side, &loads, &error), &error);
        for (uint32_t y = p.y0; y <= p.y1; y++) {
            for (uint32_t x = p.x0; x <= p.x1; x++)
                cleave__cell_loads_object(loads, x, y, w.cost[(size_t)y * side + x]);
        }
        for (uint32_t q = 0; q < w.query_count; q++) {
            if (cleave__cells_meet(w.queries[q], p))
                cleave__cell_loads_add_query(loads, w.queries[q]);
        }
        ok(cleave__cell_loads_write(loads, p, &cells, &error), &error);
        free(loads);
    }
    begin = now();
    struct cleave__balance_decision d = cleave__balance_decide(w.reports, evaluators, &options);
    double deciding = now() - begin, before = busiest(&w);
    uint32_t rounds = 0, kinds[CLEAVE__BALANCE_KINDS] = {0};
    for (; d.kind != CLEAVE__BALANCE_NONE && rounds < 10000; rounds++) {
        struct cleave__balance_part part;
        kinds[d.kind]++;
        if (d.kind == CLEAVE__BALANCE_HORIZONTAL || d.kind == CLEAVE__BALANCE_VERTICAL) {
            if (cleave__aggregates_shift(w.sums[d.steps[0].from], w.partitions[d.steps[0].from],
                                         d.side, d.neighbour_cost, &part))
                move(&w, &d.steps[0], part.cells);
        } else {
            for (uint32_t i = 0; i < d.step_count; i++)
                move(&w, &d.steps[i], d.steps[i].cells);
        }
        report(&w);
        d = cleave__balance_decide(w.reports, evaluators, &options);
    }
    printf("%4u^2 %10u %12zu %12zu %8.0f x %8.1f %8.1f   %5.2f -> %.2f in %u:", side, evaluators,
           sums.count, cells.count, (double)cells.count / (double)sums.count, reporting, deciding,
           before, busiest(&w), rounds);
    for (int k = 1; k < CLEAVE__BALANCE_KINDS; k++)
        printf(" %u %s", kinds[k], cleave__balance_kind_name((enum cleave__balance_kind)k));
    printf("\n");
    for (uint32_t e = 0; e < evaluators; e++)
        cleave__aggregates_free(w.sums[e]);
    free(w.cost);
    free(w.queries);
    free(sums.data);
    free(cells.data);
}

int main(void)
{
    printf(
        "  grid evaluators  sums bytes  cells bytes      ratio  us/report us/decision  busiest of "
        "the mean\n");
    for (uint32_t side = 64; side <= 1024; side *= 4) {
        run(side, 10, 200000);
        run(side, 40, 200000);
        run(side, 100, 200000);
    }
    return 0;
}
