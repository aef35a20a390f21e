/* Changes to lists, and copies of hubs. */
#include <stdlib.h>
#include <string.h>

#include "graph/serve/shard.h"

static void no_memory(struct cleave_context *context)
{
    cleave__context_fail(context, CLEAVE_NO_MEMORY, "no memory for changes");
}

bool cleave__change_read(struct cleave_reader *reader, struct cleave__change *out)
{
    out->user = cleave__get32(reader);
    out->other = cleave__get32(reader);
    out->op = cleave__get32(reader);
    out->version = cleave__get64(reader);
    return !reader->failed;
}

void cleave__change_write(const struct cleave__change *change, struct cleave_writer *writer)
{
    cleave__put32(writer, change->user);
    cleave__put32(writer, change->other);
    cleave__put32(writer, change->op);
    cleave__put64(writer, change->version);
}

struct cleave__user *cleave__user_changed(const struct cleave__user *user,
                                          const struct cleave__change *change)
{
    uint32_t at = 0, degree = user->degree, op = change->op;
    while (at < degree && user->target[at] < change->other)
        at++;
    bool there = at < degree && user->target[at] == change->other;
    if (op == CLEAVE__CHANGE_ADD && there)
        op = CLEAVE__CHANGE_NOTHING;
    if (op == CLEAVE__CHANGE_REMOVE && !there)
        op = CLEAVE__CHANGE_NOTHING;
    uint32_t size = op == CLEAVE__CHANGE_ADD      ? degree + 1
                    : op == CLEAVE__CHANGE_REMOVE ? degree - 1
                    : op == CLEAVE__CHANGE_CLEAR  ? 0
                                                  : degree;
    struct cleave__user *fresh = cleave__user_new(user->number, size);
    if (!fresh)
        return NULL;
    fresh->label = user->label;
    fresh->replicated = user->replicated;
    fresh->reads = user->reads;
    fresh->version = change->version;
    for (uint32_t from = 0, to = 0; to < size; to++) {
        if (op == CLEAVE__CHANGE_ADD && to == at) {
            fresh->target[to] = change->other;
            continue;
        }
        from += op == CLEAVE__CHANGE_REMOVE && from == at;
        fresh->target[to] = user->target[from++];
    }
    return fresh;
}

bool cleave__shard_busy(const struct cleave__shard *shard, uint32_t user)
{
    for (size_t i = 0; i < shard->pending.count; i++) {
        if (shard->pending.data[i].change.user == user)
            return true;
    }
    return false;
}

static void send_invalidate(struct cleave__shard *shard, struct cleave_context *context,
                            const struct cleave__pending *pending, uint32_t to, uint32_t tries)
{
    struct cleave_writer *writer = cleave__context_writer(context);
    cleave__put32(writer, pending->change.user);
    cleave__put64(writer, pending->change.version);
    shard->copy_messages++;
    shard->copy_bytes += writer->count;
    if (writer->failed)
        no_memory(context);
    else
        cleave__context_request(context, cleave__shard_actor(to), CLEAVE__GRAPH_INVALIDATE,
                                writer->data, writer->count,
                                cleave__pause_ns(shard->end.retry_ns, tries),
                                (uint64_t)tries << 48 | (uint64_t)pending->serial << 16 | to);
}

/* Others are to stop answering from their copies. */
static void call_copies_in(struct cleave__shard *shard, struct cleave_context *context,
                           struct cleave_promise promise, const struct cleave__change *change)
{
    uint32_t shards = shard->seat->world->serving->shards;
    struct cleave__pending pending = {.serial = ++shard->serial,
                                      .change = *change,
                                      .promise = promise,
                                      .waiting = shards - 1,
                                      .life = calloc(shards, sizeof *pending.life)};
    if (!pending.life || !CLEAVE_PUSH(&shard->pending, pending)) {
        free(pending.life);
        no_memory(context);
        return;
    }
    for (uint32_t s = 0; s < shards; s++) {
        if (s != shard->seat->index)
            send_invalidate(shard, context, &pending, s, 0);
    }
}

