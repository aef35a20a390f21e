/* Rows of every format: what is read, what is refused and where, and that the pieces in which bytes
 * come make no difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "put.h"
#include "stream/source/outline.h"
#include "stream/source/rows.h"
#include "stream/source/values.h"
#include "support/failalloc.h"
#include "support/property.h"

static char out[1 << 16];

/* All rows, fields with bars between, rows with newlines; a refused one is "!" and its message. */
static const char *all(enum cleave__format format, const char *text, size_t length,
                       const char *const *const *columns, int count)
{
    char path[64];
    int descriptor = put_bytes(text, length, path);
    struct cleave__rows_options options = {.path = path, .format = format};
    struct cleave__rows *rows = NULL;
    struct cleave_error error = {0};
    size_t used = 0;
    uint32_t handles[16];
    out[0] = 0;
    enum cleave_status status = cleave__rows_open(&options, &rows, &error);
    for (int i = 0; i < count && !status; i++)
        status = cleave__rows_bind(rows, columns[i], false, &handles[i], &error);
    bool opened = !status;
    for (int row = 0; opened && row < 1000; row++) {
        status = cleave__rows_next(rows, &error);
        if (status == CLEAVE_END)
            break;
        if (status == CLEAVE_BAD_INPUT || status == CLEAVE_LIMIT) {
            used += (size_t)snprintf(out + used, sizeof out - used, "!%s\n",
                                     strchr(error.message + 15, ':') + 1);
            continue;
        }
        if (status)
            break;
        used += (size_t)snprintf(out + used, sizeof out - used,
                                 "%llu:", (unsigned long long)cleave__rows_line(rows));
        for (int i = 0; i < count; i++) {
            struct cleave__value v = cleave__rows_value(rows, handles[i]);
            used += (size_t)snprintf(out + used, sizeof out - used, "%s%.*s", i ? "|" : "",
                                     v.text ? (int)v.length : 4,
                                     v.text   ? v.text
                                     : v.kind ? "json"
                                              : "-");
        }
        const struct cleave__geometry *g = cleave__rows_geometry(rows);
        if (g->is_there)
            used += (size_t)snprintf(out + used, sizeof out - used, " %s%g,%g,%g,%g",
                                     g->is_point ? "point " : "", g->box.x0, g->box.y0, g->box.x1,
                                     g->box.y1);
        out[used++] = '\n';
        out[used] = 0;
    }
    if (status && status != CLEAVE_END)
        snprintf(out + used, sizeof out - used, "!!%s\n",
                 strlen(error.message) > 15 && strchr(error.message + 15, ':')
                     ? strchr(error.message + 15, ':') + 1
                     : error.message);
    cleave__rows_close(rows);
    close(descriptor);
    return out;
}

static const char *const a[] = {"a", NULL}, *const b[] = {"nothing", "b", NULL},
                         *const c[] = {"c.d.1", NULL};
static const char *const *const abc[] = {a, b, c};

static void is(enum cleave__format format, const char *text, const char *wanted)
{
    assert_string_equal(all(format, text, strlen(text), abc, 3), wanted);
}

static void text_formats(void **state)
{
    (void)state;
    is(CLEAVE__FORMAT_GUESS, "", "");
    is(CLEAVE__FORMAT_GUESS, "a,b\n", "");
    is(CLEAVE__FORMAT_GUESS, "\xef\xbb\xbf\"a\",B\r\n1,2\r\n\r\n 3 ,\n", "2:1|2|-\n4:3|-|-\n");
    is(CLEAVE__FORMAT_GUESS, "a\tb\n\"x\ty\"", "2:\"x|y\"|-\n");
    is(CLEAVE__FORMAT_GUESS, "b;a\n1;2\n", "2:2|1|-\n");
    is(CLEAVE__FORMAT_CSV, "a,b\n\"x, \"\"y\"\"\nz\",2\n3,4\n", "2:x, \"y\"\nz|2|-\n4:3|4|-\n");
    is(CLEAVE__FORMAT_CSV, "a,b\n\"\",\"\"\"\"\nx\"y,z\"\n", "2:-|\"|-\n3:x\"y|z\"|-\n");
    is(CLEAVE__FORMAT_CSV, "a,b\n1,2,3\n4\n5,6",
       "!2: 3 fields, not 2 as in the first line\n"
       "!3: 1 fields, not 2 as in the first line\n4:5|6|-\n");
    is(CLEAVE__FORMAT_CSV, "a,b\n\"open,2\n3,4\n",
       "!2: a quote is opened and not closed; --format tsv takes quotes as they are\n3:3|4|-\n");
    is(CLEAVE__FORMAT_CSV, "a,b\n\"x\"y,2\n3,4\n",
       "!2: field 1 goes on behind its closing quote; a quote within a field is written twice\n"
       "3:3|4|-\n");
    /* No header: columns are numbers. */
    static const char *const two[] = {"2", NULL};
    static const char *const *const by_number[] = {two};
    const char *text = "1.5,x\n2,y";
    assert_string_equal(all(CLEAVE__FORMAT_CSV, text, strlen(text), by_number, 1), "1:x\n2:y\n");
}

