/* Words to terms. Normal forms by utf8proc, into buffers of our own; ASCII goes a short way that
 * gives the same. */
#include "stream/query/terms.h"

#include <string.h>
#include <utf8proc.h>

#include "stream/query/object.h"
#include "stream/query/words.h"

void cleave__terms_free(struct cleave__terms *terms)
{
    cleave__intern_free(&terms->words);
    CLEAVE_VECTOR_FREE(&terms->uses);
    CLEAVE_VECTOR_FREE(&terms->points);
    CLEAVE_VECTOR_FREE(&terms->bytes);
}

void cleave__terms_rewind(struct cleave__terms *terms, struct cleave_intern_mark mark)
{
    cleave__intern_rewind(&terms->words, mark);
    terms->uses.count = mark.count;
}

static enum cleave_status no_memory(struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for words");
}

/* The word in `bytes`. */
static enum cleave_status take(struct cleave__terms *terms, bool add,
                               struct cleave__term_list *list, struct cleave_error *error)
{
    const uint8_t *word = terms->bytes.data;
    size_t length = terms->bytes.count;
    list->words++;
    uint32_t term = cleave__intern_find(&terms->words, word, length);
    if (term == CLEAVE_INTERN_NONE && add) {
        if (terms->word_most && length > terms->word_most)
            return cleave_error_set(error, CLEAVE_LIMIT, "a word of %zu bytes: at most %zu", length,
                                    terms->word_most);
        if (!CLEAVE_RESERVE(&terms->uses, terms->uses.count + 1))
            return no_memory(error);
        term = cleave__intern_add(&terms->words, word, length);
        if (term == CLEAVE_INTERN_NONE)
            return no_memory(error);
        terms->uses.data[terms->uses.count++] = 0;
    }
    if (term == CLEAVE_INTERN_NONE)
        list->unknown++;
    else if (!CLEAVE_PUSH(&list->items, term))
        return no_memory(error);
    return CLEAVE_OK;
}

/* Encodes the points [from, to) as the word. */
static bool encode(struct cleave__terms *terms, const int32_t *from, const int32_t *to)
{
    terms->bytes.count = 0;
    if (!CLEAVE_RESERVE(&terms->bytes, (size_t)(to - from) * 4 + 1))
        return false;
    for (; from < to; from++)
        terms->bytes.count +=
            (size_t)utf8proc_encode_char(*from, terms->bytes.data + terms->bytes.count);
    return true;
}

static enum cleave_status take_points(struct cleave__terms *terms, const int32_t *from,
                                      const int32_t *to, bool add, struct cleave__term_list *list,
                                      struct cleave_error *error)
{
    return encode(terms, from, to) ? take(terms, add, list, error) : no_memory(error);
}

/* The normal form of the text, into `points`. */
static enum cleave_status normalise(struct cleave__terms *terms, const char *text, size_t length,
                                    struct cleave_error *error)
{
    const uint8_t *bytes = (const uint8_t *)text;
    size_t bad, count = 0;
    terms->points.count = 0;
    do {
        if (!CLEAVE_RESERVE(&terms->points, count))
            return no_memory(error);
        if (!cleave__words_normalise(bytes, length, terms->points.data, terms->points.capacity,
                                     &count, &bad))
            return cleave_error_set(error, CLEAVE_BAD_INPUT,
                                    "byte %zu of the text, 0x%02x, is not UTF-8; convert it first",
                                    bad + 1, bytes[bad]);
    } while (count > terms->points.capacity);
    terms->points.count = count;
    return CLEAVE_OK;
}

static bool is_ascii(const char *text, size_t length)
{
    unsigned char all = 0;
    for (size_t i = 0; i < length; i++)
        all |= (unsigned char)text[i];
    return all < 0x80;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
static bool in_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}
static uint8_t lower(char c)
{
    return (uint8_t)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}
