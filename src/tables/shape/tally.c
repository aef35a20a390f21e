/* Adding transactions. See tally.h; finishing is in tally_finish.c. */
#include "tables/shape/tally.h"

#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 1 << 16 }; /* cells that one box may name; past that it is wide */

enum cleave_status cleave__tally_init(struct cleave_tally *tally,
                                      const struct cleave_schema *schema,
                                      const struct cleave_profile *profile,
                                      struct cleave_error *error)
{
    *tally = (struct cleave_tally){.schema = schema, .profile = profile, .derived = true};
    tally->tables = calloc((size_t)schema->table_count + 1, sizeof *tally->tables);
    if (!tally->tables)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the hypergraph");
    return CLEAVE_OK;
}

void cleave__tally_free(struct cleave_tally *tally)
{
    for (uint32_t t = 0; tally->tables && t < tally->schema->table_count; t++) {
        struct cleave_tally_table *table = &tally->tables[t];
        cleave__intern_free(&table->prefixes);
        cleave__groups_free(&table->groups);
        cleave__workload_free(&table->flat);
    }
    free(tally->tables);
    cleave__intern_free(&tally->cells);
    cleave__intern_free(&tally->wide_known);
    CLEAVE_VECTOR_FREE(&tally->wide);
    cleave__arena_free(&tally->arena);
    cleave__arena_free(&tally->scratch);
    CLEAVE_VECTOR_FREE(&tally->cell.out);
    CLEAVE_VECTOR_FREE(&tally->box.out);
    CLEAVE_VECTOR_FREE(&tally->pins);
    cleave__netset_free(&tally->raw);
    CLEAVE_VECTOR_FREE(&tally->vertices);
    cleave__netset_free(&tally->nets);
    free(tally->access);
    free(tally->writes);
    free(tally->rows);
    *tally = (struct cleave_tally){0};
}

/* How many combinations of values the terms list; 0: some term is absent, no list of values, or
 * they are more than LIST_MAX. */
static uint64_t combinations(const struct cleave_term *const *terms, uint32_t count)
{
    uint64_t all = 1;
    for (uint32_t i = 0; i < count; i++) {
        if (!terms[i] || !cleave__term_is_points(terms[i]))
            return 0;
        all *= terms[i]->range_count;
        if (all > LIST_MAX)
            return 0;
    }
    return all;
}

/* The i-th combination as bytes. */
static bool put_combination(struct cleave_tally *tally, uint32_t table,
                            const struct cleave_term *const *terms, uint32_t count, uint64_t i)
{
    bool ok = cleave__cell_start(&tally->cell, table);
    for (uint32_t c = 0; ok && c < count; c++) {
        ok = cleave__cell_put(&tally->cell, &terms[c]->ranges[i % terms[c]->range_count].low);
        i /= terms[c]->range_count;
    }
    return ok;
}

static bool push(struct cleave_tally *tally, uint32_t number, uint32_t flags)
{
    return CLEAVE_PUSH(&tally->pins, number << CLEAVE_PIN_SHIFT | flags);
}

static enum cleave_status touch_cells(struct cleave_tally *tally, uint32_t t,
                                      const struct cleave_term *const *terms, uint64_t all,
                                      uint32_t flags)
{
    struct cleave_tally_table *table = &tally->tables[t];
    for (uint64_t i = 0; i < all; i++) {
        if (!put_combination(tally, t, terms, table->grain.count, i))
            return CLEAVE_NO_MEMORY;
        uint32_t before = tally->cells.count;
        if (before >= UINT32_MAX >> (CLEAVE_PIN_SHIFT + 1))
            return CLEAVE_LIMIT;
        uint32_t cell =
            cleave__intern_add(&tally->cells, tally->cell.out.data, tally->cell.out.count);
        if (cell == CLEAVE_INTERN_NONE || !push(tally, cell, flags))
            return CLEAVE_NO_MEMORY;
        table->cells += tally->cells.count > before;
    }
    return CLEAVE_OK;
}

