/* Typed constants: what is read, what is refused, order, hash, print. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "property.h"
#include "tables/sql/number.h"
#include "tables/sql/value.h"

/* Reads `text` as `type` and prints it again; NULL expected: refused. */
static void check(enum cleave_type type, const char *text, const char *expected)
{
    struct cleave_arena arena = {0};
    struct cleave_value value = {.kind = CLEAVE_NULL, .length = 7};
    enum cleave_status status = cleave__value_parse(type, text, strlen(text), &arena, &value);
    char printed[2000] = "(refused)";
    if (status == CLEAVE_OK) {
        int length = cleave__value_print(&value, type, printed, sizeof printed);
        assert_int_equal(length, strlen(printed));
    } else {
        assert_true(status == CLEAVE_BAD_INPUT && value.length == 7); /* untouched */
    }
    if (strcmp(printed, expected ? expected : "(refused)") != 0)
        fail_msg("%s \"%s\": %s, expected %s", cleave__type_name(type), text, printed,
                 expected ? expected : "(refused)");
    cleave__arena_free(&arena);
}

static void type_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum cleave_type type;
    } names[] = {
        {"integer", CLEAVE_TYPE_INTEGER},
        {"BIGINT", CLEAVE_TYPE_INTEGER},
        {"bigserial", CLEAVE_TYPE_INTEGER},
        {"pg_catalog.int4", CLEAVE_TYPE_INTEGER},
        {"character varying(20)", CLEAVE_TYPE_TEXT},
        {"numeric(10,2)", CLEAVE_TYPE_NUMBER},
        {"double  precision", CLEAVE_TYPE_NUMBER},
        {"TIMESTAMP (3) WITH TIME ZONE", CLEAVE_TYPE_TIMESTAMP},
        {"timestamp with time zone", CLEAVE_TYPE_TIMESTAMP},
        {"timestamp(3) without time zone", CLEAVE_TYPE_TIMESTAMP},
        {"time", CLEAVE_TYPE_TIME},
        {"date", CLEAVE_TYPE_DATE},
        {"character(3)", CLEAVE_TYPE_CHAR},
        {"bpchar", CLEAVE_TYPE_CHAR},
        {"\"char\"", CLEAVE_TYPE_TEXT},
        {"integer[]", CLEAVE_TYPE_TEXT},
        {"mood", CLEAVE_TYPE_TEXT},
        {"", CLEAVE_TYPE_TEXT},
        {"uuid", CLEAVE_TYPE_UUID},
        {"bool", CLEAVE_TYPE_BOOLEAN},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(cleave__type_of_name(names[i].name), names[i].type);
}

