/* What there is to move: rows by piece, keys that are whole numbers, and which pieces go next.
 *
 * The keys of B that are whole numbers are listed, so that the rows of some pieces can be asked for
 * by them; other kinds are not (texts that are equal may be written in several ways), and a table
 * with such a key is read whole for each move. New keys come from the gate; where it cannot tell
 * them, they are listed again.
 *
 * Order: pieces that were part of many distributed transactions and have few rows first (gain over
 * rows), within what the mix's order allows. Pieces by key go together up to `move_rows` rows. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "tables/replay/client.h"
#include "tables/replay/shift.h"
#include "tables/route/image.h"

enum { KEYS_A_TASK = 100 };

/* ---- listing ---- */

struct listing {
    struct cleave__shift *shift;
    uint32_t table;
    bool failed;
};

static enum cleave_status take_key(void *context, uint32_t columns, const char *const *values,
                                   struct cleave_error *error)
{
    struct listing *listing = context;
    struct cleave__shift *shift = listing->shift;
    const struct cleave__mix_table *cut = cleave__mix_table(shift->mix, listing->table);
    uint64_t rows = values[columns - 1] ? strtoull(values[columns - 1], NULL, 10) : 0;
    uint32_t piece = cut->first;
    if (cut->kind == CLEAVE__MIX_KEYED) {
        const struct cleave_table *table = &shift->schema->tables[listing->table];
        struct cleave_arena arena = {0};
        struct cleave_value *row =
            cleave__arena_zalloc(&arena, (table->column_count + 1) * sizeof *row);
        uint64_t *seen = NULL;
        if (row) {
            cleave__text_value(&table->columns[cut->key_column], values[0], &arena,
                               &row[cut->key_column]);
            piece = cleave__mix_piece(shift->mix, listing->table, row, table->column_count);
            if (row[cut->key_column].kind == CLEAVE_INTEGER)
                seen = cleave__map_put(&shift->keys[cut->first],
                                       (uint64_t)row[cut->key_column].integer);
        }
        bool lost = !row || (row[cut->key_column].kind == CLEAVE_INTEGER && !seen);
        if (seen)
            *seen += rows;
        cleave__arena_free(&arena);
        if (lost)
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the keys of a table");
    }
    shift->piece_rows[piece] += rows;
    return CLEAVE_OK;
}

static enum cleave_status list_table(struct cleave__shift *shift, uint32_t t,
                                     struct cleave_error *error)
{
    const struct cleave__mix_table *cut = cleave__mix_table(shift->mix, t);
    const struct cleave_table *table = &shift->schema->tables[t];
    struct cleave_writer w = {0};
    struct listing listing = {shift, t, false};
    const char *tail = " GROUP BY 1";
    cleave__put_bytes(&w, "SELECT ", 7);
    if (cut->kind == CLEAVE__MIX_KEYED) {
        cleave__put_name(&w, table->columns[cut->key_column].name);
        cleave__put_bytes(&w, ", ", 2);
    }
    cleave__put_bytes(&w, "count(*) FROM ", 14);
    cleave__put_table(&w, table->name);
    if (cut->kind == CLEAVE__MIX_KEYED)
        cleave__put_bytes(&w, tail, strlen(tail));
    cleave__put8(&w, 0);
    enum cleave_status status =
        w.failed ? cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a query") : CLEAVE_OK;
    uint32_t shards =
        cleave__lookup_replicated(shift->from, t) ? 1 : cleave__lookup_shards(shift->from);
    for (uint32_t s = 0; s < shards && !status; s++) {
        struct cleave__port *port = &shift->ports[s].source;
        status = cleave__port_await(port, shift->seat->world, error);
        if (!status)
            status =
                port->ops->scan(port->session, (const char *)w.data, take_key, &listing, error);
        if (status == CLEAVE_IO)
            cleave__port_close(port);
    }
    free(w.data);
    return status;
}

enum cleave_status cleave__shift_list(struct cleave__shift *shift, uint32_t only,
                                      struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t t = 0; t < shift->schema->table_count && !status; t++) {
        const struct cleave__mix_table *cut = cleave__mix_table(shift->mix, t);
        if (cut->kind == CLEAVE__MIX_STILL || (only != CLEAVE_MIX_NONE && cut->first != only))
            continue;
        bool first = true; /* of those that share these pieces */
        for (uint32_t u = 0; u < t; u++)
            first = first && (cleave__mix_table(shift->mix, u)->kind == CLEAVE__MIX_STILL ||
                              cleave__mix_table(shift->mix, u)->first != cut->first);
        if (first)
            memset(&shift->piece_rows[cut->first], 0, cut->count * sizeof *shift->piece_rows);
        status = list_table(shift, t, error);
        shift->unlisted[cut->first] = status != CLEAVE_OK;
    }
    return status;
}

/* ---- choosing ---- */

static bool has(const uint64_t *set, uint32_t piece)
{
    return set[piece / 64] >> piece % 64 & 1;
}

static bool is_keyed(const struct cleave__shift *shift, uint32_t piece, uint32_t *table)
{
    for (uint32_t t = 0; t < shift->schema->table_count; t++) {
        const struct cleave__mix_table *cut = cleave__mix_table(shift->mix, t);
        if (cut->kind != CLEAVE__MIX_STILL && piece >= cut->first &&
            piece - cut->first < cut->count) {
            *table = t;
            return cut->kind == CLEAVE__MIX_KEYED;
        }
    }
    assert(false);
    return false;
}