static void json_formats(void **state)
{
    (void)state;
    is(CLEAVE__FORMAT_GUESS, "{\"a\":1,\"b\":\"x\"}\n\n{\"c\":{\"d\":[1,2.5]},\"b\":null}\n",
       "1:1|x|-\n3:-|-|2.5\n");
    is(CLEAVE__FORMAT_NDJSON, "{\"a\":true,\"b\":[1]}\nnonsense\n[1]\n{\"a\":\"\"}",
       "1:true|json|-\n!2: no JSON: '[' or '{' expected near 'nonsense' (column 8)\n!3: not a JSON "
       "object\n"
       "4:-|-|-\n");
    is(CLEAVE__FORMAT_GEOJSON, /* features one a line, one broken */
       "{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[1,2]},\"a\":7}\n"
       "{\"type\":\"Feature\",\"geometry\":{\n"
       "x\n"
       "{\"type\":\"Feature\",\"geometry\":null,\"properties\":{\"b\":3}}\n{\"type\":\"Point\"}",
       "1:7|-|- point 1,2,1,2\n!2: the object does not end on its line\n"
       "!3: 'x' where a Feature should be\n4:-|3|-\n"
       "!5: not a Feature of GeoJSON ('type' says Point)\n");
    is(CLEAVE__FORMAT_GUESS, /* a collection, pretty, with all that may be around */
       "{\n \"name\": \"features\", \"type\": \"FeatureCollection\",\n \"features\" : [\n"
       " {\"type\": \"Feature\", \"id\": \"]}\\\"\", \"features\": [1, 2],\n"
       "  \"geometry\": {\"type\": \"Polygon\", \"coordinates\": "
       "[[[170,1],[-170,2],[175,3],[170,1]]]},\n"
       "  \"properties\": {\"a\": \"x\"}},\n"
       " {\"type\": \"Feature\", \"bbox\": [-170, -10, 170, 10], \"geometry\": null},\n"
       " {\"type\": \"Feature\", \"geometry\": {\"type\": \"Polygon\", \"coordinates\": 3}}\n"
       " ], \"more\": {\"features\": [1]}}\n",
       "4:x|-|- 170,1,-170,3\n7:-|-|- -170,-10,170,10\n"
       "!8: its geometry is none of GeoJSON, or not longitude and latitude\n");
    is(CLEAVE__FORMAT_GEOJSON, "[1]", "!!1: '[' where a Feature should be\n");
    is(CLEAVE__FORMAT_GUESS, "[1]",
       "!!1: a JSON list; an object a line is wanted (jq -c '.[]' makes it so)\n");
    is(CLEAVE__FORMAT_GEOJSON, "{\"features\":[{\"type\":\"Feature\"}",
       "1:-|-|-\n!!1: the collection does not end (truncated?)\n");
    is(CLEAVE__FORMAT_GUESS, /* two arcs that share an edge; the second square crosses 180 */
       "{\"type\":\"Topology\",\"transform\":{\"scale\":[10,10],\"translate\":[160,0]},\"objects\":"
       "{\"l\":"
       "{\"type\":\"GeometryCollection\",\"geometries\":["
       "{\"type\":\"Polygon\",\"arcs\":[[0,1]],\"properties\":{\"a\":\"west\"}},"
       "{\"type\":\"Polygon\",\"arcs\":[[-2,2]],\"properties\":{\"a\":\"east\"}},"
       "{\"type\":\"Point\",\"coordinates\":[1,1]},{\"type\":null},{\"type\":\"Polygon\",\"arcs\":["
       "[9]]}]}},"
       "\"arcs\":[[[1,1],[-1,0],[0,-1],[1,0]],[[1,0],[0,1]],[[1,0],[2,0],[0,1],[-2,0]]]}",
       "1:west|-|- 160,0,170,10\n2:east|-|- 170,0,-170,10\n3:-|-|- point 170,10,170,10\n4:-|-|-\n"
       "!5: shape 5 of the layer is none of TopoJSON\n");
}

