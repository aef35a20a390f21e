/* Levels and cells of regions; see pyramid.h. */
#include "stream/index/pyramid.h"

#include <assert.h>

struct cleave__pyramid cleave__pyramid_make(const struct cleave__space *space)
{
    const struct cleave__box *b = &space->bounds;
    double places = 1 << CLEAVE__PLACE_BITS;
    return (struct cleave__pyramid){space, places / (b->x1 - b->x0), places / (b->y1 - b->y0)};
}

/* The finest level whose cells are at least `span` places wide. */
static uint32_t level_of(uint64_t span)
{
    uint32_t bits = 0; /* of the narrowest cell: 2^bits >= span */
    while (bits < CLEAVE__PLACE_BITS && (UINT64_C(1) << bits) < span)
        bits++;
    uint32_t level = CLEAVE__PLACE_BITS - bits;
    return level < CLEAVE__LEVELS ? level : CLEAVE__LEVELS - 1;
}

/* In places, two more than it may need; at most the whole side. */
static uint64_t size(double length, double per_unit)
{
    double most = 1 << CLEAVE__PLACE_BITS, at = length * per_unit + 2;
    return (uint64_t)(at < most ? at : most);
}

static uint8_t clamped(uint32_t place, uint32_t cell, uint32_t level)
{
    uint32_t at = cleave__place_cell(place, level);
    return at < cell ? 0 : at > cell ? 255 : cleave__place_within(place, level);
}

static void put(struct cleave__part part, struct cleave__part *parts, uint32_t *count)
{
    for (uint32_t i = 0; i < *count; i++) {
        struct cleave__part *old = &parts[i];
        if (old->column != part.column || old->row != part.row)
            continue;
        for (int k = 0; k < 2; k++) {
            old->box[k] = old->box[k] < part.box[k] ? old->box[k] : part.box[k];
            old->box[k + 2] = old->box[k + 2] > part.box[k + 2] ? old->box[k + 2] : part.box[k + 2];
        }
        old->exact = false;
        return;
    }
    assert(*count < CLEAVE__QUERY_CELLS_MOST);
    parts[(*count)++] = part;
}

uint32_t cleave__pyramid_level(const struct cleave__pyramid *pyramid,
                               const struct cleave__region *region, bool roomy)
{
    struct cleave__box boxes[CLEAVE__REGION_BOXES_MOST];
    uint32_t count = cleave__region_boxes(pyramid->space, region, boxes);
    uint64_t span = 1;
    for (uint32_t i = 0; i < count; i++) {
        /* By its own size, also where the space's bounds cut it: like sizes, like levels. */
        uint64_t width = size(boxes[i].x1 - boxes[i].x0, pyramid->per_x);
        uint64_t height = size(boxes[i].y1 - boxes[i].y0, pyramid->per_y);
        span = width > span ? width : span;
        span = height > span ? height : span;
    }
    return level_of(roomy ? 2 * span : span);
}

uint32_t cleave__pyramid_parts(const struct cleave__pyramid *pyramid,
                               const struct cleave__region *region, uint32_t level,
                               struct cleave__part parts[CLEAVE__QUERY_CELLS_MOST])
{
    struct cleave__box boxes[CLEAVE__REGION_BOXES_MOST];
    uint32_t box_count = cleave__region_boxes(pyramid->space, region, boxes), count = 0;
    for (uint32_t i = 0; i < box_count; i++) {
        uint32_t p[4] = {
            cleave__place_x(pyramid, boxes[i].x0), cleave__place_y(pyramid, boxes[i].y0),
            cleave__place_x(pyramid, boxes[i].x1), cleave__place_y(pyramid, boxes[i].y1)};
        uint32_t x1 = cleave__place_cell(p[2], level), y1 = cleave__place_cell(p[3], level);
        for (uint32_t y = cleave__place_cell(p[1], level); y <= y1; y++) {
            for (uint32_t x = cleave__place_cell(p[0], level); x <= x1; x++) {
                struct cleave__part part = {x, y, {0}, region->kind == CLEAVE__RECTANGLE};
                part.box[0] = clamped(p[0], x, level);
                part.box[1] = clamped(p[1], y, level);
                part.box[2] = clamped(p[2], x, level);
                part.box[3] = clamped(p[3], y, level);
                put(part, parts, &count);
            }
        }
    }
    return count;
}
