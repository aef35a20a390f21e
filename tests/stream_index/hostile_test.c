/* Shapes that an index may choke on: everybody at one place, one word that all have, objects and
 * queries with very many words, regions as large as the space, and most queries leaving. Answers
 * are those of brute force over the queries made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "stream/index/index.h"

static const struct cleave__space plane = {CLEAVE__PLANE, {0, 0, 1000, 1000}};

struct crowd {
    void *self;
    struct cleave__query *queries; /* by slot */
    uint32_t count;
    struct cleave_arena arena;
    struct cleave_random random;
};

static void crowd_init(struct crowd *crowd, uint32_t most)
{
    struct cleave__matcher_options options = {&plane};
    memset(crowd, 0, sizeof *crowd);
    cleave__random_seed(&crowd->random, 11);
    crowd->queries = calloc(most, sizeof *crowd->queries);
    assert_int_equal(cleave__matcher_index.create(&options, &crowd->self, NULL), CLEAVE_OK);
}

static void crowd_free(struct crowd *crowd)
{
    cleave__matcher_index.destroy(crowd->self);
    free(crowd->queries);
    cleave__arena_free(&crowd->arena);
}

/* `terms` are copied. */
static void crowd_add(struct crowd *crowd, double x, double y, double size,
                      enum cleave__predicate predicate, const uint32_t *terms, uint32_t count)
{
    uint32_t slot, *copy = cleave__arena_array(&crowd->arena, count + 1, sizeof *copy);
    if (count)
        memcpy(copy, terms, count * sizeof *copy);
    struct cleave__query query = {.id = crowd->count + 1,
                                  .end_ms = CLEAVE__NEVER,
                                  .region = {CLEAVE__RECTANGLE, x, y, x + size, y + size, 0},
                                  .predicate = predicate,
                                  .term_count = count,
                                  .terms = copy};
    assert_int_equal(cleave__matcher_index.add(crowd->self, &query, &slot, NULL), CLEAVE_OK);
    assert_int_equal(slot, crowd->count);
    crowd->queries[crowd->count++] = query;
}

/* Every object: the very queries that have it, and how many were looked at on average. */
static double crowd_verify(struct crowd *crowd, const struct cleave__object *objects,
                           uint32_t count)
{
    struct cleave__matches out = {0};
    uint32_t *candidates = calloc(count, sizeof *candidates);
    unsigned char *found = malloc(crowd->count);
    double looked = 0;
    assert_int_equal(
        cleave__matcher_index.match(crowd->self, objects, count, &out, candidates, NULL),
        CLEAVE_OK);
    size_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        memset(found, 0, crowd->count);
        for (; at < out.items.count && out.items.data[at].object == i; at++) {
            assert_int_equal(found[out.items.data[at].slot], 0);
            found[out.items.data[at].slot] = 1;
        }
        for (uint32_t q = 0; q < crowd->count; q++)
            assert_int_equal(found[q],
                             crowd->queries[q].id &&
                                 cleave__query_has(&plane, &crowd->queries[q], &objects[i]));
        looked += candidates[i];
    }
    assert_int_equal(at, out.items.count);
    CLEAVE_VECTOR_FREE(&out.items);
    free(candidates);
    free(found);
    return looked / count;
}

static uint32_t below(struct crowd *crowd, uint32_t bound)
{
    return (uint32_t)cleave__random_below(&crowd->random, bound);
}

/* One place, a word that all have and another of many: the second word tells them apart. */
static void test_hot_word_hot_cell(void **state)
{
    (void)state;
    enum { COUNT = 20000, WORDS = 2000 };
    struct crowd crowd;
    crowd_init(&crowd, COUNT);
    struct cleave__object object = {.x = 505, .y = 505, .term_count = 3};
    /* Word 1 is never seen, so it is the rarest, and all are posted under it. */
    for (uint32_t i = 0; i < WORDS; i++) {
        uint32_t terms[] = {i + 2};
        struct cleave__object one = {.term_count = 1, .terms = terms};
        cleave__matcher_index.learn(crowd.self, &one, 1);
    }
    for (uint32_t i = 0; i < COUNT; i++)
        crowd_add(&crowd, 500, 500, 10, CLEAVE__CONTAINS, (uint32_t[]){1, 2 + below(&crowd, WORDS)},
                  2);
    assert_true(cleave__matcher_index.check(crowd.self));
    object.terms = (uint32_t[]){1, 7, 900};
    double looked = crowd_verify(&crowd, &object, 1);
    assert_true(looked < COUNT / 100);
    crowd_free(&crowd);
}

