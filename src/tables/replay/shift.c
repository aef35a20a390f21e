/* The mover: phases, and what goes wrong in them. Each turn does one bounded piece of work. */
#include "tables/replay/shift.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

enum { ROUNDS_MOST = 12, NOTES_FEW = 24, TRIES = 3, TAG_NOTE = 1, TAG_TAKE, TAG_HOLD, TAG_MOVED };

static void destroy(void *self)
{
    struct cleave__shift *shift = self;
    for (uint32_t s = 0; shift->ports && s < shift->shards; s++) {
        cleave__port_close(&shift->ports[s].source);
        cleave__port_close(&shift->ports[s].target);
    }
    for (uint32_t p = 0; shift->keys && p < shift->pieces; p++)
        cleave__map_free(&shift->keys[p]);
    free(shift->ports);
    free(shift->keys);
    free(shift->piece_rows);
    free(shift->piece_gain);
    free(shift->unlisted);
    free(shift->decides);
    free(shift->column_base);
    free(shift->set);
    CLEAVE_VECTOR_FREE(&shift->numbers);
    CLEAVE_VECTOR_FREE(&shift->tasks);
    CLEAVE_VECTOR_FREE(&shift->moving);
    CLEAVE_VECTOR_FREE(&shift->notes);
    cleave__intern_free(&shift->seen);
    cleave__arena_free(&shift->note_arena);
    free(shift);
}

static bool learn_columns(struct cleave__shift *shift)
{
    uint32_t columns = 0;
    shift->column_base = calloc((size_t)shift->schema->table_count + 1, sizeof(uint32_t));
    if (!shift->column_base)
        return false;
    for (uint32_t t = 0; t < shift->schema->table_count; t++) {
        shift->column_base[t] = columns;
        columns += shift->schema->tables[t].column_count;
    }
    shift->decides = calloc((size_t)columns + 1, sizeof *shift->decides);
    for (uint32_t t = 0; shift->decides && t < shift->schema->table_count; t++) {
        const struct cleave__mix_table *cut = cleave__mix_table(shift->mix, t);
        for (uint32_t c = 0; c < shift->schema->tables[t].column_count; c++)
            shift->decides[shift->column_base[t] + c] =
                cleave__lookup_decides(cleave__mix_lookup(shift->mix), t, c) ||
                (cut->kind == CLEAVE__MIX_KEYED && cut->key_column == c);
    }
    return shift->decides != NULL;
}

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    const struct cleave__shift_seat *seat = argument;
    struct cleave__shift *shift = calloc(1, sizeof *shift);
    if (!shift)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a mover");
    shift->seat = seat;
    shift->mix = seat->mix;
    shift->from = cleave__mix_from(seat->mix);
    shift->to = cleave__mix_to(seat->mix);
    shift->schema = cleave__lookup_schema(shift->to);
    shift->shards = cleave__lookup_shards(seat->world->lookup);
    shift->pieces = cleave__mix_pieces(seat->mix);
    shift->words = shift->pieces / 64 + 1;
    shift->ports = calloc(shift->shards, sizeof *shift->ports);
    shift->keys = calloc((size_t)shift->pieces + 1, sizeof *shift->keys);
    shift->piece_rows = calloc((size_t)shift->pieces + 1, sizeof *shift->piece_rows);
    shift->piece_gain = calloc((size_t)shift->pieces + 1, sizeof *shift->piece_gain);
    shift->unlisted = calloc((size_t)shift->pieces + 1, sizeof *shift->unlisted);
    shift->set = calloc(shift->words, sizeof *shift->set);
    if (!shift->ports || !shift->keys || !shift->piece_rows || !shift->piece_gain ||
        !shift->unlisted || !shift->set || !learn_columns(shift)) {
        destroy(shift);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a mover");
    }
    for (uint32_t s = 0; s < shift->shards; s++) {
        cleave__port_init(&shift->ports[s].source, seat->world->urls[s]);
        cleave__port_init(&shift->ports[s].target, seat->world->urls[s]);
    }
    *self = shift;
    return CLEAVE_OK;
}

/* ---- to and from the gate ---- */

static void ask(struct cleave__shift *shift, struct cleave_context *context,
                enum cleave__shift_kind kind, uint64_t tag)
{
    struct cleave_writer *writer = cleave__context_writer(context);
    for (uint32_t w = 0; kind != CLEAVE__SHIFT_TAKE && w < shift->words; w++)
        cleave__put64(writer, shift->set[w]);
    if (writer->failed) {
        cleave__context_fail(context, CLEAVE_NO_MEMORY, "no memory for a message");
        return;
    }
    cleave__context_request(context, shift->seat->dispatcher, kind, writer->data, writer->count, 0,
                            tag);
}