/* The list as it is now goes to those who have said who they are. */
static void send_copies(struct cleave__shard *shard, struct cleave_context *context,
                        const struct cleave__user *user, const uint64_t *life)
{
    for (uint32_t s = 0; s < shard->seat->world->serving->shards; s++) {
        if (s == shard->seat->index || !life[s])
            continue;
        struct cleave_writer *writer = cleave__context_writer(context);
        cleave__put64(writer, life[s]);
        cleave__user_write(user, writer);
        shard->copy_messages++;
        shard->copy_bytes += writer->count;
        if (writer->failed)
            no_memory(context);
        else
            cleave__context_send(context, cleave__shard_actor(s), CLEAVE__GRAPH_UPDATE,
                                 writer->data, writer->count);
    }
}

/* Makes a change that nothing stands against, and says so. The record, or NULL on failure. */
static const struct cleave__user *apply(struct cleave__shard *shard, struct cleave_context *context,
                                        struct cleave_promise promise,
                                        const struct cleave__change *change)
{
    const struct cleave__user *user = cleave__users_find(&shard->own, change->user);
    struct cleave__user *fresh = user ? cleave__user_changed(user, change) : NULL;
    if (!fresh || !cleave__users_put(&shard->own, fresh)) {
        free(fresh);
        no_memory(context);
        return NULL;
    }
#ifndef CLEAVE_PLANT_NO_INVALIDATION /* a bug that tests build in, to see it found */
    if (shard->cache)
        cleave__cache_invalidate(shard->cache, change->user);
#endif
    shard->changes++;
    cleave__move_changed(&shard->end, context, change->user);
    cleave__shard_save(shard, context);
    cleave__context_answer(context, promise, CLEAVE__GRAPH_CHANGED, NULL, 0);
    return fresh;
}

void cleave__shard_change(struct cleave__shard *shard, struct cleave_context *context,
                          struct cleave_promise promise, const struct cleave__change *change)
{
    struct cleave__user *user = cleave__users_find(&shard->own, change->user);
    if (!user) {
        cleave__context_fail(context, CLEAVE_CORRUPT,
                             "a change to user number %u, whom it does not own", change->user);
        return;
    }
    if (change->version <= user->version) { /* made already; asked for again */
        cleave__context_answer(context, promise, CLEAVE__GRAPH_CHANGED, NULL, 0);
        return;
    }
    for (size_t i = 0; i < shard->pending.count; i++) {
        struct cleave__pending *pending = &shard->pending.data[i];
        if (pending->change.user != change->user)
            continue;
        if (pending->change.version == change->version)
            pending->promise = promise; /* asked for again */
        else if (!CLEAVE_PUSH(&shard->held, (struct cleave__held){*change, promise}))
            no_memory(context);
        return;
    }
    if (change->version != user->version + 1)
        cleave__context_fail(
            context, CLEAVE_CORRUPT, "change %llu to user number %u, who is at %llu",
            (unsigned long long)change->version, change->user, (unsigned long long)user->version);
    else if (user->replicated && shard->seat->world->serving->shards > 1)
        call_copies_in(shard, context, promise, change);
    else
        apply(shard, context, promise, change);
}

/* All copies are out of use. */
static void carry_out(struct cleave__shard *shard, struct cleave_context *context, size_t index)
{
    struct cleave__pending pending = shard->pending.data[index];
    const struct cleave__user *user;
    shard->pending.data[index] = shard->pending.data[--shard->pending.count];
    if (pending.change.op == CLEAVE__CHANGE_COPY) {
        user = cleave__users_find(&shard->own, pending.change.user);
        cleave__context_answer(context, pending.promise, CLEAVE__GRAPH_DONE, NULL, 0);
    } else {
        user = apply(shard, context, pending.promise, &pending.change);
    }
    if (user)
        send_copies(shard, context, user, pending.life);
    free(pending.life);
    for (size_t i = 0; i < shard->held.count;) {
        struct cleave__held held = shard->held.data[i];
        if (held.change.user != pending.change.user) {
            i++;
            continue;
        }
        shard->held.data[i] = shard->held.data[--shard->held.count];
        cleave__shard_change(shard, context, held.promise, &held.change);
    }
    cleave__move_settle(&shard->end, context);
}

