/* A lookup table in words: one block a table, lists shortened, runs of integers folded.
 *
 *   stock: by s_w_id; 1, 4, 7 -> shard 0; 2-3 -> shard 1; other values by hash;
 *     45 exceptions by (s_w_id, s_i_id), e.g. (1, 77) -> shard 3, ...
 *   item: on every shard */
#ifndef CLEAVE_TABLES_ROUTE_EXPLAIN_H
#define CLEAVE_TABLES_ROUTE_EXPLAIN_H

#include "tables/route/lookup.h"

/* `*out` is malloc'd, NUL-terminated, and ends in a newline. `list_max`: values or ranges shown of
 * one list before it is cut and counted (0: 12). */
enum cleave_status cleave__lookup_explain(const struct cleave_lookup *lookup, uint32_t list_max,
                                          char **out, struct cleave_error *error);

#endif
