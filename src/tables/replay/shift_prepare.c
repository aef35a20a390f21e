/* Before and after a repartition: tables of its own on the shards, what an earlier run left. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/load/load.h"
#include "tables/replay/client.h"
#include "tables/replay/fill.h"
#include "tables/replay/shift.h"
#include "tables/route/image.h"

#include <xxhash.h>

enum cleave_status cleave__shift_run(struct cleave__port *port, const char *text,
                                     struct cleave_error *error)
{
    const struct cleave_store_statement statement = {text, NULL, 0};
    const struct cleave_store_batch batch = {&statement, 1, CLEAVE_BATCH_COMMIT, NULL};
    struct cleave_store_answer answer;
    struct cleave_arena arena = {0};
    enum cleave_status status = cleave__port_batch(port, &batch, &arena, &answer, error);
    cleave__arena_free(&arena);
    return status;
}

void cleave__shift_name(const struct cleave_lookup *from, const struct cleave_lookup *to,
                        uint32_t pieces, char name[20])
{
    uint64_t sum = XXH3_64bits(from->bytes, from->size);
    sum = XXH3_64bits_withSeed(to->bytes, to->size, sum);
    snprintf(name, 20, "%016" PRIx64, XXH3_64bits_withSeed(&pieces, sizeof pieces, sum));
}

/* SQLite: every statement that made something of the user's on shard 0. */
static enum cleave_status copy_file(const char *from, struct cleave__port *to,
                                    struct cleave_error *error)
{
    struct cleave__port port;
    struct cleave_arena arena = {0};
    struct cleave_store_answer answer = {0};
    const struct cleave_store_statement statement = {
        "SELECT sql FROM sqlite_schema WHERE type IN ('table', 'index', 'view') AND sql IS NOT "
        "NULL "
        "AND tbl_name NOT LIKE 'cleave\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
        "ORDER BY type = 'table' DESC, rowid",
        NULL, 0};
    const struct cleave_store_batch batch = {&statement, 1, CLEAVE_BATCH_COMMIT, NULL};
    cleave__port_init(&port, from);
    enum cleave_status status = cleave__port_batch(&port, &batch, &arena, &answer, error);
    struct cleave_store_statement *made =
        status ? NULL : cleave__arena_zalloc(&arena, (answer.rows + 1) * sizeof *made);
    struct cleave_store_answer *answers =
        status ? NULL : cleave__arena_array(&arena, answer.rows + 1, sizeof *answers);
    if (!status && (!made || !answers))
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a table");
    for (uint32_t r = 0; r < answer.rows && !status; r++)
        made[r].text = answer.values[r];
    if (!status) {
        const struct cleave_store_batch all = {made, answer.rows, CLEAVE_BATCH_COMMIT, NULL};
        status = cleave__port_batch(to, &all, &arena, answers, error);
    }
    cleave__port_close(&port);
    cleave__arena_free(&arena);
    return status;
}

/* A shard that B adds and that has nothing yet gets what shard 0 has, but for rows. */
static enum cleave_status make_alike(const struct cleave__shift_seat *seat, uint32_t shard,
                                     struct cleave__port *port, struct cleave_error *error)
{
    const struct cleave_lookup *to = cleave__mix_to(seat->mix);
    const struct cleave_schema *schema = cleave__lookup_schema(to);
    struct cleave_arena arena = {0};
    const struct cleave_store_table *found;
    uint32_t count;
    bool any = false;
    enum cleave_status status = port->ops->tables(port->session, &arena, &found, &count, error);
    for (uint32_t i = 0; i < count && !status; i++)
        any = any ||
              cleave__schema_table(schema, found[i].name, strlen(found[i].name)) != CLEAVE_ABSENT;
    cleave__arena_free(&arena);
    if (status || any)
        return status;
    if (port->ops == &cleave__sqlite)
        return copy_file(seat->world->urls[0], port, error);
    return cleave__load_copy(to, seat->world->urls[0], port->url, shard, error);
}

/* A shard's tables must be the schema's, column for column: what is not named would be lost.
 * `fresh`: the shard is one that B adds and that has some of the tables; those that it lacks are
 * made, without further indexes. */
