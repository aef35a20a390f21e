/* A dump of statistics: JSON lines (or one JSON array), or CSV with a header line. Both come out of
 * one query, given in docs/sizes.md; the names are those of pg_stats and pg_class, in any order,
 * and what is not known is passed over. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/input.h"
#include "tables/source/sizes.h"

enum { DUMP_MAX = 256 << 20, FIELDS_MAX = 256 };

static const struct name {
    const char *name;
    size_t offset;
} names[] = {
#define NAME(text, field)                                                                          \
    {                                                                                              \
        text, offsetof(struct cleave_stats_row, field)                                             \
    }
    NAME("schemaname", schema),
    NAME("nspname", schema),
    NAME("table_schema", schema),
    NAME("tablename", table),
    NAME("relname", table),
    NAME("table_name", table),
    NAME("reltuples", reltuples),
    NAME("n_live_tup", reltuples),
    NAME("rows", reltuples),
    NAME("relpages", relpages),
    NAME("row_bytes", row_bytes),
    NAME("attname", column),
    NAME("column_name", column),
    NAME("inherited", inherited),
    NAME("null_frac", null_frac),
    NAME("avg_width", avg_width),
    NAME("n_distinct", n_distinct),
    NAME("most_common_vals", most_common_vals),
    NAME("most_common_freqs", most_common_freqs),
    NAME("histogram_bounds", histogram_bounds),
#undef NAME
};

static struct cleave_text *field_of(struct cleave_stats_row *row, const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i].name) == length && memcmp(names[i].name, name, length) == 0)
            return (struct cleave_text *)((char *)row + names[i].offset);
    }
    return NULL;
}

/* JSON ---------------------------------------------------------------------------------------- */

static size_t print_scalar(const json_t *value, char *out, size_t size)
{
    int length = 0;
    if (json_is_integer(value))
        length = snprintf(out, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        length = snprintf(out, size, "%.17g", json_real_value(value));
    else
        length = snprintf(out, size, "%s", json_is_true(value) ? "t" : "f");
    for (char *c = out; *c; c++) {
        if (*c == ',') /* a locale's decimal sign */
            *c = '.';
    }
    return (size_t)length;
}

/* A JSON array as an array literal, so that one reader serves both spellings. */
static bool print_array(const json_t *array, struct cleave_arena *arena, struct cleave_text *out)
{
    CLEAVE_VECTOR(char) text = {0};
    bool fine = CLEAVE_PUSH(&text, '{');
    for (size_t i = 0; fine && i < json_array_size(array); i++) {
        const json_t *item = json_array_get(array, i);
        char number[40];
        const char *bytes = number;
        size_t length;
        if (json_is_string(item)) {
            bytes = json_string_value(item);
            length = json_string_length(item);
        } else if (json_is_null(item)) {
            bytes = "NULL";
            length = 4;
        } else {
            length = print_scalar(item, number, sizeof number);
        }
        bool quotes = json_is_string(item);
        fine = (i == 0 || CLEAVE_PUSH(&text, ',')) && (!quotes || CLEAVE_PUSH(&text, '"'));
        for (size_t b = 0; fine && b < length; b++) {
            if (quotes && (bytes[b] == '"' || bytes[b] == '\\'))
                fine = CLEAVE_PUSH(&text, '\\');
            fine = fine && CLEAVE_PUSH(&text, bytes[b]);
        }
        fine = fine && (!quotes || CLEAVE_PUSH(&text, '"'));
    }
    fine = fine && CLEAVE_PUSH(&text, '}');
    if (fine) {
        out->bytes = cleave__arena_copy(arena, text.data, text.count);
        out->length = text.count;
        fine = out->bytes != NULL;
    }
    CLEAVE_VECTOR_FREE(&text);
    return fine;
}

static enum cleave_status add_object(struct cleave_stats_batch *batch, size_t line, json_t *object,
                                     struct cleave_error *error)
{
    struct cleave_stats_row row = {0};
    struct cleave_arena arena = {0};
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return cleave_error_set(error, CLEAVE_BAD_INPUT, "%s:%zu: not a JSON object", batch->origin,
                                line);
    enum cleave_status status = CLEAVE_OK;
    json_object_foreach(object, key, value)
    {
        struct cleave_text *field = field_of(&row, key, strlen(key));
        bool fine = true;
        if (!field || json_is_null(value) || json_is_object(value))
            continue;
        if (json_is_string(value)) {
            *field = (struct cleave_text){json_string_value(value), json_string_length(value)};
        } else if (json_is_array(value)) {
            fine = print_array(value, &arena, field);
        } else {
            char number[40];
            field->length = print_scalar(value, number, sizeof number);
            field->bytes = cleave__arena_copy(&arena, number, field->length);
            fine = field->bytes != NULL;
        }
        if (!fine) {
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory", batch->origin);
            break;
        }
    }
    if (!status)
        status = cleave__stats_add(batch, line, &row, error);
    cleave__arena_free(&arena);
    return status;
}

static enum cleave_status json_fault(const struct cleave_stats_batch *batch, size_t line,
                                     const json_error_t *fault, struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_BAD_INPUT, "%s:%zu: not JSON: %s", batch->origin, line,
                            fault->text);
}

