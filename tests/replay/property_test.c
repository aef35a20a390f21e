/* Random transactions over random layouts, on SQLite or (with an argument) PostgreSQL: joins,
 * aggregates, ORDER BY and LIMIT across shards, changes of the columns that decide where rows live,
 * rows with several homes in one INSERT. Every answer is the unsharded database's, every row is
 * where it belongs in the end, and as many transactions were distributed as counting says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../oracle/random_layout.h"
#include "support/property.h"
#include "tables/replay/audit.h"
#include "tables/replay/plan.h"
#include "world.h"

#define DDL                                                                                        \
    "CREATE TABLE a (x int, y int, z int, id int NOT NULL PRIMARY KEY, UNIQUE (x, y, z, id));"     \
    "CREATE TABLE b (x int, y int, z int, id int NOT NULL PRIMARY KEY);" /* by no key, at times */ \
    "CREATE TABLE r (x int, y int);"

enum { TRANSACTIONS = 12, TEXT = 1500, SHARDS_MOST = 5, SKIPPED = 77 };

static struct replay_world stores; /* as many as a layout may have */
static unsigned cases = 150;

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

static const char *pick(struct property_source *source, const char *const *words, uint32_t count)
{
    return words[property_draw(source, count)];
}

static const char *table(struct property_source *source)
{
    static const char *const names[] = {"a", "b", "a", "b", "r"};
    return pick(source, names, 5);
}

static const char *column(struct property_source *source, const char *of)
{
    static const char *const names[] = {"x", "y", "z", "id"};
    return pick(source, names, *of == 'r' ? 2 : property_draw(source, 4) ? 3 : 4);
}

static void constant(struct property_source *source, struct text *text)
{
    if (property_draw(source, 12) == 11)
        say(text, "NULL");
    else
        say(text, "%d", (int)property_draw(source, 5));
}

/* A condition on `as`, a row of `of`. */
static void condition(struct property_source *source, struct text *text, const char *of,
                      const char *as, int depth)
{
    static const char *const operators[] = {"=", "<", "<=", ">=", "<>"};
    const char *c = column(source, of);
    switch (property_draw(source, depth ? 8 : 5)) {
    case 0:
    case 1:
        say(text, "%s.%s = %d", as, c, (int)property_draw(source, 5));
        break;
    case 2:
        say(text, "%s.%s %s %d", as, c, pick(source, operators, 5), (int)property_draw(source, 5));
        break;
    case 3:
        say(text, "%s.%s IN (%d, %d)", as, c, (int)property_draw(source, 5),
            (int)property_draw(source, 5));
        break;
    case 4:
        say(text, "%s.%s IS %sNULL", as, c, property_draw(source, 2) ? "NOT " : "");
        break;
    case 5:
        say(text, "(");
        condition(source, text, of, as, depth - 1);
        say(text, property_draw(source, 3) ? " AND " : " OR ");
        condition(source, text, of, as, depth - 1);
        say(text, ")");
        break;
    case 6:
        say(text, "NOT ");
        condition(source, text, of, as, 0);
        break;
    default:
        say(text, "(");
        condition(source, text, of, as, depth - 1);
        say(text, " AND ");
        condition(source, text, of, as, depth - 1);
        say(text, ")");
    }
}

static void where(struct property_source *source, struct text *text, const char *of, const char *as)
{
    if (property_draw(source, 8) == 7)
        return;
    say(text, " WHERE ");
    condition(source, text, of, as, 2);
}

static void query(struct property_source *source, struct text *text)
{
    static const char *const joins[] = {"JOIN", "LEFT JOIN", "FULL JOIN", "RIGHT JOIN"};
    const char *t = table(source), *u = table(source), *c = column(source, t);
    switch (property_draw(source, 9)) {
    case 0:
        say(text, "SELECT * FROM %s t", t);
        where(source, text, t, "t");
        break;
    case 1:
        say(text, "SELECT count(*), sum(x), min(y), max(y) FROM %s t", t);
        where(source, text, t, "t");
        break;
    case 2:
        say(text, "SELECT %s, count(*) AS n FROM %s t", c, t);
        where(source, text, t, "t");
        say(text, " GROUP BY %s ORDER BY %s", c, c);
        break;
    case 3:
        t = *t == 'r' ? "a" : t;
        say(text, "SELECT id, x FROM %s t", t);
        where(source, text, t, "t");
        say(text, " ORDER BY id%s LIMIT %d", property_draw(source, 2) ? " DESC" : "",
            1 + (int)property_draw(source, 4));
        break;
    case 4:
        say(text, "SELECT t.x, t.y, u.x, u.y FROM %s t %s %s u ON t.%s = u.%s", t,
            pick(source, joins, 4), u, column(source, t), column(source, u));
        where(source, text, t, "t");
        break;
    case 5:
        say(text, "SELECT t.y FROM %s t WHERE t.%s IN (SELECT u.%s FROM %s u", t, c,
            column(source, u), u);
        where(source, text, u, "u");
        say(text, ")");
        break;
    case 6:
        say(text, "SELECT DISTINCT %s FROM %s t", c, t);
        where(source, text, t, "t");
        break;
    case 7:
        say(text, "SELECT x FROM %s t", t);
        where(source, text, t, "t");
        say(text, " UNION %sSELECT y FROM %s u", property_draw(source, 2) ? "ALL " : "", u);
        where(source, text, u, "u");
        break;
    default:
        say(text, "WITH w AS (SELECT x, y FROM %s t", t);
        where(source, text, t, "t");
        say(text, ") SELECT w.x, u.y FROM w JOIN %s u ON w.y = u.x", u);
    }
}