/* Whether piece a goes before b: what is empty, then gain over rows. */
static bool better(const struct cleave__shift *shift, uint32_t a, uint32_t b)
{
    double rows_a = (double)shift->piece_rows[a], rows_b = (double)shift->piece_rows[b];
    if ((rows_a > 0) != (rows_b > 0))
        return rows_b > 0;
    return ((double)shift->piece_gain[a] + 1) * (rows_b + 1) >
           ((double)shift->piece_gain[b] + 1) * (rows_a + 1);
}

bool cleave__shift_choose(struct cleave__shift *shift)
{
    uint64_t rows = 0;
    bool any = false;
    memset(shift->set, 0, shift->words * sizeof *shift->set);
    for (;;) {
        uint32_t best = CLEAVE_MIX_NONE, table;
        for (uint32_t p = 0; p < shift->pieces; p++) {
            if (cleave__mix_moved(shift->mix, p) || has(shift->set, p) ||
                !cleave__mix_ready(shift->mix, p))
                continue;
            if (best == CLEAVE_MIX_NONE || better(shift, p, best))
                best = p;
        }
        if (best == CLEAVE_MIX_NONE)
            return any;
        bool keyed = is_keyed(shift, best, &table);
        rows += shift->piece_rows[best];
        if (any && (!keyed || rows > shift->seat->move_rows))
            return any;
        shift->set[best / 64] |= UINT64_C(1) << best % 64;
        any = true;
        if (!keyed)
            return any;
    }
}

/* ---- tasks ---- */

static bool add_task(struct cleave__shift *shift, uint32_t t, uint32_t first, uint32_t count,
                     bool nulls)
{
    struct cleave_shardset shards = {{0}};
    const struct cleave__mix_table *cut = cleave__mix_table(shift->mix, t);
    if (cleave__lookup_replicated(shift->from, t)) {
        cleave__shardset_add(&shards, 0);
    } else if (count && !nulls) {
        struct cleave_range ranges[KEYS_A_TASK];
        for (uint32_t i = 0; i < count; i++) {
            ranges[i] =
                (struct cleave_range){{.kind = CLEAVE_INTEGER}, {.kind = CLEAVE_INTEGER}, 0};
            ranges[i].low.integer = ranges[i].high.integer = shift->numbers.data[first + i];
        }
        struct cleave_term term = {cut->key_column, count, ranges};
        struct cleave_box box = {1, &term};
        cleave__lookup_box_by(shift->from, t, &box, false, false, &shards);
    } else {
        cleave__shardset_fill(&shards, cleave__lookup_shards(shift->from));
    }
    for (uint32_t s = 0; s < cleave__lookup_shards(shift->from); s++) {
        struct cleave__shift_task task = {t, s, first, count, nulls};
        if (cleave__shardset_has(&shards, s) && !CLEAVE_PUSH(&shift->tasks, task))
            return false;
    }
    return true;
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The numbers of the run that begins at `first` whose pieces move now, sorted. */
static bool list_numbers(struct cleave__shift *shift, uint32_t t, size_t *from)
{
    const struct cleave__mix_table *cut = cleave__mix_table(shift->mix, t);
    const struct cleave_table *table = &shift->schema->tables[t];
    struct cleave_value *row = calloc((size_t)table->column_count + 1, sizeof *row);
    size_t at = 0;
    uint64_t key, count;
    bool good = row != NULL;
    *from = shift->numbers.count;
    while (good && cleave__map_next(&shift->keys[cut->first], &at, &key, &count)) {
        row[cut->key_column] = (struct cleave_value){.kind = CLEAVE_INTEGER};
        row[cut->key_column].integer = (int64_t)key;
        uint32_t piece = cleave__mix_piece(shift->mix, t, row, table->column_count);
        if (has(shift->set, piece))
            good = CLEAVE_PUSH(&shift->numbers, (int64_t)key);
    }
    if (shift->numbers.count > *from)
        qsort(&shift->numbers.data[*from], shift->numbers.count - *from, sizeof(int64_t),
              compare_numbers);
    free(row);
    return good;
}

static bool make_tasks(struct cleave__shift *shift, uint32_t t)
{
    const struct cleave__mix_table *cut = cleave__mix_table(shift->mix, t);
    const struct cleave_table *table = &shift->schema->tables[t];
    if (cut->kind == CLEAVE__MIX_WHOLE ||
        table->columns[cut->key_column].type != CLEAVE_TYPE_INTEGER)
        return add_task(shift, t, 0, 0, false);
    size_t from;
    if (!list_numbers(shift, t, &from))
        return false;
    struct cleave_value *row = calloc((size_t)table->column_count + 1, sizeof *row);
    if (!row)
        return false;
    bool nulls = has(shift->set, cleave__mix_piece(shift->mix, t, row, table->column_count));
    free(row);
    do {
        size_t left = shift->numbers.count - from, count = 0;
        uint64_t rows = 0;
        while (count < left && count < KEYS_A_TASK &&
               (count == 0 || rows < shift->seat->batch_rows)) {
            const uint64_t *seen = cleave__map_find(&shift->keys[cut->first],
                                                    (uint64_t)shift->numbers.data[from + count]);
            rows += seen ? *seen : 0;
            count++;
        }
        if (count == 0 && !nulls)
            break;
        if (!add_task(shift, t, (uint32_t)from, (uint32_t)count, nulls))
            return false;
        from += count;
        nulls = false;
    } while (from < shift->numbers.count);
    return true;
}

enum cleave_status cleave__shift_make_tasks(struct cleave__shift *shift, struct cleave_error *error)
{
    shift->numbers.count = shift->tasks.count = shift->next_task = 0;
    for (uint32_t t = 0; t < shift->schema->table_count; t++) {
        if (cleave__shift_moves(shift, t) && !make_tasks(shift, t))
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the keys of a table");
    }
    return CLEAVE_OK;
}
