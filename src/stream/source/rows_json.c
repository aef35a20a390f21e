/* Rows of JSON: a line's object, a Feature, a shape of a topology. Numbers become text again where
 * text is asked for; lists stay as they are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/source/rows_inside.h"

enum { DEEPEST = 64 };

enum cleave_status cleave__rows_json_parse(struct cleave__rows *rows, const char *text,
                                           size_t length, struct cleave_error *error)
{
    json_error_t fault;
    json_decref(rows->document);
    rows->item = rows->properties = NULL;
    rows->geometry = (struct cleave__geometry){0};
    rows->document = json_loadb(text, length, 0, &fault);
    if (!rows->document)
        return cleave__rows_fail(rows, error, "no JSON: %.160s (column %d)", fault.text,
                                 fault.column);
    if (!json_is_object(rows->document))
        return cleave__rows_fail(rows, error, "not a JSON object");
    rows->item = rows->document;
    return CLEAVE_OK;
}

static bool position(const json_t *at, double *x, double *y)
{
    const json_t *first = json_array_get(at, 0), *second = json_array_get(at, 1);
    if (!json_is_number(first) || !json_is_number(second))
        return false;
    *x = json_number_value(first);
    *y = json_number_value(second);
    return true;
}

/* Positions nested `depth` deep; at depth 1 they are a line. */
static bool walk(struct cleave__outline *outline, const json_t *list, int depth, bool closed)
{
    double x, y;
    if (depth == 0)
        return position(list, &x, &y) && cleave__outline_point(outline, x, y) &&
               cleave__outline_end(outline, false);
    if (!json_is_array(list))
        return false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (depth > 1 ? !walk(outline, item, depth - 1, closed)
                      : !position(item, &x, &y) || !cleave__outline_point(outline, x, y))
            return false;
    }
    return depth > 1 || cleave__outline_end(outline, closed);
}

static bool take_shape(struct cleave__rows *rows, const json_t *shape, int deep)
{
    static const struct {
        const char *type;
        int depth;
        bool closed, apart; /* apart: points that are no line */
    } kinds[] = {
        {"Point", 0, false, true},       {"MultiPoint", 1, false, true},
        {"LineString", 1, false, false}, {"MultiLineString", 2, false, false},
        {"Polygon", 2, true, false},     {"MultiPolygon", 3, true, false},
    };
    const char *type = json_string_value(json_object_get(shape, "type"));
    if (!type || deep > DEEPEST)
        return false;
    if (!strcmp(type, "GeometryCollection")) {
        const json_t *list = json_object_get(shape, "geometries");
        for (size_t i = 0; i < json_array_size(list); i++) {
            if (!take_shape(rows, json_array_get(list, i), deep + 1))
                return false;
        }
        return json_is_array(list);
    }
    const json_t *coordinates = json_object_get(shape, "coordinates");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strcmp(type, kinds[k].type))
            continue;
        if (k == 0 && deep == 0)
            rows->geometry.is_point = position(coordinates, &rows->geometry.x, &rows->geometry.y);
        if (k == 1) { /* each by itself */
            for (size_t i = 0; i < json_array_size(coordinates); i++) {
                if (!walk(&rows->outline, json_array_get(coordinates, i), 0, false))
                    return false;
            }
            return json_is_array(coordinates);
        }
        return walk(&rows->outline, coordinates, kinds[k].depth, kinds[k].closed);
    }
    return false;
}

/* A box that the file gives says more than an outline can: a long edge may go either way. */
static bool own_box(const json_t *box, struct cleave__box *out)
{
    size_t size = json_array_size(box), half = size / 2;
    if (size != 4 && size != 6)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (!json_is_number(json_array_get(box, i)))
            return false;
    }
    *out = (struct cleave__box){json_number_value(json_array_get(box, 0)),
                                json_number_value(json_array_get(box, 1)),
                                json_number_value(json_array_get(box, half)),
                                json_number_value(json_array_get(box, half + 1))};
    return true;
}

