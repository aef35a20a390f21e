/* Standing queries from rows. */
#include "stream/source/queries.h"

#include <float.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/source/objects.h"
#include "stream/source/values.h"

enum column {
    ID,
    WEST,
    SOUTH,
    EAST,
    NORTH,
    BOX,
    X,
    Y,
    RADIUS,
    KEYWORDS,
    TEXT,
    MATCH,
    FILTER,
    END,
    END_MS,
    SUBSCRIBER,
    EVENTS,
    COLUMNS
};

static const char *const names[COLUMNS][8] = {
    [ID] = {"id", "query", "query_id"},
    [WEST] = {"west", "x0", "xmin", "minx", "minlon", "min_lon", "lon_min"},
    [SOUTH] = {"south", "y0", "ymin", "miny", "minlat", "min_lat", "lat_min"},
    [EAST] = {"east", "x1", "xmax", "maxx", "maxlon", "max_lon", "lon_max"},
    [NORTH] = {"north", "y1", "ymax", "maxy", "maxlat", "max_lat", "lat_max"},
    [BOX] = {"bbox", "box"},
    [X] = {"x", "lon", "lng", "longitude", "long"},
    [Y] = {"y", "lat", "latitude"},
    [RADIUS] = {"radius", "radius_m", "distance"},
    [KEYWORDS] = {"keywords", "tags"},
    [TEXT] = {"text"},
    [MATCH] = {"match", "predicate"},
    [FILTER] = {"filter", "filters"},
    [END] = {"end", "until", "expires"},
    [END_MS] = {"end_ms"},
    [SUBSCRIBER] = {"subscriber"},
    [EVENTS] = {"events", "event"},
};

struct cleave__queries {
    struct cleave__queries_options options;
    struct cleave__rows *rows;
    uint32_t column[COLUMNS];
    const char *id_names[2];
    struct cleave_intern ids, subscribers; /* a number is the place there, plus 1 */
    struct cleave__term_list list;
    struct cleave__filter filters[CLEAVE__FILTERS_MOST];
    uint64_t refused;
};

static bool has_columns(const struct cleave__rows *rows)
{
    return cleave__rows_format(rows) != CLEAVE__FORMAT_CSV &&
                   cleave__rows_format(rows) != CLEAVE__FORMAT_TSV
               ? true
               : cleave__rows_columns(rows) > 0;
}

enum cleave_status cleave__queries_open(const struct cleave__queries_options *options,
                                        struct cleave__queries **out, struct cleave_error *error)
{
    struct cleave__queries *q = calloc(1, sizeof *q);
    if (!q)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for queries");
    q->options = *options;
    enum cleave_status status = cleave__rows_open(&options->rows, &q->rows, error);
    for (uint32_t c = 0; c < COLUMNS && !status; c++) {
        q->id_names[0] = options->id;
        bool told = c == ID && options->id;
        q->column[c] = UINT32_MAX;
        if (has_columns(q->rows))
            status = cleave__rows_bind(q->rows, told ? q->id_names : names[c], told, &q->column[c],
                                       error);
    }
    if (status) {
        cleave__queries_free(q);
        return status;
    }
    *out = q;
    return CLEAVE_OK;
}

void cleave__queries_close(struct cleave__queries *q)
{
    cleave__rows_close(q->rows);
    q->rows = NULL;
}

void cleave__queries_free(struct cleave__queries *q)
{
    if (!q)
        return;
    cleave__queries_close(q);
    cleave__intern_free(&q->ids);
    cleave__intern_free(&q->subscribers);
    CLEAVE_VECTOR_FREE(&q->list.items);
    free(q);
}

static struct cleave__value value(const struct cleave__queries *q, enum column column)
{
    return cleave__rows_value(q->rows, q->column[column]);
}

static int shown(struct cleave__value v)
{
    return (int)(v.length < 40 ? v.length : 40);
}

static enum cleave_status real(const struct cleave__queries *q, enum column column, double *out,
                               struct cleave_error *error)
{
    struct cleave__value v = value(q, column);
    if (v.kind != CLEAVE__VALUE_TEXT || !cleave__text_real(v.text, v.length, out))
        return cleave__rows_fail(q->rows, error, "%s is no number: '%.*s'", names[column][0],
                                 shown(v), v.text ? v.text : "");
    return CLEAVE_OK;
}

