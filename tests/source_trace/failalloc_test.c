/* Every allocation made to fail in turn, in every format: an error or an answer, never a leak. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/failalloc.h"
#include "tables/source/trace.h"
#include "trace_text.h"

static bool attempt(void *context)
{
    const char *path = context;
    struct cleave_trace_options options = {.database = "d", .user = "u"};
    struct cleave_trace *trace = NULL;
    struct cleave_error error = {0};
    enum cleave_status status = cleave__trace_open(&path, 1, &options, &trace, &error);
    struct cleave_trace_transaction x;
    while (!status)
        status = cleave__trace_next(trace, &x, &error);
    cleave__trace_close(trace);
    return status == CLEAVE_END || status == CLEAVE_NO_MEMORY || status == CLEAVE_BAD_INPUT;
}

#define LINE(rest) "2026-11-30 02:21:31.845 UTC [1] u@d " rest "\n"
#define CSV                                                                                        \
    "2026-11-30 02:21:32.034 UTC,\"u\",\"d\",1,\"[local]\",6b0c.1,3,\"SELECT\",2026-11-30 "        \
    "02:21:32 UTC,3/0,0,"
#define JSON                                                                                       \
    "{\"timestamp\":\"2026\",\"session_id\":\"6b0c.7\",\"dbname\":\"d\",\"user\":\"u\",\"error_"   \
    "severity\":\"LOG\",\"message\":"

static const char *const texts[] = {
    LINE("LOG:  duration: 0.1 ms  statement: begin; select 1; prepare q(int) as select $1")
        LINE("LOG:  duration: 0.1 ms  statement: execute q(5)")
            LINE("LOG:  duration: 0.1 ms  execute a: select $1, $2")
                LINE("DETAIL:  parameters: $1 = 'x', $2 = NULL")
                    LINE("LOG:  duration: 0.1 ms  statement: prepare transaction 'a'")
                        LINE("LOG:  statement: select\n\t2") LINE("ERROR:  x")
                            LINE("STATEMENT:  select\n\t2") LINE("LOG:  statement: select 3"),
    CSV "LOG,00000,\"duration: 0.1 ms  statement: select\n1; select 2\",,,,,,,,,\"app\"\n" CSV
        "LOG,00000,\"statement: select\n1; select 2\",,,,,,,,,\"app\"\n",
    JSON "\"duration: 0.1 ms  statement: select \\\"1\\\"\"}\n",
    "begin; select 1;\nselect\n2; commit;\nselect 3;\n",
    "1\tselect 1\n1\tupdate t\n2\tselect 1\n1\tselect 2\n1\tselect 3\n",
};

static void every_allocation(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *name = trace_text_file(texts[i], strlen(texts[i]));
        assert_true(failalloc_run("trace", attempt, name, 1));
        unlink(name);
        free(name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
