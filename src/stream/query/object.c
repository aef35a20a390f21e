/* When a query has an object, straight from the definition; and both as bytes. */
#include "stream/query/object.h"

#include <math.h>
#include <stdlib.h>

bool cleave__terms_match(const struct cleave__query *query, const struct cleave__object *object)
{
    uint32_t found = 0, i = 0, j = 0;
    while (i < query->term_count && j < object->term_count) {
        if (query->terms[i] == object->terms[j])
            found++, i++, j++;
        else if (query->terms[i] < object->terms[j])
            i++;
        else
            j++;
    }
    if (query->predicate == CLEAVE__CONTAINS || query->term_count == 0)
        return found == query->term_count;
    return found > 0;
}

bool cleave__filters_match(const struct cleave__query *query, const struct cleave__object *object)
{
    for (uint32_t i = 0; i < query->filter_count; i++) {
        const struct cleave__filter *filter = &query->filters[i];
        bool kept = false;
        for (uint32_t j = 0; j < object->measure_count && !kept; j++) {
            const struct cleave__measure *measure = &object->measures[j];
            kept = measure->field == filter->field && measure->value >= filter->low &&
                   measure->value <= filter->high;
        }
        if (!kept)
            return false;
    }
    return true;
}

bool cleave__query_has(const struct cleave__space *space, const struct cleave__query *query,
                       const struct cleave__object *object)
{
    return object->time_ms < query->end_ms &&
           cleave__region_has(space, &query->region, object->x, object->y) &&
           cleave__terms_match(query, object) && cleave__filters_match(query, object);
}

bool cleave__query_copy(const struct cleave__query *query, struct cleave__query *out, void **arrays)
{
    size_t size = cleave__query_arrays(query);
    size_t filters = query->filter_count * sizeof *query->filters;
    char *own = size ? malloc(size) : NULL;
    if (size && !own)
        return false;
    if (filters)
        memcpy(own, query->filters, filters);
    if (query->term_count)
        memcpy(own + filters, query->terms, query->term_count * sizeof *query->terms);
    *out = *query;
    out->filters = filters ? (const struct cleave__filter *)(void *)own : NULL;
    out->terms = query->term_count ? (const uint32_t *)(void *)(own + filters) : NULL;
    *arrays = own;
    return true;
}

static void put_real(struct cleave_writer *writer, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    cleave__put64(writer, bits);
}

static double get_real(struct cleave_reader *reader)
{
    uint64_t bits = cleave__get64(reader);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double get_finite(struct cleave_reader *reader)
{
    double x = get_real(reader);
    if (isfinite(x))
        return x;
    reader->failed = true;
    return 0;
}

/* Rising numbers: the first, then how much each is above the one before. */
static void put_terms(struct cleave_writer *writer, const uint32_t *terms, uint32_t count)
{
    cleave__put_varint(writer, count);
    for (uint32_t i = 0; i < count; i++)
        cleave__put_varint(writer, i ? terms[i] - terms[i - 1] : terms[0]);
}

/* False: failed. */
static bool get_terms(struct cleave_reader *reader, struct cleave_arena *arena,
                      const uint32_t **terms, uint32_t *count, bool *no_memory)
{
    uint32_t n = cleave__get_count(reader, CLEAVE__TERMS_MOST);
    if (n > cleave__left(reader))
        reader->failed = true;
    *count = 0;
    *terms = NULL;
    if (reader->failed || n == 0)
        return !reader->failed;
    uint32_t *out = cleave__arena_array(arena, n, sizeof *out);
    if (!out) {
        *no_memory = true;
        return false;
    }
    uint64_t term = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t step = cleave__get_count(reader, UINT32_MAX);
        term += step;
        if ((i && step == 0) || term >= UINT32_MAX) /* the last number is no term */
            reader->failed = true;
        out[i] = (uint32_t)term;
    }
    *terms = out;
    *count = n;
    return !reader->failed;
}

void cleave__object_write(const struct cleave__object *object, struct cleave_writer *writer)
{
    cleave__put_varint(writer, object->number);
    cleave__put_varint(writer, object->id);
    cleave__put_varint(writer, object->sequence);
    cleave__put_varint(writer, object->time_ms);
    put_real(writer, object->x);
    put_real(writer, object->y);
    put_terms(writer, object->terms, object->term_count);
    cleave__put_varint(writer, object->measure_count);
    for (uint32_t i = 0; i < object->measure_count; i++) {
        cleave__put_varint(writer, object->measures[i].field);
        put_real(writer, object->measures[i].value);
    }
    cleave__put_varint(writer, object->note_length);
    cleave__put_bytes(writer, object->note, object->note_length);
}

