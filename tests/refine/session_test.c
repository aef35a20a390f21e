/* Steering: every decision can be taken and undone; the limits; the budget; what was saved gives
 * the same result again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scheme/database.h"
#include "tables/refine/session.h"

enum { MANY = 240 };

static const char ddl[] =
    "CREATE TABLE house (w int PRIMARY KEY, ytd numeric);"
    "CREATE TABLE stock (w int REFERENCES house, i int, q int, PRIMARY KEY (w, i));"
    "CREATE TABLE item (i int PRIMARY KEY, price numeric);"
    "CREATE VIEW shown AS SELECT w FROM house";

static char texts[MANY][300];
static const char *script[MANY];

static void say(uint32_t i, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(uint32_t i, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(texts[i], sizeof texts[i], format, arguments);
    va_end(arguments);
    script[i] = texts[i];
}

/* Orders at `houses` houses, one in twelve with stock from the next. */
static struct cleave_session *orders(uint32_t houses, uint32_t shards)
{
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t item = (i * 2654435761u >> 16) % 50;
        say(i,
            "UPDATE house SET ytd = 1 WHERE w = %u; SELECT price FROM item WHERE i = %u; UPDATE "
            "stock SET q = 2 WHERE w = %u AND i = %u",
            i % houses, item, (i + (i % 12 == 5)) % houses, item);
    }
    struct cleave_case *kase = database_open(ddl, script, 160, MANY - 160);
    const double rows[] = {10, 1000, 100};
    for (uint32_t t = 0; t < 3; t++) {
        kase->schema->tables[t].rows = rows[t];
        kase->schema->tables[t].row_bytes = 10;
    }
    /* Items of a house are spread evenly, so that its stock can be split. */
    static struct cleave_value bounds[2] = {{.kind = CLEAVE_INTEGER, .integer = 0},
                                            {.kind = CLEAVE_INTEGER, .integer = 99}};
    for (uint32_t t = 0; t < 2; t++)
        kase->schema->tables[t].columns[0].stats =
            (struct cleave_column_stats){.known = true, .distinct = houses};
    kase->schema->tables[1].columns[1].stats = (struct cleave_column_stats){
        .known = true, .distinct = 100, .bound_count = 2, .bounds = bounds};
    struct cleave_steer steer = CLEAVE_STEER_DEFAULTS;
    struct cleave_session *session;
    struct cleave_error error = {.message = ""};
    if (cleave__session_new(kase, shards, 1, &steer, NULL, &session, &error))
        fail_msg("%s", error.message);
    return session;
}

static struct cleave_session_result go(struct cleave_session *session)
{
    struct cleave_session_result result;
    struct cleave_error error = {.message = ""};
    if (cleave_session_iterate(session, &result, &error))
        fail_msg("%s", error.message);
    return result;
}

static const struct cleave_lookup *best(const struct cleave_session *session)
{
    return session->placements.data[session->best].lookup;
}

static uint32_t at(const struct cleave_session *session, const char *table, const char *column,
                   const char *value)
{
    return database_shard(session->kase, best(session), table, column, value);
}

static bool copied(const struct cleave_session *session, const char *table)
{
    return cleave__lookup_replicated(best(session), database_table(session->kase, table));
}

static bool same_bytes(const struct cleave_lookup *lookup, const unsigned char *bytes,
                       size_t length)
{
    size_t now;
    unsigned char *here = database_bytes(lookup, &now);
    bool same = now == length && memcmp(here, bytes, now) == 0;
    free(here);
    return same;
}

/* What the decision numbered `n` is, and whether the placement obeys it. */
static enum cleave_status decide(struct cleave_session *session, int n, struct cleave_error *error)
{
    const struct cleave_rows three = {"house", "w", "3"}, four = {"stock", "w", "4"};
    switch (n) {
    case 0:
        return cleave_session_pin(session, &three, 1, error);
    case 1:
        return cleave_session_together(session, &three, &four, error);
    case 2:
        return cleave_session_apart(session, &three, &four, error);
    case 3:
        return cleave_session_replicate(session, "item", CLEAVE_REPLICATION_NEVER, error);
    case 4:
        return cleave_session_replicate(session, "house", CLEAVE_REPLICATION_ALWAYS, error);
    case 5:
        return cleave_session_key(session, "stock", "i", error);
    case 6:
        return cleave_session_weights(session, 1, 0, error);
    case 7:
        return cleave_session_capacity(session, 1, 1e9, 1e9, 1e9, 2, error);
    case 8:
        return cleave_session_epsilon(session, 0.5, false, error);
    case 9:
        return cleave_session_split(session, &four, error);
    case 10:
        return cleave_session_merge(session, &four, error);
    default:
        return cleave_session_budget(session, 5, 3, true, error);
    }
}
enum { DECISIONS = 12 };

