/* The Nth allocation fails, for every N, while queries come, objects are matched and queries go: an
 * error, everything as it was before, no leak. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "stream/index/index.h"
#include "support/failalloc.h"

enum { QUERIES = 300 };

static struct cleave__query draw(struct cleave_random *random, uint32_t *terms,
                                 struct cleave__filter *filter)
{
    struct cleave__query query = {.end_ms = CLEAVE__NEVER, .terms = terms};
    double x = (double)cleave__random_below(random, 3) * 50;
    query.region = (struct cleave__region){CLEAVE__RECTANGLE, x, x, x + 60, x + 60, 0};
    query.predicate = (enum cleave__predicate)cleave__random_below(random, 2);
    query.term_count = (uint32_t)cleave__random_below(random, 5);
    for (uint32_t i = 0; i < query.term_count; i++)
        terms[i] = i * 3 + (uint32_t)cleave__random_below(random, 3);
    if (cleave__random_below(random, 20) == 0) {
        *filter = (struct cleave__filter){0, 0, 1};
        query.filters = filter;
        query.filter_count = 1;
        query.end_ms = 5;
    }
    return query;
}

static bool attempt(void *context)
{
    const struct cleave__matcher_ops *ops = context;
    struct cleave__space plane = {CLEAVE__PLANE, {0, 0, 300, 300}};
    struct cleave__matcher_options options = {&plane};
    struct cleave_error error = {0};
    struct cleave_random random;
    struct cleave__matches out = {0};
    uint32_t slots[QUERIES], live = 0, terms[8];
    void *self = NULL;
    cleave__random_seed(&random, 3);
    if (ops->create(&options, &self, &error))
        return self == NULL && error.status == CLEAVE_NO_MEMORY;
    bool right = true;
    for (uint32_t i = 0; i < QUERIES && right; i++) {
        struct cleave__filter filter;
        struct cleave__query query = draw(&random, terms, &filter);
        query.id = i + 1;
        uint32_t slot = 12345;
        if (ops->add(self, &query, &slot, &error) == CLEAVE_OK)
            slots[live++] = slot;
        else
            right = slot == 12345 && error.status == CLEAVE_NO_MEMORY && ops->check(self);
        if (i % 50 == 49) {
            struct cleave__object object = {.x = 55, .y = 55, .term_count = 8};
            for (uint32_t k = 0; k < 8; k++)
                terms[k] = k;
            object.terms = terms;
            size_t before = out.items.count;
            if (ops->match(self, &object, 1, &out, NULL, &error))
                right = right && out.items.count == before;
            else
                for (size_t k = before; k < out.items.count && right; k++)
                    right = ops->query(self, out.items.data[k].slot, &query) &&
                            cleave__query_has(&plane, &query, &object);
            if (i % 100 == 99 && live)
                ops->remove(self, slots[--live]);
        }
    }
    right = right && ops->check(self);
    while (live)
        ops->remove(self, slots[--live]);
    right = right && ops->check(self);
    ops->destroy(self);
    CLEAVE_VECTOR_FREE(&out.items);
    return right;
}

static void test_index(void **state)
{
    (void)state;
    assert_true(failalloc_run("index", attempt, (void *)&cleave__matcher_index, 1));
}

static void test_cells(void **state)
{
    (void)state;
    assert_true(failalloc_run("cells", attempt, (void *)&cleave__matcher_cells, 7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_index), cmocka_unit_test(test_cells)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
