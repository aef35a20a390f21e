/* The registry of metrics beside a plain model; its text by a strict reader, which is first shown
 * to fail; many threads at once; balances that hold and one that does not; failing allocations. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/exposition.h"
#include "base/metrics.h"
#include "base/text.h"
#include "support/failalloc.h"
#include "support/property.h"

static char *text_of(struct cleave_metrics *metrics)
{
    struct cleave_writer text = {0};
    cleave__metrics_write(metrics, &text);
    cleave__put8(&text, 0);
    assert_false(text.failed);
    return (char *)text.data;
}

static void must_read(const char *text)
{
    size_t line;
    const char *why;
    if (!exposition_check(text, strlen(text), &line, &why))
        fail_msg("line %zu: %s\n%s", line, why, text);
}

static void reader_refuses(void **state)
{
    static const char *const bad[] = {
        "a_total 1\n",
        "# HELP a_total x\na_total 1\n",
        "# HELP a_total x\n# TYPE a_total counter\na_total 1",
        "# HELP a_total x\n# TYPE a_total counter\na_total -1\n",
        "# HELP a_total x\n# TYPE a_total counter\na_total 1 2\n",
        "# HELP a_total x\n# TYPE a_total counter\na_total 1\na_total 2\n",
        "# HELP a_total x\n# TYPE a_total counter\nb_total 1\n",
        "# HELP a x\n# TYPE a gauge\na{b=\"\\x\"} 1\n",
        "# HELP a x\n# TYPE a gauge\na{b=\"x} 1\n",
        "# HELP a x\n# TYPE a gauge\na{b=\"x\",b=\"y\"} 1\n",
        "# HELP a x\n# TYPE a gauge\na{b=\"\xff\"} 1\n",
        "# HELP a x\n# TYPE a gauge\na 1\n# HELP a x\n# TYPE a gauge\na{b=\"c\"} 1\n",
        "# HELP a x\n# TYPE a gauges\na 1\n",
        "# HELP a x\n# TYPE a histogram\na_bucket{le=\"1\"} 1\na_sum 1\na_count 1\n",
        "# HELP a x\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\n"
        "a_sum 1\na_count 1\n",
        "# HELP a x\n# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 2\n",
        "# HELP a x\n# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_sum 1\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        size_t line;
        const char *why;
        if (exposition_check(bad[i], strlen(bad[i]), &line, &why))
            fail_msg("taken, but wrong:\n%s", bad[i]);
    }
    must_read("# HELP a x\n# TYPE a histogram\na_bucket{b=\"\\\\\\n\\\"\",le=\"0.5\"} 1\n"
              "a_bucket{b=\"\\\\\\n\\\"\",le=\"+Inf\"} 1\na_sum{b=\"\\\\\\n\\\"\"} 1\n"
              "a_count{b=\"\\\\\\n\\\"\"} 1\n");
}

static void text_is_exact(void **state)
{
    struct cleave_metrics *metrics;
    struct cleave_counter *counter, *again;
    struct cleave_gauge *gauge;
    struct cleave_timing *timing;
    struct cleave_error error;
    const uint64_t bounds[] = {1000000, 5000000};
    (void)state;
    assert_int_equal(cleave__metrics_new(&metrics, &error), CLEAVE_OK);
    struct cleave_metric queries = {.name = "queries_total", .help = "Asked \\ and\nanswered"};
    struct cleave_label ab[] = {{"b", "two\n\"\\"}, {"a", "\xc3\xa9"}};
    struct cleave_label ba[] = {ab[1], ab[0]};
    assert_int_equal(cleave__metrics_counter(metrics, &queries, ab, 2, &counter, &error), 0);
    assert_int_equal(cleave__metrics_counter(metrics, &queries, ba, 2, &again, &error), 0);
    assert_ptr_equal(counter, again);
    cleave__counter_add(counter, UINT64_MAX - 1);
    struct cleave_metric depth = {.name = "depth", .help = "Waiting", .scale = 0.5};
    assert_int_equal(cleave__metrics_gauge(metrics, &depth, NULL, 0, &gauge, &error), 0);
    cleave__gauge_set(gauge, -3);
    struct cleave_metric took = {
        .name = "took_seconds", .help = "Time", .scale = 1e-9, .bounds = bounds, .bound_count = 2};
    assert_int_equal(cleave__metrics_timing(metrics, &took, NULL, 0, &timing, &error), 0);
    cleave__timing_add(timing, 1000000);
    cleave__timing_add(timing, 1000001);
    cleave__timing_add(timing, 7000000);
    char *text = text_of(metrics);
    assert_string_equal(text, "# HELP queries_total Asked \\\\ and\\nanswered\n"
                              "# TYPE queries_total counter\n"
                              "queries_total{a=\"\xc3\xa9\",b=\"two\\n\\\"\\\\\"} "
                              "18446744073709551614\n"
                              "# HELP depth Waiting\n# TYPE depth gauge\ndepth -1.5\n"
                              "# HELP took_seconds Time\n# TYPE took_seconds histogram\n"
                              "took_seconds_bucket{le=\"0.001\"} 1\n"
                              "took_seconds_bucket{le=\"0.005\"} 2\n"
                              "took_seconds_bucket{le=\"+Inf\"} 3\n"
                              "took_seconds_sum 0.009000001\ntook_seconds_count 3\n");
    must_read(text);
    free(text);
    cleave__counter_add(NULL, 1);
    cleave__gauge_add(NULL, 1);
    cleave__timing_add(NULL, 1);
    cleave__metrics_free(metrics);
}

static void names_are_refused(void **state)
{
    struct cleave_metrics *metrics;
    struct cleave_counter *counter = NULL;
    struct cleave_gauge *gauge = NULL;
    struct cleave_timing *timing = NULL;
    struct cleave_error error;
    (void)state;
    assert_int_equal(cleave__metrics_new(&metrics, &error), CLEAVE_OK);
    static const char *const names[] = {"", "1_total", "a-b_total", "a b_total", "a", "\xc3_total"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct cleave_metric metric = {.name = names[i], .help = "h"};
        assert_int_equal(cleave__metrics_counter(metrics, &metric, NULL, 0, &counter, &error),
                         CLEAVE_BAD_ARGUMENT);
    }
    struct cleave_metric good = {.name = "x_seconds", .help = "h"};
    static const struct cleave_label labels[] = {
        {"__a", "v"}, {"a:b", "v"}, {"", "v"}, {"le", "v"}, {"a", "\xff"}, {"a", "\xed\xa0\x80"}};
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        assert_int_equal(cleave__metrics_timing(metrics, &good, &labels[i], 1, &timing, &error),
                         CLEAVE_BAD_ARGUMENT);
    struct cleave_label twice[] = {{"a", "1"}, {"a", "2"}};
    assert_int_equal(cleave__metrics_timing(metrics, &good, twice, 2, &timing, &error),
                     CLEAVE_BAD_ARGUMENT);
    assert_null(timing);
    assert_int_equal(cleave__metrics_timing(metrics, &good, NULL, 0, &timing, &error), CLEAVE_OK);
    assert_int_equal(cleave__metrics_gauge(metrics, &good, NULL, 0, &gauge, &error),
                     CLEAVE_BAD_ARGUMENT);
    struct cleave_metric shares = {.name = "x_seconds_count", .help = "h"};
    assert_int_equal(cleave__metrics_gauge(metrics, &shares, NULL, 0, &gauge, &error),
                     CLEAVE_BAD_ARGUMENT);
    shares.name = "y_sum";
    assert_int_equal(cleave__metrics_gauge(metrics, &shares, NULL, 0, &gauge, &error), CLEAVE_OK);
    shares.name = "y";
    assert_int_equal(cleave__metrics_timing(metrics, &shares, NULL, 0, &timing, &error),
                     CLEAVE_BAD_ARGUMENT);
    assert_true(cleave__metrics_sound(metrics));
    cleave__metrics_free(metrics);
}

static void balances(void **state)
{
    struct cleave_metrics *metrics;
    struct cleave_counter *in, *out[2];
    struct cleave_gauge *under_way;
    struct cleave_error error;
    static const char *const bad[] = {"",      "a",       "a =",        "= a",  "a = b = c",
                                      "a + b", "a b = c", "a = b +",    "a==b", "a = = b",
                                      "a = +", "a + = b", "a = b - c_d"};
    (void)state;
    assert_int_equal(cleave__metrics_new(&metrics, &error), CLEAVE_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(cleave__metrics_balance(metrics, bad[i], &error), CLEAVE_BAD_ARGUMENT);
    assert_int_equal(cleave__metrics_balance(
                         metrics, "in_total = out_total +  under_way + refused_total", &error),
                     CLEAVE_OK);
    assert_int_equal(cleave__metrics_check(metrics, &error), CLEAVE_OK);
    struct cleave_metric metric = {.name = "in_total", .help = "h"};
    assert_int_equal(cleave__metrics_counter(metrics, &metric, NULL, 0, &in, &error), CLEAVE_OK);
    metric.name = "out_total";
    for (int i = 0; i < 2; i++) {
        struct cleave_label label = {"shard", i ? "1" : "0"};
        assert_int_equal(cleave__metrics_counter(metrics, &metric, &label, 1, &out[i], &error), 0);
    }
    metric.name = "under_way";
    assert_int_equal(cleave__metrics_gauge(metrics, &metric, NULL, 0, &under_way, &error), 0);
    cleave__counter_add(in, 10);
    cleave__counter_add(out[0], 3);
    cleave__counter_add(out[1], 5);
    cleave__gauge_set(under_way, 2);
    assert_int_equal(cleave__metrics_check(metrics, &error), CLEAVE_OK);
    cleave__gauge_add(under_way, -1);
    assert_int_equal(cleave__metrics_check(metrics, &error), CLEAVE_CORRUPT);
    assert_non_null(strstr(error.message, "10 = 8 + 1 + 0 (off by 1)"));
    cleave__metrics_free(metrics);
}

/* ---- random registries ---- */

