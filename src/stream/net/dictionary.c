#include "stream/net/dictionary.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/nats/bucket.h"

enum { KEY_BYTES = 64 };

static void key_of(const struct cleave__dictionary *d, char key[KEY_BYTES])
{
    snprintf(key, KEY_BYTES, "%.40s.%" PRIu32, d->kind, d->chunk);
}

void cleave__dictionary_free(struct cleave__dictionary *d)
{
    json_decref(d->list);
    d->list = NULL;
}

static enum cleave_status odd(const struct cleave__dictionary *d, struct cleave_error *error)
{
    char key[KEY_BYTES];
    key_of(d, key);
    return cleave_error_set(error, CLEAVE_CORRUPT, "the world's key %s is no list of words", key);
}

static void next_chunk(struct cleave__dictionary *d)
{
    d->first += json_array_size(d->list);
    json_decref(d->list);
    d->list = NULL;
    d->chunk++;
    d->revision = 0;
}

enum cleave_status
cleave__dictionary_read(struct cleave__dictionary *d,
                        enum cleave_status (*each)(void *context, const char *word, size_t length,
                                                   struct cleave_error *error),
                        void *context, struct cleave_error *error)
{
    for (;;) {
        char key[KEY_BYTES];
        struct cleave_writer text = {0};
        uint64_t revision;
        key_of(d, key);
        enum cleave_status status = cleave__bucket_get(d->bucket, key, &text, &revision, error);
        size_t length = text.count;
        json_t *list =
            status ? NULL : json_loadb((const char *)text.data, length, JSON_ALLOW_NUL, NULL);
        free(text.data);
        if (status)
            return status == CLEAVE_NOT_FOUND ? CLEAVE_OK : status;
        size_t count = json_array_size(list);
        if (!json_is_array(list) || d->first + count < d->known) {
            json_decref(list);
            return odd(d, error);
        }
        json_decref(d->list);
        d->list = list;
        d->revision = revision;
        while (d->known < d->first + count && !status) {
            const json_t *item = json_array_get(list, d->known - d->first);
            status = json_is_string(item)
                         ? each(context, json_string_value(item), json_string_length(item), error)
                         : odd(d, error);
            d->known += !status;
        }
        if (status)
            return status;
        if (length < d->full)
            return CLEAVE_OK;
        next_chunk(d);
    }
}

/* The last chunk as it is now. */
static enum cleave_status put(struct cleave__dictionary *d, const char *text,
                              struct cleave_error *error)
{
    char key[KEY_BYTES];
    uint64_t revision;
    key_of(d, key);
    enum cleave_status status =
        d->revision ? cleave__bucket_update(d->bucket, key, text, strlen(text), d->revision,
                                            &revision, error)
                    : cleave__bucket_create(d->bucket, key, text, strlen(text), &revision, error);
    if (!status)
        d->revision = revision;
    return status;
}

/* Exactly: of a word in a list, with quotes and comma. */
static size_t json_bytes(const char *word, size_t length)
{
    size_t bytes = length + 3;
    for (size_t i = 0; i < length; i++) {
        char c = word[i];
        bool brief =
            c == '"' || c == '\\' || c == '\b' || c == '\f' || c == '\n' || c == '\r' || c == '\t';
        bytes += brief ? 1 : (unsigned char)c < 0x20 ? 5 : 0;
    }
    return bytes;
}

enum cleave_status cleave__dictionary_add(struct cleave__dictionary *d, uint64_t count,
                                          const char *(*word)(void *context, uint64_t number,
                                                              size_t *length),
                                          void *context, struct cleave_error *error)
{
    while (d->known < count) {
        uint64_t number = d->known;
        size_t bytes = 1; /* of the text */
        json_t *list = d->list ? json_copy(d->list) : json_array();
        char *text = NULL;
        for (size_t i = 0; i < json_array_size(d->list); i++)
            bytes += json_bytes(json_string_value(json_array_get(d->list, i)),
                                json_string_length(json_array_get(d->list, i)));
        bool fine = list;
        while (fine && number < count && bytes < d->full) {
            size_t length;
            const char *next = word(context, number++, &length);
            fine = !json_array_append_new(list, json_stringn(next, length));
            bytes += json_bytes(next, length);
        }
        text = fine ? json_dumps(list, JSON_COMPACT) : NULL;
        enum cleave_status status =
            text ? put(d, text, error)
                 : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for words");
        if (status) {
            json_decref(list);
            free(text);
            return status;
        }
        json_decref(d->list);
        d->list = list;
        d->known = number;
        if (strlen(text) >= d->full)
            next_chunk(d);
        free(text);
    }
    return CLEAVE_OK;
}
