/* What of an evaluator outlives a crash: a snapshot of everything, and behind it a journal of what
 * has changed since, which is cheap to add to.
 *
 *     u64 length of the snapshot; the snapshot; entries
 *
 * An entry is a record, as it was stored or removed here (cleave__record_write; its first byte is
 * what was done), or CLEAVE__KEPT_PIECE: u64 piece, u64 length, the content that a move brought.
 * All else is rare and makes a new snapshot, as does a journal longer than twice its snapshot, so
 * that keeping costs O(1) bytes for each byte of changes.
 *
 * Read back it is taken for bytes by anybody: what makes no sense is an error.
 *
 * Invariant: snapshot and entries, read in order, give the queries, versions, covers, terms, cells
 * and moves that the evaluator had after its last message. */
#include <stdlib.h>

#include "stream/serve/evaluator.h"

enum { CLEAVE__KEPT_PIECE = 3, JOURNAL_LEAST = 1024 };

static void put_cells(struct cleave_writer *writer, struct cleave__cells cells)
{
    cleave__put32(writer, cells.x0);
    cleave__put32(writer, cells.y0);
    cleave__put32(writer, cells.x1);
    cleave__put32(writer, cells.y1);
}

static struct cleave__cells get_cells(struct cleave_reader *reader)
{
    struct cleave__cells cells = {.x0 = cleave__get32(reader)};
    cells.y0 = cleave__get32(reader);
    cells.x1 = cleave__get32(reader);
    cells.y1 = cleave__get32(reader);
    return cells;
}

static void put_terms(const struct cleave__evaluator *e, struct cleave_writer *writer)
{
    size_t at = 0;
    uint64_t term, count;
    cleave__put64(writer, e->shedding.count);
    for (size_t i = 0; i < e->shedding.count; i++)
        cleave__put32(writer, e->shedding.data[i]);
    cleave__put64(writer, e->useless);
    while (cleave__map_next(&e->need, &at, &term, &count)) {
        if (!count)
            cleave__put32(writer, (uint32_t)term);
    }
}

/* What late copies there are of changes that are settled is known by their versions alone: but for
 * those that the source of a move sends, of what was stored there and acknowledged. */
static void prune_removed(struct cleave__evaluator *e)
{
    struct cleave__map kept = {0};
    size_t at = 0;
    uint64_t id, version;
    if (e->end.in_number && !e->end.in_closed)
        return;
    while (cleave__map_next(&e->removed, &at, &id, &version)) {
        if (version < e->settled)
            continue;
        uint64_t *place = cleave__map_put(&kept, id);
        if (!place) { /* another time */
            cleave__map_free(&kept);
            return;
        }
        *place = version;
    }
    cleave__map_free(&e->removed);
    e->removed = kept;
}

void cleave__evaluator_put_removed(const struct cleave__evaluator *e, struct cleave_writer *writer)
{
    size_t at = 0;
    uint64_t id, version;
    cleave__put64(writer, e->removed.count + e->removed.has_zero);
    while (cleave__map_next(&e->removed, &at, &id, &version)) {
        cleave__put64(writer, id);
        cleave__put64(writer, version);
    }
}

void cleave__evaluator_write(const struct cleave__evaluator *e, struct cleave_writer *w)
{
    size_t at = w->count;
    cleave__put64(w, 0);
    put_cells(w, e->own);
    cleave__put32(w, e->epoch);
    cleave__put32(w, e->shed_epoch);
    cleave__put32(w, e->doubt_epoch);
    cleave__put64(w, e->settled);
    put_terms(e, w);
    cleave__evaluator_put_removed(e, w);
    cleave__put64(w, e->incoming_life);
    cleave__move_end_write(&e->end, w);
    for (uint32_t slot = 0; slot < e->ops->slots(e->matcher); slot++) {
        struct cleave__record record = {.op = CLEAVE__STORE};
        if (!e->ops->query(e->matcher, slot, &record.query))
            continue;
        record.version = e->held.data[slot].version;
        record.cover = e->held.data[slot].cover;
        cleave__record_write(&record, w);
    }
    if (!w->failed)
        cleave__store64(w->data + at, w->count - at - 8);
}

