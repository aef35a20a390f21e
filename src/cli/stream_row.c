#include "cli/stream_row.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/json.h"

enum cleave_status cleave__row_fields_name(struct cleave_row_fields *fields, char *list,
                                           struct cleave_error *error)
{
    while (list && *list) {
        size_t length = strcspn(list, ",");
        if (fields->count == CLEAVE_ROW_FIELDS_MAX)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "--fields takes at most %d columns",
                                    CLEAVE_ROW_FIELDS_MAX);
        fields->names[fields->count++] = list;
        list += length;
        if (*list)
            *list++ = 0;
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__row_fields_bind(struct cleave_row_fields *fields,
                                           struct cleave__rows *rows, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < fields->count && !status; i++) {
        fields->lists[i][0] = fields->names[i];
        status = cleave__rows_bind(rows, fields->lists[i], true, &fields->handles[i], error);
    }
    return status;
}

void cleave__row_put_flat(struct cleave_writer *w, const char *text, size_t length, bool tabs)
{
    size_t from = w->count;
    cleave__put_bytes(w, text, length);
    for (size_t i = from; i < w->count; i++) {
        uint8_t c = w->data[i];
        if (c == '\n' || c == '\r' || c == 0 || (c == '\t' && !tabs))
            w->data[i] = ' ';
    }
}

void cleave__row_put_json(struct cleave_writer *w, const char *text, size_t length)
{
    json_t *value = cleave__json_text(text, length);
    char *dumped = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    if (dumped)
        cleave__row_put(w, dumped);
    else
        w->failed = true;
    free(dumped);
    json_decref(value);
}

static void put_value(struct cleave_writer *w, struct cleave__value value, bool json)
{
    if (value.kind == CLEAVE__VALUE_JSON) {
        char *dumped = json_dumps(value.json, JSON_COMPACT);
        if (dumped)
            cleave__row_put(w, dumped);
        else
            w->failed = true;
        free(dumped);
    } else if (json && value.kind == CLEAVE__VALUE_ABSENT) {
        cleave__row_put(w, "null");
    } else if (json) {
        cleave__row_put_json(w, value.text, value.length);
    } else if (value.kind) {
        cleave__row_put_flat(w, value.text, value.length, false);
    }
}

static bool is_text_format(const struct cleave__rows *rows)
{
    enum cleave__format format = cleave__rows_format(rows);
    return format == CLEAVE__FORMAT_CSV || format == CLEAVE__FORMAT_TSV;
}

void cleave__row_write(const struct cleave_row_fields *fields, const struct cleave__rows *rows,
                       bool json, struct cleave_writer *w)
{
    size_t length;
    const char *raw = cleave__rows_raw(rows, &length);
    if (fields->count) {
        for (uint32_t i = 0; i < fields->count; i++) {
            if (json) {
                cleave__row_put(w, i ? "," : "{");
                cleave__row_put_json(w, fields->names[i], strlen(fields->names[i]));
                cleave__row_put(w, ":");
            } else if (i) {
                cleave__row_put(w, "\t");
            }
            put_value(w, cleave__rows_value(rows, fields->handles[i]), json);
        }
        cleave__row_put(w, json ? "}" : "");
    } else if (json && is_text_format(rows)) {
        for (uint32_t i = 0; i < cleave__rows_columns(rows); i++) {
            const char *name = cleave__rows_column(rows, i);
            cleave__row_put(w, i ? "," : "{");
            cleave__row_put_json(w, name, strlen(name));
            cleave__row_put(w, ":");
            put_value(w, cleave__rows_field(rows, i), true);
        }
        cleave__row_put(w, "}");
    } else {
        cleave__row_put_flat(w, raw, length, cleave__rows_format(rows) == CLEAVE__FORMAT_TSV);
    }
}

enum cleave_status cleave__row_output_closed(int reason, struct cleave_error *error)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (reason != EPIPE || nowhere < 0) {
        if (nowhere >= 0)
            close(nowhere);
        return cleave_error_set(error, CLEAVE_IO, "standard output: cannot write: %s",
                                strerror(reason));
    }
    dup2(nowhere, STDOUT_FILENO);
    close(nowhere);
    clearerr(stdout);
    return CLEAVE_OK;
}
