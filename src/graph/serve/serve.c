#include "graph/serve/serve.h"

#include <stdlib.h>
#include <string.h>

#include "graph/oracle/oracle.h"
#include "graph/serve/check.h"
#include "graph/serve/shard.h"

/* Everything one run needs, to be freed together. */
struct play {
    struct cleave__world world;
    struct cleave_runtime *runtime;
    struct cleave__seat *seats; /* [shards + coordinators + clients] */
    struct cleave__graph_oracle *oracle;
    struct cleave_histogram latency;
    uint64_t began_ns;
};

static enum cleave_status no_memory(struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory to serve the graph");
}

static enum cleave_status spawn_kind(struct play *play, const struct cleave_actor_ops *ops,
                                     uint32_t count, uint32_t *seat, uint32_t node, bool apart,
                                     struct cleave_error *error)
{
    const struct cleave__serving *serving = play->world.serving;
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < count && !status; i++) {
        uint32_t actor;
        struct cleave_spawn_options options = {.node = apart ? node + i : node};
        if (ops == &cleave__shard_ops)
            options.service = serving->service;
        play->seats[*seat] = (struct cleave__seat){&play->world, i};
        status =
            cleave__runtime_spawn(play->runtime, ops, &play->seats[*seat], &options, &actor, error);
        (*seat)++;
    }
    return status;
}

static enum cleave_status spawn_all(struct play *play, struct cleave_error *error)
{
    const struct cleave__serving *serving = play->world.serving;
    uint32_t seat = 0, machines = serving->shards + serving->coordinators;
    enum cleave_status status =
        spawn_kind(play, &cleave__shard_ops, serving->shards, &seat, 0, true, error);
    if (!status)
        status = spawn_kind(play, &cleave__coordinator_ops, serving->coordinators, &seat,
                            serving->shards, true, error);
    if (!status)
        status = spawn_kind(play, &cleave__graph_client_ops, serving->clients, &seat, machines,
                            false, error);
    return status;
}

