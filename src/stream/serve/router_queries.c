/* Changes of queries go to all evaluators that their ranges meet; new keywords go to the other
 * routers; then they are acknowledged. */
#include <stdlib.h>
#include <string.h>

#include "stream/route/texthash.h"
#include "stream/serve/evaluator.h"
#include "stream/serve/router.h"

static bool no_memory(struct cleave_context *context)
{
    cleave__stream_no_memory(context);
    return false;
}

static uint64_t *fresh(struct cleave__router *r, uint32_t evaluator, uint32_t term, bool put)
{
    uint64_t key = (uint64_t)evaluator << 32 | term;
    return put ? cleave__map_put(&r->fresh, key) : cleave__map_find(&r->fresh, key);
}

static bool add_keyword(struct cleave__router *r, struct cleave_context *context,
                        struct cleave__router_group *group, uint32_t evaluator, uint32_t term)
{
    struct cleave__keyword keyword = {evaluator, term, r->epoch[evaluator]};
    struct cleave_error error;
    bool alone = r->seat->world->streaming->routers == 1;
    if (!fresh(r, evaluator, term, true) || !CLEAVE_PUSH(&group->added, keyword))
        return no_memory(context);
    if (cleave__summary_add(r->summary, evaluator, term, keyword.stamp, alone, &error))
        return no_memory(context);
    return true;
}

/* The keywords of a query for one evaluator, and which covers it. */
static bool cover(struct cleave__router *r, struct cleave_context *context,
                  struct cleave__router_group *group, uint32_t evaluator,
                  struct cleave__record *record)
{
    const struct cleave__query *query = &record->query;
    bool broadcast = r->seat->world->streaming->summary == CLEAVE__SUMMARY_BROADCAST;
    uint32_t *terms = cleave__arena_array(&r->arena, query->term_count + 1, sizeof *terms);
    if (!terms)
        return no_memory(context);
    uint32_t count = cleave__summary_wants(r->summary, evaluator, query, r->frequencies,
                                           r->frequency_count, terms, &record->cover);
    if (r->seat->world->streaming->summary == CLEAVE__SUMMARY_NONE || !r->agrid)
        return true;
    if (broadcast) { /* the whole query, every time */
        bool all = query->term_count > 0;
        for (uint32_t i = 0; i < (all ? query->term_count : 1); i++) {
            if (!add_keyword(r, context, group, evaluator,
                             all ? query->terms[i] : CLEAVE__ANY_TERM))
                return false;
        }
        return true;
    }
    if (count && query->predicate == CLEAVE__CONTAINS) {
        for (uint32_t i = 0; i < query->term_count; i++) {
            if (fresh(r, evaluator, query->terms[i], false)) {
                record->cover = query->terms[i];
                return true;
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!fresh(r, evaluator, terms[i], false) &&
            !add_keyword(r, context, group, evaluator, terms[i]))
            return false;
    }
    return true;
}

static bool send_change(struct cleave__router *r, struct cleave_context *context,
                        struct cleave__router_group *group, struct cleave__record *record,
                        uint32_t evaluator)
{
    if (record->op == CLEAVE__STORE && !cover(r, context, group, evaluator, record))
        return false;
    struct cleave_writer *writer = cleave__router_to(r, context, evaluator);
    if (!writer)
        return false;
    if (!writer->count) {
        cleave__put32(writer, r->epoch[evaluator]);
        cleave__put32(writer, group->tries);
        cleave__put64(writer, r->settled);
    }
    cleave__record_write(record, writer);
    return true;
}

/* Whatever the place. */
static bool route_anywhere(struct cleave__router *r, struct cleave_context *context,
                           struct cleave__router_group *group, struct cleave__record *record)
{
    const struct cleave__streaming *streaming = r->seat->world->streaming;
    uint32_t count = streaming->evaluators;
    if (streaming->routing == CLEAVE__ROUTING_TEXT)
        count = cleave__texthash_query(&record->query, NULL, 0, count, r->found);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t evaluator = streaming->routing == CLEAVE__ROUTING_TEXT ? r->found[i] : i;
        if (!send_change(r, context, group, record, evaluator))
            return false;
    }
    return true;
}

static bool route_change(struct cleave__router *r, struct cleave_context *context,
                         struct cleave__router_group *group, struct cleave__record *record)
{
    struct cleave__ranges ranges = cleave__query_ranges(r->seat->world->streaming, &record->query);
    if (!r->agrid)
        return route_anywhere(r, context, group, record);
    for (uint32_t i = 0; i < ranges.count; i++) {
        uint32_t count = cleave__agrid_range(r->agrid, ranges.cells[i], r->found);
        for (uint32_t k = 0; k < count; k++) {
            uint32_t evaluator = r->found[k];
            bool seen = false;
            for (uint32_t j = 0; j < i && !seen; j++)
                seen = cleave__cells_meet(ranges.cells[j],
                                          cleave__agrid_partition(r->agrid, evaluator));
            if (!seen && !send_change(r, context, group, record, evaluator))
                return false;
        }
    }
    return true;
}

static void put_keywords(struct cleave_writer *writer, const struct cleave__keyword *keywords,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cleave__put32(writer, keywords[i].evaluator);
        cleave__put32(writer, keywords[i].term);
        cleave__put32(writer, keywords[i].stamp);
    }
}

