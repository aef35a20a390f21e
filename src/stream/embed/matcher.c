/* The public matcher: words and names to numbers, and then the index. */
#include "cleave/match.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/map.h"
#include "stream/index/matcher.h"
#include "stream/query/terms.h"

struct cleave_matcher {
    struct cleave__space space;
    void *index;
    struct cleave__terms terms;
    struct cleave_intern fields;
    struct cleave__map slot_of; /* id to slot */
    struct cleave__term_list words;
    struct cleave__matches matches;
    CLEAVE_VECTOR(uint64_t) ids;
};

enum cleave_status cleave_matcher_new(const struct cleave_matcher_options *options,
                                      struct cleave_matcher **out, struct cleave_error *error)
{
    const struct cleave__box bounds = {options->x0, options->y0, options->x1, options->y1};
    if (options->plane && !(isfinite(bounds.x0) && isfinite(bounds.y0) && isfinite(bounds.x1) &&
                            isfinite(bounds.y1) && bounds.x0 < bounds.x1 && bounds.y0 < bounds.y1))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "a plane's box goes from (x0, y0) up to (x1, y1)");
    struct cleave_matcher *m = calloc(1, sizeof *m);
    if (!m)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a matcher");
    m->space = options->plane ? (struct cleave__space){CLEAVE__PLANE, bounds} : cleave__globe;
    enum cleave_status status = cleave__matcher_index.create(
        &(struct cleave__matcher_options){&m->space}, &m->index, error);
    if (status)
        free(m);
    else
        *out = m;
    return status;
}

void cleave_matcher_free(struct cleave_matcher *m)
{
    if (!m)
        return;
    cleave__matcher_index.destroy(m->index);
    cleave__terms_free(&m->terms);
    cleave__intern_free(&m->fields);
    cleave__map_free(&m->slot_of);
    CLEAVE_VECTOR_FREE(&m->words.items);
    CLEAVE_VECTOR_FREE(&m->matches.items);
    CLEAVE_VECTOR_FREE(&m->ids);
    free(m);
}

/* Keywords and text to terms: those of queries are added, those of objects looked up. */
static enum cleave_status read_words(struct cleave_matcher *m, const char *text,
                                     const char *const *keywords, size_t count, bool add,
                                     struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    cleave__term_list_clear(&m->words);
    if (text)
        status = cleave__terms_text(&m->terms, text, strlen(text), add, &m->words, error);
    for (size_t i = 0; i < count && !status; i++)
        status = cleave__terms_keyword(&m->terms, keywords[i], strlen(keywords[i]), add, &m->words,
                                       error);
    return status ? status : cleave__term_list_settle(&m->words, NULL, error);
}

static enum cleave_status read_region(const struct cleave_matcher *m,
                                      const struct cleave_match_region *region,
                                      struct cleave__region *out, struct cleave_error *error)
{
    const double far = DBL_MAX / 4; /* so that the width is a number too */
    bool globe = m->space.kind == CLEAVE__GLOBE;
    switch (region->kind) {
    case CLEAVE_EVERYWHERE:
        *out = globe ? (struct cleave__region){CLEAVE__RECTANGLE, -180, -90, 180, 90, 0}
                     : (struct cleave__region){CLEAVE__RECTANGLE, -far, -far, far, far, 0};
        break;
    case CLEAVE_RECTANGLE:
        *out = (struct cleave__region){CLEAVE__RECTANGLE, region->x0, region->y0,
                                       region->x1,        region->y1, 0};
        break;
    case CLEAVE_CIRCLE:
        *out =
            (struct cleave__region){CLEAVE__CIRCLE, region->x0, region->y0, 0, 0, region->radius};
        break;
    default:
        return cleave_error_set(error, CLEAVE_BAD_INPUT, "a region of an unknown kind");
    }
    return cleave__region_prepare(&m->space, out, error);
}

static enum cleave_status read_filters(struct cleave_matcher *m,
                                       const struct cleave_match_query *query,
                                       struct cleave__filter *out, struct cleave_error *error)
{
    if (query->filter_count > CLEAVE__FILTERS_MOST)
        return cleave_error_set(error, CLEAVE_LIMIT, "more than %d filters", CLEAVE__FILTERS_MOST);
    for (size_t i = 0; i < query->filter_count; i++) {
        const struct cleave_match_number *filter = &query->filters[i];
        if (isnan(filter->low) || isnan(filter->high))
            return cleave_error_set(error, CLEAVE_BAD_INPUT, "the filter of %s has no number",
                                    filter->name);
        uint32_t field = cleave__intern_add(&m->fields, filter->name, strlen(filter->name));
        if (field == CLEAVE_INTERN_NONE)
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a filter");
        out[i] = (struct cleave__filter){field, filter->low, filter->high};
    }
    return CLEAVE_OK;
}

