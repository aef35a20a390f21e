/* A router's summary, as other routers, evaluators and moves change it. */
#include "stream/serve/router.h"

static struct cleave__keyword get_keyword(struct cleave_reader *reader)
{
    struct cleave__keyword k = {.evaluator = cleave__get32(reader)};
    k.term = cleave__get32(reader);
    k.stamp = cleave__get32(reader);
    return k;
}

static bool add(struct cleave__router *r, struct cleave_context *context, struct cleave__keyword k)
{
    struct cleave_error error;
    if (!cleave__summary_add(r->summary, k.evaluator, k.term, k.stamp, false, &error))
        return true;
    cleave__stream_no_memory(context);
    return false;
}

/* Whoever tells it may have had the old map: what is for the source of a move is for the target
 * too.
 */
static bool add_for_all(struct cleave__router *r, struct cleave_context *context,
                        struct cleave__keyword k)
{
    if (!add(r, context, k))
        return false;
    if (!r->open || !r->mapped || k.evaluator != r->open_from)
        return true;
    return add(r, context, (struct cleave__keyword){r->open_to, k.term, r->epoch[r->open_to] + 1});
}

void cleave__router_keywords(struct cleave__router *r, struct cleave_context *context,
                             const struct cleave_message *message)
{
    struct cleave_reader reader = cleave__body(message);
    const struct cleave__streaming *streaming = r->seat->world->streaming;
    uint32_t evaluators = streaming->evaluators, adds = cleave__get32(&reader);
    for (uint32_t left = adds; left; left--) {
        struct cleave__keyword k = get_keyword(&reader);
        if (reader.failed || k.evaluator >= evaluators) {
            cleave__stream_corrupt(context, "keywords that make no sense");
            return;
        }
        if (!add_for_all(r, context, k))
            return;
    }
    while (cleave__left(&reader)) {
        struct cleave__keyword k = get_keyword(&reader);
        if (!reader.failed && k.evaluator < evaluators && k.stamp >= r->doubted[k.evaluator])
            cleave__summary_confirm(r->summary, k.evaluator, k.term, k.stamp);
    }
    cleave__context_spend(context, adds * streaming->service.keyword_ns);
    cleave__stream_answer(context, message->promise, CLEAVE__STREAM_DONE);
}

void cleave__router_keep(struct cleave__router *r, struct cleave_context *context,
                         const struct cleave_message *message)
{
    struct cleave_reader reader = cleave__body(message);
    struct cleave__keyword k = {.evaluator = message->sender - cleave__evaluator_actor(0),
                                .stamp = cleave__get32(&reader)};
    while (cleave__left(&reader)) {
        k.term = cleave__get32(&reader);
        if (!add_for_all(r, context, k))
            return;
    }
    cleave__stream_answer(context, message->promise, CLEAVE__STREAM_DONE);
}

void cleave__router_shed(struct cleave__router *r, struct cleave_context *context,
                         const struct cleave_message *message)
{
    struct cleave_reader reader = cleave__body(message);
    uint32_t evaluator = message->sender - cleave__evaluator_actor(0);
    uint32_t epoch = cleave__get32(&reader);
    while (cleave__left(&reader))
        cleave__summary_remove_older(r->summary, evaluator, cleave__get32(&reader), epoch);
    if (epoch > r->epoch[evaluator]) {
        r->epoch[evaluator] = epoch;
        cleave__router_save(r, context);
    }
    cleave__stream_answer(context, message->promise, CLEAVE__STREAM_DONE);
}

/* The cells of a move have a new evaluator; until all routers know, see `open`. */
static void map(void *holder, uint32_t target, const uint8_t *pieces, size_t count)
{
    struct cleave__router *r = holder;
    uint32_t from = r->move.source - cleave__evaluator_actor(0);
    uint32_t to = target - cleave__evaluator_actor(0);
    struct cleave_error error;
    struct cleave__cells cells = cleave__pieces_cells(&r->agrid->grid, cleave__load64(pieces),
                                                      cleave__load64(pieces + 8 * (count - 1)));
    if (!cleave__agrid_move(r->agrid, from, to, cells)) {
        cleave__stream_corrupt(r->context, "a map that leaves no rectangles");
        return;
    }
    r->mapped = true;
    if (r->asks[from].waits) /* what it knows of the source is not all */
        cleave__router_ask(r, r->context, to);
    if (cleave__summary_unite(r->summary, to, from, r->epoch[to] + 1, &error))
        cleave__stream_no_memory(r->context);
}

static void save(void *holder, struct cleave_context *context)
{
    cleave__router_save(holder, context);
}

const struct cleave__move_router_ops cleave__router_move_ops = {map, save};
