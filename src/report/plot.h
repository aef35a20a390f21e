/* Lines in a plane as an SVG file: axes with round ticks, a line and its own marker a series, a
 * legend at the right. The same data give the same bytes on every machine. */
#ifndef CLEAVE_REPORT_PLOT_H
#define CLEAVE_REPORT_PLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/vector.h"
#include "cleave/status.h"

struct cleave_plot_point {
    double x, y;
};

struct cleave_plot_series {
    const char *name;
    CLEAVE_VECTOR(struct cleave_plot_point) points;
    size_t
        like; /* itself, or the one before it that has the same points: drawn once, named twice */
};

/* Starts as all zeroes but for the titles, which are borrowed. */
struct cleave_plot {
    const char *title, *x_title, *y_title;
    CLEAVE_VECTOR(struct cleave_plot_series) series; /* in the order of their first point */
    struct cleave_arena arena;                       /* names */
};

void cleave__plot_free(struct cleave_plot *plot);
/* Adds a point to the series of that name, which is made when it is new. Points that are not finite
 * are passed over. False when memory is out. */
bool cleave__plot_add(struct cleave_plot *plot, const char *series, double x, double y);
/* Points are drawn in rising x. A series with the same points as one before it shares its line. The
 * y axis begins at 0 unless a value is below. CLEAVE_BAD_ARGUMENT when there is no point,
 * CLEAVE_IO. */
enum cleave_status cleave__plot_write(struct cleave_plot *plot, FILE *out,
                                      struct cleave_error *error);

#endif
