/* Objects are matched, or sent on to where their cells have gone. */
#include "stream/route/texthash.h"
#include "stream/serve/evaluator.h"

struct batch {
    struct cleave_promise promise;
    struct cleave__objects_head head;
    struct cleave_writer found; /* for the sink */
    struct cleave_writer on;    /* objects for the target of a move, as they came */
    uint32_t on_count;
    bool astray;
};

/* Sorts objects into those to match here and those to send on. False: the run is over. */
static bool read_objects(struct cleave__evaluator *e, struct cleave_context *context,
                         struct cleave_reader *reader, struct batch *batch)
{
    const struct cleave__grid *grid = &e->seat->world->streaming->grid;
    struct cleave__cells away =
        e->end.phase == CLEAVE__MOVE_FORWARDING ? cleave__evaluator_moving(e) : CLEAVE__NO_CELLS;
    e->objects.count = 0;
    while (cleave__left(reader)) {
        const uint8_t *from = reader->at;
        struct cleave__object object;
        bool no_memory = false;
        if (!cleave__object_read(reader, &e->arena, &object, &no_memory)) {
            if (no_memory)
                cleave__stream_no_memory(context);
            else
                cleave__stream_corrupt(context, "an object that makes no sense");
            return false;
        }
        uint32_t column = cleave__grid_column(grid, object.x);
        uint32_t row = cleave__grid_row(grid, object.y);
        if (cleave__cells_have(away, column, row)) {
            cleave__put_bytes(&batch->on, from, (size_t)(reader->at - from));
            batch->on_count++;
            continue;
        }
        if (!cleave__cells_have(e->own, column, row) &&
            !cleave__move_incoming(&e->end, (uint64_t)row * grid->columns + column))
            batch->astray = true;
        if (!CLEAVE_PUSH(&e->objects, object)) {
            cleave__stream_no_memory(context);
            return false;
        }
    }
    return true;
}

/* Of matches that several evaluators see, those that this one reports. */
static void write_reported(const struct cleave__evaluator *e, struct batch *batch,
                           const struct cleave__match *first, const struct cleave__match *end)
{
    uint32_t evaluators = e->seat->world->streaming->evaluators, count = 0;
    size_t at = batch->found.count;
    for (const struct cleave__match *m = first; m < end; m++) {
        struct cleave__query query;
        if (!e->ops->query(e->matcher, m->slot, &query) ||
            !cleave__texthash_reports(&query, &e->objects.data[m->object], e->seat->index,
                                      evaluators))
            continue;
        if (!count++) {
            cleave__put64(&batch->found, e->objects.data[m->object].number);
            cleave__put32(&batch->found, 0);
        }
        cleave__put64(&batch->found, query.id);
    }
    if (count && !batch->found.failed)
        cleave__store32(batch->found.data + at + 8, count);
}

static void write_object(const struct cleave__evaluator *e, struct cleave_writer *found,
                         const struct cleave__object *object, const struct cleave__match *first,
                         const struct cleave__match *end)
{
    bool track = e->seat->world->streaming->track, apart = e->seat->world->streaming->apart;
    cleave__put64(found, object->number);
    if (track) {
        cleave__put64(found, object->id);
        cleave__put64(found, object->sequence);
        cleave__put64(found, object->time_ms);
    }
    cleave__put32(found, (uint32_t)(end - first));
    for (; first < end; first++) {
        struct cleave__query query = {0};
        cleave__put64(found, e->held.data[first->slot].id);
        if (track && e->ops->query(e->matcher, first->slot, &query))
            cleave__put64(found, query.end_ms);
        if (track && apart)
            cleave__put8(found, (uint8_t)query.events);
    }
    if (apart) {
        cleave__put32(found, object->note_length);
        cleave__put_bytes(found, object->note, object->note_length);
    }
}

/* An object's number, how many queries have it, which. Those that none has too, if somebody must
 * know that they were matched. */
static void write_found(const struct cleave__evaluator *e, struct batch *batch)
{
    const struct cleave__match *m = e->matches.items.data, *end = m + e->matches.items.count;
    bool track = e->seat->world->streaming->track;
    for (uint32_t i = 0; i < e->objects.count; i++) {
        const struct cleave__match *first = m;
        while (m < end && m->object == i)
            m++;
        if (e->seat->world->streaming->routing == CLEAVE__ROUTING_TEXT) {
            write_reported(e, batch, first, m);
            continue;
        }
        if (m > first || e->seat->world->durable || (track && e->objects.data[i].id))
            write_object(e, &batch->found, &e->objects.data[i], first, m);
        else
            cleave__counter_add(e->seat->world->watch->unmatched, 1);
    }
}

