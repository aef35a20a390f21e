/* The generator: what it draws is as asked for, and the same everywhere. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include <cmocka.h>

#include "stream/source/generate.h"
#include "support/failalloc.h"
#include "support/property.h"

static struct cleave__stream_generator *make(const struct cleave__stream_options *options)
{
    struct cleave__stream_generator *g = NULL;
    struct cleave_error error = {0};
    if (cleave__stream_generator_new(options, &g, &error))
        fail_msg("%s", error.message);
    assert_true(cleave__stream_generator_check(g));
    return g;
}

static void put_real(struct cleave_writer *writer, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    cleave__put64(writer, bits);
}

static void put_terms(struct cleave_writer *writer, const uint32_t *terms, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        cleave__put32(writer, terms[i]);
}

/* Of what is drawn for the first objects and queries. A change of these numbers changes everybody's
 * made-up workloads: say so in CHANGELOG. */
static uint64_t digest(const struct cleave__stream_options *options, int objects, int queries)
{
    struct cleave__stream_generator *g = make(options);
    struct cleave_writer writer = {0};
    for (int i = 0; i < objects; i++) {
        struct cleave__object object;
        cleave__stream_next_object(g, &object);
        cleave__put64(&writer, object.number);
        cleave__put64(&writer, object.id);
        cleave__put64(&writer, object.time_ms);
        put_real(&writer, object.x);
        put_real(&writer, object.y);
        put_terms(&writer, object.terms, object.term_count);
        for (uint32_t m = 0; m < object.measure_count; m++)
            put_real(&writer, object.measures[m].value);
    }
    for (int i = 0; i < queries; i++) {
        struct cleave__query query;
        cleave__stream_next_query(g, 7, &query);
        const struct cleave__region *r = &query.region;
        cleave__put64(&writer, query.id);
        cleave__put64(&writer, query.end_ms);
        cleave__put8(&writer, (uint8_t)(r->kind | query.predicate << 1 | query.events << 2));
        put_real(&writer, r->x0);
        put_real(&writer, r->y0);
        put_real(&writer, r->x1);
        put_real(&writer, r->y1);
        put_real(&writer, r->radius);
        put_terms(&writer, query.terms, query.term_count);
        for (uint32_t f = 0; f < query.filter_count; f++) {
            cleave__put32(&writer, query.filters[f].field);
            put_real(&writer, query.filters[f].low);
        }
    }
    assert_false(writer.failed);
    uint64_t hash = XXH3_64bits(writer.data, writer.count);
    free(writer.data);
    cleave__stream_generator_free(g);
    return hash;
}

static void same_everywhere(void **state)
{
    (void)state;
    struct cleave__stream_options o = cleave__stream_defaults, full = o;
    full.space = cleave__globe;
    full.move = 0.5;
    full.band = 0.25;
    full.contains = full.circles = 0.5;
    full.things = 100;
    full.measures = 4;
    full.filters = 2;
    full.lifetime_ms = 10000;
    full.scale = 0.7;
    assert_true(digest(&o, 1000, 1000) == UINT64_C(0x5ec51ffa3432ab73));
    assert_true(digest(&full, 1000, 1000) == UINT64_C(0x7a7c44c894c072a9));
}

static bool same_region(const struct cleave__region *a, const struct cleave__region *b)
{
    return a->kind == b->kind && a->x0 == b->x0 && a->y0 == b->y0 && a->x1 == b->x1 &&
           a->y1 == b->y1 && a->radius == b->radius;
}

/* Objects alone, queries alone, or mixed: the same objects and queries. */
static void streams_are_apart(void **state)
{
    (void)state;
    struct cleave__stream_options o = cleave__stream_defaults;
    struct cleave__stream_generator *mixed = make(&o), *objects = make(&o), *queries = make(&o);
    for (int i = 0; i < 2000; i++) {
        struct cleave__object a, b;
        struct cleave__query p, q;
        cleave__stream_next_object(mixed, &a);
        cleave__stream_next_object(objects, &b);
        cleave__stream_next_query(mixed, 0, &p);
        cleave__stream_next_query(queries, 0, &q);
        assert_true(a.x == b.x && a.y == b.y && a.number == b.number);
        assert_memory_equal(a.terms, b.terms, a.term_count * sizeof *a.terms);
        assert_true(same_region(&p.region, &q.region));
        assert_memory_equal(p.terms, q.terms, p.term_count * sizeof *p.terms);
    }
    cleave__stream_generator_free(mixed);
    cleave__stream_generator_free(objects);
    cleave__stream_generator_free(queries);
}

