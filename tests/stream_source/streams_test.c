/* Objects and queries from rows: each column, each way to say a thing, everything accepted or
 * refused is counted. The command's test has more of what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "put.h"
#include "stream/source/objects.h"
#include "stream/source/queries.h"
#include "support/failalloc.h"

struct world {
    struct cleave__terms terms;
    struct cleave_intern fields;
    struct cleave_arena arena;
    struct cleave_error error;
    char path[64];
    int descriptor;
};

static void start(struct world *w, const char *text)
{
    w->descriptor = put_bytes(text, strlen(text), w->path);
}

static void end(struct world *w)
{
    close(w->descriptor);
    cleave__terms_free(&w->terms);
    cleave__intern_free(&w->fields);
    cleave__arena_free(&w->arena);
    *w = (struct world){0};
}

static struct cleave__queries *open_queries(struct world *w, const struct cleave__space *space)
{
    struct cleave__queries_options options = {
        .rows = {.path = w->path}, .space = space, .terms = &w->terms, .fields = &w->fields};
    struct cleave__queries *queries = NULL;
    if (cleave__queries_open(&options, &queries, &w->error))
        return NULL;
    return queries;
}

static struct cleave__objects *open_objects(struct world *w, const struct cleave__space *space,
                                            struct cleave__object_columns columns)
{
    struct cleave__objects_options options = {.rows = {.path = w->path},
                                              .columns = columns,
                                              .space = space,
                                              .terms = &w->terms,
                                              .add = true,
                                              .fields = &w->fields};
    struct cleave__objects *objects = NULL;
    if (cleave__objects_open(&options, &objects, &w->error))
        return NULL;
    return objects;
}

static void every_column_of_a_query(void **state)
{
    (void)state;
    struct world w = {0};
    start(
        &w,
        "{\"id\":\"a\",\"west\":170,\"south\":-5,\"east\":190,\"north\":5,\"keywords\":\"x y; Z\","
        "\"match\":\"OVERLAPS\",\"filter\":\"mag>=4.5 & depth<10\",\"end\":\"1970-01-01T00:01Z\","
        "\"subscriber\":\"me\",\"events\":\"enter, exit\"}\n"
        "{\"lon\":181,\"lat\":1,\"radius\":\"2 km\",\"text\":\"Two words\",\"end_ms\":5}\n"
        "{\"bbox\":\"[1, 2 3,4]\",\"id\":7,\"subscriber\":\"me\"}\n"
        "{\"filters\":[\"m=1..2\"],\"keywords\":[\"New  York\",\"b\"]}\n"
        "{\"bbox\":[1,2,3]}\n");
    struct cleave__queries *queries = open_queries(&w, &cleave__globe);
    assert_non_null(queries);
    struct cleave__query q;
    size_t length;
    assert_int_equal(cleave__queries_next(queries, &q, &w.error), 0);
    assert_true(q.id == 1 && q.end_ms == 60000 && q.predicate == CLEAVE__OVERLAPS &&
                q.term_count == 2);
    assert_true(q.region.x0 == 170 && q.region.x1 == -170 && q.region.y1 == 5);
    assert_true(q.events == (CLEAVE__EVENT_ENTER | CLEAVE__EVENT_EXIT) && q.filter_count == 2);
    assert_true(q.filters[0].low == 4.5 && isinf(q.filters[0].high));
    assert_true(isinf(q.filters[1].low) && q.filters[1].high < 10 &&
                nextafter(q.filters[1].high, 11) == 10);
    assert_string_equal(cleave__queries_id(queries, 1, &length), "a");
    assert_string_equal(cleave__queries_subscriber(queries, q.subscriber, &length), "me");
    assert_int_equal(cleave__queries_next(queries, &q, &w.error), 0);
    assert_true(q.region.kind == CLEAVE__CIRCLE && q.region.x0 == -179 && q.region.radius == 2000);
    assert_true(q.term_count == 2 && q.predicate == CLEAVE__CONTAINS && q.end_ms == 5);
    assert_true(q.events == CLEAVE__EVENT_MATCH && q.subscriber == 0);
    assert_string_equal(cleave__queries_id(queries, 2, &length), "2");
    assert_int_equal(cleave__queries_next(queries, &q, &w.error), 0);
    assert_true(q.region.x1 == 3 && q.region.y1 == 4 && q.term_count == 0 && q.subscriber == 1);
    assert_string_equal(cleave__queries_id(queries, 3, &length), "7");
    assert_int_equal(cleave__queries_next(queries, &q, &w.error), 0);
    assert_true(q.region.y0 == -90 && q.region.x0 == -180 && q.term_count == 2 &&
                q.filter_count == 1);
    assert_true(q.filters[0].low == 1 && q.filters[0].high == 2 && q.filters[0].field == 2);
    assert_int_equal(cleave__queries_next(queries, &q, &w.error), CLEAVE_BAD_INPUT);
    assert_non_null(strstr(w.error.message, "a box is four numbers"));
    assert_int_equal(cleave__queries_next(queries, &q, &w.error), CLEAVE_END);
    assert_int_equal(cleave__queries_refused(queries), 1);
    assert_true(cleave__terms_find(&w.terms, "new york", 8) != CLEAVE__NO_TERM);
    cleave__queries_free(queries);
    end(&w);
}

static void every_column_of_an_object(void **state)
{
    (void)state;
    struct world w = {0};
    start(&w, "what,who,when_s,here.x,here.y,tags,more,mag,depth\n"
              "A b,17,1.5,180,5,\"x y;Z\",q,4.5,\n"
              "-,seventeen,2,0,90,,,nan,3\n"
              ",,0,0,91,,,,\n"
              ",017,1,0,0,,,,\n");
    cleave__intern_add(&w.fields, "mag", 3);
    cleave__intern_add(&w.fields, "depth", 5);
    struct cleave__objects *objects = open_objects(
        &w, &cleave__globe,
        (struct cleave__object_columns){"here.x", "here.y", "who", "when_s", "what,more", NULL});
    assert_non_null(objects);
    struct cleave__object o;
    assert_int_equal(cleave__objects_next(objects, &w.arena, &o, &w.error), 0);
    assert_true(o.number == 1 && o.id == 17 && o.time_ms == 1500 && o.x == -180 &&
                o.term_count == 5);
    assert_true(o.measure_count == 1 && o.measures[0].field == 0 && o.measures[0].value == 4.5);
    assert_int_equal(cleave__objects_next(objects, &w.arena, &o, &w.error), 0);
    assert_true(o.number == 2 && o.id > UINT64_C(1) << 63 && o.term_count == 0 && o.x == 0);
    assert_true(o.measure_count == 1 && o.measures[0].field == 1);
    assert_int_equal(cleave__objects_next(objects, &w.arena, &o, &w.error), CLEAVE_BAD_INPUT);
    assert_int_equal(cleave__objects_next(objects, &w.arena, &o, &w.error), 0);
    assert_true(o.number == 3 && o.id > UINT64_C(1) << 63); /* "017" is not 17 */
    assert_int_equal(cleave__objects_next(objects, &w.arena, &o, &w.error), CLEAVE_END);
    const struct cleave__objects_counts *counts = cleave__objects_counts(objects);
    assert_true(counts->rows == 4 && counts->refused == 1 && counts->late == 1 &&
                counts->clock_ms == 2000 && counts->without_words == 2);
    cleave__objects_close(objects);
    assert_null(open_objects(&w, &cleave__globe, (struct cleave__object_columns){.x = "nowhere"}));
    assert_int_equal(w.error.status, CLEAVE_NOT_FOUND);
    end(&w);
}

