/* Every policy against its model, step by step; Belady against brute force and against the others.
 * An entry that was invalidated is never served, whatever the policy: the test keeps its own list
 * of what may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph_cache/model.h"
#include "support/property.h"

enum { KEYS_MAX = 160, STEPS_MAX = 400 };

struct run {
    struct cleave__cache *cache;
    struct model model;
    uint64_t value[KEYS_MAX]; /* what may be served for a key; 0: nothing */
    uint64_t live;            /* values taken over and not yet released */
    uint64_t version[KEYS_MAX];
    unsigned keys;
    bool sized, verbose;
};

static void release(void *context, uint64_t key, uint64_t value)
{
    struct run *r = context;
    (void)key;
    (void)value;
    r->live--;
}

static bool wrong(const struct run *r, const char *what)
{
    if (r->verbose)
        printf("%s: %s\n", r->model.policy, what);
    return false;
}

static bool same_state(const struct run *r)
{
    const char *why = "";
    struct cleave__cache_counts counts = cleave__cache_counts(r->cache);
    if (!cleave__cache_check(r->cache, &why))
        return wrong(r, why);
    if (memcmp(&counts, &r->model.counts, sizeof counts))
        return wrong(r, "counts differ from the model's");
    for (uint64_t key = 0; key < r->keys; key++) {
        if (cleave__cache_holds(r->cache, key) != model_holds(&r->model, key))
            return wrong(r, "holds other keys than the model");
    }
    return r->live == counts.entries || wrong(r, "values lost or released twice");
}

static bool do_put(struct run *r, struct property_source *source, uint64_t key, uint64_t value)
{
    /* Mostly a size of its own; now and then the key comes with another. */
    uint64_t size = !r->sized                        ? 0
                    : property_draw(source, 20) == 1 ? property_draw(source, 30)
                                                     : key * 7 % 13;
    struct cleave__cache_entry entry = {size, value, r->version[key]};
    bool kept;
    if (cleave__cache_put(r->cache, key, &entry, &kept, NULL))
        return wrong(r, "no memory");
    if (kept != model_put(&r->model, key, size, r->version[key]))
        return wrong(r, "took or refused otherwise than the model");
    r->live += kept;
    r->value[key] = kept ? value : 0;
    return true;
}

static bool do_get(struct run *r, uint64_t key, uint64_t version, bool *hit)
{
    struct cleave__cache_entry entry = {0};
    *hit = cleave__cache_get(r->cache, key, version, &entry);
    if (*hit != model_get(&r->model, key, version))
        return wrong(r, *hit ? "hit where the model misses" : "missed where the model hits");
    if (*hit && (!r->value[key] || entry.value != r->value[key]))
        return wrong(r, "served what was invalidated or replaced");
    if (*hit && entry.version < version)
        return wrong(r, "served an old version");
    return true;
}

static bool step(struct run *r, struct property_source *source, uint64_t value)
{
    /* Skewed: half of the requests for an eighth of the keys. */
    uint64_t range = property_draw(source, 2) ? r->keys : (r->keys + 7) / 8;
    uint64_t key = property_draw(source, range), what = property_draw(source, 40);
    bool hit;
    if (r->verbose)
        printf("  %s %u\n",
               what == 39   ? "clear"
               : what >= 37 ? "change"
               : what >= 34 ? "invalidate"
               : what >= 31 ? "put"
                            : "get",
               (unsigned)key);
    if (what == 39) {
        if (property_draw(source, 4) == 3) {
            cleave__cache_clear(r->cache);
            model_clear(&r->model);
            memset(r->value, 0, sizeof r->value);
        }
        return true;
    }
    if (what >= 37) { /* the adjacency changes: what is cached is old from now on */
        r->version[key]++;
        return do_get(r, key, r->version[key], &hit) && !hit;
    }
    if (what >= 34) {
        r->value[key] = 0;
        return cleave__cache_invalidate(r->cache, key) == model_invalidate(&r->model, key) ||
               wrong(r, "invalidated otherwise than the model");
    }
    if (what >= 31)
        return do_put(r, source, key, value);
    if (!do_get(r, key, r->version[key], &hit))
        return false;
    return hit || what == 30 || do_put(r, source, key, value);
}

static double draw_parameter(struct property_source *source,
                             const struct cleave__cache_parameter *p)
{
    if (property_draw(source, 2) == 0)
        return p->usual;
    double high = p->high < 3 ? p->high : 3;
    return p->low + (double)property_draw(source, 11) / 10 * (high - p->low);
}

static bool agrees(struct property_source *source, void *context)
{
    const struct cleave__cache_policy *policy = context;
    static uint64_t next[STEPS_MAX];
    static struct run r;
    r = (struct run){.keys = 1 + (unsigned)property_draw(source, KEYS_MAX - 1),
                     .sized = property_draw(source, 2),
                     .verbose = source->verbose};
    unsigned steps = 1 + (unsigned)property_draw(source, STEPS_MAX - 1);
    struct cleave__cache_options options = {
        .choice.policy = policy,
        .capacity = 1 + property_draw(source, property_draw(source, 2) ? 120 : 12),
        .in_bytes = r.sized && property_draw(source, 4),
        .next_use = next,
        .next_uses = STEPS_MAX,
        .release = release,
        .context = &r,
    };
    const struct cleave__cache_parameter *p;
    for (uint32_t i = 0; (p = cleave__cache_policy_parameter(policy, i)); i++)
        options.choice.parameter[i] = draw_parameter(source, p);
    for (unsigned i = 0; cleave__cache_policy_needs_future(policy) && i < STEPS_MAX; i++)
        next[i] = i + property_draw(source, 50); /* any future will do here */
    if (cleave__cache_new(&options, &r.cache, NULL))
        return false;
    model_start(&r.model, cleave__cache_policy_name(policy), &options);
    if (source->verbose)
        printf("capacity %u %s, %u keys\n", (unsigned)options.capacity,
               options.in_bytes ? "bytes" : "entries", r.keys);
    bool ok = true;
    for (unsigned i = 0; i < steps && ok; i++)
        ok = step(&r, source, i + 1) && same_state(&r);
    model_stop(&r.model);
    cleave__cache_free(r.cache);
    return ok && r.live == 0;
}

