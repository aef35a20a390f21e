/* Dispatch, suggestions and option values, over a small table of commands of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/command.h"
#include "cli/options.h"

static int ran;
static char ran_as[100];

static int run_route(int argc, char **argv)
{
    ran = argc;
    snprintf(ran_as, sizeof ran_as, "%s", argv[0]);
    return 7;
}

static const struct cleave_command in_tables[] = {
    {"compare", "compares", run_route, NULL}, {"route", "routes", run_route, NULL}, {0}};
static const struct cleave_command all[] = {
    {"tables", "tables", NULL, in_tables}, {"partition", "partitions", run_route, NULL}, {0}};

static void runs_the_named_command(void **state)
{
    (void)state;
    char *words[] = {"cleave", "tables", "route", "P", "--json", NULL};
    assert_int_equal(cleave__command_dispatch(5, words, all), 7);
    assert_int_equal(ran, 3);
    assert_string_equal(ran_as, "cleave tables route");
    char *alone[] = {"cleave", "partition", NULL};
    assert_int_equal(cleave__command_dispatch(2, alone, all), 7);
    assert_int_equal(ran, 1);
    assert_string_equal(ran_as, "cleave partition");
}

static void suggests(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"tabels", "cleave tables"},
        {"partitoin", "cleave partition"},
        {"compare", "cleave tables compare"},
        {"rotue", "cleave tables route"},
        {"xyzzy", NULL},
        {"", NULL},
        {"an-extremely-long-word-that-is-no-command-at-all", NULL}};
    char buffer[100];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *meant = cleave__help_suggest("cleave", cases[i][0], all, buffer, sizeof buffer);
        if (cases[i][1]) {
            assert_non_null(meant);
            assert_string_equal(meant, cases[i][1]);
        } else {
            assert_null(meant);
        }
    }
}

struct arguments {
    struct cleave_options common;
    int64_t shards;
    double epsilon;
    uint32_t objective;
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    static const char *const objectives[] = {"cut", "km1", NULL};
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->common;
        break;
    case 'k':
        a->shards = cleave__option_integer(state, "--shards", value, 1, 1024);
        break;
    case 'e':
        a->epsilon = cleave__option_real(state, "--epsilon", value, 0, 10);
        break;
    case 'o':
        a->objective = cleave__option_choice(state, "--objective", value, objectives);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_option own[] = {{"shards", 'k', "K", 0, "Shards", 0},
                                         {"epsilon", 'e', "E", 0, "Epsilon", 0},
                                         {"objective", 'o', "WORD", 0, "Objective", 0},
                                         {0}};
static const struct argp_child children[] = {{&cleave__options_argp, 0, "Common:", 9}, {0}};
static const struct argp argp = {own, parse, NULL, "Tests.", children, NULL, NULL};

static void reads_options(void **state)
{
    (void)state;
    struct arguments a = {.common = CLEAVE_OPTIONS_DEFAULT};
    assert_int_equal(a.common.seed, 1);
    char *words[] = {"cleave test", "--json", "-k",   "1024", "--seed=18446744073709551615",
                     "-q",          "-e",     "0.03", "-o",   "km1",
                     NULL};
    cleave__options_parse(&argp, 10, words, &a);
    assert_true(a.common.json && a.common.quiet && !a.common.csv);
    assert_true(a.common.seed == UINT64_MAX);
    assert_int_equal(a.shards, 1024);
    assert_true(a.epsilon == 0.03);
    assert_int_equal(a.objective, 1);
}

/* Exit status of a process that parses these words; what it said in `text`. */
static int status_of(char **words, char *text, size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int count = 0;
        while (words[count])
            count++;
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        struct arguments a = {.common = CLEAVE_OPTIONS_DEFAULT};
        cleave__options_parse(&argp, count, words, &a);
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t got;
    while (length < size - 1 && (got = read(ends[0], text + length, size - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = 0;
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void refuses_senseless_values(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"-k", "0", "from 1 to 1024"},
        {"-k", "1025", "from 1 to 1024"},
        {"-k", "4x", "not '4x'"},
        {"-k", "", "not ''"},
        {"-k", "99999999999999999999", "from 1 to 1024"},
        {"-e", "nan", "from 0 to 10"},
        {"-e", "1e999", "from 0 to 10"},
        {"-e", "-1", "from 0 to 10"},
        {"-o", "soed", "one of cut, km1"},
        {"--seed", "-1", "from 0 to"},
        {"--seed", "18446744073709551616", "from 0 to"},
        {"--json", "--csv", "exclude each other"},
        {"--shards", NULL, "requires an argument"},
        {"--nonsense", NULL, "unrecognized option"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *words[] = {"cleave test", (char *)cases[i][0], (char *)cases[i][1], NULL};
        char text[2000];
        assert_int_equal(status_of(words, text, sizeof text), CLEAVE_EXIT_USAGE);
        assert_non_null(strstr(text, cases[i][2]));
        assert_non_null(strstr(text, "cleave test"));
    }
}

static void statuses_become_exit_codes(void **state)
{
    (void)state;
    struct cleave_error error = {CLEAVE_BAD_ARGUMENT, "a line for the test"};
    assert_int_equal(cleave__command_fail(&error), CLEAVE_EXIT_USAGE);
    error.status = CLEAVE_INTERRUPTED;
    assert_int_equal(cleave__command_fail(&error), CLEAVE_EXIT_INTERRUPTED);
    error.status = CLEAVE_BAD_INPUT;
    assert_int_equal(cleave__command_fail(&error), CLEAVE_EXIT_FAILED);
    error.message[0] = 0;
    assert_int_equal(cleave__command_fail(&error), CLEAVE_EXIT_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_the_named_command),
        cmocka_unit_test(suggests),
        cmocka_unit_test(reads_options),
        cmocka_unit_test(refuses_senseless_values),
        cmocka_unit_test(statuses_become_exit_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
