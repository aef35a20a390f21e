/* Every allocation of constraints files and of a session fails once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scheme/database.h"
#include "support/failalloc.h"
#include "tables/refine/constraints.h"
#include "tables/refine/session.h"

static const char ddl[] = "CREATE TABLE house (w int PRIMARY KEY, ytd int);"
                          "CREATE TABLE stock (w int REFERENCES house, i int, PRIMARY KEY (w, i))";

static const char *const script[] = {
    "UPDATE house SET ytd = 1 WHERE w = 1; SELECT * FROM stock WHERE w = 1 AND i = 4",
    "UPDATE house SET ytd = 1 WHERE w = 2; SELECT * FROM stock WHERE w = 1 AND i = 5",
    "UPDATE house SET ytd = 1 WHERE w = 3; SELECT * FROM stock WHERE w = 2 AND i = 4",
    "SELECT * FROM stock WHERE w = 4",
};
enum { SCRIPT = sizeof script / sizeof *script };

static bool constraints(void *context)
{
    const struct cleave_schema *schema = context;
    struct cleave_arena arena = {0};
    struct cleave_steer steer = CLEAVE_STEER_DEFAULTS;
    struct cleave_error error;
    enum cleave_status status =
        cleave__constraints_read("alloc.yaml", schema, 2, &arena, &steer, &error);
    if (!status)
        status = cleave__constraints_write("alloc-out.yaml", &steer, &error);
    cleave__arena_free(&arena);
    return status == CLEAVE_OK || status == CLEAVE_NO_MEMORY;
}

static void test_constraints(void **state)
{
    (void)state;
    FILE *out = fopen("alloc.yaml", "w");
    assert_non_null(out);
    fputs("epsilon: 0.2\nnodes: [{shard: 1, share: 2}]\ntables: [{table: house, key: w}]\n"
          "rules:\n- {kind: pin, table: house, column: w, value: 1, shard: 1}\n"
          "- {kind: apart, table: house, column: w, value: 1, with: {table: stock, column: w, "
          "value: 2}}\n",
          out);
    fclose(out);
    struct cleave_schema *schema;
    assert_int_equal(cleave__schema_parse_ddl(ddl, strlen(ddl), "test", &schema, NULL), 0);
    assert_true(failalloc_run_thread("constraints", constraints, schema, 1));
    cleave__schema_free(schema);
    remove("alloc.yaml");
    remove("alloc-out.yaml");
}

/* Decisions, placements and refinement; after each failure the session goes on. */
static bool session(void *context)
{
    struct cleave_session *s = context;
    const struct cleave_rows rows = {"house", "w", "1"}, other = {"stock", "w", "2"};
    struct cleave_error error;
    struct cleave_session_result result;
    char *text = NULL;
    bool fine = true;
    size_t decisions = s->decisions.count;
    enum cleave_status all[] = {
        cleave_session_pin(s, &rows, 1, &error),
        cleave_session_apart(s, &rows, &other, &error),
        cleave_session_key(s, "stock", "w", &error),
        cleave_session_capacity(s, 1, 0, 0, 0, 2, &error),
        cleave_session_iterate(s, &result, &error),
        cleave_session_iterate(s, &result, &error),
        cleave_session_explain(s, &text, &error),
        cleave_session_write_lookup(s, "alloc.lookup", &error),
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        fine &= all[i] == CLEAVE_OK || all[i] == CLEAVE_NO_MEMORY || all[i] == CLEAVE_END ||
                (i >= 6 && all[i] == CLEAVE_BAD_ARGUMENT); /* nothing was placed */
    free(text);
    while (s->decisions.count > decisions)
        fine &= cleave_session_undo(s, &error) == CLEAVE_OK;
    return fine;
}

static void test_session(void **state)
{
    (void)state;
    struct cleave_case *kase = database_open(ddl, script, SCRIPT, 0);
    struct cleave_steer steer = CLEAVE_STEER_DEFAULTS;
    struct cleave_session *s;
    struct cleave_error error;
    assert_int_equal(cleave__session_new(kase, 2, 1, &steer, NULL, &s, &error), CLEAVE_OK);
    assert_true(failalloc_run_thread("session", session, s, 1));
    cleave_session_close(s);
    remove("alloc.lookup");
}

/* Loading, comparing and recounting. */
static bool comparing(void *context)
{
    const struct cleave_case *kase = context;
    const struct cleave_steer steer = CLEAVE_STEER_DEFAULTS;
    const struct cleave_scheme *schemes[7];
    for (uint32_t i = 0; i < 7; i++)
        schemes[i] = cleave__scheme_at(i);
    struct cleave_comparison comparison;
    struct cleave_error error;
    enum cleave_status status =
        cleave__compare(kase, schemes, 7, 3, 1, &steer, NULL, &comparison, &error);
    if (status)
        return status == CLEAVE_NO_MEMORY;
    bool verified = comparison.verified;
    cleave__comparison_free(&comparison);
    return verified;
}

static void test_comparing(void **state)
{
    (void)state;
    struct cleave_case *kase = database_open(ddl, script, SCRIPT, 0);
    assert_true(failalloc_run_thread("comparing", comparing, kase, 7));
    cleave__case_free(kase);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_constraints),
                                       cmocka_unit_test(test_session),
                                       cmocka_unit_test(test_comparing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
