/* A client's backend on a node: does its part of a transaction, and coordinates those that the
 * client sends here. The client has one transaction under way, and is answered when every part has
 * committed, so a backend has to do with one transaction at a time. */
#include <assert.h>
#include <stdlib.h>

#include "tables/serve/actors.h"

struct backend {
    const struct cleave__seat *seat;
    /* of the transaction coordinated here */
    struct cleave_promise client;
    uint64_t transaction;
    uint32_t outstanding; /* answers of parts */
    bool committing;
};

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    struct backend *backend = calloc(1, sizeof *backend);
    if (!backend)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a simulated backend");
    backend->seat = argument;
    *self = backend;
    return CLEAVE_OK;
}

static void work(const struct backend *backend, struct cleave_context *context, uint32_t accesses,
                 uint32_t flushes)
{
    const struct cleave_simulation *simulation = backend->seat->cluster->simulation;
    struct cleave_random *random = cleave__context_random(context);
    uint64_t ns = 0;
    for (uint32_t i = 0; i < accesses; i++)
        ns += cleave__distribution_draw(&simulation->work, random);
    for (uint32_t i = 0; i < flushes; i++)
        ns += cleave__distribution_draw(&simulation->flush, random);
    cleave__context_spend(context, ns);
}

static void answer(struct cleave_context *context, struct cleave_promise promise,
                   uint64_t transaction, uint32_t accesses)
{
    struct cleave_writer *writer = cleave__context_writer(context);
    cleave__serve_body(writer, transaction, accesses);
    cleave__context_answer(context, promise, CLEAVE__SERVE_DONE, writer->data, writer->count);
}

/* To every part but the one here; how many accesses that one has. */
static uint32_t ask_parts(struct backend *backend, struct cleave_context *context,
                          enum cleave__serve_kind kind)
{
    const struct cleave__cluster *cluster = backend->seat->cluster;
    const struct cleave_plan *plan = cluster->plan;
    uint32_t transaction = (uint32_t)(backend->transaction % plan->transactions), here = 0;
    for (uint64_t p = plan->offsets.data[transaction]; p < plan->offsets.data[transaction + 1];
         p++) {
        const struct cleave_plan_part *part = &plan->parts.data[p];
        uint32_t actor = cleave__backend_of(cluster, part->shard, backend->seat->client);
        if (actor == cleave__context_self(context)) {
            here = part->accesses;
            continue;
        }
        struct cleave_writer *writer = cleave__context_writer(context);
        cleave__serve_body(writer, backend->transaction,
                           kind == CLEAVE__SERVE_PART ? part->accesses : 0);
        cleave__context_request(context, actor, kind, writer->data, writer->count, 0, 0);
        backend->outstanding++;
    }
    return here;
}

static uint32_t accesses_of(const struct cleave_plan *plan, uint64_t number)
{
    uint64_t transaction = number % plan->transactions;
    uint32_t accesses = 0;
    for (uint64_t p = plan->offsets.data[transaction]; p < plan->offsets.data[transaction + 1]; p++)
        accesses += plan->parts.data[p].accesses;
    return accesses;
}

/* All parts have answered: commit, or the end. */
static void go_on(struct backend *backend, struct cleave_context *context)
{
    const struct cleave_plan *plan = backend->seat->cluster->plan;
    bool writes = plan->writes.data[backend->transaction % plan->transactions];
    if (writes && !backend->committing) {
        backend->committing = true;
        work(backend, context, 0, 1); /* the decision */
        ask_parts(backend, context, CLEAVE__SERVE_COMMIT);
        work(backend, context, 0, 1); /* its own commit, while the others do theirs */
        return;
    }
    answer(context, backend->client, backend->transaction, accesses_of(plan, backend->transaction));
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct backend *backend = self;
    const struct cleave_plan *plan = backend->seat->cluster->plan;
    if (message->sort == CLEAVE_REPLY) {
        assert(backend->outstanding > 0);
        if (--backend->outstanding == 0)
            go_on(backend, context);
        return;
    }
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    uint64_t transaction = cleave__get_varint(&reader);
    uint32_t accesses = cleave__get_count(&reader, UINT32_MAX);
    if (reader.failed) {
        cleave__context_fail(context, CLEAVE_CORRUPT, "a request is cut short");
        return;
    }
    bool writes = plan->writes.data[transaction % plan->transactions];
    switch ((enum cleave__serve_kind)message->kind) {
    case CLEAVE__SERVE_RUN:
        backend->client = message->promise;
        backend->transaction = transaction;
        backend->committing = false;
        accesses = ask_parts(backend, context, CLEAVE__SERVE_PART);
        work(backend, context, accesses, writes);
        if (backend->outstanding == 0)
            answer(context, message->promise, transaction, accesses);
        break;
    case CLEAVE__SERVE_PART:
        work(backend, context, accesses, writes);
        answer(context, message->promise, transaction, accesses);
        break;
    case CLEAVE__SERVE_COMMIT:
        work(backend, context, 0, 1);
        answer(context, message->promise, transaction, 0);
        break;
    case CLEAVE__SERVE_DONE:
        break;
    }
}

const struct cleave_actor_ops cleave__backend_ops = {"backend", create, free, receive, NULL};
