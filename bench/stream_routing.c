/* Which evaluators does a point, or a range, go to? The A-Grid beside other ways, in one run.
 *
 *   bench/stream_routing           nanoseconds a point and a range; every answer checked
 *   bench/stream_routing check     20,000 ranges x N_e of 25, 64, 256, 1000 x 100 random k-d maps:
 *                                  partitions missed or repeated, by the A-Grid and by Tornado's
 *                                  published code, which does not step on to dominant cells
 *
 *   bench/stream_routing summary   bytes and nanoseconds of textual summaries
 *
 * The grid has 1024 x 1024 cells; partitions are k-d by the cost of a sample of objects and queries
 * at 64 hot spots (in `check` every second map is split at random lines instead). Ranges have a
 * share of the grid's area, sides up to 2:1. `queue`: Tornado's Algorithm 1 as written, its
 * queue and its marks. `rtree`: a packed tree (sort-tile-recursive) of 16 entries a node over
 * arrays, as lean as they come. `libspatialindex`: its R*-tree in memory by its C interface, if it
 * is installed. Best of 5 passes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef CLEAVE_HAVE_SPATIALINDEX
#include <spatialindex/capi/sidx_api.h>
#endif

#include "stream/compare/locate.h"
#include "stream/route/summary.h"
#include "stream/shape/partition.h"
#include "stream_route/maps.h"

enum { SIDE = 1024, RANGES = 20000, POINTS = 1 << 20, MOST = 1000, PASSES = 5 };

static const uint32_t sizes[] = {25, 64, 256, 1000};
static const double shares[] = {0.0005, 0.005, 0.015, 0.25};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *must(void *memory)
{
    if (!memory) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

static void ok(enum cleave_status status, const struct cleave_error *error)
{
    if (status) {
        fprintf(stderr, "%s\n", error->message);
        exit(1);
    }
}

/* ---- maps ---- */

/* Near a centre more often than far. */
static double near(struct cleave_random *random, double centre)
{
    double x = centre;
    for (int i = 0; i < 4; i++)
        x += (cleave__random_real(random) - 0.5) * 0.06;
    return x < 0 ? 0 : x >= 1 ? 0.999 : x;
}

static void kd_map(uint64_t seed, uint32_t evaluators, struct cleave__cells *partitions)
{
    struct cleave_random random;
    struct cleave_error error;
    struct cleave__costs *costs;
    double centre[64][2];
    cleave__random_seed(&random, seed);
    for (int i = 0; i < 64; i++) {
        centre[i][0] = cleave__random_real(&random);
        centre[i][1] = cleave__random_real(&random);
    }
    ok(cleave__costs_new(SIDE, SIDE, &costs, &error), &error);
    for (int i = 0; i < 120000; i++) {
        uint64_t spot = cleave__random_below(&random, 64);
        uint32_t x = (uint32_t)(near(&random, centre[spot][0]) * SIDE);
        uint32_t y = (uint32_t)(near(&random, centre[spot][1]) * SIDE);
        if (i % 6)
            cleave__costs_object(costs, x, y);
        else
            cleave__costs_query(costs, (struct cleave__cells){x > 5 ? x - 5 : 0, y > 5 ? y - 5 : 0,
                                                              x + 5 < SIDE ? x + 5 : SIDE - 1,
                                                              y + 5 < SIDE ? y + 5 : SIDE - 1});
    }
    cleave__costs_sum(costs);
    ok(cleave__partition_kd(costs, evaluators, 0, partitions, &error), &error);
    cleave__costs_free(costs);
}

/* ---- libspatialindex ---- */

