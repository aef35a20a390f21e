/* Queries are stored and removed, here and where their cells are going. */
#include <stdlib.h>
#include <string.h>

#include "stream/route/summary.h"
#include "stream/serve/evaluator.h"

bool cleave__record_read(struct cleave_reader *reader, struct cleave_arena *arena,
                         struct cleave__record *out, bool *no_memory)
{
    *no_memory = false;
    struct cleave__record record = {.op = (enum cleave__change_of_query)cleave__get8(reader)};
    record.version = cleave__get64(reader);
    record.cover = cleave__get32(reader);
    if (record.op != CLEAVE__STORE && record.op != CLEAVE__REMOVE)
        reader->failed = true;
    if (reader->failed || !cleave__query_read(reader, arena, &record.query, no_memory))
        return false;
    *out = record;
    return true;
}

void cleave__record_write(const struct cleave__record *record, struct cleave_writer *writer)
{
    cleave__put8(writer, (uint8_t)record->op);
    cleave__put64(writer, record->version);
    cleave__put32(writer, record->cover);
    cleave__query_write(&record->query, writer);
}

static bool covered(const struct cleave__record *record)
{
    const struct cleave__query *query = &record->query;
    if (!query->term_count)
        return record->cover == CLEAVE__ANY_TERM;
    if (query->predicate == CLEAVE__OVERLAPS)
        return record->cover == CLEAVE__NO_TERM;
    for (uint32_t i = 0; i < query->term_count; i++) {
        if (query->terms[i] == record->cover)
            return true;
    }
    return false;
}

bool cleave__evaluator_accepts(const struct cleave__evaluator *e, struct cleave__record *record)
{
    const struct cleave__space *space = e->seat->world->streaming->space;
    return cleave__region_prepare(space, &record->query.region, NULL) == CLEAVE_OK &&
           (record->op == CLEAVE__REMOVE || covered(record));
}

bool cleave__evaluator_count_cover(struct cleave__evaluator *e, const struct cleave__query *query,
                                   uint32_t cover, bool more)
{
    bool all = query->predicate == CLEAVE__OVERLAPS && query->term_count;
    for (uint32_t i = 0; i < (all ? query->term_count : 1); i++) {
        uint32_t term = all ? query->terms[i] : cover;
        size_t before = e->need.count + e->need.has_zero;
        uint64_t *count = more ? cleave__map_put(&e->need, term) : cleave__map_find(&e->need, term);
        if (!count)
            return false;
        if (more) {
            bool known = e->need.count + e->need.has_zero == before;
            e->useless -= known && *count == 0;
            ++*count;
        } else {
            e->useless += --*count == 0;
        }
    }
    return true;
}

static uint32_t slot_of(const struct cleave__evaluator *e, uint64_t id)
{
    const uint64_t *slot = cleave__map_find(&e->slot_of, id);
    return slot ? (uint32_t)*slot : UINT32_MAX;
}

void cleave__evaluator_remove(struct cleave__evaluator *e, uint32_t slot)
{
    struct cleave__query query;
    struct cleave__held_query *held = &e->held.data[slot];
    if (!e->ops->query(e->matcher, slot, &query))
        return;
    cleave__evaluator_count_cover(e, &query, held->cover, false);
    cleave__aggregates_remove_query(e->sums,
                                    cleave__query_ranges(e->seat->world->streaming, &query).hull);
    cleave__map_remove(&e->slot_of, held->id);
    e->ops->remove(e->matcher, slot);
    *held = (struct cleave__held_query){0};
}

bool cleave__evaluator_store(struct cleave__evaluator *e, const struct cleave__record *record)
{
    const struct cleave__query *query = &record->query;
    const uint64_t *gone = cleave__map_find(&e->removed, query->id);
    uint32_t slot = slot_of(e, query->id);
    struct cleave_error error;
    if (gone && *gone >= record->version)
        return true; /* a late copy */
    /* The same, perhaps with another cover: routers have the one that is here, or will before this
     * is acknowledged. */
    if (slot != UINT32_MAX && e->held.data[slot].version >= record->version)
        return true;
    if (slot != UINT32_MAX)
        cleave__evaluator_remove(e, slot);
    uint64_t *place = cleave__map_put(&e->slot_of, query->id);
    enum cleave_status status =
        place ? e->ops->add(e->matcher, query, &slot, &error) : CLEAVE_NO_MEMORY;
    bool room = !status && CLEAVE_RESERVE(&e->held, (size_t)slot + 1) &&
                cleave__evaluator_count_cover(e, query, record->cover, true);
    if (!room)
        return false;
    *place = slot;
    while (e->held.count <= slot)
        e->held.data[e->held.count++] = (struct cleave__held_query){0};
    e->held.data[slot] = (struct cleave__held_query){query->id, record->version, record->cover};
    cleave__aggregates_add_query(e->sums,
                                 cleave__query_ranges(e->seat->world->streaming, query).hull);
    return true;
}