static void numbers(void **state)
{
    (void)state;
    check(CLEAVE_TYPE_INTEGER, "42", "42");
    check(CLEAVE_TYPE_INTEGER, " -007 ", "-7");
    check(CLEAVE_TYPE_INTEGER, "+5", "5");
    check(CLEAVE_TYPE_INTEGER, "-0", "0");
    check(CLEAVE_TYPE_INTEGER, "9223372036854775807", "9223372036854775807");
    check(CLEAVE_TYPE_INTEGER, "-9223372036854775808", "-9223372036854775808");
    check(CLEAVE_TYPE_INTEGER, "9223372036854775808", NULL);
    check(CLEAVE_TYPE_INTEGER, "99999999999999999999999999", NULL);
    static const char *const not_integers[] = {"", " ", "-", "1e3", "5.0", "0x10", "5 6", "--5"};
    for (size_t i = 0; i < sizeof not_integers / sizeof *not_integers; i++)
        check(CLEAVE_TYPE_INTEGER, not_integers[i], NULL);
    check(CLEAVE_TYPE_NUMBER, "12.5", "12.5");
    check(CLEAVE_TYPE_NUMBER, "1.50", "1.5");
    check(CLEAVE_TYPE_NUMBER, "1e3", "1000");
    check(CLEAVE_TYPE_NUMBER, "1.25E+1", "12.5");
    check(CLEAVE_TYPE_NUMBER, "12.5e-3", "0.0125");
    check(CLEAVE_TYPE_NUMBER, "-0", "0");
    check(CLEAVE_TYPE_NUMBER, "-0.000", "0");
    check(CLEAVE_TYPE_NUMBER, "0e99999999", "0");
    check(CLEAVE_TYPE_NUMBER, ".5", "0.5");
    check(CLEAVE_TYPE_NUMBER, "-.5", "-0.5");
    check(CLEAVE_TYPE_NUMBER, "5.", "5");
    check(CLEAVE_TYPE_NUMBER, "00120.0100", "120.01");
    check(CLEAVE_TYPE_NUMBER, "120", "120");
    check(CLEAVE_TYPE_NUMBER, "0.001e2", "0.1");
    check(CLEAVE_TYPE_NUMBER, "0.001e5", "100");
    check(CLEAVE_TYPE_NUMBER, "10.01e1", "100.1");
    check(CLEAVE_TYPE_NUMBER, "123456789012345678901234567890", "123456789012345678901234567890");
    static const char *const not_numbers[] = {
        "", ".", "e5", "1e", "1e+", "1.2.3", "1a", "NaN", "inf", "1e999999999999", "0x1"};
    for (size_t i = 0; i < sizeof not_numbers / sizeof *not_numbers; i++)
        check(CLEAVE_TYPE_NUMBER, not_numbers[i], NULL);
}

