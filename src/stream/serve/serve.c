#include "stream/serve/serve.h"

#include <stdlib.h>
#include <string.h>

#include "stream/serve/balancer.h"
#include "stream/serve/evaluator.h"
#include "stream/serve/feeder.h"
#include "stream/serve/router.h"
#include "stream/serve/sink.h"

enum { BATCH = 256, WINDOW = 8, MAILBOX_MORE = 256 };

/* Everything one run needs, to be freed together. */
struct play {
    struct cleave__stream_world world;
    struct cleave__stream_watch watch;
    struct cleave_runtime *runtime;
    struct cleave__stream_seat *seats; /* [2 evaluators + routers + 3] */
};

static enum cleave_status no_memory(struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory to serve the stream");
}

uint32_t cleave__stream_actor(const struct cleave__streaming *streaming,
                              enum cleave__stream_role role, uint32_t index)
{
    const struct cleave__stream_world world = {.streaming = streaming};
    return role == CLEAVE__ROLE_EVALUATOR ? cleave__evaluator_actor(index)
           : role == CLEAVE__ROLE_ROUTER  ? cleave__router_actor(&world, index)
           : role == CLEAVE__ROLE_FEEDER  ? cleave__feeder_actor(&world, index)
                                          : cleave__balancer_actor(&world);
}

/* Sinks do not crash, nor the feeder while things are tracked: it knows how far each has come. */
static bool may_crash(const struct cleave__streaming *streaming, const struct cleave_fault *fault)
{
    uint32_t machines = streaming->evaluators + streaming->routers;
    uint32_t feeder = cleave__stream_actor(streaming, CLEAVE__ROLE_FEEDER, 0);
    if (fault->kind != CLEAVE_FAULT_CRASH)
        return true;
    if (!fault->actor)
        return fault->first_node < machines && fault->node_count <= machines - fault->first_node;
    return fault->actor <= machines || fault->actor > feeder ||
           (fault->actor == feeder && !streaming->track);
}

enum cleave_status cleave__stream_world_make(const struct cleave__streaming *streaming,
                                             struct cleave__stream_world *world,
                                             struct cleave_error *error)
{
    if (!streaming->evaluators || streaming->evaluators > CLEAVE__EVALUATORS_MOST ||
        !streaming->routers || streaming->routers > CLEAVE__EVALUATORS_MOST)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "evaluators and routers are from 1 to %d each",
                                CLEAVE__EVALUATORS_MOST);
    for (size_t i = 0; i < streaming->fault_count && !streaming->retry_ns; i++) {
        if (streaming->faults[i].kind == CLEAVE_FAULT_CRASH ||
            streaming->faults[i].kind == CLEAVE_FAULT_LOSE)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "with faults, requests must be repeated: no time is given");
    }
    if (streaming->routing != CLEAVE__ROUTING_AGRID &&
        (streaming->track || streaming->balance != CLEAVE__BALANCE_STATIC || streaming->retry_ns))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "only what is routed by place is balanced, and outlives faults");
    for (size_t i = 0; i < streaming->fault_count; i++) {
        if (!may_crash(streaming, &streaming->faults[i]))
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "fault %zu crashes a sink, or the feeder of a stream that is "
                                    "tracked",
                                    i);
    }
    if (streaming->sinks > 1 && (streaming->sinks != streaming->evaluators || streaming->track))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "there is one sink, or without tracking one for each evaluator");
    if (streaming->balance != CLEAVE__BALANCE_STATIC && !streaming->balance_every_ns)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "how often to balance?");
    *world =
        (struct cleave__stream_world){.streaming = streaming,
                                      .durable = streaming->retry_ns > 0,
                                      .batch = streaming->batch ? streaming->batch : BATCH,
                                      .window = streaming->window ? streaming->window : WINDOW};
    return CLEAVE_OK;
}

/* A router has its window of the feeder's messages and of each other router's, and a few of each
 * evaluator; an evaluator a part of each of the routers' messages. */
uint32_t cleave__stream_mailbox_most(const struct cleave__stream_world *world)
{
    const struct cleave__streaming *streaming = world->streaming;
    uint64_t most = (uint64_t)streaming->routers * world->window * 2 +
                    (uint64_t)streaming->evaluators * 8 + MAILBOX_MORE;
    return (uint32_t)(world->durable ? 4 * most : most);
}

static enum cleave_status spawn(struct play *play, const struct cleave_actor_ops *ops,
                                uint32_t count, uint32_t *seat, uint32_t node, bool apart,
                                struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < count && !status; i++) {
        uint32_t actor;
        struct cleave_spawn_options options = {.node = apart ? node + i : node,
                                               .mailbox_most =
                                                   cleave__stream_mailbox_most(&play->world)};
        play->seats[*seat] = (struct cleave__stream_seat){&play->world, i};
        status =
            cleave__runtime_spawn(play->runtime, ops, &play->seats[*seat], &options, &actor, error);
        (*seat)++;
    }
    return status;
}

