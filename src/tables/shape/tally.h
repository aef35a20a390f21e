/* A workload counted into its hypergraph, transaction by transaction: vertices are tuple groups,
 * nets are transactions, and a net's weight is how often the same set of groups came together.
 *
 * Nothing of the trace is kept but distinct cells and wide boxes (grain.h) and distinct nets, so
 * memory is bounded by those: about 60 bytes a cell, 4 a pin and 32 a net. At the end, cells are
 * vertices where a table has only cells; where it has wide boxes too, its boxes are cut into
 * min-terms (groups.h), and nets follow. A table that would then take too many pins is cut by fewer
 * columns, down to a single vertex; `coarser` says so.
 *
 * Use: _init, set grains and flags in `tables`, _add for each part of the workload, _finish, read
 * what the last section holds, _free. */
#ifndef CLEAVE_TABLES_SHAPE_TALLY_H
#define CLEAVE_TABLES_SHAPE_TALLY_H

#include "tables/shape/grain.h"
#include "tables/shape/groups.h"
#include "tables/shape/netset.h"

struct cleave_tally_table {
    /* Set by the caller before the first _add. */
    struct cleave_grain grain;
    bool left_out;   /* as if no transaction touched it */
    bool replicated; /* a copy everywhere: reads are free, a write touches every shard */
    /* Found. */
    bool wrote;       /* some transaction wrote it */
    uint32_t cells;   /* distinct */
    uint32_t wide;    /* distinct wide boxes */
    bool coarser;     /* cut by fewer columns than the grain has */
    bool dropped;     /* only read, and `drop_read_only` */
    uint32_t columns; /* of the grain, that in the end tell its vertices apart */
    uint32_t first_vertex, vertices;
    uint64_t pins;
    struct cleave_intern prefixes; /* of a grain past two columns: combinations -> axis number */
    struct cleave_groups groups;   /* when there are wide boxes */
    struct cleave_workload flat;   /* what `groups` borrows from */
};

struct cleave_tally_vertex {
    uint32_t table;
    uint32_t item; /* a cell; or a group of the table; CLEAVE_ABSENT: the whole table */
};

struct cleave_tally {
    const struct cleave_schema *schema;   /* borrowed */
    const struct cleave_profile *profile; /* borrowed: for columns that spell a key */
    bool derived;                         /* use those */
    bool drop_read_only;                  /* leave out tables that nothing writes */
    uint64_t most_pins;                   /* of one table with wide boxes; 0: 2^28 */
    struct cleave_tally_table *tables;    /* [schema->table_count] */
    struct cleave_intern cells;
    struct cleave_intern wide_known; /* id = wide box */
    CLEAVE_VECTOR(struct cleave_workload_box) wide;
    struct cleave_arena arena;   /* their terms */
    struct cleave_arena scratch; /* of one box */
    struct cleave_cell_bytes cell;
    struct cleave_box_bytes box;
    CLEAVE_VECTOR(uint32_t) pins; /* of one transaction */
    struct cleave_netset raw;     /* pins as in tally.c */
    uint64_t transactions;
    uint64_t untouched; /* of them: touch nothing that is placed */
    uint64_t spread;    /* of them: write a replicated table, so touch every shard */
    uint64_t keyless;   /* inserted rows that do not say where they belong: left out */

    /* After _finish; nets hold vertices, ascending. */
    CLEAVE_VECTOR(struct cleave_tally_vertex) vertices;
    struct cleave_netset nets;
    uint64_t *access, *writes; /* [vertices]: transactions that touch it, that write it */
    double *rows;              /* [vertices], estimated; more than 0 */
};

enum cleave_status cleave__tally_init(struct cleave_tally *tally,
                                      const struct cleave_schema *schema,
                                      const struct cleave_profile *profile,
                                      struct cleave_error *error);
/* Counts every transaction of the workload. CLEAVE_LIMIT past 2^29 cells. */
enum cleave_status cleave__tally_add(struct cleave_tally *tally,
                                     const struct cleave_workload *workload,
                                     struct cleave_error *error);
/* CLEAVE_LIMIT: too many vertices or pins for the numbers that hold them. */
enum cleave_status cleave__tally_finish(struct cleave_tally *tally, struct cleave_error *error);
void cleave__tally_free(struct cleave_tally *tally);

/* ---- between tally.c and its other files ---- */

/* A raw pin: number of the cell or wide box, which of both, and whether it is written. */
enum { CLEAVE_PIN_WRITE = 1, CLEAVE_PIN_WIDE = 2, CLEAVE_PIN_SHIFT = 2 };

/* Where combination `id` lies on the first axis of a grain past two columns. Number 0 takes what is
 * below it too, so that what is above the last is all that no box names. */
struct cleave_range cleave__tally_prefix_range(uint32_t id);
/* tally_cut.c: groups of a table with wide boxes. `uses`: distinct nets of each cell, then of each
 * wide box. Sets `groups`, `columns`, `coarser`; no groups at all: the whole table is one vertex.
 * `map` [cells + wide boxes] gets the box's number in `flat`, of those that are the table's. */
enum cleave_status cleave__tally_cut(struct cleave_tally *tally, uint32_t table,
                                     const uint32_t *uses, uint32_t *map,
                                     struct cleave_error *error);
/* tally_rows.c: fills `rows`. */
enum cleave_status cleave__tally_rows(struct cleave_tally *tally, struct cleave_error *error);

#endif