static bool obeyed(const struct cleave_session *session, int n)
{
    switch (n) {
    case 0:
        return at(session, "house", "w", "3") == 1 && at(session, "stock", "w", "3") == 1;
    case 1:
        return at(session, "house", "w", "3") == at(session, "stock", "w", "4");
    case 2:
        return at(session, "house", "w", "3") != at(session, "stock", "w", "4");
    case 3:
        return !copied(session, "item");
    case 4:
        return copied(session, "house");
    case 5:
        return session->placements.data[session->best].layout.tables[1].key_column == 1;
    default:
        return true;
    }
}

static void test_undo(void **state)
{
    (void)state;
    struct cleave_session *session = orders(9, 3);
    struct cleave_error error = {.message = ""};
    go(session);
    size_t length;
    unsigned char *first = database_bytes(best(session), &length);
    for (int n = 0; n < DECISIONS; n++) {
        if (decide(session, n, &error))
            fail_msg("decision %d: %s", n, error.message);
        go(session);
        if (!obeyed(session, n)) {
            char *words = NULL;
            cleave_session_explain(session, &words, &error);
            printf("%s", words);
            free(words);
            fail_msg("decision %d is not obeyed", n);
        }
        assert_int_equal(cleave_session_undo(session, &error), CLEAVE_OK);
        go(session);
        if (!same_bytes(best(session), first, length))
            fail_msg("decision %d: undone, the placement is another", n);
    }
    assert_int_equal(cleave_session_undo(session, &error), CLEAVE_NOT_FOUND);
    free(first);
    /* All at once, undone one by one. */
    for (int n = 0; n < DECISIONS; n++) {
        if (n != 2 && n != 4 && n != 5 && decide(session, n, &error))
            fail_msg("%s", error.message);
    }
    for (int n = 0; n < DECISIONS - 3; n++)
        assert_int_equal(cleave_session_undo(session, &error), CLEAVE_OK);
    assert_int_equal(cleave_session_undo(session, &error), CLEAVE_NOT_FOUND);
    cleave_session_close(session);
}

static void refused(enum cleave_status status, const struct cleave_error *error, const char *words)
{
    assert_int_equal(status, CLEAVE_BAD_ARGUMENT);
    assert_null(strchr(error->message, '\n'));
    if (!strstr(error->message, words))
        fail_msg("'%s' lacks '%s'", error->message, words);
}

static void test_refusals(void **state)
{
    (void)state;
    struct cleave_session *session = orders(4, 3);
    struct cleave_error e;
    const struct cleave_rows good = {"house", "w", "1"};
    const struct cleave_rows no_table = {"castle", "w", "1"}, no_column = {"house", "x", "1"};
    const struct cleave_rows no_value = {"house", "w", "one"}, open = {"house", "w", NULL};
    const struct cleave_rows view = {"shown", "w", "1"}, nothing = {NULL, NULL, NULL};
    refused(cleave_session_pin(session, &no_table, 0, &e), &e, "no table 'castle'");
    refused(cleave_session_pin(session, &no_column, 0, &e), &e, "no column 'x'");
    refused(cleave_session_pin(session, &no_value, 0, &e), &e, "'one'");
    refused(cleave_session_pin(session, &open, 0, &e), &e, "house.w");
    refused(cleave_session_pin(session, &view, 0, &e), &e, "shown");
    refused(cleave_session_pin(session, &nothing, 0, &e), &e, "needs a table");
    refused(cleave_session_pin(session, NULL, 0, &e), &e, "needs a table");
    refused(cleave_session_pin(session, &good, 3, &e), &e, "0 to 2");
    refused(cleave_session_together(session, &good, &no_table, &e), &e, "castle");
    refused(cleave_session_apart(session, &no_value, &good, &e), &e, "'one'");
    refused(cleave_session_replicate(session, "castle", CLEAVE_REPLICATION_ALWAYS, &e), &e,
            "castle");
    refused(cleave_session_key(session, "house", "x", &e), &e, "'x'");
    refused(cleave_session_key(session, "shown", "w", &e), &e, "shown");
    refused(cleave_session_weights(session, -1, 1, &e), &e, "weights");
    refused(cleave_session_weights(session, 0.0 / 0.0, 1, &e), &e, "weights");
    refused(cleave_session_capacity(session, 3, 1, 1, 1, 1, &e), &e, "0 to 2");
    refused(cleave_session_capacity(session, 1, -1, 1, 1, 1, &e), &e, "node 1");
    refused(cleave_session_capacity(session, 1, 1, 1, 1, 1.0 / 0.0, &e), &e, "node 1");
    refused(cleave_session_epsilon(session, -0.1, false, &e), &e, "epsilon");
    refused(cleave_session_epsilon(session, 0.0 / 0.0, false, &e), &e, "epsilon");
    refused(cleave_session_write_lookup(session, "never", &e), &e, "iterate first");
    char *text = NULL;
    refused(cleave_session_explain(session, &text, &e), &e, "iterate first");
    assert_int_equal(cleave_session_undo(session, &e), CLEAVE_NOT_FOUND); /* nothing was taken */
    struct cleave_session_result result;
    assert_false(cleave_session_best(session, &result));
    go(session);
    /* A split of rows by what is not their key fails when placing, and leaves all as it was. */
    const struct cleave_rows by_item = {"stock", "i", "1"};
    if (cleave_session_split(session, &by_item, &e) == CLEAVE_OK) {
        assert_int_not_equal(cleave_session_iterate(session, &result, &e), CLEAVE_OK);
        assert_true(cleave_session_best(session, &result));
        assert_int_equal(cleave_session_explain(session, &text, &e), CLEAVE_OK);
        free(text);
        assert_int_equal(cleave_session_undo(session, &e), CLEAVE_OK);
        assert_int_equal(go(session).iteration, 2);
    }
    cleave_session_close(session);
}

