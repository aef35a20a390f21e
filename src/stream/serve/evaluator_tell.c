/* A router that was restarted asks for all terms that queries here need; router_keep.c has why the
 * epoch rises then, and all other routers are told to doubt what was confirmed before. */
#include "stream/serve/evaluator.h"

static void send_doubt(struct cleave__evaluator *e, struct cleave_context *context, uint32_t router,
                       uint32_t tries)
{
    struct cleave_writer *writer = cleave__context_writer(context);
    cleave__put32(writer, e->doubt_epoch);
    cleave__stream_request(
        context, e->seat->world, cleave__router_actor(e->seat->world, router), CLEAVE__STREAM_DOUBT,
        writer, tries, cleave__evaluator_tag(CLEAVE__TAG_DOUBT, (uint64_t)tries << 32 | router));
}

bool cleave__evaluator_doubts(const struct cleave__evaluator *e)
{
    for (uint32_t r = 0; r < e->seat->world->streaming->routers; r++) {
        if (e->doubted[r] < e->doubt_epoch)
            return true;
    }
    return false;
}

void cleave__evaluator_send_doubts(struct cleave__evaluator *e, struct cleave_context *context)
{
    for (uint32_t r = 0; r < e->seat->world->streaming->routers; r++) {
        if (e->doubted[r] < e->doubt_epoch)
            send_doubt(e, context, r, 0);
    }
}

void cleave__evaluator_doubt_answer(struct cleave__evaluator *e, struct cleave_context *context,
                                    const struct cleave_message *message)
{
    struct cleave_reader reader = cleave__body(message);
    uint32_t router = (uint32_t)message->tag;
    if (message->sort != CLEAVE_TIMEOUT) {
        uint32_t epoch = cleave__get32(&reader);
        e->doubted[router] = epoch > e->doubted[router] ? epoch : e->doubted[router];
    } else if (e->doubted[router] < e->doubt_epoch) {
        send_doubt(e, context, router, cleave__tries_more((uint32_t)(message->tag >> 32 & 0xffff)));
    }
}

void cleave__evaluator_tell(struct cleave__evaluator *e, struct cleave_context *context,
                            const struct cleave_message *message)
{
    struct cleave_reader reader = cleave__body(message);
    uint32_t router = message->sender - cleave__router_actor(e->seat->world, 0);
    uint64_t life = cleave__get64(&reader), term, count;
    size_t at = 0;
    if (life != e->router_life[router]) {
        e->router_life[router] = life;
        e->doubt_epoch = ++e->epoch;
        cleave__evaluator_save(e, context);
        cleave__evaluator_send_doubts(e, context);
    }
    struct cleave_writer *writer = cleave__context_writer(context);
    cleave__put32(writer, e->epoch);
    while (cleave__map_next(&e->need, &at, &term, &count))
        cleave__put32(writer, (uint32_t)term);
    if (writer->failed)
        cleave__stream_no_memory(context);
    else
        cleave__context_answer(context, message->promise, CLEAVE__STREAM_DONE, writer->data,
                               writer->count);
}
