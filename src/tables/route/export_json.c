/* The whole lookup table as JSON: schema, maps, tables with their exceptions.
 *
 * Values: integers are JSON integers; numbers that are not, and dates and times, are strings in
 * SQL's form; texts are strings, or {"hex": "..."} when their bytes are no UTF-8; NULL is null. A
 * range is a value (a point) or {"from", "to", "from_open", "to_open"}, ends left out where it has
 * none. Lists of values stand on one line each. docs/lookup-table.md has the keys. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tables/route/export.h"
#include "tables/route/image.h"

/* Length of the UTF-8 character at `text`, 0 when it is none (overlong and surrogates too). */
static size_t utf8_length(const unsigned char *text, size_t left)
{
    unsigned char c = text[0];
    size_t length = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : 4;
    if (c >= 0x80 && (c < 0xc2 || c > 0xf4))
        return 0;
    if (length > left)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    }
    if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] > 0x9f) ||
        (c == 0xf0 && text[1] < 0x90) || (c == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

static bool is_utf8(const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t n = utf8_length((const unsigned char *)text + at, length - at);
        if (n == 0)
            return false;
        at += n;
    }
    return true;
}

static void put_text(struct cleave_words *w, const char *text, size_t length)
{
    if (!is_utf8(text, length)) {
        cleave__words_add(w, "{\"hex\": \"");
        for (size_t i = 0; i < length; i++)
            cleave__words_add(w, "%02x", (unsigned char)text[i]);
        cleave__words_add(w, "\"}");
        return;
    }
    cleave__words_add(w, "\"");
    for (size_t at = 0; at < length;) {
        size_t plain = at;
        while (plain < length && (unsigned char)text[plain] >= 0x20 && text[plain] != '"' &&
               text[plain] != '\\')
            plain++;
        cleave__words_bytes(w, text + at, plain - at);
        if (plain < length) {
            unsigned char c = (unsigned char)text[plain++];
            cleave__words_add(w, c < 0x20 ? "\\u%04x" : "\\%c", c);
        }
        at = plain;
    }
    cleave__words_add(w, "\"");
}

static void put_string(struct cleave_words *w, const char *text)
{
    put_text(w, text, strlen(text));
}

static void put_value(struct cleave_words *w, const struct cleave_value *value,
                      enum cleave_type type)
{
    switch (value->kind) {
    case CLEAVE_NULL:
        cleave__words_add(w, "null");
        break;
    case CLEAVE_INTEGER:
        if (type == CLEAVE_TYPE_DATE || type == CLEAVE_TYPE_TIMESTAMP || type == CLEAVE_TYPE_TIME) {
            char text[80]; /* 'quoted' */
            int length = cleave__value_print(value, type, text, sizeof text);
            if (length > 2 && (size_t)length < sizeof text)
                put_text(w, text + 1, (size_t)length - 2);
        } else {
            cleave__words_add(w, "%" PRId64, value->integer);
        }
        break;
    case CLEAVE_NUMBER:
    case CLEAVE_TEXT:
        put_text(w, value->text, value->length);
        break;
    }
}

static void put_range(struct cleave_words *w, const struct cleave_range *range,
                      enum cleave_type type)
{
    if (cleave__range_is_point(range)) {
        put_value(w, &range->low, type);
        return;
    }
    cleave__words_add(w, "{");
    bool low = !(range->flags & CLEAVE_LOW_UNBOUNDED),
         high = !(range->flags & CLEAVE_HIGH_UNBOUNDED);
    if (low) {
        cleave__words_add(w, "\"from\": ");
        put_value(w, &range->low, type);
        cleave__words_add(w, range->flags & CLEAVE_LOW_OPEN ? ", \"from_open\": true" : "");
    }
    if (high) {
        cleave__words_add(w, low ? ", \"to\": " : "\"to\": ");
        put_value(w, &range->high, type);
        cleave__words_add(w, range->flags & CLEAVE_HIGH_OPEN ? ", \"to_open\": true" : "");
    }
    cleave__words_add(w, "}");
}

static void put_columns(struct cleave_words *w, const struct cleave_table *table, uint32_t count,
                        const uint32_t *columns)
{
    cleave__words_add(w, "[");
    for (uint32_t i = 0; i < count; i++) {
        cleave__words_add(w, i ? ", " : "");
        put_string(w, table->columns[columns[i]].name);
    }
    cleave__words_add(w, "]");
}

