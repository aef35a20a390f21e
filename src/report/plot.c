/* SVG by hand: a few dozen elements need no library. Colours are Okabe and Ito's (2008), which most
 * eyes tell apart; markers differ too. Numbers are printed with two decimals, and nothing depends
 * on time or locale beyond the decimal point of printf. */
#include "report/plot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 760,
    HEIGHT = 440,
    LEFT = 70,
    RIGHT = 190,
    TOP = 48,
    BOTTOM = 58,
    MARKER = 4,
    LEGEND_STEP = 20
};

static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000", "#999999"};
enum { COLOURS = sizeof colours / sizeof *colours };

struct scale {
    double low, high, step; /* of the axis */
    double from, to;        /* on the page */
};

void cleave__plot_free(struct cleave_plot *plot)
{
    for (size_t i = 0; i < plot->series.count; i++)
        CLEAVE_VECTOR_FREE(&plot->series.data[i].points);
    CLEAVE_VECTOR_FREE(&plot->series);
    cleave__arena_free(&plot->arena);
}

bool cleave__plot_add(struct cleave_plot *plot, const char *series, double x, double y)
{
    size_t i = 0;
    if (!isfinite(x) || !isfinite(y))
        return true;
    while (i < plot->series.count && strcmp(plot->series.data[i].name, series))
        i++;
    if (i == plot->series.count) {
        char *name = cleave__arena_copy(&plot->arena, series, strlen(series));
        if (!name || !CLEAVE_PUSH(&plot->series, (struct cleave_plot_series){.name = name}))
            return false;
    }
    return CLEAVE_PUSH(&plot->series.data[i].points, (struct cleave_plot_point){x, y});
}

/* Who has the same points as one before. Points are sorted. */
static void unite(struct cleave_plot *plot)
{
    for (size_t i = 0; i < plot->series.count; i++) {
        struct cleave_plot_series *s = &plot->series.data[i];
        s->like = i;
        for (size_t j = 0; j < i && s->like == i; j++) {
            const struct cleave_plot_series *other = &plot->series.data[j];
            bool same = other->points.count == s->points.count;
            for (size_t p = 0; same && p < s->points.count; p++)
                same = s->points.data[p].x == other->points.data[p].x &&
                       s->points.data[p].y == other->points.data[p].y;
            if (same)
                s->like = other->like;
        }
    }
}

/* The step of ticks: 1, 2 or 5 times a power of ten, about six of them. */
static double round_step(double span)
{
    double step = 1;
    while (step * 10 <= span / 6)
        step *= 10;
    while (step > span / 6 && step > 1e-300)
        step /= 10;
    if (step * 5 <= span / 6)
        return step * 5;
    return step * 2 <= span / 6 ? step * 2 : step;
}

static struct scale fit(double low, double high, double from, double to)
{
    if (!(high > low))
        high = low + 1;
    struct scale s = {.step = round_step(high - low), .from = from, .to = to};
    s.low = floor(low / s.step + 1e-9) * s.step;
    s.high = ceil(high / s.step - 1e-9) * s.step;
    return s;
}

static double on_page(const struct scale *s, double value)
{
    return s->from + (value - s->low) / (s->high - s->low) * (s->to - s->from);
}

static void put_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '<')
            fputs("&lt;", out);
        else if (c == '>')
            fputs("&gt;", out);
        else if (c == '&')
            fputs("&amp;", out);
        else if (c == '"')
            fputs("&quot;", out);
        else
            putc(c < 32 || c > 126 ? '?' : c, out);
    }
}

static void put_label(FILE *out, double x, double y, const char *anchor, const char *more,
                      const char *text)
{
    fprintf(out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\"%s>", x, y, anchor, more);
    put_text(out, text);
    fputs("</text>\n", out);
}

static void put_axes(FILE *out, const struct cleave_plot *plot, const struct scale *x,
                     const struct scale *y)
{
    char text[40];
    /* Counted, so that rounding never adds a tick. */
    long count = lround((y->high - y->low) / y->step);
    for (long i = 0; i <= count; i++) {
        double value = y->low + (double)i * y->step, at = on_page(y, value);
        fprintf(out, "<path class=\"grid\" d=\"M%.2f %.2fH%.2f\"/>\n", x->from, at, x->to);
        snprintf(text, sizeof text, "%.6g", fabs(value) < y->step * 1e-6 ? 0 : value);
        put_label(out, x->from - 8, at + 4, "end", "", text);
    }
    count = lround((x->high - x->low) / x->step);
    for (long i = 0; i <= count; i++) {
        double value = x->low + (double)i * x->step, at = on_page(x, value);
        fprintf(out, "<path class=\"axis\" d=\"M%.2f %.2fv5\"/>\n", at, y->from);
        snprintf(text, sizeof text, "%.6g", fabs(value) < x->step * 1e-6 ? 0 : value);
        put_label(out, at, y->from + 20, "middle", "", text);
    }
    fprintf(out, "<path class=\"axis\" d=\"M%.2f %.2fV%.2fH%.2f\"/>\n", x->from, y->to, y->from,
            x->to);
    put_label(out, (x->from + x->to) / 2, y->from + 44, "middle", "", plot->x_title);
    snprintf(text, sizeof text, " transform=\"rotate(-90 20 %.2f)\"", (y->from + y->to) / 2);
    put_label(out, 20, (y->from + y->to) / 2, "middle", text, plot->y_title);
    put_label(out, x->from, TOP - 22, "start", " class=\"title\"", plot->title);
}

