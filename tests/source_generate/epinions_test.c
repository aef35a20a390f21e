/* Epinions: the mixes give the costs of the best known schemes, found by trying every scheme; and
 * planted communities are where they should be and nowhere to be seen in the ids. */
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "reading.h"

enum { USERACCT, ITEM, REVIEW, TRUST, TABLES };
enum { BY_USER = 1, BY_ITEM = 2, BY_OTHER = 4, REPLICATED = 8 };

/* How a table may be placed; BY_OTHER is trust.target_u_id. */
static const uint32_t ways[TABLES][4] = {{BY_USER, REPLICATED},
                                         {BY_ITEM, REPLICATED},
                                         {BY_USER, BY_ITEM, REPLICATED},
                                         {BY_USER, BY_OTHER, REPLICATED}};

/* What a transaction touches: a table and the keys that are given for it. */
static const struct {
    const char *kind;
    bool writes;
    struct {
        uint32_t table, keys;
    } touches[2];
    uint32_t count;
} kinds[] = {
    {"GetReviewItemById", false, {{REVIEW, BY_ITEM}, {ITEM, BY_ITEM}}, 2},
    {"GetReviewsByUser", false, {{REVIEW, BY_USER}, {USERACCT, BY_USER}}, 2},
    {"GetAverageRatingByTrustedUser", false, {{REVIEW, BY_ITEM}, {TRUST, BY_USER}}, 2},
    {"GetItemAverageRating", false, {{REVIEW, BY_ITEM}}, 1},
    {"GetItemReviewsByTrustedUser", false, {{REVIEW, BY_ITEM}, {TRUST, BY_USER}}, 2},
    {"UpdateUserName", true, {{USERACCT, BY_USER}}, 1},
    {"UpdateItemTitle", true, {{ITEM, BY_ITEM}}, 1},
    {"UpdateReviewRating", true, {{REVIEW, BY_ITEM | BY_USER}}, 1},
    {"UpdateTrustRating", true, {{TRUST, BY_USER | BY_OTHER}}, 1},
};
enum { KINDS = 9 };

/* Chance that a transaction touches more than one of k shards, keys hashed independently. */
static double distributed(uint32_t kind, const uint32_t *way, uint32_t k)
{
    uint32_t shards = 0; /* the different keys that decide a shard */
    for (uint32_t i = 0; i < kinds[kind].count; i++) {
        uint32_t by = way[kinds[kind].touches[i].table];
        if (by == REPLICATED) {
            if (kinds[kind].writes)
                return 1;
            continue;
        }
        if (!(kinds[kind].touches[i].keys & by))
            return 1; /* every shard is asked */
        shards |= by;
    }
    return __builtin_popcount(shards) > 1 ? 1 - 1.0 / k : 0;
}

/* The cheapest of all schemes in percent; `review` limits how review is placed (0: any way). */
static double best(const uint32_t *counts, uint32_t total, uint32_t k, uint32_t review, bool all)
{
    double least = 100;
    for (uint32_t a = 0; a < 4 * 4 * 4 * 4; a++) {
        uint32_t way[TABLES], rest = a;
        bool valid = true;
        for (uint32_t t = 0; t < TABLES; t++, rest /= 4) {
            way[t] = ways[t][rest % 4];
            valid = valid && way[t] && (!all || way[t] == REPLICATED);
        }
        if (!valid || (review && !(way[REVIEW] & review)))
            continue;
        double cost = 0;
        for (uint32_t kind = 0; kind < KINDS; kind++)
            cost += counts[kind] * distributed(kind, way, k);
        least = cost * 100 / total < least ? cost * 100 / total : least;
    }
    return least;
}

static void near(double got, double want)
{
    if (got < want - 0.005 || got > want + 0.005)
        fail_msg("%g %%, expected %g %%", got, want);
}

static void test_best_schemes(void **state)
{
    (void)state;
    static const uint32_t shards[] = {2, 4, 10};
    static const struct {
        const char *words;
        uint32_t deck;
        double replicated, partitioned[3], everything;
    } cases[] = {
        {"mix=schism", 33, 3.03, {9.09, 9.09, 9.09}, 12.12},
        {"mix=benchbase", 100, 10, {20, 25, 28}, 50},
        {"", 100, 10, {20, 25, 28}, 50},
    };
    for (uint32_t c = 0; c < 3; c++) {
        struct cleave_generator *g = open_benchmark("epinions", cases[c].words, 3);
        uint32_t counts[KINDS] = {0};
        for (uint32_t i = 0; i < cases[c].deck * 5; i++) {
            const char *name;
            next_transaction(g, &name);
            uint32_t kind = 0;
            while (strcmp(kinds[kind].kind, name) != 0)
                kind++;
            counts[kind]++;
        }
        for (uint32_t i = 0; i < 3; i++) {
            uint32_t k = shards[i], total = cases[c].deck * 5;
            near(best(counts, total, k, REPLICATED, false), cases[c].replicated);
            near(best(counts, total, k, 0, false), cases[c].replicated);
            near(best(counts, total, k, BY_USER | BY_ITEM, false), cases[c].partitioned[i]);
            near(best(counts, total, k, 0, true), cases[c].everything);
        }
        cleave__generator_free(g);
    }
}

