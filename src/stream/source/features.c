/* GeoJSON as it comes: finds where each Feature begins and ends, in a collection of any length or
 * one after the other, and parses that piece alone.
 *
 * Braces are counted outside of strings. Where the first Feature ends on its own first line each
 * line is taken to hold one (GeoJSONSeq), so that a broken one costs its line and no more. */
#include <string.h>

#include "stream/source/rows_inside.h"

/* One pass over an object, each byte once however often more are added. */
struct scan {
    size_t at; /* bytes looked at, from the object's first */
    uint64_t lines;
    unsigned depth;
    bool string, escape;
    size_t key; /* of the string that ended last, its first byte, at depth 1 */
    size_t key_size;
    bool colon; /* nothing but a colon since that string */
    enum { SCAN_MORE, SCAN_DONE, SCAN_FEATURES, SCAN_LINE } result;
};

static void step(struct scan *s, const char *bytes, char c)
{
    if (s->string) {
        if (s->escape)
            s->escape = false;
        else if (c == '\\')
            s->escape = true;
        else if (c == '"') {
            s->string = false;
            s->key_size = s->at - s->key;
        }
        return;
    }
    switch (c) {
    case '"':
        s->string = true;
        s->colon = false;
        s->key = s->at + 1;
        break;
    case ':':
        s->colon = true;
        break;
    case '{':
    case '[':
        if (c == '[' && s->depth == 1 && s->colon && s->key_size == 8 &&
            !memcmp(bytes + s->key, "features", 8))
            s->result = SCAN_FEATURES;
        s->depth++;
        s->colon = false;
        break;
    case '}':
    case ']':
        s->colon = false;
        if (--s->depth == 0)
            s->result = SCAN_DONE;
        break;
    case ' ':
    case '\t':
    case '\r':
    case '\n':
        break;
    default:
        s->colon = false;
    }
}

/* From chunk.at, the object's first byte, until something is found. */
static enum cleave_status run(struct cleave__rows *rows, struct scan *s, bool by_line,
                              struct cleave_error *error)
{
    struct cleave__chunk *chunk = &rows->chunk;
    for (;;) {
        size_t held = chunk->end - chunk->at;
        const char *bytes = chunk->data + chunk->at;
        for (; s->at < held; s->at++) {
            char c = bytes[s->at];
            if (c == '\n' && by_line) {
                s->result = SCAN_LINE;
                return CLEAVE_OK;
            }
            s->lines += c == '\n';
            step(s, bytes, c);
            if (s->result != SCAN_MORE) {
                s->at++;
                return CLEAVE_OK;
            }
        }
        if (chunk->ended)
            return cleave_error_set(error, CLEAVE_CORRUPT,
                                    "%.150s:%llu: the file ends within this object (truncated?)",
                                    rows->path, (unsigned long long)rows->line);
        enum cleave_status status = cleave__chunk_fill(chunk, CLEAVE__FEATURE_MOST, error);
        if (status == CLEAVE_LIMIT)
            return cleave_error_set(error, CLEAVE_UNSUPPORTED,
                                    "%.150s:%llu: an object of more than %d bytes", rows->path,
                                    (unsigned long long)rows->line, CLEAVE__FEATURE_MOST);
        if (status)
            return status;
    }
}

/* The next byte that is no blank and no comma, at chunk.at; CLEAVE_END. */
static enum cleave_status skip(struct cleave__rows *rows, struct cleave_error *error)
{
    struct cleave__chunk *chunk = &rows->chunk;
    for (;;) {
        for (; chunk->at < chunk->end; chunk->at++) {
            char c = chunk->data[chunk->at];
            rows->next_line += c == '\n';
            if (c != ' ' && c != '\t' && c != '\r' && c != '\n' && c != 0x1e &&
                !(c == ',' && rows->place != CLEAVE__SCAN_TOP))
                return CLEAVE_OK;
        }
        if (chunk->ended)
            return CLEAVE_END;
        enum cleave_status status = cleave__chunk_fill(chunk, SIZE_MAX, error);
        if (status)
            return status;
    }
}

