#include "cli/stream_feed.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/clock.h"
#include "stream/net/subscribe.h"

/* ---- words that all publishers number alike ---- */

static enum cleave_status no_memory(struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for words");
}

static enum cleave_status add_term(void *context, const char *word, size_t length,
                                   struct cleave_error *error)
{
    struct cleave__terms *terms = context;
    struct cleave__term_list list = {0};
    uint32_t number = terms->words.count;
    enum cleave_status status = cleave__terms_keyword(terms, word, length, true, &list, error);
    if (!status && (list.items.count != 1 || list.items.data[0] != number))
        status = cleave_error_set(error, CLEAVE_CORRUPT,
                                  "the world's words are not as this version of cleave has them: "
                                  "'%.60s' is there twice",
                                  word);
    CLEAVE_VECTOR_FREE(&list.items);
    return status;
}

static enum cleave_status add_field(void *context, const char *word, size_t length,
                                    struct cleave_error *error)
{
    return cleave__intern_add(context, word, length) == CLEAVE_INTERN_NONE ? no_memory(error)
                                                                           : CLEAVE_OK;
}

static const char *term_of(void *context, uint64_t number, size_t *length)
{
    return cleave__terms_word(context, (uint32_t)number, length);
}

static const char *field_of(void *context, uint64_t number, size_t *length)
{
    const struct cleave_intern *fields = context;
    *length = fields->entries[number].length;
    return fields->entries[number].bytes;
}