/* Four numbers with commas or blanks between, or a list of them. */
static bool four(struct cleave__value v, double out[4])
{
    if (v.kind == CLEAVE__VALUE_JSON) {
        for (size_t i = 0; i < 4; i++) {
            const json_t *item = json_array_get(v.json, i);
            if (!json_is_number(item))
                return false;
            out[i] = json_number_value(item);
        }
        return json_array_size(v.json) == 4;
    }
    const char *at = v.text, *end = v.text + v.length;
    for (int i = 0; i < 4; i++) {
        while (at < end && strchr(", \t[", *at))
            at++;
        const char *from = at;
        while (at < end && !strchr(", \t]", *at))
            at++;
        if (!cleave__text_real(from, (size_t)(at - from), &out[i]))
            return false;
    }
    while (at < end && strchr(" \t]", *at))
        at++;
    return at == end;
}

static enum cleave_status circle(const struct cleave__queries *q, double x, double y,
                                 struct cleave__region *region, struct cleave_error *error)
{
    struct cleave__value v = value(q, RADIUS);
    bool plane = q->options.space->kind == CLEAVE__PLANE;
    *region = (struct cleave__region){.kind = CLEAVE__CIRCLE, .x0 = x, .y0 = y};
    if (v.kind == CLEAVE__VALUE_ABSENT)
        return cleave__rows_fail(q->rows, error, "a point without a radius has no extent");
    if (v.kind != CLEAVE__VALUE_TEXT ||
        !cleave__text_distance(v.text, v.length, plane, &region->radius))
        return cleave__rows_fail(q->rows, error, "no radius: '%.*s' (%s)", shown(v),
                                 v.text ? v.text : "",
                                 plane ? "a number, not negative" : "metres, or 500 m, 2 km, 1 mi");
    return CLEAVE_OK;
}

static enum cleave_status rectangle(const struct cleave__queries *q, struct cleave__region *region,
                                    struct cleave_error *error)
{
    double *sides[] = {&region->x0, &region->y0, &region->x1, &region->y1};
    enum cleave_status status = CLEAVE_OK;
    region->kind = CLEAVE__RECTANGLE;
    for (uint32_t i = 0; i < 4 && !status; i++)
        status = real(q, (enum column)(WEST + i), sides[i], error);
    return status;
}

static enum cleave_status take_place(const struct cleave__queries *q, struct cleave__region *region,
                                     struct cleave_error *error)
{
    const struct cleave__geometry *geometry = cleave__rows_geometry(q->rows);
    enum cleave_status status = CLEAVE_OK;
    double sides[4], x, y;
    uint32_t given = 0;
    for (uint32_t i = WEST; i <= NORTH; i++)
        given += value(q, (enum column)i).kind != CLEAVE__VALUE_ABSENT;
    bool point = value(q, X).kind && value(q, Y).kind, radius = value(q, RADIUS).kind;
    if (geometry->is_point) {
        status = circle(q, geometry->x, geometry->y, region, error);
    } else if (geometry->is_there) {
        *region = (struct cleave__region){CLEAVE__RECTANGLE, geometry->box.x0, geometry->box.y0,
                                          geometry->box.x1,  geometry->box.y1, 0};
    } else if (value(q, BOX).kind) {
        if (!four(value(q, BOX), sides))
            return cleave__rows_fail(q->rows, error,
                                     "a box is four numbers: west, south, east, north");
        *region =
            (struct cleave__region){CLEAVE__RECTANGLE, sides[0], sides[1], sides[2], sides[3], 0};
    } else if (given && point && radius) {
        return cleave__rows_fail(q->rows, error, "a rectangle and a circle; which is meant?");
    } else if (point && radius) {
        status = real(q, X, &x, error);
        if (!status)
            status = real(q, Y, &y, error);
        if (!status)
            status = circle(q, x, y, region, error);
    } else if (given) {
        status = rectangle(q, region, error);
    } else if (value(q, X).kind || value(q, Y).kind || radius) {
        return cleave__rows_fail(q->rows, error, "a circle needs x, y and radius");
    } else {
        *region = cleave__region_everywhere(q->options.space);
    }
    if (status)
        return status;
    struct cleave_error inner = {0};
    status = cleave__region_prepare(q->options.space, region, &inner);
    return status ? cleave__rows_fail(q->rows, error, "%.300s", inner.message) : CLEAVE_OK;
}