enum cleave_status cleave_matcher_add(struct cleave_matcher *m,
                                      const struct cleave_match_query *query,
                                      struct cleave_error *error)
{
    struct cleave__filter filters[CLEAVE__FILTERS_MOST];
    struct cleave__query own = {.id = query->id,
                                .end_ms = query->end_ms ? query->end_ms : CLEAVE__NEVER,
                                .predicate =
                                    query->any_keyword ? CLEAVE__OVERLAPS : CLEAVE__CONTAINS,
                                .events = CLEAVE__EVENT_MATCH,
                                .filters = filters,
                                .filter_count = (uint32_t)query->filter_count};
    if (!query->id || cleave__map_find(&m->slot_of, query->id))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "a query's id is its own, and not 0");
    enum cleave_status status = read_region(m, &query->region, &own.region, error);
    if (!status)
        status = read_filters(m, query, filters, error);
    if (!status)
        status = read_words(m, NULL, query->keywords, query->keyword_count, true, error);
    if (status)
        return status;
    if (query->keyword_count && !m->words.items.count)
        return cleave_error_set(error, CLEAVE_BAD_INPUT, "the query's keywords are blank");
    own.terms = m->words.items.data;
    own.term_count = (uint32_t)m->words.items.count;
    uint64_t *place = cleave__map_put(&m->slot_of, query->id);
    uint32_t slot = 0;
    if (!place)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a query");
    status = cleave__matcher_index.add(m->index, &own, &slot, error);
    if (status)
        cleave__map_remove(&m->slot_of, query->id);
    else
        *place = slot;
    return status;
}

enum cleave_status cleave_matcher_remove(struct cleave_matcher *m, uint64_t id,
                                         struct cleave_error *error)
{
    const uint64_t *slot = cleave__map_find(&m->slot_of, id);
    if (!slot)
        return cleave_error_set(error, CLEAVE_NOT_FOUND, "no query %llu", (unsigned long long)id);
    cleave__matcher_index.remove(m->index, (uint32_t)*slot);
    cleave__map_remove(&m->slot_of, id);
    return CLEAVE_OK;
}

static int compare_measures(const void *a, const void *b)
{
    uint32_t x = ((const struct cleave__measure *)a)->field;
    uint32_t y = ((const struct cleave__measure *)b)->field;
    return (x > y) - (x < y);
}

/* Numbers that some query asks for; of two with one name the first. */
static enum cleave_status read_numbers(const struct cleave_matcher *m,
                                       const struct cleave_match_object *object,
                                       struct cleave__measure *out, uint32_t *count,
                                       struct cleave_error *error)
{
    uint32_t found = 0;
    if (object->number_count > CLEAVE__FIELDS_MOST)
        return cleave_error_set(error, CLEAVE_LIMIT, "more than %d numbers", CLEAVE__FIELDS_MOST);
    for (size_t i = 0; i < object->number_count; i++) {
        const struct cleave_match_number *number = &object->numbers[i];
        uint32_t field = cleave__intern_find(&m->fields, number->name, strlen(number->name));
        bool known = field != CLEAVE_INTERN_NONE && !isnan(number->value);
        for (uint32_t j = 0; j < found && known; j++)
            known = out[j].field != field;
        if (known)
            out[found++] = (struct cleave__measure){field, number->value};
    }
    qsort(out, found, sizeof *out, compare_measures);
    *count = found;
    return CLEAVE_OK;
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

enum cleave_status cleave_matcher_match(struct cleave_matcher *m,
                                        const struct cleave_match_object *object,
                                        const uint64_t **ids, size_t *count,
                                        struct cleave_error *error)
{
    struct cleave__measure measures[CLEAVE__FIELDS_MOST];
    struct cleave__object own = {.number = 1,
                                 .time_ms = object->time_ms,
                                 .x = object->x,
                                 .y = object->y,
                                 .measures = measures};
    if (!cleave__space_point(&m->space, &own.x, &own.y))
        return cleave_error_set(error, CLEAVE_BAD_INPUT, "(%g, %g) is no place", object->x,
                                object->y);
    enum cleave_status status =
        read_words(m, object->text, object->keywords, object->keyword_count, false, error);
    if (!status)
        status = read_numbers(m, object, measures, &own.measure_count, error);
    own.terms = m->words.items.data;
    own.term_count = (uint32_t)m->words.items.count;
    m->matches.items.count = m->ids.count = 0;
    if (!status)
        status = cleave__matcher_index.match(m->index, &own, 1, &m->matches, NULL, error);
    if (status)
        return status;
    if (!CLEAVE_RESERVE(&m->ids, m->matches.items.count + 1))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for matches");
    for (size_t i = 0; i < m->matches.items.count; i++) {
        struct cleave__query query;
        if (cleave__matcher_index.query(m->index, m->matches.items.data[i].slot, &query))
            m->ids.data[m->ids.count++] = query.id;
    }
    qsort(m->ids.data, m->ids.count, sizeof *m->ids.data, compare_ids);
    *ids = m->ids.data;
    *count = m->ids.count;
    return CLEAVE_OK;
}

size_t cleave_matcher_count(const struct cleave_matcher *m)
{
    return m->slot_of.count;
}

size_t cleave_matcher_bytes(const struct cleave_matcher *m)
{
    return sizeof *m + cleave__matcher_index.bytes(m->index) + cleave__terms_bytes(&m->terms) +
           cleave__map_bytes(&m->slot_of);
}
