/* Routers: who takes a new map tells the source that nothing by the old one will follow. */
#include "move/move.h"

static void send_barrier(struct cleave__move_router *router, struct cleave_context *context,
                         uint32_t tries)
{
    cleave__move_request(context, router->source, CLEAVE__MOVE_BARRIER, router->number,
                         router->retry_ns, tries, router->number);
}

void cleave__move_router_resume(struct cleave__move_router *router, struct cleave_context *context)
{
    if (router->waits)
        send_barrier(router, context, 0);
}

static void take_map(struct cleave__move_router *router, struct cleave_context *context,
                     const struct cleave_message *message)
{
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    uint64_t number = cleave__get64(&reader);
    uint32_t source = cleave__get32(&reader), target = cleave__get32(&reader);
    if (number < router->number || (number == router->number && !router->waits)) {
        cleave__move_answer(context, message->promise, CLEAVE__MOVE_DONE);
        return;
    }
    router->promise = message->promise;
    router->promised = true;
    if (number == router->number)
        return; /* asked again */
    router->number = number;
    router->source = source;
    router->waits = true;
    router->ops->map(router->holder, target, reader.at, cleave__left(&reader) / 8);
    router->ops->save(router->holder, context);
    send_barrier(router, context, 0);
}

void cleave__move_router_receive(struct cleave__move_router *router, struct cleave_context *context,
                                 const struct cleave_message *message)
{
    if (message->sort == CLEAVE_REQUEST && message->kind == CLEAVE__MOVE_MAP) {
        take_map(router, context, message);
        return;
    }
    if (!router->waits || cleave__move_tag_detail(message->tag) != router->number)
        return;
    if (message->sort == CLEAVE_TIMEOUT) {
        send_barrier(router, context, cleave__tries_more(cleave__move_tag_tries(message->tag)));
        return;
    }
    router->waits = false;
    router->ops->save(router->holder, context);
    if (router->promised)
        cleave__move_answer(context, router->promise, CLEAVE__MOVE_DONE);
    router->promised = false;
}

void cleave__move_router_write(const struct cleave__move_router *router,
                               struct cleave_writer *writer)
{
    cleave__put64(writer, router->number);
    cleave__put32(writer, router->source);
    cleave__put8(writer, router->waits);
}

bool cleave__move_router_read(struct cleave__move_router *router, struct cleave_reader *reader)
{
    router->number = cleave__get64(reader);
    router->source = cleave__get32(reader);
    router->waits = cleave__get8(reader);
    return !reader->failed;
}