static int rising(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Another publisher has given numbers that we have given, too: its words first,
 * then ours; `map` [count before] says what became of each number. */
static enum cleave_status renumber(struct cleave_stream_feed *f, uint32_t **map,
                                   struct cleave_error *error)
{
    struct cleave__terms *old = &f->loaded.terms, fresh = {0};
    uint32_t count = old->words.count, known = (uint32_t)f->words.known;
    size_t length;
    *map = malloc((count + 1) * sizeof **map);
    enum cleave_status status = *map ? CLEAVE_OK : no_memory(error);
    for (uint32_t i = 0; i < known && !status; i++) {
        const char *word = cleave__terms_word(old, i, &length);
        status = add_term(&fresh, word, length, error);
        (*map)[i] = i;
    }
    if (!status)
        status = cleave__dictionary_read(&f->words, add_term, &fresh, error);
    for (uint32_t i = known; i < count && !status; i++) {
        struct cleave__term_list list = {0};
        const char *word = cleave__terms_word(old, i, &length);
        status = cleave__terms_keyword(&fresh, word, length, true, &list, error);
        if (!status)
            (*map)[i] = list.items.data[0];
        CLEAVE_VECTOR_FREE(&list.items);
    }
    if (status) {
        cleave__terms_free(&fresh);
        return status;
    }
    fresh.word_most = old->word_most;
    cleave__terms_free(old);
    *old = fresh;
    return CLEAVE_OK;
}

/* Has all words numbered. If numbers changed on the way, *map says how (else
 * NULL); the caller frees. */
static enum cleave_status settle_words(struct cleave_stream_feed *f, uint32_t **map,
                                       struct cleave_error *error)
{
    struct cleave__terms *terms = &f->loaded.terms;
    uint32_t count = terms->words.count;
    *map = NULL;
    for (;;) {
        enum cleave_status status =
            cleave__dictionary_add(&f->words, terms->words.count, term_of, terms, error);
        if (status != CLEAVE_CONFLICT)
            return status;
        uint32_t *more;
        status = renumber(f, &more, error);
        for (uint32_t i = 0; i < count && !status && *map; i++)
            (*map)[i] = more[(*map)[i]];
        if (!*map)
            *map = more;
        else
            free(more);
        if (status)
            return status;
    }
}

static void rename_terms(uint32_t *terms, uint32_t count, const uint32_t *map)
{
    for (uint32_t i = 0; i < count; i++)
        terms[i] = map[terms[i]];
    if (count)
        qsort(terms, count, sizeof *terms, rising);
}

/* ---- queries ---- */

/* A query's number in the world: a whole number is itself, other text a hash of
 * 62 bits. */
static uint64_t query_number(const char *id, size_t length)
{
    uint64_t number = cleave__thing_number(id, length);
    return number >> 63 ? (XXH3_64bits(id, length) >> 2) | UINT64_C(1) << 62 : number;
}

/* The file's queries, with the world's numbers. */
static enum cleave_status renumber_queries(struct cleave_stream_feed *f, const uint32_t *map,
                                           struct cleave_error *error)
{
    struct cleave_reader reader = {f->loaded.bytes.data,
                                   f->loaded.bytes.data + f->loaded.bytes.count, false};
    struct cleave_writer out = {0};
    struct cleave_arena arena = {0};
    enum cleave_status status = CLEAVE_OK;
    while (cleave__left(&reader) && !status) {
        struct cleave__query query;
        bool short_of_memory;
        size_t length;
        struct cleave_arena_mark mark = cleave__arena_mark(&arena);
        if (!cleave__query_read(&reader, &arena, &query, &short_of_memory)) {
            status = no_memory(error);
            break;
        }
        const char *id = cleave__queries_id(f->loaded.reader, query.id, &length);
        if (query.events & CLEAVE__EVENT_EXPIRE)
            status = cleave_error_set(error, CLEAVE_UNSUPPORTED,
                                      "query '%.80s' wants expire: on NATS match, enter and exit "
                                      "are told; see `cleave stream match`",
                                      id);
        else if (query.events & ~(uint32_t)CLEAVE__EVENT_MATCH && !f->session->world.track)
            status = cleave_error_set(error, CLEAVE_UNSUPPORTED,
                                      "query '%.80s' wants enter or exit: world '%s' tracks "
                                      "nothing; its balancer must make it with --track",
                                      id, f->session->nats.prefix);
        query.id = query_number(id, length);
        if (map)
            rename_terms((uint32_t *)(uintptr_t)query.terms, query.term_count, map);
        cleave__query_write(&query, &out);
        cleave__arena_rewind(&arena, mark);
    }
    cleave__arena_free(&arena);
    if (!status && out.failed)
        status = no_memory(error);
    free(f->loaded.bytes.data);
    f->loaded.bytes = out;
    return status;
}

static enum cleave_status take_standing(void *context, uint64_t sequence, const char *subject,
                                        const char *content, size_t length,
                                        struct cleave_error *error)
{
    struct cleave_stream_feed *f = context;
    uint64_t id = strtoull(subject, NULL, 10);
    json_t *root = json_loadb(content, length, 0, NULL);
    bool fine = true;
    (void)sequence;
    if (json_object_get(root, "name"))
        fine = cleave__map_put(&f->standing, id) != NULL;
    else
        cleave__map_remove(&f->standing, id);
    json_decref(root);
    return fine ? CLEAVE_OK : no_memory(error);
}

/* What is there already, of all publishers. */
static enum cleave_status find_standing(struct cleave_stream_feed *f, struct cleave_error *error)
{
    struct cleave__net_following following = {.nats = &f->session->nats,
                                              .log = CLEAVE__NET_QUERIES,
                                              .from = 1,
                                              .until_end = true,
                                              .progress = f->progress,
                                              .each = take_standing,
                                              .context = f};
    return cleave__net_follow(&following, error);
}

/* The next query that ends: all of the file, or those that stand. False: no more. */
static bool next_ending(struct cleave_stream_feed *f, struct cleave_arena *arena,
                        struct cleave__query *out)
{
    while (cleave__left(&f->ending)) {
        struct cleave__query query;
        bool short_of_memory;
        if (!cleave__query_read(&f->ending, arena, &query, &short_of_memory))
            return false;
        if (!f->remove && !cleave__map_find(&f->standing, query.id))
            continue;
        *out = (struct cleave__query){.id = query.id,
                                      .end_ms = CLEAVE__NEVER,
                                      .region = cleave__region_everywhere(&f->session->world.space),
                                      .predicate = CLEAVE__CONTAINS,
                                      .events = CLEAVE__EVENT_MATCH};
        return true;
    }
    return false;
}

static enum cleave_status name_queries(struct cleave_stream_feed *f, struct cleave_error *error)
{
    struct cleave__net_names *names;
    enum cleave_status status = cleave__net_names_open(f->session, &names, error);
    for (uint64_t i = 1; i <= f->loaded.count && !status; i++) {
        size_t length;
        const char *id = cleave__queries_id(f->loaded.reader, i, &length);
        status = cleave__net_names_put(names, query_number(id, length), f->remove ? NULL : id,
                                       length, error);
    }
    enum cleave_status ended = cleave__net_names_close(names, status ? NULL : error);
    return status ? status : ended;
}

enum cleave_status cleave__stream_feed_open(struct cleave_stream_feed *f,
                                            struct cleave_error *error)
{
    f->number = f->seat.base;
    if (f->made)
        return cleave__stream_generator_new(f->made, &f->generator, error);
    size_t full = f->session->world.word_bytes;
    f->words =
        (struct cleave__dictionary){.bucket = f->session->bucket, .kind = "terms", .full = full};
    f->names =
        (struct cleave__dictionary){.bucket = f->session->bucket, .kind = "fields", .full = full};
    enum cleave_status status =
        cleave__dictionary_read(&f->words, add_term, &f->loaded.terms, error);
    if (!status)
        status = cleave__dictionary_read(&f->names, add_field, &f->loaded.fields, error);
    f->loaded.terms.word_most = cleave__dictionary_word_most(full);
    if (!status && f->files->queries) {
        uint32_t *map = NULL, fields = f->loaded.fields.count;
        status =
            cleave__stream_load(f->files, &f->session->world.space, f->progress, &f->loaded, error);
        if (!status && f->loaded.fields.count > fields)
            status = cleave__dictionary_add(&f->names, f->loaded.fields.count, field_of,
                                            &f->loaded.fields, error);
        if (status == CLEAVE_CONFLICT)
            cleave_error_set(error, CLEAVE_CONFLICT,
                             "another publisher named fields at the same moment; start again");
        if (!status)
            status = settle_words(f, &map, error);
        if (!status)
            status = renumber_queries(f, map, error);
        free(map);
        if (!status && !f->remove)
            status = find_standing(f, error);
        if (!status)
            status = name_queries(f, error);
        f->queries = (struct cleave_reader){f->loaded.bytes.data,
                                            f->loaded.bytes.data + f->loaded.bytes.count, false};
        f->ending = f->queries;
    }
    if (status || !f->files->objects)
        return status;
    struct cleave__objects_options options = {.rows = {.path = f->files->objects,
                                                       .format = f->files->objects_format,
                                                       .header = f->files->header,
                                                       .stop = f->progress},
                                              .columns = f->files->columns,
                                              .space = &f->session->world.space,
                                              .terms = &f->loaded.terms,
                                              .add = true,
                                              .fields = &f->loaded.fields};
    status = cleave__objects_open(&options, &f->objects, error);
    if (!status)
        status = cleave__row_fields_name(&f->shown, f->fields, error);
    if (!status)
        status = cleave__row_fields_bind(&f->shown, cleave__objects_rows(f->objects), error);
    return status;
}

void cleave__stream_feed_close(struct cleave_stream_feed *f)
{
    cleave__dictionary_free(&f->words);
    cleave__dictionary_free(&f->names);
    cleave__map_free(&f->standing);
    cleave__objects_close(f->objects);
    cleave__stream_loaded_free(&f->loaded);
    cleave__stream_generator_free(f->generator);
    cleave__arena_free(&f->arena);
    free(f->note.data);
}

/* ---- objects ---- */

/* The row at hand goes along, and the stream's clock does not go back. */
static enum cleave_status dress(struct cleave_stream_feed *f, struct cleave__object *object,
                                struct cleave_error *error)
{
    object->time_ms = f->arrival ? cleave__wall_ms() : object->time_ms;
    f->clock_ms = object->time_ms > f->clock_ms ? object->time_ms : f->clock_ms;
    object->time_ms = f->clock_ms;
    object->number = ++f->number;
    f->note.count = 0;
    cleave__row_write(&f->shown, cleave__objects_rows(f->objects), true, &f->note);
    size_t most = cleave__net_note_most(f->session);
    if (f->note.count > most)
        return cleave__rows_fail(cleave__objects_rows(f->objects), error,
                                 "a row of %zu bytes: at most %zu go along; choose some columns by "
                                 "--fields",
                                 f->note.count, most);
    object->note =
        (const uint8_t *)cleave__arena_copy(&f->arena, (const char *)f->note.data, f->note.count);
    object->note_length = (uint32_t)f->note.count;
    return f->note.failed || !object->note ? no_memory(error) : CLEAVE_OK;
}

/* As many rows as are at hand, at least one. */
static enum cleave_status refill(struct cleave_stream_feed *f, struct cleave_error *error)
{
    struct cleave__rows *rows = cleave__objects_rows(f->objects);
    uint32_t *map;
    cleave__arena_rewind(&f->arena, (struct cleave_arena_mark){0});
    f->count = f->at = 0;
    while (f->count < CLEAVE_FEED_BATCH && (!f->count || cleave__rows_ready(rows))) {
        struct cleave__object *object = &f->batch[f->count];
        struct cleave_intern_mark words = cleave__intern_mark(&f->loaded.terms.words);
        enum cleave_status status = cleave__objects_next(f->objects, &f->arena, object, error);
        if (!status)
            status = dress(f, object, error);
        if (status == CLEAVE_END) {
            f->ended = true;
            break;
        }
        if (status && status != CLEAVE_END)
            cleave__terms_rewind(&f->loaded.terms, words);
        if ((status == CLEAVE_BAD_INPUT || status == CLEAVE_LIMIT) && f->files->skip_bad)
            continue;
        if (status) {
            f->later = status;
            f->later_error = *error;
            f->ended = true;
            break;
        }
        f->count++;
    }
    enum cleave_status status = settle_words(f, &map, error);
    for (uint32_t i = 0; i < f->count && !status && map; i++)
        rename_terms((uint32_t *)(uintptr_t)f->batch[i].terms, f->batch[i].term_count, map);
    free(map);
    return status;
}

static void next_made(struct cleave_stream_feed *f, struct cleave__feed_item *out)
{
    if (f->made_queries) {
        f->made_queries--;
        out->kind = f->remove ? CLEAVE__FEED_REMOVE : CLEAVE__FEED_STORE;
        cleave__stream_next_query(f->generator, 0, &out->query);
    } else if (!f->waited) {
        f->waited = true;
        out->kind = CLEAVE__FEED_WAIT;
    } else if (f->made_objects) {
        f->made_objects--;
        out->kind = CLEAVE__FEED_OBJECT;
        cleave__stream_next_object(f->generator, &out->object);
        out->object.number += f->seat.base;
    } else {
        out->kind = CLEAVE__FEED_END;
    }
}

static enum cleave_status may_count(void *context, struct cleave_error *error)
{
    const struct cleave_stream_feed *f = context;
    return cleave__net_seat_check(f->hold, f->progress, error);
}

static enum cleave_status next(void *context, struct cleave_arena *arena,
                               struct cleave__feed_item *out, struct cleave_error *error)
{
    struct cleave_stream_feed *f = context;
    if (f->progress && f->progress->stop && *f->progress->stop)
        return cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
    enum cleave_status held = may_count(f, error);
    if (held)
        return held;
    if (f->made) {
        next_made(f, out);
        return CLEAVE_OK;
    }
    if (next_ending(f, arena, &out->query)) {
        out->kind = CLEAVE__FEED_REMOVE;
        return CLEAVE_OK;
    }
    if (!f->ended_first) {
        f->ended_first = true;
        out->kind = CLEAVE__FEED_WAIT;
        return CLEAVE_OK;
    }
    if (cleave__left(&f->queries) && !f->remove) {
        bool short_of_memory;
        out->kind = CLEAVE__FEED_STORE;
        return cleave__query_read(&f->queries, arena, &out->query, &short_of_memory)
                   ? CLEAVE_OK
                   : no_memory(error);
    }
    if (!f->waited) {
        f->waited = true;
        out->kind = CLEAVE__FEED_WAIT;
        return CLEAVE_OK;
    }
    if (f->at == f->count && f->objects && !f->ended) {
        /* Before it waits for more, what there is goes out and is acknowledged. */
        if (!f->rested && !cleave__rows_ready(cleave__objects_rows(f->objects))) {
            f->rested = true;
            out->kind = CLEAVE__FEED_WAIT;
            return CLEAVE_OK;
        }
        f->rested = false;
        enum cleave_status status = refill(f, error);
        if (status)
            return status;
    }
    if (f->at == f->count && f->later) { /* what came before a fault was sent first */
        if (f->rested) {
            *error = f->later_error;
            return f->later;
        }
        f->rested = true;
        out->kind = CLEAVE__FEED_WAIT;
        return CLEAVE_OK;
    }
    out->kind = f->at < f->count ? CLEAVE__FEED_OBJECT : CLEAVE__FEED_END;
    if (f->at < f->count)
        out->object = f->batch[f->at++];
    return CLEAVE_OK;
}

const struct cleave__feed_ops cleave__stream_feed_ops = {.next = next, .may_count = may_count};