static void put_marker(FILE *out, size_t shape, double x, double y)
{
    switch (shape % 3) {
    case 0:
        fprintf(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%d\"/>\n", x, y, MARKER);
        break;
    case 1:
        fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%d\" height=\"%d\"/>\n", x - MARKER + 0.5,
                y - MARKER + 0.5, 2 * MARKER - 1, 2 * MARKER - 1);
        break;
    default:
        fprintf(out, "<path d=\"M%.2f %.2fl%d %dh-%dz\"/>\n", x, y - MARKER - 0.5, MARKER + 1,
                2 * MARKER, 2 * MARKER + 2);
        break;
    }
}

static int compare(const void *a, const void *b)
{
    const struct cleave_plot_point *p = a, *q = b;
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->y > q->y) - (p->y < q->y);
}

/* `place`: its row in the legend; `number`: of its line among those drawn. */
static void put_series(FILE *out, const struct cleave_plot_series *s, bool drawn, size_t place,
                       size_t number, const struct scale *x, const struct scale *y)
{
    const char *colour = colours[number % COLOURS];
    fprintf(out, "<g stroke=\"%s\" fill=\"%s\">\n", colour, colour);
    if (drawn) {
        fputs("<path class=\"line\" d=\"", out);
        for (size_t i = 0; i < s->points.count; i++)
            fprintf(out, "%c%.2f %.2f", i ? 'L' : 'M', on_page(x, s->points.data[i].x),
                    on_page(y, s->points.data[i].y));
        fputs("\"/>\n", out);
    }
    for (size_t i = 0; drawn && i < s->points.count; i++)
        put_marker(out, number, on_page(x, s->points.data[i].x), on_page(y, s->points.data[i].y));
    double at = TOP + 6 + (double)place * LEGEND_STEP;
    fprintf(out, "<path class=\"line\" d=\"M%.2f %.2fh24\"/>\n", x->to + 18, at);
    put_marker(out, number, x->to + 30, at);
    fputs("</g>\n", out);
    put_label(out, x->to + 50, at + 4, "start", "", s->name);
}

/* The lines, and a legend in which those that share a line stand together. */
static void put_lines(FILE *out, const struct cleave_plot *plot, const struct scale *x,
                      const struct scale *y)
{
    size_t place = 0, number = 0;
    for (size_t i = 0; i < plot->series.count; i++) {
        if (plot->series.data[i].like != i)
            continue;
        for (size_t j = i; j < plot->series.count; j++) {
            if (plot->series.data[j].like == i)
                put_series(out, &plot->series.data[j], j == i, place++, number, x, y);
        }
        number++;
    }
}

enum cleave_status cleave__plot_write(struct cleave_plot *plot, FILE *out,
                                      struct cleave_error *error)
{
    double low_x = INFINITY, high_x = -INFINITY, low_y = 0, high_y = -INFINITY;
    for (size_t i = 0; i < plot->series.count; i++) {
        struct cleave_plot_series *s = &plot->series.data[i];
        qsort(s->points.data, s->points.count, sizeof *s->points.data, compare);
        for (size_t p = 0; p < s->points.count; p++) {
            low_x = fmin(low_x, s->points.data[p].x);
            high_x = fmax(high_x, s->points.data[p].x);
            low_y = fmin(low_y, s->points.data[p].y);
            high_y = fmax(high_y, s->points.data[p].y);
        }
    }
    if (!isfinite(low_x))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "nothing to draw");
    unite(plot);
    double legend = TOP + 30 + (double)plot->series.count * LEGEND_STEP;
    double height = legend > HEIGHT ? legend : HEIGHT;
    struct scale x = fit(low_x, high_x, LEFT, WIDTH - RIGHT);
    struct scale y = fit(low_y, high_y, height - BOTTOM, TOP);
    errno = 0;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" "
            "font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n<style>.axis{stroke:#333;"
            "fill:none}.grid{stroke:#e3e3e3;fill:none}.line{stroke-width:2;fill:none}.title{"
            "font-size:15px;font-weight:bold}</style>\n<rect width=\"100%%\" height=\"100%%\" "
            "fill=\"#fff\"/>\n",
            WIDTH, height);
    put_axes(out, plot, &x, &y);
    put_lines(out, plot, &x, &y);
    fputs("</svg>\n", out);
    if (ferror(out))
        return cleave_error_set(error, CLEAVE_IO, "cannot write the plot: %s",
                                errno ? strerror(errno) : "a write failed");
    return CLEAVE_OK;
}
