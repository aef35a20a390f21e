/* Key maps to bytes and back (see key_map.h).
 *
 * Encoded: rule (a byte), NULL's shard + 1 or 0 when not explicit (varint), then
 *   HASH, ROUND_ROBIN: an integer map, a tuple map of width 1;
 *   RANGE, NEAREST: a byte, 0: an ordered integer map, 1: a count and that many (value, shard);
 *   RANGE: a count and that many bounds. */
#include <stdlib.h>

#include "tables/route/key_map.h"

struct entries { /* the map's entries in plain form, NULL apart */
    uint32_t count, integer_count;
    struct cleave_value *values;
    uint32_t *shards;
    uint32_t null_mark;
};

static enum cleave_status check_map(const struct cleave_key_map *map, uint32_t shards,
                                    const char *where, struct cleave_error *error)
{
    for (uint32_t i = 0; i < map->entry_count; i++) {
        if (map->entry_shards[i] >= shards)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "%s: entry %u names shard %u of %u shards", where, i,
                                    map->entry_shards[i], shards);
        if (i && cleave__value_compare(&map->entries[i - 1], &map->entries[i]) >= 0)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "%s: entries %u and %u are not rising", where, i - 1, i);
    }
    if ((unsigned)map->otherwise > CLEAVE_MAP_NEAREST)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "%s: unknown rule %u", where,
                                (unsigned)map->otherwise);
    if (map->otherwise != CLEAVE_MAP_RANGE)
        return CLEAVE_OK;
    if (map->bound_count >= shards)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "%s: %u bounds for %u shards", where,
                                map->bound_count, shards);
    for (uint32_t i = 0; i < map->bound_count; i++) {
        if (map->bounds[i].kind == CLEAVE_NULL ||
            (i && cleave__value_compare(&map->bounds[i - 1], &map->bounds[i]) > 0))
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "%s: bound %u is not rising", where,
                                    i);
    }
    return CLEAVE_OK;
}

static void take_entries(const struct cleave_key_map *map, struct entries *out)
{
    for (uint32_t i = 0; i < map->entry_count; i++) {
        if (map->entries[i].kind == CLEAVE_NULL) {
            out->null_mark = map->entry_shards[i] + 1;
            continue;
        }
        if (map->otherwise == CLEAVE_MAP_NEAREST && out->count &&
            out->shards[out->count - 1] == map->entry_shards[i])
            continue;
        out->values[out->count] = cleave__plain(&map->entries[i]);
        out->shards[out->count] = map->entry_shards[i];
        out->integer_count += out->values[out->count].kind == CLEAVE_INTEGER;
        out->count++;
    }
}

static enum cleave_status encode_points(const struct entries *entries, uint32_t shards,
                                        struct cleave_writer *out)
{
    uint32_t others = entries->count - entries->integer_count, n = 0, m = 0;
    struct cleave_integer_entry *integers = malloc((entries->integer_count + 1) * sizeof *integers);
    struct cleave_tuple_entry *tuples = malloc((others + 1) * sizeof *tuples);
    enum cleave_status status = integers && tuples ? CLEAVE_OK : CLEAVE_NO_MEMORY;
    if (status == CLEAVE_OK) {
        for (uint32_t i = 0; i < entries->count; i++) {
            const struct cleave_value *value = &entries->values[i];
            if (value->kind == CLEAVE_INTEGER)
                integers[n++] = (struct cleave_integer_entry){
                    cleave__key_of_integer(value->integer), entries->shards[i]};
            else
                tuples[m++] = (struct cleave_tuple_entry){{*value}, entries->shards[i]};
        }
        status = cleave__integer_map_encode(integers, n, shards, false, out);
    }
    if (status == CLEAVE_OK)
        status = cleave__tuple_map_encode(tuples, m, 1, out);
    free(integers);
    free(tuples);
    return status;
}

static enum cleave_status encode_ordered(const struct entries *entries, uint32_t shards,
                                         struct cleave_writer *out)
{
    if (entries->integer_count < entries->count) {
        cleave__put8(out, 1);
        cleave__put_varint(out, entries->count);
        for (uint32_t i = 0; i < entries->count; i++) {
            cleave__put_value(out, &entries->values[i]);
            cleave__put_varint(out, entries->shards[i]);
        }
        return CLEAVE_OK;
    }
    cleave__put8(out, 0);
    struct cleave_integer_entry *integers = malloc((entries->count + 1) * sizeof *integers);
    if (!integers)
        return CLEAVE_NO_MEMORY;
    for (uint32_t i = 0; i < entries->count; i++)
        integers[i] = (struct cleave_integer_entry){
            cleave__key_of_integer(entries->values[i].integer), entries->shards[i]};
    enum cleave_status status =
        cleave__integer_map_encode(integers, entries->count, shards, true, out);
    free(integers);
    return status;
}