static bool match(struct cleave__evaluator *e, struct cleave_context *context, struct batch *batch)
{
    const struct cleave__streaming *streaming = e->seat->world->streaming;
    uint32_t count = (uint32_t)e->objects.count;
    struct cleave_error error;
    e->matches.items.count = 0;
    if (!CLEAVE_RESERVE(&e->candidates, count)) {
        cleave__stream_no_memory(context);
        return false;
    }
    enum cleave_status status =
        e->ops->match(e->matcher, e->objects.data, count, &e->matches, e->candidates.data, &error);
    if (status) {
        cleave__context_fail(context, status, "%s", error.message);
        return false;
    }
    uint64_t looked = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct cleave__object *object = &e->objects.data[i];
        uint32_t column = cleave__grid_column(&streaming->grid, object->x);
        uint32_t row = cleave__grid_row(&streaming->grid, object->y);
        uint64_t cost = 1 + (uint64_t)object->term_count + e->candidates.data[i];
        looked += e->candidates.data[i];
        /* What is incoming is not in the sums until it is kept. */
        if (cleave__cells_have(e->own, column, row)) {
            cleave__aggregates_object(e->sums, column, row, cost);
            if (e->loads)
                cleave__cell_loads_object(e->loads, column, row, cost);
        }
        e->load += cost;
    }
    write_found(e, batch);
    e->candidates_seen += looked;
    cleave__context_spend(context, count * streaming->service.match_object_ns +
                                       looked * streaming->service.match_candidate_ns);
    return true;
}

/* Matches to the sink, which answers; what is sent on has them with it. */
static void pass_on(struct cleave__evaluator *e, struct cleave_context *context,
                    struct batch *batch)
{
    struct cleave_writer *writer = cleave__context_writer(context);
    if (batch->found.failed || batch->on.failed) {
        cleave__stream_no_memory(context);
        return;
    }
    cleave__put_promise(writer, batch->promise);
    if (batch->on_count) {
        cleave__put64(writer, batch->found.count);
        cleave__put_bytes(writer, batch->found.data, batch->found.count);
        cleave__put_head(writer, &batch->head);
        cleave__put_bytes(writer, batch->on.data, batch->on.count);
        e->forwarded += batch->on_count;
    } else if (batch->found.count) {
        cleave__put64(writer, batch->head.sent_ns);
        cleave__put_bytes(writer, batch->found.data, batch->found.count);
    } else {
        cleave__stream_answer(context, batch->promise, CLEAVE__STREAM_DONE);
        return;
    }
    if (writer->failed)
        cleave__stream_no_memory(context);
    else if (batch->on_count)
        cleave__context_send(context, e->end.target, CLEAVE__STREAM_EVALUATE_ON, writer->data,
                             writer->count);
    else
        cleave__context_send(context, cleave__sink_actor(e->seat->world, e->seat->index),
                             CLEAVE__STREAM_MATCHES, writer->data, writer->count);
}

void cleave__evaluator_match(struct cleave__evaluator *e, struct cleave_context *context,
                             const struct cleave_message *message)
{
    struct cleave_reader reader = cleave__body(message);
    struct batch batch = {.promise = message->promise};
    if (message->kind == CLEAVE__STREAM_EVALUATE_ON) {
        batch.promise = cleave__get_promise(&reader);
        uint64_t length = cleave__get64(&reader);
        const uint8_t *found = cleave__get_bytes(&reader, length);
        if (found)
            cleave__put_bytes(&batch.found, found, length);
    }
    batch.head = cleave__get_head(&reader);
    bool fine = read_objects(e, context, &reader, &batch);
    if (fine && batch.astray) {
        if (e->seat->world->durable)
            cleave__stream_answer(context, batch.promise, CLEAVE__STREAM_ASTRAY);
        else
            cleave__stream_corrupt(context, "an object came to an evaluator without its cell");
        fine = false;
    }
    e->settled = batch.head.settled > e->settled ? batch.head.settled : e->settled;
    if (fine && match(e, context, &batch))
        pass_on(e, context, &batch);
    if (fine) {
        e->done_ms = batch.head.done_ms > e->done_ms ? batch.head.done_ms : e->done_ms;
        cleave__evaluator_clean(e, context, 1 + (uint32_t)e->objects.count / 2);
    }
    free(batch.found.data);
    free(batch.on.data);
}