static enum cleave_status take_words(struct cleave__queries *q, struct cleave__query *query,
                                     struct cleave_error *error)
{
    struct cleave__value keywords = value(q, KEYWORDS), text = value(q, TEXT),
                         match = value(q, MATCH);
    cleave__term_list_clear(&q->list);
    enum cleave_status status =
        cleave__value_words(q->rows, keywords, false, q->options.terms, true, &q->list, error);
    if (!status)
        status = cleave__value_words(q->rows, text, true, q->options.terms, true, &q->list, error);
    if (status)
        return status;
    struct cleave_error inner = {0};
    status = cleave__term_list_settle(&q->list, NULL, &inner);
    if (status)
        return cleave__rows_fail(q->rows, error, "%.200s", inner.message);
    if ((keywords.kind || text.kind) && q->list.items.count == 0)
        return cleave__rows_fail(q->rows, error,
                                 "no word is left of its keywords: it would match "
                                 "whatever the words are");
    query->predicate = CLEAVE__CONTAINS;
    if (match.kind) {
        if (cleave__text_is(match.text, match.length, "overlaps") ||
            cleave__text_is(match.text, match.length, "any"))
            query->predicate = CLEAVE__OVERLAPS;
        else if (match.kind != CLEAVE__VALUE_TEXT ||
                 (!cleave__text_is(match.text, match.length, "contains") &&
                  !cleave__text_is(match.text, match.length, "all")))
            return cleave__rows_fail(
                q->rows, error, "match is 'contains' (all words) or 'overlaps' (one), not '%.*s'",
                shown(match), match.text ? match.text : "a list");
    }
    query->terms = q->list.items.data;
    query->term_count = (uint32_t)q->list.items.count;
    return CLEAVE_OK;
}

static enum cleave_status take_filters(struct cleave__queries *q, struct cleave__query *query,
                                       struct cleave_error *error)
{
    struct cleave__value v = value(q, FILTER);
    struct cleave_error inner = {0};
    enum cleave_status status = CLEAVE_OK;
    uint32_t count = 0;
    if (v.kind == CLEAVE__VALUE_TEXT)
        status =
            cleave__filter_read(v.text, v.length, q->options.fields, q->filters, &count, &inner);
    for (size_t i = 0; v.kind == CLEAVE__VALUE_JSON && i < json_array_size(v.json) && !status;
         i++) {
        const json_t *item = json_array_get(v.json, i);
        if (!json_is_string(item))
            return cleave__rows_fail(q->rows, error, "a filter is text: mag>=4.5");
        status = cleave__filter_read(json_string_value(item), json_string_length(item),
                                     q->options.fields, q->filters, &count, &inner);
    }
    if (status == CLEAVE_NO_MEMORY)
        return cleave_error_set(error, status, "%s", inner.message);
    if (status)
        return cleave__rows_fail(q->rows, error, "%.300s", inner.message);
    query->filters = q->filters;
    query->filter_count = count;
    return CLEAVE_OK;
}

static enum cleave_status take_events(struct cleave__queries *q, struct cleave__query *query,
                                      struct cleave_error *error)
{
    static const char *const events[] = {"match", "enter", "exit", "expire"};
    struct cleave__value v = value(q, EVENTS);
    query->events = v.kind ? 0 : CLEAVE__EVENT_MATCH;
    for (size_t at = 0; v.kind == CLEAVE__VALUE_TEXT && at <= v.length;) {
        size_t end = at;
        while (end < v.length && !strchr(",;| +", v.text[end]))
            end++;
        uint32_t i = 0;
        while (end > at && i < 4 && !cleave__text_is(v.text + at, end - at, events[i]))
            i++;
        if (i == 4)
            return cleave__rows_fail(q->rows, error,
                                     "no event: '%.*s' (match, enter, exit, expire)",
                                     (int)(end - at < 40 ? end - at : 40), v.text + at);
        if (end > at)
            query->events |= 1u << i;
        at = end + 1;
    }
    if (!query->events)
        return cleave__rows_fail(q->rows, error, "events are match, enter, exit, expire, as text");
    return CLEAVE_OK;
}

