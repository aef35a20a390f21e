/* The sink takes matches and acknowledges their objects. */
#include "stream/serve/sink.h"

#include <stdlib.h>

#include "base/random.h"

uint64_t cleave__match_digest(uint64_t object, uint64_t query)
{
    return cleave__mix64(cleave__mix64(object) ^ query);
}

static void destroy(void *self)
{
    struct cleave__sink *sink = self;
    cleave__histogram_free(&sink->latency_ns);
    cleave__map_free(&sink->done);
    cleave__tracking_free(&sink->tracking);
    CLEAVE_VECTOR_FREE(&sink->kept);
    free(sink);
}

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    struct cleave__sink *sink = calloc(1, sizeof *sink);
    if (!sink)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a sink");
    sink->seat = argument;
    const struct cleave__stream_world *world = sink->seat->world;
    enum cleave_status status = CLEAVE_OK;
    sink->keeps =
        world->streaming->keep_matches || (world->durable && cleave__sink_count(world) > 1);
    if (world->streaming->track) /* as many as may come before one that is late */
        status = cleave__tracking_begin(
            &sink->tracking, (uint32_t)((cleave__stream_ahead_most(world) + 1) * world->batch),
            error);
    if (status)
        destroy(sink);
    else
        *self = sink;
    return status;
}

static bool follow(struct cleave__sink *sink, struct cleave__track_message *message,
                   const uint8_t *found)
{
    struct cleave__tracking *t = &sink->tracking;
    uint32_t count = message->count;
    if (!CLEAVE_RESERVE(&t->ids, 2 * (size_t)count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        t->ids.data[i] = cleave__load64(found + (size_t)i * 16);
        t->ids.data[count + i] = cleave__load64(found + (size_t)i * 16 + 8);
    }
    message->queries = t->ids.data;
    return !cleave__tracking_message(t, message, t->ids.data + count, NULL);
}

/* What was found of one object. False: memory is out. */
static bool take(struct cleave__sink *sink, const struct cleave__found *found, uint64_t now_ns,
                 uint64_t took_ns)
{
    const struct cleave__stream_world *world = sink->seat->world;
    if (world->durable) {
        uint64_t *since = cleave__map_put(&sink->done, found->object);
        if (!since)
            return false;
        if (*since) {
            sink->redelivered += found->count;
            return true;
        }
        *since = now_ns + 1;
    }
    bool ok = !found->count || cleave__histogram_add(&sink->latency_ns, took_ns, found->count);
    sink->matches += found->count;
    cleave__counter_add(world->watch->matches, found->count);
    cleave__counter_add(found->count ? world->watch->matched : world->watch->unmatched, 1);
    if (found->count)
        cleave__timing_add(world->watch->matching, took_ns);
    for (uint32_t i = 0; i < found->count && ok; i++) {
        uint64_t query = cleave__load64(found->ids + (size_t)i * found->step);
        sink->digest += cleave__match_digest(found->object, query);
        if (sink->keeps)
            ok = CLEAVE_PUSH(&sink->kept, (struct cleave__matched_pair){found->object, query});
    }
    struct cleave__track_message message = {.thing = found->thing,
                                            .sequence = found->sequence,
                                            .time_ms = found->time_ms,
                                            .count = found->count};
    return ok && (!found->thing || follow(sink, &message, found->ids));
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct cleave__sink *sink = self;
    struct cleave_reader reader = cleave__body(message);
    struct cleave_promise promise = cleave__get_promise(&reader);
    uint64_t sent_ns = cleave__get64(&reader);
    uint64_t now_ns = cleave__context_now_ns(context), took_ns = now_ns - sent_ns;
    while (cleave__left(&reader)) {
        struct cleave__found found;
        if (!cleave__found_read(sink->seat->world, &reader, &found))
            break;
        if (!take(sink, &found, now_ns, took_ns)) {
            cleave__stream_no_memory(context);
            return;
        }
    }
    if (reader.failed)
        cleave__stream_corrupt(context, "matches that are cut short");
    else
        cleave__stream_answer(context, promise, CLEAVE__STREAM_DONE);
}

/* Which sink took an object first. */
static bool find_first(struct cleave__sink *const *sinks, uint32_t count, struct cleave__map *first)
{
    for (uint32_t i = 0; i < count; i++) {
        size_t at = 0;
        uint64_t object, since;
        while (cleave__map_next(&sinks[i]->done, &at, &object, &since)) {
            uint64_t *owner = cleave__map_put(first, object);
            if (!owner)
                return false;
            const uint64_t *best =
                *owner ? cleave__map_find(&sinks[*owner - 1]->done, object) : NULL;
            if (!best || since < *best)
                *owner = i + 1;
        }
    }
    return true;
}

bool cleave__sinks_join(struct cleave__sink *const *sinks, uint32_t count)
{
    struct cleave__sink *all = sinks[0];
    bool durable = all->seat->world->durable, ok = true;
    struct cleave__map first = {0};
    size_t kept = 0, own = all->kept.count;
    if (count == 1)
        return true;
    if (durable) {
        ok = find_first(sinks, count, &first);
        all->matches = all->digest = 0;
    }
    for (uint32_t i = 0; i < count && ok; i++) {
        struct cleave__sink *sink = sinks[i];
        for (size_t k = 0; k < (i ? sink->kept.count : own) && ok; k++) {
            struct cleave__matched_pair pair = sink->kept.data[k];
            if (durable && *cleave__map_find(&first, pair.object) != i + 1) {
                all->redelivered++;
                continue;
            }
            if (durable) {
                all->matches++;
                all->digest += cleave__match_digest(pair.object, pair.query);
            }
            if (i == 0)
                all->kept.data[kept++] = pair;
            else
                ok = CLEAVE_PUSH(&all->kept, pair);
        }
        if (i == 0)
            all->kept.count = kept;
        if (i > 0 && !durable) {
            all->matches += sink->matches;
            all->digest += sink->digest;
        }
        all->redelivered += i ? sink->redelivered : 0;
    }
    cleave__map_free(&first);
    return ok;
}

static int compare(const void *a, const void *b)
{
    const struct cleave__matched_pair *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->query > y->query) - (x->query < y->query);
}

void cleave__sink_settle(struct cleave__sink *sink, struct cleave__streamed *out)
{
    size_t count = 0;
    out->matches = sink->matches;
    out->redelivered = sink->redelivered;
    out->digest = sink->digest;
    out->entered = sink->tracking.entered;
    out->left = sink->tracking.left;
    out->event_digest = sink->tracking.digest;
    if (!sink->kept.count)
        return;
    qsort(sink->kept.data, sink->kept.count, sizeof *sink->kept.data, compare);
    for (size_t i = 0; i < sink->kept.count; i++) {
        const struct cleave__matched_pair *pair = &sink->kept.data[i];
        if (count && compare(&sink->kept.data[count - 1], pair) == 0) {
            out->duplicates++;
            out->digest -= cleave__match_digest(pair->object, pair->query);
        } else {
            sink->kept.data[count++] = *pair;
        }
    }
    sink->kept.count = count;
    out->matches = count;
}

const struct cleave_actor_ops cleave__sink_ops = {"sink", create, destroy, receive, NULL};
