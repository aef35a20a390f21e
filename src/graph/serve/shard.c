/* A shard: takes reads, answers with lists.
 *
 * The cache holds copies of records, as a process would that has its lists on a disk: a hit is
 * answered from the copy and nothing else, so that a change which forgets the cache is seen. */
#include "graph/serve/shard.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "graph/serve/stranger.h"

static void release(void *context, uint64_t key, uint64_t value)
{
    (void)context, (void)key;
    free((void *)(uintptr_t)value);
}

static void destroy(void *self)
{
    struct cleave__shard *shard = self;
    cleave__cache_free(shard->cache);
    cleave__users_free(&shard->own);
    cleave__users_free(&shard->copies);
    cleave__move_end_free(&shard->end);
    for (size_t i = 0; i < shard->pending.count; i++)
        free(shard->pending.data[i].life);
    CLEAVE_VECTOR_FREE(&shard->pending);
    CLEAVE_VECTOR_FREE(&shard->held);
    free(shard);
}

static bool load(struct cleave__shard *shard)
{
    const struct cleave__world *world = shard->seat->world;
    const struct cleave__graph *graph = world->graph;
    for (uint32_t v = 0; v < graph->vertices; v++) {
        if (world->serving->owner[v] != shard->seat->index)
            continue;
        struct cleave__user *user = cleave__user_new(v, cleave__graph_degree(graph, v));
        if (!user)
            return false;
        user->label = graph->label ? graph->label[v] : 0;
        user->version = 1;
        if (user->degree)
            memcpy(user->target, graph->target + graph->offset[v],
                   user->degree * sizeof user->target[0]);
        if (!cleave__users_put(&shard->own, user)) {
            free(user);
            return false;
        }
    }
    return true;
}

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    struct cleave__shard *shard = calloc(1, sizeof *shard);
    const struct cleave__seat *seat = argument;
    const struct cleave__serving *serving = seat->world->serving;
    if (!shard)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a shard");
    shard->seat = seat;
    shard->end.ops = &cleave__shard_move_ops;
    shard->end.holder = shard;
    shard->end.retry_ns = serving->retry_ns;
    enum cleave_status status = CLEAVE_OK;
    if (serving->cached)
        status = cleave__cache_new(
            &(struct cleave__cache_options){.choice = serving->cache,
                                            .capacity = serving->capacity,
                                            .in_bytes = serving->capacity_in_bytes,
                                            .release = release},
            &shard->cache, error);
    if (!status && !load(shard))
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a shard's lists");
    if (status)
        destroy(shard);
    else
        *self = shard;
    return status;
}

/* The list of a user that is owned, from the cache if it is there, and into it if not. NULL: memory
 * is out. */
static const struct cleave__user *fetch(struct cleave__shard *shard, struct cleave_context *context,
                                        struct cleave__user *user)
{
    const struct cleave__serving *serving = shard->seat->world->serving;
    struct cleave_random *random = cleave__context_random(context);
    struct cleave__cache_entry entry;
    if (cleave__cache_get(shard->cache, user->number, 0, &entry)) {
        cleave__counter_add(shard->seat->world->watch->cache_hits, 1);
        cleave__context_spend(context, cleave__distribution_draw(&serving->hit, random));
        return (const struct cleave__user *)(uintptr_t)entry.value;
    }
    cleave__context_spend(context, cleave__distribution_draw(&serving->miss, random));
    cleave__counter_add(shard->seat->world->watch->cache_misses, 1);
    struct cleave__user *copy = cleave__user_new(user->number, user->degree);
    bool kept = false;
    struct cleave_error error;
    if (!copy)
        return NULL;
    memcpy(copy, user, sizeof *user + user->degree * sizeof user->target[0]);
    entry = (struct cleave__cache_entry){cleave__user_bytes(user), (uintptr_t)copy, user->version};
    if (cleave__cache_put(shard->cache, user->number, &entry, &kept, &error)) {
        free(copy);
        return NULL;
    }
    if (!kept)
        free(copy);
    return user;
}

static void no_memory(struct cleave_context *context)
{
    cleave__context_fail(context, CLEAVE_NO_MEMORY, "no memory for lists");
}

/* A record without its list; `degree` may be CLEAVE__ELSEWHERE. */
static void write_brief(uint32_t number, uint32_t degree, const struct cleave__user *user,
                        struct cleave_writer *writer)
{
    uint8_t *to = cleave__put_space(writer, 24);
    if (!to)
        return;
    cleave__store32(to, number);
    cleave__store32(to + 4, degree);
    if (user) {
        cleave__store32(to + 8, user->label);
        cleave__store64(to + 16, user->version);
    }
}

