/* Rows into staging: read where A has them, written where B wants them.
 *
 * Staging holds exactly the rows that the switch will put into tables:
 * - of a table by key whose homes under B depend on that key alone (*lean*), those whose home is
 *   another shard than the one they are on;
 * - of a table that both copy everywhere, a copy for each shard that is new;
 * - of any other, every row, also where it stays: the switch then replaces all rows of the pieces.
 * Each row is read from one shard, its first home under A. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tables/replay/client.h"
#include "tables/replay/shift.h"
#include "tables/route/image.h"

enum { NOTES_A_QUERY = 40 };

void cleave__shift_staging(uint32_t table, char name[40])
{
    snprintf(name, 40, "cleave_incoming_%" PRIu32, table);
}

void cleave__shift_put_columns(struct cleave_writer *writer, const struct cleave_table *table,
                               const bool *left_out)
{
    bool any = false;
    for (uint32_t c = 0; c < table->column_count; c++) {
        if (left_out && left_out[c])
            continue;
        if (any)
            cleave__put_bytes(writer, ", ", 2);
        any = true;
        cleave__put_name(writer, table->columns[c].name);
    }
}

bool cleave__shift_moves(const struct cleave__shift *shift, uint32_t table)
{
    const struct cleave__mix_table *cut = cleave__mix_table(shift->mix, table);
    for (uint32_t p = 0; cut->kind != CLEAVE__MIX_STILL && p < cut->count; p++) {
        uint32_t piece = cut->first + p;
        if (shift->set[piece / 64] >> piece % 64 & 1)
            return true;
    }
    return false;
}

bool cleave__shift_lean(const struct cleave__shift *shift, uint32_t table)
{
    const struct cleave__mix_table *cut = cleave__mix_table(shift->mix, table);
    if (cut->kind == CLEAVE__MIX_KEYED)
        return shift->to->tables[table].exceptions.group_count == 0;
    return cleave__lookup_replicated(shift->from, table) &&
           cleave__lookup_replicated(shift->to, table);
}

/* ---- one row ---- */

struct copying {
    struct cleave__shift *shift;
    uint32_t table, shard;
    struct cleave_arena arena;
    struct cleave_value *values; /* [columns] */
    const char **names;
};

static enum cleave_status no_memory(struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for rows that move");
}

/* Remembers the row's key as its store prints it: the switch removes by it. */
static bool remember(struct copying *copying, const char *text, uint32_t home)
{
    struct cleave__shift *shift = copying->shift;
    char key[600];
    size_t length = text ? strlen(text) : 0;
    char *bytes = length + 5 > sizeof key ? malloc(length + 5) : key;
    if (!bytes)
        return false;
    memcpy(bytes, &copying->table, 4);
    bytes[4] = text != NULL;
    if (text)
        memcpy(bytes + 5, text, length);
    uint32_t before = shift->seen.count;
    uint32_t id = cleave__intern_add(&shift->seen, bytes, length + 5);
    if (bytes != key)
        free(bytes);
    if (id == CLEAVE_INTERN_NONE)
        return false;
    if (shift->seen.count == before)
        return true;
    struct cleave__shift_key fresh = {copying->table, !text, shift->seen.entries[id].bytes + 5,
                                      home};
    return CLEAVE_PUSH(&shift->moving, fresh);
}

static enum cleave_status stage(struct copying *copying, uint32_t shard, const char *const *cells,
                                struct cleave_error *error)
{
    struct cleave__shift *shift = copying->shift;
    struct cleave__shift_port *port = &shift->ports[shard];
    const struct cleave_table *table = &shift->schema->tables[copying->table];
    char name[40];
    cleave__shift_staging(copying->table, name);
    enum cleave_status status = CLEAVE_OK;
    if (!port->filling) {
        status = cleave__port_await(&port->target, shift->seat->world, error);
        if (!status)
            status = port->target.ops->fill_begin(port->target.session, name, copying->names,
                                                  table->column_count, error);
        port->filling = !status;
        port->open = port->open || !status;
    }
    if (!status)
        status =
            port->target.ops->fill_row(port->target.session, cells, table->column_count, error);
    shift->result.staged += !status;
    return status;
}

