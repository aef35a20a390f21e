/* An evaluator's end of moves.
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
    if (e->seat->world->durable) {
        cleave__put64(writer, e->settled);
        if (index)
            cleave__put64(writer, 0);
        else
            cleave__evaluator_put_removed(e, writer);
    }
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

bool cleave__evaluator_take(struct cleave__evaluator *e, struct cleave_reader *reader,
                            bool *no_memory)
{
    *no_memory = false;
    uint64_t life = cleave__get64(reader), cost = cleave__get64(reader);
    if (life != e->incoming_life && e->seat->world->durable)
        begin_sweep(e); /* what came before the source's crash: it copies anew, without what has
                         * gone */
    cleave__evaluator_sweep(e, UINT32_MAX);
    e->incoming_life = life;
    e->incoming_cost = cost ? cost : e->incoming_cost;
    if (e->seat->world->durable) {
        uint64_t settled = cleave__get64(reader);
        e->settled = settled > e->settled ? settled : e->settled;
        if (!cleave__evaluator_get_removed(e, reader)) {
            *no_memory = true;
            return false;
        }
    }
    while (cleave__left(reader)) {
        struct cleave__record record;
        if (!cleave__record_read(reader, &e->arena, &record, no_memory) ||
            !cleave__evaluator_accepts(e, &record))
            return false;
        if (!cleave__evaluator_store(e, &record)) {
            *no_memory = true;
            return false;
        }
    }
    return !reader->failed;
}

static bool take_piece(void *holder, uint64_t piece, struct cleave_reader *reader)
{
    struct cleave__evaluator *e = holder;
    bool no_memory;
    e->taken_piece = piece;
    e->taken = reader->at;
    e->taken_length = cleave__left(reader);
    return cleave__evaluator_take(e, reader, &no_memory);
}

static void took_piece(void *holder, struct cleave_context *context, uint64_t piece)
{
    struct cleave__evaluator *e = holder;
    (void)piece;
    if (e->seat->world->durable)
        cleave__evaluator_keep_piece(e, context);
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

static void save(void *holder, struct cleave_context *context)
{
    struct cleave__evaluator *e = holder;
    if (e->seat->world->durable)
        cleave__evaluator_save(e, context);
}

const struct cleave__move_ops cleave__evaluator_move_ops = {.write = write_piece,
                                                            .take = take_piece,
                                                            .drop = drop_pieces,
                                                            .keep = keep_pieces,
                                                            .busy = busy,
                                                            .save = save,
                                                            .took = took_piece};
