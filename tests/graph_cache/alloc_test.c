/* Every allocation of a cache, a trace and a replay fails once: an error, no leak, and a cache that
 * is as sound as before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "graph/cache/replay.h"
#include "support/failalloc.h"

enum { REQUESTS = 700 };

static bool use(struct cleave__cache *cache)
{
    bool ok = true;
    for (uint64_t n = 0; n < REQUESTS && ok; n++) {
        uint64_t key = n * n % 499;
        const struct cleave__cache_entry entry = {.size = 1 + key % 5, .value = key};
        struct cleave__cache_counts before = cleave__cache_counts(cache);
        if (n % 50 == 7)
            cleave__cache_invalidate(cache, key);
        else if (!cleave__cache_get(cache, key, 0, NULL) &&
                 cleave__cache_put(cache, key, &entry, NULL, NULL)) {
            struct cleave__cache_counts after = cleave__cache_counts(cache);
            const char *why;
            ok = !cleave__cache_holds(cache, key) && after.entries == before.entries &&
                 after.refused == before.refused && cleave__cache_check(cache, &why);
        }
    }
    return ok;
}

static bool attempt(void *context)
{
    static const uint64_t never = UINT64_MAX;
    const struct cleave__cache_policy *policy = context;
    const char *name = cleave__cache_policy_name(policy);
    struct cleave__cache_options options = {
        .capacity = 300, .in_bytes = true, .next_use = &never, .next_uses = 1};
    struct cleave__cache *cache = NULL;
    const char *why;
    if (cleave__cache_choice_parse(name, strlen(name), &options.choice, NULL))
        return false;
    enum cleave_status status = cleave__cache_new(&options, &cache, NULL);
    if (status)
        return status == CLEAVE_NO_MEMORY && !cache;
    bool ok = use(cache) && cleave__cache_check(cache, &why);
    cleave__cache_free(cache);
    return ok;
}

static bool replay(void *context)
{
    const struct cleave__cache_policy *policy = context;
    struct cleave__cache_choice choice;
    struct cleave__cache_trace trace = {0};
    struct cleave__cache_replay got;
    const char *name = cleave__cache_policy_name(policy);
    if (cleave__cache_choice_parse(name, strlen(name), &choice, NULL))
        return false;
    enum cleave_status status =
        cleave__cache_trace_read("cache-alloc.trace", CLEAVE_TRACE_GUESS, NULL, &trace, NULL);
    if (!status)
        status = cleave__cache_replay(&trace, &choice, 50, true, NULL, &got, NULL);
    cleave__cache_trace_free(&trace);
    return status == CLEAVE_OK || status == CLEAVE_NO_MEMORY;
}

static void policies(void **state)
{
    (void)state;
    const struct cleave__cache_policy *policy;
    for (uint32_t i = 0; (policy = cleave__cache_policy_at(i)); i++)
        assert_true(failalloc_run(cleave__cache_policy_name(policy), attempt,
                                  (void *)(uintptr_t)policy, 1));
}

static void replays(void **state)
{
    (void)state;
    FILE *out = fopen("cache-alloc.trace", "w");
    assert_non_null(out);
    for (unsigned n = 0; n < 200; n++)
        fprintf(out, "key%u %u\n", n * n % 97, 1 + n % 9);
    fclose(out);
    const struct cleave__cache_policy *policy;
    for (uint32_t i = 0; (policy = cleave__cache_policy_at(i)); i++)
        assert_true(
            failalloc_run(cleave__cache_policy_name(policy), replay, (void *)(uintptr_t)policy, 1));
    remove("cache-alloc.trace");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(policies), cmocka_unit_test(replays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
