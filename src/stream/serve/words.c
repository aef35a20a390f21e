/* Heads, promises and rectangles, as the actors pass them on. */
#include "move/move.h"
#include "stream/serve/world.h"

void cleave__put_head(struct cleave_writer *writer, const struct cleave__objects_head *head)
{
    cleave__put64(writer, head->sent_ns);
    cleave__put64(writer, head->done_ms);
    cleave__put64(writer, head->settled);
}

struct cleave__objects_head cleave__get_head(struct cleave_reader *reader)
{
    struct cleave__objects_head head = {.sent_ns = cleave__get64(reader)};
    head.done_ms = cleave__get64(reader);
    head.settled = cleave__get64(reader);
    return head;
}

void cleave__put_promise(struct cleave_writer *writer, struct cleave_promise promise)
{
    cleave__put32(writer, promise.requester);
    cleave__put64(writer, promise.correlation);
}

struct cleave_promise cleave__get_promise(struct cleave_reader *reader)
{
    struct cleave_promise promise = {.requester = cleave__get32(reader)};
    promise.correlation = cleave__get64(reader);
    return promise;
}

void cleave__stream_no_memory(struct cleave_context *context)
{
    cleave__context_fail(context, CLEAVE_NO_MEMORY, "no memory to serve the stream");
}

void cleave__stream_corrupt(struct cleave_context *context, const char *what)
{
    cleave__context_fail(context, CLEAVE_CORRUPT, "%s", what);
}

void cleave__stream_answer(struct cleave_context *context, struct cleave_promise promise,
                           enum cleave__stream_kind kind)
{
    cleave__context_answer(context, promise, kind, NULL, 0);
}

void cleave__stream_request(struct cleave_context *context,
                            const struct cleave__stream_world *world, uint32_t to,
                            enum cleave__stream_kind kind, const struct cleave_writer *writer,
                            uint32_t tries, uint64_t tag)
{
    if (writer->failed)
        cleave__stream_no_memory(context);
    else
        cleave__context_request(context, to, kind, writer->data, writer->count,
                                cleave__pause_ns(world->streaming->retry_ns, tries), tag);
}

bool cleave__found_read(const struct cleave__stream_world *world, struct cleave_reader *reader,
                        struct cleave__found *out)
{
    const struct cleave__streaming *streaming = world->streaming;
    uint32_t step = !streaming->track ? 8 : streaming->apart ? 17 : 16;
    *out = (struct cleave__found){.object = cleave__get64(reader), .step = step};
    if (streaming->track) {
        out->thing = cleave__get64(reader);
        out->sequence = cleave__get64(reader);
        out->time_ms = cleave__get64(reader);
    }
    out->count = cleave__get32(reader);
    out->ids = cleave__get_bytes(reader, (uint64_t)out->count * out->step);
    if (streaming->apart) {
        out->note_length = cleave__get32(reader);
        out->note = cleave__get_bytes(reader, out->note_length);
    }
    return !reader->failed;
}

struct cleave__cells cleave__stream_partition(const struct cleave__streaming *streaming,
                                              uint32_t evaluator)
{
    if (streaming->routing == CLEAVE__ROUTING_AGRID)
        return streaming->partitions[evaluator];
    return (struct cleave__cells){0, 0, streaming->grid.columns - 1, streaming->grid.rows - 1};
}

struct cleave__ranges cleave__query_ranges(const struct cleave__streaming *streaming,
                                           const struct cleave__query *query)
{
    struct cleave__box boxes[CLEAVE__REGION_BOXES_MOST];
    struct cleave__ranges ranges;
    ranges.count = cleave__region_boxes(streaming->space, &query->region, boxes);
    for (uint32_t i = 0; i < ranges.count; i++) {
        struct cleave__cells c = cleave__grid_cells(&streaming->grid, boxes[i].x0, boxes[i].y0,
                                                    boxes[i].x1, boxes[i].y1);
        struct cleave__cells *hull = &ranges.hull;
        ranges.cells[i] = c;
        *hull = i == 0 ? c
                       : (struct cleave__cells){
                             c.x0 < hull->x0 ? c.x0 : hull->x0, c.y0 < hull->y0 ? c.y0 : hull->y0,
                             c.x1 > hull->x1 ? c.x1 : hull->x1, c.y1 > hull->y1 ? c.y1 : hull->y1};
    }
    return ranges;
}

bool cleave__ranges_meet(const struct cleave__ranges *ranges, struct cleave__cells cells)
{
    for (uint32_t i = 0; i < ranges->count; i++) {
        if (cleave__cells_meet(ranges->cells[i], cells))
            return true;
    }
    return false;
}

struct cleave__cells cleave__pieces_cells(const struct cleave__grid *grid, uint64_t first,
                                          uint64_t last)
{
    return (struct cleave__cells){
        (uint32_t)(first % grid->columns), (uint32_t)(first / grid->columns),
        (uint32_t)(last % grid->columns), (uint32_t)(last / grid->columns)};
}
