/* Any bytes as objects and as queries, in every format: what is read is in order, what is refused
 * says why, and reading ends. The first byte chooses the format, the space and the columns. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stream/source/objects.h"
#include "stream/source/queries.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool go_on(enum cleave_status status, const struct cleave_error *error)
{
    assert(!status || status == CLEAVE_END || error->message[0]);
    return !status || status == CLEAVE_BAD_INPUT || status == CLEAVE_LIMIT;
}

static void in_order(const uint32_t *terms, uint32_t count, const struct cleave__terms *all)
{
    for (uint32_t i = 0; i < count; i++)
        assert(terms[i] < all->words.count && (i == 0 || terms[i] > terms[i - 1]));
}

static void read_queries(const struct cleave__rows_options *rows, const struct cleave__space *space,
                         struct cleave__terms *terms, struct cleave_intern *fields)
{
    struct cleave__queries_options options = {
        .rows = *rows, .space = space, .terms = terms, .fields = fields};
    struct cleave__queries *queries = NULL;
    struct cleave_error error = {0};
    enum cleave_status status = cleave__queries_open(&options, &queries, &error);
    uint64_t id = 0;
    while (queries && go_on(status, &error)) {
        struct cleave__query query;
        status = cleave__queries_next(queries, &query, &error);
        if (status)
            continue;
        struct cleave__region again = query.region;
        size_t length;
        assert(query.id == ++id && query.events && query.events < 16);
        assert(!cleave__region_prepare(space, &again, &error) && again.x0 == query.region.x0);
        in_order(query.terms, query.term_count, terms);
        for (uint32_t i = 0; i < query.filter_count; i++)
            assert(query.filters[i].field < fields->count &&
                   query.filters[i].low == query.filters[i].low);
        assert(cleave__queries_id(queries, query.id, &length));
    }
    assert(queries || status);
    cleave__queries_free(queries);
}

static void read_objects(const struct cleave__objects_options *options)
{
    struct cleave__objects *objects = NULL;
    struct cleave_arena arena = {0};
    struct cleave_error error = {0};
    enum cleave_status status = cleave__objects_open(options, &objects, &error);
    uint64_t number = 0;
    while (objects && go_on(status, &error)) {
        struct cleave__object object;
        status = cleave__objects_next(objects, &arena, &object, &error);
        if (status)
            continue;
        double x = object.x, y = object.y;
        assert(object.number == ++number);
        assert(cleave__space_point(options->space, &x, &y) && x == object.x && y == object.y);
        in_order(object.terms, object.term_count, options->terms);
    }
    const struct cleave__objects_counts *counts = objects ? cleave__objects_counts(objects) : NULL;
    assert(!counts || counts->rows == number + counts->refused);
    cleave__objects_close(objects);
    cleave__arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct cleave__space plane = {CLEAVE__PLANE, {0, 0, 1, 1}};
    char path[64];
    if (size == 0)
        return 0;
    int descriptor = memfd_create("input", 0);
    assert(descriptor >= 0);
    assert(write(descriptor, data + 1, size - 1) == (ssize_t)size - 1);
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    const struct cleave__space *space = data[0] & 8 ? &plane : &cleave__globe;
    struct cleave__rows_options rows = {.path = path,
                                        .format = (enum cleave__format)((data[0] & 7) % 6)};
    struct cleave__terms terms = {0};
    struct cleave_intern fields = {0};
    read_queries(&rows, space, &terms, &fields);
    assert(cleave__terms_check(&terms));
    struct cleave__objects_options options = {
        .rows = rows, .space = space, .terms = &terms, .add = data[0] & 16, .fields = &fields};
    if (data[0] & 32)
        options.columns.x = "a.0";
    read_objects(&options);
    cleave__terms_free(&terms);
    cleave__intern_free(&fields);
    close(descriptor);
    return 0;
}
