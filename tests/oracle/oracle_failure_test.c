/* Every allocation of the recount made to fail in turn: a status, never a crash or a leak. The
 * statements are in the recount's cache by then, so that libpg_query, which cannot bear it, is left
 * alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/failalloc.h"
#include "world.h"

static const char ddl[] =
    "CREATE TABLE a (x int PRIMARY KEY, y int, z int, t text, n numeric);"
    "CREATE TABLE b (x int NOT NULL, y int NOT NULL, z int UNIQUE, PRIMARY KEY (x, y));"
    "CREATE VIEW va AS SELECT x, y AS why FROM a WHERE z = 1;";

static const char *const texts[] = {
    "SELECT * FROM a LEFT JOIN b ON a.x = b.x AND b.y IN (1, 2) WHERE a.x = 5 OR a.y > 2.5",
    "WITH q AS (SELECT x FROM a WHERE t LIKE 'ab%'), w AS (DELETE FROM b WHERE x = 2 RETURNING y) "
    "SELECT * FROM q, w, (VALUES (1, 2), (3, 4)) v (k, l) WHERE q.x = v.k AND w.y = v.l",
    "INSERT INTO b (x, y) VALUES (1, 2), (3, 4 + 5) ON CONFLICT (x, y) DO UPDATE SET y = 3",
    "UPDATE va SET why = 1 WHERE x = ANY ('{1,2}'::int[])",
    "UPDATE b SET x = 3 FROM a WHERE a.x = b.x AND (a.x, a.y) < (4, 5) AND b.y BETWEEN 2 AND 90",
    "SELECT x FROM a FULL JOIN b USING (x) UNION SELECT x FROM b WHERE EXISTS (SELECT 1 FROM a "
    "WHERE a.x = b.x AND a.t || 'c' = 'bc')",
    "MERGE INTO a USING b ON a.x = b.x WHEN NOT MATCHED THEN INSERT (x, y) VALUES (b.x, 2)",
};

static bool count_all(void *context)
{
    struct world *world = context;
    struct cleave_trace_statement statements[sizeof texts / sizeof *texts];
    struct cleave_trace_transaction transaction = {.statements = statements};
    const struct cleave_layout *layouts[2] = {&world->layout, &world->layout};
    struct cleave_oracle_count counts[2] = {{0}, {0}};
    struct cleave_error error;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        statements[i] =
            (struct cleave_trace_statement){.text = texts[i], .length = strlen(texts[i])};
    transaction.statement_count = sizeof texts / sizeof *texts;
    enum cleave_status status =
        cleave__oracle_count(world->oracle, &transaction, layouts, 2, counts, NULL, &error);
    return status == CLEAVE_OK || (status == CLEAVE_NO_MEMORY && counts[0].transactions == 0);
}

static bool open_and_close(void *context)
{
    struct world *world = context;
    struct cleave_oracle *oracle;
    enum cleave_status status = cleave__oracle_new(world->schema, &oracle, NULL);
    if (status == CLEAVE_OK)
        cleave__oracle_free(oracle);
    return status == CLEAVE_OK || status == CLEAVE_NO_MEMORY;
}

static void memory_runs_out(void **state)
{
    struct world world;
    (void)state;
    world_open(&world, ddl, 7);
    world_exception(&world, "b", "x", world_range(1, 3), "y", world_range(2, 4), 5);
    assert_true(count_all(&world));
    assert_true(failalloc_run("recount", count_all, &world, 1));
    assert_true(failalloc_run_thread("recount, made", open_and_close, &world, 1));
    world_close(&world);
}

/* What no parser should survive unharmed, and limits: a verdict in bounded time. */
static void hostile(void **state)
{
    struct world world;
    char got[256];
    (void)state;
    world_open(&world, ddl, 7);
    static char text[200000];
    char *p = stpcpy(text, "SELECT * FROM a WHERE x IN (0");
    for (int i = 1; i < 20000; i++)
        p += sprintf(p, ",%d", i);
    strcpy(p, ")");
    assert_string_equal(world_touch(&world, text, got, sizeof got), "all");
    p = stpcpy(text, "SELECT * FROM a WHERE x = 1");
    for (int i = 0; i < 1500; i++)
        p = stpcpy(p, " AND (x = 1 OR y = 2 OR z = 3)");
    assert_string_equal(world_touch(&world, text, got, sizeof got), "1");
    p = stpcpy(text, "SELECT 1 FROM a WHERE x = 1");
    for (int i = 0; i < 900; i++)
        p = stpcpy(p, " UNION SELECT 1 FROM a WHERE x = 1");
    assert_string_equal(world_touch(&world, text, got, sizeof got), "1");
    p = stpcpy(text, "SELECT * FROM a t0");
    for (int i = 1; i < 300; i++)
        p += sprintf(p, " JOIN a t%d ON t%d.x = t%d.x", i, i, i - 1);
    strcpy(p, " WHERE t0.x = 4");
    assert_string_equal(world_touch(&world, text, got, sizeof got), "4");
    /* Each CTE names the one before twice. */
    p = stpcpy(text, "WITH q0 AS (SELECT x FROM a)");
    for (int i = 1; i < 40; i++)
        p += sprintf(p, ", q%d AS (SELECT l.x FROM q%d l, q%d r)", i, i - 1, i - 1);
    strcpy(p, " SELECT * FROM q39");
    world_touch(&world, text, got, sizeof got);
    p = stpcpy(text, "SELECT * FROM a WHERE x = ");
    for (int i = 0; i < 150; i++)
        *p++ = '(';
    *p++ = '1';
    for (int i = 0; i < 150; i++)
        *p++ = ')';
    *p = 0;
    assert_string_equal(world_touch(&world, text, got, sizeof got), "1");
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_runs_out),
                                       cmocka_unit_test(hostile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
