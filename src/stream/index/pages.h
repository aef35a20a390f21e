/* Arrays that grow by chunks, so that growth moves next to nothing.
 *
 * The first chunk doubles up to CLEAVE__CHUNK_SMALL (its elements move while it does), so that
 * little is little; more of these follow, so that an array is never much more than what is in it.
 * At CLEAVE__CHUNKS_JOIN bytes they move once, into chunks of CLEAVE__CHUNK_BYTES, each on a
 * boundary of its size and, if the system has one, a huge page; from there on nothing moves. New
 * elements are zero. Growth by one chunk takes about a tenth of a millisecond, joining about 5. */
#ifndef CLEAVE_STREAM_PAGES_H
#define CLEAVE_STREAM_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CLEAVE__CHUNK_SMALL = 1 << 17,
    CLEAVE__CHUNK_BYTES = 1 << 21,
    CLEAVE__CHUNKS_JOIN = 1 << 24
};

struct cleave__pages {
    char **chunks;
    uint32_t chunk_count, chunk_capacity;
    uint32_t shift;    /* 2^shift elements lie in a chunk */
    uint32_t mask;     /* 2^shift - 1 */
    uint32_t element;  /* bytes */
    uint64_t capacity; /* elements there is room for */
};

/* `element_bytes` is a power of two, at most 4096. Allocates nothing. */
struct cleave__pages cleave__pages_make(uint32_t element_bytes);
void cleave__pages_free(struct cleave__pages *pages);
/* False: no memory, nothing has changed. */
bool cleave__pages_reserve(struct cleave__pages *pages, uint64_t count);
/* Gives back whole chunks past `count` elements, but the first only if that is 0; those below keep
 * their place. */
void cleave__pages_trim(struct cleave__pages *pages, uint64_t count);
size_t cleave__pages_bytes(const struct cleave__pages *pages);

static inline void *cleave__pages_at(const struct cleave__pages *pages, uint32_t i)
{
    return pages->chunks[i >> pages->shift] + (size_t)(i & pages->mask) * pages->element;
}

#endif
