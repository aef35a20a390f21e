/* The parts beside the policies: names with parameters, the sketch, the trace reader, the replay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/cache/replay.h"
#include "graph/cache/sketch.h"
#include "support/property.h"

static enum cleave_status parse(const char *text, struct cleave__cache_choice *choice,
                                struct cleave_error *error)
{
    return cleave__cache_choice_parse(text, strlen(text), choice, error);
}

static void names(void **state)
{
    (void)state;
    struct cleave__cache_choice choice = {0};
    struct cleave_error error;
    assert_int_equal(parse("s3-fifo:ghost=0.5:small=.25", &choice, &error), CLEAVE_OK);
    assert_string_equal(cleave__cache_policy_name(choice.policy), "s3-fifo");
    assert_true(choice.parameter[0] == 0.25 && choice.parameter[1] == 0.5 &&
                choice.parameter[2] == 2);
    static const char *const bad[][2] = {
        {"", "no eviction policy is called ''"},
        {"lru2", "no eviction policy is called 'lru2'; there is: fifo, lru,"},
        {"lru:", "lru has no parameter ''; there is: none"},
        {"lirs:hir", "lirs: hir takes a number from 0 to 1"},
        {"lirs:hir=", "lirs: hir takes a number from 0 to 1"},
        {"lirs:hir=nan", "lirs: hir takes a number from 0 to 1"},
        {"lirs:hir=0.1x", "lirs: hir takes a number from 0 to 1"},
        {"lirs:hir=1.5", "lirs: hir takes a number from 0 to 1"},
        {"lirs:hir=0.1:", "lirs has no parameter ''; there is: hir, stack"},
        {"lirs:hat=0.1", "lirs has no parameter 'hat'; there is: hir, stack"},
    };
    struct cleave__cache_choice before = choice;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(parse(bad[i][0], &choice, &error), CLEAVE_BAD_ARGUMENT);
        if (!strstr(error.message, bad[i][1]))
            fail_msg("'%s' gave: %s", bad[i][0], error.message);
        assert_memory_equal(&choice, &before, sizeof choice);
    }
}

static void refusals(void **state)
{
    (void)state;
    struct cleave__cache_options options = {.capacity = 1};
    struct cleave__cache *cache = NULL;
    struct cleave_error error;
    assert_int_equal(cleave__cache_new(&options, &cache, &error), CLEAVE_BAD_ARGUMENT);
    assert_int_equal(parse("belady", &options.choice, &error), CLEAVE_OK);
    assert_int_equal(cleave__cache_new(&options, &cache, &error), CLEAVE_BAD_ARGUMENT);
    assert_int_equal(parse("lru", &options.choice, &error), CLEAVE_OK);
    options.capacity = 0;
    assert_int_equal(cleave__cache_new(&options, &cache, &error), CLEAVE_BAD_ARGUMENT);
    options.capacity = CLEAVE_CACHE_CAPACITY_MAX + 1;
    assert_int_equal(cleave__cache_new(&options, &cache, &error), CLEAVE_BAD_ARGUMENT);
    assert_null(cache);
}

/* Never under the truth, whatever the keys, also across growth; halved is halved. */
static bool sketch_holds(struct property_source *source, void *context)
{
    (void)context;
    struct cleave__sketch sketch = {0};
    enum { KEYS = 300 };
    unsigned count[KEYS] = {0};
    uint64_t key[KEYS];
    bool ok = cleave__sketch_reserve(&sketch, 1);
    unsigned adds = (unsigned)property_draw(source, 600);
    for (unsigned i = 0; i < KEYS; i++)
        key[i] = property_draw(source, 2) ? i : property_draw(source, UINT64_MAX);
    for (unsigned i = 0; i < adds && ok; i++) {
        unsigned k = (unsigned)property_draw(source, property_draw(source, 2) ? KEYS : 8);
        cleave__sketch_add(&sketch, key[k]);
        count[k] += count[k] < CLEAVE_SKETCH_MAX;
        if (property_draw(source, 100) == 99)
            ok = cleave__sketch_reserve(&sketch, 8 * (sketch.mask + 2));
    }
    for (unsigned k = 0; k < KEYS; k++)
        ok = ok && cleave__sketch_estimate(&sketch, key[k]) >= count[k];
    unsigned before = cleave__sketch_estimate(&sketch, key[0]);
    cleave__sketch_halve(&sketch);
    ok = ok && cleave__sketch_estimate(&sketch, key[0]) == before / 2;
    cleave__sketch_free(&sketch);
    return ok;
}

static void sketch(void **state)
{
    (void)state;
    assert_true(property_run("a sketch never undercounts", sketch_holds, NULL, 500));
    /* And is seldom over, where there is room: 100 keys once each, of 4096. */
    struct cleave__sketch s = {0};
    assert_true(cleave__sketch_reserve(&s, 4096));
    unsigned over = 0;
    for (uint64_t k = 0; k < 100; k++)
        cleave__sketch_add(&s, k);
    for (uint64_t k = 0; k < 1000; k++)
        over += cleave__sketch_estimate(&s, k) > (k < 100);
    assert_in_range(over, 0, 1);
    cleave__sketch_free(&s);
}

static enum cleave_status read_text(const char *text, enum cleave__cache_trace_format format,
                                    struct cleave__cache_trace *trace, struct cleave_error *error)
{
    FILE *out = fopen("cache-parts.trace", "wb");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    return cleave__cache_trace_read("cache-parts.trace", format, NULL, trace, error);
}