/* Frequencies against the law, by the largest difference of the distributions. */
static void words_are_zipf(void **state)
{
    (void)state;
    struct cleave__stream_options o = cleave__stream_defaults;
    enum { WORDS = 1000, DRAWN = 400000 };
    static uint32_t count[WORDS];
    for (int e = 0; e < 3; e++) {
        o.vocabulary = WORDS;
        o.words = o.keywords = 1; /* else they are not independent */
        o.zipf = e * 0.7;
        struct cleave__stream_generator *g = make(&o);
        memset(count, 0, sizeof count);
        for (int i = 0; i < DRAWN; i++) {
            struct cleave__object object;
            cleave__stream_next_object(g, &object);
            count[object.terms[0]]++;
        }
        double all = 0, law = 0, seen = 0, most = 0;
        for (int i = 0; i < WORDS; i++)
            all += pow(i + 1, -o.zipf);
        for (int i = 0; i < WORDS; i++) {
            law += pow(i + 1, -o.zipf) / all;
            seen += count[i] / (double)DRAWN;
            most = fmax(most, fabs(law - seen));
        }
        assert_true(most < 1.95 / sqrt(DRAWN)); /* Kolmogorov: once in a thousand */
        cleave__stream_generator_free(g);
    }
}

static void objects_crowd_and_spots_move(void **state)
{
    (void)state;
    struct cleave__stream_options o = cleave__stream_defaults;
    o.hot_spots = 1;
    o.background = 0;
    o.spread = 0.01;
    o.move = 0.5;
    o.space.bounds = (struct cleave__box){0, 0, 1, 1};
    struct cleave__stream_generator *g = make(&o);
    double sum[2][2] = {{0}}, square = 0;
    enum { EACH = 20000, ALL = 400000 };
    for (int i = 0; i < ALL; i++) {
        struct cleave__object object;
        cleave__stream_next_object(g, &object);
        if (i < EACH || i >= ALL - EACH) {
            sum[i >= EACH][0] += object.x / EACH;
            sum[i >= EACH][1] += object.y / EACH;
        }
        if (i < EACH)
            square += object.x * object.x / EACH;
    }
    double went = hypot(sum[1][0] - sum[0][0], sum[1][1] - sum[0][1]);
    double deviation = sqrt(square - sum[0][0] * sum[0][0]);
    assert_true(deviation > 0.008 && deviation < 0.012);
    /* 0.38 M objects at 0.5 a million, less where it turned at a border. */
    assert_true(went > 0.05 && went < 0.195);
    cleave__stream_generator_free(g);
}

static void bands_and_shares(void **state)
{
    (void)state;
    struct cleave__stream_options o = cleave__stream_defaults;
    for (int b = 0; b <= 4; b++) {
        o.band = b / 4.0;
        struct cleave__stream_generator *g = make(&o);
        uint32_t low = UINT32_MAX, high = 0;
        for (int i = 0; i < 2000; i++) {
            struct cleave__query query;
            cleave__stream_next_query(g, 0, &query);
            low = query.terms[0] < low ? query.terms[0] : low;
            high = query.terms[2] > high ? query.terms[2] : high;
        }
        assert_true(high - low < 1000 && high - low > 900);
        assert_true(b < 4 || low == 0);
        assert_true(b > 0 || high > 99950);
        cleave__stream_generator_free(g);
    }
    o.band = -1;
    o.contains = 0.3;
    o.circles = 0.6;
    struct cleave__stream_generator *g = make(&o);
    int contains = 0, circles = 0;
    for (int i = 0; i < 10000; i++) {
        struct cleave__query query;
        cleave__stream_next_query(g, 0, &query);
        contains += query.predicate == CLEAVE__CONTAINS;
        circles += query.region.kind == CLEAVE__CIRCLE;
    }
    assert_in_range(contains, 2800, 3200);
    assert_in_range(circles, 5800, 6200);
    cleave__stream_generator_free(g);
}

static struct cleave__stream_options draw_options(struct property_source *source)
{
    struct cleave__stream_options o = cleave__stream_defaults;
    o.seed = property_draw(source, 1000);
    if (property_draw(source, 2))
        o.space = cleave__globe;
    o.hot_spots = (uint32_t)property_draw(source, 5);
    o.spread = (double)property_draw(source, 101) / 100;
    o.background = (double)property_draw(source, 3) / 2;
    o.move = (double)property_draw(source, 3) / 2;
    o.scale = 1 - (double)property_draw(source, 10) / 10;
    o.vocabulary = 1 + (uint32_t)property_draw(source, 40);
    o.zipf = (double)property_draw(source, 101) / 10;
    o.words = (uint32_t)property_draw(source, o.vocabulary + 1);
    o.band = (double)property_draw(source, 12) / 10 - 0.1;
    o.keywords = (uint32_t)property_draw(source, (o.band < 0 ? o.words : o.vocabulary) + 1);
    o.contains = (double)property_draw(source, 3) / 2;
    o.circles = (double)property_draw(source, 3) / 2;
    o.range = (double)property_draw(source, 101) / 100;
    o.things = (uint32_t)property_draw(source, 20);
    o.step = (double)property_draw(source, 101) / 100;
    o.measures = (uint32_t)property_draw(source, 5);
    o.filters = (uint32_t)property_draw(source, o.measures + 1);
    o.lifetime_ms = property_draw(source, 2) * 1000;
    return o;
}

