/* What store.h promises, kind by kind the same. */
#include "contract.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <cmocka.h>

static struct client a, b;

#define DO(client, end, ...) client_batch(client, CLEAVE_BATCH_##end, __VA_ARGS__)

/* What must be done, or the line that says why not. */
static void right(enum cleave_status status)
{
    if (status)
        fail_msg("%s%s", a.error.message, b.error.message);
}

static int begin(void **state)
{
    const char *url = *state;
    client_open(&a, url);
    client_open(&b, url);
    client_do(&a, "CREATE TABLE money (id int PRIMARY KEY, owner varchar(40), amount int NOT NULL "
                  "CHECK (amount >= 0))");
    DO(&a, COMMIT, NULL, "INSERT INTO money VALUES (1, 'ann', 100)",
       "INSERT INTO money VALUES (2, NULL, 50)", NULL, NULL);
    return 0;
}

static int done(void **state)
{
    (void)state;
    DO(&a, ROLLBACK, NULL, NULL, NULL, NULL, NULL);
    DO(&b, ROLLBACK, NULL, NULL, NULL, NULL, NULL);
    client_do(&a, "DROP TABLE money");
    client_close(&a);
    client_close(&b);
    return 0;
}

static void answers(void **state)
{
    (void)state;
    right(DO(&a, COMMIT, NULL, "SELECT id, owner AS who FROM money ORDER BY id",
             "UPDATE money SET amount = amount + 1", "DELETE FROM money WHERE id = 77",
             "INSERT INTO money VALUES (3, 'it''s', 7) RETURNING id, amount"));
    const struct cleave_store_answer *rows = a.answers;
    assert_int_equal(rows[0].columns, 2);
    assert_int_equal(rows[0].rows, 2);
    assert_int_equal(rows[0].affected, 2);
    assert_string_equal(rows[0].names[1], "who");
    assert_string_equal(rows[0].values[1], "ann");
    assert_string_equal(rows[0].values[2], "2");
    assert_null(rows[0].values[3]);
    assert_int_equal(rows[1].affected, 2);
    assert_int_equal(rows[1].rows, 0);
    assert_int_equal(rows[2].affected, 0);
    assert_int_equal(rows[3].affected, 1);
    assert_int_equal(rows[3].rows, 1);
    assert_string_equal(rows[3].values[1], "7");
    assert_string_equal(client_value(&b, "SELECT sum(amount) FROM money"), "159");
    assert_string_equal(client_value(&b, "SELECT owner FROM money WHERE id = 3"), "it's");
}

static void parameters(void **state)
{
    (void)state;
    struct cleave_store_parameter three[] = {{"9"}, {"o'$1"}, {"12"}}, null[] = {{"10"}, {NULL}};
    struct cleave_store_statement statements[] = {
        {"INSERT INTO money VALUES ($1, $2, $3)", three, 3},
        {"INSERT INTO money VALUES ($1, $2, 1)", null, 2},
        {"SELECT owner FROM money WHERE id = $1 AND amount < $3 AND owner = $2", three, 3},
        {"SELECT owner FROM money WHERE amount = $3 AND id = $1 AND owner = $2 FOR UPDATE", three,
         3},
    };
    struct cleave_store_batch batch = {statements, 4, CLEAVE_BATCH_COMMIT, NULL};
    assert_int_equal(a.ops->send(a.session, &batch, &a.error), CLEAVE_OK);
    if (a.ops->receive(a.session, &a.arena, a.answers, NULL, &a.error))
        fail_msg("%s", a.error.message);
    assert_int_equal(a.answers[2].rows, 0);
    assert_int_equal(a.answers[3].rows, 1);
    assert_string_equal(a.answers[3].values[0], "o'$1");
    assert_string_equal(client_value(&b, "SELECT owner FROM money WHERE id = 10"), "-");
}

static void stays_open(void **state)
{
    (void)state;
    right(
        DO(&a, OPEN, NULL, "UPDATE money SET amount = amount - 5 WHERE id = 1", NULL, NULL, NULL));
    assert_string_equal(client_value(&b, "SELECT amount FROM money WHERE id = 1"), "100");
    right(DO(&a, OPEN, NULL, "SELECT amount FROM money WHERE id = 1",
             "UPDATE money SET amount = amount + 5 WHERE id = 2", NULL, NULL));
    assert_string_equal(a.answers[0].values[0], "95");
    right(DO(&a, COMMIT, NULL, "SELECT sum(amount) FROM money", NULL, NULL, NULL));
    assert_string_equal(a.answers[0].values[0], "150");
    assert_string_equal(client_value(&b, "SELECT amount FROM money WHERE id = 2"), "55");
    DO(&a, OPEN, NULL, "DELETE FROM money", NULL, NULL, NULL);
    right(DO(&a, ROLLBACK, NULL, "SELECT count(*) FROM money", NULL, NULL, NULL));
    assert_string_equal(a.answers[0].values[0], "0");
    assert_string_equal(client_value(&a, "SELECT count(*) FROM money"), "2");
    right(DO(&a, ROLLBACK, NULL, NULL, NULL, NULL, NULL));
    right(DO(&a, COMMIT, NULL, NULL, NULL, NULL, NULL));
}

