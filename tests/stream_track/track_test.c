/* The tracker against a plain model that keeps everything in arrays and looks through all of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stream/track/track.h"
#include "support/failalloc.h"
#include "support/property.h"

enum { THINGS = 6, QUERIES = 6, EARLY = 64, EVENTS = 4096 };

/* A query that came again under its id is another: `generation` tells them apart. */
struct model_thing {
    bool there;
    uint64_t next, seen_ms, wait_ms;
    unsigned inside;      /* bit: query */
    uint32_t as[QUERIES]; /* its generation then */
    struct {
        uint64_t sequence, time_ms;
        unsigned in;
        uint32_t as[QUERIES];
    } early[EARLY];
    int count;
    int order; /* of being seen */
    int wait_order;
};

struct model {
    struct cleave__track_options options;
    struct model_thing things[THINGS];
    bool live[QUERIES];
    uint32_t generation[QUERIES];
    uint64_t clock;
    int held, there, order;
    struct cleave__track_event events[EVENTS];
    size_t count;
    uint64_t gaps, late, waited;
};

static void emit(struct model *m, enum cleave__event kind, uint64_t thing, uint64_t query,
                 uint64_t time_ms, uint64_t sequence)
{
    assert_true(m->count < EVENTS);
    m->events[m->count++] = (struct cleave__track_event){
        .kind = kind, .thing = thing, .query = query, .time_ms = time_ms, .sequence = sequence};
}

static bool is_live(const struct model *m, int q, uint32_t as)
{
    return m->live[q] && m->generation[q] == as;
}

static void model_apply(struct model *m, int i, unsigned in, const uint32_t *as, uint64_t sequence,
                        uint64_t time_ms)
{
    struct model_thing *t = &m->things[i];
    unsigned now = 0;
    for (int q = 0; q < QUERIES; q++) {
        bool before = (t->inside >> q & 1) && is_live(m, q, t->as[q]);
        bool after = (in >> q & 1) && is_live(m, q, as[q]);
        if (before && !after)
            emit(m, CLEAVE__EVENT_EXIT, (uint64_t)i + 1, (uint64_t)q + 1, time_ms, sequence);
        if (after && !before)
            emit(m, CLEAVE__EVENT_ENTER, (uint64_t)i + 1, (uint64_t)q + 1, time_ms, sequence);
        now |= (unsigned)after << q;
        if (after)
            t->as[q] = as[q];
    }
    t->inside = now;
}

static void model_release(struct model *m, int i, bool skip)
{
    struct model_thing *t = &m->things[i];
    int done = 0;
    if (t->count && skip) {
        m->gaps += t->early[0].sequence - t->next;
        t->next = t->early[0].sequence;
    }
    while (t->count && t->early[0].sequence == t->next) {
        model_apply(m, i, t->early[0].in, t->early[0].as, t->next, t->early[0].time_ms);
        t->next++;
        t->count--;
        m->held--;
        done++;
        memmove(t->early, t->early + 1, (size_t)t->count * sizeof *t->early);
    }
    if (done)
        t->wait_ms = m->clock;
}

static void model_leave(struct model *m, int i)
{
    static const uint32_t none[QUERIES];
    while (m->things[i].count)
        model_release(m, i, true);
    model_apply(m, i, 0, none, 0, m->clock);
    m->things[i].there = false;
    m->there--;
}

/* The one seen longest ago. */
static int model_oldest(const struct model *m)
{
    int oldest = -1;
    for (int i = 0; i < THINGS; i++) {
        if (m->things[i].there && (oldest < 0 || m->things[i].order < m->things[oldest].order))
            oldest = i;
    }
    return oldest;
}

static void model_message(struct model *m, int i, uint64_t sequence, uint64_t time_ms, unsigned in)
{
    struct model_thing *t = &m->things[i];
    bool ordered = m->options.wait_most > 0;
    for (int q = 0; q < QUERIES; q++) {
        if (!m->live[q])
            in &= ~(1u << q);
    }
    if (!ordered && !t->there && in == 0) {
        m->clock = time_ms > m->clock ? time_ms : m->clock;
        return;
    }
    if (!t->there) {
        if (m->there >= (int)m->options.things_most)
            model_leave(m, model_oldest(m));
        memset(t, 0, sizeof *t);
        t->there = true;
        t->next = 1;
        m->there++;
    }
    m->clock = time_ms > m->clock ? time_ms : m->clock;
    bool twice = false;
    for (int k = 0; k < t->count; k++)
        twice |= t->early[k].sequence == sequence;
    if (ordered && (sequence < t->next || twice)) {
        m->late++;
    } else if (!ordered || sequence == t->next) {
        model_apply(m, i, in, m->generation, sequence, time_ms);
        t->next = sequence + 1;
        model_release(m, i, false);
    } else {
        int at = t->count++;
        assert_true(at < EARLY);
        for (; at > 0 && t->early[at - 1].sequence > sequence; at--)
            t->early[at] = t->early[at - 1];
        t->early[at].sequence = sequence;
        t->early[at].time_ms = time_ms;
        t->early[at].in = in;
        memcpy(t->early[at].as, m->generation, sizeof m->generation);
        m->held++;
        m->waited++;
        if (t->count == 1)
            t->wait_ms = m->clock;
        if (t->count > (int)m->options.wait_most || m->held > (int)m->options.held_most)
            model_release(m, i, true);
    }
    t->seen_ms = m->clock;
    t->order = ++m->order;
    if (!ordered && t->inside == 0) {
        t->there = false;
        m->there--;
    }
}

