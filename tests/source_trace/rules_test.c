/* The transaction rules, one case each, on server logs written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace_text.h"

/* A log line of session `pid`. */
#define AT(pid, rest) "2026-11-30 02:21:31.845 UTC [" #pid "] u@d " rest "\n"
#define DONE(pid, rest) AT(pid, "LOG:  duration: 0.100 ms  " rest)
#define STARTED(pid, rest) AT(pid, "LOG:  " rest)

static void interleaved_sessions(void **state)
{
    (void)state;
    trace_text_expect(DONE(1, "statement: begin") DONE(2, "statement: BEGIN;")
                          DONE(1, "statement: select 1") DONE(2, "statement: select 2")
                              DONE(3, "statement: select 3") DONE(2, "statement: END")
                                  DONE(1, "statement: commit"),
                      "3: select 3\n2: select 2\n1: select 1\n");
}

static void extended_protocol_counts_once(void **state)
{
    (void)state;
    trace_text_expect(DONE(1, "parse S_1: select $1") DONE(1, "bind S_1: select $1")
                          AT(1, "DETAIL:  parameters: $1 = '6'") DONE(1, "execute S_1: select $1")
                              AT(1, "DETAIL:  parameters: $1 = '6'")
                                  DONE(1, "execute fetch from S_1/C_2: select $1")
                                      AT(1, "DETAIL:  parameters: $1 = '6'"),
                      "1: select $1 [6]\n");
}

static void parameters(void **state)
{
    (void)state;
    trace_text_expect(
        DONE(1, "execute <unnamed>: select $1, $2, $3, $4")
            AT(1, "DETAIL:  parameters: $1 = '6', $2 = NULL, $3 = 'it''s, $9 = ''x''', $4 = ''")
                DONE(1, "execute a/b: select $1") AT(1, "DETAIL:  Parameters: $1 = 'two\n\tlines'")
                    DONE(1, "execute a: select $1, $2")
                        AT(1, "DETAIL:  parameters: $1 = 'abc...', $2 = 'd'")
                            DONE(1, "execute a: select $1") DONE(1, "statement: select 2"),
        "1: select $1, $2, $3, $4 [6, NULL, it's, $9 = 'x', ]\n"
        "1: select $1 [two\\nlines]\n"
        "1: select $1, $2 [cut, d]\n"
        "1: select $1\n1: select 2\n");
}

static void detail_of_another_session(void **state)
{
    (void)state;
    trace_text_expect(DONE(1, "execute a: select $1") DONE(2, "execute a: select $1")
                          AT(1, "DETAIL:  parameters: $1 = '1'")
                              AT(2, "DETAIL:  parameters: $1 = '2'"),
                      "1: select $1 [1]\n2: select $1 [2]\n");
}

static void durations_apart(void **state)
{
    (void)state; /* log_statement = all with log_duration: the text comes once */
    trace_text_expect(STARTED(1, "statement: select 1") AT(1, "LOG:  duration: 0.1 ms")
                          STARTED(1, "execute <unnamed>: select $1")
                              AT(1, "DETAIL:  parameters: $1 = '6'")
                                  AT(1, "LOG:  duration: 0.2 ms"),
                      "1: select 1\n1: select $1 [6]\n");
}

static void several_in_one_string(void **state)
{
    (void)state;
    trace_text_expect(DONE(1, "statement: select 1; ; select ';' -- ;\n\t;")
                          DONE(1, "statement: select 2"),
                      "1: select 1 | select ';' -- ;\n1: select 2\n");
    trace_text_expect(DONE(1, "statement: select 1; begin; select 2; commit; select 3"),
                      "1: select 1 | select 2\n1: select 3\n");
    trace_text_expect(DONE(1, "statement: select 1; commit; select 2; rollback; select 3"),
                      "1: select 1\n1: select 3\n");
    trace_text_expect(DONE(1, "statement: begin; select 1") DONE(1, "statement: select 2; commit"),
                      "1: select 1 | select 2\n");
}

