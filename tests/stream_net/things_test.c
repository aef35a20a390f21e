/* Who enters and leaves, of things whose objects come in any order, twice, with gaps, in several
 * sessions of publishers: what is told is what a plain model says, also when everything is written
 * and read back in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stream/net/things.h"
#include "support/property.h"

enum { THINGS = 4, QUERIES = 5, SESSIONS = 3, LENGTH = 12, TOLD = 4096 };

static struct cleave__streaming streaming = {.track = true, .apart = true};
static const struct cleave__stream_world world = {.streaming = &streaming};

struct told {
    uint64_t object, thing, query;
    bool left;
};
struct list {
    struct told items[TOLD];
    size_t count;
};

/* Of each session, each thing's objects: which queries have them. */
struct story {
    uint32_t counts[SESSIONS][THINGS];
    unsigned in[SESSIONS][THINGS][LENGTH];
    unsigned wants[QUERIES];
    uint64_t end_ms[QUERIES];
};

static uint64_t object_number(int session, int thing, int n)
{
    return ((uint64_t)session + 1) << CLEAVE__NET_NUMBER_BITS | (uint64_t)(thing * 100 + n + 1);
}

static uint64_t time_of(int session, int n)
{
    return (uint64_t)(session * LENGTH + n) * 10;
}

static void write_found(const struct story *s, int session, int thing, int n,
                        struct cleave_writer *w)
{
    unsigned in = s->in[session][thing][n];
    char note[20];
    cleave__put64(w, object_number(session, thing, n));
    cleave__put64(w, (uint64_t)thing + 1);
    cleave__put64(w, (uint64_t)n + 1);
    cleave__put64(w, time_of(session, n));
    cleave__put32(w, (uint32_t)__builtin_popcount(in));
    for (int q = QUERIES - 1; q >= 0; q--) {
        if (!(in >> q & 1))
            continue;
        cleave__put64(w, (uint64_t)q + 1);
        cleave__put64(w, s->end_ms[q]);
        cleave__put8(w, (uint8_t)s->wants[q]);
    }
    snprintf(note, sizeof note, "%d %d", thing, n);
    cleave__put32(w, (uint32_t)strlen(note));
    cleave__put_bytes(w, note, strlen(note));
}

static void add(struct list *l, uint64_t object, uint64_t thing, uint64_t query, bool left)
{
    assert_true(l->count < TOLD);
    l->items[l->count++] = (struct told){object, thing, query, left};
}

static bool each(void *context, const struct cleave__net_passage *p)
{
    const struct cleave__found *f = p->found;
    int thing, n;
    char note[20] = {0};
    assert_true(f->note_length < sizeof note);
    memcpy(note, f->note, f->note_length);
    assert_int_equal(sscanf(note, "%d %d", &thing, &n), 2);
    assert_int_equal((uint64_t)thing + 1, f->thing);
    assert_int_equal((uint64_t)n + 1, f->sequence);
    for (uint32_t i = 0; i < p->entered_count; i++)
        add(context, f->object, f->thing, p->entered[i], false);
    for (uint32_t i = 0; i < p->left_count; i++)
        add(context, f->object, f->thing, p->left[i], true);
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    if (x->query != y->query)
        return x->query < y->query ? -1 : 1;
    return x->left - y->left;
}

/* What is to be told: each thing's objects in order. */
static void model(const struct story *s, struct list *out)
{
    for (int thing = 0; thing < THINGS; thing++) {
        unsigned inside = 0;
        for (int session = 0; session < SESSIONS; session++) {
            for (int n = 0; n < (int)s->counts[session][thing]; n++) {
                unsigned in = s->in[session][thing][n];
                for (int q = 0; q < QUERIES; q++) {
                    unsigned bit = 1u << q;
                    bool tracked = s->wants[q] & (CLEAVE__EVENT_ENTER | CLEAVE__EVENT_EXIT);
                    uint64_t object = object_number(session, thing, n);
                    if (!tracked)
                        continue;
                    if (in & ~inside & bit && s->wants[q] & CLEAVE__EVENT_ENTER)
                        add(out, object, (uint64_t)thing + 1, (uint64_t)q + 1, false);
                    if (inside & ~in & bit && s->wants[q] & CLEAVE__EVENT_EXIT &&
                        s->end_ms[q] > time_of(session, n))
                        add(out, object, (uint64_t)thing + 1, (uint64_t)q + 1, true);
                }
                inside = in;
            }
        }
    }
}

static bool again(struct cleave__net_things **things)
{
    struct cleave_writer first = {0}, second = {0};
    struct cleave_error error;
    cleave__net_things_write(*things, &first);
    uint64_t waiting = cleave__net_things_waiting(*things);
    cleave__net_things_free(*things);
    assert_int_equal(cleave__net_things_new(&world, things, &error), CLEAVE_OK);
    struct cleave_reader reader = {first.data, first.data + first.count, false};
    bool fine = !cleave__net_things_read(*things, &reader, &error) && !cleave__left(&reader) &&
                cleave__net_things_waiting(*things) == waiting && cleave__net_things_check(*things);
    cleave__net_things_write(*things, &second);
    fine = fine && second.count == first.count;
    /* What is cut off, or altered, is an error or something in order. */
    for (size_t cut = 0; cut < first.count; cut += 1 + first.count / 7) {
        struct cleave__net_things *other;
        assert_int_equal(cleave__net_things_new(&world, &other, &error), CLEAVE_OK);
        reader = (struct cleave_reader){first.data, first.data + cut, false};
        fine = fine && cleave__net_things_read(other, &reader, &error) == CLEAVE_CORRUPT;
        cleave__net_things_free(other);
        assert_int_equal(cleave__net_things_new(&world, &other, &error), CLEAVE_OK);
        second.data[cut] ^= 1 << cut % 8;
        reader = (struct cleave_reader){second.data, second.data + second.count, false};
        if (!cleave__net_things_read(other, &reader, &error))
            fine = fine && cleave__net_things_check(other);
        second.data[cut] ^= 1 << cut % 8;
        cleave__net_things_free(other);
    }
    free(first.data);
    free(second.data);
    return fine;
}

