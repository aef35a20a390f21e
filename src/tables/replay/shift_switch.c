/* The switch: rows leave their old shards and staging becomes rows, everywhere or nowhere.
 *
 * One distributed transaction, as decide.h has them, with shard 0 as its anchor: its commit puts
 * the decision and the rows of cleave_moves beside it. Nothing else touches these pieces meanwhile.
 *
 * Of a table by key, each row that leaves a shard comes to another; so as many must go as come.
 * When not, there are rows on a shard where A has none of them (or the table's keys are not what
 * they seem), and nothing is done. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "tables/replay/client.h"
#include "tables/replay/shift.h"

enum { KEYS_A_STATEMENT = 100 };

struct work {
    uint32_t table;
    bool removes;
};

struct part {
    CLEAVE_VECTOR(struct cleave_store_statement) statements;
    CLEAVE_VECTOR(struct work) works; /* of each */
    struct cleave_store_batch batch;
    struct cleave_store_answer *answers;
    bool sent, prepared;
    char name[CLEAVE_PREPARED_NAME_MOST + 1]; /* of what is prepared */
};

struct switching {
    struct cleave__shift *shift;
    struct part *parts; /* [shards] */
    struct cleave_arena arena;
    uint64_t id;
};

static enum cleave_status no_memory(struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a switch");
}

static bool push(struct switching *w, uint32_t shard, struct cleave_writer *text,
                 const struct cleave_store_parameter *parameters, uint32_t count, uint32_t table,
                 bool removes)
{
    struct part *part = &w->parts[shard];
    struct work work = {table, removes};
    char *copy =
        text->failed ? NULL : cleave__arena_copy(&w->arena, (const char *)text->data, text->count);
    struct cleave_store_statement statement = {copy, parameters, count};
    free(text->data);
    /* Rows go before others come, of all tables: foreign keys are right in the end alone. */
    const struct cleave_store_statement defer = {"SET CONSTRAINTS ALL DEFERRED", NULL, 0};
    const struct work nothing = {table, false};
    if (part->statements.count == 0 && w->shift->ports[shard].target.ops != &cleave__sqlite &&
        !(CLEAVE_PUSH(&part->statements, defer) && CLEAVE_PUSH(&part->works, nothing)))
        return false;
    return copy && CLEAVE_PUSH(&part->statements, statement) && CLEAVE_PUSH(&part->works, work);
}

static void say(struct cleave_writer *w, const char *text)
{
    cleave__put_bytes(w, text, strlen(text));
}

static bool push_delete(struct switching *w, uint32_t shard, uint32_t table,
                        const struct cleave_store_parameter *keys, uint32_t count, bool nulls)
{
    const struct cleave_schema *schema = w->shift->schema;
    const struct cleave__mix_table *cut = cleave__mix_table(w->shift->mix, table);
    struct cleave_writer text = {0};
    say(&text, "DELETE FROM ");
    cleave__put_table(&text, schema->tables[table].name);
    if (count || nulls) {
        say(&text, " WHERE ");
        cleave__put_name(&text, schema->tables[table].columns[cut->key_column].name);
        say(&text, nulls ? " IS NULL" : " IN (");
    }
    for (uint32_t k = 0; k < count; k++) {
        char number[16];
        snprintf(number, sizeof number, "%s$%u", k ? ", " : "", k + 1);
        say(&text, number);
    }
    say(&text, count ? ")" : "");
    return push(w, shard, &text, keys, count, table, true);
}

/* What leaves a shard of a table by key. */
static bool remove_keys(struct switching *w, uint32_t shard, uint32_t table)
{
    const struct cleave__shift *shift = w->shift;
    bool lean = cleave__shift_lean(shift, table), nulls = false;
    struct cleave_store_parameter *keys = NULL;
    uint32_t count = 0;
    for (size_t k = 0; k < shift->moving.count; k++) {
        const struct cleave__shift_key *key = &shift->moving.data[k];
        if (key->table != table || (lean && key->home == shard))
            continue;
        if (key->null) {
            nulls = true;
            continue;
        }
        if (!count)
            keys = cleave__arena_array(&w->arena, KEYS_A_STATEMENT, sizeof *keys);
        if (!keys)
            return false;
        keys[count++].text = key->text;
        if (count == KEYS_A_STATEMENT) {
            if (!push_delete(w, shard, table, keys, count, false))
                return false;
            count = 0;
        }
    }
    return (!count || push_delete(w, shard, table, keys, count, false)) &&
           (!nulls || push_delete(w, shard, table, NULL, 0, true));
}

static bool removes(struct switching *w, uint32_t shard, uint32_t table)
{
    const struct cleave__shift *shift = w->shift;
    if (shard >= cleave__lookup_shards(shift->from))
        return true;
    if (cleave__mix_table(shift->mix, table)->kind == CLEAVE__MIX_KEYED)
        return remove_keys(w, shard, table);
    if (cleave__shift_lean(shift, table))
        return true; /* copies stay */
    return push_delete(w, shard, table, NULL, 0, false);
}

