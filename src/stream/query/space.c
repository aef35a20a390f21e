/* Points, regions, and the boxes that cover them. Distances on the globe by the haversine formula,
 * which keeps its digits for near points. */
#include "stream/query/space.h"

#include <float.h>
#include <math.h>

static const double earth_radius_m = 6371008.8;
static const double degree = 3.14159265358979323846 / 180;

const struct cleave__space cleave__globe = {CLEAVE__GLOBE, {-180, -90, 180, 90}};

static double wrap_longitude(double x)
{
    if (x >= -180 && x < 180)
        return x;
    x = fmod(x, 360);
    if (x >= 180)
        x -= 360;
    else if (x < -180)
        x += 360;
    return x >= 180 ? -180 : x; /* a tiny negative plus 360 */
}

bool cleave__space_point(const struct cleave__space *space, double *x, double *y)
{
    if (!isfinite(*x) || !isfinite(*y))
        return false;
    if (space->kind == CLEAVE__PLANE)
        return true;
    if (fabs(*y) > 90)
        return false;
    *x = fabs(*y) == 90 ? 0 : wrap_longitude(*x);
    return true;
}

struct cleave__region cleave__region_everywhere(const struct cleave__space *space)
{
    double far = DBL_MAX / 4; /* so that the width is a number too */
    if (space->kind == CLEAVE__GLOBE)
        return (struct cleave__region){CLEAVE__RECTANGLE, -180, -90, 180, 90, 0};
    return (struct cleave__region){CLEAVE__RECTANGLE, -far, -far, far, far, 0};
}

enum cleave_status cleave__region_prepare(const struct cleave__space *space,
                                          struct cleave__region *region, struct cleave_error *error)
{
    bool globe = space->kind == CLEAVE__GLOBE, circle = region->kind == CLEAVE__CIRCLE;
    if (!isfinite(region->x0) || !isfinite(region->y0) ||
        (circle ? !isfinite(region->radius) : !isfinite(region->x1) || !isfinite(region->y1)))
        return cleave_error_set(error, CLEAVE_BAD_INPUT, "a region needs finite numbers");
    if (globe && (fabs(region->y0) > 90 || (!circle && fabs(region->y1) > 90)))
        return cleave_error_set(error, CLEAVE_BAD_INPUT, "a latitude is from -90 to 90, not %g",
                                fabs(region->y0) > 90 ? region->y0 : region->y1);
    if (circle) {
        if (region->radius < 0)
            return cleave_error_set(error, CLEAVE_BAD_INPUT, "a radius is not negative, as %g is",
                                    region->radius);
        cleave__space_point(space, &region->x0, &region->y0);
        region->x1 = region->y1 = 0;
        return CLEAVE_OK;
    }
    if (region->y0 > region->y1)
        return cleave_error_set(error, CLEAVE_BAD_INPUT,
                                "the rectangle's y goes down, from %g to %g", region->y0,
                                region->y1);
    if (!globe && region->x0 > region->x1)
        return cleave_error_set(error, CLEAVE_BAD_INPUT,
                                "the rectangle's x goes down, from %g to %g", region->x0,
                                region->x1);
    region->radius = 0;
    if (globe && region->x1 - region->x0 >= 360) {
        region->x0 = -180;
        region->x1 = nextafter(180, 0);
    } else if (globe) {
        region->x0 = wrap_longitude(region->x0);
        region->x1 = wrap_longitude(region->x1);
    }
    return CLEAVE_OK;
}

double cleave__space_distance(const struct cleave__space *space, double x0, double y0, double x1,
                              double y1)
{
    if (space->kind == CLEAVE__PLANE)
        return hypot(x1 - x0, y1 - y0);
    double dx = sin((x1 - x0) * degree / 2), dy = sin((y1 - y0) * degree / 2);
    double h = dy * dy + cos(y0 * degree) * cos(y1 * degree) * dx * dx;
    return 2 * earth_radius_m * asin(sqrt(h < 1 ? h : 1));
}

/* West to east, split at the antimeridian if need be; a pole apart if it is at another longitude.
 */
static uint32_t globe_boxes(double west, double south, double east, double north,
                            struct cleave__box *boxes)
{
    uint32_t count = 0;
    if (west <= east) {
        boxes[count++] = (struct cleave__box){west, south, east, north};
    } else {
        boxes[count++] = (struct cleave__box){west, south, nextafter(180, 0), north};
        boxes[count++] = (struct cleave__box){-180, south, east, north};
    }
    bool has_zero = west <= east ? west <= 0 && east >= 0 : west <= 0 || east >= 0;
    if (north == 90 && !has_zero)
        boxes[count++] = (struct cleave__box){0, 90, 0, 90};
    if (south == -90 && !has_zero)
        boxes[count++] = (struct cleave__box){0, -90, 0, -90};
    return count;
}

uint32_t cleave__region_boxes(const struct cleave__space *space,
                              const struct cleave__region *region,
                              struct cleave__box boxes[CLEAVE__REGION_BOXES_MOST])
{
    if (region->kind == CLEAVE__RECTANGLE) {
        if (space->kind == CLEAVE__GLOBE)
            return globe_boxes(region->x0, region->y0, region->x1, region->y1, boxes);
        boxes[0] = (struct cleave__box){region->x0, region->y0, region->x1, region->y1};
        return 1;
    }
    /* A little wider than exact, so that rounding leaves no point of the circle out. */
    double r = region->radius * (1 + 1e-9);
    if (space->kind == CLEAVE__PLANE) {
        double slack = r + 1e-12 * fmax(fabs(region->x0), fabs(region->y0));
        boxes[0] = (struct cleave__box){region->x0 - slack, region->y0 - slack, region->x0 + slack,
                                        region->y0 + slack};
        return 1;
    }
    double angle = r / earth_radius_m / degree + 1e-9; /* degrees; also the error of coordinates */
    double south = region->y0 - angle, north = region->y0 + angle;
    if (south <= -90 || north >= 90) { /* has a pole: all longitudes */
        boxes[0] = (struct cleave__box){-180, fmax(south, -90), nextafter(180, 0), fmin(north, 90)};
        return 1;
    }
    double reach = asin(fmin(1, sin(angle * degree) / cos(region->y0 * degree))) / degree;
    reach = reach * (1 + 1e-9) + 1e-9;
    if (reach >= 180) {
        boxes[0] = (struct cleave__box){-180, south, nextafter(180, 0), north};
        return 1;
    }
    return globe_boxes(wrap_longitude(region->x0 - reach), south,
                       wrap_longitude(region->x0 + reach), north, boxes);
}

bool cleave__region_has(const struct cleave__space *space, const struct cleave__region *region,
                        double x, double y)
{
    if (region->kind == CLEAVE__CIRCLE)
        return cleave__space_distance(space, region->x0, region->y0, x, y) <= region->radius;
    if (y < region->y0 || y > region->y1)
        return false;
    if (space->kind == CLEAVE__PLANE)
        return x >= region->x0 && x <= region->x1;
    if (fabs(y) == 90)
        return true;
    return region->x0 <= region->x1 ? x >= region->x0 && x <= region->x1
                                    : x >= region->x0 || x <= region->x1;
}
