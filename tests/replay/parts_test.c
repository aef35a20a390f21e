/* The parts of a replay, one by one: the order against what must wait for what, rules for
 * statements by hand, INSERTs cut into rows, answers that are equal and not, messages that come
 * back the same or not at all, decisions and the sweep on SQLite, and allocations that fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../oracle/world.h"
#include "support/failalloc.h"
#include "support/property.h"
#include "tables/replay/audit.h"
#include "tables/replay/decide.h"
#include "tables/replay/order.h"
#include "tables/replay/wire.h"
#include "world.h"

#define DDL                                                                                        \
    "CREATE TABLE t (k int NOT NULL PRIMARY KEY, v int, w int);"                                   \
    "CREATE TABLE u (k int NOT NULL PRIMARY KEY, v int);"                                          \
    "CREATE TABLE r (a int, b int);"                                                               \
    "CREATE TABLE n (v int, k int NOT NULL PRIMARY KEY);"

static void ok(enum cleave_status status, const struct cleave_error *error)
{
    if (status)
        fail_msg("%s", error->message);
}

/* t and u by k, round robin over three shards; r on all. */
static void open_world(struct world *world, struct cleave_lookup **lookup)
{
    struct cleave_error error;
    world_open(world, DDL, 3);
    ok(cleave__lookup_build(&world->layout, lookup, &error), &error);
}

/* ---- order ---- */

enum { WINDOW = 6, BOXES = 3 };

struct made { /* an access with boxes of its own */
    struct cleave_access access[2];
    struct cleave_box boxes[2][BOXES];
    struct cleave_term terms[2][BOXES][2];
    struct cleave_range ranges[2][BOXES][2];
};

static void make(struct property_source *source, struct made *made)
{
    for (uint32_t a = 0; a < 2; a++) {
        made->access[a] = (struct cleave_access){.table = (uint32_t)property_draw(source, 2),
                                                 .write = property_draw(source, 2),
                                                 .box_count = (uint32_t)property_draw(source, 3),
                                                 .boxes = made->boxes[a]};
        for (uint32_t b = 0; b < made->access[a].box_count; b++) {
            uint32_t terms = (uint32_t)property_draw(source, 3);
            made->boxes[a][b] = (struct cleave_box){terms, made->terms[a][b]};
            for (uint32_t t = 0; t < terms; t++) {
                int64_t low = (int64_t)property_draw(source, 4);
                int64_t high = low + (int64_t)property_draw(source, 2);
                made->ranges[a][b][t] = world_range(low, high);
                made->terms[a][b][t] = (struct cleave_term){
                    terms == 1 ? (uint32_t)property_draw(source, 2) : t, 1, &made->ranges[a][b][t]};
            }
        }
    }
}

static bool order_holds(struct property_source *source, void *context)
{
    const struct cleave_schema *schema = context;
    struct cleave__order *order = cleave__order_new(schema, WINDOW);
    static struct made made[WINDOW];
    bool inside[WINDOW] = {false}, handed[WINDOW] = {false}, right = true;
    for (uint64_t steps = property_draw(source, 60); steps-- > 0 && right;) {
        uint32_t slot;
        uint64_t what = property_draw(source, 3);
        if (what == 0 && !cleave__order_full(order)) {
            struct made one;
            make(source, &one);
            /* The place is not known before; made anew there with the same content. */
            uint32_t free_place = 0;
            while (inside[free_place])
                free_place++;
            made[free_place] = one;
            for (uint32_t a = 0; a < 2; a++) {
                made[free_place].access[a].boxes = made[free_place].boxes[a];
                for (uint32_t b = 0; b < BOXES; b++) {
                    made[free_place].boxes[a][b].terms = made[free_place].terms[a][b];
                    for (uint32_t t = 0; t < 2; t++)
                        made[free_place].terms[a][b][t].ranges = &made[free_place].ranges[a][b][t];
                }
            }
            right =
                cleave__order_enter(order, made[free_place].access, 2, &slot) && slot == free_place;
            inside[slot] = true;
            handed[slot] = false;
        } else if (what == 1 && (slot = cleave__order_take(order)) != CLEAVE__ORDER_NONE) {
            right = inside[slot] && !handed[slot];
            handed[slot] = true;
        } else if (what == 2) {
            slot = (uint32_t)property_draw(source, WINDOW);
            if (inside[slot] && handed[slot]) {
                cleave__order_leave(order, slot);
                inside[slot] = false;
            }
        }
        right = right && cleave__order_check(order);
    }
    cleave__order_free(order);
    return right;
}

