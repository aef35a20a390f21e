/* Random tilings and ranges; see the header. */
#include "stream_route/maps.h"

#include <math.h>
#include <string.h>

void maps_random(struct cleave_random *random, uint32_t columns, uint32_t rows, uint32_t active,
                 uint32_t evaluators, struct cleave__cells *partitions)
{
    partitions[0] = (struct cleave__cells){0, 0, columns - 1, rows - 1};
    for (uint32_t n = 1; n < active;) {
        uint32_t victim = (uint32_t)cleave__random_below(random, n);
        struct cleave__cells *p = &partitions[victim];
        bool by_rows = cleave__random_below(random, 2);
        uint32_t lines = by_rows ? p->y1 - p->y0 + 1 : p->x1 - p->x0 + 1;
        if (lines == 1)
            continue;
        enum cleave__side side = by_rows ? CLEAVE__BELOW : CLEAVE__LEFT;
        struct cleave__cells part =
            cleave__cells_strip(*p, side, 1 + (uint32_t)cleave__random_below(random, lines - 1));
        cleave__cells_cut(*p, part, &partitions[n]);
        *p = part;
        n++;
    }
    for (uint32_t e = active; e < evaluators; e++)
        partitions[e] = CLEAVE__NO_CELLS;
    for (uint32_t e = evaluators; e-- > 1;) {
        uint32_t other = (uint32_t)cleave__random_below(random, e + 1);
        struct cleave__cells swap = partitions[e];
        partitions[e] = partitions[other];
        partitions[other] = swap;
    }
}

struct cleave__cells maps_range(struct cleave_random *random, uint32_t columns, uint32_t rows)
{
    uint32_t a = (uint32_t)cleave__random_below(random, columns);
    uint32_t b = (uint32_t)cleave__random_below(random, columns);
    uint32_t c = (uint32_t)cleave__random_below(random, rows);
    uint32_t d = (uint32_t)cleave__random_below(random, rows);
    return (struct cleave__cells){a < b ? a : b, c < d ? c : d, a < b ? b : a, c < d ? d : c};
}

struct cleave__cells maps_range_of(struct cleave_random *random, uint32_t columns, uint32_t rows,
                                   double share)
{
    double stretch = exp2(cleave__random_real(random) * 2 - 1);
    double wide = round(columns * sqrt(share) * stretch),
           high = round(rows * sqrt(share) / stretch);
    uint32_t width = wide < 1 ? 1 : wide > columns ? columns : (uint32_t)wide;
    uint32_t height = high < 1 ? 1 : high > rows ? rows : (uint32_t)high;
    uint32_t x = (uint32_t)cleave__random_below(random, columns - width + 1);
    uint32_t y = (uint32_t)cleave__random_below(random, rows - height + 1);
    return (struct cleave__cells){x, y, x + width - 1, y + height - 1};
}

bool maps_right(const struct cleave__cells *partitions, uint32_t evaluators,
                struct cleave__cells range, const uint32_t *out, uint32_t count, uint8_t *seen,
                uint32_t *missed)
{
    bool right = true;
    *missed = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (out[i] >= evaluators || seen[out[i]]++)
            right = false;
    }
    for (uint32_t e = 0; e < evaluators; e++) {
        bool meets = cleave__cells_meet(partitions[e], range);
        *missed += meets && !seen[e];
        right = right && meets == (seen[e] != 0);
    }
    memset(seen, 0, evaluators);
    return right;
}

uint32_t maps_algorithm_1(const struct cleave__agrid *agrid, struct cleave__cells range,
                          bool published, uint32_t *out)
{
    struct {
        uint32_t x, y;
    } queue[CLEAVE__EVALUATORS_MOST];
    bool visited[CLEAVE__EVALUATORS_MOST];
    uint32_t columns = agrid->grid.columns, count = 0;
    memset(visited, 0, agrid->evaluators * sizeof *visited);
    out[0] = agrid->cell[(size_t)range.y0 * columns + range.x0];
    queue[0].x = range.x0;
    queue[0].y = range.y0;
    visited[out[count++]] = true;
    for (uint32_t i = 0; i < count; i++) {
        struct cleave__cells p = cleave__agrid_partition(agrid, out[i]);
        uint32_t probe[2][2] = {{p.x1 + 1, queue[i].y}, {queue[i].x, p.y1 + 1}};
        for (int k = 0; k < 2; k++) {
            uint32_t x = probe[k][0], y = probe[k][1];
            if (!cleave__cells_have(range, x, y))
                continue;
            uint32_t next = agrid->cell[(size_t)y * columns + x];
            if (visited[next])
                continue;
            struct cleave__cells q = cleave__agrid_partition(agrid, next);
            visited[next] = true;
            queue[count].x = q.x0 < range.x0 ? range.x0 : published && k == 1 ? x : q.x0;
            queue[count].y = q.y0 < range.y0 ? range.y0 : published && k == 0 ? y : q.y0;
            out[count++] = next;
        }
    }
    return count;
}