/* Storage that cannot hold the copies: refining stops copying, the largest table first. */
static void test_storage(void **state)
{
    (void)state;
    struct cleave_session *session = orders(9, 3);
    struct cleave_error error = {.message = ""};
    go(session);
    assert_true(copied(session, "item"));
    /* 10 * (10 + 1000) bytes partitioned, 1000 copied to each: a third and 40 % is room for all but
     * the copies. */
    for (uint32_t s = 0; s < 3; s++)
        assert_int_equal(cleave_session_capacity(session, s, 4200, 0, 0, 0, &error), CLEAVE_OK);
    struct cleave_session_result result = go(session);
    assert_false(result.feasible);
    assert_non_null(strstr(result.infeasible, "storage"));
    assert_false(result.good);
    result = go(session);
    assert_non_null(strstr(result.action, "item has no copies any more"));
    assert_false(copied(session, "item"));
    assert_true(result.feasible);
    /* A person's word stands: what must be copied stays so, and the limit stays passed. */
    assert_int_equal(cleave_session_replicate(session, "item", CLEAVE_REPLICATION_ALWAYS, &error),
                     0);
    assert_int_equal(cleave_session_run(session, NULL, NULL, &error), CLEAVE_OK);
    assert_true(copied(session, "item"));
    assert_true(cleave_session_best(session, &result));
    assert_false(result.feasible);
    cleave_session_close(session);
}

/* A key given for a table does not keep its copies from being forbidden. */
static void test_storage_with_key(void **state)
{
    (void)state;
    struct cleave_session *session = orders(9, 3);
    struct cleave_error error = {.message = ""};
    assert_int_equal(cleave_session_key(session, "item", "i", &error), CLEAVE_OK);
    for (uint32_t s = 0; s < 3; s++)
        assert_int_equal(cleave_session_capacity(session, s, 4200, 0, 0, 0, &error), CLEAVE_OK);
    assert_int_equal(cleave_session_run(session, NULL, NULL, &error), CLEAVE_OK);
    struct cleave_session_result result;
    assert_true(cleave_session_best(session, &result));
    assert_true(result.feasible);
    assert_false(copied(session, "item"));
    cleave_session_close(session);
}

/* Two houses on four shards: whole keys cannot balance; strict splits them until it can. */
static void test_strict(void **state)
{
    (void)state;
    struct cleave_session *session = orders(2, 4);
    struct cleave_error error = {.message = ""};
    assert_int_equal(cleave_session_weights(session, 1, 0, &error), CLEAVE_OK);
    assert_false(go(session).balanced);
    assert_int_equal(cleave_session_epsilon(session, 0.25, true, &error), CLEAVE_OK);
    assert_int_equal(cleave_session_budget(session, 30, 20, false, &error), CLEAVE_OK);
    assert_int_equal(cleave_session_run(session, NULL, NULL, &error), CLEAVE_OK);
    struct cleave_session_result result;
    assert_true(cleave_session_best(session, &result));
    if (!result.balanced)
        fail_msg("imbalance %g after %u iterations", result.imbalance_size,
                 (uint32_t)session->placements.count);
    assert_true(result.good);
    cleave_session_close(session);
}

struct stops {
    uint32_t seen, most;
};

static bool stop_after(void *context, const struct cleave_session_result *result)
{
    struct stops *stops = context;
    assert_int_equal(result->iteration, ++stops->seen);
    return stops->seen < stops->most;
}

