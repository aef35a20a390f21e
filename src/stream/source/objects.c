/* Objects from rows. */
#include "stream/source/objects.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "stream/source/values.h"

enum { WORD_COLUMNS_MOST = 16, NAMES_MOST = 64 };

struct words_column {
    uint32_t handle;
    bool is_text;
};

struct cleave__objects {
    struct cleave__objects_options options;
    struct cleave__rows *rows;
    struct cleave__objects_counts counts;
    uint32_t x, y, id, time, time_ms; /* handles */
    uint64_t time_unit_ms;
    struct words_column words[WORD_COLUMNS_MOST];
    uint32_t word_count;
    uint32_t *measures; /* [fields]: handles */
    struct cleave__term_list list;
    uint64_t number;
    struct cleave_arena names;
    const char *name_lists[NAMES_MOST]; /* pairs: a name, NULL */
    uint32_t name_count;
};

static const char *const x_names[] = {"lon", "lng", "longitude", "long", "x", NULL};
static const char *const y_names[] = {"lat", "latitude", "y", NULL};
static const char *const id_names[] = {"id", NULL};
static const char *const time_names[] = {"time",     "timestamp",  "date",
                                         "datetime", "created_at", NULL};
static const char *const time_ms_names[] = {"time_ms", NULL};
static const char *const text_names[] = {"text", "title", "name", "place", NULL};
static const char *const keyword_names[] = {"keywords", "tags", NULL};

