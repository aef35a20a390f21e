/* Any bytes as text and as a keyword: refused as no UTF-8, or words in normal form, which stay what
 * they are; and as the bytes of an object and a query: refused, or in order and written as they
 * were. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stream/query/object.h"
#include "stream/query/terms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void words(const char *text, size_t size)
{
    struct cleave__terms terms = {0};
    struct cleave__term_list list = {0}, again = {0};
    struct cleave_error error = {0};
    if (cleave__terms_text(&terms, text, size, true, &list, &error))
        assert(error.status == CLEAVE_BAD_INPUT);
    else
        assert(!cleave__terms_keyword(&terms, text, size, true, &list, &error));
    assert(cleave__terms_check(&terms));
    for (size_t i = 0; i < list.items.count; i++) {
        size_t length;
        const char *word = cleave__terms_word(&terms, list.items.data[i], &length);
        cleave__term_list_clear(&again);
        assert(!cleave__terms_keyword(&terms, word, length, false, &again, &error));
        assert(again.items.count == 1 && again.items.data[0] == list.items.data[i]);
    }
    CLEAVE_VECTOR_FREE(&list.items);
    CLEAVE_VECTOR_FREE(&again.items);
    cleave__terms_free(&terms);
}

static void bytes(const uint8_t *data, size_t size)
{
    struct cleave_arena arena = {0};
    struct cleave_reader reader = {data, data + size, false};
    struct cleave_writer writer = {0};
    struct cleave__object object, object2;
    struct cleave__query query, query2;
    bool no_memory;
    if (cleave__object_read(&reader, &arena, &object, &no_memory)) {
        cleave__object_write(&object, &writer);
        reader = (struct cleave_reader){writer.data, writer.data + writer.count, false};
        assert(cleave__object_read(&reader, &arena, &object2, &no_memory) &&
               reader.at == reader.end);
        assert(object2.number == object.number && object2.term_count == object.term_count);
    }
    writer.count = 0;
    reader = (struct cleave_reader){data, data + size, false};
    if (cleave__query_read(&reader, &arena, &query, &no_memory)) {
        struct cleave__region region = query.region;
        struct cleave__box boxes[CLEAVE__REGION_BOXES_MOST];
        if (!cleave__region_prepare(&cleave__globe, &region, NULL)) {
            uint32_t count = cleave__region_boxes(&cleave__globe, &region, boxes);
            assert(count >= 1 && count <= CLEAVE__REGION_BOXES_MOST);
        }
        cleave__query_write(&query, &writer);
        reader = (struct cleave_reader){writer.data, writer.data + writer.count, false};
        assert(cleave__query_read(&reader, &arena, &query2, &no_memory) && reader.at == reader.end);
        assert(query2.id == query.id && query2.filter_count == query.filter_count);
    }
    free(writer.data);
    cleave__arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    words((const char *)data, size);
    bytes(data, size);
    return 0;
}