static bool inserts(struct switching *w, uint32_t shard, uint32_t table)
{
    const struct cleave_table *t = &w->shift->schema->tables[table];
    struct cleave_writer text = {0};
    char name[40];
    if (shard >= cleave__lookup_shards(w->shift->to) &&
        !cleave__lookup_replicated(w->shift->to, table))
        return true;
    cleave__shift_staging(table, name);
    say(&text, "INSERT INTO ");
    cleave__put_table(&text, t->name);
    const bool *const *generated = w->shift->seat->world->generated;
    bool sqlite = w->shift->ports[shard].target.ops == &cleave__sqlite;
    say(&text, " (");
    cleave__shift_put_columns(&text, t, generated ? generated[table] : NULL);
    say(&text, sqlite ? ") SELECT " : ") OVERRIDING SYSTEM VALUE SELECT ");
    cleave__shift_put_columns(&text, t, generated ? generated[table] : NULL);
    say(&text, " FROM ");
    cleave__put_name(&text, name);
    return push(w, shard, &text, NULL, 0, table, false);
}

/* Whether any row may move. */
static bool is_idle(const struct cleave__shift *shift)
{
    for (uint32_t t = 0; t < shift->schema->table_count; t++) {
        if (cleave__shift_moves(shift, t) &&
            cleave__mix_table(shift->mix, t)->kind == CLEAVE__MIX_WHOLE)
            return false;
    }
    return shift->moving.count == 0;
}

static bool make_parts(struct switching *w)
{
    struct cleave__shift *shift = w->shift;
    if (is_idle(shift))
        return true;
    for (uint32_t s = 0; s < shift->shards; s++) {
        for (int inserting = 0; inserting < 2; inserting++) {
            for (uint32_t t = 0; t < shift->schema->table_count; t++) {
                if (cleave__shift_moves(shift, t) &&
                    !(inserting ? inserts(w, s, t) : removes(w, s, t)))
                    return false;
            }
        }
    }
    return true;
}

/* All parts at once; shard 0's stays open, the others prepare. */
static enum cleave_status play(struct switching *w, struct cleave_error *error)
{
    struct cleave__shift *shift = w->shift;
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t s = 0; s < shift->shards && !status; s++) {
        struct part *part = &w->parts[s];
        struct cleave__port *port = &shift->ports[s].target;
        if (part->statements.count == 0)
            continue;
        cleave__branch_name(shift->seat->coordinator, w->id, 0, s, part->name);
        part->batch =
            (struct cleave_store_batch){part->statements.data, (uint32_t)part->statements.count,
                                        s ? CLEAVE_BATCH_PREPARE : CLEAVE_BATCH_OPEN, part->name};
        part->answers =
            cleave__arena_array(&w->arena, part->statements.count, sizeof *part->answers);
        status =
            part->answers ? cleave__port_await(port, shift->seat->world, error) : no_memory(error);
        if (!status)
            status = port->ops->send(port->session, &part->batch, error);
        part->sent = !status;
        part->prepared = s && (part->sent || status == CLEAVE_IO); /* perhaps */
    }
    for (uint32_t s = 0; s < shift->shards; s++) {
        struct part *part = &w->parts[s];
        struct cleave__port *port = &shift->ports[s].target;
        struct cleave_error here;
        if (!part->sent)
            continue;
        enum cleave_status got =
            port->ops->receive(port->session, &w->arena, part->answers, NULL, &here);
        if (got == CLEAVE_IO)
            cleave__port_close(port);
        else if (got)
            part->prepared = false;
        if (got && (!status || status == CLEAVE_IO)) {
            status = got;
            *error = here;
        }
    }
    return status;
}

/* As many rows of a table by key must go as come. */
static enum cleave_status weigh(struct switching *w, uint64_t *rows, struct cleave_error *error)
{
    struct cleave__shift *shift = w->shift;
    *rows = 0;
    for (uint32_t t = 0; t < shift->schema->table_count; t++) {
        uint64_t gone = 0, come = 0;
        for (uint32_t s = 0; s < shift->shards; s++) {
            const struct part *part = &w->parts[s];
            for (size_t i = 0; i < part->statements.count; i++) {
                if (part->works.data[i].table != t)
                    continue;
                uint64_t affected = part->answers[i].affected;
                *(part->works.data[i].removes ? &gone : &come) += affected;
            }
        }
        *rows += come;
        if (gone != come && cleave__mix_table(shift->mix, t)->kind == CLEAVE__MIX_KEYED)
            return cleave_error_set(
                error, CLEAVE_CORRUPT,
                "table %s: %" PRIu64 " rows would go from their old shards and %" PRIu64
                " come to new ones: some are where the old lookup table has none; nothing of "
                "them was moved",
                shift->schema->tables[t].name, gone, come);
    }
    return CLEAVE_OK;
}

static enum cleave_status find_out(struct switching *w, bool *committed, struct cleave_error *error)
{
    const struct cleave__replay_world *world = w->shift->seat->world;
    struct cleave__port *anchor = &w->shift->ports[0].target;
    enum cleave_status status = cleave__port_await(anchor, world, error);
    if (!status)
        status =
            cleave__decision_find(anchor, w->shift->seat->coordinator, w->id, committed, error);
    return status;
}