static bool is_gap(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static enum cleave_status ascii_text(struct cleave__terms *terms, const char *text, size_t length,
                                     bool add, struct cleave__term_list *list,
                                     struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    if (!CLEAVE_RESERVE(&terms->bytes, length + 1))
        return no_memory(error);
    for (size_t i = 0; i < length && !status;) {
        if (!in_word(text[i])) {
            i++;
            continue;
        }
        terms->bytes.count = 0;
        while (i < length && (in_word(text[i]) || (text[i] == '\'' && is_letter(text[i - 1]) &&
                                                   i + 1 < length && is_letter(text[i + 1]))))
            terms->bytes.data[terms->bytes.count++] = lower(text[i++]);
        status = take(terms, add, list, error);
    }
    return status;
}

enum cleave_status cleave__terms_text(struct cleave__terms *terms, const char *text, size_t length,
                                      bool add, struct cleave__term_list *list,
                                      struct cleave_error *error)
{
    if (is_ascii(text, length))
        return ascii_text(terms, text, length, add, list, error);
    enum cleave_status status = normalise(terms, text, length, error);
    if (status || terms->points.count == 0)
        return status;
    int32_t *at = terms->points.data, *end = at + terms->points.count;
    struct cleave__word word;
    while (!status && cleave__words_next(&at, end, &word))
        status = take_points(terms, word.from, word.to, add, list, error);
    return status;
}

enum cleave_status cleave__terms_keyword(struct cleave__terms *terms, const char *text,
                                         size_t length, bool add, struct cleave__term_list *list,
                                         struct cleave_error *error)
{
    if (is_ascii(text, length)) {
        terms->bytes.count = 0;
        if (!CLEAVE_RESERVE(&terms->bytes, length + 1))
            return no_memory(error);
        for (size_t i = 0; i < length; i++) {
            if (!is_gap(text[i]))
                terms->bytes.data[terms->bytes.count++] = lower(text[i]);
            else if (terms->bytes.count && terms->bytes.data[terms->bytes.count - 1] != ' ')
                terms->bytes.data[terms->bytes.count++] = ' ';
        }
        if (terms->bytes.count && terms->bytes.data[terms->bytes.count - 1] == ' ')
            terms->bytes.count--;
        return terms->bytes.count ? take(terms, add, list, error) : CLEAVE_OK;
    }
    enum cleave_status status = normalise(terms, text, length, error);
    if (status)
        return status;
    terms->points.count = cleave__words_trim(terms->points.data, terms->points.count);
    if (terms->points.count == 0)
        return CLEAVE_OK;
    return take_points(terms, terms->points.data, terms->points.data + terms->points.count, add,
                       list, error);
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

enum cleave_status cleave__term_list_settle(struct cleave__term_list *list,
                                            struct cleave__terms *terms, struct cleave_error *error)
{
    uint32_t *items = list->items.data;
    size_t kept = 0;
    if (list->items.count > 1)
        qsort(items, list->items.count, sizeof *items, compare);
    for (size_t i = 0; i < list->items.count; i++) {
        if (kept == 0 || items[kept - 1] != items[i])
            items[kept++] = items[i];
    }
    list->items.count = kept;
    if (kept > CLEAVE__TERMS_MOST)
        return cleave_error_set(error, CLEAVE_LIMIT, "more than %d different words",
                                CLEAVE__TERMS_MOST);
    for (size_t i = 0; terms && i < kept; i++)
        terms->uses.data[items[i]]++;
    return CLEAVE_OK;
}

void cleave__term_list_clear(struct cleave__term_list *list)
{
    list->items.count = 0;
    list->words = list->unknown = 0;
}

const char *cleave__terms_word(const struct cleave__terms *terms, uint32_t term, size_t *length)
{
    *length = terms->words.entries[term].length;
    return terms->words.entries[term].bytes;
}

uint32_t cleave__terms_find(const struct cleave__terms *terms, const char *word, size_t length)
{
    uint32_t term = cleave__intern_find(&terms->words, word, length);
    return term == CLEAVE_INTERN_NONE ? CLEAVE__NO_TERM : term;
}

size_t cleave__terms_bytes(const struct cleave__terms *terms)
{
    const struct cleave_intern *words = &terms->words;
    return words->arena.reserved + words->capacity * sizeof *words->entries +
           (words->slots ? ((size_t)words->slot_mask + 1) * sizeof *words->slots : 0) +
           terms->uses.capacity * sizeof *terms->uses.data +
           terms->points.capacity * sizeof *terms->points.data + terms->bytes.capacity;
}

bool cleave__terms_check(const struct cleave__terms *terms)
{
    if (terms->uses.count != terms->words.count)
        return false;
    for (uint32_t term = 0; term < terms->words.count; term++) {
        const struct cleave_intern_entry *word = &terms->words.entries[term];
        if (word->length == 0 || cleave__terms_find(terms, word->bytes, word->length) != term)
            return false;
    }
    return true;
}
