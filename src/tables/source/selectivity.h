/* What selectivity.c shares with range_median.c. Not for other rooms. */
#ifndef CLEAVE_TABLES_SOURCE_SELECTIVITY_H
#define CLEAVE_TABLES_SOURCE_SELECTIVITY_H

#include "tables/source/schema.h"

/* Share of the histogram's values below `value`, 0..1, by interpolation within its bucket. The
 * buckets are half open, the last one closed; over integers it covers its last value too, so that
 * the share is 1 just past it. bound_count must be >= 2. */
double cleave__histogram_below(const struct cleave_column_stats *stats,
                               const struct cleave_value *value);
/* Index of the first bound >= value; bound_count if there is none. */
uint32_t cleave__histogram_find(const struct cleave_column_stats *stats,
                                const struct cleave_value *value);

#endif
