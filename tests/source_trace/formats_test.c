/* Formats: their detection, prefixes, line ends, columns, and input that is broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace_text.h"

static void expect_format(const char *text, const char *describe, const char *out)
{
    struct trace_text t = trace_text_read(text, 0, NULL);
    assert_string_equal(t.describe[0] ? t.describe : t.message, describe);
    assert_string_equal(t.out, out);
    trace_text_free(&t);
}

#define SELECT_1 "LOG:  duration: 0.1 ms  statement: select 1\n"
#define WITH(header) header SELECT_1 header "LOG:  disconnection: session time: 0\n"

static void prefixes_guessed(void **state)
{
    (void)state;
    expect_format(WITH("2026-11-30 02:21:31.845 UTC [77] "), "stderr, prefix '%m [%p] '",
                  "77: select 1\n");
    expect_format(WITH("2026-11-30 02:21:31 +03 [77] "), "stderr, prefix '%t [%p] '",
                  "77: select 1\n");
    expect_format(WITH("2026-11-30 02:21:31 UTC:10.0.0.1(50906):u@d:[77]:"),
                  "stderr, prefix '%t:%r:%u@%d:[%p]:'", "77: select 1\n");
    expect_format(WITH("2026-11-30 02:21:31 UTC [77]: [3-1] user=u,db=d,app=my app,client=::1 "),
                  "stderr, prefix '%t [%p]: [%l-1] user=%u,db=%d,app=%a,client=%h '",
                  "77: select 1\n");
    expect_format(WITH("2026-11-30 02:21:31.845 -0330 6b0cddac.1132 u@d "),
                  "stderr, prefix '%m %c %u@%d '", "6b0cddac.1132: select 1\n");
    expect_format(WITH("1796005291.845 [77] "), "stderr, prefix '%n [%p] '", "77: select 1\n");
    expect_format(WITH("2026-11-30 02:21:31.845 UTC|[unknown]|d|4d1db7a8.4227|"),
                  "stderr, prefix '%m|[unknown]|d|%c|'", "4d1db7a8.4227: select 1\n");
    expect_format(
        WITH("2026-11-30 02:21:31.000 MSK [77]: user=ann,db=shop,app=a,client=1.1.1.1,xid=0 "),
        "stderr, prefix '%m [%p]: user=%u,db=%d,app=%a,client=%h,xid=%l '", "77: select 1\n");
    expect_format("2026-11-30 17:00:00 UTC:10.1.91.65:u@d:[77]:LOG: duration: 0.054 ms statement: "
                  "select 1;\n",
                  "stderr, prefix '%t:%r:%u@%d:[%p]:'", "77: select 1\n");
    expect_format(WITH("<2026-11-30 02:21:31 UTC|u|d|77|> "), "stderr, prefix '<%t|u|d|%p|> '",
                  "77: select 1\n");
    expect_format("2026-11-30 02:21:31.845 UTC [9] LOG:  checkpoint starting: time\n" WITH(
                      "2026-11-30 02:21:31.845 UTC [77] u@d 3/0 "),
                  "stderr, prefix '%m [%p] %q%u@%d %v '", "77: select 1\n");
}

static void prefix_given(void **state)
{
    (void)state;
    struct cleave_trace_options options = {.line_prefix = "%-8u|%8d|%p%%|%e|%Q|%q%a~"};
    struct trace_text t = trace_text_read("ann     |    shop|77%|00000|-12|my app~" SELECT_1
                                          "        |        |9%|00000|0|LOG:  checkpoint\n",
                                          0, &options);
    assert_string_equal(t.out, "77: select 1\n");
    assert_int_equal(t.counters.entries_bad, 0);
    trace_text_free(&t);
    options.line_prefix = "%m %z";
    t = trace_text_read(SELECT_1, 0, &options);
    assert_int_equal(t.status, CLEAVE_BAD_ARGUMENT);
    assert_non_null(strstr(t.message, "'%z'"));
    trace_text_free(&t);
    options.line_prefix = "%m ";
    t = trace_text_read(SELECT_1, 0, &options);
    assert_int_equal(t.status, CLEAVE_BAD_INPUT);
    trace_text_free(&t);
}

static void line_ends(void **state)
{
    (void)state;
    expect_format("2026-11-30 02:21:31.845 UTC [77] LOG:  duration: 0.1 ms  statement: select\r\n"
                  "\t1\r\n"
                  "2026-11-30 02:21:31.845 UTC [77] LOG:  duration: 0.1 ms  statement: select 2",
                  "stderr, prefix '%m [%p] '", "77: select\\n1\n77: select 2\n");
    struct trace_text t = trace_text_read("\xef\xbb\xbfselect 1;\r\nselect\r\n2;", 0, NULL);
    assert_non_null(strstr(t.out, ": select 1\n"));
    assert_non_null(strstr(t.out, ": select\\n2\n"));
    trace_text_free(&t);
}

static void through_syslog(void **state)
{
    (void)state;
#define HOST(pid) "May  1 12:00:00 host postgres[" pid "]: "
    expect_format(HOST("9") "[1-1] LOG:  checkpoint starting: time\n" HOST(
                      "7") "[5-1] user=u,db=d LOG:  "
                           "duration: 0.1 ms  execute "
                           "a: select\n" HOST(
                               "8") "[3-"
                                    "1] "
                                    "user"
                                    "=u,"
                                    "db="
                                    "d "
                                    "LOG:"
                                    "  "
                                    "dura"
                                    "tion"
                                    ": "
                                    "0.1 "
                                    "ms  "
                                    "stat"
                                    "emen"
                                    "t: "
                                    "sele"
                                    "ct"
                                    "\n" HOST("7") "[5-2] #011$1,\n" HOST("8") "[3-2]  2\n" HOST(
                                        "7") "[5-3]  $2\n"
                                             "May  1 12:00:00 host cron[5]: (root) CMD\n" HOST(
                                                 "7") "[5-4] user=u,db=d DETAIL:  parameters: $1 = "
                                                      "'1', $2 = 'x\n" HOST("7") "[5-5] #011y'\n",
                  "syslog, prefix '%quser=%u,db=%d '",
                  "7: select\\n$1, $2 [1, x\\ny]\n8: select 2\n");
    expect_format("<134>1 2026-11-30T02:21:31.845Z host postgres 77 - - [5-1] LOG:  duration: 0.1 "
                  "ms  statement: select 1\n"
                  "<134>1 2026-11-30T02:21:31.845Z host postgres 77 - - [6-1] LOG:  duration: 0.1 "
                  "ms  statement: select 2\n",
                  "syslog, prefix ''", "77: select 1\n77: select 2\n");
    expect_format("2026-11-30T02:21:31.845+01:00 host postgres[77]: u@d LOG:  duration: 0.1 ms  "
                  "statement: select\n"
                  "2026-11-30T02:21:31.845+01:00 host postgres[77]: #0111\n",
                  "syslog, prefix '%q%u@%d '", "77: select\\n1\n");
}

#define CSV_HEAD(pid)                                                                              \
    "2026-11-30 02:21:32.034 UTC,\"u\",\"d\"," pid ",\"[local]\",6b0c." pid                        \
    ",3,\"SELECT\",2026-11-30 02:21:32 UTC,3/0,0,"
#define CSV(pid, rest, tail) CSV_HEAD(pid) rest tail "\n"

static void csv_columns(void **state)
{
    (void)state;
    for (int version = 0; version < 4; version++) {
        static const char *const tails[] = {
            ",,,,,,,,\"app\"",                       /* 12 and before: 23 */
            ",,,,,,,,\"app\",\"client backend\"",    /* 13: 24 */
            ",,,,,,,,\"app\",\"client backend\",,0", /* 14: 26 */
            ",,,,,,,,\"app\",\"client backend\",,0,new,columns",
        };
        char text[2048];
        snprintf(
            text, sizeof text, "%s%s%s\n%s%s%s\n", CSV_HEAD("1"),
            "LOG,00000,\"duration: 0.1 ms  execute a: select \"\"x\"\",\n$1\",\"parameters: $1 "
            "= 'a,\"\"b'\"",
            tails[version], CSV_HEAD("1"), "LOG,00000,\"duration: 0.1 ms  statement: select 2\",",
            tails[version]);
        expect_format(text, "csvlog", "6b0c.1: select \"x\",\\n$1 [a,\"b]\n6b0c.1: select 2\n");
    }
}