#ifdef CLEAVE_HAVE_SPATIALINDEX
static IndexH spatialindex_new(const struct cleave__cells *partitions, uint32_t count)
{
    IndexPropertyH properties = IndexProperty_Create();
    IndexProperty_SetIndexType(properties, RT_RTree);
    IndexProperty_SetIndexVariant(properties, RT_Star);
    IndexProperty_SetIndexStorage(properties, RT_Memory);
    IndexProperty_SetDimension(properties, 2);
    IndexH index = must(Index_Create(properties));
    IndexProperty_Destroy(properties);
    for (uint32_t e = 0; e < count; e++) {
        double low[2] = {partitions[e].x0, partitions[e].y0};
        double high[2] = {partitions[e].x1 + 0.9, partitions[e].y1 + 0.9};
        if (Index_InsertData(index, e, low, high, 2, NULL, 0) != RT_None)
            exit(1);
    }
    return index;
}

static uint32_t spatialindex_find(IndexH index, double x0, double y0, double x1, double y1,
                                  uint32_t *out)
{
    double low[2] = {x0, y0}, high[2] = {x1, y1};
    int64_t *ids = NULL;
    uint64_t count = 0;
    Index_SetResultSetLimit(index, 0);
    if (Index_Intersects_id(index, low, high, 2, &ids, &count) != RT_None)
        exit(1);
    for (uint64_t i = 0; i < count; i++)
        out[i] = (uint32_t)ids[i];
    Index_Free(ids);
    return (uint32_t)count;
}

static uint32_t spatialindex_range(void *self, struct cleave__cells r, uint32_t *out)
{
    return spatialindex_find(self, r.x0, r.y0, r.x1 + 0.5, r.y1 + 0.5, out);
}

static uint32_t spatialindex_point(void *self, double x, double y)
{
    uint32_t out[4];
    x = floor(x) + 0.5; /* cells are closed and do not touch */
    y = floor(y) + 0.5;
    spatialindex_find(self, x, y, x, y, out);
    return out[0];
}
#endif

static uint32_t queue_range(void *self, struct cleave__cells range, uint32_t *out)
{
    return maps_algorithm_1(self, range, false, out);
}

/* ---- timing ---- */

static double right(const struct cleave__locate_way *way, double ns)
{
    if (ns < 0) {
        fprintf(stderr, "%s: another answer\n", way->name);
        exit(1);
    }
    return ns;
}

static void times(void)
{
    struct cleave__grid grid = cleave__grid_make(0, 0, SIDE, SIDE, SIDE, SIDE);
    double *points = must(malloc(2 * POINTS * sizeof *points));
    uint16_t *at = must(malloc(POINTS * sizeof *at));
    struct cleave__cells *ranges = must(malloc(RANGES * sizeof *ranges));
    uint64_t *answers = must(malloc(RANGES * sizeof *answers));
    struct cleave__cells partitions[MOST];
    struct cleave_random random;
    struct cleave_error error;
    uint32_t out[MOST];
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        struct cleave__locate_way ways[8];
        uint32_t count = 0;
        kd_map(n + 1, sizes[n], partitions);
        for (int l = 0; cleave__locators[l]; l++) {
            const struct cleave__locator_ops *ops = cleave__locators[l];
            ways[count] = (struct cleave__locate_way){
                .name = ops->name, .point = ops->point, .range = ops->range};
            ok(ops->create(&grid, partitions, sizes[n], &ways[count++].self, &error), &error);
        }
        ways[count++] = (struct cleave__locate_way){"queue", ways[0].self, NULL, queue_range};
#ifdef CLEAVE_HAVE_SPATIALINDEX
        ways[count++] =
            (struct cleave__locate_way){"libspatialindex", spatialindex_new(partitions, sizes[n]),
                                        spatialindex_point, spatialindex_range};
#endif
        cleave__random_seed(&random, 77);
        for (uint32_t i = 0; i < POINTS; i++) {
            points[2 * i] = cleave__random_real(&random) * SIDE;
            points[2 * i + 1] = cleave__random_real(&random) * SIDE;
            at[i] = (uint16_t)cleave__agrid_point(ways[0].self, points[2 * i], points[2 * i + 1]);
        }
        printf("\n%u evaluators        ", sizes[n]);
        for (uint32_t w = 0; w < count; w++)
            printf(" %15s", ways[w].name);
        printf("\npoint            ns   ");
        for (uint32_t w = 0; w < count; w++) {
            bool slow = !strcmp(ways[w].name, "libspatialindex");
            if (ways[w].point)
                printf(" %15.1f", right(&ways[w], cleave__locate_points_ns(
                                                      &ways[w], points, slow ? POINTS / 64 : POINTS,
                                                      at, PASSES)));
            else
                printf(" %15s", "");
        }
        for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
            double met = 0;
            for (uint32_t i = 0; i < RANGES; i++) {
                ranges[i] = maps_range_of(&random, SIDE, SIDE, shares[s]);
                uint32_t found = cleave__agrid_range(ways[0].self, ranges[i], out);
                answers[i] = cleave__locate_digest(out, found);
                met += found;
            }
            printf("\n%6.2f %% (%5.1f) ns   ", shares[s] * 100, met / RANGES);
            for (uint32_t w = 0; w < count; w++) {
                bool slow = !strcmp(ways[w].name, "libspatialindex") ||
                            (!strcmp(ways[w].name, "scan") && shares[s] > 0.1);
                printf(" %15.1f", right(&ways[w], cleave__locate_ranges_ns(
                                                      &ways[w], ranges, slow ? RANGES / 20 : RANGES,
                                                      sizes[n], answers, PASSES)));
                fflush(stdout);
            }
        }
        printf("\nbytes                ");
        for (int l = 0; cleave__locators[l]; l++) {
            printf(" %15zu", cleave__locators[l]->bytes(ways[l].self));
            cleave__locators[l]->destroy(ways[l].self);
        }
        printf("\n");