static void conflicts_keep_their_order(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, DDL, 3);
    assert_true(property_run("order", order_holds, world.schema, 300));
    world_close(&world);
}

/* ---- plans ---- */

struct wanted {
    const char *sql;
    int rule; /* of the last statement; -1: refused */
    uint32_t pieces, shards;
    const char *text; /* of the first piece, if not NULL */
};

static void plan_one(struct cleave__planner *planner, const struct cleave_lookup *lookup,
                     const struct wanted *wanted)
{
    struct world_list list = {.texts = &wanted->sql, .count = 1};
    struct cleave_replay_source source = world_source(&list);
    struct cleave_trace_transaction transaction;
    struct cleave__planned planned;
    struct cleave_arena arena = {0};
    struct cleave_error error = {0};
    assert_int_equal(source.next(source.context, &transaction, &error), 0);
    enum cleave_status status =
        cleave__planner_plan(planner, &transaction, 1, &arena, &planned, &error);
    if (wanted->rule < 0) {
        if (status != CLEAVE_UNSUPPORTED || !strstr(error.message, "statement "))
            fail_msg("%s: not refused but %d: %s", wanted->sql, status, error.message);
        cleave__arena_free(&arena);
        return;
    }
    ok(status, &error);
    assert_true(cleave__planned_check(lookup, &planned));
    const struct cleave__planned_statement *last = &planned.statements[planned.statement_count - 1];
    if ((int)last->rule != wanted->rule || last->piece_count != wanted->pieces)
        fail_msg("%s: rule %d, %u pieces", wanted->sql, last->rule, last->piece_count);
    if (cleave__shardset_count(&planned.shards) != wanted->shards)
        fail_msg("%s: %u shards", wanted->sql, cleave__shardset_count(&planned.shards));
    if (wanted->text)
        assert_string_equal(last->pieces[0].text, wanted->text);
    cleave__arena_free(&arena);
}