static void test_budget(void **state)
{
    (void)state;
    struct cleave_error error = {.message = ""};
    for (uint32_t budget = 1; budget <= 4; budget++) {
        struct cleave_session *session = orders(2, 5);
        assert_int_equal(cleave_session_epsilon(session, 0, true, &error), CLEAVE_OK);
        assert_int_equal(cleave_session_budget(session, budget, 1, budget & 1, &error), CLEAVE_OK);
        struct stops stops = {0, 100};
        assert_int_equal(cleave_session_run(session, stop_after, &stops, &error), CLEAVE_OK);
        assert_true(stops.seen >= 1 && stops.seen <= budget);
        struct cleave_session_result result;
        for (uint32_t i = 0; i < stops.seen; i++)
            assert_true(cleave_session_result_at(session, i, &result));
        assert_false(cleave_session_result_at(session, stops.seen, &result));
        cleave_session_close(session);
    }
    struct cleave_session *session = orders(2, 5);
    assert_int_equal(cleave_session_epsilon(session, 0, true, &error), CLEAVE_OK);
    struct stops stops = {0, 2};
    assert_int_equal(cleave_session_run(session, stop_after, &stops, &error), CLEAVE_OK);
    assert_int_equal(stops.seen, 2);
    cleave_session_close(session);
}

/* Saved decisions, read into a fresh session, give the same lookup table byte for byte. */
static void test_round_trip(void **state)
{
    (void)state;
    for (int skip = 0; skip < DECISIONS; skip += 3) {
        struct cleave_session *session = orders(8, 3), *fresh = orders(8, 3);
        struct cleave_error error = {.message = ""};
        for (int n = 0; n < DECISIONS; n++) {
            /* Those that contradict each other are not taken at once. */
            bool leave = n == skip || n == 4 || n == 5 || n == (skip % 2 ? 1 : 2) || n == 9;
            if (!leave && decide(session, n, &error))
                fail_msg("%s", error.message);
        }
        go(session);
        size_t length;
        unsigned char *bytes = database_bytes(best(session), &length);
        if (cleave_session_save(session, "constraints.yaml", &error) ||
            cleave_session_load(fresh, "constraints.yaml", &error))
            fail_msg("%s", error.message);
        go(fresh);
        assert_true(same_bytes(best(fresh), bytes, length));
        /* Written again, the file is the same; one undo takes it all back. */
        assert_int_equal(cleave_session_save(fresh, "again.yaml", &error), CLEAVE_OK);
        assert_int_equal(system("cmp -s constraints.yaml again.yaml"), 0);
        assert_int_equal(cleave_session_undo(fresh, &error), CLEAVE_OK);
        assert_int_equal(cleave_session_undo(fresh, &error), CLEAVE_NOT_FOUND);
        free(bytes);
        cleave_session_close(session);
        cleave_session_close(fresh);
        remove("constraints.yaml");
        remove("again.yaml");
    }
}

static void test_open(void **state)
{
    (void)state;
    struct cleave_session *session;
    struct cleave_error error;
    struct cleave_session_source source = {.benchmark = "tatp", .transactions = 60, .held_out = 20};
    assert_int_equal(cleave_session_open(&source, &session, &error), CLEAVE_BAD_ARGUMENT);
    source.shards = 1025;
    assert_int_equal(cleave_session_open(&source, &session, &error), CLEAVE_BAD_ARGUMENT);
    source.shards = 2;
    source.benchmark = "nothing";
    assert_int_not_equal(cleave_session_open(&source, &session, &error), CLEAVE_OK);
    source.benchmark = "tatp";
    const char *const options[][2] = {{"subscribers", "100"}};
    source.benchmark_options = options;
    source.benchmark_option_count = 1;
    assert_int_equal(cleave_session_open(&source, &session, &error), CLEAVE_OK);
    assert_int_equal(go(session).train_transactions, 60);
    char *text;
    assert_int_equal(cleave_session_explain(session, &text, &error), CLEAVE_OK);
    assert_non_null(strstr(text, "subscriber"));
    free(text);
    cleave_session_close(session);
    cleave_session_close(NULL);
    const char *const missing[] = {"no/such/trace.sql"};
    struct cleave_session_source absent = {.traces = missing, .trace_count = 1, .shards = 2};
    assert_int_not_equal(cleave_session_open(&absent, &session, &error), CLEAVE_OK);
    assert_non_null(strstr(error.message, "no/such/trace.sql"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undo),       cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_storage),    cmocka_unit_test(test_storage_with_key),
        cmocka_unit_test(test_strict),     cmocka_unit_test(test_budget),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
