/* Every matcher against the scan: random queries come and go, objects are matched in between, and
 * every structure is checked at every step. Also with hashes of a few bits, so that every kind of
 * collision happens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random_world.h"
#include "stream/index/index.h"

struct subject {
    const struct cleave__matcher_ops *ops;
    uint32_t hash_mask;   /* of the index; 0: all */
    uint32_t steps, adds; /* of ten steps, about `adds` add */
};

struct pair {
    const struct cleave__matcher_ops *ops;
    void *scan, *self;
    uint32_t scan_slots[4096], self_slots[4096]; /* of live queries */
    uint64_t ids[4096];
    uint32_t live;
    struct cleave__matches due, found;
};

static int by_match(const void *a, const void *b)
{
    return memcmp(a, b, 16);
}

/* Matches as (object, id), sorted; false if objects are out of order. */
static bool as_ids(const struct cleave__matcher_ops *ops, const void *self,
                   const struct cleave__matches *matches, uint64_t *out)
{
    for (size_t i = 0; i < matches->items.count; i++) {
        struct cleave__query query;
        const struct cleave__match *match = &matches->items.data[i];
        if (i && match->object < match[-1].object)
            return false;
        if (!ops->query(self, match->slot, &query))
            return false;
        out[2 * i] = match->object;
        out[2 * i + 1] = query.id;
    }
    qsort(out, matches->items.count, 16, by_match);
    return true;
}

static bool same_matches(struct pair *pair, struct property_source *source)
{
    size_t n = pair->due.items.count, k = pair->found.items.count;
    uint64_t *due = calloc(n + 1, 16), *found = calloc(k + 1, 16);
    bool right = as_ids(&cleave__matcher_scan, pair->scan, &pair->due, due) &&
                 as_ids(pair->ops, pair->self, &pair->found, found) && n == k &&
                 memcmp(due, found, n * 16) == 0;
    if (!right && source->verbose)
        printf("due %zu matches, found %zu\n", n, k);
    free(due);
    free(found);
    return right;
}

static bool match_some(struct pair *pair, struct property_source *source,
                       const struct random_world *world, struct cleave_arena *arena)
{
    uint32_t count = 1 + (uint32_t)property_draw(source, 150), candidates[151];
    struct cleave__object objects[151];
    for (uint32_t i = 0; i < count; i++)
        objects[i] = random_object(source, world, arena);
    pair->due.items.count = pair->found.items.count = 0;
    if (cleave__matcher_scan.match(pair->scan, objects, count, &pair->due, NULL, NULL) ||
        pair->ops->match(pair->self, objects, count, &pair->found, candidates, NULL))
        return false;
    if (pair->ops->learn && property_draw(source, 2))
        pair->ops->learn(pair->self, objects, count);
    return same_matches(pair, source);
}

static bool same_query(const struct cleave__query *a, const struct cleave__query *b)
{
    return a->id == b->id && a->subscriber == b->subscriber && a->end_ms == b->end_ms &&
           a->predicate == b->predicate && a->events == b->events &&
           a->region.kind == b->region.kind && a->region.x0 == b->region.x0 &&
           a->region.y0 == b->region.y0 && a->region.x1 == b->region.x1 &&
           a->region.y1 == b->region.y1 && a->region.radius == b->region.radius &&
           a->term_count == b->term_count && a->filter_count == b->filter_count &&
           (!a->term_count || !memcmp(a->terms, b->terms, a->term_count * sizeof *a->terms)) &&
           (!a->filter_count ||
            !memcmp(a->filters, b->filters, a->filter_count * sizeof *a->filters));
}

static bool add_one(struct pair *pair, struct property_source *source,
                    const struct random_world *world, struct cleave_arena *arena, uint64_t id)
{
    struct cleave__query query = random_query(source, world, arena, id), back;
    uint32_t i = pair->live++;
    pair->ids[i] = id;
    return cleave__matcher_scan.add(pair->scan, &query, &pair->scan_slots[i], NULL) == CLEAVE_OK &&
           pair->ops->add(pair->self, &query, &pair->self_slots[i], NULL) == CLEAVE_OK &&
           pair->self_slots[i] < pair->ops->slots(pair->self) &&
           pair->ops->query(pair->self, pair->self_slots[i], &back) && same_query(&query, &back);
}

static void remove_one(struct pair *pair, uint32_t i)
{
    cleave__matcher_scan.remove(pair->scan, pair->scan_slots[i]);
    pair->ops->remove(pair->self, pair->self_slots[i]);
    pair->live--;
    pair->scan_slots[i] = pair->scan_slots[pair->live];
    pair->self_slots[i] = pair->self_slots[pair->live];
}

static bool agrees(struct property_source *source, void *context)
{
    const struct subject *subject = context;
    struct random_world world = random_world(source);
    struct cleave__matcher_options options = {&world.space};
    static struct pair pair;
    struct cleave_arena arena = {0};
    memset(&pair, 0, sizeof pair);
    pair.ops = subject->ops;
    bool right =
        cleave__matcher_scan.create(&options, &pair.scan, NULL) == CLEAVE_OK &&
        (subject->hash_mask ? cleave__index_create(&options, subject->hash_mask, &pair.self, NULL)
                            : subject->ops->create(&options, &pair.self, NULL)) == CLEAVE_OK;
    uint32_t steps = (uint32_t)property_draw(source, subject->steps);
    for (uint32_t step = 0; step < steps && right; step++) {
        uint32_t what = (uint32_t)property_draw(source, 10);
        if (what < subject->adds && pair.live < 4000) {
            uint32_t more = 1 + (uint32_t)property_draw(source, 40);
            for (uint32_t i = 0; i < more && right; i++)
                right = add_one(&pair, source, &world, &arena, (uint64_t)step * 100 + i + 1);
        } else if (what == 9 && pair.live) { /* most of them go */
            uint32_t left = (uint32_t)property_draw(source, 4);
            while (pair.live > left)
                remove_one(&pair, (uint32_t)property_draw(source, pair.live));
        } else if (what >= 7 && pair.live) {
            remove_one(&pair, (uint32_t)property_draw(source, pair.live));
        } else {
            right = match_some(&pair, source, &world, &arena);
        }
        right = right && pair.ops->check(pair.self);
    }
    while (right && pair.live) {
        remove_one(&pair, pair.live - 1);
        right = pair.live % 16 || pair.ops->check(pair.self);
    }
    cleave__matcher_scan.destroy(pair.scan);
    pair.ops->destroy(pair.self);
    CLEAVE_VECTOR_FREE(&pair.due.items);
    CLEAVE_VECTOR_FREE(&pair.found.items);
    cleave__arena_free(&arena);
    return right;
}

static void test_index(void **state)
{
    (void)state;
    struct subject subject = {&cleave__matcher_index, 0, 60, 6};
    assert_true(property_run("index agrees with scan", agrees, &subject, 150));
}

static void test_index_colliding(void **state)
{
    (void)state;
    static const uint32_t masks[] = {0xf0000ffu, 0xc0000003u, 0x80000001u, 0x00000f0fu};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        struct subject subject = {&cleave__matcher_index, masks[i], 40, 5};
        assert_true(property_run("colliding index agrees with scan", agrees, &subject, 60));
    }
}

static void test_cells(void **state)
{
    (void)state;
    struct subject subject = {&cleave__matcher_cells, 0, 30, 5};
    assert_true(property_run("cells agree with scan", agrees, &subject, 30));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_index),
        cmocka_unit_test(test_index_colliding),
        cmocka_unit_test(test_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