void cleave__evaluator_save(struct cleave__evaluator *e, struct cleave_context *context)
{
    struct cleave_writer w = {0};
    prune_removed(e);
    cleave__evaluator_write(e, &w);
    if (w.failed)
        cleave__stream_no_memory(context);
    else
        cleave__context_save(context, w.data, w.count);
    e->snapshot_bytes = w.count;
    e->journal_bytes = 0;
    e->saved_move = e->end.in_number;
    free(w.data);
}

static void append(struct cleave__evaluator *e, struct cleave_context *context,
                   const struct cleave_writer *entries)
{
    if (entries->failed) {
        cleave__stream_no_memory(context);
    } else if (e->journal_bytes + entries->count > 2 * e->snapshot_bytes + JOURNAL_LEAST) {
        cleave__evaluator_save(e, context);
    } else if (entries->count) {
        cleave__context_append(context, entries->data, entries->count);
        e->journal_bytes += entries->count;
    }
}

void cleave__evaluator_keep_changes(struct cleave__evaluator *e, struct cleave_context *context,
                                    const struct cleave_writer *records)
{
    if (e->snapshot_bytes)
        append(e, context, records);
    else
        cleave__evaluator_save(e, context);
}

void cleave__evaluator_keep_piece(struct cleave__evaluator *e, struct cleave_context *context)
{
    struct cleave_writer entry = {0};
    /* The first of a move ends what earlier ones left here. */
    if (!e->snapshot_bytes || e->end.in_number != e->saved_move) {
        cleave__evaluator_save(e, context);
        return;
    }
    cleave__put8(&entry, CLEAVE__KEPT_PIECE);
    cleave__put64(&entry, e->taken_piece);
    cleave__put64(&entry, e->taken_length);
    cleave__put_bytes(&entry, e->taken, e->taken_length);
    append(e, context, &entry);
    free(entry.data);
}

/* ---- reading ---- */

static bool cells_right(const struct cleave__evaluator *e, struct cleave__cells cells)
{
    const struct cleave__grid *grid = &e->seat->world->streaming->grid;
    return cleave__cells_empty(cells) || (cells.x1 < grid->columns && cells.y1 < grid->rows);
}

static bool end_right(const struct cleave__evaluator *e)
{
    const struct cleave__stream_world *world = e->seat->world;
    const struct cleave__grid *grid = &world->streaming->grid;
    const struct cleave__move_end *end = &e->end;
    uint64_t cells = (uint64_t)grid->columns * grid->rows;
    if (!cleave__move_end_check(end))
        return false;
    if (end->incoming.count && end->incoming.data[end->incoming.count - 1] >= cells)
        return false;
    if (end->phase == CLEAVE__MOVE_NONE)
        return true;
    if (end->target < cleave__evaluator_actor(0) ||
        end->target >= cleave__evaluator_actor(world->streaming->evaluators) ||
        end->target == cleave__evaluator_actor(e->seat->index) || !end->pieces.count ||
        end->pieces.data[end->pieces.count - 1] >= cells)
        return false;
    for (size_t i = 0; i < end->routers.count; i++) {
        if (end->routers.data[i] < cleave__router_actor(world, 0) ||
            end->routers.data[i] >= cleave__router_actor(world, world->streaming->routers))
            return false;
    }
    struct cleave__cells moving =
        cleave__pieces_cells(grid, end->pieces.data[0], end->pieces.data[end->pieces.count - 1]);
    return !cleave__cells_empty(moving) && cleave__cells_count(moving) == end->pieces.count &&
           (end->phase != CLEAVE__MOVE_FORWARDING || cleave__cells_within(moving, e->own));
}

