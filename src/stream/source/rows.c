/* Rows of any format: opening, guessing which it is, names to handles. */
#include "stream/source/rows.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "stream/source/rows_inside.h"

const char *const cleave__format_names[] = {"guess",   "csv",      "tsv", "ndjson",
                                            "geojson", "topojson", NULL};

enum cleave_status cleave__rows_fail(const struct cleave__rows *rows, struct cleave_error *error,
                                     const char *format, ...)
{
    char text[320];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return cleave_error_set(error, CLEAVE_BAD_INPUT, "%.140s:%" PRIu64 ": %s", rows->path,
                            rows->line, text);
}

enum cleave_status cleave__rows_next_line(struct cleave__rows *rows, size_t *length,
                                          struct cleave_error *error)
{
    struct cleave__chunk *chunk = &rows->chunk;
    chunk->at = rows->next;
    rows->line = rows->next_line;
    enum cleave_status status =
        cleave__chunk_line(chunk, CLEAVE__LINE_MOST, length, &rows->next, error);
    if (status == CLEAVE_LIMIT) {
        cleave__rows_fail(rows, error, "a line of more than %d bytes", CLEAVE__LINE_MOST);
        status = cleave__chunk_skip_line(chunk, NULL);
        rows->next = chunk->at;
        rows->next_line++;
        return status ? status : CLEAVE_LIMIT;
    }
    if (status)
        rows->next = chunk->at;
    return status;
}

static bool ends_in(const char *path, size_t length, const char *tail)
{
    size_t size = strlen(tail);
    return length > size && !strncasecmp(path + length - size, tail, size);
}

static enum cleave__format by_name(const char *path)
{
    static const char *const packed[] = {".gz", ".bz2", ".xz", ".zst"};
    static const struct {
        const char *tail;
        enum cleave__format format;
    } known[] = {
        {".csv", CLEAVE__FORMAT_CSV},           {".tsv", CLEAVE__FORMAT_TSV},
        {".tab", CLEAVE__FORMAT_TSV},           {".ndjson", CLEAVE__FORMAT_NDJSON},
        {".jsonl", CLEAVE__FORMAT_NDJSON},      {".geojson", CLEAVE__FORMAT_GEOJSON},
        {".geojsonl", CLEAVE__FORMAT_GEOJSON},  {".geojsons", CLEAVE__FORMAT_GEOJSON},
        {".topojson", CLEAVE__FORMAT_TOPOJSON},
    };
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        if (ends_in(path, length, packed[i])) {
            length -= strlen(packed[i]);
            break;
        }
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (ends_in(path, length, known[i].tail))
            return known[i].format;
    }
    return CLEAVE__FORMAT_GUESS;
}

static bool holds(const char *text, size_t length, const char *word)
{
    return text && memmem(text, length, word, strlen(word)) != NULL;
}

/* From the first line, or its first bytes. */
static enum cleave_status by_content(struct cleave__rows *rows, struct cleave_error *error)
{
    size_t length = 0, next;
    enum { LOOK = 4096 };
    enum cleave_status status = cleave__chunk_line(&rows->chunk, LOOK, &length, &next, error);
    if (status == CLEAVE_LIMIT)
        length = rows->chunk.end - rows->chunk.at;
    else if (status && status != CLEAVE_END)
        return status;
    const char *text = rows->chunk.data + rows->chunk.at, *end = text + length;
    while (text < end && (*text == ' ' || *text == '\t' || *text == 0x1e))
        text++;
    size_t left = (size_t)(end - text);
    rows->line = rows->next_line;
    if (left && *text == '[')
        return cleave__rows_fail(
            rows, error, "a JSON list; an object a line is wanted (jq -c '.[]' makes it so)");
    if (left && *text == '{') {
        /* A brace alone on its line is the beginning of something pretty-printed. */
        size_t more = rows->chunk.end - rows->chunk.at;
        const char *all = rows->chunk.data + rows->chunk.at;
        if (more > LOOK)
            more = LOOK;
        if (left == 1 || holds(text, left, "\"geometry\"") || holds(text, left, "\"Feature"))
            rows->format = CLEAVE__FORMAT_GEOJSON;
        else
            rows->format = CLEAVE__FORMAT_NDJSON;
        if (holds(all, more, "\"Topology\""))
            rows->format = CLEAVE__FORMAT_TOPOJSON;
    } else if (left && memchr(text, '\t', left)) {
        rows->format = CLEAVE__FORMAT_TSV;
    } else {
        rows->format = CLEAVE__FORMAT_CSV;
    }
    return CLEAVE_OK;
}

