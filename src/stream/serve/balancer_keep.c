/* What of the balancer outlives a crash: the map, the operation under way, the mover.
 *
 * It is saved before anybody is asked for what it says, so that whatever a move has come to
 * elsewhere, its successor asks for the same again, which is harmless: all is recognised by the
 * move's number. A round of loads is not kept: it begins anew. */
#include <stdlib.h>
#include <string.h>

#include "stream/serve/balancer.h"

enum { REBALANCES_MOST = 64 }; /* the last ones, for figures */

static void put_cells(struct cleave_writer *w, struct cleave__cells cells)
{
    cleave__put32(w, cells.x0);
    cleave__put32(w, cells.y0);
    cleave__put32(w, cells.x1);
    cleave__put32(w, cells.y1);
}

static struct cleave__cells get_cells(struct cleave_reader *r)
{
    struct cleave__cells cells = {.x0 = cleave__get32(r)};
    cells.y0 = cleave__get32(r);
    cells.x1 = cleave__get32(r);
    cells.y1 = cleave__get32(r);
    return cells;
}

static void put_real(struct cleave_writer *w, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    cleave__put64(w, bits);
}

static double get_real(struct cleave_reader *r)
{
    uint64_t bits = cleave__get64(r);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void put_rebalance(struct cleave_writer *w, const struct cleave__rebalance *x)
{
    cleave__put8(w, (uint8_t)x->kind);
    cleave__put32(w, x->from);
    cleave__put32(w, x->to);
    put_real(w, x->gain);
    put_real(w, x->cost);
    cleave__put64(w, x->moved_queries);
    cleave__put64(w, x->moved_cells);
    cleave__put64(w, x->at_ns);
    cleave__put64(w, x->took_ns);
    cleave__put8(w, x->done);
}

static struct cleave__rebalance get_rebalance(struct cleave_reader *r)
{
    struct cleave__rebalance x = {.kind = (enum cleave__balance_kind)cleave__get8(r)};
    x.from = cleave__get32(r);
    x.to = cleave__get32(r);
    x.gain = get_real(r);
    x.cost = get_real(r);
    x.moved_queries = cleave__get64(r);
    x.moved_cells = cleave__get64(r);
    x.at_ns = cleave__get64(r);
    x.took_ns = cleave__get64(r);
    x.done = cleave__get8(r);
    r->failed |= x.kind >= CLEAVE__BALANCE_KINDS;
    return x;
}

void cleave__balancer_write(const struct cleave__balancer *b, struct cleave_writer *w)
{
    size_t first =
        b->rebalances.count > REBALANCES_MOST ? b->rebalances.count - REBALANCES_MOST : 0;
    bool rests = b->stage < CLEAVE__BALANCER_OPENING;
    cleave__put8(w, (uint8_t)(rests ? CLEAVE__BALANCER_IDLE : b->stage));
    cleave__put8(w, b->over);
    cleave__put32(w, b->forced);
    cleave__put64(w, b->ticks);
    cleave__put64(w, b->operations);
    cleave__mover_write(&b->mover, w);
    for (uint32_t e = 0; e < b->seat->world->streaming->evaluators; e++)
        put_cells(w, b->cells[e]);
    cleave__put64(w, b->rebalances.count - first);
    for (size_t i = first; i < b->rebalances.count; i++)
        put_rebalance(w, &b->rebalances.data[i]);
    if (rests)
        return;
    cleave__put8(w, (uint8_t)b->decision.kind);
    put_real(w, b->decision.gain);
    put_real(w, b->decision.overhead);
    cleave__put32(w, b->step);
    cleave__put32(w, b->decision.step_count);
    for (uint32_t i = 0; i < 2; i++) {
        cleave__put32(w, b->decision.steps[i].from);
        cleave__put32(w, b->decision.steps[i].to);
        put_cells(w, b->decision.steps[i].cells);
    }
    cleave__put64(w, b->began_ns);
    cleave__put64(w, b->moved_queries);
}

void cleave__balancer_save(void *self, struct cleave_context *context)
{
    struct cleave__balancer *b = self;
    struct cleave_writer writer = {0};
    if (!b->seat->world->durable)
        return;
    cleave__balancer_write(b, &writer);
    if (writer.failed)
        cleave__stream_no_memory(context);
    else
        cleave__context_save(context, writer.data, writer.count);
    free(writer.data);
}

static bool evaluator_right(const struct cleave__stream_world *world, uint32_t actor)
{
    return actor >= cleave__evaluator_actor(0) &&
           actor < cleave__evaluator_actor(world->streaming->evaluators);
}

static bool right(const struct cleave__balancer *b)
{
    const struct cleave__stream_world *world = b->seat->world;
    const struct cleave__streaming *streaming = world->streaming;
    const struct cleave__grid *grid = &streaming->grid;
    const struct cleave__mover *mover = &b->mover;
    if (!cleave__cells_tile(grid->columns, grid->rows, b->cells, streaming->evaluators) ||
        (mover->state != CLEAVE__MOVER_IDLE) != (b->stage == CLEAVE__BALANCER_MOVING))
        return false;
    if (mover->state != CLEAVE__MOVER_IDLE) {
        if (!evaluator_right(world, mover->source) || !evaluator_right(world, mover->target) ||
            mover->source == mover->target ||
            mover->pieces.data[mover->pieces.count - 1] >= (uint64_t)grid->columns * grid->rows)
            return false;
        for (size_t i = 0; i < mover->routers.count; i++) {
            if (mover->routers.data[i] < cleave__router_actor(world, 0) ||
                mover->routers.data[i] >= cleave__router_actor(world, streaming->routers))
                return false;
        }
    }
    if (b->stage == CLEAVE__BALANCER_IDLE)
        return true;
    if (b->stage < CLEAVE__BALANCER_OPENING || b->stage > CLEAVE__BALANCER_SHUTTING ||
        b->decision.kind >= CLEAVE__BALANCE_KINDS || b->step > 1 || b->decision.step_count > 2)
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        const struct cleave__balance_step *step = &b->decision.steps[i];
        bool used = i == b->step || (i > b->step && i < b->decision.step_count);
        if (step->from >= streaming->evaluators || step->to >= streaming->evaluators)
            return false;
        if (used && (step->from == step->to || cleave__cells_empty(step->cells) ||
                     step->cells.x1 >= grid->columns || step->cells.y1 >= grid->rows))
            return false;
    }
    return true;
}

