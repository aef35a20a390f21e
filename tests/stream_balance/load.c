/* A small world to balance; see the header. */
#include "stream_balance/load.h"

#include <stdlib.h>

#include "stream_route/maps.h"

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

/* The evaluator's sums from its cells and queries. */
static void sum_up(struct load *load, uint32_t e)
{
    struct cleave__cells p = load->partition[e];
    cleave__aggregates_clear(load->sums[e]);
    if (cleave__cells_empty(p))
        return;
    for (uint32_t y = p.y0; y <= p.y1; y++) {
        for (uint32_t x = p.x0; x <= p.x1; x++)
            cleave__aggregates_object(load->sums[e], x, y, load->cost[y * load->columns + x]);
    }
    for (uint32_t q = 0; q < load->queries; q++) {
        if (cleave__cells_meet(p, load->query[q]))
            cleave__aggregates_add_query(load->sums[e], load->query[q]);
    }
}

void load_make(struct load *load, struct cleave_random *random, uint32_t columns, uint32_t rows,
               uint32_t active, uint32_t evaluators, uint32_t objects, uint32_t queries)
{
    struct cleave_error error;
    *load = (struct load){
        .columns = columns, .rows = rows, .evaluators = evaluators, .queries = queries};
    load->cost = must(calloc((size_t)columns * rows, sizeof *load->cost));
    maps_random(random, columns, rows, active, evaluators, load->partition);
    struct cleave__cells hot = maps_range(random, columns, rows);
    for (uint32_t i = 0; i < objects; i++) {
        bool in = cleave__random_below(random, 3);
        uint32_t x = (uint32_t)cleave__random_below(random, in ? hot.x1 - hot.x0 + 1 : columns);
        uint32_t y = (uint32_t)cleave__random_below(random, in ? hot.y1 - hot.y0 + 1 : rows);
        load->cost[(y + in * hot.y0) * columns + x + in * hot.x0] +=
            1 + cleave__random_below(random, 20);
    }
    for (uint32_t q = 0; q < queries; q++) {
        load->query[q] = maps_range(random, columns, rows);
        if (cleave__random_below(random, 4)) /* most are small */
            load->query[q].x1 = load->query[q].x0;
        if (cleave__random_below(random, 4))
            load->query[q].y1 = load->query[q].y0;
    }
    for (uint32_t e = 0; e < evaluators; e++) {
        if (cleave__aggregates_new(columns, rows, &load->sums[e], &error) ||
            cleave__cell_loads_new(columns, rows, &load->cells[e], &error))
            abort();
        sum_up(load, e);
        struct cleave__cells p = load->partition[e];
        for (uint32_t y = p.y0; y <= p.y1; y++) {
            for (uint32_t x = p.x0; x <= p.x1; x++)
                cleave__cell_loads_object(load->cells[e], x, y, load->cost[y * columns + x]);
        }
        for (uint32_t q = 0; q < queries; q++) {
            if (cleave__cells_meet(p, load->query[q]))
                cleave__cell_loads_add_query(load->cells[e], load->query[q]);
        }
    }
}

void load_free(struct load *load)
{
    for (uint32_t e = 0; e < load->evaluators; e++) {
        cleave__aggregates_free(load->sums[e]);
        free(load->cells[e]);
    }
    free(load->cost);
}

void load_report(struct load *load)
{
    for (uint32_t e = 0; e < load->evaluators; e++) {
        uint32_t refused = load->report[e].refused;
        cleave__balance_report_make(load->sums[e], e, load->partition, load->evaluators,
                                    &load->report[e]);
        load->report[e].refused = refused;
    }
}

static bool move(struct load *load, struct cleave__balance_step step, bool exact)
{
    struct cleave__cells rest, whole, from = load->partition[step.from];
    struct cleave__cells to = load->partition[step.to];
    if (step.from == step.to || !cleave__cells_cut(from, step.cells, &rest) ||
        !cleave__cells_join(to, step.cells, &whole))
        return false;
    load->partition[step.from] = rest;
    load->partition[step.to] = whole;
    load->report[step.from].refused = load->report[step.to].refused = 0;
    if (exact) {
        sum_up(load, step.from);
        sum_up(load, step.to);
        return true;
    }
    uint64_t cost = cleave__aggregates_give(load->sums[step.from], from, step.cells);
    cleave__aggregates_take(load->sums[step.to], step.cells, cost);
    for (uint32_t q = 0; q < load->queries; q++) {
        struct cleave__cells query = load->query[q];
        if (cleave__cells_meet(query, from) && !cleave__cells_meet(query, rest))
            cleave__aggregates_remove_query(load->sums[step.from], query);
        if (cleave__cells_meet(query, step.cells) && !cleave__cells_meet(query, to))
            cleave__aggregates_add_query(load->sums[step.to], query);
    }
    return true;
}

bool load_apply(struct load *load, const struct cleave__balance_decision *decision, bool exact)
{
    if (decision->kind == CLEAVE__BALANCE_HORIZONTAL ||
        decision->kind == CLEAVE__BALANCE_VERTICAL) {
        struct cleave__balance_step step = decision->steps[0];
        struct cleave__balance_part part;
        if (!cleave__aggregates_shift(load->sums[step.from], load->partition[step.from],
                                      decision->side, decision->neighbour_cost, &part)) {
            load->report[step.from].refused |= 1u << decision->side;
            return true;
        }
        step.cells = part.cells;
        return move(load, step, exact);
    }
    for (uint32_t i = 0; i < decision->step_count; i++) {
        if (!move(load, decision->steps[i], exact))
            return false;
    }
    return true;
}

uint64_t load_cost(const struct load *load, struct cleave__cells cells)
{
    uint64_t cost = 0;
    for (uint32_t y = cells.y0; y <= cells.y1; y++) {
        for (uint32_t x = cells.x0; x <= cells.x1; x++)
            cost += load->cost[y * load->columns + x];
    }
    return cost;
}

uint64_t load_queries(const struct load *load, struct cleave__cells cells)
{
    uint64_t count = 0;
    for (uint32_t q = 0; q < load->queries; q++)
        count += cleave__cells_meet(cells, load->query[q]);
    return count;
}

uint64_t load_worst(const struct load *load)
{
    uint64_t worst = 0;
    for (uint32_t e = 0; e < load->evaluators; e++) {
        uint64_t cost = load_cost(load, load->partition[e]);
        worst = cost > worst ? cost : worst;
    }
    return worst;
}