static bool agrees(struct property_source *source, void *context)
{
    enum { SERIES = 12 };
    static const char *const pieces[] = {"a", "\"", "\\", "\n", "\xc3\xa9", "}", ",", "=", "{"};
    struct cleave_metrics *metrics;
    struct cleave_error error;
    uint64_t want[SERIES][2] = {{0}};
    struct cleave_counter *counter[SERIES];
    struct cleave_timing *timing[SERIES];
    const uint64_t bounds[] = {3, 10, 100};
    bool good = true;
    (void)context;
    if (cleave__metrics_new(&metrics, &error))
        return false;
    uint64_t count = property_draw(source, SERIES) + 1, adds = property_draw(source, 60);
    for (uint64_t i = 0; i < count && good; i++) {
        char value[60] = "";
        for (uint64_t n = property_draw(source, 6); n; n--)
            strcat(value, pieces[property_draw(source, sizeof pieces / sizeof *pieces)]);
        char number[20];
        snprintf(number, sizeof number, "%llu", (unsigned long long)i);
        struct cleave_label labels[] = {{"v", value}, {"i", number}};
        good = !cleave__metrics_counter(metrics, &(struct cleave_metric){"c_total", "h", 0, 0, 0},
                                        labels, 2, &counter[i], &error) &&
               !cleave__metrics_timing(metrics, &(struct cleave_metric){"t", "h\\\n", 0, bounds, 3},
                                       labels, 2, &timing[i], &error) &&
               cleave__metrics_sound(metrics);
    }
    for (uint64_t a = 0; a < adds && good; a++) {
        uint64_t i = property_draw(source, count), more = property_draw(source, 200);
        cleave__counter_add(counter[i], more);
        cleave__timing_add(timing[i], more);
        want[i][0] += more;
        want[i][1]++;
    }
    struct cleave_writer text = {0};
    size_t line = 0;
    const char *why = NULL;
    cleave__metrics_write(metrics, &text);
    cleave__put8(&text, 0);
    good = good && !text.failed &&
           exposition_check((const char *)text.data, text.count - 1, &line, &why);
    for (uint64_t i = 0; i < count && good; i++)
        good = cleave__counter_value(counter[i]) == want[i][0];
    if (source->verbose)
        printf("  line %zu: %s\n%s", line, why ? why : "", (const char *)text.data);
    free(text.data);
    cleave__metrics_free(metrics);
    return good;
}

