/* Timing of locators, and what is drawn of it (Figure 9): points by the number of partitions,
 * ranges by their size, on 1024 x 1024 cells, k-d by the cost of the workload. */
#include "stream/compare/locate.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/random.h"
#include "stream/compare/experiment.h"

enum { SIDE = 1024, POINTS = 1 << 17, RANGES = 8192, SLOW_RANGES = 512, PASSES = 5 };

static const double points_x[] = {4, 16, 64, 256, 1024};
static const double ranges_x[] = {0.0005, 0.001, 0.005, 0.01, 0.015};

uint64_t cleave__locate_digest(const uint32_t *out, uint32_t count)
{
    uint64_t sum = count;
    for (uint32_t i = 0; i < count; i++)
        sum += cleave__mix64(out[i] + 1);
    return sum;
}

double cleave__locate_points_ns(const struct cleave__locate_way *way, const double *points,
                                uint32_t count, const uint16_t *wanted, uint32_t passes)
{
    double best = INFINITY;
    uint32_t all = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t found = way->point(way->self, points[2 * i], points[2 * i + 1]);
        if (found != wanted[i])
            return -1;
        all += found;
    }
    for (uint32_t pass = 0; pass < passes; pass++) {
        uint32_t sum = 0;
        uint64_t begin = cleave__clock_ns();
        for (uint32_t i = 0; i < count; i++)
            sum += way->point(way->self, points[2 * i], points[2 * i + 1]);
        double took = (double)(cleave__clock_ns() - begin) / count;
        if (sum != all)
            return -1;
        best = took < best ? took : best;
    }
    return best;
}

double cleave__locate_ranges_ns(const struct cleave__locate_way *way,
                                const struct cleave__cells *ranges, uint32_t count,
                                uint32_t evaluators, const uint64_t *wanted, uint32_t passes)
{
    uint32_t out[CLEAVE__EVALUATORS_MOST], all = 0;
    double best = INFINITY;
    assert(evaluators <= CLEAVE__EVALUATORS_MOST);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t found = way->range(way->self, ranges[i], out);
        if (found > evaluators || cleave__locate_digest(out, found) != wanted[i])
            return -1;
        all += found;
    }
    for (uint32_t pass = 0; pass < passes; pass++) {
        uint32_t sum = 0;
        uint64_t begin = cleave__clock_ns();
        for (uint32_t i = 0; i < count; i++)
            sum += way->range(way->self, ranges[i], out);
        double took = (double)(cleave__clock_ns() - begin) / count;
        if (sum != all)
            return -1;
        best = took < best ? took : best;
    }
    return best;
}

/* ---- the parts ---- */

/* All locators of one tiling. */
struct world {
    struct cleave__grid grid;
    uint32_t evaluators, count;
    struct cleave__cells *cells; /* [evaluators] */
    struct cleave__locate_way ways[8];
    const struct cleave__locator_ops *ops[8];
};

static void world_free(struct world *w)
{
    for (uint32_t i = 0; i < w->count; i++)
        w->ops[i]->destroy(w->ways[i].self);
    free(w->cells);
}

static enum cleave_status world_make(const struct cleave__stream_play *play, uint32_t evaluators,
                                     struct world *w, struct cleave_error *error)
{
    struct cleave__streaming streaming = play->streaming;
    struct cleave__stream_play fine = *play;
    const struct cleave__box *b = &play->made->space.bounds;
    *w = (struct world){.grid = cleave__grid_make(b->x0, b->y0, b->x1, b->y1, SIDE, SIDE),
                        .evaluators = evaluators,
                        .cells = malloc(evaluators * sizeof *w->cells)};
    if (!w->cells)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for partitions");
    fine.grid_side = SIDE;
    fine.spare = 0;
    streaming.space = &play->made->space;
    streaming.grid = w->grid;
    streaming.evaluators = evaluators;
    enum cleave_status status = cleave__stream_play_partition(&fine, &streaming, w->cells, error);
    for (uint32_t i = 0; cleave__locators[i] && !status; i++) {
        const struct cleave__locator_ops *ops = cleave__locators[i];
        void *self;
        status = ops->create(&w->grid, w->cells, evaluators, &self, error);
        if (status)
            break;
        w->ops[w->count] = ops;
        w->ways[w->count++] = (struct cleave__locate_way){ops->name, self, ops->point, ops->range};
    }
    return status;
}

/* The evaluator that has a cell, by looking at all. */
static uint32_t owner(const struct world *w, uint32_t column, uint32_t row)
{
    uint32_t e = 0;
    while (!cleave__cells_have(w->cells[e], column, row))
        e++;
    return e;
}

static enum cleave_status give(const struct world *w, uint32_t way, double x, double ns, double met,
                               const struct cleave__compare_sink *sink, struct cleave_error *error)
{
    struct cleave__compare_row row;
    cleave__compare_row_init(&row, w->ops[way]->name, x);
    row.value[CLEAVE__COMPARE_MET] = met;
    row.verified = ns >= 0;
    if (ns >= 0)
        row.value[CLEAVE__COMPARE_NS] = ns;
    else
        snprintf(row.wrong, sizeof row.wrong, "%s finds other evaluators than there are",
                 w->ops[way]->name);
    return cleave__compare_give(sink, &row, error);
}

