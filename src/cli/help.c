/* Finding the command that the words name; help, version, and what was perhaps meant. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"

static void print_rows(FILE *out, const struct cleave_command *commands, int indent)
{
    for (const struct cleave_command *c = commands; c->name; c++) {
        fprintf(out, "%*s%-*s %s\n", indent, "", 18 - indent, c->name, c->summary);
        if (c->sub)
            print_rows(out, c->sub, indent + 2);
    }
}

void cleave__help_print(FILE *out, const char *name, const struct cleave_command *commands)
{
    fprintf(out,
            "Usage: %s COMMAND [OPTION...] [ARGUMENT...]\n"
            "cleave decides where data should live in a sharded system, from its workload.\n\n"
            "Commands:\n",
            name);
    print_rows(out, commands, 2);
    fprintf(out,
            "\n`%s COMMAND --help` tells a command's options.\n"
            "Exit status: 0 done; 1 bad input or failed; 2 wrong usage; 130 interrupted.\n",
            name);
}

/* Edits (insert, delete, change, swap of neighbours) between two short words; `limit` when past it
 * or a word is too long to matter. */
static unsigned distance(const char *a, const char *b, unsigned limit)
{
    enum { LONGEST = 32 };
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return limit;
    unsigned cost[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            unsigned best;
            if (i == 0 || j == 0) {
                cost[i][j] = (unsigned)(i + j);
                continue;
            }
            best = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (cost[i - 1][j] + 1 < best)
                best = cost[i - 1][j] + 1;
            if (cost[i][j - 1] + 1 < best)
                best = cost[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                cost[i - 2][j - 2] + 1 < best)
                best = cost[i - 2][j - 2] + 1;
            cost[i][j] = best;
        }
    }
    return cost[n][m] < limit ? cost[n][m] : limit;
}

const char *cleave__help_suggest(const char *name, const char *word,
                                 const struct cleave_command *commands, char *buffer, size_t size)
{
    const struct cleave_command *nearest = NULL, *group = NULL;
    unsigned least = (unsigned)(strlen(word) / 3 + 2);
    for (const struct cleave_command *c = commands; c->name; c++) {
        unsigned far = distance(word, c->name, least);
        if (far < least) {
            least = far;
            nearest = c;
            group = NULL;
        }
        for (const struct cleave_command *s = c->sub; s && s->name; s++) {
            far = distance(word, s->name, least);
            if (far < least) {
                least = far;
                nearest = s;
                group = c;
            }
        }
    }
    if (!nearest)
        return NULL;
    snprintf(buffer, size, "%s %s%s%s", name, group ? group->name : "", group ? " " : "",
             nearest->name);
    return buffer;
}

static int print_version(void)
{
    printf("cleave %s\n", CLEAVE_VERSION);
    return CLEAVE_EXIT_OK;
}

static int dispatch(int argc, char **argv, const char *name, const struct cleave_command *commands)
{
    if (argc < 2) {
        cleave__help_print(stderr, name, commands);
        return CLEAVE_EXIT_USAGE;
    }
    char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "-?") == 0) {
        cleave__help_print(stdout, name, commands);
        return CLEAVE_EXIT_OK;
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        return print_version();
    char whole[200], meant[200];
    for (const struct cleave_command *c = commands; c->name; c++) {
        if (strcmp(word, c->name) != 0)
            continue;
        snprintf(whole, sizeof whole, "%s %s", name, c->name);
        if (c->sub)
            return dispatch(argc - 1, argv + 1, whole, c->sub);
        argv[1] = whole;
        return c->run(argc - 1, argv + 1);
    }
    struct cleave_error shown; /* a word from outside may hold anything: made printable here */
    cleave_error_set(&shown, CLEAVE_BAD_ARGUMENT, "no %s '%.100s'",
                     word[0] == '-' ? "option" : "command", word);
    if (cleave__help_suggest(name, word, commands, meant, sizeof meant))
        fprintf(stderr, "cleave: %s; did you mean '%s'?\n", shown.message, meant);
    else
        fprintf(stderr, "cleave: %s; see '%s --help'\n", shown.message, name);
    return CLEAVE_EXIT_USAGE;
}

/* `cleave help tables compare` is `cleave tables compare --help`. */
static int dispatch_help(int argc, char **argv, const struct cleave_command *commands)
{
    char **moved = calloc((size_t)argc + 1, sizeof *moved);
    if (!moved) {
        fputs("cleave: out of memory\n", stderr);
        return CLEAVE_EXIT_FAILED;
    }
    moved[0] = argv[0];
    for (int i = 2; i < argc; i++)
        moved[i - 1] = argv[i];
    char help[] = "--help";
    moved[argc - 1] = help;
    int status = dispatch(argc, moved, "cleave", commands);
    free(moved);
    return status;
}

int cleave__command_dispatch(int argc, char **argv, const struct cleave_command *commands)
{
    if (argc >= 2 && strcmp(argv[1], "help") == 0)
        return dispatch_help(argc, argv, commands);
    return dispatch(argc, argv, "cleave", commands);
}

/* What comes from input is in it: no control characters, and UTF-8. */
static void put_escaped(const char *text, FILE *to)
{
    for (size_t left = strlen(text); left;) {
        uint32_t length = cleave__utf8_length(text, left);
        unsigned char first = (unsigned char)text[0], second = (unsigned char)text[1];
        bool control = first < 0x20 || first == 0x7f || (first == 0xc2 && second < 0xa0);
        if (length && !control)
            fwrite(text, 1, length, to);
        else
            fprintf(to, "\\x%02x", first);
        length = length && !control ? length : 1;
        text += length;
        left -= length;
    }
}

int cleave__command_fail(const struct cleave_error *error)
{
    fputs("cleave: ", stderr);
    put_escaped(error->message[0] ? error->message : cleave_status_name(error->status), stderr);
    fputc('\n', stderr);
    switch (error->status) {
    case CLEAVE_BAD_ARGUMENT:
        return CLEAVE_EXIT_USAGE;
    case CLEAVE_INTERRUPTED:
        return CLEAVE_EXIT_INTERRUPTED;
    default:
        return CLEAVE_EXIT_FAILED;
    }
}