/* ---- communities ---- */

/* Users and items as one graph; communities are found again as the strongest links, by counting
 * how often a user's reviews and trusts share a hidden label that the test works out from the
 * generator's own permutations. */
#include "tables/source/generate_common.h"

enum { USERS = 600, ITEMS = 300, COMMUNITIES = 6 };

struct labels {
    struct cleave_permutation users, items;
    uint32_t pairs, inside, self;
    uint64_t seen[20000];
};

static uint32_t label(const struct cleave_permutation *order, long id)
{
    return cleave__permutation_at(order, (uint32_t)id - 1) % COMMUNITIES;
}

static int compare_pairs(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static enum cleave_status label_row(void *context, const struct cleave_generated_row *row,
                                    struct cleave_error *error)
{
    (void)error;
    struct labels *l = context;
    bool review = strcmp(row->name, "review") == 0;
    if (!review && strcmp(row->name, "trust") != 0)
        return CLEAVE_OK;
    long user = atol(row->values[review ? 1 : 0]), with = atol(row->values[review ? 2 : 1]);
    assert_true(user >= 1 && user <= USERS && with >= 1 && with <= (review ? ITEMS : USERS));
    l->self += !review && user == with;
    l->inside += label(&l->users, user) == label(review ? &l->items : &l->users, with);
    l->seen[l->pairs++] = (uint64_t)review << 63 | (uint64_t)user << 32 | (uint64_t)with;
    return CLEAVE_OK;
}

static void test_communities(void **state)
{
    (void)state;
    static struct labels l;
    struct cleave_generator *g =
        open_benchmark("epinions", "users=600 items=300 communities=6 local=90", 17);
    /* The tags are those of generate_epinions.c. */
    l.users = cleave__permutation(cleave__content(17, 0, 0, 0, 0, 0), USERS);
    l.items = cleave__permutation(cleave__content(17, 1, 0, 0, 0, 0), ITEMS);
    assert_int_equal(cleave__generator_rows(g, label_row, &l, NULL), CLEAVE_OK);
    assert_int_equal(l.pairs, ITEMS * 6 + USERS * 3);
    assert_int_equal(l.self, 0);
    assert_true(l.inside * 100 > l.pairs * 86 && l.inside * 100 < l.pairs * 94);
    qsort(l.seen, l.pairs, sizeof l.seen[0], compare_pairs);
    for (uint32_t i = 1; i < l.pairs; i++)
        assert_true(l.seen[i] != l.seen[i - 1]);

    uint32_t pairs = 0, inside = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        struct cleave_trace_transaction t = next_transaction(g, NULL);
        long user = -1, item = -1, target = -1;
        for (uint32_t j = 0; j < t.statement_count; j++) {
            const char *sql = t.statements[j].text;
            user = number_after(sql, "u_id = ") > 0 ? number_after(sql, "u_id = ") : user;
            user = number_after(sql, "source_u_id = ") > 0 ? number_after(sql, "source_u_id = ")
                                                           : user;
            item = number_after(sql, "i_id = ") > 0 ? number_after(sql, "i_id = ") : item;
            target = number_after(sql, "target_u_id = ");
            if (strstr(sql, "r.i_id = ") && strstr(sql, "JOIN"))
                item = number_after(sql, "WHERE r.i_id = ");
        }
        if (strstr(t.statements[0].text, "JOIN useracct") || user < 0)
            continue;
        if (target > 0 && item < 0) {
            pairs++;
            inside += label(&l.users, user) == label(&l.users, target);
        } else if (item > 0) {
            pairs++;
            inside += label(&l.users, user) == label(&l.items, item);
        }
    }
    assert_true(pairs > 9000);
    assert_true(inside * 1000.0 > pairs * 888.0 && inside * 1000.0 < pairs * 912.0);

    /* Scattered: neighbours in id are no more alike than chance. */
    uint32_t alike = 0;
    for (long id = 1; id < USERS; id++)
        alike += label(&l.users, id) == label(&l.users, id + 1);
    assert_true(alike > 60 && alike < 140);
    cleave__generator_free(g);
}

/* Tight corners: every pair that may exist, one member a community, all local. */
static void test_corners(void **state)
{
    (void)state;
    static const char *const words[] = {
        "users=2 items=1 reviews=1 trusts=1",
        "users=2 items=2 reviews=2 trusts=1 communities=2 local=100",
        "users=30 items=30 reviews=450 trusts=435 communities=30 local=100",
        "users=40 items=40 reviews=800 trusts=780 communities=1",
        "users=3 items=2 reviews=0 trusts=0 communities=2 local=0",
    };
    for (uint32_t i = 0; i < 5; i++) {
        struct cleave_generator *g = open_benchmark("epinions", words[i], i);
        for (uint32_t n = 0; n < 200; n++)
            next_transaction(g, NULL);
        cleave__generator_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_schemes),
        cmocka_unit_test(test_communities),
        cmocka_unit_test(test_corners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
