/* One line on standard error, redrawn at most ten times a second; and the flag that Ctrl-C sets.
 * The flag is the only mutable global of the command: a signal handler can reach nothing else. */
#include "cli/progress.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

enum { REDRAW_MS = 100 };

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

void cleave__interrupt_catch(void)
{
    /* No SA_RESTART: a read that waits for input ends. */
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    struct sigaction old;
    if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
}

void cleave__terminate_catch(void)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
}

static void end_at_once(int signal_number)
{
    static const char line[] = "cleave: stopped\n";
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)written;
    raise(signal_number); /* its action is the default again: SA_RESETHAND */
}

void cleave__interrupt_release(void)
{
    struct sigaction action = {.sa_handler = end_at_once, .sa_flags = (int)SA_RESETHAND}, now;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == on_interrupt)
        sigaction(SIGINT, &action, NULL);
}

static int terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

static void draw(void *context, const char *stage, uint64_t done, uint64_t total)
{
    struct cleave_terminal *terminal = context;
    uint64_t now = cleave__clock_ms();
    if (terminal->drawn && now - terminal->last_ms < REDRAW_MS)
        return;
    char line[200];
    if (total)
        snprintf(line, sizeof line, "%s: %.0f %%", stage,
                 100.0 * (double)(done < total ? done : total) / (double)total);
    else
        snprintf(line, sizeof line, "%s: %llu", stage, (unsigned long long)done);
    fprintf(stderr, "\r\033[K%.*s", terminal_width() - 1, line);
    fflush(stderr);
    terminal->drawn = true;
    terminal->last_ms = now;
}

void cleave__terminal_init(struct cleave_terminal *terminal, bool quiet)
{
    *terminal = (struct cleave_terminal){.progress = {.context = terminal, .stop = &interrupted}};
    if (!quiet && isatty(STDERR_FILENO))
        terminal->progress.report = draw;
}

void cleave__terminal_clear(struct cleave_terminal *terminal)
{
    if (terminal->drawn)
        fputs("\r\033[K", stderr);
    terminal->drawn = false;
}