static void rules_by_hand(void **state)
{
    (void)state;
    static const struct wanted list[] = {
        {"SELECT v FROM t WHERE k = 4", CLEAVE__RULE_ROWS, 1, 1, NULL},
        {"SELECT v FROM t WHERE v = 4", CLEAVE__RULE_ROWS, 1, 3, NULL},
        {"SELECT v FROM t WHERE k IN (1, 2)", CLEAVE__RULE_ROWS, 1, 2, NULL},
        {"SELECT count(*) FROM t WHERE k IN (1, 2) AND v > 3", CLEAVE__RULE_GATHER, 1, 2,
         "SELECT * FROM \"t\" WHERE (\"k\" IN (1, 2) AND (\"v\" >= 4))"},
        {"SELECT max(t.v) FROM t JOIN u ON t.k = u.k", CLEAVE__RULE_GATHER, 2, 3, NULL},
        {"SELECT * FROM t JOIN r ON t.v = r.a WHERE t.k = 3", CLEAVE__RULE_ROWS, 1, 1, NULL},
        {"SELECT a FROM r", CLEAVE__RULE_ROWS, 1, 1, NULL},
        {"SELECT v FROM t ORDER BY v LIMIT 3", CLEAVE__RULE_GATHER, 1, 3, NULL},
        {"UPDATE t SET v = v + 1", CLEAVE__RULE_ROWS, 1, 3, NULL},
        {"UPDATE t SET k = 5 WHERE k = 4", CLEAVE__RULE_MOVE, 1, 2,
         "UPDATE t SET k = 5 WHERE k = 4\nRETURNING *"},
        {"UPDATE t SET k = 5 WHERE k = 4 RETURNING v", CLEAVE__RULE_MOVE, 1, 2,
         "UPDATE t SET k = 5 WHERE k = 4 RETURNING v\n, *"},
        {"UPDATE t SET k = 7 WHERE k = 4", CLEAVE__RULE_ROWS, 1, 1, NULL},
        {"UPDATE t SET v = 1 WHERE v IN (SELECT a FROM r)", CLEAVE__RULE_ROWS, 1, 3, NULL},
        {"UPDATE t SET v = 1 WHERE v IN (SELECT k FROM u)", -1, 0, 0, NULL},
        {"UPDATE t SET v = (SELECT max(v) FROM t)", -1, 0, 0, NULL},
        {"DELETE FROM r WHERE a = 1", CLEAVE__RULE_ROWS, 1, 3, NULL},
        {"INSERT INTO t (k, v) VALUES (1, 1), (2, 2), (4, 4)", CLEAVE__RULE_ROWS, 3, 2,
         "INSERT INTO t (k, v) VALUES (1, 1)"},
        {"INSERT INTO t (k, v) VALUES (1, 1), (4, 4)", CLEAVE__RULE_ROWS, 1, 1, NULL},
        {"INSERT INTO t (v) VALUES (1)", -1, 0, 0, NULL},
        {"INSERT INTO t (k, v) SELECT k + 1, v FROM t", -1, 0, 0, NULL},
        {"INSERT INTO r SELECT a, b FROM r", CLEAVE__RULE_ROWS, 1, 3, NULL},
        {"INSERT INTO r SELECT k, v FROM t", -1, 0, 0, NULL},
        {"UPDATE n SET v = 3 WHERE v = 3", CLEAVE__RULE_ROWS, 1, 1, NULL}, /* by v: no key */
        {"UPDATE n SET v = 4 WHERE v = 3", CLEAVE__RULE_MOVE, 1, 2, NULL},
        {"UPDATE n SET v = v + 1 WHERE v = 3", CLEAVE__RULE_MOVE, 1, 3, NULL},
        {"UPDATE n SET k = 3 WHERE v = 3", CLEAVE__RULE_ROWS, 1, 1, NULL},
        {"WITH x AS (UPDATE n SET v = 4 WHERE v = 3 RETURNING k) SELECT k FROM x", -1, 0, 0, NULL},
        {"SET work_mem = 1000", CLEAVE__RULE_PASS, 0, 1, NULL},
        {"CREATE TABLE x (y int)", -1, 0, 0, NULL},
        {"SELECT my_function(1)", -1, 0, 0, NULL},
        {"SELECT * FROM pg_class", -1, 0, 0, NULL},
        {"SELECT FROM WHERE", -1, 0, 0, NULL},
        {"SELECT a FROM r; SELECT v FROM t WHERE k = 2", CLEAVE__RULE_ROWS, 1, 1, NULL},
    };
    struct world world;
    struct cleave_lookup *lookup;
    struct cleave__planner *planner;
    struct cleave_error error;
    open_world(&world, &lookup);
    ok(cleave__planner_new(lookup, &planner, &error), &error);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        plan_one(planner, lookup, &list[i]);
    cleave__planner_free(planner);
    cleave__lookup_release(lookup);
    world_close(&world);
}