static void csv_quoted_times(void **state)
{
    (void)state;
    expect_format(
        "\"2026-05-16 05:11:50.269 UTC\",\"u\",\"d\",1001,\"192.0.2.10:54321\",0001.03e9,1,"
        "\"SELECT\",\"2026-05-16 05:00:00 UTC\",1/1,0,LOG,00000,\"duration: 6.2 ms  execute "
        "a/b: select\n1\",,,,,,,,,\"app\",\"client backend\",0\n",
        "csvlog", "0001.03e9: select\\n1\n");
}

static void csv_cut_record(void **state)
{
    (void)state; /* a crash in the middle of a record must not swallow the rest */
    const char *text =
        CSV("1", "LOG,00000,\"duration: 0.1 ms  statement: select 1\",", ",,,,,,,,\"app\"")
            CSV_HEAD("1") "LOG,00000,\"duration: 0.1 ms  statement: sel\n" CSV(
                "2", "LOG,00000,\"duration: 0.1 ms  statement: select 2\",", ",,,,,,,,\"app\"")
                CSV("2", "LOG,00000,\"duration: 0.1 ms  statement: select 3\",", ",,,,,,,,\"app\"");
    struct trace_text t = trace_text_read(text, 0, NULL);
    assert_string_equal(t.out, "6b0c.1: select 1\n6b0c.2: select 2\n6b0c.2: select 3\n");
    assert_int_equal(t.counters.entries_bad, 1);
    trace_text_free(&t);
}

