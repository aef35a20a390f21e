/* From options to a graph, a query and a plan, at one point of a sweep. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/graph.h"
#include "graph/source/read.h"

static uint32_t small(const struct cleave_graph_arguments *a, enum cleave_graph_axis axis)
{
    return (uint32_t)cleave__graph_now(a, axis); /* its option bounds it */
}

static enum cleave_status read_sizes(const char *text, struct cleave__generate_options *out,
                                     struct cleave_error *error)
{
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "+");
        uint64_t size;
        if (!cleave__graph_number(at, length, &size) || size < 1 || size > CLEAVE__USERS_MAX ||
            out->size_count == CLEAVE__SIZES_MAX || (at[length] == '+' && !at[length + 1]))
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "--sizes takes at most %d sizes such as 4000+2500+1000, not "
                                    "'%.100s'",
                                    CLEAVE__SIZES_MAX, text);
        out->sizes[out->size_count++] = (uint32_t)size;
        at += length + (at[length] == '+');
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__graph_generate_options(const struct cleave_graph_arguments *a,
                                                  const struct cleave_progress *progress,
                                                  struct cleave__generate_options *out,
                                                  struct cleave_error *error)
{
    *out = (struct cleave__generate_options){
        .users = small(a, CLEAVE_AXIS_USERS),
        .communities = small(a, CLEAVE_AXIS_COMMUNITIES),
        .degree = small(a, CLEAVE_AXIS_DEGREE),
        .local = small(a, CLEAVE_AXIS_LOCAL),
        .hubs = small(a, CLEAVE_AXIS_HUBS),
        .to_hubs = small(a, CLEAVE_AXIS_TO_HUBS),
        .mixing = cleave__sweep_now(&a->axis[CLEAVE_AXIS_MIXING]).real,
        .seed = cleave__graph_now(a, CLEAVE_AXIS_SEED),
        .progress = progress};
    return read_sizes(cleave__sweep_now(&a->axis[CLEAVE_AXIS_SIZES]).word, out, error);
}

enum cleave_status cleave__graph_open(const struct cleave_graph_arguments *a,
                                      const struct cleave_progress *progress,
                                      struct cleave__graph **out, struct cleave_error *error)
{
    struct cleave__graph *graph = NULL;
    enum cleave_status status;
    if (a->generator) {
        static struct cleave__generate_options options; /* large */
        status = cleave__graph_generate_options(a, progress, &options, error);
        return status ? status : cleave__graph_generate(a->generator, &options, out, error);
    }
    if (!strcmp(a->edges, "-") && a->labels && !strcmp(a->labels, "-"))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "--edges and --labels cannot both be standard input");
    const char *taken = !strcmp(a->edges, "-")                 ? "--edges"
                        : a->labels && !strcmp(a->labels, "-") ? "--labels"
                                                               : NULL;
    for (uint32_t i = 0; i < a->placement_count; i++) {
        if (strcmp(a->placements[i], "@-"))
            continue;
        if (taken)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "%s and --placements @- cannot both be standard input", taken);
        taken = "--placements @-";
    }
    cleave__interrupt_release();
    status = cleave__graph_read(a->edges, a->undirected, progress, &graph, error);
    if (!status && a->labels)
        status = cleave__graph_read_labels(graph, a->labels, error);
    cleave__interrupt_catch();
    if (status)
        cleave__graph_free(graph);
    else
        *out = graph;
    return status;
}