static void traces(void **state)
{
    (void)state;
    struct cleave__cache_trace t = {0};
    struct cleave_error error;
    /* Keys are any text; blanks at the ends and blank lines do not count. */
    assert_int_equal(read_text("one key\r\n\n  b\t\none key\nb\n7", CLEAVE_TRACE_GUESS, &t, &error),
                     0);
    static const uint32_t expected[] = {0, 1, 0, 1, 2};
    assert_int_equal(t.requests, 5);
    assert_int_equal(t.objects, 3);
    assert_null(t.size);
    assert_memory_equal(t.request, expected, sizeof expected);
    cleave__cache_trace_free(&t);
    /* Sized, as the first line shows; 0 is 1; a later size is counted and not taken. */
    assert_int_equal(read_text("a 5\nb c  0\na 6\n", CLEAVE_TRACE_GUESS, &t, &error), 0);
    assert_int_equal(t.requests, 3);
    assert_int_equal(t.bytes, 6);
    assert_int_equal(t.resized, 1);
    assert_int_equal(t.size[1], 1);
    cleave__cache_trace_free(&t);
    /* Or as it is said. */
    assert_int_equal(read_text("a 5\na 6\n", CLEAVE_TRACE_KEYS, &t, &error), 0);
    assert_int_equal(t.objects, 2);
    assert_null(t.size);
    cleave__cache_trace_free(&t);
    assert_int_equal(read_text("a b 5\na 6\n", CLEAVE_TRACE_SIZED, &t, &error), 0);
    assert_int_equal(t.bytes, 11);
    cleave__cache_trace_free(&t);
    struct cleave__cache_trace untouched = t;
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "cache-parts.trace: no request in it"},
        {" \n\n", "cache-parts.trace: no request in it"},
        {"a 1\nb\n", "cache-parts.trace:2: no size at the end"},
        {"a 1\n\n5\n", "cache-parts.trace:3: no size at the end"},
        {"a 1\nb 999999999999999999999\n", "cache-parts.trace:2: a size past 2^48 bytes"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_not_equal(read_text(bad[i].text, CLEAVE_TRACE_GUESS, &t, &error), CLEAVE_OK);
        if (!strstr(error.message, bad[i].message))
            fail_msg("'%s' gave: %s", bad[i].text, error.message);
        assert_memory_equal(&t, &untouched, sizeof t);
    }
    remove("cache-parts.trace");
}

static void replays(void **state)
{
    (void)state;
    uint32_t request[] = {0, 1, 0, 2, 0, 1, 1};
    uint64_t size[] = {4, 5, 6}, next[7];
    struct cleave__cache_trace trace = {request, 7, size, 3, 15, 0};
    static const uint64_t expected[] = {2, 5, 4, UINT64_MAX, UINT64_MAX, 6, UINT64_MAX};
    assert_int_equal(cleave__cache_next_uses(&trace, next, NULL), 0);
    assert_memory_equal(next, expected, sizeof next);
    struct cleave__cache_choice choice;
    struct cleave__cache_replay got;
    assert_int_equal(parse("lru", &choice, NULL), 0);
    assert_int_equal(cleave__cache_replay(&trace, &choice, 10, true, NULL, &got, NULL), 0);
    assert_int_equal(got.counts.misses, 4); /* 0 1 2 (takes the place of 1), 1 (of 2) */
    assert_int_equal(got.requested_bytes, 33);
    assert_int_equal(got.missed_bytes, 20);
    assert_int_equal(got.counts.bytes, 9);
    volatile sig_atomic_t stop = 1;
    struct cleave_progress progress = {.stop = &stop};
    assert_int_equal(cleave__cache_replay(&trace, &choice, 10, true, &progress, &got, NULL),
                     CLEAVE_INTERRUPTED);
    trace.size = NULL;
    assert_int_equal(cleave__cache_replay(&trace, &choice, 10, true, NULL, &got, NULL),
                     CLEAVE_BAD_ARGUMENT);
}

/* Steady state: once the cache is full, nothing is allocated, whatever comes. */
static void steady(void **state)
{
    (void)state;
    const struct cleave__cache_policy *policy;
    for (uint32_t i = 0; (policy = cleave__cache_policy_at(i)); i++) {
        struct cleave__cache_options options = {.capacity = 500};
        struct cleave__cache *cache;
        uint64_t none = UINT64_MAX, memory = 0;
        options.next_use = &none;
        assert_int_equal(parse(cleave__cache_policy_name(policy), &options.choice, NULL), 0);
        assert_int_equal(cleave__cache_new(&options, &cache, NULL), 0);
        for (uint64_t n = 0; n < 60000; n++) {
            uint64_t key = n * n % 9973 % (n % 3 ? 400 : 5000);
            const struct cleave__cache_entry entry = {.size = key};
            if (!cleave__cache_get(cache, key, 0, NULL))
                assert_int_equal(cleave__cache_put(cache, key, &entry, NULL, NULL), 0);
            if (n == 20000)
                memory = cleave__cache_memory_bytes(cache);
        }
        assert_int_equal(cleave__cache_memory_bytes(cache), memory);
        const char *why;
        assert_true(cleave__cache_check(cache, &why));
        cleave__cache_free(cache);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names),   cmocka_unit_test(refusals),
                                       cmocka_unit_test(sketch),  cmocka_unit_test(traces),
                                       cmocka_unit_test(replays), cmocka_unit_test(steady)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