uint64_t cleave__thing_number(const char *text, size_t length)
{
    uint64_t number = 0;
    bool whole = length > 0 && length <= 18 && (text[0] != '0' || length == 1);
    for (size_t i = 0; i < length && whole; i++) {
        whole = text[i] >= '0' && text[i] <= '9';
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    return whole && number ? number : XXH3_64bits(text, length) | UINT64_C(1) << 63;
}

/* A list of one name, kept. */
static const char *const *kept(struct cleave__objects *o, const char *name, size_t length,
                               struct cleave_error *error)
{
    char *copy = cleave__arena_copy(&o->names, name, length);
    if (!copy || o->name_count + 2 > NAMES_MOST) {
        cleave_error_set(error, copy ? CLEAVE_LIMIT : CLEAVE_NO_MEMORY,
                         copy ? "too many columns are named" : "no memory for objects");
        return NULL;
    }
    const char **list = &o->name_lists[o->name_count];
    list[0] = copy;
    list[1] = NULL;
    o->name_count += 2;
    return list;
}

static enum cleave_status bind_one(struct cleave__objects *o, const char *given,
                                   const char *const *known, bool must, uint32_t *out,
                                   struct cleave_error *error)
{
    *out = UINT32_MAX;
    if (given && !*given)
        return CLEAVE_OK;
    if (!given)
        return cleave__rows_bind(o->rows, known, must, out, error);
    const char *const *names = kept(o, given, strlen(given), error);
    if (!names)
        return error ? error->status : CLEAVE_NO_MEMORY;
    return cleave__rows_bind(o->rows, names, true, out, error);
}

static enum cleave_status bind_words(struct cleave__objects *o, const char *given,
                                     const char *const *known, bool is_text,
                                     struct cleave_error *error)
{
    uint32_t handle;
    enum cleave_status status = CLEAVE_OK;
    if (!given) {
        status = cleave__rows_bind(o->rows, known, false, &handle, error);
        if (!status && handle != UINT32_MAX)
            o->words[o->word_count++] = (struct words_column){handle, is_text};
        return status;
    }
    while (*given && !status) {
        size_t length = strcspn(given, ",");
        if (o->word_count == WORD_COLUMNS_MOST)
            return cleave_error_set(error, CLEAVE_LIMIT, "words come from at most %d columns",
                                    WORD_COLUMNS_MOST);
        const char *const *names = kept(o, given, length, error);
        if (!names)
            return error ? error->status : CLEAVE_NO_MEMORY;
        status = cleave__rows_bind(o->rows, names, true, &handle, error);
        o->words[o->word_count++] = (struct words_column){handle, is_text};
        given += length + (given[length] == ',');
    }
    return status;
}

/* A name that ends in _ms or _s says what its numbers count. */
static uint64_t unit_of(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    if (length > 3 && cleave__text_is(name + length - 3, 3, "_ms"))
        return 1;
    return length > 2 && cleave__text_is(name + length - 2, 2, "_s") ? 1000 : 0;
}

static enum cleave_status bind(struct cleave__objects *o, struct cleave_error *error)
{
    const struct cleave__object_columns *c = &o->options.columns;
    bool placed = cleave__rows_format(o->rows) == CLEAVE__FORMAT_GEOJSON ||
                  cleave__rows_format(o->rows) == CLEAVE__FORMAT_TOPOJSON;
    if (cleave__rows_columns(o->rows) == 0 && (cleave__rows_format(o->rows) == CLEAVE__FORMAT_CSV ||
                                               cleave__rows_format(o->rows) == CLEAVE__FORMAT_TSV))
        return CLEAVE_OK; /* an empty file */
    enum cleave_status status = bind_one(o, c->x, x_names, !placed, &o->x, error);
    if (!status)
        status = bind_one(o, c->y, y_names, !placed, &o->y, error);
    if (!status)
        status = bind_one(o, c->id, id_names, false, &o->id, error);
    if (!status)
        status = bind_one(o, c->time, time_names, false, &o->time, error);
    if (!status && !c->time)
        status = bind_one(o, NULL, time_ms_names, false, &o->time_ms, error);
    if (!status)
        status = bind_words(o, c->text, text_names, true, error);
    if (!status)
        status = bind_words(o, c->keywords, keyword_names, false, error);
    if (status)
        return status;
    o->time_unit_ms = unit_of(c->time);
    uint32_t fields = o->options.fields ? o->options.fields->count : 0;
    o->measures = malloc(((size_t)fields + 1) * sizeof *o->measures);
    if (!o->measures)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for objects");
    for (uint32_t i = 0; i < fields && !status; i++) {
        const struct cleave_intern_entry *name = &o->options.fields->entries[i];
        const char *const *names = kept(o, name->bytes, name->length, error);
        if (!names)
            return error ? error->status : CLEAVE_NO_MEMORY;
        status = cleave__rows_bind(o->rows, names, true, &o->measures[i], error);
    }
    return status;
}

enum cleave_status cleave__objects_open(const struct cleave__objects_options *options,
                                        struct cleave__objects **out, struct cleave_error *error)
{
    struct cleave__objects *o = calloc(1, sizeof *o);
    struct cleave_error fallback;
    error = error ? error : &fallback;
    if (!o)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for objects");
    o->options = *options;
    o->x = o->y = o->id = o->time = o->time_ms = UINT32_MAX;
    enum cleave_status status = cleave__rows_open(&options->rows, &o->rows, error);
    if (!status)
        status = bind(o, error);
    if (status) {
        cleave__objects_close(o);
        return status;
    }
    *out = o;
    return CLEAVE_OK;
}

void cleave__objects_close(struct cleave__objects *o)
{
    if (!o)
        return;
    cleave__rows_close(o->rows);
    CLEAVE_VECTOR_FREE(&o->list.items);
    cleave__arena_free(&o->names);
    free(o->measures);
    free(o);
}

static enum cleave_status in_row(const struct cleave__rows *rows, enum cleave_status status,
                                 struct cleave_error *error)
{
    struct cleave_error inner = *error;
    if (status == CLEAVE_BAD_INPUT || status == CLEAVE_LIMIT)
        cleave__rows_fail(rows, error, "%.300s", inner.message);
    return status;
}

static enum cleave_status split_keywords(const char *text, size_t length,
                                         struct cleave__terms *terms, bool add,
                                         struct cleave__term_list *list, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (size_t at = 0; at <= length && !status;) {
        size_t end = at;
        while (end < length && text[end] != ',' && text[end] != ';' && text[end] != '|')
            end++;
        status = cleave__terms_keyword(terms, text + at, end - at, add, list, error);
        at = end + 1;
    }
    return status;
}

enum cleave_status cleave__value_words(const struct cleave__rows *rows, struct cleave__value value,
                                       bool is_text, struct cleave__terms *terms, bool add,
                                       struct cleave__term_list *list, struct cleave_error *error)
{
    struct cleave_error fallback = {0};
    error = error ? error : &fallback;
    enum cleave_status status = CLEAVE_OK;
    if (value.kind == CLEAVE__VALUE_TEXT) {
        status = is_text ? cleave__terms_text(terms, value.text, value.length, add, list, error)
                         : split_keywords(value.text, value.length, terms, add, list, error);
    } else if (value.kind == CLEAVE__VALUE_JSON) {
        if (!json_is_array((const json_t *)value.json))
            return cleave__rows_fail(rows, error, "words are text or a list of text");
        for (size_t i = 0; i < json_array_size(value.json) && !status; i++) {
            const json_t *item = json_array_get(value.json, i);
            if (!json_is_string(item))
                return cleave__rows_fail(rows, error, "item %zu of a list of words is no text",
                                         i + 1);
            status = (is_text ? cleave__terms_text : cleave__terms_keyword)(
                terms, json_string_value(item), json_string_length(item), add, list, error);
        }
    }
    return in_row(rows, status, error);
}

static enum cleave_status coordinate(struct cleave__objects *o, uint32_t handle, const char *what,
                                     double *out, struct cleave_error *error)
{
    struct cleave__value value = cleave__rows_value(o->rows, handle);
    if (value.kind == CLEAVE__VALUE_ABSENT)
        return cleave__rows_fail(o->rows, error, "no %s; name the column with --%s", what, what);
    if (value.kind != CLEAVE__VALUE_TEXT || !cleave__text_real(value.text, value.length, out))
        return cleave__rows_fail(o->rows, error, "%s is no number: '%.*s'", what,
                                 (int)(value.length < 40 ? value.length : 40),
                                 value.text ? value.text : "");
    return CLEAVE_OK;
}

static enum cleave_status take_place(struct cleave__objects *o, struct cleave__object *object,
                                     struct cleave_error *error)
{
    const struct cleave__geometry *geometry = cleave__rows_geometry(o->rows);
    enum cleave__format format = cleave__rows_format(o->rows);
    if (geometry->is_point && !o->options.columns.x) {
        object->x = geometry->x;
        object->y = geometry->y;
    } else if ((format == CLEAVE__FORMAT_GEOJSON || format == CLEAVE__FORMAT_TOPOJSON) &&
               !o->options.columns.x) {
        return cleave__rows_fail(o->rows, error, "an object is a Point; this is %s",
                                 geometry->is_there ? "an outline" : "without a geometry");
    } else {
        enum cleave_status status = coordinate(o, o->x, "x", &object->x, error);
        if (!status)
            status = coordinate(o, o->y, "y", &object->y, error);
        if (status)
            return status;
    }
    double x = object->x, y = object->y;
    if (!cleave__space_point(o->options.space, &object->x, &object->y))
        return cleave__rows_fail(
            o->rows, error,
            "no place on the globe: longitude %g, latitude %g (from -90 to 90; "
            "are --x and --y the right way round?)",
            x, y);
    return CLEAVE_OK;
}

static enum cleave_status take_time(struct cleave__objects *o, struct cleave__object *object,
                                    struct cleave_error *error)
{
    struct cleave__value value = cleave__rows_value(o->rows, o->time_ms);
    uint64_t unit_ms = value.kind ? 1 : o->time_unit_ms;
    if (!value.kind)
        value = cleave__rows_value(o->rows, o->time);
    if (value.kind == CLEAVE__VALUE_ABSENT)
        return CLEAVE_OK;
    if (value.kind != CLEAVE__VALUE_TEXT ||
        !cleave__text_time(value.text, value.length, unit_ms, &object->time_ms))
        return cleave__rows_fail(
            o->rows, error, "no time: '%.*s' (ISO 8601, or seconds or milliseconds since 1970)",
            (int)(value.length < 40 ? value.length : 40), value.text ? value.text : "");
    return CLEAVE_OK;
}

static enum cleave_status take_words(struct cleave__objects *o, struct cleave_arena *arena,
                                     struct cleave__object *object, struct cleave_error *error)
{
    cleave__term_list_clear(&o->list);
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < o->word_count && !status; i++)
        status = cleave__value_words(o->rows, cleave__rows_value(o->rows, o->words[i].handle),
                                     o->words[i].is_text, o->options.terms, o->options.add,
                                     &o->list, error);
    if (!status)
        status =
            in_row(o->rows, cleave__term_list_settle(&o->list, o->options.terms, error), error);
    if (status)
        return status;
    size_t count = o->list.items.count;
    uint32_t *terms = cleave__arena_array(arena, count, sizeof *terms);
    if (!terms)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for objects");
    if (count)
        memcpy(terms, o->list.items.data, count * sizeof *terms);
    object->terms = terms;
    object->term_count = (uint32_t)count;
    return CLEAVE_OK;
}