enum cleave_status cleave__graph_query_of(const struct cleave_graph_arguments *a,
                                          const struct cleave__graph *graph,
                                          struct cleave__query *out, struct cleave_error *error)
{
    const uint64_t most = UINT32_MAX;
    struct cleave__query q = {.hops = small(a, CLEAVE_AXIS_HOPS),
                              .exactly = a->exactly,
                              .by_degree = a->has_degree,
                              .degree_low = (uint32_t)(a->degree_low < most ? a->degree_low : most),
                              .degree_high =
                                  (uint32_t)(a->degree_high < most ? a->degree_high : most),
                              .by_id = a->has_id,
                              .id_low = a->id_low,
                              .id_high = a->id_high,
                              .limit = cleave__graph_now(a, CLEAVE_AXIS_LIMIT),
                              .top = a->top};
    if (a->target_label) {
        if (!graph->label)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "--target-label: the graph has no labels; give --labels FILE");
        q.by_label = true;
        q.label = cleave__intern_find(&graph->label_text, a->target_label, strlen(a->target_label));
        if (q.label == CLEAVE_INTERN_NONE)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "no user has the label '%.100s'",
                                    a->target_label);
    }
    enum cleave_status status = cleave__query_check(graph, &q, error);
    if (!status)
        *out = q;
    return status;
}

enum cleave_status cleave__graph_balance_of(const char *text, unsigned *out,
                                            struct cleave_error *error)
{
    static const struct {
        const char *name;
        unsigned member;
    } words[] = {{"vertices", CLEAVE__BALANCE_VERTICES},
                 {"edges", CLEAVE__BALANCE_EDGES},
                 {"reads", CLEAVE__BALANCE_READS}};
    unsigned set = 0;
    for (const char *at = text;;) {
        size_t length = strcspn(at, "+"), i = 0;
        while (i < 3 && (strlen(words[i].name) != length || memcmp(words[i].name, at, length)))
            i++;
        if (i == 3)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "'%.*s' is none of vertices, edges and reads (+ between)",
                                    (int)(length < 60 ? length : 60), at);
        set |= words[i].member;
        if (!at[length])
            break;
        at += length + 1;
    }
    *out = set;
    return CLEAVE_OK;
}

enum cleave_status cleave__graph_plan_of(const struct cleave_graph_arguments *a,
                                         const struct cleave__graph *graph,
                                         const struct cleave_progress *progress,
                                         struct cleave__graph_plan *out, struct cleave_error *error)
{
    struct cleave__graph_plan plan = {.placements = a->placements,
                                      .placement_count = a->placement_count,
                                      .executors = a->executors,
                                      .executor_count = a->executor_count,
                                      .queries = small(a, CLEAVE_AXIS_QUERIES),
                                      .train = small(a, CLEAVE_AXIS_TRAIN),
                                      .shards = small(a, CLEAVE_AXIS_SHARDS),
                                      .epsilon =
                                          cleave__sweep_now(&a->axis[CLEAVE_AXIS_EPSILON]).real,
                                      .preset = a->preset,
                                      .starts = a->starts,
                                      .threads = a->threads,
                                      .seed = cleave__graph_now(a, CLEAVE_AXIS_SEED),
                                      .progress = progress};
    enum cleave_status status = cleave__graph_balance_of(
        cleave__sweep_now(&a->axis[CLEAVE_AXIS_BALANCE]).word, &plan.balance, error);
    if (!status)
        status = cleave__graph_query_of(a, graph, &plan.query, error);
    if (!status)
        *out = plan;
    return status;
}

enum cleave_status cleave__graph_sweep(
    struct cleave_graph_arguments *a, const struct cleave_progress *progress,
    enum cleave_status (*point)(void *context, const struct cleave__graph *graph,
                                const struct cleave_progress *progress, struct cleave_error *error),
    void *context, struct cleave_error *error)
{
    struct cleave__graph *graph = NULL;
    uint32_t changed = 0;
    enum cleave_status status = CLEAVE_OK;
    do {
        if (a->generator ? changed <= CLEAVE_AXIS_SEED : !graph) {
            cleave__graph_free(graph);
            graph = NULL;
            status = cleave__graph_open(a, progress, &graph, error);
        }
        if (!status)
            status = point(context, graph, progress, error);
    } while (!status && cleave__sweep_next(a->axis, CLEAVE_GRAPH_AXES, &changed));
    cleave__graph_free(graph);
    return status;
}