static void send_keywords(struct cleave__router *r, struct cleave_context *context,
                          struct cleave__router_group *group, uint32_t index)
{
    const struct cleave__stream_world *world = r->seat->world;
    for (uint32_t other = 0; other < world->streaming->routers; other++) {
        if (other == r->seat->index)
            continue;
        struct cleave_writer *writer = cleave__context_writer(context);
        cleave__put32(writer, (uint32_t)group->added.count);
        put_keywords(writer, group->added.data, group->added.count);
        put_keywords(writer, r->confirmed.data, r->confirmed.count);
        group->waits++;
        group->keywords++;
        r->keyword_messages++;
        cleave__stream_request(context, world, cleave__router_actor(world, other),
                               CLEAVE__STREAM_KEYWORDS, writer, group->tries,
                               cleave__router_tag(CLEAVE__TAG_KEYWORDS, group->attempt, index));
    }
    r->confirmed.count = 0;
}

/* Sends all of a group by the map of now. */
static void attempt(struct cleave__router *r, struct cleave_context *context, uint32_t index,
                    const uint8_t *body, size_t length)
{
    const struct cleave__stream_world *world = r->seat->world;
    struct cleave__router_group *group = &r->groups.data[index];
    struct cleave_reader reader = {body, body + length, false};
    uint64_t count = 0;
    r->settled = cleave__get64(&reader);
    group->attempt = group->attempt % 0xfffe + 1;
    group->sequence = ++r->sequence;
    group->waits = group->keywords = 0;
    group->added.count = 0;
    r->touched.count = 0;
    while (cleave__left(&reader)) {
        struct cleave__record record;
        bool short_of_memory;
        if (!cleave__record_read(&reader, &r->arena, &record, &short_of_memory)) {
            if (short_of_memory)
                no_memory(context);
            else
                cleave__stream_corrupt(context, "a query that makes no sense");
            return;
        }
        if (!route_change(r, context, group, &record))
            return;
        count++;
    }
    cleave__map_free(&r->fresh);
    r->keywords += group->added.count;
    cleave__context_spend(context, count * world->streaming->service.route_query_ns);
    for (size_t i = 0; i < r->touched.count; i++) {
        group->waits++;
        cleave__stream_request(context, world, cleave__evaluator_actor(r->touched.data[i]),
                               CLEAVE__STREAM_STORE, &r->to[r->touched.data[i]], group->tries,
                               cleave__router_tag(CLEAVE__TAG_STORE, group->attempt, index));
    }
    if (group->added.count)
        send_keywords(r, context, group, index);
}

static void finish(struct cleave__router *r, struct cleave_context *context, uint32_t index)
{
    struct cleave__router_group *group = &r->groups.data[index];
    cleave__stream_answer(context, group->promise, CLEAVE__STREAM_DONE);
    free(group->body);
    group->body = NULL;
    group->promise = (struct cleave_promise){0};
}

void cleave__router_changes(struct cleave__router *r, struct cleave_context *context,
                            const struct cleave_message *message)
{
    uint32_t index = 0;
    while (index < r->groups.count && r->groups.data[index].promise.requester)
        index++;
    if (index == r->groups.count && !CLEAVE_PUSH(&r->groups, (struct cleave__router_group){0})) {
        no_memory(context);
        return;
    }
    struct cleave__router_group *group = &r->groups.data[index];
    group->promise = message->promise;
    group->tries = 0;
    if (r->seat->world->durable) {
        group->body = malloc(message->length);
        if (!group->body) {
            no_memory(context);
            return;
        }
        memcpy(group->body, message->body, message->length);
        group->length = message->length;
    }
    attempt(r, context, index, message->body, message->length);
}

void cleave__router_drain(struct cleave__router *r, struct cleave_context *context)
{
    for (size_t i = 0; i < r->groups.count && r->draining; i++) {
        const struct cleave__router_group *group = &r->groups.data[i];
        if (group->promise.requester && group->keywords && group->sequence <= r->drain_to)
            return;
    }
    if (r->draining)
        cleave__stream_answer(context, r->drained, CLEAVE__STREAM_DONE);
    r->draining = false;
}

/* Every router has what this group added. */
static bool confirm(struct cleave__router *r, struct cleave_context *context,
                    const struct cleave__router_group *group)
{
    for (size_t i = 0; i < group->added.count; i++) {
        struct cleave__keyword k = group->added.data[i];
        if (k.stamp < r->doubted[k.evaluator])
            continue;
        cleave__summary_confirm(r->summary, k.evaluator, k.term, k.stamp);
        if (!CLEAVE_PUSH(&r->confirmed, k))
            return no_memory(context);
    }
    return true;
}

void cleave__router_group_answered(struct cleave__router *r, struct cleave_context *context,
                                   const struct cleave_message *message)
{
    uint32_t index = (uint32_t)message->tag;
    struct cleave__router_group *group = &r->groups.data[index];
    if (!group->promise.requester || (message->tag >> 32 & 0xffff) != group->attempt)
        return; /* of an earlier attempt */
    if (message->sort == CLEAVE_TIMEOUT || message->kind == CLEAVE__STREAM_ASTRAY) {
        r->repeated++;
        group->tries = cleave__tries_more(group->tries);
        attempt(r, context, index, group->body, group->length);
        return;
    }
    group->waits--;
    if (message->tag >> 48 == CLEAVE__TAG_KEYWORDS && --group->keywords == 0) {
        if (!confirm(r, context, group))
            return;
        cleave__router_drain(r, context);
    }
    if (!group->waits)
        finish(r, context, index);
}
