/* Pieces of a column's domain. */
#ifndef CLEAVE_TABLES_ORACLE_CELLS_H
#define CLEAVE_TABLES_ORACLE_CELLS_H

#include "tables/oracle/sort.h"

/* One representative piece of a column's domain: NULL, a constant, or an open piece between two
 * neighbouring constants. */
struct oracle_cell {
    bool is_null;
    bool between;              /* a piece between constants, even if only one value fits there */
    struct cleave_range range; /* unless NULL; integers always closed */
};

/* The cells that `values` cut a column of `type` into; CLEAVE_NULL's included when `nullable`.
 * `values` is sorted in place. The array is the arena's. */
enum cleave_status cleave__oracle_cells(struct cleave_value *values, uint32_t count, bool integer,
                                        bool nullable, struct cleave_arena *arena,
                                        struct oracle_cell **out, uint32_t *out_count);

/* Narrows `a` by `b`, of integers to closed ends; false when nothing is left. Numbers and text do
 * not mix: such a bound says nothing. */
bool cleave__oracle_narrow(struct cleave_range *a, const struct cleave_range *b, bool integer);

bool cleave__oracle_cell_point(const struct oracle_cell *cell);
/* Number of integers in a cell, 0 when it is not a closed interval of at most `most` integers. */
uint64_t cleave__oracle_cell_integers(const struct oracle_cell *cell, uint64_t most);
/* -1: the cell misses the range, 0: it meets it partly, 1: it lies wholly inside. */
int cleave__oracle_cell_in(const struct oracle_cell *cell, const struct cleave_range *range);
/* `b` starts where `a` ends. */
bool cleave__oracle_cell_adjacent(const struct oracle_cell *a, const struct oracle_cell *b);
bool cleave__oracle_cell_same(const struct oracle_cell *a, const struct oracle_cell *b);

#endif
