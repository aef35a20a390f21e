/* The dispatcher's part in a repartition (shift.h): who touches what, who waits, what was written.
 *
 * A note is a condition on a table's rows that stays true of them whatever the statement changed:
 * the box that it wrote, as far as it speaks of the primary key (which changes only where the
 * analyzer gives a second box, for where the row goes) and of the key of B, which says the piece. A
 * table without a primary key has B's key alone. A change of a column that decides homes touches
 * all pieces of its table. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "tables/replay/shift.h"
#include "tables/route/image.h"

enum state { SLOT_FREE, SLOT_READY, SLOT_BEGUN };

struct held {
    uint32_t slot, number;
};

struct cleave__shift_gate {
    struct cleave__mix *mix;
    enum cleave__shift_plant plant;
    uint32_t window, pieces, words;
    uint8_t *state;             /* [window] */
    bool *waits;                /* [window]: for the last map */
    uint64_t *maps;             /* [window]: number of the map it was planned by */
    uint64_t map;               /* this one */
    uint64_t *touched;          /* [window * words] */
    uint64_t *noting, *holding; /* [words] */
    bool holds, drained_waits;
    struct cleave_promise drained;
    CLEAVE_VECTOR(struct held) held;
    uint64_t held_count;

    struct cleave_intern notes; /* encoded */
    struct cleave_intern keys;  /* new whole numbers: run, number */
    uint64_t *unlisted;         /* [words], at the first of a run */
    uint64_t *gain;             /* [pieces] */
    struct cleave_writer text, note;
};

void cleave__shift_gate_free(struct cleave__shift_gate *gate)
{
    if (!gate)
        return;
    free(gate->state);
    free(gate->waits);
    free(gate->maps);
    free(gate->touched);
    free(gate->noting);
    free(gate->holding);
    CLEAVE_VECTOR_FREE(&gate->held);
    cleave__intern_free(&gate->notes);
    cleave__intern_free(&gate->keys);
    free(gate->unlisted);
    free(gate->gain);
    free(gate->text.data);
    free(gate->note.data);
    free(gate);
}

enum cleave_status cleave__shift_gate_new(struct cleave__mix *mix, uint32_t window,
                                          enum cleave__shift_plant plant,
                                          struct cleave__shift_gate **out,
                                          struct cleave_error *error)
{
    struct cleave__shift_gate *gate = calloc(1, sizeof *gate);
    if (!gate)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a repartition");
    gate->mix = mix;
    gate->plant = plant;
    gate->window = window;
    gate->pieces = cleave__mix_pieces(mix);
    gate->words = gate->pieces / 64 + 1;
    gate->state = calloc(window, sizeof *gate->state);
    gate->waits = calloc(window, sizeof *gate->waits);
    gate->maps = calloc(window, sizeof *gate->maps);
    gate->touched = calloc((size_t)window * gate->words, sizeof *gate->touched);
    gate->noting = calloc(gate->words, sizeof *gate->noting);
    gate->holding = calloc(gate->words, sizeof *gate->holding);
    gate->unlisted = calloc(gate->words, sizeof *gate->unlisted);
    gate->gain = calloc((size_t)gate->pieces + 1, sizeof *gate->gain);
    if (!gate->state || !gate->waits || !gate->maps || !gate->touched || !gate->noting ||
        !gate->holding || !gate->unlisted || !gate->gain) {
        cleave__shift_gate_free(gate);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a repartition");
    }
    *out = gate;
    return CLEAVE_OK;
}

static uint64_t *touched_by(const struct cleave__shift_gate *gate, uint32_t slot)
{
    assert(slot < gate->window);
    return gate->touched + (size_t)slot * gate->words;
}

static bool overlap(const struct cleave__shift_gate *gate, const uint64_t *a, const uint64_t *b)
{
    for (uint32_t w = 0; w < gate->words; w++) {
        if (a[w] & b[w])
            return true;
    }
    return false;
}

