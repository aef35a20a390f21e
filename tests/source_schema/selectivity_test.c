/* Shares of rows against the truth: a column is drawn, its statistics are gathered the way
 * PostgreSQL does, and the estimates are compared with counting. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "property.h"
#include "tables/source/schema.h"

/* cmocka's own compares floats. */
#define assert_near(a, b, off) assert_true(fabs((a) - (b)) <= (off))

enum { ROWS = 2000, BUCKETS = 20 };

static struct cleave_value integer(int64_t value)
{
    return (struct cleave_value){.kind = CLEAVE_INTEGER, .integer = value};
}

static struct cleave_value text(const char *value)
{
    return (struct cleave_value){
        .kind = CLEAVE_TEXT, .text = value, .length = (uint32_t)strlen(value)};
}

static struct cleave_value number(const char *value)
{
    struct cleave_value result = text(value);
    result.kind = CLEAVE_NUMBER;
    return result;
}

static struct cleave_range between(struct cleave_value low, struct cleave_value high, uint8_t flags)
{
    return (struct cleave_range){low, high, flags};
}

static double share(const struct cleave_table *table, struct cleave_value low,
                    struct cleave_value high, uint8_t flags)
{
    struct cleave_range range = between(low, high, flags);
    return cleave__selectivity(table, 0, &range);
}

static void test_without_statistics(void **state)
{
    (void)state;
    uint32_t own = 0;
    struct cleave_column column = {.name = "a", .type = CLEAVE_TYPE_INTEGER, .not_null = true};
    struct cleave_table table = {.name = "t", .column_count = 1, .columns = &column, .rows = 1000};
    struct cleave_value zero = integer(0), null = {.kind = CLEAVE_NULL};
    const uint8_t both = CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_UNBOUNDED;
    assert_near(share(&table, zero, zero, 0), 1.0 / 200, 1e-12);
    assert_near(share(&table, zero, integer(9), 0), 10.0 / 200, 1e-12);
    assert_near(share(&table, zero, integer(1000000), 0), 1.0 / 3, 1e-12);
    assert_near(share(&table, zero, zero, CLEAVE_HIGH_UNBOUNDED), 1.0 / 3, 1e-12);
    assert_near(share(&table, zero, zero, both), 1, 0);
    assert_near(share(&table, null, null, 0), 0, 0);
    assert_near(share(&table, integer(2), integer(1), 0), 0, 0);
    /* Unique: dense, as many values as rows. */
    table.primary = (struct cleave_key){1, &own};
    assert_near(share(&table, zero, zero, 0), 1.0 / 1000, 1e-12);
    assert_near(share(&table, integer(1), integer(500), 0), 0.5, 1e-12);
    assert_near(share(&table, integer(INT64_MIN), integer(INT64_MAX), 0), 1, 0);
    table.rows = 0;
    assert_near(share(&table, zero, zero, 0), 1.0 / 200, 1e-12);
    table.primary.count = 0;
    table.rows = 10; /* never more values than rows */
    assert_near(share(&table, zero, zero, 0), 0.1, 1e-12);
    column.type = CLEAVE_TYPE_BOOLEAN;
    column.not_null = false;
    assert_near(share(&table, zero, zero, 0), 0.995 / 2, 1e-12);
    assert_near(share(&table, null, null, 0), 0.005, 0);
    column.type = CLEAVE_TYPE_TEXT;
    assert_near(share(&table, text("a"), text("b"), 0), 0.005 * 0.995, 1e-12);
}

