#include "graph/serve/serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/serve/change.h"
#include "graph/serve/check.h"
#include "graph/serve/coordinator.h"

/* Everything one run needs, to be freed together. */
struct play {
    struct cleave__world world;
    struct cleave__graph_watch watch;
    struct cleave_runtime *runtime;
    struct cleave__seat *seats; /* [shards + coordinators + clients + 2] */
    struct cleave__answer_check *check;
    struct cleave_histogram latency;
    uint64_t began_ns, answered_ns;
    double busiest;
};

static enum cleave_status no_memory(struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory to serve the graph");
}

static enum cleave_status spawn_kind(struct play *play, const struct cleave_actor_ops *ops,
                                     enum cleave__graph_part part, uint32_t count, uint32_t *seat,
                                     uint32_t node, bool apart, struct cleave_error *error)
{
    const struct cleave__serving *serving = play->world.serving;
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < count && !status; i++) {
        uint32_t actor;
        char name[60];
        struct cleave_spawn_options options = {.node = apart ? node + i : node};
        if (ops == &cleave__shard_ops)
            options.service = serving->service;
        play->seats[*seat] = (struct cleave__seat){&play->world, i};
        snprintf(name, sizeof name, "%s %u", ops->name, *seat + 1);
        if (serving->part == CLEAVE__PART_ALL || (serving->part == part && serving->seat == i))
            status = cleave__runtime_spawn(play->runtime, ops, &play->seats[*seat], &options,
                                           &actor, error);
        else
            status = cleave__runtime_remote(play->runtime, name, &actor, error);
        (*seat)++;
    }
    return status;
}

static enum cleave_status spawn_all(struct play *play, struct cleave_error *error)
{
    const struct cleave__serving *serving = play->world.serving;
    uint32_t seat = 0, machines = serving->shards + serving->coordinators;
    enum cleave_status status = spawn_kind(play, &cleave__shard_ops, CLEAVE__PART_SHARD,
                                           serving->shards, &seat, 0, true, error);
    if (!status)
        status = spawn_kind(play, &cleave__coordinator_ops, CLEAVE__PART_COORDINATOR,
                            serving->coordinators, &seat, serving->shards, true, error);
    if (!status)
        status = spawn_kind(play, &cleave__graph_client_ops, CLEAVE__PART_CLIENT, serving->clients,
                            &seat, machines, false, error);
    if (!status && play->world.tracked)
        status = spawn_kind(play, &cleave__graph_writer_ops, CLEAVE__PART_ALL, 1, &seat, machines,
                            false, error);
    if (!status && play->world.tracked)
        status = spawn_kind(play, &cleave__graph_manager_ops, CLEAVE__PART_ALL, 1, &seat, machines,
                            false, error);
    uint32_t group;
    if (!status && play->world.open)
        status = cleave__runtime_group(play->runtime, "coordinators", &group, error);
    if (!status && serving->part == CLEAVE__PART_COORDINATOR)
        status = cleave__runtime_join(
            play->runtime, cleave__coordinator_actor(&play->world, serving->seat), group, error);
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
        out->queue_most = stats->queue_most > out->queue_most ? stats->queue_most : out->queue_most;
        ok = ok && cleave__histogram_merge(&waiting, &stats->waiting_ns);
        if (!shard)
            continue;
        out->shard_reads += shard->reads;
        out->reads_most = shard->reads > out->reads_most ? shard->reads : out->reads_most;
        out->forwarded += shard->forwarded;
        out->copy_reads += shard->copy_reads;
        out->elsewhere += shard->elsewhere;
        out->copy_messages += shard->copy_messages;
        out->copy_sent += shard->copy_bytes;
        out->piece_messages += shard->end.pieces_sent;
        if (shard->cache) {
            struct cleave__cache_counts counts = cleave__cache_counts(shard->cache);
            add_counts(&out->cache, &counts);
        }
    }
    out->waiting_p99_ns = cleave__histogram_quantile(&waiting, 0.99);
    cleave__histogram_free(&waiting);
    enum cleave_status status =
        ok ? cleave__runtime_sum(play->runtime, &sum, error) : no_memory(error);
    out->messages = sum.received;
    out->crashes = sum.crashes;
    out->bytes = sum.bytes_received;
    cleave__histogram_free(&sum.waiting_ns);
    cleave__histogram_free(&sum.answering_ns);
    return status;
}