static void texts(void **state)
{
    (void)state;
    check(CLEAVE_TYPE_TEXT, "it's ", "'it''s '");
    check(CLEAVE_TYPE_CHAR, "ab  ", "'ab'");
    check(CLEAVE_TYPE_CHAR, "   ", "''");
    check(CLEAVE_TYPE_UUID, "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
          "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'");
    check(CLEAVE_TYPE_UUID, "{a0eebc999c0b4ef8bb6d6bb9bd380a11}",
          "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'");
    check(CLEAVE_TYPE_UUID, "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11",
          "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'");
    check(CLEAVE_TYPE_UUID, "a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11",
          "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'");
    check(CLEAVE_TYPE_UUID, "a0e-ebc999c0b4ef8bb6d6bb9bd380a11", NULL);
    check(CLEAVE_TYPE_UUID, "a0eebc999c0b4ef8bb6d6bb9bd380a11-", NULL);
    check(CLEAVE_TYPE_UUID, "a0eebc999c0b4ef8bb6d6bb9bd380a1", NULL);
    check(CLEAVE_TYPE_UUID, "a0eebc999c0b4ef8bb6d6bb9bd380a1g", NULL);
    static const char *const yes[] = {"t", "TRUE", "tr", "y", "yes", "on", "1", " true "};
    static const char *const no[] = {"f", "False", "n", "no", "off", "of", "0"};
    static const char *const neither[] = {"", "o", "2", "truely", "nope", "01"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        check(CLEAVE_TYPE_BOOLEAN, yes[i], "true");
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        check(CLEAVE_TYPE_BOOLEAN, no[i], "false");
    for (size_t i = 0; i < sizeof neither / sizeof *neither; i++)
        check(CLEAVE_TYPE_BOOLEAN, neither[i], NULL);
}

static void dates(void **state)
{
    (void)state;
    check(CLEAVE_TYPE_DATE, "2020-02-29", "'2020-02-29'");
    check(CLEAVE_TYPE_DATE, "20200229", "'2020-02-29'");
    check(CLEAVE_TYPE_DATE, "2020-2-9", "'2020-02-09'");
    check(CLEAVE_TYPE_DATE, "2020-02-29 23:59:59-11", "'2020-02-29'");
    check(CLEAVE_TYPE_DATE, "0044-03-15 BC", "'0044-03-15 BC'");
    check(CLEAVE_TYPE_DATE, "infinity", "'infinity'");
    check(CLEAVE_TYPE_DATE, "epoch", "'1970-01-01'");
    static const char *const not_dates[] = {
        "2021-02-29",    "2020-13-01", "2020-00-10", "2020-01-00",  "01/02/2020",
        "today",         "2020-01",    "20-01-02",   "2020-01-02x", "0000-01-01",
        "5874897-12-31", "",           "2020-1-2-3"};
    for (size_t i = 0; i < sizeof not_dates / sizeof *not_dates; i++)
        check(CLEAVE_TYPE_DATE, not_dates[i], NULL);
    check(CLEAVE_TYPE_TIMESTAMP, "2020-01-31 10:11:12", "'2020-01-31 10:11:12'");
    check(CLEAVE_TYPE_TIMESTAMP, "2020-01-31T10:11:12.5Z", "'2020-01-31 10:11:12.5'");
    check(CLEAVE_TYPE_TIMESTAMP, "2020-01-31", "'2020-01-31 00:00:00'");
    check(CLEAVE_TYPE_TIMESTAMP, "2020-01-31 10:11", "'2020-01-31 10:11:00'");
    check(CLEAVE_TYPE_TIMESTAMP, "2020-01-31 10:11:12+02", "'2020-01-31 08:11:12'");
    check(CLEAVE_TYPE_TIMESTAMP, "2020-01-31 10:11:12 -0330", "'2020-01-31 13:41:12'");
    check(CLEAVE_TYPE_TIMESTAMP, "2020-01-01 00:30:00+01:00", "'2019-12-31 23:30:00'");
    check(CLEAVE_TYPE_TIMESTAMP, "2020-01-31 24:00:00", "'2020-02-01 00:00:00'");
    check(CLEAVE_TYPE_TIMESTAMP, "2020-01-31 10:11:60", "'2020-01-31 10:12:00'");
    check(CLEAVE_TYPE_TIMESTAMP, "2020-01-31 10:11:12.1234567", "'2020-01-31 10:11:12.123457'");
    check(CLEAVE_TYPE_TIMESTAMP, "1969-12-31 23:59:59.9", "'1969-12-31 23:59:59.9'");
    check(CLEAVE_TYPE_TIMESTAMP, "0001-01-01 00:00:00 BC", "'0001-01-01 00:00:00 BC'");
    check(CLEAVE_TYPE_TIMESTAMP, "-infinity", "'-infinity'");
    static const char *const not_timestamps[] = {"2020-01-31 25:00", "2020-01-31 10:60",
                                                 "2020-01-31 10",    "2020-01-31 10:11 EST",
                                                 "2020-01-31T",      "now",
                                                 "999999-01-01",     "2020-01-31 10:11:12+99"};
    for (size_t i = 0; i < sizeof not_timestamps / sizeof *not_timestamps; i++)
        check(CLEAVE_TYPE_TIMESTAMP, not_timestamps[i], NULL);
    check(CLEAVE_TYPE_TIME, "10:11:12.25", "'10:11:12.25'");
    check(CLEAVE_TYPE_TIME, "24:00", "'24:00:00'");
    check(CLEAVE_TYPE_TIME, "10:11+02", NULL);
}

/* A day's number agrees with counting days one by one. */
static void calendar_is_gapless(void **state)
{
    (void)state;
    struct cleave_arena arena = {0};
    struct cleave_value day = {0};
    cleave__value_parse(CLEAVE_TYPE_DATE, "0005-01-01 BC", 13, &arena, &day);
    char before[64] = "";
    for (int i = 0; i < 4000; i++) {
        char text[64];
        cleave__value_print(&day, CLEAVE_TYPE_DATE, text, sizeof text);
        struct cleave_value again;
        assert_int_equal(
            cleave__value_parse(CLEAVE_TYPE_DATE, text + 1, strlen(text) - 2, &arena, &again),
            CLEAVE_OK);
        assert_true(again.integer == day.integer);
        assert_string_not_equal(text, before);
        strcpy(before, text);
        day.integer += INT64_C(86400000000);
    }
    assert_string_equal(before, "'0006-12-13'");
    cleave__arena_free(&arena);
}

/* Any 64-bit number may stand in a damaged file as a date, a time or a timestamp. */
static void print_extremes(void **state)
{
    (void)state;
    static const enum cleave_type types[] = {CLEAVE_TYPE_DATE, CLEAVE_TYPE_TIMESTAMP,
                                             CLEAVE_TYPE_TIME, CLEAVE_TYPE_INTEGER,
                                             CLEAVE_TYPE_BOOLEAN};
    static const int64_t numbers[] = {
        INT64_MIN, INT64_MIN + 1, INT64_MIN + 2, INT64_MAX, INT64_MAX - 1, -86400000000, -1, 0};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
            struct cleave_value value = {.kind = CLEAVE_INTEGER, .integer = numbers[n]};
            char text[100];
            int length = cleave__value_print(&value, types[t], text, sizeof text);
            assert_true(length > 0 && length < (int)sizeof text);
            assert_int_equal(length, strlen(text));
        }
    }
}

