/* The runtime's maps and heaps beside plain arrays, checked at every step; and each check shown to
 * see a broken structure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/channels.h"
#include "runtime/sim/events.h"
#include "runtime/tickets.h"
#include "runtime/timers.h"
#include "runtime/waiters.h"
#include "support/property.h"

enum { STEPS = 120, KEYS = 40 };

static bool channels_agree(struct property_source *source, void *context)
{
    (void)context;
    struct cleave__channels channels = {0};
    uint64_t model[KEYS] = {0};
    bool there[KEYS] = {false}, good = true;
    uint32_t stride = 1u << property_draw(source, 27); /* so that keys collide */
    for (int step = 0; good && step < STEPS; step++) {
        uint32_t key = (uint32_t)property_draw(source, KEYS);
        struct cleave__channel *channel = cleave__channels_find(&channels, key * stride);
        good = !channel == !there[key] && (!channel || channel->sent == model[key]);
        channel = cleave__channels_need(&channels, key * stride);
        good = good && channel && channel->sent == model[key];
        there[key] = true;
        if (channel)
            model[key] = channel->sent += 1 + key;
        good = good && cleave__channels_check(&channels);
    }
    cleave__channels_free(&channels);
    return good;
}

static bool tickets_agree(struct property_source *source, void *context)
{
    (void)context;
    struct cleave__tickets tickets = {0};
    uint64_t model[KEYS] = {0}, stride = UINT64_C(1) << property_draw(source, 50);
    bool good = true;
    for (int step = 0; good && step < STEPS; step++) {
        uint64_t key = property_draw(source, KEYS), number = (key + 1) * stride;
        struct cleave__ticket *found = cleave__tickets_find(&tickets, number);
        good = found ? found->tag == model[key] && model[key] : !model[key];
        struct cleave__ticket taken;
        if (!model[key]) {
            model[key] = (uint64_t)step + 1;
            good = good && cleave__tickets_add(&tickets, (struct cleave__ticket){
                                                             .number = number, .tag = model[key]});
        } else {
            good = good && cleave__tickets_take(&tickets, number, &taken) &&
                   taken.tag == model[key] && !cleave__tickets_take(&tickets, number, &taken);
            model[key] = 0;
        }
        good = good && cleave__tickets_check(&tickets);
    }
    cleave__tickets_free(&tickets);
    return good;
}

struct set_timer {
    uint64_t at_ns, handle;
    bool set;
};

/* Timers set, cancelled (also when gone) and taken: always the earliest, of equal ones the first.
 */
static bool timers_agree(struct property_source *source, void *context)
{
    (void)context;
    struct cleave__timers timers = {0};
    struct set_timer model[STEPS];
    bool good = true;
    for (uint32_t step = 0; good && step < STEPS; step++) {
        model[step] = (struct set_timer){.at_ns = property_draw(source, 30), .set = true};
        good = cleave__timers_set(&timers, model[step].at_ns, step, step * 7, &model[step].handle);
        if (property_draw(source, 3) == 0) {
            uint64_t which = property_draw(source, step + 1);
            cleave__timers_cancel(&timers, model[which].handle);
            model[which].set = false;
        }
        if (property_draw(source, 3) == 0) {
            uint32_t first = UINT32_MAX;
            for (uint32_t i = 0; i <= step; i++) {
                if (model[i].set && (first == UINT32_MAX || model[i].at_ns < model[first].at_ns))
                    first = i;
            }
            good = good && !cleave__timers_next(&timers) == (first == UINT32_MAX);
            if (good && first != UINT32_MAX) {
                struct cleave__timer taken = cleave__timers_take(&timers);
                model[first].set = false;
                good = taken.actor == first && taken.number == first * 7 &&
                       taken.at_ns == model[first].at_ns;
            }
        }
        good = good && cleave__timers_check(&timers);
    }
    cleave__timers_free(&timers);
    return good;
}