enum cleave_status cleave__key_index_encode(const struct cleave_key_map *map, uint32_t shards,
                                            const char *where, struct cleave_writer *out,
                                            struct cleave_error *error)
{
    enum cleave_status status = check_map(map, shards, where, error);
    if (status != CLEAVE_OK)
        return status;
    struct entries entries = {0};
    entries.values = malloc(((size_t)map->entry_count + 1) * sizeof *entries.values);
    entries.shards = malloc(((size_t)map->entry_count + 1) * sizeof *entries.shards);
    bool ordered = map->otherwise == CLEAVE_MAP_RANGE || map->otherwise == CLEAVE_MAP_NEAREST;
    if (entries.values && entries.shards) {
        take_entries(map, &entries);
        cleave__put8(out, (uint8_t)map->otherwise);
        cleave__put_varint(out, entries.null_mark);
        status = (ordered ? encode_ordered : encode_points)(&entries, shards, out);
        if (map->otherwise == CLEAVE_MAP_RANGE) {
            cleave__put_varint(out, map->bound_count);
            for (uint32_t i = 0; i < map->bound_count; i++) {
                struct cleave_value plain = cleave__plain(&map->bounds[i]);
                cleave__put_value(out, &plain);
            }
        }
    } else {
        status = CLEAVE_NO_MEMORY;
    }
    free(entries.values);
    free(entries.shards);
    if (status == CLEAVE_OK && out->failed)
        status = CLEAVE_NO_MEMORY;
    return status == CLEAVE_OK
               ? CLEAVE_OK
               : cleave_error_set(error, status, "%s: %s", where,
                                  status == CLEAVE_LIMIT          ? "its entries are past 4 GiB"
                                  : status == CLEAVE_BAD_ARGUMENT ? "an entry comes twice"
                                                                  : "out of memory");
}

/* Values that rise (strictly when `strict`), none of them NULL, with shards when asked. */
static enum cleave_status decode_values(struct cleave_reader *reader, bool strict,
                                        struct cleave_arena *arena, uint32_t shards,
                                        uint32_t *count, struct cleave_value **values,
                                        uint32_t **value_shards)
{
    uint32_t n = cleave__get_count(reader, UINT32_MAX);
    if (reader->failed || n > cleave__left(reader)) /* each takes a byte at least */
        return CLEAVE_CORRUPT;
    *values = cleave__arena_array(arena, n, sizeof **values);
    if (value_shards)
        *value_shards = cleave__arena_array(arena, n, sizeof **value_shards);
    if (!*values || (value_shards && !*value_shards))
        return CLEAVE_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        (*values)[i] = cleave__get_value(reader);
        if (value_shards)
            (*value_shards)[i] = cleave__get_count(reader, shards - 1);
        if (reader->failed || (*values)[i].kind == CLEAVE_NULL)
            return CLEAVE_CORRUPT;
        int order = i ? cleave__value_compare(&(*values)[i - 1], &(*values)[i]) : -1;
        if (order > 0 || (strict && order == 0))
            return CLEAVE_CORRUPT;
    }
    *count = n;
    return CLEAVE_OK;
}

static void note_shards(struct cleave_key_index *index)
{
    uint32_t n = index->value_count;
    for (uint32_t i = 0; i < n; i++)
        cleave__shardset_add(&index->explicit_shards, index->value_shards[i]);
    if (index->integers.form == CLEAVE_FORM_ORDERED) {
        for (uint32_t i = 0; i < index->integers.count; i++)
            cleave__shardset_add(&index->explicit_shards,
                                 cleave__integer_map_shard(&index->integers, i));
    }
    index->may = index->explicit_shards;
    switch (index->otherwise) {
    case CLEAVE_MAP_NEAREST:
        if (!n && !index->integers.count)
            cleave__shardset_add(&index->may, 0);
        break;
    case CLEAVE_MAP_RANGE:
        for (uint32_t i = 0; i <= index->bound_count; i++)
            cleave__shardset_add(&index->may, i);
        break;
    case CLEAVE_MAP_HASH:
    case CLEAVE_MAP_ROUND_ROBIN:
        cleave__shardset_fill(&index->may, index->shards);
        break;
    }
}