bool cleave__evaluator_gone(struct cleave__evaluator *e, uint64_t id, uint64_t version)
{
    uint32_t slot = slot_of(e, id);
    if (slot != UINT32_MAX && e->held.data[slot].version <= version)
        cleave__evaluator_remove(e, slot);
    if (!e->seat->world->durable)
        return true;
    uint64_t *known = cleave__map_put(&e->removed, id);
    if (!known)
        return false;
    *known = version > *known ? version : *known;
    return true;
}

/* ---- what waits for others ---- */

static struct cleave__stream_pending *new_pending(struct cleave__evaluator *e,
                                                  struct cleave_context *context)
{
    struct cleave__stream_pending *free_one = NULL;
    for (size_t i = 0; i < e->pending.count && !free_one; i++)
        free_one = e->pending.data[i].serial ? NULL : &e->pending.data[i];
    if (!free_one && CLEAVE_PUSH(&e->pending, (struct cleave__stream_pending){0}))
        free_one = &e->pending.data[e->pending.count - 1];
    if (!free_one) {
        cleave__stream_no_memory(context);
        return NULL;
    }
    *free_one = (struct cleave__stream_pending){.serial = ++e->serial};
    return free_one;
}

static void send_copy(struct cleave__evaluator *e, struct cleave_context *context,
                      const struct cleave__stream_pending *pending)
{
    cleave__context_request(context, e->end.target, CLEAVE__STREAM_COPY, pending->body,
                            pending->length,
                            cleave__pause_ns(e->seat->world->streaming->retry_ns, pending->tries),
                            cleave__evaluator_tag(CLEAVE__TAG_PENDING, pending->serial));
}

static void forget(struct cleave__stream_pending *pending)
{
    free(pending->body);
    *pending = (struct cleave__stream_pending){0};
}

static struct cleave__stream_pending *find_pending(struct cleave__evaluator *e, uint32_t serial)
{
    for (size_t i = 0; i < e->pending.count && serial; i++) {
        if (e->pending.data[i].serial == serial)
            return &e->pending.data[i];
    }
    return NULL;
}

static void one_less(struct cleave__evaluator *e, struct cleave_context *context, uint32_t serial)
{
    struct cleave__stream_pending *pending = find_pending(e, serial);
    if (!pending || --pending->waits)
        return;
    cleave__stream_answer(context, pending->promise, CLEAVE__STREAM_DONE);
    forget(pending);
}

void cleave__evaluator_answered(struct cleave__evaluator *e, struct cleave_context *context,
                                const struct cleave_message *message)
{
    struct cleave__stream_pending *pending = find_pending(e, (uint32_t)message->tag);
    bool lost = message->sort == CLEAVE_TIMEOUT || message->kind == CLEAVE__STREAM_ASTRAY;
    if (!pending)
        return; /* given up */
    if (pending->move) {
        bool current = pending->move == e->end.number && e->end.phase == CLEAVE__MOVE_COPYING;
        if (current && lost) {
            pending->tries = cleave__tries_more(pending->tries);
            send_copy(e, context, pending);
            return;
        }
        uint32_t waiter = pending->waiter;
        forget(pending);
        one_less(e, context, waiter);
        if (current && --e->copies == 0)
            cleave__move_settle(&e->end, context);
    } else if (lost) {
        forget(pending); /* whoever waits for it asks again */
    } else {
        one_less(e, context, pending->serial);
    }
}

/* ---- changes ---- */

struct changes {
    struct cleave_writer on;   /* records for the target, which answers for them now */
    struct cleave_writer copy; /* records that the target must know of, too */
    struct cleave_writer kept; /* records that took effect here */
    CLEAVE_VECTOR(uint32_t) keep;
    uint32_t tries; /* by who sent it, in vain */
    bool astray;
    bool copies_removal; /* which is answered once the target has it: it may have got the query with
                          * a piece after it was itself told of the removal */
};

static bool meets_incoming(const struct cleave__evaluator *e, const struct cleave__ranges *ranges)
{
    const uint64_t columns = e->seat->world->streaming->grid.columns,
                   *pieces = e->end.incoming.data;
    size_t count = e->end.incoming.count;
    for (uint32_t i = 0; i < ranges->count && count; i++) {
        struct cleave__cells cells = ranges->cells[i];
        for (uint32_t y = cells.y0; y <= cells.y1 && y <= pieces[count - 1] / columns; y++) {
            size_t low = 0, high = count; /* the first piece at or past the row's first cell */
            while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (pieces[middle] < y * columns + cells.x0)
                    low = middle + 1;
                else
                    high = middle;
            }
            if (low < count && pieces[low] <= y * columns + cells.x1)
                return true;
        }
    }
    return false;
}

