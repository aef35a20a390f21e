/* Routing of SQL and of keys through the public interface. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "cleave/lookup.h"
#include "support/failalloc.h"
#include "tables/route/lookup.h"
#include "tables/route/route.h"

static const char ddl[] =
    "CREATE TABLE warehouse (w_id int PRIMARY KEY, w_name text);"
    "CREATE TABLE stock (s_i_id int, s_w_id int REFERENCES warehouse, s_qty int, PRIMARY KEY "
    "(s_w_id, "
    "s_i_id));"
    "CREATE TABLE item (i_id int PRIMARY KEY, i_price numeric(5,2));"
    "CREATE TABLE subscriber (s_id bigint PRIMARY KEY, sub_nbr varchar(15) NOT NULL UNIQUE);"
    "CREATE TABLE event (at timestamp NOT NULL, who text);"
    "CREATE TABLE review (u_id int, i_id int, rating int, PRIMARY KEY (u_id, i_id));"
    "CREATE VIEW low_stock AS SELECT s_w_id, s_i_id FROM stock WHERE s_qty < 10;";

static char path[] = "route_test_XXXXXX";

static struct cleave_value integer(int64_t x)
{
    struct cleave_value value = {.kind = CLEAVE_INTEGER};
    value.integer = x;
    return value;
}

/* 4 shards: warehouse and stock by warehouse (1, 2 -> 0, 1; the others by remainder), stock item 77
 * of warehouse 1 on shard 3; item everywhere; subscribers by remainder; events by time; reviews by
 * item as subscribers are, and by user as warehouses are. */
static enum cleave_status write_table(const char *to, struct cleave_error *error)
{
    struct cleave_schema *schema = NULL;
    enum cleave_status status =
        cleave__schema_parse_ddl(ddl, sizeof ddl - 1, "test.sql", &schema, error);
    if (status != CLEAVE_OK)
        return status;
    struct cleave_value keys[] = {integer(1), integer(2)};
    uint32_t shards[] = {0, 1};
    struct cleave_value noon = integer(INT64_C(1577880000000000)); /* 2020-01-01 12:00 */
    struct cleave_key_map maps[] = {{2, keys, shards, CLEAVE_MAP_ROUND_ROBIN, 0, NULL},
                                    {0, NULL, NULL, CLEAVE_MAP_ROUND_ROBIN, 0, NULL},
                                    {0, NULL, NULL, CLEAVE_MAP_RANGE, 1, &noon}};
    struct cleave_exception exception = {
        2, {1, 0}, {{integer(1), integer(1), 0}, {integer(77), integer(77), 0}}, 3};
    struct cleave_table_layout placed[8] = {{0}};
    struct cleave_layout layout = {schema, 4, placed, 3, maps, NULL};
    placed[cleave__schema_table(schema, "item", 4)].replicated = true;
    struct cleave_table_layout *stock = &placed[cleave__schema_table(schema, "stock", 5)];
    stock->key_column = 1;
    stock->exceptions = &exception;
    stock->exception_count = 1;
    struct cleave_table_layout *subscriber =
        &placed[cleave__schema_table(schema, "subscriber", 10)];
    subscriber->map = 1;
    subscriber->derived_count = 1;
    subscriber->derived[0] = (struct cleave_derived_key){1, "", "", 5};
    placed[cleave__schema_table(schema, "event", 5)].map = 2;
    struct cleave_table_layout *review = &placed[cleave__schema_table(schema, "review", 6)];
    review->key_column = 1;
    review->map = 1;
    review->twice = true;
    review->second_column = review->second_map = 0;
    struct cleave_lookup *lookup = NULL;
    status = cleave__lookup_build(&layout, &lookup, error);
    if (status == CLEAVE_OK)
        status = cleave__lookup_write(lookup, to, error);
    cleave__lookup_release(lookup);
    cleave__schema_free(schema);
    return status;
}

struct fixture {
    struct cleave_lookup *lookup;
    struct cleave_router *router;
};

static struct fixture fixture;

static int set_up(void **state)
{
    struct cleave_error error = {0};
    if (write_table(path, &error) != CLEAVE_OK ||
        cleave_lookup_open(path, &fixture.lookup, &error) != CLEAVE_OK ||
        cleave_router_new(fixture.lookup, &fixture.router, &error) != CLEAVE_OK) {
        printf("%s\n", error.message);
        return 1;
    }
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cleave_router_free(fixture.router);
    cleave_lookup_close(fixture.lookup);
    return 0;
}

