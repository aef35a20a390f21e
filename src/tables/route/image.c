/* The bytes of a lookup table, made and tested.
 *
 * Header: magic (8 bytes; its first is not ASCII and its last is a newline, so that text-mode
 * copies show), version, shards, total bytes (64 bits), number of sections, zero; for each section
 * kind, zero, offset, length, XXH3; then the XXH3 of the header so far. Section payloads follow in
 * order without gaps, up to the total. */
#include "tables/route/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

static const uint8_t magic[8] = {0x89, 'c', 'l', 'e', 'a', 'v', 'e', '\n'};

enum { SECTION_SCHEMA = 1, SECTION_MAPS, SECTION_TABLES };

static enum cleave_status encode_maps(const struct cleave_layout *layout, struct cleave_writer *out,
                                      struct cleave_error *error)
{
    cleave__put_varint(out, layout->map_count);
    for (uint32_t i = 0; i < layout->map_count; i++) {
        char where[32];
        snprintf(where, sizeof where, "key map %u", i);
        enum cleave_status status =
            cleave__key_index_encode(&layout->maps[i], layout->shards, where, out, error);
        if (status != CLEAVE_OK)
            return status;
    }
    return CLEAVE_OK;
}

static enum cleave_status check_table(const struct cleave_layout *layout, uint32_t index,
                                      struct cleave_error *error)
{
    const struct cleave_table *table = &layout->schema->tables[index];
    const struct cleave_table_layout *placed = &layout->tables[index];
    if (!table->column_count)
        return cleave_error_set(error, CLEAVE_BAD_INPUT,
                                "table %s has no columns to place its rows by: drop it, or leave "
                                "it out of the schema",
                                table->name);
    if (placed->key_column >= table->column_count)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "table %s: no key column %u",
                                table->name, placed->key_column);
    if (placed->map >= layout->map_count)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "table %s: no key map %u", table->name,
                                placed->map);
    if (placed->twice && placed->second_column >= table->column_count)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "table %s: no second key column %u",
                                table->name, placed->second_column);
    if (placed->twice && placed->second_map >= layout->map_count)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "table %s: no second key map %u",
                                table->name, placed->second_map);
    if (placed->twice && placed->exception_count)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "table %s: a table with two keys has no exceptions", table->name);
    if (placed->derived_count > CLEAVE_DERIVED_MAX)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "table %s: %u derived keys, at most %d",
                                table->name, placed->derived_count, CLEAVE_DERIVED_MAX);
    for (uint32_t i = 0; i < placed->derived_count; i++) {
        if (placed->derived[i].column >= table->column_count)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "table %s: no derived column %u",
                                    table->name, placed->derived[i].column);
    }
    return CLEAVE_OK;
}

/* A table: 0 for a replicated one or a view, else the number of keys (1 or 2), column and map of
 * each, derived keys (column, prefix, suffix, support each), exceptions. */
static enum cleave_status encode_tables(const struct cleave_layout *layout,
                                        struct cleave_writer *out, struct cleave_error *error)
{
    for (uint32_t i = 0; i < layout->schema->table_count; i++) {
        const struct cleave_table *table = &layout->schema->tables[i];
        const struct cleave_table_layout *placed = &layout->tables[i];
        if (placed->replicated || table->view) {
            cleave__put8(out, 0);
            continue;
        }
        enum cleave_status status = check_table(layout, i, error);
        if (status != CLEAVE_OK)
            return status;
        cleave__put8(out, placed->twice ? 2 : 1);
        cleave__put_varint(out, placed->key_column);
        cleave__put_varint(out, placed->map);
        if (placed->twice) {
            cleave__put_varint(out, placed->second_column);
            cleave__put_varint(out, placed->second_map);
        }
        cleave__put_varint(out, placed->derived_count);
        for (uint32_t j = 0; j < placed->derived_count; j++) {
            const struct cleave_derived_key *derived = &placed->derived[j];
            cleave__put_varint(out, derived->column);
            cleave__put_text(out, derived->prefix, strlen(derived->prefix));
            cleave__put_text(out, derived->suffix, strlen(derived->suffix));
            cleave__put_varint(out, derived->support);
        }
        status = cleave__exceptions_encode(placed, layout->shards, table->column_count, table->name,
                                           out, error);
        if (status != CLEAVE_OK)
            return status;
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__image_encode(const struct cleave_layout *layout,
                                        struct cleave_writer *out, struct cleave_error *error)
{
    if (layout->shards == 0 || layout->shards > CLEAVE_SHARDS_MAX)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "%u shards: a lookup table has 1 to %d",
                                layout->shards, CLEAVE_SHARDS_MAX);
    size_t starts[CLEAVE_IMAGE_SECTIONS + 1];
    cleave__put_space(out, CLEAVE_IMAGE_HEADER);
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < CLEAVE_IMAGE_SECTIONS && status == CLEAVE_OK; i++) {
        starts[i] = out->count;
        if (i + 1 == SECTION_SCHEMA)
            cleave__schema_encode(layout->schema, out);
        else
            status = (i + 1 == SECTION_MAPS ? encode_maps : encode_tables)(layout, out, error);
    }
    if (status != CLEAVE_OK)
        return status;
    if (out->failed)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "lookup table: out of memory");
    starts[CLEAVE_IMAGE_SECTIONS] = out->count;
    uint8_t *at = out->data;
    memcpy(at, magic, sizeof magic);
    cleave__store32(at + 8, CLEAVE_IMAGE_VERSION);
    cleave__store32(at + 12, layout->shards);
    cleave__store64(at + 16, out->count);
    cleave__store32(at + 24, CLEAVE_IMAGE_SECTIONS);
    cleave__store32(at + 28, 0);
    for (uint32_t i = 0; i < CLEAVE_IMAGE_SECTIONS; i++) {
        uint8_t *row = at + 32 + i * 24;
        size_t length = starts[i + 1] - starts[i];
        cleave__store32(row, i + 1);
        cleave__store32(row + 4, 0);
        cleave__store64(row + 8, length);
        cleave__store64(row + 16, XXH3_64bits(at + starts[i], length));
    }
    cleave__store64(at + CLEAVE_IMAGE_HEADER - 8, XXH3_64bits(at, CLEAVE_IMAGE_HEADER - 8));
    return CLEAVE_OK;
}

