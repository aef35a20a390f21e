/* Space against slow definitions of another kind: great circles by unit vectors, rectangles by
 * going round in whole turns. Points lie near borders, poles and the antimeridian, on eighths of a
 * degree so that sums are exact, and at the next number to either side. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "stream/query/space.h"
#include "support/property.h"

static const struct cleave__space plane = {CLEAVE__PLANE, {0, 0, 100, 100}};

static double eighths(struct property_source *source, int64_t low, int64_t high)
{
    return (double)property_between(source, low * 8, high * 8) / 8;
}

/* Sometimes the number next to it. */
static double nudge(struct property_source *source, double x)
{
    switch (property_draw(source, 6)) {
    case 0:
        return nextafter(x, INFINITY);
    case 1:
        return nextafter(x, -INFINITY);
    default:
        return x;
    }
}

static double degrees_between(double x0, double y0, double x1, double y1)
{
    const double d = 3.14159265358979323846 / 180;
    double a[3] = {cos(y0 * d) * cos(x0 * d), cos(y0 * d) * sin(x0 * d), sin(y0 * d)};
    double b[3] = {cos(y1 * d) * cos(x1 * d), cos(y1 * d) * sin(x1 * d), sin(y1 * d)};
    double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    return atan2(sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]),
                 a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) /
           d;
}

/* How many boxes have it. */
static int boxes_with(const struct cleave__space *space, const struct cleave__region *region,
                      double x, double y)
{
    struct cleave__box boxes[CLEAVE__REGION_BOXES_MOST];
    uint32_t count = cleave__region_boxes(space, region, boxes);
    int found = count < 1 || count > CLEAVE__REGION_BOXES_MOST ? 100 : 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!(boxes[i].x0 <= boxes[i].x1 && boxes[i].y0 <= boxes[i].y1))
            return 100;
        found += cleave__box_has(&boxes[i], x, y);
    }
    return found;
}

static bool points_are_canonical(struct property_source *source, void *context)
{
    (void)context;
    double x = nudge(source, eighths(source, -1000, 1000)),
           y = nudge(source, eighths(source, -90, 90));
    double cx = x, cy = y;
    bool there = cleave__space_point(&cleave__globe, &cx, &cy);
    if (fabs(y) > 90)
        return !there && cx == x && cy == y;
    double again = cx, turns = (x - cx) / 360;
    return there && cy == y && cx >= -180 && cx < 180 &&
           (fabs(y) == 90 ? cx == 0 : fabs(turns - round(turns)) < 1e-12) &&
           cleave__space_point(&cleave__globe, &again, &cy) && again == cx;
}

/* Some point of interest: near a corner of the region, a pole, the antimeridian, or anywhere. */
static void draw_point(struct property_source *source, const double xs[2], const double ys[2],
                       double *x, double *y)
{
    double some_x[] = {xs[0], xs[1], -180, 180, 0, eighths(source, -360, 360)};
    double some_y[] = {ys[0], ys[1], -90, 90, eighths(source, -90, 90)};
    *x = nudge(source, some_x[property_draw(source, 6)]) +
         (double)property_between(source, -1, 1) / 8;
    *y = nudge(source, some_y[property_draw(source, 5)]);
    *y = fmin(90, fmax(-90, *y));
}

static bool rectangles_go_round(struct property_source *source, void *context)
{
    (void)context;
    double west = eighths(source, -400, 400), width = eighths(source, 0, 370);
    double a = eighths(source, -90, 90), b = eighths(source, -90, 90);
    if (property_draw(source, 4) == 0)
        b = 90;
    double south = fmin(a, b), north = fmax(a, b);
    struct cleave__region region = {CLEAVE__RECTANGLE, west, south, west + width, north, 0};
    if (width < 360 &&
        property_draw(source, 2)) /* the same, with its east to the west of its west */
        region.x1 -= 360;
    if (cleave__region_prepare(&cleave__globe, &region, NULL))
        return false;
    struct cleave__region again = region;
    bool right = !cleave__region_prepare(&cleave__globe, &again, NULL) && again.x0 == region.x0 &&
                 again.x1 == region.x1;
    for (int i = 0; i < 60 && right; i++) {
        double x, y, xs[] = {west, west + width}, ys[] = {south, north};
        draw_point(source, xs, ys, &x, &y);
        double cx = x, cy = y;
        if (!cleave__space_point(&cleave__globe, &cx, &cy))
            return false;
        bool in = false;
        for (int turn = -4; turn <= 4; turn++) /* of the borders, for those sums are exact */
            in |= cx >= west - 360 * turn && cx <= west + width - 360 * turn;
        in = (in || width >= 360 || fabs(y) == 90) && y >= south && y <= north;
        bool has = cleave__region_has(&cleave__globe, &region, cx, cy);
        int boxes = boxes_with(&cleave__globe, &region, cx, cy);
        right = has == in && boxes == (in ? 1 : 0);
        if (!right && source->verbose)
            printf("%.17g %.17g: in %d has %d boxes %d\n", cx, cy, in, has, boxes);
    }
    if (source->verbose)
        printf("west %g width %g south %g north %g -> %g %g\n", west, width, south, north,
               region.x0, region.x1);
    return right;
}

