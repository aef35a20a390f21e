/* What of a router outlives a crash, and how it learns the rest again.
 *
 * Kept: the map, the move it is in, evaluators' epochs, how often it was started (its *life*). Not
 * kept: summaries, and what was under way, which its senders ask for again.
 *
 * A router that was restarted asks each evaluator for all terms that queries there need, and keeps
 * no object from an evaluator until it was told. There is a hole to close: another router may rely
 * on a keyword that this one had acknowledged before its crash, of a query that is still on its way
 * to the evaluator. So an evaluator that is asked by a life that it does not know raises its epoch:
 * what was decided by the old one is told all routers before it is acknowledged (keep), as after
 * shedding; and routers, when they are told of the epoch, take no keyword for confirmed that was
 * before (doubt). */
#include <stdlib.h>

#include "stream/serve/router.h"

void cleave__router_write(const struct cleave__router *r, struct cleave_writer *w)
{
    uint32_t evaluators = r->seat->world->streaming->evaluators;
    cleave__put64(w, r->life);
    cleave__put8(w, r->open);
    cleave__put8(w, r->mapped);
    cleave__put64(w, r->opened);
    cleave__put32(w, r->open_from);
    cleave__put32(w, r->open_to);
    cleave__move_router_write(&r->move, w);
    for (uint32_t e = 0; e < evaluators; e++) {
        struct cleave__cells cells = cleave__agrid_partition(r->agrid, e);
        cleave__put32(w, r->epoch[e]);
        cleave__put32(w, cells.x0);
        cleave__put32(w, cells.y0);
        cleave__put32(w, cells.x1);
        cleave__put32(w, cells.y1);
    }
}

void cleave__router_save(struct cleave__router *r, struct cleave_context *context)
{
    if (!r->seat->world->durable)
        return;
    struct cleave_writer *writer = cleave__context_writer(context);
    cleave__router_write(r, writer);
    if (writer->failed)
        cleave__stream_no_memory(context);
    else
        cleave__context_save(context, writer->data, writer->count);
}

enum cleave_status cleave__router_load(struct cleave__router *r, const uint8_t *saved,
                                       size_t length, struct cleave_error *error)
{
    const struct cleave__streaming *streaming = r->seat->world->streaming;
    uint32_t evaluators = streaming->evaluators;
    struct cleave_reader reader = {saved, saved + length, false};
    struct cleave__cells *cells = calloc(evaluators, sizeof *cells);
    struct cleave__agrid *agrid = NULL;
    if (!cells)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for what a router kept");
    r->life = cleave__get64(&reader);
    r->open = cleave__get8(&reader);
    r->mapped = cleave__get8(&reader);
    r->opened = cleave__get64(&reader);
    r->open_from = cleave__get32(&reader);
    r->open_to = cleave__get32(&reader);
    cleave__move_router_read(&r->move, &reader);
    for (uint32_t e = 0; e < evaluators; e++) {
        r->epoch[e] = cleave__get32(&reader);
        cells[e].x0 = cleave__get32(&reader);
        cells[e].y0 = cleave__get32(&reader);
        cells[e].x1 = cleave__get32(&reader);
        cells[e].y1 = cleave__get32(&reader);
    }
    uint32_t source = r->move.source - cleave__evaluator_actor(0);
    enum cleave_status status = CLEAVE_OK;
    if (reader.failed || cleave__left(&reader) || r->open_from >= evaluators ||
        r->open_to >= evaluators || (r->move.waits && source >= evaluators))
        status = cleave_error_set(error, CLEAVE_CORRUPT, "what a router kept makes no sense");
    if (!status)
        status = cleave__agrid_new(&streaming->grid, cells, evaluators, &agrid, error);
    for (uint32_t e = 0; e < evaluators; e++)
        r->doubted[e] = r->epoch[e];
    free(cells);
    if (status == CLEAVE_BAD_ARGUMENT)
        status = CLEAVE_CORRUPT;
    if (status)
        return status;
    cleave__agrid_free(r->agrid);
    r->agrid = agrid;
    return CLEAVE_OK;
}

