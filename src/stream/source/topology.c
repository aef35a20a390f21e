/* TopoJSON: outlines that share their arcs. Arcs come last in a file, so it is read whole; a shape
 * of one layer is a row, with its properties and id. Format:
 * github.com/topojson/topojson-specification. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stream/source/rows_inside.h"

#define TOPOLOGY_MOST ((size_t)256 << 20)
/* Arcs may be named again and again: a small file could ask for work without end. */
enum { DEEPEST = 64, WORK_MOST = 1 << 26 };

struct transform {
    double scale[2], translate[2];
    bool is_there;
};

static bool pair(const json_t *list, double out[2])
{
    for (size_t i = 0; i < 2; i++) {
        const json_t *item = json_array_get(list, i);
        if (!json_is_number(item))
            return false;
        out[i] = json_number_value(item);
    }
    return true;
}

static bool transform_of(const json_t *document, struct transform *t)
{
    const json_t *object = json_object_get(document, "transform");
    *t = (struct transform){{1, 1}, {0, 0}, false};
    if (!object)
        return true;
    t->is_there = true;
    return pair(json_object_get(object, "scale"), t->scale) &&
           pair(json_object_get(object, "translate"), t->translate);
}

/* All of a layer's shapes, collections opened. */
static bool flatten(struct cleave__rows *rows, json_t *shape, int deep)
{
    const char *type = json_string_value(json_object_get(shape, "type"));
    if (type && !strcmp(type, "GeometryCollection") && deep < DEEPEST) {
        json_t *list = json_object_get(shape, "geometries");
        for (size_t i = 0; i < json_array_size(list); i++) {
            if (!flatten(rows, json_array_get(list, i), deep + 1))
                return false;
        }
        return true;
    }
    return CLEAVE_PUSH(&rows->shapes, shape);
}

static enum cleave_status slurp(struct cleave__rows *rows, struct cleave_error *error)
{
    struct cleave__chunk *chunk = &rows->chunk;
    enum cleave_status status = CLEAVE_OK;
    while (!chunk->ended && !status)
        status = cleave__chunk_fill(chunk, TOPOLOGY_MOST, error);
    if (status == CLEAVE_LIMIT)
        return cleave_error_set(error, CLEAVE_UNSUPPORTED,
                                "%.200s: more than %zu bytes; TopoJSON is read whole", rows->path,
                                TOPOLOGY_MOST);
    return status;
}

enum cleave_status cleave__topology_open(struct cleave__rows *rows, struct cleave_error *error)
{
    struct cleave__chunk *chunk = &rows->chunk;
    enum cleave_status status = slurp(rows, error);
    if (status)
        return status;
    rows->line = 1;
    status = cleave__rows_json_parse(rows, chunk->data + chunk->at, chunk->end - chunk->at, error);
    if (status)
        return status;
    free(chunk->data);
    chunk->data = NULL;
    chunk->at = chunk->end = chunk->capacity = 0;
    const char *type = json_string_value(json_object_get(rows->document, "type"));
    json_t *layers = json_object_get(rows->document, "objects");
    void *first = json_object_iter(layers);
    if (!type || strcmp(type, "Topology") || !first)
        return cleave__rows_fail(rows, error, "not a Topology with objects");
    json_t *layer =
        rows->layer ? json_object_get(layers, rows->layer) : json_object_iter_value(first);
    if (!layer)
        return cleave_error_set(error, CLEAVE_NOT_FOUND,
                                "%.150s: no layer '%.60s'; the first is '%.60s'", rows->path,
                                rows->layer, json_object_iter_key(first));
    if (!flatten(rows, layer, 0))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%.200s: no memory to read", rows->path);
    return CLEAVE_OK;
}

static bool point(struct cleave__outline *outline, const struct transform *t, const double at[2])
{
    return cleave__outline_point(outline, at[0] * t->scale[0] + t->translate[0],
                                 at[1] * t->scale[1] + t->translate[1]);
}