static void print_is_bounded(void **state)
{
    (void)state;
    struct cleave_value value = {.kind = CLEAVE_TEXT, .length = 5, .text = "a'b\0c"};
    char buffer[4] = "???";
    assert_int_equal(cleave__value_print(&value, CLEAVE_TYPE_TEXT, NULL, 0), 8);
    assert_int_equal(cleave__value_print(&value, CLEAVE_TYPE_TEXT, buffer, sizeof buffer), 8);
    assert_string_equal(buffer, "'a'");
}

static struct cleave_value draw_number(struct property_source *source, char *text)
{
    struct cleave_value value;
    static struct cleave_arena arena; /* never written: the text below is canonical or rewritten */
    int64_t scaled = property_between(source, -300, 300);
    if (scaled % 10 == 0 && property_draw(source, 2)) {
        value = (struct cleave_value){.kind = CLEAVE_INTEGER, .integer = scaled / 10};
        return value;
    }
    sprintf(text, "%s%d.%d", scaled < 0 ? "-" : "", (int)(llabs(scaled) / 10),
            (int)(llabs(scaled) % 10));
    if (cleave__value_parse(CLEAVE_TYPE_NUMBER, text, strlen(text), &arena, &value))
        abort();
    if (value.text != text) {
        memcpy(text, value.text, value.length);
        value.text = text;
    }
    cleave__arena_free(&arena);
    return value;
}

static double as_double(const struct cleave_value *value)
{
    char text[32] = "";
    cleave__value_print(value, CLEAVE_TYPE_NUMBER, text, sizeof text);
    return strtod(text, NULL);
}

static bool order_and_hash(struct property_source *source, void *context)
{
    (void)context;
    char a_text[32], b_text[32];
    struct cleave_value a = draw_number(source, a_text), b = draw_number(source, b_text);
    double x = as_double(&a), y = as_double(&b);
    int order = cleave__value_compare(&a, &b);
    if (source->verbose)
        print_message("%g against %g: %d\n", x, y, order);
    return order == (x > y) - (x < y) && cleave__value_compare(&b, &a) == -order &&
           (order != 0 || cleave__value_hash(&a) == cleave__value_hash(&b));
}

/* A range over a domain of small integers and halves, as a list of which members it holds. */
static struct cleave_range draw_range(struct property_source *source, char *low, char *high)
{
    struct cleave_range range = {draw_number(source, low), draw_number(source, high),
                                 (uint8_t)property_draw(source, 16)};
    if (property_draw(source, 8) == 7)
        range = (struct cleave_range){0};
    return range;
}