static enum cleave_status time_points(const struct world *w, uint64_t seed, double x,
                                      const struct cleave__compare_sink *sink,
                                      struct cleave_error *error)
{
    const struct cleave__grid *grid = &w->grid;
    double *points = malloc(2 * POINTS * sizeof *points);
    uint16_t *wanted = malloc(POINTS * sizeof *wanted);
    struct cleave_random random;
    enum cleave_status status = CLEAVE_OK;
    if (!points || !wanted)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for points");
    cleave__random_seed(&random, seed);
    for (uint32_t i = 0; i < POINTS && !status; i++) {
        uint32_t column = (uint32_t)cleave__random_below(&random, SIDE);
        uint32_t row = (uint32_t)cleave__random_below(&random, SIDE);
        points[2 * i] = grid->x0 + (column + 0.5) / grid->per_x;
        points[2 * i + 1] = grid->y0 + (row + 0.5) / grid->per_y;
        wanted[i] = (uint16_t)owner(w, column, row);
    }
    for (uint32_t way = 0; way < w->count && !status; way++)
        status =
            give(w, way, x, cleave__locate_points_ns(&w->ways[way], points, POINTS, wanted, PASSES),
                 1, sink, error);
    free(points);
    free(wanted);
    return status;
}

/* A range of this share of the grid, sides up to 2 : 1, anywhere. */
static struct cleave__cells draw_range(struct cleave_random *random, double share)
{
    double side = SIDE * sqrt(share) * exp2(cleave__random_real(random) - 0.5);
    uint32_t width = (uint32_t)fmin(SIDE, fmax(1, round(side)));
    uint32_t height = (uint32_t)fmin(SIDE, fmax(1, round(share * SIDE * SIDE / side)));
    uint32_t x = (uint32_t)cleave__random_below(random, SIDE - width + 1);
    uint32_t y = (uint32_t)cleave__random_below(random, SIDE - height + 1);
    return (struct cleave__cells){x, y, x + width - 1, y + height - 1};
}

static enum cleave_status time_ranges(const struct world *w, uint64_t seed, double x,
                                      const struct cleave__compare_sink *sink,
                                      struct cleave_error *error)
{
    struct cleave__cells *ranges = malloc(RANGES * sizeof *ranges);
    uint64_t *wanted = malloc(RANGES * sizeof *wanted);
    uint32_t *out = malloc(w->evaluators * sizeof *out);
    struct cleave_random random;
    enum cleave_status status = CLEAVE_OK;
    double met = 0;
    if (!ranges || !wanted || !out)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for ranges");
    cleave__random_seed(&random, seed);
    for (uint32_t i = 0; i < RANGES && !status; i++) {
        uint32_t count = 0;
        ranges[i] = draw_range(&random, x);
        for (uint32_t e = 0; e < w->evaluators; e++) {
            if (cleave__cells_meet(w->cells[e], ranges[i]))
                out[count++] = e;
        }
        wanted[i] = cleave__locate_digest(out, count);
        met += (double)count / RANGES;
    }
    for (uint32_t way = 0; way < w->count && !status; way++) {
        bool slow = w->ops[way] == &cleave__locator_scan;
        double ns = cleave__locate_ranges_ns(&w->ways[way], ranges, slow ? SLOW_RANGES : RANGES,
                                             w->evaluators, wanted, PASSES);
        status = give(w, way, x, ns, met, sink, error);
    }
    free(ranges);
    free(wanted);
    free(out);
    return status;
}

static enum cleave_status run_points(const struct cleave__compare_setting *setting,
                                     const struct cleave__compare_sink *sink,
                                     struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < setting->x_count && !status; i++) {
        struct world w;
        status = world_make(&setting->play, (uint32_t)setting->x[i], &w, error);
        if (!status)
            status = time_points(&w, setting->play.streaming.seed, setting->x[i], sink, error);
        world_free(&w);
    }
    return status;
}

static enum cleave_status run_ranges(const struct cleave__compare_setting *setting,
                                     const struct cleave__compare_sink *sink,
                                     struct cleave_error *error)
{
    struct world w;
    enum cleave_status status =
        world_make(&setting->play, setting->play.streaming.evaluators, &w, error);
    for (uint32_t i = 0; i < setting->x_count && !status; i++)
        status = time_ranges(&w, setting->play.streaming.seed, setting->x[i], sink, error);
    world_free(&w);
    return status;
}

const struct cleave__compare_part cleave__compare_points = {
    .experiment = "routing",
    .name = "points",
    .figure = "9a",
    .summary = "time to find a point's evaluator, by how many there are",
    .x_key = "evaluators",
    .x_title = "evaluators",
    .x_whole = true,
    .x_low = 1,
    .x_high = CLEAVE__EVALUATORS_MOST,
    .x = points_x,
    .x_count = sizeof points_x / sizeof *points_x,
    .figures = CLEAVE__COMPARE_BIT(NS),
    .y = CLEAVE__COMPARE_NS,
    .timed = true,
    .run = run_points};

const struct cleave__compare_part cleave__compare_ranges = {
    .experiment = "routing",
    .name = "ranges",
    .figure = "9b",
    .summary = "time to find a range's evaluators, by its share of the space",
    .x_key = "share",
    .x_title = "range, a share of the space",
    .x_low = 1e-6,
    .x_high = 1,
    .x = ranges_x,
    .x_count = sizeof ranges_x / sizeof *ranges_x,
    .figures = CLEAVE__COMPARE_BIT(NS) | CLEAVE__COMPARE_BIT(MET),
    .y = CLEAVE__COMPARE_NS,
    .timed = true,
    .run = run_ranges};
