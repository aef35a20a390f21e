/* Where objects are and queries look: a plane, or the globe in degrees.
 *
 * A *canonical* point of the globe has its longitude in [-180, 180); at a pole longitude is 0, for
 * all longitudes are one point there. A region is closed: its border belongs to it. On the globe a
 * rectangle whose west is greater than its east crosses the antimeridian, and one that reaches a
 * pole has it, at any longitude.
 *
 * A space's `bounds` say where grids lie and nothing else: what is outside belongs to border cells.
 */
#ifndef CLEAVE_STREAM_SPACE_H
#define CLEAVE_STREAM_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "cleave/status.h"

/* Closed; x0 <= x1, y0 <= y1. On the globe x is longitude, y latitude. */
struct cleave__box {
    double x0, y0, x1, y1;
};

enum cleave__space_kind { CLEAVE__PLANE, CLEAVE__GLOBE };

struct cleave__space {
    enum cleave__space_kind kind;
    struct cleave__box bounds; /* not empty in either direction */
};

enum cleave__region_kind { CLEAVE__RECTANGLE, CLEAVE__CIRCLE };

struct cleave__region {
    enum cleave__region_kind kind;
    /* Of a rectangle: from (x0, y0) to (x1, y1). Of a circle: the centre (x0, y0), its radius in
     * the plane's units, on the globe in metres; x1 and y1 are 0. */
    double x0, y0, x1, y1, radius;
};

enum { CLEAVE__REGION_BOXES_MOST = 4 };

/* The globe, with its usual bounds. */
extern const struct cleave__space cleave__globe;

/* Makes a point canonical; false if there is none such (not finite, or a latitude past a pole). */
bool cleave__space_point(const struct cleave__space *space, double *x, double *y);

/* A rectangle with every point, prepared. */
struct cleave__region cleave__region_everywhere(const struct cleave__space *space);
/* Makes a region canonical. CLEAVE_BAD_INPUT says what is wrong with it. */
enum cleave_status cleave__region_prepare(const struct cleave__space *space,
                                          struct cleave__region *region,
                                          struct cleave_error *error);

/* Disjoint boxes that together have every canonical point of a prepared region, and of a rectangle
 * no other. Their count is from 1 to CLEAVE__REGION_BOXES_MOST. */
uint32_t cleave__region_boxes(const struct cleave__space *space,
                              const struct cleave__region *region,
                              struct cleave__box boxes[CLEAVE__REGION_BOXES_MOST]);

/* Of a canonical point and a prepared region. */
bool cleave__region_has(const struct cleave__space *space, const struct cleave__region *region,
                        double x, double y);

/* Between canonical points: metres along a great circle of a sphere of radius 6,371,008.8 m
 * (within 0.56 % of the ellipsoid), or the plane's distance. */
double cleave__space_distance(const struct cleave__space *space, double x0, double y0, double x1,
                              double y1);

static inline bool cleave__box_has(const struct cleave__box *box, double x, double y)
{
    return x >= box->x0 && x <= box->x1 && y >= box->y0 && y <= box->y1;
}

#endif