static void step(struct cleave__shift *shift, struct cleave_context *context)
{
    (void)shift;
    cleave__context_send(context, cleave__context_self(context), CLEAVE__SHIFT_STEP, NULL, 0);
}

static bool read_note(struct cleave__shift *shift, struct cleave_reader *reader)
{
    struct cleave__shift_note note = {.table = cleave__get32(reader)};
    if (note.table >= shift->schema->table_count)
        return false;
    for (uint32_t n = cleave__get_count(reader, shift->shards); n > 0 && !reader->failed; n--)
        cleave__shardset_add(&note.shards, cleave__get_count(reader, shift->shards - 1));
    uint32_t length = cleave__get_count(reader, 1 << 24);
    const uint8_t *text = cleave__get_bytes(reader, length);
    if (!text)
        return false;
    note.condition = cleave__arena_copy(&shift->note_arena, (const char *)text, length);
    return note.condition && CLEAVE_PUSH(&shift->notes, note);
}

static bool read_notes(struct cleave__shift *shift, const struct cleave_message *message)
{
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    for (uint32_t n = cleave__get_count(&reader, UINT32_MAX); n > 0 && !reader.failed; n--) {
        if (!read_note(shift, &reader))
            return false;
    }
    for (uint32_t n = cleave__get_count(&reader, UINT32_MAX); n > 0 && !reader.failed; n--) {
        uint32_t first = cleave__get32(&reader);
        uint64_t number = cleave__get64(&reader);
        if (first >= shift->pieces || !cleave__map_put(&shift->keys[first], number))
            return false;
    }
    for (uint32_t w = 0; w < shift->words; w++) {
        for (uint64_t rest = cleave__get64(&reader); rest; rest &= rest - 1) {
            uint32_t piece = w * 64 + (uint32_t)__builtin_ctzll(rest);
            if (piece >= shift->pieces)
                return false;
            shift->unlisted[piece] = true;
        }
    }
    if (cleave__get8(&reader)) {
        for (uint32_t p = 0; p < shift->pieces; p++)
            shift->piece_gain[p] = cleave__get_varint(&reader);
    }
    return !reader.failed && reader.at == reader.end;
}

/* ---- phases ---- */

static void forget(struct cleave__shift *shift)
{
    shift->moving.count = shift->notes.count = 0;
    cleave__intern_free(&shift->seen);
    shift->seen = (struct cleave_intern){0};
    cleave__arena_rewind(&shift->note_arena, (struct cleave_arena_mark){0});
}

/* Keys that came by ways that do not tell them. */
static enum cleave_status list_again(struct cleave__shift *shift, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t p = 0; p < shift->pieces && !status; p++) {
        if (shift->unlisted[p])
            status = cleave__shift_list(shift, p, error);
    }
    return status;
}

static enum cleave_status next_pieces(struct cleave__shift *shift, struct cleave_context *context,
                                      struct cleave_error *error)
{
    forget(shift);
    enum cleave_status status = list_again(shift, error);
    if (status)
        return status;
    if (!cleave__shift_choose(shift)) {
        shift->phase = CLEAVE__SHIFT_OVER;
        shift->result.whole = cleave__mix_done(shift->mix);
        shift->result.seconds = (double)(cleave__clock_ns() - shift->began_ns) * 1e-9;
        return CLEAVE_OK;
    }
    shift->phase = CLEAVE__SHIFT_COPYING;
    shift->rounds = 0;
    shift->held_since_ns = 0;
    ask(shift, context, CLEAVE__SHIFT_NOTE, TAG_NOTE);
    return CLEAVE_OK;
}

/* A shard was lost: these pieces from the start, once it is back. */
static enum cleave_status again(struct cleave__shift *shift, struct cleave_context *context,
                                enum cleave_status status, struct cleave_error *error)
{
    const struct cleave__replay_world *world = shift->seat->world;
    uint64_t now_ns = cleave__clock_ns();
    if (status != CLEAVE_IO || (world->stop && *world->stop))
        return status;
    if (shift->retry_until_ns && now_ns > shift->retry_until_ns)
        return status;
    if (!shift->retry_until_ns)
        shift->retry_until_ns = now_ns + world->patience_ns;
    shift->result.again++;
    for (uint32_t s = 0; s < shift->shards; s++) {
        cleave__port_close(&shift->ports[s].source);
        cleave__port_close(&shift->ports[s].target);
        shift->ports[s].filling = 0;
        shift->ports[s].open = false;
    }
    for (uint32_t s = 0; s < shift->shards; s++) {
        if (cleave__port_await(&shift->ports[s].target, world, error))
            return CLEAVE_IO;
    }
    forget(shift);
    if (shift->phase == CLEAVE__SHIFT_WAITING) {
        for (uint32_t p = 0; p < shift->pieces; p++)
            shift->unlisted[p] = true;
        return next_pieces(shift, context, error);
    }
    shift->phase = CLEAVE__SHIFT_COPYING;
    shift->rounds = 0;
    shift->held_since_ns = 0;
    ask(shift, context, CLEAVE__SHIFT_NOTE, TAG_NOTE);
    return CLEAVE_OK;
}

