/* What an evaluator tells of its load: sums, or where to cut; or, for comparison, figures of every
 * cell. */
#include "stream/balance/decide.h"
#include "stream/serve/evaluator.h"

static void answer(struct cleave__evaluator *e, struct cleave_context *context,
                   const struct cleave_message *message, const struct cleave_writer *writer)
{
    e->load_messages++;
    e->load_bytes += writer->count;
    if (writer->failed)
        cleave__stream_no_memory(context);
    else
        cleave__context_answer(context, message->promise, CLEAVE__STREAM_DONE, writer->data,
                               writer->count);
}

/* Figures of all cells; the queries' are counted now. An evaluator without cells sends nothing. */
static void tell_cells(struct cleave__evaluator *e, struct cleave_context *context,
                       const struct cleave_message *message, struct cleave__cells own, bool decay)
{
    struct cleave_writer *writer = cleave__context_writer(context);
    struct cleave_error error;
    if (decay)
        cleave__cell_loads_decay(e->loads);
    cleave__cell_loads_keep(e->loads, own);
    for (uint32_t slot = 0; slot < e->ops->slots(e->matcher); slot++) {
        struct cleave__query query;
        if (e->ops->query(e->matcher, slot, &query))
            cleave__cell_loads_add_query(
                e->loads, cleave__query_ranges(e->seat->world->streaming, &query).hull);
    }
    if (!cleave__cells_empty(own) &&
        cleave__cell_loads_write(e->loads, own, writer, &error) != CLEAVE_OK)
        writer->failed = true;
    answer(e, context, message, writer);
}

/* Body: x0 y0 x1 y1 of every evaluator, u32 each; and whether costs are to decay. */
void cleave__evaluator_tell_load(struct cleave__evaluator *e, struct cleave_context *context,
                                 const struct cleave_message *message)
{
    uint32_t evaluators = e->seat->world->streaming->evaluators;
    struct cleave_reader reader = cleave__body(message);
    bool decay = cleave__get8(&reader);
    struct cleave__cells *cells = cleave__arena_array(&e->arena, evaluators, sizeof *cells);
    if (!cells) {
        cleave__stream_no_memory(context);
        return;
    }
    for (uint32_t i = 0; i < evaluators; i++) {
        cells[i].x0 = cleave__get32(&reader);
        cells[i].y0 = cleave__get32(&reader);
        cells[i].x1 = cleave__get32(&reader);
        cells[i].y1 = cleave__get32(&reader);
    }
    struct cleave__balance_report report;
    if (decay) {
        cleave__aggregates_decay(e->sums, e->own);
        e->refused = 0;
    }
    if (e->loads) {
        tell_cells(e, context, message, cells[e->seat->index], decay);
        return;
    }
    cleave__balance_report_make(e->sums, e->seat->index, cells, evaluators, &report);
    report.refused = e->refused;
    struct cleave_writer *writer = cleave__context_writer(context);
    cleave__balance_report_write(&report, writer);
    answer(e, context, message, writer);
}

/* Body: u8 side, u64 the neighbour's cost. Answer: u8 whether, cells, u64 cost, u64 queries. */
void cleave__evaluator_tell_shift(struct cleave__evaluator *e, struct cleave_context *context,
                                  const struct cleave_message *message)
{
    struct cleave_reader reader = cleave__body(message);
    enum cleave__side side = (enum cleave__side)cleave__get8(&reader);
    uint64_t neighbour = cleave__get64(&reader);
    struct cleave__balance_part part = {.cells = CLEAVE__NO_CELLS};
    bool found = cleave__aggregates_shift(e->sums, e->own, side, neighbour, &part);
    e->refused |= found ? 0 : 1u << side;
    struct cleave_writer *writer = cleave__context_writer(context);
    cleave__put8(writer, found);
    cleave__put32(writer, part.cells.x0);
    cleave__put32(writer, part.cells.y0);
    cleave__put32(writer, part.cells.x1);
    cleave__put32(writer, part.cells.y1);
    cleave__put64(writer, part.cost);
    cleave__put64(writer, part.queries);
    answer(e, context, message, writer);
}