static void property(void **state)
{
    (void)state;
    assert_true(property_run("metrics", agrees, NULL, 300));
}

/* ---- threads ---- */

enum { THREADS = 4, TIMES = 20000 };

struct shared {
    struct cleave_metrics *metrics;
    int number;
};

static void *count_and_make(void *context)
{
    const struct shared *shared = context;
    struct cleave_error error;
    for (int i = 0; i < TIMES; i++) {
        char value[20];
        struct cleave_counter *counter;
        struct cleave_timing *timing;
        snprintf(value, sizeof value, "%d", i % 20);
        struct cleave_label label = {"i", value};
        if (i % 500 == 0 || i < 40) { /* the same series from all threads */
            if (cleave__metrics_counter(shared->metrics,
                                        &(struct cleave_metric){.name = "c_total", .help = "h"},
                                        &label, 1, &counter, &error) ||
                cleave__metrics_timing(shared->metrics,
                                       &(struct cleave_metric){.name = "t", .help = "h"}, &label, 1,
                                       &timing, &error))
                return (void *)1;
        }
        if (cleave__metrics_counter(shared->metrics,
                                    &(struct cleave_metric){.name = "c_total", .help = "h"}, &label,
                                    1, &counter, &error))
            return (void *)1;
        cleave__counter_add(counter, 1);
        if (i % 5000 == 0) {
            char *text = text_of(shared->metrics);
            size_t line;
            const char *why;
            bool good = exposition_check(text, strlen(text), &line, &why);
            free(text);
            if (!good)
                return (void *)1;
        }
    }
    return NULL;
}

