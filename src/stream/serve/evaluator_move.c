/* An evaluator's end of moves, and what outlives a crash.
 *
 * A piece is a cell. A query is sent with the first of the moving cells that it meets, so once;
 * what comes or goes while copying is under way is told the target at once (evaluator_store.c). */
#include <stdlib.h>
#include <string.h>

#include "stream/serve/evaluator.h"

struct cleave__cells cleave__evaluator_moving(const struct cleave__evaluator *e)
{
    if (e->end.phase != CLEAVE__MOVE_COPYING && e->end.phase != CLEAVE__MOVE_FORWARDING)
        return CLEAVE__NO_CELLS;
    return cleave__pieces_cells(&e->seat->world->streaming->grid, e->end.pieces.data[0],
                                e->end.pieces.data[e->end.pieces.count - 1]);
}

/* The first moving cell that a query meets, as an index of pieces; SIZE_MAX: none. */
static size_t first_piece(struct cleave__cells moving, const struct cleave__ranges *ranges)
{
    size_t first = SIZE_MAX, width = moving.x1 - moving.x0 + 1;
    for (uint32_t i = 0; i < ranges->count; i++) {
        struct cleave__cells common = cleave__cells_common(ranges->cells[i], moving);
        if (cleave__cells_empty(common))
            continue;
        size_t index = (common.y0 - moving.y0) * width + common.x0 - moving.x0;
        first = index < first ? index : first;
    }
    return first;
}

/* Which queries go with which piece: counting sort. */
static bool list(struct cleave__evaluator *e)
{
    struct cleave__cells moving = cleave__evaluator_moving(e);
    uint32_t slots = e->ops->slots(e->matcher);
    size_t pieces = e->end.pieces.count;
    uint32_t *piece_of = malloc(((size_t)slots + 1) * sizeof *piece_of);
    if (!piece_of || !CLEAVE_RESERVE(&e->listed_at, pieces + 2) ||
        !CLEAVE_RESERVE(&e->listed, e->slot_of.count)) {
        free(piece_of);
        return false;
    }
    memset(e->listed_at.data, 0, (pieces + 2) * sizeof *e->listed_at.data);
    for (uint32_t slot = 0; slot < slots; slot++) {
        struct cleave__query query;
        piece_of[slot] = UINT32_MAX;
        if (!e->ops->query(e->matcher, slot, &query))
            continue;
        struct cleave__ranges ranges = cleave__query_ranges(e->seat->world->streaming, &query);
        size_t piece = first_piece(moving, &ranges);
        if (piece == SIZE_MAX)
            continue;
        piece_of[slot] = (uint32_t)piece;
        e->listed_at.data[piece + 2]++;
    }
    for (size_t i = 2; i < pieces + 2; i++)
        e->listed_at.data[i] += e->listed_at.data[i - 1];
    for (uint32_t slot = 0; slot < slots; slot++) {
        if (piece_of[slot] == UINT32_MAX)
            continue;
        struct cleave__held_query listed = e->held.data[slot];
        listed.cover = slot;
        e->listed.data[e->listed_at.data[piece_of[slot] + 1]++] = listed;
    }
    e->listed.count = e->listed_at.data[pieces];
    e->listed_move = e->end.number;
    e->moved_queries += e->listed.count;
    free(piece_of);
    return true;
}

static void write_piece(void *holder, uint64_t piece, struct cleave_writer *writer)
{
    struct cleave__evaluator *e = holder;
    if (e->listed_move != e->end.number) {
        e->copies = 0; /* those of earlier moves are given up */
        if (!cleave__cells_within(cleave__evaluator_moving(e), e->own))
            cleave__stream_corrupt(e->context, "cells are to move that are not here");
        if (!cleave__cells_within(cleave__evaluator_moving(e), e->own) || !list(e)) {
            writer->failed = true;
            return;
        }
    }
    struct cleave__cells moving = cleave__evaluator_moving(e);
    const struct cleave__grid *grid = &e->seat->world->streaming->grid;
    size_t index = (size_t)(piece / grid->columns - moving.y0) * (moving.x1 - moving.x0 + 1) +
                   (size_t)(piece % grid->columns - moving.x0);
    uint64_t cost = index ? 0 : cleave__aggregates_part(e->sums, e->own, moving).cost;
    cleave__put64(writer, e->life);
    cleave__put64(writer, cost); /* of all that moves, with the first cell */
    for (uint32_t i = e->listed_at.data[index]; i < e->listed_at.data[index + 1]; i++) {
        struct cleave__held_query listed = e->listed.data[i];
        uint32_t slot = listed.cover;
        struct cleave__record record = {.op = CLEAVE__STORE, .version = listed.version};
        if (slot >= e->held.count || e->held.data[slot].id != listed.id ||
            e->held.data[slot].version != listed.version ||
            !e->ops->query(e->matcher, slot, &record.query))
            continue; /* gone since, and the target told */
        record.cover = e->held.data[slot].cover;
        cleave__record_write(&record, writer);
    }
}

static void begin_sweep(struct cleave__evaluator *e)
{
    e->sweeping = 0;
    e->sweep_to = e->ops->slots(e->matcher);
}

static bool take_piece(void *holder, uint64_t piece, struct cleave_reader *reader)
{
    struct cleave__evaluator *e = holder;
    (void)piece;
    uint64_t life = cleave__get64(reader), cost = cleave__get64(reader);
    if (life != e->incoming_life && e->seat->world->durable)
        begin_sweep(e); /* what came before the source's crash: it copies anew, without what has
                         * gone */
    cleave__evaluator_sweep(e, UINT32_MAX);
    e->incoming_life = life;
    e->incoming_cost = cost ? cost : e->incoming_cost;
    while (cleave__left(reader)) {
        struct cleave__record record;
        bool no_memory;
        if (!cleave__record_read(reader, &e->arena, &record, &no_memory) ||
            !cleave__evaluator_store(e, e->context, &record))
            return false;
    }
    return !reader->failed;
}