static bool rising(const uint32_t *terms, uint32_t count, uint32_t below)
{
    for (uint32_t i = 0; i < count; i++) {
        if (terms[i] >= below || (i && terms[i] <= terms[i - 1]))
            return false;
    }
    return true;
}

/* Whatever the options: canonical points within bounds, prepared regions, rising terms. */
static bool all_is_in_order(struct property_source *source, void *context)
{
    (void)context;
    struct cleave__stream_options o = draw_options(source);
    struct cleave__stream_generator *g = make(&o);
    bool right = true;
    double side = o.space.bounds.x1 - o.space.bounds.x0;
    for (int i = 0; i < 50 && right; i++) {
        struct cleave__object object;
        struct cleave__query query;
        cleave__stream_next_object(g, &object);
        cleave__stream_next_query(g, object.number, &query);
        double x = object.x, y = object.y;
        right = cleave__space_point(&o.space, &x, &y) && x == object.x && y == object.y &&
                cleave__box_has(&o.space.bounds, x, y) &&
                rising(object.terms, o.words, o.vocabulary) &&
                (x - o.space.bounds.x0) <= side * o.scale * 1.0000001 &&
                object.term_count == o.words && (object.id == 0) == (o.things == 0) &&
                object.id <= o.things && object.measure_count == o.measures;
        struct cleave__region region = query.region;
        right = right && !cleave__region_prepare(&o.space, &region, NULL) &&
                same_region(&region, &query.region) &&
                rising(query.terms, o.keywords, o.vocabulary) && query.term_count == o.keywords &&
                (query.end_ms == CLEAVE__NEVER) == (o.lifetime_ms == 0) &&
                query.end_ms > object.time_ms;
    }
    right = right && cleave__stream_generator_check(g);
    if (source->verbose)
        printf("seed %llu hot %u vocabulary %u words %u keywords %u zipf %g range %g\n",
               (unsigned long long)o.seed, o.hot_spots, o.vocabulary, o.words, o.keywords, o.zipf,
               o.range);
    cleave__stream_generator_free(g);
    return right;
}

static void properties(void **state)
{
    (void)state;
    assert_true(property_run("generate", all_is_in_order, NULL, 3000));
}

static void senseless_options(void **state)
{
    (void)state;
    struct cleave__stream_options o = cleave__stream_defaults;
    struct cleave__stream_generator *g = NULL;
    struct cleave_error error = {0};
#define REFUSED(field, value)                                                                      \
    do {                                                                                           \
        o = cleave__stream_defaults;                                                               \
        o.field = value;                                                                           \
        assert_int_equal(cleave__stream_generator_new(&o, &g, &error), CLEAVE_BAD_ARGUMENT);       \
        assert_null(g);                                                                            \
    } while (0)
    REFUSED(words, 65);
    REFUSED(vocabulary, 7);
    REFUSED(vocabulary, 1 << 25);
    REFUSED(keywords, 9);
    REFUSED(zipf, NAN);
    REFUSED(zipf, -1);
    REFUSED(band, 1.1);
    REFUSED(band, NAN);
    REFUSED(range, 2);
    REFUSED(scale, 0);
    REFUSED(spread, NAN);
    REFUSED(background, -0.1);
    REFUSED(filters, 1);
    REFUSED(measures, 65);
    REFUSED(objects_per_s, 0);
    REFUSED(events, 16);
    REFUSED(space.bounds.x1, 0);
    REFUSED(space.bounds.x1, INFINITY);
#undef REFUSED
}

static bool attempt(void *context)
{
    (void)context;
    struct cleave__stream_options o = cleave__stream_defaults;
    struct cleave__stream_generator *g = NULL;
    struct cleave_arena arena = {0};
    struct cleave_error error = {0};
    struct cleave__object objects[10];
    o.vocabulary = 100;
    o.things = 10;
    enum cleave_status status = cleave__stream_generator_new(&o, &g, &error);
    bool right = (g != NULL) == !status;
    if (!status)
        status = cleave__stream_next_objects(g, 10, &arena, objects, &error);
    cleave__arena_free(&arena);
    cleave__stream_generator_free(g);
    return right && (!status || status == CLEAVE_NO_MEMORY);
}

static void allocations_fail(void **state)
{
    (void)state;
    assert_true(failalloc_run("generate", attempt, NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_everywhere),   cmocka_unit_test(streams_are_apart),
        cmocka_unit_test(words_are_zipf),    cmocka_unit_test(objects_crowd_and_spots_move),
        cmocka_unit_test(bands_and_shares),  cmocka_unit_test(properties),
        cmocka_unit_test(senseless_options), cmocka_unit_test(allocations_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
