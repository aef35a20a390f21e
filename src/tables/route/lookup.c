/* The lookup table's calls: build, one row, whole transactions. Boxes are in box.c, files in
 * file.c, the bytes in image.c. Thread rule: a lookup table never changes; ask from any thread. */
#include "tables/route/lookup.h"

#include <assert.h>
#include <stdlib.h>

#include "tables/route/image.h"
#include "tables/route/mix.h"

enum cleave_status cleave__lookup_build(const struct cleave_layout *layout,
                                        struct cleave_lookup **out, struct cleave_error *error)
{
    struct cleave_writer writer = {0};
    enum cleave_status status = cleave__image_encode(layout, &writer, error);
    if (status == CLEAVE_OK)
        status = cleave__image_open(writer.data, writer.count, "lookup table", out, error);
    if (status != CLEAVE_OK)
        free(writer.data);
    return status;
}

void cleave__lookup_release(struct cleave_lookup *lookup)
{
    if (!lookup)
        return;
    cleave__arena_free(&lookup->schema.arena);
    cleave__intern_free(&lookup->schema.names);
    cleave__intern_free(&lookup->schema.aliases);
    free(lookup->bytes);
    free(lookup);
}

uint32_t cleave__lookup_shards(const struct cleave_lookup *lookup)
{
    return lookup->shards;
}

size_t cleave__lookup_bytes(const struct cleave_lookup *lookup)
{
    return lookup->size;
}

const struct cleave_schema *cleave__lookup_schema(const struct cleave_lookup *lookup)
{
    return &lookup->schema;
}

bool cleave__lookup_replicated(const struct cleave_lookup *lookup, uint32_t table)
{
    assert(table < lookup->schema.table_count);
    if (lookup->mix) {
        const struct cleave_lookup *side = cleave__mix_whole_side(lookup->mix, table);
        return side && side->tables[table].replicated;
    }
    return lookup->tables[table].replicated;
}

bool cleave__lookup_twice(const struct cleave_lookup *lookup, uint32_t table)
{
    assert(table < lookup->schema.table_count);
    if (lookup->mix) {
        const struct cleave_lookup *side = cleave__mix_whole_side(lookup->mix, table);
        return side && side->tables[table].twice;
    }
    return lookup->tables[table].twice;
}

uint32_t cleave__lookup_row(const struct cleave_lookup *lookup, uint32_t table,
                            const struct cleave_value *values, uint32_t value_count)
{
    static const struct cleave_value null = {.kind = CLEAVE_NULL};
    assert(table < lookup->schema.table_count);
    if (lookup->mix)
        lookup = cleave__mix_side(lookup->mix, table, values, value_count);
    const struct cleave_table_index *index = &lookup->tables[table];
    if (index->replicated)
        return CLEAVE_SHARDS_MAX;
    for (uint32_t g = 0; g < index->exceptions.group_count; g++) {
        const struct cleave_exception_group *group = &index->exceptions.groups[g];
        struct cleave_value plain[2];
        const struct cleave_value *point[2] = {&plain[0], &plain[1]};
        uint32_t shard;
        for (uint32_t i = 0; i < group->width; i++)
            plain[i] =
                group->column[i] < value_count ? cleave__plain(&values[group->column[i]]) : null;
        if (cleave__exception_find(group, point, &shard))
            return shard;
    }
    return cleave__key_index_shard(&lookup->maps[index->map], index->key_column < value_count
                                                                  ? &values[index->key_column]
                                                                  : &null);
}

uint32_t cleave__lookup_second(const struct cleave_lookup *lookup, uint32_t table,
                               const struct cleave_value *values, uint32_t value_count)
{
    static const struct cleave_value null = {.kind = CLEAVE_NULL};
    if (lookup->mix)
        lookup = cleave__mix_side(lookup->mix, table, values, value_count);
    const struct cleave_table_index *index = &lookup->tables[table];
    assert(index->twice);
    return cleave__key_index_shard(
        &lookup->maps[index->second_map],
        index->second_column < value_count ? &values[index->second_column] : &null);
}

