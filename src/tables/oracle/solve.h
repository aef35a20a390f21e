/* Can a row be what a condition asks, given what is known of some of its columns? */
#ifndef CLEAVE_TABLES_ORACLE_SOLVE_H
#define CLEAVE_TABLES_ORACLE_SOLVE_H

#include "tables/oracle/program.h"

/* One representative piece of a column's domain: NULL, a constant, or an open piece between two
 * neighbouring constants. */
struct oracle_cell {
    bool is_null;
    bool between;              /* a piece between constants, even if only one value fits there */
    struct cleave_range range; /* unless NULL; integers always closed */
};

struct oracle_solver;

struct oracle_solver *cleave__oracle_solver_new(void);
void cleave__oracle_solver_free(struct oracle_solver *solver);

/* Fixes which target is asked about: the conditions that its rows must meet. */
enum cleave_status cleave__oracle_solver_start(struct oracle_solver *solver,
                                               const struct oracle_program *program,
                                               const struct oracle_target *target);
/* True unless the conditions certainly fail when each variables[i] (distinct) lies in *cells[i].
 * Past a fixed number of steps the answer is true. */
bool cleave__oracle_solver_ask(struct oracle_solver *solver, const uint32_t *variables,
                               const struct oracle_cell *const *cells, uint32_t count,
                               enum cleave_status *status);

/* The cells that `values` cut a column of `type` into; CLEAVE_NULL's included when `nullable`.
 * `values` is sorted in place. The array is the arena's. */
enum cleave_status cleave__oracle_cells(struct cleave_value *values, uint32_t count, bool integer,
                                        bool nullable, struct cleave_arena *arena,
                                        struct oracle_cell **out, uint32_t *out_count);

#endif