/* False: memory is out. What makes no sense fails the reader. */
static bool read_terms(struct cleave__evaluator *e, struct cleave_reader *r)
{
    for (uint64_t left = cleave__get64(r); left && !r->failed; left--) {
        if (!CLEAVE_PUSH(&e->shedding, cleave__get32(r)))
            return false;
    }
    e->useless = cleave__get64(r);
    for (uint64_t left = e->useless; left && !r->failed; left--) {
        if (!cleave__map_put(&e->need, cleave__get32(r)))
            return false;
    }
    r->failed |= e->need.count + e->need.has_zero != e->useless;
    return true;
}

bool cleave__evaluator_get_removed(struct cleave__evaluator *e, struct cleave_reader *r)
{
    for (uint64_t left = cleave__get64(r); left && !r->failed; left--) {
        uint64_t id = cleave__get64(r), version = cleave__get64(r);
        if (!r->failed && !cleave__evaluator_gone(e, id, version))
            return false;
    }
    return true;
}

static bool read_record(struct cleave__evaluator *e, struct cleave_reader *r)
{
    struct cleave__record record;
    bool no_memory = false;
    if (!cleave__record_read(r, &e->arena, &record, &no_memory))
        return !no_memory;
    r->failed |= !cleave__evaluator_accepts(e, &record);
    if (r->failed)
        return true;
    return record.op == CLEAVE__STORE ? cleave__evaluator_store(e, &record)
                                      : cleave__evaluator_gone(e, record.query.id, record.version);
}

static bool read_piece(struct cleave__evaluator *e, struct cleave_reader *r)
{
    const struct cleave__grid *grid = &e->seat->world->streaming->grid;
    cleave__get8(r);
    uint64_t piece = cleave__get64(r), length = cleave__get64(r);
    const uint8_t *content = cleave__get_bytes(r, length);
    if (!content || piece >= (uint64_t)grid->columns * grid->rows || e->end.in_closed) {
        r->failed = true;
        return true;
    }
    struct cleave_reader inner = {content, content + length, false};
    bool no_memory = false;
    r->failed |= !cleave__evaluator_take(e, &inner, &no_memory);
    return !no_memory && cleave__move_end_note(&e->end, piece);
}

static bool read_all(struct cleave__evaluator *e, struct cleave_reader *r)
{
    struct cleave_arena_mark mark = cleave__arena_mark(&e->arena);
    uint64_t length = cleave__get64(r);
    const uint8_t *from = r->at, *end = r->end;
    if (r->failed || length > (uint64_t)(end - from)) {
        r->failed = true;
        return true;
    }
    r->end = from + length;
    e->own = get_cells(r);
    if (cleave__cells_empty(e->own))
        e->own = CLEAVE__NO_CELLS;
    e->epoch = cleave__get32(r);
    e->shed_epoch = cleave__get32(r);
    e->doubt_epoch = cleave__get32(r);
    e->settled = cleave__get64(r);
    if (!read_terms(e, r) || !cleave__evaluator_get_removed(e, r))
        return false;
    e->incoming_life = cleave__get64(r);
    if (!cleave__move_end_read(&e->end, r))
        return r->failed;
    r->failed |= !cells_right(e, e->own) || !end_right(e);
    while (!r->failed && r->at < end) {
        bool snapshot = r->at < from + length;
        r->end = snapshot ? from + length : end;
        if (!(!snapshot && *r->at == CLEAVE__KEPT_PIECE ? read_piece(e, r) : read_record(e, r)))
            return false;
        cleave__arena_rewind(&e->arena, mark);
    }
    e->snapshot_bytes = length + 8;
    e->journal_bytes = (size_t)(end - from) - length;
    e->saved_move = e->end.in_number;
    return true;
}

enum cleave_status cleave__evaluator_load(struct cleave__evaluator *e, const uint8_t *saved,
                                          size_t length, struct cleave_error *error)
{
    struct cleave_reader r = {saved, saved + length, false};
    if (!read_all(e, &r))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for what an evaluator kept");
    if (r.failed)
        return cleave_error_set(error, CLEAVE_CORRUPT,
                                "what an evaluator kept makes no sense near byte %zu of %zu",
                                (size_t)(r.at - saved), length);
    return CLEAVE_OK;
}