static void csv_error_query(void **state)
{
    (void)state;
    struct trace_text t =
        trace_text_read(CSV("1", "LOG,00000,\"statement: select x\",", ",,,,,,,,\"app\"")
                            CSV("1", "ERROR,42703,\"no x\",", ",,,,,\"select x\",8,,\"app\""),
                        0, NULL);
    assert_string_equal(t.out, "");
    assert_int_equal(t.counters.statements_failed, 1);
    trace_text_free(&t);
}

#define JSON(rest)                                                                                 \
    "{\"timestamp\":\"2026-11-30 02:21:32.034 UTC\",\"user\":\"u\",\"dbname\":\"d\","              \
    "\"pid\":7,\"session_id\":\"6b0c.7\",\"line_num\":1,\"vxid\":\"3/0\",\"txid\":0," rest "}\n"

static void json_escapes(void **state)
{
    (void)state;
    expect_format(
        JSON("\"error_severity\":\"LOG\",\"message\":\"duration: 0.1 ms  execute a: select "
             "\\\"\\u00e9\\ud83d\\ude00\\n\\/\\\\\\\" $1\",\"detail\":\"parameters: $1 = '\\t'\"")
            JSON(
                "\"error_severity\":\"LOG\",\"message\":\"duration: 0.1 ms  statement: select 2\""),
        "jsonlog", "6b0c.7: select \"\xc3\xa9\xf0\x9f\x98\x80\\n/\\\" $1 [\t]\n6b0c.7: select 2\n");
}

static void json_broken_lines(void **state)
{
    (void)state;
    struct trace_text t = trace_text_read(
        JSON("\"error_severity\":\"LOG\",\"message\":\"duration: 0.1 ms  statement: select "
             "1\"") "{\"timestamp\":\"2026\n{\"a\":[1]}\nnonsense\n" JSON("\"error_severity\":"
                                                                          "\"PROTOKOLL\","
                                                                          "\"message\":\"x\"")
            JSON("\"error_severity\":\"LOG\",\"message\":\"duration: 0.1 ms  statement: "
                 "select 2\""),
        0, NULL);
    assert_string_equal(t.out, "6b0c.7: select 1\n6b0c.7: select 2\n");
    assert_int_equal(t.counters.entries_bad, 4);
    trace_text_free(&t);
}