/* The same rows whichever way they come in: a pipe in pieces of every size. */
static bool pieces_make_no_difference(struct property_source *source, void *context)
{
    (void)context;
    static const char *const bits[] = {"a",
                                       ",",
                                       "\n",
                                       "\"",
                                       "1",
                                       "\r\n",
                                       "{",
                                       "}",
                                       "[",
                                       "\"features\":[",
                                       "]",
                                       ":",
                                       " ",
                                       "\\",
                                       "\t",
                                       ";",
                                       "{\"type\":\"Feature\"}"};
    char text[1000] = "", path[64], first[2000] = "", second[2000] = "";
    size_t length = 0, count = property_draw(source, 40);
    enum cleave__format format = (enum cleave__format)(1 + property_draw(source, 4));
    for (size_t i = 0; i < count; i++)
        length += (size_t)sprintf(text + length, "%s", bits[property_draw(source, 17)]);
    snprintf(first, sizeof first, "%.1990s", all(format, text, length, abc, 2));
    /* Behind more than a window of something that is passed over or read. */
    size_t before = 300000;
    char *longer = malloc(before + length + 1);
    assert_non_null(longer);
    memset(longer, '\n', before);
    memcpy(longer + before, text, length);
    snprintf(second, sizeof second, "%.1990s", all(format, longer, before + length, abc, 2));
    free(longer);
    (void)path;
    /* Lines differ by those before: compare all but the numbers. */
    const char *x = first, *y = second;
    bool same = true;
    while (same && (*x || *y)) {
        while (*x >= '0' && *x <= '9')
            x++;
        while (*y >= '0' && *y <= '9')
            y++;
        same = *x == *y;
        x += *x != 0;
        y += *y != 0;
    }
    if (source->verbose)
        printf("%s '%s': '%s' and '%s'\n", cleave__format_names[format], text, first, second);
    return same;
}

static void times_and_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t ms;
    } right[] = {
        {"0", 0},
        {"1517966773840", UINT64_C(1517966773840)},
        {"1517966773", UINT64_C(1517966773000)},
        {"1517966773.84", UINT64_C(1517966773840)},
        {"1970-01-01", 0},
        {"2018-02-07T01:26:13.840Z", UINT64_C(1517966773840)},
        {"2018-02-07 01:26:13.84", UINT64_C(1517966773840)},
        {"2018-02-07T03:26:13,8409+02:00", UINT64_C(1517966773840)},
        {"2018-02-06T20:56:13.840-0430", UINT64_C(1517966773840)},
        {"20180207T012613Z", UINT64_C(1517966773000)},
        {"2000-02-29T24:00", UINT64_C(951868800000)},
        {"9999-12-31T23:59:60Z", UINT64_C(253402300800000)},
    };
    static const char *const wrong[] = {"",
                                        "x",
                                        "-1",
                                        "1969-12-31",
                                        "2018-02-30",
                                        "2018-13-01",
                                        "1900-02-29",
                                        "2018-02-07T25:00",
                                        "2018-02-07T24:01",
                                        "2018-02-07T01:60",
                                        "2018-02-07T01:26:13+",
                                        "2018-02-07T01:26:13.Z",
                                        "2018-02-07X",
                                        "1e300",
                                        "nan",
                                        "2018-2-7",
                                        "0x10"};
    uint64_t ms;
    double x;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        if (!cleave__text_time(right[i].text, strlen(right[i].text), 0, &ms) || ms != right[i].ms)
            fail_msg("%s: %llu", right[i].text, (unsigned long long)ms);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (cleave__text_time(wrong[i], strlen(wrong[i]), 0, &ms))
            fail_msg("'%s' is a time", wrong[i]);
    }
    assert_true(cleave__text_time("5", 1, 1, &ms) && ms == 5);
    assert_true(cleave__text_real(" -1.5e3 ", 8, &x) && x == -1500);
    static const char *const no[] = {"", "nan", "inf", "0x1p3", "1,5", "1 2", "1e999", "--1", "e5"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(cleave__text_real(no[i], strlen(no[i]), &x));
    assert_true(cleave__text_distance("2.5 km", 6, false, &x) && x == 2500);
    assert_true(cleave__text_distance("1mi", 3, false, &x) && x == 1609.344);
    assert_true(cleave__text_distance("7", 1, true, &x) && x == 7);
    assert_false(cleave__text_distance("7 m", 3, true, &x));
    assert_false(cleave__text_distance("-7", 2, false, &x));
    assert_false(cleave__text_distance("7 parsecs", 9, false, &x));
}

struct line {
    double x[8], y[8];
    int count;
};

/* The box of some lines has every point of them and of their edges (the short way), and is no wider
 * than any other box of longitudes that does: the best of all that begin at a point. */