static void write_record(const struct cleave__user *user, uint32_t flags,
                         struct cleave_writer *writer)
{
    if (flags & CLEAVE__READ_BRIEF)
        write_brief(user->number, user->degree, user, writer);
    else
        cleave__user_write(user, writer);
}

/* What is known of a user whom this shard does not own: from a copy, or that others must be asked.
 */
static bool answer_copy(struct cleave__shard *shard, struct cleave_context *context,
                        uint32_t number, uint32_t flags, struct cleave_writer *writer)
{
    const struct cleave__user *copy = cleave__users_find(&shard->copies, number);
    if (!(flags & CLEAVE__READ_COPY)) {
        cleave__context_fail(context, CLEAVE_CORRUPT,
                             "asked for user number %u, whom it does not own", number);
        return false;
    }
    if (!copy || !copy->valid) {
        shard->elsewhere++;
        write_brief(number, CLEAVE__ELSEWHERE, NULL, writer);
        return true;
    }
    shard->reads++;
    shard->copy_reads++;
    cleave__counter_add(shard->seat->world->watch->reads, 1);
    cleave__counter_add(shard->seat->world->watch->uncached, 1);
    cleave__context_spend(context, cleave__distribution_draw(&shard->seat->world->serving->hit,
                                                             cleave__context_random(context)));
    write_record(copy, flags, writer);
    return true;
}

/* Adds what is known of a user to an answer. False: the run is over. */
static bool answer_user(struct cleave__shard *shard, struct cleave_context *context,
                        uint32_t number, uint32_t flags, struct cleave_writer *writer)
{
    const struct cleave__serving *serving = shard->seat->world->serving;
    struct cleave__user *user = cleave__users_find(&shard->own, number);
    const struct cleave__user *list = user;
    /* What a move has brought is not this shard's yet, for those who only hope for a copy. */
    if (!user || (flags & CLEAVE__READ_COPY && cleave__move_incoming(&shard->end, number)))
        return answer_copy(shard, context, number, flags, writer);
    if (flags & CLEAVE__READ_BRIEF) {
        write_record(user, flags, writer);
        return true;
    }
    shard->reads++;
    cleave__counter_add(shard->seat->world->watch->reads, 1);
    user->reads += !(flags & CLEAVE__READ_SOURCE);
    if (shard->cache && !(flags & CLEAVE__READ_SOURCE && serving->source_past_cache))
        list = fetch(shard, context, user);
    else {
        cleave__counter_add(shard->seat->world->watch->uncached, 1);
        cleave__context_spend(
            context, cleave__distribution_draw(&serving->miss, cleave__context_random(context)));
    }
    if (list)
        write_record(list, flags, writer);
    else
        no_memory(context);
    return list;
}

/* Answers users of a read; those that are moving away are left to the new owner, who is told what
 * has been found. `writer`: the answer so far. */
static void read_lists(struct cleave__shard *shard, struct cleave_context *context,
                       struct cleave_promise promise, struct cleave_reader *reader,
                       struct cleave_writer *writer)
{
    uint32_t flags = cleave__get32(reader);
    CLEAVE_VECTOR(uint32_t) rest = {0};
    bool ok = true;
    while (ok && cleave__left(reader)) {
        uint32_t number = cleave__get32(reader);
#ifndef CLEAVE_PLANT_NO_FORWARDING /* a bug that tests build in, to see it found */
        if (cleave__move_where(&shard->end, number) == CLEAVE__MOVE_AWAY) {
            ok = CLEAVE_PUSH(&rest, number);
            if (!ok)
                no_memory(context);
            continue;
        }
#endif
        ok = answer_user(shard, context, number, flags, writer);
    }
    if (ok && (writer->failed || reader->failed)) {
        no_memory(context);
        ok = false;
    }
    if (ok && !rest.count)
        cleave__context_answer(context, promise, CLEAVE__GRAPH_LISTS, writer->data, writer->count);
    if (ok && rest.count) {
        struct cleave_writer body = {0};
        cleave__put32(&body, promise.requester);
        cleave__put64(&body, promise.correlation);
        cleave__put64(&body, writer->count);
        cleave__put_bytes(&body, writer->data, writer->count);
        cleave__put32(&body, flags);
        for (size_t i = 0; i < rest.count; i++)
            cleave__put32(&body, rest.data[i]);
        shard->forwarded += rest.count;
        if (body.failed)
            no_memory(context);
        else
            cleave__context_send(context, shard->end.target, CLEAVE__GRAPH_FORWARD_READ, body.data,
                                 body.count);
        free(body.data);
    }
    CLEAVE_VECTOR_FREE(&rest);
}