void cleave__lookup_row_shards(const struct cleave_lookup *lookup, uint32_t table,
                               const struct cleave_value *values, uint32_t value_count,
                               struct cleave_shardset *shards)
{
    const struct cleave__mix *mix = lookup->mix;
    if (mix)
        lookup = cleave__mix_side(mix, table, values, value_count);
    uint32_t shard = cleave__lookup_row(lookup, table, values, value_count);
    if (lookup->tables[table].replicated)
        cleave__shardset_fill(shards, mix ? cleave__mix_copied(mix, lookup) : lookup->shards);
    else
        cleave__shardset_add(shards, shard);
    if (lookup->tables[table].twice)
        cleave__shardset_add(shards, cleave__lookup_second(lookup, table, values, value_count));
}

static bool decides(const struct cleave_lookup *lookup, uint32_t table, uint32_t column)
{
    const struct cleave_table_index *index = &lookup->tables[table];
    if (index->replicated)
        return false;
    if (column == index->key_column || (index->twice && column == index->second_column))
        return true;
    for (uint32_t g = 0; g < index->exceptions.group_count; g++) {
        const struct cleave_exception_group *group = &index->exceptions.groups[g];
        for (uint32_t i = 0; i < group->width; i++) {
            if (group->column[i] == column)
                return true;
        }
    }
    return false;
}

bool cleave__lookup_decides(const struct cleave_lookup *lookup, uint32_t table, uint32_t column)
{
    assert(table < lookup->schema.table_count);
    if (lookup->mix)
        return decides(cleave__mix_from(lookup->mix), table, column) ||
               decides(cleave__mix_to(lookup->mix), table, column);
    return decides(lookup, table, column);
}

enum cleave_status cleave__lookup_analyzer(const struct cleave_lookup *lookup,
                                           struct cleave_analyzer **out, struct cleave_error *error)
{
    enum cleave_status status = cleave__analyzer_new(&lookup->schema, out, error);
    for (uint32_t t = 0; t < lookup->schema.table_count && !status; t++) {
        for (uint32_t c = 0; c < lookup->schema.tables[t].column_count; c++) {
            if (!lookup->schema.tables[t].view && cleave__lookup_decides(lookup, t, c))
                cleave__analyzer_place(*out, t, c);
        }
    }
    return status;
}

uint32_t cleave__lookup_copies(const struct cleave_lookup *lookup)
{
    return lookup->mix ? cleave__mix_copies(lookup->mix) : lookup->shards;
}

static void touch_boxes(const struct cleave_lookup *lookup, const struct cleave_access *access,
                        struct cleave_shardset *shards)
{
    bool twice = cleave__lookup_twice(lookup, access->table);
    struct cleave_shardset by[2] = {{{0}}, {{0}}};
    for (uint32_t i = 0; i < access->box_count; i++) {
        const struct cleave_box *box = &access->boxes[i];
        cleave__lookup_box_by(lookup, access->table, box, access->insert, false,
                              twice ? &by[0] : shards);
        if (twice)
            cleave__lookup_box_by(lookup, access->table, box, access->insert, true, &by[1]);
    }
    if (twice)
        cleave__lookup_serve(&by[0], &by[1], access->write, shards);
}

void cleave__lookup_accesses(const struct cleave_lookup *lookup,
                             const struct cleave_access *accesses, uint32_t access_count,
                             struct cleave_touch *touch)
{
    for (uint32_t i = 0; i < access_count; i++) {
        const struct cleave_access *access = &accesses[i];
        touch->writes = touch->writes || access->write;
        if (access->box_count == 0)
            continue;
        if (cleave__lookup_replicated(lookup, access->table)) {
            const struct cleave__mix *mix = lookup->mix;
            if (access->write)
                cleave__shardset_fill(
                    &touch->shards,
                    mix ? cleave__mix_copied(mix, cleave__mix_whole_side(mix, access->table))
                        : lookup->shards);
            continue;
        }
        touch_boxes(lookup, access, &touch->shards);
    }
    touch->distributed = cleave__shardset_count(&touch->shards) > 1;
}
