/* The property helper, shown to find and shrink deliberately wrong properties. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/property.h"

/* What the final, verbose run of a failing property drew. */
struct seen {
    unsigned verbose_runs, runs;
    size_t count;
    int64_t values[200];
};

static void quietly(bool on)
{
    static int saved = -1;
    fflush(stderr);
    if (on) {
        saved = dup(STDERR_FILENO);
        if (!freopen("/dev/null", "w", stderr))
            abort();
    } else if (saved >= 0) {
        dup2(saved, STDERR_FILENO);
        close(saved);
        saved = -1;
    }
}

static bool fails(const char *name, property_check check, struct seen *seen)
{
    quietly(true);
    bool held = property_run(name, check, seen, 1000);
    quietly(false);
    return !held;
}

/* Wrong: "no number is 1000 or more". Smallest: 1000. */
static bool below_1000(struct property_source *source, void *context)
{
    struct seen *seen = context;
    int64_t x = property_between(source, -1000000, 1000000);
    if (source->verbose) {
        seen->verbose_runs++;
        seen->values[0] = x;
    }
    return x < 1000;
}

static void one_number(void **state)
{
    (void)state;
    struct seen seen = {0};
    assert_true(fails("below_1000", below_1000, &seen));
    assert_int_equal(seen.verbose_runs, 1);
    assert_int_equal(seen.values[0], 1000);
}

/* Wrong: "a list is sorted", its length drawn first. Smallest: 1 0. */
static bool is_sorted(struct property_source *source, void *context)
{
    struct seen *seen = context;
    size_t count = (size_t)property_draw(source, 100);
    int64_t values[100];
    for (size_t i = 0; i < count; i++)
        values[i] = property_between(source, 0, 1 << 30);
    if (source->verbose) {
        seen->count = count;
        memcpy(seen->values, values, count * sizeof *values);
    }
    for (size_t i = 1; i < count; i++) {
        if (values[i - 1] > values[i])
            return false;
    }
    return true;
}

static void list_with_count(void **state)
{
    (void)state;
    struct seen seen = {0};
    assert_true(fails("is_sorted", is_sorted, &seen));
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.values[0], 1);
    assert_int_equal(seen.values[1], 0);
}

/* Wrong: "a list's sum stays under 10000", "go on?" drawn before each item. Smallest: one item. */
static bool small_sum(struct property_source *source, void *context)
{
    struct seen *seen = context;
    int64_t sum = 0;
    size_t count = 0;
    while (count < 100 && property_draw(source, 10) != 0) {
        int64_t value = property_between(source, 0, 20000);
        if (source->verbose)
            seen->values[count] = value;
        sum += value;
        count++;
    }
    if (source->verbose)
        seen->count = count;
    return sum < 10000;
}

static void list_with_markers(void **state)
{
    (void)state;
    struct seen seen = {0};
    assert_true(fails("small_sum", small_sum, &seen));
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.values[0], 10000);
}

static bool in_range(struct property_source *source, void *context)
{
    struct seen *seen = context;
    static const int64_t ranges[][2] = {
        {0, 0}, {-5, 5}, {INT64_MIN, INT64_MAX}, {INT64_MIN, -1}, {1, INT64_MAX}, {-3, 0}, {7, 9}};
    seen->runs++;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        int64_t x = property_between(source, ranges[i][0], ranges[i][1]);
        if (x < ranges[i][0] || x > ranges[i][1])
            return false;
    }
    return true;
}

static void right_property_holds(void **state)
{
    (void)state;
    struct seen seen = {0};
    assert_true(property_run("in_range", in_range, &seen, 500));
    assert_true(seen.runs >= 500);
}

/* The same seed draws the same cases. */
static bool digest(struct property_source *source, void *context)
{
    struct seen *seen = context;
    seen->values[0] = (int64_t)((uint64_t)seen->values[0] * 31 + property_draw(source, 1 << 20));
    return true;
}

static void repeats(void **state)
{
    (void)state;
    struct seen a = {0}, b = {0}, c = {0};
    assert_true(property_run("digest", digest, &a, 50));
    assert_true(property_run("digest", digest, &b, 50));
    assert_true(property_run("another", digest, &c, 50));
    assert_true(a.values[0] == b.values[0]);
    assert_true(a.values[0] != c.values[0]);
}

static bool crashes(struct property_source *source, void *context)
{
    (void)context;
    if (property_draw(source, 20) == 7)
        abort();
    return true;
}

/* A crash names its seed and case before it goes. */
static void crash_is_named(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        property_run("crashes", crashes, NULL, 1000);
        _exit(0);
    }
    close(ends[1]);
    char text[4096];
    size_t length = 0;
    ssize_t got;
    while (length < sizeof text - 1 &&
           (got = read(ends[0], text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = 0;
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_non_null(strstr(text, "property crashes crashed: CLEAVE_PROPERTY_SEED="));
}

int main(void)
{
    unsetenv("CLEAVE_PROPERTY_SEED");
    unsetenv("CLEAVE_PROPERTY_CASE");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_number),        cmocka_unit_test(list_with_count),
        cmocka_unit_test(list_with_markers), cmocka_unit_test(right_property_holds),
        cmocka_unit_test(repeats),           cmocka_unit_test(crash_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