static struct cleave_route route_with(const char *sql, const char *const *parameters,
                                      uint32_t count)
{
    struct cleave_route route;
    struct cleave_error error = {0};
    struct cleave_text texts[8] = {{0}};
    for (uint32_t i = 0; i < count; i++)
        texts[i] = (struct cleave_text){parameters[i], parameters[i] ? strlen(parameters[i]) : 0};
    memset(&route, 0x5a, sizeof route);
    if (cleave_router_route(fixture.router, sql, strlen(sql), texts, count, &route, &error) !=
        CLEAVE_OK)
        fail_msg("%s: %s", sql, error.message);
    assert_true(route.why[0] && !strchr(route.why, '\n'));
    assert_int_equal(route.distributed, route.count > 1);
    return route;
}

/* `shards` as bits. */
static void expect(const char *sql, uint64_t shards, bool writes)
{
    struct cleave_route route = route_with(sql, NULL, 0);
    if (route.shards[0] != shards || route.writes != writes)
        fail_msg("%s: shards %llx, writes %d (%s)", sql, (unsigned long long)route.shards[0],
                 route.writes, route.why);
}

static void test_statements(void **state)
{
    (void)state;
    assert_int_equal(cleave_lookup_shards(fixture.lookup), 4);
    expect("SELECT * FROM warehouse WHERE w_id = 2", 2, false);
    expect("SELECT * FROM warehouse WHERE w_id IN (1, 2, 7)", 1 | 2 | 8, false);
    expect("SELECT * FROM warehouse WHERE w_id BETWEEN 4 AND 5", 1 | 2, false);
    expect("SELECT * FROM warehouse", 15, false);
    expect("SELECT i_price FROM item WHERE i_id = 5", 0, false);
    expect("UPDATE item SET i_price = 1 WHERE i_id = 5", 15, true);
    expect("SELECT * FROM stock WHERE s_w_id = 1 AND s_i_id = 77", 8, false);
    expect("SELECT * FROM stock WHERE s_w_id = 1 AND s_i_id = 78", 1, false);
    expect("SELECT * FROM stock WHERE s_w_id = 1 AND s_i_id IN (77, 78)", 1 | 8, false);
    expect("SELECT * FROM stock WHERE s_w_id = 1", 1 | 8, false);
    expect("UPDATE stock SET s_qty = 0 WHERE s_w_id = 2 AND s_i_id = 77", 2, true);
    expect("SELECT * FROM stock JOIN warehouse ON s_w_id = w_id WHERE w_id = 2 AND s_i_id = 4", 2,
           false);
    expect("INSERT INTO stock (s_w_id, s_i_id) VALUES (1, 77), (2, 5)", 2 | 8, true);
    expect("INSERT INTO subscriber (s_id, sub_nbr) VALUES (6, '000006')", 4, true);
    expect("SELECT * FROM subscriber WHERE sub_nbr = '000000000000007'", 8, false);
    expect("SELECT * FROM subscriber WHERE sub_nbr = 'x7'", 15, false);
    expect("SELECT * FROM event WHERE at < '2020-01-01'", 1, false);
    expect("SELECT * FROM event WHERE at >= '2020-01-01 12:00:00'", 2, false);
    expect("SELECT * FROM low_stock WHERE s_w_id = 2", 2, false);
    expect("SELECT * FROM warehouse WHERE w_id = 1 AND w_id = 2", 0, false);
    expect("CREATE TABLE another (x int)", 15, true);
}

/* Items 5, 6 on 1, 2; users 1, 2, 3 on 0, 1, 3. */
static void test_two_keys(void **state)
{
    (void)state;
    expect("SELECT * FROM review WHERE i_id = 5", 2, false);
    expect("SELECT * FROM review WHERE u_id = 1", 1, false);
    expect("SELECT * FROM review WHERE u_id = 1 AND i_id = 6", 4, false); /* as many: the first */
    expect("SELECT * FROM review WHERE u_id = 1 AND i_id IN (5, 6)", 1, false);
    expect("SELECT * FROM review WHERE u_id IN (1, 3) AND i_id = 6", 4, false);
    expect("SELECT * FROM review WHERE u_id = 3 FOR UPDATE", 8, false);
    /* All of a read is served by one key, though each half has one of its own. */
    expect("SELECT * FROM review WHERE u_id = 1 OR i_id = 6", 15, false);
    expect("SELECT * FROM review WHERE u_id = 1 AND i_id = 5 OR u_id = 1 AND i_id = 6 AND "
           "rating = 1",
           1, false);
    /* Each mention of the table is one read. */
    expect("SELECT * FROM review a, review b WHERE a.u_id = 1 AND b.i_id = 6", 1 | 4, false);
    expect("UPDATE review SET rating = 1 WHERE u_id = 1 AND i_id = 6", 1 | 4, true);
    expect("DELETE FROM review WHERE u_id = 1", 15, true);
    expect("INSERT INTO review (u_id, i_id) VALUES (2, 6), (3, 6)", 2 | 4 | 8, true);
    expect("INSERT INTO review (u_id, i_id) VALUES (2, 6) ON CONFLICT DO NOTHING", 2 | 4, true);
    expect("SELECT * FROM review WHERE rating = 1", 15, false);
}