static bool ranges_are_sets(struct property_source *source, void *context)
{
    (void)context;
    char text[4][32];
    struct cleave_range a = draw_range(source, text[0], text[1]);
    struct cleave_range b = draw_range(source, text[2], text[3]);
    struct cleave_range common;
    bool some = cleave__range_intersect(&a, &b, &common);
    bool overlap = false, covered = true, alone = true;
    int count = 0;
    /* Every tenth of a tenth: between any two ends lies a sample. */
    for (int i = -3100; i <= 3101; i++) {
        char point_text[32];
        struct cleave_value point = {0};
        if (i <= 3100) {
            struct cleave_arena arena = {0};
            int length =
                sprintf(point_text, "%s%d.%02d", i < 0 ? "-" : "", abs(i) / 100, abs(i) % 100);
            cleave__value_parse(CLEAVE_TYPE_NUMBER, point_text, (size_t)length, &arena, &point);
            char copy[32];
            memcpy(copy, point.text, point.length);
            memcpy(point_text, copy, point.length);
            point.text = point_text;
            cleave__arena_free(&arena);
        }
        bool in_a = cleave__range_contains(&a, &point), in_b = cleave__range_contains(&b, &point);
        if ((in_a && in_b) != (some && cleave__range_contains(&common, &point)))
            return false;
        overlap |= in_a && in_b;
        covered &= in_a || !in_b;
        alone &= !in_a || !in_b;
        count += in_a;
    }
    (void)alone;
    if (source->verbose)
        print_message("flags %d and %d\n", a.flags, b.flags);
    return overlap == some && overlap == cleave__range_overlaps(&a, &b) &&
           covered == cleave__range_covers(&a, &b) && (count == 0) == cleave__range_is_empty(&a) &&
           (count == 1) == (cleave__range_is_point(&a) && !cleave__range_is_empty(&a));
}

static void properties(void **state)
{
    (void)state;
    assert_true(property_run("number order", order_and_hash, NULL, 2000));
    assert_true(property_run("ranges", ranges_are_sets, NULL, 300));
}

static void mixed_order(void **state)
{
    (void)state;
    struct cleave_value values[] = {
        {.kind = CLEAVE_NULL},
        {.kind = CLEAVE_NUMBER, .length = 21, .text = "-99999999999999999999."},
        {.kind = CLEAVE_INTEGER, .integer = INT64_MIN},
        {.kind = CLEAVE_NUMBER, .length = 4, .text = "-1.5"},
        {.kind = CLEAVE_INTEGER, .integer = -1},
        {.kind = CLEAVE_INTEGER, .integer = 9},
        {.kind = CLEAVE_NUMBER, .length = 3, .text = "9.5"},
        {.kind = CLEAVE_INTEGER, .integer = 10},
        {.kind = CLEAVE_INTEGER, .integer = INT64_MAX},
        {.kind = CLEAVE_NUMBER, .length = 19, .text = "9223372036854775808"},
        {.kind = CLEAVE_TEXT, .length = 0, .text = ""},
        {.kind = CLEAVE_TEXT, .length = 1, .text = "a"},
        {.kind = CLEAVE_TEXT, .length = 2, .text = "a\x01"},
        {.kind = CLEAVE_TEXT, .length = 1, .text = "\xff"},
    };
    size_t count = sizeof values / sizeof *values;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++)
            assert_int_equal(cleave__value_compare(&values[i], &values[j]), (i > j) - (i < j));
    }
    assert_int_equal(cleave__number_digits("-0012300.0", 10), 3);
    assert_int_equal(cleave__number_digits("0.0010200", 9), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(type_names),
        cmocka_unit_test(numbers),
        cmocka_unit_test(texts),
        cmocka_unit_test(dates),
        cmocka_unit_test(calendar_is_gapless),
        cmocka_unit_test(print_is_bounded),
        cmocka_unit_test(print_extremes),
        cmocka_unit_test(mixed_order),
        cmocka_unit_test(properties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