static void drop_pieces(void *holder, const uint64_t *pieces, size_t count)
{
    struct cleave__evaluator *e = holder;
    struct cleave__cells cells =
        cleave__pieces_cells(&e->seat->world->streaming->grid, pieces[0], pieces[count - 1]);
    struct cleave__cells rest;
    e->incoming_cost = 0;
    if (cleave__cells_cut(e->own, cells, &rest)) {
        cleave__aggregates_give(e->sums, e->own, cells);
        e->own = rest;
        e->refused = 0;
    } /* else a move's that was given up, and they never were this evaluator's */
    begin_sweep(e);
    if (e->seat->world->durable)
        cleave__evaluator_sweep(e, UINT32_MAX);
}

static void keep_pieces(void *holder, const uint64_t *pieces, size_t count)
{
    struct cleave__evaluator *e = holder;
    if (!count)
        return;
    struct cleave__cells joined, cells = cleave__pieces_cells(&e->seat->world->streaming->grid,
                                                              pieces[0], pieces[count - 1]);
    if (!cleave__cells_join(e->own, cells, &joined)) {
        cleave__stream_corrupt(e->context, "cells came that make no rectangle with the others");
        return;
    }
    e->own = joined;
    e->refused = 0;
    cleave__aggregates_take(e->sums, cells, e->incoming_cost);
    if (e->loads)
        cleave__cell_loads_take(e->loads, cells, e->incoming_cost);
    e->incoming_cost = 0;
}

static bool busy(void *holder, uint64_t piece)
{
    struct cleave__evaluator *e = holder;
    (void)piece;
    return (e->listed_move == e->end.number && e->copies) || e->shedding.count;
}

/* ---- what outlives a crash ---- */

static void save(void *holder, struct cleave_context *context)
{
    struct cleave__evaluator *e = holder;
    if (e->seat->world->durable)
        cleave__evaluator_save(e, context);
}

static void put_map(struct cleave_writer *writer, const struct cleave__map *map)
{
    size_t at = 0;
    uint64_t key, value;
    cleave__put64(writer, map->count + map->has_zero);
    while (cleave__map_next(map, &at, &key, &value)) {
        cleave__put64(writer, key);
        cleave__put64(writer, value);
    }
}

void cleave__evaluator_save(void *evaluator, struct cleave_context *context)
{
    struct cleave__evaluator *e = evaluator;
    struct cleave_writer w = {0};
    size_t at = 0;
    uint64_t term, count;
    cleave__put32(&w, e->own.x0);
    cleave__put32(&w, e->own.y0);
    cleave__put32(&w, e->own.x1);
    cleave__put32(&w, e->own.y1);
    cleave__put32(&w, e->epoch);
    cleave__put64(&w, e->shedding.count);
    for (size_t i = 0; i < e->shedding.count; i++)
        cleave__put32(&w, e->shedding.data[i]);
    cleave__put64(&w, e->useless);
    while (cleave__map_next(&e->need, &at, &term, &count)) {
        if (!count)
            cleave__put32(&w, (uint32_t)term);
    }
    put_map(&w, &e->removed);
    cleave__put64(&w, e->incoming_life);
    cleave__move_end_write(&e->end, &w);
    for (uint32_t slot = 0; slot < e->ops->slots(e->matcher); slot++) {
        struct cleave__record record = {.op = CLEAVE__STORE};
        if (!e->ops->query(e->matcher, slot, &record.query))
            continue;
        record.version = e->held.data[slot].version;
        record.cover = e->held.data[slot].cover;
        cleave__record_write(&record, &w);
    }
    if (w.failed)
        cleave__stream_no_memory(context);
    else
        cleave__context_save(context, w.data, w.count);
    free(w.data);
}

bool cleave__evaluator_load(struct cleave__evaluator *e, const uint8_t *saved, size_t length)
{
    struct cleave_reader r = {saved, saved + length, false};
    e->own.x0 = cleave__get32(&r);
    e->own.y0 = cleave__get32(&r);
    e->own.x1 = cleave__get32(&r);
    e->own.y1 = cleave__get32(&r);
    e->epoch = cleave__get32(&r);
    for (uint64_t left = cleave__get64(&r); left && !r.failed; left--) {
        if (!CLEAVE_PUSH(&e->shedding, cleave__get32(&r)))
            return false;
    }
    e->useless = cleave__get64(&r);
    for (uint64_t left = e->useless; left && !r.failed; left--) {
        if (!cleave__map_put(&e->need, cleave__get32(&r)))
            return false;
    }
    for (uint64_t left = cleave__get64(&r); left && !r.failed; left--) {
        uint64_t *value = cleave__map_put(&e->removed, cleave__get64(&r));
        if (!value)
            return false;
        *value = cleave__get64(&r);
    }
    e->incoming_life = cleave__get64(&r);
    if (!cleave__move_end_read(&e->end, &r))
        return false;
    while (cleave__left(&r)) {
        struct cleave__record record;
        bool no_memory;
        if (!cleave__record_read(&r, &e->arena, &record, &no_memory) ||
            !cleave__evaluator_store(e, e->context, &record))
            return false;
    }
    return !r.failed;
}

const struct cleave__move_ops cleave__evaluator_move_ops = {.write = write_piece,
                                                            .take = take_piece,
                                                            .drop = drop_pieces,
                                                            .keep = keep_pieces,
                                                            .busy = busy,
                                                            .save = save};
