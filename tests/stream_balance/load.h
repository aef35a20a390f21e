/* A small world to balance: partitions, objects' costs cell by cell, queries' ranges, and the sums
 * that evaluators keep of them. */
#ifndef CLEAVE_TESTS_STREAM_BALANCE_LOAD_H
#define CLEAVE_TESTS_STREAM_BALANCE_LOAD_H

#include "base/random.h"
#include "stream/balance/central.h"
#include "stream/balance/decide.h"

enum { LOAD_EVALUATORS_MOST = 32, LOAD_QUERIES_MOST = 400 };

struct load {
    uint32_t columns, rows, evaluators, queries;
    uint64_t *cost; /* [rows * columns] */
    struct cleave__cells query[LOAD_QUERIES_MOST];
    struct cleave__cells partition[LOAD_EVALUATORS_MOST];
    struct cleave__aggregates *sums[LOAD_EVALUATORS_MOST];
    struct cleave__cell_loads *cells[LOAD_EVALUATORS_MOST];
    struct cleave__balance_report report[LOAD_EVALUATORS_MOST];
};

/* Random partitions of random load around a few hot spots. */
void load_make(struct load *load, struct cleave_random *random, uint32_t columns, uint32_t rows,
               uint32_t active, uint32_t evaluators, uint32_t objects, uint32_t queries);
void load_free(struct load *load);
/* Reports of all, made from sums. */
void load_report(struct load *load);
/* One decision carried out, as evaluators would: false if a step is not one of rectangles. A shift
 * that finds no line sets the report's `refused` and changes nothing. `exact`: sums are made anew
 * from the cells instead of being given and taken. */
bool load_apply(struct load *load, const struct cleave__balance_decision *decision, bool exact);
/* From cells, not from sums. */
uint64_t load_cost(const struct load *load, struct cleave__cells cells);
uint64_t load_queries(const struct load *load, struct cleave__cells cells);
uint64_t load_worst(const struct load *load);

#endif