/* What foreign keys read keeps its order too. */
static void foreign_keys_are_ordered(void **state)
{
    (void)state;
    static const char ddl[] = "CREATE TABLE p (a int, b int, v int, PRIMARY KEY (a, b));"
                              "CREATE TABLE c (k int PRIMARY KEY, y int, x int, FOREIGN KEY (x, y) "
                              "REFERENCES p (a, b));";
    static const struct {
        const char *sql;
        uint32_t table, terms;
        int64_t low; /* of the first term */
    } list[] = {{"INSERT INTO c (k, x, y) VALUES (1, 20, 30)", 0, 2, 20},
                {"DELETE FROM p WHERE a = 7 AND b = 8", 1, 2, 8}};
    struct world world;
    struct cleave_lookup *lookup;
    struct cleave__planner *planner;
    struct cleave_error error;
    world_open(&world, ddl, 2);
    ok(cleave__lookup_build(&world.layout, &lookup, &error), &error);
    ok(cleave__planner_new(lookup, &planner, &error), &error);
    for (size_t i = 0; i < 2; i++) {
        const struct cleave_trace_statement statement = {list[i].sql, strlen(list[i].sql), NULL, 0};
        const struct cleave_trace_transaction transaction = {.statements = &statement,
                                                             .statement_count = 1};
        struct cleave__planned planned;
        struct cleave_arena arena = {0};
        ok(cleave__planner_plan(planner, &transaction, 0, &arena, &planned, &error), &error);
        assert_int_equal(planned.access_count, 2);
        const struct cleave_access *other = &planned.accesses[1];
        assert_true(other->table == list[i].table && !other->write && other->box_count == 1);
        assert_int_equal(other->boxes[0].term_count, list[i].terms);
        assert_true(other->boxes[0].terms[0].column < other->boxes[0].terms[1].column);
        assert_int_equal(other->boxes[0].terms[0].ranges[0].low.integer, list[i].low);
        cleave__arena_free(&arena);
    }
    cleave__planner_free(planner);
    cleave__lookup_release(lookup);
    world_close(&world);
}

static void inserts_are_cut(void **state)
{
    (void)state;
    struct cleave_arena arena = {0};
    const char *texts[3];
    const char *sql = "INSERT INTO \"values\" (a, b) VALUES (1, 'x), (''y'), (f(2), $$),($$), (3, "
                      "(4)) RETURNING a";
    assert_true(cleave__insert_split(sql, strlen(sql), 3, &arena, texts));
    assert_string_equal(texts[0],
                        "INSERT INTO \"values\" (a, b) VALUES (1, 'x), (''y') RETURNING a");
    assert_string_equal(texts[1],
                        "INSERT INTO \"values\" (a, b) VALUES (f(2), $$),($$) RETURNING a");
    assert_string_equal(texts[2], "INSERT INTO \"values\" (a, b) VALUES (3, (4)) RETURNING a");
    assert_false(cleave__insert_split("INSERT INTO t VALUES (1", 23, 1, &arena, texts));
    assert_false(cleave__insert_split("INSERT INTO t SELECT 1", 22, 1, &arena, texts));
    cleave__arena_free(&arena);
}

/* ---- answers ---- */

static struct cleave__digest digest_of(const char *const *values, uint32_t rows, const char *key)
{
    static const char *const names[] = {"a", "b"};
    const struct cleave_store_answer answer = {rows, 2, rows, names, values};
    struct cleave__digest digest = {0};
    cleave__digest_answer(&digest, &answer, 2, &key, key != NULL);
    return digest;
}

static void answers_are_compared(void **state)
{
    (void)state;
    const char *one[] = {"1", "x", "2", "y", "2", NULL}, *ties[] = {"1", "x", "2", NULL, "2", "y"};
    const char *turned[] = {"2", "y", "1", "x", "2", NULL},
               *other[] = {"1", "x", "2", "y", "2", ""};
    const char *twice[] = {"1", "x", "1", "x", "2", NULL};
    struct cleave__digest a = digest_of(one, 3, NULL), b = digest_of(turned, 3, NULL);
    assert_true(cleave__digest_equal(&a, &b)); /* no order asked for */
    a = digest_of(one, 3, "a");
    b = digest_of(turned, 3, "A");
    assert_false(cleave__digest_equal(&a, &b));
    b = digest_of(ties, 3, "a");
    assert_true(cleave__digest_equal(&a, &b)); /* among equals any order will do */
    b = digest_of(one, 3, "c");
    a = digest_of(turned, 3, "c");
    assert_true(cleave__digest_equal(&a, &b)); /* not a column of the answer */
    a = digest_of(one, 3, NULL);
    b = digest_of(other, 3, NULL);
    assert_false(cleave__digest_equal(&a, &b)); /* NULL is not "" */
    b = digest_of(twice, 3, NULL);
    assert_false(cleave__digest_equal(&a, &b));
    b = digest_of(one, 2, NULL);
    assert_false(cleave__digest_equal(&a, &b));
}