static enum cleave_status spawn_all(struct play *play, struct cleave_error *error)
{
    const struct cleave__streaming *streaming = play->world.streaming;
    uint32_t seat = 0, machines = streaming->evaluators + streaming->routers;
    enum cleave_status status =
        spawn(play, &cleave__evaluator_ops, streaming->evaluators, &seat, 0, true, error);
    if (!status)
        status = spawn(play, &cleave__router_ops, streaming->routers, &seat, streaming->evaluators,
                       true, error);
    if (!status)
        status = spawn(play, &cleave__sink_ops, cleave__sink_count(&play->world), &seat, machines,
                       false, error);
    if (!status)
        status = spawn(play, &cleave__feeder_ops, 1, &seat, machines, false, error);
    if (!status)
        status = spawn(play, &cleave__balancer_ops, 1, &seat, machines, false, error);
    if (!status)
        status = cleave__runtime_post(play->runtime, cleave__feeder_actor(&play->world, 0),
                                      CLEAVE__STREAM_OVER, NULL, 0, error);
    return status;
}

static enum cleave_status measure_evaluators(struct play *play, struct cleave__streamed *out,
                                             struct cleave_error *error)
{
    uint32_t n = play->world.streaming->evaluators;
    out->load = calloc(n, sizeof *out->load);
    out->busy_ns = calloc(n, sizeof *out->busy_ns);
    out->held = calloc(n, sizeof *out->held);
    out->cells = calloc(n, sizeof *out->cells);
    if (!out->load || !out->busy_ns || !out->held || !out->cells)
        return no_memory(error);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t actor = cleave__evaluator_actor(i);
        const struct cleave__evaluator *e = cleave__runtime_state(play->runtime, actor);
        const char *why = NULL;
        if (!e)
            return cleave_error_set(error, CLEAVE_CORRUPT, "evaluator %u is down at the end", i);
        if (!cleave__evaluator_check(e, &why))
            return cleave_error_set(error, CLEAVE_CORRUPT, "evaluator %u: %s", i, why);
        out->load[i] = e->load;
        out->busy_ns[i] = cleave__runtime_stats(play->runtime, actor)->busy_ns;
        out->held[i] = e->slot_of.count;
        out->cells[i] = e->own;
        out->matcher_bytes += e->ops->bytes(e->matcher);
        out->forwarded += e->forwarded;
        out->expired += e->expired;
        out->shed += e->shed_terms;
        out->candidates += e->candidates_seen;
        out->load_messages += e->load_messages;
        out->load_bytes += e->load_bytes;
        out->moved_queries += e->moved_queries;
        out->step_most_ns =
            e->step_most_ns > out->step_most_ns ? e->step_most_ns : out->step_most_ns;
    }
    return CLEAVE_OK;
}

static enum cleave_status measure_routers(struct play *play, struct cleave__streamed *out,
                                          struct cleave_error *error)
{
    const struct cleave__streaming *streaming = play->world.streaming;
    for (uint32_t i = 0; i < streaming->routers; i++) {
        const struct cleave__router *r =
            cleave__runtime_state(play->runtime, cleave__router_actor(&play->world, i));
        if (!r)
            return cleave_error_set(error, CLEAVE_CORRUPT, "router %u is down at the end", i);
        out->pruned += r->pruned;
        out->keyword_messages += r->keyword_messages;
        out->keywords += r->keywords;
        out->repeated += r->repeated;
        if ((r->agrid && !cleave__agrid_check(r->agrid)) || !cleave__summary_check(r->summary))
            return cleave_error_set(error, CLEAVE_CORRUPT, "router %u is out of order", i);
        for (uint32_t e = 0; e < streaming->evaluators; e++) {
            out->summary_terms += cleave__summary_count(r->summary, e);
            if (r->agrid && !cleave__cells_empty(out->cells[e]) &&
                !cleave__cells_equal(out->cells[e], cleave__agrid_partition(r->agrid, e)))
                return cleave_error_set(error, CLEAVE_CORRUPT,
                                        "router %u and evaluator %u disagree about its cells", i,
                                        e);
        }
    }
    return CLEAVE_OK;
}

static double per_second(uint64_t count, uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? (double)count * 1e9 / (double)(to_ns - from_ns) : 0;
}

/* What the others have, into the first. False: memory is out. */
static bool join_sinks(struct play *play, struct cleave__sink *first)
{
    uint32_t count = cleave__sink_count(&play->world);
    struct cleave__sink **sinks = malloc(count * sizeof(struct cleave__sink *));
    bool ok = sinks != NULL;
    for (uint32_t i = 0; i < count && ok; i++) {
        sinks[i] = cleave__runtime_state(play->runtime, cleave__sink_actor(&play->world, i));
        ok = i == 0 || cleave__histogram_merge(&first->latency_ns, &sinks[i]->latency_ns);
    }
    ok = ok && cleave__sinks_join(sinks, count);
    free(sinks);
    return ok;
}

