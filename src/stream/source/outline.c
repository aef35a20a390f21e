/* Boxes around outlines: each line is a span of longitudes, the box is all but the widest gap
 * between spans. */
#include "stream/source/outline.h"

#include <math.h>
#include <stdlib.h>

void cleave__outline_clear(struct cleave__outline *outline)
{
    outline->spans.count = 0;
    outline->any = false;
    outline->points = 0;
}

bool cleave__outline_point(struct cleave__outline *o, double x, double y)
{
    if (!isfinite(x) || !(fabs(y) <= 90) || fabs(x) > 1e6)
        return false;
    if (o->points++ == 0) {
        o->x = o->first = o->low = o->high = x;
        o->sum = 0;
    } else {
        double step = fmod(x - o->x, 360);
        if (step > 180)
            step -= 360;
        else if (step < -180)
            step += 360;
        o->x += step;
        o->low = fmin(o->low, o->x);
        o->high = fmax(o->high, o->x);
    }
    o->sum += y;
    o->south = o->any ? fmin(o->south, y) : y;
    o->north = o->any ? fmax(o->north, y) : y;
    o->any = true;
    return true;
}

bool cleave__outline_end(struct cleave__outline *o, bool closed)
{
    if (o->points == 0)
        return true;
    if (closed && fabs(o->x - o->first) > 180) { /* went round */
        if (o->sum < 0)
            o->south = -90;
        else
            o->north = 90;
        o->low = -180;
        o->high = 180;
    }
    double turns = 360 * floor((o->low + 180) / 360);
    double from = o->low - turns, to = fmin(o->high - turns, from + 360);
    o->points = 0;
    o->no_memory = !CLEAVE_PUSH(&o->spans, (struct cleave__span){from, to});
    return !o->no_memory;
}

static int compare(const void *a, const void *b)
{
    const struct cleave__span *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

bool cleave__outline_box(struct cleave__outline *o, struct cleave__box *out)
{
    if (o->spans.count == 0)
        return false;
    struct cleave__span *spans = o->spans.data;
    qsort(spans, o->spans.count, sizeof *spans, compare);
    double last = spans[0].to, widest = 0, west = -180, east = 180;
    for (size_t i = 1; i < o->spans.count; i++)
        last = fmax(last, spans[i].to);
    double reach = last - 360; /* where the one that ends last comes round to */
    for (size_t i = 0; i < o->spans.count; i++) {
        if (spans[i].from - reach > widest) {
            widest = spans[i].from - reach;
            west = spans[i].from;
            east = i ? reach : last;
        }
        reach = fmax(reach, spans[i].to);
    }
    if (east > 180)
        east -= 360;
    *out = widest > 0 ? (struct cleave__box){west, o->south, east, o->north}
                      : (struct cleave__box){-180, o->south, 180, o->north};
    return true;
}
