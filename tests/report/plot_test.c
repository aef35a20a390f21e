/* Plots: well-formed, the same bytes each time, ticks that enclose the data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/plot.h"
#include "support/failalloc.h"

static char *draw(struct cleave_plot *plot)
{
    char *text = NULL;
    size_t size;
    struct cleave_error error;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(cleave__plot_write(plot, out, &error), 0);
    fclose(out);
    return text;
}

static uint32_t count(const char *text, const char *what)
{
    uint32_t found = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        found++;
    return found;
}

static void lines_and_legend(void **state)
{
    (void)state;
    struct cleave_plot plot = {.title = "a < b & \"c\"", .x_title = "x", .y_title = "y"};
    for (int i = 8; i >= 0; i--) {
        assert_true(cleave__plot_add(&plot, "hash", i, 54));
        assert_true(cleave__plot_add(&plot, "community", i, 60 - 7.5 * i));
        assert_true(cleave__plot_add(&plot, "balanced", i, 60 - 7.5 * i));
    }
    assert_true(cleave__plot_add(&plot, "hash", 3, 0.0 / 0.0)); /* passed over */
    char *text = draw(&plot), *again = draw(&plot);
    assert_string_equal(text, again);
    assert_int_equal(count(text, "<svg "), 1);
    assert_int_equal(count(text, "</svg>\n"), 1);
    assert_int_equal(count(text, "<g "), 3);
    assert_int_equal(count(text, "</g>"), 3);
    assert_int_equal(count(text, ">balanced</text>"), 1);
    assert_int_equal(count(text, "<rect x"), 11); /* with community's line, two in the legend */
    assert_int_equal(count(text, "<text "), count(text, "</text>"));
    assert_int_equal(count(text, "<circle "), 10); /* nine points, one in the legend */
    assert_int_equal(count(text, "a &lt; b &amp; &quot;c&quot;"), 1);
    assert_int_equal(count(text, "nan"), 0);
    assert_int_equal(count(text, ">60</text>"), 1); /* the top tick */
    assert_int_equal(count(text, ">8</text>"), 1);
    free(text);
    free(again);
    cleave__plot_free(&plot);
}

static void odd_ranges(void **state)
{
    (void)state;
    static const double values[][2] = {{0, 0}, {5, 5}, {-3, 2}, {1e-9, 3e-9}, {1e12, 1.5e12}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct cleave_plot plot = {.title = "", .x_title = "", .y_title = ""};
        assert_true(cleave__plot_add(&plot, "s", values[i][0], values[i][0]));
        assert_true(cleave__plot_add(&plot, "s", values[i][1], values[i][1]));
        char *text = draw(&plot);
        assert_int_equal(count(text, "nan") + count(text, "inf"), 0);
        assert_true(count(text, "class=\"grid\"") >= 2 && count(text, "class=\"grid\"") < 20);
        free(text);
        cleave__plot_free(&plot);
    }
    struct cleave_plot plot = {.title = "", .x_title = "", .y_title = ""};
    struct cleave_error error;
    assert_int_equal(cleave__plot_write(&plot, stdout, &error), CLEAVE_BAD_ARGUMENT);
    cleave__plot_free(&plot);
}

static bool attempt(void *context)
{
    (void)context;
    struct cleave_plot plot = {.title = "", .x_title = "", .y_title = ""};
    bool ok = true;
    for (int i = 0; i < 40 && ok; i++)
        ok = cleave__plot_add(&plot, i % 2 ? "odd" : "even", i, i);
    cleave__plot_free(&plot);
    return true;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(failalloc_run("plot", attempt, NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_legend),
        cmocka_unit_test(odd_ranges),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