static bool boxes_are_the_smallest(struct property_source *source, void *context)
{
    (void)context;
    struct cleave__outline outline = {0};
    int lines = 1 + (int)property_draw(source, 4);
    double on[4000];
    int count = 0;
    for (int l = 0; l < lines; l++) {
        int n = 1 + (int)property_draw(source, 5);
        double x = (double)property_between(source, -36, 36) * 5, first = x, y = 0;
        cleave__outline_point(&outline, x, y);
        on[count++] = x;
        for (int i = 1; i < n; i++) {
            double step = (double)property_between(source, -17, 17) * 5;
            for (int k = 1; k <= 17; k++) /* at every 5 degrees or nearer */
                on[count++] = x + step * k / 17;
            x += step;
            cleave__outline_point(&outline, x - 360 * (double)property_draw(source, 2), y);
        }
        (void)first;
        cleave__outline_end(&outline, false);
    }
    struct cleave__box box;
    bool right = cleave__outline_box(&outline, &box);
    double width = box.x1 - box.x0 + (box.x0 > box.x1 ? 360 : 0), best = 360;
    for (int i = 0; i < count && right; i++) {
        double offset = on[i] - box.x0;
        while (offset < -1e-9)
            offset += 360;
        while (offset >= 360 - 1e-9)
            offset -= 360;
        right = offset <= width + 1e-9;
        double reach = 0; /* east of this one until all are had */
        for (int j = 0; j < count; j++) {
            double d = on[j] - on[i];
            while (d < -1e-9)
                d += 360;
            while (d >= 360 - 1e-9)
                d -= 360;
            reach = d > reach ? d : reach;
        }
        best = reach < best ? reach : best;
    }
    right = right && width <= best + 5.1; /* spans may have gaps between the points we drew */
    if (source->verbose)
        printf("box %g..%g, width %g, best %g\n", box.x0, box.x1, width, best);
    CLEAVE_VECTOR_FREE(&outline.spans);
    return right;
}

static void properties(void **state)
{
    (void)state;
    assert_true(property_run("rows_pieces", pieces_make_no_difference, NULL, 1500));
    assert_true(property_run("outlines", boxes_are_the_smallest, NULL, 5000));
}

static void around_the_pole(void **state)
{
    (void)state;
    struct cleave__outline outline = {0};
    struct cleave__box box;
    for (int i = 0; i <= 12; i++)
        assert_true(cleave__outline_point(&outline, -180 + 30 * i, -70 - i % 3));
    assert_true(cleave__outline_end(&outline, true));
    assert_true(cleave__outline_box(&outline, &box));
    assert_true(box.x0 == -180 && box.x1 == 180 && box.y0 == -90 && box.y1 == -70);
    assert_false(cleave__outline_point(&outline, 0, 91));
    CLEAVE_VECTOR_FREE(&outline.spans);
}

static void long_lines(void **state)
{
    (void)state;
    size_t size = (size_t)17 << 20;
    char *text = malloc(size + 100);
    if (!text)
        abort();
    memcpy(text, "a,b\n1,", 6);
    memset(text + 6, 'x', size);
    strcpy(text + 6 + size, "\n3,4\n");
    const char *got = all(CLEAVE__FORMAT_CSV, text, size + 11, abc, 3);
    assert_string_equal(got, "!2: a line of more than 16777216 bytes\n3:3|4|-\n");
    memcpy(text, "{}   \n", 6);
    got = all(CLEAVE__FORMAT_NDJSON, text, size + 11, abc, 3);
    assert_memory_equal(got, "1:-|-|-\n!2: a line of more than", 30);
    free(text);
}

static bool attempt(void *context)
{
    const char *text = context;
    all(CLEAVE__FORMAT_GUESS, text, strlen(text), abc, 3);
    return true;
}

static void allocations_fail(void **state)
{
    (void)state;
    assert_true(failalloc_run("csv", attempt, "a,b\n\"x\"\"\",2\n1,2\n", 1));
    assert_true(failalloc_run("ndjson", attempt, "{\"a\":1}\n", 1));
    assert_true(failalloc_run("geojson", attempt,
                              "{\"type\":\"Feature\",\"geometry\":{\"type\":\"LineString\","
                              "\"coordinates\":[[1,2],[3,4]]}}\n",
                              1));
    assert_true(failalloc_run("topojson", attempt,
                              "{\"type\":\"Topology\",\"objects\":{\"l\":{\"type\":\"LineString\","
                              "\"arcs\":[0]}},\"arcs\":[[[1,2],[3,4]]]}",
                              1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_formats),      cmocka_unit_test(json_formats),
        cmocka_unit_test(times_and_numbers), cmocka_unit_test(properties),
        cmocka_unit_test(around_the_pole),   cmocka_unit_test(long_lines),
        cmocka_unit_test(allocations_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