static void failures(void **state)
{
    (void)state;
    DO(&a, OPEN, NULL, "UPDATE money SET amount = 1 WHERE id = 1", NULL, NULL, NULL);
    assert_int_equal(DO(&a, COMMIT, NULL, "UPDATE money SET amount = 2 WHERE id = 2",
                        "SELECT nothing FROM money", "SELECT 1", NULL),
                     CLEAVE_BAD_INPUT);
    assert_int_equal(a.failed, 1);
    assert_non_null(strstr(a.error.message, "nothing"));
    assert_non_null(strstr(a.error.message, ": in: SELECT nothing FROM money"));
    assert_string_equal(client_value(&a, "SELECT sum(amount) FROM money"), "150");
    assert_int_equal(
        DO(&a, PREPARE, "cleave-fails", "UPDATE money SET amount = -1", NULL, NULL, NULL),
        CLEAVE_BAD_INPUT);
    assert_int_equal(a.failed, 0);
    assert_int_equal(client_finish(&a, "cleave-fails", true), CLEAVE_NOT_FOUND);
    assert_int_equal(DO(&a, COMMIT, NULL, "SELECT 1; SELECT 2", NULL, NULL, NULL),
                     CLEAVE_BAD_INPUT);
    right(DO(&a, COMMIT, NULL, "SELECT 1;", NULL, NULL, NULL));
    assert_int_equal(DO(&a, COMMIT, NULL, "/* it */ commit", NULL, NULL, NULL),
                     CLEAVE_BAD_ARGUMENT);
    assert_int_equal(DO(&a, PREPARE, "it's", "SELECT 1", NULL, NULL, NULL), CLEAVE_BAD_ARGUMENT);
    assert_string_equal(client_value(&a, "SELECT count(*) FROM money"), "2");
}

static uint32_t prepared(struct client *client, const char *prefix, const char *const **names)
{
    uint32_t count;
    if (client->ops->prepared(client->session, prefix, &client->arena, names, &count,
                              &client->error))
        fail_msg("%s", client->error.message);
    return count;
}

static void two_phases(void **state)
{
    (void)state;
    const char *const *names;
    assert_int_equal(prepared(&a, "", &names), 0);
    right(
        DO(&a, OPEN, NULL, "UPDATE money SET amount = amount - 30 WHERE id = 1", NULL, NULL, NULL));
    right(DO(&a, PREPARE, "pay-1.x_y", "SELECT amount FROM money WHERE id = 1",
             "UPDATE money SET amount = amount + 30 WHERE id = 2", NULL, NULL));
    assert_string_equal(a.answers[0].values[0], "70");
    assert_int_equal(a.answers[1].affected, 1);
    right(DO(&a, PREPARE, "pay-2", "INSERT INTO money VALUES (5, 'x', 5)", NULL, NULL, NULL));
    right(DO(&a, PREPARE, "other", "SELECT 1", NULL, NULL, NULL));
    assert_int_equal(
        DO(&b, PREPARE, "other", "INSERT INTO money VALUES (6, 'x', 5)", NULL, NULL, NULL),
        CLEAVE_BAD_INPUT);
    assert_string_equal(client_value(&b, "SELECT sum(amount) FROM money"), "150");
    assert_string_equal(client_value(&b, "SELECT amount FROM money WHERE id = 1"), "100");
    assert_int_equal(prepared(&b, "pay", &names), 2);
    assert_string_equal(names[0], "pay-1.x_y");
    assert_string_equal(names[1], "pay-2");
    assert_int_equal(prepared(&b, "", &names), 3);
    client_close(&a); /* neither lost */
    client_open(&a, *state);
    right(client_finish(&b, "pay-1.x_y", true));
    right(client_finish(&b, "pay-2", false));
    right(client_finish(&a, "other", true));
    assert_int_equal(client_finish(&b, "pay-2", true), CLEAVE_NOT_FOUND);
    assert_string_equal(client_value(&a, "SELECT amount FROM money WHERE id = 2"), "80");
    assert_string_equal(client_value(&a, "SELECT count(*) FROM money"), "2");
    assert_int_equal(prepared(&a, "", &names), 0);
}