#ifdef CLEAVE_HAVE_SPATIALINDEX
        Index_Destroy(ways[count - 1].self);
#endif
    }
    free(points);
    free(at);
    free(ranges);
    free(answers);
}

/* ---- the check ---- */

static void check(void)
{
    enum { MAPS = 100 };
    struct cleave__grid grid = cleave__grid_make(0, 0, SIDE, SIDE, SIDE, SIDE);
    struct cleave__cells partitions[MOST];
    struct cleave_error error;
    uint8_t seen[MOST] = {0};
    uint32_t out[MOST], missed;
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        uint64_t wrong = 0, published[2] = {0}, lost[2] = {0};
        for (uint64_t map = 0; map < MAPS; map++) {
            struct cleave_random random;
            struct cleave__agrid *agrid;
            cleave__random_seed(&random, map * 4 + n);
            if (map % 2)
                maps_random(&random, SIDE, SIDE, sizes[n], sizes[n], partitions);
            else
                kd_map(map * 4 + n, sizes[n], partitions);
            ok(cleave__agrid_new(&grid, partitions, sizes[n], &agrid, &error), &error);
            for (int i = 0; i < RANGES; i++) {
                double share = exp(log(0.0005) + cleave__random_real(&random) * log(0.5 / 0.0005));
                struct cleave__cells range = maps_range_of(&random, SIDE, SIDE, share);
                uint32_t count = cleave__agrid_range(agrid, range, out);
                wrong += !maps_right(partitions, sizes[n], range, out, count, seen, &missed);
                count = maps_algorithm_1(agrid, range, true, out);
                published[map % 2] +=
                    !maps_right(partitions, sizes[n], range, out, count, seen, &missed);
                lost[map % 2] += missed;
            }
            cleave__agrid_free(agrid);
        }
        printf(
            "N_e %4u: %d ranges; A-Grid wrong %llu; published code: wrong on %llu ranges of the "
            "%d k-d maps by cost, %llu partitions missed; on %llu, %llu missed of the %d random\n",
            sizes[n], MAPS * RANGES, (unsigned long long)wrong, (unsigned long long)published[0],
            MAPS / 2, (unsigned long long)lost[0], (unsigned long long)published[1],
            (unsigned long long)lost[1], MAPS / 2);
        fflush(stdout);
        if (wrong)
            exit(1);
    }
}

