/* The schema section of a lookup table: what routing SQL needs of the schema: sizes and statistics
 * stay out. Texts are a length and bytes; numbers are varints; columns are indices. */
#include "tables/route/image.h"

static void put_string(struct cleave_writer *out, const char *text)
{
    cleave__put_text(out, text, strlen(text));
}

static void put_columns(struct cleave_writer *out, uint32_t count, const uint32_t *columns)
{
    for (uint32_t i = 0; i < count; i++)
        cleave__put_varint(out, columns[i]);
}

static void put_key(struct cleave_writer *out, const struct cleave_key *key)
{
    cleave__put_varint(out, key->count);
    put_columns(out, key->count, key->columns);
}

static void put_table(struct cleave_writer *out, const struct cleave_table *table)
{
    put_string(out, table->name);
    cleave__put8(out, table->view != NULL);
    if (table->view)
        put_string(out, table->view);
    cleave__put_varint(out, table->column_count);
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct cleave_column *column = &table->columns[i];
        put_string(out, column->name);
        put_string(out, column->type_name ? column->type_name : "");
        cleave__put8(out, (uint8_t)column->type);
        cleave__put8(out, (uint8_t)(column->not_null | column->has_default << 1));
    }
    put_key(out, &table->primary);
    cleave__put_varint(out, table->unique_count);
    for (uint32_t i = 0; i < table->unique_count; i++)
        put_key(out, &table->uniques[i]);
    cleave__put_varint(out, table->foreign_count);
    for (uint32_t i = 0; i < table->foreign_count; i++) {
        const struct cleave_foreign_key *foreign = &table->foreigns[i];
        cleave__put_varint(out, foreign->count);
        put_columns(out, foreign->count, foreign->columns);
        cleave__put_varint(out, foreign->target_table);
        put_columns(out, foreign->count, foreign->target_columns);
    }
}

void cleave__schema_encode(const struct cleave_schema *schema, struct cleave_writer *out)
{
    cleave__put_varint(out, schema->table_count);
    for (uint32_t i = 0; i < schema->table_count; i++)
        put_table(out, &schema->tables[i]);
    cleave__put_varint(out, schema->aliases.count);
    for (uint32_t i = 0; i < schema->aliases.count; i++) {
        cleave__put_text(out, schema->aliases.entries[i].bytes, schema->aliases.entries[i].length);
        cleave__put_varint(out, schema->alias_tables[i] == CLEAVE_ABSENT
                                    ? 0
                                    : (uint64_t)schema->alias_tables[i] + 1);
        cleave__put8(out, schema->alias_public[i]);
    }
}

/* Reading: the reader's `failed` stands for a broken rule, NULL without it for no memory. */

static const char *get_string(struct cleave_reader *reader, struct cleave_arena *arena,
                              size_t *length)
{
    uint64_t size = cleave__get_varint(reader);
    const uint8_t *bytes = cleave__get_bytes(reader, size);
    if (!bytes || memchr(bytes, 0, (size_t)size)) {
        reader->failed = true;
        return NULL;
    }
    if (length)
        *length = (size_t)size;
    return cleave__arena_copy(arena, (const char *)bytes, (size_t)size);
}

/* A count of things that take a byte at least. */
static uint32_t get_many(struct cleave_reader *reader)
{
    size_t left = cleave__left(reader);
    return cleave__get_count(reader, left > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)left);
}

static uint32_t *get_columns(struct cleave_reader *reader, struct cleave_arena *arena,
                             uint32_t count, uint32_t column_count)
{
    uint32_t *columns = cleave__arena_array(arena, count, sizeof *columns);
    for (uint32_t i = 0; columns && i < count; i++) {
        columns[i] = cleave__get_count(reader, UINT32_MAX - 1);
        if (columns[i] >= column_count)
            reader->failed = true;
    }
    return columns;
}

static bool get_key(struct cleave_reader *reader, struct cleave_arena *arena, uint32_t column_count,
                    struct cleave_key *key)
{
    key->count = get_many(reader);
    key->columns = get_columns(reader, arena, key->count, column_count);
    return key->columns != NULL;
}

static bool get_columns_of(struct cleave_reader *reader, struct cleave_arena *arena,
                           struct cleave_table *table)
{
    table->column_count = get_many(reader);
    table->columns = cleave__arena_array(arena, table->column_count, sizeof *table->columns);
    if (!table->columns)
        return false;
    for (uint32_t i = 0; i < table->column_count; i++) {
        struct cleave_column *column = &table->columns[i];
        *column = (struct cleave_column){0};
        column->name = get_string(reader, arena, NULL);
        column->type_name = column->name ? get_string(reader, arena, NULL) : NULL;
        if (!column->type_name)
            return false;
        uint8_t type = cleave__get8(reader), flags = cleave__get8(reader);
        if (type > CLEAVE_TYPE_CHAR || flags > 3)
            reader->failed = true;
        column->type = (enum cleave_type)type;
        column->not_null = flags & 1;
        column->has_default = flags >> 1 & 1;
    }
    return true;
}

