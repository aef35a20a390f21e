/* Grain: which columns tell a table's tuple groups apart, and a box seen through them.
 *
 * A table of grain (c1, ..., cm) falls into cells, one for each combination of values; a box that
 * gives a single value (or a list of them) for each of the columns names cells. Any other box is
 * wide: a region over a plane of two axes. Of up to two columns, each is an axis; of more, the
 * first axis numbers the combinations of all but the last (a box that does not fix each of those
 * says nothing about that axis), so that only the last may be given by ranges. */
#ifndef CLEAVE_TABLES_SHAPE_GRAIN_H
#define CLEAVE_TABLES_SHAPE_GRAIN_H

#include "tables/shape/profile.h"

enum { CLEAVE_GRAIN_MAX = 8 };

struct cleave_grain {
    uint32_t count;
    uint32_t columns[CLEAVE_GRAIN_MAX];
};

/* The columns that the workload accesses most, at most `attributes` (and CLEAVE_GRAIN_MAX) and no
 * more once they hold a key; ties go to the column that ties most tables together. Past two, those
 * that every box fixes to single values, and then at most one that it does not. A table that the
 * workload does not show: the first columns of its primary key; without one, none (the table is a
 * single cell). */
void cleave__grain_choose(const struct cleave_schema *schema, const struct cleave_profile *profile,
                          uint32_t table, uint32_t attributes, struct cleave_grain *out);

/* Is a cell a single row at most: does the grain hold a key? */
bool cleave__grain_is_unique(const struct cleave_table *table, const struct cleave_grain *grain);

/* The box's term on each of the grain's columns (NULL: it says nothing), by a derived column if
 * need be; what derivation makes lives in `arena`. False when memory is out. */
bool cleave__grain_terms(const struct cleave_grain *grain, const struct cleave_profile *profile,
                         bool derived, uint32_t table, const struct cleave_box *box,
                         struct cleave_arena *arena,
                         const struct cleave_term *terms[CLEAVE_GRAIN_MAX]);

/* A cell as bytes: table, then the values. Equal exactly for equal cells (an integral NUMBER is not
 * told from an INTEGER). _decode: values borrow `bytes`; returns the table. */
struct cleave_cell_bytes { /* starts as all zeroes; freed with CLEAVE_VECTOR_FREE(&it.out) */
    CLEAVE_VECTOR(unsigned char) out;
};
bool cleave__cell_start(struct cleave_cell_bytes *bytes, uint32_t table);
bool cleave__cell_put(struct cleave_cell_bytes *bytes, const struct cleave_value *value);
uint32_t cleave__cell_decode(const char *bytes, uint32_t length,
                             struct cleave_value values[CLEAVE_GRAIN_MAX], uint32_t *count);

#endif
