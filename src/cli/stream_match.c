/* cleave stream match: a filter in a shell pipe. Queries from a file, objects as they come, what
 * matches at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/stream_match.h"

enum { KEY_MATCHER = 0x5000, KEY_FIELDS, KEY_TTL, KEY_THINGS_MOST, KEY_CHECK, KEY_ARRIVAL };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Matching:", 4},
    {"fields", KEY_FIELDS, "COLUMNS", 0, "Of an object, to print instead of its whole row", 4},
    {"matcher", KEY_MATCHER, "NAME", 0, "index, cells or scan (index): the same answers", 4},
    {"check", KEY_CHECK, NULL, 0,
     "Answer everything again by brute force; a difference is a failure", 4},
    {"ttl-s", KEY_TTL, "X", 0, "Things silent for so long leave every query (never)", 4},
    {"things-most", KEY_THINGS_MOST, "N", 0,
     "Things that are inside of something, at most (10000000); past it the one silent for longest "
     "leaves",
     4},
    {"arrival-time", KEY_ARRIVAL, NULL, 0, "Objects have the time at which they come", 4},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct cleave_match_arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->space;
        state->child_inputs[1] = &a->files;
        state->child_inputs[2] = &a->common;
        return 0;
    case KEY_FIELDS:
        a->fields = value;
        return 0;
    case KEY_MATCHER:
        a->matcher = cleave__stream_matcher(state, value);
        return 0;
    case KEY_CHECK:
        a->check = true;
        return 0;
    case KEY_TTL:
        a->ttl_ms = (uint64_t)(1000 * cleave__option_real(state, "--ttl-s", value, 0.001, 1e12));
        return 0;
    case KEY_THINGS_MOST:
        a->things_most =
            (uint32_t)cleave__option_integer(state, "--things-most", value, 1, 1 << 30);
        return 0;
    case KEY_ARRIVAL:
        a->arrival = true;
        return 0;
    case ARGP_KEY_ARG:
        if (a->files.objects)
            argp_error(state, "objects come from one file; '%s' is one more", value);
        a->files.objects = value;
        return 0;
    case ARGP_KEY_END:
        if (!a->files.queries)
            argp_error(state, "which queries? --queries FILE");
        if (!a->files.objects)
            a->files.objects = "-";
        if (!strcmp(a->files.objects, "-") && !strcmp(a->files.queries, "-"))
            argp_error(state, "objects and queries cannot both come from standard input");
        if (a->common.csv)
            argp_error(state, "--csv: output is tab-separated, or with --json an object a line");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cleave__command_stream_match(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cleave__stream_space_argp, 0, NULL, 0},
                                                 {&cleave__stream_files_argp, 0, NULL, 0},
                                                 {&cleave__options_argp, 0, "Common:", 9},
                                                 {0}};
    static const struct argp argp = {
        options,
        parse,
        "[OBJECTS]",
        "Prints objects with the standing queries that they match, as they come: tab-separated "
        "event, "
        "query and object, or with --json an object a line. See docs/stream.md.",
        children,
        NULL,
        NULL};
    struct cleave_match_arguments a = {.common = CLEAVE_OPTIONS_DEFAULT,
                                       .matcher = &cleave__matcher_index,
                                       .things_most = 10000000};
    cleave__stream_space_default(&a.space, CLEAVE__GLOBE);
    cleave__options_parse(&argp, argc, argv, &a);
    struct cleave_error error;
    struct cleave_terminal terminal;
    cleave__interrupt_catch();
    cleave__terminal_init(&terminal, a.common.quiet);
    signal(SIGPIPE, SIG_IGN); /* a reader that has had enough ends us like an end of input */
    struct cleave_match_run *run = calloc(1, sizeof *run);
    enum cleave_status status = CLEAVE_OK;
    if (run) {
        run->arguments = &a;
        run->progress = &terminal.progress;
        status = cleave__match_run(run, &terminal, &error);
        if (!status && run->closed)
            status = cleave__row_output_closed(run->closed_by, &error);
        cleave__match_free(run);
    } else {
        status = cleave_error_set(&error, CLEAVE_NO_MEMORY, "no memory for matching");
    }
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}