static enum cleave_status take_row(void *context, uint32_t columns, const char *const *cells,
                                   struct cleave_error *error)
{
    struct copying *copying = context;
    struct cleave__shift *shift = copying->shift;
    uint32_t t = copying->table;
    const struct cleave_table *table = &shift->schema->tables[t];
    const struct cleave__mix_table *cut = cleave__mix_table(shift->mix, t);
    struct cleave_shardset homes = {{0}}, old = {{0}};
    if (columns != table->column_count)
        return cleave_error_set(error, CLEAVE_CORRUPT, "%s: a row with %u columns instead of %u",
                                table->name, columns, table->column_count);
    struct cleave_arena_mark mark = cleave__arena_mark(&copying->arena);
    for (uint32_t c = 0; c < columns; c++) {
        if (shift->decides[shift->column_base[t] + c])
            cleave__text_value(&table->columns[c], cells[c], &copying->arena, &copying->values[c]);
    }
    uint32_t piece = cleave__mix_piece(shift->mix, t, copying->values, columns);
    uint32_t first = cleave__lookup_row(shift->from, t, copying->values, columns);
    enum cleave_status status = CLEAVE_OK;
    if ((shift->set[piece / 64] >> piece % 64 & 1) &&
        (first == CLEAVE_SHARDS_MAX || first == copying->shard)) {
        bool lean = cleave__shift_lean(shift, t);
        if (cleave__lookup_replicated(shift->to, t)) /* while it moves, on A's too */
            cleave__shardset_fill(&homes, shift->shards);
        else
            cleave__lookup_row_shards(shift->to, t, copying->values, columns, &homes);
        cleave__lookup_row_shards(shift->from, t, copying->values, columns, &old);
        if (cut->kind == CLEAVE__MIX_KEYED &&
            !remember(copying, cells[cut->key_column], cleave__shardset_first(&homes)))
            status = no_memory(error);
        for (uint32_t s = 0; s < shift->shards && !status; s++) {
            if (cleave__shardset_has(&homes, s) && !(lean && cleave__shardset_has(&old, s)))
                status = stage(copying, s, cells, error);
        }
    }
    cleave__arena_rewind(&copying->arena, mark);
    return status;
}

/* ---- many ---- */

/* What was put into staging is committed. */
static enum cleave_status settle(struct cleave__shift *shift, enum cleave_status status,
                                 struct cleave_error *error)
{
    for (uint32_t s = 0; s < shift->shards; s++) {
        struct cleave__shift_port *port = &shift->ports[s];
        if (port->filling && port->target.session && !status)
            status = port->target.ops->fill_end(port->target.session, error);
        if (port->open && port->target.session && !status) {
            const struct cleave_store_batch batch = {NULL, 0, CLEAVE_BATCH_COMMIT, NULL};
            status = cleave__port_batch(&port->target, &batch, &shift->note_arena, NULL, error);
        }
        if (port->open && status) /* half of it would be in the way */
            cleave__port_close(&port->target);
        port->filling = 0;
        port->open = false;
    }
    return status;
}

/* Rows of a table on a shard that a condition (NULL: any) chooses. */
static enum cleave_status copy(struct cleave__shift *shift, uint32_t t, uint32_t shard,
                               const char *condition, struct cleave_error *error)
{
    const struct cleave_table *table = &shift->schema->tables[t];
    struct copying copying = {.shift = shift, .table = t, .shard = shard};
    struct cleave_writer w = {0};
    cleave__put_bytes(&w, "SELECT ", 7);
    cleave__shift_put_columns(&w, table, NULL);
    cleave__put_bytes(&w, " FROM ", 6);
    cleave__put_table(&w, table->name);
    if (condition) {
        cleave__put_bytes(&w, " WHERE ", 7);
        cleave__put_bytes(&w, condition, strlen(condition));
    }
    cleave__put8(&w, 0);
    copying.values = calloc((size_t)table->column_count + 1, sizeof *copying.values);
    copying.names = calloc((size_t)table->column_count + 1, sizeof *copying.names);
    enum cleave_status status =
        w.failed || !copying.values || !copying.names ? no_memory(error) : CLEAVE_OK;
    for (uint32_t c = 0; c < table->column_count && !status; c++)
        copying.names[c] = table->columns[c].name;
    struct cleave__port *source = &shift->ports[shard].source;
    if (!status)
        status = cleave__port_await(source, shift->seat->world, error);
    if (!status)
        status =
            source->ops->scan(source->session, (const char *)w.data, take_row, &copying, error);
    if (status) /* whatever it was that stopped it, the session may be in the midst of rows */
        cleave__port_close(source);
    free(w.data);
    free(copying.values);
    free(copying.names);
    cleave__arena_free(&copying.arena);
    return status;
}