/* Lines before the first that is not blank. */
static enum cleave_status skip_blank(struct cleave__rows *rows, struct cleave_error *error)
{
    struct cleave__chunk *chunk = &rows->chunk;
    for (;;) {
        for (; chunk->at < chunk->end; chunk->at++) {
            char c = chunk->data[chunk->at];
            rows->next = chunk->at;
            if (c != '\n' && c != '\r')
                return CLEAVE_OK;
            rows->next_line += c == '\n';
        }
        rows->next = chunk->at;
        if (chunk->ended)
            return CLEAVE_END;
        enum cleave_status status = cleave__chunk_fill(chunk, SIZE_MAX, error);
        if (status)
            return status;
    }
}

static enum cleave_status start(struct cleave__rows *rows,
                                const struct cleave__rows_options *options,
                                struct cleave_error *error)
{
    enum cleave_status status =
        cleave__chunk_open(&rows->chunk, options->path, options->stop, error);
    if (status)
        return status;
    rows->path = rows->chunk.path;
    rows->format = options->format ? options->format : by_name(options->path);
    while (!status && rows->chunk.end - rows->chunk.at < 3 && !rows->chunk.ended)
        status = cleave__chunk_fill(&rows->chunk, SIZE_MAX, error);
    if (status)
        return status;
    if (rows->chunk.end - rows->chunk.at >= 2 &&
        (!memcmp(rows->chunk.data + rows->chunk.at, "\xff\xfe", 2) ||
         !memcmp(rows->chunk.data + rows->chunk.at, "\xfe\xff", 2)))
        return cleave_error_set(error, CLEAVE_BAD_INPUT,
                                "%.200s: is UTF-16; make it UTF-8 (iconv -f UTF-16 -t UTF-8)",
                                rows->path);
    if (rows->chunk.end - rows->chunk.at >= 3 &&
        !memcmp(rows->chunk.data + rows->chunk.at, "\xef\xbb\xbf", 3))
        rows->chunk.at += 3;
    rows->next_line = 1;
    status = skip_blank(rows, error);
    if (status == CLEAVE_END)
        status = CLEAVE_OK;
    if (!status && !rows->format)
        status = by_content(rows, error);
    rows->next = rows->chunk.at;
    if (status)
        return status;
    if (rows->format == CLEAVE__FORMAT_CSV || rows->format == CLEAVE__FORMAT_TSV)
        return cleave__rows_text_open(rows, options->header, error);
    rows->numbers = malloc(CLEAVE__COLUMNS_MOST * sizeof *rows->numbers);
    if (!rows->numbers)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%.200s: no memory to read", rows->path);
    return rows->format == CLEAVE__FORMAT_TOPOJSON ? cleave__topology_open(rows, error) : CLEAVE_OK;
}

enum cleave_status cleave__rows_open(const struct cleave__rows_options *options,
                                     struct cleave__rows **out, struct cleave_error *error)
{
    struct cleave__rows *rows = calloc(1, sizeof *rows);
    if (!rows)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory to read");
    rows->layer = options->layer;
    enum cleave_status status = start(rows, options, error);
    if (status) {
        cleave__rows_close(rows);
        return status;
    }
    *out = rows;
    return CLEAVE_OK;
}

void cleave__rows_close(struct cleave__rows *rows)
{
    if (!rows)
        return;
    cleave__chunk_close(&rows->chunk);
    cleave__arena_free(&rows->names);
    cleave__arena_free(&rows->unquoted);
    CLEAVE_VECTOR_FREE(&rows->columns);
    CLEAVE_VECTOR_FREE(&rows->fields);
    CLEAVE_VECTOR_FREE(&rows->outline.spans);
    CLEAVE_VECTOR_FREE(&rows->shapes);
    json_decref(rows->document);
    free(rows->numbers);
    free(rows->dumped);
    free(rows);
}

/* The names there are, for people who gave another. */
static enum cleave_status unknown(const struct cleave__rows *rows, const char *name,
                                  struct cleave_error *error)
{
    char list[240] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < rows->columns.count && used + 40 < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.30s", i ? ", " : "",
                                 rows->columns.data[i]);
    return cleave_error_set(error, CLEAVE_NOT_FOUND, "%.140s: no column '%.60s'; there are: %s",
                            rows->path, name, list);
}

/* A column of that name or number. False: there is none, or the status says that there are two. */
static bool find_column(const struct cleave__rows *rows, const char *name, uint32_t *out,
                        enum cleave_status *status, struct cleave_error *error)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows->columns.count; i++) {
        if (strcasecmp(rows->columns.data[i], name))
            continue;
        if (count++) {
            *status = cleave_error_set(error, CLEAVE_BAD_INPUT,
                                       "%.140s: columns %u and %u are both called '%.60s'",
                                       rows->path, *out + 1, i + 1, name);
            return false;
        }
        *out = i;
    }
    if (count)
        return true;
    char *end;
    unsigned long number = strtoul(name, &end, 10);
    if (*name < '0' || *name > '9' || *end || number == 0 || number > rows->columns.count)
        return false;
    *out = (uint32_t)number - 1;
    return true;
}

