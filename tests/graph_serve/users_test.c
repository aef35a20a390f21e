/* The map of users against an array, and records on the wire. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "graph/serve/users.h"
#include "support/failalloc.h"
#include "support/property.h"

enum { NUMBERS = 40 };

static bool map_as_array(struct property_source *source, void *context)
{
    struct cleave__users users = {0};
    uint32_t degree[NUMBERS], steps = (uint32_t)property_draw(source, 120), held = 0;
    bool there[NUMBERS] = {false}, ok = true;
    (void)context;
    for (uint32_t i = 0; i < steps && ok; i++) {
        uint32_t number = (uint32_t)property_draw(source, NUMBERS);
        if (property_draw(source, 3)) {
            degree[number] = (uint32_t)property_draw(source, 4);
            struct cleave__user *user = cleave__user_new(number, degree[number]);
            for (uint32_t t = 0; t < degree[number]; t++)
                user->target[t] = t;
            held += !there[number];
            there[number] = cleave__users_put(&users, user);
        } else {
            held -= there[number];
            there[number] = false;
            cleave__users_remove(&users, number);
        }
        ok = cleave__users_check(&users) && users.count == held;
        for (uint32_t n = 0; n < NUMBERS && ok; n++) {
            const struct cleave__user *user = cleave__users_find(&users, n);
            ok = there[n] ? user && user->number == n && user->degree == degree[n] : !user;
        }
    }
    cleave__users_free(&users);
    return ok;
}

static void maps(void **state)
{
    (void)state;
    assert_true(property_run("users", map_as_array, NULL, 300));
}

static void wire(void **state)
{
    struct cleave_writer writer = {0};
    struct cleave__user *user = cleave__user_new(7, 3), *read;
    (void)state;
    user->target[0] = 1, user->target[1] = 5, user->target[2] = UINT32_MAX;
    user->label = 9, user->version = UINT64_C(1) << 40, user->replicated = true;
    cleave__user_write(user, &writer);
    for (size_t cut = 0; cut <= writer.count; cut++) { /* cut short: nothing, and nothing past it */
        struct cleave_reader reader = {writer.data, writer.data + cut, false};
        read = cleave__user_read(&reader);
        assert_int_equal(read != NULL, cut == writer.count);
        if (!read)
            continue;
        assert_true(read->number == 7 && read->degree == 3 && read->label == 9);
        assert_true(read->version == user->version && read->replicated);
        assert_memory_equal(read->target, user->target, sizeof user->target[0] * 3);
        free(read);
    }
    free(user);
    free(writer.data);
}

/* The check sees a record out of its place, and a list out of order. */
static void check_sees(void **state)
{
    struct cleave__users users = {0};
    (void)state;
    for (uint32_t i = 0; i < 20; i++)
        assert_true(cleave__users_put(&users, cleave__user_new(i, 2)));
    assert_false(cleave__users_check(&users)); /* lists 0, 0 */
    for (uint32_t i = 0; i < 20; i++)
        cleave__users_find(&users, i)->target[1] = 1;
    assert_true(cleave__users_check(&users));
    uint32_t at = 0;
    while (!users.slot[at])
        at++;
    users.slot[at]->number = 1000;
    assert_false(cleave__users_check(&users));
    cleave__users_free(&users);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(maps), cmocka_unit_test(wire),
                                       cmocka_unit_test(check_sees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