static bool keep_cover(struct changes *changes, const struct cleave__record *record)
{
    const struct cleave__query *query = &record->query;
    bool all = query->predicate == CLEAVE__OVERLAPS && query->term_count, ok = true;
    for (uint32_t i = 0; i < (all ? query->term_count : 1) && ok; i++)
        ok = CLEAVE_PUSH(&changes->keep, all ? query->terms[i] : record->cover);
    return ok;
}

/* A storing that was acknowledged and is not here: the query has ended or was removed, and some
 * router was slow to send it, or asked again. */
static bool stale(const struct cleave__evaluator *e, const struct cleave__record *record)
{
    if (record->op != CLEAVE__STORE || !e->seat->world->durable)
        return false;
#ifdef CLEAVE_PLANT_NO_STALE /* a bug that tests build in, to see it found */
    if (record)
        return false;
#endif
    const uint64_t *gone = cleave__map_find(&e->removed, record->query.id);
    uint32_t slot = slot_of(e, record->query.id);
    if (slot != UINT32_MAX && e->held.data[slot].version >= record->version)
        return e->held.data[slot].version > record->version;
    return (gone && *gone >= record->version) || record->version < e->settled;
}

/* One change. `late`: the router decided on its cover before it knew of this epoch. False: the run
 * is over. */
static bool change(struct cleave__evaluator *e, struct cleave_context *context,
                   struct cleave__record *record, bool late, bool copied, struct changes *changes)
{
    if (!copied && stale(e, record))
        return true;
    uint32_t slot = slot_of(e, record->query.id);
    if (record->op == CLEAVE__STORE && slot != UINT32_MAX &&
        e->held.data[slot].version == record->version &&
        e->held.data[slot].cover != record->cover) { /* by another router, which must know */
        record->cover = e->held.data[slot].cover;
        late = !copied;
    }
    struct cleave__ranges ranges = cleave__query_ranges(e->seat->world->streaming, &record->query);
    struct cleave__cells moving = cleave__evaluator_moving(e), stays = e->own;
    bool moves = cleave__ranges_meet(&ranges, moving);
    bool away = moves && e->end.phase == CLEAVE__MOVE_FORWARDING;
    if (away)
        cleave__cells_cut(e->own, moving, &stays);
#ifdef CLEAVE_PLANT_NO_REMOVALS_ON /* a bug that tests build in, to see it found */
    if (record->op == CLEAVE__REMOVE)
        moves = away = false;
#endif
    bool here = copied || cleave__ranges_meet(&ranges, stays) || meets_incoming(e, &ranges);
    if (!here && !away) {
        changes->astray = true;
        return true;
    }
    if (away && !changes->on.count)
        cleave__put32(&changes->on, changes->tries);
    if (away)
        cleave__record_write(record, &changes->on);
    bool copy = moves && e->end.phase == CLEAVE__MOVE_COPYING;
    if (copy)
        cleave__record_write(record, &changes->copy);
    changes->copies_removal |= copy && record->op == CLEAVE__REMOVE;
    if (record->op == CLEAVE__STORE && !here)
        return true;
    if (e->seat->world->durable)
        cleave__record_write(record, &changes->kept);
    bool stores = record->op == CLEAVE__STORE;
    if ((stores && late && !keep_cover(changes, record)) ||
        !(stores ? cleave__evaluator_store(e, record)
                 : cleave__evaluator_gone(e, record->query.id, record->version))) {
        cleave__stream_no_memory(context);
        return false;
    }
    return true;
}

/* What is neither saved nor asked again here waits long for its answer: whoever waits for it asks
 * again, and if it were forgotten sooner than slow answers come, nobody's asking would be enough.
 */
static uint32_t patience(const struct changes *changes)
{
    if (changes->tries < CLEAVE__TRIES_LONG)
        return CLEAVE__TRIES_LONG;
    return changes->tries < CLEAVE__TRIES_MOST ? changes->tries + 1 : CLEAVE__TRIES_MOST;
}

static void send_keep(struct cleave__evaluator *e, struct cleave_context *context,
                      const struct changes *changes, uint32_t serial)
{
    for (uint32_t r = 0; r < e->seat->world->streaming->routers; r++) {
        struct cleave_writer *writer = cleave__context_writer(context);
        cleave__put32(writer, e->epoch);
        for (size_t i = 0; i < changes->keep.count; i++)
            cleave__put32(writer, changes->keep.data[i]);
        cleave__stream_request(context, e->seat->world, cleave__router_actor(e->seat->world, r),
                               CLEAVE__STREAM_KEEP, writer, patience(changes),
                               cleave__evaluator_tag(CLEAVE__TAG_PENDING, serial));
    }
}

