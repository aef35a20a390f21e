/* A query over several shards, evaluated where all the rows that it may read are together.
 *
 * That is a scratch session outside the transaction (what is prepared may not have touched
 * temporary tables): on PostgreSQL a session of the first shard with temporary tables, which hide
 * the real ones of the same names; for SQLite a database in memory. The rows go in, the statement
 * is run as the trace has it, and all of it is rolled back, so that the tables are empty again. */
#include "tables/replay/client.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "tables/route/image.h"

void cleave__client_gather_free(struct cleave__replay_client *client)
{
    cleave__port_close(&client->scratch);
    cleave__arena_free(&client->catalog_arena);
    free(client->scratch_tables);
}

static bool is_sqlite(const struct cleave__replay_client *client)
{
    return client->branches[0].port.ops == &cleave__sqlite;
}

static enum cleave_status open_scratch(struct cleave__replay_client *client,
                                       struct cleave_error *error)
{
    if (client->scratch.session)
        return CLEAVE_OK;
    memset(client->scratch_tables, 0,
           client->world->lookup->schema.table_count * sizeof *client->scratch_tables);
    cleave__port_init(&client->scratch,
                      is_sqlite(client) ? "sqlite::memory:" : client->world->urls[0]);
    return cleave__port_await(&client->scratch, client->world, error);
}

/* The table as a shard declares it. */
static enum cleave_status find_table(struct cleave__replay_client *client, const char *name,
                                     const struct cleave_store_table **out,
                                     struct cleave_error *error)
{
    if (!client->catalog) {
        struct cleave__port port;
        cleave__port_init(&port, client->world->urls[0]);
        enum cleave_status status = cleave__port_open(&port, error);
        if (!status)
            status = port.ops->tables(port.session, &client->catalog_arena, &client->catalog,
                                      &client->catalog_count, error);
        cleave__port_close(&port);
        if (status)
            return status;
    }
    for (uint32_t t = 0; t < client->catalog_count; t++) {
        if (strcmp(client->catalog[t].name, name) == 0) {
            *out = &client->catalog[t];
            return CLEAVE_OK;
        }
    }
    return cleave_error_set(error, CLEAVE_BAD_INPUT, "shard 0 has no table \"%s\"", name);
}

static void put(struct cleave_writer *writer, const char *text)
{
    cleave__put_bytes(writer, text, strlen(text));
}

static enum cleave_status make_table(struct cleave__replay_client *client, uint32_t table,
                                     struct cleave_error *error)
{
    const char *name = client->world->lookup->schema.tables[table].name;
    const struct cleave_store_table *like = NULL;
    struct cleave_writer w = {0};
    enum cleave_status status = CLEAVE_OK;
    if (is_sqlite(client)) {
        status = find_table(client, name, &like, error);
        put(&w, "CREATE TABLE ");
        cleave__put_name(&w, name);
        for (uint32_t c = 0; !status && c < like->column_count; c++) {
            put(&w, c ? ", " : " (");
            cleave__put_name(&w, like->columns[c]);
            put(&w, " ");
            put(&w, like->types[c]);
        }
        put(&w, ")");
    } else {
        put(&w, "CREATE TEMPORARY TABLE ");
        cleave__put_name(&w, name);
        put(&w, " (LIKE ");
        cleave__put_name(&w, name);
        put(&w, " INCLUDING INDEXES)");
    }
    cleave__put8(&w, 0);
    if (!status && w.failed)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a table");
    if (!status) {
        const struct cleave_store_statement statement = {(const char *)w.data, NULL, 0};
        const struct cleave_store_batch batch = {&statement, 1, CLEAVE_BATCH_COMMIT, NULL};
        struct cleave_store_answer answer;
        status = cleave__port_batch(&client->scratch, &batch, &client->arena, &answer, error);
    }
    free(w.data);
    client->scratch_tables[table] = !status;
    return status;
}

static uint64_t key_hash(const struct cleave_table *table, const struct cleave_store_answer *answer,
                         uint32_t row)
{
    struct cleave__digest digest = {0};
    for (uint32_t k = 0; k < table->primary.count; k++) {
        for (uint32_t c = 0; c < answer->columns; c++) {
            if (strcmp(answer->names[c], table->columns[table->primary.columns[k]].name) == 0)
                cleave__digest_row(&digest, &answer->values[(size_t)row * answer->columns + c], 1,
                                   &(uint32_t){0}, 1);
        }
    }
    return digest.sequence;
}

