/* The smallest box around outlines on the globe, whichever way they go round it.
 *
 * An edge goes the short way: one from longitude 179 to -179 crosses the antimeridian. So it is
 * right for outlines that were cut there (as GeoJSON wants: Russia in two parts) and for those that
 * were not. An outline that goes all the way round has a pole: the nearer one. On a plane the box
 * is that of the points. */
#ifndef CLEAVE_STREAM_OUTLINE_H
#define CLEAVE_STREAM_OUTLINE_H

#include "base/vector.h"
#include "stream/query/space.h"

struct cleave__span {
    double from, to; /* longitudes; from in [-180, 180), to >= from */
};

struct cleave__outline {
    CLEAVE_VECTOR(struct cleave__span) spans;
    double south, north;
    bool any, no_memory;
    /* Of the line at hand. */
    double x, first, low, high, sum;
    uint64_t points;
};

/* Starts as all zeroes; freed by the caller (CLEAVE_VECTOR_FREE(&outline.spans)). */
void cleave__outline_clear(struct cleave__outline *outline);
/* False: not a place on the globe. */
bool cleave__outline_point(struct cleave__outline *outline, double x, double y);
/* Ends a line; `closed`: it is a ring. False: no memory. */
bool cleave__outline_end(struct cleave__outline *outline, bool closed);
/* False when there is no point. O(n log n). */
bool cleave__outline_box(struct cleave__outline *outline, struct cleave__box *out);

#endif
