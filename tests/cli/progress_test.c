/* Progress is drawn on a terminal only, rarely, on one line; the first Ctrl-C asks to stop. */
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/progress.h"

static void silent_without_a_terminal(void **state)
{
    (void)state;
    int saved = dup(STDERR_FILENO);
    assert_non_null(freopen("/dev/null", "w", stderr));
    struct cleave_terminal terminal;
    cleave__terminal_init(&terminal, false);
    assert_null(terminal.progress.report);
    assert_non_null(terminal.progress.stop);
    cleave__terminal_clear(&terminal);
    dup2(saved, STDERR_FILENO);
    close(saved);
}

/* What a child with a terminal of 40 columns writes. */
static void on_terminal(void (*work)(struct cleave_terminal *), bool quiet, char *text, size_t size)
{
    struct winsize narrow = {.ws_row = 24, .ws_col = 40};
    int master;
    fflush(NULL);
    pid_t child = forkpty(&master, NULL, NULL, &narrow);
    assert_true(child >= 0);
    if (child == 0) {
        struct cleave_terminal terminal;
        cleave__terminal_init(&terminal, quiet);
        work(&terminal);
        cleave__terminal_clear(&terminal);
        fputs("end\n", stderr);
        _exit(0);
    }
    size_t length = 0;
    ssize_t got;
    while (length < size - 1 && (got = read(master, text + length, size - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = 0;
    close(master);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void report_often(struct cleave_terminal *terminal)
{
    if (!terminal->progress.report)
        return;
    for (unsigned i = 0; i < 10000; i++)
        terminal->progress.report(terminal->progress.context,
                                  "reading a file whose name is longer than the terminal is wide",
                                  i, 10000);
}

static void draws_one_line_rarely(void **state)
{
    (void)state;
    char text[20000];
    on_terminal(report_often, false, text, sizeof text);
    unsigned drawn = 0;
    for (const char *at = text; (at = strstr(at, "\r\033[K")) != NULL; at += 4) {
        drawn++;
        assert_true(strcspn(at + 4, "\r\n") < 40);
    }
    assert_in_range(drawn, 2, 60);
    assert_non_null(strstr(text, "reading a file"));
    assert_non_null(strstr(text, "\r\033[Kend"));
    assert_null(strstr(text, "\n\r\033[K"));
    on_terminal(report_often, true, text, sizeof text);
    assert_string_equal(text, "end\r\n");
}

static void interrupt_asks_then_kills(void **state)
{
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGINT, SIG_DFL);
        cleave__interrupt_catch();
        struct cleave_terminal terminal;
        cleave__terminal_init(&terminal, true);
        if (*terminal.progress.stop)
            _exit(1);
        raise(SIGINT);
        if (!*terminal.progress.stop)
            _exit(2);
        raise(SIGINT);
        _exit(3);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);

    child = fork(); /* started with SIGINT ignored (nohup, a script's background): it stays so */
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGINT, SIG_IGN);
        cleave__interrupt_catch();
        raise(SIGINT);
        struct cleave_terminal terminal;
        cleave__terminal_init(&terminal, true);
        _exit(*terminal.progress.stop ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silent_without_a_terminal),
        cmocka_unit_test(draws_one_line_rarely),
        cmocka_unit_test(interrupt_asks_then_kills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
