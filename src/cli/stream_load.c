/* Reading a file of standing queries whole: to bytes, and how far they reach. */
#include <math.h>
#include <stdlib.h>

#include "cli/stream.h"

enum { REPORT_EVERY = 1 << 14 };

static void extend(struct cleave_stream_loaded *loaded, const struct cleave__region *region)
{
    double r = region->kind == CLEAVE__CIRCLE ? region->radius : 0;
    double x1 = region->kind == CLEAVE__CIRCLE ? region->x0 : region->x1;
    double y1 = region->kind == CLEAVE__CIRCLE ? region->y0 : region->y1;
    if (x1 - region->x0 > 1e300)
        return; /* everywhere */
    struct cleave__box *e = &loaded->extent;
    *e = (struct cleave__box){fmin(e->x0, region->x0 - r), fmin(e->y0, region->y0 - r),
                              fmax(e->x1, x1 + r), fmax(e->y1, y1 + r)};
}

enum cleave_status cleave__stream_load(const struct cleave_stream_files *files,
                                       const struct cleave__space *space,
                                       const struct cleave_progress *progress,
                                       struct cleave_stream_loaded *out, struct cleave_error *error)
{
    struct cleave__queries_options options = {.rows = {.path = files->queries,
                                                       .format = files->queries_format,
                                                       .layer = files->layer,
                                                       .stop = progress},
                                              .space = space,
                                              .id = files->query_id,
                                              .terms = &out->terms,
                                              .fields = &out->fields};
    out->extent = (struct cleave__box){INFINITY, INFINITY, -INFINITY, -INFINITY};
    enum cleave_status status = cleave__queries_open(&options, &out->reader, error);
    while (!status) {
        struct cleave__query query;
        status = cleave__queries_next(out->reader, &query, error);
        if ((status == CLEAVE_BAD_INPUT || status == CLEAVE_LIMIT) && files->skip_bad) {
            status = CLEAVE_OK;
            continue;
        }
        if (status)
            break;
        extend(out, &query.region);
        cleave__query_write(&query, &out->bytes);
        if (out->bytes.failed ||
            !cleave__vector_reserve(&out->wants, &out->wants_capacity, query.id, 1))
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for queries");
        if (status)
            break;
        out->wants[query.id - 1] = (uint8_t)query.events;
        if (++out->count % REPORT_EVERY == 0) {
            if (progress->report)
                progress->report(progress->context, "reading queries", out->count, 0);
            if (*progress->stop)
                status = cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
        }
    }
    if (out->reader) {
        out->refused = cleave__queries_refused(out->reader);
        cleave__queries_close(out->reader);
    }
    return status == CLEAVE_END ? CLEAVE_OK : status;
}

void cleave__stream_loaded_free(struct cleave_stream_loaded *loaded)
{
    cleave__queries_free(loaded->reader);
    cleave__terms_free(&loaded->terms);
    cleave__intern_free(&loaded->fields);
    free(loaded->bytes.data);
    free(loaded->wants);
    *loaded = (struct cleave_stream_loaded){0};
}