enum cleave_status cleave__image_header(const uint8_t *header, size_t size, const char *name,
                                        uint64_t *total, struct cleave_error *error)
{
    if (size < sizeof magic || memcmp(header, magic, sizeof magic) != 0)
        return cleave_error_set(error, CLEAVE_CORRUPT, "%s: not a lookup table", name);
    if (size < CLEAVE_IMAGE_HEADER)
        return cleave_error_set(error, CLEAVE_CORRUPT, "%s: cut off after %zu bytes", name, size);
    /* The checksum tells damage from a newer version, whose header may be longer. */
    uint32_t version = cleave__load32(header + 8), sections = cleave__load32(header + 24);
    if (XXH3_64bits(header, CLEAVE_IMAGE_HEADER - 8) !=
        cleave__load64(header + CLEAVE_IMAGE_HEADER - 8))
        return cleave_error_set(error, CLEAVE_CORRUPT,
                                "%s: the header fails its checksum: the file is damaged", name);
    if (version != CLEAVE_IMAGE_VERSION || sections != CLEAVE_IMAGE_SECTIONS)
        return cleave_error_set(error, CLEAVE_UNSUPPORTED,
                                "%s: format version %u, this cleave reads version %d", name,
                                version, CLEAVE_IMAGE_VERSION);
    *total = cleave__load64(header + 16);
    return CLEAVE_OK;
}

static void note_relevant(struct cleave_table_index *table)
{
    table->relevant[table->relevant_count++] = table->key_column;
    for (uint32_t g = 0; g < table->exceptions.group_count; g++) {
        const struct cleave_exception_group *group = &table->exceptions.groups[g];
        for (uint32_t i = 0; i < group->width; i++) {
            uint32_t j = 0;
            while (j < table->relevant_count && table->relevant[j] != group->column[i])
                j++;
            if (j == table->relevant_count && j < CLEAVE_RELEVANT_MAX)
                table->relevant[table->relevant_count++] = group->column[i];
        }
    }
}

static bool nullable(const struct cleave_table *table, uint32_t column)
{
    for (uint32_t i = 0; i < table->primary.count; i++) {
        if (table->primary.columns[i] == column)
            return false;
    }
    return !table->columns[column].not_null;
}

static enum cleave_status decode_table(struct cleave_lookup *lookup, uint32_t index,
                                       struct cleave_reader *reader)
{
    const struct cleave_table *table = &lookup->schema.tables[index];
    struct cleave_table_index *out = &lookup->tables[index];
    struct cleave_arena *arena = &lookup->schema.arena;
    uint8_t form = cleave__get8(reader);
    out->replicated = form == 0;
    if (form == 0)
        return reader->failed ? CLEAVE_CORRUPT : CLEAVE_OK;
    if (form > 2 || table->view || table->column_count == 0 || lookup->map_count == 0)
        return CLEAVE_CORRUPT;
    out->key_column = cleave__get_count(reader, table->column_count - 1);
    out->map = cleave__get_count(reader, lookup->map_count - 1);
    out->twice = form == 2;
    if (out->twice) {
        out->second_column = cleave__get_count(reader, table->column_count - 1);
        out->second_map = cleave__get_count(reader, lookup->map_count - 1);
        out->second_nullable = !reader->failed && nullable(table, out->second_column);
    }
    out->derived_count = cleave__get_count(reader, CLEAVE_DERIVED_MAX);
    for (uint32_t i = 0; i < out->derived_count; i++) {
        struct cleave_derived_key *derived = &out->derived[i];
        const char *affix[2];
        derived->column = cleave__get_count(reader, table->column_count - 1);
        for (uint32_t j = 0; j < 2; j++) {
            uint64_t length = cleave__get_varint(reader);
            const uint8_t *bytes = cleave__get_bytes(reader, length);
            if (!bytes || memchr(bytes, 0, (size_t)length))
                return CLEAVE_CORRUPT;
            affix[j] = cleave__arena_copy(arena, (const char *)bytes, (size_t)length);
            if (!affix[j])
                return CLEAVE_NO_MEMORY;
        }
        derived->prefix = affix[0];
        derived->suffix = affix[1];
        derived->support = cleave__get_varint(reader);
    }
    if (reader->failed)
        return CLEAVE_CORRUPT;
    enum cleave_status status = cleave__exceptions_decode(
        reader, lookup->shards, table->column_count, arena, &out->exceptions);
    if (status != CLEAVE_OK)
        return status;
    if (out->twice && out->exceptions.group_count)
        return CLEAVE_CORRUPT;
    out->key_nullable = nullable(table, out->key_column);
    note_relevant(out);
    return CLEAVE_OK;
}