static void lists_tables(void **state)
{
    (void)state;
    const struct cleave_store_table *tables;
    uint32_t count;
    assert_int_equal(a.ops->tables(a.session, &a.arena, &tables, &count, &a.error), CLEAVE_OK);
    assert_int_equal(count, 1);
    assert_string_equal(tables[0].name, "money");
    assert_int_equal(tables[0].column_count, 3);
    assert_string_equal(tables[0].columns[2], "amount");
    assert_true(strncasecmp(tables[0].types[2], "int", 3) == 0);
    DO(&a, OPEN, NULL, "CREATE TABLE added (x int)", NULL, NULL, NULL);
    assert_int_equal(a.ops->tables(a.session, &a.arena, &tables, &count, &a.error), CLEAVE_OK);
    assert_int_equal(count, 2);
    assert_string_equal(tables[0].name, "added");
}

static enum cleave_status fill(struct client *client, const char *table, int first, int last)
{
    static const char *const columns[] = {"amount", "owner", "id"};
    enum cleave_status status =
        client->ops->fill_begin(client->session, table, columns, 3, &client->error);
    for (int i = first; !status && i < last; i++) {
        char id[12], amount[12];
        snprintf(id, sizeof id, "%d", i);
        snprintf(amount, sizeof amount, "%d", i % 100);
        const char *values[] = {amount, i % 3 ? "a\\b\tc\nd\re" : NULL, id};
        status = client->ops->fill_row(client->session, values, 3, &client->error);
    }
    return status ? status : client->ops->fill_end(client->session, &client->error);
}

static void fills(void **state)
{
    (void)state;
    right(fill(&a, "money", 1000, 4000));
    assert_string_equal(client_value(&b, "SELECT count(*) FROM money"), "2");
    right(DO(&a, OPEN, NULL, "SELECT count(*) FROM money", NULL, NULL, NULL));
    assert_string_equal(a.answers[0].values[0], "3002");
    right(DO(&a, COMMIT, NULL, NULL, NULL, NULL, NULL));
    assert_string_equal(client_value(&b, "SELECT owner FROM money WHERE id = 1001"),
                        "a\\b\tc\nd\re");
    assert_string_equal(client_value(&b, "SELECT owner FROM money WHERE id = 1002"), "-");
    /* A table of the same transaction, and its two phases. */
    for (int commit = 0; commit < 2; commit++) {
        const char *const *names;
        DO(&a, OPEN, NULL, "CREATE TABLE copy (id int PRIMARY KEY, owner text, amount int)", NULL,
           NULL, NULL);
        right(fill(&a, "copy", 0, 500));
        right(fill(&a, "money", 5000, 5500));
        if (DO(&a, PREPARE, "filled", "UPDATE copy SET amount = 1", NULL, NULL, NULL))
            fail_msg("%s", a.error.message);
        assert_int_equal(a.answers[0].affected, 500);
        assert_int_equal(prepared(&b, "filled", &names), 1);
        assert_string_equal(client_value(&b, "SELECT count(*) FROM money"), "3002");
        right(client_finish(&b, "filled", commit));
        const struct cleave_store_table *tables;
        uint32_t count;
        assert_int_equal(b.ops->tables(b.session, &b.arena, &tables, &count, &b.error), CLEAVE_OK);
        assert_int_equal(count, 1 + commit);
        assert_string_equal(client_value(&b, "SELECT count(*) FROM money"),
                            commit ? "3502" : "3002");
    }
    assert_string_equal(client_value(&b, "SELECT sum(amount) FROM copy"), "500");
    client_do(&b, "DROP TABLE copy");
    /* What is wrong leaves nothing, sooner or later. */
    enum cleave_status status = fill(&a, "money", 1, 3);
    if (!status)
        status = DO(&a, COMMIT, NULL, NULL, NULL, NULL, NULL);
    assert_int_equal(status, CLEAVE_BAD_INPUT);
    assert_string_equal(client_value(&a, "SELECT count(*) FROM money"), "3502");
    assert_int_equal(fill(&a, "no_such", 1, 3), CLEAVE_BAD_INPUT);
    right(fill(&a, "money", 6000, 6000));
    right(DO(&a, COMMIT, NULL, NULL, NULL, NULL, NULL));
}

struct scanned {
    uint32_t rows, stop_at;
    uint64_t sum;
};

