/* The balancer: asks for loads, decides, has cells moved; one operation at a time.
 *
 * Centralized, loads are figures of every cell (balance/central.h): the balancer sums them up,
 * makes the reports that evaluators would, and finds the line of a shift itself.
 *
 * An operation's step: routers are told that a move begins (they let every object through to its
 * two ends), the move (src/move), routers wait until keywords sent by the old map are there, and
 * are told that it is over. */
#include "stream/serve/balancer.h"

#include <stdlib.h>
#include <string.h>

enum { TAG_TICK = 1, TAG_ROUND = 2, TRIES_MOST = 3, DECAY_EVERY = 4 };

/* `index` below 2^24. */
static uint64_t tag_of(uint64_t what, uint32_t round, uint32_t tries, uint32_t index)
{
    return what << 48 | (uint64_t)(round & 0xffff) << 32 | (uint64_t)tries << 24 | index;
}

static void destroy(void *self)
{
    struct cleave__balancer *b = self;
    cleave__mover_free(&b->mover);
    CLEAVE_VECTOR_FREE(&b->rebalances);
    free(b->cells);
    free(b->reports);
    for (uint32_t e = 0; b->sums && e < b->seat->world->streaming->evaluators; e++)
        cleave__aggregates_free(b->sums[e]);
    free(b->sums);
    free(b->refused);
    free(b);
}

static void moved(void *self, struct cleave_context *context, bool done);

static enum cleave_status create_central(struct cleave__balancer *b, struct cleave_error *error)
{
    const struct cleave__streaming *streaming = b->seat->world->streaming;
    enum cleave_status status = CLEAVE_OK;
    b->sums = calloc(streaming->evaluators, sizeof *b->sums);
    b->refused = calloc(streaming->evaluators, sizeof *b->refused);
    if (!b->sums || !b->refused)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a balancer");
    for (uint32_t e = 0; e < streaming->evaluators && !status; e++)
        status = cleave__aggregates_new(streaming->grid.columns, streaming->grid.rows, &b->sums[e],
                                        error);
    return status;
}

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    const struct cleave__stream_seat *seat = argument;
    const struct cleave__streaming *streaming = seat->world->streaming;
    struct cleave__balancer *b = calloc(1, sizeof *b);
    if (b) {
        b->seat = seat;
        b->cells = malloc(streaming->evaluators * sizeof *b->cells);
        b->reports = calloc(streaming->evaluators, sizeof *b->reports);
        b->mover = (struct cleave__mover){.done = moved,
                                          .save = cleave__balancer_save,
                                          .holder = b,
                                          .retry_ns = streaming->retry_ns,
                                          .tries_most = TRIES_MOST};
    }
    if (!b || !b->cells || !b->reports) {
        if (b)
            destroy(b);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a balancer");
    }
    if (streaming->centralized) {
        enum cleave_status status = create_central(b, error);
        if (status) {
            destroy(b);
            return status;
        }
    }
    for (uint32_t e = 0; e < streaming->evaluators; e++)
        b->cells[e] = cleave__stream_partition(streaming, e);
    *self = b;
    return CLEAVE_OK;
}

static void rest(struct cleave__balancer *b, struct cleave_context *context)
{
    const struct cleave__streaming *streaming = b->seat->world->streaming;
    b->stage = CLEAVE__BALANCER_IDLE;
    cleave__balancer_save(b, context);
    if (!b->over && (!streaming->operations_most || b->operations < streaming->operations_most))
        cleave__context_timer(context, streaming->balance_every_ns, tag_of(TAG_TICK, 0, 0, 0));
}

/* A request to one, or to all of a kind. */
static void ask(struct cleave__balancer *b, struct cleave_context *context,
                enum cleave__stream_kind kind, uint32_t tries, uint32_t index)
{
    const struct cleave__stream_world *world = b->seat->world;
    bool evaluator = kind == CLEAVE__STREAM_LOAD || kind == CLEAVE__STREAM_SHIFT;
    const struct cleave__balance_step *step = &b->decision.steps[b->step];
    struct cleave_writer *writer = cleave__context_writer(context);
    if (kind == CLEAVE__STREAM_OPEN || kind == CLEAVE__STREAM_SHUT)
        cleave__put64(writer, b->mover.number + (kind == CLEAVE__STREAM_OPEN));
    if (kind == CLEAVE__STREAM_OPEN) {
        cleave__put32(writer, step->from);
        cleave__put32(writer, step->to);
    } else if (kind == CLEAVE__STREAM_SHIFT) {
        cleave__put8(writer, (uint8_t)b->decision.side);
        cleave__put64(writer, b->decision.neighbour_cost);
    } else if (kind == CLEAVE__STREAM_LOAD) {
        cleave__put8(writer, b->ticks % DECAY_EVERY == 0);
        for (uint32_t e = 0; e < world->streaming->evaluators; e++) {
            cleave__put32(writer, b->cells[e].x0);
            cleave__put32(writer, b->cells[e].y0);
            cleave__put32(writer, b->cells[e].x1);
            cleave__put32(writer, b->cells[e].y1);
        }
    }
    cleave__stream_request(context, world,
                           evaluator ? cleave__evaluator_actor(index)
                                     : cleave__router_actor(world, index),
                           kind, writer, tries, tag_of(TAG_ROUND, b->round, tries, index));
}