/* An arc's positions, summed up where there is a transform; backwards when `number` is negative. */
static bool take_arc(struct cleave__rows *rows, const struct transform *t, json_int_t number)
{
    const json_t *arcs = json_object_get(rows->document, "arcs");
    json_int_t index = number < 0 ? ~number : number;
    const json_t *arc = json_array_get(arcs, (size_t)index);
    if (!json_is_array(arc) || index < 0)
        return false;
    size_t count = json_array_size(arc);
    rows->work += count + 1;
    if (rows->work > WORK_MOST)
        return false;
    double at[2] = {0, 0}, step[2];
    if (number >= 0 || !t->is_there) {
        for (size_t i = 0; i < count; i++) {
            if (!pair(json_array_get(arc, number < 0 ? count - 1 - i : i), step))
                return false;
            at[0] = t->is_there ? at[0] + step[0] : step[0];
            at[1] = t->is_there ? at[1] + step[1] : step[1];
            if (!point(&rows->outline, t, at))
                return false;
        }
        return true;
    }
    for (size_t i = 0; i < count; i++) { /* to the end, then back */
        if (!pair(json_array_get(arc, i), step))
            return false;
        at[0] += step[0];
        at[1] += step[1];
    }
    for (size_t i = count; i-- > 0;) {
        if (!point(&rows->outline, t, at) || !pair(json_array_get(arc, i), step))
            return false;
        at[0] -= step[0];
        at[1] -= step[1];
    }
    return true;
}

static bool take_arcs(struct cleave__rows *rows, const struct transform *t, const json_t *list,
                      int depth, bool closed)
{
    if (!json_is_array(list))
        return false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (depth > 1 ? !take_arcs(rows, t, item, depth - 1, closed)
                      : !json_is_integer(item) || !take_arc(rows, t, json_integer_value(item)))
            return false;
    }
    return depth > 1 || cleave__outline_end(&rows->outline, closed);
}

static bool take_shape(struct cleave__rows *rows, const json_t *shape)
{
    static const struct {
        const char *type;
        int depth;
        bool closed;
    } kinds[] = {{"LineString", 1, false},
                 {"MultiLineString", 2, false},
                 {"Polygon", 2, true},
                 {"MultiPolygon", 3, true}};
    struct transform t;
    const char *type = json_string_value(json_object_get(shape, "type"));
    if (!transform_of(rows->document, &t))
        return false;
    if (!type) /* TopoJSON's null geometry */
        return json_is_null(json_object_get(shape, "type"));
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (!strcmp(type, kinds[k].type))
            return take_arcs(rows, &t, json_object_get(shape, "arcs"), kinds[k].depth,
                             kinds[k].closed);
    }
    const json_t *coordinates = json_object_get(shape, "coordinates");
    double at[2];
    if (!strcmp(type, "Point")) {
        if (!pair(coordinates, at) || !point(&rows->outline, &t, at))
            return false;
        rows->geometry.is_point = true;
        rows->geometry.x = at[0] * t.scale[0] + t.translate[0];
        rows->geometry.y = at[1] * t.scale[1] + t.translate[1];
        return cleave__outline_end(&rows->outline, false);
    }
    if (strcmp(type, "MultiPoint"))
        return false;
    for (size_t i = 0; i < json_array_size(coordinates); i++) {
        if (!pair(json_array_get(coordinates, i), at) || !point(&rows->outline, &t, at) ||
            !cleave__outline_end(&rows->outline, false))
            return false;
    }
    return json_is_array(coordinates);
}

enum cleave_status cleave__topology_next(struct cleave__rows *rows, struct cleave_error *error)
{
    if (rows->shape == rows->shapes.count)
        return CLEAVE_END;
    json_t *shape = rows->shapes.data[rows->shape++];
    json_t *properties = json_object_get(shape, "properties");
    rows->line = rows->shape; /* there are no lines; which shape it is */
    rows->geometry = (struct cleave__geometry){0};
    rows->item = shape;
    rows->work = 0;
    rows->properties = json_is_object(properties) ? properties : NULL;
    cleave__outline_clear(&rows->outline);
    bool taken = take_shape(rows, shape);
    if (rows->outline.no_memory)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%.200s: no memory to read", rows->path);
    if (!taken)
        return cleave__rows_fail(rows, error, "shape %zu of the layer is none of TopoJSON",
                                 rows->shape);
    rows->geometry.is_there = cleave__outline_box(&rows->outline, &rows->geometry.box);
    free(rows->dumped);
    rows->dumped = json_dumps(shape, JSON_COMPACT);
    if (!rows->dumped)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%.200s: no memory to read", rows->path);
    rows->raw = (struct cleave__slice){rows->dumped, strlen(rows->dumped)};
    return CLEAVE_OK;
}