static enum cleave_status decode_section(struct cleave_lookup *lookup, uint32_t kind,
                                         struct cleave_reader *reader)
{
    struct cleave_arena *arena = &lookup->schema.arena;
    enum cleave_status status = CLEAVE_OK;
    if (kind == SECTION_SCHEMA)
        return cleave__schema_decode(reader, &lookup->schema);
    if (kind == SECTION_MAPS) {
        lookup->map_count = cleave__get_count(reader, UINT32_MAX);
        if (reader->failed || lookup->map_count > cleave__left(reader) / 4)
            return CLEAVE_CORRUPT;
        lookup->maps = cleave__arena_array(arena, lookup->map_count, sizeof *lookup->maps);
        if (!lookup->maps)
            return CLEAVE_NO_MEMORY;
        for (uint32_t i = 0; i < lookup->map_count && status == CLEAVE_OK; i++)
            status = cleave__key_index_decode(reader, lookup->shards, arena, &lookup->maps[i]);
    } else {
        uint32_t count = lookup->schema.table_count;
        lookup->tables = cleave__arena_zalloc(arena, count * sizeof *lookup->tables);
        if (!lookup->tables)
            return CLEAVE_NO_MEMORY;
        for (uint32_t i = 0; i < count && status == CLEAVE_OK; i++)
            status = decode_table(lookup, i, reader);
    }
    return status == CLEAVE_OK && reader->at != reader->end ? CLEAVE_CORRUPT : status;
}

static enum cleave_status decode_all(struct cleave_lookup *lookup, const char *name,
                                     struct cleave_error *error)
{
    uint64_t total = 0, offset = CLEAVE_IMAGE_HEADER;
    const uint8_t *bytes = lookup->bytes;
    enum cleave_status status = cleave__image_header(bytes, lookup->size, name, &total, error);
    if (status != CLEAVE_OK)
        return status;
    lookup->shards = cleave__load32(bytes + 12);
    if (total != lookup->size)
        return cleave_error_set(error, CLEAVE_CORRUPT, "%s: %zu bytes, should be %llu", name,
                                lookup->size, (unsigned long long)total);
    if (lookup->shards == 0 || lookup->shards > CLEAVE_SHARDS_MAX ||
        cleave__load32(bytes + 28) != 0)
        return cleave_error_set(error, CLEAVE_CORRUPT, "%s: the header makes no sense", name);
    for (uint32_t i = 0; i < CLEAVE_IMAGE_SECTIONS; i++) {
        static const char *const names[] = {"schema", "maps", "tables"};
        const uint8_t *row = bytes + 32 + i * 24;
        uint64_t length = cleave__load64(row + 8);
        bool good = cleave__load32(row) == i + 1 && cleave__load32(row + 4) == 0 &&
                    length <= total - offset &&
                    (i + 1 < CLEAVE_IMAGE_SECTIONS || length == total - offset) &&
                    XXH3_64bits(bytes + offset, (size_t)length) == cleave__load64(row + 16);
        if (!good)
            return cleave_error_set(error, CLEAVE_CORRUPT,
                                    "%s: the section '%s' fails its checksum: the file is damaged",
                                    name, names[i]);
        struct cleave_reader reader = {.at = bytes + offset, .end = bytes + offset + length};
        status = decode_section(lookup, i + 1, &reader);
        if (status == CLEAVE_CORRUPT)
            return cleave_error_set(error, status,
                                    "%s: the section '%s' breaks the format's rules near byte %zu",
                                    name, names[i], (size_t)(reader.at - bytes));
        if (status != CLEAVE_OK)
            return cleave_error_set(error, status, "%s: out of memory", name);
        offset += length;
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__image_open(uint8_t *bytes, size_t size, const char *name,
                                      struct cleave_lookup **out, struct cleave_error *error)
{
    struct cleave_lookup *lookup = calloc(1, sizeof *lookup);
    if (!lookup)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory", name);
    lookup->bytes = bytes;
    lookup->size = size;
    enum cleave_status status = decode_all(lookup, name, error);
    if (status != CLEAVE_OK) {
        lookup->bytes = NULL; /* still the caller's */
        cleave__lookup_release(lookup);
        return status;
    }
    *out = lookup;
    return CLEAVE_OK;
}