static void ask_all(struct cleave__balancer *b, struct cleave_context *context,
                    enum cleave__balancer_stage stage, enum cleave__stream_kind kind)
{
    const struct cleave__streaming *streaming = b->seat->world->streaming;
    b->stage = stage;
    b->round++;
    if (kind != CLEAVE__STREAM_LOAD)
        cleave__balancer_save(b, context);
    b->waits = kind == CLEAVE__STREAM_LOAD ? streaming->evaluators : streaming->routers;
    for (uint32_t i = 0; i < b->waits; i++)
        ask(b, context, kind, 0, i);
}

static void begin_step(struct cleave__balancer *b, struct cleave_context *context)
{
    b->began_ns = cleave__context_now_ns(context);
    ask_all(b, context, CLEAVE__BALANCER_OPENING, CLEAVE__STREAM_OPEN);
}

static void begin_move(struct cleave__balancer *b, struct cleave_context *context)
{
    const struct cleave__stream_world *world = b->seat->world;
    const struct cleave__balance_step *step = &b->decision.steps[b->step];
    struct cleave__cells cells = step->cells;
    size_t count = cleave__cells_count(cells), at = 0;
    uint32_t routers = world->streaming->routers;
    uint64_t *pieces = malloc(count * sizeof *pieces);
    uint32_t *router = malloc(routers * sizeof *router);
    if (pieces && router) {
        for (uint32_t y = cells.y0; y <= cells.y1; y++) {
            for (uint32_t x = cells.x0; x <= cells.x1; x++)
                pieces[at++] = (uint64_t)y * world->streaming->grid.columns + x;
        }
        for (uint32_t r = 0; r < routers; r++)
            router[r] = cleave__router_actor(world, r);
        b->stage = CLEAVE__BALANCER_MOVING;
        cleave__mover_begin(&b->mover, context, cleave__evaluator_actor(step->from),
                            cleave__evaluator_actor(step->to), router, routers, pieces, count);
    } else {
        cleave__stream_no_memory(context);
    }
    free(pieces);
    free(router);
}

/* False: the run is over. */
static bool tell_map(struct cleave__balancer *b, struct cleave_context *context)
{
    const struct cleave__streaming *streaming = b->seat->world->streaming;
    struct cleave_error error;
    enum cleave_status status =
        streaming->moved ? streaming->moved(streaming->moved_context, b->cells, &error) : CLEAVE_OK;
    if (status)
        cleave__context_fail(context, status, "%s", error.message);
    return !status;
}

static void moved(void *self, struct cleave_context *context, bool done)
{
    struct cleave__balancer *b = self;
    const struct cleave__balance_step *step = &b->decision.steps[b->step];
    struct cleave__rebalance record = {.kind = b->decision.kind,
                                       .from = step->from,
                                       .to = step->to,
                                       .gain = b->decision.gain,
                                       .cost = b->decision.overhead,
                                       .moved_queries = b->moved_queries,
                                       .moved_cells = cleave__cells_count(step->cells),
                                       .at_ns = b->began_ns,
                                       .took_ns = cleave__context_now_ns(context) - b->began_ns,
                                       .done = done};
    b->operations++;
    if (!CLEAVE_PUSH(&b->rebalances, record)) {
        cleave__stream_no_memory(context);
        return;
    }
    if (done) {
        struct cleave__cells *from = &b->cells[step->from], *to = &b->cells[step->to];
        if (b->refused)
            b->refused[step->from] = b->refused[step->to] = 0;
        cleave__cells_cut(*from, step->cells, from);
        cleave__cells_join(*to, step->cells, to);
        if (!tell_map(b, context))
            return;
    } else {
        b->decision.step_count = 0; /* the second step may make no sense without the first */
    }
    ask_all(b, context, CLEAVE__BALANCER_DRAINING, CLEAVE__STREAM_DRAIN);
}