static enum cleave_status compare_tables(const struct cleave_schema *schema,
                                         struct cleave__port *port, bool fresh,
                                         struct cleave_error *error)
{
    struct cleave_arena arena = {0};
    const struct cleave_store_table *found;
    uint32_t count;
    enum cleave_status status = port->ops->tables(port->session, &arena, &found, &count, error);
    for (uint32_t t = 0; t < schema->table_count && !status; t++) {
        const struct cleave_table *table = &schema->tables[t];
        const struct cleave_store_table *here = NULL;
        if (table->view)
            continue;
        for (uint32_t i = 0; i < count && !here; i++)
            here = strcmp(found[i].name, table->name) == 0 ? &found[i] : NULL;
        if (!here && fresh) {
            const char *text = cleave__fill_table(table, &arena);
            status = text ? cleave__shift_run(port, text, error)
                          : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a table");
            continue;
        }
        if (!here) {
            status = cleave_error_set(error, CLEAVE_BAD_INPUT,
                                      "%s has no table %s; load the shard first",
                                      cleave__store_shown(port->url, &arena), table->name);
            break;
        }
        bool same = here->column_count == table->column_count;
        for (uint32_t c = 0; same && c < table->column_count; c++)
            same = cleave__schema_column(table, here->columns[c], strlen(here->columns[c])) !=
                   CLEAVE_ABSENT;
        if (!same)
            status = cleave_error_set(error, CLEAVE_BAD_INPUT,
                                      "%s: the columns of table %s are not the lookup table's",
                                      cleave__store_shown(port->url, &arena), table->name);
    }
    cleave__arena_free(&arena);
    return status;
}

static enum cleave_status make_staging(const struct cleave__shift_seat *seat,
                                       struct cleave__port *port, struct cleave_error *error)
{
    const struct cleave_schema *schema = cleave__lookup_schema(cleave__mix_to(seat->mix));
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t t = 0; t < schema->table_count && !status; t++) {
        if (cleave__mix_table(seat->mix, t)->kind == CLEAVE__MIX_STILL)
            continue;
        struct cleave_writer w = {0};
        char name[40], drop[80];
        cleave__shift_staging(t, name);
        snprintf(drop, sizeof drop, "DROP TABLE IF EXISTS %s", name);
        cleave__put_bytes(&w, "CREATE TABLE ", 13);
        cleave__put_name(&w, name);
        cleave__put_bytes(&w, " AS SELECT ", 11);
        cleave__shift_put_columns(&w, &schema->tables[t], NULL);
        cleave__put_bytes(&w, " FROM ", 6);
        cleave__put_table(&w, schema->tables[t].name);
        cleave__put_bytes(&w, " WHERE 1 = 0", 13);
        status = cleave__shift_run(port, drop, error);
        if (!status && w.failed)
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a repartition");
        if (!status)
            status = cleave__shift_run(port, (const char *)w.data, error);
        free(w.data);
    }
    return status;
}

/* The plan itself; other plans are over (claim.h). */
static enum cleave_status note_plan(const struct cleave__shift_seat *seat,
                                    struct cleave__port *port, struct cleave_error *error)
{
    const struct cleave_store_parameter parameters[2] = {{seat->plan}, {seat->command}};
    const struct cleave_store_statement statements[3] = {
        {"CREATE TABLE IF NOT EXISTS cleave_plan (plan varchar(16) NOT NULL PRIMARY KEY, whole "
         "smallint NOT NULL, command varchar(1000) NOT NULL)",
         NULL, 0},
        {"DELETE FROM cleave_plan WHERE plan <> $1", parameters, 1},
        {"INSERT INTO cleave_plan (plan, whole, command) VALUES ($1, 0, $2) ON CONFLICT DO NOTHING",
         parameters, 2}};
    const struct cleave_store_batch batch = {statements, 3, CLEAVE_BATCH_COMMIT, NULL};
    struct cleave_store_answer answers[3];
    struct cleave_arena arena = {0};
    enum cleave_status status = cleave__port_batch(port, &batch, &arena, answers, error);
    cleave__arena_free(&arena);
    return status;
}

/* Other plans are over. */
static enum cleave_status read_moves(const struct cleave__shift_seat *seat,
                                     struct cleave__port *port, struct cleave_error *error)
{
    char forget[100], read[100];
    snprintf(forget, sizeof forget, "DELETE FROM cleave_moves WHERE plan <> '%s'", seat->plan);
    snprintf(read, sizeof read, "SELECT piece FROM cleave_moves WHERE plan = '%s'", seat->plan);
    const struct cleave_store_statement statements[3] = {
        {"CREATE TABLE IF NOT EXISTS cleave_moves (plan varchar(16) NOT NULL, piece bigint NOT "
         "NULL, PRIMARY KEY (plan, piece))",
         NULL, 0},
        {forget, NULL, 0},
        {read, NULL, 0}};
    const struct cleave_store_batch batch = {statements, 3, CLEAVE_BATCH_COMMIT, NULL};
    struct cleave_store_answer answers[3];
    struct cleave_arena arena = {0};
    enum cleave_status status = cleave__port_batch(port, &batch, &arena, answers, error);
    for (uint32_t r = 0; !status && r < answers[2].rows; r++) {
        const char *text = answers[2].values[r];
        unsigned long piece = text ? strtoul(text, NULL, 10) : ULONG_MAX;
        if (piece >= cleave__mix_pieces(seat->mix) || cleave__mix_moved(seat->mix, (uint32_t)piece))
            status = cleave_error_set(error, CLEAVE_CORRUPT,
                                      "%s: cleave_moves has a piece that makes no sense",
                                      cleave__store_shown(port->url, &arena));
        else
            cleave__mix_move(seat->mix, (uint32_t)piece);
    }
    cleave__arena_free(&arena);
    return status;
}