static void model_tick(struct model *m, uint64_t now)
{
    m->clock = now > m->clock ? now : m->clock;
    bool again = m->options.wait_ms > 0;
    while (again) {
        again = false;
        for (int i = 0; i < THINGS; i++) {
            struct model_thing *t = &m->things[i];
            if (t->there && t->count && m->clock - t->wait_ms >= m->options.wait_ms) {
                model_release(m, i, true);
                again = true;
            }
        }
    }
    for (int i = 0; i < THINGS && m->options.ttl_ms; i++) {
        if (m->things[i].there && m->clock - m->things[i].seen_ms >= m->options.ttl_ms)
            model_leave(m, i);
    }
}

static int order(const void *a, const void *b)
{
    const struct cleave__track_event *x = a, *y = b;
    if (x->sequence != y->sequence)
        return (x->sequence > y->sequence) - (x->sequence < y->sequence);
    if (x->thing != y->thing)
        return (x->thing > y->thing) - (x->thing < y->thing);
    if (x->query != y->query)
        return (x->query > y->query) - (x->query < y->query);
    return (int)x->kind - (int)y->kind;
}

static bool same_events(struct model *m, struct cleave__track_events *events)
{
    bool same = m->count == events->items.count;
    if (m->count)
        qsort(m->events, m->count, sizeof *m->events, order);
    if (events->items.count)
        qsort(events->items.data, events->items.count, sizeof *events->items.data, order);
    for (size_t i = 0; i < m->count && same; i++) {
        const struct cleave__track_event *x = &m->events[i], *y = &events->items.data[i];
        same = order(x, y) == 0 && x->time_ms == y->time_ms;
        /* Who leaves by silence is named, where a name was given. */
        if (y->sequence == 0 && y->thing)
            same = same && y->name && y->name_length == 1 && y->name[0] == 'a' + (char)y->thing;
    }
    m->count = 0;
    cleave__track_events_clear(events);
    return same;
}

static bool as_the_model_says(struct property_source *source, void *context)
{
    (void)context;
    static struct model m;
    struct cleave__tracker *tracker = NULL;
    struct cleave__track_events events = {0};
    uint64_t sequence[THINGS] = {0}, time_ms = 0;
    m = (struct model){.options = {.ttl_ms = property_draw(source, 3) * 20,
                                   .wait_most = (uint32_t)property_draw(source, 4),
                                   .wait_ms = property_draw(source, 3) * 10,
                                   .held_most = 1 + (uint32_t)property_draw(source, 5),
                                   .things_most = 1 + (uint32_t)property_draw(source, 6)}};
    assert_int_equal(cleave__tracker_new(&m.options, &tracker, NULL), 0);
    bool right = true;
    uint64_t steps = 1 + property_draw(source, 120);
    for (uint64_t step = 0; step < steps && right; step++) {
        uint64_t what = property_draw(source, 10);
        int q = (int)property_draw(source, QUERIES);
        time_ms += property_draw(source, 8);
        enum cleave_status status = CLEAVE_OK;
        if (what == 0 && !m.live[q]) {
            m.live[q] = true;
            m.generation[q]++;
            status = cleave__tracker_add(tracker, (uint64_t)q + 1, NULL);
        } else if (what == 1) {
            if (m.live[q])
                emit(&m, CLEAVE__EVENT_EXPIRE, 0, (uint64_t)q + 1, time_ms, 0);
            m.live[q] = false;
            status = cleave__tracker_end(tracker, (uint64_t)q + 1, time_ms, &events, NULL);
        } else if (what == 2) {
            model_tick(&m, time_ms);
            status = cleave__tracker_tick(tracker, time_ms, &events, NULL);
        } else {
            int i = (int)property_draw(source, THINGS);
            unsigned in = (unsigned)property_draw(source, 1 << QUERIES);
            uint64_t queries[QUERIES], back = property_draw(source, 4);
            /* In order, skipping one, or one from before. */
            uint64_t number = back == 3 && sequence[i] > 1 ? sequence[i] - property_draw(source, 2)
                                                           : ++sequence[i] + (back == 2);
            if (back == 2)
                sequence[i] += property_draw(source, 2);
            char name = (char)('a' + i + 1);
            struct cleave__track_message message = {.thing = (uint64_t)i + 1,
                                                    .sequence = number,
                                                    .time_ms = time_ms,
                                                    .queries = queries,
                                                    .name = &name,
                                                    .name_length = 1};
            for (int k = QUERIES - 1; k >= 0; k--) {
                if (in >> k & 1)
                    queries[message.count++] = (uint64_t)k + 1;
            }
            if (source->verbose)
                printf("%d #%llu at %llu: %02x\n", i + 1, (unsigned long long)number,
                       (unsigned long long)time_ms, in);
            model_message(&m, i, number, time_ms, in);
            status = cleave__tracker_message(tracker, &message, &events, NULL);
        }
        right = !status && cleave__tracker_check(tracker) && same_events(&m, &events) &&
                cleave__tracker_things(tracker) == (uint64_t)m.there;
    }
    const struct cleave__track_counts *counts = cleave__tracker_counts(tracker);
    right = right && counts->gaps == m.gaps && counts->late == m.late && counts->waited == m.waited;
    if (source->verbose)
        printf("ttl %llu wait %u, %llu ms, held %u, things %u\n",
               (unsigned long long)m.options.ttl_ms, m.options.wait_most,
               (unsigned long long)m.options.wait_ms, m.options.held_most, m.options.things_most);
    cleave__track_events_free(&events);
    cleave__tracker_free(tracker);
    return right;
}

