/* A load from beginning to end: source, tables, targets, rows, commit. */
#include "tables/load/load.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "tables/load/inside.h"

enum cleave_status cleave__load_no_memory(struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "load: out of memory");
}

enum cleave_status cleave__load_stopped(const struct cleave__load *load, const char *stage,
                                        uint64_t done, struct cleave_error *error)
{
    const struct cleave_progress *progress = load->options->progress;
    if (progress && progress->report)
        progress->report(progress->context, stage, done, 0);
    return progress && progress->stop && *progress->stop
               ? cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped; nothing was loaded")
               : CLEAVE_OK;
}

bool cleave__load_remark(struct cleave__load *load, const char *format, ...)
{
    char line[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const char *copy = cleave__arena_copy(&load->arena, line, strlen(line));
    return copy && CLEAVE_PUSH(&load->remarks, copy);
}

/* The result takes the arena. */
static enum cleave_status hand_over(struct cleave__load *load, struct cleave_load_result *out,
                                    struct cleave_error *error)
{
    struct cleave_load_result result = {.table_count = load->table_count,
                                        .shards = load->options->shard_count,
                                        .remark_count = (uint32_t)load->remarks.count,
                                        .recovered = load->recovered};
    result.tables = cleave__arena_array(&load->arena, load->table_count, sizeof *result.tables);
    result.remarks = cleave__arena_array(&load->arena, load->remarks.count, sizeof *result.remarks);
    if (!result.tables || !result.remarks)
        return cleave__load_no_memory(error);
    for (uint32_t t = 0; t < load->table_count; t++) {
        const struct cleave__load_table *table = &load->tables[t];
        const char *name = table->source->name; /* its schema goes */
        result.tables[t] =
            (struct cleave_load_table){cleave__arena_copy(&load->arena, name, strlen(name)),
                                       cleave__lookup_replicated(load->lookup, table->lookup_table),
                                       cleave__lookup_twice(load->lookup, table->lookup_table),
                                       table->rows, table->shard_rows};
        if (!result.tables[t].name)
            return cleave__load_no_memory(error);
    }
    if (load->remarks.count)
        memcpy(result.remarks, load->remarks.data, load->remarks.count * sizeof *result.remarks);
    result.arena = load->arena;
    load->arena = (struct cleave_arena){0};
    *out = result;
    return CLEAVE_OK;
}

static void free_load(struct cleave__load *load)
{
    for (uint32_t i = 0; i < load->target_count; i++) {
        if (load->targets[i].session)
            load->targets[i].ops->close(load->targets[i].session);
    }
    for (uint32_t t = 0; t < load->table_count; t++) {
        CLEAVE_VECTOR_FREE(&load->tables[t].checks);
        CLEAVE_VECTOR_FREE(&load->tables[t].indexes);
    }
    if (load->session)
        load->ops->close(load->session);
    cleave__schema_free(load->owned);
    CLEAVE_VECTOR_FREE(&load->remarks);
    cleave__arena_free(&load->arena);
}

static enum cleave_status run(struct cleave__load *load, struct cleave_error *error)
{
    const struct cleave_load_options *options = load->options;
    uint64_t draw;
    if (options->shard_count != load->lookup->shards)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "the lookup table has %u shards, but %u were given",
                                load->lookup->shards, options->shard_count);
    if (getrandom(&draw, sizeof draw, 0) != sizeof draw)
        return cleave_error_set(error, CLEAVE_IO, "the system gives no random numbers");
    snprintf(load->name, sizeof load->name, CLEAVE__LOAD_PREFIX "%016llx",
             (unsigned long long)draw);
    enum cleave_status status = cleave__load_source(load, error);
    if (!status)
        status = cleave__load_tables(load, error);
    if (!status)
        status = cleave__load_open(load, error);
    if (!status)
        status = cleave__load_rows(load, error);
    return status ? status : cleave__load_commit(load, error);
}

enum cleave_status cleave__load_run(const struct cleave_lookup *lookup,
                                    const struct cleave_load_options *options,
                                    struct cleave_load_result *out, struct cleave_error *error)
{
    struct cleave__load load = {.lookup = lookup, .options = options};
    enum cleave_status status = run(&load, error);
    if (status)
        cleave__load_undo(&load);
    else
        status = hand_over(&load, out, error);
    free_load(&load);
    return status;
}

void cleave__load_free(struct cleave_load_result *result)
{
    cleave__arena_free(&result->arena);
}
