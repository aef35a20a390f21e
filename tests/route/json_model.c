#include "route/json_model.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct cleave_arena *arena;
    struct cleave_schema *schema;
    struct cleave_layout *layout;
    bool failed;
};

static void *take(struct reader *r, size_t count, size_t size)
{
    void *memory = cleave__arena_zalloc(r->arena, count * size);
    if (!memory)
        abort();
    return memory;
}

static const char *string_of(struct reader *r, const json_t *node)
{
    const char *text = json_string_value(node);
    if (!text) {
        r->failed = true;
        return "";
    }
    return cleave__arena_copy(r->arena, text, strlen(text));
}

static uint32_t number_of(struct reader *r, const json_t *node)
{
    if (!json_is_integer(node))
        r->failed = true;
    return (uint32_t)json_integer_value(node);
}

static struct cleave_value value_of(struct reader *r, const json_t *node, enum cleave_type type)
{
    struct cleave_value value = {.kind = CLEAVE_NULL};
    if (json_is_null(node))
        return value;
    if (json_is_integer(node)) {
        value.kind = CLEAVE_INTEGER;
        value.integer = json_integer_value(node);
        return value;
    }
    const char *hex = json_string_value(json_object_get(node, "hex"));
    size_t length = hex ? strlen(hex) / 2 : json_string_length(node);
    char *bytes = take(r, length + 1, 1);
    if (hex) {
        for (size_t i = 0; i < length; i++) {
            unsigned byte = 0;
            if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
                r->failed = true;
            bytes[i] = (char)byte;
        }
        value.kind = CLEAVE_TEXT;
        value.text = bytes;
        value.length = (uint32_t)length;
        return value;
    }
    if (!json_is_string(node)) {
        r->failed = true;
        return value;
    }
    memcpy(bytes, json_string_value(node), length);
    if (cleave__value_parse(type, bytes, length, r->arena, &value) != CLEAVE_OK)
        r->failed = true;
    return value;
}

static struct cleave_range range_of(struct reader *r, const json_t *node, enum cleave_type type)
{
    struct cleave_range range = {{0}, {0}, 0};
    if (!json_is_object(node) || json_object_get(node, "hex")) {
        range.low = range.high = value_of(r, node, type);
        return range;
    }
    const json_t *from = json_object_get(node, "from"), *to = json_object_get(node, "to");
    range.flags =
        (uint8_t)((from ? 0 : CLEAVE_LOW_UNBOUNDED) | (to ? 0 : CLEAVE_HIGH_UNBOUNDED) |
                  (json_is_true(json_object_get(node, "from_open")) ? CLEAVE_LOW_OPEN : 0) |
                  (json_is_true(json_object_get(node, "to_open")) ? CLEAVE_HIGH_OPEN : 0));
    if (from)
        range.low = value_of(r, from, type);
    if (to)
        range.high = value_of(r, to, type);
    return range;
}

static uint32_t table_named(struct reader *r, const json_t *name)
{
    const char *text = json_string_value(name);
    for (uint32_t i = 0; text && i < r->schema->table_count; i++) {
        if (strcmp(r->schema->tables[i].name, text) == 0)
            return i;
    }
    r->failed = true;
    return 0;
}

static uint32_t column_named(struct reader *r, const struct cleave_table *table, const char *name)
{
    for (uint32_t i = 0; name && i < table->column_count; i++) {
        if (strcmp(table->columns[i].name, name) == 0)
            return i;
    }
    r->failed = true;
    return 0;
}

static uint32_t *columns_of(struct reader *r, const json_t *node, const struct cleave_table *table,
                            uint32_t *count)
{
    *count = (uint32_t)json_array_size(node);
    uint32_t *columns = take(r, *count, sizeof *columns);
    for (uint32_t i = 0; i < *count; i++)
        columns[i] = column_named(r, table, json_string_value(json_array_get(node, i)));
    return columns;
}

static enum cleave_type kind_of(struct reader *r, const char *name)
{
    for (int type = CLEAVE_TYPE_TEXT; name && type <= CLEAVE_TYPE_CHAR; type++) {
        if (strcmp(cleave__type_name((enum cleave_type)type), name) == 0)
            return (enum cleave_type)type;
    }
    r->failed = true;
    return CLEAVE_TYPE_TEXT;
}