/* Tells the target; `waiter` (0: nobody) waits until it knows. */
static bool copy_changes(struct cleave__evaluator *e, struct cleave_context *context,
                         const struct changes *changes, uint32_t waiter)
{
    struct cleave__stream_pending *pending = new_pending(e, context);
    struct cleave_writer body = {0};
    cleave__put64(&body, e->end.number);
    cleave__put_bytes(&body, changes->copy.data, changes->copy.count);
    if (!pending || body.failed) {
        free(body.data);
        cleave__stream_no_memory(context);
        return false;
    }
    pending->move = e->end.number;
    pending->waiter = waiter;
    pending->body = body.data;
    pending->length = body.count;
    e->copies++;
    send_copy(e, context, pending);
    return true;
}

/* Sends what must be sent and answers, now or when others have. */
static void settle(struct cleave__evaluator *e, struct cleave_context *context,
                   struct changes *changes, struct cleave_promise promise)
{
    uint32_t waits = (changes->keep.count ? e->seat->world->streaming->routers : 0) +
                     (changes->on.count > 0) + changes->copies_removal,
             serial = 0;
    if (changes->copy.failed || changes->on.failed) {
        cleave__stream_no_memory(context);
        return;
    }
    if (waits) {
        struct cleave__stream_pending *pending = new_pending(e, context);
        if (!pending)
            return;
        serial = pending->serial;
        pending->promise = promise;
        pending->waits = waits;
    }
    if (changes->copy.count &&
        !copy_changes(e, context, changes, changes->copies_removal ? serial : 0))
        return;
    if (changes->keep.count)
        send_keep(e, context, changes, serial);
    if (changes->on.count)
        cleave__stream_request(context, e->seat->world, e->end.target, CLEAVE__STREAM_STORE_ON,
                               &changes->on, patience(changes),
                               cleave__evaluator_tag(CLEAVE__TAG_PENDING, serial));
    if (!waits)
        cleave__stream_answer(context, promise, CLEAVE__STREAM_DONE);
}

void cleave__evaluator_changes(struct cleave__evaluator *e, struct cleave_context *context,
                               const struct cleave_message *message)
{
    struct cleave_reader reader = cleave__body(message);
    bool copied = message->kind == CLEAVE__STREAM_COPY, late = false, fine = true;
    struct changes changes = {0};
    if (copied) {
        uint64_t number = cleave__get64(&reader);
        if (number < e->end.in_number || (number == e->end.in_number && e->end.in_closed)) {
            cleave__stream_answer(context, message->promise, CLEAVE__STREAM_DONE);
            return; /* of a move that is over */
        }
        if (number > e->end.in_number) { /* before any of its pieces, which were lost */
            cleave__stream_answer(context, message->promise, CLEAVE__STREAM_ASTRAY);
            return;
        }
    } else if (message->kind == CLEAVE__STREAM_STORE_ON) {
        changes.tries = cleave__get32(&reader);
        late = e->seat->world->durable; /* by the source's epoch, and that may be this one's old */
    } else {
        late = cleave__get32(&reader) != e->epoch;
        changes.tries = cleave__get32(&reader);
        uint64_t settled = cleave__get64(&reader);
        e->settled = settled > e->settled ? settled : e->settled;
#ifdef CLEAVE_PLANT_NO_KEEP /* a bug that tests build in, to see it found */
        late = false;
#endif
    }
    uint64_t stored = 0;
    while (fine && cleave__left(&reader)) {
        struct cleave__record record;
        bool no_memory;
        if (!cleave__record_read(&reader, &e->arena, &record, &no_memory)) {
            if (no_memory)
                cleave__stream_no_memory(context);
            else
                cleave__stream_corrupt(context, "a query that makes no sense");
            fine = false;
        } else if (!cleave__evaluator_accepts(e, &record)) {
            cleave__stream_corrupt(context, "a query that makes no sense here");
            fine = false;
        } else {
            fine = change(e, context, &record, late, copied, &changes);
            stored++;
        }
    }
    cleave__context_spend(context, stored * e->seat->world->streaming->service.store_query_ns);
    if (fine && e->seat->world->durable)
        cleave__evaluator_keep_changes(e, context, &changes.kept);
    if (fine && changes.astray && !e->seat->world->durable)
        cleave__stream_corrupt(context, "a query came to an evaluator without its cells");
    else if (fine && changes.astray)
        cleave__stream_answer(context, message->promise, CLEAVE__STREAM_ASTRAY);
    else if (fine)
        settle(e, context, &changes, message->promise);
    free(changes.on.data);
    free(changes.copy.data);
    free(changes.kept.data);
    CLEAVE_VECTOR_FREE(&changes.keep);
}
