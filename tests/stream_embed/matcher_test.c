/* The public matcher against the definition in its header, queries coming and going; what it
 * refuses; every allocation failing. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "cleave/match.h"
#include "support/failalloc.h"

enum { IDS = 60, WORDS = 6, FIELDS = 3 };

static const char *const words[WORDS] = {"Tee",       "ka\xcc\x88se",  "BROT",
                                         "new  york", "z\xc3\xbcrich", "x"};
static const char *const said[WORDS] = {"tee",      "K\xc3\x84SE",   "brot",
                                        "New York", "Z\xc3\x9cRICH", "X"};
static const char *const fields[FIELDS] = {"price", "size", "age"};

struct plain {
    bool live;
    struct cleave_match_query query;
    const char *keywords[WORDS];
    uint32_t word_mask;
    struct cleave_match_number filter;
    uint32_t field;
};

static uint32_t below(struct cleave_random *random, uint32_t bound)
{
    return (uint32_t)cleave__random_below(random, bound);
}

static void draw_query(struct plain *p, struct cleave_random *random, uint64_t id)
{
    *p = (struct plain){.query = {.id = id, .any_keyword = below(random, 2)}};
    struct cleave_match_region *region = &p->query.region;
    region->kind = (enum cleave_region_kind)below(random, 3);
    region->x0 = below(random, 40);
    region->y0 = below(random, 40);
    if (region->kind == CLEAVE_RECTANGLE) {
        region->x1 = region->x0 + below(random, 20);
        region->y1 = region->y0 + below(random, 20);
    }
    region->radius = region->kind == CLEAVE_CIRCLE ? below(random, 15) : 0;
    for (uint32_t w = 0; w < WORDS; w++) {
        if (below(random, 5))
            continue;
        p->keywords[p->query.keyword_count++] = words[w];
        p->word_mask |= 1u << w;
    }
    p->query.keywords = p->keywords;
    if (below(random, 3) == 0) {
        p->field = below(random, FIELDS);
        p->filter = (struct cleave_match_number){.name = fields[p->field],
                                                 .low = below(random, 5),
                                                 .high = below(random, 2) ? (double)INFINITY : 6};
        p->query.filters = &p->filter;
        p->query.filter_count = 1;
    }
    p->query.end_ms = below(random, 3) ? 0 : 1 + below(random, 100);
}

static bool has(const struct plain *p, const struct cleave_match_object *object, uint32_t said_mask,
                const double *number)
{
    const struct cleave_match_region *r = &p->query.region;
    double x = object->x - r->x0, y = object->y - r->y0;
    uint32_t common = p->word_mask & said_mask;
    if (r->kind == CLEAVE_RECTANGLE &&
        !(x >= 0 && y >= 0 && object->x <= r->x1 && object->y <= r->y1))
        return false;
    if (r->kind == CLEAVE_CIRCLE && x * x + y * y > r->radius * r->radius)
        return false;
    if (p->word_mask && (p->query.any_keyword ? !common : common != p->word_mask))
        return false;
    if (p->query.filter_count &&
        !(number[p->field] >= p->filter.low && number[p->field] <= p->filter.high))
        return false;
    return !p->query.end_ms || object->time_ms < p->query.end_ms;
}

static void against_the_definition(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        static struct plain plain[IDS + 1];
        struct cleave_random random;
        struct cleave_matcher *matcher;
        cleave__random_seed(&random, seed);
        memset(plain, 0, sizeof plain);
        assert_int_equal(cleave_matcher_new(&(struct cleave_matcher_options){true, 0, 0, 50, 50},
                                            &matcher, NULL),
                         CLEAVE_OK);
        for (int step = 0; step < 4000; step++) {
            uint64_t id = 1 + below(&random, IDS);
            if (below(&random, 3) == 0) {
                struct plain *p = &plain[id];
                if (p->live) {
                    assert_int_equal(cleave_matcher_remove(matcher, id, NULL), CLEAVE_OK);
                } else {
                    draw_query(p, &random, id);
                    assert_int_equal(cleave_matcher_add(matcher, &p->query, NULL), CLEAVE_OK);
                }
                p->live = !p->live;
                continue;
            }
            double number[FIELDS];
            struct cleave_match_number numbers[FIELDS];
            const char *spoken[WORDS];
            uint32_t said_mask = 0;
            struct cleave_match_object object = {.x = below(&random, 60),
                                                 .y = below(&random, 60),
                                                 .time_ms = below(&random, 100),
                                                 .keywords = spoken,
                                                 .numbers = numbers};
            for (uint32_t w = 0; w < WORDS; w++) {
                if (below(&random, 2)) {
                    spoken[object.keyword_count++] = said[w];
                    said_mask |= 1u << w;
                }
            }
            for (uint32_t f = 0; f < FIELDS; f++) {
                number[f] = below(&random, 4) ? (double)below(&random, 9) : (double)NAN;
                if (!isnan(number[f]))
                    numbers[object.number_count++] =
                        (struct cleave_match_number){.name = fields[f], .value = number[f]};
            }
            const uint64_t *ids;
            size_t count, at = 0;
            assert_int_equal(cleave_matcher_match(matcher, &object, &ids, &count, NULL), CLEAVE_OK);
            for (uint64_t q = 1; q <= IDS; q++) {
                bool wanted = plain[q].live && has(&plain[q], &object, said_mask, number);
                bool found = at < count && ids[at] == q;
                if (wanted != found)
                    fail_msg("seed %" PRIu64 ", step %d: query %" PRIu64, seed, step, q);
                at += found;
            }
            assert_int_equal(at, count);
        }
        cleave_matcher_free(matcher);
    }
}

static void refusals(void **state)
{
    (void)state;
    struct cleave_matcher *matcher;
    struct cleave_error error;
    const uint64_t *ids;
    size_t count;
    static const char *const blank[] = {"  "}, *const broken[] = {"a\xff"};
    const struct cleave_match_number nothing = {.name = "x", .low = NAN};
    assert_int_equal(
        cleave_matcher_new(&(struct cleave_matcher_options){true, 1, 0, 1, 2}, &matcher, &error),
        CLEAVE_BAD_ARGUMENT);
    assert_int_equal(cleave_matcher_new(&(struct cleave_matcher_options){0}, &matcher, &error),
                     CLEAVE_OK);
    const struct {
        struct cleave_match_query query;
        enum cleave_status status;
    } bad[] = {{{.id = 0}, CLEAVE_BAD_ARGUMENT},
               {{.id = 1, .region = {CLEAVE_CIRCLE, .radius = -1}}, CLEAVE_BAD_INPUT},
               {{.id = 1, .region = {CLEAVE_RECTANGLE, 0, 5, 1, 4, 0}}, CLEAVE_BAD_INPUT},
               {{.id = 1, .region = {CLEAVE_RECTANGLE, 0, -91, 1, 4, 0}}, CLEAVE_BAD_INPUT},
               {{.id = 1, .region = {(enum cleave_region_kind)7}}, CLEAVE_BAD_INPUT},
               {{.id = 1, .keywords = blank, .keyword_count = 1}, CLEAVE_BAD_INPUT},
               {{.id = 1, .keywords = broken, .keyword_count = 1}, CLEAVE_BAD_INPUT},
               {{.id = 1, .filters = &nothing, .filter_count = 1}, CLEAVE_BAD_INPUT},
               {{.id = 1, .filters = &nothing, .filter_count = 17}, CLEAVE_LIMIT}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error.message[0] = 0;
        assert_int_equal(cleave_matcher_add(matcher, &bad[i].query, &error), bad[i].status);
        assert_true(error.message[0]);
    }
    assert_int_equal(cleave_matcher_count(matcher), 0);
    assert_int_equal(cleave_matcher_add(matcher, &(struct cleave_match_query){.id = 3}, &error),
                     CLEAVE_OK);
    assert_int_equal(cleave_matcher_add(matcher, &(struct cleave_match_query){.id = 3}, &error),
                     CLEAVE_BAD_ARGUMENT);
    assert_int_equal(cleave_matcher_remove(matcher, 4, &error), CLEAVE_NOT_FOUND);
    assert_int_equal(cleave_matcher_match(matcher, &(struct cleave_match_object){.x = NAN}, &ids,
                                          &count, &error),
                     CLEAVE_BAD_INPUT);
    assert_int_equal(cleave_matcher_match(matcher, &(struct cleave_match_object){.y = 90.5}, &ids,
                                          &count, &error),
                     CLEAVE_BAD_INPUT);
    assert_int_equal(cleave_matcher_match(matcher, &(struct cleave_match_object){.text = "\xff"},
                                          &ids, &count, &error),
                     CLEAVE_BAD_INPUT);
    assert_int_equal(cleave_matcher_match(matcher, &(struct cleave_match_object){.x = 540, .y = 90},
                                          &ids, &count, &error),
                     CLEAVE_OK);
    assert_int_equal(count, 1);
    assert_int_equal(cleave_matcher_count(matcher), 1);
    assert_true(cleave_matcher_bytes(matcher) > 0);
    cleave_matcher_free(matcher);
    cleave_matcher_free(NULL);
}

static bool work(void *context)
{
    (void)context;
    struct cleave_matcher *matcher;
    bool right = true;
    if (cleave_matcher_new(&(struct cleave_matcher_options){0}, &matcher, NULL))
        return true;
    size_t added = 0;
    for (uint64_t id = 1; id <= 20 && right; id++) {
        struct cleave_match_query query = {
            .id = id, .keywords = &words[id % WORDS], .keyword_count = 1};
        enum cleave_status status = cleave_matcher_add(matcher, &query, NULL);
        added += status == CLEAVE_OK;
        right = (!status || status == CLEAVE_NO_MEMORY) && cleave_matcher_count(matcher) == added;
    }
    const uint64_t *ids;
    size_t count = 0;
    struct cleave_match_object object = {.keywords = said, .keyword_count = WORDS};
    enum cleave_status status = cleave_matcher_match(matcher, &object, &ids, &count, NULL);
    right = right && (status ? status == CLEAVE_NO_MEMORY : count == added);
    cleave_matcher_free(matcher);
    return right;
}

static void without_memory(void **state)
{
    (void)state;
    assert_true(failalloc_run("matcher", work, NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_the_definition),
                                       cmocka_unit_test(refusals),
                                       cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
