/* Textual summaries beside arrays; what queries add; and routing by keywords: whatever matches
 * arrives, and is reported once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stream/route/summary.h"
#include "stream/route/texthash.h"
#include "support/failalloc.h"
#include "support/property.h"

enum { EVALUATORS = 3, TERMS = 24 };

/* Far apart, so that pages are missing between; the last is the pseudo-term. */
static uint32_t term_of(uint32_t i)
{
    return i == TERMS - 1 ? CLEAVE__ANY_TERM : i % 3 == 0 ? i : i % 3 == 1 ? i * 4095 : i * 100003;
}

struct model {
    bool has[TERMS], confirmed[TERMS];
    uint32_t stamp[TERMS];
};

static void model_add(struct model *m, uint32_t i, uint32_t stamp, bool confirmed)
{
    if (!m->has[i] || stamp > m->stamp[i]) {
        m->stamp[i] = stamp;
        m->confirmed[i] = confirmed;
    } else if (stamp == m->stamp[i]) {
        m->confirmed[i] |= confirmed;
    }
    m->has[i] = true;
}

static bool same(const struct cleave__summary *s, const struct model *models)
{
    for (uint32_t e = 0; e < EVALUATORS; e++) {
        uint32_t count = 0, walked = 0;
        for (uint32_t i = 0; i < TERMS; i++) {
            const struct model *m = &models[e];
            uint32_t term = term_of(i);
            count += m->has[i];
            if (cleave__summary_has(s, e, term) != m->has[i] ||
                cleave__summary_confirmed(s, e, term) != m->confirmed[i] ||
                cleave__summary_stamp(s, e, term) != (m->has[i] ? m->stamp[i] : 0) ||
                cleave__summary_has(s, e, term + (term < 1000000 ? 1500000 : 0)) !=
                    (term < 1000000 ? false : m->has[i]) ||
                cleave__summary_any(s, e, &term, 1) !=
                    (term == CLEAVE__ANY_TERM ? m->has[i] : m->has[i] || m->has[TERMS - 1]))
                return false;
        }
        uint32_t last = 0;
        for (uint32_t t = cleave__summary_next(s, e, 0); t != CLEAVE__NO_TERM;
             t = cleave__summary_next(s, e, t + 1)) {
            if ((walked && t <= last) || !cleave__summary_has(s, e, t))
                return false;
            last = t;
            walked++;
        }
        if (count != walked || count != cleave__summary_count(s, e))
            return false;
    }
    return cleave__summary_check(s);
}

static bool like_arrays(struct property_source *source, void *context)
{
    (void)context;
    struct model models[EVALUATORS] = {0};
    struct cleave__summary *s;
    struct cleave_error error;
    if (cleave__summary_new(EVALUATORS, &s, &error))
        return false;
    bool right = true;
    uint32_t steps = (uint32_t)property_draw(source, 120);
    for (uint32_t k = 0; k < steps && right; k++) {
        uint32_t e = (uint32_t)property_draw(source, EVALUATORS);
        uint32_t i = (uint32_t)property_draw(source, TERMS);
        uint32_t stamp = (uint32_t)property_draw(source, 8);
        uint64_t what = property_draw(source, 12);
        struct model *m = &models[e];
        if (source->verbose)
            printf("%d: evaluator %u term %u stamp %u\n", (int)what, e, term_of(i), stamp);
        if (what < 6) {
            bool confirmed = what < 3;
            right = !cleave__summary_add(s, e, term_of(i), stamp, confirmed, &error);
            model_add(m, i, stamp, confirmed);
        } else if (what == 6) {
            cleave__summary_confirm(s, e, term_of(i), stamp);
            m->confirmed[i] |= m->has[i] && m->stamp[i] == stamp;
        } else if (what < 10) {
            bool goes = m->has[i] && m->stamp[i] < stamp;
            right = cleave__summary_remove_older(s, e, term_of(i), stamp) == goes;
            m->has[i] = m->has[i] && !goes;
            m->confirmed[i] = m->confirmed[i] && !goes;
        } else if (what == 10) {
            uint32_t to = (uint32_t)property_draw(source, EVALUATORS);
            right = !cleave__summary_unite(s, to, e, stamp, &error);
            for (uint32_t j = 0; j < TERMS; j++) {
                if (m->has[j])
                    model_add(&models[to], j, stamp, false);
            }
        } else {
            cleave__summary_clear(s, e);
            *m = (struct model){0};
        }
        right = right && same(s, models);
    }
    cleave__summary_free(s);
    return right;
}

