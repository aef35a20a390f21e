/* Arrays of chunks; see pages.h. Huge pages matter here: with 4 KiB ones every look into a table of
 * tens of megabytes also misses the TLB. */
#include "stream/index/pages.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { FIRST_BYTES = 4096 };

struct cleave__pages cleave__pages_make(uint32_t element_bytes)
{
    assert(element_bytes && element_bytes <= FIRST_BYTES &&
           (element_bytes & (element_bytes - 1)) == 0);
    uint32_t in_chunk = CLEAVE__CHUNK_BYTES / element_bytes;
    return (struct cleave__pages){
        .shift = (uint32_t)__builtin_ctz(in_chunk), .mask = in_chunk - 1, .element = element_bytes};
}

void cleave__pages_free(struct cleave__pages *pages)
{
    for (uint32_t i = 0; i < pages->chunk_count; i++)
        free(pages->chunks[i]);
    free(pages->chunks);
    pages->chunks = NULL;
    pages->chunk_count = pages->chunk_capacity = 0;
    pages->capacity = 0;
}

static size_t first_bytes(const struct cleave__pages *pages)
{
    uint64_t bytes = pages->capacity * pages->element;
    return bytes < CLEAVE__CHUNK_BYTES ? (size_t)bytes : CLEAVE__CHUNK_BYTES;
}

static char *new_chunk(void)
{
    char *chunk = aligned_alloc(CLEAVE__CHUNK_BYTES, CLEAVE__CHUNK_BYTES);
    if (!chunk)
        return NULL;
    (void)madvise(chunk, CLEAVE__CHUNK_BYTES, MADV_HUGEPAGE);
    memset(chunk, 0, CLEAVE__CHUNK_BYTES);
    return chunk;
}

/* The first chunk, grown to `need` elements or to its full size. */
static bool grow_first(struct cleave__pages *pages, uint64_t need)
{
    size_t old = first_bytes(pages), bytes = old ? old : FIRST_BYTES;
    while (bytes < CLEAVE__CHUNK_BYTES && bytes < need * pages->element)
        bytes *= 2;
    char *chunk;
    if (bytes == CLEAVE__CHUNK_BYTES)
        chunk = new_chunk();
    else if ((chunk = aligned_alloc(64, bytes)))
        memset(chunk + old, 0, bytes - old);
    if (!chunk)
        return false;
    if (old)
        memcpy(chunk, pages->chunks[0], old);
    free(pages->chunk_count ? pages->chunks[0] : NULL);
    pages->chunks[0] = chunk;
    pages->chunk_count = 1;
    pages->capacity = bytes / pages->element;
    return true;
}

bool cleave__pages_reserve(struct cleave__pages *pages, uint64_t count)
{
    while (pages->capacity < count) {
        if (pages->chunk_count == pages->chunk_capacity) {
            uint32_t capacity = pages->chunk_capacity ? pages->chunk_capacity * 2 : 4;
            char **chunks = realloc(pages->chunks, capacity * sizeof *chunks);
            if (!chunks)
                return false;
            pages->chunks = chunks;
            pages->chunk_capacity = capacity;
        }
        if (first_bytes(pages) < CLEAVE__CHUNK_BYTES) {
            if (!grow_first(pages, count))
                return false;
            continue;
        }
        char *chunk = new_chunk();
        if (!chunk)
            return false;
        pages->chunks[pages->chunk_count++] = chunk;
        pages->capacity += (uint64_t)pages->mask + 1;
    }
    return true;
}

void cleave__pages_trim(struct cleave__pages *pages, uint64_t count)
{
    uint64_t in_chunk = (uint64_t)pages->mask + 1;
    if (count == 0)
        cleave__pages_free(pages);
    while (pages->chunk_count > 1 && (pages->chunk_count - 1) * in_chunk >= count) {
        free(pages->chunks[--pages->chunk_count]);
        pages->capacity -= in_chunk;
    }
}

size_t cleave__pages_bytes(const struct cleave__pages *pages)
{
    return pages->chunk_capacity * sizeof *pages->chunks + (size_t)pages->capacity * pages->element;
}
