/* Source and target of a move. */
#include <stdlib.h>
#include <string.h>

#include "move/move.h"

enum { WINDOW = 16, INDEX_BITS = 24 }; /* sendings at once; pieces of a move, as bits */

void cleave__move_no_memory(struct cleave_context *context)
{
    cleave__context_fail(context, CLEAVE_NO_MEMORY, "no memory for moving");
}

void cleave__move_request(struct cleave_context *context, uint32_t to, uint32_t kind,
                          uint64_t number, uint64_t retry_ns, uint32_t tries, uint64_t detail)
{
    uint8_t body[8];
    cleave__store64(body, number);
    cleave__context_request(context, to, kind, body, sizeof body, cleave__pause_ns(retry_ns, tries),
                            cleave__move_tag(kind, tries, detail));
}

void cleave__move_answer(struct cleave_context *context, struct cleave_promise promise,
                         enum cleave__move_kind kind)
{
    cleave__context_answer(context, promise, kind, NULL, 0);
}

void cleave__move_end_free(struct cleave__move_end *end)
{
    CLEAVE_VECTOR_FREE(&end->pieces);
    CLEAVE_VECTOR_FREE(&end->routers);
    CLEAVE_VECTOR_FREE(&end->incoming);
}

bool cleave__move_end_check(const struct cleave__move_end *end)
{
    for (size_t i = 1; i < end->pieces.count; i++) {
        if (end->pieces.data[i - 1] >= end->pieces.data[i])
            return false;
    }
    for (size_t i = 1; i < end->incoming.count; i++) {
        if (end->incoming.data[i - 1] >= end->incoming.data[i])
            return false;
    }
    if (end->in_closed && end->incoming.count)
        return false;
    switch (end->phase) {
    case CLEAVE__MOVE_NONE:
        return !end->under_way && !end->begin_waits;
    case CLEAVE__MOVE_COPYING:
        return end->sent <= end->pieces.count && end->number > end->last_number;
    case CLEAVE__MOVE_FORWARDING:
        return end->sent == end->pieces.count && !end->under_way && end->routers.count;
    case CLEAVE__MOVE_PASSING:
        return !end->routers.count;
    }
    return false;
}

/* How many of rising pieces are below this one. */
static size_t rank_of(const uint64_t *pieces, size_t count, uint64_t piece)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pieces[middle] < piece)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Index of a piece of the move under way, or SIZE_MAX. */
static size_t index_of(const struct cleave__move_end *end, uint64_t piece)
{
    size_t rank = rank_of(end->pieces.data, end->pieces.count, piece);
    return rank < end->pieces.count && end->pieces.data[rank] == piece ? rank : SIZE_MAX;
}

enum cleave__move_where cleave__move_where(const struct cleave__move_end *end, uint64_t piece)
{
    return end->phase == CLEAVE__MOVE_FORWARDING && index_of(end, piece) != SIZE_MAX
               ? CLEAVE__MOVE_AWAY
               : CLEAVE__MOVE_HERE;
}

bool cleave__move_incoming(const struct cleave__move_end *end, uint64_t piece)
{
    size_t rank = rank_of(end->incoming.data, end->incoming.count, piece);
    return rank < end->incoming.count && end->incoming.data[rank] == piece;
}

bool cleave__move_end_note(struct cleave__move_end *end, uint64_t piece)
{
    size_t rank = rank_of(end->incoming.data, end->incoming.count, piece);
    if (rank < end->incoming.count && end->incoming.data[rank] == piece)
        return true;
    if (!CLEAVE_PUSH(&end->incoming, piece))
        return false;
    uint64_t *at = end->incoming.data + rank;
    memmove(at + 1, at, (end->incoming.count - 1 - rank) * sizeof *at);
    *at = piece;
    return true;
}

static void drop(struct cleave__move_end *end, const uint64_t *pieces, size_t count)
{
    if (count)
        end->ops->drop(end->holder, pieces, count);
}