static void change(struct property_source *source, struct text *text, int *next_id)
{
    const char *t = table(source), *c = column(source, t);
    bool returning = property_draw(source, 3) == 2;
    switch (property_draw(source, 6)) {
    case 0:
    case 1:
        say(text, "INSERT INTO %s (x, y%s) VALUES ", t, *t == 'r' ? "" : ", z, id");
        for (uint64_t n = property_draw(source, 3), i = 0; i <= n; i++) {
            say(text, i ? ", (" : "(");
            constant(source, text);
            say(text, ", ");
            constant(source, text);
            if (*t != 'r') {
                say(text, ", ");
                constant(source, text);
                say(text, ", %d", (*next_id)++);
            }
            say(text, ")");
        }
        break;
    case 2:
    case 3:
        say(text, "UPDATE %s AS t SET %s = ", t, c);
        if (strcmp(c, "id") == 0)
            say(text, "id + 1000");
        else if (property_draw(source, 3) == 2)
            say(text, "%s + 1", column(source, t));
        else
            constant(source, text);
        if (property_draw(source, 5) == 4)
            say(text, " WHERE t.x IN (SELECT r.y FROM r WHERE r.x = %d)",
                (int)property_draw(source, 5));
        else
            where(source, text, t, "t");
        break;
    case 4:
        say(text, "DELETE FROM %s AS t WHERE ", t);
        condition(source, text, t, "t", 1);
        break;
    default:
        say(text, "INSERT INTO r (x, y) SELECT t.x, t.y FROM %s t", t);
        where(source, text, t, "t");
    }
    if (returning)
        say(text, " RETURNING x, y");
}

struct totals {
    uint64_t rules[CLEAVE__RULES], refused, replayed, distributed;
};

static void count_rules(struct totals *totals, const struct cleave_lookup *lookup,
                        struct world_list *list)
{
    struct cleave__planner *planner;
    struct cleave_replay_source source = world_source(list);
    struct cleave_trace_transaction transaction;
    struct cleave_error error;
    assert_int_equal(cleave__planner_new(lookup, &planner, &error), 0);
    while (!source.next(source.context, &transaction, &error)) {
        struct cleave__planned planned;
        struct cleave_arena arena = {0};
        if (!cleave__planner_plan(planner, &transaction, 0, &arena, &planned, &error)) {
            assert_true(cleave__planned_check(lookup, &planned));
            for (uint32_t s = 0; s < planned.statement_count; s++)
                totals->rules[planned.statements[s].rule]++;
        }
        cleave__arena_free(&arena);
    }
    cleave__planner_free(planner);
    list->next = 0;
}

static void print_plans(const struct world *world, struct world_list *list)
{
    struct cleave__planner *planner;
    struct cleave_lookup *lookup;
    struct cleave_replay_source source = world_source(list);
    struct cleave_trace_transaction transaction;
    struct cleave_error error;
    list->next = 0;
    assert_int_equal(cleave__lookup_build(&world->layout, &lookup, &error), 0);
    assert_int_equal(cleave__planner_new(lookup, &planner, &error), 0);
    for (uint32_t i = 1; !source.next(source.context, &transaction, &error); i++) {
        struct cleave__planned planned;
        struct cleave_arena arena = {0};
        if (cleave__planner_plan(planner, &transaction, 0, &arena, &planned, &error)) {
            fprintf(stderr, "%u: %s\n", i, error.message);
        } else {
            for (uint32_t s = 0; s < planned.statement_count; s++) {
                const struct cleave__planned_statement *statement = &planned.statements[s];
                fprintf(stderr, "%u.%u: rule %d", i, s + 1, statement->rule);
                for (uint32_t p = 0; p < statement->piece_count; p++)
                    fprintf(stderr, "; shards %llx: %s",
                            (unsigned long long)statement->pieces[p].shards.words[0],
                            statement->pieces[p].text);
                fprintf(stderr, "\n");
            }
        }
        cleave__arena_free(&arena);
    }
    cleave__planner_free(planner);
    cleave__lookup_release(lookup);
}