static enum cleave_status measure(struct play *play, struct cleave__streamed *out,
                                  struct cleave_error *error)
{
    const struct cleave__feeder *feeder =
        cleave__runtime_state(play->runtime, cleave__feeder_actor(&play->world, 0));
    struct cleave__sink *sink =
        cleave__runtime_state(play->runtime, cleave__sink_actor(&play->world, 0));
    const struct cleave__balancer *balancer =
        cleave__runtime_state(play->runtime, cleave__balancer_actor(&play->world));
    struct cleave_actor_stats sum = {0};
    if (!feeder || !balancer || !sink)
        return cleave_error_set(error, CLEAVE_CORRUPT, "%s is down at the end",
                                !feeder     ? "the feeder"
                                : !balancer ? "the balancer"
                                            : "the sink");
    if (!join_sinks(play, sink))
        return no_memory(error);
    out->repeated = feeder->repeated;
    out->objects = feeder->objects;
    out->queries = feeder->queries;
    out->removals = feeder->removals;
    out->elapsed_s = (double)(feeder->last_object_ns - feeder->first_object_ns) * 1e-9;
    out->objects_per_s =
        per_second(feeder->objects, feeder->first_object_ns, feeder->last_object_ns);
    out->queries_per_s = per_second(feeder->queries, feeder->first_query_ns, feeder->last_query_ns);
    if (!feeder->ended || feeder->in_all)
        return cleave_error_set(error, CLEAVE_CORRUPT, "not everything was acknowledged");
    out->p50_ns = cleave__histogram_quantile(&sink->latency_ns, 0.5);
    out->p99_ns = cleave__histogram_quantile(&sink->latency_ns, 0.99);
    out->p999_ns = cleave__histogram_quantile(&sink->latency_ns, 0.999);
    out->most_ns = cleave__histogram_quantile(&sink->latency_ns, 1);
    cleave__sink_settle(sink, out);
    if (sink->kept.count && play->world.streaming->keep_matches) {
        out->pairs = malloc(sink->kept.count * sizeof *out->pairs);
        if (!out->pairs)
            return no_memory(error);
        memcpy(out->pairs, sink->kept.data, sink->kept.count * sizeof *out->pairs);
        out->pair_count = sink->kept.count;
    }
    out->rebalance_count = balancer->rebalances.count;
    if (out->rebalance_count) {
        size_t bytes = out->rebalance_count * sizeof *out->rebalances;
        out->rebalances = malloc(bytes);
        if (!out->rebalances)
            return no_memory(error);
        memcpy(out->rebalances, balancer->rebalances.data, bytes);
    }
    out->digest_of_events = cleave__runtime_digest(play->runtime);
    enum cleave_status status = measure_evaluators(play, out, error);
    if (!status)
        status = measure_routers(play, out, error);
    if (!status)
        status = cleave__runtime_sum(play->runtime, &sum, error);
    out->messages = sum.received;
    out->bytes = sum.bytes_received;
    out->crashes = sum.crashes;
    cleave__histogram_free(&sum.waiting_ns);
    cleave__histogram_free(&sum.answering_ns);
    return status;
}

enum cleave_status cleave__stream_serve(const struct cleave__streaming *streaming,
                                        struct cleave__streamed *out, struct cleave_error *error)
{
    struct play play = {0};
    struct cleave__streamed streamed = {0};
    enum cleave_status status = cleave__stream_world_make(streaming, &play.world, error);
    play.world.watch = &play.watch;
    if (!status && streaming->metrics)
        status = cleave__stream_watch_make(&play.watch, streaming, error);
    if (status)
        return status;
    struct cleave_runtime_options options = {.transport = streaming->transport,
                                             .seed = streaming->seed,
                                             .threads = streaming->threads,
                                             .metrics = streaming->metrics,
                                             .nats = streaming->nats,
                                             .sim = {.remote = streaming->delay,
                                                     .trace = streaming->trace,
                                                     .faults = streaming->faults,
                                                     .fault_count = streaming->fault_count}};
    play.seats =
        calloc((size_t)2 * streaming->evaluators + streaming->routers + 3, sizeof *play.seats);
    if (!play.seats)
        return no_memory(error);
    status = cleave__runtime_new(&options, &play.runtime, error);
    if (!status)
        status = spawn_all(&play, error);
    if (!status)
        status = cleave__runtime_run(play.runtime, 0, streaming->progress, error);
    if (!status)
        status = measure(&play, &streamed, error);
    cleave__runtime_free(play.runtime);
    free(play.seats);
    if (status)
        cleave__streamed_free(&streamed);
    else
        *out = streamed;
    return status;
}

void cleave__streamed_free(struct cleave__streamed *streamed)
{
    free(streamed->rebalances);
    free(streamed->load);
    free(streamed->busy_ns);
    free(streamed->held);
    free(streamed->cells);
    free(streamed->pairs);
    *streamed = (struct cleave__streamed){0};
}