static void localized_severity(void **state)
{
    (void)state;
    struct trace_text t =
        trace_text_read("2026-11-30 02:21:31.845 UTC [77] " SELECT_1
                        "2026-11-30 02:21:31.845 UTC [77] FEHLER:  gibt es nicht\n\tgar nicht\n"
                        "2026-11-30 02:21:31.845 UTC [77] " SELECT_1,
                        0, NULL);
    assert_string_equal(t.out, "77: select 1\n77: select 1\n");
    assert_int_equal(t.counters.entries_bad, 1);
    trace_text_free(&t);
}

static char *file_name(const char *path)
{
    static char name[64];
    snprintf(name, sizeof name, "%s", path);
    return name;
}

static void plain_sql(void **state)
{
    (void)state;
    const char *text = "-- a dump; really\n\\connect x\nset a = 1; select ';';\nbegin;\n"
                       "insert into t\n  values (1);\ncommit;\n"
                       "COPY t (a) FROM stdin;\n1\tit's\n2;\n\\.\nselect 2; select 3";
    char *path = trace_text_file(text, strlen(text));
    struct trace_text t = trace_text_files((const char *const *)&path, 1, NULL);
    char expected[1024];
    const char *n = file_name(path);
    snprintf(expected, sizeof expected,
             "%s: set a = 1\n%s: select ';'\n%s: insert into t\\n  values (1)\n"
             "%s: COPY t (a) FROM stdin\n%s: select 2\n%s: select 3\n",
             n, n, n, n, n, n);
    assert_string_equal(t.out, expected);
    assert_string_equal(t.describe, "SQL");
    assert_int_equal(t.counters.lines_passed, 5);
    assert_int_equal(t.counters.transactions_autocommit, 5);
    trace_text_free(&t);
    unlink(path);
    free(path);
}

static void unbalanced_quote(void **state)
{
    (void)state;
    struct trace_text t = trace_text_read("select 1;\nselect 'open;\nselect 2;\n", 0, NULL);
    assert_int_equal(t.counters.statements_kept, 1);
    assert_int_equal(t.counters.entries_bad, 1);
    trace_text_free(&t);
}

static void nothing_fits(void **state)
{
    (void)state;
    static const char noise[] = "\x7f\x45LF\0\x01\x02\x03 binary \xff\xfe\n\0\0\0";
    struct trace_text t = trace_text_read(noise, sizeof noise, NULL);
    assert_int_equal(t.status, CLEAVE_BAD_INPUT);
    assert_non_null(strstr(t.message, "tried csvlog, jsonlog, stderr"));
    trace_text_free(&t);
    t = trace_text_read("Dear diary,\ntoday I sharded a database.\n", 0, NULL);
    assert_int_equal(t.status, CLEAVE_BAD_INPUT);
    trace_text_free(&t);
    /* UTF-16 */
    t = trace_text_read("\xff\xfes\0e\0l\0e\0c\0t\0 \0"
                        "1\0;\0\n\0",
                        20, NULL);
    assert_int_equal(t.status, CLEAVE_BAD_INPUT);
    trace_text_free(&t);
}

static void no_such_files(void **state)
{
    (void)state;
    const char *const missing[] = {"no-such-file.log"}, *const directory[] = {"."};
    struct trace_text t = trace_text_files(missing, 1, NULL);
    assert_int_equal(t.status, CLEAVE_NOT_FOUND);
    assert_non_null(strstr(t.message, "no-such-file.log"));
    trace_text_free(&t);
    t = trace_text_files(directory, 1, NULL);
    assert_int_equal(t.status, CLEAVE_BAD_INPUT);
    trace_text_free(&t);
    t = trace_text_files(NULL, 0, NULL);
    assert_int_equal(t.status, CLEAVE_BAD_ARGUMENT);
    trace_text_free(&t);
}

