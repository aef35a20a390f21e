/* From cells, wide boxes and raw nets to vertices and nets. */
#include <string.h>

#include "tables/shape/tally.h"

struct finish {
    struct cleave_tally *tally;
    uint32_t *uses; /* [cells + wide]: distinct nets */
    uint32_t *map;  /* [cells + wide]: of a table with cells only, the vertex; else box in `flat` */
    CLEAVE_VECTOR(uint32_t) pins; /* of one net: vertex * 2 + written */
};

static uint32_t table_of(const struct cleave_tally *tally, uint32_t pin)
{
    uint32_t number = pin >> CLEAVE_PIN_SHIFT, table;
    if (pin & CLEAVE_PIN_WIDE)
        return tally->wide.data[number].table;
    memcpy(&table, tally->cells.entries[number].bytes, sizeof table);
    return table;
}

static void count_uses(struct finish *finish)
{
    const struct cleave_tally *tally = finish->tally;
    for (size_t i = 0; i < tally->raw.items.count; i++) {
        uint32_t pin = tally->raw.items.data[i];
        finish
            ->uses[(pin & CLEAVE_PIN_WIDE ? tally->cells.count : 0) + (pin >> CLEAVE_PIN_SHIFT)]++;
    }
}

static bool add_vertices(struct cleave_tally *tally, uint32_t t, uint32_t count)
{
    if (!CLEAVE_RESERVE(&tally->vertices, tally->vertices.count + count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        tally->vertices.data[tally->vertices.count++] = (struct cleave_tally_vertex){t, i};
    tally->tables[t].vertices = count;
    return true;
}

/* Tables in turn; a table's vertices are contiguous, cells in order of first appearance. */
static enum cleave_status number_vertices(struct finish *finish, struct cleave_error *error)
{
    struct cleave_tally *tally = finish->tally;
    uint64_t total = 0;
    enum cleave_status status = CLEAVE_OK;
    bool ok = true;
    for (uint32_t t = 0; ok && !status && t < tally->schema->table_count; t++) {
        struct cleave_tally_table *table = &tally->tables[t];
        table->first_vertex = (uint32_t)total;
        table->dropped = tally->drop_read_only && !table->wrote;
        table->columns = table->grain.count;
        if (table->left_out || table->replicated || table->dropped ||
            (table->cells == 0 && table->wide == 0))
            continue;
        if (table->wide)
            status = cleave__tally_cut(tally, t, finish->uses, finish->map, error);
        bool whole = table->wide && !table->groups.list.count;
        uint32_t count = !table->wide ? table->cells
                         : whole      ? 1
                                      : (uint32_t)table->groups.list.count;
        total += count;
        if (!status && total >= UINT32_MAX / 2)
            status = cleave_error_set(error, CLEAVE_LIMIT,
                                      "more than %u tuple groups: take a coarser grain, or leave "
                                      "tables out",
                                      UINT32_MAX / 2);
        ok = !status && add_vertices(tally, t, count);
        if (ok && whole)
            tally->vertices.data[table->first_vertex].item = CLEAVE_ABSENT;
    }
    if (!ok && !status)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the hypergraph");
    return status;
}

/* Cells of tables that have no wide boxes: the next vertex of the table. */
static bool number_cells(struct finish *finish)
{
    struct cleave_tally *tally = finish->tally;
    uint32_t *next = calloc((size_t)tally->schema->table_count + 1, sizeof *next);
    if (!next)
        return false;
    for (uint32_t c = 0; c < tally->cells.count; c++) {
        uint32_t t = table_of(tally, c << CLEAVE_PIN_SHIFT);
        struct cleave_tally_table *table = &tally->tables[t];
        if (table->wide || table->vertices == 0)
            continue;
        uint32_t vertex = table->first_vertex + next[t]++;
        finish->map[c] = vertex;
        tally->vertices.data[vertex].item = c;
    }
    free(next);
    return true;
}

/* Appends the vertices that a raw pin means. */
static bool expand(struct finish *finish, uint32_t pin)
{
    struct cleave_tally *tally = finish->tally;
    struct cleave_tally_table *table = &tally->tables[table_of(tally, pin)];
    uint32_t write = pin & CLEAVE_PIN_WRITE;
    uint32_t at =
        finish->map[(pin & CLEAVE_PIN_WIDE ? tally->cells.count : 0) + (pin >> CLEAVE_PIN_SHIFT)];
    if (table->vertices == 0)
        return true;
    if (!table->wide)
        return CLEAVE_PUSH(&finish->pins, at * 2 + write);
    if (!table->groups.list.count)
        return CLEAVE_PUSH(&finish->pins, table->first_vertex * 2 + write);
    for (uint64_t i = table->groups.box_offset[at]; i < table->groups.box_offset[at + 1]; i++) {
        uint32_t vertex = table->first_vertex + table->groups.box_group[i];
        if (!CLEAVE_PUSH(&finish->pins, vertex * 2 + write))
            return false;
    }
    return true;
}

static int compare(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static bool make_net(struct finish *finish, uint64_t times)
{
    struct cleave_tally *tally = finish->tally;
    uint32_t *pins = finish->pins.data;
    size_t count = finish->pins.count, kept = 0;
    if (count == 0) {
        tally->untouched += times;
        return true;
    }
    qsort(pins, count, sizeof *pins, compare);
    for (size_t i = 0; i < count; i++) {
        uint32_t vertex = pins[i] / 2;
        bool write = pins[i] % 2, again = kept && pins[kept - 1] == vertex;
        if (!again) { /* the last of equal vertices is the written one, if any is */
            pins[kept++] = vertex;
            tally->access[vertex] += times;
        }
        bool last = i + 1 == count || pins[i + 1] / 2 != vertex;
        if (last && write)
            tally->writes[vertex] += times;
    }
    return cleave__netset_add(&tally->nets, pins, kept, times);
}

static bool make_nets(struct finish *finish)
{
    struct cleave_tally *tally = finish->tally;
    size_t vertices = tally->vertices.count;
    tally->access = calloc(vertices + 1, sizeof *tally->access);
    tally->writes = calloc(vertices + 1, sizeof *tally->writes);
    bool ok = tally->access && tally->writes;
    for (uint32_t e = 0; ok && e < tally->raw.count; e++) {
        finish->pins.count = 0;
        for (uint64_t i = tally->raw.offsets.data[e]; ok && i < tally->raw.offsets.data[e + 1]; i++)
            ok = expand(finish, tally->raw.items.data[i]);
        ok = ok && make_net(finish, tally->raw.times.data[e]);
    }
    for (size_t i = 0; ok && i < tally->nets.items.count; i++)
        tally->tables[tally->vertices.data[tally->nets.items.data[i]].table].pins++;
    cleave__netset_free(&tally->raw);
    return ok;
}

enum cleave_status cleave__tally_finish(struct cleave_tally *tally, struct cleave_error *error)
{
    struct finish finish = {.tally = tally};
    size_t boxes = (size_t)tally->cells.count + tally->wide.count;
    finish.uses = calloc(boxes + 1, sizeof *finish.uses);
    finish.map = calloc(boxes + 1, sizeof *finish.map);
    enum cleave_status status = CLEAVE_OK;
    bool ok = finish.uses && finish.map;
    if (ok) {
        count_uses(&finish);
        status = number_vertices(&finish, error);
    }
    ok = ok && !status && number_cells(&finish) && make_nets(&finish);
    free(finish.uses);
    free(finish.map);
    CLEAVE_VECTOR_FREE(&finish.pins);
    if (ok)
        return cleave__tally_rows(tally, error);
    return status ? status
                  : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the hypergraph");
}