static void put_schema_table(struct cleave_words *w, const struct cleave_schema *schema,
                             const struct cleave_table *table)
{
    cleave__words_add(w, "    {\"name\": ");
    put_string(w, table->name);
    if (table->view) {
        cleave__words_add(w, ", \"view\": ");
        put_string(w, table->view);
    }
    cleave__words_add(w, ", \"columns\": [");
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct cleave_column *column = &table->columns[i];
        cleave__words_add(w, i ? ",\n      {\"name\": " : "\n      {\"name\": ");
        put_string(w, column->name);
        cleave__words_add(w, ", \"type\": ");
        put_string(w, column->type_name);
        cleave__words_add(w, ", \"kind\": \"%s\"%s%s}", cleave__type_name(column->type),
                          column->not_null ? ", \"not_null\": true" : "",
                          column->has_default ? ", \"has_default\": true" : "");
    }
    cleave__words_add(w, "],\n     \"primary_key\": ");
    put_columns(w, table, table->primary.count, table->primary.columns);
    cleave__words_add(w, ", \"unique\": [");
    for (uint32_t i = 0; i < table->unique_count; i++) {
        cleave__words_add(w, i ? ", " : "");
        put_columns(w, table, table->uniques[i].count, table->uniques[i].columns);
    }
    cleave__words_add(w, "], \"foreign_keys\": [");
    for (uint32_t i = 0; i < table->foreign_count; i++) {
        const struct cleave_foreign_key *foreign = &table->foreigns[i];
        const struct cleave_table *target = &schema->tables[foreign->target_table];
        cleave__words_add(w, i ? ", {\"columns\": " : "{\"columns\": ");
        put_columns(w, table, foreign->count, foreign->columns);
        cleave__words_add(w, ", \"table\": ");
        put_string(w, target->name);
        cleave__words_add(w, ", \"target_columns\": ");
        put_columns(w, target, foreign->count, foreign->target_columns);
        cleave__words_add(w, "}");
    }
    cleave__words_add(w, "]}");
}

/* A map and its entries. The type is its first user's key column's; a map that no table uses has
 * its values' own kind. */
struct map_values {
    const struct cleave_key_index *map;
    enum cleave_type type;
    uint32_t count;
    struct cleave_value *values;
    uint32_t *shards;
};

static enum cleave_type kind_of(const struct cleave_value *values, uint32_t count)
{
    enum cleave_type type = count ? CLEAVE_TYPE_INTEGER : CLEAVE_TYPE_TEXT;
    for (uint32_t i = 0; i < count; i++) {
        if (values[i].kind == CLEAVE_TEXT)
            return CLEAVE_TYPE_TEXT;
        if (values[i].kind == CLEAVE_NUMBER)
            type = CLEAVE_TYPE_NUMBER;
    }
    return type;
}

static enum cleave_type map_type(const struct cleave_lookup *lookup, uint32_t index,
                                 const struct map_values *v)
{
    for (uint32_t i = 0; i < lookup->schema.table_count; i++) {
        const struct cleave_table_index *table = &lookup->tables[i];
        if (!table->replicated && table->map == index)
            return lookup->schema.tables[i].columns[table->key_column].type;
        if (table->twice && table->second_map == index)
            return lookup->schema.tables[i].columns[table->second_column].type;
    }
    enum cleave_type bounds = kind_of(v->map->bounds, v->map->bound_count);
    enum cleave_type entries = kind_of(v->values, v->count);
    return v->count == 0 || (v->map->bound_count && bounds == CLEAVE_TYPE_NUMBER) ? bounds
                                                                                  : entries;
}

/* The values of each shard that has some, on a line of their own. */
static enum cleave_status put_entries(struct cleave_words *w, const struct map_values *v)
{
    uint32_t *next = malloc(((size_t)v->count + 1) * sizeof *next);
    uint32_t *head = malloc(v->map->shards * sizeof *head);
    if (!next || !head) {
        free(next);
        free(head);
        return CLEAVE_NO_MEMORY;
    }
    for (uint32_t s = 0; s < v->map->shards; s++)
        head[s] = UINT32_MAX;
    for (uint32_t i = v->count; i-- > 0;) { /* chains by shard, values rising */
        next[i] = head[v->shards[i]];
        head[v->shards[i]] = i;
    }
    bool first_line = true;
    for (uint32_t s = 0; s < v->map->shards; s++) {
        if (head[s] == UINT32_MAX)
            continue;
        cleave__words_add(w, "%s\n      {\"shard\": %u, \"values\": [", first_line ? "" : ",", s);
        for (uint32_t i = head[s]; i != UINT32_MAX; i = next[i]) {
            put_value(w, &v->values[i], v->type);
            cleave__words_add(w, next[i] == UINT32_MAX ? "]}" : ", ");
        }
        first_line = false;
    }
    free(next);
    free(head);
    return CLEAVE_OK;
}