enum cleave_status cleave__shift_prepare(struct cleave__shift_seat *seat,
                                         struct cleave_error *error)
{
    struct cleave__replay_world world = *seat->world;
    struct cleave__recovery before;
    uint32_t shards = cleave__lookup_shards(world.lookup);
    world.coordinator = seat->coordinator;
    enum cleave_status status = cleave__recover(&world, false, &before, error);
    for (uint32_t s = 0; s < shards && !status; s++) {
        struct cleave__port port;
        cleave__port_init(&port, world.urls[s]);
        status = cleave__port_await(&port, &world, error);
        if (!status && s >= cleave__lookup_shards(cleave__mix_from(seat->mix)))
            status = make_alike(seat, s, &port, error);
        if (!status)
            status = compare_tables(cleave__lookup_schema(world.lookup), &port,
                                    s >= cleave__lookup_shards(cleave__mix_from(seat->mix)), error);
        if (!status && s == 0)
            status = read_moves(seat, &port, error);
        if (!status && s == 0)
            status = note_plan(seat, &port, error);
        if (!status)
            status = make_staging(seat, &port, error);
        cleave__port_close(&port);
    }
    if (!status)
        status = cleave__decisions_reserve(&world, &before, &seat->base_id, error);
    return status;
}

/* On a shard that B does not have: of tables that are copied everywhere. */
static enum cleave_status remove_copies(const struct cleave__shift_seat *seat,
                                        struct cleave__port *port, struct cleave_error *error)
{
    const struct cleave_lookup *to = cleave__mix_to(seat->mix);
    const struct cleave_schema *schema = cleave__lookup_schema(to);
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t t = 0; t < schema->table_count && !status && cleave__mix_done(seat->mix); t++) {
        struct cleave_writer w = {0};
        if (schema->tables[t].view || !cleave__lookup_replicated(to, t))
            continue;
        cleave__put_bytes(&w, "DELETE FROM ", 12);
        cleave__put_table(&w, schema->tables[t].name);
        cleave__put8(&w, 0);
        status = w.failed ? cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a repartition")
                          : cleave__shift_run(port, (const char *)w.data, error);
        free(w.data);
    }
    return status;
}

enum cleave_status cleave__shift_clean(const struct cleave__shift_seat *seat,
                                       struct cleave_error *error)
{
    struct cleave__replay_world world = *seat->world;
    struct cleave__recovery after;
    world.coordinator = seat->coordinator;
    enum cleave_status status = cleave__recover(&world, false, &after, error);
    if (!status)
        status = cleave__decisions_forget(&world, error);
    for (uint32_t s = 0; s < cleave__lookup_shards(world.lookup) && !status; s++) {
        struct cleave__port port;
        cleave__port_init(&port, world.urls[s]);
        status = cleave__port_await(&port, &world, error);
        if (!status && s >= cleave__lookup_shards(cleave__mix_to(seat->mix)))
            status = remove_copies(seat, &port, error);
        if (!status && s == 0 && cleave__mix_done(seat->mix)) {
            char whole[100];
            snprintf(whole, sizeof whole, "UPDATE cleave_plan SET whole = 1 WHERE plan = '%s'",
                     seat->plan);
            status = cleave__shift_run(&port, whole, error);
        }
        for (uint32_t t = 0; t < cleave__lookup_schema(world.lookup)->table_count && !status; t++) {
            char name[40], drop[80];
            if (cleave__mix_table(seat->mix, t)->kind == CLEAVE__MIX_STILL)
                continue;
            cleave__shift_staging(t, name);
            snprintf(drop, sizeof drop, "DROP TABLE IF EXISTS %s", name);
            status = cleave__shift_run(&port, drop, error);
        }
        cleave__port_close(&port);
    }
    return status;
}