static void test_common_values(void **state)
{
    (void)state;
    struct cleave_value common[] = {integer(7), integer(100)}, bounds[] = {integer(0), integer(9)};
    double frequency[] = {0.4, 0.2};
    struct cleave_column column = {
        .name = "a",
        .type = CLEAVE_TYPE_INTEGER,
        .stats = {.known = true,
                  .null_fraction = 0.1,
                  .distinct = 12,
                  .common_count = 2,
                  .common = common,
                  .common_frequency = frequency,
                  .bound_count = 2,
                  .bounds = bounds},
    };
    struct cleave_table table = {.name = "t", .column_count = 1, .columns = &column, .rows = 1000};
    struct cleave_value null = {.kind = CLEAVE_NULL};
    assert_near(share(&table, integer(7), integer(7), 0), 0.4, 1e-12);
    assert_near(share(&table, integer(3), integer(3), 0), 0.3 / 10, 1e-12);
    assert_near(share(&table, null, null, 0), 0.1, 1e-12);
    assert_near(share(&table, integer(0), integer(4), 0), 0.15, 1e-12);
    assert_near(share(&table, integer(5), integer(9), 0), 0.4 + 0.15, 1e-12);
    assert_near(share(&table, integer(10), integer(99), 0), 0, 1e-12);
    assert_near(share(&table, integer(10), null, CLEAVE_HIGH_UNBOUNDED), 0.2, 1e-12);
    assert_near(share(&table, integer(INT64_MIN), integer(INT64_MAX), 0), 0.9, 1e-12);
    /* Half of the rows that are no NULL, 0.45, are reached within the value 7. */
    struct cleave_range all = {.flags = CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_UNBOUNDED};
    struct cleave_value median;
    assert_true(cleave__range_median(&table, 0, &all, &median));
    assert_int_equal(median.integer, 8);
}

static void test_text_and_numbers(void **state)
{
    (void)state;
    struct cleave_value bounds[] = {text("user0000"), text("user1000"), text("user2000")};
    struct cleave_column column = {
        .name = "a",
        .type = CLEAVE_TYPE_TEXT,
        .stats = {.known = true, .distinct = 2000, .bound_count = 3, .bounds = bounds},
    };
    struct cleave_table table = {.name = "t", .column_count = 1, .columns = &column, .rows = 2000};
    double quarter = share(&table, text("user0000"), text("user0500"), CLEAVE_HIGH_OPEN);
    assert_true(fabs(quarter - 0.25) < 0.05);
    assert_near(share(&table, text("user1000"), text("zzz"), 0), 0.5, 1e-9);
    assert_near(share(&table, text("a"), text("user"), 0), 0, 0);
    assert_near(share(&table, text(""), text("\xff\xff"), 0), 1, 0);
    struct cleave_range all = {.flags = CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_UNBOUNDED};
    struct cleave_value median;
    assert_true(cleave__range_median(&table, 0, &all, &median));
    assert_int_equal(cleave__value_compare(&median, &bounds[1]), 0);
    struct cleave_range low = between(text("user0000"), text("user0900"), 0);
    assert_false(cleave__range_median(&table, 0, &low, &median)); /* no bound inside */

    struct cleave_value numbers[] = {number("-10.5"), number("0"), number("10.5")};
    column.type = CLEAVE_TYPE_NUMBER;
    column.stats.bounds = numbers;
    assert_near(share(&table, number("0"), number("5.25"), 0), 0.25, 1e-9);
    assert_near(share(&table, integer(0), number("5.25"), 0), 0.25, 1e-9);
    struct cleave_range some = between(number("0.5"), number("9.5"), 0);
    assert_true(cleave__range_median(&table, 0, &some, &median));
    assert_int_equal(median.kind, CLEAVE_INTEGER);
    assert_int_equal(median.integer, 5);
}

static void test_median_without_statistics(void **state)
{
    (void)state;
    struct cleave_column column = {.name = "a", .type = CLEAVE_TYPE_INTEGER};
    struct cleave_table table = {.name = "t", .column_count = 1, .columns = &column, .rows = 1000};
    struct cleave_value median;
    struct cleave_range range = between(integer(1), integer(10), 0);
    assert_true(cleave__range_median(&table, 0, &range, &median));
    assert_int_equal(median.integer, 6);
    range = between(integer(1), integer(2), 0);
    assert_true(cleave__range_median(&table, 0, &range, &median));
    assert_int_equal(median.integer, 2);
    range = between(integer(INT64_MIN), integer(INT64_MAX), 0);
    assert_true(cleave__range_median(&table, 0, &range, &median));
    assert_int_equal(median.integer, 0);
    range = between(integer(1), integer(1), 0);
    assert_false(cleave__range_median(&table, 0, &range, &median));
    range = between(integer(1), integer(1), CLEAVE_HIGH_UNBOUNDED);
    assert_false(cleave__range_median(&table, 0, &range, &median));
}

/* A drawn column with its statistics. */
struct sample {
    int64_t rows[ROWS]; /* sorted */
    struct cleave_value common[8], bounds[BUCKETS + 1];
    double frequency[8];
    struct cleave_column column;
    struct cleave_table table;
};

