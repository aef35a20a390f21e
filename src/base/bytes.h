/* Little-endian bytes in and out: a growing writer, and a reader that never passes its end.
 *
 * Both fail stickily: after a failed allocation or a short read every later call does nothing and
 * reads give 0, so that callers test `failed` once, at the end of a piece. */
#ifndef CLEAVE_BASE_BYTES_H
#define CLEAVE_BASE_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/vector.h"

struct cleave_writer {
    uint8_t *data; /* malloc'd; the owner frees */
    size_t count, capacity;
    bool failed;
};

struct cleave_reader {
    const uint8_t *at, *end;
    bool failed;
};

static inline uint64_t cleave__load64(const uint8_t *from)
{
    uint64_t x;
    memcpy(&x, from, sizeof x);
    return le64toh(x);
}
static inline uint16_t cleave__load16(const uint8_t *from)
{
    uint16_t x;
    memcpy(&x, from, sizeof x);
    return le16toh(x);
}
static inline uint32_t cleave__load32(const uint8_t *from)
{
    uint32_t x;
    memcpy(&x, from, sizeof x);
    return le32toh(x);
}
static inline void cleave__store64(uint8_t *to, uint64_t x)
{
    x = htole64(x);
    memcpy(to, &x, sizeof x);
}
static inline void cleave__store16(uint8_t *to, uint16_t x)
{
    x = htole16(x);
    memcpy(to, &x, sizeof x);
}
static inline void cleave__store32(uint8_t *to, uint32_t x)
{
    x = htole32(x);
    memcpy(to, &x, sizeof x);
}

/* Room for `size` more bytes, zeroed; NULL when memory is out. */
static inline uint8_t *cleave__put_space(struct cleave_writer *w, size_t size)
{
    if (w->failed || size > SIZE_MAX / 2 - w->count || !CLEAVE_RESERVE(w, w->count + size)) {
        w->failed = true;
        return NULL;
    }
    uint8_t *space = w->data + w->count;
    if (size)
        memset(space, 0, size);
    w->count += size;
    return space;
}
static inline void cleave__put_bytes(struct cleave_writer *w, const void *bytes, size_t size)
{
    uint8_t *space = cleave__put_space(w, size);
    if (space && size)
        memcpy(space, bytes, size);
}
static inline void cleave__put8(struct cleave_writer *w, uint8_t x)
{
    cleave__put_bytes(w, &x, 1);
}
static inline void cleave__put32(struct cleave_writer *w, uint32_t x)
{
    uint8_t *space = cleave__put_space(w, sizeof x);
    if (space)
        cleave__store32(space, x);
}
static inline void cleave__put64(struct cleave_writer *w, uint64_t x)
{
    uint8_t *space = cleave__put_space(w, sizeof x);
    if (space)
        cleave__store64(space, x);
}
/* Seven bits a byte, low ones first. */
static inline void cleave__put_varint(struct cleave_writer *w, uint64_t x)
{
    uint8_t bytes[10];
    size_t n = 0;
    for (; x >= 0x80; x >>= 7)
        bytes[n++] = (uint8_t)(x | 0x80);
    bytes[n++] = (uint8_t)x;
    cleave__put_bytes(w, bytes, n);
}
static inline void cleave__put_text(struct cleave_writer *w, const char *text, size_t length)
{
    cleave__put_varint(w, length);
    cleave__put_bytes(w, text, length);
}

static inline size_t cleave__left(const struct cleave_reader *r)
{
    return r->failed ? 0 : (size_t)(r->end - r->at);
}
/* The next `size` bytes, or NULL. */
static inline const uint8_t *cleave__get_bytes(struct cleave_reader *r, uint64_t size)
{
    if (r->failed || size > (uint64_t)(r->end - r->at)) {
        r->failed = true;
        return NULL;
    }
    const uint8_t *bytes = r->at;
    r->at += size;
    return bytes;
}
static inline uint8_t cleave__get8(struct cleave_reader *r)
{
    const uint8_t *bytes = cleave__get_bytes(r, 1);
    return bytes ? *bytes : 0;
}
static inline uint32_t cleave__get32(struct cleave_reader *r)
{
    const uint8_t *bytes = cleave__get_bytes(r, 4);
    return bytes ? cleave__load32(bytes) : 0;
}
static inline uint64_t cleave__get64(struct cleave_reader *r)
{
    const uint8_t *bytes = cleave__get_bytes(r, 8);
    return bytes ? cleave__load64(bytes) : 0;
}
static inline uint64_t cleave__get_varint(struct cleave_reader *r)
{
    uint64_t x = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = cleave__get8(r);
        if (shift == 63 && byte > 1)
            break;
        x |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return r->failed ? 0 : x;
    }
    r->failed = true;
    return 0;
}
/* A varint that must be at most `most`. */
static inline uint32_t cleave__get_count(struct cleave_reader *r, uint32_t most)
{
    uint64_t x = cleave__get_varint(r);
    if (x > most) {
        r->failed = true;
        return 0;
    }
    return (uint32_t)x;
}

#endif
