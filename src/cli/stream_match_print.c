/* Lines of `cleave stream match`: tab-separated, or an object a line with --json. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stream_match.h"

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

bool cleave__match_row(struct cleave_match_run *run, struct cleave_match_row *row)
{
    const struct cleave__rows *rows = cleave__objects_rows(run->objects);
    struct cleave_writer *w = &run->line;
    w->count = 0;
    cleave__row_write(&run->fields, rows, run->arguments->common.json, w);
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
        cleave__row_put(w, "{\"event\":\"");
        cleave__row_put(w, event_name(event));
        cleave__row_put(w, "\",\"query\":");
        cleave__row_put_json(w, id, length);
        if (row) {
            snprintf(number, sizeof number, ",\"line\":%" PRIu64, row->line);
            cleave__row_put(w, number);
            cleave__row_put(w, ",\"object\":");
            cleave__put_bytes(w, row->text, row->length);
        } else if (thing) {
            cleave__row_put(w, ",\"thing\":");
            cleave__row_put_json(w, thing, thing_length);
        }
        cleave__row_put(w, "}\n");
    } else {
        cleave__row_put(w, event_name(event));
        cleave__row_put(w, "\t");
        cleave__row_put_flat(w, id, length, false);
        if (row || thing) {
            cleave__row_put(w, "\t");
            if (row)
                cleave__put_bytes(w, row->text, row->length);
            else
                cleave__row_put_flat(w, thing, thing_length, false);
        }
        cleave__row_put(w, "\n");
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