static bool failed(struct property_source *source, const struct world *world,
                   struct world_list *list, const char *why)
{
    if (source->verbose) {
        fprintf(stderr, "%s\n", why);
        random_layout_print(&world->layout);
        for (uint32_t i = 0; i < list->count; i++)
            fprintf(stderr, "%u: %s\n", i + 1, list->texts[i]);
        print_plans(world, list);
    }
    return false;
}

static bool answers(struct property_source *source, void *context)
{
    struct totals *totals = context;
    static char texts[TRANSACTIONS + 2][TEXT];
    const char *list_texts[TRANSACTIONS];
    struct world world;
    struct cleave_lookup *lookup;
    struct cleave_error error = {0};
    struct cleave_audit audit = {0};
    struct cleave_replay_result result;
    int next_id = 10;
    world_open(&world, DDL, 3);
    random_layout(source, &world, true);
    assert_true(world.layout.shards <= SHARDS_MOST);
    world_empty(&stores);
    assert_int_equal(cleave__lookup_build(&world.layout, &lookup, &error), 0);
    struct world_list list = {
        list_texts, 1 + (uint32_t)property_draw(source, TRANSACTIONS), 0, {{0}}, {0}};
    for (uint32_t i = 0; i < list.count; i++) {
        struct text text = {texts[i], TEXT};
        list_texts[i] = texts[i];
        for (uint64_t n = property_draw(source, 3), s = 0; s <= n; s++) {
            say(&text, s ? "; " : "");
            if (i < 3 || property_draw(source, 2))
                change(source, &text, &next_id);
            else
                query(source, &text);
        }
    }
    for (uint32_t s = 0; s <= stores.shards; s++)
        world_run(s < stores.shards ? stores.urls[s] : stores.reference, DDL);
    count_rules(totals, lookup, &list);
    struct cleave_replay_options options = {.lookup = lookup,
                                            .urls = stores.urls,
                                            .source = world_source(&list),
                                            .reference = stores.reference,
                                            .clients = 2};
    bool right = true;
    if (cleave__replay(&options, &result, &error)) {
        right = failed(source, &world, &list, error.message);
    } else {
        if (!cleave__replay_right(&result))
            right = failed(source, &world, &list,
                           result.different ? result.differences[0] : "counts differ");
        totals->refused += result.refused;
        totals->replayed += result.replayed;
        totals->distributed += result.counted.distributed;
        cleave__replay_result_free(&result);
    }
    if (right && cleave__replay_audit(lookup, stores.urls, stores.reference, &audit, &error))
        right = failed(source, &world, &list, error.message);
    if (right && !cleave__audit_right(&audit))
        right = failed(source, &world, &list, audit.first);
    cleave__lookup_release(lookup);
    world_close(&world);
    return right;
}

static void every_answer_is_the_unsharded_ones(void **state)
{
    (void)state;
    struct totals totals = {0};
    assert_true(property_run("replay answers", answers, &totals, cases));
    print_message("replayed %llu (%llu distributed), refused %llu; rows %llu, first %llu, move "
                  "%llu, gather %llu\n",
                  (unsigned long long)totals.replayed, (unsigned long long)totals.distributed,
                  (unsigned long long)totals.refused,
                  (unsigned long long)totals.rules[CLEAVE__RULE_ROWS],
                  (unsigned long long)totals.rules[CLEAVE__RULE_FIRST],
                  (unsigned long long)totals.rules[CLEAVE__RULE_MOVE],
                  (unsigned long long)totals.rules[CLEAVE__RULE_GATHER]);
    for (uint32_t r = CLEAVE__RULE_ROWS; r < CLEAVE__RULES; r++)
        assert_true(totals.rules[r] > 0);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc < 2) {
        world_sqlite(&stores, SHARDS_MOST);
    } else {
        cases = 25;
        if (!world_postgres(&stores, SHARDS_MOST))
            return SKIPPED;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_answer_is_the_unsharded_ones)};
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    world_remove(&stores);
    return failures;
}
