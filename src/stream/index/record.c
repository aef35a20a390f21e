/* Queries in lines of 64 bytes; see record.h. */
#include "stream/index/record.h"

#include <stdlib.h>
#include <string.h>

uint32_t cleave__record_first(const struct cleave__record *record)
{
    if (record->head & CLEAVE__RECORD_MORE)
        return cleave__record_more(record)->first;
    uint32_t count = record->head >> CLEAVE__RECORD_COUNT_SHIFT & 3;
    return count ? record->of.terms[record->head >> CLEAVE__RECORD_FIRST_SHIFT & 3]
                 : CLEAVE__NO_TERM;
}

uint32_t cleave__record_second(const struct cleave__record *record)
{
    if (record->head & CLEAVE__RECORD_MORE)
        return cleave__record_more(record)->second;
    uint32_t count = record->head >> CLEAVE__RECORD_COUNT_SHIFT & 3;
    return count > 1 ? record->of.terms[record->head >> CLEAVE__RECORD_SECOND_SHIFT & 3]
                     : CLEAVE__NO_TERM;
}

static uint32_t place_of(const struct cleave__query *query, uint32_t term)
{
    for (uint32_t i = 0; i < query->term_count; i++) {
        if (query->terms[i] == term)
            return i;
    }
    return 0;
}

bool cleave__record_fill(struct cleave__record *record, const struct cleave__query *query,
                         uint32_t level, uint32_t first, uint32_t second)
{
    const struct cleave__region *region = &query->region;
    bool circle = region->kind == CLEAVE__CIRCLE;
    struct cleave__record made = {
        .x0 = region->x0,
        .y0 = region->y0,
        .x1 = circle ? region->radius : region->x1,
        .y1 = circle ? 0 : region->y1,
        .id = query->id,
        .subscriber = query->subscriber,
        .head = CLEAVE__RECORD_LIVE | query->events << CLEAVE__RECORD_EVENTS_SHIFT |
                level << CLEAVE__RECORD_LEVEL_SHIFT,
    };
    if (circle)
        made.head |= CLEAVE__RECORD_CIRCLE;
    if (query->end_ms != CLEAVE__NEVER)
        made.head |= CLEAVE__RECORD_ENDS;
    if (query->predicate == CLEAVE__CONTAINS)
        made.head |= CLEAVE__RECORD_CONTAINS;
    if (query->term_count > CLEAVE__RECORD_TERMS || query->filter_count) {
        struct cleave__more *more =
            malloc(cleave__more_bytes(query->term_count, query->filter_count));
        if (!more)
            return false;
        *more = (struct cleave__more){query->term_count, query->filter_count, first, second};
        if (query->filter_count)
            memcpy(more->filters, query->filters, query->filter_count * sizeof *more->filters);
        if (query->term_count)
            memcpy(more->filters + query->filter_count, query->terms,
                   query->term_count * sizeof *query->terms);
        memcpy(made.of.more, &more, sizeof more);
        made.head |= CLEAVE__RECORD_MORE;
    } else {
        for (uint32_t i = 0; i < query->term_count; i++)
            made.of.terms[i] = query->terms[i];
        made.head |= query->term_count << CLEAVE__RECORD_COUNT_SHIFT |
                     place_of(query, first) << CLEAVE__RECORD_FIRST_SHIFT |
                     place_of(query, second) << CLEAVE__RECORD_SECOND_SHIFT;
    }
    *record = made;
    return true;
}

void cleave__record_clear(struct cleave__record *record)
{
    if (record->head & CLEAVE__RECORD_MORE)
        free(cleave__record_more(record));
    record->head = 0;
}

static struct cleave__region region_of(const struct cleave__record *record)
{
    if (record->head & CLEAVE__RECORD_CIRCLE)
        return (struct cleave__region){CLEAVE__CIRCLE, record->x0, record->y0, 0, 0, record->x1};
    return (struct cleave__region){CLEAVE__RECTANGLE, record->x0, record->y0,
                                   record->x1,        record->y1, 0};
}

void cleave__record_query(const struct cleave__record *record, struct cleave__query *out)
{
    *out = (struct cleave__query){
        .id = record->id,
        .subscriber = record->subscriber,
        .end_ms = CLEAVE__NEVER,
        .region = region_of(record),
        .predicate = record->head & CLEAVE__RECORD_CONTAINS ? CLEAVE__CONTAINS : CLEAVE__OVERLAPS,
        .events = record->head >> CLEAVE__RECORD_EVENTS_SHIFT & 15,
        .term_count = cleave__record_term_count(record),
        .terms = cleave__record_terms(record),
    };
    if (record->head & CLEAVE__RECORD_MORE) {
        const struct cleave__more *more = cleave__record_more(record);
        out->filter_count = more->filter_count;
        out->filters = more->filters;
    }
}

/* Of a circle of the plane. Squares decide unless they are within a billionth of each other, or so
 * large or small that they are not exact to that; then the definition does. */
static bool circle_has(const struct cleave__record *record, const struct cleave__space *space,
                       double x, double y)
{
    double dx = x - record->x0, dy = y - record->y0;
    double distance = dx * dx + dy * dy, radius = record->x1 * record->x1;
    if (radius > 1e-280 && radius < 1e280 && distance < 1e280) {
        if (distance < radius * (1 - 1e-9))
            return true;
        if (distance > radius * (1 + 1e-9))
            return false;
    }
    struct cleave__region region = region_of(record);
    return cleave__region_has(space, &region, x, y);
}

bool cleave__record_place(const struct cleave__record *record, const struct cleave__space *space,
                          const struct cleave__object *object)
{
    if (space->kind == CLEAVE__PLANE && !(record->head & CLEAVE__RECORD_CIRCLE)) {
        if (!((object->x >= record->x0) & (object->x <= record->x1) & (object->y >= record->y0) &
              (object->y <= record->y1)))
            return false;
    } else if (space->kind == CLEAVE__PLANE) {
        if (!circle_has(record, space, object->x, object->y))
            return false;
    } else {
        struct cleave__region region = region_of(record);
        if (!cleave__region_has(space, &region, object->x, object->y))
            return false;
    }
    if (!(record->head & CLEAVE__RECORD_MORE))
        return true;
    const struct cleave__more *more = cleave__record_more(record);
    struct cleave__query query = {.filter_count = more->filter_count, .filters = more->filters};
    return cleave__filters_match(&query, object);
}