static enum cleave_status scan_row(void *context, uint32_t columns, const char *const *values,
                                   struct cleave_error *error)
{
    struct scanned *scanned = context;
    assert_int_equal(columns, 2);
    scanned->sum += strtoull(values[0], NULL, 10);
    return ++scanned->rows == scanned->stop_at
               ? cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped")
               : CLEAVE_OK;
}

static void scans(void **state)
{
    (void)state;
    struct scanned scanned = {0}, part = {.stop_at = 10};
    right(fill(&a, "money", 1000, 3000));
    DO(&a, COMMIT, NULL, NULL, NULL, NULL, NULL);
    assert_int_equal(a.ops->scan(a.session, "SELECT id, owner FROM money ORDER BY id", scan_row,
                                 &scanned, &a.error),
                     CLEAVE_OK);
    assert_int_equal(scanned.rows, 2002);
    assert_int_equal(scanned.sum, (1000 + 2999) * 1000 + 1 + 2);
    assert_int_equal(
        a.ops->scan(a.session, "SELECT id, owner FROM money", scan_row, &part, &a.error),
        CLEAVE_INTERRUPTED);
    assert_int_equal(part.rows, 10);
    assert_int_equal(a.ops->scan(a.session, "SELECT 1, 2 FROM nowhere", scan_row, &part, &a.error),
                     CLEAVE_BAD_INPUT);
    assert_non_null(strstr(a.error.message, "nowhere"));
    assert_string_equal(client_value(&a, "SELECT count(*) FROM money"), "2002");
}

enum { THREADS = 6, TURNS = 60 };

static void *pay(void *context)
{
    struct client *client = context;
    for (int turn = 0; turn < TURNS; turn++) {
        char name[40];
        snprintf(name, sizeof name, "turn-%d-%p", turn, context);
        bool two = turn % 3 == 0;
        enum cleave_status status = client_batch(
            client, two ? CLEAVE_BATCH_PREPARE : CLEAVE_BATCH_COMMIT, name,
            client->failed % 2 ? "INSERT INTO paid (amount) VALUES (1)"
                               : "INSERT INTO paid (amount) VALUES (1) RETURNING amount",
            "SELECT count(*) FROM money", NULL, NULL);
        if (!status && two)
            status = client_finish(client, name, true);
        if (status)
            return client->error.message;
    }
    return NULL;
}

/* Writers side by side: none fails, none is lost. */
static void side_by_side(void **state)
{
    static struct client clients[THREADS];
    pthread_t threads[THREADS];
    client_do(&a, "CREATE TABLE paid (amount int)");
    for (int t = 0; t < THREADS; t++)
        client_open(&clients[t], *state);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, pay, &clients[t]), 0);
    for (int t = 0; t < THREADS; t++) {
        void *message;
        pthread_join(threads[t], &message);
        if (message)
            fail_msg("%s", (char *)message);
        client_close(&clients[t]);
    }
    assert_string_equal(client_value(&a, "SELECT sum(amount) FROM paid"), "360");
    client_do(&a, "DROP TABLE paid");
}

static void holds_names(void **state)
{
    (void)state;
    struct client c;
    right(a.ops->hold(a.session, "one", &a.error));
    assert_int_equal(b.ops->hold(b.session, "one", &b.error), CLEAVE_CONFLICT);
    assert_non_null(strstr(b.error.message, "\"one\" is held by the"));
    right(b.ops->hold(b.session, "two", &b.error));
    client_do(&a, "UPDATE money SET amount = 7"); /* it hinders no work */
    client_open(&c, *state);
    assert_int_equal(c.ops->hold(c.session, "one", &c.error), CLEAVE_CONFLICT);
    client_close(&a);
    enum cleave_status status = CLEAVE_CONFLICT; /* a server takes a moment to notice */
    for (int i = 0; i < 500 && status == CLEAVE_CONFLICT; i++) {
        status = c.ops->hold(c.session, "one", &c.error);
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    assert_int_equal(status, CLEAVE_OK);
    client_close(&c);
    client_open(&a, *state);
}

int contract_run(const char *url)
{
    char *state = (char *)url;
#define TEST(f)                                                                                    \
    {                                                                                              \
#f, f, begin, done, state                                                                  \
    }
    const struct CMUnitTest tests[] = {
        TEST(answers),      TEST(parameters),   TEST(stays_open), TEST(failures),
        TEST(two_phases),   TEST(lists_tables), TEST(fills),      TEST(scans),
        TEST(side_by_side), TEST(holds_names),
    };
    return cmocka_run_group_tests_name(cleave__store_of(url)->name, tests, NULL, NULL);
}
