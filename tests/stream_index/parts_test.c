/* The parts of the index by themselves: chunks, the table against a model, long lists, the
 * pyramid's promise; and a posting in a chain beside a list whose hash is the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "stream/index/index.h"
#include "support/property.h"

static void test_pages(void **state)
{
    (void)state;
    struct cleave__pages pages = cleave__pages_make(64);
    for (uint32_t count = 1; count < 200000; count += count / 3 + 1) {
        assert_true(cleave__pages_reserve(&pages, count));
        uint32_t *last = cleave__pages_at(&pages, count - 1);
        assert_int_equal(*last, 0);
        *last = count;
        uint32_t *first = cleave__pages_at(&pages, 0);
        assert_int_equal(*first, 1);
    }
    size_t before = cleave__pages_bytes(&pages);
    cleave__pages_trim(&pages, 10);
    assert_true(cleave__pages_bytes(&pages) < before);
    assert_int_equal(*(uint32_t *)cleave__pages_at(&pages, 0), 1);
    cleave__pages_free(&pages);
}

/* Postings of few hashes come and go; each is found as often as it is there. */
static bool table_agrees(struct property_source *source, void *context)
{
    enum { MOST = 3000 };
    (void)context;
    static struct {
        uint32_t hash, slot, flags;
    } model[MOST];
    struct cleave__table table;
    uint32_t live = 0, steps = (uint32_t)property_draw(source, 30);
    uint32_t hashes = 1 + (uint32_t)property_draw(source, 2000);
    bool right = cleave__table_init(&table);
    for (uint32_t step = 0; step < steps && right; step++) {
        uint32_t count = (uint32_t)property_draw(source, 400);
        bool adding = property_draw(source, 2) == 0;
        for (uint32_t i = 0; i < count && right; i++) {
            if (adding && live < MOST) {
                uint32_t hash =
                    (uint32_t)cleave__mix64(property_draw(source, hashes)); /* all its bits */
                uint32_t pair = property_draw(source, 2) ? CLEAVE__HEAD_PAIR : 0;
                model[live].hash = hash;
                model[live].slot = step * 1000 + i;
                model[live++].flags = pair | CLEAVE__KIND_POSTING;
                right = cleave__table_reserve(&table);
                struct cleave__posting posting = {.head = pair | CLEAVE__KIND_POSTING,
                                                  .slot = step * 1000 + i};
                uint32_t same = 0;
                for (uint32_t k = 0; k < live; k++)
                    same += model[k].hash == hash && model[k].flags == model[live - 1].flags;
                right = right && cleave__table_insert(&table, hash, posting) == same;
            } else if (!adding && live) {
                uint32_t k = (uint32_t)property_draw(source, live);
                right =
                    cleave__table_remove(&table, model[k].hash, model[k].flags, model[k].slot) &&
                    !cleave__table_remove(&table, model[k].hash, model[k].flags, model[k].slot);
                model[k] = model[--live];
            }
        }
        right = right && cleave__table_check(&table) && table.postings == live;
        for (uint32_t k = 0; k < live && right; k++)
            right = cleave__table_may(&table, cleave__table_bucket(&table, model[k].hash),
                                      model[k].hash, 0);
    }
    cleave__table_free(&table);
    return right;
}

static void test_table(void **state)
{
    (void)state;
    assert_true(property_run("table agrees with a model", table_agrees, NULL, 60));
}

static void test_list(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    struct cleave__list list = {.live = true};
    struct cleave__item item;
    for (uint32_t i = 0; i < COUNT; i++) {
        item = (struct cleave__item){{1, 2, 3, 4}, i, i * 3 | CLEAVE__SLOT_OVERLAPS};
        assert_true(cleave__list_add(&list, item));
    }
    assert_true(cleave__list_check(&list));
    assert_true(list.segment_count > COUNT / 600); /* so that a slot is found fast */
    size_t full = cleave__list_bytes(&list);
    assert_true(full < COUNT * 12 * 3 / 2);
    assert_false(cleave__list_find(&list, 1, &item));
    assert_false(cleave__list_remove(&list, 1));
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(cleave__list_find(&list, i * 3, &item));
        assert_int_equal(item.signature, i);
        assert_true(cleave__list_remove(&list, i * 3));
        assert_false(cleave__list_find(&list, i * 3, &item));
        if (i % 1000 == 0)
            assert_true(cleave__list_check(&list));
        if (i == COUNT * 7 / 8)
            assert_true(cleave__list_bytes(&list) < full / 2);
    }
    assert_int_equal(list.count, 0);
    assert_int_equal(cleave__list_bytes(&list), 0);
}

/* A point of a region is in a part of its cell, and strictly inside an exact one only such points
 * are; on every level from the one that suits to the coarsest. */
