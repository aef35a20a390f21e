/* Labels and placements: files of a line a user. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/source/fields.h"
#include "graph/source/read.h"

enum { NONE = UINT32_MAX };

static enum cleave_status no_memory(const char *path, struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "%.200s: no memory for users", path);
}

static uint32_t *unset(uint32_t vertices)
{
    uint32_t *array = malloc(((size_t)vertices + 1) * sizeof *array);
    for (uint32_t v = 0; array && v < vertices; v++)
        array[v] = NONE;
    return array;
}

static enum cleave_status read_lines(const struct cleave__graph *g, struct cleave__fields *f,
                                     struct cleave_intern *names, uint32_t *named, uint64_t *stray,
                                     struct cleave_error *error)
{
    enum cleave_status status;
    while (!(status = cleave__fields_next(f, "user and label", error))) {
        uint32_t v;
        if (!cleave__graph_find(g, f->first, f->first_length, &v)) {
            ++*stray;
            continue;
        }
        uint32_t name = cleave__intern_add(names, f->second, f->second_length);
        if (name == CLEAVE_INTERN_NONE)
            return no_memory(f->path, error);
        if (named[v] != NONE && named[v] != name)
            return cleave__fields_fail(f, error, "%.*s has two labels: '%.40s' and '%.40s'",
                                       (int)(f->first_length < 60 ? f->first_length : 60), f->first,
                                       names->entries[named[v]].bytes, names->entries[name].bytes);
        named[v] = name;
    }
    return status == CLEAVE_END ? CLEAVE_OK : status;
}

/* Numbers labels in the order of their first user, the missing one included. False: no memory. */
static bool settle(const struct cleave__graph *g, const struct cleave_intern *names,
                   uint32_t *named, struct cleave_intern *out, uint64_t *unlabelled)
{
    for (uint32_t v = 0; v < g->vertices; v++) {
        bool has = named[v] != NONE;
        *unlabelled += !has;
        named[v] = has ? cleave__intern_add(out, names->entries[named[v]].bytes,
                                            names->entries[named[v]].length)
                       : cleave__intern_add(out, "-", 1);
        if (named[v] == CLEAVE_INTERN_NONE)
            return false;
    }
    return true;
}

enum cleave_status cleave__graph_read_labels(struct cleave__graph *graph, const char *path,
                                             struct cleave_error *error)
{
    struct cleave__fields f;
    enum cleave_status status = cleave__fields_open(&f, path, error);
    if (status)
        return status;
    struct cleave_intern names = {0}, settled = {0};
    uint64_t stray = 0, unlabelled = 0;
    uint32_t *named = unset(graph->vertices);
    if (!named)
        status = no_memory(f.path, error);
    if (!status)
        status = read_lines(graph, &f, &names, named, &stray, error);
    cleave__fields_close(&f);
    if (!status && names.count == 0)
        status = cleave_error_set(error, CLEAVE_BAD_INPUT,
                                  "%.200s: no label of any user of the graph (%" PRIu64
                                  " lines name others)",
                                  f.path, stray);
    if (!status && !settle(graph, &names, named, &settled, &unlabelled))
        status = no_memory(f.path, error);
    cleave__intern_free(&names);
    if (status) {
        free(named);
        cleave__intern_free(&settled);
        return status;
    }
    free(graph->label);
    cleave__intern_free(&graph->label_text);
    graph->label = named;
    graph->label_text = settled;
    graph->labels = settled.count;
    graph->remarks.stray_labels = stray;
    graph->remarks.unlabelled = unlabelled;
    return CLEAVE_OK;
}

static enum cleave_status read_owners(const struct cleave__graph *g, struct cleave__fields *f,
                                      uint32_t shards, uint32_t *read, struct cleave_error *error)
{
    enum cleave_status status;
    while (!(status = cleave__fields_next(f, "user and shard", error))) {
        uint32_t v;
        uint64_t shard;
        int shown = (int)(f->first_length < 60 ? f->first_length : 60);
        if (!cleave__graph_find(g, f->first, f->first_length, &v))
            return cleave__fields_fail(f, error, "the graph has no user '%.*s'", shown, f->first);
        if (!cleave__graph_number(f->second, f->second_length, &shard) || shard >= shards)
            return cleave__fields_fail(f, error, "'%.*s' is no shard from 0 to %" PRIu32,
                                       (int)(f->second_length < 60 ? f->second_length : 60),
                                       f->second, shards - 1);
        if (read[v] != NONE && read[v] != shard)
            return cleave__fields_fail(f, error, "user '%.*s' is on two shards", shown, f->first);
        read[v] = (uint32_t)shard;
    }
    return status == CLEAVE_END ? CLEAVE_OK : status;
}

enum cleave_status cleave__graph_read_owner(const struct cleave__graph *graph, const char *path,
                                            uint32_t shards, uint32_t *owner,
                                            struct cleave_error *error)
{
    struct cleave__fields f;
    enum cleave_status status = cleave__fields_open(&f, path, error);
    if (status)
        return status;
    uint32_t *read = unset(graph->vertices);
    status = read ? read_owners(graph, &f, shards, read, error) : no_memory(f.path, error);
    cleave__fields_close(&f);
    for (uint32_t v = 0; !status && v < graph->vertices; v++) {
        char buffer[24];
        size_t length;
        const char *id = cleave__graph_id(graph, v, buffer, &length);
        if (read[v] == NONE)
            status = cleave_error_set(error, CLEAVE_BAD_INPUT,
                                      "%.200s: does not place user '%.*s' of the graph", f.path,
                                      (int)(length < 60 ? length : 60), id);
    }
    if (!status && graph->vertices)
        memcpy(owner, read, graph->vertices * sizeof *owner);
    free(read);
    return status;
}
