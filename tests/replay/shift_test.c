/* Live repartition on real stores: random layouts A and B over the same tables, random
 * transactions, pieces moved in small batches meanwhile. Every answer is the unsharded database's,
 * and at the end every row is exactly where B says, none lost or there twice; with A and B of
 * different numbers of shards too. Two bugs on purpose are found by just this.
 *
 * argument "postgres": on PostgreSQL servers, in a smaller number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../oracle/random_layout.h"
#include "support/property.h"
#include "tables/replay/audit.h"
#include "tables/replay/shift.h"
#include "world.h"

#define DDL                                                                                        \
    "CREATE TABLE a (x int, y int, z int, id int NOT NULL, PRIMARY KEY (id, x, y));"               \
    "CREATE TABLE b (x int, y int, z int, id int NOT NULL PRIMARY KEY);"                           \
    "CREATE TABLE n (x int, y int);"                                                               \
    "CREATE TABLE r (x int, y int);"

enum { TRANSACTIONS = 60, TEXT = 1500, SHARDS = 5, VALUES = 6 };

struct text {
    char *at;
    size_t left;
};

static void say(struct text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(text->at, text->left, format, list);
    va_end(list);
    assert_true(n >= 0 && (size_t)n < text->left);
    text->at += n;
    text->left -= (size_t)n;
}

static int value(struct property_source *source)
{
    return (int)property_draw(source, VALUES);
}

static char name(struct property_source *source)
{
    return "aabbnr"[property_draw(source, 6)];
}

static void insert(struct property_source *source, struct text *text, int *id)
{
    char t = name(source);
    if (t == 'a')
        say(text, "INSERT INTO a VALUES (%d, %d, %d, %d)", value(source), value(source),
            value(source), (*id)++);
    else if (t == 'b')
        say(text, "INSERT INTO b (id, x, y, z) VALUES (%d, %d, %d, %d)", (*id)++, value(source),
            value(source), value(source));
    else if (property_draw(source, 8) == 7)
        say(text, "INSERT INTO %c VALUES (NULL, %d)", t, value(source));
    else
        say(text, "INSERT INTO %c VALUES (%d, %d)", t, value(source), value(source));
}

static void statement(struct property_source *source, struct text *text, int *id)
{
    char t = name(source);
    char c = "xy"[property_draw(source, 2)];
    switch (property_draw(source, 12)) {
    case 0:
    case 1:
    case 2:
        insert(source, text, id);
        break;
    case 3:
        say(text, "UPDATE %c SET y = %d WHERE x = %d", t, value(source), value(source));
        break;
    case 4:
        say(text, "UPDATE a SET %c = %d WHERE id = %d", c, value(source),
            (int)property_draw(source, (uint64_t)*id));
        break;
    case 5:
        say(text, "UPDATE b SET z = %d WHERE %c = %d", value(source), c, value(source));
        break;
    case 6:
        say(text, "DELETE FROM %c WHERE x = %d AND y = %d", t, value(source), value(source));
        break;
    case 7:
        say(text, "SELECT count(*), min(y), max(x) FROM %c", t);
        break;
    case 8:
        say(text, "SELECT a.id, r.y FROM a JOIN r ON a.x = r.x WHERE a.%c = %d", c, value(source));
        break;
    case 9:
        say(text, "UPDATE %c SET x = %d WHERE y = %d", t, value(source), value(source));
        break;
    default:
        say(text, "SELECT * FROM %c WHERE %c = %d", t, c, value(source));
    }
}

struct totals {
    uint64_t replayed, refused, held, moves, rows, caught, runs, grown;
    uint32_t plant;
    bool found;
    struct replay_world *stores; /* PostgreSQL; NULL: files of their own */
};

static bool failed(struct property_source *source, const struct world *worlds,
                   const struct world_list *list, struct totals *totals, const char *why)
{
    if (!totals->found) /* what is seen depends on who was faster: so it is said at once */
        fprintf(stderr, "  %s\n", why);
    totals->found = true;
    if (totals->plant) /* it was to be found: no use in a smaller case */
        return true;
    if (source->verbose) {
        fprintf(stderr, "%s\n", why);
        random_layout_print(&worlds[0].layout);
        random_layout_print(&worlds[1].layout);
        for (uint32_t i = 0; i < list->count; i++)
            fprintf(stderr, "%u: %s\n", i + 1, list->texts[i]);
    }
    return false;
}

/* With somebody who watches, the gate checks itself at every step. */
static void watch(void *context, const char *point)
{
    (void)context, (void)point;
}

