/* What the files of `cleave tables hypergraph` share: what was asked, and what is written beside
 * the hypergraph. */
#ifndef CLEAVE_CLI_TABLES_HYPERGRAPH_H
#define CLEAVE_CLI_TABLES_HYPERGRAPH_H

#include "cleave/hypergraph.h"
#include "cli/tables.h"
#include "tables/shape/tally.h"

enum { CLEAVE_LISTED_MAX = 256 };
enum cleave_vertex_weight {
    CLEAVE_WEIGHT_SIZE,
    CLEAVE_WEIGHT_ROWS,
    CLEAVE_WEIGHT_ACCESS,
    CLEAVE_WEIGHT_WRITES,
    CLEAVE_WEIGHT_ONE
};
extern const char *const cleave__weight_names[]; /* in that order; ends with NULL */

struct cleave_list {
    const char *values[CLEAVE_LISTED_MAX];
    uint32_t count;
};

/* Zero-initialise but for `tables`, `attributes` and the weights. */
struct cleave_hypergraph_arguments {
    struct cleave_tables_arguments tables;
    const char *output, *names, *writes, *start, *start_from;
    char *old_names, *old_blocks; /* of start_from; old_names is malloc'd */
    struct cleave_list grain, leave_out, replicate, copy;
    enum cleave_vertex_weight weights[CLEAVE_WEIGHTS_MAX];
    uint32_t weight_count, attributes;
    bool no_read_only, no_derived;
};

extern const struct argp_option cleave__hypergraph_options[];
error_t cleave__hypergraph_parse(int key, char *value, struct argp_state *state);

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
