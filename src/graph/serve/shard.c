/* A shard: takes reads, answers with lists.
 *
 * The cache holds copies of records, as a process would that has its lists on a disk: a hit is
 * answered from the copy and nothing else, so that a change which forgets the cache is seen. */
#include "graph/serve/shard.h"

#include <stdlib.h>
#include <string.h>

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
        cleave__context_spend(context, cleave__distribution_draw(&serving->hit, random));
        return (const struct cleave__user *)(uintptr_t)entry.value;
    }
    cleave__context_spend(context, cleave__distribution_draw(&serving->miss, random));
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

/* Adds what is known of a user to an answer. */
static bool answer_user(struct cleave__shard *shard, struct cleave_context *context,
                        uint32_t number, uint32_t flags, struct cleave_writer *writer)
{
    const struct cleave__serving *serving = shard->seat->world->serving;
    struct cleave__user *user = cleave__users_find(&shard->own, number);
    const struct cleave__user *list = user;
    if (!user) {
        cleave__context_fail(context, CLEAVE_CORRUPT,
                             "asked for user number %u, whom it does not own", number);
        return false;
    }
    if (flags & CLEAVE__READ_BRIEF) {
        struct cleave__user brief = *user;
        uint8_t *to = cleave__put_space(writer, 24);
        if (to) {
            cleave__store32(to, brief.number);
            cleave__store32(to + 4, brief.degree);
            cleave__store32(to + 8, brief.label);
            cleave__store64(to + 16, brief.version);
        }
        return !writer->failed;
    }
    shard->reads++;
    user->reads += !(flags & CLEAVE__READ_SOURCE);
    if (shard->cache && !(flags & CLEAVE__READ_SOURCE && serving->source_past_cache))
        list = fetch(shard, context, user);
    else
        cleave__context_spend(
            context, cleave__distribution_draw(&serving->miss, cleave__context_random(context)));
    if (list)
        cleave__user_write(list, writer);
    if (!list || writer->failed)
        cleave__context_fail(context, CLEAVE_NO_MEMORY, "no memory for lists");
    return list && !writer->failed;
}

static void read_lists(struct cleave__shard *shard, struct cleave_context *context,
                       const struct cleave_message *message)
{
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    struct cleave_writer *writer = cleave__context_writer(context);
    uint32_t flags = cleave__get32(&reader);
    while (cleave__left(&reader)) {
        if (!answer_user(shard, context, cleave__get32(&reader), flags, writer))
            return;
    }
    cleave__context_answer(context, message->promise, CLEAVE__GRAPH_LISTS, writer->data,
                           writer->count);
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct cleave__shard *shard = self;
    switch (message->kind) {
    case CLEAVE__GRAPH_READ:
        read_lists(shard, context, message);
        break;
    default:
        cleave__context_fail(context, CLEAVE_CORRUPT, "a message of kind %u, unknown to shards",
                             message->kind);
    }
}

bool cleave__shard_check(const struct cleave__shard *shard, const char **why)
{
    *why = "a shard's users are out of order";
    return cleave__users_check(&shard->own) &&
           (!shard->cache || cleave__cache_check(shard->cache, why));
}

const struct cleave_actor_ops cleave__shard_ops = {"shard", create, destroy, receive, NULL};