static bool get_foreign(struct cleave_reader *reader, struct cleave_arena *arena,
                        uint32_t table_count, uint32_t column_count,
                        struct cleave_foreign_key *foreign)
{
    foreign->count = get_many(reader);
    foreign->columns = get_columns(reader, arena, foreign->count, column_count);
    foreign->target_table = cleave__get_count(reader, table_count - 1);
    /* The target may come later: its columns are tested when all tables are there. */
    foreign->target_columns = get_columns(reader, arena, foreign->count, UINT32_MAX);
    return foreign->columns && foreign->target_columns;
}

static bool get_table(struct cleave_reader *reader, struct cleave_schema *schema,
                      struct cleave_table *table)
{
    struct cleave_arena *arena = &schema->arena;
    size_t length;
    table->name = get_string(reader, arena, &length);
    if (!table->name)
        return false;
    uint32_t id = cleave__intern_add(&schema->names, table->name, length);
    if (id == CLEAVE_INTERN_NONE)
        return false;
    uint8_t is_view = cleave__get8(reader);
    if (id != (uint32_t)(table - schema->tables) || is_view > 1)
        reader->failed = true; /* a name that came before, or no flag */
    if (is_view && !(table->view = get_string(reader, arena, NULL)))
        return false;
    if (!get_columns_of(reader, arena, table) ||
        !get_key(reader, arena, table->column_count, &table->primary))
        return false;
    table->unique_count = get_many(reader);
    table->uniques = cleave__arena_array(arena, table->unique_count, sizeof *table->uniques);
    if (!table->uniques)
        return false;
    for (uint32_t i = 0; i < table->unique_count; i++) {
        if (!get_key(reader, arena, table->column_count, &table->uniques[i]))
            return false;
    }
    table->foreign_count = get_many(reader);
    table->foreigns = cleave__arena_array(arena, table->foreign_count, sizeof *table->foreigns);
    if (!table->foreigns)
        return false;
    for (uint32_t i = 0; i < table->foreign_count; i++) {
        if (!get_foreign(reader, arena, schema->table_count, table->column_count,
                         &table->foreigns[i]))
            return false;
    }
    return true;
}

static bool get_aliases(struct cleave_reader *reader, struct cleave_schema *schema)
{
    struct cleave_arena *arena = &schema->arena;
    uint32_t count = get_many(reader);
    schema->alias_tables = cleave__arena_array(arena, count, sizeof *schema->alias_tables);
    schema->alias_public = cleave__arena_array(arena, count, sizeof *schema->alias_public);
    if (!schema->alias_tables || !schema->alias_public)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        size_t length;
        const char *name = get_string(reader, arena, &length);
        if (!name)
            return false;
        uint32_t id = cleave__intern_add(&schema->aliases, name, length);
        if (id == CLEAVE_INTERN_NONE)
            return false;
        uint32_t table = cleave__get_count(reader, schema->table_count);
        uint8_t is_public = cleave__get8(reader);
        if (id != i || is_public > 1 || (is_public && !table)) {
            reader->failed = true;
            return false;
        }
        schema->alias_tables[i] = table ? table - 1 : CLEAVE_ABSENT;
        schema->alias_public[i] = is_public;
    }
    return true;
}

static bool targets_exist(const struct cleave_schema *schema)
{
    for (uint32_t i = 0; i < schema->table_count; i++) {
        for (uint32_t j = 0; j < schema->tables[i].foreign_count; j++) {
            const struct cleave_foreign_key *foreign = &schema->tables[i].foreigns[j];
            for (uint32_t c = 0; c < foreign->count; c++) {
                if (foreign->target_columns[c] >=
                    schema->tables[foreign->target_table].column_count)
                    return false;
            }
        }
    }
    return true;
}

enum cleave_status cleave__schema_decode(struct cleave_reader *reader, struct cleave_schema *out)
{
    out->table_count = get_many(reader);
    /* An empty table takes 6 bytes; this bounds what a small file can ask for. */
    if (reader->failed || out->table_count > cleave__left(reader) / 6)
        return CLEAVE_CORRUPT;
    out->tables = cleave__arena_array(&out->arena, out->table_count, sizeof *out->tables);
    if (!out->tables)
        return CLEAVE_NO_MEMORY;
    memset(out->tables, 0, out->table_count * sizeof *out->tables);
    for (uint32_t i = 0; i < out->table_count; i++) {
        bool taken = get_table(reader, out, &out->tables[i]);
        if (reader->failed)
            return CLEAVE_CORRUPT;
        if (!taken)
            return CLEAVE_NO_MEMORY;
    }
    bool taken = get_aliases(reader, out);
    if (reader->failed)
        return CLEAVE_CORRUPT;
    if (!taken)
        return CLEAVE_NO_MEMORY;
    return reader->at == reader->end && targets_exist(out) ? CLEAVE_OK : CLEAVE_CORRUPT;
}
