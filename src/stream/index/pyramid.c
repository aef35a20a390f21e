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

uint32_t cleave__pyramid_parts(const struct cleave__pyramid *pyramid,
                               const struct cleave__region *region, bool roomy, uint32_t *level,
                               struct cleave__part parts[CLEAVE__QUERY_CELLS_MOST])
{
    struct cleave__box boxes[CLEAVE__REGION_BOXES_MOST];
    uint32_t places[CLEAVE__REGION_BOXES_MOST][4];
    uint32_t box_count = cleave__region_boxes(pyramid->space, region, boxes), count = 0;
    uint64_t span = 1;
    for (uint32_t i = 0; i < box_count; i++) {
        places[i][0] = cleave__place_x(pyramid, boxes[i].x0);
        places[i][1] = cleave__place_y(pyramid, boxes[i].y0);
        places[i][2] = cleave__place_x(pyramid, boxes[i].x1);
        places[i][3] = cleave__place_y(pyramid, boxes[i].y1);
        uint64_t width = (uint64_t)places[i][2] - places[i][0] + 1;
        uint64_t height = (uint64_t)places[i][3] - places[i][1] + 1;
        span = width > span ? width : span;
        span = height > span ? height : span;
    }
    uint32_t at = level_of(roomy ? 2 * span : span);
    for (uint32_t i = 0; i < box_count; i++) {
        const uint32_t *p = places[i];
        uint32_t x1 = cleave__place_cell(p[2], at), y1 = cleave__place_cell(p[3], at);
        for (uint32_t y = cleave__place_cell(p[1], at); y <= y1; y++) {
            for (uint32_t x = cleave__place_cell(p[0], at); x <= x1; x++) {
                struct cleave__part part = {x, y, {0}, region->kind == CLEAVE__RECTANGLE};
                part.box[0] = clamped(p[0], x, at);
                part.box[1] = clamped(p[1], y, at);
                part.box[2] = clamped(p[2], x, at);
                part.box[3] = clamped(p[3], y, at);
                put(part, parts, &count);
            }
        }
    }
    *level = at;
    return count;
}
