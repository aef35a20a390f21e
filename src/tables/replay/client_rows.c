/* Changes that give back every row they changed: which of them count, and where they belong now. */
#include "tables/replay/client.h"

#include <stdio.h>
#include <string.h>

#include "tables/route/image.h"

void cleave__put_name(struct cleave_writer *writer, const char *name)
{
    cleave__put8(writer, '"');
    for (; *name; name++) {
        if (*name == '"')
            cleave__put8(writer, '"');
        cleave__put8(writer, (uint8_t)*name);
    }
    cleave__put8(writer, '"');
}

void cleave__put_table(struct cleave_writer *writer, const char *name)
{
    const char *dot = strchr(name, '.');
    char schema[200];
    if (!dot || (size_t)(dot - name) >= sizeof schema) {
        cleave__put_name(writer, name);
        return;
    }
    memcpy(schema, name, (size_t)(dot - name));
    schema[dot - name] = 0;
    cleave__put_name(writer, schema);
    cleave__put8(writer, '.');
    cleave__put_name(writer, dot + 1);
}

static void put(struct cleave_writer *writer, const char *text)
{
    cleave__put_bytes(writer, text, strlen(text));
}

void cleave__text_value(const struct cleave_column *column, const char *text,
                        struct cleave_arena *arena, struct cleave_value *out)
{
    *out = (struct cleave_value){.kind = CLEAVE_NULL};
    if (text && cleave__value_parse(column->type, text, strlen(text), arena, out))
        *out = (struct cleave_value){
            .kind = CLEAVE_TEXT, .length = (uint32_t)strlen(text), .text = text};
}

enum cleave_status cleave__row_homes(const struct cleave_lookup *lookup, uint32_t table,
                                     const struct cleave_store_answer *answer, uint32_t row,
                                     uint32_t first, struct cleave_shardset *all,
                                     uint32_t by_key[2], struct cleave_error *error)
{
    const struct cleave_table *t = &lookup->schema.tables[table];
    const char *const *cells = answer->values + (size_t)row * answer->columns;
    struct cleave_arena arena = {0};
    struct cleave_value *values =
        cleave__arena_zalloc(&arena, (t->column_count + 1) * sizeof *values);
    if (!values)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a row");
    for (uint32_t c = first; c < answer->columns; c++) {
        uint32_t column = cleave__schema_column(t, answer->names[c], strlen(answer->names[c]));
        if (column != CLEAVE_ABSENT)
            cleave__text_value(&t->columns[column], cells[c], &arena, &values[column]);
    }
    cleave__lookup_row_shards(lookup, table, values, t->column_count, all);
    by_key[0] = by_key[1] = cleave__lookup_row(lookup, table, values, t->column_count);
    if (cleave__lookup_twice(lookup, table))
        by_key[1] = cleave__lookup_second(lookup, table, values, t->column_count);
    cleave__arena_free(&arena);
    return CLEAVE_OK;
}

/* The answers of the statement's only piece, one a shard. */
struct part {
    uint32_t shard;
    const struct cleave_store_answer *answer;
};

/* Whether two rows have the same primary key. */
static bool same_row(const struct cleave_table *table, const struct cleave_store_answer *a,
                     uint32_t i, const struct cleave_store_answer *b, uint32_t j, uint32_t first)
{
    for (uint32_t k = 0; k < table->primary.count; k++) {
        const char *name = table->columns[table->primary.columns[k]].name;
        for (uint32_t c = first; c < a->columns; c++) {
            const char *x = a->values[(size_t)i * a->columns + c];
            const char *y = b->values[(size_t)j * b->columns + c];
            if (strcmp(a->names[c], name) == 0 && (!x || !y ? x != y : strcmp(x, y) != 0))
                return false;
        }
    }
    return true;
}

static bool has_row(const struct cleave_table *table, const struct part *part,
                    const struct cleave_store_answer *answer, uint32_t row, uint32_t first)
{
    for (uint32_t r = 0; r < part->answer->rows; r++) {
        if (same_row(table, part->answer, r, answer, row, first))
            return true;
    }
    return false;
}

static enum cleave_status push_text(struct cleave__replay_client *client, uint32_t shard,
                                    struct cleave_writer *writer,
                                    const struct cleave_store_parameter *parameters, uint32_t count,
                                    struct cleave_error *error)
{
    char *text = writer->failed ? NULL
                                : cleave__arena_copy(&client->arena, (const char *)writer->data,
                                                     writer->count);
    free(writer->data);
    if (!text)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a row that moves");
    const struct cleave_store_statement statement = {text, parameters, count};
    return cleave__client_push(client, shard, &statement, error);
}

static bool is_generated(const struct cleave__replay_client *client,
                         const struct cleave_table *table, const char *name)
{
    const struct cleave_schema *schema = cleave__lookup_schema(client->world->lookup);
    uint32_t column = cleave__schema_column(table, name, strlen(name));
    return client->world->generated && column != CLEAVE_ABSENT &&
           client->world->generated[table - schema->tables][column];
}

static bool is_key(const struct cleave_table *table, const char *name)
{
    for (uint32_t k = 0; k < table->primary.count; k++) {
        if (strcmp(table->columns[table->primary.columns[k]].name, name) == 0)
            return true;
    }
    return table->primary.count == 0;
}

