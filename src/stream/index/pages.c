/* Arrays of chunks; see pages.h. Huge pages matter here: with 4 KiB ones every look into a table of
 * tens of megabytes also misses the TLB. */
#include "stream/index/pages.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { FIRST_BYTES = 4096 };

static void set_chunk(struct cleave__pages *pages, uint32_t bytes)
{
    uint32_t in_chunk = bytes / pages->element;
    pages->shift = (uint32_t)__builtin_ctz(in_chunk);
    pages->mask = in_chunk - 1;
}

static size_t chunk_bytes(const struct cleave__pages *pages)
{
    return ((size_t)pages->mask + 1) * pages->element;
}

struct cleave__pages cleave__pages_make(uint32_t element_bytes)
{
    assert(element_bytes && element_bytes <= FIRST_BYTES &&
           (element_bytes & (element_bytes - 1)) == 0);
    struct cleave__pages pages = {.element = element_bytes};
    set_chunk(&pages, CLEAVE__CHUNK_SMALL);
    return pages;
}

void cleave__pages_free(struct cleave__pages *pages)
{
    for (uint32_t i = 0; i < pages->chunk_count; i++)
        free(pages->chunks[i]);
    free(pages->chunks);
    pages->chunks = NULL;
    pages->chunk_count = pages->chunk_capacity = 0;
    pages->capacity = 0;
    set_chunk(pages, CLEAVE__CHUNK_SMALL);
}

static size_t first_bytes(const struct cleave__pages *pages)
{
    uint64_t bytes = pages->capacity * pages->element;
    return bytes < chunk_bytes(pages) ? (size_t)bytes : chunk_bytes(pages);
}

static char *new_chunk(size_t bytes)
{
    char *chunk = aligned_alloc(bytes < CLEAVE__CHUNK_BYTES ? 64 : bytes, bytes);
    if (!chunk)
        return NULL;
    if (bytes == CLEAVE__CHUNK_BYTES)
        (void)madvise(chunk, bytes, MADV_HUGEPAGE);
    memset(chunk, 0, bytes);
    return chunk;
}

/* Small chunks move into large ones. */
static bool join(struct cleave__pages *pages)
{
    size_t small = chunk_bytes(pages), bytes = pages->chunk_count * small;
    uint32_t count = (uint32_t)(bytes / CLEAVE__CHUNK_BYTES);
    char **chunks = calloc(count + 1, sizeof *chunks);
    bool ok = chunks;
    for (uint32_t i = 0; i < count && ok; i++)
        ok = (chunks[i] = new_chunk(CLEAVE__CHUNK_BYTES));
    if (!ok) {
        for (uint32_t i = 0; chunks && i < count; i++)
            free(chunks[i]);
        free(chunks);
        return false;
    }
    for (uint32_t i = 0; i < pages->chunk_count; i++) {
        size_t at = i * small;
        memcpy(chunks[at / CLEAVE__CHUNK_BYTES] + at % CLEAVE__CHUNK_BYTES, pages->chunks[i],
               small);
        free(pages->chunks[i]);
    }
    free(pages->chunks);
    pages->chunks = chunks;
    pages->chunk_count = count;
    pages->chunk_capacity = count + 1;
    set_chunk(pages, CLEAVE__CHUNK_BYTES);
    return true;
}

/* The first chunk, grown to `need` elements or to its full size. */
static bool grow_first(struct cleave__pages *pages, uint64_t need)
{
    size_t old = first_bytes(pages), bytes = old ? old : FIRST_BYTES;
    while (bytes < chunk_bytes(pages) && bytes < need * pages->element)
        bytes *= 2;
    char *chunk = new_chunk(bytes);
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
        if (first_bytes(pages) < chunk_bytes(pages)) {
            if (!grow_first(pages, count))
                return false;
            continue;
        }
        if (pages->chunk_count * chunk_bytes(pages) >= CLEAVE__CHUNKS_JOIN &&
            chunk_bytes(pages) < CLEAVE__CHUNK_BYTES) {
            if (!join(pages))
                return false;
            continue;
        }
        char *chunk = new_chunk(chunk_bytes(pages));
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