static void test_transactions(void **state)
{
    (void)state;
    expect("BEGIN; UPDATE warehouse SET w_name = 'a;b' WHERE w_id = 2; "
           "SELECT * FROM stock WHERE s_w_id = 2 AND s_i_id = 1; COMMIT;",
           2, true);
    expect("SELECT 1 FROM warehouse WHERE w_id = 1; SELECT 1 FROM warehouse WHERE w_id = 2", 3,
           false);
    expect("BEGIN; COMMIT", 0, false);
    expect("", 0, false);
    expect("-- nothing\n ; ;", 0, false);
}

static void test_parameters(void **state)
{
    (void)state;
    const char *two[] = {"2"}, *null[] = {NULL}, *pair[] = {"1", "77"};
    assert_int_equal(route_with("SELECT * FROM warehouse WHERE w_id = $1", two, 1).first, 1);
    assert_int_equal(route_with("SELECT * FROM warehouse WHERE w_id = $1", null, 1).count, 0);
    struct cleave_route route =
        route_with("SELECT * FROM stock WHERE s_w_id = $1 AND s_i_id = $2", pair, 2);
    assert_int_equal(route.count, 1);
    assert_int_equal(route.first, 3);
    assert_true(cleave_route_has(&route, 3) && !cleave_route_has(&route, 0) &&
                !cleave_route_has(&route, 5000));
}

static void test_words(void **state)
{
    (void)state;
    struct cleave_route route = route_with(
        "SELECT * FROM stock, item WHERE s_w_id = 1 AND s_i_id = 77 AND i_id = s_i_id", NULL, 0);
    assert_non_null(strstr(route.why, "read stock by s_w_id = 1 and s_i_id = 77: shard 3"));
    assert_non_null(strstr(route.why, "read item: on every shard, any one serves"));
    assert_true(route.certain);
    route = route_with("SELECT * FROM review WHERE u_id = 3", NULL, 0);
    assert_string_equal(route.why, "read review by u_id = 3, from the copy by u_id: shard 3");
    route = route_with("SELECT * FROM review WHERE rating = 3", NULL, 0);
    assert_string_equal(route.why, "read review with any i_id, from the copy by i_id: every shard");
    route = route_with("UPDATE review SET rating = 1 WHERE u_id = 3 AND i_id = 5", NULL, 0);
    assert_string_equal(route.why,
                        "write review by i_id = 5 and by u_id = 3, both copies: shards 1, 3");
    route = route_with("DELETE FROM review WHERE u_id = 3", NULL, 0);
    assert_string_equal(route.why,
                        "write review with any i_id and by u_id = 3, both copies: every shard");
    route = route_with("SELECT * FROM warehouse WHERE w_name = 'x'", NULL, 0);
    assert_string_equal(route.why, "read warehouse with any w_id: every shard");
    route = route_with("SELECT * FROM nowhere WHERE w_id = 1", NULL, 0);
    assert_non_null(strstr(route.why, "not in the schema; every shard"));
    assert_false(route.certain);
    assert_true(route.distributed);
    assert_false(route.writes);
    route = route_with("UPDATE nowhere SET x = 1", NULL, 0);
    assert_true(route.writes && route.distributed && !route.certain);
}

static void test_bad_input(void **state)
{
    (void)state;
    static const char *const bad[] = {"SELEKT 1", "SELECT * FROM warehouse WHERE", "SELECT '"};
    struct cleave_route route, before;
    memset(&route, 0x33, sizeof route);
    before = route;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct cleave_error error = {0};
        enum cleave_status status =
            cleave_router_route(fixture.router, bad[i], strlen(bad[i]), NULL, 0, &route, &error);
        if (status != CLEAVE_BAD_INPUT)
            fail_msg("%s: %s", bad[i], cleave_status_name(status));
        assert_true(error.message[0]);
        assert_memory_equal(&route, &before, sizeof route);
    }
    size_t size = (1 << 20) + 100;
    char *long_text = malloc(size);
    assert_non_null(long_text);
    memset(long_text, ' ', size);
    memcpy(long_text, "SELECT", 6);
    memset(long_text + size - 8, '1', 8);
    assert_int_equal(cleave_router_route(fixture.router, long_text, size, NULL, 0, &route, NULL),
                     CLEAVE_LIMIT);
    free(long_text);
}

