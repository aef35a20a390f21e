/* The mover: has one move begun, the maps given out, the move finished, or gives it up. */
#include <string.h>

#include "move/move.h"

void cleave__mover_free(struct cleave__mover *mover)
{
    CLEAVE_VECTOR_FREE(&mover->pieces);
    CLEAVE_VECTOR_FREE(&mover->routers);
    CLEAVE_VECTOR_FREE(&mover->has_map);
}

bool cleave__mover_check(const struct cleave__mover *mover)
{
    if (mover->state > CLEAVE__MOVER_FINISHING || mover->has_map.count != mover->routers.count)
        return false;
    for (size_t i = 1; i < mover->pieces.count; i++) {
        if (mover->pieces.data[i - 1] >= mover->pieces.data[i])
            return false;
    }
    uint32_t mapped = 0;
    for (size_t i = 0; i < mover->has_map.count; i++)
        mapped += mover->has_map.data[i];
    return mapped == mover->mapped &&
           (mover->state == CLEAVE__MOVER_IDLE ||
            (mover->number && mover->routers.count && mover->pieces.count));
}

static void save(struct cleave__mover *mover, struct cleave_context *context)
{
    if (mover->save)
        mover->save(mover->holder, context);
}

static void send(struct cleave_context *context, const struct cleave__mover *mover, uint32_t to,
                 uint32_t kind, uint32_t tries, uint64_t detail)
{
    struct cleave_writer *writer = cleave__context_writer(context);
    cleave__put64(writer, mover->number);
    if (kind == CLEAVE__MOVE_BEGIN) {
        cleave__put32(writer, mover->target);
        cleave__put32(writer, (uint32_t)mover->routers.count);
        for (size_t i = 0; i < mover->routers.count; i++)
            cleave__put32(writer, mover->routers.data[i]);
    } else if (kind == CLEAVE__MOVE_MAP) {
        cleave__put32(writer, mover->source);
        cleave__put32(writer, mover->target);
    }
    for (size_t i = 0;
         (kind == CLEAVE__MOVE_BEGIN || kind == CLEAVE__MOVE_MAP) && i < mover->pieces.count; i++)
        cleave__put64(writer, mover->pieces.data[i]);
    if (writer->failed)
        cleave__move_no_memory(context);
    else
        cleave__context_request(context, to, kind, writer->data, writer->count,
                                cleave__pause_ns(mover->retry_ns, tries),
                                cleave__move_tag(kind, tries, detail));
}

void cleave__mover_begin(struct cleave__mover *mover, struct cleave_context *context,
                         uint32_t source, uint32_t target, const uint32_t *routers,
                         uint32_t router_count, const uint64_t *pieces, size_t count)
{
    mover->pieces.count = mover->routers.count = mover->has_map.count = 0;
    if (!CLEAVE_RESERVE(&mover->pieces, count) || !CLEAVE_RESERVE(&mover->routers, router_count) ||
        !CLEAVE_RESERVE(&mover->has_map, router_count)) {
        cleave__move_no_memory(context);
        return;
    }
    for (size_t i = 0; i < count; i++)
        mover->pieces.data[mover->pieces.count++] = pieces[i];
    for (uint32_t i = 0; i < router_count; i++) {
        mover->routers.data[mover->routers.count++] = routers[i];
        mover->has_map.data[mover->has_map.count++] = false;
    }
    mover->source = source;
    mover->target = target;
    mover->number++;
    mover->tries = 1;
    mover->mapped = 0;
    mover->state = CLEAVE__MOVER_BEGINNING;
    save(mover, context);
    send(context, mover, source, CLEAVE__MOVE_BEGIN, 0, 0);
}

static void end(struct cleave__mover *mover, struct cleave_context *context, bool moved)
{
    mover->state = CLEAVE__MOVER_IDLE;
    mover->done(mover->holder, context, moved);
}

static void give_maps(struct cleave__mover *mover, struct cleave_context *context)
{
    mover->state = CLEAVE__MOVER_MAPPING;
    save(mover, context);
    for (uint32_t i = 0; i < mover->routers.count; i++)
        send(context, mover, mover->routers.data[i], CLEAVE__MOVE_MAP, 0, i);
}