static void savepoints(void **state)
{
    (void)state;
    trace_text_expect(DONE(1, "statement: begin") DONE(1, "statement: savepoint a")
                          DONE(1, "statement: select 1") DONE(1, "statement: rollback to a")
                              DONE(1, "statement: release savepoint a")
                                  DONE(1, "statement: select 2") DONE(1, "statement: commit"),
                      "1: select 1 | select 2\n");
}

static void rolled_back(void **state)
{
    (void)state;
    struct trace_text t =
        trace_text_read(DONE(1, "statement: START TRANSACTION ISOLATION LEVEL SERIALIZABLE")
                            DONE(1, "statement: select 1") DONE(1, "statement: ROLLBACK WORK")
                                DONE(1, "statement: begin") DONE(1, "statement: select 2")
                                    DONE(1, "statement: ABORT") DONE(1, "statement: select 3"),
                        0, NULL);
    assert_string_equal(t.out, "1: select 3\n");
    assert_int_equal(t.counters.transactions_rolled_back, 2);
    assert_int_equal(t.counters.statements_rolled_back, 2);
    assert_int_equal(t.counters.statements_control, 4);
    trace_text_free(&t);
}

static void chains(void **state)
{
    (void)state;
    trace_text_expect(
        DONE(1, "statement: begin") DONE(1, "statement: select 1")
            DONE(1, "statement: commit and chain") DONE(1, "statement: select 2")
                DONE(1, "statement: rollback and chain") DONE(1, "statement: select 3")
                    DONE(1, "statement: commit and no chain") DONE(1, "statement: select 4"),
        "1: select 1\n1: select 3\n1: select 4\n");
}

static void failure_outside(void **state)
{
    (void)state;
    struct trace_text t = trace_text_read(
        DONE(1, "statement: select 1") AT(1, "ERROR:  no such column at character 8")
            AT(1, "STATEMENT:  select broken") DONE(1, "statement: select 2"),
        0, NULL);
    assert_string_equal(t.out, "1: select 1\n1: select 2\n");
    assert_int_equal(t.counters.statements_failed, 1);
    trace_text_free(&t);
}

static void failure_aborts(void **state)
{
    (void)state;
    trace_text_expect(DONE(1, "statement: begin") DONE(1, "statement: select 1") AT(1, "ERROR:  x")
                          AT(1, "STATEMENT:  select broken") DONE(1, "statement: commit")
                              DONE(1, "statement: select 2"),
                      "1: select 2\n");
    trace_text_expect(DONE(1, "statement: begin") DONE(1, "statement: select 1")
                          DONE(1, "statement: savepoint a") AT(1, "ERROR:  x")
                              AT(1, "STATEMENT:  select broken")
                                  DONE(1, "statement: rollback to savepoint a")
                                      DONE(1, "statement: select 2") DONE(1, "statement: commit"),
                      "1: select 1 | select 2\n");
}

static void failure_strikes_what_was_logged_before(void **state)
{
    (void)state;
    struct trace_text t = trace_text_read(
        STARTED(1, "statement: select 1") STARTED(2, "statement: select 9")
            STARTED(1, "statement: select broken") AT(1, "ERROR:  x")
                AT(1, "DETAIL:  parameters: no") AT(1, "STATEMENT:  select broken")
                    STARTED(1, "statement: select 2") AT(1, "ERROR:  syntax error at or near \"s\"")
                        AT(1, "STATEMENT:  selec 3"),
        0, NULL);
    assert_string_equal(t.out, "1: select 1\n1: select 2\n2: select 9\n");
    assert_int_equal(t.counters.statements_failed, 2);
    trace_text_free(&t);
    trace_text_expect(STARTED(1, "statement: begin") STARTED(1, "statement: select 1")
                          STARTED(1, "statement: commit")
                              AT(1, "ERROR:  insert or update violates foreign key")
                                  AT(1, "STATEMENT:  commit") STARTED(1, "statement: select 2"),
                      "1: select 2\n");
    /* The text of the statement may be kept from the log: the error is the last one's. */
    trace_text_expect(STARTED(1, "statement: select 1") AT(1, "ERROR:  division by zero")
                          STARTED(1, "statement: select 2"),
                      "1: select 2\n");
}

