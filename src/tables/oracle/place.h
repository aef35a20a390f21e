/* Where the rows of a target may live under a layout. */
#ifndef CLEAVE_TABLES_ORACLE_PLACE_H
#define CLEAVE_TABLES_ORACLE_PLACE_H

#include "base/shardset.h"
#include "tables/oracle/solve.h"
#include "tables/route/layout.h"

/* Adds to `shards` every shard that the target touches. The table must not be replicated; the
 * target was given to _solver_start. May stop once `shards` has `enough` members. `program` may
 * gain variables; scratch memory comes from its arena. */
enum cleave_status cleave__oracle_place(struct oracle_solver *solver,
                                        struct oracle_program *program,
                                        const struct oracle_target *target,
                                        const struct cleave_layout *layout, uint32_t enough,
                                        struct cleave_shardset *shards);

#endif