struct cleave_range cleave__tally_prefix_range(uint32_t id)
{
    struct cleave_value value = {.kind = CLEAVE_INTEGER, .integer = id};
    return (struct cleave_range){value, value, id ? 0 : CLEAVE_LOW_UNBOUNDED};
}

static int compare_integers(const void *left, const void *right)
{
    const struct cleave_range *a = left, *b = right;
    return (a->low.integer > b->low.integer) - (a->low.integer < b->low.integer);
}

/* The first axis of a grain past two columns: combinations of all but the last, numbered. */
static bool prefix_term(struct cleave_tally *tally, uint32_t t,
                        const struct cleave_term *const *terms, struct cleave_term *out)
{
    struct cleave_tally_table *table = &tally->tables[t];
    uint32_t count = table->grain.count - 1;
    uint64_t all = combinations(terms, count);
    *out = (struct cleave_term){0};
    if (all == 0)
        return true; /* says nothing */
    out->ranges = cleave__arena_array(&tally->scratch, all, sizeof *out->ranges);
    if (!out->ranges)
        return false;
    for (uint64_t i = 0; i < all; i++) {
        if (!put_combination(tally, t, terms, count, i))
            return false;
        uint32_t id =
            cleave__intern_add(&table->prefixes, tally->cell.out.data, tally->cell.out.count);
        if (id == CLEAVE_INTERN_NONE)
            return false;
        out->ranges[out->range_count++] = cleave__tally_prefix_range(id);
    }
    qsort(out->ranges, out->range_count, sizeof *out->ranges, compare_integers);
    return true;
}

static bool copy_value(struct cleave_arena *arena, struct cleave_value *value)
{
    if (value->kind != CLEAVE_NUMBER && value->kind != CLEAVE_TEXT)
        return true;
    value->text = cleave__arena_copy(arena, value->text, value->length);
    return value->text != NULL;
}

static bool keep_wide(struct cleave_tally *tally, uint32_t table, const struct cleave_box *box)
{
    struct cleave_workload_box held = {.table = table};
    held.box.terms = cleave__arena_array(&tally->arena, box->term_count, sizeof *held.box.terms);
    if (!held.box.terms)
        return false;
    for (uint32_t t = 0; t < box->term_count; t++) {
        const struct cleave_term *from = &box->terms[t];
        struct cleave_range *ranges =
            cleave__arena_array(&tally->arena, from->range_count, sizeof *ranges);
        for (uint32_t r = 0; ranges && r < from->range_count; r++) {
            ranges[r] = from->ranges[r];
            if ((!(ranges[r].flags & CLEAVE_LOW_UNBOUNDED) &&
                 !copy_value(&tally->arena, &ranges[r].low)) ||
                (!(ranges[r].flags & CLEAVE_HIGH_UNBOUNDED) &&
                 !copy_value(&tally->arena, &ranges[r].high)))
                return false;
        }
        if (!ranges)
            return false;
        held.box.terms[held.box.term_count++] =
            (struct cleave_term){from->column, from->range_count, ranges};
    }
    return CLEAVE_PUSH(&tally->wide, held);
}