/* Every change was made, and every shard has its structures in order. */
static enum cleave_status check_end(struct play *play, struct cleave__served *out,
                                    struct cleave_error *error)
{
    const char *why = NULL;
    for (uint32_t s = 0; s < play->world.serving->shards; s++) {
        const struct cleave__shard *shard =
            cleave__runtime_state(play->runtime, cleave__shard_actor(s));
        if (shard && !cleave__shard_check(shard, &why))
            return cleave_error_set(error, CLEAVE_CORRUPT, "shard %u: %s", s, why);
    }
    for (uint32_t c = 0; c < play->world.serving->coordinators; c++) {
        const struct cleave__coordinator *coordinator =
            cleave__runtime_state(play->runtime, cleave__coordinator_actor(&play->world, c));
        out->repeated += coordinator ? coordinator->repeated : 0;
    }
    if (!play->world.tracked)
        return CLEAVE_OK;
    const struct cleave__graph_writer *writer =
        cleave__runtime_state(play->runtime, cleave__writer_actor(&play->world));
    const struct cleave__graph_manager *manager =
        cleave__runtime_state(play->runtime, cleave__writer_actor(&play->world) + 1);
    out->changes = writer->acknowledged;
    out->moves = manager->moves;
    out->moves_given_up = manager->given_up;
    out->moved = manager->moved;
    out->copied = manager->copied;
    out->copied_bytes = manager->copied_bytes;
    if (writer->acknowledged != writer->sent || writer->sent < play->world.serving->changes)
        return cleave_error_set(error, CLEAVE_CORRUPT, "%llu of %llu changes were made",
                                (unsigned long long)writer->acknowledged,
                                (unsigned long long)play->world.serving->changes);
    return CLEAVE_OK;
}

static enum cleave_status measure(struct play *play, struct cleave__served *out,
                                  struct cleave_error *error)
{
    const struct cleave__serving *serving = play->world.serving;
    struct cleave__graph_writer *writer =
        play->world.tracked
            ? cleave__runtime_state(play->runtime, cleave__writer_actor(&play->world))
            : NULL;
    enum cleave_status status = CLEAVE_OK;
    if (!serving->unchecked)
        status = cleave__answer_check_new(&play->world, writer ? &writer->history : NULL,
                                          &play->check, error);
    out->verified = !serving->unchecked;
    for (uint32_t c = 0; c < serving->clients && !status; c++) {
        const struct cleave__graph_client *client =
            cleave__runtime_state(play->runtime, cleave__client_actor(&play->world, c));
        if (!client)
            continue; /* elsewhere */
        if (!cleave__histogram_merge(&play->latency, &client->latency_ns))
            return no_memory(error);
        if (client->last_ns > play->answered_ns)
            play->answered_ns = client->last_ns;
        if (serving->told || serving->unchecked)
            status = cleave__answers_tell(serving, client, serving->unchecked ? out : NULL, error);
        if (!status && !serving->unchecked)
            status = cleave__answer_check_client(play->check, client, out, error);
    }
    uint64_t asked = (uint64_t)serving->sources + serving->finals;
    if (!status && out->queries != asked && play->world.open)
        status = cleave_error_set(
            error, CLEAVE_IO,
            "%llu of %llu queries have no answer after %.0f s: are the shards and coordinators of "
            "this world there?",
            (unsigned long long)(asked - out->queries), (unsigned long long)asked,
            (double)serving->patience_ns * 1e-9);
    if (!status && out->queries != (uint64_t)serving->sources + serving->finals)
        status = cleave_error_set(error, CLEAVE_CORRUPT, "%llu of %llu queries were answered",
                                  (unsigned long long)out->queries,
                                  (unsigned long long)serving->sources + serving->finals);
    if (!status && play->check)
        cleave__answer_check_history(play->check, out);
    out->busiest = play->busiest;
    out->elapsed_s = (double)(play->answered_ns - play->began_ns) * 1e-9;
    out->queries_per_s = out->elapsed_s > 0 ? (double)serving->sources / out->elapsed_s : 0;
    out->mean_ns = cleave__histogram_mean(&play->latency);
    out->p50_ns = cleave__histogram_quantile(&play->latency, 0.5);
    out->p99_ns = cleave__histogram_quantile(&play->latency, 0.99);
    out->p999_ns = cleave__histogram_quantile(&play->latency, 0.999);
    out->digest = cleave__runtime_digest(play->runtime);
    if (status || play->world.open) /* the rest is elsewhere */
        return status;
    status = check_end(play, out, error);
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
    bool asks = serving->part == CLEAVE__PART_ALL || serving->part == CLEAVE__PART_CLIENT;
    if (asks && !serving->sources)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "no queries");
    if (serving->fault_count && !serving->retry_ns)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "with faults, requests must be repeated: no time is given");
    play->world.tracked = serving->changes || serving->moves || serving->replicate_bytes ||
                          serving->split || serving->finals || serving->fault_count;
    play->world.open = serving->part != CLEAVE__PART_ALL;
    if (play->world.open && (play->world.tracked || !serving->retry_ns))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "in a world of many processes nothing changes, and what has no "
                                "answer is asked again");
    const uint32_t kinds[] = {UINT32_MAX, serving->shards, serving->coordinators, serving->clients};
    if (play->world.open && serving->seat >= kinds[serving->part])
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "seat %u: there are %u of its kind, from 0 on", serving->seat,
                                kinds[serving->part]);
    uint32_t most = serving->mailbox_most ? serving->mailbox_most : 1024;
    if (play->world.tracked &&
        (most < CLEAVE__TRACKED_MAILBOX_LEAST || most / 2 < serving->coordinators))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "where anything changes, mailboxes hold %d messages at least, and "
                                "two for each coordinator",
                                CLEAVE__TRACKED_MAILBOX_LEAST);
    play->world.window = most / 2 / serving->coordinators;
    play->world.window = play->world.window ? play->world.window : 1;
    play->world.write_window = most / 16;
    return CLEAVE_OK;
}