/* The same query again and again. */
static void test_all_alike(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    struct crowd crowd;
    crowd_init(&crowd, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        crowd_add(&crowd, 500, 500, 10, i % 2 ? CLEAVE__CONTAINS : CLEAVE__OVERLAPS,
                  (uint32_t[]){1, 5}, 2);
    struct cleave__object objects[] = {
        {.x = 505, .y = 505, .term_count = 2, .terms = (uint32_t[]){1, 5}},
        {.x = 505, .y = 500, .term_count = 1, .terms = (uint32_t[]){5}},
        {.x = 505, .y = 511, .term_count = 2, .terms = (uint32_t[]){1, 5}},
        {.x = 505, .y = 505}};
    crowd_verify(&crowd, objects, 4);
    assert_true(cleave__matcher_index.check(crowd.self));
    for (uint32_t i = 0; i < COUNT; i++) {
        if (i % 100 == 0)
            continue;
        cleave__matcher_index.remove(crowd.self, i);
        crowd.queries[i].id = 0;
    }
    assert_true(cleave__matcher_index.check(crowd.self));
    crowd_verify(&crowd, objects, 4);
    crowd_free(&crowd);
}

/* Without words, all sizes up to the whole space, and points. */
static void test_bare(void **state)
{
    (void)state;
    enum { COUNT = 30000, OBJECTS = 200 };
    struct crowd crowd;
    crowd_init(&crowd, COUNT);
    static const double sizes[] = {10, 10, 10, 10, 0, 1, 100, 1000};
    for (uint32_t i = 0; i < COUNT; i++)
        crowd_add(&crowd, below(&crowd, 1000), below(&crowd, 1000), sizes[below(&crowd, 8)],
                  CLEAVE__OVERLAPS, NULL, 0);
    struct cleave__object objects[OBJECTS];
    for (uint32_t i = 0; i < OBJECTS; i++)
        objects[i] =
            (struct cleave__object){.x = below(&crowd, 10000) / 10.0, .y = below(&crowd, 1000)};
    crowd_verify(&crowd, objects, OBJECTS);
    crowd_free(&crowd);
}

/* Objects of 4,096 words, queries of 100 and of 4,096. */
static void test_many_words(void **state)
{
    (void)state;
    enum { QUERIES = 400, OBJECTS = 5 };
    struct crowd crowd;
    crowd_init(&crowd, QUERIES + 2);
    uint32_t *terms = malloc(CLEAVE__TERMS_MOST * sizeof *terms);
    for (uint32_t q = 0; q < QUERIES; q++) {
        uint32_t at = 0;
        for (uint32_t i = 0; i < 100; i++)
            terms[i] = at += 1 + below(&crowd, 60);
        crowd_add(&crowd, 400 + below(&crowd, 100), 400, 200,
                  q % 2 ? CLEAVE__CONTAINS : CLEAVE__OVERLAPS, terms, q % 4 == 1 ? 2 : 100);
    }
    for (uint32_t i = 0; i < CLEAVE__TERMS_MOST; i++)
        terms[i] = i * 2;
    crowd_add(&crowd, 0, 0, 1000, CLEAVE__CONTAINS, terms, CLEAVE__TERMS_MOST);
    crowd_add(&crowd, 0, 0, 1000, CLEAVE__OVERLAPS, terms, CLEAVE__TERMS_MOST);
    struct cleave__object objects[OBJECTS] = {{.x = 500, .y = 500},
                                              {.x = 550, .y = 500},
                                              {.x = 450, .y = 450},
                                              {.x = 499, .y = 599},
                                              {.x = 0, .y = 0}};
    for (uint32_t i = 0; i < OBJECTS; i++) {
        uint32_t *has = cleave__arena_array(&crowd.arena, CLEAVE__TERMS_MOST, sizeof *has);
        for (uint32_t k = 0; k < CLEAVE__TERMS_MOST; k++)
            has[k] = i == 1 ? k * 2 : k;
        objects[i].terms = has;
        objects[i].term_count = i == 3 ? 17 : CLEAVE__TERMS_MOST;
    }
    crowd_verify(&crowd, objects, OBJECTS);
    assert_true(cleave__matcher_index.check(crowd.self));
    free(terms);
    crowd_free(&crowd);
}

/* Bytes a query; and they are given back, or used again. */
static void test_memory(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    struct crowd crowd;
    crowd_init(&crowd, COUNT);
    for (uint32_t round = 0; round < 2; round++) {
        crowd.count = 0;
        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t slot, a = below(&crowd, 1000), terms[] = {a, a + 1 + below(&crowd, 50000)};
            struct cleave__query query = {.id = i + 1, .end_ms = CLEAVE__NEVER, .term_count = 2};
            double x = below(&crowd, 990), y = below(&crowd, 990);
            query.terms = terms;
            query.predicate = CLEAVE__CONTAINS;
            query.region = (struct cleave__region){CLEAVE__RECTANGLE, x, y, x + 10, y + 10, 0};
            assert_int_equal(cleave__matcher_index.add(crowd.self, &query, &slot, NULL), CLEAVE_OK);
            assert_true(slot < COUNT);
        }
        size_t full = cleave__matcher_index.bytes(crowd.self);
        if (full >= COUNT * 160)
            fail_msg("%.1f bytes a query", (double)full / COUNT);
        for (uint32_t i = 0; i < COUNT; i++) {
            cleave__matcher_index.remove(crowd.self, i);
            if (i == COUNT * 7 / 8)
                assert_true(cleave__matcher_index.bytes(crowd.self) < full * 4 / 5);
        }
        assert_true(cleave__matcher_index.check(crowd.self));
        assert_true(cleave__matcher_index.bytes(crowd.self) < full / 4);
    }
    crowd_free(&crowd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hot_word_hot_cell),
        cmocka_unit_test(test_all_alike),
        cmocka_unit_test(test_bare),
        cmocka_unit_test(test_many_words),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
