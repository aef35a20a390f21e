/* What the `cleave graph` subcommands share: naming a graph, a workload and placements by options.
 *
 * Most options are sweeps (cli/sweep.h); commands that do one thing refuse more than one value. */
#ifndef CLEAVE_CLI_GRAPH_H
#define CLEAVE_CLI_GRAPH_H

#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/sweep.h"
#include "graph/compare/compare.h"
#include "graph/source/generate.h"

enum { CLEAVE_PLACEMENTS_MAX = 64, CLEAVE_EXECUTORS_MAX = 8 };

/* Those up to SEED make the graph; a change in one of them makes it anew. */
enum cleave_graph_axis {
    CLEAVE_AXIS_USERS,
    CLEAVE_AXIS_COMMUNITIES,
    CLEAVE_AXIS_DEGREE,
    CLEAVE_AXIS_LOCAL,
    CLEAVE_AXIS_SIZES,
    CLEAVE_AXIS_HUBS,
    CLEAVE_AXIS_TO_HUBS,
    CLEAVE_AXIS_MIXING,
    CLEAVE_AXIS_SEED,
    CLEAVE_AXIS_SHARDS,
    CLEAVE_AXIS_BALANCE,
    CLEAVE_AXIS_EPSILON,
    CLEAVE_AXIS_HOPS,
    CLEAVE_AXIS_LIMIT,
    CLEAVE_AXIS_QUERIES,
    CLEAVE_AXIS_TRAIN,
    CLEAVE_GRAPH_AXES
};

struct cleave_graph_arguments {
    struct cleave_options common;
    bool sweeps; /* set by the command: options may have several values */
    bool seeds;  /* --seeds was given */
    const char *edges, *labels;
    bool undirected;
    const struct cleave__generator *generator;
    struct cleave_sweep axis[CLEAVE_GRAPH_AXES];
    const char *placements[CLEAVE_PLACEMENTS_MAX];
    uint32_t placement_count;
    const struct cleave__executor *executors[CLEAVE_EXECUTORS_MAX];
    uint32_t executor_count;
    bool exactly, top, has_degree, has_id;
    const char *target_label;
    uint64_t degree_low, degree_high, id_low, id_high;
    enum cleave_preset preset;
    uint32_t starts, threads;
};

/* `arguments` is all zeroes but `common`; every option gets its default. */
void cleave__graph_defaults(struct cleave_graph_arguments *arguments);

/* --edges, --labels, --generate, ...; --hops, --limit, ...; --shards, --placements, .... The input
 * of each is a struct cleave_graph_arguments; `_source` comes first, `_made` is its part without
 * files. */
extern const struct argp cleave__graph_source_argp, cleave__graph_made_argp,
    cleave__graph_query_argp, cleave__graph_place_argp, cleave__graph_executor_argp,
    cleave__graph_queries_argp;

/* After parsing: the seed that --seed gave, where --seeds gave none. */
void cleave__graph_settle(struct cleave_graph_arguments *arguments);
uint64_t cleave__graph_now(const struct cleave_graph_arguments *arguments,
                           enum cleave_graph_axis axis);

/* The options of generators as they are now. */
enum cleave_status cleave__graph_generate_options(const struct cleave_graph_arguments *arguments,
                                                  const struct cleave_progress *progress,
                                                  struct cleave__generate_options *out,
                                                  struct cleave_error *error);
/* Reads or generates the graph, labels included. The caller frees. */
enum cleave_status cleave__graph_open(const struct cleave_graph_arguments *arguments,
                                      const struct cleave_progress *progress,
                                      struct cleave__graph **out, struct cleave_error *error);
/* Calls `point` for every combination of the swept options, the graph opened anew only where they
 * change it. Ends at the first failure. */
enum cleave_status cleave__graph_sweep(
    struct cleave_graph_arguments *arguments, const struct cleave_progress *progress,
    enum cleave_status (*point)(void *context, const struct cleave__graph *graph,
                                const struct cleave_progress *progress, struct cleave_error *error),
    void *context, struct cleave_error *error);
/* The query that the options tell, its source apart. */
enum cleave_status cleave__graph_query_of(const struct cleave_graph_arguments *arguments,
                                          const struct cleave__graph *graph,
                                          struct cleave__query *out, struct cleave_error *error);
/* "vertices+reads" as a set; CLEAVE_BAD_ARGUMENT. */
enum cleave_status cleave__graph_balance_of(const char *text, unsigned *out,
                                            struct cleave_error *error);
/* Everything that a comparison needs at this point; borrows the arguments. */
enum cleave_status cleave__graph_plan_of(const struct cleave_graph_arguments *arguments,
                                         const struct cleave__graph *graph,
                                         const struct cleave_progress *progress,
                                         struct cleave__graph_plan *out,
                                         struct cleave_error *error);

#endif
