/* A client's backend on a node: does its part of a transaction, and coordinates those that the
 * client sends here. The client has one transaction under way, and is answered when every part has
 * committed, so a backend has to do with one transaction at a time. */
#include <assert.h>
#include <stdlib.h>

#include "tables/serve/actors.h"

/* What is flushed: a timer's tag. */
enum flushed {
    PART = 1, /* what a part has prepared or committed */
    ALONE,    /* a transaction of one part */
    DECISION
};

struct backend {
    const struct cleave__seat *seat;
    struct cleave_promise asked; /* by the client, or by the coordinator */
    /* of the transaction that this is the coordinator of, or a part */
    uint64_t transaction;
    uint32_t accesses;
    uint32_t outstanding; /* answers of parts */
    bool decided;
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

static void work(struct cleave_context *context, const struct cleave_distribution *each,
                 uint32_t times)
{
    struct cleave_random *random = cleave__context_random(context);
    uint64_t ns = 0;
    for (uint32_t i = 0; i < times; i++)
        ns += cleave__distribution_draw(each, random);
    cleave__context_spend(context, ns);
}

static void flush(const struct backend *backend, struct cleave_context *context, enum flushed what)
{
    const struct cleave_simulation *simulation = backend->seat->cluster->simulation;
    cleave__context_timer(
        context, cleave__distribution_draw(&simulation->flush, cleave__context_random(context)),
        what);
}

static void answer(const struct backend *backend, struct cleave_context *context)
{
    struct cleave_writer *writer = cleave__context_writer(context);
    cleave__serve_body(writer, backend->transaction, backend->accesses);
    cleave__context_answer(context, backend->asked, CLEAVE__SERVE_DONE, writer->data,
                           writer->count);
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

/* All parts have answered: the decision, or the end. */
static void go_on(struct backend *backend, struct cleave_context *context)
{
    const struct cleave__cluster *cluster = backend->seat->cluster;
    const struct cleave_plan *plan = cluster->plan;
    uint64_t transaction = backend->transaction % plan->transactions;
    if (backend->decided) {
        answer(backend, context);
        return;
    }
    work(context, &cluster->simulation->gather, plan->gathers.data[transaction]);
    if (plan->writes.data[transaction])
        flush(backend, context, DECISION);
    else
        answer(backend, context);
}

static void flushed(struct backend *backend, struct cleave_context *context, enum flushed what)
{
    if (what == DECISION) {
        backend->decided = true;
        ask_parts(backend, context, CLEAVE__SERVE_COMMIT);
    } else {
        answer(backend, context);
    }
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct backend *backend = self;
    const struct cleave_plan *plan = backend->seat->cluster->plan;
    const struct cleave_simulation *simulation = backend->seat->cluster->simulation;
    if (message->sort == CLEAVE_TIMER) {
        flushed(backend, context, (enum flushed)message->tag);
        return;
    }
    if (message->sort == CLEAVE_REPLY) {
        assert(backend->outstanding > 0);
        if (--backend->outstanding == 0)
            go_on(backend, context);
        return;
    }
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    backend->transaction = cleave__get_varint(&reader);
    backend->accesses = cleave__get_count(&reader, UINT32_MAX);
    backend->asked = message->promise;
    if (reader.failed) {
        cleave__context_fail(context, CLEAVE_CORRUPT, "a request is cut short");
        return;
    }
    bool writes = plan->writes.data[backend->transaction % plan->transactions];
    switch ((enum cleave__serve_kind)message->kind) {
    case CLEAVE__SERVE_RUN:
        backend->decided = false;
        work(context, &simulation->work, ask_parts(backend, context, CLEAVE__SERVE_PART));
        if (backend->outstanding)
            break;
        if (writes)
            flush(backend, context, ALONE);
        else
            answer(backend, context);
        break;
    case CLEAVE__SERVE_PART:
        work(context, &simulation->work, backend->accesses);
        work(context, &simulation->prepare, writes);
        if (writes)
            flush(backend, context, PART);
        else
            answer(backend, context);
        break;
    case CLEAVE__SERVE_COMMIT:
        work(context, &simulation->prepare, 1);
        flush(backend, context, PART);
        break;
    case CLEAVE__SERVE_DONE:
        break;
    }
}

const struct cleave_actor_ops cleave__backend_ops = {"backend", create, free, receive, NULL};
