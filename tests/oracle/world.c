/* See world.h. */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>

static void need(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "world: %s\n", what);
        abort();
    }
}

void world_open(struct world *world, const char *ddl, uint32_t shards)
{
    struct cleave_error error;
    *world = (struct world){0};
    need(cleave__schema_parse_ddl(ddl, strlen(ddl), "test", &world->schema, &error) == CLEAVE_OK,
         "schema");
    need(cleave__oracle_new(world->schema, &world->oracle, &error) == CLEAVE_OK, "oracle");
    struct cleave_layout *layout = &world->layout;
    layout->schema = world->schema;
    layout->shards = shards;
    layout->arena = &world->arena;
    layout->tables = cleave__arena_zalloc(&world->arena, (world->schema->table_count + 1) *
                                                             sizeof *layout->tables);
    need(layout->tables, "memory");
    world_map(world, CLEAVE_MAP_ROUND_ROBIN);
    for (uint32_t t = 0; t < world->schema->table_count; t++)
        layout->tables[t].replicated = world->schema->tables[t].name[0] == 'r';
}

void world_close(struct world *world)
{
    cleave__oracle_free(world->oracle);
    cleave__schema_free(world->schema);
    cleave__arena_free(&world->arena);
}

uint32_t world_table(const struct world *world, const char *name)
{
    uint32_t table = cleave__schema_table(world->schema, name, strlen(name));
    need(table != CLEAVE_ABSENT, name);
    return table;
}

uint32_t world_column(const struct world *world, const char *table, const char *column)
{
    uint32_t at = cleave__schema_column(&world->schema->tables[world_table(world, table)], column,
                                        strlen(column));
    need(at != CLEAVE_ABSENT, column);
    return at;
}

static void *more(struct world *world, const void *items, uint32_t count, size_t size)
{
    char *fresh = cleave__arena_zalloc(&world->arena, (count + 1) * size);
    need(fresh, "memory");
    if (count)
        memcpy(fresh, items, count * size);
    return fresh;
}

uint32_t world_map(struct world *world, enum cleave_map_default otherwise)
{
    struct cleave_layout *layout = &world->layout;
    layout->maps = more(world, layout->maps, layout->map_count, sizeof *layout->maps);
    layout->maps[layout->map_count].otherwise = otherwise;
    return layout->map_count++;
}

void world_entry(struct world *world, uint32_t map, int64_t value, uint32_t shard)
{
    struct cleave_key_map *m = &world->layout.maps[map];
    m->entries = more(world, m->entries, m->entry_count, sizeof *m->entries);
    m->entry_shards = more(world, m->entry_shards, m->entry_count, sizeof *m->entry_shards);
    m->entries[m->entry_count] = (struct cleave_value){.kind = CLEAVE_INTEGER, .integer = value};
    m->entry_shards[m->entry_count++] = shard;
}

void world_bound(struct world *world, uint32_t map, int64_t value)
{
    struct cleave_key_map *m = &world->layout.maps[map];
    m->bounds = more(world, m->bounds, m->bound_count, sizeof *m->bounds);
    m->bounds[m->bound_count++] = (struct cleave_value){.kind = CLEAVE_INTEGER, .integer = value};
}

struct cleave_range world_range(int64_t low, int64_t high)
{
    return (struct cleave_range){.low = {.kind = CLEAVE_INTEGER, .integer = low},
                                 .high = {.kind = CLEAVE_INTEGER, .integer = high}};
}

void world_exception(struct world *world, const char *table, const char *column0,
                     struct cleave_range range0, const char *column1, struct cleave_range range1,
                     uint32_t shard)
{
    struct cleave_table_layout *l = &world->layout.tables[world_table(world, table)];
    l->exceptions = more(world, l->exceptions, l->exception_count, sizeof *l->exceptions);
    struct cleave_exception *e = &l->exceptions[l->exception_count++];
    e->range_count = column1 ? 2 : 1;
    e->column[0] = world_column(world, table, column0);
    e->range[0] = range0;
    if (column1) {
        e->column[1] = world_column(world, table, column1);
        e->range[1] = range1;
    }
    e->shard = shard;
}

const char *world_touch_bound(struct world *world, const char *sql,
                              const struct cleave_parameter *parameters, uint32_t count,
                              char *buffer, size_t size)
{
    struct cleave_trace_statement statements[16];
    struct cleave_trace_transaction transaction = {.statements = statements};
    char *copy = strdup(sql), *rest = copy;
    need(copy, "memory");
    while (rest && transaction.statement_count < 16) {
        char *end = strchr(rest, ';');
        if (end)
            *end = 0;
        statements[transaction.statement_count++] =
            (struct cleave_trace_statement){.text = rest,
                                            .length = strlen(rest),
                                            .parameters = parameters,
                                            .parameter_count = count};
        rest = end ? end + 1 : NULL;
    }
    struct cleave_shardset shards;
    const struct cleave_layout *layouts[1] = {&world->layout};
    bool touches = false, writes = false;
    struct cleave_error error;
    need(cleave__oracle_touch(world->oracle, &transaction, layouts, 1, UINT32_MAX, &shards,
                              &touches, &writes, &error) == CLEAVE_OK,
         "touch");
    uint32_t members = cleave__shardset_count(&shards);
    size_t used = 0;
    buffer[0] = 0;
    if (!touches)
        snprintf(buffer, size, "nothing");
    else if (members == 0)
        snprintf(buffer, size, "free");
    else if (members == world->layout.shards)
        snprintf(buffer, size, "all");
    for (uint32_t s = 0; buffer[0] == 0 || used; s++) {
        if (s >= world->layout.shards || used + 12 > size)
            break;
        if (cleave__shardset_has(&shards, s))
            used += (size_t)snprintf(buffer + used, size - used, "%s%u", used ? " " : "", s);
    }
    /* The verdict that stops early says the same. */
    struct cleave_oracle_count counted = {0};
    unsigned char verdict = 9;
    need(cleave__oracle_count(world->oracle, &transaction, layouts, 1, &counted, &verdict,
                              &error) == CLEAVE_OK,
         "count");
    need(verdict == (!touches ? 2 : members > 1), "verdict");
    need(counted.transactions == touches && counted.distributed == (touches && members > 1) &&
             counted.read_only_distributed + counted.write_distributed == counted.distributed &&
             counted.write_distributed == (writes && counted.distributed),
         "count of the verdict");
    free(copy);
    return buffer;
}

const char *world_touch(struct world *world, const char *sql, char *buffer, size_t size)
{
    return world_touch_bound(world, sql, NULL, 0, buffer, size);
}