enum cleave_status cleave__rows_json_take(struct cleave__rows *rows, struct cleave_error *error)
{
    const json_t *document = rows->document;
    const char *type = json_string_value(json_object_get(document, "type"));
    if (!type || strcmp(type, "Feature"))
        return cleave__rows_fail(rows, error, "not a Feature of GeoJSON ('type' says %.40s)",
                                 type ? type : "nothing");
    json_t *properties = json_object_get(document, "properties");
    const json_t *shape = json_object_get(document, "geometry");
    rows->properties = json_is_object(properties) ? properties : NULL;
    cleave__outline_clear(&rows->outline);
    struct cleave__geometry *geometry = &rows->geometry;
    bool taken = !json_is_object(shape) || take_shape(rows, shape, 0);
    if (rows->outline.no_memory)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%.200s: no memory to read", rows->path);
    if (!taken)
        return cleave__rows_fail(rows, error,
                                 "its geometry is none of GeoJSON, or not longitude and latitude");
    geometry->is_there = cleave__outline_box(&rows->outline, &geometry->box);
    if (own_box(json_object_get(document, "bbox"), &geometry->box))
        geometry->is_there = true;
    return CLEAVE_OK;
}

enum cleave_status cleave__rows_json_next(struct cleave__rows *rows, struct cleave_error *error)
{
    struct cleave__chunk *chunk = &rows->chunk;
    for (;;) {
        size_t length;
        enum cleave_status status = cleave__rows_next_line(rows, &length, error);
        if (status)
            return status;
        rows->next_line++;
        const char *text = chunk->data + chunk->at;
        size_t blank = 0;
        while (blank < length && (text[blank] == ' ' || text[blank] == '\t' || text[blank] == '\r'))
            blank++;
        if (blank == length)
            continue;
        rows->raw = (struct cleave__slice){text, length};
        return cleave__rows_json_parse(rows, text, length, error);
    }
}

/* "a.b.0": step by step. */
static const json_t *by_path(const json_t *at, const char *path)
{
    while (at && path) {
        const char *dot = strchr(path, '.');
        size_t length = dot ? (size_t)(dot - path) : strlen(path);
        char key[128], *end;
        if (length >= sizeof key)
            return NULL;
        memcpy(key, path, length);
        key[length] = 0;
        if (json_is_array(at)) {
            unsigned long index = strtoul(key, &end, 10);
            at = *key >= '0' && *key <= '9' && !*end ? json_array_get(at, index) : NULL;
        } else {
            at = json_object_get(at, key);
        }
        path = dot ? dot + 1 : NULL;
    }
    return at;
}

static const json_t *find(const struct cleave__rows *rows, const char *name)
{
    const json_t *found = NULL;
    if (rows->properties) {
        found = json_object_get(rows->properties, name);
        if (!found && strchr(name, '.'))
            found = by_path(rows->properties, name);
    }
    if (!found)
        found = json_object_get(rows->item, name);
    if (!found && strchr(name, '.'))
        found = by_path(rows->item, name);
    return found;
}

struct cleave__value cleave__rows_json_value(const struct cleave__rows *rows, uint32_t handle)
{
    struct cleave__value value = {0};
    const json_t *found = NULL;
    for (const char *const *name = rows->bindings[handle].names; *name && !found; name++)
        found = find(rows, *name);
    if (!found || json_is_null(found))
        return value;
    value.kind = CLEAVE__VALUE_TEXT;
    char *number = rows->numbers[handle];
    if (json_is_string(found)) {
        value.text = json_string_value(found);
        value.length = json_string_length(found);
        if (value.length == 0)
            return (struct cleave__value){0};
    } else if (json_is_integer(found)) {
        value.length = (size_t)snprintf(number, sizeof *rows->numbers, "%" JSON_INTEGER_FORMAT,
                                        json_integer_value(found));
        value.text = number;
    } else if (json_is_real(found)) {
        value.length =
            (size_t)snprintf(number, sizeof *rows->numbers, "%.17g", json_real_value(found));
        value.text = number;
    } else if (json_is_boolean(found)) {
        value.text = json_is_true(found) ? "true" : "false";
        value.length = strlen(value.text);
    } else {
        value.kind = CLEAVE__VALUE_JSON;
        value.json = found;
    }
    return value;
}
