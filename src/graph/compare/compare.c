/* One query at a time: the oracle answers it once, then every executor on every placement, and all
 * answers are compared. */
#include "graph/compare/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/oracle/oracle.h"

enum { PULSE_EVERY = 64, TRAIN_SEED = 0x7261 };

/* Per placement. */
struct placed {
    uint32_t *owner;
    struct cleave__sharded *sharded;
    struct cleave__execution *execution;
    struct cleave__graph_placed info;
    uint64_t *shard_reads; /* [shards] */
};

struct comparison {
    const struct cleave__graph *graph;
    const struct cleave__graph_plan *plan;
    struct placed *placed; /* [placements] */
    struct cleave__graph_oracle *oracle;
    uint32_t *source, *train; /* malloc'd */
    uint32_t sources, trained;
};

static enum cleave_status no_memory(struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the comparison");
}

static void count_read(void *context, uint32_t user, uint32_t distance)
{
    (void)distance;
    struct placed *p = context;
    p->shard_reads[p->sharded->owner[user]]++;
}

static enum cleave_status place(struct comparison *x, uint32_t i, struct cleave_error *error)
{
    const struct cleave__graph_plan *plan = x->plan;
    struct placed *p = &x->placed[i];
    const struct cleave__graph_place_request request = {.graph = x->graph,
                                                        .shards = plan->shards,
                                                        .balance = plan->balance,
                                                        .epsilon = plan->epsilon,
                                                        .query = &plan->query,
                                                        .source = x->train,
                                                        .sources = x->trained,
                                                        .preset = plan->preset,
                                                        .starts = plan->starts,
                                                        .threads = plan->threads,
                                                        .seed = plan->seed,
                                                        .progress = plan->progress};
    if (plan->progress && plan->progress->report)
        plan->progress->report(plan->progress->context, plan->placements[i], i,
                               plan->placement_count);
    p->owner = malloc(((size_t)x->graph->vertices + 1) * sizeof *p->owner);
    p->shard_reads = calloc(plan->shards, sizeof *p->shard_reads);
    if (!p->owner || !p->shard_reads)
        return no_memory(error);
    enum cleave_status status =
        cleave__graph_place(&request, plan->placements[i], p->owner, &p->info, error);
    if (!status)
        status = cleave__sharded_new(x->graph, plan->shards, p->owner, &p->sharded, error);
    if (!status)
        status = cleave__execution_new(x->graph, p->sharded, &p->execution, error);
    return status;
}

static double imbalance(const uint64_t *load, uint32_t shards)
{
    uint64_t most = 0, sum = 0;
    for (uint32_t s = 0; s < shards; s++) {
        sum += load[s];
        most = load[s] > most ? load[s] : most;
    }
    return sum ? (double)most * shards / (double)sum - 1 : 0;
}

static enum cleave_status measure(const struct comparison *x, const struct placed *p,
                                  struct cleave__graph_row *row, struct cleave_error *error)
{
    const struct cleave__graph *g = x->graph;
    uint32_t shards = x->plan->shards;
    uint64_t *load = calloc((size_t)shards * 2, sizeof *load), cut = 0;
    if (!load)
        return no_memory(error);
    for (uint32_t v = 0; v < g->vertices; v++) {
        load[p->owner[v]]++;
        load[shards + p->owner[v]] += cleave__graph_degree(g, v);
        for (uint64_t i = g->offset[v]; i < g->offset[v + 1]; i++)
            cut += p->owner[v] != p->owner[g->target[i]];
    }
    row->imbalance_vertices = imbalance(load, shards);
    row->imbalance_edges = imbalance(load + shards, shards);
    row->imbalance_reads = imbalance(p->shard_reads, shards);
    row->cut = cleave__graph_edges(g) ? (double)cut / (double)cleave__graph_edges(g) : 0;
    row->balanced = p->info.balanced;
    row->seconds = p->info.seconds;
    free(load);
    return CLEAVE_OK;
}

static void add(struct cleave__graph_cost *sum, const struct cleave__graph_cost *cost)
{
    sum->hops += cost->hops;
    sum->requests += cost->requests;
    sum->remote_requests += cost->remote_requests;
    sum->reads += cost->reads;
    sum->looks += cost->looks;
    sum->rounds += cost->rounds;
}

