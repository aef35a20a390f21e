/* The cells of a result table, and its forms for machines: CSV and JSON. */
#include "report/report.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "report/json.h"

void cleave__report_init(struct cleave_report *report, const struct cleave_report_column *columns,
                         uint32_t column_count)
{
    *report = (struct cleave_report){.columns = columns, .column_count = column_count};
}

void cleave__report_free(struct cleave_report *report)
{
    CLEAVE_VECTOR_FREE(&report->cells);
    cleave__arena_free(&report->arena);
}

uint32_t cleave__report_rows(const struct cleave_report *report)
{
    return report->column_count ? (uint32_t)(report->cells.count / report->column_count) : 0;
}

bool cleave__report_row(struct cleave_report *report)
{
    if (!CLEAVE_RESERVE(&report->cells, report->cells.count + report->column_count))
        return false;
    memset(report->cells.data + report->cells.count, 0,
           report->column_count * sizeof *report->cells.data);
    report->cells.count += report->column_count;
    return true;
}

static struct cleave_report_cell *cell(struct cleave_report *report, uint32_t column,
                                       enum cleave_report_type type)
{
    assert(column < report->column_count && report->cells.count >= report->column_count);
    assert(report->columns[column].type == type);
    (void)type;
    return &report->cells.data[report->cells.count - report->column_count + column];
}

bool cleave__report_text(struct cleave_report *report, uint32_t column, const char *text)
{
    char *copy = cleave__arena_copy(&report->arena, text, strlen(text));
    if (!copy)
        return false;
    *cell(report, column, CLEAVE_REPORT_TEXT) =
        (struct cleave_report_cell){.present = true, .text = copy};
    return true;
}

void cleave__report_integer(struct cleave_report *report, uint32_t column, int64_t value)
{
    *cell(report, column, CLEAVE_REPORT_INTEGER) =
        (struct cleave_report_cell){.present = true, .integer = value};
}

void cleave__report_real(struct cleave_report *report, uint32_t column, double value)
{
    *cell(report, column, CLEAVE_REPORT_REAL) =
        (struct cleave_report_cell){.present = isfinite(value), .real = value};
}

void cleave__report_boolean(struct cleave_report *report, uint32_t column, bool value)
{
    *cell(report, column, CLEAVE_REPORT_BOOLEAN) =
        (struct cleave_report_cell){.present = true, .boolean = value};
}

static void put_csv_text(const char *text, FILE *out)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, out);
        return;
    }
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    putc('"', out);
}

static void put_csv_cell(const struct cleave_report_cell *cell, enum cleave_report_type type,
                         FILE *out)
{
    if (!cell->present)
        return;
    switch (type) {
    case CLEAVE_REPORT_TEXT:
        put_csv_text(cell->text, out);
        break;
    case CLEAVE_REPORT_INTEGER:
        fprintf(out, "%" PRId64, cell->integer);
        break;
    case CLEAVE_REPORT_REAL:
        fprintf(out, "%.15g", cell->real);
        break;
    case CLEAVE_REPORT_BOOLEAN:
        fputs(cell->boolean ? "true" : "false", out);
        break;
    }
}

enum cleave_status cleave__report_print_csv(const struct cleave_report *report, FILE *out,
                                            struct cleave_error *error)
{
    errno = 0;
    for (uint32_t c = 0; c < report->column_count; c++) {
        if (c)
            putc(',', out);
        put_csv_text(report->columns[c].key, out);
    }
    putc('\n', out);
    const struct cleave_report_cell *at = report->cells.data;
    for (uint32_t r = 0; r < cleave__report_rows(report); r++) {
        for (uint32_t c = 0; c < report->column_count; c++, at++) {
            if (c)
                putc(',', out);
            put_csv_cell(at, report->columns[c].type, out);
        }
        putc('\n', out);
    }
    if (ferror(out))
        return cleave_error_set(error, CLEAVE_IO, "cannot write the table: %s",
                                errno ? strerror(errno) : "a write failed");
    return CLEAVE_OK;
}

static json_t *json_of(const struct cleave_report_cell *cell, enum cleave_report_type type)
{
    if (!cell->present)
        return json_null();
    switch (type) {
    case CLEAVE_REPORT_TEXT:
        return cleave__json_text(cell->text, strlen(cell->text));
    case CLEAVE_REPORT_INTEGER:
        return json_integer(cell->integer);
    case CLEAVE_REPORT_REAL:
        return cleave__json_real(cell->real);
    case CLEAVE_REPORT_BOOLEAN:
        return json_boolean(cell->boolean);
    }
    return json_null();
}

/* Puts `value` (taken over, NULL fails) at "a.b.c" under `object`. */
static bool put_nested(json_t *object, const char *key, json_t *value)
{
    char part[100];
    for (const char *dot; (dot = strchr(key, '.')) != NULL; key = dot + 1) {
        snprintf(part, sizeof part, "%.*s", (int)(dot - key), key);
        json_t *inner = json_object_get(object, part);
        if (!inner && json_object_set_new(object, part, inner = json_object()) != 0) {
            json_decref(value);
            return false;
        }
        object = inner;
    }
    return json_object_set_new(object, key, value) == 0;
}

struct json_t *cleave__report_json(const struct cleave_report *report)
{
    json_t *rows = json_array();
    if (!rows)
        return NULL;
    const struct cleave_report_cell *at = report->cells.data;
    for (uint32_t r = 0; r < cleave__report_rows(report); r++) {
        json_t *row = json_object();
        if (json_array_append_new(rows, row) != 0) {
            json_decref(rows);
            return NULL;
        }
        for (uint32_t c = 0; c < report->column_count; c++, at++) {
            if (!put_nested(row, report->columns[c].key, json_of(at, report->columns[c].type))) {
                json_decref(rows);
                return NULL;
            }
        }
    }
    return rows;
}