static void failing_string(void **state)
{
    (void)state;
    struct trace_text t = trace_text_read(
        STARTED(1, "statement: begin; select 1; select broken; commit") AT(1, "ERROR:  x")
            AT(1, "STATEMENT:  begin; select 1; select broken; commit")
                STARTED(1, "statement: rollback") STARTED(1, "statement: select 2"),
        0, NULL);
    assert_string_equal(t.out, "1: select 2\n");
    assert_int_equal(t.counters.statements_failed, 3);
    assert_int_equal(t.counters.transactions_rolled_back, 1);
    trace_text_free(&t);
}

static void cut_off(void **state)
{
    (void)state;
    struct trace_text t = trace_text_read(
        DONE(1, "statement: begin") DONE(1, "statement: select 1")
            AT(1, "LOG:  disconnection: session time: 0:00:00.052 user=u database=d host=[local]")
                DONE(2, "statement: begin") DONE(2, "statement: select 2")
                    AT(2, "FATAL:  terminating connection due to administrator command")
                        DONE(2, "statement: select 3") DONE(4, "statement: begin")
                            DONE(4, "statement: select 4"),
        0, NULL);
    assert_string_equal(t.out, "2: select 3\n");
    assert_int_equal(t.counters.transactions_lost, 3);
    assert_int_equal(t.counters.statements_lost, 3);
    trace_text_free(&t);
}

static void restart_loses_all(void **state)
{
    (void)state;
    trace_text_expect(
        DONE(1, "statement: begin")
            DONE(1, "statement: select 1") "2026-11-30 02:21:31.845 UTC [9] LOG:  database system "
                                           "was shut down at x\n" DONE(1, "statement: select 2")
                                               DONE(1, "statement: commit"),
        "1: select 2\n");
}

static void sql_prepare(void **state)
{
    (void)state;
    trace_text_expect(DONE(1, "statement: PREPARE \"Q\" (int, numeric(4,2)) AS select $1, $2")
                          DONE(1, "statement: execute \"Q\"(4, 'it''s'::text);")
                              DONE(1, "statement: select 0"),
                      "1: select $1, $2 [4, it's]\n1: select 0\n");
    trace_text_expect(DONE(1, "statement: execute q(-4.5e-3, null, true, now(), date '2026-01-01', "
                              "(1), array[1,2], E'a\\'b')")
                          AT(1, "DETAIL:  prepare: prepare q as select $1;"),
                      "1: select $1 [-4.5e-3, NULL, true, cut, 2026-01-01, cut, cut, a'b]\n");
    struct trace_text t = trace_text_read(
        DONE(1, "statement: prepare q as select 1") DONE(1, "statement: deallocate q")
            DONE(1, "statement: execute q") DONE(2, "statement: select 2"),
        0, NULL);
    assert_string_equal(t.out, "2: select 2\n");
    assert_int_equal(t.counters.statements_unbound, 1);
    trace_text_free(&t);
}

static void two_phase(void **state)
{
    (void)state;
    trace_text_expect(DONE(1, "statement: begin") DONE(1, "statement: select 1")
                          DONE(1, "statement: prepare transaction 'a'") DONE(1, "statement: begin")
                              DONE(1, "statement: select 2")
                                  DONE(1, "statement: prepare transaction 'b'")
                                      DONE(1, "statement: begin") DONE(1, "statement: select 3")
                                          DONE(1, "statement: prepare transaction 'c'")
                                              DONE(2, "statement: rollback prepared 'a'")
                                                  DONE(2, "statement: commit prepared 'b'"),
                      "1: select 2\n1: select 3\n");
}