static void summaries_are_like_arrays(void **state)
{
    (void)state;
    assert_true(property_run("summary", like_arrays, NULL, 2000));
}

/* Many terms, most removed again: the hash grows and stays whole. */
static void many_terms(void **state)
{
    (void)state;
    struct cleave__summary *s;
    struct cleave_error error;
    assert_int_equal(cleave__summary_new(2, &s, &error), 0);
    for (uint32_t t = 0; t < 60000; t++)
        assert_int_equal(cleave__summary_add(s, 1, t, t % 7, t % 2, &error), 0);
    assert_true(cleave__summary_check(s));
    size_t bytes = cleave__summary_bytes(s);
    assert_true(bytes < 60000 * 24); /* at most 22 of the hash, 2 bits of pages */
    for (uint32_t t = 0; t < 60000; t++)
        assert_int_equal(cleave__summary_remove_older(s, 1, t, 5), t % 7 < 5);
    assert_true(cleave__summary_check(s));
    for (uint32_t t = 0; t < 60000; t++)
        assert_int_equal(cleave__summary_has(s, 1, t), t % 7 >= 5);
    assert_int_equal(cleave__summary_count(s, 0), 0);
    cleave__summary_free(s);
}

static void wants_by_hand(void **state)
{
    (void)state;
    const uint32_t words[] = {2, 5, 9}, often[] = {0, 0, 30, 0, 0, 10, 0, 0, 0, 20};
    struct cleave__query q = {
        .id = 1, .predicate = CLEAVE__OVERLAPS, .term_count = 3, .terms = words};
    struct cleave__summary *s;
    struct cleave_error error;
    uint32_t terms[3], cover;
    assert_int_equal(cleave__summary_new(1, &s, &error), 0);
    assert_int_equal(cleave__summary_wants(s, 0, &q, often, 10, terms, &cover), 3);
    assert_int_equal(cover, CLEAVE__NO_TERM);
    q.predicate = CLEAVE__CONTAINS;
    assert_int_equal(cleave__summary_wants(s, 0, &q, often, 10, terms, &cover), 1);
    assert_int_equal(terms[0], 5); /* the rarest */
    assert_int_equal(cover, 5);
    assert_int_equal(cleave__summary_wants(s, 0, &q, often, 9, terms, &cover), 1);
    assert_int_equal(terms[0], 9); /* never seen */
    assert_int_equal(cleave__summary_wants(s, 0, &q, NULL, 0, terms, &cover), 1);
    assert_int_equal(terms[0], 9);
    cleave__summary_add(s, 0, 2, 1, false, &error);
    assert_int_equal(cleave__summary_wants(s, 0, &q, often, 10, terms, &cover), 1);
    assert_int_equal(terms[0], 5); /* there is not enough */
    cleave__summary_add(s, 0, 2, 1, true, &error);
    assert_int_equal(cleave__summary_wants(s, 0, &q, often, 10, terms, &cover), 0);
    assert_int_equal(cover, 2);
    q.predicate = CLEAVE__OVERLAPS;
    assert_int_equal(cleave__summary_wants(s, 0, &q, often, 10, terms, &cover), 2);
    assert_int_equal(terms[0], 5);
    assert_int_equal(terms[1], 9);
    q.term_count = 0;
    assert_int_equal(cleave__summary_wants(s, 0, &q, often, 10, terms, &cover), 1);
    assert_int_equal(terms[0], CLEAVE__ANY_TERM);
    assert_int_equal(cover, CLEAVE__ANY_TERM);
    cleave__summary_add(s, 0, CLEAVE__ANY_TERM, 1, true, &error);
    assert_int_equal(cleave__summary_wants(s, 0, &q, often, 10, terms, &cover), 0);
    assert_true(cleave__summary_any(s, 0, NULL, 0)); /* every object goes there now */
    cleave__summary_free(s);
}

