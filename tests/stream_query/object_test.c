/* Objects and queries: when one has the other, against sets written out; bytes there and back;
 * bytes of any kind. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stream/query/object.h"
#include "support/property.h"

enum { WORDS = 8, FIELDS = 4 };

struct drawn {
    struct cleave__object object;
    struct cleave__query query;
    uint32_t object_terms[WORDS], query_terms[WORDS];
    struct cleave__measure measures[FIELDS];
    struct cleave__filter filters[FIELDS];
    unsigned object_set, query_set;
};

static uint32_t from_set(unsigned set, uint32_t *terms)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < WORDS; i++) {
        if (set >> i & 1)
            terms[count++] = i == WORDS - 1 ? UINT32_MAX - 1 : i * i;
    }
    return count;
}

static void draw(struct property_source *source, struct drawn *d)
{
    *d = (struct drawn){.object_set = (unsigned)property_draw(source, 1 << WORDS),
                        .query_set = (unsigned)property_draw(source, 1 << WORDS)};
    if (property_draw(source, 2)) /* sparse: more likely to match */
        d->query_set &= (unsigned)property_draw(source, 1 << WORDS) & d->object_set;
    struct cleave__object *o = &d->object;
    struct cleave__query *q = &d->query;
    o->number = property_draw(source, UINT64_MAX);
    o->id = property_draw(source, UINT64_MAX);
    o->sequence = property_draw(source, UINT64_MAX);
    o->time_ms = property_draw(source, 4);
    o->x = (double)property_draw(source, 5);
    o->y = (double)property_draw(source, 5);
    o->terms = d->object_terms;
    o->term_count = from_set(d->object_set, d->object_terms);
    for (uint32_t f = 0; f < FIELDS; f++) {
        if (property_draw(source, 2))
            d->measures[o->measure_count++] =
                (struct cleave__measure){f, (double)property_draw(source, 4)};
    }
    o->measures = d->measures;
    static const uint8_t note[4] = "note";
    o->note = note;
    o->note_length = (uint32_t)property_draw(source, sizeof note + 1);
    q->id = 1 + property_draw(source, 1000);
    q->subscriber = property_draw(source, UINT64_MAX);
    q->end_ms = property_draw(source, 3) ? CLEAVE__NEVER : property_draw(source, 4);
    if (property_draw(source, 2))
        q->region = (struct cleave__region){CLEAVE__RECTANGLE, 0, 0, 3, 3, 0};
    else
        q->region = (struct cleave__region){CLEAVE__CIRCLE, 2, 2, 0, 0, 2};
    q->predicate = (enum cleave__predicate)property_draw(source, 2);
    q->events = (uint32_t)property_draw(source, 16);
    q->terms = d->query_terms;
    q->term_count = from_set(d->query_set, d->query_terms);
    q->filter_count = (uint32_t)property_draw(source, 3);
    for (uint32_t i = 0; i < q->filter_count; i++)
        d->filters[i] = (struct cleave__filter){(uint32_t)property_draw(source, FIELDS), -INFINITY,
                                                (double)property_draw(source, 4)};
    q->filters = d->filters;
}

static bool as_written_out(struct property_source *source, void *context)
{
    (void)context;
    const struct cleave__space plane = {CLEAVE__PLANE, {0, 0, 4, 4}};
    struct drawn d;
    draw(source, &d);
    const struct cleave__object *o = &d.object;
    const struct cleave__query *q = &d.query;
    bool place = q->region.kind == CLEAVE__RECTANGLE
                     ? o->x <= 3 && o->y <= 3
                     : (o->x - 2) * (o->x - 2) + (o->y - 2) * (o->y - 2) <= 4;
    unsigned common = d.object_set & d.query_set;
    bool words = d.query_set == 0 ||
                 (q->predicate == CLEAVE__CONTAINS ? common == d.query_set : common != 0);
    bool numbers = true;
    for (uint32_t i = 0; i < q->filter_count; i++) {
        bool kept = false;
        for (uint32_t k = 0; k < o->measure_count; k++)
            kept |= o->measures[k].field == q->filters[i].field &&
                    o->measures[k].value <= q->filters[i].high;
        numbers = numbers && kept;
    }
    bool time = q->end_ms == CLEAVE__NEVER || o->time_ms < q->end_ms;
    return cleave__query_has(&plane, q, o) == (place && words && numbers && time);
}