static enum cleave_status read_json_array(struct cleave_stats_batch *batch, const char *text,
                                          size_t length, struct cleave_error *error)
{
    json_error_t fault;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &fault);
    if (!root)
        return json_fault(batch, fault.line > 0 ? (size_t)fault.line : 1, &fault, error);
    enum cleave_status status = CLEAVE_OK;
    for (size_t i = 0; i < json_array_size(root) && !status; i++)
        status = add_object(batch, i + 1, json_array_get(root, i), error);
    json_decref(root);
    return status;
}

static enum cleave_status read_json_lines(struct cleave_stats_batch *batch, const char *text,
                                          size_t length, struct cleave_error *error)
{
    const char *at = text, *end = text + length;
    enum cleave_status status = CLEAVE_OK;
    for (size_t line = 1; at < end && !status; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop)
            stop = end;
        const char *first = at;
        while (first < stop && (*first == ' ' || *first == '\t' || *first == '\r'))
            first++;
        if (first < stop) {
            json_error_t fault;
            json_t *root =
                json_loadb(first, (size_t)(stop - first), JSON_REJECT_DUPLICATES, &fault);
            if (!root)
                return json_fault(batch, line, &fault, error);
            status = add_object(batch, line, root, error);
            json_decref(root);
        }
        at = stop + (stop < end);
    }
    return status;
}

/* CSV ----------------------------------------------------------------------------------------- */

struct csv {
    const char *at, *end;
    size_t line;
    struct cleave_arena *arena;
};

/* One field; *more: another follows on this record. Quoted fields are unescaped into the arena. */
static bool csv_field(struct csv *csv, struct cleave_text *out, bool *more)
{
    *out = (struct cleave_text){0};
    if (csv->at < csv->end && *csv->at == '"') {
        const char *start = ++csv->at;
        while (csv->at < csv->end &&
               (*csv->at != '"' || (csv->at + 1 < csv->end && csv->at[1] == '"'))) {
            csv->line += *csv->at == '\n';
            csv->at += *csv->at == '"' ? 2 : 1;
        }
        if (csv->at >= csv->end)
            return false;
        char *copy = cleave__arena_alloc(csv->arena, (size_t)(csv->at - start) + 1);
        if (!copy)
            return false;
        size_t length = 0;
        for (const char *c = start; c < csv->at; c++) {
            copy[length++] = *c;
            c += *c == '"';
        }
        *out = (struct cleave_text){copy, length};
        csv->at++;
    } else {
        const char *start = csv->at;
        while (csv->at < csv->end && *csv->at != ',' && *csv->at != '\n' && *csv->at != '\r')
            csv->at++;
        if (csv->at > start) /* an empty field without quotes is NULL */
            *out = (struct cleave_text){start, (size_t)(csv->at - start)};
    }
    *more = csv->at < csv->end && *csv->at == ',';
    if (*more) {
        csv->at++;
        return true;
    }
    if (csv->at < csv->end && *csv->at == '\r')
        csv->at++;
    if (csv->at < csv->end && *csv->at++ != '\n')
        return false;
    csv->line++;
    return true;
}