static void again(struct cleave__mover *mover, struct cleave_context *context, uint32_t kind,
                  uint32_t tries, uint64_t detail)
{
    if (kind == CLEAVE__MOVE_BEGIN && mover->tries_most && mover->tries++ >= mover->tries_most) {
        mover->state = CLEAVE__MOVER_ABORTING;
        save(mover, context);
        kind = CLEAVE__MOVE_ABORT;
    }
    uint32_t to = kind == CLEAVE__MOVE_MAP       ? mover->routers.data[detail]
                  : kind == CLEAVE__MOVE_DISCARD ? mover->target
                                                 : mover->source;
    send(context, mover, to, kind, tries, detail);
}

void cleave__mover_receive(struct cleave__mover *mover, struct cleave_context *context,
                           const struct cleave_message *message)
{
    uint32_t kind = cleave__move_tag_kind(message->tag);
    uint64_t detail = cleave__move_tag_detail(message->tag);
    if (message->sort == CLEAVE_TIMEOUT) {
        again(mover, context, kind, cleave__tries_more(cleave__move_tag_tries(message->tag)),
              detail);
        return;
    }
    switch (kind) {
    case CLEAVE__MOVE_BEGIN:
    case CLEAVE__MOVE_ABORT:
        if (message->kind == CLEAVE__MOVE_MOVED) {
            give_maps(mover, context);
        } else {
            mover->state = CLEAVE__MOVER_DISCARDING;
            save(mover, context);
            send(context, mover, mover->target, CLEAVE__MOVE_DISCARD, 0, 0);
        }
        break;
    case CLEAVE__MOVE_DISCARD:
        end(mover, context, false);
        break;
    case CLEAVE__MOVE_MAP:
        mover->mapped += !mover->has_map.data[detail];
        mover->has_map.data[detail] = true;
        if (mover->mapped == mover->routers.count) {
            mover->state = CLEAVE__MOVER_FINISHING;
            save(mover, context);
            send(context, mover, mover->source, CLEAVE__MOVE_FINISH, 0, 0);
        }
        break;
    default:
        end(mover, context, true);
    }
}

void cleave__mover_resume(struct cleave__mover *mover, struct cleave_context *context)
{
    switch (mover->state) {
    case CLEAVE__MOVER_IDLE:
        break;
    case CLEAVE__MOVER_BEGINNING:
        mover->tries = 1;
        send(context, mover, mover->source, CLEAVE__MOVE_BEGIN, 0, 0);
        break;
    case CLEAVE__MOVER_ABORTING:
        send(context, mover, mover->source, CLEAVE__MOVE_ABORT, 0, 0);
        break;
    case CLEAVE__MOVER_DISCARDING:
        send(context, mover, mover->target, CLEAVE__MOVE_DISCARD, 0, 0);
        break;
    case CLEAVE__MOVER_MAPPING:
        give_maps(mover, context);
        break;
    case CLEAVE__MOVER_FINISHING:
        send(context, mover, mover->source, CLEAVE__MOVE_FINISH, 0, 0);
        break;
    }
}

void cleave__mover_write(const struct cleave__mover *mover, struct cleave_writer *writer)
{
    cleave__put64(writer, mover->number);
    cleave__put8(writer, (uint8_t)mover->state);
    if (mover->state == CLEAVE__MOVER_IDLE)
        return;
    cleave__put32(writer, mover->source);
    cleave__put32(writer, mover->target);
    cleave__put64(writer, mover->routers.count);
    for (size_t i = 0; i < mover->routers.count; i++)
        cleave__put32(writer, mover->routers.data[i]);
    cleave__put64(writer, mover->pieces.count);
    for (size_t i = 0; i < mover->pieces.count; i++)
        cleave__put64(writer, mover->pieces.data[i]);
}

bool cleave__mover_read(struct cleave__mover *mover, struct cleave_reader *reader)
{
    mover->number = cleave__get64(reader);
    mover->state = (enum cleave__mover_state)cleave__get8(reader);
    if (!reader->failed && mover->state != CLEAVE__MOVER_IDLE) {
        mover->source = cleave__get32(reader);
        mover->target = cleave__get32(reader);
        for (uint64_t left = cleave__get64(reader); left && !reader->failed; left--) {
            if (!CLEAVE_PUSH(&mover->routers, cleave__get32(reader)) ||
                !CLEAVE_PUSH(&mover->has_map, false))
                return false;
        }
        for (uint64_t left = cleave__get64(reader); left && !reader->failed; left--) {
            if (!CLEAVE_PUSH(&mover->pieces, cleave__get64(reader)))
                return false;
        }
    }
    reader->failed |= !cleave__mover_check(mover);
    return !reader->failed;
}
