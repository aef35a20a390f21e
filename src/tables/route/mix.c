/* See mix.h. A KEYED table has one key and may have exceptions, under A and B alike; so the home of
 * a row, and the shards of a box, are the answer of one side or the union of both. */
#include "tables/route/mix.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "tables/route/image.h"

enum { TERMS_MOST = 32 };

struct cleave__mix {
    struct cleave_lookup lookup; /* its face: `mix` is set, and nothing of its own but the schema */
    const struct cleave_lookup *from, *to;
    uint32_t tables, pieces;
    struct cleave__mix_table *table; /* [tables] */
    _Atomic uint64_t *moved;         /* [(pieces + 63) / 64] bits */
    _Atomic uint32_t *moved_from; /* [pieces]: at the first piece of a run, how many of it moved */
    atomic_uint moved_count;
};

static bool same_key(const struct cleave_key *a, const struct cleave_key *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->columns[i] != b->columns[i])
            return false;
    }
    return true;
}

static enum cleave_status compare_schemas(const struct cleave_schema *a,
                                          const struct cleave_schema *b, struct cleave_error *error)
{
    if (a->table_count != b->table_count)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "lookup tables of different schemas: %u tables and %u",
                                a->table_count, b->table_count);
    for (uint32_t t = 0; t < a->table_count; t++) {
        const struct cleave_table *x = &a->tables[t], *y = &b->tables[t];
        bool same = strcmp(x->name, y->name) == 0 && x->column_count == y->column_count &&
                    !x->view == !y->view && same_key(&x->primary, &y->primary);
        if (!same)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "lookup tables of different schemas: table %s differs from %s",
                                    x->name, y->name);
        for (uint32_t c = 0; c < x->column_count; c++) {
            if (strcmp(x->columns[c].name, y->columns[c].name) != 0 ||
                x->columns[c].type != y->columns[c].type)
                return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                        "lookup tables of different schemas: column %s of table %s "
                                        "differs",
                                        x->columns[c].name, x->name);
        }
    }
    return CLEAVE_OK;
}

/* Whether two key maps surely send every value to the same shard; `*same` is false otherwise. */
static enum cleave_status same_map(const struct cleave_key_index *a,
                                   const struct cleave_key_index *b, bool *same)
{
    struct cleave_value *values[2] = {NULL, NULL};
    uint32_t *shards[2] = {NULL, NULL}, count[2] = {0, 0};
    *same = a->shards == b->shards && a->otherwise == b->otherwise &&
            a->null_shard == b->null_shard && a->bound_count == b->bound_count;
    for (uint32_t i = 0; *same && i < a->bound_count; i++)
        *same = cleave__value_compare(&a->bounds[i], &b->bounds[i]) == 0;
    if (!*same)
        return CLEAVE_OK;
    enum cleave_status status = cleave__key_index_list(a, &count[0], &values[0], &shards[0]);
    if (!status)
        status = cleave__key_index_list(b, &count[1], &values[1], &shards[1]);
    *same = !status && count[0] == count[1];
    for (uint32_t i = 0; *same && i < count[0]; i++)
        *same = cleave__value_compare(&values[0][i], &values[1][i]) == 0 &&
                shards[0][i] == shards[1][i];
    for (int i = 0; i < 2; i++) {
        free(values[i]);
        free(shards[i]);
    }
    return status;
}

static enum cleave_status is_still(const struct cleave__mix *mix, uint32_t t, bool *still)
{
    const struct cleave_table_index *a = &mix->from->tables[t], *b = &mix->to->tables[t];
    *still = a->replicated && b->replicated && mix->from->shards >= mix->to->shards;
    if (*still || a->replicated || b->replicated || mix->from->shards != mix->to->shards)
        return CLEAVE_OK;
    *still = a->twice == b->twice && a->key_column == b->key_column &&
             a->exceptions.group_count == 0 && b->exceptions.group_count == 0 &&
             (!a->twice || a->second_column == b->second_column);
    enum cleave_status status = CLEAVE_OK;
    if (*still)
        status = same_map(&mix->from->maps[a->map], &mix->to->maps[b->map], still);
    if (*still && !status && a->twice)
        status = same_map(&mix->from->maps[a->second_map], &mix->to->maps[b->second_map], still);
    return status;
}

/* Whether the table must move before those that A does not copy. */
static bool goes_first(const struct cleave__mix *mix, uint32_t t)
{
    return mix->to->shards > mix->from->shards && mix->from->tables[t].replicated;
}

