/* Lazy cleaning: a few slots with each message; when all have been seen, terms that nobody needs
 * are shed from the routers' summaries. */
#include <stdlib.h>

#include "stream/serve/evaluator.h"

void cleave__evaluator_send_shed(struct cleave__evaluator *e, struct cleave_context *context,
                                 uint32_t router, uint32_t tries)
{
    struct cleave_writer *writer = cleave__context_writer(context);
    cleave__put32(writer, e->shed_epoch);
    for (size_t i = 0; i < e->shedding.count; i++)
        cleave__put32(writer, e->shedding.data[i]);
    cleave__stream_request(context, e->seat->world, cleave__router_actor(e->seat->world, router),
                           CLEAVE__STREAM_SHED, writer, tries,
                           cleave__evaluator_tag(CLEAVE__TAG_SHED, (uint64_t)tries << 32 | router));
}

void cleave__evaluator_shed_answer(struct cleave__evaluator *e, struct cleave_context *context,
                                   const struct cleave_message *message)
{
    if (message->sort == CLEAVE_TIMEOUT) {
        cleave__evaluator_send_shed(e, context, (uint32_t)message->tag,
                                    cleave__tries_more((uint32_t)(message->tag >> 32 & 0xffff)));
        return;
    }
    if (--e->shed_waits)
        return;
    e->shedding.count = 0;
    if (e->seat->world->durable)
        cleave__evaluator_save(e, context);
    cleave__move_settle(&e->end, context); /* may have waited */
}

static void shed(struct cleave__evaluator *e, struct cleave_context *context)
{
    if (!e->useless || e->shedding.count || e->end.phase != CLEAVE__MOVE_NONE ||
        e->end.incoming.count || cleave__evaluator_doubts(e))
        return;
    size_t at = 0;
    uint64_t term, count;
    while (cleave__map_next(&e->need, &at, &term, &count)) {
        if (!count && !CLEAVE_PUSH(&e->shedding, (uint32_t)term)) {
            cleave__stream_no_memory(context);
            return;
        }
    }
    for (size_t i = 0; i < e->shedding.count; i++)
        cleave__map_remove(&e->need, e->shedding.data[i]);
    e->shed_terms += e->useless;
    e->useless = 0;
    e->shed_epoch = ++e->epoch;
    e->shed_waits = e->seat->world->streaming->routers;
    if (e->seat->world->durable)
        cleave__evaluator_save(e, context);
    for (uint32_t r = 0; r < e->seat->world->streaming->routers; r++)
        cleave__evaluator_send_shed(e, context, r, 0);
}

/* Nobody would tell this evaluator of their removal. */
void cleave__evaluator_sweep(struct cleave__evaluator *e, uint32_t visits)
{
    for (; visits && e->sweeping < e->sweep_to; visits--, e->sweeping++) {
        struct cleave__query query;
        if (!e->ops->query(e->matcher, e->sweeping, &query))
            continue;
        struct cleave__ranges ranges = cleave__query_ranges(e->seat->world->streaming, &query);
        if (!cleave__ranges_meet(&ranges, e->own))
            cleave__evaluator_remove(e, e->sweeping);
    }
}

void cleave__evaluator_clean(struct cleave__evaluator *e, struct cleave_context *context,
                             uint32_t visits)
{
    uint32_t slots = e->ops->slots(e->matcher);
    cleave__evaluator_sweep(e, 16 * visits);
    for (; visits && e->cleaning < slots; visits--, e->cleaning++) {
        struct cleave__query query;
        if (e->ops->query(e->matcher, e->cleaning, &query) && query.end_ms <= e->done_ms) {
            cleave__evaluator_remove(e, e->cleaning);
            e->expired++;
        }
    }
    if (e->cleaning < slots)
        return;
    e->cleaning = 0;
    shed(e, context);
}