static void empty_files(void **state)
{
    (void)state;
    struct trace_text t = trace_text_read("\n", 0, NULL);
    assert_int_equal(t.status, CLEAVE_END);
    assert_string_equal(t.out, "");
    trace_text_free(&t);
    char *path = trace_text_file("", 0);
    char *second = trace_text_file("2026-11-30 02:21:31.845 UTC [77] " SELECT_1, 76);
    const char *const both[] = {path, second};
    t = trace_text_files(both, 2, NULL);
    assert_string_equal(t.out, "77: select 1\n");
    trace_text_free(&t);
    t = trace_text_files(both, 1, NULL);
    assert_int_equal(t.status, CLEAVE_END);
    trace_text_free(&t);
    unlink(path);
    unlink(second);
    free(path);
    free(second);
}

static void rotation(void **state)
{
    (void)state; /* a session goes on in the next file, and the log's end ends it */
    const char *a = "2026-11-30 02:21:31.845 UTC [77] LOG:  duration: 0.1 ms  statement: begin\n"
                    "2026-11-30 02:21:31.845 UTC [77] " SELECT_1,
               *b = "2026-11-30 02:21:31.845 UTC [77] LOG:  duration: 0.1 ms  statement: commit\n";
    char *first = trace_text_file(a, strlen(a)), *second = trace_text_file(b, strlen(b));
    const char *const both[] = {first, second, "no-such-file"};
    struct trace_text t = trace_text_files(both, 2, NULL);
    assert_string_equal(t.out, "77: select 1\n");
    trace_text_free(&t);
    t = trace_text_files(both, 3, NULL); /* told when its turn comes */
    assert_int_equal(t.status, CLEAVE_NOT_FOUND);
    trace_text_free(&t);
    unlink(first);
    unlink(second);
    free(first);
    free(second);
}

static void enormous_line(void **state)
{
    (void)state;
    static const char head[] =
        "2026-11-30 02:21:31.845 UTC [77] LOG:  duration: 0.1 ms  statement: ";
    size_t size = (size_t)100 << 20;
    char *text = malloc(size + 1024);
    assert_non_null(text);
    memset(text, 'x', size);
    memcpy(text, head, sizeof head - 1);
    text[size] = '\n';
    size++;
    size += (size_t)sprintf(text + size, "%sselect 1\n", head);
    struct trace_text t = trace_text_read(text, size, NULL);
    assert_int_equal(t.status, CLEAVE_END);
    assert_string_equal(t.out, "77: select 1\n");
    assert_int_equal(t.counters.statements_oversized, 1);
    trace_text_free(&t);
    free(text);
}

static void nul_bytes(void **state)
{
    (void)state;
    char text[] = "2026-11-30 02:21:31.845 UTC [77] LOG:  duration: 0.1 ms  statement: select '#'\n"
                  "2026-11-30 02:21:31.845 UTC [77] " SELECT_1;
    size_t size = sizeof text - 1;
    *strchr(text, '#') = 0;
    struct trace_text t = trace_text_read(text, size, NULL);
    assert_int_equal(t.status, CLEAVE_END);
    assert_int_equal(t.counters.statements_kept, 2);
    trace_text_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefixes_guessed),   cmocka_unit_test(prefix_given),
        cmocka_unit_test(line_ends),          cmocka_unit_test(through_syslog),
        cmocka_unit_test(csv_columns),        cmocka_unit_test(csv_quoted_times),
        cmocka_unit_test(csv_cut_record),     cmocka_unit_test(csv_error_query),
        cmocka_unit_test(json_escapes),       cmocka_unit_test(json_broken_lines),
        cmocka_unit_test(localized_severity), cmocka_unit_test(plain_sql),
        cmocka_unit_test(unbalanced_quote),   cmocka_unit_test(nothing_fits),
        cmocka_unit_test(no_such_files),      cmocka_unit_test(empty_files),
        cmocka_unit_test(rotation),           cmocka_unit_test(enormous_line),
        cmocka_unit_test(nul_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