static enum cleave_status strange(struct cleave__rows *rows, const char *wanted,
                                  struct cleave_error *error)
{
    struct cleave__chunk *chunk = &rows->chunk;
    rows->line = rows->next_line;
    unsigned char found = (unsigned char)chunk->data[chunk->at];
    enum cleave_status status = cleave__rows_fail(
        rows, error,
        found < ' ' || found > '~' ? "byte 0x%02x where %s should be" : "'%c' where %s should be",
        found, wanted);
    if (!rows->by_line)
        return error ? error->status = CLEAVE_CORRUPT : CLEAVE_CORRUPT;
    enum cleave_status skipped = cleave__chunk_skip_line(chunk, NULL);
    rows->next = chunk->at;
    rows->next_line++;
    return skipped ? skipped : status;
}

/* Behind the features: the rest of the collection is passed over. */
static enum cleave_status pass_tail(struct cleave__rows *rows, struct cleave_error *error)
{
    struct scan s = {.depth = 1};
    rows->line = rows->next_line;
    struct cleave__chunk *chunk = &rows->chunk;
    while (s.result == SCAN_MORE) {
        enum cleave_status status = run(rows, &s, false, error);
        if (status)
            return status;
        if (s.result == SCAN_FEATURES) { /* a second list under the same name */
            rows->place = CLEAVE__SCAN_FEATURES;
            chunk->at += s.at;
            rows->next_line += s.lines;
            return CLEAVE_OK;
        }
    }
    chunk->at += s.at;
    rows->next_line += s.lines;
    rows->place = CLEAVE__SCAN_TOP;
    return CLEAVE_OK;
}

enum cleave_status cleave__features_next(struct cleave__rows *rows, struct cleave_error *error)
{
    struct cleave__chunk *chunk = &rows->chunk;
    enum cleave_status status;
    chunk->at = rows->next;
    for (;;) {
        status = skip(rows, error);
        rows->next = chunk->at;
        if (status == CLEAVE_END && rows->place != CLEAVE__SCAN_TOP) {
            rows->line = rows->next_line;
            return cleave_error_set(error, CLEAVE_CORRUPT,
                                    "%.150s:%llu: the collection does not end (truncated?)",
                                    rows->path, (unsigned long long)rows->line);
        }
        if (status)
            return status;
        char c = chunk->data[chunk->at];
        if (rows->place == CLEAVE__SCAN_FEATURES && c == ']') {
            chunk->at++;
            status = pass_tail(rows, error);
            rows->next = chunk->at;
            if (status)
                return status;
            continue;
        }
        if (c != '{')
            return strange(rows, "a Feature", error);
        rows->line = rows->next_line;
        struct scan s = {0};
        status = run(rows, &s, rows->by_line, error);
        rows->next = chunk->at + s.at;
        rows->next_line += s.lines;
        if (status)
            return status;
        if (s.result == SCAN_LINE)
            return cleave__rows_fail(rows, error, "the object does not end on its line");
        if (s.result == SCAN_FEATURES && rows->place == CLEAVE__SCAN_TOP) {
            chunk->at = rows->next;
            rows->place = CLEAVE__SCAN_FEATURES;
            rows->known = true;
            continue;
        }
        /* A Feature with a member "features" is read to its end. */
        while (s.result == SCAN_FEATURES && !status) {
            s.result = SCAN_MORE;
            uint64_t before = s.lines;
            status = run(rows, &s, rows->by_line, error);
            rows->next = chunk->at + s.at;
            rows->next_line += s.lines - before;
        }
        if (status)
            return status;
        if (!rows->known) {
            rows->by_line = s.lines == 0;
            rows->known = true;
        }
        rows->raw = (struct cleave__slice){chunk->data + chunk->at, s.at};
        status = cleave__rows_json_parse(rows, rows->raw.text, rows->raw.length, error);
        return status ? status : cleave__rows_json_take(rows, error);
    }
}
