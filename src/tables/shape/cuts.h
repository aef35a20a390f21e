/* Elementary intervals: where the constants of a workload cut a column's domain.
 *
 * A cut lies just before or just after a value. n distinct cuts, sorted, leave n + 1 pieces: piece
 * 0 below the first cut, piece n above the last. A range covers a run of pieces. After an INTEGER v
 * is the same cut as before v + 1. */
#ifndef CLEAVE_TABLES_SHAPE_CUTS_H
#define CLEAVE_TABLES_SHAPE_CUTS_H

#include "base/vector.h"
#include "tables/sql/value.h"

struct cleave_cut {
    struct cleave_value value; /* text borrowed */
    uint8_t after;
};

struct cleave_cuts {
    CLEAVE_VECTOR(struct cleave_cut) list;
};

/* Adds both ends of a range (unsorted); false when memory is out. */
bool cleave__cuts_add(struct cleave_cuts *cuts, const struct cleave_range *range);
/* Sorts and drops repeats; call before the two below. */
void cleave__cuts_sort(struct cleave_cuts *cuts);
/* The run of pieces that the range covers; both its ends must have been added (else the run is the
 * least that covers it). */
void cleave__cuts_run(const struct cleave_cuts *cuts, const struct cleave_range *range,
                      uint32_t *first, uint32_t *last);
/* The piece as a range. */
void cleave__cuts_piece(const struct cleave_cuts *cuts, uint32_t piece, struct cleave_range *out);

#endif