static void many_threads(void **state)
{
    struct shared shared = {0};
    pthread_t thread[THREADS];
    struct cleave_error error;
    (void)state;
    assert_int_equal(cleave__metrics_new(&shared.metrics, &error), CLEAVE_OK);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&thread[t], NULL, count_and_make, &shared), 0);
    for (int t = 0; t < THREADS; t++) {
        void *failed;
        pthread_join(thread[t], &failed);
        assert_null(failed);
    }
    char *text = text_of(shared.metrics);
    double sum = 0;
    for (int i = 0; i < 20; i++) {
        char series[40];
        snprintf(series, sizeof series, "c_total{i=\"%d\"}", i);
        sum += exposition_value(text, series);
    }
    assert_true(sum == (double)THREADS * TIMES);
    assert_true(cleave__metrics_sound(shared.metrics));
    free(text);
    cleave__metrics_free(shared.metrics);
}

static bool attempt(void *context)
{
    struct cleave_metrics *metrics;
    struct cleave_counter *counter;
    struct cleave_timing *timing;
    struct cleave_error error;
    struct cleave_writer text = {0};
    (void)context;
    if (cleave__metrics_new(&metrics, &error))
        return true;
    struct cleave_label label = {"a", "b"};
    enum cleave_status status =
        cleave__metrics_counter(metrics, &(struct cleave_metric){.name = "c_total", .help = "h"},
                                &label, 1, &counter, &error);
    if (!status)
        status = cleave__metrics_timing(metrics, &(struct cleave_metric){.name = "t", .help = "h"},
                                        &label, 1, &timing, &error);
    if (!status)
        status = cleave__metrics_balance(metrics, "c_total = t", &error);
    cleave__metrics_write(metrics, &text);
    bool good = (!status || status == CLEAVE_NO_MEMORY) && cleave__metrics_sound(metrics);
    free(text.data);
    cleave__metrics_free(metrics);
    return good;
}

static void allocations_fail(void **state)
{
    (void)state;
    assert_true(failalloc_run("metrics", attempt, NULL, 1));
}

static void series_are_bounded(void **state)
{
    struct cleave_metrics *metrics;
    struct cleave_gauge *gauge;
    struct cleave_error error;
    enum cleave_status status = CLEAVE_OK;
    (void)state;
    assert_int_equal(cleave__metrics_new(&metrics, &error), CLEAVE_OK);
    uint32_t i = 0;
    for (; i <= CLEAVE_METRICS_SERIES_MOST && !status; i++) {
        char name[20], value[20];
        snprintf(name, sizeof name, "g%u", i / 100);
        snprintf(value, sizeof value, "%u", i);
        struct cleave_label label = {"i", value};
        status = cleave__metrics_gauge(metrics, &(struct cleave_metric){.name = name, .help = "h"},
                                       &label, 1, &gauge, &error);
    }
    assert_int_equal(status, CLEAVE_LIMIT);
    assert_int_equal(i, CLEAVE_METRICS_SERIES_MOST + 1);
    cleave__metrics_free(metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reader_refuses),    cmocka_unit_test(text_is_exact),
        cmocka_unit_test(names_are_refused), cmocka_unit_test(balances),
        cmocka_unit_test(property),          cmocka_unit_test(many_threads),
        cmocka_unit_test(allocations_fail),  cmocka_unit_test(series_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
