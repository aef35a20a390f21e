/* Lines of `cleave stream match`: tab-separated, or an object a line with --json. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stream_match.h"
#include "report/json.h"

static const char *event_name(enum cleave__event event)
{
    switch (event) {
    case CLEAVE__EVENT_ENTER:
        return "enter";
    case CLEAVE__EVENT_EXIT:
        return "exit";
    case CLEAVE__EVENT_EXPIRE:
        return "expire";
    default:
        return "match";
    }
}

static void put(struct cleave_writer *w, const char *text)
{
    cleave__put_bytes(w, text, strlen(text));
}

/* On one line, and in one column unless tabs are columns already. */
static void put_flat(struct cleave_writer *w, const char *text, size_t length, bool tabs)
{
    size_t from = w->count;
    cleave__put_bytes(w, text, length);
    for (size_t i = from; i < w->count; i++) {
        uint8_t c = w->data[i];
        if (c == '\n' || c == '\r' || c == 0 || (c == '\t' && !tabs))
            w->data[i] = ' ';
    }
}

static void put_json(struct cleave_writer *w, const char *text, size_t length)
{
    json_t *value = cleave__json_text(text, length);
    char *dumped = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    if (dumped)
        put(w, dumped);
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
            put(w, dumped);
        else
            w->failed = true;
        free(dumped);
    } else if (json && value.kind == CLEAVE__VALUE_ABSENT) {
        put(w, "null");
    } else if (json) {
        put_json(w, value.text, value.length);
    } else if (value.kind) {
        put_flat(w, value.text, value.length, false);
    }
}

static bool is_text_format(const struct cleave__rows *rows)
{
    enum cleave__format format = cleave__rows_format(rows);
    return format == CLEAVE__FORMAT_CSV || format == CLEAVE__FORMAT_TSV;
}

bool cleave__match_row(struct cleave_match_run *run, struct cleave_match_row *row)
{
    struct cleave__rows *rows = cleave__objects_rows(run->objects);
    struct cleave_writer *w = &run->line;
    bool json = run->arguments->common.json;
    size_t length;
    const char *raw = cleave__rows_raw(rows, &length);
    w->count = 0;
    if (run->shown_count) {
        for (uint32_t i = 0; i < run->shown_count; i++) {
            if (json) {
                put(w, i ? "," : "{");
                put_json(w, run->shown_names[i], strlen(run->shown_names[i]));
                put(w, ":");
            } else if (i) {
                put(w, "\t");
            }
            put_value(w, cleave__rows_value(rows, run->shown[i]), json);
        }
        put(w, json ? "}" : "");
    } else if (json && is_text_format(rows)) {
        for (uint32_t i = 0; i < cleave__rows_columns(rows); i++) {
            const char *name = cleave__rows_column(rows, i);
            put(w, i ? "," : "{");
            put_json(w, name, strlen(name));
            put(w, ":");
            put_value(w, cleave__rows_field(rows, i), true);
        }
        put(w, "}");
    } else {
        put_flat(w, raw, length, cleave__rows_format(rows) == CLEAVE__FORMAT_TSV);
    }
    struct cleave__value id = cleave__objects_id(run->objects);
    row->line = cleave__rows_line(rows);
    row->length = w->count;
    row->text = cleave__arena_copy(&run->arena, (const char *)w->data, w->count);
    row->id_length = id.length;
    row->id = cleave__arena_copy(&run->arena, id.text, id.length);
    run->batch_bytes += w->count + id.length;
    return !w->failed && row->text && row->id;
}

enum cleave_status cleave__match_print(struct cleave_match_run *run, enum cleave__event event,
                                       uint64_t query, const struct cleave_match_row *row,
                                       const char *thing, size_t thing_length,
                                       struct cleave_error *error)
{
    struct cleave_writer *w = &run->line;
    size_t length;
    const char *id = cleave__queries_id(run->loaded.reader, query, &length);
    char number[40];
    w->count = 0;
    if (run->arguments->common.json) {
        put(w, "{\"event\":\"");
        put(w, event_name(event));
        put(w, "\",\"query\":");
        put_json(w, id, length);
        if (row) {
            snprintf(number, sizeof number, ",\"line\":%" PRIu64, row->line);
            put(w, number);
            put(w, ",\"object\":");
            cleave__put_bytes(w, row->text, row->length);
        } else if (thing) {
            put(w, ",\"thing\":");
            put_json(w, thing, thing_length);
        }
        put(w, "}\n");
    } else {
        put(w, event_name(event));
        put(w, "\t");
        put_flat(w, id, length, false);
        if (row || thing) {
            put(w, "\t");
            if (row)
                cleave__put_bytes(w, row->text, row->length);
            else
                put_flat(w, thing, thing_length, false);
        }
        put(w, "\n");
    }
    if (w->failed)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for output");
    if (!run->closed && fwrite(w->data, 1, w->count, stdout) != w->count)
        cleave__match_closed(run);
    return CLEAVE_OK;
}

void cleave__match_closed(struct cleave_match_run *run)
{
    run->closed_by = errno;
    run->closed = true;
}

void cleave__match_summary(const struct cleave_match_run *run)
{
    const struct cleave__objects_counts *c =
        run->objects ? cleave__objects_counts(run->objects) : &(struct cleave__objects_counts){0};
    fprintf(stderr,
            "cleave: %" PRIu64 " rows = %" PRIu64 " objects that match + %" PRIu64
            " that do not + %" PRIu64 " refused; %" PRIu64 " matches",
            c->rows, run->matched, run->accepted - run->matched, c->refused, run->matches);
    if (run->tracker) {
        const struct cleave__track_counts *t = cleave__tracker_counts(run->tracker);
        fprintf(stderr,
                ", %" PRIu64 " enter, %" PRIu64 " exit (%" PRIu64 " things by silence, %" PRIu64
                " for want of room)",
                run->entered, run->left, t->silent, t->evicted);
    }
    fprintf(stderr, "\ncleave: %" PRIu64 " queries (%" PRIu64 " refused, %zu ended), %.0f B each",
            run->loaded.count, run->loaded.refused, run->ended,
            run->loaded.count && run->matcher
                ? (double)run->arguments->matcher->bytes(run->matcher) / (double)run->loaded.count
                : 0.0);
    if (run->arguments->check)
        fprintf(stderr, "; %" PRIu64 " objects checked by brute force", run->checked);
    fputs("\n", stderr);
    if (c->late && run->endings.count)
        fprintf(stderr, "cleave: %" PRIu64 " objects are older than one before them\n", c->late);
}