static bool circles_are_great(struct property_source *source, void *context)
{
    (void)context;
    const double earth_m = 6371008.8, d = 3.14159265358979323846 / 180;
    double x0 = eighths(source, -180, 180), y0 = eighths(source, -90, 90);
    double radius = property_draw(source, 4) == 0 ? 0 : eighths(source, 0, 190) * d * earth_m;
    if (property_draw(source, 3) == 0)
        radius /= 1e5;
    struct cleave__region region = {CLEAVE__CIRCLE, x0, y0, 0, 0, radius};
    if (cleave__region_prepare(&cleave__globe, &region, NULL))
        return false;
    bool right = true;
    for (int i = 0; i < 60 && right; i++) {
        double degrees = radius / earth_m / d, xs[] = {x0 - degrees, x0 + degrees},
               ys[] = {fmax(-90, y0 - degrees), fmin(90, y0 + degrees)}, x, y;
        draw_point(source, xs, ys, &x, &y);
        if (property_draw(source, 2)) { /* on the rim, any direction; within a few ulps of it */
            double way = eighths(source, 0, 360) * d, r = degrees * d, la = y0 * d;
            double sy = sin(la) * cos(r) + cos(la) * sin(r) * cos(way);
            y = asin(fmin(1, fmax(-1, sy))) / d;
            x = x0 + atan2(sin(way) * sin(r) * cos(la), cos(r) - sin(la) * sy) / d;
        }
        if (!cleave__space_point(&cleave__globe, &x, &y))
            return false;
        double slow = degrees_between(region.x0, region.y0, x, y) * d * earth_m;
        double got = cleave__space_distance(&cleave__globe, region.x0, region.y0, x, y);
        bool has = cleave__region_has(&cleave__globe, &region, x, y);
        int boxes = boxes_with(&cleave__globe, &region, x, y);
        /* Haversines lose digits of distances near half of the globe. */
        double slack = 1e-6 + (slow > 1.9e7 ? 1 : slow * 1e-9);
        right = fabs(slow - got) <= slack &&
                (has == (slow <= radius) || fabs(slow - radius) <= slack) && boxes <= 1 &&
                (!has || boxes == 1);
        if (!right && source->verbose)
            printf("%.17g %.17g: slow %.17g got %.17g has %d boxes %d\n", x, y, slow, got, has,
                   boxes);
    }
    if (source->verbose)
        printf("circle %g %g radius %.17g\n", x0, y0, radius);
    return right;
}

static bool planes_are_flat(struct property_source *source, void *context)
{
    (void)context;
    double far = property_draw(source, 2) ? 1 : 1e12;
    bool circle = property_draw(source, 2);
    double x0 = eighths(source, -100, 100) * far, y0 = eighths(source, -100, 100);
    double w = eighths(source, 0, 50), h = circle ? w : eighths(source, 0, 50);
    struct cleave__region region = {CLEAVE__RECTANGLE, x0, y0, x0 + w, y0 + h, 0};
    if (circle)
        region = (struct cleave__region){CLEAVE__CIRCLE, x0, y0, 0, 0, w};
    if (cleave__region_prepare(&plane, &region, NULL))
        return false;
    bool right = true;
    for (int i = 0; i < 40 && right; i++) {
        double x = nudge(source, x0 + (double)property_between(source, -1, 1) * w);
        double y = nudge(source, y0 + (double)property_between(source, -1, 1) * h);
        bool has = cleave__region_has(&plane, &region, x, y);
        int boxes = boxes_with(&plane, &region, x, y);
        bool in =
            circle ? hypot(x - x0, y - y0) <= w : x >= x0 && x <= x0 + w && y >= y0 && y <= y0 + h;
        right = cleave__space_point(&plane, &x, &y) && has == in && boxes <= 1 && (!has || boxes) &&
                (circle || has || !boxes);
        if (!right && source->verbose)
            printf("%.17g %.17g: has %d in %d boxes %d\n", x, y, has, in, boxes);
    }
    return right;
}

static void properties(void **state)
{
    (void)state;
    assert_true(property_run("points", points_are_canonical, NULL, 50000));
    assert_true(property_run("rectangles", rectangles_go_round, NULL, 20000));
    assert_true(property_run("circles", circles_are_great, NULL, 10000));
    assert_true(property_run("planes", planes_are_flat, NULL, 10000));
}

static void senseless_regions(void **state)
{
    (void)state;
    struct cleave_error error;
    const struct cleave__region bad[] = {
        {CLEAVE__RECTANGLE, 0, 10, 5, 5, 0},  {CLEAVE__RECTANGLE, 0, -91, 5, 5, 0},
        {CLEAVE__RECTANGLE, NAN, 0, 5, 5, 0}, {CLEAVE__RECTANGLE, 0, 0, INFINITY, 5, 0},
        {CLEAVE__CIRCLE, 0, 0, 0, 0, -1},     {CLEAVE__CIRCLE, 0, 0, 0, 0, NAN},
        {CLEAVE__CIRCLE, 0, 90.5, 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct cleave__region region = bad[i];
        assert_int_equal(cleave__region_prepare(&cleave__globe, &region, &error), CLEAVE_BAD_INPUT);
        assert_int_equal(strlen(error.message) > 0, 1);
    }
    struct cleave__region left = {CLEAVE__RECTANGLE, 5, 0, 0, 5, 0};
    assert_int_equal(cleave__region_prepare(&plane, &left, &error), CLEAVE_BAD_INPUT);
    double x = INFINITY, y = 0;
    assert_false(cleave__space_point(&plane, &x, &y));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(properties),
                                       cmocka_unit_test(senseless_regions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