/* The rows of one table that were fetched from one shard. `keys`: those that are in already, of a
 * table of which there may be two copies. */
static enum cleave_status fill(struct cleave__replay_client *client,
                               const struct cleave__fetched *fetched, struct cleave__map *keys,
                               struct cleave_error *error)
{
    const struct cleave_lookup *lookup = client->world->lookup;
    const struct cleave_store_answer *answer = fetched->answer;
    const struct cleave_table *table = &lookup->schema.tables[fetched->piece->table];
    bool twice = cleave__lookup_twice(lookup, fetched->piece->table);
    struct cleave__port *scratch = &client->scratch;
    if (answer->rows == 0)
        return CLEAVE_OK;
    enum cleave_status status = scratch->ops->fill_begin(scratch->session, table->name,
                                                         answer->names, answer->columns, error);
    for (uint32_t r = 0; r < answer->rows && !status; r++) {
        if (twice) {
            struct cleave_shardset homes = {{0}};
            uint32_t by_key[2];
            status = cleave__row_homes(lookup, fetched->piece->table, answer, r, 0, &homes, by_key,
                                       error);
            if (status || by_key[fetched->piece->second] != fetched->shard)
                continue;
            if (table->primary.count) {
                uint64_t hash = key_hash(table, answer, r);
                if (cleave__map_find(keys, hash))
                    continue;
                if (!cleave__map_put(keys, hash))
                    status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for rows");
            }
        }
        if (!status)
            status = scratch->ops->fill_row(scratch->session,
                                            answer->values + (size_t)r * answer->columns,
                                            answer->columns, error);
    }
    if (!status)
        status = scratch->ops->fill_end(scratch->session, error);
    return status;
}

static enum cleave_status evaluate(struct cleave__replay_client *client, uint32_t index,
                                   struct cleave__digest *digest, struct cleave_error *error)
{
    const struct cleave__planned_statement *statement = &client->planned->statements[index];
    enum cleave_status status = open_scratch(client, error);
    for (uint32_t p = 0; p < statement->piece_count && !status; p++) {
        if (!client->scratch_tables[statement->pieces[p].table])
            status = make_table(client, statement->pieces[p].table, error);
    }
    struct cleave__map keys = {0};
    uint32_t last = CLEAVE_ABSENT;
    for (size_t f = 0; f < client->fetched.count && !status; f++) {
        const struct cleave__fetched *fetched = &client->fetched.data[f];
        if (fetched->statement != index)
            continue;
        if (last != fetched->piece->table) {
            cleave__map_free(&keys);
            keys = (struct cleave__map){0};
            last = fetched->piece->table;
        }
        status = fill(client, fetched, &keys, error);
    }
    cleave__map_free(&keys);
    if (status)
        return status;
    const struct cleave_store_statement one = {statement->text, client->parameters[index],
                                               statement->parameter_count};
    const struct cleave_store_batch batch = {&one, 1, CLEAVE_BATCH_ROLLBACK, NULL};
    struct cleave_store_answer answer;
    status = cleave__port_batch(&client->scratch, &batch, &client->arena, &answer, error);
    if (!status)
        cleave__digest_answer(digest, &answer, answer.columns, statement->keys,
                              statement->key_count);
    return status;
}

enum cleave_status cleave__client_gather(struct cleave__replay_client *client, uint32_t statement,
                                         struct cleave__digest *digest, struct cleave_error *error)
{
    uint64_t until_ns = cleave__clock_ns() + client->world->patience_ns;
    for (;;) {
        enum cleave_status status = evaluate(client, statement, digest, error);
        if (status) /* whatever it was, nothing of it stays */
            cleave__port_close(&client->scratch);
        if (status != CLEAVE_IO)
            return status;
        /* The transaction is over: it must not look as if it could be begun anew. */
        if (cleave__clock_ns() > until_ns || (client->world->stop && *client->world->stop))
            return cleave_error_set(error, CLEAVE_LIMIT,
                                    "%.200s, where queries over several shards are evaluated, did "
                                    "not come back in time",
                                    client->scratch.url);
    }
}