static enum cleave_status read_csv(struct cleave_stats_batch *batch, const char *text,
                                   size_t length, struct cleave_error *error)
{
    struct cleave_arena arena = {0};
    struct csv csv = {text, text + length, 1, &arena};
    struct cleave_stats_row blank = {0}, row;
    struct cleave_text fields[FIELDS_MAX], *columns[FIELDS_MAX];
    size_t column_count = 0;
    enum cleave_status status = CLEAVE_OK;
    bool table_named = false;
    for (bool header = true; csv.at < csv.end && !status; header = false) {
        struct cleave_arena_mark mark = cleave__arena_mark(&arena);
        size_t count = 0, line = csv.line;
        bool more = true, fine = true;
        while (fine && more) {
            fine = count < FIELDS_MAX && csv_field(&csv, &fields[count], &more);
            count += fine;
        }
        if (!fine) {
            status = cleave_error_set(error, CLEAVE_BAD_INPUT,
                                      "%s:%zu: not CSV as PostgreSQL writes it (see docs/sizes.md)",
                                      batch->origin, line);
            break;
        }
        row = blank;
        if (header) {
            column_count = count;
            for (size_t i = 0; i < count; i++) {
                columns[i] =
                    fields[i].bytes ? field_of(&row, fields[i].bytes, fields[i].length) : NULL;
                table_named |= columns[i] == &row.table;
            }
            if (!table_named)
                status = cleave_error_set(
                    error, CLEAVE_BAD_INPUT,
                    "%s:1: the header names no column \"tablename\" (see docs/sizes.md)",
                    batch->origin);
            continue;
        }
        if (count == 1 && !fields[0].bytes)
            continue; /* an empty line */
        if (count != column_count)
            status = cleave_error_set(error, CLEAVE_BAD_INPUT,
                                      "%s:%zu: %zu fields, but the header has %zu", batch->origin,
                                      line, count, column_count);
        for (size_t i = 0; i < count && !status; i++) {
            if (columns[i])
                *columns[i] = fields[i];
        }
        if (!status)
            status = cleave__stats_add(batch, line, &row, error);
        cleave__arena_rewind(&arena, mark);
    }
    cleave__arena_free(&arena);
    return status;
}

enum cleave_status cleave__sizes_parse_stats(struct cleave_schema *schema, const char *text,
                                             size_t length, const char *name,
                                             struct cleave_error *error)
{
    struct cleave_stats_batch batch = {.schema = schema, .origin = name};
    size_t first = 0;
    while (first < length && strchr(" \t\r\n", text[first]) && text[first])
        first++;
    enum cleave_status status;
    if (first < length && text[first] == '[')
        status = read_json_array(&batch, text, length, error);
    else if (first < length && text[first] == '{')
        status = read_json_lines(&batch, text, length, error);
    else
        status = read_csv(&batch, text, length, error);
    if (!status && batch.tables.count == 0)
        status = cleave_error_set(error, CLEAVE_BAD_INPUT,
                                  "%s: nothing in it is about a table of the schema", name);
    if (!status)
        cleave__stats_apply(&batch);
    cleave__stats_free(&batch);
    return status;
}

enum cleave_status cleave__sizes_read_stats(struct cleave_schema *schema, const char *path,
                                            struct cleave_error *error)
{
    char *text;
    size_t length;
    enum cleave_status status = cleave__input_slurp(path, DUMP_MAX, &text, &length, error);
    if (status)
        return status;
    status = cleave__sizes_parse_stats(schema, text, length,
                                       strcmp(path, "-") == 0 ? "standard input" : path, error);
    free(text);
    return status;
}