static void send_piece(struct cleave__move_end *end, struct cleave_context *context, size_t index,
                       uint32_t tries)
{
    struct cleave_writer *writer = cleave__context_writer(context);
    cleave__put64(writer, end->number);
    cleave__put64(writer, end->pieces.data[index]);
    end->ops->write(end->holder, end->pieces.data[index], writer);
    if (writer->failed) {
        cleave__move_no_memory(context);
        return;
    }
    end->under_way++;
    end->pieces_sent++;
    uint64_t detail = (end->number & 0xffffff) << INDEX_BITS | index;
    cleave__context_request(context, end->target, CLEAVE__MOVE_PIECE, writer->data, writer->count,
                            cleave__pause_ns(end->retry_ns, tries),
                            cleave__move_tag(CLEAVE__MOVE_PIECE, tries, detail));
}

void cleave__move_settle(struct cleave__move_end *end, struct cleave_context *context)
{
    if (end->phase != CLEAVE__MOVE_COPYING)
        return;
    while (end->sent < end->pieces.count && end->under_way < WINDOW)
        send_piece(end, context, end->sent++, 0);
#ifndef CLEAVE_PLANT_FORWARD_EARLY /* bugs that tests build in, to see them found */
    if (end->under_way)
        return;
#endif
    for (size_t i = 0; i < end->pieces.count; i++) {
        if (end->ops->busy(end->holder, end->pieces.data[i]))
            return; /* the end of that change calls again */
    }
    end->phase = CLEAVE__MOVE_FORWARDING;
    end->ops->save(end->holder, context);
    if (end->begin_waits)
        cleave__move_answer(context, end->begin, CLEAVE__MOVE_MOVED);
    end->begin_waits = false;
#ifdef CLEAVE_PLANT_NO_BARRIER
    end->routers.count = 0;
    drop(end, end->pieces.data, end->pieces.count);
    end->phase = CLEAVE__MOVE_PASSING;
    cleave__move_end_resume(end, context);
#endif
}

void cleave__move_changed(struct cleave__move_end *end, struct cleave_context *context,
                          uint64_t piece)
{
    size_t index = end->phase == CLEAVE__MOVE_COPYING ? index_of(end, piece) : SIZE_MAX;
    if (index < end->sent)
        send_piece(end, context, index, 0);
}

static void begin(struct cleave__move_end *end, struct cleave_context *context,
                  const struct cleave_message *message)
{
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    uint64_t number = cleave__get64(&reader);
    if (number <= end->last_number ||
        (end->phase > CLEAVE__MOVE_COPYING && number == end->number)) {
        cleave__move_answer(context, message->promise, CLEAVE__MOVE_MOVED);
        return;
    }
    end->begin = message->promise;
    end->begin_waits = true;
    if (end->phase == CLEAVE__MOVE_COPYING && number == end->number)
        return; /* under way; asked for again */
    if (end->phase != CLEAVE__MOVE_NONE) {
        cleave__context_fail(context, CLEAVE_CORRUPT, "two moves at once from one source");
        return;
    }
    end->number = number;
    end->target = cleave__get32(&reader);
    end->routers.count = end->pieces.count = end->sent = 0;
    uint32_t routers = cleave__get32(&reader);
    if (!CLEAVE_RESERVE(&end->routers, routers)) {
        cleave__move_no_memory(context);
        return;
    }
    for (uint32_t i = 0; i < routers; i++)
        end->routers.data[end->routers.count++] = cleave__get32(&reader);
    while (cleave__left(&reader)) {
        if (!CLEAVE_PUSH(&end->pieces, cleave__get64(&reader))) {
            cleave__move_no_memory(context);
            return;
        }
    }
    end->phase = CLEAVE__MOVE_COPYING;
    cleave__move_settle(end, context);
}

static void piece_acknowledged(struct cleave__move_end *end, struct cleave_context *context,
                               uint64_t tag, bool lost)
{
    uint64_t detail = cleave__move_tag_detail(tag);
    if (end->phase != CLEAVE__MOVE_COPYING || detail >> INDEX_BITS != (end->number & 0xffffff))
        return; /* of a move given up */
    end->under_way--;
    if (lost)
        send_piece(end, context, (size_t)(detail & ((1u << INDEX_BITS) - 1)),
                   cleave__tries_more(cleave__move_tag_tries(tag)));
    cleave__move_settle(end, context);
}

