/* Words that all publishers of a world number alike: terms of queries and
 * objects, names of fields.
 *
 * They stand in the world's bucket in chunks, `terms.0`, `terms.1`, ...: JSON
 * lists, whose items in order are words 0, 1, ... A publisher adds words to the
 * last chunk by compare-and-set on its revision; whose words another has been
 * faster with takes the other's numbers. So a word has one number for ever,
 * whoever asks. Nothing is ever removed. */
#ifndef CLEAVE_STREAM_NET_DICTIONARY_H
#define CLEAVE_STREAM_NET_DICTIONARY_H

#include <stddef.h>
#include <stdint.h>

#include "cleave/status.h"

struct cleave__bucket;
struct json_t;

/* A chunk's text has `full` bytes at most but for its last word, so twice that
 * if no word has more than cleave__dictionary_word_most. */
static inline size_t cleave__dictionary_word_most(size_t full)
{
    return full / 6 - 1; /* six bytes for one: \u0001 */
}

/* Starts as all zeroes but for its first three, which are borrowed. */
struct cleave__dictionary {
    struct cleave__bucket *bucket;
    const char *kind;    /* "terms" */
    size_t full;         /* the same for all: a chunk whose text is as long has no more room */
    uint64_t known;      /* words that are there, as far as was read or written */
    uint32_t chunk;      /* the last one, */
    uint64_t revision;   /* of it; 0: not there */
    uint64_t first;      /* its first word's number */
    struct json_t *list; /* what it has, or NULL */
};

void cleave__dictionary_free(struct cleave__dictionary *dictionary);
/* Calls `each` for every word that was not read yet, in order of their numbers,
 * from `known` on. */
enum cleave_status
cleave__dictionary_read(struct cleave__dictionary *dictionary,
                        enum cleave_status (*each)(void *context, const char *word, size_t length,
                                                   struct cleave_error *error),
                        void *context, struct cleave_error *error);
/* Words `known` to `count` - 1, as `word` gives them, are added.
 * CLEAVE_CONFLICT: somebody else has added some; then those are to be read
 * first. Some of the words may be there then, if there were many. */
enum cleave_status cleave__dictionary_add(struct cleave__dictionary *dictionary, uint64_t count,
                                          const char *(*word)(void *context, uint64_t number,
                                                              size_t *length),
                                          void *context, struct cleave_error *error);

#endif
