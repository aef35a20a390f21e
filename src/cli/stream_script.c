/* Files of queries and objects as a script: all queries first, then objects as they come. */
#include "cli/stream_script.h"

static enum cleave_status load_queries(const struct cleave_stream_loaded *loaded,
                                       struct cleave__stream_script *script,
                                       struct cleave_error *error)
{
    struct cleave_reader reader = {loaded->bytes.data, loaded->bytes.data + loaded->bytes.count,
                                   false};
    struct cleave_arena arena = {0};
    bool ok = true;
    while (ok && cleave__left(&reader)) {
        struct cleave__query query;
        bool no_memory;
        struct cleave_arena_mark mark = cleave__arena_mark(&arena);
        ok = cleave__query_read(&reader, &arena, &query, &no_memory) &&
             cleave__stream_script_store(script, &query);
        cleave__arena_rewind(&arena, mark);
    }
    cleave__arena_free(&arena);
    return ok && cleave__stream_script_wait(script)
               ? CLEAVE_OK
               : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for queries");
}

static enum cleave_status load_objects(const struct cleave_stream_files *files,
                                       struct cleave_stream_loaded *loaded,
                                       struct cleave__stream_script *script,
                                       const struct cleave_progress *progress,
                                       struct cleave_error *error)
{
    struct cleave__objects_options options = {.rows = {.path = files->objects,
                                                       .format = files->objects_format,
                                                       .header = files->header,
                                                       .stop = progress},
                                              .columns = files->columns,
                                              .space = script->space,
                                              .terms = &loaded->terms,
                                              .fields = &loaded->fields};
    struct cleave__objects *objects;
    struct cleave_arena arena = {0};
    uint64_t clock_ms = 0;
    enum cleave_status status = cleave__objects_open(&options, &objects, error);
    if (status)
        return status;
    for (;;) {
        struct cleave__object object;
        struct cleave_arena_mark mark = cleave__arena_mark(&arena);
        status = cleave__objects_next(objects, &arena, &object, error);
        if ((status == CLEAVE_BAD_INPUT || status == CLEAVE_LIMIT) && files->skip_bad)
            continue;
        if (status)
            break;
        /* The stream's clock does not go back. */
        clock_ms = object.time_ms > clock_ms ? object.time_ms : clock_ms;
        object.time_ms = clock_ms;
        if (!cleave__stream_script_object(script, &object)) {
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for objects");
            break;
        }
        cleave__arena_rewind(&arena, mark);
    }
    cleave__arena_free(&arena);
    cleave__objects_close(objects);
    return status == CLEAVE_END ? CLEAVE_OK : status;
}

enum cleave_status cleave__stream_script_read(const struct cleave_stream_files *files,
                                              const struct cleave_stream_space *about,
                                              const struct cleave_progress *progress,
                                              struct cleave__space *space,
                                              struct cleave__stream_script *script,
                                              struct cleave_error *error)
{
    struct cleave_stream_loaded loaded = {0};
    *space = about->space;
    script->space = space;
    enum cleave_status status = cleave__stream_load(files, space, progress, &loaded, error);
    const struct cleave__box *e = &loaded.extent;
    if (!status && space->kind == CLEAVE__PLANE && !about->bounded && e->x0 < e->x1 &&
        e->y0 < e->y1)
        space->bounds = *e;
    if (!status)
        status = load_queries(&loaded, script, error);
    if (!status)
        status = load_objects(files, &loaded, script, progress, error);
    cleave__stream_loaded_free(&loaded);
    return status;
}