static void missing_ends(void **state)
{
    (void)state; /* a log that starts late, or that leaves out fast statements */
    trace_text_expect(DONE(1, "statement: select 1") DONE(1, "statement: commit")
                          DONE(1, "statement: begin") DONE(1, "statement: begin")
                              DONE(1, "statement: select 2") DONE(1, "statement: end"),
                      "1: select 1\n1: select 2\n");
    trace_text_expect(DONE(1, "statement: begin") AT(1, "ERROR:  x")
                          AT(1, "STATEMENT:  select broken") DONE(1, "statement: select 1"),
                      "1: select 1\n");
}

static void in_a_block_by_vxid(void **state)
{
    (void)state;
#define V(v, rest)                                                                                 \
    "2026-11-30 02:21:31.845 UTC [1] u@d 6b0cddac.1132 7 " v                                       \
    " 0 LOG:  duration: 0.1 ms  statement: " rest "\n"
    trace_text_expect(V("3/9", "select 1") V("3/9", "select 2") V("3/0", "commit")
                          V("3/0", "select 3"),
                      "6b0cddac.1132: select 1 | select 2\n6b0cddac.1132: select 3\n");
}

static void filters(void **state)
{
    (void)state;
    const char *log =
        "2026-11-30 02:21:31.845 UTC [1] a@x LOG:  duration: 1 ms  statement: select 1\n"
        "2026-11-30 02:21:31.845 UTC [2] b@y LOG:  duration: 1 ms  statement: select 2; select 3\n"
        "2026-11-30 02:21:31.845 UTC [2] b@y ERROR:  x\n"
        "2026-11-30 02:21:31.845 UTC [2] b@y STATEMENT:  select 4\n"
        "2026-11-30 02:21:31.845 UTC [3] b@x LOG:  duration: 1 ms  statement: select 5\n";
    struct cleave_trace_options by_database = {.database = "x"}, by_user = {.user = "b"};
    struct trace_text t = trace_text_read(log, 0, &by_database);
    assert_string_equal(t.out, "1: select 1\n3: select 5\n");
    assert_int_equal(t.counters.statements_filtered, 3);
    trace_text_free(&t);
    t = trace_text_read(log, 0, &by_user);
    assert_string_equal(t.out, "2: select 2 | select 3\n3: select 5\n");
    trace_text_free(&t);
    /* The prefix does not name the database, the connection's own messages do. */
    t = trace_text_read(
        "2026-11-30 02:21:31.845 UTC [1] LOG:  connection authorized: user=a database=y\n"
        "2026-11-30 02:21:31.845 UTC [1] LOG:  duration: 1 ms  statement: select 1\n",
        0, &by_database);
    assert_string_equal(t.out, "");
    trace_text_free(&t);
}

static void plans_and_notices_decide_nothing(void **state)
{
    (void)state;
    trace_text_expect(STARTED(1, "statement: select f()")
                          AT(1, "LOG:  duration: 0.4 ms  plan:\n\tQuery Text: x")
                              AT(1, "CONTEXT:  SQL statement \"x\"") AT(1, "WARNING:  careful")
                                  AT(1, "ERROR:  x") AT(1, "STATEMENT:  select f()"),
                      "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interleaved_sessions),
        cmocka_unit_test(extended_protocol_counts_once),
        cmocka_unit_test(parameters),
        cmocka_unit_test(detail_of_another_session),
        cmocka_unit_test(durations_apart),
        cmocka_unit_test(several_in_one_string),
        cmocka_unit_test(savepoints),
        cmocka_unit_test(rolled_back),
        cmocka_unit_test(chains),
        cmocka_unit_test(failure_outside),
        cmocka_unit_test(failure_aborts),
        cmocka_unit_test(failure_strikes_what_was_logged_before),
        cmocka_unit_test(failing_string),
        cmocka_unit_test(cut_off),
        cmocka_unit_test(restart_loses_all),
        cmocka_unit_test(sql_prepare),
        cmocka_unit_test(two_phase),
        cmocka_unit_test(missing_ends),
        cmocka_unit_test(in_a_block_by_vxid),
        cmocka_unit_test(filters),
        cmocka_unit_test(plans_and_notices_decide_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