enum cleave_status cleave__shift_copy(struct cleave__shift *shift,
                                      const struct cleave__shift_task *task,
                                      struct cleave_error *error)
{
    const struct cleave__mix_table *cut = cleave__mix_table(shift->mix, task->table);
    const struct cleave_table *table = &shift->schema->tables[task->table];
    struct cleave_writer w = {0};
    for (uint32_t i = 0; i < task->count; i++) {
        char number[32];
        int n = snprintf(number, sizeof number, "%s%" PRId64, i ? ", " : "",
                         shift->numbers.data[task->first + i]);
        if (i == 0) {
            cleave__put_name(&w, table->columns[cut->key_column].name);
            cleave__put_bytes(&w, " IN (", 5);
        }
        cleave__put_bytes(&w, number, (size_t)n);
    }
    if (task->count)
        cleave__put_bytes(&w, ")", 1);
    if (task->nulls) {
        cleave__put_bytes(&w, " OR ", task->count ? 4 : 0);
        cleave__put_name(&w, table->columns[cut->key_column].name);
        cleave__put_bytes(&w, " IS NULL", 8);
    }
    cleave__put8(&w, 0);
    enum cleave_status status = w.failed ? no_memory(error) : CLEAVE_OK;
    if (!status)
        status =
            copy(shift, task->table, task->shard, w.count > 1 ? (const char *)w.data : NULL, error);
    free(w.data);
    return settle(shift, status, error);
}

/* Some notes of one table, joined by OR. */
static enum cleave_status catch_up(struct cleave__shift *shift, uint32_t table,
                                   const struct cleave__shift_note *const *notes, uint32_t count,
                                   struct cleave_error *error)
{
    char name[40];
    uint64_t staged = shift->result.staged;
    enum cleave_status status = CLEAVE_OK;
    cleave__shift_staging(table, name);
    for (uint32_t s = 0; s < shift->shards && !status; s++) {
        struct cleave_writer w = {0};
        cleave__put_bytes(&w, "DELETE FROM ", 12);
        cleave__put_name(&w, name);
        for (uint32_t n = 0; n < count; n++) {
            cleave__put_bytes(&w, n ? " OR " : " WHERE ", n ? 4 : 7);
            cleave__put_bytes(&w, notes[n]->condition, strlen(notes[n]->condition));
        }
        cleave__put8(&w, 0);
        status = w.failed ? no_memory(error)
                          : cleave__port_await(&shift->ports[s].target, shift->seat->world, error);
        if (!status)
            status = cleave__shift_run(&shift->ports[s].target, (const char *)w.data, error);
        free(w.data);
    }
    for (uint32_t s = 0; s < cleave__lookup_shards(shift->from) && !status; s++) {
        struct cleave_writer w = {0};
        bool any = false;
        for (uint32_t n = 0; n < count; n++) {
            if (!cleave__shardset_has(&notes[n]->shards, s))
                continue;
            cleave__put_bytes(&w, " OR ", any ? 4 : 0);
            cleave__put_bytes(&w, notes[n]->condition, strlen(notes[n]->condition));
            any = true;
        }
        cleave__put8(&w, 0);
        if (w.failed)
            status = no_memory(error);
        else if (any)
            status = copy(shift, table, s, (const char *)w.data, error);
        free(w.data);
    }
    status = settle(shift, status, error);
    shift->result.caught += shift->result.staged - staged;
    return status;
}

enum cleave_status cleave__shift_catch_up(struct cleave__shift *shift, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t t = 0; t < shift->schema->table_count && !status; t++) {
        const struct cleave__shift_note *some[NOTES_A_QUERY];
        uint32_t count = 0;
        if (!cleave__shift_moves(shift, t))
            continue;
        for (size_t n = 0; n < shift->notes.count && !status; n++) {
            if (shift->notes.data[n].table == t)
                some[count++] = &shift->notes.data[n];
            if (count == NOTES_A_QUERY) {
                status = catch_up(shift, t, some, count, error);
                count = 0;
            }
        }
        if (count && !status)
            status = catch_up(shift, t, some, count, error);
    }
    shift->notes.count = 0;
    cleave__arena_rewind(&shift->note_arena, (struct cleave_arena_mark){0});
    return status;
}

enum cleave_status cleave__shift_empty(struct cleave__shift *shift, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t s = 0; s < shift->shards && !status; s++) {
        for (uint32_t t = 0; t < shift->schema->table_count && !status; t++) {
            char name[40], text[80];
            if (!cleave__shift_moves(shift, t))
                continue;
            cleave__shift_staging(t, name);
            snprintf(text, sizeof text, "DELETE FROM %s", name);
            status = cleave__port_await(&shift->ports[s].target, shift->seat->world, error);
            if (!status)
                status = cleave__shift_run(&shift->ports[s].target, text, error);
        }
    }
    return status;
}
