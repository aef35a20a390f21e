/* What a request costs under each eviction policy, and what a bare hash table asks for the same
 * keys, measured in one run.
 *
 *   bench/cache [objects...]        (default 10000 1000000)
 *
 * Requests are drawn from a Zipf law (exponent 1) over the objects, whose keys are random 64-bit
 * numbers. `hit`: every object fits and is there. `mixed`: room for a tenth of the objects; after a
 * miss the key is put, and something leaves. `bare` is a lookup by the cache's own hash in open
 * addressing with linear probing, 8-byte keys and 4-byte values in one slot, at most half full; it
 * holds all objects (hit) or the tenth that is asked for most (mixed), and nothing is inserted.
 * Times are the best of five rounds in which all take turns, so that a busy moment hits all alike.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "graph/cache/index.h"

enum { ASKED = 1 << 20, ROUNDS = 5, POLICIES_MAX = 16 };

struct plain {
    struct cleave__cache_slot *slots;
    uint64_t mask;
};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *must(void *memory)
{
    if (!memory) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

static struct plain plain_new(uint64_t count)
{
    struct plain t = {.mask = 15};
    while (t.mask + 1 < 2 * count)
        t.mask = t.mask * 2 + 1;
    t.slots = must(calloc(t.mask + 1, sizeof *t.slots));
    for (uint64_t object = 0; object < count; object++) {
        uint64_t key = cleave__mix64(object), at = cleave__cache_hash(key) & t.mask;
        while (t.slots[at].node)
            at = (at + 1) & t.mask;
        t.slots[at] = (struct cleave__cache_slot){key, (uint32_t)object + 1};
    }
    return t;
}

static inline uint32_t plain_find(const struct plain *t, uint64_t key)
{
    uint64_t at = cleave__cache_hash(key) & t->mask;
    while (t->slots[at].node && t->slots[at].key != key)
        at = (at + 1) & t->mask;
    return t->slots[at].node;
}

/* Keys by a Zipf law: the object of rank r has weight 1 / r; ranks are objects. */
static void draw(uint64_t *asked, uint64_t objects)
{
    struct cleave_random random;
    cleave__random_seed(&random, 11);
    double *upto = must(malloc(objects * sizeof *upto)), sum = 0;
    for (uint64_t i = 0; i < objects; i++)
        upto[i] = sum += 1 / (double)(i + 1);
    for (uint64_t i = 0; i < ASKED; i++) {
        double at = cleave__random_real(&random) * sum;
        uint64_t low = 0, high = objects - 1;
        while (low < high) {
            uint64_t middle = (low + high) / 2;
            if (at < upto[middle])
                high = middle;
            else
                low = middle + 1;
        }
        asked[i] = cleave__mix64(low);
    }
    free(upto);
}

/* Next uses of the stream repeated without end: Belady's future is the same in every round. */
static uint64_t *future(const uint64_t *asked, uint64_t rounds)
{
    uint64_t *next = must(malloc(rounds * ASKED * sizeof *next));
    uint64_t mask = 4 * ASKED - 1;
    struct {
        uint64_t key, when;
    } *seen = must(calloc(mask + 1, sizeof *seen));
    for (uint64_t i = rounds * ASKED; i-- > 0;) {
        uint64_t key = asked[i % ASKED], at = cleave__cache_hash(key) & mask;
        while (seen[at].when && seen[at].key != key)
            at = (at + 1) & mask;
        next[i] = seen[at].when ? seen[at].when - 1 : UINT64_MAX;
        seen[at].key = key;
        seen[at].when = i + 1;
    }
    free(seen);
    return next;
}

static double ask(struct cleave__cache *cache, const uint64_t *asked)
{
    const struct cleave__cache_entry entry = {.size = 1};
    double start = now_ns();
    for (uint64_t i = 0; i < ASKED; i++) {
        if (!cleave__cache_get(cache, asked[i], 0, NULL) &&
            cleave__cache_put(cache, asked[i], &entry, NULL, NULL))
            must(NULL);
    }
    return (now_ns() - start) / ASKED;
}

static void run(uint64_t objects, bool mixed, const uint64_t *asked, const uint64_t *next)
{
    struct cleave__cache *cache[POLICIES_MAX];
    double best[POLICIES_MAX + 1];
    const struct cleave__cache_entry entry = {.size = 1};
    uint64_t capacity = mixed ? objects / 10 : objects, found = 0;
    struct plain plain = plain_new(capacity);
    uint32_t policies = 0;
    for (; cleave__cache_policy_at(policies); policies++) {
        struct cleave__cache_options o = {.capacity = capacity, .next_use = next};
        const char *name = cleave__cache_policy_name(cleave__cache_policy_at(policies));
        o.next_uses = (uint64_t)(ROUNDS + 1) * ASKED;
        if (cleave__cache_choice_parse(name, strlen(name), &o.choice, NULL) ||
            cleave__cache_new(&o, &cache[policies], NULL))
            must(NULL);
        for (uint64_t object = 0; !mixed && object < objects; object++) {
            if (cleave__cache_put(cache[policies], cleave__mix64(object), &entry, NULL, NULL))
                must(NULL);
        }
    }
    for (uint32_t i = 0; i <= policies; i++)
        best[i] = INFINITY;
    for (unsigned round = 0; round <= ROUNDS; round++) { /* round 0 warms up */
        double start = now_ns();
        for (uint64_t i = 0; i < ASKED; i++)
            found += plain_find(&plain, asked[i]) != 0;
        double bare = (now_ns() - start) / ASKED;
        best[policies] = round ? fmin(best[policies], bare) : INFINITY;
        for (uint32_t i = 0; i < policies; i++) {
            double took = ask(cache[i], asked);
            best[i] = round ? fmin(best[i], took) : INFINITY;
        }
    }
    double bare = best[policies];
    printf("%8llu  %-5s  %-10s  %6.1f                  %5.1f\n", (unsigned long long)objects,
           mixed ? "mixed" : "hit", "bare", bare, 100.0 * (1 - (double)found / 6 / ASKED));
    for (uint32_t i = 0; i < policies; i++) {
        struct cleave__cache_counts n = cleave__cache_counts(cache[i]);
        printf("%8llu  %-5s  %-10s  %6.1f  %6.2f  %8.1f  %5.1f\n", (unsigned long long)objects,
               mixed ? "mixed" : "hit", cleave__cache_policy_name(cleave__cache_policy_at(i)),
               best[i], best[i] / bare,
               (double)cleave__cache_memory_bytes(cache[i]) / (double)capacity,
               100 * (double)n.misses / (double)n.requests);
        cleave__cache_free(cache[i]);
    }
    free(plain.slots);
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"10000", "1000000"};
    int count = argc > 1 ? argc - 1 : 2;
    uint64_t *asked = must(malloc(ASKED * sizeof *asked));
    printf(" objects  what   policy          ns  x bare  B/entry  miss %%\n");
    for (int i = 0; i < count; i++) {
        uint64_t objects = strtoull(argc > 1 ? argv[i + 1] : usual[i], NULL, 10);
        if (objects < 10 || objects > 100000000) {
            fputs("objects: 10 to 100000000\n", stderr);
            return 2;
        }
        draw(asked, objects);
        uint64_t *next = future(asked, ROUNDS + 1);
        run(objects, false, asked, next);
        run(objects, true, asked, next);
        free(next);
    }
    free(asked);
    return 0;
}
