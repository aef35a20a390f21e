/* The fast path on a transaction: analyzer and lookup table. */
#ifndef CLEAVE_TESTS_ORACLE_FAST_H
#define CLEAVE_TESTS_ORACLE_FAST_H

#include "tables/route/lookup.h"
#include "tables/source/trace.h"
#include "tables/sql/analyze.h"

/* `*touches`: at least one table of the schema is. False when memory is out. */
bool world_touch_fast(struct cleave_analyzer *by, const struct cleave_lookup *lookup,
                      const struct cleave_trace_transaction *transaction,
                      struct cleave_touch *touch, bool *touches);

#endif
