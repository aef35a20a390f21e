/* The dictionary at the edge of the system: words to terms (dense numbers 0, 1, 2, ...) and back.
 *
 * A word is known by its normal form, NFKC_Casefold of Unicode: compatible forms are one
 * (full-width, ligatures, superscripts), case is folded, what is invisible is dropped. So
 * "ＴＯＫＹＯ", "Tokyo" and "tokyo" are one term; "café" is one however its accent is written, and
 * is not "cafe".
 *
 * Words come in two ways. A *keyword* is taken whole: its ends are trimmed, each run of blanks
 * within is one blank ("new  york" is one term). *Text* is cut into words: letters, digits and
 * marks in a row, with apostrophes between letters ("don't"); all else parts. Scripts that put no
 * blanks between words (Han, kana, Thai, Lao, Khmer, Myanmar) give every two neighbouring letters
 * as a word, and a letter that stands alone itself: so the text of a query finds the same letters
 * within a longer run.
 *
 * A query's words are added; an object's are only looked up, for a word that no query has matters
 * to none: so the dictionary grows by queries alone. One thread at a time. */
#ifndef CLEAVE_STREAM_TERMS_H
#define CLEAVE_STREAM_TERMS_H

#include "base/intern.h"
#include "base/vector.h"
#include "cleave/status.h"
#include "stream/query/object.h"

/* Starts as all zeroes. Invariant: `uses` has an item for every word. */
struct cleave__terms {
    struct cleave_intern words; /* in normal form */
    CLEAVE_VECTOR(uint64_t) uses;
    size_t
        word_most; /* bytes that a word to be added has at most: longer is CLEAVE_LIMIT; 0: any */
    /* Of the call at work. */
    CLEAVE_VECTOR(int32_t) points;
    CLEAVE_VECTOR(uint8_t) bytes;
};

/* Starts as all zeroes; free with CLEAVE_VECTOR_FREE(&list.items). */
struct cleave__term_list {
    CLEAVE_VECTOR(uint32_t) items;
    uint64_t words, unknown; /* given so far; of them not in the dictionary, when not adding */
};

void cleave__terms_free(struct cleave__terms *terms);
/* Appends the terms of words, in their order, each as often as it comes. `add`: unknown words
 * become terms; else they are counted only. CLEAVE_BAD_INPUT: not UTF-8, says at which byte; the
 * list may then have some of them. O(bytes). */
enum cleave_status cleave__terms_text(struct cleave__terms *terms, const char *text, size_t length,
                                      bool add, struct cleave__term_list *list,
                                      struct cleave_error *error);
/* The same of one keyword; nothing of one that is blank. */
enum cleave_status cleave__terms_keyword(struct cleave__terms *terms, const char *text,
                                         size_t length, bool add, struct cleave__term_list *list,
                                         struct cleave_error *error);
/* Sorts, keeps each once; CLEAVE_LIMIT when more than CLEAVE__TERMS_MOST (object.h) are left.
 * Counts a use of each if `terms` is not NULL. */
enum cleave_status cleave__term_list_settle(struct cleave__term_list *list,
                                            struct cleave__terms *terms,
                                            struct cleave_error *error);
/* Takes back the words that were added since cleave__intern_mark(&terms->words). */
void cleave__terms_rewind(struct cleave__terms *terms, struct cleave_intern_mark mark);
void cleave__term_list_clear(struct cleave__term_list *list);

/* In normal form, NUL-terminated; valid for the dictionary's life. */
const char *cleave__terms_word(const struct cleave__terms *terms, uint32_t term, size_t *length);
/* Of a word in normal form; CLEAVE__NO_TERM if there is none. */
uint32_t cleave__terms_find(const struct cleave__terms *terms, const char *word, size_t length);
size_t cleave__terms_bytes(const struct cleave__terms *terms); /* of memory that it holds */
bool cleave__terms_check(const struct cleave__terms *terms);

#endif