static int compare_integers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void gather(struct sample *s)
{
    struct cleave_column_stats *stats = &s->column.stats;
    int64_t rest[ROWS];
    size_t rest_count = 0;
    qsort(s->rows, ROWS, sizeof *s->rows, compare_integers);
    stats->known = true;
    for (size_t i = 0, j; i < ROWS; i = j) {
        for (j = i; j < ROWS && s->rows[j] == s->rows[i]; j++)
            ;
        stats->distinct++;
        if (j - i > ROWS / BUCKETS && stats->common_count < 8) {
            s->frequency[stats->common_count] = (double)(j - i) / ROWS;
            s->common[stats->common_count++] = integer(s->rows[i]);
        } else {
            for (size_t r = i; r < j; r++)
                rest[rest_count++] = s->rows[r];
        }
    }
    for (size_t i = 0; rest_count > 1 && i <= BUCKETS; i++)
        s->bounds[stats->bound_count++] = integer(rest[i * (rest_count - 1) / BUCKETS]);
    stats->common = s->common;
    stats->common_frequency = s->frequency;
    stats->bounds = s->bounds;
    s->table =
        (struct cleave_table){.name = "t", .column_count = 1, .columns = &s->column, .rows = ROWS};
}

static double truth(const struct sample *s, int64_t low, int64_t high)
{
    size_t count = 0;
    for (size_t i = 0; i < ROWS; i++)
        count += s->rows[i] >= low && s->rows[i] <= high;
    return (double)count / ROWS;
}

/* Ranges are within two buckets of the truth, pieces add up, and the median halves. */
static bool estimates_hold(struct property_source *source, void *context)
{
    (void)context;
    struct sample *s = calloc(1, sizeof *s);
    if (!s)
        return false;
    s->column = (struct cleave_column){.name = "a", .type = CLEAVE_TYPE_INTEGER};
    uint64_t width = 1 + property_draw(source, 100000), heavy = property_draw(source, 4);
    uint64_t seed = property_draw(source, UINT32_MAX);
    for (size_t i = 0; i < ROWS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t value = (seed >> 33) % width;
        s->rows[i] = heavy && (seed >> 20) % 4 < heavy ? (int64_t)(value % 3) : (int64_t)value;
    }
    gather(s);
    int64_t low = property_between(source, -5, (int64_t)width), high = low + 1;
    high = property_between(source, high, high + (int64_t)width);
    double whole = share(&s->table, integer(low), integer(high), 0);
    bool fine = fabs(whole - truth(s, low, high)) <= 2.0 / BUCKETS + 1e-9;
    /* Three pieces of more than one value each, so that none is a point. */
    if (high - low > 8) {
        int64_t a = low + (high - low) / 3, b = low + (high - low) * 2 / 3;
        double sum = share(&s->table, integer(low), integer(a), 0) +
                     share(&s->table, integer(a + 1), integer(b), 0) +
                     share(&s->table, integer(b + 1), integer(high), 0);
        fine = fine && fabs(sum - whole) < 1e-9;
    }
    struct cleave_range range = between(integer(low), integer(high), 0);
    struct cleave_value median = integer(0);
    if (!cleave__range_median(&s->table, 0, &range, &median) || median.integer <= low ||
        median.integer > high)
        fine = false;
    double left = truth(s, low, median.integer - 1), right = truth(s, median.integer, high);
    double most = 0; /* a value that holds more than the difference may be why */
    for (uint32_t i = 0; i < s->column.stats.common_count; i++)
        most = fmax(most, s->frequency[i]);
    if (whole > 0 && fabs(left - right) > most + 4.0 / BUCKETS + 1e-9)
        fine = false;
    if (!fine && source->verbose)
        printf("width %g heavy %g range %g..%g estimate %g truth %g median %g: %g and %g\n",
               (double)width, (double)heavy, (double)low, (double)high, whole, truth(s, low, high),
               (double)median.integer, left, right);
    free(s);
    return fine;
}

static void test_estimates(void **state)
{
    (void)state;
    assert_true(property_run("estimates hold", estimates_hold, NULL, 500));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_statistics), cmocka_unit_test(test_common_values),
        cmocka_unit_test(test_text_and_numbers),   cmocka_unit_test(test_median_without_statistics),
        cmocka_unit_test(test_estimates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