static void circles_of_points_and_boxes_of_outlines(void **state)
{
    (void)state;
    struct world w = {0};
    start(&w,
          "{\"type\":\"Feature\",\"id\":5,\"geometry\":{\"type\":\"Point\",\"coordinates\":[1,2]},"
          "\"properties\":{\"radius\":7}}\n"
          "{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[1,2]}}\n"
          "{\"type\":\"Feature\",\"geometry\":{\"type\":\"MultiPolygon\",\"coordinates\":"
          "[[[[170,0],[180,0],[180,5],[170,0]]],[[[-180,0],[-175,1],[-180,5],[-180,0]]]]}}\n");
    struct cleave__queries *queries = open_queries(&w, &cleave__globe);
    struct cleave__query q;
    size_t length;
    assert_non_null(queries);
    assert_int_equal(cleave__queries_next(queries, &q, &w.error), 0);
    assert_true(q.region.kind == CLEAVE__CIRCLE && q.region.radius == 7);
    assert_string_equal(cleave__queries_id(queries, q.id, &length), "5");
    assert_int_equal(cleave__queries_next(queries, &q, &w.error), CLEAVE_BAD_INPUT);
    assert_int_equal(cleave__queries_next(queries, &q, &w.error), 0);
    assert_true(q.region.kind == CLEAVE__RECTANGLE && q.region.x0 == 170 && q.region.x1 == -175);
    cleave__queries_free(queries);
    end(&w);
}

static bool attempt(void *context)
{
    (void)context;
    struct world w = {0};
    struct cleave__query q;
    struct cleave__object o;
    start(&w, "id,west,south,east,north,keywords,filter,subscriber,lon,lat,text,m\n"
              "a,0,0,1,1,x;y,m>1,me,0.5,0.5,some words,2\n\"b\"\"\",0,0,1,1,z,,,0.1,0.1,x,\n");
    struct cleave__queries *queries = open_queries(&w, &cleave__globe);
    while (queries && !cleave__queries_next(queries, &q, &w.error))
        continue;
    bool right = w.error.status == CLEAVE_OK || w.error.status == CLEAVE_NO_MEMORY;
    cleave__queries_free(queries);
    struct cleave__objects *objects =
        open_objects(&w, &cleave__globe, (struct cleave__object_columns){0});
    while (objects && !cleave__objects_next(objects, &w.arena, &o, &w.error))
        continue;
    cleave__objects_close(objects);
    /* A field that a query without memory did not name is no column either: nothing else. */
    right = right && (w.error.status == CLEAVE_OK || w.error.status == CLEAVE_NO_MEMORY);
    end(&w);
    return right;
}

static void allocations_fail(void **state)
{
    (void)state;
    assert_true(failalloc_run("streams", attempt, NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_column_of_a_query),
        cmocka_unit_test(every_column_of_an_object),
        cmocka_unit_test(circles_of_points_and_boxes_of_outlines),
        cmocka_unit_test(allocations_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
