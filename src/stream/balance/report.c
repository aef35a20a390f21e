/* What an evaluator tells the balancer, made from its sums; and as bytes. */
#include <string.h>

#include "stream/balance/decide.h"

void cleave__balance_report_make(const struct cleave__aggregates *aggregates, uint32_t self,
                                 const struct cleave__cells *partitions, uint32_t evaluators,
                                 struct cleave__balance_report *out)
{
    struct cleave__cells cells = partitions[self], strip;
    struct cleave__balance_report report;
    memset(&report, 0, sizeof report);
    report.cells = CLEAVE__NO_CELLS;
    if (!cleave__cells_empty(cells)) {
        report.cells = cells;
        report.cost = aggregates->cost;
        report.queries = aggregates->queries;
        report.can_split = cleave__aggregates_split(aggregates, cells, &report.split);
        for (int side = 0; side < CLEAVE__SIDES; side++)
            report.edge[side] = cleave__aggregates_edge(aggregates, cells, (enum cleave__side)side);
    }
    for (uint32_t e = 0; e < evaluators; e++) {
        if (e == self || !cleave__cells_corner(cells, partitions[e], &strip))
            continue;
        if (report.corner_count == CLEAVE__CORNERS_MOST)
            break; /* no tiling */
        report.corners[report.corner_count].neighbour = e;
        report.corners[report.corner_count++].part =
            cleave__aggregates_part(aggregates, cells, strip);
    }
    *out = report;
}

static void put_cells(struct cleave_writer *writer, struct cleave__cells cells)
{
    cleave__put_varint(writer, cells.x0);
    cleave__put_varint(writer, cells.y0);
    cleave__put_varint(writer, cells.x1);
    cleave__put_varint(writer, cells.y1);
}

static struct cleave__cells get_cells(struct cleave_reader *reader, uint32_t columns, uint32_t rows)
{
    struct cleave__cells cells;
    cells.x0 = cleave__get_count(reader, columns - 1);
    cells.y0 = cleave__get_count(reader, rows - 1);
    cells.x1 = cleave__get_count(reader, columns - 1);
    cells.y1 = cleave__get_count(reader, rows - 1);
    if (cleave__cells_empty(cells))
        reader->failed = true;
    return cells;
}

static void put_part(struct cleave_writer *writer, const struct cleave__balance_part *part)
{
    put_cells(writer, part->cells);
    cleave__put_varint(writer, part->cost);
    cleave__put_varint(writer, part->queries);
}

/* A part of a report's cells that can be cut off and leaves something. */
static struct cleave__balance_part get_part(struct cleave_reader *reader, uint32_t columns,
                                            uint32_t rows,
                                            const struct cleave__balance_report *report)
{
    struct cleave__cells rest;
    struct cleave__balance_part part = {.cells = get_cells(reader, columns, rows)};
    part.cost = cleave__get_varint(reader);
    part.queries = cleave__get_varint(reader);
    if (part.cost > report->cost || part.queries > report->queries ||
        !cleave__cells_cut(report->cells, part.cells, &rest) || cleave__cells_empty(rest))
        reader->failed = true;
    return part;
}

void cleave__balance_report_write(const struct cleave__balance_report *report,
                                  struct cleave_writer *writer)
{
    bool idle = cleave__cells_empty(report->cells);
    cleave__put8(writer,
                 (uint8_t)((idle ? 0 : 1) | report->can_split << 1 | report->corner_count << 2));
    if (idle)
        return;
    put_cells(writer, report->cells);
    cleave__put_varint(writer, report->cost);
    cleave__put_varint(writer, report->queries);
    cleave__put8(writer, (uint8_t)report->refused);
    for (int side = 0; side < CLEAVE__SIDES; side++)
        cleave__put_varint(writer, report->edge[side] + 1); /* 0: none */
    if (report->can_split)
        put_part(writer, &report->split);
    for (uint32_t i = 0; i < report->corner_count; i++) {
        cleave__put_varint(writer, report->corners[i].neighbour);
        put_part(writer, &report->corners[i].part);
    }
}

bool cleave__balance_report_read(struct cleave_reader *reader, uint32_t columns, uint32_t rows,
                                 struct cleave__balance_report *out)
{
    struct cleave__balance_report report;
    memset(&report, 0, sizeof report);
    uint8_t kinds = cleave__get8(reader);
    report.cells = CLEAVE__NO_CELLS;
    if (kinds == 0 && !reader->failed) {
        *out = report;
        return true;
    }
    report.can_split = kinds >> 1 & 1;
    report.corner_count = kinds >> 2;
    if (!(kinds & 1) || report.corner_count > CLEAVE__CORNERS_MOST)
        reader->failed = true;
    report.cells = get_cells(reader, columns, rows);
    report.cost = cleave__get_varint(reader);
    report.queries = cleave__get_varint(reader);
    report.refused = cleave__get8(reader);
    if (report.refused >= 1 << CLEAVE__SIDES ||
        report.cost > INT64_MAX) /* two costs can be added */
        reader->failed = true;
    for (int side = 0; side < CLEAVE__SIDES; side++) {
        report.edge[side] = cleave__get_varint(reader) - 1;
        if (report.edge[side] != UINT64_MAX && report.edge[side] > report.cost)
            reader->failed = true;
    }
    if (report.can_split && !reader->failed)
        report.split = get_part(reader, columns, rows, &report);
    for (uint32_t i = 0; i < report.corner_count && !reader->failed; i++) {
        report.corners[i].neighbour = cleave__get_count(reader, UINT32_MAX);
        report.corners[i].part = get_part(reader, columns, rows, &report);
    }
    if (!reader->failed)
        *out = report;
    return !reader->failed;
}
