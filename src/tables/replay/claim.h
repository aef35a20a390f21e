/* What must be true of shards before anything is done to them.
 *
 * Shards know who they are: a table
 *
 *     cleave_shard (load, shard)
 *
 * of one row tells which shard of which set this database is (-1: the reference). `tables load`
 * writes it, and so does the first replay or repartition onto shards that were loaded otherwise.
 * Shards that are given in another order, or from two sets, are refused: what a coordinator left
 * prepared would be looked for in the wrong place, and rows go where no one looks for them.
 *
 * Shard 0 tells besides whether a repartition is half way (cleave_plan, cleave_moves; shift.h):
 * then neither of its two placements is true, and only the same repartition may go on. */
#ifndef CLEAVE_TABLES_REPLAY_CLAIM_H
#define CLEAVE_TABLES_REPLAY_CLAIM_H

#include "tables/replay/world.h"

/* Every shard of the world against its place. `adopt`: those that do not know who they are yet are
 * told. CLEAVE_BAD_INPUT: they are others. */
enum cleave_status cleave__claim_places(const struct cleave__replay_world *world, bool adopt,
                                        struct cleave_error *error);
/* The coordinator's name, on shard 0, as long as `port` is open: two under one name would take each
 * other's decisions for their own lost ones. One that has just died is waited for, CLEAVE__CLAIM_S
 * seconds. CLEAVE_CONFLICT: another is at work. */
enum { CLEAVE__CLAIM_S = 3 };
enum cleave_status cleave__claim_name(const struct cleave__replay_world *world,
                                      struct cleave__port *port, struct cleave_error *error);
/* CLEAVE_BAD_INPUT: a repartition is half way; the error names the command that goes on. `plan`
 * (may be NULL) is the one that may. */
enum cleave_status cleave__claim_whole(const struct cleave__replay_world *world, const char *plan,
                                       struct cleave_error *error);
/* PostgreSQL: which columns of shard 0's tables are generated, for the world's `generated`; in
 * `arena`. SQLite has none of them (tables/load/ddl.c). */
enum cleave_status cleave__claim_generated(const struct cleave__replay_world *world,
                                           struct cleave_arena *arena, const bool *const **out,
                                           struct cleave_error *error);
/* Whether a database has a table of cleave's own, in the schema where it makes them. */
enum cleave_status cleave__port_has(struct cleave__port *port, const char *table, bool *has,
                                    struct cleave_error *error);

#endif