/* Kinds, and where the pieces of each table begin. */
static enum cleave_status cut(struct cleave__mix *mix, uint32_t pieces, struct cleave_error *error)
{
    uint64_t total = 0;
    for (uint32_t t = 0; t < mix->tables; t++) {
        const struct cleave_table_index *a = &mix->from->tables[t], *b = &mix->to->tables[t];
        struct cleave__mix_table *table = &mix->table[t];
        bool still;
        if (mix->lookup.schema.tables[t].view)
            continue;
        if (is_still(mix, t, &still) != CLEAVE_OK)
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for pieces");
        if (still)
            continue;
        bool keyed = !a->replicated && !b->replicated && !a->twice && !b->twice;
        *table = (struct cleave__mix_table){.kind = keyed ? CLEAVE__MIX_KEYED : CLEAVE__MIX_WHOLE,
                                            .first = (uint32_t)total,
                                            .count = keyed ? pieces : 1,
                                            .key_column = b->key_column};
        bool shared = false;
        for (uint32_t u = 0; u < t && !shared; u++) {
            shared =
                keyed ? mix->table[u].kind == CLEAVE__MIX_KEYED && mix->to->tables[u].map == b->map
                      : goes_first(mix, t) && mix->table[u].kind == CLEAVE__MIX_WHOLE &&
                            goes_first(mix, u);
            if (shared)
                table->first = mix->table[u].first;
        }
        if (!shared)
            total += table->count;
        if (total > CLEAVE_MIX_PIECES_MOST)
            return cleave_error_set(error, CLEAVE_LIMIT, "more than %d pieces",
                                    CLEAVE_MIX_PIECES_MOST);
    }
    mix->pieces = (uint32_t)total;
    return CLEAVE_OK;
}

enum cleave_status cleave__mix_new(const struct cleave_lookup *from, const struct cleave_lookup *to,
                                   uint32_t pieces, struct cleave__mix **out,
                                   struct cleave_error *error)
{
    assert(pieces > 0 && !from->mix && !to->mix);
    enum cleave_status status = compare_schemas(&from->schema, &to->schema, error);
    if (status)
        return status;
    struct cleave__mix *mix = calloc(1, sizeof *mix);
    if (!mix)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for pieces");
    mix->from = from;
    mix->to = to;
    mix->tables = to->schema.table_count;
    mix->lookup.mix = mix;
    mix->lookup.shards = from->shards > to->shards ? from->shards : to->shards;
    mix->lookup.schema = to->schema; /* borrowed */
    mix->table = calloc((size_t)mix->tables + 1, sizeof *mix->table);
    status = mix->table ? cut(mix, pieces, error)
                        : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for pieces");
    if (!status) {
        mix->moved = calloc((size_t)mix->pieces / 64 + 1, sizeof *mix->moved);
        mix->moved_from = calloc((size_t)mix->pieces + 1, sizeof *mix->moved_from);
        if (!mix->moved || !mix->moved_from)
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for pieces");
    }
    if (status) {
        cleave__mix_free(mix);
        return status;
    }
    *out = mix;
    return CLEAVE_OK;
}

void cleave__mix_free(struct cleave__mix *mix)
{
    if (!mix)
        return;
    free(mix->table);
    free(mix->moved);
    free(mix->moved_from);
    free(mix);
}

const struct cleave_lookup *cleave__mix_lookup(const struct cleave__mix *mix)
{
    return &mix->lookup;
}

const struct cleave_lookup *cleave__mix_from(const struct cleave__mix *mix)
{
    return mix->from;
}

const struct cleave_lookup *cleave__mix_to(const struct cleave__mix *mix)
{
    return mix->to;
}

const struct cleave__mix_table *cleave__mix_table(const struct cleave__mix *mix, uint32_t table)
{
    assert(table < mix->tables);
    return &mix->table[table];
}

uint32_t cleave__mix_pieces(const struct cleave__mix *mix)
{
    return mix->pieces;
}

bool cleave__mix_moved(const struct cleave__mix *mix, uint32_t piece)
{
    assert(piece < mix->pieces);
    return atomic_load_explicit(&mix->moved[piece / 64], memory_order_acquire) >> piece % 64 & 1;
}