static struct cleave_promise get_promise(struct cleave_reader *reader)
{
    struct cleave_promise promise;
    promise.requester = cleave__get32(reader);
    promise.correlation = cleave__get64(reader);
    return promise;
}

static void take_read(struct cleave__shard *shard, struct cleave_context *context,
                      const struct cleave_message *message)
{
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    struct cleave_promise promise = message->promise;
    struct cleave_writer *writer = cleave__context_writer(context);
    if (message->kind == CLEAVE__GRAPH_FORWARD_READ) {
        promise = get_promise(&reader);
        uint64_t found = cleave__get64(&reader);
        const uint8_t *bytes = cleave__get_bytes(&reader, found);
        if (bytes)
            cleave__put_bytes(writer, bytes, found);
    }
    read_lists(shard, context, promise, &reader, writer);
}

static void take_change(struct cleave__shard *shard, struct cleave_context *context,
                        const struct cleave_message *message)
{
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    struct cleave_promise promise =
        message->kind == CLEAVE__GRAPH_FORWARD_CHANGE ? get_promise(&reader) : message->promise;
    struct cleave__change change;
    if (!cleave__change_read(&reader, &change)) {
        cleave__context_fail(context, CLEAVE_CORRUPT, "a change that is cut short");
        return;
    }
    if (cleave__move_where(&shard->end, change.user) == CLEAVE__MOVE_HERE) {
        cleave__shard_change(shard, context, promise, &change);
        return;
    }
    struct cleave_writer *writer = cleave__context_writer(context);
    cleave__put32(writer, promise.requester);
    cleave__put64(writer, promise.correlation);
    cleave__change_write(&change, writer);
    shard->forwarded++;
    if (writer->failed)
        no_memory(context);
    else
        cleave__context_send(context, shard->end.target, CLEAVE__GRAPH_FORWARD_CHANGE, writer->data,
                             writer->count);
}

static void start(void *self, struct cleave_context *context, const uint8_t *saved, size_t length)
{
    struct cleave__shard *shard = self;
    const struct cleave__world *world = shard->seat->world;
    shard->life = cleave__random_next(cleave__context_random(context)) | 1; /* not 0 */
    for (uint32_t c = 0; world->open && c < world->serving->coordinators; c++)
        cleave__context_send(context, cleave__coordinator_actor(world, c), CLEAVE__GRAPH_BACK, NULL,
                             0);
    if (!saved)
        return;
    if (cleave__shard_load(shard, saved, length))
        cleave__move_end_resume(&shard->end, context);
    else
        no_memory(context);
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct cleave__shard *shard = self;
    if (shard->seat->world->open && !cleave__stranger_read(shard->seat, message)) {
        cleave__stranger_refuse(shard->seat->world, message);
        return;
    }
    if (cleave__move_message(message)) {
        cleave__move_end_receive(&shard->end, context, message);
        return;
    }
    if (message->sort == CLEAVE_REPLY || message->sort == CLEAVE_TIMEOUT) {
        cleave__shard_invalidated(shard, context, message);
        return;
    }
    switch (message->kind) {
    case CLEAVE__GRAPH_READ:
    case CLEAVE__GRAPH_FORWARD_READ:
        take_read(shard, context, message);
        break;
    case CLEAVE__GRAPH_CHANGE:
    case CLEAVE__GRAPH_FORWARD_CHANGE:
        take_change(shard, context, message);
        break;
    case CLEAVE__GRAPH_INVALIDATE:
        cleave__shard_invalidate(shard, context, message);
        break;
    case CLEAVE__GRAPH_UPDATE:
        cleave__shard_update(shard, context, message);
        break;
    case CLEAVE__GRAPH_REPLICATE:
        cleave__shard_replicate(shard, context, message);
        break;
    case CLEAVE__GRAPH_LOAD:
        cleave__shard_tell_load(shard, context, message);
        break;
    default:
        cleave__context_fail(context, CLEAVE_CORRUPT, "a message of kind %u, unknown to shards",
                             message->kind);
    }
}

bool cleave__shard_check(const struct cleave__shard *shard, const char **why)
{
    *why = "a shard's users are out of order";
    if (!cleave__users_check(&shard->own) || !cleave__users_check(&shard->copies))
        return false;
    *why = "a shard's move is out of order";
    if (!cleave__move_end_check(&shard->end))
        return false;
    return !shard->cache || cleave__cache_check(shard->cache, why);
}

const struct cleave_actor_ops cleave__shard_ops = {"shard", create, destroy, receive, start};