static void take_piece(struct cleave__move_end *end, struct cleave_context *context,
                       const struct cleave_message *message)
{
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    uint64_t number = cleave__get64(&reader), piece = cleave__get64(&reader);
    if (number > end->in_number) { /* what an earlier one left was never this holder's */
        drop(end, end->incoming.data, end->incoming.count);
        end->incoming.count = 0;
        end->in_number = number;
        end->in_closed = false;
    }
    if (number == end->in_number && !end->in_closed) {
        if (!cleave__move_end_note(end, piece) || !end->ops->take(end->holder, piece, &reader)) {
            cleave__move_no_memory(context);
            return;
        }
        if (end->ops->took)
            end->ops->took(end->holder, context, piece);
        else
            end->ops->save(end->holder, context);
    }
    cleave__move_answer(context, message->promise, CLEAVE__MOVE_DONE);
}

static void take_barrier(struct cleave__move_end *end, struct cleave_context *context,
                         const struct cleave_message *message, uint64_t number)
{
    if (number > end->last_number &&
        (number != end->number || end->phase < CLEAVE__MOVE_FORWARDING)) {
        cleave__context_fail(context, CLEAVE_CORRUPT, "a barrier of a move that is not under way");
        return;
    }
    if (number == end->number && end->phase == CLEAVE__MOVE_FORWARDING) {
        size_t left = 0;
        for (size_t i = 0; i < end->routers.count; i++) {
            if (end->routers.data[i] != message->sender)
                end->routers.data[left++] = end->routers.data[i];
        }
        end->routers.count = left;
        if (!left) {
            drop(end, end->pieces.data, end->pieces.count);
            end->phase = CLEAVE__MOVE_PASSING;
        }
        end->ops->save(end->holder, context);
        if (!left)
            cleave__move_end_resume(end, context);
    }
    cleave__move_answer(context, message->promise, CLEAVE__MOVE_DONE);
}

static void send_close(struct cleave__move_end *end, struct cleave_context *context, uint32_t tries)
{
    if (end->phase == CLEAVE__MOVE_PASSING)
        cleave__move_request(context, end->target, CLEAVE__MOVE_CLOSE, end->number, end->retry_ns,
                             tries, end->number);
}

void cleave__move_end_resume(struct cleave__move_end *end, struct cleave_context *context)
{
    send_close(end, context, 0);
}

static void closed(struct cleave__move_end *end, struct cleave_context *context)
{
    if (end->phase != CLEAVE__MOVE_PASSING)
        return;
    end->phase = CLEAVE__MOVE_NONE;
    end->last_number = end->number;
    end->pieces.count = end->sent = 0;
    end->ops->save(end->holder, context);
    if (end->finish_waits)
        cleave__move_answer(context, end->finish, CLEAVE__MOVE_DONE);
    end->finish_waits = false;
}

static void give_up(struct cleave__move_end *end, struct cleave_context *context,
                    const struct cleave_message *message, uint64_t number)
{
    bool moved =
        number <= end->last_number || (number == end->number && end->phase > CLEAVE__MOVE_COPYING);
    if (!moved && number == end->number && end->phase == CLEAVE__MOVE_COPYING) {
        end->phase = CLEAVE__MOVE_NONE;
        end->pieces.count = end->routers.count = end->sent = end->under_way = 0;
        end->begin_waits = false;
    }
    cleave__move_answer(context, message->promise,
                        moved ? CLEAVE__MOVE_MOVED : CLEAVE__MOVE_ABORTED);
}

static void close_incoming(struct cleave__move_end *end, struct cleave_context *context,
                           const struct cleave_message *message, uint64_t number, bool discard)
{
    if (number > end->in_number || (number == end->in_number && !end->in_closed)) {
        if (discard || number > end->in_number)
            drop(end, end->incoming.data, end->incoming.count);
        else if (end->ops->keep)
            end->ops->keep(end->holder, end->incoming.data, end->incoming.count);
        end->incoming.count = 0;
        end->in_number = number;
        end->in_closed = true;
        end->ops->save(end->holder, context);
    }
    cleave__move_answer(context, message->promise, CLEAVE__MOVE_DONE);
}