static int compare_falling(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* How often the hundredth of users that is read most is read, beside the rest. */
static enum cleave_status measure_heat(struct play *play, struct cleave__served *out,
                                       struct cleave_error *error)
{
    uint32_t vertices = play->world.graph->vertices, at = 0;
    uint64_t *reads = calloc((size_t)vertices + 1, sizeof *reads);
    if (!reads)
        return no_memory(error);
    for (uint32_t s = 0; s < play->world.serving->shards; s++) {
        const struct cleave__shard *shard =
            cleave__runtime_state(play->runtime, cleave__shard_actor(s));
        for (uint64_t i = 0; shard && shard->own.slot && i <= shard->own.mask; i++) {
            if (shard->own.slot[i] && at < vertices)
                reads[at++] = shard->own.slot[i]->reads;
        }
    }
    qsort(reads, vertices, sizeof *reads, compare_falling);
    out->hot = (vertices + 99) / 100;
    out->cold = vertices - out->hot;
    for (uint32_t i = 0; i < vertices; i++)
        *(i < out->hot ? &out->hot_reads : &out->cold_reads) += reads[i];
    free(reads);
    return CLEAVE_OK;
}

static void add_counts(struct cleave__cache_counts *to, const struct cleave__cache_counts *from)
{
    to->requests += from->requests;
    to->hits += from->hits;
    to->misses += from->misses;
    to->insertions += from->insertions;
    to->evictions += from->evictions;
    to->invalidations += from->invalidations;
    to->refused += from->refused;
    to->entries += from->entries;
    to->bytes += from->bytes;
    to->evicted_bytes += from->evicted_bytes;
}

static enum cleave_status measure_shards(struct play *play, struct cleave__served *out,
                                         struct cleave_error *error)
{
    struct cleave_actor_stats sum = {0};
    struct cleave_histogram waiting = {0};
    bool ok = true;
    for (uint32_t s = 0; s < play->world.serving->shards; s++) {
        const struct cleave__shard *shard =
            cleave__runtime_state(play->runtime, cleave__shard_actor(s));
        const struct cleave_actor_stats *stats =
            cleave__runtime_stats(play->runtime, cleave__shard_actor(s));
        double share = out->elapsed_s > 0 ? (double)stats->busy_ns * 1e-9 / out->elapsed_s : 0;
        out->busiest = share > out->busiest ? share : out->busiest;
        out->queue_most = stats->queue_most > out->queue_most ? stats->queue_most : out->queue_most;
        ok = ok && cleave__histogram_merge(&waiting, &stats->waiting_ns);
        if (!shard)
            continue;
        out->reads_most = shard->reads > out->reads_most ? shard->reads : out->reads_most;
        if (shard->cache) {
            struct cleave__cache_counts counts = cleave__cache_counts(shard->cache);
            add_counts(&out->cache, &counts);
        }
    }
    out->waiting_p99_ns = cleave__histogram_quantile(&waiting, 0.99);
    cleave__histogram_free(&waiting);
    enum cleave_status status =
        ok ? cleave__runtime_sum(play->runtime, &sum, error) : no_memory(error);
    if (status)
        return status;
    out->messages = sum.received;
    out->bytes = sum.bytes_received;
    cleave__histogram_free(&sum.waiting_ns);
    cleave__histogram_free(&sum.answering_ns);
    return CLEAVE_OK;
}

static enum cleave_status measure(struct play *play, struct cleave__served *out,
                                  struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    out->elapsed_s = (double)(cleave__runtime_now_ns(play->runtime) - play->began_ns) * 1e-9;
    out->verified = true;
    for (uint32_t c = 0; c < play->world.serving->clients && !status; c++) {
        const struct cleave__graph_client *client =
            cleave__runtime_state(play->runtime, cleave__client_actor(&play->world, c));
        if (!cleave__histogram_merge(&play->latency, &client->latency_ns))
            return no_memory(error);
        status = cleave__check_answers(client, play->oracle, out, error);
    }
    if (!status && out->queries != play->world.serving->sources)
        status = cleave_error_set(error, CLEAVE_CORRUPT, "%llu of %u queries were answered",
                                  (unsigned long long)out->queries, play->world.serving->sources);
    out->queries_per_s = out->elapsed_s > 0 ? (double)out->queries / out->elapsed_s : 0;
    out->mean_ns = cleave__histogram_mean(&play->latency);
    out->p50_ns = cleave__histogram_quantile(&play->latency, 0.5);
    out->p99_ns = cleave__histogram_quantile(&play->latency, 0.99);
    out->p999_ns = cleave__histogram_quantile(&play->latency, 0.999);
    if (!status)
        status = measure_shards(play, out, error);
    return status ? status : measure_heat(play, out, error);
}

static enum cleave_status settle(struct play *play, struct cleave_error *error)
{
    const struct cleave__serving *serving = play->world.serving;
    if (!serving->shards || !serving->coordinators || !serving->clients || !serving->outstanding)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "shards, coordinators, clients and queries under way are at least "
                                "1 each");
    for (uint32_t v = 0; v < play->world.graph->vertices; v++) {
        if (serving->owner[v] >= serving->shards)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "user number %u is on no shard", v);
    }
    /* What coordinators ask at once fits in any one mailbox. */
    uint32_t most = serving->mailbox_most ? serving->mailbox_most : 1024;
    play->world.window = most / serving->coordinators;
    play->world.window = play->world.window ? play->world.window : 1;
    return CLEAVE_OK;
}

enum cleave_status cleave__graph_serve(const struct cleave__graph *graph,
                                       const struct cleave__serving *serving,
                                       struct cleave__served *out, struct cleave_error *error)
{
    struct play play = {.world = {.graph = graph, .serving = serving}};
    struct cleave__served served = {0};
    struct cleave_runtime_options options = {.transport = serving->transport,
                                             .seed = serving->seed,
                                             .mailbox_most = serving->mailbox_most,
                                             .threads = serving->threads,
                                             .sim = {.remote = serving->delay}};
    enum cleave_status status = settle(&play, error);
    if (status)
        return status;
    play.seats = calloc((size_t)serving->shards + serving->coordinators + serving->clients,
                        sizeof *play.seats);
    if (!play.seats)
        status = no_memory(error);
    if (!status)
        status = cleave__graph_oracle_new(graph, &play.oracle, error);
    if (!status)
        status = cleave__runtime_new(&options, &play.runtime, error);
    if (!status)
        status = spawn_all(&play, error);
    if (!status)
        play.began_ns = cleave__runtime_now_ns(play.runtime);
    if (!status)
        status = cleave__runtime_run(play.runtime, 0, serving->progress, error);
    if (!status)
        status = measure(&play, &served, error);
    cleave__runtime_free(play.runtime);
    cleave__graph_oracle_free(play.oracle);
    cleave__histogram_free(&play.latency);
    free(play.seats);
    if (!status)
        *out = served;
    return status;
}
