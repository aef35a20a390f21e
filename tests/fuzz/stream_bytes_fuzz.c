/* Any bytes as an object and as a query: what is read is in order, and is written and read again
 * as the same. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "stream/query/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void rising(const uint32_t *terms, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        assert(terms[i] < CLEAVE__NO_TERM && (i == 0 || terms[i - 1] < terms[i]));
}

static void try_object(const uint8_t *data, size_t size, struct cleave_arena *arena)
{
    struct cleave_reader reader = {data, data + size, false};
    struct cleave__object object, again;
    struct cleave_writer first = {0}, second = {0};
    bool no_memory;
    if (!cleave__object_read(&reader, arena, &object, &no_memory))
        return;
    assert(isfinite(object.x) && isfinite(object.y));
    rising(object.terms, object.term_count);
    cleave__object_write(&object, &first);
    reader = (struct cleave_reader){first.data, first.data + first.count, false};
    assert(cleave__object_read(&reader, arena, &again, &no_memory) && !cleave__left(&reader));
    cleave__object_write(&again, &second);
    assert(first.count == second.count && !memcmp(first.data, second.data, first.count));
    free(first.data);
    free(second.data);
}

static void try_query(const uint8_t *data, size_t size, struct cleave_arena *arena)
{
    struct cleave_reader reader = {data, data + size, false};
    struct cleave__query query, again;
    struct cleave_writer first = {0}, second = {0};
    bool no_memory;
    if (!cleave__query_read(&reader, arena, &query, &no_memory))
        return;
    assert(query.id && query.events < 16 && query.region.kind <= CLEAVE__CIRCLE);
    rising(query.terms, query.term_count);
    cleave__query_write(&query, &first);
    reader = (struct cleave_reader){first.data, first.data + first.count, false};
    assert(cleave__query_read(&reader, arena, &again, &no_memory) && !cleave__left(&reader));
    cleave__query_write(&again, &second);
    assert(first.count == second.count && !memcmp(first.data, second.data, first.count));
    free(first.data);
    free(second.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cleave_arena arena = {0};
    try_object(data, size, &arena);
    try_query(data, size, &arena);
    cleave__arena_free(&arena);
    return 0;
}