static bool events_agree(struct property_source *source, void *context)
{
    (void)context;
    struct cleave__events events = {0};
    struct {
        uint64_t at_ns;
        bool there;
    } model[STEPS];
    bool good = true;
    for (uint32_t step = 0; good && step < STEPS; step++) {
        model[step].at_ns = property_draw(source, 30);
        model[step].there = true;
        good = cleave__events_add(
            &events, (struct cleave__event){.at_ns = model[step].at_ns, .actor = step});
        while (good && property_draw(source, 2)) {
            uint32_t first = UINT32_MAX;
            for (uint32_t i = 0; i <= step; i++) {
                if (model[i].there && (first == UINT32_MAX || model[i].at_ns < model[first].at_ns))
                    first = i;
            }
            good = !cleave__events_next(&events) == (first == UINT32_MAX);
            if (!good || first == UINT32_MAX)
                break;
            model[first].there = false;
            good = cleave__events_take(&events).actor == first;
        }
        good = good && cleave__events_check(&events);
    }
    CLEAVE_VECTOR_FREE(&events.heap);
    return good;
}

/* First come, first taken, but for those who withdrew. */
static bool waiters_agree(struct property_source *source, void *context)
{
    (void)context;
    struct cleave__waiters waiters = {0};
    struct {
        uint64_t ticket;
        bool waits;
    } model[STEPS];
    uint32_t first = 0;
    bool good = true;
    for (uint32_t step = 0; good && step < STEPS; step++) {
        good = cleave__waiters_add(&waiters, step, &model[step].ticket);
        model[step].waits = true;
        for (uint64_t more = property_draw(source, 3); good && more; more--) {
            uint32_t which = (uint32_t)property_draw(source, step + 1);
            good = !model[which].waits || cleave__waiters_waits(&waiters, model[which].ticket);
            if (good && model[which].waits && property_draw(source, 2)) {
                cleave__waiters_withdraw(&waiters, model[which].ticket);
                model[which].waits = false;
                continue;
            }
            while (first <= step && !model[first].waits)
                first++;
            uint32_t taken = cleave__waiters_take(&waiters);
            good = good && taken == (first <= step ? first : UINT32_MAX);
            if (first <= step) {
                model[first].waits = false;
                good = good && !cleave__waiters_waits(&waiters, model[first].ticket);
            }
        }
        good = good && cleave__waiters_check(&waiters);
    }
    cleave__waiters_free(&waiters);
    return good;
}

static void beside_arrays(void **state)
{
    (void)state;
    assert_true(property_run("channels", channels_agree, NULL, 300));
    assert_true(property_run("tickets", tickets_agree, NULL, 300));
    assert_true(property_run("timers", timers_agree, NULL, 300));
    assert_true(property_run("waiters", waiters_agree, NULL, 300));
    assert_true(property_run("events", events_agree, NULL, 300));
}

static void checks_see(void **state)
{
    (void)state;
    struct cleave__channels channels = {0};
    for (uint32_t peer = 0; peer < 20; peer++)
        assert_non_null(cleave__channels_need(&channels, peer));
    cleave__channels_find(&channels, 7)->key = 1000;
    assert_false(cleave__channels_check(&channels));
    cleave__channels_free(&channels);

    struct cleave__tickets tickets = {0};
    for (uint64_t n = 1; n < 20; n++)
        assert_true(cleave__tickets_add(&tickets, (struct cleave__ticket){.number = n}));
    cleave__tickets_find(&tickets, 9)->number = 0; /* a grave: the count is off */
    assert_false(cleave__tickets_check(&tickets));
    cleave__tickets_free(&tickets);

    struct cleave__waiters waiters = {0};
    uint64_t ticket;
    assert_true(cleave__waiters_add(&waiters, 7, &ticket));
    waiters.actors.data[0] = UINT32_MAX;
    assert_false(cleave__waiters_check(&waiters));
    cleave__waiters_free(&waiters);

    struct cleave__timers timers = {0};
    struct cleave__events events = {0};
    uint64_t handle;
    for (uint64_t i = 0; i < 9; i++) {
        assert_true(cleave__timers_set(&timers, i, 1, 1, &handle));
        assert_true(cleave__events_add(&events, (struct cleave__event){.at_ns = i}));
    }
    timers.slots.data[5].at_ns = 0;
    timers.slots.data[5].order = 0;
    timers.slots.data[2].at_ns = 100;
    assert_false(cleave__timers_check(&timers));
    events.heap.data[1].at_ns = 100;
    assert_false(cleave__events_check(&events));
    cleave__timers_free(&timers);
    CLEAVE_VECTOR_FREE(&events.heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beside_arrays),
        cmocka_unit_test(checks_see),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