static uint32_t draw_terms(struct property_source *source, uint32_t *terms)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < 10; t++) {
        if (property_draw(source, 4) == 3)
            terms[count++] = t;
    }
    return count;
}

/* After every query has added what it wants, each object that a query matches passes; and by hash
 * each matching pair is reported by exactly one evaluator that has both. */
static bool nothing_is_held_back(struct property_source *source, void *context)
{
    (void)context;
    enum { QUERIES = 6, OBJECTS = 6 };
    uint32_t words[QUERIES + OBJECTS][10], frequencies[6], wants[10], cover;
    struct cleave__query queries[QUERIES];
    struct cleave__summary *s;
    struct cleave_error error;
    if (cleave__summary_new(1, &s, &error))
        return false;
    for (uint32_t t = 0; t < 6; t++)
        frequencies[t] = (uint32_t)property_draw(source, 4);
    uint32_t evaluators = 1 + (uint32_t)property_draw(source, 5);
    for (uint32_t i = 0; i < QUERIES; i++) {
        queries[i] = (struct cleave__query){.id = i + 1, .end_ms = CLEAVE__NEVER};
        queries[i].terms = words[i];
        queries[i].term_count = draw_terms(source, words[i]);
        queries[i].predicate = (enum cleave__predicate)property_draw(source, 2);
        uint32_t count = cleave__summary_wants(s, 0, &queries[i], frequencies, 6, wants, &cover);
        for (uint32_t k = 0; k < count; k++)
            cleave__summary_add(s, 0, wants[k], 1, property_draw(source, 2), &error);
    }
    bool right = cleave__summary_check(s);
    for (uint32_t i = 0; i < OBJECTS; i++) {
        struct cleave__object object = {.number = i + 1, .terms = words[QUERIES + i]};
        object.term_count = draw_terms(source, words[QUERIES + i]);
        uint32_t to[10], to_count = cleave__texthash_object(&object, evaluators, to);
        for (uint32_t q = 0; q < QUERIES; q++) {
            if (!cleave__terms_match(&queries[q], &object))
                continue;
            if (!cleave__summary_any(s, 0, object.terms, object.term_count))
                right = false;
            uint32_t at[10], reports = 0;
            uint32_t at_count = cleave__texthash_query(&queries[q], frequencies, 6, evaluators, at);
            for (uint32_t a = 0; a < at_count; a++) {
                for (uint32_t b = 0; b < to_count; b++)
                    reports += at[a] == to[b] &&
                               cleave__texthash_reports(&queries[q], &object, at[a], evaluators);
            }
            right = right && reports == 1;
        }
    }
    cleave__summary_free(s);
    return right;
}

static void matches_pass(void **state)
{
    (void)state;
    assert_true(property_run("summary-passes", nothing_is_held_back, NULL, 3000));
}

static bool attempt(void *context)
{
    (void)context;
    struct cleave__summary *s = NULL;
    struct cleave_error error = {0};
    enum cleave_status status = cleave__summary_new(2, &s, &error);
    bool right = true;
    for (uint32_t t = 0; status == CLEAVE_OK && t < 40; t++) {
        uint32_t before = cleave__summary_count(s, 0);
        status = cleave__summary_add(s, 0, term_of(t % TERMS) + t / TERMS, t, true, &error);
        if (status)
            right = before == cleave__summary_count(s, 0);
        right = right && cleave__summary_check(s);
    }
    if (status == CLEAVE_OK)
        status = cleave__summary_unite(s, 1, 0, 3, &error);
    right = right && (!s || cleave__summary_check(s));
    cleave__summary_free(s);
    return right && (!status || (status == CLEAVE_NO_MEMORY && error.message[0]));
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(failalloc_run("summary", attempt, NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summaries_are_like_arrays),
        cmocka_unit_test(many_terms),
        cmocka_unit_test(wants_by_hand),
        cmocka_unit_test(matches_pass),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
