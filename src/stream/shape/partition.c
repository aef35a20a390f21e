/* First partitions; see the header. The priority queue is a binary heap; of equal costs the lower
 * number is split first, so that the answer is the same everywhere. */
#include "stream/shape/partition.h"

#include <assert.h>
#include <stdlib.h>

struct entry {
    uint64_t cost;
    uint32_t number;
};

static bool before(struct entry a, struct entry b)
{
    return a.cost > b.cost || (a.cost == b.cost && a.number < b.number);
}

static void push(struct entry *heap, uint32_t *count, struct entry entry)
{
    uint32_t at = (*count)++;
    for (; at && before(entry, heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = entry;
}

static struct entry pop(struct entry *heap, uint32_t *count)
{
    struct entry top = heap[0], last = heap[--*count];
    uint32_t at = 0;
    for (uint32_t child = 1; child < *count; child = 2 * at + 1) {
        if (child + 1 < *count && before(heap[child + 1], heap[child]))
            child++;
        if (!before(heap[child], last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return top;
}

/* The lower `lines` columns or rows, of a rectangle that has more. */
static struct cleave__cells lower(struct cleave__cells cells, bool by_rows, uint32_t lines)
{
    return cleave__cells_strip(cells, by_rows ? CLEAVE__BELOW : CLEAVE__LEFT, lines);
}

/* Of the lines across one direction the one that makes the greater half least; UINT64_MAX: there is
 * no line. Costs are above 0, so the lower half's grows with every line. */
static uint64_t best_line(const struct cleave__costs *costs, struct cleave__cells cells,
                          bool by_rows, uint32_t *lines)
{
    uint32_t count = by_rows ? cells.y1 - cells.y0 + 1 : cells.x1 - cells.x0 + 1;
    uint64_t whole = cleave__costs_of(costs, cells);
    if (count == 1)
        return UINT64_MAX;
    uint32_t low = 1, high = count - 1; /* the first with half or more, if any */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        uint64_t cost = cleave__costs_of(costs, lower(cells, by_rows, middle));
        if (cost >= whole - cost)
            high = middle;
        else
            low = middle + 1;
    }
    uint64_t cost = cleave__costs_of(costs, lower(cells, by_rows, low));
    uint64_t worst = cost > whole - cost ? cost : whole - cost;
    *lines = low;
    if (low > 1) {
        uint64_t other = whole - cleave__costs_of(costs, lower(cells, by_rows, low - 1));
        if (other < worst) {
            worst = other;
            *lines = low - 1;
        }
    }
    return worst;
}

static bool split(const struct cleave__costs *costs, struct cleave__cells *cells,
                  struct cleave__cells *other)
{
    bool tall = cells->y1 - cells->y0 > cells->x1 - cells->x0;
    uint32_t along_lines = 0, across_lines = 0;
    uint64_t along = best_line(costs, *cells, tall, &along_lines);
    uint64_t across = best_line(costs, *cells, !tall, &across_lines);
    if (along == UINT64_MAX && across == UINT64_MAX)
        return false;
    bool by_rows = along <= across ? tall : !tall;
    struct cleave__cells part =
        lower(*cells, by_rows, along <= across ? along_lines : across_lines);
    cleave__cells_cut(*cells, part, other);
    *cells = part;
    return true;
}

enum cleave_status cleave__partition_kd(const struct cleave__costs *costs, uint32_t evaluators,
                                        uint32_t spare, struct cleave__cells *partitions,
                                        struct cleave_error *error)
{
    assert(spare < evaluators);
    struct entry *heap = malloc(evaluators * sizeof *heap);
    if (!heap)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u partitions", evaluators);
    uint32_t count = 1, waiting = 0;
    partitions[0] = (struct cleave__cells){0, 0, cleave__costs_columns(costs) - 1,
                                           cleave__costs_rows(costs) - 1};
    push(heap, &waiting, (struct entry){cleave__costs_of(costs, partitions[0]), 0});
    while (count < evaluators - spare && waiting) {
        struct entry top = pop(heap, &waiting);
        if (!split(costs, &partitions[top.number], &partitions[count]))
            continue; /* one cell */
        uint64_t cost = cleave__costs_of(costs, partitions[count]);
        push(heap, &waiting, (struct entry){top.cost - cost, top.number});
        push(heap, &waiting, (struct entry){cost, count++});
    }
    free(heap);
    while (count < evaluators)
        partitions[count++] = CLEAVE__NO_CELLS;
    return CLEAVE_OK;
}

/* `parts` of one size, if cells allow; there are as many cells or more. */
static void divide(struct cleave__cells cells, uint32_t parts, struct cleave__cells *out)
{
    if (parts == 1) {
        out[0] = cells;
        return;
    }
    uint32_t width = cells.x1 - cells.x0 + 1, height = cells.y1 - cells.y0 + 1;
    bool by_rows = height > width;
    uint64_t lines = by_rows ? height : width, across = by_rows ? width : height;
    uint64_t half = parts / 2, at = (lines * half + half) / parts;
    at = at < 1 ? 1 : at > lines - 1 ? lines - 1 : at;
    if (half > at * across)
        half = at * across;
    if (parts - half > (lines - at) * across)
        half = parts - (lines - at) * across;
    struct cleave__cells part = lower(cells, by_rows, (uint32_t)at), rest;
    cleave__cells_cut(cells, part, &rest);
    divide(part, (uint32_t)half, out);
    divide(rest, parts - (uint32_t)half, out + half);
}

void cleave__partition_uniform(uint32_t columns, uint32_t rows, uint32_t evaluators, uint32_t spare,
                               struct cleave__cells *partitions)
{
    struct cleave__cells all = {0, 0, columns - 1, rows - 1};
    uint64_t cells = cleave__cells_count(all);
    uint32_t active = evaluators - spare;
    assert(spare < evaluators);
    if (active > cells)
        active = (uint32_t)cells;
    divide(all, active, partitions);
    for (uint32_t e = active; e < evaluators; e++)
        partitions[e] = CLEAVE__NO_CELLS;
}