static enum cleave_status take_measures(struct cleave__objects *o, struct cleave_arena *arena,
                                        struct cleave__object *object, struct cleave_error *error)
{
    uint32_t fields = o->options.fields ? o->options.fields->count : 0;
    struct cleave__measure *measures = cleave__arena_array(arena, fields, sizeof *measures);
    if (!measures)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for objects");
    for (uint32_t i = 0; i < fields; i++) {
        struct cleave__value value = cleave__rows_value(o->rows, o->measures[i]);
        double number;
        if (value.kind == CLEAVE__VALUE_TEXT &&
            cleave__text_real(value.text, value.length, &number))
            measures[object->measure_count++] = (struct cleave__measure){i, number};
    }
    object->measures = measures;
    return CLEAVE_OK;
}

struct cleave__value cleave__objects_id(const struct cleave__objects *o)
{
    struct cleave__value value = cleave__rows_value(o->rows, o->id);
    return value.kind == CLEAVE__VALUE_TEXT ? value : (struct cleave__value){0};
}

enum cleave_status cleave__objects_next(struct cleave__objects *o, struct cleave_arena *arena,
                                        struct cleave__object *out, struct cleave_error *error)
{
    struct cleave_error fallback;
    error = error ? error : &fallback;
    struct cleave__object object = {0};
    struct cleave__terms *terms = o->options.terms;
    struct cleave_intern_mark words =
        terms ? cleave__intern_mark(&terms->words) : (struct cleave_intern_mark){0};
    enum cleave_status status = cleave__rows_next(o->rows, error);
    if (status == CLEAVE_END)
        return status;
    if (!status)
        status = take_place(o, &object, error);
    if (!status)
        status = take_time(o, &object, error);
    if (!status)
        status = take_words(o, arena, &object, error);
    if (!status)
        status = take_measures(o, arena, &object, error);
    bool refused = status == CLEAVE_BAD_INPUT || status == CLEAVE_LIMIT;
    o->counts.rows += !status || refused;
    o->counts.refused += refused;
    if (status) {
        if (terms)
            cleave__terms_rewind(terms, words); /* what is refused leaves nothing */
        return status;
    }
    struct cleave__value id = cleave__objects_id(o);
    object.id = id.kind ? cleave__thing_number(id.text, id.length) : 0;
    object.number = ++o->number;
    o->counts.words += o->list.words;
    o->counts.unknown_words += o->list.unknown;
    o->counts.without_words += o->list.words == 0;
    o->counts.late += object.time_ms < o->counts.clock_ms;
    if (object.time_ms > o->counts.clock_ms)
        o->counts.clock_ms = object.time_ms;
    *out = object;
    return CLEAVE_OK;
}

struct cleave__rows *cleave__objects_rows(struct cleave__objects *o)
{
    return o->rows;
}

const struct cleave__objects_counts *cleave__objects_counts(const struct cleave__objects *o)
{
    return &o->counts;
}

bool cleave__objects_have_words(const struct cleave__objects *o)
{
    return o->word_count > 0;
}

bool cleave__objects_have_times(const struct cleave__objects *o)
{
    return o->time != UINT32_MAX || o->time_ms != UINT32_MAX;
}

bool cleave__objects_have_ids(const struct cleave__objects *o)
{
    return o->id != UINT32_MAX;
}