void cleave__shard_invalidated(struct cleave__shard *shard, struct cleave_context *context,
                               const struct cleave_message *message)
{
    uint32_t serial = (uint32_t)(message->tag >> 16), from = (uint32_t)(message->tag & 0xffff);
    for (size_t i = 0; i < shard->pending.count; i++) {
        struct cleave__pending *pending = &shard->pending.data[i];
        if (pending->serial != serial)
            continue;
        if (message->sort == CLEAVE_TIMEOUT) {
            send_invalidate(shard, context, pending, from,
                            cleave__tries_more((uint32_t)(message->tag >> 48)));
            return;
        }
        struct cleave_reader reader = {message->body, message->body + message->length, false};
        pending->waiting -= !pending->life[from];
        pending->life[from] = cleave__get64(&reader);
        if (!pending->waiting)
            carry_out(shard, context, i);
        return;
    }
}

void cleave__shard_invalidate(struct cleave__shard *shard, struct cleave_context *context,
                              const struct cleave_message *message)
{
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    uint32_t number = cleave__get32(&reader);
    uint64_t version = cleave__get64(&reader);
    struct cleave__user *copy = cleave__users_find(&shard->copies, number);
    if (!copy) {
        copy = cleave__user_new(number, 0);
        if (!copy || !cleave__users_put(&shard->copies, copy)) {
            free(copy);
            no_memory(context);
            return;
        }
    }
    copy->valid = false;
    copy->version = version > copy->version ? version : copy->version;
    uint8_t body[8];
    cleave__store64(body, shard->life);
    cleave__context_answer(context, message->promise, CLEAVE__GRAPH_INVALID, body, sizeof body);
}

void cleave__shard_update(struct cleave__shard *shard, struct cleave_context *context,
                          const struct cleave_message *message)
{
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    bool mine = cleave__get64(&reader) == shard->life;
    struct cleave__user *user = cleave__user_read(&reader);
    if (!user) {
        no_memory(context);
        return;
    }
    const struct cleave__user *held = cleave__users_find(&shard->copies, user->number);
    user->valid = true;
    /* One that it owns needs no copy; one without a floor was never announced to this life. */
    if (!mine || !held || held->version > user->version ||
        cleave__users_find(&shard->own, user->number)) {
        free(user);
        return;
    }
    if (!cleave__users_put(&shard->copies, user)) {
        free(user);
        no_memory(context);
    }
}

void cleave__shard_replicate(struct cleave__shard *shard, struct cleave_context *context,
                             const struct cleave_message *message)
{
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    uint32_t number = cleave__get32(&reader);
    struct cleave__user *user = cleave__users_find(&shard->own, number);
    if (!user) {
        cleave__context_fail(context, CLEAVE_CORRUPT, "asked to copy user number %u, not its own",
                             number);
        return;
    }
    if (cleave__shard_busy(shard, number)) { /* asked again, or later */
        for (size_t i = 0; i < shard->pending.count; i++) {
            struct cleave__pending *pending = &shard->pending.data[i];
            if (pending->change.user == number && pending->change.op == CLEAVE__CHANGE_COPY) {
                pending->promise = message->promise;
                return;
            }
        }
    }
    user->replicated = true;
    cleave__shard_save(shard, context);
    if (shard->seat->world->serving->shards == 1 || cleave__shard_busy(shard, number))
        cleave__context_answer(context, message->promise, CLEAVE__GRAPH_DONE, NULL, 0);
    else
        call_copies_in(shard, context, message->promise,
                       &(struct cleave__change){
                           .user = number, .op = CLEAVE__CHANGE_COPY, .version = user->version});
}