/* Where the run of pieces begins that this one belongs to. */
static uint32_t run_of(const struct cleave__mix *mix, uint32_t piece)
{
    for (uint32_t t = 0; t < mix->tables; t++) {
        const struct cleave__mix_table *table = &mix->table[t];
        if (table->kind != CLEAVE__MIX_STILL && piece >= table->first &&
            piece - table->first < table->count)
            return table->first;
    }
    return piece;
}

/* A table that is a piece as a whole; CLEAVE_ABSENT: it is one by key. */
static uint32_t whole_table(const struct cleave__mix *mix, uint32_t piece)
{
    for (uint32_t t = 0; t < mix->tables; t++) {
        if (mix->table[t].kind == CLEAVE__MIX_WHOLE && mix->table[t].first == piece)
            return t;
    }
    return CLEAVE_ABSENT;
}

/* Whether the piece must move before all others. */
static bool is_first(const struct cleave__mix *mix, uint32_t piece)
{
    uint32_t t = whole_table(mix, piece);
    return t != CLEAVE_ABSENT && goes_first(mix, t);
}

bool cleave__mix_ready(const struct cleave__mix *mix, uint32_t piece)
{
    if (mix->to->shards <= mix->from->shards || is_first(mix, piece))
        return true;
    for (uint32_t p = 0; p < mix->pieces; p++) {
        if (is_first(mix, p) && !cleave__mix_moved(mix, p))
            return false;
    }
    return true;
}

void cleave__mix_move(struct cleave__mix *mix, uint32_t piece)
{
    assert(!cleave__mix_moved(mix, piece));
    atomic_fetch_or_explicit(&mix->moved[piece / 64], UINT64_C(1) << piece % 64,
                             memory_order_release);
    atomic_fetch_add_explicit(&mix->moved_from[run_of(mix, piece)], 1, memory_order_release);
    atomic_fetch_add_explicit(&mix->moved_count, 1, memory_order_release);
}

bool cleave__mix_done(const struct cleave__mix *mix)
{
    return atomic_load_explicit(&mix->moved_count, memory_order_acquire) == mix->pieces;
}

/* ---- rows ---- */

static uint32_t piece_of(const struct cleave__mix_table *table, const struct cleave_value *key)
{
    return table->first + (uint32_t)(cleave__value_hash(key) % table->count);
}

uint32_t cleave__mix_piece(const struct cleave__mix *mix, uint32_t table,
                           const struct cleave_value *values, uint32_t value_count)
{
    static const struct cleave_value null = {.kind = CLEAVE_NULL};
    const struct cleave__mix_table *cut = cleave__mix_table(mix, table);
    if (cut->kind == CLEAVE__MIX_STILL)
        return CLEAVE_MIX_NONE;
    if (cut->kind == CLEAVE__MIX_WHOLE)
        return cut->first;
    return piece_of(cut, cut->key_column < value_count ? &values[cut->key_column] : &null);
}

const struct cleave_lookup *cleave__mix_side(const struct cleave__mix *mix, uint32_t table,
                                             const struct cleave_value *values,
                                             uint32_t value_count)
{
    uint32_t piece = cleave__mix_piece(mix, table, values, value_count);
    return piece == CLEAVE_MIX_NONE || cleave__mix_moved(mix, piece) ? mix->to : mix->from;
}

const struct cleave_lookup *cleave__mix_whole_side(const struct cleave__mix *mix, uint32_t table)
{
    const struct cleave__mix_table *cut = cleave__mix_table(mix, table);
    if (cut->kind == CLEAVE__MIX_KEYED)
        return NULL;
    bool moved = cut->kind == CLEAVE__MIX_STILL || cleave__mix_moved(mix, cut->first);
    return moved ? mix->to : mix->from;
}

uint32_t cleave__mix_copied(const struct cleave__mix *mix, const struct cleave_lookup *side)
{
    return side == mix->to && !cleave__mix_done(mix) && side->shards < mix->from->shards
               ? mix->lookup.shards
               : side->shards;
}

uint32_t cleave__mix_copies(const struct cleave__mix *mix)
{
    uint32_t copies = mix->lookup.shards;
    for (uint32_t t = 0; t < mix->tables; t++) {
        if (mix->lookup.schema.tables[t].view)
            continue;
        const struct cleave_lookup *side = cleave__mix_whole_side(mix, t);
        uint32_t here = side ? cleave__mix_copied(mix, side) : copies;
        if (side && side->tables[t].replicated && here < copies)
            copies = here;
    }
    return copies;
}

/* ---- boxes ---- */

