/* Inside cleave graph run: its options (graph_run_options.c) and its table (graph_run.c). */
#ifndef CLEAVE_CLI_GRAPH_RUN_H
#define CLEAVE_CLI_GRAPH_RUN_H

#include "cli/graph_far.h"
#include "cli/observe.h"
#include "graph/serve/serve.h"
#include "report/plot.h"
#include "report/report.h"

enum { CLEAVE_RUN_FAULTS_MAX = 256 };

enum cleave_graph_run_axis {
    CLEAVE_RUN_AXIS_CLIENTS,
    CLEAVE_RUN_AXIS_OUTSTANDING,
    CLEAVE_RUN_AXIS_COORDINATORS,
    CLEAVE_RUN_AXIS_CACHE,
    CLEAVE_RUN_AXIS_CAPACITY,
    CLEAVE_RUN_AXIS_REPLICATE,
    CLEAVE_RUN_AXIS_CHANGES,
    CLEAVE_RUN_AXIS_MOVES,
    CLEAVE_RUN_AXES
};

struct cleave_graph_run_arguments {
    struct cleave_graph_arguments graph;
    struct cleave_observe_arguments observe;
    struct cleave_nats_arguments nats; /* told: processes serve the graph, clients are here */
    struct cleave_metrics *metrics;    /* while it runs; may be NULL */
    struct cleave_sweep axis[CLEAVE_RUN_AXES];
    bool threaded, cached, source_past_cache, has_hot;
    uint32_t workers, mailbox_most, warm;
    double hot_users, hot_share;
    struct cleave_distribution delay, service, hit, miss;
    bool split, changing; /* changing: anything changes in some of the runs */
    uint32_t move_most, fault_count;
    uint64_t change_every_ns, manage_every_ns, retry_ns, fault_within_ns;
    struct cleave_fault faults[CLEAVE_RUN_FAULTS_MAX]; /* drawn anew for each run */
    const char *plot;
    uint32_t y; /* enum cleave_graph_run_column */
};

enum cleave_graph_run_column {
    CLEAVE_RUN_PLACEMENT,
    CLEAVE_RUN_EXECUTOR,
    CLEAVE_RUN_SHARDS,
    CLEAVE_RUN_P50,
    CLEAVE_RUN_P99,
    CLEAVE_RUN_P999,
    CLEAVE_RUN_MEAN,
    CLEAVE_RUN_RATE,
    CLEAVE_RUN_HOPS,
    CLEAVE_RUN_REQUESTS,
    CLEAVE_RUN_REMOTE,
    CLEAVE_RUN_READS,
    CLEAVE_RUN_BYTES,
    CLEAVE_RUN_QUEUE,
    CLEAVE_RUN_WAITING,
    CLEAVE_RUN_BUSIEST,
    CLEAVE_RUN_IMBALANCE,
    CLEAVE_RUN_HITS,
    CLEAVE_RUN_CACHE_REQUESTS,
    CLEAVE_RUN_CACHE_MISSES,
    CLEAVE_RUN_INVALIDATIONS,
    CLEAVE_RUN_HOT,
    CLEAVE_RUN_COLD,
    CLEAVE_RUN_CHANGED,
    CLEAVE_RUN_MOVES,
    CLEAVE_RUN_MOVES_GIVEN_UP,
    CLEAVE_RUN_MOVED,
    CLEAVE_RUN_FORWARDED,
    CLEAVE_RUN_COPIED,
    CLEAVE_RUN_COPIED_BYTES,
    CLEAVE_RUN_COPY_READS,
    CLEAVE_RUN_ELSEWHERE,
    CLEAVE_RUN_AMPLIFIED,
    CLEAVE_RUN_AMPLIFIED_BYTES,
    CLEAVE_RUN_CRASHES,
    CLEAVE_RUN_REPEATED,
    CLEAVE_RUN_VERIFIED,
    CLEAVE_RUN_COLUMNS
};
extern const struct cleave_report_column cleave__graph_run_columns[CLEAVE_RUN_COLUMNS];

struct cleave_graph_run {
    struct cleave_graph_run_arguments *a;
    struct cleave_report_column columns[CLEAVE_GRAPH_AXES + CLEAVE_RUN_AXES + CLEAVE_RUN_COLUMNS];
    struct cleave_sweep *swept[CLEAVE_GRAPH_AXES + CLEAVE_RUN_AXES];
    uint32_t swept_count;
    struct cleave_sweep *x_axis; /* NULL: none */
    struct cleave_report report;
    struct cleave_plot plot;
    uint64_t answers;
    bool verified;
    char wrong[400];
};

/* Fills `arguments`, or ends the process. `_release` frees what parsing read. */
void cleave__graph_run_parse(int argc, char **argv, struct cleave_graph_run_arguments *arguments);
void cleave__graph_run_release(struct cleave_graph_run_arguments *arguments);
/* Sources of as many queries as --queries says, malloc'd: by --hot, or user after user. */
enum cleave_status cleave__graph_run_sources(const struct cleave_graph_run_arguments *arguments,
                                             const struct cleave__graph *graph,
                                             const struct cleave__graph_plan *plan, uint32_t **out,
                                             struct cleave_error *error);
/* What the options say now; borrows everything. */
enum cleave_status cleave__graph_run_serving(struct cleave_graph_run_arguments *arguments,
                                             const struct cleave__graph_plan *plan,
                                             const char *executor, const uint32_t *owner,
                                             const uint32_t *source, struct cleave__serving *out,
                                             struct cleave_error *error);

#endif
