/* A shard's end of moves, a piece being a user; and what of it outlives a crash.
 *
 * Saving writes the whole shard, every time: it is for runs with crashes, whose graphs are small.
 */
#include <stdlib.h>

#include "graph/serve/shard.h"

static void write_piece(void *holder, uint64_t piece, struct cleave_writer *writer)
{
    struct cleave__shard *shard = holder;
    const struct cleave__user *user = cleave__users_find(&shard->own, (uint32_t)piece);
    if (user)
        cleave__user_write(user, writer);
    else
        writer->failed = true; /* a mover that asks for what is not there */
}

/* From now on this shard may not answer from a copy older than `version`. */
static bool raise_floor(struct cleave__shard *shard, uint32_t number, uint64_t version)
{
    struct cleave__user *copy = cleave__users_find(&shard->copies, number);
    if (!copy) {
        copy = cleave__user_new(number, 0);
        if (!copy || !cleave__users_put(&shard->copies, copy)) {
            free(copy);
            return false;
        }
    }
    copy->valid = false;
    copy->version = version > copy->version ? version : copy->version;
    return true;
}

static bool take_piece(void *holder, uint64_t piece, struct cleave_reader *reader)
{
    struct cleave__shard *shard = holder;
    struct cleave__user *user = cleave__user_read(reader);
    const struct cleave__user *held = cleave__users_find(&shard->own, (uint32_t)piece);
    if (!user || user->number != piece) {
        free(user);
        return false;
    }
    if (held && held->version >= user->version) {
        free(user);
        return true;
    }
    bool ok = !user->replicated || raise_floor(shard, user->number, user->version);
    if (shard->cache)
        cleave__cache_invalidate(shard->cache, piece);
    if (ok && cleave__users_put(&shard->own, user))
        return true;
    free(user);
    return false;
}

static void drop_pieces(void *holder, const uint64_t *pieces, size_t count)
{
    struct cleave__shard *shard = holder;
    for (size_t i = 0; i < count; i++) {
        if (shard->cache)
            cleave__cache_invalidate(shard->cache, pieces[i]);
        cleave__users_remove(&shard->own, (uint32_t)pieces[i]);
    }
}

static bool busy(void *holder, uint64_t piece)
{
    return cleave__shard_busy(holder, (uint32_t)piece);
}

void cleave__shard_save(void *self, struct cleave_context *context)
{
    struct cleave__shard *shard = self;
    struct cleave_writer writer = {0};
    if (!shard->seat->world->serving->crashes)
        return;
    cleave__put32(&writer, shard->own.count);
    for (uint64_t i = 0; shard->own.slot && i <= shard->own.mask; i++) {
        if (shard->own.slot[i])
            cleave__user_write(shard->own.slot[i], &writer);
    }
    cleave__move_end_write(&shard->end, &writer);
    if (writer.failed)
        cleave__context_fail(context, CLEAVE_NO_MEMORY, "no memory to save a shard");
    else
        cleave__context_save(context, writer.data, writer.count);
    free(writer.data);
}

bool cleave__shard_load(struct cleave__shard *shard, const uint8_t *saved, size_t length)
{
    struct cleave_reader reader = {saved, saved + length, false};
    cleave__users_free(&shard->own);
    for (uint32_t left = cleave__get32(&reader); left; left--) {
        struct cleave__user *user = cleave__user_read(&reader);
        if (!user || !cleave__users_put(&shard->own, user)) {
            free(user);
            return false;
        }
    }
    return cleave__move_end_read(&shard->end, &reader);
}

const struct cleave__move_ops cleave__shard_move_ops = {.write = write_piece,
                                                        .take = take_piece,
                                                        .drop = drop_pieces,
                                                        .busy = busy,
                                                        .save = cleave__shard_save};