static bool parts_cover(struct property_source *source, void *context)
{
    (void)context;
    struct cleave__space plane = {CLEAVE__PLANE, {-7, 3, 1001, 53}};
    const struct cleave__space *space = property_draw(source, 2) ? &cleave__globe : &plane;
    struct cleave__pyramid pyramid = cleave__pyramid_make(space);
    bool globe = space->kind == CLEAVE__GLOBE;
    double x = globe ? (double)property_between(source, -180, 180)
                     : (double)property_between(source, -50, 1100);
    double y = globe ? (double)property_between(source, -90, 90)
                     : (double)property_between(source, -10, 70);
    double width = (double)property_draw(source, 400) / (1 << property_draw(source, 20));
    double height = (double)property_draw(source, 200) / (1 << property_draw(source, 20));
    struct cleave__region region = {.kind = CLEAVE__RECTANGLE, .x0 = x, .y0 = y, .x1 = x + width};
    region.y1 = globe && y + height > 90 ? 90 : y + height;
    if (property_draw(source, 2))
        region = (struct cleave__region){
            .kind = CLEAVE__CIRCLE, .x0 = x, .y0 = y, .radius = globe ? width * 50000 : width};
    if (cleave__region_prepare(space, &region, NULL) != CLEAVE_OK)
        return false;
    struct cleave__part parts[CLEAVE__QUERY_CELLS_MOST];
    uint32_t suits = cleave__pyramid_level(&pyramid, &region, property_draw(source, 2));
    uint32_t level = (uint32_t)property_draw(source, suits + 1);
    uint32_t count = cleave__pyramid_parts(&pyramid, &region, level, parts);
    if (count == 0 || suits >= CLEAVE__LEVELS)
        return false;
    for (int i = 0; i < 60; i++) {
        double px = x + width * (double)property_between(source, -20, 120) / 100;
        double py = y + height * (double)property_between(source, -20, 120) / 100;
        if (!cleave__space_point(space, &px, &py))
            continue;
        uint32_t gx = cleave__place_x(&pyramid, px), gy = cleave__place_y(&pyramid, py);
        uint8_t wx = cleave__place_within(gx, level), wy = cleave__place_within(gy, level);
        bool at_all = false, strictly = false;
        for (uint32_t k = 0; k < count; k++) {
            const uint8_t *b = parts[k].box;
            if (parts[k].column != cleave__place_cell(gx, level) ||
                parts[k].row != cleave__place_cell(gy, level))
                continue;
            at_all |= wx >= b[0] && wx <= b[2] && wy >= b[1] && wy <= b[3];
            strictly |= parts[k].exact && wx > b[0] && wx < b[2] && wy > b[1] && wy < b[3];
        }
        bool has = cleave__region_has(space, &region, px, py);
        if ((has && !at_all) || (strictly && !has))
            return false;
    }
    return true;
}

static void test_pyramid(void **state)
{
    (void)state;
    assert_true(property_run("parts cover their region", parts_cover, NULL, 20000));
}

/* All hashes equal: a query with a posting in a list and one in the chain is reported once. */
static void test_list_and_chain(void **state)
{
    (void)state;
    struct cleave__space space = {CLEAVE__PLANE, {0, 0, 1024, 1024}};
    struct cleave__matcher_options options = {&space};
    struct cleave__matches out = {0};
    void *self;
    uint32_t slot;
    assert_int_equal(cleave__index_create(&options, 0, &self, NULL), CLEAVE_OK);
    struct cleave__query query = {.end_ms = CLEAVE__NEVER};
    query.region = (struct cleave__region){.x0 = 10, .y0 = 10, .x1 = 210, .y1 = 20};
    for (query.id = 1; query.id <= CLEAVE__LONG; query.id++)
        assert_int_equal(cleave__matcher_index.add(self, &query, &slot, NULL), CLEAVE_OK);
    assert_int_equal(((struct cleave__index *)self)->list_postings, CLEAVE__LONG);
    /* As wide as a cell but for a little: in 256ths its parts in two cells share number 200. */
    query.region = (struct cleave__region){.x0 = 200.3, .y0 = 10, .x1 = 456.2, .y1 = 20};
    assert_int_equal(cleave__matcher_index.add(self, &query, &slot, NULL), CLEAVE_OK);
    assert_int_equal(((struct cleave__index *)self)->list_postings, CLEAVE__LONG + 1);
    assert_true(cleave__matcher_index.check(self));
    struct cleave__object object = {.x = 200.35, .y = 15};
    assert_int_equal(cleave__matcher_index.match(self, &object, 1, &out, NULL, NULL), CLEAVE_OK);
    assert_int_equal(out.items.count, CLEAVE__LONG + 1);
    CLEAVE_VECTOR_FREE(&out.items);
    cleave__matcher_index.destroy(self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),          cmocka_unit_test(test_table),
        cmocka_unit_test(test_list),           cmocka_unit_test(test_pyramid),
        cmocka_unit_test(test_list_and_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