enum cleave_status cleave__key_index_decode(struct cleave_reader *reader, uint32_t shards,
                                            struct cleave_arena *arena,
                                            struct cleave_key_index *out)
{
    struct cleave_key_index index = {.shards = shards};
    uint8_t rule = cleave__get8(reader);
    uint32_t null_mark = cleave__get_count(reader, shards);
    if (reader->failed || rule > CLEAVE_MAP_NEAREST)
        return CLEAVE_CORRUPT;
    index.otherwise = (enum cleave_map_default)rule;
    index.null_explicit = null_mark != 0;
    index.null_shard = null_mark ? null_mark - 1 : 0;
    enum cleave_status status = CLEAVE_OK;
    if (rule == CLEAVE_MAP_HASH || rule == CLEAVE_MAP_ROUND_ROBIN) {
        if (!cleave__integer_map_decode(reader, shards, false, &index.integers) ||
            !cleave__tuple_map_decode(reader, 1, shards, &index.tuples) ||
            index.tuples.count > UINT32_MAX - index.integers.count)
            return CLEAVE_CORRUPT;
    } else {
        uint8_t form = cleave__get8(reader);
        if (form > 1)
            return CLEAVE_CORRUPT;
        if (form == 0 && !cleave__integer_map_decode(reader, shards, true, &index.integers))
            return CLEAVE_CORRUPT;
        if (form == 1) {
            status = decode_values(reader, true, arena, shards, &index.value_count, &index.values,
                                   &index.value_shards);
            if (status != CLEAVE_OK)
                return status;
            if (index.value_count == 0)
                return CLEAVE_CORRUPT;
        }
    }
    if (rule == CLEAVE_MAP_RANGE) {
        status =
            decode_values(reader, false, arena, shards, &index.bound_count, &index.bounds, NULL);
        if (status != CLEAVE_OK)
            return status;
        if (index.bound_count >= shards)
            return CLEAVE_CORRUPT;
    }
    if (reader->failed)
        return CLEAVE_CORRUPT;
    note_shards(&index);
    *out = index;
    return CLEAVE_OK;
}

struct listed {
    struct cleave_value value;
    uint32_t shard;
};

static int compare_listed(const void *a, const void *b)
{
    return cleave__value_compare(&((const struct listed *)a)->value,
                                 &((const struct listed *)b)->value);
}

static enum cleave_status list_points(const struct cleave_key_index *index, uint32_t count,
                                      struct listed *out)
{
    uint32_t integer_count = index->integers.count;
    struct cleave_integer_entry *integers = malloc(((size_t)integer_count + 1) * sizeof *integers);
    struct cleave_tuple_entry *tuples = malloc(((size_t)index->tuples.count + 1) * sizeof *tuples);
    if (!integers || !tuples) {
        free(integers);
        free(tuples);
        return CLEAVE_NO_MEMORY;
    }
    cleave__integer_map_list(&index->integers, integers);
    cleave__tuple_map_list(&index->tuples, tuples);
    for (uint32_t i = 0; i < integer_count; i++) {
        out[i] = (struct listed){.shard = integers[i].shard};
        out[i].value.kind = CLEAVE_INTEGER;
        out[i].value.integer = cleave__integer_of_key(integers[i].key);
    }
    for (uint32_t i = integer_count; i < count; i++)
        out[i] =
            (struct listed){tuples[i - integer_count].value[0], tuples[i - integer_count].shard};
    free(integers);
    free(tuples);
    return CLEAVE_OK;
}

enum cleave_status cleave__key_index_list(const struct cleave_key_index *index, uint32_t *count,
                                          struct cleave_value **values, uint32_t **shards)
{
    uint32_t n =
        index->value_count ? index->value_count : index->integers.count + index->tuples.count;
    struct listed *listed = malloc(((size_t)n + 1) * sizeof *listed);
    struct cleave_value *fresh_values = malloc(((size_t)n + 1) * sizeof *fresh_values);
    uint32_t *fresh_shards = malloc(((size_t)n + 1) * sizeof *fresh_shards);
    enum cleave_status status =
        listed && fresh_values && fresh_shards ? CLEAVE_OK : CLEAVE_NO_MEMORY;
    if (status == CLEAVE_OK && !index->value_count)
        status = list_points(index, n, listed);
    if (status == CLEAVE_OK) {
        for (uint32_t i = 0; index->value_count && i < n; i++)
            listed[i] = (struct listed){index->values[i], index->value_shards[i]};
        qsort(listed, n, sizeof *listed, compare_listed);
        for (uint32_t i = 0; i < n; i++) {
            fresh_values[i] = listed[i].value;
            fresh_shards[i] = listed[i].shard;
        }
        *count = n;
        *values = fresh_values;
        *shards = fresh_shards;
    } else {
        free(fresh_values);
        free(fresh_shards);
    }
    free(listed);
    return status;
}