static bool same_object(const struct cleave__object *a, const struct cleave__object *b)
{
    bool same = a->number == b->number && a->id == b->id && a->sequence == b->sequence &&
                a->time_ms == b->time_ms && a->x == b->x && a->y == b->y &&
                a->term_count == b->term_count && a->measure_count == b->measure_count &&
                a->note_length == b->note_length &&
                (!a->note_length || !memcmp(a->note, b->note, a->note_length));
    for (uint32_t i = 0; same && i < a->term_count; i++)
        same = a->terms[i] == b->terms[i];
    for (uint32_t i = 0; same && i < a->measure_count; i++)
        same = a->measures[i].field == b->measures[i].field &&
               a->measures[i].value == b->measures[i].value;
    return same;
}

static bool same_query(const struct cleave__query *a, const struct cleave__query *b)
{
    const struct cleave__region *r = &a->region, *s = &b->region;
    bool same = a->id == b->id && a->subscriber == b->subscriber && a->end_ms == b->end_ms &&
                r->kind == s->kind && r->x0 == s->x0 && r->y0 == s->y0 && r->x1 == s->x1 &&
                r->y1 == s->y1 && r->radius == s->radius && a->predicate == b->predicate &&
                a->events == b->events && a->term_count == b->term_count &&
                a->filter_count == b->filter_count;
    for (uint32_t i = 0; same && i < a->term_count; i++)
        same = a->terms[i] == b->terms[i];
    for (uint32_t i = 0; same && i < a->filter_count; i++)
        same = a->filters[i].field == b->filters[i].field &&
               a->filters[i].low == b->filters[i].low && a->filters[i].high == b->filters[i].high;
    return same;
}

/* There and back; every piece that is cut short fails; a changed byte gives something in order or
 * fails. */
static bool bytes_come_back(struct property_source *source, void *context)
{
    (void)context;
    struct drawn d;
    draw(source, &d);
    struct cleave_writer w = {0};
    struct cleave_arena arena = {0};
    struct cleave__object object;
    struct cleave__query query;
    bool no_memory, is_query = property_draw(source, 2);
    if (is_query)
        cleave__query_write(&d.query, &w);
    else
        cleave__object_write(&d.object, &w);
    bool right = !w.failed;
    struct cleave_reader r = {w.data, w.data + w.count, false};
    right = right &&
            (is_query ? cleave__query_read(&r, &arena, &query, &no_memory) &&
                            same_query(&d.query, &query)
                      : cleave__object_read(&r, &arena, &object, &no_memory) &&
                            same_object(&d.object, &object)) &&
            r.at == r.end;
    for (size_t cut = 0; cut < w.count && right; cut++) {
        r = (struct cleave_reader){w.data, w.data + cut, false};
        right = !(is_query ? cleave__query_read(&r, &arena, &query, &no_memory)
                           : cleave__object_read(&r, &arena, &object, &no_memory)) &&
                r.failed && !no_memory;
    }
    w.data[property_draw(source, w.count)] = (uint8_t)property_draw(source, 256);
    r = (struct cleave_reader){w.data, w.data + w.count, false};
    if (is_query ? cleave__query_read(&r, &arena, &query, &no_memory)
                 : cleave__object_read(&r, &arena, &object, &no_memory)) {
        const uint32_t *terms = is_query ? query.terms : object.terms;
        for (uint32_t i = 0; i < (is_query ? query.term_count : object.term_count); i++)
            right = right && terms[i] < UINT32_MAX && (i == 0 || terms[i] > terms[i - 1]);
        right = right && (is_query ? query.id && query.events < 16 : isfinite(object.x));
    }
    free(w.data);
    cleave__arena_free(&arena);
    return right;
}

static void properties(void **state)
{
    (void)state;
    assert_true(property_run("query_has", as_written_out, NULL, 200000));
    assert_true(property_run("bytes", bytes_come_back, NULL, 20000));
}

static void the_last_number_is_no_term(void **state)
{
    (void)state;
    struct cleave_writer w = {0};
    struct cleave_arena arena = {0};
    struct cleave__object object;
    bool no_memory;
    const uint32_t term = UINT32_MAX;
    cleave__object_write(&(struct cleave__object){.number = 1, .terms = &term, .term_count = 1},
                         &w);
    struct cleave_reader r = {w.data, w.data + w.count, false};
    assert_false(cleave__object_read(&r, &arena, &object, &no_memory));
    free(w.data);
    cleave__arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(properties),
                                       cmocka_unit_test(the_last_number_is_no_term)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