/* The busiest shard's share of time until everything had ended, the final queries apart. */
static void measure_busy(struct play *play)
{
    uint64_t most_ns = 0, took_ns = cleave__runtime_now_ns(play->runtime) - play->began_ns;
    for (uint32_t s = 0; s < play->world.serving->shards; s++) {
        const struct cleave_actor_stats *stats =
            cleave__runtime_stats(play->runtime, cleave__shard_actor(s));
        most_ns = stats->busy_ns > most_ns ? stats->busy_ns : most_ns;
    }
    play->busiest = took_ns ? (double)most_ns / (double)took_ns : 0;
}

/* Queries answered, by the clients that are here. */
static uint64_t answered(const struct play *play)
{
    uint64_t sum = 0;
    for (uint32_t c = 0; c < play->world.serving->clients; c++) {
        const struct cleave__graph_client *client =
            cleave__runtime_state(play->runtime, cleave__client_actor(&play->world, c));
        sum += client ? client->done : 0;
    }
    return sum;
}

/* The run, and where something changes a second one when nothing does any more. */
static enum cleave_status run(struct play *play, struct cleave_error *error)
{
    const struct cleave__serving *serving = play->world.serving;
    play->began_ns = cleave__runtime_now_ns(play->runtime);
    enum cleave_status status;
    uint64_t before, now = 0;
    do {
        before = now;
        uint64_t until_ns =
            serving->patience_ns ? cleave__runtime_now_ns(play->runtime) + serving->patience_ns : 0;
        status = cleave__runtime_run(play->runtime, until_ns, serving->progress, error);
        now = status ? 0 : answered(play);
    } while (serving->patience_ns && now > before && now < serving->sources);
    if (!status)
        measure_busy(play);
    for (uint32_t c = 0; c < serving->clients && serving->finals && !status; c++)
        status = cleave__runtime_post(play->runtime, cleave__client_actor(&play->world, c),
                                      CLEAVE__GRAPH_AGAIN, NULL, 0, error);
    if (!status && serving->finals)
        status = cleave__runtime_run(play->runtime, 0, serving->progress, error);
    return status;
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
                                             .metrics = serving->metrics,
                                             .nats = serving->nats,
                                             .sim = {.remote = serving->delay,
                                                     .faults = serving->faults,
                                                     .fault_count = serving->fault_count}};
    options.nats.serve =
        serving->part == CLEAVE__PART_SHARD || serving->part == CLEAVE__PART_COORDINATOR;
    enum cleave_status status = settle(&play, error);
    if (status)
        return status;
    play.world.watch = &play.watch;
    if (serving->metrics)
        status = cleave__graph_watch_make(&play.watch, serving->metrics, error);
    if (status)
        return status;
    play.seats = calloc((size_t)serving->shards + serving->coordinators + serving->clients + 2,
                        sizeof *play.seats);
    if (!play.seats)
        status = no_memory(error);
    if (!status)
        status = cleave__runtime_new(&options, &play.runtime, error);
    if (!status)
        status = spawn_all(&play, error);
    if (!status)
        status = run(&play, error);
    if (!status)
        status = measure(&play, &served, error);
    cleave__answer_check_free(play.check); /* it borrows from actors */
    cleave__runtime_free(play.runtime);
    cleave__histogram_free(&play.latency);
    free(play.seats);
    if (!status)
        *out = served;
    return status;
}