static void receive_answer(struct cleave__move_end *end, struct cleave_context *context,
                           const struct cleave_message *message)
{
    bool lost = message->sort == CLEAVE_TIMEOUT;
    if (cleave__move_tag_kind(message->tag) == CLEAVE__MOVE_PIECE)
        piece_acknowledged(end, context, message->tag, lost);
    else if (lost)
        send_close(end, context, cleave__tries_more(cleave__move_tag_tries(message->tag)));
    else
        closed(end, context);
}

void cleave__move_end_receive(struct cleave__move_end *end, struct cleave_context *context,
                              const struct cleave_message *message)
{
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    if (message->sort == CLEAVE_REPLY || message->sort == CLEAVE_TIMEOUT) {
        receive_answer(end, context, message);
        return;
    }
    uint64_t number = cleave__get64(&reader);
    switch (message->kind) {
    case CLEAVE__MOVE_BEGIN:
        begin(end, context, message);
        break;
    case CLEAVE__MOVE_PIECE:
        take_piece(end, context, message);
        break;
    case CLEAVE__MOVE_BARRIER:
        take_barrier(end, context, message, number);
        break;
    case CLEAVE__MOVE_CLOSE:
    case CLEAVE__MOVE_DISCARD:
        close_incoming(end, context, message, number, message->kind == CLEAVE__MOVE_DISCARD);
        break;
    case CLEAVE__MOVE_ABORT:
        give_up(end, context, message, number);
        break;
    case CLEAVE__MOVE_FINISH:
        if (number <= end->last_number) {
            cleave__move_answer(context, message->promise, CLEAVE__MOVE_DONE);
            break;
        }
        end->finish = message->promise;
        end->finish_waits = true;
        break;
    default:
        cleave__context_fail(context, CLEAVE_CORRUPT, "a message of kind %u, no move's",
                             message->kind);
    }
}

void cleave__move_end_write(const struct cleave__move_end *end, struct cleave_writer *writer)
{
    bool lasts = end->phase > CLEAVE__MOVE_COPYING;
    cleave__put64(writer, end->last_number);
    cleave__put64(writer, end->in_number);
    cleave__put8(writer, end->in_closed);
    cleave__put64(writer, end->incoming.count);
    for (size_t i = 0; i < end->incoming.count; i++)
        cleave__put64(writer, end->incoming.data[i]);
    cleave__put8(writer, lasts ? (uint8_t)end->phase : CLEAVE__MOVE_NONE);
    if (!lasts)
        return;
    cleave__put64(writer, end->number);
    cleave__put32(writer, end->target);
    cleave__put64(writer, end->pieces.count);
    for (size_t i = 0; i < end->pieces.count; i++)
        cleave__put64(writer, end->pieces.data[i]);
    cleave__put64(writer, end->routers.count);
    for (size_t i = 0; i < end->routers.count; i++)
        cleave__put32(writer, end->routers.data[i]);
}

bool cleave__move_end_read(struct cleave__move_end *end, struct cleave_reader *reader)
{
    end->last_number = cleave__get64(reader);
    end->in_number = cleave__get64(reader);
    end->in_closed = cleave__get8(reader);
    for (uint64_t left = cleave__get64(reader); left && !reader->failed; left--) {
        if (!CLEAVE_PUSH(&end->incoming, cleave__get64(reader)))
            return false;
    }
    end->phase = (enum cleave__move_phase)cleave__get8(reader);
    if (end->phase == CLEAVE__MOVE_NONE)
        return !reader->failed;
    end->number = cleave__get64(reader);
    end->target = cleave__get32(reader);
    for (uint64_t left = cleave__get64(reader); left && !reader->failed; left--) {
        if (!CLEAVE_PUSH(&end->pieces, cleave__get64(reader)))
            return false;
    }
    for (uint64_t left = cleave__get64(reader); left && !reader->failed; left--) {
        if (!CLEAVE_PUSH(&end->routers, cleave__get32(reader)))
            return false;
    }
    end->sent = end->pieces.count;
    return !reader->failed;
}
