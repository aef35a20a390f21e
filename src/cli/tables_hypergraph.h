/* What `cleave tables hypergraph` writes beside the hypergraph. */
#ifndef CLEAVE_CLI_TABLES_HYPERGRAPH_H
#define CLEAVE_CLI_TABLES_HYPERGRAPH_H

#include "cleave/hypergraph.h"
#include "tables/shape/tally.h"

/* One line a vertex: table, tab, predicate (tables/shape/tally_name.h). */
enum cleave_status cleave__hypergraph_write_names(const struct cleave_tally *tally,
                                                  const char *path, struct cleave_error *error);
/* One line a vertex: transactions that write it. `copied` [tables] (NULL: all): other tables' lines
 * hold -1. */
enum cleave_status cleave__hypergraph_write_writes(const struct cleave_tally *tally,
                                                   const bool *copied, const char *path,
                                                   struct cleave_error *error);

struct cleave_carried {
    uint32_t blocks;                   /* of the old placement */
    uint32_t kept, fresh;              /* vertices that it knew; that it did not */
    uint64_t gone;                     /* of the old names: no longer there */
    int64_t kept_weight, fresh_weight; /* first weight */
};

/* Reads an old placement (names and blocks, a line each), finds each vertex's old block by name,
 * gives new vertices one (place/carry.h) and writes a block a line. */
enum cleave_status cleave__hypergraph_write_start(const struct cleave_tally *tally,
                                                  const struct cleave_hypergraph *hypergraph,
                                                  const char *names, const char *blocks,
                                                  const char *path, struct cleave_carried *out,
                                                  struct cleave_error *error);

#endif
