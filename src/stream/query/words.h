/* Unicode text: its normal form, and where its words are. Used by terms.c alone. */
#ifndef CLEAVE_STREAM_WORDS_H
#define CLEAVE_STREAM_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Code points in NFKC_Casefold. `*count` is how many there are; past `capacity` none of them are
 * right and the caller calls again with more room. False: not UTF-8 at byte *bad. O(length). */
bool cleave__words_normalise(const uint8_t *text, size_t length, int32_t *points, size_t capacity,
                             size_t *count, size_t *bad);

struct cleave__word {
    const int32_t *from, *to;
};
/* The next word of [*at, end); false: no more. Apostrophes in it are made one kind. */
bool cleave__words_next(int32_t **at, int32_t *end, struct cleave__word *word);

/* Blanks at both ends off, runs of them within one; the new count. */
size_t cleave__words_trim(int32_t *points, size_t count);

#endif