static void read_columns(struct reader *r, const json_t *node, struct cleave_table *table)
{
    const json_t *columns = json_object_get(node, "columns");
    table->name = string_of(r, json_object_get(node, "name"));
    if (json_object_get(node, "view"))
        table->view = string_of(r, json_object_get(node, "view"));
    table->column_count = (uint32_t)json_array_size(columns);
    table->columns = take(r, table->column_count, sizeof *table->columns);
    for (uint32_t c = 0; c < table->column_count; c++) {
        const json_t *column = json_array_get(columns, c);
        table->columns[c].name = string_of(r, json_object_get(column, "name"));
        table->columns[c].type_name = string_of(r, json_object_get(column, "type"));
        table->columns[c].type = kind_of(r, json_string_value(json_object_get(column, "kind")));
        table->columns[c].not_null = json_is_true(json_object_get(column, "not_null"));
        table->columns[c].has_default = json_is_true(json_object_get(column, "has_default"));
    }
}

static void read_keys(struct reader *r, const json_t *node, struct cleave_table *table)
{
    const json_t *uniques = json_object_get(node, "unique");
    const json_t *foreigns = json_object_get(node, "foreign_keys");
    table->primary.columns =
        columns_of(r, json_object_get(node, "primary_key"), table, &table->primary.count);
    table->unique_count = (uint32_t)json_array_size(uniques);
    table->uniques = take(r, table->unique_count, sizeof *table->uniques);
    for (uint32_t i = 0; i < table->unique_count; i++)
        table->uniques[i].columns =
            columns_of(r, json_array_get(uniques, i), table, &table->uniques[i].count);
    table->foreign_count = (uint32_t)json_array_size(foreigns);
    table->foreigns = take(r, table->foreign_count, sizeof *table->foreigns);
    for (uint32_t i = 0; i < table->foreign_count; i++) {
        const json_t *one = json_array_get(foreigns, i);
        struct cleave_foreign_key *foreign = &table->foreigns[i];
        uint32_t count;
        foreign->target_table = table_named(r, json_object_get(one, "table"));
        foreign->columns = columns_of(r, json_object_get(one, "columns"), table, &foreign->count);
        foreign->target_columns = columns_of(r, json_object_get(one, "target_columns"),
                                             &r->schema->tables[foreign->target_table], &count);
    }
}

struct entry {
    struct cleave_value value;
    uint32_t shard;
};

static int by_value(const void *a, const void *b)
{
    return cleave__value_compare(&((const struct entry *)a)->value,
                                 &((const struct entry *)b)->value);
}

static void read_map(struct reader *r, const json_t *node, enum cleave_type type,
                     struct cleave_key_map *map)
{
    static const char *const rules[] = {"hash", "round_robin", "range", "nearest"};
    const char *rule = json_string_value(json_object_get(node, "default"));
    const json_t *lists = json_object_get(node, "entries"),
                 *bounds = json_object_get(node, "bounds");
    const json_t *null = json_object_get(node, "null");
    uint32_t which = 0;
    while (which < 4 && strcmp(rule ? rule : "", rules[which]) != 0)
        which++;
    r->failed = r->failed || which == 4;
    map->otherwise = (enum cleave_map_default)(which % 4);
    size_t total = 1;
    for (size_t i = 0; i < json_array_size(lists); i++)
        total += json_array_size(json_object_get(json_array_get(lists, i), "values"));
    struct entry *entries = take(r, total, sizeof *entries);
    if (null)
        entries[map->entry_count++] = (struct entry){{.kind = CLEAVE_NULL}, number_of(r, null)};
    for (size_t i = 0; i < json_array_size(lists); i++) {
        const json_t *list = json_array_get(lists, i), *values = json_object_get(list, "values");
        for (size_t j = 0; j < json_array_size(values); j++)
            entries[map->entry_count++] =
                (struct entry){value_of(r, json_array_get(values, j), type),
                               number_of(r, json_object_get(list, "shard"))};
    }
    qsort(entries, map->entry_count, sizeof *entries, by_value);
    map->entries = take(r, map->entry_count, sizeof *map->entries);
    map->entry_shards = take(r, map->entry_count, sizeof *map->entry_shards);
    for (uint32_t i = 0; i < map->entry_count; i++) {
        map->entries[i] = entries[i].value;
        map->entry_shards[i] = entries[i].shard;
    }
    map->bound_count = (uint32_t)json_array_size(bounds);
    map->bounds = take(r, map->bound_count, sizeof *map->bounds);
    for (uint32_t i = 0; i < map->bound_count; i++)
        map->bounds[i] = value_of(r, json_array_get(bounds, i), type);
}