/* The anchor's commit, with what says so. */
static enum cleave_status decide(struct switching *w, struct cleave_error *error)
{
    struct cleave__shift *shift = w->shift;
    struct cleave_store_parameter parameters[2];
    struct cleave_store_statement *statements =
        cleave__arena_zalloc(&w->arena, ((size_t)shift->pieces + 1) * sizeof *statements);
    char text[24];
    uint32_t count = 1;
    if (!statements)
        return no_memory(error);
    cleave__decision_statement(shift->seat->coordinator, w->id, text, parameters, &statements[0]);
    for (uint32_t p = 0; p < shift->pieces; p++) {
        char line[100];
        if (!(shift->set[p / 64] >> p % 64 & 1))
            continue;
        int n =
            snprintf(line, sizeof line, "INSERT INTO cleave_moves (plan, piece) VALUES ('%s', %u)",
                     shift->seat->plan, p);
        statements[count].text = cleave__arena_copy(&w->arena, line, (size_t)n);
        if (!statements[count++].text)
            return no_memory(error);
    }
    struct cleave_store_answer *answers = cleave__arena_array(&w->arena, count, sizeof *answers);
    const struct cleave_store_batch batch = {statements, count, CLEAVE_BATCH_COMMIT, NULL};
    struct cleave__port *anchor = &shift->ports[0].target;
    if (!answers)
        return no_memory(error);
    bool begun = w->parts[0].statements.count > 0; /* its work is in that very session */
    if (begun && !anchor->session)
        return cleave_error_set(error, CLEAVE_IO, "%s is gone", anchor->url);
    enum cleave_status status =
        begun ? CLEAVE_OK : cleave__port_await(anchor, shift->seat->world, error);
    if (!status)
        status = anchor->ops->send(anchor->session, &batch, error);
    if (!status)
        status = anchor->ops->receive(anchor->session, &w->arena, answers, NULL, error);
    if (status == CLEAVE_IO)
        cleave__port_close(anchor);
    if (status != CLEAVE_IO)
        return status;
    bool committed = false;
    enum cleave_status found = find_out(w, &committed, error);
    return found ? found : committed ? CLEAVE_OK : CLEAVE_IO;
}

static enum cleave_status finish(struct switching *w, bool commit, struct cleave_error *error)
{
    struct cleave__shift *shift = w->shift;
    const struct cleave__replay_world *world = shift->seat->world;
    enum cleave_status status = CLEAVE_OK;
    uint64_t until_ns = cleave__clock_ns() + world->patience_ns;
    for (uint32_t s = 0; s < shift->shards; s++) {
        while (w->parts[s].prepared) {
            enum cleave_status got = cleave__port_await(&shift->ports[s].target, world, error);
            if (!got)
                got = cleave__port_finish(&shift->ports[s].target, w->parts[s].name, commit, error);
            if (!got) {
                w->parts[s].prepared = false;
            } else if (got != CLEAVE_IO || cleave__clock_ns() > until_ns ||
                       (world->stop && *world->stop)) {
                status = got;
                break;
            }
        }
    }
    return status;
}

static void roll_back(struct switching *w)
{
    struct cleave_error ignored;
    const struct cleave_store_batch batch = {NULL, 0, CLEAVE_BATCH_ROLLBACK, NULL};
    struct cleave__port *anchor = &w->shift->ports[0].target;
    if (anchor->session && cleave__port_batch(anchor, &batch, &w->arena, NULL, &ignored))
        cleave__port_close(anchor);
    (void)finish(w, false, &ignored); /* or the sweep at the end does */
}

static void at(const struct cleave__shift *shift, const char *point)
{
    if (shift->seat->world->at)
        shift->seat->world->at(shift->seat->world->at_context, point);
}

enum cleave_status cleave__shift_switch(struct cleave__shift *shift, struct cleave_error *error)
{
    struct switching w = {.shift = shift, .id = shift->seat->base_id + shift->attempts++};
    uint64_t rows = 0;
    w.parts = calloc(shift->shards, sizeof *w.parts);
    enum cleave_status status = w.parts && make_parts(&w) ? CLEAVE_OK : no_memory(error);
    at(shift, "switch begins");
    if (!status) {
        status = play(&w, error);
        if (!status)
            status = weigh(&w, &rows, error);
        at(shift, "switch prepared");
        if (!status)
            status = decide(&w, error);
        if (status)
            roll_back(&w);
    }
    if (!status) {
        at(shift, "switch decided");
        shift->result.rows += rows;
        status = finish(&w, true, error);
        if (status == CLEAVE_IO)
            status = cleave_error_set(error, CLEAVE_LIMIT,
                                      "pieces of tables have moved, but a shard that has prepared "
                                      "it did not come back in time; the next run finishes it");
        at(shift, "switch committed");
    }
    for (uint32_t s = 0; w.parts && s < shift->shards; s++) {
        CLEAVE_VECTOR_FREE(&w.parts[s].statements);
        CLEAVE_VECTOR_FREE(&w.parts[s].works);
    }
    free(w.parts);
    cleave__arena_free(&w.arena);
    return status;
}
