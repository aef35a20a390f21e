/* CSV (RFC 4180) and TSV. A row of CSV may go over several lines, within quotes; one whose quotes
 * do not close is refused, and reading goes on with the line after its first. */
#include <stdio.h>
#include <string.h>

#include "stream/source/rows_inside.h"
#include "stream/source/values.h"

enum { QUOTED_MOST = 1 << 20 };

static enum cleave_status no_memory(struct cleave__rows *rows, struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "%.200s: no memory to read", rows->path);
}

static enum cleave_status add(struct cleave__rows *rows, const char *text, size_t length,
                              struct cleave_error *error)
{
    return CLEAVE_PUSH(&rows->fields, (struct cleave__slice){text, length})
               ? CLEAVE_OK
               : no_memory(rows, error);
}

static enum cleave_status split_plain(struct cleave__rows *rows, const char *at, const char *end,
                                      struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (;;) {
        const char *stop = memchr(at, rows->separator, (size_t)(end - at));
        status = add(rows, at, (size_t)((stop ? stop : end) - at), error);
        if (status || !stop)
            return status;
        at = stop + 1;
    }
}

/* A field within quotes, *at behind the first: its text, *at behind the last. CLEAVE_END: the
 * quotes do not close before `end`. */
static enum cleave_status take_quoted(struct cleave__rows *rows, const char **at, const char *end,
                                      struct cleave_error *error)
{
    const char *start = *at, *stop = start;
    size_t pairs = 0;
    for (;; stop += 2, pairs++) {
        stop = memchr(stop, '"', (size_t)(end - stop));
        if (!stop)
            return CLEAVE_END;
        if (stop + 1 == end || stop[1] != '"')
            break;
    }
    *at = stop + 1;
    size_t length = (size_t)(stop - start);
    if (pairs == 0)
        return add(rows, start, length, error);
    char *copy = cleave__arena_alloc(&rows->unquoted, length), *to = copy;
    if (!copy)
        return no_memory(rows, error);
    for (const char *from = start; from < stop; from++) {
        *to++ = *from;
        from += *from == '"';
    }
    return add(rows, copy, (size_t)(to - copy), error);
}

/* Fields of [at, end); CLEAVE_END when a quote is open there. */
static enum cleave_status split_quoted(struct cleave__rows *rows, const char *at, const char *end,
                                       struct cleave_error *error)
{
    rows->fields.count = 0;
    for (;;) {
        enum cleave_status status;
        if (at < end && *at == '"') {
            at++;
            status = take_quoted(rows, &at, end, error);
            if (!status && at < end && *at != rows->separator)
                return cleave__rows_fail(rows, error,
                                         "field %zu goes on behind its closing quote; a quote "
                                         "within a field is written twice",
                                         rows->fields.count);
        } else {
            const char *stop = memchr(at, rows->separator, (size_t)(end - at));
            const char *from = at;
            at = stop ? stop : end;
            status = add(rows, from, (size_t)(at - from), error);
        }
        if (status || at == end)
            return status;
        at++;
    }
}

static uint64_t lines_in(const char *text, size_t length)
{
    uint64_t lines = 0;
    for (const char *end = text + length; (text = memchr(text, '\n', (size_t)(end - text))); text++)
        lines++;
    return lines;
}

/* Looks for the end of a row, each byte once however often more are added. */
struct search {
    enum { FIELD_START, PLAIN, QUOTED, QUOTE_SEEN } state;
    size_t at; /* looked at so far, from the row's beginning */
};

/* True when found: `at` is its line end. */
static bool search_end(struct search *s, const char *row, size_t held, char separator)
{
    for (; s->at < held; s->at++) {
        char c = row[s->at];
        if (s->state == QUOTED) {
            if (c == '"')
                s->state = QUOTE_SEEN;
        } else if (c == '"' && s->state != PLAIN) {
            s->state = QUOTED; /* the first of a field, or the second of a pair */
        } else if (c == '\n') {
            return true;
        } else {
            s->state = c == separator ? FIELD_START : PLAIN;
        }
    }
    return false;
}