static void read_placed(struct reader *r, const json_t *node)
{
    uint32_t index = table_named(r, json_object_get(node, "name"));
    const struct cleave_table *table = &r->schema->tables[index];
    struct cleave_table_layout *placed = &r->layout->tables[index];
    placed->replicated = json_is_true(json_object_get(node, "replicated"));
    if (placed->replicated)
        return;
    const json_t *derived = json_object_get(node, "derived");
    const json_t *exceptions = json_object_get(node, "exceptions");
    placed->key_column = column_named(r, table, json_string_value(json_object_get(node, "key")));
    placed->map = number_of(r, json_object_get(node, "map"));
    placed->twice = json_object_get(node, "second_key") != NULL;
    if (placed->twice) {
        placed->second_column =
            column_named(r, table, json_string_value(json_object_get(node, "second_key")));
        placed->second_map = number_of(r, json_object_get(node, "second_map"));
    }
    placed->derived_count = (uint32_t)json_array_size(derived);
    for (uint32_t i = 0; i < placed->derived_count && i < CLEAVE_DERIVED_MAX; i++) {
        const json_t *one = json_array_get(derived, i);
        placed->derived[i].column =
            column_named(r, table, json_string_value(json_object_get(one, "column")));
        placed->derived[i].prefix = string_of(r, json_object_get(one, "prefix"));
        placed->derived[i].suffix = string_of(r, json_object_get(one, "suffix"));
        placed->derived[i].support = number_of(r, json_object_get(one, "support"));
    }
    placed->exception_count = (uint32_t)json_array_size(exceptions);
    placed->exceptions = take(r, placed->exception_count, sizeof *placed->exceptions);
    for (uint32_t i = 0; i < placed->exception_count; i++) {
        json_t *one = json_array_get(exceptions, i), *where = json_object_get(one, "where");
        struct cleave_exception *exception = &placed->exceptions[i];
        exception->shard = number_of(r, json_object_get(one, "shard"));
        const char *name;
        json_t *range;
        json_object_foreach(where, name, range)
        {
            uint32_t at = exception->range_count++;
            if (at > 1) {
                r->failed = true;
                break;
            }
            exception->column[at] = column_named(r, table, name);
            exception->range[at] = range_of(r, range, table->columns[exception->column[at]].type);
        }
    }
}

bool json_model_read(const char *text, size_t length, struct cleave_arena *arena,
                     struct cleave_schema *schema, struct cleave_layout *layout)
{
    struct reader r = {arena, schema, layout, false};
    json_error_t error;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!root) {
        printf("  line %d: %s\n", error.line, error.text);
        return false;
    }
    const json_t *tables = json_object_get(root, "schema"), *maps = json_object_get(root, "maps");
    const json_t *placed = json_object_get(root, "tables");
    *schema = (struct cleave_schema){.table_count = (uint32_t)json_array_size(tables)};
    schema->tables = take(&r, schema->table_count, sizeof *schema->tables);
    for (uint32_t i = 0; i < schema->table_count; i++)
        read_columns(&r, json_array_get(tables, i), &schema->tables[i]);
    for (uint32_t i = 0; i < schema->table_count; i++)
        read_keys(&r, json_array_get(tables, i), &schema->tables[i]);
    *layout = (struct cleave_layout){.schema = schema, .arena = arena};
    layout->shards = number_of(&r, json_object_get(root, "shards"));
    layout->tables = take(&r, schema->table_count, sizeof *layout->tables);
    for (size_t i = 0; i < json_array_size(placed); i++)
        read_placed(&r, json_array_get(placed, i));
    layout->map_count = (uint32_t)json_array_size(maps);
    layout->maps = take(&r, layout->map_count, sizeof *layout->maps);
    for (uint32_t m = 0; m < layout->map_count; m++) {
        const json_t *kind = json_object_get(json_array_get(maps, m), "kind");
        enum cleave_type type = kind_of(&r, json_string_value(kind));
        read_map(&r, json_array_get(maps, m), type, &layout->maps[m]);
    }
    json_decref(root);
    return !r.failed;
}