static bool shifts(struct property_source *source, void *context)
{
    struct totals *totals = context;
    static char texts[TRANSACTIONS][TEXT];
    const char *list_texts[TRANSACTIONS];
    struct world worlds[2];
    struct cleave_lookup *lookups[2];
    struct replay_world own, *stores = totals->stores;
    struct cleave_error error = {0};
    struct cleave_audit audit = {0};
    struct cleave_replay_result result;
    int id = 10;
    for (int i = 0; i < 2; i++) {
        world_open(&worlds[i], DDL, SHARDS);
        random_layout(source, &worlds[i], true);
        struct cleave_layout *layout = &worlds[i].layout;
        struct cleave_table_layout *n = &layout->tables[world_table(&worlds[i], "n")];
        n->key_column = (uint32_t)property_draw(source, 2);
        n->map = (uint32_t)property_draw(source, layout->map_count);
        assert_int_equal(cleave__lookup_build(&worlds[i].layout, &lookups[i], &error), 0);
    }
    if (!stores)
        world_sqlite(stores = &own, SHARDS);
    struct world_list list = {list_texts, TRANSACTIONS / 2, 0, {{0}}, {0}};
    list.count += (uint32_t)property_draw(source, TRANSACTIONS / 2);
    for (uint32_t i = 0; i < list.count; i++) {
        struct text text = {texts[i], TEXT};
        list_texts[i] = texts[i];
        for (uint64_t n = property_draw(source, 3), s = 0; s <= n; s++) {
            say(&text, s ? "; " : "");
            if (i < 10)
                insert(source, &text, &id);
            else
                statement(source, &text, &id);
        }
    }
    for (uint32_t s = 0; s <= SHARDS; s++)
        world_run(s < SHARDS ? stores->urls[s] : stores->reference, DDL);
    struct cleave_replay_options options = {.lookup = lookups[0],
                                            .urls = stores->urls,
                                            .source = world_source(&list),
                                            .reference = stores->reference,
                                            .clients = 1 + (uint32_t)property_draw(source, 4),
                                            .repartition = lookups[1],
                                            .repartition_at = property_draw(source, 30),
                                            .pieces = 1 + (uint32_t)property_draw(source, 7),
                                            .batch_rows = 1 + (uint32_t)property_draw(source, 6),
                                            .move_rows = 1 + (uint32_t)property_draw(source, 12),
                                            .at = totals->plant ? NULL : watch,
                                            .shift_plant = totals->plant};
    bool right = true;
    if (cleave__replay(&options, &result, &error)) {
        right = failed(source, worlds, &list, totals, error.message);
    } else {
        if (!cleave__replay_right(&result) || !result.shift.whole)
            right = failed(source, worlds, &list, totals,
                           result.different     ? result.differences[0]
                           : result.shift.whole ? "counts differ"
                                                : "not all has moved");
        totals->refused += result.refused;
        totals->replayed += result.replayed;
        totals->held += result.shift.held;
        totals->moves += result.shift.moves;
        totals->rows += result.shift.rows;
        totals->caught += result.shift.caught;
        totals->grown += worlds[1].layout.shards > worlds[0].layout.shards;
        totals->runs++;
        cleave__replay_result_free(&result);
    }
    right = right && !totals->found;
    if (right && cleave__replay_audit(lookups[1], stores->urls, stores->reference, &audit, &error))
        right = failed(source, worlds, &list, totals, error.message);
    if (right && !cleave__audit_right(&audit))
        right = failed(source, worlds, &list, totals, audit.first);
    /* What B does not have is empty. */
    for (uint32_t s = worlds[1].layout.shards; s < SHARDS && right; s++) {
        char rows[40];
        world_ask(stores->urls[s],
                  "SELECT (SELECT count(*) FROM a) + (SELECT count(*) FROM b) + (SELECT count(*) "
                  "FROM n) + (SELECT count(*) FROM r)",
                  rows, sizeof rows);
        if (strcmp(rows, "0") != 0)
            right = failed(source, worlds, &list, totals, "rows on a shard that B does not have");
    }
    world_empty(stores);
    if (stores == &own)
        world_remove(&own);
    for (int i = 0; i < 2; i++) {
        cleave__lookup_release(lookups[i]);
        world_close(&worlds[i]);
    }
    return right || totals->plant;
}

static void print_totals(const struct totals *totals)
{
    print_message("%llu runs (%llu to more shards): replayed %llu, refused %llu, held %llu; moves "
                  "%llu, rows %llu, caught up %llu\n",
                  (unsigned long long)totals->runs, (unsigned long long)totals->grown,
                  (unsigned long long)totals->replayed, (unsigned long long)totals->refused,
                  (unsigned long long)totals->held, (unsigned long long)totals->moves,
                  (unsigned long long)totals->rows, (unsigned long long)totals->caught);
}

static void nothing_is_lost_or_doubled(void **state)
{
    (void)state;
    struct totals totals = {0};
    assert_true(property_run("repartition", shifts, &totals, 30));
    print_totals(&totals);
    assert_true(totals.held > 0 && totals.moves > totals.runs && totals.caught > 0);
}

/* Each bug is found within so many runs. */
static void find(uint32_t plant, const char *what)
{
    struct totals totals = {.plant = plant};
    print_message("a bug on purpose follows: %s\n", what);
    for (int i = 0; i < 60 && !totals.found; i++) {
        char name[40];
        snprintf(name, sizeof name, "planted %s %d", what, i);
        (void)property_run(name, shifts, &totals, 1);
    }
    assert_true(totals.found);
}

static void no_catching_up_is_found(void **state)
{
    (void)state;
    find(CLEAVE__SHIFT_PLANT_NO_CATCH_UP, "no catching up");
}

static void no_draining_is_found(void **state)
{
    (void)state;
    find(CLEAVE__SHIFT_PLANT_NO_DRAIN, "no draining");
}

static void on_postgres(void **state)
{
    (void)state;
    struct replay_world stores;
    struct totals totals = {.stores = &stores};
    if (!world_postgres(&stores, SHARDS))
        skip();
    bool good = property_run("repartition on PostgreSQL", shifts, &totals, 6);
    world_remove(&stores);
    print_totals(&totals);
    assert_true(good);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest here[] = {cmocka_unit_test(nothing_is_lost_or_doubled),
                                      cmocka_unit_test(no_catching_up_is_found),
                                      cmocka_unit_test(no_draining_is_found)};
    const struct CMUnitTest postgres[] = {cmocka_unit_test(on_postgres)};
    if (count > 1 && strcmp(arguments[1], "postgres") == 0)
        return cmocka_run_group_tests(postgres, NULL, NULL);
    return cmocka_run_group_tests(here, NULL, NULL);
}