static uint64_t moved_queries(const struct cleave__balancer *b)
{
    const struct cleave__balance_step *step = &b->decision.steps[b->step];
    const struct cleave__balance_report *from = &b->reports[step->from];
    if (cleave__cells_equal(step->cells, from->cells))
        return from->queries;
    if (from->can_split && cleave__cells_equal(step->cells, from->split.cells))
        return from->split.queries;
    for (uint32_t i = 0; i < from->corner_count; i++) {
        if (cleave__cells_equal(step->cells, from->corners[i].part.cells))
            return from->corners[i].part.queries;
    }
    return 0;
}

/* Centralized: reports from what all cells cost, as evaluators would make them. */
static void make_reports(struct cleave__balancer *b)
{
    uint32_t evaluators = b->seat->world->streaming->evaluators;
    for (uint32_t e = 0; e < evaluators; e++) {
        if (b->ticks % DECAY_EVERY == 0)
            b->refused[e] = 0;
        cleave__balance_report_make(b->sums[e], e, b->cells, evaluators, &b->reports[e]);
        b->reports[e].refused = b->refused[e];
    }
}

/* Centralized: where to cut, without asking. */
static void find_shift(struct cleave__balancer *b, struct cleave_context *context)
{
    struct cleave__balance_step *step = &b->decision.steps[0];
    struct cleave__balance_part part;
    if (!cleave__aggregates_shift(b->sums[step->from], b->cells[step->from], b->decision.side,
                                  b->decision.neighbour_cost, &part)) {
        b->refused[step->from] |= 1u << b->decision.side;
        rest(b, context);
        return;
    }
    step->cells = part.cells;
    b->moved_queries = part.queries;
    begin_step(b, context);
}

static void decide(struct cleave__balancer *b, struct cleave_context *context)
{
    const struct cleave__streaming *streaming = b->seat->world->streaming;
    struct cleave__balance_options options = {.beta = streaming->beta};
    if (b->sums)
        make_reports(b);
    b->decision = cleave__balance_decide(b->reports, streaming->evaluators, &options);
    b->step = 0;
    if (b->decision.kind == CLEAVE__BALANCE_NONE) {
        rest(b, context);
    } else if (cleave__cells_empty(b->decision.steps[0].cells) && b->sums) {
        find_shift(b, context);
    } else if (cleave__cells_empty(b->decision.steps[0].cells)) {
        b->stage = CLEAVE__BALANCER_SHIFTING;
        b->round++;
        b->waits = 1;
        ask(b, context, CLEAVE__STREAM_SHIFT, 0, b->decision.steps[0].from);
    } else {
        b->moved_queries = moved_queries(b);
        begin_step(b, context);
    }
}

static void tick(struct cleave__balancer *b, struct cleave_context *context)
{
    if (b->stage != CLEAVE__BALANCER_IDLE || b->over)
        return;
    b->ticks++;
    if (b->seat->world->streaming->balance != CLEAVE__BALANCE_FORCED) {
        ask_all(b, context, CLEAVE__BALANCER_LOADING, CLEAVE__STREAM_LOAD);
        return;
    }
    for (uint32_t i = 1; i < CLEAVE__BALANCE_KINDS; i++) {
        enum cleave__balance_kind kind =
            (enum cleave__balance_kind)(1 + b->forced++ % (CLEAVE__BALANCE_KINDS - 1));
        if (!cleave__balancer_force(b, cleave__context_random(context), kind))
            continue;
        b->step = 0;
        b->moved_queries = 0;
        begin_step(b, context);
        return;
    }
    rest(b, context);
}

/* The last answer of a round has come. */
static void round_over(struct cleave__balancer *b, struct cleave_context *context)
{
    switch (b->stage) {
    case CLEAVE__BALANCER_LOADING:
        decide(b, context);
        break;
    case CLEAVE__BALANCER_SHIFTING:
        if (cleave__cells_empty(b->decision.steps[0].cells))
            rest(b, context);
        else
            begin_step(b, context);
        break;
    case CLEAVE__BALANCER_OPENING:
        begin_move(b, context);
        break;
    case CLEAVE__BALANCER_DRAINING:
        ask_all(b, context, CLEAVE__BALANCER_SHUTTING, CLEAVE__STREAM_SHUT);
        break;
    case CLEAVE__BALANCER_SHUTTING:
        if (++b->step < b->decision.step_count) {
            b->moved_queries = moved_queries(b);
            begin_step(b, context);
        } else {
            rest(b, context);
        }
        break;
    default:
        cleave__stream_corrupt(context, "an answer that nobody waits for");
    }
}