static enum cleave_status push_delete(struct cleave__replay_client *client, uint32_t shard,
                                      const struct cleave_table *table,
                                      const struct cleave_store_answer *answer, uint32_t row,
                                      uint32_t first, struct cleave_error *error)
{
    struct cleave_writer w = {0};
    char number[16];
    uint32_t count = 0;
    bool any = false;
    struct cleave_store_parameter *parameters =
        cleave__arena_array(&client->arena, answer->columns + 1, sizeof *parameters);
    put(&w, "DELETE FROM ");
    cleave__put_table(&w, table->name);
    for (uint32_t c = first; c < answer->columns && parameters; c++) {
        const char *value = answer->values[(size_t)row * answer->columns + c];
        if (!is_key(table, answer->names[c]))
            continue;
        put(&w, any ? " AND " : " WHERE ");
        any = true;
        cleave__put_name(&w, answer->names[c]);
        if (value)
            parameters[count++].text = value;
        snprintf(number, sizeof number, value ? " = $%u" : " IS NULL", count);
        put(&w, number);
    }
    if (!parameters)
        w.failed = true;
    return push_text(client, shard, &w, parameters, count, error);
}

static enum cleave_status push_insert(struct cleave__replay_client *client, uint32_t shard,
                                      const struct cleave_table *table,
                                      const struct cleave_store_answer *answer, uint32_t row,
                                      uint32_t first, struct cleave_error *error)
{
    struct cleave_writer w = {0};
    char number[16];
    uint32_t count = 0;
    bool sqlite = client->branches[shard].port.ops == &cleave__sqlite;
    struct cleave_store_parameter *parameters =
        cleave__arena_array(&client->arena, answer->columns + 1, sizeof *parameters);
    put(&w, "INSERT INTO ");
    cleave__put_table(&w, table->name);
    for (uint32_t c = first; c < answer->columns && parameters; c++) {
        if (is_generated(client, table, answer->names[c]))
            continue;
        put(&w, count ? ", " : " (");
        cleave__put_name(&w, answer->names[c]);
        parameters[count++].text = answer->values[(size_t)row * answer->columns + c];
    }
    put(&w, sqlite ? ") VALUES (" : ") OVERRIDING SYSTEM VALUE VALUES (");
    for (uint32_t c = 0; c < count; c++) {
        snprintf(number, sizeof number, "%s$%u", c ? ", " : "", c + 1);
        put(&w, number);
    }
    put(&w, ")");
    if (!parameters)
        w.failed = true;
    return push_text(client, shard, &w, parameters, count, error);
}

/* One changed row as a shard gave it back: whether it counts, and its moves. */
static enum cleave_status take_row(struct cleave__replay_client *client,
                                   const struct cleave__planned_statement *statement,
                                   const struct part *parts, uint32_t part_count, uint32_t p,
                                   uint32_t row, uint32_t first, bool *counts,
                                   struct cleave_error *error)
{
    const struct cleave_lookup *lookup = client->world->lookup;
    const struct cleave_table *table = &lookup->schema.tables[statement->table];
    const struct cleave_store_answer *answer = parts[p].answer;
    bool twice = cleave__lookup_twice(lookup, statement->table);
    struct cleave_shardset homes = {{0}};
    uint32_t by_key[2];
    enum cleave_status status =
        cleave__row_homes(lookup, statement->table, answer, row, first, &homes, by_key, error);
    if (status)
        return status;
    if (statement->rule == CLEAVE__RULE_FIRST) {
        *counts = by_key[0] == parts[p].shard;
        return CLEAVE_OK;
    }
    /* Of the copies that were there before, the first that is seen speaks for all. */
    bool seen = false;
    for (uint32_t q = 0; twice && q < p && !seen; q++)
        seen = has_row(table, &parts[q], answer, row, first);
    *counts = !seen;
    if (!cleave__shardset_has(&homes, parts[p].shard))
        status = push_delete(client, parts[p].shard, table, answer, row, first, error);
    for (uint32_t h = 0; h < client->shards && !seen && !status; h++) {
        bool there = !cleave__shardset_has(&homes, h) || h == parts[p].shard;
        for (uint32_t q = 0; twice && q < part_count && !there; q++)
            there = parts[q].shard == h && has_row(table, &parts[q], answer, row, first);
        if (!there)
            status = push_insert(client, h, table, answer, row, first, error);
    }
    return status;
}

enum cleave_status cleave__client_take_rows(struct cleave__replay_client *client,
                                            const struct cleave__planned_statement *statement,
                                            struct cleave__digest *digest,
                                            struct cleave_error *error)
{
    const struct cleave__piece *piece = &statement->pieces[0];
    struct part *parts = cleave__arena_array(&client->arena, client->shards, sizeof *parts);
    uint32_t part_count = 0;
    if (!parts)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for rows");
    for (uint32_t s = 0; s < client->shards; s++) {
        struct cleave__branch *branch = &client->branches[s];
        if (cleave__shardset_has(&piece->shards, s))
            parts[part_count++] = (struct part){s, &branch->answers[branch->cursor++]};
    }
    uint32_t own = client->world->lookup->schema.tables[statement->table].column_count;
    for (uint32_t p = 0; p < part_count; p++) {
        const struct cleave_store_answer *answer = parts[p].answer;
        if (answer->columns < own)
            return cleave_error_set(error, CLEAVE_CORRUPT, "%s: a change gave back too few columns",
                                    cleave__port_shown(&client->branches[parts[p].shard].port,
                                                       (char[CLEAVE__SHOWN_SIZE]){0}));
        uint32_t first = answer->columns - own;
        for (uint32_t r = 0; r < answer->rows; r++) {
            bool counts;
            enum cleave_status status =
                take_row(client, statement, parts, part_count, p, r, first, &counts, error);
            if (status)
                return status;
            if (!counts)
                continue;
            digest->affected++;
            if (statement->returning)
                cleave__digest_row(digest, answer->values + (size_t)r * answer->columns, first,
                                   NULL, 0);
        }
    }
    return CLEAVE_OK;
}
