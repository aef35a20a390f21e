/* Cuts: pieces cover the domain once, and a range's run is exactly the pieces it meets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/property.h"
#include "tables/shape/cuts.h"

enum { DOMAIN = 9 };

/* Integers, or one-letter texts, so that open bounds of a dense domain are tried too. */
static struct cleave_value draw_value(struct property_source *source, bool text, int64_t at)
{
    static const char letters[] = "abcdefghij";
    (void)source;
    struct cleave_value value = {.kind = text ? CLEAVE_TEXT : CLEAVE_INTEGER};
    value.integer = text ? 0 : at;
    value.text = letters + at;
    value.length = 1;
    return value;
}

static struct cleave_range draw_range(struct property_source *source, bool text)
{
    int64_t low = property_between(source, 0, DOMAIN - 1);
    struct cleave_range range = {
        .low = draw_value(source, text, low),
        .high = draw_value(source, text, property_between(source, low, DOMAIN - 1))};
    if (property_draw(source, 5) == 1)
        range.flags |= CLEAVE_LOW_UNBOUNDED;
    if (property_draw(source, 5) == 1)
        range.flags |= CLEAVE_HIGH_UNBOUNDED;
    if (text && cleave__value_compare(&range.low, &range.high) < 0) {
        range.flags |= property_draw(source, 2) ? CLEAVE_LOW_OPEN : 0;
        range.flags |= property_draw(source, 2) ? CLEAVE_HIGH_OPEN : 0;
    }
    return range;
}

static bool runs_are_exact(struct property_source *source, void *context)
{
    bool text = context != NULL, ok = true;
    struct cleave_cuts cuts = {0};
    struct cleave_range ranges[5];
    uint32_t count = 1 + (uint32_t)property_draw(source, 5);
    for (uint32_t r = 0; ok && r < count; r++) {
        ranges[r] = draw_range(source, text);
        ok = cleave__cuts_add(&cuts, &ranges[r]);
    }
    cleave__cuts_sort(&cuts);
    for (int64_t x = 0; ok && x < DOMAIN; x++) {
        struct cleave_value value = draw_value(source, text, x);
        uint32_t home = 0, homes = 0;
        for (uint32_t p = 0; p <= cuts.list.count; p++) {
            struct cleave_range piece;
            cleave__cuts_piece(&cuts, p, &piece);
            if (cleave__range_contains(&piece, &value)) {
                home = p;
                homes++;
            }
        }
        ok = homes == 1;
        for (uint32_t r = 0; ok && r < count; r++) {
            uint32_t first, last;
            cleave__cuts_run(&cuts, &ranges[r], &first, &last);
            ok = cleave__range_contains(&ranges[r], &value) == (home >= first && home <= last);
        }
    }
    CLEAVE_VECTOR_FREE(&cuts.list);
    return ok;
}

static void test_integers(void **state)
{
    (void)state;
    assert_true(property_run("cuts of integers", runs_are_exact, NULL, 3000));
}

static void test_texts(void **state)
{
    (void)state;
    assert_true(property_run("cuts of texts", runs_are_exact, "text", 3000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_integers),
                                       cmocka_unit_test(test_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