static bool take_answer(struct cleave__balancer *b, struct cleave_context *context,
                        const struct cleave_message *message, uint32_t index)
{
    const struct cleave__grid *grid = &b->seat->world->streaming->grid;
    struct cleave_reader reader = cleave__body(message);
    if (b->stage == CLEAVE__BALANCER_LOADING && b->sums) {
        struct cleave__cells partition = CLEAVE__NO_CELLS;
        cleave__aggregates_clear(b->sums[index]);
        if (cleave__left(&reader) &&
            (!cleave__cell_loads_read(&reader, b->sums[index], &partition) ||
             !cleave__cells_equal(partition, b->cells[index]))) {
            cleave__stream_corrupt(context, "figures of cells that make no sense");
            return false;
        }
        return true;
    }
    if (b->stage == CLEAVE__BALANCER_LOADING) {
        if (!cleave__balance_report_read(&reader, grid->columns, grid->rows, &b->reports[index])) {
            cleave__stream_corrupt(context, "a report that makes no sense");
            return false;
        }
        return true;
    }
    if (b->stage == CLEAVE__BALANCER_SHIFTING && cleave__get8(&reader)) {
        struct cleave__cells *cells = &b->decision.steps[0].cells;
        cells->x0 = cleave__get32(&reader);
        cells->y0 = cleave__get32(&reader);
        cells->x1 = cleave__get32(&reader);
        cells->y1 = cleave__get32(&reader);
        cleave__get64(&reader);
        b->moved_queries = cleave__get64(&reader);
    }
    return true;
}

static void answered(struct cleave__balancer *b, struct cleave_context *context,
                     const struct cleave_message *message)
{
    static const enum cleave__stream_kind kinds[] = {
        [CLEAVE__BALANCER_LOADING] = CLEAVE__STREAM_LOAD,
        [CLEAVE__BALANCER_SHIFTING] = CLEAVE__STREAM_SHIFT,
        [CLEAVE__BALANCER_OPENING] = CLEAVE__STREAM_OPEN,
        [CLEAVE__BALANCER_DRAINING] = CLEAVE__STREAM_DRAIN,
        [CLEAVE__BALANCER_SHUTTING] = CLEAVE__STREAM_SHUT};
    uint32_t index = (uint32_t)(message->tag & 0xffffff);
    if ((message->tag >> 32 & 0xffff) != (b->round & 0xffff))
        return;
    if (message->sort == CLEAVE_TIMEOUT)
        ask(b, context, kinds[b->stage], cleave__tries_more((uint32_t)(message->tag >> 24 & 0xff)),
            index);
    else if (take_answer(b, context, message, index) && --b->waits == 0)
        round_over(b, context);
}

static void over(struct cleave__balancer *b, struct cleave_context *context,
                 const struct cleave_message *message)
{
    b->over = true;
    cleave__balancer_save(b, context);
    if (message->sort == CLEAVE_REQUEST)
        cleave__stream_answer(context, message->promise, CLEAVE__STREAM_DONE);
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct cleave__balancer *b = self;
    if (cleave__move_message(message))
        cleave__mover_receive(&b->mover, context, message);
    else if (message->sort == CLEAVE_TIMER)
        tick(b, context);
    else if (message->sort == CLEAVE_REPLY || message->sort == CLEAVE_TIMEOUT)
        answered(b, context, message);
    else if (message->kind == CLEAVE__STREAM_OVER)
        over(b, context, message);
    else
        cleave__stream_corrupt(context, "a message of a kind unknown to a balancer");
}

/* Goes on where it was. */
static void resume(struct cleave__balancer *b, struct cleave_context *context)
{
    switch (b->stage) {
    case CLEAVE__BALANCER_OPENING:
        ask_all(b, context, b->stage, CLEAVE__STREAM_OPEN);
        break;
    case CLEAVE__BALANCER_MOVING:
        cleave__mover_resume(&b->mover, context);
        break;
    case CLEAVE__BALANCER_DRAINING:
        ask_all(b, context, b->stage, CLEAVE__STREAM_DRAIN);
        break;
    case CLEAVE__BALANCER_SHUTTING:
        ask_all(b, context, b->stage, CLEAVE__STREAM_SHUT);
        break;
    default:
        rest(b, context);
    }
}

static void start(void *self, struct cleave_context *context, const uint8_t *saved, size_t length)
{
    struct cleave__balancer *b = self;
    struct cleave_error error;
    if (b->seat->world->streaming->balance == CLEAVE__BALANCE_STATIC)
        return;
    enum cleave_status status = CLEAVE_OK;
#ifdef CLEAVE_PLANT_NO_MEMORY_OF_MOVE /* a bug that tests build in, to see it found */
    saved = NULL;
#endif
    if (saved)
        status = cleave__balancer_load(b, saved, length, &error);
    if (status)
        cleave__context_fail(context, status, "%s", error.message);
    else if (tell_map(b, context))
        resume(b, context);
}

const struct cleave_actor_ops cleave__balancer_ops = {"balancer", create, destroy, receive, start};