static void add_bit(uint64_t *set, uint32_t bit)
{
    set[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* Whether the transaction may give rows of the table another key of B. */
static bool moves_rows(const struct cleave__planned *planned, uint32_t table)
{
    for (uint32_t s = 0; s < planned->statement_count; s++) {
        if (planned->statements[s].rehomes && planned->statements[s].table == table)
            return true;
    }
    return false;
}

void cleave__shift_gate_plan(struct cleave__shift_gate *gate, uint32_t slot,
                             const struct cleave__planned *planned)
{
    uint64_t *set = touched_by(gate, slot);
    memset(set, 0, gate->words * sizeof *set);
    for (uint32_t a = 0; a < planned->access_count; a++) {
        const struct cleave_access *access = &planned->accesses[a];
        const struct cleave__mix_table *cut = cleave__mix_table(gate->mix, access->table);
        if (cut->kind == CLEAVE__MIX_STILL)
            continue;
        for (uint32_t b = 0; b < access->box_count; b++)
            cleave__mix_box_pieces(gate->mix, access->table, &access->boxes[b], access->insert,
                                   set);
        for (uint32_t p = 0; p < cut->count && moves_rows(planned, access->table); p++)
            add_bit(set, cut->first + p);
    }
    gate->state[slot] = SLOT_READY;
    gate->waits[slot] = false;
    gate->maps[slot] = gate->map;
}

bool cleave__shift_gate_outdated(const struct cleave__shift_gate *gate, uint32_t slot)
{
    return gate->maps[slot] != gate->map;
}

void cleave__shift_gate_wait(struct cleave__shift_gate *gate, uint32_t slot)
{
    gate->waits[slot] = true;
    gate->maps[slot] = UINT64_MAX; /* of no map */
}

bool cleave__shift_gate_may_begin(const struct cleave__shift_gate *gate, uint32_t slot)
{
    if (gate->waits[slot] && !cleave__mix_done(gate->mix))
        return false;
    return !gate->holds || !overlap(gate, touched_by(gate, slot), gate->holding);
}

void cleave__shift_gate_begin(struct cleave__shift_gate *gate, uint32_t slot)
{
    assert(gate->state[slot] == SLOT_READY);
    gate->state[slot] = SLOT_BEGUN;
}

bool cleave__shift_gate_hold(struct cleave__shift_gate *gate, uint32_t slot, uint32_t number)
{
    struct held held = {slot, number};
    gate->held_count++;
    return CLEAVE_PUSH(&gate->held, held);
}

uint32_t cleave__shift_gate_released(struct cleave__shift_gate *gate)
{
    for (size_t i = 0; i < gate->held.count; i++) {
        struct held held = gate->held.data[i];
        if (!cleave__shift_gate_may_begin(gate, held.slot))
            continue;
        gate->held.count--;
        memmove(&gate->held.data[i], &gate->held.data[i + 1],
                (gate->held.count - i) * sizeof *gate->held.data);
        return held.number;
    }
    return CLEAVE_MIX_NONE;
}

uint64_t cleave__shift_gate_held(const struct cleave__shift_gate *gate)
{
    return gate->held_count;
}

/* ---- notes ---- */

struct keys {
    struct cleave__shift_gate *gate;
    uint32_t first;
    bool failed;
};

static void add_key(void *context, const struct cleave_value *key)
{
    struct keys *keys = context;
    uint8_t bytes[12];
    if (key->kind != CLEAVE_INTEGER)
        return;
    cleave__store32(bytes, keys->first);
    cleave__store64(bytes + 4, (uint64_t)key->integer);
    if (cleave__intern_add(&keys->gate->keys, bytes, sizeof bytes) == CLEAVE_INTERN_NONE)
        keys->failed = true;
}

/* Keys that were never seen: of new rows, or not to be known. */
static bool note_keys(struct cleave__shift_gate *gate, const struct cleave_access *access,
                      bool moves)
{
    const struct cleave__mix_table *cut = cleave__mix_table(gate->mix, access->table);
    struct keys keys = {gate, cut->first, false};
    if (cut->kind != CLEAVE__MIX_KEYED || (!access->insert && !moves))
        return true;
    for (uint32_t b = 0; b < access->box_count; b++) {
        if (!cleave__box_each_key(cleave__mix_to(gate->mix), access->table, &access->boxes[b],
                                  access->insert, add_key, &keys) ||
            moves)
            add_bit(gate->unlisted, cut->first);
    }
    return !keys.failed;
}

static bool is_said(const struct cleave_table *table, const struct cleave__mix_table *cut,
                    uint32_t column, bool moves)
{
    for (uint32_t k = 0; k < table->primary.count; k++) {
        if (table->primary.columns[k] == column)
            return true;
    }
    return cut->kind == CLEAVE__MIX_KEYED && cut->key_column == column && !moves;
}

static bool note_box(struct cleave__shift_gate *gate, const struct cleave_access *access,
                     const struct cleave_box *box, bool moves)
{
    enum { TERMS_MOST = 16 };
    const struct cleave_lookup *from = cleave__mix_from(gate->mix);
    const struct cleave_table *table = &cleave__lookup_schema(from)->tables[access->table];
    const struct cleave__mix_table *cut = cleave__mix_table(gate->mix, access->table);
    struct cleave_term terms[TERMS_MOST];
    struct cleave_box part = {0, terms};
    struct cleave_shardset shards = {{0}};
    for (uint32_t t = 0; t < box->term_count && part.term_count < TERMS_MOST; t++) {
        if (box->terms[t].range_count == 0)
            return true;
        if (is_said(table, cut, box->terms[t].column, moves))
            terms[part.term_count++] = box->terms[t];
    }
    if (cleave__lookup_replicated(from, access->table))
        cleave__shardset_add(&shards, 0);
    else
        for (uint32_t k = 0; k < 1u + cleave__lookup_twice(from, access->table); k++)
            cleave__lookup_box_by(from, access->table, &part, false, k, &shards);
    gate->text.count = gate->note.count = 0;
    if (!cleave__fetch_box(&gate->text, table, &part))
        cleave__put_bytes(&gate->text, "1 = 1", 5);
    cleave__put32(&gate->note, access->table);
    cleave__put_varint(&gate->note, cleave__shardset_count(&shards));
    for (uint32_t s = 0; s < cleave__lookup_shards(from); s++) {
        if (cleave__shardset_has(&shards, s))
            cleave__put_varint(&gate->note, s);
    }
    cleave__put_text(&gate->note, (const char *)gate->text.data, gate->text.count);
    return !gate->text.failed && !gate->note.failed &&
           cleave__intern_add(&gate->notes, gate->note.data, gate->note.count) !=
               CLEAVE_INTERN_NONE;
}

/* Notes what a transaction wrote, if it touches what is being copied. */
static bool note(struct cleave__shift_gate *gate, uint32_t slot,
                 const struct cleave__planned *planned)
{
    bool noting = overlap(gate, touched_by(gate, slot), gate->noting) &&
                  gate->plant != CLEAVE__SHIFT_PLANT_NO_CATCH_UP;
    for (uint32_t a = 0; a < planned->access_count; a++) {
        const struct cleave_access *access = &planned->accesses[a];
        const struct cleave__mix_table *cut = cleave__mix_table(gate->mix, access->table);
        if (!access->write || cut->kind == CLEAVE__MIX_STILL)
            continue;
        bool moves = moves_rows(planned, access->table);
        if (!note_keys(gate, access, moves))
            return false;
        for (uint32_t b = 0; noting && b < access->box_count; b++) {
            if (!note_box(gate, access, &access->boxes[b], moves))
                return false;
        }
    }
    return true;
}

/* The notes, new keys, and (`counts`) how often each piece was in a distributed transaction. */
static bool answer(struct cleave__shift_gate *gate, struct cleave_context *context,
                   struct cleave_promise promise, bool counts)
{
    struct cleave_writer *writer = cleave__context_writer(context);
    cleave__put_varint(writer, gate->notes.count);
    for (uint32_t n = 0; n < gate->notes.count; n++) /* each begins with a table and ends itself */
        cleave__put_bytes(writer, gate->notes.entries[n].bytes, gate->notes.entries[n].length);
    cleave__put_varint(writer, gate->keys.count);
    for (uint32_t k = 0; k < gate->keys.count; k++)
        cleave__put_bytes(writer, gate->keys.entries[k].bytes, 12);
    for (uint32_t w = 0; w < gate->words; w++)
        cleave__put64(writer, gate->unlisted[w]);
    cleave__put8(writer, counts);
    for (uint32_t p = 0; counts && p < gate->pieces; p++)
        cleave__put_varint(writer, gate->gain[p]);
    cleave__intern_free(&gate->notes);
    cleave__intern_free(&gate->keys);
    gate->notes = gate->keys = (struct cleave_intern){0};
    memset(gate->unlisted, 0, gate->words * sizeof *gate->unlisted);
    if (writer->failed)
        return false;
    cleave__context_answer(context, promise, CLEAVE__SHIFT_NOTES, writer->data, writer->count);
    return true;
}

static bool drained(struct cleave__shift_gate *gate, struct cleave_context *context)
{
    if (!gate->drained_waits)
        return true;
    for (uint32_t s = 0; s < gate->window; s++) {
        if (gate->state[s] == SLOT_BEGUN && overlap(gate, touched_by(gate, s), gate->holding) &&
            gate->plant != CLEAVE__SHIFT_PLANT_NO_DRAIN)
            return true;
    }
    gate->drained_waits = false;
    return answer(gate, context, gate->drained, false);
}

bool cleave__shift_gate_end(struct cleave__shift_gate *gate, struct cleave_context *context,
                            uint32_t slot, const struct cleave__planned *planned, bool distributed)
{
    const uint64_t *set = touched_by(gate, slot);
    assert(gate->state[slot] == SLOT_BEGUN);
    gate->state[slot] = SLOT_FREE;
    for (uint32_t w = 0; distributed && w < gate->words; w++) {
        for (uint64_t rest = set[w]; rest; rest &= rest - 1)
            gate->gain[w * 64 + (uint32_t)__builtin_ctzll(rest)]++;
    }
    return (!planned->writes || note(gate, slot, planned)) && drained(gate, context);
}

bool cleave__shift_gate_receive(struct cleave__shift_gate *gate, struct cleave_context *context,
                                const struct cleave_message *message)
{
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    uint64_t *set = message->kind == CLEAVE__SHIFT_HOLD ? gate->holding : gate->noting;
    if (message->kind == CLEAVE__SHIFT_TAKE)
        return answer(gate, context, message->promise, false);
    if (message->kind == CLEAVE__SHIFT_NOTE || message->kind == CLEAVE__SHIFT_MOVED)
        gate->holds = false;
    if (message->kind == CLEAVE__SHIFT_NOTE) {
        cleave__intern_free(&gate->notes);
        gate->notes = (struct cleave_intern){0};
    }
    for (uint32_t w = 0; w < gate->words; w++)
        set[w] = cleave__get64(&reader);
    if (reader.failed || reader.at != reader.end)
        return false;
    if (message->kind == CLEAVE__SHIFT_HOLD) {
        gate->holds = gate->drained_waits = true;
        gate->drained = message->promise;
        return drained(gate, context);
    }
    for (uint32_t p = 0; p < gate->pieces && message->kind == CLEAVE__SHIFT_MOVED; p++) {
        if (set[p / 64] >> p % 64 & 1)
            cleave__mix_move(gate->mix, p);
    }
    if (message->kind == CLEAVE__SHIFT_MOVED) {
        gate->map++;
        memset(gate->noting, 0, gate->words * sizeof *gate->noting);
    }
    return answer(gate, context, message->promise, true);
}

bool cleave__shift_gate_check(const struct cleave__shift_gate *gate)
{
    for (uint32_t s = 0; s < gate->window; s++) {
        /* Nothing runs by an old map, and once held pieces are given, nothing touches them. */
        bool begun = gate->state[s] == SLOT_BEGUN;
        if (begun && gate->holds && !gate->drained_waits &&
            overlap(gate, touched_by(gate, s), gate->holding))
            return false;
    }
    for (size_t i = 0; i < gate->held.count; i++) {
        if (gate->state[gate->held.data[i].slot] != SLOT_READY)
            return false;
    }
    return cleave__mix_check(gate->mix);
}