static enum cleave_status touch_wide(struct cleave_tally *tally, uint32_t t,
                                     const struct cleave_term *const *terms, uint32_t flags)
{
    struct cleave_tally_table *table = &tally->tables[t];
    uint32_t last = table->grain.count - 1, axes = last > 1 ? 1 : last;
    struct cleave_term axis[2] = {{0}};
    if (last > 1 && !prefix_term(tally, t, terms, &axis[0]))
        return CLEAVE_NO_MEMORY;
    if (last <= 1 && terms[0])
        axis[0] = *terms[0];
    if (last > 0 && terms[last])
        axis[1] = *terms[last];
    struct cleave_term said[2];
    struct cleave_box box = {0, said};
    for (uint32_t i = 0; i <= axes; i++) {
        if (axis[i].range_count == 0)
            continue;
        said[box.term_count] = axis[i];
        said[box.term_count++].column = i;
    }
    uint32_t id = cleave__box_intern(&tally->wide_known, t, false, &box, &tally->box);
    if (id == CLEAVE_INTERN_NONE)
        return CLEAVE_NO_MEMORY;
    if (id >= UINT32_MAX >> (CLEAVE_PIN_SHIFT + 1))
        return CLEAVE_LIMIT;
    if (id == tally->wide.count) {
        if (!keep_wide(tally, t, &box))
            return CLEAVE_NO_MEMORY;
        table->wide++;
    }
    return push(tally, id, flags | CLEAVE_PIN_WIDE) ? CLEAVE_OK : CLEAVE_NO_MEMORY;
}

static enum cleave_status touch(struct cleave_tally *tally, const struct cleave_workload_box *box,
                                bool write, bool *spread)
{
    struct cleave_tally_table *table = &tally->tables[box->table];
    if (table->left_out)
        return CLEAVE_OK;
    table->wrote |= write;
    if (table->replicated) {
        *spread |= write;
        return CLEAVE_OK;
    }
    const struct cleave_term *terms[CLEAVE_GRAIN_MAX];
    if (!cleave__grain_terms(&table->grain, tally->profile, tally->derived, box->table, &box->box,
                             &tally->scratch, terms))
        return CLEAVE_NO_MEMORY;
    uint32_t flags = write ? CLEAVE_PIN_WRITE : 0;
    uint64_t all = combinations(terms, table->grain.count);
    if (all)
        return touch_cells(tally, box->table, terms, all, flags);
    for (uint32_t i = 0; i < table->grain.count; i++) {
        if (terms[i] && terms[i]->range_count == 0)
            return CLEAVE_OK; /* touches nothing */
        if (box->insert && !terms[i]) {
            tally->keyless++;
            return CLEAVE_OK;
        }
    }
    return touch_wide(tally, box->table, terms, flags);
}

/* A cell or box both read and written is written: one pin, not two. */
static void merge_pins(struct cleave_tally *tally)
{
    uint32_t *pins = tally->pins.data;
    size_t count = tally->pins.count, kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept && pins[kept - 1] >> 1 == pins[i] >> 1)
            pins[kept - 1] |= pins[i];
        else
            pins[kept++] = pins[i];
    }
    tally->pins.count = kept;
}

static int compare(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

enum cleave_status cleave__tally_add(struct cleave_tally *tally,
                                     const struct cleave_workload *workload,
                                     struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; !status && i < workload->transactions; i++) {
        bool spread = false;
        tally->pins.count = 0;
        for (uint64_t a = workload->offsets.data[i]; !status && a < workload->offsets.data[i + 1];
             a++) {
            struct cleave_workload_access access = workload->accesses.data[a];
            status = touch(tally, &workload->boxes.data[access.box], access.write, &spread);
            cleave__arena_rewind(&tally->scratch, (struct cleave_arena_mark){0});
        }
        if (status)
            break;
        if (tally->pins.count)
            qsort(tally->pins.data, tally->pins.count, sizeof *tally->pins.data, compare);
        merge_pins(tally);
        if (!cleave__netset_add(&tally->raw, tally->pins.data, tally->pins.count, 1))
            status = CLEAVE_NO_MEMORY;
        tally->transactions++;
        tally->untouched += tally->pins.count == 0 && !spread;
        tally->spread += spread;
    }
    if (status == CLEAVE_LIMIT)
        return cleave_error_set(error, status,
                                "more than %u tuple groups: take a coarser grain, or leave tables "
                                "out",
                                UINT32_MAX >> (CLEAVE_PIN_SHIFT + 1));
    if (status)
        return cleave_error_set(error, status, "no memory for the hypergraph");
    return CLEAVE_OK;
}
