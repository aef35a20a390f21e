/* Figures of every cell, sent to where the decision is made; see the header. */
#include "stream/balance/central.h"

#include <assert.h>
#include <stdlib.h>

enum cleave_status cleave__cell_loads_new(uint32_t columns, uint32_t rows,
                                          struct cleave__cell_loads **out,
                                          struct cleave_error *error)
{
    struct cleave__cell_loads *loads =
        calloc(1, sizeof *loads + (size_t)columns * rows * sizeof *loads->cell);
    if (!loads)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for loads of %u x %u cells",
                                columns, rows);
    loads->columns = columns;
    loads->rows = rows;
    *out = loads;
    return CLEAVE_OK;
}

static struct cleave__cell_load *cell_at(struct cleave__cell_loads *loads, uint32_t x, uint32_t y)
{
    return &loads->cell[(size_t)y * loads->columns + x];
}

void cleave__cell_loads_object(struct cleave__cell_loads *loads, uint32_t column, uint32_t row,
                               uint64_t cost)
{
    cell_at(loads, column, row)->cost += cost;
}

void cleave__cell_loads_add_query(struct cleave__cell_loads *loads, struct cleave__cells range)
{
    loads->queries++;
    cell_at(loads, range.x0, range.y0)->first++;
    cell_at(loads, range.x1, range.y1)->last++;
}

void cleave__cell_loads_remove_query(struct cleave__cell_loads *loads, struct cleave__cells range)
{
    struct cleave__cell_load *first = cell_at(loads, range.x0, range.y0);
    struct cleave__cell_load *last = cell_at(loads, range.x1, range.y1);
    assert(loads->queries && first->first && last->last);
    loads->queries--;
    first->first--;
    last->last--;
}

void cleave__cell_loads_take(struct cleave__cell_loads *loads, struct cleave__cells part,
                             uint64_t cost)
{
    uint64_t left = cleave__cells_count(part);
    for (uint32_t y = part.y0; y <= part.y1; y++) {
        for (uint32_t x = part.x0; x <= part.x1; x++, left--) {
            uint64_t share = cost / left;
            cell_at(loads, x, y)->cost += share;
            cost -= share;
        }
    }
}

void cleave__cell_loads_keep(struct cleave__cell_loads *loads, struct cleave__cells partition)
{
    loads->queries = 0;
    for (uint32_t y = 0; y < loads->rows; y++) {
        for (uint32_t x = 0; x < loads->columns; x++) {
            struct cleave__cell_load *load = cell_at(loads, x, y);
            load->first = load->last = 0;
            load->cost = cleave__cells_have(partition, x, y) ? load->cost : 0;
        }
    }
}

void cleave__cell_loads_decay(struct cleave__cell_loads *loads)
{
    size_t cells = (size_t)loads->columns * loads->rows;
    for (size_t i = 0; i < cells; i++)
        loads->cell[i].cost /= 2;
}

static uint32_t clamp(uint32_t x, uint32_t low, uint32_t high)
{
    return x < low ? low : x > high ? high : x;
}

enum cleave_status cleave__cell_loads_write(const struct cleave__cell_loads *loads,
                                            struct cleave__cells partition,
                                            struct cleave_writer *writer,
                                            struct cleave_error *error)
{
    uint32_t width = partition.x1 - partition.x0 + 1;
    uint64_t cells = cleave__cells_count(partition), last = 0, sent = 0;
    struct cleave__cell_load *cut = calloc(cells, sizeof *cut);
    if (!cut)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for loads to send");
    for (uint32_t y = 0; y < loads->rows; y++) {
        for (uint32_t x = 0; x < loads->columns; x++) {
            const struct cleave__cell_load *load = &loads->cell[(size_t)y * loads->columns + x];
            uint32_t row = clamp(y, partition.y0, partition.y1) - partition.y0;
            uint32_t column = clamp(x, partition.x0, partition.x1) - partition.x0;
            struct cleave__cell_load *to = &cut[(size_t)row * width + column];
            to->first += load->first;
            to->last += load->last;
            if (cleave__cells_have(partition, x, y))
                to->cost = load->cost;
        }
    }
    for (uint64_t i = 0; i < cells; i++)
        sent += cut[i].cost || cut[i].first || cut[i].last;
    cleave__put_varint(writer, partition.x0);
    cleave__put_varint(writer, partition.y0);
    cleave__put_varint(writer, partition.x1);
    cleave__put_varint(writer, partition.y1);
    cleave__put_varint(writer, loads->queries);
    cleave__put_varint(writer, sent);
    for (uint64_t i = 0; i < cells; i++) {
        if (!cut[i].cost && !cut[i].first && !cut[i].last)
            continue;
        cleave__put_varint(writer, i - last);
        cleave__put_varint(writer, cut[i].cost);
        cleave__put_varint(writer, cut[i].first);
        cleave__put_varint(writer, cut[i].last);
        last = i;
    }
    free(cut);
    if (writer->failed)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for loads to send");
    return CLEAVE_OK;
}

bool cleave__cell_loads_read(struct cleave_reader *reader, struct cleave__aggregates *a,
                             struct cleave__cells *partition)
{
    struct cleave__cells p;
    cleave__aggregates_clear(a);
    p.x0 = cleave__get_count(reader, a->columns - 1);
    p.y0 = cleave__get_count(reader, a->rows - 1);
    p.x1 = cleave__get_count(reader, a->columns - 1);
    p.y1 = cleave__get_count(reader, a->rows - 1);
    a->queries = cleave__get_varint(reader);
    uint64_t sent = cleave__get_varint(reader), at = 0, cells = cleave__cells_count(p);
    uint64_t first_sum = 0, last_sum = 0;
    for (uint64_t i = 0; i < sent && !reader->failed; i++) {
        uint64_t step = cleave__get_varint(reader);
        uint64_t cost = cleave__get_varint(reader);
        uint32_t first = cleave__get_count(reader, UINT32_MAX);
        uint32_t last = cleave__get_count(reader, UINT32_MAX);
        if ((i && step == 0) || step >= cells - at || cost > UINT64_MAX - a->cost) {
            reader->failed = true;
            break;
        }
        at += step;
        uint32_t width = p.x1 - p.x0 + 1;
        uint32_t x = p.x0 + (uint32_t)(at % width), y = p.y0 + (uint32_t)(at / width);
        cleave__aggregates_object(a, x, y, cost);
        a->column_first[x] += first;
        a->row_first[y] += first;
        a->column_last[x] += last;
        a->row_last[y] += last;
        first_sum += first;
        last_sum += last;
    }
    if (reader->failed || cells == 0 || first_sum != a->queries || last_sum != a->queries ||
        !cleave__aggregates_check(a, p)) {
        reader->failed = true;
        return false;
    }
    *partition = p;
    return true;
}