static bool read_all(struct cleave__balancer *b, struct cleave_reader *r)
{
    b->stage = (enum cleave__balancer_stage)cleave__get8(r);
    b->over = cleave__get8(r);
    b->forced = cleave__get32(r);
    b->ticks = cleave__get64(r);
    b->operations = cleave__get64(r);
    if (!cleave__mover_read(&b->mover, r))
        return r->failed;
    for (uint32_t e = 0; e < b->seat->world->streaming->evaluators; e++)
        b->cells[e] = get_cells(r);
    for (uint64_t left = cleave__get64(r); left && !r->failed; left--) {
        if (!CLEAVE_PUSH(&b->rebalances, get_rebalance(r)))
            return false;
    }
    if (b->stage != CLEAVE__BALANCER_IDLE) {
        b->decision.kind = (enum cleave__balance_kind)cleave__get8(r);
        b->decision.gain = get_real(r);
        b->decision.overhead = get_real(r);
        b->step = cleave__get32(r);
        b->decision.step_count = cleave__get32(r);
        for (uint32_t i = 0; i < 2; i++) {
            b->decision.steps[i].from = cleave__get32(r);
            b->decision.steps[i].to = cleave__get32(r);
            b->decision.steps[i].cells = get_cells(r);
        }
        b->began_ns = cleave__get64(r);
        b->moved_queries = cleave__get64(r);
    }
    r->failed |= cleave__left(r) || !right(b);
    return true;
}

enum cleave_status cleave__balancer_load(struct cleave__balancer *b, const uint8_t *saved,
                                         size_t length, struct cleave_error *error)
{
    struct cleave_reader reader = {saved, saved + length, false};
    if (!read_all(b, &reader))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for what a balancer kept");
    if (reader.failed)
        return cleave_error_set(error, CLEAVE_CORRUPT, "what a balancer kept makes no sense");
    return CLEAVE_OK;
}
