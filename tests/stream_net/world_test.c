/* The description of a world: there and back, and what cannot be one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stream/net/world.h"
#include "stream/shape/partition.h"
#include "support/property.h"

enum { EVALUATORS_MOST = 9, SIDE_MOST = 12 };

static void draw(struct property_source *source, struct cleave__net_world *w,
                 struct cleave__cells partitions[EVALUATORS_MOST])
{
    static const struct cleave__matcher_ops *const matchers[] = {
        &cleave__matcher_index, &cleave__matcher_cells, &cleave__matcher_scan};
    uint32_t columns = 1 + (uint32_t)property_draw(source, SIDE_MOST),
             rows = 1 + (uint32_t)property_draw(source, SIDE_MOST);
    double x0 = (double)property_draw(source, 1000) / 7 - 50,
           y0 = (double)property_draw(source, 1000) / 3 - 90;
    *w = (struct cleave__net_world){
        .space = {(enum cleave__space_kind)property_draw(source, 2),
                  {x0, y0, x0 + 0.1 + (double)property_draw(source, 100),
                   y0 + 1e-3 + (double)property_draw(source, 100)}},
        .evaluators = 1 + (uint32_t)property_draw(source, EVALUATORS_MOST),
        .routers = 1 + (uint32_t)property_draw(source, 1000),
        .publishers = 1 + (uint32_t)property_draw(source, CLEAVE__PUBLISHERS_MOST),
        .matcher = matchers[property_draw(source, 3)],
        .summary = (enum cleave__streaming_summary)property_draw(source, 3),
        .balance = (enum cleave__streaming_balance)property_draw(source, 3),
        .balance_every_ns = 1 + property_draw(source, 3600000000),
        .beta = (double)property_draw(source, 1000) / 9,
        .batch = 1 + (uint32_t)property_draw(source, 4096),
        .window = 1 + (uint32_t)property_draw(source, 1000),
        .retry_ns = 1000000 + property_draw(source, 1000000000),
        .replicas = 1 + (uint32_t)property_draw(source, 5),
        .track = property_draw(source, 2),
        .word_bytes = 256 + (uint32_t)property_draw(source, 1 << 19),
        .partitions = partitions};
    const struct cleave__box *b = &w->space.bounds;
    w->grid = cleave__grid_make(b->x0, b->y0, b->x1, b->y1, columns, rows);
    cleave__partition_uniform(columns, rows, w->evaluators,
                              (uint32_t)property_draw(source, w->evaluators), partitions);
}

static bool same(const struct cleave__net_world *a, const struct cleave__net_world *b)
{
    bool fine = a->space.kind == b->space.kind &&
                !memcmp(&a->space.bounds, &b->space.bounds, sizeof a->space.bounds) &&
                !memcmp(&a->grid, &b->grid, sizeof a->grid) && a->evaluators == b->evaluators &&
                a->routers == b->routers && a->publishers == b->publishers &&
                a->matcher == b->matcher && a->summary == b->summary && a->balance == b->balance &&
                a->balance_every_ns == b->balance_every_ns && a->beta == b->beta &&
                a->batch == b->batch && a->window == b->window && a->retry_ns == b->retry_ns &&
                a->replicas == b->replicas && a->track == b->track &&
                a->word_bytes == b->word_bytes;
    for (uint32_t i = 0; i < a->evaluators && fine; i++)
        fine = cleave__cells_equal(a->partitions[i], b->partitions[i]) ||
               (cleave__cells_empty(a->partitions[i]) && cleave__cells_empty(b->partitions[i]));
    return fine;
}

static bool comes_back(struct property_source *source, void *context)
{
    (void)context;
    struct cleave__cells partitions[EVALUATORS_MOST];
    struct cleave__net_world w, again;
    struct cleave_error error;
    char *text;
    draw(source, &w, partitions);
    if (cleave__net_world_write(&w, &text, &error))
        return false;
    bool fine = !cleave__net_world_read(text, strlen(text), &again, &error) && same(&w, &again);
    if (fine)
        cleave__net_world_free(&again);
    /* A piece of it is none; a changed byte gives one or an error with words. */
    size_t length = strlen(text), cut = property_draw(source, length);
    fine = fine && cleave__net_world_read(text, cut, &again, &error) == CLEAVE_BAD_INPUT;
    text[property_draw(source, length)] = (char)property_draw(source, 256);
    error.message[0] = 0;
    if (fine && cleave__net_world_read(text, length, &again, &error))
        fine = error.message[0] != 0;
    else if (fine)
        cleave__net_world_free(&again);
    free(text);
    return fine;
}

static void properties(void **state)
{
    (void)state;
    assert_true(property_run("world", comes_back, NULL, 5000));
}

static void refusals(void **state)
{
    (void)state;
    static const char good[] =
        "{\"version\":2,\"space\":\"plane\",\"bounds\":[0,0,1,1],\"grid\":[2,1],\"evaluators\":2,"
        "\"routers\":1,\"publishers\":1,\"matcher\":\"index\",\"summary\":\"forward\",\"balance\":"
        "\"static\",\"balance_every_ns\":1,\"beta\":1,\"batch\":1,\"window\":1,\"retry_ns\":"
        "1000000,"
        "\"replicas\":1,\"track\":false,\"word_bytes\":1024,\"partitions\":[[0,0,0,0],[1,0,1,0]]}";
    static const struct {
        const char *what, *with, *says;
    } cases[] = {{"\"version\":2", "\"version\":1", "version"},
                 {"[0,0,1,1]", "[0,0,0,1]", "bounds"},
                 {"[0,0,1,1]", "[0,0,1]", "bounds"},
                 {"[2,1]", "[2,0]", "grid"},
                 {"[2,1]", "[2,99999]", "grid"},
                 {"plane", "plans", "space"},
                 {"\"evaluators\":2", "\"evaluators\":0", "evaluators"},
                 {"\"evaluators\":2", "\"evaluators\":3", "partitions"},
                 {"\"routers\":1", "\"routers\":-1", "routers"},
                 {"index", "indexx", "matcher"},
                 {"\"beta\":1", "\"beta\":-1", "beta"},
                 {"\"track\":false", "\"track\":0", "track"},
                 {"\"retry_ns\":1000000", "\"retry_ns\":1", "retry_ns"},
                 {"[1,0,1,0]", "[0,0,1,0]", "cover each cell"},
                 {"[1,0,1,0]", "null", "cover each cell"},
                 {"[1,0,1,0]", "[1,0,2,0]", "cover each cell"},
                 {"[1,0,1,0]", "[1,0,1]", "partitions"},
                 {"{\"version\"", "[\"version\"", "JSON"}};
    struct cleave__net_world w;
    struct cleave_error error;
    assert_int_equal(cleave__net_world_read(good, strlen(good), &w, &error), CLEAVE_OK);
    cleave__net_world_free(&w);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[sizeof good + 20];
        const char *at = strstr(good, cases[i].what);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, cases[i].with,
                 at + strlen(cases[i].what));
        assert_int_equal(cleave__net_world_read(text, strlen(text), &w, &error), CLEAVE_BAD_INPUT);
        if (!strstr(error.message, cases[i].says))
            fail_msg("%s: %s", cases[i].with, error.message);
        assert_int_equal(cleave__net_world_read(text, strlen(text), &w, NULL), CLEAVE_BAD_INPUT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(properties), cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
