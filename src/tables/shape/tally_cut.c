/* Cutting a table that wide boxes reach into: its cells and wide boxes become the boxes of a small
 * workload over two axes (grain.h), which groups.h knows how to cut. */
#include <string.h>

#include "tables/shape/tally.h"

enum { ENTRIES_MAX = 1 << 23 };           /* of groups.h: 12 bytes each, and up to 8 links */
static const uint64_t pins_max = 1 << 28; /* a gigabyte */

/* A schema of one table with two columns about which nothing is known. */
static bool flat_schema(struct cleave_workload *flat)
{
    struct cleave_schema *schema = cleave__arena_zalloc(&flat->arena, sizeof *schema);
    struct cleave_table *table = cleave__arena_zalloc(&flat->arena, sizeof *table);
    struct cleave_column *columns = cleave__arena_zalloc(&flat->arena, 2 * sizeof *columns);
    if (!schema || !table || !columns)
        return false;
    *table = (struct cleave_table){.name = "", .column_count = 2, .columns = columns};
    schema->tables = table;
    schema->table_count = 1;
    flat->schema = schema;
    return true;
}

static bool add_range(struct cleave_workload *flat, struct cleave_box *box, uint32_t axis,
                      struct cleave_range given)
{
    struct cleave_range *range = cleave__arena_alloc(&flat->arena, sizeof *range);
    if (!range)
        return false;
    *range = given;
    box->terms[box->term_count++] = (struct cleave_term){axis, 1, range};
    return true;
}

/* The cell as a box over the axes. */
static bool add_cell(struct cleave_tally *tally, struct cleave_tally_table *table,
                     const struct cleave_intern_entry *bytes)
{
    struct cleave_workload *flat = &table->flat;
    struct cleave_value values[CLEAVE_GRAIN_MAX];
    struct cleave_workload_box box = {0};
    uint32_t count;
    uint32_t t = cleave__cell_decode(bytes->bytes, bytes->length, values, &count);
    box.box.terms = cleave__arena_array(&flat->arena, 2, sizeof *box.box.terms);
    bool ok = box.box.terms != NULL;
    if (ok && count > 2) {
        ok = cleave__cell_start(&tally->cell, t);
        for (uint32_t i = 0; ok && i < count - 1; i++)
            ok = cleave__cell_put(&tally->cell, &values[i]);
        uint32_t id =
            ok ? cleave__intern_add(&table->prefixes, tally->cell.out.data, tally->cell.out.count)
               : CLEAVE_INTERN_NONE;
        struct cleave_value last = values[count - 1];
        ok = id != CLEAVE_INTERN_NONE &&
             add_range(flat, &box.box, 0, cleave__tally_prefix_range(id)) &&
             add_range(flat, &box.box, 1, (struct cleave_range){last, last, 0});
    } else {
        for (uint32_t i = 0; ok && i < count; i++)
            ok = add_range(flat, &box.box, i, (struct cleave_range){values[i], values[i], 0});
    }
    return ok && CLEAVE_PUSH(&flat->boxes, box);
}

/* The table's boxes, cells first; a wide box is borrowed. */
static bool fill_flat(struct cleave_tally *tally, uint32_t t, const uint32_t *uses, uint32_t *map,
                      uint64_t *flat_uses)
{
    struct cleave_tally_table *table = &tally->tables[t];
    struct cleave_workload *flat = &table->flat;
    uint32_t cells = tally->cells.count;
    for (uint32_t c = 0; c < cells; c++) {
        const struct cleave_intern_entry *entry = &tally->cells.entries[c];
        uint32_t its_table;
        memcpy(&its_table, entry->bytes, sizeof its_table);
        if (its_table != t)
            continue;
        map[c] = (uint32_t)flat->boxes.count;
        flat_uses[map[c]] = uses[c];
        if (!add_cell(tally, table, entry))
            return false;
    }
    for (uint32_t w = 0; w < tally->wide.count; w++) {
        struct cleave_workload_box box = tally->wide.data[w];
        if (box.table != t)
            continue;
        map[cells + w] = (uint32_t)flat->boxes.count;
        flat_uses[map[cells + w]] = uses[cells + w];
        box.table = 0;
        if (!CLEAVE_PUSH(&flat->boxes, box))
            return false;
    }
    return true;
}

static uint64_t count_pins(const struct cleave_groups *groups, size_t boxes, const uint64_t *uses)
{
    uint64_t pins = 0;
    for (size_t b = 0; b < boxes; b++) {
        uint64_t touched = groups->box_offset[b + 1] - groups->box_offset[b];
        if (touched && uses[b] > UINT64_MAX / 4 / touched)
            return UINT64_MAX;
        pins += uses[b] * touched;
        if (pins > UINT64_MAX / 4)
            return UINT64_MAX;
    }
    return pins;
}

enum cleave_status cleave__tally_cut(struct cleave_tally *tally, uint32_t t, const uint32_t *uses,
                                     uint32_t *map, struct cleave_error *error)
{
    struct cleave_tally_table *table = &tally->tables[t];
    struct cleave_workload *flat = &table->flat;
    uint64_t most = tally->most_pins ? tally->most_pins : pins_max;
    size_t boxes = (size_t)table->cells + table->wide;
    uint64_t *ones = malloc((boxes + 1) * sizeof *ones);
    uint64_t *flat_uses = malloc((boxes + 1) * sizeof *flat_uses);
    enum cleave_status status = CLEAVE_OK;
    if (!ones || !flat_uses || !flat_schema(flat) || !fill_flat(tally, t, uses, map, flat_uses))
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the tuple groups");
    for (size_t b = 0; !status && b < boxes; b++)
        ones[b] = 1;
    struct cleave_profile profile = {.box_transactions = ones};
    uint32_t columns = table->grain.count;
    struct cleave_attributes axes = {columns ? 0 : CLEAVE_ABSENT, columns > 1 ? 1 : CLEAVE_ABSENT};
    while (!status && axes.first != CLEAVE_ABSENT) {
        status = cleave__groups_build(flat, &profile, false, &axes, NULL, 0, ENTRIES_MAX,
                                      &table->groups, error);
        if (status)
            break;
        axes = table->groups.attributes[0];
        if (axes.first != CLEAVE_ABSENT && count_pins(&table->groups, boxes, flat_uses) <= most)
            break;
        cleave__groups_free(&table->groups);
        if (axes.second == CLEAVE_ABSENT)
            axes.first = CLEAVE_ABSENT;
        axes.second = CLEAVE_ABSENT;
    }
    table->columns = axes.first == CLEAVE_ABSENT    ? 0
                     : axes.second != CLEAVE_ABSENT ? columns
                     : columns > 1                  ? columns - 1
                                                    : columns;
    table->coarser = table->columns < columns;
    free(ones);
    free(flat_uses);
    return status;
}