static void count_hold(struct cleave__shift *shift)
{
    double ms = (double)(cleave__clock_ns() - shift->held_since_ns) * 1e-6;
    if (shift->held_since_ns && ms > shift->result.longest_hold_ms)
        shift->result.longest_hold_ms = ms;
    shift->held_since_ns = 0;
}

static enum cleave_status copy_next(struct cleave__shift *shift, struct cleave_context *context,
                                    struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    if (shift->next_task < shift->tasks.count) {
        status = cleave__shift_copy(shift, &shift->tasks.data[shift->next_task], error);
        shift->next_task += !status;
        if (!status)
            step(shift, context);
        return status;
    }
    shift->phase = CLEAVE__SHIFT_CATCHING_UP;
    ask(shift, context, CLEAVE__SHIFT_TAKE, TAG_TAKE);
    return CLEAVE_OK;
}

static enum cleave_status noted(struct cleave__shift *shift, struct cleave_context *context,
                                struct cleave_error *error)
{
    size_t notes = shift->notes.count;
    enum cleave_status status = cleave__shift_catch_up(shift, error);
    if (status)
        return status;
    shift->result.rounds++;
    if (notes <= NOTES_FEW || ++shift->rounds >= ROUNDS_MOST) {
        shift->phase = CLEAVE__SHIFT_HOLDING;
        shift->held_since_ns = cleave__clock_ns();
        ask(shift, context, CLEAVE__SHIFT_HOLD, TAG_HOLD);
    } else {
        ask(shift, context, CLEAVE__SHIFT_TAKE, TAG_TAKE);
    }
    return CLEAVE_OK;
}

static enum cleave_status drained(struct cleave__shift *shift, struct cleave_context *context,
                                  struct cleave_error *error)
{
    enum cleave_status status = cleave__shift_catch_up(shift, error);
    if (!status)
        status = cleave__shift_switch(shift, error);
    if (!status)
        ask(shift, context, CLEAVE__SHIFT_MOVED, TAG_MOVED);
    return status;
}

static enum cleave_status moved(struct cleave__shift *shift, struct cleave_context *context,
                                struct cleave_error *error)
{
    count_hold(shift);
    shift->retry_until_ns = 0;
    shift->result.moves++;
    for (uint32_t p = 0; p < shift->pieces; p++)
        shift->result.pieces += (uint32_t)(shift->set[p / 64] >> p % 64 & 1);
    shift->phase = CLEAVE__SHIFT_WAITING;
    return next_pieces(shift, context, error);
}

static enum cleave_status take(struct cleave__shift *shift, struct cleave_context *context,
                               const struct cleave_message *message, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    if (message->sort == CLEAVE_REPLY && !read_notes(shift, message))
        return cleave_error_set(error, CLEAVE_CORRUPT, "what was written makes no sense");
    if (message->kind == CLEAVE__SHIFT_GO) {
        shift->began_ns = cleave__clock_ns();
        status = cleave__shift_list(shift, CLEAVE_MIX_NONE, error);
        return status ? status : next_pieces(shift, context, error);
    }
    if (message->kind == CLEAVE__SHIFT_STEP)
        return copy_next(shift, context, error);
    switch (message->tag) {
    case TAG_NOTE:
        status = cleave__shift_empty(shift, error);
        if (!status) /* what was written since the last answer is told by this one */
            status = list_again(shift, error);
        if (!status)
            status = cleave__shift_make_tasks(shift, error);
        if (!status)
            step(shift, context);
        return status;
    case TAG_TAKE:
        return noted(shift, context, error);
    case TAG_HOLD:
        return drained(shift, context, error);
    case TAG_MOVED:
        return moved(shift, context, error);
    default:
        return CLEAVE_OK;
    }
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct cleave__shift *shift = self;
    struct cleave_error error = {0};
    enum cleave_status status = take(shift, context, message, &error);
    for (int tries = 0; status == CLEAVE_IO && tries < TRIES; tries++)
        status = again(shift, context, status, &error);
    if (status)
        cleave__context_fail(context, status, "%s", error.message);
}

const struct cleave_actor_ops cleave__shift_ops = {"mover", create, destroy, receive, NULL};
