/* A router: made, freed, and who takes which message. */
#include "stream/serve/router.h"

#include <stdlib.h>

static void destroy(void *self)
{
    struct cleave__router *r = self;
    cleave__agrid_free(r->agrid);
    cleave__summary_free(r->summary);
    free(r->epoch);
    free(r->doubted);
    free(r->asks);
    CLEAVE_VECTOR_FREE(&r->batches);
    CLEAVE_VECTOR_FREE(&r->free_batches);
    for (size_t i = 0; i < r->parts.count; i++)
        free(r->parts.data[i].body);
    CLEAVE_VECTOR_FREE(&r->parts);
    CLEAVE_VECTOR_FREE(&r->free_parts);
    for (size_t i = 0; i < r->groups.count; i++) {
        free(r->groups.data[i].body);
        CLEAVE_VECTOR_FREE(&r->groups.data[i].added);
    }
    CLEAVE_VECTOR_FREE(&r->groups);
    CLEAVE_VECTOR_FREE(&r->confirmed);
    cleave__map_free(&r->fresh);
    for (uint32_t e = 0; r->to && e < r->seat->world->streaming->evaluators; e++)
        free(r->to[e].data);
    free(r->to);
    CLEAVE_VECTOR_FREE(&r->touched);
    free(r->found);
    free(r->frequencies);
    cleave__arena_free(&r->arena);
    free(r);
}

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    const struct cleave__stream_seat *seat = argument;
    const struct cleave__streaming *streaming = seat->world->streaming;
    struct cleave__router *r = calloc(1, sizeof *r);
    if (!r)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a router");
    r->seat = seat;
    r->move = (struct cleave__move_router){
        .ops = &cleave__router_move_ops, .holder = r, .retry_ns = streaming->retry_ns};
    r->epoch = calloc(streaming->evaluators, sizeof *r->epoch);
    r->doubted = calloc(streaming->evaluators, sizeof *r->doubted);
    r->asks = calloc(streaming->evaluators, sizeof *r->asks);
    r->to = calloc(streaming->evaluators, sizeof *r->to);
    r->found = calloc(streaming->evaluators, sizeof *r->found);
    enum cleave_status status =
        r->epoch && r->doubted && r->asks && r->to && r->found
            ? CLEAVE_OK
            : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a router");
    if (!status && streaming->routing == CLEAVE__ROUTING_AGRID)
        status = cleave__agrid_new(&streaming->grid, streaming->partitions, streaming->evaluators,
                                   &r->agrid, error);
    if (!status)
        status = cleave__summary_new(streaming->evaluators, &r->summary, error);
    if (status) {
        destroy(r);
        return status;
    }
    *self = r;
    return CLEAVE_OK;
}

struct cleave_writer *cleave__router_to(struct cleave__router *router,
                                        struct cleave_context *context, uint32_t evaluator)
{
    struct cleave_writer *writer = &router->to[evaluator];
    for (size_t i = 0; i < router->touched.count; i++) {
        if (router->touched.data[i] == evaluator)
            return writer;
    }
    if (!CLEAVE_PUSH(&router->touched, evaluator)) {
        cleave__stream_no_memory(context);
        return NULL;
    }
    writer->count = 0;
    return writer;
}

static void open_move(struct cleave__router *r, struct cleave_context *context,
                      const struct cleave_message *message)
{
    struct cleave_reader reader = cleave__body(message);
    uint64_t move = cleave__get64(&reader);
    bool opens = message->kind == CLEAVE__STREAM_OPEN;
    if (opens ? move <= r->opened : move != r->opened || !r->open) { /* asked again */
        cleave__stream_answer(context, message->promise, CLEAVE__STREAM_DONE);
        return;
    }
    r->open = opens;
    r->opened = move;
#ifdef CLEAVE_PLANT_NO_OPEN /* a bug that tests build in, to see it found */
    r->open = false;
#endif
    if (opens) {
        uint32_t from = cleave__get32(&reader), to = cleave__get32(&reader);
        uint32_t evaluators = r->seat->world->streaming->evaluators;
        if (reader.failed || from >= evaluators || to >= evaluators) {
            cleave__stream_corrupt(context, "a move between evaluators that do not exist");
            return;
        }
        r->mapped = false;
        r->open_from = from;
        r->open_to = to;
    }
    cleave__router_save(r, context);
    cleave__stream_answer(context, message->promise, CLEAVE__STREAM_DONE);
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct cleave__router *r = self;
    r->context = context;
    struct cleave_arena_mark mark = cleave__arena_mark(&r->arena);
    cleave__context_spend(context, r->seat->world->streaming->service.message_ns);
    if (cleave__move_message(message)) {
        cleave__move_router_receive(&r->move, context, message);
    } else if (message->sort == CLEAVE_REPLY || message->sort == CLEAVE_TIMEOUT) {
        if (message->tag >> 48 == CLEAVE__TAG_PART)
            cleave__router_part_answered(r, context, message);
        else if (message->tag >> 48 == CLEAVE__TAG_TELL)
            cleave__router_told(r, context, message);
        else
            cleave__router_group_answered(r, context, message);
    } else {
        switch (message->kind) {
        case CLEAVE__STREAM_OBJECTS:
        case CLEAVE__STREAM_OBJECTS_AGAIN:
            cleave__router_objects(r, context, message);
            break;
        case CLEAVE__STREAM_CHANGES:
            cleave__router_changes(r, context, message);
            break;
        case CLEAVE__STREAM_KEYWORDS:
            cleave__router_keywords(r, context, message);
            break;
        case CLEAVE__STREAM_KEEP:
            cleave__router_keep(r, context, message);
            break;
        case CLEAVE__STREAM_SHED:
            cleave__router_shed(r, context, message);
            break;
        case CLEAVE__STREAM_DOUBT:
            cleave__router_doubts(r, context, message);
            break;
        case CLEAVE__STREAM_DRAIN:
            r->draining = true;
            r->drained = message->promise;
            r->drain_to = r->sequence;
            cleave__router_drain(r, context);
            break;
        case CLEAVE__STREAM_OPEN:
        case CLEAVE__STREAM_SHUT:
            open_move(r, context, message);
            break;
        default:
            cleave__stream_corrupt(context, "a message of a kind unknown to routers");
        }
    }
    cleave__arena_rewind(&r->arena, mark);
}

const struct cleave_actor_ops cleave__router_ops = {"router", create, destroy, receive,
                                                    cleave__router_start};
