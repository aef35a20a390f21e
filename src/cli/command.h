/* The `cleave` command is a table of subcommands; each is a thin file over the library.
 *
 * A command parses its options with argp (options.h), calls the library, prints, and returns an
 * exit status. Results go to standard output, everything else to standard error. To add one: write
 * its file, declare it below, add its row in commands.c. */
#ifndef CLEAVE_CLI_COMMAND_H
#define CLEAVE_CLI_COMMAND_H

#include <stdio.h>

#include "cleave/status.h"

enum {
    CLEAVE_EXIT_OK = 0,
    CLEAVE_EXIT_FAILED = 1, /* bad input, no answer, a failed write */
    CLEAVE_EXIT_USAGE = 2,  /* the command line makes no sense */
    CLEAVE_EXIT_INTERRUPTED = 130,
};

/* Either `run` or `sub` is set. `argv[0]` is the whole name ("cleave tables compare"), so that argp
 * prints it. Tables end with a row of zeroes. */
struct cleave_command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
    const struct cleave_command *sub;
};

extern const struct cleave_command cleave__commands[];

int cleave__command_partition(int argc, char **argv);
int cleave__command_cache(int argc, char **argv);
int cleave__command_tables_compare(int argc, char **argv);
int cleave__command_tables_inspect(int argc, char **argv);
int cleave__command_tables_place(int argc, char **argv);
int cleave__command_tables_refine(int argc, char **argv);
int cleave__command_tables_explain(int argc, char **argv);
int cleave__command_tables_route(int argc, char **argv);
int cleave__command_tables_replay(int argc, char **argv);
int cleave__command_tables_recover(int argc, char **argv);
int cleave__command_tables_repartition(int argc, char **argv);
int cleave__command_tables_export(int argc, char **argv);
int cleave__command_tables_generate(int argc, char **argv);
int cleave__command_tables_hypergraph(int argc, char **argv);
int cleave__command_tables_load(int argc, char **argv);
int cleave__command_cluster_up(int argc, char **argv);
int cleave__command_cluster_status(int argc, char **argv);
int cleave__command_cluster_down(int argc, char **argv);
int cleave__command_graph_compare(int argc, char **argv);
int cleave__command_graph_place(int argc, char **argv);
int cleave__command_graph_query(int argc, char **argv);
int cleave__command_graph_stats(int argc, char **argv);
int cleave__command_graph_generate(int argc, char **argv);
int cleave__command_graph_reads(int argc, char **argv);
int cleave__command_graph_run(int argc, char **argv);
int cleave__command_graph_serve(int argc, char **argv);
int cleave__command_stream_compare(int argc, char **argv);
int cleave__command_stream_generate(int argc, char **argv);
int cleave__command_stream_match(int argc, char **argv);
int cleave__command_stream_run(int argc, char **argv);
int cleave__command_stream_serve(int argc, char **argv);
int cleave__command_stream_publish(int argc, char **argv);
int cleave__command_stream_subscribe(int argc, char **argv);

/* Finds and runs the command that `argv` names, help and version included. The exit status. */
int cleave__command_dispatch(int argc, char **argv, const struct cleave_command *commands);

/* `name` is the group ("cleave", "cleave tables"). */
void cleave__help_print(FILE *out, const char *name, const struct cleave_command *commands);
/* The command most like `word`: misspelt here, or the same word in a group. Writes its whole name
 * to `buffer` and returns it; NULL when nothing comes near. */
const char *cleave__help_suggest(const char *name, const char *word,
                                 const struct cleave_command *commands, char *buffer, size_t size);

/* Prints "cleave: message" to standard error; returns the exit status that fits: usage for
 * CLEAVE_BAD_ARGUMENT, interrupted for CLEAVE_INTERRUPTED, else failed. */
int cleave__command_fail(const struct cleave_error *error);

#endif