void cleave__router_ask(struct cleave__router *r, struct cleave_context *context,
                        uint32_t evaluator)
{
    struct cleave__router_ask *ask = &r->asks[evaluator];
    struct cleave_writer *writer = cleave__context_writer(context);
    ask->number = ask->number % 0xfffe + 1;
    ask->waits = true;
#ifdef CLEAVE_PLANT_NO_ASK /* a bug that tests build in, to see it found */
    ask->waits = false;
#endif
    cleave__put64(writer, r->life);
    cleave__stream_request(context, r->seat->world, cleave__evaluator_actor(evaluator),
                           CLEAVE__STREAM_TELL, writer, ask->tries,
                           cleave__router_tag(CLEAVE__TAG_TELL, ask->number, evaluator));
}

void cleave__router_told(struct cleave__router *r, struct cleave_context *context,
                         const struct cleave_message *message)
{
    uint32_t evaluator = (uint32_t)message->tag;
    struct cleave__router_ask *ask = &r->asks[evaluator];
    struct cleave_reader reader = cleave__body(message);
    struct cleave_error error;
    if ((message->tag >> 32 & 0xffff) != ask->number)
        return; /* of an earlier question */
    if (message->sort == CLEAVE_TIMEOUT) {
        ask->tries = cleave__tries_more(ask->tries);
        cleave__router_ask(r, context, evaluator);
        return;
    }
    uint32_t epoch = cleave__get32(&reader);
    while (cleave__left(&reader)) {
        uint32_t term = cleave__get32(&reader);
        if (reader.failed || term == CLEAVE__NO_TERM) {
            cleave__stream_corrupt(context, "terms that make no sense");
            return;
        }
        if (cleave__summary_add(r->summary, evaluator, term, epoch, false, &error)) {
            cleave__stream_no_memory(context);
            return;
        }
    }
    ask->waits = false;
    ask->tries = 0;
    cleave__router_doubt(r, context, evaluator, epoch);
}

void cleave__router_doubt(struct cleave__router *r, struct cleave_context *context,
                          uint32_t evaluator, uint32_t epoch)
{
    if (epoch <= r->doubted[evaluator])
        return;
    r->doubted[evaluator] = epoch;
    cleave__summary_doubt(r->summary, evaluator);
    if (epoch > r->epoch[evaluator]) {
        r->epoch[evaluator] = epoch;
        cleave__router_save(r, context);
    }
}

void cleave__router_doubts(struct cleave__router *r, struct cleave_context *context,
                           const struct cleave_message *message)
{
    struct cleave_reader reader = cleave__body(message);
    uint8_t answer[4];
    uint32_t epoch = cleave__get32(&reader);
    cleave__router_doubt(r, context, message->sender - cleave__evaluator_actor(0), epoch);
    cleave__store32(answer, epoch);
    cleave__context_answer(context, message->promise, CLEAVE__STREAM_DONE, answer, sizeof answer);
}

void cleave__router_start(void *self, struct cleave_context *context, const uint8_t *saved,
                          size_t length)
{
    struct cleave__router *r = self;
    const struct cleave__streaming *streaming = r->seat->world->streaming;
    struct cleave_error error;
    r->context = context;
    if (!r->seat->world->durable)
        return;
    enum cleave_status status = saved ? cleave__router_load(r, saved, length, &error) : CLEAVE_OK;
    if (status) {
        cleave__context_fail(context, status, "%s", error.message);
        return;
    }
    r->life++;
    cleave__router_save(r, context);
    if (!saved)
        return; /* nobody has queries yet */
    for (uint32_t e = 0; e < streaming->evaluators; e++)
        cleave__router_ask(r, context, e);
    cleave__move_router_resume(&r->move, context);
}
