/* Objects go to the evaluator that has their cell, if its queries can have them. */
#include <stdlib.h>
#include <string.h>

#include "stream/route/texthash.h"
#include "stream/serve/router.h"

enum { FREQUENCIES_MOST = 1 << 22 };

/* Counts terms of every eighth object: which of a query's keywords is rare. */
static void learn(struct cleave__router *r, const struct cleave__object *object)
{
    if (r->objects++ % 8)
        return;
    for (uint32_t i = 0; i < object->term_count; i++) {
        uint32_t term = object->terms[i];
        if (term >= FREQUENCIES_MOST)
            continue;
        if (term >= r->frequency_count) {
            uint32_t count = term + term / 2 + 64;
            uint32_t *more = realloc(r->frequencies, count * sizeof *more);
            if (!more)
                return; /* it only helps */
            memset(more + r->frequency_count, 0, (count - r->frequency_count) * sizeof *more);
            r->frequencies = more;
            r->frequency_count = count;
        }
        r->frequencies[term]++;
    }
}

static uint32_t new_part(struct cleave__router *r)
{
    if (r->free_parts.count)
        return r->free_parts.data[--r->free_parts.count];
    if (!CLEAVE_RESERVE(&r->free_parts, r->parts.count + 1) ||
        !CLEAVE_PUSH(&r->parts, (struct cleave__router_part){0}))
        return UINT32_MAX;
    return (uint32_t)r->parts.count - 1;
}

/* Sends what `to` has for each touched evaluator as parts of a batch. */
static bool send_parts(struct cleave__router *r, struct cleave_context *context, uint32_t batch,
                       uint32_t tries)
{
    const struct cleave__stream_world *world = r->seat->world;
    for (size_t i = 0; i < r->touched.count; i++) {
        uint32_t evaluator = r->touched.data[i], part = new_part(r);
        struct cleave_writer *writer = &r->to[evaluator];
        if (part == UINT32_MAX || writer->failed) {
            cleave__stream_no_memory(context);
            return false;
        }
        r->parts.data[part] = (struct cleave__router_part){.batch = batch, .tries = tries};
        if (world->durable) {
            uint8_t *copy = malloc(writer->count);
            if (!copy) {
                cleave__stream_no_memory(context);
                return false;
            }
            memcpy(copy, writer->data, writer->count);
            r->parts.data[part].body = copy;
            r->parts.data[part].length = writer->count;
        }
        r->batches.data[batch].waits++;
        cleave__stream_request(context, world, cleave__evaluator_actor(evaluator),
                               CLEAVE__STREAM_EVALUATE, writer, tries,
                               cleave__router_tag(CLEAVE__TAG_PART, 0, part));
    }
    return true;
}

static bool wanted(const struct cleave__router *r, uint32_t evaluator,
                   const struct cleave__object *object)
{
    if (r->seat->world->streaming->summary == CLEAVE__SUMMARY_NONE || !r->agrid ||
        (r->seat->world->streaming->track && object->id) || r->asks[evaluator].waits ||
        (r->open && (evaluator == r->open_from || evaluator == r->open_to)))
        return true;
    return cleave__summary_any(r->summary, evaluator, object->terms, object->term_count);
}

/* Into `found`; their count. */
static uint32_t target(struct cleave__router *r, const struct cleave__object *object)
{
    const struct cleave__streaming *streaming = r->seat->world->streaming;
    if (streaming->routing == CLEAVE__ROUTING_TEXT)
        return cleave__texthash_object(object, streaming->evaluators, r->found);
    r->found[0] = streaming->routing == CLEAVE__ROUTING_AGRID
                      ? cleave__agrid_point(r->agrid, object->x, object->y)
                      : cleave__broadcast_object(object, streaming->evaluators);
    return 1;
}

/* Sorts objects by evaluator, by the map of now. `all`: whatever the summaries say. */
static bool sort(struct cleave__router *r, struct cleave_context *context,
                 struct cleave_reader *reader, const struct cleave__objects_head *head, bool all)
{
    uint64_t count = 0;
    r->touched.count = 0;
    while (cleave__left(reader)) {
        const uint8_t *from = reader->at;
        struct cleave__object object;
        bool no_memory = false;
        if (!cleave__object_read(reader, &r->arena, &object, &no_memory)) {
            if (no_memory)
                cleave__stream_no_memory(context);
            else
                cleave__stream_corrupt(context, "an object that makes no sense");
            return false;
        }
        count++;
        learn(r, &object);
        uint32_t targets = target(r, &object);
        if (!all && targets == 1 && !wanted(r, r->found[0], &object)) {
            r->pruned++;
            cleave__counter_add(r->seat->world->watch->pruned, 1);
            continue;
        }
        for (uint32_t i = 0; i < targets; i++) {
            struct cleave_writer *writer = cleave__router_to(r, context, r->found[i]);
            if (!writer)
                return false;
            if (!writer->count)
                cleave__put_head(writer, head);
            cleave__put_bytes(writer, from, (size_t)(reader->at - from));
        }
    }
    cleave__context_spend(context, count * r->seat->world->streaming->service.route_object_ns);
    return true;
}

void cleave__router_objects(struct cleave__router *r, struct cleave_context *context,
                            const struct cleave_message *message)
{
    struct cleave_reader reader = cleave__body(message);
    struct cleave__objects_head head = cleave__get_head(&reader);
    if (!sort(r, context, &reader, &head, message->kind == CLEAVE__STREAM_OBJECTS_AGAIN))
        return;
    if (!r->touched.count) {
        cleave__stream_answer(context, message->promise, CLEAVE__STREAM_DONE);
        return;
    }
    uint32_t batch;
    if (r->free_batches.count) {
        batch = r->free_batches.data[--r->free_batches.count];
    } else {
        batch = (uint32_t)r->batches.count;
        if (!CLEAVE_RESERVE(&r->free_batches, r->batches.count + 1) ||
            !CLEAVE_PUSH(&r->batches, (struct cleave__router_batch){0})) {
            cleave__stream_no_memory(context);
            return;
        }
    }
    r->batches.data[batch] = (struct cleave__router_batch){message->promise, 0};
    send_parts(r, context, batch, 0);
}

void cleave__router_part_answered(struct cleave__router *r, struct cleave_context *context,
                                  const struct cleave_message *message)
{
    uint32_t index = (uint32_t)message->tag;
    struct cleave__router_part part = r->parts.data[index];
    r->parts.data[index] = (struct cleave__router_part){.batch = UINT32_MAX};
    r->free_parts.data[r->free_parts.count++] = index;
    struct cleave__router_batch *batch = &r->batches.data[part.batch];
    batch->waits--;
    if (message->sort == CLEAVE_TIMEOUT || message->kind == CLEAVE__STREAM_ASTRAY) {
        struct cleave_reader reader = {part.body, part.body + part.length, false};
        struct cleave__objects_head head = cleave__get_head(&reader);
        r->repeated++;
        if (sort(r, context, &reader, &head, true))
            send_parts(r, context, part.batch, cleave__tries_more(part.tries));
        batch = &r->batches.data[part.batch];
    }
    free(part.body);
    if (batch->waits)
        return;
    cleave__stream_answer(context, batch->promise, CLEAVE__STREAM_DONE);
    r->free_batches.data[r->free_batches.count++] = part.batch;
}