static enum cleave_status take_end(struct cleave__queries *q, struct cleave__query *query,
                                   struct cleave_error *error)
{
    struct cleave__value end = value(q, END), ms = value(q, END_MS), v = ms.kind ? ms : end;
    query->end_ms = CLEAVE__NEVER;
    if (v.kind && (v.kind != CLEAVE__VALUE_TEXT ||
                   !cleave__text_time(v.text, v.length, ms.kind ? 1 : 0, &query->end_ms)))
        return cleave__rows_fail(
            q->rows, error, "no time: '%.*s' (ISO 8601, or seconds or milliseconds since 1970)",
            shown(v), v.text ? v.text : "");
    return CLEAVE_OK;
}

/* Last, for it keeps the names: a row refused before leaves none. */
static enum cleave_status take_names(struct cleave__queries *q, struct cleave__query *query,
                                     struct cleave_error *error)
{
    struct cleave__value id = value(q, ID), subscriber = value(q, SUBSCRIBER);
    char number[24];
    if (id.kind == CLEAVE__VALUE_JSON || subscriber.kind == CLEAVE__VALUE_JSON)
        return cleave__rows_fail(q->rows, error, "id and subscriber are text or numbers");
    if (!id.kind) {
        id.length = (size_t)snprintf(number, sizeof number, "%" PRIu32, q->ids.count + 1);
        id.text = number;
    }
    if (cleave__intern_find(&q->ids, id.text, id.length) != CLEAVE_INTERN_NONE)
        return cleave__rows_fail(q->rows, error, "a query before this one has the id '%.*s' too",
                                 shown(id), id.text);
    uint32_t who = 0;
    if (subscriber.kind) {
        who = cleave__intern_add(&q->subscribers, subscriber.text, subscriber.length) + 1;
        if (who == 0)
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for queries");
    }
    uint32_t at = cleave__intern_add(&q->ids, id.text, id.length);
    if (at == CLEAVE_INTERN_NONE)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for queries");
    query->id = at + UINT64_C(1);
    query->subscriber = who;
    return CLEAVE_OK;
}

enum cleave_status cleave__queries_next(struct cleave__queries *q, struct cleave__query *out,
                                        struct cleave_error *error)
{
    struct cleave__query query = {0};
    struct cleave_error fallback;
    error = error ? error : &fallback;
    struct cleave__terms *terms = q->options.terms;
    struct cleave_intern *fields = q->options.fields;
    struct cleave_intern_mark words = {0}, named = {0};
    if (terms)
        words = cleave__intern_mark(&terms->words);
    if (fields)
        named = cleave__intern_mark(fields);
    enum cleave_status status = cleave__rows_next(q->rows, error);
    if (status == CLEAVE_END)
        return status;
    if (!status)
        status = take_place(q, &query.region, error);
    if (!status)
        status = take_filters(q, &query, error);
    if (!status)
        status = take_events(q, &query, error);
    if (!status)
        status = take_end(q, &query, error);
    if (!status)
        status = take_words(q, &query, error);
    if (!status)
        status = take_names(q, &query, error);
    q->refused += status == CLEAVE_BAD_INPUT || status == CLEAVE_LIMIT;
    if (!status)
        *out = query;
    if (status && terms) /* what is refused leaves nothing */
        cleave__terms_rewind(terms, words);
    if (status && fields)
        cleave__intern_rewind(fields, named);
    return status;
}

uint64_t cleave__queries_refused(const struct cleave__queries *q)
{
    return q->refused;
}

const char *cleave__queries_id(const struct cleave__queries *q, uint64_t id, size_t *length)
{
    *length = q->ids.entries[id - 1].length;
    return q->ids.entries[id - 1].bytes;
}

const char *cleave__queries_subscriber(const struct cleave__queries *q, uint64_t subscriber,
                                       size_t *length)
{
    if (!subscriber)
        return NULL;
    *length = q->subscribers.entries[subscriber - 1].length;
    return q->subscribers.entries[subscriber - 1].bytes;
}

static size_t held(const struct cleave_intern *table)
{
    return table->arena.reserved + table->capacity * sizeof *table->entries +
           (table->slots ? ((size_t)table->slot_mask + 1) * sizeof *table->slots : 0);
}

size_t cleave__queries_bytes(const struct cleave__queries *q)
{
    return sizeof *q + held(&q->ids) + held(&q->subscribers);
}