/* ---- summaries: 64 evaluators, terms as frequent as Zipf(1.0) has them ---- */

static uint32_t zipf(struct cleave_random *random, uint32_t terms)
{
    return (uint32_t)pow(terms, cleave__random_real(random)) - 1;
}

static void summaries(void)
{
    enum { EVALUATORS = 64, TERMS_EACH = 8, OBJECTS = 1 << 20 };
    static const struct {
        uint32_t terms, adds;
    } cases[] = {{100000, 1000000}, {1000000, 5000000}, {5000000, 20000000}};
    uint32_t *terms = must(malloc(OBJECTS * TERMS_EACH * sizeof *terms));
    printf("     terms        adds    present  bytes/present   ns an add  ns an object of 8 terms"
           "  passed\n");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct cleave_random random;
        struct cleave_error error;
        struct cleave__summary *summary;
        cleave__random_seed(&random, 3);
        ok(cleave__summary_new(EVALUATORS, &summary, &error), &error);
        double begin = now();
        for (uint32_t i = 0; i < cases[c].adds; i++) /* as rare keywords of queries are */
            ok(cleave__summary_add(summary, i % EVALUATORS,
                                   (uint32_t)cleave__random_below(&random, cases[c].terms), i, true,
                                   &error),
               &error);
        double add = (now() - begin) / cases[c].adds;
        uint64_t present = 0;
        for (uint32_t e = 0; e < EVALUATORS; e++)
            present += cleave__summary_count(summary, e);
        for (uint32_t i = 0; i < OBJECTS * TERMS_EACH; i++)
            terms[i] = zipf(&random, cases[c].terms);
        double best = INFINITY;
        uint32_t passed = 0;
        for (int pass = 0; pass < PASSES; pass++) {
            passed = 0;
            begin = now();
            for (uint32_t i = 0; i < OBJECTS; i++)
                passed += cleave__summary_any(summary, (i * 2654435761u) >> 26,
                                              terms + i * TERMS_EACH, TERMS_EACH);
            double took = (now() - begin) / OBJECTS;
            best = took < best ? took : best;
        }
        printf("%10u %11u %10llu %14.1f %11.1f %24.1f %6.1f %%\n", cases[c].terms, cases[c].adds,
               (unsigned long long)present,
               (double)cleave__summary_bytes(summary) / (double)present, add, best,
               passed * 100.0 / OBJECTS);
        fflush(stdout);
        cleave__summary_free(summary);
    }
    free(terms);
}

/* The published code on one map of 256, by the size of ranges. */
static void check_sizes(void)
{
    struct cleave__grid grid = cleave__grid_make(0, 0, SIDE, SIDE, SIDE, SIDE);
    struct cleave__cells partitions[MOST];
    struct cleave_random random;
    struct cleave__agrid *agrid;
    struct cleave_error error;
    uint8_t seen[MOST] = {0};
    uint32_t out[MOST], missed;
    kd_map(3, 256, partitions);
    ok(cleave__agrid_new(&grid, partitions, 256, &agrid, &error), &error);
    cleave__random_seed(&random, 8);
    for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
        uint32_t wrong = 0;
        for (int i = 0; i < RANGES; i++) {
            struct cleave__cells range = maps_range_of(&random, SIDE, SIDE, shares[s]);
            uint32_t count = maps_algorithm_1(agrid, range, true, out);
            wrong += !maps_right(partitions, 256, range, out, count, seen, &missed);
        }
        printf("N_e  256, ranges of %.2f %%: published code wrong on %u of %d\n", shares[s] * 100,
               wrong, RANGES);
    }
    cleave__agrid_free(agrid);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "check"))
        check_sizes(), check();
    else if (argc > 1 && !strcmp(argv[1], "summary"))
        summaries();
    else
        times();
    return 0;
}