/* The row that begins at chunk.at; its first line ends before rows->next. */
static enum cleave_status read_quoted(struct cleave__rows *rows, struct cleave_error *error)
{
    struct cleave__chunk *chunk = &rows->chunk;
    struct search search = {FIELD_START, 0};
    size_t first = rows->next - chunk->at, held;
    bool found;
    for (;;) {
        held = chunk->end - chunk->at;
        found = search_end(&search, chunk->data + chunk->at, held, rows->separator);
        if (found || chunk->ended || held > QUOTED_MOST)
            break;
        enum cleave_status status = cleave__chunk_fill(chunk, SIZE_MAX, error);
        if (status)
            return status;
    }
    const char *row = chunk->data + chunk->at;
    size_t length = search.at;
    if (length && row[length - 1] == '\r' && found)
        length--;
    enum cleave_status status = CLEAVE_END;
    cleave__arena_rewind(&rows->unquoted, (struct cleave_arena_mark){0});
    if (found || chunk->ended)
        status = split_quoted(rows, row, row + length, error);
    if (status == CLEAVE_END)
        status = cleave__rows_fail(rows, error,
                                   "a quote is opened and not closed; --format tsv "
                                   "takes quotes as they are");
    rows->raw = (struct cleave__slice){row, length};
    size_t whole = search.at + found;
    rows->next = chunk->at + (status ? first : whole);
    rows->next_line += status ? 1 : lines_in(row, whole) + !found;
    return status;
}

/* The next line that is not blank, into fields. */
static enum cleave_status read_row(struct cleave__rows *rows, struct cleave_error *error)
{
    struct cleave__chunk *chunk = &rows->chunk;
    size_t length = 0;
    for (;;) {
        enum cleave_status status = cleave__rows_next_line(rows, &length, error);
        if (status)
            return status;
        if (length)
            break;
        rows->next_line++;
    }
    const char *at = chunk->data + chunk->at;
    if (rows->format == CLEAVE__FORMAT_CSV && memchr(at, '"', length))
        return read_quoted(rows, error);
    rows->fields.count = 0;
    rows->raw = (struct cleave__slice){at, length};
    rows->next_line++;
    return split_plain(rows, at, at + length, error);
}

enum cleave_status cleave__rows_text_next(struct cleave__rows *rows, struct cleave_error *error)
{
    if (rows->first_is_row) {
        rows->first_is_row = false;
        return CLEAVE_OK;
    }
    enum cleave_status status = read_row(rows, error);
    if (!status && rows->fields.count != rows->columns.count)
        return cleave__rows_fail(rows, error, "%zu fields, not %zu as in the first line",
                                 rows->fields.count, rows->columns.count);
    return status;
}

static void guess_separator(struct cleave__rows *rows)
{
    size_t length, next;
    rows->separator = rows->format == CLEAVE__FORMAT_TSV ? '\t' : ',';
    if (rows->format == CLEAVE__FORMAT_TSV ||
        cleave__chunk_line(&rows->chunk, CLEAVE__LINE_MOST, &length, &next, NULL))
        return;
    const char *line = rows->chunk.data + rows->chunk.at;
    if (!memchr(line, ',', length))
        rows->separator = memchr(line, ';', length) ? ';' : memchr(line, '|', length) ? '|' : ',';
}

static enum cleave_status name_columns(struct cleave__rows *rows, bool header,
                                       struct cleave_error *error)
{
    for (size_t i = 0; i < rows->fields.count; i++) {
        struct cleave__slice field = rows->fields.data[i];
        char number[24];
        if (!header) {
            field.length = (size_t)snprintf(number, sizeof number, "%zu", i + 1);
            field.text = number;
        }
        while (field.length && *field.text == ' ') {
            field.text++;
            field.length--;
        }
        while (field.length && field.text[field.length - 1] == ' ')
            field.length--;
        char *name = cleave__arena_copy(&rows->names, field.text, field.length);
        if (!name || !CLEAVE_PUSH(&rows->columns, name))
            return no_memory(rows, error);
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__rows_text_open(struct cleave__rows *rows, enum cleave__header header,
                                          struct cleave_error *error)
{
    rows->separator = ',';
    guess_separator(rows);
    enum cleave_status status = read_row(rows, error);
    if (status == CLEAVE_END)
        return CLEAVE_OK; /* nothing at all: no columns, no rows */
    if (status)
        return status;
    bool numbers = false;
    double unused;
    for (size_t i = 0; i < rows->fields.count; i++)
        numbers |=
            cleave__text_real(rows->fields.data[i].text, rows->fields.data[i].length, &unused);
    bool named = header == CLEAVE__HEADER_YES || (header == CLEAVE__HEADER_GUESS && !numbers);
    rows->first_is_row = !named;
    return name_columns(rows, named, error);
}