/* ---- messages ---- */

static void messages_come_back(void **state)
{
    (void)state;
    struct world world;
    struct cleave_lookup *lookup;
    struct cleave__planner *planner;
    struct cleave_error error;
    struct cleave_arena arena = {0};
    struct cleave__planned planned, back;
    struct cleave_writer first = {0}, second = {0};
    uint64_t number;
    open_world(&world, &lookup);
    ok(cleave__planner_new(lookup, &planner, &error), &error);
    const struct cleave_parameter parameters[] = {{"4", 1, false, false}, {NULL, 0, true, false}};
    const struct cleave_trace_statement statements[] = {
        {"UPDATE t SET k = 5, v = $2 WHERE k = $1", 39, parameters, 2},
        {"SELECT v, count(*) FROM t GROUP BY v ORDER BY v", 47, NULL, 0}};
    const struct cleave_trace_transaction transaction = {.statements = statements,
                                                         .statement_count = 2};
    ok(cleave__planner_plan(planner, &transaction, 0, &arena, &planned, &error), &error);
    cleave__planned_write(&planned, 77, &first);
    struct cleave_reader reader = {first.data, first.data + first.count, false};
    assert_true(cleave__planned_read(&reader, 3, &arena, &number, &back));
    assert_int_equal(number, 77);
    cleave__planned_write(&back, 77, &second);
    assert_int_equal(first.count, second.count);
    assert_memory_equal(first.data, second.data, first.count);
    for (size_t cut = 0; cut < first.count; cut++) { /* in memory of its own: nothing is behind */
        uint8_t *part = malloc(cut ? cut : 1);
        memcpy(part, first.data, cut);
        reader = (struct cleave_reader){part, part + cut, false};
        assert_false(cleave__planned_read(&reader, 3, &arena, &number, &back));
        free(part);
    }
    for (size_t at = 0; at < first.count; at++) { /* any byte may be anything */
        first.data[at] ^= 0x5a;
        reader = (struct cleave_reader){first.data, first.data + first.count, false};
        (void)cleave__planned_read(&reader, 3, &arena, &number, &back);
        first.data[at] ^= 0x5a;
    }
    free(first.data);
    free(second.data);
    cleave__arena_free(&arena);
    cleave__planner_free(planner);
    cleave__lookup_release(lookup);
    world_close(&world);
}

/* ---- decisions ---- */

