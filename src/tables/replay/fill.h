/* A benchmark's tables and rows onto empty stores, where the lookup table says. For trials: a real
 * database is loaded by `cleave tables load`. */
#ifndef CLEAVE_TABLES_REPLAY_FILL_H
#define CLEAVE_TABLES_REPLAY_FILL_H

#include "cleave/progress.h"
#include "tables/replay/world.h"
#include "tables/source/generate.h"

/* Tables with their types, NOT NULL, primary keys and indexes; no foreign keys, whose ends may lie
 * apart. `reference` may be NULL. Each store gets all of it in one transaction. */
enum cleave_status cleave__replay_fill(const struct cleave_generator *generator,
                                       const struct cleave_lookup *lookup, const char *const *urls,
                                       const char *reference,
                                       const struct cleave_progress *progress,
                                       struct cleave_error *error);

/* CREATE TABLE with columns, types, NOT NULL and the primary key, in `arena`; NULL: memory is out.
 */
const char *cleave__fill_table(const struct cleave_table *table, struct cleave_arena *arena);

#endif