struct sent {
    int thing, n;
};

static bool tells_all(struct property_source *source, void *context)
{
    (void)context;
    static struct story s;
    static struct list told, wanted;
    struct cleave__net_things *things;
    struct cleave_error error;
    bool fine = true;
    memset(&s, 0, sizeof s);
    told.count = wanted.count = 0;
    for (int q = 0; q < QUERIES; q++) {
        s.wants[q] = 1 + (unsigned)property_draw(source, 7);
        s.end_ms[q] = property_draw(source, 3) ? CLEAVE__NEVER : property_draw(source, 400);
    }
    assert_int_equal(cleave__net_things_new(&world, &things, &error), CLEAVE_OK);
    for (int session = 0; session < SESSIONS; session++) {
        struct sent order[THINGS * LENGTH * 2];
        size_t count = 0;
        for (int thing = 0; thing < THINGS; thing++) {
            s.counts[session][thing] = (uint32_t)property_draw(source, LENGTH + 1);
            for (int n = 0; n < (int)s.counts[session][thing]; n++) {
                s.in[session][thing][n] = (unsigned)property_draw(source, 1 << QUERIES);
                order[count++] = (struct sent){thing, n};
                if (!property_draw(source, 4))
                    order[count++] = (struct sent){thing, n};
            }
        }
        for (size_t i = count; i > 1; i--) {
            size_t other = property_draw(source, i);
            struct sent swap = order[i - 1];
            order[i - 1] = order[other];
            order[other] = swap;
        }
        for (size_t i = 0; i < count && fine;) {
            struct cleave_writer w = {0};
            bool taken;
            for (size_t more = 1 + property_draw(source, 4); more && i < count; more--, i++)
                write_found(&s, session, order[i].thing, order[i].n, &w);
            if (session && !property_draw(source, 8)) /* late, of the publisher before */
                for (int thing = 0; thing < THINGS; thing++)
                    if (s.counts[session - 1][thing])
                        write_found(&s, session - 1, thing, 0, &w);
            fine = !cleave__net_things_take(things, w.data, w.count, each, &told, &taken, &error) &&
                   cleave__net_things_check(things);
            free(w.data);
            if (fine && !property_draw(source, 5))
                fine = again(&things);
        }
        fine = fine && cleave__net_things_waiting(things) == 0;
    }
    model(&s, &wanted);
    qsort(told.items, told.count, sizeof *told.items, compare);
    qsort(wanted.items, wanted.count, sizeof *wanted.items, compare);
    fine = fine && told.count == wanted.count;
    for (size_t i = 0; i < wanted.count && fine; i++)
        fine = !compare(&told.items[i], &wanted.items[i]);
    if (source->verbose)
        printf("told %zu, wanted %zu\n", told.count, wanted.count);
    cleave__net_things_free(things);
    return fine;
}

static void properties(void **state)
{
    (void)state;
    assert_true(property_run("things", tells_all, NULL, 1500));
}

/* A gap that a publisher left is passed over when the thing comes by another. */
static void gaps(void **state)
{
    (void)state;
    static struct story s;
    static struct list told;
    struct cleave__net_things *things;
    struct cleave_error error;
    struct cleave_writer w = {0};
    bool taken;
    s.wants[0] = CLEAVE__EVENT_ENTER | CLEAVE__EVENT_EXIT;
    s.end_ms[0] = CLEAVE__NEVER;
    s.in[0][0][2] = 1;
    assert_int_equal(cleave__net_things_new(&world, &things, &error), CLEAVE_OK);
    write_found(&s, 0, 0, 2, &w);
    assert_int_equal(cleave__net_things_take(things, w.data, w.count, each, &told, &taken, &error),
                     CLEAVE_OK);
    assert_int_equal(told.count, 0);
    assert_int_equal(cleave__net_things_waiting(things), 1);
    w.count = 0;
    write_found(&s, 1, 0, 0, &w);
    assert_int_equal(cleave__net_things_take(things, w.data, w.count, each, &told, &taken, &error),
                     CLEAVE_OK);
    assert_int_equal(told.count, 2);
    assert_false(told.items[0].left);
    assert_true(told.items[1].left);
    w.data[w.count - 1 - 3 - 4] = 0xff; /* a note that is longer than what there is */
    assert_int_equal(cleave__net_things_take(things, w.data, w.count, each, &told, &taken, &error),
                     CLEAVE_CORRUPT);
    cleave__net_things_free(things);
    free(w.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(properties), cmocka_unit_test(gaps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
