/* Can a row be what a condition asks, given what is known of some of its columns? */
#ifndef CLEAVE_TABLES_ORACLE_SOLVE_H
#define CLEAVE_TABLES_ORACLE_SOLVE_H

#include "tables/oracle/cells.h"
#include "tables/oracle/program.h"

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

#endif