bool cleave__object_read(struct cleave_reader *reader, struct cleave_arena *arena,
                         struct cleave__object *out, bool *no_memory)
{
    *no_memory = false;
    struct cleave__object object = {.number = cleave__get_varint(reader)};
    object.id = cleave__get_varint(reader);
    object.sequence = cleave__get_varint(reader);
    object.time_ms = cleave__get_varint(reader);
    object.x = get_finite(reader);
    object.y = get_finite(reader);
    if (!get_terms(reader, arena, &object.terms, &object.term_count, no_memory))
        return false;
    object.measure_count = cleave__get_count(reader, CLEAVE__FIELDS_MOST);
    if (object.measure_count && !reader->failed) {
        struct cleave__measure *measures =
            cleave__arena_array(arena, object.measure_count, sizeof *measures);
        if (!measures) {
            *no_memory = true;
            return false;
        }
        for (uint32_t i = 0; i < object.measure_count; i++) {
            measures[i].field = cleave__get_count(reader, UINT32_MAX);
            measures[i].value = get_real(reader);
            if (isnan(measures[i].value) || (i && measures[i].field <= measures[i - 1].field))
                reader->failed = true;
        }
        object.measures = measures;
    }
    object.note_length = cleave__get_count(reader, CLEAVE__NOTE_MOST);
    object.note = cleave__get_bytes(reader, object.note_length);
    if (!reader->failed)
        *out = object;
    return !reader->failed;
}

void cleave__query_write(const struct cleave__query *query, struct cleave_writer *writer)
{
    const struct cleave__region *region = &query->region;
    cleave__put_varint(writer, query->id);
    cleave__put_varint(writer, query->subscriber);
    cleave__put_varint(writer, query->end_ms);
    cleave__put8(writer, (uint8_t)(region->kind | query->predicate << 1 | query->events << 2));
    put_real(writer, region->x0);
    put_real(writer, region->y0);
    put_real(writer, region->kind == CLEAVE__CIRCLE ? region->radius : region->x1);
    if (region->kind == CLEAVE__RECTANGLE)
        put_real(writer, region->y1);
    put_terms(writer, query->terms, query->term_count);
    cleave__put_varint(writer, query->filter_count);
    for (uint32_t i = 0; i < query->filter_count; i++) {
        cleave__put_varint(writer, query->filters[i].field);
        put_real(writer, query->filters[i].low);
        put_real(writer, query->filters[i].high);
    }
}

bool cleave__query_read(struct cleave_reader *reader, struct cleave_arena *arena,
                        struct cleave__query *out, bool *no_memory)
{
    *no_memory = false;
    struct cleave__query query = {.id = cleave__get_varint(reader)};
    query.subscriber = cleave__get_varint(reader);
    query.end_ms = cleave__get_varint(reader);
    uint8_t kinds = cleave__get8(reader);
    query.region.kind = (enum cleave__region_kind)(kinds & 1);
    query.predicate = (enum cleave__predicate)(kinds >> 1 & 1);
    query.events = kinds >> 2;
    query.region.x0 = get_finite(reader);
    query.region.y0 = get_finite(reader);
    if (query.region.kind == CLEAVE__CIRCLE) {
        query.region.radius = get_finite(reader);
    } else {
        query.region.x1 = get_finite(reader);
        query.region.y1 = get_finite(reader);
    }
    if (query.id == 0 || query.events > 15 || query.region.radius < 0 ||
        (query.region.kind == CLEAVE__RECTANGLE && query.region.y0 > query.region.y1))
        reader->failed = true;
    if (!get_terms(reader, arena, &query.terms, &query.term_count, no_memory))
        return false;
    query.filter_count = cleave__get_count(reader, CLEAVE__FILTERS_MOST);
    if (query.filter_count && !reader->failed) {
        struct cleave__filter *filters =
            cleave__arena_array(arena, query.filter_count, sizeof *filters);
        if (!filters) {
            *no_memory = true;
            return false;
        }
        for (uint32_t i = 0; i < query.filter_count; i++) {
            filters[i].field = cleave__get_count(reader, UINT32_MAX);
            filters[i].low = get_real(reader);
            filters[i].high = get_real(reader);
            if (isnan(filters[i].low) || isnan(filters[i].high))
                reader->failed = true;
        }
        query.filters = filters;
    }
    if (!reader->failed)
        *out = query;
    return !reader->failed;
}