static void names_of_branches(void **state)
{
    (void)state;
    char name[CLEAVE_PREPARED_NAME_MOST + 1], who[CLEAVE__COORDINATOR_MOST + 1];
    uint64_t id;
    uint32_t anchor, shard;
    cleave__branch_name("a_1", UINT64_MAX, 1023, 7, name);
    assert_string_equal(name, "cleave-a_1-18446744073709551615-1023-7");
    assert_true(cleave__branch_parse(name, who, &id, &anchor, &shard));
    assert_string_equal(who, "a_1");
    assert_true(id == UINT64_MAX && anchor == 1023 && shard == 7);
    static const char *const bad[] = {"",
                                      "cleave-a-1",
                                      "cleave-a-1-2",
                                      "cleave-a-1-2-3x",
                                      "cleave-a-01-2-3",
                                      "other-a-1-2-3",
                                      "cleave--1-2-3",
                                      "cleave-a-1-2-3-4"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(cleave__branch_parse(bad[i], who, &id, &anchor, &shard));
    assert_true(cleave__coordinator_valid("x"));
    assert_false(cleave__coordinator_valid(""));
    assert_false(cleave__coordinator_valid("a-b"));
}

static void prepare(const char *url, const char *sql, const char *name)
{
    struct cleave__port port;
    struct cleave_error error;
    struct cleave_arena arena = {0};
    struct cleave_store_answer answer;
    const struct cleave_store_statement statement = {sql, NULL, 0};
    const struct cleave_store_batch batch = {&statement, 1, CLEAVE_BATCH_PREPARE, name};
    cleave__port_init(&port, url);
    ok(cleave__port_batch(&port, &batch, &arena, &answer, &error), &error);
    cleave__port_close(&port);
    cleave__arena_free(&arena);
}

/* A coordinator that was paused, or is gone while its server still reads: its PREPARE comes after
 * the sweep that precedes the next run. Its id is never that run's, and the next sweep undoes it.
 */
static void a_prepare_that_comes_late_is_undone(void **state)
{
    (void)state;
    struct world world;
    struct replay_world stores;
    struct cleave_lookup *lookup;
    struct cleave_error error;
    struct cleave__recovery recovery;
    struct cleave_replay_result result;
    uint64_t first, second, third;
    char text[40], name[CLEAVE_PREPARED_NAME_MOST + 1];
    open_world(&world, &lookup);
    world_sqlite(&stores, 3);
    struct cleave__replay_world replay = {
        .lookup = lookup, .urls = stores.urls, .coordinator = "me", .patience_ns = 1};
    for (uint32_t s = 0; s < 3; s++)
        world_run(stores.urls[s], DDL);
    ok(cleave__recover(&replay, false, &recovery, &error), &error);
    ok(cleave__decisions_reserve(&replay, &recovery, &first, &error), &error);
    /* The next run's sweep finds nothing, and it begins. */
    ok(cleave__recover(&replay, false, &recovery, &error), &error);
    assert_int_equal(recovery.committed + recovery.rolled_back, 0);
    ok(cleave__decisions_reserve(&replay, &recovery, &second, &error), &error);
    assert_true(second >= first + CLEAVE__ID_RUN);
    for (uint64_t late = first; late < first + 3; late++) {
        cleave__branch_name("me", late, 1, 2, name);
        prepare(stores.urls[2], "INSERT INTO r VALUES (1, 1)", name);
    }
    /* That run decides under ids of its own, the first of them on the same anchor. */
    const char *const texts[] = {
        "INSERT INTO t VALUES (1, 1, 1); INSERT INTO t VALUES (2, 1, 1); INSERT INTO t VALUES (3, "
        "1, 1); INSERT INTO t VALUES (4, 1, 1)",
        "INSERT INTO t VALUES (5, 1, 1); INSERT INTO t VALUES (6, 1, 1)"};
    struct world_list list = {.texts = texts, .count = 2};
    struct cleave_replay_options options = {.lookup = lookup,
                                            .urls = stores.urls,
                                            .source = world_source(&list),
                                            .coordinator = "me",
                                            .patience_s = 1};
    ok(cleave__replay(&options, &result, &error), &error);
    assert_int_equal(result.recovered_rolled_back, 3);
    assert_int_equal(result.replayed, 2);
    cleave__replay_result_free(&result);
    ok(cleave__recover(&replay, false, &recovery, &error), &error);
    assert_int_equal(recovery.committed + recovery.rolled_back, 0);
    ok(cleave__decisions_reserve(&replay, &recovery, &third, &error), &error);
    assert_true(third >= second + CLEAVE__ID_RUN);
    world_ask(stores.urls[2], "SELECT count(*) FROM r", text, sizeof text);
    assert_string_equal(text, "0");
    world_remove(&stores);
    cleave__lookup_release(lookup);
    world_close(&world);
}

static void the_sweep_finishes_what_was_decided(void **state)
{
    (void)state;
    struct world world;
    struct replay_world stores;
    struct cleave_lookup *lookup;
    struct cleave_error error;
    struct cleave__recovery recovery;
    char text[40];
    open_world(&world, &lookup);
    world_sqlite(&stores, 3);
    struct cleave__replay_world replay = {
        .lookup = lookup, .urls = stores.urls, .coordinator = "me", .patience_ns = 1};
    for (uint32_t s = 0; s < 3; s++)
        world_run(stores.urls[s], DDL);
    ok(cleave__recover(&replay, false, &recovery, &error), &error);
    assert_int_equal(recovery.last_id, 0);

    /* 5 is decided on shard 1, 6 is not, 7 is another's, and one is nobody's. */
    world_run(stores.urls[1], "INSERT INTO cleave_decisions VALUES ('me', 5, 1)");
    prepare(stores.urls[0], "INSERT INTO r VALUES (5, 0)", "cleave-me-5-1-0");
    prepare(stores.urls[2], "INSERT INTO r VALUES (5, 2)", "cleave-me-5-1-2");
    prepare(stores.urls[2], "INSERT INTO r VALUES (6, 2)", "cleave-me-6-1-2");
    prepare(stores.urls[0], "INSERT INTO r VALUES (7, 0)", "cleave-you-7-1-0");
    prepare(stores.urls[0], "INSERT INTO r VALUES (8, 0)", "mine");
    ok(cleave__recover(&replay, false, &recovery, &error), &error);
    assert_int_equal(recovery.committed, 2);
    assert_int_equal(recovery.rolled_back, 1);
    assert_int_equal(recovery.foreign, 2);
    assert_int_equal(recovery.last_id, 6);
    world_ask(stores.urls[0], "SELECT sum(a) FROM r", text, sizeof text);
    assert_string_equal(text, "5");
    world_ask(stores.urls[2], "SELECT sum(a) FROM r", text, sizeof text);
    assert_string_equal(text, "5");

    /* 6 is fenced: who comes late with its decision fails, and commits nothing. */
    struct cleave__port port;
    struct cleave_arena arena = {0};
    struct cleave_store_parameter parameters[2];
    struct cleave_store_statement two[2] = {{"INSERT INTO r VALUES (6, 1)", NULL, 0}};
    struct cleave_store_answer answers[2];
    bool committed = true;
    cleave__decision_statement("me", 6, text, parameters, &two[1]);
    const struct cleave_store_batch batch = {two, 2, CLEAVE_BATCH_COMMIT, NULL};
    cleave__port_init(&port, stores.urls[1]);
    assert_int_not_equal(cleave__port_batch(&port, &batch, &arena, answers, &error), 0);
    ok(cleave__decision_find(&port, "me", 6, &committed, &error), &error);
    assert_false(committed);
    ok(cleave__decision_find(&port, "me", 5, &committed, &error), &error);
    assert_true(committed);
    cleave__port_close(&port);
    cleave__arena_free(&arena);
    world_ask(stores.urls[1], "SELECT count(*) FROM r", text, sizeof text);
    assert_string_equal(text, "0");

    ok(cleave__recover(&replay, true, &recovery, &error), &error);
    assert_int_equal(recovery.rolled_back, 1); /* 7 */
    assert_int_equal(recovery.foreign, 1);
    ok(cleave__decisions_forget(&replay, &error), &error);
    world_ask(stores.urls[1], "SELECT group_concat(coordinator || id) FROM cleave_decisions", text,
              sizeof text);
    assert_string_equal(text, "me6,you7");

    /* Shards in another order than when it was prepared: nobody asks the wrong anchor. */
    prepare(stores.urls[0], "INSERT INTO r VALUES (9, 0)", "cleave-me-9-1-2");
    assert_int_equal(cleave__recover(&replay, false, &recovery, &error), CLEAVE_BAD_INPUT);
    assert_non_null(strstr(error.message, "was shard 2"));
    world_ask(stores.urls[1], "SELECT count(*) FROM cleave_decisions WHERE id = 9", text,
              sizeof text);
    assert_string_equal(text, "0");
    world_remove(&stores);
    cleave__lookup_release(lookup);
    world_close(&world);
}

/* ---- failures ---- */

struct failing {
    const struct cleave_lookup *lookup;
    struct replay_world *stores;
};

static const char *const work[] = {
    "UPDATE t SET v = v - 1 WHERE k = 1; UPDATE t SET v = v + 1 WHERE k = 2",
    "UPDATE t SET v = v - 2 WHERE k = 2; UPDATE t SET v = v + 2 WHERE k = 3",
    "SELECT sum(v) FROM t; SELECT v FROM t ORDER BY k", "UPDATE t SET w = w + 1"};

static bool try_planner(void *context)
{
    const struct failing *failing = context;
    struct world_list list = {.texts = work, .count = 4};
    struct cleave_replay_source source = world_source(&list);
    struct cleave_trace_transaction transaction;
    struct cleave__planner *planner;
    struct cleave_error error;
    if (cleave__planner_new(failing->lookup, &planner, &error))
        return true;
    while (!source.next(source.context, &transaction, &error)) {
        struct cleave__planned planned;
        struct cleave_arena arena = {0};
        (void)cleave__planner_plan(planner, &transaction, 0, &arena, &planned, &error);
        cleave__arena_free(&arena);
    }
    cleave__planner_free(planner);
    return true;
}

/* Whatever fails, money is neither made nor lost, and nothing waits. */
static bool try_replay(void *context)
{
    const struct failing *failing = context;
    struct world_list list = {.texts = work, .count = 4};
    struct cleave_replay_result result;
    struct cleave_error error;
    struct cleave_replay_options options = {.lookup = failing->lookup,
                                            .urls = failing->stores->urls,
                                            .source = world_source(&list),
                                            .patience_s = 1,
                                            .clients = 2};
    enum cleave_status status = cleave__replay(&options, &result, &error);
    if (!status)
        cleave__replay_result_free(&result);
    return !status || status == CLEAVE_NO_MEMORY;
}

static void memory_runs_out(void **state)
{
    (void)state;
    struct world world;
    struct replay_world stores;
    struct cleave_lookup *lookup;
    struct cleave_audit audit;
    struct cleave_error error;
    open_world(&world, &lookup);
    world_sqlite(&stores, 3);
    for (uint32_t s = 0; s < 3; s++) {
        char row[100];
        world_run(stores.urls[s], DDL);
        snprintf(row, sizeof row, "INSERT INTO t VALUES (%u, 1000, 0)", s ? s : 3);
        world_run(stores.urls[s], row);
    }
    struct failing failing = {lookup, &stores};
    assert_true(failalloc_run_thread("planner", try_planner, &failing, 1));
    assert_true(failalloc_run_thread("replay", try_replay, &failing, 5));
    ok(cleave__replay_audit(lookup, stores.urls, NULL, &audit, &error), &error);
    assert_int_equal(audit.prepared, 0);
    int sum = 0, w = -1;
    for (uint32_t s = 0; s < 3; s++) {
        char text[40];
        world_ask(stores.urls[s], "SELECT v FROM t", text, sizeof text);
        sum += atoi(text);
        world_ask(stores.urls[s], "SELECT w FROM t", text, sizeof text);
        assert_true(w < 0 || w == atoi(text));
        w = atoi(text);
    }
    assert_int_equal(sum, 3000);
    world_remove(&stores);
    cleave__lookup_release(lookup);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conflicts_keep_their_order),
        cmocka_unit_test(rules_by_hand),
        cmocka_unit_test(inserts_are_cut),
        cmocka_unit_test(foreign_keys_are_ordered),
        cmocka_unit_test(answers_are_compared),
        cmocka_unit_test(messages_come_back),
        cmocka_unit_test(names_of_branches),
        cmocka_unit_test(the_sweep_finishes_what_was_decided),
        cmocka_unit_test(a_prepare_that_comes_late_is_undone),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