static void properties(void **state)
{
    (void)state;
    assert_true(property_run("track", as_the_model_says, NULL, 4000));
}

static void out_of_order_is_put_in_order(void **state)
{
    (void)state;
    struct cleave__track_options options = {.wait_most = 8, .held_most = 100, .things_most = 10};
    struct cleave__tracker *tracker = NULL;
    struct cleave__track_events events = {0};
    static const uint64_t sequences[] = {3, 1, 2, 4};
    const uint64_t seven = 7;
    assert_int_equal(cleave__tracker_new(&options, &tracker, NULL), 0);
    assert_int_equal(cleave__tracker_add(tracker, 7, NULL), 0);
    for (int i = 0; i < 4; i++) { /* inside in 1 and 3 */
        struct cleave__track_message message = {
            .thing = 5, .sequence = sequences[i], .queries = &seven, .count = sequences[i] & 1};
        assert_int_equal(cleave__tracker_message(tracker, &message, &events, NULL), 0);
        assert_true(cleave__tracker_check(tracker));
    }
    assert_int_equal(events.items.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(events.items.data[i].sequence, i + 1);
        assert_int_equal(events.items.data[i].kind,
                         i % 2 ? CLEAVE__EVENT_EXIT : CLEAVE__EVENT_ENTER);
    }
    assert_int_equal(cleave__tracker_counts(tracker)->waited, 1);
    cleave__track_events_free(&events);
    cleave__tracker_free(tracker);
}

static bool attempt(void *context)
{
    (void)context;
    struct cleave__track_options options = {
        .ttl_ms = 50, .wait_most = 3, .wait_ms = 9, .held_most = 4, .things_most = 3};
    struct cleave__tracker *tracker = NULL;
    struct cleave__track_events events = {0};
    struct cleave_error error = {0};
    enum cleave_status status = cleave__tracker_new(&options, &tracker, &error);
    bool right = !status || status == CLEAVE_NO_MEMORY;
    if (status)
        return right;
    const uint64_t queries[] = {2, 1, 3};
    for (uint64_t q = 1; q <= 3; q++)
        right = right && (!cleave__tracker_add(tracker, q, &error) || error.message[0]);
    for (uint64_t i = 0; i < 40 && right; i++) {
        struct cleave__track_message message = {.thing = 1 + i % 5,
                                                .sequence = 1 + (i * 7) % 11,
                                                .time_ms = 3 * i,
                                                .queries = queries,
                                                .count = (uint32_t)(i % 4),
                                                .name = "thing",
                                                .name_length = 5};
        cleave__tracker_message(tracker, &message, &events, &error);
        right =
            cleave__tracker_check(tracker) || cleave__tracker_check(tracker); /* its own failed */
        cleave__tracker_tick(tracker, 3 * i, &events, &error);
        if (i == 20)
            cleave__tracker_end(tracker, 2, 60, &events, &error);
    }
    cleave__track_events_free(&events);
    cleave__tracker_free(tracker);
    return right;
}

static void allocations_fail(void **state)
{
    (void)state;
    assert_true(failalloc_run("track", attempt, NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties),
        cmocka_unit_test(out_of_order_is_put_in_order),
        cmocka_unit_test(allocations_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