enum cleave_status cleave__rows_bind(struct cleave__rows *rows, const char *const *names, bool must,
                                     uint32_t *out, struct cleave_error *error)
{
    struct cleave__binding binding = {UINT32_MAX, names};
    if (rows->binding_count == CLEAVE__COLUMNS_MOST)
        return cleave_error_set(error, CLEAVE_LIMIT, "%.200s: more than %d columns are asked for",
                                rows->path, CLEAVE__COLUMNS_MOST);
    if (rows->format == CLEAVE__FORMAT_CSV || rows->format == CLEAVE__FORMAT_TSV) {
        size_t i = 0;
        enum cleave_status status = CLEAVE_OK;
        while (names[i] && !find_column(rows, names[i], &binding.column, &status, error)) {
            if (status)
                return status;
            i++;
        }
        if (!names[i] && must)
            return unknown(rows, names[0], error);
        if (!names[i]) {
            *out = UINT32_MAX;
            return CLEAVE_OK;
        }
    }
    rows->bindings[rows->binding_count] = binding;
    *out = rows->binding_count++;
    return CLEAVE_OK;
}

enum cleave_status cleave__rows_next(struct cleave__rows *rows, struct cleave_error *error)
{
    switch (rows->format) {
    case CLEAVE__FORMAT_NDJSON:
        return cleave__rows_json_next(rows, error);
    case CLEAVE__FORMAT_GEOJSON:
        return cleave__features_next(rows, error);
    case CLEAVE__FORMAT_TOPOJSON:
        return cleave__topology_next(rows, error);
    default:
        return cleave__rows_text_next(rows, error);
    }
}

bool cleave__rows_ready(struct cleave__rows *rows)
{
    struct cleave__chunk *chunk = &rows->chunk;
    if (rows->format == CLEAVE__FORMAT_TOPOJSON || rows->first_is_row)
        return true;
    for (;;) {
        if (chunk->ended || (rows->next < chunk->end &&
                             memchr(chunk->data + rows->next, '\n', chunk->end - rows->next)))
            return true;
        if (!cleave__chunk_ready(chunk))
            return false;
        chunk->at = rows->next;
        if (cleave__chunk_fill(chunk, CLEAVE__LINE_MOST, NULL))
            return true; /* the next row says what is wrong */
        rows->next = chunk->at;
    }
}

struct cleave__value cleave__rows_field(const struct cleave__rows *rows, uint32_t column)
{
    struct cleave__value none = {0};
    if (column >= rows->fields.count)
        return none;
    struct cleave__slice field = rows->fields.data[column];
    return (struct cleave__value){CLEAVE__VALUE_TEXT, field.text, field.length, NULL};
}

struct cleave__value cleave__rows_value(const struct cleave__rows *rows, uint32_t handle)
{
    struct cleave__value none = {0};
    if (handle == UINT32_MAX)
        return none;
    if (rows->format != CLEAVE__FORMAT_CSV && rows->format != CLEAVE__FORMAT_TSV)
        return cleave__rows_json_value(rows, handle);
    struct cleave__value value = cleave__rows_field(rows, rows->bindings[handle].column);
    while (value.length && (value.text[0] == ' ' || value.text[0] == '\t')) {
        value.text++;
        value.length--;
    }
    while (value.length &&
           (value.text[value.length - 1] == ' ' || value.text[value.length - 1] == '\t'))
        value.length--;
    return value.length ? value : none;
}

const struct cleave__geometry *cleave__rows_geometry(const struct cleave__rows *rows)
{
    return &rows->geometry;
}

const char *cleave__rows_raw(const struct cleave__rows *rows, size_t *length)
{
    *length = rows->raw.length;
    return rows->raw.text;
}

enum cleave__format cleave__rows_format(const struct cleave__rows *rows)
{
    return rows->format;
}

uint64_t cleave__rows_line(const struct cleave__rows *rows)
{
    return rows->line;
}

const char *cleave__rows_path(const struct cleave__rows *rows)
{
    return rows->path;
}

uint32_t cleave__rows_columns(const struct cleave__rows *rows)
{
    return (uint32_t)rows->columns.count;
}

const char *cleave__rows_column(const struct cleave__rows *rows, uint32_t column)
{
    return rows->columns.data[column];
}

uint64_t cleave__rows_bytes(const struct cleave__rows *rows)
{
    return rows->chunk.input ? cleave__input_bytes(rows->chunk.input) : 0;
}