struct pinned {
    const struct cleave__mix *mix;
    const struct cleave__mix_table *table;
    uint64_t *set; /* may be NULL */
    uint32_t moved, still;
};

static void pin(void *context, const struct cleave_value *key)
{
    struct pinned *pinned = context;
    uint32_t piece = piece_of(pinned->table, key);
    if (pinned->set)
        pinned->set[piece / 64] |= UINT64_C(1) << piece % 64;
    if (cleave__mix_moved(pinned->mix, piece))
        pinned->moved++;
    else
        pinned->still++;
}

void cleave__mix_box_pieces(const struct cleave__mix *mix, uint32_t table,
                            const struct cleave_box *box, bool insert, uint64_t *set)
{
    const struct cleave__mix_table *cut = cleave__mix_table(mix, table);
    struct pinned pinned = {mix, cut, set, 0, 0};
    if (cut->kind == CLEAVE__MIX_STILL)
        return;
    if (cut->kind == CLEAVE__MIX_KEYED &&
        cleave__box_each_key(mix->to, table, box, insert, pin, &pinned))
        return;
    for (uint32_t p = cut->first; p < cut->first + cut->count; p++)
        set[p / 64] |= UINT64_C(1) << p % 64;
}

struct parts {
    const struct cleave__mix *mix;
    uint32_t table;
    const struct cleave_box *box;
    bool insert;
    struct cleave_shardset *shards;
};

/* The part of the box that has this key, by its piece's side. */
static void add_part(void *context, const struct cleave_value *key)
{
    const struct parts *parts = context;
    const struct cleave__mix_table *cut = &parts->mix->table[parts->table];
    struct cleave_range point = {*key, *key, 0};
    struct cleave_term terms[TERMS_MOST + 1];
    struct cleave_box box = {0, terms};
    const struct cleave_term *from = parts->box->terms, *end = from + parts->box->term_count;
    while (from < end && from->column < cut->key_column)
        terms[box.term_count++] = *from++;
    terms[box.term_count++] = (struct cleave_term){cut->key_column, 1, &point};
    from += from < end && from->column == cut->key_column;
    while (from < end)
        terms[box.term_count++] = *from++;
    bool moved = cleave__mix_moved(parts->mix, piece_of(cut, key));
    cleave__lookup_box_by(moved ? parts->mix->to : parts->mix->from, parts->table, &box,
                          parts->insert, false, parts->shards);
}

void cleave__mix_box(const struct cleave__mix *mix, uint32_t table, const struct cleave_box *box,
                     bool insert, struct cleave_shardset *shards)
{
    const struct cleave__mix_table *cut = cleave__mix_table(mix, table);
    uint32_t moved = atomic_load_explicit(&mix->moved_from[cut->first], memory_order_acquire);
    struct pinned pinned = {mix, cut, NULL, moved, cut->count - moved};
    assert(cut->kind == CLEAVE__MIX_KEYED);
    if (moved && moved < cut->count) {
        struct pinned keys = {mix, cut, NULL, 0, 0};
        if (cleave__box_each_key(mix->to, table, box, insert, pin, &keys)) {
            pinned = keys;
            if (keys.moved && keys.still && box->term_count <= TERMS_MOST) {
                struct parts parts = {mix, table, box, insert, shards};
                cleave__box_each_key(mix->to, table, box, insert, add_part, &parts);
                return;
            }
        }
    }
    if (pinned.moved)
        cleave__lookup_box_by(mix->to, table, box, insert, false, shards);
    if (pinned.still)
        cleave__lookup_box_by(mix->from, table, box, insert, false, shards);
}

bool cleave__mix_check(const struct cleave__mix *mix)
{
    uint32_t moved = 0;
    for (uint32_t t = 0; t < mix->tables; t++) {
        const struct cleave__mix_table *table = &mix->table[t];
        uint32_t here = 0;
        if (table->kind == CLEAVE__MIX_STILL)
            continue;
        if (table->count == 0 || table->first + table->count > mix->pieces)
            return false;
        for (uint32_t p = table->first; p < table->first + table->count; p++)
            here += cleave__mix_moved(mix, p);
        if (here != atomic_load(&mix->moved_from[table->first]))
            return false;
    }
    for (uint32_t p = 0; p < mix->pieces; p++) {
        moved += cleave__mix_moved(mix, p);
        if (cleave__mix_moved(mix, p) && !cleave__mix_ready(mix, p))
            return false;
    }
    return moved == atomic_load(&mix->moved_count);
}