/* One query by every executor on every placement. */
static void ask(struct comparison *x, const struct cleave__query *query,
                struct cleave__graph_row *row)
{
    const struct cleave__graph_plan *plan = x->plan;
    cleave__graph_oracle_ask(x->oracle, query);
    for (uint32_t i = 0; i < plan->placement_count; i++) {
        struct placed *p = &x->placed[i];
        for (uint32_t e = 0; e < plan->executor_count; e++, row++) {
            /* Reads of the first executor make the balance of reads. */
            p->execution->on_read = e == 0 ? count_read : NULL;
            p->execution->context = p;
            cleave__execute(p->execution, plan->executors[e], query);
            add(&row->cost, &p->execution->cost);
            row->answers += p->execution->answer_count;
            row->queries++;
            struct cleave_error why;
            if (row->verified && cleave__graph_oracle_accepts(x->oracle, p->execution->answer,
                                                              p->execution->answer_count, &why)) {
                row->verified = false;
                snprintf(row->wrong, sizeof row->wrong, "query from user number %u: %.150s",
                         query->source, why.message);
            }
        }
    }
}

static enum cleave_status run(struct comparison *x, struct cleave__graph_row *row,
                              struct cleave_error *error)
{
    const struct cleave__graph_plan *plan = x->plan;
    const struct cleave_progress *progress = plan->progress;
    struct cleave__query query = plan->query;
    enum cleave_status status =
        cleave__query_sources(x->graph, plan->queries, plan->seed, &x->source, &x->sources, error);
    if (!status)
        status = cleave__query_sources(x->graph, plan->train, plan->seed ^ TRAIN_SEED, &x->train,
                                       &x->trained, error);
    query.source = 0;
    if (!status)
        status = cleave__query_check(x->graph, &query, error);
    if (!status)
        status = cleave__graph_oracle_new(x->graph, &x->oracle, error);
    for (uint32_t i = 0; i < plan->placement_count && !status; i++)
        status = place(x, i, error);
    for (uint32_t q = 0; q < x->sources && !status; q++) {
        query.source = x->source[q];
        ask(x, &query, row);
        if (progress && q % PULSE_EVERY == 0) {
            if (progress->report)
                progress->report(progress->context, "queries", q, x->sources);
            if (progress->stop && *progress->stop)
                status = cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
        }
    }
    for (uint32_t r = 0; r < plan->placement_count * plan->executor_count && !status; r++)
        status = measure(x, &x->placed[r / plan->executor_count], &row[r], error);
    return status;
}

enum cleave_status cleave__graph_compare(const struct cleave__graph *graph,
                                         const struct cleave__graph_plan *plan,
                                         struct cleave__graph_row *row, struct cleave_error *error)
{
    struct comparison x = {.graph = graph, .plan = plan};
    uint32_t rows = plan->placement_count * plan->executor_count;
    struct cleave__graph_row *fresh = calloc((size_t)rows + 1, sizeof *fresh);
    enum cleave_status status = CLEAVE_OK;
    x.placed = calloc((size_t)plan->placement_count + 1, sizeof *x.placed);
    if (!x.placed || !fresh)
        status = no_memory(error);
    for (uint32_t r = 0; r < rows && !status; r++) {
        fresh[r].placement = plan->placements[r / plan->executor_count];
        fresh[r].executor = plan->executors[r % plan->executor_count]->name;
        fresh[r].verified = true;
    }
    if (!status)
        status = run(&x, fresh, error);
    if (!status)
        memcpy(row, fresh, rows * sizeof *row);
    for (uint32_t i = 0; x.placed && i < plan->placement_count; i++) {
        cleave__execution_free(x.placed[i].execution);
        cleave__sharded_free(x.placed[i].sharded);
        free(x.placed[i].owner);
        free(x.placed[i].shard_reads);
    }
    cleave__graph_oracle_free(x.oracle);
    free(x.placed);
    free(x.source);
    free(x.train);
    free(fresh);
    return status;
}