static void test_keys(void **state)
{
    (void)state;
    const char *const columns[] = {"s_i_id", "s_w_id", "s_w_id"};
    const struct cleave_text values[] = {{"77", 2}, {"1", 1}, {"1", 1}};
    struct cleave_route route;
    struct cleave_error error;
    assert_int_equal(
        cleave_lookup_route_key(fixture.lookup, "stock", columns, values, 2, false, &route, &error),
        CLEAVE_OK);
    assert_int_equal(route.count, 1);
    assert_int_equal(route.first, 3);
    assert_int_equal(cleave_lookup_route_key(fixture.lookup, "public.stock", columns + 1,
                                             values + 1, 1, true, &route, &error),
                     CLEAVE_OK);
    assert_int_equal(route.shards[0], 1 | 8);
    assert_true(route.writes);
    assert_int_equal(
        cleave_lookup_route_key(fixture.lookup, "item", NULL, NULL, 0, false, &route, &error),
        CLEAVE_OK);
    assert_int_equal(route.count, 0);
    assert_int_equal(
        cleave_lookup_route_key(fixture.lookup, "item", NULL, NULL, 0, true, &route, &error),
        CLEAVE_OK);
    assert_int_equal(route.count, 4);
    const char *const user[] = {"u_id"};
    for (int write = 0; write < 2; write++) {
        assert_int_equal(cleave_lookup_route_key(fixture.lookup, "review", user, values + 1, 1,
                                                 write, &route, &error),
                         CLEAVE_OK);
        assert_int_equal(route.shards[0], write ? 15 : 1);
    }
    assert_int_equal(
        cleave_lookup_route_key(fixture.lookup, "stock", columns, values, 3, false, &route, &error),
        CLEAVE_BAD_ARGUMENT);
    assert_int_equal(
        cleave_lookup_route_key(fixture.lookup, "none", columns, values, 1, false, &route, &error),
        CLEAVE_NOT_FOUND);
    assert_int_equal(cleave_lookup_route_key(fixture.lookup, "low_stock", columns, values, 1, false,
                                             &route, &error),
                     CLEAVE_NOT_FOUND);
    const char *const wrong[] = {"none"};
    assert_int_equal(
        cleave_lookup_route_key(fixture.lookup, "stock", wrong, values, 1, false, &route, &error),
        CLEAVE_NOT_FOUND);
    const struct cleave_text word = {"x\n", 2};
    assert_int_equal(
        cleave_lookup_route_key(fixture.lookup, "stock", columns, &word, 1, false, &route, &error),
        CLEAVE_BAD_INPUT);
    assert_non_null(strstr(error.message, "stock.s_i_id"));
}

/* Statements are left out: libpg_query ends the process when its own memory is out. */
static bool attempt(void *context)
{
    (void)context;
    struct cleave_lookup *lookup = NULL;
    struct cleave_router *router = NULL;
    struct cleave_route route;
    struct cleave_error error = {0};
    struct cleave_text one = {"1", 1};
    enum cleave_status status = cleave_lookup_open(path, &lookup, &error);
    if (status == CLEAVE_OK)
        status = cleave_router_new(lookup, &router, &error);
    if (status == CLEAVE_OK) {
        const char *columns[] = {"s_w_id"};
        status = cleave_lookup_route_key(lookup, "stock", columns, &one, 1, false, &route, &error);
    }
    cleave_router_free(router);
    cleave_lookup_close(lookup);
    return status == CLEAVE_OK || (status == CLEAVE_NO_MEMORY && error.message[0]);
}

static void test_no_memory(void **state)
{
    (void)state;
    assert_true(failalloc_run("open and route a key", attempt, NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statements),   cmocka_unit_test(test_two_keys),
        cmocka_unit_test(test_transactions), cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_words),        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_keys),         cmocka_unit_test(test_no_memory),
    };
    int file = mkstemp(path);
    if (file < 0)
        return 1;
    close(file);
    int failed = cmocka_run_group_tests(tests, set_up, tear_down);
    unlink(path);
    return failed;
}