static enum cleave_status put_map(struct cleave_words *w, const struct cleave_lookup *lookup,
                                  uint32_t index)
{
    static const char *const rules[] = {"hash", "round_robin", "range", "nearest"};
    struct map_values v = {.map = &lookup->maps[index]};
    enum cleave_status status = cleave__key_index_list(v.map, &v.count, &v.values, &v.shards);
    if (status != CLEAVE_OK)
        return status;
    v.type = map_type(lookup, index, &v);
    cleave__words_add(w, "    {\"default\": \"%s\", \"kind\": \"%s\"", rules[v.map->otherwise],
                      cleave__type_name(v.type));
    if (v.map->null_explicit)
        cleave__words_add(w, ", \"null\": %u", v.map->null_shard);
    if (v.map->otherwise == CLEAVE_MAP_RANGE) {
        cleave__words_add(w, ", \"bounds\": [");
        for (uint32_t i = 0; i < v.map->bound_count; i++) {
            cleave__words_add(w, i ? ", " : "");
            put_value(w, &v.map->bounds[i], v.type);
        }
        cleave__words_add(w, "]");
    }
    cleave__words_add(w, ", \"entries\": [");
    status = put_entries(w, &v);
    cleave__words_add(w, "]}");
    free(v.values);
    free(v.shards);
    return status;
}

static enum cleave_status put_exceptions(struct cleave_words *w, const struct cleave_table *table,
                                         const struct cleave_exceptions *exceptions)
{
    bool first = true;
    for (uint32_t g = 0; g < exceptions->group_count; g++) {
        struct cleave_exception *list;
        uint32_t count;
        enum cleave_status status = cleave__exception_list(&exceptions->groups[g], &count, &list);
        if (status != CLEAVE_OK)
            return status;
        for (uint32_t i = 0; i < count; i++) {
            cleave__words_add(w, "%s\n      {\"where\": {", first ? "" : ",");
            for (uint32_t j = 0; j < list[i].range_count; j++) {
                const struct cleave_column *column = &table->columns[list[i].column[j]];
                cleave__words_add(w, j ? ", " : "");
                put_string(w, column->name);
                cleave__words_add(w, ": ");
                put_range(w, &list[i].range[j], column->type);
            }
            cleave__words_add(w, "}, \"shard\": %u}", list[i].shard);
            first = false;
        }
        free(list);
    }
    return CLEAVE_OK;
}

static enum cleave_status put_table(struct cleave_words *w, const struct cleave_lookup *lookup,
                                    uint32_t index)
{
    const struct cleave_table *table = &lookup->schema.tables[index];
    const struct cleave_table_index *placed = &lookup->tables[index];
    cleave__words_add(w, "    {\"name\": ");
    put_string(w, table->name);
    if (placed->replicated) {
        cleave__words_add(w, ", \"replicated\": true}");
        return CLEAVE_OK;
    }
    cleave__words_add(w, ", \"key\": ");
    put_string(w, table->columns[placed->key_column].name);
    cleave__words_add(w, ", \"map\": %u, ", placed->map);
    if (placed->twice) {
        cleave__words_add(w, "\"second_key\": ");
        put_string(w, table->columns[placed->second_column].name);
        cleave__words_add(w, ", \"second_map\": %u, ", placed->second_map);
    }
    cleave__words_add(w, "\"derived\": [");
    for (uint32_t i = 0; i < placed->derived_count; i++) {
        const struct cleave_derived_key *derived = &placed->derived[i];
        cleave__words_add(w, i ? ", {\"column\": " : "{\"column\": ");
        put_string(w, table->columns[derived->column].name);
        cleave__words_add(w, ", \"prefix\": ");
        put_string(w, derived->prefix);
        cleave__words_add(w, ", \"suffix\": ");
        put_string(w, derived->suffix);
        cleave__words_add(w, ", \"support\": %" PRIu64 "}", derived->support);
    }
    cleave__words_add(w, "], \"exceptions\": [");
    enum cleave_status status = put_exceptions(w, table, &placed->exceptions);
    cleave__words_add(w, "]}");
    return status;
}

enum cleave_status cleave__export_json(const struct cleave_lookup *lookup, struct cleave_words *w)
{
    const struct cleave_schema *schema = &lookup->schema;
    enum cleave_status status = CLEAVE_OK;
    cleave__words_add(w, "{\"format\": \"cleave lookup table\", \"version\": %d, \"shards\": %u,\n",
                      CLEAVE_IMAGE_VERSION, lookup->shards);
    cleave__words_add(w, "  \"maps\": [\n");
    for (uint32_t i = 0; i < lookup->map_count && status == CLEAVE_OK; i++) {
        cleave__words_add(w, i ? ",\n" : "");
        status = put_map(w, lookup, i);
    }
    cleave__words_add(w, "],\n  \"tables\": [\n");
    bool first = true;
    for (uint32_t i = 0; i < schema->table_count && status == CLEAVE_OK; i++) {
        if (schema->tables[i].view)
            continue;
        cleave__words_add(w, first ? "" : ",\n");
        first = false;
        status = put_table(w, lookup, i);
    }
    cleave__words_add(w, "],\n  \"schema\": [\n");
    for (uint32_t i = 0; i < schema->table_count; i++) {
        cleave__words_add(w, i ? ",\n" : "");
        put_schema_table(w, schema, &schema->tables[i]);
    }
    cleave__words_add(w, "]}\n");
    return status;
}