static void models(void **state)
{
    (void)state;
    for (uint32_t i = 0; cleave__cache_policy_at(i); i++) {
        const struct cleave__cache_policy *policy = cleave__cache_policy_at(i);
        char name[60];
        snprintf(name, sizeof name, "%s is its model", cleave__cache_policy_name(policy));
        assert_true(property_run(name, agrees, (void *)(uintptr_t)policy, 1000));
    }
}

/* Belady. */

enum { TINY = 9, LONG = 300 };

/* Fewest misses from request `i` on with `held` in the cache, over everything that could leave. */
static unsigned brute_force(const unsigned *trace, unsigned length, unsigned i, unsigned held,
                            unsigned room)
{
    if (i == length)
        return 0;
    unsigned key = 1u << trace[i], best = UINT32_MAX;
    if (held & key)
        return brute_force(trace, length, i + 1, held, room);
    if ((unsigned)__builtin_popcount(held) < room)
        return 1 + brute_force(trace, length, i + 1, held | key, room);
    for (unsigned out = 1; out <= held; out <<= 1) {
        if (held & out) {
            unsigned misses = 1 + brute_force(trace, length, i + 1, (held & ~out) | key, room);
            best = misses < best ? misses : best;
        }
    }
    return best;
}

static uint64_t misses(const struct cleave__cache_policy *policy, const unsigned *trace,
                       unsigned length, uint64_t capacity)
{
    uint64_t next[LONG];
    for (unsigned i = 0; i < length; i++) {
        unsigned j = i + 1;
        while (j < length && trace[j] != trace[i])
            j++;
        next[i] = j < length ? j : UINT64_MAX;
    }
    struct cleave__cache_options options = {
        .capacity = capacity, .next_use = next, .next_uses = length};
    const char *name = cleave__cache_policy_name(policy);
    struct cleave__cache *cache;
    const struct cleave__cache_entry entry = {0};
    assert_int_equal(cleave__cache_choice_parse(name, strlen(name), &options.choice, NULL), 0);
    assert_int_equal(cleave__cache_new(&options, &cache, NULL), 0);
    for (unsigned i = 0; i < length; i++) {
        if (!cleave__cache_get(cache, trace[i], 0, NULL))
            assert_int_equal(cleave__cache_put(cache, trace[i], &entry, NULL, NULL), 0);
    }
    uint64_t missed = cleave__cache_counts(cache).misses;
    cleave__cache_free(cache);
    return missed;
}

static const struct cleave__cache_policy *policy_called(const char *name)
{
    struct cleave__cache_choice choice;
    assert_int_equal(cleave__cache_choice_parse(name, strlen(name), &choice, NULL), 0);
    return choice.policy;
}

static bool least(struct property_source *source, void *context)
{
    const struct cleave__cache_policy *belady = context;
    unsigned trace[LONG] = {0}, length = 1 + (unsigned)property_draw(source, TINY);
    unsigned keys = 1 + (unsigned)property_draw(source, 5);
    unsigned capacity = 1 + (unsigned)property_draw(source, 3);
    for (unsigned i = 0; i < length; i++)
        trace[i] = (unsigned)property_draw(source, keys);
    return misses(belady, trace, length, capacity) == brute_force(trace, length, 0, 0, capacity);
}

static bool bound(struct property_source *source, void *context)
{
    const struct cleave__cache_policy *belady = context;
    unsigned trace[LONG] = {0}, length = 1 + (unsigned)property_draw(source, LONG - 1);
    unsigned keys = 1 + (unsigned)property_draw(source, 60);
    uint64_t capacity = 1 + property_draw(source, 40);
    for (unsigned i = 0; i < length; i++)
        trace[i] = (unsigned)property_draw(source, property_draw(source, 2) ? keys : keys / 6 + 1);
    uint64_t fewest = misses(belady, trace, length, capacity);
    for (uint32_t i = 0; cleave__cache_policy_at(i); i++) {
        uint64_t theirs = misses(cleave__cache_policy_at(i), trace, length, capacity);
        if (theirs < fewest) {
            if (source->verbose)
                printf("%s beats the bound\n",
                       cleave__cache_policy_name(cleave__cache_policy_at(i)));
            return false;
        }
    }
    return true;
}

static void belady(void **state)
{
    (void)state;
    void *policy = (void *)(uintptr_t)policy_called("belady");
    assert_true(property_run("belady is the optimum", least, policy, 2000));
    assert_true(property_run("belady bounds all", bound, policy, 300));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(models), cmocka_unit_test(belady)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
